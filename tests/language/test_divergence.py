"""Lexical divergence against the authors' code (oracle files), scipy, and what the definition implies."""

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nltk.tokenize import NLTKWordTokenizer
from scipy.spatial.distance import jensenshannon

from encheck.errors import UsageError
from encheck.language import divergence
from encheck.language.divergence import jensen_shannon_divergence, token_divergence, tokenise

TOKENS = st.lists(st.sampled_from("abcdefg"), max_size=12)
SIDES = st.lists(st.tuples(TOKENS, TOKENS), min_size=1, max_size=8)


@pytest.fixture
def oracle(shared_data):
    """The authors' figures for 200 pairs."""
    return json.loads((shared_data.parent / "oracles/lexsim_pairs.json").read_text("utf-8"))["pairs"]


def columns(pairs):
    return [p["a"] for p in pairs], [p["b"] for p in pairs]


def by_scipy(first, second):
    vocabulary = sorted({*first, *second})
    p, q = (np.array([Counter(side)[token] for token in vocabulary], float) for side in (first, second))
    return jensenshannon(p, q, base=2) ** 2


def test_tokens_are_those_of_the_authors(oracle):
    assert [list(tokenise(p["a"])) for p in oracle] == [p["tokens_a"] for p in oracle]
    assert [list(tokenise(p["b"])) for p in oracle] == [p["tokens_b"] for p in oracle]


def test_divergence_is_that_of_the_authors_code(oracle):
    expected = [1.0 if p["jsd"] is None else p["jsd"] for p in oracle]
    assert sum(p["jsd"] is None for p in oracle) == 1
    assert jensen_shannon_divergence(*columns(oracle)) == pytest.approx(expected, abs=1e-9)


def test_divergence_of_mrpc_pairs_is_that_of_the_authors_code(shared_data):
    oracle = json.loads((shared_data.parent / "oracles/lexsim_mrpc_by_id.json").read_text("utf-8"))["rows"]
    rows = [row for name in ("train", "test") for row in mrpc_rows(shared_data / "mrpc", name)]
    assert len(rows) == 5801
    rows = rows[::5]
    expected = [oracle[key][0] for key, _, _ in rows]
    assert jensen_shannon_divergence([a for _, a, _ in rows], [b for _, _, b in rows]) == pytest.approx(
        expected, abs=1e-9
    )


def mrpc_rows(folder, name):
    lines = (folder / f"msr_paraphrase_{name}.txt").read_text("utf-8-sig").splitlines()[1:]
    last = len(lines) - 500 if name == "train" else len(lines)
    for i, fields in enumerate(line.split("\t") for line in lines):
        split = name if i < last else "val"
        yield f"{split}:{fields[1]}-{fields[2]}", fields[3], fields[4]


@given(SIDES)
def test_divergence_is_scipys_distance_squared(sides):
    first, second = zip(*sides, strict=True)
    expected = [by_scipy(a, b) if a and b else float(bool(a) != bool(b)) for a, b in sides]
    assert token_divergence(first, second) == pytest.approx(expected, abs=1e-12)


@given(SIDES)
def test_divergence_is_symmetric_and_from_0_to_1(sides):
    first, second = zip(*sides, strict=True)
    found = token_divergence(first, second)
    assert ((found >= 0) & (found <= 1)).all()
    assert found == pytest.approx(token_divergence(second, first), abs=1e-15)


def test_a_side_without_tokens_is_1_away_and_two_of_them_are_equal():
    assert jensen_shannon_divergence(["", "", " \t"], ["a dog", "", ""]).tolist() == [1, 0, 0]


def test_repeats_count_for_the_divergence():
    first, second = [["a", "b"]], [["a", "a", "a", "b"]]
    assert token_divergence(first, [["a", "a", "b", "b"]]).tolist() == [0]
    assert token_divergence(first, second)[0] == pytest.approx(by_scipy(*first, *second))


def test_more_pairs_than_one_table_holds_are_the_same_pairs(monkeypatch):
    first, second = [["a"], ["a", "b"], ["c"], []], [["b"], ["a"], ["c"], ["d"]]
    whole = token_divergence(first, second).tolist()
    monkeypatch.setattr("encheck.language.divergence.PAIRS_PER_BATCH", 3)
    assert token_divergence(first, second).tolist() == whole


def test_no_pair_has_no_divergence():
    assert jensen_shannon_divergence([], []).shape == (0,)


def test_sides_of_different_length_are_refused():
    with pytest.raises(UsageError, match="2 first sides and 1 second sides, but they should go in pairs"):
        jensen_shannon_divergence(["a", "b"], ["a"])


def test_a_word_is_split_once(monkeypatch):
    caches = (tokenise, divergence._tokenise_last_word, divergence._tokenise_inner_word)
    for cache in caches:
        cache.cache_clear()
    asked = []

    def counted(self, text, *args, **kwargs):
        asked.append(text)
        return text.split()

    monkeypatch.setattr(NLTKWordTokenizer, "tokenize", counted)
    jensen_shannon_divergence(["A dog", "a cat", "A dog"], ["A dog", "a fox", "a cat"])
    for cache in caches:
        cache.cache_clear()
    assert asked
    assert len(asked) == len(set(asked))


def test_no_tokenizer_data_is_needed(monkeypatch):
    def refuse(*_args, **_kwargs):
        raise AssertionError("looked for nltk data")

    monkeypatch.setattr("nltk.data.find", refuse)
    monkeypatch.setattr("nltk.data.load", refuse)
    tokenise.cache_clear()
    assert tokenise("It's here. Mr. X left.") == ("it", "'s", "here.", "mr.", "x", "left", ".")


def test_nltk_is_imported_where_it_is_used():
    source = Path(jensen_shannon_divergence.__code__.co_filename).read_text("utf-8")
    assert not [line for line in source.splitlines() if line.startswith(("import nltk", "from nltk", "import scipy"))]
