"""Control edits: an unrelated word that fits the place, of the same tag, frequency and length as another edit's."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from encheck.generators.base import listed
from encheck.generators.frames import allowed
from encheck.generators.replacing import certificate
from encheck.generators.written import written
from encheck.language.edits.inflection import UNINFLECTED, inflected
from encheck.language.edits.places import POS_OF_TAG
from encheck.language.edits.replace import form, put
from encheck.language.edits.substitutes import Substitute
from encheck.language.english import English
from encheck.language.lexicon.protocol import Lexicon, Pos
from encheck.language.parse import Parse
from encheck.types import Group, Variant

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Column = NDArray[Any]

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


@listed(beside=("antonym", "synonym"), title="unrelated words", readers=(228, 256))
def control(group: Group, *, base: Variant, level: int, rng: Random, english: English) -> Variant | str | None:
    """An unrelated word at the place of `base`, as frequent and as long as the word that `base` puts there.

    The written edit where the data has one.
    """
    if group.variants:
        return written(group, "control", level=level)
    parse = english.parse(group.source)
    at = next((i for i, start in enumerate(parse.starts) if start in {e.start for e in base.edits}
               and parse.tags[i] in POS_OF_TAG and parse.pos[i] != "DET"), None)  # fmt: skip
    if at is None:
        return "no single word to replace"
    fitting = allowed(english.lexicon, parse, at)
    if not fitting:
        return "no list of words that are sure to fit this place"
    word = next(edit.text for edit in base.edits if edit.start == parse.starts[at])
    for lemma in _candidates(english.lexicon, parse, at, word, fitting, rng):
        if (formed := form(parse, at, lemma)) is None:
            continue
        words = {at: formed}
        if (change := put(english, parse, words)) is not None:
            made, text = change
            taken = {at: Substitute(lemma, "control", origin="same tag, frequency and length")}
            return Variant(text, "control", 1, made, "control", certificate(english, parse, words, taken))
    return "no other word of this tag, frequency and length"


def _candidates(lexicon: Lexicon, parse: Parse, at: int, word: str, fitting: frozenset[str], rng: Random) -> list[str]:
    """Random words of `fitting` as frequent as `word`, as long in their form here, unrelated to the one at `at`.

    Lemmas are compared by how often they are of this part of speech, forms by how often they are so tagged, and
    by how often they are written at all.
    """
    tag = parse.tags[at]
    pos = POS_OF_TAG[tag]
    lemmas = lexicon.base_forms(word.lower(), pos)
    if not lemmas:  # a preposition, say: nothing to compare
        return []
    wanted = max(max(lexicon.frequency(lemma, pos) for lemma in lemmas), COMMON)
    seen, written_so = lexicon.word_count(word, UPOS[pos]), lexicon.word_frequency(word)
    known = columns(lexicon, tag)
    near = (
        (np.abs(known.frequency - wanted) <= FREQUENCY)
        & (np.abs(known.written - written_so) <= FREQUENCY)
        & (np.abs(np.log10((known.seen + 0.5) / (seen + 0.5))) <= FREQUENCY)
        & (np.abs(known.length - len(word)) <= LENGTH)
    )
    if shunned := _shunned(parse, at):
        near &= ~np.isin(known.marker, shunned)
    words = pool(lexicon, tag)
    alike = [lemma for i in np.flatnonzero(near) if (lemma := words[i].lemma) in fitting]
    related = _related(lexicon, parse.lemmas[at].lower(), pos) | _related(lexicon, word.lower(), pos)
    related = related.union(*(_related(lexicon, lemma, pos) for lemma in lemmas))
    chosen = rng.sample(alike, min(len(alike), 3 * TRIES))
    return [lemma for lemma in chosen if lemma not in related][:TRIES]


def _shunned(parse: Parse, at: int) -> list[str]:
    """The markers of adjectives that cannot stand in this place: before a noun, or as a predicate."""
    if not parse.tags[at].startswith("JJ"):
        return []
    return ["p", "ip"] if parse.bases[at] == "amod" and parse.heads[at] > at else ["a", "ip"]


@dataclass(frozen=True, slots=True)
class Known:
    """A common word in one form: how frequent the lemma is, how often the form was met, where an adjective stands."""

    lemma: str
    form: str
    frequency: float
    seen: int
    marker: str


@cache
def pool(lexicon: Lexicon, tag: str) -> tuple[Known, ...]:
    """The common words that have a form for this tag, counted as that part of speech.

    Left out are words that are written with a capital in their first sense, and adjectives that stand for a number or
    an article.
    """
    pos = POS_OF_TAG[tag]
    found = []
    for lemma in lexicon.lemmas(pos):
        if not (lemma.isalpha() and lemma.isascii() and lexicon.word_count(lemma)) or lemma in NO_PLAIN_ADJECTIVES:
            continue
        frequency = lexicon.frequency(lemma, pos)
        first = lexicon.senses(lemma, pos)[0]
        formed = lemma if tag in UNINFLECTED else inflected(lemma, tag)
        if frequency >= COMMON and lemma in first.lemmas and formed is not None:
            found.append(Known(lemma, formed, frequency, lexicon.word_count(formed, UPOS[pos]), first.marker))
    return tuple(found)


class Columns(NamedTuple):
    """The pool of a tag in columns: how frequent lemmas and forms are (Zipf), how often met, how long (letters)."""

    frequency: Column
    written: Column
    seen: Column
    length: Column
    marker: Column


@cache
def columns(lexicon: Lexicon, tag: str) -> Columns:
    """What the words of the pool are compared by, all at once: there are thousands of nouns."""
    words = pool(lexicon, tag)
    return Columns(
        np.array([word.frequency for word in words]),
        np.array([lexicon.word_frequency(word.form) for word in words]),
        np.array([word.seen for word in words]),
        np.array([len(word.form) for word in words]),
        np.array([word.marker for word in words], dtype=np.str_),
    )


@cache
def _related(lexicon: Lexicon, lemma: str, pos: Pos) -> frozenset[str]:
    """Words that share any sense with the lemma, oppose it, or are a kind of the same."""
    found = {lemma}
    for sense in lexicon.senses(lemma, pos):
        found.update(sense.lemmas)
        found.update(a.lemma for a in lexicon.antonyms(lemma, pos, sense, indirect=True))
        for other in (*lexicon.similar(sense.id), *lexicon.hypernyms(sense.id)):
            found.update(lexicon.members(other))
    return frozenset(found)
