"""Turn collected tests into cases: find checks, their properties, and the tests that need a model."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from importlib.util import find_spec
from inspect import isfunction
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from encheck.claims import Claim, claim_of, first_sentence, read_declared_properties, tested_property
from encheck.options import chosen_models, data_specs_with_property
from encheck.system import imports

if TYPE_CHECKING:
    from encheck.engine.checks import Case

FIXTURE, MODEL = "encoder", "encheck_model"


def parametrize_encoder(metafunc: pytest.Metafunc) -> None:
    """Run a test that uses the model once per model."""
    if MODEL in metafunc.fixturenames and len(models := chosen_models(metafunc.config.option)) > 1:
        metafunc.parametrize(MODEL, models, indirect=True, scope="session")


def lift_deadline_of_model_test(item: pytest.Item) -> None:
    """Lift hypothesis's deadline from a test that uses the model, so that a slow model does not fail it."""
    if MODEL in getattr(item, "fixturenames", ()) and getattr(item.obj, "is_hypothesis_test", False):  # type: ignore[attr-defined]
        from encheck.strategies import lift_deadline

        lift_deadline(item.obj)  # type: ignore[attr-defined]


def model_name(request: pytest.FixtureRequest) -> str:
    """Return the model of this test."""
    given: str = getattr(request, "param", "")
    return given or chosen_models(request.config.option)[0]


def lacks_own_properties(config: pytest.Config, function: object) -> bool:
    """Return whether this is a check of the user's own properties although the run's data have none."""
    claim = claim_of(function) if isfunction(function) else None
    if claim is None:
        return False
    from encheck.engine.checks import expand_claim

    return not expand_claim(claim, data_specs_with_property(config.option))


def refuse_wrong_properties(config: pytest.Config) -> None:
    """Raise DataError for an invalid property, before a check is made for that property."""
    if config.option.encheck_data:
        from encheck.datasets.load import properties_of_spec

        for spec in data_specs_with_property(config.option):
            properties_of_spec(spec)


def claim_at(item: pytest.Item) -> Claim | None:
    """Return the claim of a collected test, or None if it is not a check."""
    return claim_of(getattr(item, "function", None))


def checks_among(items: Iterable[pytest.Item]) -> list[pytest.Item]:
    """Return the collected tests that are checks."""
    return [item for item in items if claim_at(item)]


def case_of(item: pytest.Item) -> Case:
    """Return the case of a check's test."""
    case: Case = item.callspec.params["encheck_case"]  # type: ignore[attr-defined]
    return case


def register_markers(config: pytest.Config) -> None:
    """Register the property of every check as a marker, read from the files without importing them.

    For --markers, include packages and the files that pytest would collect.
    """
    files = [*_check_files_of("encheck.checks")]
    if config.option.markers:
        for point in imports.entry_points_of(imports.CHECKS).values():
            with imports.import_errors(point):  # find_spec imports the parent packages of a module
                files += _check_files_of(point.module)
        for place in (config.invocation_params.dir / place.partition("::")[0] for place in config.args):
            files += sorted(place.rglob("test_*.py")) if place.is_dir() else [place]
    for name, sentence in read_declared_properties(files).items():
        config.addinivalue_line("markers", f"{name}: {sentence}")


def _check_files_of(module: str) -> list[Path]:
    """Return the files of checks of a module or package, without importing it."""
    spec = find_spec(module)
    folders = (spec.submodule_search_locations if spec else None) or ()
    if spec and spec.origin and not folders:
        return [Path(spec.origin)]
    return [file for folder in folders for file in sorted(Path(folder).glob("test_*.py"))]


def add_property_marker(item: pytest.Item) -> None:
    """Give a check the marker of its property, and register it unless a file of encheck does.

    A check of the user's own property also has the marker of all such properties.
    """
    claim = claim_at(item)
    for name in dict.fromkeys((claim.property, case_of(item).claim.property)) if claim else ():
        if name and item.get_closest_marker(name) is None:
            known = {line.partition(":")[0].strip() for line in item.config.getini("markers")}
            if name not in known:
                sentence = first_sentence(sys.modules[item.function.__module__].__doc__)  # type: ignore[attr-defined]
                item.config.addinivalue_line("markers", f"{name}: {sentence}")
            item.add_marker(name)


def parametrize_check(metafunc: pytest.Metafunc) -> None:
    """Make one case of each model x data x level of a check, without loading anything."""
    claim = claim_of(metafunc.function)
    if claim is None:
        return
    from encheck.engine.checks import cases_of_claim, expand_claim
    from encheck.engine.judgement import message_never_judged

    name = metafunc.definition.originalname or metafunc.function.__name__
    if "encheck_case" not in metafunc.fixturenames:
        pytest.fail(message_never_judged(name), pytrace=False)
    marks = [mark.name for mark in metafunc.definition.iter_markers()]
    models, data = chosen_models(metafunc.config.option), data_specs_with_property(metafunc.config.option)
    claims = expand_claim(claim, data)
    found = [case for one in claims for case in cases_of_claim(models, data, name, one, tested_property(one, marks))]
    ids = [case.name if case.claim is claim else f"{case.name}-{case.property}" for case in found]
    metafunc.parametrize("encheck_case", found, ids=ids, indirect=True)
