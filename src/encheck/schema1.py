"""Results of schema 1, read as those of schema 2: the one mapping between the two.

`results` is what readers call, and `items` for rows of items.parquet. Beside the words of rows it maps
what files of schema 1 do not say: the declaration of their checks, by the names these had, and the kind of an item, by
what the item has. This is the only place where names of checks stand; what declares itself is not looked up here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from encheck.ids import GateRowId, ItemId, ItemParts
from encheck.types import Declaration, Kind

VERSION = 1
Columns = Mapping[str, Sequence[Any]]
Found = Mapping[str, Any]

CHECK = {"claim": "check", "check": "property", "left_out": "excluded"}
GATE_ROW = {"capability": "row"}
AGAINST = {"capabilities": "rows"}
FAMILY = {"capabilities": "rows"}
RUN = {"criteria": "properties"}

FAMILIES = {
    "meaning kept": ("paraphrase", "synonym", "nonobvious", "sts"),
    "order": ("jumble", "roles", "role_reversal", "swapchain"),
    "retrieval": ("retrieval",),
    "invariance": ("invariance", "symmetry"),
    "health": ("health",),
    "contract": ("contract",),
}
CRITERIA = {"paraphrase": 1, "synonym": 2, "antonym": 3, "jumble": 4}
_KNOWN = {
    "nonobvious": Declaration(
        metric="auc_n", reported="an AUC rises with damage", part="test", pictures=("divergence",)
    ),
    "sts": Declaration(metric="spearman", reported="a correlation has no value per item", part="test"),
    "contract": Declaration(metric="contract_kept", reported="it holds, or it blocks"),
    "retrieval": Declaration(metric="recall_at_1", gates="recall_at_1"),
    "health": Declaration(metric="recall_at_1", gates="recall_at_1"),
    "swapchain": Declaration(
        metric="r_precision", gates="r_precision", part="test", pictures=("profile",), step="swaps"
    ),
    "continuation": Declaration(
        metric="r_precision", gates="r_precision", part="test", pictures=("profile",), step="five words more, each time"
    ),
}  # fmt: skip
_HEALTH = {
    "random_pairs_are_apart": "room",
    "random_pairs_are_alike_in_distance": "steadiness",
    "no_sentence_is_near_to_all": "evenness",
}
RENAMED_ROWS = {  # last parts of the names of gate rows
    "spread": "steadiness", "hubs": "evenness", "reversed": "at-chance", "reversed-gap": "gap-at-chance",
}  # fmt: skip

_CHAINS = ("swap", "continuation")  # relations
_OF_GENERATOR: Mapping[tuple[str, str], Kind] = {
    ("query", "searched"): "search",
    ("query", "counted"): "occurrence",
    ("repeated", "again"): "repeated",
}


# results.json and baseline.json


def results(found: Found) -> dict[str, Any]:
    """The results.json of a run, in the words of schema 2; KeyError or TypeError if it is not whole."""
    said = {
        **found,
        "schema_version": 2,
        "run": _renamed(found["run"], RUN),
        "checks": list(map(_check, found["checks"])),
    }
    if "gate" in found:
        said["gate"] = {**found["gate"], "against": list(map(_against, found["gate"]["against"]))}
    return said


def row_named(row: str) -> GateRowId:
    """What a row of the gate is called now.

    >>> row_named("health/probes/1/hubs")
    'health/probes/1/evenness'
    """
    return GateRowId(row).with_parts_renamed(RENAMED_ROWS)


def _renamed(found: Found, names: Mapping[str, str]) -> dict[str, Any]:
    return {names.get(name, name): value for name, value in found.items()}


def _check(row: Found) -> dict[str, Any]:
    """A row; its threshold was both lines: below it a check failed, from it on it passed."""
    dropped = ("capability", "lexical", "threshold")
    said = _renamed({name: value for name, value in row.items() if name not in dropped}, CHECK)
    held = {"floor": row["threshold"], "floor_of": None, "aim": row["threshold"]}
    return {**said, **held, "surface": {"jaccard": row["lexical"]} if row.get("lexical") else {}}


def _against(found: Found) -> dict[str, Any]:
    rows = [{**_renamed(row, GATE_ROW), "row": row_named(row["capability"])} for row in found["capabilities"]]
    families = [_renamed(family, FAMILY) for family in found["families"]]
    return {**_renamed(found, AGAINST), "rows": rows, "families": families}


# What a check declared


def declaration(tested: str, check: str) -> Declaration:
    """What a check declared that tested this property and had this name."""
    found = _KNOWN.get(tested, Declaration())
    if tested == "health" and check in _HEALTH:
        found = Declaration(metric=_HEALTH[check], gates=_HEALTH[check])
    if check == "end_of_a_long_text_is_seen":
        found = replace(found, metric="ends_seen")
    family = next((name for name, some in FAMILIES.items() if tested in some), "meaning changed")
    return replace(found, property=tested, family=family, criterion=CRITERIA.get(tested, 0))


# The kind of an item


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
