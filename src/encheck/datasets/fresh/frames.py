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
PARTS = {"both", "also", "both-first"}  # their gap is a noun phrase; that of all others is a clause
SUBJECT = "{a} []"  # a clause with its subject, where the gap begins at the verb


@dataclass(frozen=True, slots=True)
class Form:
    """What stands in the gap of a source, of an edit near to its surface and of one far from it; both keep the meaning.

    The values of two fillers exchanged, `near_exchanges` or `far_exchanges`, the meaning is another one, which
    `changed` says. A form without `near` is mirrored: two sources, each with another name for what they say.
    """

    name: str
    source: str
    near: str
    far: str
    near_exchanges: tuple[str, ...]
    far_exchanges: tuple[str, ...]
    kept: str
    changed: str


@dataclass(frozen=True, slots=True)
class Frame:
    """A sentence with a gap `[]`, or with the places of its fillers, each with its options."""

    phenomenon: str
    form: Form
    template: str
    fillers: Mapping[str, tuple[str, ...]]

    @property
    def id(self) -> str:
        """The phenomenon and a hash of the sentence: the cluster of its groups."""
        return f"fresh-{self.phenomenon}-{content_hash(self.template)[:8]}"


def clause_alone(frame: Frame) -> Frame | None:
    """The frame without what stands around its clause, of which alone the certificate speaks; None without a clause."""
    if frame.form.name == "polar":
        return replace(frame, template=f"{SUBJECT}.") if SUBJECT in frame.template else None
    if GAP not in frame.template or frame.form.name in PARTS:
        return None
    return replace(frame, template=f"{GAP}.")


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
    name, source, near, far, near_exchanges, far_exchanges, kept, changed = row
    return Form(name, source, near, far, tuple(near_exchanges.split()), tuple(far_exchanges.split()), kept, changed)


def _filler(text: str, lists: Mapping[str, str]) -> tuple[str, tuple[str, ...]]:
    """The name of a filler and its options, of the table of lists where that is what it says."""
    name, _, options = text.partition("=")
    found = lists[options.removeprefix(LISTED)] if options.startswith(LISTED) else options
    return name, tuple(one.strip() for one in found.split(";"))
