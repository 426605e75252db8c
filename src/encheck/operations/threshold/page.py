"""threshold.html and threshold.json: the answers of `encheck threshold` on one page, and for other tools."""

from __future__ import annotations

from pathlib import Path

from encheck.operations.threshold import charts, text
from encheck.operations.threshold.decision import ThresholdReport
from encheck.reporting.html.page import page
from encheck.reporting.html.payload import pack
from encheck.reporting.results import write_named
from encheck.system.typed_files import as_json

PAGE, RAW = "threshold.html", "threshold.json"
TITLES = {
    "kept": "a threshold keeps the budget", "broken": "no threshold that keeps the budget exists",
    "undecided": "it cannot be told", "no promise asked": "thresholds side by side",
}  # fmt: skip


def render(found: ThresholdReport) -> str:
    """The page; every text in it is escaped, by the template or by being packed."""
    specs = {
        "sweep": ("What every threshold accepts, with 95% bands over clusters. Dotted: the thresholds of the answers.",
                  charts.sweep(found)),
        "trade": ("What a share of false accepts buys, beside scorers that need no understanding, and chance.",
                  charts.trade(found)),
        "behaviours": (f"What gets through at {text.at(found.at)}: the embedded probes by kind, with 95% intervals.",
                       charts.behaviours(found)),
    }  # fmt: skip
    lines = list(text.answers(found))
    drawn = {name: (caption, spec) for name, (caption, spec) in specs.items() if spec}
    return page(
        PAGE,
        pack({"charts": {name: spec for name, (_, spec) in drawn.items()}, "cases": {}, "texts": []}),
        found=found,
        title=f"{'with the verifier, ' if found.cascade else ''}{TITLES[found.outcome]}",
        lines=lines,
        lead=lines[0],
        notes=list(text.notes(found)),
        data=text.of_data(found.data),
        pictures=[{"id": name, "caption": caption, "spec": spec} for name, (caption, spec) in drawn.items()],
        head=text.HEAD,
        cells=text.cells,
        rate=text.rate,
        at=text.at,
    )


def write(found: ThresholdReport, folder: Path) -> Path:
    """Write the page and the JSON into a folder; the path of the page. UsageError where the disk does not take it."""
    write_named(folder / RAW, as_json(found))
    write_named(folder / PAGE, render(found))
    return folder / PAGE
