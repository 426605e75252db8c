"""The instrument works alone: a run and a gate need no operation, nothing for data in shards, and no paper."""

import subprocess
import sys

BLOCKED = "import sys; sys.modules.update(dict.fromkeys(('encheck.operations', 'encheck.scale', 'encheck_papers')))\n"


def alone(code, *args, cwd):
    command = [sys.executable, "-c", BLOCKED + code, *args]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)


def test_a_run_and_a_gate_work_on_the_probes(some_probes, tmp_path):
    code = (
        "import encheck\n"
        "how = {'data': sys.argv[1], 'checks': 'antonym', 'no_store': True}\n"
        "print(encheck.run('oracle', **how).exit_code, encheck.gate('random', 'oracle', **how).outcome)"
    )
    done = alone(code, some_probes, cwd=tmp_path)
    assert done.stdout == "0 block\n", done.stderr


def test_the_commands_work_on_the_probes(some_probes, tmp_path):
    code = "from encheck.cli import main; main(sys.argv[1:])"
    how = ("-m", "antonym", "-q", "--no-store", "--data", some_probes)
    assert alone(code, "run", "--model=oracle", *how, cwd=tmp_path).returncode == 0
    gate = alone(code, "gate", "random", "oracle", *how, cwd=tmp_path)
    assert (gate.returncode, "BLOCKED" in gate.stdout) == (1, True), gate.stderr
