"""Linear maps from one model's vectors to another's: what would save an index from being made again.

A map is fitted on texts that both models encoded. An orthogonal map turns (Schönemann 1966), ridge regression turns and
stretches, and a map of low rank is ridge regression cut to the directions that it predicts best (reduced-rank
regression: Izenman 1975). What is free in a map is chosen inside the fit: on a part of the texts that is held back, by
the squared error. Near-duplicates are held back together.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from encheck.system import files

Floats = NDArray[np.float64]
Vectors = NDArray[np.float32]
Codes = NDArray[np.intp]
Kind = Literal["orthogonal", "ridge", "low-rank"]
KINDS: tuple[Kind, ...] = ("orthogonal", "ridge", "low-rank")
TEXTS_A_DIMENSION = 3
FEWEST_TEXTS = 60
PENALTIES = (1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0)  # in mean variances of a dimension
RANKS = (8, 16, 32, 64, 96, 128, 192, 256, 384, 512, 768, 1024)
HELD_BACK = 5  # one part in five
FORMAT = 1


@dataclass(frozen=True)
class Adapter:
    """`x @ matrix + offset`: from vectors of the new model, shape [n, new], to those of the old, shape [n, old].

    With `unit` each vector is divided by its length first, as cosines do not see it. `how` says what was chosen.
    """

    kind: Kind
    matrix: Floats
    offset: Floats
    unit: bool
    how: str = ""

    def __call__(self, vectors: Vectors) -> Vectors:
        """The vectors in the old model's space, fp32."""
        moved: Vectors = (directed(vectors, unit=self.unit) @ self.matrix + self.offset).astype(np.float32)
        return moved

    def save(self, path: Path, about: Mapping[str, str]) -> None:
        """Write an .npz that `numpy.load(path, allow_pickle=False)` reads: matrix, offset, unit, and texts on it."""
        arrays: dict[str, Any] = {"matrix": self.matrix.astype(np.float32), "offset": self.offset.astype(np.float32)}
        arrays |= {"unit": np.array(self.unit), "format": np.array(FORMAT)}
        arrays |= {name: np.array(text) for name, text in {"kind": self.kind, "how": self.how, **about}.items()}
        with files.whole(path) as file:
            np.savez(file, **arrays)


def directed(vectors: Vectors, *, unit: bool) -> Floats:
    """The vectors in fp64, with `unit` of length 1; zeros stay."""
    wide = vectors.astype(np.float64)
    return wide / np.maximum(np.linalg.norm(wide, axis=1, keepdims=True), 1e-60) if unit else wide


def allowed(texts: int, dimension: int) -> tuple[Kind, ...]:
    """The maps that so many distinct texts can fit: all from three a dimension on, below that one of low rank.

    >>> allowed(1152, 384), allowed(1151, 384), allowed(59, 384)
    (('orthogonal', 'ridge', 'low-rank'), ('low-rank',), ())
    """
    if texts < FEWEST_TEXTS:
        return ()
    return KINDS if texts >= TEXTS_A_DIMENSION * dimension else ("low-rank",)


def fits(new: Vectors, old: Vectors, groups: Codes, *, unit: bool) -> dict[Kind, tuple[Adapter, float]]:
    """Each map that the texts allow, with its squared error on what was held back, the best one first.

    `new` [n, d] and `old` [n, e] are of the same distinct texts; `groups` numbers those that are held back together.
    Empty if there are too few texts.
    """
    x, y = (directed(one, unit=unit) for one in (new, old))
    back = held_back(groups, HELD_BACK) == 0
    inner, whole = _Normal.of(x[~back], y[~back]), _Normal.of(x, y)
    found: dict[Kind, tuple[Adapter, float]] = {}
    for kind in allowed(len(x), x.shape[1]):
        errors = [(float(((made(x[back]) - y[back]) ** 2).mean()), how) for how, made in inner.candidates(kind)]
        error, chosen = min(errors, key=lambda one: one[0])
        made = next(made for how, made in whole.candidates(kind, only=chosen))
        found[kind] = (replace(made, unit=unit), error)
    return dict(sorted(found.items(), key=lambda one: one[1][1]))


def held_back(groups: Codes, parts: int) -> Codes:
    """The part of each text, 0 to `parts` - 1: whole groups, the largest first, each to the part that has least."""
    sizes = np.bincount(groups)
    filled, part = np.zeros(parts, np.intp), np.zeros(len(sizes), np.intp)
    for group in np.argsort(-sizes, kind="stable"):
        part[group] = int(filled.argmin())
        filled[part[group]] += sizes[group]
    found: Codes = part[groups]
    return found


How = tuple[float, int]


@dataclass(frozen=True)
class _Normal:
    """The normal equations of some texts, from which every map follows."""

    count: int
    mean_x: Floats
    mean_y: Floats
    cross: Floats
    plain: Floats
    values: Floats
    axes: Floats

    @classmethod
    def of(cls, x: Floats, y: Floats) -> _Normal:
        mean_x, mean_y = x.mean(axis=0), y.mean(axis=0)
        centred = x - mean_x
        values, axes = np.linalg.eigh(centred.T @ centred)
        return cls(len(x), mean_x, mean_y, centred.T @ (y - mean_y), x.T @ y, np.maximum(values, 0), axes)

    def candidates(self, kind: Kind, *, only: How | None = None) -> Iterator[tuple[How, Adapter]]:
        """(what is chosen, the map); with `only` that one alone."""
        from scipy.linalg import svd

        if kind == "orthogonal":
            left, _, right = svd(self.plain, full_matrices=False, lapack_driver="gesvd")
            yield (0.0, 0), Adapter(kind, left @ right, np.zeros(len(self.mean_y)), unit=False)
            return
        for penalty in PENALTIES if only is None else [only[0]]:
            matrix = self._ridge(penalty)
            if kind == "ridge":
                yield (penalty, 0), self._mapped(kind, matrix, f"penalty {penalty:g} mean variances")
                continue
            predicted = np.sqrt(self.values)[:, None] * (self.axes.T @ matrix)
            directions = np.linalg.eigh(predicted.T @ predicted)[1][:, ::-1]
            for rank in self._ranks(matrix) if only is None else [only[1]]:
                kept = directions[:, :rank]
                how = f"rank {rank}, penalty {penalty:g} mean variances"
                yield (penalty, rank), self._mapped(kind, matrix @ kept @ kept.T, how)

    def _ridge(self, penalty: float) -> Floats:
        weight = penalty * max(float(self.values.mean()), 1e-30)
        found: Floats = self.axes @ ((self.axes.T @ self.cross) / (self.values + weight)[:, None])
        return found

    def _mapped(self, kind: Kind, matrix: Floats, how: str) -> Adapter:
        return Adapter(kind, matrix, self.mean_y - self.mean_x @ matrix, unit=False, how=how)

    def _ranks(self, matrix: Floats) -> Sequence[int]:
        """Ranks that three texts a direction allow, and that are below full."""
        most = min(self.count // TEXTS_A_DIMENSION, min(matrix.shape) - 1)
        return [rank for rank in RANKS if rank < most] + [max(most, 1)]
