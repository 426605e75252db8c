"""What the terminal, summary.md and the page say of a model beside those whose item scores ship."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from encheck.ids import GateRowId
from encheck.reporting.text import escape, table
from encheck.run_file import Difference, Reference, Role

WHO: Mapping[Role, str] = {
    "reference": "whose item scores ship with encheck",
    "surface": "which sees the surface alone",
    "parent": "its parent",
}
CERTAIN = "certain: at the 5% level for all capabilities together; informational only"


def heading(one: Reference) -> str:
    """Which models are compared, and whether they are the same.

    >>> heading(Reference("ckpt", "sbert", "parent", same_weights=False, named_by="README.md"))
    'ckpt against sbert, its parent (README.md)'
    """
    by = f" ({one.named_by})" if one.named_by else ""
    return f"{one.model} against {one.against}, {WHO[one.role]}{by}"


def sameness(one: Reference) -> str:
    """Whether the weights, or all scores, are those of the other model; empty if neither is so."""
    names = f"{one.model} are those of {one.against}"
    if one.same_weights:
        return f"the weights of {names}{', and so are all scores' if is_unchanged(one) else ''}"
    return f"all scores of {names}" if is_unchanged(one) else ""


def is_unchanged(one: Reference) -> bool:
    """Whether there are capabilities, and all scores agree."""
    return bool(one.rows) and not any(row.change or row.low or row.high for row in one.rows)


def capability(row: str) -> str:
    """The name of a gate row without the data, which all share, and a level that is the only one.

    >>> capability("number/probes/1"), capability("swapchain/probes/pivot=a")
    ('number', 'swapchain pivot=a')
    """
    one = GateRowId(row)
    parts = (part for part in one.below_data if part != "1")
    return " ".join([one.property, *parts])


def amount(row: Difference, value: float, *, signed: bool = False) -> str:
    """A figure of a row, rates in percent or points."""
    scaled, digits = (100 * value, 1) if row.kind == "rate" else (value, 3)
    return f"{scaled:+.{digits}f}" if signed else f"{scaled:.{digits}f}{'%' * (row.kind == 'rate')}"


def unmeasured(one: Reference) -> str:
    """What to type where a parent is at hand and was not measured; empty if it was."""
    if one.role != "parent" or one.rows:
        return ""
    return f"{heading(one)}: not compared, since the store has no vectors of it (encheck run --model=PARENT makes them)"


def head(one: Reference) -> tuple[str, ...]:
    """Of the table of capabilities."""
    return ("capability", "items", one.against, one.model, "change [95% CI]", "")


def cells(row: Difference) -> tuple[str, ...]:
    """A capability as the tables show it."""
    low, high = (amount(row, getattr(row, end), signed=True) for end in ("low", "high"))
    change = f"{amount(row, row.change, signed=True)} [{low}, {high}]"
    figures = (amount(row, row.before), amount(row, row.now))
    return (capability(row.row), str(row.n), *figures, change, "certain" if row.certain else "cannot tell")


def shown(one: Reference) -> list[Difference]:
    """The capabilities, those that fell most first; none where all scores are the same."""
    if is_unchanged(one):
        return []
    return sorted(one.rows, key=lambda row: (not row.certain, row.change))


def surface_line(one: Reference) -> str:
    """In how many capabilities a model is above the best surface scorer, and in which it is not."""
    above = [row for row in one.rows if row.certain and row.change > 0]
    others = [row for row in one.rows if row not in above]
    missed = ", ".join(f"{capability(row.row)} ({amount(row, row.change, signed=True)})" for row in others)
    start = f"{heading(one)}: certainly above it in {len(above)} of {len(one.rows)} capabilities"
    return f"{start}; not in {missed}" if missed else start


def reference_lines(found: Sequence[Reference]) -> Iterator[str]:
    """On the terminal."""
    for one in found:
        if same := sameness(one):
            yield same
        if one.role == "surface" and one.rows:
            yield surface_line(one)
        elif text := unmeasured(one):
            yield text
        elif rows := shown(one):
            yield f"{heading(one)}, on the same items ({CERTAIN}):"
            yield from table([head(one), *map(cells, rows)])
    if found:
        yield ""


def reference_markdown(found: Sequence[Reference]) -> Iterator[str]:
    """The section of summary.md."""
    for one in found:
        yield from (f"- {escape(text)}" for text in filter(None, [sameness(one), unmeasured(one)]))
        if one.role == "surface" and one.rows:
            yield f"- {escape(surface_line(one))}"
        elif rows := shown(one):
            yield from ("", f"{escape(heading(one))}, on the same items ({CERTAIN}):", "")
            yield from (f"| {' | '.join(map(escape, row))} |" for row in (head(one), ["---"] * 6, *map(cells, rows)))
            yield ""
