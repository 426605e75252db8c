"""Making the edits of generated texts again, on shorter sources: kept and changed text both."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from encheck.datasets.dataset import Dataset
from encheck.errors import NothingToMeasure
from encheck.items.builders import Builder
from encheck.items.variants import Maker
from encheck.types import Group, Triplet


def remaker(
    build: Builder, *, level: int | str, maker: Maker
) -> Callable[[Triplet, Sequence[str]], list[Triplet | None]]:
    """What makes a check's items of other sentences: the check's own builder, so that their certificates hold.

    A sentence of which it makes no triplet gives None.
    """

    def remake(item: Triplet, sources: Sequence[str]) -> list[Triplet | None]:
        groups = tuple(Group(str(i), text, text, item.cluster, split=item.split) for i, text in enumerate(sources))
        try:
            made = build(Dataset(item.id.partition("/")[0], (), groups, "", len(groups)), level, maker).kept
        except NothingToMeasure:
            return [None] * len(sources)
        found = {one.source: one for one in made if isinstance(one, Triplet)}
        return [replace(found[text], id=item.id) if text in found else None for text in sources]

    return remake
