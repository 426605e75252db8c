"""Making variants: every generator's randomness seeded, texts parsed and tagged in batches, each variant made once."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import Any, Protocol, cast

from encheck.language.english import English, Waiting
from encheck.lock import Lock
from encheck.types import Group, Variant, content_hash

CHUNK = 1_000
ROUNDS = 50
Outcome = Variant | str
Texts = Callable[[Sequence[str]], list[str]]  # a text for each: what a language or translation model writes


class Generator(Protocol):
    """Makes a variant of a group's sentence, or says why there is none (None: nothing more is to be said)."""

    __name__: str

    def __call__(self, group: Group, *, level: int, rng: random.Random, english: English) -> Outcome | None:
        """See the package docstring of generators."""
        ...


class BesideGenerator(Protocol):
    """Makes a variant at the place of another one, for a controlled contrast."""

    __name__: str

    def __call__(
        self, group: Group, *, base: Variant, level: int, rng: random.Random, english: English
    ) -> Outcome | None:
        """The variant at the place of `base`."""
        ...


def beside(base: Generator, other: BesideGenerator) -> Generator:
    """A generator of variants at the very place where `base` puts its own.

    It bears the name of `base`: randomness is seeded by the name, so that both meet the same variant.
    """

    def both(group: Group, *, level: int, rng: random.Random, english: English) -> Outcome | None:
        found = base(group, level=level, rng=rng, english=english)
        if not isinstance(found, Variant):
            return found
        return other(group, base=found, level=level, rng=rng, english=english) or f"no {other.__name__}"

    both.__name__ = base.__name__
    both.label = f"{base.__name__}+{other.__name__}"  # type: ignore[attr-defined]
    return both


@dataclass
class Maker:
    """Makes variants for one seed, with the language resources of a run; remembers what it has made."""

    seed: int = 0
    english: English = field(default_factory=English)
    lock: Lock | None = None
    continuations: Texts | None = None
    surprisal: Callable[[Sequence[str]], Iterable[float]] | None = None
    translations: Texts | None = None
    _made: dict[tuple[Generator, int, str, str], Outcome] = field(default_factory=dict)

    def variants(self, groups: Sequence[Group], generator: Generator, *, level: int = 1) -> list[Outcome]:
        """The variant of each group, or the reason why it has none."""
        keys = [(generator, level, group.id, group.source) for group in groups]
        missing = [(k, g) for k, g in zip(keys, groups, strict=True) if k not in self._made]
        made = self._make([g for _, g in missing], generator, level)
        self._made.update(zip((k for k, _ in missing), made, strict=True))
        return [self._made[k] for k in keys]

    def stream(
        self, groups: Iterable[Group], generator: Generator, *, level: int = 1
    ) -> Iterator[tuple[Group, Outcome]]:
        """(group, variant or reason), one after the other, in little memory: nothing is remembered."""
        rest = iter(groups)
        while chunk := list(islice(rest, CHUNK)):
            yield from zip(chunk, self._make(chunk, generator, level), strict=True)
            self.english.forget()

    def _make(self, groups: Sequence[Group], generator: Generator, level: int) -> list[Outcome]:
        """Run the generator on all; those that wait for parses or tags again, once a batch of these is there."""
        made: dict[int, Outcome] = {}
        waiting = list(range(len(groups)))
        for _ in range(ROUNDS):
            still = []
            for i in waiting:
                try:
                    made[i] = make(groups[i], generator, level=level, seed=self.seed, english=self.english)
                except Waiting:
                    still.append(i)
            if not still:
                return self._held([made[i] for i in range(len(groups))], groups, generator, level)
            self.english.fetch()
            waiting = still
        raise RuntimeError(f"{generator.__name__} still waits after {ROUNDS} rounds, first for {groups[still[0]].id}")

    def _held(self, made: list[Outcome], groups: Sequence[Group], generator: Generator, level: int) -> list[Outcome]:
        """The same, held to the lock file where there is one; what was written by hand is not locked."""
        if self.lock is not None:
            ours = [i for i, group in enumerate(groups) if not group.variants]
            sources = [groups[i].source for i in ours]
            name = name_of(generator)
            self.lock.check(sources, name, level, [made[i] for i in ours], now=self.english.describe())
        return made


def name_of(generator: Generator) -> str:
    """What lock files and listings call a generator: "antonym", or "antonym+control" for one beside another."""
    return getattr(generator, "label", generator.__name__)


class _Late:
    """A `Random` that is seeded when something is drawn: most sentences draw nothing, and seeding takes its time."""

    def __init__(self, *seed: object) -> None:
        self._seed = seed

    @cached_property
    def _rng(self) -> random.Random:
        seed, generator, source = self._seed
        return random.Random(f"{seed}/{generator}/{content_hash(str(source))}")  # noqa: S311 - no secret

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._rng, name)


def make(group: Group, generator: Generator, *, level: int, seed: int, english: English) -> Outcome:
    """One variant; its randomness is seeded from (seed, generator, sentence): no other sentence changes it."""
    rng = cast(random.Random, _Late(seed, generator.__name__, group.source))
    found = generator(group, level=level, rng=rng, english=english)
    if found is None:
        return f"no {generator.__name__}" + (f" of {level} words" if level > 1 else "")
    if isinstance(found, Variant) and found.text == group.source:
        return f"{generator.__name__} equals its source"
    return found
