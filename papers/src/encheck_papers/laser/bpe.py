"""Byte-pair encoding as fastBPE applies it: LASER1's codes and vocabulary (Sennrich, Haddow and Birch 2016).

subword-nmt does the same for files with two columns; fastBPE's files have a third column, the count.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

END, JOINED = "</w>", "@@"  # of a word's last piece, and of every other one
Pair = tuple[str, str]


@dataclass(frozen=True)
class Bpe:
    """Split words into pieces: apply the merges in order, then split again each piece that is not in `known`."""

    ranks: Mapping[Pair, int]
    known: Collection[str]

    @classmethod
    def read(cls, codes: Sequence[str], vocabulary: Sequence[str]) -> Bpe:
        """Make it from the lines of a codes file ("left right count") and of a vocabulary file ("piece count").

        ValueError for an invalid line.
        """
        ranks: dict[Pair, int] = {}
        for number, line in enumerate(codes, 1):
            parts = line.split(" ")
            if len(parts) not in (2, 3):
                raise ValueError(f"line {number} is {line!r:.60}, but should be two pieces and a count")
            ranks.setdefault((parts[0], parts[1]), len(ranks))
        return cls(ranks, frozenset(line.rpartition(" ")[0] for line in vocabulary))

    @cached_property
    def _halves(self) -> Mapping[str, Pair]:
        return {first + second: (first, second) for first, second in self.ranks}

    def pieces(self, word: str) -> list[str]:
        """The pieces of one word; all but the last end in "@@".

        >>> bpe = Bpe.read(["l o 3", "lo w</w> 2", "e r</w> 2"], ["low 2", "lo@@ 1", "w@@ 1", "e@@ 1", "r 1"])
        >>> bpe.pieces("low"), bpe.pieces("lower")
        (['low'], ['lo@@', 'w@@', 'e@@', 'r'])
        """
        symbols = [*word[:-1], word[-1] + END]
        while len(symbols) > 1 and (best := min(pairwise(symbols), key=self._rank)) in self.ranks:
            symbols = _merged(symbols, best)
        split = [piece for symbol in symbols for piece in self._taken_apart(symbol)]
        return [piece.removesuffix(END) if piece.endswith(END) else piece + JOINED for piece in split]

    def _rank(self, pair: Pair) -> int:
        return self.ranks.get(pair, len(self.ranks))

    def _taken_apart(self, symbol: str) -> list[str]:
        """The symbol where the vocabulary has it or nothing was merged, else its halves, and so on."""
        written = symbol.removesuffix(END) if symbol.endswith(END) else symbol + JOINED
        if written in self.known or symbol not in self._halves:
            return [symbol]
        return [piece for half in self._halves[symbol] for piece in self._taken_apart(half)]


def _merged(symbols: Sequence[str], pair: Pair) -> list[str]:
    """The symbols with each occurrence of the pair as one, from the left."""
    found: list[str] = []
    for symbol in symbols:
        if found and (found[-1], symbol) == pair:
            found[-1] += symbol
        else:
            found.append(symbol)
    return found
