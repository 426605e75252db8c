"""Item files of schema 1, which do not say what kind an item is: here, and nowhere else, that is inferred."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from encheck.ids import ItemId, ItemParts
from encheck.types import Kind

Columns = Mapping[str, Sequence[Any]]
_CHAINS = ("swap", "continuation")  # relations
_OF_GENERATOR: Mapping[tuple[str, str], Kind] = {
    ("query", "searched"): "search",
    ("query", "counted"): "occurrence",
    ("repeated", "again"): "repeated",
}


def is_schema_1(columns: Columns) -> bool:
    """Whether the columns of a case lack its kind."""
    return not columns.get("kind") or columns["kind"][0] is None


def with_kind(columns: Columns) -> dict[str, Sequence[Any]]:
    """The columns of one case with `kind`, `step` and `source_is_second`, as schema 2 has them."""
    first = {name: columns[name][0] for name in ("item", "label", "far", "far_score")}
    kind = kind_of(**first)
    parts = [ItemId(item).parts for item in columns["item"]] if kind == "chain" else []
    nothing = [None] * len(columns["item"])
    return {
        **columns,
        "kind": [kind] * len(nothing),
        "step": [p.step for p in parts] or nothing,
        "source_is_second": [_is_second(p) for p in parts] or nothing,
    }


def row_with_kind(row: Mapping[str, Any]) -> dict[str, Any]:
    """One row of a file, completed in the same way."""
    one = with_kind({name: [value] for name, value in row.items()})
    return {name: value[0] for name, value in one.items()}


def kind_of(item: str, label: int | None, far: str | None, far_score: float | None) -> Kind:
    """The kind of an item, by what it has, and by the relation and generator in its id."""
    parts = ItemId(item).known
    named = _OF_GENERATOR.get((parts.relation, parts.generator)) if parts else None
    if far_score is not None and far is None:
        return "both_orders"
    if far_score is None:
        return named or ("pair" if label is None else "labelled")
    if parts and parts.relation in _CHAINS and parts.step:
        return "chain"
    return named or "triplet"


def _is_second(parts: ItemParts) -> bool:
    """Members of a continuation, and of a chain with pivot b, were scored as first texts."""
    return parts.relation == "continuation" or parts.generator == "pivot-b"
