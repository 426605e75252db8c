"""Asking the model, and what it costs: texts, and seconds."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from encheck.operations.explore.material import Item

Ask = Callable[[Sequence[tuple[str, str]]], Sequence[float]]
Clock = Callable[[], float]
DECIMALS = 6
SHARE = 0.5  # of the budget that the search may use up; the rest is for confirming


@dataclass
class Budget:
    """How many texts the model may be asked for, and when it has to be done; None is no bound."""

    texts: int | None = None
    seconds: float | None = None
    clock: Clock = time.monotonic
    began: float = field(init=False)

    def __post_init__(self) -> None:
        self.began = self.clock()

    @property
    def spent(self) -> float:
        """Seconds since the beginning."""
        return self.clock() - self.began

    def search_ends(self, searches_left: int, *, used: int, since: float) -> tuple[float, float]:
        """Texts in all, and seconds, by which the next of so many searches has to be over.

        They share half of the texts, and half of the time that was left when the first began, `since` seconds.
        """
        texts = seconds = float("inf")
        if self.texts is not None:
            texts = used + max(SHARE * self.texts - used, 0) / searches_left
        if self.seconds is not None:
            end = since + SHARE * (self.seconds - since)
            seconds = self.spent + max(end - self.spent, 0) / searches_left
        return texts, seconds


@dataclass
class Meter:
    """Asks for the margins of items, and counts the distinct texts that were asked for and the time that it took."""

    ask: Ask
    budget: Budget
    asked: set[str] = field(default_factory=set)
    seconds: float = 0.0
    _first: tuple[int, float] = (0, 0.0)  # texts and seconds of the first call, which may load the model

    def margins(self, items: Sequence[Item]) -> list[float]:
        """sim(source, near) - sim(source, far) of each item, all in one call."""
        if not items:
            return []
        self.asked |= {text for item in items for text in item.own_texts}
        start = self.budget.clock()
        values = list(self.ask([pair for item in items for pair in item.triplet.pairs]))
        self.seconds += self.budget.clock() - start
        if self._first == (0, 0.0):
            self._first = len(self.asked), self.seconds
        return [round(float(a) - float(b), DECIMALS) for a, b in zip(values[::2], values[1::2], strict=True)]

    def new(self, items: Sequence[Item]) -> int:
        """How many texts of these have not been asked for."""
        return len({text for item in items for text in item.own_texts} - self.asked)

    def affordable(self, items: Sequence[Item], limit: float) -> list[Item]:
        """The first of these for which no more than `limit` texts in all will have been asked for."""
        texts, found = set(self.asked), list[Item]()
        for item in items:
            texts.update(item.own_texts)
            if len(texts) > limit:
                break
            found.append(item)
        return found

    @property
    def speed(self) -> float:
        """Texts a second so far, without the first call where there are others."""
        texts, seconds = len(self.asked) - self._first[0], self.seconds - self._first[1]
        if not texts:
            texts, seconds = len(self.asked), self.seconds
        return texts / seconds if seconds > 0 else float("inf")

    @property
    def left(self) -> float:
        """How many more texts the budget has room for, at the speed so far."""
        texts = float("inf") if self.budget.texts is None else self.budget.texts - len(self.asked)
        if self.budget.seconds is None or not self.seconds:
            return texts
        return min(texts, (self.budget.seconds - self.budget.spent) * self.speed)
