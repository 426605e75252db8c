"""From collected tests to cases: which tests are checks of which property."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from inspect import isfunction
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from encheck.claims import Claim, claim_of, properties_in, sentence_of, tested
from encheck.options import data_of, models_of
from encheck.system import entry_points

if TYPE_CHECKING:
    from encheck.options import Settings
    from encheck.running.case import Case


def makes_no_case(config: pytest.Config, function: object) -> bool:
    """Whether this is a check of properties of the user's own, and the data of the run have none for it."""
    claim = claim_of(function) if isfunction(function) else None
    if claim is None:
        return False
    from encheck.engine.cases import claims_on

    return not claims_on(claim, data_of(config.option))


def refuse_wrong_properties(config: pytest.Config) -> None:
    """DataError for a property that is none, before a check is made of it."""
    if config.option.encheck_data:
        from encheck.datasets.load import properties_of

        for spec in data_of(config.option):
            properties_of(spec)


def claim_at(item: pytest.Item) -> Claim | None:
    """The claim of a collected test, or None if it is no check."""
    return claim_of(getattr(item, "function", None))


def checks_among(items: Iterable[pytest.Item]) -> list[pytest.Item]:
    """The collected tests that are checks."""
    return [item for item in items if claim_at(item)]


def existing_cases(settings: Settings, collected: Iterable[pytest.Item]) -> dict[str, Case]:
    """Every case of the checks that ship, of those of packages, and of those that pytest `collected`.

    By name: check/data/level.
    """
    from encheck.engine.checks import packaged_checks

    packaged = packaged_checks(settings.data, settings.check_packages)
    shipped = (case for check in packaged for case in check.cases(settings))
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
    """The files of encheck's checks; for --markers also those of packages, and those that pytest would look into."""
    yield from _files_of("encheck.checks")
    if config.option.markers:
        for point in entry_points.entry_points_of(entry_points.CHECKS).values():
            with entry_points.import_errors(point):  # find_spec imports the packages above a module
                files = [*_files_of(point.module)]
            yield from files
        for place in (config.invocation_params.dir / place.partition("::")[0] for place in config.args):
            yield from sorted(place.rglob("test_*.py")) if place.is_dir() else [place]


def _files_of(module: str) -> Iterator[Path]:
    """The files of checks that a module is or, as a package, has; it is not imported."""
    found = find_spec(module)
    folders = (found.submodule_search_locations if found else None) or ()
    if found and found.origin and not folders:
        yield Path(found.origin)
    for folder in folders:
        yield from sorted(Path(folder).glob("test_*.py"))


def mark(item: pytest.Item) -> None:
    """Give a check the marker of its property, and register it where no file of encheck's does.

    A check of a property of the user's own has the marker of all such properties too.
    """
    claim = claim_at(item)
    for name in dict.fromkeys((claim.property, case_of(item).claim.property)) if claim else ():
        if name and item.get_closest_marker(name) is None:
            known = {line.partition(":")[0].strip() for line in item.config.getini("markers")}
            if name not in known:
                sentence = sentence_of(sys.modules[item.function.__module__].__doc__)  # type: ignore[attr-defined]
                item.config.addinivalue_line("markers", f"{name}: {sentence}")
            item.add_marker(name)


def parametrize(metafunc: pytest.Metafunc) -> None:
    """Make one case of each model x data x level of a check; nothing is loaded or looked at yet."""
    claim = claim_of(metafunc.function)
    if claim is None:
        return
    from encheck.engine.cases import cases, claims_on

    name = metafunc.definition.originalname or metafunc.function.__name__
    marks = [mark.name for mark in metafunc.definition.iter_markers()]
    models, data = models_of(metafunc.config.option), data_of(metafunc.config.option)
    claims = claims_on(claim, data)
    found = [case for one in claims for case in cases(models, data, name, one, tested(one, marks))]
    ids = [case.name if case.claim is claim else f"{case.name}-{case.property}" for case in found]
    metafunc.parametrize("encheck_case", found, ids=ids, indirect=True)


def claims_offered(checks: Iterable[pytest.Item]) -> dict[str, Claim]:
    """The claim of each collected check, by its name."""
    return {case.check: case.claim for case in map(case_of, checks)}
