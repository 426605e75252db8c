"""A file of one dataclass: what is written is read as it was, fits its schema, and what is wrong is named."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import jsonschema
import pytest

from encheck.system.documents import parse_json
from encheck.system.typed_files import Count, MaybeNaN, as_json, as_values, read_typed, schema_of, writes_properties


@dataclass(frozen=True)
class Part:
    """A part: `x` is a number."""

    x: float
    n: Count = 0


@dataclass(frozen=True)
class Same:
    as_: Literal["a", "b"]


@dataclass(frozen=True)
class Whole:
    version: Literal[1] = field(default=1, kw_only=True)
    name: str
    parts: tuple[Part, ...]
    pair: tuple[str, Count | None]
    by_name: Mapping[Literal["a", "b"], Part | Same]


@writes_properties("says")
@dataclass(frozen=True)
class Row:
    """A row: `change` may be none."""

    name: str = field(metadata={"alias": "row"})
    change: MaybeNaN
    aside: int = field(default=0, metadata={"exclude": True})

    @property
    def says(self) -> str:
        return f"{self.name} changed"


@dataclass(frozen=True)
class LongRow(Row):
    """A row with more."""

    more: int = 0


WHOLE = Whole("é", (Part(0.1, 2), Part(3.0)), ("p", None), {"a": Part(1.0), "b": Same("a")})


def test_what_is_written_is_read_as_it_was_and_fits_its_schema():
    values = parse_json(as_json(WHOLE))
    assert values == as_values(WHOLE)
    assert values["by_name"]["b"] == {"as": "a"}
    assert read_typed(Whole, values) == WHOLE
    schema = schema_of(Whole)
    jsonschema.validate(values, schema)
    assert set(schema["required"]) == set(values) == {"version", "name", "parts", "pair", "by_name"}
    assert schema["$defs"]["Part"]["description"] == "A part: `x` is a number."


def test_no_number_is_null_and_half_of_a_surrogate_pair_is_written():
    made = Whole("\udcff", (Part(float("nan")), Part(float("-inf"))), ("p", 1), {})
    values = as_values(made)
    assert [part["x"] for part in values["parts"]] == [None, None]
    assert values["name"] == "\udcff"
    jsonschema.validate(values, schema_of(Whole))


def test_a_property_is_written_and_an_alias_is_the_key_and_what_is_excluded_stays_out():
    values = as_values(Row("r", float("inf"), aside=1))
    assert values == {"row": "r", "change": None, "says": "r changed"}
    jsonschema.validate(values, schema_of(Row) | {"additionalProperties": False})
    assert schema_of(LongRow)["description"] == "A row with more.\n\nA row: `change` may be none."
    assert as_values(LongRow("r", 1.0, more=2)) == {"row": "r", "change": 1.0, "more": 2, "says": "r changed"}
    again = read_typed(Row, values)
    assert (again.name, again.change != again.change, again.aside) == ("r", True, 0)
    with pytest.raises(ValueError, match=r"^the file lacks 'row'$"):
        read_typed(Row, {"change": 1})
    with pytest.raises(ValueError, match=r"^change is '1', but should be a number$"):
        read_typed(Row, {"row": "r", "change": "1"})


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"name": 3}, "name is 3, but should be text"),
        ({"parts": None}, "parts is empty, but should be a list"),
        ({"parts": [[]]}, "parts[0] is [], but should be a mapping"),
        ({"parts": [{"n": 1}]}, "parts[0] lacks 'x'"),
        ({"parts": [{"x": "1"}]}, "parts[0].x is '1', but should be a number"),
        ({"parts": [{"x": True}]}, "parts[0].x is true, but should be a number"),
        ({"parts": [{"x": 1e999}]}, "parts[0].x is inf, but should be a number"),
        ({"parts": [{"x": 10**400}]}, "but should be a number"),
        ({"parts": [{"x": 1, "n": 2**63}]}, "parts[0].n is 9223372036854775808, but should be less than"),
        ({"parts": [{"x": 1, "n": -1}]}, "parts[0].n is -1, but should be at least 0"),
        ({"parts": [{"x": 1, "n": 1.0}]}, "parts[0].n is 1.0, but should be a whole number"),
        ({"pair": ["p"]}, "pair lacks 1"),
        ({"pair": ["p", 1, 2]}, "pair is ['p', 1, 2], but should be a list of 2"),
        ({"by_name": {"c": {"x": 1}}}, "the key 'c' of by_name should be 'a' or 'b'"),
        ({"version": 2}, "version is 2, but should be 1"),
        ({"name": "\ud800"}, "is not JSON"),
    ],
)
def test_a_wrong_value_is_named_by_its_keys(change, says):
    with pytest.raises(ValueError, match=re.escape(says)):
        read_typed(Whole, as_values(WHOLE) | change)


def test_what_the_class_does_not_name_is_let_through_and_other_values_are_no_file():
    assert read_typed(Whole, as_values(WHOLE) | {"later": [1]}) == WHOLE
    for value in ([], None, 3, "x"):
        with pytest.raises(ValueError, match=r"the file is .* but should be a mapping"):
            read_typed(Whole, value)
