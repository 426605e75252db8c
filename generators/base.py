"""What a generator is, and one generator at the place of another."""

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
    """Makes a variant of a group's sentence, or says why there is none (None: nothing more is to be said)."""

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
    """Have `encheck variants` list a generator at these levels."""

    def mark(generator: Function) -> Function:
        generator.levels = levels  # type: ignore[attr-defined]
        return generator

    return mark


def listed_beside(*bases: str) -> Callable[[Function], Function]:
    """Have `encheck variants` list a generator at the places of these others, by their names."""

    def mark(generator: Function) -> Function:
        generator.bases = bases  # type: ignore[attr-defined]
        return generator

    return mark


def beside(base: Generator, other: BesideGenerator) -> Generator:
    """A generator of variants at the very place where `base` puts its own.

    It bears the name of `base`: randomness is seeded by the name, so that both meet the same variant.
    """

    def both(group: Group, *, level: int, rng: Draws, english: English) -> Outcome | None:
        found = base(group, level=level, rng=rng, english=english)
        if not isinstance(found, Variant):
            return found
        return other(group, base=found, level=level, rng=rng, english=english) or f"no {other.__name__}"

    both.__name__ = base.__name__
    both.label = f"{base.__name__}+{other.__name__}"  # type: ignore[attr-defined]
    return both


def name_of(generator: Generator) -> str:
    """What lock files and listings call a generator: "antonym", or "antonym+control" for one beside another."""
    return getattr(generator, "label", generator.__name__)
