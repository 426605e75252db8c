"""Define the entries of models.yaml and the device of a model."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from encheck.errors import UsageError

DEVICE = re.compile(r"cpu|mps|cuda(?::\d+)?")
FileHash = Callable[[Path], str]


@dataclass(frozen=True, slots=True)
class ModelConfig:
    """One entry of models.yaml.

    `adapter` is a name in `ADAPTERS`, or `package.module:Class` for a class of your own, which is called with
    `options`. `package` is an installed package that contains the weights. `sha256` is the hash of the file `name`, or
    of the model.safetensors in that folder. It can also map options that name files, or paths inside the folder, to
    hashes. `prompt` is put before every text. `prompts` maps roles to the prompts of their texts. `fetch` says where to
    get the files of `name`. `price` is the price of a million tokens, in dollars.
    """

    label: str
    adapter: str = "sentence-transformers"
    name: str = ""
    revision: str | None = None
    package: str | None = None
    sha256: str | Mapping[str, str] | None = None
    prompt: str | None = None
    prompts: Mapping[str, str] = field(default_factory=dict)
    pooling: str | None = None
    truncate_dim: int | None = None
    max_length: int | None = None
    dtype: str | None = None
    similarity: str | None = None
    trust_remote_code: bool = False
    fetch: str = ""
    licence: str = ""
    price: float | None = None
    description: str = ""
    trained_on: tuple[str, ...] = ()
    thresholds: Mapping[str, float] = field(default_factory=dict)
    known_failures: Mapping[str, str] | None = None
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Device:
    """The devices and the dtype to compute with.

    `name` is auto, cpu, cuda, cuda:1, cuda:all or mps, or several of them, separated by commas. `dtype` is one of
    `DTYPES`.
    """

    name: str = "auto"
    dtype: str | None = None

    def __post_init__(self) -> None:
        """Raise UsageError for an invalid name. Whether the device exists is checked when a model is loaded."""
        if self.name not in ("auto", "cuda:all") and not all(map(DEVICE.fullmatch, self.name.split(","))):
            raise UsageError(
                f"--device={self.name} is not a device: it should be auto, cpu, cuda, cuda:1 (any number), mps, "
                "cuda:all, or several of cpu, cuda:N and mps by comma"
            )
