"""The numbers of all shards, side by side: what the checks measure on, some 40 bytes a pair.

Clusters are the connected components of hashes of words, as those of smaller data are of the words themselves.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from encheck.datasets.dataset import SENTENCES
from encheck.datasets.reader import PairRow
from encheck.scale.pairs import Columns, Positions, Score
from encheck.scale.partitions import Folder
from encheck.scale.rows import some_rows
from encheck.scale.shards import Done
from encheck.statistics.bootstrap import MANY_ITEMS, MOST_CLUSTERS
from encheck.statistics.clusters import component_numbers
from encheck.statistics.ordered import distinct, parts_of, places_in
from encheck.types import content_hash

log = logging.getLogger("encheck")
Numbers = NDArray[Any]
Hashes = NDArray[np.uint64]
TYPES = {"label": np.int8, "gold": np.float64, "same": np.bool_, "overlap": np.float64, "divergence": np.float64}


@dataclass(frozen=True)
class Parts:
    """The files of one work, in the order of the shards."""

    files: Folder
    done: Sequence[Done]

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Valid rows of each shard."""
        return np.array([one.counts["rows"] for one in self.done], np.int64)

    def column(self, name: str, dtype: Any = np.uint64) -> Numbers:
        """A column of all shards, shape [n]."""
        ends = np.cumsum(self.sizes)
        found = np.empty(int(ends[-1]), dtype)
        for one, end, size in zip(self.done, ends.tolist(), self.sizes.tolist(), strict=True):
            found[end - size : end] = self.files.columns(one.shard, [name])[name]
        return found

    def rows(self, positions: Positions) -> Iterator[tuple[Positions, list[PairRow]]]:
        """(where in `positions`, rows) of the rows at these positions, shard by shard; each shard is read once."""
        ends = np.cumsum(self.sizes)
        which = np.searchsorted(ends, positions, "right")
        for number in np.unique(which).tolist():
            at = np.flatnonzero(which == number)
            one = self.done[number]
            places = positions[at] - (ends[number] - self.sizes[number])
            if one.counts["rows"] < one.shard.rows:
                places = self.files.columns(one.shard, ["row"])["row"][places].astype(np.int64)
            yield at, some_rows(one.shard, places)

    def read(self, positions: Positions) -> list[PairRow]:
        """The rows at these positions, in their order."""
        found: dict[int, PairRow] = {}
        for at, rows in self.rows(positions):
            found.update(zip(at.tolist(), rows, strict=True))
        return [found[i] for i in range(len(positions))]


def columns_of(
    name: str, parts: Parts, *, has_clusters: bool, fingerprint: str, about: Mapping[str, Any], score: Score
) -> Columns:
    """The columns of a data set whose shards were surveyed; `has_clusters` says that the data name some."""
    known = {column: parts.column(column, dtype) for column, dtype in TYPES.items()}
    if np.isnan(known["gold"]).all():
        known["gold"] = np.broadcast_to(np.nan, len(known["gold"]))  # a column of nothing takes no memory
    clusters, hashes, order = _clusters(parts, has_clusters=has_clusters)
    things = _things(parts, clusters, hashes, has_clusters=has_clusters)
    repeats = _repeats(parts.column("pair"))
    counts = {what: sum(one.counts[what] for one in parts.done) for what in ("rows", "read", "skipped")}
    notes = tuple(note for one in parts.done for note in one.notes)
    _tell(name, known["gold"], len(repeats[0]), notes, counts)
    return Columns(
        name, known["label"], known["gold"], known["same"], known["overlap"], known["divergence"],
        clusters, hashes, order,
        repeats=partial(_repeated, *repeats),
        read=parts.read,
        draw=partial(_sentences, parts, clusters, hashes, has_clusters=has_clusters),
        score=score,
        counts=counts | {"shards": len(parts.done)},
        skipped=notes,
        fingerprint=fingerprint,
        about=about,
        things=things,
    )  # fmt: skip


def _tell(name: str, gold: NDArray[np.float64], repeats: int, notes: Sequence[str], counts: dict[str, int]) -> None:
    """What reading smaller data says as well."""
    if repeats:
        said = "%s: %d of %d rows repeat an earlier pair word for word, and each counts"
        log.warning(said, name, repeats, counts["rows"])
    if (there := gold[~np.isnan(gold)]).size:
        said = "%s: %d pairs have a score, from %g to %g: `sts` ranks pairs by it, higher means more similar"
        log.warning(said, name, there.size, there.min(), there.max())
    if counts["skipped"]:
        log.warning("%s: %d malformed rows excluded; the first: %s", name, counts["skipped"], notes[0])


def _clusters(parts: Parts, *, has_clusters: bool) -> tuple[NDArray[np.int32], Hashes, NDArray[np.int32]]:
    """The number of each pair's cluster, the hashes of the clusters, and how folds rank them.

    Up to `MOST_CLUSTERS` they are numbered in the order of their names, as in smaller data. More are numbered by their
    hashes; one of several texts is then named by the smallest of their hashes, which needs no text.
    """
    part = component_numbers(parts.column("words"), parts.column("others"))
    given = parts.column("given") if has_clusters else np.zeros(0, np.uint64)
    is_few = int(part.max()) + 1 + len(np.unique(given)) <= MOST_CLUSTERS
    named = _named(parts, part, exactly=is_few)
    if has_clusters:
        named, part = np.where(given > 0, given, named[part]), np.arange(len(part), dtype=np.int32)
    hashes = distinct(named)
    clusters = places_in(hashes, named)[part]
    if not is_few:
        return clusters, hashes, np.arange(len(hashes), dtype=np.int32)
    names = [f"{number:016x}" for number in hashes.tolist()]
    if has_clusters:
        first = np.unique(clusters, return_index=True)[1]
        names = [row.cluster or name for row, name in zip(parts.read(first), names, strict=True)]
    ranks = sorted(range(len(names)), key=names.__getitem__)
    place = np.empty(len(names), np.int32)
    place[ranks] = np.arange(len(names))
    digests = [hashlib.sha256(names[i].encode("utf-8", "surrogatepass")).digest() for i in ranks]
    order = np.empty(len(names), np.int32)
    order[sorted(range(len(names)), key=digests.__getitem__)] = np.arange(len(names))
    return place[clusters], hashes[ranks], order


def _things(parts: Parts, clusters: NDArray[np.int32], hashes: Hashes, *, has_clusters: bool) -> Hashes | None:
    """`Columns.things`: what `shares_of` says of smaller data."""
    if len(hashes) > MOST_CLUSTERS or len(clusters) > MANY_ITEMS:
        return None
    first, second = parts.column("words"), parts.column("others")
    each, counts = np.unique(np.concatenate([first, second[second != first]]), return_counts=True)
    several = each[counts > 1]
    if not len(several):
        return None
    shared = [np.where(np.isin(side, several), side, 0) for side in (first, second)]
    shared[1][second == first] = 0
    given = parts.column("given") if has_clusters else np.zeros(len(first), np.uint64)
    names = np.array([int(content_hash(f"{number:016x}"), 16) for number in hashes.tolist()], np.uint64)
    alone = np.where(shared[0] | shared[1], 0, names[clusters])
    return np.stack([np.where(given > 0, given, alone), *shared], axis=1)


def _named(parts: Parts, part: NDArray[np.int32], *, exactly: bool) -> Hashes:
    """The hash of the first text in alphabetical order of each component; or the smallest hash of such a text."""
    least = parts.column("least")
    low = np.full(int(part.max()) + 1, np.iinfo(np.uint64).max, np.uint64)
    np.minimum.at(low, part, least)
    if exactly:
        several = np.flatnonzero(low[part] != least)
        doubtful = np.flatnonzero(np.isin(part, np.unique(part[several])))
        texts: dict[int, str] = {}
        for at, rows in parts.rows(doubtful):
            for number, row in zip(part[doubtful[at]].tolist(), rows, strict=True):
                text = min(row.first, row.second)
                texts[number] = min(texts.get(number, text), text)
        for number, text in texts.items():
            low[number] = int.from_bytes(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:8])
    return low


def _repeats(pairs: Hashes) -> tuple[Positions, Positions]:
    """The positions of the rows whose pair stands in an earlier one, in order, and in how many."""
    ordered = np.sort(pairs)
    several = np.unique(ordered[1:][ordered[1:] == ordered[:-1]])
    del ordered
    rows = _rows_of(pairs, several)
    order = np.argsort(pairs[rows], kind="stable")
    found = pairs[rows][order]
    starts = np.searchsorted(found, found)  # where the rows of the same pair begin
    before = np.arange(len(found)) - starts
    in_order = np.argsort(rows[order][before > 0])
    return rows[order][before > 0][in_order], before[before > 0][in_order]


def _rows_of(values: Hashes, some: Hashes) -> Positions:
    """The positions of the rows whose value is one of these, which are in order."""
    if not len(some):
        return np.zeros(0, np.int64)
    found = []
    for part in parts_of(len(values)):
        at = np.searchsorted(some, values[part])
        found.append(part.start + np.flatnonzero(some[np.minimum(at, len(some) - 1)] == values[part]))
    return np.concatenate(found)


def _repeated(positions: Positions, before: Positions, at: int) -> int:
    place = int(np.searchsorted(positions, at))
    return int(before[place]) if place < len(positions) and positions[place] == at else 0


def _sentences(
    parts: Parts, clusters: NDArray[np.int32], hashes: Hashes, *, has_clusters: bool
) -> tuple[list[tuple[str, str]], dict[str, int]]:
    """The first texts with the smallest hashes, at most `SENTENCES`, each with its cluster; the clusters' numbers."""
    first = parts.column("first")
    chosen = np.flatnonzero(first <= distinct(first)[:SENTENCES][-1])
    if has_clusters:  # a text may be in several
        both = np.stack([first[chosen], clusters[chosen].astype(np.uint64)])
        positions = chosen[np.unique(both, axis=1, return_index=True)[1]]
    else:
        positions = chosen[np.unique(first[chosen], return_index=True)[1]]
    found, numbers = [], {}
    for row, number in zip(parts.read(positions), clusters[positions].tolist(), strict=True):
        name = row.cluster or f"{int(hashes[number]):016x}"
        found.append((row.first, name))
        numbers[name] = number
    return found, numbers
