"""Write the gate as JUnit test cases: the verdict, each broken contract, and each gate row with its reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from xml.etree.ElementTree import Element, SubElement, tostring

from encheck.gating.types import Gate, GateAgainst, GateRow, PurposeName
from encheck.ids import CaseId
from encheck.reporting.gate import record
from encheck.reporting.gate.rows import row_cells
from encheck.reporting.gate.words import gate_headlines, partial_suffix, what_has_to_change
from encheck.reporting.results import write_named
from encheck.run_file import Result as Row
from encheck.run_file import RunFile
from encheck.system.terminal import LINES, make_visible

Result = Literal["passed", "failure", "error", "skipped"]
CLASS = "encheck.gate"


@dataclass(frozen=True)
class GateCase:
    """A test case. `message` says why it did not pass, `details` adds lines, and `properties` are its figures."""

    classname: str
    name: str
    result: Result
    message: str = ""
    details: tuple[str, ...] = ()
    properties: tuple[tuple[str, str], ...] = ()


def gate_cases(gate: Gate) -> Iterator[GateCase]:
    """Yield a case for the verdict, then a case for each broken contract, each row, and each part that blocks."""
    reasons = [f"{one.baseline}: {text}" for one in gate.against for text in one.reasons]
    reasons += [f"what has to change: {text}" for one in gate.against for text in what_has_to_change(one)]
    (message, *_) = gate_headlines(gate)
    yield GateCase(
        CLASS, f"gate{partial_suffix(gate)}", _verdict_result(gate), message, tuple(reasons), (("gate", message),)
    )
    for against in gate.against:
        place = f"{CLASS}.{against.baseline}"
        for number, broken in enumerate(against.contracts, start=1):
            yield GateCase(place, f"contract {number}", "failure", f"contract broken: {broken}")
        yield from (_row_case(place, row, against.purpose) for row in _deciding_rows(against))
        for one in against.searches:
            searched: Result = "passed" if one.passes else "failure" if one.blocks else "skipped"
            yield GateCase(place, one.name, searched, one.says, tuple(record.loss_lines(one)))


def _deciding_rows(against: GateAgainst) -> list[GateRow]:
    """Return the rows of the gate, and the parts that block."""
    return [row for row in against.rows if row.outcome == "block" or not row.part_of]


def _verdict_result(gate: Gate) -> Result:
    """Return the JUnit result of the verdict: a failure if the gate blocks, and an error if it is inconclusive.

    With --inconclusive, an inconclusive gate counts as what the option says.
    """
    if gate.outcome == "inconclusive":
        counts_as: dict[int, Result] = {0: "passed", 1: "failure"}
        return counts_as.get(gate.exit_code, "error")
    return "failure" if gate.outcome == "block" else "passed"


def _row_case(place: str, row: GateRow, purpose: PurposeName) -> GateCase:
    """Return the case of a row: a failure if the row blocks, and skipped if it is open or does not gate.

    An open row is no failure by itself, because the case of the verdict covers it.
    """
    outcome, _, name, before, after, change, *_ = row_cells(row, purpose)
    shown = (("figures", f"{before} to {after}, {change}"),)
    result: Result = "failure" if row.outcome == "block" else "skipped"
    if row.outcome == "pass" or (row.gates and not row.evidence and result != "failure"):
        result = "passed"
    details = (row.means, *record.loss_lines(row)) if result == "failure" else ()
    message = f"{name}: {row.why or outcome}"
    return GateCase(place, name, result, message, tuple(filter(None, details)), shown)


def gate_properties(gate: Gate) -> Sequence[tuple[str, str]]:
    """Return the properties of the whole file: the verdict, and the figures of each row."""
    found = [("gate", str(gate.outcome))]
    for against in gate.against:
        for row in _deciding_rows(against):
            outcome, _, name, before, after, change, *_ = row_cells(row, against.purpose)
            found.append((f"gate.{against.baseline}.{name}", f"{outcome}: {before} to {after}, {change}"))
        found += [(f"gate.{against.baseline}.{one.name}", one.says) for one in against.searches]
    return found


def write_junit(path: Path, results: RunFile) -> None:
    """Write a gate as JUnit XML: its properties, its cases, and a case per check.

    Make the file's folder. Raise UsageError if the file cannot be written.
    """
    gate = results.gate
    cases = [*(gate_cases(gate) if gate else ()), *map(_check_case, _row_per_case(results))]
    counted = Counter(case.result for case in cases)
    suite = Element(
        "testsuite", name="encheck gate", tests=str(len(cases)), failures=str(counted["failure"]),
        errors=str(counted["error"]), skipped=str(counted["skipped"]), time=f"{results.run.seconds:.3f}",
        timestamp=results.run.started,
    )  # fmt: skip
    _add_properties(suite, gate_properties(gate) if gate else ())
    for case in cases:
        found = SubElement(suite, "testcase", classname=_xml_safe(case.classname), name=_xml_safe(case.name))
        _add_properties(found, case.properties)
        if case.result != "passed":
            message, *details = map(_xml_safe, (case.message, *case.details))
            SubElement(found, case.result, message=message).text = "\n".join([message, *details])
    root = Element("testsuites", name="encheck")
    root.append(suite)
    write_named(path, '<?xml version="1.0" encoding="utf-8"?>\n' + tostring(root, encoding="unicode") + "\n")


def _row_per_case(results: RunFile) -> Iterator[Row]:
    """Yield one row per case: the row with the verdict if there is one."""
    found: dict[CaseId, Row] = {}
    for row in results.checks:
        case = row.case
        if case not in found or row.verdict:
            found[case] = row
    yield from found.values()


def _check_case(row: Row) -> GateCase:
    """Return the case of a check of the new model.

    A check that the gate uses counts as passed, because the gate's rows decide about it.
    """
    results: dict[str | None, Result] = {"fail": "failure", "error": "error", "skipped": "skipped"}
    shown = () if row.value is None else ((row.metric or "", f"{row.value:.4g}"),)
    result = results.get(row.verdict, "passed")
    name = f"{row.check}[{row.case.name}]"
    return GateCase(f"encheck.{row.property}", name, result, row.reason or row.verdict or "", (), shown)


def _add_properties(place: Element, properties: Sequence[tuple[str, str]]) -> None:
    if properties:
        listed = SubElement(place, "properties")
        for name, value in properties:
            SubElement(listed, "property", name=_xml_safe(name), value=_xml_safe(value))


def _xml_safe(text: str) -> str:
    """Return the text without characters that XML cannot hold or that control a terminal."""
    return make_visible(text, keep=LINES)
