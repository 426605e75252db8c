"""The cost comparison on the terminal and on a page."""

from __future__ import annotations

from collections.abc import Iterator

from encheck.comparing.costs import CostReport, ModelCost
from encheck.reporting.decisions import NextStep, VerdictBanner
from encheck.reporting.html.page import page
from encheck.reporting.text import table
from encheck.statistics.bootstrap import Figure


def lines(report: CostReport) -> Iterator[str]:
    """The table, the front, and the pairs that cannot be separated."""
    yield from table(rows(report))
    yield ""
    yield from table(families(report))
    yield ""
    yield from said(report)


def rows(report: CostReport) -> list[tuple[str, ...]]:
    """One row per model, those on the front first."""
    head = (
        "model", "front", report.figure or "quality", "behaviour", "texts/s", "query p50 / p95", "dimension",
        "GB per million", "index", "$ per million tokens",
    )  # fmt: skip
    ordered = sorted(report.models, key=lambda one: one.name not in report.front)
    return [head, *(_row(report, one) for one in ordered)]


def _row(report: CostReport, one: ModelCost) -> tuple[str, ...]:
    return (
        one.name,
        "yes" if one.name in report.front else f"no: {report.beaten[one.name]}",
        share(one.quality),
        share(one.behaviour),
        "-" if one.texts_a_second is None else f"{one.texts_a_second:,.0f}",
        "-" if one.p50 is None or one.p95 is None else f"{one.p50:.1f} / {one.p95:.1f} ms",
        str(one.dimension),
        f"{one.bytes_per_million / 1e9:.2f}",
        f"{one.index_bytes / 1e6:,.1f} MB" if report.documents else "-",
        "-" if one.price is None else f"{one.price:g}",
    )


def families(report: CostReport) -> list[tuple[str, ...]]:
    """Behaviour by family: the mean of its properties above guessing."""
    names = sorted({family for one in report.models for family in one.families})
    cells = [(one.name, *(share(one.families.get(family)) for family in names)) for one in report.models]
    return [("behaviour", *names), *cells]


def said(report: CostReport) -> Iterator[str]:
    """The front in words, and what could not be measured."""
    for one in report.models:
        if one.stored:
            known = "" if one.behaviour else "; it lacks texts of the checks, so its behaviour is unknown"
            yield f"{one.name} is a file of vectors: it has no speed{known}"
    for name, by in report.beaten.items():
        yield f"{name} is not on the Pareto front: {by} is better in one respect and worse in none"
    for what, pairs in report.inseparable.items():
        if pairs:
            yield f"not separable in {what}: {', '.join(f'{one} and {other}' for one, other in pairs)}"
    if report.at_chance:
        guessed = ", ".join(report.at_chance)
        yield f"no evidence of {guessed}: no model is shown to beat guessing, so no difference counts"
    yield f"FRONT: {', '.join(report.front)}"


def share(found: Figure | None) -> str:
    """A share with its interval, in percent."""
    return "-" if found is None else found.says


def render(report: CostReport) -> str:
    """The page; every text in it is escaped by the template."""
    import sys

    front, beaten = report.front, len(report.beaten)
    names = " and ".join(filter(None, (", ".join(front[:-1]), front[-1])))
    out = f"{beaten} of {len(report.models)} models {'is' if beaten == 1 else 'are'} beaten: another model"
    banner = VerdictBanner(
        "", "FRONT", f"Take {names}" if len(front) == 1 else f"Choose among {names}",
        f"{out} is better in one respect and worse in none." if beaten else "No model beats another.",
        NextStep("Gate it against the model in use before you ship it." if len(front) == 1
                 else "Weigh speed, size and price against quality on your data."),
    )  # fmt: skip
    return page("costs.html", report=report, text=sys.modules[__name__], verdict=banner)
