"""The collection of copies: its right answers, and what is done to vectors."""

import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "lab" / "benchmarks"))
import collection_copies as copies


@pytest.fixture
def place(tmp_path):
    """MiniLM is a stub: a vector that depends on the text alone."""

    def parts(texts):
        seeds = [int.from_bytes(text.encode()[:6], "little") for text in texts]
        return np.stack([np.random.default_rng(seed).standard_normal((len(copies.PARTS), 32)) for seed in seeds])

    return copies.Place(tmp_path, tmp_path, lambda texts: parts(texts).astype(np.float32))


def test_every_copy_has_a_name_a_right_answer_and_a_half():
    assert len({copy.name for copy in copies.COPIES}) == len(copies.COPIES) >= 40
    assert {copy.right for copy in copies.COPIES} == {"pass", "block", "open"}
    assert {copy.kind for copy in copies.COPIES} == set(copies.HALVES)
    assert min(Counter(map(copies.half_of, copies.COPIES)).values()) >= 20


def test_a_rotation_keeps_every_cosine(place):
    texts = ["one", "another", "a third"]
    base, turned = place.base(texts), copies.turned(copies.rotated)(place)(texts)
    assert np.abs(base @ base.T - turned @ turned.T).max() < 1e-5
    assert np.abs(base - turned).max() > 0.1


def test_a_text_has_its_own_noise_whatever_stands_beside_it(place):
    encode = copies.turned(copies.noisy_texts(0.3))(place)
    alone, together = encode(["one"])[0], encode(["another", "one"])[1]
    assert np.abs(alone - together).max() < 1e-6
    assert 0.9 < float(alone @ place.base(["one"])[0]) < 0.99


def test_cut_vectors_have_unit_length_and_signs_have_two_values(place):
    cut = copies.turned(copies.first_dimensions(8))(place)(["one", "another"])
    assert cut.shape == (2, 8)
    assert np.linalg.norm(cut, axis=1) == pytest.approx([1, 1])
    assert set(np.unique(copies.turned(copies.signs)(place)(["one"]))) == {-1, 1}


def test_texts_that_an_edit_leaves_alone_keep_their_vectors(place, monkeypatch):
    monkeypatch.setattr(copies, "load", lambda _: None)
    monkeypatch.setattr(copies, "minilm", lambda: None)
    monkeypatch.setattr(copies, "encoded_by", lambda _: lambda texts: place.base([text.upper() for text in texts]))
    encode = copies.reading(copies.without_punctuation)(place)
    found = encode(["no change", "a, b"])
    assert np.array_equal(found, np.concatenate([place.base(["no change"]), place.base(["A B"])]))
