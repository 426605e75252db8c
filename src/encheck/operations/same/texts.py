"""The 200 texts by which two models are compared, chosen for what breaks when an encoder is changed."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources

from encheck.types import content_hash

EDITION = 1  # one that shipped stays as it is
EMPTY = "empty"  # the kind of texts that a model may refuse
LONG = ("long", "near the limit")
PARTNER = 7  # a reranker scores each text with the one so many rows further on


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
    """The texts in their order. `lab/recipes/build_identity_texts.py` wrote them."""
    written = (resources.files("encheck.operations.same") / "texts.json").read_text("utf-8")
    return tuple(Text(**row) for row in json.loads(written)["texts"])


@cache
def digest() -> str:
    """What the texts hash to: vectors of other texts cannot be compared with those of these."""
    return content_hash(*(one.text for one in texts()))


@cache
def known_prompts() -> tuple[str, ...]:
    """The prompts that stand before some of the texts."""
    return tuple(dict.fromkeys(one.shows for one in texts() if one.kind == "prompt"))


@cache
def partners() -> Mapping[str, str]:
    """The text that a reranker scores each text with."""
    every = [one.text for one in texts()]
    return {text: every[(i + PARTNER) % len(every)] for i, text in enumerate(every)}


def twins(some: Sequence[Text], kind: str) -> list[tuple[int, int, Text]]:
    """(row of the text, row of its twin, the text) of the pairs of one kind that are among these texts."""
    rows = {one.id: row for row, one in enumerate(some)}
    return [(row, rows[one.twin], one) for row, one in enumerate(some) if one.kind == kind and one.twin in rows]
