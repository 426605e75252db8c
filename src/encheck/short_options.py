"""The options of encheck without their prefix: --model, --data, ... Loaded by `-p encheck.short_options`.

A plugin of its own, so that pytest knows which arguments are values before it looks for test paths.
"""

from __future__ import annotations

import pytest

from encheck.options import OPTIONS, add_options

PYTESTS = {name for name, option in OPTIONS.items() if option.is_pytests}


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the short names to the same destinations; a name that pytest has itself stays pytest's."""
    add_options(parser.getgroup("encheck, short", "the same options, short"), but=PYTESTS)


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Take pytest's --strict for encheck's too."""
    config.option.encheck_strict |= _is_strict(config)


def _is_strict(config: pytest.Config) -> bool:
    """Whether --strict was given: before pytest 9 a flag of its own, since then a setting."""
    return bool(getattr(config.option, "strict", False)) or "strict=true" in (config.option.override_ini or [])
