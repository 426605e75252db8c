"""Encode with a TensorFlow SavedModel that maps texts to vectors, such as the Universal Sentence Encoder.

The graph of a SavedModel is code. The names of its operators show whether it would use files, the network or Python.
Every SavedModel contains TensorFlow's own functions for saving and restoring. encheck ignores them if only the saver
refers to them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from encheck.encoders.base import LocalEncoder
from encheck.encoders.batching import is_out_of_memory, run_or_halve_batch, slice_positions, thread_count
from encheck.encoders.checkpoints.folders import list_files_recursively
from encheck.encoders.checkpoints.trust import TRUST
from encheck.encoders.files import COPY, CUT_OFF
from encheck.encoders.model_config import Device, ModelConfig
from encheck.encoders.protocol import Batch
from encheck.errors import EncoderError, ModelError
from encheck.types import Json

UNSAFE_OPERATOR = re.compile(
    "File|Reader|Save|Restore|Checkpoint|PyFunc|Rpc|Remote|Debug|Print|SummaryWriter|SummaryFileWriter|SummaryDbWriter"
    "|Write.*Summary|Snapshot|Dataset|LMDB|ImmutableConst|DumpTensor|LoadAndRemapMatrix|HostCompute|Collective"
    "|^_?(?:Host)?(?:Send|Recv)$"
)
VOCABULARY = {
    "InitializeTableFromTextFile",
    "InitializeTableFromTextFileV2",
}  # one word per line, in the model's assets
UNSAFE_OPERATORS = (
    *(
        "WriteFile",
        "ReadFile",
        "MatchingFiles",
        "WholeFileReader",
        "WholeFileReaderV2",
        "TextLineReaderV2",
        "SaveSlices",
    ),
    *(
        "PyFunc",
        "EagerPyFunc",
        "PyFuncStateless",
        "RpcCall",
        "TryRpcCall",
        "XlaHostCompute",
        "DebugIdentity",
        "PrintV2",
    ),
    *("TextLineDataset", "TFRecordDataset", "CSVDataset", "FixedLengthRecordDataset"),
)
TEXTS_PER_BATCH = 128


def list_unsafe_operators(graph: bytes) -> list[str]:
    """Return the sorted operators of a saved_model.pb that use files, the network or Python.

    This imports TensorFlow. Raise google.protobuf's DecodeError if the bytes are not a SavedModel.
    """
    from tensorflow.core.protobuf import saved_model_pb2

    operators: set[str] = set()
    for meta in saved_model_pb2.SavedModel.FromString(graph).meta_graphs:
        nodes, library = meta.graph_def.node, meta.graph_def.library

        # The scope of a saver from before TensorFlow 2, or the nodes of a later one, unless other nodes lead to them.
        scope = meta.saver_def.restore_op_name.rpartition("/")[0]
        savers = {meta.saver_def.save_tensor_name.partition(":")[0], meta.saver_def.restore_op_name}
        inside = {n.name for n in nodes if n.name in savers or (scope and n.name.startswith(f"{scope}/"))}
        inputs = {name for node in nodes if node.name not in inside for name in node.input}
        outputs = {tensor.name for signature in meta.signature_def.values() for tensor in signature.outputs.values()}
        first = ("saved_model_main_op", "legacy_init_op", "saved_model_train_op")  # loading the graph runs these
        first_nodes = {
            node for n in first if n in meta.collection_def for node in meta.collection_def[n].node_list.value
        }
        scopes = (f"{scope}/",) if scope else ()
        if inside & {name.removeprefix("^").partition(":")[0] for name in inputs | outputs | first_nodes}:
            scopes, savers = (), set()

        # The functions that only the saver leads to, not other nodes, functions, the objects or gradients.
        exempt = {name for node in nodes if node.name in savers for name in _called_functions(node)}
        others = [n for n in nodes if n.name not in savers] + [n for f in library.function for n in f.node_def]
        exempt -= {
            name for node in others for name in (*_called_functions(node), node.op)
        }  # a function can be an operator
        exempt -= {name for g in library.gradient for name in (g.function_name, g.gradient_func)}
        exempt -= {*meta.object_graph_def.concrete_functions}

        operators |= {n.op for n in nodes if n.name not in savers and not n.name.startswith(scopes)}
        operators |= {n.op for f in library.function if f.signature.name not in exempt for n in f.node_def}
    return sorted(filter(is_unsafe_operator, operators))


def _called_functions(node: Any) -> set[str]:
    """Return the functions that a node refers to."""
    own = {value.func.name for value in node.attr.values() if value.HasField("func")}
    return own | {f.name for value in node.attr.values() for f in value.list.func}


def is_unsafe_operator(operator: str) -> bool:
    """Return whether an operator of this name uses files, the network or Python.

    >>> is_unsafe_operator("WriteFile"), is_unsafe_operator("ReadVariableOp"), is_unsafe_operator("TextLineDataset")
    (True, False, True)
    """
    return operator not in VOCABULARY and UNSAFE_OPERATOR.search(operator) is not None


class SavedModelEncoder(LocalEncoder):
    """A folder with a saved_model.pb that takes a tensor of strings.

    Options name the signature and the output.
    """

    engine = "savedmodel-1"
    libraries = ("tensorflow", "tensorflow-cpu")

    def __init__(self, source: Path, config: ModelConfig, *, device: Device, file_hash: Callable[[Path], str]) -> None:
        super().__init__(source, config, device=device, file_hash=file_hash)
        graph = source / "saved_model.pb"
        if not graph.is_file() or not graph.stat().st_size:
            what = "is empty" if graph.is_file() else "does not exist"
            raise ModelError(f"{graph} {what}: {source} is not a SavedModel, or the copy is truncated. {COPY}, whole")
        content = graph.read_bytes()  # operators that touch files, the network or Python, by their names in the graph
        self.outside = [n for n in UNSAFE_OPERATORS if re.search(rb"\x12" + bytes([len(n)]) + n.encode(), content)]
        self._refuse_unsafe_operators(self.outside)

    def _refuse_unsafe_operators(self, outside: Sequence[str]) -> None:
        """Raise ModelError if the graph uses unsafe operators without permission."""
        if outside and not self.config.trust_remote_code:
            graph = self.source / "saved_model.pb"
            raise ModelError(f"{graph} is a program that uses {', '.join(outside)}, which is not run. {TRUST}")

    def fingerprint_files(self) -> Mapping[str, Path]:
        """Return the graph, the variables and the assets."""
        return {p.relative_to(self.source).as_posix(): p for p in list_files_recursively(self.source) if p.is_file()}

    def fingerprint_settings(self) -> list[str]:
        """Return the options."""
        return [f"{name} {value}" for name, value in sorted(self.config.options.items())]

    def about(self) -> dict[str, Json]:
        """Add a note that the model is code."""
        named = f", among them {', '.join(self.outside)}" if self.outside else ""
        return super().about() | {"code": f"a SavedModel is a program: TensorFlow ran its graph's operators{named}"}

    @cached_property
    def devices(self) -> list[str]:
        """Every GPU that TensorFlow sees, because TensorFlow uses all of them."""
        gpus = _import_tensorflow().config.list_physical_devices("GPU")
        return [f"cuda:{number}" for number in range(len(gpus))] or ["cpu"]

    @cached_property
    def model(self) -> Any:
        """The loaded model. Raises EncoderError if it is not a SavedModel."""
        from google.protobuf.message import DecodeError

        tensorflow = _import_tensorflow()
        with suppress(RuntimeError):  # too late if TensorFlow runs already
            tensorflow.config.threading.set_intra_op_parallelism_threads(thread_count())
        graph = self.source / "saved_model.pb"
        try:
            self._refuse_unsafe_operators(list_unsafe_operators(graph.read_bytes()))  # as TensorFlow reads it
        except DecodeError as error:
            raise EncoderError(f"TensorFlow cannot load {self.source} ({error}): {CUT_OFF}") from error
        try:
            return tensorflow.saved_model.load(str(self.source))
        except Exception as error:
            text = " ".join(str(error).split())[:300]
            raise EncoderError(f"TensorFlow cannot load {self.source} ({text}): {CUT_OFF}") from error

    @cached_property
    def _signature_function(self) -> Callable[[Any], Any]:
        named = self.config.options.get("signature")
        if named is None and callable(self.model):
            return lambda texts: self.model(texts)
        there = sorted(self.model.signatures)
        chosen = named or ("serving_default" if "serving_default" in there else next(iter(there), ""))
        if chosen not in there:
            raise EncoderError(
                f"{self.source} has no signature {chosen!r}. Available: {', '.join(there) or 'none'}. Remedy: "
                "--model-arg signature=NAME"
            )
        function = self.model.signatures[chosen]
        name = next(iter(function.structured_input_signature[1]))
        return lambda texts: function(**{name: texts})

    def compute(self, texts: list[str], prompt: str) -> Iterator[Batch]:  # noqa: ARG002
        """Encode slices in the order of the texts."""
        self._signature_function  # noqa: B018 - loads it, apart from the first run
        for positions in slice_positions(len(texts), TEXTS_PER_BATCH):
            yield from run_or_halve_batch(lambda at: self._encode_batch([texts[i] for i in at]), positions)

    def _encode_batch(self, texts: list[str]) -> NDArray[np.float32]:
        try:
            made = self._signature_function(_import_tensorflow().constant(texts))
            if isinstance(made, dict):
                name = self.config.options.get("output") or ("outputs" if "outputs" in made else sorted(made)[0])
                if name not in made:
                    raise EncoderError(
                        f"{self.source} has no output {name!r}. Available: {', '.join(sorted(made))}. Remedy: "
                        "--model-arg output=NAME"
                    )
                made = made[name]
            return np.asarray(made, np.float32)
        except Exception as error:
            if isinstance(error, EncoderError) or is_out_of_memory(error):
                raise
            text = " ".join(str(error).split())[:300]
            raise EncoderError(
                f"{self.source} does not accept a list of texts ({text}): another signature? Remedy: "
                "--model-arg signature=NAME"
            ) from error


def _import_tensorflow() -> Any:
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    import tensorflow

    return tensorflow
