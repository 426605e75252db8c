"""Score another system's prediction file: the figures of Tables 6 to 8 of Peinelt et al. 2019.

The file is a table or a ranking run. A table has a header (CSV, TSV, JSON Lines, JSON or Parquet), one row per pair in
the order of the data, and a column `prediction` (1 or 0), `score`, or both. A ranking run has no header, its fields are
divided by tabs or blanks, and its ids match it to the data. SemEval's task 3 has question id, candidate id, rank,
score, true or false. TREC has query id, Q0, document id, rank, score, name of the run. Ranks are ignored.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import comb
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from encheck.datasets.dataset import Dataset
from encheck.datasets.reader import BadRows, binary_label_or_none, file_ending, read_lines, read_table
from encheck.errors import DataError, UsageError, no_pair_message
from encheck.metrics.nonobvious import (
    CONSTANT_PREDICTIONS,
    RULES,
    PredictedPairs,
    auc_n,
    group_by_question,
    mean_average_precision,
    threshold_figure,
)
from encheck.metrics.thresholds import predict_by_cluster_folds
from encheck.reporting.failures import rounded_figure
from encheck.reporting.results import write_named
from encheck.reporting.text import table
from encheck.scoring.pairs import CELLS, Scope, SentencePair, classify_difficulty
from encheck.scoring.scores import PairScores, Scale
from encheck.statistics.bootstrap import Resampler
from encheck.types import Estimate

Floats = NDArray[np.float64]
LAYOUTS = (
    "a .csv, .tsv, .jsonl, .json or .parquet file with a column prediction (1 or 0), score, or both; or lines of "
    "question id, candidate id, rank, score, true/false; or TREC's lines of query id, Q0, document id, rank, score, run"
)
STRICT = BadRows(remedy="Fix the row: every pair needs its prediction")


@dataclass(frozen=True)
class Predictions:
    """A system's predictions, one per row, shape [n]. None for a column that the file lacks.

    `keys` are "question id/candidate id"; empty if the order of the rows matches them to the data.
    """

    path: Path
    predicted: Floats | None
    scores: Floats | None
    keys: tuple[str, ...] = ()


def read_predictions(path: Path) -> Predictions:
    """Return the predictions in a file. DataError names the file and line of an error."""
    if file_ending(path) not in (".json", ".parquet") and path.suffix.lower() != ".gz":
        lines = [(number, line) for number, line in enumerate(read_lines(path), 1) if line.strip()]
        if not lines:
            raise DataError(f"{path} has no predictions; expected {LAYOUTS}")
        fields = lines[0][1].split()
        if len(fields) == 5 and binary_label_or_none(fields[4]) is not None:
            return _read_ranked_run(path, lines)
        if len(fields) == 6 and fields[1].upper() in ("Q0", "0"):
            return _read_ranked_run(path, lines, of_trec=True)
    columns, named = read_table(path, STRICT)
    rows = list(named)
    names = set(columns)
    if not names & {"prediction", "score"}:
        raise DataError(
            f"{path}:1: no column prediction or score (columns: {', '.join(sorted(names))}); expected {LAYOUTS}"
        )
    predicted, scores = (
        np.array([_checked_number(path, number, convert, row.get(name)) for number, row in rows], float)
        if name in names else None
        for name, convert in (("prediction", _checked_label), ("score", _checked_score))
    )  # fmt: skip
    return Predictions(path, predicted, scores)


def _read_ranked_run(path: Path, lines: Iterable[tuple[int, str]], *, of_trec: bool = False) -> Predictions:
    keys, scores, predicted = [], [], []
    count, candidate, score = (6, 2, 4) if of_trec else (5, 1, 3)
    for number, line in lines:
        fields = line.split()
        if len(fields) != count:
            layout = LAYOUTS.split("lines of ")[2 if of_trec else 1].partition(";")[0]
            raise DataError(f"{path}:{number}: {len(fields)} fields, but should be {count}: {layout}")
        keys.append(f"{fields[0]}/{fields[candidate]}")
        scores.append(_checked_number(path, number, _checked_score, fields[score]))
        predicted += [] if of_trec else [_checked_number(path, number, _checked_label, fields[4])]
    twice = [key for key, count in Counter(keys).items() if count > 1]
    if twice:
        raise DataError(f"{path} has {len(twice)} candidates more than once; the first is {twice[0]}")
    return Predictions(path, None if of_trec else np.array(predicted, float), np.array(scores, float), tuple(keys))


def _checked_number(path: Path, number: int, convert: Callable[[object], float], value: object) -> float:
    try:
        return float(convert(value))
    except ValueError as error:
        raise DataError(f"{path}:{number}: {error}") from error


def _checked_label(value: object) -> int:
    label = binary_label_or_none(value)
    if label is None:
        raise ValueError(f"the prediction is {value!r:.60}, but should be 1 or 0 (true or false)")
    return label


def _checked_score(value: object) -> float:
    try:
        score = float(str(value))
    except ValueError:
        score = math.nan
    if not math.isfinite(score) or isinstance(value, bool):
        raise ValueError(f"the score is {value!r:.60}, but should be a finite number")
    return score


def align_predictions(
    predictions: Predictions, pairs: Sequence[SentencePair], *, split: str | None = None
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the indices of the predicted pairs and the indices of their predictions, in the order of the pairs.

    With ids, every split that the ids mention must be complete. Without, the file must cover all pairs or those of
    `split`. DataError says how many predictions are missing or superfluous.
    """
    chosen = np.array([i for i, p in enumerate(pairs) if split is None or p.split == split], np.intp)
    if not len(chosen):
        raise UsageError(no_pair_message(split, {p.split for p in pairs}))
    if predictions.keys:
        row_of = {key: row for row, key in enumerate(predictions.keys)}
        named = {pairs[i].split for i in chosen if pairs[i].key in row_of}
        chosen = np.array([i for i in chosen if pairs[i].split in named], np.intp)
        keys = [pairs[i].key for i in chosen]
        missing, extra = [k for k in keys if k not in row_of], sorted(row_of.keys() - set(keys))
        if missing or extra or len(set(keys)) < len(keys):
            example = f"; the first is {(missing or extra)[0]}" if missing or extra else ""
            raise DataError(
                f"{predictions.path}: {len(extra)} of {len(row_of)} predictions match no pair of the data, and "
                f"{len(missing)} of {len(keys)} pairs have none{example}. A run has each candidate of its subtask once"
            )
        return chosen, np.array([row_of[key] for key in keys], np.intp)
    column = predictions.predicted if predictions.predicted is not None else predictions.scores
    rows = 0 if column is None else len(column)
    if rows != len(chosen):
        sizes = ", ".join(f"{name or 'no split'}: {n}" for name, n in sorted(Counter(p.split for p in pairs).items()))
        raise DataError(
            f"{predictions.path} has {rows} predictions, but the data have {len(chosen)} pairs ({sizes}). "
            "If the predictions are for one split, give --split NAME"
        )
    return chosen, np.arange(rows)


@dataclass(frozen=True)
class ScoredPredictions:
    """The figures of a prediction file. `baselines` maps a figure to its values for constant and random predictions."""

    cases: PredictedPairs
    figures: tuple[Estimate, ...]
    baselines: Mapping[str, Mapping[str, float]]
    excluded: int


def score_predictions(
    predictions: Predictions,
    dataset: Dataset,
    *,
    threshold: float | None = None,
    split: str | None = None,
    scope: Scope = "split",
    seed: int = 0,
) -> ScoredPredictions:
    """Compute the figures of the predictions on the data's labelled pairs.

    `threshold` turns scores into predictions and replaces the file's own predictions. If the file has none and no
    threshold is given, each fold is classified with the threshold of best F1 on the other nine; folds keep clusters
    whole, as in the checks.
    """
    at, rows = align_predictions(predictions, dataset.pairs, split=split)
    labelled = np.array([dataset.pairs[i].label is not None for i in at], bool)
    excluded, at, rows = int((~labelled).sum()), at[labelled], rows[labelled]
    if not len(at):
        raise DataError(f"{dataset.name} has no label for any of the pairs in {predictions.path}: nothing to score")
    pairs = [dataset.pairs[i] for i in at]
    given = predictions.scores if predictions.scores is not None else predictions.predicted
    assert given is not None
    resampler = Resampler([p.cluster for p in pairs], seed=seed, shares=[p.shares for p in pairs])
    scores = PairScores(
        given[rows], np.array([p.label for p in pairs], np.int8), resampler, Scale(0.0), items=tuple(pairs)
    )
    predicted, params = _predicted_labels(predictions, rows, scores, threshold)
    cases = PredictedPairs(
        scores, classify_difficulty(pairs, scope=scope), predicted, {"median_scope": str(scope), **params}
    )
    figures = tuple(_prediction_figures(cases, ranked=predictions.scores is not None))
    return ScoredPredictions(cases, figures, {e.metric: _baseline_figures(cases, e.metric) for e in figures}, excluded)


def _predicted_labels(
    predictions: Predictions, rows: NDArray[np.intp], scores: PairScores, threshold: float | None
) -> tuple[NDArray[np.float64], dict[str, float | str]]:
    if threshold is not None:
        if predictions.scores is None:
            raise DataError(f"{predictions.path} has no column score, so --threshold {threshold:g} does not apply")
        return (scores.values >= threshold).astype(float), {"threshold": threshold}
    if predictions.predicted is not None:
        return predictions.predicted[rows], {}
    chosen = predict_by_cluster_folds(scores.values, scores.labels, [item.cluster for item in scores.items])
    if not chosen.has_all_predictions:
        raise DataError(
            f"no threshold can be chosen for the scores in {predictions.path}: without one of the folds of clusters, "
            "the other pairs have only one label. Remedy: give --threshold, or pairs of more clusters"
        )
    return chosen.predicted, chosen.estimate_params


def _prediction_figures(cases: PredictedPairs, *, ranked: bool) -> Iterator[Estimate]:
    there = {i for i, name in enumerate(CELLS) if cases.difficulty.counts[name]}
    yield from (
        threshold_figure(cases, name=name) for name, (cells, _) in RULES.items() if name == "f1" or there >= {*cells}
    )
    if ranked and {1, 3} <= there:
        yield auc_n(cases)
    if ranked and group_by_question(cases.scores):
        yield mean_average_precision(cases)


def _baseline_figures(cases: PredictedPairs, metric: str) -> dict[str, float]:
    """Return the figures of always predicting 1, always 0, and tossing a coin; for rankings, of a random order."""
    if metric == "auc_n":
        return {"random": 0.5}
    if metric == "map":
        labels = [cases.scores.labels[at] for at in group_by_question(cases.scores)]
        return {"random": float(np.mean([random_average_precision(len(of), int(of.sum())) for of in labels]))}
    count = len(cases.predicted)
    return {
        name: threshold_figure(replace(cases, predicted=np.full(count, chance)), name=metric).value
        for name, chance in CONSTANT_PREDICTIONS.items()
    }


def random_average_precision(candidates: int, relevant: int, *, depth: int = 10) -> float:
    """Return the expected `semeval_average_precision` of a random order, for a ranking cut at `depth`.

    >>> random_average_precision(2, 1)
    0.75
    """
    k = min(candidates, depth)
    found = 0.0
    for hits in range(1, min(k, relevant) + 1):
        chance = comb(relevant, hits) * comb(candidates - relevant, k - hits) / comb(candidates, k)
        others = (hits - 1) / max(k - 1, 1)  # share of hits among the places before a hit
        found += chance * sum((1 + (place - 1) * others) / place for place in range(1, k + 1)) / k
    return found


def prediction_lines(scored: ScoredPredictions) -> Iterator[str]:
    """Yield the lines of the table."""
    cells = ", ".join(f"{name} {count}" for name, count in scored.cases.difficulty.counts.items())
    yield f"{len(scored.cases.predicted)} pairs ({cells}), {scored.cases.predicted.mean():.1%} predicted positive"
    if scored.excluded:
        yield f"{scored.excluded} pairs without a label excluded"
    if "threshold" in scored.cases.params:
        folds = scored.cases.params.get("folds")
        yield f"threshold {scored.cases.params['threshold']:.4g}" + (f" (mean of {folds} folds)" if folds else "")
    rows = [("figure", "value [95% CI]", "n", "clusters", *(name.replace("_", " ") for name in CONSTANT_PREDICTIONS))]
    for e in scored.figures:
        _, low, high = rounded_figure(e.value, e.low, e.high)
        beside = (scored.baselines[e.metric].get(name) for name in CONSTANT_PREDICTIONS)
        constant = ("-" if x is None or np.isnan(x) else f"{x + 0.0:.3f}" for x in beside)
        rows.append((e.metric, f"{e.value + 0.0:.4f} [{low}, {high}]", str(e.n), str(e.clusters), *constant))
    yield from table(rows)


def write_scored_predictions(path: Path, scored: ScoredPredictions, *, data: Dataset, predictions: Predictions) -> None:
    """Write the figures as JSON, with the counts behind them and the medians. Missing figures are null.

    Raise UsageError if writing fails.
    """
    difficulty = scored.cases.difficulty
    figures = {}
    for e in scored.figures:
        numbers = {"value": e.value, "low": e.low, "high": e.high}
        baselines = {name: _finite(x) for name, x in scored.baselines[e.metric].items()}
        figures[e.metric] = {
            **{name: _finite(x) for name, x in numbers.items()}, "n": e.n, "clusters": e.clusters,
            "baselines": baselines,
        }  # fmt: skip
    whole = {
        "data": data.name,
        "fingerprint": data.fingerprint,
        "predictions": str(predictions.path),
        "pairs": len(scored.cases.predicted),
        "excluded": scored.excluded,
        "params": dict(scored.cases.params),
        "cells": difficulty.counts,
        "medians": difficulty.medians,
        "predicted_positive": float(scored.cases.predicted.mean()),
        "figures": figures,
    }
    write_named(path, json.dumps(whole, indent=1, ensure_ascii=False, allow_nan=False) + "\n")


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
