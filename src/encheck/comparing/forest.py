"""Draw one forest plot per model: each property's difference from the reference, with its interval."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from encheck.comparing.comparison import Compared, ModelComparison
from encheck.errors import UsageError
from encheck.reporting.results import writable_folder
from encheck.system.files import write_whole

WIDTH, LEFT, RIGHT, ROW, TOP = 420, 172, 408, 19, 22  # pixels
STEP = 0.1  # of the axis
ENDINGS = (".svg", ".pdf")
DRAWN: Mapping[Compared, tuple[str, str]] = {  # colour (safe for colour-blind readers) and marker
    "better": ("#0072b2", "^"), "worse": ("#d55e00", "v"), "cannot tell": ("#555555", "o"),
    "no evidence": ("#555555", "s"), "not compared": ("#555555", "o"),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class ForestBar:
    """A property's difference from the reference and the ends of its interval, in pixels, with a description."""

    label: str
    low: float
    high: float
    at: float
    said: Compared
    words: str


@dataclass(frozen=True, slots=True)
class ForestPanel:
    """A model's bars. `ticks` are (pixels, label)."""

    model: str
    bars: Sequence[ForestBar]
    ticks: Sequence[tuple[float, str]]

    @property
    def height(self) -> int:
        """In pixels."""
        return TOP + ROW * len(self.bars) + 4


def forest_panels(comparison: ModelComparison) -> list[ForestPanel]:
    """Return one panel for each model with a paired difference from the reference. All panels share one scale."""
    changes = [c.change for line in comparison.matrix for c in line.cells if c and c.change]
    if not changes:
        return []
    most = max(max(abs(one.low), abs(one.high)) for one in changes)
    limit = max(math.ceil(most / STEP - 1e-9), 1) * STEP
    several = len({line.data for line in comparison.matrix}) > 1
    ticks = [(_bar_position(value, limit), f"{100 * value:+.0f}" if value else "0") for value in (-limit, 0.0, limit)]
    made = []
    for place, model in enumerate(comparison.models[1:], 1):
        bars = []
        for line in comparison.matrix:
            cell = line.cells[place]
            if cell is None or cell.change is None:
                continue
            one, label = cell.change, f"{line.title}, {line.data}" if several else line.title
            ends = f"{100 * one.difference:+.1f} points [{100 * one.low:+.1f}, {100 * one.high:+.1f}]"
            low, high, at = (_bar_position(value, limit) for value in (one.low, one.high, one.difference))
            bars.append(ForestBar(label, low, high, at, cell.said, f"{model.name}, {label}: {ends}, {cell.said}"))
        if bars:
            made.append(ForestPanel(model.name, bars, ticks))
    return made


def _bar_position(value: float, limit: float) -> float:
    return round(LEFT + (value + limit) / (2 * limit) * (RIGHT - LEFT), 1)


def write_forest_figure(path: Path, comparison: ModelComparison, names: Mapping[str, str]) -> None:
    """Write the differences from the reference as SVG or PDF, by the file's ending, with one panel per model.

    Raise UsageError for any other ending, if matplotlib is missing, or if nothing is paired.
    """
    if path.suffix not in ENDINGS:
        raise UsageError(f"--figure={path} should end in {' or '.join(ENDINGS)}")
    try:
        from matplotlib import rc_context
        from matplotlib.figure import Figure
    except ImportError:
        raise UsageError("--figure needs the extra figure. Remedy: pip install 'encheck[figure]'") from None
    several = len({line.data for line in comparison.matrix}) > 1
    shown = [
        (model, some)
        for place, model in enumerate(comparison.models[1:], 1)
        if (some := [(line, c.change, c.said) for line in comparison.matrix if (c := line.cells[place]) and c.change])
    ]
    if not shown:
        raise UsageError(
            f"no figure of {comparison.first.name} can be paired with another model's: there is nothing to draw"
        )
    rows = max(len(some) for _, some in shown)
    with rc_context({"svg.fonttype": "none", "pdf.fonttype": 42, "font.size": 8, "svg.hashsalt": "encheck"}):
        figure = Figure(figsize=(2.2 + 2.4 * len(shown), 0.9 + 0.19 * rows), layout="constrained")
        panels = figure.subplots(1, len(shown), sharex=True, squeeze=False)[0]
        for axes, (model, some) in zip(panels, shown, strict=True):
            axes.axvline(0, color="0.6", linewidth=0.8)
            for y, (_, one, said) in enumerate(some):
                colour, marker = DRAWN[said]
                axes.plot([100 * one.low, 100 * one.high], [y, y], color=colour, linewidth=1.2)
                is_certain = said in ("better", "worse")
                axes.plot(100 * one.difference, y, marker, color=colour, markersize=4,
                          markerfacecolor=colour if is_certain else "white")  # fmt: skip
            labels = [f"{line.title}, {line.data}" if several else line.title for line, *_ in some]
            axes.set_yticks(range(len(some)), labels)
            axes.invert_yaxis()
            axes.set_title(names.get(model.name, model.name), fontsize=8)
            axes.spines[["top", "right"]].set_visible(False)
        figure.supxlabel(
            f"difference from {names.get(comparison.first.name, comparison.first.name)} in points, 95% interval",
            fontsize=8,
        )
        with writable_folder(path.parent), write_whole(path) as file:
            figure.savefig(file, format=path.suffix[1:], metadata={"Date": None} if path.suffix == ".svg" else None)
