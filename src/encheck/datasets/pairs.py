"""The user's own labelled pairs: CSV, TSV, JSON Lines or Parquet with named columns.

`first` and `second` hold the texts, `label` 1 for the same meaning and 0 for another, `score` how alike they are in any
range: more is more alike. Label or score is enough. `cluster` (optional) names what rows have in common. The names that
public data sets use for these columns are understood too.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from encheck.datasets.contrast import is_of_contrasts
from encheck.datasets.query_rows import is_of_queries
from encheck.datasets.reader import BadRows, Row, checked_text, json_rows, label_of
from encheck.datasets.records import Format, Named, delimited, parquet, records
from encheck.errors import DataError, unknown

log = logging.getLogger("encheck")
LICENCE = "yours"
FILES = "a .csv, .tsv, .jsonl or .parquet file with columns first, second, label or score (and cluster)"
NAMES = {
    "first": ("first", "sentence1", "sentence_1", "text1", "question1", "sentence_a", "anchor", "premise"),
    "second": ("second", "sentence2", "sentence_2", "text2", "question2", "sentence_b", "candidate", "hypothesis"),
    "label": ("label", "is_duplicate", "paraphrase", "labels", "gold"),
    "score": ("score", "similarity", "similarity_score", "relatedness", "relatedness_score"),
    "cluster": ("cluster", "topic", "thread", "url", "group"),
}
NEEDED = ("first", "second")


def read(path: Path, bad: BadRows) -> Iterator[Row]:
    """Pairs in file order; DataError if a column is missing, with the columns that are there."""
    if not path.is_file():
        state = "is a folder" if path.is_dir() else "does not exist"
        raise DataError(f"pairs: {path} {state}; expected {FILES}")
    if path.suffix.lower() not in FORMATS:
        raise DataError(f"pairs: {unknown('file ending', path.suffix, FORMATS)}")
    columns, rows = FORMATS[path.suffix.lower()](path, bad)
    if not columns:
        raise DataError(f"pairs: {path} has no rows; expected {FILES}")
    chosen = columns_of(path, columns)
    return _scores_told(path, _repeats_told(path, _made(path, rows, chosen, bad)))


def production(path: Path, bad: BadRows) -> Iterator[tuple[Row, dict[str, str]]]:
    """Pairs as they came in production, each with the values of the columns that have no role (its slices).

    A label may be missing, of some pairs or of all: nobody looked at them. DataError as for `read`.
    """
    columns, rows = records(path, bad)
    if not columns:
        raise DataError(f"pairs: {path} has no rows; expected {FILES}")
    chosen = columns_of(path, columns, needed=NEEDED)
    more = [column for column in columns if column not in chosen.values()]
    for line, row in rows:
        fields = {role: row.get(column) if column else None for role, column in chosen.items()}
        labelled = chosen | ({"label": None} if _is_missing(fields["label"]) else {}) | {"score": None}
        try:
            made = row_of(fields, labelled)
        except ValueError as error:
            bad(path, line, str(error))
        else:
            yield made, {name: str(row[name]) for name in more if not _is_missing(row.get(name))}


def is_of_pairs(names: Sequence[str]) -> bool:
    """Whether these are the columns of pairs of sentences.

    >>> is_of_pairs(["sentence1", "sentence2", "score"]), is_of_pairs(["text", "score"])
    (True, False)
    """
    has = {role: not {*known}.isdisjoint(names) for role, known in NAMES.items()}
    return "label" in names or (has["first"] and has["second"] and has["score"])


def taken_for(path: Path) -> str:
    """The data set that this file is of instead: one with queries and documents, which are no pairs of sentences."""
    ending = path.suffix.lower()
    if not path.is_file() or ending not in FORMATS:
        return ""
    columns, _ = records(path, BadRows(skip=True))
    if is_of_contrasts(columns):
        return "contrast"
    return "retrieval" if is_of_queries(columns) else ""


def _repeats_told(path: Path, rows: Iterator[Row]) -> Iterator[Row]:
    """The rows as they are, and at the end how many of them stood there before."""
    known: set[tuple[str, str]] = set()
    count = 0
    for row in rows:
        count += 1
        known.add((row.first, row.second))
        yield row
    if again := count - len(known):
        log.warning("%s: %d of %d rows repeat an earlier pair word for word, and each counts", path.name, again, count)


def _scores_told(path: Path, rows: Iterator[Row]) -> Iterator[Row]:
    """The rows as they are, and at the end the range of their scores."""
    low, high, count = math.inf, -math.inf, 0
    for row in rows:
        if row.score is not None:
            low, high, count = min(low, row.score), max(high, row.score), count + 1
        yield row
    if count:
        said = "%s: %d pairs have a score, from %g to %g: `sts` ranks pairs by it, higher means more similar"
        log.warning(said, path.name, count, low, high)


def columns_of(path: Path | str, columns: list[str], needed: Sequence[str] = ()) -> dict[str, str | None]:
    """The column of each role, None if there is none; DataError if one is missing that is needed.

    Without `needed` these are both texts, and a label or a score.
    """
    chosen = {role: _column(path, role, columns) for role in NAMES}
    needed = needed or (NEEDED if chosen["label"] or chosen["score"] else (*NEEDED, "label"))
    if missing := next((role for role in needed if not chosen[role]), None):
        others = f"understood as {missing!r}: {', '.join(NAMES[missing])}"
        or_score = " and no 'score'" if missing == "label" else ""
        raise DataError(
            f"{path}:1: no column {missing!r}{or_score} (columns: {', '.join(columns) or 'none'}; {others})"
            f"{_hint(columns)}"
        )
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


def _made(path: Path, rows: Named, chosen: Mapping[str, str | None], bad: BadRows) -> Iterator[Row]:
    for line, row in rows:
        try:
            yield row_of({role: row.get(column) if column else None for role, column in chosen.items()}, chosen)
        except ValueError as error:
            bad(path, line, str(error))


def row_of(fields: Mapping[str, Any], chosen: Mapping[str, str | None]) -> Row:
    """A row of what stands in the column of each role; ValueError if it is wrong.

    A score may be missing where there are labels.
    """
    first, second = (checked_text(side, fields[side]) for side in NEEDED)
    label = label_of(fields["label"]) if chosen["label"] else None
    has_score = bool(chosen["score"]) and not (chosen["label"] and _is_missing(fields["score"]))
    cluster = None if _is_missing(fields["cluster"]) else str(fields["cluster"])
    return Row(first, second, label, "", cluster, _score(fields["score"]) if has_score else None)


def _score(value: object) -> float:
    """A graded similarity; ValueError if it is no number.

    >>> _score("3.8"), _score(-1)
    (3.8, -1.0)
    """
    try:
        score = math.nan if isinstance(value, bool) else float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        score = math.nan
    if not math.isfinite(score):
        raise ValueError(f"the score is {value!r:.60}, but should be a number: higher means more similar")
    return score


def _is_missing(value: object) -> bool:
    """Whether a field is blank, NaN or an empty list, as tables are saved."""
    return value is None or value != value or value in ([], {}) or not str(value).strip()


def _jsonl(path: Path, bad: BadRows) -> tuple[list[str], Named]:
    rows = list(json_rows(path, bad))
    return sorted({key for _, row in rows for key in row}), iter(rows)


FORMATS: dict[str, Format] = {
    ".csv": delimited(","),
    ".tsv": delimited("\t"),
    ".jsonl": _jsonl,
    ".parquet": parquet,
}
