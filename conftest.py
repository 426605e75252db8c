"""In a clone the options have short names: --model, --data, --epsilon, ..."""

import pytest

from encheck.options import add_options


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the short names to the same destinations."""
    add_options(parser.getgroup("encheck, short", "the same options, short"))
