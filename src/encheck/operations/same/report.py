"""What `encheck same` shows: on the terminal, and as a page."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from encheck.gating.reindex import Outcome
from encheck.operations.same.comparison import Same
from encheck.reporting.html.page import page
from encheck.reporting.html.payload import pack
from encheck.reporting.results import write_named
from encheck.reporting.text import table

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
    yield f"{found.outcome}: {headline(found)}. A: {found.a}, B: {found.b}"
    yield from (f"  {reason}" for reason in found.reasons)
    if found.reindex:
        yield f"  {found.reindex}"
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
