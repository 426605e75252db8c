"""The table of options in docs/options.md."""

from __future__ import annotations

from collections.abc import Iterator

from encheck.options.option import GROUPS, Group, Option
from encheck.options.settings import OPTIONS


def reference() -> str:
    """Every option in Markdown, a table a group."""
    return "\n".join(line for group in GROUPS for line in _table(group))


def _table(group: Group) -> Iterator[str]:
    yield from (f"## {GROUPS[group]}", "", "| option | what it does | default |", "| --- | --- | --- |")
    yield from map(_row, (option for option in OPTIONS.values() if option.group == group and not option.hidden))
    yield ""


def _row(option: Option) -> str:
    value = "" if option.is_flag else f" {option.metavar or ' or '.join(option.choices)}"
    return f"| `--{option.name}{value}` | {_cell(option.help)} | {_cell(option.default_text)} |"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")
