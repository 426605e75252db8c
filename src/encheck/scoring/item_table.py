"""The item table: one row an item, with its texts, edits and scores."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from encheck.scoring.chain_table import chain_table
from encheck.scoring.scores import ChainScores, Floats, MarginScores, Scores, TurnedScores
from encheck.types import (
    Chain,
    Item,
    Query,
    Repeated,
    SentencePair,
    Triplet,
    Turned,
)


def item_table(case: str, items: Sequence[Item], scores: Scores) -> dict[str, list[Any]]:
    """Columns of the per-item file: texts, edits, scores. A pair has no far text; its near score is its score.

    A pair that is scored in both orders has no far text either; its far score is that of the turned pair.
    """
    if isinstance(scores, ChainScores):
        return chain_table(case, scores)
    plain = [item for item in items if not isinstance(item, Chain | Query | Repeated)]
    near, far = _two(scores)
    lexical_near, lexical_far = _two(scores.lexical) if scores.lexical else (None, None)
    count = len(plain)
    return {
        "case": [case] * count,
        "item": [i.id for i in plain],
        "cluster": [i.cluster for i in plain],
        "split": [i.split for i in plain],
        "label": [None if isinstance(i, Triplet) else i.label for i in plain],
        "source": [i.source if isinstance(i, Triplet) else i.first for i in plain],
        "near": [i.near if isinstance(i, Triplet) else i.second for i in plain],
        "far": [i.far if isinstance(i, Triplet) else None for i in plain],
        "near_edits": [_near_edits(i) for i in plain],
        "far_edits": [_edits(i.far_edits) if isinstance(i, Triplet) else None for i in plain],
        "near_score": near.tolist(),
        "far_score": far.tolist() if far is not None else [None] * count,
        "near_overlap": lexical_near.tolist() if lexical_near is not None else [None] * count,
        "far_overlap": lexical_far.tolist() if lexical_far is not None else [None] * count,
        "gold": [i.score if isinstance(i, SentencePair) else None for i in plain],
        "key": [i.key or None if isinstance(i, SentencePair) else None for i in plain],
        "near_why": [_why(i) or None for i in plain],
        "far_why": [i.far_why or None if isinstance(i, Triplet) else None for i in plain],
    }


def shown(items: Sequence[Item], scores: Scores) -> Sequence[Item]:
    """The items as reports show them: a query with the text that was found, a repeated text as a pair."""
    found = scores.found if isinstance(scores, MarginScores) else ()
    return [_shown(item, found[i] if found else None) for i, item in enumerate(items)]


def _shown(item: Item, found: str | None) -> Item:
    if isinstance(item, Repeated):
        return SentencePair(item.id, item.text, item.text, None, item.cluster, item.split)
    if not isinstance(item, Query):
        return item
    if found is None:
        return SentencePair(item.id, item.source, item.near, None, item.cluster, item.split, item.near_edits)
    return Triplet(item.id, item.source, item.near, found, item.cluster, item.near_edits, (), item.split)


def _two(scores: Scores) -> tuple[Floats, Floats | None]:
    """The column of each item's score, and that of its second score where it has two."""
    if isinstance(scores, MarginScores):
        return scores.near, scores.far
    if isinstance(scores, TurnedScores):
        return scores.forward, scores.backward
    assert not isinstance(scores, ChainScores)
    return scores.values, None


def _why(item: SentencePair | Triplet | Turned) -> str:
    if isinstance(item, Turned):
        return ""
    return item.near_why if isinstance(item, Triplet) else item.why


def _near_edits(item: SentencePair | Triplet | Turned) -> str:
    if isinstance(item, Turned):
        return _edits(())
    return _edits(item.near_edits if isinstance(item, Triplet) else item.edits)


def _edits(edits: Sequence[Any]) -> str:
    return json.dumps([[e.start, e.end, e.text] for e in edits], ensure_ascii=False)
