"""Chains in the per-item file: one row a member, so that every text, edit and score is there."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from encheck.scoring.scores import ChainScores
from encheck.types import Chain, Edit


def chain_table(case: str, scores: ChainScores) -> dict[str, list[Any]]:
    """Columns of the per-item file. `near` is the paraphrase's side, `far` the member; ids end in the member's number.

    With pivot b the paraphrase is the `source` of the row, since it is what the others are compared with, and the
    others are the first texts of the pairs that were scored (see `pair_of`).
    """
    rows = [row for i, item in enumerate(scores.items) for row in _rows(case, item, scores, i)]
    return {name: [row[name] for row in rows] for name in rows[0]}


def pair_of(item: str, source: str, other: str) -> tuple[str, str]:
    """The pair that was scored for a row of the per-item file: with pivot b and in continuations the source is second.

    >>> pair_of("d/1f/swap/3/pivot-b/0/1", "b", "b1")
    ('b1', 'b')
    """
    is_second = {"pivot-b", "continuation"} & set(item.split("/")[2:])
    return (other, source) if is_second else (source, other)


def _rows(case: str, item: Chain, scores: ChainScores, at: int) -> list[dict[str, Any]]:
    pivot, near = (item.source, item.partner) if item.pivot == "a" else (item.partner, item.source)
    values, overlaps = scores.values[at], scores.lexical.values[at] if scores.lexical else None
    edits = item.edits if (item.pivot == "b") == (item.edited == "partner") else ()
    return [
        {
            "case": case, "item": f"{item.id}/{k}", "cluster": item.cluster, "split": item.split, "label": None,
            "source": pivot, "near": near, "far": member, "near_edits": "[]",
            "far_edits": _json(edits[k - 1] if edits else ()),
            "near_score": float(values[0]), "far_score": float(values[k]),
            "near_overlap": None if overlaps is None else float(overlaps[0]),
            "far_overlap": None if overlaps is None else float(overlaps[k]),
            "far_why": item.why[k - 1] if item.why else None,
        }
        for k, member in enumerate(item.members, start=1)
    ]  # fmt: skip


def _json(edits: Sequence[Edit]) -> str:
    return json.dumps([[e.start, e.end, e.text] for e in edits], ensure_ascii=False)
