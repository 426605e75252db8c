"""The frames: sentences with a gap, what may stand in it, and what fills it."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources

from encheck.types import content_hash

LISTED = "@"
GAP = "[]"
PARTS = {"number", "name"}  # their gap is a part of a clause; that of all others is a clause


@dataclass(frozen=True, slots=True)
class Form:
    """What stands in the gap of two sources that look alike, and of a text that says what the first of them says.

    With the values of the fillers of `exchanged` exchanged, two by two, that text says what the second one says.
    `kept` and `changed` say so.
    """

    name: str
    first: str
    second: str
    candidate: str
    exchanged: tuple[str, ...]
    kept: str
    changed: str


@dataclass(frozen=True, slots=True)
class Frame:
    """A sentence with a gap `[]` and fillers, each with its options."""

    phenomenon: str
    form: Form
    template: str
    fillers: Mapping[str, tuple[str, ...]]

    @property
    def id(self) -> str:
        """The phenomenon and a hash of the sentence: the cluster of its groups."""
        return f"fresh-{self.phenomenon}-{content_hash(self.template)[:8]}"


def clause_alone(frame: Frame) -> Frame | None:
    """The frame with its clause alone; None where the gap is no clause, or refers to what stands around it."""
    needs_more = frame.form.name in PARTS or "{" in frame.template
    return None if needs_more else replace(frame, template=f"{GAP}.")


@cache
def frames() -> tuple[Frame, ...]:
    """All frames, in the order of the file."""
    forms = {row[0]: _form(row) for row in _rows("forms")}
    lists = dict(_rows("lists"))
    return tuple(
        Frame(phenomenon, forms[form], template, dict(_filler(one, lists) for one in given))
        for phenomenon, form, template, *given in _rows("frames")
    )


def _rows(name: str) -> list[list[str]]:
    """The rows of a table of this package, without its head."""
    text = (resources.files(__package__) / f"{name}.tsv").read_text("utf-8")
    return list(csv.reader(text.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE))[1:]


def _form(row: list[str]) -> Form:
    name, first, second, candidate, exchanged, kept, changed = row
    return Form(name, first, second, candidate, tuple(exchanged.split()), kept, changed)


def _filler(text: str, lists: Mapping[str, str]) -> tuple[str, tuple[str, ...]]:
    """The name of a filler and its options, of the table of lists where that is what it says."""
    name, _, options = text.partition("=")
    found = lists[options.removeprefix(LISTED)] if options.startswith(LISTED) else options
    return name, tuple(one.strip() for one in found.split(";"))
