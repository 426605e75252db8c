"""The published tables hold together, every number is accounted for, and docs/reproduction.md is what is recorded."""

import json
import sys
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from recorded import result, run_file

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "recipes"))
import papers_claims as claims
import papers_measure as measure
import papers_ours as ours
import papers_overlap as overlap
import papers_page as page
import papers_pictures as pictures
import papers_published as published
import papers_runs as runs
from papers_draws import balanced_draw
from papers_ours import Figure, Label, Measured
from papers_text import text_figures

import papers
from encheck import load_data
from encheck.datasets import mrpc
from encheck.datasets.dataset import dataset_from_rows
from encheck.datasets.reader import PairRow
from encheck.errors import DataError

ROOT = Path(__file__).resolve().parents[2]
RANGES = {
    "percent": (0, 100), "correlation x100": (-100, 100), "share": (0, 1), "cosine": (-1, 1), "kappa": (-1, 1),
    "cosine difference": (-1, 1), "coefficient": (0, 3), "seconds": (0, 1_000), "gain": (-100, 100),
    "count": (1, 1e9), "count, rounded": (100, 1e9), "setting": (0, 100),
}  # fmt: skip
GAPS = {
    ("000", "T1"): 1, ("000", "S3"): 3, ("001", "T3"): 77, ("001", "T7"): 80, ("001", "T8"): 2, ("002", "T3"): 4,
    ("003", "A2"): 21,
}  # fmt: skip


@pytest.fixture(scope="module")
def recorded():
    return ours.read()


@pytest.mark.parametrize("paper", published.PAPERS)
def test_each_printed_number_stands_once_in_its_range_and_names_what_exists(paper):
    cells = published.published(paper)
    assert [key for key, count in Counter(cell.address for cell in cells).items() if count > 1] == []
    about = published.protocols()[paper]
    for cell in cells:
        low, high = RANGES[cell.unit]
        assert low <= cell.value <= high, cell
        assert not cell.unit.startswith("count") or cell.value == int(cell.value), cell
        assert not cell.plus_minus or 0 < float(cell.plus_minus) < 5, cell
        assert cell.table in about["tables"]
        assert {"what", "command", "lacks"} >= {*about["protocols"][cell.protocol]} >= {"what", "command"}
    assert {cell.protocol for cell in cells} == {*about["protocols"]}


@pytest.mark.parametrize("paper", published.PAPERS)
def test_tables_are_whole_grids_but_for_their_known_gaps(paper):
    for table in {cell.table for cell in published.published(paper)}:
        cells = [cell for cell in published.published(paper) if cell.table == table]
        rows, columns = {cell.row for cell in cells}, {cell.column for cell in cells}
        empty = len(rows) * len(columns) - len(cells)
        assert empty == GAPS.get((paper, table), 0), table


def test_what_does_not_follow_within_a_paper_is_listed_as_its_error():
    found = {(paper, *cell.address) for paper in published.PAPERS for _, cell, _ in published.contradictions(paper)}
    listed = {(e.paper, *e.address): e for e in published.errors()}
    assert found == {key for key, error in listed.items() if error.kind != "known"}
    printed = {(cell.paper, *cell.address): cell.value for cell in page.all_cells()}
    assert all(printed[key] == float(error.stated) for key, error in listed.items())


def test_a_slip_in_a_table_would_contradict_its_paper(monkeypatch):
    cells = published.published("003")
    at = next(i for i, cell in enumerate(cells) if cell.address == ("T3", "MRPC: difference", "USE"))
    slipped = published.Cell(**{**vars(cells[at]), "shown": "0.21"})
    monkeypatch.setattr(published, "published", lambda _paper: (*cells[:at], slipped, *cells[at + 1 :]))
    found = [(cell.address, round(expected, 2)) for _, cell, expected in published.contradictions("003")]
    assert (("T3", "MRPC: difference", "USE"), 0.11) in found


def test_every_printed_number_has_one_of_ours_or_a_reason(recorded):
    silent = [(c.paper, *c.address) for c in page.all_cells() if not page.account(c, recorded)]
    assert silent == []


def test_patterns_and_reasons_are_all_of_use():
    reasons = published.protocols()["reasons"]
    used = {published.lacks(cell) for cell in page.all_cells()}
    assert {key for key, reason in reasons.items() if reason not in used} == set()
    assert {*published.protocols()["short"]} <= {*reasons}


def test_claims_name_figures_that_the_papers_print():
    for paper in published.PAPERS:
        for table, about in published.tables(paper).items():
            for claim, (theirs, _) in page.claims(paper, table, []):
                assert theirs.pairs >= len(claim["than"]) or claim.get("theirs") is False, (paper, table, claim)
                assert 2 * theirs.holds > theirs.pairs or claim.get("theirs") is False, (paper, table, claim)
            assert about["title"]


def test_the_page_is_what_is_recorded(recorded):
    said = (ROOT / "papers/docs/reproduction.md").read_text("utf-8")
    assert said == page.page(recorded), "run python papers/recipes/papers.py all --write"


def made(*figures, model="sbert", labels=None, paper="000"):
    return Measured(paper, "swap chains", model, "encheck run", figures, labels or {})


def test_ours_stand_beside_the_row_that_they_stand_for_and_say_how_they_differ():
    labels = {"mine": Label(("SBERTv1",), ("model",))}
    one = made(Figure("T5", "mine", "PAWS-Wiki R-Precision", 26.8, 20.7, 33.6, 298, is_tuned=True), labels=labels)
    cell = next(c for c in published.published("000") if c.address == ("T5", "SBERTv1", "PAWS-Wiki R-Precision"))
    assert page.account(cell, [one]) == "stand-in"
    text = page.table_section("000", "T5", [one])
    assert "| mine | **26.8** [20.7, 33.6] † |" in text
    assert "- *mine* stands for SBERTv1: another model." in text
    assert "| 298 |" in text


def test_a_record_is_read_back_and_a_new_measurement_takes_the_place_of_the_old(tmp_path):
    old = made(Figure("T5", "a", "b", 1 / 3, n=7)).dated()
    new = made(Figure("T5", "a", "b", 0.5), labels={"a": Label(("BERT",), ())})
    file = tmp_path / "ours.json"
    ours.write(ours.merged([old], [made(Figure("T5", "a", "b", 1.0), model="other")]), file)
    assert [one.figures[0].value for one in ours.read(file)] == [1.0, 0.333333]
    assert ours.merged(ours.read(file), [new])[1] == new


TABLE = {
    ("low", "x"): Figure("T5", "low", "x", 1, 0.8, 1.2), ("high", "x"): Figure("T5", "high", "x", 2, 1.9, 2.1),
    ("low", "y"): Figure("T5", "low", "y", 4, 3, 5), ("high", "y"): Figure("T5", "high", "y", 3),
}  # fmt: skip


@pytest.mark.parametrize(
    ("claim", "holds"),
    [
        ({"along": "columns", "than": [["high | *", "low | *"]]}, (1, 2, 1, 1)),
        ({"along": "columns", "than": [["high | *", "low | *"]], "except": ["y"]}, (1, 1, 1, 1)),
        ({"along": "rows", "than": [["* | x", 1.5]]}, (1, 2, 1, 2)),
        ({"than": [["low | y", "low | x"], ["low | nowhere", "low | x"]]}, (1, 1, 1, 1)),
        ({"than": [[500, "low | y"]], "scale": 100}, (1, 1, 0, 1)),
    ],
)
def test_claims_count_the_pairs_that_are_there(claim, holds):
    side = claims.Beside(ours.Ours(TABLE, {}, ()), claims.Theirs(()))
    assert claims.held(claim, side) == claims.Held(*holds)


def papers_file(folder, name, *, seed, value, told=(), **more):
    cell = {"paper": "002", "table": "T5", "row": "(|u-v|)", "column": "MSRP", "value": value, "n": 1725, **more}
    (folder / name).write_text(
        json.dumps({"seed": seed, "model": "sbert", "papers": [cell], "f1": value, **dict(told)})
    )


def test_training_runs_become_a_mean_over_seeds_with_its_error_and_interval(tmp_path):
    for seed, value in enumerate((80.0, 81.0, 82.0)):
        papers_file(tmp_path, f"{seed}.json", seed=seed, value=value)
    (tmp_path / "config.json").write_text('{"layers": 6}')
    (one,) = runs.measured(tmp_path)
    (figure,) = one.figures
    assert (figure.row, figure.value, figure.n) == ("(|u-v|), all-MiniLM-L6-v2", 81.0, 3)
    assert figure.error == pytest.approx(0.57735, abs=1e-5)
    assert (figure.low, figure.high) == pytest.approx((81 - 2.4841, 81 + 2.4841), abs=1e-3)
    assert "**81.0** ± 0.58 [78.5, 83.5]" in page.table_section("002", "T5", [one])
    assert [*runs.described([one])] == ["002, training runs, T5, MSRP, sbert: 1 figure of 3 seeds"]


def test_a_table_names_the_commands_of_its_own_figures_each_once(tmp_path):
    for name, table, row, seed in (("a", "T5", "(|u-v|)", 0), ("b", "T5", "(|u-v|)", 1), ("c", "T2", "PAS+SBERT", 0)):
        papers_file(tmp_path, f"{name}.json", seed=seed, value=80.0, table=table, row=row)
        told = json.loads((tmp_path / f"{name}.json").read_text())
        (tmp_path / f"{name}.json").write_text(json.dumps({**told, "command": f"python train_{table}.py"}))
    found = {one.tables()[0]: page.table_section("002", one.tables()[0], [one]) for one in runs.measured(tmp_path)}
    assert {table: said.count("`python train_") for table, said in found.items()} == {"T5": 1, "T2": 1}
    assert "train_T2" in found["T2"]
    assert "train_T5" in found["T5"]


def test_one_seed_has_no_interval(tmp_path):
    papers_file(tmp_path, "a.json", seed=3, value=80.0)
    assert runs.measured(tmp_path)[0].figures[0] == Figure("T5", "(|u-v|), all-MiniLM-L6-v2", "MSRP", 80.0, n=1)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"paper": "009"}, "paper '009', but should be one of 000, 001"),
        ({"table": "T99"}, "table 'T99' of 002 is none of T2, T4"),
        ({"value": "80"}, "papers.0.value: Input should be a valid number"),
        ({"value": float("nan")}, "papers.0.value: Input should be a finite number"),
    ],
)
def test_a_run_that_fits_no_table_is_named(tmp_path, change, said):
    papers_file(tmp_path, "a.json", **{"seed": 0, "value": 80.0} | change)
    with pytest.raises(DataError, match=rf"a\.json: .*{said}"):
        runs.measured(tmp_path)


def test_seeds_that_were_trained_otherwise_are_no_seeds_of_one_figure(tmp_path):
    head_file(tmp_path, "mrpc", 0)
    head_file(tmp_path, "mrpc", 1, rate=5e-5)
    with pytest.raises(
        DataError, match=r"1/results\.json: other seeds of T5, .*, MSRP were trained otherwise \(rate\)"
    ):
        runs.measured(tmp_path)


def test_later_runs_on_other_data_take_no_recorded_figure_away(tmp_path):
    for folder, data in (("first", "mrpc"), ("second", "pit2015")):
        head_file(tmp_path / folder, data, 0)
    before, later = (runs.measured(tmp_path / folder) for folder in ("first", "second"))
    found = {(f.table, f.column) for one in ours.merged(before, later) for f in one.figures}
    assert {("T5", "MSRP"), ("T5", "PIT-2015")} < found


def test_a_seed_that_is_there_twice_and_a_file_cut_off_are_named(tmp_path):
    papers_file(tmp_path, "a.json", seed=0, value=80.0)
    papers_file(tmp_path, "b.json", seed=0, value=81.0)
    with pytest.raises(DataError, match=r"b\.json: seed 0 of T5, \(\|u-v\|\), MSRP is there twice"):
        runs.measured(tmp_path)
    (tmp_path / "b.json").write_text('{"seed": 1, "pap')
    with pytest.raises(DataError, match=r"b\.json is not whole, .* is not JSON: .*let its recipe make it again"):
        runs.measured(tmp_path)


def head_file(folder, data, seed, *, features=("|u-v|", "u*v"), f1=0.8, flips=0.0, told="train", rate=2e-5):
    folder = folder / data / "-".join(features).replace("|", "") / str(seed)
    folder.mkdir(parents=True)
    settings = {"model": "sbert", "features": list(features), "data": data, "seed": seed}
    settings |= {"rate": rate, "head_rate": 0.005, "bf16": True}
    test = {"f1": f1, "accuracy": 0.7, "flips": flips, "n": 1725}
    (folder / "results.json").write_text(
        json.dumps({"settings": settings, "test": test, "parts": {"train": {"from": told}}})
    )
    (folder / "config.json").write_text("[1]")


def test_trained_heads_stand_in_the_tables_that_have_their_row(tmp_path):
    for seed in (0, 1):
        head_file(tmp_path, "mrpc@glue", seed, f1=0.80 + seed / 50)
        head_file(tmp_path, "twitter-url@held-out", seed)
        head_file(tmp_path, "mrpc", seed, features=("u", "v", "|u-v|"), flips=0.05)
    several = runs.measured(tmp_path)
    figures = [figure for one in several for figure in one.figures]
    found = {(f.table, f.row.removesuffix(", all-MiniLM-L6-v2"), f.column): round(f.value, 6) for f in figures}
    assert found["T5", "(|u-v|, u*v)", "MSRP"] == found["T2", "SBERT", "MSRP"] == found["T6", "SBERT", "MSRP"] == 81
    assert found["T4", "SBERT only", "Twitter-URL"] == 80
    assert ("T6", "SBERT", "Twitter-URL") not in found
    assert found["S3", "SBERT, (u, v, |u-v|)", "MSRP"] == 5
    cell = next(c for c in published.published("002") if c.address == ("T4", "SBERT only", "MSRP"))
    assert page.account(cell, several) == "stand-in"


def test_a_head_that_was_trained_on_a_sample_has_a_row_of_its_own(tmp_path):
    head_file(tmp_path, "mrpc", 0)
    head_file(tmp_path, "mrpc", 1, told="train, 200 of 3,576 pairs", f1=0.7)
    place = next(tmp_path.rglob("1/results.json")).parent
    papers_file(place, "papers.json", seed=1, value=70.0, table="T4", row="PAS only")
    by_table = {one.tables()[0]: one for one in runs.measured(tmp_path)}
    found = {f.row: f.value for f in by_table["T4"].figures}
    assert found["PAS only, all-MiniLM-L6-v2, 200 of 3,576 pairs of training"] == 70
    found = {f.row: f.value for f in by_table["T2"].figures}
    part = "SBERT, all-MiniLM-L6-v2, 200 of 3,576 pairs of training"
    assert found == {"SBERT, all-MiniLM-L6-v2": 80, part: 70}
    assert "--pairs 200 --head-rate 0.005 --bf16 --out" in by_table["T2"].command
    assert by_table["T2"].labels[part] == Label(("SBERT",), ("model", "sample"))


def test_a_sample_is_told_without_results_beside_the_figures(tmp_path):
    told = {"trained_on": {"pairs": 4000, "from": "the rest of train, 4,000 of 30,375 pairs"}}
    papers_file(tmp_path, "papers.json", seed=0, value=70.0, told=told)
    (one,) = runs.measured(tmp_path)
    row = "(|u-v|), all-MiniLM-L6-v2, 4,000 of 30,375 pairs of training"
    assert one.labels == {row: Label(("(|u-v|)",), ("model", "sample"))}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"value": 83.5}, "f1 83.5, but results.json beside it 80.0"),
        ({"value": 70.0}, "f1 70.0, but results.json beside it 80.0"),  # the accuracy
        ({"value": 80.0, "table": "S3"}, "flips 80.0, but results.json beside it 5.0"),
        ({"value": 80.0, "seed": 1}, "seed 1, but results.json beside it 0"),
        ({"value": 80.0, "told": {"model": "roberta-large"}}, "model roberta-large, but results.json beside it sbert"),
    ],
)
def test_a_result_that_was_changed_is_told_from_the_figures_beside_it(tmp_path, change, said):
    head_file(tmp_path, "mrpc", 0, flips=0.05)
    place = next(tmp_path.rglob("results.json")).parent
    papers_file(place, "papers.json", **{"seed": 0, "table": "T4", "row": "PAS only"} | change)
    with pytest.raises(DataError, match=rf"papers\.json says {said}: one of them was changed"):
        runs.measured(tmp_path)


TASK = {"metric": "task_accuracy", "model": "sbert", "level": "MR", "value": 0.8, "low": 0.7, "high": 0.9, "n": 9}
REPORT = {"checks": [TASK], "models": [{"label": "sbert", "adapter": "lexical"}],
          "data": [{"name": "senteval", "fingerprint": "abc"}]}  # fmt: skip
CROSS = {"f1": 0.9, "accuracy": 0.92, "flips": 0.03, "n": 8000}
OF_CROSS = {"settings": {"model": "bert", "seed": 0}, "test": CROSS, "also": {"paws": CROSS}}


def rise_file(folder, seed="seed0", arm="rise", **figures):
    (folder / "settings.json").write_text('{"model": "sbert"}')
    (folder / "stsb" / seed).mkdir(parents=True, exist_ok=True)
    (folder / "stsb" / seed / f"{arm}.json").write_text(json.dumps({"stsb_spearman": 0.8, "mrpc_f1": 0.8} | figures))


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        ({**REPORT, "checks": None}, "is not whole, or of another version: 'NoneType' object is not iterable"),
        ({**REPORT, "checks": [{}]}, "is not whole, or of another version: no 'metric'"),
        ({"checks": [TASK]}, "is not whole, or of another version: no 'data'"),
        *(
            ({**REPORT, "checks": [TASK | change]}, f"{name}: Input should be a")
            for change in ({"low": None}, {"value": "0.8"}, {"high": float("nan")}, {"n": "9"})
            for name in change
        ),
        ({**OF_CROSS, "also": ["paws"]}, "is not whole"),
        ({**OF_CROSS, "also": {"paws": None}}, "is not whole"),
        ({**OF_CROSS, "settings": {"model": None, "seed": 0}}, "is not whole"),
        ({**OF_CROSS, "settings": {"model": "bert", "seed": 0, "rate": 10**400}}, "is not whole"),
        ({**OF_CROSS, "parts": None}, "is not whole"),
        ({"settings": {"data": "mrpc", "features": ["u"]}, "test": CROSS, "parts": None}, "is not whole"),
    ],
)
def test_results_that_are_not_whole_are_named(tmp_path, raw, said):
    (tmp_path / "results.json").write_text(json.dumps(raw))
    with pytest.raises(DataError, match=rf"results\.json:? {said}"):
        runs.measured(tmp_path)


@pytest.mark.parametrize("content", ["", "[1]", '{"test": null}', '{"settings": {}, "test": {"f1": null}}'])
def test_results_beside_papers_json_that_are_not_whole_are_named(tmp_path, content):
    papers_file(tmp_path, "papers.json", seed=0, value=80.0)
    (tmp_path / "results.json").write_text(content)
    with pytest.raises(DataError, match=r"results\.json is not whole, or of another version: .*Remedy: delete it"):
        runs.measured(tmp_path)


@pytest.mark.parametrize(
    ("content", "said"), [(None, "cannot be read: No such file"), ("", "is not whole"), ("[]", "is not whole")]
)
def test_arms_of_the_control_need_its_settings(tmp_path, content, said):
    rise_file(tmp_path)
    (tmp_path / "settings.json").unlink()
    if content is not None:
        (tmp_path / "settings.json").write_text(content)
    with pytest.raises(DataError, match=rf"settings\.json {said}"):
        runs.measured(tmp_path)


def test_files_that_a_recipe_keeps_beside_its_figures_hide_no_unused_one(tmp_path, caplog):
    rise_file(tmp_path)
    (place := tmp_path / "pas-0").mkdir()
    results = {"settings": {"seed": 0, "model": "sbert", "pooling": "pas"}, "test": CROSS}
    (place / "results.json").write_text(json.dumps(results))
    papers_file(place, "papers.json", seed=0, value=90.0)
    (tmp_path / "stsb/seed0/pool.json").write_text("{}")
    runs.measured(tmp_path)
    assert caplog.text == ""
    for folder in (place, tmp_path / "stsb"):
        (folder / "pool.json").write_text("{}")
    runs.measured(tmp_path)
    assert "no figure in 2 files (pas-0/pool.json, stsb/pool.json)" in caplog.text


def test_a_folder_of_one_source_or_seed_is_taken_and_other_folders_are_left_alone(tmp_path, monkeypatch, caplog):
    rise_file(tmp_path)
    rise_file(tmp_path, "seed0-old")
    for folder in ("stsb", "stsb/seed0"):
        monkeypatch.chdir(tmp_path / folder)
        assert [f.value for one in runs.measured(Path()) for f in one.figures] == [80, 80]
    assert "no figure in 1 files (seed0-old/rise.json)" in caplog.text


def test_a_folder_is_no_file_and_a_link_that_leads_nowhere_is_named(tmp_path):
    papers_file(tmp_path, "a.json", seed=0, value=80.0)
    (tmp_path / "b.json").mkdir()
    assert len(runs.measured(tmp_path)) == 1
    (tmp_path / "c.json").symlink_to("nowhere")
    with pytest.raises(DataError, match=r"c\.json cannot be read: No such file"):
        runs.measured(tmp_path)


@pytest.mark.parametrize(
    ("file", "said"),
    [("results.json", "no figure in results.json. Give"), ("notes.txt", "it, for it has no JSON file")],
)
def test_runs_of_which_nothing_is_used_are_an_error_and_no_table_of_the_record(tmp_path, capsys, file, said):
    (tmp_path / file).write_text(json.dumps({"checks": [{"metric": "margin_rate", "value": 0.9999}]}))
    with pytest.raises(SystemExit):
        papers.main(["003", "--runs", str(tmp_path)])
    printed = capsys.readouterr()
    assert said in printed.err
    assert printed.out == ""


def test_runs_of_another_paper_are_an_error(tmp_path, capsys):
    head_file(tmp_path, "mrpc", 0)
    with pytest.raises(SystemExit):
        papers.main(["003", "--runs", str(tmp_path)])
    assert "no figure of 003, but of 002" in capsys.readouterr().err


def test_a_folder_without_corpora_is_an_error(tmp_path, capsys):
    with pytest.raises(SystemExit):
        papers.main(["004", "--data", str(tmp_path)])
    assert "holds none of the corpora of these papers" in capsys.readouterr().err


def test_recorded_figures_are_marked_beside_those_that_were_measured_now(tmp_path, capsys):
    head_file(tmp_path, "mrpc", 0, f1=0.9999)
    papers.main(["002", "--runs", str(tmp_path)])
    printed = capsys.readouterr().out
    table = printed.partition("### 002, Table 5")[2].partition("###")[0]
    (row,) = (line for line in table.splitlines() if line.startswith("| (\\|u-v\\|, u\\*v), all-MiniLM-L6-v2 |"))
    measured_now, recorded_before = (cell for cell in row.strip(" |").split(" | ") if "**" in cell)
    assert measured_now == "**100.0**"
    assert recorded_before.endswith(" ‡")
    assert "- ‡: recorded earlier, not measured by this call." in table
    assert "‡" not in page.table_section("002", "T5", ours.read())


def test_a_figure_that_is_measured_otherwise_than_recorded_or_not_again_is_named():
    old = made(Figure("T5", "a", "b", 50.5, n=2_400), Figure("T5", "d", "b", 2_400))
    near = made(Figure("T5", "a", "b", 50.52, n=2_400), Figure("T5", "d", "b", 2_400))
    assert [*ours.differences([old], [near])] == []
    far = made(Figure("T5", "a", "b", 50.6, n=2_400), Figure("T5", "c", "b", 1))
    assert [line.partition(", measured")[0].partition(": {")[0] for line in ours.differences([old], [far])] == [
        "000 | T5 | d | b: recorded, but not measured",
        "000 | T5 | a | b: recorded {'table': 'T5', 'row': 'a', 'column': 'b', 'value': 50.5, 'n': 2400}",
        "000 | T5 | c | b: not recorded",
    ]
    counted = made(Figure("T5", "a", "b", 50.5, n=2_401), Figure("T5", "d", "b", 2_401))
    assert len([*ours.differences([old], [counted])]) == 2


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--only=edits"], "--only is for what is measured"),
        (["--model=nonsense"], "--model is for what is measured"),
        (["--compare"], "--compare has nothing to compare with the record"),
        (["--runs={}", "--record"], "4 recorded figures are not in"),
    ],
)
def test_the_record_is_neither_printed_for_something_else_nor_cut(tmp_path, capsys, options, said):
    head_file(tmp_path, "pit2015", 0)
    before = ours.RECORD.read_bytes()
    with pytest.raises(SystemExit) as left:
        papers.main(["002", *(option.format(tmp_path) for option in options)])
    printed = capsys.readouterr()
    assert (left.value.code, printed.out) == (2, "")
    assert said in printed.err
    assert ours.RECORD.read_bytes() == before


def test_seconds_are_timed_on_request_alone(tmp_path, monkeypatch):
    """They depend on the machine: no record and no comparison of everything has them."""
    called = []

    def seconds(root, model):
        called.append("seconds")
        yield from ()

    def edits(root, model):
        called.append("edits")
        yield from ()

    monkeypatch.setattr(measure, "MEASURES", {"003": (edits, seconds)})
    assert [*papers.measure(["003"], tmp_path, ["sbert"])] == []
    assert [*papers.measure(["003"], tmp_path, ["sbert"], only="seconds")] == []
    assert called == ["edits", "seconds"]


def test_cross_encoders_count_once_although_a_link_leads_to_the_best(tmp_path):
    raw = {**OF_CROSS, "settings": {"model": "./roberta-base", "seed": 0}, "also": {"paws": CROSS, "qqp": CROSS}}
    (tmp_path / "seed-0").mkdir()
    (tmp_path / "seed-0/results.json").write_text(json.dumps(raw))
    (tmp_path / "best").symlink_to("seed-0", target_is_directory=True)
    found = {(m.paper, f.table, f.column): (f.row, f.value) for m in runs.measured(tmp_path) for f in m.figures}
    assert found["000", "T2", "PAWS-Wiki accuracy"] == ("RoBERTa, ./roberta-base", 92)
    one = next(m for m in runs.measured(tmp_path) if m.what.endswith("PAWS-Wiki accuracy"))
    assert one.labels == {"RoBERTa, ./roberta-base": Label(("RoBERTa",), ("model", "data"))}  # no PAWS-QQP
    trained = measure.trained_cross_encoder(str(tmp_path / "best"))
    assert trained == ("cross-encoder, ./roberta-base", Label(("RoBERTa",), ("model", "data")))
    assert measure.trained_cross_encoder("sbert") is measure.trained_cross_encoder(str(tmp_path)) is None
    assert found["002", "S3", "QQP"] == ("cross-encoder, RoBERTa, ./roberta-base", 3)
    assert runs.measured(tmp_path)[0].command.endswith(
        "--data paws:... --data qqp:... --model ./roberta-base --out RUNS"
    )
    assert ("000", "T2", "QQP F1") not in found


def test_arms_of_the_control_stand_beside_the_rows_of_rise(tmp_path):
    for seed in (0, 1, 2):
        for arm, value in (("rise", 0.81), ("none", 0.80), ("permuted", 0.805)):
            rise_file(tmp_path, f"seed{seed}", arm, stsb_spearman=value + seed / 1000)
        (tmp_path / f"stsb/seed{seed}/pool.json").write_text('{"pairs": 5}')
    several = runs.measured(tmp_path)
    assert {one.what for one in several} == {"training runs, T3, STSb Spearman", "training runs, T3, MRPC F1"}
    one = next(one for one in several if one.what.endswith("Spearman"))
    found = {(f.row, f.column): f for f in one.figures}
    assert found["STSb: RISE, all-MiniLM-L6-v2", "STSb Spearman"].value == pytest.approx(81.1)
    assert one.labels["STSb: DINO, all-MiniLM-L6-v2"] == Label(("STSb: DINO",), ("model", "data"))
    assert one.labels["STSb: permuted weights, all-MiniLM-L6-v2"].stands_for == ()
    better = {claim["says"]: sides[1] for claim, sides in page.claims("001", "T3", [one])}
    assert better["RISE is better than training on all pairs alike"].holds == 1


def test_a_downstream_run_fills_the_row_of_sbert_and_needs_all_tasks_for_the_average(tmp_path):
    rows = [{**TASK, "level": task} for task in runs.TASKS]
    surface = {**REPORT, "checks": rows}
    whole = {**surface, "models": [{"label": "sbert", "adapter": "sentence-transformers"}]}
    (tmp_path / "results.json").write_text(json.dumps(whole))
    (one,) = runs.measured(tmp_path)
    assert [f.column for f in one.figures] == ["MR", "CR", "SUBJ", "MPQA", "SST-2", "TREC", "MRPC", "average"]
    cells = [c for c in published.published("003") if (c.table, c.row) == ("T2", "SBERT")]
    assert {page.account(cell, [one]) for cell in cells} == {"stand-in"}
    assert next(runs.downstream(surface)).labels[one.figures[0].row].stands_for == ()
    assert len(next(runs.downstream({**whole, "checks": rows[1:]})).figures) == 6


def row(check, metric, value, *, level="1", label=None, curve=()):
    params = {} if label is None else {"label": label}
    ends = {"low": value - 0.01, "high": value + 0.01, "n": 40}
    words = {"jaccard": {"value": 0.7, "low": 0.6, "high": 0.8}}
    return result({"check": check, "metric": metric, "level": level, "data": "pairs", "params": params, "value": value,
                   "curve": curve, "surface": words, **ends})  # fmt: skip


def test_the_criteria_take_their_figures_from_the_rows_of_a_run():
    curve = [{"epsilon": e, "value": 0.5 - e, "low": 0.0, "high": 1.0, "count": 9} for e in measure.EPSILONS]
    found = SimpleNamespace(raw=run_file({"checks": [
        row("paraphrase_is_nearer_than_non_paraphrase", "mean_similarity", 0.8, label=1),
        row("paraphrase_is_nearer_than_non_paraphrase", "mean_similarity", 0.5, label=0),
        row("paraphrase_is_nearer_than_non_paraphrase", "auc", 0.9),
        row("synonym_keeps_the_similarity", "mean_similarity", 0.9, level="2"),
        row("synonym_keeps_the_similarity", "mean_similarity_calibrated", 0.1, level="2"),
        row("antonym_is_farther_than_paraphrase", "margin_rate", 0.2, curve=curve),
    ]}))  # fmt: skip
    made = [
        *measure._first_criterion(found, "T4", "QQP", "mine", tuned=True),
        *measure._edits(found, "QQP", "mine", tuned=True),
    ]
    figures = {f.address: f for f in made}
    assert {address: figure.value for address, figure in figures.items() if address[0] != "F1"} == {
        ("T4", "QQP: positive", "mine"): 0.8,
        ("T4", "QQP: negative", "mine"): 0.5,
        ("O1", "mine, QQP: unrelated sentences", "AUC"): 0.9,
        ("O1", "mine, QQP: unrelated sentences", "AUC of word overlap"): 0.7,
        ("T5", "2 replaced: QQP", "mine"): 0.9,
    }
    assert figures["F1", "QQP: antonym", "> -0.2"].value == 0.7
    assert all(figure.is_tuned for figure in made if figure.column != "AUC of word overlap")


def test_a_draw_has_equally_many_pairs_of_each_label_and_the_same_paraphrases_in_both_set_ups(tmp_path):
    things = ["gate", "lamp", "ship", "tree", "road", "bird"]
    rows = [PairRow(f"a red {one}", f"some red {one}", int(i < 2)) for i, one in enumerate(things)]
    data = dataset_from_rows("tiny", rows)
    draws = [balanced_draw(data, 9, tmp_path, seed=seed) for seed in (0, 0)]
    labelled, unrelated = (
        [json.loads(line) for line in file.read_text().splitlines()] for file in draws[0]
    )  # fmt: skip
    assert [one["label"] for one in labelled] == [1, 1, 0, 0]
    assert labelled[:2] == unrelated[:2]
    assert all(not {*one["first"].split()[2:]} & {*one["second"].split()[2:]} for one in unrelated[2:])
    assert draws[0] == draws[1]


def test_cells_and_sizes_are_counted_from_whole_files_and_what_is_missing_is_named(tmp_path, caplog, monkeypatch):
    lines = ["Quality\t#1 ID\t#2 ID\t#1 String\t#2 String"]
    pairs = [
        ("a red car", "a red car", 1),
        ("a red car", "the vehicle", 1),
        ("a dog", "no cat", 0),
        ("a b", "a c", 0),
    ]
    lines += [f"{label}\t{i}\t{i}\t{a}\t{b}" for i, (a, b, label) in enumerate(pairs)]
    (tmp_path / "mrpc").mkdir()
    for part in ("test", "train"):
        with pytest.raises(DataError, match="mrpc holds no msr_paraphrase_train"):
            next(measure.cells(tmp_path, "-"))
        (tmp_path / f"mrpc/msr_paraphrase_{part}.txt").write_text("\n".join(lines) + "\n")
    for part, rows in (("train", "4,076"), ("test", "1,725")):
        with pytest.raises(DataError, match=rf"{part}\.txt is cut off: it has 4 rows, .* has {rows}"):
            next(measure.cells(tmp_path, "-"))
        monkeypatch.setitem(mrpc.EXPECTED, f"msr_paraphrase_{part}.txt", (4, {}))
    (cells,) = measure.cells(tmp_path, "-")
    assert {f.row: f.value for f in cells.figures if len(f.row) == 2} == {"Po": 2, "Pn": 2, "No": 2, "Nn": 2}
    assert "qqp/Quora_question_pair_partition is not in" in caplog.text
    assert {f.column: f.value for f in cells.figures if f.table == "O1" and len(f.column) == 2} == {
        "Po": 2, "Pn": 2, "No": 2, "Nn": 2,
    }  # fmt: skip
    assert [f.value for f in cells.figures if f.address[:2] == ("F1", "MSRP, ours: label 1")] == [50, *[0] * 8, 50]
    (sizes,) = measure.paraphrase_sizes(tmp_path, "-")
    assert [(*f.address[1:], f.value) for f in sizes.figures] == [("MSRP, ours", s, 4) for s in ("dev", "test")]


def test_jaccard_and_dice_are_the_authors_and_give_the_same_cells(shared_data):
    oracle = json.loads((shared_data.parent / "oracles/lexsim_pairs.json").read_text())["pairs"]
    known = [one for one in oracle if one["tokens_a"] and one["tokens_b"]]
    pairs = [SimpleNamespace(first=one["a"], second=one["b"]) for one in known]
    by_jaccard, by_dice = (np.array([of(pair) for pair in pairs]) for of in (overlap.jaccard, overlap.dice))
    assert by_jaccard == pytest.approx([one["jaccard_set"] for one in known])
    assert by_dice == pytest.approx([one["dice_authors"] for one in known])
    labels, splits = [one["label"] for one in known], [one["subset"] for one in known]
    cells = [overlap.cells_by_overlap(values, labels, splits).tolist() for values in (by_jaccard, by_dice)]
    assert cells[0] == cells[1]
    assert {*cells[0]} == {0, 1, 2, 3}


def test_agreement_is_lower_on_some_pairs_only_where_people_differ_more():
    sure, unsure = np.array([5.0, 0.0] * 20), np.array([4.0, 1.0, 3.0, 2.0] * 10)
    assert overlap.agreement_test(sure, unsure) == 1 / (overlap.PERMUTATIONS + 1)
    assert overlap.agreement_test(unsure, unsure) > 0.3


@pytest.mark.parametrize("data", ["STSb", "MRPC"])
def test_text_of_people_measures_what_rise_prints(recorded, data):
    cells = {(c.row, c.column): c.value for c in published.published("001") if c.table == "T4"}
    found = {f.row: f.value for f in ours.on_table(recorded, "001", "T4").figures.values() if data in f.column}
    for name in ("BLEU-1", "BLEU-2", "BLEU-3", "BLEU-4", "BLEU-N", "Jaccard"):
        assert found[name] == pytest.approx(cells[name, f"{data}: human"], abs=0.2), name


def test_text_is_measured_pair_by_pair_and_over_the_second_sentences(tmp_path):
    file = tmp_path / "pairs.csv"
    file.write_text("first,second,label\nA red car,a red car,1\na dog,one dog here,0\n")
    found = {one.name: one for one in text_figures(load_data(f"pairs:{file}"))}
    assert found["BLEU-1"].value == pytest.approx(100 * (1 + 1 / 3) / 2)
    assert found["BLEU-2"].value == pytest.approx(100 * (1 + np.sqrt(1 / 3 * 0.1 / 2)) / 2)
    assert found["Jaccard"].value == pytest.approx(100 * (1 + 1 / 4) / 2)
    assert (found["Distinct-1"].value, found["Distinct-1"].low) == (100, None)


def test_pictures_are_what_is_recorded(recorded):
    for paper, table in pictures.PICTURES:
        file = ROOT / "papers/docs" / pictures.file_name(paper, table)
        assert file.read_text("utf-8") == pictures.drawn(paper, table, recorded), file


@pytest.mark.long
def test_chains_of_paws_qqp_have_the_figures_of_an_independent_computation(shared_data, tmp_path):
    (tmp_path / "paws_qqp").symlink_to(shared_data / "paws_qqp")
    (one,) = measure.chains(tmp_path, "sbert")
    found = {f.address: f for f in one.figures}
    ranked = [found["T5", "all-MiniLM-L6-v2", f"PAWS-QQP {name}"] for name in ("R-Precision", "Spearman")]
    assert [figure.value for figure in ranked] == pytest.approx([61.1, 81.9], abs=0.1)
    assert {figure.n for figure in ranked} == {54}


@pytest.mark.long
@pytest.mark.parametrize("kind", ["scored_chains", "ranked_pairs"])
def test_what_is_recorded_is_measured_again(kind, shared_data):
    """A change of the tool that moves these figures needs `papers.py 000 --record`."""
    with pytest.raises(SystemExit) as left:
        papers.main(["000", f"--data={shared_data}", f"--only={kind}", "--compare"])
    assert left.value.code == 0


def test_the_command_prints_a_paper_from_the_record(capsys):
    papers.main(["004"])
    out = capsys.readouterr().out
    assert "### 004, Table 5: How many pairs are in which cell" in out
    assert "| MSRP, ours | **2,398** | **1,502** | **1,398** | **503** |" in out


@pytest.mark.parametrize("option", ["--data", "--runs"])
def test_a_folder_that_is_not_there_is_one_message_and_no_table(option, tmp_path, capsys):
    with pytest.raises(SystemExit) as left:
        papers.main(["004", f"{option}={tmp_path}/nowhere"])
    said = capsys.readouterr()
    assert (left.value.code, said.out) == (2, "")
    assert f"{option}={tmp_path}/nowhere: no such folder" in said.err
