"""What is done with a shard: its pairs are surveyed once, then scored by each model.

Both write numbers alone, a row of them for each valid row of the shard. No text is copied.
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

from encheck.datasets.reader import BadRows, Row
from encheck.encoders.load import load, owner_of
from encheck.encoders.model_config import Device, ModelConfig
from encheck.encoders.protocol import Encoder, HeadedEncoder, Model, PairScorer, VerifiedModel, batches_of, check_scores
from encheck.errors import EncoderError
from encheck.language.divergence import jsd_once
from encheck.running.scorer import comparing
from encheck.running.service import PAIRS_PER_BATCH
from encheck.scale.partitions import Folder
from encheck.scale.rows import rows_of
from encheck.scale.shards import Done, Shard
from encheck.scale.storage import join
from encheck.similarity import Vectors, jaccard_once

EDITION = 2  # of what the files hold
PAIRS_AT_ONCE = 10_000  # whose vectors are compared at once
NOTES = 5  # malformed rows that are told of a shard
Floats = NDArray[np.float64]
Pair = tuple[str, str]


def key_of(*parts: object) -> str:
    """A hash of plain values, the same in every process."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()[:16]


class _Kept(ABC):
    """Work whose files lie below `folder`, in one that its key names."""

    folder: str

    @property
    @abstractmethod
    def key(self) -> str:
        """A hash of all that the result depends on."""

    @property
    def files(self) -> Folder:
        """Where the files of its shards are."""
        return Folder(join(self.folder, self.key))

    def found(self, shard: Shard) -> Done | None:
        """What came of this shard before; None if it is still to be done."""
        return self.files.found(shard)


@dataclass(frozen=True)
class Survey(_Kept):
    """What the rows of a shard say without any model: labels, word overlap, divergence, and hashes of what they share.

    `folder` holds the files of every work, `data` is the fingerprint of the data's files.
    """

    folder: str
    data: str
    skip_bad_rows: bool = False

    @property
    def key(self) -> str:
        """A hash of the data and of how they are read."""
        return key_of("survey", EDITION, self.data, self.skip_bad_rows)

    def begin(self) -> Callable[[Shard], Done]:
        """What surveys a shard."""
        return self._survey

    def _survey(self, shard: Shard) -> Done:
        start, bad = time.monotonic(), BadRows(skip=self.skip_bad_rows)
        found = list(rows_of(shard, bad))
        rows = [row for _, row in found]
        columns: dict[str, NDArray[Any]] = {"row": np.array([at for at, _ in found], np.int32)}
        columns |= _said(rows)
        columns |= _surface(rows)
        columns |= _hashes(rows)
        counts = {"rows": len(rows), "read": shard.rows, "skipped": len(bad.skipped)}
        seconds = time.monotonic() - start
        return self.files.write(shard, columns, counts=counts, seconds=seconds, notes=bad.skipped[:NOTES])


def _said(rows: Sequence[Row]) -> dict[str, NDArray[Any]]:
    """What the data say: the label, -1 for none, and the score, NaN for none; whether both texts are the same."""
    return {
        "label": np.array([-1 if row.label is None else row.label for row in rows], np.int8),
        "gold": np.array([np.nan if row.score is None else row.score for row in rows], np.float64),
        "same": np.array([row.first == row.second for row in rows], bool),
    }


def _surface(rows: Sequence[Row]) -> dict[str, NDArray[Any]]:
    """Word overlap and divergence, as the checks have them."""
    first, second = [row.first for row in rows], [row.second for row in rows]
    return {"overlap": jaccard_once(first, second), "divergence": jsd_once(first, second)}


def _hashes(rows: Sequence[Row]) -> dict[str, NDArray[np.uint64]]:
    """Hashes of 64 bits, the same in every process.

    They are of the words of each side in any order, of the text that comes first in the alphabet, of the first text, of
    the pair, and of the given cluster, 0 for none.
    """
    hashes: Mapping[str, Callable[[Row], int]] = {
        "words": lambda row: _hash(f"sentence\0{_bag(row.first)}"),
        "others": lambda row: _hash(f"sentence\0{_bag(row.second)}"),
        "least": lambda row: _hash(min(row.first, row.second)),
        "first": lambda row: _hash(row.first),
        "pair": lambda row: _hash(f"{row.first}\0{row.second}"),
        "given": lambda row: _hash(row.cluster) if row.cluster else 0,
    }
    return {name: np.fromiter(map(of, rows), np.uint64, len(rows)) for name, of in hashes.items()}


def _hash(text: str) -> int:
    """The number of `content_hash`."""
    return int.from_bytes(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:8])


def _bag(text: str) -> str:
    """The words of a text in alphabetical order, as clusters see it."""
    return " ".join(sorted(text.lower().split()))


@dataclass(frozen=True)
class ScoreWork(_Kept):
    """A model's scores of the pairs of a shard; in both orders where they differ and `both_orders` asks for it.

    `fingerprint` is what the run knows the model by: one that a worker loads must have the same. `model` is the run's
    own, which does not travel.
    """

    folder: str
    data: str
    config: ModelConfig
    fingerprint: str
    device: Device = field(default_factory=Device)
    skip_bad_rows: bool = False
    both_orders: bool = False
    model: Model | None = field(default=None, compare=False, repr=False)

    def __getstate__(self) -> dict[str, Any]:
        """Settings alone."""
        return vars(replace(self, model=None)).copy()

    @property
    def key(self) -> str:
        """A hash of the data, the model and what is asked of it."""
        survey = Survey(self.folder, self.data, self.skip_bad_rows).key
        return key_of("scores", EDITION, survey, self.fingerprint, self.both_orders)

    def begin(self) -> Callable[[Shard], Done]:
        """Load the model and return what scores a shard; EncoderError where it is not the model of the run."""
        model = self.model or self._loaded()

        def score(shard: Shard) -> Done:
            return self._score(model, shard)

        return score

    def _loaded(self) -> Model:
        model = load(self.config, device=self.device)
        owner, own = owner_of(model), model.fingerprint()
        if (found := f"{owner}/{own}" if owner else own) != self.fingerprint:
            raise EncoderError(
                f"{self.config.label}: this worker's model has the fingerprint {found!r}, the run's has "
                f"{self.fingerprint!r}. Remedy: give all workers the same files"
            )
        return model

    def _score(self, model: Model, shard: Shard) -> Done:
        start = time.monotonic()
        pairs = [(row.first, row.second) for _, row in rows_of(shard, BadRows(skip=self.skip_bad_rows))]
        if isinstance(model, Encoder):
            columns, computed = _by_vectors(model, pairs, both_orders=self.both_orders)
        else:
            columns, computed = _by_pairs(model, pairs, both_orders=self.both_orders)
        for name, values in columns.items():
            _refuse_no_numbers(self.config.label, shard, name, values, pairs)
        if isinstance(model, VerifiedModel):
            model.verify_fingerprint()
        counts = {"rows": len(pairs), "computed": computed}
        return self.files.write(shard, columns, counts=counts, seconds=time.monotonic() - start)


def _by_vectors(model: Encoder, pairs: Sequence[Pair], *, both_orders: bool) -> tuple[dict[str, Floats], int]:
    """The scores by an encoder, each distinct text encoded once; how many there are.

    A similarity of vectors is the same in both orders; a trained head need not be.
    """
    numbers: dict[str, int] = {}
    first, second = (
        np.array([numbers.setdefault(pair[side], len(numbers)) for pair in pairs], np.intp) for side in (0, 1)
    )
    vectors = _vectors(model, list(numbers))
    _, compare = comparing(model)
    columns = {"forward": _compared(vectors, first, second, compare)}
    if both_orders and isinstance(model, HeadedEncoder):
        columns["backward"] = _compared(vectors, second, first, compare)
    return columns, len(numbers)


def _vectors(model: Encoder, texts: Sequence[str]) -> Vectors:
    vectors = np.zeros((0, 0), np.float32)
    for positions, some in batches_of(model, texts):
        if not len(vectors):
            vectors = np.zeros((len(texts), some.shape[1]), np.float32)
        vectors[positions] = some
    return vectors


def _compared(
    vectors: Vectors,
    first: NDArray[np.intp],
    second: NDArray[np.intp],
    compare: Callable[[Vectors, Vectors], Floats],
) -> Floats:
    starts = range(0, len(first), PAIRS_AT_ONCE)
    parts = [compare(vectors[first[i : i + PAIRS_AT_ONCE]], vectors[second[i : i + PAIRS_AT_ONCE]]) for i in starts]
    return np.concatenate([np.zeros(0), *parts])


def _by_pairs(model: Model, pairs: Sequence[Pair], *, both_orders: bool) -> tuple[dict[str, Floats], int]:
    """The scores by a model that scores pairs, each distinct pair once; how many there are."""
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


def _refuse_no_numbers(label: str, shard: Shard, name: str, values: Floats, pairs: Sequence[Pair]) -> None:
    if (bad := np.flatnonzero(~np.isfinite(values))).size:
        raise EncoderError(
            f"{label}: the {name} score of {bad.size} of {len(values)} pairs of {shard} is not a number, first of "
            f"{pairs[bad[0]]}. Remedy: vectors that are not all zeros, blank texts' too"
        )
