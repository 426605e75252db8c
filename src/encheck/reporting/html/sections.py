"""What the page says of each check on each data set: words, figures, pictures, and where its items are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from encheck.gating.declared import declarations
from encheck.ids import CaseId
from encheck.reporting.html import charts
from encheck.reporting.html.payload import Frames
from encheck.reporting.html.vega_lite import Spec, series
from encheck.reporting.validity import said
from encheck.reporting.view import judged, ran, sentence
from encheck.types import Declaration

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Picture:
    """A chart of the page: its id, its caption, and what Vega-Lite draws."""

    id: str
    caption: str
    spec: Spec


@dataclass(frozen=True)
class Section:
    """One check on one data set, all its levels and models.

    `rows` carry the verdicts, `figures` every figure; `cases` are (key of the items, name of the series, model).
    """

    anchor: str
    check: str
    data: str
    description: Mapping[str, str]
    rows: Sequence[Row]
    figures: Sequence[Row]
    cases: Sequence[tuple[str, str, str]]
    pictures: Sequence[Picture]

    @property
    def title(self) -> str:
        """Its claim as it reads."""
        return sentence(self.check)

    @property
    def tested(self) -> str:
        """The property that it tests, by which it is selected."""
        return str(self.rows[0]["property"])

    @property
    def reasons(self) -> list[tuple[str | None, str, str]]:
        """(verdict, reason, the rows that it is of), each reason once."""
        found: dict[tuple[str | None, str], list[str]] = {}
        for row in self.rows:
            if row["reason"]:
                found.setdefault((row["verdict"], row["reason"]), []).append(series(row))
        return [(*key, "; ".join(names)) for key, names in found.items()]

    @property
    def validity(self) -> list[str]:
        """How often what was generated for it is right, as blind readers found."""
        return said([*self.rows, *self.figures])

    @property
    def excluded(self) -> list[tuple[str, int, str]]:
        """(reason, sentences, levels) of what had no variant, the most frequent first."""
        found: dict[tuple[str, int], list[str]] = {}
        for row in self.rows:
            for reason, count in row["excluded"].items():
                found.setdefault((reason, count), []).append(str(row["level"]))
        several = len({row["level"] for row in self.rows}) > 1
        lines = [(r, n, ", ".join(dict.fromkeys(levels)) if several else "") for (r, n), levels in found.items()]
        return sorted(lines, key=lambda line: -line[1])


def sections(results: Mapping[str, Any], frames: Frames) -> list[Section]:
    """A section for each check and data set that ran, in the order of the table of verdicts."""
    found: dict[tuple[str, str], list[Row]] = {}
    for row in judged(results):
        found.setdefault((row["check"], row["data"]), []).append(row)
    figures: dict[tuple[str, str], list[Row]] = {}
    for row in results["checks"]:
        figures.setdefault((row["check"], row["data"]), []).append(row)
    said, declared = results.get("claims", {}), declarations(results)
    return [
        _section(key, rows, [r for r in figures[key] if r["metric"]], said.get(key[0], {}), declared[key[0]], frames)
        for key, rows in found.items()
        if ran(rows)
    ]


def _section(
    key: tuple[str, str],
    rows: Sequence[Row],
    figures: Sequence[Row],
    description: Mapping[str, str],
    declared: Declaration,
    frames: Frames,
) -> Section:
    anchor = "".join(c if c.isalnum() else "-" for c in "-".join(key))
    names = {str(CaseId.of(row)): row for row in rows}
    cases = [(case, series(row), row["model"]) for case, row in names.items() if case in frames]
    some = {name: frames[case] for case, name, _ in cases}
    drawn = _pictures(declared, figures, some)
    pictures = [Picture(f"{anchor}-{i}", text, spec) for i, (text, spec) in enumerate(drawn)]
    return Section(anchor, *key, description, rows, figures, cases, pictures)


def _pictures(declared: Declaration, figures: Sequence[Row], frames: Frames) -> Iterable[tuple[str, Spec]]:
    """What the figures and the items give by themselves, and what the check declares beside it."""
    profile, divergence = (frames and name in declared.pictures for name in ("profile", "divergence"))
    candidates = [
        (
            "Share of items whose calibrated margin is above epsilon, with its 95% band; word overlap dashed.",
            charts.margin_curves(figures, calibrated=True),
        ),
        (
            "The same with raw cosines, as published: they do not compare between encoders.",
            charts.margin_curves(figures, calibrated=False),
        ),
        (
            "How often the score is on the right side of the threshold, step by step; the best surface scorer dashed.",
            charts.steps(figures, title="Accuracy at each step", axis=declared.step or "step"),
        ),
        (
            "Mean similarity of the exact paraphrase (0) and of each step away from it, with 95% bars.",
            charts.profile(frames, axis=declared.step or "step") if profile else None,
        ),
        (
            "Divergence of the words by label. Where the two lie alike, word overlap does not give the label away.",
            charts.divergence(next(iter(frames.values()))) if divergence else None,
        ),
        ("Similarities of what should be near and of what should be far.", charts.similarities(frames)),
    ]
    return [(text, spec) for text, spec in candidates if spec]
