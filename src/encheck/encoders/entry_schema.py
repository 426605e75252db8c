"""What the fields of an entry of models.yaml may hold."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any

from encheck.encoders.model_config import ModelConfig
from encheck.system.typed_files import Place, problems

if TYPE_CHECKING:
    from pydantic import BaseModel

MAX_LENGTH = 1_000_000_000  # more tokens or dimensions than any model has
WANTED = {
    "sha256": "a SHA-256, or a mapping of files to theirs",
    "sha256.*": "a SHA-256 in hexadecimal digits",
    "trained_on.*": "the name of a data set",
    "thresholds.*": "a number",
    "known_failures.*": "a reason",
}


def wrong_values(values: Mapping[str, Any]) -> Iterator[tuple[Place, str]]:
    """(where, what is wrong), for each value of an entry that its field does not take, and for unknown fields."""
    return problems(_schema(), values, WANTED, kind="field")


def text_fields() -> set[str]:
    """The fields that take text, which --model-arg hands on as it stands."""
    return {f.name for f in dataclasses.fields(ModelConfig)} - _others().keys() | {"sha256"}


@cache
def _others() -> dict[str, Any]:
    """The types of the fields that take more or something else than text."""
    from pydantic import Field

    length: Any = Annotated[int, Field(ge=1, le=MAX_LENGTH)]
    text: Any = Annotated[str, Field(pattern=r"\S")]
    return {
        "max_length": length,
        "truncate_dim": length,
        "price": Annotated[float, Field(ge=0)],
        "trust_remote_code": bool,
        "prompts": dict[str, str],
        "trained_on": list[text],
        "thresholds": dict[str, float],
        "known_failures": dict[str, text],
        "options": dict[str, Any],
        "sha256": str | dict[str, text],
    }


@cache
def _schema() -> type[BaseModel]:
    from pydantic import ConfigDict, create_model

    names = (f.name for f in dataclasses.fields(ModelConfig) if f.name != "label")
    fields: dict[str, Any] = {name: (_others().get(name, str), None) for name in names}
    strict = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False)
    return create_model("Entry", __config__=strict, **fields)
