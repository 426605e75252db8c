"""Define the protocols of generators, both independent ones and those that edit the place of another
generator's edit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from encheck.language.english import English
from encheck.statistics.draws import Draws
from encheck.types import Group, Variant

Outcome = Variant | str
Texts = Callable[[Sequence[str]], list[str]]  # maps texts to those of a language or translation model
Survey = Callable[[English, Sequence[str]], Any]  # the things named in texts, for generators that use the data's names


class Generator(Protocol):
    """Turns a group into a variant. It is a function or a `NamedGenerator`.

    Returns a variant, a reason string, or None if there is no variant and no specific reason.
    """

    @property
    def __name__(self) -> str: ...

    def __call__(self, group: Group, *, level: int, rng: Draws, english: English) -> Outcome | None:
        """See the package docstring of generators."""
        ...


class BesideGenerator(Protocol):
    """Makes a variant at the place of a given variant, for a controlled contrast."""

    @property
    def __name__(self) -> str: ...

    def __call__(self, group: Group, *, base: Variant, level: int, rng: Draws, english: English) -> Outcome | None:
        """Return the variant at the place of `base`."""
        ...


@dataclass(frozen=True, eq=False)
class NamedGenerator:
    """A generator's function with its description for listings and reports. It can be called like the function."""

    function: Callable[..., Outcome | None]
    name: str  # seeds it
    levels: tuple[int, ...] = ()  # at which `encheck data variants` lists it
    bases: tuple[str, ...] = ()  # the generators at whose places it is listed
    label: str = ""  # in listings, if that is not the name
    title: str = ""  # in reports: a description of its variants
    readers: tuple[int, int] = (0, 0)  # numbers of its texts that blind readers found right, and that they read
    survey: Survey | None = None
    is_written: bool = False  # returns the data's own variants; another generator may have the same name
    is_experimental: bool = False

    @property
    def __name__(self) -> str:
        return self.name

    def __call__(self, group: Group, **how: Any) -> Outcome | None:
        """Return the variant of a group. The run's recipe may replace the function."""
        recipe = how["english"].recipe
        function = recipe.replacements.get(self, self.function) if recipe else self.function
        return function(group, **how)


def listed_generator(
    *levels: int, beside: tuple[str, ...] = (), title: str = "", readers: tuple[int, int] = (0, 0)
) -> Callable[[Callable[..., Outcome | None]], NamedGenerator]:
    """Mark a function so that `encheck data variants` lists it at these levels, or at the places of other
    generators.
    """
    return lambda function: NamedGenerator(
        function, function.__name__, levels=levels, bases=beside, title=title, readers=readers
    )


def as_named_generator(generator: Generator | BesideGenerator) -> NamedGenerator:
    """Return the generator with its description. A user's own function has only a name."""
    if isinstance(generator, NamedGenerator):
        return generator
    return NamedGenerator(generator, getattr(generator, "__name__", ""))


def listing_name(generator: Generator) -> str:
    """Return a generator's name in listings: "antonym", or "antonym+control" if it uses the place of another one."""
    return as_named_generator(generator).label or generator.__name__


NEEDS_PROBES = "written probes"
NEEDS_OWN_TEXT = "text of your own and --experimental"
EXPERIMENTAL_OPTION = "--experimental"


def beside(base: Generator, other: BesideGenerator) -> Generator:
    """Return a generator that makes variants at the same place as the variants of `base`.

    It has the name of `base`. The name seeds the random choices, so both generators get the same variant of `base`.
    """

    def both(group: Group, *, level: int, rng: Draws, english: English) -> Outcome | None:
        result = base(group, level=level, rng=rng, english=english)
        if not isinstance(result, Variant):
            return result
        found = other(group, base=result, level=level, rng=rng, english=english)
        return found or f"no {other.__name__.replace('_', ' ')}"

    return NamedGenerator(both, base.__name__, label=f"{base.__name__}+{other.__name__}")
