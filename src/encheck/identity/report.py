"""What `encheck same` shows: on the terminal, as JSON (result.schema.json), as a page."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from encheck.gating.reindex import Outcome
from encheck.identity.comparison import Same
from encheck.reporting.html.page import page
from encheck.reporting.html.payload import pack
from encheck.reporting.results import write_named
from encheck.reporting.text import table

SCHEMA_VERSION = 1
HEADLINES: dict[Outcome, str] = {
    "same": "A and B are the same model",
    "same for use": "A and B are the same model for use: rounding differs",
    "another": "A and B are not the same model in use",
    "cannot tell": "it cannot be told whether A and B are the same model",
}
HEADS = {
    "vector": ("texts", "number", "moved", "median cosine", "lowest"),
    "pair": ("pairs", "number", "moved", "median difference", "largest"),
}
WORST = 20


def headline(found: Same) -> str:
    """The answer in a sentence."""
    because = f" ({' and '.join(found.causes)})" if found.causes else ""
    return f"{HEADLINES[found.outcome]}{because}"


def terminal(found: Same) -> Iterator[str]:
    """What the terminal shows."""
    yield f"{found.outcome}: {headline(found)}. A: {found.names[0]}, B: {found.names[1]}"
    yield from (f"  {reason}" for reason in found.reasons)
    if found.reindex:
        yield f"  {found.reindex.says}"
    if found.moved:
        yield ""
        yield from (f"  {line}" for line in table([HEADS[found.kind], *_lines(found)]))


def _lines(found: Same) -> list[tuple[str, ...]]:
    """A line for each kind of text, in the order of the texts."""
    lines: list[tuple[str, ...]] = []
    for kind in dict.fromkeys(one.kind for one in found.texts):
        some = [one for one in found.texts if one.kind == kind]
        figures = [one.figure for one in some]
        worst = min(figures) if found.kind == "vector" else max(figures)
        moved = sum(one.moved for one in some)
        lines.append((kind, str(len(some)), str(moved), f"{np.median(figures):.3f}", f"{worst:.3f}"))
    return lines


def as_dict(found: Same) -> dict[str, Any]:
    """What the JSON holds."""
    return {
        "encheck_same": SCHEMA_VERSION,
        "outcome": found.outcome,
        "exit_code": found.exit_code,
        "causes": list(found.causes),
        "reasons": list(found.reasons),
        "a": found.names[0],
        "b": found.names[1],
        "kind": found.kind,
        "reindex": found.reindex.says if found.reindex else None,
        "moved": found.moved,
        "texts": [
            {"id": one.id, "kind": one.kind, "figure": round(one.figure, 6), "moved": one.moved} for one in found.texts
        ],
    }


def write_json(path: Path, found: Same) -> None:
    """Write the JSON; UsageError if no file can be there."""
    write_named(path, json.dumps(as_dict(found), indent=1, allow_nan=False) + "\n")


def write_page(path: Path, found: Same) -> None:
    """Write the page: the answer, the kinds of texts, what moved most. UsageError if no file can be there."""
    sign = 1 if found.kind == "vector" else -1
    worst = sorted((one for one in found.texts if one.moved), key=lambda one: sign * one.figure)[:WORST]
    made = page(
        "identity.html",
        pack({"charts": {}, "cases": {}, "texts": []}),
        found=found,
        headline=headline(found),
        head=HEADS[found.kind],
        lines=_lines(found),
        worst=[(one.id, f"{one.figure:.3f}", one.text[:160]) for one in worst],
    )
    write_named(path, made)
