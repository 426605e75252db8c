"""Faults of an index in use, seen with the vectors of a new model."""

import numpy as np
import pytest
from index_places import made, model, part_of, texts_of, written

from encheck.encoders.stored_index import StoredIndex
from encheck.indexes.in_use import find_index_faults
from encheck.indexes.sources import FreshVectors

SHIFTED = part_of(slice(100, 125), lambda vectors: np.roll(vectors, 1, axis=0))
MOSTLY_SHIFTED, ALL_SHIFTED = (
    part_of(slice(0, end), lambda vectors: np.roll(vectors, 1, axis=0)) for end in (110, 200)
)
STRANGE = part_of(slice(160, 200), lambda vectors: np.random.default_rng(0).standard_normal(vectors.shape))
ZERO = part_of(slice(0, 200, 10), np.zeros_like)


@pytest.fixture(scope="module")
def documents(tmp_path_factory):
    return texts_of(made(tmp_path_factory.mktemp("index")))[0]


def faults(place, documents, new, damage=lambda vectors: vectors, *, old="Words"):
    written(path := place / "old.parquet", documents, old=old, damage=damage)
    encoder = model(new)
    fresh = dict(zip(documents, encoder.encode(documents), strict=True))
    return find_index_faults(StoredIndex(path), FreshVectors(new, encoder, "document", fresh), fresh)


@pytest.mark.parametrize(
    ("new", "damage", "said", "rows"),
    [
        ("Words", SHIFTED, "25 are not: 25 belong to other texts", range(100, 125)),
        ("Turned", SHIFTED, "25 of 200 stored vectors belong to other texts: rows 100-124 fit the texts 1 before them",
         range(100, 125)),
        ("Turned", MOSTLY_SHIFTED, "110 of 200 stored vectors belong to other texts", range(110)),
        ("Turned", ALL_SHIFTED, "rows 0-199 fit the texts 1 before them", range(200)),
        ("Words", ALL_SHIFTED, "rows 0-199 fit the texts 1 before them", range(200)),
        ("Words", STRANGE, "160 of 200 stored vectors are the new model's, 40 are not", range(160, 200)),
        ("Words", lambda vectors: 3 * STRANGE(vectors), "160 of 200 stored vectors are the new model's, 40 are not",
         range(160, 200)),
        ("Turned", STRANGE, "do not fit the others", None),
        ("Words", ZERO, "20 are zero", range(0, 200, 10)),
        ("Turned", ZERO, "20 of 200 stored vectors are zero", range(0, 200, 10)),
        ("Words", part_of(slice(0, 200, 3), lambda vectors: 7 * vectors), "67 have the right direction", None),
    ],
)  # fmt: skip
def test_what_is_wrong_with_some_rows_is_seen_whatever_the_new_model_is(tmp_path, documents, new, damage, said, rows):
    found = faults(tmp_path, documents, new, damage)
    assert said in found.says
    assert rows is None or found.rows == tuple(rows)


@pytest.mark.parametrize("new", ["Words", "Noised", "Rounded", "Turned", "Short", "Longer", "Stranger"])
def test_an_index_of_one_model_has_no_faults_whatever_the_new_model_is(tmp_path, documents, new):
    assert faults(tmp_path, documents, new) is None


def test_a_last_part_of_few_rows_is_compared_too(tmp_path, documents):
    many = [f"{text} {more}" for more in documents[:6] for text in documents][:1040]
    tail = part_of(slice(1000, 1040), lambda vectors: np.roll(vectors, 1, axis=0))
    assert faults(tmp_path, many, "Turned", tail).rows == tuple(range(1000, 1040))


def test_a_limit_that_was_moved_is_no_fault_of_the_index(tmp_path, documents):
    limit = np.quantile([len(text) for text in documents], 0.8)
    long = [row for row, text in enumerate(documents) if len(text) > limit]
    strange = part_of(long, lambda vectors: np.random.default_rng(0).standard_normal(vectors.shape))
    assert faults(tmp_path, documents, "Words", strange) is None


def test_a_limit_that_was_moved_is_told_by_tokens_where_the_new_model_has_a_tokenizer(tmp_path, documents):
    """Thirty documents of 17 words, which have fewer letters than the others of 12 words."""
    words = "abcdefghijklmnopqrstuvwxyz"
    long = [" ".join(words[(i + k) % 26] * (1 + i // 26) for k in range(17)) for i in range(30)]
    assert max(map(len, long)) < min(map(len, documents))
    assert faults(tmp_path, [*documents, *long], "Reads15", old="Reads30") is None
