"""A loaded data set, as a run uses it."""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Self

from encheck.datasets.collection import Collection
from encheck.ids import ItemId
from encheck.language.words import content_words
from encheck.scoring.classified import Classified
from encheck.scoring.contrasts import Contrast
from encheck.scoring.item import Items
from encheck.scoring.pairs import SentencePair
from encheck.scoring.triplets import Triplet
from encheck.system.typed_files import Count
from encheck.types import Group, content_hash

REFERENCE_PAIRS = 2_000
SENTENCES = 50_000  # that random pairs are drawn from
TEXTS = 500


@dataclass(frozen=True, slots=True)
class Whole:
    """Of data in shards: all pairs, on which checks of labelled pairs are measured, how many malformed rows were
    skipped, and the engine, its kind and how many workers it has.
    """

    pairs: Count
    clusters: Count
    labels: Mapping[str, Count]
    shards: Count
    skipped: Count
    engine: Mapping[str, int | str]


class WholeData(ABC):
    """All labelled pairs of data that are too many to hold in memory, and the items of checks on them.

    `sentences` has (text, cluster) of the texts that calibration draws from.
    """

    fingerprint: str
    sentences: Sequence[tuple[str, str]]

    @abstractmethod
    def described(self) -> Whole:
        """What results.json says of them."""

    @abstractmethod
    def two_classes(self, negative: Sequence[SentencePair] | None = None) -> Items:
        """Paraphrases, and the data's own negatives or these; NothingToMeasure where one of the two is lacking."""

    @abstractmethod
    def both_orders(self) -> Items:
        """Labelled pairs in both orders; NothingToMeasure without both labels."""

    @abstractmethod
    def graded(self) -> Items:
        """Pairs with a graded similarity; NothingToMeasure where that orders nothing."""


@dataclass(frozen=True)
class Dataset:
    """Pairs and groups of one data set, a collection to search, or contrasts; `universe` names all clusters, in order.

    `rows` counts what the files hold, of a collection its queries, before sampling; `fingerprint` is a hash of what
    was kept. `version` is the edition of data that have some. `tasks` has texts with their classes, by the name of the
    task, `properties` the triplets or contrasts of each property of the user's own. `whole` has all pairs of
    data that are too many to hold in memory; `pairs` and `groups` are then a sample of them.
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
    whole: WholeData | None = None

    @property
    def labels(self) -> dict[str, int]:
        """Number of pairs a label."""
        return dict(sorted(Counter(str(p.label) for p in self.pairs).items()))

    @cached_property
    def fingerprint(self) -> str:
        """Changes when any text, label, score or judgement changes."""
        if self.whole is not None:
            return self.whole.fingerprint
        if self.collection is not None:
            return self.collection.fingerprint
        pairs = (fingerprint_of(p.id, p.label, p.score) for p in self.pairs)
        variants = (f"{g.id}{v.relation}{v.level}{v.text}" for g in self.groups for v in g.variants)
        contrasts = (f"{one.id}{one.cluster}" for one in self.contrasts)
        texts = (f"{g.id}{g.cluster}" for g in self.groups if not self.pairs and not g.variants)
        sorted_out = (f"{one.id}{one.label}{one.split}" for some in self.tasks.values() for one in some)
        own = (f"{name}{one.id}{one.cluster}" for name, some in self.properties.items() for one in some)
        return content_hash(*pairs, *variants, *contrasts, *texts, *sorted_out, *own)

    def quick_part(self) -> Self:
        """The groups that a quick run takes, with their pairs; the data themselves where none is marked."""
        groups = tuple(g for g in self.groups if g.is_quick)
        if not groups:
            return self
        sources = {g.source for g in groups}
        pairs = tuple(p for p in self.pairs if p.first in sources)
        return replace(self, groups=groups, pairs=pairs, universe=tuple(sorted({g.cluster for g in groups})))

    def part(self, clusters: Container[str]) -> Self:
        """The pairs, groups, contrasts and triplets of these clusters; nothing of a collection or of tasks."""
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
        """(cluster, text) of articles' passages, or of the anchors of triplets, at most `TEXTS`, chosen by their hash.

        None of other data.
        """
        passages = self.collection.passages if self.collection else ()
        anchors = (one for some in self.properties.values() for one in some if isinstance(one, Triplet))
        every = dict.fromkeys((one.cluster, one.source) for one in anchors)
        found = [*((one.article, one.text) for one in passages), *every]
        return tuple(sorted(found, key=lambda one: content_hash(one[1]))[:TEXTS])

    def reference(
        self, *, seed: int, purpose: str = "calibration", count: int = REFERENCE_PAIRS, apart: bool = True
    ) -> tuple[SentencePair, ...]:
        """Random pairs of this data's sentences from different clusters; if `apart`, they share no content word.

        As many as can be found, at most `count`, none the other way round as well; the same for the same seed and
        purpose. Of more than `SENTENCES` they are drawn from those whose texts have the smallest hashes.
        """
        sentences = self._sentences
        rng = random.Random(f"{seed}/{purpose}")  # noqa: S311 - no secret
        found: dict[tuple[str, str], SentencePair] = {}
        for _ in range(20 * count if len(sentences) > 1 else 0):
            (first, cluster), (second, other) = rng.choice(sentences), rng.choice(sentences)
            known = (first, second) in found or (second, first) in found
            if cluster != other and first != second and not known and not (apart and _share_words(first, second)):
                name = ItemId.of(self.name, content_hash(first, second), "random", 1, purpose, 0)
                found[first, second] = SentencePair(name, first, second, 0, cluster, other=other)
                if len(found) == count:
                    break
        return tuple(found.values())

    @cached_property
    def _sentences(self) -> list[tuple[str, str]]:
        """(text, cluster) of the sentences that random pairs are drawn from, sorted."""
        if self.whole is not None:
            return sorted(self.whole.sentences)
        of_groups, of_pairs = ((g.source, g.cluster) for g in self.groups), ((p.first, p.cluster) for p in self.pairs)
        found = {*of_groups, *of_pairs, *((text, cluster) for cluster, text in self.texts)}
        if len(found) > SENTENCES:
            texts = set(sorted({text for text, _ in found}, key=content_hash)[:SENTENCES])
            found = {one for one in found if one[0] in texts}
        return sorted(found)


def fingerprint_of(item: str, label: int | None, score: float | None) -> str:
    """What the fingerprint of a data set has of a pair."""
    return f"{item}{label}{'' if score is None else score}"


def _share_words(first: str, second: str) -> bool:
    return bool(content_words(first) & content_words(second))
