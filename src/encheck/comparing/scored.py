"""Score a prediction file: the figures of Tables 6 to 8 of Peinelt et al. 2019, beside constant and random ones."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import comb
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from encheck.comparing.predictions import Predictions, aligned
from encheck.datasets.dataset import Dataset
from encheck.errors import DataError
from encheck.metrics.nonobvious import LINES, RULES, Cases, at_threshold, auc_n, mean_average_precision, queries
from encheck.metrics.thresholds import by_folds
from encheck.reporting.failures import rounded
from encheck.reporting.results import write_named
from encheck.reporting.text import table
from encheck.scoring.pairs import CELLS, Scope, SentencePair, difficulty
from encheck.scoring.scores import PairScores, Scale
from encheck.statistics.bootstrap import Resampler
from encheck.types import Estimate


@dataclass(frozen=True)
class Scored:
    """The figures of a prediction file; `baselines` maps a figure to what constant and random predictions get."""

    cases: Cases
    figures: tuple[Estimate, ...]
    baselines: Mapping[str, Mapping[str, float]]
    excluded: int


def score(
    predictions: Predictions,
    dataset: Dataset,
    *,
    threshold: float | None = None,
    split: str | None = None,
    scope: Scope = "split",
    seed: int = 0,
) -> Scored:
    """Figures of the predictions on the data's labelled pairs.

    `threshold` turns the file's scores into predictions, in place of those it has. Where it has none and no threshold
    is given, one is chosen as the checks do: the best F1 on the other folds of ten that keep clusters whole.
    """
    at, rows = aligned(predictions, dataset.pairs, split=split)
    labelled = np.array([dataset.pairs[i].label is not None for i in at], bool)
    excluded, at, rows = int((~labelled).sum()), at[labelled], rows[labelled]
    if not len(at):
        raise DataError(f"{dataset.name} has no label for any of the pairs in {predictions.path}: nothing to score")
    cases = _cases(predictions, [dataset.pairs[i] for i in at], rows, threshold=threshold, scope=scope, seed=seed)
    figures = tuple(_figures(cases, ranked=predictions.scores is not None))
    return Scored(cases, figures, {e.metric: _baselines(cases, e.metric) for e in figures}, excluded)


def _cases(
    predictions: Predictions,
    pairs: Sequence[SentencePair],
    rows: NDArray[np.intp],
    *,
    threshold: float | None,
    scope: Scope,
    seed: int,
) -> Cases:
    clusters = [p.cluster for p in pairs]
    labels = np.array([p.label for p in pairs], np.int8)
    given = predictions.scores if predictions.scores is not None else predictions.predicted
    assert given is not None
    scores = PairScores(given[rows], labels, Resampler(clusters, seed=seed), Scale(0.0), items=tuple(pairs))
    predicted, params = _predicted(predictions, rows, scores, threshold)
    return Cases(scores, difficulty(pairs, scope=scope), predicted, {"median_scope": str(scope), **params})


def _predicted(
    predictions: Predictions, rows: NDArray[np.intp], scores: PairScores, threshold: float | None
) -> tuple[NDArray[np.float64], dict[str, float | str]]:
    if threshold is not None:
        if predictions.scores is None:
            raise DataError(f"{predictions.path} has no column score, so --threshold {threshold:g} has nothing to cut")
        return (scores.values >= threshold).astype(float), {"threshold": threshold}
    if predictions.predicted is not None:
        return predictions.predicted[rows], {}
    chosen = by_folds(scores.values, scores.labels, [item.cluster for item in scores.items])
    if not chosen.is_complete:
        raise DataError(
            f"{predictions.path} has scores, and no threshold can be chosen for them: the pairs outside a fold of "
            "whole clusters do not have both labels. Remedy: give --threshold, or pairs of more clusters"
        )
    return chosen.predicted, chosen.params


def _figures(cases: Cases, *, ranked: bool) -> Iterator[Estimate]:
    there = {i for i, name in enumerate(CELLS) if cases.difficulty.counts[name]}
    yield from (
        at_threshold(cases, name=name) for name, (cells, _) in RULES.items() if name == "f1" or there >= {*cells}
    )
    if ranked and {1, 3} <= there:
        yield auc_n(cases)
    if ranked and queries(cases.scores):
        yield mean_average_precision(cases)


def _baselines(cases: Cases, metric: str) -> dict[str, float]:
    """What always 1, always 0 and a coin get; of figures of a ranking, what a random order gets."""
    if metric == "auc_n":
        return {"random": 0.5}
    if metric == "map":
        return {"random": _random_map(cases)}
    count = len(cases.predicted)
    return {
        name: at_threshold(replace(cases, predicted=np.full(count, chance)), name=metric).value
        for name, chance in LINES.items()
    }


def _random_map(cases: Cases) -> float:
    labels = [cases.scores.labels[at] for at in queries(cases.scores)]
    return float(np.mean([random_average_precision(len(of), int(of.sum())) for of in labels]))


def random_average_precision(candidates: int, relevant: int, *, depth: int = 10) -> float:
    """The expectation of `average_precision` where the order is random: over how many of the `depth` best are relevant.

    >>> random_average_precision(2, 1)
    0.75
    """
    k = min(candidates, depth)
    found = 0.0
    for hits in range(1, min(k, relevant) + 1):
        chance = comb(relevant, hits) * comb(candidates - relevant, k - hits) / comb(candidates, k)
        others = (hits - 1) / max(k - 1, 1)  # of the places before a hit, this share is hits
        found += chance * sum((1 + (place - 1) * others) / place for place in range(1, k + 1)) / k
    return found


def lines(scored: Scored) -> Iterator[str]:
    """The table, line by line."""
    cells = ", ".join(f"{name} {count}" for name, count in scored.cases.difficulty.counts.items())
    yield f"{len(scored.cases.predicted)} pairs ({cells}), {scored.cases.predicted.mean():.1%} predicted positive"
    if scored.excluded:
        yield f"{scored.excluded} pairs without a label excluded"
    if "threshold" in scored.cases.params:
        folds = scored.cases.params.get("folds")
        yield f"threshold {scored.cases.params['threshold']:.4g}" + (f" (mean of {folds} folds)" if folds else "")
    yield from table(
        [("figure", "value [95% CI]", "n", "clusters", *(name.replace("_", " ") for name in LINES)), *_rows(scored)]
    )


def _rows(scored: Scored) -> Iterator[tuple[str, ...]]:
    for e in scored.figures:
        _, low, high = rounded(e.value, e.low, e.high)
        beside = (scored.baselines[e.metric].get(name) for name in LINES)
        constant = ("-" if x is None or np.isnan(x) else f"{x + 0.0:.3f}" for x in beside)
        yield (e.metric, f"{e.value + 0.0:.4f} [{low}, {high}]", str(e.n), str(e.clusters), *constant)


def write(path: Path, scored: Scored, *, data: Dataset, predictions: Predictions) -> None:
    """Write `as_dict` to a JSON file; UsageError if the disk does not take it."""
    whole = {
        "data": data.name,
        "fingerprint": data.fingerprint,
        "predictions": str(predictions.path),
        **as_dict(scored),
    }
    write_named(path, json.dumps(whole, indent=1, ensure_ascii=False, allow_nan=False) + "\n")


def as_dict(scored: Scored) -> dict[str, Any]:
    """The same for a JSON file, with the cells' sizes and the medians; figures that are no number are None."""
    found = scored.cases.difficulty
    return {
        "pairs": len(scored.cases.predicted),
        "excluded": scored.excluded,
        "params": dict(scored.cases.params),
        "cells": found.counts,
        "medians": found.medians,
        "predicted_positive": float(scored.cases.predicted.mean()),
        "figures": {e.metric: _figure(e, scored.baselines[e.metric]) for e in scored.figures},
    }


def _figure(e: Estimate, baselines: Mapping[str, float]) -> dict[str, Any]:
    numbers = {"value": _number(e.value), "low": _number(e.low), "high": _number(e.high)}
    return {**numbers, "n": e.n, "clusters": e.clusters, "baselines": {k: _number(x) for k, x in baselines.items()}}


def _number(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
