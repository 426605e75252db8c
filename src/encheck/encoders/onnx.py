"""A bare .onnx with its tokenizer.json, run by ONNX Runtime or OpenVINO; custom operators are reported, not run.

A tensor can keep its numbers in a separate file (`TensorProto.external_data`). Tensors are in the graph, in
nodes, in the graphs inside nodes, in functions and in training information; fields come in any order. encheck reads
the file names strictly from the part of protobuf's wire format that they need, and skips fields that lead to no tensor.
https://protobuf.dev/programming-guides/encoding/, onnx.proto of ONNX 1.19.
"""

from __future__ import annotations

import logging
import mmap
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from encheck.encoders.base import LocalEncoder
from encheck.encoders.batching import (
    TOKENS_PER_BATCH,
    Ints,
    batch_equal_lengths,
    is_out_of_memory,
    run_or_halve_batch,
    thread_count,
)
from encheck.encoders.checkpoints.folders import check_vocabulary, describe_pooling, read_stored_pooling
from encheck.encoders.files import (
    COPY,
    CUT_OFF,
    OTHER_VOCABULARY,
    SEPARATE_WEIGHTS,
    check_tokens_per_character,
    largest_token_id,
    read_json_number,
    read_json_value,
    read_model_json,
    require_file,
)
from encheck.encoders.model_config import Device, ModelConfig
from encheck.encoders.protocol import Batch
from encheck.encoders.settings import UNLIMITED
from encheck.errors import EncheckError, EncoderError, ModelError, UsageError, unknown_name_message
from encheck.types import Json

SENTENCE_OUTPUTS = ("sentence_embedding", "sentence_embeddings", "text_embeds", "embeddings")  # exporters' vector names
TOKEN_OUTPUTS = ("last_hidden_state", "token_embeddings")  # and for token vectors
SCORE_OUTPUTS = ("logits",)  # of words or classes: not vectors of texts, unless the option says so
Dimension = int | str | None  # a number, the name of one that varies, or unknown
Floats = NDArray[np.float32]
Inputs = dict[str, NDArray[np.int64]]
TokenRow = tuple[Sequence[int], Sequence[int]]
log = logging.getLogger("encheck")
CUDA, CPU = "CUDAExecutionProvider", "CPUExecutionProvider"
POOLINGS = ("cls", "mean", "max", "last")
HOLDS: Mapping[str, Mapping[int, str]] = {
    "model": {7: "graph", 20: "training", 25: "function"},
    "training": {1: "graph", 2: "graph"},
    "function": {7: "node", 11: "attribute"},
    "graph": {1: "node", 5: "tensor", 15: "sparse"},
    "node": {5: "attribute"},
    "attribute": {5: "tensor", 6: "graph", 10: "tensor", 11: "graph", 22: "sparse", 23: "sparse"},
    "sparse": {1: "tensor", 2: "tensor"},
    "tensor": {13: "entry"},
}
KEY, VALUE = 1, 2  # of an entry
VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
WIDTH = {FIXED64: 8, FIXED32: 4}
MAX_DEPTH = 100  # as in protobuf's own readers
MAX_FIELDS = 2_000_000  # a graph of 10,000 nodes has about 200,000
Span = tuple[int, int]
FILES = ("model.onnx", "onnx/model.onnx")
TOKENIZER_FILES = ("tokenizer.json", "tokenizer_config.json")


@dataclass(frozen=True)
class GraphOutput:
    """One output of the graph. Its shape is None if the graph does not state one."""

    name: str
    type: str
    is_float: bool
    shape: tuple[Dimension, ...] | None

    def __str__(self) -> str:
        shape = "unknown shape" if self.shape is None else f"[{', '.join(str(size or '?') for size in self.shape)}]"
        return f"{self.name} ({self.type}, {shape})"

    def holds_vectors(self, tokens: Dimension) -> bool:
        """Return whether the shape can be [batch, tokens, dimension] or [batch, dimension].

        `tokens` is the second axis of the inputs.
        """
        if not self.is_float or (self.shape is not None and len(self.shape) not in (2, 3)):
            return False
        return self.shape is None or self.shape[-1] is None or self.shape[-1] != tokens


def choose_output(file: Path, outputs: Sequence[GraphOutput], *, tokens: Dimension, wanted: str | None) -> str:
    """Return the name of the output with the vectors. Unless exactly one fits, raise an EncoderError that lists
    them.
    """
    every, fitting = ", ".join(map(str, outputs)), [output for output in outputs if output.holds_vectors(tokens)]
    shapes = "a vector is floating point, [batch, tokens, dimension] or [batch, dimension]"
    if wanted is not None:
        if wanted not in {output.name for output in outputs}:
            raise EncoderError(f"{file}: {unknown_name_message('output', wanted, [output.name for output in outputs])}")
        if wanted not in {output.name for output in fitting}:
            raise EncoderError(f"{file}: the output {wanted} cannot be used: {shapes}. Available: {every}")
        return wanted

    plausible = [output.name for output in fitting if output.name not in SCORE_OUTPUTS]
    for names in (SENTENCE_OUTPUTS, TOKEN_OUTPUTS, plausible):
        chosen = [name for name in plausible if name in names]
        if len(chosen) == 1:
            return chosen[0]
        if chosen:
            break
    why = f"{len(chosen)} outputs fit, {' and '.join(chosen)}" if chosen else f"no output fits: {shapes}"
    remedy = "Remedy: name the one with the vectors: --model-arg output=NAME"
    raise EncoderError(f"{file}: {why}. Available: {every}. {remedy}")


def pool_token_vectors(states: Floats, mask: NDArray[np.int64], *, pooling: str) -> Floats:
    """Pool token vectors [n, tokens, d] into text vectors [n, d]. Tokens with mask 0 are padding, at the end."""
    if pooling == "cls":
        return states[:, 0]
    if pooling == "last":
        return np.asarray(states[np.arange(len(states)), np.maximum(mask.sum(axis=1) - 1, 0)])
    if pooling == "max":
        return np.asarray(np.where(mask[..., None] > 0, states, -np.inf).max(axis=1), np.float32)
    weights = mask[..., None].astype(np.float32)
    return np.asarray((states * weights).sum(axis=1) / np.maximum(weights.sum(axis=1), 1e-9), np.float32)


def pad_inputs(rows: Sequence[TokenRow], names: Sequence[str], file: Path) -> tuple[Inputs, NDArray[np.int64]]:
    """Return the inputs that the model needs, padded at the end with 0, and their mask.

    A row holds token ids and token types.
    """
    ids, mask, types = np.zeros((3, len(rows), max(1, *(len(row) for row, _ in rows), 1)), np.int64)
    for i, (row, kinds) in enumerate(rows):
        ids[i, : len(row)], mask[i, : len(row)], types[i, : len(row)] = row, 1, kinds
    known = {
        "input_ids": ids,
        "attention_mask": mask,
        "token_type_ids": types,
        "position_ids": np.tile(np.arange(ids.shape[1], dtype=np.int64), (len(rows), 1)),
    }
    if other := [name for name in names if name not in known]:
        raise EncoderError(
            f"{file} needs the input {other[0]!r}, but encheck provides: {', '.join(known)}. Remedy: export it for "
            f"texts"
        )
    return {name: known[name] for name in names}, mask


class OnnxEncoder(LocalEncoder):
    """A model that takes input_ids and returns one vector per token or per text.

    encheck pools token vectors and uses text vectors as they are. If several outputs may hold the vectors, the option
    `output` names the right one.
    """

    engine = "onnx-2"
    libraries: ClassVar[tuple[str, ...]] = ("onnxruntime", "onnxruntime-gpu", "tokenizers")

    def __init__(self, source: Path, config: ModelConfig, *, device: Device, file_hash: Callable[[Path], str]) -> None:
        super().__init__(source, config, device=device, file_hash=file_hash)
        self.file = find_onnx_file(source)
        self.folder = find_tokenizer_folder(self.file)
        self.weights = find_external_weights(self.file)
        self.tokenizer_file = self._tokenizer_path = self.folder / "tokenizer.json"
        self._stated = read_json_number(self.folder / "tokenizer_config.json", "model_max_length")
        self._takes_all = False  # every token that text can become, after the test
        self.pooling = config.pooling or read_stored_pooling(self.folder) or "mean"
        if self.pooling not in POOLINGS:
            raise ModelError(f"{self.file}: {unknown_name_message('pooling', self.pooling, POOLINGS)}")
        if not config.pooling and read_stored_pooling(self.folder):
            log.warning("%s", describe_pooling(config.label, self.folder))

    def fingerprint_files(self) -> Mapping[str, Path]:
        """Return the model, the tokenizer, and the separate weight files."""
        words = {name: path for name in TOKENIZER_FILES if (path := self.folder / name).exists()}
        return {
            "model": self.file,
            **words,
            **{f"{SEPARATE_WEIGHTS}{name}": path for name, path in self.weights.items()},
        }

    def fingerprint_settings(self) -> list[str]:
        """Return pooling, maximum length and dimension."""
        output = [f"output {name}" for name in self.config.options.values()]
        return [self.pooling, str(self.config.max_length), str(self.config.truncate_dim), *output]

    def about(self) -> dict[str, Json]:
        """Add the pooling."""
        return {**super().about(), "pooling": self.pooling, **self.config.options}

    @cached_property
    def session(self) -> Any:
        """The loaded model."""
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.log_severity_level, options.intra_op_num_threads = 4, thread_count()  # errors are raised
        try:
            session = onnxruntime.InferenceSession(str(self.file), options, providers=self._providers())
        except UsageError:
            raise
        except Exception as error:
            raise EncoderError(describe_engine_error(self.file, "ONNX Runtime", str(error))) from error
        self._refuse_fallback(session.get_providers())
        return session

    @cached_property
    def devices(self) -> list[str]:
        """The named GPU, or the first one, if ONNX Runtime computes on a GPU; otherwise the CPU."""
        first = self._providers()[0]
        if first == CPU:
            return ["cpu"]
        return [f"cuda:{first[1]['device_id']}" if isinstance(first, tuple) else "cuda"]

    def _providers(self) -> list[str | tuple[str, dict[str, str]]]:
        import onnxruntime

        there = onnxruntime.get_available_providers()
        self._refuse_fallback(there)
        if CUDA not in there or not self.device.name.startswith(("auto", "cuda")):
            return [CPU]
        number = self.device.name.partition(":")[2]
        return [(CUDA, {"device_id": number}) if number.isdigit() else CUDA, CPU]

    def _refuse_fallback(self, there: Sequence[str]) -> None:
        """Raise UsageError if a GPU was named that these providers lack.

        ONNX Runtime would silently use the CPU.
        """
        name = self.device.name
        if not name.startswith(("auto", "cpu")) and not (name.startswith("cuda") and CUDA in there):
            raise UsageError(
                f"--device={name}: ONNX Runtime has no provider for it here. Available: {', '.join(there)}. "
                "Remedy: pip install onnxruntime-gpu (for cuda), and its driver; or --device=cpu"
            )

    @cached_property
    def inputs(self) -> dict[str, tuple[Dimension, ...] | None]:
        """The shape of each input."""
        return {entry.name: tuple(entry.shape) or None for entry in self.session.get_inputs()}

    @property
    def outputs(self) -> list[GraphOutput]:
        """The outputs of the graph."""
        floats = ("tensor(float)", "tensor(float16)", "tensor(double)", "tensor(bfloat16)")
        every = self.session.get_outputs()
        return [
            GraphOutput(entry.name, entry.type, entry.type in floats, tuple(entry.shape) or None) for entry in every
        ]

    @cached_property
    def output(self) -> str:
        """The name of the output with the vectors."""
        shape = self.inputs.get("input_ids")
        tokens = shape[1] if shape and len(shape) == 2 else None
        return choose_output(self.file, self.outputs, tokens=tokens, wanted=self.config.options.get("output"))

    def infer(self, inputs: Inputs, output: str) -> Floats:
        """Return this output for one batch."""
        return np.asarray(self.session.run([output], inputs)[0], np.float32)

    @cached_property
    def tokenizer(self) -> Any:
        """The tokenizer. It does not pad, and it truncates at the maximum length."""
        from tokenizers import Tokenizer

        try:
            loaded = Tokenizer.from_file(str(self._tokenizer_path))
        except Exception as error:
            raise EncoderError(f"{self._tokenizer_path} cannot be loaded: {error}. {COPY}") from error
        loaded.no_padding()
        check_tokens_per_character(self._tokenizer_path, loaded)
        return loaded

    def accepts_token(self, token: int, names: Sequence[str]) -> bool:
        """Return whether the model has an embedding row for this token.

        The model runs on the token. If it fails on token 0 too, the token is not the cause.
        """

        def runs(token: int) -> bool:
            inputs, mask = pad_inputs([([token], [0])], names, self.file)
            try:
                self._compute_vectors(inputs, mask)
            except EncoderError:
                return False
            return True

        return runs(token) or not runs(0)

    @cached_property
    def maximum_length(self) -> int | None:
        """The value in the entry, or else the truncation in tokenizer.json, or else that in tokenizer_config.json."""
        truncation = read_json_value(self._tokenizer_path, "truncation", dict) or {}
        stated, in_tokenizer = self._stated, truncation.get("max_length")
        return self.config.max_length or in_tokenizer or (int(stated) if stated and stated < UNLIMITED else None)

    def compute(self, texts: list[str], prompt: str) -> Iterator[Batch]:
        """Encode batches of texts with the same length, starting with the longest."""
        names, _ = list(self.inputs), self.output
        largest = -1 if self._takes_all else largest_token_id(self._tokenizer_path)
        if largest >= 0 and not self.accepts_token(largest, names):
            raise EncoderError(
                f"{self._tokenizer_path} has token {largest}, but {self.file} no row of embeddings for it: "
                f"{OTHER_VOCABULARY}"
            )
        self._takes_all = True
        if limit := self.maximum_length:
            side = (self.tokenizer.truncation or {}).get("direction", "right")
            self.tokenizer.enable_truncation(limit, direction=side)
        made = self.tokenizer.encode_batch([f"{prompt}{text}" for text in texts])
        lengths = np.array([len(t.ids) for t in made])
        if limit:
            self.count_truncated_texts(sum(bool(t.overflowing) for t in made), len(texts), limit)

        def run(positions: Ints) -> Floats:
            inputs, mask = pad_inputs([(made[i].ids, made[i].type_ids) for i in positions], names, self.file)
            return self._compute_vectors(inputs, mask)[:, : self.config.truncate_dim]

        for positions in batch_equal_lengths(lengths, TOKENS_PER_BATCH["cpu"]):
            yield from run_or_halve_batch(run, positions)

    def _compute_vectors(self, inputs: Inputs, mask: NDArray[np.int64]) -> Floats:
        try:
            vectors = self.infer(inputs, self.output)
        except Exception as error:
            if is_out_of_memory(error):
                raise
            raise EncoderError(describe_engine_error(self.file, "this engine", str(error))) from error
        expected = {2: mask.shape[:1], 3: mask.shape}.get(vectors.ndim)
        if expected is None or vectors.shape[:-1] != expected:
            raise EncoderError(
                f"{self.file}: the output {self.output} has shape {vectors.shape} for texts and tokens of shape "
                f"{mask.shape}, but should have a vector for each text or token. Remedy: --model-arg output=NAME"
            )
        if vectors.ndim == 2 and self.config.pooling:
            raise EncoderError(
                f"{self.file}: the output {self.output} gives a vector for each text, but pooling is "
                f"{self.config.pooling}. Remedy: leave it out, or name an output of tokens: --model-arg output=NAME"
            )
        return vectors if vectors.ndim == 2 else pool_token_vectors(vectors, mask, pooling=self.pooling)


def describe_engine_error(file: Path, who: str, message: str) -> str:
    """Return the error's cause. If it is a custom operator, the message says that the operator is code."""
    text = " ".join(message.split())[:300]
    if "not a registered function/op" in text or "No Op registered" in text or "No conversion rule" in text:
        return (
            f"{file} uses an operator that is not part of ONNX, which is code that is not run: {text}. Remedy: "
            "export it with the operators of ONNX alone"
        )
    return f"{file} cannot be run by {who} ({text}): {CUT_OFF}, or a file of its own for this engine"


class OpenVinoEncoder(OnnxEncoder):
    """Runs the model on the CPU in float32. By default, OpenVINO uses bfloat16 on processors that support it."""

    engine = "openvino-2"
    libraries = ("openvino", "tokenizers")

    @cached_property
    def devices(self) -> list[str]:
        """The CPU."""
        return ["cpu"]

    @cached_property
    def graph(self) -> Any:
        """The model before it is compiled."""
        import openvino

        try:
            return openvino.Core().read_model(str(self.file))
        except Exception as error:
            raise EncoderError(describe_engine_error(self.file, "OpenVINO", str(error))) from error

    @cached_property
    def session(self) -> Any:
        """The compiled model."""
        import openvino

        how = {
            "INFERENCE_PRECISION_HINT": "f32",
            "PERFORMANCE_HINT": "LATENCY",
            "INFERENCE_NUM_THREADS": thread_count(),
        }
        try:
            return openvino.Core().compile_model(self.graph, "CPU", how)
        except EncoderError:
            raise
        except Exception as error:
            raise EncoderError(describe_engine_error(self.file, "OpenVINO", str(error))) from error

    @cached_property
    def inputs(self) -> dict[str, tuple[Dimension, ...] | None]:
        """The shape of each input. Variable dimensions have no names here."""
        return {entry.any_name: None for entry in self.session.inputs}

    @property
    def outputs(self) -> list[GraphOutput]:
        """The outputs of the graph."""
        outputs = []
        for output in self.session.outputs:
            rank, kind = output.partial_shape.rank, output.element_type
            sizes = () if rank.is_dynamic else output.partial_shape
            shape = tuple(size.get_length() if size.is_static else None for size in sizes)
            known = None if rank.is_dynamic else shape
            outputs.append(GraphOutput(output.any_name, kind.get_type_name(), kind.is_real(), known))
        return outputs

    def accepts_token(self, token: int, names: Sequence[str]) -> bool:
        """Return whether the table for input_ids has a row for this token, because OpenVINO reads beyond its end."""
        nodes = list(_consuming_nodes(self.graph.input("input_ids"))) if "input_ids" in names else []
        tables = [node.input(0).get_partial_shape()[0] for node in nodes if node.get_type_name() == "Gather"]
        return all(token < rows.get_length() for rows in tables if rows.is_static)

    def infer(self, inputs: Inputs, output: str) -> Floats:
        """Return this output for one batch."""
        return np.array(self.session(inputs)[self.session.output(output)], np.float32)


def _consuming_nodes(output: Any) -> Iterator[Any]:
    """Yield the operators that read an output, directly or after a conversion of its number type."""
    for use in output.get_target_inputs():
        node = use.get_node()
        yield from _consuming_nodes(node.output(0)) if node.get_type_name() == "Convert" else [node]


class DamagedError(EncheckError):
    """The bytes of a file are not valid protobuf."""


def read_external_locations(file: Path) -> list[str]:
    """Return the sorted names of the files that hold this model's tensors.

    Raise ModelError if the file is not an ONNX model.
    """
    names: set[str] = set()
    with file.open("rb") as opened, mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as data:
        try:
            left = MAX_FIELDS
            stack = [("model", (0, len(data)), 0)]
            while stack:
                kind, span, depth = stack.pop()
                if depth > MAX_DEPTH:
                    raise DamagedError(f"messages are nested {MAX_DEPTH} deep")
                if kind == "entry":
                    entry = {
                        number: data[slice(*inner)] for number, inner in _read_fields(data, span) if inner is not None
                    }
                    if entry.get(KEY) == b"location":  # the last value counts, as for all readers of protobuf
                        names.add(os.fsdecode(entry.get(VALUE, b"")))
                    continue
                for number, inner in _read_fields(data, span):
                    left -= 1
                    if left < 0:
                        raise DamagedError(f"it has more than {MAX_FIELDS:,} fields")
                    if inner is not None and (inner_kind := HOLDS[kind].get(number)):
                        stack.append((inner_kind, inner, depth + 1))
        except DamagedError as error:
            raise ModelError(f"{file} is not an ONNX model ({error}): {CUT_OFF}") from error
    return sorted(names)


def _read_fields(data: mmap.mmap, span: Span) -> Iterator[tuple[int, Span | None]]:
    """Yield each field of a message: its number, and the span of its bytes if it has any."""
    at, end = span
    while at < end:
        tag, at = _read_varint(data, at, end)
        number, wire = tag >> 3, tag & 7
        if not 0 < number < 1 << 29:
            raise DamagedError(f"there is no field {number}")
        if wire == VARINT:
            _, at = _read_varint(data, at, end)
            yield number, None
        elif wire == BYTES:
            size, at = _read_varint(data, at, end)
            yield number, (at, _require_within(at + size, end))
            at += size
        elif wire in WIDTH:
            at = _require_within(at + WIDTH[wire], end)
            yield number, None
        else:
            raise DamagedError(f"wire type {wire} of field {number} is not part of ONNX")


def _read_varint(data: mmap.mmap, at: int, end: int) -> tuple[int, int]:
    """Return a number in base 128, lowest digits first, and the position of the next byte."""
    value = 0
    for shift in range(0, 70, 7):
        byte = data[_require_within(at + 1, end) - 1]
        value, at = value | (byte & 127) << shift, at + 1
        if byte < 128:
            return value, at
    raise DamagedError("a number has more than ten bytes")


def _require_within(at: int, end: int) -> int:
    if at > end:
        raise DamagedError("it ends in the middle of a field")
    return at


def find_onnx_file(source: Path) -> Path:
    """Return the .onnx of a file or folder. Raise ModelError if there is none or it is empty."""
    candidates = [source] if source.is_file() else [source / name for name in FILES if (source / name).is_file()]
    candidates = candidates or sorted(source.glob("*.onnx"))
    if not candidates:
        raise ModelError(f"{source} has no .onnx file. Remedy: name the file, or a folder that holds model.onnx")
    if candidates[0].stat().st_size == 0:
        raise ModelError(f"{candidates[0]} is empty: {CUT_OFF}")
    return candidates[0]


def find_tokenizer_folder(file: Path) -> Path:
    """Return the folder with the tokenizer: the model's folder or its parent.

    Raise ModelError if the tokenizer is missing or belongs to another model.
    """
    around = (file.parent, file.parent.parent)
    folder = next((p for p in around if (p / "tokenizer.json").is_file()), file.parent)
    require_file(folder / "tokenizer.json", "the tokenizer", "Remedy: put it beside the .onnx")
    read_model_json(folder / "tokenizer.json", dict)
    check_vocabulary(folder)
    return folder


def find_external_weights(file: Path) -> Mapping[str, Path]:
    """Return the separate files that hold the model's weights.

    Raise ModelError if one of them is missing or outside the model's folder.
    """
    files, what = {}, f"{file} keeps weights in a file that is not beside it:"
    for name in read_external_locations(file):
        if any(path.anchor or ".." in path.parts for path in (PurePosixPath(name), PureWindowsPath(name))):
            raise ModelError(
                f"{file} points outside its folder ({name}), which is not followed. {COPY}, with its weights"
            )
        try:
            files[name] = require_file(file.parent / name, what, COPY)
        except OSError as error:  # a name that no file can have, or a folder that cannot be read
            raise ModelError(f"{what} {name[:200]!r}: {error.strerror}. {COPY}") from error
    return files
