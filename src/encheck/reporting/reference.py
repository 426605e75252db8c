"""Comparison of a model with the models whose item scores ship, for the terminal, summary.md and the page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from encheck.reporting.text import escape_markdown, percent, plain_name, table
from encheck.run_file import Difference, Reference, Role

WHO: Mapping[Role, str] = {
    "reference": "whose item scores ship with encheck",
    "surface": "which sees the surface alone",
    "parent": "its parent",
}
CERTAIN = "at the 5% level for all properties together; informational only"


def heading(one: Reference) -> str:
    """The names and roles of the two models.

    >>> heading(Reference("ckpt", "sbert", "parent", same_weights=False, named_by="README.md"))
    'ckpt against sbert, its parent (README.md)'
    """
    by = f" ({one.named_by})" if one.named_by else ""
    return f"{one.model} against {one.against}, {WHO[one.role]}{by}"


def sameness(one: Reference) -> str:
    """Says that the weights or all scores equal the other model's; empty if neither does."""
    names = f"{one.model} are those of {one.against}"
    if one.same_weights:
        return f"the weights of {names}{', and so are all scores' if is_unchanged(one) else ''}"
    return f"all scores of {names}" if is_unchanged(one) else ""


def is_unchanged(one: Reference) -> bool:
    """Whether there are properties and all their scores agree."""
    return bool(one.properties) and not any(row.difference or row.low or row.high for row in one.properties)


def unmeasured(one: Reference) -> str:
    """The command that measures a parent that is not in the store; empty if it was measured."""
    if one.role != "parent" or one.properties:
        return ""
    return f"{heading(one)}: not compared, since the store lacks its vectors (encheck run --model=PARENT makes them)"


def head(one: Reference) -> tuple[str, ...]:
    """The heading of the table of properties."""
    return ("property", "items", one.against, one.model, "change in points [95% CI]", "")


def cells(row: Difference) -> tuple[str, ...]:
    """A property as table cells."""
    change, low, high = (f"{100 * value:+.1f}" for value in (row.difference, row.low, row.high))
    figures = (percent(row.before), percent(row.after))
    return (plain_name(row.property), f"{row.n:,}", *figures, f"{change} [{low}, {high}]", row.said)


def shown(one: Reference) -> list[Difference]:
    """The properties, the largest losses first; empty if all scores are the same."""
    if is_unchanged(one):
        return []
    return sorted(one.properties, key=lambda row: (row.said == "cannot tell", row.difference))


def surface_line(one: Reference) -> str:
    """The number of properties in which a model is above the best surface scorer, and the names of the others."""
    others = [row for row in one.properties if row.said != "better"]
    missed = ", ".join(f"{plain_name(row.property)} ({100 * row.difference:+.1f})" for row in others)
    count = len(one.properties)
    start = f"{heading(one)}: certainly above it in {count - len(others)} of {count} properties"
    return f"{start}; not in {missed}" if missed else start


def reference_lines(found: Sequence[Reference]) -> Iterator[str]:
    """Lines for the terminal."""
    for one in found:
        if same := sameness(one):
            yield same
        if one.role == "surface" and one.properties:
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
        yield from (f"- {escape_markdown(text)}" for text in filter(None, [sameness(one), unmeasured(one)]))
        if one.role == "surface" and one.properties:
            yield f"- {escape_markdown(surface_line(one))}"
        elif rows := shown(one):
            yield from ("", f"{escape_markdown(heading(one))}, on the same items ({CERTAIN}):", "")
            lines = (head(one), ["---"] * 6, *map(cells, rows))
            yield from (f"| {' | '.join(map(escape_markdown, row))} |" for row in lines)
            yield ""
