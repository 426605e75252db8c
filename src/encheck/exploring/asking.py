"""Asking the model, and what it costs: texts, and seconds."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from encheck.exploring.material import Item

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

    def search_ends(self, number: int, of: int, *, used: int) -> tuple[float, float]:
        """Texts in all, and seconds, by which search `number` of so many has to be over; they share half of both."""
        endless = float("inf")
        texts = endless if self.texts is None else used + max(SHARE * self.texts - used, 0) / (of - number + 1)
        seconds = (
            endless
            if self.seconds is None
            else self.spent + max(SHARE * self.seconds - self.spent, 0) / (of - number + 1)
        )
        return texts, seconds


@dataclass
class Meter:
    """Asks for the margins of items, and counts the distinct texts that were asked for and the time that it took."""

    ask: Ask
    budget: Budget
    asked: set[str] = field(default_factory=set)
    seconds: float = 0.0

    def margins(self, items: Sequence[Item]) -> list[float]:
        """sim(source, near) - sim(source, far) of each item, all in one call."""
        if not items:
            return []
        start = self.budget.clock()
        values = list(self.ask([pair for item in items for pair in item.triplet.pairs]))
        self.seconds += self.budget.clock() - start
        self.asked |= {text for item in items for text in item.own_texts}
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
        """Texts a second so far."""
        return len(self.asked) / self.seconds if self.seconds > 0 else float("inf")

    @property
    def left(self) -> float:
        """How many more texts the budget has room for, at the speed so far."""
        texts = float("inf") if self.budget.texts is None else self.budget.texts - len(self.asked)
        if self.budget.seconds is None or not self.seconds:
            return texts
        return min(texts, (self.budget.seconds - self.budget.spent) * self.speed)
