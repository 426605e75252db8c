"""Files of any content: each reader ends in one message that names the file, within its limits, and soon."""

import time

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
from mutations import KINDS, survivors

from encheck.datasets.load import load
from encheck.encoders.files import read_model_json
from encheck.encoders.models_file import apply_model_args, known_models, read_models
from encheck.engine.results import read_run as read_run
from encheck.errors import ConfigError, DataError, EncheckError
from encheck.gating.baseline import read_baseline as read_baseline
from encheck.options import project_table
from encheck.system import documents as parquet
from encheck.system.documents import MOST_DEPTH, parse_json, read_text

READERS = {
    "results.json": read_run,
    "baseline.json": read_baseline,
    "config.json": lambda folder: read_model_json(folder / "config.json"),
    "pyproject.toml": lambda folder: project_table(folder / "pyproject.toml"),
    "models.yaml": lambda folder: read_models(folder / "models.yaml"),
    "own.jsonl": lambda folder: load(f"pairs:{folder / 'own.jsonl'}", sample=None),
    "own.parquet": lambda folder: load(f"pairs:{folder / 'own.parquet'}", sample=None),
}
BOMBS = {
    "aliases": "a0: &a0 [1, 1]\n" + "".join(f"a{i}: &a{i} [*a{i - 1}, *a{i - 1}, *a{i - 1}]\n" for i in range(1, 40)),
    "merge keys": "a0: &a0 {x: 1}\n"
    + "".join(f"a{i}: &a{i} {{<<: [*a{i - 1}, *a{i - 1}, *a{i - 1}]}}\n" for i in range(1, 40)),
}


def soon(work, *, seconds=1.0):
    """The message of what this raises, which it does within so many seconds of the processor."""
    start = time.process_time()
    with pytest.raises(EncheckError) as caught:
        work()
    assert time.process_time() - start < seconds
    return str(caught.value)


@pytest.mark.parametrize("content", ["[" * 200_000, '{"a":' * 200_000, "[" * 300 + "]" * 300, "9" * 5_000, "null"])
@pytest.mark.parametrize("name", READERS)
def test_what_is_nested_or_long_without_end_is_one_message_that_names_the_file(tmp_path, name, content):
    (tmp_path / name).write_text(content)
    if (name, content) in [("config.json", "null"), ("config.json", "[" * 300 + "]" * 300), ("models.yaml", "null")]:
        return
    assert name in soon(lambda: READERS[name](tmp_path), seconds=3)  # YAML looks a thousand brackets ahead


@pytest.mark.parametrize("name", READERS)
def test_a_folder_in_the_place_of_a_file_is_one_message(tmp_path, name):
    (tmp_path / name).mkdir()
    assert str(tmp_path) in soon(lambda: READERS[name](tmp_path))


def test_json_has_a_limit_of_depth_and_no_number_that_is_none():
    deep = "[" * MOST_DEPTH + "]" * MOST_DEPTH
    assert parse_json(deep)
    for text, said in ((f"[{deep}]", "deeper than 100"), ("[NaN]", "NaN"), ("[1,\n2", "line 2: is not JSON")):
        with pytest.raises(ValueError, match=said):
            parse_json(text)
    assert parse_json("[Infinity]", infinite=True)


def test_a_file_beyond_its_limit_is_not_read_whole(tmp_path):
    (tmp_path / "a").write_text("x" * 20)
    assert read_text(tmp_path / "a", max_bytes=20) == "x" * 20
    with pytest.raises(ValueError, match="longer than 19 bytes"):
        read_text(tmp_path / "a", max_bytes=19)


@pytest.mark.parametrize("text", BOMBS.values(), ids=BOMBS.keys())
def test_aliases_and_merge_keys_without_end_are_refused_with_their_line(tmp_path, text):
    (tmp_path / "models.yaml").write_text(text)
    said = soon(lambda: read_models(tmp_path / "models.yaml"))
    assert "models.yaml:1" in said or "models.yaml:9" in said
    assert "aliases expand to more than 100,000 values" in said


def test_an_alias_within_itself_and_a_long_file_are_refused(tmp_path):
    path = tmp_path / "models.yaml"
    path.write_text("m: &a [*a]\n")
    assert "models.yaml:1: an alias refers to the value that contains it" in soon(lambda: read_models(path))
    path.write_text("# " + "x" * 200_000)
    assert "longer than 200,000 bytes" in soon(lambda: read_models(path))


@pytest.mark.parametrize("value", ["[" * 5_000, "9" * 5_000, "2001-99-99", "&a [*a]", "!!python/name:os.system"])
def test_any_value_of_a_model_argument_is_one_message(value):
    with pytest.raises(ConfigError, match="--model-arg max_length"):
        apply_model_args(known_models()["sbert"], {"max_length": value})


def test_a_key_of_the_project_has_a_limit_of_parts(tmp_path):
    path = tmp_path / "pyproject.toml"
    path.write_text(f"# ........................................................\na{'.a' * 400_000} = 1\n")
    assert "pyproject.toml:2: a key has more than 50 parts" in soon(lambda: project_table(path))


def table(count, **columns):
    texts = {"first": ["a b"], "second": ["a c"], "label": [1]} | columns
    one = pyarrow.table(texts)
    return one.take(pyarrow.array(np.zeros(count, np.int32)))


def test_a_small_file_of_millions_of_rows_is_refused_before_a_row_is_read(tmp_path):
    path = tmp_path / "own.parquet"
    pyarrow.parquet.write_table(table(1_100_000), path)
    assert path.stat().st_size < 100_000
    said = soon(lambda: load(f"pairs:{path}", sample=None))
    assert "own.parquet has 1,100,000 rows in" in said
    assert "write it as .csv or .jsonl" in said


def test_a_file_that_unpacks_to_hundreds_of_times_its_size_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(parquet, "FREE_BYTES", 10**6)
    path = tmp_path / "own.parquet"
    long = pyarrow.table({"first": ["a" * 5_000_000], "second": ["b"], "label": [1]})
    pyarrow.parquet.write_table(long, path, compression="zstd", use_dictionary=False)
    assert "own.parquet has" in soon(lambda: load(f"pairs:{path}", sample=None))
    pyarrow.parquet.write_table(table(100, first=["a" * 100_000]), path, compression="zstd")
    with pytest.raises(DataError, match="unpacks to"):
        load(f"pairs:{path}", sample=None)


def test_rows_beyond_the_free_ones_are_read_where_the_file_has_a_byte_for_each(tmp_path, monkeypatch):
    monkeypatch.setattr(parquet, "FREE_ROWS", 10)
    path = tmp_path / "own.parquet"
    rows = [{"first": f"a {i * 7919 % 1000}", "second": f"b {i}", "label": i % 2} for i in range(500)]
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), path)
    assert len(load(f"pairs:{path}", sample=None).pairs) == 500


def test_files_spoilt_at_random_are_read_or_refused_by_name(tmp_path, monkeypatch):
    """More of them: python tests/mutations.py 1000 SEED"""
    monkeypatch.chdir(tmp_path)
    assert len(KINDS) == 13
    assert list(survivors(tmp_path, count=8)) == []
