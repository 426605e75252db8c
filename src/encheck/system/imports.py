"""Imports by name: the user's own code, the entry points of installed packages, and nltk without its extra packages.

Through entry points, installed packages add adapters, data sets, commands, checks and generator recipes. An entry point
is `NAME = module` or `NAME = module:object` in one of the five groups. A package is imported only when its name is
requested. Only installed packages count. The working folder is ignored, although `python -m encheck` could import from
it.
"""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from importlib.metadata import Distribution, EntryPoint, PackageNotFoundError, entry_points, version
from pathlib import Path
from types import ModuleType
from typing import Any

from encheck.errors import UsageError

OBJECT_PATH = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")
REMEDY = "Remedy: write it module:name, and run in the folder of module.py, or where Python can import it"
MACHINE_LEARNING = ("sklearn", "scipy.stats")  # what nltk imports for its extra `machine_learning`, if installed


def import_object(path: str) -> Any:
    """Return the object of this name. Raise whatever the import raises."""
    module, _, name = path.partition(":")
    here = str(Path.cwd())
    sys.path.insert(0, here)
    try:
        return getattr(importlib.import_module(module), name)
    finally:
        sys.path.remove(here)
        if not {"", here} & set(sys.path):  # for what the module imports later
            sys.path.append(here)


def import_nltk() -> ModuleType:
    """Import nltk as it is without its extra `machine_learning`, and return it.

    If scikit-learn and scipy.stats are installed, nltk imports them for classifiers and tests that encheck does not
    use. Without them, its import takes 0.4 s instead of 1.3 s, and a third of the memory. Modules that the process has
    already imported stay as they are.
    """
    if "nltk" not in sys.modules:  # None marks a missing module
        absent = [name for name in MACHINE_LEARNING if name not in sys.modules]
        sys.modules.update(dict.fromkeys(absent))  # type: ignore[arg-type]
        try:
            importlib.import_module("nltk")
        finally:
            for name in absent:
                del sys.modules[name]
    return importlib.import_module("nltk")


ADAPTERS, DATA, COMMANDS, CHECKS, GENERATORS = (
    f"encheck.{name}" for name in ("adapters", "data", "commands", "checks", "generators")
)
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")


def entry_points_of(group: str, ours: Collection[str] = ()) -> dict[str, EntryPoint]:
    """Return the entry points of a group, by name, without importing them.

    Raise UsageError for a name in `ours`, a name that two packages declare, and a name that no option accepts.
    """
    points: dict[str, EntryPoint] = {}
    for point in _installed(group):
        if NAME.fullmatch(point.name) and point.name not in ours and point.name not in points:
            points[point.name] = point
            continue
        problem = "but a name has only letters, digits, '.', '_' and '-'"
        if NAME.fullmatch(point.name):
            other = f"the package {package_of(points[point.name])}" if point.name in points else "encheck itself"
            problem = f"which {other} has"
        raise UsageError(
            f"the package {package_of(point)} declares the name {point.name!r} in {group}, {problem}. "
            "Remedy: uninstall it, or ask its author for another name"
        )
    return points


@cache
def _installed(group: str) -> tuple[EntryPoint, ...]:
    here = Path.cwd()
    folders = ((point, point.dist.locate_file("")) for point in entry_points(group=group) if point.dist)
    points = (point for point, folder in folders if Path(str(folder)).resolve() != here)
    return tuple(sorted(points, key=lambda point: (point.name, package_of(point))))


def package_of(point: EntryPoint) -> str:
    """Return the name and the version of the package that declares an entry point."""
    assert point.dist
    return _name_and_version(point.dist)


@cache
def _name_and_version(package: Distribution) -> str:
    """Parse the package's metadata only once a process."""
    return f"{package.name} {package.version}"


def versions_of(group: str, names: Iterable[str]) -> dict[str, str]:
    """Return the versions of the packages that declare these names. Undeclared names are left out."""
    points = entry_points_of(group)
    packages = (points[name].dist for name in names if name in points)
    return {package.name: package.version for package in packages if package}


def load_entry_point(point: EntryPoint) -> Any:
    """Return the module or object of an entry point. Raise UsageError, which names the package, if that fails."""
    with import_errors(point):
        return point.load()


@cache
def installed_versions(names: tuple[str, ...]) -> dict[str, str]:
    """Return the versions of those of these packages that are installed, without importing them."""
    found = {}
    for name in names:
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    return found


@contextmanager
def import_errors(point: EntryPoint) -> Iterator[None]:
    """Turn any error while the package is imported into a UsageError that names the package."""
    try:
        yield
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # also sys.exit, and what pytest raises to skip a module
        raise UsageError(
            f"the package {package_of(point)} cannot be imported: {point.value}: {type(error).__name__}: {error}. "
            "Remedy: install it again, or uninstall it"
        ) from error
