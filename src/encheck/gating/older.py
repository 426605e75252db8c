"""Baselines of versions 1 and 2, which kept each item with id, hashes, split and label, read in the form of version 3.

`upgraded` is the one mapping. Words of version 1 become those of 2 by `schema1`, as in results.
"""

from __future__ import annotations

import io
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from encheck import schema1
from encheck.gating.declared import declarations
from encheck.gating.kept import Kept, rounded, said_of
from encheck.ids import ItemId
from encheck.scoring.table import Table
from encheck.system.json_schema import refuse_wrong, schema_of
from encheck.system.parquet import table_of
from encheck.types import Contrast, Declaration

VERSIONS = (1, 2)
ITEMS = "items.parquet"
STRINGS = ("case", "item", "texts", "cluster", "split")
ANSWERS, WEIGHT = "answers", "weight"
SAME = ("versions", "settings", "model", "data", "seed_noise")  # in version 3 too


def upgraded(summary: Mapping[str, Any], data: bytes) -> tuple[dict[str, Any], dict[str, Kept]]:
    """The summary of version 3 and the cases; ValueError, LookupError or TypeError if the old one is not whole."""
    said = schema1.baseline(summary) if summary["encheck_baseline"] == schema1.VERSION else summary
    refuse_wrong(said, schema_of("encheck.gating", "baseline2.schema.json"))
    kept = {case: Kept.of(table) for case, table in _read_items(data, said).items()}
    return {"encheck_baseline": 3, **{k: said[k] for k in SAME}, **said_of(said["checks"], kept)}, kept


def _types() -> dict[str, Any]:
    """The type of each column of the items file."""
    import pyarrow

    types = {name: pyarrow.string() for name in (*STRINGS, ANSWERS)} | {
        "label": pyarrow.int8(),
        WEIGHT: pyarrow.int64(),
    }
    return types | dict.fromkeys(("near", "far"), pyarrow.float32())


def _read_items(data: bytes, summary: Mapping[str, Any]) -> dict[str, Table]:
    columns = _items_of(data)
    at: dict[str, list[int]] = {}
    for i, name in enumerate(columns["case"]):
        at.setdefault(name, []).append(i)
    unscaled = {name for name, some in at.items() if _is_unscaled(columns, some[0])}
    _refuse_uneven(summary, {name: len(some) for name, some in at.items()}, unscaled)
    declared = declarations(summary)
    return {c["case"]: _rebuilt(c, columns, at[c["case"]], declared.get(c["check"])) for c in summary["cases"]}


def _is_unscaled(columns: Mapping[str, list[Any]], row: int) -> bool:
    """Whether an item is the answers to a query, or a contrast of queries, which no calibration moves."""
    parts = ItemId(columns["item"][row]).known
    return (ANSWERS in columns and columns[ANSWERS][row] is not None) or (parts and parts.relation) == Contrast.kind


def _items_of(data: bytes) -> dict[str, list[Any]]:
    """The columns of the items file; ValueError if one is missing, of another type, or has an empty field."""
    import pyarrow

    names = (*STRINGS, "label", "near", "far")
    types = _types()
    table = table_of(io.BytesIO(data), columns=names, also=(ANSWERS, WEIGHT))
    for name in table.column_names:
        if table[name].type != types[name]:
            raise ValueError(f"{ITEMS}: the column {name} is of {table[name].type}, but should be of {types[name]}")
        if table[name].null_count and name not in ("label", "far", "split", ANSWERS, WEIGHT):
            raise ValueError(f"{ITEMS}: the column {name} has an empty field")
    try:
        table.validate(full=True)
    except pyarrow.ArrowException as error:
        raise ValueError(f"{ITEMS}: {error}") from error
    columns: dict[str, list[Any]] = table.to_pydict()
    if not np.isfinite([v for name in ("near", "far") for v in columns[name] if v is not None]).all():
        raise ValueError(f"{ITEMS}: a score is not a number")
    return columns


def _refuse_uneven(summary: Mapping[str, Any], counts: Mapping[str, int], unscaled: Collection[str]) -> None:
    """ValueError if a case has other items than the summary says, or is on data that it does not tell of.

    `unscaled` names the cases whose items no calibration moves.
    """
    calibrated = {data["name"] for data in summary["data"] if data["calibration"]}
    for case in summary["cases"]:
        if counts.get(case["case"], 0) != case.get("items", counts.get(case["case"], 0)) or not counts.get(
            case["case"]
        ):
            raise ValueError(f"{case['case']} has {counts.get(case['case'], 0)} items, but should have {case['items']}")
        if case["data"] not in calibrated and case["case"] not in unscaled:
            raise ValueError(f"the data {case['data']!r} of {case['case']} have no calibration")


def _rebuilt(
    about: Mapping[str, Any], columns: Mapping[str, list[Any]], at: Sequence[int], declared: Declaration | None
) -> Table:
    strings = [tuple(columns[name][i] for i in at) for name in (*STRINGS[1:], "label")]
    scores = [rounded(np.array([columns[name][i] for i in at], float)) for name in ("near", "far")]
    names = ("case", "check", "property", "data", "level", "kind")
    answers = tuple(columns[ANSWERS][i] for i in at) if ANSWERS in columns else ()
    weights = tuple(columns[WEIGHT][i] for i in at) if WEIGHT in columns else ()
    found = Table(*(about[name] for name in names), *strings, *scores)
    return replace(found, declared=declared, answers=answers * any(answers), weights=weights * any(weights))
