"""The columns of labelled pairs: which one holds what, and what a row says."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from encheck.datasets.reader import Row, checked_text, is_missing, label_of, refuse_misspelt
from encheck.errors import DataError

NAMES = {
    "first": ("first", "sentence1", "sentence_1", "text1", "question1", "sentence_a", "anchor", "premise"),
    "second": ("second", "sentence2", "sentence_2", "text2", "question2", "sentence_b", "candidate", "hypothesis"),
    "label": ("label", "is_duplicate", "paraphrase", "labels", "gold"),
    "score": ("score", "similarity", "similarity_score", "relatedness", "relatedness_score"),
    "cluster": ("cluster", "topic", "thread", "url", "group"),
}
NEEDED = ("first", "second")


def columns_of(path: Path | str, columns: list[str], needed: Sequence[str] = ()) -> dict[str, str | None]:
    """The column of each role, None if there is none; DataError if one is missing that is needed.

    Without `needed` these are both texts, and a label or a score, and a column that is nearly called so is one too.
    """
    chosen = {role: _column(path, role, columns) for role in NAMES}
    is_production = bool(needed)
    needed = needed or (NEEDED if chosen["label"] or chosen["score"] else (*NEEDED, "label"))
    if missing := next((role for role in needed if not chosen[role]), None):
        others = f"understood as {missing!r}: {', '.join(NAMES[missing])}"
        or_score = " and no 'score'" if missing == "label" else ""
        raise DataError(
            f"{path}:1: no column {missing!r}{or_score} (columns: {', '.join(columns) or 'none'}; {others})"
            f"{_hint(columns)}"
        )
    if not is_production:
        refuse_misspelt(path, columns, NAMES, chosen)
    return chosen


def _column(path: Path | str, role: str, columns: list[str]) -> str | None:
    alike: dict[str, list[str]] = {}
    for column in columns:
        alike.setdefault(column.strip().lower(), []).append(column)
    found = [alike[name] for name in NAMES[role] if name in alike]
    if found and len(found[0]) > 1:
        called = " and ".join(map(repr, dict.fromkeys(found[0])))
        raise DataError(f"{path}:1: two columns are called {called}: rename one of them")
    return found[0][0] if found else None


def _hint(columns: list[str]) -> str:
    one = columns[0] if len(columns) == 1 else ""
    other = max(",;|\t", key=one.count)
    return f". Is {other!r} the delimiter? A .csv is divided by commas, a .tsv by tabs" if other in one else ""


def row_of(fields: Mapping[str, Any], chosen: Mapping[str, str | None]) -> Row:
    """A row of what stands in the column of each role; ValueError if it is wrong.

    A score may be missing where there are labels.
    """
    first, second = (checked_text(side, fields[side]) for side in NEEDED)
    label = label_of(fields["label"]) if chosen["label"] else None
    has_score = bool(chosen["score"]) and not (chosen["label"] and is_missing(fields["score"]))
    cluster = None if is_missing(fields["cluster"]) else str(fields["cluster"])
    return Row(first, second, label, "", cluster, score_of(fields["score"]) if has_score else None)


def score_of(value: object) -> float:
    """A graded similarity; ValueError if it is no number.

    >>> score_of("3.8"), score_of(-1)
    (3.8, -1.0)
    """
    try:
        score = math.nan if isinstance(value, bool) else float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        score = math.nan
    if not math.isfinite(score):
        raise ValueError(f"the score is {value!r:.60}, but should be a number: higher means more similar")
    return score


def said_of_repeats(path: Path, again: int, rows: int) -> list[str]:
    """What is to be told of rows that repeat an earlier one."""
    return [f"{path.name}: {again} of {rows} rows repeat an earlier pair word for word, and each counts"] * bool(again)


def said_of_scores(path: Path, count: int, low: float, high: float) -> list[str]:
    """What is to be told of the scores of so many pairs."""
    ranks = "`sts` ranks pairs by it, higher means more similar"
    return [f"{path.name}: {count} pairs have a score, from {low:g} to {high:g}: {ranks}"] * bool(count)
