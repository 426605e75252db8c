"""The worst items of a finished run, shrunk with its models (--shrink)."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import closing
from typing import Any

from encheck.encoders.local import LocalEncoder
from encheck.encoders.pairs.model import PairModel
from encheck.encoders.protocol import devices_of
from encheck.engine.locks import Locks
from encheck.errors import EncheckError, UsageError
from encheck.ids import CaseId
from encheck.options import Settings
from encheck.reporting.shrunk import as_dict
from encheck.running.labels import labels
from encheck.running.resources import open_store, resolve_english, resolve_models
from encheck.running.shrinking import Row, Shrink, is_wanted, shrinker, worst
from encheck.running.subject import Subject
from encheck.shrinking.shrink import BUDGET, Shrunk
from encheck.store import Store
from encheck.system.progress import Progress
from encheck.system.waiting import WorkClock

STOPPED = "--shrink: the run stopped after its first look, so nothing was shrunk"
Results = Mapping[str, Any]
Items = Mapping[str, Mapping[str, list[Any]]]
Wanted = list[tuple[str, str, list[Row]]]  # id of a row of results.json, model, items


def refuse_remote(subjects: Mapping[str, Subject]) -> None:
    """UsageError for a model on another machine, whose calls cost time and money that nobody has agreed to."""
    for label, subject in subjects.items():
        is_here = isinstance(subject.model, LocalEncoder | PairModel)  # whose devices are known with torch alone
        if not is_here and not devices_of(subject.model):
            raise UsageError(
                f"--shrink asks a model for up to {BUDGET} pairs an item, and {label} is on another machine. Remedy: "
                f"run without --shrink, then shrink what you want to see: encheck show ITEM --model={label} --shrink"
            )


def shrunk(results: Results, items: Items, settings: Settings, subjects: Mapping[str, Subject]) -> dict[str, Any]:
    """The results with the worst items of each check that failed or is below its aim, shrunk.

    `subjects` are the models of the run where this process has them loaded; else they are looked up again. A run that
    stopped after its first look gets a note instead.
    """
    start, notes = time.perf_counter(), []
    found: dict[str, list[dict[str, Any]]] = {}
    wanted = [] if "first_look" in results else _wanted(results, items, settings)
    if "first_look" in results:
        notes.append(STOPPED)
    try:
        with closing(open_store(settings)) as store:
            for key, entry in _entries(wanted, settings, store, subjects):
                found.setdefault(key, []).append(entry)
    except KeyboardInterrupt:
        count = sum(len(rows) for *_, rows in wanted)
        notes.append(f"--shrink: interrupted after {sum(map(len, found.values()))} of {count} items")
    seconds = round(time.perf_counter() - start, 3)
    return _with(results, found, notes, seconds)


def _with(
    results: Results, found: Mapping[str, list[dict[str, Any]]], notes: list[str], seconds: float
) -> dict[str, Any]:
    run = results["run"]
    noted = {"notes": sorted({*run["notes"], *notes}), "seconds": round(run["seconds"] + seconds, 3)}
    rows = [{**row, "shrunk": found[row["id"]]} if row["id"] in found else row for row in results["checks"]]
    return {**results, "run": {**run, **noted, "shrink_seconds": seconds}, "checks": rows}


def _wanted(results: Results, items: Items, settings: Settings) -> Wanted:
    """The items to shrink of each row, those of one model after those of another; none of seed replicates."""
    models = [name for name, spec in labels(settings.models).items() if spec not in settings.seed_replicates]
    return [
        (row["id"], model, rows)
        for model in models
        for row in results["checks"]
        if row["model"] == model and is_wanted(row) and (rows := worst(case := str(CaseId.of(row)), items.get(case)))
    ]


def _entries(
    wanted: Wanted, settings: Settings, store: Store, subjects: Mapping[str, Subject]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """What became of each item, with the id of its row."""
    if not wanted:
        return
    locks, progress = Locks(store.path, WorkClock()), Progress()
    english = resolve_english(settings, store, lock=locks.parsing)
    known = subjects or resolve_models(settings, store)
    shrinkers: dict[str, Shrink] = {}
    with progress.task("shrinking", sum(len(rows) for *_, rows in wanted), unit="item"):
        for key, model, rows in wanted:
            if model not in shrinkers:
                how: Any = {"english": english, "seed": settings.seed, "locks": locks.encoding, "quiet": True}
                shrinkers[model] = _or_why(known[model], store, **how)
            for row in rows:
                yield key, as_dict(row, _tried(shrinkers[model], row))
                progress.advance(1)


def _or_why(subject: Subject, store: Store, **how: Any) -> Shrink:
    """The model's shrinker; of a model that cannot take new texts, what says so of each item."""
    try:
        return shrinker(subject, store, **how)
    except UsageError as error:
        why = str(error)
        return lambda _row: why


def _tried(shrink: Shrink, row: Row) -> Shrunk | str:
    """What became of a row; what goes wrong with it is why it was not shrunk."""
    try:
        return shrink(row)
    except EncheckError as error:
        return str(error)
