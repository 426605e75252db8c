"""Who waits for whom: one process a device, nobody for a server, and of a run's workers one that encodes."""

import logging
import os
import re
import threading
import time
from contextlib import ExitStack, contextmanager

import numpy as np
import pytest
from filelock import FileLock
from test_scoring_session import REQUESTS, Counting, session_of, texts_of

from encheck.claims import Claim
from encheck.encoders.load import load_model
from encheck.encoders.model_config import Device, ModelConfig
from encheck.engine import locks as module
from encheck.engine.case_outcome import ProcessDescription
from encheck.engine.locks import Locks, device_names
from encheck.engine.recorder import Conclusion, Recorder
from encheck.items.searches import repeated_texts
from encheck.options.settings import RunSettings
from encheck.run_file import Selection
from encheck.store import Store
from encheck.system.lock import WorkClock
from encheck.system.terminal import Progress

QUIET = {"progress": Progress(quiet=True)}


class Remote(Counting):
    """Computes on no device of this machine, and takes its time."""

    devices = ()

    def encode(self, texts, *, role=None):
        time.sleep(0.05)
        return super().encode(texts)


class OnGpu(Counting):
    devices = ("cuda:1",)


@pytest.fixture(autouse=True)
def hurry(monkeypatch):
    monkeypatch.setattr(module, "PATIENCE", 0.05)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "store.sqlite"


def locks_of(path, **how):
    return Locks(path, WorkClock(), **how)


@contextmanager
def another_run(path, model=None, *, does=None, seconds=0.5):
    """Another run holds the locks of this model, or parses, for some time."""
    there = threading.Event()

    def hold():
        locks = Locks(path, WorkClock())
        locks._name = "another run"
        with ExitStack() as held:
            for lock in [locks.lock_for_parsing()] if does == "parse" else locks.locks_for_encoding(model):
                held.enter_context(lock)
            there.set()
            time.sleep(seconds)

    thread = threading.Thread(target=hold)
    thread.start()
    there.wait()
    try:
        yield
    finally:
        thread.join()


def encoded(path, model, *, run=None):
    """A process of a run: its bench, which shares the store at `path`, and its locks."""
    store = Store(path)
    try:
        locks = Locks(path, WorkClock(), run=run)
        bench = session_of(store, model, clock=locks._clock)
        bench.prepare(REQUESTS, locks=locks.locks_for_encoding, **QUIET)
    finally:
        store.close()
    return bench, locks


@pytest.mark.parametrize("model", [Remote(), OnGpu()], ids=["remote", "another device"])
def test_a_model_waits_for_nobody_who_computes_elsewhere(path, model):
    with another_run(path, Counting(), seconds=0.1):
        bench, locks = encoded(path, model)
        assert set(model.asked) == texts_of(bench)
        assert locks._clock.for_others == 0


def test_an_encoder_behind_a_server_takes_no_lock(path, monkeypatch):
    config = ModelConfig("served", name="http://localhost:1", adapter="openai", options={"model": "m"})
    assert list(locks_of(path).locks_for_encoding(load_model(config, device=Device()))) == []


def test_a_model_on_the_same_device_waits_and_says_for_whom(path, caplog):
    with another_run(path, Counting()), caplog.at_level(logging.WARNING, "encheck"):
        encoded(path, Counting())
    said = rf"waiting for another run that encodes on cpu: pid {os.getpid()}, since \d{{4}}-\d\d-\d\d \d\d:\d\d:\d\d"
    assert re.fullmatch(said, caplog.messages[0])  # another, without a name, where the lock is freed meanwhile
    assert all(line.startswith("waiting for another run that encodes on cpu") for line in caplog.messages)


def test_waiting_counts_as_no_encoding(path):
    with another_run(path, Counting(), seconds=1.5):
        bench, locks = encoded(path, Counting())
    assert locks._clock.for_others > 1
    assert 0 < bench.seconds["encode"] < 1
    assert 0 < bench.subjects["tiny"].state.seconds < 1


def test_waiting_for_parses_is_said_and_counts_as_no_work(path, caplog):
    locks = locks_of(path)
    with another_run(path, does="parse"):
        start = locks._clock.now()
        with locks.lock_for_parsing():
            assert locks._clock.now() - start < 0.3
    assert locks._clock.for_others > 0.2
    assert caplog.messages[0].startswith("waiting for another run that parses for the same store: pid ")


def test_a_worker_of_the_same_run_is_waited_for_in_silence_and_counts_as_no_other_run(path, tmp_path, caplog):
    run = str(tmp_path / "run.lock")
    locks, there = locks_of(path, run=run), threading.Event()

    def hold():
        with FileLock(run):
            there.set()
            time.sleep(0.4)

    sibling = threading.Thread(target=hold)
    sibling.start()
    there.wait()
    start = locks._clock.now()
    for lock in locks.locks_for_encoding(Remote()):
        with lock:
            assert locks._clock.now() - start < 0.2
    sibling.join()
    assert (locks._clock.for_others, caplog.messages) == (0, [])


@pytest.mark.parametrize("kind", [Remote, Counting], ids=["remote", "cpu"])
def test_of_two_workers_of_a_run_one_encodes(path, tmp_path, kind):
    models, run = [kind(), kind()], str(tmp_path / "run.lock")
    workers = [threading.Thread(target=encoded, args=(path, model), kwargs={"run": run}) for model in models]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    asked = [text for model in models for text in model.asked]
    assert len(asked) == len(set(asked)) > 0
    assert sorted(bool(model.asked) for model in models) == [False, True]


def test_who_waited_does_not_encode_again_for_the_check_of_determinism(path):
    store, other = Store(path), Store(path)
    requests = [("tiny", "demo", Claim(repeated_texts), 1)]
    first, second = Remote(), Remote()

    def locks(_model):
        @contextmanager
        def lock():
            session_of(other, first).prepare(requests, locks=lambda _: (), **QUIET)
            yield

        return [lock()]

    bench = session_of(store, second)
    bench.prepare(requests, locks=locks, **QUIET)
    assert first.asked
    assert second.asked == []
    assert bench.subjects["tiny"].again
    store.close()
    other.close()


def test_who_finds_everything_after_the_lock_of_the_run_asks_for_no_device(path, tmp_path):
    class Heavy(Counting):
        asked_for = 0

        @property
        def devices(self):
            self.asked_for += 1  # as an import of torch would be
            return ("cpu",)

    models, run = [Heavy(), Heavy()], str(tmp_path / "run.lock")
    workers = [threading.Thread(target=encoded, args=(path, model), kwargs={"run": run}) for model in models]
    with FileLock(run):
        for worker in workers:
            worker.start()
        time.sleep(0.2)
    for worker in workers:
        worker.join()
    assert sorted(model.asked_for for model in models) == [0, 1]


def test_a_model_whose_device_is_taken_is_not_tried_out_and_no_error(path):
    store, model = Store(path), Counting()
    bench = session_of(store, model)
    with another_run(path, Counting(), seconds=0.2):
        bench.smoke_test_models(REQUESTS, locks=locks_of(path).locks_if_free, **QUIET)
    assert (model.asked, bench.subjects["tiny"].error) == ([], None)
    bench.smoke_test_models(REQUESTS, locks=locks_of(path).locks_if_free, **QUIET)
    assert model.asked
    store.close()


def test_two_runs_with_several_devices_take_them_in_one_order(path, monkeypatch):
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    assert (
        device_names(("cuda:1", "cpu", "cuda"))
        == device_names(("cuda:0", "cpu", "cuda:1"))
        == ["cpu", "cuda:0", "cuda:1"]
    )
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "3, GPU-a/b")
    assert device_names(("cuda", "cuda:1")) == ["cuda:3", "cuda:GPU-a/b"]
    assert locks_of(path)._path("cuda:GPU-a/b") == f"{path}.cuda-GPU-a-b.lock"


@pytest.mark.parametrize("signed", ["", "[" * 100_000, "{}", '{"pid": "x", "since": 1, "run": 2}', "\udcff"])
def test_a_signature_that_cannot_be_read_leaves_the_message_without_it(path, signed, caplog):
    with another_run(path, Counting(), seconds=0.3):
        (path.parent / "store.sqlite.cpu.lock.by").write_bytes(signed.encode("utf-8", "surrogateescape"))
        encoded(path, Counting())
    assert caplog.messages == ["waiting for another run that encodes on cpu"]
    assert not list(path.parent.glob("*.by"))


def test_several_processes_write_to_one_store_at_once_and_nothing_is_lost(path, caplog):
    keys = [f"{i:016}".encode() for i in range(60)]

    def write(number):
        store = Store(path)
        for key in keys:
            store.put("vector", f"model {number}", [key], np.full((1, 4), number, np.float32), name="m")
        store.close()

    writers = [threading.Thread(target=write, args=(number,)) for number in range(4)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    store = Store(path)
    found = [store.get("vector", f"model {number}", keys) for number in range(4)]
    assert all(there.all() and (arrays == number).all() for number, (arrays, there) in enumerate(found))
    assert caplog.messages == []
    store.close()


def test_the_time_of_a_run_is_without_what_it_waited(path):
    recorder = Recorder()
    recorder._clock -= 100
    for wait, encode in ((90.0, 2.0), (0.0, 1.0)):
        seconds = {"wait": wait, "encode": encode, "generate": 3.0}
        recorder.described.append(ProcessDescription((), (), (), Selection((), ()), seconds, {}, {"m": 4}))
    run = recorder.results(settings=RunSettings(), end=Conclusion(0)).run
    assert (run.wait_seconds, run.encode_seconds, run.generate_seconds) == (90.0, 2.0, 3.0)
    assert 10 <= run.seconds < 11
