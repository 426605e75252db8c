"""Half precision: what stays close, and how close."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis.extra import numpy as npst

from encheck.store import CLOSE, ROWS_AT_ONCE, round_to_half_precision, to_half_precision


@given(npst.arrays(np.float32, npst.array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=8)))
def test_a_vector_moves_by_one_part_in_2048_of_its_length_or_not_at_all(vectors):
    rounded = round_to_half_precision(vectors)
    same = [a.tobytes() == b.tobytes() for a, b in zip(rounded, vectors, strict=True)]
    with np.errstate(over="ignore", invalid="ignore"):
        moved = np.linalg.norm(rounded.astype(np.float64) - vectors, axis=1)
        close = moved <= CLOSE * np.linalg.norm(vectors.astype(np.float64), axis=1) * (1 + 1e-9)
    assert (close | same).all()


@pytest.mark.parametrize("scale", [1e-4, 1, 1_000])
def test_ordinary_vectors_of_any_length_stay_close(scale):
    vectors = (scale * np.random.default_rng(0).standard_normal((ROWS_AT_ONCE + 5, 96))).astype(np.float32)
    rounded, close = to_half_precision(vectors)
    assert close.all()
    assert (round_to_half_precision(vectors) == rounded).all()


def test_no_vectors_are_no_vectors():
    assert to_half_precision(np.zeros((0, 3), np.float32))[1].shape == (0,)
    assert round_to_half_precision(np.zeros((0, 3), np.float32)).shape == (0, 3)
