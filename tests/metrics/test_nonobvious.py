"""Non-obvious figures and correlations against scikit-learn, scipy, the authors' code and SemEval's own scorer."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import pearsonr, rankdata, spearmanr
from sklearn import metrics as sk

from encheck.datasets.dataset import dataset_from_rows
from encheck.datasets.reader import PairRow
from encheck.errors import NothingToMeasure, UsageError
from encheck.items.builders import graded_pairs
from encheck.items.variants import VariantMaker
from encheck.language.divergence import jensen_shannon_divergence
from encheck.metrics.correlation import (
    figures_by_set,
    mean_pearson,
    mean_spearman,
    pearson,
    spearman,
    weighted_mean_pearson,
    weighted_mean_spearman,
    weighted_pearson,
    weighted_spearman,
)
from encheck.metrics.nonobvious import (
    RULES,
    PredictedPairs,
    auc_divergence,
    auc_n,
    f1_gap,
    group_by_question,
    mean_average_precision,
    nonobvious_figures,
    predict_test_part,
    semeval_average_precision,
    threshold_figure,
    trivial_prediction_f1_n,
)
from encheck.metrics.thresholds import accuracy_objective, best_threshold, predict_by_cluster_folds
from encheck.scoring.pairs import CELLS, SentencePair, classify_by_divergence
from encheck.scoring.scores import PairScores, Scale
from encheck.scoring.splits import assign_folds
from encheck.statistics.bootstrap import Resampler


def scores_of(items, values, *, surface=()):
    resampler = Resampler([item.cluster for item in items])
    labels = np.array([1 if item.label is None else item.label for item in items], np.int8)
    return PairScores(np.array(values, float), labels, resampler, Scale(0.0), surface=dict(surface), items=tuple(items))


def cases(values, labels, divergence, predicted, splits=None):
    items = [SentencePair(f"d/{i}", "a", "b", y, str(i), "") for i, y in enumerate(labels)]
    items = [replace(item, split=s) for item, s in zip(items, splits or [""] * len(items), strict=True)]
    cells = classify_by_divergence(np.array(divergence, float), np.array(labels), [item.split for item in items])
    return PredictedPairs(scores_of(items, values), cells, np.array(predicted, float))


@pytest.fixture
def some():
    """300 pairs of which the lower divergence is positive more often, with scores that know a little."""
    rng = np.random.default_rng(3)
    divergence, labels = rng.random(300), rng.integers(0, 2, 300)
    values = labels * 0.5 - divergence + rng.normal(0, 0.5, 300)
    return cases(values, labels, divergence, values > -0.2)


def corpus(count=120, *, splits=("validation", "test")):
    """Pairs of distinct topics: positives share all, half or few of their words, negatives too."""
    rng = np.random.default_rng(5)
    items = []
    for i in range(count):
        words = [f"w{i}x{k}" for k in range(8)]
        kept = int(rng.integers(2, 8))
        second = words[:kept] + [f"v{i}x{k}" for k in range(8 - kept)]
        split = splits[i % len(splits)]
        items.append(SentencePair(f"own/{i}", " ".join(words), " ".join(second), i // len(splits) % 2, f"c{i}", split))
    return items


def overlap(items):
    return 1 - jensen_shannon_divergence([i.first for i in items], [i.second for i in items])


SCIKIT = {
    "tpr": lambda y, p: sk.recall_score(y, p),
    "tnr": lambda y, p: sk.recall_score(y, p, pos_label=0),
    "f1": lambda y, p: sk.f1_score(y, p),
    "accuracy": lambda y, p: sk.accuracy_score(y, p),
    "balanced": lambda y, p: sk.balanced_accuracy_score(y, p),
    "mcc": lambda y, p: sk.matthews_corrcoef(y, p),
}


@pytest.mark.parametrize("name", RULES)
def test_every_figure_at_a_threshold_is_scikit_learns(some, name):
    chosen = some.mask_of_cells(*RULES[name][0])
    expected = SCIKIT[name.partition("_")[0]](some.scores.labels[chosen], some.predicted[chosen])
    found = threshold_figure(some, name=name)
    assert found.value == pytest.approx(expected, abs=1e-9)
    assert found.low < found.value < found.high
    assert found.n == found.clusters == chosen.sum()


def test_the_figures_of_the_authors_code_come_out(shared_data):
    oracle = json.loads((shared_data.parent / "oracles/lexsim_pairs.json").read_text("utf-8"))
    rows = [p for p in oracle["pairs"] if p["jsd"] is not None]
    names = {"F1_o": "f1_o", "F1_n": "f1_n", "F1_all": "f1"} | {
        "Po": "tpr_o", "Pn": "tpr_n", "No": "tnr_o", "Nn": "tnr_n"
    }  # fmt: skip
    cells = np.array([CELLS.index(p["difficulty_subset_median"]) for p in rows])
    for system in oracle["systems"].values():
        predicted = [system["pred"][p["id"]] for p in rows]
        columns = [[p[k] for p in rows] for k in ("label", "jsd")]
        found = cases(predicted, *columns, predicted)
        found = replace(found, difficulty=replace(found.difficulty, cells=cells))
        for theirs, ours in names.items():
            expected = system["subset_median"]["unrounded"][theirs]
            value = expected["f1"] if isinstance(expected, dict) else expected
            assert threshold_figure(found, name=ours).value == pytest.approx(value, abs=1e-9)


def test_the_gap_is_the_difference_of_the_two_f1(some):
    f1_o, f1_n = (threshold_figure(some, name=name).value for name in ("f1_o", "f1_n"))
    assert f1_gap(some).value == pytest.approx(f1_o - f1_n)


def test_constant_predictions_flatter_f1_and_nothing_else(some):
    constant = replace(some, predicted=np.ones(300))
    n = some.difficulty.counts
    assert threshold_figure(constant, name="f1_n").value == pytest.approx(2 * n["Pn"] / (2 * n["Pn"] + n["Nn"]))
    assert threshold_figure(constant, name="balanced_accuracy_n").value == 0.5
    assert threshold_figure(constant, name="mcc").value == threshold_figure(constant, name="tnr_n").value == 0
    drawn = {line.metric: line.value for line in trivial_prediction_f1_n(some)}
    assert drawn["f1_n_always_positive"] == threshold_figure(constant, name="f1_n").value
    assert drawn["f1_n_always_negative"] == 0
    assert drawn["f1_n_random"] == pytest.approx(n["Pn"] / (n["Pn"] + (n["Pn"] + n["Nn"]) / 2))


def test_auc_n_is_scikit_learns_on_the_non_obvious_pairs(some):
    chosen = some.mask_of_cells(1, 3)
    found = auc_n(some)
    expected = sk.roc_auc_score(some.scores.labels[chosen], some.scores.values[chosen])
    assert found.value == pytest.approx(expected, abs=1e-6)
    assert found.low < expected < found.high
    assert found.params["median_scope"] == "split"
    assert [found.params[c] for c in CELLS] == list(some.difficulty.counts.values())


def test_auc_n_compares_within_a_split_only():
    labels, divergence = [1, 0, 1, 0, 1, 0, 1, 0], [0.9, 0.1, 0.1, 0.9, 0.5, 0.3, 0.3, 0.5]
    values = [0.9, 0.1, 0, 0, 0.01, 0.05, 0, 0]  # right in the first split, wrong in the second
    found = auc_n(cases(values, labels, divergence, np.ones(8), ["a"] * 4 + ["b"] * 4))
    assert found.value == 0.5


def test_one_minus_divergence_gets_0_by_construction():
    items = corpus(splits=("x", "y", "z"))
    found = auc_n(predict_test_part(scores_of(items, overlap(items))))
    assert (found.value, found.low, found.high) == (0, 0, 0)


def test_the_threshold_comes_from_validation_and_only_the_test_part_is_measured():
    items = corpus()
    values = np.array([i.label + (10 if i.split == "validation" else 0) for i in items], float)
    found = predict_test_part(scores_of(items, values))
    assert {i.split for i in found.scores.items} == {"test"}
    assert (found.params["threshold"], found.params["folds"]) == (10.5, 0)
    assert found.predicted.sum() == 0


def test_without_validation_thresholds_come_from_other_folds():
    items = corpus(splits=("",))
    found = predict_test_part(scores_of(items, overlap(items) + [i.label for i in items]))
    assert found.params["folds"] == 10
    assert len(found.scores.items) == len(items)


def test_training_pairs_are_not_measured_where_there_is_a_test_part():
    items = corpus(splits=("train", "train", "test", "test"))
    found = predict_test_part(scores_of(items, overlap(items)))
    assert {i.split for i in found.scores.items} == {"test"}
    assert found.params["folds"] == 10


def test_the_scope_is_recorded():
    items = corpus()
    found = auc_n(predict_test_part(scores_of(items, overlap(items)), scope=0.45))
    assert found.params["median_scope"] == "0.45"
    assert found.params["median[test]"] == 0.45


def test_a_fold_never_divides_a_cluster_and_none_is_empty():
    clusters = [f"c{i // 3}" for i in range(90)]
    fold = assign_folds(clusters)
    assert all(len(set(fold[i : i + 3])) == 1 for i in range(0, 90, 3))
    assert np.bincount(fold).tolist() == [9] * 10


def test_a_folds_threshold_does_not_see_its_own_pairs():
    clusters = [str(i) for i in range(20)]
    values, labels = np.arange(20.0), (np.arange(20) >= 10).astype(np.int8)
    before = predict_by_cluster_folds(values, labels, clusters).predicted
    other = predict_by_cluster_folds(
        values, np.where(np.arange(20) == 15, 0, labels).astype(np.int8), clusters
    ).predicted
    assert before[15] == other[15]


@pytest.mark.parametrize(("clusters", "labels"), [("aaaa", (0, 1, 0, 1)), ("aabb", (0, 1, 1, 1))])
def test_no_threshold_is_chosen_on_the_pairs_that_it_measures(clusters, labels):
    chosen = predict_by_cluster_folds(np.array([0.1, 0.9, 0.2, 0.8]), np.array(labels, np.int8), list(clusters))
    assert not chosen.has_all_predictions
    assert np.isnan(chosen.predicted[:2]).all()
    assert "threshold" not in chosen.estimate_params


@pytest.mark.parametrize(("objective", "scorer"), [(None, sk.f1_score), (accuracy_objective, sk.accuracy_score)])
def test_no_threshold_is_better_than_the_best(some, objective, scorer):
    values, labels = some.scores.values.round(1), some.scores.labels
    best = best_threshold(values, labels, **({"objective": objective} if objective else {}))
    tried = [scorer(labels, values >= t) for t in np.unique(values)]
    assert scorer(labels, values >= best) == pytest.approx(max(tried))


def test_data_without_non_obvious_pairs_are_not_measured():
    items = [SentencePair(f"own/{i}", f"a{i} b", f"a{i} b", 1, str(i)) for i in range(9)]
    with pytest.raises(NothingToMeasure, match="own has no pair that is Pn or Nn"):
        predict_test_part(scores_of(items, np.ones(9)))


def test_a_figure_on_an_empty_cell_is_left_out():
    rows = [(1, 0.2), (1, 0.8), (0, 0.1)] * 10
    labels, divergence = zip(*rows, strict=True)
    names = {f.metric for f in nonobvious_figures(cases(np.arange(30.0), labels, divergence, np.ones(30)))}
    assert {"f1", "f1_n", "tpr_o", "tnr_n", "auc_divergence", "f1_n_random"} <= names
    assert names.isdisjoint({"tnr_o", "f1_o", "f1_gap", "map"})


def test_a_split_that_says_nothing_of_the_label_is_named(caplog):
    rng = np.random.default_rng(0)
    items = [
        SentencePair(f"own/{i}", *[" ".join(rng.choice(list("abcdefgh"), 6)) for _ in "12"], i % 2, str(i))
        for i in range(400)
    ]
    found = predict_test_part(scores_of(items, rng.random(400)))
    assert auc_divergence(found).value == pytest.approx(0.5, abs=0.05)
    assert "own: word divergence does not predict the label (AUC 0." in caplog.text


def test_map_is_that_of_semevals_own_scorer(shared_data):
    folder = shared_data / "semeval2016_task3/SemEval2016_task3_submissions_and_scores"
    gold = folder / "_gold/SemEval2016-Task3-CQA-QL-test.xml.subtaskC.relevancy"
    true = {tuple(f[:2]): f[4].strip() == "true" for f in (x.split("\t") for x in gold.read_text().splitlines())}
    said = folder / "Kelp/subtask_C_primary.txt"
    rows = [line.split("\t") for line in said.read_text("utf-8").splitlines()]
    official = float(re.search(r"^MAP *: *\S+ +(\S+)", said.with_suffix(".txt.score").read_text(), re.MULTILINE)[1])
    items = [SentencePair(f"d/{i}", "q", "c", int(true[q, c]), q, key=f"{q}/{c}") for i, (q, c, *_) in enumerate(rows)]
    values = [float(row[3]) for row in rows]
    cells = classify_by_divergence(np.zeros(len(rows)), np.array([i.label for i in items]), [""] * len(rows))
    found = mean_average_precision(PredictedPairs(scores_of(items, values), cells, np.ones(len(rows))))
    assert found.value == pytest.approx(official, abs=5e-5)
    assert found.n == len({row[0] for row in rows})


def test_average_precision_is_scikit_learns_where_nothing_is_cut_off():
    rng = np.random.default_rng(1)
    values, labels = rng.random(10), rng.integers(0, 2, 10)
    assert semeval_average_precision(values, labels) == pytest.approx(sk.average_precision_score(labels, values))
    assert semeval_average_precision(values, np.zeros(10)) == 0


def test_pairs_without_keys_are_no_ranking():
    assert group_by_question(scores_of(corpus(8), np.ones(8))) == []


# correlations


def graded(count=60, *, sets=("",)):
    rng = np.random.default_rng(2)
    gold = rng.integers(0, 26, count) / 5
    names = [sets[i % len(sets)] for i in range(count)]
    items = [
        SentencePair(f"d/{i}", "a", "b", None, f"c{i // 2}", s, score=g)
        for i, (g, s) in enumerate(zip(gold, names, strict=True))
    ]
    return scores_of(items, (gold + rng.normal(0, 2, count)).round(1)), gold


def test_correlations_are_scipys():
    scores, gold = graded()
    assert spearman(scores).value == pytest.approx(spearmanr(scores.values, gold)[0], abs=1e-9)
    assert pearson(scores).value == pytest.approx(pearsonr(scores.values, gold)[0], abs=1e-9)
    assert spearman(scores).low < spearman(scores).value < spearman(scores).high
    assert (spearman(scores).n, spearman(scores).clusters) == (60, 30)


def test_a_replicate_is_what_scipy_gives_on_the_resampled_pairs():
    rng = np.random.default_rng(4)
    first, second = rng.integers(0, 9, 40).astype(float), rng.integers(0, 9, 40).astype(float)
    weights = rng.integers(0, 4, (25, 40))
    for i, drawn in enumerate(np.repeat(np.arange(40), w) for w in weights):
        one = weights[i : i + 1].astype(np.float32)
        assert weighted_spearman(first, second, one)[0] == pytest.approx(spearmanr(first[drawn], second[drawn])[0])
        assert weighted_pearson(first, second, one)[0] == pytest.approx(pearsonr(first[drawn], second[drawn])[0])


def test_an_orders_ranks_are_all_that_spearman_sees():
    scores, _ = graded()
    assert spearman(replace(scores, values=np.exp(scores.values))).value == pytest.approx(spearman(scores).value)
    by_rank = replace(scores, values=rankdata(scores.values))
    assert spearman(by_rank).value == pytest.approx(spearman(scores).value)


def test_the_weighted_mean_counts_a_set_by_its_pairs():
    scores, gold = graded(90, sets=("x", "y", "y"))
    parts = [np.flatnonzero(np.arange(90) % 3 == 0), np.flatnonzero(np.arange(90) % 3 != 0)]
    rho, r = ([f(scores.values[p], gold[p])[0] for p in parts] for f in (spearmanr, pearsonr))
    assert weighted_mean_spearman(scores).value == pytest.approx((30 * rho[0] + 60 * rho[1]) / 90)
    found = weighted_mean_pearson(scores)
    assert found.value == pytest.approx((30 * r[0] + 60 * r[1]) / 90)
    assert found.low < found.value < found.high


def test_the_mean_is_that_of_the_sets_and_all_is_not():
    scores, gold = graded(90, sets=("x", "y", "z"))
    parts = [np.arange(i, 90, 3) for i in range(3)]
    rho, r = ([f(scores.values[p], gold[p])[0] for p in parts] for f in (spearmanr, pearsonr))
    assert mean_spearman(scores).value == pytest.approx(np.mean(rho))
    assert mean_pearson(scores).value == pytest.approx(np.mean(r))
    assert mean_spearman(scores).params == {"sets": 3}
    each = {e.metric: e.value for e in figures_by_set(scores)}
    assert [each[f"spearman_{s}"] for s in "xyz"] == pytest.approx(rho)


def test_scores_that_do_not_vary_have_no_correlation():
    scores, _ = graded()
    flat = replace(scores, values=np.full(60, 0.1 + 0.2))
    assert np.isnan([spearman(flat).value, pearson(flat).value, spearman(flat).low]).all()


def test_a_pair_without_a_grade_is_refused():
    scores, _ = graded()
    with pytest.raises(UsageError, match="1 of 60 pairs have no score"):
        spearman(replace(scores, items=(replace(scores.items[0], score=None), *scores.items[1:])))


def test_graded_pairs_are_those_of_the_test_part():
    rows = [PairRow(f"a{i}", f"b{i}", None, s, score=float(i)) for i, s in enumerate(["train", "test", "test"])]
    found = graded_pairs(dataset_from_rows("d", [*rows, PairRow("c", "d", 1, "test")]), 1, VariantMaker())
    assert [p.split for p in found.included] == ["test", "test"]
    assert found.excluded == {"no score": 1, "not in the test part": 1}


def test_labels_alone_are_not_graded():
    with pytest.raises(NothingToMeasure, match="d has 0 pairs with a graded similarity"):
        graded_pairs(dataset_from_rows("d", [PairRow("a", "b", 1)]), 1, VariantMaker())


# as its users run it


@pytest.fixture
def run(pytester):
    def run(*args):
        return pytester.runpytest("--pyargs", "encheck.checks", "-p", "no:cacheprovider", *args)

    return run


def write(path, items):
    rows = [f"{i.first},{i.second},{i.label}" for i in items]
    path.write_text("\n".join(["first,second,label", *rows]))
    return f"--encheck-data=pairs:{path}"


def test_own_pairs_are_measured_with_the_scope_recorded(run, tmp_path):
    data = write(tmp_path / "own.csv", corpus())
    outcome = run(
        "-m",
        "nonobvious",
        "--encheck-model=overlap",
        data,
        f"--encheck-report-dir={tmp_path}",
        "--encheck-median-scope=0.4",
    )
    found = json.loads((tmp_path / "results.json").read_text("utf-8"))
    rows = {row["metric"]: row for row in found["checks"]}
    assert outcome.ret == 0  # the check has an aim and no floor
    assert (rows["auc_n"]["value"], rows["auc_n"]["verdict"]) == (0, "below_aim")
    assert rows["auc_n"]["params"]["median_scope"] == "0.4"
    assert rows["f1_n"]["params"]["folds"] == 10
    assert found["run"]["settings"]["median_scope"] == 0.4


def test_a_scope_that_leaves_no_non_obvious_pair_skips_the_check(run, tmp_path):
    outcome = run(
        "-m", "nonobvious", "--encheck-model=overlap", write(tmp_path / "own.csv", corpus()), "--encheck-median-scope=1"
    )
    outcome.stdout.fnmatch_lines(["*skipped: paraphrases in other words: pairs has no pair that is Pn*"])
    assert outcome.ret == 5


def test_pairs_of_one_label_are_skipped(run, tmp_path):
    same = [replace(item, label=1) for item in corpus()]
    outcome = run("-m", "nonobvious", "--encheck-model=overlap", write(tmp_path / "own.csv", same))
    outcome.stdout.fnmatch_lines(["*pairs has 0 pairs of label 0, but both classes*"])
    assert outcome.ret == 5


@pytest.mark.parametrize("scope", ["corpus", "1.5", "nan"])
def test_an_unknown_scope_is_one_message_and_exit_4(run, scope):
    outcome = run("-m", "nonobvious", "--encheck-model=oracle", f"--encheck-median-scope={scope}")
    assert outcome.ret == 4
    outcome.stderr.fnmatch_lines([f"*--median-scope is '{scope}', but should be split, dataset, or a divergence from*"])


def test_a_threshold_does_not_cut_between_equal_scores():
    """Were they cut, a part of the ties would look like the best prediction."""
    values, labels = np.array([0.9, 0.5, 0.5, 0.5, 0.5]), np.array([1, 1, 0, 0, 0], np.int8)
    assert best_threshold(values, labels) == pytest.approx(0.7)


def test_a_split_that_says_the_opposite_of_the_label_says_something(caplog):
    items = corpus()
    shared = overlap(items)
    labels = (shared < np.median(shared)) ^ (np.arange(len(items)) % 5 == 0)
    items = [replace(item, label=int(label)) for item, label in zip(items, labels, strict=True)]
    assert auc_divergence(predict_test_part(scores_of(items, shared))).value < 0.4
    assert "mean little here" not in caplog.text


@pytest.mark.parametrize("metric", [spearman, pearson, mean_spearman, mean_pearson])
def test_a_correlation_by_chance_is_zero(metric):
    assert metric.chance == 0
