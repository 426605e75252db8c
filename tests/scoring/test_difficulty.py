"""The four difficulty cells: published counts, the authors' code pair by pair, and what the definition implies."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from encheck.datasets.load import load
from encheck.errors import UsageError
from encheck.scoring.pairs import CELLS, SentencePair, classify_by_divergence, classify_difficulty

PAIRS = st.lists(st.tuples(st.integers(0, 8), st.integers(0, 1), st.sampled_from("xy")), min_size=1, max_size=40)
PUBLISHED = {
    "mrpc": ("mrpc", (2398, 1502, 1398, 503)),
    "paws": ("paws_wiki/final", (3558, 3517, 4446, 4479)),
    "qqp": ("qqp/Quora_question_pair_partition", (6704, 3296, 6683, 3317)),
    "stsb": ("stsbenchmark", (1607, 401, 3884, 2736)),
}


def pair(first, second, label, split="", number=0):
    return SentencePair(f"own/{number}", first, second, label, str(number), split)


@pytest.mark.parametrize("name", ["mrpc", *(pytest.param(n, marks=pytest.mark.long) for n in ("paws", "qqp", "stsb"))])
def test_the_cells_have_the_published_counts(shared_data, name):
    folder, counts = PUBLISHED[name]
    found = classify_difficulty(load(f"{name}:{shared_data / folder}", sample=None).pairs)
    assert found.counts == dict(zip(CELLS, counts, strict=True))
    assert found.scope == "split"
    assert found.empty == 0


def test_the_medians_are_the_authors_and_not_table_5s(shared_data):
    oracle = json.loads((shared_data.parent / "oracles/lexsim_datasets.json").read_text("utf-8"))
    expected = oracle["MRPC (brmson 3576/500/1725 split = LexSim file names)"]
    pairs = load(f"mrpc:{shared_data / 'mrpc'}", sample=None).pairs
    medians = classify_difficulty(pairs).medians
    assert medians["validation"] == pytest.approx(expected["subset_medians"]["val"], abs=1e-6)
    assert medians["test"] == pytest.approx(expected["subset_medians"]["test"], abs=1e-6)
    whole = classify_difficulty(pairs, scope="dataset")
    assert [*whole.medians.values()] == pytest.approx([expected["global_median"]] * 3, abs=1e-6)
    assert whole.counts == expected["global_median_counts"]


@pytest.mark.parametrize(
    ("scope", "column"), [("split", "subset_median"), ("dataset", "global_median"), (0.5, "threshold_0_5")]
)
def test_each_pair_off_the_median_has_the_cell_that_the_authors_code_gives_it(shared_data, scope, column):
    oracle = json.loads((shared_data.parent / "oracles/lexsim_pairs.json").read_text("utf-8"))["pairs"]
    with_value = [p for p in oracle if p["jsd"] is not None]
    pairs = [pair(p["a"], p["b"], p["label"], p["subset"], p["id"]) for p in with_value]
    found = classify_difficulty(pairs, scope=scope)
    differ = [p for c, p in zip(found.cells, with_value, strict=True) if CELLS[c] != p[f"difficulty_{column}"]]
    medians = {"split": found.medians}.get(scope, {})  # there the authors' code leaves ties to float noise
    assert all(p["jsd"] == pytest.approx(medians[p["subset"]], abs=1e-11) for p in differ)


@given(PAIRS)
def test_a_pair_is_high_only_above_the_median_of_its_own_split(rows):
    divergence = np.array([eighths for eighths, _, _ in rows]) / 8
    labels, splits = np.array([label for _, label, _ in rows]), [split for _, _, split in rows]
    found = classify_by_divergence(divergence, labels, splits)
    for value, label, split, cell in zip(divergence, labels, splits, found.cells, strict=True):
        high = value > np.median([d for d, s in zip(divergence, splits, strict=True) if s == split])
        assert CELLS[cell] == {(1, False): "Po", (1, True): "Pn", (0, True): "No", (0, False): "Nn"}[label, bool(high)]
    assert sum(found.counts.values()) == len(rows)


def test_float_noise_at_the_median_moves_no_pair():
    noise = np.array([0.5, 0.5 + 1e-15, 0.5 - 1e-15, 0.1, 0.9])
    assert classify_by_divergence(noise, np.ones(5), [""] * 5).counts == {"Po": 4, "Pn": 1, "No": 0, "Nn": 0}


def test_a_fixed_value_cuts_every_split_alike_and_is_recorded():
    found = classify_by_divergence(np.array([0.2, 0.4, 0.4]), np.array([1, 1, 0]), ["a", "a", "b"], scope=0.3)
    assert found.counts == {"Po": 1, "Pn": 1, "No": 1, "Nn": 0}
    assert (found.scope, found.medians) == (0.3, {"a": 0.3, "b": 0.3})


def test_a_selection_keeps_its_cells():
    found = classify_by_divergence(np.array([0.1, 0.2, 0.8]), np.array([1, 0, 1]), [""] * 3)
    assert found.select(np.array([2])).counts == {"Po": 0, "Pn": 1, "No": 0, "Nn": 0}


def test_a_side_without_words_is_counted():
    assert classify_difficulty([pair("a dog", " ", 0), pair("a dog", "a dog", 1)]).empty == 1


def test_an_open_label_and_an_unknown_scope_are_refused():
    with pytest.raises(UsageError, match="own/7 has the label None, but difficulty needs a label of 0 or 1"):
        classify_difficulty([pair("a", "b", None, number=7)])
    with pytest.raises(UsageError, match="the median scope is 'corpus', but should be 'split', 'dataset' or a"):
        classify_difficulty([pair("a", "b", 1)], scope="corpus")


def test_no_pair_has_no_cell():
    assert classify_difficulty([]).counts == dict.fromkeys(CELLS, 0)
