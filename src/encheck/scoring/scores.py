"""The scores of every kind of item, each of which knows its worst items, its rows and how it is shown."""

from __future__ import annotations

from collections.abc import Mapping

from encheck.scoring.both_orders import BothOrdersScores
from encheck.scoring.chains import ChainScores, tied
from encheck.scoring.classified import ClassifiedScores
from encheck.scoring.contrasts import ContrastScores
from encheck.scoring.crossed import CrossedScores
from encheck.scoring.logged import LoggedScores
from encheck.scoring.margins import MarginScores
from encheck.scoring.pairs import PairScores
from encheck.scoring.ranked import RankedScores
from encheck.scoring.repeated import RepeatedScores
from encheck.scoring.scale import Floats, Scale
from encheck.scoring.searches import OccurrenceScores, SearchScores
from encheck.types import Item, Kind, WholeItems

__all__ = [
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
    "scores_of",
    "tied",
]
Scores = PairScores | MarginScores | CrossedScores | BothOrdersScores | ChainScores
_OF_KIND: Mapping[Kind, type[Scores]] = {
    "pair": PairScores,
    "labelled": PairScores,
    "both_orders": BothOrdersScores,
    "triplet": MarginScores,
    "crossed": CrossedScores,
    "contrast": ContrastScores,
    "chain": ChainScores,
    "search": SearchScores,
    "occurrence": OccurrenceScores,
    "ranked": RankedScores,
    "logged": LoggedScores,
    "repeated": RepeatedScores,
    "classified": ClassifiedScores,
}


def scores_of(item: Item | WholeItems) -> type[Scores]:
    """The scores that items of this kind have."""
    return _OF_KIND[item.kind]
