"""How a cut-off in use moves, on the pairs that a run and a baseline scored."""

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
ACCEPTED = 30  # pairs: with fewer, a cut-off that accepts as many is chance
LABELLED = "labelled"
OF_PAIRS = (LABELLED, "triplet", "crossed", "chain", "both_orders", "pair")  # whose scores are similarities of texts


@dataclass(frozen=True)
class CutoffMoved:
    """What a cut-off in use accepts of the `pairs` of a data set: shares before and now, as proportions.

    `same` is the new model's cut-off that accepts as many; None if `accepted` pairs are too few to say, or are all.
    """

    data: str
    cutoff: float
    pairs: int
    accepted: int
    before: float
    now: float
    same: float | None

    @property
    def says(self) -> str:
        """In a line.

        >>> CutoffMoved("pairs", 0.8, 1200, 372, 0.31, 0.041, 0.712).says
        'cut-off 0.8 on pairs: accepted 31.0% of 1,200 pairs, accepts 4.1% now; 0.712 accepts as many'
        """
        moved = f"accepted {100 * self.before:.1f}% of {self.pairs:,} pairs, accepts {100 * self.now:.1f}% now"
        return f"cut-off {self.cutoff:g} on {self.data}: {moved}; {self._same}"

    @property
    def _same(self) -> str:
        if self.same is not None:
            return f"{self.same:.3g} accepts as many"
        if self.accepted == self.pairs:
            return "it accepted all of them, so no cut-off follows"
        return f"{self.accepted} accepted pairs are too few for a cut-off that accepts as many ({ACCEPTED} are needed)"


def cutoff_moved(before: Floats, after: Floats, *, cutoff: float, data: str = "") -> CutoffMoved:
    """What becomes of a cut-off; scores of the same pairs under both models, each of shape [n], n > 0.

    `same` lies halfway between the last score that it accepts and the next, rounded as far as that allows.
    """
    accepted = int((before >= cutoff).sum())
    shares = (accepted / len(before), float((after >= cutoff).mean()))
    return CutoffMoved(data, cutoff, len(before), accepted, *shares, _accepting(after, accepted))


def _accepting(scores: Floats, count: int) -> float | None:
    """A cut-off that so many of the scores reach, or as nearly so as ties allow."""
    if not ACCEPTED <= count < len(scores):
        return None
    ordered = np.sort(scores)[::-1]
    return float(ordered[count - 1] + ordered[count]) / 2


def moved_cutoffs(
    baseline: Mapping[str, Kept], run: Mapping[str, Table], results: Mapping[str, Any], items: Mapping[str, Columns],
    *, model: str, cutoff: float | None,
) -> tuple[CutoffMoved, ...]:  # fmt: skip
    """One for each data set that has pairs, nothing without a cut-off; a run's items are by case, with texts.

    The pairs are the data's own where they have labels, else those of the checks, each once.
    """
    if cutoff is None:
        return ()
    found: dict[str, dict[bool, Scored]] = {}
    for case, columns in _cases_of(results, items, model):
        if case in baseline and baseline[case].has_items_of(run[case]):
            kind = columns["kind"][0]
            own = found.setdefault(run[case].data, {}).setdefault(kind == LABELLED, {})
            own.update(_pairs(columns, baseline[case].facing(run[case]), run[case]) if kind in OF_PAIRS else ())
    sets = ((data, by_kind.get(True) or by_kind.get(False)) for data, by_kind in sorted(found.items()))
    return tuple(_moved(pairs, cutoff, data) for data, pairs in sets if pairs)


def _cases_of(results: Mapping[str, Any], items: Mapping[str, Columns], model: str) -> Iterator[tuple[str, Columns]]:
    named = {str(case): case.of_any_model for case in map(CaseId.of, results["checks"]) if case.model == model}
    return ((named[name], columns) for name, columns in items.items() if name in named and columns.get("kind"))


def _pairs(columns: Columns, before: Table, now: Table) -> Iterable[tuple[tuple[str, ...], tuple[float, float]]]:
    for side in ("near", "far"):
        scores = zip(getattr(before, side).tolist(), getattr(now, side).tolist(), strict=True)
        for source, text, both in zip(columns["source"], columns[side], scores, strict=True):
            if text is not None and both[0] == both[0]:
                yield tuple(sorted((source, text))), both


def _moved(pairs: Scored, cutoff: float, data: str) -> CutoffMoved:
    before, now = np.array(list(pairs.values())).T
    return cutoff_moved(before, now, cutoff=cutoff, data=data)
