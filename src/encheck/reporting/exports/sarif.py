"""A run as SARIF 2.1.0, which code hosts show as alerts: what a gate holds against the candidate, else red verdicts.

A finding has no line of code to stand at: its place is models.yaml, where the model has its name, and its fingerprint
is the property or gate row, so that one finding stays one alert from run to run.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from encheck.claims import CONTRACT
from encheck.gating.declared import declarations
from encheck.ids import GateRowId
from encheck.reporting.gate.rows import cells
from encheck.reporting.markdown import ENDED
from encheck.system.files import write_text

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
LEVELS = {
    "fail": "error", "error": "error", "below_aim": "warning", "inconclusive": "warning",
    "stale_known_failure": "warning", "known_failure": "note",
}  # fmt: skip
PLACE = "models.yaml"
FAILED = 1


def sarif(results: Mapping[str, Any]) -> dict[str, Any]:
    """The log: one run, a rule for each property, a result for each finding."""
    found = [*_of_gate(results), *_of_checks(results)]
    claims = {row["property"]: _claim(results, row["check"]) for row in reversed(results["checks"])}
    contracts = {CONTRACT, *(d.property for d in declarations(results).values() if d.family == CONTRACT)}
    titles = claims | dict.fromkeys(contracts, "contracts of an encoder")
    rules = [_rule(name, titles.get(name, name)) for name in dict.fromkeys(one["ruleId"] for one in found)]
    version = results["run"]["versions"].get("encheck", "0")
    driver = {"name": "encheck", "semanticVersion": version, "rules": rules}
    run = {"tool": {"driver": driver}, "invocations": [_invocation(results["run"], found)], "results": found}
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _invocation(run: Mapping[str, Any], found: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Whether the run came to its end, and what it noted: no finding is no clean bill where it did not.

    A run that failed without a finding of level error, by a crash say, has not ended well either.
    """
    status = run["exit_status"]
    told = status != FAILED or any(one["level"] == "error" for one in found)
    notes = [{"level": "warning", "message": {"text": note}} for note in run["notes"]]
    successful = status in ENDED and told
    return {"executionSuccessful": successful, "exitCode": status, "toolExecutionNotifications": notes}


def write(results: Mapping[str, Any], folder: Path) -> list[Path]:
    """Write encheck.sarif into the folder."""
    path = folder / "encheck.sarif"
    write_text(path, json.dumps(sarif(results), indent=1, ensure_ascii=False) + "\n")
    return [path]


def _claim(results: Mapping[str, Any], check: str) -> str:
    """What a check claims in a sentence; its name in results that do not say."""
    return str(results.get("claims", {}).get(check, {}).get("says") or check.replace("_", " "))


def _rule(name: str, claim: str) -> dict[str, Any]:
    return {"id": name, "name": name, "shortDescription": {"text": claim}}


def _of_gate(results: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """What blocks, as errors; what keeps a gate open, as warnings."""
    for against in results.get("gate", {}).get("against", ()):
        if against["outcome"] == "pass":
            continue
        level = "error" if against["outcome"] == "block" else "warning"
        rows = {f"{row['row']}: ": row for row in against["rows"]}
        for reason in against["reasons"]:
            row = next((row for start, row in rows.items() if reason.startswith(start)), None)
            change = f" ({cells(row)[5]})" if row else ""
            about = row["row"] if row else reason.partition(":")[0]
            name = GateRowId(about).property if row else CONTRACT if about.startswith(CONTRACT) else "gate"
            text = f"against {against['baseline']}: {reason}{change}"
            yield _result(name, level, text, f"gate/{against['baseline']}/{about}")


def _of_checks(results: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Verdicts that are not green; of a run with a gate those alone that fail it."""
    decides = ("fail", "error") if "gate" in results else tuple(LEVELS)
    for row in results["checks"]:
        if row["verdict"] in decides:
            one = _result(row["property"], LEVELS[row["verdict"]], _said(row), row["id"])
            if row["verdict"] == "known_failure":
                one["suppressions"] = [{"kind": "external", "justification": row["reason"]}]
            yield one


def _said(row: Mapping[str, Any]) -> str:
    claim, verdict = (row[name].replace("_", " ") for name in ("check", "verdict"))
    value = "no figure" if row["value"] is None else f"{row['metric']} {row['value']:.3f}"
    wanted = "".join(f", {name} {row[name]:.3g}" for name in ("floor", "aim") if row[name] is not None)
    reason = f". {row['reason']}" if row["reason"] else ""
    return f"{claim}: {verdict} for {row['model']} on {row['data']} ({value}{wanted}){reason}"


def _result(rule: str, level: str, text: str, about: str) -> dict[str, Any]:
    place = {"artifactLocation": {"uri": PLACE}, "region": {"startLine": 1}}
    return {
        "ruleId": rule,
        "level": level,
        "message": {"text": text},
        "locations": [{"physicalLocation": place, "logicalLocations": [{"fullyQualifiedName": about}]}],
        "partialFingerprints": {"encheck/v1": about},
    }
