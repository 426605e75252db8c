"""What can be searched: crossed groups of a property, each of their sides an item with its features.

They come from the frames of the fresh probes, each filled many times, from the embedded probes, from what the
generators make of these probes' sentences, and from the user's own texts.
"""

from __future__ import annotations

import builtins
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from encheck.datasets.dataset import Dataset
from encheck.datasets.fresh.wording import edits
from encheck.datasets.load import load
from encheck.errors import NothingToMeasure, UsageError, unknown
from encheck.generators.phenomenon import phenomena
from encheck.items.crossed import crossed
from encheck.items.variants import Maker
from encheck.language.english import English
from encheck.operations.explore.filling import Filling, filled_again, fillings
from encheck.operations.explore.wording import wording
from encheck.scoring.crossed import Crossed
from encheck.scoring.differences import favour
from encheck.scoring.features import of_item
from encheck.scoring.triplets import Triplet
from encheck.types import Group

PROPERTIES = tuple(sorted({"antonym", *phenomena()}))
FAVOURS = {
    1: "the surface favours the kept text", 0: "the surface favours neither text",
    -1: "the surface favours the changed text",
}  # fmt: skip
APART = {
    "near": "the other value next to it",
    "middle": "the other value a few steps away",
    "far": "the other value far away",
}
_SIZE = re.compile(r"\((near|middle|far)\)$")
DRAWS = 8
FRAMES = "frames"
LEFT_OUT = ("relation",)  # says what `part` says, in words of parsers
Value = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Item:
    """A side of a crossed group; `values` has its (feature, value), `filling` says how its frame was filled, if any.

    The model errs where the far text of `triplet` is as near to the source as the near one, or nearer.
    """

    property: str
    triplet: Triplet
    whole: Crossed
    values: tuple[Value, ...]
    filling: Filling | None = None

    @builtins.property
    def cluster(self) -> str:
        """The frame, or the cluster of the text."""
        return self.whole.cluster

    @builtins.property
    def own_texts(self) -> tuple[str, str, str]:
        """The texts that its margin takes: source, near, far."""
        return self.triplet.source, self.triplet.near, self.triplet.far

    @builtins.property
    def texts(self) -> tuple[str, ...]:
        """The texts that its group has, each once."""
        return tuple(dict.fromkeys(text for pair in self.whole.pairs for text in pair))


@dataclass(frozen=True)
class Material:
    """Items of one property. `more` fills the frames of items again, each with another choice for one gap.

    `why_none` has the reason, by source, where one gave no item.
    """

    property: str
    items: tuple[Item, ...]
    more: Callable[[Sequence[Item], int], list[Item]] = field(default=lambda _items, _round: [])
    why_none: Mapping[str, str] = field(default_factory=dict)


def refuse_unknown(names: Sequence[str]) -> None:
    """UsageError for no property, or for one that nothing is made for."""
    if not names:
        raise UsageError(f"name a property with --properties. There are: {', '.join(PROPERTIES)}")
    for name in names:
        if name not in PROPERTIES:
            raise UsageError(unknown("property", name, PROPERTIES))


def gathered(name: str, *, own: Mapping[str, Dataset], english: English, seed: int, draws: int = DRAWS) -> Material:
    """All that can be searched for a property; `own` has the user's texts by label, `draws` fillings a frame are made.

    UsageError where there is nothing.
    """
    source = Source(name, Maker(seed, english))
    probes = load("probes", sample=None)
    items = [
        *source.of_frames(list(fillings(name, seed=seed, draws=draws))),
        *source.of(probes, "written probes"),
        *(source.of(_sentences(probes), "edits of the probes' sentences") if name in phenomena() else []),
        *(item for label, data in own.items() for item in source.of(data, f"your texts ({label})")),
    ]
    if not items:
        raise UsageError(f"there is nothing to search for {name}: {'; '.join(dict.fromkeys(source.why_none.values()))}")

    def more(some: Sequence[Item], turn: int) -> list[Item]:
        again = (filled_again(one.filling, seed=(seed, turn, i)) for i, one in enumerate(some) if one.filling)
        return source.of_frames([one for one in again if one])

    return Material(name, tuple(distinct(items)), more, source.why_none)


@dataclass(frozen=True)
class Source:
    """Makes items of a property from data; `why_none` has the reason, by origin, where data gave none."""

    name: str
    maker: Maker
    why_none: dict[str, str] = field(default_factory=dict)

    def of(self, data: Dataset, origin: str) -> list[Item]:
        """The items of these groups; why there are none is noted."""
        return [item for whole in self._crossed(data, origin) for item in self._items(whole, origin)]

    def of_frames(self, some: Sequence[Filling]) -> list[Item]:
        """The items of filled frames, in the cluster of their frame."""
        groups = tuple(replace(one.group, cluster=str(i)) for i, one in enumerate(some))
        found = self._crossed(Dataset("frames", (), groups, "", len(groups)), FRAMES)
        return [item for whole in found for item in self._items(whole, FRAMES, some[int(whole.cluster)])]

    def _crossed(self, data: Dataset, origin: str) -> list[Crossed]:
        try:
            found = crossed(self.name)(data, 1, self.maker).kept
        except NothingToMeasure as error:
            self.why_none[origin] = str(error)
            return []
        return [one for one in found if isinstance(one, Crossed)]

    def _items(self, whole: Crossed, origin: str, filling: Filling | None = None) -> Iterator[Item]:
        english = self.maker.english
        whole = replace(whole, cluster=filling.frame.id) if filling else whole
        english.parse_all(side.source for side in whole.sides)
        for triplet in whole.triplets:
            kept, changed = (edits(triplet.source, text) for text in (triplet.near, triplet.far))
            why = "" if filling else triplet.far_why
            said = of_item(english.parse(triplet.source), kept, changed, why, english.lexicon)
            values = {
                "origin": origin,
                "surface": FAVOURS[favour(triplet.source, triplet.near, triplet.far)],
                **{name: value for name, value in said.items() if name not in LEFT_OUT},
                **dict(wording(self.name, triplet, changed)),
                **(_of_filling(filling, triplet) if filling else {}),
            }
            yield Item(self.name, triplet, whole, tuple(sorted((k, v) for k, v in values.items() if v)), filling)


def _of_filling(filling: Filling, triplet: Triplet) -> dict[str, str]:
    frame, size = filling.frame, _SIZE.search(triplet.far_why)
    found = {"frame": f"frames {frame.form.name!r}"}
    if "n" in frame.fillers:
        found["frame"] = f"frames of {frame.fillers['n'][0]}"
    if size:
        found["size"] = APART[size[1]]
    if filling.is_alone:
        found["around"] = "the clause alone"
    return found


def _sentences(probes: Dataset) -> Dataset:
    """The probes' sentences that have a paraphrase, as texts to edit."""
    groups = tuple(Group(g.id, g.source, g.source, g.cluster) for g in probes.groups if not g.is_contrast)
    return Dataset(probes.name, (), groups, "", len(groups))


def distinct(items: Iterable[Item]) -> list[Item]:
    """The items, of those with the same three texts the first."""
    found: dict[tuple[str, ...], Item] = {}
    for item in items:
        found.setdefault(item.own_texts, item)
    return list(found.values())
