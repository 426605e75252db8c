"""The adjusted rate: meaning is seen through it, the surface is not, and it says what it lacks."""

import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom

from encheck.metrics import adjusted_rate, margin_rate
from encheck.metrics.adjusted import MIN_SIDE
from encheck.scoring.scores import MarginScores, Scale
from encheck.scoring.triplets import Triplet
from encheck.statistics.bootstrap import Resampler
from encheck.types import FloorAndAim
from encheck.verdict import decide_verdict

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "lab" / "benchmarks"))
from surface import SCORERS, Setting, detected, drawn, drawn_groups, is_called_meaningful, resampler, runs

SOURCE = "yesterday the old nurse called a surgeon"
CLOSE, CHANGED = "yesterday the old nurse called one surgeon", "a surgeon called the old nurse yesterday"


def triplets(*, kept=0, changed=0):
    """Triplets in which the near text keeps more of the order, then such in which the far one does."""
    sides = [(CLOSE, CHANGED)] * kept + [(CHANGED, CLOSE)] * changed
    return [Triplet(f"d/{i}", SOURCE, *side, cluster=str(i)) for i, side in enumerate(sides)]


def scores(items, wins):
    near = np.array(wins, float)
    return MarginScores(
        near, np.full(len(near), 0.5), Resampler([i.cluster for i in items]), Scale(0), items=tuple(items)
    )


def test_a_scorer_of_the_surface_gets_one_half_whatever_its_share_of_wins():
    found = scores(triplets(kept=180, changed=40), [1] * 180 + [0] * 40)
    assert margin_rate(found).value > 0.8
    assert adjusted_rate(found).value == pytest.approx(0.5, abs=0.01)
    assert not is_called_meaningful(adjusted_rate(found))


def test_a_scorer_of_the_meaning_is_seen_against_the_surface():
    right = np.random.default_rng(0).random(240) < 0.9
    found = adjusted_rate(scores(triplets(kept=40, changed=200), right))
    assert found.low > 0.8
    assert found.value == pytest.approx((right[:40].mean() + right[40:].mean()) / 2, abs=0.005)
    assert is_called_meaningful(found)


def test_the_strata_stand_beside_with_their_weights():
    params = adjusted_rate(scores(triplets(kept=30, changed=90), [1] * 30 + [0, 0.5, 1] * 30)).params
    assert (params["kept_rate"], params["changed_rate"]) == (1, 0.5)
    assert (params["kept_n"], params["changed_n"], params["kept_clusters"]) == (30, 90, 30)
    assert params["kept_weight"] == pytest.approx(0.5, abs=0.01)
    assert "tie_rate" not in params


def test_the_clusters_are_those_that_the_weights_leave():
    found = adjusted_rate(scores(triplets(kept=30, changed=300), [1] * 330))
    assert (found.n, found.clusters) == (330, pytest.approx(4 / (1 / 30 + 1 / 300), abs=3))
    assert found.high == 1 > found.low > 0.9


@pytest.mark.parametrize(("kept", "changed"), [(0, 200), (MIN_SIDE - 1, 100), (100, MIN_SIDE - 1)])
def test_too_few_clusters_on_one_side_are_inconclusive_and_say_so(kept, changed):
    found = adjusted_rate(scores(triplets(kept=kept, changed=changed), [1] * (kept + changed)))
    verdict, reason = decide_verdict(found, FloorAndAim(aim=0.5))
    assert (verdict, np.isnan(found.value)) == ("inconclusive", True)
    assert f"favours the kept text in {kept} clusters and the changed text in {changed}, but should" in reason
    assert found.params["changed_rate"] == 1


def test_a_difference_that_no_weights_balance_is_inconclusive():
    """The smallest on the one side are larger than the largest on the other: sizes do not meet."""
    little, much = "yesterday the old nurse called surgeon a", "surgeon a called nurse old the yesterday"
    items = [Triplet(f"d/{i}", SOURCE, SOURCE, little, cluster=str(i)) for i in range(40)]
    items += [Triplet(f"d/{i}", SOURCE, much, SOURCE, cluster=str(i)) for i in range(40, 80)]
    verdict, reason = decide_verdict(adjusted_rate(scores(items, [1] * 80)), FloorAndAim(aim=0.5))
    assert verdict == "inconclusive"
    assert "no weights balance" in reason


SIMULATED = [Setting(), Setting(2, 6, 0.8), Setting(2, 6, 0.5, 0.5), Setting(6, 2, 0.2, 0.5), Setting(2, 2, 0.8, 2.0)]
TIMES = 3


def test_surface_scorers_are_called_meaningful_in_at_most_one_in_twenty_simulations():
    """Each with and without noise, with equal and unequal magnitudes: lab/benchmarks/surface.py has all settings."""
    called = [
        is_called_meaningful(estimate)
        for scorer in SCORERS
        for setting in SIMULATED
        for estimate in runs(adjusted_rate, scorer, setting, times=TIMES, items=200)
    ]
    assert sum(called) <= binom.ppf(1 - 1e-4, len(called), 0.05)


def test_surface_scorers_are_called_meaningful_in_at_most_one_in_twenty_simulations_of_crossed_groups():
    called = [
        is_called_meaningful(estimate)
        for scorer in SCORERS
        for setting in (Setting(), Setting(6, 2, noise=0.5), Setting(2, 6, noise=2.0))
        for estimate in runs(detected, scorer, setting, times=TIMES, items=100, of=drawn_groups)
    ]
    assert sum(called) <= binom.ppf(1 - 1e-4, len(called), 0.05)


def test_a_scorer_that_knows_the_meaning_is_called_meaningful_in_the_same_simulations():
    """So the figure that holds its error rate is not blind."""
    rng = np.random.default_rng(0)
    for setting in SIMULATED:
        found = drawn("edit-distance", setting, rng, items=200)
        knows = MarginScores(
            found.near + 0.2 + (rng.random(200) < 0.6), found.far, resampler(200), Scale(0), items=found.items
        )
        estimate = adjusted_rate(knows)
        assert estimate.missing or is_called_meaningful(estimate)


def test_clusters_of_equal_weight_are_all_counted():
    assert adjusted_rate(scores(triplets(kept=40, changed=40), [1, 0] * 40)).clusters == 80
