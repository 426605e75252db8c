"""Import the user's own code by `package.module:object`, from the working folder first."""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

NAME = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")
REMEDY = "Remedy: write it module:name, and run in the folder of module.py, or where Python can import it"


def imported(path: str) -> Any:
    """The object of this name; whatever the import raises."""
    module, _, name = path.partition(":")
    with _beside():
        return getattr(importlib.import_module(module), name)


@contextmanager
def _beside() -> Iterator[None]:
    """Let Python look in the working folder first, as `python -m` does; and last for what the module imports later."""
    here = str(Path.cwd())
    sys.path.insert(0, here)
    try:
        yield
    finally:
        sys.path.remove(here)
        if not {"", here} & set(sys.path):
            sys.path.append(here)
