"""What the keys of [tool.encheck] may hold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any

from encheck.system.typed_files import Place, invalid_values

if TYPE_CHECKING:
    from pydantic import BaseModel

MAX_MEGABYTES = 1_000_000_000
WANTED = {
    "thresholds": "a table of checks and numbers",
    "thresholds.*": "a number",
    "known_failures": "a table of models",
    "known_failures.*": "a table of checks and reasons",
    "known_failures.*.*": "a reason",
    "models": "the path of a file",
    "store-limit-mb": "a whole number of megabytes",
    "check-packages": "a list of names of packages",
    "check-packages.*": "the name of a package",
}


def wrong_values(table: Mapping[str, Any]) -> Iterator[tuple[Place, str]]:
    """(where, what is wrong), for each value that its key does not take, and for unknown keys."""
    return invalid_values(_schema(), table, WANTED, kind="key")


def keys() -> set[str]:
    """The keys that there are."""
    return {field.alias or name for name, field in _schema().model_fields.items()}


@cache
def _schema() -> type[BaseModel]:
    from pydantic import ConfigDict, Field, create_model

    text = Annotated[str, Field(pattern=r"\S")]
    fields: dict[str, Any] = {
        "thresholds": (dict[str, float], {}),
        "known_failures": (dict[str, dict[str, text]], {}),
        "models": (text, "models.yaml"),
        "check_packages": (list[text], Field([], alias="check-packages")),
        "store_limit_mb": (int, Field(0, alias="store-limit-mb", ge=0, le=MAX_MEGABYTES)),
    }
    strict = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False)
    return create_model("Project", __config__=strict, **fields)
