"""A verdict is never read off a point estimate."""

import pytest

from encheck.checks import test_antonym, test_paraphrase, test_synonym
from encheck.claims import claim_of
from encheck.types import Estimate
from encheck.verdict import MIN_CLUSTERS, judge, known_failure


def estimate(value, low, high, clusters=100):
    return Estimate("margin_rate", value, low, high, n=clusters, clusters=clusters)


@pytest.mark.parametrize(
    ("low", "high", "verdict"), [(0.8, 0.9, "pass"), (0.7, 0.79, "fail"), (0.79, 0.9, "inconclusive")]
)
def test_the_whole_interval_has_to_be_on_one_side(low, high, verdict):
    assert judge(estimate(0.85, low, high), 0.8)[0] == verdict


def test_a_known_failure_keeps_its_reason_and_a_stale_one_is_told_apart():
    assert judge(estimate(0.5, 0.4, 0.6), 0.8, known_failure="Table 3") == ("known_failure", "Table 3")
    assert judge(estimate(0.9, 0.85, 0.95), 0.8, known_failure="Table 3") == ("stale_known_failure", "Table 3")


def test_a_known_failure_does_not_hide_that_nothing_could_be_told():
    assert judge(estimate(0.8, 0.7, 0.9), 0.8, known_failure="Table 3")[0] == "inconclusive"


def test_too_few_clusters_decide_nothing():
    verdict, reason = judge(estimate(1, 0.9, 1, clusters=MIN_CLUSTERS - 1), 0.5)
    assert verdict == "inconclusive"
    assert str(MIN_CLUSTERS) in reason


def test_what_is_no_number_could_not_be_measured():
    assert judge(estimate(float("nan"), 0, 1), 0.5)[0] == "error"
    assert judge(estimate(0.5, float("nan"), float("nan")), 0.5)[0] == "error"


@pytest.mark.parametrize(
    ("test", "data", "is_known"),
    [
        (test_antonym.test_antonym_is_farther_than_paraphrase, "mrpc", True),
        (test_synonym.test_synonym_keeps_the_similarity, "mrpc", False),
        (test_paraphrase.test_paraphrase_is_nearer_than_non_paraphrase, "mrpc", False),
        (test_paraphrase.test_paraphrase_is_nearer_than_non_paraphrase, "paws", True),
    ],
)
def test_a_check_declares_the_failures_that_the_papers_know(test, data, is_known):
    declared = claim_of(test).known_failures
    assert bool(known_failure("any_name", data, "1", None, declared=declared)) == is_known


def test_a_models_own_entries_replace_the_default_ones():
    assert known_failure("antonym_is_farther_than_paraphrase", "mrpc", "1", {}, declared={"*": "the papers"}) is None
    own = {"jumble_*/mrpc/*": "broad", "jumble_is_farther_than_paraphrase/mrpc/1": "narrow"}
    assert known_failure("jumble_is_farther_than_paraphrase", "mrpc", "1", own) == "narrow"
    assert known_failure("jumble_is_farther_than_paraphrase", "mrpc", "2", own) == "broad"
