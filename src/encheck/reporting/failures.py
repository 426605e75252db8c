"""Write the message of a failed check, and the lines that show shrunk items."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from encheck.reporting.text import mark_edits
from encheck.scoring.item import ExampleLine, Item, ItemRow
from encheck.scoring.scores import Scores
from encheck.system.terminal import LINES, make_visible
from encheck.types import CheckResult, Estimate

if TYPE_CHECKING:
    from encheck.shrinking.shrink import ItemForm, ShrinkResult

WORST = 3

Shrink = Callable[[ItemRow], "ShrinkResult | str"]


def figure_line(estimate: Estimate) -> str:
    """Return a figure with its interval, items and clusters.

    >>> figure_line(Estimate("margin_rate", 0.6123, 0.5512, 0.6581, n=400, clusters=380))
    'margin rate = 0.61 (95% CI 0.55 to 0.66, n=400, 380 clusters)'
    """
    e = estimate
    if e.missing:
        return f"{e.metric.replace('_', ' ')}: no estimate, {e.missing} (n={e.n}, {e.clusters} clusters)"
    value, low, high = rounded_figure(e.value, e.low, e.high)
    return f"{e.metric.replace('_', ' ')} = {value} (95% CI {low} to {high}, n={e.n}, {e.clusters} clusters)"


def surface_line(estimate: Estimate) -> str:
    """Return the best surface scorer's figure on the same items, or "" if there is none.

    >>> overlap = Estimate("margin_rate", 0.1, 0.05, 0.15, n=400, clusters=380)
    >>> surface_line(Estimate("margin_rate", 0.61, 0.55, 0.66, n=400, clusters=380, surface={"jaccard": overlap}))
    'surface alone (jaccard): margin rate = 0.10 (95% CI 0.05 to 0.15, n=400, 380 clusters)'
    """
    best = estimate.best_surface
    return f"surface alone ({best[0]}): {figure_line(best[1])}" if best else ""


def rounded_figure(value: float, low: float, high: float) -> tuple[str, ...]:
    """Round a figure and the ends of its interval to as many digits as the interval's width supports.

    No result is a negative zero.

    >>> rounded_figure(-0.001, -0.03, 0.03)
    ('0.00', '-0.03', '0.03')
    """
    digits = 2 if abs(high - low) > 0.02 else 3
    return tuple(f"{round(x, digits) + 0.0:.{digits}f}" for x in (value, low, high))


def failure_message(
    row: CheckResult, items: Sequence[Item], scores: Scores, *, model: str, folder: Path | None = None
) -> str:
    """Return the message of a failed check, with edits marked and invisible characters made visible.

    `model` is the model's option on a command line (`--model=sbert`). `folder` is the run's --report-dir, or None for a
    run below reports/.
    """
    assert row.estimate is not None
    head = f"{row.property} {figure_line(row.estimate)} for {row.model!r} on {row.data}, but {_expected_limit(row)}"
    lines = [head, *([row.reason] if row.reason and row.verdict == "error" else [])]
    lines += [str(row.estimate.params["cause"])] if "cause" in row.estimate.params else []
    if beside := surface_line(row.estimate):
        lines.append(beside)
    found = scores.positions_worst_first()[:WORST]
    where = f" --run={shlex.quote(str(folder))}" if folder else ""
    lines.append(f"the {len(found)} worst of {len(items)}:")
    for position in found:
        lines += map(_example_line, scores.example_lines(items[position], position))
    lines.append(f"show one again: encheck show {shlex.quote(items[found[0]].id)} {model}{where}")
    return "\n".join(make_visible(line, keep=LINES) for line in lines)


def _expected_limit(row: CheckResult) -> str:
    """Return the floor or aim that the figure missed, followed by the other limit."""
    assert row.estimate is not None
    assert row.lines is not None
    floor, aim = row.lines.floor, row.lines.aim
    if floor is None or floor == aim or row.estimate.high >= floor:
        return f"should be at least {aim:g}"
    of = f", the figure of {row.lines.rival}" if row.lines.rival else ""
    return f"should be at least {round(floor, 3):g}{of} (its floor; the aim is {aim:g})"


def _example_line(line: ExampleLine) -> str:
    score = "" if line.score is None else f"{line.score:.3f}"
    text = line.text if line.source is None else mark_edits(line.source, line.text, line.edits)
    return f"  {score:5} {line.name} {text}"


def shrunk_lines(rows: Sequence[ItemRow], shrink: Shrink) -> Iterator[str]:
    """Yield each row's item in its shortest form and in its least shrunk form, or why it cannot be shrunk."""
    for row in rows:
        yield f"{row.item}, shrunk"
        result = shrink(row)
        if isinstance(result, str):
            yield f"  not shrunk: {result}"
        else:
            is_shorter = result.shortest.words < result.whole.words
            if is_shorter and result.least is not result.shortest:
                yield from _form_lines("least shrunk", result.least, result.whole)
            if result.shortest is result.whole:
                yield f"  cannot be shortened: {result.why}"
            else:
                name = "shortest" if is_shorter else "same length, in plainer words"
                yield from _form_lines(name, result.shortest, result.whole)
            if result.is_cut_short:
                yield f"  stopped after {result.scored} pairs: a shorter form may exist"
        yield ""


def _form_lines(name: str, form: ItemForm, whole: ItemForm) -> Iterator[str]:
    item = form.item
    yield f"  {name}: {form.words} of {whole.words} words, margin {form.margin:+.4f} of {whole.margin:+.4f}"
    yield f"    source  {item.source}"
    yield f"    near    {mark_edits(item.source, item.near, item.near_edits)}"
    yield f"    far     {mark_edits(item.source, item.far, item.far_edits)}"
    for why in dict.fromkeys(filter(None, (item.near_why, item.far_why))):
        yield f"            {why}"
