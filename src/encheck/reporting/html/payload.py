"""What the page reads when somebody looks: the items of every case and the pictures, packed into one text.

Packed is gzip in base64 (the browser unpacks it), so that a page of 50,000 items stays small and opens at once: nothing
is unpacked before it is needed.
"""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Mapping
from typing import Any

from encheck.run_file import RunFile
from encheck.scoring.frame import ItemFrame
from encheck.system.terminal import visible

Frames = Mapping[str, ItemFrame]
Asked = Mapping[str, tuple[float, float]]
MOST_ITEMS = 50_000
MOST_BYTES = 18_000_000  # of base64: with everything else, the page stays under 25 MB


def pack(content: Mapping[str, Any]) -> str:
    """Anything JSON can say, as a text of A-Z, a-z, 0-9, +, / and =."""
    raw = json.dumps(content, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode("utf-8")
    return base64.b64encode(gzip.compress(raw, 6, mtime=0)).decode("ascii")


def packed(
    frames: Frames, charts: Mapping[str, Any], asked: Asked, domains: Mapping[str, str] | None = None
) -> tuple[str, dict[str, int]]:
    """The packed text, and how many items of each case are in it: the most wrong ones where all are too many.

    `asked` is what `margins_asked` found; `domains` says of which domain a source is, where that is known.
    """
    most = MOST_ITEMS
    while True:
        chosen = shares({case: len(frame) for case, frame in frames.items()}, most)
        content = _content(frames, chosen, asked, domains or {})
        text = pack(content | {"charts": charts})
        if len(text) <= MOST_BYTES or most < len(frames):
            return text, chosen
        most //= 2


def margins_asked(results: RunFile) -> dict[str, tuple[float, float]]:
    """Case -> (epsilon, unit): an item is won where its margin, over the unit, is above epsilon, as the figure has it.

    The unit is 1 for figures of raw similarities.
    """
    scales = {(d.name, model): c for d in results.data for model, c in d.calibration.items()}
    found = {}
    for row in results.checks:
        if row.aim is not None and "epsilon" in row.params:
            scale = scales.get((row.data, row.model)) if (row.metric or "").endswith("_calibrated") else None
            unit = scale.identity - scale.reference if scale else 1.0
            found[str(row.case)] = (float(row.params["epsilon"]), unit)
    return found


def shares(counts: Mapping[str, int], most: int) -> dict[str, int]:
    """How many of each case are shown when all together may be `most`: no case loses before the largest do.

    >>> shares({"a": 10, "b": 500, "c": 900}, 700)
    {'a': 10, 'b': 345, 'c': 345}
    """
    low, high = 0, max(counts.values(), default=0)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if sum(min(n, middle) for n in counts.values()) <= most else (low, middle - 1)
    return {case: min(n, low) for case, n in counts.items()}


def _content(frames: Frames, chosen: Mapping[str, int], asked: Asked, domains: Mapping[str, str]) -> dict[str, Any]:
    texts: dict[str, int] = {}
    cases = {
        case: _case(frame, chosen[case], texts, domains, *asked.get(case, (0.0, 1.0))) for case, frame in frames.items()
    }
    return {"cases": cases, "texts": [*texts]}


def _case(
    frame: ItemFrame, count: int, texts: dict[str, int], domains: Mapping[str, str], epsilon: float, unit: float
) -> dict[str, Any]:
    """Columns of the `count` most wrong items, the worst first; texts by their place in `texts`."""

    def place(text: str | None) -> int:
        return -1 if text is None else texts.setdefault(visible(text), len(texts))

    order, columns, lost = frame.worst(count), frame.to_columns(), frame.lost(epsilon=epsilon, unit=unit)
    found: dict[str, Any] = {name: [place(columns[name][i]) for i in order] for name in ("source", "near", "far")}
    for name in ("near_edits", "far_edits"):
        found[name] = [json.loads(columns[name][i] or "[]") for i in order]
    for name in ("near_score", "far_score"):
        found[name] = [_number(columns[name][i]) for i in order]
    for name in ("item", "label"):
        found[name] = [columns[name][i] for i in order]
    for name in ("near_why", "far_why", "slice"):
        if name in columns:
            found[name] = [place(columns[name][i]) for i in order]
    if any(source in domains for source in frame.sources):
        found["domain"] = [place(domains.get(columns["source"][i], "")) for i in order]
    right = frame.rightness.tolist()
    found["question"], found["right"] = frame.kind.is_question, [_number(right[i]) for i in order]
    if frame.kind.note:
        rows = ({name: values[i] for name, values in columns.items()} for i in order)
        found["side"] = [frame.kind.note(row) for row in rows]
    found["all"] = len(frame)
    found["wrong"] = [int(lost[i]) for i in order]
    return found


def _number(value: float | None) -> float | None:
    return None if value is None or value != value else round(float(value), 4)
