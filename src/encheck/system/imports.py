"""Imports that would take longer than the work they are for."""

from __future__ import annotations

import importlib
import sys
from types import ModuleType

MACHINE_LEARNING = ("sklearn", "scipy.stats")  # what nltk imports for its extra `machine_learning`, if it is there


def nltk_alone() -> ModuleType:
    """nltk, imported as it is without its extra `machine_learning`.

    nltk imports scikit-learn and scipy.stats wherever they are installed, for classifiers and tests that encheck does
    not use. Without them its import takes 0.4 s in place of 1.3, and a third of the memory. A process that has imported
    nltk, scikit-learn or scipy.stats before keeps what it has.
    """
    if "nltk" not in sys.modules:  # None stands for a module that is not there
        absent = [name for name in MACHINE_LEARNING if name not in sys.modules]
        sys.modules.update(dict.fromkeys(absent))  # type: ignore[arg-type]
        try:
            importlib.import_module("nltk")
        finally:
            for name in absent:
                del sys.modules[name]
    return importlib.import_module("nltk")
