"""The checks that there are, and how a few of them are selected by property."""

from __future__ import annotations

import ast
import sys
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

from encheck.claims import Claim, claim_of, tested
from encheck.engine.cases import cases, claims_on, name_of
from encheck.errors import UsageError, unknown
from encheck.options import Settings
from encheck.running.case import Case
from encheck.running.shipped import checks_of_packages, shipped_checks

CheckFunction = Callable[..., object]


@dataclass(frozen=True)
class Check:
    """A test function with a claim; `name` identifies it in results and baselines."""

    function: CheckFunction
    claim: Claim

    @property
    def name(self) -> str:
        """The name of its function without `test_`, after a property of the user's own."""
        return name_of(self.function.__name__, self.claim)

    @property
    def markers(self) -> set[str]:
        """What selects it: its property, of one of the user's own also what stands for all of these."""
        declared = claim_of(self.function)
        return {self.property, *([declared.property] if declared and declared.property else ())}

    @property
    def property(self) -> str:
        """What it tests: the property that it declares, else its first marker that is not pytest's."""
        return tested(self.claim, (mark.name for mark in getattr(self.function, "pytestmark", ())))

    def cases(self, settings: Settings) -> list[Case]:
        """Every model x data x level of it."""
        return cases(settings.models, settings.data, self.function.__name__, self.claim, self.property)


def packaged_checks(data: Sequence[str] = (), packages: Iterable[str] = ()) -> tuple[Check, ...]:
    """The checks of `encheck.checks`, then of these installed packages, file by file, in their order there.

    Those of properties of the user's own are of what the `data` name: none without any. UsageError for a package whose
    checks cannot be imported, or have the names of others.
    """
    found = (*shipped_checks(), *checks_of_packages(tuple(packages)))
    return tuple(Check(function, one) for function, claim in found for one in claims_on(claim, data))


def checks_in(file: str | Path) -> tuple[Check, ...]:
    """The checks in a Python file of the user's, which is run.

    UsageError where the file cannot be imported or has no check.
    """
    path = Path(file).expanduser()
    if not path.is_file():
        raise UsageError(f"{path} does not exist, or is no file: name a Python file with checks")
    name = f"encheck_own_checks_{zlib.crc32(str(path.resolve()).encode()):08x}_{path.stem}"
    spec = spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise UsageError(f"{path} is no Python file: name one with checks, such as my_checks.py")
    module = sys.modules[name] = module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # also sys.exit, and what pytest raises to skip a module
        del sys.modules[name]
        raise UsageError(f"{path} cannot be imported: {type(error).__name__}: {error}") from error
    found = [Check(function, claim) for function in vars(module).values() if (claim := claim_of(function))]
    packaged = {check.name: check for check in packaged_checks()}
    own = tuple(check for check in found if check.function is not getattr(packaged.get(check.name), "function", None))
    if not own:
        raise UsageError(f"{path} has no check: a check is a function test_... under @encheck.claim")
    return own


def refuse_twice(checks: Sequence[Check]) -> None:
    """UsageError where two checks have one name, by which results would mix them up."""
    for name, count in Counter(check.name for check in checks).items():
        if count > 1:
            raise UsageError(f"--own-checks: {count} checks are named test_{name}. Remedy: give each its own name")


def select_checks(
    checks: Sequence[Check], selection: str | Iterable[str] | None, names: str | None = None
) -> tuple[Check, ...]:
    """The checks whose property is selected: an expression such as "antonym or jumble", or names; None selects all.

    `names` selects further, as pytest's -k does: each word of it has to be part of the name of a check, or of its
    property. UsageError for an expression that cannot be read, for a property that no check has, and where nothing is
    selected.

    >>> names = {check.property for check in select_checks(packaged_checks(), "(antonym or jumble) and not jumble")}
    >>> names
    {'antonym'}
    """
    chosen = tuple(checks)
    if selection is not None and selection != "":
        text = selection if isinstance(selection, str) else " or ".join(selection)
        tree = _parsed(text)
        properties = sorted({name for check in checks for name in check.markers})
        for name in (node.id for node in ast.walk(tree) if isinstance(node, ast.Name)):
            if name not in properties:
                raise UsageError(f"checks={text!r}: {unknown('property', name, properties)}")
        chosen = tuple(check for check in chosen if _holds(tree.body, check.markers.__contains__))
        if not chosen:
            raise UsageError(
                f"checks={text!r} selects no check. Remedy: name a property that has checks: antonym or jumble"
            )
    if names is not None:
        tree = _parsed(names)
        chosen = tuple(check for check in chosen if _holds(tree.body, partial(_is_part, check)))
        if not chosen:
            raise UsageError(f"-k {names!r} selects no check. Remedy: a part of a check's name, such as antonym")
    return chosen


def _is_part(check: Check, word: str) -> bool:
    """Whether a word is part of the name of a check or of what it tests."""
    return any(word.lower() in name.lower() for name in (f"test_{check.name}", check.property))


def _parsed(text: str) -> ast.Expression:
    """The expression; UsageError for one with anything but names, and, or, not and brackets."""
    allowed = (ast.Expression, ast.BoolOp, ast.And, ast.Or, ast.UnaryOp, ast.Not, ast.Name, ast.Load)
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError) as error:
        tree, cause = None, error
    if tree is None or not all(isinstance(node, allowed) for node in ast.walk(tree)):
        raise UsageError(
            f"checks={text!r} cannot be read. Remedy: names of properties with and, or, not and brackets, such as "
            f"'antonym or (number and not jumble)'"
        ) from (cause if tree is None else None)
    return tree


def _holds(node: ast.expr, is_named: Callable[[str], bool]) -> bool:
    """Whether an expression holds of a check, of which `is_named` tells whether a name is its own."""
    if isinstance(node, ast.BoolOp):
        every = all if isinstance(node.op, ast.And) else any
        return every(_holds(value, is_named) for value in node.values)
    if isinstance(node, ast.UnaryOp):
        return not _holds(node.operand, is_named)
    assert isinstance(node, ast.Name)
    return is_named(node.id)
