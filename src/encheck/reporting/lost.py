"""Items and queries that a candidate lost: their texts and scores, what came first before and what comes first now."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import isfinite
from typing import Any

from encheck.gating.lost import LostItem, LostQuery
from encheck.reporting.text import Piece, joined, pieces, shortened
from encheck.scoring.frame import edits_of
from encheck.types import content_hash

Columns = Mapping[str, Sequence[Any]]
SIDES = {"near": "should be nearer", "far": "should be farther", "pair": "compared with"}
SHOWN = 160  # characters of a text
UNKNOWN = "not kept: the baseline is older, or of other documents"


def as_dicts(
    lost: Sequence[LostQuery],
    items: Mapping[str, Mapping[str, Sequence[Any]]],
    documents: Mapping[str, Mapping[int, tuple[str, str]]],
) -> list[dict[str, str]]:
    """Query, first answer before and first answer now of each, in one line; `documents` are by case, then row."""
    texts = {
        name: text for columns in items.values() for name, text in zip(columns["item"], columns["source"], strict=True)
    }
    return [
        {"query": in_a_line(texts[one.item])}
        | {side: _text(documents.get(one.case, {}), row) for side, row in (("before", one.before), ("now", one.now))}
        for one in lost
        if one.item in texts
    ]


def unjudged(
    found: Sequence[LostQuery],
    items: Mapping[str, Mapping[str, Sequence[Any]]],
    documents: Mapping[str, Mapping[int, tuple[str, str]]],
) -> list[dict[str, str]]:
    """Query, id and text of each first answer that nobody judged, by `documents` as in `as_dicts`."""
    texts = {
        name: text for columns in items.values() for name, text in zip(columns["item"], columns["source"], strict=True)
    }
    pairs = ((one, documents.get(one.case, {}).get(row)) for one in found for row in (one.before, one.now)
             if row is not None and one.item in texts)  # fmt: skip
    return [
        {"query": " ".join(texts[one.item].split()), "corpus-id": named[0], "document": " ".join(named[1].split())}
        for one, named in pairs if named
    ]  # fmt: skip


def _text(documents: Mapping[int, tuple[str, str]], row: int | None) -> str:
    return UNKNOWN if row is None or row not in documents else in_a_line(documents[row][1])


def examples(found: Sequence[LostItem], items: Mapping[str, Columns]) -> list[dict[str, Any]]:
    """The items that were lost, in plain types: the source, then each text with its edits and both models' scores.

    Only those whose texts are among the items of the run.
    """
    places = _places({one.item for one in found}, items) if found else {}
    rows = ((one, _row_of(one, places.get(one.item, ()))) for one in found)
    return [_example(one, *place) for one, place in rows if place]


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


def _example(one: LostItem, columns: Columns, i: int) -> dict[str, Any]:
    is_contest = columns["far"][i] is not None
    sides = zip(("near", "far"), one.before, one.now, strict=True)
    texts = [
        {
            "side": side if is_contest else "pair", "pieces": [list(piece) for piece in _pieces(columns, side, i)],
            "before": _number(before), "now": _number(now),
        }
        for side, before, now in sides
        if columns[side][i] is not None
    ]  # fmt: skip
    return {"source": in_a_line(columns["source"][i]), "texts": texts}


def _number(value: float) -> float | None:
    return value if isfinite(value) else None


def _pieces(columns: Columns, side: str, i: int) -> list[Piece]:
    """The text with its edits marked, short enough for a line."""
    found = pieces(columns["source"][i], columns[side][i], edits_of(columns[f"{side}_edits"][i]))
    return [("same", in_a_line(found[0][1]))] if len(found) == 1 else shortened(found)


def text_of(one: Mapping[str, Any]) -> str:
    """A text of an example as plain text, its edits marked."""
    return joined((kind, text) for kind, text in one["pieces"])


def scores_of(one: Mapping[str, Any]) -> str:
    """Its scores under both models; a dash for what is no number."""
    now, before = ("-" if one[name] is None else f"{one[name]:.3f}" for name in ("now", "before"))
    return f"{now}, was {before}"


def example_lines(row: Mapping[str, Any]) -> Iterator[str]:
    """The lost items of a row of a gate, a line for each text."""
    for one in row.get("lost_examples", ()):
        yield f"lost in {row['row']}: {one['source']}"
        yield from (f"  {SIDES[t['side']]:17} {scores_of(t)}  {text_of(t)}" for t in one["texts"])


def in_a_line(text: str, width: int = SHOWN) -> str:
    """The text on one line, cut where it is long.

    >>> in_a_line("a  b" + chr(10) + "c")
    'a b c'
    """
    line = " ".join(text.split())
    return line if len(line) <= width else f"{line[: width - 3]}..."


def lines(row: Mapping[str, Any]) -> Iterator[str]:
    """The lost queries of a row of a gate, then those of a search without labels that changed, three lines each."""
    for what in ("lost", "changed"):
        for one in row.get(f"{what}_queries", ()):
            yield f"{what} in {row['row']}: {one['query']}"
            yield f"  first before: {one['before']}"
            yield f"  first now:    {one['now']}"
