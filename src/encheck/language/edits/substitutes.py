"""Which word can stand for which, and where: synonyms and antonyms that hold in nearly every sentence.

The table (substitutes.tsv) was written word by word over the lexicon's relations (docs/method/generators.md). The
lexicon has a say in how common a word is, and which sense the two have together.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import pairwise
from pathlib import Path
from sys import intern
from typing import NamedTuple, cast

from encheck.language.edits.conditions import Condition, requirements
from encheck.language.edits.inflection import formed, is_form_of
from encheck.language.lexicon.protocol import Lexicon, Pos
from encheck.language.parse import Parse, first_word, mask
from encheck.language.prose import left_spans, quotes_code
from encheck.language.words import STOP_WORDS
from encheck.system.memory import without_collection
from encheck.types import content_hash

TABLE = Path(__file__).parent / "substitutes.tsv"
NONE = "-"  # no conditions


class TableRow(NamedTuple):
    """A lemma, another one that can stand for it by this relation, and the conditions of that."""

    pos: Pos
    lemma: str
    relation: str
    other: str
    flags: frozenset[str]


@cache
def rows() -> tuple[TableRow, ...]:
    """All rows; of those for the same word, the best first."""
    lines = (line.split("\t") for line in TABLE.read_text("utf-8").splitlines() if line and not line.startswith("#"))
    return tuple(
        TableRow(cast("Pos", pos), lemma, relation, other, frozenset(flags.split(",")) - {NONE})
        for pos, lemma, relation, other, flags in lines
    )


@cache
def lemmas(pos: Pos) -> frozenset[str]:
    """The lemmas of a part of speech that have a row."""
    return frozenset(row.lemma for row in rows() if row.pos == pos)


def table_hash() -> str:
    """Stands for the table in what is recorded of a run."""
    return content_hash(TABLE.read_text("utf-8"))


POS_OF_TAG: Mapping[str, Pos] = {
    **dict.fromkeys(("VB", "VBD", "VBG", "VBN", "VBP", "VBZ"), "v"),
    **dict.fromkeys(("NN", "NNS"), "n"),
    **dict.fromkeys(("JJ", "JJR", "JJS"), "a"),
    **dict.fromkeys(("RB", "RBR", "RBS", "IN", "DT", "PDT"), "r"),
}
AGREE = {"v": {"VERB"}, "n": {"NOUN"}, "a": {"ADJ"}, "r": {"ADV", "ADP", "SCONJ", "DET", "PART"}}
PART_OF_NAME = {"flat", "fixed", "goeswith", "foreign", "list", "appos", "compound", "dep"}
NOMINAL = {"nsubj", "obj", "iobj", "obl", "nmod"}  # "the faithful", "faced with cold"
EXTENDING = mask("compound:prt", "fixed", "flat", "goeswith")  # a particle, or a further word of a name
DESCRIBED = mask("cop", "advmod")
SUBJECTS, SUBJECT_PRONOUNS = frozenset("NN NNP PRP WP WDT".split()), frozenset("PRP WP WDT".split())
FINITE = frozenset("VBD VBZ VBP MD".split())
# Nouns whose plural is also a form of the verb, as far as the table has them.
VERBAL = frozenset(
    """aim answer attack attempt battle benefit call cause change charge claim comment concern cost cover damage demand
    design desire display drink effort end estimate exam fear fight film fix form gain guess harm hate help hire hope
    impact increase issue joke jump label laugh limit link look love mark move need object offer order pass pay picture
    place plan plant play post praise present price produce profit program progress project promise protest purchase
    question raise rank rate reach reason record report request rest result return reward risk rule sale screen search
    share shop sign smell sort sound stop store study support surprise talk task taste test threat tie tour trade
    travel trip trouble try use value view visit vote wage walk want warn watch way wish work worry wound""".split()
)
# Words that are technical terms beside code.
TERMS = frozenset(
    """answer argument array attribute block branch bug build call case catch change character check class clean client
    clone close command comment commit compile condition create crash cursor delete destroy display end error event
    exception execute expression fail field file find fix flag folder form format function get handle hash host image
    import index initial input insert issue item iterate job key kill language launch legal length library line link
    list load lock log loop map mark match merge message method mock mode model module name node null object open
    operation option order output package page parameter parent part parse path pattern place point pool port post
    print private problem process produce program property protect public publish pull push query question queue quit
    raise range read record reference register release remove render repair repeat reply report request require reset
    resolve resource response result return reveal root row rule run safe save schema scope screen script search secret
    section select send sequence server service session set shell show sign size solve sort source stack start state
    statement static stop store stream string structure submit support switch symbol table tag task test text thread
    throw title token tool trace transaction tree trigger try type unit update upload use user value variable vector
    version view wait warning web window word work wrap write""".split()
)
PAST = {"VBD": "VBN", "VBN": "VBD"}
ENDINGS = {"VBZ": "s", "VBG": "ing"}
JOINERS = "-\u2010\u2011\u2013/'’@#_"


class Places(NamedTuple):
    """The tokens that may be replaced by words of the table, each with tag and lemma as its key ("NNS house").

    `capital` are those of them that begin with a capital letter, `staying` the keys of words that are in the table and
    have to stay.
    """

    at: tuple[int, ...]
    keys: tuple[str, ...]
    capital: tuple[int, ...]
    staying: tuple[str, ...]


def places_of(parse: Parse) -> Places:
    """Which tokens may be replaced, worked out once for each parse."""
    if parse.derived is None:
        object.__setattr__(parse, "derived", places(parse))
    result: Places = parse.derived
    return result


def places(parse: Parse) -> Places:
    """Which tokens may be replaced.

    A word has to stay where tagger and parser disagree on what it is, or its ending is not what its tag says, in names
    and fixed expressions, as a phrasal verb or a part of one, joined to its neighbour, in capitals or mixed case, as
    an adjective in the place of a noun, as a noun where a verb is wanted, in addresses and code, and, where the text
    names code, as a technical term.
    """
    at: list[int] = []
    keys: list[str] = []
    staying: list[str] = []
    known, left = _known_lemmas(), left_spans(parse.text)
    quotes = quotes_code(parse.text)
    for i, (tag, lemma) in enumerate(zip(parse.tags, parse.lower_lemmas, strict=True)):
        if tag in known and lemma in known[tag]:
            key = intern(f"{tag} {lemma}")
            if (
                _is_plain(parse, i)
                and not (quotes and lemma in TERMS)
                and not any(parse.starts[i] < end and start < parse.ends[i] for start, end in left)
            ):
                at.append(i)
                keys.append(key)
            else:
                staying.append(key)
    capital = [i for i in at if parse.words[i] is not parse.lowers[i]]
    return Places(tuple(at), tuple(keys), tuple(capital), tuple(staying))


@cache
def _known_lemmas() -> Mapping[str, frozenset[str]]:
    """Tag -> the lemmas that the table has."""
    return {tag: lemmas(pos) for tag, pos in POS_OF_TAG.items()}


def _is_plain(parse: Parse, at: int) -> bool:
    """Whether it is written as a word among others, in the form of its tag, and stands as one."""
    tag, word, below, base = parse.tags[at], parse.words[at], parse.below[at], parse.bases[at]
    pos = POS_OF_TAG[tag]
    if parse.pos[at] not in AGREE[pos] or parse.entities[at]:
        return False
    if not word.isalpha() or base in PART_OF_NAME or below & EXTENDING:
        return False
    if not (word.islower() or (word.istitle() and at == first_word(parse, at))):
        return False
    if not has_form(parse.lowers[at], parse.lower_lemmas[at], tag) or _joined(parse, at):
        return False
    if pos == "n" and _may_be_verb(parse, at):
        return False
    if word is not parse.lowers[at] and _may_be_name(parse, at):
        return False
    return not (pos == "a" and base in NOMINAL and not below & DESCRIBED)


def _may_be_verb(parse: Parse, at: int) -> bool:
    """Whether a plural noun stands where the verb would: "She worries about it", "The nurse drinks coffee"."""
    if parse.tags[at] != "NNS" or at == 0 or parse.tags[at - 1] not in SUBJECTS:
        return False
    if not parse.lowers[at].endswith("s") or parse.lower_lemmas[at] not in VERBAL:
        return False
    pronoun = parse.tags[at - 1] in SUBJECT_PRONOUNS
    return pronoun or not any(tag in FINITE for i, tag in enumerate(parse.tags) if i != at)


def _may_be_name(parse: Parse, at: int) -> bool:
    """Whether a capital word that opens a sentence may be a name: a verb or another capital follows.

    "Smart believes", "Best Buy". The same word with a capital further on tells a name too.
    """
    if parse.words.count(parse.words[at]) > 1:
        return True
    after = at + 1
    if POS_OF_TAG[parse.tags[at]] not in ("a", "n") or after >= len(parse):
        return False
    capital = parse.words[after][:1].isupper() and parse.words[after] != "I"
    verb = parse.tags[after] in FINITE and parse.tags[at] in ("JJ", "NN")
    return capital or (verb and parse.bases[at] != "root")


def has_form(word: str, lemma: str, tag: str) -> bool:
    """Whether a verb or adjective looks as its tag says: "allege" is no VBZ and "rose" no VBN."""
    if tag in ("VB", "VBP", "JJ"):
        return word == lemma
    if tag in PAST:
        return not is_form_of(word, lemma, PAST[tag], but=tag)
    return tag not in ENDINGS or word.endswith(ENDINGS[tag])


def _joined(parse: Parse, at: int) -> bool:
    """Whether the word touches another one: well-known, and/or, don't."""
    text, start, end = parse.text, parse.starts[at], parse.ends[at]
    if text[start - 1 : start] == " " == text[end : end + 1]:
        return False
    around = text[max(start - 1, 0) : start] + text[end : end + 1]
    return any(sign in JOINERS or sign.isalnum() for sign in around)


class Expressions:
    """Expressions of two and three words that a lexicon knows as one."""

    @without_collection()
    def __init__(self, lexicon: Lexicon) -> None:
        lemmas = (lemma for pos in ("n", "v", "a", "r") for lemma in lexicon.lemmas(pos) if "_" in lemma)
        self._known = frozenset(lemma.replace("_", " ") for lemma in lemmas if lemma.count("_") < 3)
        self._beside = _Beside(self._known)

    def hold(self, parse: Parse, at: int) -> bool:
        """Whether the token stands in one, by its words or by their lemmas."""
        words, lemmas = parse.lowers, parse.lower_lemmas
        for column in (words, lemmas):
            beside = self._beside[column[at]]
            if beside and not beside.isdisjoint(column[at - 1 if at else 0 : at + 2]):
                break
        else:
            return False
        size = len(words)
        for start, end in ((at - 1, at + 1), (at, at + 2), (at - 2, at + 1), (at - 1, at + 2), (at, at + 3)):
            both = words[start:end], lemmas[start:end]
            if start >= 0 and end <= size and not self._known.isdisjoint(map(" ".join, both)):
                return True
        return False


class _Beside(dict[str, frozenset[str]]):
    """Word -> the words beside it in expressions; of those that are asked for, so that it stays small."""

    def __init__(self, expressions: Iterable[str]) -> None:
        super().__init__()
        having: defaultdict[str, list[str]] = defaultdict(list)
        for expression in expressions:
            for word in expression.split():
                having[word].append(expression)
        self.having = {word: tuple(found) for word, found in having.items()}  # tuples of text are no work for the GC

    def __missing__(self, word: str) -> frozenset[str]:
        pairs = [pair for expression in self.having.get(word, ()) for pair in pairwise(expression.split())]
        self[word] = frozenset([intern(other) for a, b in pairs for one, other in ((a, b), (b, a)) if one == word])
        return self[word]


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


class SubstituteOption(NamedTuple):
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


Options = tuple[SubstituteOption, ...]  # the best first


@cache
def table() -> dict[Key, tuple[Substitute, ...]]:
    """(part of speech, lemma) -> substitutes, the best first."""
    result: dict[Key, list[Substitute]] = {}
    for row in rows():
        result.setdefault((row.pos, row.lemma), []).append(Substitute(row.other, row.relation, row.flags))
    return {key: tuple(known) for key, known in result.items()}


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
        result = self.substitutes.of(lemma, pos, self.relation) if known else ()
        self[key] = tuple([_option(s, pos, tag) for s in result])
        return self[key]


def _option(substitute: Substitute, pos: Pos, tag: str) -> SubstituteOption:
    has_company = any(flag.startswith(COMPANY) for flag in substitute.flags)
    form = formed(substitute.lemma, tag, like="word")
    return SubstituteOption(substitute, *requirements(substitute.flags, pos), form, has_company, pos)
