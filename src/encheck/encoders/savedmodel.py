"""A TensorFlow SavedModel from texts to vectors, such as the Universal Sentence Encoder. Its graph is code."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from encheck.encoders.batching import halving, out_of_memory, slices, threads
from encheck.encoders.checkpoints.folders import below
from encheck.encoders.checkpoints.trust import TRUST
from encheck.encoders.files import COPY, CUT_OFF
from encheck.encoders.local import LocalEncoder
from encheck.encoders.model_config import ModelConfig
from encheck.encoders.protocol import Batch
from encheck.encoders.saved_graph import reaching_out
from encheck.errors import EncoderError, ModelError

if TYPE_CHECKING:
    from encheck.encoders.load import Device

OUTSIDE = (
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


class SavedModelEncoder(LocalEncoder):
    """A folder with saved_model.pb, called with a tensor of strings; options: its signature, and which output."""

    engine = "savedmodel-1"

    def __init__(self, source: Path, config: ModelConfig, *, device: Device, file_hash: Callable[[Path], str]) -> None:
        super().__init__(source, config, device=device, file_hash=file_hash)
        graph = source / "saved_model.pb"
        if not graph.is_file() or not graph.stat().st_size:
            what = "is empty" if graph.is_file() else "does not exist"
            raise ModelError(f"{graph} {what}: {source} is not a SavedModel, or the copy is truncated. {COPY}, whole")
        self.outside = _operators_that_reach_out(graph.read_bytes())
        self._refuse(self.outside)

    def _refuse(self, outside: Sequence[str]) -> None:
        """ModelError if the graph asks for such operators, and nobody has said that it may."""
        if outside and not self.config.trust_remote_code:
            graph = self.source / "saved_model.pb"
            raise ModelError(f"{graph} is a program that uses {', '.join(outside)}, which is not run. {TRUST}")

    def _refuse_all(self) -> None:
        """The same of every operator, as TensorFlow reads the graph; EncoderError if that is no SavedModel."""
        from google.protobuf.message import DecodeError

        graph = self.source / "saved_model.pb"
        try:
            self._refuse(reaching_out(graph.read_bytes()))
        except DecodeError as error:
            raise EncoderError(f"TensorFlow cannot load {self.source} ({error}): {CUT_OFF}") from error

    def content(self) -> Mapping[str, Path]:
        """The graph, the variables and the assets."""
        return {p.relative_to(self.source).as_posix(): p for p in below(self.source) if p.is_file()}

    def how(self) -> list[str]:
        """The options."""
        return [f"{name} {value}" for name, value in sorted(self.config.options.items())]

    def about(self) -> dict[str, Any]:
        """With the name of what it is: code."""
        named = f", among them {', '.join(self.outside)}" if self.outside else ""
        return super().about() | {"code": f"a SavedModel is a program: TensorFlow ran its graph's operators{named}"}

    @property
    def devices(self) -> list[str]:
        """Every GPU that TensorFlow sees: it takes them all."""
        gpus = _tensorflow().config.list_physical_devices("GPU")
        return [f"cuda:{number}" for number in range(len(gpus))] or ["cpu"]

    @cached_property
    def model(self) -> Any:
        """The loaded model."""
        tensorflow = _tensorflow()
        with suppress(RuntimeError):  # too late where TensorFlow runs already
            tensorflow.config.threading.set_intra_op_parallelism_threads(threads())
        self._refuse_all()
        try:
            return tensorflow.saved_model.load(str(self.source))
        except Exception as error:
            text = " ".join(str(error).split())[:300]
            raise EncoderError(f"TensorFlow cannot load {self.source} ({text}): {CUT_OFF}") from error

    @cached_property
    def _function(self) -> Callable[[Any], Any]:
        named = self.config.options.get("signature")
        if named is None and callable(self.model):
            return lambda texts: self.model(texts)
        there = sorted(self.model.signatures)
        chosen = named or ("serving_default" if "serving_default" in there else next(iter(there), ""))
        if chosen not in there:
            raise EncoderError(
                f"{self.source} has no signature {chosen!r}. There are: {', '.join(there) or 'none'}. Remedy: "
                "--model-arg signature=NAME"
            )
        function = self.model.signatures[chosen]
        name = next(iter(function.structured_input_signature[1]))
        return lambda texts: function(**{name: texts})

    def compute(self, texts: list[str], prompt: str) -> Iterator[Batch]:  # noqa: ARG002
        """In slices, as they come."""
        self._function  # noqa: B018 - loads it, apart from the first run
        for positions in slices(len(texts), TEXTS_PER_BATCH):
            yield from halving(lambda at: self._run([texts[i] for i in at]), positions)

    def _run(self, texts: list[str]) -> NDArray[np.float32]:
        tensorflow = _tensorflow()
        try:
            return self._vectors(self._function(tensorflow.constant(texts)))
        except Exception as error:
            if isinstance(error, EncoderError) or out_of_memory(error):
                raise
            text = " ".join(str(error).split())[:300]
            raise EncoderError(
                f"{self.source} does not take a list of texts ({text}): another signature? Remedy: "
                "--model-arg signature=NAME"
            ) from error

    def _vectors(self, made: Any) -> NDArray[np.float32]:
        if isinstance(made, dict):
            name = self.config.options.get("output") or ("outputs" if "outputs" in made else sorted(made)[0])
            if name not in made:
                raise EncoderError(
                    f"{self.source} has no output {name!r}. There are: {', '.join(sorted(made))}. Remedy: "
                    "--model-arg output=NAME"
                )
            made = made[name]
        return np.asarray(made, np.float32)


def _operators_that_reach_out(graph: bytes) -> list[str]:
    """Operators that touch files, the network or Python, as their names stand in the graph."""
    return [name for name in OUTSIDE if re.search(rb"\x12" + bytes([len(name)]) + name.encode(), graph)]


def _tensorflow() -> Any:
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    import tensorflow

    return tensorflow
