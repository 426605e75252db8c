"""Run one generator at the place of another's edit."""

from __future__ import annotations

from encheck.generators.base import BesideGenerator, Generator, NamedGenerator, Outcome
from encheck.language.english import English
from encheck.statistics.draws import Draws
from encheck.types import Group, Variant


def beside(base: Generator, other: BesideGenerator) -> Generator:
    """A generator of variants at the very place where `base` puts its own.

    It bears the name of `base`: randomness is seeded by the name, so that both meet the same variant.
    """

    def both(group: Group, *, level: int, rng: Draws, english: English) -> Outcome | None:
        found = base(group, level=level, rng=rng, english=english)
        if not isinstance(found, Variant):
            return found
        return other(group, base=found, level=level, rng=rng, english=english) or f"no {other.__name__}"

    return NamedGenerator(both, base.__name__, label=f"{base.__name__}+{other.__name__}")
