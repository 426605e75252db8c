"""One item of a past run in full, beside what a model says of it now."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from encheck.options import Settings
from encheck.reporting.text import marked
from encheck.scoring.frame import edits_of
from encheck.scoring.scores import kind_named

log = logging.getLogger("encheck")
Row = Mapping[str, Any]
Scorer = Callable[[str, str], float]


def describe(rows: Sequence[Row], scorer: Scorer | None) -> Iterator[str]:
    """Lines that show each row, the edits marked; with a scorer, what it says now."""
    for row in rows:
        yield f"{row['item']}  ({row['case']})"
        kind = kind_named(row["kind"])
        if kind and kind.note:
            yield f"  {kind.note(row)}"
        yield f"  source           {row['source']}"
        yield from _side(row, "near", scorer)
        if kind and kind.is_contest:
            yield from _side(row, "far", scorer)
            yield f"  margin           {row['near_score'] - row['far_score']:+.4f}"
        elif kind and kind.weighed_as == "turned":
            now = f", now {scorer(*_pair(row, 'source')):.4f}" if scorer else ""
            yield f"  turned {row['far_score']:.4f}{now}"
        yield ""


def _side(row: Row, side: str, scorer: Scorer | None) -> Iterator[str]:
    text, score, overlap = row[side], row[f"{side}_score"], row[f"{side}_overlap"]
    now = f", now {scorer(*_pair(row, side)):.4f}" if scorer else ""
    beside = "" if overlap is None else f"  (word overlap {overlap:.2f})"  # a text that is encoded twice has none
    yield f"  {side:4} {score:.4f}{now}{beside}"
    yield f"                   {marked(row['source'], text, edits_of(row[f'{side}_edits']))}"
    if why := row.get(f"{side}_why"):
        yield f"                   {why}"


def _sides(row: Row) -> Iterator[str]:
    """The sides of a row that were scored; `source` is that of the other order."""
    yield "near"
    kind = kind_named(row["kind"])
    if kind and kind.is_contest:
        yield "far"
    elif kind and kind.weighed_as == "turned":
        yield "source"


def _pair(row: Row, side: str) -> tuple[str, str]:
    """The two texts of a row as they were scored, the one of this side beside the source."""
    if side == "source":
        return row["near"], row["source"]
    return (row[side], row["source"]) if row["source_is_second"] else (row["source"], row[side])


def rescore(settings: Settings, rows: Sequence[Row]) -> Scorer:
    """A function that scores pairs of these rows' texts with the settings' one model."""
    from encheck.running.service import EncoderService
    from encheck.system.progress import Progress

    service = EncoderService.open(settings, progress=Progress())
    before = service.model.fingerprint()
    score = service.scorer_anew(_pair(row, side) for row in rows for side in _sides(row))
    if service.model.fingerprint() != before:
        log.warning("%s learns from a run's texts, and here from this item's alone: other scores", service.label)
    return lambda first, second: float(score([first], [second])[0])
