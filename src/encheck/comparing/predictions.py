"""Read prediction files of other systems and match them to the pairs of the data.

A table with a header (CSV, TSV, JSON Lines, JSON or Parquet) has a column `prediction` (1 or 0), `score`, or both, one
row a pair in the order of the data. A run has no header, fields divided by tabs or blanks, and is matched by its ids:
SemEval's task 3 has question id, candidate id, rank (not used), score, true or false; TREC has query id, Q0, document
id, rank (not used), score, name of the run.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from encheck.datasets.reader import BadRows, binary_label, file_ending, lines_of, table_rows
from encheck.errors import DataError, UsageError, no_pair
from encheck.scoring.pairs import SentencePair

Floats = NDArray[np.float64]
LAYOUTS = (
    "a .csv, .tsv, .jsonl, .json or .parquet file with a column prediction (1 or 0), score, or both; or lines of "
    "question id, candidate id, rank, score, true/false; or TREC's lines of query id, Q0, document id, rank, score, run"
)
STRICT = BadRows(remedy="Fix the row: every pair needs its prediction")


@dataclass(frozen=True)
class Predictions:
    """What a system said, row by row: shape [n]; what the file does not have is None.

    `keys` are "question id/candidate id", or empty if rows go by their order alone.
    """

    path: Path
    predicted: Floats | None
    scores: Floats | None
    keys: tuple[str, ...] = ()


def read_predictions(path: Path) -> Predictions:
    """The predictions in a file; DataError names file and line of whatever is wrong."""
    if file_ending(path) not in (".json", ".parquet") and path.suffix.lower() != ".gz":
        lines = [(number, line) for number, line in enumerate(lines_of(path), 1) if line.strip()]
        if not lines:
            raise DataError(f"{path} has no predictions; expected {LAYOUTS}")
        fields = lines[0][1].split()
        if len(fields) == 5 and binary_label(fields[4]) is not None:
            return _run(path, lines)
        if len(fields) == 6 and fields[1].upper() in ("Q0", "0"):
            return _run(path, lines, of_trec=True)
    columns, named = table_rows(path, STRICT)
    rows = list(named)
    names = set(columns)
    if not names & {"prediction", "score"}:
        raise DataError(
            f"{path}:1: no column prediction or score (columns: {', '.join(sorted(names))}); expected {LAYOUTS}"
        )
    for name in ("prediction", "score"):
        if columns.count(name) > 1:
            raise DataError(f"{path}:1: two columns are called {name!r}: rename one of them")
    return Predictions(path, _column(path, rows, "prediction", names), _column(path, rows, "score", names))


def _column(path: Path, rows: Sequence[tuple[int, Mapping[str, Any]]], name: str, names: set[str]) -> Floats | None:
    if name not in names:
        return None
    convert = _label if name == "prediction" else _score
    return np.array([_number(path, number, convert, row.get(name)) for number, row in rows], float)


def _run(path: Path, lines: Iterable[tuple[int, str]], *, of_trec: bool = False) -> Predictions:
    keys, scores, predicted = [], [], []
    count, candidate, score = (6, 2, 4) if of_trec else (5, 1, 3)
    for number, line in lines:
        fields = line.split()
        if len(fields) != count:
            layout = LAYOUTS.split("lines of ")[2 if of_trec else 1].partition(";")[0]
            raise DataError(f"{path}:{number}: {len(fields)} fields, but should be {count}: {layout}")
        keys.append(f"{fields[0]}/{fields[candidate]}")
        scores.append(_number(path, number, _score, fields[score]))
        predicted += [] if of_trec else [_number(path, number, _label, fields[4])]
    twice = [key for key, count in Counter(keys).items() if count > 1]
    if twice:
        raise DataError(f"{path} has {len(twice)} candidates more than once; the first is {twice[0]}")
    return Predictions(path, None if of_trec else np.array(predicted, float), np.array(scores, float), tuple(keys))


def _number(path: Path, number: int, convert: Any, value: object) -> float:
    try:
        return float(convert(value))
    except ValueError as error:
        raise DataError(f"{path}:{number}: {error}") from error


def _label(value: object) -> int:
    label = binary_label(value)
    if label is None:
        raise ValueError(f"the prediction is {value!r:.60}, but should be 1 or 0 (true or false)")
    return label


def _score(value: object) -> float:
    try:
        score = float(str(value))
    except ValueError:
        score = math.nan
    if not math.isfinite(score) or isinstance(value, bool):
        raise ValueError(f"the score is {value!r:.60}, but should be a finite number")
    return score


def aligned(
    predictions: Predictions, pairs: Sequence[SentencePair], *, split: str | None = None
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """(positions of the pairs that were predicted, positions of their predictions), in the order of the pairs.

    By ids, the splits that the ids name have to be there in full; by order, all pairs or those of `split`. DataError
    says how many are missing or too many.
    """
    chosen = np.array([i for i, p in enumerate(pairs) if split is None or p.split == split], np.intp)
    if not len(chosen):
        raise UsageError(no_pair(split, {p.split for p in pairs}))
    if predictions.keys:
        return _by_ids(predictions, pairs, chosen)
    rows = _rows(predictions)
    if rows != len(chosen):
        sizes = ", ".join(f"{name or 'no split'}: {n}" for name, n in sorted(Counter(p.split for p in pairs).items()))
        raise DataError(
            f"{predictions.path} has {rows} predictions, but the data have {len(chosen)} pairs ({sizes}). "
            "Predictions of one split are scored with --split NAME"
        )
    return chosen, np.arange(rows)


def _rows(predictions: Predictions) -> int:
    column = predictions.predicted if predictions.predicted is not None else predictions.scores
    return 0 if column is None else len(column)


def _by_ids(
    predictions: Predictions, pairs: Sequence[SentencePair], chosen: NDArray[np.intp]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    row_of = {key: row for row, key in enumerate(predictions.keys)}
    named = {pairs[i].split for i in chosen if pairs[i].key in row_of}
    chosen = np.array([i for i in chosen if pairs[i].split in named], np.intp)
    keys = [pairs[i].key for i in chosen]
    missing, extra = [k for k in keys if k not in row_of], sorted(row_of.keys() - set(keys))
    if missing or extra or len(set(keys)) < len(keys):
        example = f"; the first is {(missing or extra)[0]}" if missing or extra else ""
        raise DataError(
            f"{predictions.path}: of {len(row_of)} predictions {len(extra)} are of no pair of the data, and of "
            f"{len(keys)} pairs {len(missing)} have none{example}. A run covers its subtask whole, each candidate once"
        )
    return chosen, np.array([row_of[key] for key in keys], np.intp)
