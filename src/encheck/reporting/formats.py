"""A run in other formats: model-card metadata, evaluation results, MTEB-style JSON, tables.

Only writes files; never pushes.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from encheck.errors import UsageError, unknown_name_message
from encheck.reporting.results import into
from encheck.reporting.view import best_surface
from encheck.run_file import Result, RunFile
from encheck.scoring.splits import TEST, join_split_names
from encheck.system.files import write_text, write_whole
from encheck.system.terminal import safe_cell

Splits = Mapping[str, Collection[str]]  # of the items of each case
COLUMNS = (
    "model", "data", "property", "check", "level", "metric", "value", "low", "high", "n", "clusters", "floor",
    "aim", "verdict", "baseline", "best_surface", "best_surface_value", "id",
)  # fmt: skip


def export(
    results: RunFile, folder: Path, *, formats: Sequence[str], splits: Splits = MappingProxyType({})
) -> list[Path]:
    """Write a run in these formats and return the files. UsageError for an unknown format or an unwritable place.

    `splits` are those of each case's items, from `read_splits`; without them, formats that need one say `all`.
    """
    for name in formats:
        if name not in FORMATS:
            raise UsageError(unknown_name_message("format", name, FORMATS))
    declared = results.declarations
    measured: dict[str, set[str]] = {}
    for row in results.checks:
        of_items = set(splits.get(case := str(row.case), ()))
        measured[case] = (of_items & TEST if declared[row.check].part == "test" else set()) or of_items
    with into(folder):
        return [path for name in formats for path in FORMATS[name](results, folder, measured)]


def _split(rows: Sequence[Result], splits: Splits) -> str:
    """The name of the splits of these figures: dev+gate, or `all`."""
    return join_split_names(split for row in rows for split in splits.get(str(row.case), ()))


def figures(results: RunFile, model: str) -> list[Result]:
    """The rows of a model with a figure; those that decide or have an aim come first."""
    rows = [r for r in results.checks if r.model == model and r.value is not None]
    return sorted(rows, key=lambda r: (r.aim is None, r.id))


def deciding(results: RunFile, model: str) -> list[Result]:
    """One figure per check, data set and level: the one that decides."""
    return [row for row in figures(results, model) if row.aim is not None]


def model_index(results: RunFile, model: str, splits: Splits = MappingProxyType({})) -> list[dict[str, Any]]:
    """The `model-index` of a model card: one result per property and data set, with the deciding figures."""
    found = [_indexed(name, data, rows, splits) for (name, data), rows in _by_task(results, model).items()]
    return [{"name": model, "results": found}]


def _indexed(name: str, data: str, rows: Sequence[Result], splits: Splits) -> dict[str, Any]:
    about = {"type": f"encheck/{data}", "name": f"encheck {name} on {data}", "split": _split(rows, splits)}
    metrics = [
        {"type": r.metric, "value": _rounded(r.value), "name": f"{r.check.replace('_', ' ')} ({r.data}, {r.level})"}
        for r in rows
    ]
    task = {"type": "sentence-similarity", "name": "Behavioural tests"}
    return {"task": task, "dataset": about, "metrics": metrics}


def _by_task(results: RunFile, model: str) -> dict[tuple[str, str], list[Result]]:
    """The deciding figures of each property and data set."""
    tasks: dict[tuple[str, str], list[Result]] = {}
    for row in deciding(results, model):
        tasks.setdefault((row.property, row.data), []).append(row)
    return tasks


def eval_results(results: RunFile, model: str) -> list[dict[str, Any]]:
    """The hub's newer form, a list for `.eval_results/encheck.yaml`: dataset, task, value, date, notes."""
    day = str(results.run.started)[:10]
    version = results.run.versions.get("encheck", "")
    return [
        {
            "dataset": {"id": f"encheck/{row.data}", "task_id": f"{row.check}/{row.level}"},
            "value": _rounded(row.value),
            "date": day,
            "notes": f"{row.metric}, 95% CI {_rounded(row.low)} to {_rounded(row.high)}, encheck {version}",
        }
        for row in deciding(results, model)
    ]


def mteb(results: RunFile, model: str, splits: Splits = MappingProxyType({})) -> list[dict[str, Any]]:
    """Results in MTEB's format, one object per property and data set: `scores` by split, with `main_score`."""
    return [_task(results, name, data, rows, splits) for (name, data), rows in _by_task(results, model).items()]


def _task(results: RunFile, name: str, data: str, rows: Sequence[Result], splits: Splits) -> dict[str, Any]:
    scores = {f"{row.check}_{row.level}": _rounded(row.value) for row in rows}
    about = next(d for d in results.data if d.name == data)
    main = sum(row.value or 0.0 for row in rows) / len(rows)
    one = {**scores, "main_score": _rounded(main), "hf_subset": "default", "languages": ["eng-Latn"]}
    return {
        "dataset_revision": about.fingerprint,
        "task_name": f"Encheck{name.title().replace('_', '')}.{data}",
        "mteb_version": None,
        "scores": {_split(rows, splits): [one]},
        "evaluation_time": results.run.seconds,
        "kg_co2_emissions": None,
    }


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 6)


def _models(results: RunFile) -> list[str]:
    return [m.label for m in results.models if deciding(results, m.label)]


def _write_model_index(results: RunFile, folder: Path, splits: Splits) -> list[Path]:
    return [
        _yaml(folder / f"{m}.model-index.yaml", {"model-index": model_index(results, m, splits)})
        for m in _models(results)
    ]


def _write_eval_results(results: RunFile, folder: Path, _splits: Splits) -> list[Path]:
    return [_yaml(folder / f"{m}.eval_results.yaml", eval_results(results, m)) for m in _models(results)]


def _write_mteb(results: RunFile, folder: Path, splits: Splits) -> list[Path]:
    paths = []
    for model in _models(results):
        for task in mteb(results, model, splits):
            path = folder / "mteb" / model / f"{task['task_name']}.json"
            path.parent.mkdir(parents=True, exist_ok=True)
            write_text(path, json.dumps(task, indent=2, ensure_ascii=False) + "\n")
            paths.append(path)
    return paths


def _flat(results: RunFile) -> list[dict[str, Any]]:
    """One row per figure in `COLUMNS`, with the baseline's and the best surface scorer's figures."""
    flat = []
    for row in (row for model in results.models for row in figures(results, model.label)):
        best = best_surface(row)
        beside = {
            "baseline": row.baseline.value if row.baseline else None,
            "best_surface": best[0] if best else None,
            "best_surface_value": best[1] if best else None,
        }
        flat.append({name: beside[name] if name in beside else getattr(row, name) for name in COLUMNS})
    return flat


def _write_csv(results: RunFile, folder: Path, _splits: Splits) -> list[Path]:
    path = folder / "figures.csv"
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, COLUMNS)
    writer.writeheader()
    writer.writerows({k: safe_cell(v) for k, v in row.items()} for row in _flat(results))
    write_text(path, out.getvalue())
    return [path]


def _write_parquet(results: RunFile, folder: Path, _splits: Splits) -> list[Path]:
    import pyarrow
    import pyarrow.parquet

    path, rows = folder / "figures.parquet", _flat(results)
    numbers = {"value", "low", "high", "floor", "aim", "baseline", "best_surface_value"}
    types = {
        k: pyarrow.float64() if k in numbers else pyarrow.int64() if k in ("n", "clusters") else None for k in COLUMNS
    }
    arrays = {k: pyarrow.array([r[k] for r in rows], types[k] or pyarrow.string()) for k in COLUMNS}
    with write_whole(path) as file:
        pyarrow.parquet.write_table(pyarrow.table(arrays), file)
    return [path]


def _yaml(path: Path, value: Any) -> Path:
    import yaml

    write_text(path, yaml.safe_dump(value, sort_keys=False, allow_unicode=True))
    return path


FORMATS: dict[str, Callable[[RunFile, Path, Splits], list[Path]]] = {
    "model-index": _write_model_index,
    "eval-results": _write_eval_results,
    "mteb": _write_mteb,
    "csv": _write_csv,
    "parquet": _write_parquet,
}
