"""What checks measure, one by one: items, what is known of each kind of them, and how a failure message shows one."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Self

from encheck.ids import ItemId
from encheck.types import Edit


def edits_of(text: str | None) -> list[Edit]:
    """Edits from a column.

    >>> edits_of('[[2, 6, "slow"]]')
    [Edit(start=2, end=6, text='slow')]
    """
    return [Edit(*edit) for edit in json.loads(text)] if text else []


@dataclass(frozen=True, slots=True)
class ItemSide:
    """The near or the far text of an item, as it was scored; no text where the score is that of the other order."""

    text: str | None
    score: float
    overlap: float | None
    edits: tuple[Edit, ...]
    why: str


@dataclass(frozen=True, slots=True)
class ItemRow:
    """One row of items.parquet, as `encheck show` and the pages have it."""

    case: str
    item: str
    kind: str
    cluster: str
    split: str
    source: str
    near: ItemSide
    far: ItemSide
    step: int | None
    source_is_second: bool

    @classmethod
    def at(cls, columns: Mapping[str, Sequence[Any]], i: int) -> Self:
        """The row at this place of the columns, which `ItemFrame.to_columns` names."""

        def value(name: str) -> Any:
            return columns[name][i] if columns.get(name) else None

        near, far = (
            ItemSide(
                value(side), value(f"{side}_score"), value(f"{side}_overlap"),
                tuple(edits_of(value(f"{side}_edits"))), value(f"{side}_why") or "",
            )
            for side in ("near", "far")
        )  # fmt: skip
        return cls(
            value("case"), value("item"), value("kind"), value("cluster"), value("split") or "", value("source"),
            near, far, value("step"), bool(value("source_is_second")),
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Kind:
    """What results, gate and page know of a kind of item. A package plugs one in by the entry point `encheck.kinds`.

    `name` stands in items.parquet, `scores` gives the class that scores many items. `weighed_as` says what the scores
    are, and by which figure a gate goes where the check declares no metric: "triplet" is a near score that should beat
    a far one (margin rate), "turned" two that should be equal (symmetry), "labelled" one with a label (similarity gap),
    "pair" one alone (its mean). `noun` is what the page calls several. An item has `sides` rows. `answer` is the text
    of a row that the model found itself. `compares` says what thresholds of similarity cut: the "texts" of a row, the
    first "answers", or neither. Without `is_sampled` the figure of a part of the data says nothing. With `is_question`
    the source is a query. `stands_alone` says that each row is won or lost by itself, `shrinks` that its texts can be
    cut, `is_learned` that a classifier of the vectors scores them; `note` gives a line on a row.
    """

    name: str
    weighed_as: Literal["triplet", "turned", "labelled", "pair"]
    scores: Callable[[], type[Any]]
    noun: str = "items"
    sides: int = 1
    answer: Literal["near", "far", ""] = ""
    compares: Literal["texts", "answers", ""] = ""
    is_sampled: bool = True
    is_question: bool = False
    stands_alone: bool = False
    shrinks: bool = False
    is_learned: bool = False
    note: Callable[[ItemRow], str] | None = None

    @property
    def is_contest(self) -> bool:
        """Whether each row has a far text, which its near text has to beat."""
        return self.weighed_as == "triplet"


class Item:
    """What a check measures one by one: a frozen dataclass that adds its texts.

    `shares` are hashes of what it has in common with other items, where these overlap; empty where that is its cluster.
    `construction` names how the texts of a written contrast differ; empty of other items.
    """

    __slots__ = ()
    id: ItemId
    cluster: str
    split: str

    @property
    def kind(self) -> Kind:
        """What is known of its kind."""
        raise NotImplementedError

    @property
    def shares(self) -> tuple[str, ...]:
        """Nothing but the cluster."""
        return ()

    @property
    def construction(self) -> str:
        """None."""
        return ""

    @property
    def other(self) -> str:
        """The cluster of its second text, where that is another one's; none."""
        return ""

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """What a model has to score in no role: none."""
        return ()

    @property
    def judged(self) -> tuple[tuple[str, str], ...]:
        """Each query with the documents that are right or wrong for it: what a model that scores pairs has to score."""
        return ()

    @property
    def in_roles(self) -> tuple[Iterable[str], Iterable[str]]:
        """The texts that are encoded as queries, and those as documents."""
        return (), ()

    @property
    def repeats(self) -> tuple[str, ...]:
        """The texts that are encoded a second time."""
        return ()


class WholeItems(Sequence[Any]):
    """Items that are too many to hold in memory: they have themselves scored, and nothing goes through them one by one.

    `kind` is that of each item.
    """

    kind: Kind

    @abstractmethod
    def refuse(self, subject: Any) -> None:
        """NothingToMeasure for a model under test that cannot score them part by part."""

    @abstractmethod
    def prepare(self, subject: Any, together: Sequence[Any], *, locks: Any, progress: Any) -> int:
        """Have a model score all that these items of one data set need together; how many scores it computed.

        NothingToMeasure as of `refuse`; EncoderError where the model fails.
        """

    @abstractmethod
    def measured(self, by: Any, scale: Any, *, model: str | None, seed: int) -> Any:
        """Their scores by a model that has prepared them, named by its fingerprint; by word overlap for None.

        `by` scores those of them that are in memory.
        """

    @abstractmethod
    def shown(self, scores: Any, *, seed: int) -> tuple[Sequence[Item], Any]:
        """Those that reports show, with their scores: the worst, some at random, and all that are in memory."""


@dataclass(frozen=True, slots=True)
class Items:
    """The items that a check measures, and why each of the others was excluded.

    `tuning` are labelled pairs that thresholds are chosen on, or texts that a classifier learns from; none of them is
    measured. `whole` are all items where they are too many to hold in memory: `kept` has those among them that are.
    """

    kept: Sequence[Item]
    excluded: dict[str, int] = field(default_factory=dict)
    tuning: tuple[Item, ...] = ()
    whole: WholeItems | None = None

    @property
    def every(self) -> Sequence[Item]:
        """All items, in memory or not."""
        return self.kept if self.whole is None else self.whole


@dataclass(frozen=True, slots=True)
class ExampleLine:
    """A text under the name of its part, with its score where it has one.

    `source` is what `edits` are of, where the text is shown as a change of it.
    """

    name: str
    text: str
    score: float | None = None
    source: str | None = None
    edits: tuple[Edit, ...] = ()


def near_and_far(
    source: str, near: tuple[float, str, tuple[Edit, ...]], far: tuple[float, str, tuple[Edit, ...]]
) -> list[ExampleLine]:
    """A source between the text that should be near and the one that should be far, each (score, text, edits)."""
    sides = (("near ", *near), ("far  ", *far))
    return [
        *(ExampleLine(name, text, score, source, edits) for name, score, text, edits in sides),
        ExampleLine("of   ", source),
    ]


def text_above_source(name: str, score: float, source: str, text: str, edits: tuple[Edit, ...]) -> list[ExampleLine]:
    """A text and its score, above the source that it stands beside."""
    return [ExampleLine(f"{name:5}", text, score, source, edits), ExampleLine("of   ", source)]
