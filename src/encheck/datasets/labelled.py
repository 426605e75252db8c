"""A data set of labelled pairs, from the rows of its files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from encheck.datasets.clusters import clusters_of, sample_clusters, shares_of
from encheck.datasets.dataset import Dataset
from encheck.datasets.kept import KeptPairs
from encheck.datasets.reader import Row
from encheck.ids import ItemId
from encheck.scoring.pairs import SentencePair
from encheck.scoring.splits import TEST, VALIDATION
from encheck.types import Group, content_hash


def from_rows(
    name: str,
    rows: Sequence[Row],
    *,
    licence: str = "",
    sample: int | None = None,
    seed: int = 0,
    skipped: Sequence[str] = (),
) -> Dataset:
    """A data set of labelled pairs. The positive ones are the groups: a sentence and its paraphrase.

    A sample is drawn after splitting: so many clusters of the test part, which is measured, and so many of the
    validation part, which thresholds come from. Data without a test part are sampled as a whole.
    """
    clusters = clusters_of(rows)
    kept = list(zip(rows, clusters, strict=True))
    if sample is not None and len(set(clusters)) > sample:
        kept = _sampled(kept, sample, seed)
    return _dataset(name, kept, licence, rows=len(rows), skipped=skipped)


def from_kept(name: str, kept: KeptPairs, *, licence: str = "") -> Dataset:
    """The data set that `from_rows` makes of all rows, of those that were kept."""
    return _dataset(name, kept.rows, licence, rows=kept.of, skipped=kept.skipped)


def _dataset(name: str, kept: Iterable[tuple[Row, str]], licence: str, *, rows: int, skipped: Sequence[str]) -> Dataset:
    pairs = tuple(_pairs(name, list(kept)))
    groups = tuple(
        Group(p.id, p.first, p.second, p.cluster, split=p.split, shares=p.shares) for p in pairs if p.label == 1
    )
    universe = tuple(sorted({p.cluster for p in pairs}))
    sampled = len(pairs) < rows
    return Dataset(name, pairs, groups, licence, rows, skipped=tuple(skipped), sampled=sampled, universe=universe)


def _sampled(rows: Sequence[tuple[Row, str]], count: int, seed: int) -> list[tuple[Row, str]]:
    """The rows of `count` clusters of each part; the training part is left out where another is measured."""
    splits = {row.split for row, _ in rows}
    parts = [TEST, VALIDATION] if splits & TEST else [splits]
    chosen = [sample_clusters((c for row, c in rows if row.split in part), count, seed=seed) for part in parts]
    wanted = list(zip(parts, chosen, strict=True))
    return [(row, c) for row, c in rows if any(row.split in part and c in some for part, some in wanted)]


def _pairs(name: str, rows: Sequence[tuple[Row, str]]) -> Iterable[SentencePair]:
    seen: Counter[str] = Counter()
    every = shares_of([row for row, _ in rows])
    for (row, cluster), shares in zip(rows, every, strict=True):
        key = content_hash(row.first, row.second)
        item = pair_id(name, key, seen[key])
        yield SentencePair(
            item, row.first, row.second, row.label, cluster, row.split, score=row.score, key=row.key, shares=shares
        )
        seen[key] += 1


def pair_id(name: str, texts: str, occurrence: int) -> ItemId:
    """The id of a pair of a data set, `texts` being the hash of both texts."""
    return ItemId.of(name, texts, "pair", 1, "data", occurrence)
