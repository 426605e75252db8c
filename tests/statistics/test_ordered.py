"""Numbers some at a time, against numpy on all of them."""

import numpy as np
import pytest

from encheck.statistics import clusters
from encheck.statistics.clusters import search_sorted, slice_in_chunks, sorted_distinct


@pytest.fixture(autouse=True)
def few_at_once(monkeypatch):
    monkeypatch.setattr(clusters, "ITEMS_AT_ONCE", 7)


@pytest.mark.parametrize("count", [0, 1, 7, 8, 50])
def test_parts_cover_everything_once(count):
    assert [i for part in slice_in_chunks(count) for i in range(count)[part]] == list(range(count))


@pytest.mark.parametrize("side", ["left", "right"])
def test_places_are_those_of_numpy(side):
    rng = np.random.default_rng(0)
    there, values = np.sort(rng.integers(0, 30, 40)), rng.integers(-2, 33, 60)
    assert search_sorted(there, values, side).tolist() == np.searchsorted(there, values, side).tolist()


def test_distinct_numbers_of_several_arrays_are_those_of_numpy():
    one, other = np.random.default_rng(1).integers(0, 2**63, (2, 30)).astype(np.uint64)
    assert sorted_distinct(one, other, one).tolist() == np.unique([one, other]).tolist()
    assert sorted_distinct(one[:0]).tolist() == []
