"""Who stands in which relation to whom, so that an exchange of words that keeps all of it can be told.

Units (entities and other words) hang on each other as the parse says. Members of a coordination, of a name and of an
apposition are equals: each stands in the relation of the first of them. So do the two sides of "A is B" and of "A met
B". Articles and punctuation are no relations.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from encheck.language.edits.conditions import base_of
from encheck.language.parse import Parse

# Predicates that say the same both ways round: "A met B", "A is similar to B".
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
        """The relations of a sentence that is cut into these units."""
        words = tuple(" ".join(parse.words[u.start : u.end]).casefold() for u in units)
        return cls(tuple(_links(parse, units)), words, {unit: i for i, unit in enumerate(units)})

    def after(self, swaps: Iterable[tuple[MovableUnit, MovableUnit]]) -> frozenset[tuple[tuple[str, str, str], int]]:
        """Which words stand in which relation after these exchanges, and how often."""
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
        if base_of(parse.deps[top]) in NO_RELATION:
            continue
        first = _first(parse, top)
        head = parse.heads[first]
        yield (-1 if head == first else unit_of[head]), _name(parse, top, first), i
        subject = parse.child(first, "nsubj")
        if base_of(parse.deps[top]) == "conj" and subject is not None and parse.child(top, "nsubj") is None:
            yield i, "nsubj", unit_of[subject]  # "A sings and dances": both have the subject


def _top(parse: Parse, unit: MovableUnit) -> int:
    """The token of a unit that hangs on something outside of it."""
    inside = range(unit.start, unit.end)
    return next((i for i in inside if parse.heads[i] == i or parse.heads[i] not in inside), unit.start)


def _first(parse: Parse, at: int) -> int:
    """The first of the equals that a token belongs to: the one whose relation they share."""
    for _ in range(len(parse)):
        head = parse.heads[at]
        if head == at or not _equal(parse, at):
            break
        at = head
    return at


def _equal(parse: Parse, at: int) -> bool:
    """Whether a token is another name, member or side of what it hangs on."""
    dep, head = base_of(parse.deps[at]), parse.heads[at]
    if dep in EQUALS:
        return True
    if dep == "compound":
        return parse.tags[at].startswith("NNP") and parse.tags[head].startswith("NNP")
    return dep == "nsubj" and parse.child(head, "cop") is not None and parse.tags[head].startswith("NN")


def _name(parse: Parse, at: int, first: int) -> str:
    """The relation, with the preposition that goes with it; the two sides of a symmetric predicate share a name."""
    head, dep = parse.heads[first], parse.deps[first]
    if dep in ARGUMENTS and (parse.lemmas[head].lower() in SYMMETRIC):
        return "side"
    marks = [parse.child(place, "case") for place in (at, first)]
    mark = next((parse.lemmas[i].lower() for i in marks if i is not None), "")
    return f"{dep} {mark}" if mark else dep


def why_kept(parse: Parse, a: MovableUnit, b: MovableUnit) -> str:
    """Why an exchange of these two keeps the meaning, in a few words."""
    tops = [_top(parse, unit) for unit in (a, b)]
    deps = {base_of(parse.deps[top]) for top in tops}
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
