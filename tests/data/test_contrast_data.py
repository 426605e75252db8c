"""Contrasts of one's own: two queries, two documents, each of which is right for one."""

import json

import pyarrow
import pyarrow.parquet
import pytest

from encheck.datasets.load import load
from encheck.errors import DataError
from encheck.reporting.data import describe_dataset

TEA = {"q1": "Which tea has caffeine?", "q2": "Which tea has no caffeine?", "doc1": "Black tea has some.",
       "doc2": "Mint tea has none."}  # fmt: skip
BUS = {"q1": "When does it run?", "q2": "When does it not run?", "doc1": "On weekdays.", "doc2": "On Sundays."}
TURNED = {"q1": TEA["q2"], "q2": TEA["q1"], "doc1": TEA["doc2"], "doc2": TEA["doc1"]}


def put(path, rows):
    if path.suffix == ".parquet":
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), path)
    elif path.suffix == ".csv":
        lines = [",".join(rows[0]), *(",".join(map(str, row.values())) for row in rows)]
        path.write_text("\n".join(lines), "utf-8")
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


@pytest.mark.parametrize("ending", ["jsonl", "csv", "parquet"])
def test_every_format_gives_the_same_contrasts(tmp_path, ending):
    path = put(tmp_path / f"own.{ending}", [{"id": "1-2", **TEA}, {"id": "1-3", **BUS}])
    found = load(f"contrast:{path}", sample=None)
    assert [(one.queries, one.documents) for one in found.contrasts] == [
        ((row["q1"], row["q2"]), (row["doc1"], row["doc2"])) for row in (TEA, BUS)
    ]
    assert (found.rows, len(found.universe), found.sampled) == (2, 2, False)


def test_a_row_that_says_the_same_the_other_way_round_is_left_out_and_told(tmp_path, caplog):
    found = load(f"contrast:{put(tmp_path / 'own.jsonl', [TEA, TURNED, BUS])}")
    assert len(found.contrasts) == 2
    assert "own.jsonl: 1 of 3 rows repeat an earlier one, and are left out" in caplog.text


def test_rows_that_share_a_text_are_a_cluster_unless_the_data_name_one(tmp_path):
    other = {**BUS, "doc2": TEA["doc2"]}
    joined = load(f"contrast:{put(tmp_path / 'own.jsonl', [TEA, other])}")
    assert len(joined.universe) == 1
    rows = [{**TEA, "cluster": "tea"}, {**other, "cluster": 7}]
    assert load(f"contrast:{put(tmp_path / 'named.jsonl', rows)}").universe == ("7", "tea")


def test_a_sample_draws_clusters(tmp_path):
    found = load(f"contrast:{put(tmp_path / 'own.jsonl', [TEA, BUS])}", sample=1)
    assert (len(found.contrasts), found.rows, found.sampled) == (1, 2, True)


def test_the_fingerprint_moves_with_any_text(tmp_path):
    changed = [{**TEA, name: f"{TEA[name]}!"} for name in TEA]
    found = {load(f"contrast:{put(tmp_path / 'own.jsonl', [row])}").fingerprint for row in [TEA, *changed]}
    assert len(found) == 5


WRONG = {
    "no text": ([{**TEA, "q2": " "}], "own.jsonl:1: the q2 text is empty"),
    "missing": ([TEA, {**TEA, "doc1": None}], "own.jsonl:2: the doc1 text is missing"),
    "number": ([{**TEA, "doc2": 4}], "own.jsonl:1: the doc2 text is 4, but should be a string"),
    "one query": ([{**TEA, "q2": TEA["q1"]}], "own.jsonl:1: q1 and q2 are the same text, so there is no contrast"),
    "one document": ([{**TEA, "doc2": TEA["doc1"]}], "own.jsonl:1: doc1 and doc2 are the same text"),
    "column": ([{"q1": "a", "doc1": "b"}], "own.jsonl:1: no column q2 and no doc2 (columns: q1, doc1)"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_said_with_file_and_line(tmp_path, case):
    rows, expected = WRONG[case]
    with pytest.raises(DataError) as caught:
        load(f"contrast:{put(tmp_path / 'own.jsonl', rows)}")
    assert expected in str(caught.value)


def test_a_folder_and_a_file_without_a_row_are_refused(tmp_path):
    with pytest.raises(DataError, match=r"is a folder; expected a \.json, \.jsonl, \.csv"):
        load(f"contrast:{tmp_path}")
    with pytest.raises(DataError, match="has no valid row"):
        load(f"contrast:{put(tmp_path / 'own.jsonl', [{**TEA, 'q1': ''}])}", skip_bad_rows=True)


def test_bad_rows_can_be_skipped_and_are_counted(tmp_path):
    found = load(f"contrast:{put(tmp_path / 'own.jsonl', [TEA, {**BUS, 'q1': ''}])}", skip_bad_rows=True)
    assert (len(found.contrasts), len(found.skipped)) == (1, 1)


def test_a_path_alone_and_pairs_are_taken_for_contrasts_and_it_is_said(tmp_path, caplog):
    path = put(tmp_path / "own.csv", [TEA])
    assert load(str(path)).contrasts == load(f"contrast:{path}", label="own").contrasts
    assert f"is read as --data=contrast:{path}" in caplog.text
    assert load(f"pairs:{path}").contrasts
    assert f"so it is read as --data=contrast:{path}" in caplog.text


def test_the_description_has_sizes_and_samples(tmp_path):
    text = "\n".join(describe_dataset(load(f"contrast:{put(tmp_path / 'own.jsonl', [TEA, BUS])}")))
    for part in ("contrasts                2", "different queries        4", "Which tea has no caffeine?"):
        assert part in text
