"""Which files a bare .onnx keeps its weights in: each is part of the fingerprint, wherever and however it is named."""

import shutil

import numpy as np
import pytest
import tiny_models
from onnx import TensorProto, helper, numpy_helper
from onnx import load_model as load_onnx

from encheck.encoders import onnx as protobuf
from encheck.encoders.files import hash_weights
from encheck.encoders.load import load_model
from encheck.encoders.model_config import Device, ModelConfig
from encheck.encoders.onnx import find_external_weights, read_external_locations
from encheck.errors import ModelError

LONG = "/".join(["w" * 120] * 2) + ".bin"  # its length takes two bytes


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return tiny_models.onnx(tmp_path_factory.mktemp("onnx")).name


@pytest.fixture
def folder(made, tmp_path):
    return shutil.copytree(made, tmp_path / "copied")


def kept_in(name, tensor=None):
    """A tensor that is kept in this file."""
    found = tensor or TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[2])
    found.data_location = TensorProto.EXTERNAL
    found.external_data.add(key="location", value=name)
    return found


def graph(*nodes, initializer=(), sparse=()):
    return helper.make_graph(list(nodes), "g", [], [], list(initializer), sparse_initializer=list(sparse))


def holding(**attributes):
    return helper.make_node("If", ["c"], ["o"], **attributes)


def sparse(name, part):
    tensors = {"values": numpy_helper.from_array(np.ones(1, np.float32), "v"), "indices": TensorProto(name="i")}
    kept_in(name, tensors[part])
    return helper.make_sparse_tensor(tensors["values"], tensors["indices"], [1])


def in_function(**how):
    return helper.make_model(
        graph(), functions=[helper.make_function("d", "f", [], ["o"], opset_imports=[], **how)], opset_imports=[]
    )


def in_training(name):
    model = helper.make_model(graph())
    model.training_info.add().algorithm.initializer.append(kept_in(name))
    return model


def deep(name, levels):
    inner = graph(initializer=[kept_in(name)])
    for _ in range(levels):
        inner = graph(holding(then_branch=inner))
    return helper.make_model(inner)


MODELS = {
    "initializer": lambda n: helper.make_model(graph(initializer=[kept_in(n)])),
    "sparse values": lambda n: helper.make_model(graph(sparse=[sparse(n, "values")])),
    "sparse indices": lambda n: helper.make_model(graph(sparse=[sparse(n, "indices")])),
    "attribute": lambda n: helper.make_model(graph(holding(value=kept_in(n)))),
    "attributes": lambda n: helper.make_model(graph(holding(values=[kept_in("a"), kept_in(n)]))),
    "sparse attribute": lambda n: helper.make_model(graph(holding(value=sparse(n, "values")))),
    "graph in a graph": lambda n: deep(n, 1),
    "graphs": lambda n: helper.make_model(graph(holding(branches=[graph(), graph(initializer=[kept_in(n)])]))),
    "ten graphs deep": lambda n: deep(n, 10),
    "function": lambda n: in_function(nodes=[holding(value=kept_in(n))]),
    "default of a function": lambda n: in_function(
        nodes=[], attribute_protos=[helper.make_attribute("value", kept_in(n))]
    ),
    "training": in_training,
}


@pytest.mark.parametrize("name", ["w.bin", LONG, "w ü.bin"], ids=["short", "long", "not ascii"])
@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_a_file_is_found_wherever_a_tensor_stands(tmp_path, model, name):
    (tmp_path / "m.onnx").write_bytes(model(name).SerializeToString())
    assert name in read_external_locations(tmp_path / "m.onnx")


def field(number, *parts):
    """A field of bytes, its tag and its length written in more bytes than they need."""
    data = b"".join(parts)
    return padded(number << 3 | 2) + padded(len(data)) + data


def padded(value):
    return bytes([value & 127 | 128, value >> 7 & 127 | 128, value >> 14 & 127 | 128, 0])


def test_fields_in_another_order_and_numbers_in_more_bytes_say_the_same(tmp_path):
    entry = field(2, b"first.bin") + field(1, b"length") + field(2, LONG.encode()) + field(1, b"location")
    tensor = field(13, field(1, b"offset"), field(2, b"0")) + field(13, entry) + field(8, b"w")
    data = field(7, field(2, b"g"), field(5, tensor)) + b"\x08\x08" + b"\x3d1234" + b"\x39" + b"12345678"
    (tmp_path / "m.onnx").write_bytes(data)
    assert read_external_locations(tmp_path / "m.onnx") == [LONG]
    reread = load_onnx(str(tmp_path / "m.onnx"), load_external_data=False)  # onnx's own reader agrees
    assert [e.value for e in reread.graph.initializer[0].external_data if e.key == "location"] == [LONG]


def opened(folder, runtime="onnx"):
    return load_model(ModelConfig("tiny", name=str(folder), adapter=runtime), device=Device("cpu"))


def fingerprint(folder, runtime="onnx"):
    return opened(folder, runtime).fingerprint()


def with_weights_in(folder, name, **how):
    model = load_onnx(str(folder / "model.onnx"))
    table = next(tensor for tensor in model.graph.initializer if tensor.name == "table")
    place = folder / name
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(table.raw_data)
    table.ClearField("raw_data")
    kept_in(name, table)
    (folder / "model.onnx").write_bytes(model.SerializeToString())
    return place


@pytest.mark.parametrize("name", [LONG, "model", "tokenizer.json.bin"], ids=["long", "model", "near"])
def test_the_fingerprint_covers_weights_and_model(folder, name):
    weights = with_weights_in(folder, name)
    seen, before = {fingerprint(folder)}, hash_weights(opened(folder), lambda path, of: of(path))
    weights.write_bytes(weights.read_bytes()[::-1])
    assert hash_weights(opened(folder), lambda path, of: of(path)) != before
    seen.add(fingerprint(folder))
    with (folder / "model.onnx").open("ab") as model:
        model.write(field(3, b"another producer's version"))
    seen.add(fingerprint(folder))
    assert len(seen) == 3


def test_what_lies_in_a_long_path_is_what_is_run(folder):
    texts = ["the dog sings", "a cat"]
    before = load_model(ModelConfig("tiny", name=str(folder), adapter="onnx"), device=Device("cpu")).encode(texts)
    with_weights_in(folder, LONG)
    after = load_model(ModelConfig("tiny", name=str(folder), adapter="onnx"), device=Device("cpu")).encode(texts)
    assert (before == after).all()


@pytest.mark.parametrize(
    "name", ["/etc/passwd", "../w.bin", "a/../../w.bin", "..\\w.bin", "C:\\w.bin", "\\\\host\\w.bin"]
)
@pytest.mark.parametrize("model", ["initializer", "graph in a graph", "function"])
def test_a_path_that_leaves_the_folder_is_refused_by_name(tmp_path, model, name):
    (tmp_path / "m.onnx").write_bytes(MODELS[model](name).SerializeToString())
    with pytest.raises(ModelError) as error:
        find_external_weights(tmp_path / "m.onnx")
    assert f"m.onnx points outside its folder ({name}), which is not followed" in str(error.value)


@pytest.mark.parametrize("name", ["", "none.bin", "w\0.bin", "*/_ORT_MEM_ADDR_/*", "x" * 5_000])
def test_a_file_that_is_not_there_is_refused_by_name(tmp_path, name):
    (tmp_path / "m.onnx").write_bytes(MODELS["initializer"](name).SerializeToString())
    with pytest.raises(ModelError, match="keeps weights in a file that is not beside it") as error:
        find_external_weights(tmp_path / "m.onnx")
    assert name[:200] in str(error.value)


def nested(levels):
    data = b""
    for _ in range(levels):
        data = field(1, field(5, field(6, data)))
    return field(7, data)


DAMAGED = {
    "cut off": (deep("w.bin", 1).SerializeToString()[:-3], "it ends in the middle of a field"),
    "a long number": (b"\x08" + b"\xff" * 11, "a number has more than ten bytes"),
    "a group": (b"\x3b\x3c", "wire type 3 of field 7 is not part of ONNX"),
    "field 0": (b"\x00\x00", "there is no field 0"),
    "text": (b"version https://git-lfs", "wire type 6 of field 14 is not part of ONNX"),
    "deep": (nested(40), "messages are nested 100 deep"),
}


@pytest.mark.parametrize(("data", "says"), DAMAGED.values(), ids=DAMAGED)
def test_what_is_no_model_is_refused_with_the_reason(tmp_path, data, says):
    (tmp_path / "m.onnx").write_bytes(data)
    with pytest.raises(ModelError) as error:
        read_external_locations(tmp_path / "m.onnx")
    assert f"m.onnx is not an ONNX model ({says}): " in str(error.value)


def test_a_model_of_more_fields_than_any_has_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(protobuf, "MAX_FIELDS", 1_000)
    (tmp_path / "m.onnx").write_bytes(field(7, b"\x08\x01" * 1_001))
    with pytest.raises(ModelError, match="it has more than 1,000 fields"):
        read_external_locations(tmp_path / "m.onnx")
