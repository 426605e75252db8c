"""What the page says of each check on each data set: words, figures, pictures, and where its items are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from encheck.reporting import rivals, validity
from encheck.reporting.html import charts
from encheck.reporting.html.payload import Frames
from encheck.reporting.html.vega_lite import Spec
from encheck.reporting.view import judged, ran, sentence
from encheck.run_file import Result, RunFile
from encheck.types import ClaimEntry, Declaration


@dataclass(frozen=True)
class Picture:
    """A chart of the page: its id, its name on the switch, its caption, and what Vega-Lite draws."""

    id: str
    name: str
    caption: str
    spec: Spec


@dataclass(frozen=True)
class Section:
    """One check on one data set, all its levels and models.

    `rows` carry the verdicts, `figures` every figure; `cases` are (key of the items, name of the series, model);
    `validity` has what is known of generated items.
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
        """Its claim as it reads."""
        return sentence(self.check)

    @property
    def tested(self) -> str:
        """The property that it tests, by which it is selected."""
        return self.rows[0].property

    @property
    def reasons(self) -> list[tuple[str | None, str, str]]:
        """(verdict, reason, the rows that it is of), each reason once; no rows where it is of all."""
        found: dict[tuple[str | None, str], list[str]] = {}
        for row in self.rows:
            if row.reason:
                found.setdefault((row.verdict, row.reason), []).append(_series(row, self.rows))
        every = len(self.rows)
        return [(*key, "; ".join(names) if len(names) < every else "") for key, names in found.items()]

    @property
    def lines(self) -> list[str]:
        """Floor and aim: once where all rows have the same, else each model's own; nothing where there are none."""
        held = {row.model: _held(row) for row in self.rows if row.aim is not None}
        if len(set(held.values())) > 1:
            return [f"{model}: {text}" for model, text in held.items()]
        return [*held.values()][:1]

    @property
    def counts(self) -> str:
        """How many items and independent clusters its figures rest on; a range where that varies."""
        measured = [row for row in self.rows if row.value is not None]
        items, clusters = (_span([getattr(row, name) for row in measured]) for name in ("n", "clusters"))
        return f"{items} items in {clusters} independent clusters" if measured else ""

    @property
    def rivals(self) -> list[str]:
        """What the best rival that reads no meaning gets of the same groups, where that is more than chance."""
        return list(rivals.lines(self.figures))

    @property
    def excluded(self) -> list[tuple[str, int, str]]:
        """(reason, sentences, levels) of what had no variant, the most frequent first."""
        found: dict[tuple[str, int], list[str]] = {}
        for row in self.rows:
            for reason, count in row.excluded.items():
                found.setdefault((reason, count), []).append(str(row.level))
        every = len({row.level for row in self.rows})
        named = {key: [*dict.fromkeys(levels)] for key, levels in found.items()}
        lines = [(*key, ", ".join(levels) if len(levels) < every else "") for key, levels in named.items()]
        return sorted(lines, key=lambda line: -line[1])


def _span(numbers: Sequence[int]) -> str:
    """A number, or the least and the most of several."""
    low, high = min(numbers, default=0), max(numbers, default=0)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def _held(row: Result) -> str:
    """Aim and floor of a row in words; the floor is left out where it is the aim."""
    assert row.aim is not None
    aim, floor = f"aim {round(row.aim, 2) if row.floor_of else row.aim:g}", row.floor
    return aim if floor is None or floor == row.aim else f"{aim}, floor {round(floor, 2):g}"


def sections(results: RunFile, frames: Frames) -> list[Section]:
    """A section for each check and data set that ran, in the order of the verdicts."""
    found: dict[tuple[str, str], list[Result]] = {}
    for row in judged(results):
        found.setdefault((row.check, row.data), []).append(row)
    figures: dict[tuple[str, str], list[Result]] = {}
    for row in results.checks:
        figures.setdefault((row.check, row.data), []).append(row)
    said, declared, scales = results.claims, results.declarations, units(results)
    made = []
    for key, rows in found.items():
        if ran(rows):
            measured = [row for row in figures[key] if row.metric]
            generated = validity.said(measured, results.data)
            parts = said.get(key[0]), declared[key[0]], frames, scales, generated
            made.append(_section(key, rows, measured, *parts))
    return made


def _section(
    key: tuple[str, str],
    rows: Sequence[Result],
    figures: Sequence[Result],
    description: ClaimEntry | None,
    declared: Declaration,
    frames: Frames,
    scales: Mapping[tuple[str, str], float],
    generated: Sequence[str],
) -> Section:
    anchor = "".join(c if c.isalnum() else "-" for c in "-".join(key))
    names = {str(row.case): row for row in rows}
    cases = [(case, _series(row, rows), row.model) for case, row in names.items() if case in frames]
    some = {name: frames[case] for case, name, _ in cases}
    of_cases = {name: scales.get((key[1], model), 0.0) for _, name, model in cases}
    drawn = _pictures(declared, [(_series(row, rows), row) for row in figures], some, of_cases)
    pictures = [Picture(f"{anchor}-{i}", *one) for i, one in enumerate(drawn)]
    return Section(anchor, *key, description, rows, figures, cases, pictures, generated)


def units(results: RunFile) -> dict[tuple[str, str], float]:
    """(data, model) -> the span of a calibrated scale: from an unrelated pair to an identical one."""
    return {
        (data.name, model): scale.identity - scale.reference
        for data in results.data
        for model, scale in data.calibration.items()
    }


def _series(row: Result, rows: Sequence[Result]) -> str:
    """What tells a line of a picture apart: the model, the level, or both; a word where there is one line."""
    models, levels = {one.model for one in rows}, {one.level for one in rows}
    level = f"level {row.level}" if row.level.isdigit() else row.level
    parts = [*([row.model] if len(models) > 1 else []), *([level] if len(levels) > 1 else [])]
    return ", ".join(parts) or row.model


def _pictures(
    declared: Declaration, figures: Sequence[charts.Line], frames: Frames, scales: Mapping[str, float]
) -> Iterable[tuple[str, str, Spec]]:
    """(Name, caption, spec) of what the figures and the items give by themselves, and of what the check declares."""
    profile, divergence = (frames and name in declared.pictures for name in ("profile", "divergence"))
    apart = "Left of zero the text that should be farther is nearer: the model is wrong there."
    candidates = [
        (
            "calibrated",
            "How much nearer the right text is, item by item, where 1 is the way from an unrelated pair to an "
            f"identical one. {apart}",
            charts.margins(frames, scales) if all(scales.values()) else None,
        ),
        ("raw", f"How much nearer the right text is, item by item, in raw similarity. {apart}", charts.margins(frames)),
        (
            "steps",
            "How often the score is on the right side of the threshold, step by step; the best surface scorer dashed.",
            charts.steps(figures, title="Accuracy at each step", axis=declared.step or "step"),
        ),
        (
            "down the chain",
            "Mean similarity of the exact paraphrase (0) and of each step away from it, with 95% bars.",
            charts.profile(frames, axis=declared.step or "step") if profile else None,
        ),
        (
            "divergence",
            "Divergence of the words by label. Where the two lie alike, word overlap does not give the label away.",
            charts.divergence(next(iter(frames.values()))) if divergence else None,
        ),
        ("similarities", "Similarities of what should be near and of what should be far.", charts.similarities(frames)),
        (
            "by epsilon",
            "Share of items whose calibrated margin is above epsilon, with its 95% band; word overlap dashed.",
            charts.margin_curves(figures, calibrated=True),
        ),
        (
            "by epsilon, raw",
            "The same with raw cosines, as published: they do not compare between encoders.",
            charts.margin_curves(figures, calibrated=False),
        ),
    ]
    return [(name, text, spec) for name, text, spec in candidates if spec]
