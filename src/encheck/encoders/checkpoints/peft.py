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
from encheck.encoders.files import check_weights, value_of
from encheck.encoders.model_config import ModelConfig
from encheck.errors import EncoderError, ModelError
from encheck.system.paths import is_folder, typed


class PeftEncoder(TransformersEncoder):
    """adapter_config.json and adapter_model.safetensors on the base that they name, or that `base` names."""

    engine = "peft-1"

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
        """The base with the adapter on it."""
        from peft import PeftModel

        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", FutureWarning)  # peft asks transformers by an older name
                return PeftModel.from_pretrained(super().load(), str(self.source))
        except (RuntimeError, ValueError, KeyError) as error:
            raise EncoderError(f"the adapter {self.source} does not fit its base {self.base}: {error}") from error

    def about(self) -> dict[str, Any]:
        """With the base."""
        return super().about() | {"base": self.base.name}
