"""The pairs that a threshold is chosen on, and their scores under models and under surface scorers."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from encheck.datasets.clusters import bag_of, clusters_of, sample_clusters
from encheck.datasets.guessing import taken_for
from encheck.datasets.load import is_path, load, names
from encheck.datasets.pairs import FORMATS, production
from encheck.datasets.reader import BadRows, Row
from encheck.errors import DataError
from encheck.scoring.splits import TEST
from encheck.surface import SURFACE, WEIGHTED, Frequencies
from encheck.system.files import expand_home
from encheck.types import content_hash

log = logging.getLogger("encheck")
Floats = NDArray[np.float64]
Codes = NDArray[np.intp]
NEGATIVE, POSITIVE, UNKNOWN = 0, 1, -1
OWN = "pairs:"
OPEN = "without a label"  # at the end of the names of clusters of such pairs
RIVALS = {"jaccard": "word overlap", "tf-idf": "tf-idf"}


@dataclass(frozen=True)
class Pairs:
    """Pairs in order: `first` and `second` [n], `labels` [n] (1, 0, or -1 where nobody said), `clusters` [n].

    `slices` has columns of further values, "" where a pair has none. `hard` says how the negatives were made, where
    they were made to be hard. `skipped` are rows that were left out. `by_texts` says that the data name no cluster, so
    that a cluster is what shares texts.
    """

    name: str
    first: tuple[str, ...]
    second: tuple[str, ...]
    labels: NDArray[np.int8]
    clusters: tuple[str, ...]
    slices: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    hard: str = ""
    skipped: tuple[str, ...] = ()
    by_texts: bool = False

    @cached_property
    def codes(self) -> Codes:
        """The number of each pair's cluster, from 0; shape [n]."""
        found: Codes = np.unique(np.array(self.clusters, dtype=str), return_inverse=True)[1].astype(np.intp)
        return found

    @property
    def texts(self) -> list[tuple[str, str]]:
        """Both texts of each pair."""
        return list(zip(self.first, self.second, strict=True))

    def of(self, label: int) -> Codes:
        """Which pairs have this label; shape [m]."""
        return np.flatnonzero(self.labels == label)

    def clusters_of(self, label: int) -> int:
        """How many clusters have a pair with this label."""
        return len(np.unique(self.codes[self.of(label)]))

    def distinct(self, label: int) -> Codes:
        """Which pairs have this label, each pair of texts once, in the first of its clusters by name; shape [m]."""
        items, texts = self.of(label), self.texts
        ordered = sorted(items.tolist(), key=self.codes.__getitem__)
        first: dict[frozenset[str], int] = {}
        for i in ordered:
            first.setdefault(frozenset(texts[i]), i)
        return np.array(sorted(first.values()), np.intp)

    def depends_on(self, items: Codes) -> Codes:
        """On how many of these distinct pairs each of them depends, itself included; shape [m].

        Pairs depend on each other where they share a text, or the same words in another order; with named clusters,
        where they share a cluster.
        """
        if not self.by_texts:
            codes = self.codes[items]
            return np.asarray(np.bincount(codes)[codes], np.intp)
        ends = np.array([[bag_of(self.first[i]), bag_of(self.second[i])] for i in items.tolist()], np.int64)
        texts = np.sort(np.unique(ends, return_inverse=True)[1].reshape(-1, 2), axis=1)
        _, both, repeats = np.unique(texts, axis=0, return_inverse=True, return_counts=True)
        is_one = texts[:, 0] == texts[:, 1]
        pairs_of = np.bincount(np.concatenate([texts[:, 0], texts[~is_one, 1]]))
        found: Codes = pairs_of[texts[:, 0]] + np.where(is_one, 0, pairs_of[texts[:, 1]] - repeats[both.ravel()])
        return found

    def only(self, kept: Sequence[int]) -> Pairs:
        """Some of the pairs."""
        first, second, clusters = (tuple(c[i] for i in kept) for c in (self.first, self.second, self.clusters))
        slices = {name: tuple(values[i] for i in kept) for name, values in self.slices.items()}
        return replace(
            self, first=first, second=second, labels=self.labels[list(kept)], clusters=clusters, slices=slices
        )


def load_pairs(spec: str, *, sample: int | None = None, seed: int = 0, skip_bad_rows: bool = False) -> Pairs:
    """The pairs of `--data`: with `pairs:FILE` labels may be missing, and further columns are slices.

    Of other data, the part that is measured. DataError if they hold no pairs of sentences.
    """
    own = _own_path(spec)
    found = _own(spec, own, BadRows(skip=skip_bad_rows)) if own else _public(spec, sample, seed)
    if not found.first:
        left_out = f" ({len(found.skipped)} rows were left out, the first: {found.skipped[0]})" if found.skipped else ""
        raise DataError(
            f"--data={spec} has no pairs of two texts{left_out}: a threshold is chosen on pairs:FILE, mrpc, qqp, ..."
        )
    if sample is None or len(set(found.clusters)) <= sample:
        return found
    chosen = sample_clusters(found.clusters, sample, seed=seed)
    return found.only([i for i, cluster in enumerate(found.clusters) if cluster in chosen])


def _own_path(spec: str) -> str:
    """The file or folder of pairs that a specification names, with or without its kind; empty for other data."""
    if spec.startswith(OWN):
        return spec.removeprefix(OWN)
    path = Path(spec).expanduser()
    is_folder = is_path(spec) and path.is_dir() and taken_for(path, has_log=False) == "pairs"
    if is_folder or (is_path(spec) and path.suffix.lower() in FORMATS):
        log.warning("--data=%s was taken for --data=%s%s", spec, OWN, spec)
        return spec
    return ""


def _own(spec: str, name: str, bad: BadRows) -> Pairs:
    path = expand_home(name)
    if not path.exists():
        raise DataError(f"--data={spec}: {path} does not exist")
    made = list(production(Path(path), bad))
    rows = [row for row, _ in made]
    labels = [UNKNOWN if row.label is None else row.label for row in rows]
    columns = Counter(name for _, values in made for name in values)
    slices = {name: tuple(values.get(name, "") for _, values in made) for name in sorted(columns)}
    return Pairs(
        path.stem, tuple(row.first for row in rows), tuple(row.second for row in rows), np.array(labels, np.int8),
        _clusters(rows), slices, skipped=tuple(bad.skipped), by_texts=all(row.cluster is None for row in rows),
    )  # fmt: skip


def _clusters(rows: Sequence[Row]) -> tuple[str, ...]:
    """The cluster of each row. Where it is what shares texts, no row without a label joins others that have one."""
    found = [""] * len(rows)
    for is_labelled in (True, False):
        places = [i for i, row in enumerate(rows) if (row.label is not None) is is_labelled]
        for i, cluster in zip(places, clusters_of([rows[i] for i in places]), strict=True):
            found[i] = cluster if is_labelled or rows[i].cluster else f"{cluster} {OPEN}"
    return tuple(found)


def _public(spec: str, sample: int | None, seed: int) -> Pairs:
    data = load(spec, sample=sample, seed=seed)
    module = names().get(spec.partition(":")[0].partition("@")[0])
    has_test = any(pair.split in TEST for pair in data.pairs)
    kept = [pair for pair in data.pairs if not has_test or pair.split in TEST]
    labels = np.array([UNKNOWN if pair.label is None else pair.label for pair in kept], np.int8)
    named_by_texts = {content_hash(text) for pair in data.pairs for text in (pair.first, pair.second)}
    return Pairs(
        data.name, tuple(p.first for p in kept), tuple(p.second for p in kept), labels, tuple(p.cluster for p in kept),
        hard=getattr(module, "NEGATIVES", ""), skipped=data.skipped,
        by_texts=all(p.cluster in named_by_texts for p in kept),
    )  # fmt: skip


def rival_scores(pairs: Pairs) -> dict[str, Floats]:
    """The scores of word overlap, and of tf-idf counted in these texts, by the scorer's name."""
    counted = Frequencies.of((*pairs.first, *pairs.second))
    both = (pairs.first, pairs.second)
    return {name: WEIGHTED[name](*both, counted) if name in WEIGHTED else SURFACE[name](*both) for name in RIVALS}
