"""The sections of the page, one for each check on each data set, with words, figures, charts and items."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from encheck.claims import CONTRACT, FAMILIES
from encheck.reporting import view
from encheck.reporting.html import charts
from encheck.reporting.html.charts import Chart
from encheck.reporting.profile import NO_PROPERTY, AgainstReference, ProfileLine, Standing, profile
from encheck.reporting.reference import Peers, figure_key, matching_peers
from encheck.reporting.view import (
    WORDS,
    best_surface,
    claim_sentence,
    figure_text,
    is_rate,
    judged_rows,
    rows_that_ran,
)
from encheck.run_file import Result, RunFile
from encheck.scoring.item import ItemFrame
from encheck.types import ClaimEntry, Declaration


@dataclass(frozen=True)
class Picture:
    """One or more charts by name. `id` identifies the picture, `name` is on its switch, and `caption` is below it."""

    id: str
    name: str
    caption: str
    charts: Mapping[str, Chart]


@dataclass(frozen=True)
class CheckSection:
    """A check on one data set, with all its levels and models.

    `rows` have the verdicts, `figures` every figure. `cases` are (key of the items, name of the series, model).
    `validity` has lines on the quality of generated items.
    """

    anchor: str
    check: str
    data: str
    description: ClaimEntry | None
    rows: Sequence[Result]
    figures: Sequence[Result]
    cases: Sequence[tuple[str, str, str]]
    pictures: Sequence[Picture]
    validity: Sequence[str]

    @property
    def title(self) -> str:
        """The claim as a sentence."""
        return claim_sentence(self.check)

    @property
    def tested(self) -> str:
        """The property that the check tests. -m selects the check by it."""
        return self.rows[0].property

    @property
    def reasons(self) -> list[tuple[str | None, str, str]]:
        """Each reason once, as (verdict, reason, the rows to which it applies). The rows are "" if it applies to all
        rows of the check.
        """
        found: dict[tuple[str | None, str], list[str]] = {}
        for row in self.rows:
            if row.reason:
                found.setdefault((row.verdict, row.reason), []).append(_series_name(row, self.rows))
        every = len(self.rows)
        return [(*key, "; ".join(names) if len(names) < every else "") for key, names in found.items()]

    @property
    def lines(self) -> list[str]:
        """The floor and the aim: one entry if all rows share them, otherwise one per model. Empty if there are none."""
        limits = {}
        for row in self.rows:
            if row.aim is not None:
                aim = f"aim {round(row.aim, 2) if row.floor_of else row.aim:g}"
                floor = "" if row.floor in (None, row.aim) else f", floor {round(row.floor or 0.0, 2):g}"
                limits[row.model] = aim + floor
        if len(set(limits.values())) > 1:
            return [f"{model}: {text}" for model, text in limits.items()]
        return [*limits.values()][:1]

    @property
    def counts(self) -> str:
        """How many items and independent clusters are behind the figures, as a range if rows differ."""
        measured = [row for row in self.rows if row.value is not None]
        items, clusters = (_number_range([getattr(row, name) for row in measured]) for name in ("n", "clusters"))
        return f"{items} items in {clusters} independent clusters" if measured else ""

    @property
    def rivals(self) -> list[str]:
        """Lines with the best figure that a scorer reaches on the same groups without reading meaning, if it is above
        chance.
        """
        return list(view.rival_lines(self.figures))

    @property
    def excluded(self) -> list[tuple[str, int, str]]:
        """The sentences without a variant as (reason, sentences, levels), the most frequent reason first."""
        found: dict[tuple[str, int], list[str]] = {}
        for row in self.rows:
            for reason, count in row.excluded.items():
                found.setdefault((reason, count), []).append(str(row.level))
        every = len({row.level for row in self.rows})
        named = {key: [*dict.fromkeys(levels)] for key, levels in found.items()}
        lines = [(*key, ", ".join(levels) if len(levels) < every else "") for key, levels in named.items()]
        return sorted(lines, key=lambda line: -line[1])


def _number_range(numbers: Sequence[int]) -> str:
    """Return a number, or the range of several numbers."""
    low, high = min(numbers, default=0), max(numbers, default=0)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def check_sections(results: RunFile, frames: Mapping[str, ItemFrame]) -> list[CheckSection]:
    """Return a section for each check and data set that ran, in the order of the verdicts."""
    found: dict[tuple[str, str], list[Result]] = {}
    for row in judged_rows(results):
        found.setdefault((row.check, row.data), []).append(row)
    figures: dict[tuple[str, str], list[Result]] = {}
    for row in results.checks:
        figures.setdefault((row.check, row.data), []).append(row)
    said, declared, scales = (
        results.claims,
        results.declarations,
        {
            (data.name, model): scale.identity - scale.reference
            for data in results.data
            for model, scale in data.calibration.items()
        },
    )
    made = []
    for key, rows in found.items():
        if rows_that_ran(rows):
            measured = [row for row in figures[key] if row.metric]
            generated = view.row_validity_lines(measured, results.data)
            parts = said.get(key[0]), declared[key[0]], frames, scales, generated
            made.append(_check_section(key, rows, measured, *parts))
    return made


def _check_section(
    key: tuple[str, str],
    rows: Sequence[Result],
    figures: Sequence[Result],
    description: ClaimEntry | None,
    declared: Declaration,
    frames: Mapping[str, ItemFrame],
    scales: Mapping[tuple[str, str], float],
    generated: Sequence[str],
) -> CheckSection:
    anchor = "".join(c if c.isalnum() else "-" for c in "-".join(key))
    names = {str(row.case): row for row in rows}
    cases = [(case, _series_name(row, rows), row.model) for case, row in names.items() if case in frames]
    some = {name: frames[case] for case, name, _ in cases}
    of_cases = {name: scales.get((key[1], model), 0.0) for _, name, model in cases}
    drawn = _pictures(declared, [(_series_name(row, rows), row) for row in figures], some, of_cases)
    pictures = [Picture(f"{anchor}-{i}", *one) for i, one in enumerate(drawn)]
    return CheckSection(anchor, *key, description, rows, figures, cases, pictures, generated)


def _series_name(row: Result, rows: Sequence[Result]) -> str:
    """Return the name of a line in a chart: the model, the level, or both. A line that is alone has a generic name."""
    models, levels = {one.model for one in rows}, {one.level for one in rows}
    return ", ".join([*[row.model] * (len(models) > 1), *[_level_name(row)] * (len(levels) > 1)]) or row.model


def _level_name(row: Result) -> str:
    return f"level {row.level}" if str(row.level).isdigit() else str(row.level)


def _pictures(
    declared: Declaration,
    figures: Sequence[charts.SeriesRow],
    frames: Mapping[str, ItemFrame],
    scales: Mapping[str, float],
) -> Iterator[tuple[str, str, Mapping[str, Chart]]]:
    """Yield (name, caption, charts) for each picture that the figures and items allow, and for those that the check
    declares.

    Margins are in units of the calibrated scale if every case has one, otherwise in raw similarity.
    """
    drawn = {name for name in declared.pictures if frames}
    has_scale = bool(scales) and all(scales.values())
    unit = "where 1 is the distance from an unrelated pair to an identical one" if has_scale else "in raw similarity"
    step = declared.step or "step"
    candidates = [
        (
            "margins",
            f"How much nearer the right text is, item by item, {unit}. Left of zero the text that should be farther is "
            "nearer: the model is wrong there.",
            charts.margin_chart(frames, scales if has_scale else None),
        ),
        (
            "steps",
            "How often the score is on the right side of the threshold, step by step; the best surface scorer dashed.",
            charts.step_chart(figures, title="Accuracy at each step", axis=step),
        ),
        (
            "down the chain",
            "Mean similarity of the exact paraphrase (0) and of each step away from it, with 95% bars.",
            charts.chain_chart(frames, axis=step) if "profile" in drawn else None,
        ),
        (
            "similarities",
            "Similarities of texts that should be near and of texts that should be far.",
            charts.similarity_chart(frames),
        ),
        (
            "by epsilon",
            "Share of items whose margin is above epsilon, with its 95% band; word overlap dashed.",
            charts.margin_curve_chart(figures),
        ),
    ]
    yield from ((name, text, {"": chart}) for name, text, chart in candidates if chart)
    if "divergence" in drawn and (found := charts.divergence_charts(next(iter(frames.values())))):
        text = "Word divergence within pairs, by label. If both distributions look alike, overlap reveals no label."
        yield "divergence", text, found


Kind = Literal["bad", "tied", "good", "none"]
KINDS: Mapping[Kind, str] = {
    "bad": "below chance, or fail",
    "tied": "at chance",
    "good": "above chance, or pass",
    "none": "not judged",
}
_UNCHANCED: Mapping[str | None, tuple[Kind, str]] = {
    "pass": ("good", "pass"),
    "stale_known_failure": ("good", "stale known failure"),
    "fail": ("bad", "fail"),
    "error": ("bad", "error"),
    "known_failure": ("bad", "known failure"),
    "below_aim": ("tied", "below aim"),
    "inconclusive": ("tied", "inconclusive"),
    "skipped": ("none", "skipped"),
    None: ("none", "not judged"),
}
_ABOVE = {"below_aim": ", below aim", "inconclusive": ", inconclusive", "fail": ", fail"}
_STANDINGS: Mapping[Standing, str] = {
    "above chance": "above chance", "at chance": "at chance", "below chance": "below chance",
}  # fmt: skip
_TITLES = {
    "meaning kept": "Meaning kept: the same meaning in other words should stay near",
    "meaning changed": "Meaning changed: a small edit that changes the meaning should show",
    "order": "Order: the same words in another order",
    "retrieval": "Retrieval: the right text comes first",
    "invariance": "Invariance: an edit that keeps the meaning should change nothing",
    "health": "Health of the embedding space",
    "downstream": "Downstream: what a classifier learns from the vectors",
    CONTRACT: "Contracts",
}


@dataclass(frozen=True)
class FigureMark:
    """A figure in one line: positions along the axis in percent (None if it is not a share), words, and a verdict."""

    name: str
    row: Result
    value: str
    interval: str
    kind: Kind
    words: str
    low: float | None = None
    width: float = 0.0
    at: float | None = None
    chance: float | None = None
    surface: float | None = None
    other: float | None = None
    against: AgainstReference | None = None

    @property
    def label(self) -> str:
        """The text that screen readers get instead of the picture."""
        marks = {"chance": self.chance, "best surface scorer": self.surface}
        beside = [f"{name} {place:.0f}%" for name, place in marks.items() if place is not None]
        return ", ".join([f"95% interval {self.interval}" if self.interval else "no spread", *beside])


@dataclass(frozen=True)
class CheckEntry:
    """A check below its property: its section, whether it is a control, and a mark for each level and model."""

    section: CheckSection
    is_control: bool
    marks: Sequence[FigureMark]

    @property
    def verdicts(self) -> list[str]:
        """The distinct kinds of its marks."""
        return sorted({mark.kind for mark in self.marks})


@dataclass(frozen=True)
class ProfileRow:
    """A property in the profile: a mark for each model, and the checks that a click shows.

    `peers` are known models' figures as (name, share), if all marks show the same figure.
    """

    name: str
    family: str
    tells: str
    means: str
    marks: Sequence[FigureMark]
    entries: Sequence[CheckEntry]
    order: float = field(default=1.0)
    peers: Sequence[tuple[str, str]] = ()

    @property
    def kinds(self) -> list[str]:
        """The distinct kinds of its marks and of its checks' marks."""
        return sorted({mark.kind for mark in self.marks} | {kind for e in self.entries for kind in e.verdicts})


@dataclass(frozen=True)
class ProfileBlock:
    """The profile on one data set, by family."""

    data: str
    families: Sequence[tuple[str, Sequence[ProfileRow]]]

    @property
    def is_single(self) -> bool:
        """Whether the block has only one property. The page then shows that property's checks from the start."""
        return sum(len(rows) for _, rows in self.families) == 1

    @property
    def has_others(self) -> bool:
        """Whether any figure is compared with another model's."""
        return any(mark.other is not None for _, rows in self.families for row in rows for mark in row.marks)

    @property
    def has_peers(self) -> bool:
        """Whether its rows show known models."""
        return any(row.peers for _, rows in self.families for row in rows)


def profile_blocks(results: RunFile, found: Sequence[CheckSection]) -> list[ProfileBlock]:
    """Return a profile for each data set that has a result."""
    models = [one.label for one in results.models]
    declared, blocks = results.declarations, []
    for data in dict.fromkeys(section.data for section in found):
        lines = {(m, line.name): line for m in models for line in profile(results, model=m, data=data)}
        by_property: dict[str, list[CheckSection]] = {}
        for section in found:
            if section.data == data:
                by_property.setdefault(section.tested, []).append(section)
        known = matching_peers(results, data)
        rows = [_property_row(name, some, declared, models, lines, known) for name, some in by_property.items()]
        rows.sort(key=lambda row: (row.order, row.name))
        families = dict.fromkeys([*FAMILIES, CONTRACT, *(row.family for row in rows)])
        by_family = {family: [row for row in rows if row.family == family] for family in families}
        blocks.append(ProfileBlock(data, [(_TITLES.get(name, name), some) for name, some in by_family.items() if some]))
    return blocks


def _property_row(
    name: str,
    found: Sequence[CheckSection],
    declared: Mapping[str, Declaration],
    models: Sequence[str],
    lines: Mapping[tuple[str, str], ProfileLine],
    known: Peers | None,
) -> ProfileRow:
    heads = {model: _representative_row(found, declared, lines.get((model, name)), model) for model in models}
    several = len(models) > 1
    marks = [
        figure_mark(row, declared[row.check], model if several else "", lines.get((model, name)))
        for model, row in heads.items() if row
    ]  # fmt: skip
    first = next(filter(None, heads.values()), found[0].rows[0])
    its = declared[first.check]
    entries = []
    for section in found:
        check, ran = declared[section.check], rows_that_ran(section.rows)
        has_levels = len({row.level for row in ran}) > 1
        named = [(row, [*[row.model] * several, *[_level_name(row)] * has_levels]) for row in ran]
        shown = [figure_mark(row, check, ", ".join(name)) for row, name in named]
        entries.append(CheckEntry(section, bool(check.unjudged), shown))
    entries.sort(key=lambda one: (one.section.check != first.check, one.is_control))
    order = min((mark.row.high - (declared[mark.row.check].chance or 0.0) for mark in marks
                 if mark.at is not None and mark.row.high is not None), default=2.0)  # fmt: skip
    is_one = known and len({figure_key(mark.row) for mark in marks}) == 1
    beside = known.beside(first) if known and is_one else {}
    peers = [(peer, view.format_figure(first.metric, share)) for peer, share in beside.items()]
    return ProfileRow(name, its.family, its.tells, its.means, marks, entries, order, peers)


def _representative_row(
    found: Sequence[CheckSection], declared: Mapping[str, Declaration], line: ProfileLine | None, model: str
) -> Result | None:
    """Return the row that represents the property: the profile's row, the headline row, or the first with a value."""
    rows = [row for section in found for row in rows_that_ran(section.rows) if row.model == model]
    if line is not None:
        return next(f for s in found for f in s.figures if (str(f.case), f.metric) == (line.case, line.metric))
    measured = [row for row in rows if row.value is not None] or rows
    return next(iter(sorted(measured, key=lambda row: not declared[row.check].headline)), None)


def figure_mark(row: Result, its: Declaration, name: str, line: ProfileLine | None = None) -> FigureMark:
    """Return the figure of a row as a line of the page. `line` has the profile's comparison with another model."""
    if line is not None:  # a check may report several figures, each with its own chance
        its = replace(its, chance=line.chance)
    kind, words = chance_verdict(row, its)
    if not is_drawn_as_share(row, its):
        value, _, interval = figure_text(row).partition(" ")
        is_exact = row.low == row.high
        return FigureMark(name, row, value, "" if is_exact else interval.strip("[]").replace(", ", " to "), kind, words)
    best, other = best_surface(row), line.against if line else None
    share = row.numbers[0]
    low, high = map(_percent_place, row.numbers[1:])
    return FigureMark(
        name, row, view.format_figure(row.metric, share), _interval_text(row), kind, words,
        low=low, width=max(round(high - low, 2), 0.6), at=_percent_place(share),
        chance=None if its.chance is None else _percent_place(its.chance),
        surface=_percent_place(best[1]) if best else None,
        other=_percent_place(share - other.change) if other else None, against=other,
    )  # fmt: skip


def is_drawn_as_share(row: Result, its: Declaration) -> bool:
    """Return whether the figure is drawn on an axis from 0% to 100%."""
    ends = (row.value, row.low, row.high)
    return its.chance != 0 and its.family not in NO_PROPERTY and all(e is not None and 0 <= e <= 1 for e in ends)


def chance_verdict(row: Result, its: Declaration) -> tuple[Kind, str]:
    """Return the kind of a result, and words that compare it with chance, if known, and with the floor and the aim."""
    kind, words = _UNCHANCED.get(row.verdict, ("none", WORDS.get(row.verdict, "")))
    if row.verdict in ("pass", "stale_known_failure", "error", "skipped") or row.value is None:
        return (kind, words) if row.value is not None or row.verdict != "inconclusive" else ("none", "inconclusive")
    if its.unjudged or row.params.get("unjudged"):
        return "none", "not judged"
    if not its.chance or row.low is None or not is_drawn_as_share(row, its):
        return kind, words
    _, low, high = row.numbers
    if high < its.chance:
        return "bad", "fail: below chance" if row.verdict == "fail" else "below chance"
    if low <= its.chance:
        return "tied", "at chance"
    return ("bad" if row.verdict == "fail" else "good"), f"above chance{_ABOVE.get(row.verdict or '', '')}"


def _percent_place(share: float) -> float:
    return round(100 * max(0.0, min(1.0, float(share))), 2)


def _interval_text(row: Result) -> str:
    """Return a rate's interval in percent, with as many digits as its width supports, and any other's as it is."""
    _, low, high = row.numbers
    if not is_rate(row.metric):
        return f"{low:.2f}–{high:.2f}"
    if high - low < 0.0005:
        return ""
    digits = 0 if high - low > 0.02 else 1
    return f"{100 * low:.{digits}f}–{100 * high:.{digits}f}"


def standing_facts(lines: Sequence[ProfileLine]) -> list[tuple[str, str]]:
    """Return how many properties are above, at and below chance, above surface scorers, and different from the
    reference.

    Also name the property that is farthest below chance.
    """
    known = [one for one in lines if one.standing]
    counts = {words: sum(one.standing == standing for one in known) for standing, words in _STANDINGS.items()}
    found = [(f"{count} of {len(known)}", words) for words, count in counts.items() if count]
    if rivalled := [one for one in known if one.surface is not None]:
        above = sum(one.low > (one.surface or 0) for one in rivalled)
        found.append((f"{above} of {len(rivalled)}", "above the best surface scorer"))
    paired = [one.against for one in lines if one.against]
    said = [one.said for one in paired]
    words_of = {"worse": "worse than", "better": "better than", "cannot tell": "not separable from"}
    found += [
        (f"{said.count(w)} of {len(said)}", f"{text} {paired[0].name}") for w, text in words_of.items() if w in said
    ]
    if below := [one for one in known if one.standing == "below chance"]:
        worst = min(below, key=lambda one: one.high - (one.chance or 0))
        chance = view.format_figure(worst.metric, worst.chance or 0.0)
        words = f"is the farthest below chance: {worst.figure}, chance {chance}"
        found.append((worst.title, words))
    return found
