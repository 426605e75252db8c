"""Simulated candidates in the shape of a baseline: they flip, lose and go together as they are told to."""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from encheck.gating.types import PairedRow

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "lab" / "benchmarks"))
from shape import Change, Shape, candidate, losing, outcomes, unchanged

N, EACH = 1_200, 4


@pytest.fixture(scope="module")
def shape():
    """Two rows of rates on the same clusters, one with a part that is near its ceiling, and a row of means."""
    clusters = np.arange(N) // EACH
    wins = (np.arange(N) % 10 < 7).astype(float)
    easy = np.where(np.arange(N) < 300, (np.arange(N) % 100 < 99).astype(float), wins)
    values = np.random.default_rng(0).normal(0.5, 0.1, N)
    rows = [
        PairedRow("a", "order", "rate", easy, easy, clusters, chance=0.5),
        PairedRow("b", "retrieval", "rate", wins, wins, clusters, chance=0.5),
        PairedRow("m", "health", "mean", values, values, clusters, delta=0.05),
    ]
    part = PairedRow("p", "order", "rate", easy[:300], easy[:300], clusters[:300], chance=0.5, part_of="a")
    units = {"a": (np.arange(N) >= 300).astype(np.intp), "b": np.zeros(N, np.intp), "m": np.zeros(N, np.intp)}
    flips = (np.arange(N) % 20 == 7) * 1.0
    changes = {"a": flips, "b": flips, "m": np.random.default_rng(1).normal(0.1, 0.01, N)}
    within = {"a": 0.3, "b": 0.0, "m": 0.0}
    return Shape([*rows, part], {"p": np.arange(300)}, units, within, 0.0, [changes], [0.05], N // EACH)


def drawn(shape, change, times=200):
    rng = np.random.default_rng(2)
    return [{p.name: p for p in candidate(shape, change, rng)} for _ in range(times)]


def change_of(some, name, start=0):
    return np.mean([(one[name].candidate - one[name].baseline)[start:].mean() for one in some])


def test_an_unchanged_candidate_flips_as_many_as_it_is_told_and_loses_nothing(shape):
    some = drawn(shape, Change(0.05))
    for name in "ab":
        flipped = np.mean([np.mean(one[name].candidate != one[name].baseline) for one in some])
        assert flipped == pytest.approx(0.05, abs=0.004)
        assert change_of(some, name) == pytest.approx(0, abs=0.003)
    assert change_of(some, "p") == pytest.approx(0, abs=0.004)  # near its ceiling, as many won as lost
    assert change_of(some, "m") == pytest.approx(0, abs=0.001)


def test_a_loss_is_of_the_row_or_the_part_that_it_is_said_of(shape):
    some = drawn(shape, Change(0.05, {"b": 0.04, "p": 0.08}))
    assert change_of(some, "b") == pytest.approx(-0.04, abs=0.003)
    assert change_of(some, "p") == pytest.approx(-0.08, abs=0.006)
    assert change_of(some, "a", 300) == pytest.approx(0, abs=0.005)
    assert change_of(some, "m") == pytest.approx(0, abs=0.001)
    lost = change_of(drawn(shape, Change(0.05, {"m": 0.04})), "m")
    assert lost == pytest.approx(-0.1, abs=0.002)  # as many deltas as of a rate


def test_changes_of_a_cluster_go_together_as_much_as_the_copies_do(shape):
    some = drawn(shape, Change(0.10))
    for name, wanted in (("a", 0.3), ("b", 0.0)):
        moved = np.array([(one[name].candidate - one[name].baseline)[300:] for one in some])
        both = moved.reshape(len(some), -1, EACH)
        together = ((both.sum(axis=2) ** 2).sum() - (both**2).sum()) / (EACH * (EACH - 1) * both[:, :, 0].size)
        assert together / moved.var() == pytest.approx(wanted, abs=0.05)


def test_a_part_has_the_items_of_its_row(shape):
    (one,) = drawn(shape, Change(0.05), times=1)
    assert one["p"].candidate.tolist() == one["a"].candidate[:300].tolist()


def test_the_tables_say_what_the_gate_decides(shape):
    seen = outcomes(shape, Change(0.02, {"b": 0.2}), runs=3)
    assert seen["block"] == 3
    assert next(line for line in unchanged(shape, 2) if line.startswith("| 1%")).startswith("| 1% | 100.0%")
    alone = replace(shape, paired=[p for p in shape.paired if p.name == "b"])
    assert list(losing(alone, 2))[-1].startswith("| b | 1,200 | 100 / 0.0 |")
