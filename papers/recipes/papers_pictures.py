"""The pictures of papers/docs/reproduction.md, as SVG, from what published/ours.json records.

Paper 004 draws the spread of the divergence (Figures 1 and 2). The shares of the cells and the scores by overlap are
additions of ours.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from papers_ours import Measured, Ours, on_table
from papers_published import published

Drawing = Callable[[Ours], Any]
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7")  # told apart by people of any colour vision (Okabe and Ito)
CELLS = ("Po", "No", "Pn", "Nn")
SAID = {"Po": "obvious positive", "No": "obvious negative", "Pn": "non-obvious positive", "Nn": "non-obvious negative"}
PLAIN = {"svg.fonttype": "none", "svg.hashsalt": "encheck", "font.size": 8, "axes.spines.top": False,
         "axes.spines.right": False}  # fmt: skip


def drawn(paper: str, table: str, measured: Iterable[Measured]) -> str:
    """The picture of a table of `PICTURES` as SVG; the same record gives the same text."""
    from matplotlib import rc_context

    with rc_context(PLAIN):
        written = io.StringIO()
        picture = PICTURES[paper, table](on_table(measured, paper, table))
        picture.savefig(written, format="svg", metadata={"Date": None, "Creator": None}, bbox_inches="tight")
    return "".join(f"{line.rstrip()}\n" for line in written.getvalue().splitlines())


def file_name(paper: str, table: str) -> str:
    """Where a picture lies beside the page."""
    return f"figures/{paper}-{table}.svg"


def spread(ours: Ours) -> Any:
    """A panel for each data set: percent of the pairs in each tenth of the divergence, a line for each part."""
    return _panels(ours, xlabel="Jensen-Shannon divergence", ylabel="% of the pairs", columns=5)


def scores(ours: Ours) -> Any:
    """A panel for each data set: mean cosine in each tenth of the divergence, a line for each label."""
    return _panels(ours, xlabel="Jensen-Shannon divergence", ylabel="mean cosine", columns=4)


def _panels(ours: Ours, *, xlabel: str, ylabel: str, columns: int) -> Any:
    from matplotlib.figure import Figure

    lines: dict[str, dict[str, list[tuple[float, float]]]] = {}
    for (row, column), figure in ours.figures.items():
        data, _, part = row.partition(": ")
        middle = float(column.partition(" to ")[0]) + 0.05
        lines.setdefault(data, {}).setdefault(part, []).append((middle, figure.value))
    parts = list(dict.fromkeys(part for of_data in lines.values() for part in of_data))
    colour = dict(zip(parts, COLOURS, strict=False))

    rows = -(-len(lines) // columns)
    picture = Figure(figsize=(2.1 * columns, 1.8 * rows), layout="constrained")
    for axes, (data, of_data) in zip(_axes(picture, rows, columns, len(lines)), lines.items(), strict=True):
        for part, points in of_data.items():
            axes.plot(*zip(*points, strict=True), color=colour[part], label=part, marker=".", markersize=4, linewidth=1)
        axes.set_title(data, fontsize=8)
        axes.set_xlim(0, 1)
        axes.label_outer()
    known: Mapping[str, Any] = {
        label: handle for axes in picture.axes for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)
    }
    picture.legend(known.values(), known, loc="outside upper center", ncols=len(known), frameon=False)
    picture.supxlabel(xlabel, fontsize=8)
    picture.supylabel(ylabel, fontsize=8)
    return picture


def _axes(picture: Any, rows: int, columns: int, count: int) -> Sequence[Any]:
    """So many of the places of a grid, with the same scales."""
    every = picture.subplots(rows, columns, sharex=True, sharey=True, squeeze=False).ravel()
    for axes in every[count:]:
        axes.remove()
    return list(every[:count])


def shares(ours: Ours) -> Any:
    """A bar for each data set, the paper's first: the shares of the four cells."""
    from matplotlib.figure import Figure

    counts: dict[str, dict[str, float]] = {}
    for cell in published("004"):
        if cell.table == "T5" and cell.row in CELLS:
            counts.setdefault(f"{cell.column}, printed", {})[cell.row] = cell.value
    for (row, column), figure in ours.figures.items():
        if row in CELLS:
            counts.setdefault(column, {})[row] = figure.value

    picture = Figure(figsize=(7, 0.28 * len(counts) + 0.8), layout="constrained")
    axes = picture.subplots()
    totals = [sum(of_data.values()) for of_data in counts.values()]
    left = [0.0] * len(counts)
    for cell, colour in zip(CELLS, COLOURS, strict=True):
        widths = [100 * of_data[cell] / total for of_data, total in zip(counts.values(), totals, strict=True)]
        axes.barh(list(counts), widths, left=left, color=colour, label=SAID[cell])
        left = [start + width for start, width in zip(left, widths, strict=True)]
    axes.axvline(50, color="black", linewidth=0.8, linestyle=":")
    axes.invert_yaxis()
    axes.set_xlim(0, 100)
    axes.set_xlabel("% of the pairs")
    picture.legend(loc="outside upper center", ncols=2, frameon=False)
    return picture


PICTURES: Mapping[tuple[str, str], Drawing] = {
    ("004", "T5"): shares,
    ("004", "F1"): spread,
    ("004", "F2"): spread,
    ("004", "O2"): scores,
}
