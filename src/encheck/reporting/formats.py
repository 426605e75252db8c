"""Write a run in other formats: model-card metadata, evaluation results, MTEB's JSON, tables of figures and of items.

This only writes files. Nothing is uploaded.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from encheck.errors import UsageError, unknown_name_message
from encheck.metrics.pairs import margin_wins
from encheck.reporting.results import writable_folder
from encheck.reporting.view import Items, best_surface
from encheck.run_file import Result, RunFile
from encheck.scoring.frame import item_table
from encheck.scoring.item import ItemFrame
from encheck.scoring.scale import Scale
from encheck.scoring.splits import TEST, join_split_names
from encheck.system.files import write_text, write_whole
from encheck.system.terminal import safe_cell

if TYPE_CHECKING:
    from pyarrow import Schema, Table

FORMATS = ("model-index", "eval-results", "mteb", "csv", "parquet")
Splits = Mapping[str, Collection[str]]  # of the items of each case
COLUMNS = (
    "model", "data", "property", "check", "level", "metric", "value", "low", "high", "n", "clusters", "floor",
    "aim", "verdict", "baseline", "best_surface", "best_surface_value", "id",
)  # fmt: skip


def export_run(
    results: RunFile, folder: Path, *, formats: Sequence[str], splits: Splits = MappingProxyType({})
) -> list[Path]:
    """Write a run in these formats and return the files.

    `splits` are the splits of each case's items, from `read_splits`. Without them, formats that need a split say `all`.
    Raise UsageError for an unknown format, or if a file cannot be written.
    """
    for name in formats:
        if name not in FORMATS:
            raise UsageError(unknown_name_message("format", name, FORMATS))
    declared = results.declarations
    measured: dict[str, set[str]] = {}
    for row in results.checks:
        of_items = set(splits.get(case := str(row.case), ()))
        measured[case] = (of_items & TEST if declared[row.check].part == "test" else set()) or of_items
    with writable_folder(folder):
        return [path for name in formats for path in _write_format(name, results, folder, measured)]


def _split_name(rows: Sequence[Result], splits: Splits) -> str:
    """Return the name of the splits behind these figures: dev+gate, or `all`."""
    return join_split_names(split for row in rows for split in splits.get(str(row.case), ()))


def figures_of_model(results: RunFile, model: str) -> list[Result]:
    """Return a model's rows that have a figure, starting with those that decide or have an aim."""
    rows = [r for r in results.checks if r.model == model and r.value is not None]
    return sorted(rows, key=lambda r: (r.aim is None, r.id))


def deciding_figures(results: RunFile, model: str) -> list[Result]:
    """Return the deciding figure of each check, data set and level."""
    return [row for row in figures_of_model(results, model) if row.aim is not None]


def model_index(results: RunFile, model: str, splits: Splits = MappingProxyType({})) -> list[dict[str, object]]:
    """Return a model card's `model-index`, with a result for the deciding figures of each property and data set."""
    found = []
    for (name, data), rows in _deciding_by_task(results, model).items():
        about = {"type": f"encheck/{data}", "name": f"encheck {name} on {data}", "split": _split_name(rows, splits)}
        metrics = [
            {"type": r.metric, "value": _rounded(r.value), "name": f"{r.check.replace('_', ' ')} ({r.data}, {r.level})"}
            for r in rows
        ]
        task = {"type": "sentence-similarity", "name": "Behavioural tests"}  # shared, it would be an anchor in YAML
        found.append({"task": task, "dataset": about, "metrics": metrics})
    return [{"name": model, "results": found}]


def _deciding_by_task(results: RunFile, model: str) -> dict[tuple[str, str], list[Result]]:
    """Return the deciding figures by (property, data set)."""
    tasks: dict[tuple[str, str], list[Result]] = {}
    for row in deciding_figures(results, model):
        tasks.setdefault((row.property, row.data), []).append(row)
    return tasks


def eval_results(results: RunFile, model: str) -> list[dict[str, object]]:
    """Return the entries of `.eval_results/encheck.yaml`, the hub's newer form: dataset, task, value, date, notes."""
    day = str(results.run.started)[:10]
    version = results.run.versions.get("encheck", "")
    return [
        {
            "dataset": {"id": f"encheck/{row.data}", "task_id": f"{row.check}/{row.level}"},
            "value": _rounded(row.value),
            "date": day,
            "notes": f"{row.metric}, 95% CI {_rounded(row.low)} to {_rounded(row.high)}, encheck {version}",
        }
        for row in deciding_figures(results, model)
    ]


def mteb_results(results: RunFile, model: str, splits: Splits = MappingProxyType({})) -> list[dict[str, object]]:
    """Return results in MTEB's format, one object per property and data set: `scores` by split, with `main_score`."""
    fingerprints = {one.name: one.fingerprint for one in results.data}
    tasks: list[dict[str, object]] = []
    for (name, data), rows in _deciding_by_task(results, model).items():
        scores = {f"{row.check}_{row.level}": _rounded(row.value) for row in rows}
        main = sum(row.value or 0.0 for row in rows) / len(rows)
        one = {**scores, "main_score": _rounded(main), "hf_subset": "default", "languages": ["eng-Latn"]}
        tasks.append({
            "dataset_revision": fingerprints[data],
            "task_name": f"Encheck{name.title().replace('_', '')}.{data}",
            "mteb_version": None,
            "scores": {_split_name(rows, splits): [one]},
            "evaluation_time": results.run.seconds,
            "kg_co2_emissions": None,
        })  # fmt: skip
    return tasks


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 6)


def _figure_rows(results: RunFile) -> list[dict[str, object]]:
    """Return a row with the columns `COLUMNS` for each figure, with the baseline's and the best surface scorer's
    figures.
    """
    flat = []
    for row in (row for model in results.models for row in figures_of_model(results, model.label)):
        best = best_surface(row)
        beside = {
            "baseline": row.baseline.value if row.baseline else None,
            "best_surface": best[0] if best else None,
            "best_surface_value": best[1] if best else None,
        }
        flat.append({name: beside[name] if name in beside else getattr(row, name) for name in COLUMNS})
    return flat


def _write_format(name: str, results: RunFile, folder: Path, splits: Splits) -> list[Path]:
    """Write one format and return its files."""
    import pyarrow
    import pyarrow.parquet

    models = [model.label for model in results.models if deciding_figures(results, model.label)]
    if name == "model-index":
        cards = {model: {"model-index": model_index(results, model, splits)} for model in models}
        return [_write_yaml(folder / f"{model}.model-index.yaml", card) for model, card in cards.items()]
    if name == "eval-results":
        return [_write_yaml(folder / f"{m}.eval_results.yaml", eval_results(results, m)) for m in models]
    if name == "mteb":
        paths = []
        for model in models:
            for task in mteb_results(results, model, splits):
                path = folder / "mteb" / model / f"{task['task_name']}.json"
                path.parent.mkdir(parents=True, exist_ok=True)
                write_text(path, json.dumps(task, indent=2, ensure_ascii=False) + "\n")
                paths.append(path)
        return paths
    path, rows = folder / f"figures.{name}", _figure_rows(results)
    if name == "csv":
        out = io.StringIO(newline="")
        writer = csv.DictWriter(out, COLUMNS)
        writer.writeheader()
        writer.writerows({k: safe_cell(v) for k, v in row.items()} for row in rows)
        write_text(path, out.getvalue())
        return [path]
    types = dict.fromkeys(COLUMNS, pyarrow.string()) | dict.fromkeys(("n", "clusters"), pyarrow.int64())
    numbers = ("value", "low", "high", "floor", "aim", "baseline", "best_surface_value")
    types |= dict.fromkeys(numbers, pyarrow.float64())
    arrays = {name: pyarrow.array([row[name] for row in rows], types[name]) for name in COLUMNS}
    with write_whole(path) as file:
        pyarrow.parquet.write_table(pyarrow.table(arrays), file)
    return [path]


def _write_yaml(path: Path, value: object) -> Path:
    import yaml

    write_text(path, yaml.safe_dump(value, sort_keys=False, allow_unicode=True))
    return path


ITEM_COLUMNS = ("item", "cluster", "split", "label", "gold", "source", "near", "far", "near_score", "far_score")
NOT_FOR_TRAINING = (
    "not for training: a gate decides by these items, and a model that has seen them looks better than it is"
)


def items_with_outcomes(results: RunFile, items: Items) -> Table:
    """Return a `pyarrow.Table` made from results.json and items.parquet.

    `won` is 1 if the near text is nearer than the far text, 1/2 for a tie, and 0 otherwise. It is null if the item does
    not compare two texts. The table's metadata warn against training on the items.
    """
    import pyarrow

    of_case = {str(row.case): row for row in results.checks}
    scales = {(data.name, model): scale for data in results.data for model, scale in data.calibration.items()}
    tables = []
    for case, frame in sorted(items.items()):
        row, kept = of_case[case], item_table(frame).select(ITEM_COLUMNS)
        named = {name: [getattr(row, name)] * len(frame) for name in ("model", "property", "check", "data", "level")}
        won = _won_items(frame, scales.get((row.data, row.model), Scale(0.0)))
        columns = named | dict(zip(ITEM_COLUMNS, kept.columns, strict=True)) | {"won": won}
        tables.append(pyarrow.table(columns, schema=_item_table_schema()))
    return pyarrow.concat_tables(tables) if tables else _item_table_schema().empty_table()


def _won_items(frame: ItemFrame, scale: Scale) -> list[float | None]:
    if frame.far is None or not frame.compares_near_and_far:
        return [None] * len(frame)
    found = margin_wins(scale.margins(frame.near.scores, frame.far.scores))
    return [None if np.isnan(far) else float(won) for won, far in zip(found, frame.far.scores, strict=True)]


def _item_table_schema() -> Schema:
    import pyarrow

    text, number = pyarrow.string(), pyarrow.float64()
    types = dict.fromkeys(("model", "property", "check", "data", "level", *ITEM_COLUMNS), text)
    types |= {"label": pyarrow.int8(), "gold": number, "near_score": number, "far_score": number, "won": number}
    return pyarrow.schema(types, metadata={"encheck": NOT_FOR_TRAINING})
