"""Which word can stand for which: synonyms and antonyms that hold in nearly every sentence, with their conditions.

The table (substitutes.tsv) was written for this project, word by word, over the lexicon's relations
(docs/generators.md). The lexicon has a say in how common a word is, and which sense the two have together.
"""

from __future__ import annotations

from collections.abc import Iterator, Set
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path

from encheck.language.conditions import Asked
from encheck.language.fit import POS_OF_TAG, Expressions, expressions, needs
from encheck.language.lexicon import Lexicon, Pos
from encheck.language.words import STOP_WORDS
from encheck.types import content_hash

TABLE = Path(__file__).parent / "substitutes.tsv"
SYNONYM, ANTONYM, NONE = "s", "a", "-"  # relations; no conditions
KNOWN = 3.0  # Zipf: once in a million words
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

    @property
    def is_last(self) -> bool:
        """Whether it is taken only where a sentence has no better one."""
        return LAST in self.flags

    @property
    def in_expressions(self) -> bool:
        """Whether it names its company, and so was judged for what a lexicon has as an expression ("earn money")."""
        return any(flag.startswith(COMPANY) for flag in self.flags)


Key = tuple[str, str]
Options = tuple[tuple[Substitute, Asked], ...]  # the best first, each with what it asks of its place


@cache
def table() -> dict[Key, tuple[Substitute, ...]]:
    """(part of speech, lemma) -> substitutes, the best first."""
    found: dict[Key, list[Substitute]] = {}
    for line in TABLE.read_text("utf-8").splitlines():
        if line and not line.startswith("#"):
            pos, lemma, relation, other, flags = line.split("\t")
            asked = frozenset() if flags == NONE else frozenset(flags.split(","))
            found.setdefault((pos, lemma), []).append(Substitute(other, relation, asked))
    return {key: tuple(known) for key, known in found.items()}


def table_hash() -> str:
    """Stands for the table in what is recorded of a run."""
    return content_hash(TABLE.read_text("utf-8"))


@dataclass
class Substitutes:
    """The table, and the lexicon for words that are not in it."""

    lexicon: Lexicon
    _known: dict[tuple[str, str, str], tuple[Substitute, ...]] = field(default_factory=dict)
    _by_lemma: dict[tuple[str, Set[str]], ByLemma] = field(default_factory=dict)
    _opposed: dict[tuple[str, str], frozenset[str]] = field(default_factory=dict)
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

    @cached_property
    def expressions(self) -> Expressions:
        """Expressions of two and three words that the lexicon knows as one."""
        return expressions(self.lexicon)

    def at(self, relation: str, only: Set[str] = ALL) -> ByLemma:
        """A look-up of a lemma: tag -> part of speech (one of these) and options, or None where there are none."""
        key = (relation, only)
        if key not in self._by_lemma:
            self._by_lemma[key] = ByLemma(self, relation, only)
        return self._by_lemma[key]

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
        return pos == "r" or self.lexicon.frequency(lemma, pos) >= KNOWN


class ByLemma(dict[str, "dict[str, tuple[Pos, Options]] | None"]):
    """Lemma -> Penn tag -> part of speech and options of one relation, or None; filled as it is asked."""

    def __init__(self, substitutes: Substitutes, relation: str, only: Set[str]) -> None:
        super().__init__()
        self.substitutes, self.relation, self.only = substitutes, relation, only

    def __missing__(self, lemma: str) -> dict[str, tuple[Pos, Options]] | None:
        self[lemma] = dict(self._options(lemma.lower())) or None
        return self[lemma]

    def _options(self, lemma: str) -> Iterator[tuple[str, tuple[Pos, Options]]]:
        for tag, pos in POS_OF_TAG.items():
            known = pos in self.only and (pos, lemma) in table()
            if known and (found := self.substitutes.of(lemma, pos, self.relation)):
                yield tag, (pos, tuple((substitute, needs(pos, substitute.flags)) for substitute in found))
