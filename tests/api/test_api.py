"""The public face: what it costs to import, what its functions give, and what they say of wrong use."""

import inspect
import json
import pkgutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import encheck
from encheck.api import as_option
from encheck.engine.results import Result
from encheck.errors import BaselineError, DataError, ModelError, StoreError, UsageError

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """One for all: nothing is encoded twice."""
    return tmp_path_factory.mktemp("store") / "store.sqlite"


@pytest.fixture(scope="module")
def numbers(plain_and_number_probes, store):
    """One property on 160 probes, beside probes of opposites."""
    return {"data": plain_and_number_probes, "checks": "number", "store": store}


def test_importing_encheck_imports_nothing_else():
    code = (
        "import sys, encheck; roots = {name.partition('.')[0] for name in sys.modules};"
        "print(sorted(n for n in sys.modules if n.startswith('encheck')), {'pytest', 'numpy', 'torch', 'yaml'} & roots)"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out == "['encheck'] set()\n"


@pytest.mark.usefixtures("torch_once")  # which imports every module
def test_every_public_name_works_once_every_module_was_imported(numbers, store, tmp_path):
    from encheck import checks, generators  # noqa: F401 - nor do these two hide a name

    data = numbers["data"]
    index = tmp_path / "index.jsonl"
    index.write_text(json.dumps({"text": "a", "vector": encheck.load_model("oracle").encode(["a"])[0].tolist()}))
    called = {
        "audit_index": encheck.audit_index("oracle", index).outcome == "all are",
        "same": encheck.same("overlap", save=tmp_path / "saved.json").outcome == "same",
        "claim": encheck.claim(lambda dataset, level, maker: None)(test := lambda: None) is test,
        "load_model": encheck.load_model("oracle").encode(["a"]).shape == (1, 256),
        "load_data": len(encheck.load_data(data).groups) > 200,
        "run": isinstance(found := encheck.run("oracle", **numbers), encheck.Results),
        "Result": isinstance(found.rows[0], encheck.Result),
        "threshold": encheck.threshold("oracle", data, max_false_accepts=0.5, store=store).exit_code == 0,
        "gate": encheck.gate("oracle", "oracle", **numbers).partial is not None,
        "text_shift": not any(row.differs for row in encheck.text_shift(data, against=data, texts=40).measures),
        "compare_costs": encheck.compare_costs(
            ["oracle", "constant"], behaviour=data, checks="number", store=store, report_dir=tmp_path / "costs"
        ).rows
        and (tmp_path / "costs" / "results.json").exists(),
    }
    assert [name for name in called if not called[name]] == []
    assert {*called, "Results", "__version__"} == {*encheck.__all__}


@pytest.mark.quick
def test_no_public_name_is_that_of_a_module():
    modules = {module.name for module in pkgutil.iter_modules(encheck.__path__)} | {"checks", "generators"}
    assert not modules & set(encheck.__all__)
    assert {*encheck.__all__, "__version__"} <= set(dir(encheck))


@pytest.mark.quick
def test_a_path_is_written_out_in_full_and_a_name_is_not():
    assert (as_option(Path("sbert")), as_option("sbert")) == (str(Path("sbert").absolute()), "sbert")


def test_a_name_that_is_not_there_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'running_away'"):
        vars(encheck)["__getattr__"]("running_away")


def test_a_model_is_loaded_by_name_with_the_options_of_its_adapter():
    assert encheck.load_model("overlap").score_pairs(["a b"], ["a c"]).tolist() == pytest.approx([1 / 3])
    assert encheck.load_model("bm25", weighting="jaccard").fingerprint() == encheck.load_model("jaccard").fingerprint()
    assert encheck.load_model("bag-of-words", seed=1).options == {"seed": 1}


def test_wrong_models_and_data_say_what_there_is(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ModelError, match="did you mean 'oracle'"):
        encheck.load_model("oracel")
    with pytest.raises(ModelError, match="does not exist"):
        encheck.load_model(Path("checkpoint"))
    with pytest.raises(DataError, match="did you mean 'mrpc'"):
        encheck.load_data("mrcp:x")


@pytest.mark.quick
def test_data_are_loaded_whole_or_as_a_sample(tmp_path):
    file = tmp_path / "mine.csv"
    file.write_text("first,second,label\n" + "".join(f"text {i} ab,text {i} cd,1\n" for i in range(50)), "utf-8")
    assert len(encheck.load_data(f"pairs:{file}").pairs) == 50
    assert len(encheck.load_data(f"pairs:{file}", sample=5, seed=3).pairs) == 5


def test_a_run_gives_metrics_with_verdicts_and_writes_nothing(numbers, tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    found = encheck.run(["oracle", "bag-of-words"], strict=True, **numbers)
    verdicts = {(row.model, row.check): row.verdict for row in found.judged}
    assert {model for (model, _), verdict in verdicts.items() if verdict == "pass"} == {"oracle"}
    assert found.exit_code == 1
    assert {(row.property, row.data, row.level) for row in found.rows} == {("number", "probes", "1")}
    row = next(row for row in found.judged if row.model == "oracle" and row.n)
    assert isinstance(row, Result)
    assert row.value == 1.0
    assert row.n > 100
    assert row.low < row.high
    assert len(found.items) == 6
    assert found.notes == found.raw.run.notes
    assert list(tmp_path.iterdir()) == []
    assert capfd.readouterr() == ("", "")


def test_a_run_writes_what_the_command_does_where_that_is_asked_for(numbers, tmp_path):
    found = encheck.run("oracle", report_dir=tmp_path / "report", epsilon=0.1, no_store=False, **numbers)
    assert {path.name for path in (tmp_path / "report").iterdir()} >= {"results.json", "items.parquet", "report.html"}
    assert found.raw.run.settings.epsilon == 0.1


@pytest.mark.parametrize(
    ("wrong", "error", "said"),
    [
        ({"model": "oracel"}, ModelError, "did you mean 'oracle'"),
        ({"data": "probe"}, DataError, "did you mean 'probes'"),
        ({"checks": "numbr"}, UsageError, "did you mean 'number'"),
        ({"checks": "number and antonym"}, UsageError, "selects no check"),
        ({"epsilom": 1}, UsageError, "did you mean 'epsilon'"),
        ({"dtype": "int8"}, UsageError, r"unknown dtype 'int8'\. Available: bfloat16"),
        ({"epsilon": 3}, UsageError, "a margin of cosines lies between"),
        ({"baseline": "nowhere"}, UsageError, r"not for a run\. Call encheck\.gate\(new, old\)"),
    ],
)
def test_wrong_use_of_a_run_is_an_exception(numbers, wrong, error, said):
    with pytest.raises(error, match=said):
        encheck.run(**{"model": "oracle", **numbers, **wrong})


@pytest.fixture(scope="module")
def runs(numbers, tmp_path_factory):
    """Folders: a run and a kept baseline of the oracle, a run of two models."""
    folder = tmp_path_factory.mktemp("runs")
    encheck.run("oracle", report_dir=folder / "run", save_baseline=folder / "kept", **numbers)
    encheck.run(["oracle", "bag-of-words"], report_dir=folder / "two", **numbers)
    return folder


def test_an_old_report_is_no_result_of_a_run_without_checks(numbers, runs):
    with pytest.raises(UsageError, match="selects no check"):
        encheck.run("oracle", report_dir=runs / "run", **numbers | {"checks": "number and antonym"})


def test_a_gate_takes_models_runs_and_baselines(numbers, runs):
    for baseline in (runs / "run", runs / "kept", str(runs / "kept")):
        decision = encheck.gate(runs / "run", baseline)
        assert (decision.outcome, decision.partial.weighed) == ("inconclusive", ("number",))
    assert encheck.gate("bag-of-words", runs / "kept", **numbers).outcome == "block"
    decision = encheck.gate("oracle", "oracle", **numbers)
    assert np.unique([row.change for row in decision.rows]).tolist() == [0]


def test_a_gate_of_a_part_of_the_checks_is_partial_and_never_passes(numbers, contrasts_alone, store):
    decision = encheck.gate("oracle", "oracle", **numbers)
    assert (decision.outcome, decision.exit_code, decision.partial.weighed) == ("inconclusive", 10, ("number",))
    assert "antonym" in decision.partial.left_out
    whole = encheck.gate("bag-of-words", "bag-of-words", data=contrasts_alone, store=store)
    assert (whole.outcome, whole.exit_code, whole.partial) == ("pass", 0, None)


def test_options_of_pytest_in_the_environment_do_not_reach_a_run(numbers, monkeypatch):
    monkeypatch.setenv("PYTEST_ADDOPTS", "--collect-only -m antonym")
    assert {row.property for row in encheck.run("oracle", **numbers).rows} == {"number"}


def test_a_gate_over_all_checks_misses_what_the_candidate_did_not_run(numbers, runs):
    encheck.run("oracle", report_dir=runs / "other", **numbers | {"checks": "antonym"})
    decision = encheck.gate(runs / "other", runs / "kept")
    assert (decision.outcome, len(decision.decision.missing)) == ("inconclusive", 3)
    assert "number" in decision.partial.left_out


def test_a_gate_refuses_what_cannot_be_compared(numbers, runs):
    with pytest.raises(BaselineError, match="gives vectors, but 'overlap' gives scores of pairs"):
        encheck.gate("overlap", runs / "kept", **numbers)
    with pytest.raises(UsageError, match="a run of 2 models"):
        encheck.gate(runs / "two", runs / "kept", **numbers)
    with pytest.raises(UsageError, match="kept is not a run"):
        encheck.gate(runs / "kept", "oracle", **numbers)
    with pytest.raises(UsageError, match="twin is an option of"):
        encheck.gate("oracle", runs / "kept", twin="oracle", **numbers)


@pytest.mark.parametrize("call", [encheck.run, encheck.gate, encheck.threshold])
def test_a_file_that_is_no_store_is_refused_by_the_api(tmp_path, call):
    thesis = tmp_path / "thesis.md"
    thesis.write_text("# My thesis")
    (tmp_path / "own.csv").write_text("first,second,label\na b,b a,1\nc d,e f,0\n")
    data = f"pairs:{tmp_path / 'own.csv'}"
    args = ("oracle", "bag-of-words") if call is encheck.gate else ("oracle",)
    with pytest.raises((StoreError, UsageError), match=r"thesis.md is another kind of file, and is left as it is"):
        call(*args, data=data, store=thesis)
    assert thesis.read_text() == "# My thesis"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["own.csv", "thesis.md"]


@pytest.mark.parametrize("name", [name for name in encheck.__all__ if name not in ("Result", "__version__")])
def test_a_public_docstring_says_what_is_raised_and_has_an_example_that_runs(name):
    text = inspect.getdoc(getattr(encheck, name))
    assert ">>> " in text  # `make docs` runs it
    assert name == "Results" or all(part in text for part in ("Args:", "Returns:", "Raises:"))
