"""The options of encheck without their prefix: --model, --data, ... Loaded by `-p encheck.short_options`.

A separate plugin is needed because pytest has to know which arguments are values before it looks for test paths.
"""

from __future__ import annotations

import pytest

from encheck.options import OPTIONS, add_options

SETTINGS_OF_PYTEST = {name for name, option in OPTIONS.items() if option.is_pytests}


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the short names with the same destinations, except names that pytest already has."""
    add_options(parser.getgroup("encheck, short", "the same options, short"), but=SETTINGS_OF_PYTEST)


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Make pytest's --strict set encheck's too."""
    option = config.option  # --strict is a flag before pytest 9, a setting since
    option.encheck_strict |= bool(getattr(option, "strict", False)) or "strict=true" in (option.override_ini or [])
