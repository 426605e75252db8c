"""Synonyms and antonyms that are correct in nearly every sentence, with their conditions.

The table (substitutes.tsv) was written word by word from the lexicon's relations (docs/method/generators.md). The
lexicon gives the frequency of a word, and the sense that two words share.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import pairwise
from pathlib import Path
from sys import intern
from typing import NamedTuple, cast

from encheck.language.edits.conditions import Condition, parse_requirements
from encheck.language.edits.inflection import inflect_or_keep_like, is_form_of
from encheck.language.lexicon.lexicon import Lexicon, Pos
from encheck.language.parse import Parse, first_word_of_sentence, relation_bits
from encheck.language.prose import contains_code, find_unedited_spans
from encheck.language.words import STOP_WORDS
from encheck.system.memory import without_collection
from encheck.types import content_hash

TABLE = Path(__file__).parent / "substitutes.tsv"
NO_CONDITIONS = "-"  # no conditions


class TableRow(NamedTuple):
    """A lemma, a substitute by this relation, and the conditions."""

    pos: Pos
    lemma: str
    relation: str
    other: str
    flags: frozenset[str]


@cache
def load_table_rows() -> tuple[TableRow, ...]:
    """Return all rows; for each word, the best first."""
    lines = (line.split("\t") for line in TABLE.read_text("utf-8").splitlines() if line and not line.startswith("#"))
    return tuple(
        TableRow(cast("Pos", pos), lemma, relation, other, frozenset(flags.split(",")) - {NO_CONDITIONS})
        for pos, lemma, relation, other, flags in lines
    )


@cache
def lemmas_with_substitutes(pos: Pos) -> frozenset[str]:
    """Return the lemmas of a part of speech that have a row."""
    return frozenset(row.lemma for row in load_table_rows() if row.pos == pos)


def hash_table() -> str:
    """Return a hash of the table, for the record of a run."""
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
EXTENDING = relation_bits("compound:prt", "fixed", "flat", "goeswith")  # a particle, or a further word of a name
DESCRIBED = relation_bits("cop", "advmod")
SUBJECTS, SUBJECT_PRONOUNS = frozenset("NN NNP PRP WP WDT".split()), frozenset("PRP WP WDT".split())
FINITE = frozenset("VBD VBZ VBP MD".split())
# Nouns of the table whose plural is also a form of a verb.
VERBAL = frozenset(
    """aim answer attack attempt battle benefit call cause change charge claim comment concern cost cover damage demand
    design desire display drink effort end estimate exam fear fight film fix form gain guess harm hate help hire hope
    impact increase issue joke jump label laugh limit link look love mark move need object offer order pass pay picture
    place plan plant play post praise present price produce profit program progress project promise protest purchase
    question raise rank rate reach reason record report request rest result return reward risk rule sale screen search
    share shop sign smell sort sound stop store study support surprise talk task taste test threat tie tour trade
    travel trip trouble try use value view visit vote wage walk want warn watch way wish work worry wound""".split()
)
# Words that are technical terms next to code.
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


class ReplaceableTokens(NamedTuple):
    """The tokens that may be replaced by words of the table, each with tag and lemma as its key ("NNS house").

    `capital` are those with a capital initial, `staying` the keys of table words that must not be replaced.
    """

    at: tuple[int, ...]
    keys: tuple[str, ...]
    capital: tuple[int, ...]
    staying: tuple[str, ...]


def cached_replaceable_tokens(parse: Parse) -> ReplaceableTokens:
    """Return the tokens that may be replaced, cached per parse."""
    if parse.replaceable_tokens is None:
        at: list[int] = []
        keys: list[str] = []
        staying: list[str] = []
        known, left = _lemmas_by_tag(), find_unedited_spans(parse.text)
        quotes = contains_code(parse.text)
        for i, (tag, lemma) in enumerate(zip(parse.tags, parse.lower_lemmas, strict=True)):
            if tag in known and lemma in known[tag]:
                key = intern(f"{tag} {lemma}")
                if (
                    _is_ordinary_word(parse, i)
                    and not (quotes and lemma in TERMS)
                    and not any(parse.starts[i] < end and start < parse.ends[i] for start, end in left)
                ):
                    at.append(i)
                    keys.append(key)
                else:
                    staying.append(key)
        capital = [i for i in at if parse.words[i] is not parse.lowers[i]]
        object.__setattr__(
            parse, "replaceable_tokens", ReplaceableTokens(tuple(at), tuple(keys), tuple(capital), tuple(staying))
        )
    result: ReplaceableTokens = parse.replaceable_tokens
    return result


@cache
def _lemmas_by_tag() -> Mapping[str, frozenset[str]]:
    """Tag -> the lemmas of the table."""
    return {tag: lemmas_with_substitutes(pos) for tag, pos in POS_OF_TAG.items()}


def _is_ordinary_word(parse: Parse, at: int) -> bool:
    """Return whether the token is written as an ordinary word, in the form of its tag, and used as one."""
    tag, word, below, base = parse.tags[at], parse.words[at], parse.dependent_relations[at], parse.bases[at]
    pos = POS_OF_TAG[tag]
    if parse.pos[at] not in AGREE[pos] or parse.entities[at]:
        return False
    if not word.isalpha() or base in PART_OF_NAME or below & EXTENDING:
        return False
    if not (word.islower() or (word.istitle() and at == first_word_of_sentence(parse, at))):
        return False
    if not has_form_of_tag(parse.lowers[at], parse.lower_lemmas[at], tag) or _is_joined_to_neighbour(parse, at):
        return False
    if pos == "n" and _may_be_verb(parse, at):
        return False
    if word is not parse.lowers[at] and _may_be_name(parse, at):
        return False
    return not (pos == "a" and base in NOMINAL and not below & DESCRIBED)


def _may_be_verb(parse: Parse, at: int) -> bool:
    """Return whether a plural noun is in the place of a verb: "She worries about it", "The nurse drinks coffee"."""
    if parse.tags[at] != "NNS" or at == 0 or parse.tags[at - 1] not in SUBJECTS:
        return False
    if not parse.lowers[at].endswith("s") or parse.lower_lemmas[at] not in VERBAL:
        return False
    pronoun = parse.tags[at - 1] in SUBJECT_PRONOUNS
    return pronoun or not any(tag in FINITE for i, tag in enumerate(parse.tags) if i != at)


def _may_be_name(parse: Parse, at: int) -> bool:
    """Return whether a capitalised word that opens a sentence may be a name: a verb or another capital follows.

    "Smart believes", "Best Buy". A later occurrence with a capital also indicates a name.
    """
    if parse.words.count(parse.words[at]) > 1:
        return True
    after = at + 1
    if POS_OF_TAG[parse.tags[at]] not in ("a", "n") or after >= len(parse):
        return False
    capital = parse.words[after][:1].isupper() and parse.words[after] != "I"
    verb = parse.tags[after] in FINITE and parse.tags[at] in ("JJ", "NN")
    return capital or (verb and parse.bases[at] != "root")


def has_form_of_tag(word: str, lemma: str, tag: str) -> bool:
    """Return whether a verb or adjective has the form of its tag: "allege" is not VBZ and "rose" not VBN."""
    if tag in ("VB", "VBP", "JJ"):
        return word == lemma
    if tag in PAST:
        return not is_form_of(word, lemma, PAST[tag], not_tag=tag)
    return tag not in ENDINGS or word.endswith(ENDINGS[tag])


def _is_joined_to_neighbour(parse: Parse, at: int) -> bool:
    """Return whether the word is joined to another word: well-known, and/or, don't."""
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
        self._beside = _ExpressionNeighbours(self._known)

    def contain(self, parse: Parse, at: int) -> bool:
        """Return whether the token is part of an expression, by words or lemmas."""
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


class _ExpressionNeighbours(dict[str, frozenset[str]]):
    """Word -> its neighbours in expressions, filled on demand to stay small."""

    def __init__(self, expressions: Iterable[str]) -> None:
        super().__init__()
        having: defaultdict[str, list[str]] = defaultdict(list)
        for expression in expressions:
            for word in expression.split():
                having[word].append(expression)
        self.having = {word: tuple(found) for word, found in having.items()}  # the GC does not track tuples of text

    def __missing__(self, word: str) -> frozenset[str]:
        pairs = [pair for expression in self.having.get(word, ()) for pair in pairwise(expression.split())]
        self[word] = frozenset([intern(other) for a, b in pairs for one, other in ((a, b), (b, a)) if one == word])
        return self[word]


SYNONYM, ANTONYM = "s", "a"  # relations
MIN_ZIPF = 3.0  # once in a million words
LIGHT = frozenset("be come do get give go have keep let make put take".split())  # light verbs
NEIGHBOUR_FLAGS = ("obj=", "noun=", "head=", "next=", "prev=")
ALL_PARTS_OF_SPEECH = frozenset("nvar")  # parts of speech
LAST = "last"  # the flag of a substitute used only if a sentence has no better substitute


@dataclass(frozen=True, slots=True)
class Substitute:
    """A lemma that can replace another one, under its flags (see `conditions`); `origin` names the source."""

    lemma: str
    relation: str
    flags: frozenset[str] = frozenset()
    origin: str = "table"
    is_last: bool = field(init=False, repr=False, compare=False)  # used only if a sentence has no better one

    def __post_init__(self) -> None:
        object.__setattr__(self, "is_last", LAST in self.flags)


Key = tuple[str, str]


class SubstituteOption(NamedTuple):
    """A substitute, its requirements on its place (see `Requirements`), and its form in lower case.

    `in_expressions`: it names its neighbours, so it was also judged for expressions of a lexicon ("earn money").
    """

    substitute: Substitute
    refused: int
    conditions: tuple[Condition, ...]
    form: str | None
    in_expressions: bool
    pos: Pos


Options = tuple[SubstituteOption, ...]  # the best first


@cache
def load_substitutes() -> dict[Key, tuple[Substitute, ...]]:
    """Return (part of speech, lemma) -> substitutes, the best first."""
    result: dict[Key, list[Substitute]] = {}
    for row in load_table_rows():
        result.setdefault((row.pos, row.lemma), []).append(Substitute(row.other, row.relation, row.flags))
    return {key: tuple(known) for key, known in result.items()}


@dataclass
class Substitutes:
    """The table, limited to words that the lexicon counts as common, and the lexicon's relations of a pair."""

    lexicon: Lexicon
    _known: dict[tuple[str, str, str], tuple[Substitute, ...]] = field(default_factory=dict)
    _by_key: dict[tuple[str, Set[str]], OptionsByKey] = field(default_factory=dict)
    _antonym_rows: dict[tuple[str, str], frozenset[str]] = field(default_factory=dict)
    _alike: dict[tuple[str, str], frozenset[str]] = field(default_factory=dict)
    _why: dict[tuple[str, Pos, str, str, frozenset[str]], str] = field(default_factory=dict)

    def find(self, lemma: str, pos: Pos, relation: str) -> tuple[Substitute, ...]:
        """Return the substitutes of a lemma by this relation, the best first."""
        key = (lemma, pos, relation)
        if key not in self._known:
            judged = load_substitutes().get((pos, lemma), ())
            if judged and not self._is_common(lemma, pos):
                judged = ()
            self._known[key] = tuple(
                one for one in judged if one.relation == relation and self._is_common(one.lemma, pos)
            )
        return self._known[key]

    def certify(self, lemma: str, pos: Pos, substitute: Substitute) -> str:
        """Return the certificate of a lemma's substitute: source, sense and flags, joined by commas."""
        key = (lemma, pos, substitute.lemma, substitute.relation, substitute.flags)
        if key not in self._why:
            sense = self._shared_sense_number(lemma, pos, substitute)
            parts = (substitute.origin, f"sense {sense}" * bool(sense), ",".join(sorted(substitute.flags)))
            self._why[key] = ", ".join(filter(None, parts))
        return self._why[key]

    def opposites_and_synonyms(self, lemma: str, pos: Pos) -> frozenset[str]:
        """Return the word, all its opposites, and their synonyms."""
        if (lemma, pos) not in self._antonym_rows:
            direct = [s.lemma for s in self.find(lemma, pos, ANTONYM)]
            same = (s.lemma for other in direct for s in self.find(other, pos, SYNONYM))
            self._antonym_rows[lemma, pos] = frozenset((lemma, *direct, *same))
        return self._antonym_rows[lemma, pos]

    def synonyms(self, lemma: str, pos: Pos) -> frozenset[str]:
        """Return all synonyms of the word."""
        if (lemma, pos) not in self._alike:
            self._alike[lemma, pos] = frozenset(s.lemma for s in self.find(lemma, pos, SYNONYM))
        return self._alike[lemma, pos]

    @cached_property
    def expressions(self) -> Expressions:
        """Expressions of two and three words that the lexicon knows as one."""
        return Expressions(self.lexicon)

    def options_by_key(self, relation: str, parts_of_speech: Set[str] = ALL_PARTS_OF_SPEECH) -> OptionsByKey:
        """Return the mapping from a key of `ReplaceableTokens` to its options, for these parts of speech."""
        key = (relation, parts_of_speech)
        if key not in self._by_key:
            self._by_key[key] = OptionsByKey(self, relation, parts_of_speech)
        return self._by_key[key]

    def _shared_sense_number(self, lemma: str, pos: Pos, substitute: Substitute) -> int:
        """Return the number of the lexicon's first sense with both words, from 1; 0 if there is none."""
        if substitute.relation not in (SYNONYM, ANTONYM):
            return 0
        for number, sense in enumerate(self.lexicon.senses(lemma, pos), 1):
            opposites = (a.lemma for a in self.lexicon.antonyms(lemma, pos, sense))
            if substitute.lemma in (sense.lemmas if substitute.relation == SYNONYM else opposites):
                return number
        return 0

    def _is_common(self, lemma: str, pos: Pos) -> bool:
        """Return whether the lemma is common: no stop word, no light verb, and not rare."""
        if lemma in STOP_WORDS or (pos == "v" and lemma in LIGHT):
            return False
        return pos == "r" or self.lexicon.lemma_frequency(lemma, pos) >= MIN_ZIPF


class OptionsByKey(dict[str, Options]):
    """Tag and lemma ("NNS house") -> options of one relation, filled on demand."""

    def __init__(self, substitutes: Substitutes, relation: str, only: Set[str]) -> None:
        super().__init__()
        self.substitutes, self.relation, self.only = substitutes, relation, only

    def __missing__(self, key: str) -> Options:
        tag, _, lemma = key.partition(" ")
        pos = POS_OF_TAG[tag]
        known = pos in self.only and (pos, lemma) in load_substitutes()
        result = self.substitutes.find(lemma, pos, self.relation) if known else ()
        options = []
        for one in result:
            names_neighbour = any(flag.startswith(NEIGHBOUR_FLAGS) for flag in one.flags)
            form = inflect_or_keep_like(one.lemma, tag, like="word")
            options.append(SubstituteOption(one, *parse_requirements(one.flags, pos), form, names_neighbour, pos))
        self[key] = tuple(options)
        return self[key]
