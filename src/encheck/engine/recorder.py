"""Collect what the processes of a run send, until it ends."""

from __future__ import annotations

import copy
import math
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from encheck.claims import OF_ANY_TEXT
from encheck.errors import UNSEEN

if TYPE_CHECKING:
    from encheck.engine.measured import Described, MeasuredCase
    from encheck.gating.baseline import FirstLookItems
    from encheck.gating.old_index import OldIndex
    from encheck.gating.reindex import DocumentLengths, VectorSample
    from encheck.gating.types import Gate
    from encheck.gating.weighing import LogAnswers, Weighed
    from encheck.options.settings import Setting
    from encheck.run_file import (
        BaselineFigure,
        Contamination,
        DataEntry,
        FirstLook,
        MeasuredItems,
        Reference,
        Result,
        RunFile,
        Selection,
        Times,
    )
    from encheck.running.parents import MeasuredParent
    from encheck.scoring.frame import Columns
    from encheck.types import CheckResult, ClaimEntry, Estimate


@dataclass(frozen=True)
class Conclusion:
    """How a run ended: its exit status, what the gate decided, and what went wrong at the end.

    `baseline` has the baseline's figure beside each row that it has one for, by the row's id. `searched` has the
    answers of both models to queries that nobody judged, `references` the models that the run's are compared with.
    `weighed` has what the gate decided against each baseline.
    """

    status: int
    gate: Gate | None = None
    problems: tuple[str, ...] = ()
    baseline: Mapping[str, BaselineFigure] = field(default_factory=dict)
    searched: Sequence[LogAnswers] = ()
    weighed: Sequence[Weighed] = ()
    contamination: tuple[Contamination, ...] = ()
    references: tuple[Reference, ...] = ()


def as_row(result: CheckResult) -> Result:
    """A row of results.json."""
    from encheck.run_file import Result, SurfaceFigure

    e, lines = result.estimate, result.lines
    surface = {name: SurfaceFigure(*_ends(one), one.curve) for name, one in e.surface.items()} if e else {}
    value, low, high = _ends(e) if e else (None, None, None)
    return Result(
        id=result.id,
        check=result.check,
        property=result.property,
        level=result.level,
        reason=result.reason,
        model=result.model,
        data=result.data,
        params=dict(e.params) if e else {},
        metric=e.metric if e else None,
        value=value,
        low=low,
        high=high,
        n=e.n if e else 0,
        clusters=e.clusters if e else 0,
        floor=lines.floor if lines else None,
        floor_of=(lines.rival or None) if lines else None,
        aim=lines.aim if lines else None,
        verdict=result.verdict,
        baseline=None,
        excluded=dict(result.excluded),
        surface=surface,
        validity=result.validity,
        curve=e.curve if e else (),
    )


def _ends(e: Estimate) -> tuple[float | None, float | None, float | None]:
    """Value and interval; None for what could not be computed."""
    value, low, high = (float(x) if math.isfinite(x) else None for x in (e.value, e.low, e.high))
    return value, low, high


CRASHED = "???"  # the phase that xdist gives to the report of a test whose worker died


def _check_named(test: str) -> str:
    return test.partition("[")[0].rpartition("::")[2].removeprefix("test_")


class Recorder:
    """The rows, items and descriptions of one run; `index` is what a gate found of the old model's index."""

    def __init__(self) -> None:
        self.started = datetime.now(UTC)
        self._clock = time.perf_counter()
        self.rows: dict[str, Result] = {}
        self.items: dict[str, Columns] = {}
        self.parents_scores: dict[str, Columns] = {}
        self.parts: dict[str, FirstLookItems] = {}
        self.documents: dict[str, dict[int, tuple[str, str]]] = {}
        self.claims: dict[str, ClaimEntry] = {}
        self.described: list[Described] = []
        self.measuring: dict[str, float] = {}
        self.selected: set[str] = set()
        self.cut_short: list[str] = []
        self.index: OldIndex | None = None

    def add(self, report: Any) -> None:
        """Take what a test report carries."""
        if carried := getattr(report, "encheck", None):
            from encheck.engine.measured import MeasuredCase

            self.take(MeasuredCase.received(carried), report.duration)
        elif report.when == CRASHED and _check_named(report.nodeid) in self.selected:
            self.cut_short.append(f"{report.nodeid} was cut short: its process died")

    def take(self, found: MeasuredCase, seconds: float = 0.0) -> None:
        """Take what came of one case, which took so long to measure."""
        if not found.rows:
            return
        first = found.rows[0]
        for row in found.rows:
            self.rows[row.id] = row
            self.measuring.setdefault(row.property, 0.0)
        self.claims[first.check] = found.claim
        self.measuring[first.property] += seconds
        if found.items:
            self.items[str(first.case)] = found.items
            if found.parent:
                self.parents_scores[str(first.case)] = found.parent
            if found.part:
                self.parts[first.case.of_any_model] = found.part
        if found.documents:
            texts = {row: (name, text) for row, name, text in found.documents}
            self.documents.setdefault(first.case.of_any_model, {}).update(texts)  # what another model found stays

    def select(self, ids: Iterable[str]) -> None:
        """Note the checks that were selected, by their ids: what a crash cuts short has no report."""
        self.selected |= set(map(_check_named, ids))

    def of(self, models: Collection[str]) -> Recorder:
        """What was found of these models alone, by their labels, as a run of them would have found it."""
        found = copy.copy(self)
        found.rows = {name: row for name, row in self.rows.items() if row.model in models}
        mine = {str(row.case) for row in found.rows.values()}
        found.items = {case: columns for case, columns in self.items.items() if case in mine}
        found.claims = {row.check: self.claims[row.check] for row in found.rows.values()}
        found.described = [one.of(models) for one in self.described]
        return found

    @property
    def verdicts(self) -> list[str]:
        """The verdicts of this run, one a check."""
        return [row.verdict for row in self.rows.values() if row.verdict]

    @property
    def status(self) -> int:
        """The exit code of the checks: 1 where one failed or broke, 5 where nothing of a data set was measured."""
        if {"fail", "error"} & set(self.verdicts):
            return 1
        return 5 if self.measured_nothing or self.left_data_unmeasured else 0

    @property
    def measured_nothing(self) -> bool:
        """Whether checks were selected and every one of them was skipped."""
        shown = any(row.metric is not None for row in self.rows.values())
        return not shown and set(self.verdicts) == {"skipped"}

    @property
    def left_data_unmeasured(self) -> bool:
        """Whether a model measured nothing of a data set but contracts and health, which are of any text."""
        return any(not one.items for one in self._measured().values())

    def _measured(self) -> dict[tuple[str, str], MeasuredItems]:
        """Of each data set and model: the checks about its texts that were selected, those that measured, their items.

        What a first look has left is not counted.
        """
        from encheck.run_file import MeasuredItems

        items: dict[tuple[str, str], set[str]] = {}
        by_check: dict[tuple[str, str], dict[str, int]] = {}
        for row in self.rows.values():
            if self.claims[row.check].family in OF_ANY_TEXT or row.reason == UNSEEN:
                continue
            counts = by_check.setdefault((row.data, row.model), {})
            counts[row.check] = max(counts.get(row.check, 0), row.n if row.metric else 0)
            if row.metric:
                named = self.items.get(str(row.case), {}).get("item", ())
                items.setdefault((row.data, row.model), set()).update(named)
        return {
            key: MeasuredItems(
                selected=len(counts),
                measured=sum(n > 0 for n in counts.values()),
                items=max(*counts.values(), len(items.get(key, ()))),
            )
            for key, counts in by_check.items()
        }

    def parent(self, model: str) -> MeasuredParent | None:
        """What is said of the model that this one was trained from; None where none is at hand."""
        found = [described.parents[model] for described in self.described if model in described.parents]
        scales = {name: scale for one in found for name, scale in one.scales.items()}
        return replace(found[0], scales=scales) if found else None

    @property
    def _selection(self) -> Selection | None:
        """The cases that there are and that were not selected, as `Evaluation` says it; None where all were."""
        from encheck.run_file import Selection

        found = [described.selection for described in self.described]
        unselected, left_out = (
            tuple(sorted({text for one in found for text in getattr(one, name)})) for name in ("unselected", "left_out")
        )
        return Selection(unselected, left_out) if unselected else None

    def vectors(self, model: str) -> VectorSample | None:
        """Vectors of a model, to compare with those of another one; None where it gives none, or no gate asked."""
        from encheck.gating.reindex import VectorSample

        packed = next((one.vectors[model] for one in self.described if model in one.vectors), None)
        return VectorSample.unpacked(packed) if packed else None

    def document_lengths(self, model: str) -> DocumentLengths | None:
        """How long the user's documents are by this model's tokenizer; None where there are none, or no gate asked."""
        return next((one.documents[model] for one in self.described if model in one.documents), None)

    def results(
        self,
        *,
        settings: Mapping[str, Setting],
        end: Conclusion,
        folder: str = "",
        command: str = "",
        notes: Sequence[str] = (),
        for_the_rest: str = "",
    ) -> RunFile:
        """results.json: `run` may differ between equal runs, the rest may not.

        `notes` were logged before any check was selected.
        `for_the_rest` is the command that goes on after a first look.
        """
        from encheck.reporting.results import environment, versions
        from encheck.run_file import RunEntry, RunFile

        models = self.described[0].models if self.described else ()
        logged = (note for described in self.described for note in described.notes)
        looked = self._looked
        wait = self._seconds("wait")
        run = RunEntry(
            id=folder,
            started=self.started.isoformat(timespec="seconds"),
            seconds=round(time.perf_counter() - self._clock - wait, 3),
            command=command,
            exit_status=end.status,
            versions=versions(settings, [model.adapter for model in models]),
            environment=environment(),
            settings=settings,
            notes=tuple(sorted({*self.cut_short, *end.problems, *notes, *logged})),
            wait_seconds=wait,
            encode_seconds=self._seconds("encode"),
            generate_seconds=self._seconds("generate"),
            encoded=self._encoded(),
            properties=self._properties(),
            rest=replace(looked.rest, command=for_the_rest) if looked and looked.rest else None,
        )
        return RunFile(
            run=run,
            models=tuple(sorted(models, key=lambda model: model.label)),
            data=self._data(),
            claims={name: self.claims[name] for name in sorted(self.claims)},
            checks=tuple(replace(self.rows[key], baseline=end.baseline.get(key)) for key in sorted(self.rows)),
            selection=self._selection,
            first_look=self.first_look,
            gate=end.gate,
            contamination=end.contamination,
            references=end.references,
        )

    @property
    def first_look(self) -> FirstLook | None:
        """What was seen of a run that stopped after its first look; None of another one."""
        return self._looked.look if self._looked else None

    @property
    def _looked(self) -> Described | None:
        return next((described for described in self.described if described.look), None)

    def _seconds(self, what: str) -> float:
        """Of the process that took longest."""
        return round(max((described.seconds[what] for described in self.described), default=0.0), 3)

    def _encoded(self) -> dict[str, int]:
        labels = {label for described in self.described for label in described.encoded}
        return {label: sum(one.encoded.get(label, 0) for one in self.described) for label in sorted(labels)}

    def _properties(self) -> dict[str, Times]:
        """Seconds a property, over all models: measuring, and its texts at the run's mean seconds a computed text.

        That mean has loading and waiting in it, and is 0 where the store held everything; so it is no time of a model,
        which Table 6 of Mahajan et al. 2023 gives.
        """
        from encheck.run_file import Times

        texts = {name: count for described in self.described for name, count in described.texts.items()}
        encoded = sum(self._encoded().values())
        each = self._seconds("encode") / encoded if encoded else 0.0
        return {
            name: Times(texts.get(name, 0), round(each * texts.get(name, 0), 3), round(self.measuring[name], 3))
            for name in sorted(self.measuring)
        }

    def _data(self) -> tuple[DataEntry, ...]:
        """The data sets by name, with the calibration that each process measured."""
        merged: dict[str, DataEntry] = {}
        for entry in (entry for described in self.described for entry in described.data):
            known = merged.setdefault(entry.name, entry)
            merged[entry.name] = replace(known, calibration={**known.calibration, **entry.calibration})
        measured = sorted(self._measured().items())
        return tuple(
            replace(
                merged[name],
                calibration=dict(sorted(merged[name].calibration.items())),
                measured={model: one for (data, model), one in measured if data == name},
            )
            for name in sorted(merged)
        )
