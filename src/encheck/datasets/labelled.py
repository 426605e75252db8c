"""A data set of labelled pairs, from the rows of its files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from encheck.datasets.clusters import clusters_of, sample_clusters
from encheck.datasets.dataset import Dataset
from encheck.datasets.reader import Row
from encheck.ids import ItemId
from encheck.types import Group, SentencePair, content_hash


def from_rows(
    name: str,
    rows: Sequence[Row],
    *,
    licence: str = "",
    sample: int | None = None,
    seed: int = 0,
    skipped: Sequence[str] = (),
) -> Dataset:
    """A data set of labelled pairs. The positive ones are the groups: a sentence and its paraphrase."""
    clusters = clusters_of(rows)
    if sample is not None:
        chosen = sample_clusters(clusters, sample, seed=seed)
        kept = [(row, c) for row, c in zip(rows, clusters, strict=True) if c in chosen]
    else:
        kept = list(zip(rows, clusters, strict=True))
    pairs = tuple(_pairs(name, kept))
    groups = tuple(Group(p.id, p.first, p.second, p.cluster, split=p.split) for p in pairs if p.label == 1)
    universe = tuple(sorted({p.cluster for p in pairs}))
    sampled = len(pairs) < len(rows)
    return Dataset(name, pairs, groups, licence, len(rows), skipped=tuple(skipped), sampled=sampled, universe=universe)


def _pairs(name: str, rows: Iterable[tuple[Row, str]]) -> Iterable[SentencePair]:
    seen: Counter[str] = Counter()
    for row, cluster in rows:
        key = content_hash(row.first, row.second)
        item = ItemId.of(name, key, "pair", 1, "data", seen[key])
        yield SentencePair(item, row.first, row.second, row.label, cluster, row.split, score=row.score, key=row.key)
        seen[key] += 1
