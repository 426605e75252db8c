"""Builds a tiny model for every adapter, in the format in which the real ones are published, with random weights.

Each function makes the files in a folder and returns the entry of models.yaml that would name them.
"""

import json
import warnings
from pathlib import Path

import numpy as np
import tiny

from encheck.encoders.model_config import ModelConfig

WORDS = [*tiny.WORDS, "<s>", "</s>", "<p>", "</p>", ".", "in", "Dog", "犬", "café"]


def generator(seed=0):
    return np.random.default_rng(seed)


def sentence_transformers(folder):
    return ModelConfig("tiny", name=str(tiny.build(folder)))


def transformers(folder, **fields):
    return ModelConfig("tiny", name=str(tiny.build_plain(folder / "plain")), adapter="transformers", **fields)


def bert(folder, **sizes):
    """A tiny BERT of another size than tiny.build_plain's."""
    import torch
    from transformers import BertConfig, BertModel

    torch.manual_seed(4)
    words = tiny.tokenizer()
    usual = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32}
    config = BertConfig(vocab_size=len(words), max_position_embeddings=2 * tiny.MAX_LENGTH, **(usual | sizes))
    BertModel(config).save_pretrained(folder)
    words.save_pretrained(folder)
    return folder


def roberta(folder):
    """A RoBERTa whose positions begin at 2, saved as transformers does."""
    import torch
    from transformers import RobertaConfig, RobertaModel

    torch.manual_seed(3)
    words = tiny.tokenizer()
    sizes = {"hidden_size": 16, "num_hidden_layers": 3, "num_attention_heads": 2, "intermediate_size": 32}
    config = RobertaConfig(
        vocab_size=len(words), max_position_embeddings=20, initializer_range=0.5, pad_token_id=0, **sizes
    )
    RobertaModel(config).save_pretrained(folder / "roberta")
    words.model_max_length = 512
    words.save_pretrained(folder / "roberta")
    return ModelConfig("tiny", name=str(folder / "roberta"), adapter="transformers", pooling="cls")


def peft(folder):
    """A LoRA adapter on the tiny BERT."""
    import torch
    from peft import LoraConfig, get_peft_model
    from transformers import AutoModel

    base = tiny.build_plain(folder / "base")
    torch.manual_seed(1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        model = get_peft_model(AutoModel.from_pretrained(base), LoraConfig(r=2, target_modules=["query", "value"]))
    for name, weight in model.named_parameters():
        if "lora_B" in name:
            torch.nn.init.normal_(weight)
    model.save_pretrained(folder / "adapter")
    return ModelConfig("tiny", name=str(folder / "adapter"), adapter="peft")


def table(seed=0, dimension=8):
    """Word -> vector, in the order of their frequency."""
    vectors = generator(seed).standard_normal((len(WORDS), dimension)).astype(np.float32)
    return dict(zip(WORDS, vectors, strict=True))


def glove(folder, *, dimension=8):
    """No header; a word and its numbers a line; the last word holds a blank, as some of GloVe 840B's do."""
    lines = [f"{w} {' '.join(f'{x:.5f}' for x in v)}" for w, v in table(dimension=dimension).items()]
    lines.append(f". . {' '.join(['0.5'] * dimension)}")
    (folder / "glove.txt").write_text("\n".join(lines) + "\n", "utf-8")
    return ModelConfig("tiny", name=str(folder / "glove.txt"), adapter="vectors")


def keyed(folder, name, *, binary):
    """As gensim writes word2vec's two formats; the text one is fastText's .vec too."""
    from gensim.models import KeyedVectors

    vectors = KeyedVectors(8)
    vectors.add_vectors(list(table()), list(table().values()))
    vectors.save_word2vec_format(str(folder / name), binary=binary, write_header=True)
    return ModelConfig("tiny", name=str(folder / name), adapter="vectors")


def fasttext(folder):
    return keyed(folder, "wiki.vec", binary=False)


def word2vec(folder):
    return keyed(folder, "news.bin", binary=True)


def sif(folder):
    made = glove(folder)
    return ModelConfig("tiny", name=made.name, adapter="vectors", options={"weighting": "sif"})


def model2vec(folder):
    from model2vec import StaticModel

    words = tiny.tokenizer().backend_tokenizer
    vectors = generator().standard_normal((words.get_vocab_size(), 8)).astype(np.float32)
    StaticModel(vectors, words, config={}, normalize=True, max_length=tiny.MAX_LENGTH).save_pretrained(folder / "m2v")
    return ModelConfig("tiny", name=str(folder / "m2v"), adapter="model2vec")


def corpus():
    rng = generator()
    return [" ".join(rng.choice(tiny.WORDS, size=6)) for _ in range(40)]


def savedmodel(folder):
    """Texts in, the mean of hashed words' vectors out: callable, and with a signature, as those of TF Hub."""
    import tensorflow as tf

    weights = generator().standard_normal((50, 8)).astype(np.float32)

    class Sentences(tf.Module):
        def __init__(self):
            self.table = tf.Variable(weights)

        @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
        def __call__(self, texts):
            buckets = tf.strings.to_hash_bucket_fast(tf.strings.split(texts + " end"), 50)
            return tf.reduce_mean(tf.gather(self.table, buckets), axis=1)

    module = Sentences()
    served = tf.function(lambda inputs: {"outputs": module(inputs)})
    signature = served.get_concrete_function(tf.TensorSpec([None], tf.string, name="inputs"))
    tf.saved_model.save(module, str(folder / "use"), signatures={"serving_default": signature})
    return ModelConfig("tiny", name=str(folder / "use"), adapter="savedmodel")


def onnx(folder, *, output="last_hidden_state", domain=""):
    """The tiny BERT's interface: ids, mask and types in, a vector a token out; and its tokenizer.json."""
    from onnx import TensorProto, helper, numpy_helper, save

    words = tiny.tokenizer()
    table = generator().standard_normal((len(words), 8)).astype(np.float32)
    types = generator(1).standard_normal((2, 8)).astype(np.float32)
    ids, mask, kinds = (
        helper.make_tensor_value_info(n, TensorProto.INT64, ["n", "t"])
        for n in ("input_ids", "attention_mask", "token_type_ids")
    )
    nodes = [
        helper.make_node("Gather", ["table", "input_ids"], ["rows"]),
        helper.make_node("Gather", ["types", "token_type_ids"], ["kinds"]),
        helper.make_node("Cast", ["attention_mask"], ["floats"], to=TensorProto.FLOAT),
        helper.make_node("Unsqueeze", ["floats", "axis"], ["wide"]),
        helper.make_node("Add", ["rows", "kinds"], ["sum"]),
        helper.make_node("Mul" if not domain else "Mine", ["sum", "wide"], [output], domain=domain),
    ]
    out = helper.make_tensor_value_info(output, TensorProto.FLOAT, ["n", "t", 8])
    constants = {"table": table, "types": types, "axis": np.array([2], np.int64)}
    graph = helper.make_graph(
        nodes, "tiny", [ids, mask, kinds], [out], [numpy_helper.from_array(v, k) for k, v in constants.items()]
    )
    sets = [helper.make_opsetid("", 17), *([helper.make_opsetid(domain, 1)] if domain else [])]
    model = helper.make_model(graph, opset_imports=sets, ir_version=8)
    (folder / "onnx").mkdir(parents=True, exist_ok=True)
    save(model, str(folder / "onnx" / "model.onnx"))
    words.save_pretrained(folder / "onnx")
    return ModelConfig("tiny", name=str(folder / "onnx"), adapter="onnx")


def onnx_pooled(folder):
    """The same graph with a vector a text: the sum over tokens, under the name that exporters give it; the folder."""
    from onnx import TensorProto, helper, load_model, numpy_helper, save

    path = Path(onnx(folder).name) / "model.onnx"
    model = load_model(str(path))
    graph = model.graph
    graph.initializer.append(numpy_helper.from_array(np.array([1], np.int64), "tokens"))
    graph.node.append(
        helper.make_node("ReduceSum", ["last_hidden_state", "tokens"], ["sentence_embedding"], keepdims=0)
    )
    graph.output.append(helper.make_tensor_value_info("sentence_embedding", TensorProto.FLOAT, ["n", 8]))
    save(model, str(path))
    return path.parent


def openvino(folder):
    return ModelConfig("tiny", name=onnx(folder).name, adapter="openvino")


BUILDERS = {
    "sentence-transformers": sentence_transformers,
    "transformers": transformers,
    "roberta": roberta,
    "peft": peft,
    "glove": glove,
    "fasttext": fasttext,
    "word2vec": word2vec,
    "sif": sif,
    "model2vec": model2vec,
    "savedmodel": savedmodel,
    "onnx": onnx,
    "openvino": openvino,
}


def change_json(path, **fields):
    path.write_text(json.dumps(json.loads(path.read_text()) | fields))


def spoil(path):
    """One bit in the middle of a file is another."""
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def cut(path):
    """Half of a file is lost."""
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def files_of(config):
    """The file, or those of the folder, that an entry names."""
    path = Path(config.name)
    return [path] if path.is_file() else sorted(p for p in path.rglob("*") if p.is_file())
