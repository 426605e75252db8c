"""Whatever stops a run, what it computed is kept; however many workers run, one of them encodes."""

import json
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path
from threading import Timer

import pytest
from filelock import FileLock
from typer.testing import CliRunner

from encheck.cli import app
from encheck.store import Store

ADAPTER = """
import os, time
from pathlib import Path
import numpy as np
from encheck.encoders.fake import BagOfWords

class Slow(BagOfWords):
    def encode(self, texts, *, role=None):
        with Path("encoders.log").open("a") as log:
            log.write(f"{os.getpid()}\\n")
        time.sleep(float(os.environ.get("SLOWNESS", "0")))
        return super().encode(texts)

    def batches(self, texts, *, role=None):
        for start in range(0, len(texts), 50):
            rows = np.arange(start, min(start + 50, len(texts)))
            yield rows, self.encode([texts[i] for i in rows])
"""


@pytest.fixture
def start(tmp_path, contrasts_alone):
    """Begin `encheck run` on a slow encoder in an empty folder of its own."""
    (tmp_path / "slow.py").write_text(ADAPTER)
    (tmp_path / "models.yaml").write_text("slow: {adapter: 'slow:Slow'}\n")

    def start(*args, slowness="0", **more):
        found = os.pathsep.join(filter(None, (str(tmp_path), os.environ.get("PYTHONPATH"))))
        environment = os.environ | {"PYTHONPATH": found, "SLOWNESS": slowness}
        command = [sys.executable, "-m", "encheck", "run", "--model=slow", "--report-dir=out", "-q"]
        command += [f"--data={contrasts_alone}", *args]
        pipe = subprocess.PIPE
        return subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=pipe, stderr=pipe, text=True, **more)

    return start


@pytest.fixture
def run_here(tmp_path, contrasts_alone, monkeypatch):
    """The same run in this process, for what no signal and no limit of a process is needed."""
    (tmp_path / "slow.py").write_text(ADAPTER)
    (tmp_path / "models.yaml").write_text("slow: {adapter: 'slow:Slow'}\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)  # workers get it too
    monkeypatch.delitem(sys.modules, "slow", raising=False)
    asked = ["run", "--model=slow", "--report-dir=out", "-q", f"--data={contrasts_alone}"]
    return lambda *args: CliRunner().invoke(app, [*asked, *args])


def kept():
    path = Path(os.environ["ENCHECK_STORE"])
    if not path.exists():
        return 0
    store = Store(path)
    rows = sum(stored.rows for stored in store.list_models())
    store.close()
    return rows


def wait_until_some_are_kept(process):
    deadline = time.monotonic() + 60
    while kept() <= 2:  # the pair that a model is tried on
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.1)


def heed_ctrl_c():
    """What a shell starts in the background, these tests too, would ignore it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.parametrize(
    ("stop", "code"),
    [
        (signal.SIGTERM, 130),
        *(pytest.param(*one, marks=pytest.mark.long) for one in ((signal.SIGINT, 130), (signal.SIGKILL, -9))),
    ],
    ids=["terminated", "ctrl-c", "killed"],
)
def test_a_run_that_is_stopped_keeps_what_it_encoded(start, run_here, tmp_path, stop, code):
    process = start(slowness="0.4", preexec_fn=heed_ctrl_c)
    wait_until_some_are_kept(process)
    process.send_signal(stop)
    process.communicate(timeout=60)
    assert process.returncode == code
    before = kept()
    assert before % 50 in (0, 2)  # with the pair that a model is tried on, or that among them
    run_here()
    told = json.loads((tmp_path / "out" / "results.json").read_text("utf-8"))
    assert told["run"]["encoded"]["slow"] == kept() - before


@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["alone", "xdist"])
def test_a_run_that_is_killed_leaves_nothing_of_the_run_before_it_in_its_folder(start, tmp_path, workers):
    folder = tmp_path / "out"
    folder.mkdir()
    for name in ("results.json", "summary.md", ".items.parquet.17", "notes.txt"):
        (folder / name).write_text('{"schema_version": 2}' if name == "results.json" else "the run before")
    process = start(*workers, slowness="0.4", start_new_session=True)
    wait_until_some_are_kept(process)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate(timeout=60)
    assert [path.name for path in folder.iterdir()] == ["notes.txt"]


def test_a_folder_that_cannot_be_cleared_is_one_message_before_anything_is_measured(run_here, tmp_path, capfd):
    (tmp_path / "out" / "summary.md").mkdir(parents=True)
    (tmp_path / "out" / "results.json").write_text('{"schema_version": 2}')
    done = run_here()
    said = capfd.readouterr()
    assert (done.exit_code, kept()) == (4, 0)
    assert "cannot remove out/summary.md, which an earlier run wrote" in done.output + said.out + said.err


@pytest.mark.long
def test_of_many_workers_one_encodes(run_here, tmp_path, monkeypatch):
    monkeypatch.setenv("SLOWNESS", "0.02")
    assert run_here("-n", "4").exit_code in (0, 1)
    log = (tmp_path / "encoders.log").read_text().split()
    assert len(set(log)) == 1
    assert len(log) > 10


@pytest.mark.long
def test_a_store_that_is_set_aside_is_said_though_workers_open_it_later(start, tmp_path):
    bad = tmp_path / "bad.sqlite"
    Store(bad).close()
    header = bad.read_bytes()[:100]
    bad.write_bytes(header + b"no store" * 1000)
    process = start("-n", "2", "--store=bad.sqlite", "--quick")
    _, err = process.communicate(timeout=120)
    assert err.count("the store bad.sqlite is damaged") == 1
    told = json.loads((tmp_path / "out" / "results.json").read_text("utf-8"))
    assert any("the store bad.sqlite is damaged" in note for note in told["run"]["notes"])


@pytest.mark.long
def test_a_run_that_waits_for_another_says_so_and_the_report_names_the_time_apart(start, tmp_path):
    lock = f"{os.environ['ENCHECK_STORE']}.cpu.lock"
    signed = Path(f"{lock}.by")
    with FileLock(lock):
        signed.write_text('{"pid": 17, "since": "2026-01-01 10:00:00", "run": "another"}')
        process = start()
        late = Timer(60, process.kill)
        late.start()
        said = next(line for line in process.stderr if "another run" in line)
    process.communicate(timeout=60)
    late.cancel()
    assert said == "encheck: waiting for another run that encodes on cpu: pid 17, since 2026-01-01 10:00:00\n"
    assert process.returncode in (0, 1)
    run = json.loads((tmp_path / "out" / "results.json").read_text("utf-8"))["run"]
    assert run["wait_seconds"] >= 5
    assert run["encode_seconds"] < 5
    page = (tmp_path / "out" / "report.html").read_text("utf-8")
    assert f"It waited {run['wait_seconds']:.1f} seconds for other runs" in page


def test_a_full_disk_is_said_and_the_run_still_tells_its_verdicts(start, tmp_path):
    limit = 90_000
    Store(Path(os.environ["ENCHECK_STORE"])).close()
    process = start(preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
    out, err = process.communicate(timeout=60)
    assert process.returncode not in (0, 5)
    assert "this run continues without saving" in err
    assert "cannot write the results to out: results.json: File too large" in out
    assert not list((tmp_path / "out").glob(".*"))
    assert "slow on contrast" in out
    assert "INTERNALERROR" not in out + err
