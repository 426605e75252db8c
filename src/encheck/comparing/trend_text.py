"""A trend on the terminal and on a page."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from encheck.comparing.matrix import NO_EVIDENCE, Said
from encheck.comparing.matrix import SIGNS as PAGE_SIGNS
from encheck.comparing.paired import Change
from encheck.comparing.terminal import SIGNS
from encheck.comparing.trend import Point, Series, Trend
from encheck.reporting.html.page import page
from encheck.reporting.html.payload import pack
from encheck.reporting.text import table

MOST_SHOWN = 6  # runs a line of the terminal has room for
WIDTH, HEIGHT, EDGE, LEAST = 340, 46, 8, 0.1  # pixels; the least range that a line is drawn in


def lines(found: Sequence[Trend]) -> Iterator[str]:
    """A table a model: the figures of its latest runs, and the change since the first."""
    for trend in found:
        shown = range(len(trend.runs))[-MOST_SHOWN:]
        left_out = f", the last {MOST_SHOWN} shown" if len(trend.runs) > MOST_SHOWN else ""
        yield f"{trend.model}: {len(trend.runs)} runs{left_out}"
        dates = days(trend)
        head = ("property", "chance", *(dates[place] for place in shown), "since the first [95% CI]", "")
        yield from table([head, *(_row(trend, one, shown) for one in trend.series)])
        yield ""
    yield "A sign marks a certain change, on the same items: + better, - worse than the run before; ! the data changed"
    if any(said == "no evidence" for trend in found for one in trend.series for said in (one.said, *_each(one))):
        yield f"* no evidence: {NO_EVIDENCE}"


def _each(one: Series) -> Iterator[Said]:
    yield from (point.said for point in one.points)


def days(trend: Trend) -> list[str]:
    """When each run began: its date, with the time where two began on one day."""
    dates = [started[:10] for _, started in trend.runs]
    return [day if dates.count(day) == 1 else f"{day[5:]} {started[11:16]}"
            for day, (_, started) in zip(dates, trend.runs, strict=True)]  # fmt: skip


def _row(trend: Trend, one: Series, shown: range) -> tuple[str, ...]:
    points = {point.place: point for point in one.points}
    cells = [_point(points.get(place)) for place in shown]
    chance = "-" if one.chance is None else f"{one.chance:.2f}"
    return (label(trend, one), chance, *cells, amount(one.since), "" if one.said == "not compared" else one.said)


def label(trend: Trend, one: Series) -> str:
    """The property, with the data where there are several."""
    return f"{one.property}, {one.data}" if len({s.data for s in trend.series}) > 1 else one.property


def _point(point: Point | None) -> str:
    if point is None:
        return "-"
    sign = SIGNS[point.said].strip() if point.said in ("better", "worse", "no evidence") else ""
    return f"{point.value:.2f} {'!' * point.is_other_data}{sign}".rstrip()


def amount(change: Change | None) -> str:
    """A change with its interval; a dash where there is none."""
    return f"{change.difference:+.3f} [{change.low:+.3f}, {change.high:+.3f}]" if change else "-"


@dataclass(frozen=True, slots=True)
class Mark:
    """One run on a drawn line, in pixels, and in words."""

    x: float
    y: float
    low: float
    high: float
    said: Said
    is_other_data: bool
    words: str


@dataclass(frozen=True, slots=True)
class Drawing:
    """A property's line: its marks, the ends of its axis, and where chance lies, None where that is outside."""

    marks: Sequence[Mark]
    bottom: float
    top: float
    chance: float | None

    @property
    def path(self) -> str:
        """The line, as SVG takes it."""
        return " ".join(f"{one.x},{one.y}" for one in self.marks)

    @property
    def band(self) -> str:
        """The outline of the intervals."""
        ends = [(one.x, one.high) for one in self.marks] + [(one.x, one.low) for one in reversed(self.marks)]
        return " ".join(f"{x},{y}" for x, y in ends)


def drawing(trend: Trend, one: Series) -> Drawing:
    """The line of a property over the runs, on an axis of its own that holds every interval."""
    low, high = min(p.low for p in one.points), max(p.high for p in one.points)
    room = max(LEAST - (high - low), 0) / 2
    bottom, top = low - room, high + room

    def y(value: float) -> float:
        return round(HEIGHT - EDGE - (value - bottom) / (top - bottom) * (HEIGHT - 2 * EDGE), 1)

    def x(place: int) -> float:
        return round(EDGE + place / (len(trend.runs) - 1) * (WIDTH - 2 * EDGE), 1)

    dates = days(trend)
    marks = [
        Mark(x(p.place), y(p.value), y(p.low), y(p.high), p.said, p.is_other_data, _words(dates[p.place], p))
        for p in one.points
    ]
    chance = y(one.chance) if one.chance is not None and bottom <= one.chance <= top else None
    return Drawing(marks, bottom, top, chance)


def _words(date: str, point: Point) -> str:
    said = f", {point.said} than the run before ({amount(point.change)})" if point.said in ("better", "worse") else ""
    other = ", on other data than the run before" if point.is_other_data else ""
    return f"{date}: {point.value:.3f} [{point.low:.3f}, {point.high:.3f}]{said}{other}"


def render(found: Sequence[Trend]) -> str:
    """The page; every text in it is escaped by the template."""
    payload = pack({"charts": {}, "cases": {}, "texts": []})
    return page("trend.html", payload, trends=found, text=sys.modules[__name__], signs=PAGE_SIGNS)
