"""Pairs that are read in columns are those that are read row by row."""

import json
import logging
import random

import pyarrow
import pyarrow.parquet
import pytest

from encheck.datasets import pairs
from encheck.datasets.dataset import dataset_from_rows
from encheck.datasets.load import load, load_pairs_in_columns
from encheck.datasets.pair_table import SampledPairs, shared_sample_file
from encheck.datasets.reader import BadRows, PairRow
from encheck.errors import DataError
from encheck.reporting.data import describe_columns, describe_dataset

WORDS = [
    "tea",
    "Tea",
    "pot",
    "kettle",
    "İstanbul",
    "Straße",
    "STRASSE",
    "ΣΑΣ",
    "σας",
    "\u212a",
    "k",
    "a1",
    "1a",
    "\x1c",
    "猫",
    "Ä",
]
SPACES = [" ", "  ", "\t", "\xa0", "\u2003", "\x1f", "\x85"]
ENDINGS = ("csv", "tsv", "jsonl", "parquet")


def text(rng):
    return rng.choice(["x ", " y\x1c", "Z"]) + "".join(
        rng.choice(WORDS) + rng.choice(SPACES) for _ in range(rng.randint(1, 4))
    )


def some_rows(seed, count=300, *, scored=False):
    """Rows that share sentences, repeat one another, and are named by some of the clusters."""
    rng = random.Random(seed)
    known = [text(rng) for _ in range(count // 2)]
    rows = []
    for number in range(count):
        first, second = (rng.choice(known) if rng.random() < 0.4 else f"{text(rng)} {number}" for _ in range(2))
        cluster = rng.choice(["", "", " ", "north", "Süd", f"c{number}"])
        row = {"sentence1": first, "sentence2": second, "label": rng.choice(["0", "1", "1.0"]), "Topic": cluster}
        rows.append(row | ({"score": rng.choice(["", "1.5", "-2"])} if scored else {}))
    return rows + rng.choices(rows, k=20)


def written(path, rows):
    """The rows as they are, in the format of the ending."""
    if path.suffix == ".parquet":
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), path, row_group_size=97)
    elif path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    else:
        import csv

        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(
                file, [*rows[0]], lineterminator="\n", delimiter="\t" if path.suffix == ".tsv" else ","
            )
            writer.writeheader()
            writer.writerows(rows)
    return path


def by_rows(path, *, sample=None, seed=0, skip=False):
    bad = BadRows(skip=skip)
    rows = list(pairs.read(path, bad))
    return dataset_from_rows("pairs", rows, licence="yours", sample=sample, seed=seed, skipped=bad.skipped)


@pytest.fixture(autouse=True)
def _small_batches(monkeypatch):
    monkeypatch.setattr(pairs, "ROWS_AT_ONCE", 37)


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("sample", [None, 1, 20, 10_000])
def test_the_pairs_are_those_that_are_read_row_by_row(tmp_path, ending, sample, caplog):
    for seed in range(3):
        path = written(tmp_path / f"{seed}.{ending}", some_rows(seed, scored=seed == 1))
        caplog.clear()
        expected = by_rows(path, sample=sample, seed=seed)
        told = [record.getMessage() for record in caplog.records]
        caplog.clear()
        found = load(f"pairs:{path}", sample=sample, seed=seed)
        assert found == expected
        assert found.fingerprint == expected.fingerprint
        assert [record.getMessage() for record in caplog.records] == told


@pytest.mark.parametrize("ending", ENDINGS)
def test_an_overview_of_columns_is_that_of_the_pairs(tmp_path, ending, monkeypatch):
    monkeypatch.setattr("encheck.reporting.data.DRAWN", 50)
    for seed in range(2):
        path = written(tmp_path / f"{seed}.{ending}", some_rows(seed, scored=seed == 1))
        found = load_pairs_in_columns(f"pairs:{path}")
        assert found
        assert [*describe_columns(found)] == [*describe_dataset(load(f"pairs:{path}", sample=None))]


def test_an_overview_of_pairs_without_labels_or_clusters_is_that_of_the_pairs(tmp_path):
    rows = [{"first": f"tea {n // 2}", "second": f"pot {n}", "score": n} for n in range(90)]
    path = written(tmp_path / "own.jsonl", rows)
    found = load_pairs_in_columns(f"pairs:{path}")
    assert found
    assert [*describe_columns(found)] == [*describe_dataset(load(f"pairs:{path}", sample=None))]


BAD = [
    {"sentence1": " ", "sentence2": "b", "label": "1"},
    {"sentence1": "a", "sentence2": "b", "label": "2"},
    {"sentence1": "a", "sentence2": "b", "label": "1", "score": "high"},
]


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("wrong", BAD)
def test_bad_rows_are_skipped_and_named_as_row_by_row(tmp_path, ending, wrong, caplog):
    rows = some_rows(0, scored=True)
    for at in (5, 120, 121):
        rows[at] = rows[at] | wrong
    path = written(tmp_path / f"own.{ending}", rows)
    expected = by_rows(path, sample=20, skip=True)
    assert len(expected.skipped) == 3
    assert load(f"pairs:{path}", sample=20, skip_bad_rows=True) == expected
    assert f"pairs: 3 malformed rows excluded; the first: {expected.skipped[0]}" in caplog.text
    with pytest.raises(DataError) as strict:
        by_rows(path)
    with pytest.raises(DataError) as caught:
        load(f"pairs:{path}")
    assert str(caught.value) == str(strict.value)


def test_rows_that_are_no_rows_are_skipped_in_the_same_order(tmp_path):
    lines = [json.dumps(row) for row in some_rows(0)]
    lines[3] = '{"sentence1": "", "sentence2": "b", "label": 1}'
    lines[70], lines[150], lines[200] = "{", "[1]", '{"sentence1": "\\ud800", "sentence2": "b", "label": 1}'
    path = tmp_path / "own.jsonl"
    path.write_text("\n".join(lines), "utf-8")
    expected = by_rows(path, skip=True)
    assert [int(one.split(":")[1]) for one in expected.skipped] == [4, 71, 151, 201]
    assert load(f"pairs:{path}", sample=None, skip_bad_rows=True) == expected


def test_malformed_rows_of_a_csv_are_skipped_in_the_order_of_lines(tmp_path):
    path = written(tmp_path / "own.csv", [row | {"sentence1": "a"} for row in some_rows(0)])
    lines = path.read_text("utf-8").split("\n")
    lines[4], lines[9], lines[100] = "a,b,7,", "a,b", "only"
    path.write_text("\n".join(lines), "utf-8")
    expected = by_rows(path, skip=True)
    assert len(expected.skipped) >= 3
    assert load(f"pairs:{path}", sample=None, skip_bad_rows=True) == expected


def test_a_key_that_only_a_late_row_of_json_lines_has_is_a_column(tmp_path):
    rows = [{"first": f"a {n}", "second": f"b {n}", "label": 1} for n in range(200)]
    rows[150]["cluster"], rows[160]["other"] = "late", "no role"
    path = written(tmp_path / "own.jsonl", rows)
    expected = by_rows(path)
    assert load(f"pairs:{path}", sample=None) == expected
    assert "late" in expected.universe


def test_a_column_that_is_missing_from_the_first_rows_of_json_lines_is_found(tmp_path):
    rows = [{"first": f"a {n}", "second": f"b {n}"} | ({"score": n} if n > 99 else {"label": 1}) for n in range(200)]
    path = written(tmp_path / "own.jsonl", rows)
    assert load(f"pairs:{path}", sample=None, skip_bad_rows=True) == by_rows(path, skip=True)


@pytest.mark.parametrize("kind", ["string", "large_string", "dictionary"])
def test_every_kind_of_text_in_a_parquet_file_is_read(tmp_path, kind):
    types = {
        "string": pyarrow.string(),
        "large_string": pyarrow.large_string(),
        "dictionary": pyarrow.dictionary(pyarrow.int32(), pyarrow.string()),
    }
    columns = {"first": [" a ", "b", "ü"] * 40, "second": [f"c {n}" for n in range(120)]}
    arrays = {name: pyarrow.array(values).cast(types[kind]) for name, values in columns.items()}
    labels = {"bool": [True, False, True] * 40, "float": [1.0, 0.0, 1.0] * 40}
    for name, values in labels.items():
        path = tmp_path / f"{kind}-{name}.parquet"
        pyarrow.parquet.write_table(pyarrow.table(arrays | {"label": values, "cluster": [1, 2, None] * 40}), path)
        assert load(f"pairs:{path}", sample=None) == by_rows(path)


def test_a_parquet_file_whose_texts_are_not_utf_8_is_refused(tmp_path):
    texts = pyarrow.array([b"ok", b"a\xffb"]).view(pyarrow.string())
    path = tmp_path / "own.parquet"
    pyarrow.parquet.write_table(pyarrow.table({"first": texts, "second": ["x", "y"], "label": [1, 0]}), path)
    with pytest.raises(DataError) as strict:
        by_rows(path)
    with pytest.raises(DataError) as caught:
        load(f"pairs:{path}")
    assert str(caught.value) == str(strict.value)


def test_a_disk_that_is_full_is_named(tmp_path, monkeypatch):
    path = written(tmp_path / "own.jsonl", some_rows(0))

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("encheck.datasets.pair_table.MAX_BYTES_IN_MEMORY", 1)
    monkeypatch.setattr("tempfile.SpooledTemporaryFile.write", full)
    with pytest.raises(DataError, match=r"No space left on device.*Set TMPDIR to a folder with more space"):
        load(f"pairs:{path}")


def test_the_processes_of_a_run_read_a_file_once(tmp_path, monkeypatch, caplog):
    caplog.set_level(logging.WARNING)
    path = written(tmp_path / "own.jsonl", some_rows(0))
    asked = {"sample": 20, "shared": str(tmp_path / "run.lock")}
    first = load(f"pairs:{path}", **asked)
    told = [record.getMessage() for record in caplog.records]
    caplog.clear()
    with monkeypatch.context() as patch:
        patch.setattr(pairs, "read_in_columns", None)
        assert (
            load(f"pairs:{path}", **asked)
            == first
            == load(f"pairs:{path}", sample=20, shared=str(tmp_path / "run.lock"))
        )
    assert told
    assert [record.getMessage() for record in caplog.records] == 2 * told
    written(path, some_rows(1))
    assert load(f"pairs:{path}", **asked) != first


def test_held_rows_can_be_read_again_after_a_reading_that_was_given_up(tmp_path):
    found = load_pairs_in_columns(f"pairs:{written(tmp_path / 'own.jsonl', some_rows(0))}")
    assert found
    held = found.pairs.table
    next(held.batches())
    assert [sum(batch.num_rows for _, batch in held.batches()) for _ in range(2)] == [held.rows, held.rows]


def test_kept_pairs_are_read_as_they_were_written(tmp_path):
    row = PairRow("ä", "b", None, "", "\ud800", 0.1)
    kept = SampledPairs([(row, "\ud800"), (PairRow("a", "b", 1), "0123")], 7, ("said",), ("x:1: wrong",))
    with shared_sample_file(str(tmp_path / "run"), ("pairs", str(tmp_path / "own.csv"))) as file:
        assert file
        assert file.read() is None
        file.write(kept)
        assert file.read() == kept
