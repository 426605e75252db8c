"""A pilot: a whole run on a part of the data with stand-ins for the models, to see what it costs besides encoding."""

from __future__ import annotations

import gc
import tempfile
import tracemalloc
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from encheck.datasets.clusters import in_seeded_order
from encheck.datasets.dataset import Dataset
from encheck.engine.checks import CheckFunction
from encheck.engine.folder import write
from encheck.engine.measure import measure_case
from encheck.engine.recorder import Conclusion, Recorder
from encheck.engine.references import references_of
from encheck.language.english import English
from encheck.options import described
from encheck.running.bench import Bench
from encheck.running.plan import Asked, missing
from encheck.running.scorer import Scorer
from encheck.running.stand_in import Scratch, stand_in
from encheck.running.subject import Subject
from encheck.statistics.bootstrap import bootstrap_weights
from encheck.system.lock import no_locks
from encheck.system.progress import Progress
from encheck.system.spent import Spent

if TYPE_CHECKING:
    from encheck.engine.evaluation import Evaluation

MOST_SEARCHED = 20_000  # documents that a pilot searches; what is searched beyond is not piloted
QUIET = Progress(quiet=True)


@dataclass(frozen=True)
class Need:
    """What a model needs: texts or pairs as often as they are asked for, distinct ones, and what the store lacks."""

    asked: float
    distinct: float
    lacking: float


@dataclass(frozen=True)
class Pilot:
    """What a run on some clusters took: time without the models' own, bytes of memory at the peak and on disk.

    `memory` is beyond what the process had before; None where it was not measured. `lacking` has, by model, what the
    store lacks.
    """

    clusters: int
    spent: Spent
    memory: float | None
    store: int
    report: int
    needs: Mapping[str, Need]
    lacking: Mapping[str, Asked]


class Pilots:
    """Pilots of one evaluation; `functions` are the checks by their cases' ids, `widths` are of the models' vectors."""

    def __init__(
        self, evaluation: Evaluation, functions: Mapping[str, CheckFunction], widths: Mapping[str, int | None]
    ) -> None:
        self.evaluation, self.functions, self.widths = evaluation, functions, widths
        data, seed = evaluation.bench.data, evaluation.bench.seed
        self._ranks = {name: in_seeded_order(one.universe, seed=seed) for name, one in data.items()}

    @property
    def clusters(self) -> int:
        """Of all data."""
        return sum(map(len, self._ranks.values()))

    def run(self, share: float, *, watch_memory: bool = False) -> Pilot:
        """A pilot on this share of the clusters; watching memory makes it several times slower."""
        bootstrap_weights.cache_clear()
        parts = {name: self._part(one, share) for name, one in self.evaluation.bench.data.items()}
        with tempfile.TemporaryDirectory(prefix="encheck-", ignore_cleanup_errors=True) as folder:
            scratch = Scratch(Path(folder, "store.sqlite"), self.evaluation.store)
            try:
                with _peak(watch_memory) as peak:
                    start = Spent.now()
                    bench = self._bench(parts, scratch)
                    self._measured(bench, Path(folder, "report"))
                    spent = Spent.now().since(start)
                needs, lacking = self._needs(bench)
            finally:
                scratch.close()  # which leaves one file
            size, report = scratch.size(), sum(one.stat().st_size for one in Path(folder, "report").iterdir())
        return Pilot(sum(len(one.universe) for one in parts.values()), spent, peak(), size, report, needs, lacking)

    def _part(self, data: Dataset, share: float) -> Dataset:
        """The first clusters in a seeded order; their queries among all documents, unless these are very many."""
        chosen = set(self._ranks[data.name][: round(share * len(self._ranks[data.name]))])
        found = data.collection
        if found is not None and len(found.documents) <= MOST_SEARCHED:
            return replace(data.part(chosen), collection=found.of(chosen))
        return data.part(chosen)

    def _bench(self, parts: Mapping[str, Dataset], store: Scratch) -> Bench:
        """A bench of the part, with the draws and the random pairs of all data, so that all else grows with it."""
        whole, known = self.evaluation.bench, self.evaluation.english
        own = English(known.pipeline, known.lexicon_name, known.mode, experimental=known.experimental, store=store)
        groups = {group.id: data.groups for data in whole.data.values() for group in data.groups}
        maker = replace(whole.maker, english=own, wholes=groups, _made={}, _surveyed={})
        subjects = {label: stand_in(one, self.widths.get(label)) for label, one in whole.subjects.items()}
        bench = Bench(subjects, dict(parts), store, maker=maker)
        bench.scorer = Scorer(subjects, whole.data, seed=whole.seed)
        return bench

    def _measured(self, bench: Bench, place: Path) -> None:
        """Everything that a run does, from the items to the report."""
        evaluation, recorder = self.evaluation.on(bench), Recorder()
        with evaluation.notes.muted(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            requests = [(c.model, c.data, c.claim, c.level) for c in evaluation.cases]
            bench.prepare(requests, locks=no_locks, progress=QUIET)
            for case in evaluation.cases:
                function = self.functions.get(str(case.id))
                if function and (judgement := measure_case(case, evaluation, function)).rows:
                    recorder.take(judgement.payload(function))
            recorder.described.append(evaluation.describe())
            end = Conclusion(0, references=references_of(recorder, evaluation.settings))
            results = recorder.results(settings=described(evaluation.settings), end=end)
            write(place, results, recorder.items, documents=recorder.documents)

    def _needs(self, bench: Bench) -> tuple[dict[str, Need], dict[str, Asked]]:
        """What each model needs of the real store; the items are there already."""
        requests = [(c.model, c.data, c.claim, c.level) for c in self.evaluation.cases]
        plan, needs, lacking = bench.plan(requests), {}, {}
        for label, subject in self.evaluation.bench.subjects.items():
            asked = plan.asked(subject)
            lacking[label] = missing(subject, asked, self.evaluation.store)
            times = _times(subject, plan.pairs.get(label, ()), plan.roles.get(label, {}))
            needs[label] = Need(times, len(asked), len(lacking[label]))
        return needs, lacking


def _times(subject: Subject, pairs: Sequence[Any], roles: Mapping[Any, Sequence[str]]) -> int:
    """How often a text, or a pair, is asked for."""
    return len(pairs) if subject.kind == "pair" else 2 * len(pairs) + sum(map(len, roles.values()))


@contextmanager
def _peak(watch: bool) -> Iterator[Callable[[], float | None]]:
    """Bytes that Python and numpy had at the peak of the block, beyond what they had before; None unless watched."""
    gc.collect()
    found: list[float] = []
    if watch:
        tracemalloc.start(1)
    try:
        yield lambda: found[0] if found else None
    finally:
        if watch:
            found.append(tracemalloc.get_traced_memory()[1])
            tracemalloc.stop()
