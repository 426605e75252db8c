"""Encoders made of files: the fingerprint comes from their content and how they are used."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from encheck.encoders.files import hashes
from encheck.encoders.hub import commit_of
from encheck.encoders.lengths import longer
from encheck.encoders.model_config import ModelConfig
from encheck.encoders.text import TextEncoder
from encheck.types import content_hash

if TYPE_CHECKING:
    from encheck.encoders.load import Device


class LocalEncoder(TextEncoder):
    """An encoder made of files. `engine` is its name and number: raise the number when its vectors change."""

    engine: ClassVar[str]

    def __init__(self, source: Path, config: ModelConfig, *, device: Device, file_hash: Callable[[Path], str]) -> None:
        super().__init__(config)
        self.source, self.device, self._file_hash = source, device, file_hash

    @abstractmethod
    def content(self) -> Mapping[str, Path]:
        """The files that make the vectors, under names that do not depend on where they lie."""

    def how(self) -> list[str]:
        """What else changes vectors, besides files and prompts: options, maximum length, dtype."""
        return []

    @property
    def place(self) -> str:
        """The folder or file."""
        return str(self.source)

    @property
    def devices(self) -> list[str]:
        """Where it computes: the CPU, where the adapter does not say otherwise."""
        return ["cpu"]

    @property
    def dtype(self) -> str:
        """The precision of the weights; vectors are fp32 all the same."""
        return self.device.dtype or self.config.dtype or "float32"

    @cached_property
    def _fingerprint(self) -> str:
        content = hashes(self.content(), self._file_hash)
        roles = [f"{role}: {text}" for role, text in sorted(self.prompts.items())]
        parts = [self.engine, self.prompt, *self.how(), *roles, *content]
        return f"{self.engine.rpartition('-')[0]}:{content_hash(*parts)}"

    def fingerprint(self) -> str:
        """From the content of the files and how they are used; a copied folder has the same one."""
        return self._fingerprint

    def limit_of(self, texts: Sequence[str]) -> str:
        """How many of these texts are longer than the model reads, and which setting says so; empty if none is.

        Also where the files do not say. The model is not loaded.
        """
        return longer(self.source, [f"{self.prompt}{text}" for text in texts], asked=self.config.max_length)

    def about(self) -> dict[str, Any]:
        """With the commit of the hub, and the code of the model's own that was allowed to run."""
        own = {"code": f"trust_remote_code: code that came with {self.source.name} was allowed to run"}
        commit = {"revision": commit_of(self.source)} if commit_of(self.source) else {}
        return super().about() | commit | (own if self.config.trust_remote_code else {})
