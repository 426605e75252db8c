"""Models that would run something when they are loaded or asked, in the format of every adapter.

Each is refused by name, or what it asks for is left undone and its numbers are those that it has without. Nothing of
it is run: its code would write a file, set a variable, and be seen as a module.
"""

from __future__ import annotations

import functools
import json
import os
import pickle
import runpy
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache, partial
from itertools import permutations
from pathlib import Path
from typing import Any

import canary
import numpy as np
from attacks import Failed, add_cases
from mutated import DATA, GROUPS, built, entry_in, right_scores, same
from reading import command, held, scores_of

Harm = Callable[[Path, Path], None]  # of the copied model's own folder; the second is the folder of the try
SOURCE = """
import os
open({trace!r}, "w").close()
os.environ[{variable!r}] = "yes"
import torch
class Own(torch.nn.Module):
    def __init__(self, *args, **options):
        super().__init__()
    def forward(self, x):
        return 2 * x
    @classmethod
    def load(cls, *args, **options):
        return cls()
    from_pretrained = load
"""
OWN = "hostile.Own"
ELSEWHERE = ("/etc", "owner/elsewhere")  # what a harmed file points to, where a message says that instead


def case(name: str, harm: Harm, *, may_load: bool = True) -> Callable[[Path], None]:
    """A copy of a tiny model, harmed; its own code can be imported from where it lies."""

    def attempt(folder: Path) -> None:
        from encheck.errors import EncheckError

        entry = entry_in(name, shutil.copytree(built(name)[0], folder / "copy"))
        own = Path(entry.name) if Path(entry.name).is_dir() else Path(entry.name).parent
        source = SOURCE.format(trace=str(canary.trace(folder)), variable=canary.VARIABLE)
        (own / "hostile.py").write_text(source)
        harm(own, folder)
        with importable(own):
            try:
                _, numbers, _ = scores_of(entry, folder)
            except EncheckError as error:
                if not any(place in str(error) for place in (str(folder / "copy"), *ELSEWHERE)):
                    raise Failed(f"the message does not say where: {str(error)[:300]}") from error
                return
        if not may_load or not same(numbers, right_scores(name)[1]):
            raise Failed("it was taken, and gave other numbers than without")

    attempt.__name__ = name
    return attempt


@contextmanager
def importable(folder: Path) -> Iterator[None]:
    """As where a run is started in the folder of a checkpoint."""
    sys.path.insert(0, str(folder))
    os.chdir(folder)
    try:
        yield
    finally:
        sys.path.remove(str(folder))


# code that a configuration names


def written(file: str, found: Any, *, module: tuple[str, str] | None = None) -> Harm:
    """A file with this JSON over what it holds; `module`: its folder is named in modules.json as of this class."""

    def harm(own: Path, folder: Path) -> None:
        from test_hostile_models import add_module, write

        if module:
            add_module(own, *module)
        path = own / file
        before = json.loads(path.read_text()) if path.exists() and not module else None
        write(path, before | found if isinstance(before, dict) and isinstance(found, dict) else found)

    return harm


def named() -> Iterator[Callable[[Path], None]]:
    """Classes, tokenizers, processors, kernels: what the tests try, and more places."""
    from test_hostile_models import NAMED, SETTINGS

    for kind, path, file, found in NAMED.values():
        if found:
            yield case("sentence-transformers", written(file, found, module=(path, kind)))
        else:
            yield case("sentence-transformers", partial(_add, path, kind))
    for name in ("sentence-transformers", "transformers", "cross-encoder", "bertscore", "alignment", "roberta"):
        for file, found, _ in SETTINGS.values():
            yield case(name, written(file, found))
    for found in PEFT:
        yield case("peft", partial(_of_adapter, found))
    for name in ("transformers", "cross-encoder"):
        yield case(name, written("tokenizer_config.json", {"tokenizer_class": OWN}))
        yield case(name, written("tokenizer_config.json", {"chat_template": "{{ x.__class__.__mro__ }}" + CALLS}))
        yield case(name, written("config.json", {"architectures": [OWN], "model_type": OWN}))
        yield case(name, written("config.json", {"quantization_config": {"quant_method": OWN}}))
        yield case(name, written("config.json", {"torch_dtype": "os.abort"}))
        yield case(name, written("config.json", {"hidden_act": OWN}))
    yield case("model2vec", written("config.json", {"auto_map": {"AutoModel": OWN}, "architectures": [OWN]}))
    yield case("onnx", written("tokenizer_config.json", {"auto_map": {"AutoTokenizer": [OWN, OWN]}}))


CALLS = "{{ cycler.__init__.__globals__.os.system('touch was_run') }}"
PEFT: tuple[dict[str, Any], ...] = (
    {"megatron_config": {"a": 1}, "megatron_core": OWN},
    {"auto_mapping": {"base_model_class": "Own", "parent_library": "hostile"}},
    {"auto_map": {"AutoModel": OWN}},
    {"peft_type": OWN},
    {"task_type": OWN},
    *({"base_model_name_or_path": place} for place in ELSEWHERE),
    {"target_modules": "(a+)+$"},
    {"init_lora_weights": OWN},
    {"runtime_config": {"ephemeral_gpu_offload": OWN}},
)


def _add(path: str, kind: str, own: Path, folder: Path) -> None:
    from test_hostile_models import add_module

    add_module(own, path, kind)


def _of_adapter(found: dict[str, Any], own: Path, folder: Path) -> None:
    import tiny_models

    tiny_models.change_json(next(own.rglob("adapter_config.json")), **found)


# activations


ACTIVATIONS = (
    OWN,
    "os.abort",
    "torch.hub.load",
    "torch.utils.collect_env.main",
    "builtins.exec",
    "torch.os.abort",
    7,
    "",
)


def activations() -> Iterator[Callable[[Path], None]]:
    """Of a cross-encoder in both spellings, and of a Dense layer."""
    for value in ACTIVATIONS:
        yield case("cross-encoder", written("config.json", {"sbert_ce_default_activation_function": value}))
        for key in ("activation_fn", "activation_function"):
            yield case("cross-encoder", written("config.json", {"sentence_transformers": {key: value}}))
        found = {"in_features": 16, "out_features": 8, "bias": True, "activation_function": value}
        dense = ("2_Dense", "sentence_transformers.models.Dense")
        yield case("sentence-transformers", written("2_Dense/config.json", found, module=dense), may_load=False)


# pickles


class Calls:
    """Pickled as a call of something."""

    def __init__(self, function: Any, *args: Any) -> None:
        self.called = function, args

    def __reduce__(self) -> Any:
        return self.called


class Builds:
    """Pickled as an object whose state is set by a call."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner

    def __reduce__(self) -> Any:
        return (dict, (), {"a": 1}, None, iter([("a", self.inner)]))


def payloads(trace: str) -> dict[str, Any]:
    """What would write the file, by way of this and that."""
    code = f"open({trace!r}, 'w').close()"
    return {
        "open": Calls(open, trace, "w"),
        "system": Calls(os.system, f"touch {trace}"),
        "exec": Calls(exec, code),
        "eval": Calls(eval, f"open({trace!r}, 'w')"),
        "popen": Calls(subprocess.Popen, ["touch", trace]),
        "getattr": Calls(getattr, Calls(__import__, "os"), "system"),
        "partial": Calls(functools.partial, os.system, f"touch {trace}"),
        "import": Calls(__import__, "hostile"),
        "run": Calls(runpy.run_path, trace),
        "pickle in a pickle": Calls(pickle.loads, pickle.dumps(Calls(open, trace, "w"))),
        "in a member": Builds(Calls(open, trace, "w")),
        "in a tuple": (1, [2, {"a": Calls(open, trace, "w")}]),
    }


def raw_payloads(trace: str) -> dict[str, bytes]:
    """Pickles written by hand, which hide what they name."""
    text = f"open({trace!r}, 'w').close()"
    return {
        "old": f"cbuiltins\nexec\n(S{text!r}\ntR.".encode(),
        "instance": f"(S{text!r}\nibuiltins\nexec\n.".encode(),
        "object": f"(cbuiltins\nexec\nS{text!r}\no.".encode(),
        "by memo": b"\x80\x04\x8c\x08builtins\x94\x8c\x04exec\x94h\x00h\x01\x93\x8c"
        + bytes([len(text)]) + text.encode() + b"\x85R.",
        "names in turn": b"\x80\x04\x8c\x04exec\x94\x8c\x08builtins\x94h\x01h\x00\x93\x8c"
        + bytes([len(text)]) + text.encode() + b"\x85R.",
        "popped": b"\x80\x04\x8c\x08builtins\x8c\x04exec\x8c\x05torch\x8c\x06Tensor00\x93\x8c"
        + bytes([len(text)]) + text.encode() + b"\x85R.",
        "behind another": pickle.dumps({"a": 1}) + f"cbuiltins\nexec\n(S{text!r}\ntR.".encode(),
    }  # fmt: skip


def without_safetensors(own: Path) -> Path:
    """Where a checkpoint's weights lie as a pickle, once those without code are gone; the way they are named."""
    for path in own.rglob("*.safetensors"):
        path.unlink()
        return path.with_name({"adapter_model.safetensors": "adapter_model.bin"}.get(path.name, "pytorch_model.bin"))
    return own / "pytorch_model.bin"


def weights_of(name: str, own: Path) -> Path:
    """The pickle of a model; of a checkpoint, made in the place of its safetensors."""
    built_name = Path(built(name)[1].name)
    return own / built_name.name if built_name.is_file() else without_safetensors(own)


def _saved(name: str, key: str, how: str, own: Path, folder: Path) -> None:
    import torch

    path, payload = weights_of(name, own), payloads(str(canary.trace(folder)))[key]
    if how == "plain":
        path.write_bytes(pickle.dumps(payload))
    else:
        torch.save({"payload": payload}, path, _use_new_zipfile_serialization=how == "zip")


def _raw(name: str, key: str, how: str, own: Path, folder: Path) -> None:
    path, payload = weights_of(name, own), raw_payloads(str(canary.trace(folder)))[key]
    if how == "plain":
        path.write_bytes(payload)
        return
    with zipfile.ZipFile(path, "w") as archive:
        names = {"zip": ["archive/data.pkl"], "two": ["archive/data.pkl", "other/data.pkl"]}[how]
        for other in names[:-1]:
            archive.writestr(other, pickle.dumps({}))
        archive.writestr(names[-1], payload)
        archive.writestr("archive/version", "3\n")


PICKLED = {
    "sentence-transformers": "zip", "transformers": "old", "peft": "zip", "cross-encoder": "zip", "infersent": "old",
    "laser2": "zip", "laser3": "old", "doc2vec": "plain", "model2vec": "zip", "roberta": "zip",
}  # fmt: skip


def pickles() -> Iterator[Callable[[Path], None]]:
    """Every payload in some adapters, and some payloads in every one."""
    for name in ("sentence-transformers", "infersent", "doc2vec"):
        yield from (case(name, partial(_saved, name, key, PICKLED[name])) for key in payloads(""))
        yield from (case(name, partial(_raw, name, key, "plain")) for key in raw_payloads("x"))
    for name, how in PICKLED.items():
        yield from (case(name, partial(_saved, name, key, how)) for key in ("open", "import"))
    for how in ("zip", "two"):
        yield from (case("laser2", partial(_raw, "laser2", key, how)) for key in raw_payloads("x"))
    for file in ("1_Pooling/pytorch_model.bin", "training_args.bin", "optimizer.pt", "rng_state.pth", "vocab.pkl"):
        yield case("sentence-transformers", partial(_beside, file))
    yield case("doc2vec", _arrays)


def _beside(file: str, own: Path, folder: Path) -> None:
    """A pickle beside what is loaded."""
    (own / file).write_bytes(pickle.dumps(Calls(open, str(canary.trace(folder)), "w")))


def _arrays(own: Path, folder: Path) -> None:
    """gensim's arrays in a file of their own, one of which holds objects."""
    import numpy as np
    from gensim.models.doc2vec import Doc2Vec

    path = next(own.glob("*.doc2vec"))
    model = Doc2Vec.load(str(path))
    model.save(str(path), sep_limit=0)
    for array in own.glob("*.npy"):
        np.save(array, np.array([Calls(open, str(canary.trace(folder)), "w")], object), allow_pickle=True)


# programs


def programs() -> Iterator[Callable[[Path], None]]:
    """ONNX graphs that point out of their folder or bring operators."""
    for place in ("../../../../../../etc/passwd", "/etc/passwd", "../was_run"):
        for name in ("onnx", "openvino"):
            yield case(name, partial(_data_outside, place), may_load=False)
    for name in ("onnx", "openvino"):
        yield case(name, _own_domain, may_load=False)


def _data_outside(place: str, own: Path, folder: Path) -> None:
    from onnx import TensorProto, load_model

    path = own / "model.onnx" if (own / "model.onnx").exists() else next(own.rglob("model.onnx"))
    model = load_model(str(path))
    table = model.graph.initializer[0]
    table.ClearField("raw_data")
    table.data_location = TensorProto.EXTERNAL
    entry = table.external_data.add()
    entry.key, entry.value = "location", place
    path.write_bytes(model.SerializeToString())


def _own_domain(own: Path, folder: Path) -> None:
    import tiny_models

    path = next(own.rglob("model.onnx"))
    path.unlink()
    tiny_models.onnx(path.parent.parent, domain="hostile")


def graphs() -> Iterator[Callable[[Path], None]]:
    """SavedModels whose graph writes, reads, or calls Python; when they are loaded, or when they are asked."""
    for name in OPERATORS:
        yield from (partial(_graph, name, when) for when in ("asked", "inner"))
    yield from (partial(_graph, name, "loaded") for name in ("WriteFile", "SaveV2", "ReadFile"))


def _operators() -> dict[str, Callable[[str], Any]]:
    import tensorflow as tf

    ops = tf.raw_ops

    def read(dataset: Any) -> Any:
        return sum(1 for _ in [dataset]) and tf.data.experimental.get_single_element(dataset.take(1))

    def writer(path: str) -> Any:
        made = ops.SummaryWriter(shared_name="", container="")
        ops.CreateSummaryFileWriter(
            writer=made, logdir=f"{path}.logs", max_queue=1, flush_millis=1, filename_suffix="was_run"
        )
        return ops.FlushSummaryWriter(writer=made)

    return {
        "WriteFile": lambda p: ops.WriteFile(filename=p, contents="x"),
        "ReadFile": lambda p: ops.ReadFile(filename="/etc/hostname"),
        "MatchingFiles": lambda p: ops.MatchingFiles(pattern="/etc/*"),
        "SaveV2": lambda p: ops.SaveV2(prefix=p, tensor_names=["a"], shape_and_slices=[""], tensors=[tf.ones(3)]),
        "Save": lambda p: ops.Save(filename=p, tensor_names=["a"], data=[tf.ones(3)]),
        "SaveSlices": lambda p: ops.SaveSlices(
            filename=p, tensor_names=["a"], shapes_and_slices=[""], data=[tf.ones(3)]
        ),
        "MergeV2Checkpoints": lambda p: ops.MergeV2Checkpoints(checkpoint_prefixes=[p], destination_prefix=f"{p}.x"),
        "RestoreV2": lambda p: ops.RestoreV2(
            prefix="/etc/hostname", tensor_names=["a"], shape_and_slices=[""], dtypes=[tf.float32]
        ),
        "ImmutableConst": lambda p: ops.ImmutableConst(dtype=tf.uint8, shape=[4], memory_region_name="/etc/hostname"),
        "PrintV2": lambda p: ops.PrintV2(input="x", output_stream=f"file://{p}"),
        "PyFunc": lambda p: tf.numpy_function(lambda: Path(p).touch() or 0, [], tf.int64),
        "EagerPyFunc": lambda p: tf.py_function(lambda: Path(p).touch() or 0, [], tf.int64),
        "TextLineDataset": lambda p: read(tf.data.TextLineDataset("/etc/hostname")),
        "TextLineDatasetV2": lambda p: read(tf.data.TextLineDataset("/etc/hostname", name="x")),
        "FixedLengthRecordDataset": lambda p: read(tf.data.FixedLengthRecordDataset("/etc/hostname", 1)),
        "TFRecordDataset": lambda p: read(tf.data.TFRecordDataset("/etc/hostname")),
        "CacheDataset": lambda p: read(tf.data.Dataset.range(1).cache(p)),
        "SnapshotDataset": lambda p: read(tf.data.Dataset.range(1).snapshot(p)),
        "CreateSummaryFileWriter": writer,
        "FileSystemSetConfiguration": lambda p: ops.FileSystemSetConfiguration(scheme="a", key="b", value="c"),
        "InitializeTableFromTextFile": lambda p: tf.lookup.StaticHashTable(
            tf.lookup.TextFileInitializer("/etc/hostname", tf.string, 0, tf.string, 0), ""
        ).lookup(tf.constant("x")),
    }


OPERATORS = (
    "WriteFile", "ReadFile", "MatchingFiles", "SaveV2", "Save", "SaveSlices", "MergeV2Checkpoints", "RestoreV2",
    "ImmutableConst", "PrintV2", "PyFunc", "EagerPyFunc", "TextLineDataset", "FixedLengthRecordDataset",
    "TFRecordDataset", "CacheDataset", "SnapshotDataset", "CreateSummaryFileWriter", "FileSystemSetConfiguration",
)  # fmt: skip


def _graph(name: str, when: str, folder: Path) -> None:
    """Refused, with the operator; a SavedModel is built in the folder itself."""
    import tensorflow as tf

    from encheck.encoders.model_config import ModelConfig
    from encheck.errors import EncheckError

    run = _operators()[name]
    trace = str(folder / "was_run")

    class Model(tf.Module):
        def __init__(self) -> None:
            self.table = tf.Variable(tf.ones([50, 8]))

        @tf.function(input_signature=[])
        def inner(self) -> Any:
            run(trace)
            return tf.constant(1.0)

        @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
        def __call__(self, texts: Any) -> Any:
            if when == "asked":
                run(trace)
            factor = self.inner() if when == "inner" else 1.0
            buckets = tf.strings.to_hash_bucket_fast(texts, 50)
            return tf.gather(self.table, buckets) * factor

    model = Model()
    if when == "loaded":
        _at_loading(model, run, trace)
    with suppress(ValueError):
        tf.saved_model.save(model, str(folder / "copy"))
    if not (folder / "copy/saved_model.pb").exists():
        raise Failed("TensorFlow did not save it: the case is none")
    for path in folder.rglob("was_run*"):
        path.unlink()
    try:
        scores_of(ModelConfig("tiny", name=str(folder / "copy"), adapter="savedmodel"), folder)
    except EncheckError as error:
        if name not in str(error):
            raise Failed(f"the message does not name {name}: {str(error)[:300]}") from error
        return
    raise Failed(f"a graph with {name} was run")


def _at_loading(model: Any, run: Callable[[str], Any], trace: str) -> None:
    """A resource whose initializer is called by whoever loads the model."""
    import tensorflow as tf
    from tensorflow.python.trackable.resource import CapturableResource

    class Resource(CapturableResource):
        def _create_resource(self) -> Any:
            return tf.raw_ops.MutableHashTableV2(key_dtype=tf.string, value_dtype=tf.int64)

        def _initialize(self) -> Any:
            run(trace)
            return tf.constant(1)

    model.resource = Resource()


# what lies in the folder


def folders() -> Iterator[Callable[[Path], None]]:
    """Links to devices and out of the folder, pipes, loops; and what Python or pytest would take from a folder."""
    for file in ("config.json", "model.safetensors", "tokenizer.json", "extra.json", "vocab.txt"):
        yield case("transformers", partial(_link, file, "/dev/zero"))
        yield case("sentence-transformers", partial(_link, file, "/dev/zero"))
        yield case("transformers", partial(_pipe, file))
    for name in ("glove", "word2vec", "doc2vec", "infersent"):
        yield case(name, partial(_link, "", "/dev/zero"))
    yield case("transformers", partial(_link, "nested", "."))
    yield case("transformers", partial(_link, "config.json", "config.json"))


def _link(file: str, to: str, own: Path, folder: Path) -> None:
    path = own / file if file else next(p for p in sorted(own.iterdir()) if p.name != "hostile.py")
    path.unlink(missing_ok=True)
    path.symlink_to(to)


def _pipe(file: str, own: Path, folder: Path) -> None:
    (own / file).unlink(missing_ok=True)
    os.mkfifo(own / file)


SHADOWS = (
    "numpy.py",
    "torch.py",
    "conftest.py",
    "sitecustomize.py",
    "pytest.ini",
    "encheck.py",
    "hostile.py",
    "test_own.py",
)


def runs() -> Iterator[Callable[[Path], None]]:
    """`encheck run` on a checkpoint of somebody else's, from beside it and from within."""
    for where in ("beside", "within"):
        for how in ("--model=", "--model "):
            yield partial(_run, where, how)


def _run(where: str, how: str, folder: Path) -> None:
    canary.may_start_processes()
    own = shutil.copytree(built("sentence-transformers")[0] / "whole", folder / "ckpt")
    trace = canary.trace(folder)
    for name in SHADOWS:
        (own / name).write_text(f"open({str(trace)!r}, 'w').close()\n")
    (own / "pytest.ini").write_text("[pytest]\naddopts = -p no:encheck -p hostile\npython_files = *.py\n")
    there = own if where == "within" else folder
    asked = f"{how}{'.' if where == 'within' else './ckpt'}".split(" ")
    program = "import sys; from encheck.cli import main; main(sys.argv[1:])"
    done = subprocess.run(
        [sys.executable, "-P", "-c", program, "run", *asked, "-m", "health", "--report-dir", str(folder / "out"), "-q"],
        cwd=there, capture_output=True, text=True, timeout=170, check=False,
    )  # fmt: skip
    if done.returncode not in (0, 1):
        raise Failed(f"exit code {done.returncode}: {(done.stdout + done.stderr)[-400:]}")


# files that ask for much


def small() -> Iterator[Callable[[Path], None]]:
    """Small files that ask for much memory or time: those that the tests try."""
    from test_small_inputs import HARMS

    for name, harm, _ in HARMS.values():
        yield case(name, lambda own, _folder, h=harm: h(own), may_load=False)


# files that are no models


def files() -> Iterator[Callable[[Path], None]]:
    """YAML tags, arrays of objects, and Arrow's extension types that are pickles."""
    for tag in (
        "object/apply:os.system [touch was_run]",
        "object/new:os.system [touch was_run]",
        "module:hostile",
        "name:os.abort",
    ):
        yield partial(_yaml, tag)
    yield _objects
    yield partial(_extension, "data")
    yield partial(_extension, "run")


def _yaml(tag: str, folder: Path) -> None:
    (folder / "models.yaml").write_text(f"mine:\n  adapter: vectors\n  name: !!python/{tag}\n")
    os.chdir(folder)
    code, text = command("models")
    if code != 4 or "models.yaml:3" not in text:
        raise Failed(f"exit code {code}: {text[-300:]}")


def _objects(folder: Path) -> None:
    from encheck.errors import EncheckError
    from encheck.language.lexicon.lexicon import EmbeddedLexicon

    made = np.array([Calls(open, str(canary.trace(folder)), "w")], object)
    np.savez(folder / "lexicon.npz", meta=made)
    with suppress(EncheckError):
        EmbeddedLexicon(folder / "lexicon.npz").senses("dog", "n")
        raise Failed("it was taken for a lexicon")


def _extension(what: str, folder: Path) -> None:
    import pyarrow
    import pyarrow.parquet

    made = pickle.dumps(Calls(open, str(canary.trace(folder)), "w"))
    field = {b"ARROW:extension:name": b"arrow.py_extension_type", b"ARROW:extension:metadata": made}
    names = ("first", "second") if what == "data" else ("case", "item")
    text = [pyarrow.field(name, pyarrow.string(), metadata=field) for name in names]
    schema = pyarrow.schema([*text, pyarrow.field("label", pyarrow.int64())])
    table = pyarrow.table({names[0]: ["a b", "c d"], names[1]: ["e f", "g h"], "label": [1, 0]}, schema=schema)
    if what == "data":
        pyarrow.parquet.write_table(table, folder / "data.parquet")
        held(*command("data", f"pairs:{folder / 'data.parquet'}"), "data.parquet")
    else:
        from mutated import runs as two_runs

        two_runs(folder)
        pyarrow.parquet.write_table(table, folder / "a/items.parquet")
        held(*command("export", folder / "a"), "items.parquet")


# outputs of a graph


SIZES = {"own": 1, "twice": 2, "thrice": 3}  # what of the right vectors an output is; the others are no vectors


def outputs() -> Iterator[Callable[[Path], None]]:
    """A graph with up to three outputs in any order: ids, weights, scores of words, and vectors of several names."""
    names = (*SIZES, "ids", "weights", "logits")
    yield from (partial(_outputs, some) for count in (1, 2, 3) for some in permutations(names, count))


def _outputs(names: tuple[str, ...], folder: Path) -> None:
    """The vectors of the output that is named as one, or of the only one that fits; else an error that lists them."""
    from test_adapters_onnx import with_outputs

    from encheck.errors import EncoderError

    right, entry = right_scores("onnx"), built("onnx")
    copy = shutil.copytree(entry[0], folder / "copy")
    with_outputs(next(copy.rglob("model.onnx")).parent, *names)
    fit = [name for name in names if name in SIZES]
    size = 1 if "own" in fit else SIZES[fit[0]] if len(fit) == 1 else 0
    try:
        found = scores_of(entry_in("onnx", copy), folder)[1]
    except EncoderError as error:
        if size or not all(name in str(error) for name in names):
            raise Failed(f"outputs {names}: {error}") from error
        return
    if not size or not np.allclose(found, size * right[1], atol=1e-5):
        raise Failed(f"outputs {names}: other vectors are taken")


@cache
def all_right() -> None:
    """Build the tiny models, and take their right numbers."""
    for name in PICKLED:
        right_scores(name)


def tensorflow() -> None:
    right_scores("savedmodel")
    _operators()


def small_right() -> None:
    from test_small_inputs import NAMES

    for name in NAMES:
        right_scores(name)


def reads() -> None:
    """Import what the commands import."""
    for kind in (*DATA, *GROUPS["runs"][0]):
        kind.right()


def onnx() -> None:
    for name in ("onnx", "openvino"):
        right_scores(name)


add_cases("models", "code-named", list(named()), ready=all_right)
add_cases("models", "activations", list(activations()), ready=all_right)
add_cases("models", "pickles", list(pickles()), ready=all_right)
add_cases("models", "programs-onnx", list(programs()), ready=onnx)
add_cases("models", "programs-tensorflow", list(graphs()), ready=tensorflow, seconds=30.0)
add_cases("models", "folders", list(folders()), ready=all_right)
add_cases("models", "small-inputs", list(small()), ready=small_right)
add_cases("models", "runs", list(runs()), ready=lambda: built("sentence-transformers"), seconds=180.0)
add_cases("models", "outputs-onnx", list(outputs()), default=30, ready=onnx)
add_cases("models", "files", list(files()), ready=reads)
