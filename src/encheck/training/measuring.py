"""The items of some checks on a part of a data set, planned once, and what any number of models score on them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from encheck.datasets.dataset import Dataset
from encheck.encoders.load import owner_of
from encheck.encoders.model_config import ModelConfig
from encheck.encoders.protocol import Model
from encheck.engine.checks import Check, packaged_checks
from encheck.engine.evaluation import Evaluation
from encheck.errors import NothingToMeasure
from encheck.gating.baseline import scored_table
from encheck.gating.weighing import Side
from encheck.items.variants import refuse_unread_variants
from encheck.metrics import named
from encheck.options.keywords import from_keywords
from encheck.running.bench import Bench
from encheck.running.labels import OBJECT
from encheck.running.subject import Subject
from encheck.store import Store
from encheck.system.lock import no_locks
from encheck.system.progress import Progress
from encheck.system.scratch import Scratch

MODEL = "model"


class Plan:
    """What these checks measure on `part` of a data set: `dataset`, its name `data`, and the `cases` with items.

    Making it reads the data and makes the items. UsageError or DataError for data that are not there or are broken.
    """

    def __init__(
        self, checks: Sequence[Check], data: str, part: Callable[[Dataset], Dataset], *, seed: int = 0
    ) -> None:
        settings = replace(from_keywords([], [data], {"seed": seed}), models=())
        evaluation = Evaluation.open(settings, (), quiet=True)
        try:
            ((self.data, whole),) = evaluation.bench.data.items()
            refuse_unread_variants(whole, [check.claim for check in packaged_checks()])
            self.dataset = part(whole)
            gates = [check.claim.declared.gates for check in checks]
            calibrates = not all(metric and named(metric).kind == "rate" for metric in gates)  # rates need no scale
            data_of = {self.data: self.dataset}
            bench = Bench({}, data_of, evaluation.bench.store, maker=evaluation.bench.maker, calibrates=calibrates)
            self._evaluation = evaluation.on(bench, whole=bench)
            named_models = replace(settings, models=(f"{OBJECT}{MODEL}",))
            self.cases = []
            for case in (case for check in checks for case in check.cases(named_models)):
                with suppress(NothingToMeasure):
                    self._evaluation.items(case)
                    self.cases.append(case)
        finally:
            evaluation.close()

    @property
    def properties(self) -> tuple[str, ...]:
        """The properties of its cases."""
        return tuple(dict.fromkeys(case.property for case in self.cases))

    def side(self, model: Model) -> Side:
        """What a model scores on the items, and its calibration where a figure needs one. No vector is kept.

        Cases that this kind of model cannot be measured on are left out. EncoderError where the model fails.
        """
        with Scratch() as folder:
            store = Store(Path(folder, "store.sqlite"))
            subject = Subject(MODEL, ModelConfig(MODEL), model, owner_of(model))
            bench = self._evaluation.bench.with_models({MODEL: subject}, store)
            evaluation = self._evaluation.on(bench, whole=bench)
            try:
                requests = [(case.model, case.data, case.claim, case.level) for case in self.cases]
                bench.prepare(requests, locks=no_locks, progress=Progress(quiet=True))
                bench.refuse_failed(MODEL)
                tables = []
                for case in self.cases:
                    with suppress(NothingToMeasure):
                        columns = evaluation.table(case)
                        tables.append(scored_table(case.id, case.property, columns, case.claim.declared))
            finally:
                store.close()
        scale = bench.scale(MODEL, self.data)
        return Side({table.case: table for table in tables}, {self.data: scale} if scale else {})
