"""A number that a query and a document both say, and another number in both: a contrast of a search.

The document says it in another notation than the query: no word that tells the two numbers apart in the query does so
in the document. Which document a query is nearer to then goes by the number alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from encheck.generators.number import edits_for, said_as
from encheck.language.numbers.mention import Mention, Spot, Value, Write
from encheck.language.numbers.mentions import mentions
from encheck.language.numbers.values import NEAR
from encheck.language.parse import Parse
from encheck.statistics.draws import Draws
from encheck.surface import tokens
from encheck.types import apply_edits

NAME = "shared_number"
COUNTED = frozenset({"cardinal", "decimal"})  # what they count has to be the same, too
NONE = "the query and the document share no number that can be written in another notation"


class Shared(NamedTuple):
    """The query with either number, in its own notation, and the document with either, in another one."""

    queries: tuple[str, str]
    documents: tuple[str, str]


def shared_number(query: Parse, document: Parse, *, seed: int) -> Shared | str:
    """One number of both, with a near one in its place; or why there is none.

    A number is of both where kind and value are the same, and of a count the word behind it.
    """
    asked, said = mentions(query), mentions(document)
    if isinstance(asked, str):
        return f"{asked} in the query"
    if isinstance(said, str):
        return f"{said} in the document"
    rng = Draws(seed, NAME, f"{query.text}\n{document.text}")
    found = list(_pairs(query, asked, document, said))
    return rng.choice(found) if found else NONE


def _pairs(query: Parse, asked: tuple[Mention, ...], document: Parse, said: tuple[Mention, ...]) -> Iterator[Shared]:
    for one in asked:
        for other in said:
            if _is_same(query, one, document, other):
                yield from _contrasts(query.text, one, document.text, other)


def _is_same(query: Parse, one: Mention, document: Parse, other: Mention) -> bool:
    if (one.kind, one.value) != (other.kind, other.value):
        return False
    return one.kind not in COUNTED or _counted(query, one) == _counted(document, other)


def _counted(parse: Parse, one: Mention) -> str:
    return Spot(parse, one.start, one.end).next().removesuffix("s")


def _contrasts(query: str, one: Mention, document: str, other: Mention) -> Iterator[Shared]:
    """Of each near value that both can say, in each notation of the document in which no word gives it away."""
    for write in (other.own, *(form.write for form in other.forms)):
        for value in one.beside(NEAR):
            asked, said = ([said_as(way, v) for v in (one.value, value)] for way in (one.own, write))
            if all(asked) and all(said) and not _telling(asked) & _telling(said):
                yield Shared(_both(query, one, one.own, value), _both(document, other, write, value))


def _telling(both: list[str | None]) -> set[str]:
    """The words by which two numbers in one notation differ."""
    first, second = (set(tokens(text or "")) for text in both)
    return first ^ second


def _both(text: str, one: Mention, write: Write, value: Value) -> tuple[str, str]:
    """The text with its own value in this notation, then with the other one."""
    first, second = (apply_edits(text, edits_for(text, one, write(v))) for v in (one.value, value))
    return first, second
