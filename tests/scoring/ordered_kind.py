"""A kind of item in one file, as a package would plug it in: a sentence, and texts from the nearest to the farthest."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import numpy as np

from encheck import claim
from encheck.ids import ItemId
from encheck.metrics import margin_rate
from encheck.scoring.item import ExampleLine, Item, ItemFrame, Items, Kind, TextColumns
from encheck.scoring.triplets import MarginScores
from encheck.types import content_hash

ORDERED = Kind("ordered", "triplet", lambda: OrderedScores, noun="orders", compares="texts")
FILE = "orders.jsonl"  # a line each: [sentence, nearest text, ..., farthest text]


@dataclass(frozen=True, slots=True)
class Ordered(Item):
    kind: ClassVar[Kind] = ORDERED
    id: ItemId
    source: str
    texts: tuple[str, ...]
    cluster: str
    split: str = ""

    @property
    def pairs_to_score(self):
        return tuple((self.source, text) for text in self.texts)


@dataclass(frozen=True)
class OrderedScores(MarginScores):
    """`near` and `far` of each item are the scores of the two neighbours in its order that lie worst."""

    surface_scorers: ClassVar[tuple[str, ...]] = ("jaccard",)

    @classmethod
    def score_items(cls, items: Sequence[Ordered], scorer, resampler, scale):
        near, far = [], []
        for item in items:
            scores = scorer.score_pairs([item.source] * len(item.texts), list(item.texts))
            at = int(np.argmin(scores[:-1] - scores[1:]))
            near.append(scores[at])
            far.append(scores[at + 1])
        return cls(np.array(near), np.array(far), resampler, scale)

    def to_item_frame(self, case, items):
        first, last = (tuple(item.texts[at] for item in items) for at in (0, -1))
        sides = TextColumns(first, self.near), TextColumns(last, self.far)
        return ItemFrame.from_items(ORDERED, case, items, (item.source for item in items), *sides)

    def example_lines(self, item, position):
        return [ExampleLine("of   ", item.source), *(ExampleLine("order", text) for text in item.texts)]


def orders(dataset, _level, _maker):
    """The items of the file, one for each cluster of the data."""
    found = [json.loads(line) for line in Path(FILE).read_text("utf-8").splitlines()]
    names = (ItemId.of(dataset.name, content_hash(*texts), "order", 1, "data", 0) for texts in found)
    rows = zip(names, found, dataset.universe, strict=True)
    return Items(tuple(Ordered(name, one[0], tuple(one[1:]), cluster) for name, one, cluster in rows))


def undeclared(dataset, level, maker):
    """The same items as of a kind that no package declares."""
    found = orders(dataset, level, maker)
    other = type("Other", (Ordered,), {"kind": replace(ORDERED, name="other")})
    return Items(tuple(other(one.id, one.source, one.texts, one.cluster) for one in found.included))


ABOUT = {"metric": margin_rate, "aim": 0.9, "tells": "a nearer text from a farther one"}


@claim(orders, property="order_of_texts", **ABOUT)
def test_texts_stand_in_their_order(judge):
    """Each text is nearer to its sentence than the next one."""
    judge()


@claim(undeclared, property="undeclared_kind", **ABOUT)
def test_kind_is_declared(judge):
    """Nothing: the kind of its items is unknown."""
    judge()
