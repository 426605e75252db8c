"""A folder for each finished training: results.json and the saved files.

A training writes into a temporary folder next to its own, which is renamed when it is complete. So a folder with
results.json is complete, and an interrupted training starts again.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from encheck.errors import UsageError
from encheck.system.documents import parse_json, read_text
from encheck.system.files import write_text

RESULTS = "results.json"
SETTINGS = "settings"
CHECKPOINT = "checkpoint"  # whether it was kept
UNFINISHED = ".unfinished"


def finished(folder: Path, settings: Mapping[str, Any], *, with_model: bool = False) -> dict[str, Any] | None:
    """The results of a finished training with these settings; None if there is none.

    UsageError if the folder has different settings or other content, or lacks the checkpoint that `with_model`
    requires.
    """
    path = folder / RESULTS
    if not folder.exists():
        return None
    if not path.is_file():
        raise UsageError(f"{folder} has no {RESULTS}: it is no finished training. Remedy: another --out, or remove it")
    try:
        found = parse_json(read_text(path))
    except (ValueError, OSError) as error:
        raise UsageError(f"{path} is not JSON: {error}. Remedy: remove {folder}, to train again") from error
    then, now = found.get(SETTINGS) if isinstance(found, dict) else None, json.loads(json.dumps(settings))
    if then != now:
        raise UsageError(f"{path} is of {_differs(then, now)}. Remedy: another --out, or remove {folder}")
    if with_model and found.get(CHECKPOINT) is False:
        raise UsageError(f"{folder} has results, but no checkpoint. Remedy: --no-model, another --out, or remove it")
    return dict(found)


def _differs(then: Any, now: Mapping[str, Any]) -> str:
    """The differences between two settings, for a message."""
    if not isinstance(then, dict):
        return "something else"
    keys = [key for key in {**then, **now} if then.get(key) != now.get(key)]
    return "another training: " + ", ".join(f"{key} {then.get(key)!r} instead of {now.get(key)!r}" for key in keys)


@contextmanager
def writing(folder: Path) -> Iterator[Path]:
    """A new folder that becomes `folder` if the block succeeds; leftovers of an earlier attempt are removed first."""
    unfinished = folder.with_name(folder.name + UNFINISHED)
    shutil.rmtree(unfinished, ignore_errors=True)
    try:
        unfinished.mkdir(parents=True)
    except OSError as error:
        raise UsageError(f"cannot write into {folder.parent}: {error.strerror}. Remedy: another --out") from error
    yield unfinished
    unfinished.replace(folder)


def write_results(folder: Path, settings: Mapping[str, Any], results: Mapping[str, Any]) -> None:
    """Write results.json, with the settings that `finished` compares."""
    write_text(folder / RESULTS, json.dumps({SETTINGS: dict(settings), **results}, indent=1) + "\n")
