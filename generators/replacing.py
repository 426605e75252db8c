"""One word for another: the places where a sentence has a substitute, and the variant that takes it.

Shared by `synonym` and `antonym`. What a place asks for stands in `encheck.language.fit`, what can stand there in
`encheck.language.substitutes`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from encheck.language.english import English
from encheck.language.fit import class_of, fits, in_expression
from encheck.language.lexicon import Pos
from encheck.language.parse import Parse
from encheck.language.replace import edits, form, keeps_tags
from encheck.language.substitutes import Substitute
from encheck.types import Edit, Variant, apply_edits

NAMES = {"s": "synonym", "a": "antonym"}


@dataclass(frozen=True, slots=True)
class Slot:
    """A token that can be replaced, and by what, the best first."""

    at: int
    pos: Pos
    choices: tuple[tuple[str, Substitute], ...]

    @property
    def is_last(self) -> bool:
        """Whether the sentence's other slots go first."""
        return self.choices[0][1].is_last


def find_slots(
    english: English, text: str, relation: str, *, only: frozenset[str] = frozenset("nvar")
) -> tuple[Slot, ...] | str:
    """The slots for a relation, of these parts of speech alone; or the reason why there is none."""
    parse, known = english.parse(text), english.substitutes.at(relation)
    reason = f"no {NAMES[relation]} that holds in nearly every sentence"
    found: list[Slot] = []
    for at, there in enumerate(map(known.__getitem__, zip(parse.lemmas, parse.tags, strict=True))):
        if there is None or there[0] not in only:
            continue
        if class_of(parse, at) is None:
            outcome: Slot | str = "only words that have to stay"
        else:
            outcome = _slot(english, parse, at, *there, relation)
        if isinstance(outcome, Slot):
            found.append(outcome)
        else:
            reason = outcome
    return tuple(found) or reason


def _slot(
    english: English, parse: Parse, at: int, pos: Pos, known: tuple[Substitute, ...], relation: str
) -> Slot | str:
    if in_expression(parse, at, english.substitutes.expressions, english.substitutes.pairs):
        known = tuple(s for s in known if s.in_expressions)
    if not known:
        return "only words of fixed expressions"
    fitting = [s for s in known if fits(parse, at, pos, s.flags)]
    if not fitting:
        return f"the place of no word fits its {NAMES[relation]}"
    forms = ((form(parse, at, s.lemma), s) for s in fitting)
    choices = tuple((word, s) for word, s in forms if word is not None)
    return Slot(at, pos, choices) if choices else f"no {NAMES[relation]} has the form that is asked"


def replaced(english: English, text: str, found: Sequence[Slot], *, relation: str, level: int) -> Variant | str:
    """The variant with `level` of these slots replaced, the first that keep their tags; or why there is none."""
    parse = english.parse(text)
    words: dict[int, str] = {}
    taken: dict[int, Substitute] = {}
    made: tuple[Edit, ...] = ()
    for slot in found:
        for word, substitute in slot.choices:
            tried = words | {slot.at: word}
            change = edits(parse, tried)
            if keeps_tags(english, parse, tried, change):
                words, made = tried, change
                taken[slot.at] = substitute
                break
        if len(words) == level:
            return variant(parse, words, taken, made, relation=relation)
    return f"only {len(words)} of {level} words" if words else f"the {relation} would be another part of speech"


def variant(
    parse: Parse, words: dict[int, str], taken: dict[int, Substitute], made: tuple[Edit, ...], *, relation: str
) -> Variant:
    """The variant that these edits make, with the certificate of its words."""
    said = []
    for i in sorted(words):
        by = taken[i]
        why = ", ".join(filter(None, (by.origin, f"sense {by.sense}" * bool(by.sense), ",".join(sorted(by.flags)))))
        said.append(f"{parse.words[i]} ({parse.lemmas[i]}, {parse.tags[i]}) > {words[i]}: {why}")
    return Variant(apply_edits(parse.text, made), relation, len(words), made, relation, "; ".join(said))
