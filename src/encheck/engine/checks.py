"""The checks that come with encheck, and how a few of them are selected by property."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from encheck.claims import Claim
from encheck.errors import UsageError, unknown
from encheck.options import Settings
from encheck.running.case import Case
from encheck.running.labels import data_labels, labels
from encheck.running.shipped import shipped_checks

CheckFunction = Callable[..., object]


@dataclass(frozen=True)
class Check:
    """A test function with a claim; `name` identifies it in results and baselines."""

    function: CheckFunction
    claim: Claim

    @property
    def name(self) -> str:
        """The name of its function without `test_`."""
        return self.function.__name__.removeprefix("test_")

    @property
    def property(self) -> str:
        """What it tests."""
        return self.claim.property

    def cases(self, settings: Settings) -> Iterator[Case]:
        """Every model x data x level of it."""
        for model in labels(settings.models):
            for data in data_labels(settings.data):
                for level in self.claim.levels:
                    yield Case(self.function.__name__, self.claim, model, data, level, self.property)


def packaged_checks() -> tuple[Check, ...]:
    """The checks of `encheck.checks`, file by file, in the order in which they stand there."""
    return tuple(Check(function, claim) for function, claim in shipped_checks())


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
