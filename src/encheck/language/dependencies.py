"""Relations of Universal Dependencies, as bits of a number."""

from __future__ import annotations

from sys import intern
from typing import NamedTuple

RELATIONS = (
    "acl advcl amod aux aux:pass case ccomp compound compound:prt cop csubj det expl fixed flat goeswith iobj mark"
    " nmod nsubj nsubj:pass nummod obj obl parataxis xcomp advmod"
).split()  # those that `Parse.below` tells apart


def mask(*deps: str) -> int:
    """The bits of these relations in `Parse.below`; ValueError for one that has none."""
    return sum(1 << RELATIONS.index(dep) for dep in set(deps))


class _Relation(NamedTuple):
    base: str  # without the subtype
    bits: int  # its own, and those of the base


class _Relations(dict[str, _Relation]):
    def __missing__(self, dep: str) -> _Relation:
        base = intern(dep.partition(":")[0])
        self[dep] = _Relation(base, mask(*{dep, base}.intersection(RELATIONS)))
        return self[dep]


RELATION = _Relations()
