"""From collected tests to cases: which tests are checks of which property."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from encheck.claims import CONTRACT, Claim, claim_of, properties_in, sentence_of

if TYPE_CHECKING:
    from encheck.running.case import Case

RETRIEVAL = "retrieval"  # the family
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


def leave_out_reported(config: pytest.Config, items: list[pytest.Item], with_lines: Collection[str]) -> list[str]:
    """Deselect the checks that a gate only reports, and return their names; none where nothing else is selected.

    Contracts stay, and so do checks `with_lines` of the user's own, and searches, whose answers are weighed.
    """
    reported = [item for item in checks_among(items) if _is_reported(item, with_lines)]
    if len(reported) == len(checks_among(items)):
        return []
    items[:] = [item for item in items if item not in reported]
    if reported:
        config.hook.pytest_deselected(items=reported)
    return sorted({case_of(item).check for item in reported})


def _is_reported(item: pytest.Item, with_lines: Collection[str]) -> bool:
    claim, check = claim_at(item), case_of(item).check
    is_spared = claim is None or claim.family in (CONTRACT, RETRIEVAL) or check in with_lines
    return not is_spared and claim is not None and bool(claim.declared.reported)


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
    found = find_spec("encheck.checks")
    folders = [Path(folder) for folder in (found.submodule_search_locations if found else None) or ()]
    if config.option.markers:
        folders += [config.invocation_params.dir / place.partition("::")[0] for place in config.args]
    for folder in folders:
        yield from sorted(folder.rglob("test_*.py")) if folder.is_dir() else [folder]


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
    from encheck.controller.cases import cases

    name = metafunc.definition.originalname or metafunc.function.__name__
    found = cases(metafunc.config.option, name, claim, _marker(metafunc.definition))
    metafunc.parametrize("encheck_case", found, ids=[case.name for case in found], indirect=True)


def _marker(definition: pytest.Item) -> str:
    """What the check tests: the property that it declares, else its nearest marker that is not pytest's."""
    claim = claim_at(definition)
    if claim and claim.property:
        return claim.property
    return next((m.name for m in definition.iter_markers() if m.name not in PYTEST_MARKERS), "unmarked")


def claims_offered(checks: Iterable[pytest.Item]) -> dict[str, Claim]:
    """The claim of each collected check, by its name."""
    return {case.check: case.claim for case in map(case_of, checks)}
