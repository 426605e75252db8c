"""Special imports: the user's own code, and nltk without the packages that encheck does not need."""

from __future__ import annotations

import importlib
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

NAME = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")
REMEDY = "Remedy: write it module:name, and run in the folder of module.py, or where Python can import it"
MACHINE_LEARNING = ("sklearn", "scipy.stats")  # what nltk imports for its extra `machine_learning`, if installed


def import_object(path: str) -> Any:
    """Return the object of this name. Raise whatever the import raises."""
    module, _, name = path.partition(":")
    here = str(Path.cwd())
    sys.path.insert(0, here)
    try:
        return getattr(importlib.import_module(module), name)
    finally:
        sys.path.remove(here)
        if not {"", here} & set(sys.path):  # for what the module imports later
            sys.path.append(here)


def import_nltk() -> ModuleType:
    """Import nltk as it is without its extra `machine_learning`, and return it.

    If scikit-learn and scipy.stats are installed, nltk imports them for classifiers and tests that encheck does not
    use. Without them, its import takes 0.4 s instead of 1.3 s, and a third of the memory. Modules that the process has
    already imported stay as they are.
    """
    if "nltk" not in sys.modules:  # None marks a missing module
        absent = [name for name in MACHINE_LEARNING if name not in sys.modules]
        sys.modules.update(dict.fromkeys(absent))  # type: ignore[arg-type]
        try:
            importlib.import_module("nltk")
        finally:
            for name in absent:
                del sys.modules[name]
    return importlib.import_module("nltk")
