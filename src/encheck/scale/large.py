"""Large data of a run: their pairs as columns over all shards, a sample in memory, and scores of all pairs.

Clusters are the connected components of word hashes. In smaller data they are the components of the words themselves.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from heapq import nsmallest
from typing import Any

import numpy as np
from numpy.typing import NDArray

from encheck.datasets.clusters import hash_shared_sentences
from encheck.datasets.dataset import MAX_SENTENCES, Dataset
from encheck.datasets.pairs import LICENCE
from encheck.datasets.reader import BadRows, PairRow
from encheck.encoders.model_config import Device
from encheck.errors import DataError, UsageError
from encheck.running.model_under_test import ModelUnderTest
from encheck.scale import storage
from encheck.scale.pairs import PairColumns, Positions, ShardScorer, ShardScores
from encheck.scale.shards import (
    ENDING,
    Shard,
    ShardEngine,
    ShardFolder,
    ShardPlan,
    ShardResult,
    ShardWork,
    plan_shards,
    shard_rows_at,
)
from encheck.scale.work import ScoreWork, SurveyWork
from encheck.statistics.bootstrap import MANY_ITEMS, MAX_CLUSTERS
from encheck.statistics.clusters import component_numbers, search_sorted, slice_in_chunks, sorted_distinct
from encheck.system.files import expand_home
from encheck.system.lock import Locks
from encheck.system.memory import release_memory
from encheck.system.terminal import Progress
from encheck.types import Group, content_hash

log = logging.getLogger("encheck")
Numbers = NDArray[Any]
Hashes = NDArray[np.uint64]
TYPES = {"label": np.int8, "gold": np.float64, "same": np.bool_, "overlap": np.float64, "divergence": np.float64}


@dataclass(frozen=True)
class FinishedShards:
    """The result files of one task, in the order of the shards."""

    files: ShardFolder
    done: Sequence[ShardResult]

    @property
    def sizes(self) -> NDArray[np.int64]:
        """The number of valid rows in each shard."""
        return np.array([one.counts["rows"] for one in self.done], np.int64)

    def column(self, name: str, dtype: Any = np.uint64) -> Numbers:
        """Return a column of all shards, shape [n]."""
        ends = np.cumsum(self.sizes)
        found = np.empty(int(ends[-1]), dtype)
        for one, end, size in zip(self.done, ends.tolist(), self.sizes.tolist(), strict=True):
            found[end - size : end] = self.files.read_columns(one.shard, [name])[name]
        return found

    def rows(self, positions: Positions) -> Iterator[tuple[Positions, list[PairRow]]]:
        """Yield (indices into `positions`, rows) of the rows at these positions. Each shard is read once."""
        ends = np.cumsum(self.sizes)
        which = np.searchsorted(ends, positions, "right")
        for number in np.unique(which).tolist():
            at = np.flatnonzero(which == number)
            one = self.done[number]
            places = positions[at] - (ends[number] - self.sizes[number])
            if one.counts["rows"] < one.shard.rows:
                places = self.files.read_columns(one.shard, ["row"])["row"][places].astype(np.int64)
            yield at, shard_rows_at(one.shard, places)

    def read(self, positions: Positions) -> list[PairRow]:
        """Return the rows at these positions, in their order."""
        found: dict[int, PairRow] = {}
        for at, rows in self.rows(positions):
            found.update(zip(at.tolist(), rows, strict=True))
        return [found[i] for i in range(len(positions))]


def columns_of_shards(
    name: str,
    parts: FinishedShards,
    *,
    has_clusters: bool,
    fingerprint: str,
    about: Mapping[str, int | str],
    score: ShardScorer,
) -> PairColumns:
    """Return the columns of a data set whose shards were surveyed.

    `has_clusters` says whether the data name clusters.
    """
    known = {column: parts.column(column, dtype) for column, dtype in TYPES.items()}
    if np.isnan(known["gold"]).all():
        known["gold"] = np.broadcast_to(np.nan, len(known["gold"]))  # an empty column takes no memory
    clusters, hashes, order = _number_clusters(parts, has_clusters=has_clusters)
    things = _shared_hashes(parts, clusters, hashes, has_clusters=has_clusters)
    repeats = _repeated_pairs(parts.column("pair"))
    counts = {what: sum(one.counts[what] for one in parts.done) for what in ("rows", "read", "skipped")}
    notes = tuple(note for one in parts.done for note in one.notes)
    if len(repeats[0]):
        said = "%s: %d of %d rows repeat an earlier pair word for word, and each counts"
        log.warning(said, name, len(repeats[0]), counts["rows"])
    if (scores := known["gold"][~np.isnan(known["gold"])]).size:
        said = "%s: %d pairs have a score, from %g to %g: `sts` ranks pairs by it, higher as more similar"
        log.warning(said, name, scores.size, scores.min(), scores.max())
    if counts["skipped"]:
        log.warning("%s: %d malformed rows excluded; the first: %s", name, counts["skipped"], notes[0])
    return PairColumns(
        name, known["label"], known["gold"], known["same"], known["overlap"], known["divergence"],
        clusters, hashes, order,
        repeats=partial(_count_repeats_before, *repeats),
        read=parts.read,
        draw=partial(_calibration_sentences, parts, clusters, hashes, has_clusters=has_clusters),
        score=score,
        counts=counts | {"shards": len(parts.done)},
        skipped=notes,
        fingerprint=fingerprint,
        about=about,
        things=things,
    )  # fmt: skip


def _number_clusters(
    parts: FinishedShards, *, has_clusters: bool
) -> tuple[NDArray[np.int32], Hashes, NDArray[np.int32]]:
    """Return the number of each pair's cluster, the hashes of the clusters, and their ranks for folds.

    Up to `MAX_CLUSTERS` clusters are numbered in the order of their names, as in smaller data. If there are more, they
    are numbered by their hashes. A cluster of several texts is then named by the smallest of their hashes, which needs
    no text.
    """
    part = component_numbers(parts.column("words"), parts.column("others"))
    given = parts.column("given") if has_clusters else np.zeros(0, np.uint64)
    is_few = int(part.max()) + 1 + len(np.unique(given)) <= MAX_CLUSTERS
    least = parts.column("least")
    low = np.full(int(part.max()) + 1, np.iinfo(np.uint64).max, np.uint64)
    np.minimum.at(low, part, least)
    if is_few:
        several = np.flatnonzero(low[part] != least)
        doubtful = np.flatnonzero(np.isin(part, np.unique(part[several])))
        texts: dict[int, str] = {}
        for at, rows in parts.rows(doubtful):
            for number, row in zip(part[doubtful[at]].tolist(), rows, strict=True):
                text = min(row.first, row.second)
                texts[number] = min(texts.get(number, text), text)
        for number, text in texts.items():
            low[number] = int.from_bytes(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:8])
    named = low
    if has_clusters:
        named, part = np.where(given > 0, given, named[part]), np.arange(len(part), dtype=np.int32)
    hashes = sorted_distinct(named)
    clusters = search_sorted(hashes, named)[part]
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


def _shared_hashes(
    parts: FinishedShards, clusters: NDArray[np.int32], hashes: Hashes, *, has_clusters: bool
) -> Hashes | None:
    """Return `Columns.things`, the equivalent of `hash_shared_sentences` for smaller data."""
    if len(hashes) > MAX_CLUSTERS or len(clusters) > MANY_ITEMS:
        return None
    first, second = parts.column("words"), parts.column("others")
    given = parts.column("given") if has_clusters else np.zeros(len(first), np.uint64)
    places, differ = np.where(given > 0, given, np.arange(len(first), dtype=np.uint64)), second != first
    sides = np.stack([np.concatenate([first, second[differ]]), np.concatenate([places, places[differ]])])
    each, counts = np.unique(np.unique(sides, axis=1)[0], return_counts=True)
    several = each[counts > 1]
    if not len(several):
        return None
    shared = [np.where(np.isin(side, several), side, 0) for side in (first, second)]
    shared[1][second == first] = 0
    names = np.array([int(content_hash(f"{number:016x}"), 16) for number in hashes.tolist()], np.uint64)
    alone = np.where(shared[0] | shared[1], 0, names[clusters])
    return np.stack([np.where(given > 0, given, alone), *shared], axis=1)


def _repeated_pairs(pairs: Hashes) -> tuple[Positions, Positions]:
    """Return the positions of the rows that repeat an earlier pair, in order, and the number of earlier rows."""
    ordered = np.sort(pairs)
    several = np.unique(ordered[1:][ordered[1:] == ordered[:-1]])
    del ordered
    rows = _positions_of(pairs, several)
    order = np.argsort(pairs[rows], kind="stable")
    found = pairs[rows][order]
    starts = np.searchsorted(found, found)  # where the rows of the same pair begin
    before = np.arange(len(found)) - starts
    in_order = np.argsort(rows[order][before > 0])
    return rows[order][before > 0][in_order], before[before > 0][in_order]


def _positions_of(values: Hashes, wanted_values: Hashes) -> Positions:
    """Return the positions of the rows whose value is in `wanted_values`. `wanted_values` is sorted."""
    if not len(wanted_values):
        return np.zeros(0, np.int64)
    found = []
    for part in slice_in_chunks(len(values)):
        at = np.searchsorted(wanted_values, values[part])
        found.append(part.start + np.flatnonzero(wanted_values[np.minimum(at, len(wanted_values) - 1)] == values[part]))
    return np.concatenate(found)


def _count_repeats_before(positions: Positions, before: Positions, at: int) -> int:
    place = int(np.searchsorted(positions, at))
    return int(before[place]) if place < len(positions) and positions[place] == at else 0


def _calibration_sentences(
    parts: FinishedShards, clusters: NDArray[np.int32], hashes: Hashes, *, has_clusters: bool
) -> tuple[list[tuple[str, str]], dict[str, int]]:
    """Return up to `MAX_SENTENCES` first texts with the smallest hashes, each with its cluster.

    Also return the numbers of these clusters.
    """
    first = parts.column("first")
    chosen = np.flatnonzero(first <= sorted_distinct(first)[:MAX_SENTENCES][-1])
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


KIND = "pairs"
SAMPLE = 2_000  # clusters for variants, if all pairs are measured
MOST_SAMPLED = 50_000  # pairs of the sample: a cluster that would exceed this is left out


@dataclass
class LargeDataLoader:
    """Loads the data of a run that `engine` measures in shards. The shards' files are below `folder`.

    `is_asked` is true if the user named the engine. Then all data must be in Parquet files.
    """

    engine: ShardEngine
    folder: str
    is_asked: bool
    sample: int | None = None
    seed: int = 0
    skip_bad_rows: bool = False
    device: Device = field(default_factory=Device)
    quiet: bool = False
    _plans: dict[str, ShardPlan] = field(default_factory=dict)

    def load(self, label: str, spec: str) -> Dataset:
        """Return the data in shards.

        Raises:
            UsageError: the user named an engine, and these data are not labelled pairs in Parquet files.
            DataError: a file cannot be read, or a row is malformed.
        """
        kind, _, place = spec.partition(":")
        if self.is_asked:
            is_file = not storage.is_url(place) and expand_home(place).is_file()
            if kind != KIND or not place or (is_file and not place.lower().endswith(ENDING)):
                raise UsageError(
                    f"--engine measures labelled pairs in Parquet files, but --data is {spec}: write "
                    f"--data=pairs:PLACE, where PLACE is a .parquet file, a folder of them or a URL, or leave out "
                    f"--engine"
                )
        found = plan_shards(place, BadRows(skip=self.skip_bad_rows))
        if not self.is_asked:
            log.warning("%s: %d rows are measured in %d shards (--engine=local)", label, found.rows, len(found.shards))
        if found.skipped:
            log.warning("%s: %d files left out; the first: %s", label, len(found.skipped), found.skipped[0])
        self._plans[label] = found
        work = SurveyWork(self.folder, found.fingerprint, self.skip_bad_rows)
        done = self._run(work, found.shards, f"reading {label}", [self._lock(work)], Progress(quiet=self.quiet))
        if not sum(one.counts["rows"] for one in done):
            raise DataError(f"{label}: no row of {len(done)} shards is valid; the first problem: {done[0].notes[0]}")
        has_clusters = "cluster" in found.columns
        parts = FinishedShards(work.files, done)
        columns = columns_of_shards(
            label, parts, has_clusters=has_clusters, fingerprint=found.fingerprint,
            about=self.engine.about(), score=self.score,
        )  # fmt: skip
        return _draw_sample(columns, self.sample or SAMPLE, self.seed)

    def score(
        self, subject: ModelUnderTest, columns: PairColumns, *, both_orders: bool, locks: Locks, progress: Progress
    ) -> ShardScores:
        """Return a model's scores of all pairs. Raise EncoderError if it fails."""
        found = self._plans[columns.name]
        work = ScoreWork(
            self.folder, found.fingerprint, subject.config, subject.fingerprint, subject.store_fingerprint,
            self.device, self.skip_bad_rows, both_orders, subject.model,
        )  # fmt: skip
        before = sum(work.stored_result(shard) is not None for shard in found.shards)
        title = f"{subject.label} scores {columns.name}"
        done = self._run(work, found.shards, title, locks(subject.model), progress)
        parts = FinishedShards(work.files, done)
        if int(parts.sizes.sum()) != len(columns):
            raise DataError(
                f"{columns.name}: {parts.sizes.sum():,} pairs were scored, but {len(columns):,} were read: the files "
                f"changed during the run. Start the run again"
            )
        has_backward = "backward" in work.files.read_columns(done[0].shard, ["backward"])
        computed = sum(one.counts["computed"] for one in done) if before < len(done) else 0
        backward = parts.column("backward", np.float64) if has_backward else None
        return ShardScores(parts.column("forward", np.float64), backward, computed)

    def _run(
        self,
        work: ShardWork,
        shards: Sequence[Shard],
        title: str,
        locks: Iterable[AbstractContextManager[object]],
        progress: Progress,
    ) -> list[ShardResult]:
        """Return the results of the shards, in their order. If some shards are not done, one process does them."""
        with ExitStack() as held:
            for lock in iter(locks) if any(work.stored_result(shard) is None for shard in shards) else ():
                held.enter_context(lock)
            with progress.task(title, sum(shard.rows for shard in shards), unit="pair"):
                done = []
                for one in self.engine.run(work, shards):
                    progress.advance(one.shard.rows)
                    done.append(one)
        release_memory()  # frees the memory of all shards' texts and vectors
        return sorted(done, key=lambda one: one.shard.number)

    def _lock(self, work: ShardWork) -> AbstractContextManager[object]:
        """Return the lock on a task's files, if they are on a disk."""
        folder = storage.local_path(self.folder)
        if folder is None:
            return nullcontext()
        from filelock import FileLock

        folder.mkdir(parents=True, exist_ok=True)
        return FileLock(folder / f"{work.key}.lock")


def _draw_sample(columns: PairColumns, count: int, seed: int) -> Dataset:
    """Return the data set of these columns, with `count` of its clusters in memory."""

    def rank(number: int) -> bytes:
        return hashlib.sha256(f"{seed}/{columns.cluster_name(number)}".encode()).digest()

    sizes = np.bincount(columns.clusters, minlength=len(columns.hashes))
    chosen, total = [], 0
    for number in nsmallest(count, range(len(sizes)), key=rank):
        if total + sizes[number] <= MOST_SAMPLED:
            chosen.append(number)
            total += int(sizes[number])
    is_chosen = np.zeros(len(sizes), bool)
    is_chosen[chosen] = True
    positions = np.flatnonzero(is_chosen[columns.clusters])
    kept = zip(columns.make_pairs(positions), hash_shared_sentences(columns.read_rows(positions)), strict=True)
    found = tuple(replace(pair, shares=shares) for pair, shares in kept)
    groups = tuple(
        Group(p.id, p.first, p.second, p.cluster, split=p.split, shares=p.shares) for p in found if p.label == 1
    )
    return Dataset(
        columns.name, found, groups, LICENCE, columns.counts["read"],
        skipped=columns.skipped,
        sampled=len(found) < len(columns),
        universe=tuple(sorted({p.cluster for p in found})),
        whole=columns,
    )  # fmt: skip
