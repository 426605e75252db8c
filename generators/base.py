"""What a generator is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar

from encheck.language.english import English
from encheck.statistics.draws import Draws
from encheck.types import Group, Variant

Outcome = Variant | str
Function = TypeVar("Function", bound=Callable[..., Any])
Texts = Callable[[Sequence[str]], list[str]]  # a text for each: what a language or translation model writes


class Generator(Protocol):
    """Return a variant, a reason string, or None if there is no variant and no specific reason."""

    __name__: str

    def __call__(self, group: Group, *, level: int, rng: Draws, english: English) -> Outcome | None:
        """See the package docstring of generators."""
        ...


class BesideGenerator(Protocol):
    """Makes a variant at the place of another one, for a controlled contrast."""

    __name__: str

    def __call__(self, group: Group, *, base: Variant, level: int, rng: Draws, english: English) -> Outcome | None:
        """The variant at the place of `base`."""
        ...


def listed(*levels: int) -> Callable[[Function], Function]:
    """Have `encheck data variants` list a generator at these levels."""

    def mark(generator: Function) -> Function:
        generator.levels = levels  # type: ignore[attr-defined]
        return generator

    return mark


def listed_beside(*bases: str) -> Callable[[Function], Function]:
    """Have `encheck data variants` list a generator at the places of these others, by their names."""

    def mark(generator: Function) -> Function:
        generator.bases = bases  # type: ignore[attr-defined]
        return generator

    return mark


def seeded_as(name: str) -> Callable[[Function], Function]:
    """Give generators that belong together the same randomness: that of this name."""

    def mark(generator: Function) -> Function:
        generator.seeded_as = name  # type: ignore[attr-defined]
        return generator

    return mark


def name_of(generator: Generator) -> str:
    """What listings call a generator: "antonym", or "antonym+control" for one beside another."""
    return getattr(generator, "label", generator.__name__)
