"""The items of constructions as data: rows of two queries and two documents, for `--data contrast:FILE`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from encheck.operations.explore.confirm import Row
from encheck.operations.explore.material import Item
from encheck.scoring.crossed import Crossed


def lines(rows: Sequence[Row], items: Sequence[Item]) -> Iterator[str]:
    """A line of JSON for each group among these items of a row's construction, the better row's where it is of two.

    The items have to be those of the part that confirms. They are all written, right or wrong: a set of what a model
    got wrong would flatter the next one.
    """
    known: dict[tuple[str, ...], dict[str, str]] = {}
    for row in rows:
        for item in filter(row.cell.holds, items):
            texts = contrast(item.whole)
            if texts is not None and texts not in known:
                known[texts] = {
                    **dict(zip(("q1", "q2", "doc1", "doc2"), texts, strict=True)), "cluster": item.cluster,
                    "property": item.property, "construction": row.cell.says,
                }  # fmt: skip
    yield from (json.dumps(one, ensure_ascii=False) for one in known.values())


def contrast(whole: Crossed) -> tuple[str, str, str, str] | None:
    """Two queries, and the document that is right for each; None where two of the texts are the same."""
    first, second = whole.sides
    found = (first.source, second.source, first.near, first.far)
    return found if len({found[0], found[1]}) == len({found[2], found[3]}) == 2 else None
