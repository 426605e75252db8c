"""Texts that break careless software: no test of meaning, but of whether a model gives numbers at all."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from encheck.errors import UsageError
from encheck.strategies.patience import register

CONTROLS = [*map(chr, range(32)), *map(chr, range(0x7F, 0xA0))]
SURROGATES = ("\ud800", "\udbff", "\udc00", "\udfff", "\udc00\ud800")
UNSEEN = ("\u200b", "\u200c", "\u200d", "\u2060", "\ufeff", "\u00ad", "\u034f", "\u180e", "\U000e0061")
TURNING = ("\u202e", "\u202d", "\u2066", "\u2067", "\u2068", "\u2069", "\u200f", "\u061c")
RIGHT_TO_LEFT = ("שלום", "سلام", "زبان", "ܫܠܡܐ")
STACKED = ("e" + "\u0301" * 40, "\u0f7c" * 20, "n" + "\u0303\u0330" * 20)
JOINED = ("👩‍👩‍👧", "🏳️‍🌈", "👍🏽", "🇪🇺", "\U0010ffff", "\ufffe", "ﷺ", "İ", "ß")
MARKS = ("[CLS]", "[MASK]", "<s>", "</s>", "<pad>", "<|endoftext|>", "%s", "{0}", "\\x00", "<b>", "'; --")
BLANKS = ("", " ", "\n", "\t", "\u00a0", "\u2028", "\u3000", "\r\n")
MOST = 100_000


def hostile_texts(*, max_size: int = MOST) -> st.SearchStrategy[str]:
    """Control characters, halves of surrogate pairs, right-to-left and invisible marks, nothing, and very much.

    They shrink towards the empty text and short ones. None is longer than `max_size` characters.

    Raises:
        UsageError: max_size is below 1.
    """
    if max_size < 1:
        raise UsageError(f"hostile_texts(max_size={max_size}) leaves no text, but should be 1 or more")
    register()
    return st.one_of(_shorter(max_size), _long(max_size))


def _shorter(max_size: int) -> st.SearchStrategy[str]:
    return st.one_of(st.sampled_from(BLANKS), _mixed(), st.text()).map(lambda text: text[:max_size])


def _mixed() -> st.SearchStrategy[str]:
    """A few plain words among pieces that are none."""
    pieces = (*CONTROLS, *SURROGATES, *UNSEEN, *TURNING, *RIGHT_TO_LEFT, *STACKED, *JOINED, *MARKS, *BLANKS)
    part = st.one_of(st.sampled_from(["the dog", "a", "Don't", "1.5"]), st.sampled_from(pieces))
    return st.lists(part, min_size=1, max_size=6).map("".join)


def _long(max_size: int) -> st.SearchStrategy[str]:
    """One piece again and again: a long word, many words, or many marks."""
    units = ("a", "the dog ", "é", "\u0301", "\u200b", "犬", "👩‍👩‍👧", "\ud800", "\x00", "\n", ".", "1,000 ")
    sizes = sorted({min(size, max_size) for size in (1, 10, 100, 513, 1_000, 10_000, max_size)})
    return st.builds(repeated, st.sampled_from(units), st.sampled_from(sizes))


class Repeated(str):
    """A text whose description is short: a failing example of 100,000 characters takes one line."""

    unit: str
    __slots__ = ("unit",)

    def __repr__(self) -> str:
        return f"repeated({self.unit!r}, {len(self)})"

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:  # noqa: ARG002 - hypothesis calls it so
        printer.text(repr(self))


def repeated(unit: str, size: int) -> str:
    """The unit again and again, cut to this many characters.

    >>> repeated("ab", 5), str(repeated("ab", 5))
    (repeated('ab', 5), 'ababa')
    """
    text = Repeated((unit * -(-size // len(unit)))[:size])
    text.unit = unit
    return text
