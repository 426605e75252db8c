"""`encheck threshold` as JSON (threshold.schema.json)."""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from typing import Any

from encheck.deciding.threshold import ThresholdReport

SCHEMA_VERSION = 1


def as_dict(found: ThresholdReport) -> dict[str, Any]:
    """All of a report in plain types; what is no number is null."""
    whole = asdict(found)
    asked = whole.pop("asked")
    settings = asked.pop("settings")
    whole["asked"] = asked | {
        name: settings[name] for name in ("models", "data", "seed", "sample", "skip_bad_rows", "model_args")
    }
    whole["matches"] = [{**match, "point": point} for match, point in whole["matches"]]
    head = {"schema_version": SCHEMA_VERSION, "outcome": found.outcome, "exit_code": found.exit_code}
    plain: dict[str, Any] = _plain(head | whole)
    return plain


def as_json(found: ThresholdReport) -> str:
    """The same as text."""
    return json.dumps(as_dict(found), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
