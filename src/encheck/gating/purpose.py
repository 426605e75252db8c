"""What a new model is to be: the same one, changed, or another one for a search, for pairs or for graded pairs.

*change* is decided row by row (`decision.decide`): no behaviour may be lost. For the other purposes a few components
decide, each by one rule on d = NEW - OLD, its two-sided 95% interval [l, u], and a margin m:

    yes           l > -m and d > -m / 2
    no            u < 0 at 5% / k for k components, and d <= -m / 2
    cannot tell   otherwise

All components have to be yes, which needs no correction; one no suffices. Which components there are is fixed by the
command and the data, never by scores. Everything else stands beside as a trade. Watched behaviours that fall by much
for certain leave the answer to the user. docs/gate.md has the error rates.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

import numpy as np

from encheck.errors import UsageError, unknown
from encheck.gating.decision import assess, bounds, measure
from encheck.gating.declared import GRADED
from encheck.gating.pairs_endpoint import PairsEndpoint
from encheck.gating.types import DEFAULT, Budget, Decision, GateRow, Outcome, Paired, PurposeName, Rule, UnjudgedSearch
from encheck.language.identify import english_share, said_of_languages
from encheck.statistics.sharing import sharing_of

NAMES: tuple[PurposeName, ...] = ("change", "search", "pairs", "similarity")
MARGINS: Mapping[PurposeName, float] = {"change": 0.04, "search": 0.04, "pairs": 0.04, "similarity": 0.02}
LEAST_MARGIN, MOST_MARGIN = 0.02, 0.10
PROTECTED = 0.08  # the margin of a protected behaviour
WATCHED = ("negation", "number", "entity")
WATCHED_LOSS = 0.10  # of a watched behaviour, at least and for certain, that is the user's to accept
BUDGET, LEVEL = 0.05, 0.95
ACCEPTED = "share of positives accepted"  # the endpoint of pairs, whose row has the name of their data
GUARDED = ("number", "entity", "antonym", "negation")  # protected where pairs decide, and nothing else is named
ENGLISH = 0.8  # of the user's texts: with fewer, built-in sentences neither decide nor are watched
NO_BUILT_IN = "the sentences that come with encheck are English, so they neither decide nor are watched"
NEEDS: Mapping[str, str] = {
    "search": "documents with queries (--data retrieval:DIR, or --data DIR --queries FILE)",
    "similarity": "graded pairs (--data pairs:FILE with a column score, or --data stsb:DIR)",
    "pairs": "pairs labelled 0 and 1 (--data pairs:FILE)",
}
DECIDED_BY: Mapping[PurposeName, str] = {"search": "retrieval", "similarity": GRADED, "pairs": "paraphrase"}
"""The property of the checks that decide; without --for, the first purpose whose data there are."""
WATCHED_QUERIES = 50  # of a slice that is watched
WHOLE: Mapping[Budget, float] = {"primary": 1.0, "behaviour": 1.0, "slices": 1.0}  # each component is tested by itself
FEWEST_ITEMS, FEWEST_CLUSTERS = 20, 16  # the second for 15 degrees of freedom


@dataclass(frozen=True)
class Purpose:
    """What the gate decides for. `margin` is m, as a share, by default that of `MARGINS`; `protect` names the
    behaviours that may not be lost.

    `accept` names watched behaviours and slices whose loss the user accepts; `tried` counts the candidates of which
    this is the best: it divides the levels. Of pairs, `budget` is the share of false accepts that is allowed; None is
    5%.
    """

    name: PurposeName = "change"
    margin: float = math.nan
    protect: tuple[str, ...] = ()
    accept: tuple[str, ...] = ()
    tried: int = 1
    budget: float | None = None

    def __post_init__(self) -> None:
        """UsageError for a value out of range, and for what *change* does not take."""
        if self.name not in NAMES:
            raise UsageError(unknown("--for", self.name, NAMES))
        if math.isnan(self.margin):
            object.__setattr__(self, "margin", MARGINS[self.name])
        if not LEAST_MARGIN <= self.margin <= MOST_MARGIN:
            raise UsageError(f"--margin is {100 * self.margin:g} points, but has to lie between 2 and 10")
        if self.tried < 1:
            raise UsageError(f"--tried={self.tried}: give the number of candidates that were tried, 1 or more")
        if self.budget is not None and (self.name != "pairs" or not 0 < self.budget < 1):
            raise UsageError("--max-false-accepts is a share between 0 and 1, and for --for pairs")
        has_margin = self.margin != MARGINS[self.name]
        if self.name == "change" and (self.protect or self.accept or self.tried > 1 or has_margin):
            raise UsageError(
                "--margin, --protect, --accept and --tried are for another model (--for search, pairs or similarity): "
                "where one model was changed, no behaviour may be lost"
            )
        self._refuse_accepted()

    def _refuse_accepted(self) -> None:
        """UsageError for a loss that nobody has to accept: of what is not watched, and of what is protected."""
        guarded = self.protect or (GUARDED if self.name == "pairs" else ())
        for name in self.accept:
            if name in guarded:
                raise UsageError(
                    f"--accept {name}: {name} is protected, so its loss decides and cannot be accepted. Remedy: leave "
                    f"out --accept {name}, or --protect other behaviours alone"
                )
            if "/" not in name and name not in WATCHED:
                raise UsageError(unknown("--accept", name, (*WATCHED, "a slice (retrieval/DATA/1/COLUMN=VALUE)")))


@dataclass(frozen=True)
class Weighable:
    """What a gate for another model weighs.

    `endpoints` and the pairs decide, `pairs` by their data; `slices` of queries are watched. `if_right` has by name the
    endpoints of which some first answers are unjudged, as they are if all of these are right. `behaviours` are whole
    properties by name, of which some are protected, some watched. `rows` are all others, which stand beside.
    """

    endpoints: Sequence[Paired]
    slices: Sequence[Paired]
    behaviours: Mapping[str, Paired]
    rows: Sequence[Paired]
    pairs: Mapping[str, PairsEndpoint] = field(default_factory=dict)
    if_right: Mapping[str, Paired] = field(default_factory=dict)


def decide_for(
    purpose: Purpose,
    found: Weighable,
    *,
    rule: Rule = DEFAULT,
    contracts: Sequence[str] = (),
    missing: Sequence[str] = (),
    moved: Sequence[UnjudgedSearch] = (),
    languages: Mapping[str, int] = MappingProxyType({}),
) -> Decision:
    """The decision for this purpose; `languages` counts the user's texts by language.

    UsageError for a protected behaviour that nobody measured, a slice to accept that there is not, and where nothing
    decides.
    """
    if not contracts:
        _refuse_unmeasured(purpose, found, moved, languages)
    components = [
        *(replace(one, delta=purpose.margin / 2) for one in found.endpoints),
        *(replace(found.behaviours[name], delta=PROTECTED / 2)
          for name in purpose.protect if name in found.behaviours),
    ]  # fmt: skip
    count = len(components) + len(moved) + len(found.pairs)
    strict = _strict(rule, purpose, count)
    decided = [_of_pairs(name, one, purpose, count) for name, one in found.pairs.items()]
    for one in components:
        (row,) = assess([one], measure([one], rule=strict), rule=strict)
        decided.append(
            _with_unjudged(row, one, found.if_right[one.name], strict) if one.name in found.if_right else row
        )
    if purpose.name == "similarity":
        asks = "about {:,} graded pairs like these would decide"
        decided = [
            replace(row, why=f"{row.why}; {asks.format(row.needed)}", remedy=None)
            if row.endpoint and row.needed else row for row in decided
        ]  # fmt: skip
    fallen = _fallen(purpose, found, rule)
    yours = tuple(name for name in fallen if name not in purpose.accept)
    beside = [*found.slices, *found.rows]
    rows = (*decided, *map(_beside, assess(beside, measure(beside, rule=rule), rule=rule))) if beside else (*decided,)
    outcome, reasons = _verdict(decided, moved, contracts, missing)
    if outcome == "pass":
        outcome = "inconclusive" if yours else "pass"
        accepted = (f"{name}: {fallen[name]}, which you accept" for name in fallen if name in purpose.accept)
        reasons = (*(f"{name}: {fallen[name]}, which is yours to accept" for name in yours), *reasons, *accepted)
    else:
        yours = ()
    return Decision(
        outcome, reasons, rows, missing=tuple(missing), contracts=tuple(contracts), searches=tuple(moved),
        purpose=purpose.name, margin=purpose.margin, yours=yours,
    )  # fmt: skip


def _with_unjudged(row: GateRow, one: Paired, if_right: Paired, rule: Rule) -> GateRow:
    """The row, in which unjudged first answers are wrong; open where the answer is another one if they are right."""
    other = replace(if_right, delta=one.delta)
    (best,) = assess([other], measure([other], rule=rule), rule=rule)
    if best.outcome == row.outcome:
        return row
    said = {"pass": "yes", "block": "no", "inconclusive": "cannot tell"}
    count = int(np.sum((one.baseline != if_right.baseline) | (one.candidate != if_right.candidate)))
    why = (
        f"{count:,} queries have a first answer that nobody judged: {said[row.outcome]} if all of these are wrong "
        f"({100 * row.change:+.1f} points), {said[best.outcome]} if all are right ({100 * best.change:+.1f} points)"
    )
    return replace(row, outcome="inconclusive", why=why, unjudged=count, needed=None, remedy=None)


def refuse_protected(purpose: Purpose, languages: Mapping[str, int]) -> None:
    """UsageError for a behaviour that is protected by built-in sentences, where few of the user's texts are English."""
    if purpose.protect and english_share(languages) < ENGLISH:
        raise UsageError(
            f"--protect {purpose.protect[0]} cannot be measured: {said_of_languages(languages)}, and {NO_BUILT_IN}. "
            f"Remedy: leave it out, or give sentences of your own with written edits (--data probes:FILE)"
        )


def _refuse_unmeasured(
    purpose: Purpose, found: Weighable, moved: Sequence[UnjudgedSearch], languages: Mapping[str, int]
) -> None:
    if not found.endpoints and not found.pairs and not moved:
        raise UsageError(
            f"--for {purpose.name} needs data that decide: {NEEDS[purpose.name]}. Nothing of the kind was measured"
        )
    if unmeasured := [name for name in purpose.protect if name not in found.behaviours]:
        refuse_protected(replace(purpose, protect=(unmeasured[0],)), languages)
        raise UsageError(unknown("--protect", unmeasured[0], found.behaviours or ["none"]))
    slices = [one.name for one in found.slices]
    if strange := [name for name in purpose.accept if name not in (*WATCHED, *slices)]:
        raise UsageError(unknown("--accept", strange[0], (*WATCHED, *slices)))


def has_enough(one: Paired) -> bool:
    """Whether a component has the items and clusters that it takes to decide; a matter of the data, not of scores."""
    return len(one.baseline) >= FEWEST_ITEMS and sharing_of(one.things).independent >= FEWEST_CLUSTERS


def _of_pairs(name: str, found: PairsEndpoint, purpose: Purpose, count: int) -> GateRow:
    """The share of positives that each model accepts at its own threshold, as a component of so many."""
    before, now = (float(side.hits.mean()) for side in (found.old, found.new))
    low, high = found.interval(1 - (1 - LEVEL) / purpose.tried)
    alpha = (1 - LEVEL) / count / purpose.tried
    highest = found.interval(1 - alpha)[1]
    change, half = now - before, purpose.margin / 2
    withheld = found.sharing.withheld or ("fewer than 20 positives" if len(found.positives) < FEWEST_ITEMS else "")
    outcome: Outcome = "inconclusive"
    if found.answer == "no" or (found.answer == "compare" and not withheld and highest < 0 and change <= -half):
        outcome = "block"
    elif found.answer == "compare" and not withheld and low > -purpose.margin and change > -half:
        outcome = "pass"
    shown = (
        f"{100 * before:.1f}% to {100 * now:.1f}% ({100 * change:+.1f} points [{100 * low:+.1f}, {100 * high:+.1f}])"
    )
    why = withheld or (found.reason if found.answer != "compare" else "")
    if not why and outcome != "pass":
        said = (
            "a loss is certain"
            if outcome == "block"
            else f"a loss of {100 * purpose.margin:g} points cannot be ruled out"
        )
        why = f"{shown}: {said}"
    if outcome == "inconclusive":
        why += f"; {found.labels_needed(purpose.margin, alpha=alpha, fewest=FEWEST_ITEMS)}"
    lost, gained = (int((found.differences == sign).sum()) for sign in (-1, 1))
    nan = float("nan")
    return GateRow(
        name, "pairs", "rate", len(found.positives), found.sharing.independent, before, now, change, low, high, nan,
        half, nan, nan, outcome, gates=True, evidence=True, gained=gained, lost=lost, mcnemar=None, detectable=nan,
        needed=None, why=why, budget="primary", alpha=alpha,
        endpoint=f"{ACCEPTED} ({_at(found)})",
    )  # fmt: skip


def _at(found: PairsEndpoint) -> str:
    """The thresholds of both models."""
    ends = ["no threshold" if one.threshold is None else f"{one.threshold:.3g}" for one in (found.old, found.new)]
    return f"at {ends[0]} before, {ends[1]} now"


def _strict(rule: Rule, purpose: Purpose, count: int) -> Rule:
    """The rule of one component of so many; its `delta` is half a margin."""
    return replace(
        rule, block=0.0, least_loss=1.0, alpha=rule.alpha / max(count, 1) / purpose.tried,
        level=1 - (1 - rule.level) / purpose.tried, family=rule.row, needs_headroom=False, split=WHOLE,
        min_items=FEWEST_ITEMS, min_clusters=FEWEST_CLUSTERS, primary_items=FEWEST_ITEMS,
        primary_clusters=FEWEST_CLUSTERS,
    )  # fmt: skip


def _fallen(purpose: Purpose, found: Weighable, rule: Rule) -> dict[str, str]:
    """What is watched and fell by `WATCHED_LOSS` or more and for certain; how far, by name."""
    watched = {
        name: one for name, one in found.behaviours.items()
        if name in WATCHED and name not in purpose.protect and not one.unseen
    }  # fmt: skip
    watched |= {one.name: one for one in found.slices if len(one.baseline) >= WATCHED_QUERIES}
    if not watched:
        return {}
    level = 1 - (1 - rule.level) / len(watched) / purpose.tried
    figures = measure([*watched.values()], rule=rule)
    highs = bounds(figures, level)[1]
    said = {}
    for (name, one), change, high, withheld in zip(
        watched.items(), figures.change, highs, figures.withheld, strict=True
    ):
        if not withheld and change <= -WATCHED_LOSS and high < 0:
            before, now = (100 * float(side.mean()) for side in (one.baseline, one.candidate))
            said[name] = f"{before:.1f}% to {now:.1f}%, a certain loss of {-100 * change:.1f} points"
    return said


def _beside(row: GateRow) -> GateRow:
    """The row as one that decides nothing."""
    return replace(row, outcome="inconclusive", evidence=False, needed=None, remedy=None)


def _verdict(
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
    return "pass", (*(_kept(row) for row in decided), *(f"{one.name}: {one.says}" for one in moved))


def _kept(row: GateRow) -> str:
    """What a component that holds shows."""
    times, unit = (100, " points") if row.kind == "rate" else (1, "")
    ends = f"[{times * row.low:+.1f}, {times * row.high:+.1f}]" if times > 1 else f"[{row.low:+.3f}, {row.high:+.3f}]"
    change = f"{times * row.change:+.1f}{unit} {ends}" if times > 1 else f"{row.change:+.3f} {ends}"
    said = "certainly better" if row.low > 0 else f"a loss of {times * 2 * row.delta:g}{unit} is ruled out"
    return f"{row.name}: {row.endpoint or 'share won'} {change}: {said}"
