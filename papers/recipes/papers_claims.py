"""What the papers say that comparisons of two figures can show: how often it holds there, and with our figures.

A claim is a list of pairs, the first of which should be the greater one: "row | column", or a number. `*` is each model
or data set of the axis `along` in turn. A pair counts where both of its figures are there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass
from fnmatch import fnmatchcase
from typing import Any, Protocol

from papers_ours import Figure, Ours
from papers_published import GAIN, Cell

EACH = "*"


@dataclass(frozen=True)
class Held:
    """How many of `pairs` come out as said; of `judged`, which have intervals, `clear` do with intervals apart."""

    holds: int = 0
    pairs: int = 0
    clear: int = 0
    judged: int = 0

    def __add__(self, other: Held) -> Held:
        """Both together."""
        numbers = zip(astuple(self), astuple(other), strict=True)
        return Held(*(mine + theirs for mine, theirs in numbers))


class Side(Protocol):
    """The figures of one side of a table."""

    def labels(self, axis: str) -> Sequence[str]:
        """The rows or columns of its own."""

    def figure(self, row: str, column: str) -> Figure | None:
        """The figure there."""


@dataclass(frozen=True)
class Theirs:
    """The printed numbers of a table."""

    cells: Sequence[Cell]

    def labels(self, axis: str) -> list[str]:
        """The printed rows or columns."""
        names = (cell.row if axis == "rows" else cell.column for cell in self.cells)
        return [name for name in dict.fromkeys(names) if not name.endswith(GAIN)]

    def figure(self, row: str, column: str) -> Figure | None:
        """The number there, without an interval."""
        for cell in self.cells:
            if (cell.row, cell.column) == (row, column):
                return Figure(cell.table, row, column, cell.value)
        return None


@dataclass(frozen=True)
class Beside:
    """Our figures on a table."""

    ours: Ours
    theirs: Theirs

    def labels(self, axis: str) -> list[str]:
        """The rows or columns that are not the paper's."""
        names = (row if axis == "rows" else column for row, column in self.ours.figures)
        printed = {*self.theirs.labels(axis)}
        return [name for name in dict.fromkeys(names) if name not in printed]

    def figure(self, row: str, column: str) -> Figure | None:
        """The figure there, under its own names or those that it stands for."""
        return self.ours.of(row, column)


def held(claim: Mapping[str, Any], side: Side) -> Held:
    """How often a claim holds on one side."""
    found = [_pair(first, second) for first, second in _compared(claim, side)]
    return sum(found, Held())


def _compared(claim: Mapping[str, Any], side: Side) -> Iterator[tuple[Figure, Figure]]:
    """The pairs of figures that are both there."""
    axis = claim.get("along", "rows")
    for pair in claim["than"]:
        each = any(EACH in str(address).split(" | ") for address in pair)
        excepted = claim.get("except", ())
        names = [n for n in side.labels(axis) if not any(fnmatchcase(n, e) for e in excepted)] if each else [""]
        for name in names:
            first, second = (_at(address, name, side, claim.get("scale", 1)) for address in pair)
            if first is not None and second is not None:
                yield first, second


def _at(address: str | float, name: str, side: Side, scale: float) -> Figure | None:
    if not isinstance(address, str):
        return Figure("", "", "", address / scale, address / scale, address / scale)
    row, column = (name if part == EACH else part for part in address.split(" | "))
    return side.figure(row, column)


def _pair(first: Figure, second: Figure) -> Held:
    holds = int(first.value > second.value)
    if first.low is None or second.high is None:
        return Held(holds, 1)
    return Held(holds, 1, int(first.low > second.high), 1)
