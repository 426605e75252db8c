"""How often the gate errs, on simulated checkpoints: part of lab/benchmarks/gate.py, with the gate's own function.

A bound is as far from what docs/method/gate.md promises as chance takes it in one of a million cases, were the promise
just held: with another seed, or another numpy, these tests fail less often than that.
"""

import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom

from encheck.gating.decision import decide_by_rows
from encheck.gating.types import DEFAULT, Noise

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "lab" / "benchmarks"))
from gate import NAMES, Setting, draw
from seed_noise import decided, drawn

RUNS, FALSE_ALARM = 60, 1e-6


def outcomes(setting, *, told=0.0):
    rng = np.random.default_rng(7)
    noise = Noise(told / DEFAULT.rate_delta, {name: told / DEFAULT.rate_delta for name, _ in NAMES})
    return Counter(decide_by_rows(draw(setting, rng), seed_noise=noise).outcome for _ in range(RUNS))


def at_least(share):
    return binom.ppf(FALSE_ALARM, RUNS, share)


def at_most(share):
    return binom.ppf(1 - FALSE_ALARM, RUNS, share)


@pytest.fixture(scope="module")
def unchanged():
    return outcomes(Setting())


def test_an_unchanged_model_passes_in_nine_of_ten_cases_and_is_hardly_ever_blocked(unchanged):
    assert unchanged["pass"] >= at_least(0.9)
    assert unchanged["block"] <= at_most(0.01)


def test_a_loss_of_four_points_in_one_capability_is_blocked_in_nine_of_ten_and_passed_in_one_of_a_hundred():
    found = outcomes(Setting(loss=0.04))
    assert found["block"] >= at_least(0.9)
    assert found["pass"] <= at_most(0.01)


def test_replicates_are_blocked_in_one_of_twenty_where_their_luck_is_told_and_in_many_more_where_it_is_not():
    luck = Setting(n=2_000, clusters=2_000, discordance=0.02, noise=0.01)
    assert outcomes(luck, told=0.01)["block"] <= at_most(0.05)
    assert outcomes(luck)["block"] > 2 * at_most(0.05)  # so many runs do tell the two apart


def test_a_loss_too_small_to_matter_is_blocked_in_one_of_twenty_though_items_of_a_cluster_move_together():
    found = outcomes(Setting(clusters=30, loss=DEFAULT.block * DEFAULT.rate_delta, all_lose=True, correlation=0))
    assert found["block"] <= at_most(0.05)


FEW = 40
LOUD = 0.0083  # about the noise that the widest delta covers


def seen_with_replicates():
    """Outcomes of three candidates, by a noise that three simulated replicates show."""
    rng, found = np.random.default_rng(11), Counter()
    for _ in range(FEW):
        one = drawn(Setting(noise=LOUD), rng)
        noise = one.noise()
        found.update((name, decided(one, name, noise=noise).outcome) for name in one.candidates)
    return found


def test_at_the_noise_that_is_covered_four_points_hardly_pass_and_replicates_are_hardly_blocked():
    found = seen_with_replicates()
    assert found["-4 in one", "pass"] <= binom.ppf(1 - FALSE_ALARM, FEW, 0.01)
    assert found["-4 in all", "pass"] == 0
    assert found["replicate", "block"] <= binom.ppf(1 - FALSE_ALARM, FEW, 0.05)
    assert found["replicate", "pass"] > 0
