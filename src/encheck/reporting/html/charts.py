"""Draw charts as SVG for the pages: the papers' own figures, from a run's results and items.

`chart.html` puts a `Chart` on a page. The colours are those of Okabe and Ito, which colour-blind readers can tell
apart.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from encheck.reporting.view import best_surface, overlap_curve
from encheck.run_file import Result
from encheck.scoring.item import ItemFrame
from encheck.scoring.scale import Floats

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 400, 238, 44, 380, 22, 200  # width of a chart and of its plot area, in pixels
ROW, LABEL = 15, 16  # height in pixels of a row of marks, and of the label above it
BINS = 40
GOOD, BAD = 0, 1  # indices of colours
KINDS = {"margin_rate_calibrated": "calibrated", "margin_rate": "raw"}  # of margins
NEAR_FAR = ("near", "far")
STEPS = (1.0, 2.0, 5.0, 10.0)  # between ticks, times a power of ten
TICKS = 5
Points = Iterable[tuple[float, float]]


@dataclass(frozen=True, slots=True)
class Axis:
    """A range of values mapped to pixels. Ticks are round values, in percent if `has_percent`."""

    low: float
    high: float
    start: float
    end: float
    title: str = ""
    has_percent: bool = False
    names: Mapping[int, str] | None = None

    def at(self, value: float) -> float:
        """Return the pixel of a value. Values beyond the ends are moved to the nearest end."""
        share = (value - self.low) / (self.high - self.low)
        return round(self.start + max(0.0, min(1.0, share)) * (self.end - self.start), 1)

    @property
    def ticks(self) -> list[tuple[float, str]]:
        """The round values between the ends as (pixels, label)."""
        if self.names:
            return [(self.at(value), label) for value, label in self.names.items()]
        step = round_step(self.high - self.low)
        digits = max(0, -math.floor(math.log10(step) + 1e-9))
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        values = [round(i * step, 10) + 0.0 for i in range(first, last + 1)]
        if self.has_percent:
            return [(self.at(value), f"{100 * value:.{max(0, digits - 2)}f}%") for value in values]
        return [(self.at(value), f"{value:.{digits}f}") for value in values]


def round_step(width: float) -> float:
    """Return the smallest round step that divides a width into at most five parts.

    >>> round_step(1.0), round_step(0.32), round_step(7)
    (0.2, 0.1, 2.0)
    """
    power = 10 ** math.floor(math.log10(width / TICKS))
    return next(float(f"{step * power:.1g}") for step in STEPS if width / (step * power) <= TICKS + 1e-9)


@dataclass(frozen=True, slots=True)
class Stroke:
    """A line or, if `is_filled`, an area. `path` is its SVG path, `colour` the number of its colour, `title` its
    tooltip.
    """

    path: str
    colour: int
    title: str = ""
    is_filled: bool = False
    is_dashed: bool = False


@dataclass(frozen=True, slots=True)
class Mark:
    """A figure with its interval, in pixels, along the x axis or, if `is_upright`, along the y axis."""

    x: float
    y: float
    low: float
    high: float
    colour: int
    title: str
    is_upright: bool = False


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart. `rules` are dotted vertical lines as (pixels, note). `labels` are labels of rows of marks as (pixels,
    text).

    `legend` is (name, number of the colour, whether it is dashed).
    """

    title: str
    x: Axis
    y: Axis | None
    strokes: Sequence[Stroke] = ()
    marks: Sequence[Mark] = ()
    rules: Sequence[tuple[float, str]] = ()
    labels: Sequence[tuple[float, str]] = ()
    legend: Sequence[tuple[str, int, bool]] = ()
    bottom: int = BOTTOM

    @property
    def height(self) -> int:
        """The height in pixels."""
        return self.bottom + HEIGHT - BOTTOM


def x_axis(low: float, high: float, title: str, *, has_percent: bool = False) -> Axis:
    """Return the x axis of a chart. If both ends are equal, they are moved apart."""
    if high - low < 1e-6:
        low, high = low - 0.5, high + 0.5
    return Axis(low, high, LEFT, RIGHT, title, has_percent)


def share_axis(high: float = 1.0, title: str = "") -> Axis:
    """Return a y axis from 0% to a share."""
    return Axis(0.0, high, BOTTOM, TOP, title, has_percent=True)


def line_path(x: Axis, y: Axis, points: Points) -> str:
    """Return the SVG path of a line through these points, without points beyond the ends of the x axis."""
    inside = [(x.at(a), y.at(b)) for a, b in points if x.low - 1e-9 <= a <= x.high + 1e-9]
    return "M" + " ".join(f"{a:.0f},{b:.0f}" for a, b in inside) if inside else ""


def band_path(x: Axis, y: Axis, rows: Sequence[tuple[float, float, float]]) -> str:
    """Return the SVG path of the area between two lines. Rows are (x, low, high)."""
    there, back = [(a, high) for a, _, high in rows], [(a, low) for a, low, _ in reversed(rows)]
    found = line_path(x, y, [*there, *back])
    return f"{found}z" if found else ""


def histogram_path(x: Axis, y: Axis, edges: Floats, shares: Floats) -> str:
    """Return the SVG path of a histogram's outline. `shares` has shape [n], `edges` [n + 1]."""
    found = [f"M{x.at(edges[0]):g},{y.start:g}"]
    for share, end in zip(shares, edges[1:], strict=True):
        found.append(f"V{y.at(share):g}H{x.at(end):g}")
    return "".join([*found, f"V{y.start:g}z"])


SeriesRow = tuple[str, Result]  # name of a line -> its figure


def margin_curve_chart(lines: Sequence[SeriesRow]) -> Chart | None:
    """Draw the share of items with a margin above epsilon (Mahajan et al. 2023, Figures 1 to 6), with a 95% band.

    Margins are calibrated if any calibrated ones exist, otherwise raw. There is one line per level, and per model if
    there are several. The line of word overlap is dashed.
    """
    curves = [(series, row) for series, row in lines if row.curve]
    kinds = [kind for kind in KINDS if any(row.metric == kind for _, row in curves)]
    if not kinds:
        return None
    found = [(series, row) for series, row in curves if row.metric == kinds[0]]
    chosen = sorted({float(row.params.get("epsilon", 0.0)) for _, row in found})
    # From where the first curve falls below 1 to where the last one reaches 0, including the required epsilon.
    every = [point for _, row in found for point in row.curve]
    bends = [point.epsilon for point in every if 0.01 < point.value < 0.99]
    ends = [*bends, *chosen] if bends else [point.epsilon for point in every]
    kind = KINDS[kinds[0]]
    x, y = x_axis(min(ends) - 0.02, max(ends) + 0.02, f"epsilon ({kind})"), share_axis(title="share of items")
    strokes = []
    for k, (series, row) in enumerate(found):
        curve = [(p.epsilon, p.low, p.high) for p in row.curve]
        strokes.append(Stroke(band_path(x, y, curve), k, is_filled=True))
        strokes.append(Stroke(line_path(x, y, [(p.epsilon, p.value) for p in row.curve]), k, series))
        overlap = [(p.epsilon, p.value) for p in overlap_curve(row)]
        strokes.append(Stroke(line_path(x, y, overlap), k, f"{series}: word overlap", is_dashed=True))
    return Chart(
        f"Share of items with a {kind} margin above epsilon", x, y,
        strokes=[one for one in strokes if one.path],
        rules=[(x.at(epsilon), "required epsilon") for epsilon in chosen],
        legend=_legend([series for series, _ in found], dashed="word overlap"),
    )  # fmt: skip


def _legend(names: Sequence[str], *, dashed: str = "") -> list[tuple[str, int, bool]]:
    """Return the legend: names in the order of their colours, then dashed lines. A single line needs none."""
    return [(name, k, False) for k, name in enumerate(names) if len(names) > 1 or dashed] + (
        [(dashed, 0, True)] if dashed else []
    )


def margin_chart(cases: Mapping[str, ItemFrame], scales: Mapping[str, float] | None = None) -> Chart | None:
    """Draw how much nearer the near text is than the far text, per item. Items left of zero are wrong.

    The unit is the case's calibrated scale if `scales` has one, otherwise raw similarity. There is one line per case; a
    single case has bars in two colours. The axis covers 99% of the items.
    """
    found: dict[str, Floats] = {}
    for name, frame in cases.items():
        if frame.compares_near_and_far:
            near, far = frame.high_and_low_scores()
            margins = (near - far) / (scales or {}).get(name, 1.0)
            found[name] = margins[np.isfinite(margins)]
    every = np.concatenate([*found.values(), np.zeros(0)])
    if not len(every):
        return None
    ends = np.array([min(0.0, np.quantile(every, 0.005)), max(0.0, np.quantile(every, 0.995))])
    step = max(float(ends[1] - ends[0]), 1e-6) / BINS
    edges = step * np.arange(np.floor(ends[0] / step), max(np.ceil(ends[1] / step), 1) + 1)  # zero is a bin edge
    unit = "calibrated" if scales else "raw"
    shares = {
        name: np.histogram(np.clip(one, edges[0], edges[-1] - 1e-12), edges)[0] / max(len(one), 1)
        for name, one in found.items()
    }
    x = x_axis(float(edges[0]), float(edges[-1]), f"margin ({unit})")
    y = share_axis(max(float(one.max()) for one in shares.values()) or 1.0, "share of items")
    zero = int(np.argmin(np.abs(edges)))
    if len(shares) > 1:
        strokes = [Stroke(histogram_path(x, y, edges, one), k, name) for k, (name, one) in enumerate(shares.items())]
        legend = _legend(list(shares))
    else:
        (one,) = shares.values()
        halves = ((BAD, "wrong", slice(0, zero)), (GOOD, "right", slice(zero, None)))
        strokes = [
            Stroke(histogram_path(x, y, edges[part.start :][: len(one[part]) + 1], one[part]), colour,
                   f"{name}: {one[part].sum():.1%}", is_filled=True)
            for colour, name, part in halves if len(one[part])
        ]  # fmt: skip
        legend = [("wrong", BAD, False), ("right", GOOD, False)]
    rules = [(x.at(0.0), "equally near")]
    return Chart(f"How much nearer the right text is, {unit}", x, y, strokes, rules=rules, legend=legend)


def similarity_chart(cases: Mapping[str, ItemFrame]) -> Chart | None:
    """Draw the similarities of near and far texts: histograms for one case, ranges for several."""
    both = {
        name: [scores[np.isfinite(scores)] for scores in frame.high_and_low_scores()] for name, frame in cases.items()
    }
    every = np.concatenate([*(scores for sides in both.values() for scores in sides), np.zeros(0)])
    if not len(every):
        return None
    title = "Similarity of texts that should be near and of texts that should be far"
    if len(cases) > 1:
        return _similarity_ranges(title, both)
    (sides,) = both.values()
    edges = np.linspace(float(every.min()), float(every.max()) + 1e-9, BINS + 1)
    return _two_histograms(title, NEAR_FAR, sides, edges, x_title="similarity", y_title="share of items")


def _two_histograms(
    title: str, names: tuple[str, str], sides: Sequence[Floats], edges: Floats, *, x_title: str, y_title: str
) -> Chart:
    shares = [np.histogram(one, edges)[0] / max(len(one), 1) for one in sides]
    x = x_axis(float(edges[0]), float(edges[-1]), x_title)
    y = share_axis(max(float(one.max()) for one in shares) or 1.0, y_title)
    strokes = [
        Stroke(histogram_path(x, y, edges, one), k, names[k], is_filled=True)
        for k, one in enumerate(shares) if one.any()
    ]  # fmt: skip
    return Chart(title, x, y, strokes, legend=_legend_of_two(names))


def _legend_of_two(names: tuple[str, str]) -> list[tuple[str, int, bool]]:
    return [(name, k, False) for k, name in enumerate(names)]


def _similarity_ranges(title: str, both: Mapping[str, Sequence[Floats]]) -> Chart:
    """Draw, for the near and far texts of each case, the range from the 5th to the 95th percentile and the median."""
    ranges = {
        name: [[float(q) for q in np.quantile(scores, (0.05, 0.5, 0.95))] if len(scores) else None for scores in sides]
        for name, sides in both.items()
    }
    ends = [end for some in ranges.values() for one in some if one for end in one]
    x = replace(x_axis(min(ends), max(ends), "similarity, 5th to 95th percentile with the median"), start=12.0)
    marks: list[Mark] = []
    labels: list[tuple[float, str]] = []
    y = 4.0
    for name, some in ranges.items():
        labels.append((y + LABEL - 4, name))
        y += LABEL
        for k, one in enumerate(some):
            if one:
                low, middle, high = one
                said = f"{name}, {NEAR_FAR[k]}: {middle:.3f} [{low:.3f}, {high:.3f}]"
                marks.append(Mark(x.at(middle), y + ROW / 2, x.at(low), x.at(high), k, said))
                y += ROW
    return Chart(title, x, None, marks=marks, labels=labels, legend=_legend_of_two(NEAR_FAR), bottom=math.ceil(y) + 4)


def step_chart(lines: Sequence[SeriesRow], *, title: str, axis: str) -> Chart | None:
    """Draw accuracy at each step of a chain (Peng, Weir and Weeds 2023, Figures 1 and 3), with intervals."""
    found: dict[str, list[tuple[int, Result]]] = {}
    for series, row in lines:
        if row.metric and row.metric.startswith("accuracy_") and row.value is not None:
            found.setdefault(series, []).append((int(row.metric.rpartition("_")[2]), row))
    if not found:
        return None
    x, y = _step_axis([step for some in found.values() for step, _ in some], axis), share_axis(title="right")
    strokes, marks = [], []
    for k, (series, some) in enumerate(found.items()):
        some.sort(key=lambda one: one[0])
        surface = [(step, best[1]) for step, row in some if (best := best_surface(row))]
        strokes.append(Stroke(line_path(x, y, [(step, row.numbers[0]) for step, row in some]), k, series))
        strokes.append(Stroke(line_path(x, y, surface), k, f"{series}: best surface scorer", is_dashed=True))
        marks += [_upright_mark(x, y, k, f"{series}, {axis} {step}", step, *row.numbers) for step, row in some]
    return Chart(title, x, y, [one for one in strokes if one.path], marks,
                 legend=_legend(list(found), dashed="best surface scorer"))  # fmt: skip


def _step_axis(steps: Iterable[int], title: str) -> Axis:
    names = {step: str(step) for step in sorted(set(steps))}
    return replace(x_axis(min(names) - 0.5, max(names) + 0.5, title), names=names)


def _upright_mark(x: Axis, y: Axis, colour: int, name: str, at: float, value: float, low: float, high: float) -> Mark:
    said = f"{name}: {value:.3f} [{low:.3f}, {high:.3f}]"
    return Mark(x.at(at), y.at(value), y.at(low), y.at(high), colour, said, is_upright=True)


def chain_chart(cases: Mapping[str, ItemFrame], *, axis: str) -> Chart | None:
    """Draw the mean similarity of the exact paraphrase (0) and of each further step of the chains, with a 95% band."""
    found = {name: [*_chain_means(frame)] for name, frame in cases.items()}
    every = [one for some in found.values() for one in some]
    if not every:
        return None
    low, high = min(one[2] for one in every), max(one[3] for one in every)
    x = _step_axis([step for step, *_ in every], axis)
    y = Axis(low, max(high, low + 1e-3), BOTTOM, TOP, "similarity")
    strokes = [
        Stroke(line_path(x, y, [one[:2] for one in some]), k, name) for k, (name, some) in enumerate(found.items())
    ]
    marks = [_upright_mark(x, y, k, f"{name}, {axis} {step}", step, *figure)
             for k, (name, some) in enumerate(found.items()) for step, *figure in some]  # fmt: skip
    return Chart("Similarity down the chain", x, y, strokes, marks, legend=_legend(list(found)))


def _chain_means(frame: ItemFrame) -> Iterator[tuple[int, float, float, float]]:
    """Yield (step, mean, low, high) for the paraphrase and for each step away from it."""
    step, (near, far) = np.array(frame.steps, int), frame.high_and_low_scores()
    for k in (0, *sorted(set(step.tolist()))):
        scores = far[step == k] if k else near[step == 1]
        half = 1.96 * float(scores.std()) / max(len(scores), 1) ** 0.5
        mean = float(scores.mean())
        yield k, mean, mean - half, mean + half


def divergence_charts(frame: ItemFrame) -> dict[str, Chart]:
    """Draw, for each split, the word divergence of paraphrases and other pairs (Peinelt et al. 2019, Figures 1 and 2).

    A split without both labels has no chart.
    """
    from encheck.language.divergence import jensen_shannon_divergence

    labels = np.array([-1 if label is None else label for label in frame.labels])
    if not {0, 1} <= set(labels.tolist()):
        return {}
    found = jensen_shannon_divergence(frame.sources, frame.near.texts)
    splits = np.array([split or "all" for split in frame.splits])
    edges = np.linspace(0, 1, BINS // 2 + 1)
    charts = {}
    for split in sorted(set(splits)):
        sides = [found[(labels == label) & (splits == split)] for label in (1, 0)]
        title = f"Lexical divergence of the pairs by label, {split}"
        axes = {"x_title": "Jensen-Shannon divergence", "y_title": "share of pairs"}
        charts[str(split)] = _two_histograms(title, ("paraphrases", "others"), sides, edges, **axes)
    return charts
