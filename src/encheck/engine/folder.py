"""The folder of a run: results.json, items.parquet, report.html, summary.md, and for a gate gate.html."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import count
from pathlib import Path
from types import MappingProxyType

from encheck.errors import EncheckError, UsageError
from encheck.gating.advice import ADAPTER_FILE
from encheck.gating.baseline import SUMMARY
from encheck.gating.comparison import LogAnswers
from encheck.options import Settings
from encheck.reporting import markdown
from encheck.reporting.answers import AGAIN, ANSWERS, DOCUMENTS, PLAN, SHEET, UNJUDGED, write_answers, write_unjudged
from encheck.reporting.html import page
from encheck.reporting.html import page as html
from encheck.reporting.results import ITEMS, RESULTS, write_items, write_results
from encheck.run_file import RunFile
from encheck.running.labels import safe_label
from encheck.scoring.frame import RunItems
from encheck.system import files
from encheck.system.documents import read_json
from encheck.system.files import write_text

WRITTEN = (RESULTS, ITEMS, "summary.md", "report.html")
GATE = "gate.html"
CLEARED = (
    *WRITTEN,
    GATE,
    ADAPTER_FILE,
    ANSWERS,
    DOCUMENTS,
    PLAN,
    SHEET,
    AGAIN,
    UNJUDGED,
)  # the last, only some gates have


def remove_earlier_report(folder: Path) -> None:
    """Remove the files of an earlier run, complete or not, so that a killed run leaves no mix of two runs.

    A baseline stays. Raise UsageError if a file cannot be removed, or if a file with such a name is not from a run.
    """
    if not folder.is_dir() or (folder / SUMMARY).exists():
        return
    try:  # first, as results.json is removed last: xdist's workers all clear
        values = read_json(folder / RESULTS)
        is_run = isinstance(values, dict) and "schema_version" in values
    except (OSError, ValueError):
        is_run = False
    there = [folder / name for name in CLEARED if (folder / name).exists()]
    if there and not is_run:
        raise UsageError(
            f"--report-dir={folder} has {there[0].name}, which no run of encheck wrote and a report would replace. "
            "Remedy: name another folder"
        )
    for path in [*reversed(there), *files.leftover_files(folder, names=CLEARED)]:
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            raise UsageError(
                f"cannot remove {path}, which an earlier run wrote: {error.strerror}. "
                "Remedy: name another place with --report-dir=DIR"
            ) from error


def report_folder(settings: Settings, *, started: datetime) -> Path:
    """Return the folder of a run: that of --report-dir, or a new one, reports/<time>-<first model>."""
    if settings.report_dir:
        return settings.report_dir
    stem = f"{started:%Y-%m-%dT%H-%M-%S}-{safe_label(Path(settings.models[0]).name)}"
    for number in count(1):  # if another run already has that name
        place = settings.root / "reports" / (stem if number == 1 else f"{stem}-{number}")
        try:
            place.mkdir(parents=True)
        except FileExistsError:
            if place.is_dir():
                continue
        except OSError:
            pass  # reported when the results are written there
        break
    return place


def relative_to_here(place: Path) -> str:
    """Return the path relative to the working directory if it is inside, otherwise unchanged."""
    return str(place.relative_to(Path.cwd()) if place.is_relative_to(Path.cwd()) else place)


def write_report(
    place: Path,
    results: RunFile,
    items: RunItems,
    *,
    searched: Sequence[LogAnswers] = (),
    documents: Mapping[str, Mapping[int, tuple[str, str]]] = MappingProxyType({}),
) -> None:
    """Write all files of the report, the raw results first. Raise EncheckError if writing fails."""
    try:
        place.mkdir(parents=True, exist_ok=True)
        write_results(place, results)
        write_items(place, items)
        write_answers(place, searched, items, documents)
        write_text(place / "summary.md", markdown.render_summary(results, items))
        write_text(place / "report.html", html.render_run(results, items, folder=place))
        if results.gate is not None:
            write_unjudged(place, results.gate)
            write_text(place / GATE, page.render_gate(results, results.gate))
    except OSError as error:
        raise EncheckError(
            f"cannot write the results to {place}: {files.describe_os_error(error, folder=place)}. "
            "Make room, or name another place with --report-dir=DIR; the store keeps what was encoded, so the next run "
            "is quick"
        ) from error
