"""Other people's prediction files: read strictly, laid beside the right pairs, scored as the official scorers do."""

import json
import re
from dataclasses import replace
from itertools import combinations

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, balanced_accuracy_score, f1_score, matthews_corrcoef
from typer.testing import CliRunner

from encheck.cli import app
from encheck.comparing.predictions import (
    Predictions,
    align_predictions,
    prediction_lines,
    random_average_precision,
    read_predictions,
    score_predictions,
)
from encheck.datasets.dataset import dataset_from_rows
from encheck.datasets.load import load
from encheck.datasets.reader import PairRow
from encheck.errors import DataError, UsageError
from encheck.metrics.nonobvious import semeval_average_precision

RUNS = "semeval2016_task3/SemEval2016_task3_submissions_and_scores"
OFFICIAL = ["Kelp/subtask_A_primary", "UH-PRHLT/subtask_B_primary", "_baseline/subtask_C_baseline_false"]
MORE = [
    "SemanticZ/subtask_A_contrastive2", "_baseline/subtask_A_baseline_random", "overfitting/subtask_B_primary",
    "ICL00/subtask_B_primary", "ECNU/subtask_B_primary", "SUper_team/subtask_C_primary", "ConvKN/subtask_C_primary",
]  # fmt: skip


def ranking(questions=30, candidates=4, seed=0):
    """A made-up ranking data set, keyed like SemEval's."""
    rng = np.random.default_rng(seed)
    words = "goat river lamp kettle tram oak clock ship baker roof".split()
    rows = []
    for q in range(questions):
        for c in range(candidates):
            first, second = (" ".join(rng.choice(words, 5)) + f" {q} {c}" for _ in range(2))
            rows.append(PairRow(first, second, int(rng.integers(0, 2)), "A", f"Q{q}", key=f"Q{q}/Q{q}_R{c}"))
    return dataset_from_rows("own", rows)


def table(tmp_path, text, name="p.csv"):
    (tmp_path / name).write_bytes(text.encode("utf-8"))
    return tmp_path / name


def run_of(data, scores, *, divider="\t", end="\n"):
    rows = (
        divider.join([*p.key.split("/"), "0", f"{s:.6f}", str(bool(s > 0.5)).lower()])
        for p, s in zip(data.pairs, scores, strict=True)
    )
    return end.join(rows) + end


# reading


def test_a_table_may_hold_predictions_scores_or_both(tmp_path):
    both = read_predictions(table(tmp_path, "prediction,score,note\n1,0.9,x\n0,-2,y\n"))
    assert (both.predicted.tolist(), both.scores.tolist(), both.keys) == ([1, 0], [0.9, -2], ())
    assert read_predictions(table(tmp_path, "score\n1e-3\n")).predicted is None
    assert read_predictions(table(tmp_path, "prediction\ntrue\nfalse\n")).scores is None


def test_tsv_and_json_lines_are_read_too(tmp_path):
    assert read_predictions(table(tmp_path, "\ufeffprediction\tscore\r\n1\t3\r\n", "p.tsv")).scores.tolist() == [3]
    found = read_predictions(table(tmp_path, '{"prediction": 0}\n{"prediction": true}\n', "p.jsonl"))
    assert found.predicted.tolist() == [0, 1]


@pytest.mark.parametrize(("divider", "end"), [("\t", "\n"), ("\t", "\r\n"), (" ", "\n"), ("   ", "\n\n")])
def test_a_semeval_run_is_read_by_its_fields_whatever_divides_them(tmp_path, divider, end):
    data = ranking()
    scores = np.random.default_rng(1).random(len(data.pairs)).round(6)
    found = read_predictions(table(tmp_path, run_of(data, scores, divider=divider, end=end), "run.txt"))
    assert found.keys == tuple(p.key for p in data.pairs)
    assert found.scores.tolist() == scores.tolist()
    assert found.predicted.tolist() == (scores > 0.5).astype(float).tolist()


def test_a_run_of_trec_has_scores_by_its_ids(tmp_path):
    data = ranking()
    lines = [f"{p.key.partition('/')[0]} Q0 {p.key.partition('/')[2]} {n} {1 / n:.4f} mine\n"
             for n, p in enumerate(data.pairs, 1)]  # fmt: skip
    for text in ("".join(lines), "".join(lines[::-1]).replace(" ", "\t").replace("\tQ0\t", "\t0\t")):
        found = read_predictions(table(tmp_path, text, "run.trec"))
        assert (found.predicted, {*found.keys}) == (None, {p.key for p in data.pairs})
        at, rows = align_predictions(found, data.pairs)
        assert found.scores[rows].tolist() == [float(f"{1 / (n + 1):.4f}") for n in at]
    with pytest.raises(DataError, match=r"run\.txt:2: 5 fields, but should be 6: query id, Q0, document id"):
        read_predictions(table(tmp_path, lines[0] + lines[1].replace(" mine", ""), "run.txt"))


def test_json_and_parquet_are_read_too(tmp_path):
    assert read_predictions(table(tmp_path, '[{"score": 1}, {"score": 0.5}]', "p.json")).scores.tolist() == [1, 0.5]
    pyarrow.parquet.write_table(pyarrow.table({"score": [1, 0.5]}), tmp_path / "p.parquet")
    assert read_predictions(tmp_path / "p.parquet").scores.tolist() == [1, 0.5]


BAD = {
    "an empty file": ("", "p.csv", "has no predictions"),
    "a header alone": ("prediction\n", "p.csv", "has 0 predictions"),
    "no known column": ("label\n1\n", "p.csv", "p.csv:1: no column prediction or score"),
    "a prediction that is none": ("prediction\n1\n2\n", "p.csv", "p.csv:3: the prediction is '2'"),
    "a score that is none": ("score\nhigh\n", "p.csv", "p.csv:2: the score is 'high'"),
    "a score that is NaN": ("score\n1\nnan\n", "p.csv", "p.csv:3: the score is 'nan'"),
    "a truth value for a score": ('{"score": true}\n', "p.jsonl", "p.jsonl:1: the score is True"),
    "a missing value": ('{"score": 1}\n{"prediction": 1}\n', "p.jsonl", "p.jsonl:1: the prediction is None"),
    "too many fields": (
        "prediction\n1,2\n",
        "p.csv",
        "p.csv:2: 2 fields, but the header has 1. Fix the row: every pair needs",
    ),
    "two columns of one name": ("score,score\n1,0\n", "p.csv", "p.csv:1: two columns are called 'score'"),
    "an ending that says nothing": ("prediction\n1\n", "p.xls", "unknown file ending '.xls'"),
    "a run with a short line": ("Q1 R1 0 0.5 true\nQ1 R2 0.5 true\n", "r.txt", "r.txt:2: 4 fields, but should be 5"),
    "a run with another label": ("Q1 R1 0 0.5 true\nQ1 R2 0 1 Good\n", "r.txt", "r.txt:2: the prediction is 'Good'"),
    "a run with a candidate twice": ("Q1 R1 0 0.5 true\nQ1 R1 0 1 true\n", "r.txt", "1 candidates more than once"),
}


@pytest.mark.parametrize(("text", "name", "problem"), BAD.values(), ids=BAD.keys())
def test_a_bad_file_is_refused_with_its_line(tmp_path, text, name, problem):
    with pytest.raises(DataError, match=re.escape(problem)):
        score_predictions(read_predictions(table(tmp_path, text, name)), ranking())


# alignment


def test_a_run_is_matched_by_its_ids_in_whatever_order_it_comes():
    data = ranking()
    order = np.random.default_rng(2).permutation(len(data.pairs))
    given = Predictions("run", np.zeros(len(order)), order.astype(float), tuple(data.pairs[i].key for i in order))
    at, rows = align_predictions(given, data.pairs)
    assert given.scores[rows].tolist() == at.tolist() == list(range(len(order)))


def test_a_run_covers_the_splits_that_it_names_and_no_other():
    rows = [PairRow(f"a {i}", f"b {i}", i % 2, "AB"[i % 2], key=f"Q{i}/R{i}") for i in range(10)]
    data = dataset_from_rows("own", rows)
    keys = tuple(p.key for p in data.pairs if p.split == "B")
    at, _ = align_predictions(Predictions("run", np.ones(5), np.ones(5), keys), data.pairs)
    assert {data.pairs[i].split for i in at} == {"B"}


def test_missing_and_surplus_candidates_are_counted():
    data = ranking()
    keys = (*(p.key for p in data.pairs[3:]), "Q99/R1")
    with pytest.raises(DataError, match="match no pair of the data, and 3 of 120 pairs have none; the first is Q0/"):
        align_predictions(Predictions("run", None, np.ones(len(keys)), keys), data.pairs)


def test_rows_without_ids_have_to_be_as_many_as_the_pairs_and_splits_are_named():
    data = ranking()
    with pytest.raises(DataError, match=r"has 7 predictions, but the data have 120 pairs \(A: 120\).*--split"):
        align_predictions(Predictions("p.csv", np.ones(7), None), data.pairs)
    with pytest.raises(UsageError, match=r"unknown split 'test'.*Available: A"):
        align_predictions(Predictions("p.csv", np.ones(7), None), data.pairs, split="test")


def test_a_split_of_data_without_splits_is_told_that_they_name_none():
    data = replace(ranking(), pairs=tuple(replace(pair, split="") for pair in ranking().pairs))
    with pytest.raises(UsageError, match="no split 'test': the data name no splits; leave --split out"):
        align_predictions(Predictions("p.csv", np.ones(7), None), data.pairs, split="test")


# figures


def test_figures_are_scikit_learns():
    data = ranking()
    predicted = np.random.default_rng(3).integers(0, 2, len(data.pairs)).astype(float)
    found = {e.metric: e for e in score_predictions(Predictions("p", predicted, None), data).figures}
    labels = [p.label for p in data.pairs]
    assert found["f1"].value == pytest.approx(f1_score(labels, predicted))
    assert found["accuracy"].value == pytest.approx(accuracy_score(labels, predicted))
    assert found["balanced_accuracy"].value == pytest.approx(balanced_accuracy_score(labels, predicted))
    assert found["mcc"].value == pytest.approx(matthews_corrcoef(labels, predicted))
    assert all(e.low <= e.value <= e.high for e in found.values())
    assert "map" not in found
    assert found["f1"].clusters == 30


def test_a_threshold_cuts_the_scores_and_goes_before_the_files_predictions():
    data = ranking()
    scores = np.random.default_rng(4).random(len(data.pairs))
    given = Predictions("p", np.zeros(len(scores)), scores)
    assert (
        score_predictions(given, data, threshold=0.7).cases.predicted.tolist() == (scores >= 0.7).astype(float).tolist()
    )
    with pytest.raises(DataError, match=r"no column score, so --threshold 0.7 does not apply"):
        score_predictions(Predictions("p", np.zeros(len(scores)), None), data, threshold=0.7)


def test_scores_alone_are_cut_at_thresholds_of_other_folds():
    data = ranking()
    params = score_predictions(
        Predictions("p", None, np.random.default_rng(5).random(len(data.pairs))), data
    ).cases.params
    assert params["folds"] == 10


def test_pairs_without_a_label_are_left_out_and_counted():
    data = dataset_from_rows("own", [PairRow("a b", "a c", 1), PairRow("d", "e", 0), PairRow("f", "g", None)])
    found = score_predictions(Predictions("p", np.array([1, 0, 1.0]), None), data)
    assert found.excluded == 1
    assert len(found.cases.predicted) == 2
    with pytest.raises(DataError, match="no label for any of the pairs"):
        score_predictions(Predictions("p", np.ones(1), None), dataset_from_rows("own", [PairRow("f", "g", None)]))


@given(st.integers(1, 8), st.integers(0, 8), st.integers(1, 9))
def test_the_random_baseline_of_map_is_the_mean_over_all_orders(candidates, relevant, depth):
    relevant = min(relevant, candidates)
    ranked = -np.arange(candidates, dtype=float)
    orders = [np.isin(range(candidates), at).astype(int) for at in combinations(range(candidates), relevant)]
    expected = np.mean([semeval_average_precision(ranked, labels, depth=depth) for labels in orders])
    assert random_average_precision(candidates, relevant, depth=depth) == pytest.approx(expected)


# against the official scorer, and the paper


@pytest.fixture(scope="module")
def subtasks():
    return {}


@pytest.mark.parametrize("name", [*OFFICIAL, *(pytest.param(name, marks=pytest.mark.long) for name in MORE)])
def test_runs_score_as_the_official_scorer_has_it(shared_data, subtasks, name):
    task = name.partition("subtask_")[2][0]
    if task not in subtasks:
        subtasks[task] = load(f"semeval-cqa:{shared_data}/semeval2016_task3#{task}", sample=None)
    found = score_predictions(read_predictions(shared_data / RUNS / f"{name}.txt"), subtasks[task])
    said = (shared_data / RUNS / f"{name}.txt.score").read_text("utf-8")
    mean_ap, _, _, _, _, f1, accuracy = map(float, re.search(r"ALL SCORES:\s+(.+)", said)[1].split())
    figures = {e.metric: e.value for e in found.figures}
    assert [figures["map"], figures["f1"], figures["accuracy"]] == pytest.approx([mean_ap, f1, accuracy], abs=5.1e-5)


def test_always_positive_on_mrpc_gets_what_its_cells_say(shared_data):
    data = load(f"mrpc:{shared_data}/mrpc", sample=None)
    found = score_predictions(Predictions("p", np.ones(1725), None), data, split="test")
    cells = found.cases.difficulty.counts
    assert cells == {"Po": 713, "Pn": 434, "No": 428, "Nn": 150}
    figures = {e.metric: e.value for e in found.figures}
    assert figures["f1"] == pytest.approx(2 * 1147 / (2 * 1147 + 578))
    assert figures["f1_o"] == pytest.approx(2 * 713 / (2 * 713 + 428))
    assert figures["f1_n"] == pytest.approx(2 * 434 / (2 * 434 + 150))
    assert (figures["tpr_n"], figures["tnr_n"], figures["mcc"], figures["balanced_accuracy"]) == (1, 0, 0, 0.5)
    assert {metric: beside["always_positive"] for metric, beside in found.baselines.items()} == pytest.approx(figures)


def test_the_cells_of_semeval_2017_b_are_table_7s_but_for_the_missing_subjects(shared_data):
    data = load(f"semeval-cqa:{shared_data}/semeval2017_task3", sample=None)
    run = read_predictions(shared_data / "semeval2017_task3/mappsent_subtaskB.pred")
    cells = score_predictions(run, data).cases.difficulty.counts
    table_7 = {"Po": 125, "Pn": 38, "No": 403, "Nn": 314}  # from the rates of its random and its all-positive column
    assert all(abs(cells[name] - count) <= 2 for name, count in table_7.items())


# the command


@pytest.fixture
def encheck(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return lambda *args: CliRunner().invoke(app, ["run", *args])


def test_the_command_prints_a_table_and_writes_json(encheck, tmp_path):
    rows = [f"the {w} {i},the {w} {'' if i % 3 else 'not '}{i},{i % 2}" for i, w in enumerate(["lamp", "oak"] * 30)]
    table(tmp_path, "first,second,label\n" + "\n".join(rows) + "\n", "own.csv")
    table(tmp_path, "prediction\n" + "1\n" * 60)
    outcome = encheck("--data", "pairs:own.csv", "--predictions", "p.csv", "--json", "out.json")
    assert outcome.exit_code == 0, outcome.output
    assert "100.0% predicted positive" in outcome.output
    found = json.loads((tmp_path / "out.json").read_text("utf-8"))
    assert found["figures"]["f1"]["value"] == pytest.approx(2 / 3)
    assert found["figures"]["f1"]["baselines"]["always_positive"] == pytest.approx(2 / 3)
    assert sum(found["cells"].values()) == found["pairs"] == 60


def test_a_wrong_file_is_one_line_and_exit_4(encheck, tmp_path):
    table(tmp_path, "first,second,label\na,b,1\nc,d,0\n", "own.csv")
    table(tmp_path, "prediction\n1\n")
    outcome = encheck("--data", "pairs:own.csv", "--predictions", "p.csv")
    assert outcome.exit_code == 4
    assert "p.csv has 1 predictions, but the data have 2 pairs" in outcome.output
    assert "median-scope" in encheck("--data", "probes", "--predictions", "p.csv", "--median-scope", "x").output


def test_the_table_sets_every_figure_beside_constant_and_random_predictions():
    data = ranking()
    found = score_predictions(Predictions("p", None, np.random.default_rng(6).random(len(data.pairs))), data)
    said = list(prediction_lines(found))
    assert said[0].startswith("120 pairs (Po ")
    assert "(mean of 10 folds)" in said[1]
    assert re.search("always positive +always negative +random", said[2])
    assert [line.split()[0] for line in said[3:]] == [e.metric for e in found.figures]
    assert {"f1_n", "tnr_n", "auc_n", "map"} <= set(found.baselines)
