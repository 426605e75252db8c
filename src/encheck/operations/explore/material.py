"""The material to search: crossed groups of a property. Each side of a group is an item with features.

The groups come from the frames of the fresh probes, each filled many times, from the embedded probes, from generated
edits of these probes' sentences, and from the user's own texts. They are split into three parts that share no cluster
and no text: one to search, one to confirm, and one for people to read.

A filled frame records its choices, so that one of them can be drawn again. This is hypothesis's choice sequence: an
example is the list of choices that made it, and a neighbour is the same list with one choice drawn again.
"""

from __future__ import annotations

import builtins
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from random import Random
from typing import Literal, NamedTuple

from encheck.datasets import fresh_probes
from encheck.datasets.dataset import Dataset
from encheck.datasets.fresh_probes import ProbeFrame, diff_words
from encheck.datasets.load import load
from encheck.errors import NothingToMeasure, UsageError, unknown_name_message
from encheck.generators.phenomenon import all_phenomena
from encheck.items.builders import crossed
from encheck.items.variants import VariantMaker
from encheck.language.english import English
from encheck.scoring.crossed import Crossed
from encheck.scoring.features import features_of_item
from encheck.scoring.triplets import Triplet, nearer_by_edit_distance
from encheck.types import Edit, Group, content_hash

TRIES = 60  # most choices change another text, or none


class Choices(Random):
    """A random generator whose first numbers are given; `made` has all numbers used."""

    def __init__(self, seed: object, given: Sequence[float] = ()) -> None:
        super().__init__(str(seed))
        self._given, self.made = given, list[float]()

    def random(self) -> float:
        """Return the next given number, or a new one after the last."""
        at = len(self.made)
        self.made.append(self._given[at] if at < len(self._given) else super().random())
        return self.made[-1]


@dataclass(frozen=True, slots=True)
class Filling:
    """A filled frame: the frame, whether its clause stands alone, and the choices that made the group."""

    frame: ProbeFrame
    is_alone: bool
    choices: tuple[float, ...]
    group: Group


def fill_frames(name: str, *, seed: int, draws: int) -> Iterator[Filling]:
    """Yield up to `draws` fillings of each frame of a property. If possible, half of them fill the frame's clause
    alone.
    """
    for frame in fresh_probes.load_probe_frames():
        if frame.phenomenon == name:
            forms = [
                (False, frame),
                *((True, alone) for alone in [fresh_probes.reduce_frame_to_clause(frame)] if alone),
            ]
            for i in range(draws):
                is_alone, form = forms[i % len(forms)]
                if found := _fill(frame, form, is_alone, (seed, frame.id, i), ()):
                    yield found


def change_one_choice(filling: Filling, *, seed: tuple[int, ...]) -> Filling | None:
    """Return the frame with one of its choices drawn again, or None if that gives no new group."""
    form = fresh_probes.reduce_frame_to_clause(filling.frame) if filling.is_alone else filling.frame
    rng = Random(f"{seed}/{filling.frame.id}/{filling.choices}")  # noqa: S311 - no secret
    for i in range(TRIES):
        choices = list(filling.choices)
        choices[rng.randrange(len(choices))] = rng.random()
        found = _fill(filling.frame, form or filling.frame, filling.is_alone, (*seed, i), choices)
        if found and found.group.source != filling.group.source:
            return found
    return None


def _fill(
    frame: ProbeFrame, form: ProbeFrame, is_alone: bool, seed: tuple[object, ...], given: Sequence[float]
) -> Filling | None:
    choices = Choices(seed, given)
    group = fresh_probes.fill_frame(form, choices)
    return Filling(frame, is_alone, tuple(choices.made), group) if group else None


NEGATIVES = (
    ("not", re.compile(r"\bnot\b|\bcannot\b", re.IGNORECASE)),
    ("n't", re.compile(r"n['’]t\b", re.IGNORECASE)),
    ("no, never or the like", re.compile(r"\b(?:no|none|nobody|nothing|never|neither|nor|without)\b", re.IGNORECASE)),
)
_DIGIT = re.compile(r"\d")
Feature = tuple[str, str]


def wording_features(name: str, triplet: Triplet, changed: Sequence[Edit]) -> Iterator[Feature]:
    """Yield the features of the wording that are specific to a property."""
    if name == "negation":
        yield "source denies", f"source with {_kind_of_negative_word(triplet.source)}"
        yield "kept denies", f"kept text with {_kind_of_negative_word(triplet.near)}"
        yield "changed denies", f"changed text with {_kind_of_negative_word(triplet.far)}"
    if name == "number":
        yield "source writes", f"source number in {_number_format(triplet.source[e.start : e.end] for e in changed)}"
        yield "changed writes", f"changed number in {_number_format(e.text for e in changed)}"


def _kind_of_negative_word(text: str) -> str:
    """Return the kind of negative word in a text.

    >>> _kind_of_negative_word("It isn't open."), _kind_of_negative_word("It is open.")
    ("n't", 'no negative word')
    """
    return next((said for said, pattern in NEGATIVES if pattern.search(text)), "no negative word")


def _number_format(parts: Iterator[str]) -> str:
    return "digits" if any(_DIGIT.search(part) for part in parts) else "words"


PROPERTIES = tuple(sorted({"antonym", *all_phenomena()}))
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
LEFT_OUT = ("relation",)  # the same as `part`, in parser terms


@dataclass(frozen=True, slots=True)
class ExploredItem:
    """A side of a crossed group. `values` has (feature, value) pairs. `filling` is the filling of its frame, if any.

    The model errs if the far text of `triplet` is at least as near to the source as the near text.
    """

    property: str
    triplet: Triplet
    whole: Crossed
    values: tuple[Feature, ...]
    filling: Filling | None = None

    @builtins.property
    def cluster(self) -> str:
        """The frame, or the cluster of the text."""
        return self.whole.cluster

    @builtins.property
    def margin_texts(self) -> tuple[str, str, str]:
        """The texts from which the margin is computed: source, near, far."""
        return self.triplet.source, self.triplet.near, self.triplet.far

    @builtins.property
    def texts(self) -> tuple[str, ...]:
        """The distinct texts of its group."""
        return tuple(dict.fromkeys(text for pair in self.whole.pairs_to_score for text in pair))


@dataclass(frozen=True)
class Material:
    """Items of one property. `more` fills the frames of items again, each with another choice for one gap.

    `why_none` has, for each source that gave no item, the reason.
    """

    property: str
    items: tuple[ExploredItem, ...]
    more: Callable[[Sequence[ExploredItem], int], list[ExploredItem]] = field(default=lambda _items, _round: [])
    why_none: Mapping[str, str] = field(default_factory=dict)


def refuse_unknown_properties(names: Sequence[str]) -> None:
    """Raise UsageError if no property is named, or if there is no material for a named property."""
    if not names:
        raise UsageError(f"name a property with --properties. Available: {', '.join(PROPERTIES)}")
    for name in names:
        if name not in PROPERTIES:
            raise UsageError(unknown_name_message("property", name, PROPERTIES))


def gather_material(
    name: str, *, own: Mapping[str, Dataset], english: English, seed: int, draws: int = DRAWS
) -> Material:
    """Return all material for a property. Raise UsageError if there is none.

    `own` has the user's texts by label. `draws` is the number of fillings per frame.
    """
    source = ItemSource(name, VariantMaker(seed, english))
    probes = load("probes", sample=None)
    paired = tuple(Group(g.id, g.source, g.source, g.cluster) for g in probes.groups if not g.is_contrast)
    sentences = Dataset(probes.name, (), paired, "", len(paired))  # those with a paraphrase, as texts to edit
    items = [
        *source.of_frames(list(fill_frames(name, seed=seed, draws=draws))),
        *source.of(probes, "written probes"),
        *(source.of(sentences, "edits of the probes' sentences") if name in all_phenomena() else []),
        *(item for label, data in own.items() for item in source.of(data, f"your texts ({label})")),
    ]
    if not items:
        raise UsageError(f"there is nothing to search for {name}: {'; '.join(dict.fromkeys(source.why_none.values()))}")

    def more(items: Sequence[ExploredItem], turn: int) -> list[ExploredItem]:
        again = (change_one_choice(one.filling, seed=(seed, turn, i)) for i, one in enumerate(items) if one.filling)
        return source.of_frames([one for one in again if one])

    distinct: dict[tuple[str, ...], ExploredItem] = {}
    for item in items:
        distinct.setdefault(item.margin_texts, item)
    return Material(name, tuple(distinct.values()), more, source.why_none)


@dataclass(frozen=True)
class ItemSource:
    """Makes items of a property from data; `why_none` has the reason for each origin without items."""

    name: str
    maker: VariantMaker
    why_none: dict[str, str] = field(default_factory=dict)

    def of(self, data: Dataset, origin: str) -> list[ExploredItem]:
        """Return the items of these data. If there are none, record the reason."""
        return [item for whole in self._crossed(data, origin) for item in self._items(whole, origin)]

    def of_frames(self, fillings: Sequence[Filling]) -> list[ExploredItem]:
        """Return the items of filled frames. An item's cluster is its frame."""
        groups = tuple(replace(one.group, cluster=str(i)) for i, one in enumerate(fillings))
        found = self._crossed(Dataset("frames", (), groups, "", len(groups)), FRAMES)
        return [item for whole in found for item in self._items(whole, FRAMES, fillings[int(whole.cluster)])]

    def _crossed(self, data: Dataset, origin: str) -> list[Crossed]:
        try:
            found = crossed(self.name)(data, 1, self.maker).included
        except NothingToMeasure as error:
            self.why_none[origin] = str(error)
            return []
        return [one for one in found if isinstance(one, Crossed)]

    def _items(self, whole: Crossed, origin: str, filling: Filling | None = None) -> Iterator[ExploredItem]:
        english = self.maker.english
        whole = replace(whole, cluster=filling.frame.id) if filling else whole
        english.parse_all(side.source for side in whole.sides)
        for triplet in whole.triplets:
            kept, changed = (diff_words(triplet.source, text) for text in (triplet.near, triplet.far))
            why = "" if filling else triplet.far_why
            said = features_of_item(english.stored_parse(triplet.source), kept, changed, why, english.lexicon)
            values = {
                "origin": origin,
                "surface": FAVOURS[nearer_by_edit_distance(triplet.source, triplet.near, triplet.far)],
                **{name: value for name, value in said.items() if name not in LEFT_OUT},
                **dict(wording_features(self.name, triplet, changed)),
            }
            if filling:
                frame, size = filling.frame, _SIZE.search(triplet.far_why)
                values["frame"] = f"frames of {frame.fillers['n'][0]}" if "n" in frame.fillers else (
                    f"frames {frame.form.name!r}"
                )  # fmt: skip
                values |= {"size": APART[size[1]]} if size else {}
                values |= {"around": "the clause alone"} if filling.is_alone else {}
            yield ExploredItem(
                self.name, triplet, whole, tuple(sorted((k, v) for k, v in values.items() if v)), filling
            )


PartName = Literal["search", "confirmation", "reading"]
SHARES: tuple[tuple[PartName, float], ...] = (("search", 0.4), ("confirmation", 0.9), ("reading", 1.0))


class SplitItems(NamedTuple):
    """The items of each part."""

    search: tuple[ExploredItem, ...]
    confirmation: tuple[ExploredItem, ...]
    reading: tuple[ExploredItem, ...]


@lru_cache(maxsize=100_000)
def hash_fraction(seed: int, *names: str) -> float:
    """Return a number from 0 to 1 that depends only on the seed and these names."""
    return int(content_hash(str(seed), *names), 16) / 16**16


def split_items(items: Sequence[ExploredItem], *, seed: int) -> SplitItems:
    """Split the items into parts by the hash of their cluster, without items that share a text with an earlier part."""
    places = {item.cluster: hash_fraction(seed, "part", item.cluster) for item in items}
    part_of = {cluster: next(name for name, end in SHARES if place < end) for cluster, place in places.items()}
    found: dict[PartName, tuple[ExploredItem, ...]] = {}
    taken: set[str] = set()
    for name, _ in SHARES:
        own = tuple(i for i in items if part_of[i.cluster] == name and taken.isdisjoint(i.texts))
        taken |= item_texts(own)
        found[name] = own
    return SplitItems(found["search"], found["confirmation"], found["reading"])


def item_texts(items: Iterable[ExploredItem]) -> set[str]:
    """Return all texts of these items."""
    return {text for item in items for text in item.texts}
