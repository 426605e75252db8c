"""Linear maps from one model's vectors to another's: what would save an index from being made again.

A map is fitted on texts that both models encoded. An orthogonal map turns (Schönemann 1966), ridge regression turns and
stretches, and a map of low rank is ridge regression cut to the directions that it predicts best (reduced-rank
regression: Izenman 1975). The kind of map and what is free in it are chosen inside the fit: on a part of the texts that
is held back, by the squared error. Near-duplicates are held back together.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from encheck.system import files

Floats = NDArray[np.float64]
Vectors = NDArray[np.float32]
Ints = NDArray[np.intp]
Kind = Literal["orthogonal", "ridge", "low-rank"]
How = tuple[Kind, float, int]  # the kind, the penalty, the rank
TEXTS_A_DIMENSION = 3
FEWEST_TEXTS = 60
PENALTIES = (1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0)  # in mean variances of a dimension
RANKS = (8, 16, 32, 64, 96, 128, 192, 256, 384, 512, 768, 1024)
HELD_BACK = 5  # one part in five
FORMAT = 1


@dataclass(frozen=True)
class LinearMap:
    """`x @ matrix + offset`: from vectors of the new model, shape [n, new], to those of the old, shape [n, old].

    With `unit` each vector is divided by its length first, as cosines do not see it. `how` says what was chosen, and
    `texts` how many the map was fitted on.
    """

    kind: Kind
    matrix: Floats
    offset: Floats
    unit: bool
    how: str = ""
    texts: int = 0

    def __call__(self, vectors: Vectors) -> Vectors:
        """The vectors in the old model's space, fp32."""
        moved: Vectors = (directed(vectors, unit=self.unit) @ self.matrix + self.offset).astype(np.float32)
        return moved

    def save(self, path: Path, about: Mapping[str, str]) -> None:
        """Write an .npz that `numpy.load(path, allow_pickle=False)` reads: matrix, offset, unit, and texts on it."""
        arrays: dict[str, Any] = {"matrix": self.matrix.astype(np.float32), "offset": self.offset.astype(np.float32)}
        arrays |= {"unit": np.array(self.unit), "format": np.array(FORMAT)}
        arrays |= {name: np.array(text) for name, text in {"kind": self.kind, "how": self.how, **about}.items()}
        with files.write_whole(path) as file:
            np.savez(file, **arrays)


def fitted(new: Vectors, old: Vectors, groups: Ints, *, unit: bool) -> LinearMap | None:
    """The map with the least squared error on what is held back; None of fewer than `FEWEST_TEXTS` texts.

    `new` [n, d] and `old` [n, e] are of the same distinct texts; `groups` numbers those that are held back together.
    With fewer than three texts a dimension, the map is of low rank, with a direction for every three texts.
    """
    if len(new) < FEWEST_TEXTS:
        return None
    x, y = (directed(one, unit=unit) for one in (new, old))
    kinds: tuple[Kind, ...] = ("low-rank",)
    if len(x) >= TEXTS_A_DIMENSION * x.shape[1]:
        kinds = ("orthogonal", "ridge")
    back = parts_of(groups, HELD_BACK) == 0
    tried = _Equations.of(x[~back], y[~back]).maps(kinds)
    _, chosen = min(
        ((float(((made(x[back]) - y[back]) ** 2).mean()), how) for how, made in tried), key=lambda one: one[0]
    )
    made = next(made for how, made in _Equations.of(x, y).maps((chosen[0],), only=chosen))
    return replace(made, unit=unit, texts=len(x))


def parts_of(groups: Ints, parts: int) -> Ints:
    """The part of each text, 0 to `parts` - 1: whole groups, the largest first, each to the part that has least."""
    sizes = np.bincount(groups)
    filled, part = np.zeros(parts, np.intp), np.zeros(len(sizes), np.intp)
    for group in np.argsort(-sizes, kind="stable"):
        part[group] = int(filled.argmin())
        filled[part[group]] += sizes[group]
    found: Ints = part[groups]
    return found


def directed(vectors: Vectors, *, unit: bool) -> Floats:
    """The vectors in fp64, with `unit` of length 1; zeros stay."""
    wide = vectors.astype(np.float64)
    return wide / np.maximum(np.linalg.norm(wide, axis=1, keepdims=True), 1e-60) if unit else wide


@dataclass(frozen=True)
class _Equations:
    """The normal equations of some texts, from which every map follows."""

    count: int
    mean_x: Floats
    mean_y: Floats
    cross: Floats
    plain: Floats
    values: Floats
    axes: Floats

    @classmethod
    def of(cls, x: Floats, y: Floats) -> _Equations:
        mean_x, mean_y = x.mean(axis=0), y.mean(axis=0)
        centred = x - mean_x
        values, axes = np.linalg.eigh(centred.T @ centred)
        return cls(len(x), mean_x, mean_y, centred.T @ (y - mean_y), x.T @ y, np.maximum(values, 0), axes)

    def maps(self, kinds: tuple[Kind, ...], *, only: How | None = None) -> Iterator[tuple[How, LinearMap]]:
        """(what is chosen, the map) of these kinds; with `only`, that one alone."""
        from scipy.linalg import svd

        if "orthogonal" in kinds:
            left, _, right = svd(self.plain, full_matrices=False, lapack_driver="gesvd")
            yield ("orthogonal", 0.0, 0), LinearMap("orthogonal", left @ right, np.zeros(len(self.mean_y)), unit=False)
        if not {"ridge", "low-rank"} & {*kinds}:
            return
        for penalty in PENALTIES if only is None else [only[1]]:
            weight = penalty * max(float(self.values.mean()), 1e-30)
            matrix: Floats = self.axes @ ((self.axes.T @ self.cross) / (self.values + weight)[:, None])
            said = f"penalty {penalty:g} mean variances"
            if "ridge" in kinds:
                yield ("ridge", penalty, 0), self._centred("ridge", matrix, said)
            if "low-rank" not in kinds:
                continue
            predicted = np.sqrt(self.values)[:, None] * (self.axes.T @ matrix)
            directions = np.linalg.eigh(predicted.T @ predicted)[1][:, ::-1]
            most = max(1, min(self.count // TEXTS_A_DIMENSION, min(matrix.shape) - 1))
            for rank in [*(rank for rank in RANKS if rank < most), most] if only is None else [only[2]]:
                kept = directions[:, :rank]
                yield (
                    ("low-rank", penalty, rank),
                    self._centred("low-rank", matrix @ kept @ kept.T, f"rank {rank}, {said}"),
                )

    def _centred(self, kind: Kind, matrix: Floats, how: str) -> LinearMap:
        return LinearMap(kind, matrix, self.mean_y - self.mean_x @ matrix, unit=False, how=how)
