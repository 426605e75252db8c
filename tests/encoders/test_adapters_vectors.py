"""Static vectors: every file format against gensim's reader, averages and SIF by hand, model2vec, what is refused."""

import shutil
from pathlib import Path

import numpy as np
import pytest
import tiny
import tiny_models
from model_checks import check_refusal

from encheck.encoders.load import load_model
from encheck.encoders.model_config import Device, ModelConfig
from encheck.encoders.static_embeddings import VectorFile, split_like_treebank
from encheck.errors import EncoderError, ModelError

pytestmark = pytest.mark.xdist_group("encoders")
FORMATS = {
    "glove": (tiny_models.glove, {"header": False}),
    "fasttext": (tiny_models.fasttext, {}),
    "word2vec": (tiny_models.word2vec, {"binary": True}),
}
TEXTS = ["the dog sings", "The Cat", "a dog in the dog", "", "zebra", "the zebra"]


def opened(config):
    return load_model(config, device=Device("cpu"))


@pytest.fixture(params=FORMATS.values(), ids=FORMATS.keys())
def file(request, tmp_path):
    """An entry for a file, and gensim's reading of it."""
    from gensim.models import KeyedVectors

    build, how = request.param[0], dict(request.param[1])
    config = build(tmp_path)
    name = config.name
    if how.pop("header", True) is False:  # gensim wants one, and takes no word with a blank in it
        lines = [line for line in Path(name).read_text().splitlines() if not line.startswith(". . ")]
        Path(name).write_text("\n".join(lines) + "\n")
        name = f"{name}.with-header"
        Path(name).write_text("\n".join([f"{len(lines)} 8", *lines]) + "\n")
    return config, KeyedVectors.load_word2vec_format(name, **how)


def test_vectors_and_their_ranks_are_those_that_gensim_reads(file):
    config, theirs = file
    ours = VectorFile(Path(config.name)).read(set(theirs.key_to_index))
    assert {word: rank for word, (rank, _) in ours.items()} == theirs.key_to_index
    assert max(np.abs(ours[word][1] - theirs[word]).max() for word in ours) < 1e-6
    assert VectorFile(Path(config.name)).count == len(theirs)


def test_lines_that_end_in_a_blank_are_text_as_fasttext_writes_it(tmp_path):
    path = Path(tiny_models.fasttext(tmp_path).name)
    before = VectorFile(path).read(None)
    header, *lines = path.read_text("utf-8").splitlines()
    path.write_text("\n".join([header, *(f"{line} " for line in lines)]) + "\n", "utf-8")
    after = VectorFile(path)
    assert not after.binary
    assert {w: (rank, v.tolist()) for w, (rank, v) in after.read(None).items()} == {
        w: (rank, v.tolist()) for w, (rank, v) in before.items()
    }


def test_only_the_words_that_are_asked_for_are_kept(file):
    read = VectorFile(Path(file[0].name)).read({"dog", "zebra", "café", "犬"})
    assert set(read) == {"dog", "café", "犬"}


def test_a_text_is_the_mean_of_the_words_that_the_file_knows(file):
    config, theirs = file
    vectors = opened(config).encode(TEXTS)
    known = [["the", "dog", "sings"], ["the", "cat"], ["a", "dog", "in", "the", "dog"]]
    for vector, words in zip(vectors, known, strict=False):
        assert np.abs(vector - np.mean([theirs[w] for w in words], axis=0)).max() < 1e-5
    assert np.abs(vectors[5] - theirs["the"]).max() < 1e-5


def test_a_text_without_a_known_word_is_near_to_nothing_but_no_zero_and_is_said(file, caplog):
    vectors = opened(file[0]).encode(TEXTS)
    assert (vectors[3] == vectors[4]).all()
    assert 0 < np.abs(vectors[3]).max() < 0.01
    assert "has no word from 1 of 6 texts" in caplog.text


def test_a_word_in_capitals_is_taken_as_it_stands_before_it_is_taken_in_lower_case(file):
    config, theirs = file
    assert np.abs(opened(config).encode(["Dog"])[0] - theirs["Dog"]).max() < 1e-6
    lower = ModelConfig("tiny", name=config.name, adapter="vectors", options={"lowercase": True})
    assert np.abs(opened(lower).encode(["Dog"])[0] - theirs["dog"]).max() < 1e-6


def test_a_word_with_a_blank_in_it_leaves_the_other_words_as_they_are(tmp_path):
    config = tiny_models.glove(tmp_path)
    read = VectorFile(Path(config.name)).read({". .", "the", "."})
    assert read[". ."][1].tolist() == [0.5] * 8
    assert read["."][0] < read[". ."][0]


def test_texts_are_cut_into_words_as_by_nltk_or_at_blanks(tmp_path):
    from nltk.tokenize import NLTKWordTokenizer

    text = "Isn't it so? 'Tis, she said."
    assert split_like_treebank(text) == list(NLTKWordTokenizer().tokenize(text))
    config = tiny_models.glove(tmp_path)
    split = ModelConfig("tiny", name=config.name, adapter="vectors", options={"tokens": "split"})
    assert opened(split).split_words("the dog.") == ["the", "dog."]
    assert opened(config).split_words("the dog.") == ["the", "dog", "."]


def sif_by_hand(theirs, texts, corpus, *, a=1e-3):
    """Arora, Liang and Ma (2017), algorithm 1, with p by Zipf's law; the component is that of the corpus."""
    count = len(theirs)
    harmonic = sum(1 / r for r in range(1, count + 1))

    def vector(text):
        words = text.split()
        return sum(a / (a + 1 / ((theirs.key_to_index[w] + 1) * harmonic)) * theirs[w] for w in words) / len(words)

    matrix = np.array([vector(t) for t in corpus])
    values, axes = np.linalg.eigh(matrix.T @ matrix)
    common = axes[:, values.argmax()]
    return np.array([vector(t) - (vector(t) @ common) * common for t in texts])


@pytest.mark.parametrize("a", [1e-3, 1e-1])
def test_sif_is_what_its_paper_says(file, a):
    config, theirs = file
    ours = opened(ModelConfig("tiny", name=config.name, adapter="vectors", options={"weighting": "sif", "a": a}))
    corpus = tiny_models.corpus()
    ours.fit(corpus)
    texts = ["the dog sings", "a cat", "the red dog sleeps on the cat"]
    assert np.abs(ours.encode(texts) - sif_by_hand(theirs, texts, corpus, a=a)).max() < 1e-5


def test_sif_without_a_corpus_is_weighted_alone_and_its_fingerprint_knows_the_corpus(tmp_path):
    ours = opened(tiny_models.sif(tmp_path))
    bare, vectors = ours.fingerprint(), ours.encode(TEXTS)
    ours.fit(["the dog", "a cat"])
    fitted, after = ours.fingerprint(), ours.encode(TEXTS)
    ours.fit(["a cat", "the dog"])
    assert ours.fingerprint() == fitted != bare
    assert np.abs(after - vectors).max() > 1e-3
    ours.fit(["the dog", "a half \ud800"])  # as in texts that are encoded
    assert ours.fingerprint() != fitted
    assert ours.encode(TEXTS).shape == vectors.shape


def test_the_options_are_part_of_the_fingerprint(tmp_path):
    name = tiny_models.glove(tmp_path).name
    every = [{}, {"weighting": "sif"}, {"weighting": "sif", "a": 0.1}, {"tokens": "split"}, {"lowercase": True}]
    found = {opened(ModelConfig("t", name=name, adapter="vectors", options=o)).fingerprint() for o in every}
    assert len(found) == len(every)


def end_with(path, data):
    path.write_bytes(path.read_bytes() + data)


def say(path, count):
    head, _, rest = path.read_bytes().partition(b"\n")
    path.write_bytes(b"%d %s\n" % (count, head.split()[1]) + rest)


BROKEN = {
    "missing": (tiny_models.glove, lambda p: p.unlink(), ModelError, "does not exist"),
    "a folder": (tiny_models.glove, lambda p: [p.unlink(), p.mkdir()], ModelError, "is a folder, but should be a file"),
    "empty": (tiny_models.glove, lambda p: p.write_bytes(b""), ModelError, "is empty: is the copy truncated"),
    "prose": (tiny_models.glove, lambda p: p.write_text("Once upon a time\n"), ModelError, "should hold word vectors"),
    "another kind": (
        tiny_models.glove,
        lambda p: p.write_bytes(b"PK\x03\x04 \xff\xfe\x00"),
        ModelError,
        "should hold word",
    ),
    "text cut off": (tiny_models.glove, tiny_models.cut, ModelError, "ends in the middle of a line"),
    "fewer numbers": (
        tiny_models.glove,
        lambda p: p.write_text(p.read_text().replace("\ndog ", "\ndog 1 2\nrest ")),
        EncoderError,
        "b'dog' has 2 numbers, but should have 8",
    ),
    "no numbers": (
        tiny_models.glove,
        lambda p: p.write_text(p.read_text().replace("\ndog ", "\ndog one two 3 4 5 6 7 8\nrest ")),
        EncoderError,
        "is not a list of numbers|has 10 numbers",
    ),
    "binary cut off": (tiny_models.word2vec, tiny_models.cut, ModelError, r"says \d+ x 8 vectors, but has \d+ bytes"),
    "fewer words than said": (
        tiny_models.fasttext,
        lambda p: say(p, 99),
        EncoderError,
        r"says 99 words, but holds \d+",
    ),
}


@pytest.mark.parametrize(("build", "harm", "kind", "expected"), BROKEN.values(), ids=BROKEN.keys())
def test_a_file_that_is_broken_is_refused_with_its_name(tmp_path, build, harm, kind, expected):
    config = build(tmp_path)
    check_refusal(config, harm, kind, expected, named=config.name)


def test_vectors_that_are_no_numbers_are_refused_with_the_files_name(tmp_path):
    config = tiny_models.glove(tmp_path)
    text = Path(config.name).read_text().splitlines()
    Path(config.name).write_text("\n".join([*text, "zebra " + " ".join(["nan"] * 8)]) + "\n")
    with pytest.raises(EncoderError, match="gives vectors with NaN or infinity, first for 'zebra'"):
        opened(config).encode(["the dog", "zebra"])


# model2vec


def test_model2vec_gives_the_normalised_mean_of_the_tokens_vectors(tmp_path):
    from safetensors.numpy import load_file
    from tokenizers import Tokenizer

    config = tiny_models.model2vec(tmp_path)
    folder = Path(config.name)
    table = load_file(folder / "model.safetensors")["embeddings"]
    words = Tokenizer.from_file(str(folder / "tokenizer.json"))
    texts = ["the dog sings", "a red cat sleeps under the dog", "dog"]
    means = [table[words.encode(text, add_special_tokens=False).ids].mean(axis=0) for text in texts]
    expected = np.array([m / np.linalg.norm(m) for m in means])
    assert np.abs(opened(config).encode(texts) - expected).max() < 1e-5


def test_model2vec_takes_prompts_dimensions_and_a_length(tmp_path):
    name = tiny_models.model2vec(tmp_path).name

    def ours(**fields):
        return opened(ModelConfig("t", name=name, adapter="model2vec", **fields))

    bare = ours()
    assert np.abs(ours(prompt="red ").encode(["dog"]) - bare.encode(["red dog"])).max() < 1e-6
    assert ours(truncate_dim=3).encode(["dog"]).shape == (1, 3)
    short = ours(max_length=2)
    assert np.abs(short.encode(["the dog sings"]) - bare.model.encode(["the dog sings"], max_length=2)).max() < 1e-6
    assert short.truncated == 1
    every = [bare, ours(prompt="red "), ours(truncate_dim=3), ours(max_length=2)]
    assert len({model.fingerprint() for model in every}) == 4


MODEL2VEC = {
    "missing": (shutil.rmtree, ModelError, "does not exist"),
    "no weights": (lambda f: (f / "model.safetensors").unlink(), ModelError, "has no weights"),
    "weights cut off": (
        lambda f: tiny_models.cut(f / "model.safetensors"),
        ModelError,
        "model.safetensors cannot be read",
    ),
    "no tokenizer": (lambda f: (f / "tokenizer.json").unlink(), ModelError, "has no tokenizer"),
    "another tokenizer": (
        lambda f: add_token(f / "tokenizer.json"),
        EncoderError,
        r"model2vec cannot load .*Number of tokens \(\d+\) does not match number of vectors",
    ),
}


def add_token(path):
    from tokenizers import Tokenizer

    words = Tokenizer.from_file(str(path))
    words.add_tokens(["zebra"])
    words.save(str(path))


@pytest.mark.parametrize(("harm", "kind", "expected"), MODEL2VEC.values(), ids=MODEL2VEC.keys())
def test_a_model2vec_folder_that_is_broken_is_refused_with_its_name(tmp_path, harm, kind, expected):
    config = tiny_models.model2vec(tmp_path)
    check_refusal(config, harm, kind, expected, named=config.name)


def test_every_word_of_a_long_text_counts(tmp_path):
    config = tiny_models.glove(tmp_path)
    vectors = opened(config).encode([" ".join(tiny.WORDS * 500), " ".join(tiny.WORDS)])
    assert np.abs(vectors[0] - vectors[1]).max() < 1e-5
