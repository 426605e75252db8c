"""The instrument works alone: a run and a gate need no operation, nothing for data in shards, and no paper."""

import json
import subprocess
import sys

ALONE = """
import contextlib, io, json, sys
sys.modules.update(dict.fromkeys(("encheck.operations", "encheck.scale", "encheck_papers")))
import encheck
from encheck.cli import app
from typer.testing import CliRunner

how = {"data": sys.argv[1], "checks": "antonym"}
found = {
    "run": encheck.run("oracle", **how).exit_code, "gate": encheck.gate("random", "oracle", **how).outcome,
    "of": sorted(name for name in sys.modules if name.startswith("encheck.operations")),
}
asked = ("-m", "antonym", "-q", "--data", sys.argv[1])
for command in (
    ("run", "--model=oracle"), ("gate", "random", "oracle"), ("run", "--model=laser"),
    ("run", "--model=simcse-bertscore"), ("run", "--model=./model.doc2vec"),
    ("run", "--model=laser", "--model-arg=dtype=int3"),
):
    done = CliRunner().invoke(app, [*command, *asked])
    found[" ".join(command)] = (done.exit_code, done.output)
found["models laser"] = CliRunner().invoke(app, ["models", "laser"]).output
print(json.dumps(found))
"""


def test_a_run_and_a_gate_work_on_the_probes_and_models_of_papers_say_what_to_install(some_probes, tmp_path):
    (tmp_path / "model.doc2vec").touch()
    hidden = tmp_path / "encheck_papers-0.dist-info"  # stands before the papers that are installed, with no entry point
    hidden.mkdir()
    (hidden / "METADATA").write_text("Metadata-Version: 2.1\nName: encheck-papers\nVersion: 0\n")
    command = [sys.executable, "-c", ALONE, some_probes]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    found = json.loads(done.stdout.splitlines()[-1])
    assert (found["run"], found["gate"], found["of"]) == (0, "block", ["encheck.operations"])
    assert found["run --model=oracle"][0] == 0
    code, said = found["gate random oracle"]
    assert (code, "BLOCKED" in said, "Opposites got worse" in said) == (1, True, True)
    for model in ("laser", "simcse-bertscore", "./model.doc2vec"):
        code, said = found[f"run --model={model}"]
        assert (code, said.count("pip install ./papers")) == (4, 1)
    code, said = found["run --model=laser --model-arg=dtype=int3"]
    assert (code, "dtype" in said) == (4, True)
    assert "pip install ./papers" in found["models laser"]
