"""Queries that nobody judged: how many answers change bounds recall, and what a gate makes of it."""

from dataclasses import replace

import numpy as np
import pytest
from gate_fakes import frame, gate_row
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from encheck.gating.comparison import GateComparison
from encheck.gating.decision import decide_by_rows
from encheck.gating.gate_rows import LostQuery
from encheck.gating.types import ChangedQuery, GateAgainst, PairedRow
from encheck.gating.unlabelled_search import (
    AnswerChanges,
    advise_on_open_search,
    count_changed_answers,
    estimate_changed_share,
    is_unlabelled_log,
)
from encheck.metrics.search import ndcg_by_query, recall_by_query
from encheck.reporting import terminal
from encheck.reporting.gate import record, words
from encheck.reporting.gate.words import outcome_word, reason_lines
from encheck.scoring.documents import Answers
from encheck.scoring.frame import CaseScores

DOCUMENTS = 14
ROWS = st.permutations(range(DOCUMENTS))


def exact(hits, n):
    """Clopper and Pearson's interval, by scipy."""
    found = binomtest(hits, n).proportion_ci(method="exact")
    return found.low, found.high


def answered(rows, right=()):
    """The answers of a ranking of all documents, where these are right."""
    return Answers(tuple((rows.index(row) + 1, 1) for row in right), first=tuple(rows[:10]))


def table(firsts, *, weights=None, clusters=None, scores=0.5):
    """Queries of a log whose first ten answers these are."""
    n = len(firsts)
    names = tuple(f"q{i}" for i in range(n))
    return CaseScores(
        "logged/help/1", "logged", "retrieval", "help", "1", "pair", names, names,
        tuple(clusters or names), ("",) * n, (None,) * n, np.full(n, scores), np.full(n, np.nan),
        answers=tuple(str(Answers((), first=tuple(first))) for first in firsts), weights=tuple(weights or (1,) * n),
    )  # fmt: skip


def pair_of_tables(n, changed, **how):
    """Two tables of `n` queries, of which the first `changed` find another document first."""
    before = [tuple(range(10))] * n
    after = [(1, 0, *range(2, 10))] * changed + before[changed:]
    return table(before, **how), table(after, **how)


@given(st.lists(st.tuples(ROWS, ROWS, st.sets(st.integers(0, DOCUMENTS - 1), min_size=1)), min_size=1, max_size=8))
def test_whatever_is_right_recall_moves_by_no_more_than_the_share_that_changed(found):
    before = [answered(old, right) for old, _, right in found]
    after = [answered(new, right) for _, new, right in found]
    change = AnswerChanges.of(before, after)
    for figure, changed in (
        (lambda some: recall_by_query(some, cut=1), change.first),
        (lambda some: recall_by_query(some, cut=10), change.ten),
        (ndcg_by_query, change.order),
    ):
        step = np.abs(figure(after) - figure(before))
        assert (step[~changed] < 1e-12).all()
        assert abs(float(figure(after).mean() - figure(before).mean())) <= changed.mean() + 1e-12


def test_a_query_counts_as_often_as_it_was_asked_and_is_one_query_all_the_same():
    changed = np.array([True] + [False] * 99)
    names = [str(i) for i in range(100)]
    once = estimate_changed_share("recall@1", "", changed, np.ones(100), names)
    assert (once.value, once.queries) == (0.01, 1)
    assert (once.low, once.high) == pytest.approx(exact(1, 100))
    often = estimate_changed_share("recall@1", "", changed, np.array([99.0] + [1.0] * 99), names)
    assert often.value == 0.5
    assert often.high - often.low > 0.6  # one query says little of the others
    assert often.queries == 1


def test_a_cluster_counts_as_one_query_of_its_weight():
    changed = np.repeat([True, False], [10, 190])
    together = estimate_changed_share("", "", changed, np.ones(200), [str(i // 10) for i in range(200)])
    apart = estimate_changed_share("", "", changed, np.ones(200), [str(i) for i in range(200)])
    assert together.value == apart.value == 0.05
    assert (together.low, together.high) == pytest.approx(exact(1, 20))
    assert together.high > apart.high


def test_true_shares_lie_above_the_upper_end_in_few_samples():
    """A share of 2 points passes in at most some 2.5%; weights of a log that few queries dominate make it rarer."""
    rng = np.random.default_rng(0)
    for weights in (np.ones(600), np.minimum(rng.zipf(2.2, 600), 300).astype(float)):
        names = np.arange(600).astype(str)
        passed = [
            estimate_changed_share("", "", rng.random(600) < 0.02, weights, names).high < 0.02 for _ in range(400)
        ]
        assert np.mean(passed) <= 0.035


def test_search_passes_without_a_label_where_hardly_an_answer_changes():
    few = count_changed_answers(*pair_of_tables(2_000, 10))
    assert few.passes
    assert few.said == "the first answer changes for 0.5% of queries [0.2, 0.9]: recall@1 moves by 0.9 points at most"
    decision = decide_by_rows((), moved=(few,))
    assert (decision.outcome, decision.reasons) == ("pass", ())


def test_search_cannot_be_told_where_more_answers_change():
    many = count_changed_answers(*pair_of_tables(3_000, 426))
    assert not many.passes
    assert many.said == (
        "the first answer changes for 14.2% of queries [13.0, 15.5]: recall@1 moves by 15.5 points at most"
    )
    decision = decide_by_rows((), moved=(many,))
    assert decision.outcome == "inconclusive"
    assert "for 426 queries another document comes first" in decision.reasons[0]
    assert decide_by_rows((), moved=(many,), contracts=("it broke",)).outcome == "block"


def test_no_change_in_few_queries_is_no_proof_unless_the_scores_are_the_same():
    before, after = pair_of_tables(100, 0)
    assert count_changed_answers(before, after).same
    assert count_changed_answers(before, after).passes
    other = count_changed_answers(before, replace(after, near=after.near + 0.01))
    assert (other.same, other.passes) == (False, False)
    assert other.said == "none of these 100 first answers changes; of all others, at most 3.6% do"
    assert other.why == "ruling out a loss of 2 points takes 183 queries"
    heavy = count_changed_answers(
        *(table([(0, 1)] * 100, weights=[9] * 20 + [1] * 80, scores=score) for score in (0.5, 0.6))
    )
    assert heavy.why.endswith("takes 183 queries, but these count as only 40 independent ones")
    assert count_changed_answers(*(table([(0, 1)] * 200, scores=score) for score in (0.5, 0.6))).passes


def few(queries, changed, **bars):
    """What a gate for another model knows of a short log."""
    found = count_changed_answers(*pair_of_tables(queries, changed), **{"delta": 0.04, "least": 0.02, **bars})
    return found if changed else replace(found, same=False, shares=tuple(_of_others(found)))


def _of_others(found):
    """The shares of answers that stay while scores move."""
    table_ = [(0, 1)] * found.queries
    return count_changed_answers(*(table(table_, scores=score) for score in (0.5, 0.6)), delta=0.04).shares


def test_few_queries_of_which_none_changes_say_how_many_of_others_may():
    sixty = few(60, 0)
    assert sixty.said == "none of these 60 first answers changes; of all others, at most 6.0% do"
    assert (
        advise_on_open_search(sixty, "x")
        == "31 more queries of the log decide, if none of their first answers changes either"
    )
    assert [few(n, 0).passes for n in (90, 91)] == [False, True]


def test_an_open_log_asks_for_what_decides_sooner_judgements_or_queries():
    too = "(if the models are about equal, it takes {} more queries of the log too)"
    asked = "for 11 queries another document comes first: judge these 11"
    assert advise_on_open_search(few(60, 11), "encheck judge r") == f"{asked} {too.format(550)}: encheck judge r"
    assert advise_on_open_search(few(600, 60), "encheck judge r").startswith(
        "for 60 queries another document comes first: judge these 60: "
    )
    assert advise_on_open_search(few(120, 2), "encheck judge r").endswith("if their first answers change as rarely")
    assert advise_on_open_search(few(500, 1), "x") == ""
    assert advise_on_open_search(few(600, 60), "").endswith(
        "more queries of the log decide, with judgements of those that change"
    )


def test_the_best_of_several_candidates_has_wider_ends():
    one, five = (count_changed_answers(*pair_of_tables(300, 4), delta=0.04, alpha=0.05 / k) for k in (1, 5))
    assert (one.passes, five.passes) == (True, False)


def test_order_and_content_of_the_first_ten_are_told_apart():
    before = table([(0, 1, 2), (0, 1, 2), (0, 1, 2)])
    after = table([(0, 2, 1), (0, 1, 3), (0, 1, 2)])
    shares = {one.figure: one.value for one in count_changed_answers(before, after).shares}
    assert shares == pytest.approx({"recall@1": 0, "recall@10": 1 / 3, "nDCG@10": 2 / 3})
    assert is_unlabelled_log(before)
    assert not is_unlabelled_log(replace(before, weights=()))


def test_what_cannot_be_told_names_the_command_that_decides():
    many = count_changed_answers(*pair_of_tables(300, 60))
    decision = GateAgainst(**vars(decide_by_rows((), moved=(many,))), baseline="base")
    shown = record.gate_with_texts([GateComparison(decision)], None, record.GateEvidence(folder="reports/a run"))
    assert (shown.outcome, shown.exit_code) == ("inconclusive", 10)
    (against,) = shown.against
    assert outcome_word(against) == "INCONCLUSIVE"
    told = list(reason_lines(against))
    assert told[1].startswith("For 60 queries another document comes first: judge these 60 (if the models")
    assert told[1].endswith(": encheck judge 'reports/a run'")
    assert sum("the first answer changes" in text for text in told) == 1
    lines = list(terminal.gate_lines(shown))
    purpose = "for a changed model (no behaviour may be lost)"
    assert lines[0] == f"gate against base, {purpose}: INCONCLUSIVE. {told[1]}"
    last = f"GATE: INCONCLUSIVE. {told[1]}"
    assert list(words.gate_headlines(shown)) == [last]
    assert sum("judge these 60" in line for line in lines) == 1


def test_a_proxy_blocks_and_is_no_evidence():
    n = 300
    figures = np.ones(n), np.ones(n), np.arange(n)
    easy = PairedRow("retrieval/help/known", "retrieval", "mean", *figures, 0.02, proxy="easier")
    kept = decide_by_rows((easy,))
    assert (kept.outcome, kept.rows[0].evidence) == ("inconclusive", False)
    assert "optimistic proxy (easier): it can block" in kept.rows[0].why
    worse = np.where(np.arange(n) < 60, 0.0, 1.0)
    assert decide_by_rows((replace(easy, candidate=worse),)).outcome == "block"


def test_lost_queries_say_what_came_first_before_and_now():
    items = {"c/m-d-1": replace(frame([0.5], None), ids=("i1",), sources=("where  is it?",))}
    documents = {"c/d/1": {0: ("a", "x" * 300), 1: ("b", "Here.")}}
    (found,) = record.changed_queries_of([LostQuery("i1", "c/d/1", 1, 0)], items, documents)
    assert found == ChangedQuery("where is it?", "Here.", f"{'x' * 157}...")
    (older,) = record.changed_queries_of([LostQuery("i1", "c/d/1", None, 1)], items, documents)
    assert older.before.startswith("not kept")
    assert list(record.loss_lines(gate_row("r", lost_queries=(found,))))[1] == "  first before: Here."


@pytest.mark.parametrize("text", ["[[[1, 2]], 3, 4]", "[[], 0, 0, [7, 2]]", "[[[2, 1]], 0, 0, [7, 2], 1]"])
def test_answers_are_read_as_older_and_newer_files_have_them(text):
    assert str(Answers.parse(text)) == text


def test_what_is_less_than_matters_does_not_look_like_as_much():
    close = count_changed_answers(*pair_of_tables(500, 4))
    assert (close.passes, round(100 * close.shares[0].high, 2)) == (False, 2.04)
    near = count_changed_answers(*pair_of_tables(520, 4))
    assert near.passes
    assert near.said.endswith("[0.2, 1.96]: recall@1 moves by 1.96 points at most")
