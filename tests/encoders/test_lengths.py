"""Which limit cuts texts off, told from a model's files."""

import json

import pytest

from encheck.encoders.settings import describe_truncation

TEXTS = ["one two three", "one two three four five", "one"]


@pytest.fixture
def folder(tmp_path):
    """A tokenizer that takes each word for a token and cuts after two, with a limit of four beside it."""
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Whitespace

    words = WordLevel({"[UNK]": 0, "one": 1}, unk_token="[UNK]")
    tokenizer = Tokenizer(words)
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.enable_truncation(2)
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    (tmp_path / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": 4}))
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"model_max_length": 512}))
    return tmp_path


def test_the_smallest_limit_is_named_with_how_many_texts_it_cuts(folder):
    assert describe_truncation(folder, TEXTS) == "1 of 3 texts are longer than 4 tokens: max_seq_length is 4"


def test_what_the_entry_asks_for_goes_before_the_files(folder):
    assert describe_truncation(folder, TEXTS, max_length=2) == "2 of 3 texts are longer than 2 tokens: max_length is 2"


def test_where_nothing_is_cut_or_known_nothing_is_said(folder):
    assert describe_truncation(folder, ["one two"]) == ""
    (folder / "tokenizer.json").write_text("{}")
    assert describe_truncation(folder, TEXTS) == ""
    (folder / "tokenizer.json").unlink()
    assert describe_truncation(folder, TEXTS) == ""
