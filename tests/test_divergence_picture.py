"""The divergence picture counts what it draws."""

import numpy as np

from encheck.language.divergence import jsd
from encheck.reporting.divergence import picture

COLUMNS = {
    "source": ["the red car", "one two three", "a b c", "grey geese fly"],
    "near": ["the red bus", "four five six", "a b c", "the moon is up"],
    "label": [1, 0, 1, 0],
}


def corners(steps):
    return [tuple(map(float, point.split(","))) for point in steps.split()]


def test_the_tallest_bin_reaches_the_top_and_both_ends_the_ground():
    points = corners(picture(COLUMNS)["negative"])
    assert min(y for _, y in points) == 8
    assert points[0][1] == points[-1][1] == max(y for _, y in points)


def test_means_and_counts_are_those_of_the_labels():
    found, divergence = picture(COLUMNS), jsd(COLUMNS["source"], COLUMNS["near"])
    assert found["counts"] == {1: 2, 0: 2}
    assert found["means"] == {1: np.mean(divergence[[0, 2]]), 0: np.mean(divergence[[1, 3]])}


def test_one_label_alone_has_no_picture():
    assert picture(COLUMNS | {"label": [1, 1, None, 1]}) is None
