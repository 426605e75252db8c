"""The user's own pairs: CSV, TSV, JSON, JSON Lines and Parquet, as files and as folders."""

import csv
import json
import shlex
import subprocess
import sys

import pyarrow
import pyarrow.orc
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from encheck.datasets.load import load
from encheck.errors import DataError, NothingToMeasure
from encheck.items import graded_pairs
from encheck.items.variants import VariantMaker
from encheck.reporting.data import describe_dataset
from encheck.scale.shards import plan_shards, read_shard_table

HEADER = "first,second,label\n"
ROWS = [("The kettle sings.", "The kettle whistles.", 1), ("The kettle sings.", "The pan is cold.", 0)]
COLUMNS = ("first", "second", "label")


def write(path, rows, columns=COLUMNS):
    """The rows in the format that the ending names."""
    if path.suffix == ".parquet":
        table = [dict(zip(columns, row, strict=True)) for row in rows]
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(table), path)
    elif path.suffix == ".json":
        path.write_text(json.dumps([dict(zip(columns, row, strict=True)) for row in rows]), "utf-8")
    elif path.suffix == ".jsonl":
        lines = [json.dumps(dict(zip(columns, row, strict=True)), ensure_ascii=False) for row in rows]
        path.write_bytes("\n".join(lines).encode())
    else:
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, delimiter="\t" if path.suffix == ".tsv" else ",")
            writer.writerows([columns, *rows])
    return path


def read(path, **options):
    return [(p.first, p.second, p.label) for p in load(f"pairs:{path}", sample=None, **options).pairs]


def complaint(path, content=None, **options):
    if content is not None:
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(DataError) as caught:
        load(f"pairs:{path}", **options)
    return str(caught.value)


FORMATS = pytest.mark.parametrize("ending", ["csv", "tsv", "json", "jsonl", "parquet"])
anything = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")).filter(str.strip)


@FORMATS
@given(rows=st.lists(st.tuples(anything, anything, st.integers(0, 1)), min_size=1, max_size=5))
def test_what_was_written_is_read_back(tmp_path_factory, ending, rows):
    path = write(tmp_path_factory.mktemp("pairs") / f"own.{ending}", rows)
    assert read(path) == [(first.strip(), second.strip(), label) for first, second, label in rows]


@FORMATS
def test_the_column_names_of_public_data_sets_are_understood(tmp_path, ending):
    path = write(tmp_path / f"own.{ending}", ROWS, ("Sentence1", "sentence2", "is_duplicate"))
    assert read(path) == ROWS


@FORMATS
def test_a_cluster_column_names_the_cluster(tmp_path, ending):
    rows = [(*row, topic) for row, topic in zip(ROWS, ("kitchen", "camp"), strict=True)]
    path = write(tmp_path / f"own.{ending}", rows, (*COLUMNS, "topic"))
    assert [p.cluster for p in load(f"pairs:{path}").pairs] == ["kitchen", "camp"]


@FORMATS
def test_a_missing_column_is_named_with_those_that_are_there(tmp_path, ending):
    path = write(tmp_path / f"own.{ending}", ROWS, ("first", "other", "label"))
    message = complaint(path)
    assert message.startswith(f"{path}:1: no column 'second' (columns: first, ")
    assert "accepted as 'second': second, sentence2" in message


@pytest.mark.parametrize("other", [";", "|", "\t"])
def test_the_wrong_delimiter_of_a_csv_is_guessed(tmp_path, other):
    message = complaint(tmp_path / "own.csv", HEADER.replace(",", other) + f"a{other}b{other}1\n")
    assert f"Is {other!r} the delimiter? A .csv must be comma-separated" in message


def test_a_column_that_stands_twice_is_refused(tmp_path):
    message = complaint(tmp_path / "own.csv", "first,first,second,label\na,b,c,1\n")
    assert message.endswith("own.csv:1: two columns are called 'first': rename one of them")


def test_columns_whose_names_differ_in_case_alone_are_refused(tmp_path):
    message = complaint(tmp_path / "own.csv", "first,second,label,Label\na,b,1,0\n")
    assert message.endswith("own.csv:1: two columns are called 'label' and 'Label': rename one of them")


def test_blank_lines_before_the_header_of_a_csv_cost_no_row(tmp_path):
    (tmp_path / "own.csv").write_text(f"\n\n{HEADER}a,b,1\n\nc,d,0\n", "utf-8")
    assert read(tmp_path / "own.csv") == [("a", "b", 1), ("c", "d", 0)]
    assert ":3: the label is '2'" in complaint(tmp_path / "own.csv", f"\n{HEADER}a,b,2\n")


@pytest.mark.parametrize("missing", ["NaN", "null", "[]", '""', '" "'])
def test_rows_whose_cluster_is_missing_share_none(tmp_path, missing):
    rows = [f'{{"first": "a{i}", "second": "b{i}", "label": 1, "cluster": {missing}}}' for i in range(3)]
    (tmp_path / "own.jsonl").write_text("\n".join(rows), "utf-8")
    assert len(load(f"pairs:{tmp_path / 'own.jsonl'}").universe) == 3


def test_a_quoted_header_may_hold_the_delimiter(tmp_path):
    path = tmp_path / "own.csv"
    path.write_text('"first","note, if any","second","label"\na,x,b,1\n', "utf-8")
    assert read(path) == [("a", "b", 1)]


@pytest.mark.parametrize(
    ("body", "line"),
    [
        ('a,b,1\n"c,d,0\n', 3),
        ('a,b,1\na,"b" c,1\n', 3),
        ('"a\nb",c,1\nd,"e,0\nf,g,1\n', 4),
        ('"a,b,1\nc,d,0\n"e",f,1\n', 2),
    ],
)
def test_unbalanced_quotes_of_a_csv_are_named_by_the_line_they_begin_on(tmp_path, body, line):
    message = complaint(tmp_path / "own.csv", HEADER + body, skip_bad_rows=True)
    assert message.startswith(f"{tmp_path / 'own.csv'}:{line}: unbalanced quotes")
    assert "A field with a quote is itself in quotes" in message


def test_a_quote_that_joins_rows_of_a_file_without_quoting_is_refused(tmp_path):
    """The command in the message makes a file that is read as it was meant."""
    path = tmp_path / "own.tsv"
    path.write_text('first\tsecond\tlabel\n"a\tb\t1\nc\td"\t0\ne\tf\t1\n', "utf-8")
    message = complaint(path)
    assert message.startswith(f"{path}:2: a quote joins 2 rows. If the file has no quoting: cat")
    command = message.partition("quoting: ")[2].partition(" > ")[0]
    made = subprocess.run(["sh", "-c", command], check=True, capture_output=True).stdout
    (tmp_path / "quoted.tsv").write_bytes(made)
    assert read(tmp_path / "quoted.tsv") == [('"a', "b", 1), ("c", 'd"', 0), ("e", "f", 1)]
    path.write_text('first\tsecond\tlabel\n"def f():\n\t\treturn"\tb\t1\n', "utf-8")
    assert read(path) == [("def f():\n\t\treturn", "b", 1)]


def test_a_quote_inside_an_unquoted_field_is_text(tmp_path):
    path = tmp_path / "own.csv"
    path.write_text(HEADER + 'The 5" pipe leaks.,The "old" pipe leaks.,1\n', "utf-8")
    assert read(path) == [('The 5" pipe leaks.', 'The "old" pipe leaks.', 1)]


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ("a,b", "2 fields, but the header has 3"),
        (",b,1", "the first text is empty"),
        ("a, ,1", "the second text is empty"),
        (",,", "the first text is empty"),
        ("a,b,3", "the label is '3', but should be 0 or 1"),
        ("a,b,1,1", "4 fields, but the header has 3"),
    ],
)
def test_a_bad_row_of_a_csv_is_named_and_can_be_skipped(tmp_path, row, problem):
    path = tmp_path / "own.csv"
    assert complaint(path, f"{HEADER}x,y,1\n\n{row}\n").startswith(f"{path}:4: {problem}. Fix the row")
    data = load(f"pairs:{path}", skip_bad_rows=True)
    assert (data.rows, len(data.skipped)) == (1, 1)


@pytest.mark.parametrize("ending", ["\r\n", "\r", "\n"])
def test_any_line_ending_of_a_csv_is_read(tmp_path, ending):
    path = tmp_path / "own.csv"
    path.write_bytes("\ufefffirst,second,label\na,b,1\nc,d,0\n".replace("\n", ending).encode())
    assert read(path) == [("a", "b", 1), ("c", "d", 0)]


@pytest.mark.parametrize(("name", "content"), [("own.csv", ""), ("own.csv", HEADER), ("own.jsonl", "\n\n")])
def test_a_file_without_rows_says_what_was_expected(tmp_path, name, content):
    message = complaint(tmp_path / name, content)
    assert message.startswith(f"pairs: {tmp_path / name} has no rows; expected a .csv, .tsv, .json, .jsonl or .parquet")


@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        ("own.txt", "cp {0}.txt {0}.csv, or with the ending of its format"),
        ("own", "cp {0} {0}.csv, or with the ending of its format"),
        ("own.csv.gz", "gunzip -k {0}.csv.gz"),
        ("own.xlsx", """python -c 'import pandas; pandas.read_excel("{0}.xlsx").to_csv("{0}.csv", index=False)'"""),
    ],
)  # fmt: skip
def test_an_unknown_ending_lists_those_that_are_known_and_a_command(tmp_path, name, remedy):
    said = complaint(tmp_path / name, "x")
    assert said.endswith(f"Available: .csv, .json, .jsonl, .parquet, .tsv. Remedy: {remedy.format(tmp_path / 'own')}")


def test_the_command_for_another_format_makes_a_file_that_is_read(tmp_path):
    table = pyarrow.table({"first": ["a", "b"], "second": ["b", "c"], "label": [1, 0]})
    pyarrow.orc.write_table(table, tmp_path / "it's.orc")
    command = complaint(tmp_path / "it's.orc").partition("Remedy: ")[2].replace("python", sys.executable, 1)
    assert subprocess.run(shlex.split(command)).returncode == 0
    assert read(tmp_path / "it's.parquet") == [("a", "b", 1), ("b", "c", 0)]


def folder_of(tmp_path):
    """Two files of pairs whose columns have other names, one of them in a subfolder, and a hidden one."""
    (tmp_path / "more").mkdir()
    write(tmp_path / "more" / "b.parquet", [("c", "d", 0)], ("sentence1", "sentence2", "label"))
    write(tmp_path / "a.parquet", ROWS)
    write(tmp_path / "_old.parquet", [("x", "y", 1)])
    return tmp_path


def test_a_folder_of_parquet_is_read_without_an_engine_as_with_one(tmp_path):
    folder = folder_of(tmp_path)
    assert read(folder) == [*ROWS, ("c", "d", 0)]
    shards = plan_shards(folder).shards
    assert [tuple(row.values()) for shard in shards for row in read_shard_table(shard).to_pylist()] == read(folder)


def test_a_url_is_left_to_an_engine():
    assert complaint("s3://bucket/pairs").endswith("which an engine reads: --engine=local")


def test_a_path_to_a_folder_of_pairs_is_taken_for_pairs(tmp_path):
    write(tmp_path / "a.parquet", ROWS)
    assert [(p.first, p.second, p.label) for p in load(str(tmp_path), sample=None).pairs] == ROWS


def test_what_is_wrong_in_a_folder_names_the_file(tmp_path):
    assert complaint(tmp_path).startswith(f"pairs: {tmp_path} holds no Parquet file; expected a .csv")
    folder = folder_of(tmp_path)
    write(folder / "more" / "b.parquet", [("c", "d", 2)])
    assert complaint(folder).startswith(f"{folder}/more/b.parquet:1: the label is 2")
    assert read(folder, skip_bad_rows=True) == ROWS
    write(folder / "more" / "b.parquet", [("c", "d", 0.5)], ("first", "second", "score"))
    assert "b.parquet: has the columns first, second, score, but" in complaint(folder)
    assert read(folder, skip_bad_rows=True) == ROWS


@pytest.mark.parametrize("ending", ["csv", "parquet", "json", "jsonl"])
@pytest.mark.parametrize("cell", ["NaN", "<NA>"])
def test_a_cell_without_a_value_is_no_text(tmp_path, ending, cell):
    path = write(tmp_path / f"own.{ending}", [("a", "b", "1", cell), (cell, "b", "1", "k")], (*COLUMNS, "cluster"))
    line = {"csv": 3}.get(ending, 2)
    assert complaint(path).startswith(f"{path}:{line}: the first text is missing: the cell has {cell!r}")
    (pair,) = load(f"pairs:{path}", sample=None, skip_bad_rows=True).pairs
    assert pair.cluster != cell


@pytest.mark.parametrize(
    "value",
    [
        {"first": ["a", "b"], "second": ["b", "c"], "label": [1, 0]},
        {"first": {"0": "a", "1": "b"}, "second": {"0": "b", "1": "c"}, "label": {"0": 1, "1": 0}},
        {
            "version": "1",
            "data": [{"first": "a", "second": "b", "label": 1}, {"first": "b", "second": "c", "label": 0}],
        },
    ],
)
def test_a_json_file_may_hold_columns_or_its_rows_inside(tmp_path, value):
    assert read_json(tmp_path, value) == [("a", "b", 1), ("b", "c", 0)]


def read_json(tmp_path, value):
    (tmp_path / "own.json").write_text(json.dumps(value), "utf-8")
    return read(tmp_path / "own.json")


def test_a_json_file_without_a_table_is_refused_with_a_command(tmp_path):
    value = {"a": [{"first": "a", "second": "b", "label": 1}], "b": [{"x": 1}, {"x": 2}]}
    said = complaint(tmp_path / "own.json", json.dumps(value))
    assert said.endswith(f"jq -c '.KEY[]' {tmp_path}/own.json > {tmp_path}/own.jsonl")
    assert "own.json: line 1: is not JSON" in complaint(tmp_path / "own.json", '[{"a": ')


ROW = '{"first": "The tap drips.", "second": "The tap leaks.", "label": 1}\n'


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ('{"first": "a", "second"', "is not JSON: Expecting ':' delimiter, column 24"),
        ("[" * 100_000, "is not JSON: "),
        ("[1, 2]", "is not a JSON object"),
        ('{"first": "a", "label": 1}', "the second text is missing"),
        ('{"first": null, "second": "b", "label": 1}', "the first text is missing"),
        ('{"first": "a", "second": "b"}', "the label is None, but should be 0 or 1"),
        ('{"first": "a", "second": "b", "label": NaN}', "the label is nan, but should be 0 or 1"),
        ('{"first": 7, "second": "b", "label": 1}', "the first text is 7, but should be a string"),
        ('{"first": "a", "second": ["b"], "label": 1}', "the second text is ['b'], but should be a string"),
        ('{"first": "a", "second": "\\ud83d", "label": 1}', "the second text has half a character"),
        ('{"first": "a", "second": "b", "label": 1, "topic": "\\ud83d"}', r"'\ud83d' has half a character"),
    ],
    ids=lambda value: value[:40],
)
def test_a_bad_line_of_json_is_named_and_can_be_skipped(tmp_path, line, problem):
    path = tmp_path / "own.jsonl"
    assert complaint(path, ROW + line + "\n" + ROW).startswith(f"{path}:2: {problem}")
    assert len(read(path, skip_bad_rows=True)) == 2


@pytest.mark.parametrize("label", ["1", '"1"', "1.0", "true", '"True"'])
def test_a_positive_label_of_json_has_many_spellings(tmp_path, label):
    path = tmp_path / "own.jsonl"
    path.write_text(ROW.replace(": 1}", f": {label}}}"), "utf-8")
    assert read(path) == [("The tap drips.", "The tap leaks.", 1)]


@pytest.mark.parametrize("keep", [0, 4, 200, -1])
def test_a_cut_parquet_is_named(tmp_path, keep):
    path = write(tmp_path / "own.parquet", ROWS)
    message = complaint(path, path.read_bytes()[:keep])
    assert message.startswith(f"{path} is not a Parquet file, or is truncated; copy or write it again (")


def test_a_bad_row_of_parquet_is_named_by_its_number(tmp_path):
    path = write(tmp_path / "own.parquet", [*ROWS, ("The tap drips.", None, 1)])
    assert complaint(path).startswith(f"{path}:3: the second text is missing")


def test_bytes_of_parquet_are_no_text(tmp_path):
    path = write(tmp_path / "own.parquet", [(b"abc", b"abd", 1)])
    assert complaint(path).startswith(f"{path}:1: the first text is b'abc', but should be a string")


def test_rows_that_repeat_a_pair_are_counted_and_told(tmp_path, caplog):
    path = tmp_path / "mine.csv"
    row = "The kettle boils.,The kettle is boiling.,1\n"
    path.write_text("first,second,label\n" + row + "A bird sings.,Nobody sings.,0\n" + row, "utf-8")
    assert len(load(f"pairs:{path}").pairs) == 3
    assert "1 of 3 rows repeat an earlier pair word for word" in caplog.text


GRADED = [("A kettle sings.", "A kettle whistles.", 4.5), ("A kettle sings.", "A pan is cold.", -1), ("A", "B", 0.25)]


@FORMATS
def test_graded_pairs_need_no_label_and_their_range_is_told(tmp_path, ending, caplog):
    path = write(tmp_path / f"own.{ending}", GRADED, ("sentence1", "sentence2", "score"))
    found = load(f"pairs:{path}")
    assert [(p.score, p.label) for p in found.pairs] == [(4.5, None), (-1, None), (0.25, None)]
    assert f"own.{ending}: 3 pairs have a score, from -1 to 4.5: `sts` ranks pairs by it" in caplog.text
    assert "pairs with a score             3: -1 to 4.5, median 0.25" in "\n".join(describe_dataset(found))


def test_pairs_may_have_labels_and_scores_of_some(tmp_path):
    path = tmp_path / "own.csv"
    path.write_text("first,second,label,score\na,b,1,3.5\nc,d,0,\ne,f,0,1\n", "utf-8")
    found = load(f"pairs:{path}")
    assert [(p.label, p.score) for p in found.pairs] == [(1, 3.5), (0, None), (0, 1.0)]
    assert [p.score for p in graded_pairs(found, 1, VariantMaker()).included] == [3.5, 1.0]


@pytest.mark.parametrize("score", ["high", "nan", "inf", "3,5", ""])
def test_a_score_that_is_no_number_is_named(tmp_path, score):
    body = f'first,second,score\na,b,1\nc,d,"{score}"\n'
    assert f"own.csv:3: the score is {score!r}, but should be a number" in complaint(tmp_path / "own.csv", body)


def test_pairs_without_label_and_score_say_that_both_are_missing(tmp_path):
    message = complaint(tmp_path / "own.csv", "first,second\na,b\n")
    assert "no column 'label' and no 'score' (columns: first, second; accepted as 'label'" in message


def test_pairs_of_one_score_have_no_order(tmp_path):
    path = tmp_path / "own.csv"
    path.write_text("first,second,score\na,b,3\nc,d,3\n", "utf-8")
    with pytest.raises(NothingToMeasure, match="all 2 pairs of pairs have the same score"):
        graded_pairs(load(f"pairs:{path}"), 1, VariantMaker())


def test_the_words_of_many_pairs_are_compared_by_a_drawn_part(tmp_path, monkeypatch):
    monkeypatch.setattr("encheck.reporting.data.DRAWN", 3)
    rows = [f"text {n},{'text' if n % 2 else 'other words'} {n},1\n" for n in range(8)]
    (tmp_path / "many.csv").write_text("first,second,label\n" + "".join(rows), "utf-8")
    said = list(describe_dataset(load(f"pairs:{tmp_path / 'many.csv'}", sample=None)))
    assert any("1: none shared, 3 pairs per label, drawn at random with a fixed seed)" in line for line in said)
    assert said == list(describe_dataset(load(f"pairs:{tmp_path / 'many.csv'}", sample=None)))
