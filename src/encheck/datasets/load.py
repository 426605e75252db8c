"""Data sets by their name: what `--data` takes."""

from __future__ import annotations

import importlib
import logging
import pkgutil
from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, cast

import encheck.datasets
from encheck.datasets.clusters import sample_clusters
from encheck.datasets.collection import Collection
from encheck.datasets.dataset import Dataset
from encheck.datasets.hub import WORD, Hub, Hubs
from encheck.datasets.labelled import from_rows
from encheck.datasets.probes import FRESH
from encheck.datasets.reader import BadRows, Readings
from encheck.errors import DataError, unknown
from encheck.system.garbage import uncollected
from encheck.system.paths import exists, typed

log = logging.getLogger("encheck")
DEFAULT_SAMPLE_CLUSTERS = 2_000
QUICK_CLUSTERS = 100


@cache
def names() -> dict[str, ModuleType]:
    """The data sets that there are: every module of this package that has a LICENCE."""
    found = [
        importlib.import_module(f"{encheck.datasets.__name__}.{m.name}")
        for m in pkgutil.iter_modules(encheck.datasets.__path__)
    ]
    return {m.__name__.rpartition(".")[2].replace("_", "-"): m for m in found if hasattr(m, "LICENCE")}


@uncollected()
def load(
    spec: str,
    *,
    label: str | None = None,
    sample: int | None = DEFAULT_SAMPLE_CLUSTERS,
    seed: int = 0,
    skip_bad_rows: bool = False,
    quick: bool = False,
) -> Dataset:
    """The data set `NAME`, `NAME:PATH` or `NAME@SPLIT:PATH`; of pairs, at most `sample` clusters (None: all of them).

    A sample of data that name a test part is of that part, with as many clusters of the validation part; else it is of
    all pairs. Probes come whole: embedded, of an earlier edition (`probes@2`), of a file or fresh
    (`probes:fresh=SEED`). `label` names it in results where two of the same name are loaded. SPLIT is one that the data
    set's module names in READINGS. With `quick` it is the fixed part of the embedded probes, of other data at most 100
    clusters.
    """
    if quick:
        few = min(sample or QUICK_CLUSTERS, QUICK_CLUSTERS)
        found = load(spec, label=label, sample=few, seed=seed, skip_bad_rows=skip_bad_rows)
        return found.quick_part()
    full, _, path = spec.partition(":")
    name, _, reading = full.partition("@")
    if name not in names():
        raise DataError(unknown("data set", name, names()))
    module = names()[name]
    _refuse_reading(name, module, reading, path)
    _refuse_unfinished(name, module)
    if not path:
        return replace(_embedded(name, module, reading), name=label or stem(full))
    if made := _made(module, path):
        return replace(made, name=label or stem(spec).replace(":", "-"))
    called, bad = label or full, BadRows(skip=skip_bad_rows)
    module = _taken_for(module, path, called)
    if hasattr(module, "collection"):
        collection = module.collection(Path(path).expanduser(), bad)
        return _searched(called, collection, module.LICENCE, sample, seed, bad)
    rows = _rows(name, module, path, bad, reading)
    _tell_skipped(called, bad)
    if hasattr(module, "groups"):
        own: Dataset = module.dataset(rows)
        return replace(own, name=called, skipped=tuple(bad.skipped))
    return from_rows(called, rows, licence=module.LICENCE, sample=sample, seed=seed, skipped=bad.skipped)


def stem(spec: str) -> str:
    """What results call the data of a specification: its name, and the seed of what is made from one.

    All editions of the probes have one name, so that a baseline of an earlier one is found; results say which it was.

    >>> stem("mrpc:/data/mrpc"), stem("probes:fresh=3"), stem("probes@2")
    ('mrpc', 'probes:fresh=3', 'probes')
    """
    if spec.startswith("probes@") and ":" not in spec:
        return "probes"
    return spec if spec.startswith(f"probes:{FRESH}") else spec.partition(":")[0]


def _embedded(name: str, module: ModuleType, edition: str) -> Dataset:
    """The data that come with encheck; DataError for a data set that has to be given a path."""
    if not hasattr(module, "embedded"):
        fetched = f"; or --data {name}:hub, which fetches it" if hasattr(module, "HUB") else ""
        wanted = f"--data {name}:PATH, where PATH holds {module.FILES}{fetched}"
        raise DataError(f"data set {name!r} needs a path: {wanted}")
    found: Dataset = module.embedded(edition) if edition else module.embedded()
    return found


def _made(module: ModuleType, path: str) -> Dataset | None:
    """What a module makes by itself where the path says so; None for a path to read."""
    found: Dataset | None = module.made(path) if hasattr(module, "made") else None
    return found


def _taken_for(module: ModuleType, path: str, name: str) -> ModuleType:
    """The module that reads the path: another one where the path holds what that reads, which is said."""
    kind = module.taken_for(_place(path)) if hasattr(module, "taken_for") else ""
    if not kind:
        return module
    log.warning("%s: %s holds queries and documents: taken for --data=%s:%s", name, path, kind, path)
    return names()[kind]


def _rows(name: str, module: ModuleType, path: str, bad: BadRows, reading: str) -> list[Any]:
    """All rows that lie at the path; DataError where there is none."""
    rows = list(_read(module, path, bad, reading))
    if not rows:
        left_out = f" that is right (the first problem of {len(bad.skipped)}: {bad.skipped[0]})" if bad.skipped else ""
        raise DataError(f"{name}: {path} holds no row{left_out}; expected {module.FILES}")
    return rows


def _tell_skipped(name: str, bad: BadRows) -> None:
    if bad.skipped:
        log.warning("%s: %d malformed rows excluded; the first: %s", name, len(bad.skipped), bad.skipped[0])


def _searched(name: str, found: Collection, licence: str, sample: int | None, seed: int, bad: BadRows) -> Dataset:
    """The data set of a collection, with at most `sample` clusters of its queries and all of its documents."""
    _tell_skipped(name, bad)
    if not found.queries:
        raise DataError(f"{name}: no query has a judgement{f' ({bad.skipped[0]})' if bad.skipped else ''}")
    clusters = [q.cluster for q in found.queries]
    kept = found if sample is None else found.of(sample_clusters(clusters, sample, seed=seed))
    sampled = len(kept.queries) < len(found.queries)
    return Dataset(
        name, (), (), licence, len(found.queries), skipped=tuple(bad.skipped), sampled=sampled,
        universe=kept.clusters, collection=kept,
    )  # fmt: skip


def _refuse_unfinished(name: str, module: ModuleType) -> None:
    """DataError for a module that lacks what a data set has to have."""
    offers = [what for what in ("read", "groups", "collection", "embedded") if hasattr(module, what)]
    if not offers or ("embedded" not in offers and not hasattr(module, "FILES")):
        lacks = (
            "no FILES, which says what PATH should hold" if offers else "neither read() nor groups() nor collection()"
        )
        raise DataError(f"data set {name!r}: {module.__file__} has {lacks}")


def _refuse_reading(name: str, module: ModuleType, reading: str, path: str) -> None:
    """DataError for a split that the data set has not, or that is not on the hub."""
    there: Readings = getattr(module, "READINGS", {})
    if reading and not path and hasattr(module, "EDITIONS"):
        if reading not in module.EDITIONS:
            raise DataError(unknown(f"edition of {name}", reading, module.EDITIONS))
        return
    if reading and not there:
        raise DataError(f"data set {name!r} has one split alone: --data {name}:PATH")
    if reading and reading not in there:
        raise DataError(unknown(f"split of {name}", reading, there))
    if reading and path == WORD:
        raise DataError(f"--data {name}@{reading}:PATH reads files: on the hub the data have a split of their own")


def _read(module: ModuleType, path: str, bad: BadRows, reading: str = "") -> Iterable[Any]:
    """What lies at the path, or on the hub where that is what the path says and the data set is there."""
    if path == WORD and not hasattr(module, "HUB") and not exists(path):
        there = ", ".join(name for name, other in names().items() if hasattr(other, "HUB"))
        raise DataError(f"this data set is not on the hub: give the path of {module.FILES}. On the hub are: {there}")
    if path == WORD and hasattr(module, "HUB"):
        return cast("Hub | Hubs", module.HUB).read(bad)
    place = _place(path)
    if reading:
        readings: Readings = module.READINGS
        return readings[reading](place, bad)
    found: Iterable[Any] = (module.groups if hasattr(module, "groups") else module.read)(place, bad)
    return found


def _place(path: str) -> Path:
    """The path; DataError for one that the file system refuses to look at."""
    place = typed(path)
    try:
        place.exists()
    except OSError as error:
        raise DataError(f"data {path[:80]!r} cannot be read: {error.strerror}") from error
    return place
