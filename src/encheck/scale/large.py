"""Large data of a run: which data are measured in shards, their sample, and the scores of their pairs."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass, field, replace
from heapq import nsmallest
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from encheck.datasets.clusters import shares_of
from encheck.datasets.dataset import Dataset
from encheck.datasets.pairs import LICENCE
from encheck.datasets.reader import BadRows
from encheck.encoders.model_config import Device
from encheck.errors import DataError, UsageError
from encheck.running.subject import Subject
from encheck.scale import storage
from encheck.scale.columns import Parts, columns_of
from encheck.scale.pairs import Columns, ShardScores
from encheck.scale.shards import Done, Engine, Shard, Work
from encheck.scale.sources import ENDING, Plan, plan
from encheck.scale.work import ScoreWork, Survey
from encheck.system.lock import Locks
from encheck.system.memory import release_memory
from encheck.system.progress import Progress
from encheck.types import Group

log = logging.getLogger("encheck")
KIND = "pairs"
SAMPLE = 2_000  # clusters that variants are made from, where all pairs are asked for
MOST_SAMPLED = 50_000  # pairs of the sample: a cluster that would go beyond is left out


@dataclass
class Large:
    """The data of a run that are measured in shards by `engine`, whose files lie below `folder`.

    `is_asked` says that the user named the engine: then all data must lie in Parquet files.
    """

    engine: Engine
    folder: str
    is_asked: bool
    sample: int | None = None
    seed: int = 0
    skip_bad_rows: bool = False
    device: Device = field(default_factory=Device)
    quiet: bool = False
    _plans: dict[str, Plan] = field(default_factory=dict)

    def load(self, label: str, spec: str) -> Dataset:
        """The data in shards.

        Raises:
            UsageError: the user named an engine, and these data are no labelled pairs in Parquet files.
            DataError: a file cannot be read, or a row is malformed.
        """
        kind, _, place = spec.partition(":")
        if self.is_asked:
            _refuse_others(spec, kind, place)
        found = plan(place, BadRows(skip=self.skip_bad_rows))
        self._tell(label, found)
        return self._dataset(label, found)

    def _tell(self, label: str, found: Plan) -> None:
        if not self.is_asked:
            log.warning("%s: %d rows are measured in %d shards (--engine=local)", label, found.rows, len(found.shards))
        if found.skipped:
            log.warning("%s: %d files left out; the first: %s", label, len(found.skipped), found.skipped[0])

    def _dataset(self, label: str, found: Plan) -> Dataset:
        """All pairs as columns, and a sample of them in memory."""
        self._plans[label] = found
        work = Survey(self.folder, found.fingerprint, self.skip_bad_rows)
        done = self._run(work, found.shards, f"reading {label}", [self._lock(work)], Progress(quiet=self.quiet))
        if not sum(one.counts["rows"] for one in done):
            raise DataError(f"{label}: no row of {len(done)} shards is valid; the first problem: {done[0].notes[0]}")
        has_clusters = "cluster" in found.columns
        parts = Parts(work.files, done)
        columns = columns_of(
            label, parts, has_clusters=has_clusters, fingerprint=found.fingerprint,
            about=self.engine.about(), score=self.score,
        )  # fmt: skip
        return _with_sample(columns, self.sample or SAMPLE, self.seed)

    def score(
        self, subject: Subject, columns: Columns, *, both_orders: bool, locks: Locks, progress: Progress
    ) -> ShardScores:
        """The scores of all pairs by a model; EncoderError where it fails."""
        found = self._plans[columns.name]
        work = ScoreWork(
            self.folder, found.fingerprint, subject.config, subject.fingerprint, self.device, self.skip_bad_rows,
            both_orders, subject.model,
        )  # fmt: skip
        before = sum(work.found(shard) is not None for shard in found.shards)
        title = f"{subject.label} scores {columns.name}"
        done = self._run(work, found.shards, title, locks(subject.model), progress)
        parts = Parts(work.files, done)
        _refuse_other_sizes(parts, columns)
        has_backward = "backward" in work.files.columns(done[0].shard, ["backward"])
        computed = sum(one.counts["computed"] for one in done) if before < len(done) else 0
        backward = parts.column("backward", np.float64) if has_backward else None
        return ShardScores(parts.column("forward", np.float64), backward, computed)

    def _run(
        self,
        work: Work,
        shards: Sequence[Shard],
        title: str,
        locks: Iterable[AbstractContextManager[object]],
        progress: Progress,
    ) -> list[Done]:
        """What came of the shards, in their order; where some are still to be done, one process does them."""
        with ExitStack() as held:
            for lock in iter(locks) if any(work.found(shard) is None for shard in shards) else ():
                held.enter_context(lock)
            with progress.task(title, sum(shard.rows for shard in shards), unit="pair"):
                done = list(_counted(self.engine.run(work, shards), progress))
        release_memory()  # texts and vectors of all shards came and went
        return sorted(done, key=lambda one: one.shard.number)

    def _lock(self, work: Work) -> AbstractContextManager[object]:
        """The lock of a work's files, where they lie on a disk."""
        folder = storage.local_path(self.folder)
        if folder is None:
            return nullcontext()
        from filelock import FileLock

        folder.mkdir(parents=True, exist_ok=True)
        return FileLock(folder / f"{work.key}.lock")


def _counted(done: Iterator[Done], progress: Progress) -> Iterator[Done]:
    for one in done:
        progress.advance(one.shard.rows)
        yield one


def _refuse_others(spec: str, kind: str, place: str) -> None:
    """UsageError for data that are not measured in shards."""
    is_file = not storage.is_url(place) and Path(place).expanduser().is_file()
    if kind != KIND or not place or (is_file and not place.lower().endswith(ENDING)):
        raise UsageError(
            f"--engine measures labelled pairs in Parquet files, but --data is {spec}: write --data=pairs:PLACE, where "
            f"PLACE is a .parquet file, a folder of them or a URL, or leave out --engine"
        )


def _refuse_other_sizes(parts: Parts, columns: Columns) -> None:
    if int(parts.sizes.sum()) != len(columns):
        raise DataError(
            f"{columns.name}: {parts.sizes.sum():,} pairs were scored, but {len(columns):,} were read: the files "
            f"changed during the run. Start the run again"
        )


def _with_sample(columns: Columns, count: int, seed: int) -> Dataset:
    """The data set of these columns, with `count` of its clusters in memory."""
    positions = _sampled(columns, count, seed)
    kept = zip(columns.pairs(positions), shares_of(columns.rows(positions)), strict=True)
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


def _sampled(columns: Columns, count: int, seed: int) -> NDArray[np.int64]:
    """The positions of the pairs of some clusters, which are chosen by the hash of their names as in smaller data."""

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
    return np.flatnonzero(is_chosen[columns.clusters])
