"""The checks that come with encheck."""

from __future__ import annotations

import pkgutil
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any

from encheck.claims import Claim, claim_of

Check = tuple[Callable[..., Any], Claim]


@cache
def shipped_checks() -> tuple[Check, ...]:
    """The test function of every check, with its claim; their modules are imported."""
    package = import_module("encheck.checks")
    modules = [import_module(f"{package.__name__}.{m.name}") for m in pkgutil.iter_modules(package.__path__)]
    return tuple((f, claim) for m in modules for f in vars(m).values() if (claim := claim_of(f)))
