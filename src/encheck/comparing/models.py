"""The models of several runs, each with what a comparison needs of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from encheck.comparing.runs import names_of
from encheck.errors import UsageError
from encheck.gating.declared import declarations
from encheck.gating.weighing import Side, side_of
from encheck.reporting.results import read_items, read_results
from encheck.reporting.view import Items
from encheck.types import Declaration

MAX_MODELS = 10


@dataclass(frozen=True)
class Model:
    """One model of one run: its name here, what it scored, its rows, its items, the data's fingerprints and
    editions, what its checks declare.
    """

    name: str
    label: str
    side: Side
    rows: Sequence[Mapping[str, Any]]
    items: Items
    data: Mapping[str, str]
    editions: Mapping[str, str]
    declared: Mapping[str, Declaration]


def read_models(folders: Sequence[Path]) -> list[Model]:
    """Every model of the runs, in the order given; UsageError for too few, too many, or a run without items."""
    found: list[tuple[str, str, Mapping[str, Any], Items]] = []
    for folder in folders:
        results, items = read_results(folder), read_items(folder)
        if not items:
            raise UsageError(f"{folder} has no items.parquet: a comparison pairs items. Run again")
        found += [(folder.resolve().name, m["label"], results, items) for m in results["models"] if not m["error"]]
    if not 2 <= len(found) <= MAX_MODELS:
        raise UsageError(f"the runs hold {len(found)} models; a comparison takes 2 to {MAX_MODELS}")
    names = names_of([(run, label) for run, label, _, _ in found])
    return [_model(name, label, run, items) for name, (_, label, run, items) in zip(names, found, strict=True)]


def _model(name: str, label: str, results: Mapping[str, Any], items: Items) -> Model:
    rows = [row for row in results["checks"] if row["model"] == label]
    data = {d["name"]: d["fingerprint"] for d in results["data"]}
    editions = {d["name"]: d.get("version", "") for d in results["data"]}
    return Model(name, label, side_of(results, items, label), rows, items, data, editions, declarations(results))
