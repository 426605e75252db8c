"""Items and queries that a candidate lost: their texts and scores, what came first before and what comes first now."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import isfinite
from typing import Any, Literal

from encheck.gating.gate_rows import LostItem, LostQuery
from encheck.gating.types import (
    ChangedQuery,
    ExampleText,
    GateRow,
    LostExample,
    UnjudgedAnswer,
    UnjudgedSearch,
)
from encheck.reporting.text import Piece, joined, pieces, shortened
from encheck.scoring.frame import edits_of
from encheck.types import content_hash

Columns = Mapping[str, Sequence[Any]]
SIDES = {"near": "should be nearer", "far": "should be farther", "pair": "compared with"}
SHOWN = 160  # characters of a text
UNKNOWN = "not kept: the baseline is older, or of other documents"


def queries(
    lost: Sequence[LostQuery],
    items: Mapping[str, Columns],
    documents: Mapping[str, Mapping[int, tuple[str, str]]],
) -> tuple[ChangedQuery, ...]:
    """Query, first answer before and first answer now of each; `documents` are by case, then row."""
    texts = _queries_of(items)
    return tuple(
        ChangedQuery(in_a_line(texts[one.item]), *(_text(documents.get(one.case, {}), row)
                                                   for row in (one.before, one.now)))
        for one in lost if one.item in texts
    )  # fmt: skip


def _queries_of(items: Mapping[str, Columns]) -> dict[str, str]:
    """The text of each query, by the id of its item."""
    return {
        name: text for columns in items.values() for name, text in zip(columns["item"], columns["source"], strict=True)
    }


def unjudged(
    found: Sequence[LostQuery],
    items: Mapping[str, Columns],
    documents: Mapping[str, Mapping[int, tuple[str, str]]],
) -> tuple[UnjudgedAnswer, ...]:
    """Each first answer that nobody judged, by `documents` as in `queries`."""
    texts = _queries_of(items) if found else {}
    pairs = ((one, documents.get(one.case, {}).get(row)) for one in found for row in (one.before, one.now)
             if row is not None and one.item in texts)  # fmt: skip
    return tuple(
        UnjudgedAnswer(" ".join(texts[one.item].split()), named[0], " ".join(named[1].split()))
        for one, named in pairs if named
    )  # fmt: skip


def _text(documents: Mapping[int, tuple[str, str]], row: int | None) -> str:
    return UNKNOWN if row is None or row not in documents else in_a_line(documents[row][1])


def examples(found: Sequence[LostItem], items: Mapping[str, Columns]) -> tuple[LostExample, ...]:
    """The items that were lost: the source, then each text with its edits and both models' scores.

    Only those whose texts are among the items of the run.
    """
    places = _places({one.item for one in found}, items) if found else {}
    rows = ((one, _row_of(one, places.get(one.item, ()))) for one in found)
    return tuple(_example(one, *place) for one, place in rows if place)


def _places(wanted: set[str], items: Mapping[str, Columns]) -> dict[str, list[tuple[Columns, int]]]:
    """Where the items of these ids stand."""
    places: dict[str, list[tuple[Columns, int]]] = {}
    for columns in items.values():
        for i, name in enumerate(columns["item"]):
            if name in wanted:
                places.setdefault(name, []).append((columns, i))
    return places


def _row_of(one: LostItem, places: Sequence[tuple[Columns, int]]) -> tuple[Columns, int] | None:
    """The row with the item's texts; several rows of a chain or a crossed group may have one id."""
    for columns, i in places:
        texts = [columns[name][i] for name in ("source", "near", "far")]
        given = [text for text in texts if text is not None]
        if one.texts in (content_hash(*given), content_hash(*given[:2])):
            return columns, i
    return None


def _example(one: LostItem, columns: Columns, i: int) -> LostExample:
    is_contest = columns["far"][i] is not None
    sides: tuple[tuple[Literal["near", "far"], float, float], ...] = (
        ("near", one.before[0], one.now[0]), ("far", one.before[1], one.now[1])
    )  # fmt: skip
    texts = (
        ExampleText(side if is_contest else "pair", _pieces(columns, side, i), before, now)
        for side, before, now in sides
        if columns[side][i] is not None
    )
    return LostExample(in_a_line(columns["source"][i]), tuple(texts))


def _pieces(columns: Columns, side: str, i: int) -> tuple[Piece, ...]:
    """The text with its edits marked, short enough for a line."""
    found = pieces(columns["source"][i], columns[side][i], edits_of(columns[f"{side}_edits"][i]))
    return (("same", in_a_line(found[0][1])),) if len(found) == 1 else tuple(shortened(found))


def scores_of(one: ExampleText) -> str:
    """Its scores under both models; a dash for what is no number."""
    now, before = (f"{score:.3f}" if isfinite(score) else "-" for score in (one.now, one.before))
    return f"{now}, was {before}"


def in_a_line(text: str, width: int = SHOWN) -> str:
    """The text on one line, cut where it is long.

    >>> in_a_line("a  b" + chr(10) + "c")
    'a b c'
    """
    line = " ".join(text.split())
    return line if len(line) <= width else f"{line[: width - 3]}..."


def lines(row: GateRow | UnjudgedSearch) -> Iterator[str]:
    """What a row of a gate lost: items, a line for each text, and queries, three lines each; then, of a search without
    labels, the queries that changed.
    """
    for example in row.lost_examples if isinstance(row, GateRow) else ():
        yield f"lost in {row.name}: {example.source}"
        yield from (f"  {SIDES[text.side]:17} {scores_of(text)}  {joined(text.pieces)}" for text in example.texts)
    for what, some in (
        ("lost", row.lost_queries),
        ("changed", row.changed_queries if isinstance(row, UnjudgedSearch) else ()),
    ):
        for one in some:
            yield f"{what} in {row.name}: {one.query}"
            yield f"  first before: {one.before}"
            yield f"  first now:    {one.now}"
