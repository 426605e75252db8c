"""Behavioural tests for sentence encoders, as pytest checks.

Names are imported on first use, so `import encheck` is fast. docs/reference/api.md has
examples.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from encheck.api import compare_costs, load_data, load_model, text_shift
    from encheck.claims import claim
    from encheck.engine.gate import gate
    from encheck.engine.results import Results
    from encheck.engine.run import run
    from encheck.operations.index.api import audit_index
    from encheck.operations.same.api import same
    from encheck.operations.threshold.api import threshold
    from encheck.run_file import Result

    __version__: str

__all__ = [
    "Result", "Results", "__version__", "audit_index", "claim", "compare_costs",
    "gate", "load_data", "load_model", "run", "same", "text_shift", "threshold",
]  # fmt: skip

_HOMES = {
    "audit_index": "encheck.operations.index.api",
    "claim": "encheck.claims",
    "compare_costs": "encheck.api",
    "threshold": "encheck.operations.threshold.api",
    "gate": "encheck.engine.gate",
    "load_data": "encheck.api",
    "load_model": "encheck.api",
    "Result": "encheck.run_file",
    "Results": "encheck.engine.results",
    "run": "encheck.engine.run",
    "same": "encheck.operations.same.api",
    "text_shift": "encheck.api",
}


def __getattr__(name: str) -> object:
    if name == "__version__":
        from importlib.metadata import version

        return version("encheck")
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(_HOMES[name]), name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
