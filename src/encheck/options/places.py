"""Check that results can be written, before any work is done."""

from __future__ import annotations

import tempfile
from pathlib import Path

from encheck.errors import UsageError


def refuse_place(report_dir: str) -> None:
    """UsageError if no results can be written to this folder."""
    try:
        try_place(Path(report_dir))
    except OSError as error:
        raise UsageError(
            f"cannot write results to --report-dir={report_dir}: {error.strerror or error}. Name a folder that can "
            f"be created or written to"
        ) from error


def try_place(folder: Path) -> None:
    """OSError if nothing can be written to this folder, or where it is to be made; nothing is left there."""
    there = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    with tempfile.TemporaryFile(dir=there):  # has no name where the system can do without
        pass
