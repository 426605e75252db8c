"""The checks that come with encheck, and those of installed packages."""

from __future__ import annotations

import pkgutil
from collections.abc import Callable
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any

from encheck.claims import Claim, claim_of
from encheck.errors import UsageError
from encheck.system import entry_points

Check = tuple[Callable[..., Any], Claim]


@cache
def shipped_checks() -> tuple[Check, ...]:
    """The test function of every check, with its claim; their modules are imported."""
    return _checks_of(import_module("encheck.checks"))


@cache
def checks_of_packages(names: tuple[str, ...]) -> tuple[Check, ...]:
    """As `shipped_checks`, of installed packages by the names of their entry points.

    UsageError for one that cannot be imported, has no check, or has a check of a name that is taken.
    """
    points = entry_points.entry_points_of(entry_points.CHECKS)
    owners = {function.__name__: "encheck itself" for function, _ in shipped_checks()}
    found: list[Check] = []
    for point in (points[name] for name in names):
        with entry_points.import_errors(point):
            module = point.load()
            checks = _checks_of(module) if isinstance(module, ModuleType) else ()
        package = f"the package {entry_points.package_of(point)}"
        if not checks:
            raise UsageError(
                f"{package}: {point.value} has no check. Remedy: it should be a module with functions test_... under "
                "@encheck.claim, or a package of such modules test_*.py"
            )
        if clash := next((function.__name__ for function, _ in checks if function.__name__ in owners), ""):
            raise UsageError(
                f"{package} has the check {clash}, which {owners[clash]} has: results would mix them up. Remedy: leave "
                "it out of check-packages of [tool.encheck], or ask its author for another name"
            )
        owners |= {function.__name__: package for function, _ in checks}
        found += checks
    return tuple(found)


def _checks_of(module: ModuleType) -> tuple[Check, ...]:
    """The checks that a module defines, or that each module test_*.py of a package does."""
    below = [one.name for one in pkgutil.iter_modules(getattr(module, "__path__", ())) if one.name.startswith("test_")]
    modules = [import_module(f"{module.__name__}.{name}") for name in below] or [module]
    defined = [f for one in modules for f in vars(one).values() if getattr(f, "__module__", "") == one.__name__]
    return tuple((f, claim) for f in defined if (claim := claim_of(f)))
