"""Antonym edits: one verb or adjective replaced by its opposite (Mahajan et al. 2023, criterion 3)."""

from __future__ import annotations

from encheck.generators.base import listed
from encheck.generators.paper import paper_antonym
from encheck.generators.replacing import Slot, is_last, ordered, replaced
from encheck.generators.turning import FEW, NEGATIVE, UNIVERSAL, depth, turning_slots
from encheck.generators.written import written
from encheck.language.english import English
from encheck.language.parse import Parse
from encheck.statistics.draws import Draws
from encheck.types import Edit, Group, Variant, apply_edits

DEPTH = 3
COMPLEMENTARY = "compl"  # the flag of opposites where what is not the one is the other
FINITE = frozenset("is are was were am".split())
INTENSE = frozenset("too so very more most less least enough quite rather as how only even just also alone".split())
QUANTIFIED = (
    NEGATIVE | FEW | UNIVERSAL | frozenset("not n't n’t any anyone anybody anything either most half without".split())
)
NOT = "not"
UNTIL = frozenset("until till since".split())


@listed(1, title="antonyms", readers=(239, 260))
def antonym(group: Group, *, level: int, rng: Draws, english: English) -> Variant | str | None:
    """The written edit where the data has one, else one verb or adjective replaced by its opposite.

    The word is one that the sentence hangs on: its main predicate rather than a word deep in a clause; among equals,
    one that has a synonym too, so that the two can be compared. It stays where the sentence holds its opposite, or
    where nobody and nothing is said to be or do it.
    """
    if group.variants:
        return written(group, "antonym", level=level)
    if english.mode == "paper":
        return paper_antonym(group.source, words=level, rng=rng, lexicon=english.lexicon)
    if level > 1:
        return "an antonym edit replaces only one word"
    slots = english.read(turning_slots, group.source)
    if isinstance(slots, str):
        return slots
    parse = english.parse(group.source)
    found = ordered(slots, rng, lambda slot: _rank(english, parse, slot))
    return replaced(english, parse, found, relation="antonym", level=1)


def _rank(english: English, parse: Parse, slot: Slot) -> tuple[bool, int, bool]:
    synonyms = english.substitutes.of(parse.lower_lemmas[slot.at], slot.pos, "s")
    return is_last(slot), min(depth(parse, slot.at), DEPTH), not synonyms


@listed(1)
def negated_antonym(group: Group, *, level: int, rng: Draws, english: English) -> Variant | str | None:
    """The meaning kept by turning it twice: "is possible" becomes "is not impossible".

    Only for complementary opposites (not A is B) in a plain predicate of a statement: right behind a finite form of
    "be", neither negated, quantified, compared nor coordinated.
    """
    if group.variants:
        return written(group, "negated_antonym", level=level)
    if english.mode == "paper":
        return "the published recipe has no negated antonym"
    slots = english.read(turning_slots, group.source)
    if isinstance(slots, str):
        return slots
    parse = english.parse(group.source)
    found = [c for slot in slots if (c := _complementary(slot)) and parse.child(slot.at, "cop") is not None]
    if not found:
        return "no complementary opposite in a predicate"
    reasons = [_why_not_negated(parse, slot.at) for slot in found]
    found = [slot for slot, reason in zip(found, reasons, strict=True) if reason is None]
    if not found:
        return str(reasons[0])
    rng.shuffle(found)
    turned = replaced(english, parse, found, relation="antonym", level=1)
    if not isinstance(turned, Variant):
        return turned
    copula = parse.starts.index(turned.edits[-1].start) - 1
    insert = Edit(parse.ends[copula], parse.ends[copula], " not")
    made = tuple(sorted((*turned.edits, insert), key=lambda edit: edit.start))
    return Variant(
        apply_edits(group.source, made), "negated_antonym", 1, made, "negated_antonym", turned.certificate + "; negated"
    )


@listed(beside=("negated_antonym",))
def unnegated(group: Group, *, base: Variant, level: int, rng: Draws, english: English) -> Variant | str:  # noqa: ARG001
    """The opposite in `base`, a negated antonym, without its "not": "is impossible" for "is not impossible"."""
    left = tuple(edit for edit in base.edits if edit.text.strip().lower() != NOT)
    if len(left) == len(base.edits) or not left:
        return "its negation is not a separate edit"
    return Variant(apply_edits(group.source, left), "antonym", level, left, "unnegated", base.certificate)


def _complementary(slot: Slot) -> Slot | None:
    """The slot with its complementary opposites alone; None if it has none."""
    choices = tuple((word, s) for word, s in slot.choices if COMPLEMENTARY in s.flags)
    return Slot(slot.at, slot.pos, choices) if choices else None


def _why_not_negated(parse: Parse, at: int) -> str | None:
    """Why "not" and the opposite would not give the same in this predicate, in a few words."""
    copula, below = parse.child(at, "cop"), parse.children[at]
    clause = {parse.lowers[i] for i in parse.subtree(at)}
    subject = parse.child(at, "nsubj", "csubj", "expl")
    bases = {parse.bases[i] for i in below}
    if copula is None or parse.lowers[copula] not in FINITE or "aux" in bases:
        return "no finite form of 'be' by itself"
    if "?" in parse.text or subject is None or parse.child(at, "expl", "nsubj", "csubj", "cop") == copula:
        return "no plain statement"
    if not clause.isdisjoint(QUANTIFIED):
        return "negated or quantified"
    if copula != at - 1 or parse.tags[at] != "JJ" or "advmod" in bases or not clause.isdisjoint(INTENSE):
        return "a word that modifies the predicate"
    if "conj" in bases or parse.bases[at] == "conj" or "advcl" in bases or any(_is_timed(parse, i) for i in below):
        return "more belongs to the predicate"
    return None


def _is_timed(parse: Parse, at: int) -> bool:
    """A time, or what lasts until or since one: "not" could be said of that."""
    cases = {parse.lowers[i] for i in parse.children[at] if parse.bases[i] == "case"}
    return parse.bases[at] == "obl" and (parse.entities[at].endswith(("DATE", "TIME")) or not cases.isdisjoint(UNTIL))
