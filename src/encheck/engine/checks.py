"""The checks that come with encheck, and how a few of them are selected by property."""

from __future__ import annotations

import ast
import importlib
import pkgutil
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache

from encheck.claims import Claim, claim_of
from encheck.errors import UsageError, unknown

CheckFunction = Callable[..., object]


@dataclass(frozen=True)
class Check:
    """A test function with a claim; `name` identifies it in results and baselines."""

    function: CheckFunction
    claim: Claim

    @property
    def name(self) -> str:
        """The name of its function."""
        return self.function.__name__

    @property
    def property(self) -> str:
        """What it tests."""
        return self.claim.property


@cache
def packaged_checks() -> tuple[Check, ...]:
    """The checks of `encheck.checks`, file by file, in the order in which they stand there."""
    package = importlib.import_module("encheck.checks")
    modules = [importlib.import_module(f"{package.__name__}.{m.name}") for m in pkgutil.iter_modules(package.__path__)]
    functions = [f for module in modules for f in vars(module).values() if claim_of(f)]
    return tuple(Check(function, claim) for function in functions if (claim := claim_of(function)))


def select_checks(checks: Sequence[Check], selection: str | Iterable[str] | None) -> tuple[Check, ...]:
    """The checks whose property is selected: an expression such as "antonym or jumble", or names; None selects all.

    UsageError for an expression that cannot be read, for a property that no check has, and where nothing is selected.

    >>> names = {check.property for check in select_checks(packaged_checks(), "(antonym or jumble) and not jumble")}
    >>> names
    {'antonym'}
    """
    if selection is None or selection == "":
        return tuple(checks)
    properties = sorted({check.property for check in checks})
    text = selection if isinstance(selection, str) else " or ".join(selection)
    tree = _parsed(text)
    for name in (node.id for node in ast.walk(tree) if isinstance(node, ast.Name)):
        if name not in properties:
            raise UsageError(f"checks={text!r}: {unknown('property', name, properties)}")
    chosen = tuple(check for check in checks if _holds(tree.body, check.property))
    if not chosen:
        raise UsageError(
            f"checks={text!r} selects no check. Remedy: name a property that has checks: antonym or jumble"
        )
    return chosen


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


def _holds(node: ast.expr, name: str) -> bool:
    """Whether a check of this property is selected."""
    if isinstance(node, ast.BoolOp):
        every = all if isinstance(node.op, ast.And) else any
        return every(_holds(value, name) for value in node.values)
    if isinstance(node, ast.UnaryOp):
        return not _holds(node.operand, name)
    assert isinstance(node, ast.Name)
    return node.id == name
