"""How often a gate errs on a search with labels: part of lab/benchmarks/search.py, with the gate's own function.

A bound is as far from what docs/method/gate.md promises as chance takes it in one of a million cases, were the promise
just held.
"""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom

from encheck.gating.decision import decide_by_rows

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "lab" / "benchmarks"))
from search import Setting, changes, outcomes, paired, rates

RUNS, FALSE_ALARM = 300, 1e-6
FEW = Setting()


def at_least(share):
    return binom.ppf(FALSE_ALARM, RUNS, share) / RUNS


def at_most(share):
    return binom.ppf(1 - FALSE_ALARM, RUNS, share) / RUNS


@pytest.mark.parametrize(("icc", "promised"), [(0.1, 0.99), (0.3, 0.90)])
def test_a_loss_of_25_points_on_25_documents_with_6_questions_each_is_blocked(icc, promised):
    found = rates(replace(FEW, loss=0.25, discordance=0.3, icc=icc), runs=RUNS)
    assert found["block"] >= at_least(promised)
    assert found["pass"] == 0


def test_a_loss_of_10_points_at_400_queries_is_blocked():
    found = rates(Setting(clusters=67, loss=0.10, discordance=0.2, icc=0.1), runs=RUNS)
    assert found["block"] >= at_least(0.8)


def test_a_rounded_model_passes_and_a_loss_too_small_to_matter_is_hardly_ever_blocked():
    assert rates(Setting(clusters=100, discordance=0.005), runs=RUNS)["pass"] >= at_least(0.9)
    for graded in (False, True):
        small = replace(FEW, loss=0.01, discordance=0.2, graded=graded, uneven=True)
        assert rates(small, runs=RUNS)["block"] <= at_most(0.03)


def test_weighing_many_searches_at_once_says_of_each_what_a_gate_of_its_own_does():
    drawn, clusters = changes(replace(FEW, loss=0.08, discordance=0.1), np.random.default_rng(0), 25)
    many = [paired(str(i), one, clusters, graded=i % 2 == 0) for i, one in enumerate(drawn)]
    assert outcomes(many) == [decide_by_rows([one]).outcome for one in many]
