"""SavedModels beside TensorFlow, and what they would reach."""

import shutil
from pathlib import Path

import numpy as np
import pytest
import tiny_models

from encheck.encoders.load import load_model
from encheck.encoders.model_config import Device, ModelConfig
from encheck.encoders.savedmodel import list_unsafe_operators
from encheck.errors import EncoderError, ModelError

pytestmark = pytest.mark.xdist_group("encoders")
TEXTS = ["the dog sings", "a cat sleeps on the red dog.", "dog", "the dog in the cat"]


def opened(config):
    return load_model(config, device=Device("cpu"))


def test_a_savedmodel_gives_what_tensorflow_gives(tmp_path):
    import tensorflow as tf

    config = tiny_models.savedmodel(tmp_path)
    theirs = tf.saved_model.load(config.name)
    texts = [*TEXTS, "犬 😀", ""]
    assert np.abs(opened(config).encode(texts) - theirs(tf.constant(texts)).numpy()).max() < 1e-6
    served = opened(ModelConfig("t", name=config.name, adapter="savedmodel", options={"signature": "serving_default"}))
    assert np.abs(served.encode(texts) - opened(config).encode(texts)).max() < 1e-6
    assert "is a program" in served.about()["code"]


def writing(folder):
    """A SavedModel that writes a file when it is called."""
    import tensorflow as tf

    class Writes(tf.Module):
        @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
        def __call__(self, texts):
            tf.io.write_file(str(folder / "made"), "x")
            return tf.one_hot(tf.strings.length(texts), 8)

    tf.saved_model.save(Writes(), str(folder / "writes"))
    return folder / "writes"


def test_operators_that_reach_out_are_named_and_not_run_unless_trusted(tmp_path):
    folder = writing(tmp_path)
    with pytest.raises(
        ModelError, match=r"saved_model.pb is a program that uses WriteFile, which is not run. If you trust it"
    ):
        opened(ModelConfig("t", name=str(folder), adapter="savedmodel"))
    trusted = opened(ModelConfig("t", name=str(folder), adapter="savedmodel", trust_remote_code=True))
    assert "WriteFile" in trusted.about()["code"]
    assert trusted.encode(["the dog"]).shape == (1, 8)
    assert (tmp_path / "made").exists()


OTHERS = {
    "saving": lambda ops, place: ops.SaveV2(prefix=place, tensor_names=["a"], shape_and_slices=[""], tensors=[[1.0]]),
    "mapping": lambda ops, place: ops.ImmutableConst(dtype="uint8", shape=[4], memory_region_name=place),
}


@pytest.mark.parametrize(("name", "operator"), [("saving", "SaveV2"), ("mapping", "ImmutableConst")])
def test_what_only_a_saver_may_do_is_refused_where_the_model_does_it(tmp_path, name, operator):
    import tensorflow as tf

    class Reaches(tf.Module):
        def __init__(self):
            self.table = tf.Variable(tf.ones([50, 8]))

        @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
        def __call__(self, texts):
            OTHERS[name](tf.raw_ops, str(tmp_path / "made"))
            return tf.gather(self.table, tf.strings.to_hash_bucket_fast(texts, 50))

    tf.saved_model.save(Reaches(), str(tmp_path / "reaches"))
    with pytest.raises(ModelError, match=rf"saved_model.pb is a program that uses {operator}, which is not run"):
        opened(ModelConfig("t", name=str(tmp_path / "reaches"), adapter="savedmodel")).encode(["the dog"])
    assert not list(tmp_path.glob("made*"))


def test_a_saver_that_the_model_calls_is_no_savers_own():
    from tensorflow.core.protobuf import saved_model_pb2

    saved = saved_model_pb2.SavedModel()
    meta = saved.meta_graphs.add()
    meta.saver_def.save_tensor_name, meta.saver_def.restore_op_name = "save:0", "restore"
    node, function = meta.graph_def.node.add(), meta.graph_def.library.function.add()
    node.name, node.op = "save", "PartitionedCall"
    node.attr["f"].func.name = function.signature.name = "saves"
    function.node_def.add().op = "SaveV2"
    assert list_unsafe_operators(saved.SerializeToString()) == []
    caller = meta.graph_def.library.function.add().node_def.add()
    caller.op, caller.attr["f"].func.name = "PartitionedCall", "saves"
    assert list_unsafe_operators(saved.SerializeToString()) == ["SaveV2"]
    del meta.graph_def.library.function[1]
    meta.signature_def["serving_default"].outputs["outputs"].name = "save:0"
    assert list_unsafe_operators(saved.SerializeToString()) == ["SaveV2"]


def test_the_saver_of_an_older_graph_is_passed_over_unless_the_model_leads_to_it():
    from tensorflow.core.protobuf import saved_model_pb2

    saved = saved_model_pb2.SavedModel()
    meta = saved.meta_graphs.add()
    meta.saver_def.save_tensor_name, meta.saver_def.restore_op_name = "save/control:0", "save/restore_all"
    for name, operator in (("save/SaveV2", "SaveV2"), ("dense", "MatMul")):
        node = meta.graph_def.node.add()
        node.name, node.op = name, operator
    assert list_unsafe_operators(saved.SerializeToString()) == []
    meta.graph_def.node[1].input.append("^save/SaveV2")
    assert list_unsafe_operators(saved.SerializeToString()) == ["SaveV2"]


SAVEDMODEL = {
    "missing": (shutil.rmtree, {}, ModelError, "does not exist"),
    "another folder": (
        lambda f: (f / "saved_model.pb").unlink(),
        {},
        ModelError,
        "is not a SavedModel, or the copy is truncated",
    ),
    "empty": (lambda f: (f / "saved_model.pb").write_bytes(b""), {}, ModelError, "is empty"),
    "cut off": (lambda f: tiny_models.cut(f / "saved_model.pb"), {}, EncoderError, "TensorFlow cannot load"),
    "no variables": (lambda f: shutil.rmtree(f / "variables"), {}, EncoderError, "TensorFlow cannot load"),
    "unknown signature": (
        lambda _: None,
        {"signature": "x"},
        EncoderError,
        "has no signature 'x'. Available: serving_default",
    ),
    "unknown output": (
        lambda _: None,
        {"signature": "serving_default", "output": "x"},
        EncoderError,
        "has no output 'x'. Available: outputs",
    ),
}


@pytest.mark.parametrize(("harm", "options", "kind", "expected"), SAVEDMODEL.values(), ids=SAVEDMODEL.keys())
def test_a_savedmodel_that_is_broken_is_refused_with_its_name(tmp_path, harm, options, kind, expected):
    name = tiny_models.savedmodel(tmp_path).name
    harm(Path(name))
    with pytest.raises(kind, match=expected) as caught:
        opened(ModelConfig("t", name=name, adapter="savedmodel", options=options)).encode(["the dog"])
    assert name in str(caught.value)


def test_a_savedmodel_of_something_else_is_refused(tmp_path):
    import tensorflow as tf

    class Images(tf.Module):
        @tf.function(input_signature=[tf.TensorSpec([None, 4], tf.float32)])
        def __call__(self, image):
            return image

    tf.saved_model.save(Images(), str(tmp_path / "images"))
    with pytest.raises(EncoderError, match="images does not accept a list of texts"):
        opened(ModelConfig("t", name=str(tmp_path / "images"), adapter="savedmodel")).encode(["the dog"])
