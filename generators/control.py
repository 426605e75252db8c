"""Control edits: an unrelated word in the same place, with the tag, frequency and length of the edit's own word.

Equal frequency, length and tag make two words comparable, but do not make the sentence correct: "He told that it
rained". So the words of a control come from lists that were written for encheck: verbs with the required frame, nouns
for persons, adjectives for that kind of noun.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from encheck.generators.base import listed_generator
from encheck.generators.phrases import OBJECT_FORMS, noun_category
from encheck.generators.synonym import substitution_certificate
from encheck.language.edits.inflection import UNINFLECTED, inflect
from encheck.language.edits.replace import inflect_for_token, replace_words
from encheck.language.edits.substitutes import POS_OF_TAG, Substitute
from encheck.language.english import English
from encheck.language.lexicon.lexicon import Lexicon, Pos
from encheck.language.parse import Parse
from encheck.types import Group, Variant

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Column = NDArray[Any]

NO_WORDS: frozenset[str] = frozenset()
PERSON, GROUP, ARTIFACT = 18, 14, 6  # lexicographer's files, lexnames(5WN)
IDEAS = frozenset({4, 9, 10, 11})  # noun.act, cognition, communication, event
ACTING = frozenset({PERSON, GROUP})
PEOPLE = frozenset(
    """actor artist baker banker builder captain carpenter chef child clerk coach colleague cook cousin customer
    dancer dentist designer doctor driver editor engineer farmer firefighter fisherman friend gardener girl guest
    hunter journalist judge lawyer leader librarian maid manager mechanic merchant minister musician neighbor
    neighbour nurse officer painter pilot player plumber poet president prince professor pupil reporter sailor
    scientist secretary servant singer soldier student surgeon tailor teacher tourist trader traveler visitor waiter
    worker writer""".split()
)
STATES = frozenset("assume believe doubt fear forget guess hope imagine know suspect understand".split())
CLAUSE_VERBS = STATES | frozenset("discover find hear learn notice realise realize remember".split())
SAYING = frozenset("say state add write claim announce report note argue declare explain believe think insist".split())
QUOTING_VERBS = frozenset("admit complain joke shout swear warn whisper".split())
INTENDING = frozenset("hope offer plan prepare promise refuse threaten".split())
INFINITIVE_VERBS = INTENDING | frozenset(
    "agree begin choose decide expect fail hate love manage need start tend want".split()
)
STATIVE = frozenset("include contain have mean involve remain comprise use cost need lack own resemble".split())
VERBS: Mapping[str, frozenset[str]] = {  # by the kind of object
    "artifact": frozenset(
        """borrow bring buy carry check choose clean describe design draw find forget hide keep lose mention move need
        notice order paint photograph praise recommend remember rent repair return see sell show steal test touch want
        watch""".split()
    ),
    "idea": frozenset(
        """announce consider copy criticise criticize defend describe discuss explain forget ignore mention notice
        praise prepare present promise propose publish question recall recommend remember review study understand
        watch welcome""".split()
    ),
    "person": frozenset(
        """call criticise criticize defend describe find follow forget help hire ignore invite know mention miss notice
        photograph praise protect recognise recognize remember see support thank visit watch""".split()
    ),
}
OF_ALL = frozenset("different famous new old strange".split())
ADJECTIVES: Mapping[str, frozenset[str]] = {  # by the kind of noun
    "person": OF_ALL
    | frozenset(
        """angry beautiful brave busy clever clumsy foreign friendly funny happy honest hungry lazy local lonely lucky
        nervous polite poor proud quiet rich sad shy strong tall thin tired tough wise young""".split()
    ),
    "artifact": OF_ALL | frozenset("beautiful big cheap dirty expensive large local modern small special ugly".split()),
    "idea": frozenset("interesting new recent similar special strange unusual".split()),
}
# Adjectives for a thing and an action with it, and for the action only.
TOUGH = frozenset(
    "boring dangerous difficult easy exciting fun hard impossible interesting nice pleasant safe simple tough".split()
)
EASY = TOUGH | frozenset(
    "common convenient cruel important necessary normal possible rare strange unusual useful usual wise wrong".split()
)
WILLING = frozenset(
    """able unable willing unwilling ready eager reluctant likely unlikely due free afraid happy glad sorry sure welcome
    proud careful certain bound keen quick slow anxious sad""".split()
)
# Adjectives that say how many, which one, where or when.
COUNTING = frozenset(
    """many numerous several multiple few additional extra further different various same similar main primary major
    minor early late final last first next previous prior current present former front back upper lower right left whole
    total entire full internal external permanent temporary senior junior own long short high low large big small huge
    tiny extraordinary ordinary identical broad narrow complete key crucial maximum minimum top chief head""".split()
)
PLAIN_ADVERBS = frozenset("not n't n’t also never often now then finally still recently today yesterday".split())
FINITE = frozenset("VBD VBZ VBP MD".split())
ARGUMENTS = frozenset("nsubj obj obl nmod".split())
LOOSE = frozenset("in on at during after before since until".split())
PLAIN_BELOW = frozenset("nsubj obj nsubj:pass aux aux:pass punct cc mark".split())
PREDICATE = frozenset("nsubj cop punct aux cc mark".split())


def fitting_lemmas(lexicon: Lexicon, parse: Parse, at: int) -> frozenset[str]:
    """Return the lemmas that fit this place, or an empty set in case of doubt."""
    part = POS_OF_TAG[parse.tags[at]]
    if part == "v":
        # Verbs with the same complements as this verb, if its subject is a person.
        below = {parse.bases[i] for i in parse.children[at]}
        if (
            "nsubj" not in below
            or not _has_acting_subject(lexicon, parse, at)
            or not below.isdisjoint(("compound", "iobj", "expl"))
        ):
            return NO_WORDS
        if not below.isdisjoint(("ccomp", "parataxis", "xcomp", "advcl")) or parse.bases[at] == "parataxis":
            if "obj" in below or "advcl" in below:
                return NO_WORDS
            clause = parse.child(at, "ccomp")
            if "parataxis" in below or parse.bases[at] == "parataxis" or (clause is not None and clause < at):
                return QUOTING_VERBS if parse.lower_lemmas[at] in SAYING else NO_WORDS
            if clause is not None and "xcomp" not in below:
                finite = any(parse.tags[i] in FINITE for i in (clause, *parse.children[clause]))
                plain = finite and parse.words[at + 1 : at + 2] not in ((",",), (":",), ('"',), ("``",))
                return NO_WORDS if not plain else CLAUSE_VERBS if parse.tags[at] == "VBD" else STATES
            infinitive = parse.child(at, "xcomp")
            to = infinitive is not None and parse.tags[infinitive] == "VB" and parse.lowers[at + 1 : at + 2] == ("to",)
            return NO_WORDS if not to else INTENDING if parse.tags[at] == "VBG" else INFINITIVE_VERBS
        thing = parse.child(at, "obj")
        if thing is None or parse.child(thing, "conj") is not None or not _has_only_object_and_adjuncts(parse, at):
            return NO_WORDS
        if parse.lower_lemmas[at] in STATIVE:
            return NO_WORDS
        return VERBS.get(_noun_kind(lexicon, parse, thing), NO_WORDS)
    if part == "a":
        return _fitting_adjectives(lexicon, parse, at)
    is_person = part == "n" and parse.bases[at] in ARGUMENTS and _noun_kind(lexicon, parse, at) == "person"
    return PEOPLE if is_person and _is_unspecified_person(parse, at) else NO_WORDS


def _is_unspecified_person(parse: Parse, at: int) -> bool:
    """Return whether the person is not specified further.

    A compound, "of", an adjective, or a name or comma after the noun would do so.
    """
    if at + 1 < len(parse):
        named = parse.pos[at + 1] in ("PROPN", "NOUN") or bool(parse.entities[at + 1])
        if named or parse.words[at + 1] == ",":
            return False
    below = {parse.deps[i] for i in parse.children[at]}
    return below.isdisjoint({"compound", "nmod", "nmod:poss", "amod", "acl", "acl:relcl", "appos", "conj"})


def _noun_kind(lexicon: Lexicon, parse: Parse, at: int) -> str:
    """Return the kind of a noun: a person, an artifact or an idea, or "" for any other kind."""
    if parse.pos[at] == "PRON":
        return "person" if parse.lowers[at] in {*OBJECT_FORMS, *OBJECT_FORMS.values()} - {"it"} else ""
    if parse.entities[at].endswith("PER"):
        return "person"
    kind = noun_category(lexicon, parse, at)
    if kind in IDEAS:
        return "idea"
    return {PERSON: "person", ARTIFACT: "artifact"}.get(-1 if kind is None else kind, "")


def _has_acting_subject(lexicon: Lexicon, parse: Parse, verb: int) -> bool:
    """Return whether the subject is a person, a group, or the name of either."""
    subject = parse.child(verb, "nsubj")
    if subject is None or parse.deps[subject] != "nsubj":
        return False
    if parse.pos[subject] == "PRON":
        return parse.lowers[subject] in {*OBJECT_FORMS, "you"}
    if parse.entities[subject]:
        return parse.entities[subject][2:] in ("PER", "ORG")
    return noun_category(lexicon, parse, subject) in ACTING


def _has_only_object_and_adjuncts(parse: Parse, verb: int) -> bool:
    """Return whether the verb has no dependents except subject, object, and a time or place."""
    for i in parse.children[verb]:
        if parse.deps[i] in PLAIN_BELOW or parse.lowers[i] in PLAIN_ADVERBS:
            continue
        case = parse.child(i, "case")
        timed = parse.entities[i].endswith(("DATE", "TIME"))
        if parse.bases[i] != "obl" or not (timed or (case is not None and parse.lowers[case] in LOOSE)):
            return False
    return True


def _fitting_adjectives(lexicon: Lexicon, parse: Parse, at: int) -> frozenset[str]:
    """Return the adjectives that can describe this kind of noun.

    Before an infinitive ("hard to read"), return only adjectives that judge the noun.
    """
    if parse.tags[at] != "JJ" or parse.lower_lemmas[at] in COUNTING:
        return NO_WORDS
    if parse.bases[at] == "amod" and parse.heads[at] > at and not parse.children[at]:
        return ADJECTIVES.get(_noun_kind(lexicon, parse, parse.heads[at]), NO_WORDS)
    subject = parse.child(at, "nsubj", "expl")
    if parse.child(at, "cop") is None or subject is None:
        return NO_WORDS
    if parse.lowers[at + 1 : at + 2] == ("to",) and parse.tags[at + 2 : at + 3] == ("VB",):
        deed = parse.lowers[subject] == "it"
        return NO_WORDS if parse.lower_lemmas[at] in WILLING else EASY if deed else TOUGH
    sort = "" if parse.lowers[subject] == "they" else _noun_kind(lexicon, parse, subject)
    plain = sort in ("person", "artifact") and {parse.bases[i] for i in parse.children[at]} <= PREDICATE
    return ADJECTIVES[sort] if plain else NO_WORDS


TRIES = 12
COMMON = 3.3  # Zipf: twice in a million words
FREQUENCY = 0.5  # Zipf
LENGTH = 2  # letters
UPOS = {"n": "NOUN", "v": "VERB", "a": "ADJ", "r": "ADV"}
NO_PLAIN_ADJECTIVES = frozenset(
    """enough such other another same own due many much few several more most less least some any all no each every both
    either neither first second third next last only very sure able unable likely unlikely worth like else various
    certain former latter main mere sheer utter so-called alone aware sorry ready half double""".split()
)


@listed_generator(beside=("antonym", "synonym"), title="unrelated words", readers=(228, 256))
def control(group: Group, *, base: Variant, level: int, rng: Random, english: English) -> Variant | str | None:
    """Return the written edit if the data has one. Otherwise insert an unrelated word at the place of `base`.

    The word is as frequent and as long as the word that `base` inserts.
    """
    if group.variants:
        return group.variant("control", level)
    parse = english.stored_parse(group.source)
    at = next((i for i, start in enumerate(parse.starts) if start in {e.start for e in base.edits}
               and parse.tags[i] in POS_OF_TAG and parse.pos[i] != "DET"), None)  # fmt: skip
    if at is None:
        return "no single word to replace"
    fitting = fitting_lemmas(english.lexicon, parse, at)
    if not fitting:
        return "no list of words that are sure to fit this place"
    word = next(edit.text for edit in base.edits if edit.start == parse.starts[at])
    for lemma in _sample_comparable_lemmas(english.lexicon, parse, at, word, fitting, rng):
        if (formed := inflect_for_token(parse, at, lemma)) is None:
            continue
        words = {at: formed}
        if (change := replace_words(english, parse, words)) is not None:
            made, text = change
            taken = {at: Substitute(lemma, "control", origin="same tag, frequency and length")}
            return Variant(text, "control", 1, made, "control", substitution_certificate(english, parse, words, taken))
    return "no other word of this tag, frequency and length"


def _sample_comparable_lemmas(
    lexicon: Lexicon, parse: Parse, at: int, word: str, fitting: frozenset[str], rng: Random
) -> list[str]:
    """Return random words of `fitting` that are comparable to `word` and unrelated to the word at `at`.

    They are as frequent as `word`, and as long in the form that they have here. Lemmas are compared by their frequency
    as this part of speech, forms by their frequency with this tag and by their total frequency.
    """
    tag = parse.tags[at]
    pos = POS_OF_TAG[tag]
    lemmas = lexicon.base_forms(word.lower(), pos)
    if not lemmas:  # for example a preposition: nothing to compare
        return []
    wanted = max(max(lexicon.lemma_frequency(lemma, pos) for lemma in lemmas), COMMON)
    seen, written_so = lexicon.word_count(word, UPOS[pos]), lexicon.word_frequency(word)
    known = word_columns(lexicon, tag)
    near = (
        (np.abs(known.frequency - wanted) <= FREQUENCY)
        & (np.abs(known.written - written_so) <= FREQUENCY)
        & (np.abs(np.log10((known.seen + 0.5) / (seen + 0.5))) <= FREQUENCY)
        & (np.abs(known.length - len(word)) <= LENGTH)
    )
    if tag.startswith("JJ"):  # markers of adjectives that stand only before a noun, or only as a predicate
        is_before_noun = parse.bases[at] == "amod" and parse.heads[at] > at
        near &= ~np.isin(known.marker, ["p", "ip"] if is_before_noun else ["a", "ip"])
    words = common_words(lexicon, tag)
    alike = [lemma for i in np.flatnonzero(near) if (lemma := words[i].lemma) in fitting]
    related = _related_lemmas(lexicon, parse.lemmas[at].lower(), pos) | _related_lemmas(lexicon, word.lower(), pos)
    related = related.union(*(_related_lemmas(lexicon, lemma, pos) for lemma in lemmas))
    chosen = rng.sample(alike, min(len(alike), 3 * TRIES))
    return [lemma for lemma in chosen if lemma not in related][:TRIES]


@dataclass(frozen=True, slots=True)
class CommonWord:
    """A common word in one form: the lemma's frequency, the form's count, and the positions that an adjective
    can have.
    """

    lemma: str
    form: str
    frequency: float
    seen: int
    marker: str


@cache
def common_words(lexicon: Lexicon, tag: str) -> tuple[CommonWord, ...]:
    """Return the common words that have a form for this tag, counted as that part of speech.

    Words whose first sense is capitalised are left out, and so are adjectives that replace a number or an article.
    """
    pos = POS_OF_TAG[tag]
    result = []
    for lemma in lexicon.lemmas(pos):
        if not (lemma.isalpha() and lemma.isascii() and lexicon.word_count(lemma)) or lemma in NO_PLAIN_ADJECTIVES:
            continue
        frequency = lexicon.lemma_frequency(lemma, pos)
        first = lexicon.senses(lemma, pos)[0]
        formed = lemma if tag in UNINFLECTED else inflect(lemma, tag)
        if frequency >= COMMON and lemma in first.lemmas and formed is not None:
            result.append(CommonWord(lemma, formed, frequency, lexicon.word_count(formed, UPOS[pos]), first.marker))
    return tuple(result)


class WordColumns(NamedTuple):
    """All common words of a tag, in columns: frequencies of lemmas and forms (Zipf scale), counts, lengths in
    letters.
    """

    frequency: Column
    written: Column
    seen: Column
    length: Column
    marker: Column


@cache
def word_columns(lexicon: Lexicon, tag: str) -> WordColumns:
    """Return the columns with which all common words of a tag are compared at once. There are thousands of nouns."""
    words = common_words(lexicon, tag)
    return WordColumns(
        np.array([word.frequency for word in words]),
        np.array([lexicon.word_frequency(word.form) for word in words]),
        np.array([word.seen for word in words]),
        np.array([len(word.form) for word in words]),
        np.array([word.marker for word in words], dtype=np.str_),
    )


@cache
def _related_lemmas(lexicon: Lexicon, lemma: str, pos: Pos) -> frozenset[str]:
    """Return the words that share a sense with the lemma, are its opposite, or have the same hypernym."""
    result = {lemma}
    for sense in lexicon.senses(lemma, pos):
        result.update(sense.lemmas)
        result.update(a.lemma for a in lexicon.antonyms(lemma, pos, sense, indirect=True))
        for other in (*lexicon.heads_of_satellite(sense.id), *lexicon.hypernyms(sense.id)):
            result.update(lexicon.words_of_sense(other))
    return frozenset(result)
