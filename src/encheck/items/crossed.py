"""From a data set to crossed groups: two sources and two texts, each of which is right for one source."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from encheck.datasets.dataset import Dataset
from encheck.datasets.probes import MIRROR, kept_relation
from encheck.generators.phenomenon import phenomena
from encheck.generators.sides import MIRRORED
from encheck.generators.written import OWN_TEXT, PROBES
from encheck.ids import ItemId
from encheck.items.builders import Builder, Outcome, collect
from encheck.items.variants import Maker
from encheck.scoring.crossed import Crossed, CrossedSide
from encheck.scoring.item import Items
from encheck.scoring.triplets import surface_preference
from encheck.types import Group, Lacking, Variant, content_hash


def crossed(phenomenon: str) -> Builder:
    """Crossed groups of one phenomenon (docs/probes.md).

    Of text without written edits they are made where there are generators of all three texts.
    """

    def build(dataset: Dataset, _level: int | str, maker: Maker) -> Items:
        groups = [group for group in dataset.groups if not group.side]
        return collect(dataset, (_crossed(dataset, g, phenomenon) for g in _with_edits(groups, phenomenon, maker)))

    return build


def _with_edits(groups: Sequence[Group], phenomenon: str, maker: Maker) -> Iterator[Group | str]:
    """The groups with their edits, written or made; or why one has none."""
    bare = [group for group in groups if not group.variants]
    if phenomenon not in phenomena() or not bare:
        yield from groups
        return
    sides = phenomena()[phenomenon].generators
    made = zip(*(maker.variants(bare, sides[side]) for side in MIRRORED), strict=True)
    for group in groups:
        yield group if group.variants else _made(group, next(made))


def _made(group: Group, outcomes: Sequence[Variant | str]) -> Group | str:
    if reasons := [outcome for outcome in outcomes if isinstance(outcome, str)]:
        return reasons[0]
    return replace(group, variants=tuple(one for one in outcomes if isinstance(one, Variant)))


def _crossed(dataset: Dataset, group: Group | str, phenomenon: str) -> Outcome:
    """The sides of a group: the sentence's, and that of the second sentence, which turns both texts round.

    What goes by the two texts alone, their length or their words, wins one and loses the other. How far the texts are
    from either sentence may pull the same way on both sides, unless the sentences look alike. No group is left out for
    what a scorer gets of it: rivals stand beside the figures.
    """
    if isinstance(group, str):
        return group
    near, far = group.variant(kept_relation(phenomenon)), group.variant(phenomenon)
    mirror = group.variant(f"{phenomenon}{MIRROR}")
    if near is None or far is None or mirror is None:
        is_in_probes = phenomenon in phenomena() and phenomena()[phenomenon].in_probes
        needs = PROBES if is_in_probes else OWN_TEXT
        return Lacking(f"no crossed edits of {phenomenon} were written for this sentence", needs=needs)

    first = CrossedSide(group.source, near.text, far.text, near.edits, far.edits, near.certificate, far.certificate)
    sides = (first, CrossedSide(mirror.text, far.text, near.text))
    if surface_preference(first.source, first.near, first.far) < 0:
        sides = sides[::-1]
    texts = dict.fromkeys((sides[0].source, sides[1].source, sides[0].near, sides[1].near))
    name = ItemId.of(dataset.name, content_hash(*texts), phenomenon, 1, "crossed")
    return Crossed(name, sides, group.cluster, group.split, group.shares, group.construction)
