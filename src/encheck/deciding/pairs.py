"""The pairs that a cut-off is chosen on, and their scores under models and under surface scorers."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from encheck.datasets.clusters import clusters_of, sample_clusters
from encheck.datasets.load import is_path, load, names
from encheck.datasets.pairs import FORMATS, production
from encheck.datasets.parts import TEST
from encheck.datasets.reader import BadRows
from encheck.errors import DataError
from encheck.surface import SURFACE, WEIGHTED, Frequencies
from encheck.system.paths import typed
from encheck.types import content_hash

log = logging.getLogger("encheck")
Floats = NDArray[np.float64]
Codes = NDArray[np.intp]
NEGATIVE, POSITIVE, UNKNOWN = 0, 1, -1
OWN = "pairs:"
RIVALS = {"jaccard": "word overlap", "tf-idf": "tf-idf"}


@dataclass(frozen=True)
class Pairs:
    """Pairs in order: `first` and `second` [n], `labels` [n] (1, 0, or -1 where nobody said), `clusters` [n].

    `slices` has columns of further values, "" where a pair has none. `hard` says how the negatives were made, where
    they were made to be hard. `skipped` are rows that were left out.
    """

    name: str
    first: tuple[str, ...]
    second: tuple[str, ...]
    labels: NDArray[np.int8]
    clusters: tuple[str, ...]
    slices: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    hard: str = ""
    skipped: tuple[str, ...] = ()

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

    def ranks(self, seed: int) -> Floats:
        """A random number from 0 to 1 for each pair, the same wherever it stands in the file; shape [n]."""
        keys = (content_hash(f"cut-off/{seed}", *pair) for pair in self.texts)
        return np.array([int(key, 16) for key in keys], np.float64) / 2.0**64

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
            f"--data={spec} has no pairs of two texts{left_out}: a cut-off is chosen on pairs:FILE, mrpc, qqp, ..."
        )
    if sample is None or len(set(found.clusters)) <= sample:
        return found
    chosen = sample_clusters(found.clusters, sample, seed=seed)
    return found.only([i for i, cluster in enumerate(found.clusters) if cluster in chosen])


def _own_path(spec: str) -> str:
    """The file of pairs that a specification names, with or without its kind; empty for other data."""
    if spec.startswith(OWN):
        return spec.removeprefix(OWN)
    if is_path(spec) and Path(spec).suffix.lower() in FORMATS:
        log.warning("--data=%s was taken for --data=%s%s", spec, OWN, spec)
        return spec
    return ""


def _own(spec: str, name: str, bad: BadRows) -> Pairs:
    path = typed(name)
    if not path.is_file():
        raise DataError(f"--data={spec}: {path} {'is a folder' if path.is_dir() else 'does not exist'}")
    made = list(production(Path(path), bad))
    rows = [row for row, _ in made]
    labels = [UNKNOWN if row.label is None else row.label for row in rows]
    columns = Counter(name for _, values in made for name in values)
    slices = {name: tuple(values.get(name, "") for _, values in made) for name in sorted(columns)}
    return Pairs(
        path.stem, tuple(row.first for row in rows), tuple(row.second for row in rows), np.array(labels, np.int8),
        tuple(clusters_of(rows)), slices, skipped=tuple(bad.skipped),
    )  # fmt: skip


def _public(spec: str, sample: int | None, seed: int) -> Pairs:
    data = load(spec, sample=sample, seed=seed)
    module = names().get(spec.partition(":")[0].partition("@")[0])
    has_test = any(pair.split in TEST for pair in data.pairs)
    kept = [pair for pair in data.pairs if not has_test or pair.split in TEST]
    labels = np.array([UNKNOWN if pair.label is None else pair.label for pair in kept], np.int8)
    return Pairs(
        data.name, tuple(p.first for p in kept), tuple(p.second for p in kept), labels, tuple(p.cluster for p in kept),
        hard=getattr(module, "NEGATIVES", ""), skipped=data.skipped,
    )  # fmt: skip


def rival_scores(pairs: Pairs) -> dict[str, Floats]:
    """The scores of word overlap, and of tf-idf counted in these texts, by the scorer's name."""
    counted = Frequencies.of((*pairs.first, *pairs.second))
    both = (pairs.first, pairs.second)
    return {name: WEIGHTED[name](*both, counted) if name in WEIGHTED else SURFACE[name](*both) for name in RIVALS}
