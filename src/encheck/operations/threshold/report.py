"""The output of `encheck threshold`: the terminal, threshold.html and threshold.json."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from textwrap import shorten

from encheck.errors import UsageError
from encheck.operations.threshold.cascade import Behaviour, Cascade
from encheck.operations.threshold.decision import PairCounts, ThresholdReport
from encheck.operations.threshold.rates import RATE_NAMES, RATES, MatchedThreshold, ThresholdRates
from encheck.options import refuse_unwritable_folder
from encheck.reporting.decisions import NextStep, VerdictBanner
from encheck.reporting.html.charts import Axis, Chart, Stroke, band_path, line_path, share_axis, x_axis
from encheck.reporting.html.page import render_template
from encheck.reporting.results import write_named
from encheck.statistics.bootstrap import Figure
from encheck.statistics.false_accepts import MIN_ACCEPTED, OF_USE, UNEVEN, ThresholdPromise
from encheck.statistics.hypothesis_tests import share_upper_bound, units_needed
from encheck.system.documents import read_json
from encheck.system.typed_files import as_json

WIDEST = 60
THROUGH = ("what gets through", "of what should get through")
HEAD = ("threshold", "accepted", "hits", "false accepts", "recall", "precision")


def percent(share: float) -> str:
    """Return a share in percent, with one decimal below 10%.

    >>> percent(0.31), percent(0.047), percent(0.0)
    ('31%', '4.7%', '0%')
    """
    digits = 1 if 0 < share < 0.0995 or 0.9005 < share < 1 else 0
    return f"{share:.{digits}%}"


def rate_text(figure: Figure | None) -> str:
    """Return a rate with its interval, or a dash for None.

    >>> rate_text(Figure(0.047, 0.031, 0.069))
    '4.7% [3.1, 6.9]'
    """
    if figure is None:
        return "-"
    low, high = (f"{100 * end:.1f}".removesuffix(".0") for end in (figure.low, figure.high))
    return f"{percent(figure.value)} [{low}, {high}]"


def threshold_text(threshold: float) -> str:
    """Return a threshold in the form in which a user types it, with all its digits.

    >>> threshold_text(0.82), threshold_text(0.993243), threshold_text(80)
    ('0.82', '0.993243', '80')
    """
    return repr(float(threshold)).removesuffix(".0")


def threshold_lines(report: ThresholdReport) -> Iterator[str]:
    """Yield the lines of the whole answer, starting with the threshold."""
    yield from answer_lines(report)
    yield ""
    yield data_line(report.data)
    yield from (f"note: {text}" for text in note_lines(report))


def data_line(data: PairCounts) -> str:
    """Return how many pairs of each kind there are."""
    parts = [f"{data.positives:,} positive" if data.positives else "", f"{data.negatives:,} negative"
             f" ({data.negative_clusters:,} clusters)" if data.negatives else "",
             f"{data.unlabelled:,} without a label" if data.unlabelled else ""]  # fmt: skip
    return f"{data.name}: {data.pairs:,} pairs in {data.clusters:,} clusters: {', '.join(filter(None, parts))}"


def answer_lines(report: ThresholdReport) -> Iterator[str]:
    """Yield the requested threshold with its rates and what gets through, then the other requested thresholds."""
    if report.cascade:
        yield from cascade_lines(report.cascade, report.promise)
    if report.promise:
        yield from promise_lines(report)
    asked_first = sorted(report.matches, key=lambda one: one.way != report.asked.way)
    ways = [match_line(report, match) for match in asked_first]
    yield from ways if not report.promise else ()
    if report.behaviours:
        yield from behaviour_lines(f"at {threshold_text(report.at)} ({report.why})", report.behaviours)
    yield from ways if report.promise else ()
    named = ((report.baseline, report.old), (f"{report.model} at the old value", report.same_number),
             (f"{report.model} at your threshold", report.own))  # fmt: skip
    yield from (f"{name} {threshold_text(point.threshold)}: {rates_text(point)}" for name, point in named if point)
    if costs := [
        f"{one.name} {rate_text(one.false_accepts)} false accepts" for one in report.rivals if one.false_accepts
    ]:
        point = next((p for p in (report.own, report.kept, report.strictest) if p and p.threshold == report.at), None)
        point = point or next((m.point for m in report.matches if m.point and m.point.threshold == report.at), None)
        # accepting at random accepts the same share of negatives as of positives
        same = point.recall or point.hits if point else None
        how = "recall" if point and point.recall else "hits"
        chance = f", chance {percent(same.value)}; all at the same {how}" if same else ""
        yield f"for comparison: {', '.join(costs)}{chance}"


def match_line(report: ThresholdReport, match: MatchedThreshold) -> str:
    """Return the line for a threshold of the new model that matches the old one.

    The requested match also has its other rates.
    """
    what = matched_rate_text(report, match)
    if match.threshold is None or match.point is None:
        return f"cannot tell: no threshold of {report.model} for {what}, {match.refused}"
    value, low, high = map(threshold_text, (match.threshold.value, match.threshold.low, match.threshold.high))
    head = f"{value} [{low}, {high}]: {report.model}, {what}"
    if match.way != report.asked.way:
        return head
    rates = ((base, getattr(match.change, base)) for base in RATES)
    changes = [f"{RATE_NAMES[base]} {points_text(change)}" for base, change in rates if change]
    moved = f"; change: {', '.join(changes)}" if changes else ""
    return f"{head}: {rates_text(match.point)}{moved}"


def matched_rate_text(report: ThresholdReport, match: MatchedThreshold) -> str:
    """Return the rate that both thresholds share, or both rates if equal scores set them more than a pair apart."""
    name = RATE_NAMES[match.way]
    new, old = (getattr(point, match.way, None) for point in (match.point, report.old))
    if new and old and abs(new.value - old.value) * match.accepted > 1.5 * old.value:
        end = "lowest above" if new.value > 2 * old.value else "nearest to"  # no pair at all would be nearer
        return f"{percent(new.value)} {name}, the {end} {percent(old.value)} of {report.baseline}"
    return f"the same {name} as {report.baseline}"


def points_text(change: Figure) -> str:
    """Return a difference of two rates, without its interval if that has no width.

    >>> points_text(Figure(-0.012, -0.03, 0.001)), points_text(Figure(0, 0, 0))
    ('-1.2 points [-3.0, +0.1]', '+0.0 points')
    """
    value, low, high = (round(100 * one, 1) + 0.0 for one in (change.value, change.low, change.high))  # no -0.0
    return f"{value:+.1f} points{f' [{low:+.1f}, {high:+.1f}]' if low < high else ''}"


def rates_text(point: ThresholdRates) -> str:
    """Return the rates of a threshold in words."""
    parts = [(base, getattr(point, base)) for base in ("hits", "false_accepts", "recall", "precision")]
    return ", ".join(f"{name.replace('_', ' ')} {rate_text(value)}" for name, value in parts if value is not None)


def promise_lines(report: ThresholdReport) -> Iterator[str]:
    """Yield the threshold with its rates, or the reason why there is none.

    The reason is the nearest threshold, missing pairs, or negatives with high scores.
    """
    made, kept, strictest = report.promise, report.kept, report.strictest
    assert made
    budget = f"{100 * made.budget:g}%"
    if kept:
        assert kept.false_accepts
        value, doubt = threshold_text(kept.threshold), UNEVEN if made.is_uneven else ""
        yield f"{value}: lowest threshold of {report.model} for {budget} false accepts, with 95% confidence{doubt}"
        bound = share_upper_bound(made.effective * made.allowed / made.negatives, made.effective)
        yield (
            f"it gives {rates_text(kept)}. The one-sided bound decides: false accepts are at most {100 * bound:.3g}% "
            "with 95% confidence; brackets are two-sided 95% intervals"
        )
        return
    none = f"no threshold of {report.model} for {budget} false accepts"
    if strictest is None or strictest.false_accepts is None:
        few = f"no pair has label 1, and fewer than {MIN_ACCEPTED} have no label"
        yield f"cannot tell: {none} is shown: {few}"
        return
    where = f"at {threshold_text(strictest.threshold)}, the strictest that {OF_USE}"
    best = f"false accepts are {rate_text(strictest.false_accepts)} {where}"
    if made.outcome == "broken":
        assert made.lower is not None
        yield f"none exists: {none}"
        ranked = f". AUC {report.auc.value:.2f} [{report.auc.low:.2f}, {report.auc.high:.2f}]" if report.auc else ""
        yield f"{best}. The one-sided bound decides: {percent(made.lower)} or more with 95% confidence{ranked}"
        for one in report.in_the_way:
            first, second = (shorten(text, WIDEST, placeholder="...") for text in (one.first, one.second))
            yield f"negative that scores too high: {one.score:.4f} {first!r} and {second!r}"
        return
    yield f"cannot tell: {none} is shown"
    if made.needed is None:
        yield f"{best}. More negatives would probably show that none exists"
        return
    least, next_least = (units_needed(hits, made.budget) for hits in (0, 1))
    missing = made.needed - made.effective
    short = f"about {missing:,} more are needed" if missing > 0 else "more are needed"
    yield (
        f"{budget} takes {least:,} independent negatives without one false accept, {next_least:,} with one; the "
        f"{made.negatives:,} here count as {made.effective:,} independent ones, and {short}"
    )


def cascade_lines(both: Cascade, alone: ThresholdPromise | None) -> Iterator[str]:
    """Yield the thresholds and rates with a verifier, whether they keep the budget, and what gets through both."""
    first = "none" if alone is None or alone.threshold is None else threshold_text(alone.threshold)
    ends = f"{threshold_text(both.thresholds.first)}, then {threshold_text(both.thresholds.second)} of {both.verifier}"
    calls = f"{1_000 * both.calls.value:,.0f} verifier calls per 1,000 pairs"
    yield f"{first} alone; with this verifier: {ends}: {rates_text(both.does)}, {calls}"
    budget = f"{100 * alone.budget:g}%" if alone else "the budget"
    said = {
        "kept": f"so false accepts are {percent(both.upper)} or less with 95% confidence"
        f"{UNEVEN if both.is_uneven else ''}",
        "broken": f"so no threshold of the verifier that {OF_USE} keeps {budget}, with 95% confidence",
        "undecided": f"so {budget} is not shown: false accepts may be up to {percent(both.upper)}",
    }
    if both.outcome == "undecided" and alone and both.upper <= alone.budget:
        bound = f"false accepts are {percent(both.upper)} or less with 95% confidence"
        said["undecided"] = f"so {bound}, but too few pairs without label 0 are accepted"
    yield (
        f"{said[both.outcome]} (chosen on {both.chosen_on:,} negatives, judged on {both.judged_on:,} from other "
        "clusters)"
    )
    if both.behaviours:
        yield from behaviour_lines("with the verifier", both.behaviours)


def behaviour_lines(where: str, behaviours: Sequence[Behaviour]) -> Iterator[str]:
    """Yield the share of each kind of pair that gets through, starting with the kinds that should not."""
    for kept, name in zip((False, True), THROUGH, strict=True):
        said = [f"{b.name} {percent(b.accepted.value)}" for b in behaviours if b.kept is kept]
        if said:
            yield f"{name} {where}: {', '.join(said)}"


def rate_cells(point: ThresholdRates) -> tuple[str, ...]:
    """Return the cells of a table row for one threshold of the sweep."""
    rates = (point.hits, point.false_accepts, point.recall, point.precision)
    return (threshold_text(point.threshold), f"{point.accepted:,}", *map(rate_text, rates))


def note_lines(report: ThresholdReport) -> Iterator[str]:
    """Yield the conditions under which the figures hold, and the unanswered questions."""
    if report.data.unlabelled:
        yield f"hits are the accepted share of the {report.data.unlabelled:,} unlabelled pairs, taken as unselected"
    if report.data.negatives:
        yield "false accepts are the accepted share of the negatives, for negatives that are sampled like these"
    if report.data.repeated:
        yield f"repeated pairs with the same label count once: {report.data.repeated:,} repeats"
    if any(one and one.is_uneven for one in (report.promise, report.cascade)):
        yield (
            "some clusters or texts have many more negatives than others. If these score higher, the negatives above "
            "the threshold are too few independent ones to show the budget: look at those with the highest scores"
        )
    if report.data.hard:
        yield f"the negatives of {report.data.name} were {report.data.hard}, but those of production are not"
    if report.data.skipped:
        yield f"malformed rows left out: {report.data.skipped:,}"
    if report.data.left_out:
        yield f"pairs left out because a file of vectors lacks their texts: {report.data.left_out:,}"
    yield from report.unsaid


def sweep_chart(report: ThresholdReport) -> Chart:
    """Return the chart of the share that each threshold accepts, with 95% bands.

    Dotted lines mark the thresholds of the answers.
    """
    marks = {report.at: report.why}
    if report.old:
        marks.setdefault(report.old.threshold, "the old value")
    if report.kept:
        marks.setdefault(report.kept.threshold, "keeps the budget")
    ends = [point.threshold for point in report.sweep] + [*marks]
    x, y = x_axis(min(ends), max(ends), "threshold"), share_axis(title="accepted")
    rows = {
        base.replace("_", " "): [
            (point.threshold, rate) for point in report.sweep if (rate := getattr(point, base)) is not None
        ]
        for base in RATES
    }
    return _banded_chart("Share accepted at every threshold, with 95% bands", x, y, rows, rules=[
        (x.at(cut), f"{threshold_text(cut)}: {note}") for cut, note in marks.items()
    ])  # fmt: skip


def trade_chart(report: ThresholdReport) -> Chart | None:
    """Return the chart of recall or hits by false accepts, or None without them.

    It shows the model with its band, surface scorers, and chance on the diagonal.
    """
    gain = "recall" if any(point.recall for point in report.sweep) else "hits"
    curves = {report.model: report.sweep, **{one.name: one.curve for one in report.rivals}}
    rows = {
        name: sorted(
            ((point.false_accepts.value, rate) for point in points
             if point.false_accepts and (rate := getattr(point, gain)) is not None),
            key=lambda one: one[0],
        )
        for name, points in curves.items()
    }  # fmt: skip
    if not any(rows.values()):
        return None
    x, y = x_axis(0.0, 1.0, "false accepts", has_percent=True), share_axis(title=gain)
    rows["chance"] = [(share, Figure(share, share, share)) for share in (0.0, 1.0)]
    rules = [(x.at(report.promise.budget), "the budget")] if report.promise else []
    return _banded_chart(f"{gain} against false accepts, with 95% bands", x, y, rows, rules=rules)


def _banded_chart(
    title: str,
    x: Axis,
    y: Axis,
    rows: Mapping[str, Sequence[tuple[float, Figure]]],
    *,
    rules: Sequence[tuple[float, str]],
) -> Chart:
    """Return a chart with a line and its band for each name, from points (x, rate)."""
    some = {name: points for name, points in rows.items() if points}
    strokes = []
    for k, (name, points) in enumerate(some.items()):
        band = band_path(x, y, [(at, rate.low, rate.high) for at, rate in points])
        line = line_path(x, y, [(at, rate.value) for at, rate in points])
        strokes += [Stroke(band, k, is_filled=True), Stroke(line, k, name)]
    return Chart(title, x, y, strokes, rules=rules, legend=[(name, k, False) for k, name in enumerate(some)])


PAGE, RAW = "threshold.html", "threshold.json"
STAMPS = {
    "kept": "KEEPS THE BUDGET", "broken": "NO THRESHOLD", "undecided": "CANNOT TELL", "no promise asked": "COMPARED",
}  # fmt: skip
TONES = {"kept": "good", "broken": "bad", "undecided": "open"}


def threshold_banner(report: ThresholdReport) -> VerdictBanner:
    """Return the banner: the threshold with its rates, or why there is none, and the next step."""
    said = [f"{text[:1].upper()}{text[1:]}." for text in answer_lines(report)]
    made, match = report.promise, report.chosen
    number, step = "", NextStep("")
    if made:
        within = f"false accepts within {100 * made.budget:g}%"
        both = report.cascade
        what = f"{report.model} with {both.verifier} behind it" if both else report.model
        if report.outcome == "kept":
            number = threshold_text(report.at) if not both else " then ".join(
                threshold_text(one) for one in (both.thresholds.first, both.thresholds.second)
            )  # fmt: skip
            answer = f"Use {what} at {number}: it keeps {within}, with 95% confidence"
            answer += UNEVEN if (both or made).is_uneven else ""
            step = NextStep(f"Accept the pairs that score {number} or more.")
        elif report.outcome == "broken":
            number, answer = "none", f"No threshold of {what} keeps {within}"
            verify = "" if both else "Put a verifier behind the model (--verify MODEL), or "
            step = NextStep(f"{verify}{'a' if verify else 'A'}llow more false accepts (--max-false-accepts SHARE).")
        else:
            answer = f"These pairs cannot show that a useful threshold of {what} keeps {within}"
            is_useless = report.strictest is None or (both is not None and both.upper <= made.budget)
            lacking = "pairs with label 1 or without a label" if is_useless else "negative pairs of other clusters"
            step = NextStep(f"Add {lacking}, then run again.")
        lead = said[1] if len(said) > 1 else ""
    elif match and match.threshold:
        number = threshold_text(match.threshold.value)
        old = threshold_text(report.old.threshold) if report.old else "the old value"
        answer = f"Use {report.model} at {number}: it has {matched_rate_text(report, match)} at {old}"
        lead, step = said[0], NextStep(f"Replace the threshold {old} by {number} when you switch models.")
    elif match:
        answer = f"No threshold of {report.model} matches the threshold of {report.baseline}"
        lead, step = said[0], NextStep("Add pairs, then run again.")
    else:
        number = threshold_text(report.at)
        answer, lead = f"This is what {report.model} accepts at {number}", said[0]
    return VerdictBanner(
        TONES.get(report.outcome, ""), STAMPS[report.outcome], answer, lead, step if step.says else None, number
    )


def refuse_report_folder(folder: Path) -> None:
    """Raise UsageError if a folder cannot be written to, or has files of these names that encheck did not write."""
    refuse_unwritable_folder(str(folder))
    try:
        values = read_json(folder / RAW)
        is_ours = isinstance(values, dict) and {"schema_version", "outcome"} <= values.keys()
    except FileNotFoundError:
        is_ours = not (folder / PAGE).exists()
    except (OSError, ValueError):
        is_ours = False
    if not is_ours:
        raise UsageError(
            f"--report-dir={folder} has {RAW} or {PAGE}, which `encheck threshold` did not write and would replace. "
            "Remedy: name another folder"
        )


def write_threshold_page(report: ThresholdReport, folder: Path) -> Path:
    """Write the page and the JSON into a folder, and return the path of the page. Raise UsageError if that fails."""
    write_named(folder / RAW, as_json(report))
    drawn = {
        "sweep": ("Share accepted at every threshold, with 95% bands over clusters. Dotted: thresholds of the answers.",
                  sweep_chart(report)),
        "trade": ("Gain for each share of false accepts, compared with chance and with simple surface scorers.",
                  trade_chart(report)),
    }  # fmt: skip
    write_named(
        folder / PAGE,
        render_template(
            PAGE,
            found=report,
            banner_of=threshold_banner(report),
            lines=[line for line in answer_lines(report) if not line.startswith(THROUGH)],
            notes=list(note_lines(report)),
            data=data_line(report.data),
            pictures={name: (caption, chart) for name, (caption, chart) in drawn.items() if chart},
            head=HEAD,
            cells=rate_cells,
            rate=rate_text,
            at=threshold_text,
        ),
    )
    return folder / PAGE
