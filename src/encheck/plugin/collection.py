"""From collected tests to cases: which tests are checks of which property."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable, Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from encheck.claims import CONTRACT, Claim, claim_of, properties_in, sentence_of

if TYPE_CHECKING:
    from encheck.running.case import Case

PYTEST_MARKERS = {"parametrize", "usefixtures", "skip", "skipif", "xfail", "filterwarnings"}


def claim_at(item: pytest.Item) -> Claim | None:
    """The claim of a collected test, or None if it is no check."""
    return claim_of(getattr(item, "function", None))


def checks_among(items: Iterable[pytest.Item]) -> list[pytest.Item]:
    """The collected tests that are checks."""
    return [item for item in items if claim_at(item)]


def take_contracts(items: list[pytest.Item]) -> list[pytest.Item]:
    """Remove the checks of contracts, which a gate runs whatever -m and -k select, and return them."""
    found = [item for item in items if (claim := claim_at(item)) and claim.family == CONTRACT]
    items[:] = [item for item in items if item not in found]
    return found


def give_back_contracts(config: pytest.Config, items: list[pytest.Item], contracts: list[pytest.Item]) -> None:
    """Run the contracts of each model and data set of which a check was selected; the others are deselected."""
    measured = {(case.model, case.data) for case in map(case_of, checks_among(items))}
    kept = [item for item in contracts if (case_of(item).model, case_of(item).data) in measured]
    items += kept
    if left := [item for item in contracts if item not in kept]:
        config.hook.pytest_deselected(items=left)


def leave_out_reported(config: pytest.Config, items: list[pytest.Item], with_lines: Collection[str]) -> None:
    """Deselect the checks that a gate only reports, unless nothing else is selected.

    Contracts stay, and so do checks `with_lines` of the user's own, and searches, whose answers are weighed.
    """
    from encheck.gating.declared import is_weighed

    checks = checks_among(items)
    cases = {item: case_of(item) for item in checks}
    reported = [i for i, case in cases.items() if not is_weighed(case.claim.declared) and case.check not in with_lines]
    if reported and len(reported) < len(checks):
        items[:] = [item for item in items if item not in reported]
        config.hook.pytest_deselected(items=reported)


def existing_cases(option: Any, collected: Iterable[pytest.Item]) -> dict[str, Case]:
    """Every case of the checks that ship and of those that pytest `collected`, by name (check/data/level)."""
    found = [*_shipped_cases(option), *map(case_of, collected)]
    return {case.id.of_any_model: case for case in found}


def _shipped_cases(option: Any) -> Iterator[Case]:
    """The cases of the checks that ship, also of files that pytest was not asked to collect."""
    from encheck.engine.cases import cases

    for path in _shipped_files():
        for name, function in vars(import_module(f"encheck.checks.{path.stem}")).items():
            if name.startswith("test_") and (claim := claim_of(function)):
                marks = (mark.name for mark in getattr(function, "pytestmark", ()))
                yield from cases(option, name, claim, claim.property or _tested(marks))


def case_of(item: pytest.Item) -> Case:
    """The case that a check's test stands for."""
    case: Case = item.callspec.params["encheck_case"]  # type: ignore[attr-defined]
    return case


def register_markers(config: pytest.Config) -> None:
    """Register the property of every check as a marker; read from the files, so that nothing is imported."""
    for name, sentence in properties_in(_check_files(config)).items():
        config.addinivalue_line("markers", f"{name}: {sentence}")


def _check_files(config: pytest.Config) -> Iterator[Path]:
    """The files of encheck's own checks; for --markers also those that pytest would look for checks in."""
    yield from _shipped_files()
    if config.option.markers:
        for place in (config.invocation_params.dir / place.partition("::")[0] for place in config.args):
            yield from sorted(place.rglob("test_*.py")) if place.is_dir() else [place]


def _shipped_files() -> Iterator[Path]:
    """The files of encheck's own checks."""
    found = find_spec("encheck.checks")
    for folder in (found.submodule_search_locations if found else None) or ():
        yield from sorted(Path(folder).glob("test_*.py"))


def mark(item: pytest.Item) -> None:
    """Give a check the marker of its property, and register it where no file of encheck's does."""
    claim = claim_at(item)
    if claim and claim.property and item.get_closest_marker(claim.property) is None:
        known = {line.partition(":")[0].strip() for line in item.config.getini("markers")}
        if claim.property not in known:
            sentence = sentence_of(sys.modules[item.function.__module__].__doc__)  # type: ignore[attr-defined]
            item.config.addinivalue_line("markers", f"{claim.property}: {sentence}")
        item.add_marker(claim.property)


def parametrize(metafunc: pytest.Metafunc) -> None:
    """Make one case of each model x data x level of a check; nothing is loaded or looked at yet."""
    claim = claim_of(metafunc.function)
    if claim is None:
        return
    from encheck.engine.cases import cases

    name = metafunc.definition.originalname or metafunc.function.__name__
    found = cases(metafunc.config.option, name, claim, _marker(metafunc.definition))
    metafunc.parametrize("encheck_case", found, ids=[case.name for case in found], indirect=True)


def _marker(definition: pytest.Item) -> str:
    """What the check tests: the property that it declares, else its nearest marker that is not pytest's."""
    claim = claim_at(definition)
    if claim and claim.property:
        return claim.property
    return _tested(mark.name for mark in definition.iter_markers())


def _tested(markers: Iterable[str]) -> str:
    return next((name for name in markers if name not in PYTEST_MARKERS), "unmarked")


def claims_offered(checks: Iterable[pytest.Item]) -> dict[str, Claim]:
    """The claim of each collected check, by its name."""
    return {case.check: case.claim for case in map(case_of, checks)}
