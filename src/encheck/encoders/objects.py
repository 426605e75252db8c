"""Wrap models in memory as models under test.

A `SentenceTransformer`, a `CrossEncoder`, and a transformers model with its tokenizer compute as their files would, and
are identified by their weights. encheck cannot identify other objects and models with code of their own, so it computes
their vectors again in every run.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import sys
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property, partial
from pathlib import Path, PurePath
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from encheck.encoders.base import Floats, LocalEncoder, Pair, TextEncoder, value_for_role
from encheck.encoders.checkpoints.pretrained import LIBRARIES
from encheck.encoders.checkpoints.sentence_transformers import SentenceTransformerEncoder
from encheck.encoders.checkpoints.transformers import TransformersEncoder
from encheck.encoders.model_config import ModelConfig
from encheck.encoders.pair_scorers import CrossEncoderScorer, index_of_positive_class
from encheck.encoders.protocol import ROW_A_TEXT, Batch, Encoder, Model, PairScorer, check_vectors
from encheck.encoders.settings import UNLIMITED
from encheck.errors import EncoderError
from encheck.similarity import SIMILARITIES
from encheck.types import Json, content_hash

UNIDENTIFIED = "object:"  # prefix of fingerprints of objects without an identity: the store forgets them after the run
ACCEPTED = (
    "a name in models.yaml, a path, a hub id, a SentenceTransformer, a CrossEncoder, a transformers model with its "
    "tokenizer as (model, tokenizer), an MTEB encoder, an object with encode(texts), a function from texts to vectors, "
    "or a sequence of these"
)


def model_object_name(candidate: object) -> str:
    """Return the name of a model in memory: its folder or hub id, its function or its class."""
    model: Any = candidate[0] if isinstance(candidate, tuple) else candidate
    if inspect.isroutine(candidate):
        return candidate.__name__ if candidate.__name__ != "<lambda>" else "function"
    first: Any = (
        next(iter(model), None)
        if _is_instance_of_imported("sentence_transformers", "SentenceTransformer", model)
        else model
    )
    for holder in (first, getattr(first, "auto_model", None), getattr(first, "model", None)):
        path = getattr(getattr(holder, "config", None), "_name_or_path", "")
        if isinstance(path, str) and PurePath(path).name:
            return PurePath(path).name
    return type(model).__name__


def wrap_model_object(candidate: object, name: str) -> Model:
    """Return the object as a model under test. For an unsupported object, raise a TypeError that lists the supported
    types.
    """
    if (
        isinstance(candidate, tuple)
        and len(candidate) == 2
        and _is_torch_module(candidate[0])
        and callable(candidate[1])
    ):
        return LoadedTransformer(*candidate, name)
    if _is_instance_of_imported("sentence_transformers", "SentenceTransformer", candidate):
        return LoadedSentenceTransformer(candidate, name)
    if _is_instance_of_imported("sentence_transformers", "CrossEncoder", candidate):
        return LoadedCrossEncoder(candidate, name)
    if hasattr(candidate, "mteb_model_meta") and callable(getattr(candidate, "encode", None)):
        wrapped = _wrap_mteb_model(candidate)
        return EncodingObject(wrapped.encode, name, wrapped)
    if callable(getattr(candidate, "fingerprint", None)) and isinstance(candidate, Encoder | PairScorer):
        return candidate
    if callable(encode := getattr(candidate, "encode", None)):
        return EncodingObject(encode, name, candidate)
    if callable(candidate) and not isinstance(candidate, type) and not _is_torch_module(candidate):
        return EncodingObject(candidate, name)
    alone = " Give a transformers model with its tokenizer: (model, tokenizer)." if _is_torch_module(candidate) else ""
    raise TypeError(f"{type(candidate).__name__} is not a model.{alone} A model is {ACCEPTED}")


def _is_instance_of_imported(package: str, name: str, candidate: object) -> bool:
    """Return whether the object's class comes from a package that is already imported. Nothing is imported."""
    module = sys.modules.get(package)
    return module is not None and isinstance(candidate, getattr(module, name, ()))


def _is_torch_module(candidate: object) -> bool:
    return (torch := sys.modules.get("torch")) is not None and isinstance(candidate, torch.nn.Module)


def _module_fingerprint(kind: str, model: Any, *settings: str) -> str:
    """Return a hash of the settings, the classes of a torch module's parts, its active adapters and its state.

    Only the code of a class from outside `LIBRARIES` shows what it computes, so such a model has no identity: the
    fingerprint is new in every call. After its last colon is the hash.
    """
    digest, is_known = hashlib.sha256(), True
    for name, part in model.named_modules():
        if type(part).__module__.partition(".")[0].replace("_", "-") not in LIBRARIES:
            is_known = False
        digest.update(f"{name} {type(part).__module__} {type(part).__qualname__}".encode())
        if _is_instance_of_imported("peft.tuners.tuners_utils", "BaseTunerLayer", part):
            digest.update(f"{part.active_adapters} {part.disable_adapters} {getattr(part, 'scaling', '')}".encode())
    for name, value in sorted(model.state_dict().items()):
        if hasattr(value, "detach"):
            plain = value.detach().cpu().contiguous()
            digest.update(f"{name} {plain.dtype} {tuple(plain.shape)}".encode())
            digest.update(plain.flatten().view(sys.modules["torch"].uint8).numpy().tobytes())
        else:
            digest.update(f"{name} {value!r}".encode())
    new = "" if is_known else f"{UNIDENTIFIED}{uuid.uuid4().hex}:"
    return f"{new}{kind}:{content_hash(*settings, digest.hexdigest())}"


def _serialize_tokenizer(tokenizer: Any) -> str:
    """Return text that determines a tokenizer's behaviour: the definition of a fast tokenizer, or else class and
    vocabulary.
    """
    if (backend := getattr(tokenizer, "backend_tokenizer", None)) is not None:
        whole = json.loads(backend.to_str())
        return json.dumps({**whole, "truncation": None, "padding": None})  # both are as the last call left them
    vocabulary = tokenizer.get_vocab() if hasattr(tokenizer, "get_vocab") else {}
    return f"{type(tokenizer).__qualname__} {sorted(vocabulary.items())}"


@contextmanager
def _evaluation_mode(model: Any) -> Iterator[None]:
    """Put the module into evaluation mode. At the end, restore each part's mode, so that training can continue."""
    modes = [(part, part.training) for part in model.modules()]
    model.eval()
    try:
        yield
    finally:
        for part, is_training in modes:
            part.training = is_training


class _InMemory(LocalEncoder):
    """An encoder that is in memory. `tokenizer` is its tokenizer."""

    tokenizer: Any

    def fingerprint_files(self) -> Mapping[str, Path]:
        """Return an empty mapping, because the model has no files."""
        return {}

    def describe_truncated_texts(self, texts: Sequence[str]) -> str:
        """Return a message that says how many of these texts the model truncates, or "" if it truncates none."""
        limit, prompted = self.maximum_length, [f"{self.prompt}{text}" for text in texts]
        cut = sum(len(ids) > limit for ids in self.tokenizer(prompted)["input_ids"]) if limit else 0
        return f"{cut} of {len(texts)} texts are longer than {limit} tokens: max_seq_length is {limit}" if cut else ""


class LoadedSentenceTransformer(_InMemory, SentenceTransformerEncoder):
    """A `SentenceTransformer` in memory, on its current device and with its own prompts."""

    def __init__(self, model: Any, name: str) -> None:
        TextEncoder.__init__(self, ModelConfig(label=name, name=name))
        self.name = self.place = name
        prompts = {key: text or "" for key, text in (model.prompts or {}).items()}
        self.prompt = prompts.get(model.default_prompt_name or "", "")
        self.prompts = {name: text for name, text in prompts.items() if text}
        if self.prompt:  # a role without a prompt has none, not the default
            self.prompts |= {role: value_for_role(self.prompts, role, "") for role in ("query", "document")}
        self.similarity = str(getattr(model.similarity_fn_name, "value", model.similarity_fn_name) or "cosine")
        self.output_dimension = model.truncate_dim
        self.models, self.tokenizer = [model], model.tokenizer
        self.devices = [str(model.device)]
        self.maximum_length = model.max_seq_length
        self.tokenizer_file = None
        self.is_normalised = any(type(module).__name__ == "Normalize" for module in model)
        self.has_routes = any(type(module).__name__ in ("Router", "Asym") for module in model)

    @cached_property
    def _fingerprint(self) -> str:
        model, first = self.model, self.model[0]
        every: list[Any] = list(model)
        settings = (module.get_config_dict() if hasattr(module, "get_config_dict") else {} for module in every)
        modules = [
            f"{type(module).__qualname__} {json.dumps(setting, sort_keys=True, default=str)}"
            for module, setting in zip(every, settings, strict=True)
        ]
        config = getattr(getattr(first, "auto_model", None), "config", None)
        how = [
            self.prompt,
            json.dumps(self.prompts, sort_keys=True),
            str(model.max_seq_length),
            str(self.output_dimension),
        ]
        parts = [
            self.engine,
            *how,
            *modules,
            config.to_json_string() if config else "",
            _serialize_tokenizer(model.tokenizer),
        ]
        return _module_fingerprint("sentence-transformers", model, *parts)

    def about(self) -> dict[str, Json]:
        """Add that the model is in memory."""
        cut = {"truncate_dim": self.output_dimension} if self.output_dimension else {}
        return TextEncoder.about(self) | {"loaded": "in memory"} | cut

    def compute(self, texts: list[str], prompt: str, task: str | None = None) -> Iterator[Batch]:
        """Compute as the model's files would."""
        with _evaluation_mode(self.model):
            yield from super().compute(texts, prompt, task)


class LoadedTransformer(_InMemory, TransformersEncoder):
    """A transformers model and its tokenizer in memory, with mean pooling."""

    def __init__(self, model: Any, tokenizer: Any, name: str) -> None:
        TextEncoder.__init__(self, ModelConfig(label=name, name=name))
        self.name = self.place = name
        self.pooling, self.head, self.layers = "mean", None, [-1]
        self._model = model.get_encoder() if model.config.is_encoder_decoder else model
        self.models, self.tokenizer, self.devices = [self._model], tokenizer, [str(self._model.device)]
        room = getattr(self._model.config, "max_position_embeddings", None) or UNLIMITED
        self.limit = int(min(tokenizer.model_max_length, room, UNLIMITED))
        self.maximum_length = self.limit if self.limit < UNLIMITED else None
        self.tokenizer_file = None

    @cached_property
    def _fingerprint(self) -> str:
        parts = [self.engine, self.pooling, self._model.config.to_json_string(), _serialize_tokenizer(self.tokenizer)]
        return _module_fingerprint("transformers", self._model, *parts)

    def about(self) -> dict[str, Json]:
        """Add the pooling, and that the model is in memory."""
        return TextEncoder.about(self) | {"loaded": "in memory", "pooling": self.pooling}

    def compute(self, texts: list[str], prompt: str) -> Iterator[Batch]:
        """Compute as the model's files would."""
        with _evaluation_mode(self._model):
            yield from super().compute(texts, prompt)


class LoadedCrossEncoder(CrossEncoderScorer):
    """A `CrossEncoder` in memory."""

    def __init__(self, model: Any, name: str) -> None:
        self.config = ModelConfig(label=name, name=name, max_length=model.max_seq_length)
        self.source, self.direction = Path(name), "forward"
        self.name = self.place = name
        self._config = model.config
        self.model, self.tokenizer = model.model, model.tokenizer
        self.positions = getattr(model.config, "max_position_embeddings", None)
        self.devices = [str(self.model.device)]
        labels = model.config.id2label or {}
        self.classes = [str(labels[key]) for key in sorted(labels)] or ["LABEL_0"]
        self.positive = index_of_positive_class(self.classes, self.config, self.source)
        self.activation = "identity" if type(model.activation_fn).__name__ == "Identity" else "sigmoid"

    @cached_property
    def _fingerprint(self) -> str:
        how = [str(self.config.max_length), str(self.positive), self.activation, self._config.to_json_string()]
        return _module_fingerprint("cross-encoder", self.model, self.engine, *how, _serialize_tokenizer(self.tokenizer))

    def fingerprint_files(self) -> Mapping[str, Path]:
        """Return an empty mapping, because the model has no files."""
        return {}

    def about(self) -> dict[str, Json]:
        """Return the settings with which this run uses the model, and that it is in memory."""
        return {"direction": self.direction, "loaded": "in memory"}

    def compute(self, pairs: Sequence[Pair]) -> Floats:
        """Compute as the model's files would."""
        with _evaluation_mode(self.model):
            return super().compute(pairs)


class EncodingObject:
    """A function from texts to vectors, or an object with `encode`.

    The similarity is cosine unless the object states another one. If the object has `encode_query` and
    `encode_document`, they encode queries and documents.
    """

    def __init__(self, encode: Callable[..., object], name: str, owner: object = None) -> None:
        self.name = self.place = name
        self._encode, self._owner = encode, owner
        stated = getattr(owner, "similarity", None)
        self.similarity = stated if isinstance(stated, str) and stated in SIMILARITIES else "cosine"
        self._fingerprint = f"{UNIDENTIFIED}{uuid.uuid4().hex}"

    def fingerprint(self) -> str:
        """Return a new fingerprint for each object, because the object does not show what it computes."""
        return self._fingerprint

    def encode(self, texts: Sequence[str], *, role: str | None = None) -> NDArray[np.float32]:
        """Return the vectors of the texts, shape [n, d].

        Raise EncoderError unless the object returns an array of numbers with one row per text.
        """
        encode = getattr(self._owner, f"encode_{role}", None) or self._encode
        try:
            made = to_numpy(encode(list(texts)))
        except Exception as error:
            raise EncoderError(f"{self.name}(texts) raised {error!r}. {ROW_A_TEXT}") from error
        try:
            return check_vectors(made, texts)
        except EncoderError as error:
            raise EncoderError(f"{self.name}: {error}. {ROW_A_TEXT}") from error


def to_numpy(made: Any) -> Any:
    """Return arrays, lists and tensors (on any device, dense or sparse) as numpy arrays."""
    if isinstance(made, list | tuple) and made and hasattr(made[0], "detach"):
        return np.stack([to_numpy(part) for part in made])
    if hasattr(made, "detach"):
        dense = made.detach().to_dense() if made.layout != sys.modules["torch"].strided else made.detach()
        return dense.float().cpu().numpy()
    return made


def _wrap_mteb_model(model: Any) -> SimpleNamespace:
    """Return the encoding functions of an MTEB model: for texts as in STSBenchmark, for queries and documents as in
    MSMARCO.
    """
    import mteb
    from datasets import Dataset
    from mteb.types import PromptType
    from torch.utils.data import DataLoader

    def encode(task: str, role: Any, texts: list[str]) -> object:
        loader: Any = DataLoader(Dataset.from_dict({"text": texts}), batch_size=32)
        how = {"task_metadata": tasks[task], "prompt_type": role, "show_progress_bar": False}
        return model.encode(loader, hf_split="test", hf_subset="default", **how)

    tasks = {name: mteb.get_task(name).metadata for name in ("STSBenchmark", "MSMARCO")}
    return SimpleNamespace(
        encode=partial(encode, "STSBenchmark", None),
        encode_query=partial(encode, "MSMARCO", PromptType.query),
        encode_document=partial(encode, "MSMARCO", PromptType.document),
        similarity=getattr(model.mteb_model_meta.similarity_fn_name, "value", None),
    )
