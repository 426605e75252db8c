"""Slices of a search with labels: the queries that share a value of a column, each a hypothesis of its own.

They have a budget of alpha to themselves, so that a column more takes nothing from the primary endpoint. Which are
tested is decided by the number of their clusters alone, never by scores.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from encheck.gating.pairing import Compared
from encheck.gating.types import Rule
from encheck.ids import GateRowId
from encheck.statistics.sharing import numbered, sharing_of
from encheck.types import content_hash

SHOWN, NAMED = 40, 5  # characters of a value; slices that are named where more are left out


@dataclass(frozen=True)
class Slice:
    """The queries, by their positions, of which `column` has `value`; their number of clusters."""

    column: str
    value: str
    queries: NDArray[np.intp]
    clusters: int

    @property
    def name(self) -> str:
        """Column and value; of a long one its start and a hash."""
        value = " ".join(self.value.split())
        if len(value) > SHOWN:
            value = f"{value[:SHOWN]}...{content_hash(self.value)[:6]}"
        return f"{self.column}={value}"


def sliced(rows: Mapping[str, Sequence[Compared]], rule: Rule) -> tuple[dict[str, list[Compared]], dict[str, str]]:
    """The slices of each primary endpoint that are tested, by the name of their gate row, and why others are not."""
    tested: dict[str, list[Compared]] = {}
    left_out: dict[str, str] = {}
    for name, (one, *others) in rows.items():
        if one.budget == "primary" and one.after.slices and not others:
            every = _slices(one)
            kept = _kept(every, rule)
            tested |= {GateRowId(name).part(some.name): [one.slice(some.queries)] for some in kept}
            left_out |= _left_out(GateRowId(name), every, kept, rule)
    return tested, left_out


def _slices(one: Compared) -> list[Slice]:
    """Those of some queries and not all, of most clusters first; of two with the same queries the first by name."""
    said = [_columns(text) for text in one.after.slices]
    at: dict[tuple[str, str], list[int]] = {}
    for i, columns in enumerate(said):
        for entry in columns.items():
            at.setdefault(entry, []).append(i)
    distinct = {tuple(rows): entry for entry, rows in sorted(at.items(), reverse=True) if len(rows) < len(said)}
    things = numbered(one.before.things)
    chosen = [(entry, np.array(rows, np.intp)) for rows, entry in distinct.items()]
    found = [Slice(*entry, rows, sharing_of(things[rows]).independent) for entry, rows in chosen]
    return sorted(found, key=lambda some: (-some.clusters, -len(some.queries), some.column, some.value))


def _columns(text: str) -> dict[str, str]:
    """Column -> value; nothing if the run is of an encheck that wrote them otherwise."""
    try:
        found = json.loads(text or "{}")
    except ValueError:
        return {}
    return {name: str(value) for name, value in found.items()} if isinstance(found, dict) else {}


def _kept(every: Sequence[Slice], rule: Rule) -> list[Slice]:
    return [some for some in every if some.clusters >= rule.slice_clusters][: rule.max_slices]


def _left_out(row: GateRowId, every: Sequence[Slice], kept: Sequence[Slice], rule: Rule) -> dict[str, str]:
    """Why the other slices are not tested, a line a column for those that are too small."""
    small = Counter(some.column for some in every if some.clusters < rule.slice_clusters)
    found = {
        str(row.part(column)): f"{count:,} of its slices have fewer than {rule.slice_clusters} clusters of queries"
        for column, count in sorted(small.items())
    }
    beyond = [some.name for some in every if some.clusters >= rule.slice_clusters][len(kept) :]
    if beyond:
        named = ", ".join(beyond[:NAMED]) + (f" and {len(beyond) - NAMED:,} more" if len(beyond) > NAMED else "")
        tested = f"at most {rule.max_slices} are tested, those with the most clusters"
        found[str(row.part("slices"))] = f"{tested}; not tested: {named}"
    return found
