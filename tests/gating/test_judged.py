"""Judged answers: what is asked, when it stops, what it decides, and what is kept."""

from dataclasses import replace

import numpy as np
import pytest

from encheck.errors import UsageError
from encheck.gating.unlabelled_search import (
    Judgements,
    JudgingPool,
    JudgingQuery,
    JudgingSample,
    decide_at_looks,
    decide_by_judgements,
    estimate_loss,
    judgements_path,
    loss_statistic,
    plan_looks,
    read_judgements,
    save_answers,
)
from encheck.statistics.hypothesis_tests import tango_z


def pool(queries=3_000, differ=426, *, seed=0, weights=None, pairs=None, clusters=None):
    """A log of which the first queries have other answers, by default each other documents."""
    return JudgingPool(
        tuple(
            JudgingQuery(f"i{i}", 1 if weights is None else int(weights[i]),
                          f"c{i}" if clusters is None else clusters[i],
                  f"q{i}", f"d{i if pairs is None else pairs[i]}",
                  f"e{i if pairs is None else pairs[i]}" if i < differ else f"d{i if pairs is None else pairs[i]}")
            for i in range(queries)
        ), seed)  # fmt: skip


def answered(found, old, new, ties):
    """That many answers to the first queries of the pool, evenly mixed."""
    counts = {"before": old, "after": new, "equal": ties // 2, "neither": ties - ties // 2}
    said = sorted(((j + 0.5) / count, name) for name, count in counts.items() for j in range(count))
    return {q.item: name for q, (_, name) in zip(found.order, said, strict=False)}


def test_looks_are_fixed_by_what_differs_and_not_by_answers():
    assert pool().looks == (20, 40, 80, 160, 254)
    assert pool(600, 90).looks == (20, 40, 90)
    assert pool(500, 12).looks == (12,)
    heavy = pool(weights=[50] * 40 + [1] * 2_960)
    assert heavy.looks[-1] == 426  # few of the answers count, so all are asked
    assert plan_looks(pool(500, 0).share, np.ones(0), delta=0.02) == ()


def test_how_the_old_and_the_new_answers_are_numbered_changes_nothing():
    """Queries that share an old or a new answer are no independent evidence, whatever the numbers of the answers."""
    rng = np.random.default_rng(0)
    old, new = rng.integers(0, 8, (2, 60))
    losses = np.sign(rng.normal(size=8)[old] + rng.normal(size=8)[new])
    other = rng.permutation(8)

    def statistic(*clusters):
        return float(loss_statistic(JudgingSample(0.2, 500.0, np.ones(60), clusters), losses, np.zeros(1))[0])

    z = statistic(old, new)
    assert z == pytest.approx(statistic(new, old))
    assert z == pytest.approx(statistic(other[old], other[new]))
    alone = np.arange(60)
    assert abs(z) < min(abs(statistic(old, alone)), abs(statistic(alone, new))) < abs(statistic(alone, alone))


def test_27_of_36_decisive_answers_block_as_soon_as_they_are_there():
    found = pool()
    said = decide_by_judgements(found, answered(found, 27, 9, 44), baseline="sbert")
    change = f"{-100 * said.loss:+.1f} points [{-100 * said.high:+.1f}, {-100 * said.low:+.1f}]"
    assert said.said.endswith(f" ({said.asked} judged): recall@1 changes by {change}")
    assert (said.outcome, said.asked, said.left) == ("block", 80, 0)
    assert said.favoured_in_words == "27 of 36 decisive answers favour sbert"
    assert said.loss == pytest.approx(0.142 * 18 / 80)
    assert 0 < said.low < said.loss < said.high
    assert len(said.lost) == 3
    assert {answered(found, 27, 9, 44)[item] for item in said.lost} == {"before"}
    more = answered(found, 27, 9, 44) | {q.item: "after" for q in found.order[80:120]}
    assert decide_by_judgements(found, more, baseline="sbert") == replace(said, answered=120, better=49)


def test_as_many_for_one_as_for_the_other_pass_once_a_loss_of_delta_is_ruled_out():
    found = pool()
    early = decide_by_judgements(found, answered(found, 20, 20, 40), baseline="b")
    assert (early.outcome, early.left) == ("inconclusive", 254 - 80)
    assert early.why == "at most 174 more answers decide"
    late = decide_by_judgements(found, answered(found, 40, 40, 80), baseline="b")
    assert (late.outcome, late.asked) == ("pass", 160)
    assert late.high < 0.02


def test_nothing_is_decided_between_looks_nor_across_a_gap():
    found = pool()
    all_old = {q.item: "before" for q in found.order[:19]}
    assert decide_by_judgements(found, all_old, baseline="b").outcome == "inconclusive"
    assert decide_by_judgements(found, all_old | {found.order[19].item: "before"}, baseline="b").outcome == "block"
    gap = all_old | {q.item: "before" for q in found.order[20:60]}
    said = decide_by_judgements(found, gap, baseline="b")
    assert (said.outcome, said.answered, said.left) == ("inconclusive", 19, 254 - 59)


def test_another_model_is_blocked_by_half_the_loss_that_has_to_be_ruled_out():
    found = replace(pool(), delta=0.04, least=0.02)
    said = decide_by_judgements(found, answered(found, 27, 9, 44), baseline="b")
    assert (said.outcome, said.why) == ("block", "the loss is certain, and is at least 2 points by this estimate")
    open_ = decide_by_judgements(
        found, answered(found, 24, 14, 42), baseline="b"
    )  # 1.8 points, and 4 are not ruled out
    assert (open_.outcome, open_.low < 0, open_.high > 0.04) == ("inconclusive", True, True)
    assert decide_by_judgements(found, answered(found, 12, 12, 40), baseline="b").outcome == "pass"


def test_the_best_of_many_candidates_takes_clearer_judgements():
    found = pool()
    one, many = (
        decide_by_judgements(replace(found, alpha=0.05 / k), answered(found, 27, 9, 44), baseline="b") for k in (1, 20)
    )
    assert (one.outcome, many.outcome) == ("block", "inconclusive")
    assert many.low < one.low < one.high < many.high


def test_what_people_said_of_these_queries_is_a_count_that_waits_for_no_look():
    found = pool(60, 11)
    said = decide_by_judgements(found, answered(found, 3, 7, 1), baseline="b")
    assert said.counts_in_words == "in these 60 queries: 7 better, 3 worse, 1 tie of 11 changed"
    some = decide_by_judgements(found, {q.item: "after" for q in found.order[2:4]}, baseline="b")
    assert (some.asked, some.counts_in_words) == (
        0,
        "in these 60 queries: 2 better, 0 worse, 0 ties of 11 changed (9 not judged)",
    )


@pytest.mark.parametrize(
    ("differ", "after"),
    [(426, [12, 14, 16, 18, 20]), (11, [7, 8, 9, 10, 11]), (4, [3, 4]), (1, [])],
)
def test_five_pairs_are_shown_again_before_the_first_look_and_not_at_once(differ, after):
    found = pool(600, differ)
    assert [count for _, count in found.repeats] == after
    places = [found.order.index(q) for q, _ in found.repeats]
    assert all(count - place > len(after) or differ < 11 for place, count in zip(places, after, strict=True))
    sides = [(q.is_swapped(0), q.is_swapped(0, again=True)) for q in pool().order]
    assert 150 < sum(first == second for first, second in sides) < 276


def test_a_certain_loss_that_is_small_passes():
    found = pool(3_000, 60)
    said = decide_by_judgements(found, answered(found, 24, 6, 30), baseline="b")
    assert said.outcome == "pass"
    assert said.loss == pytest.approx(18 / 3_000)


def test_what_is_neither_shown_nor_ruled_out_stays_open():
    found = pool(600, 60)
    said = decide_by_judgements(found, answered(found, 20, 12, 28), baseline="b")
    assert (said.outcome, said.asked, said.left) == ("inconclusive", 60, 0)
    assert "neither shown nor ruled out" in said.why


def test_without_clusters_and_weights_the_test_is_tangos_and_at_no_loss_the_sign_test():
    found = pool()
    losses = np.repeat([1.0, -1.0, 0.0], [27, 9, 44])
    z = loss_statistic(found.sample, losses, np.array([0.0]))
    assert z == pytest.approx(-tango_z(80, 9, 27, 0.0), rel=0.06)  # t in place of z
    assert z < 3.0
    assert estimate_loss(found.sample, losses) == pytest.approx(0.142 * 18 / 80)


def test_queries_that_lose_the_same_article_count_as_fewer():
    losses = np.repeat([1.0, -1.0, 0.0], [27, 9, 44])
    alone = pool()
    order = [int(q.item[1:]) for q in alone.order]
    pairs = np.arange(3_000)
    pairs[order[:27]] = 5_000 + np.arange(27) // 9
    together = pool(pairs=pairs)
    assert loss_statistic(together.sample, losses, np.zeros(1)) < 0.8 * loss_statistic(
        alone.sample, losses, np.zeros(1)
    )
    named = [f"c{i}" for i in range(3_000)]
    for at in order[:27]:
        named[at] = "one"
    by_log = pool(clusters=named)
    assert len(by_log.sample.clusters) == 1
    assert loss_statistic(by_log.sample, losses, np.zeros(1)) < 1.7


def test_heavy_queries_count_for_more_and_say_less():
    losses = np.repeat([1.0, 0.0], [10, 70])
    even, order = pool(), [int(q.item[1:]) for q in pool().order]
    weights = np.ones(3_000)
    weights[order[0]] = 100
    heavy = pool(weights=weights)
    assert estimate_loss(heavy.sample, losses) > 4 * estimate_loss(even.sample, losses)
    assert loss_statistic(heavy.sample, losses, np.zeros(1)) < loss_statistic(even.sample, losses, np.zeros(1))


def test_hardly_ever_blocked_without_a_loss_nor_passed_with_one_of_delta():
    rng = np.random.default_rng(1)
    found = pool()
    ends = {loss: [] for loss in (0.0, 0.02, 0.06)}
    for loss, outcomes in ends.items():
        mean = loss / 0.142
        for _ in range(300):
            drawn = rng.choice([1.0, -1.0, 0.0], p=[(0.6 + mean) / 2, (0.6 - mean) / 2, 0.4], size=254)
            outcomes.append(decide_at_looks(found.sample, found.looks, drawn, delta=0.02, least=0.02)[0])
    assert ends[0.0].count("block") <= 15
    assert ends[0.02].count("pass") <= 15
    assert ends[0.06].count("block") >= 290


def test_order_and_sides_are_random_by_seed_and_the_same_for_the_next_candidate():
    one, other = pool(), pool(seed=1)
    assert [q.item for q in one.order] != [q.item for q in other.order]
    sides = [q.is_swapped(0) for q in one.order]
    assert 150 < sum(sides) < 276
    later = JudgingPool(tuple(replace(q, after=f"{q.after}x") if q.differs else q for q in one.queries))
    assert [q.item for q in later.order] == [q.item for q in one.order]
    turned = [replace(q, before=q.after, after=q.before).is_swapped(0) for q in one.order]
    assert turned == [not side for side in sides]  # the same text stands first, whichever model gave it


# what is kept


def test_judgements_are_kept_as_qrels_and_found_by_what_was_shown(tmp_path):
    log = tmp_path / "log.txt"
    first, second = JudgingQuery("i1", 1, "", "q1", "aa", "bb"), JudgingQuery("i2", 1, "", "q2", "dd", "cc")
    save_answers(judgements_path(log), [(first, "before"), (second, "neither")])
    assert judgements_path(log).read_text() == (
        "query-id\tcorpus-id\tscore\tagainst\nq1\taa\t1\tbb\nq1\tbb\t0\taa\nq2\tcc\t0\tdd\nq2\tdd\t0\tcc\n"
    )
    known = read_judgements(judgements_path(log))
    assert known.answers_to([first, second]) == {"i1": "before", "i2": "neither"}
    assert known.answer_to(replace(first, before="bb", after="aa", item="other")) == "after"
    assert known.answer_to(replace(first, after="ee")) is None
    assert save_answers(judgements_path(log), [(first, "equal")]).answer_to(first) == "equal"
    assert save_answers(judgements_path(log), [(first, None)]).answers_to([first, second]) == {"i2": "neither"}
    assert read_judgements(tmp_path / "none") == Judgements({})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("query\tdocument\n", ":1: should have the columns query-id, corpus-id, score, against"),
        ("query-id\tcorpus-id\tscore\tagainst\nq\ta\t2\tb\n", ":2: the score is '2', but should be 0 or 1"),
        ("query-id\tcorpus-id\tscore\tagainst\nq\ta\t1\ta\n", ":2: should be two different documents"),
        ("query-id\tcorpus-id\tscore\tagainst\nq\ta\t1\tb\n", "has one row for documents a and b, but needs two"),
        ("\ud800", "cannot be read: line 1: is not UTF-8"),
    ],
)
def test_a_wrong_file_of_judgements_is_one_message_with_its_line(tmp_path, text, said):
    (tmp_path / "f").write_bytes(text.encode("utf-8", "surrogatepass"))
    with pytest.raises(UsageError, match=said):
        read_judgements(tmp_path / "f")
