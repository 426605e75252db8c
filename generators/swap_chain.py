"""Swap chains: units of equal tag exchanged, one pair after the other (Peng, Weir and Weeds 2023, section 4).

A unit is an entity, or a word outside of one. Units are grouped by the entity's label or the word's tag, all nouns and
all verbs together, without forms of "be". Three groups are drawn, two units of each are exchanged, and each exchange
builds on the earlier ones. `careful` mode also leaves out auxiliaries, bare numbers and words that touch their
neighbour, and rejects an exchange after which the same words have the same relations.

The parse gives the dependencies of units. Members of a coordination, of a name and of an apposition are equals: each
has the relation of the first of them. So have the two sides of "A is B" and of "A met B". Articles and punctuation have
no relations.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from random import Random
from typing import NamedTuple

from encheck.generators.base import listed
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
    """Tokens `start` to `end` of a parse, which move together; `tag` is ENT:label, NOUN, VERB or the fine tag."""

    start: int
    end: int
    tag: str


@dataclass(frozen=True, slots=True)
class Relations:
    """The links (head, name, unit) between units by their numbers, and each unit's words."""

    links: tuple[tuple[int, str, int], ...]
    words: tuple[str, ...]
    number: dict[MovableUnit, int]

    @classmethod
    def of(cls, parse: Parse, units: Sequence[MovableUnit]) -> Relations:
        """The relations of a sentence that is divided into these units."""
        words = tuple(" ".join(parse.words[u.start : u.end]).casefold() for u in units)
        return cls(tuple(_links(parse, units)), words, {unit: i for i, unit in enumerate(units)})

    def after(self, swaps: Iterable[tuple[MovableUnit, MovableUnit]]) -> frozenset[tuple[tuple[str, str, str], int]]:
        """The words in each relation after these exchanges, with their counts."""
        words = list(self.words)
        for a, b in swaps:
            i, k = self.number[a], self.number[b]
            words[i], words[k] = words[k], words[i]
        result = Counter((words[head] if head >= 0 else "", name, words[i]) for head, name, i in self.links)
        return frozenset(result.items())


def _links(parse: Parse, units: Sequence[MovableUnit]) -> Iterator[tuple[int, str, int]]:
    """Every relation between units; the head of a root is -1."""
    unit_of = [i for i, unit in enumerate(units) for _ in range(unit.start, unit.end)]
    tops = [_top(parse, unit) for unit in units]
    for i, top in enumerate(tops):
        if strip_subtype(parse.deps[top]) in NO_RELATION:
            continue
        first = _first(parse, top)
        head = parse.heads[first]
        yield (-1 if head == first else unit_of[head]), _name(parse, top, first), i
        subject = parse.child(first, "nsubj")
        if strip_subtype(parse.deps[top]) == "conj" and subject is not None and parse.child(top, "nsubj") is None:
            yield i, "nsubj", unit_of[subject]  # "A sings and dances": both have the subject


def _top(parse: Parse, unit: MovableUnit) -> int:
    """The token of a unit whose head is outside of it."""
    inside = range(unit.start, unit.end)
    return next((i for i in inside if parse.heads[i] == i or parse.heads[i] not in inside), unit.start)


def _first(parse: Parse, at: int) -> int:
    """The first of a token's equals, whose relation they share."""
    for _ in range(len(parse)):
        head = parse.heads[at]
        if head == at or not _equal(parse, at):
            break
        at = head
    return at


def _equal(parse: Parse, at: int) -> bool:
    """Whether a token is another name, member or side of its head."""
    dep, head = strip_subtype(parse.deps[at]), parse.heads[at]
    if dep in EQUALS:
        return True
    if dep == "compound":
        return parse.tags[at].startswith("NNP") and parse.tags[head].startswith("NNP")
    return dep == "nsubj" and parse.child(head, "cop") is not None and parse.tags[head].startswith("NN")


def _name(parse: Parse, at: int, first: int) -> str:
    """The relation, with its preposition; the two sides of a symmetric predicate have the same name."""
    head, dep = parse.heads[first], parse.deps[first]
    if dep in ARGUMENTS and (parse.lemmas[head].lower() in SYMMETRIC):
        return "side"
    marks = [parse.child(place, "case") for place in (at, first)]
    mark = next((parse.lemmas[i].lower() for i in marks if i is not None), "")
    return f"{dep} {mark}" if mark else dep


def why_kept(parse: Parse, a: MovableUnit, b: MovableUnit) -> str:
    """Why an exchange of these two keeps the meaning, in a few words."""
    tops = [_top(parse, unit) for unit in (a, b)]
    deps = {strip_subtype(parse.deps[top]) for top in tops}
    heads = [parse.heads[top] for top in tops]
    firsts = [_first(parse, top) for top in tops]
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
    """One exchange: the tag of its units, all edits up to it and their description, the tokens in new order."""

    tag: str
    edits: tuple[Edit, ...]
    order: tuple[int, ...]
    said: str


@dataclass(frozen=True, slots=True)
class Swapped(Variant):
    """A variant with the steps that lead to it; `rejected` has the reasons against other exchanges."""

    steps: tuple[SwapStep, ...] = ()
    rejected: tuple[str, ...] = ()


class SwapGroups(NamedTuple):
    """The groups of units that can change places, and in careful mode their relations."""

    groups: Groups
    relations: Relations | None


@listed(1, 2, 3)
def swap_chain(group: Group, *, level: int, rng: Random, english: English) -> Swapped | str:
    """The source after `level` exchanges, with the earlier ones; or which of the conditions the sentence fails.

    The same `rng` gives the same exchanges at every level: level 2 is level 1 and one more.
    """
    careful = english.mode == "careful"
    if left := why_not_edited(group.source) if careful and not group.variants else "":
        return left
    result = english.derive(swap_groups, group.source)
    if isinstance(result, str):
        return result
    parse = english.parse(group.source)
    rejected: list[str] = []
    groups, relations = result
    swaps = _sample_swaps(groups, rng) if relations is None else _careful(parse, groups, relations, rng, rejected)
    if len(swaps) < SWAPS:
        return f"too few exchanges that change the meaning ({rejected[0] if rejected else 'the units cross'})"
    steps = tuple(_step(parse, swaps[: k + 1], careful=careful) for k in range(level))
    text, edits = apply_edits(group.source, steps[-1].edits), steps[-1].edits
    said = steps[-1].said
    return Swapped(text, "swap", level, edits, "swap_chain", said, steps=steps, rejected=tuple(rejected))


def swap_groups(english: English, parse: Parse) -> SwapGroups | str:
    """The units of a sentence that can be exchanged, whatever is drawn; or why there are too few."""
    careful = english.mode == "careful"
    units = units_of(parse.words, parse.tags, parse.entities, lemmas=parse.lemmas)
    keep = _movable(parse) if careful else _any
    groups = groups_of(units, parse.words, keep=keep)
    if len(groups) < SWAPS:
        # Why there are too few groups; `tags` counts the movable words, including equal ones.
        tags = Counter(unit.tag for unit in units if _open(unit) and keep(unit))
        if not len(parse) and parse.text.strip():
            return "longer than the parser's limit"
        different = "different " if sum(count > 1 for count in tags.values()) >= SWAPS else ""
        return f"fewer than {SWAPS} groups of {different}words with the same tag"
    return SwapGroups(groups, Relations.of(parse, units) if careful else None)


def units_of(
    words: Sequence[str], tags: Sequence[str], entities: Sequence[str], *, lemmas: Sequence[str] = ()
) -> tuple[MovableUnit, ...]:
    """Every entity ("B-LOC", "I-LOC" ...) and every other word, in order; the tag of a form of "be" is "".

    >>> [(u.start, u.end, u.tag) for u in units_of(["New", "York", "is", "big"], ["NNP", "NNP", "VBZ", "JJ"],
    ...                                            ["B-LOC", "I-LOC", "", ""])]
    [(0, 2, 'ENT:LOC'), (2, 3, ''), (3, 4, 'JJ')]
    """
    found, at = [], 0
    while at < len(words):
        end, label = at + 1, entities[at][2:]
        while label and end < len(words) and entities[end] == f"I-{label}":
            end += 1
        lemma = lemmas[at].lower() if lemmas else ""
        found.append(MovableUnit(at, end, f"ENT:{label}" if label else _tag(words[at], tags[at], lemma)))
        at = end
    return tuple(found)


def _tag(word: str, tag: str, lemma: str) -> str:
    if tag.startswith("VB"):
        return "" if lemma == "be" or word.lower() in FORMS_OF_BE else "VERB"
    return "NOUN" if tag.startswith("NN") else tag


def _open(unit: MovableUnit) -> bool:
    return unit.tag.startswith(("ENT:", "JJ", "RB")) or unit.tag in OPEN


def _any(_unit: MovableUnit) -> bool:
    return True


def groups_of(
    units: Sequence[MovableUnit], words: Sequence[str], *, keep: Callable[[MovableUnit], bool] = _any
) -> Groups:
    """Units of the open classes by tag: distinct ones (case ignored, first of equals), two or more per group."""
    result: dict[str, dict[str, MovableUnit]] = {}
    for unit in units:
        if _open(unit) and keep(unit):
            surface = " ".join(words[unit.start : unit.end]).casefold()
            result.setdefault(unit.tag, {}).setdefault(surface, unit)
    return {tag: tuple(distinct.values()) for tag, distinct in sorted(result.items()) if len(distinct) > 1}


def _movable(parse: Parse) -> Callable[[MovableUnit], bool]:
    """The condition for moving a unit in careful mode: no auxiliary, bare number or unit that touches another word."""

    def movable(unit: MovableUnit) -> bool:
        if unit.tag == "CD" or (unit.end - unit.start == 1 and parse.pos[unit.start] == "AUX"):
            return False
        before, after = parse.starts[unit.start], parse.ends[unit.end - 1]
        return not (before and _joins(parse.text[before - 1])) and not _joins(parse.text[after : after + 1])

    return movable


def _joins(side: str) -> bool:
    return side.isalnum() or (side != "" and side in JOINERS)


def _sample_swaps(groups: Groups, rng: Random) -> list[tuple[str, Swap]]:
    """Three groups and two units of each, drawn as in the paper."""
    drawn = []
    for tag in rng.sample(sorted(groups), SWAPS):
        first, second = rng.sample(groups[tag], 2)
        drawn.append((tag, (first, second)))
    return drawn


def _careful(
    parse: Parse, groups: Groups, relations: Relations, rng: Random, rejected: list[str]
) -> list[tuple[str, Swap]]:
    """Three groups and two units of each such that no step repeats the meaning of an earlier one."""
    swaps: list[tuple[str, Swap]] = []
    said = [relations.after(())]
    for tag in rng.sample(sorted(groups), len(groups)):
        units = groups[tag]
        pairs = list(combinations(units, 2))
        for pair in iter(rng.sample(pairs, min(len(pairs), PAIRS_TRIED))):
            now = relations.after([swap for _, swap in swaps] + [pair])
            if now in said:
                rejected.append(why_kept(parse, *pair) if not swaps or now == said[-1] else "undoes earlier exchanges")
                continue
            swaps.append((tag, pair))
            said.append(now)
            break
        if len(swaps) == SWAPS:
            break
    return swaps


def _step(parse: Parse, swaps: Sequence[tuple[str, Swap]], *, careful: bool) -> SwapStep:
    puts = {unit: other for _, (a, b) in swaps for unit, other in ((a, b), (b, a))}
    edits = tuple(_edit(parse, unit, puts[unit], careful=careful) for unit in sorted(puts))
    order: list[int] = []
    at = 0
    for unit in sorted(puts):
        order += [*range(at, unit.start), *range(puts[unit].start, puts[unit].end)]
        at = unit.end
    said = "; ".join(f"{tag}: {_text(parse, a)} <-> {_text(parse, b)}" for tag, (a, b) in swaps)
    return SwapStep(swaps[-1][0], edits, (*order, *range(at, len(parse))), said)


def _edit(parse: Parse, unit: MovableUnit, put: MovableUnit, *, careful: bool) -> Edit:
    """The edit that puts one unit in place of another; in careful mode the sentence still begins with a capital."""
    text = _text(parse, put)
    if careful and _opens(parse, unit):
        text = text[:1].upper() + text[1:]
    elif (
        careful
        and _opens(parse, put)
        and not (put.tag.startswith("ENT:") or parse.pos[put.start] == "PROPN" or not parse.words[put.start].istitle())
    ):
        text = text[:1].lower() + text[1:]
    return Edit(parse.starts[unit.start], parse.ends[unit.end - 1], text)


def _opens(parse: Parse, unit: MovableUnit) -> bool:
    return unit.start == 0 and parse.words[0][:1].isupper()


def _text(parse: Parse, unit: MovableUnit) -> str:
    return parse.text[parse.starts[unit.start] : parse.ends[unit.end - 1]]
