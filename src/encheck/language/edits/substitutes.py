"""Which word can stand for which: synonyms and antonyms that hold in nearly every sentence, with their conditions.

The table was written word by word over the lexicon's relations (docs/generators.md). The lexicon has a say in how
common a word is, and which sense the two have together.
"""

from __future__ import annotations

from collections.abc import Iterator, Set
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import NamedTuple

from encheck.language.edits.conditions import Condition
from encheck.language.edits.expressions import Expressions
from encheck.language.edits.fit import needs
from encheck.language.edits.inflection import formed
from encheck.language.edits.places import POS_OF_TAG
from encheck.language.edits.table import rows
from encheck.language.lexicon.protocol import Lexicon, Pos
from encheck.language.words import STOP_WORDS

SYNONYM, ANTONYM = "s", "a"  # relations
MIN_ZIPF = 3.0  # once in a million words
LIGHT = frozenset("be come do get give go have keep let make put take".split())  # verbs that say little by themselves
COMPANY = ("obj=", "noun=", "head=", "next=", "prev=")
ALL = frozenset("nvar")  # parts of speech
LAST = "last"  # the flag of one that is taken only where a sentence has no better one


@dataclass(frozen=True, slots=True)
class Substitute:
    """A lemma that can stand for another one, under its flags (see `conditions`); `origin` says who holds so."""

    lemma: str
    relation: str
    flags: frozenset[str] = frozenset()
    origin: str = "table"
    is_last: bool = field(init=False, repr=False, compare=False)  # taken only where a sentence has no better one

    def __post_init__(self) -> None:
        object.__setattr__(self, "is_last", LAST in self.flags)


Key = tuple[str, str]


class Option(NamedTuple):
    """A substitute, what it asks of its place (see `Asked`), and its form where the word is in lower case.

    `in_expressions` says whether it names its company, and so was judged for what a lexicon has as an expression ("earn
    money").
    """

    substitute: Substitute
    refused: int
    conditions: tuple[Condition, ...]
    form: str | None
    in_expressions: bool
    pos: Pos


Options = tuple[Option, ...]  # the best first


@cache
def table() -> dict[Key, tuple[Substitute, ...]]:
    """(part of speech, lemma) -> substitutes, the best first."""
    found: dict[Key, list[Substitute]] = {}
    for row in rows():
        found.setdefault((row.pos, row.lemma), []).append(Substitute(row.other, row.relation, row.flags))
    return {key: tuple(known) for key, known in found.items()}


@dataclass
class Substitutes:
    """The table, with the words that the lexicon finds common enough, and what the lexicon says of a pair."""

    lexicon: Lexicon
    _known: dict[tuple[str, str, str], tuple[Substitute, ...]] = field(default_factory=dict)
    _by_key: dict[tuple[str, Set[str]], ByKey] = field(default_factory=dict)
    _opposed: dict[tuple[str, str], frozenset[str]] = field(default_factory=dict)
    _alike: dict[tuple[str, str], frozenset[str]] = field(default_factory=dict)
    _why: dict[tuple[str, Pos, str, str, frozenset[str]], str] = field(default_factory=dict)

    def of(self, lemma: str, pos: Pos, relation: str) -> tuple[Substitute, ...]:
        """Substitutes of this relation, the best first."""
        key = (lemma, pos, relation)
        if key not in self._known:
            self._known[key] = tuple(self._find(lemma, pos, relation))
        return self._known[key]

    def why(self, lemma: str, pos: Pos, substitute: Substitute) -> str:
        """What a certificate says of one that stands for the lemma: who holds so, in which sense, under which flags."""
        key = (lemma, pos, substitute.lemma, substitute.relation, substitute.flags)
        if key not in self._why:
            sense = self._sense(lemma, pos, substitute)
            said = (substitute.origin, f"sense {sense}" * bool(sense), ",".join(sorted(substitute.flags)))
            self._why[key] = ", ".join(filter(None, said))
        return self._why[key]

    def opposed(self, lemma: str, pos: Pos) -> frozenset[str]:
        """The word, its opposites under any condition, and their synonyms."""
        if (lemma, pos) not in self._opposed:
            direct = [s.lemma for s in self.of(lemma, pos, ANTONYM)]
            same = (s.lemma for other in direct for s in self.of(other, pos, SYNONYM))
            self._opposed[lemma, pos] = frozenset((lemma, *direct, *same))
        return self._opposed[lemma, pos]

    def alike(self, lemma: str, pos: Pos) -> frozenset[str]:
        """The synonyms of the word under any condition."""
        if (lemma, pos) not in self._alike:
            self._alike[lemma, pos] = frozenset(s.lemma for s in self.of(lemma, pos, SYNONYM))
        return self._alike[lemma, pos]

    @cached_property
    def expressions(self) -> Expressions:
        """Expressions of two and three words that the lexicon knows as one."""
        return Expressions(self.lexicon)

    def at(self, relation: str, only: Set[str] = ALL) -> ByKey:
        """A look-up of a key of `Places`, of these parts of speech: its options."""
        key = (relation, only)
        if key not in self._by_key:
            self._by_key[key] = ByKey(self, relation, only)
        return self._by_key[key]

    def _find(self, lemma: str, pos: Pos, relation: str) -> Iterator[Substitute]:
        judged = table().get((pos, lemma), ())
        if judged and self._plain(lemma, pos):
            yield from (s for s in judged if s.relation == relation and self._plain(s.lemma, pos))

    def _sense(self, lemma: str, pos: Pos, substitute: Substitute) -> int:
        """The number of the lexicon's first sense that has both, from 1; 0 where none has."""
        if substitute.relation not in (SYNONYM, ANTONYM):
            return 0
        for number, sense in enumerate(self.lexicon.senses(lemma, pos), 1):
            opposites = (a.lemma for a in self.lexicon.antonyms(lemma, pos, sense))
            if substitute.lemma in (sense.lemmas if substitute.relation == SYNONYM else opposites):
                return number
        return 0

    def _plain(self, lemma: str, pos: Pos) -> bool:
        """No stop word, no light verb, and no rare one; the lexicon does not count adverbs and what it lacks."""
        if lemma in STOP_WORDS or (pos == "v" and lemma in LIGHT):
            return False
        return pos == "r" or self.lexicon.frequency(lemma, pos) >= MIN_ZIPF


class ByKey(dict[str, Options]):
    """Tag and lemma ("NNS house") -> options of one relation, filled as it is asked."""

    def __init__(self, substitutes: Substitutes, relation: str, only: Set[str]) -> None:
        super().__init__()
        self.substitutes, self.relation, self.only = substitutes, relation, only

    def __missing__(self, key: str) -> Options:
        tag, _, lemma = key.partition(" ")
        pos = POS_OF_TAG[tag]
        known = pos in self.only and (pos, lemma) in table()
        found = self.substitutes.of(lemma, pos, self.relation) if known else ()
        self[key] = tuple([_option(s, pos, tag) for s in found])
        return self[key]


def _option(substitute: Substitute, pos: Pos, tag: str) -> Option:
    has_company = any(flag.startswith(COMPANY) for flag in substitute.flags)
    form = formed(substitute.lemma, tag, like="word")
    return Option(substitute, *needs(pos, substitute.flags), form, has_company, pos)
