"""Every adapter of the papers and every defect: the message names the file and the remedy."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest
import tiny_models
import tiny_papers
from test_adapters_bad_input import (
    DEFECTS,
    add_tokens,
    check_defect,
    copied,
    cut,
    nan_tensors,
    other_words,
    remove,
    replace,
    said,
    strange,
)

pytestmark = pytest.mark.xdist_group("encoders")
assert copied


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """name -> (folder, entry), built once."""
    made = {}

    def get(name):
        if name not in made:
            folder = tmp_path_factory.mktemp(name)
            made[name] = folder, tiny_papers.BUILDERS[name](folder)
        return made[name]

    return get


def nan_state(entry):
    import torch

    with torch.serialization.safe_globals([__import__("argparse").Namespace]):
        state = torch.load(entry.name, weights_only=True)
    model = state.get("model", state)
    model.update({n: w * np.nan for n, w in model.items() if "embed" not in n or "weight" in n})
    torch.save(state, entry.name, _use_new_zipfile_serialization="model" in state)


def gensims(change):
    def harm(entry):
        from gensim.models.doc2vec import Doc2Vec

        model = Doc2Vec.load(entry.name)
        change(model)
        model.save(entry.name)

    return harm


def foreign(model):
    model.wv.index_to_key = [strange(w) for w in model.wv.index_to_key]
    model.wv.key_to_index = {w: i for i, w in enumerate(model.wv.index_to_key)}


def diverged(model):
    model.syn1neg[:] = np.nan
    model.wv.vectors[:] = np.nan


def vectors_of(entry):
    return dataclasses.replace(entry, name=entry.options["vectors"])


def other_pieces(entry):
    """The SentencePiece model of other texts."""
    import sentencepiece as spm

    folder = Path(entry.name).parent
    (folder / "other.txt").write_text("γρήγορες αλεπούδες πηδούν πάνω από σκύλους\n" * 50)
    named = str(folder / "other")
    spm.SentencePieceTrainer.train(
        input=str(folder / "other.txt"), model_prefix=named, vocab_size=40, minloglevel=2, hard_vocab_limit=False
    )
    Path(f"{named}.model").rename(folder / "laser.spm")


def longer_vocabulary(entry):
    with (Path(entry.name).parent / "laser.cvocab").open("a") as file:
        file.write("zebra 1\n" * 50)


def number_an_object(entry):
    """A pickle of a few kB whose reader would make a list of 2**31 places."""
    path = Path(entry.name)
    path.write_bytes(b"\x80\x04]r\xff\xff\xff\x7f." + path.read_bytes())


def ask_for_memory(entry):
    """A pickle that says that a text of 2**62 bytes follows."""
    Path(entry.name).write_bytes(b"\x80\x04\x8e" + b"\xff" * 7 + b"\x3f.")


SCORERS = ("bertscore", "alignment")
HARMS = {
    "missing": dict.fromkeys(tiny_papers.BUILDERS, remove), "wrong kind": dict.fromkeys(tiny_papers.BUILDERS, replace),
    "cut off": dict.fromkeys(tiny_papers.BUILDERS, cut),
    "vocabulary": {
        **dict.fromkeys(SCORERS, add_tokens), "doc2vec": gensims(foreign), "laser2": other_pieces,
        "infersent": lambda entry: other_words(vectors_of(entry)), "laser3": longer_vocabulary,
    },
    "no numbers": {
        **dict.fromkeys(SCORERS, nan_tensors), **dict.fromkeys(("infersent", "laser2", "laser3"), nan_state),
        "doc2vec": gensims(diverged),
    },
}  # fmt: skip
CELLS = {(name, defect): harm for defect, harms in HARMS.items() for name, harm in harms.items()}
MORE = {
    ("infersent", "vectors that are missing"): lambda entry: remove(vectors_of(entry)),
    ("infersent", "vectors cut off"): lambda entry: cut(vectors_of(entry)),
    ("laser3", "vocabulary that is missing"): lambda entry: (Path(entry.name).parent / "laser.cvocab").unlink(),
    ("laser2", "pieces cut off"): lambda entry: tiny_models.cut(Path(entry.name).parent / "laser.spm"),
    ("doc2vec", "a number too high"): number_an_object,
    ("infersent", "a text too long"): ask_for_memory,
}


@pytest.mark.parametrize("name", tiny_papers.BUILDERS)
def test_a_whole_model_is_taken_without_a_word(copied, name, tmp_path):
    assert said(copied(name), tmp_path) == "None"


@pytest.mark.parametrize(("name", "defect"), [*CELLS, *MORE], ids=lambda part: part.replace(" ", "-"))
def test_a_defect_is_said_with_the_file_and_the_remedy_before_anything_is_generated(copied, name, defect, tmp_path):
    check_defect(copied(name), (CELLS | MORE)[name, defect], tmp_path)


def test_no_cell_of_the_matrix_is_forgotten():
    assert {(name, defect) for name in tiny_papers.BUILDERS for defect in DEFECTS} == set(CELLS)
