"""Items, which checks measure one by one: their kinds, their scores, their rows, and their lines in failure messages.

A kind of item is one file: a subclass of `Item`, one of `Scores`, and the `Kind` that names both.
"""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from encheck.ids import ItemId
from encheck.scoring.documents import Documents, RankedRows
from encheck.scoring.scale import TIE, Floats, Scale
from encheck.statistics.bootstrap import Resampler
from encheck.system.lock import Locks
from encheck.system.terminal import Progress
from encheck.types import Edit


def parse_edits(text: str | None) -> list[Edit]:
    """Read edits from a column.

    >>> parse_edits('[[2, 6, "slow"]]')
    [Edit(start=2, end=6, text='slow')]
    """
    return [Edit(*edit) for edit in json.loads(text)] if text else []


def edits_json(edits: Sequence[Edit]) -> str:
    """Return the edits as JSON, which is the format of the columns.

    >>> edits_json([Edit(2, 6, "slow")])
    '[[2, 6, "slow"]]'
    """
    return json.dumps([[e.start, e.end, e.text] for e in edits], ensure_ascii=False) if edits else "[]"


@dataclass(frozen=True, slots=True)
class ItemSide:
    """The near or the far text of an item with its score (NaN for none). The score of a reversed pair has no text."""

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
    kind: Kind
    cluster: str
    split: str
    source: str
    near: ItemSide
    far: ItemSide
    step: int | None
    source_is_second: bool


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
    scores: Callable[[], type[Scores]]
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


class SearchingQuery(Item):
    """A query that searches documents. The query is encoded as a query, the documents as documents.

    `own` is the row of the document that equals the query; the query's search leaves it out. `right` has the rows of
    the right documents with their grades; it is empty if they are not known.
    """

    __slots__ = ()
    source: str
    documents: Documents
    own: int | None
    right: tuple[tuple[int, int], ...]

    @property
    def queries_and_documents(self) -> tuple[Iterable[str], Iterable[str]]:
        """The query, and all documents."""
        return (self.source,), self.documents.texts


class TextScorer(Protocol):
    """The interface of a scorer of texts: a model or a surface scorer."""

    @property
    def head_threshold(self) -> float | None:
        """The threshold of a trained two-class head; None for a scorer without one."""
        ...

    def score_pairs(self, first: Sequence[str], second: Sequence[str]) -> Floats:
        """Return the similarity of each pair, shape [n]."""
        ...

    def score_grid(self, queries: Sequence[str], documents: Sequence[str]) -> Floats:
        """Return the similarity of each query and document, shape [n, m].

        Raise NothingToMeasure if the scorer can only score pairs.
        """
        ...

    def score_repeats(self, texts: Sequence[str]) -> tuple[Floats, Floats]:
        """Return whether texts get the same vector, or score with themselves, when encoded again; shape [n] each.

        The first array has 1 for each text that gets the same result in a different batch, otherwise 0. The second
        array compares that batch with its repetition.
        """
        ...

    def rank_documents(self, queries: Sequence[SearchingQuery], count: int) -> Iterable[RankedRows]:
        """Yield (rows, scores) of at least the `count` best documents of each query, the best first.

        If there are fewer documents, all are ranked. A query's own document is left out.
        """
        ...

    def score_documents(self, queries: Sequence[str], documents: Sequence[str]) -> Floats:
        """Return the score of each document for the query at the same position, shape [n]."""
        ...


@dataclass(frozen=True)
class TextColumns:
    """The texts compared with the sources, their scores and word overlap, shape [n] each, and their edits as JSON.

    There are no texts if the scores are those of the reversed pairs. `why` has the certificates, None for texts without
    one.
    """

    texts: tuple[str, ...]
    scores: Floats
    overlap: Floats | None = None
    edits: tuple[str | None, ...] = ()
    why: tuple[str | None, ...] = ()

    def side(self, i: int) -> ItemSide:
        """Return the text of a row with its score."""
        return ItemSide(
            self.texts[i] if self.texts else None, float(self.scores[i]),
            None if self.overlap is None else float(self.overlap[i]),
            tuple(parse_edits(self.edits[i])) if self.edits else (), self.why[i] or "" if self.why else "",
        )  # fmt: skip


@dataclass(frozen=True)
class ItemFrame:
    """The items of a case by column. A chain has a row per member, a crossed group or contrast a row per side.

    `case` is the text of the case's `CaseId`. Every column has the length of `ids`, or is empty.

    `far` is the second text of each item, or its second score; None if items have only one. `roles` are the roles in
    which the sources and the other texts were encoded (query, document, or "" for none). `steps` are the numbers of
    chains' members and of groups' sides. `source_is_second` marks rows whose pairs were scored in reverse: (near,
    source), (far, source). `slices` names an item's part of the data; for a query, a JSON object of the data's further
    columns. `shares` has the hashes of what an item has in common with others, separated by blanks, or "" if items
    share only their cluster. `constructions` names how the texts of written contrasts differ. `gold` is the human
    score, `keys` the data's own names, `answers` the answers of a query in the format of `Answers`, `weights` the
    query's frequency.
    """

    kind: Kind
    case: str
    ids: tuple[str, ...]
    sources: tuple[str, ...]
    near: TextColumns
    clusters: tuple[str, ...]
    splits: tuple[str, ...]
    far: TextColumns | None = None
    labels: tuple[int | None, ...] = ()
    gold: tuple[float | None, ...] = ()
    keys: tuple[str | None, ...] = ()
    steps: tuple[int, ...] = ()
    source_is_second: tuple[bool, ...] = ()
    slices: tuple[str, ...] = ()
    shares: tuple[str, ...] = ()
    constructions: tuple[str | None, ...] = ()
    answers: tuple[str, ...] = ()
    weights: tuple[int, ...] = ()
    roles: tuple[str, str] = ("", "")

    @classmethod
    def from_items(
        cls,
        kind: Kind,
        case: str,
        items: Sequence[Item],
        sources: Iterable[str],
        near: TextColumns,
        far: TextColumns | None = None,
    ) -> ItemFrame:
        """Return the frame of these items, one row each, with their ids, clusters and splits."""
        constructions = tuple(item.construction or None for item in items)
        return cls(
            kind, case, tuple(i.id for i in items), tuple(sources), near, tuple(i.cluster for i in items),
            tuple(i.split for i in items), far, shares=join_shares(items),
            constructions=constructions if any(constructions) else (),
        )  # fmt: skip

    def __len__(self) -> int:
        return len(self.ids)

    def row(self, i: int) -> ItemRow:
        """Return one row of items.parquet."""
        return ItemRow(
            self.case, self.ids[i], self.kind, self.clusters[i], self.splits[i], self.sources[i], self.near.side(i),
            self.far.side(i) if self.far else ItemSide(None, np.nan, None, (), ""),
            self.steps[i] if self.steps else None, self.source_is_second[i] if self.source_is_second else False,
        )  # fmt: skip

    @property
    def compares_near_and_far(self) -> bool:
        """Whether each item has a far text that the near text has to beat."""
        return self.kind.compares_near_and_far

    @property
    def sort_keys(self) -> Floats:
        """A sort key for items, higher is better: the margin, or a pair's similarity (negated for a negative pair)."""
        if self.far is None:
            return np.where(self._is_negative, -self.near.scores, self.near.scores)
        margins = self.near.scores - self.far.scores
        if self.kind.sides > 1:  # a group counts by its worse side, and its sides stay together
            return np.repeat(margins.reshape(-1, self.kind.sides).min(axis=1), self.kind.sides)
        return margins if self.compares_near_and_far else -np.abs(margins)

    def worst_positions(self, count: int) -> list[int]:
        """Return positions of the worst items, the worst first."""
        right = self.sort_keys.tolist()
        return sorted(range(len(self)), key=right.__getitem__)[:count]

    def mark_lost(self, *, epsilon: float = 0.0, unit: float = 1.0) -> list[bool]:
        """Return for each item whether its margin is at most `epsilon` times `unit`; a tie also counts as lost."""
        if self.far is None or not self.compares_near_and_far:
            return [False] * len(self)
        found: list[bool] = (self.near.scores - self.far.scores <= ((epsilon or TIE) + 1e-12) * unit).tolist()
        return found

    def high_and_low_scores(self) -> tuple[Floats, Floats]:
        """Return the scores that should be high and the scores that should be low: of two texts, or of the two labels'
        pairs.
        """
        if self.far is not None:
            return self.near.scores, self.far.scores if self.compares_near_and_far else np.zeros(0)
        return self.near.scores[~self._is_negative], self.near.scores[self._is_negative]

    @property
    def _is_negative(self) -> NDArray[np.bool_]:
        return np.array([label == 0 for label in self.labels] or [False] * len(self), bool)


def join_shares(items: Sequence[Item]) -> tuple[str, ...]:
    """Return the column of what each item shares with others; empty if all items share only their cluster."""
    found = tuple(" ".join(item.shares) for item in items)
    return found if any(found) else ()


@dataclass(frozen=True)
class Scores:
    """The scores of many items by a model or a surface scorer. Each kind has a subclass, which names its class of item.

    A run compares the model with the `surface_scorers`; `surface` has their scores. If it `searches`, every item
    searches the texts of all items, which needs vectors. If it `calibrates`, there is a scale on which 0 is a random
    pair and 1 is identical text; the names of figures on that scale end in `suffix`.
    """

    surface_scorers: ClassVar[tuple[str, ...]] = ()
    searches: ClassVar[bool] = False
    calibrates: ClassVar[bool] = True
    surface: Mapping[str, Self] = field(default_factory=dict, kw_only=True)
    suffix: str = field(default="", kw_only=True)

    @classmethod
    def score_items(cls, items: Sequence[Any], scorer: TextScorer, resampler: Resampler, scale: Scale) -> Self:
        """Return the scores of these items. `resampler` draws their clusters; `scale` calibrates the scorer."""
        raise NotImplementedError

    def positions_worst_first(self) -> list[int]:
        """Return the positions of the items, the worst first."""
        raise NotImplementedError

    def to_item_frame(self, case: str, items: Sequence[Any]) -> ItemFrame:
        """Return the scored items as rows of items.parquet. `case` is the text of a `CaseId`."""
        raise NotImplementedError

    def example_lines(self, item: Any, position: int) -> list[ExampleLine]:
        """Return the lines that show the item at this position in a failure message."""
        raise NotImplementedError


class ItemsScoredInParts(Sequence[Item]):
    """Items that do not fit into memory. They are scored in parts and never iterated one by one.

    `kind` is the kind of each item. A `subject` is a `ModelUnderTest`.
    """

    kind: Kind

    @abstractmethod
    def refuse_unscorable_model(self, subject: Any) -> None:
        """Raise NothingToMeasure for a model under test that cannot score the items part by part."""

    @abstractmethod
    def prepare(self, subject: Any, together: Sequence[ItemsScoredInParts], *, locks: Locks, progress: Progress) -> int:
        """Score all texts of these items with a model; return the number of computed scores.

        Raise NothingToMeasure as `refuse_unscorable_model` does, EncoderError if the model fails.
        """

    @abstractmethod
    def score_items(self, scorer: TextScorer, scale: Scale, *, model: str | None, seed: int) -> Scores:
        """Return the items' scores by a prepared model, named by its fingerprint, or by word overlap if `model` is
        None.

        `scorer` scores the items in memory.
        """

    @abstractmethod
    def select_for_report(self, scores: Scores, *, seed: int) -> tuple[Sequence[Item], Scores]:
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
