"""Figures of training runs, for the tables that need training: read from a folder of JSON files, a seed each.

    {"seed": 0, "model": "sbert", "command": "python recipes/train_head.py ...",
     "papers": [{"paper": "002", "table": "T5", "row": "(u, v, |u-v|)", "column": "MSRP", "value": 80.68, "n": 1725}]}

Every `*.json` below the folder that has the key `papers` counts; other files and other keys are left alone. Rows and
columns are those of published/NNN.csv, or names of their own for what a paper does not have (a control). `value` is in
the unit of the table. Files of one paper, table, row, column and model are seeds of one figure: its value is their
mean, `error` the standard error, and the interval that of Student's t over the seeds. One seed has no interval.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from papers_measure import shown
from papers_ours import Figure, Label, Measured
from papers_published import PAPERS, published, tables
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from scipy.stats import t

from encheck.errors import DataError


class Value(BaseModel):
    """A figure of one seed."""

    model_config = ConfigDict(extra="ignore", strict=True)
    paper: str
    table: str
    row: str
    column: str
    value: Annotated[float, Field(allow_inf_nan=False)]
    n: int | None = None


class Run(BaseModel):
    """A finished run of one seed."""

    model_config = ConfigDict(extra="ignore", strict=True)
    seed: int
    model: str
    papers: list[Value]
    command: str = ""


def read(folder: Path) -> Iterator[tuple[Path, Run]]:
    """The runs of a folder.

    Raises:
        DataError: there is no such folder, a file is cut off, or a run lacks a key or has a value that is no number.
    """
    if not folder.is_dir():
        raise DataError(f"--runs={folder}: no such folder")
    for path in sorted(folder.rglob("*.json")):
        if (raw := _json(path)) is not None:
            try:
                yield path, Run.model_validate(raw)
            except ValidationError as error:
                first = error.errors()[0]
                where = ".".join(map(str, first["loc"]))
                raise DataError(f"{path}: {where}: {first['msg']}") from None


def _json(path: Path) -> dict[str, Any] | None:
    """What a file holds if it is one of ours."""
    try:
        raw = json.loads(path.read_text("utf-8"))
    except ValueError as error:
        raise DataError(f"{path}: no JSON ({error}). Remedy: delete it, and let its recipe make it again") from None
    return raw if isinstance(raw, dict) and "papers" in raw else None


def measured(folder: Path) -> list[Measured]:
    """The figures over seeds, one measurement for each paper and model.

    Raises:
        DataError: as `read`; a paper or table is unknown; or a seed stands there twice.
    """
    found: dict[tuple[str, str], dict[tuple[str, str, str], dict[int, Value]]] = defaultdict(lambda: defaultdict(dict))
    commands: dict[tuple[str, str], str] = {}
    for path, run in read(folder):
        for value in run.papers:
            _refuse_unknown(path, value)
            seeds = found[value.paper, run.model][value.table, value.row, value.column]
            if run.seed in seeds:
                raise DataError(f"{path}: seed {run.seed} of {value.table}, {value.row}, {value.column} is there twice")
            seeds[run.seed] = value
            commands[value.paper, run.model] = run.command
    return [
        _measurement(paper, model, commands[paper, model], by_place) for (paper, model), by_place in found.items()
    ]  # fmt: skip


def _refuse_unknown(path: Path, value: Value) -> None:
    if value.paper not in PAPERS:
        raise DataError(f"{path}: paper {value.paper!r}, but should be one of {', '.join(PAPERS)}")
    if value.table not in tables(value.paper):
        raise DataError(f"{path}: table {value.table!r} of {value.paper} is none of {', '.join(tables(value.paper))}")


def _measurement(
    paper: str, model: str, command: str, by_place: dict[tuple[str, str, str], dict[int, Value]]
) -> Measured:
    rows = {(cell.table, cell.row) for cell in published(paper)}
    figures, labels = [], {}
    for (table, row, column), seeds in by_place.items():
        own = f"{row}, {shown(model)}"
        labels[own] = Label((row,) if (table, row) in rows else (), ("model",))
        figures.append(_over_seeds(table, own, column, list(seeds.values())))
    return Measured(paper, "training runs", model, command, tuple(figures), labels)


def _over_seeds(table: str, row: str, column: str, seeds: Sequence[Value]) -> Figure:
    values = np.array([one.value for one in seeds])
    if len(values) == 1:
        return Figure(table, row, column, float(values[0]), n=1)
    error = float(values.std(ddof=1) / np.sqrt(len(values)))
    half = float(t.ppf(0.975, len(values) - 1)) * error
    mean = float(values.mean())
    return Figure(table, row, column, mean, mean - half, mean + half, len(values), error)


def described(found: Iterable[Measured]) -> Iterator[str]:
    """How many figures each measurement has, and from how many seeds: a line each."""
    for one in found:
        seeds = sorted({figure.n or 0 for figure in one.figures})
        said = str(seeds[0]) if len(seeds) == 1 else f"{seeds[0]} to {seeds[-1]}"
        yield f"{one.paper}, {one.model}: {len(one.figures)} figures of {said} seeds ({', '.join(one.tables())})"
