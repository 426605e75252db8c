"""JSON and settings files: reading, writing, schemas and error messages through pydantic.

A frozen dataclass describes a JSON file. Reading is strict: no text is accepted as a number, and no number as a flag.
Unknown keys are accepted, because a newer encheck may write more. A field whose name is a Python keyword ends in an
underscore, such as `as_`. The metadata of a field are arguments of pydantic's `Field`: `alias` is its key in the file,
`exclude` omits it from the file.
"""

from __future__ import annotations

import json
import reprlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, is_dataclass
from functools import cache
from importlib import import_module
from inspect import cleandoc
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NewType, TypeAlias, TypeVar, cast, get_type_hints

from annotated_types import Ge, Lt

from encheck.errors import unknown_name_message

if TYPE_CHECKING:
    from pydantic import BaseModel, TypeAdapter
    from pydantic_core import SchemaValidator

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
T = TypeVar("T")
Count = Annotated[int, Ge(0), Lt(2**63)]  # the limit of arrays and charts
Positive = Annotated[int, Ge(1), Lt(2**63)]
NonNegative = Annotated[float, Ge(0)]
_WANTED = WANTED | {
    "dataclass_type": "a mapping",
    "tuple_type": "a list",
    "literal_error": "{expected}",
    "less_than": "less than {lt}",
    "too_long": "a list of {max_length}",
}


def invalid_values(
    schema: type[BaseModel], values: Mapping[str, Any], wanted: Mapping[str, str], *, kind: str
) -> Iterator[tuple[Place, str]]:
    """Yield (place, fault) for each value that the schema refuses. `kind` is the word for the names of the file.

    `wanted` describes the expected value of a field, or of its entries (`field.*`), if the type says too little.
    """
    from pydantic import ValidationError

    try:
        schema.model_validate(values)
    except ValidationError as error:
        names = {field.alias or name for name, field in schema.model_fields.items()}
        errors = {
            file_place(values, error_details["loc"]): error_details
            for error_details in error.errors(include_url=False, include_input=False)
        }
        for place, error_details in errors.items():
            if any(other[: len(place)] == place for other in errors if len(other) > len(place)):
                continue
            if error_details["type"] == "extra_forbidden":
                yield place, unknown_name_message(kind, str(place[0]), names)
                continue
            if error_details["loc"][-1] == "[key]":
                yield place, f"{place[0]}: the name {shorten_value(place[-1])} should be text; write it in quotes"
                continue
            value: Any = values
            for part in place:
                value = value[part]
            should = wanted.get(".".join([str(place[0]), *["*"] * (len(place) - 1)]))
            if not should or error_details["type"].endswith("_equal"):  # a bound
                should = WANTED.get(error_details["type"], error_details["msg"]).format(**error_details.get("ctx", {}))
            yield place, f"{_place_in_words(place)} is {shorten_value(value)}, but should be {should}"


def file_place(values: Any, parts: tuple[str | int, ...]) -> Place:
    """Return those of these keys that are in the file. Pydantic inserts the names of types between them."""
    place: list[str | int] = []
    for part in parts:
        inside: Any = values if isinstance(values, dict) else range(len(values) if isinstance(values, list) else 0)
        if part in inside:
            values = values[part]
            place.append(part)
    return tuple(place)


def _place_in_words(place: Place) -> str:
    """Return a value's place as keys with dots. An entry of a list has no name."""
    return f"an entry of {_place_in_words(place[:-1])}" if isinstance(place[-1], int) else ".".join(map(str, place))


def shorten_value(value: object) -> str:
    """Return a value of a settings file as short text.

    >>> [shorten_value(value) for value in (None, True, "a", [1, 2])]
    ['empty', 'true', "'a'", '[1, 2]']
    """
    if value is None:
        return "empty"
    if isinstance(value, bool):
        return str(value).lower()
    try:
        return _SHORT.repr(value)
    except ValueError:  # Python cannot print an integer of more than 4,300 digits
        return "a number of thousands of digits"


class _NullIsNaN:
    """Marks a number that a file writes as null if it is NaN."""

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        from pydantic_core.core_schema import no_info_wrap_validator_function as wrapped

        return wrapped(lambda value, number: float("nan") if value is None else number(value), handler(source))


@dataclass(frozen=True)
class DeferredClass:
    """Replaces, in `Annotated`, a class that is loaded only when a file is read, written or described."""

    module: str
    name: str

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        return handler.generate_schema(getattr(import_module(self.module), self.name))


class _PathAsText:
    """Marks a path, which is text in a file."""

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        from pydantic_core import core_schema as made

        text = made.str_schema()
        as_text = made.plain_serializer_function_ser_schema(str, return_schema=text)
        return made.no_info_after_validator_function(Path, text, serialization=as_text)


MaybeNaN = Annotated[float, _NullIsNaN()]
FilePath = Annotated[Path, _PathAsText()]


def writes_properties(*properties: str) -> Callable[[type[T]], type[T]]:
    """Return a decorator of dataclasses that writes these properties after the fields. Readers compute them anew."""

    def mark(kind: type[T]) -> type[T]:
        def with_properties(_: type, source: Any, handler: Any) -> Any:
            from pydantic_core.core_schema import computed_field

            schema = handler(source)
            of_fields = handler.resolve_ref_schema(schema)["schema"]
            for name in properties:
                value = handler.generate_schema(get_type_hints(getattr(kind, name).fget)["return"])
                of_fields.setdefault("computed_fields", []).append(computed_field(name, value))
            return schema

        kind.__get_pydantic_core_schema__ = classmethod(with_properties)  # type: ignore[attr-defined]
        return kind

    return mark


def as_json(value: object) -> str:
    """Return the JSON text of a file."""
    return json.dumps(as_values(value), indent=1, ensure_ascii=False) + "\n"


def as_values(value: object) -> Any:
    """Return a value in plain types, with None for NaN."""
    kind: Any = type(value)
    plain = _type_adapter(kind).dump_python(value)  # in Python: pydantic's JSON refuses half of a surrogate pair
    return json.loads(json.dumps(plain), parse_constant=lambda _: None)


def read_typed(kind: type[T], values: object) -> T:
    """Return JSON (from `documents.parse_json`) as this class.

    Raise ValueError, which names the first wrong or missing value by its keys.
    """
    from pydantic import ValidationError

    try:
        value: T = _strict_reader(cast("Any", kind)).validate_json(json.dumps(values), strict=True)
        return value
    except ValidationError as error:
        raise ValueError(
            _describe_first_problem(error.errors(include_url=False, include_input=False), values)
        ) from None


def restore_typed(kind: type[T], values: object) -> T:
    """Return the result of `as_values` as this class again, including text that no JSON reader accepts."""
    value: T = _type_adapter(cast("Any", kind)).validate_python(values)
    return value


def schema_of(kind: type) -> dict[str, Any]:
    """Return the JSON schema of a file of this class.

    The docstrings of classes, and of the classes that they extend, describe their fields.
    """
    from pydantic.json_schema import GenerateJsonSchema

    class Schema(GenerateJsonSchema):
        def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002
            return False

        def dataclass_schema(self, schema: Any) -> dict[str, Any]:
            made, kinds = super().dataclass_schema(schema), [*filter(is_dataclass, schema["cls"].__mro__)]
            extended = {"description": "\n\n".join(cleandoc(kind.__doc__ or "") for kind in kinds)}
            return made | (extended if len(kinds) > 1 else {})

        def float_schema(self, schema: Any) -> dict[str, Any]:
            return super().float_schema(schema) | {"type": ["number", "null"]}

    made = _type_adapter(kind).json_schema(mode="serialization", schema_generator=Schema)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **made}


@cache
def _type_adapter(kind: Any) -> TypeAdapter[Any]:
    from pydantic import ConfigDict, TypeAdapter

    config = ConfigDict(
        allow_inf_nan=False, alias_generator=lambda name: name.rstrip("_"), serialize_by_alias=True,
        json_schema_serialization_defaults_required=True,
    )  # fmt: skip
    return TypeAdapter(cast("Any", NewType("File", kind)), config=config)  # a bare dataclass accepts no config


@cache
def _strict_reader(kind: Any) -> SchemaValidator:
    from pydantic_core import SchemaValidator

    return SchemaValidator(_make_strict(_type_adapter(kind).core_schema))


def _make_strict(schema: Any) -> Any:
    """Return a core schema in which a field of allowed integers refuses true, although true equals 1 in Python."""
    if isinstance(schema, list | tuple):
        return type(schema)(map(_make_strict, schema))
    if not isinstance(schema, dict):
        return schema
    if schema.get("type") == "literal" and all(isinstance(choice, int) for choice in schema["expected"]):
        return {"type": "chain", "steps": [{"type": "int", "strict": True}, schema]}
    return {name: _make_strict(value) for name, value in schema.items()}


def _describe_first_problem(problems: Any, values: Any) -> str:
    """Return the first of the problems. For a value that may have several kinds, return all of them."""
    problem = problems[0]
    kind, keys = problem["type"], problem["loc"]
    if kind == "json_invalid":
        return f"is not JSON: {problem['ctx']['error']}"
    place = file_place(values, keys)
    named = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in place)[1:] or "the file"
    if kind == "missing":
        return f"{named} lacks {keys[-1]!r}"
    same = [other for other in problems if other["type"] != "missing" and file_place(values, other["loc"]) == place]
    wanted = (_WANTED.get(other["type"], other["msg"]).format(**other.get("ctx", {})) for other in same)
    should = " or ".join(dict.fromkeys(wanted))
    for part in place:
        values = values[part]
    if keys[-1:] == ("[key]",):
        return f"the key {shorten_value(place[-1])} of {named.rpartition('.')[0] or 'the file'} should be {should}"
    return f"{named} is {shorten_value(values)}, but should be {should}"
