"""What pydantic finds wrong in a settings file, in plain words. pydantic is imported where a file is read."""

from __future__ import annotations

import reprlib
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from encheck.errors import unknown

if TYPE_CHECKING:
    from pydantic import BaseModel

Place: TypeAlias = tuple[str | int, ...]
WANTED = {
    "string_type": "text",
    "string_pattern_mismatch": "text",
    "int_type": "a whole number",
    "bool_type": "true or false",
    "float_type": "a number",
    "finite_number": "a number",
    "list_type": "a list",
    "dict_type": "a mapping of names to values",
    "greater_than_equal": "at least {ge}",
    "less_than_equal": "at most {le}",
}
_SHORT = reprlib.Repr()
_SHORT.maxstring, _SHORT.maxlevel = 200, 2


def problems(
    schema: type[BaseModel], values: Mapping[str, Any], wanted: Mapping[str, str], *, kind: str
) -> Iterator[tuple[Place, str]]:
    """(where, what is wrong), for each value that the schema does not take; `kind` is what its names are called.

    `wanted` says what should stand in a field, or with `field.*` inside it, where the type alone says too little.
    """
    from pydantic import ValidationError

    try:
        schema.model_validate(values)
    except ValidationError as error:
        names = {field.alias or name for name, field in schema.model_fields.items()}
        found = {place_of(values, one["loc"]): one for one in error.errors(include_url=False, include_input=False)}
        for place, one in found.items():
            if not any(other[: len(place)] == place for other in found if len(other) > len(place)):
                yield place, _text(place, one, values, wanted, unknown(kind, str(place[0]), names))


def place_of(values: Any, parts: tuple[str | int, ...]) -> Place:
    """The keys of these that lead on; pydantic puts the names of types between them."""
    place: list[str | int] = []
    for part in parts:
        inside: Any = values if isinstance(values, dict) else range(len(values) if isinstance(values, list) else 0)
        if part in inside:
            values = values[part]
            place.append(part)
    return tuple(place)


def _text(place: Place, error: Any, values: Any, wanted: Mapping[str, str], misspelt: str) -> str:
    if error["type"] == "extra_forbidden":
        return misspelt
    if error["loc"][-1] == "[key]":
        return f"{place[0]}: the name {shown(place[-1])} should be text; write it in quotes"
    for part in place:
        values = values[part]
    bound = error["type"].endswith("_equal")
    should = None if bound else wanted.get(".".join([str(place[0]), *["*"] * (len(place) - 1)]))
    should = should or WANTED.get(error["type"], error["msg"]).format(**error.get("ctx", {}))
    return f"{_named(place)} is {shown(values)}, but should be {should}"


def _named(place: Place) -> str:
    """A value's place: keys with dots; an entry of a list has no name."""
    return f"an entry of {_named(place[:-1])}" if isinstance(place[-1], int) else ".".join(map(str, place))


def shown(value: object) -> str:
    """A value of a settings file, shortened.

    >>> [shown(value) for value in (None, True, "a", [1, 2])]
    ['empty', 'true', "'a'", '[1, 2]']
    """
    if value is None:
        return "empty"
    if isinstance(value, bool):
        return str(value).lower()
    try:
        return _SHORT.repr(value)
    except ValueError:  # Python writes no whole number of more than 4,300 digits
        return "a number of thousands of digits"
