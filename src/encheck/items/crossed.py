"""From a data set to crossed groups: two contrasts of one kind whose surfaces pull against each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from encheck.datasets.dataset import Dataset
from encheck.datasets.sides import kept_relation
from encheck.generators.phenomenon import phenomena
from encheck.generators.sides import MIRRORED
from encheck.generators.written import OWN_TEXT, PROBES
from encheck.ids import ItemId
from encheck.items.builders import Builder, Outcome, collect
from encheck.items.variants import Maker
from encheck.scoring.crossed import Crossed, Side
from encheck.scoring.differences import favour
from encheck.scoring.item import Items
from encheck.types import Group, Lacking, Variant, content_hash


def crossed(phenomenon: str) -> Builder:
    """Crossed groups of one phenomenon, in the crossed or in the mirrored form (docs/probes.md).

    Of text without written edits the mirrored form is made where there are generators of all three texts.
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
    if isinstance(group, str):
        return group
    sides = _of_one_source(group, phenomenon) or _mirrored(group, phenomenon)
    if sides is None:
        is_in_probes = phenomenon in phenomena() and phenomena()[phenomenon].in_probes
        needs = PROBES if is_in_probes else OWN_TEXT
        return Lacking(f"no crossed edits of {phenomenon} were written for this sentence", needs=needs)
    texts = dict.fromkeys((sides[0].source, sides[1].source, sides[0].near, sides[1].near))
    name = ItemId.of(dataset.name, content_hash(*texts), phenomenon, 1, "crossed")
    return Crossed(name, sides, group.cluster, group.split, group.shares, group.construction)


def _of_one_source(group: Group, phenomenon: str) -> tuple[Side, Side] | None:
    """The sides of the crossed form, the one whose surface favours the kept text first."""
    found = []
    for favours in ("kept", "changed"):
        near, far = group.variant(f"{phenomenon}_kept", 1, favours), group.variant(phenomenon, 1, favours)
        if near is None or far is None:
            return None
        found.append(_side(group.source, near, far))
    return found[0], found[1]


def _mirrored(group: Group, phenomenon: str) -> tuple[Side, Side] | None:
    """The sides of the mirrored form: the sentence's, and that of the second sentence, which turns both texts round.

    What goes by the two texts alone, their length or their words, wins one and loses the other. How far the texts are
    from either sentence may pull the same way on both sides, unless the sentences look alike. No group is left out for
    what a scorer gets of it: rivals stand beside the figures.
    """
    near, far = group.variant(kept_relation(phenomenon)), group.variant(phenomenon)
    mirror = group.variant(f"{phenomenon}_mirror")
    if near is None or far is None or mirror is None:
        return None
    first, second = _side(group.source, near, far), Side(mirror.text, far.text, near.text)
    return (first, second) if favour(first.source, first.near, first.far) >= 0 else (second, first)


def _side(source: str, near: Variant, far: Variant) -> Side:
    return Side(source, near.text, far.text, near.edits, far.edits, near.certificate, far.certificate)
