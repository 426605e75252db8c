"""Labelled pairs that are too many to hold in memory: whether data are, and the engine that scores them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from encheck.datasets.records import parquet_files
from encheck.encoders.model_config import Device
from encheck.store import default_path
from encheck.system.documents import open_parquet

if TYPE_CHECKING:
    from encheck.datasets.dataset import Dataset
    from encheck.options import Settings
    from encheck.scale.large import Large
    from encheck.scale.shards import Engine

MANY_ROWS = 200_000  # of one file: more are measured in shards without being asked
KIND, ENDING = "pairs", ".parquet"


def in_shards(
    settings: Settings, *, quiet: bool = False, is_gated: bool = False
) -> Callable[[str, str], Dataset | None]:
    """What loads the data of a label and specification in shards; it gives None for data that a run holds in memory.

    Without an engine these are all but large Parquet files; with a gate, which weighs the score of every item, all.
    """
    is_gated = is_gated or bool(settings.save_baseline)

    @cache
    def large() -> Large:
        from encheck.scale import storage
        from encheck.scale.large import Large

        folder = storage.absolute(settings.shards_dir or f"{settings.store or default_path()}.shards")
        return Large(
            _engine_of(settings, folder), folder, settings.engine is not None,
            sample=settings.sample, seed=settings.seed, skip_bad_rows=settings.skip_bad_rows,
            device=Device(settings.device, settings.dtype), quiet=quiet,
        )  # fmt: skip

    def load(label: str, spec: str) -> Dataset | None:
        kind, _, place = spec.partition(":")
        is_held = is_gated or settings.sample is not None or kind != KIND
        if not settings.engine and (is_held or not _has_many_rows(place)):
            return None
        return large().load(label, spec)

    return load


def _engine_of(settings: Settings, folder: str) -> Engine:
    """The engine that the settings name, whose files lie below `folder`; without one, this process."""
    kind, _, count = (settings.engine or "local").partition(":")
    if kind == "ray":
        from encheck.scale.ray_engine import RayEngine

        return RayEngine(folder, address=settings.address, workers=int(count) if count else None)
    from encheck.scale.local import LocalEngine

    return LocalEngine(int(count or 1))


def _has_many_rows(place: str) -> bool:
    """Whether Parquet files have many rows; what cannot be opened is told by the reader of smaller data."""
    path, rows = Path(place).expanduser(), 0
    files = parquet_files(path) if path.is_dir() else [path] * (path.suffix.lower() == ENDING and path.is_file())
    try:
        for one in files:
            with open_parquet(one) as file:
                rows += file.metadata.num_rows
    except (ValueError, OSError):
        return False
    return rows > MANY_ROWS
