"""The folder of a run: results.json, items.parquet, report.html, summary.md."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from itertools import count
from pathlib import Path

from encheck.controller.recorder import Recorder
from encheck.errors import EncheckError, UsageError
from encheck.gating.baseline import SUMMARY
from encheck.options import Settings, described
from encheck.reporting import markdown
from encheck.reporting.html import page as html
from encheck.reporting.results import ITEMS, RESULTS, write_items, write_results, write_text
from encheck.running.labels import label_of

WRITTEN = (RESULTS, ITEMS, "summary.md", "report.html")


def clear(folder: Path) -> None:
    """Remove what an earlier run wrote here, whole or half: a run that is killed leaves no mix of two.

    A baseline stays. UsageError where something cannot be removed.
    """
    if not folder.is_dir() or (folder / SUMMARY).exists():
        return
    halves = [p for name in WRITTEN for p in folder.glob(f".{name}.*") if p.suffix[1:].isdigit()]
    for path in [*(folder / name for name in WRITTEN), *halves]:
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            raise UsageError(
                f"cannot remove {path}, which an earlier run wrote: {error.strerror}. "
                "Remedy: name another place with --report-dir=DIR"
            ) from error


def write_run(
    recorder: Recorder, settings: Settings, folder: str | None, argv: Sequence[str], exit_status: int
) -> None:
    """Write everything, the raw results first; EncheckError where the disk does not take it."""
    recorder.folder = Path(folder) if folder else _new_folder(recorder, settings)
    asked = described(settings)
    command = shlex.join([Path(argv[0]).name, *argv[1:]])
    recorder.told = results = recorder.results(command=command, settings=asked, exit_status=exit_status)
    try:
        recorder.folder.mkdir(parents=True, exist_ok=True)
        write_results(recorder.folder, results)
        write_items(recorder.folder, recorder.items)
        write_text(recorder.folder / "summary.md", markdown.render(results, recorder.items))
        write_text(recorder.folder / "report.html", html.render(results, recorder.items, folder=recorder.folder))
    except OSError as error:
        raise EncheckError(
            f"cannot write the results to {recorder.folder}: {error.strerror}. Make room, or name another place with "
            "--report-dir=DIR; the store keeps what was encoded, so the next run is quick"
        ) from error


def _new_folder(recorder: Recorder, settings: Settings) -> Path:
    """Make reports/<time>-<first model>, with a number where another run has that name already."""
    stem = f"{recorder.started:%Y-%m-%dT%H-%M-%S}-{label_of(Path(settings.models[0]).name)}"
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
