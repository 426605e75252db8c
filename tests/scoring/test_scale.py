"""Calibration: what a pool of random pairs adds to the error."""

import numpy as np
import pytest

from encheck.scoring.scale import Scale


def test_the_error_falls_with_the_root_of_the_pool_and_is_zero_without_one():
    assert Scale(0.2, 1.0, pairs=400, spread=0.1).error_from_random_pairs(-0.5) == pytest.approx(0.5 * 0.1 / 0.8 / 20)
    assert Scale(0.2, 1.0, spread=0.1).error_from_random_pairs(-0.5) == 0


def test_a_scorer_without_a_scale_gives_no_number():
    assert np.isnan(Scale(1.0, 1.0).calibrate(np.array([0.5]))).all()
    assert np.isnan(Scale(1.0, 1.0).calibrate_margins(np.array([0.5]))).all()
