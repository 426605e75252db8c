"""Layout of the dilemma's picture in pixels; labels avoid points and each other."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from encheck.comparing.dilemma import Dilemma
from encheck.reporting.html.charts import Axis, round_step
from encheck.statistics.bootstrap import Figure

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 360, 300, 40, 350, 24, 256
RADIUS, LINE, LETTER = 3.5, 13, 6.2  # radius of a mark; height of a label and width of a letter
LONGEST = 20  # letters of a label; the whole name is in its title
NARROWEST = 0.01  # range of an axis
Box = tuple[float, float, float, float]  # left, top, right, bottom


@dataclass(frozen=True, slots=True)
class ScatterMark:
    """One model: its position, the ends of its bars, its label with its position, and all in words.

    `line` is the end of a line to the label; None if the label is next to the mark.
    """

    x: float
    y: float
    across: tuple[float, float]
    along: tuple[float, float]
    label: str
    label_x: float
    label_y: float
    line: tuple[float, float] | None
    words: str


@dataclass(frozen=True, slots=True)
class Scatter:
    """The picture: axes, and one mark per model, the reference's first."""

    x: Axis
    y: Axis
    marks: Sequence[ScatterMark]


def scatter(found: Dilemma) -> Scatter:
    """The picture of these points."""
    x = _axis([p.benchmark for p in found.points], LEFT, RIGHT)
    y = _axis([p.behaviour for p in found.points], BOTTOM, TOP)
    places = [(x.at(p.benchmark.value), y.at(p.behaviour.value)) for p in found.points]
    taken = [(px - RADIUS, py - RADIUS, px + RADIUS, py + RADIUS) for px, py in places]
    marks = []
    for point, place in zip(found.points, places, strict=True):
        label = point.model if len(point.model) <= LONGEST else f"{point.model[: LONGEST - 1]}\u2026"
        box, is_far = _free(place, LETTER * len(label), taken)
        taken.append(box)
        end = (round(min(max(place[0], box[0]), box[2]), 1), round(min(max(place[1], box[1]), box[3]), 1))
        benchmark, behaviour = (
            f"{one.value:.3f} [{one.low:.3f}, {one.high:.3f}]" for one in (point.benchmark, point.behaviour)
        )
        marks.append(ScatterMark(
            *place, (x.at(point.benchmark.low), x.at(point.benchmark.high)),
            (y.at(point.behaviour.low), y.at(point.behaviour.high)), label, round(box[0], 1), round(box[3] - 3, 1),
            end if is_far else None, f"{point.model}: benchmark {benchmark}, behaviour {behaviour}",
        ))  # fmt: skip
    return Scatter(x, y, marks)


def _axis(figures: Sequence[Figure], start: float, end: float) -> Axis:
    """Round ends around all intervals."""
    low, high = min(one.low for one in figures), max(one.high for one in figures)
    step = round_step(max(high - low, NARROWEST))
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return Axis(first * step, max(last, first + 1) * step, start, end)


def _free(place: tuple[float, float], width: float, taken: Sequence[Box]) -> tuple[Box, bool]:
    """The first free position for a label, and whether it is far from its mark."""
    for distance in range(0, HEIGHT, LINE):
        for box in _around(place, width, distance):
            inside = box[0] >= 0 and box[2] <= WIDTH and box[1] >= 0 and box[3] <= BOTTOM
            if inside and not any(
                box[0] < other[2] and other[0] < box[2] and box[1] < other[3] and other[1] < box[3] for other in taken
            ):
                return box, distance > 0
    return next(_around(place, width, 0)), False


def _around(place: tuple[float, float], width: float, distance: float) -> Iterator[Box]:
    """Boxes right, left, above and below a mark, at a given distance."""
    x, y = place
    for dx, dy in ((1, 0), (-1, 0), (1, -1), (1, 1), (-1, -1), (-1, 1), (0, -1), (0, 1)):
        middle = x + dx * (RADIUS + 3 + width / 2 + (distance if dy == 0 else 0))
        centre = y + dy * (RADIUS + LINE / 2 + distance)
        yield middle - width / 2, centre - LINE / 2, middle + width / 2, centre + LINE / 2
