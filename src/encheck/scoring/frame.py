"""The scored items of a case by column, as the gate pairs them, and the items of a run in one Arrow table.

Measuring, items.parquet, gate, comparison and page use the same schema.
"""

from __future__ import annotations

import builtins
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from encheck.ids import CaseId, GateRowId, ItemId
from encheck.scoring.item import Item, Kind
from encheck.scoring.scale import TIE, Floats, Scale
from encheck.types import Declaration, Edit

if TYPE_CHECKING:
    from pyarrow import Schema, Table


Columns = Mapping[str, Sequence[Any]]
T = TypeVar("T")
SIDES = 2  # consecutive rows of a crossed group and of a contrast


@dataclass(frozen=True)
class TextColumns:
    """The texts compared with the sources, their scores and word overlap, shape [n] each, and their edits as JSON.

    There are no texts if the scores are those of the reversed pairs. `why` has the certificates, None for texts without
    one.
    """

    texts: tuple[str, ...]
    scores: Floats
    overlap: Floats | None = None
    edits: tuple[str | None, ...] = ()
    why: tuple[str | None, ...] = ()

    def columns(self, name: str, count: int) -> dict[str, list[Any]]:
        """Return the columns of these texts in a table of `count` rows. `name` is near or far."""
        return {
            name: list(self.texts) or [None] * count,
            f"{name}_edits": list(self.edits) or [None] * count,
            f"{name}_score": self.scores.tolist(),
            f"{name}_overlap": [None] * count if self.overlap is None else self.overlap.tolist(),
            **_drop_empty_columns({f"{name}_why": self.why}),
        }


@dataclass(frozen=True)
class ItemFrame:
    """The items of a case by column. A chain has a row per member, a crossed group or contrast a row per side.

    Every column has the length of `ids`, or is empty.

    `far` is the second text of each item, or its second score; None if items have only one. `roles` are the roles in
    which the sources and the other texts were encoded (query, document, or "" for none). `steps` are the numbers of
    chains' members and of groups' sides. `source_is_second` marks rows whose pairs were scored in reverse: (near,
    source), (far, source). `slices` names an item's part of the data; for a query, a JSON object of the data's further
    columns. `shares` has the hashes of what an item has in common with others, separated by blanks, or "" if items
    share only their cluster. `constructions` names how the texts of written contrasts differ. `gold` is the human
    score, `keys` the data's own names, `answers` the answers of a query in the format of `Answers`, `weights` the
    query's frequency.
    """

    kind: Kind
    case: CaseId
    ids: tuple[str, ...]
    sources: tuple[str, ...]
    near: TextColumns
    clusters: tuple[str, ...]
    splits: tuple[str, ...]
    far: TextColumns | None = None
    labels: tuple[int | None, ...] = ()
    gold: tuple[float | None, ...] = ()
    keys: tuple[str | None, ...] = ()
    steps: tuple[int, ...] = ()
    source_is_second: tuple[bool, ...] = ()
    slices: tuple[str, ...] = ()
    shares: tuple[str, ...] = ()
    constructions: tuple[str | None, ...] = ()
    answers: tuple[str, ...] = ()
    weights: tuple[int, ...] = ()
    roles: tuple[str, str] = ("", "")

    @classmethod
    def from_items(cls, kind: Kind, case: CaseId, items: Sequence[Item], **columns: Any) -> ItemFrame:
        """Return the frame of these items, one row each, with their ids, clusters and splits."""
        ids, clusters, splits = (tuple(getattr(i, name) for i in items) for name in ("id", "cluster", "split"))
        constructions = tuple(item.construction or None for item in items)
        columns |= {"shares": join_shares(items), "constructions": constructions if any(constructions) else ()}
        return cls(kind, case, ids, clusters=clusters, splits=splits, **columns)

    def __len__(self) -> int:
        return len(self.ids)

    def to_columns(self) -> dict[str, list[Any]]:
        """Return the columns of items.parquet in plain types. Empty optional columns are left out."""
        count = len(self)
        far = self.far.columns("far", count) if self.far else {name: [None] * count for name in _FAR}
        return {
            "case": [str(self.case)] * count,
            "item": [str(i) for i in self.ids],
            "cluster": list(self.clusters),
            "split": list(self.splits),
            "label": list(self.labels) or [None] * count,
            "source": list(self.sources),
            **self.near.columns("near", count),
            **far,
            "kind": [self.kind.name] * count,
            **_drop_empty_columns({name: getattr(self, field) for name, field in _SOME.items()}),
            **{name: [role] * count for name, role in zip(_ROLES, self.roles, strict=True) if role},
        }

    @classmethod
    def from_columns(cls, case: CaseId, kind: Kind, columns: Columns) -> ItemFrame:
        """Make a frame from the output of `to_columns` for items of this kind."""
        c = columns
        source_role, text_role = (next(iter(_values_or_none(c, name)), "") for name in _ROLES)
        given = {field: _values_or_none(c, name) for name, field in (_SOME | {"label": "labels"}).items()}
        return cls(
            kind, case, tuple(c["item"]), tuple(c["source"]), _read_text_columns(c, "near"), tuple(c["cluster"]),
            tuple(s or "" for s in c["split"]),
            _read_text_columns(c, "far") if kind.score_form in ("triplet", "turned") else None,
            roles=(source_role, text_role), **given,
        )  # fmt: skip

    @property
    def compares_near_and_far(self) -> bool:
        """Whether each item has a far text that the near text has to beat."""
        return self.kind.compares_near_and_far

    @property
    def sort_keys(self) -> Floats:
        """A sort key for items, higher is better: the margin, or a pair's similarity (negated for a negative pair)."""
        if self.far is None:
            return np.where(self._is_negative, -self.near.scores, self.near.scores)
        margins = self.near.scores - self.far.scores
        if self.kind.sides > 1:  # a group counts by its worse side, and its sides stay together
            return np.repeat(margins.reshape(-1, self.kind.sides).min(axis=1), self.kind.sides)
        return margins if self.compares_near_and_far else -np.abs(margins)

    def worst_positions(self, count: int) -> list[int]:
        """Return positions of the worst items, the worst first."""
        right = self.sort_keys.tolist()
        return sorted(range(len(self)), key=right.__getitem__)[:count]

    def mark_lost(self, *, epsilon: float = 0.0, unit: float = 1.0) -> list[bool]:
        """Return for each item whether its margin is at most `epsilon` times `unit`; a tie also counts as lost."""
        if self.far is None or not self.compares_near_and_far:
            return [False] * len(self)
        found: list[bool] = (self.near.scores - self.far.scores <= ((epsilon or TIE) + 1e-12) * unit).tolist()
        return found

    def high_and_low_scores(self) -> tuple[Floats, Floats]:
        """Return the scores that should be high and the scores that should be low: of two texts, or of the two labels'
        pairs.
        """
        if self.far is not None:
            return self.near.scores, self.far.scores if self.compares_near_and_far else np.zeros(0)
        return self.near.scores[~self._is_negative], self.near.scores[self._is_negative]

    @property
    def _is_negative(self) -> NDArray[np.bool_]:
        return np.array([label == 0 for label in self.labels] or [False] * len(self), bool)


_FAR = ("far", "far_edits", "far_score", "far_overlap")
_SOME = {
    "gold": "gold",
    "key": "keys",
    "step": "steps",
    "source_is_second": "source_is_second",
    "slice": "slices",
    "shares": "shares",
    "construction": "constructions",
    "answers": "answers",
    "weight": "weights",
}
_ROLES = ("source_role", "text_role")


def join_shares(items: Sequence[Item]) -> tuple[str, ...]:
    """Return the column of what each item shares with others; empty if all items share only their cluster."""
    found = tuple(" ".join(item.shares) for item in items)
    return found if any(found) else ()


def edits_json(edits: Sequence[Edit]) -> str:
    """Return the edits as JSON, which is the format of the columns.

    >>> edits_json([Edit(2, 6, "slow")])
    '[[2, 6, "slow"]]'
    """
    return json.dumps([[e.start, e.end, e.text] for e in edits], ensure_ascii=False) if edits else "[]"


def _read_text_columns(columns: Columns, name: str) -> TextColumns:
    texts, overlap = columns[name], columns[f"{name}_overlap"]
    return TextColumns(
        () if texts[0] is None else tuple(texts), np.array(columns[f"{name}_score"], float),
        None if overlap[0] is None else np.array(overlap, float),
        *(_values_or_none(columns, f"{name}_{what}") for what in ("edits", "why")),
    )  # fmt: skip


def _values_or_none(columns: Columns, name: str) -> tuple[Any, ...]:
    """Return a column, or an empty one if no item has a value."""
    found = columns.get(name) or ()
    return tuple(found) if any(value is not None for value in found) else ()


def _drop_empty_columns(columns: Mapping[str, Sequence[Any]]) -> dict[str, list[Any]]:
    return {name: list(values) for name, values in columns.items() if any(value is not None for value in values)}


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
