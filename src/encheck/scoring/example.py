"""An item as a failure message shows it: its scores, each with the text that got it."""

from __future__ import annotations

from dataclasses import dataclass

from encheck.types import Edit


@dataclass(frozen=True, slots=True)
class Line:
    """A text under the name of its part, with its score where it has one.

    `source` is what `edits` are of, where the text is shown as a change of it.
    """

    name: str
    text: str
    score: float | None = None
    source: str | None = None
    edits: tuple[Edit, ...] = ()


def near_and_far(
    source: str, near: tuple[float, str, tuple[Edit, ...]], far: tuple[float, str, tuple[Edit, ...]]
) -> list[Line]:
    """A source between the text that should be near and the one that should be far, each (score, text, edits)."""
    sides = (("near ", *near), ("far  ", *far))
    return [*(Line(name, text, score, source, edits) for name, score, text, edits in sides), Line("of   ", source)]


def beside(name: str, score: float, source: str, text: str, edits: tuple[Edit, ...]) -> list[Line]:
    """A text and its score, above the source that it stands beside."""
    return [Line(f"{name:5}", text, score, source, edits), Line("of   ", source)]
