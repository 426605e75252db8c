"""The 200 texts of a canary, chosen for what breaks when an encoder is changed. An edition that shipped stays."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path

from encheck.reporting.results import write_named
from encheck.types import content_hash

EDITION = 1
NOTHING = "empty"  # the kind of texts that a model may refuse
LONG = ("long", "near the limit")


@dataclass(frozen=True, slots=True)
class Text:
    """One text. `twin` names one that an encoder gives the same vector where it does not see what they differ in.

    `shows` says what that is: "case", "accents", "composed", "blanks", "120 words" (that they share, from the start),
    or the prompt that stands before the twin in this text.
    """

    id: str
    kind: str
    text: str
    twin: str = ""
    shows: str = ""


@cache
def texts() -> tuple[Text, ...]:
    """The texts in their order: a canary keeps a vector for each. `recipes/build_canary_texts.py` wrote them."""
    written = (resources.files("encheck.deciding") / "canary_texts.json").read_text("utf-8")
    return tuple(Text(**row) for row in json.loads(written)["texts"])


@cache
def digest() -> str:
    """What the texts hash to: a canary of other texts cannot be held against these."""
    return content_hash(*(one.text for one in texts()))


def twins(kind: str) -> list[tuple[int, int, Text]]:
    """(row of the text, row of its twin, the text) of the pairs of one kind."""
    rows = {one.id: row for row, one in enumerate(texts())}
    return [(row, rows[one.twin], one) for row, one in enumerate(texts()) if one.kind == kind and one.twin]


def write(path: Path) -> None:
    """Write the texts, a JSON object with id, kind and text a line; UsageError if no file can be there."""
    rows = ({"id": one.id, "kind": one.kind, "text": one.text} for one in texts())
    write_named(path, "".join(json.dumps(row) + "\n" for row in rows))
