"""Choose the main findings of a run: up to five sentences, each of them certain, each with a real item."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Literal

from encheck.ids import GateRowId
from encheck.metrics import find_metric
from encheck.reporting.gate.words import gate_row_name, printed_figures
from encheck.reporting.profile import all_headline_rows, chance_of
from encheck.reporting.text import data_name, percent, plain_name
from encheck.reporting.view import ItemExample, best_surface, example_of, is_rate, judged_rows
from encheck.run_file import Result, RunFile
from encheck.scoring.item import ItemFrame, ItemRow
from encheck.types import Declaration

Naming = Callable[[str, str], tuple[str, str]]  # a model and its data in a sentence
FindingKind = Literal["baseline", "reference", "chance", "rival", "strength"]
MOST, OF_A_FAMILY = 5, 2
EXPLAINED = 0.1  # weight of a finding that the surface explains
ROOM = 0.1  # of the way from chance to 1: an interval that ends below it leaves room for little more than guessing
WORST = 40  # the example is the shortest of so many worst items
RANKS = {"spearman", "mean_spearman", "weighted_mean_spearman"}  # figures that are not shares but still count
ODDS = {0.5: "one in two", 0.25: "one in four"}
LINES: Mapping[FindingKind, str] = {
    "baseline": "against the baseline",
    "reference": "against the reference model",
    "chance": "against chance",
    "rival": "against the best surface scorer",
    "strength": "what it does well",
}


@dataclass(frozen=True)
class Finding:
    """A certain finding, and an item that the model got wrong or, for a strength, right (None if there is none to
    show).

    `claim` is the finding, and `figures` its evidence. `line` is what the figure is compared with. `size` is the
    distance from there to the nearer end of the interval. `check` and `data` say where it was measured, and `tested` is
    the property.
    """

    claim: str
    figures: str
    line: FindingKind
    size: float
    model: str
    check: str
    data: str
    tested: str
    family: str
    example: ItemExample | None = None

    @property
    def text(self) -> str:
        """The finding and its evidence as one sentence."""
        return f"{self.claim}: {self.figures}."


def main_findings(results: RunFile, frames: Mapping[str, ItemFrame]) -> list[Finding]:
    """Return at most five findings. Each property appears at most once.

    Losses against the baseline, against the reference, against chance and against the best surface scorer take turns,
    the largest of each kind first. A family has at most two findings unless other families leave room. The last finding
    is a strength.
    """
    facts = [*_certain_findings(results, frames)]
    by_line = [sorted((f for f in facts if f.line == line), key=lambda f: -f.size) for line in LINES]
    weak, strong = [f for turn in zip_longest(*by_line[:-1]) for f in turn if f], by_line[-1]
    few = _add_findings(weak, [], MOST - bool(strong), of_a_family=OF_A_FAMILY)
    chosen = _add_findings(weak, few, MOST - bool(strong), of_a_family=MOST)
    ended = _add_findings(strong, chosen, min(MOST, len(chosen) + 1), of_a_family=MOST)
    found = []
    for one in ended:
        choose = shortest_success if one.line == "strength" else shortest_mistake
        cases = [str(row.case) for row in judged_rows(results)
                 if (row.model, row.data, row.check) == (one.model, one.data, one.check)]  # fmt: skip
        examples = (choose(frames[case]) for case in cases if case in frames)
        found.append(one if one.example else replace(one, example=next((item for item in examples if item), None)))
    return found


def _add_findings(
    candidates: Iterable[Finding], before: Sequence[Finding], most: int, *, of_a_family: int
) -> list[Finding]:
    found = [*before]
    for one in candidates:
        is_new = one.tested not in {other.tested for other in found}
        if len(found) < most and is_new and sum(one.family == other.family for other in found) < of_a_family:
            found.append(one)
    return found


def _certain_findings(results: RunFile, frames: Mapping[str, ItemFrame]) -> Iterator[Finding]:
    """Yield all certain findings."""
    names = _naming(results)
    yield from _gate_findings(results, names)
    yield from _reference_findings(results, frames, names)
    paired = {one.model for one in results.references if one.role == "surface"}
    for rows, its in _printed_cases(results):
        model, on = names(rows[0].model, rows[0].data)
        noun = _item_noun(rows[0], frames)
        yield from _findings_below_chance(rows, its, model, on, noun)
        yield from _strength_findings(rows, its, model, on, noun)
        if rows[0].model not in paired:
            yield from _surface_findings(rows, its, model, on, noun)


def _naming(results: RunFile) -> Naming:
    """Return a function that names a model and its data in a sentence: "It" if the run has one model, "" for its only
    data.
    """
    several, sets = len(results.models) > 1, len(results.data) > 1

    def name(model: str, data: str) -> tuple[str, str]:
        return (model if several else "It", f" on {data_name(data)}" if sets else "")

    return name


def _printed_cases(results: RunFile) -> Iterator[tuple[list[Result], Declaration]]:
    """Yield the rows of each property's printed figure, for all levels together. Correlations are included.

    A property whose interval is withheld is left out, because nothing about it is certain.
    """
    declared = results.declarations
    heads = [row for model in results.models for row in all_headline_rows(results, model.label)]
    heads += [row for row in judged_rows(results) if row.metric in RANKS and row.metric == declared[row.check].metric]
    for head in heads:
        its, place = declared[head.check], (head.model, head.data, head.check, head.metric)
        rows = [
            row for row in results.checks
            if (row.model, row.data, row.check, row.metric) == place and row.value is not None
        ]  # fmt: skip
        if not (its.unjudged or head.params.get("unjudged")) and all(row.high is not None for row in rows):
            yield rows, replace(its, chance=chance_of(head, its))


def _findings_below_chance(rows: list[Result], its: Declaration, model: str, on: str, noun: str) -> Iterator[Finding]:
    """Yield the properties of which the model "cannot tell" the difference.

    At every level, the whole interval is below chance or barely above it. The printed figure is that of the first
    level, as in the profile. If surface cues explain the figure, the sentence says so, and ranks behind those that they
    do not explain.
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
    figures = f"{_figure_phrase(first, noun)}; {tail}"
    claim = f"{model} {can} tell {its.tells}{on}" if its.tells else f"{model} fails at {plain_name(its.property)}{on}"
    size = (line - high) / line
    if misled := _misleading_surface(first, its.chance):
        claim = f"Where the wording misleads, {re.sub('^It ', 'it ', claim)}"
        figures, size = f"{figures}; {misled}", size * EXPLAINED
    yield _finding(claim, figures, "chance", size, first, its)


def _misleading_surface(row: Result, chance: float) -> str:
    """Return a note that the wording favours the wrong text if a surface scorer is also below chance, otherwise ""."""
    best = best_surface(row)
    if best is None or (best[2].high or best[1]) >= chance:
        return ""
    return f"{best[0]}, which sees only the surface, {_scorer_phrase(row, best[1])}"


def _surface_findings(rows: list[Result], its: Declaration, model: str, on: str, noun: str) -> Iterator[Finding]:
    """Yield the properties in which, at every level, the best surface scorer's whole interval is above the model's."""
    gaps = []
    for row in rows:  # how far the model's interval lies below that of the best surface scorer
        best = best_surface(row)
        gaps.append(((best[2].low or 0.0) - row.numbers[2] if best else 0.0, row))
    gap, nearest = min(gaps, key=lambda one: one[0])
    if gap <= 0:
        return
    scorer, rival, _ = best_surface(nearest) or ("", 0.0, None)
    claim = f"{model} is worse than {scorer}, which sees only the surface, at {_skill_phrase(its)}{on}"
    figures = f"{_figure_phrase(nearest, noun)}, {scorer} {_scorer_phrase(nearest, rival)}"
    yield _finding(claim, figures, "rival", gap, nearest, its)


def _strength_findings(rows: list[Result], its: Declaration, model: str, on: str, noun: str) -> Iterator[Finding]:
    """Yield the properties that the model "can tell": at every level above chance and surface scorers, and mostly
    right.
    """
    worst = min(rows, key=lambda row: row.numbers[1])
    low = worst.numbers[1]
    scorer, rival, _ = best_surface(worst) or ("", 0.0, None)
    line = max(its.chance or 0.0, rival, 0.5)
    if low <= line:
        return
    figures = _figure_phrase(worst, noun)
    figures += f"; {scorer}, which sees only the surface, {_scorer_phrase(worst, rival)}" if scorer else ""
    claim = f"{model} can tell {its.tells}{on}" if its.tells else f"{model} is good at {plain_name(its.property)}{on}"
    yield _finding(claim, figures, "strength", low - line, worst, its)


def _reference_findings(results: RunFile, frames: Mapping[str, ItemFrame], names: Naming) -> Iterator[Finding]:
    """Yield certain losses against the paired models, with Holm's correction over all properties."""
    rows = {(rows[0].model, rows[0].data, its.property): (rows[0], its) for rows, its in _printed_cases(results)}
    for one in results.references:
        for paired in one.properties:
            row, its = rows.get((one.model, paired.data, paired.property), (None, None))
            if row is None or its is None or not is_rate(row.metric) or paired.said != "worse":
                continue
            model, on = names(row.model, row.data)
            by = ", which sees only the surface," if one.role == "surface" else ""
            claim = f"{model} is worse than {one.against}{by} at {_skill_phrase(its)}{on}"
            share = f"{percent(paired.after)} of {paired.n:,} {_item_noun(row, frames)}"
            figures = f"right in {share}, {one.against} in {percent(paired.before)}"
            line: FindingKind = "rival" if one.role == "surface" else "reference"
            yield _finding(claim, figures, line, -paired.high, row, its)


def _gate_findings(results: RunFile, names: Naming) -> Iterator[Finding]:
    """Yield the losses for which a gate blocks: how much was lost, and what that means for users."""
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
            if row.kind == "rate":
                change = f"{percent(row.baseline)} before, {percent(row.candidate)} now"
            elif row.figures:
                change = f"right before and now: {printed_figures(row)}"
            skill = gate_row_name(row)
            claim = f"{model} is worse at {skill[:1].lower()}{skill[1:]} than {against.baseline}"
            figures = f"{change}, on {row.n:,} items. {row.means}".strip().rstrip(".")
            example = None
            for lost in row.lost_examples[:1]:
                sides = {text.side: text for text in lost.texts}
                if {"near", "far"} <= set(sides):
                    near, far = sides["near"], sides["far"]
                    example = ItemExample(lost.source, near.pieces, far.pieces, near.now, far.now)
            yield Finding(
                claim, figures, "baseline", -row.high, results.models[0].label, "", "", its.property, its.family,
                example,
            )  # fmt: skip


def _finding(claim: str, figures: str, line: FindingKind, size: float, row: Result, its: Declaration) -> Finding:
    return Finding(claim, figures, line, float(size), row.model, row.check, row.data, its.property, its.family)


def _skill_phrase(its: Declaration) -> str:
    """Return the phrase that a check declares for use after "at", or its property if it declares none."""
    return f"telling {its.tells}" if its.tells else plain_name(its.property)


def _figure_phrase(row: Result, noun: str) -> str:
    """Return a phrase with the model's figure and the number of items."""
    if is_rate(row.metric):
        where = " in both directions" if str(row.metric).startswith("both_directions") else ""
        return f"right{where} in {percent(row.numbers[0])} of {row.n:,} {noun}"
    return f"{find_metric(row.metric or '').label} {row.value:.2f} on {row.n:,} {noun}"


def _scorer_phrase(row: Result, value: float) -> str:
    """Return another scorer's figure, printed like the model's."""
    return f"in {percent(value)}" if is_rate(row.metric) else f"{value:.2f}"


def _item_noun(row: Result, frames: Mapping[str, ItemFrame]) -> str:
    frame = frames.get(str(row.case))
    return frame.kind.noun if frame else "items"


def shortest_mistake(frame: ItemFrame) -> ItemExample | None:
    """Return the shortest of the 40 worst mistakes, preferably with edits marked, or None if there is none."""
    if frame.far is None or not frame.compares_near_and_far:
        return None
    margins = (frame.near.scores - frame.far.scores).tolist()
    wrong = sorted((i for i, margin in enumerate(margins) if margin < 0), key=margins.__getitem__)
    return _shortest_item(frame, wrong[:WORST])


def shortest_success(frame: ItemFrame) -> ItemExample | None:
    """Return the shortest of the 40 clearest successes. From a group, take a side, and only if all sides are right."""
    if frame.far is None or not frame.compares_near_and_far:
        return None
    right = frame.sort_keys.tolist()
    found = sorted((i for i, margin in enumerate(right) if margin > 0), key=lambda i: -right[i])
    return _shortest_item(frame, found[:WORST])


def _shortest_item(frame: ItemFrame, some: Sequence[int]) -> ItemExample | None:
    """Return the item with the fewest characters, preferring items with marked edits, or None if there are no items."""

    def length(row: ItemRow) -> tuple[bool, int]:
        size = sum(len(text or "") for text in (row.source, row.near.text, row.far.text))
        return (not row.near.edits and not row.far.edits, size)

    shortest = min(map(frame.row, some), key=length, default=None)
    return None if shortest is None else example_of(shortest, is_question=frame.kind.is_question)
