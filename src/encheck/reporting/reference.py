"""Compare a run with known models: those whose item scores ship, and four measured models.

`lab/peers.py` writes peers.json.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path

from encheck.options.settings import select_settings
from encheck.reporting.text import escape_markdown, percent, plain_name, table
from encheck.run_file import Difference, Reference, Result, Role, RunFile
from encheck.system.documents import read_json
from encheck.system.typed_files import Count, read_typed

WHO: Mapping[Role, str] = {
    "reference": "whose item scores ship with encheck",
    "surface": "which sees the surface alone",
    "parent": "its parent",
}
CERTAIN = "at the 5% level for all properties together; informational only"


def reference_heading(one: Reference) -> str:
    """Return the names of the two models, and the second one's role.

    >>> reference_heading(Reference("ckpt", "sbert", "parent", same_weights=False, named_by="README.md"))
    'ckpt against sbert, its parent (README.md)'
    """
    by = f" ({one.named_by})" if one.named_by else ""
    return f"{one.model} against {one.against}, {WHO[one.role]}{by}"


def sameness_note(one: Reference) -> str:
    """Return a sentence that the weights or all scores equal the other model's, or "" if neither do."""
    names = f"{one.model} are those of {one.against}"
    if one.same_weights:
        return f"the weights of {names}{', and so are all scores' if is_unchanged(one) else ''}"
    return f"all scores of {names}" if is_unchanged(one) else ""


def is_unchanged(one: Reference) -> bool:
    """Return whether properties were compared and all their scores are equal."""
    return bool(one.properties) and not any(row.difference or row.low or row.high for row in one.properties)


def unmeasured_note(one: Reference) -> str:
    """Return the command that measures a parent model that is not in the store, or "" if it was measured."""
    if one.role != "parent" or one.properties:
        return ""
    why = "not compared, since the store lacks its vectors (encheck run --model=PARENT makes them)"
    return f"{reference_heading(one)}: {why}"


def table_head(one: Reference) -> tuple[str, ...]:
    """Return the column headings for the table of properties."""
    return ("property", "items", one.against, one.model, "change in points [95% CI]", "")


def table_cells(row: Difference) -> tuple[str, ...]:
    """Return the table cells of a property."""
    change, low, high = (f"{100 * value:+.1f}" for value in (row.difference, row.low, row.high))
    figures = (percent(row.before), percent(row.after))
    return (plain_name(row.property), f"{row.n:,}", *figures, f"{change} [{low}, {high}]", row.said)


def changed_properties(one: Reference) -> list[Difference]:
    """Return the properties with the largest losses first, or an empty list if all scores are equal."""
    if is_unchanged(one):
        return []
    return sorted(one.properties, key=lambda row: (row.said == "cannot tell", row.difference))


def surface_summary(one: Reference) -> str:
    """Return how many properties of a model are above the best surface scorer, and the names of the others."""
    others = [row for row in one.properties if row.said != "better"]
    missed = ", ".join(f"{plain_name(row.property)} ({100 * row.difference:+.1f})" for row in others)
    count = len(one.properties)
    start = f"{reference_heading(one)}: better, with certainty, in {count - len(others)} of {count} properties"
    return f"{start}; not in {missed}" if missed else start


def reference_lines(found: Sequence[Reference]) -> Iterator[str]:
    """Yield the comparisons as lines for the terminal."""
    for one in found:
        if same := sameness_note(one):
            yield same
        if one.role == "surface" and one.properties:
            yield surface_summary(one)
        elif text := unmeasured_note(one):
            yield text
        elif rows := changed_properties(one):
            yield f"{reference_heading(one)}, on the same items ({CERTAIN}):"
            yield from table([table_head(one), *map(table_cells, rows)])
    if found:
        yield ""


def reference_markdown(found: Sequence[Reference]) -> Iterator[str]:
    """Yield the comparisons as a section of summary.md."""
    for one in found:
        yield from (f"- {escape_markdown(text)}" for text in filter(None, [sameness_note(one), unmeasured_note(one)]))
        if one.role == "surface" and one.properties:
            yield f"- {escape_markdown(surface_summary(one))}"
        elif rows := changed_properties(one):
            yield from ("", f"{escape_markdown(reference_heading(one))}, on the same items ({CERTAIN}):", "")
            lines = (table_head(one), ["---"] * 6, *map(table_cells, rows))
            yield from (f"| {' | '.join(map(escape_markdown, row))} |" for row in lines)
            yield ""


@dataclass(frozen=True, slots=True)
class PeerSettings:
    """The settings that change figures. Peers are shown only next to figures with the same settings."""

    epsilon: float
    median_scope: str | float
    near_duplicates: str
    generator_mode: str
    lexicon: str
    experimental: bool
    passage_words: int


@dataclass(frozen=True, slots=True)
class PeerFigure:
    """A figure of every peer on the same `n` items. `values` is keyed by the names in `Peers.models`."""

    n: Count
    values: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Peers:
    """The results of complete runs of several models on one edition of the probes. `command` is what wrote the file.

    `models` explains each name. `figures` is keyed by `figure_key`.
    """

    command: str
    version: str
    fingerprint: str
    settings: PeerSettings
    models: Mapping[str, str]
    figures: Mapping[str, PeerFigure]

    def beside(self, row: Result) -> Mapping[str, float]:
        """Return each peer's figure for the same check, level and metric, or an empty mapping if there is none."""
        found = self.figures.get(figure_key(row))
        return found.values if found else {}


def figure_key(row: Result) -> str:
    """Return the key of a figure: check, level and metric."""
    return f"{row.check}/{row.level}/{row.metric}"


@cache
def shipped_peers() -> Peers:
    """Return the peers that ship with encheck."""
    return read_typed(Peers, read_json(Path(str(resources.files("encheck.reporting") / "peers.json"))))


def matching_peers(results: RunFile, data: str) -> Peers | None:
    """Return the peers if this data set is their edition of the probes and the settings match, otherwise None."""
    known, settings = shipped_peers(), results.run.settings
    here = {("probes", one.version, one.fingerprint) for one in results.data if one.name == data == "probes"}
    has_settings = known.settings == select_settings(PeerSettings, settings)
    return known if has_settings and ("probes", known.version, known.fingerprint) in here else None
