"""Antonym edits: one verb or adjective replaced by its opposite (Mahajan et al. 2023, criterion 3)."""

from __future__ import annotations

from random import Random

from encheck.generators.paper import paper_antonym
from encheck.generators.replacing import Slot, replaced, slots
from encheck.generators.written import written
from encheck.language.english import English
from encheck.language.parse import Parse
from encheck.types import Edit, Group, Variant, apply_edits

PARTS = frozenset("va")
DEPTH = 3


def antonym(group: Group, *, level: int, rng: Random, english: English) -> Variant | str | None:
    """The hand-written edit where the data has one, else one verb or adjective replaced by its opposite.

    The word is one that the sentence hangs on: its main predicate rather than a word deep in a clause; among equals,
    one that has a synonym too, so that the two can be compared.
    """
    if group.variants:
        return written(group, "antonym", level=level)
    if english.mode == "paper":
        return paper_antonym(group.source, words=level, rng=rng, lexicon=english.lexicon)
    if level > 1:
        return "an antonym edit exchanges one word"
    found = slots(english, group.source, "a", only=PARTS)
    if isinstance(found, str):
        return found
    parse = english.parse(group.source)
    rng.shuffle(found)
    found.sort(key=lambda slot: _rank(english, parse, slot))
    return replaced(english, group.source, found, relation="antonym", level=1)


def _rank(english: English, parse: Parse, slot: Slot) -> tuple[bool, int, bool]:
    synonyms = english.substitutes.of(parse.lemmas[slot.at].lower(), slot.pos, "s")
    return slot.is_last, min(depth(parse, slot.at), DEPTH), not synonyms


def depth(parse: Parse, at: int) -> int:
    """How many steps a token is from the head of its sentence.

    A word of the predicate counts as the head does.
    """
    steps = 0
    while parse.heads[at] != at and steps < len(parse):
        at, steps = parse.heads[at], steps + 1
    return steps


COPULAS = {"is", "are", "was", "were", "am", "be", "been", "being"}


def negated_antonym(group: Group, *, level: int, rng: Random, english: English) -> Variant | str | None:
    """The meaning kept by turning it twice: "is possible" becomes "is not impossible".

    Only for complementary opposites (not A is B) in a predicate with a form of "be" that is not negated yet.
    """
    if group.variants:
        return written(group, "negated_antonym", level=level)
    turned = antonym(group, level=1, rng=rng, english=english)
    if not isinstance(turned, Variant):
        return turned
    parse = english.parse(group.source)
    at = parse.starts.index(turned.edits[-1].start)
    copula = parse.child(at, "cop")
    if "compl" not in turned.certificate or copula is None or parse.words[copula].lower() not in COPULAS:
        return "no complementary opposite in a predicate"
    if any(parse.lemmas[i].lower() in ("not", "n't", "never") for i in parse.children[at]):
        return "negated already"
    insert = Edit(parse.ends[copula], parse.ends[copula], " not")
    made = tuple(sorted((*turned.edits, insert), key=lambda edit: edit.start))
    return Variant(
        apply_edits(group.source, made), "negated_antonym", 1, made, "negated_antonym", turned.certificate + "; negated"
    )
