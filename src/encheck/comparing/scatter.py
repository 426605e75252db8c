"""Layout of the dilemma's picture in pixels; labels avoid points and each other."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from encheck.comparing.dilemma import Dilemma
from encheck.statistics.bootstrap import Figure

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 360, 300, 40, 350, 24, 256
RADIUS, LINE, LETTER = 3.5, 13, 6.2  # radius of a mark; height of a label and width of a letter
LONGEST = 20  # letters of a label; the whole name is in its title
STEPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
TICKS = 5
Box = tuple[float, float, float, float]  # left, top, right, bottom


@dataclass(frozen=True, slots=True)
class Axis:
    """A range of values mapped to pixels; `ticks` are (pixels, label)."""

    low: float
    high: float
    start: float
    end: float

    def at(self, value: float) -> float:
        """The position of a value."""
        share = (value - self.low) / (self.high - self.low)
        return round(self.start + share * (self.end - self.start), 1)

    @property
    def ticks(self) -> list[tuple[float, str]]:
        """Round values from end to end."""
        step = _step(self.high - self.low)
        count = round((self.high - self.low) / step)
        return [(self.at(self.low + i * step), f"{self.low + i * step:.2f}") for i in range(count + 1)]


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
    step = _step(max(high - low, STEPS[0]))
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return Axis(first * step, max(last, first + 1) * step, start, end)


def _step(width: float) -> float:
    return next((step for step in STEPS if width / step <= TICKS + 1e-9), STEPS[-1])


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
