"""Texts that people sorted into classes: the tasks of a benchmark, as a run measures them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from encheck.datasets.clusters import clusters_of, sample_clusters
from encheck.datasets.dataset import Dataset
from encheck.datasets.near_duplicates import near_duplicates
from encheck.datasets.reader import Row
from encheck.ids import ItemId
from encheck.scoring.classified import Classified
from encheck.types import content_hash


class Sentence(NamedTuple):
    """A text with its class, and the second one of a pair; `split` is "" where the data are not divided."""

    text: str
    label: str
    split: str
    second: str = ""


Tasks = Mapping[str, Sequence[Sentence]]  # by their names


def with_tasks(dataset: Dataset, found: Tasks, *, sample: int | None, seed: int) -> Dataset:
    """The data with these tasks; of each part of a task at most `sample` clusters (None: all of them)."""
    made = {name: tuple(_classified(dataset.name, name, rows, sample, seed)) for name, rows in found.items()}
    count = sum(map(len, found.values()))
    sampled = dataset.sampled or sum(map(len, made.values())) < count
    return replace(dataset, tasks=made, rows=dataset.rows + count, sampled=sampled)


def _classified(data: str, task: str, rows: Sequence[Sentence], sample: int | None, seed: int) -> Iterator[Classified]:
    clusters = _clusters(rows)
    parts: dict[str, set[str]] = {}
    for row, cluster in zip(rows, clusters, strict=True):
        parts.setdefault(row.split, set()).add(cluster)
    chosen = {split: some if sample is None else sample_clusters(some, sample, seed=seed)
              for split, some in parts.items()}  # fmt: skip
    seen: Counter[str] = Counter()
    for row, cluster in zip(rows, clusters, strict=True):
        if cluster in chosen[row.split]:
            key = content_hash(row.text, row.second)
            item = ItemId.of(data, key, task, 1, "data", seen[key])
            yield Classified(item, row.text, row.second, row.label, cluster, row.split)
            seen[key] += 1


def _clusters(rows: Sequence[Sentence]) -> list[str]:
    """Near-duplicates are one cluster, in whatever part they are; pairs that share a sentence are one too."""
    if any(row.second for row in rows):
        return clusters_of([Row(row.text, row.second, None, row.split) for row in rows])
    return [content_hash(rows[first].text) for first in near_duplicates([row.text for row in rows])]
