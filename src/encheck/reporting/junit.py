"""The gate as test cases of JUnit: the verdict, each broken contract, each gate row with its reason."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from encheck.reporting import lost
from encheck.reporting.gate.rows import cells
from encheck.reporting.gate.words import headline, part

Result = Literal["passed", "failure", "error", "skipped"]
CLASS = "encheck.gate"


@dataclass(frozen=True)
class GateCase:
    """A test case; `message` says why it did not pass, `details` has more lines, `properties` what is shown of it."""

    classname: str
    name: str
    result: Result
    message: str = ""
    details: tuple[str, ...] = ()
    properties: tuple[tuple[str, str], ...] = ()


def cases_of(gate: Mapping[str, Any]) -> Iterator[GateCase]:
    """One case for the verdict, then one for each contract that broke, each row, and each part that blocks."""
    reasons = [f"{one['baseline']}: {text}" for one in gate["against"] for text in one["reasons"]]
    (message, *_) = headline(gate)
    yield GateCase(CLASS, f"gate{part(gate)}", _of_verdict(gate), message, tuple(reasons), (("gate", message),))
    for against in gate["against"]:
        place = f"{CLASS}.{against['baseline']}"
        for number, broken in enumerate(against.get("contracts", ()), start=1):
            yield GateCase(place, f"contract {number}", "failure", f"contract broken: {broken}")
        yield from (_of_row(place, row) for row in _shown(against))
        yield from (_of_search(place, one) for one in against.get("searches", ()))


def _shown(against: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The rows, and the parts that block."""
    return [row for row in against["rows"] if row["outcome"] == "block" or not row.get("part_of")]


def _of_verdict(gate: Mapping[str, Any]) -> Result:
    """A block fails; what cannot be told is an error, unless the owner said what it counts as."""
    if gate["outcome"] == "inconclusive":
        counts_as: dict[int, Result] = {0: "passed", 1: "failure"}
        return counts_as.get(gate["exit_code"], "error")
    return "failure" if gate["outcome"] == "block" else "passed"


def _of_row(place: str, row: Mapping[str, Any]) -> GateCase:
    """A row that blocks fails; one that is open or does not gate is skipped: the verdict says what that comes to."""
    outcome, _, name, before, after, change, *_ = cells(row)
    shown = (("figures", f"{before} to {after}, {change}"),)
    result: Result = "failure" if row["outcome"] == "block" else "skipped"
    if row["outcome"] == "pass" or (row["gates"] and not row["evidence"] and result != "failure"):
        result = "passed"
    details = (row.get("means", ""), *lost.example_lines(row), *lost.lines(row)) if result == "failure" else ()
    message = f"{name}: {row['why'] or outcome}"
    return GateCase(place, name, result, message, tuple(filter(None, details)), shown)


def _of_search(place: str, search: Mapping[str, Any]) -> GateCase:
    blocks = (search.get("judged") or {}).get("outcome") == "block" and not search["passes"]
    result: Result = "passed" if search["passes"] else "failure" if blocks else "skipped"
    return GateCase(place, search["row"], result, search["says"], tuple(lost.lines(search)))


def as_properties(gate: Mapping[str, Any]) -> Sequence[tuple[str, str]]:
    """The properties of the whole file: the verdict, and each row's figures."""
    found = [("gate", str(gate["outcome"]))]
    for against in gate["against"]:
        for row in _shown(against):
            outcome, _, name, before, after, change, *_ = cells(row)
            found.append((f"gate.{against['baseline']}.{name}", f"{outcome}: {before} to {after}, {change}"))
        found += [(f"gate.{against['baseline']}.{one['row']}", one["says"]) for one in against.get("searches", ())]
    return found
