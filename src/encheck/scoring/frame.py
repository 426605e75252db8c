"""The scores of a case as the gate pairs them, and the items of a run in one Arrow table.

Measuring, items.parquet, gate, comparison and page use the same schema.
"""

from __future__ import annotations

import builtins
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from encheck.errors import UsageError
from encheck.ids import GateRowId, ItemId
from encheck.scoring.item import ItemFrame, TextColumns
from encheck.scoring.scale import Floats, Scale
from encheck.scoring.scores import KINDS, find_kind
from encheck.types import Declaration

if TYPE_CHECKING:
    from pyarrow import Schema, Table


T = TypeVar("T")
GATE_SPLIT, DEV_SPLIT, VALIDATION = "gate", "dev", "validation"


@dataclass(frozen=True)
class CaseScores:
    """The scores of one model in one case (check/data/level), with its items' ids, text hashes, clusters and splits.

    `far` holds the second score of each item, NaN if it has none; `kind` is triplet, turned, labelled or pair.
    `answers` has each query's answers in the format of `Answers`; it is empty if the items search no documents.
    `weights` has the frequency of each query of a log; such queries have no judgements. `slices` has the data's further
    columns for each query, as a JSON object; it is empty in a baseline, which stores no text. `shares` has hashes of
    what each item has in common with others, separated by blanks, or "" for an item that shares only its cluster; it is
    empty if that holds for all items. `gold` has human scores of graded pairs; a baseline stores none. `declared` is
    the check's declaration; None if the table's run does not have it.
    """

    case: str
    check: str
    property: str
    data: str
    level: str
    kind: str
    items: tuple[str, ...]
    texts: tuple[str, ...]
    clusters: tuple[str, ...]
    splits: tuple[str, ...]
    labels: tuple[int | None, ...]
    near: Floats
    far: Floats
    declared: Declaration | None = None
    answers: tuple[str, ...] = ()
    weights: tuple[int, ...] = ()
    slices: tuple[str, ...] = ()
    shares: tuple[str, ...] = ()
    gold: tuple[float | None, ...] = ()

    @builtins.property
    def gate_row(self) -> GateRowId:
        """The gate row of this case."""
        return GateRowId.of(self.property, self.data, self.level)

    def margins(self, scale: Scale) -> Floats:
        """Return near minus far, shape [n]; 0 for a tie on this scale."""
        return scale.margins(self.near, self.far)

    @builtins.property
    def chain_rows(self) -> list[list[int]]:
        """The positions of each chain's rows. There is one row per member, whose ids differ in the last part."""
        found: dict[ItemId, list[int]] = {}
        for i, item in enumerate(self.items):
            found.setdefault(ItemId(item).chain, []).append(i)
        return list(found.values())

    @builtins.property
    def shared_units(self) -> list[list[str]]:
        """What each item shares with others: its cluster, or the overlapping things that replace it."""
        if not self.shares:
            return [[cluster] for cluster in self.clusters]
        return [text.split() or [cluster] for text, cluster in zip(self.shares, self.clusters, strict=True)]

    def select(self, positions: NDArray[np.intp]) -> CaseScores:
        """Select some of the items."""

        def rows_of(values: tuple[T, ...]) -> tuple[T, ...]:
            return tuple(values[i] for i in positions.tolist()) if values else ()

        return replace(
            self, items=rows_of(self.items), texts=rows_of(self.texts), clusters=rows_of(self.clusters),
            splits=rows_of(self.splits), labels=rows_of(self.labels), near=self.near[positions],
            far=self.far[positions], answers=rows_of(self.answers), weights=rows_of(self.weights),
            slices=rows_of(self.slices), shares=rows_of(self.shares), gold=rows_of(self.gold),
        )  # fmt: skip

    def select_split(self, split: str) -> CaseScores:
        """Return the items of this split if the data have the splits dev and gate, otherwise all items outside
        `validation`.

        A gate uses only `gate`. The selection of checkpoints uses only `dev` or `validation`.
        """
        there = set(self.splits)
        if there & {DEV_SPLIT, GATE_SPLIT}:
            return self.select(np.flatnonzero([s == split for s in self.splits]))
        if VALIDATION in there and len(there) > 1:
            return self.select(np.flatnonzero([(s == VALIDATION) == (split == DEV_SPLIT) for s in self.splits]))
        return self


COLUMNS = (
    "case", "item", "cluster", "split", "label", "source", "near", "far", "near_edits", "far_edits",
    "near_score", "far_score", "near_overlap", "far_overlap", "kind",
)  # fmt: skip
OPTIONAL = (
    "gold", "key", "near_why", "far_why", "step", "source_is_second", "source_role", "text_role", "slice", "shares",
    "construction", "answers", "weight",
)  # fmt: skip
"""The columns that are empty for some kinds of items; docs/reference/results.md explains all columns."""


def item_schema() -> Schema:
    """Return the columns of items.parquet and their types."""
    import pyarrow

    types = dict.fromkeys((*COLUMNS, *OPTIONAL), pyarrow.string()) | {"label": pyarrow.int8(), "step": pyarrow.int32()}
    types |= {name: pyarrow.float64() for name in (*COLUMNS, "gold") if name.endswith(("_score", "_overlap", "gold"))}
    return pyarrow.schema(types | {"weight": pyarrow.int64(), "source_is_second": pyarrow.bool_()})


_FIELDS = {
    "item": "ids", "cluster": "clusters", "split": "splits", "label": "labels", "source": "sources", "gold": "gold",
    "key": "keys", "step": "steps", "source_is_second": "source_is_second", "slice": "slices", "shares": "shares",
    "construction": "constructions", "answers": "answers", "weight": "weights",
}  # fmt: skip
"""The columns whose values a field of `ItemFrame` has."""


def item_table(frame: ItemFrame) -> Table:
    """Return the items of one case as a table of `item_schema`."""
    import pyarrow

    columns = {name: getattr(frame, field) for name, field in _FIELDS.items()}
    for name, side in (("near", frame.near), ("far", frame.far)):
        if side:
            columns |= {name: side.texts, f"{name}_edits": side.edits, f"{name}_why": side.why}
            columns |= {f"{name}_score": side.scores.tolist()}
            columns |= {f"{name}_overlap": () if side.overlap is None else side.overlap.tolist()}
    count, (source_role, text_role) = len(frame), frame.roles
    same = {"case": frame.case, "kind": frame.kind.name, "source_role": source_role, "text_role": text_role}
    columns |= {name: [value or None] * count for name, value in same.items()}
    schema = item_schema()
    return pyarrow.table({name: columns.get(name) or [None] * count for name in schema.names}, schema=schema)


def read_item_frame(table: Table) -> ItemFrame:
    """Return the items of one case from the output of `item_table`. Raise UsageError for an unknown kind."""

    def column(name: str) -> tuple[Any, ...]:
        return () if table[name].null_count == len(table) else tuple(table[name].to_pylist())

    def side(name: str) -> TextColumns:
        texts, edits, why = (column(f"{name}{part}") for part in ("", "_edits", "_why"))
        overlap = table[f"{name}_overlap"].to_numpy() if column(f"{name}_overlap") else None
        return TextColumns(texts, table[f"{name}_score"].to_numpy(), overlap, edits, why)

    case, name, source_role, text_role = (
        table[name][0].as_py() for name in ("case", "kind", "source_role", "text_role")
    )
    if (kind := find_kind(name)) is None:
        raise UsageError(f"the kind of {case} is {name!r}, but should be one of {', '.join(KINDS)}")
    columns = {field: column(name) for name, field in _FIELDS.items()}
    columns["splits"] = tuple(split or "" for split in table["split"].to_pylist())
    far = side("far") if kind.score_form in ("triplet", "turned") else None
    return ItemFrame(kind, case, near=side("near"), far=far, roles=(source_role or "", text_role or ""), **columns)


class RunItems(Mapping[str, ItemFrame]):
    """The items of a run by case, the text of a `CaseId`. `table` has one row per item of a case, grouped by case.

    Raise UsageError for a case whose items have an unknown kind.
    """

    def __init__(self, table: Table) -> None:
        self.table = table
        cases = table["case"].to_pylist()
        starts = [i for i, case in enumerate(cases) if i == 0 or case != cases[i - 1]]
        self._spans = {cases[start]: (start, end) for start, end in pairwise([*starts, len(cases)])}
        self._frames: dict[str, ItemFrame] = {}

    @classmethod
    def from_tables(cls, tables: Iterable[Table]) -> RunItems:
        """Return the items of these cases, in the order of the tables."""
        import pyarrow

        return cls(pyarrow.concat_tables([item_schema().empty_table(), *tables]))

    def sorted_by_case(self) -> Table:
        """Return the table with the cases in the order of their names, as items.parquet has them."""
        import pyarrow

        slices = (self.table.slice(start, end - start) for _, (start, end) in sorted(self._spans.items()))
        return pyarrow.concat_tables([self.table.slice(0, 0), *slices])

    def __getitem__(self, case: str) -> ItemFrame:
        if case not in self._frames:
            start, end = self._spans[case]
            self._frames[case] = read_item_frame(self.table.slice(start, end - start))
        return self._frames[case]

    def __iter__(self) -> Iterator[str]:
        return iter(self._spans)

    def __len__(self) -> int:
        return len(self._spans)
