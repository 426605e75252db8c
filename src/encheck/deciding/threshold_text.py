"""What `encheck threshold` says on a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from textwrap import shorten

from encheck.deciding.behaviours import UNRELATED, Behaviour
from encheck.deciding.matching import NAMED, Match
from encheck.deciding.rates import Point
from encheck.deciding.threshold import Described, Example, Rival, ThresholdReport
from encheck.reporting.text import table
from encheck.statistics.bounds import units_needed
from encheck.statistics.false_accepts import MIN_ACCEPTED, OF_USE, Promise
from encheck.statistics.figures import Figure

ROWS, MOST_KINDS, WIDEST = 12, 5, 60
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
    """The whole answer."""
    yield of_data(found.data)
    yield ""
    yield from answers(found)
    yield ""
    yield f"all thresholds of {found.model}, each rate with its 95% interval over clusters"
    yield from table([HEAD, *(cells(point) for point in some(found.sweep))])
    if found.slices:
        yield ""
        head = ("slice", "negatives", "clusters", *HEAD[2:])
        rows = [(s.name, str(s.negatives), str(s.clusters), *cells(s.point)[2:]) for s in found.slices]
        yield from table([head, *rows])
    yield from (f"note: {text}" for text in notes(found))


def of_data(data: Described) -> str:
    """How many pairs there are, and of what kind."""
    parts = [f"{data.positives:,} positive" if data.positives else "", f"{data.negatives:,} negative"
             f" ({data.negative_clusters:,} clusters)" if data.negatives else "",
             f"{data.unlabelled:,} without a label" if data.unlabelled else ""]  # fmt: skip
    return f"{data.name}: {data.pairs:,} pairs in {data.clusters:,} clusters: {', '.join(filter(None, parts))}"


def answers(found: ThresholdReport) -> Iterator[str]:
    """What was asked, each in a line."""
    named = ((found.baseline, found.old), (f"{found.model} at the old number", found.same_number),
             (f"{found.model} at your threshold", found.own))  # fmt: skip
    said = [f"{name} {at(point.threshold)}: {of_point(point)}" for name, point in named if point]
    yield from said[: 1 if found.old else 0]
    yield from (of_match(found, match, point) for match, point in found.matches)
    yield from said[1 if found.old else 0 :]
    if found.promise:
        yield f"{found.model}, {of_promise(found.promise, found.kept, found.strictest, found.auc)}"
        yield from map(of_example, found.in_the_way)
    if found.behaviours:
        yield f"what gets through at {at(found.at)} ({found.why}): {through(found.behaviours)}"
    if found.rivals:
        yield f"beside it: {', '.join(beside(found.rivals))}{chance(found)}"


def of_match(found: ThresholdReport, match: Match, point: Point | None) -> str:
    """A threshold of the new model that does the same; of the one that was asked for, with what else it does."""
    head = f"{found.model}, same {NAMED[match.way]}"
    if match.threshold is None or point is None:
        return f"{head}: cannot tell, {match.refused}"
    ends = f"{at(match.threshold.value)} [{at(match.threshold.low)}, {at(match.threshold.high)}]"
    does = of_point(point, but=match.way) if match.way == found.asked.way else ""
    changes = [f"{NAMED[base]} {points(change)}" for base, change in match.change.items()]
    moved = f"; change: {', '.join(changes)}" if does and changes else ""
    return f"{head}: {ends}{f': {does}{moved}' if does else ''}"


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


def of_promise(made: Promise, kept: Point | None, strictest: Point | None, auc: Figure | None = None) -> str:
    """Whether the budget is kept, and where not, what is nearest or missing."""
    budget = f"{100 * made.budget:g}%"
    if made.outcome == "kept" and kept:
        return f"keeping {budget}: {at(kept.threshold)} and above, with 95% confidence: {of_point(kept)}"
    if strictest is None or strictest.false_accepts is None:
        return f"keeping {budget}: cannot tell, fewer than {MIN_ACCEPTED} pairs to accept and none with label 1"
    best = f"{rate(strictest.false_accepts)} at {at(strictest.threshold)}, the strictest that {OF_USE}"
    if made.outcome == "broken":
        assert made.lower is not None
        ranked = f". AUC {auc.value:.2f} [{auc.low:.2f}, {auc.high:.2f}]" if auc else ""
        shown = f"{percent(made.lower)} or more with 95% confidence"
        return f"keeping {budget}: none exists. False accepts are {best}: {shown}{ranked}"
    if made.needed is None:
        more = "More negatives would rather show that none exists"
        return f"keeping {budget}: cannot tell. False accepts are {best}. {more}"
    least, second = (units_needed(hits, made.budget) for hits in (0, 1))
    missing = made.needed - made.effective
    short = f"about {missing:,} more are needed" if missing > 0 else "more are needed"
    return (
        f"keeping {budget}: cannot tell. {budget} takes {least:,} independent negatives without one false accept, "
        f"{second:,} with one; there are {made.negatives:,}, which tell as much as {made.effective:,}, and {short}"
    )


def is_uneven(made: Promise) -> bool:
    """Whether the negatives that are independent for certain could not have shown the budget."""
    return made.independent < units_needed(0, made.budget) and made.independent < made.effective


def through(behaviours: Sequence[Behaviour]) -> str:
    """The kinds that get through most often, and those that should; unrelated texts always."""
    said = {b.kind: f"{b.name} {percent(b.accepted.value)}" for b in behaviours}
    wrong = [b.kind for b in behaviours if not b.kept and b.kind != UNRELATED]
    named = [said[kind] for kind in (*wrong[:MOST_KINDS], UNRELATED) if kind in said]
    more = len(wrong) - MOST_KINDS
    right = [said[b.kind] for b in behaviours if b.kept]
    listed = ", ".join(named) + (f" ({more} more kinds on the page)" if more > 0 else "")
    return f"{listed}; of what should: {', '.join(right)}" if right else listed


def beside(rivals: Sequence[Rival]) -> Iterator[str]:
    """What the same recall, or the same hits, costs a scorer that needs no understanding."""
    for one in rivals:
        if one.false_accepts:
            yield f"{one.name} {rate(one.false_accepts)} false accepts"


def chance(found: ThresholdReport) -> str:
    """What it costs whoever accepts at random: as many negatives as positives."""
    point = next((p for p in (found.own, found.kept, found.strictest) if p and p.threshold == found.at), None)
    point = point or next((p for _, p in found.matches if p and p.threshold == found.at), None)
    same = point.recall or point.hits if point else None
    how = "recall" if point and point.recall else "hits"
    return f", chance {percent(same.value)}; all at the same {how}" if same else ""


def cells(point: Point) -> tuple[str, ...]:
    """A row of the sweep."""
    rates = (point.hits, point.false_accepts, point.recall, point.precision)
    return (at(point.threshold), f"{point.accepted:,}", *map(rate, rates))


def some(sweep: Sequence[Point]) -> list[Point]:
    """A dozen of the thresholds, evenly."""
    step = max(1, -(-len(sweep) // ROWS))
    return list(sweep[::step])


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
