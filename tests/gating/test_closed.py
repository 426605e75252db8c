"""A row and its parts as a closed family: what blocks, at which level, and what it costs."""

import numpy as np
from scipy.stats import binom

from encheck.gating.decision import decide_by_rows
from encheck.gating.types import PairedRow, Rule

RUNS = 120
MOST = binom.ppf(1 - 1e-6, RUNS, 0.05)  # blocked of these, were the level just held


def row(name, lost, *, part_of="", n=1_000, first=0):
    """A row of which `lost` items are lost, from the item `first` on."""
    baseline = np.zeros(n)
    baseline[: int(0.8 * n)] = 1
    candidate = baseline.copy()
    candidate[first : first + lost] = 0
    return PairedRow(name, "order", "rate", baseline, candidate, np.arange(n), chance=0.5, part_of=part_of)


def family(whole, *parts, n=250):
    return [row("a", whole), *(row(f"p{i}", lost, part_of="a", n=n) for i, lost in enumerate(parts))]


def outcomes(found):
    return {one.name: one.outcome for one in found.rows}


def test_a_part_that_lost_much_blocks_though_the_row_did_not():
    found = decide_by_rows(family(12, 20, 0, 0, 0))
    assert (found.outcome, outcomes(found)["a"], outcomes(found)["p0"]) == ("block", "pass", "block")
    assert found.reasons == ("p0: -8.0 points [-12.1, -5.2]: a loss of more than 1 point is certain",)
    assert decide_by_rows(family(12)).outcome == "pass"


def test_a_part_that_keeps_is_no_evidence_and_keeps_no_gate_open():
    found = decide_by_rows(family(0, 5, 0, 0, 0))
    assert found.outcome == "pass"
    assert [(one.gates, one.evidence) for one in found.rows] == [(True, True), *[(False, False)] * 4]
    assert [family.rows for family in found.families] == [1]


def test_a_part_is_tested_at_its_share_of_the_rows_level():
    whole, one, two = decide_by_rows(family(0, 12, 0)).rows
    assert one.adjusted == np.float64(min(one.p / (Rule().parts / 2), 1))
    assert whole.adjusted == min(whole.p / (1 - Rule().parts), 1) or whole.adjusted == 1
    assert (one.part_of, two.why) == ("a", "a part of a")


def test_rows_count_and_their_parts_do_not():
    """Holm's correction is over rows: one more costs the others, one more part costs its own row alone."""
    alone = decide_by_rows([row("a", 25), row("b", 0)]).rows[0].adjusted
    beside = (
        decide_by_rows([row("a", 25), row("b", 0), row("p", 0, part_of="b"), row("q", 0, part_of="b")]).rows[0].adjusted
    )
    more = decide_by_rows([row("a", 25), row("b", 0), row("c", 0)]).rows[0].adjusted
    assert alone == beside < more


def test_a_part_with_too_few_items_is_not_tested():
    found = decide_by_rows(family(20, 20, n=149))
    assert (outcomes(found)["p0"], found.rows[1].adjusted) == ("inconclusive", 1)
    assert found.rows[0].adjusted == decide_by_rows(family(20)).rows[0].adjusted


def test_parts_of_a_row_that_is_too_small_decide_nothing():
    parts = [row("a", 20, n=149), row("p", 60, part_of="a", n=200)]
    assert "block" not in outcomes(decide_by_rows(parts)).values()


def test_a_certain_loss_leaves_parts_that_lost_nothing_alone():
    found = outcomes(
        decide_by_rows([row("a", 400), row("p", 200, part_of="a", n=250), row("q", 0, part_of="a", n=250)])
    )
    assert found == {"a": "block", "p": "block", "q": "inconclusive"}


def test_losses_too_small_to_matter_are_blocked_in_one_of_twenty_families():
    """At the edge of what may be lost, of the row and of each part, though the parts are most of the row."""
    rng, blocked = np.random.default_rng(3), 0
    for _ in range(RUNS):
        change = -(rng.random(1_000) < 0.02).astype(float) + (rng.random(1_000) < 0.01)
        some = [PairedRow("a", "order", "rate", np.ones(1_000), 1 + change, np.arange(1_000))]
        some += [
            PairedRow(f"p{i}", "order", "rate", np.ones(250), 1 + change[i::4], np.arange(250), part_of="a")
            for i in range(4)
        ]
        blocked += decide_by_rows(some).outcome == "block"
    assert blocked <= MOST


def crossed(rng, *, lost, groups=300):
    """Crossed groups whose two directions lose so much, each with clusters of two groups that move together."""
    clusters, side = np.repeat(np.arange(groups) // 2, 2), np.tile([1, 2], groups)
    own, shared = rng.random(2 * groups), rng.random(groups)[clusters]
    u = np.where(rng.random(2 * groups) < 0.3, shared, own)
    loss = np.array([0, *lost])[side]
    change = (u > 0.97).astype(float) - (u < 0.03 + loss)
    before = np.where(change < 0, 1.0, np.where(change > 0, 0.0, rng.random(2 * groups) < 0.7))

    def made(name, at, **more):
        return PairedRow(name, "order", "rate", before[at], (before + change)[at], clusters[at], chance=0.5, **more)

    whole = made("a", np.arange(2 * groups), strata=side)
    return [whole, *(made(f"d{s}", np.flatnonzero(side == s), part_of="a") for s in (1, 2))]


def test_directions_and_mean_are_blocked_in_one_of_twenty_where_each_lost_no_more_than_it_may():
    rng = np.random.default_rng(9)
    blocked = sum(decide_by_rows(crossed(rng, lost=(0.01, 0.01))).outcome == "block" for _ in range(RUNS))
    assert blocked <= MOST


def test_what_one_direction_lost_and_the_other_won_is_found():
    rng = np.random.default_rng(10)
    found = [decide_by_rows(crossed(rng, lost=(-0.03, 0.15))) for _ in range(10)]
    assert all(outcomes(one)["d2"] == "block" and outcomes(one)["d1"] != "block" for one in found)
