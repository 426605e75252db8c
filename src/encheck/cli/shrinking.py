"""`encheck show ITEM --shrink`: the shortest form of an item on which a model still errs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from encheck.ids import CaseId

if TYPE_CHECKING:
    from encheck.options import Settings
    from encheck.running.shrinking import Shrink


def shrinker(settings: Settings, run: Mapping[str, Any] | None = None) -> Shrink:
    """What shrinks a row of items.parquet for the settings' one model; `run` has the settings that made the row."""
    from encheck.running import shrinking
    from encheck.running.resources import open_store, resolve_english, resolve_models

    settings = _as_run(settings, run or {})
    store = open_store(settings)
    (subject,) = resolve_models(settings, store).values()
    return shrinking.shrinker(subject, store, english=resolve_english(settings, store), seed=settings.seed)


def _as_run(settings: Settings, run: Mapping[str, Any]) -> Settings:
    """The settings, with those of the run that decide what generators make."""
    names = ("seed", "generator_mode", "lexicon", "spacy_model", "experimental")
    return replace(settings, **{name: run[name] for name in names if run.get(name) is not None})


def of_run(folder: Path, settings: Settings) -> Iterator[str]:
    """What becomes of the three worst items of each check of a run that failed or is below its aim, case by case."""
    from encheck.reporting.results import read_items, read_results
    from encheck.reporting.shrunk import rows_shrunk, title
    from encheck.running.labels import labels
    from encheck.running.shrinking import SHRUNK, is_wanted, worst

    results, items = read_results(folder), read_items(folder)
    shrink = shrinker(settings, results["run"].get("settings"))
    (model,) = labels(settings.models)
    wanted = [row for row in results["checks"] if is_wanted(row) and row["model"] == model]
    if not wanted:
        yield f"no check of {folder} failed or is below its aim for {model}"
    for row in wanted:
        case = str(CaseId.of(row))
        yield title(row)
        rows = worst(case, items.get(case))
        yield from (
            rows_shrunk(rows, shrink, whole=True)
            if rows
            else [f"  not shrunk: its items are no {' or '.join(SHRUNK)} items", ""]
        )


def run_settings(folder: Path) -> dict[str, Any]:
    """The settings of a run, out of its results.json; nothing where they are not there."""
    try:
        found = json.loads((folder / "results.json").read_text("utf-8"))["run"]["settings"]
    except (OSError, ValueError, KeyError, TypeError):
        return {}
    return found if isinstance(found, dict) else {}
