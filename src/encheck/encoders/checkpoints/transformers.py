"""Load transformers checkpoints with AutoModel, and PEFT adapters on them, and pool their vectors.

Pooling turns the vectors of tokens into the vector of a text. Tensors are [n, tokens, d] and masks [n, tokens],
float32.
"""

from __future__ import annotations

import copy
import gc
import logging
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from encheck.encoders.adapters import POOLINGS
from encheck.encoders.base import LocalEncoder
from encheck.encoders.batching import (
    TOKENS_PER_BATCH,
    batch_equal_lengths,
    pick_devices,
    run_on_replicas,
    select_rows,
)
from encheck.encoders.checkpoints.folders import describe_pooling, pooling_config_path, read_stored_pooling
from encheck.encoders.checkpoints.pretrained import (
    LIBRARIES,
    check_embedding_rows,
    check_folder,
    check_loaded_weights,
    check_max_length,
    check_padding_token,
    checkpoint_files,
    count_positions,
    count_truncated,
    limit_model_size,
    quiet_transformers,
)
from encheck.encoders.checkpoints.trust import refuse_code
from encheck.encoders.files import (
    WHOLE,
    check_tokens_per_character,
    check_weights_file,
    read_json_number,
    read_json_value,
)
from encheck.encoders.model_config import Device, ModelConfig
from encheck.encoders.protocol import Batch
from encheck.encoders.settings import UNLIMITED
from encheck.errors import EncoderError, ModelError
from encheck.system.files import expand_home, is_folder
from encheck.types import Json

if TYPE_CHECKING:
    from torch import Tensor

log = logging.getLogger("encheck")


def mean_over_tokens(states: Tensor, mask: Tensor) -> Tensor:
    """Return the mean over tokens other than padding, shape [n, d]."""
    weights = mask.unsqueeze(-1).to(states.dtype)
    return (states * weights).sum(dim=1) / weights.sum(dim=1).clamp(min=1e-9)


def pool_hidden_states(hidden: Sequence[Tensor], mask: Tensor, *, pooling: str, layers: Sequence[int] = ()) -> Tensor:
    """Pool the hidden states of all layers, shape [n, d]. The first item of `hidden` is the embeddings.

    `first-last-avg` is the mean over tokens of the first and the last layer's states (SimCSE's `avg_first_last`).
    `layers` is the mean of the given layers, where 0 is the embeddings and -1 the last layer. Padding on either side is
    ignored: `cls` takes the first token other than padding, `last` the last, `max` the largest value of each dimension.
    """
    import torch

    if pooling == "first-last-avg":
        return pool_hidden_states(hidden, mask, pooling="layers", layers=(1, -1))
    if pooling == "layers":
        chosen = sum(hidden[layer].float() for layer in layers) / len(layers)
        return mean_over_tokens(chosen, mask)  # type: ignore[arg-type]
    states = hidden[-1].float()
    if pooling == "mean":
        return mean_over_tokens(states, mask)
    if pooling == "max":
        return states.masked_fill(mask.unsqueeze(-1) == 0, float("-inf")).max(dim=1).values
    places = mask.long() if pooling == "cls" else mask.long() * torch.arange(1, mask.shape[1] + 1, device=mask.device)
    return states[torch.arange(len(states), device=states.device), places.argmax(dim=1)]


class TransformersEncoder(LocalEncoder):
    """A checkpoint that AutoModel loads.

    `pooling` defaults to that of 1_Pooling/config.json, or else to the mean. `head: mlp` uses the pooler's output
    (dense layer and tanh on the first token), as published by SimCSE's authors.
    """

    engine = "transformers-1"
    libraries = LIBRARIES
    is_normalised = False  # pooled vectors keep their length

    def __init__(self, source: Path, config: ModelConfig, *, device: Device, file_hash: Callable[[Path], str]) -> None:
        super().__init__(source, config, device=device, file_hash=file_hash)
        self.head: str | None = config.options.get("head")
        self.layers: list[int] = config.options.get("layers", [-1])
        self.check_files()
        has_tokenizer = (source / "tokenizer_config.json").exists()  # an adapter may leave the tokenizer in its base
        self._tokenizer_folder = source if has_tokenizer else self.base
        file = self._tokenizer_folder / "tokenizer.json"
        self.tokenizer_file = file if file.is_file() else None
        self.pooling: str = config.pooling or (None if self.head else self.find_stored_pooling()) or "mean"
        count = read_json_value(self.base / "config.json", "num_hidden_layers", int)
        if bad := [i for i in self.layers if not isinstance(i, int) or (count and not -count - 1 <= i <= count)]:
            raise ModelError(
                f"layers holds {bad[0]!r}, but {self.base} has layers -{count} to {count}, 0 the embeddings"
            )
        if "layers" in config.options and self.pooling != "layers":
            raise ModelError(f"layers has no effect with pooling {self.pooling!r}: set pooling: layers too")
        if self.head and config.pooling not in (None, "cls"):
            raise ModelError(f"head: mlp reads the first token: set pooling: cls with it, not {self.pooling}")

    @property
    def base(self) -> Path:
        """The folder of the complete model."""
        return self.source

    def check_files(self) -> None:
        """Raise ModelError if the folder cannot be loaded."""
        check_folder(self.base, trusted=self.config.trust_remote_code, marks=("config.json",))
        check_max_length(self.base, self.config.max_length)

    def find_stored_pooling(self) -> str | None:
        """Return and log the pooling that the folder or an adapter's base states, or None if neither states one."""
        folder = next((place for place in (self.source, self.base) if pooling_config_path(place).is_file()), None)
        if folder is None or (pooling := read_stored_pooling(folder)) is None:
            return None
        if pooling not in POOLINGS:
            raise ModelError(
                f"{pooling_config_path(folder)} pools by {pooling}, which this adapter does not support. "
                f"Remedy: name a supported one, --model-arg pooling=NAME: {', '.join(POOLINGS)}"
            )
        log.warning("%s", describe_pooling(self.config.label, folder))
        return pooling

    def fingerprint_files(self) -> Mapping[str, Path]:
        """Return every file of the folder that determines vectors."""
        return checkpoint_files(self.source, code=self.config.trust_remote_code)

    def fingerprint_settings(self) -> list[str]:
        """Return pooling, maximum length, dtype and dimension."""
        pooling = f"{self.pooling} {self.layers} {self.head}"
        return [pooling, str(self.config.max_length), self.dtype, str(self.config.truncate_dim)]

    def about(self) -> dict[str, Json]:
        """Add the pooling."""
        pooling = f"layers {self.layers}" if self.pooling == "layers" else self.pooling
        return super().about() | {"pooling": "cls with the MLP head" if self.head else pooling}

    @cached_property
    def tokenizer(self) -> Any:
        """The checkpoint's tokenizer."""
        from transformers import AutoTokenizer

        trusted = self.config.trust_remote_code
        loaded: Any = AutoTokenizer.from_pretrained(
            str(self._tokenizer_folder), trust_remote_code=trusted, local_files_only=True
        )
        if loaded.pad_token is None:  # decoders have none; padding is masked, so any token will do
            loaded.pad_token = loaded.eos_token
        return loaded

    @cached_property
    def devices(self) -> list[str]:
        """The devices that the model computes on."""
        return pick_devices(self.device.name)

    @cached_property
    def models(self) -> list[Any]:
        """The loaded model in evaluation mode, one copy per device."""
        gc.freeze()  # each full collection would walk a million imported objects again
        first, *others = self.devices
        try:
            with quiet_transformers(), limit_model_size(self.source, self.base):
                model = self.load_onto_cpu().to(first).eval()
            _ = self.tokenizer
        except EncoderError:
            raise
        except Exception as error:
            raise EncoderError(f"transformers cannot load {self.source}: {error}. {WHOLE}") from error
        check_padding_token(self._tokenizer_folder, self.tokenizer)
        check_tokens_per_character(self._tokenizer_folder, self.tokenizer)
        check_embedding_rows(self._tokenizer_folder, self.tokenizer, model.get_input_embeddings().weight.shape[0])
        return [model, *(copy.deepcopy(model).to(device) for device in others)]

    def load_onto_cpu(self) -> Any:
        """Return the model on the CPU.

        Raise EncoderError if a weight is missing, because it would be initialised at random.
        """
        import torch
        from transformers import AutoModel

        model, info = AutoModel.from_pretrained(
            str(self.base),
            dtype=getattr(torch, self.dtype),
            trust_remote_code=self.config.trust_remote_code,
            local_files_only=True,
            output_loading_info=True,
        )
        has_decoder = hasattr(model, "encoder") and hasattr(model, "decoder")  # a T5 may lack the setting
        used = model.get_encoder() if model.config.is_encoder_decoder or has_decoder else model
        remedy = f"{WHOLE}, or leave `head: mlp` out" if self.head else WHOLE
        check_loaded_weights(self.base, used, model, info, pooler=bool(self.head), remedy=remedy)
        return used

    @cached_property
    def limit(self) -> int:
        """The maximum number of tokens read from a text.

        It is the least of `max_length`, the tokenizer's limit and the number of positions.
        """
        limits = [self.config.max_length or self.tokenizer.model_max_length, count_positions(self.base) or UNLIMITED]
        return int(min(*limits, UNLIMITED))

    @cached_property
    def maximum_length(self) -> int | None:
        """The same as `limit`, but read from the files without loading the tokenizer."""
        stated = read_json_number(self._tokenizer_folder / "tokenizer_config.json", "model_max_length")
        smallest = min(self.config.max_length or stated or UNLIMITED, count_positions(self.base) or UNLIMITED)
        return int(smallest) if smallest < UNLIMITED else None

    def compute(self, texts: list[str], prompt: str) -> Iterator[Batch]:
        """Encode batches of texts with the same length, starting with the longest."""
        models, limit = self.models, self.limit
        encoded = self.tokenizer([f"{prompt}{text}" for text in texts], truncation=True, max_length=limit)
        self.count_truncated_texts(count_truncated(encoded, limit), len(texts), limit)
        features = dict(encoded)
        for i, ids in enumerate(features["input_ids"]):
            if not ids:  # an end token replaces a text without tokens, as for decoders
                only = {"input_ids": self.tokenizer.eos_token_id or self.tokenizer.pad_token_id, "attention_mask": 1}
                for name in features:
                    features[name][i] = [only.get(name, 0)]
        lengths = np.array([len(ids) for ids in features["input_ids"]])
        budget = TOKENS_PER_BATCH.get(models[0].device.type, TOKENS_PER_BATCH["cpu"])
        yield from run_on_replicas(
            models,
            batch_equal_lengths(lengths, budget),
            lambda model, at: self._encode_batch(model, select_rows(features, at)),
        )

    def _encode_batch(self, model: Any, rows: dict[str, list[Any]]) -> NDArray[np.float32]:
        import torch

        padded = self.tokenizer.pad(rows, return_tensors="pt").to(model.device)
        with torch.inference_mode():
            made = model(**padded, output_hidden_states=True)
            hidden, mask = made.hidden_states, padded["attention_mask"]
            vectors = (
                made.pooler_output
                if self.head
                else pool_hidden_states(hidden, mask, pooling=self.pooling, layers=self.layers)
            )
        pooled: NDArray[np.float32] = vectors[:, : self.config.truncate_dim].float().cpu().numpy()
        return pooled


def check_adapter_weights(source: Path, bases: Mapping[str, Path], model: Any) -> None:
    """Raise EncoderError if an adapter inside a checkpoint does not fit the `model` on which transformers has put it.

    `bases` maps the folder of each adapter, relative to `source`, to the folder of its base.
    """
    if not getattr(model, "_hf_peft_config_loaded", False):
        return
    from peft import load_peft_weights

    prefix = "base_model.model."
    places = {name.removeprefix(prefix) for name in model.get_adapter_state_dict()}
    for folder, base in bases.items():
        stored = {name.removeprefix(prefix) for name in load_peft_weights(str(source / folder), device="cpu")}
        refuse_unmatched_weights(source / folder, base, unexpected=stored - places, missing=places - stored)


def refuse_unmatched_weights(adapter: Path, base: Path, *, unexpected: set[str], missing: set[str]) -> None:
    """Raise EncoderError if the base has no place for a weight of the adapter, or the adapter lacks a necessary
    weight.
    """
    for what, names in {"the base has no place for": unexpected, "the adapter lacks": missing}.items():
        if names:
            raise EncoderError(
                f"the adapter {adapter} does not fit its base {base}: {what} {len(names)} weights, first {min(names)}. "
                f"{WHOLE}"
            )


class PeftEncoder(TransformersEncoder):
    """An adapter_config.json and adapter_model.safetensors on a base model.

    The option `base` or the adapter_config.json names the base.
    """

    engine = "peft-2"

    def check_files(self) -> None:
        """Raise ModelError if the adapter or its base cannot be loaded."""
        if not (self.source / "adapter_config.json").is_file():
            raise ModelError(f"{self.source} is not a PEFT adapter: it has no adapter_config.json")
        weights = [p for p in self.source.glob("adapter_model.*") if p.suffix in (".safetensors", ".bin")]
        if not weights:
            raise ModelError(f"{self.source} has no weights: a PEFT adapter holds adapter_model.safetensors")
        for path in weights:
            check_weights_file(path)
        refuse_code(self.source)
        super().check_files()

    @cached_property
    def base(self) -> Path:
        """The folder of the base model.

        Its name is a path, relative to the working directory or the adapter, or a hub id in the cache.
        """
        from encheck.encoders.load import find_model_folder

        file = self.source / "adapter_config.json"
        named = self.config.options.get("base") or read_json_value(file, "base_model_name_or_path", str)
        if not named:
            raise ModelError(f"{self.source}/adapter_config.json names no base model. Give one: --model-arg base=PATH")
        for folder in (expand_home(named), self.source / named):
            if is_folder(folder):
                return folder
        try:
            return find_model_folder(
                ModelConfig(self.config.label, name=named, revision=read_json_value(file, "revision", str))
            )
        except ModelError as error:
            raise ModelError(f"the base of {self.source}: {error}. Or give its path: --model-arg base=PATH") from error

    def fingerprint_files(self) -> Mapping[str, Path]:
        """Return the files of the adapter and of its base."""
        own = {f"adapter/{name}": path for name, path in checkpoint_files(self.source).items()}
        return own | {f"base/{name}": path for name, path in checkpoint_files(self.base).items()}

    def load_onto_cpu(self) -> Any:
        """Return the base model with the adapter on it. Raise EncoderError unless every weight of the adapter fits."""
        from peft import PeftModel, get_peft_model_state_dict, load_peft_weights

        base, source, misfit = (
            super().load_onto_cpu(),
            str(self.source),
            f"{self.source} does not fit its base {self.base}",
        )
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", FutureWarning)  # peft calls transformers by an older name
                warnings.filterwarnings("ignore", "Found missing adapter keys")  # an error below
                model = PeftModel.from_pretrained(base, source)
                # It does not return which keys fitted, so the same weights are loaded once more.
                mapping = getattr(base, "_checkpoint_conversion_mapping", {})
                keys = model.load_adapter(source, "default", key_mapping=mapping)
            stored = load_peft_weights(source, device="cpu")
        except (RuntimeError, ValueError, KeyError) as error:
            why = f"it lacks {error}" if isinstance(error, KeyError) else " ".join(str(error).split())[:300]
            raise EncoderError(f"the adapter {misfit}: {why}. {WHOLE}") from error

        state, missing = model.state_dict(), {*keys.missing_keys}
        loaded = {tensor.data_ptr() for name, tensor in state.items() if name not in missing}
        missing = {name for name in missing if state[name].data_ptr() not in loaded}  # others share a tensor
        biases = {name for name in get_peft_model_state_dict(model) if name.endswith(".bias")}
        prompts = {"prompt_embeddings"} if model.peft_config["default"].is_prompt_learning else set()  # PEFT's own way
        unexpected = {*keys.unexpected_keys} - prompts
        refuse_unmatched_weights(
            self.source, self.base, unexpected=unexpected, missing=missing | (biases - stored.keys())
        )
        return model

    def about(self) -> dict[str, Json]:
        """Add the base model."""
        return super().about() | {"base": self.base.name}
