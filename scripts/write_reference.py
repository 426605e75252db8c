"""Write docs/commands.md from the command line, docs/claims.md from what the checks declare, and the schema of each
file that is written of one class to docs/reference.
"""

from __future__ import annotations

import importlib
import inspect
import itertools
import json
import pkgutil
import re
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import typer.main

from encheck import checks
from encheck.claims import Claim, claim_of, entry_of
from encheck.cli.shared import PANELS, app
from encheck.comparing.costs import CostReport
from encheck.gating.baseline import BaselineSummary
from encheck.indexes.audit import IndexAudit
from encheck.operations.same.comparison import SameReport
from encheck.operations.same.sides import Saved
from encheck.operations.threshold.decision import ThresholdReport
from encheck.options import OPTIONS
from encheck.run_file import RunFile
from encheck.system.typed_files import schema_of
from encheck.types import ClaimEntry, Floor

DOCS = Path(__file__).resolve().parents[1] / "docs"
MADE = "<!-- made by scripts/write_reference.py -->"
EXAMPLES = re.compile(r"(?:^ {4}.*\n?(?:\n(?= {4}))?)+", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Check:
    """A check, with the file that it stands in."""

    name: str
    file: str
    claim: Claim
    entry: ClaimEntry


def commands() -> str:
    """The page of the commands, in the panels of `encheck --help`."""
    root: Any = typer.main.get_command(app)
    context = _context(root, "encheck")
    head = (
        f"# Commands\n\n{MADE}\n\nWhat `encheck COMMAND --help` says, and `--help-all` of run and gate, on one page. "
        "Options that a command shares with\na run are named here and explained in [Options of a run](options.md).\n"
    )
    parts = (_panel(panel, [root.commands[name] for name in names], context) for panel, names in PANELS.items())
    return "\n".join([head, *parts])


def _context(command: Any, name: str, parent: Any = None) -> Any:
    return command.context_class(command, info_name=name, parent=parent)


def _panel(panel: str, found: list[Any], context: Any) -> str:
    return "\n".join([f"## {panel}\n", *(part for command in found for part in _command(command, context))])


def _command(command: Any, parent: Any) -> Iterator[str]:
    """A command and, below it, its own commands."""
    context = _context(command, command.name, parent)
    yield f"### {context.command_path}\n"
    yield f"```text\n{command.get_usage(context).removeprefix('Usage:').strip()}\n```\n"
    yield _text(command.help)
    yield from _options([one for one in command.params if not getattr(one, "hidden", False)])
    for inner in getattr(command, "commands", {}).values():
        if not inner.hidden:
            yield from _command(inner, context)


def _text(text: str | None) -> str:
    """A help text in Markdown: what is indented is an example."""
    clean = inspect.cleandoc((text or "").partition("\f")[0])
    return EXAMPLES.sub(lambda found: f"```sh\n{textwrap.dedent(found[0]).strip()}\n```\n", clean).strip() + "\n"


def _options(params: list[Any]) -> Iterator[str]:
    """A table of what is the command's own; the names of what it shares with a run."""
    texts = {option.name: option.text for option in OPTIONS.values()}
    shared = [one for one in params if texts.get(one.opts[0].removeprefix("--")) == getattr(one, "help", None)]
    own = [one for one in params if one not in shared]
    if own:
        yield "| argument or option | what it does | default |\n| --- | --- | --- |"
        yield "\n".join(map(_row, own)) + "\n"
    if shared:
        names = ", ".join(f"`{one.opts[0]}`" for one in shared)
        yield f"[Options of a run](options.md) that it takes: {names}\n"


def _row(one: Any) -> str:
    is_argument = one.param_type_name == "argument"
    names = one.metavar or one.name.upper() if is_argument else ", ".join([*one.opts, *one.secondary_opts])
    value = f" {one.metavar}" if one.metavar and not is_argument else ""
    return f"| `{_cell(names + value)}` | {_cell(one.help or '')} | {_cell(_default(one))} |"


def _default(one: Any) -> str:
    if one.required or not one.show_default or one.default is None:
        return "required" if one.required else ""
    return {True: "on", False: ""}.get(one.default, str(one.default)) if one.is_flag else str(one.default)


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())


def claims() -> str:
    """The page of the checks: an entry a check, a section a property."""
    head = (
        f"# Every check\n\n{MADE}\n\nWhat each check declares with `@claim`. [The checks](checks.md) says why its "
        "floor and its aim are\nwhere they are.\n"
    )
    found = sorted(_checks(), key=lambda one: one.claim.property)
    by_property = itertools.groupby(found, lambda one: one.claim.property)
    return "\n".join([head, *(line for name, some in by_property for line in _section(name, list(some)))])


def _checks() -> Iterator[Check]:
    for found in pkgutil.iter_modules(checks.__path__):
        for name, value in vars(importlib.import_module(f"encheck.checks.{found.name}")).items():
            if one := claim_of(value):
                entry = entry_of(value, property=one.property)
                yield Check(name.removeprefix("test_").replace("_", " "), f"{found.name}.py", one, entry)


def _section(name: str, found: list[Check]) -> Iterator[str]:
    """A property: what its files are about, and why that matters; then its checks."""
    yield f"## {name}\n"
    for title, why in dict.fromkeys((_words(one.entry.title), _words(one.entry.why)) for one in found):
        yield f"{title}\n\n{why}\n"
    for one in found:
        yield f"### {one.name}\n\n{_words(one.entry.says)}\n"
        yield "\n".join(f"- **{key}**: {value}" for key, value in _declared(one) if value) + "\n"


def _declared(one: Check) -> Iterator[tuple[str, str]]:
    """What the check declares, in words."""
    declared = one.claim.declared
    why = "" if declared.reported == declared.unjudged else f": {_words(declared.reported)}"
    weighed = f"`{declared.gates}`" if declared.gates else f"not weighed{why}"
    yield "Family", declared.family
    yield "Levels", ", ".join(map(str, one.claim.levels)) if len(one.claim.levels) > 1 else ""
    yield "Metric", f"`{declared.metric}`" if declared.metric else ""
    yield "Chance", "" if declared.chance is None else f"{declared.chance:g}"
    yield "Floor", _line(declared.floor)
    yield "Aim", f"none: {_words(declared.unjudged)}" if declared.unjudged else _line(declared.aim)
    yield (
        "Gate",
        weighed + (f", in the capability {declared.capability}" if declared.gates and declared.capability else ""),
    )
    yield "What a loss means", _words(declared.means)
    yield "Source", _source(declared.source)
    yield "Code", f"[checks/{one.file}](../checks/{one.file})"


def _line(line: Floor) -> str:
    return "none" if line is None else "the best surface baseline" if line == "surface" else f"{line:g}"


def _source(source: str) -> str:
    """The source, with links to pages of ours."""
    return re.sub(r"docs/([\w-]+\.md)", r"[\1](\1)", _words(source))


def _words(text: str) -> str:
    return text.replace("<", "&lt;")


def schema(kind: type) -> str:
    """The JSON schema of a file."""
    return json.dumps(schema_of(kind), indent=1, ensure_ascii=False)


FILES = {
    "results": RunFile, "same": SameReport, "same-saved": Saved, "index": IndexAudit, "threshold": ThresholdReport,
    "baseline": BaselineSummary, "costs": CostReport,
}  # fmt: skip
PAGES: dict[str, Callable[[], str]] = {"commands.md": commands, "claims.md": claims} | {
    f"reference/{name}.schema.json": partial(schema, kind) for name, kind in FILES.items()
}

if __name__ == "__main__":
    for page, made in PAGES.items():
        (DOCS / page).write_text(made().rstrip() + "\n", "utf-8")
