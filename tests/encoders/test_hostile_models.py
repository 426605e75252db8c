"""Checkpoints that would run code, or be measured as another model: refused by name, and nothing of them has run.

`make test` runs this file a second time, on the oldest sentence-transformers that pyproject.toml allows.
"""

import json
import os
import re
import shutil
import sys
import tomllib
import zipfile
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pytest
import tiny
import tiny_models

from encheck.encoders.checkpoints import trust as known
from encheck.encoders.files import check_torch_pickle
from encheck.encoders.load import load_model
from encheck.encoders.model_config import Device, ModelConfig
from encheck.errors import EncoderError, ModelError

pytestmark = pytest.mark.xdist_group("encoders")
TEXTS = ["the dog sings", "a cat sleeps"]
DENSE = "sentence_transformers.models.Dense"
OWN = "hostile.Own"
SOURCE = """
import torch
open({trace!r}, "w").close()
class Own(torch.nn.Module):
    def __init__(self, *args, **options):
        super().__init__()
    def forward(self, x):
        return 2 * x
    @classmethod
    def load(cls, *args, **options):
        return cls()
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return tiny.build(tmp_path_factory.mktemp("tiny"))


@pytest.fixture
def folder(made, tmp_path):
    return shutil.copytree(made, tmp_path / "copied")


@pytest.fixture
def trace(folder, monkeypatch, tmp_path):
    """The file that the checkpoint's own code writes when it is imported, from the folder or by its name."""
    path = tmp_path / "was_run"
    (folder / "hostile.py").write_text(SOURCE.format(trace=str(path)))
    monkeypatch.syspath_prepend(folder)
    monkeypatch.delitem(sys.modules, "hostile", raising=False)
    return path


def opened(name, adapter="sentence-transformers", **fields):
    return load_model(ModelConfig("tiny", name=str(name), adapter=adapter, **fields), device=Device("cpu"))


def write(path, found):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(found))


def add_module(folder, path, kind):
    """One module more in modules.json."""
    file = folder / "modules.json"
    before = json.loads(file.read_text())
    write(file, [*before, {"idx": len(before), "name": str(len(before)), "path": path, "type": kind}])


def assert_refused(folder, file, *words, **fields):
    """Hold that the folder is refused before it is loaded, with its file and these words; return the message."""
    with pytest.raises(ModelError) as caught:
        opened(folder, **fields)
    message = str(caught.value)
    assert str(folder / file) in message
    assert all(word in message for word in words), message
    return message


def test_the_version_is_one_that_is_allowed():
    text = (Path(__file__).resolve().parents[2] / "pyproject.toml").read_text()
    oldest = next(d for d in tomllib.loads(text)["project"]["dependencies"] if d.startswith("sentence-transformers"))
    numbers = [tuple(map(int, re.findall(r"\d+", v)[:2])) for v in (oldest, version("sentence-transformers"))]
    assert numbers[0] == numbers[1] if os.environ.get("ENCHECK_OLDEST") else numbers[0] <= numbers[1]


# code that a configuration names


ROUTER = "sentence_transformers.models.Router"
ROUTED = {"types": {"query_0": OWN}, "structure": {"query": ["query_0"]}, "parameters": {"default_route": "query"}}
NESTED = [{"idx": 0, "name": "0", "path": "", "type": OWN}]
WORDS = "sentence_transformers.models.WordEmbeddings"
NAMED = {
    "a module": (OWN, "9_Own", "modules.json", None),
    "a module under the library's prefix": (f"sentence_transformers.{OWN}", "", "modules.json", None),
    "a whole model as a module": ("sentence_transformers.SentenceTransformer", "nested", "modules.json", None),
    "a function of the library": ("sentence_transformers.util.misc.import_from_string", "", "modules.json", None),
    "a nested modules.json": (DENSE, "nested", "nested/modules.json", NESTED),
    "one further down": (DENSE, "nested", "nested/a/b/modules.json", NESTED),
    "a router": (ROUTER, "1_Router", "1_Router/router_config.json", ROUTED),
    "a router of before 5.0": ("sentence_transformers.models.Asym", "1_Asym", "1_Asym/config.json", ROUTED),
    "a router in a router": (ROUTER, "1_Router", "1_Router/query_0/router_config.json", ROUTED),
    "a tokenizer of words": (WORDS, "0_Words", "0_Words/wordembedding_config.json", {"tokenizer_class": OWN}),
}


@pytest.mark.parametrize(("kind", "path", "file", "found"), NAMED.values(), ids=NAMED.keys())
def test_a_class_that_is_not_known_is_named_and_not_imported(folder, trace, kind, path, file, found):
    add_module(folder, path, kind)
    if found:
        write(folder / file, found)
    named = OWN if found else kind
    assert_refused(folder, file, f"names its own code ({named}), which is not run. If you trust it: trust_remote_code")
    assert not trace.exists()


@pytest.mark.parametrize("file", ["router_config.json", "config.json"])
def test_a_router_at_the_root_has_the_classes_of_its_parts_looked_at(folder, trace, file):
    nested = {"types": {"query_0": ROUTER}, "structure": {"query": ["query_0"]}, "parameters": {}}
    write(folder / "modules.json", [{"idx": 0, "name": "0", "path": "", "type": ROUTER}])
    write(folder / file, nested)
    write(folder / "query_0" / "config.json", ROUTED)
    assert_refused(folder, "query_0/config.json", f"names its own code ({OWN})", "It is named under types.query_0")
    assert not trace.exists()


SETTINGS = {
    "a tokenizer": ("tokenizer_config.json", {"auto_map": {"AutoTokenizer": [OWN, None]}}, "auto_map"),
    "a processor": ("preprocessor_config.json", {"auto_map": {"AutoImageProcessor": OWN}}, "auto_map"),
    "a model of a type that transformers has": ("config.json", {"auto_map": {"AutoModel": OWN}}, "auto_map: without"),
    "a model within it": ("config.json", {"text_config": {"auto_map": {"AutoModel": OWN}}}, "auto_map"),
    "a kernel": ("config.json", {"attn_implementation": "hostile/Own"}, "attn_implementation"),
    "a kernel of a module": (
        "sentence_bert_config.json", {"model_args": {"attn_implementation": "hostile/Own"}}, "attn_implementation"
    ),
    "an adapter": ("adapter_config.json", {"megatron_config": {"a": 1}, "megatron_core": OWN}, "megatron_core"),
}  # fmt: skip


@pytest.mark.parametrize("adapter", ["sentence-transformers", "transformers"])
@pytest.mark.parametrize(("file", "found", "key"), SETTINGS.values(), ids=SETTINGS.keys())
def test_code_that_a_setting_names_is_not_fetched_or_run(folder, trace, adapter, file, found, key):
    before = json.loads((folder / file).read_text()) if (folder / file).exists() else {}
    write(folder / file, before | found)
    assert_refused(folder, file, "names its own code (", f"It is named under {key}", adapter=adapter)
    assert not trace.exists()


def test_a_tokenizer_of_a_cross_encoder_is_not_asked_about_on_the_terminal(folder, trace, monkeypatch):
    monkeypatch.setattr("builtins.input", lambda *_: "y")
    tiny_models.change_json(folder / "tokenizer_config.json", auto_map={"AutoTokenizer": [OWN, None]})
    assert_refused(folder, "tokenizer_config.json", f"names its own code ({OWN})", adapter="cross-encoder")
    assert not trace.exists()


def test_an_adapter_of_peft_names_no_module_to_import(trace, tmp_path):
    folder = Path(tiny_models.peft(tmp_path).name)
    tiny_models.change_json(folder / "adapter_config.json", megatron_config={"a": 1}, megatron_core=OWN)
    assert_refused(folder, "adapter_config.json", f"names its own code ({OWN})", adapter="peft")
    assert not trace.exists()


class Payload:
    """A pickle that makes a file when it is loaded."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (open, (str(self.path), "w"))


@pytest.mark.parametrize("group", ["model_args", "model_kwargs"])
def test_a_checkpoint_cannot_ask_for_a_pickle_to_be_run(folder, trace, group):
    import torch

    torch.save({"payload": Payload(trace)}, folder / "pytorch_model.bin")  # beside safetensors, so not looked at
    asked = {"use_safetensors": False, "weights_only": False}
    tiny_models.change_json(folder / "sentence_bert_config.json", **{group: asked})
    with pytest.raises(ModelError, match=rf"{group} has use_safetensors False, which is not passed on.*Remedy"):
        opened(folder).encode(TEXTS)
    assert not trace.exists()


POINTED = {"tokenizer_name_or_path": "/somewhere", "processor_name": "owner/name"}


@pytest.mark.parametrize(("key", "value"), POINTED.items(), ids=POINTED.keys())
def test_a_tokenizer_that_lies_elsewhere_is_refused(folder, key, value):
    tiny_models.change_json(folder / "sentence_bert_config.json", **{key: value})
    assert_refused(folder, "sentence_bert_config.json", f"points elsewhere ({key} is '{value}'), which is not followed")


def test_weights_that_lie_elsewhere_are_refused(folder):
    tiny_models.change_json(folder / "config.json", transformers_weights="../other/model.safetensors")
    assert_refused(
        folder, "config.json", "points outside its folder (../other/model.safetensors), which is not followed"
    )


def test_arguments_that_only_say_how_texts_are_cut_are_handed_on(folder, made):
    tiny_models.change_json(folder / "sentence_bert_config.json", tokenizer_args={"model_max_length": 24})
    assert (opened(folder).encode(TEXTS) == opened(made).encode(TEXTS)).all()


# the activation of a Dense layer


@pytest.fixture(scope="module")
def dense(made, tmp_path_factory):
    """The checkpoint with a Dense layer at its end, and the layer's weight [8, 16] and bias [8]."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Dense

    model = SentenceTransformer(str(made), device="cpu")
    torch.manual_seed(5)
    layer = Dense(16, 8)
    model.append(layer)
    folder = tmp_path_factory.mktemp("dense") / "dense"
    model.save(str(folder), create_model_card=False)
    return folder, layer.linear.weight.detach().numpy(), layer.linear.bias.detach().numpy()


@pytest.fixture
def with_dense(dense, folder):
    """A copy of it, in which the trace's code lies too."""
    shutil.copytree(dense[0], folder, dirs_exist_ok=True)
    return folder, next(folder.glob("*_Dense")) / "config.json"


RIGHT = {
    "torch.nn.modules.activation.ReLU": lambda x: np.maximum(x, 0),
    "torch.nn.ReLU": lambda x: np.maximum(x, 0),
    "torch.nn.modules.activation.Sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "torch.nn.modules.linear.Identity": lambda x: x,
    None: np.tanh,
}


@pytest.mark.parametrize(("name", "expected"), RIGHT.items(), ids=map(str, RIGHT))
def test_a_dense_layer_has_the_activation_that_the_checkpoint_names(with_dense, dense, made, name, expected):
    folder, config = with_dense
    found = json.loads(config.read_text())
    write(config, found | {"activation_function": name} if name else {**found, "activation_function": "torch.nn.Tanh"})
    _, weight, bias = dense
    wanted = expected(opened(made).encode(TEXTS) @ weight.T + bias)
    assert np.abs(opened(folder).encode(TEXTS) - wanted).max() < 1e-6


UNKNOWN = [
    *(OWN, "os.abort", "torch.utils.collect_env.main", "torch.nn.functional.relu", "torch.hub.load", "torch.os.abort"),
    *("transformers.activations.NewGELUActivation", "sentence_transformers.util.fullname", "torch.nn.Linear", "", None),
    *([OWN], 7),
]


@pytest.mark.parametrize("name", UNKNOWN, ids=str)
def test_an_activation_that_is_not_known_is_refused_and_neither_run_nor_replaced(with_dense, trace, name):
    folder, config = with_dense
    write(config, json.loads(config.read_text()) | {"activation_function": name})
    told = assert_refused(folder, config.relative_to(folder), f"activation_function is {name!r}", "is not in torch.nn")
    assert "trust_remote_code: true" in told
    assert not trace.exists()


def test_an_activation_of_its_own_runs_where_it_is_trusted(with_dense, dense, made, trace):
    folder, config = with_dense
    write(config, json.loads(config.read_text()) | {"activation_function": OWN})
    _, weight, bias = dense
    wanted = 2 * (opened(made).encode(TEXTS) @ weight.T + bias)
    assert np.abs(opened(folder, trust_remote_code=True).encode(TEXTS) - wanted).max() < 1e-6
    assert trace.exists()


# what the library would pass over


def test_a_setting_that_a_dense_layer_does_not_have_is_refused(with_dense):
    folder, config = with_dense
    write(config, json.loads(config.read_text()) | {"scale": 3})
    told = assert_refused(folder, config.relative_to(folder), "scale is 3, which sentence-transformers ignores. Remedy")
    assert "scale" in told
    assert opened(folder, trust_remote_code=True).fingerprint()


PASSED_OVER = {
    "a way to process that there is not": (
        "sentence_bert_config.json", {"processing_kwargs": {"txt": {}}}, "processing_kwargs.txt is {}"
    ),
    "a kind of input that there is not": (
        "sentence_bert_config.json", {"modality_config": {"smell": {}}}, "modality_config.smell is {}"
    ),
    "two poolings": ("1_Pooling/config.json", {"pooling_mode_cls_token": True}, "pooling_mode_cls_token is True"),
    "another kind of model": ("config_sentence_transformers.json", {"model_type": "CrossEncoder"},
                              "model_type is 'CrossEncoder', but a sentence encoder's is SentenceTransformer"),
    "a default prompt that there is not": (
        "config_sentence_transformers.json", {"default_prompt_name": "pasage", "prompts": {"passage": "p: "}},
        "default_prompt_name: unknown prompt 'pasage'; did you mean 'passage'?"
    ),
    "prompts that are no texts": ("config_sentence_transformers.json", {"prompts": {"query": 3}}, "prompts is {'query"),
}  # fmt: skip


@pytest.mark.parametrize(("file", "found", "told"), PASSED_OVER.values(), ids=PASSED_OVER.keys())
def test_what_would_be_passed_over_is_refused_by_name(folder, file, found, told):
    tiny_models.change_json(folder / file, **found)
    assert_refused(folder, file, told)


def test_a_pooling_with_every_mode_off_is_not_taken_for_the_mean(folder):
    write(folder / "1_Pooling" / "config.json", {"word_embedding_dimension": 16, "pooling_mode_mean_tokens": False})
    assert_refused(folder, "1_Pooling/config.json", "pooling_mode_mean_tokens is False")


@pytest.mark.parametrize(("key", "name"), [("weightedmean_tokens", "weightedmean"), ("mean_sqrt_len_tokens",) * 2])
def test_the_pooling_of_an_entry_is_held_to_the_older_spelling_too(folder, key, name):
    stored = {"word_embedding_dimension": 16, f"pooling_mode_{key}": True}
    write(folder / "1_Pooling" / "config.json", stored)
    with pytest.raises(ModelError, match=rf"pools by {name.removesuffix('_tokens')}\w*, but pooling is mean"):
        opened(folder, pooling="mean")


def test_a_route_that_cannot_be_read_is_refused(folder):
    write(folder / "modules.json", [{"idx": 0, "name": "0", "path": "", "type": ROUTER}])
    routes = {"parameters": {"route_mappings": {"query text": "query"}}, "types": {"query_0": DENSE}}
    write(folder / "router_config.json", routes)
    assert_refused(folder, "router_config.json", "route_mappings.query text is 'query'")


# the names themselves


def test_every_name_that_is_known_is_a_class_of_the_library():
    from sentence_transformers.util import import_from_string

    for name in sorted(known.MODULES | known.TOKENIZERS | known.ACTIVATIONS):
        found = import_from_string(name)
        assert isinstance(found, type), name
        assert found() if name in known.ACTIVATIONS else found.load


def test_every_module_that_the_library_saves_is_known():
    from sentence_transformers.cross_encoder import modules as cross_encoder
    from sentence_transformers.sentence_transformer import modules
    from sentence_transformers.sparse_encoder import modules as sparse

    for package in (modules, sparse, cross_encoder):
        for name in set(package.__all__) - {"Module", "InputModule"}:
            kind = getattr(package, name)
            assert f"{kind.__module__}.{kind.__name__}" in known.MODULES


# what never comes to an end


@pytest.mark.skipif(os.name == "nt", reason="no such device")
@pytest.mark.parametrize("adapter", ["sentence-transformers", "transformers"])
@pytest.mark.parametrize("file", ["config.json", "model.safetensors", "added.txt"])
def test_a_link_to_a_device_is_refused_and_not_read(folder, adapter, file):
    (folder / file).unlink(missing_ok=True)
    (folder / file).symlink_to("/dev/zero")
    with pytest.raises(ModelError, match=rf"{file} is a device or a pipe, but should be a file. Remedy: copy it again"):
        opened(folder, adapter)


@pytest.mark.skipif(os.name == "nt", reason="no pipes there")
def test_a_pipe_in_the_place_of_a_file_is_refused_and_not_waited_for(folder):
    (folder / "tokenizer.json").unlink()
    os.mkfifo(folder / "tokenizer.json")
    with pytest.raises(ModelError, match=r"tokenizer.json is a device or a pipe"):
        opened(folder)


def test_a_tokenizer_of_a_cross_encoder_that_is_none_is_named(folder):
    (folder / "modules.json").unlink()
    tiny_models.change_json(folder / "tokenizer_config.json", unk_token=["no text"])
    tiny_models.change_json(folder / "config.json", architectures=["BertForSequenceClassification"], num_labels=1)
    with pytest.raises(EncoderError, match=rf"cannot load the tokenizer of {folder}"):
        opened(folder, "cross-encoder").score_pairs(["a"], ["b"])


# settings of another kind


OF_ANOTHER_KIND = {
    "transformers": ("num_hidden_layers", "one", "num_hidden_layers is 'one', but should be a whole number"),
    "cross-encoder": ("id2label", {"one": "same"}, "id2label has 'one', but should have the numbers of classes"),
}


@pytest.mark.parametrize("adapter", OF_ANOTHER_KIND)
def test_a_setting_of_another_kind_is_named_with_its_file(folder, adapter):
    key, value, told = OF_ANOTHER_KIND[adapter]
    (folder / "modules.json").unlink()
    tiny_models.change_json(folder / "config.json", **{key: value})
    assert_refused(folder, "config.json", told, adapter=adapter)


def test_a_zip_that_cannot_be_unpacked_is_no_file_of_weights(tmp_path):
    path = tmp_path / "w.bin"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("archive/data.pkl", b"\x80\x02}.")
    data = bytearray(path.read_bytes())
    data[data.index(b"PK\x01\x02") + 6] = 255  # the version that is needed to unpack it
    path.write_bytes(data)
    with pytest.raises(
        ModelError, match=r"w.bin is not a file of weights written by torch.save \(zip file version 25.5"
    ):
        check_torch_pickle(path)
