"""What a checkpoint may point at and name: paths stay in its folder, foreign classes are not imported, and each file
that makes vectors counts.
"""

import json
import pickle
import shutil
from pathlib import Path

import numpy as np
import pytest
import tiny
import tiny_models

from encheck.encoders.checkpoints.folders import read_stored_pooling
from encheck.encoders.load import load_model
from encheck.encoders.model_config import Device, ModelConfig
from encheck.errors import EncoderError, ModelError

pytestmark = pytest.mark.xdist_group("encoders")
TEXTS = ["the dog sings", "a cat sleeps"]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return tiny.build(tmp_path_factory.mktemp("tiny"))


@pytest.fixture
def folder(made, tmp_path):
    return shutil.copytree(made, tmp_path / "copied")


def opened(name, adapter="sentence-transformers", **fields):
    return load_model(ModelConfig("tiny", name=str(name), adapter=adapter, **fields), device=Device("cpu"))


def write(path, found):
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(found))


def add_module(folder, name):
    """Name a folder in modules.json."""
    path = folder / "modules.json"
    kind = "sentence_transformers.models.Dense"
    path.write_text(json.dumps([*json.loads(path.read_text()), {"path": name, "type": kind}]))


def in_parts(folder, *names):
    """The weights in as many parts as there are names, as transformers saves large ones."""
    from safetensors.numpy import load_file, save_file

    weights = load_file(folder / "model.safetensors")
    (folder / "model.safetensors").unlink()
    parts = {name: sorted(weights)[i :: len(names)] for i, name in enumerate(names)}
    for name, held in parts.items():
        save_file({n: weights[n] for n in held}, folder / name, metadata={"format": "pt"})
    where = {n: name for name, held in parts.items() for n in held}
    write(folder / "model.safetensors.index.json", {"metadata": {"total_size": 1}, "weight_map": where})


PARTS = ("model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors")


@pytest.mark.parametrize("adapter", ["sentence-transformers", "transformers"])
def test_weights_in_parts_give_what_they_give_in_one(folder, made, adapter):
    in_parts(folder, *PARTS)
    assert (opened(folder, adapter).encode(TEXTS) == opened(made, adapter).encode(TEXTS)).all()


@pytest.mark.parametrize("adapter", ["sentence-transformers", "transformers"])
def test_a_part_that_is_missing_is_named_before_anything_is_loaded(folder, adapter):
    in_parts(folder, *PARTS)
    (folder / PARTS[1]).unlink()
    with pytest.raises(
        ModelError, match=rf"model.safetensors.index.json names {PARTS[1]}, which does not exist.*Remedy"
    ):
        opened(folder, adapter)


OUTSIDE = {
    "an index of weights": ("model.safetensors.index.json", {"weight_map": {"w": "../other/model.safetensors"}}),
    "an index of pickles": ("pytorch_model.bin.index.json", {"weight_map": {"w": "/root/pytorch_model.bin"}}),
    "a router": ("1_Router/router_config.json", {"types": {"../../elsewhere": "sentence_transformers.models.Dense"}}),
    "a module": ("modules.json", [{"path": "../elsewhere", "type": "sentence_transformers.models.Transformer"}]),
}


@pytest.mark.parametrize(("file", "found"), OUTSIDE.values(), ids=OUTSIDE.keys())
def test_a_path_out_of_the_folder_is_refused_with_the_file_that_has_it(folder, file, found):
    add_module(folder, file.rpartition("/")[0])
    write(folder / file, found)
    with pytest.raises(ModelError, match=r"points outside its folder \(.*\), which is not followed") as caught:
        opened(folder)
    assert str(folder / file) in str(caught.value)


FOREIGN = {
    "a module": ("modules.json", [{"path": "", "type": "os.system"}], "os.system"),
    "a part of a router": ("1_Router/router_config.json", {"types": {"query_0": "pty.spawn"}}, "pty.spawn"),
    "a tokenizer": ("0_Words/wordembedding_config.json", {"tokenizer_class": "posix.system"}, "posix.system"),
    "a configuration below": (
        "0_Transformer/config.json", {"model_type": "mine", "auto_map": {"AutoModel": "mine.Model"}}, "mine.Model"
    ),
}  # fmt: skip


@pytest.mark.parametrize(("file", "found", "name"), FOREIGN.values(), ids=FOREIGN.keys())
def test_a_class_of_somebody_elses_is_named_and_not_imported(folder, file, found, name):
    add_module(folder, file.rpartition("/")[0])
    write(folder / file, found)
    with pytest.raises(
        ModelError, match=rf"names its own code \({name}\), which is not run. If you trust it"
    ) as caught:
        opened(folder)
    assert str(folder / file) in str(caught.value)


def test_the_same_model_for_other_engines_beside_it_neither_hinders_nor_counts(folder, made):
    write(folder / "openvino" / "config.json", {"any": "thing"})
    (folder / "openvino" / "openvino_model.bin").write_bytes(b"\x00" * 64)
    (folder / "training_args.bin").write_bytes(b"\x80\x04 no pickle of weights")
    before = opened(folder).fingerprint()
    (folder / "openvino" / "openvino_model.bin").write_bytes(b"\x01" * 64)
    assert opened(folder).fingerprint() == before
    assert (opened(folder).encode(TEXTS) == opened(made).encode(TEXTS)).all()


@pytest.mark.parametrize("name", ["vocab.bpe", "merges.tiktoken", "chat_template.jinja", "extra.model", "merges.txt"])
def test_a_file_of_any_kind_that_a_tokenizer_reads_counts(folder, name):
    before = opened(folder).fingerprint()
    (folder / name).write_text("a b\n")
    assert opened(folder).fingerprint() != before


def test_a_module_whose_folder_is_a_link_counts_and_is_looked_at(folder, tmp_path):
    (folder / "1_Pooling").rename(tmp_path / "elsewhere")
    (folder / "1_Pooling").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "elsewhere" / "back").symlink_to(folder)  # a loop is not entered
    before = opened(folder).fingerprint()
    (tmp_path / "elsewhere" / "added.json").write_text("{}")
    assert opened(folder).fingerprint() != before
    (tmp_path / "elsewhere" / "pytorch_model.bin").write_bytes(pickle.dumps(print))
    with pytest.raises(ModelError, match=r"1_Pooling/pytorch_model.bin is a pickle that would call builtins.print"):
        opened(folder)


@pytest.mark.parametrize("adapter", ["sentence-transformers", "transformers"])
def test_what_training_leaves_in_the_folder_neither_hinders_nor_counts(folder, made, adapter):
    before = opened(folder, adapter).fingerprint()
    nested = shutil.copytree(made, folder / "checkpoint-500")
    tiny_models.cut(nested / "model.safetensors")
    write(folder / "eval" / "results.json", {"any": "thing"})
    assert opened(folder, adapter).fingerprint() == before


def test_the_modules_of_a_router_at_the_root_count(folder):
    write(folder / "router_config.json", {"types": {"query_0": "sentence_transformers.models.Transformer"}})
    before = opened(folder).fingerprint()
    write(folder / "query_0" / "config.json", {"any": "thing"})
    assert opened(folder).fingerprint() != before


# tokens that no text becomes


def with_token(folder, *, special):
    from tokenizers import AddedToken, Tokenizer

    words = Tokenizer.from_file(str(folder / "tokenizer.json"))
    add = words.add_special_tokens if special else words.add_tokens
    add([AddedToken("<image>", special=special)])
    words.save(str(folder / "tokenizer.json"))


@pytest.mark.parametrize("adapter", ["sentence-transformers", "transformers"])
def test_a_special_token_beyond_the_last_row_does_no_harm(folder, made, adapter):
    with_token(folder, special=True)
    assert (opened(folder, adapter).encode(TEXTS) == opened(made, adapter).encode(TEXTS)).all()


@pytest.mark.parametrize("adapter", ["sentence-transformers", "transformers"])
def test_a_word_beyond_the_last_row_is_a_vocabulary_that_does_not_match(folder, adapter):
    with_token(folder, special=False)
    with pytest.raises(ModelError, match=r"tokenizer.json has token 94, but config.json says vocab_size 94"):
        opened(folder, adapter)


def test_a_text_that_a_model_stumbles_over_is_an_error_that_names_it(folder):
    with_token(folder, special=True)
    with pytest.raises(
        EncoderError, match=rf"{folder} cannot encode these texts \(IndexError: .*Remedy: use a complete check"
    ):
        opened(folder).encode(["the <image>"])


# the pooling of sentence-transformers


def test_the_pooling_of_an_entry_is_held_to_what_the_checkpoint_has(made):
    assert opened(made, pooling="mean").about()["pooling"] == "mean"
    assert opened(made, pooling="mean").fingerprint() == opened(made).fingerprint()
    with pytest.raises(
        ModelError, match=r"pools by mean, but pooling is cls. Remedy: .*adapter=transformers"
    ) as caught:
        opened(made, pooling="cls")
    assert str(made) in str(caught.value)


STORED = [
    ({"pooling_mode": "lasttoken"}, "last"), ({"pooling_mode": ["cls", "mean"]}, "cls+mean"), ({}, None),
    ({"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}, "cls"),
    ({"pooling_mode_lasttoken": True}, "last"), ({"pooling_mode_weightedmean_tokens": True}, "weightedmean"),
    ({"pooling_mode_mean_sqrt_len_tokens": True}, "mean_sqrt_len_tokens"),
]  # fmt: skip


@pytest.mark.parametrize(("stored", "expected"), STORED)
def test_both_ways_to_write_a_pooling_are_read(tmp_path, stored, expected):
    write(tmp_path / "modules.json", [{"path": "2_Pool", "type": "sentence_transformers.models.Pooling"}])
    write(tmp_path / "2_Pool" / "config.json", stored)
    assert read_stored_pooling(tmp_path) == expected


# a bare .onnx with its weights beside it


@pytest.fixture
def apart(tmp_path):
    """The .onnx whose weights lie in a file of their own."""
    from onnx import load_model, save_model

    path = Path(tiny_models.onnx(tmp_path).name) / "model.onnx"
    how = {"save_as_external_data": True, "location": "weights.pb", "size_threshold": 100}
    save_model(load_model(str(path)), str(path), **how)
    return path


def point(path, place):
    """Have the weights elsewhere."""
    from onnx import load_model

    model = load_model(str(path), load_external_data=False)
    for entry in (e for t in model.graph.initializer for e in t.external_data if e.key == "location"):
        entry.value = place
    path.write_bytes(model.SerializeToString())


RUNTIMES = ["onnx", "openvino"]


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_weights_beside_an_onnx_make_its_vectors_and_its_fingerprint(apart, tmp_path, runtime):
    whole = opened(tiny_models.onnx(tmp_path / "whole").name, runtime)
    before = opened(apart, runtime)
    fingerprint = before.fingerprint()
    assert np.abs(before.encode(TEXTS) - whole.encode(TEXTS)).max() < 1e-6
    tiny_models.spoil(apart.parent / "weights.pb")
    assert opened(apart, runtime).fingerprint() != fingerprint


@pytest.mark.parametrize("runtime", RUNTIMES)
@pytest.mark.parametrize("place", ["../weights.pb", "/tmp/weights.pb", "a/../../weights.pb"])
def test_an_onnx_whose_weights_lie_elsewhere_is_refused(apart, runtime, place):
    point(apart, place)
    with pytest.raises(ModelError, match=r"model.onnx points outside its folder \(.*\), which is not followed. Remedy"):
        opened(apart, runtime)


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_weights_that_are_not_beside_an_onnx_are_named(apart, runtime):
    (apart.parent / "weights.pb").unlink()
    with pytest.raises(ModelError, match=r"model.onnx keeps weights in a .*weights.pb does not exist. Remedy: copy it"):
        opened(apart, runtime)


def test_the_length_that_an_onnx_folder_says_counts(apart):
    before = opened(apart, "onnx")
    told = before.maximum_length, before.fingerprint()
    tiny_models.change_json(apart.parent / "tokenizer_config.json", model_max_length=4)
    after = opened(apart, "onnx")
    assert after.maximum_length == 4 != told[0]
    assert after.fingerprint() != told[1]


def test_a_pooling_over_spans_under_its_former_name_is_told_its_name_of_now(tmp_path):
    folder = tiny.build(tmp_path)
    modules = json.loads((folder / "modules.json").read_text())
    modules[1]["type"] = "encheck.training.SpanPooling"
    (folder / "modules.json").write_text(json.dumps(modules))
    entry = ModelConfig("m", name=str(folder))
    with pytest.raises(ModelError, match=r"whose new name is encheck_papers.SpanPooling. Remedy: write that instead"):
        load_model(entry, device=Device("cpu"))
