"""A run against a baseline: items are paired, what cannot be compared is refused, what flipped is named."""

import re
from dataclasses import replace
from types import MappingProxyType

import numpy as np
import pytest
from declared import DECLARED
from declared import claims as said_of
from gate_fakes import CASE, frame, given, results, scores
from recorded import result, run_file

import encheck
from encheck.datasets.probes import VERSION
from encheck.errors import BaselineError
from encheck.gating.balance import (
    PropertyWins,
    balanced_score,
    balanced_score_replicates,
    property_wins,
    shares_above_chance,
)
from encheck.gating.baseline import model_tables, read_baseline, save_baseline
from encheck.gating.comparison import apply_seed_noise, gate_against_baseline
from encheck.gating.decision import decide_by_rows
from encheck.gating.gate_rows import calibration_error, pool_rows
from encheck.gating.pairing import compare_case, gating_metric
from encheck.gating.types import DEFAULT, TOLERANCE, GateDecision, Noise, PairedRow
from encheck.metrics import find_metric
from encheck.run_file import Selection
from encheck.scoring.frame import CaseScores, item_table, read_item_frame
from encheck.scoring.scores import Scale

DIVIDED = ["dev", "gate"] * 200


@pytest.fixture
def against(tmp_path):
    """Weigh near and far scores, or a whole run, against a baseline of 90% wins."""

    def against(near, far, *, said=None, old=None, new=None, reverse=False, **more):
        before = {f"{CASE}/m-d-1": frame(*(old or scores()), **more)}
        save_baseline(tmp_path / "base", results(), model_tables(results(), before, "m"), model="m")
        now = {f"{CASE}/m-d-1": frame(near, far, **more)} if near is not None else {}
        if reverse:
            backwards = [*range(len(near))][::-1]
            now = {case: read_item_frame(item_table(some).take(backwards)) for case, some in now.items()}
        if new:
            now[new] = frame(*scores(seed=1))
        return gate_against_baseline(read_baseline(tmp_path / "base"), said or results(), now, model="m")

    return against


class Unused:
    """A model that may not encode anything."""

    def encode(self, texts):
        raise AssertionError(f"{len(texts)} texts are encoded")


def flips(found):
    """What the only row lost and gained."""
    (row,) = found.decision.rows
    return row.lost_items, row.gained_items


def changed(*rows, data=MappingProxyType({})):
    """The candidate's run, with more rows, or other data."""
    run = given()
    run["data"][0] |= data
    run["checks"] += [run["checks"][0] | row for row in rows]
    return run_file(run | {"claims": said_of(*map(result, run["checks"]))})


def test_the_same_scores_pass(against):
    found = against(*scores())
    assert (found.decision.outcome, flips(found)) == ("pass", ((), ()))


def test_noise_below_the_tolerance_changes_nothing(against):
    near, far = scores()
    row = against(near + TOLERANCE / 3, far).decision.rows[0]
    assert (row.outcome, row.low) == ("pass", 0)


def test_lost_items_block_and_are_named(against):
    found = against(*scores(lost=range(80)), split=DIVIDED)
    assert found.decision.outcome == "block"
    assert flips(found) == (tuple(f"d/{i}" for i in range(1, 20, 2)), ())


def test_the_order_of_the_items_does_not_matter(against):
    found = against(*scores(lost=[2, 3]), reverse=True, split=DIVIDED)
    assert flips(found) == (("d/3",), ())


def test_only_items_of_the_gate_split_are_weighed(against):
    split = ["dev"] * 200 + ["gate"] * 200
    near, far = scores(wins=1, lost=range(200))
    row = against(near, far, old=scores(wins=1), split=split).decision.rows[0]
    assert (row.n, row.lost, row.outcome) == (200, 0, "pass")


@pytest.mark.parametrize(("splits", "seen"), [(("train", "test"), 153), (("validation", "test"), 100)])
def test_the_validation_part_of_a_corpus_is_looked_at_and_not_weighed(against, splits, seen):
    near, far = scores(200)
    split = [splits[0], splits[1]] * 100
    assert against(near, far, old=(near, far), split=split).decision.rows[0].n == seen


def test_data_that_are_all_validation_are_weighed(against):
    near, far = scores(200)
    assert against(near, far, old=(near, far), split="validation").decision.rows[0].n == 153


def test_another_kind_of_model_is_refused(against):
    with pytest.raises(BaselineError, match="gives vectors, but 'm' gives scores of pairs"):
        against(*scores(), said=results(kind="pair"))


def test_other_data_are_refused_with_the_remedy(against):
    said = changed(data={"name": "probes-fresh=2"})
    with pytest.raises(BaselineError, match=r"was made on d, but this run is on probes-fresh=2: .* --save-baseline"):
        against(*scores(), said=said)


def test_an_older_edition_is_refused_with_what_to_type_before_anything_is_encoded(tmp_path):
    row = {"data": "probes", "id": f"{CASE}/m-probes-1/margin_rate"}
    old, new = (changed(row, data={"name": "probes", "version": version}) for version in ("2.1.0", VERSION))
    items = {f"{CASE}/m-probes-1": frame(*scores())}
    save_baseline(tmp_path / "base", old, model_tables(old, items, "m"), model="m")
    said = re.escape(
        f"{tmp_path}/base was made on probes 2.1.0, but this run is on probes {VERSION}, which has other items. "
        f"Make it again: encheck run --model=m"
    )
    with pytest.raises(BaselineError, match=said):
        gate_against_baseline(read_baseline(tmp_path / "base"), new, items, model="m")
    with pytest.raises(BaselineError, match=said):
        encheck.gate(Unused(), str(tmp_path / "base"), checks="number")
    asked = replace(
        new.run.settings, models=("nets/other", "my nets/m"), model_args=("m:a=b", "c=d e"), data=("probes:my file",)
    )
    told = (
        "encheck run --model='my nets/m' --model-arg=a=b --model-arg='c=d e' --data='probes:my file' --save-baseline="
    )
    with pytest.raises(BaselineError, match=told):
        gate_against_baseline(
            read_baseline(tmp_path / "base"), replace(new, run=replace(new.run, settings=asked)), items, model="m"
        )


def test_other_items_are_refused_and_what_differs_is_said(against):
    near, far = scores(300)
    said = changed(data={"fingerprint": "y", "language": {"lexicon": "nltk"}})
    with pytest.raises(BaselineError, match=r"100 of its 400 items .* lexicon was 'embedded' and is 'nltk'"):
        against(near, far, said=said)


def test_a_case_that_was_not_measured_never_passes(against):
    found = against(None, None)
    assert found.decision.outcome == "inconclusive"
    assert f"only one side has {CASE}/d/1 (the baseline)" in found.decision.reasons


def test_a_case_that_was_not_selected_makes_the_gate_partial_and_is_not_missed(against):
    said = replace(results(check="another"), selection=Selection((f"{CASE}/d/1",), ("antonym",)))
    found = against(None, None, said=said)
    assert found.decision.missing == ()
    assert (found.decision.partial.left_out, found.decision.outcome) == (("antonym",), "inconclusive")


def test_what_no_gate_weighs_is_not_left_out(against):
    said = replace(results(), selection=Selection(("reported/d/1",), ()))
    found = against(*scores(), said=said)
    assert (found.decision.partial, found.decision.outcome) == (None, "pass")


def test_a_case_that_was_selected_is_missed_where_it_did_not_run(against):
    found = against(None, None, said=results(check="another"))
    assert found.decision.missing == (f"{CASE}/d/1 (the baseline)",)


def test_a_case_that_only_the_candidate_has_never_passes(against):
    said = changed({"id": "new/m-d-1/margin_rate", "check": "new"})
    found = against(*scores(), said=said, new="new/m-d-1")
    assert found.decision.outcome == "inconclusive"
    assert found.decision.reasons == ("only one side has new/d/1 (the candidate)",)


def test_a_model_that_cannot_encode_is_blocked(against):
    found = against(None, None, said=results(error="holds NaN"))
    assert found.decision.outcome == "block"
    assert found.decision.reasons[0] == "contract broken: the model cannot encode: holds NaN"


@pytest.mark.parametrize("verdict", ["fail", "error", "known_failure"])
def test_a_broken_contract_blocks_known_or_not(against, verdict):
    broken = {"check": "it_is_finite", "property": "contract", "id": "it_is_finite/m-d-1/share", "verdict": verdict}
    said = changed(broken)
    assert against(*scores(), said=said).decision.reasons[0] == "contract broken: it is finite on d"


@pytest.mark.parametrize("wins", [0.3, 0.5])
def test_a_win_rate_that_is_no_better_than_guessing_decides_nothing(against, wins):
    found = against(*scores(wins=0.9), old=scores(wins=wins), split=DIVIDED)
    (row,) = found.decision.rows
    assert (row.name, row.n, row.evidence, row.unseen) == ("antonym/d/1", 200, False, True)
    assert row.why.startswith("the old model is not shown to do better than guessing: on 200 held-out items it scores")
    assert found.decision.outcome == "inconclusive"


def test_a_loss_of_what_is_not_seen_never_blocks_and_its_items_are_named(against):
    found = against(*scores(wins=0.3, lost=range(80)), old=scores(wins=0.3), split=DIVIDED)
    (row,) = found.decision.rows
    assert (found.decision.outcome, row.doubtful) == ("inconclusive", True)
    assert found.decision.reasons[0].startswith("antonym/d/1: -20.0 points [")
    assert flips(found) == (tuple(f"d/{i}" for i in range(1, 20, 2)), ())


@pytest.mark.parametrize(("wins", "share"), [(0.9, 0.75), (0.565, 0.5), (0.5, 0.5)])
def test_data_without_a_dev_part_are_looked_at_by_a_quarter_of_their_clusters_or_a_half(against, wins, share):
    """What is looked at is tested nowhere: the more it takes to see that the old model does not guess, the fewer."""
    near, far = scores(4_000, wins=wins)
    order = np.random.default_rng(1).permutation(4_000)
    before = near[order], far[order]
    row = against(*before, old=before, clusters=[i // 2 for i in range(4_000)]).decision.rows[0]
    assert row.n == pytest.approx(share * 4_000, rel=0.05)
    assert row.clusters == row.n / 2
    assert row.unseen == (wins == 0.5)


def test_too_few_clusters_to_divide_are_not_divided(against):
    near, far = scores(200)
    assert against(near, far, old=(near, far), clusters=[i % 50 for i in range(200)]).decision.rows[0].n == 200


LOW, HIGH = [0.2, 0.9], [0.9, 0.2]


def table(near, far=None, *, kind="triplet", tested="antonym", labels=None, check=CASE, items=None):
    n = len(near)
    ids = tuple(items or (f"i{i}" for i in range(n)))
    far = np.full(n, np.nan) if far is None else np.asarray(far, float)
    return CaseScores(
        f"{check}/d/1", check, tested, "d", "1", kind, ids, ids, ids, ("",) * n, tuple(labels or [None] * n),
        np.asarray(near, float), far, declared=DECLARED.get(check) or DECLARED.get(tested),
    )  # fmt: skip


def values(metric, table, scale):
    return find_metric(metric).item_values(table, scale)


def test_the_gap_of_calibrated_classes_is_the_mean_of_its_items():
    labels, near = [1, 1, 1, 0], [0.9, 0.8, 0.7, 0.4]
    found = values("similarity_gap", table(near, kind="labelled", labels=labels), Scale(0.2, 1.0))
    assert found.mean() == pytest.approx((0.8 - 0.4) / 0.8)


def test_the_items_of_a_gap_spread_as_the_difference_of_two_means_does():
    """Whatever all similarities have in common, and however the labels are shared out."""
    rng = np.random.default_rng(0)
    labels, near = [1] * 50 + [0] * 150, rng.normal(0.6, 0.1, 200)
    found = values("similarity_gap", table(near, kind="labelled", labels=labels), Scale(0.0, 1.0))
    expected = np.hypot(near[:50].std() / np.sqrt(50), near[50:].std() / np.sqrt(150))
    assert found.std() / np.sqrt(200) == pytest.approx(expected)
    moved = values("similarity_gap", table(near + 0.3, kind="labelled", labels=labels), Scale(0.0, 1.0)) - found
    assert np.abs(moved).max() < 1e-12


def test_what_is_unchanged_in_a_gap_leaves_the_change_of_the_others():
    labels, near = [1, 1, 0, 0], np.array([0.9, 0.7, 0.3, 0.1])
    both = near, near + np.array([0.2, 0, 0, 0])
    before, after = (table(n, kind="labelled", labels=labels, tested="paraphrase") for n in both)
    found = compare_case(before, after, (Scale(0.0, 1.0), Scale(0.0, 1.0)))
    assert (found.new - found.old).mean() == pytest.approx(0.1)


@pytest.mark.parametrize("shift", [0.0, 0.1])
def test_a_constant_added_to_all_similarities_changes_no_calibrated_gap(shift):
    near = np.array([0.9, 0.8, 0.3, 0.2])
    found = values(
        "similarity_gap", table(near + shift, kind="labelled", labels=[1, 1, 0, 0]), Scale(0.1 + shift, 1.0 + shift)
    )
    assert found.mean() == pytest.approx(0.6 / 0.9)


def test_the_error_of_the_calibration_is_that_of_pools_drawn_again():
    """The gap of two classes, each pool of random pairs as large as the real one."""
    rng = np.random.default_rng(0)
    gaps = [0.6 / (1 - rng.normal(0.1, 0.1, 2_000).mean()) for _ in range(2_000)]
    scale = Scale(0.1, 1.0, pairs=2_000, spread=0.1)
    assert scale.error_from_random_pairs(0.6 / scale.unit) == pytest.approx(np.std(gaps), rel=0.05)


def drawn_again(gap, pools):
    """Standard deviation of the change of a gap of calibrated figures over pools of random pairs drawn again."""
    rng, (old, new) = np.random.default_rng(1), pools
    picks = rng.integers(0, len(old), (1_500, len(old)))
    return np.std([gap(new[p].mean()) - gap(old[p].mean()) for p in picks])


@pytest.mark.parametrize(
    ("labels", "gap"),
    [([1], lambda r: (0.8 - r) / (1 - r)), ([0], lambda r: -(0.8 - r) / (1 - r)), ([1, 1, 0], lambda r: 0.6 / (1 - r))],
    ids=["nearer-than-random", "farther", "two-classes"],
)
def test_the_error_of_a_change_is_that_of_pools_drawn_again_for_both_models(labels, gap):
    rng = np.random.default_rng(0)
    old = rng.normal(0.1, 0.1, 1_000)
    pools = old, 0.2 + 0.7 * old + rng.normal(0, 0.05, 1_000)
    scales = tuple(Scale(float(p.mean()), 1.0, pairs=1_000, spread=float(p.std())) for p in pools)
    tables = [table([0.2 if label == 0 < sum(labels) else 0.8 for label in labels], kind="labelled", labels=labels)] * 2
    tables[1] = replace(tables[1], near=tables[1].near + 1e-4)
    case = compare_case(*tables, scales)
    pool = compare_case(
        *(table(p, kind="pair", tested="health", check="random_pairs_are_apart") for p in pools), scales
    )
    assert calibration_error([case], pool) == pytest.approx(drawn_again(gap, pools), rel=0.06)
    assert calibration_error([case]) > calibration_error([case], pool)
    assert calibration_error([compare_case(tables[0], tables[0], scales)], pool) == 0
    fewer = replace(case, scales=(replace(scales[0], pairs=900), scales[1]))
    assert calibration_error([fewer], pool) == calibration_error([fewer])  # pairs of their own for each model


def test_cases_that_share_a_pool_share_its_error():
    before, after = (table([near] * 4, kind="labelled", labels=[1] * 4) for near in (0.6, 0.7))
    one = compare_case(before, after, (Scale(0.1, 1.0, 900, 0.1), Scale(0.1, 1.0, 900, 0.1)))
    assert calibration_error([one, one]) == pytest.approx(calibration_error([one]))


@pytest.mark.parametrize("check", ["random_pairs_are_apart", "random_pairs_are_alike_in_distance"])
@pytest.mark.parametrize("scale", [Scale(0.1, 1.0), Scale(9.0, 70.0), Scale(-11.0, 8.0), Scale(-4.0, 0.0)])
def test_the_health_of_a_similarity_does_not_depend_on_its_unit(check, scale):
    pool = table(np.random.default_rng(0).normal(scale.reference, 0.1, 500), kind="pair", tested="health", check=check)
    larger = replace(pool, near=1.02 * pool.near)
    grown = compare_case(pool, larger, (scale, Scale(1.02 * scale.reference, 1.02 * scale.identity)))
    np.testing.assert_allclose(grown.new, grown.old, rtol=0, atol=1e-9)


def test_the_room_is_a_share_of_what_identical_text_scores():
    near = np.array([0.1, 0.3])
    np.testing.assert_array_equal(values("room", table(near), Scale(0.2, 1.0)), 1 - near)
    np.testing.assert_allclose(values("room", table(70 * near), Scale(14.0, 70.0)), 1 - near)
    assert values("room", table([-4.0, -2.0]), Scale(-3.0, 0.0)).mean() == pytest.approx(1)
    assert values("room", table([-10.0, -6.0]), Scale(-8.0, 2.0)).mean() == pytest.approx(10 / 8)
    assert np.isnan(values("room", table([0.0]), Scale(0.0, 0.0))).all()


def test_what_needs_no_scale_blocks_a_model_that_has_none():
    pool = table(np.random.default_rng(0).normal(0.1, 0.1, 400), kind="pair", tested="health")
    scales = (Scale(0.1, 1.0, 400, 0.1), Scale(1.0, 1.0, 400, 0.0))
    found = [
        compare_case(
            *(replace(t, check=check, declared=DECLARED[check]) for t in (pool, replace(pool, near=np.ones(400)))),
            scales,
        )
        for check in ("random_pairs_are_apart", "random_pairs_are_alike_in_distance")
    ]
    room, spread = decide_by_rows(pool_rows(found)).rows
    assert (room.outcome, spread.outcome) == ("block", "inconclusive")
    assert spread.why.startswith("under the candidate, random pairs and identical texts score the same")


@pytest.mark.parametrize(("kind", "tested"), [("pair", "synonym"), ("labelled", "nonobvious"), ("labelled", "sts")])
def test_raw_similarities_and_ranks_never_gate(kind, tested):
    assert gating_metric(table([0.5] * 9, kind=kind, tested=tested, labels=[1] * 9))[0] is None


def chains(*margins, tested="swapchain"):
    """Chains with these margins of the paraphrase over each member."""
    ids = [f"d/{c}/{k}" for c, some in enumerate(margins) for k in range(1, len(some) + 1)]
    return table([0.5 + m for some in margins for m in some], [0.5] * len(ids), tested=tested, items=ids)


def test_a_chain_gates_as_its_check_counts_it():
    """By whether the paraphrase is on top; among equals it is there by a share."""
    before, after = chains([0.1, 0.2, 0.3], [0.1, 0, 0]), chains([0.1, -0.1, 0.3], [0.1, 0, 0])
    found = compare_case(before, after, (Scale(0, 1), Scale(0, 1)))
    assert (found.metric.name, found.old.tolist(), found.new.tolist()) == ("r_precision", [1, 1 / 3], [0, 1 / 3])
    assert found.flipped_items(-1) == ["d/0/1"]


def test_a_share_of_a_win_counts_as_a_share():
    old, new = np.ones(400), np.where(np.arange(400) < 40, 0.25, 1.0)
    (row,) = decide_by_rows([PairedRow("swapchain/d/1", "order", "rate", old, new, np.arange(400))]).rows
    assert (row.lost, row.gained, row.change) == (30, 0, pytest.approx(-0.075))
    assert row.low < row.change < row.high < 0


def test_what_an_exchange_changes_is_weighed_on_the_calibrated_scale():
    turned = table([0.5, 0.6], [0.4, 0.6], kind="turned", tested="symmetry")
    for scale, expected in (
        (Scale(0.0, 1.0), [-0.1, 0]),
        (Scale(0.5, 1.0), [-0.2, 0]),
        (Scale(-9.0, 11.0), [-0.005, 0]),
    ):
        found = compare_case(turned, turned, (scale, scale))
        assert found.metric.name == "symmetry"
        np.testing.assert_allclose(found.old, expected, atol=1e-12)


def test_cases_of_one_check_and_level_are_one_row():
    near, far = scores(200)
    pairs = [
        compare_case(table(near, far, check=c), table(near, far, check=c), (Scale(0, 1), Scale(0, 1)))
        for c in ("a", "b")
    ]
    (one,) = pool_rows(pairs)
    assert (len(one.baseline), len(set(one.things.tolist()))) == (400, 200)


def test_figures_of_another_kind_are_a_row_of_their_own():
    near, far = scores(200)
    scales = (Scale(0, 1), Scale(0, 1))
    won = table(near, far, tested="paraphrase")
    gap = table(near, kind="labelled", tested="paraphrase", labels=[1, 0] * 100, check="gap")
    found = pool_rows([compare_case(won, won, scales), compare_case(gap, gap, scales)])
    assert [p.name for p in found] == ["paraphrase/d/1/rate", "paraphrase/d/1/mean"]
    assert [p.kind for p in found] == ["rate", "mean"]


def test_the_balanced_score_falls_when_recall_pays_for_antonyms():
    before = {"antonym": 0.8, "synonym": 0.9, "invariance": 0.9, "retrieval": 0.9}
    families = {"antonym": "meaning changed", "synonym": "meaning kept"} | {n: n for n in ("invariance", "retrieval")}
    assert balanced_score(before | {"antonym": 0.9, "retrieval": 0.7}, families) < balanced_score(before, families)
    assert balanced_score(before, families) == pytest.approx((0.8 * 0.9 * 0.9) ** (1 / 3))
    assert balanced_score({"antonym": 0.8, "synonym": 0.9}, families) is None


def test_win_rates_pool_the_claims_of_a_check():
    near, far = scores(100, wins=0.9)
    tables = {"a": table(near, far), "b": table(far, near), "c": table(near, kind="pair", tested="synonym")}
    assert {name: one.rate for name, one in property_wins(tables, {}).items()} == {"antonym": pytest.approx(0.5)}


@pytest.mark.parametrize(("wins", "share"), [(0.9, 0.8), (0.5, 0.0), (0.2, 0.0), (1.0, 1.0)])
def test_the_score_counts_from_chance_and_below_it_nothing(wins, share):
    """Damage raises a rate that is below chance: that is no gain."""
    assert shares_above_chance({"a": table(*scores(100, wins=wins))}, {}) == {"antonym": pytest.approx(share)}


def test_replicates_of_the_score_count_from_chance_too():
    """Clusters that all have the same rate leave nothing to the draw, so each replicate is the score."""
    families = {"number": "meaning changed", "casing": "invariance", "retrieval": "retrieval"}
    clusters = tuple(f"c{i // 10}" for i in range(100))
    rates, chances = {"number": 0.8, "casing": 0.9, "retrieval": 0.2}, {"number": 0.5, "casing": 0.5, "retrieval": 0.1}
    own = {
        name: PropertyWins(np.tile(np.arange(10) < 10 * rate, 10) * 1.0, np.full(100, chances[name]), clusters)
        for name, rate in rates.items()
    }
    shares = {name: one.share for name, one in own.items()}
    assert shares == pytest.approx({"number": 0.6, "casing": 0.8, "retrieval": 1 / 9})
    assert balanced_score_replicates(own, families, 0) == pytest.approx(balanced_score(shares, families))
    low = own | {"number": replace(own["number"], values=np.zeros(100))}
    assert not balanced_score_replicates(low, families, 0).any()  # below chance is nothing, not less


def test_more_luck_than_the_widest_delta_covers_lets_nothing_pass():
    decision = GateDecision("pass", (), ())
    for covered in (0.41, DEFAULT.max_seed_noise):
        assert apply_seed_noise(decision, Noise(covered), DEFAULT) is decision
    found = apply_seed_noise(decision, Noise(2.8), DEFAULT)
    assert found.outcome == "inconclusive"
    assert (
        "a standard deviation of 5.6 points), but with more than 0.8 points of seed variance nothing can pass"
        in found.reasons[0]
    )
    blocked = GateDecision("block", ("x",), ())
    assert apply_seed_noise(blocked, Noise(2.8), DEFAULT) is blocked
