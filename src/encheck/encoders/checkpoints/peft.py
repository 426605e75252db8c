"""A PEFT adapter (LoRA and its kin) on its base model, with the pooling of the transformers adapter."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from encheck.encoders.checkpoints.pretrained import files_of
from encheck.encoders.checkpoints.transformers import TransformersEncoder
from encheck.encoders.checkpoints.trust import refuse_code
from encheck.encoders.files import WHOLE, check_weights, value_of
from encheck.encoders.model_config import ModelConfig
from encheck.errors import EncoderError, ModelError
from encheck.system.files import is_folder, typed


def check_adapter(source: Path, bases: Mapping[str, Path], model: Any) -> None:
    """EncoderError if an adapter inside a checkpoint, which transformers has put on the `model`, does not fit it.

    `bases` has the folder of each adapter, from `source`, with that of its base.
    """
    if not getattr(model, "_hf_peft_config_loaded", False):
        return
    from peft import load_peft_weights

    prefix = "base_model.model."
    places = {name.removeprefix(prefix) for name in model.get_adapter_state_dict()}
    for folder, base in bases.items():
        stored = {name.removeprefix(prefix) for name in load_peft_weights(str(source / folder), device="cpu")}
        refuse_misfits(source / folder, base, unexpected=stored - places, missing=places - stored)


def refuse_misfits(adapter: Path, base: Path, *, unexpected: set[str], missing: set[str]) -> None:
    """EncoderError if an adapter has weights that its base has no place for, or lacks some that it needs."""
    for what, names in {"the base has no place for": unexpected, "the adapter lacks": missing}.items():
        if names:
            raise EncoderError(
                f"the adapter {adapter} does not fit its base {base}: {what} {len(names)} weights, first {min(names)}. "
                f"{WHOLE}"
            )


class PeftEncoder(TransformersEncoder):
    """adapter_config.json and adapter_model.safetensors on the base that they name, or that `base` names."""

    engine = "peft-2"

    def check(self) -> None:
        """ModelError if the adapter or its base cannot be loaded."""
        if not (self.source / "adapter_config.json").is_file():
            raise ModelError(f"{self.source} is not a PEFT adapter: it has no adapter_config.json")
        weights = [p for p in self.source.glob("adapter_model.*") if p.suffix in (".safetensors", ".bin")]
        if not weights:
            raise ModelError(f"{self.source} has no weights: a PEFT adapter holds adapter_model.safetensors")
        for path in weights:
            check_weights(path)
        refuse_code(self.source)
        super().check()

    @cached_property
    def base(self) -> Path:
        """The folder of the base model: a path, from here or from the adapter, or a hub id in the cache."""
        from encheck.encoders.load import folder_of

        file = self.source / "adapter_config.json"
        named = self.config.options.get("base") or value_of(file, "base_model_name_or_path", str)
        if not named:
            raise ModelError(f"{self.source}/adapter_config.json names no base model. Give one: --model-arg base=PATH")
        for folder in (typed(named), self.source / named):
            if is_folder(folder):
                return folder
        try:
            return folder_of(ModelConfig(self.config.label, name=named, revision=value_of(file, "revision", str)))
        except ModelError as error:
            raise ModelError(
                f"the base of {self.source}: {error}. Or say where it is: --model-arg base=PATH"
            ) from error

    def content(self) -> Mapping[str, Path]:
        """The files of the adapter and of its base."""
        own = {f"adapter/{name}": path for name, path in files_of(self.source).items()}
        return own | {f"base/{name}": path for name, path in files_of(self.base).items()}

    @property
    def _tokenizer_folder(self) -> Path:
        return self.source if (self.source / "tokenizer_config.json").exists() else self.base

    def load(self) -> Any:
        """The base with the adapter on it; EncoderError unless every weight of the adapter found its place."""
        from peft import PeftModel, get_peft_model_state_dict, load_peft_weights

        base, source, misfit = super().load(), str(self.source), f"{self.source} does not fit its base {self.base}"
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", FutureWarning)  # peft asks transformers by an older name
                warnings.filterwarnings("ignore", "Found missing adapter keys")  # an error below
                model = PeftModel.from_pretrained(base, source)
                # It does not give which keys fitted: the same weights are loaded once more for that.
                mapping = getattr(base, "_checkpoint_conversion_mapping", {})
                keys = model.load_adapter(source, "default", key_mapping=mapping)
            stored = load_peft_weights(source, device="cpu")
        except (RuntimeError, ValueError, KeyError) as error:
            why = f"it lacks {error}" if isinstance(error, KeyError) else " ".join(str(error).split())[:300]
            raise EncoderError(f"the adapter {misfit}: {why}. {WHOLE}") from error

        state, missing = model.state_dict(), {*keys.missing_keys}
        loaded = {tensor.data_ptr() for name, tensor in state.items() if name not in missing}
        missing = {name for name in missing if state[name].data_ptr() not in loaded}  # others are one under two names
        biases = {name for name in get_peft_model_state_dict(model) if name.endswith(".bias")}
        prompts = {"prompt_embeddings"} if model.peft_config["default"].is_prompt_learning else set()  # PEFT's own way
        unexpected = {*keys.unexpected_keys} - prompts
        refuse_misfits(self.source, self.base, unexpected=unexpected, missing=missing | (biases - stored.keys()))
        return model

    def about(self) -> dict[str, Any]:
        """With the base."""
        return super().about() | {"base": self.base.name}
