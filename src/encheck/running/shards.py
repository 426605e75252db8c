"""Scores of pairs that stay in their shards: what a run asks of whoever has them computed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from encheck.datasets.columns import ColumnPairs, Columns
from encheck.encoders.protocol import Fitted, Partial
from encheck.errors import NothingToMeasure, UsageError
from encheck.running.subject import Subject
from encheck.system.lock import Locks
from encheck.system.progress import Progress
from encheck.types import Items

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class ShardScores:
    """A model's score of each pair, shape [n], in the data's order; `backward` of the other order where it differs."""

    forward: Floats
    backward: Floats | None = None
    computed: int = 0


class ShardScorer(Protocol):
    """Has the pairs of all shards scored by a model."""

    def __call__(
        self, subject: Subject, columns: Columns, *, both_orders: bool, locks: Locks, progress: Progress
    ) -> ShardScores:
        """The scores, from files that are there already or by computing them; EncoderError where the model fails."""
        ...


def no_shards(subject: Subject, columns: Columns, **_: object) -> ShardScores:
    """Of a run whose data are all in memory."""
    raise UsageError(
        f"{columns.name} lies in shards, which `encheck run` alone scores by {subject.label}: use --sample=N"
    )


def is_in_shards(items: Items) -> bool:
    """Whether these items stay in their shards."""
    return isinstance(items.kept, ColumnPairs)


def refuse_whole(subject: Subject) -> None:
    """NothingToMeasure for a model that cannot score shards one by one."""
    if isinstance(subject.model, Fitted) and getattr(subject.model, "learns", True):
        raise NothingToMeasure(
            f"{subject.label} learns from all texts of a run, so it cannot score shards one by one: use --sample=N "
            f"without --engine"
        )
    if isinstance(subject.model, Partial):
        raise NothingToMeasure(
            f"{subject.label} has vectors of some texts only, and shards hold others: use --sample=N without --engine"
        )
