"""Large data of a run: the engine that the settings name, and what of its items travels to the report."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from encheck.datasets.columns import ColumnPairs
from encheck.encoders.load import Device
from encheck.options import Settings
from encheck.scale import storage
from encheck.scale.large import Large
from encheck.scale.local import LocalEngine
from encheck.scale.shards import Engine
from encheck.scoring.pairs import WORST
from encheck.scoring.scores import BothOrdersScores, PairScores, Scores
from encheck.store import default_path

SHOWN = 4_000  # random pairs of a case that items.parquet holds, besides the worst


def large_of(settings: Settings, *, quiet: bool = False, is_gated: bool = False) -> Large:
    """Who measures data in shards, as the settings say; nobody unasked where a gate weighs the score of every item."""
    folder = storage.absolute(settings.shards_dir or f"{settings.store or default_path()}.shards")
    return Large(
        engine_of(settings, folder), folder, settings.engine is not None,
        sample=settings.sample, seed=settings.seed, skip_bad_rows=settings.skip_bad_rows,
        device=Device(settings.device, settings.dtype), quiet=quiet, is_gated=is_gated or bool(settings.save_baseline),
    )  # fmt: skip


def engine_of(settings: Settings, folder: str) -> Engine:
    """The engine that the settings name, whose files lie below `folder`; without one, this process."""
    kind, _, count = (settings.engine or "local").partition(":")
    if kind == "ray":
        from encheck.scale.ray_engine import RayEngine

        return RayEngine(folder, address=settings.address, workers=int(count) if count else None)
    return LocalEngine(int(count or 1))


def shown(items: ColumnPairs, scores: Scores, *, seed: int) -> tuple[tuple[Any, ...], Scores]:
    """The items that the report holds, with their scores: the worst, a random sample, and all that are in memory."""
    assert isinstance(scores, PairScores | BothOrdersScores)
    chosen = np.union1d(scores.worst()[:WORST], _drawn(len(items.positions), seed)).astype(np.intp)
    tail = np.arange(len(items.positions), len(items))
    chosen = np.union1d(chosen, tail).astype(np.intp)
    listed = items.listed(chosen)
    if isinstance(scores, PairScores):
        return listed, replace(scores.of(chosen), items=listed)
    surface = {name: _turned(beside, chosen) for name, beside in scores.surface.items()}
    return listed, replace(_turned(scores, chosen), surface=surface, items=listed)


def _turned(scores: BothOrdersScores, chosen: NDArray[np.intp]) -> BothOrdersScores:
    return replace(
        scores,
        forward=scores.forward[chosen],
        backward=scores.backward[chosen],
        labels=scores.labels[chosen],
        resampler=scores.resampler.of(chosen),
        surface={},
        items=(),
    )


def _drawn(count: int, seed: int) -> NDArray[np.int64]:
    """Positions of a random sample of `count` items, the same for every model."""
    rng = np.random.default_rng([seed, count])
    return rng.choice(count, min(SHOWN, count), replace=False)
