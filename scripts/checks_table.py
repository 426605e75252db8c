"""The table of docs/reference/checks.md, made from what the checks declare: `python scripts/checks_table.py` writes it.

A property links to the first section of PAGES that has its name for a heading, or names it in its first line.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path

from encheck import checks
from encheck.claims import Claim, claim_of
from encheck.types import Floor

DOCS = Path(__file__).resolve().parents[1] / "docs"
PAGES = ("checks.md", "nonobvious.md", "partial-paraphrases.md")
HEAD = ("property", "check", "levels", "gate", "metric", "floor", "aim")
TABLE = re.compile(r"^\| property \|.*?(?=\n\n)", re.MULTILINE | re.DOTALL)
SECTION = re.compile(r"^## (.+)\n\n(.+(?:\n.+)*)", re.MULTILINE)


def table() -> str:
    """The table: a row a check, in the order of the files and of the checks in them."""
    rows = [HEAD, ("---",) * len(HEAD), *(_row(name, one) for name, one in _claims())]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _claims() -> Iterator[tuple[str, Claim]]:
    for found in pkgutil.iter_modules(checks.__path__):
        for name, value in vars(importlib.import_module(f"encheck.checks.{found.name}")).items():
            if one := claim_of(value):
                yield name.removeprefix("test_").replace("_", " "), one


def _row(name: str, one: Claim) -> tuple[str, ...]:
    declared = one.declared
    levels = ", ".join(map(str, one.levels)) if len(one.levels) > 1 else ""
    gate = declared.family if declared.gates else f"- ({declared.reported})"
    gate += f": {declared.capability}" if declared.gates and declared.capability else ""
    gate += ", may block and never passes" if declared.proxy else ""
    return (
        f"[`{one.property}`]({_place(one.property)})",
        name,
        levels,
        gate,
        f"`{declared.metric}`",
        _line(declared.floor),
        "no verdict" if declared.aim is None else _line(declared.aim),
    )


def _line(line: Floor) -> str:
    """A floor or an aim; a dash where there is none."""
    return "-" if line is None else line if isinstance(line, str) else f"{line:g}"


def _place(name: str) -> str:
    """Where the documents tell of a property."""
    for page in PAGES:
        for heading, first in SECTION.findall((DOCS / page).read_text("utf-8")):
            if heading == name or f"`{name}`" in first:
                return f"{page if page != PAGES[0] else ''}#{heading.lower().replace(' ', '-')}"
    raise LookupError(f"no section of {', '.join(PAGES)} tells of {name}")


def main() -> None:
    """Write the table in place of the old one."""
    page = DOCS / PAGES[0]
    page.write_text(TABLE.sub(lambda _: table(), page.read_text("utf-8"), count=1), "utf-8")


if __name__ == "__main__":
    main()
