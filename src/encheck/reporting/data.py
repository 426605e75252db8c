"""The output of `encheck data`: an overview of a data set, and the variants that generators make from it."""

from __future__ import annotations

import hashlib
import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from types import ModuleType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from encheck.datasets.collection import Collection, find_data_warnings
from encheck.datasets.dataset import Dataset, pair_fingerprint, pair_id
from encheck.datasets.load import PairsInColumns
from encheck.datasets.pair_table import count_clusters
from encheck.items.catalogue import VariantListing
from encheck.reporting.text import mark_edits, table
from encheck.scoring.crossed import Contrast
from encheck.scoring.pairs import SentencePair
from encheck.types import LanguageResources, content_hash

Labels = list[int | None]


@dataclass(frozen=True)
class PairsOverview:
    """What `encheck data` shows of pairs: their counts, and sample pairs.

    `scores` has every graded similarity. `drawn` has the pairs whose words are compared, by label. `is_drawn` says
    whether they are a sample.
    """

    name: str
    rows: int
    skipped: int
    labels: Mapping[str, int]
    scores: NDArray[np.float64]
    splits: Mapping[str, int]
    paraphrases: int
    clusters: int
    licence: str
    fingerprint: str
    drawn: Mapping[str, list[SentencePair]]
    is_drawn: bool
    samples: list[SentencePair]
    contrasts: int = 0
    written: Mapping[str, int] = field(default_factory=dict)
    version: str = ""


def overview_of_dataset(dataset: Dataset, *, most: int, samples: int, seed: int) -> PairsOverview:
    """Return the overview of a loaded data set. It compares the words of at most `most` sampled pairs per label."""
    places = _sample_rows([pair.label for pair in dataset.pairs], most, samples, seed)
    return PairsOverview(
        dataset.name,
        dataset.rows,
        len(dataset.skipped),
        dataset.labels,
        np.array([p.score for p in dataset.pairs if p.score is not None], np.float64),
        Counter(p.split or "-" for p in dataset.pairs),
        sum(not g.is_contrast for g in dataset.groups),
        len(dataset.universe),
        dataset.licence,
        dataset.fingerprint,
        {name: [dataset.pairs[at] for at in chosen] for name, chosen in places.drawn.items()},
        places.is_drawn,
        [dataset.pairs[at] for at in places.samples],
        contrasts=sum(g.is_contrast for g in dataset.groups),
        written=dataset.written,
        version=dataset.version,
    )


def overview_of_columns(found: PairsInColumns, *, most: int, samples: int, seed: int) -> PairsOverview:
    """Return the overview of all pairs of a file in columns, without building a Python object for each pair.

    Only the pairs that are shown or whose words are compared are built.
    """
    held, links = found.pairs.table, found.pairs.links
    labels: Labels = []
    scores = [np.empty(0, np.float64)]
    for _, batch in held.batches():
        labels += batch.column("label").to_pylist()
        scores.append(batch.column("score").drop_null().to_numpy())
    places = _sample_rows(labels, most, samples, seed)
    pairs, fingerprint = _read_pairs(found, {*places.samples, *(at for some in places.drawn.values() for at in some)})
    counted = dict(sorted(Counter(map(str, labels)).items()))
    return PairsOverview(
        found.name,
        held.rows,
        len(found.skipped),
        counted,
        np.concatenate(scores),
        {"-": held.rows},
        counted.get("1", 0),
        count_clusters(held, links),
        found.licence,
        fingerprint,
        {name: [pairs[at] for at in chosen] for name, chosen in places.drawn.items()},
        places.is_drawn,
        [pairs[at] for at in places.samples],
    )


class _SampledRows(NamedTuple):
    """Row numbers of sampled pairs: `drawn` per label, and `samples` to show.

    `is_drawn` says whether any label has more rows than were drawn.
    """

    drawn: dict[str, list[int]]
    samples: list[int]
    is_drawn: bool


def _sample_rows(labels: Labels, most: int, samples: int, seed: int) -> _SampledRows:
    """Draw at most `most` rows of each label, and `samples` rows to show."""
    by_label = {
        f"label {label}": np.flatnonzero(np.fromiter((one == label for one in labels), np.bool_, len(labels))).tolist()
        for label in (1, 0)
    }
    whole = {name: rows for name, rows in by_label.items() if rows} or {"all": list(range(len(labels)))}
    drawn = {}
    for name, rows in whole.items():
        rng = random.Random(seed)  # noqa: S311 - no secret
        drawn[name] = [rows[at] for at in rng.sample(range(len(rows)), most)] if len(rows) > most else rows
    rng = random.Random(seed)  # noqa: S311 - no secret
    shown = rng.sample(range(len(labels)), min(samples, len(labels)))
    return _SampledRows(drawn, shown, any(len(rows) > most for rows in whole.values()))


def _read_pairs(found: PairsInColumns, wanted: set[int]) -> tuple[dict[int, SentencePair], str]:
    """Return the `wanted` pairs by row number, and the fingerprint of all pairs."""
    pairs: dict[int, SentencePair] = {}
    digest, seen = hashlib.sha256(), Counter[str]()
    for start, batch in found.pairs.table.batches():
        may_repeat = found.pairs.links.may_repeat[start : start + batch.num_rows].tolist()
        columns: Iterable[tuple[str, str, int | None, float | None]] = zip(
            *(batch.column(name).to_pylist() for name in ("first", "second", "label", "score")), strict=True
        )
        parts = []
        for at, (first, second, label, score) in enumerate(columns, start):
            key = content_hash(first, second)
            item = pair_id(found.name, key, seen[key] if may_repeat[at - start] else 0)
            if may_repeat[at - start]:
                seen[key] += 1
            parts.append(pair_fingerprint(item, label, score))
            if at in wanted:
                pairs[at] = SentencePair(item, first, second, label, "", score=score)
        digest.update(("\x00" * (start > 0) + "\x00".join(parts)).encode("utf-8", "surrogatepass"))
    return pairs, digest.hexdigest()[:16]


SAMPLES, SHOWN = 3, 160
ALL = "all"


def describe_collection(dataset: Dataset, found: Collection, *, seed: int = 0) -> Iterator[str]:
    """Yield the counts of a collection's documents, queries and judgements, data warnings, and a few samples."""
    yield from table([(dataset.name, ""), *_collection_facts(dataset, found)])
    if found.excluded:
        yield ""
        yield "  left out"
        yield from table([(reason, f"{count:,}") for reason, count in found.excluded.items()])
    yield ""
    odd = find_data_warnings(found)
    yield "  warnings" if odd else "  no warnings"
    for one in odd:
        yield f"  {one.count:,} {one.what}{f', first {one.example}' * bool(one.example)}"
    rng = random.Random(seed)  # noqa: S311 - no secret
    if found.passages:
        yield ""
        for passage in rng.sample(found.passages, min(SAMPLES, len(found.passages))):
            yield f"  {passage.id}  {' '.join(passage.text.split())[:SHOWN]}"
        for q in rng.sample(found.queries, min(SAMPLES, len(found.queries))):
            yield f"  asked {q.weight:,} {'time' if q.weight == 1 else 'times'}: {q.text[:SHOWN]}"
        return
    asked = [q for q in found.queries if q.relevant_documents]
    yield ""
    for q in rng.sample(asked, min(SAMPLES, len(asked))):
        yield f"  {q.text[:SHOWN]}"
        yield from (
            f"    {grade}  {found.documents[name][:SHOWN]}" for name, grade in [*q.relevant_documents.items()][:SAMPLES]
        )


def _collection_facts(dataset: Dataset, found: Collection) -> list[tuple[str, str]]:
    if found.passages:
        return _article_facts(dataset, found)
    right = [len(q.relevant_documents) for q in found.queries]
    grades = Counter(grade for q in found.queries for grade in q.relevance.values())
    slices = sorted({name for q in found.queries for name in q.slices})
    return [
        ("documents", f"{len(found.documents):,}"),
        ("queries", f"{len(found.queries):,}"),
        ("split of the judgements", found.split or ALL),
        ("judgements by grade", ", ".join(f"{grade}: {grades[grade]:,}" for grade in sorted(grades))),
        ("right documents per query", f"{min(right)} to {max(right)}"),
        ("hard negatives", f"{sum(len(q.negatives) for q in found.queries):,}"),
        ("slices", ", ".join(slices) or "none"),
        ("texts that are edited", f"{len(dataset.groups):,}"),
        ("independent clusters", f"{len(dataset.universe):,}"),
        ("malformed rows excluded", str(len(dataset.skipped))),
        ("licence", dataset.licence),
        ("fingerprint", dataset.fingerprint),
    ]


def _article_facts(dataset: Dataset, found: Collection) -> list[tuple[str, str]]:
    lengths = sorted(len(one.body.split()) for one in found.passages)
    return [
        ("articles", f"{len({one.article for one in found.passages}):,}"),
        ("passages", f"{len(found.passages):,}"),
        ("words per passage", f"{lengths[0]:,} to {lengths[-1]:,}, median {lengths[len(lengths) // 2]:,}"),
        ("queries", f"{sum(q.weight for q in found.queries):,}"),
        ("different queries", f"{len(found.queries):,}"),
        ("judgements", "none"),
        ("malformed rows excluded", str(len(dataset.skipped))),
        ("licence", dataset.licence),
        ("fingerprint", dataset.fingerprint),
    ]


def describe_contrasts(dataset: Dataset, *, seed: int = 0) -> Iterator[str]:
    """Yield the counts of contrasts or triplets, in total and by property, and a few samples."""
    found = [one for some in (dataset.contrasts, *dataset.properties.values()) for one in some]
    scored = {
        pair
        for one in found
        for pair in (one.query_document_pairs if isinstance(one, Contrast) else one.pairs_to_score)
    }
    kind, first, second = (
        ("contrasts", "queries", "documents")
        if isinstance(found[0], Contrast)
        else ("triplets", "anchors", "positives and negatives")
    )
    yield from table([
        (dataset.name, ""),
        (kind, f"{dataset.rows:,}"),
        *((f"of {name}", f"{len(some):,} in {len({one.cluster for one in some}):,} clusters")
          for name, some in dataset.properties.items()),
        (f"different {first}", f"{len({one for one, _ in scored}):,}"),
        (f"different {second}", f"{len({other for _, other in scored}):,}"),
        ("independent clusters", f"{len(dataset.universe):,}"),
        ("malformed rows excluded", str(len(dataset.skipped))),
        ("licence", dataset.licence),
        ("fingerprint", dataset.fingerprint),
    ])  # fmt: skip
    for one in random.Random(seed).sample(found, min(SAMPLES, len(found))):  # noqa: S311 - no secret
        yield ""
        shown = zip(one.queries, one.documents, strict=True) if isinstance(one, Contrast) else [(one.source, one.near)]
        for query, document in shown:
            yield f"  {query[:SHOWN]}"
            yield f"    {document[:SHOWN]}"
        if not isinstance(one, Contrast):
            yield f"    not: {one.far[:SHOWN]}"


BINS, BAR = 10, 30
DRAWN = 20_000  # pairs per label whose words are compared


def row_counts(module: ModuleType) -> str:
    """Return the number of rows of a data set in words: as published per file, or counted for an embedded one."""
    if hasattr(module, "embedded"):
        return f"{module.embedded().rows:,}"
    return " / ".join(f"{rows:,}" for rows, _ in getattr(module, "EXPECTED", {}).values()) or "yours"


def describe_dataset(dataset: Dataset, *, seed: int = 0) -> Iterator[str]:
    """Yield a description of a data set for the terminal, according to its kind: search, contrasts, texts or pairs."""
    if dataset.collection is not None:
        yield from describe_collection(dataset, dataset.collection, seed=seed)
        return
    if dataset.contrasts or dataset.properties:
        yield from describe_contrasts(dataset, seed=seed)
        return
    if not dataset.pairs:
        found = dataset.groups
        sizes = sorted(len(group.source) for group in found)
        splits = Counter(group.split or "-" for group in found)
        yield from table([
            (dataset.name, ""),
            ("texts", f"{dataset.rows:,}"),
            ("characters", f"{sizes[0]:,} to {sizes[-1]:,}, median {sizes[len(sizes) // 2]:,}"),
            ("texts by split", ", ".join(f"{name}: {splits[name]}" for name in sorted(splits))),
            ("independent clusters", f"{len(dataset.universe):,}"),
            ("malformed rows excluded", str(len(dataset.skipped))),
            ("licence", dataset.licence),
            ("fingerprint", dataset.fingerprint),
        ])  # fmt: skip
        yield ""
        for group in random.Random(seed).sample(found, min(SAMPLES, len(found))):  # noqa: S311 - no secret
            yield f"  {group.source[:SHOWN]}"
        return
    yield from _pairs_overview_lines(overview_of_dataset(dataset, most=DRAWN, samples=SAMPLES, seed=seed))


def describe_columns(found: PairsInColumns, *, seed: int = 0) -> Iterator[str]:
    """Yield the same description as `describe_dataset` for all pairs of a file, without building every pair."""
    yield from _pairs_overview_lines(overview_of_columns(found, most=DRAWN, samples=SAMPLES, seed=seed))


def _pairs_overview_lines(found: PairsOverview) -> Iterator[str]:
    scored = []  # the number of pairs with a graded similarity, and its range
    if count := len(found.scores):
        scores = np.sort(found.scores)
        told = f"{count:,}: {scores[0]:g} to {scores[-1]:g}, median {scores[count // 2]:g}"
        scored = [("pairs with a score", told)]
    facts = [
        (found.name, ""),
        *([("version", found.version)] if found.version else []),
        ("rows", f"{found.rows:,}"),
        ("malformed rows excluded", str(found.skipped)),
        ("pairs by label", counts_text(found.labels)),
        *scored,
        ("pairs by split", counts_text(found.splits)),
        ("sentences with a paraphrase", f"{found.paraphrases:,}"),
        ("written contrasts without one", f"{found.contrasts:,}"),
        ("independent clusters", f"{found.clusters:,}"),
        ("written variants", counts_text(found.written) or "none"),
        ("licence", found.licence),
        ("fingerprint", found.fingerprint),
    ]
    yield from table(facts)
    yield from _divergence_histogram(found)
    yield ""
    for pair in found.samples:
        label = "label open" if pair.label is None else f"label {pair.label}"
        yield f"  {label}{'' if pair.score is None else f', score {pair.score:g}'}  {pair.id}"
        yield f"    {pair.first}"
        yield f"    {pair.second}"


def counts_text(found: Mapping[str, int]) -> str:
    """Return names with their counts, sorted by name.

    >>> counts_text({"b": 2, "a": 1})
    'a: 1, b: 2'
    """
    return ", ".join(f"{name}: {found[name]}" for name in sorted(found))


def _divergence_histogram(overview: PairsOverview) -> Iterator[str]:
    """Yield a bar chart of Jensen-Shannon divergence for each label. With many pairs, it is computed from a seeded
    sample.
    """
    from encheck.language.divergence import jensen_shannon_divergence

    found = [
        (name, jensen_shannon_divergence([p.first for p in pairs], [p.second for p in pairs]))
        for name, pairs in overview.drawn.items()
    ]
    shares = [np.histogram(values, BINS, (0, 1))[0] / len(values) for _, values in found]
    top = max(share.max() for share in shares)
    yield ""
    of_some = f", {DRAWN:,} pairs per label, drawn at random with a fixed seed" if overview.is_drawn else ""
    yield f"  divergence of the words (0: the same words, 1: none shared{of_some})"
    heads = [f"{name} (mean {values.mean():.2f})" for name, values in found]
    rows = [tuple(f"{share[i]:4.0%} {'#' * round(BAR * share[i] / top)}" for share in shares) for i in range(BINS)]
    yield from table([("", *heads), *((f"{i / BINS:.1f} to {(i + 1) / BINS:.1f}", *row) for i, row in enumerate(rows))])


MAX_REASONS_SHOWN = 3


def variant_lines(listings: Sequence[VariantListing], *, language: LanguageResources, show: int) -> Iterator[str]:
    """Yield a table that says how many sentences each generator can edit, then `show` examples from each."""
    named = ((one.name.replace("_", " "), getattr(language, one.name)) for one in fields(language))
    yield "made with " + ", ".join(f"{name} {value}" for name, value in named if value)
    rows = [("generator", "words", "sentences", "of", "coverage", "why the others have none")]
    for listing in listings:
        total = listing.count + listing.excluded.total()
        reasons = "; ".join(f"{reason} ({count})" for reason, count in listing.excluded.most_common(MAX_REASONS_SHOWN))
        others = listing.excluded.most_common()[MAX_REASONS_SHOWN:]
        if others:
            what = "other reason" if len(others) == 1 else "other reasons"
            reasons += f"; {len(others)} {what} ({sum(count for _, count in others)})"
        rows.append(
            (
                listing.generator,
                str(listing.level),
                str(listing.count),
                str(total),
                f"{listing.coverage:.1%}",
                reasons,
            )
        )
    yield from table(rows)
    for listing in listings if show else ():
        for group, variant in listing.made[:show]:
            yield f"{listing.generator} {listing.level}: {mark_edits(group.source, variant.text, variant.edits)}"
            yield f"    {variant.certificate or variant.generator}"
