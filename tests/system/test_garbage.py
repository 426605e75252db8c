"""Python collects its garbage as before once data and items are made."""

import gc

import pytest

from encheck.system.memory import OBJECTS, seldom_collected, uncollected


@pytest.mark.quick
def test_the_collector_works_as_before_after_what_is_seldom_collected():
    before = gc.get_threshold()
    with seldom_collected():
        assert gc.get_threshold() == (OBJECTS, *before[1:])
        assert gc.isenabled()
    assert gc.get_threshold() == before


@pytest.mark.quick
def test_the_collector_runs_again_after_what_is_not_collected():
    with uncollected():
        assert not gc.isenabled()
    assert gc.isenabled()
