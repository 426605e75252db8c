"""The papers' encoders: Doc2Vec beside gensim, InferSent and LASER beside torch's modules."""

import argparse
import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import tiny_models
import tiny_papers
from model_checks import check_refusal

from encheck.encoders.load import load_model
from encheck.encoders.model_config import Device, ModelConfig
from encheck.encoders.static_embeddings import VectorFile
from encheck.errors import EncoderError, ModelError
from encheck_papers.laser.bpe import Bpe

pytestmark = pytest.mark.xdist_group("encoders")
TEXTS = ["the dog sings", "a cat sleeps on the red dog.", "dog", "the dog in the cat"]


def opened(config):
    return load_model(config, device=Device("cpu"))


# Doc2Vec


def trained_here(**options):
    return opened(ModelConfig("d2v", adapter="doc2vec", options=options))


def test_a_file_of_gensims_gives_what_gensim_infers_from_the_same_start(tmp_path, monkeypatch):
    import zlib

    from gensim.models import doc2vec

    config = tiny_papers.doc2vec(tmp_path)
    ours = opened(config).encode(TEXTS)
    theirs = doc2vec.Doc2Vec.load(config.name)
    weak = doc2vec.pseudorandom_weak_vector
    monkeypatch.setattr(
        doc2vec,
        "pseudorandom_weak_vector",
        lambda n, seed_string: weak(n, seed_string, lambda s: zlib.crc32(s.encode())),
    )
    for text, vector in zip(TEXTS, ours, strict=True):
        theirs.random.seed(0)
        assert np.abs(theirs.infer_vector(text.replace(".", " .").split()) - vector).max() < 1e-5


def test_without_a_file_it_is_trained_as_in_the_paper_on_the_texts_that_it_was_given():
    ours = trained_here()
    ours.fit(tiny_models.corpus())
    assert ours.encode(TEXTS).shape == (4, 100)
    model = ours._model
    assert (model.vector_size, model.window, model.min_count, model.epochs, model.workers) == (100, 5, 1, 20, 1)
    assert model.corpus_count == len(set(tiny_models.corpus()))
    assert ours.about()["trained"] == f"on the run's {len(set(tiny_models.corpus()))} texts"


def test_the_order_of_the_corpus_does_not_matter_and_its_content_does():
    corpus = tiny_models.corpus()
    first, turned, other = trained_here(size=8), trained_here(size=8), trained_here(size=8)
    first.fit(corpus)
    turned.fit([*corpus[::-1], corpus[0]])
    other.fit(corpus[1:])
    assert first.fingerprint() == turned.fingerprint() != other.fingerprint()
    assert (first.encode(TEXTS) == turned.encode(TEXTS)).all()
    assert (first.encode(TEXTS) != other.encode(TEXTS)).any()
    assert trained_here(size=9).fingerprint() != trained_here(size=8).fingerprint()


PROCESS = """
import sys
sys.path.insert(0, sys.argv[1])
import tiny_models
from encheck.encoders.model_config import ModelConfig
from encheck.encoders.load import load_model
from encheck.encoders.model_config import Device
model = load_model(ModelConfig("d2v", adapter="doc2vec", options={"size": 8}), device=Device("cpu"))
model.fit(tiny_models.corpus())
print(model.fingerprint(), model.encode(["the dog sings", "zebra", ""]).tobytes().hex())
"""


@pytest.mark.long
def test_two_processes_with_other_hash_seeds_give_the_same_bits():
    here = str(Path(tiny_models.__file__).parent)
    said = set()
    for seed in ("1", "2"):
        environment = os.environ | {"PYTHONHASHSEED": seed}
        done = subprocess.run([sys.executable, "-c", PROCESS, here], capture_output=True, text=True, env=environment)
        assert done.returncode == 0, done.stderr
        said.add(done.stdout)
    assert len(said) == 1


def test_texts_without_a_word_are_nothing_to_learn_from():
    ours = trained_here()
    ours.fit(["", " "])
    with pytest.raises(EncoderError, match="Doc2Vec has no word to learn from"):
        ours.encode([""])


class Payload:
    def __init__(self, made):
        self.made = made

    def __reduce__(self):
        return (os.mkdir, (str(self.made),))


def test_a_pickle_that_would_call_something_is_refused_by_name_and_not_run(tmp_path):
    (tmp_path / "bad.doc2vec").write_bytes(pickle.dumps(Payload(tmp_path / "made")))
    with pytest.raises(ModelError, match=r"the file is a pickle that would call posix.mkdir: it is not loaded"):
        opened(ModelConfig("bad", name=str(tmp_path / "bad.doc2vec"), adapter="doc2vec"))
    assert not (tmp_path / "made").exists()


DOC2VEC = {
    "missing": (Path.unlink, "does not exist"),
    "cut off": (tiny_models.cut, "is not a Doc2Vec model saved by gensim"),
    "another kind": (lambda p: p.write_text("the dog"), "is not a Doc2Vec model saved by gensim"),
    "another pickle": (lambda p: p.write_bytes(pickle.dumps({"a": 1})), "is not a Doc2Vec model saved by gensim"),
}


@pytest.mark.parametrize(("harm", "expected"), DOC2VEC.values(), ids=DOC2VEC.keys())
def test_a_doc2vec_file_that_is_broken_is_refused_with_its_name(tmp_path, harm, expected):
    config = tiny_papers.doc2vec(tmp_path)
    harm(Path(config.name))
    with pytest.raises(ModelError, match=expected) as caught:
        opened(config)
    assert config.name in str(caught.value)


# InferSent


def infersent_by_hand(config, sentences):
    """torch's LSTM on one sentence at a time: embeddings of the words between the marks, then the maximum over time."""
    import torch

    state = torch.load(config.name, weights_only=True)
    lstm = torch.nn.LSTM(8, 6, 1, bidirectional=True)
    lstm.load_state_dict({name.removeprefix("enc_lstm."): weight for name, weight in state.items()})
    table = VectorFile(Path(config.options["vectors"])).read({w for words in sentences for w in words})
    with torch.inference_mode():
        rows = [torch.from_numpy(np.array([table[w][1] for w in words])) for words in sentences]
        return np.array([lstm(row[:, None])[0].max(dim=0).values[0].numpy() for row in rows])


@pytest.mark.parametrize(("version", "begin", "end"), [(1, "<s>", "</s>"), (2, "<p>", "</p>")])
def test_infersent_is_the_maximum_over_time_of_torchs_lstm(tmp_path, version, begin, end):
    config = tiny_papers.infersent(tmp_path, version=version)
    texts = [*TEXTS, "zebra", "the zebra"]
    words = [["the", "dog", "sings"], ["a", "cat", "sleeps", "on", "the", "red", "dog", "."], ["dog"]]
    words += [["the", "dog", "in", "the", "cat"], [], ["the"]]
    expected = infersent_by_hand(config, [[begin, *w, end] for w in words])
    assert np.abs(opened(config).encode(texts) - expected).max() < 1e-5


def test_the_second_version_cuts_negations_as_moses_does(tmp_path):
    ours = [opened(tiny_papers.infersent(tmp_path, version=v)) for v in (1, 2)]
    assert [m.words("it isn't so") for m in ours] == [
        ["<s>", "it", "is", "n't", "so", "</s>"],
        ["<p>", "it", "isn", "'t", "so", "</p>"],
    ]


def other_dimension(path):
    tiny_models.glove(path.parent, dimension=7)


def save(path, state):
    import torch

    torch.save(state, path, _use_new_zipfile_serialization=False)


def without_end(path):
    vectors = path.parent / "glove.txt"
    vectors.write_text("".join(f"{ln}\n" for ln in vectors.read_text().splitlines() if not ln.startswith("</s> ")))


def tensors(**named):
    import torch

    return {name: torch.ones(shape) for name, shape in named.items()}


INFERSENT = {
    "missing": (Path.unlink, ModelError, "does not exist"),
    "cut off": (tiny_models.cut, (ModelError, EncoderError), "infersent1.pkl"),
    "text": (lambda p: p.write_text("the dog"), ModelError, "is not a file of weights written by torch.save"),
    "another model": (
        lambda p: save(p, tensors(other=(2, 2))),
        EncoderError,
        "has no enc_lstm.weight_ih_l0: .* It holds: other",
    ),
    "parts that do not fit": (
        lambda p: save(p, tensors(**{"enc_lstm.weight_ih_l0": (8, 8)})),
        EncoderError,
        "do not fit together",
    ),
    "vectors of another dimension": (
        other_dimension,
        EncoderError,
        "takes word vectors of 8 dimensions, but .* has 7",
    ),
    "vectors without the mark": (without_end, EncoderError, "has no '</s>': the vocabulary does not match. Remedy: "),
    "no vectors": (lambda p: (p.parent / "glove.txt").unlink(), ModelError, "glove.txt does not exist"),
}


@pytest.mark.parametrize(("harm", "kind", "expected"), INFERSENT.values(), ids=INFERSENT.keys())
def test_an_infersent_that_is_broken_is_refused_with_its_name(tmp_path, harm, kind, expected):
    check_refusal(tiny_papers.infersent(tmp_path), harm, kind, expected, named=str(tmp_path))


@pytest.mark.parametrize("zipped", [True, False])
def test_a_state_dict_that_would_call_something_is_refused_by_name_and_not_run(tmp_path, zipped):
    import torch

    config = tiny_papers.infersent(tmp_path)
    torch.save({"enc_lstm": Payload(tmp_path / "made")}, config.name, _use_new_zipfile_serialization=zipped)
    with pytest.raises(
        ModelError, match=r"is a pickle that would call posix.mkdir: it is not loaded. Remedy: save the weights"
    ):
        opened(config)
    assert not (tmp_path / "made").exists()


def test_infersent_says_that_it_needs_vectors(tmp_path):
    name = tiny_papers.infersent(tmp_path).name
    with pytest.raises(ModelError, match=r"InferSent needs word vectors. Remedy: --model-arg vectors=PATH"):
        opened(ModelConfig("t", name=name, adapter="infersent"))


# LASER


def pieces_of(folder, text):
    """Ids by sentencepiece and the lines of the vocabulary, with fairseq's four before them and the end behind."""
    import sentencepiece

    lines = (folder / "laser.cvocab").read_text("utf-8").splitlines()
    known = {line.rpartition(" ")[0]: i for i, line in enumerate(lines, 4)}
    processor = sentencepiece.SentencePieceProcessor(model_file=str(folder / "laser.spm"))
    return [known.get(piece, 3) for piece in processor.encode(text.lower(), out_type=str)] + [2]


def test_laser2_is_the_maximum_over_time_of_torchs_lstm(tmp_path):
    import torch

    config = tiny_papers.laser2(tmp_path)
    state = torch.load(config.name, weights_only=True)
    table = torch.nn.Embedding.from_pretrained(state["model"].pop("embed_tokens.weight"), padding_idx=1)
    lstm = torch.nn.LSTM(5, 4, 2, bidirectional=True)
    lstm.load_state_dict({name.removeprefix("lstm."): weight for name, weight in state["model"].items()})
    texts = [*TEXTS, "The ZEBRA 犬", ""]
    with torch.inference_mode():
        rows = [lstm(table(torch.tensor(pieces_of(tmp_path, text)))[:, None])[0] for text in texts]
    expected = np.array([row.max(dim=0).values[0].numpy() for row in rows])
    assert np.abs(opened(config).encode(texts) - expected).max() < 1e-5


def lstms_maximum(config, rows):
    """What torch's own LSTM makes of these rows of ids, the maximum over time of each."""
    import torch

    state = torch.load(config.name, weights_only=True)
    table = torch.nn.Embedding.from_pretrained(state["model"].pop("embed_tokens.weight"), padding_idx=1)
    lstm = torch.nn.LSTM(5, 4, 2, bidirectional=True)
    lstm.load_state_dict({name.removeprefix("lstm."): weight for name, weight in state["model"].items()})
    with torch.inference_mode():
        return np.array([lstm(table(torch.tensor(row))[:, None])[0].max(dim=0).values[0].numpy() for row in rows])


def test_laser1_cuts_lower_cased_words_of_moses_by_its_codes(tmp_path):
    import torch
    from tokenizers import Tokenizer, models

    config = tiny_papers.laser1(tmp_path)
    known = torch.load(config.name, weights_only=True)["dictionary"]
    lines = (tmp_path / "93langs.fcodes").read_text("utf-8").splitlines()
    merges = [tuple(line.split(" ")[:2]) for line in lines]
    letters = {symbol for merge in merges for symbol in (*merge, "".join(merge))} | {f"{c}</w>" for c in ".,"}
    theirs = Tokenizer(
        models.BPE({s: i for i, s in enumerate(sorted(letters))}, merges, end_of_word_suffix="</w>", unk_token=None)
    )

    def ids(words):
        pieces = [piece for word in words.split() for piece in theirs.encode(word).tokens]
        marked = [p.removesuffix("</w>") if p.endswith("</w>") else f"{p}@@" for p in pieces]
        return [*(known.get(p, 3) for p in marked), 2]

    texts = ["The Dog SINGS", "the dog sings on the cat"]
    expected = lstms_maximum(config, [ids(text.lower()) for text in texts])
    model = opened(config)
    assert np.abs(model.encode(texts) - expected).max() < 1e-5
    assert np.abs(model.encode(["the dog sings."]) - model.encode(["the dog sings ."])).max() < 1e-6
    assert set(model.fingerprint_files()) == {"encoder", "codes", "vocabulary"}


def test_a_merged_piece_that_the_vocabulary_lacks_is_taken_apart_again():
    bpe = Bpe.read(["l o 3", "lo w</w> 2", "n e 1", "ne w</w> 1"], ["lo@@ 1", "w 5", "new 1"])
    assert bpe.pieces("low") == ["lo@@", "w"]
    assert bpe.pieces("new") == ["new"]
    assert bpe.pieces("x") == ["x"]
    assert bpe.pieces("newlow") == ["n@@", "e@@", "w@@", "lo@@", "w"]


@pytest.mark.parametrize(
    ("harm", "expected"),
    [
        (lambda f: (f / "93langs.fcodes").unlink(), "93langs.fcodes"),
        (lambda f: (f / "93langs.fvocab").unlink(), "93langs.fvocab"),
        (lambda f: (f / "93langs.fcodes").write_text("one\n"), "line 1 is 'one', but should be two pieces and a count"),
        (lambda f: (f / "93langs.fvocab").write_text("犬 1\n鳥 1\n"), "they do not belong together"),
    ],
    ids=["no codes", "no vocabulary", "no pairs", "another vocabulary"],
)
def test_a_laser1_that_is_broken_is_refused_with_its_name(tmp_path, harm, expected):
    config = tiny_papers.laser1(tmp_path)
    harm(tmp_path)
    with pytest.raises((EncoderError, ModelError), match=expected):
        opened(config).encode(["the dog"])


def torchs_transformer(model, *, first):
    """torch's encoder layers with fairseq's weights in them."""
    import torch

    norm = torch.nn.LayerNorm(8) if first else None
    layer = torch.nn.TransformerEncoderLayer(8, 2, 12, dropout=0, batch_first=True, norm_first=first)
    stack = torch.nn.TransformerEncoder(layer, 2, norm, enable_nested_tensor=False).eval()
    names = {"self_attn.out_proj": "self_attn.out_proj", "fc1": "linear1", "fc2": "linear2"}
    names |= {"self_attn_layer_norm": "norm1", "final_layer_norm": "norm2"}
    state = {}
    for i in range(2):
        for theirs, ours in names.items():
            for kind in ("weight", "bias"):
                state[f"layers.{i}.{ours}.{kind}"] = model[f"layers.{i}.{theirs}.{kind}"]
        for kind in ("weight", "bias"):
            parts = [model[f"layers.{i}.self_attn.{p}_proj.{kind}"] for p in "qkv"]
            state[f"layers.{i}.self_attn.in_proj_{kind}"] = torch.cat(parts)
    if first:
        state |= {f"norm.{kind}": model[f"layer_norm.{kind}"] for kind in ("weight", "bias")}
    stack.load_state_dict(state)
    return stack


def sines(count):
    """Positions from 2 on: sines of eight frequencies, then cosines (Vaswani et al. 2017, as fairseq lays them out)."""
    import torch

    rows = [[p / 10_000 ** (i / 3) for i in range(4)] for p in range(2, count + 2)]
    return torch.tensor([[*np.sin(row), *np.cos(row)] for row in rows], dtype=torch.float32)


@pytest.mark.parametrize("first", [True, False], ids=["norm before", "norm after"])
def test_laser3_is_the_maximum_over_torchs_transformer(tmp_path, first):
    import torch

    config = tiny_papers.laser3(tmp_path, first=first)
    with torch.serialization.safe_globals([argparse.Namespace]):
        model = torch.load(config.name, weights_only=True)["model"]
    stack = torchs_transformer(model, first=first)
    expected = []
    for text in TEXTS:
        ids = pieces_of(tmp_path, text)
        with torch.inference_mode():
            x = model["embed_tokens.weight"][ids] * 8**0.5 + sines(len(ids))
            expected.append(stack(x[None])[0].max(dim=0).values.numpy())
    assert np.abs(opened(config).encode(TEXTS) - np.array(expected)).max() < 1e-5


def test_laser_reads_punctuation_as_moses_and_control_characters_as_blanks(tmp_path):
    model = opened(tiny_papers.laser2(tmp_path))
    first, second = model.encode(["the dog\u200b sings\u2026 \u201ccat\u201d", 'the dog  sings... "cat"'])
    assert np.abs(first - second).max() < 1e-6


def test_laser_cuts_at_the_length_that_is_asked_for_and_says_so(tmp_path, caplog):
    config = tiny_papers.laser2(tmp_path)
    cut = opened(ModelConfig("t", name=config.name, adapter="laser", max_length=3))
    assert np.isfinite(cut.encode(["the dog sings on the cat", "a"])).all()
    assert cut.truncated == 1
    assert cut.fingerprint() != opened(config).fingerprint()


def grow(folder):
    with (folder / "laser.cvocab").open("a") as file:
        file.write("zebra 1\n" * 50)


FEW = {"embed_tokens.weight": (90, 8), "layers.0.fc1.weight": (2, 8)}
LASER = {
    "no encoder": (lambda f: (f / "laser3-eng.v1.pt").unlink(), ModelError, "laser3-eng.v1.pt does not exist"),
    "encoder cut off": (
        lambda f: tiny_models.cut(f / "laser3-eng.v1.pt"),
        ModelError,
        "laser3-eng.v1.pt is not a file of weights",
    ),
    "no pieces": (
        lambda f: (f / "laser.spm").unlink(),
        ModelError,
        r"\.spm does not exist. Remedy: say where it is: --model-arg spm=PATH",
    ),
    "pieces of another kind": (
        lambda f: (f / "laser.spm").write_text("x"),
        EncoderError,
        "laser.spm is not a SentencePiece model",
    ),
    "no vocabulary": (
        lambda f: (f / "laser.cvocab").unlink(),
        EncoderError,
        "cvocab does not exist. .*vocabulary=PATH",
    ),
    "a larger vocabulary": (grow, EncoderError, r"has \d+ rows of embeddings, but the vocabulary .*cvocab goes to \d+"),
    "a vocabulary that is no text": (
        lambda f: (f / "laser.cvocab").write_bytes(b"\xff\xfe"),
        EncoderError,
        "is not UTF-8",
    ),
    "another model": (
        lambda f: save(f / "laser3-eng.v1.pt", tensors(other=(1,))),
        EncoderError,
        "has no `model`: it is not a LASER",
    ),
    "neither kind": (
        lambda f: save(f / "laser3-eng.v1.pt", {"model": tensors(**{"embed_tokens.weight": (90, 8)})}),
        EncoderError,
        "has neither params .LASER2. nor cfg.model .LASER3.",
    ),
    "a weight missing": (
        lambda f: save(f / "laser3-eng.v1.pt", {"cfg": {"model": {}}, "model": tensors(**FEW)}),
        EncoderError,
        "lacks the weight 'layers.0.self_attn",
    ),
}


@pytest.mark.parametrize(("harm", "kind", "expected"), LASER.values(), ids=LASER.keys())
def test_a_laser_that_is_broken_is_refused_with_its_name(tmp_path, harm, kind, expected):
    config = tiny_papers.laser3(tmp_path)
    harm(tmp_path)
    with pytest.raises(kind, match=expected) as caught:
        opened(config).encode(["the dog"])
    assert str(tmp_path) in str(caught.value)
