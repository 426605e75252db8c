"""Shards on a Ray cluster: the same results as in one process, whatever dies; about 4 minutes."""

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
from ray_works import Overlap, begun

from encheck.errors import DataError, EncoderError
from encheck.scale.ray_engine import RayEngine
from encheck.scale.shards import LocalEngine, plan_shards

pytest_plugins = ("ray_fixtures",)
ROWS = 25  # of a shard
DRIVER = """
import sys
from ray_works import Overlap
from encheck.scale.ray_engine import RayEngine
from encheck.scale.shards import plan_shards

data, folder = sys.argv[1:]
list(RayEngine(folder, workers=2).run(Overlap(folder, pause=0.3), plan_shards(data, rows=25).shards))
"""


def counted(engine, work, data):
    """The counts of each shard, in order."""
    done = list(engine.run(work, plan_shards(data, rows=ROWS).shards))
    numbers = [one.shard.number for one in done]
    assert sorted(numbers) == list(range(12))  # each once
    return [dict(one.counts) for one in sorted(done, key=lambda one: one.shard.number)]


def expected(tmp_path, data):
    return counted(LocalEngine(), Overlap(str(tmp_path / "expected")), data)


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "shards"
    made.mkdir()
    return str(made)


@pytest.mark.long
def test_an_actor_does_each_shard_once_as_one_process_does(ray_here, in_files, folder, tmp_path):
    engine = RayEngine(folder, workers=1)
    assert counted(engine, Overlap(folder), in_files) == expected(tmp_path, in_files)
    assert Counter(number for number, _ in begun(folder)) == Counter(range(12))
    assert os.getpid() not in {process for _, process in begun(folder)}
    assert counted(engine, Overlap(folder), in_files) == expected(tmp_path, in_files)
    assert len(begun(folder)) == 12  # the second time, from the files
    engine.close()


@pytest.mark.long
@pytest.mark.parametrize("kind", ["shard dies once", "shard runs out of memory once", "begin dies once"])
def test_a_worker_that_dies_changes_nothing(ray_here, in_files, folder, tmp_path, kind):
    engine = RayEngine(folder, workers=2)
    assert counted(engine, Overlap(folder, trouble=3, kind=kind), in_files) == expected(tmp_path, in_files)
    assert (Path(folder) / "died").exists()


@pytest.mark.long
@pytest.mark.parametrize(
    ("kind", "error", "said"),
    [
        ("shard dies always", DataError, r"part-0.parquet, row group 3: worker processes died at it 3 times"),
        ("begin dies always", EncoderError, "died 3 times each while they loaded the model"),
        ("shard is wrong", DataError, "b.parquet:3: the label is 7"),
        ("shard crashes", EncoderError, "part-0.parquet, row group 3: KeyError: 'vocab'"),
        ("begin fails", EncoderError, "the model gives no numbers"),
    ],
)
def test_what_cannot_be_done_ends_in_one_message(ray_here, in_files, folder, kind, error, said):
    with pytest.raises(error, match=said):
        counted(RayEngine(folder, workers=2), Overlap(folder, trouble=3, kind=kind), in_files)


@pytest.mark.long
def test_a_run_whose_driver_was_killed_goes_on(ray_here, in_files, folder, tmp_path):
    driver = subprocess.Popen(
        [sys.executable, "-c", DRIVER, str(in_files), folder], start_new_session=True, stderr=subprocess.DEVNULL
    )
    end = time.monotonic() + 300
    while len(list(Path(folder).glob("*.json"))) < 4 and time.monotonic() < end:
        assert driver.poll() is None
        time.sleep(0.05)
    driver.send_signal(signal.SIGKILL)
    driver.wait()
    kept = {path.name: path.stat().st_mtime_ns for path in Path(folder).glob("*.json")}
    assert 4 <= len(kept) < 12
    assert counted(RayEngine(folder, workers=2), Overlap(folder), in_files) == expected(tmp_path, in_files)
    assert all((Path(folder) / name).stat().st_mtime_ns == then for name, then in kept.items())
