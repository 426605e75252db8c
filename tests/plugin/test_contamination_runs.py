"""The contamination row of whole runs: of several models, against a baseline, side by side, and in every report.

The oracle was told the meanings of the embedded probes and of no fresh ones: as contaminated as can be.
"""

import html
import json
from dataclasses import asdict

import pytest
from recorded import refuse_other_results
from typer.testing import CliRunner

from encheck import run
from encheck.cli import app
from encheck.engine.case_outcome import CaseOutcome, ProcessDescription
from encheck.engine.conclusion import add_contamination
from encheck.engine.recorder import Conclusion, Recorder
from encheck.gating.baseline import read_baseline, save_baseline
from encheck.gating.comparison import run_scores
from encheck.gating.contamination import MORE_ON_PUBLIC
from encheck.options import Settings
from encheck.run_file import Selection
from encheck.scoring.frame import item_table
from encheck.system.typed_files import as_values

DATA = ("probes", "probes:fresh=1")
MODELS = ("bag-of-words", "oracle")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("contaminated") / "run"


@pytest.fixture(scope="module")
def found(folder):
    """Both models on both data, once a module."""
    return run(MODELS, data=DATA, checks="entity", report_dir=folder, store=folder.parent / "store.sqlite")


def recorded(found, *, data=None):
    """A recorder as it is at the end of such a run, or of one on some of the data."""
    recorder, raw = Recorder(), found.raw
    for case in {str(row.case) for row in raw.checks}:
        rows = tuple(row for row in raw.checks if str(row.case) == case)
        items = item_table(found.items[case]) if case in found.items else None
        recorder.add_case(CaseOutcome(rows, raw.claims[rows[0].check], items=items))
    kept = [one for one in raw.data if data is None or one.name in data]
    recorder.described = [
        ProcessDescription(
            raw.models, tuple(kept), (), Selection((), ()), dict.fromkeys(("wait", "encode", "generate"), 0), {}, {}
        )
    ]
    return recorder


def settings(*models, replicates=()):
    return Settings(models=(*models, *replicates), seed_replicates=replicates)


def rows(recorder, settings, baselines=()):
    return add_contamination(Conclusion(0), recorder, settings, baselines).contamination


def test_who_knows_the_public_probes_alone_is_found_out(found):
    (row,) = found.raw.contamination
    assert (row.candidate, row.older) == ("oracle", "bag-of-words")
    assert (row.written, row.fresh) == ("probes", "probes-fresh=1")
    assert row.low > 0.3
    assert row.value == pytest.approx(row.written_gain - row.fresh_gain)
    assert row.says.endswith(MORE_ON_PUBLIC)
    refuse_other_results(as_values(found.raw))


def test_terminal_summary_and_page_say_so(found, folder):
    from encheck.reporting.terminal import run_lines

    (row,) = found.raw.contamination
    assert any(line.startswith(row.says) and "decides nothing" in line for line in run_lines(found.raw))
    assert row.says in (folder / "summary.md").read_text("utf-8")
    assert html.escape(row.says) in (folder / "report.html").read_text("utf-8")


def test_a_comparison_has_the_row_on_page_and_in_json(found, folder, tmp_path):
    page, whole = tmp_path / "c.html", tmp_path / "c.json"
    outcome = CliRunner().invoke(app, ["compare", str(folder), "--out", str(page), "--json", str(whole)])
    (row,) = found.raw.contamination
    assert row.says in outcome.output
    assert html.escape(row.says) in page.read_text("utf-8")
    assert json.loads(whole.read_text("utf-8"))["contamination"] == [asdict(row)]


def test_a_gate_has_the_row_of_the_candidate_since_its_baseline(found, tmp_path):
    older = run_scores(found.raw, found.items, "bag-of-words")
    save_baseline(tmp_path / "old", found.raw, older.tables, model="bag-of-words")
    (row,) = rows(recorded(found), settings("oracle", replicates=("bag-of-words",)), [read_baseline(tmp_path / "old")])
    assert (row.candidate, row.older) == ("oracle", "old")
    assert row.value == pytest.approx(found.raw.contamination[0].value, abs=1e-6)


def test_one_model_or_one_data_set_or_a_seed_replicate_has_no_row(found):
    assert rows(recorded(found), settings(*MODELS)) == found.raw.contamination
    assert rows(recorded(found), settings("oracle")) == ()
    assert rows(recorded(found), settings("oracle", replicates=("bag-of-words",))) == ()
    assert rows(recorded(found, data=["probes"]), settings(*MODELS)) == ()
    assert rows(recorded(found, data=["probes-fresh=1"]), settings(*MODELS)) == ()
