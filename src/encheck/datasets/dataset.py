"""A loaded data set: labelled pairs, groups, a search collection, contrasts, or texts with classes."""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple, Self

from encheck.datasets.clusters import (
    assign_clusters,
    find_first_near_duplicates,
    hash_shared_sentences,
    sample_clusters,
)
from encheck.datasets.collection import Collection
from encheck.datasets.pair_table import SampledPairs
from encheck.datasets.reader import PairRow
from encheck.ids import ItemId
from encheck.language.words import content_words
from encheck.scoring.classified import Classified
from encheck.scoring.crossed import Contrast
from encheck.scoring.item import Items
from encheck.scoring.pairs import SentencePair
from encheck.scoring.splits import TEST, VALIDATION
from encheck.scoring.triplets import Triplet
from encheck.system.typed_files import Count
from encheck.types import Group, content_hash

REFERENCE_PAIRS = 2_000
MAX_SENTENCES = 50_000  # sentences for random pairs
MAX_TEXTS = 500


@dataclass(frozen=True, slots=True)
class ShardedPairsSummary:
    """The summary in results.json of data in shards.

    `pairs` counts all pairs; the checks of labelled pairs use all of them. `skipped` counts malformed rows. `engine` is
    the kind of the engine and its number of workers.
    """

    pairs: Count
    clusters: Count
    labels: Mapping[str, Count]
    shards: Count
    skipped: Count
    engine: Mapping[str, int | str]


class ShardedPairs(ABC):
    """All labelled pairs of data that do not fit in memory, and the items that checks make from them.

    `sentences` has (text, cluster) for the texts that calibration uses.
    """

    fingerprint: str
    sentences: Sequence[tuple[str, str]]

    @abstractmethod
    def summarise(self) -> ShardedPairsSummary:
        """Return the summary for results.json."""

    @abstractmethod
    def classification_items(self, negative: Sequence[SentencePair] | None = None) -> Items:
        """Return paraphrases with negatives: the given ones, or the data's own.

        Raise NothingToMeasure if either class is missing.
        """

    @abstractmethod
    def both_order_items(self) -> Items:
        """Return labelled pairs in both orders. Raise NothingToMeasure unless both labels occur."""

    @abstractmethod
    def graded_items(self) -> Items:
        """Return pairs with a graded similarity. Raise NothingToMeasure if the grades do not rank the pairs."""


@dataclass(frozen=True)
class Dataset:
    """The pairs and groups of a data set, its search collection, or its contrasts. `universe` names all clusters, in
    order.

    `rows` counts the rows in the files before sampling, or the queries of a collection. `fingerprint` is a hash of the
    sample. `version` is the edition, for data that have editions. `tasks` maps the name of a task to texts with their
    classes. `properties` maps each of the user's own properties to its triplets or contrasts. `whole` has all pairs of
    data that do not fit in memory; `pairs` and `groups` are then a sample.
    """

    name: str
    pairs: tuple[SentencePair, ...]
    groups: tuple[Group, ...]
    licence: str
    rows: int
    written: Mapping[str, int] = field(default_factory=dict)
    skipped: tuple[str, ...] = ()
    sampled: bool = False
    universe: tuple[str, ...] = field(default=())
    collection: Collection | None = None
    version: str = ""
    contrasts: tuple[Contrast, ...] = ()
    tasks: Mapping[str, tuple[Classified, ...]] = field(default_factory=dict)
    properties: Mapping[str, tuple[Triplet | Contrast, ...]] = field(default_factory=dict)
    whole: ShardedPairs | None = None

    @property
    def labels(self) -> dict[str, int]:
        """The number of pairs with each label."""
        return dict(sorted(Counter(str(p.label) for p in self.pairs).items()))

    @cached_property
    def fingerprint(self) -> str:
        """A hash that changes when any text, label, score or judgement changes."""
        if self.whole is not None:
            return self.whole.fingerprint
        if self.collection is not None:
            return self.collection.fingerprint
        pairs = (pair_fingerprint(p.id, p.label, p.score) for p in self.pairs)
        variants = (f"{g.id}{v.relation}{v.level}{v.text}" for g in self.groups for v in g.variants)
        contrasts = (f"{one.id}{one.cluster}" for one in self.contrasts)
        texts = (f"{g.id}{g.cluster}" for g in self.groups if not self.pairs and not g.variants)
        sorted_out = (f"{one.id}{one.label}{one.split}" for some in self.tasks.values() for one in some)
        own = (f"{name}{one.id}{one.cluster}" for name, some in self.properties.items() for one in some)
        return content_hash(*pairs, *variants, *contrasts, *texts, *sorted_out, *own)

    def select_quick_groups(self) -> Self:
        """Return a data set with only the groups for a quick run and their pairs, or this one if no group is marked as
        quick.
        """
        groups = tuple(g for g in self.groups if g.is_quick)
        if not groups:
            return self
        sources = {g.source for g in groups}
        pairs = tuple(p for p in self.pairs if p.first in sources)
        return replace(self, groups=groups, pairs=pairs, universe=tuple(sorted({g.cluster for g in groups})))

    def select_clusters(self, clusters: Container[str]) -> Self:
        """Return a data set with the pairs, groups, contrasts and triplets of these clusters, without collection and
        tasks.
        """
        return replace(
            self,
            pairs=tuple(pair for pair in self.pairs if pair.cluster in clusters),
            groups=tuple(group for group in self.groups if group.cluster in clusters),
            contrasts=tuple(one for one in self.contrasts if one.cluster in clusters),
            properties={
                name: tuple(one for one in some if one.cluster in clusters) for name, some in self.properties.items()
            },
            universe=tuple(name for name in self.universe if name in clusters),
            collection=None,
            tasks={},
            whole=None,
        )

    @cached_property
    def texts(self) -> tuple[tuple[str, str], ...]:
        """Up to `MAX_TEXTS` texts as (cluster, text), chosen by their hash: passages of articles, or anchors of
        triplets.

        Other data have none.
        """
        passages = self.collection.passages if self.collection else ()
        anchors = (one for some in self.properties.values() for one in some if isinstance(one, Triplet))
        every = dict.fromkeys((one.cluster, one.source) for one in anchors)
        texts = [*((one.article, one.text) for one in passages), *every]
        return tuple(sorted(texts, key=lambda one: content_hash(one[1]))[:MAX_TEXTS])

    def draw_random_pairs(
        self, *, seed: int, purpose: str = "calibration", count: int = REFERENCE_PAIRS, no_shared_word: bool = True
    ) -> tuple[SentencePair, ...]:
        """Draw up to `count` random pairs of sentences from different clusters. No pair occurs in both orders.

        With `no_shared_word`, the sentences of a pair share no content word. The same seed and purpose always give the
        same pairs. From data with more than `MAX_SENTENCES` sentences, those with the smallest hashes are used.
        """
        if (drawn := self._drawn.get((seed, purpose, count, no_shared_word))) is not None:
            return drawn
        sentences = self._sentences
        rng = random.Random(f"{seed}/{purpose}")  # noqa: S311 - no secret
        pairs: dict[tuple[str, str], SentencePair] = {}
        for _ in range(20 * count if len(sentences) > 1 else 0):
            (first, cluster), (second, other) = rng.choice(sentences), rng.choice(sentences)
            known = (first, second) in pairs or (second, first) in pairs
            if (
                cluster != other
                and first != second
                and not known
                and not (no_shared_word and bool(content_words(first) & content_words(second)))
            ):
                name = ItemId.of(self.name, content_hash(first, second), "random", 1, purpose, 0)
                pairs[first, second] = SentencePair(name, first, second, 0, cluster, second_cluster=other)
                if len(pairs) == count:
                    break
        return self._drawn.setdefault((seed, purpose, count, no_shared_word), tuple(pairs.values()))

    @cached_property
    def _drawn(self) -> dict[tuple[int, str, int, bool], tuple[SentencePair, ...]]:
        """The random pairs that were drawn: several checks of a run need the same."""
        return {}

    @cached_property
    def _sentences(self) -> list[tuple[str, str]]:
        """The sentences for random pairs as (text, cluster), sorted."""
        if self.whole is not None:
            return sorted(self.whole.sentences)
        of_groups, of_pairs = ((g.source, g.cluster) for g in self.groups), ((p.first, p.cluster) for p in self.pairs)
        texts_with_clusters = {*of_groups, *of_pairs, *((text, cluster) for cluster, text in self.texts)}
        if len(texts_with_clusters) > MAX_SENTENCES:
            texts = set(sorted({text for text, _ in texts_with_clusters}, key=content_hash)[:MAX_SENTENCES])
            texts_with_clusters = {one for one in texts_with_clusters if one[0] in texts}
        return sorted(texts_with_clusters)


def pair_fingerprint(item: str, label: int | None, score: float | None) -> str:
    """Return the string that stands for a pair in the fingerprint of its data set."""
    return f"{item}{label}{'' if score is None else score}"


def dataset_from_rows(
    name: str,
    rows: Sequence[PairRow],
    *,
    licence: str = "",
    sample: int | None = None,
    seed: int = 0,
    skipped: Sequence[str] = (),
) -> Dataset:
    """Make a data set of labelled pairs. Each positive pair also becomes a group: a sentence and its paraphrase.

    The sample is drawn after splitting. It has `sample` clusters of the test part, which checks measure, and `sample`
    clusters of the validation part, which sets thresholds. Data without a test part are sampled as a whole.
    """
    clusters = assign_clusters(rows)
    sampled_rows = list(zip(rows, clusters, strict=True))
    if sample is not None and len(set(clusters)) > sample:
        splits = {row.split for row, _ in sampled_rows}
        parts = [TEST, VALIDATION] if splits & TEST else [splits]
        chosen = [
            sample_clusters((c for row, c in sampled_rows if row.split in part), sample, seed=seed) for part in parts
        ]
        wanted = list(zip(parts, chosen, strict=True))
        sampled_rows = [
            (row, c) for row, c in sampled_rows if any(row.split in part and c in some for part, some in wanted)
        ]
    return _dataset_of_pairs(name, sampled_rows, licence, rows=len(rows), skipped=skipped)


def dataset_from_sample(name: str, sample: SampledPairs, *, licence: str = "") -> Dataset:
    """Make the data set that `dataset_from_rows` would make of all rows, but from rows that are already sampled."""
    return _dataset_of_pairs(name, sample.rows, licence, rows=sample.total_rows, skipped=sample.skipped)


def _dataset_of_pairs(
    name: str, rows_with_clusters: Iterable[tuple[PairRow, str]], licence: str, *, rows: int, skipped: Sequence[str]
) -> Dataset:
    pairs = tuple(_make_sentence_pairs(name, list(rows_with_clusters)))
    groups = tuple(
        Group(p.id, p.first, p.second, p.cluster, split=p.split, shares=p.shares) for p in pairs if p.label == 1
    )
    universe = tuple(sorted({p.cluster for p in pairs}))
    sampled = len(pairs) < rows
    return Dataset(name, pairs, groups, licence, rows, skipped=tuple(skipped), sampled=sampled, universe=universe)


def _make_sentence_pairs(name: str, rows: Sequence[tuple[PairRow, str]]) -> Iterable[SentencePair]:
    seen: Counter[str] = Counter()
    every = hash_shared_sentences([row for row, _ in rows])
    for (row, cluster), shares in zip(rows, every, strict=True):
        key = content_hash(row.first, row.second)
        item = pair_id(name, key, seen[key])
        yield SentencePair(
            item, row.first, row.second, row.label, cluster, row.split, score=row.score, key=row.key, shares=shares
        )
        seen[key] += 1


def pair_id(name: str, texts: str, occurrence: int) -> ItemId:
    """Return the id of a pair of a data set. `texts` is the hash of both texts."""
    return ItemId.of(name, texts, "pair", 1, "data", occurrence)


class ClassifiedText(NamedTuple):
    """A text, or a pair of texts, with its class. `split` is "" for data without splits."""

    text: str
    label: str
    split: str
    second: str = ""


Tasks = Mapping[str, Sequence[ClassifiedText]]  # by their names


def add_classification_tasks(dataset: Dataset, tasks: Tasks, *, sample: int | None, seed: int) -> Dataset:
    """Return the data set with these tasks. Each split of a task has at most `sample` clusters (None: all)."""
    items_by_task = {
        name: tuple(_make_classified_items(dataset.name, name, rows, sample, seed)) for name, rows in tasks.items()
    }
    count = sum(map(len, tasks.values()))
    sampled = dataset.sampled or sum(map(len, items_by_task.values())) < count
    return replace(dataset, tasks=items_by_task, rows=dataset.rows + count, sampled=sampled)


def _make_classified_items(
    data: str, task: str, rows: Sequence[ClassifiedText], sample: int | None, seed: int
) -> Iterator[Classified]:
    if any(row.second for row in rows):
        clusters = assign_clusters([PairRow(row.text, row.second, None, row.split) for row in rows])
    else:
        first = find_first_near_duplicates([row.text for row in rows])
        clusters = [content_hash(rows[at].text) for at in first]
    parts: dict[str, set[str]] = {}
    for row, cluster in zip(rows, clusters, strict=True):
        parts.setdefault(row.split, set()).add(cluster)
    chosen = {split: some if sample is None else sample_clusters(some, sample, seed=seed)
              for split, some in parts.items()}  # fmt: skip
    seen: Counter[str] = Counter()
    for row, cluster in zip(rows, clusters, strict=True):
        if cluster in chosen[row.split]:
            key = content_hash(row.text, row.second)
            item = ItemId.of(data, key, task, 1, "data", seen[key])
            yield Classified(item, row.text, row.second, row.label, cluster, row.split)
            seen[key] += 1
