"""A bare .onnx with its tokenizer.json: ONNX Runtime and OpenVINO against numpy and torch, and what is refused."""

import shutil
import warnings
from pathlib import Path

import numpy as np
import pytest
import tiny
import tiny_models

from encheck.encoders.load import detect_adapter, load_model
from encheck.encoders.model_config import Device, ModelConfig
from encheck.encoders.onnx import pool_token_vectors
from encheck.errors import EncoderError, ModelError, UsageError

pytestmark = pytest.mark.xdist_group("encoders")
TEXTS = ["the dog sings", "a cat sleeps on the red dog", "dog", "", "what is under a cat? a blue dog."]
RUNTIMES = ["onnx", "openvino"]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return tiny_models.onnx(tmp_path_factory.mktemp("onnx")).name


@pytest.fixture
def copied(made, tmp_path):
    return shutil.copytree(made, tmp_path / "copied")


def opened(name, runtime="onnx", **fields):
    return load_model(ModelConfig("tiny", name=str(name), adapter=runtime, **fields), device=Device("cpu"))


def states(folder, text):
    """What the graph of tests/tiny_models.py computes for one text: a row of the table for each token; [tokens, 8]."""
    from onnx import load_model, numpy_helper
    from tokenizers import Tokenizer

    constants = {c.name: numpy_helper.to_array(c) for c in load_model(f"{folder}/model.onnx").graph.initializer}
    ids = Tokenizer.from_file(f"{folder}/tokenizer.json").encode(text).ids
    return constants["table"][ids] + constants["types"][0]


BY_HAND = {
    "mean": lambda h: h.mean(axis=0),
    "cls": lambda h: h[0],
    "max": lambda h: h.max(axis=0),
    "last": lambda h: h[-1],
}


@pytest.mark.parametrize("runtime", RUNTIMES)
@pytest.mark.parametrize("pooling", BY_HAND)
def test_a_batch_is_pooled_as_each_text_alone_is_by_hand(made, runtime, pooling):
    expected = np.array([BY_HAND[pooling](states(made, text)) for text in TEXTS])
    assert np.abs(opened(made, runtime, pooling=pooling).encode(TEXTS) - expected).max() < 1e-5


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """The tiny BERT as torch exports it, beside its folder."""
    import torch
    from transformers import AutoModel

    folder = tiny.build_plain(tmp_path_factory.mktemp("bert"))
    model = AutoModel.from_pretrained(folder, attn_implementation="eager").eval()

    class Plain(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.bert = model

        def forward(self, input_ids, attention_mask, token_type_ids):
            return self.bert(input_ids, attention_mask, token_type_ids).last_hidden_state

    names = ["input_ids", "attention_mask", "token_type_ids"]
    one = torch.ones(2, 5, dtype=torch.long)
    axes = {name: {0: "n", 1: "t"} for name in [*names, "last_hidden_state"]}
    out = folder.parent / f"{folder.name}-onnx"
    out.mkdir()
    how = {"input_names": names, "output_names": ["last_hidden_state"], "dynamic_axes": axes, "dynamo": False}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the exporter says that it is the older one
        torch.onnx.export(Plain(), (one, one, torch.zeros_like(one)), str(out / "model.onnx"), **how)
    shutil.copy(folder / "tokenizer.json", out)
    return folder, out


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_an_exported_bert_gives_what_torch_gives(exported, runtime):
    folder, out = exported
    texts = [*TEXTS, "the red cat " * 3]
    expected = load_model(ModelConfig("t", name=str(folder), adapter="transformers"), device=Device("cpu")).encode(
        texts
    )
    assert np.abs(opened(out, runtime).encode(texts) - expected).max() < 1e-5


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_a_vector_of_the_text_is_taken_as_it_is(tmp_path, runtime):
    pooled = tiny_models.onnx_pooled(tmp_path)
    texts = ["the dog", "a cat sleeps"]
    expected = np.array([states(pooled, text).sum(axis=0) for text in texts])
    assert np.abs(opened(pooled, runtime).encode(texts) - expected).max() < 1e-5


def with_outputs(folder, *names):
    """Give the graph these outputs, `own` being the one that it has: ids, masks, other vectors, scores of words."""
    from onnx import TensorProto, helper, load_model, save

    model = load_model(str(folder / "model.onnx"))
    kinds = {
        "ids": ("Identity", ["input_ids"], TensorProto.INT64, ["n", "t"]),
        "weights": ("Identity", ["floats"], TensorProto.FLOAT, ["n", "t"]),
        "pooler_output": ("ReduceMax", ["last_hidden_state"], TensorProto.FLOAT, ["n", 8]),
        "logits": ("Add", ["last_hidden_state"] * 2, TensorProto.FLOAT, ["n", "t", 8]),
        "twice": ("Add", ["last_hidden_state"] * 2, TensorProto.FLOAT, ["n", "t", 8]),
        "thrice": ("Sum", ["last_hidden_state"] * 3, TensorProto.FLOAT, ["n", "t", 8]),
    }
    own = list(model.graph.output) if "own" in names else []
    made = []
    for name in (name for name in names if name != "own"):
        kind, inputs, number, shape = kinds[name]
        how = {"axes": [1], "keepdims": 0} if kind == "ReduceMax" else {}
        model.graph.node.append(helper.make_node(kind, inputs, [name], **how))
        made.append(helper.make_tensor_value_info(name, number, shape))
    del model.graph.output[:]
    model.graph.output.extend([*made, *own])
    save(model, str(folder / "model.onnx"))
    return folder


@pytest.mark.parametrize("runtime", RUNTIMES)
@pytest.mark.parametrize("others", [("ids",), ("weights", "ids"), ("pooler_output",), ("logits",), ("twice",)])
def test_the_vectors_are_found_by_name_type_and_rank_wherever_they_stand(copied, made, runtime, others):
    expected = opened(made, runtime).encode(TEXTS)
    assert (opened(with_outputs(copied, *others, "own"), runtime).encode(TEXTS) == expected).all()


@pytest.mark.parametrize("others", [("ids",), ("weights", "ids")])
def test_an_output_of_any_name_is_taken_where_no_other_fits(copied, made, others):
    twice = opened(with_outputs(copied, *others, "twice")).encode(TEXTS)
    assert np.abs(twice - 2 * opened(made).encode(TEXTS)).max() < 1e-5


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_where_two_outputs_fit_they_are_listed_and_an_option_decides(copied, made, runtime):
    with_outputs(copied, "ids", "twice", "thrice")
    listed = r"model.onnx: 2 outputs fit, twice and thrice\. Available: ids \(.*64.*, twice \(.*--model-arg output=NAME"
    with pytest.raises(EncoderError, match=listed):
        opened(copied, runtime).encode(TEXTS)
    found = {name: opened(copied, runtime, options={"output": name}) for name in ("twice", "thrice")}
    expected = opened(made, runtime).encode(TEXTS)
    assert np.abs(found["twice"].encode(TEXTS) - 2 * expected).max() < 1e-5
    assert np.abs(found["thrice"].encode(TEXTS) - 3 * expected).max() < 1e-5
    assert len({model.fingerprint() for model in (*found.values(), opened(copied, runtime))}) == 3
    assert found["twice"].about()["output"] == "twice"


NO_OUTPUT = {
    "token ids alone": (("ids",), {}, "no output fits: a vector is floating point.*Available: ids"),
    "scores of words alone": (("logits",), {}, "no output fits: .*--model-arg output=NAME"),
    "an output that is not there": (("own",), {"output": "last"}, "unknown output 'last'.*last_hidden_state"),
    "token ids that were named": (("ids", "own"), {"output": "ids"}, "the output ids cannot be used: a vector is"),
}


@pytest.mark.parametrize("runtime", RUNTIMES)
@pytest.mark.parametrize(("outputs", "options", "expected"), NO_OUTPUT.values(), ids=NO_OUTPUT)
def test_an_output_without_vectors_is_refused(copied, runtime, outputs, options, expected):
    with pytest.raises(EncoderError, match=expected):
        opened(with_outputs(copied, *outputs), runtime, options=options).encode(TEXTS)


def test_a_pooling_is_refused_where_the_graph_has_pooled_already(tmp_path):
    pooled = tiny_models.onnx_pooled(tmp_path)
    with pytest.raises(EncoderError, match="sentence_embedding gives a vector for each text, but pooling is cls"):
        opened(pooled, pooling="cls").encode(TEXTS)
    tokens = opened(pooled, pooling="cls", options={"output": "last_hidden_state"}).encode(["the dog"])
    assert np.abs(tokens - states(pooled, "the dog")[0]).max() < 1e-5


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_the_file_itself_may_be_named(made, runtime):
    named = opened(Path(made) / "model.onnx", runtime)
    assert (named.encode(TEXTS) == opened(made, runtime).encode(TEXTS)).all()
    assert named.fingerprint() == opened(made, runtime).fingerprint()


def test_the_pooling_that_the_folder_says_holds_until_another_is_asked_for(copied, caplog):
    (copied / "1_Pooling").mkdir()
    (copied / "1_Pooling" / "config.json").write_text('{"pooling_mode_cls_token": true}')
    (copied / "config.json").write_text("{}")
    assert detect_adapter(copied)[0] == "onnx"
    assert opened(copied).about()["pooling"] == "cls"
    assert f"tiny: pooled by cls, as {copied}/1_Pooling/config.json says" in caplog.text
    assert opened(copied, pooling="max").about()["pooling"] == "max"
    assert opened(copied).fingerprint() != opened(copied, pooling="mean").fingerprint()


def test_length_dimension_and_prompt_are_followed_and_are_in_the_fingerprint(made):
    bare, every = opened(made), [{"max_length": 4}, {"truncate_dim": 3}, {"prompt": "red "}]
    assert (
        np.abs(
            opened(made, max_length=4).encode(["the dog sings"]) - opened(made, max_length=4).encode(["the dog"])
        ).max()
        < 1e-6
    )
    assert opened(made, truncate_dim=3).encode(TEXTS).shape == (5, 3)
    assert np.abs(opened(made, prompt="red ").encode(["dog"]) - bare.encode(["red dog"])).max() < 1e-6
    assert len({m.fingerprint() for m in [bare, *(opened(made, **f) for f in every)]}) == 4


@pytest.mark.parametrize(("side", "read"), [("Right", "the dog"), ("Left", "dog sings")])
def test_a_text_is_truncated_on_the_side_that_the_tokenizer_names(copied, side, read):
    truncation = {"direction": side, "max_length": 9, "strategy": "LongestFirst", "stride": 0}
    tiny_models.change_json(copied / "tokenizer.json", truncation=truncation)
    model = opened(copied, max_length=4)
    assert np.abs(model.encode(["the dog sings"]) - model.encode([read])).max() < 1e-6


def test_padding_is_left_out_of_every_pooling():
    made = np.array([[[1.0], [3.0], [9.0]]], np.float32)
    mask = np.array([[1, 1, 0]])
    found = {name: float(pool_token_vectors(made, mask, pooling=name)[0, 0]) for name in BY_HAND}
    assert found == {"mean": 2.0, "cls": 1.0, "max": 3.0, "last": 3.0}


def other_input(folder):
    from onnx import load_model, save

    model = load_model(str(folder / "model.onnx"))
    for node in model.graph.node:
        node.input[:] = ["pixels" if n == "token_type_ids" else n for n in node.input]
    model.graph.input[2].name = "pixels"
    save(model, str(folder / "model.onnx"))


def larger_vocabulary(folder):
    from tokenizers import Tokenizer

    words = Tokenizer.from_file(str(folder / "tokenizer.json"))
    words.add_tokens([f"zebra{i}" for i in range(50)])
    words.save(str(folder / "tokenizer.json"))


BROKEN = {
    "missing": (shutil.rmtree, ModelError, "does not exist"),
    "no model": (lambda f: (f / "model.onnx").unlink(), ModelError, "has no .onnx file"),
    "empty": (lambda f: (f / "model.onnx").write_bytes(b""), ModelError, "model.onnx is empty"),
    "cut off": (lambda f: tiny_models.cut(f / "model.onnx"), ModelError, "model.onnx is not an ONNX model"),
    "text": (lambda f: (f / "model.onnx").write_text("the dog"), ModelError, "model.onnx is not an ONNX model"),
    "no graph": (lambda f: (f / "model.onnx").write_bytes(b"\x08\x08"), EncoderError, "model.onnx cannot be run by"),
    "no tokenizer": (
        lambda f: (f / "tokenizer.json").unlink(),
        ModelError,
        "tokenizer.json does not exist. Remedy: put it",
    ),
    "tokenizer cut off": (lambda f: tiny_models.cut(f / "tokenizer.json"), ModelError, "tokenizer.json is not JSON"),
    "another JSON": (
        lambda f: (f / "tokenizer.json").write_text("{}"),
        EncoderError,
        "tokenizer.json cannot be loaded",
    ),
    "another input": (
        other_input,
        EncoderError,
        "model.onnx needs the input 'pixels', but encheck provides: input_ids",
    ),
}


@pytest.mark.parametrize("runtime", RUNTIMES)
@pytest.mark.parametrize(("harm", "kind", "expected"), BROKEN.values(), ids=BROKEN.keys())
def test_a_folder_that_is_broken_is_refused_with_its_name(copied, runtime, harm, kind, expected):
    harm(copied)
    with pytest.raises(kind, match=expected) as caught:
        opened(copied, runtime).encode(["the dog"])
    assert str(copied) in str(caught.value)


def test_a_token_that_the_model_has_no_row_for_is_said(copied):
    larger_vocabulary(copied)
    with pytest.raises(EncoderError, match=r"tokenizer.json has token 143, but .*model.onnx no row of.*Remedy: "):
        opened(copied).encode(["zebra49"])


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_a_custom_operator_is_named_as_code_and_not_run(tmp_path, runtime):
    config = tiny_models.onnx(tmp_path, domain="com.example")
    with pytest.raises(EncoderError, match=r"model.onnx uses an operator that is not part of ONNX.*Mine"):
        opened(config.name, runtime).encode(["the dog"])


def test_a_pooling_that_needs_layers_is_refused(made):
    with pytest.raises(ModelError, match=r"unknown pooling 'layers'.* Available: cls, last, max, mean"):
        opened(made, pooling="layers")


def test_a_gpu_that_onnx_runtime_has_no_provider_for_is_refused(made):
    config = ModelConfig("tiny", name=str(made), adapter="onnx")
    with pytest.raises(UsageError, match=r"--device=mps: ONNX Runtime has no provider .* or --device=cpu"):
        load_model(config, device=Device("mps")).encode(TEXTS)


@pytest.mark.parametrize(
    ("device", "first"),
    [
        ("cuda:1", ("CUDAExecutionProvider", {"device_id": "1"})),
        ("cuda", "CUDAExecutionProvider"),
        ("auto", "CUDAExecutionProvider"),
        ("cpu", "CPUExecutionProvider"),
    ],
)
def test_onnx_runtime_is_asked_for_the_gpu_that_was_named(made, monkeypatch, device, first):
    asked = []

    def session(_file, _options, providers):
        asked.extend(providers)
        raise RuntimeError("no such card here")

    there = ["TensorrtExecutionProvider", "CUDAExecutionProvider", "CPUExecutionProvider"]
    monkeypatch.setattr("onnxruntime.get_available_providers", lambda: there)
    monkeypatch.setattr("onnxruntime.InferenceSession", session)
    with pytest.raises(EncoderError, match="no such card here"):
        load_model(ModelConfig("tiny", name=str(made), adapter="onnx"), device=Device(device)).encode(TEXTS)
    assert asked[0] == first
    assert asked[-1] == "CPUExecutionProvider"


def test_numbers_that_are_none_are_refused_with_the_files_name(copied):
    from onnx import load_model, numpy_helper, save

    model = load_model(str(copied / "model.onnx"))
    table = numpy_helper.to_array(model.graph.initializer[0]).copy()
    table[:] = np.nan
    model.graph.initializer[0].CopyFrom(numpy_helper.from_array(table, "table"))
    save(model, str(copied / "model.onnx"))
    with pytest.raises(EncoderError, match=f"{copied} gives vectors with NaN"):
        opened(copied).encode(["the dog"])
