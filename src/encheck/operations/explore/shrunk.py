"""The shortest form of a row's example: what `encheck show --shrink` does, for one item."""

from __future__ import annotations

from dataclasses import replace

from encheck.generators.phenomenon import phenomena, phenomenon
from encheck.items.builders import contrast
from encheck.items.variants import Maker
from encheck.language.english import English
from encheck.operations.explore.asking import Ask
from encheck.operations.explore.material import FRAMES, Item
from encheck.shrinking.remake import remaker
from encheck.shrinking.shrink import Form, Remake, Shrunk, shrink

BUDGET = 200  # pairs


def shortest(item: Item, ask: Ask, english: English, *, seed: int) -> Form | None:
    """The shortest form that the model still gets wrong by half the margin; None where nothing could go."""
    triplet = item.triplet
    if dict(item.values)["origin"] == FRAMES:  # the certificate is of what is filled in, and only the rest may go
        triplet = replace(triplet, near_why="", far_why="", near_edits=(), far_edits=())
    remake = _remake(item.property, Maker(seed, english)) if item.property in phenomena() else None
    found = shrink(triplet, ask, english, remake=remake, budget=BUDGET)
    return found.shortest if isinstance(found, Shrunk) and found.shortest is not found.whole else None


def _remake(name: str, maker: Maker) -> Remake:
    both = contrast(phenomenon(name, "kept"), phenomenon(name, "changed"))
    make = remaker(both, level=1, maker=maker)
    return lambda item, sources: make(item, sources)
