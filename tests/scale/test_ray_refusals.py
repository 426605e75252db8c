"""What is wrong with a cluster is told in one message; no Ray is needed for these tests."""

import socket
from types import SimpleNamespace

import pytest
import ray_works

import encheck
from encheck.errors import UsageError
from encheck.scale.ray_engine import RayEngine, RayWorker, TryLedger, check_node, connect_ray
from encheck.scale.shards import Shard, plan_shards

pytest_plugins = ("ray_fixtures",)


def failing(error):
    def init(**_):
        raise error

    return SimpleNamespace(init=init, __version__="2.60.0")


def test_a_missing_ray_is_named_with_what_installs_it(in_files, tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "ray", None)
    with pytest.raises(UsageError, match=r"pip install 'encheck\[ray\]'"):
        list(RayEngine(str(tmp_path)).run(ray_works.Overlap(str(tmp_path)), plan_shards(in_files).shards))


def test_other_versions_of_ray_and_python_are_named():
    said = (
        "Version mismatch: The cluster was started with:\n    Ray: 2.9.0\n    Python: 3.10.4\n"
        "This process on node 10.0.0.1 was started with:\n    Ray: 2.60.0\n    Python: 3.11.7\n"
    )
    with pytest.raises(UsageError, match=r"the cluster has Ray 2.9.0 and Python 3.10.4, this machine has Ray 2.60.0"):
        connect_ray(failing(RuntimeError(said)), "auto", None)


def test_an_address_where_nothing_answers_is_named():
    with pytest.raises(UsageError, match=r"--address=auto: no Ray cluster answers there .*`ray start --head`"):
        connect_ray(failing(ConnectionError("Could not find any running Ray instance.")), "auto", None)


def test_a_port_where_nothing_listens_is_named_at_once():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(UsageError, match=f"--address={address}: nothing listens there"):
            connect_ray(failing(AssertionError), address, None)


@pytest.mark.parametrize("place", ["folder", "data"])
def test_what_lies_in_one_process_is_refused(place):
    shard = Shard(0, "memory://a.parquet" if place == "data" else "/a.parquet", 0, 1, 0, 1)
    folder = "memory://shards" if place == "folder" else "/tmp/shards"
    work = SimpleNamespace(stored_result=lambda shard: None)
    with pytest.raises(UsageError, match=r"^memory://\S+ is in this process"):
        list(RayEngine(folder).run(work, [shard]))


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ({"missing": "No module named 'encheck'"}, "node-7: encheck cannot be imported there"),
        ({"version": "0.0.1"}, f"node-7 has encheck 0.0.1, but the run has {encheck.__version__}"),
        ({"version": encheck.__version__, "problem": "s3://x: access is denied"}, "node-7: s3://x: access is denied"),
        (
            {"version": encheck.__version__, "sees": False, "reads": True},
            "node-7 does not see the folder of finished shards, .*: give --shards-dir",
        ),
        ({"version": encheck.__version__, "sees": True, "reads": False}, "node-7 does not see the data"),
    ],
)
def test_a_node_that_cannot_do_the_work_is_named(tmp_path, answer, said):
    own = tmp_path / "own"
    own.touch()
    with pytest.raises(UsageError, match=said):
        check_node("node-7", answer, str(own), str(tmp_path), "/data")


def test_a_worker_with_another_version_of_encheck_says_so():
    worker = RayWorker(ray_works.Overlap("/tmp"), ledger=None, version="0.0.1")
    assert "the run has 0.0.1" in worker.do.message


def test_the_ledger_counts_tries_and_stops_what_dies_while_it_loads():
    ledger = TryLedger(2)
    assert [ledger.may_load_model(), ledger.may_load_model(), ledger.may_load_model()] == [True, True, False]
    assert [ledger.count_try(7), ledger.count_try(7), ledger.count_try(8)] == [1, 2, 1]
    assert ledger.may_load_model()
