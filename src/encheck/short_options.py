"""The options of encheck without their prefix: --model, --data, ... Loaded by `-p encheck.short_options`.

A plugin of its own, so that pytest knows which arguments are values before it looks for test paths.
"""

from __future__ import annotations

import pytest

from encheck.options import add_options


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the short names to the same destinations."""
    add_options(parser.getgroup("encheck, short", "the same options, short"))
