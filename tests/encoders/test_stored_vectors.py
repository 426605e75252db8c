"""Vectors that were computed elsewhere, as a model: `vectors:FILE`."""

import hashlib
import json

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest

from encheck import load_model
from encheck.errors import EncoderError, ModelError

TEXTS = ["how do i pay", "where is my order"]
VECTORS = np.array([[1.0, 0.0, 2.0], [0.0, 1.0, 0.5]], np.float32)


def parquet(path, **columns):
    pyarrow.parquet.write_table(pyarrow.table(columns), path)
    return f"vectors:{path}"


def test_vectors_are_looked_up_by_text_or_by_its_hash(tmp_path):
    by_text = load_model(parquet(tmp_path / "a.parquet", text=TEXTS, vector=VECTORS.tolist()))
    hashes = [hashlib.sha256(text.encode()).hexdigest().upper() for text in TEXTS]
    by_hash = load_model(parquet(tmp_path / "b.parquet", hash=hashes, vector=VECTORS.tolist()))
    for model in (by_text, by_hash):
        assert model.encode(TEXTS[::-1]).tolist() == VECTORS[::-1].tolist()
        assert model.texts_without_vector([*TEXTS, "another"]) == ["another"]
    assert by_text.fingerprint() != by_hash.fingerprint()


def test_roles_tell_two_vectors_of_one_text_apart_and_a_query_stands_for_no_role(tmp_path):
    lines = [{"text": "a", "role": role, "vector": [1.0, i]} for i, role in enumerate(("document", "query"))]
    path = tmp_path / "v.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)), "utf-8")
    model = load_model(f"vectors:{path}")
    found = [model.encode(["a"], role=role)[0, 1] for role in (None, "query", "document")]
    assert found == [1, 1, 0]


def test_a_text_without_a_vector_is_named(tmp_path):
    model = load_model(parquet(tmp_path / "v.parquet", text=TEXTS, vector=VECTORS.tolist()))
    with pytest.raises(EncoderError, match="has no vector for 1 of 2 texts, first for 'another'"):
        model.encode([TEXTS[0], "another"])


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"text": TEXTS}, "lacks the column 'vector'"),
        ({"vector": VECTORS.tolist()}, "lacks the column 'text'"),
        ({"text": TEXTS, "vector": [[1.0], [1.0, 2.0]]}, "not of one length"),
        ({"text": TEXTS, "vector": [[1.0], [float("nan")]]}, "not finite numbers"),
        ({"text": ["a", "a"], "vector": VECTORS.tolist()}, "two vectors of 'a'"),
        ({"text": TEXTS, "vector": VECTORS.tolist(), "role": ["query", "x"]}, "the role is 'x'"),
    ],
)
def test_a_file_that_is_wrong_is_refused_by_name(tmp_path, columns, said):
    model = load_model(parquet(tmp_path / "v.parquet", **columns))
    with pytest.raises(ModelError, match=said):
        model.encode(TEXTS)


def test_a_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(ModelError, match=r"none\.parquet does not exist"):
        load_model(f"vectors:{tmp_path}/none.parquet")
