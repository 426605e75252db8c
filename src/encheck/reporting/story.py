"""The main findings of a run: up to five sentences, each certain, each with a real item."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Any, Literal

from encheck.gating.types import LostExample
from encheck.ids import GateRowId
from encheck.metrics import find_metric
from encheck.reporting.gate.words import figures_of
from encheck.reporting.profile import chance_of, printed_rows
from encheck.reporting.text import percent, plain_name
from encheck.reporting.view import ItemExample, best_surface, example_of, is_rate, judged_rows
from encheck.run_file import Result, RunFile
from encheck.scoring.frame import ItemFrame
from encheck.scoring.item import ItemRow
from encheck.types import Declaration

StoryLine = Literal["baseline", "reference", "chance", "rival", "strength"]
MOST, OF_A_FAMILY = 5, 2
EXPLAINED = 0.1  # weight of a finding that the surface explains
ROOM = 0.1  # of the way from chance to 1: an interval that ends below it leaves room for little more than guessing
WORST = 40  # the example is the shortest of so many worst items
RANKS = {"spearman", "mean_spearman", "weighted_mean_spearman"}  # figures that are not shares but still count
ODDS = {0.5: "one in two", 0.25: "one in four"}
LINES: Mapping[StoryLine, str] = {
    "baseline": "against the baseline",
    "reference": "against the reference model",
    "chance": "against chance",
    "rival": "against the best surface scorer",
    "strength": "what it does well",
}


@dataclass(frozen=True)
class StorySentence:
    """A certain finding in words, and an item that the model got wrong or, for a strength, right (None: none to show).

    `claim` is the finding, `figures` its evidence. `size` is the distance of the nearest end of the interval
    from the line; `check` and `data` say where it was measured, `tested` is the property.
    """

    claim: str
    figures: str
    line: StoryLine
    size: float
    model: str
    check: str
    data: str
    tested: str
    family: str
    example: ItemExample | None = None

    @property
    def text(self) -> str:
        """The whole sentence."""
        return f"{self.claim}: {self.figures}."


def story(results: RunFile, frames: Mapping[str, ItemFrame]) -> list[StorySentence]:
    """At most five sentences, empty if nothing is certain; each property appears at most once.

    The lines take turns: baseline, reference, chance, rival, each with its largest finding first. A family appears
    twice, and more often only if other families leave room. One strength comes last.
    """
    facts = [*_certain_sentences(results, frames)]
    by_line = [sorted((f for f in facts if f.line == line), key=lambda f: -f.size) for line in LINES]
    weak, strong = [f for turn in zip_longest(*by_line[:-1]) for f in turn if f], by_line[-1]
    few = _chosen(weak, [], MOST - bool(strong), of_a_family=OF_A_FAMILY)
    chosen = _chosen(weak, few, MOST - bool(strong), of_a_family=MOST)
    ended = _chosen(strong, chosen, min(MOST, len(chosen) + 1), of_a_family=MOST)
    return [_with_example(one, results, frames) for one in ended]


def _chosen(
    candidates: Iterable[StorySentence], before: Sequence[StorySentence], most: int, *, of_a_family: int
) -> list[StorySentence]:
    found = [*before]
    for one in candidates:
        is_new = one.tested not in {other.tested for other in found}
        if len(found) < most and is_new and sum(one.family == other.family for other in found) < of_a_family:
            found.append(one)
    return found


def _certain_sentences(results: RunFile, frames: Mapping[str, ItemFrame]) -> Iterator[StorySentence]:
    """All certain findings."""
    names = _spoken_names(results)
    yield from _gate_sentences(results, names)
    yield from _reference_sentences(results, frames, names)
    paired = {one.model for one in results.references if one.role == "surface"}
    for rows, its in _cases(results):
        model, on = names(rows[0].model, rows[0].data)
        noun = _item_noun(rows[0], frames)
        yield from _chance_sentences(rows, its, model, on, noun)
        yield from _strength_sentences(rows, its, model, on, noun)
        if rows[0].model not in paired:
            yield from _rival_sentences(rows, its, model, on, noun)


def _spoken_names(results: RunFile) -> Any:
    """The words for a model and its data: "It" if there is one model, empty for one data set."""
    several, sets = len(results.models) > 1, len(results.data) > 1

    def name(model: str, data: str) -> tuple[str, str]:
        return (model if several else "It", f" on {data}" if sets else "")

    return name


def _cases(results: RunFile) -> Iterator[tuple[list[Result], Declaration]]:
    """The rows of each property's printed figure, all levels together, including correlations.

    Leaves out properties with a withheld interval, of which nothing is certain.
    """
    declared = results.declarations
    heads = [row for model in results.models for row in printed_rows(results, model.label)]
    heads += [row for row in judged_rows(results) if row.metric in RANKS and row.metric == declared[row.check].metric]
    for head in heads:
        its, place = declared[head.check], (head.model, head.data, head.check, head.metric)
        rows = [
            row for row in results.checks
            if (row.model, row.data, row.check, row.metric) == place and row.value is not None
        ]  # fmt: skip
        if not (its.unjudged or head.params.get("unjudged")) and all(row.high is not None for row in rows):
            yield rows, replace(its, chance=chance_of(head, its))


def _chance_sentences(rows: list[Result], its: Declaration, model: str, on: str, noun: str) -> Iterator[StorySentence]:
    """Findings "cannot tell": at every level the whole interval lies below chance or barely above it.

    The figure is that of the first level, as in the profile. If the surface explains it, the sentence says so and
    ranks behind those that it does not explain.
    """
    first, is_share = rows[0], is_rate(rows[0].metric)
    if its.chance is None or (is_share and not its.chance):
        return
    line = its.chance + ROOM * (1 - its.chance)
    if max(row.numbers[2] for row in rows) >= line:
        return
    odds = ODDS.get(its.chance, percent(its.chance)) if is_share else f"{its.chance:g}"
    high = first.numbers[2]
    tail = f"worse than chance ({odds})" if high < its.chance else f"{odds} is chance"
    can = "cannot reliably" if first.params.get("meaning") == "detected" else "cannot"
    figures = f"{_figure_words(first, noun)}; {tail}"
    claim = f"{model} {can} tell {its.tells}{on}" if its.tells else f"{model} fails at {plain_name(its.property)}{on}"
    size = (line - high) / line
    if misled := _misled(first, its.chance):
        claim, figures, size = f"Where the wording misleads, {_inside(claim)}", f"{figures}; {misled}", size * EXPLAINED
    yield _sentence(claim, figures, "chance", size, first, its)


def _misled(row: Result, chance: float) -> str:
    """Says that the wording favours the wrong text, if a surface scorer is also below chance; else ""."""
    best = best_surface(row)
    if best is None or (best[2].high or best[1]) >= chance:
        return ""
    return f"{best[0]}, which sees only the surface, {_other_figure(row, best[1])}"


def _inside(claim: str) -> str:
    return claim.replace("It ", "it ", 1) if claim.startswith("It ") else claim


def _rival_sentences(rows: list[Result], its: Declaration, model: str, on: str, noun: str) -> Iterator[StorySentence]:
    """Findings "worse than the surface": at every level the surface scorer's interval lies above the model's."""
    gaps = [(_surface_gap(row), row) for row in rows]
    gap, nearest = min(gaps, key=lambda one: one[0])
    if gap <= 0:
        return
    scorer, rival, _ = best_surface(nearest) or ("", 0.0, None)
    claim = f"{model} is worse than {scorer}, which sees only the surface, at {_telling(its)}{on}"
    figures = f"{_figure_words(nearest, noun)}, {scorer} {_other_figure(nearest, rival)}"
    yield _sentence(claim, figures, "rival", gap, nearest, its)


def _surface_gap(row: Result) -> float:
    """The gap between the best surface scorer's interval and the model's below it."""
    found = best_surface(row)
    return (found[2].low or 0.0) - row.numbers[2] if found else 0.0


def _strength_sentences(
    rows: list[Result], its: Declaration, model: str, on: str, noun: str
) -> Iterator[StorySentence]:
    """Findings "can tell": at every level above chance, above the best surface scorer, and mostly right."""
    worst = min(rows, key=lambda row: row.numbers[1])
    low = worst.numbers[1]
    scorer, rival, _ = best_surface(worst) or ("", 0.0, None)
    line = max(its.chance or 0.0, rival, 0.5)
    if low <= line:
        return
    figures = _figure_words(worst, noun)
    figures += f"; {scorer}, which sees only the surface, {_other_figure(worst, rival)}" if scorer else ""
    claim = f"{model} can tell {its.tells}{on}" if its.tells else f"{model} is good at {plain_name(its.property)}{on}"
    yield _sentence(claim, figures, "strength", low - line, worst, its)


def _reference_sentences(results: RunFile, frames: Mapping[str, ItemFrame], names: Any) -> Iterator[StorySentence]:
    """Certain losses against paired models, Holm-corrected over all properties."""
    rows = {(rows[0].model, rows[0].data, its.property): (rows[0], its) for rows, its in _cases(results)}
    for one in results.references:
        for paired in one.properties:
            row, its = rows.get((one.model, paired.data, paired.property), (None, None))
            if row is None or its is None or not is_rate(row.metric) or paired.said != "worse":
                continue
            model, on = names(row.model, row.data)
            by = ", which sees only the surface," if one.role == "surface" else ""
            claim = f"{model} is worse than {one.against}{by} at {_telling(its)}{on}"
            share = f"{percent(paired.after)} of {paired.n:,} {_item_noun(row, frames)}"
            figures = f"right in {share}, {one.against} in {percent(paired.before)}"
            line: StoryLine = "rival" if one.role == "surface" else "reference"
            yield _sentence(claim, figures, line, -paired.high, row, its)


def _gate_sentences(results: RunFile, names: Any) -> Iterator[StorySentence]:
    """Losses that a gate blocks: the loss in its unit, and its meaning for users of the model."""
    declared = results.declarations
    for against in results.gate.against if results.gate else ():
        for row in against.rows:
            if row.outcome != "block" or not row.high < 0:
                continue
            name = GateRowId(row.name).property
            its = next((d for d in declared.values() if name in (d.capability, d.property)), None)
            if its is None:
                continue
            model, _ = names(results.models[0].label, "")
            change = f"{row.baseline:.3f} before, {row.candidate:.3f} now"
            if row.figures:
                change = f"right before and now: {figures_of(row)}"
            elif row.kind == "rate":
                change = f"{percent(row.baseline)} before, {percent(row.candidate)} now"
            claim = f"{model} is worse at {plain_name(name)} than {against.baseline}"
            figures = f"{change}, on {row.n:,} items. {row.means}".strip().rstrip(".")
            lost = next(iter(row.lost_examples), None)
            yield StorySentence(
                claim, figures, "baseline", -row.high, results.models[0].label, "", "", its.property, its.family,
                _lost_example(lost),
            )  # fmt: skip


def _lost_example(one: LostExample | None) -> ItemExample | None:
    """An item of the gate as an example for the page; None unless it has both texts."""
    sides = {text.side: text for text in one.texts} if one else {}
    if one is None or not {"near", "far"} <= set(sides):
        return None
    near, far = sides["near"], sides["far"]
    return ItemExample(one.source, near.pieces, far.pieces, near.now, far.now)


def _sentence(claim: str, figures: str, line: StoryLine, size: float, row: Result, its: Declaration) -> StorySentence:
    return StorySentence(claim, figures, line, float(size), row.model, row.check, row.data, its.property, its.family)


def _telling(its: Declaration) -> str:
    """The subject of the check, to follow "at"; the property if the check declares no words."""
    return f"telling {its.tells}" if its.tells else plain_name(its.property)


def _figure_words(row: Result, noun: str) -> str:
    """The model's figure and the number of items."""
    if is_rate(row.metric):
        return f"right{_where(row)} in {percent(row.numbers[0])} of {row.n:,} {noun}"
    return f"{find_metric(row.metric or '').label} {row.value:.2f} on {row.n:,} {noun}"


def _other_figure(row: Result, value: float) -> str:
    """The same figure for a different scorer."""
    return f"in {percent(value)}" if is_rate(row.metric) else f"{value:.2f}"


def _where(row: Result) -> str:
    return " in both directions" if str(row.metric).startswith("both_directions") else ""


def _item_noun(row: Result, frames: Mapping[str, ItemFrame]) -> str:
    frame = frames.get(str(row.case))
    return frame.kind.noun if frame else "items"


def _with_example(one: StorySentence, results: RunFile, frames: Mapping[str, ItemFrame]) -> StorySentence:
    if one.example is not None:
        return one
    cases = [
        row for row in judged_rows(results) if (row.model, row.data, row.check) == (one.model, one.data, one.check)
    ]
    choose = success if one.line == "strength" else mistake
    found = (choose(frames[str(row.case)]) for row in cases if str(row.case) in frames)
    return replace(one, example=next((item for item in found if item), None))


def mistake(frame: ItemFrame) -> ItemExample | None:
    """A clear mistake that is quick to read: the shortest of the 40 worst, with edits marked; None if there is none."""
    if frame.far is None or not frame.compares_near_and_far:
        return None
    margins = (frame.near.scores - frame.far.scores).tolist()
    wrong = sorted((i for i, margin in enumerate(margins) if margin < 0), key=margins.__getitem__)
    return _shortest(frame, wrong[:WORST])


def success(frame: ItemFrame) -> ItemExample | None:
    """The shortest of the 40 clearest right items; for a group, one side of a group that is all right."""
    if frame.far is None or not frame.compares_near_and_far:
        return None
    right = frame.sort_keys.tolist()
    found = sorted((i for i, margin in enumerate(right) if margin > 0), key=lambda i: -right[i])
    return _shortest(frame, found[:WORST])


def _shortest(frame: ItemFrame, some: Sequence[int]) -> ItemExample | None:
    """The item with the fewest characters, marked edits first; None without items."""
    columns = frame.to_columns()

    def length(i: int) -> tuple[bool, int]:
        size = sum(len(columns[name][i] or "") for name in ("source", "near", "far"))
        return (not (columns["near_edits"][i] or "[]")[2:] and not (columns["far_edits"][i] or "[]")[2:], size)

    return (
        example_of(ItemRow.from_columns(columns, min(some, key=length)), is_question=frame.kind.is_question)
        if some
        else None
    )
