"""A loaded data set: labelled pairs, the groups that variants are made from, and the clusters they belong to."""

from __future__ import annotations

import hashlib
import importlib
import logging
import pkgutil
import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, cast

import numpy as np

import encheck.datasets
from encheck.datasets.hub import WORD, Hub, Hubs
from encheck.datasets.reader import BadRows, Row
from encheck.errors import DataError, unknown
from encheck.ids import ItemId
from encheck.language.words import content_words
from encheck.statistics.clusters import components
from encheck.system.memory import uncollected
from encheck.types import Group, SentencePair, content_hash

log = logging.getLogger("encheck")
REFERENCE_PAIRS = 2_000
DEFAULT_SAMPLE_CLUSTERS = 2_000


@dataclass(frozen=True)
class Dataset:
    """Pairs and groups of one data set; `universe` names every cluster, in order.

    `rows` counts what the files hold, before sampling; `fingerprint` is a hash of the pairs and groups kept.
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

    @property
    def labels(self) -> dict[str, int]:
        """Number of pairs a label."""
        return dict(sorted(Counter(str(p.label) for p in self.pairs).items()))

    @property
    def fingerprint(self) -> str:
        """Changes when any text, label or score changes."""
        pairs = (f"{p.id}{p.label}{'' if p.score is None else p.score}" for p in self.pairs)
        variants = (f"{g.id}{v.relation}{v.level}{v.text}" for g in self.groups for v in g.variants)
        return content_hash(*pairs, *variants)

    def reference(
        self, *, seed: int, purpose: str = "calibration", count: int = REFERENCE_PAIRS
    ) -> tuple[SentencePair, ...]:
        """Random pairs of this data's sentences from different clusters that share no content word.

        As many as can be found, at most `count`, none the other way round as well; the same for the same seed and
        purpose.
        """
        sentences = sorted({(g.source, g.cluster) for g in self.groups} | {(p.first, p.cluster) for p in self.pairs})
        rng = random.Random(f"{seed}/{purpose}")  # noqa: S311 - no secret
        found: dict[tuple[str, str], SentencePair] = {}
        for _ in range(20 * count if len(sentences) > 1 else 0):
            (first, cluster), (second, other) = rng.choice(sentences), rng.choice(sentences)
            known = (first, second) in found or (second, first) in found
            if cluster != other and first != second and not known and _apart(first, second):
                name = ItemId.of(self.name, content_hash(first, second), "random", 1, purpose, 0)
                found[first, second] = SentencePair(name, first, second, 0, cluster, other=other)
                if len(found) == count:
                    break
        return tuple(found.values())


def _apart(first: str, second: str) -> bool:
    return not content_words(first) & content_words(second)


@cache
def names() -> dict[str, ModuleType]:
    """The data sets that there are: every module of this package that has a LICENCE."""
    found = [
        importlib.import_module(f"{encheck.datasets.__name__}.{m.name}")
        for m in pkgutil.iter_modules(encheck.datasets.__path__)
    ]
    return {m.__name__.rpartition(".")[2].replace("_", "-"): m for m in found if hasattr(m, "LICENCE")}


@uncollected()
def load(
    spec: str,
    *,
    label: str | None = None,
    sample: int | None = DEFAULT_SAMPLE_CLUSTERS,
    seed: int = 0,
    skip_bad_rows: bool = False,
) -> Dataset:
    """The data set `NAME` or `NAME:PATH`; of pairs, at most `sample` clusters (None: all of them).

    Probes, embedded or of a file, come whole. `label` names it in results where two of the same name are loaded.
    """
    name, _, path = spec.partition(":")
    if name not in names():
        raise DataError(unknown("data set", name, names()))
    module = names()[name]
    _refuse_unfinished(name, module)
    if not path:
        if not hasattr(module, "embedded"):
            fetched = f"; or --data {name}:hub, which fetches it" if hasattr(module, "HUB") else ""
            wanted = f"--data {name}:PATH, where PATH holds {module.FILES}{fetched}"
            raise DataError(f"data set {name!r} needs a path: {wanted}")
        dataset: Dataset = module.embedded()
        return replace(dataset, name=label or name)
    bad = BadRows(skip=skip_bad_rows)
    has_groups = hasattr(module, "groups")
    rows = list(_read(module, path, bad))
    if not rows:
        left_out = f" that is right (the first problem of {len(bad.skipped)}: {bad.skipped[0]})" if bad.skipped else ""
        raise DataError(f"{name}: {path} holds no row{left_out}; expected {module.FILES}")
    if bad.skipped:
        log.warning("%s: %d malformed rows excluded; the first: %s", label or name, len(bad.skipped), bad.skipped[0])
    if has_groups:
        own: Dataset = module.dataset(rows)
        return replace(own, name=label or name, skipped=tuple(bad.skipped))
    return from_rows(label or name, rows, licence=module.LICENCE, sample=sample, seed=seed, skipped=bad.skipped)


def _refuse_unfinished(name: str, module: ModuleType) -> None:
    """DataError for a module that lacks what a data set has to have."""
    offers = [what for what in ("read", "groups", "embedded") if hasattr(module, what)]
    if not offers or ("embedded" not in offers and not hasattr(module, "FILES")):
        lacks = "no FILES, which says what PATH should hold" if offers else "neither read() nor groups()"
        raise DataError(f"data set {name!r}: {module.__file__} has {lacks}")


def _read(module: ModuleType, path: str, bad: BadRows) -> Iterable[Any]:
    """What lies at the path, or on the hub where that is what the path says and the data set is there."""
    if path == WORD and not hasattr(module, "HUB") and not Path(path).exists():
        there = ", ".join(name for name, other in names().items() if hasattr(other, "HUB"))
        raise DataError(f"this data set is not on the hub: give the path of {module.FILES}. On the hub are: {there}")
    if path == WORD and hasattr(module, "HUB"):
        return cast("Hub | Hubs", module.HUB).read(bad)
    found: Iterable[Any] = (module.groups if hasattr(module, "groups") else module.read)(Path(path).expanduser(), bad)
    return found


def from_rows(
    name: str,
    rows: Sequence[Row],
    *,
    licence: str = "",
    sample: int | None = None,
    seed: int = 0,
    skipped: Sequence[str] = (),
) -> Dataset:
    """A data set of labelled pairs. The positive ones are the groups: a sentence and its paraphrase."""
    clusters = clusters_of(rows)
    if sample is not None:
        chosen = sample_clusters(clusters, sample, seed=seed)
        kept = [(row, c) for row, c in zip(rows, clusters, strict=True) if c in chosen]
    else:
        kept = list(zip(rows, clusters, strict=True))
    pairs = tuple(_pairs(name, kept))
    groups = tuple(Group(p.id, p.first, p.second, p.cluster, split=p.split) for p in pairs if p.label == 1)
    universe = tuple(sorted({p.cluster for p in pairs}))
    sampled = len(pairs) < len(rows)
    return Dataset(name, pairs, groups, licence, len(rows), skipped=tuple(skipped), sampled=sampled, universe=universe)


def _pairs(name: str, rows: Iterable[tuple[Row, str]]) -> Iterable[SentencePair]:
    seen: Counter[str] = Counter()
    for row, cluster in rows:
        key = content_hash(row.first, row.second)
        item = ItemId.of(name, key, "pair", 1, "data", seen[key])
        yield SentencePair(item, row.first, row.second, row.label, cluster, row.split, score=row.score, key=row.key)
        seen[key] += 1


def clusters_of(rows: Sequence[Row]) -> list[str]:
    """The cluster of each row: what the data name, else the connected component that shares sentences.

    Sentences of the same words in another order count as shared (PAWS makes its pairs by swapping words). A
    component is named by the hash of its first text in alphabetical order, so that no order of rows matters.
    """
    first = np.fromiter((_bag(row.first) for row in rows), np.int64, len(rows))
    second = np.fromiter((_bag(row.second) for row in rows), np.int64, len(rows))
    roots = components(first, second)
    least: dict[int, str] = {}
    for root, row in zip(roots, rows, strict=True):
        text = row.first if row.first < row.second else row.second
        known = least.get(root)
        if known is None or text < known:
            least[root] = text
    if (strange := next((row.cluster for row in rows if not isinstance(row.cluster, str | None)), None)) is not None:
        raise DataError(f"the cluster of a row is {strange!r}, but should be text, as it stands in the file")
    hashed = {root: content_hash(text) for root, text in least.items()}
    return [row.cluster or hashed[root] for root, row in zip(roots, rows, strict=True)]


def _bag(text: str) -> int:
    """A number for the words of a text in any order: 64 bits, since a million texts are held by it at once."""
    words = text.lower().split()
    words.sort()
    return hash(" ".join(words))


def sample_clusters(clusters: Iterable[str], count: int, *, seed: int) -> set[str]:
    """`count` of the clusters, chosen by the hash of their name: rows added later reshuffle nothing."""

    def rank(cluster: str) -> bytes:
        return hashlib.sha256(f"{seed}/{cluster}".encode()).digest()

    return set(sorted(set(clusters), key=rank)[:count])
