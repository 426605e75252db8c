"""The embedding store: what it keeps, what it never mixes, and how it survives other processes, kills and damage."""

import itertools
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path
from unittest import mock

import numpy as np
import platformdirs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from encheck.errors import StoreError, UnusableStoreError
from encheck.store import Store, default_store_path, file_sha256, text_key

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=20)  # lone surrogates and NULs among them
KEYS = [text_key(f"sentence {i}") for i in range(300)]
VECTORS = np.random.default_rng(0).standard_normal((300, 24)).astype(np.float32)
FRESH = itertools.count()


def missing(store, kind, fingerprint, keys):
    """Positions of the keys that the store lacks."""
    _, there = store.get(kind, fingerprint, keys)
    return np.flatnonzero(~there).tolist()


WRITER = """
import sys
from pathlib import Path
import numpy as np
from encheck.store import Store, text_key
store = Store(Path(sys.argv[1]))
print("ready", flush=True)
for batch in range(int(sys.argv[2])):
    keys = [text_key(f"{batch}/{i}") for i in range(50)]
    store.put("vector", "f", keys, np.full((50, 64), batch, np.float32), name="writer")
"""
BEGINNER = """
import sys
from pathlib import Path
import numpy as np
from encheck.store import Store, text_key
print("ready", flush=True)
sys.stdin.readline()
store = Store(Path(sys.argv[1]))
store.put("vector", "f", [text_key(sys.argv[2])], np.ones((1, 3), np.float32), name="beginner")
"""
ON_A_SMALL_DISK = """
import logging, resource, signal, sys
from pathlib import Path
import numpy as np
from encheck.store import Store, text_key
logging.basicConfig(format="%(message)s")
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
store = Store(Path(sys.argv[1]))
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
for batch in range(20):
    store.put("vector", "f", [text_key(str(batch))], np.ones((1, 10_000), np.float32), name="large")
print("went on")
"""


@pytest.fixture
def path(tmp_path):
    return tmp_path / "store.sqlite"


@pytest.fixture
def store(path):
    opened = Store(path)
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def shared_store(tmp_path_factory):
    opened = Store(tmp_path_factory.mktemp("shared") / "store.sqlite")
    yield opened
    opened.close()


@pytest.fixture
def filled(path):
    """The path of a closed store with three models, everything in its one file."""
    opened = Store(path)
    for fingerprint in "abc":
        opened.put("vector", fingerprint, KEYS, VECTORS, name=fingerprint)
    opened.close()
    return path


@pytest.fixture
def folder():
    """A folder that any user may enter, unlike those of pytest."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)


@contextmanager
def read_only(folder):
    """Nobody writes there meanwhile; root, who could, is somebody else."""
    user = os.geteuid()
    folder.chmod(0o555)
    if user == 0:
        os.seteuid(65_534)
    try:
        yield
    finally:
        os.seteuid(user)
        folder.chmod(0o755)


@pytest.fixture
def python():
    """Start a Python process; what is left of it ends with the test."""
    with ExitStack() as stack:

        def start(code, *args):
            pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
            process = stack.enter_context(
                subprocess.Popen([sys.executable, "-c", code, *map(str, args)], text=True, **pipes)
            )
            stack.callback(process.kill)
            return process

        yield start


def sql(path, statement, values=()):
    db = sqlite3.connect(path)
    with db:
        rows = db.execute(statement, values).fetchall()
    db.close()
    return rows


def damaged_files(path):
    return [p for p in path.parent.glob("*.damaged-*") if not p.name.endswith(("-wal", "-shm"))]


def spoil(path, start, junk):
    with path.open("r+b") as file:
        file.seek(start)
        file.write(junk)


def holds(opened, fingerprint="a"):
    got, there = opened.get("vector", fingerprint, KEYS)
    return there.all() and (got == VECTORS).all()


# what goes in comes out


@settings(deadline=None)
@given(
    st.lists(ANY_TEXT, unique=True, max_size=8).flatmap(
        lambda texts: st.tuples(
            st.just(texts),
            st.integers(1, 40).flatmap(lambda width: npst.arrays(np.float32, (len(texts), width))),
        )
    )
)
def test_every_array_comes_back_bit_for_bit_for_any_text(shared_store, pair):
    texts, arrays = pair
    fingerprint, keys = f"model {next(FRESH)}", [text_key(t) for t in texts]
    shared_store.put("vector", fingerprint, keys, arrays, name="any")
    got, there = shared_store.get("vector", fingerprint, keys)
    assert there.all()
    assert got.tobytes() == arrays.tobytes()


@given(st.lists(ANY_TEXT, max_size=3), st.lists(ANY_TEXT, max_size=3))
def test_two_lists_of_texts_have_one_key_exactly_when_they_are_the_same(first, second):
    assert (text_key(*first) == text_key(*second)) == (first == second)


def test_a_store_keeps_what_it_holds_when_it_is_opened_again(filled):
    opened = Store(filled)
    assert holds(opened, "b")
    opened.close()


def test_two_kinds_and_two_fingerprints_never_mix(store):
    for number, (kind, fingerprint) in enumerate(itertools.product(("vector", "pair"), "fg")):
        store.put(kind, fingerprint, KEYS[:1], np.full((1, 2), number, np.float32), name="x")
    found = [store.get(kind, f, KEYS[:1])[0][0, 0] for kind, f in itertools.product(("vector", "pair"), "fg")]
    assert found == [0, 1, 2, 3]
    assert missing(store, "vector", "h", KEYS[:1]) == [0]


def test_missing_names_the_positions_that_are_not_there(store):
    store.put("vector", "f", KEYS[:200:2], VECTORS[:200:2], name="x")
    assert missing(store, "vector", "f", KEYS[:200]) == list(range(1, 200, 2))
    assert missing(store, "vector", "f", []) == []


def test_get_says_which_keys_are_there_and_keeps_their_order(store):
    store.put("vector", "f", [KEYS[2], KEYS[0]], VECTORS[[2, 0]], name="x")
    got, there = store.get("vector", "f", KEYS[:4])
    assert there.tolist() == [True, False, True, False]
    assert (got[[0, 2]] == VECTORS[[0, 2]]).all()
    assert not got[[1, 3]].any()


def test_more_keys_than_sqlite_takes_at_once_are_read_in_parts(store):
    keys = [text_key(str(i)) for i in range(2_345)]
    arrays = np.arange(2_345, dtype=np.float32)[:, None]
    store.put("pair", "f", keys, arrays, name="x")
    assert (store.get("pair", "f", keys[::-1])[0] == arrays[::-1]).all()


def test_a_key_written_twice_holds_the_later_array(store):
    store.put("vector", "f", KEYS[:1], VECTORS[:1], name="x")
    store.put("vector", "f", KEYS[:1], VECTORS[1:2], name="x")
    assert (store.get("vector", "f", KEYS[:1])[0] == VECTORS[1]).all()
    assert store.list_models()[0].rows == 1


def test_keys_and_arrays_of_different_numbers_are_refused(store):
    with pytest.raises(ValueError, match="zip"):
        store.put("vector", "f", KEYS[:2], VECTORS[:3], name="x")
    assert missing(store, "vector", "f", KEYS[:2]) == [0, 1]


def test_the_store_lies_where_the_environment_says_else_in_the_users_cache(monkeypatch):
    monkeypatch.setenv("ENCHECK_STORE", "/elsewhere/my.sqlite")
    assert default_store_path() == Path("/elsewhere/my.sqlite")
    monkeypatch.delenv("ENCHECK_STORE")
    assert default_store_path() == Path(platformdirs.user_cache_dir("encheck")) / "store.sqlite"


def test_a_user_without_a_home_has_no_default_store(monkeypatch):
    for name in ("ENCHECK_STORE", "HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    # a user whom the system does not know
    with (
        mock.patch("os.path.expanduser", lambda path: path),
        pytest.raises(UnusableStoreError, match="no cache folder for the store"),
    ):
        default_store_path()


# other processes


def test_what_another_process_writes_is_read_while_it_writes(store, python):
    store.put("vector", "mine", KEYS, VECTORS, name="mine")
    keys = [text_key(f"{batch}/0") for batch in range(60)]
    writer = python(WRITER, store.path, 60)
    while not (there := store.get("vector", "f", keys)[1]).all() and writer.poll() is None:
        seen = store.get("vector", "f", keys)[0][there]
        assert (seen == np.flatnonzero(there)[:, None]).all()
    assert writer.wait() == 0
    assert missing(store, "vector", "f", keys) == []
    assert holds(store, "mine")


def test_many_processes_begin_one_store_at_the_same_moment(path, python):
    beginners = [python(BEGINNER, path, number) for number in range(4)]
    assert [beginner.stdout.readline() for beginner in beginners] == ["ready\n"] * 4
    for beginner in beginners:
        beginner.stdin.write("go\n")
        beginner.stdin.flush()
    assert [beginner.wait() for beginner in beginners] == [0] * 4
    opened = Store(path)
    assert missing(opened, "vector", "f", [text_key(str(number)) for number in range(4)]) == []
    opened.close()


@pytest.mark.parametrize("moment", [random.Random(i).uniform(0, 0.15) for i in range(4)])
def test_a_killed_writer_leaves_whole_batches_and_no_warning(path, python, moment, caplog):
    writer = python(WRITER, path, 1_000_000)
    assert writer.stdout.readline() == "ready\n"
    time.sleep(moment)
    writer.kill()
    assert writer.wait() == -signal.SIGKILL
    opened = Store(path)
    batches = [[text_key(f"{batch}/{i}") for i in range(50)] for batch in range(300)]
    left = [len(missing(opened, "vector", "f", keys)) for keys in batches]
    assert set(left) <= {0, 50}
    assert left == sorted(left)
    opened.put("vector", "f", KEYS, VECTORS, name="next")
    assert holds(opened, "f")
    assert not caplog.records
    opened.close()


# damage


@pytest.mark.parametrize("junk", [b"this is no database", bytes(100), b"\xff" * 4_096], ids=["text", "zeros", "ones"])
def test_a_store_that_is_junk_after_its_header_is_set_aside_and_rebuilt(filled, caplog, junk):
    spoil(filled, 100, junk)
    before = filled.read_bytes()
    opened = Store(filled)
    assert missing(opened, "vector", "a", KEYS) == list(range(300))
    opened.put("vector", "a", KEYS, VECTORS, name="a")
    assert holds(opened)
    assert [p.read_bytes() for p in damaged_files(filled)] == [before]
    assert f"the store {filled} is damaged" in caplog.text
    assert damaged_files(filled)[0].name in caplog.text
    opened.close()


@pytest.mark.parametrize("at", [17, 18, 19, 21, 31, 47, 59, 60, 63])
def test_any_byte_of_the_header_may_be_wrong_that_does_not_say_whose_it_is(filled, caplog, at):
    before = filled.read_bytes()
    for byte in {255, before[at] ^ 1} - {before[at]}:
        filled.write_bytes(before[:at] + bytes([byte]) + before[at + 1 :])
        opened = Store(filled)
        found = opened.get("vector", "a", KEYS)
        assert not found[1].any() or holds(opened)
        for _ in range(2):  # the first may be lost to finding the damage
            opened.put("vector", "new", KEYS[:9], VECTORS[:9], name="new")
        assert missing(opened, "vector", "new", KEYS[:9]) == []
        opened.close()
        filled.with_name(f"{filled.name}-wal").unlink(missing_ok=True)
    assert len(damaged_files(filled)) == caplog.text.count("is set aside as")


@pytest.mark.parametrize("seed", range(25))
def test_junk_in_the_middle_never_gives_a_wrong_vector(filled, seed):
    rng = random.Random(seed)
    for _ in range(rng.randrange(1, 5)):
        spoil(filled, rng.randrange(4_096, filled.stat().st_size), rng.randbytes(rng.choice([1, 20, 500, 9_000])))
    opened = Store(filled)
    for fingerprint in "abc":
        got, there = opened.get("vector", fingerprint, KEYS)
        assert not there.any() or (got[there] == VECTORS[there]).all()
    opened.list_models()
    for _ in range(2):  # the first may be lost to finding the damage
        opened.put("vector", "new", KEYS, VECTORS, name="new")
    assert holds(opened, "new")
    opened.close()


@pytest.mark.parametrize("share", [0.02, 0.3, 0.9])
def test_a_truncated_file_is_set_aside_and_rebuilt(filled, caplog, share):
    with filled.open("r+b") as file:
        file.truncate(int(filled.stat().st_size * share))
    opened = Store(filled)
    for fingerprint in "abc":
        opened.get("vector", fingerprint, KEYS)
    for _ in range(2):
        opened.put("vector", "a", KEYS, VECTORS, name="a")
    assert holds(opened)
    assert "is damaged" in caplog.text
    assert len(damaged_files(filled)) == 1
    opened.close()


def test_an_empty_file_becomes_a_store(path, caplog):
    path.touch()
    opened = Store(path)
    opened.put("vector", "a", KEYS, VECTORS, name="a")
    assert holds(opened)
    assert not caplog.records
    opened.close()


def test_a_damaged_log_beside_the_file_costs_no_more_than_what_it_held(filled, caplog):
    Path(f"{filled}-wal").write_bytes(random.Random(0).randbytes(50_000))
    Path(f"{filled}-shm").write_bytes(random.Random(1).randbytes(32_768))
    opened = Store(filled)
    assert holds(opened)
    assert not caplog.records
    opened.close()


def test_two_users_of_a_damaged_store_set_it_aside_once_with_its_log_and_share_the_new_one(filled):
    first, second = Store(filled), Store(filled)
    first.mark_as_used("vector", "a")  # so that there is a log
    spoil(filled, 4_096, bytes(filled.stat().st_size - 4_096))
    assert missing(first, "vector", "a", KEYS[:1]) == [0]
    assert missing(second, "vector", "a", KEYS[:1]) == [0]
    first.put("vector", "a", KEYS, VECTORS, name="a")
    assert holds(second)
    assert len(damaged_files(filled)) == 1
    assert Path(f"{damaged_files(filled)[0]}-wal").stat().st_size > 0
    first.close()
    second.close()


def test_a_row_with_one_flipped_bit_is_missing_and_said_to_be(filled, caplog):
    broken = bytearray(VECTORS[7].tobytes())
    broken[5] ^= 1
    sql(filled, "UPDATE row SET data = ? WHERE key = ? AND model = 1", (bytes(broken), KEYS[7]))
    opened = Store(filled)
    assert missing(opened, "vector", "a", KEYS) == [7]
    assert opened.get("vector", "a", KEYS)[1].sum() == 299
    assert f"1 rows of the store {filled} do not match their checksum" in caplog.text
    opened.put("vector", "a", KEYS[7:8], VECTORS[7:8], name="a")
    assert holds(opened)
    opened.close()


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE row SET key = :other WHERE model = 1 AND key = :key",
        "UPDATE row SET (data, crc) = (SELECT data, crc FROM row WHERE model = 1 AND key != :key) WHERE key = :key",
        "UPDATE OR REPLACE row SET model = 1 WHERE model = 2 AND key = :key",
        "UPDATE row SET data = 'text' WHERE model = 1 AND key = :key",
        "UPDATE row SET data = NULL, crc = NULL WHERE model = 1 AND key = :key",
    ],
    ids=["another key", "another row's content", "another model's row", "text", "null"],
)
def test_a_row_that_is_not_what_was_written_for_its_key_is_missing(filled, change):
    sql(filled, change, {"key": KEYS[3], "other": text_key("never written")})
    opened = Store(filled)
    assert missing(opened, "vector", "a", [*KEYS, text_key("never written")]) == [3, 300]
    assert opened.get("vector", "a", KEYS)[1].sum() == 299
    opened.close()


# what is not a store of ours


def test_a_store_of_another_version_is_refused_and_left_alone(filled):
    sql(filled, "ALTER TABLE model ADD COLUMN more TEXT")
    sql(filled, "PRAGMA user_version = 99")
    with pytest.raises(StoreError, match=r"written by another encheck \(store version 99\); use --store=PATH"):
        Store(filled)
    sql(filled, "PRAGMA user_version = 1")
    opened = Store(filled)
    assert holds(opened)
    opened.close()


def everything_in(folder):
    """Name, kind, size and content of whatever lies there."""
    return {
        p.name: (p.lstat().st_mode, p.lstat().st_ino, p.read_bytes() if p.is_file() else b"") for p in folder.iterdir()
    }


def database(path, application_id=0):
    sql(path, "CREATE TABLE model (id INTEGER PRIMARY KEY, kind TEXT)")
    sql(path, f"PRAGMA application_id = {application_id}")
    sql(path, "PRAGMA user_version = 1")


def linked(make):
    def made(path):
        make(path.with_name("elsewhere"))
        path.symlink_to("elsewhere")

    return made


FOREIGN = {
    "a text": (lambda p: p.write_text("# My thesis\n" * 300), "another kind of file"),
    "one byte": (lambda p: p.write_bytes(b"x"), "another kind of file"),
    "zeros": (lambda p: p.write_bytes(bytes(5_000)), "another kind of file"),
    "a database": (database, "an SQLite database without the application id of encheck"),
    "a geopackage": (lambda p: database(p, 0x47504B47), "an SQLite database without the application id of encheck"),
    "a database cut off": (
        lambda p: (database(p), p.write_bytes(p.read_bytes()[:70])),
        "an SQLite database without the application id of encheck",
    ),
    "a directory": (Path.mkdir, "a directory"),
    "a pipe": (os.mkfifo, "a device, a pipe or a socket"),
    "a link to a text": (linked(lambda p: p.write_text("text")), "another kind of file"),
    "a link to a database": (linked(database), "an SQLite database without the application id of encheck"),
    "a link to a directory": (linked(Path.mkdir), "a directory"),
    "a link to a pipe": (linked(os.mkfifo), "a device, a pipe or a socket"),
    "a link to /dev/full": (lambda p: p.symlink_to("/dev/full"), "a device, a pipe or a socket"),
    "a name with a file where its log would be": (
        lambda p: p.with_name(f"{p.name}-wal").write_text("my own notes"),
        "a name whose log, .*store.sqlite-wal, would overwrite another file",
    ),
    "an empty file with a file where its journal would be": (
        lambda p: (p.touch(), p.with_name(f"{p.name}-journal").write_text("my own notes")),
        "a name whose log, .*store.sqlite-journal, would overwrite another file",
    ),
}


@pytest.mark.parametrize(("make", "what"), FOREIGN.values(), ids=FOREIGN)
def test_what_is_no_store_is_refused_and_left_as_it_is(path, make, what):
    make(path)
    before = everything_in(path.parent)
    with pytest.raises(StoreError, match=rf"the store {path} is {what}, and is left as it is: .* Remedy: name another"):
        Store(path)
    assert everything_in(path.parent) == before


@pytest.mark.parametrize("device", ["/dev/null", "/dev/full", "/dev/zero"])
def test_a_device_is_refused_and_stays_a_device(device):
    before = Path(device).stat()
    with pytest.raises(StoreError, match=rf"the store {device} is a device, a pipe or a socket, and is left as it is"):
        Store(Path(device))
    assert Path(device).stat()[:3] == before[:3]
    assert not list(Path("/dev").glob(f"{Path(device).name}?*"))


@pytest.mark.parametrize(("at", "what"), [(0, "another kind"), (15, "another kind"), (71, "an SQLite database")])
def test_a_header_that_no_longer_says_whose_it_is_is_refused(filled, at, what):
    spoil(filled, at, b"\xff")
    before = everything_in(filled.parent)
    with pytest.raises(StoreError, match=f"is {what}.* is left as it is"):
        Store(filled)
    assert everything_in(filled.parent) == before


def test_a_file_that_takes_the_place_of_a_store_during_a_run_is_left_as_it_is(filled):
    opened = Store(filled)
    filled.write_text("# My thesis\n" * 3_000)  # in the same place on the disk
    with pytest.raises(StoreError, match="is another kind of file, and is left as it is"):
        opened.get("vector", "a", KEYS)
    assert filled.read_text().startswith("# My thesis")
    assert damaged_files(filled) == []


def test_a_file_where_a_folder_should_be_is_refused(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match=r"cannot use the store .*--no-store"):
        Store(tmp_path / "file" / "store.sqlite")


@pytest.mark.parametrize("name", ["store.sqlite", "new/store.sqlite"])
def test_a_new_store_in_a_read_only_folder_is_refused(folder, name):
    with read_only(folder), pytest.raises(StoreError, match=rf"cannot use the store {folder / name}: .*--no-store"):
        Store(folder / name)


@pytest.mark.parametrize("is_damaged", [True, False], ids=["damaged", "sound"])
def test_a_store_that_may_not_be_written_is_refused_and_left_alone(folder, is_damaged):
    path = folder / "store.sqlite"
    Store(path).close()
    spoil(path, 100, b"no database at all" * 300 * is_damaged)
    before = path.read_bytes()
    with read_only(folder), pytest.raises(StoreError, match="cannot use the store"):
        Store(path)
    assert path.read_bytes() == before
    assert [p.name for p in folder.iterdir()] == ["store.sqlite"]


def test_a_closed_store_says_so_and_its_file_stays(filled):
    opened = Store(filled)
    opened.close()
    with pytest.raises(StoreError, match="closed"):
        opened.get("vector", "a", KEYS)
    assert damaged_files(filled) == []


def test_a_store_that_is_locked_is_no_damaged_one(filled):
    opened = Store(filled)
    opened._db.execute("PRAGMA busy_timeout = 0")
    other = sqlite3.connect(filled, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    opened.put("vector", "new", KEYS, VECTORS, name="new")
    assert holds(opened)
    other.execute("ROLLBACK")
    other.close()
    assert damaged_files(filled) == []
    opened.close()


# a full disk


def test_a_full_disk_is_said_once_and_the_run_goes_on(store, caplog):
    store.put("vector", "a", KEYS, VECTORS, name="a")
    pages = store._db.execute("PRAGMA page_count").fetchone()[0]
    store._db.execute(f"PRAGMA max_page_count = {pages + 2}")
    for number in range(3):
        store.put("vector", f"more {number}", KEYS, np.tile(VECTORS, 10), name="more")
    assert [r.getMessage() for r in caplog.records] == [
        f"the store {store.path} cannot be written (database or disk is full); this run continues without saving"
    ]
    assert holds(store)
    assert missing(store, "vector", "more 0", KEYS) == list(range(300))
    assert damaged_files(store.path) == []


def test_a_disk_that_takes_no_more_leaves_whole_batches(path, python):
    small = python(ON_A_SMALL_DISK, path)
    out, error = small.communicate()
    assert (out, small.returncode) == ("went on\n", 0)
    assert error.count("this run continues without saving") == 1
    opened = Store(path)
    gone = missing(opened, "vector", "f", [text_key(str(batch)) for batch in range(20)])
    assert gone
    assert gone == list(range(gone[0], 20))
    opened.close()


# eviction


def evicting(store):
    """Three models of about 1.2 MB, used in the order b, c, a."""
    for fingerprint in "abc":
        store.put("vector", fingerprint, KEYS, np.ones((300, 1_000), np.float32), name=f"model {fingerprint}")
    store.mark_as_used("vector", "a")
    return store


def test_contents_are_listed_the_model_used_last_first(store):
    listed = evicting(store).list_models()
    assert [(s.kind, s.name, s.fingerprint, s.rows, s.bytes) for s in listed] == [
        ("vector", f"model {f}", f, 300, 1_200_000) for f in "acb"
    ]


def test_prune_drops_the_model_used_longest_ago_until_the_file_fits(store):
    gone = evicting(store).delete_least_recently_used(limit=2_900_000)
    assert [s.fingerprint for s in gone] == ["b"]
    assert [s.fingerprint for s in store.list_models()] == ["a", "c"]
    assert 2_400_000 < store.bytes_on_disk() <= 2_900_000


def test_what_was_kept_without_a_fingerprint_is_listed_and_can_be_pruned(store):
    evicting(store).put("vector", None, KEYS[:1], np.ones((1, 2), np.float32), name="careless")
    assert [s.fingerprint for s in store.list_models()] == ["", "a", "c", "b"]
    store.delete_model("")
    assert [s.fingerprint for s in store.list_models()] == ["a", "c", "b"]


def test_prune_drops_nothing_where_the_file_fits(store):
    assert evicting(store).delete_least_recently_used(limit=10_000_000) == []
    assert len(store.list_models()) == 3


def test_prune_holds_the_file_to_the_limit_of_the_store(path):
    opened = evicting(Store(path, limit=1_700_000))
    assert [s.fingerprint for s in opened.delete_least_recently_used()] == ["b", "c"]
    assert opened.bytes_on_disk() <= opened.limit
    opened.close()


def test_prune_keeps_what_this_run_uses(store):
    gone = evicting(store).delete_least_recently_used(limit=0, keep=["b"])
    assert [s.fingerprint for s in gone] == ["c", "a"]
    assert missing(store, "vector", "b", KEYS) == []


def test_writing_rows_counts_as_use(store):
    evicting(store).put("vector", "b", [text_key("new")], np.ones((1, 1_000), np.float32), name="model b")
    assert [s.fingerprint for s in store.delete_least_recently_used(limit=2_900_000)] == ["c"]


def test_prune_drops_no_more_than_it_must_while_another_process_reads(store):
    evicting(store)
    reader = sqlite3.connect(store.path, isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT COUNT(*) FROM row").fetchone()
    store._db.execute("PRAGMA busy_timeout = 0")
    assert [s.fingerprint for s in store.delete_least_recently_used(limit=2_900_000)] == ["b"]
    reader.execute("COMMIT")
    reader.close()


def test_remove_forgets_one_model_and_no_other(store):
    evicting(store).delete_model("c")
    assert missing(store, "vector", "c", KEYS[:2]) == [0, 1]
    assert [s.fingerprint for s in store.list_models()] == ["a", "b"]
    assert sql(store.path, "SELECT COUNT(*) FROM row") == [(600,)]


def test_compacting_gives_the_room_back(store):
    before = evicting(store).bytes_on_disk()
    store.delete_model("a")
    store.delete_model("b")
    store.compact()
    assert 1_200_000 < store.bytes_on_disk() < before / 2
    assert missing(store, "vector", "c", KEYS) == []


def test_the_size_is_that_of_the_files(store):
    evicting(store)
    files = [p for p in store.path.parent.iterdir() if not p.name.endswith("-shm")]
    assert store.bytes_on_disk() == sum(p.stat().st_size for p in files)


# how much a model has


def counted(opened):
    """What the store says of each model, and what there is."""
    counts = "COUNT(key), COALESCE(SUM(LENGTH(data)), 0)"
    rows = sql(opened.path, f"SELECT fingerprint, {counts} FROM model LEFT JOIN row ON model = id GROUP BY id")
    return sorted((s.fingerprint, s.rows, s.bytes) for s in opened.list_models()), sorted(rows)


@given(
    st.lists(
        st.one_of(
            st.tuples(st.just("put"), st.sampled_from("ab"), st.integers(0, 5), st.integers(1, 3)),
            st.tuples(st.just("remove"), st.sampled_from("ab")),
        ),
        max_size=8,
    )
)
@settings(deadline=None, max_examples=30)
def test_the_counts_are_what_there_is_after_anything(steps):
    with tempfile.TemporaryDirectory() as name:
        opened = Store(Path(name) / "store.sqlite", dtype="float16")
        for what, fingerprint, *more in steps:
            if what == "remove":
                opened.delete_model(fingerprint)
            else:
                start, count = more
                opened.put("vector", fingerprint, KEYS[start : start + count], VECTORS[:count], name="x")
            said, there = counted(opened)
            assert said == there
        opened.close()


@pytest.mark.parametrize("junk", ["'text'", "NULL", "-5", "x'00'"])
def test_counts_that_are_none_are_shown_as_numbers(filled, junk):
    sql(filled, f"UPDATE held SET rows = {junk}, bytes = {junk}")
    opened = Store(filled)
    assert all(isinstance(n, int) for s in opened.list_models() for n in (s.rows, s.bytes))
    assert holds(opened)
    opened.close()


def test_a_key_that_is_asked_for_twice_is_given_twice(store):
    store.put("vector", "f", KEYS[:2], VECTORS[:2], name="x")
    got, there = store.get("vector", "f", [KEYS[1], KEYS[5], KEYS[1], KEYS[0]])
    assert there.tolist() == [True, False, True, True]
    assert (got[[0, 2, 3]] == VECTORS[[1, 1, 0]]).all()


def test_more_rows_than_are_read_at_once_come_in_the_order_of_the_keys(store, monkeypatch):
    monkeypatch.setattr("encheck.store.ROWS_AT_ONCE", 7)
    store.put("vector", "f", KEYS[::-1], VECTORS[::-1], name="x")
    assert holds(store, "f")


def test_looking_up_never_reads_the_whole_index(store):
    store.put("vector", "f", KEYS, VECTORS, name="x")
    asked = []
    store._db.set_trace_callback(asked.append)
    store.get("vector", "f", KEYS[:3])
    store._db.set_trace_callback(None)
    plans = [store._db.execute(f"EXPLAIN QUERY PLAN {one}").fetchall()[0][3] for one in asked if " row " in one]
    assert len(plans) == 2
    assert "(model=? AND key=?)" in plans[0]
    assert "INTEGER PRIMARY KEY (rowid=?)" in plans[1]


# vectors in 16 bits

NEITHER = np.array([[7e4, 1], [1e-7, 2e-7], [np.nan, 1], [np.inf, 0], [-1e30, 1e30]], np.float32)  # stays in 32 bits


@pytest.fixture
def half(path):
    opened = Store(path, dtype="float16")
    yield opened
    opened.close()


def test_with_16_bits_vectors_take_half_the_room_and_come_back_rounded(half):
    half.put("vector", "f", KEYS, VECTORS, name="x")
    got, there = half.get("vector", "f", KEYS)
    assert there.all()
    assert (got == VECTORS.astype(np.float16)).all()
    assert (got == half.round_as_stored("vector", VECTORS)).all()
    assert [(s.kind, s.rows, s.bytes) for s in half.list_models()] == [("vector16", 300, 300 * 24 * 2)]


def test_a_store_of_32_bits_never_gives_a_vector_of_16(half):
    half.put("vector", "f", KEYS, VECTORS, name="x")
    wide = Store(half.path)
    assert missing(wide, "vector", "f", KEYS) == list(range(300))
    wide.put("vector", "f", KEYS[:9], VECTORS[:9], name="x")
    assert (wide.get("vector", "f", KEYS[:9])[0] == VECTORS[:9]).all()
    wide.close()


def test_with_16_bits_a_vector_kept_in_32_is_rounded_as_a_new_one_is(filled):
    opened = Store(filled, dtype="float16")
    opened.put("vector", "a", [text_key("new")], VECTORS[:1], name="a")
    got, there = opened.get("vector", "a", [*KEYS, text_key("new"), text_key("none")])
    assert there.tolist() == [True] * 301 + [False]
    assert (got[:300] == VECTORS.astype(np.float16)).all()
    assert (got[300] == got[0]).all()
    opened.close()


def test_what_16_bits_cannot_hold_stays_in_32_and_comes_back_bit_for_bit(half):
    keys = KEYS[: len(NEITHER) + 1]
    arrays = np.vstack([NEITHER, [[0.1, 1]]]).astype(np.float32)
    half.put("vector", "f", keys, arrays, name="x")
    got, there = half.get("vector", "f", keys)
    assert there.all()
    assert got[:-1].tobytes() == NEITHER.tobytes()
    assert (got[-1] == arrays[-1].astype(np.float16)).all()
    assert sorted((s.kind, s.rows) for s in half.list_models()) == [("vector", len(NEITHER)), ("vector16", 1)]


def test_scores_of_pairs_and_parses_are_the_same_with_16_bits(half):
    half.put("pair", "f", KEYS, VECTORS[:, :1], name="x")
    half.store_bytes("parse", "f", {KEYS[0]: b"parsed"}, name="x")
    assert (half.get("pair", "f", KEYS)[0] == VECTORS[:, :1]).all()
    assert half.read_bytes_by_key("parse", "f", KEYS) == {KEYS[0]: b"parsed"}
    assert (half.round_as_stored("pair", VECTORS) == VECTORS).all()


@settings(deadline=None)
@given(
    st.integers(1, 6).flatmap(
        lambda n: st.tuples(npst.arrays(np.float32, (n, 3)), st.lists(st.integers(0, 3), min_size=n, max_size=n))
    )
)
def test_with_16_bits_what_is_stored_is_what_was_said_to_be_kept(pair):
    arrays, names = pair
    with tempfile.TemporaryDirectory() as name:
        opened = Store(Path(name) / "store.sqlite", dtype="float16")
        opened.put("vector", "f", [KEYS[i] for i in names], arrays, name="x")
        last = {i: at for at, i in enumerate(names)}
        got, there = opened.get("vector", "f", [KEYS[i] for i in last])
        assert there.all()
        assert got.tobytes() == opened.round_as_stored("vector", arrays[list(last.values())]).tobytes()
        opened.close()


def test_a_damaged_row_of_16_bits_is_missing_and_said_to_be(half, caplog):
    half.put("vector", "f", KEYS, VECTORS, name="x")
    sql(half.path, "UPDATE row SET data = ? WHERE key = ?", (VECTORS[8].astype(np.float16).tobytes(), KEYS[7]))
    assert missing(half, "vector", "f", KEYS) == [7]
    assert "1 rows of the store" in caplog.text


def test_looking_up_16_bits_counts_as_use_and_forgetting_a_model_forgets_them(half):
    for fingerprint in "ab":
        half.put("vector", fingerprint, KEYS, VECTORS, name=fingerprint)
    half.mark_as_used("vector", "a")
    assert [s.fingerprint for s in half.list_models()] == ["a", "b"]
    half.delete_model("a")
    assert [s.fingerprint for s in half.list_models()] == ["b"]
    assert sql(half.path, "SELECT COUNT(*) FROM row") == [(300,)]


# hashes of files


def test_the_hash_of_a_file_is_taken_from_the_store_while_the_file_stays_as_it_is(store, tmp_path):
    file = tmp_path / "weights"
    file.write_bytes(b"one")
    assert store.cached_file_hash(file) == file_sha256(file)
    sql(store.path, "UPDATE file SET sha256 = 'kept'")
    assert store.cached_file_hash(file) == "kept"


@pytest.mark.parametrize("content", [b"two", b"longer than before"], ids=["same length", "another length"])
def test_an_edited_file_has_its_hash_computed_again(store, tmp_path, content):
    file = tmp_path / "weights"
    file.write_bytes(b"one")
    before, stamp = store.cached_file_hash(file), file.stat()
    time.sleep(0.02)
    file.write_bytes(content)
    os.utime(file, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    assert store.cached_file_hash(file) == file_sha256(file) != before


def test_a_file_put_in_the_place_of_another_has_its_hash_computed_again(store, tmp_path):
    file, other = tmp_path / "weights", tmp_path / "other"
    file.write_bytes(b"one")
    other.write_bytes(b"two")
    store.cached_file_hash(file)
    other.replace(file)
    assert store.cached_file_hash(file) == file_sha256(file)


def test_a_link_is_known_by_the_file_behind_it(store, tmp_path):
    file, link = tmp_path / "weights", tmp_path / "link"
    file.write_bytes(b"one")
    link.symlink_to(file)
    assert store.cached_file_hash(link) == store.cached_file_hash(file)
    assert sql(store.path, "SELECT COUNT(*) FROM file") == [(1,)]


def test_a_file_whose_name_is_no_utf8_has_a_hash(store, tmp_path):
    file = Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff"))
    file.write_bytes(b"one")
    assert store.cached_file_hash(file) == store.cached_file_hash(file) == file_sha256(file)
