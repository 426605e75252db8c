"""The items of a run as an Arrow table: one row per item of a check and model, and whether it was won."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from encheck.metrics.pairs import margin_wins
from encheck.run_file import RunFile
from encheck.scoring.frame import Columns, ItemFrame
from encheck.scoring.scale import Scale
from encheck.scoring.scores import read_item_frame

COLUMNS = ("item", "cluster", "split", "label", "gold", "source", "near", "far", "near_score", "far_score")
NOT_FOR_TRAINING = (
    "a gate decides by these items: not for training, for a model that has seen them looks better than it is"
)


def item_table(results: RunFile, items: Mapping[str, Columns]) -> Any:
    """The `pyarrow.Table` built from results.json and items.parquet.

    `won` is 1 if the near text is nearer than the far one, 1/2 for a tie, 0 if it is not, null if an item is
    not a contest of two. The table's metadata warn against training on its items.
    """
    import pyarrow

    of_case = {str(row.case): row for row in results.checks}
    scales = {(data.name, model): scale for data in results.data for model, scale in data.calibration.items()}
    tables = []
    for case, columns in sorted(items.items()):
        row = of_case[case]
        frame = read_item_frame(row.case, columns)
        named = {name: [getattr(row, name)] * len(frame) for name in ("model", "property", "check", "data", "level")}
        kept = {name: columns.get(name) or [None] * len(frame) for name in COLUMNS}
        won = _won(frame, scales.get((row.data, row.model), Scale(0.0)))
        tables.append(pyarrow.table(named | kept | {"won": won}, schema=_schema()))
    return pyarrow.concat_tables(tables) if tables else _schema().empty_table()


def _won(frame: ItemFrame, scale: Scale) -> list[float | None]:
    if frame.far is None or not frame.compares_near_and_far:
        return [None] * len(frame)
    found = margin_wins(scale.margins(frame.near.scores, frame.far.scores))
    return [None if np.isnan(far) else float(won) for won, far in zip(found, frame.far.scores, strict=True)]


def _schema() -> Any:
    import pyarrow

    text, number = pyarrow.string(), pyarrow.float64()
    types = dict.fromkeys(("model", "property", "check", "data", "level", *COLUMNS), text)
    types |= {"label": pyarrow.int8(), "gold": number, "near_score": number, "far_score": number, "won": number}
    return pyarrow.schema(types, metadata={"encheck": NOT_FOR_TRAINING})
