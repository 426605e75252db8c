"""Frames of the fresh probes, filled by choices that are kept, so that one of them can be made again.

It is hypothesis's idea of a choice sequence: an example is the list of choices that made it, and a neighbour is the
same list with one choice drawn anew.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random

from encheck.datasets import fresh
from encheck.datasets.fresh import Frame
from encheck.types import Group

TRIES = 60  # most choices change another text, or none


class Choices(Random):
    """Random numbers of which the first are given; `made` has all that were used."""

    def __init__(self, seed: object, given: Sequence[float] = ()) -> None:
        super().__init__(str(seed))
        self._given, self.made = given, list[float]()

    def random(self) -> float:
        """The next one that is given, a new one after the last."""
        at = len(self.made)
        self.made.append(self._given[at] if at < len(self._given) else super().random())
        return self.made[-1]


@dataclass(frozen=True, slots=True)
class Filling:
    """A frame, whether its clause stands alone, and the choices that made the group."""

    frame: Frame
    is_alone: bool
    choices: tuple[float, ...]
    group: Group


def fillings(name: str, *, seed: int, draws: int) -> Iterator[Filling]:
    """Of each frame of a property up to `draws` fillings, half of them of its clause alone if it can be."""
    for frame in fresh.frames():
        if frame.phenomenon == name:
            forms = [(False, frame), *((True, alone) for alone in [fresh.clause_alone(frame)] if alone)]
            for i in range(draws):
                is_alone, form = forms[i % len(forms)]
                if found := _filled(frame, form, is_alone, (seed, frame.id, i), ()):
                    yield found


def filled_again(filling: Filling, *, seed: tuple[int, ...]) -> Filling | None:
    """The frame with one of its choices drawn anew; None where that gives no other group."""
    form = fresh.clause_alone(filling.frame) if filling.is_alone else filling.frame
    rng = Random(f"{seed}/{filling.frame.id}/{filling.choices}")  # noqa: S311 - no secret
    for i in range(TRIES):
        choices = list(filling.choices)
        choices[rng.randrange(len(choices))] = rng.random()
        found = _filled(filling.frame, form or filling.frame, filling.is_alone, (*seed, i), choices)
        if found and found.group.source != filling.group.source:
            return found
    return None


def _filled(
    frame: Frame, form: Frame, is_alone: bool, seed: tuple[object, ...], given: Sequence[float]
) -> Filling | None:
    choices = Choices(seed, given)
    group = fresh.filled(form, choices)
    return Filling(frame, is_alone, tuple(choices.made), group) if group else None
