"""Out of memory, simulated: every adapter that makes batches goes on with half, and says so."""

import re

import numpy as np
import pytest
import tiny_models

from encheck.encoders.batching import allow_mixed_lengths
from encheck.encoders.load import load_model
from encheck.encoders.model_config import Device
from encheck.errors import EncoderError

pytestmark = pytest.mark.xdist_group("encoders")
TEXTS = ["the dog sings", "a cat sleeps", "the red cat", "a dog on a cat", "on a blue dog"]
SAID = {
    "sentence-transformers": "CUDA out of memory. Tried to allocate 2.00 GiB",
    "transformers": "MPS backend out of memory",
    "peft": "CUDA error: CUBLAS_STATUS_ALLOC_FAILED",
    "onnx": "Failed to allocate memory for requested buffer of size 9",
    "openvino": "bad allocation",
    "savedmodel": "OOM when allocating tensor with shape[5,8]",
}


def innermost(model):
    """The object and the method that compute one batch, whose first argument tells how many texts there are."""
    if hasattr(model, "infer"):
        return model, "infer", lambda inputs, *_: len(inputs["input_ids"])
    if hasattr(model, "_signature_function"):
        return model, "_signature_function", lambda texts: len(texts)
    if model.engine.startswith("sentence-transformers"):
        return model.model, "forward", lambda features, **_: len(features["input_ids"])
    return (
        model,
        "_encode_batch",
        lambda *given: len(given[-1]["input_ids"] if isinstance(given[-1], dict) else given[-1]),
    )


def narrow(model, monkeypatch, *, room, said):
    """The model has room for so many texts at a time."""
    owner, name, count = innermost(model)
    whole = getattr(owner, name)

    def computed(*given, **named):
        if count(*given) > room:
            raise RuntimeError(said)
        return whole(*given, **named)

    monkeypatch.setitem(owner.__dict__, name, computed)


@pytest.fixture(params=SAID)
def model(request, tmp_path):
    opened = load_model(tiny_models.BUILDERS[request.param](tmp_path), device=Device("cpu"))
    opened.encode(TEXTS[:1])  # loads it
    return opened, SAID[request.param]


def test_a_batch_that_does_not_fit_is_halved_until_it_does(model, monkeypatch, caplog):
    opened, said = model
    expected = opened.encode(TEXTS)
    narrow(opened, monkeypatch, room=2, said=said)
    with allow_mixed_lengths():  # all texts in one batch
        assert np.abs(opened.encode(TEXTS) - expected).max() < 1e-5
    assert "out of memory with 5 texts in a batch: continuing with 2" in caplog.text


def test_a_text_that_does_not_fit_alone_is_an_error_with_the_model_and_the_remedy(model, monkeypatch):
    opened, said = model
    narrow(opened, monkeypatch, room=0, said=said)
    with pytest.raises(
        EncoderError, match=r"runs out of memory with a single text \(.*Remedy: max_length, --dtype, or --dev"
    ) as caught:
        opened.encode(TEXTS)
    assert opened.place in str(caught.value)
    assert re.escape(said)[:8] in re.escape(str(caught.value))
