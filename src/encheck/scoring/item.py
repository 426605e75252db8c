"""Items, which checks measure one by one; the kinds of items; and the lines that show items in failure messages."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Self

from encheck.ids import ItemId
from encheck.types import Edit


def parse_edits(text: str | None) -> list[Edit]:
    """Read edits from a column.

    >>> parse_edits('[[2, 6, "slow"]]')
    [Edit(start=2, end=6, text='slow')]
    """
    return [Edit(*edit) for edit in json.loads(text)] if text else []


@dataclass(frozen=True, slots=True)
class ItemSide:
    """The near or the far text of an item with its score. `text` is None if the score is that of the reversed pair."""

    text: str | None
    score: float
    overlap: float | None
    edits: tuple[Edit, ...]
    why: str


@dataclass(frozen=True, slots=True)
class ItemRow:
    """One row of items.parquet, for `encheck show` and the pages."""

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
    def from_columns(cls, columns: Mapping[str, Sequence[Any]], i: int) -> Self:
        """Return the row at this position of the columns of `ItemFrame.to_columns`."""

        def value(name: str) -> Any:
            return columns[name][i] if columns.get(name) else None

        near, far = (
            ItemSide(
                value(side), value(f"{side}_score"), value(f"{side}_overlap"),
                tuple(parse_edits(value(f"{side}_edits"))), value(f"{side}_why") or "",
            )
            for side in ("near", "far")
        )  # fmt: skip
        return cls(
            value("case"), value("item"), value("kind"), value("cluster"), value("split") or "", value("source"),
            near, far, value("step"), bool(value("source_is_second")),
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of item, for results, gate and page. A package can add one by the entry point `encheck.kinds`.

    `name` is the name of the kind in items.parquet. `scores` returns the class that scores many items. `score_form`
    describes the scores, and the gate's figure if the check declares no metric: "triplet" is a near score that should
    beat a far score (margin rate), "turned" two scores that should be equal (symmetry), "labelled" a score with a label
    (similarity gap), and "pair" a single score (its mean). `noun` is the plural on the page. An item has `sides` rows.
    `answer` names the text of a row that the model chose. `compares` says what similarity thresholds apply to: the
    "texts" of a row, the first "answers", or neither. Unless `is_sampled`, a figure for a part of the data is
    meaningless. If `is_question`, the source is a query. If `stands_alone`, each row is won or lost separately. If
    `shrinks`, the texts can be shortened. If `is_learned`, a classifier of the vectors scores the items. `note` returns
    a line on a row.
    """

    name: str
    score_form: Literal["triplet", "turned", "labelled", "pair"]
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
    def compares_near_and_far(self) -> bool:
        """Whether each row has a far text that the near text has to beat."""
        return self.score_form == "triplet"


class Item:
    """One question to a model. A subclass is a frozen dataclass that adds the texts.

    `shares` are hashes of what the item has in common with other items, if these overlap; it is empty if items share
    only their cluster. `construction` names how the texts of a written contrast differ; it is empty for other items.
    """

    __slots__ = ()
    id: ItemId
    cluster: str
    split: str

    @property
    def kind(self) -> Kind:
        """The item's kind."""
        raise NotImplementedError

    @property
    def shares(self) -> tuple[str, ...]:
        """Empty by default: the item shares only its cluster."""
        return ()

    @property
    def construction(self) -> str:
        """Empty by default."""
        return ""

    @property
    def second_cluster(self) -> str:
        """The cluster of the second text if it differs; "" by default."""
        return ""

    @property
    def pairs_to_score(self) -> tuple[tuple[str, str], ...]:
        """The pairs to score without a role; none by default."""
        return ()

    @property
    def query_document_pairs(self) -> tuple[tuple[str, str], ...]:
        """The pairs of a query and a right or wrong document, for a model that scores pairs."""
        return ()

    @property
    def queries_and_documents(self) -> tuple[Iterable[str], Iterable[str]]:
        """The texts to encode as queries, and those to encode as documents."""
        return (), ()

    @property
    def texts_to_encode_again(self) -> tuple[str, ...]:
        """The texts to encode a second time."""
        return ()


class ItemsScoredInParts(Sequence[Any]):
    """Items that do not fit into memory. They are scored in parts and never iterated one by one.

    `kind` is the kind of each item.
    """

    kind: Kind

    @abstractmethod
    def refuse_unscorable_model(self, subject: Any) -> None:
        """Raise NothingToMeasure for a model under test that cannot score the items part by part."""

    @abstractmethod
    def prepare(self, subject: Any, together: Sequence[Any], *, locks: Any, progress: Any) -> int:
        """Score all texts of these items with a model; return the number of computed scores.

        Raise NothingToMeasure as `refuse_unscorable_model` does, EncoderError if the model fails.
        """

    @abstractmethod
    def score_items(self, scorer: Any, scale: Any, *, model: str | None, seed: int) -> Any:
        """Return the items' scores by a prepared model, named by its fingerprint, or by word overlap if `model` is
        None.

        `scorer` scores the items in memory.
        """

    @abstractmethod
    def select_for_report(self, scores: Any, *, seed: int) -> tuple[Sequence[Item], Any]:
        """Return the items for reports with their scores: the worst items, some random ones, and all in memory."""


@dataclass(frozen=True, slots=True)
class Items:
    """The items that a check measures, and the number of excluded items for each reason.

    `tuning` are labelled pairs for choosing thresholds, or training texts of a classifier; they are not measured.
    `whole` has all items if they do not fit into memory; `included` then has the items in memory.
    """

    included: Sequence[Item]
    excluded: dict[str, int] = field(default_factory=dict)
    tuning: tuple[Item, ...] = ()
    whole: ItemsScoredInParts | None = None

    @property
    def all_items(self) -> Sequence[Item]:
        """All items, in memory or not."""
        return self.included if self.whole is None else self.whole


@dataclass(frozen=True, slots=True)
class ExampleLine:
    """A line of an example: a text after the name of its part, with its score if it has one.

    `source` is the text to which `edits` apply, if the text is shown as a change of it.
    """

    name: str
    text: str
    score: float | None = None
    source: str | None = None
    edits: tuple[Edit, ...] = ()


def triplet_lines(
    source: str, near: tuple[float, str, tuple[Edit, ...]], far: tuple[float, str, tuple[Edit, ...]]
) -> list[ExampleLine]:
    """Return lines for a source, the text that should be near and the text that should be far, each (score, text,
    edits).
    """
    sides = (("near ", *near), ("far  ", *far))
    return [
        *(ExampleLine(name, text, score, source, edits) for name, score, text, edits in sides),
        ExampleLine("of   ", source),
    ]


def pair_lines(name: str, score: float, source: str, text: str, edits: tuple[Edit, ...]) -> list[ExampleLine]:
    """Return a line for the text with its score, and below it the source that it is compared with."""
    return [ExampleLine(f"{name:5}", text, score, source, edits), ExampleLine("of   ", source)]
