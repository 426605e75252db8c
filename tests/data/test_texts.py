"""Texts of one's own without labels: one a line, or a column of a table."""

import json

import pyarrow
import pyarrow.parquet
import pytest

from encheck.datasets.load import load, stream_groups
from encheck.errors import DataError
from encheck.items import against_paraphrase, edited_pairs, labelled_pairs
from encheck.items.variants import VariantMaker
from encheck.reporting.data import describe_dataset
from encheck.types import Variant

BIKE = "The fast car passed the bike."
BUS = "No bus runs on Sundays."


def put(path, rows):
    if path.suffix == ".parquet":
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), path)
    elif path.suffix in (".csv", ".tsv"):
        divider = "," if path.suffix == ".csv" else "\t"
        lines = [divider.join(rows[0]), *(divider.join(map(str, row.values())) for row in rows)]
        path.write_text("\n".join(lines), "utf-8")
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def said(dataset):
    return [group.source for group in dataset.groups]


def test_a_line_is_a_text_and_a_group_of_itself(tmp_path):
    path = tmp_path / "own.txt"
    path.write_text(f"\ufeff{BIKE}\r\n\n  {BUS}\n", "utf-8")
    found = load(f"texts:{path}", sample=None)
    assert [(g.source, g.paraphrase, g.variants) for g in found.groups] == [(BIKE, BIKE, ()), (BUS, BUS, ())]
    assert (found.name, found.rows, len(found.universe), found.pairs) == ("texts", 2, 2, ())


@pytest.mark.parametrize("ending", ["jsonl", "csv", "tsv", "parquet"])
def test_every_format_gives_the_same_texts(tmp_path, ending):
    path = put(tmp_path / f"own.{ending}", [{"id": "1", "text": BIKE}, {"id": "2", "text": BUS}])
    assert said(load(f"texts:{path}")) == [BIKE, BUS]


def test_a_column_is_named_behind_the_file(tmp_path):
    path = put(tmp_path / "own:x.csv", [{"text": "no", "note": BIKE}])
    assert said(load(f"texts:{path}:note")) == [BIKE]
    assert said(load(f"texts:{path}")) == ["no"]
    with pytest.raises(DataError, match=r"own:x.csv:1: unknown column 'nota'; did you mean 'note'\?"):
        load(f"texts:{path}:nota")


def test_a_split_is_taken_by_the_column_that_names_it(tmp_path):
    path = put(tmp_path / "own.csv", [{"text": BIKE, "split": "dev"}, {"text": BUS, "split": "test"}])
    assert said(load(f"texts@validation:{path}")) == [BIKE]
    assert [g.split for g in load(f"texts:{path}").groups] == ["validation", "test"]
    with pytest.raises(DataError, match="no text of the split 'train': its column split says test, validation"):
        load(f"texts@train:{path}")
    with pytest.raises(DataError, match="unknown split of texts 'tests'; did you mean 'test'"):
        load(f"texts@tests:{path}")


def test_texts_of_the_same_words_are_a_cluster_unless_the_file_names_one(tmp_path):
    turned = "the bike passed The fast car."
    rows = [{"text": BIKE.removesuffix(".")}, {"text": turned.removesuffix(".")}, {"text": BUS}]
    assert len(load(f"texts:{put(tmp_path / 'own.jsonl', rows)}").universe) == 2
    named = [{**row, "cluster": i} for i, row in enumerate(rows)]
    assert load(f"texts:{put(tmp_path / 'named.jsonl', named)}").universe == ("0", "1", "2")


def test_a_sample_draws_clusters_and_a_text_that_stands_twice_is_told(tmp_path, caplog):
    path = put(tmp_path / "own.jsonl", [{"text": BIKE}, {"text": BUS}, {"text": BIKE}])
    found = load(f"texts:{path}", sample=1)
    assert (len(found.groups), found.rows, found.sampled) == (1, 2, True)
    assert "own.jsonl: 1 of 3 texts repeat an earlier one, and are left out" in caplog.text


def test_the_fingerprint_moves_with_any_text_and_cluster(tmp_path):
    rows = [{"text": BIKE}, {"text": f"{BIKE}!"}, {"text": BIKE, "cluster": "a"}]
    assert len({load(f"texts:{put(tmp_path / 'own.jsonl', [row])}").fingerprint for row in rows}) == 3


WRONG = {
    "empty": ("own.jsonl", [{"text": " "}], "own.jsonl:1: the text text is empty"),
    "missing": ("own.jsonl", [{"text": BUS}, {"body": BIKE}], "own.jsonl:2: the text text is missing"),
    "number": ("own.jsonl", [{"text": 4}], "own.jsonl:1: the text text is 4, but should be a string"),
    "half": ("own.jsonl", [{"text": "a\ud83d"}], "own.jsonl:1: the text text has half a character"),
    "long": ("own.jsonl", [{"text": "a b " * 5_000}], "own.jsonl:1: the text text has 19,999 characters, but should"),
    "column": ("own.csv", [{"said": BUS}], "own.csv:1: no column with the texts (columns: said; accepted: text,"),
    "no text": ("own.jsonl", [], "has no texts; expected a .txt file"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_said_with_file_and_line(tmp_path, case):
    name, rows, expected = WRONG[case]
    with pytest.raises(DataError) as caught:
        load(f"texts:{put(tmp_path / name, rows)}")
    assert expected in str(caught.value)


def test_bad_rows_can_be_skipped_and_are_counted(tmp_path):
    path = put(tmp_path / "own.jsonl", [{"text": BIKE}, {"text": ""}])
    found = load(f"texts:{path}", skip_bad_rows=True)
    assert (said(found), len(found.skipped)) == ([BIKE], 1)


def test_what_is_no_file_of_texts_is_refused(tmp_path):
    (tmp_path / "own.txt").write_text(BUS, "utf-8")
    (tmp_path / "own.pdf").write_text(BUS, "utf-8")
    for spec, expected in {
        f"texts:{tmp_path}": "is a folder",
        f"texts:{tmp_path / 'none.txt'}": "does not exist",
        f"texts:{tmp_path / 'own.pdf'}": "'.pdf'.* Remedy: pdftotext .*/own.pdf .*/own.txt$",
        f"texts:{tmp_path / 'own.txt'}:text": "one text per line and no columns: leave :text out",
        "texts": "needs a path: --data texts:PATH",
    }.items():
        with pytest.raises(DataError, match=expected):
            load(spec)


def test_edits_need_no_label_and_what_needs_a_paraphrase_says_so(tmp_path):
    found = load(f"texts:{put(tmp_path / 'own.jsonl', [{'text': 'The quick car sold.'}, {'text': BUS}])}")

    def shout(group, **_):
        return Variant(group.source.upper(), "shout", generator="shout")

    assert len(edited_pairs(shout)(found, 1, VariantMaker()).included) == 2
    with pytest.raises(Exception, match=r"every paraphrase of texts is identical to its sentence"):
        against_paraphrase(shout)(found, 1, VariantMaker())
    with pytest.raises(Exception, match="has 0 pairs of label 1"):
        labelled_pairs(found, 1, VariantMaker())


def test_the_description_has_sizes_and_samples(tmp_path):
    text = "\n".join(describe_dataset(load(f"texts:{put(tmp_path / 'own.jsonl', [{'text': BIKE}, {'text': BUS}])}")))
    for part in ("texts                    2", "characters               23 to 29", f"  {BUS}"):
        assert part in text


def test_a_stream_has_the_texts_of_the_data_in_their_order(tmp_path, caplog):
    path = put(tmp_path / "own.jsonl", [{"text": BIKE, "cluster": "x"}, {"text": BUS}, {"text": BIKE}, {"text": " "}])
    whole = load(f"texts:{path}", sample=None, skip_bad_rows=True)
    caplog.clear()
    found = list(stream_groups(f"texts:{path}", skip_bad_rows=True))
    assert [(g.id, g.source, g.paraphrase) for g in found] == [(g.id, g.source, g.paraphrase) for g in whole.groups]
    assert found[0].cluster == "x"
    assert "1 of 3 texts repeat an earlier one" in caplog.text
    assert "1 malformed rows excluded" in caplog.text


def test_a_stream_is_of_texts_alone_and_says_what_is_wrong(tmp_path):
    (tmp_path / "none.txt").write_text("\n", "utf-8")
    put(tmp_path / "own.csv", [{"text": BIKE, "split": "dev"}, {"text": BUS, "split": "test"}])
    assert [g.source for g in stream_groups(f"texts@test:{tmp_path / 'own.csv'}")] == [BUS]
    assert stream_groups("probes") is None
    assert stream_groups(f"pairs:{tmp_path / 'own.csv'}") is None
    with pytest.raises(DataError, match="has no texts"):
        list(stream_groups(f"texts:{tmp_path / 'none.txt'}"))
    with pytest.raises(DataError, match="unknown split of texts"):
        stream_groups(f"texts@other:{tmp_path / 'own.csv'}")
