"""What `encheck data NAME:PATH` shows: sizes, balance, splits, how far apart in words the pairs are, some of them."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Mapping
from types import ModuleType

import numpy as np

from encheck.datasets.dataset import Dataset
from encheck.reporting.collection import describe_collection
from encheck.reporting.contrasts import describe_contrasts
from encheck.reporting.text import table
from encheck.reporting.texts import describe_texts
from encheck.types import SentencePair

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
    if dataset.contrasts:
        yield from describe_contrasts(dataset, seed=seed)
        return
    if not dataset.pairs:
        yield from describe_texts(dataset, seed=seed)
        return
    facts = [
        (dataset.name, ""),
        *([("version", dataset.version)] if dataset.version else []),
        ("rows", f"{dataset.rows:,}"),
        ("malformed rows excluded", str(len(dataset.skipped))),
        ("pairs by label", counts(dataset.labels)),
        *_scores(dataset),
        ("pairs by split", counts(Counter(p.split or "-" for p in dataset.pairs))),
        ("sentences with a paraphrase", f"{sum(not g.is_contrast for g in dataset.groups):,}"),
        ("written contrasts without one", f"{sum(g.is_contrast for g in dataset.groups):,}"),
        ("independent clusters", f"{len(dataset.universe):,}"),
        ("written variants", counts(dataset.written) or "none"),
        ("licence", dataset.licence),
        ("fingerprint", dataset.fingerprint),
    ]
    yield from table(facts)
    yield from _histogram(dataset, seed=seed)
    yield from _samples(dataset, random.Random(seed))  # noqa: S311 - no secret


def _scores(dataset: Dataset) -> Iterator[tuple[str, str]]:
    """How many pairs have a graded similarity, and its range."""
    if found := sorted(p.score for p in dataset.pairs if p.score is not None):
        middle = found[len(found) // 2]
        yield "pairs with a score", f"{len(found):,}: {found[0]:g} to {found[-1]:g}, {middle:g} in the middle"


def counts(found: Mapping[str, int]) -> str:
    """Names with their numbers, in the order of the names.

    >>> counts({"b": 2, "a": 1})
    'a: 1, b: 2'
    """
    return ", ".join(f"{name}: {found[name]}" for name in sorted(found))


def _histogram(dataset: Dataset, *, seed: int) -> Iterator[str]:
    """Share of each label's pairs a bin of Jensen-Shannon divergence, as bars; of many pairs, some drawn by seed."""
    from encheck.language.divergence import jsd

    by_label = {label: [p for p in dataset.pairs if p.label == label] for label in (1, 0)}
    whole = [(f"label {label}", pairs) for label, pairs in by_label.items() if pairs] or [("all", list(dataset.pairs))]
    named = [(name, _drawn(pairs, seed)) for name, pairs in whole]
    found = [(name, jsd([p.first for p in pairs], [p.second for p in pairs])) for name, pairs in named]
    shares = [np.histogram(values, BINS, (0, 1))[0] / len(values) for _, values in found]
    top = max(share.max() for share in shares)
    yield ""
    of_some = f", {DRAWN:,} pairs of a label drawn by seed" if any(len(pairs) > DRAWN for _, pairs in whole) else ""
    yield f"  divergence of the words (0: the same words, 1: none shared{of_some})"
    heads = [f"{name} (mean {values.mean():.2f})" for name, values in found]
    rows = [tuple(f"{share[i]:4.0%} {'#' * round(BAR * share[i] / top)}" for share in shares) for i in range(BINS)]
    yield from table([("", *heads), *((f"{i / BINS:.1f} to {(i + 1) / BINS:.1f}", *row) for i, row in enumerate(rows))])


def _drawn(pairs: list[SentencePair], seed: int) -> list[SentencePair]:
    return pairs if len(pairs) <= DRAWN else random.Random(seed).sample(pairs, DRAWN)  # noqa: S311 - no secret


def _samples(dataset: Dataset, rng: random.Random) -> Iterator[str]:
    chosen = rng.sample(dataset.pairs, min(SAMPLES, len(dataset.pairs)))
    yield ""
    for pair in chosen:
        yield f"  {_said(pair)}  {pair.id}"
        yield f"    {pair.first}"
        yield f"    {pair.second}"


def _said(pair: SentencePair) -> str:
    said = "label open" if pair.label is None else f"label {pair.label}"
    return said if pair.score is None else f"{said}, score {pair.score:g}"
