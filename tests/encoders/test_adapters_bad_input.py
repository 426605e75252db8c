"""Every adapter and every defect: the message names the file and the remedy, before anything is generated.

A defect that an adapter cannot have stands in NONE with the reason; a cell that stands nowhere fails.
"""

import dataclasses
import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
import tiny
import tiny_models
from embedding_server import serving

from encheck.claims import Claim
from encheck.datasets.dataset import dataset_from_rows
from encheck.datasets.reader import PairRow
from encheck.encoders import fake
from encheck.encoders.adapters import ADAPTERS
from encheck.encoders.load import find_or_make_model_config, load_model, locate_weights
from encheck.encoders.model_config import Device, ModelConfig
from encheck.errors import ModelError
from encheck.items.builders import labelled_pairs
from encheck.items.variants import VariantMaker
from encheck.running.model_under_test import ModelUnderTest
from encheck.running.scoring_session import ScoringSession
from encheck.store import Store
from encheck.system.lock import no_locks
from encheck.system.terminal import Progress

pytestmark = pytest.mark.xdist_group("encoders")
DEFECTS = ("missing", "wrong kind", "cut off", "vocabulary", "no numbers")
ROWS = [
    PairRow("the red dog sings", "a red dog sings", 1),
    PairRow("a blue cat sleeps under", "the blue cat sleeps", 1),
    PairRow("what zebra was in it", "zebra was in it", 1),
]
DATA = dataset_from_rows("demo", ROWS)
PNG = b"\x89PNG\r\n\x1a\n" + b"\x00\x01\x02" * 200


# what is built, and how it is harmed


def cross_encoder(folder):
    """A BERT with a head of one number."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification

    torch.manual_seed(0)
    words = tiny.tokenizer()
    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32}
    config = BertConfig(vocab_size=len(words), max_position_embeddings=48, num_labels=1, **sizes)
    BertForSequenceClassification(config).save_pretrained(folder / "cross")
    words.save_pretrained(folder / "cross")
    return ModelConfig("tiny", name=str(folder / "cross"), adapter="cross-encoder")


BUILDERS = tiny_models.BUILDERS | {"cross-encoder": cross_encoder}


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """name -> (folder, entry), built once."""
    made = {}

    def get(name):
        if name not in made:
            folder = tmp_path_factory.mktemp(name)
            made[name] = folder, BUILDERS[name](folder)
        return made[name]

    return get


@pytest.fixture
def copied(built, tmp_path):
    """A copy of a built model, whose entry and files name each other as before."""

    def copy(name):
        folder, entry = built(name)
        shutil.copytree(folder, tmp_path / "copy")
        moved = {
            k: v.replace(str(folder), str(tmp_path / "copy")) for k, v in {"": entry.name, **entry.options}.items()
        }
        for told in (tmp_path / "copy").rglob("adapter_config.json"):
            told.write_text(told.read_text().replace(str(folder), str(tmp_path / "copy")))
        return dataclasses.replace(entry, name=moved.pop(""), options=moved)

    return copy


def remove(entry):
    path = Path(entry.name)
    shutil.rmtree(path) if path.is_dir() else path.unlink()


def weights(entry):
    """The file of weights: the only one, or the one of that kind in the folder."""
    path = Path(entry.name)
    kinds = ("*.safetensors", "*.onnx", "saved_model.pb")
    return path if path.is_file() else next(found for kind in kinds for found in path.rglob(kind))


def replace(entry):
    weights(entry).write_bytes(PNG)


def cut(entry):
    tiny_models.cut(weights(entry))


def folder_of(entry):
    """Where the tokenizer lies."""
    path = Path(entry.name)
    return path if (path / "tokenizer.json").exists() else path.parent / "base"


def add_tokens(entry):
    from tokenizers import Tokenizer

    path = str(folder_of(entry) / "tokenizer.json")
    words = Tokenizer.from_file(path)
    words.add_tokens([f"zebra{i}" for i in range(50)])
    words.save(path)


def older_vocabulary(entry):
    """The same words as a vocabulary of the older kind, with forty more."""
    folder = folder_of(entry)
    known = json.loads((folder / "tokenizer.json").read_text())["model"]["vocab"]
    words = [*sorted(known, key=known.get), *(f"zebra{i}" for i in range(40))]
    (folder / "vocab.txt").write_text("\n".join(words) + "\n")
    (folder / "tokenizer.json").unlink()
    tiny_models.change_json(folder / "tokenizer_config.json", tokenizer_class="BertTokenizer")


def nan_tensors(entry):
    from safetensors.numpy import load_file, save_file

    path = weights(entry)
    save_file({n: w * np.float32(np.nan) for n, w in load_file(path).items()}, path, metadata={"format": "pt"})


def other_words(entry):
    """The file has vectors of another language's words."""
    lines = Path(entry.name).read_text().splitlines()
    Path(entry.name).write_text("".join(re.sub(r"^[a-z]+ ", f"wort{i} ", ln) + "\n" for i, ln in enumerate(lines)))


def nan_words(entry):
    Path(entry.name).write_text(re.sub(r"(?m)^(\w+) \S+", r"\1 nan", Path(entry.name).read_text()))


def keyed(name, words=lambda w: w, scale=1.0):
    """gensim's files anew, with other words or other numbers."""

    def harm(entry):
        from gensim.models import KeyedVectors

        vectors = KeyedVectors(8)
        table = {words(w): v * np.float32(scale) for w, v in tiny_models.table().items()}
        vectors.add_vectors(list(table), list(table.values()))
        vectors.save_word2vec_format(entry.name, binary=name == "word2vec", write_header=True)

    return harm


def strange(word):
    return word[::-1] + "q"


def nan_graph(entry):
    from onnx import load_model, numpy_helper, save

    path = str(weights(entry))
    model = load_model(path)
    for constant in model.graph.initializer:
        table = numpy_helper.to_array(constant)
        if table.dtype.kind == "f":
            constant.CopyFrom(numpy_helper.from_array(table * np.float32(np.nan), constant.name))
    save(model, path)


def nan_program(entry):
    import tensorflow as tf

    class Diverged(tf.Module):
        @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
        def __call__(self, texts):
            return tf.zeros([tf.size(texts), 8]) / 0.0

    remove(entry)
    tf.saved_model.save(Diverged(), entry.name)


CHECKPOINTS = ("sentence-transformers", "transformers", "roberta", "peft", "cross-encoder")
VOCABULARY = {
    **dict.fromkeys([*CHECKPOINTS, "model2vec", "onnx", "openvino"], add_tokens),
    **dict.fromkeys(("glove", "sif"), other_words),
    "fasttext": keyed("fasttext", strange), "word2vec": keyed("word2vec", strange),
}  # fmt: skip
NAN = {
    **dict.fromkeys([*CHECKPOINTS, "model2vec"], nan_tensors),
    **dict.fromkeys(("onnx", "openvino"), nan_graph),
    **dict.fromkeys(("glove", "sif"), nan_words),
    "fasttext": keyed("fasttext", scale=np.nan), "word2vec": keyed("word2vec", scale=np.nan),
    "savedmodel": nan_program,
}  # fmt: skip
HARMS = {
    "missing": dict.fromkeys(BUILDERS, remove), "wrong kind": dict.fromkeys(BUILDERS, replace),
    "cut off": dict.fromkeys(BUILDERS, cut), "vocabulary": VOCABULARY, "no numbers": NAN,
}  # fmt: skip
CELLS = {(name, defect): harm for defect, harms in HARMS.items() for name, harm in harms.items()}
MORE = {
    ("sentence-transformers", "an older vocabulary"): older_vocabulary,
    ("transformers", "an older vocabulary"): older_vocabulary,
    ("peft", "an older vocabulary"): older_vocabulary,
    ("onnx", "a tokenizer that is missing"): lambda entry: (Path(entry.name) / "tokenizer.json").unlink(),
}
NONE = {
    ("savedmodel", "vocabulary"): "texts go in as they are: the vocabulary is inside",
    ("lexical", "every"): "has no files",
    ("stored-vectors", "every"): "test_stored_vectors.py tries them: a file of them is no folder of a model",
    ("openai", "vocabulary"): "the server's own",
    ("tei", "vocabulary"): "the server's own",
}


def said(entry, tmp_path):
    """What a run says of this model: refused when it is loaded, or tried out on one pair; nothing is generated."""
    store = Store(tmp_path / "store.sqlite")
    try:
        try:
            model = load_model(entry, device=Device("cpu"))
            model.fingerprint()
        except ModelError as error:
            return str(error)
        bench = ScoringSession(
            {"tiny": ModelUnderTest("tiny", entry, model)}, {"demo": DATA}, store, maker=VariantMaker()
        )
        bench.smoke_test_models(
            [("tiny", "demo", Claim(labelled_pairs), 1)], locks=no_locks, progress=Progress(quiet=True)
        )
        assert bench.seconds["generate"] == 0
        return str(bench.subjects["tiny"].error)
    finally:
        store.close()


def check_defect(entry, harm, tmp_path):
    """What a run says of a model with this defect names the file and the remedy."""
    harm(entry)
    message = said(entry, tmp_path)
    assert str(tmp_path / "copy") in message
    assert "Remedy: " in message


@pytest.mark.parametrize("name", BUILDERS)
def test_a_whole_model_is_taken_without_a_word(copied, name, tmp_path):
    assert said(copied(name), tmp_path) == "None"


@pytest.mark.parametrize(("name", "defect"), [*CELLS, *MORE], ids=lambda part: part.replace(" ", "-"))
def test_a_defect_is_said_with_the_file_and_the_remedy_before_anything_is_generated(copied, name, defect, tmp_path):
    check_defect(copied(name), (CELLS | MORE)[name, defect], tmp_path)


# values of a configuration that nothing can be made of


def config(file, **values):
    return lambda folder: tiny_models.change_json(next(folder.rglob(file)), **values)


def spoil_template(folder):
    """A tokenizer that panics: it puts a token around texts that it does not have."""
    template = {"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "[NONE]", "type_id": 0}}]}
    template |= {"pair": [{"Sequence": {"id": "A", "type_id": 0}}], "special_tokens": {}}
    tiny_models.change_json(next(folder.rglob("tokenizer.json")), post_processor=template)


WRONG = {
    "a length that is text": ("transformers", config("tokenizer_config.json", model_max_length="x"),
                              "tokenizer_config.json: model_max_length is 'x', but should be a number"),
    "a length that is a list": ("cross-encoder", config("tokenizer_config.json", model_max_length=[None]),
                                "tokenizer_config.json: model_max_length is '[None]', but should be a number"),
    "a length that is none": ("onnx", config("tokenizer_config.json", model_max_length=float("nan")),
                              "tokenizer_config.json: model_max_length is 'nan', but should be a number"),
    "no padding token": ("transformers", config("tokenizer_config.json", pad_token=None),
                         "tokenizer_config.json names no padding token: it should have pad_token"),
    "no padding of pairs": ("cross-encoder", config("tokenizer_config.json", pad_token=None),
                            "tokenizer_config.json names no padding token: it should have pad_token"),
    "a type that is a list": ("sentence-transformers", config("config.json", model_type=["bert"]), "cannot load"),
    "a base that is a list": ("peft", config("adapter_config.json", base_model_name_or_path=["x"]),
                              "adapter_config.json: base_model_name_or_path is \"['x']\", but should be text"),
    "layers without end": ("transformers", config("config.json", num_hidden_layers=10**400),
                           "config.json: num_hidden_layers is more than 1,000, which is the limit"),
    "a share that is none": ("cross-encoder", config("config.json", hidden_dropout_prob=float("nan")),
                             "cannot score these pairs (RuntimeError: dropout probability"),
    "a tokenizer that panics": ("onnx", spoil_template, "cannot encode these texts (PanicException: "),
}  # fmt: skip


@pytest.mark.parametrize(("name", "change", "expected"), WRONG.values(), ids=[w.replace(" ", "-") for w in WRONG])
def test_a_value_that_nothing_can_be_made_of_is_said_with_its_file(copied, name, change, expected, tmp_path):
    entry = copied(name)
    change(tmp_path / "copy")
    message = said(entry, tmp_path)
    assert expected in message
    assert str(tmp_path / "copy") in message
    assert "Remedy: " in message


NO_PATHS = {"too long": f"./{'x' * 400}", "of nobody": "~nobody-of-this-name/model", "long": "x" * 400}


@pytest.mark.parametrize("name", NO_PATHS.values(), ids=NO_PATHS)
def test_a_path_that_no_file_system_takes_is_a_model_that_is_not_there(name):
    with pytest.raises(ModelError, match=r"does not exist|unknown model"):
        load_model(find_or_make_model_config(name, {}), device=Device("cpu"))
    for adapter in ("sentence-transformers", "vectors"):
        there, told = locate_weights(ModelConfig("tiny", name=name, adapter=adapter))
        assert not there
        assert name in told


OF = {
    "roberta": "transformers", "glove": "vectors", "fasttext": "vectors", "word2vec": "vectors", "sif": "vectors",
}  # fmt: skip


@pytest.mark.parametrize("adapter", [*ADAPTERS, "own"])
@pytest.mark.parametrize("defect", DEFECTS)
def test_no_cell_of_the_matrix_is_forgotten(adapter, defect):
    tried = {(OF.get(name, name), told) for name, told in CELLS} | {(name, told) for name, told, *_ in [*SERVERS, *OWN]}
    assert (adapter, defect) in tried or (adapter, defect) in NONE or (adapter, "every") in NONE


# servers


def as_text(answer):
    return "not at all what was asked for"


def with_nan(answer):
    rows = answer["data"] if isinstance(answer, dict) else answer
    for i, row in enumerate(rows):
        if isinstance(row, dict):
            row["embedding"][0] = float("nan")
        else:
            rows[i] = [float("nan"), *row[1:]]
    return answer


FAULTS = {"wrong kind": as_text, "cut off": "cut", "no numbers": with_nan}
SERVERS = [(a, d) for a in ("openai", "tei") for d in ("missing", *FAULTS)]


@pytest.mark.parametrize(("adapter", "defect"), SERVERS)
def test_a_server_that_is_none_is_said_with_its_address_and_the_remedy(adapter, defect, tmp_path):
    options = {"retries": 0} | ({"model": "tiny"} if adapter == "openai" else {})
    with serving(lambda texts: fake.BagOfWords().encode(texts)[:, :32]) as (address, state):
        state.faults.extend([FAULTS[defect]] * 9 if defect in FAULTS else [])
        address = "http://127.0.0.1:9" if defect == "missing" else address
        message = said(ModelConfig("tiny", adapter=adapter, name=address, options=options), tmp_path)
    assert address in message
    assert "Remedy: " in message


# what the user wrote

MINE = """
import numpy as np
def nan(texts):
    return np.full((len(texts), 4), np.nan)
def short(texts):
    return np.ones((1, 4))
def broken(texts):
    raise OSError("weights.bin was cut off")
class Nan:
    similarity = "cosine"
    def fingerprint(self):
        return "nan"
    def encode(self, texts, *, role=None):
        return nan(texts)
class Short(Nan):
    def encode(self, texts, *, role=None):
        return short(texts)
class Strange:
    pass
"""
OWN = [
    ("own", "missing", "my_own_models:gone"), ("own", "missing", "no_such_module:embed"),
    ("own", "wrong kind", "my_own_models:Strange"), ("own", "cut off", "my_own_models:broken"),
    ("own", "vocabulary", "my_own_models:short"), ("own", "vocabulary", "my_own_models:Short"),
    ("own", "no numbers", "my_own_models:nan"), ("own", "no numbers", "my_own_models:Nan"),
]  # fmt: skip


@pytest.mark.parametrize("adapter", [adapter for _, _, adapter in OWN])
def test_what_you_wrote_yourself_is_named_with_the_remedy(adapter, tmp_path, monkeypatch):
    (tmp_path / "my_own_models.py").write_text(MINE)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(__import__("sys").modules, "my_own_models", raising=False)
    message = said(ModelConfig("tiny", adapter=adapter), tmp_path)
    assert adapter.partition(":")[0] in message
    assert "Remedy: " in message
