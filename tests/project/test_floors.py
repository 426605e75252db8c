"""The lowest versions that encheck declares are met by what pip resolved here. Nothing is said of advisories."""

import tomllib
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

PROJECT = tomllib.loads((Path(__file__).resolve().parents[2] / "pyproject.toml").read_text("utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"].values()
DECLARED = sorted({line for lines in (PROJECT["dependencies"], *EXTRAS) for line in lines if "encheck[" not in line})
FLOORS = {"nltk": "3.9.3", "filelock": "3.20.3", "sentencepiece": "0.2.1", "ray": "2.52"}


def installed(name):
    try:
        return version(name)
    except PackageNotFoundError:
        pytest.skip(f"{name} is not installed")


@pytest.mark.parametrize("line", DECLARED)
def test_what_is_installed_meets_the_floor_that_is_declared(line):
    requirement = Requirement(line)
    if requirement.marker and not requirement.marker.evaluate():
        pytest.skip(f"not for this machine: {requirement.marker}")
    assert requirement.specifier.contains(installed(requirement.name), prereleases=True), line


@pytest.mark.parametrize(("name", "floor"), FLOORS.items())
def test_no_version_below_these_is_allowed(name, floor):
    lines = [Requirement(line) for line in DECLARED]
    (declared,) = [one for one in lines if canonicalize_name(one.name) == name]
    (lowest,) = [Version(one.version) for one in declared.specifier if one.operator == ">="]
    assert lowest >= Version(floor)
    assert Version(installed(name)) >= lowest
