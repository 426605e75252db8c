"""Control edits: an unrelated word of the same tag, frequency and length in the slot of another edit."""

from __future__ import annotations

from functools import cache
from random import Random

from encheck.generators.replacing import variant
from encheck.generators.written import written
from encheck.language.english import English
from encheck.language.fit import POS_OF_TAG
from encheck.language.lexicon import Lexicon, Pos
from encheck.language.parse import Parse
from encheck.language.replace import edits, form, keeps_tags
from encheck.language.substitutes import COMMON, Substitute
from encheck.types import Group, Variant

TRIES = 12
FREQUENCY = 0.5  # Zipf
LENGTH = 2  # letters


def control(group: Group, *, base: Variant, level: int, rng: Random, english: English) -> Variant | str | None:
    """An unrelated word at the place of `base`, as frequent and as long as the word that `base` puts there.

    The hand-written edit where the data has one.
    """
    if group.variants:
        return written(group, "control", level=level)
    parse = english.parse(group.source)
    at = next((i for i, start in enumerate(parse.starts) if start in {e.start for e in base.edits}
               and parse.tags[i] in POS_OF_TAG and parse.pos[i] != "DET"), None)  # fmt: skip
    if at is None:
        return "no single word to replace"
    word = next(edit.text for edit in base.edits if edit.start == parse.starts[at])
    for lemma in _candidates(english.lexicon, parse, at, word, rng):
        put = form(parse, at, lemma)
        if put is None:
            continue
        made = edits(parse, {at: put})
        if keeps_tags(english, parse, {at: put}, made):
            taken = {at: Substitute(lemma, "control", origin="same tag, frequency and length")}
            return variant(parse, {at: put}, taken, made, relation="control")
    return "no other word of this tag, frequency and length"


def _candidates(lexicon: Lexicon, parse: Parse, at: int, word: str, rng: Random) -> list[str]:
    """Random words as frequent and as long as `word`, unrelated to the one at `at`."""
    pos = POS_OF_TAG[parse.tags[at]]
    wanted = max(lexicon.word_frequency(word), COMMON)
    near = [
        lemma
        for lemma, zipf in pool(lexicon, pos)
        if abs(zipf - wanted) <= FREQUENCY and abs(len(lemma) - len(word)) <= LENGTH
    ]
    related = _related(lexicon, parse.lemmas[at].lower(), pos) | _related(lexicon, word.lower(), pos)
    chosen = rng.sample(near, min(len(near), 3 * TRIES))
    return [lemma for lemma in chosen if lemma not in related][:TRIES]


@cache
def pool(lexicon: Lexicon, pos: Pos) -> tuple[tuple[str, float], ...]:
    """(lemma, frequency) of the common words of a part of speech."""
    words = (w for w in lexicon.lemmas(pos) if w.isalpha() and w.isascii())
    rated = ((w, lexicon.word_frequency(w)) for w in words if lexicon.word_count(w))
    return tuple((w, zipf) for w, zipf in rated if zipf >= COMMON)


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
