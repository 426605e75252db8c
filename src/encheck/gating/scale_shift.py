"""How a threshold in use moves, on the pairs that a run and a baseline scored."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from encheck.gating.kept import Kept
from encheck.ids import CaseId
from encheck.scoring.table import Table

Floats = NDArray[np.float64]
Columns = Mapping[str, Sequence[Any]]
Scored = dict[tuple[str, ...], tuple[float, float]]  # (the pair's texts, in order) -> (before, now)
ACCEPTED = 30  # pairs: with fewer, a threshold that accepts as many is chance
LABELLED = "labelled"
OF_PAIRS = (LABELLED, "triplet", "crossed", "chain", "both_orders", "pair")  # whose scores are similarities of texts


@dataclass(frozen=True)
class ThresholdShift:
    """What a threshold in use accepts of the `pairs` of a data set: shares before and now, as proportions.

    `same` is the new model's threshold that accepts as many; None if `accepted` pairs are too few to say, or are all.
    """

    data: str
    threshold: float
    pairs: int
    accepted: int
    before: float
    now: float
    same: float | None

    @property
    def says(self) -> str:
        """In a line.

        >>> ThresholdShift("pairs", 0.8, 1200, 372, 0.31, 0.041, 0.712).says
        'threshold 0.8 on pairs: accepted 31.0% of 1,200 pairs, accepts 4.1% now; 0.712 accepts as many'
        """
        moved = f"accepted {100 * self.before:.1f}% of {self.pairs:,} pairs, accepts {100 * self.now:.1f}% now"
        return f"threshold {self.threshold:g} on {self.data}: {moved}; {self._same}"

    @property
    def _same(self) -> str:
        if self.same is not None:
            return f"{self.same:.3g} accepts as many"
        if self.accepted == self.pairs:
            return "it accepted all of them, so no threshold follows"
        return (
            f"{self.accepted} accepted pairs are too few for a threshold that accepts as many ({ACCEPTED} are needed)"
        )


def threshold_shift(before: Floats, after: Floats, *, threshold: float, data: str = "") -> ThresholdShift:
    """What becomes of a threshold; scores of the same pairs under both models, each of shape [n], n > 0.

    `same` lies halfway between the last score that it accepts and the next, rounded as far as that allows.
    """
    accepted = int((before >= threshold).sum())
    shares = (accepted / len(before), float((after >= threshold).mean()))
    return ThresholdShift(data, threshold, len(before), accepted, *shares, _accepting(after, accepted))


def _accepting(scores: Floats, count: int) -> float | None:
    """A threshold that so many of the scores reach, or as nearly so as ties allow."""
    if not ACCEPTED <= count < len(scores):
        return None
    ordered = np.sort(scores)[::-1]
    return float(ordered[count - 1] + ordered[count]) / 2


def threshold_shifts(
    baseline: Mapping[str, Kept], run: Mapping[str, Table], results: Mapping[str, Any], items: Mapping[str, Columns],
    *, model: str, threshold: float | None,
) -> tuple[ThresholdShift, ...]:  # fmt: skip
    """One for each data set that has pairs, nothing without a threshold; a run's items are by case, with texts.

    The pairs are the data's own where they have labels, else those of the checks, each once.
    """
    if threshold is None:
        return ()
    found: dict[str, dict[bool, Scored]] = {}
    for case, columns in _cases_of(results, items, model):
        if case in baseline and baseline[case].has_items_of(run[case]):
            kind = columns["kind"][0]
            own = found.setdefault(run[case].data, {}).setdefault(kind == LABELLED, {})
            own.update(_pairs(columns, baseline[case].facing(run[case]), run[case]) if kind in OF_PAIRS else ())
    sets = ((data, by_kind.get(True) or by_kind.get(False)) for data, by_kind in sorted(found.items()))
    return tuple(_moved(pairs, threshold, data) for data, pairs in sets if pairs)


def _cases_of(results: Mapping[str, Any], items: Mapping[str, Columns], model: str) -> Iterator[tuple[str, Columns]]:
    named = {str(case): case.of_any_model for case in map(CaseId.of, results["checks"]) if case.model == model}
    return ((named[name], columns) for name, columns in items.items() if name in named and columns.get("kind"))


def _pairs(columns: Columns, before: Table, now: Table) -> Iterable[tuple[tuple[str, ...], tuple[float, float]]]:
    for side in ("near", "far"):
        scores = zip(getattr(before, side).tolist(), getattr(now, side).tolist(), strict=True)
        for source, text, both in zip(columns["source"], columns[side], scores, strict=True):
            if text is not None and both[0] == both[0]:
                yield tuple(sorted((source, text))), both


def _moved(pairs: Scored, threshold: float, data: str) -> ThresholdShift:
    before, now = np.array(list(pairs.values())).T
    return threshold_shift(before, now, threshold=threshold, data=data)
