"""What the gate and the verdicts promise: each test fails where one line of theirs says something else."""

import json
from dataclasses import replace

import numpy as np
import pytest
from gate_fakes import CASE, frame, results
from scipy import stats

from encheck.gating.baseline import model_tables, read_baseline, save_baseline
from encheck.gating.comparison import gate_against_baseline
from encheck.gating.decision import decide_by_rows
from encheck.gating.types import Noise, PairedRow
from encheck.scoring.scale import Scale
from encheck.types import Estimate, FloorAndAim
from encheck.verdict import decide_verdict


def rate(name="a", *, n=1_000, lost=0, clusters=None):
    """A capability whose baseline wins all items, of which the candidate loses the first."""
    labels = np.arange(n) if clusters is None else clusters
    return PairedRow(name, "order", "rate", np.ones(n), (np.arange(n) >= lost).astype(float), labels)


@pytest.fixture(scope="module")
def apart_and_together():
    """Thirty lost items: each in a cluster of its own, and in three clusters of ten."""
    one = rate(lost=30)
    return [decide_by_rows([p]).rows[0] for p in (one, replace(one, things=np.arange(1_000) // 10))]


@pytest.mark.quick
def test_losses_that_come_in_clusters_block_only_where_the_clusters_tell(apart_and_together):
    apart, together = apart_and_together
    assert (apart.outcome, together.outcome) == ("block", "inconclusive")
    assert apart.p < 1e-4
    assert together.p > 0.06


@pytest.mark.quick
def test_both_bounds_are_as_much_wider_as_the_clusters_tell_less(apart_and_together):
    apart, together = apart_and_together
    widths = [np.array([row.change - row.low, row.high - row.change]) for row in (apart, together)]
    assert (widths[1] > 1.5 * widths[0]).all()


@pytest.mark.quick
def test_a_loss_that_twins_have_by_luck_does_not_block_however_many_items_show_it():
    lucky = decide_by_rows([rate(n=50_000, lost=1_600)], seed_noise=Noise(1.0)).rows[0]
    assert lucky.change == -0.032
    assert lucky.change < -lucky.delta / 2  # beyond what is too small to matter, luck or none
    assert lucky.p == pytest.approx(2 * stats.norm.cdf(-1.6), abs=0.001)
    assert lucky.outcome != "block"
    assert decide_by_rows([rate(n=50_000, lost=3_000)], seed_noise=Noise(1.0)).rows[0].outcome == "block"


@pytest.mark.quick
def test_what_only_reports_takes_nothing_from_what_gates():
    gates, reported = rate(lost=17), [rate(f"few {i}", n=149, lost=i) for i in range(6)]
    alone, *_ = decide_by_rows([gates]).rows
    among, *others = decide_by_rows([gates, *reported]).rows
    assert 0.01 < alone.p < 0.05
    assert (alone.outcome, among.outcome) == ("block", "block")
    assert among.adjusted == alone.adjusted == alone.p
    assert {(row.gates, row.adjusted) for row in others} == {(False, 1.0)}


@pytest.mark.quick
def test_each_capability_that_gates_makes_the_others_proof_harder():
    two = decide_by_rows([rate(lost=16), rate("b")]).rows[0]
    assert two.adjusted == pytest.approx(2 * two.p)


@pytest.fixture
def turned(tmp_path):
    """Weigh what a change of order makes of 400 scores, on a scale where random pairs score `reference`."""

    def turned(change, *, reference=0.1, identity=1.0):
        start = np.random.default_rng(0).uniform(0.2, 0.8, 400)
        by_hand = {"far_text": False}
        before = {f"{CASE}/m-d-1": frame(start, start + 0.2, **by_hand)}
        old = new = results(tested="symmetry")
        moved = replace(new.data[0], calibration={"m": Scale(reference, identity)})
        new = replace(new, data=(moved,))
        save_baseline(tmp_path / "base", old, model_tables(old, before, "m"), model="m")
        now = {f"{CASE}/m-d-1": frame(start, start + change, **by_hand)}
        return gate_against_baseline(read_baseline(tmp_path / "base"), new, now, model="m").decision.rows[0]

    return turned


@pytest.mark.quick
def test_what_a_change_of_order_makes_is_told_on_the_calibrated_scale(turned):
    row = turned(0.1, reference=0.55)  # half as much, on a scale of half the unit
    assert row.baseline == pytest.approx(-0.2 / 0.9, abs=1e-5)
    assert row.candidate == pytest.approx(-0.1 / 0.45, abs=1e-5)
    assert row.change == pytest.approx(0, abs=1e-5)


@pytest.mark.quick
def test_a_model_whose_scores_lie_closer_together_has_lost_where_it_changes_as_much(turned):
    assert turned(-0.2, reference=0.55).change == pytest.approx(0.2 / 0.9 - 0.2 / 0.45, abs=1e-5)


NUMBER = "other_number_is_farther_than_edit_that_keeps_the_meaning"
OTHER = "antonym_is_farther_than_control"


def test_the_models_threshold_goes_before_the_projects_and_a_levels_before_a_checks(pytester, some_probes, tmp_path):
    own = {"plain": {}, "one": {NUMBER: 0.31}, "two": {NUMBER: 0.31, f"{NUMBER}/1": 0.32}, "else": {OTHER: 0.33}}
    oracle = "encheck.encoders.fake:Oracle"
    pytester.makefile(".yaml", models=json.dumps({m: {"adapter": oracle, "thresholds": own[m]} for m in own}))
    pytester.makepyprojecttoml(f'[tool.encheck.thresholds]\n{NUMBER} = 0.52\n"{NUMBER}/1" = 0.53')
    asked = [*(f"--encheck-model={m}" for m in own), f"--encheck-data={some_probes}", "-k", NUMBER]
    pytester.runpytest(
        "--pyargs", "encheck.checks", "-p", "no:cacheprovider", *asked, f"--encheck-report-dir={tmp_path}"
    )
    rows = json.loads((tmp_path / "results.json").read_text("utf-8"))["checks"]
    found = {row["model"]: (row["floor"], row["aim"]) for row in rows if row["verdict"]}
    assert found == {"plain": (0.53, 0.53), "one": (0.31, 0.31), "two": (0.32, 0.32), "else": (0.53, 0.53)}


def verdict(low, high, *, clusters=100, threshold=0.8):
    found = Estimate("margin_rate", (low + high) / 2, low, high, n=clusters, clusters=clusters)
    return decide_verdict(found, FloorAndAim(aim=threshold, floor=threshold))[0]


@pytest.mark.quick
def test_twenty_clusters_are_the_fewest_that_decide():
    assert [verdict(0.9, 1, clusters=n) for n in (19, 20)] == ["inconclusive", "pass"]
    assert [verdict(0, 0.1, clusters=n) for n in (19, 20)] == ["inconclusive", "fail"]


@pytest.mark.quick
def test_an_interval_that_begins_at_the_threshold_passes_and_one_that_ends_there_is_open():
    assert verdict(0.8, 0.9) == "pass"
    assert verdict(0.7, 0.8) == "inconclusive"
    assert verdict(0.8, 0.8) == "pass"
    assert verdict(0.7, np.nextafter(0.8, 0)) == "fail"
    assert verdict(np.nextafter(0.8, 0), 0.9) == "inconclusive"
