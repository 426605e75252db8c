"""A run in other people's formats: model-card metadata, evaluation results, MTEB-style JSON, tables.

Files are written and nothing is ever pushed.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from encheck.errors import UsageError, unknown
from encheck.gating.declared import declarations
from encheck.ids import CaseId
from encheck.reporting.results import into
from encheck.reporting.view import best_surface
from encheck.scoring.splits import TEST, splits_together
from encheck.system.cells import safe_cell
from encheck.system.files import whole, write_text
from encheck.types import Declaration

Results = Mapping[str, Any]
Row = Mapping[str, Any]
COLUMNS = (
    "model", "data", "property", "check", "level", "metric", "value", "low", "high", "n", "clusters", "floor",
    "aim", "verdict", "baseline", "best_surface", "best_surface_value", "id",
)  # fmt: skip


def export(
    results: Results, folder: Path, *, formats: Sequence[str], splits: Mapping[str, Collection[str]] | None = None
) -> list[Path]:
    """Write a run in these formats; the files written. UsageError for an unknown format, or a place that takes none.

    `splits` are those of each case's items, as `read_splits` gives them; formats that want one say `all` without.
    """
    for name in formats:
        if name not in FORMATS:
            raise UsageError(unknown("format", name, FORMATS))
    declared = declarations(results)
    rows = [{**r, "splits": _measured(r, declared[r["check"]], splits or {})} for r in results["checks"]]
    with into(folder):
        return [path for name in formats for path in FORMATS[name]({**results, "checks": rows}, folder)]


def _measured(row: Row, declared: Declaration, splits: Mapping[str, Collection[str]]) -> set[str]:
    """The splits that a row's figure is of."""
    found = set(splits.get(str(CaseId.of(row)), ()))
    return (found & TEST if declared.part == "test" else set()) or found


def _split(rows: Sequence[Row]) -> str:
    """What the splits of these figures are called: dev+gate, or `all`."""
    return splits_together(split for row in rows for split in row["splits"])


def figures(results: Results, model: str) -> list[Row]:
    """The rows of a model that have a figure, those that decide or have an aim first."""
    rows = [r for r in results["checks"] if r["model"] == model and r["value"] is not None]
    return sorted(rows, key=lambda r: (r["aim"] is None, r["id"]))


def deciding(results: Results, model: str) -> list[Row]:
    """One figure a check, data set and level: the one that decides."""
    return [row for row in figures(results, model) if row["aim"] is not None]


def _title(row: Row) -> str:
    return f"{row['check'].replace('_', ' ')} ({row['data']}, {row['level']})"


def model_index(results: Results, model: str) -> list[dict[str, Any]]:
    """The `model-index` of a model card: one result a property and data set, its metrics the deciding figures."""
    found = [_indexed(name, data, rows) for (name, data), rows in _by_task(results, model).items()]
    return [{"name": model, "results": found}]


def _indexed(name: str, data: str, rows: Sequence[Row]) -> dict[str, Any]:
    about = {"type": f"encheck/{data}", "name": f"encheck {name} on {data}", "split": _split(rows)}
    metrics = [{"type": r["metric"], "value": _rounded(r["value"]), "name": _title(r)} for r in rows]
    task = {"type": "sentence-similarity", "name": "Behavioural tests"}
    return {"task": task, "dataset": about, "metrics": metrics}


def _by_task(results: Results, model: str) -> dict[tuple[str, str], list[Row]]:
    """The deciding figures of each property and data set."""
    tasks: dict[tuple[str, str], list[Row]] = {}
    for row in deciding(results, model):
        tasks.setdefault((row["property"], row["data"]), []).append(row)
    return tasks


def eval_results(results: Results, model: str) -> list[dict[str, Any]]:
    """The hub's newer form, a list for `.eval_results/encheck.yaml`: dataset, task, value, date, notes."""
    day = str(results["run"]["started"])[:10]
    version = results["run"]["versions"].get("encheck", "")
    return [
        {
            "dataset": {"id": f"encheck/{row['data']}", "task_id": f"{row['check']}/{row['level']}"},
            "value": _rounded(row["value"]),
            "date": day,
            "notes": f"{row['metric']}, 95% CI {_rounded(row['low'])} to {_rounded(row['high'])}, encheck {version}",
        }
        for row in deciding(results, model)
    ]


def mteb(results: Results, model: str) -> list[dict[str, Any]]:
    """Results as MTEB writes them, one object a property and data set: `scores` by split, with `main_score`."""
    return [_task(results, name, data, rows) for (name, data), rows in _by_task(results, model).items()]


def _task(results: Results, name: str, data: str, rows: Sequence[Row]) -> dict[str, Any]:
    scores = {f"{row['check']}_{row['level']}": _rounded(row["value"]) for row in rows}
    about = next(d for d in results["data"] if d["name"] == data)
    main = sum(row["value"] for row in rows) / len(rows)
    one = {**scores, "main_score": _rounded(main), "hf_subset": "default", "languages": ["eng-Latn"]}
    return {
        "dataset_revision": about["fingerprint"],
        "task_name": f"Encheck{name.title().replace('_', '')}.{data}",
        "mteb_version": None,
        "scores": {_split(rows): [one]},
        "evaluation_time": results["run"]["seconds"],
        "kg_co2_emissions": None,
    }


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 6)


def _models(results: Results) -> list[str]:
    return [m["label"] for m in results["models"] if deciding(results, m["label"])]


def _write_model_index(results: Results, folder: Path) -> list[Path]:
    return [_yaml(folder / f"{m}.model-index.yaml", {"model-index": model_index(results, m)}) for m in _models(results)]


def _write_eval_results(results: Results, folder: Path) -> list[Path]:
    return [_yaml(folder / f"{m}.eval_results.yaml", eval_results(results, m)) for m in _models(results)]


def _write_mteb(results: Results, folder: Path) -> list[Path]:
    paths = []
    for model in _models(results):
        for task in mteb(results, model):
            path = folder / "mteb" / model / f"{task['task_name']}.json"
            path.parent.mkdir(parents=True, exist_ok=True)
            write_text(path, json.dumps(task, indent=2, ensure_ascii=False) + "\n")
            paths.append(path)
    return paths


def _flat(results: Results) -> list[dict[str, Any]]:
    rows = [row for m in results["models"] for row in figures(results, m["label"])]
    return [{k: {**row, **_beside(row)}[k] for k in COLUMNS} for row in rows]


def _beside(row: Row) -> dict[str, Any]:
    """What stands beside the figure: the baseline's, and the best surface scorer with its own."""
    name, best = best_surface(row) or (None, {"value": None})
    return {
        "baseline": (row["baseline"] or {}).get("value"), "best_surface": name, "best_surface_value": best["value"]
    }  # fmt: skip


def _write_csv(results: Results, folder: Path) -> list[Path]:
    path = folder / "figures.csv"
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, COLUMNS)
    writer.writeheader()
    writer.writerows({k: safe_cell(v) for k, v in row.items()} for row in _flat(results))
    write_text(path, out.getvalue())
    return [path]


def _write_parquet(results: Results, folder: Path) -> list[Path]:
    import pyarrow
    import pyarrow.parquet

    path, rows = folder / "figures.parquet", _flat(results)
    numbers = {"value", "low", "high", "floor", "aim", "baseline", "best_surface_value"}
    types = {
        k: pyarrow.float64() if k in numbers else pyarrow.int64() if k in ("n", "clusters") else None for k in COLUMNS
    }
    arrays = {k: pyarrow.array([r[k] for r in rows], types[k] or pyarrow.string()) for k in COLUMNS}
    with whole(path) as file:
        pyarrow.parquet.write_table(pyarrow.table(arrays), file)
    return [path]


def _yaml(path: Path, value: Any) -> Path:
    import yaml

    write_text(path, yaml.safe_dump(value, sort_keys=False, allow_unicode=True))
    return path


FORMATS: dict[str, Callable[[Results, Path], list[Path]]] = {
    "model-index": _write_model_index,
    "eval-results": _write_eval_results,
    "mteb": _write_mteb,
    "csv": _write_csv,
    "parquet": _write_parquet,
}
