"""The tasks on a shard: its pairs are surveyed once, then scored by each model.

Both tasks write only numbers, one row for each valid row of the shard. No text is copied.
"""

from __future__ import annotations

import hashlib
import json
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from encheck.datasets.reader import BadRows, PairRow
from encheck.encoders.batching import PAIRS_PER_BATCH
from encheck.encoders.load import foreign_class_name, load_model
from encheck.encoders.model_config import Device, ModelConfig
from encheck.encoders.protocol import (
    Encoder,
    HeadedEncoder,
    Model,
    PairScorer,
    VerifiedModel,
    check_scores,
    checked_batches,
)
from encheck.errors import EncoderError
from encheck.language.divergence import jensen_shannon_divergence_uncached
from encheck.running.scorer import comparison_function
from encheck.scale.shards import Shard, ShardFolder, ShardResult, shard_rows
from encheck.scale.storage import join
from encheck.similarity import Vectors, jaccard_uncached

EDITION = 2  # of the files' content
PAIRS_AT_ONCE = 10_000  # pairs whose vectors are compared at once
NOTES = 5  # malformed rows reported per shard
Floats = NDArray[np.float64]
Pair = tuple[str, str]


def hash_settings(*parts: object) -> str:
    """Return a hash of plain values, the same in every process."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()[:16]


class _FiledWork(ABC):
    """A task whose files are below `folder`, in a subfolder named by its key."""

    folder: str

    @property
    @abstractmethod
    def key(self) -> str:
        """A hash of everything that determines the result."""

    @property
    def files(self) -> ShardFolder:
        """The folder for the files of the task's shards."""
        return ShardFolder(join(self.folder, self.key))

    def stored_result(self, shard: Shard) -> ShardResult | None:
        """Return the earlier result of this shard, or None if the shard is not done."""
        return self.files.stored_result(shard)


@dataclass(frozen=True)
class SurveyWork(_FiledWork):
    """Collects the data of a shard's rows that need no model.

    These are labels, word overlap, divergence, and hashes of what the rows share. `folder` holds the files of all
    tasks. `data` is the fingerprint of the data's files.
    """

    folder: str
    data: str
    skip_bad_rows: bool = False

    @property
    def key(self) -> str:
        """A hash of the data and of how they are read."""
        return hash_settings("survey", EDITION, self.data, self.skip_bad_rows)

    def make_shard_function(self) -> Callable[[Shard], ShardResult]:
        """Return a function that surveys a shard."""
        return self._survey

    def _survey(self, shard: Shard) -> ShardResult:
        start, bad = time.monotonic(), BadRows(skip=self.skip_bad_rows)
        found = list(shard_rows(shard, bad))
        rows = [row for _, row in found]
        columns: dict[str, NDArray[Any]] = {"row": np.array([at for at, _ in found], np.int32)}
        columns |= {
            "label": np.array([-1 if row.label is None else row.label for row in rows], np.int8),
            "gold": np.array([np.nan if row.score is None else row.score for row in rows], np.float64),
            "same": np.array([row.first == row.second for row in rows], bool),
        }
        first, second = [row.first for row in rows], [row.second for row in rows]
        columns |= {
            "overlap": jaccard_uncached(first, second),
            "divergence": jensen_shannon_divergence_uncached(first, second),
        }
        hashes: Mapping[str, Callable[[PairRow], int]] = {
            "words": lambda row: _hash(f"sentence\0{_sorted_words(row.first)}"),
            "others": lambda row: _hash(f"sentence\0{_sorted_words(row.second)}"),
            "least": lambda row: _hash(min(row.first, row.second)),
            "first": lambda row: _hash(row.first),
            "pair": lambda row: _hash(f"{row.first}\0{row.second}"),
            "given": lambda row: _hash(row.cluster) if row.cluster else 0,
        }
        columns |= {name: np.fromiter(map(of, rows), np.uint64, len(rows)) for name, of in hashes.items()}
        counts = {"rows": len(rows), "read": shard.rows, "skipped": len(bad.skipped)}
        seconds = time.monotonic() - start
        return self.files.write(shard, columns, counts=counts, seconds=seconds, notes=bad.skipped[:NOTES])


def _hash(text: str) -> int:
    """Return `content_hash` as a number."""
    return int.from_bytes(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:8])


def _sorted_words(text: str) -> str:
    """Return the words of a text in alphabetical order, as for clusters."""
    return " ".join(sorted(text.lower().split()))


@dataclass(frozen=True)
class ScoreWork(_FiledWork):
    """Scores the pairs of a shard with a model, in both orders if `both_orders` is set and the orders differ.

    `fingerprint` identifies the model of the run. A model that a worker loads must have the same fingerprint.
    `store_fingerprint` identifies its finished shards. `model` is the run's own model, which is not sent to workers.
    """

    folder: str
    data: str
    config: ModelConfig
    fingerprint: str
    store_fingerprint: str
    device: Device = field(default_factory=Device)
    skip_bad_rows: bool = False
    both_orders: bool = False
    model: Model | None = field(default=None, compare=False, repr=False)

    def __getstate__(self) -> dict[str, object]:
        """Return only the settings."""
        return vars(replace(self, model=None)).copy()

    @property
    def key(self) -> str:
        """A hash of the data, the model and its settings."""
        survey = SurveyWork(self.folder, self.data, self.skip_bad_rows).key
        return hash_settings("scores", EDITION, survey, self.store_fingerprint, self.both_orders)

    def make_shard_function(self) -> Callable[[Shard], ShardResult]:
        """Load the model and return a function that scores a shard.

        Raise EncoderError if it is not the model of the run.
        """
        model = self.model or self._loaded()

        def score(shard: Shard) -> ShardResult:
            return self._score(model, shard)

        return score

    def _loaded(self) -> Model:
        model = load_model(self.config, device=self.device)
        owner, own = foreign_class_name(model), model.fingerprint()
        if (found := f"{owner}/{own}" if owner else own) != self.fingerprint:
            raise EncoderError(
                f"{self.config.label}: this worker's model has the fingerprint {found!r}, the run's has "
                f"{self.fingerprint!r}. Remedy: give all workers the same files"
            )
        return model

    def _score(self, model: Model, shard: Shard) -> ShardResult:
        start = time.monotonic()
        pairs = [(row.first, row.second) for _, row in shard_rows(shard, BadRows(skip=self.skip_bad_rows))]
        if isinstance(model, Encoder):
            columns, computed = _score_by_vectors(model, pairs, both_orders=self.both_orders)
        else:
            columns, computed = _score_by_pairs(model, pairs, both_orders=self.both_orders)
        for name, values in columns.items():
            if (bad := np.flatnonzero(~np.isfinite(values))).size:
                raise EncoderError(
                    f"{self.config.label}: the {name} score of {bad.size} of {len(values)} pairs of {shard} is not a "
                    f"number, first of {pairs[bad[0]]}. Remedy: vectors that are not all zeros, also for blank texts"
                )
        if isinstance(model, VerifiedModel):
            model.verify_fingerprint()
        counts = {"rows": len(pairs), "computed": computed}
        return self.files.write(shard, columns, counts=counts, seconds=time.monotonic() - start)


def _score_by_vectors(model: Encoder, pairs: Sequence[Pair], *, both_orders: bool) -> tuple[dict[str, Floats], int]:
    """Return the scores by an encoder, which encodes each distinct text once, and the number of these texts.

    A similarity of vectors is the same in both orders. The similarity of a trained head may differ.
    """
    numbers: dict[str, int] = {}
    first, second = (
        np.array([numbers.setdefault(pair[side], len(numbers)) for pair in pairs], np.intp) for side in (0, 1)
    )
    vectors = np.zeros((0, 0), np.float32)
    for positions, some in checked_batches(model, list(numbers)):
        if not len(vectors):
            vectors = np.zeros((len(numbers), some.shape[1]), np.float32)
        vectors[positions] = some
    _, compare = comparison_function(model)
    columns = {"forward": _compare_in_batches(vectors, first, second, compare)}
    if both_orders and isinstance(model, HeadedEncoder):
        columns["backward"] = _compare_in_batches(vectors, second, first, compare)
    return columns, len(numbers)


def _compare_in_batches(
    vectors: Vectors,
    first: NDArray[np.intp],
    second: NDArray[np.intp],
    compare: Callable[[Vectors, Vectors], Floats],
) -> Floats:
    starts = range(0, len(first), PAIRS_AT_ONCE)
    parts = [compare(vectors[first[i : i + PAIRS_AT_ONCE]], vectors[second[i : i + PAIRS_AT_ONCE]]) for i in starts]
    return np.concatenate([np.zeros(0), *parts])


def _score_by_pairs(model: Model, pairs: Sequence[Pair], *, both_orders: bool) -> tuple[dict[str, Floats], int]:
    """Return the scores by a model that scores each distinct pair once, and the number of these pairs."""
    assert isinstance(model, PairScorer)
    turned = [(second, first) for first, second in pairs] if both_orders else []
    numbers: dict[Pair, int] = {}
    places = np.array([numbers.setdefault(pair, len(numbers)) for pair in (*pairs, *turned)], np.intp)
    asked, found = list(numbers), np.zeros(len(numbers))
    for start in range(0, len(asked), PAIRS_PER_BATCH):
        some = asked[start : start + PAIRS_PER_BATCH]
        first, second = ([pair[side] for pair in some] for side in (0, 1))
        scores = check_scores(model.score_pairs(first, second), some)
        found[start : start + PAIRS_PER_BATCH] = scores.astype(np.float32)  # as the store keeps them
    columns = {"forward": found[places[: len(pairs)]]}
    return columns | ({"backward": found[places[len(pairs) :]]} if both_orders else {}), len(asked)
