"""All kinds of items and their scores. Find a kind by its name."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import entry_points

from encheck.scoring.both_orders import BOTH_ORDERS, BothOrdersScores
from encheck.scoring.chains import CHAIN, ChainScores, with_ties_equal
from encheck.scoring.classified import CLASSIFIED, ClassifiedScores
from encheck.scoring.crossed import CONTRAST, CROSSED, ContrastScores, CrossedScores
from encheck.scoring.item import Kind, Scores
from encheck.scoring.pairs import LABELLED, PAIR, REPEATED, PairScores, RepeatedScores
from encheck.scoring.scale import Floats, Scale
from encheck.scoring.searches import (
    LOGGED,
    OCCURRENCE,
    RANKED,
    SEARCH,
    LoggedScores,
    OccurrenceScores,
    RankedScores,
    SearchScores,
)
from encheck.scoring.triplets import TRIPLET, MarginScores

__all__ = [
    "ENTRY_POINTS",
    "KINDS",
    "BothOrdersScores",
    "ChainScores",
    "ClassifiedScores",
    "ContrastScores",
    "CrossedScores",
    "Floats",
    "LoggedScores",
    "MarginScores",
    "OccurrenceScores",
    "PairScores",
    "RankedScores",
    "RepeatedScores",
    "Scale",
    "Scores",
    "SearchScores",
    "find_kind",
    "with_ties_equal",
]
KINDS: Mapping[str, Kind] = {
    kind.name: kind
    for kind in (
        PAIR, LABELLED, BOTH_ORDERS, TRIPLET, CROSSED, CONTRAST, CHAIN, SEARCH, OCCURRENCE, RANKED, LOGGED, REPEATED,
        CLASSIFIED,
    )
}  # fmt: skip
ENTRY_POINTS = "encheck.kinds"


def find_kind(name: str) -> Kind | None:
    """Return the kind with this name, from encheck or an installed package; None if no kind has it."""
    if name in KINDS:
        return KINDS[name]
    for point in entry_points(group=ENTRY_POINTS, name=name):
        found = point.load()
        if isinstance(found, Kind) and found.name == name:
            return found
    return None
