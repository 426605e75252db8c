"""Collect the results that the processes of a run send."""

from __future__ import annotations

import copy
import math
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from encheck.claims import OF_ANY_TEXT
from encheck.errors import NOT_IN_FIRST_LOOK

if TYPE_CHECKING:
    from pyarrow import Table

    from encheck.engine.case_outcome import CaseOutcome, ProcessDescription
    from encheck.gating.baseline import FirstLookItems
    from encheck.gating.comparison import GateComparison, LogAnswers
    from encheck.gating.old_index import OldIndex
    from encheck.gating.reindex import DocumentLengths, VectorSample
    from encheck.gating.types import Gate
    from encheck.options.settings import RunSettings
    from encheck.run_file import (
        BaselineFigure,
        Contamination,
        DataEntry,
        FirstLook,
        MeasuredItems,
        Reference,
        Result,
        RunFile,
    )
    from encheck.running.parents import ParentScales
    from encheck.scoring.frame import RunItems
    from encheck.types import CheckResult, ClaimEntry, Estimate


@dataclass(frozen=True)
class Conclusion:
    """The end of a run: its exit status, the gate's decision, and errors at the end.

    `baseline` maps the ids of rows to the baseline's figures. `searched` has the answers of both models to unjudged
    queries. `references` are the comparisons with reference models. `weighed` has the gate's decision against each
    baseline.
    """

    status: int
    gate: Gate | None = None
    problems: tuple[str, ...] = ()
    baseline: Mapping[str, BaselineFigure] = field(default_factory=dict)
    searched: Sequence[LogAnswers] = ()
    weighed: Sequence[GateComparison] = ()
    contamination: tuple[Contamination, ...] = ()
    references: tuple[Reference, ...] = ()


def result_row(result: CheckResult) -> Result:
    """Return a row of results.json; numbers that could not be computed are None."""
    from encheck.run_file import Result, SurfaceFigure

    def interval(one: Estimate | None) -> tuple[float | None, float | None, float | None]:
        value, low, high = (
            (float(x) if math.isfinite(x) else None for x in (one.value, one.low, one.high)) if one else [None] * 3
        )
        return value, low, high

    e, lines = result.estimate, result.lines
    value, low, high = interval(e)
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
        surface={name: SurfaceFigure(*interval(one), one.curve) for name, one in e.surface.items()} if e else {},
        validity=result.validity,
        curve=e.curve if e else (),
    )


CRASHED = "???"  # the phase in xdist's report of a test whose worker died


class Recorder:
    """The rows, items and descriptions of one run. `index` is a gate's result on the old model's index."""

    def __init__(self) -> None:
        self.started = datetime.now(UTC)
        self._clock = time.perf_counter()
        self.rows: dict[str, Result] = {}
        self._items: RunItems | None = None
        self._tables: dict[str, Table] = {}
        self.parent_scores: dict[str, Table] = {}
        self.parts: dict[str, FirstLookItems] = {}
        self.documents: dict[str, dict[int, tuple[str, str]]] = {}
        self.claims: dict[str, ClaimEntry] = {}
        self.described: list[ProcessDescription] = []
        self.measuring: dict[str, float] = {}
        self.selected: set[str] = set()
        self.cut_short: list[str] = []
        self.index: OldIndex | None = None

    def add_report(self, report: Any) -> None:
        """Read the results in a test report."""
        if carried := getattr(report, "encheck", None):
            from encheck.engine.case_outcome import CaseOutcome

            self.add_case(CaseOutcome.deserialise(carried), report.duration)
        elif report.when == CRASHED and _check_of_test_id(report.nodeid) in self.selected:
            self.cut_short.append(f"{report.nodeid} was cut short: its process died")

    def add_case(self, measured: CaseOutcome, seconds: float = 0.0) -> None:
        """Add the outcome of one case and the seconds to measure it."""
        if not measured.rows:
            return
        first = measured.rows[0]
        for row in measured.rows:
            self.rows[row.id] = row
            self.measuring.setdefault(row.property, 0.0)
        self.claims[first.check] = measured.claim
        self.measuring[first.property] += seconds
        if measured.items is not None:
            self._tables[str(first.case)], self._items = measured.items, None
            if measured.parent_scores is not None:
                self.parent_scores[str(first.case)] = measured.parent_scores
            if measured.part:
                self.parts[first.case.of_any_model] = measured.part
        if measured.documents:
            texts = {row: (name, text) for row, name, text in measured.documents}
            self.documents.setdefault(first.case.of_any_model, {}).update(texts)  # other models' documents stay

    def note_selected(self, ids: Iterable[str]) -> None:
        """Record the ids of the selected checks, since a check that crashes sends no report."""
        self.selected |= set(map(_check_of_test_id, ids))

    def select_models(self, models: Collection[str]) -> Recorder:
        """Return a recorder with the results of these models (by label), as if the run had only these."""
        part = copy.copy(self)
        part.rows = {name: row for name, row in self.rows.items() if row.model in models}
        cases = {str(row.case) for row in part.rows.values()}
        part._tables, part._items = {case: table for case, table in self._tables.items() if case in cases}, None
        part.claims = {row.check: self.claims[row.check] for row in part.rows.values()}
        part.described = [one.select_models(models) for one in self.described]
        return part

    @property
    def items(self) -> RunItems:
        """The items that were measured."""
        if self._items is None:
            from encheck.scoring.frame import RunItems

            self._items = RunItems.from_tables(self._tables.values())
        return self._items

    @property
    def status(self) -> int:
        """The exit code of the checks: 1 if a check failed or broke, 5 if nothing was measured on a data set."""
        if any(row.verdict in ("fail", "error") for row in self.rows.values()):
            return 1
        return 5 if self.measured_nothing or self.left_data_unmeasured else 0

    @property
    def measured_nothing(self) -> bool:
        """Whether checks were selected and every one of them was skipped."""
        is_shown = any(row.metric is not None for row in self.rows.values())
        return not is_shown and {row.verdict for row in self.rows.values() if row.verdict} == {"skipped"}

    @property
    def left_data_unmeasured(self) -> bool:
        """Whether a model measured only contracts and health, which apply to any text, on some data set."""
        return any(not one.items for one in self._measured_items().values())

    def _measured_items(self) -> dict[tuple[str, str], MeasuredItems]:
        """Count, for each data set and model, the selected checks on its texts, those that measured, and their items.

        Checks that a first look left out are not counted.
        """
        from encheck.run_file import MeasuredItems

        items: dict[tuple[str, str], set[str]] = {}
        by_check: dict[tuple[str, str], dict[str, int]] = {}
        for row in self.rows.values():
            if self.claims[row.check].family in OF_ANY_TEXT or row.reason == NOT_IN_FIRST_LOOK:
                continue
            counts = by_check.setdefault((row.data, row.model), {})
            counts[row.check] = max(counts.get(row.check, 0), row.n if row.metric else 0)
            if row.metric and str(row.case) in self._tables:
                items.setdefault((row.data, row.model), set()).update(self.items[str(row.case)].ids)
        return {
            key: MeasuredItems(
                selected=len(counts),
                measured=sum(n > 0 for n in counts.values()),
                items=max(*counts.values(), len(items.get(key, ()))),
            )
            for key, counts in by_check.items()
        }

    def parent_of(self, model: str) -> ParentScales | None:
        """Return the measured parent of this model, or None."""
        parents = [described.parents[model] for described in self.described if model in described.parents]
        scales = {name: scale for one in parents for name, scale in one.scales.items()}
        return replace(parents[0], scales=scales) if parents else None

    def vector_sample(self, model: str) -> VectorSample | None:
        """Return vectors of a model to compare with another model's; None without a gate or if the model has no
        vectors.
        """
        from encheck.gating.reindex import VectorSample

        packed = next((one.vectors[model] for one in self.described if model in one.vectors), None)
        return VectorSample.unpack(packed) if packed else None

    def document_lengths(self, model: str) -> DocumentLengths | None:
        """Return the lengths of the user's documents by this model's tokenizer; None without documents or a gate."""
        return next((one.documents[model] for one in self.described if model in one.documents), None)

    @property
    def first_look(self) -> FirstLook | None:
        """The part that a run measured before it stopped after its first look; None for other runs."""
        return next((described.look for described in self.described if described.look), None)

    def results(
        self,
        *,
        settings: RunSettings,
        end: Conclusion,
        folder: str = "",
        command: str = "",
        notes: Sequence[str] = (),
        for_the_rest: str = "",
    ) -> RunFile:
        """Return the content of results.json. Only `run` may differ between equal runs.

        `notes` were logged before any check was selected. `for_the_rest` is the command that continues after a first
        look.

        The seconds of a property cover all models: the time to measure, and the time to encode its texts at the run's
        mean seconds per computed text. That mean includes loading and waiting, and is 0 if everything was stored. So it
        is not the time of a model in Table 6 of Mahajan et al. 2023.
        """
        from encheck.reporting.results import environment, versions
        from encheck.run_file import PropertyTimes, RunEntry, RunFile, Selection

        models = self.described[0].models if self.described else ()
        logged = (note for described in self.described for note in described.notes)
        rest = next((described.rest for described in self.described if described.look), None)
        wait, encode, generate = (  # of the slowest process
            round(max((described.seconds[what] for described in self.described), default=0.0), 3)
            for what in ("wait", "encode", "generate")
        )
        labels = sorted({label for described in self.described for label in described.encoded})
        encoded = {label: sum(one.encoded.get(label, 0) for one in self.described) for label in labels}
        texts = {name: count for described in self.described for name, count in described.texts.items()}
        each = encode / total if (total := sum(encoded.values())) else 0.0
        unselected, left_out = (
            tuple(sorted({text for one in self.described for text in getattr(one.selection, name)}))
            for name in ("unselected", "left_out")
        )
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
            encode_seconds=encode,
            generate_seconds=generate,
            encoded=encoded,
            properties={
                name: PropertyTimes(
                    texts.get(name, 0), round(each * texts.get(name, 0), 3), round(self.measuring[name], 3)
                )
                for name in sorted(self.measuring)
            },
            rest=replace(rest, command=for_the_rest) if rest else None,
        )
        return RunFile(
            run=run,
            models=tuple(sorted(models, key=lambda model: model.label)),
            data=self._data_entries(),
            claims={name: self.claims[name] for name in sorted(self.claims)},
            checks=tuple(replace(self.rows[key], baseline=end.baseline.get(key)) for key in sorted(self.rows)),
            selection=Selection(unselected, left_out) if unselected else None,
            first_look=self.first_look,
            gate=end.gate,
            contamination=end.contamination,
            references=end.references,
        )

    def _data_entries(self) -> tuple[DataEntry, ...]:
        """Return the data sets by name, with the calibrations from all processes."""
        merged: dict[str, DataEntry] = {}
        for entry in (entry for described in self.described for entry in described.data):
            known = merged.setdefault(entry.name, entry)
            merged[entry.name] = replace(known, calibration={**known.calibration, **entry.calibration})
        measured = sorted(self._measured_items().items())
        return tuple(
            replace(
                merged[name],
                calibration=dict(sorted(merged[name].calibration.items())),
                measured={model: one for (data, model), one in measured if data == name},
            )
            for name in sorted(merged)
        )


def _check_of_test_id(test: str) -> str:
    return test.partition("[")[0].rpartition("::")[2].removeprefix("test_")
