"""A run in other people's formats, read back by their own readers where they are installed."""

import csv
import io
import json

import huggingface_hub
import pyarrow.parquet
import pytest
import yaml
from huggingface_hub.repocard_data import model_index_to_eval_results
from typer.testing import CliRunner

from encheck.cli import app
from encheck.errors import UsageError
from encheck.reporting.exports import COLUMNS, FORMATS, export


def row(claim, value, *, threshold=0.8, model="m", metric="margin_rate_calibrated", **more):
    return {
        "id": f"{claim}/{model}-probes-1/{metric}", "claim": claim, "check": "antonym", "level": "1", "model": model,
        "data": "probes", "metric": metric, "value": value, "low": 0.4, "high": 0.9, "n": 200, "clusters": 200,
        "threshold": threshold, "verdict": "pass", "baseline": None, **more,
    }  # fmt: skip


@pytest.fixture
def results():
    return {
        "schema_version": 1,
        "run": {"started": "2026-01-02T03:04:05+00:00", "seconds": 1.5, "versions": {"encheck": "0.1.0"}},
        "models": [{"label": "m"}, {"label": "broken"}],
        "data": [{"name": "probes", "fingerprint": "abc"}],
        "checks": [
            row("a_is_b", 0.5), row("b_is_c", 0.7), row("a_is_b", 0.1, threshold=None, metric="mean_margin"),
            row("a_is_b", None, model="broken"),
        ],
    }  # fmt: skip


def test_every_format_writes_its_file(results, tmp_path):
    paths = export(results, tmp_path, formats=list(FORMATS))
    assert {p.relative_to(tmp_path).as_posix() for p in paths} == {
        "m.model-index.yaml", "m.eval_results.yaml", "mteb/m/EncheckAntonym.probes.json", "figures.csv",
        "figures.parquet",
    }  # fmt: skip


def test_the_hub_reads_the_model_index(results, tmp_path):
    (path,) = export(results, tmp_path, formats=["model-index"])
    name, found = model_index_to_eval_results(yaml.safe_load(path.read_text("utf-8"))["model-index"])
    assert name == "m"
    assert {r.metric_type for r in found} == {"margin_rate_calibrated"}
    assert [r.metric_value for r in found] == [0.5, 0.7]


def test_the_hub_reads_the_evaluation_results(results, tmp_path):
    if not hasattr(huggingface_hub, "parse_eval_result_entries"):
        pytest.skip("needs a huggingface_hub that knows evaluation results")
    (path,) = export(results, tmp_path, formats=["eval-results"])
    found = huggingface_hub.parse_eval_result_entries(yaml.safe_load(path.read_text("utf-8")))
    assert [(e.dataset_id, e.task_id, e.value) for e in found] == [
        ("encheck/probes", "a_is_b/1", 0.5), ("encheck/probes", "b_is_c/1", 0.7),
    ]  # fmt: skip


def test_an_mteb_result_has_scores_by_split_and_a_main_score(results, tmp_path):
    (path,) = export(results, tmp_path, formats=["mteb"])
    (scores,) = json.loads(path.read_text("utf-8"))["scores"]["test"]
    assert scores["main_score"] == pytest.approx(0.6)
    assert scores["a_is_b_1"] == 0.5


def test_csv_and_parquet_hold_every_figure(results, tmp_path):
    text, table = export(results, tmp_path, formats=["csv", "parquet"])
    rows = list(csv.DictReader(io.StringIO(text.read_text("utf-8"))))
    assert [r["metric"] for r in rows] == ["margin_rate_calibrated", "margin_rate_calibrated", "mean_margin"]
    assert pyarrow.parquet.read_table(table).column_names == list(COLUMNS)


def test_no_spreadsheet_takes_a_name_for_a_formula(results, tmp_path):
    results["models"][0]["label"] = "=1+1"
    for r in results["checks"][:3]:
        r["model"] = "=1+1"
    (path,) = export(results, tmp_path, formats=["csv"])
    assert next(csv.DictReader(io.StringIO(path.read_text("utf-8"))))["model"] == "'=1+1"


def test_an_unknown_format_lists_what_there_is(results, tmp_path):
    with pytest.raises(UsageError, match="did you mean 'mteb'"):
        export(results, tmp_path, formats=["mtebb"])


def test_the_command_writes_beside_the_run(results, tmp_path):
    (tmp_path / "results.json").write_text(json.dumps(results), "utf-8")
    done = CliRunner().invoke(app, ["export", str(tmp_path), "--format", "csv"])
    assert done.exit_code == 0
    assert (tmp_path / "exports/figures.csv").exists()
