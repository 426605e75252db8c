"""From collected tests to cases: which tests are checks of which property."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from encheck.claims import Claim, claim_of, properties_in, sentence_of, tested

if TYPE_CHECKING:
    from encheck.running.case import Case


def claim_at(item: pytest.Item) -> Claim | None:
    """The claim of a collected test, or None if it is no check."""
    return claim_of(getattr(item, "function", None))


def checks_among(items: Iterable[pytest.Item]) -> list[pytest.Item]:
    """The collected tests that are checks."""
    return [item for item in items if claim_at(item)]


def existing_cases(option: Any, collected: Iterable[pytest.Item]) -> dict[str, Case]:
    """Every case of the checks that ship and of those that pytest `collected`, by name (check/data/level)."""
    from encheck.engine.cases import cases
    from encheck.engine.checks import packaged_checks

    shipped = (
        case
        for check in packaged_checks()
        for case in cases(option, check.function.__name__, check.claim, check.property)
    )
    return {case.id.of_any_model: case for case in (*shipped, *map(case_of, collected))}


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
    about = tested(claim, (mark.name for mark in metafunc.definition.iter_markers()))
    found = cases(metafunc.config.option, name, claim, about)
    metafunc.parametrize("encheck_case", found, ids=[case.name for case in found], indirect=True)


def claims_offered(checks: Iterable[pytest.Item]) -> dict[str, Claim]:
    """The claim of each collected check, by its name."""
    return {case.check: case.claim for case in map(case_of, checks)}
