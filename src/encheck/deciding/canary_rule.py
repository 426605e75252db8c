"""The decision of a canary, pure: is what answers now the model that was saved?

A text is *quiet* where its vector lies within the model's own noise, *loud* where no rounding and no hardware explains
how far it moved. All quiet: the same. Two loud: another. What lies between is not told.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from encheck.deciding import canary_causes
from encheck.deciding.canary_causes import Cause
from encheck.deciding.canary_file import STEPS, Canary
from encheck.deciding.canary_moved import Floats, Moved, apart

Vectors = NDArray[np.float32]
Outcome = Literal["same", "another", "cannot tell"]
EXIT_CODES: dict[Outcome, int] = {"same": 0, "another": 1, "cannot tell": 10}


@dataclass(frozen=True, slots=True)
class Rule:
    """Drifts are shares of a vector's length. docs/canary.md says from which measurements each number comes.

    `floor`: other kernels and libraries in the same precision, beside the noise that was measured, which counts
    `times`. `loud` is for a model in single precision, `loud_unknown` for one whose precision is half, or not known;
    noise that was measured counts `loud_times`. So many texts must be loud: `enough`. Noise below `single` is that of
    single precision.
    """

    floor: float = 1e-4
    times: float = 4.0
    loud: float = 3e-3
    loud_unknown: float = 0.05
    loud_times: float = 10.0
    enough: int = 2
    single: float = 1e-4


DEFAULT = Rule()


@dataclass(frozen=True, eq=False, slots=True)
class Answer:
    """What a canary says: `same`, `another` or `cannot tell`.

    `cause` and `reason` say what was changed, where that is told. `drift` has shape [texts]: how far each vector moved,
    as a share of its length; NaN if one of the two is missing, or where they have another dimension. `limit` is what
    the model's own noise explains of it, `loud_from` what nothing does.
    """

    outcome: Outcome
    cause: str
    reason: str
    drift: Floats
    limit: Floats
    loud_from: Floats
    notes: tuple[str, ...] = field(default=())

    @property
    def exit_code(self) -> int:
        """0 the same, 1 another, 10 cannot tell."""
        return EXIT_CODES[self.outcome]

    @property
    def moved(self) -> int:
        """How many texts lie outside of the model's own noise."""
        return int((self.drift > self.limit).sum())


def decide(canary: Canary, calls: Vectors, *, rule: Rule = DEFAULT) -> Answer:
    """Hold what a model gives now, `calls` of shape [calls, texts, d], against what it gave when it was saved."""
    now = mean_of(calls)
    then = canary.vectors.astype(np.float64)
    limit, loud_from = _limits(canary, rule)
    if now.shape[1] != then.shape[1]:
        cause, unknown = canary_causes.of_dimension(then, now), np.full(len(then), np.nan)
        return Answer("another", cause.name, cause.reason, unknown, limit, loud_from, _notes(canary, then, now))
    moved = Moved(then, now, calls.astype(np.float64), canary.noise, limit, loud_from)
    outcome = _outcome(moved, rule)
    cause = Cause("", _same(moved)) if outcome == "same" else canary_causes.find(moved, told=outcome == "another")
    return Answer(outcome, cause.name, cause.reason, moved.drift, limit, loud_from, _notes(canary, then, now))


def _limits(canary: Canary, rule: Rule) -> tuple[Floats, Floats]:
    """What the model's own noise explains, and from where on nothing does; each of shape [texts]."""
    noise = np.nan_to_num(canary.noise)
    noise = np.maximum(noise, np.median(noise))
    limit = rule.floor + rule.times * (noise + _rounding(canary.vectors))
    loud = rule.loud if _is_single(canary, noise, rule) else rule.loud_unknown
    return limit, np.maximum.reduce([np.full(len(noise), loud), rule.loud_times * noise, 2 * limit])


def _is_single(canary: Canary, noise: Floats, rule: Rule) -> bool:
    """Whether the model computes in single precision: it says so, or it has the noise of that.

    No noise at all says nothing: a cache may have answered, or kernels that give each text the same in any batch.
    """
    if canary.dtype is not None:
        return canary.dtype == "float32"
    return len(canary.batches) > 1 and bool(0 < noise.max() < rule.single)


def _rounding(vectors: Vectors) -> Floats:
    """How far what is kept of a vector lies from it: steps of its largest number, as a share of its length."""
    wide = np.nan_to_num(vectors.astype(np.float64))
    length = np.maximum(np.linalg.norm(wide, axis=1), 1e-30)
    found: Floats = np.abs(wide).max(axis=1) / STEPS * np.sqrt(wide.shape[1] / 12) / length
    return found


def _outcome(moved: Moved, rule: Rule) -> Outcome:
    if moved.loud.sum() >= rule.enough or moved.turning:
        return "another"
    return "same" if moved.quiet.all() else "cannot tell"


def _same(moved: Moved) -> str:
    return f"all {len(moved.drift)} vectors are the same, within rounding"


def _notes(canary: Canary, then: Floats, now: Floats) -> tuple[str, ...]:
    """What else is worth knowing."""
    lost, gained = _only(then, now), _only(now, then)
    said = [f"{lost} empty texts had a vector and are refused now"] if lost else []
    said += [f"{gained} empty texts were refused and have a vector now"] if gained else []
    if len(canary.batches) < 2:
        said.append("the canary was saved from one call, so the model's own noise is not known")
    elif canary.dtype is None and not np.nan_to_num(canary.noise).any():
        said.append("the calls of `save` agreed to the last digit: a cache may have answered them")
    return tuple(said)


def _only(first: Floats, second: Floats) -> int:
    return int((np.isfinite(first).all(axis=1) & ~np.isfinite(second).all(axis=1)).sum())


def mean_of(calls: Vectors) -> Floats:
    """The mean vector of each text over the calls that have it, shape [texts, d]; NaN if none has."""
    there = np.isfinite(calls)
    count = there.sum(axis=0)
    total = np.where(there, calls, 0).astype(np.float64).sum(axis=0)
    return np.asarray(np.where(count > 0, total / np.maximum(count, 1), np.nan))


def noise_of(calls: Vectors) -> tuple[Vectors, Floats]:
    """The mean of the calls, shape [texts, d], and how far the farthest lies from it: a share of its length [texts]."""
    wide: Sequence[Floats] = list(calls.astype(np.float64))
    mean = mean_of(calls)
    noise = np.max([apart(one, mean) for one in wide], axis=0)
    return mean.astype(np.float32), np.where(np.isfinite(mean).all(axis=1), noise, np.nan)
