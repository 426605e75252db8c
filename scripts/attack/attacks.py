"""What an attack is, and the list of them.

A try is made from its seed alone, in an empty folder of its own. It survives where it returns; what it raises is a
failure, and so is what takes too long, takes too much memory, or runs what came with the input.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
FAMILIES = {name: name for name in ("kills", "disks", "models", "servers", "commands")} | {
    "mutations": "mutated"
}  # their modules
SECONDS = 10.0  # that a try in this process may take; what it imports is imported before
MEGABYTES = 2_048  # that a try may add to the largest size that the process had

Work = Callable[[int, random.Random, Path], object]


class Failed(Exception):  # noqa: N818 - the verdict on a try
    """What should not be."""


@dataclass(frozen=True, slots=True)
class Attack:
    """One way to attack. `default` and `full` are its tries in either size.

    `work` gets the seed, the random generator made from it, and the folder. `ready` comes before the first try: it
    imports, and makes what all tries copy. `seconds` is what a try may take.
    """

    family: str
    name: str
    work: Work
    default: int
    full: int
    ready: Callable[[], object] | None = None
    seconds: float = SECONDS

    @property
    def id(self) -> str:
        return f"{self.family}.{self.name}"

    def random(self, seed: int) -> random.Random:
        """The generator of one try."""
        return random.Random(f"{self.id}/{seed}")


ATTACKS: dict[str, Attack] = {}


def add(made: Attack) -> None:
    """Put an attack on the list."""
    if made.id in ATTACKS:
        raise ValueError(f"two attacks are called {made.id}")
    ATTACKS[made.id] = made


def attack(family: str, *, default: int, full: int, **more: Any) -> Callable[[Work], Work]:
    """Put a function on the list, under its name."""

    def register(work: Work) -> Work:
        add(Attack(family, work.__name__.replace("_", "-"), work, default, full, **more))
        return work

    return register


def add_cases(
    family: str, name: str, cases: Iterable[Callable[[Path], object]], *, default: int | None = None, **more: Any
) -> None:
    """An attack whose seed is the number of a case, of which a small default takes some from all over the list."""
    listed = list(cases)
    count = len(listed) if default is None else min(default, len(listed))

    def work(seed: int, rng: random.Random, folder: Path) -> object:
        return listed[seed % len(listed)](folder)

    add(Attack(family, name, work, count, len(listed), **more))


def seeds_of(made: Attack, size: str) -> list[int]:
    """The seeds of a size: those of the default lie evenly among those of the full one."""
    count = made.default if size == "default" else made.full
    return [i * made.full // count for i in range(count)]


def load_all() -> dict[str, Attack]:
    """Every attack by its name. From here on the tests' helpers can be imported."""
    tests = ROOT / "tests"
    sys.path.extend(
        str(path) for path in (tests, ROOT / "papers/tests", *sorted(p for p in tests.iterdir() if p.is_dir()))
    )
    for module in FAMILIES.values():
        import_module(module)
    return ATTACKS
