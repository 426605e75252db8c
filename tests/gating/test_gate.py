"""The gate's decision: what blocks, what passes, what stays open, and why."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from encheck.gating.decision import decide_by_rows
from encheck.gating.types import Noise, PairedRow, Rule
from encheck.reporting.gate.rows import row_cells


def rate(name, *, n=1_000, lost=0, gained=0, rate=0.5, clusters=None, family="order", **more):
    baseline = (np.arange(n) % 100 < 100 * rate).astype(float)
    candidate = baseline.copy()
    candidate[np.flatnonzero(baseline == 1)[:lost]] = 0
    candidate[np.flatnonzero(baseline == 0)[:gained]] = 1
    return PairedRow(name, family, "rate", baseline, candidate, np.arange(n) % (clusters or n), **more)


def mean(name, change, *, n=400, spread=0.05, **more):
    values = np.random.default_rng(0).normal(0, spread, n)
    moved = values - values.mean() + change
    return PairedRow(name, "health", "mean", np.zeros(n), moved, np.arange(n), **more)


def test_an_unchanged_model_passes():
    decision = decide_by_rows([rate("a", lost=20, gained=20), rate("b", lost=25, gained=25)])
    assert (decision.outcome, decision.exit_code, decision.reasons) == ("pass", 0, ())


def test_a_large_loss_blocks_and_the_row_says_so():
    decision = decide_by_rows([rate("a", lost=60), rate("b")])
    assert (decision.outcome, decision.exit_code) == ("block", 1)
    assert decision.reasons == ("a: -6.0 points [-7.6, -4.7]: a loss of more than 1 point is certain",)
    assert [row.outcome for row in decision.rows] == ["block", "pass"]


@pytest.mark.parametrize(
    ("endpoint", "moved"),
    [("", "-0.030 [-0.035, -0.025]"), ("spearman", "0.000 to -0.030 (-0.030 [-0.035, -0.025])")],
)
def test_a_mean_that_blocks_says_what_is_certain_and_of_an_endpoint_both_figures(endpoint, moved):
    told = f"m: {moved}: a loss of more than 0.007 is certain"
    assert decide_by_rows([mean("m", -0.03, endpoint=endpoint)]).reasons == (told,)


def test_what_is_certain_is_more_where_luck_is():
    lost = decide_by_rows([rate("a", lost=300)], seed_noise=Noise(0.75, {"a": 0.75})).reasons[0]
    assert lost.startswith("a: -30.0 points [")
    assert lost.endswith("a loss of more than 1.25 points is certain")


def test_a_small_loss_stays_open_and_says_what_moved():
    decision = decide_by_rows([rate("a", lost=42, gained=20)])
    assert (decision.outcome, decision.exit_code) == ("inconclusive", 10)
    assert decision.reasons[0] == (
        "a: -2.2 points [-3.8, -0.7]: the estimated loss is 2 points or more, but a loss over 1 point is not certain"
    )
    assert "items would decide" not in "".join(decision.reasons)
    assert decision.rows[0].needed > 1_000


def test_that_many_items_do_decide():
    open_row = decide_by_rows([rate("a", lost=42, gained=20)]).rows[0]
    factor = -(-open_row.needed // 1_000)
    assert decide_by_rows([rate("a", n=1_000 * factor, lost=42 * factor, gained=20 * factor)]).outcome == "block"


def test_a_broken_contract_blocks_whatever_the_rest_says():
    decision = decide_by_rows([rate("a")], contracts=["finite"])
    assert decision.outcome == "block"
    assert decision.reasons[0] == "contract broken: finite"


def test_a_row_that_only_one_side_has_never_passes():
    decision = decide_by_rows([rate("a")], missing=["b"])
    assert decision.outcome == "inconclusive"
    assert "only one side has b" in decision.reasons


def test_nothing_on_both_sides_never_passes():
    assert decide_by_rows([]).outcome == "inconclusive"


def test_a_space_that_kept_its_shape_is_no_evidence_of_behaviour():
    kept = rate("health", family="health")
    assert decide_by_rows([kept]).outcome == "inconclusive"
    assert "no behaviour row" in decide_by_rows([kept, rate("a", n=10)]).reasons[0]
    assert decide_by_rows([kept, rate("a")]).outcome == "pass"


@pytest.mark.parametrize("few", [{"n": 10}, {"n": 149}, {"n": 1_000, "clusters": 29}])
def test_too_few_items_or_clusters_are_reported_and_decide_nothing(few):
    decision = decide_by_rows([rate("a", lost=4, **few)])
    assert decision.outcome == "inconclusive"
    assert not decision.rows[0].gates
    assert decide_by_rows([rate("a", lost=4, **few), rate("b")]).outcome == "pass"


def test_ten_items_cannot_block_even_when_all_are_lost():
    assert decide_by_rows([rate("a", n=10, rate=1, lost=10)]).outcome == "inconclusive"


def test_a_rate_without_headroom_is_no_evidence():
    decision = decide_by_rows([rate("a", rate=0.03)])
    assert decision.outcome == "inconclusive"
    assert "no headroom" in decision.rows[0].why


def test_a_rate_without_headroom_can_still_block():
    assert decide_by_rows([rate("a", rate=0.03, n=5_000, lost=150), rate("b")]).outcome == "block"


def test_zero_differences_of_few_items_do_not_pass_by_themselves():
    """No flip among 150 items leaves a loss of 2.5 points possible, which is what Tango's interval says."""
    row = decide_by_rows([rate("a", n=150)]).rows[0]
    assert row.low == pytest.approx(-0.0254, abs=0.001)


def test_scores_that_agree_within_the_noise_have_lost_nothing():
    row = decide_by_rows([rate("a", n=150, same=True)]).rows[0]
    assert (row.low, row.high, row.outcome) == (0, 0, "pass")


def test_clusters_that_move_together_count_for_less():
    wide = decide_by_rows([rate("a", lost=40, gained=10)]).rows[0]
    together = rate("a", lost=40, gained=10)
    lumped = replace(together, things=np.arange(1_000) // 10)
    assert decide_by_rows([lumped]).rows[0].low < wide.low


def test_means_on_the_calibrated_scale_gate_at_their_own_delta():
    assert decide_by_rows([mean("m", -0.005), rate("a")]).outcome == "pass"
    assert decide_by_rows([mean("m", -0.03)]).outcome == "block"


def test_the_error_of_the_calibration_widens_the_interval():
    sure, unsure = (decide_by_rows([mean("m", 0, calibration_error=e)]).rows[0] for e in (0.0, 0.01))
    assert unsure.low < sure.low


def test_replicates_that_differ_by_luck_are_let_through():
    candidates = [rate("a", n=5_000, lost=110, gained=5)]
    assert decide_by_rows(candidates).outcome == "block"
    noises = Noise(0.75), Noise(0.75, {"a": 0.75}), Noise(0.75, {"a": 0.0}, 3)
    outcomes = [decide_by_rows(candidates, seed_noise=noise).outcome for noise in noises]
    assert outcomes == ["inconclusive", "pass", "inconclusive"]


def test_luck_in_one_row_excuses_no_other():
    candidates = [rate("lucky", n=5_000, lost=110, gained=5), rate("steady", n=5_000, lost=110, gained=5)]
    decision = decide_by_rows(candidates, seed_noise=Noise(0.0, {"lucky": 0.75}))
    assert [(row.outcome, row.widened) for row in decision.rows] == [("pass", 1.25), ("block", 1.0)]


def test_however_loud_the_seeds_delta_is_widened_by_no_more_than_the_cap():
    """Four points in all rows, with 0.9 deltas of noise told: 74% of such candidates once passed."""
    losses = [rate(f"c{i}", n=5_000, lost=225, gained=25) for i in range(6)]
    noise = Noise(0.9, {row.name: 0.9 for row in losses})
    assert {row.delta for row in decide_by_rows(losses, seed_noise=noise).rows} == {0.025}
    assert decide_by_rows(losses, seed_noise=noise).outcome != "pass"
    assert decide_by_rows(losses, seed_noise=noise, rule=Rule(widest=9.0)).outcome == "pass"


def test_luck_that_few_replicates_measured_takes_a_larger_loss_to_block():
    loss = [rate("a", n=5_000, lost=225, gained=25)]
    exact, estimated = (decide_by_rows(loss, seed_noise=Noise(0.5, {"a": 0.5}, count)).rows[0].p for count in (None, 3))
    error, luck = decide_by_rows(loss).rows[0].error, 0.01
    free = (error**2 + luck**2) ** 2 / (error**4 / 4_999 + luck**4 / 7)
    assert exact < 1e-3 < estimated
    assert estimated == pytest.approx(2 * stats.t.cdf(-0.04 / np.hypot(error, luck), free))


def test_small_losses_in_a_whole_family_do_not_pass():
    losses = [rate(f"c{i}", lost=22, gained=10) for i in range(6)]
    decision = decide_by_rows(losses, rule=Rule(family=0.5))
    assert {row.outcome for row in decision.rows} == {"pass"}
    assert decision.outcome == "inconclusive"
    assert decision.reasons[0].startswith(
        "family order: its 6 gate rows together changed by -0.60 times the loss that matters"
    )


def test_a_family_is_surer_of_its_mean_than_its_members():
    one = decide_by_rows([rate("a", lost=25, gained=25)]).families[0]
    pairs = [replace(rate("a", lost=25, gained=25), candidate=np.roll(rate("a", lost=25, gained=25).candidate, 0))]
    shifted = replace(pairs[0], baseline=np.roll(pairs[0].baseline, 500), candidate=np.roll(pairs[0].candidate, 500))
    both = decide_by_rows([pairs[0], replace(shifted, name="b")]).families[0]
    assert both.low > one.low


def test_as_many_times_the_items_as_an_open_family_says_decide():
    losses = [rate(f"c{i}", lost=18, gained=10) for i in range(6)]
    (family,) = decide_by_rows(losses, rule=Rule(family=0.7)).families
    factor = int(np.ceil(family.more))
    assert 1 < factor < 100
    more = [rate(f"c{i}", n=1_000 * factor, lost=18 * factor, gained=10 * factor) for i in range(6)]
    assert decide_by_rows(more, rule=Rule(family=0.7)).outcome == "pass"


NOTHING = np.full(400, np.nan)


@pytest.mark.parametrize(
    ("side", "same"), [({"baseline": NOTHING}, False), ({"candidate": NOTHING}, False), ({"baseline": NOTHING}, True)]
)
def test_a_figure_that_cannot_be_calibrated_is_open_and_says_so_in_words(side, same):
    decision = decide_by_rows([replace(mean("m", 0), same=same, **side), mean("n", 0)])
    row = decision.rows[0]
    assert (decision.outcome, row.outcome, row.needed, row.adjusted) == ("inconclusive", "inconclusive", None, 1)
    name = f"the {next(iter(side))}"
    assert decision.reasons[0] == (
        f"m: under {name}, random pairs and identical texts score the same: nothing can be calibrated"
    )
    assert decision.reasons[1] == "family health: not all of its gate rows have a figure, so it has none either"
    assert "nan" not in " ".join(decision.reasons)


def test_single_items_without_a_figure_are_named_as_such():
    found = decide_by_rows([replace(mean("m", 0), candidate=np.r_[np.nan, np.zeros(399)])])
    assert "under the candidate, some items have no figure" in found.reasons[0]


def unseen(**more):
    return replace(rate("a", **more), unseen="it guesses")


@pytest.mark.parametrize(("lost", "why"), [(0, "it guesses"), (6, "lost 1.5 points, not shown to be more than 1 ")])
def test_what_is_not_seen_is_no_evidence(lost, why):
    decision = decide_by_rows([unseen(n=400, lost=lost), rate("b", n=5_000)])
    row = decision.rows[0]
    assert (decision.outcome, row.unseen, row.evidence, row.doubtful) == ("pass", True, False, False)
    assert row.why.startswith(why)
    assert row.why.endswith("it guesses")


def test_what_is_not_seen_never_blocks_and_a_certain_loss_holds_the_gate_open():
    decision = decide_by_rows([unseen(n=5_000, lost=300), rate("b", n=5_000)])
    assert (decision.outcome, decision.rows[0].doubtful) == ("inconclusive", True)
    assert decision.reasons[0].startswith("a: -6.0 points [")
    assert decision.reasons[0].endswith("a loss of more than 1 point is certain, but it guesses")


def test_what_is_not_seen_keeps_its_weight_and_rejects_nothing():
    """The p of a row is corrected for as many rows as without it, and no smaller for its loss."""
    rows = [rate("b", n=1_000, lost=40, gained=10), rate("c", n=1_000)]
    alone, beside, seen = (
        decide_by_rows([*rows, *more]).rows[0].adjusted
        for more in ([], [unseen(n=1_000, lost=100)], [rate("a", n=1_000)])
    )
    assert alone < beside == seen


def test_the_smallest_loss_that_a_row_can_see_shrinks_with_its_items():
    seen = [
        decide_by_rows([rate("a", n=n, lost=n // 50, gained=n // 50)]).rows[0].detectable for n in (200, 1_000, 5_000)
    ]
    assert seen == sorted(seen, reverse=True)
    assert 0.01 < seen[-1] < 0.03


@pytest.mark.parametrize(
    ("clusters", "each", "lost", "gained"),
    [(30, 5, 0, 0), (30, 5, 1, 0), (60, 10, 0, 0), (60, 10, 2, 1), (40, 5, 20, 20), (200, 1, 23, 20)],
)
def test_as_many_clusters_as_an_open_row_and_its_family_need_decide(clusters, each, lost, gained):
    def decide(count):
        share = count / clusters
        flips = {"lost": round(lost * share), "gained": round(gained * share)}
        return decide_by_rows([rate("a", n=count * each, clusters=count, **flips)])

    before = decide(clusters)
    (row,), (family,) = before.rows, before.families
    enough = int(np.ceil(clusters * max((row.needed or row.n) / row.n, family.more or 1)))
    assert before.outcome == "inconclusive"
    assert decide(enough).outcome == "pass"
    assert lost + gained or decide(enough - 2).outcome == "inconclusive"


def test_a_row_of_few_clusters_needs_as_many_items_as_enough_clusters_have():
    """Ten clusters of 165 items: the thirty that a gate needs have 495."""
    few = PairedRow("a", "order", "rate", np.ones(165), np.ones(165), np.arange(165) % 10)
    row = decide_by_rows([few]).rows[0]
    assert (row.gates, row.needed) == (False, 495)
    assert row.why == "reported only: 165 items in 10 clusters, but a gate needs 150 in 30 clusters"


def test_slices_gate_only_beside_a_primary_endpoint_that_gates():
    part, behaviour = replace(rate("part", n=300), budget="slices"), rate("a", n=300)
    primary = replace(rate("found", n=300), budget="primary")
    gates = {row.name: row.gates for row in decide_by_rows([part, behaviour]).rows}
    assert gates == {"part": False, "a": True}
    assert all(row.gates for row in decide_by_rows([part, behaviour, primary]).rows)
    few = replace(rate("found", n=10), budget="primary")
    assert not decide_by_rows([part, behaviour, few]).rows[0].gates


def test_where_no_number_of_items_would_decide_a_hundred_times_as_many_are_named():
    row = decide_by_rows([rate("a", lost=30)], rule=Rule(block=2.0)).rows[0]
    assert (row.outcome, row.needed) == ("inconclusive", 100_000)


@pytest.mark.parametrize(
    "one",
    [rate("a", n=150), rate("a", n=600, clusters=60, lost=1), rate("a", lost=20, gained=15),
     mean("a", 0, calibration_error=0.02)],
)  # fmt: skip
def test_a_family_of_one_is_as_sure_as_its_member(one):
    found = decide_by_rows([one])
    assert found.families[0].low == pytest.approx(found.rows[0].low / found.rows[0].delta, rel=1e-3)


def test_a_mean_is_told_as_one():
    found = decide_by_rows([mean("a", -0.1)])
    assert found.rows[0].mcnemar is None


def test_what_has_no_figure_has_no_proof_of_a_loss():
    assert decide_by_rows([replace(mean("a", 0), baseline=NOTHING)]).rows[0].p == 1


def test_the_loss_that_a_row_could_show_is_larger_among_more_rows():
    """Holm asks the first of k rows for alpha / k; with a power of 80%."""
    for k in (1, 4):
        row = decide_by_rows([mean(str(i), 0.0) for i in range(k)], rule=Rule(power=0.8)).rows[0]
        demand = stats.t.ppf(1 - 0.05 / k / 2, 399) + stats.t.ppf(0.8, 399)
        assert row.detectable == pytest.approx(row.delta / 2 + demand * row.error)


@pytest.mark.parametrize(
    ("lost", "gained", "word"),
    [(0, 0, "decides nothing"), (6, 5, "decides nothing"), (8, 0, "a little worse"), (300, 5, "cannot tell")],
)
def test_a_row_that_is_not_seen_decides_nothing_until_a_loss_holds_the_gate_open(lost, gained, word):
    decision = decide_by_rows([unseen(n=1_000, lost=lost, gained=gained), rate("b", n=5_000)])
    assert row_cells(decision.rows[0], "change")[0] == word
    assert decision.outcome == ("inconclusive" if word == "cannot tell" else "pass")


def hub(touched, *, n=400):
    """Items of which this many share one document, and each has a cluster of its own besides."""
    things = np.column_stack([np.where(np.arange(n) < touched, n, -1), np.arange(n)])
    return replace(rate("a", n=n, lost=40, gained=0), things=things)


def test_where_one_document_is_in_too_many_items_the_row_is_open_and_says_so():
    for touched, is_withheld in ((100, False), (101, True)):
        decision = decide_by_rows([hub(touched), rate("b")])
        assert np.isnan(decision.rows[0].low) == is_withheld
    assert decision.outcome == "inconclusive"
    assert decision.reasons[0].startswith("a: 101 of 400 items share one document, sentence or cluster")


def test_a_row_whose_items_share_too_much_blocks_nothing_and_keeps_the_gate_from_passing():
    uneven = np.repeat(np.arange(40), [90, 90, 90, 90, *[2] * 36])
    decision = decide_by_rows([replace(rate("a", n=432, lost=200), things=uneven), rate("b")])
    assert decision.rows[0].clusters == 40
    assert decision.outcome == "inconclusive"
    assert "degrees of freedom, but an interval needs 15" in decision.reasons[0]
    assert [row.outcome for row in decision.rows] == ["inconclusive", "pass"]


def test_scores_that_all_agree_have_lost_nothing_whatever_they_share():
    row = decide_by_rows([replace(hub(300), same=True), rate("b")]).rows[0]
    assert (row.low, row.outcome) == (0, "pass")


def test_a_chain_of_items_is_not_taken_for_one_cluster():
    chain = np.column_stack([np.arange(400), np.arange(400) + 1])
    row = decide_by_rows([replace(rate("a", n=400, lost=40), things=chain)]).rows[0]
    assert (row.outcome, row.clusters) == ("block", 133)


def test_what_blocks_is_what_is_printed():
    """Whatever blocks has the upper end of its 95% interval below minus one half of delta."""
    for lost in range(10, 60, 5):
        for row in decide_by_rows([rate("a", n=600, lost=lost), rate("b", n=600)]).rows:
            assert row.outcome != "block" or row.high < -row.delta / 2


def test_families_count_what_their_rows_share():
    """Two rows on the same items, which lose the same, are worth one of them."""
    one = rate("a", lost=25, gained=25)
    alone, together = (decide_by_rows(some).families[0] for some in ([one], [one, replace(one, name="b")]))
    apart = decide_by_rows([one, replace(one, name="b", things=one.things + 1_000)]).families[0]
    assert together.low == pytest.approx(alone.low, rel=0.02)
    assert apart.low > 0.8 * alone.low
