"""Seed replicates: checkpoints that differ from the baseline only in the training seed, and how much they vary.

`estimate_seed_noise` measures this variation. Seed noise can make a gate more lenient, so `check_replicates` verifies
that each replicate has the same texts, other weights, the same dimension, and changes that go up as often as down.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from encheck.errors import BaselineError
from encheck.gating.decision import has_headroom, pooled_error, row_delta, row_statistics
from encheck.gating.gate_rows import pool_rows
from encheck.gating.pairing import ModelScores, common_items, compare_cases, gating_metric
from encheck.gating.types import DEFAULT, FEWEST_REPLICATES, Noise, PairedRow, Rule
from encheck.scoring.scores import Scale
from encheck.statistics import hypothesis_tests as stats

COPY_TOLERANCE = (
    2e-3  # of MiniLM, 95% of scores move by up to 0.0002 in fp16 and 0.0018 in bf16; 1% of noise moves some by 0.01
)
DRIFT_LEVEL = 0.01  # of the tests of all replicates together
LEAST_ROWS = 2  # fewest gate rows that show a direction
WHAT_IT_IS = "A seed replicate is a separate checkpoint, trained like the baseline but with another seed"
TWIN = "--twin="


def estimate_seed_noise(
    sides: Sequence[ModelScores], *, rule: Rule = DEFAULT, primary: str | None = None
) -> Noise | None:
    """Return the noise between the baseline and its seed replicates, or None if no gate row can show it.

    Raise BaselineError for fewer than three replicates, the baseline not counted.
    """
    refuse_few_replicates(len(sides) - 1)
    pairs = [compare_checkpoints(before, after, rule=rule, primary=primary)
             for before, after in itertools.combinations(sides, 2)]  # fmt: skip
    return seed_noise_from_rows(pairs, replicates=len(sides) - 1, rule=rule)


def seed_noise_from_rows(
    pairs: Sequence[Sequence[PairedRow]], *, replicates: int, rule: Rule = DEFAULT
) -> Noise | None:
    """Return the noise from the gate rows of each pair of checkpoints, or None if there are no rows.

    The noise is the mean square of the change over all pairs, minus the sampling variance of the items. It is computed
    for each row, and pooled over all rows without their parts.
    """
    squares: dict[str, list[float]] = {}
    parts: set[str] = set()
    for paired in filter(None, pairs):
        parts |= {one.name for one in paired if one.part_of}
        f = row_statistics(paired, rule=rule)
        for one, square in zip(paired, (f.change**2 - f.error**2) / f.delta**2, strict=True):
            squares.setdefault(one.name, []).append(float(square))
    if not squares:
        return None
    own = {name: max(float(np.mean(some)), 0.0) ** 0.5 for name, some in sorted(squares.items())}
    whole = [s for name, some in squares.items() if name not in parts for s in some]
    common = max(float(np.mean(whole)), 0.0)
    return Noise(common**0.5, own, replicates)


def compare_checkpoints(
    before: ModelScores, after: ModelScores, *, rule: Rule, primary: str | None = None
) -> list[PairedRow]:
    """Return the gate rows of two checkpoints that have enough items to gate."""
    compared, _ = compare_cases(before.select_split(), after.select_split(), primary=primary)
    return [p for p in pool_rows(compared) if len(p.baseline) >= rule.required_sizes(p.budget)[0]]


def refuse_few_replicates(count: int) -> None:
    """Raise BaselineError for too few seed replicates, because one odd checkpoint would decide the noise."""
    if count < FEWEST_REPLICATES:
        raise BaselineError(
            f"--twin names {count} seed {'replicate' if count == 1 else 'replicates'}, but it takes at least "
            f"{FEWEST_REPLICATES}: with fewer, one odd checkpoint decides how much seed variance the gate allows"
        )


def check_replicates(
    baseline: ModelScores,
    replicates: Mapping[str, ModelScores],
    *,
    rule: Rule = DEFAULT,
    of: str = "the baseline",
    option: str = TWIN,
) -> dict[str, ModelScores]:
    """Return the replicates by label, with their items in the baseline's order.

    Raise BaselineError for a checkpoint that is not a seed replicate of the baseline. Such a checkpoint has other
    texts, or the weights of the baseline or of another replicate, or gate rows that drift in one direction, which seeds
    do not cause. Messages call the baseline `of`, and put `option` before a label.
    """
    known: dict[str, ModelScores] = {of: baseline}
    for label, side in replicates.items():
        tables = {}  # the cases that the baseline has too, items in its order
        for name, table in baseline.tables.items():
            if name in side.tables:
                first, tables[name] = common_items(table, side.tables[name])
                if not len(first.items) == len(table.items) == len(side.tables[name].items):
                    raise BaselineError(
                        f"{option}{label} was measured on other texts than {of}, in {name}: measure both on the same "
                        "data"
                    )
        found = replace(side, tables=tables)
        same = next((name for name, other in known.items() if are_scores_nearly_equal(other, found)), None)
        if same:
            raise BaselineError(
                f"{option}{label} gives the same scores as {same} up to rounding, so it is the same model. {WHAT_IT_IS}"
            )
        known[label] = found
    del known[of]
    _refuse_drift(baseline, {f"{option}{label}": side for label, side in known.items()}, rule, of)
    return known


def refuse_other_dimension(baseline: int | None, replicates: Mapping[str, int | None]) -> None:
    """Raise BaselineError if a replicate's vectors differ in dimension from the baseline's; None means unknown."""
    for label, dimension in replicates.items():
        if None not in (baseline, dimension) and dimension != baseline:
            raise BaselineError(
                f"--twin={label} gives vectors of {dimension} dimensions, but the baseline's have {baseline}. "
                f"{WHAT_IT_IS}"
            )


def are_scores_nearly_equal(one: ModelScores, other: ModelScores) -> bool:
    """Return whether two models' scores are nearly equal, as for the same weights in a different precision.

    A different seed changes scores more. Only 95% of the gating scores have to agree, in units of the score of
    identical texts, because single scores, such as a count or a search result, can jump.
    """
    moved: list[float] = []
    for name, table in one.tables.items():
        there = other.tables.get(name)
        if there and there.items == table.items and gating_metric(table)[0]:
            scale = one.scales.get(table.data, Scale(0.0, 1.0))
            unit = max(abs(scale.identity), abs(scale.reference)) or 1.0
            both = np.concatenate([np.abs(table.near - there.near), np.abs(table.far - there.far)]) / unit
            moved += both[~np.isnan(both)].tolist()
    return bool(moved) and float(np.quantile(moved, 0.95)) <= COPY_TOLERANCE


def _refuse_drift(baseline: ModelScores, replicates: Mapping[str, ModelScores], rule: Rule, of: str) -> None:
    """Raise BaselineError if one replicate, or all together, lose or gain on average over the gate rows."""
    rows = {}
    for who, side in replicates.items():
        paired = [p for p in compare_checkpoints(baseline, side, rule=rule) if not p.part_of]
        rows[who] = {p.name: p for p in paired if has_headroom(p, row_delta(p, rule), rule)}  # below, a rate rises
    drifts = {who: _mean_drift(list(own.values()), rule) for who, own in rows.items()}
    first, *others = rows.values()
    together = [[own[name] for own in rows.values()] for name in first if all(name in own for own in others)]
    means = [
        replace(some[0], kind="mean", delta=row_delta(some[0], rule),
                candidate=np.mean([p.candidate for p in some], axis=0))
        for some in together
    ]  # fmt: skip
    drifts["all seed replicates together"] = _mean_drift(means, rule)
    for who, (mean, p) in drifts.items():
        if p < DRIFT_LEVEL / len(drifts):
            raise BaselineError(
                f"{who}: the gate rows {'lose' if mean < 0 else 'gain'} {abs(mean):.2f} deltas on average against "
                f"{of} (p {p:.1g}), but another seed moves some rows up and others down. {WHAT_IT_IS}"
            )


def _mean_drift(paired: Sequence[PairedRow], rule: Rule) -> tuple[float, float]:
    """Return the mean change over the gate rows in deltas, and the two-sided p that it is 0.

    Its error has two parts: the spread of the rows, which is seed noise, and the sampling error of the shared items.
    """
    if len(paired) < LEAST_ROWS:
        return 0.0, 1.0
    f = row_statistics(paired, rule=rule)
    changes = f.change / f.delta
    error = float(np.hypot(changes.std(ddof=1) / len(changes) ** 0.5, pooled_error(f, range(len(f.n)))[0]))
    mean = float(changes.mean())
    t = mean / error if error else 0.0
    return mean, 2 * float(stats.t_cdf(-abs(t), len(changes) - 1))
