"""Labelled pairs by the million: their numbers as columns, and their texts in the files.

Rows of such data have no splits and no keys. A pair becomes a Python object only to be shown.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Protocol, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from encheck.datasets.dataset import ShardedPairs, ShardedPairsSummary
from encheck.datasets.reader import PairRow
from encheck.encoders.protocol import FittedModel, PartialEncoder
from encheck.errors import NothingToMeasure
from encheck.ids import ItemId
from encheck.items.builders import refuse_constant_scores, refuse_one_label, refuse_small_class
from encheck.running.model_under_test import ModelUnderTest
from encheck.scoring.both_orders import BOTH_ORDERS, BothOrders
from encheck.scoring.item import Item, Items, ItemsScoredInParts, Kind, Scores, TextScorer
from encheck.scoring.pairs import (
    PAIR,
    Difficulty,
    Scope,
    ScoredPairs,
    SentencePair,
    SentencePairScores,
    classify_by_divergence,
)
from encheck.scoring.scale import Scale
from encheck.scoring.scores import BothOrdersScores
from encheck.scoring.splits import FOLDS
from encheck.statistics.bootstrap import ClusterNumbers, Resampler
from encheck.statistics.clusters import slice_in_chunks
from encheck.system.lock import Locks
from encheck.system.terminal import Progress
from encheck.types import content_hash

Positions = NDArray[np.signedinteger]
Floats = NDArray[np.float64]
Read = Callable[[Positions], list[PairRow]]
Number = TypeVar("Number", bound=np.generic)
ROWS_KEPT = 20_000  # cached rows
WORST = 1_000  # listed items of a case
SHOWN = 4_000  # random pairs of a case in reports, besides the worst


@dataclass(frozen=True)
class ShardScores:
    """A model's score of each pair, shape [n], in the order of the data.

    `backward` has the scores with both texts exchanged, if they differ.
    """

    forward: Floats
    backward: Floats | None = None
    computed: int = 0


class ShardScorer(Protocol):
    """Scores the pairs of all shards with a model."""

    def __call__(
        self, subject: ModelUnderTest, columns: PairColumns, *, both_orders: bool, locks: Locks, progress: Progress
    ) -> ShardScores:
        """Return the scores, read from existing files or computed. Raise EncoderError if the model fails."""
        ...


@dataclass(frozen=True, eq=False)
class PairColumns(ShardedPairs):
    """The numbers of all labelled pairs of a data set, each of shape [n], in the order of the files.

    `labels` is 1, 0 or -1 for none; `gold` is the human score, NaN for none; `same` is true if both texts are the same;
    `overlap` and `divergence` are those of words. `clusters` has the number of each pair's cluster. The hashes of the
    clusters are `hashes`; `order` ranks the clusters for folds. `repeats` counts the earlier rows with the same pair as
    the row at a position. `read` reads rows by their positions; `score` scores all pairs. `draw` returns the texts for
    calibration, with the names of their clusters, and the numbers of these names. `counts` has the number of rows read
    and skipped, and of shards. `things`, shape [n, 3], has hashes of what each pair shares with others, 0 for none: its
    cluster, if the data name it or it shares no sentence, and its sentences that occur in several pairs. `things` is
    None if no sentence is shared, or if there are too many pairs or clusters to follow more than clusters.
    """

    name: str
    labels: NDArray[np.int8]
    gold: Floats
    same: NDArray[np.bool_]
    overlap: Floats
    divergence: Floats
    clusters: NDArray[np.int32]
    hashes: NDArray[np.uint64]
    order: NDArray[np.int32]
    repeats: Callable[[int], int]
    read: Read
    draw: Callable[[], tuple[list[tuple[str, str]], dict[str, int]]]
    score: ShardScorer
    counts: Mapping[str, int]
    skipped: tuple[str, ...] = ()
    fingerprint: str = ""
    about: Mapping[str, int | str] = field(default_factory=dict)
    things: NDArray[np.uint64] | None = None
    scored: dict[str, ShardScores] = field(default_factory=dict, repr=False)  # by the fingerprints of models
    drawn: dict[tuple[int, int], Resampler] = field(default_factory=dict, repr=False)
    _rows: dict[int, PairRow] = field(default_factory=dict, repr=False)

    def __len__(self) -> int:
        return len(self.labels)

    def read_rows(self, positions: Positions) -> list[PairRow]:
        """Return the rows at these positions. The latest rows are cached."""
        lacking = [at for at in positions.tolist() if at not in self._rows]
        if len(self._rows) + len(lacking) > ROWS_KEPT:
            self._rows.clear()
            lacking = positions.tolist()
        self._rows.update(zip(lacking, self.read(np.array(lacking, np.int64)) if lacking else (), strict=True))
        return [self._rows[at] for at in positions.tolist()]

    def make_pairs(self, positions: Positions) -> list[SentencePair]:
        """Return the pairs at these positions, in the form that smaller data sets have."""
        rows = self.read_rows(positions)
        return [self._make_pair(at, row) for at, row in zip(positions.tolist(), rows, strict=True)]

    def _make_pair(self, at: int, row: PairRow) -> SentencePair:
        key = content_hash(row.first, row.second)
        name = ItemId.of(self.name, key, "pair", 1, "data", self.repeats(at))
        cluster = row.cluster or self.cluster_name(int(self.clusters[at]))
        shares = hash_names(self.things[at]) if self.things is not None and self.things[at, 1:].any() else ()
        return SentencePair(name, row.first, row.second, row.label, cluster, score=row.score, shares=shares)

    def cluster_name(self, number: int) -> str:
        """Return the name of a cluster that the data do not name, or the hash of the name of a named cluster."""
        return f"{int(self.hashes[number]):016x}"

    @cached_property
    def calibration_texts(self) -> tuple[list[tuple[str, str]], dict[str, int]]:
        """Return (text, cluster) of the texts for calibration, and the numbers of these clusters."""
        return self.draw()

    @property
    def sentences(self) -> Sequence[tuple[str, str]]:  # type: ignore[override]
        """(text, cluster) of the texts for calibration."""
        return self.calibration_texts[0]

    def summarise(self) -> ShardedPairsSummary:
        """Return the summary in results.json."""
        labels = {str(label if label >= 0 else None): int((self.labels == label).sum()) for label in (0, 1, -1)}
        return ShardedPairsSummary(
            pairs=len(self),
            clusters=len(self.hashes),
            labels={label: count for label, count in labels.items() if count},
            shards=self.counts["shards"],
            skipped=self.counts["skipped"],
            engine=dict(self.about),
        )

    def classification_items(self, negative: Sequence[SentencePair] | None = None) -> Items:
        """Return paraphrases and negatives: the given ones or the data's own.

        Raise NothingToMeasure if either class is missing.
        """
        positive, tail = np.flatnonzero(self.labels == 1), tuple(negative or ())
        own = np.flatnonzero(self.labels == 0) if negative is None else np.zeros(0, np.intp)
        of_whom = "label 0" if negative is None else "random"
        refuse_small_class(self.name, {"label 1": len(positive), of_whom: len(own) + len(tail)})
        return Items(tail, whole=ColumnPairs(self, np.concatenate([positive, own]), tail))

    def both_order_items(self) -> Items:
        """Return labelled pairs in both orders. Raise NothingToMeasure unless both labels occur."""
        is_labelled = self.labels >= 0
        kept = np.flatnonzero(is_labelled & ~self.same)
        refuse_one_label(self.name, set(np.unique(self.labels[kept]).tolist()))
        labelled = int(is_labelled.sum())
        excluded = {"no label": len(self) - labelled, "identical sentences": labelled - len(kept)}
        whole = ColumnPairs(self, kept, kind=BOTH_ORDERS)
        return Items((), {reason: count for reason, count in excluded.items() if count}, whole=whole)

    def graded_items(self) -> Items:
        """Return pairs with a graded similarity. Raise NothingToMeasure if the grades do not rank pairs."""
        found = np.flatnonzero(~np.isnan(self.gold))
        refuse_constant_scores(self.name, self.gold[found])
        without = len(self) - len(found)
        return Items((), {"no score": without} if without else {}, whole=ColumnPairs(self, found))


class ColumnPairs(ItemsScoredInParts):
    """Items of a check that are not in memory: pairs of `columns` at `positions`, then those of `tail`, which are in
    memory.

    The items are never iterated one by one; `items[i]` reads one. `kind` is pairs, or pairs in both orders.
    """

    def __init__(
        self,
        columns: PairColumns,
        positions: Positions,
        tail: Sequence[SentencePair] = (),
        *,
        kind: Kind = PAIR,
    ) -> None:
        self.columns, self.tail, self.kind = columns, tuple(tail), kind
        self.positions: Positions = positions.astype(np.int32)
        self._is_whole = len(positions) == len(columns) and bool((np.diff(self.positions) == 1).all())

    def __len__(self) -> int:
        return len(self.positions) + len(self.tail)

    @overload
    def __getitem__(self, at: int) -> Any: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Any]: ...
    def __getitem__(self, at: int | slice) -> Any:
        if isinstance(at, slice):
            return self.select(np.arange(len(self))[at])
        return self.make_items(np.array([range(len(self))[operator.index(at)]]))[0]

    def __iter__(self) -> Iterator[Any]:
        raise TypeError("pairs of shards are measured by their columns, never one by one")

    def select(self, chosen: NDArray[np.intp]) -> ColumnPairs:
        """Return only the chosen items."""
        inside, outside = chosen[chosen < len(self.positions)], chosen[chosen >= len(self.positions)]
        if len(outside) and (np.diff(chosen >= len(self.positions)) < 0).any():
            raise ValueError("pairs of the tail must come after the others")
        tail = [self.tail[i - len(self.positions)] for i in outside.tolist()]
        return ColumnPairs(self.columns, self.positions[inside], tail, kind=self.kind)

    def make_items(self, chosen: NDArray[np.intp]) -> tuple[Any, ...]:
        """Return these items as Python objects, and read their texts."""
        inside = chosen[chosen < len(self.positions)]
        pairs = self.columns.make_pairs(self.positions[inside])
        items: Sequence[Item] = pairs if self.kind is PAIR else [in_both_orders(pair) for pair in pairs]
        found = dict(zip(inside.tolist(), items, strict=True))
        return tuple(found[i] if i in found else self.tail[i - len(self.positions)] for i in chosen.tolist())

    def refuse_unscorable_model(self, subject: ModelUnderTest) -> None:
        """Raise NothingToMeasure for a model that cannot score shards one by one."""
        if isinstance(subject.model, FittedModel) and getattr(subject.model, "learns", True):
            raise NothingToMeasure(
                f"{subject.label} learns from all texts of a run, so it cannot score shards one by one: use --sample=N "
                f"without --engine"
            )
        if isinstance(subject.model, PartialEncoder):
            raise NothingToMeasure(
                f"{subject.label} has vectors only for some texts, and shards hold others: use --sample=N without "
                f"--engine"
            )

    def prepare(
        self, subject: ModelUnderTest, together: Sequence[ItemsScoredInParts], *, locks: Locks, progress: Progress
    ) -> int:
        """Score all pairs of the data with a model, in both orders if one of the items in `together` needs them."""
        self.refuse_unscorable_model(subject)
        if subject.fingerprint in self.columns.scored:
            return 0
        both = any(one.kind is BOTH_ORDERS for one in together)
        found = self.columns.score(subject, self.columns, both_orders=both, locks=locks, progress=progress)
        self.columns.scored[subject.fingerprint] = found
        return found.computed

    def score_items(
        self, scorer: TextScorer, scale: Scale, *, model: str | None, seed: int
    ) -> ColumnPairScores | ColumnBothOrdersScores:
        """Return the scores of these pairs, taken from those of all pairs. `scorer` scores the pairs in memory."""
        columns = self.columns
        whole = ShardScores(columns.overlap) if model is None else columns.scored[model]
        key = (id(self), seed)
        if key not in self.columns.drawn:
            self.columns.drawn.clear()
            self.columns.drawn[key] = Resampler(self.clusters, seed=seed, shares=self.shares)
        forward, draws = self.values_at_positions(whole.forward), self.columns.drawn[key]
        if self.tail:
            first, second = ([getattr(pair, side) for pair in self.tail] for side in ("first", "second"))
            forward = np.append(forward, scorer.score_pairs(first, second))
        items: Sequence[Any] = self
        cut = scorer.head_threshold
        if self.kind is PAIR:
            return ColumnPairScores(forward, self.labels, draws, scale, items=items, head_threshold=cut)
        backward = forward if whole.backward is None else self.values_at_positions(whole.backward)
        return ColumnBothOrdersScores(forward, backward, self.labels, draws, scale, items=items, head_threshold=cut)

    def select_for_report(self, scores: Scores, *, seed: int) -> tuple[Sequence[Item], Scores]:
        """Return the items for reports, with their scores: the worst, some at random, and all that are in memory."""
        assert isinstance(scores, ColumnPairScores | ColumnBothOrdersScores)
        count = len(self.positions)
        drawn = np.random.default_rng([seed, count]).choice(count, min(SHOWN, count), replace=False)
        chosen = np.union1d(
            np.union1d(scores.positions_worst_first()[:WORST], drawn), np.arange(count, len(self))
        ).astype(np.intp)
        listed = self.make_items(chosen)
        return listed, replace(scores.select(chosen), items=listed)  # type: ignore[arg-type]

    def values_at_positions(self, column: NDArray[Number]) -> NDArray[Number]:
        """Return the values of a column of all pairs at `positions`; the column itself if these are all pairs."""
        return column if self._is_whole else column[self.positions]

    @property
    def labels(self) -> NDArray[np.int8]:
        """1 or 0, shape [n]; a pair without a label counts as a paraphrase."""
        tail = np.array([1 if pair.label is None else pair.label for pair in self.tail], np.int8)
        return np.concatenate([np.abs(self.values_at_positions(self.columns.labels)), tail])

    @property
    def gold(self) -> Floats:
        """The human score, shape [n]; NaN if there is none."""
        tail = [np.nan if pair.score is None else pair.score for pair in self.tail]
        return np.concatenate([self.values_at_positions(self.columns.gold), np.array(tail, np.float64)])

    @property
    def clusters(self) -> ClusterNumbers:
        """The clusters of the items."""
        numbers, columns = self.values_at_positions(self.columns.clusters), self.columns
        if not self.tail:
            return ClusterNumbers(numbers, len(columns.hashes), None, columns.hashes)
        known = columns.calibration_texts[1]  # the tail's pairs were drawn from the texts for calibration
        one, other = np.array([(known[pair.cluster], known[pair.second_cluster]) for pair in self.tail], np.int32).T
        others = np.concatenate([np.full(len(numbers), -1, np.int32), other])
        return ClusterNumbers(np.concatenate([numbers, one]), len(columns.hashes), others, columns.hashes)

    @property
    def shares(self) -> Sequence[tuple[str, ...]]:
        """What each item shares with others; empty if items share only clusters, as with a tail."""
        things = self.columns.things
        return () if things is None or self.tail else [hash_names(some) for some in self.values_at_positions(things)]

    def folds(self, chosen: NDArray[np.intp], count: int) -> NDArray[np.signedinteger]:
        """Return the fold of each chosen item; shape [chosen].

        Clusters are assigned to folds in the order of their names' hashes.
        """
        numbers = self.clusters.numbers[chosen]
        order = self.columns.order
        is_present = np.zeros(len(order), bool)  # in the order of the hashes
        for some in slice_in_chunks(len(numbers)):
            is_present[order[numbers[some]]] = True
        dealt = ((np.cumsum(is_present, dtype=np.int32) - 1) % count).astype(np.int8)
        fold: NDArray[np.int8] = dealt[order][numbers]
        return fold


def hash_names(hashes: NDArray[np.uint64]) -> tuple[str, ...]:
    """Return the hex digits of all hashes except 0."""
    return tuple(f"{number:016x}" for number in hashes.tolist() if number)


def in_both_orders(pair: SentencePair) -> BothOrders:
    """Return a labelled pair as an item in both orders."""
    return BothOrders(
        ItemId(pair.id).in_both_orders,
        pair.first,
        pair.second,
        int(pair.label or 0),
        pair.cluster,
        pair.split,
        pair.shares,
    )


class ScoredColumns(ScoredPairs[Any]):
    """The data that metrics need of pairs that are not in memory. Such pairs have no splits and no keys."""

    items: Any  # ColumnPairs

    @property
    def data(self) -> str:
        """The name of the pairs' data."""
        return str(self.items.columns.name)

    @property
    def splits(self) -> NDArray[np.object_]:
        """ "" for each pair, shape [n], without using memory."""
        return np.broadcast_to(np.array("", object), len(self.items))

    @property
    def keys(self) -> Sequence[str]:
        """Empty: the pairs have no keys."""
        return ()

    @property
    def gold(self) -> Floats:
        """The human score, shape [n]."""
        found: Floats = self.items.gold
        return found

    def classify_difficulty(self, scope: Scope) -> Difficulty:
        """Return the cell of each pair by the divergence of its words."""
        items = self.items
        return classify_by_divergence(items.values_at_positions(items.columns.divergence), items.labels, scope=scope)

    def folds_of(self, chosen: NDArray[np.intp]) -> NDArray[np.signedinteger]:
        """Return the fold of each chosen pair, shape [chosen]."""
        found: NDArray[np.signedinteger] = self.items.folds(chosen, FOLDS)
        return found

    def select_items(self, chosen: NDArray[np.intp]) -> Sequence[Any]:
        """Return only the chosen items."""
        found: ColumnPairs = self.items.select(chosen)
        return found

    def ascending_positions(self, values: Floats) -> list[int]:
        """Return the positions of the `WORST` smallest values, the smallest first."""
        least = np.zeros(0, np.intp)
        for some in slice_in_chunks(len(values)):
            beside = np.append(least, np.arange(some.start, some.stop))
            least = beside[np.argsort(values[beside], kind="stable")[:WORST]]
        return [int(i) for i in least]


class ColumnPairScores(ScoredColumns, SentencePairScores):
    """Scores of pairs that are not in memory."""


class ColumnBothOrdersScores(ScoredColumns, BothOrdersScores):
    """Scores of pairs in both orders that are not in memory."""
