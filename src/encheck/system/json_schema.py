"""Values of a JSON file held to a schema of encheck's own: type, enum, const, $ref, properties, items, bounds.

What these schemas do not name is let through: a newer encheck may write more. Importing jsonschema, which knows all of
JSON Schema, takes longer than reading a baseline; the tests hold the files that encheck writes to it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import resources
from typing import Any

from encheck.system.schema import shown

Schema = Mapping[str, Any]
MOST = 2**63  # what a whole number stays below: arrays and charts take no more
_IN_WORDS = {
    "string": "text", "integer": "a whole number", "number": "a number", "boolean": "true or false", "null": "null",
    "object": "a mapping", "array": "a list",
}  # fmt: skip


@cache
def schema_of(package: str, name: str) -> Schema:
    """A schema file of a package."""
    loaded: Schema = json.loads((resources.files(package) / name).read_text("utf-8"))
    return loaded


def refuse_wrong(values: object, schema: Schema) -> None:
    """ValueError names the first value, by its keys, that is not what the schema says, or that is missing."""
    for problem in _problems(values, schema, schema, ""):
        raise ValueError(problem)


def refuse_other_types(values: object, schema: Schema) -> None:
    """ValueError names the first value that is not what the schema says; what is missing is left to who asks for it."""
    for problem in _problems(values, schema, schema, ""):
        if not isinstance(problem, _Lack):
            raise ValueError(problem)


class _Lack(str):
    """A problem that is a missing value."""

    __slots__ = ()


def _problems(value: Any, schema: Schema, whole: Schema, place: str) -> Iterator[str]:
    if "$ref" in schema:
        schema = whole["$defs"][schema["$ref"].rpartition("/")[2]]
    if wanted := _wanted(value, schema):
        yield f"{place or 'the file'} is {shown(value)}, but should be {wanted}"
    elif isinstance(value, dict):
        named, others = schema.get("properties", {}), schema.get("additionalProperties", {})
        yield from (
            _Lack(f"{place or 'the file'} lacks {name!r}") for name in schema.get("required", ()) if name not in value
        )
        for key, one in value.items():
            inner = named.get(key, others if isinstance(others, dict) else {})
            yield from _problems(one, inner, whole, f"{place}.{key}" if place else key) if inner else ()
    elif isinstance(value, list) and "items" in schema:
        for i, one in enumerate(value):
            yield from _problems(one, schema["items"], whole, f"{place}[{i}]")


def _wanted(value: Any, schema: Schema) -> str:
    """What the value should be and is not; empty if it is."""
    allowed = schema.get("enum", [schema["const"]] if "const" in schema else None)
    if allowed is not None and not any(type(one) is type(value) and one == value for one in allowed):
        return " or ".join(map(shown, allowed))
    kinds = schema.get("type", ())
    kinds = (kinds,) if isinstance(kinds, str) else kinds
    if kinds and not any(_is(value, kind) for kind in kinds):
        return " or ".join(_IN_WORDS[kind] for kind in kinds)
    if value is None:
        return ""
    if "minimum" in schema and value < schema["minimum"]:
        return f"at least {schema['minimum']}"
    return f"at most {schema['maximum']}" if "maximum" in schema and value > schema["maximum"] else ""


def _is(value: Any, kind: str) -> bool:
    if kind == "number" and isinstance(value, float):
        return math.isfinite(value)
    if kind in ("integer", "number"):
        return isinstance(value, int) and not isinstance(value, bool) and abs(value) < MOST
    types = {"string": str, "boolean": bool, "null": type(None), "object": dict, "array": list}
    return isinstance(value, types[kind])
