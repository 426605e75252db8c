"""Rows and results of a run from what JSON would say of them, for tests that make them by hand."""

from dataclasses import replace
from functools import cache

import jsonschema

from encheck.ids import CaseId
from encheck.run_file import Result, RunFile
from encheck.system.typed_files import read_typed, schema_of

ROW = {
    "level": "1", "reason": "", "model": "m", "data": "d", "params": {}, "metric": None, "value": None, "low": None,
    "high": None, "n": 0, "clusters": 0, "floor": None, "floor_of": None, "aim": None, "verdict": None,
    "baseline": None, "excluded": {}, "surface": {},
}  # fmt: skip
RUN = {
    "id": "r", "started": "2026-01-01T00:00:00+00:00", "seconds": 1.0, "command": "encheck run", "exit_status": 0,
    "versions": {"encheck": "0"}, "environment": {}, "settings": {}, "notes": [], "wait_seconds": 0.0,
    "encode_seconds": 0.0, "generate_seconds": 0.0, "encoded": {}, "properties": {},
}  # fmt: skip
MODEL = {
    "label": "m", "name": "m", "adapter": "a", "fingerprint": "f", "kind": "vector", "revision": None, "licence": "",
    "prompt": None, "how": {}, "trained_on": [], "dimension": None, "error": None,
}  # fmt: skip
DATA = {
    "name": "d", "licence": "", "version": "", "rows": 1, "pairs": 1, "groups": 1, "clusters": 1, "labels": {},
    "skipped": 0, "sample": None, "seed": 0, "fingerprint": "f", "language": None, "calibration": {},
}  # fmt: skip
SAID = {"says": "", "title": "", "why": ""}


def result(given):
    """A row; what is not given is that of a check that is only reported."""
    case = CaseId(given["check"], *({**ROW, **given}[name] for name in ("model", "data", "level")))
    row = {**ROW, "id": case.figure(given.get("metric") or "none"), "property": "antonym", **given}
    return read_typed(Result, row | {"surface": {name: _ends(one) for name, one in row["surface"].items()}})


def _ends(figure):
    return {"low": None, "high": None, **figure}


def run_file(given):
    """A run of one model on one data set, with what is given in their place; its gate is a `Gate`."""
    rows = [row if isinstance(row, Result) else result(row) for row in given["checks"]]
    found = read_typed(
        RunFile,
        {
            **{name: value for name, value in given.items() if name != "gate"},
            "schema_version": 2,
            "run": RUN | given.get("run", {}),
            "models": [MODEL | one for one in given.get("models", [{}])],
            "data": [DATA | one for one in given.get("data", [{}])],
            "claims": {name: SAID | one for name, one in given.get("claims", {}).items()},
            "checks": [],
        },
    )
    return replace(found, checks=tuple(rows), gate=given.get("gate"))


def schema():
    """The JSON schema of results.json."""
    return schema_of(RunFile)


@cache
def _validator():
    jsonschema.Draft202012Validator.check_schema(schema())
    return jsonschema.Draft202012Validator(schema())


def refuse_other_results(values):
    """Raise ValidationError unless these values hold to the schema of results.json, which is checked once."""
    _validator().validate(values)
