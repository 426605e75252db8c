"""Synonym edits: `level` words replaced by words of the same meaning (Mahajan et al. 2023, criterion 2).

Antonyms use the same functions. `encheck.language.edits.substitutes` has the replaceable words and their substitutes,
`encheck.language.edits.conditions` the conditions for them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import compress
from typing import Any, NamedTuple

from encheck.generators.base import listed_generator
from encheck.language.edits.replace import inflect_for_token, replace_words
from encheck.language.edits.substitutes import (
    ALL_PARTS_OF_SPEECH,
    POS_OF_TAG,
    SYNONYM,
    Substitute,
    SubstituteOption,
    cached_replaceable_tokens,
)
from encheck.language.english import English
from encheck.language.lexicon.lexicon import Pos
from encheck.language.parse import Parse
from encheck.language.prose import why_not_edited
from encheck.statistics.draws import Draws
from encheck.types import Edit, Group, Variant

NAMES = {"s": "synonym", "a": "antonym"}


class Slot(NamedTuple):
    """A replaceable token and its substitutes, best first."""

    at: int
    pos: Pos
    choices: tuple[tuple[str, Substitute], ...]


def is_last_resort(slot: Slot) -> bool:
    """Return whether this slot should only be used if the sentence has no others."""
    return slot.choices[0][1].is_last


def find_slots(
    english: English, parse: Parse, relation: str, *, only: frozenset[str] = ALL_PARTS_OF_SPEECH
) -> tuple[Slot, ...] | str:
    """Return the slots for a relation, limited to these parts of speech, or the reason why there are none."""
    if left := why_not_edited(parse.text):
        return left
    known, places = english.substitutes.options_by_key(relation, only), cached_replaceable_tokens(parse)
    options = list(map(known.__getitem__, places.keys))
    reason = ""
    result: list[Slot] = []
    for at, there in compress(zip(places.at, options, strict=True), options):
        fitting, below = [], parse.dependent_relations[at]
        for option in there:  # runs for every word: uses field numbers to avoid a call for each
            if below & option[1]:  # .refused
                continue
            for condition in option[2]:  # .conditions
                if not condition(parse, at):
                    break
            else:
                fitting.append(option)
        outcome = _make_slot(english, parse, at, fitting) if fitting else "no word is in a place that fits its {}"
        if isinstance(outcome, str):
            reason = outcome
        else:
            result.append(outcome)
    # Why no replaceable word has a substitute.
    return tuple(result) or (
        reason
        or (
            "only words that must stay"
            if any(map(known.__getitem__, cached_replaceable_tokens(parse).staying))
            else "no {} that holds in nearly every sentence"
        )
    ).format(NAMES[relation])


def _make_slot(english: English, parse: Parse, at: int, fitting: list[SubstituteOption]) -> Slot | str:
    """Return the slot with these substitutes, or the reason why there is none."""
    if english.substitutes.expressions.contain(parse, at):
        fitting = [option for option in fitting if option.in_expressions]
        if not fitting:
            return "only words of fixed expressions"
    if at in cached_replaceable_tokens(parse).capital:
        words = [(inflect_for_token(parse, at, option.substitute.lemma), option.substitute) for option in fitting]
    else:
        words = [(option.form, option.substitute) for option in fitting]
    there = parse.lower_words
    choices = [(word, substitute) for word, substitute in words if word is not None and word not in there]
    if not choices:
        return "no {} has the required form"
    return Slot(at, fitting[0].pos, tuple(choices))


def order_slots(slots: Sequence[Slot], rng: Draws, first: Callable[[Slot], Any]) -> Sequence[Slot]:
    """Return the slots in random order, but those where `first` is smaller come first.

    A token's random rank does not depend on other tokens, so a word added to the table does not move the others.
    """
    if len(slots) == 1:
        return slots
    ranks = rng.random_ranks(slots[-1].at + 1)
    return sorted(slots, key=lambda slot: (first(slot), ranks[slot.at]))


def replace_slots(english: English, parse: Parse, slots: Sequence[Slot], *, relation: str, level: int) -> Variant | str:
    """Return the variant with the first `level` of these slots replaced that keep their tags, or why there is none."""
    words: dict[int, str] = {}
    taken: dict[int, Substitute] = {}
    made: tuple[Edit, ...] = ()
    text = parse.text
    for slot in slots:
        for word, substitute in slot.choices:
            tried = words | {slot.at: word}
            if (change := replace_words(english, parse, tried)) is not None:
                words, (made, text) = tried, change
                taken[slot.at] = substitute
                break
        if len(words) == level:
            return Variant(
                text, relation, level, made, relation, substitution_certificate(english, parse, words, taken)
            )
    return f"only {len(words)} of {level} words" if words else f"the {relation} would be another part of speech"


def substitution_certificate(
    english: English, parse: Parse, words: dict[int, str], taken: dict[int, Substitute]
) -> str:
    """Return why these words are valid: the words that they replace, their relations, and their conditions."""
    parts = []
    for i in sorted(words):
        tag = parse.tags[i]
        why = english.substitutes.certify(parse.lower_lemmas[i], POS_OF_TAG[tag], taken[i])
        parts.append(f"{parse.words[i]} ({parse.lemmas[i]}, {tag}) > {words[i]}: {why}")
    return "; ".join(parts)


@listed_generator(1, 2, 3, title="synonyms", readers=(216, 260))
def synonym(group: Group, *, level: int, rng: Draws, english: English) -> Variant | str | None:
    """Return the written edit if the data has one. Otherwise replace `level` words by synonyms from the table.

    Each synonym has the part of speech, inflection and tag of the word that it replaces, and its conditions are met. A
    higher level keeps the edits of the lower one.
    """
    if group.variants:
        return group.variant("synonym", level)
    slots = english.derive(find_synonym_slots, group.source)
    if isinstance(slots, str):
        return slots
    parse = english.stored_parse(group.source)
    ranked_slots = order_slots(slots, rng, is_last_resort)
    return replace_slots(english, parse, ranked_slots, relation="synonym", level=level)


def find_synonym_slots(english: English, parse: Parse) -> tuple[Slot, ...] | str:
    """Return the slots of this sentence that have a synonym, in text order, or the reason why there are none."""
    return find_slots(english, parse, SYNONYM)


@listed_generator(beside=("antonym",))
def synonym_beside(
    group: Group,
    *,
    base: Variant,
    level: int,
    rng: Draws,  # noqa: ARG001
    english: English,
) -> Variant | str | None:
    """Return the variant in which a synonym replaces the same word that `base` replaces."""
    if group.variants:
        return group.variant("synonym", level)
    slots = english.derive(find_synonym_slots, group.source)
    if isinstance(slots, str):
        return slots
    parse = english.stored_parse(group.source)
    replaced_at = {edit.start for edit in base.edits}
    here = [slot for slot in slots if parse.starts[slot.at] in replaced_at]
    if not here:
        return "no synonym of the same word"
    return replace_slots(english, parse, here, relation="synonym", level=1)
