"""How the scale of similarities moves from one model to another, and what that does to thresholds in use."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Annotated, Any

import numpy as np
from annotated_types import Interval
from numpy.typing import NDArray

from encheck.gating.kept import Kept
from encheck.scoring.answers import Answers
from encheck.scoring.scale import Scale
from encheck.scoring.scores import kind_named
from encheck.scoring.table import Table
from encheck.system.typed_files import Count, MaybeNaN, Positive, writes_properties

Floats = NDArray[np.float64]
Columns = Mapping[str, Sequence[Any]]
Proportion = Annotated[float, Interval(ge=0, le=1)]
Scored = dict[tuple[str, ...], tuple[float, float]]  # (the pair's texts, in order) -> (before, now)
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
        return f"scale on {self.data}: {random}, {identical}: {self._consequence}"

    @property
    def _consequence(self) -> str:
        stored, share = f"a stored {self.threshold:.3g}", self.accepted(self.after)
        if self.equivalent is None:
            return "one of the models gives random and identical pairs the same similarity, so no threshold works"
        if not self.has_moved:
            return f"{stored} is where it was"
        if self.threshold > self.after.identity:
            return f"{stored} now accepts nothing, not even identical pairs"
        if share >= NEARLY_ALL:
            return f"{stored} now accepts nearly everything"
        some = f", and accepts about {100 * share:.0f}% of random pairs" if share >= NEARLY_NONE else ""
        return f"{stored} is now where {self.equivalent:.3g} was{some}"


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
        return f"threshold {self.threshold:g} on {self.data}: {moved}; {self._same}"

    @property
    def _same(self) -> str:
        if self.same is not None:
            return f"{self.same:.3g} accepts as many"
        if self.accepted == self.pairs:
            return "it accepted all of them, so no threshold follows"
        few = f"{self.accepted} accepted {self.unit} are too few"
        return f"{few} for a threshold that accepts as many ({ACCEPTED} are needed)"


def threshold_shift(
    before: Floats, after: Floats, *, threshold: float, data: str = "", unit: str = PAIRS
) -> ThresholdShift:
    """What becomes of a threshold; scores of the same pairs under both models, each of shape [n], n > 0.

    `same` lies halfway between the last score that it accepts and the next, rounded as far as that allows.
    """
    accepted = int((before >= threshold).sum())
    shares = (accepted / len(before), float((after >= threshold).mean()))
    return ThresholdShift(data, threshold, len(before), accepted, *shares, _accepting(after, accepted), unit)


def _accepting(scores: Floats, count: int) -> float | None:
    """A threshold that so many of the scores reach, or as nearly so as ties allow."""
    if not ACCEPTED <= count < len(scores):
        return None
    ordered = np.sort(scores)[::-1]
    return float(ordered[count - 1] + ordered[count]) / 2


def threshold_shifts(
    baseline: Mapping[str, Kept], run: Mapping[str, Table], items: Mapping[str, Columns], *, thresholds: Sequence[float]
) -> tuple[ThresholdShift, ...]:
    """One for each data set that has pairs, and each threshold; `items` are the run's, with texts, by case as tables.

    The pairs are the data's own where they have labels, of a search its first answers, else those of the checks, each
    once.
    """
    if not thresholds:
        return ()
    found: dict[str, dict[str, Scored]] = {}
    for case, columns in items.items():
        if columns.get("kind") and case in baseline and baseline[case].has_items_of(run[case]):
            kind = kind_named(columns["kind"][0])
            sides = baseline[case].facing(run[case]), run[case]
            of_data = found.setdefault(run[case].data, {})
            if kind and kind.compares == "answers":
                of_data.setdefault(FIRST_ANSWERS, {}).update(_first_answers(columns, *sides))
            elif kind and kind.compares == "texts":
                of_data.setdefault(LABELLED if kind.weighed_as == LABELLED else PAIRS, {}).update(
                    _pairs(columns, *sides)
                )
    shifts = []
    for data, of_data in sorted(found.items()):
        scored = next((name for name in (LABELLED, FIRST_ANSWERS, PAIRS) if of_data.get(name)), None)
        if scored:
            before, now = np.array(list(of_data[scored].values())).T
            unit = FIRST_ANSWERS if scored == FIRST_ANSWERS else PAIRS
            shifts += [threshold_shift(before, now, threshold=one, data=data, unit=unit) for one in thresholds]
    return tuple(shifts)


def _pairs(columns: Columns, before: Table, now: Table) -> Iterable[tuple[tuple[str, ...], tuple[float, float]]]:
    for side in ("near", "far"):
        scores = zip(getattr(before, side).tolist(), getattr(now, side).tolist(), strict=True)
        for source, text, both in zip(columns["source"], columns[side], scores, strict=True):
            if text is not None and both[0] == both[0]:
                yield tuple(sorted((source, text))), both


def _first_answers(
    columns: Columns, before: Table, now: Table
) -> Iterator[tuple[tuple[str, ...], tuple[float, float]]]:
    """The score of each query's first answer; not of a query that has several right documents, whose best is not kept.

    `near` is the first answer where nobody judged, else the right document, and `far` the best other one.
    """
    for i, source in enumerate(columns["source"]):
        if len(Answers.of(now.answers[i]).right) <= 1:
            yield (source,), tuple(np.nanmax([side.near[i], side.far[i]]) for side in (before, now))
