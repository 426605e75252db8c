"""How the scale of similarities changes from one model to another, and the effect on thresholds in use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import NormalDist
from typing import Annotated

import numpy as np
from annotated_types import Interval
from numpy.typing import NDArray

from encheck.scoring.scale import Scale
from encheck.statistics.false_accepts import decimals_of_threshold
from encheck.system.typed_files import Count, MaybeNaN, Positive, writes_properties

Floats = NDArray[np.float64]
Proportion = Annotated[float, Interval(ge=0, le=1)]
MIN_ACCEPTED = 30  # accepted pairs: with fewer, a matched threshold would be due to chance
LABELLED, PAIRS, FIRST_ANSWERS = "labelled", "pairs", "first answers"
TYPICAL = 0.8  # a typical threshold, from 0 (random pairs) to 1 (identical pairs)
SAME = 0.02  # on that scale: a threshold that moves by less counts as unchanged
NEARLY_ALL, NEARLY_NONE = 0.95, 0.005  # shares of random pairs


@writes_properties("says")
@dataclass(frozen=True)
class ScaleShift:
    """The similarity of random and identical pairs of a data set under both models, and a stored `threshold`.

    `equivalent` is the threshold on the old scale that has the same relative position between random and identical
    pairs as `threshold` has on the new scale. It is None if one of the models gives random and identical pairs the same
    similarity.
    """

    data: str
    before: Scale
    after: Scale
    threshold: MaybeNaN
    equivalent: float | None

    @property
    def has_moved(self) -> bool:
        """Whether the position of the threshold between random and identical pairs has changed."""
        return self.equivalent is None or abs(self.equivalent - self.threshold) > SAME * self.before.unit

    def accepted_share(self, scale: Scale) -> float:
        """Return the approximate share of random pairs that reach the threshold, assuming a normal distribution."""
        if scale.spread <= 0:
            return float(scale.reference >= self.threshold)
        return 1 - NormalDist(scale.reference, scale.spread).cdf(self.threshold)

    @property
    def says(self) -> str:
        """The shift in one line.

        >>> before, after = Scale(0.06, 1.0, 2000, 0.08), Scale(0.86, 1.0, 2000, 0.03)
        >>> measure_scale_shift(before, after, threshold=0.8, data="d").says
        'scale on d: random pairs 0.06 to 0.86, identical pairs 1: a stored 0.8 now accepts nearly everything'
        """
        random = f"random pairs {self.before.reference:.2f} to {self.after.reference:.2f}"
        ends = [f"{scale.identity:.3g}" for scale in (self.before, self.after)]
        identical = f"identical pairs {' to '.join(dict.fromkeys(ends))}"
        stored, share = f"a stored {self.threshold:g}", self.accepted_share(self.after)
        some = f", and accepts about {100 * share:.0f}% of random pairs" if share >= NEARLY_NONE else ""
        if self.equivalent is None:
            then = "one of the models gives random and identical pairs the same similarity, so no threshold works"
        elif not self.has_moved:
            then = f"{stored} means the same as before"
        elif self.threshold > self.after.identity:
            then = f"{stored} now accepts nothing, not even identical pairs"
        elif share >= NEARLY_ALL:
            then = f"{stored} now accepts nearly everything"
        else:
            then = f"{stored} now means what {self.equivalent:.3g} meant before{some}"
        return f"scale on {self.data}: {random}, {identical}: {then}"


def measure_scale_shift(before: Scale, after: Scale, *, threshold: float | None = None, data: str = "") -> ScaleShift:
    """Return how the scale changed between two models.

    `threshold` is a threshold in use; the default is a typical one on the old scale. Both models are calibrated on the
    same random pairs, so a change of `reference` comes from the models.
    """
    stored = threshold if threshold is not None else float(f"{before.reference + TYPICAL * before.unit:.2g}")
    ends = (before.unit, after.unit)
    if any(unit != unit for unit in ends):
        return ScaleShift(data, before, after, stored, None)
    share = (stored - after.reference) / after.unit
    return ScaleShift(data, before, after, stored, before.reference + share * before.unit)


def measure_scale_shifts(
    before: Mapping[str, Scale], after: Mapping[str, Scale], *, threshold: float | None = None
) -> tuple[ScaleShift, ...]:
    """Return the scale shift of each data set that calibrates both models, sorted by name."""
    both = (name for name in sorted(before) if name in after)
    return tuple(measure_scale_shift(before[name], after[name], threshold=threshold, data=name) for name in both)


@writes_properties("says")
@dataclass(frozen=True)
class ThresholdShift:
    """The shares of a data set's pairs that a threshold in use accepts, before and now, as proportions.

    `pairs` is the number of pairs. In a search, a pair is a query with its first answer; `unit` says which applies.
    `same` is the new model's threshold that accepts as many pairs, or the nearest number that equal scores allow; it
    accepts the share `accepts`. Both are None if too few pairs, or all, are `accepted`.
    """

    data: str
    threshold: float
    pairs: Positive
    accepted: Count
    before: Proportion
    now: Proportion
    same: float | None
    accepts: Proportion | None
    unit: str = PAIRS

    @property
    def says(self) -> str:
        """The shift in one line.

        >>> ThresholdShift("pairs", 0.8, 1200, 372, 0.31, 0.041, 0.712, 0.31).says
        'threshold 0.8 on pairs: accepted 31.0% of 1,200 pairs, accepts 4.1% now; 0.712 accepts as many'
        """
        moved = f"accepted {100 * self.before:.1f}% of {self.pairs:,} {self.unit}, accepts {100 * self.now:.1f}% now"
        if self.same is not None and self.accepts is not None:
            end = "fewest" if self.accepts > 2 * self.before else "nearest"  # no pair at all would be nearer
            nearest = f"{100 * self.accepts:.1f}%, the {end} that equal scores allow"
            then = f"{self.same:.12g} accepts {'as many' if self.accepts == self.before else nearest}"
        elif self.accepted == self.pairs:
            then = "it accepted all of them, so no new threshold can be derived"
        else:
            few = f"{self.accepted} accepted {self.unit} are too few"
            then = f"{few} for a threshold that accepts as many ({MIN_ACCEPTED} are needed)"
        return f"threshold {self.threshold:g} on {self.data}: {moved}; {then}"


def measure_threshold_shift(
    before: Floats, after: Floats, *, threshold: float, data: str = "", unit: str = PAIRS
) -> ThresholdShift:
    """Return the effect on a threshold, from scores of the same pairs under both models; shape [n] each, n > 0.

    `same` lies halfway between the last accepted score and the next one, rounded as far as that allows.
    """
    accepted = int((before >= threshold).sum())
    shares = (accepted / len(before), float((after >= threshold).mean()))
    same = accepts = None
    if MIN_ACCEPTED <= accepted < len(after):
        scores, counts = np.unique(after, return_counts=True)
        reached = np.cumsum(counts[::-1])[::-1]  # so many pairs reach each score
        last = int(np.abs(reached - accepted).argmin())
        same = float(scores[last] + scores[max(last - 1, 0)]) / 2
        same, accepts = round(same, decimals_of_threshold(same, after, digits=3)), int(reached[last]) / len(after)
    return ThresholdShift(data, threshold, len(before), accepted, *shares, same, accepts, unit)
