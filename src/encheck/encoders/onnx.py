"""A bare .onnx with its tokenizer.json, run by ONNX Runtime. Custom operators are code, and are named, not run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from encheck.encoders.base import Batch
from encheck.encoders.batching import TOKENS_PER_BATCH, pack
from encheck.encoders.config import ModelConfig
from encheck.encoders.files import must_exist, read_json
from encheck.encoders.local import LocalEncoder
from encheck.errors import EncoderError, ModelError, unknown

if TYPE_CHECKING:
    from encheck.encoders.load import Device

Floats = NDArray[np.float32]
Inputs = dict[str, NDArray[np.int64]]
POOLINGS = ("cls", "mean", "max", "last")
SENTENCE = ("sentence_embedding", "sentence_embeddings", "text_embeds", "embeddings")
FILES = ("model.onnx", "onnx/model.onnx")


class OnnxEncoder(LocalEncoder):
    """A model of tokens: input_ids in, a vector a token (pooled here) or a vector a text (taken as it is) out."""

    engine = "onnx-1"

    def __init__(self, source: Path, config: ModelConfig, *, device: Device, file_hash: Callable[[Path], str]) -> None:
        super().__init__(source, config, device=device, file_hash=file_hash)
        self.file = _model_file(source)
        self.folder = next((p for p in (self.file.parent, self.file.parent.parent) if _tokenizer(p)), self.file.parent)
        must_exist(self.folder / "tokenizer.json", "the tokenizer", "Remedy: put it beside the .onnx")
        if self.file.stat().st_size == 0:
            raise ModelError(f"{self.file} is empty: was the copy cut off?")
        read_json(self.folder / "tokenizer.json", dict)
        self.pooling = config.pooling or _stored_pooling(self.folder)
        if self.pooling not in POOLINGS:
            raise ModelError(f"{self.file}: {unknown('pooling', self.pooling, POOLINGS)}")

    def content(self) -> Mapping[str, Path]:
        """Model, tokenizer, and weights that lie beside the model."""
        beside = [p for p in self.file.parent.iterdir() if p.suffix in (".onnx_data", ".data", ".bin")]
        return {"model": self.file, "tokenizer": self.folder / "tokenizer.json"} | {p.name: p for p in beside}

    def how(self) -> list[str]:
        """Pooling, maximum length and dimension."""
        return [self.pooling, str(self.config.max_length), str(self.config.truncate_dim)]

    def about(self) -> dict[str, Any]:
        """With the pooling."""
        return super().about() | {"pooling": self.pooling}

    @cached_property
    def session(self) -> Any:
        """The model, loaded."""
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        try:
            return onnxruntime.InferenceSession(str(self.file), options, providers=self._providers())
        except Exception as error:
            raise EncoderError(_said(self.file, "ONNX Runtime", str(error))) from error

    def _providers(self) -> list[str]:
        import onnxruntime

        there = onnxruntime.get_available_providers()
        cuda = ["CUDAExecutionProvider"] if self.device.name.startswith(("auto", "cuda")) else []
        return [p for p in (*cuda, "CPUExecutionProvider") if p in there]

    @cached_property
    def names(self) -> tuple[list[str], list[str]]:
        """The names of the inputs and of the outputs."""
        return [i.name for i in self.session.get_inputs()], [o.name for o in self.session.get_outputs()]

    def infer(self, inputs: Inputs, output: str) -> Floats:
        """One output for one batch."""
        return np.asarray(self.session.run([output], inputs)[0], np.float32)

    @cached_property
    def tokenizer(self) -> Any:
        """The tokenizer, without padding of its own, cut at the maximum length."""
        from tokenizers import Tokenizer

        try:
            found = Tokenizer.from_file(str(self.folder / "tokenizer.json"))
        except Exception as error:
            raise EncoderError(f"{self.folder}/tokenizer.json cannot be loaded: {error}") from error
        found.no_padding()
        return found

    @property
    def limit(self) -> int | None:
        """The most tokens of a text that are read; None where nothing says so."""
        said = read_json(self.folder / "tokenizer_config.json", dict).get("model_max_length")
        own = self.tokenizer.truncation["max_length"] if self.tokenizer.truncation else None
        return self.config.max_length or own or (int(said) if said and said < 1_000_000 else None)

    def compute(self, texts: list[str], prompt: str) -> Iterator[Batch]:
        """Sorted by tokens and packed by a budget, the longest first."""
        names, _ = self.names
        if limit := self.limit:
            self.tokenizer.enable_truncation(limit)
        made = self.tokenizer.encode_batch([f"{prompt}{text}" for text in texts])
        lengths = np.array([len(t.ids) for t in made])
        if limit:
            self.note_cut(int((lengths >= limit).sum()), len(texts), limit)
        for positions in pack(lengths, TOKENS_PER_BATCH["cpu"]):
            inputs, mask = _padded([made[i] for i in positions], names, self.file)
            yield positions, self._vectors(inputs, mask)[:, : self.config.truncate_dim]

    def _vectors(self, inputs: Inputs, mask: NDArray[np.int64]) -> Floats:
        _, outputs = self.names
        chosen = next((n for n in SENTENCE if n in outputs), outputs[0])
        try:
            found = self.infer(inputs, chosen)
        except EncoderError:
            raise
        except Exception as error:
            raise EncoderError(_said(self.file, "the run", str(error))) from error
        return found if found.ndim == 2 else pool(found, mask, pooling=self.pooling)


def pool(states: Floats, mask: NDArray[np.int64], *, pooling: str) -> Floats:
    """From [n, tokens, d] to [n, d]; tokens whose mask is 0 are padding, which stands at the end."""
    if pooling == "cls":
        return states[:, 0]
    if pooling == "last":
        return np.asarray(states[np.arange(len(states)), np.maximum(mask.sum(axis=1) - 1, 0)])
    if pooling == "max":
        return np.asarray(np.where(mask[..., None] > 0, states, -np.inf).max(axis=1), np.float32)
    weights = mask[..., None].astype(np.float32)
    return np.asarray((states * weights).sum(axis=1) / np.maximum(weights.sum(axis=1), 1e-9), np.float32)


def _padded(made: Sequence[Any], names: Sequence[str], file: Path) -> tuple[Inputs, NDArray[np.int64]]:
    """The inputs that the model asks for, padded at the end with 0; and the mask."""
    width = max(1, *(len(t.ids) for t in made)) if len(made) > 1 else max(1, len(made[0].ids))

    def filled(column: Callable[[Any], Sequence[int]]) -> NDArray[np.int64]:
        out = np.zeros((len(made), width), np.int64)
        for row, tokens in zip(out, made, strict=True):
            row[: len(tokens.ids)] = column(tokens)
        return out

    mask = filled(lambda t: [1] * len(t.ids))
    known = {
        "input_ids": filled(lambda t: t.ids),
        "attention_mask": mask,
        "token_type_ids": filled(lambda t: t.type_ids),
        "position_ids": np.tile(np.arange(width, dtype=np.int64), (len(made), 1)),
    }
    if other := [name for name in names if name not in known]:
        raise EncoderError(f"{file} asks for the input {other[0]!r}, but there are: {', '.join(known)}")
    return {name: known[name] for name in names}, mask


def _model_file(source: Path) -> Path:
    if source.is_file():
        return source
    found = [source / name for name in FILES if (source / name).is_file()] or sorted(source.glob("*.onnx"))
    if not found:
        raise ModelError(f"{source} has no .onnx file")
    return found[0]


def _tokenizer(folder: Path) -> bool:
    return (folder / "tokenizer.json").is_file()


def _stored_pooling(folder: Path) -> str:
    """What a sentence-transformers folder beside it says, else mean."""
    stored = read_json(folder / "1_Pooling" / "config.json", dict)
    modes = {"cls": "pooling_mode_cls_token", "max": "pooling_mode_max_tokens", "last": "pooling_mode_lasttoken"}
    return next((name for name, key in modes.items() if stored.get(key)), stored.get("pooling_mode") or "mean")


def _said(file: Path, who: str, message: str) -> str:
    """What went wrong, with a custom operator named as the code that it is."""
    text = " ".join(message.split())[:300]
    if "not a registered function/op" in text or "No Op registered" in text or "No conversion rule" in text:
        return f"{file} asks for an operator that ONNX does not have, code of its own, which is not run: {text}"
    return (
        f"{file} cannot be run by {who} ({text}). Was the copy cut off, or does the tokenizer belong to another model?"
    )
