"""Cells of tables that people open in a spreadsheet, which takes some texts for formulas."""

from __future__ import annotations

from typing import Any

FORMULAS = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")  # the last four in full width


def safe_cell(value: Any) -> Any:
    """Text that no spreadsheet takes for a formula.

    >>> safe_cell("=1+1"), safe_cell("1-1"), safe_cell(-1.0)
    ("'=1+1", '1-1', -1.0)
    """
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULAS) else value
