"""The folder of a run: results.json, items.parquet, report.html, summary.md, and gate.html of a gate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import count
from pathlib import Path
from types import MappingProxyType
from typing import Any

from encheck.errors import EncheckError, UsageError
from encheck.gating.baseline import SUMMARY
from encheck.gating.required_changes import ADAPTER
from encheck.gating.weighing import Searched
from encheck.options import Settings
from encheck.reporting import markdown
from encheck.reporting.answers import AGAIN, ANSWERS, DOCUMENTS, PLAN, SHEET, UNJUDGED, write_answers, write_unjudged
from encheck.reporting.html import gate_page
from encheck.reporting.html import page as html
from encheck.reporting.results import ITEMS, RESULTS, write_items, write_results
from encheck.run_file import RunFile
from encheck.running.labels import label_of
from encheck.scoring.frame import Columns
from encheck.system import files
from encheck.system.documents import read_json
from encheck.system.files import write_text

WRITTEN = (RESULTS, ITEMS, "summary.md", "report.html")
GATE = "gate.html"
CLEARED = (
    *WRITTEN,
    GATE,
    ADAPTER,
    ANSWERS,
    DOCUMENTS,
    PLAN,
    SHEET,
    AGAIN,
    UNJUDGED,
)  # the last, only some gates have


def clear(folder: Path) -> None:
    """Remove what an earlier run wrote here, whole or half: a run that is killed leaves no mix of two.

    A baseline stays. UsageError where something cannot be removed, and where files with these names are of no run.
    """
    if not folder.is_dir() or (folder / SUMMARY).exists():
        return
    is_run = _is_run(folder)  # asked first, as results.json is removed last: xdist's workers all clear
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


def _is_run(folder: Path) -> bool:
    """Whether results.json is there and of a run."""
    try:
        found = read_json(folder / RESULTS)
    except (OSError, ValueError):
        return False
    return isinstance(found, dict) and "schema_version" in found


def place_of(settings: Settings, folder: str | None, *, started: datetime) -> Path:
    """The folder of a run: the one that was named, or a new one below reports/."""
    return Path(folder) if folder else _new_folder(settings, started)


def from_here(place: Path) -> str:
    """The path as one would type it."""
    return str(place.relative_to(Path.cwd()) if place.is_relative_to(Path.cwd()) else place)


def write(
    place: Path,
    results: RunFile,
    items: Mapping[str, Columns],
    *,
    searched: Sequence[Searched] = (),
    documents: Mapping[str, Any] = MappingProxyType({}),
) -> None:
    """Write everything, the raw results first; EncheckError where the disk does not take it."""
    try:
        place.mkdir(parents=True, exist_ok=True)
        write_results(place, results)
        write_items(place, items)
        write_answers(place, searched, items, documents)
        write_text(place / "summary.md", markdown.render(results, items))
        write_text(place / "report.html", html.render(results, items, folder=place))
        if results.gate is not None:
            write_unjudged(place, results.gate)
            write_text(place / GATE, gate_page.render(results, results.gate))
    except OSError as error:
        raise EncheckError(
            f"cannot write the results to {place}: {files.describe_os_error(error, folder=place)}. "
            "Make room, or name another place with --report-dir=DIR; the store keeps what was encoded, so the next run "
            "is quick"
        ) from error


def _new_folder(settings: Settings, started: datetime) -> Path:
    """Make reports/<time>-<first model>, with a number where another run has that name already."""
    stem = f"{started:%Y-%m-%dT%H-%M-%S}-{label_of(Path(settings.models[0]).name)}"
    for number in count(1):
        folder = settings.root / "reports" / (stem if number == 1 else f"{stem}-{number}")
        try:
            folder.mkdir(parents=True)
        except FileExistsError:
            if folder.is_dir():
                continue
        except OSError:
            pass  # said when the results are written there
        break
    return folder
