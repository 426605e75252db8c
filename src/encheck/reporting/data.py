"""What `encheck data NAME:PATH` shows: sizes, balance, splits, how far apart in words the pairs are, some of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import ModuleType

import numpy as np
from numpy.typing import NDArray

from encheck.datasets.dataset import Dataset
from encheck.datasets.load import InColumns
from encheck.reporting.collection import describe_collection
from encheck.reporting.contrasts import describe_contrasts
from encheck.reporting.overview import Overview, of_columns, of_dataset
from encheck.reporting.text import table
from encheck.reporting.texts import describe_texts
from encheck.scoring.pairs import SentencePair

BINS, BAR, SAMPLES = 10, 30, 3
DRAWN = 20_000  # pairs of a label whose words are compared


def rows_of(module: ModuleType) -> str:
    """How many rows a data set has, by file as it was published; of an embedded one, by counting."""
    if hasattr(module, "embedded"):
        return f"{module.embedded().rows:,}"
    return " / ".join(f"{rows:,}" for rows, _ in getattr(module, "EXPECTED", {}).values()) or "yours"


def describe(dataset: Dataset, *, seed: int = 0) -> Iterator[str]:
    """Lines for the terminal."""
    if dataset.collection is not None:
        yield from describe_collection(dataset, dataset.collection, seed=seed)
        return
    if dataset.contrasts or dataset.properties:
        yield from describe_contrasts(dataset, seed=seed)
        return
    if not dataset.pairs:
        yield from describe_texts(dataset, seed=seed)
        return
    yield from _lines(of_dataset(dataset, most=DRAWN, samples=SAMPLES, seed=seed))


def describe_columns(found: InColumns, *, seed: int = 0) -> Iterator[str]:
    """The lines of `describe` for all pairs of a file, in the memory of their columns."""
    yield from _lines(of_columns(found, most=DRAWN, samples=SAMPLES, seed=seed))


def _lines(found: Overview) -> Iterator[str]:
    facts = [
        (found.name, ""),
        *([("version", found.version)] if found.version else []),
        ("rows", f"{found.rows:,}"),
        ("malformed rows excluded", str(found.skipped)),
        ("pairs by label", counts(found.labels)),
        *_scores(found.scores),
        ("pairs by split", counts(found.splits)),
        ("sentences with a paraphrase", f"{found.paraphrases:,}"),
        ("written contrasts without one", f"{found.contrasts:,}"),
        ("independent clusters", f"{found.clusters:,}"),
        ("written variants", counts(found.written) or "none"),
        ("licence", found.licence),
        ("fingerprint", found.fingerprint),
    ]
    yield from table(facts)
    yield from _histogram(found)
    yield from _samples(found.samples)


def _scores(scores: NDArray[np.float64]) -> Iterator[tuple[str, str]]:
    """How many pairs have a graded similarity, and its range."""
    if len(scores):
        found = np.sort(scores)
        middle = found[len(found) // 2]
        yield "pairs with a score", f"{len(found):,}: {found[0]:g} to {found[-1]:g}, {middle:g} in the middle"


def counts(found: Mapping[str, int]) -> str:
    """Names with their numbers, in the order of the names.

    >>> counts({"b": 2, "a": 1})
    'a: 1, b: 2'
    """
    return ", ".join(f"{name}: {found[name]}" for name in sorted(found))


def _histogram(overview: Overview) -> Iterator[str]:
    """Share of each label's pairs a bin of Jensen-Shannon divergence, as bars; of many pairs, some drawn by seed."""
    from encheck.language.divergence import jsd

    found = [(name, jsd([p.first for p in pairs], [p.second for p in pairs])) for name, pairs in overview.drawn.items()]
    shares = [np.histogram(values, BINS, (0, 1))[0] / len(values) for _, values in found]
    top = max(share.max() for share in shares)
    yield ""
    of_some = f", {DRAWN:,} pairs of a label drawn by seed" if overview.is_drawn else ""
    yield f"  divergence of the words (0: the same words, 1: none shared{of_some})"
    heads = [f"{name} (mean {values.mean():.2f})" for name, values in found]
    rows = [tuple(f"{share[i]:4.0%} {'#' * round(BAR * share[i] / top)}" for share in shares) for i in range(BINS)]
    yield from table([("", *heads), *((f"{i / BINS:.1f} to {(i + 1) / BINS:.1f}", *row) for i, row in enumerate(rows))])


def _samples(chosen: Sequence[SentencePair]) -> Iterator[str]:
    yield ""
    for pair in chosen:
        yield f"  {_said(pair)}  {pair.id}"
        yield f"    {pair.first}"
        yield f"    {pair.second}"


def _said(pair: SentencePair) -> str:
    said = "label open" if pair.label is None else f"label {pair.label}"
    return said if pair.score is None else f"{said}, score {pair.score:g}"
