"""Data and finished shards in an object store that speaks S3: moto's, on this machine."""

import json
import logging
import subprocess
import sys
from collections import Counter

import pytest
from ray_works import Overlap

from encheck.datasets.reader import BadRows
from encheck.errors import DataError
from encheck.scale import storage
from encheck.scale.ray_engine import RayEngine
from encheck.scale.shards import LocalEngine, plan_shards, read_shard_table

pytest_plugins = ("ray_fixtures",)

BUCKET = "encheck-pairs"
KEYS = {"AWS_ACCESS_KEY_ID": "someone", "AWS_SECRET_ACCESS_KEY": "secret"}
OTHERS = ("AWS_PROFILE", "AWS_SESSION_TOKEN", "AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_ROLE_ARN")


@pytest.fixture(scope="module")
def server():
    """The address of an S3 server with an empty bucket."""
    servers = pytest.importorskip("moto.server", reason="needs moto: pip install 'encheck[dev]'")
    pytest.importorskip("s3fs", reason="needs s3fs: pip install 'encheck[s3]'")
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    running = servers.ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    running.start()
    host, port = running.get_host_and_port()
    yield f"http://{host}:{port}"
    running.stop()


@pytest.fixture
def store(server, monkeypatch, in_files, tmp_path):
    """s3fs, and the pairs in the bucket."""
    import s3fs

    settings = KEYS | {
        "AWS_ENDPOINT_URL": server,
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_CONFIG_FILE": str(tmp_path / "no-config"),
        "AWS_SHARED_CREDENTIALS_FILE": str(tmp_path / "no-credentials"),
    }
    for name in OTHERS:
        monkeypatch.delenv(name, raising=False)
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    s3fs.S3FileSystem.clear_instance_cache()
    system = s3fs.S3FileSystem()
    if system.exists(BUCKET):
        system.rm(BUCKET, recursive=True)
    system.mkdir(BUCKET)
    system.put(str(in_files), f"{BUCKET}/logs/", recursive=True)
    yield system
    s3fs.S3FileSystem.clear_instance_cache()


def counted(engine, work, place):
    done = list(engine.run(work, plan_shards(place, rows=25).shards))
    assert Counter(one.shard.number for one in done) == Counter(range(12))
    return [dict(one.counts) for one in sorted(done, key=lambda one: one.shard.number)]


def test_a_bucket_is_read_and_written_as_a_folder_is(store, in_files, tmp_path):
    place = f"s3://{BUCKET}/logs"
    made = plan_shards(place, rows=25)
    assert made.rows == 300
    assert read_shard_table(made.shards[5]).equals(read_shard_table(plan_shards(in_files, rows=25).shards[5]))
    finished = f"s3://{BUCKET}/finished"
    expected = counted(LocalEngine(), Overlap(str(tmp_path / "finished")), in_files)
    assert counted(LocalEngine(), Overlap(finished), place) == expected
    assert len(storage.list_files(finished, ending=".json")) == 12
    assert counted(LocalEngine(), Overlap(finished, kind="begin crashes"), place) == expected  # from what is there


def test_the_fingerprint_follows_the_objects(store, in_files):
    before = plan_shards(f"s3://{BUCKET}/logs").fingerprint
    assert plan_shards(f"s3://{BUCKET}/logs").fingerprint == before
    store.rm(f"{BUCKET}/logs/data/part-2.parquet")
    assert plan_shards(f"s3://{BUCKET}/logs").fingerprint != before


def test_an_object_that_cannot_be_read_is_named_or_counted(store):
    store.pipe_file(f"{BUCKET}/logs/data/part-3.parquet", b"PAR1, and no more")
    with pytest.raises(DataError, match=rf"s3://{BUCKET}/logs/data/part-3.parquet: is not a Parquet file"):
        plan_shards(f"s3://{BUCKET}/logs")
    made = plan_shards(f"s3://{BUCKET}/logs", BadRows(skip=True))
    assert made.rows == 300
    assert len(made.skipped) == 1


def test_a_bucket_that_does_not_exist_is_named(store):
    with pytest.raises(DataError, match="s3://no-such-bucket/logs: does not exist: check the name of the bucket"):
        plan_shards("s3://no-such-bucket/logs")
    with pytest.raises(DataError, match="s3://no-such-bucket/a: "):
        storage.write_whole("s3://no-such-bucket/a", b"a")


def test_missing_credentials_are_told_with_what_to_set(store, monkeypatch):
    for name in KEYS:
        monkeypatch.delenv(name)
    type(store).clear_instance_cache()
    with pytest.raises(DataError, match=r"no credentials were found.*AWS_ACCESS_KEY_ID"):
        plan_shards(f"s3://{BUCKET}/logs")


@pytest.mark.long
def test_a_run_measures_a_bucket(store, tmp_path):
    command = [sys.executable, "-m", "encheck", "run", "-m", "paraphrase", "--model=bag-of-words", "--engine=local"]
    places = [f"--data=pairs:s3://{BUCKET}/logs", f"--shards-dir=s3://{BUCKET}/run", f"--report-dir={tmp_path / 'r'}"]
    done = subprocess.run([*command, *places], capture_output=True, text=True, cwd=tmp_path, timeout=300)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    assert json.loads((tmp_path / "r" / "results.json").read_text())["data"][0]["whole"]["pairs"] == 300
    assert storage.list_files(f"s3://{BUCKET}/run", ending=".parquet")


@pytest.mark.long
def test_actors_read_and_write_a_bucket(store, ray_here, in_files, tmp_path):
    expected = counted(LocalEngine(), Overlap(str(tmp_path / "expected")), in_files)
    finished = f"s3://{BUCKET}/by-actors"
    assert counted(RayEngine(finished, workers=2), Overlap(finished), f"s3://{BUCKET}/logs") == expected
    assert len(storage.list_files(finished, ending=".json")) == 12
