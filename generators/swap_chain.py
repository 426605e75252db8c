"""Swap chains: pairs of units with the same tag are exchanged, one pair after the other (Peng, Weir and Weeds 2023,
section 4).

A unit is an entity, or a word that is not part of one. Units are grouped by the entity's label or the word's tag. All
nouns form one group, and so do all verbs, except forms of "be". The generator chooses three groups at random and
exchanges two units of each. Each exchange builds on the earlier ones. Unlike in the paper, auxiliaries, bare numbers
and words that touch their neighbour stay in place. An exchange is rejected if the same words have the same relations
afterwards.

The relations of units come from the parse. The members of a coordination, of a name and of an apposition are treated as
equals: each has the relation of the first member. The same goes for the two sides of "A is B" and of "A met B".
Articles and punctuation have no relations.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from random import Random
from typing import NamedTuple

from encheck.generators.base import listed_generator
from encheck.language.edits.conditions import strip_subtype
from encheck.language.english import English
from encheck.language.parse import Parse
from encheck.language.prose import why_not_edited
from encheck.types import Edit, Group, Variant, apply_edits

# Symmetric predicates: "A met B", "A is similar to B".
SYMMETRIC = frozenset(
    """meet marry divorce resemble equal match border date kiss hug fight intersect adjoin differ agree disagree
    collaborate cooperate compete coincide collide similar identical equivalent adjacent parallel related married
    opposite different""".split()
)
ARGUMENTS = frozenset({"nsubj", "obj", "dobj", "obl", "nsubj:pass"})
EQUALS = frozenset({"conj", "flat", "appos"})
NO_RELATION = frozenset({"det", "punct", "cc", "case", "cop"})


class MovableUnit(NamedTuple):
    """Tokens `start` to `end` of a parse, which move together.

    `tag` is ENT:label, NOUN, VERB or the fine-grained tag.
    """

    start: int
    end: int
    tag: str


@dataclass(frozen=True, slots=True)
class Relations:
    """The relations between units.

    `links` has (head, name, unit), with the units' numbers. `words` has each unit's words.
    """

    links: tuple[tuple[int, str, int], ...]
    words: tuple[str, ...]
    number: dict[MovableUnit, int]

    @classmethod
    def of(cls, parse: Parse, units: Sequence[MovableUnit]) -> Relations:
        """Return the relations in a sentence that is divided into these units. The head of a root is -1."""
        relations: list[tuple[int, str, int]] = []
        unit_of = [i for i, unit in enumerate(units) for _ in range(unit.start, unit.end)]
        tops = [_unit_head(parse, unit) for unit in units]
        for i, top in enumerate(tops):
            if strip_subtype(parse.deps[top]) in NO_RELATION:
                continue
            first = _first_equal(parse, top)
            head, name = parse.heads[first], parse.deps[first]
            if name in ARGUMENTS and parse.lemmas[head].lower() in SYMMETRIC:
                name = "side"  # both sides of a symmetric predicate
            else:
                marks = [parse.child(place, "case") for place in (top, first)]
                mark = next((parse.lemmas[at].lower() for at in marks if at is not None), "")
                name = f"{name} {mark}" if mark else name
            relations.append((-1 if head == first else unit_of[head], name, i))
            subject = parse.child(first, "nsubj")
            if strip_subtype(parse.deps[top]) == "conj" and subject is not None and parse.child(top, "nsubj") is None:
                relations.append((i, "nsubj", unit_of[subject]))  # "A sings and dances": both have the subject
        words = tuple(" ".join(parse.words[u.start : u.end]).casefold() for u in units)
        return cls(tuple(relations), words, {unit: i for i, unit in enumerate(units)})

    def after(self, swaps: Iterable[tuple[MovableUnit, MovableUnit]]) -> frozenset[tuple[tuple[str, str, str], int]]:
        """Return the words in each relation after these exchanges, with their counts."""
        words = list(self.words)
        for a, b in swaps:
            i, k = self.number[a], self.number[b]
            words[i], words[k] = words[k], words[i]
        result = Counter((words[head] if head >= 0 else "", name, words[i]) for head, name, i in self.links)
        return frozenset(result.items())


def _unit_head(parse: Parse, unit: MovableUnit) -> int:
    """Return the token of a unit whose head is outside the unit."""
    inside = range(unit.start, unit.end)
    return next((i for i in inside if parse.heads[i] == i or parse.heads[i] not in inside), unit.start)


def _first_equal(parse: Parse, at: int) -> int:
    """Return the first of a token's equals. They all have its relation."""
    for _ in range(len(parse)):
        # Is it part of the same name, coordination or symmetric predicate as its head?
        head, dep = parse.heads[at], strip_subtype(parse.deps[at])
        if dep == "compound":
            is_equal = parse.tags[at].startswith("NNP") and parse.tags[head].startswith("NNP")
        elif dep == "nsubj":
            is_equal = parse.child(head, "cop") is not None and parse.tags[head].startswith("NN")
        else:
            is_equal = dep in EQUALS
        if head == at or not is_equal:
            break
        at = head
    return at


def why_exchange_keeps_meaning(parse: Parse, a: MovableUnit, b: MovableUnit) -> str:
    """Return in a few words why the exchange of these two units keeps the meaning."""
    tops = [_unit_head(parse, unit) for unit in (a, b)]
    deps = {strip_subtype(parse.deps[top]) for top in tops}
    heads = [parse.heads[top] for top in tops]
    firsts = [_first_equal(parse, top) for top in tops]
    if deps & {"flat", "compound"} and (heads[0] in tops or heads[1] in tops):
        return "within one name"
    if "appos" in deps:
        return "one names the other"
    if "conj" in deps:
        return "coordinated members"
    if firsts[0] == firsts[1]:
        return "two sides of a copula"
    if parse.lemmas[heads[0]].lower() in SYMMETRIC:
        return "symmetric predicate"
    return "the same head" if heads[0] == heads[1] else "the same relations"


SWAPS = 3
PAIRS_TRIED = 40  # of a group
FORMS_OF_BE = frozenset("be am is are was were been being 'm 're".split())
OPEN = ("NOUN", "VERB", "CD")
JOINERS = "-\u2010\u2011\u2013/'’@#_"
Groups = Mapping[str, tuple[MovableUnit, ...]]
Swap = tuple[MovableUnit, MovableUnit]


@dataclass(frozen=True, slots=True)
class SwapStep:
    """One exchange: the tag of its units, all edits so far, their description, and the tokens in their new order."""

    tag: str
    edits: tuple[Edit, ...]
    order: tuple[int, ...]
    said: str


@dataclass(frozen=True, slots=True)
class SwappedVariant(Variant):
    """A variant with the steps that lead to it. `rejected` has the reasons why other exchanges were rejected."""

    steps: tuple[SwapStep, ...] = ()
    rejected: tuple[str, ...] = ()


class SwapGroups(NamedTuple):
    """The groups of units that can be exchanged, and the relations of the sentence."""

    groups: Groups
    relations: Relations


@listed_generator(1, 2, 3)
def swap_chain(group: Group, *, level: int, rng: Random, english: English) -> SwappedVariant | str:
    """Return the source after `level` exchanges, with the earlier exchanges, or the condition that the sentence fails.

    The same `rng` makes the same exchanges at every level: level 2 is level 1 and one more.
    """
    if left := why_not_edited(group.source) if not group.variants else "":
        return left
    result = english.derive(_find_swap_groups, group.source)
    if isinstance(result, str):
        return result
    parse = english.stored_parse(group.source)
    rejected: list[str] = []
    swaps = _choose_meaning_changing_swaps(parse, result, rng, rejected)
    if len(swaps) < SWAPS:
        return f"too few exchanges that change the meaning ({rejected[0] if rejected else 'the units cross'})"
    return swap_units(parse, swaps, level=level, rejected=rejected)


def _find_swap_groups(_english: English, parse: Parse) -> SwapGroups | str:
    """Return the units that can be exchanged, or why there are too few.

    No auxiliary moves, no bare number, and no unit that touches another word.
    """

    def movable(unit: MovableUnit) -> bool:
        if unit.tag == "CD" or (unit.end - unit.start == 1 and parse.pos[unit.start] == "AUX"):
            return False
        before, after = parse.starts[unit.start], parse.ends[unit.end - 1]
        sides = (parse.text[max(before - 1, 0) : before], parse.text[after : after + 1])
        return not any(side.isalnum() or (side != "" and side in JOINERS) for side in sides)

    units = split_into_units(parse.words, parse.tags, parse.entities, lemmas=parse.lemmas)
    groups = require_swap_groups(parse, [unit for unit in units if movable(unit)])
    return groups if isinstance(groups, str) else SwapGroups(groups, Relations.of(parse, units))


def require_swap_groups(parse: Parse, units: Sequence[MovableUnit]) -> Groups | str:
    """Return the groups of these units; a reason if there are fewer than `SWAPS`."""
    groups = group_units_by_tag(units, parse.words)
    if len(groups) >= SWAPS:
        return groups
    if not len(parse) and parse.text.strip():
        return "longer than the parser's limit"
    tags = Counter(unit.tag for unit in units if _is_open_class(unit))  # counts equal words, too
    different = "different " if sum(count > 1 for count in tags.values()) >= SWAPS else ""
    return f"fewer than {SWAPS} groups of {different}words with the same tag"


def split_into_units(
    words: Sequence[str], tags: Sequence[str], entities: Sequence[str], *, lemmas: Sequence[str] = ()
) -> tuple[MovableUnit, ...]:
    """Return every entity ("B-LOC", "I-LOC" ...) and every other word, in order. A form of "be" has the tag "".

    >>> [(u.start, u.end, u.tag) for u in split_into_units(["New", "York", "is", "big"], ["NNP", "NNP", "VBZ", "JJ"],
    ...                                            ["B-LOC", "I-LOC", "", ""])]
    [(0, 2, 'ENT:LOC'), (2, 3, ''), (3, 4, 'JJ')]
    """
    found, at = [], 0
    while at < len(words):
        end, label = at + 1, entities[at][2:]
        while label and end < len(words) and entities[end] == f"I-{label}":
            end += 1
        is_be = words[at].lower() in FORMS_OF_BE or (lemmas and lemmas[at].lower() == "be")
        tag = tags[at]
        if label:
            tag = f"ENT:{label}"
        elif tag.startswith("VB"):
            tag = "" if is_be else "VERB"
        elif tag.startswith("NN"):
            tag = "NOUN"
        found.append(MovableUnit(at, end, tag))
        at = end
    return tuple(found)


def _is_open_class(unit: MovableUnit) -> bool:
    return unit.tag.startswith(("ENT:", "JJ", "RB")) or unit.tag in OPEN


def group_units_by_tag(units: Sequence[MovableUnit], words: Sequence[str]) -> Groups:
    """Return tag -> units of the open classes, for tags with at least two distinct units.

    Units that differ only in case are equal, and only the first of them is returned.
    """
    result: dict[str, dict[str, MovableUnit]] = {}
    for unit in units:
        if _is_open_class(unit):
            surface = " ".join(words[unit.start : unit.end]).casefold()
            result.setdefault(unit.tag, {}).setdefault(surface, unit)
    return {tag: tuple(distinct.values()) for tag, distinct in sorted(result.items()) if len(distinct) > 1}


def _choose_meaning_changing_swaps(
    parse: Parse, swap_groups: SwapGroups, rng: Random, rejected: list[str]
) -> list[tuple[str, Swap]]:
    """Return three groups and two units of each such that no step repeats the meaning of an earlier one.

    Reasons against other exchanges are added to `rejected`.
    """
    groups, relations = swap_groups
    swaps: list[tuple[str, Swap]] = []
    meanings = [relations.after(())]
    for tag in rng.sample(sorted(groups), len(groups)):
        pairs = list(combinations(groups[tag], 2))
        for pair in iter(rng.sample(pairs, min(len(pairs), PAIRS_TRIED))):
            now = relations.after([swap for _, swap in swaps] + [pair])
            if now not in meanings:
                swaps.append((tag, pair))
                meanings.append(now)
                break
            is_same = not swaps or now == meanings[-1]
            rejected.append(why_exchange_keeps_meaning(parse, *pair) if is_same else "undoes earlier exchanges")
        if len(swaps) == SWAPS:
            break
    return swaps


def swap_units(
    parse: Parse,
    swaps: Sequence[tuple[str, Swap]],
    *,
    level: int,
    rejected: Sequence[str] = (),
    adapts_capitals: bool = True,
) -> SwappedVariant:
    """Return the sentence after the first `level` of these exchanges, with the step that each of them makes.

    With `adapts_capitals`, the sentence still begins with a capital, and a word that leaves the beginning loses it.
    """
    steps = []
    for count in range(1, level + 1):
        replacements = {unit: other for _, (a, b) in swaps[:count] for unit, other in ((a, b), (b, a))}
        edits: list[Edit] = []
        order: list[int] = []
        at = 0
        for unit in sorted(replacements):
            other = replacements[unit]
            order += [*range(at, unit.start), *range(other.start, other.end)]
            at = unit.end
            text = _unit_text(parse, other)
            if adapts_capitals and _opens_with_capital(parse, unit):
                text = text[:1].upper() + text[1:]
            elif adapts_capitals and _opens_with_capital(parse, other):
                is_name = other.tag.startswith("ENT:") or parse.pos[other.start] == "PROPN"
                if not is_name and parse.words[other.start].istitle():
                    text = text[:1].lower() + text[1:]
            edits.append(Edit(parse.starts[unit.start], parse.ends[unit.end - 1], text))
        order += range(at, len(parse))
        said = "; ".join(f"{tag}: {_unit_text(parse, a)} <-> {_unit_text(parse, b)}" for tag, (a, b) in swaps[:count])
        steps.append(SwapStep(swaps[count - 1][0], tuple(edits), tuple(order), said))
    edits_of_level, said = steps[-1].edits, steps[-1].said
    text = apply_edits(parse.text, edits_of_level)
    return SwappedVariant(
        text, "swap", level, edits_of_level, "swap_chain", said, steps=tuple(steps), rejected=tuple(rejected)
    )


def _opens_with_capital(parse: Parse, unit: MovableUnit) -> bool:
    return unit.start == 0 and parse.words[0][:1].isupper()


def _unit_text(parse: Parse, unit: MovableUnit) -> str:
    return parse.text[parse.starts[unit.start] : parse.ends[unit.end - 1]]
