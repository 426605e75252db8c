"""Collect what the processes of a run send, until it ends."""

from __future__ import annotations

import copy
import dataclasses
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from encheck.claims import OF_ANY_TEXT
from encheck.errors import UNSEEN
from encheck.ids import CaseId
from encheck.types import CheckResult, Estimate

if TYPE_CHECKING:
    from encheck.engine.evaluation import Evaluation
    from encheck.gating.gate import Gate
    from encheck.gating.index_space import OldIndex
    from encheck.gating.kept import Part
    from encheck.gating.reindex import DocumentLengths, VectorSample
    from encheck.gating.weighing import Searched, Weighed
    from encheck.running.case import Case

Row = dict[str, Any]


@dataclass(frozen=True)
class Conclusion:
    """How a run ended: its exit status, what the gate decided, and what went wrong at the end.

    `baseline` has the baseline's figure (value, low, high, n) beside each row that it has one for, by the row's id.
    `searched` has the answers of both models to queries that nobody judged, `contamination` its rows, `references` the
    models that the run's are compared with. `weighed` has what the gate decided against each baseline.
    """

    status: int
    gate: Gate | None = None
    problems: tuple[str, ...] = ()
    baseline: Mapping[str, Any] = field(default_factory=dict)
    searched: Sequence[Searched] = ()
    weighed: Sequence[Weighed] = ()
    contamination: Sequence[Mapping[str, Any]] = ()
    references: Sequence[Mapping[str, Any]] = ()


def payload(evaluation: Evaluation, case: Case, rows: list[CheckResult], entry: dict[str, Any]) -> dict[str, Any]:
    """What travels with the report of one check, in plain types: its rows, its items where it measured, its entry."""
    measured = any(row.estimate for row in rows)
    return {
        "rows": [as_row(row) for row in rows],
        "items": evaluation.table(case) if measured else {},
        "parent": evaluation.parents_scores(case) if measured else {},
        "part": evaluation.part_of_whole(case) if measured else {},
        "documents": evaluation.documents(case) if measured else [],
        "claim": entry,
    }


def as_row(result: CheckResult) -> Row:
    """A row of results.json, in the order in which the schema names its fields."""
    e, held = result.estimate, result.lines
    row: Row = {
        "id": result.id,
        "check": result.check,
        "property": result.property,
        "level": result.level,
        "reason": result.reason,
        "model": result.model,
        "data": result.data,
        "params": dict(e.params) if e else {},
        "metric": e.metric if e else None,
        "value": _number(e.value) if e else None,
        "low": _number(e.low) if e else None,
        "high": _number(e.high) if e else None,
        "n": e.n if e else 0,
        "clusters": e.clusters if e else 0,
        "floor": held.floor if held else None,
        "floor_of": held.rival or None if held else None,
        "aim": held.aim if held else None,
        "verdict": result.verdict,
        "baseline": None,
        "excluded": dict(result.excluded),
        "surface": _surface(e) if e else {},
    }
    if result.validity:
        row["validity"] = dataclasses.asdict(result.validity)
    if e and e.curve:
        row["curve"] = [dataclasses.asdict(point) for point in e.curve]
    return row


def _surface(e: Estimate) -> dict[str, Row]:
    """The figure of each surface scorer, and its curve where it has one."""
    found: dict[str, Row] = {}
    for name, s in e.surface.items():
        found[name] = {k: _number(getattr(s, k)) for k in ("value", "low", "high")}
        if s.curve:
            found[name]["curve"] = [dataclasses.asdict(point) for point in s.curve]
    return found


def _number(value: float) -> float | None:
    """JSON has no NaN: what could not be computed is null."""
    return float(value) if value == value and abs(value) != float("inf") else None


CRASHED = "???"  # the phase that xdist gives to the report of a test whose worker died


def _check_named(test: str) -> str:
    return test.partition("[")[0].rpartition("::")[2].removeprefix("test_")


class Recorder:
    """The rows, items and descriptions of one run; `index` is what a gate found of the old model's index."""

    def __init__(self) -> None:
        self.started = datetime.now(UTC)
        self._clock = time.perf_counter()
        self.rows: dict[str, Row] = {}
        self.items: dict[str, dict[str, list[Any]]] = {}
        self.parents_scores: dict[str, dict[str, list[Any]]] = {}
        self.parts: dict[str, Part] = {}
        self.documents: dict[str, dict[int, tuple[str, str]]] = {}
        self.claims: dict[str, dict[str, Any]] = {}
        self.described: list[dict[str, Any]] = []
        self.measuring: dict[str, float] = {}
        self.selected: set[str] = set()
        self.cut_short: list[str] = []
        self.index: OldIndex | None = None

    def add(self, report: Any) -> None:
        """Take what a test report carries."""
        if sent := getattr(report, "encheck", None):
            self.take(sent, report.duration)
        elif report.when == CRASHED and _check_named(report.nodeid) in self.selected:
            self.cut_short.append(f"{report.nodeid} was cut short: its process died")

    def take(self, sent: Mapping[str, Any], seconds: float = 0.0) -> None:
        """Take the `payload` of one case, which took so long to measure."""
        for row in sent["rows"]:
            self.rows[row["id"]] = row
            self.measuring.setdefault(row["property"], 0.0)
            self.claims[row["check"]] = sent["claim"]
        if sent["items"]:
            self.items[sent["items"]["case"][0]] = sent["items"]
            if part := sent.get("part"):
                from encheck.gating.kept import Part

                self.parts[CaseId.of(sent["rows"][0]).of_any_model] = Part(part["lock"], tuple(part["at"]))
            if sent.get("parent"):
                self.parents_scores[sent["items"]["case"][0]] = sent["parent"]
        if sent["documents"]:
            named = CaseId.of(sent["rows"][0]).of_any_model
            found = {row: (name, text) for row, name, text in sent["documents"]}
            self.documents.setdefault(named, {}).update(found)  # what another model of the run found stays
        if sent["rows"]:
            self.measuring[sent["rows"][0]["property"]] += seconds

    def select(self, ids: Iterable[str]) -> None:
        """Note the checks that were selected, by their ids: what a crash cuts short has no report."""
        self.selected |= set(map(_check_named, ids))

    def of(self, models: Collection[str]) -> Recorder:
        """What was found of these models alone, by their labels, as a run of them would have found it."""
        found = copy.copy(self)
        found.rows = {name: row for name, row in self.rows.items() if row["model"] in models}
        mine = {str(CaseId.of(row)) for row in found.rows.values()}
        found.items = {case: columns for case, columns in self.items.items() if case in mine}
        found.claims = {row["check"]: self.claims[row["check"]] for row in found.rows.values()}
        found.described = [_described_of(one, models) for one in self.described]
        return found

    @property
    def verdicts(self) -> list[str]:
        """The verdicts of this run, one a check."""
        return [row["verdict"] for row in self.rows.values() if row["verdict"]]

    @property
    def status(self) -> int:
        """The exit code of the checks: 1 where one failed or broke, 5 where nothing of a data set was measured."""
        if {"fail", "error"} & set(self.verdicts):
            return 1
        return 5 if self.measured_nothing or self.left_data_unmeasured else 0

    @property
    def measured_nothing(self) -> bool:
        """Whether checks were selected and every one of them was skipped."""
        shown = any(row["metric"] is not None for row in self.rows.values())
        return not shown and set(self.verdicts) == {"skipped"}

    @property
    def left_data_unmeasured(self) -> bool:
        """Whether a model measured nothing of a data set but contracts and health, which are of any text."""
        return any(not one["items"] for one in self._measured().values())

    def _measured(self) -> dict[tuple[str, str], dict[str, int]]:
        """Of each data set and model: the checks about its texts that were selected, those that measured, their items.

        What a first look has left is not counted.
        """
        found: dict[tuple[str, str], dict[str, int]] = {}
        items: dict[tuple[str, str], set[str]] = {}
        by_check: dict[tuple[str, str, str], int] = {}
        for row in self.rows.values():
            if self.claims[row["check"]]["family"] in OF_ANY_TEXT or row["reason"] == UNSEEN:
                continue
            key = row["data"], row["model"]
            check = (*key, row["check"])
            by_check[check] = max(by_check.get(check, 0), row["n"] if row["metric"] else 0)
            if row["metric"]:
                items.setdefault(key, set()).update(self.items.get(str(CaseId.of(row)), {}).get("item", ()))
        for (data, model, _), n in by_check.items():
            one = found.setdefault((data, model), {"selected": 0, "measured": 0, "items": 0})
            one["selected"] += 1
            one["measured"] += n > 0
            one["items"] = max(one["items"], n, len(items.get((data, model), ())))
        return found

    def parent(self, model: str) -> dict[str, Any] | None:
        """What is said of the model that this one was trained from; None where none is at hand."""
        found = [described["parents"][model] for described in self.described if model in described.get("parents", {})]
        scales = {name: scale for one in found for name, scale in one["calibration"].items()}
        return {**found[0], "calibration": scales} if found else None

    @property
    def _selection(self) -> dict[str, list[str]]:
        """The cases that there are and that were not selected, as `Evaluation` says it."""
        found = [described["selection"] for described in self.described if described.get("selection")]
        return {name: sorted({text for one in found for text in one[name]}) for name in ("unselected", "left_out")}

    def vectors(self, model: str) -> VectorSample | None:
        """Vectors of a model, to compare with those of another one; None where it gives none, or no gate asked."""
        from encheck.gating.reindex import PackedSample, VectorSample
        from encheck.system.typed_files import typed

        packed = self._first_described("vectors", model)
        return VectorSample.unpacked(typed(PackedSample, packed)) if packed else None

    def document_lengths(self, model: str) -> DocumentLengths | None:
        """How long the user's documents are by this model's tokenizer; None where there are none, or no gate asked."""
        from encheck.gating.reindex import DocumentLengths

        packed = self._first_described("documents", model)
        return DocumentLengths(**packed) if packed else None

    def _first_described(self, what: str, model: str) -> Mapping[str, Any] | None:
        found = (described.get(what, {}).get(model) for described in self.described)
        return next((packed for packed in found if packed), None)

    def results(
        self,
        *,
        settings: dict[str, Any],
        end: Conclusion,
        folder: str = "",
        command: str = "",
        notes: Sequence[str] = (),
        for_the_rest: str = "",
    ) -> dict[str, Any]:
        """results.json: `run` may differ between equal runs, the rest may not.

        `notes` were logged before any check was selected.
        `for_the_rest` is the command that goes on after a first look.
        """
        from encheck.reporting.results import SCHEMA_VERSION, environment, versions
        from encheck.system.typed_files import as_values

        first = self.described[0] if self.described else {"models": [], "data": []}
        looked = self.first_look
        named = {
            "id": folder, "command": command, "versions": versions(settings, [m["adapter"] for m in first["models"]]),
            "environment": environment(), "settings": settings, "rest": for_the_rest,
        }  # fmt: skip
        return {
            "schema_version": SCHEMA_VERSION,
            "run": self._run(named, end, notes),
            "models": sorted(first["models"], key=lambda m: m["label"]),
            "data": self._data(),
            "claims": {name: self.claims[name] for name in sorted(self.claims)},
            "checks": [self.rows[key] | {"baseline": end.baseline.get(key)} for key in sorted(self.rows)],
            **({"selection": selection} if (selection := self._selection)["unselected"] else {}),
            **({"first_look": looked["look"]} if looked else {}),
            **({"gate": as_values(end.gate)} if end.gate else {}),
            **({"contamination": list(end.contamination)} if end.contamination else {}),
            **({"references": list(end.references)} if end.references else {}),
        }

    def _run(self, named: Mapping[str, Any], end: Conclusion, notes: Sequence[str]) -> dict[str, Any]:
        """What may differ between equal runs, in the order in which the schema names its fields."""
        logged = (note for described in self.described for note in described["notes"])
        return {
            "id": named["id"],
            "started": self.started.isoformat(timespec="seconds"),
            "seconds": round(time.perf_counter() - self._clock - self._seconds("wait"), 3),
            "command": named["command"],
            "exit_status": end.status,
            "versions": named["versions"],
            "environment": named["environment"],
            "settings": named["settings"],
            "notes": sorted({*self.cut_short, *end.problems, *notes, *logged}),
            "wait_seconds": self._seconds("wait"),
            "encode_seconds": self._seconds("encode"),
            "generate_seconds": self._seconds("generate"),
            "encoded": self._encoded(),
            "properties": self._properties(),
            **({"rest": self._rest(named["rest"])} if self.first_look else {}),
        }

    def _rest(self, command: str) -> dict[str, Any]:
        assert self.first_look
        return {**self.first_look["rest"], **({"command": command} if command else {})}

    @property
    def first_look(self) -> Mapping[str, Any] | None:
        """What was seen and what is left, of a run that stopped after its first look; None of another one."""
        return next((found for described in self.described if (found := described.get("first_look"))), None)

    def _seconds(self, what: str) -> float:
        """Of the process that took longest."""
        return round(max((described["seconds"][what] for described in self.described), default=0.0), 3)

    def _encoded(self) -> dict[str, int]:
        labels = {label for d in self.described for label in d["encoded"]}
        return {label: sum(d["encoded"].get(label, 0) for d in self.described) for label in sorted(labels)}

    def _properties(self) -> dict[str, dict[str, float]]:
        """Seconds a property, over all models: measuring, and its texts at the run's mean seconds a computed text.

        That mean has loading and waiting in it, and is 0 where the store held everything; so it is no time of a model,
        which Table 6 of Mahajan et al. 2023 gives.
        """
        texts = {k: v for d in self.described for k, v in d["texts"].items()}
        encoded = sum(self._encoded().values())
        each = self._seconds("encode") / encoded if encoded else 0.0
        return {
            name: {
                "texts": texts.get(name, 0),
                "encode_seconds": round(each * texts.get(name, 0), 3),
                "measure_seconds": round(self.measuring[name], 3),
            }
            for name in sorted(self.measuring)
        }

    def _data(self) -> list[dict[str, Any]]:
        merged: dict[str, dict[str, Any]] = {}
        for described in self.described:
            for entry in described["data"]:
                known = merged.setdefault(entry["name"], {**entry, "calibration": {}, "measured": {}})
                known["calibration"] |= entry["calibration"]
        for entry in merged.values():
            entry["calibration"] = dict(sorted(entry["calibration"].items()))
        for (data, model), one in sorted(self._measured().items()):
            if data in merged:
                merged[data]["measured"][model] = one
        return [merged[name] for name in sorted(merged)]


def _described_of(described: Mapping[str, Any], models: Collection[str]) -> dict[str, Any]:
    """What an evaluation says of itself, of these models alone."""
    by_model = ("encoded", "parents", "vectors", "documents")
    return {
        **described,
        "models": [one for one in described["models"] if one["label"] in models],
        "data": [{**one, "calibration": _only(one["calibration"], models)} for one in described["data"]],
        **{name: _only(described[name], models) for name in by_model},
    }


def _only(found: Mapping[str, Any], models: Collection[str]) -> dict[str, Any]:
    return {label: one for label, one in found.items() if label in models}
