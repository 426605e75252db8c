"""How the scale of similarities moves from one model to another, and what that does to thresholds in use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import NormalDist
from typing import Annotated

import numpy as np
from annotated_types import Interval
from numpy.typing import NDArray

from encheck.scoring.scale import Scale
from encheck.system.typed_files import Count, MaybeNaN, Positive, writes_properties

Floats = NDArray[np.float64]
Proportion = Annotated[float, Interval(ge=0, le=1)]
ACCEPTED = 30  # pairs: with fewer, a threshold that accepts as many is chance
LABELLED, PAIRS, FIRST_ANSWERS = "labelled", "pairs", "first answers"
TYPICAL = 0.8  # of the way from random to identical text: where thresholds often are
SAME = 0.02  # of that way: a threshold that moves by less is where it was
NEARLY_ALL, NEARLY_NONE = 0.95, 0.005  # of random pairs


@writes_properties("says")
@dataclass(frozen=True)
class ScaleShift:
    """Where random and identical pairs of a data set lie under both models, and a stored `threshold` between them.

    `equivalent` is what the threshold would have been on the old scale: as far from random to identical pairs as it is
    on the new one. None if one of the models gives random and identical pairs the same similarity.
    """

    data: str
    before: Scale
    after: Scale
    threshold: MaybeNaN
    equivalent: float | None

    @property
    def has_moved(self) -> bool:
        """Whether the threshold lies elsewhere between random and identical pairs than it did."""
        return self.equivalent is None or abs(self.equivalent - self.threshold) > SAME * self.before.unit

    def accepted(self, scale: Scale) -> float:
        """About which share of random pairs reaches the threshold, as if they were normally distributed."""
        if scale.spread <= 0:
            return float(scale.reference >= self.threshold)
        return 1 - NormalDist(scale.reference, scale.spread).cdf(self.threshold)

    @property
    def says(self) -> str:
        """In a line.

        >>> one = scale_shift(Scale(0.06, 1.0, 2000, 0.08), Scale(0.86, 1.0, 2000, 0.03), threshold=0.8, data="d")
        >>> one.says
        'scale on d: random pairs 0.06 to 0.86, identical pairs 1: a stored 0.8 now accepts nearly everything'
        """
        random = f"random pairs {self.before.reference:.2f} to {self.after.reference:.2f}"
        ends = [f"{scale.identity:.3g}" for scale in (self.before, self.after)]
        identical = f"identical pairs {' to '.join(dict.fromkeys(ends))}"
        stored, share = f"a stored {self.threshold:.3g}", self.accepted(self.after)
        some = f", and accepts about {100 * share:.0f}% of random pairs" if share >= NEARLY_NONE else ""
        if self.equivalent is None:
            then = "one of the models gives random and identical pairs the same similarity, so no threshold works"
        elif not self.has_moved:
            then = f"{stored} is where it was"
        elif self.threshold > self.after.identity:
            then = f"{stored} now accepts nothing, not even identical pairs"
        elif share >= NEARLY_ALL:
            then = f"{stored} now accepts nearly everything"
        else:
            then = f"{stored} is now where {self.equivalent:.3g} was{some}"
        return f"scale on {self.data}: {random}, {identical}: {then}"


def scale_shift(before: Scale, after: Scale, *, threshold: float | None = None, data: str = "") -> ScaleShift:
    """How the scale moved between two models; `threshold` is one in use, by default a typical one on the old scale.

    Both are calibrated on the same random pairs, so the change of `reference` is theirs and not that of the pairs.
    """
    stored = threshold if threshold is not None else float(f"{before.reference + TYPICAL * before.unit:.2g}")
    ends = (before.unit, after.unit)
    if any(unit != unit for unit in ends):
        return ScaleShift(data, before, after, stored, None)
    share = (stored - after.reference) / after.unit
    return ScaleShift(data, before, after, stored, before.reference + share * before.unit)


def scale_shifts(
    before: Mapping[str, Scale], after: Mapping[str, Scale], *, threshold: float | None = None
) -> tuple[ScaleShift, ...]:
    """One for each data set that calibrates both models, by its name."""
    both = (name for name in sorted(before) if name in after)
    return tuple(scale_shift(before[name], after[name], threshold=threshold, data=name) for name in both)


@writes_properties("says")
@dataclass(frozen=True)
class ThresholdShift:
    """What a threshold in use accepts of the `pairs` of a data set: shares before and now, as proportions.

    In a search, a pair is a query with its first answer, and `unit` says so. `same` is the new model's threshold that
    accepts as many; None if `accepted` pairs are too few to say, or are all.
    """

    data: str
    threshold: float
    pairs: Positive
    accepted: Count
    before: Proportion
    now: Proportion
    same: float | None
    unit: str = PAIRS

    @property
    def says(self) -> str:
        """In a line.

        >>> ThresholdShift("pairs", 0.8, 1200, 372, 0.31, 0.041, 0.712).says
        'threshold 0.8 on pairs: accepted 31.0% of 1,200 pairs, accepts 4.1% now; 0.712 accepts as many'
        """
        moved = f"accepted {100 * self.before:.1f}% of {self.pairs:,} {self.unit}, accepts {100 * self.now:.1f}% now"
        if self.same is not None:
            then = f"{self.same:.3g} accepts as many"
        elif self.accepted == self.pairs:
            then = "it accepted all of them, so no threshold follows"
        else:
            few = f"{self.accepted} accepted {self.unit} are too few"
            then = f"{few} for a threshold that accepts as many ({ACCEPTED} are needed)"
        return f"threshold {self.threshold:g} on {self.data}: {moved}; {then}"


def threshold_shift(
    before: Floats, after: Floats, *, threshold: float, data: str = "", unit: str = PAIRS
) -> ThresholdShift:
    """What becomes of a threshold; scores of the same pairs under both models, each of shape [n], n > 0.

    `same` lies halfway between the last score that it accepts and the next, rounded as far as that allows.
    """
    accepted = int((before >= threshold).sum())
    shares = (accepted / len(before), float((after >= threshold).mean()))
    same = None
    if ACCEPTED <= accepted < len(after):  # or as nearly so as ties allow
        ordered = np.sort(after)[::-1]
        same = float(ordered[accepted - 1] + ordered[accepted]) / 2
    return ThresholdShift(data, threshold, len(before), accepted, *shares, same, unit)
