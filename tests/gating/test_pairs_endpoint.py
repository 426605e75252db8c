"""The endpoint of a gate for pairs: thresholds from the negatives alone, and which positives each model accepts."""

import re

import numpy as np
import pytest
from scipy import stats

from encheck.errors import DataError
from encheck.gating.purpose import Purpose, PurposeFigures, compare_labelled_pairs, decide_for_purpose

LABELS = np.repeat([1, 0], [200, 1_000])
ALONE = np.arange(1_200)


def scored(positives, negatives, seed=0):
    """Scores of 200 positives and 1,000 negatives around these means, with a deviation of 1."""
    rng = np.random.default_rng(seed)
    return rng.normal(np.where(LABELS == 1, positives, negatives), 1.0)


def endpoint(old, new, *, labels=LABELS, things=ALONE, budget=0.02):
    return compare_labelled_pairs(old, new, labels=labels, things=things, budget=budget)


def test_each_model_has_its_own_threshold_and_the_hits_of_both_are_paired():
    old, new = scored(3, 0), 10 * scored(4, 0, seed=1)
    found = endpoint(old, new)
    assert (found.answer, found.reason) == ("compare", "")
    assert found.positives.tolist() == [*range(200)]
    for side, scores in ((found.old, old), (found.new, new)):
        assert side.hits.tolist() == (scores[:200] >= side.threshold).tolist()
        assert (scores[200:] >= side.threshold).sum() == side.promise.allowed > 0
    assert found.differences.tolist() == (found.new.hits - found.old.hits).tolist()
    low, high = found.interval()
    assert 0 < low < found.differences.mean() < high


def test_positives_choose_no_threshold():
    old, new = scored(3, 0), scored(4, 0, seed=1)
    found, other = endpoint(old, new), endpoint(old, np.where(LABELS == 1, new - 1, new))
    assert other.new.threshold == found.new.threshold
    assert other.new.hits.mean() < found.new.hits.mean()


@pytest.mark.parametrize(("size", "noted"), [(1, False), (20, True)])
def test_the_row_says_if_large_clusters_of_negatives_could_break_the_budget(size, noted):
    scores = scored(4, 0)
    scores[200:220] = 3.5
    things = np.where((ALONE >= 200) & (ALONE < 400), 200 + (ALONE - 200) // size, ALONE)
    figures = PurposeFigures([], [], {}, [], pairs={"mine": endpoint(scores, scores, things=things, budget=0.05)})
    (row,) = decide_for_purpose(Purpose("pairs"), figures).rows
    note = "; false accepts are within 5% unless the negatives of large clusters or popular texts score higher)"
    assert row.endpoint.endswith(note) is noted


def test_ties_are_accepted_together_or_not_at_all():
    scores = np.where(LABELS == 1, 0.9, 0.1)
    scores[200:230] = 0.9  # 3% of the negatives are where all positives are
    assert endpoint(scores, scores, budget=0.05).new.hits.all()
    assert endpoint(scored(4, 0), scores, budget=0.02).answer == "no"
    assert endpoint(scores, scores, budget=0.035).answer == "cannot tell"


@pytest.mark.parametrize("negatives", [2, 1_000])
def test_a_constant_score_is_no_threshold_however_few_negatives_there_are(negatives):
    n = 200 + negatives
    old = scored(4, 0)[:n]
    found = compare_labelled_pairs(old, np.full(n, 0.5), labels=LABELS[:n], things=ALONE[:n], budget=0.02)
    assert found.answer == "no"
    assert "no threshold of the candidate keeps 2%" in found.reason
    assert not found.new.hits.any()


def test_too_few_negatives_cannot_tell_and_say_how_many_it_takes():
    found = endpoint(scored(4, 0)[:300], scored(4, 0)[:300], labels=LABELS[:300], things=ALONE[:300])
    assert found.answer == "cannot tell"
    assert "149 independent negatives without one false accept: the 100 here count as" in found.reason


def test_negatives_that_share_a_text_count_for_less():
    by_four = np.concatenate([ALONE[:200], 200 + np.arange(1_000) // 4])
    alone, shared = endpoint(scored(4, 0), scored(4, 0)), endpoint(scored(4, 0), scored(4, 0), things=by_four)
    assert (alone.new.promise.effective, shared.new.promise.effective) == (1_000, 250)
    assert shared.new.threshold > alone.new.threshold
    two = np.column_stack([by_four, np.full(1_200, -1)])
    assert endpoint(scored(4, 0), scored(4, 0), things=two).new.threshold == shared.new.threshold


def test_an_old_model_without_a_threshold_has_no_hits():
    found = endpoint(scored(0, 0), scored(4, 0))
    assert found.answer == "compare"
    assert "the model in use has no threshold" in found.reason
    assert found.differences.tolist() == found.new.hits.tolist()


def test_a_model_that_has_no_threshold_is_no_worse_than_one_that_certainly_has_none_either():
    found = endpoint(scored(0, 0), scored(0, 0, seed=1), budget=0.005)
    assert (found.answer, found.old.threshold, found.new.threshold) == ("cannot tell", None, None)
    assert found.reason.endswith("No threshold of the model in use keeps this budget either")


@pytest.mark.parametrize("label", [0, 1])
def test_both_labels_are_needed(label):
    with pytest.raises(DataError, match=f"no pair has label {1 - label}"):
        endpoint(scored(4, 0), scored(4, 0), labels=np.full(1_200, label))


def test_a_threshold_that_breaks_the_budget_is_chosen_in_one_sample_of_twenty_at_most():
    broken = 0
    for seed in range(100):
        found = endpoint(scores := scored(4, 0, seed=seed), scores)
        broken += bool(stats.norm.sf(found.new.threshold) > 0.02)
    assert broken <= 9  # 5% of 100, and two of its standard errors


@pytest.mark.parametrize("agreement", [0, 0.9])
def test_of_two_equal_models_one_is_seldom_better_once_the_choice_of_thresholds_counts(agreement):
    wrong = np.zeros(2, int)
    for seed in range(100):
        old, own = scored(3, 0, seed=seed), scored(0, 0, seed=1_000 + seed)
        new = np.where(LABELS == 1, 3, 0) * (1 - agreement) + agreement * old + np.sqrt(1 - agreement**2) * own
        found = endpoint(old, new)
        low, high = found.sharing.change_interval(found.differences)
        for k, (a, b) in enumerate([(low[0], high[0]), found.interval()]):
            wrong[k] += not a <= 0 <= b
    assert wrong[0] > 15  # what takes the thresholds as given
    assert wrong[1] <= 9  # 5% of 100, and two of its standard errors


def test_where_no_positive_is_near_the_threshold_its_choice_costs_nothing():
    """The positives far above it, among the highest negatives, do not count as near."""
    negatives = np.linspace(1, 0, 1_000)
    old = np.concatenate([np.repeat([2.0, -1.0], 100), negatives])
    new = np.concatenate([np.linspace(1, 0.99, 100), np.full(100, -1.0), negatives])
    found = endpoint(old, new, budget=0.1)
    assert found.new.hits.sum() == 100
    assert found.threshold_variance == 0


def test_a_loss_of_a_third_of_the_hits_is_seen():
    found = endpoint(scored(3, 0), scored(2, 0, seed=1))
    low, high = found.interval()
    assert -1 < low < found.differences.mean() < high < -0.1


def test_positives_that_share_one_thing_have_no_interval():
    found = endpoint(scored(3, 0), scored(4, 0), things=np.where(LABELS == 1, 0, ALONE))
    assert found.interval() == (-1, 1)


def test_an_open_endpoint_says_how_many_labels_would_decide():
    """Of twenty samples of so many labels, most decide."""
    old, new = scored(3, 0), scored(3, 0, seed=1)
    said = endpoint(old, new).labels_needed(0.04, alpha=0.05, fewest=20)
    positives, negatives = (int(text.replace(",", "")) for text in re.findall(r"[\d,]+", said))
    assert said == f"about {positives:,} positives and {negatives:,} negatives would decide"
    assert negatives == pytest.approx(5 * positives, rel=0.01)
    labels, rng, decisions = np.repeat([1, 0], [positives, negatives]), np.random.default_rng(5), 0
    lost = endpoint(old, new).differences.mean()
    for _ in range(20):
        before, after = (rng.normal(np.where(labels == 1, 3, 0), 1.0) for _ in range(2))
        found = endpoint(before, after, labels=labels, things=np.arange(len(labels)))
        low, high = found.interval()
        decisions += bool(low > -0.04 or high < 0)
    assert decisions >= 10, (said, lost)


@pytest.mark.parametrize(("seed", "margin"), [(2, 0.04), (4, 0.04), (5, 0.2)], ids=["block", "pass", "pass a loss"])
def test_the_labels_that_would_decide_are_those_that_shrink_the_error_so_far(seed, margin):
    found = endpoint(scored(3, 0), scored(3, 0, seed=seed))
    loss, (low, high) = -found.differences.mean(), found.interval()
    wanted = max(loss, min(margin - loss, (margin / 2 - loss) * (1.96 + 0.84) / 0.84)) / (1.96 + 0.84)
    positives = 200 * ((high - low) / (2 * 1.96) / wanted) ** 2
    said = found.labels_needed(margin, alpha=0.05, fewest=20)
    assert int(re.search(r"[\d,]+", said)[0].replace(",", "")) == pytest.approx(positives, rel=1e-3, abs=1)


def test_without_a_threshold_it_takes_negatives():
    few = endpoint(scored(4, 0)[:300], scored(4, 0)[:300], labels=LABELS[:300], things=ALONE[:300])
    said = few.labels_needed(0.04, alpha=0.05, fewest=20)
    assert said == "about 149 independent negatives would decide whether it has a threshold"
    one = endpoint(scored(3, 0), scored(4, 0), things=np.where(LABELS == 1, 0, ALONE))
    assert one.labels_needed(0.04, alpha=0.05, fewest=20) == "positives that share fewer texts would decide"


FEW = {"labels": LABELS[181:], "things": ALONE[181:]}  # 19 positives
NO_THRESHOLD = {"labels": LABELS[:300], "things": ALONE[:300]}


@pytest.mark.parametrize("tried", [1, 3])
@pytest.mark.parametrize(
    ("found", "outcome", "why"),
    [
        (endpoint(scored(3, 0), scored(5, 0, seed=1)), "pass", ""),
        (
            endpoint(scored(5, 0), scored(3, 0, seed=1)), "block",
            "100.0% to 79.0% (-21.0 points [LOW, HIGH]): a loss is certain",
        ),
        (
            endpoint(scored(3, 0), scored(3, 0, seed=1)), "inconclusive",
            "81.0% to 79.0% (-2.0 points [LOW, HIGH]): a loss of 4 points cannot be ruled out; NEEDED",
        ),
        (
            endpoint(scored(3, 0)[181:], scored(5, 0, seed=1)[181:], **FEW), "inconclusive",
            "fewer than 20 positives; NEEDED",
        ),
        (endpoint(scored(4, 0)[:300], scored(4, 0)[:300], **NO_THRESHOLD), "inconclusive", "REASON; NEEDED"),
        (
            endpoint(scored(4, 0), np.r_[scored(4, 0)[:200], np.full(24, 9.0), np.zeros(976)]), "inconclusive",
            "REASON; more negatives would rather show that it has none",
        ),
        (endpoint(scored(5, 0), np.full(1_200, 0.5)), "block", "REASON"),
        (endpoint(np.full(1_200, 0.5), np.full(1_200, 0.5)), "inconclusive", "REASON"),
    ],
    ids=["better", "worse", "open", "few-positives", "few-negatives", "over-budget", "no-threshold", "neither"],
)  # fmt: skip
def test_the_component_of_pairs_decides_by_the_interval_of_the_candidates_that_were_tried(found, outcome, why, tried):
    figures = PurposeFigures([], [], {}, [], pairs={"mine": found})
    decision = decide_for_purpose(Purpose("pairs", tried=tried), figures)
    (row,) = decision.rows
    assert (decision.outcome, row.outcome, row.alpha) == (outcome, outcome, pytest.approx(0.05 / tried))
    assert (row.low, row.high) == found.interval(1 - (1 - 0.95) / tried)
    needed = found.labels_needed(0.04, alpha=row.alpha, fewest=20)
    ends = {"LOW": f"{100 * row.low:+.1f}", "HIGH": f"{100 * row.high:+.1f}"}
    for word, text in {**ends, "NEEDED": needed, "REASON": found.reason}.items():
        why = why.replace(word, text)
    assert row.why == why
