"""The wheel holds what it should, and the suite runs from it in an empty folder."""

import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """(wheel, python) of a new environment with the built wheel."""
    sys.path.insert(0, str(ROOT / "scripts"))
    import check_docs

    folder = tmp_path_factory.mktemp("wheel")
    python = check_docs.wheel_python(folder)
    return next((folder / "dist").glob("*.whl")), python


def run(python, *args, cwd):
    return subprocess.run([python, *args], cwd=cwd, env=os.environ.copy(), capture_output=True, text=True)


def test_the_wheel_holds_code_checks_generators_and_data_and_nothing_else(installed):
    names = set(zipfile.ZipFile(installed[0]).namelist())
    wanted = {
        "encheck/plugin/__init__.py", "encheck/py.typed", "encheck/models.yaml", "encheck/run.ini",
        "encheck/checks/test_antonym.py", "encheck/generators/jumble.py", "encheck/datasets/probes.jsonl",
        "encheck/datasets/probes.schema.json",
        "encheck/reporting/html/report.html", "encheck/reporting/html/report.css",
        "encheck/gating/shipped/sbert/items.parquet", "encheck/gating/shipped/bigrams/items.parquet",
    }  # fmt: skip
    assert wanted <= names
    assert {name.partition("/")[0] for name in names if "dist-info" not in name} == {"encheck"}
    licences = {name.partition("/licenses/")[2] for name in names if "/licenses/" in name}
    assert "LICENSE" in licences


def test_the_wheel_is_small(installed):
    assert installed[0].stat().st_size < 18_000_000  # 15 MB of pipeline, 3 MB of lexicon at most


def test_models_yaml_of_the_wheel_is_the_clones(installed):
    packed = zipfile.ZipFile(installed[0]).read("encheck/models.yaml")
    assert packed == (ROOT / "models.yaml").read_bytes()


@pytest.mark.long  # test_alone says the same of the sources
def test_without_the_papers_a_run_and_a_gate_work_and_models_say_what_to_install(installed, tmp_path, some_probes):
    def encheck(*args):
        return run(installed[1], "-m", "encheck", *args, cwd=tmp_path)

    probes = ("-m", "antonym", "-q", "--no-store", "--data", some_probes)
    assert encheck("run", *probes, "--model=oracle").returncode == 0
    gate = encheck("gate", "random", "oracle", *probes)
    assert gate.returncode == 1, gate.stderr
    assert "Opposites got worse" in gate.stdout
    (tmp_path / "model.doc2vec").touch()
    for model in ("laser", "simcse-bertscore", "./model.doc2vec"):
        refused = encheck("run", *probes, f"--model={model}")
        assert refused.returncode == 4
        assert refused.stderr.count("pip install ./papers") == 1
    wrong = encheck("run", *probes, "--model=laser", "--model-arg", "dtype=int3")
    assert (wrong.returncode, "dtype" in wrong.stderr) == (4, True)
    assert "pip install ./papers" in encheck("models", "laser").stdout


@pytest.mark.long  # `make docs` runs the README's commands from the wheel
def test_the_suite_runs_from_the_wheel_by_command_and_by_pyargs(installed, tmp_path):
    python = installed[1]
    lines = (ROOT / "src/encheck/datasets/probes.jsonl").read_text("utf-8").split("\n")
    (tmp_path / "some.jsonl").write_text("\n".join(lines[::9]), "utf-8")
    where = run(python, "-c", "import encheck; print(encheck.__file__)", cwd=tmp_path).stdout
    assert str(ROOT) not in where
    command = run(python, "-m", "encheck", "run", "-m", "number", "--model=oracle", "-q", "--quick", cwd=tmp_path)
    assert command.returncode == 0, command.stderr
    args = ("-m", "pytest", "-q", "--pyargs", "encheck.checks", "--encheck-model", "oracle")
    by_pytest = run(python, *args, "--encheck-data=probes:some.jsonl", cwd=tmp_path)
    assert by_pytest.returncode == 0, by_pytest.stdout
    assert re.search(r"oracle passes \d+ of \d+ checks", by_pytest.stdout)
    assert "below aim" not in by_pytest.stdout


@pytest.mark.long  # `make docs` runs the README's command on it from the wheel each time
def test_the_real_default_model_runs_from_the_wheel(installed, tmp_path, some_probes):
    args = ["run", "-k", "synonym_of_the_same_word", "-q", "--data", some_probes]
    done = run(installed[1], "-m", "encheck", *args, "--model", "sbert", cwd=tmp_path)
    assert done.returncode == 0, done.stdout
    assert "sbert on built-in English sentences (probes), weakest first" in done.stdout
    again = f"import sys, encheck.cli as c\ntry: c.main({args})\nexcept SystemExit: pass\n"
    warm = run(installed[1], "-c", again + "print('torch' in sys.modules)", cwd=tmp_path)
    assert warm.stdout.strip().endswith("False")
