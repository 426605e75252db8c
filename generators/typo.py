"""Noise, and a change of meaning of the same size: typing errors, Unicode forms, accents, capitals, markup, emoji.

"Exactly 14 days" with a mistyped letter keeps its meaning. "Exactly 15 days" also differs by one character, and changes
the meaning. "Was not paid" differs from "was paid" by four characters. So the generator makes the amount of change
equal: the changed text differs from the source by as many insertions, deletions, substitutions and exchanges of
neighbours as the noisy text (the restricted Damerau-Levenshtein distance).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache, partial
from typing import NamedTuple

from encheck.generators.antonym import antonym
from encheck.generators.base import NamedGenerator, Outcome, listed_generator
from encheck.generators.negation import NEGATION
from encheck.generators.number import NUMBER
from encheck.language.edits.close_words import find_close_word_edits
from encheck.language.edits.noise import (
    ENGLISH_ONLY,
    NOTATIONS,
    TYPOS,
    choose_notation_edits,
    draw_typo,
    find_typable_tokens,
)
from encheck.language.english import English, ParseFunction
from encheck.language.parse import Parse
from encheck.language.prose import why_not_edited
from encheck.statistics.draws import Draws
from encheck.types import Edit, Group, Variant, apply_edits, edits_in_words

NAME = "typo"
MAX_CHARACTERS = 4  # characters: a larger change is not a small one
MAX_MISTYPED_WORDS = 3  # mistyped words: with more, the text is broken
KINDS = (*TYPOS, *NOTATIONS)
NO_PLACE = "no place for it"
NO_PLACE_FOR_AS_MANY = "no place for as many changed characters as a change of meaning has"
NO_CHANGE = "no change of meaning with so few characters"


class MeaningChange(NamedTuple):
    """Edits that change the meaning, the resulting text, the number of characters that differ, and the reason."""

    edits: tuple[Edit, ...]
    text: str
    size: int
    why: str


class NoiseOptions(NamedTuple):
    """The changes of meaning that a text allows, in random order, and the words that can be mistyped."""

    changes: tuple[MeaningChange, ...]
    words: tuple[tuple[int, int], ...]


@listed_generator(1, 2, 3)
def typo(group: Group, *, level: int, rng: Draws, english: English) -> Outcome:
    """Return the sentence with one, two or three mistyped words.

    Each word differs by one letter, and all have the same kind of error.
    """
    return _why_no_noise(group, english) or english.derive(
        _mistyping_function(level, rng.run_seed, english.experimental), group.source
    )


@cache
def _mistyping_function(level: int, seed: int, is_experimental: bool) -> ParseFunction:
    """Return a function that makes `level` typing errors in a text.

    It is cached per seed, because variants at the same place use it again.
    """

    def mistype(english: English, parse: Parse) -> Outcome:
        options = english.derive(_noise_options_function(seed, is_experimental), parse.text)
        if isinstance(options, str):
            return options
        rng, kinds = Draws(seed, NAME, f"{parse.text}/{level}"), list(TYPOS)
        rng.shuffle(kinds)
        made = (_mistyped_variant(parse.text, options, kind, level, rng, english) for kind in kinds)
        return next(filter(None, made), "too few words that can be mistyped")

    return mistype


def _make_noise(kind: str, group: Group, *, level: int, rng: Draws, english: English) -> Outcome:  # noqa: ARG001
    """Return a variant with this kind of noise.

    It changes as many characters as a change of meaning of the same text.
    """
    return _why_no_noise(group, english) or english.derive(
        _noise_function(kind, rng.run_seed, english.experimental), group.source
    )


@cache
def _noise_function(name: str, seed: int, is_experimental: bool) -> ParseFunction:
    """Return a function that makes this kind of noise in a text. It is cached per seed."""

    def make_noisy_variant(english: English, parse: Parse) -> Outcome:
        options = english.derive(_noise_options_function(seed, is_experimental), parse.text)
        if isinstance(options, str):
            if name in TYPOS or name in ENGLISH_ONLY:
                return options
            options = NoiseOptions((), ())
        rng = Draws(seed, name, parse.text)
        # As many characters as one of the changes of meaning; a few if there is none.
        sizes = tuple(dict.fromkeys(one.size for one in options.changes)) or range(1, MAX_CHARACTERS + 1)
        for size in sizes:
            if name in TYPOS:
                made = _mistyped_variant(parse.text, options, name, size, rng, english)
                made = made and replace(made, relation=name, level=1)
            else:
                edits = choose_notation_edits(parse.text, name, size, rng)
                made = _variant_of_size(parse.text, edits, name, size, relation=name, level=1) if edits else None
            if made is not None:
                return made
        return NO_PLACE_FOR_AS_MANY if options.changes else NO_PLACE

    return make_noisy_variant


keyboard, transposition, missing, quotes, blanks, composition, accents, capitals, markup, emoji = (
    NamedGenerator(partial(_make_noise, kind), kind, levels=(1,)) for kind in KINDS
)
TYPING_ERRORS = {one.name: one for one in (keyboard, transposition, missing)}
OTHER_NOTATIONS = {one.name: one for one in (accents, capitals, quotes, blanks, composition)}
MARKUP_AND_EMOJI = {one.name: one for one in (markup, emoji)}
NOISE = TYPING_ERRORS | OTHER_NOTATIONS | MARKUP_AND_EMOJI


@listed_generator(beside=("typo", *KINDS), title="changes of meaning as small as a typing error", readers=(146, 155))
def other_meaning(group: Group, *, base: Variant, level: int, rng: Draws, english: English) -> Outcome:  # noqa: ARG001
    """Return a text with a different meaning that changes as many characters as `base`.

    It changes a number, a negation, or a word to its opposite or to a similar word.
    """
    if reason := _why_no_noise(group, english):
        return reason
    options = english.derive(_noise_options_function(rng.run_seed, english.experimental), group.source)
    if isinstance(options, str):
        return options
    size = edit_distance(group.source, base.text)
    change = next((one for one in options.changes if one.size == size), None)
    if change is None:
        return NO_CHANGE
    return Variant(change.text, "other_meaning", base.level, change.edits, NAME, change.why)


def edit_distance(source: str, text: str) -> int:
    """Return how many characters are inserted, deleted, replaced, or exchanged with their neighbour."""
    from rapidfuzz.distance import OSA

    return int(OSA.distance(source, text))


def _why_no_noise(group: Group, english: English) -> str:
    """Return why a group has no variants of any kind, or "" if it may have some."""
    if group.variants:
        return "this text has written edits, but no noise among them"
    return "the published recipe has no noise" if english.recipe is not None else ""


@cache
def _noise_options_function(seed: int, is_experimental: bool) -> Callable[[English, Parse], NoiseOptions | str]:
    """Return a function that finds the places to change in a parse.

    They are the same for all kinds of noise of a seed.
    """

    def make_noise_options(english: English, parse: Parse) -> NoiseOptions | str:
        if why := why_not_edited(parse.text):
            return why
        result = list(dict.fromkeys(_meaning_changes(english, parse, seed, is_experimental=is_experimental)))
        Draws(seed, NAME, parse.text).shuffle(result)
        free = find_typable_tokens(parse, english.lexicon, english.substitutes.expressions)
        return NoiseOptions(tuple(result), tuple((parse.starts[i], parse.ends[i]) for i in free))

    return make_noise_options


def _meaning_changes(english: English, parse: Parse, seed: int, *, is_experimental: bool) -> Iterator[MeaningChange]:
    """Yield changes of meaning by a few characters: of a number or a negation.

    If experimental changes are enabled, yield opposites and similar words too. A negation is used in both of its forms,
    because "wasn't" and "was not" differ from "was" by different counts.
    """
    text = parse.text
    group = Group("", text, text, "")
    of_meaning = [
        NUMBER.generators_from_text["mirror"],
        NEGATION.generators_from_text["changed"],
        NEGATION.generators_from_text["mirror"],
    ]
    for generator in (*of_meaning, antonym) if is_experimental else of_meaning:
        rng = Draws(seed, generator.name, text)
        made = generator(group, level=1, rng=rng, english=english)
        if isinstance(made, Variant) and (size := edit_distance(text, made.text)) <= MAX_CHARACTERS:
            yield MeaningChange(made.edits, made.text, size, made.certificate)
    for edit in (
        find_close_word_edits(english.lexicon, english.substitutes.expressions, parse) if is_experimental else ()
    ):
        changed = apply_edits(text, (edit,))
        if (size := edit_distance(text, changed)) <= MAX_CHARACTERS:
            yield MeaningChange((edit,), changed, size, f"another thing: {edits_in_words(text, (edit,))}")


def _mistyped_variant(
    source: str, options: NoiseOptions, kind: str, count: int, rng: Draws, english: English
) -> Variant | None:
    """Return the sentence with `count` mistyped words, or None if it has too few.

    The first of them is the word at the place of the change of meaning.
    """
    if count > MAX_MISTYPED_WORDS:
        return None
    change = next((one.edits for one in options.changes if one.size == count), None)
    place = (change[-1].start, change[-1].end) if change else None
    words = rng.sample(options.words, len(options.words))
    words.sort(key=lambda span: span != place)
    edits: list[Edit] = []
    for start, end in words:
        if len(edits) < count and (mistyped := draw_typo(english.lexicon, source[start:end], kind, rng)):
            edits.append(Edit(start, end, mistyped))
    if len(edits) < count:
        return None
    in_order = tuple(sorted(edits, key=lambda edit: edit.start))
    return _variant_of_size(source, in_order, kind, count, relation=NAME, level=count)


def _variant_of_size(
    source: str, edits: tuple[Edit, ...], kind: str, changed_characters: int, *, relation: str, level: int
) -> Variant | None:
    """Return the variant if it differs by `changed_characters` characters. Two adjacent edits may add up to fewer."""
    text = apply_edits(source, edits)
    if edit_distance(source, text) != changed_characters:
        return None
    count = f"{changed_characters} character{'s' * (changed_characters > 1)} changed"
    why = f"{kind}, {count}: {edits_in_words(source, edits)}"
    return Variant(text, relation, level, edits, NAME, why)
