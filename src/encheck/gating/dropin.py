"""Whether a model gives the same vectors as another one, so that stored vectors stay valid, or needs a re-index.

A pass of the gate says that a model behaves as well. A rotation, a prompt or a new head can behave as well while every
vector that lies in an index is of another space.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from encheck.similarity import ROUNDING, cosine
from encheck.types import content_hash

Vectors = NDArray[np.float32]
Floats = NDArray[np.float64]
MOST_BYTES = 16 * 1024  # of a space in a baseline
FEWEST, MOST = 8, 32  # texts
FULL = 127  # of int8
SAME_LENGTH = 0.01  # relative; what rounding changes of a length is less
RELATED = 0.3  # damaged copies of MiniLM have 0.63 or more, rotated ones and other models 0.01 or less (docs/gate.md)
ACCEPTED = 30  # pairs: with fewer, a cut-off that accepts as many is chance


@dataclass(frozen=True)
class Space:
    """Some vectors of a model: `vectors` of shape [n, d], one for each of `keys`, which are hashes of texts.

    All were encoded in one role (query, document, None). `similarity` is what the model compares them by.
    """

    role: str | None
    similarity: str
    keys: tuple[str, ...]
    vectors: Vectors

    @property
    def dimension(self) -> int:
        """Numbers a vector."""
        return int(self.vectors.shape[1])

    @classmethod
    def of(cls, texts: Sequence[str], vectors: Vectors, *, similarity: str, role: str | None = None) -> Self:
        """Of these texts."""
        return cls(role, similarity, tuple(map(content_hash, texts)), vectors)

    @property
    def small(self) -> Self:
        """As many of the first texts as a baseline has room for."""
        most = min(MOST, max(FEWEST, MOST_BYTES // max(self.dimension, 1)))
        return replace(self, keys=self.keys[:most], vectors=self.vectors[:most])

    def packed(self) -> dict[str, Any]:
        """As JSON has it: of each text a scale, and whole numbers from -127 to 127 (int8 in base64)."""
        scales = np.abs(self.vectors).max(axis=1, initial=0).astype(float) / FULL
        whole = np.rint(self.vectors / np.where(scales > 0, scales, 1)[:, None]).astype(np.int8)
        rows = zip(self.keys, scales.tolist(), whole, strict=True)
        return {
            "space": {"role": self.role, "similarity": self.similarity, "dimension": self.dimension},
            "vectors": {key: [float(f"{s:.7g}"), base64.b64encode(row.tobytes()).decode()] for key, s, row in rows},
        }

    @classmethod
    def unpacked(cls, found: Mapping[str, Any]) -> Self | None:
        """Of `packed`, None if there is none; ValueError if a vector has another dimension, or is none."""
        about, rows = found.get("space"), found.get("vectors")
        if not about or not rows:
            return None
        vectors = [_vector(key, scale, text, about["dimension"]) for key, (scale, text) in rows.items()]
        return cls(about["role"], about["similarity"], tuple(rows), np.array(vectors, np.float32))

    def of_keys(self, keys: Sequence[str]) -> Vectors:
        """The vectors of these keys, shape [n, d]."""
        at = {key: i for i, key in enumerate(self.keys)}
        return self.vectors[[at[key] for key in keys]]


def _vector(key: str, scale: float, text: str, dimension: int) -> Vectors:
    try:
        whole = np.frombuffer(base64.b64decode(text, validate=True), np.int8)
    except binascii.Error as error:
        raise ValueError(f"the vector of {key} is not base64") from error
    if len(whole) != dimension:
        raise ValueError(f"the vector of {key} has {len(whole)} numbers, but should have {dimension}")
    return whole.astype(np.float32) * np.float32(scale)


@dataclass(frozen=True)
class Reindex:
    """Whether an index of the old model's vectors has to be made again, and why; None if that is not known.

    `median` and `lowest` are cosines between both vectors of a text, over `texts` texts. `related` says whether the
    models are of one family: one dimension, and vectors that point the same way once the mean is taken out. A rotated
    copy is not told from a stranger. None if there is nothing to compare.
    """

    needed: bool | None
    why: str
    texts: int = 0
    dimensions: tuple[int, int] | None = None
    median: float | None = None
    lowest: float | None = None
    related: bool | None = None

    @property
    def says(self) -> str:
        """In a line.

        >>> Reindex(True, "vectors of 384 dimensions before, of 768 now").says
        're-index: yes (vectors of 384 dimensions before, of 768 now)'
        """
        return f"re-index: {'cannot tell' if self.needed is None else 'yes' if self.needed else 'no'} ({self.why})"


def reindex(old: Space, new: Space) -> Reindex:
    """Compare two models on the texts that both encoded in one role."""
    sizes = (old.dimension, new.dimension)
    if sizes[0] != sizes[1]:
        why = f"vectors of {sizes[0]} dimensions before, of {sizes[1]} now"
        return Reindex(True, why, dimensions=sizes, related=False)
    shared = [key for key in old.keys if key in new.keys] if old.role == new.role else []
    if not shared:
        return Reindex(None, "no text has a vector of both models in the same role", dimensions=sizes)
    return same_space(old.of_keys(shared), new.of_keys(shared), similarity=new.similarity)


def same_space(old: Vectors, new: Vectors, *, similarity: str = "cosine") -> Reindex:
    """Compare the vectors of the same texts, both of shape [n, d]; `similarity` is what the new model compares by."""
    cosines = _cosines(old, new)
    median, lowest = float(np.median(cosines)), float(cosines.min())
    figures = (len(cosines), (old.shape[1], new.shape[1]), median, lowest, _is_related(old, new))
    over = f"over {len(cosines)} texts" if len(cosines) != 1 else "over 1 text"
    if lowest < 1 - ROUNDING:
        far = "" if figures[-1] else "; as between unrelated models, or for a rotated copy"
        return Reindex(True, f"vectors differ: median cosine {median:.3f}, lowest {lowest:.3f}, {over}{far}", *figures)
    ratio = _length_ratio(old, new)
    if abs(ratio - 1) <= SAME_LENGTH:
        return Reindex(False, f"the same vectors within rounding: lowest cosine {_floor(lowest)}, {over}", *figures)
    lengths = f"the same directions, but vectors {ratio:.3g} times as long, {over}"
    if similarity == "cosine":
        return Reindex(False, f"{lengths}: right where the index compares by cosine", *figures)
    return Reindex(True, f"{lengths}, and the model compares by {similarity}", *figures)


def _floor(value: float) -> str:
    """A cosine that is not rounded up, except for what fp32 cannot tell."""
    return f"{np.floor((value + 5e-7) * 1e5) / 1e5:.5f}"


def _cosines(old: Vectors, new: Vectors) -> Floats:
    """Row by row; 1 where both are all zeros, 0 where one is."""
    both = ~old.any(axis=1) & ~new.any(axis=1)
    return np.where(both, 1.0, np.nan_to_num(cosine(old, new)))


def _is_related(old: Vectors, new: Vectors) -> bool | None:
    """Whether deviations from the mean point the same way; None of fewer texts than can tell."""
    if len(old) < FEWEST:
        return None
    return bool(np.median(_cosines(old - old.mean(axis=0), new - new.mean(axis=0))) >= RELATED)


def _length_ratio(old: Vectors, new: Vectors) -> float:
    """Of the median text, new over old; 1 where there is no length."""
    before, after = (np.linalg.norm(one.astype(float), axis=1) for one in (old, new))
    there = (before > 0) & (after > 0)
    return float(np.median(after[there] / before[there])) if there.any() else 1.0


@dataclass(frozen=True)
class CutoffMoved:
    """What a cut-off in use accepts of the `pairs` of a data set: shares before and now, as proportions.

    `same` is the new model's cut-off that accepts as many; None if `accepted` pairs are too few to say, or are all.
    """

    data: str
    cutoff: float
    pairs: int
    accepted: int
    before: float
    now: float
    same: float | None

    @property
    def says(self) -> str:
        """In a line.

        >>> CutoffMoved("pairs", 0.8, 1200, 372, 0.31, 0.041, 0.712).says
        'cut-off 0.8 on pairs: accepted 31.0% of 1,200 pairs, accepts 4.1% now; 0.712 accepts as many'
        """
        moved = f"accepted {100 * self.before:.1f}% of {self.pairs:,} pairs, accepts {100 * self.now:.1f}% now"
        return f"cut-off {self.cutoff:g} on {self.data}: {moved}; {self._same}"

    @property
    def _same(self) -> str:
        if self.same is not None:
            return f"{self.same:.3g} accepts as many"
        if self.accepted == self.pairs:
            return "it accepted all of them, so no cut-off follows"
        return f"{self.accepted} accepted pairs are too few for a cut-off that accepts as many ({ACCEPTED} are needed)"


def cutoff_moved(before: Floats, after: Floats, *, cutoff: float, data: str = "") -> CutoffMoved:
    """What becomes of a cut-off; scores of the same pairs under both models, each of shape [n], n > 0.

    `same` lies halfway between the last score that it accepts and the next, rounded as far as that allows.
    """
    accepted = int((before >= cutoff).sum())
    shares = (accepted / len(before), float((after >= cutoff).mean()))
    return CutoffMoved(data, cutoff, len(before), accepted, *shares, _accepting(after, accepted))


def _accepting(scores: Floats, count: int) -> float | None:
    """A cut-off that so many of the scores reach, or as nearly so as ties allow."""
    if not ACCEPTED <= count < len(scores):
        return None
    ordered = np.sort(scores)[::-1]
    return float(ordered[count - 1] + ordered[count]) / 2
