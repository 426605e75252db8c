"""Find the checks of encheck, of packages and of files, select them by property, and list their cases."""

from __future__ import annotations

import ast
import builtins
import pkgutil
import sys
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import TypeVar

from encheck.claims import Claim, claim_of, tested_property
from encheck.datasets.dataset import Dataset
from encheck.datasets.load import properties_of_spec
from encheck.errors import UsageError, unknown_name_message
from encheck.ids import CaseId
from encheck.items import OwnProperty
from encheck.options import Settings
from encheck.running.labels import data_labels, model_labels
from encheck.system import imports
from encheck.system.files import expand_home

CheckFunction = Callable[..., object]
Test = TypeVar("Test")


@cache
def shipped_checks() -> tuple[tuple[CheckFunction, Claim], ...]:
    """Import the shipped checks; return the test function of each check with its claim."""
    return _checks_of(import_module("encheck.checks"))


@cache
def checks_of_packages(names: tuple[str, ...]) -> tuple[tuple[CheckFunction, Claim], ...]:
    """Return the test functions and claims of installed packages, which are named by their entry points.

    Raise UsageError for a package that cannot be imported, has no check, or has a check whose name exists already.
    """
    points = imports.entry_points_of(imports.CHECKS)
    owners = {function.__name__: "encheck itself" for function, _ in shipped_checks()}
    found: list[tuple[CheckFunction, Claim]] = []
    for point in (points[name] for name in names):
        with imports.import_errors(point):
            module = point.load()
            checks = _checks_of(module) if isinstance(module, ModuleType) else ()
        package = f"the package {imports.package_of(point)}"
        if not checks:
            raise UsageError(
                f"{package}: {point.value} has no check. Remedy: it should be a module with functions test_... under "
                "@encheck.claim, or a package of such modules test_*.py"
            )
        if clash := next((function.__name__ for function, _ in checks if function.__name__ in owners), ""):
            raise UsageError(
                f"{package} and {owners[clash]} both have the check {clash}: results would mix them up. Remedy: leave "
                "one package out of check-packages of [tool.encheck], or ask its author for another name"
            )
        owners |= {function.__name__: package for function, _ in checks}
        found += checks
    return tuple(found)


def _checks_of(module: ModuleType) -> tuple[tuple[CheckFunction, Claim], ...]:
    """Return the checks that a module defines, or that the modules test_*.py of a package define."""
    below = [one.name for one in pkgutil.iter_modules(getattr(module, "__path__", ())) if one.name.startswith("test_")]
    modules = [import_module(f"{module.__name__}.{name}") for name in below] or [module]
    defined = [f for one in modules for f in vars(one).values() if getattr(f, "__module__", "") == one.__name__]
    return tuple((f, claim) for f in defined if (claim := claim_of(f)))


@dataclass(frozen=True)
class Case:
    """A check on one model and data set at one level, which is one pytest item. `property` is what the check tests."""

    function: str
    claim: Claim
    model: str
    data: str
    level: int | str
    property: str = ""

    @builtins.property
    def name(self) -> str:
        """The id between brackets: model-data-level."""
        return self.id.name

    @builtins.property
    def check(self) -> str:
        """The test's name without `test_`."""
        return self.function.removeprefix("test_")

    @builtins.property
    def id(self) -> CaseId:
        """The name of the case in items and results."""
        return CaseId(self.check, self.model, self.data, str(self.level))


def expand_claim(claim: Claim, data: Iterable[str]) -> list[Claim]:
    """Return the claim itself, or for the user's own properties one claim for each property in the data."""
    own = claim.items
    if not isinstance(own, OwnProperty) or own.name:
        return [claim]
    names = dict.fromkeys(name for spec in data for name in properties_of_spec(spec, own.kind))
    return [
        replace(claim, items=replace(own, name=name), declared=replace(claim.declared, property=name)) for name in names
    ]


def check_name(function: str, claim: Claim) -> str:
    """Return the name of a check in results and baselines: its function's name without `test_`.

    The name of a check of the user's own property starts with the property.
    """
    stem = function.removeprefix("test_")
    return f"{claim.items.name}_{stem}" if isinstance(claim.items, OwnProperty) else stem


def cases_of_claim(models: Sequence[str], data: Sequence[str], function: str, claim: Claim, tested: str) -> list[Case]:
    """Return the cases of one claim: every model, data set and level.

    For the user's own property, only data sets that have it are used.
    """
    own, named = claim.items, data_labels(data)
    if isinstance(own, OwnProperty):
        named = {label: spec for label, spec in named.items() if own.name in properties_of_spec(spec, own.kind)}
    test = f"test_{check_name(function, claim)}"
    return [
        Case(test, claim, m, d, level, tested) for m in model_labels(models) for d in named for level in claim.levels
    ]


def find_name_clashes(selected: Iterable[tuple[Test, str, Case]]) -> Iterator[tuple[Test, str]]:
    """Yield (test, error message) for each test whose id in results and baselines is not unique.

    `selected` has (test, place, case) of each test.
    """
    by_id: dict[str, list[tuple[Test, str]]] = {}
    for test, place, case in selected:
        by_id.setdefault(str(case.id), []).append((test, place))
    for name, found in by_id.items():
        places = " and ".join(place for _, place in found)
        problem = (
            f"{len(found)} checks would write the results {name!r}: {places}. A check is identified by the name of "
            f"its test alone. Remedy: give each test its own name, and write variations of one check as @claim(..., "
            f"levels=(...))"
        )
        yield from ((test, problem) for test, _ in found if len(found) > 1)


TEXTS_PER_SECOND = 150  # a small encoder on two CPU cores


def estimate_work(cases: Sequence[Case], data: Mapping[str, Dataset]) -> str:
    """Estimate the items, texts and time of these cases, before anything is made or encoded."""
    models = {case.model for case in cases}
    sizes = [max(len(data[c.data].groups), 1) for c in cases]
    once = sum(2 * len(d.groups) + len(d.pairs) for d in data.values())
    once += sum(len(d.collection.documents) + len(d.collection.queries) for d in data.values() if d.collection)
    texts = once + sum(sizes) // max(len(models), 1)
    minutes = max(1, round(len(models) * texts / TEXTS_PER_SECOND / 60))
    return (
        f"{len(cases)} cases, at most {sum(sizes):,} items; about {texts:,} texts a model: about {minutes} min with a "
        f"small encoder on two CPU cores ({TEXTS_PER_SECOND} texts a second), less what the store has"
    )


@dataclass(frozen=True)
class Check:
    """A test function with a claim. `name` identifies the check in results and baselines."""

    function: CheckFunction
    claim: Claim

    @property
    def name(self) -> str:
        """The name of the function without `test_`. It starts with the property if this is the user's own."""
        return check_name(self.function.__name__, self.claim)

    @property
    def markers(self) -> set[str]:
        """The names that select the check: its property, and for the user's own property also the name for all of
        these.
        """
        declared = claim_of(self.function)
        return {self.property, *([declared.property] if declared and declared.property else ())}

    @property
    def property(self) -> str:
        """The property that the check declares, or else its first marker that is not pytest's own."""
        return tested_property(self.claim, (mark.name for mark in getattr(self.function, "pytestmark", ())))

    def cases(self, settings: Settings) -> list[Case]:
        """Return the check's cases: every model, data set and level."""
        return cases_of_claim(settings.models, settings.data, self.function.__name__, self.claim, self.property)


def packaged_checks(data: Sequence[str] = (), packages: Iterable[str] = ()) -> tuple[Check, ...]:
    """Return the checks of `encheck.checks`, then of these installed packages, in the order of their files.

    The `data` determine the checks of the user's own properties. Raise UsageError for a package whose checks cannot be
    imported, or have names that exist already.
    """
    found = (*shipped_checks(), *checks_of_packages(tuple(packages)))
    return tuple(Check(function, one) for function, claim in found for one in expand_claim(claim, data))


def load_checks_of_file(file: str | Path) -> tuple[Check, ...]:
    """Execute a user's Python file, which may import modules next to it, and return the checks in it.

    Raise UsageError if the file cannot be imported or has no check.
    """
    path = expand_home(file)
    if not path.is_file():
        raise UsageError(f"{path} does not exist, or is not a file: name a Python file with checks")
    name = f"encheck_own_checks_{zlib.crc32(str(path.resolve()).encode()):08x}_{path.stem}"
    spec = spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise UsageError(f"{path} is not a Python file: name one with checks, such as my_checks.py")
    module = sys.modules[name] = module_from_spec(spec)
    here = str(path.resolve().parent)
    sys.path.insert(0, here)
    try:
        spec.loader.exec_module(module)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # also sys.exit, and what pytest raises to skip a module
        del sys.modules[name]
        raise UsageError(f"{path} cannot be imported: {type(error).__name__}: {error}") from error
    finally:
        sys.path.remove(here)
    found = [Check(function, claim) for function in vars(module).values() if (claim := claim_of(function))]
    packaged = {(check.name, check.function.__module__) for check in packaged_checks()}  # the file may import them
    own = tuple(check for check in found if (check.name, check.function.__module__) not in packaged)
    if not own:
        raise UsageError(f"{path} has no check: a check is a function test_... under @encheck.claim")
    return own


def refuse_duplicate_names(checks: Sequence[Check]) -> None:
    """Raise UsageError if two checks have the same name, since results would mix them up."""
    for name, count in Counter(check.name for check in checks).items():
        if count > 1:
            raise UsageError(f"--own-checks: {count} checks are named test_{name}. Remedy: give each its own name")


Selection = str | Iterable[str] | None  # the type of `checks=` everywhere: see `select_checks`


def select_checks(checks: Sequence[Check], selection: Selection, names: str | None = None) -> tuple[Check, ...]:
    """Return the checks that match an expression of properties, such as "antonym or jumble", or one of several.

    `selection` is `checks=` of run, gate, comparison and training, and -m on the command line. None or "" selects
    all checks. `names` narrows the selection as -k does: each word has to be part of a check's name or property.
    `encheck run` passes -m and -k to pytest, which selects the same checks. Raise UsageError if the expression is
    invalid, a property is unknown, or nothing is selected.

    >>> names = {check.property for check in select_checks(packaged_checks(), "(antonym or jumble) and not jumble")}
    >>> names
    {'antonym'}
    """
    chosen = tuple(checks)
    if selection is not None and selection != "":
        text = selection if isinstance(selection, str) else " or ".join(selection)
        tree = _parse_expression(text, f"checks={text!r}")
        properties = sorted({name for check in checks for name in check.markers})
        for name in (node.id for node in ast.walk(tree) if isinstance(node, ast.Name)):
            if name not in properties:
                raise UsageError(f"checks={text!r}: {unknown_name_message('property', name, properties)}")
        chosen = tuple(check for check in chosen if _matches(tree.body, check.markers.__contains__))
        if not chosen:
            raise UsageError(
                f"checks={text!r} selects no check. Remedy: name a property that has checks: antonym or jumble"
            )
    if names is not None:
        tree = _parse_expression(names, f"-k {names!r}")
        words = {check: (f"test_{check.name}".lower(), check.property.lower()) for check in chosen}
        chosen = tuple(
            check
            for check in chosen
            if _matches(tree.body, lambda word, of=words[check]: any(word.lower() in name for name in of))  # type: ignore[misc]
        )
        if not chosen:
            raise UsageError(f"-k {names!r} selects no check. Remedy: a part of a check's name, such as antonym")
    return chosen


def _parse_expression(text: str, given: str) -> ast.Expression:
    """Parse the expression. Raise UsageError, starting with `given`, for anything but names, and, or, not, and
    brackets.
    """
    allowed = (ast.Expression, ast.BoolOp, ast.And, ast.Or, ast.UnaryOp, ast.Not, ast.Name, ast.Load)
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError) as error:
        tree, cause = None, error
    if tree is None or not all(isinstance(node, allowed) for node in ast.walk(tree)):
        raise UsageError(
            f"{given} cannot be read. Remedy: names with and, or, not and brackets, such as "
            f"'antonym or (number and not jumble)'"
        ) from (cause if tree is None else None)
    return tree


def _matches(node: ast.expr, is_named: Callable[[str], bool]) -> bool:
    """Return whether a check matches an expression; `is_named` says whether a name belongs to the check."""
    if isinstance(node, ast.BoolOp):
        every = all if isinstance(node.op, ast.And) else any
        return every(_matches(value, is_named) for value in node.values)
    if isinstance(node, ast.UnaryOp):
        return not _matches(node.operand, is_named)
    assert isinstance(node, ast.Name)
    return is_named(node.id)
