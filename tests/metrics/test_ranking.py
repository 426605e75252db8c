"""Ranking figures against scipy's (oracle file) and by hand; what fakes score is known before they do."""

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import spearmanr

from encheck.claims import Claim
from encheck.datasets.dataset import dataset_from_rows
from encheck.datasets.probes import embedded
from encheck.datasets.reader import PairRow
from encheck.encoders.fake import BagOfWords, Oracle, Overlap
from encheck.encoders.model_config import ModelConfig
from encheck.errors import NothingToMeasure, UsageError
from encheck.items.chains import PIVOTS, parse_pivot, rewrite_sources, swap_chains, unusual_tag_share_function
from encheck.items.variants import VariantMaker
from encheck.metrics.ranking import (
    accuracies_by_step,
    chain_figures,
    figures_by_overlap,
    fluency_figures,
    length_figures,
    mark_falling_rows,
    mark_first_on_top,
    mark_rise_at_step,
    mean_rank,
    mean_rejected_swaps,
    mean_word_overlap,
    order_rate,
    overlap_spearman,
    r_precision,
    rank_rows,
    select_test_chains,
    spearman,
    spearman_by_row,
    spearman_members,
    violation_rate,
)
from encheck.reporting.failures import failure_message
from encheck.running.model_under_test import ModelUnderTest
from encheck.running.scoring_session import ScoringSession
from encheck.scoring.chains import Chain
from encheck.scoring.frame import item_table
from encheck.scoring.pairs import TuningScores
from encheck.scoring.scores import ChainScores, Scale
from encheck.statistics.bootstrap import Resampler
from encheck.store import Store
from encheck.system.lock import no_locks
from encheck.system.terminal import Progress
from encheck.types import CheckResult, Edit, FloorAndAim

PAIRS = [
    ("The old gardener quietly planted red tulips and quickly watered dry ferns.",
     "Red tulips the old gardener quietly planted and dry ferns she quickly watered."),
    ("A tired nurse slowly closed the heavy door while a young doctor loudly opened a small window.",
     "While a young doctor loudly opened a small window, a tired nurse slowly closed the heavy door."),
    ("The angry farmer rarely sold fresh milk but often bought cheap bread.",
     "Fresh milk the angry farmer rarely sold, but cheap bread he often bought."),
]  # fmt: skip


@pytest.fixture
def told(shared_data):
    return json.loads((shared_data.parent / "oracles/ranking.json").read_text("utf-8"))


def chains(count, *, splits=("",), members=3):
    names = ["x"] * members
    return tuple(
        Chain(f"d/{i}", f"a{i}", f"b{i}", tuple(f"{x}{i}" for x in names), f"c{i}", "a", splits[i % len(splits)],
              overlap=i / count, unusual=(0.0, *[0.1] * members), rejected=("the same head",) * (i % 2))
        for i in range(count)
    )  # fmt: skip


def scores_of(values, *, items=None, **more):
    values = np.array(values, float)
    items = items or chains(len(values), members=values.shape[1] - 1)
    return ChainScores(values, items, Resampler([item.cluster for item in items]), Scale(0.0), **more)


def test_every_group_of_the_reference_is_met(told):
    values = np.array([group["scores"] for group in told["per_group"]], float)
    for ties, key in (("expected", "tie_expected"), ("strict", "strict"), ("optimistic", "tie_optimistic")):
        expected = [group[f"r_precision_{key}"] for group in told["per_group"]]
        assert mark_first_on_top(values, ties=ties) == pytest.approx(expected, abs=1e-12)
    expected = [np.nan if g["spearman_scipy"] is None else g["spearman_scipy"] for g in told["per_group"]]
    assert spearman_by_row(values) == pytest.approx(expected, abs=1e-12, nan_ok=True)


def test_every_permutation_of_the_reference_is_met(told):
    for key, expected in told["by_permutation"].items():
        order = [int(x) for x in key.split(",")]
        values = np.array([[-order.index(degree) for degree in (4, 3, 2, 1)]], float)
        assert spearman_by_row(values) == pytest.approx([expected["spearman"]])
        assert mark_first_on_top(values).tolist() == [expected["r_precision"]]


def test_means_over_groups_are_those_of_the_reference(told):
    whole = told["aggregate"]
    scores = scores_of(whole["groups"])
    assert r_precision(scores).value == pytest.approx(whole["mean_r_precision_expected"])
    assert r_precision(scores, ties="strict").value == pytest.approx(whole["mean_r_precision_strict"])
    assert spearman(scores).value == pytest.approx(whole["mean_spearman_constant_as_0"])
    assert spearman(scores).params == {"constant": 1.0}


@given(st.lists(st.lists(st.integers(0, 4), min_size=5, max_size=5), min_size=1, max_size=8))
def test_spearman_of_rows_is_scipys(rows):
    for row, found in zip(rows, spearman_by_row(np.array(rows, float)), strict=True):
        expected = spearmanr(row, [5, 4, 3, 2, 1]).statistic if len(set(row)) > 1 else np.nan
        assert found == pytest.approx(expected, nan_ok=True)


def test_shorter_chains_are_ranked_by_what_they_have():
    values = np.array([[0.9, 0.5, np.nan], [0.2, 0.5, np.nan], [0.9, 0.8, 0.7]])
    assert spearman_by_row(values) == pytest.approx([1, -1, 1])
    assert mark_first_on_top(values).tolist() == [1, 0, 1]
    assert mark_falling_rows(values).tolist() == [1, 0, 1]
    assert mark_rise_at_step(values, 2) == pytest.approx([np.nan, np.nan, 0], nan_ok=True)
    assert rank_rows(values)[:, 0].tolist() == [1, 2, 1]
    assert violation_rate(scores_of(values), step=2).n == 1


def test_a_scorer_that_cannot_tell_the_members_apart_gets_what_chance_gets():
    scores = scores_of(np.full((6, 4), 0.5))
    assert r_precision(scores).value == 0.25
    assert mean_rank(scores).value == 2.5
    assert violation_rate(scores, step=1).value == 0.5
    assert order_rate(scores).value == pytest.approx(1 / 24)
    assert spearman(scores).value == 0


def test_a_copy_lover_has_the_lowest_figures_there_are():
    scores = scores_of([[0.4, 1, 1, 1]] * 20)
    assert (r_precision(scores).value, mean_rank(scores).value) == (0, 4)
    assert spearman(scores).value == pytest.approx(-0.7746, abs=1e-4)
    assert spearman_members(scores).value == 0
    assert r_precision(scores).high == pytest.approx(1 - 0.025 ** (1 / 20), rel=0.15)  # of t


def test_the_threshold_comes_from_labelled_pairs_of_the_validation_part_and_not_from_chains():
    values = [[0.4, 0.6, 0.2, 0.2], [0.9, 0.4, 0.6, 0.1]]  # the chains' own best cut is 0.7
    tuned = TuningScores(np.array([0.9, 0.6, 0.4, 0.1]), np.array([1, 1, 0, 0], np.int8))
    found = list(accuracies_by_step(scores_of(values, tuning=tuned)))
    assert [e.value for e in found] == [0.5, 0.5, 0.5, 1]
    assert found[0].params == {"threshold": 0.5}
    assert [e.n for e in found] == [2] * 4
    assert next(accuracies_by_step(scores_of(values, tuning=tuned), threshold=0.3)).params["threshold"] == 0.3


def test_without_labelled_pairs_of_a_validation_part_there_is_no_accuracy_and_a_warning_says_why(caplog):
    assert list(accuracies_by_step(scores_of([[0.9, 0.1, 0.1, 0.1]] * 4))) == []
    assert "no labelled pairs of a validation part" in caplog.text


def test_what_a_trained_head_says_by_itself_stands_beside():
    scores = scores_of([[0.9, 0.6, 0.4, 0.2], [0.3, 0.6, 0.4, 0.2]], head_threshold=0.5)
    found = {e.metric: e for e in accuracies_by_step(scores)}
    assert [found[f"head_accuracy_{k}"].value for k in range(4)] == [0.5, 0, 1, 1]
    assert found["head_accuracy_0"].params["threshold"] == 0.5
    assert not any(e.metric.startswith("head") for e in accuracies_by_step(replace(scores, head_threshold=None)))


def test_only_the_test_part_is_measured_where_there_is_one():
    items = chains(4, splits=("validation", "test"))
    scores = scores_of([[0, 1, 1, 1], [1, 0, 0, 0]] * 2, items=items)
    assert r_precision(select_test_chains(scores)).value == 1
    assert select_test_chains(scores_of(np.eye(4))).values.shape == (4, 4)


def test_a_model_that_ranks_by_overlap_is_named():
    items = chains(30)
    values = np.array([[item.overlap, 0.5, 0.5, 0.5] for item in items])
    scores = scores_of(values, items=items)
    assert overlap_spearman(scores).value == pytest.approx(1)
    strata = {e.metric: e.value for e in figures_by_overlap(scores)}
    assert strata["r_precision_low_overlap"] == 0
    assert strata["r_precision_high_overlap"] == 1
    assert mean_word_overlap(scores).value == pytest.approx(np.mean([item.overlap for item in items]))


def test_a_model_is_named_where_the_whole_interval_says_that_it_ranks_by_overlap():
    items = chains(30)
    values = np.array([[item.overlap, 0.5, 0.5, 0.5] for item in items])
    assert overlap_spearman(scores_of(values, items=items)).params == {"ranks_by": "word overlap"}
    assert overlap_spearman(scores_of(np.roll(values, 7, axis=0), items=items)).params == {}


def test_length_and_surprisal_stand_beside_every_degree():
    members = ("a, and b c d e", "a, and b c d e f g h i j")
    item = Chain("d", "a", "b", members, "c", "b", edited="source", surprisal=(7.0, 8.0, 9.0))
    scores = scores_of([[0.9, 0.5, 0.4], [0.9, 0.5, np.nan]], items=(item, replace(item, members=members[:1])))
    assert [(e.metric, e.value, e.n) for e in length_figures(scores)] == [
        ("words_0", 1, 2),
        ("words_1", 6, 2),
        ("words_2", 11, 1),
    ]
    items = tuple(replace(i, unusual=(0.0,) * 4, surprisal=(5.0, 6.0, 7.0, 8.0)) for i in chains(3))
    found = {e.metric: e.value for e in fluency_figures(scores_of(np.eye(4)[:3], items=items))}
    assert [found[f"surprisal_{k}"] for k in range(4)] == [5, 6, 7, 8]
    assert not any(e.metric.startswith("surprisal") for e in fluency_figures(scores_of(np.eye(4), items=chains(4))))


def test_rejected_exchanges_are_counted_by_reason():
    found = mean_rejected_swaps(scores_of(np.eye(4), items=chains(4)))
    assert (found.value, dict(found.params)) == (0.5, {"the same head": 2.0})


def test_a_pivot_is_one_of_two():
    assert [parse_pivot(level) for level in PIVOTS] == ["a", "b"]
    with pytest.raises(UsageError, match="'c', but should be one of pivot=a, pivot=b"):
        parse_pivot("c")


def test_the_pivots_stand_beside_sentence_and_paraphrase():
    chain = Chain("d", "a", "b", ("b1", "b2"), "c", "a")
    assert chain.pairs_to_score == (("a", "b"), ("a", "b1"), ("a", "b2"))
    assert replace(chain, pivot="b").pairs_to_score == (("a", "b"), ("b1", "b"), ("b2", "b"))


@pytest.fixture(scope="module")
def maker():
    return VariantMaker()


@pytest.fixture(scope="module")
def own():
    return dataset_from_rows("own", [PairRow(a, b, 1) for a, b in PAIRS])


def run(model, data, maker, tmp_path, level, builder=None):
    subject = ModelUnderTest("m", ModelConfig("m"), model)
    session = ScoringSession({"m": subject}, {"d": data}, Store(tmp_path / "s.sqlite"), maker=maker)
    claim = Claim(builder or swap_chains())
    session.prepare([("m", "d", claim, level)], locks=no_locks, progress=Progress(quiet=True))
    return session.scores("m", "d", session.items("d", claim, level))


class Degrees(Oracle):
    """Knows the degree of every text: the one that is compared with is near to the first of the others, and so on."""

    def __init__(self, found, *, is_reversed=False):
        away = (6.0, 2.0, 0.8, 0.1) if is_reversed else (0.1, 0.8, 2.0, 6.0)
        meanings = {}
        for chain in found:
            pivot, nearest = (chain.source, chain.partner) if chain.pivot == "a" else (chain.partner, chain.source)
            meanings[pivot] = (chain.id, 0.0)
            meanings |= {t: (chain.id, d) for t, d in zip((nearest, *chain.members), away, strict=True)}
        super().__init__(meanings)


@pytest.mark.parametrize("level", PIVOTS)
def test_the_oracle_ranks_perfectly_and_a_reversed_one_fails(level, own, maker, tmp_path):
    items = swap_chains()(own, level, maker).included
    scores = run(Degrees(items), own, maker, tmp_path, level)
    assert len(scores.items) >= 2
    assert (r_precision(scores).value, order_rate(scores).value, spearman(scores).value) == (1, 1, 1)
    turned = run(Degrees(items, is_reversed=True), own, maker, tmp_path / "r", level)
    assert (r_precision(turned).value, order_rate(turned).value, spearman(turned).value) == (0, 0, -1)


@pytest.mark.parametrize("model", [BagOfWords(), Overlap()])
def test_a_model_of_words_without_order_ties_with_pivot_a_and_loves_copies_with_pivot_b(model, own, maker, tmp_path):
    ties = run(model, own, maker, tmp_path, "pivot=a")
    assert (r_precision(ties).value, spearman(ties).value) == (0.25, 0)
    copies = run(model, own, maker, tmp_path / "b", "pivot=b")
    changed = copies.select(np.flatnonzero([item.overlap < 1 for item in copies.items]))
    assert len(changed.items) >= 1
    assert r_precision(changed).value == 0
    assert spearman(changed).value == pytest.approx(-0.7746, abs=1e-4)


def test_chains_say_what_was_swapped_and_what_it_cost_in_fluency(own, maker, tmp_path):
    scores = run(BagOfWords(), own, maker, tmp_path, "pivot=a")
    for chain in scores.items:
        assert len({chain.partner, *chain.members}) == 4
        assert len(chain.unusual) == 4
        assert [len(edits) for edits in chain.edits] == [2, 4, 6]
    assert {e.metric for e in fluency_figures(scores)} >= {"unusual_tags_0", "unusual_tags_3", "rejected_swaps"}
    assert {e.metric for e in chain_figures(scores)} >= {
        "r_precision_strict",
        "spearman",
        "order_rate",
        "violation_rate_3",
    }


def test_what_is_left_out_is_counted(maker):
    rows = [PairRow(*PAIRS[0], 1, split="test"), PairRow(*PAIRS[1], 1, split="train")]
    rows += [
        PairRow("Dogs bark.", "Dogs bark!", 1, split="test"),
        PairRow(PAIRS[2][0], PAIRS[2][0], 1, split="validation"),
    ]
    found = swap_chains()(dataset_from_rows("own", rows), "pivot=a", maker)
    assert found.excluded == {
        "fewer than 3 groups of words with the same tag": 1,
        "not in the test part": 2,
    }
    assert [item.source for item in found.included] == [PAIRS[0][0]]


def test_rewrites_take_the_place_of_the_sentence_and_data_without_any_have_nothing_to_measure(own, maker):
    with pytest.raises(NothingToMeasure, match="no rewrite was written: give --back-translate: 3"):
        swap_chains(rewrite_sources)(own, "pivot=a", maker)
    groups = [group for group in embedded().groups if not group.is_contrast][:40]
    some = replace(embedded(), groups=groups)
    found = swap_chains(rewrite_sources)(some, "pivot=a", maker).included
    assert {item.source for item in found} <= {group.variant("rewrite").text for group in groups}
    plain = swap_chains()(some, "pivot=a", maker).included
    assert np.mean([i.overlap for i in found]) < np.mean([i.overlap for i in plain])


def test_pairs_of_tags_that_no_sentence_has_are_unusual(maker):
    share = unusual_tag_share_function(maker, [a for a, _ in PAIRS])
    assert share(maker.english.stored_parse(PAIRS[0][0]).tags) == 0
    assert share(["DT", "DT", "no tag", "DT"]) == 1


def columns_of(scores):
    return item_table(scores.to_item_frame("case", scores.items)).to_pydict()


def test_a_failure_shows_all_members_and_the_item_file_has_a_row_for_each(own, maker, tmp_path):
    scores = run(Overlap(), own, maker, tmp_path, "pivot=b")
    estimate = r_precision(scores)
    row = CheckResult("id", "check", "swapchain", "pivot=b", "m", "d", estimate, "fail", FloorAndAim(0.9))
    said = failure_message(row, scores.items, scores, model="--model=m")
    assert "0.25" in said or "0.00" in said
    assert said.count("member 3") == len(scores.items)
    assert scores.positions_worst_first()[0] in range(len(scores.items))
    table = columns_of(scores)
    assert len(table["item"]) == 3 * len(scores.items)
    assert table["source"][0] == scores.items[0].partner
    assert table["far"][2] == scores.items[0].members[2]
    assert len(json.loads(table["far_edits"][2])) == 6
    assert table["far_score"][:3] == scores.values[0, 1:].tolist()


def test_edits_of_the_other_side_are_not_claimed_to_be_of_this_one():
    item = Chain("d", "a", "b", ("c",), "c", "a", edits=((Edit(0, 1, "c"),),))
    scores = scores_of([[0.9, 0.1]], items=(item,))
    assert columns_of(scores)["far_edits"] == ["[]"]
    assert columns_of(replace(scores, items=(replace(item, pivot="b"),)))["far_edits"] != ["[]"]


def test_the_chain_whose_best_member_beats_the_paraphrase_most_is_the_worst():
    found = scores_of([[0.9, 0.8], [0.1, 0.3], [0.5, 0.6]])
    assert found.positions_worst_first() == [1, 2, 0]
