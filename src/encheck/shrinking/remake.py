"""Making the edits of generated texts again, on shorter sources: kept and changed text both."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace

from encheck.datasets.dataset import Dataset
from encheck.errors import NothingToMeasure
from encheck.items.builders import Builder
from encheck.items.variants import Maker
from encheck.scoring.crossed import Crossed
from encheck.scoring.triplets import Triplet
from encheck.shrinking.cut import gives_up_the_same
from encheck.types import Group

TRIES = 8  # seeds: on a shorter source the generator's draws fall differently


def remaker(
    build: Builder, *, level: int | str, maker: Maker
) -> Callable[[Triplet, Sequence[str]], list[Triplet | None]]:
    """What makes a check's items of other sentences: the check's own builder, so that their certificates hold.

    A sentence of which it makes no triplet in which the same words give way as in the item gives None. Which words a
    generator takes is drawn, so several seeds are tried.
    """

    def remake(item: Triplet, sources: Sequence[str]) -> list[Triplet | None]:
        found: dict[str, Triplet] = {}
        for at in range(TRIES):
            left = [text for text in dict.fromkeys(sources) if text not in found]
            made = _built(build, item, left, level, replace(maker, seed=maker.seed + at)) if left else ()
            found |= {one.source: replace(one, id=item.id) for one in made if gives_up_the_same(item, one)}
        return [found.get(text) for text in sources]

    return remake


def _built(build: Builder, item: Triplet, sources: Sequence[str], level: int | str, maker: Maker) -> Iterator[Triplet]:
    groups = tuple(Group(str(i), text, text, item.cluster, split=item.split) for i, text in enumerate(sources))
    with suppress(NothingToMeasure):
        made = build(Dataset(item.id.partition("/")[0], (), groups, "", len(groups)), level, maker).kept
        for one in made:
            yield from one.triplets if isinstance(one, Crossed) else [one] if isinstance(one, Triplet) else ()
