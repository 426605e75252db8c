"""What `encheck threshold` says on a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from textwrap import shorten

from encheck.operations.threshold.behaviours import Behaviour
from encheck.operations.threshold.cascade import Cascade
from encheck.operations.threshold.decision import Described, Example, Rival, ThresholdReport
from encheck.operations.threshold.matching import NAMED, Match
from encheck.operations.threshold.rates import BASES, Point
from encheck.statistics.bounds import units_needed
from encheck.statistics.false_accepts import MIN_ACCEPTED, OF_USE, Promise
from encheck.statistics.figures import Figure

WIDEST = 60
HEAD = ("threshold", "accepted", "hits", "false accepts", "recall", "precision")


def percent(share: float) -> str:
    """A share in percent, with a digit behind the point below 10%.

    >>> percent(0.31), percent(0.047), percent(0.0)
    ('31%', '4.7%', '0%')
    """
    digits = 1 if 0 < share < 0.0995 or 0.9005 < share < 1 else 0
    return f"{share:.{digits}%}"


def rate(found: Figure | None) -> str:
    """A rate with its interval; a dash if there is none.

    >>> rate(Figure(0.047, 0.031, 0.069))
    '4.7% [3.1, 6.9]'
    """
    if found is None:
        return "-"
    low, high = (f"{100 * end:.1f}".removesuffix(".0") for end in (found.low, found.high))
    return f"{percent(found.value)} [{low}, {high}]"


def at(threshold: float) -> str:
    """A threshold, as it is typed.

    >>> at(0.82), at(0.7124)
    ('0.82', '0.7124')
    """
    return f"{threshold:.4f}".rstrip("0").rstrip(".") if abs(threshold) < 100 else f"{threshold:g}"


def lines(found: ThresholdReport) -> Iterator[str]:
    """The whole answer: the number first."""
    yield from answers(found)
    yield ""
    yield of_data(found.data)
    yield from (f"note: {text}" for text in notes(found))


def of_data(data: Described) -> str:
    """How many pairs there are, and of what kind."""
    parts = [f"{data.positives:,} positive" if data.positives else "", f"{data.negatives:,} negative"
             f" ({data.negative_clusters:,} clusters)" if data.negatives else "",
             f"{data.unlabelled:,} without a label" if data.unlabelled else ""]  # fmt: skip
    return f"{data.name}: {data.pairs:,} pairs in {data.clusters:,} clusters: {', '.join(filter(None, parts))}"


def answers(found: ThresholdReport) -> Iterator[str]:
    """The threshold that was asked for, what it does and what gets through; then what else was asked."""
    if found.cascade:
        yield from of_cascade(found.cascade, found.promise)
    if found.promise:
        yield from of_promise(found)
    asked_first = sorted(found.matches, key=lambda one: one.way != found.asked.way)
    ways = [of_match(found, match) for match in asked_first]
    yield from ways if not found.promise else ()
    if found.behaviours:
        yield from through(f"at {at(found.at)} ({found.why})", found.behaviours)
    yield from ways if found.promise else ()
    named = ((found.baseline, found.old), (f"{found.model} at the old number", found.same_number),
             (f"{found.model} at your threshold", found.own))  # fmt: skip
    yield from (f"{name} {at(point.threshold)}: {of_point(point)}" for name, point in named if point)
    if found.rivals:
        yield f"beside it: {', '.join(beside(found.rivals))}{chance(found)}"


def of_match(found: ThresholdReport, match: Match) -> str:
    """A threshold of the new model that does the same; of the one that was asked for, with what else it does."""
    what = f"the same {NAMED[match.way]} as {found.baseline}"
    if match.threshold is None or match.point is None:
        return f"cannot tell: no threshold of {found.model} for {what}, {match.refused}"
    head = f"{at(match.threshold.value)} [{at(match.threshold.low)}, {at(match.threshold.high)}]: {found.model}, {what}"
    if match.way != found.asked.way:
        return head
    rates = ((base, getattr(match.change, base)) for base in BASES)
    changes = [f"{NAMED[base]} {points(change)}" for base, change in rates if change]
    moved = f"; change: {', '.join(changes)}" if changes else ""
    return f"{head}: {of_point(match.point, but=match.way)}{moved}"


def points(change: Figure) -> str:
    """A difference of two rates.

    >>> points(Figure(-0.012, -0.03, 0.001))
    '-1.2 points [-3.0, +0.1]'
    """
    return f"{100 * change.value:+.1f} points [{100 * change.low:+.1f}, {100 * change.high:+.1f}]"


def of_point(point: Point, *, but: str = "") -> str:
    """What a threshold does, in words."""
    parts = [(base, getattr(point, base)) for base in ("hits", "false_accepts", "recall", "precision") if base != but]
    return ", ".join(f"{name.replace('_', ' ')} {rate(value)}" for name, value in parts if value is not None)


def of_example(one: Example) -> str:
    """A negative that is in the way of a threshold."""
    first, second = (shorten(text, WIDEST, placeholder="...") for text in (one.first, one.second))
    return f"in the way: {one.score:.4f} {first!r} and {second!r}"


def of_promise(found: ThresholdReport) -> Iterator[str]:
    """The number, or that none exists; then what it does, or what is nearest, missing or in the way."""
    made, kept, strictest = found.promise, found.kept, found.strictest
    assert made
    budget = f"{100 * made.budget:g}%"
    if kept:
        yield f"{at(kept.threshold)}: lowest threshold of {found.model} for {budget} false accepts, with 95% confidence"
        yield f"it gives {of_point(kept)}"
        return
    none = f"no threshold of {found.model} for {budget} false accepts"
    if strictest is None or strictest.false_accepts is None:
        yield f"cannot tell: {none} is shown, fewer than {MIN_ACCEPTED} pairs to accept and none with label 1"
        return
    where = f"at {at(strictest.threshold)}, the strictest that {OF_USE}"
    best = f"false accepts are {rate(strictest.false_accepts)} {where}"
    if made.outcome == "broken":
        assert made.lower is not None
        yield f"none exists: {none}"
        ranked = f". AUC {found.auc.value:.2f} [{found.auc.low:.2f}, {found.auc.high:.2f}]" if found.auc else ""
        yield f"{best}: {percent(made.lower)} or more with 95% confidence{ranked}"
        yield from map(of_example, found.in_the_way)
        return
    yield f"cannot tell: {none} is shown"
    if made.needed is None:
        yield f"{best}. More negatives would rather show that none exists"
        return
    least, second = (units_needed(hits, made.budget) for hits in (0, 1))
    missing = made.needed - made.effective
    short = f"about {missing:,} more are needed" if missing > 0 else "more are needed"
    yield (
        f"{budget} takes {least:,} independent negatives without one false accept, {second:,} with one; there are "
        f"{made.negatives:,}, which tell as much as {made.effective:,}, and {short}"
    )


def of_cascade(both: Cascade, alone: Promise | None) -> Iterator[str]:
    """What a verifier adds, whether the budget is kept with it, and what gets through both."""
    first = "none" if alone is None or alone.threshold is None else at(alone.threshold)
    ends = f"{at(both.thresholds.first)}, then {at(both.thresholds.second)} of {both.verifier}"
    calls = f"{1_000 * both.calls.value:,.0f} verifier calls a thousand"
    yield f"{first} alone; with this verifier: {ends}: {of_point(both.does)}, {calls}"
    budget = f"{100 * alone.budget:g}%" if alone else "the budget"
    said = {
        "kept": f"so false accepts are {percent(both.upper)} or less with 95% confidence",
        "broken": f"so no threshold of the verifier that {OF_USE} keeps {budget}, with 95% confidence",
        "undecided": f"so {budget} is not shown: false accepts may be up to {percent(both.upper)}",
    }
    yield (
        f"{said[both.outcome]} (chosen on {both.chosen_on:,} negatives, judged on {both.judged_on:,} others of other "
        "clusters)"
    )
    if both.behaviours:
        yield from through("with the verifier", both.behaviours)


def is_uneven(made: Promise) -> bool:
    """Whether the negatives that are independent for certain could not have shown the budget."""
    return made.independent < units_needed(0, made.budget) and made.independent < made.effective


def through(where: str, behaviours: Sequence[Behaviour]) -> Iterator[str]:
    """What gets through by kind, what should not and what should."""
    for kept, name in ((False, "what gets through"), (True, "of what should get through")):
        said = [f"{b.name} {percent(b.accepted.value)}" for b in behaviours if b.kept is kept]
        if said:
            yield f"{name} {where}: {', '.join(said)}"


def beside(rivals: Sequence[Rival]) -> Iterator[str]:
    """What the same recall, or the same hits, costs a scorer that needs no understanding."""
    for one in rivals:
        if one.false_accepts:
            yield f"{one.name} {rate(one.false_accepts)} false accepts"


def chance(found: ThresholdReport) -> str:
    """What it costs whoever accepts at random: as many negatives as positives."""
    point = next((p for p in (found.own, found.kept, found.strictest) if p and p.threshold == found.at), None)
    point = point or next((one.point for one in found.matches if one.point and one.point.threshold == found.at), None)
    same = point.recall or point.hits if point else None
    how = "recall" if point and point.recall else "hits"
    return f", chance {percent(same.value)}; all at the same {how}" if same else ""


def cells(point: Point) -> tuple[str, ...]:
    """A row of the sweep."""
    rates = (point.hits, point.false_accepts, point.recall, point.precision)
    return (at(point.threshold), f"{point.accepted:,}", *map(rate, rates))


def notes(found: ThresholdReport) -> Iterator[str]:
    """What the figures hold for, and what could not be said."""
    if found.data.unlabelled:
        yield f"hits are the share of the {found.data.unlabelled:,} pairs without a label, which are taken as they came"
    if found.data.negatives:
        yield "false accepts are the share of negatives that is accepted, for negatives that are sampled like these"
    if found.data.repeated:
        yield f"a pair that is repeated with its label counts once: {found.data.repeated:,} repeats"
    if (made := found.promise) and made.outcome == "kept" and is_uneven(made):
        yield (
            f"the {made.negatives:,} negatives count as {made.effective:,} independent ones, but a text or cluster has "
            f"more than one in {made.independent:,} of them. If such large ones score higher, and alike, the threshold "
            "may not keep the budget: look at the negatives with the highest scores"
        )
    if found.data.hard:
        yield f"the negatives of {found.data.name} were {found.data.hard}, but those of production are not"
    if found.data.skipped:
        yield f"malformed rows left out: {found.data.skipped:,}"
    if found.data.left_out:
        yield f"pairs left out, because a file of vectors lacks their texts: {found.data.left_out:,}"
    yield from found.unsaid
