"""A run in other people's formats, read back by their own readers where they are installed."""

import csv
import io
import json

import huggingface_hub
import pyarrow.parquet
import pytest
import yaml
from declared import claims
from huggingface_hub.repocard_data import model_index_to_eval_results
from recorded import result, run_file
from typer.testing import CliRunner

from encheck.cli import app
from encheck.cli.export import TABLES
from encheck.errors import UsageError
from encheck.reporting.formats import COLUMNS, FORMATS, export_run
from encheck.reporting.results import write_results

SURFACE = {name: {"value": value, "low": 0.0, "high": 1.0} for name, value in (("jaccard", 0.1), ("bigrams", 0.3))}


def row(check, value, *, floor=0.8, aim=0.8, model="m", metric="margin_rate_calibrated", **more):
    return {
        "id": f"{check}/{model}-probes-1/{metric}", "check": check, "property": "antonym", "level": "1", "model": model,
        "data": "probes", "metric": metric, "value": value, "low": 0.4, "high": 0.9, "n": 200, "clusters": 200,
        "floor": floor, "floor_of": None, "aim": aim, "verdict": "pass", "reason": "", "baseline": None,
        "surface": SURFACE, **more,
    }  # fmt: skip


@pytest.fixture
def results():
    return {
        "run": {"started": "2026-01-02T03:04:05+00:00", "seconds": 1.5, "versions": {"encheck": "0.1.0"},
                "exit_status": 0, "notes": [], "command": "encheck run"},
        "models": [{"label": "m"}, {"label": "broken"}],
        "data": [{"name": "probes", "fingerprint": "abc"}],
        "checks": [
            row("a_is_b", 0.5), row("b_is_c", 0.7), row("a_is_b", 0.1, floor=None, aim=None, metric="mean_margin"),
            row("a_is_b", None, model="broken"),
        ],
    }  # fmt: skip


def test_every_format_writes_its_file(results, tmp_path):
    paths = export_run(run_file(results), tmp_path, formats=list(FORMATS))
    assert tuple(FORMATS) == TABLES
    assert {p.relative_to(tmp_path).as_posix() for p in paths} == {
        "m.model-index.yaml", "m.eval_results.yaml", "mteb/m/EncheckAntonym.probes.json", "figures.csv",
        "figures.parquet",
    }  # fmt: skip


def test_the_hub_reads_the_model_index(results, tmp_path):
    (path,) = export_run(run_file(results), tmp_path, formats=["model-index"])
    name, found = model_index_to_eval_results(yaml.safe_load(path.read_text("utf-8"))["model-index"])
    assert name == "m"
    assert {r.metric_type for r in found} == {"margin_rate_calibrated"}
    assert [r.metric_value for r in found] == [0.5, 0.7]


def test_the_hub_reads_the_evaluation_results(results, tmp_path):
    if not hasattr(huggingface_hub, "parse_eval_result_entries"):
        pytest.skip("needs a huggingface_hub that knows evaluation results")
    (path,) = export_run(run_file(results), tmp_path, formats=["eval-results"])
    found = huggingface_hub.parse_eval_result_entries(yaml.safe_load(path.read_text("utf-8")))
    assert [(e.dataset_id, e.task_id, e.value) for e in found] == [
        ("encheck/probes", "a_is_b/1", 0.5), ("encheck/probes", "b_is_c/1", 0.7),
    ]  # fmt: skip


def test_an_mteb_result_has_scores_by_split_and_a_main_score(results, tmp_path):
    (path,) = export_run(run_file(results), tmp_path, formats=["mteb"])
    (scores,) = json.loads(path.read_text("utf-8"))["scores"]["all"]
    assert scores["main_score"] == pytest.approx(0.6)
    assert scores["a_is_b_1"] == 0.5


def test_the_splits_that_were_measured_are_named(results, tmp_path):
    """Those of the items: all that a case has, and the test part alone where the check measures that."""
    results["checks"] = [row("a_is_b", 0.5), row("b_is_c", 0.7, property="sts")]
    results["claims"] = claims(*map(result, results["checks"]))
    splits = {"a_is_b/m-probes-1": {"dev", "gate"}, "b_is_c/m-probes-1": {"train", "validation", "test"}}
    index, *tasks = export_run(run_file(results), tmp_path, formats=["model-index", "mteb"], splits=splits)
    told = [one["dataset"]["split"] for one in yaml.safe_load(index.read_text("utf-8"))["model-index"][0]["results"]]
    assert told == [next(iter(json.loads(task.read_text("utf-8"))["scores"])) for task in tasks] == ["dev+gate", "test"]


def test_the_command_reads_the_splits_of_the_items(results, tmp_path):
    write_results(tmp_path, run_file(results))
    columns = {"case": [f"{c}/m-probes-1" for c in ("a_is_b", "a_is_b", "b_is_c")], "split": ["dev", "gate", "gate"]}
    pyarrow.parquet.write_table(pyarrow.table(columns), tmp_path / "items.parquet")
    assert CliRunner().invoke(app, ["export", str(tmp_path), "--to", "mteb"]).exit_code == 0
    (path,) = tmp_path.glob("exports/mteb/m/*")
    assert list(json.loads(path.read_text("utf-8"))["scores"]) == ["dev+gate"]


def test_csv_and_parquet_hold_every_figure(results, tmp_path):
    text, table = export_run(run_file(results), tmp_path, formats=["csv", "parquet"])
    rows = list(csv.DictReader(io.StringIO(text.read_text("utf-8"))))
    assert [r["metric"] for r in rows] == ["margin_rate_calibrated", "margin_rate_calibrated", "mean_margin"]
    assert {(r["best_surface"], r["best_surface_value"]) for r in rows} == {("bigrams", "0.3")}
    assert pyarrow.parquet.read_table(table).column_names == list(COLUMNS)


def test_every_row_of_csv_and_parquet_can_be_told_from_the_others(results, tmp_path):
    """A similarity of each label differs in the [label] of its id alone."""
    each = [row("a_is_b", v, metric="mean_similarity", floor=None, aim=None) for v in (0.5, 0.9)]
    results["checks"] = [r | {"id": f"{r['id']}[{label}]"} for label, r in enumerate(each)]
    text, table = export_run(run_file(results), tmp_path, formats=["csv", "parquet"])
    ids = ["a_is_b/m-probes-1/mean_similarity[0]", "a_is_b/m-probes-1/mean_similarity[1]"]
    assert [r["id"] for r in csv.DictReader(io.StringIO(text.read_text("utf-8")))] == ids
    assert pyarrow.parquet.read_table(table)["id"].to_pylist() == ids


@pytest.mark.parametrize("name", ["=1+1", "\n=1+1", "\uff1d1+1"])
def test_no_spreadsheet_takes_a_name_for_a_formula(results, tmp_path, name):
    results["models"][0]["label"] = name
    for r in results["checks"][:3]:
        r["model"] = name
    (path,) = export_run(run_file(results), tmp_path, formats=["csv"])
    assert next(csv.DictReader(io.StringIO(path.read_text("utf-8"))))["model"] == f"'{name}"


def test_an_unknown_format_lists_what_there_is(results, tmp_path):
    with pytest.raises(UsageError, match="did you mean 'mteb'"):
        export_run(run_file(results), tmp_path, formats=["mtebb"])


def test_the_command_writes_beside_the_run(results, tmp_path):
    write_results(tmp_path, run_file(results))
    done = CliRunner().invoke(app, ["export", str(tmp_path), "--to", "csv"])
    assert done.exit_code == 0
    assert (tmp_path / "exports/figures.csv").exists()


@pytest.mark.parametrize("leads_to", ["nothing/page.html", "/dev/full"])
def test_a_file_that_cannot_be_written_is_named(results, tmp_path, leads_to):
    write_results(tmp_path, run_file(results))
    (tmp_path / "page.html").symlink_to(leads_to)
    done = CliRunner().invoke(app, ["export", str(tmp_path), "--out", str(tmp_path / "page.html")])
    assert done.exit_code == 4
    assert f"cannot write {tmp_path}/page.html: No s" in done.output


@pytest.mark.parametrize("place", ["afile", "afile/x"])
def test_a_place_that_is_no_folder_is_told(results, tmp_path, place):
    write_results(tmp_path, run_file(results))
    (tmp_path / "afile").touch()
    done = CliRunner().invoke(app, ["export", str(tmp_path), "--to", "csv", "--out", str(tmp_path / place)])
    assert done.exit_code == 4
    assert f"{place}, which should be a writable folder: " in done.output


def test_junit_and_the_comment_of_a_finished_run_are_files(results, tmp_path):
    write_results(tmp_path, run_file(results))
    assert CliRunner().invoke(app, ["export", str(tmp_path), "--to=junit"]).exit_code == 0
    assert 'name="a_is_b[m-probes-1]"' in (tmp_path / "junit.xml").read_text("utf-8")
    place = tmp_path / "new" / "junit.xml"
    assert CliRunner().invoke(app, ["export", str(tmp_path), "--to=junit", f"--out={place}"]).exit_code == 0
    assert place.read_text("utf-8") == (tmp_path / "junit.xml").read_text("utf-8")
    done = CliRunner().invoke(app, ["export", str(tmp_path), "--to=comment", f"--out={tmp_path / 'c.md'}"])
    assert (done.exit_code, done.output.strip()) == (0, str(tmp_path / "c.md"))
    assert (tmp_path / "c.md").read_text("utf-8").startswith("## GATE: NO VERDICT")


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["--to=pag"], "unknown format 'pag'; did you mean 'page'"),
        (["--to=csv", "--where"], "--where is for --to page, not for --to csv"),
        (["--to=page", "--model=m"], "--model is for --to card or badge, not for --to page"),
        (["--to=comment", "--post=github", "--out=c.md"], "use only one of them"),
    ],
)
def test_an_option_of_another_format_is_refused_before_a_run_is_read(args, said):
    done = CliRunner().invoke(app, ["export", "no-such-run", *args])
    assert done.exit_code == 4
    assert said in done.output
