"""Compute each figure's mean and standard error over checkpoints that appear to differ only in their seed.

Papers report fine-tuning this way (RISE; "Predicate-Argument Based Bi-Encoder ..."), because no interval of a single
checkpoint can show the spread over seeds.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from encheck.errors import BaselineError, UsageError
from encheck.gating.comparison import run_scores
from encheck.gating.pairing import ModelScores
from encheck.gating.replicates import WHAT_IT_IS, check_replicates, compare_checkpoints, seed_noise_from_rows
from encheck.gating.types import DEFAULT, Noise
from encheck.reporting.results import read_items, read_results
from encheck.reporting.text import table
from encheck.reporting.view import claim_sentence
from encheck.run_file import RunFile

ITS_OWN = ("vectors",)  # fields of a model's entry that differ between seeds or data


@dataclass(frozen=True)
class SeedSpread:
    """A figure over `k` checkpoints: its mean, standard error (sample deviation / root k), minimum and maximum."""

    check: str
    level: str
    data: str
    metric: str
    k: int
    mean: float
    error: float
    least: float
    greatest: float


@dataclass(frozen=True)
class SeedComparison:
    """The spread of each figure, and the seed noise of gate rows. `noise` is None if no gate row can be computed."""

    spreads: tuple[SeedSpread, ...]
    noise: Noise | None = None


def compare_seeds(folders: Sequence[Path], *, everything: bool = False) -> SeedComparison:
    """Compute the spread over all models of the runs, for every figure that decides or, with `everything`, for every
    figure.

    Raise UsageError for fewer than two models, a repeated model, or different data under one name. Also raise it for
    models that are not seeds of one training: they differ in kind, architecture or use, have the same weights, or their
    gate rows drift in one direction.
    """
    values: dict[tuple[str, str, str, str], dict[str, tuple[float, str]]] = {}
    runs = [(folder, read_results(folder)) for folder in folders]
    known: dict[str, tuple[str, Path]] = {}
    for folder, results in runs:
        for data in results.data:
            fingerprint, earlier = known.setdefault(data.name, (data.fingerprint, folder))
            if data.fingerprint != fingerprint:
                raise UsageError(
                    f"{data.name} is one data set in {earlier} and another in {folder} (fingerprints {fingerprint} "
                    f"and {data.fingerprint}): give runs on the same file, sample and seed"
                )
    for folder, results in runs:
        models = {m.label: m.fingerprint for m in results.models if not m.error}
        for row in results.checks:
            decides = everything or row.aim is not None
            if decides and row.value is not None and row.model in models:
                key = row.check, row.level, row.data, row.figure
                of_key, fingerprint = values.setdefault(key, {}), models[row.model]
                if fingerprint in of_key:
                    raise UsageError(
                        f"{row.model} of {folder} is {of_key[fingerprint][1]} again (same fingerprint): each "
                        "checkpoint counts once"
                    )
                of_key[fingerprint] = row.value, f"{row.model} of {folder}"
    checkpoints = _merge_runs_by_checkpoint(runs)
    if len(checkpoints) < 2:
        raise UsageError(f"{', '.join(map(str, folders))}: {len(checkpoints)} model; give the runs of several seeds")
    first, *others = checkpoints
    for count, other in enumerate(others, 1):
        _refuse_another_training(other, checkpoints[:count])
    try:
        sides = check_replicates(first.side, {one.place: one.side for one in others}, of=first.place, option="")
    except BaselineError as error:
        raise UsageError(f"these are not seeds of one model. {error}") from error
    pairs = [compare_checkpoints(*both, rule=DEFAULT) for both in combinations([first.side, *sides.values()], 2)]
    spreads = []
    for key, of_key in values.items():
        some = [value for value, _ in of_key.values()]
        if len(some) > 1:
            of_mean = statistics.stdev(some) / len(some) ** 0.5
            spreads.append(SeedSpread(*key, len(some), statistics.mean(some), of_mean, min(some), max(some)))
    return SeedComparison(tuple(spreads), seed_noise_from_rows(pairs, replicates=len(others)))


@dataclass(frozen=True)
class _Checkpoint:
    """A checkpoint, measured in one or more runs. `design` has the fields that all seeds of one training share."""

    place: str
    weights: str | None
    design: Mapping[str, object]
    side: ModelScores


def _merge_runs_by_checkpoint(runs: Sequence[tuple[Path, RunFile]]) -> list[_Checkpoint]:
    """Return each model of the runs once. Raise UsageError for a run without items."""
    found: dict[str, _Checkpoint] = {}
    for folder, results in runs:
        items = read_items(folder)
        if not items:
            raise UsageError(
                f"{folder} has no items.parquet, which shows item by item whether models differ only in the seed. "
                "Run again"
            )
        for model in results.models:
            if not model.error:
                side = run_scores(results, items, model.label)
                known = found.get(model.fingerprint)
                if known:
                    side = ModelScores({**known.side.tables, **side.tables}, {**known.side.scales, **side.scales})
                place = known.place if known else f"{model.label} of {folder}"
                design: dict[str, object] = {  # shared by all seeds of one training, as far as results show it
                    "vectors or scores of pairs": model.kind, "adapter": model.adapter, "dimension": model.dimension,
                    "architecture": model.architecture, "prompt": model.prompt,
                    **{name: value for name, value in model.how.items() if name not in ITS_OWN},
                }  # fmt: skip
                found[model.fingerprint] = _Checkpoint(place, model.weights, design, side)
    return list(found.values())


def _refuse_another_training(one: _Checkpoint, known: Sequence[_Checkpoint]) -> None:
    """Raise UsageError if `one` cannot be another seed of the same training as `known`."""
    first = known[0]
    for name in sorted({*first.design, *one.design}):
        mine, theirs = one.design.get(name), first.design.get(name)
        if mine != theirs:
            shown = "" if name == "architecture" else f" ({theirs!r:.60} and {mine!r:.60})"
            what = "architecture or vocabulary" if name == "architecture" else name
            raise UsageError(
                f"{one.place} is not {first.place} with another seed: they differ in {what}{shown}. {WHAT_IT_IS}. "
                "Remedy: encheck compare without --across-seeds"
            )
    same = next((other for other in known if one.weights and other.weights == one.weights), None)
    if same:
        raise UsageError(f"{one.place} has the weights of {same.place}: it is that checkpoint again. {WHAT_IT_IS}")


def seed_lines(comparison: SeedComparison) -> Iterator[str]:
    """Yield the lines of the table, and a warning if the models differ more than seeds should."""
    head = ("check", "level", "data", "figure", "mean \u00b1 SE", "least", "greatest", "checkpoints")
    rows = [
        (claim_sentence(s.check), s.level, s.data, s.metric.replace("_", " "), f"{s.mean:.4f} \u00b1 {s.error:.4f}",
         f"{s.least:.4f}", f"{s.greatest:.4f}", str(s.k))
        for s in comparison.spreads
    ]  # fmt: skip
    yield from table([head, *rows])
    if comparison.noise and comparison.noise.pooled > DEFAULT.max_seed_noise:
        points, most = (100 * DEFAULT.rate_delta * one for one in (comparison.noise.pooled, DEFAULT.max_seed_noise))
        yield (
            f"These models differ by a standard deviation of {points:.1f} points beyond what the items explain, and a "
            f"gate allows {most:.1f} for seeds. Are they checkpoints of one training that differ only in the seed?"
        )
