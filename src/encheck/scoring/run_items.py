"""The items of a run in one Arrow table. Measuring, items.parquet, gate, comparison and page use the same schema."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from encheck.scoring.frame import Columns

if TYPE_CHECKING:
    from pyarrow import Schema, Table

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


def item_table(columns: Columns) -> Table:
    """Return the items of one case as a table of `item_schema`. Columns that `columns` lacks are empty."""
    import pyarrow

    count = len(columns["item"])
    filled = {name: columns.get(name) or [None] * count for name in (*COLUMNS, *OPTIONAL)}
    return pyarrow.table(filled, schema=item_schema())


class RunItems(Mapping[str, Columns]):
    """The items of a run. `table` has one row per item of a case, grouped by case.

    Index by a case (the text of its `CaseId`) to get the case's columns as plain Python values.
    """

    def __init__(self, table: Table) -> None:
        self.table = table
        cases = table["case"].to_pylist()
        starts = [i for i, case in enumerate(cases) if i == 0 or case != cases[i - 1]]
        self._spans = {cases[start]: (start, end) for start, end in pairwise([*starts, len(cases)])}
        self._columns: dict[str, dict[str, list[Any]]] = {}

    @classmethod
    def from_case_tables(cls, tables: Mapping[str, Table]) -> RunItems:
        """Return the items of these cases, in the order of the tables."""
        import pyarrow

        return cls(pyarrow.concat_tables([item_schema().empty_table(), *tables.values()]))

    @classmethod
    def from_columns(cls, cases: Mapping[str, Columns]) -> RunItems:
        """Make items from the columns of cases, in plain Python values."""
        return cls.from_case_tables({case: item_table(columns) for case, columns in cases.items()})

    def sorted_by_case(self) -> Table:
        """Return the table with the cases in the order of their names, as items.parquet has them."""
        import pyarrow

        slices = (self.table.slice(start, end - start) for _, (start, end) in sorted(self._spans.items()))
        return pyarrow.concat_tables([self.table.slice(0, 0), *slices])

    def __getitem__(self, case: str) -> Columns:
        if case not in self._columns:
            start, end = self._spans[case]
            self._columns[case] = self.table.slice(start, end - start).to_pydict()
        return self._columns[case]

    def __iter__(self) -> Iterator[str]:
        return iter(self._spans)

    def __len__(self) -> int:
        return len(self._spans)
