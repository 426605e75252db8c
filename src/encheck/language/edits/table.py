"""The table of substitutes (substitutes.tsv), row by row: what was written for this project, word by word."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import NamedTuple, cast

from encheck.language.lexicon.protocol import Pos
from encheck.types import content_hash

TABLE = Path(__file__).parent / "substitutes.tsv"
NONE = "-"  # no conditions


class TableRow(NamedTuple):
    """A lemma, another one that can stand for it by this relation, and the conditions of that."""

    pos: Pos
    lemma: str
    relation: str
    other: str
    flags: frozenset[str]


@cache
def rows() -> tuple[TableRow, ...]:
    """All rows; of those for the same word, the best first."""
    lines = (line.split("\t") for line in TABLE.read_text("utf-8").splitlines() if line and not line.startswith("#"))
    return tuple(
        TableRow(cast("Pos", pos), lemma, relation, other, frozenset(flags.split(",")) - {NONE})
        for pos, lemma, relation, other, flags in lines
    )


@cache
def lemmas(pos: Pos) -> frozenset[str]:
    """The lemmas of a part of speech that have a row."""
    return frozenset(row.lemma for row in rows() if row.pos == pos)


def table_hash() -> str:
    """Stands for the table in what is recorded of a run."""
    return content_hash(TABLE.read_text("utf-8"))
