"""One entry of models.yaml."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class ModelConfig:
    """One entry of models.yaml.

    `adapter` is a name of `ADAPTERS` or `package.module:Class` of your own, called with `options`; `package` is an
    installed package that carries the weights. `sha256` is what the file `name`, or the folder's model.safetensors,
    must hash to; or a mapping of options that name files, and of paths inside the folder, to their hashes. `prompt`
    stands before every text, `prompts` holds those of a role; `fetch` says where the files of `name` can be had,
    `price` what a million tokens cost, in dollars.
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
