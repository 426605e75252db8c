"""A verdict is never read off a point estimate."""

import json
from dataclasses import replace

import pytest

from encheck.types import Estimate, FloorAndAim, Validity
from encheck.verdict import (
    JudgedFigure,
    JudgingTerms,
    decide_verdict,
    judge_by_terms,
    known_failure_reason,
    resolve_floor_and_aim,
)

HELD = FloorAndAim(aim=0.8, floor=0.5)


def estimate(value, low, high, clusters=100):
    return Estimate("margin_rate", value, low, high, n=clusters, clusters=clusters)


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (0.8, 0.9, "pass"), (0.79, 0.9, "inconclusive"), (0.7, 0.8, "inconclusive"), (0.4, 0.9, "inconclusive"),
        (0.7, 0.79, "below_aim"), (0.3, 0.5, "below_aim"), (0.3, 0.49, "fail"),
    ],
)  # fmt: skip
def test_the_whole_interval_has_to_be_on_one_side(low, high, verdict):
    assert decide_verdict(estimate((low + high) / 2, low, high), HELD)[0] == verdict


def test_without_a_floor_nothing_fails_and_a_floor_that_is_the_aim_leaves_nothing_between():
    assert decide_verdict(estimate(0, 0, 0), FloorAndAim(aim=0.8)) == ("below_aim", "this check has no floor")
    assert decide_verdict(estimate(0.75, 0.7, 0.79), FloorAndAim(aim=0.8, floor=0.8)) == ("fail", "")


def test_strict_makes_what_is_below_its_aim_a_failure_and_nothing_else():
    assert decide_verdict(estimate(0.6, 0.55, 0.7), HELD, strict=True) == (
        "fail", "below the aim: a failure with --strict",
    )  # fmt: skip
    assert decide_verdict(estimate(0.8, 0.7, 0.9), HELD, strict=True)[0] == "inconclusive"
    assert judge_by_terms(estimate(0.6, 0.55, 0.7), JudgingTerms(declared=(0.5, 0.8))).verdict == "below_aim"


@pytest.mark.parametrize(
    ("low", "said"),
    [(0.51, "above the floor"), (0.5, "not shown to be above the floor"), (0.4, "not shown to be above the floor")],
)
def test_what_is_below_its_aim_says_where_it_stands_with_its_floor(low, said):
    assert decide_verdict(estimate(0.6, low, 0.7), HELD) == ("below_aim", said)


def test_the_floor_of_a_surface_baseline_is_its_figure_and_named():
    beside = {"jaccard": estimate(0.5, 0.45, 0.55), "bigrams": estimate(0.4, 0.35, 0.45)}
    one = replace(estimate(0.4, 0.35, 0.45), surface=beside)
    held = resolve_floor_and_aim(one, floor="surface", aim=0.8)
    assert held == FloorAndAim(aim=0.8, floor=0.5, rival="jaccard")
    assert decide_verdict(one, held) == ("fail", "")
    assert decide_verdict(replace(one, low=0.6, high=0.7), held) == ("below_aim", "above what jaccard gets")


def test_no_floor_is_above_the_aim():
    easy = replace(estimate(0.6, 0.5, 0.8), surface={"jaccard": estimate(0.7, 0.6, 0.8)})
    held = resolve_floor_and_aim(easy, floor="surface", aim=0.5)
    assert held == FloorAndAim(aim=0.7, floor=0.7, rival="jaccard")
    assert decide_verdict(easy, held)[0] == "inconclusive"
    assert decide_verdict(replace(easy, high=0.6), held)[0] == "fail"


def test_a_figure_that_says_why_it_is_not_judged_has_no_verdict_but_by_a_threshold_of_ones_own():
    shown = replace(estimate(0.1, 0.0, 0.2), params={"unjudged": "words tell"})
    assert judge_by_terms(shown, JudgingTerms(declared=(0.5, 0.8))) == JudgedFigure(None, None, "words tell")
    assert judge_by_terms(shown, JudgingTerms(declared=(0.5, 0.8), own=0.5)).verdict == "fail"
    assert judge_by_terms(replace(shown, value=float("nan")), JudgingTerms(declared=(0.5, 0.8))).verdict == "error"


def test_a_surface_baseline_that_was_not_measured_is_no_floor():
    assert resolve_floor_and_aim(estimate(0.4, 0.3, 0.5), floor="surface", aim=0.8) == FloorAndAim(aim=0.8)
    unmeasured = replace(estimate(0.4, 0.3, 0.5), surface={"jaccard": estimate(float("nan"), 0, 1)})
    assert resolve_floor_and_aim(unmeasured, floor="surface", aim=0.8) == FloorAndAim(aim=0.8)


def test_a_known_failure_keeps_its_reason_and_a_stale_one_is_told_apart():
    assert decide_verdict(estimate(0.4, 0.3, 0.45), HELD, known_failure="Table 3") == ("known_failure", "Table 3")
    assert decide_verdict(estimate(0.9, 0.85, 0.95), HELD, known_failure="Table 3") == (
        "stale_known_failure",
        "Table 3",
    )


def test_a_known_failure_excuses_what_is_red_and_nothing_else():
    between = estimate(0.6, 0.55, 0.7)
    assert decide_verdict(between, HELD, known_failure="Table 3")[0] == "below_aim"
    assert decide_verdict(between, HELD, known_failure="Table 3", strict=True) == ("known_failure", "Table 3")
    assert decide_verdict(estimate(0.8, 0.7, 0.9), HELD, known_failure="Table 3")[0] == "inconclusive"


def test_too_few_clusters_decide_nothing():
    assert decide_verdict(estimate(1, 0.9, 1, clusters=19), HELD) == (
        "inconclusive", "only 19 independent clusters; a verdict needs 20",
    )  # fmt: skip
    assert decide_verdict(estimate(1, 0.9, 1, clusters=20), HELD)[0] == "pass"


def test_what_is_no_number_could_not_be_measured():
    assert decide_verdict(estimate(float("nan"), 0, 1), HELD)[0] == "error"
    assert decide_verdict(estimate(0.5, float("nan"), float("nan")), HELD)[0] == "error"


def test_a_failure_is_known_of_a_model_that_names_it_and_the_narrowest_entry_counts():
    assert known_failure_reason("antonym_is_farther_than_paraphrase", "mrpc", "1", None) is None
    assert known_failure_reason("antonym_is_farther_than_paraphrase", "mrpc", "1", {}) is None
    own = {"jumble_*/mrpc/*": "broad", "jumble_is_farther_than_paraphrase/mrpc/1": "narrow"}
    assert known_failure_reason("jumble_is_farther_than_paraphrase", "mrpc", "1", own) == "narrow"
    assert known_failure_reason("jumble_is_farther_than_paraphrase", "mrpc", "2", own) == "broad"


def test_a_threshold_of_the_users_goes_before_floor_and_aim_and_less_fails():
    terms = JudgingTerms(declared=(0.5, 0.8), own=0.7, only_shown=True)
    assert terms.decides
    assert judge_by_terms(estimate(0.6, 0.55, 0.65), terms).verdict == "fail"
    assert judge_by_terms(estimate(0.75, 0.71, 0.79), terms) == JudgedFigure("pass", FloorAndAim(0.7, 0.7), "")


def test_in_a_gate_a_figure_is_shown_with_its_lines_and_decides_nothing_unless_it_is_broken():
    terms = JudgingTerms(declared=(0.5, 0.8), only_shown=True)
    assert terms.decides
    for shown in (estimate(0.3, 0.2, 0.4), estimate(0.6, 0.55, 0.7)):  # below the floor, and between it and the aim
        assert judge_by_terms(shown, terms) == JudgedFigure(None, HELD, "")
    assert judge_by_terms(estimate(float("nan"), 0, 1), terms).verdict == "error"


def test_a_check_without_lines_says_why_it_has_no_verdict():
    terms = JudgingTerms(unjudged="a picture")
    assert not terms.decides
    assert judge_by_terms(estimate(0.3, 0.2, 0.4), terms) == JudgedFigure(None, None, "a picture")


def test_a_pass_says_that_the_model_was_trained_on_the_data_and_a_failure_does_not():
    terms = JudgingTerms(declared=(0.5, 0.8), trained_on="mrpc")
    assert judge_by_terms(estimate(0.9, 0.85, 0.95), terms).reason == "trained on mrpc"
    assert judge_by_terms(estimate(0.3, 0.2, 0.4), terms).reason == ""


@pytest.mark.parametrize(("value", "verdict"), [(0.9, "fail"), (1.0, "inconclusive")])
def test_one_text_breaks_a_contract_and_few_do_not_keep_it(value, verdict):
    params = {"cause": "1 of 10 texts get another answer"} if value < 1 else {}
    metric = json.loads('"contract_kept"')  # as from a file: equal, but another object
    few = Estimate(metric, value, value, value, n=10, clusters=10, params=params)
    ruling = judge_by_terms(few, JudgingTerms(declared=(1.0, 1.0)))
    assert (ruling.verdict, params.get("cause", "only 10 independent") in ruling.reason) == (verdict, True)


@pytest.mark.parametrize(
    ("right", "read", "floor", "aim", "held"),
    [
        (252, 260, 0.5, 1.0, 0.969), (252, 260, None, 1.0, 0.969), (252, 260, 0.5, 0.8, 0.8), (1, 2, 0.5, 0.8, 0.5),
        (0, 0, 0.5, 1.0, 1.0),
    ],
)  # fmt: skip
def test_the_aim_of_generated_items_is_at_most_the_share_that_is_right(right, read, floor, aim, held):
    terms = JudgingTerms(declared=(floor, aim), validity=Validity("number", right, read))
    assert judge_by_terms(estimate(0.2, 0.1, 0.3), terms).lines == FloorAndAim(held, floor)


def test_items_that_are_right_less_often_than_the_floor_are_not_judged():
    terms = JudgingTerms(declared=(0.6, 0.8), validity=Validity("number", 111, 200))
    why = "not judged: blind readers found 55.5% of 200 such items right, below the floor of 0.6"
    assert judge_by_terms(estimate(0.9, 0.85, 0.95), terms) == JudgedFigure("inconclusive", FloorAndAim(0.8, 0.6), why)
