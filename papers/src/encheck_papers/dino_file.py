"""The JSONL file that DINO writes: its settings in the first line, then one line per text and label."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from encheck.errors import DataError
from encheck_papers.dino_pairs import Written

SETTINGS = "dino"
log = logging.getLogger("encheck")


def begun(path: Path, settings: Mapping[str, Any]) -> set[tuple[str, float]]:
    """Texts and labels in the file, after removing an incomplete last line; a new file gets its first line.

    DataError for a file with different settings or a different format, which is left unchanged.
    """
    own = json.loads(json.dumps({SETTINGS: settings}))
    begins = json.dumps(own) + "\n"
    content = path.read_bytes() if path.exists() else b""
    if begins.encode().startswith(content):  # nothing, or a first line that was cut off
        path.write_text(begins, encoding="utf-8")
        return set()
    if (first := _first_line(content)) != own:
        if not first:
            raise DataError(f"{path} is no file that DINO wrote: name another one")
        before = first[SETTINGS]
        other = [name for name, value in own[SETTINGS].items() if before.get(name) != value]
        raise DataError(
            f"{path} was written with other settings ({', '.join(other)}): name another file, or give those of before"
        )
    _cut_torn_line(path, content)
    return {(one.text, one.label) for one in read_written(path)}


def read_written(path: Path) -> list[Written]:
    """The content of a file from `Writer.write`; DataError names an invalid line."""
    found = []
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        try:
            row = json.loads(line)
            if number > 1 or SETTINGS not in row:
                found.append(Written(row["text"], float(row["label"]), tuple(row["made"]), int(row["unfinished"])))
        except (ValueError, KeyError, TypeError) as error:
            raise DataError(f"{path}, line {number}: should be a line that DINO wrote, but is {line[:80]!r}") from error
    return found


def _first_line(content: bytes) -> dict[str, Any]:
    """The settings in the first line of a file; empty if there are none."""
    try:
        found = json.loads(content.partition(b"\n")[0])
    except ValueError:
        found = None
    return found if isinstance(found, dict) and isinstance(found.get(SETTINGS), dict) else {}


def _cut_torn_line(path: Path, content: bytes) -> None:
    """Remove a last line without a line end, which an interrupted run leaves."""
    whole = content[: content.rfind(b"\n") + 1]
    if whole != content:
        log.warning("%s: the last line was torn, and is written again", path)
        path.write_bytes(whole)
