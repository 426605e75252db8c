"""The purpose of a candidate: a changed version of the same model, or another model for search, pairs or similarity.

*change* is decided row by row (`decision.decide_by_rows`): no behaviour may be lost. For the other purposes, a few
components decide, each by one rule on d = NEW - OLD, its two-sided 95% interval [l, u], and a margin m:

    yes           l > -m and d > -m / 2
    no            u < 0 at 5% / k for k components, and d <= -m / 2
    cannot tell   otherwise

All components have to be "yes", which needs no correction. One "no" suffices for a "no". The command and the data
determine the components, never the scores. Everything else is reported as a trade-off. If watched behaviours certainly
fall by a large amount, the decision is left to the user. docs/method/gate.md has the error rates.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import NormalDist
from types import MappingProxyType
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from encheck.errors import DataError, UsageError, unknown_name_message
from encheck.gating.decision import assess_rows, change_bounds, row_statistics
from encheck.gating.pairing import GRADED
from encheck.gating.types import (
    DEFAULT,
    Budget,
    GateDecision,
    GateRow,
    Outcome,
    PairedRow,
    PurposeName,
    Rule,
    UnjudgedSearch,
)
from encheck.language.prose import english_share, summarise_languages
from encheck.statistics.false_accepts import (
    OF_USE,
    UNEVEN,
    Negatives,
    ThresholdPromise,
    judge_budget,
    strictest_useful_threshold,
    threshold_step,
)
from encheck.statistics.hypothesis_tests import units_needed
from encheck.statistics.sharing import LEVEL, Sharing, cached_sharing

Floats = NDArray[np.float64]
PairsAnswer = Literal["compare", "no", "cannot tell"]
BOUND, LIKELY = 1.96, 0.84  # normal quantiles of 97.5% and 80%


@dataclass(frozen=True, eq=False)
class PairsSide:
    """One model on the labelled pairs: its threshold, and which positives it accepts there (0 or 1, shape [p]).

    If no threshold keeps the budget, the model accepts no pair.
    """

    promise: ThresholdPromise
    hits: Floats

    @property
    def threshold(self) -> float | None:
        """The lowest threshold that is shown to keep the budget; None without one."""
        return self.promise.threshold


@dataclass(frozen=True, eq=False)
class PairsEndpoint:
    """Both models on the same pairs. `positives` has the positions of the pairs with `hits`, shape [p].

    `answer` is "compare" if the new model has a threshold; the endpoint is then the mean of `differences`. Otherwise
    `answer` is the gate's answer, regardless of the old model, and `reason` is its reason. `sharing` is the sharing of
    the positives. `threshold_variance` is the variance that the choice of both thresholds adds to that of the mean.
    """

    old: PairsSide
    new: PairsSide
    positives: NDArray[np.intp]
    sharing: Sharing
    threshold_variance: float
    answer: PairsAnswer
    reason: str

    @property
    def differences(self) -> Floats:
        """Hits of the new model minus hits of the old one: -1, 0 or 1; shape [p]."""
        return self.new.hits - self.old.hits

    def interval(self, level: float = LEVEL) -> tuple[float, float]:
        """Return the interval of the mean difference, including the choice of thresholds; -1 to 1 if it is withheld."""
        mean, reach = (
            float(self.differences.mean()),
            NormalDist().inv_cdf((1 + level) / 2) * math.sqrt(self.threshold_variance),
        )
        low, high = (float(end[0]) for end in self.sharing.change_interval(self.differences, level=level))
        return max(mean - math.hypot(mean - low, reach), -1.0), min(mean + math.hypot(high - mean, reach), 1.0)

    def labels_needed(self, margin: float, *, alpha: float, fewest: int) -> str:
        """Return the labels needed to decide with a power of 80% if the change is as estimated; "" if none would.

        The answer names at least `fewest` positives. Without a threshold, negatives are needed first. With a threshold,
        the error falls with the root of the number of labels.
        """
        promised, positives = self.new.promise, len(self.positives)
        if self.answer != "compare" and promised.outcome == "broken":
            return ""
        if self.answer != "compare" and promised.needed is None:
            return "more negatives would rather show that it has none"
        if self.answer != "compare":
            return f"about {promised.needed:,} independent negatives would decide whether it has a threshold"
        if self.sharing.why_no_interval:
            return "positives that share fewer texts would decide"
        change = float(self.differences.mean())
        low, high = self.interval()
        error = (high - low) / (2 * BOUND)
        to_block = -change / (NormalDist().inv_cdf(1 - alpha / 2) + LIKELY)
        to_pass = min((margin + change) / (BOUND + LIKELY), (margin / 2 + change) / LIKELY)
        times = max((error / max(to_block, to_pass)) ** 2, fewest / positives, 1.0)
        return (
            f"about {math.ceil(times * positives):,} positives and {math.ceil(times * promised.negatives):,} negatives "
            f"would decide"
        )


def compare_labelled_pairs(
    old: ArrayLike, new: ArrayLike, *, labels: ArrayLike, things: ArrayLike, budget: float
) -> PairsEndpoint:
    """Compare two models by the labelled pairs that each accepts within a budget of false accepts.

    Args:
        old: the scores of the model in use; shape [n].
        new: the candidate's scores of the same pairs; shape [n].
        labels: 1 for a pair that may be accepted, 0 for one that may not; shape [n].
        things: what each pair shares with others, as in `Sharing.of`; shape [n] or [n, k].
        budget: the share of negatives that may be accepted, between 0 and 1.

    Raises:
        DataError: no pair has label 0, or none has label 1.
    """
    is_positive, shared = np.asarray(labels) == 1, np.asarray(things, np.intp)
    positives, negatives = np.flatnonzero(is_positive), np.flatnonzero(~is_positive)
    if not len(positives) or not len(negatives):
        lacking = 0 if len(positives) else 1
        raise DataError(f"no pair has label {lacking}, but a gate for pairs needs both. Remedy: label some pairs")
    among = Sharing.of(shared[negatives])
    depends_on = among.sum_over_sharing_items(np.ones((len(negatives), 1))).ravel().astype(np.intp)
    sides, moves = [], []
    for scores in (np.asarray(old, float), np.asarray(new, float)):
        step = threshold_step(scores[negatives])  # of negatives alone, so that positives do not affect the threshold
        strictest = strictest_useful_threshold(scores, scores[positives], step=step)
        which = Negatives(
            scores[negatives],
            depends_on,
            lambda some: among.sum_over_sharing_items(some[:, None].astype(np.float64))[some, 0],
        )
        made = judge_budget(which, budget=budget, strictest=strictest, step=step)
        accepted = np.zeros(len(positives)) if made.threshold is None else scores[positives] >= made.threshold
        sides.append(PairsSide(made, accepted.astype(float)))
        moves.append(_threshold_effects(scores[positives], scores[negatives], made))
    variance = float(among.estimate_errors(moves[1] - moves[0]).variance[0])
    answer, reason = _can_compare_pairs(sides[1].promise, sides[0].promise)
    return PairsEndpoint(sides[0], sides[1], positives, Sharing.of(shared[positives]), variance, answer, reason)


def _threshold_effects(positives: Floats, negatives: Floats, made: ThresholdPromise) -> Floats:
    """Return the effect of each negative on the hit rate through the threshold, times the number of negatives.

    The result has shape [q]. The slope is taken between the thresholds for two standard errors more and fewer accepted
    negatives.
    """
    if made.threshold is None:
        return np.zeros(len(negatives))
    accepted = negatives >= made.threshold
    count = int(accepted.sum())
    reach = math.ceil(2 * math.sqrt((count + 1) * len(negatives) / max(made.effective, 1)))
    falling = np.sort(negatives)[::-1]
    few, many = max(count - reach, 0), min(count + reach, len(negatives) - 1)
    low, high = falling[many], falling[few]
    hits = float(((positives >= low) & (positives < high)).mean())
    alarms = float(((negatives >= low) & (negatives < high)).mean())
    slope = hits / alarms if alarms else 0.0
    return np.where(accepted, slope, 0.0)


def _can_compare_pairs(new: ThresholdPromise, old: ThresholdPromise) -> tuple[PairsAnswer, str]:
    """Return "compare" if the two models can be compared, else the gate's answer; and the reason.

    An impossible threshold is tested first.
    """
    budget = f"{100 * new.budget:g}%"
    if new.outcome == "broken":
        why = (
            f"no threshold of the candidate keeps {budget}: at {new.strictest:.12g}, the strictest that {OF_USE}, "
            f"false accepts are {100 * (new.lower or 0):.1f}% or more with 95% confidence"
        )
        if old.outcome == "broken":
            return "cannot tell", f"{why}. No threshold of the model in use keeps this budget either"
        return "no", why
    if new.outcome == "undecided":
        least = units_needed(0, new.budget)
        return "cannot tell", (
            f"no threshold of the candidate is shown to keep {budget}, which takes {least:,} independent negatives "
            f"without one false accept: the {new.negatives:,} here count as {new.effective:,} independent ones"
        )
    if old.threshold is None:
        return "compare", f"the model in use has no threshold that is shown to keep {budget}, so it has no hits"
    return "compare", ""


PURPOSES: tuple[PurposeName, ...] = ("change", "search", "pairs", "similarity")
MARGINS: Mapping[PurposeName, float] = {"change": 0.04, "search": 0.04, "pairs": 0.04, "similarity": 0.02}
LEAST_MARGIN, MOST_MARGIN = 0.02, 0.10
PROTECTED_MARGIN = 0.08  # the margin of a protected behaviour
WATCHED = ("negation", "number", "entity")
WATCHED_LOSS = 0.10  # the certain loss of a watched behaviour from which on the user has to accept it
BUDGET, LEVEL = 0.05, 0.95
ACCEPTED = "share of positives accepted"  # the endpoint of pairs; its row is named after their data
PROTECTED_FOR_PAIRS = ("number", "entity", "antonym", "negation")  # protected by default if pairs decide
ENGLISH = 0.8  # share of English user texts: below it, built-in sentences neither decide nor are watched
NO_BUILT_IN = "the sentences that come with encheck are English, so they neither decide nor are watched"
NEEDS: Mapping[str, str] = {
    "search": "documents with queries (--data retrieval:DIR, or --data DIR --queries FILE)",
    "similarity": "graded pairs (--data pairs:FILE with a column score, or --data stsb:DIR)",
    "pairs": "pairs labelled 0 and 1 (--data pairs:FILE)",
}
DECIDED_BY: Mapping[PurposeName, str] = {"search": "retrieval", "similarity": GRADED, "pairs": "paraphrase"}
"""The property of the checks that decide each purpose; without --for, the first purpose that has data applies."""
WATCHED_QUERIES = 50  # fewest queries of a watched slice
UNDIVIDED: Mapping[Budget, float] = {
    "primary": 1.0,
    "behaviour": 1.0,
    "slices": 1.0,
}  # each component is tested by itself
FEWEST_ITEMS, FEWEST_CLUSTERS = 20, 16  # the second for 15 degrees of freedom


@dataclass(frozen=True)
class Purpose:
    """The purpose of the candidate, and the user's demands.

    A loss of `margin` (a share; default: that of `MARGINS`) has to be ruled out. `protect` names the behaviours that
    may not be lost. `accept` names watched behaviours and slices whose loss the user accepts. `tried` is the number of
    candidates of which this one is the best; the error rates are divided by it. `budget` is the allowed share of false
    accepts, for pairs; None means 5%.
    """

    name: PurposeName = "change"
    margin: float = math.nan
    protect: tuple[str, ...] = ()
    accept: tuple[str, ...] = ()
    tried: int = 1
    budget: float | None = None

    def __post_init__(self) -> None:
        """Raise UsageError for a value out of range, an option that *change* lacks, or an invalid loss to accept."""
        if self.name not in PURPOSES:
            raise UsageError(unknown_name_message("--for", self.name, PURPOSES))
        if math.isnan(self.margin):
            object.__setattr__(self, "margin", MARGINS[self.name])
        if not LEAST_MARGIN <= self.margin <= MOST_MARGIN:
            raise UsageError(f"--margin is {100 * self.margin:g} points, but should be between 2 and 10")
        if self.tried < 1:
            raise UsageError(f"--tried={self.tried}: give the number of candidates that were tried, 1 or more")
        if self.budget is not None and (self.name != "pairs" or not 0 < self.budget < 1):
            raise UsageError("--max-false-accepts should be a share between 0 and 1, and needs --for pairs")
        has_margin = self.margin != MARGINS[self.name]
        if self.name == "change" and (self.protect or self.accept or self.tried > 1 or has_margin):
            raise UsageError(
                "--margin, --protect, --accept and --tried need another model (--for search, pairs or similarity): "
                "if one model was changed, no behaviour may be lost"
            )
        guarded = self.protect or (PROTECTED_FOR_PAIRS if self.name == "pairs" else ())
        for name in self.accept:
            if name in guarded:
                raise UsageError(
                    f"--accept {name}: {name} is protected, so its loss decides and cannot be accepted. Remedy: leave "
                    f"out --accept {name}, or protect only other behaviours"
                )
            if "/" not in name and name not in WATCHED:
                raise UsageError(
                    unknown_name_message("--accept", name, (*WATCHED, "a slice (retrieval/DATA/1/COLUMN=VALUE)"))
                )


@dataclass(frozen=True)
class PurposeFigures:
    """The figures that a gate for another model uses.

    `endpoints` and `pairs` (by data set) decide. `slices` of queries are watched. `if_right` has the values that the
    endpoints would have if every unjudged first document were right. `behaviours` are whole properties by name; some
    are protected, others watched. `rows` are all other rows, which are only reported.
    """

    endpoints: Sequence[PairedRow]
    slices: Sequence[PairedRow]
    behaviours: Mapping[str, PairedRow]
    rows: Sequence[PairedRow]
    pairs: Mapping[str, PairsEndpoint] = field(default_factory=dict)
    if_right: Mapping[str, PairedRow] = field(default_factory=dict)


def decide_for_purpose(
    purpose: Purpose,
    figures: PurposeFigures,
    *,
    rule: Rule = DEFAULT,
    contracts: Sequence[str] = (),
    missing: Sequence[str] = (),
    moved: Sequence[UnjudgedSearch] = (),
    languages: Mapping[str, int] = MappingProxyType({}),
) -> GateDecision:
    """Return the decision for this purpose; `languages` counts the user's texts by language.

    Raise UsageError if a protected behaviour was not measured, a slice to accept does not exist, or no component
    decides.
    """
    if not contracts and not figures.endpoints and not figures.pairs and not moved:
        raise UsageError(f"--for {purpose.name} needs data that decide: {NEEDS[purpose.name]}. This run measured none")
    unmeasured = [name for name in purpose.protect if name not in figures.behaviours]
    if not contracts and unmeasured:
        refuse_protected(replace(purpose, protect=(unmeasured[0],)), languages)
        raise UsageError(unknown_name_message("--protect", unmeasured[0], figures.behaviours or ["none"]))
    acceptable = (*WATCHED, *(one.name for one in figures.slices))
    strange = [name for name in purpose.accept if name not in acceptable]
    if not contracts and strange:
        raise UsageError(unknown_name_message("--accept", strange[0], acceptable))
    components = [
        *(replace(one, delta=purpose.margin / 2) for one in figures.endpoints),
        *(replace(figures.behaviours[name], delta=PROTECTED_MARGIN / 2)
          for name in purpose.protect if name in figures.behaviours),
    ]  # fmt: skip
    count = len(components) + len(moved) + len(figures.pairs)
    strict = replace(
        rule, block=0.0, least_loss=1.0, alpha=rule.alpha / max(count, 1) / purpose.tried,
        level=1 - (1 - rule.level) / purpose.tried, family=rule.row, needs_headroom=False, split=UNDIVIDED,
        min_items=FEWEST_ITEMS, min_clusters=FEWEST_CLUSTERS, primary_items=FEWEST_ITEMS,
        primary_clusters=FEWEST_CLUSTERS,
    )  # fmt: skip
    decided = [_assess_pairs(name, one, purpose, count) for name, one in figures.pairs.items()]
    for one in components:
        (row,) = assess_rows([one], row_statistics([one], rule=strict), rule=strict)
        decided.append(
            _reopen_if_unjudged_matter(row, one, figures.if_right[one.name], strict)
            if one.name in figures.if_right
            else row
        )
    if purpose.name == "similarity":
        asks = "about {:,} graded pairs like these would decide"
        decided = [
            replace(row, why=f"{row.why}; {asks.format(row.needed)}", remedy=None)
            if row.endpoint and row.needed else row for row in decided
        ]  # fmt: skip
    fallen = _find_watched_losses(purpose, figures, rule)
    yours = tuple(name for name in fallen if name not in purpose.accept)
    beside = [*figures.slices, *figures.rows]
    trades = assess_rows(beside, row_statistics(beside, rule=rule), rule=rule) if beside else ()
    rows = (
        *decided,
        *(replace(row, outcome="inconclusive", evidence=False, needed=None, remedy=None) for row in trades),
    )
    outcome, reasons = _outcome_and_reasons(decided, moved, contracts, missing)
    if outcome == "pass":
        outcome = "inconclusive" if yours else "pass"
        accepted = (f"{name}: {fallen[name]}, which you accept" for name in fallen if name in purpose.accept)
        reasons = (*(f"{name}: {fallen[name]}, for you to accept or not" for name in yours), *reasons, *accepted)
    else:
        yours = ()
    return GateDecision(
        outcome, reasons, rows, missing=tuple(missing), contracts=tuple(contracts), searches=tuple(moved),
        purpose=purpose.name, margin=purpose.margin, yours=yours,
    )  # fmt: skip


def _reopen_if_unjudged_matter(row: GateRow, one: PairedRow, if_right: PairedRow, rule: Rule) -> GateRow:
    """Return the row, in which unjudged first answers count as wrong.

    The row becomes open if counting these answers as right changes its outcome.
    """
    other = replace(if_right, delta=one.delta)
    (best,) = assess_rows([other], row_statistics([other], rule=rule), rule=rule)
    if best.outcome == row.outcome:
        return row
    said = {"pass": "yes", "block": "no", "inconclusive": "cannot tell"}
    count = int(np.sum((one.baseline != if_right.baseline) | (one.candidate != if_right.candidate)))
    why = (
        f"the first document of {count:,} queries is not judged: {said[row.outcome]} if all of these are wrong "
        f"({100 * row.change:+.1f} points), {said[best.outcome]} if all are right ({100 * best.change:+.1f} points)"
    )
    return replace(row, outcome="inconclusive", why=why, unjudged=count, needed=None, remedy=None)


def refuse_protected(purpose: Purpose, languages: Mapping[str, int]) -> None:
    """Raise UsageError if a behaviour is protected but few of the user's texts are English.

    Protected behaviours are measured on the built-in English sentences.
    """
    if purpose.protect and english_share(languages) < ENGLISH:
        raise UsageError(
            f"--protect {purpose.protect[0]} cannot be measured: {summarise_languages(languages)}, and {NO_BUILT_IN}. "
            f"Remedy: leave it out, or give sentences of your own with written edits (--data probes:FILE)"
        )


def has_enough_items(one: PairedRow) -> bool:
    """Return whether a component has enough items and clusters to decide. This depends on the data, not on scores."""
    return len(one.baseline) >= FEWEST_ITEMS and cached_sharing(one.things).independent_clusters >= FEWEST_CLUSTERS


def _assess_pairs(name: str, endpoint: PairsEndpoint, purpose: Purpose, count: int) -> GateRow:
    """Return the component for the pairs: the share of positives that each model accepts at its own threshold."""
    before, now = (float(side.hits.mean()) for side in (endpoint.old, endpoint.new))
    low, high = endpoint.interval(1 - (1 - LEVEL) / purpose.tried)
    alpha = (1 - LEVEL) / count / purpose.tried
    highest = endpoint.interval(1 - alpha)[1]
    change, half = now - before, purpose.margin / 2
    withheld = endpoint.sharing.why_no_interval or (
        "fewer than 20 positives" if len(endpoint.positives) < FEWEST_ITEMS else ""
    )
    outcome: Outcome = "inconclusive"
    if endpoint.answer == "no" or (endpoint.answer == "compare" and not withheld and highest < 0 and change <= -half):
        outcome = "block"
    elif endpoint.answer == "compare" and not withheld and low > -purpose.margin and change > -half:
        outcome = "pass"
    shown = (
        f"{100 * before:.1f}% to {100 * now:.1f}% ({100 * change:+.1f} points [{100 * low:+.1f}, {100 * high:+.1f}])"
    )
    why = withheld or (endpoint.reason if endpoint.answer != "compare" else "")
    if not why and outcome != "pass":
        said = (
            "a loss is certain"
            if outcome == "block"
            else f"a loss of {100 * purpose.margin:g} points cannot be ruled out"
        )
        why = f"{shown}: {said}"
    if outcome == "inconclusive":
        needed = endpoint.labels_needed(purpose.margin, alpha=alpha, fewest=FEWEST_ITEMS)
        why += f"; {needed}" * bool(needed)
    lost, gained = (int((endpoint.differences == sign).sum()) for sign in (-1, 1))
    nan = float("nan")
    at = ["no threshold" if one.threshold is None else f"{one.threshold:.12g}" for one in (endpoint.old, endpoint.new)]
    doubt = ""
    if any(one.promise.is_uneven for one in (endpoint.old, endpoint.new)):
        doubt = f"; false accepts are within {100 * endpoint.new.promise.budget:g}%{UNEVEN}"
    return GateRow(
        name, "pairs", "rate", len(endpoint.positives), endpoint.sharing.independent_clusters,
        before, now, change, low, high, nan,
        half, nan, nan, outcome, gates=True, evidence=True, gained=gained, lost=lost, mcnemar=None, detectable=nan,
        needed=None, why=why, budget="primary", alpha=alpha,
        endpoint=f"{ACCEPTED} (at {at[0]} before, {at[1]} now{doubt})",
    )  # fmt: skip


def _find_watched_losses(purpose: Purpose, found: PurposeFigures, rule: Rule) -> dict[str, str]:
    """Return the watched behaviours and slices that certainly fell by `WATCHED_LOSS` or more, with the amounts."""
    watched = {
        name: one for name, one in found.behaviours.items()
        if name in WATCHED and name not in purpose.protect and not one.unseen
    }  # fmt: skip
    watched |= {one.name: one for one in found.slices if len(one.baseline) >= WATCHED_QUERIES}
    if not watched:
        return {}
    level = 1 - (1 - rule.level) / len(watched) / purpose.tried
    figures = row_statistics([*watched.values()], rule=rule)
    highs = change_bounds(figures, level)[1]
    said = {}
    for (name, one), change, high, withheld in zip(
        watched.items(), figures.change, highs, figures.withheld, strict=True
    ):
        if not withheld and change <= -WATCHED_LOSS and high < 0:
            before, now = (100 * float(side.mean()) for side in (one.baseline, one.candidate))
            said[name] = f"{before:.1f}% to {now:.1f}%, a certain loss of {-100 * change:.1f} points"
    return said


def _outcome_and_reasons(
    decided: Sequence[GateRow], moved: Sequence[UnjudgedSearch], contracts: Sequence[str], missing: Sequence[str]
) -> tuple[Outcome, tuple[str, ...]]:
    lost = [f"{row.name}: {row.why}" for row in decided if row.outcome == "block"]
    lost += [f"{one.name}: {one.says}" for one in moved if one.blocks]
    if contracts or lost:
        return "block", (*(f"contract broken: {name}" for name in contracts), *lost)
    doubts = [f"{one.name}: {one.says}" for one in moved if not one.passes]
    doubts += [f"{row.name}: {row.why}" for row in decided if row.outcome != "pass"]
    doubts += [f"only one side has {name}" for name in missing]
    if doubts:
        return "inconclusive", tuple(doubts)
    shown = []
    for row in decided:
        times, unit, digits = (100, " points", 1) if row.kind == "rate" else (1, "", 3)
        change = f"{times * row.change:+.{digits}f}{unit}"
        ends = f"[{times * row.low:+.{digits}f}, {times * row.high:+.{digits}f}]"
        means = "certainly better" if row.low > 0 else f"a loss of {times * 2 * row.delta:g}{unit} is ruled out"
        shown.append(f"{row.name}: {row.endpoint or 'share won'} {change} {ends}: {means}")
    return "pass", (*shown, *(f"{one.name}: {one.says}" for one in moved))
