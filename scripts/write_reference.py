"""Write what docs/reference has of the code: commands and options, checks, and the schema of each typed file.

Of commands.md and checks.md the part below the mark is written; what stands above it is kept.
"""

from __future__ import annotations

import importlib
import inspect
import itertools
import json
import pkgutil
import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import typer.main

from encheck import checks
from encheck.claims import Claim, claim_entry, claim_of
from encheck.cli import app
from encheck.cli.shared import PANELS
from encheck.comparing.costs import CostReport
from encheck.gating.baseline import BaselineSummary
from encheck.indexes.audit import IndexAudit
from encheck.operations.same.comparison import SameReport
from encheck.operations.same.sides import SavedSide
from encheck.operations.threshold.decision import ThresholdReport
from encheck.options import OPTIONS, options_as_markdown
from encheck.reporting.text import plain_name
from encheck.run_file import RunFile
from encheck.system.typed_files import schema_of
from encheck.types import ClaimEntry, Floor

DOCS = Path(__file__).resolve().parents[1] / "docs"
COMMANDS, CHECKS = "reference/commands.md", "reference/checks.md"
PAGE = re.compile(r"( \(|, )docs/[^)]*\)")  # a page of ours, which a file names beside its topic
MARK = "<!-- made by scripts/write_reference.py -->\n"


def below_mark(page: str, made: Callable[[], Iterator[str]]) -> str:
    """The page with its lower part made anew."""
    above, _, _ = (DOCS / page).read_text("utf-8").partition(MARK)
    return f"{above}{MARK}\n" + "\n".join(made())


def commands() -> Iterator[str]:
    """The commands in the panels of `encheck --help`, then the options of a run."""
    root: Any = typer.main.get_command(app)
    context = _context(root, "encheck")
    for panel, names in PANELS.items():
        yield f"## {panel}\n"
        for name in names:
            yield from command_entry(root.commands[name], context)
    yield f"## Options of a run\n\n{options_as_markdown()}"


def _context(command: Any, name: str, parent: Any = None) -> Any:
    return command.context_class(command, info_name=name, parent=parent)


def command_entry(command: Any, parent: Any) -> Iterator[str]:
    """A command: what it does, its own arguments and options, those of a hidden command; below it, its own commands."""
    context = _context(command, command.name, parent)
    does = inspect.cleandoc((command.help or "").partition("\f")[0]).split("\n\n")[0]
    yield f"### {context.command_path}\n\n{does}\n"
    of_a_run = {option.name: option.text for option in OPTIONS.values()}
    below = getattr(command, "commands", {}).values()
    given = [one for part in (command, *(inner for inner in below if inner.hidden)) for one in part.params]
    own = [one for one in given if not getattr(one, "hidden", False)
           and of_a_run.get(one.opts[0].removeprefix("--")) != getattr(one, "help", None)]  # fmt: skip
    if own:
        yield "\n".join(map(parameter_line, own)) + "\n"
    for inner in below:
        if not inner.hidden:
            yield from command_entry(inner, context)


def parameter_line(one: Any) -> str:
    """An argument or an option with the first sentence of its help and its default, which the help may state."""
    is_argument = one.param_type_name == "argument"
    names = one.metavar or one.name.upper() if is_argument else ", ".join([*one.opts, *one.secondary_opts])
    value = f" {one.metavar}" if one.metavar and not is_argument else ""
    is_said = one.required or not one.show_default or str(one.default) in ("None", "False", "")
    default = "" if is_said else f" (default: {one.default})"
    says, _, more = " ".join((one.help or "").split()).removesuffix(".").partition(". ")
    stated = re.search(r"[Dd]efault: (.+?)\)?$", more)
    says += f" (default: {stated[1]})" if stated else ""
    return f"- `{names}{value}`: {says}{default}"


def check_list() -> Iterator[str]:
    """The checks, a section a property: what its files are about, with the source, and a line a check."""
    found = sorted(_checks(), key=lambda one: one[1].property)
    for name, some in itertools.groupby(found, lambda one: one[1].property):
        yield property_entry(name, list(some))


def _checks() -> Iterator[tuple[str, Claim, ClaimEntry]]:
    for module in pkgutil.iter_modules(checks.__path__):
        for name, value in vars(importlib.import_module(f"encheck.checks.{module.name}")).items():
            if claim := claim_of(value):
                yield name, claim, claim_entry(value, property=claim.property)


def property_entry(name: str, found: list[tuple[str, Claim, ClaimEntry]]) -> str:
    declared = [claim.declared for _, claim, _ in found]
    titles = dict.fromkeys(PAGE.sub(lambda page: ")" * (page[1] == ", "), entry.title) for _, _, entry in found)
    sources = [one for one in dict.fromkeys(one.source for one in declared)
               if not one.startswith("docs/") and not any(one in title for title in titles)]  # fmt: skip
    said = [*map(_words, titles), *(f"Source: {_words(one)}." for one in sources)]
    lines = (check_line(test, claim) for test, claim, _ in found)
    plain = plain_name(name)
    title = name if plain.startswith(name) else f"{name} ({plain})"
    return f"### {title}\n\n{' '.join(said)}\n\n" + "\n".join(lines) + "\n"


def check_line(test: str, claim: Claim) -> str:
    """What decides a check, its lines, and whether the gate weighs it."""
    one = claim.declared
    levels = f" ({', '.join(map(str, claim.levels))})" if len(claim.levels) > 1 else ""
    aim = "no verdict" if one.aim is None else f"aim {_line(one.aim)}"
    floor = "" if one.floor is None else f", floor {_line(one.floor)}"
    gate = "" if one.gates else f"; not weighed: {_words(one.reported or '')}"
    gate += "; may block, never passes" if one.proxy else ""
    return f"- {test.removeprefix('test_').replace('_', ' ')}{levels}: `{one.metric}`, {aim}{floor}{gate}"


def _line(line: Floor) -> str:
    return line if isinstance(line, str) else f"{line:g}"


def _words(text: str) -> str:
    return text.replace("<", "&lt;")


def schema(kind: type) -> str:
    """The JSON schema of a file."""
    return json.dumps(schema_of(kind), indent=1, ensure_ascii=False)


FILES = {
    "results": RunFile, "same": SameReport, "same-saved": SavedSide, "index": IndexAudit, "threshold": ThresholdReport,
    "baseline": BaselineSummary, "costs": CostReport,
}  # fmt: skip
PAGES: dict[str, Callable[[], str]] = {
    COMMANDS: partial(below_mark, COMMANDS, commands),
    CHECKS: partial(below_mark, CHECKS, check_list),
} | {f"reference/{name}.schema.json": partial(schema, kind) for name, kind in FILES.items()}

if __name__ == "__main__":
    for page, made in PAGES.items():
        (DOCS / page).write_text(made().rstrip() + "\n", "utf-8")
