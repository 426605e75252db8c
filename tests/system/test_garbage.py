"""Python collects its garbage as before once data and items are made."""

import gc

import pytest

from encheck.system.memory import OBJECTS, rare_collection, without_collection


@pytest.mark.quick
def test_the_collector_works_as_before_after_what_is_seldom_collected():
    before = gc.get_threshold()
    with rare_collection():
        assert gc.get_threshold() == (OBJECTS, *before[1:])
        assert gc.isenabled()
    assert gc.get_threshold() == before


@pytest.mark.quick
def test_the_collector_runs_again_after_what_is_not_collected():
    with without_collection():
        assert not gc.isenabled()
    assert gc.isenabled()
