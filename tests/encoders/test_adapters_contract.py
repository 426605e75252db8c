"""What every adapter promises, whatever is behind it: the same tests for all of them.

Tolerance of batch-size drift: 1e-5 (largest difference of a coordinate, in fp32, for vectors of length about 1 to 10).
"""

import dataclasses
import shutil
from pathlib import Path

import numpy as np
import pytest
import tiny_models
from embedding_server import serving
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from encheck.encoders import fake
from encheck.encoders.adapters import find_adapter
from encheck.encoders.load import load_model
from encheck.encoders.model_config import Device, ModelConfig
from encheck.encoders.protocol import Encoder, checked_batches
from encheck.errors import EncoderError, ModelError
from encheck.relations import batch_drift, order_drift, prompt_drift, repeat_drift, text_drift
from encheck.strategies import hostile_texts, sentences

pytestmark = pytest.mark.xdist_group("encoders")
DRIFT = 1e-5
SENTENCES = ["the dog sings", "a cat sleeps", "the red cat", "what is under the cat? a dog.", "on a blue dog", "Dog"]
WEIGHTS = {".safetensors", ".txt", ".vec", ".bin", ".doc2vec", ".pkl", ".pt", ".pb", ".onnx"}
CUTS = {"sentence-transformers", "transformers", "roberta", "peft", "model2vec", "onnx", "openvino", "openai", "tei"}
PLAIN = CUTS - {"roberta"}  # their tokenizer makes letters lower-case and drops blanks
PROMPT, LONG = "the red ", "the dog sings " * 200


def tolerant(model):
    """A served model: the fake's vectors, of 32 numbers."""
    return lambda texts: model.encode(texts)[:, :32]


@pytest.fixture(scope="module", params=[*tiny_models.BUILDERS, "openai", "tei"])
def entry(request, tmp_path_factory):
    """The adapter's name here, and an entry of models.yaml for a tiny model of its kind."""
    if request.param in tiny_models.BUILDERS:
        yield request.param, tiny_models.BUILDERS[request.param](tmp_path_factory.mktemp(request.param))
        return
    with serving(tolerant(fake.BagOfWords())) as (address, _):
        options = {"model": "tiny"} if request.param == "openai" else {}
        yield request.param, ModelConfig("tiny", name=address, adapter=request.param, options=options)


def opened(config):
    return load_model(config, device=Device("cpu"))


@pytest.fixture(scope="module")
def model(entry):
    return opened(entry[1])


def test_it_is_an_encoder_and_its_vectors_are_finite_single_precision_and_not_all_alike(model):
    assert isinstance(model, Encoder)
    vectors = model.encode(SENTENCES)
    assert vectors.dtype == np.float32
    assert vectors.shape == (len(SENTENCES), vectors.shape[1])
    assert np.isfinite(vectors).all()
    assert np.abs(vectors[0] - vectors[1]).max() > 1e-3


def test_vectors_come_in_the_order_of_the_texts(model):
    order = [3, 0, 5, 1, 4, 2]
    whole = model.encode(SENTENCES)
    assert np.abs(model.encode([SENTENCES[i] for i in order]) - whole[order]).max() < DRIFT


def test_the_same_texts_give_the_same_bits_again_and_in_another_object(model, entry):
    first = model.encode(SENTENCES)
    assert (model.encode(SENTENCES) == first).all()
    assert (opened(entry[1]).encode(SENTENCES) == first).all()


@pytest.mark.parametrize("size", [1, 2, 5])
def test_a_vector_does_not_depend_on_how_many_texts_come_at_a_time(model, size):
    texts = SENTENCES * 2 + ["the " * 30, "cat"]
    whole = model.encode(texts)
    parts = np.concatenate([model.encode(texts[i : i + size]) for i in range(0, len(texts), size)])
    assert np.abs(parts - whole).max() < DRIFT


def test_duplicates_have_the_same_vector(model):
    vectors = model.encode(["the dog sings", "a cat sleeps", "the dog sings", "the dog sings"])
    assert np.abs(vectors[[2, 3]] - vectors[0]).max() < DRIFT


def test_no_texts_give_no_vectors(model):
    assert len(model.encode([])) == 0


@pytest.mark.parametrize("empty", ["", " ", "\n\t"])
def test_an_empty_text_has_a_finite_vector(model, empty):
    vectors = model.encode([empty, "the dog sings"])
    assert np.isfinite(vectors).all()
    assert np.abs(vectors[1] - model.encode(["the dog sings"])[0]).max() < DRIFT


def test_a_very_long_text_is_encoded_and_said_to_be_cut_where_it_is(entry, caplog):
    name, config = entry
    model = opened(config)
    vectors = model.encode(["the red cat sleeps on a dog " * 2_000, "a dog"])
    assert np.isfinite(vectors).all()
    assert model.truncated == (name in CUTS)
    assert ("1 of 2 texts" in caplog.text and "the rest is truncated" in caplog.text) == (name in CUTS)


@pytest.mark.parametrize(
    "text", ["naïve café 😀", "犬が歌う", "\u202eabc\u0301", "a\x00b", "👩‍👩‍👧", "\ufeffthe", "زبان", "\U0010ffff"]
)
def test_any_unicode_has_a_finite_vector_that_stays_the_same(model, text):
    first = model.encode([text, "the dog"])
    assert np.isfinite(first).all()
    assert np.abs(model.encode([text])[0] - first[0]).max() < DRIFT


def test_half_a_surrogate_pair_is_read_as_the_replacement_character_and_said_to_be(model, caplog):
    broken, fixed = model.encode(["a \ud800 dog", "a \ufffd dog"])
    assert np.abs(broken - fixed).max() < DRIFT
    assert "1 of 2 texts hold half of a surrogate pair: it is read as U+FFFD" in caplog.text


def test_its_batches_hold_every_text_once(model):
    found = list(checked_batches(model, SENTENCES))
    assert sorted(i for positions, _ in found for i in positions.tolist()) == list(range(len(SENTENCES)))


def test_the_fingerprint_is_there_before_the_first_text_and_stays(entry):
    model = opened(entry[1])
    before = model.fingerprint()
    model.encode(SENTENCES)
    assert model.fingerprint() == before == opened(entry[1]).fingerprint()


def test_a_copied_model_has_the_same_fingerprint_and_an_edited_one_another(entry, tmp_path):
    name, config = entry
    if name in ("openai", "tei"):
        return  # without files: see test_adapters_http.py
    source = Path(config.name)
    parent = shutil.copytree(source.parent, tmp_path / "copied")
    copied = dataclasses.replace(config, name=str(parent / source.name))
    before = opened(config).fingerprint()
    assert opened(copied).fingerprint() == before
    weights = next(p for p in tiny_models.files_of(copied) if p.suffix in WEIGHTS)
    tiny_models.spoil(weights)
    try:
        assert opened(copied).fingerprint() != before
    except ModelError as error:
        assert str(weights) in str(error)  # noqa: PT017 - a file that is checked as a whole is refused instead


def test_it_says_how_it_is_used(model, entry):
    about = model.about()
    assert set(about) & {"prompt", "pooling", "trained", "version", "model", "code"}
    assert model.similarity == "cosine"
    assert find_adapter(entry[1].adapter)


def texts(*, longest):
    return st.lists(st.one_of(sentences(), hostile_texts(max_size=longest)), min_size=1, max_size=3)


def drift_of(model, texts):
    """DRIFT for vectors that are as long as these."""
    return DRIFT * max(1.0, float(np.abs(model.encode(texts)).max()))


@pytest.mark.parametrize(("examples", "longest"), [(3, 300), pytest.param(40, 20_000, marks=pytest.mark.long)])
def test_repetition_order_and_company_change_no_vector_whatever_the_texts(model, examples, longest):
    @settings(max_examples=examples, suppress_health_check=list(HealthCheck))
    @given(texts(longest=longest))
    def hold(texts):
        most = drift_of(model, texts)
        assert repeat_drift(model, texts) == 0
        assert order_drift(model, texts) <= most
        assert batch_drift(model, texts) <= most

    hold()


def test_a_text_of_unknown_words_alone_has_the_vector_that_it_has_in_company(model):
    strange = "zq1 zq2 zq3 zq4 zq5 zq6 zq7 zq8 zq9 zq10 zq11"
    model.encode(["the dog sings"])
    assert batch_drift(model, [strange, "the dog sings"]) <= drift_of(model, [strange])


@pytest.mark.parametrize(("examples", "longest"), [(3, 60), pytest.param(40, 10_000, marks=pytest.mark.long)])
def test_a_prompt_is_what_stands_before_the_text(entry, examples, longest):
    if "prompts" not in find_adapter(entry[1].adapter).takes:
        return
    model = opened(dataclasses.replace(entry[1], prompts={"query": PROMPT}))

    @settings(max_examples=examples, suppress_health_check=list(HealthCheck))
    @given(st.one_of(sentences(), hostile_texts(max_size=longest)))
    def hold(text):
        most = drift_of(model, [f"{PROMPT}{text}"])
        assert prompt_drift(model, text, role="query", prompt=PROMPT) <= most

    hold()


@pytest.mark.parametrize("examples", [3, pytest.param(60, marks=pytest.mark.long)])
def test_what_follows_the_cut_changes_nothing(model, entry, examples):
    if entry[0] not in CUTS:
        return

    @settings(max_examples=examples, suppress_health_check=list(HealthCheck))
    @given(st.one_of(sentences(), hostile_texts(max_size=100)), st.one_of(sentences(), hostile_texts(max_size=100)))
    def hold(first, second):
        most = drift_of(model, ["the dog"])
        assert text_drift(model, f"{LONG}{first}", f"{LONG}{second}") <= most

    hold()


@pytest.mark.parametrize("examples", [3, pytest.param(60, marks=pytest.mark.long)])
def test_case_and_blanks_change_nothing_where_the_tokenizer_drops_them(model, entry, examples):
    if entry[0] not in PLAIN:
        return

    @settings(max_examples=examples, suppress_health_check=list(HealthCheck))
    @given(sentences())
    def hold(text):
        assert text_drift(model, text, text.upper()) <= drift_of(model, [text])
        assert text_drift(model, text, f" {text} ".replace(" ", "  ")) <= drift_of(model, [text])

    hold()


def test_vectors_that_are_no_numbers_are_an_error_that_names_the_model(model, monkeypatch):
    monkeypatch.setattr(
        model, "compute", lambda *texts_and_prompt: iter([(np.arange(1), np.full((1, 4), np.nan, np.float32))])
    )
    with pytest.raises(
        EncoderError, match=r"gives vectors with NaN or infinity, first for 'a dog'\. Remedy: "
    ) as caught:
        model.encode(["a dog"])
    assert model.place in str(caught.value)
