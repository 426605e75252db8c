"""Shards of Parquet files are planned from footers, and what cannot be read ends in one message that names it."""

import pyarrow
import pytest
from pyarrow import parquet

from encheck.datasets.reader import BadRows
from encheck.errors import DataError
from encheck.scale.shards import plan_shards, read_shard_batches, read_shard_table


def pairs(count, *, start=0, **more):
    numbers = range(start, start + count)
    columns = {
        "sentence1": [f"The price of ticket {n} rose." for n in numbers],
        "sentence2": [f"Ticket {n} got dearer." for n in numbers],
        "label": [n % 2 for n in numbers],
    }
    return pyarrow.table(columns | more)


def write(path, table, *, rows=10):
    path.parent.mkdir(parents=True, exist_ok=True)
    parquet.write_table(table, path, row_group_size=rows)
    return path


@pytest.fixture
def folder(tmp_path):
    write(tmp_path / "day" / "a.parquet", pairs(95))
    write(tmp_path / "day" / "b.parquet", pairs(30, start=95), rows=30)
    (tmp_path / "day" / "_SUCCESS.parquet").write_bytes(b"")
    return tmp_path / "day"


def test_row_groups_are_put_together_up_to_the_limit_and_a_bigger_one_is_divided(folder):
    made = plan_shards(folder, rows=25)
    assert [(s.number, s.first, s.last, s.start, s.rows, s.before, s.after) for s in made.shards] == [
        (0, 0, 2, 0, 20, 0, 0),
        (1, 2, 4, 20, 20, 0, 0),
        (2, 4, 6, 40, 20, 0, 0),
        (3, 6, 8, 60, 20, 0, 0),
        (4, 8, 10, 80, 15, 0, 0),
        (5, 0, 1, 0, 25, 0, 5),
        (6, 0, 1, 25, 5, 25, 0),
    ]
    assert made.rows == 125
    assert made.columns == {"first": "sentence1", "second": "sentence2", "label": "label"}
    assert all(shard.size > 0 for shard in made.shards)


def test_shards_hold_every_row_once_under_the_names_of_the_roles(folder):
    tables = [read_shard_table(shard) for shard in plan_shards(folder, rows=25).shards]
    texts = [text for table in tables for text in table["first"].to_pylist()]
    assert texts == [f"The price of ticket {n} rose." for n in range(125)]
    assert tables[0].column_names == ["first", "second", "label"]


def test_a_large_row_group_is_read_in_batches_and_a_part_from_its_first_row(folder):
    shard = plan_shards(folder).shards[1]
    assert [batch.num_rows for batch in read_shard_batches(shard, rows=12)] == [12, 12, 6]
    parts = plan_shards(folder, rows=14).shards[-3:]
    assert [[batch.num_rows for batch in read_shard_batches(part, rows=12)] for part in parts] == [
        [12, 2],
        [10, 4],
        [2],
    ]
    assert read_shard_table(parts[1])["first"][0].as_py() == "The price of ticket 109 rose."


def test_a_row_group_has_at_most_twenty_parts(tmp_path):
    write(tmp_path / "a.parquet", pairs(95), rows=95)
    assert [shard.rows for shard in plan_shards(tmp_path, rows=2).shards] == [5] * 19


def test_the_fingerprint_follows_the_data(folder):
    before = plan_shards(folder).fingerprint
    assert plan_shards(str(folder)).fingerprint == before
    write(folder / "b.parquet", pairs(30, start=96), rows=30)
    assert plan_shards(folder).fingerprint != before


def test_a_single_file_and_a_url_are_places_too(folder):
    file = folder / "a.parquet"
    assert plan_shards(file).rows == plan_shards(file.as_uri()).rows == 95


def test_an_object_store_is_read_as_a_folder_is(folder):
    fsspec = pytest.importorskip("fsspec")
    store = fsspec.filesystem("memory")
    store.put(str(folder), "/scale-sources", recursive=True)
    made = plan_shards("memory://scale-sources", rows=25)
    assert [shard.rows for shard in made.shards] == [20, 20, 20, 20, 15, 25, 5]
    assert read_shard_table(made.shards[-1])["second"][0].as_py() == "Ticket 120 got dearer."
    assert plan_shards("memory://scale-sources/a.parquet").rows == 95
    store.rm("/scale-sources", recursive=True)


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda path: path.write_bytes(path.read_bytes()[:-20]), "is not a Parquet file, or is truncated"),
        (lambda path: path.write_bytes(b""), "is not a Parquet file, or is truncated"),
        (lambda path: write(path, pairs(5).drop_columns("label")), "no column 'label'"),
        (lambda path: write(path, pairs(5, score=[1.0] * 5)), "has the columns sentence1, sentence2, label, score"),
        (lambda path: write(path, pairs(5, sentence1=list(range(5)))), "has the type int64, but should hold strings"),
    ],
    ids=["truncated", "empty", "no label", "one column more", "numbers"],
)
def test_a_file_that_cannot_be_used_is_named_or_left_out_and_counted(folder, spoil, said):
    wrong = folder / "c.parquet"
    write(wrong, pairs(5))
    spoil(wrong)
    with pytest.raises(DataError, match="--skip-bad-rows") as raised:
        plan_shards(folder)
    assert said in str(raised.value)
    assert str(wrong) in str(raised.value)
    made = plan_shards(folder, BadRows(skip=True))
    assert made.rows == 125
    assert len(made.skipped) == 1
    assert said in made.skipped[0]


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("nowhere", "does not exist"),
        ("memory://nowhere/at/all", "does not exist: check the name of the bucket"),
        ("nothing://bucket/pairs", "is not a kind of URL that fsspec knows"),
    ],
)
def test_a_place_that_is_none_is_named(place, said):
    with pytest.raises(DataError, match=said):
        plan_shards(place)


def test_a_folder_without_parquet_files_is_no_data(tmp_path):
    with pytest.raises(DataError, match="holds no"):
        plan_shards(tmp_path)


def test_files_without_rows_are_no_data(tmp_path):
    write(tmp_path / "a.parquet", pairs(0))
    with pytest.raises(DataError, match="has no rows"):
        plan_shards(tmp_path)


def test_a_shard_that_changed_after_planning_is_named(folder):
    shards = plan_shards(folder, rows=25).shards
    write(folder / "a.parquet", pairs(5))
    with pytest.raises(DataError, match=r"a.parquet, row groups 2 to 3: no longer exists"):
        read_shard_table(shards[1])
    with pytest.raises(DataError, match="no longer exists"):
        read_shard_table(shards[0])
    write(folder / "b.parquet", pairs(31), rows=31)
    with pytest.raises(DataError, match=r"b.parquet, row group 0, rows 26 to 30: has 31 rows, but had 30"):
        read_shard_table(shards[-1])


def test_a_shard_that_unpacks_too_far_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("encheck.scale.shards.FREE_BYTES", 1000)
    texts = pyarrow.table({"first": ["a" * 500] * 1000, "second": ["b" * 500] * 1000, "label": [1] * 1000})
    write(tmp_path / "a.parquet", texts, rows=1000)
    with pytest.raises(DataError, match="unpacks to more than 100 times"):
        read_shard_table(plan_shards(tmp_path).shards[0])
