"""What `encheck data retrieval:PATH` shows: sizes, judgements, clusters, what is odd, and some queries."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator

from encheck.datasets.collection import Collection
from encheck.datasets.data_warnings import data_warnings
from encheck.datasets.dataset import Dataset
from encheck.reporting.text import table

SAMPLES, SHOWN = 3, 160
ALL = "all"


def describe_collection(dataset: Dataset, found: Collection, *, seed: int = 0) -> Iterator[str]:
    """Lines for the terminal."""
    yield from table([(dataset.name, ""), *_facts(dataset, found)])
    yield from _left_out(found)
    yield from _odd(found)
    yield from _samples(found, random.Random(seed))  # noqa: S311 - no secret


def _facts(dataset: Dataset, found: Collection) -> list[tuple[str, str]]:
    if found.passages:
        return _facts_of_articles(dataset, found)
    right = [len(q.right) for q in found.queries]
    grades = Counter(grade for q in found.queries for grade in q.relevance.values())
    slices = sorted({name for q in found.queries for name in q.slices})
    return [
        ("documents", f"{len(found.documents):,}"),
        ("queries", f"{len(found.queries):,}"),
        ("split of the judgements", found.split or ALL),
        ("judgements by grade", ", ".join(f"{grade}: {grades[grade]:,}" for grade in sorted(grades))),
        ("right documents a query", f"{min(right)} to {max(right)}"),
        ("hard negatives", f"{sum(len(q.negatives) for q in found.queries):,}"),
        ("slices", ", ".join(slices) or "none"),
        ("texts that are edited", f"{len(dataset.groups):,}"),
        ("independent clusters", f"{len(dataset.universe):,}"),
        ("malformed rows excluded", str(len(dataset.skipped))),
        ("licence", dataset.licence),
        ("fingerprint", dataset.fingerprint),
    ]


def _facts_of_articles(dataset: Dataset, found: Collection) -> list[tuple[str, str]]:
    lengths = sorted(len(one.body.split()) for one in found.passages)
    return [
        ("articles", f"{len({one.article for one in found.passages}):,}"),
        ("passages", f"{len(found.passages):,}"),
        ("words a passage", f"{lengths[0]:,} to {lengths[-1]:,}, {lengths[len(lengths) // 2]:,} in the middle"),
        ("queries", f"{sum(q.weight for q in found.queries):,}"),
        ("different queries", f"{len(found.queries):,}"),
        ("judgements", "none"),
        ("malformed rows excluded", str(len(dataset.skipped))),
        ("licence", dataset.licence),
        ("fingerprint", dataset.fingerprint),
    ]


def _left_out(found: Collection) -> Iterator[str]:
    if found.excluded:
        yield ""
        yield "  left out"
        yield from table([(reason, f"{count:,}") for reason, count in found.excluded.items()])


def _odd(found: Collection) -> Iterator[str]:
    yield ""
    odd = data_warnings(found)
    yield "  odd" if odd else "  nothing odd was found"
    for one in odd:
        yield f"  {one.count:,} {one.what}{f', first {one.example}' * bool(one.example)}"


def _samples(found: Collection, rng: random.Random) -> Iterator[str]:
    if found.passages:
        yield from _samples_of_articles(found, rng)
        return
    asked = [q for q in found.queries if q.right]
    yield ""
    for q in rng.sample(asked, min(SAMPLES, len(asked))):
        yield f"  {q.text[:SHOWN]}"
        yield from (f"    {grade}  {found.documents[name][:SHOWN]}" for name, grade in [*q.right.items()][:SAMPLES])


def _samples_of_articles(found: Collection, rng: random.Random) -> Iterator[str]:
    yield ""
    for one in rng.sample(found.passages, min(SAMPLES, len(found.passages))):
        yield f"  {one.id}  {' '.join(one.text.split())[:SHOWN]}"
    for q in rng.sample(found.queries, min(SAMPLES, len(found.queries))):
        yield f"  asked {q.weight:,} {'time' if q.weight == 1 else 'times'}: {q.text[:SHOWN]}"
