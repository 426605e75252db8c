"""One word for another: the places where a sentence has a substitute, and the variant that takes it.

Shared by `synonym` and `antonym`. What a place asks for stands in `encheck.language.fit`, what can stand there in
`encheck.language.substitutes`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Any, NamedTuple

from encheck.language.english import English
from encheck.language.fit import POS_OF_TAG, class_of, in_expression
from encheck.language.lexicon import Pos
from encheck.language.parse import Parse
from encheck.language.replace import edits, form, keeps_tags
from encheck.language.substitutes import ALL, Options, Substitute
from encheck.types import Edit, Variant, apply_edits

NAMES = {"s": "synonym", "a": "antonym"}


class Slot(NamedTuple):
    """A token that can be replaced, and by what, the best first."""

    at: int
    pos: Pos
    choices: tuple[tuple[str, Substitute], ...]

    @property
    def is_last(self) -> bool:
        """Whether the sentence's other slots go first."""
        return self.choices[0][1].is_last


def find_slots(english: English, parse: Parse, relation: str, *, only: frozenset[str] = ALL) -> tuple[Slot, ...] | str:
    """The slots for a relation, of these parts of speech alone; or the reason why there is none."""
    known, tags = english.substitutes.at(relation, only), parse.tags
    reason = "no {} that holds in nearly every sentence"
    found: list[Slot] = []
    for at, by_tag in enumerate(map(known.__getitem__, parse.lemmas)):
        if by_tag is None or (there := by_tag.get(tags[at])) is None:
            continue
        outcome = _slot(english, parse, at, *there)
        if isinstance(outcome, str):
            reason = outcome
        else:
            found.append(outcome)
    return tuple(found) or reason.format(NAMES[relation])


def _slot(english: English, parse: Parse, at: int, pos: Pos, options: Options) -> Slot | str:
    """The slot, or why there is none, with a gap for the relation's name."""
    fitting = _fitting(parse, at, options)
    if not fitting:
        return "the place of no word fits its {}"
    if class_of(parse, at) is None:
        return "only words that have to stay"
    if in_expression(parse, at, english.substitutes.expressions):
        fitting = [substitute for substitute in fitting if substitute.in_expressions]
        if not fitting:
            return "only words of fixed expressions"
    choices = [(word, s) for s in fitting if (word := form(parse, at, s.lemma)) is not None]
    return Slot(at, pos, tuple(choices)) if choices else "no {} has the form that is asked"


def _fitting(parse: Parse, at: int, options: Options) -> list[Substitute]:
    """Those whose conditions hold in this place; without a call for each, since this is asked of every word."""
    found, below = [], parse.below[at]
    for substitute, (refused, conditions) in options:
        if below & refused:
            continue
        for condition in conditions:
            if not condition(parse, at):
                break
        else:
            found.append(substitute)
    return found


def ordered(slots: Sequence[Slot], rng: Random, first: Callable[[Slot], Any]) -> Sequence[Slot]:
    """The slots in random order, but those where `first` is less before the others."""
    if len(slots) == 1:
        return slots
    found = list(slots)
    rng.shuffle(found)
    found.sort(key=first)
    return found


def replaced(english: English, parse: Parse, found: Sequence[Slot], *, relation: str, level: int) -> Variant | str:
    """The variant with `level` of these slots replaced, the first that keep their tags; or why there is none."""
    words: dict[int, str] = {}
    taken: dict[int, Substitute] = {}
    made: tuple[Edit, ...] = ()
    text = parse.text
    for slot in found:
        for word, substitute in slot.choices:
            tried = words | {slot.at: word}
            change = edits(parse, tried)
            written = apply_edits(parse.text, change)
            if keeps_tags(english, parse, tried, written):
                words, made, text = tried, change, written
                taken[slot.at] = substitute
                break
        if len(words) == level:
            return Variant(text, relation, level, made, relation, certificate(english, parse, words, taken))
    return f"only {len(words)} of {level} words" if words else f"the {relation} would be another part of speech"


def certificate(english: English, parse: Parse, words: dict[int, str], taken: dict[int, Substitute]) -> str:
    """Why these words hold: in whose place each stands, by what relation, under which conditions."""
    parts = []
    for i in sorted(words):
        tag = parse.tags[i]
        why = english.substitutes.why(parse.lower_lemmas[i], POS_OF_TAG[tag], taken[i])
        parts.append(f"{parse.words[i]} ({parse.lemmas[i]}, {tag}) > {words[i]}: {why}")
    return "; ".join(parts)
