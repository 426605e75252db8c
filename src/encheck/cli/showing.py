"""One item of a past run in full, and its scores as a model gives them now."""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from encheck.options import Settings
from encheck.reporting.text import marked
from encheck.reporting.view import edits_of
from encheck.scoring.chain_table import pair_of

log = logging.getLogger("encheck")
Row = Mapping[str, Any]
Scorer = Callable[[str, str], float]


def describe(rows: Sequence[Row], scorer: Scorer | None) -> Iterator[str]:
    """Lines that show each row, the edits marked; with a scorer, what it says now."""
    for row in rows:
        yield f"{row['item']}  ({row['case']})"
        yield f"  source           {row['source']}"
        yield from _side(row, "near", scorer)
        if row["far"] is not None:
            yield from _side(row, "far", scorer)
            yield f"  margin           {row['near_score'] - row['far_score']:+.4f}"
        elif row["far_score"] is not None:
            now = f", now {scorer(row['near'], row['source']):.4f}" if scorer else ""
            yield f"  turned {row['far_score']:.4f}{now}"
        yield ""


def _side(row: Row, side: str, scorer: Scorer | None) -> Iterator[str]:
    text, score, overlap = row[side], row[f"{side}_score"], row[f"{side}_overlap"]
    now = f", now {scorer(*pair_of(row['item'], row['source'], text)):.4f}" if scorer else ""
    beside = "" if overlap is None else f"  (word overlap {overlap:.2f})"  # a text that is encoded twice has none
    yield f"  {side:4} {score:.4f}{now}{beside}"
    yield f"                   {marked(row['source'], text, edits_of(row[f'{side}_edits']))}"
    if why := row.get(f"{side}_why"):
        yield f"                   {why}"


def rescore(settings: Settings, rows: Sequence[Row]) -> Scorer:
    """A function that scores pairs of these rows' texts with the settings' one model."""
    from encheck.items.variants import Maker
    from encheck.running.bench import Bench, scorer_of
    from encheck.running.resources import open_store, resolve_models
    from encheck.store import Store
    from encheck.system.progress import Progress

    sides = [(row, row[side]) for row in rows for side in ("near", "far") if row[side] is not None]
    pairs = [pair_of(row["item"], row["source"], text) for row, text in sides]
    pairs += [(row["near"], row["source"]) for row in rows if row["far"] is None and row["far_score"] is not None]
    known = open_store(settings)
    (subject,) = resolve_models(settings, known).values()
    before = subject.model.fingerprint()
    with tempfile.TemporaryDirectory() as folder:
        fresh = Store(Path(folder) / "store.sqlite")
        Bench({subject.label: subject}, {}, fresh, maker=Maker(settings.seed)).encode(
            {subject.label: pairs}, progress=Progress()
        )
        fresh.close()
    if subject.error:
        raise subject.error
    if subject.model.fingerprint() != before:
        log.warning("%s learns from a run's texts, and here from this item's alone: other scores", subject.label)
    score = scorer_of(subject)
    return lambda first, second: float(score([first], [second])[0])
