"""The gate: may this checkpoint replace that one?

The gate looks once at all items, and both models are scored on the same ones. The rules apply in this order:

- a broken contract blocks;
- *block*: a row is shown to have lost more than delta / 2. Tests are two-sided; each row and its parts are a closed
  family; Holm's correction applies within each budget of alpha;
- *pass*: a loss of 1.5 delta is ruled out for every family and of 2 delta for every row, and no row's estimated loss
  reaches delta;
- *inconclusive*: everything else.

Standard errors account for what items share (`statistics.sharing`). Error rates: docs/method/gate.md.

Alpha is split into budgets, so that an extra hypothesis does not weaken those of another budget. The primary endpoint
of a search with labels is tested with 3% of the gate's 5%, whatever else is tested. Behaviour has 1%, and slices of the
queries have the last 1%. By Bonferroni over the budgets, the total error rate is at most 5%. Without a primary endpoint
that gates, behaviour has all 5% (lab/decisions/0016).

A row and its parts are one closed family, so that the row's mean cannot hide a loss in one part. The test is a weighted
Bonferroni test, valid whatever items the row and its parts share. The parts share `Rule.parts` of the level, and the
row has the rest. Holm corrects over these families. If a family is rejected, a part that is rejected by itself is
shown to have lost (Marcus, Peritz and Gabriel 1976, Biometrika 63; the test is consonant).
lab/decisions/0019 has its cost and its power.

The number of clusters with which an open row or family decides is found with the bounds of the decision itself, at the
estimated change and share of flips. Without flips the bound of a rate approaches the change with the number of
clusters, otherwise with its root.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil, inf, isfinite

import numpy as np
from numpy.typing import NDArray

from encheck.claims import FAMILIES
from encheck.gating.types import (
    BUDGETS,
    DEFAULT,
    NO_SEED_NOISE,
    FamilyRow,
    GateDecision,
    GateRow,
    Noise,
    Outcome,
    PairedRow,
    Remedy,
    Rule,
    UnjudgedSearch,
)
from encheck.statistics import hypothesis_tests as stats
from encheck.statistics.sharing import MeanErrors, Sharing, cached_sharing, stack_units

Floats = NDArray[np.float64]
HEALTH = "health"  # the family of figures that describe a model's vector space, not its behaviour
Bools = NDArray[np.bool_]


Places = NDArray[np.intp]


MAX_CLUSTER_FACTOR = 100  # times as many clusters as there are
TRIED_COUNTS = 400  # numbers of clusters: each one up to some eighty, then in steps of 1.2%


def detectable_loss(error: Floats, delta: Floats, degrees_of_freedom: Floats, *, alpha: Floats, rule: Rule) -> Floats:
    """Return the smallest loss that the gate blocks with the rule's power, by a shifted Student's t."""
    demand = stats.t_quantile(1 - alpha / 2, degrees_of_freedom) + stats.t_quantile(rule.power, degrees_of_freedom)
    result: Floats = rule.block * delta + demand * error
    return result


def has_headroom(one: PairedRow, delta: float, rule: Rule = DEFAULT) -> bool:
    """Return whether the baseline is shown to have enough to lose.

    The lower end of its interval has to be 2 deltas above chance, or above 0 for a rate of unknown chance. A mean
    without a chance level always has headroom. Below chance, damage raises a figure.
    """
    if one.chance is None and one.kind != "rate":
        return True
    sharing = cached_sharing(one.things)
    if sharing.why_no_interval:
        return False
    if one.kind == "rate":
        low = float(sharing.rate_interval(one.baseline)[0][0])
    else:
        found = sharing.estimate_errors(one.baseline)
        low = float(found.mean[0]) - float(
            stats.t_quantile((1 + rule.level) / 2, found.degrees_of_freedom) * found.error[0]
        )
    return low > (one.chance or 0.0) + 2 * delta


@dataclass(frozen=True)
class RowStatistics:
    """The statistics of all rows as arrays of shape [rows].

    `clusters` counts the items' clusters or, for overlapping items, the equivalent number of equal clusters. `design`
    is the design effect: the items per independent item. Seed noise multiplied `delta` by `widening`; `seed_error` is
    the standard deviation of the change between seeds. `degrees_of_freedom` are those of `error`, and
    `seed_degrees_of_freedom` those of `seed_error`. `errors` has each row's error without that of the calibration,
    `sharing` what the items share, and `withheld` the reason why a row has no interval, or "".
    """

    n: Floats
    clusters: Floats
    degrees_of_freedom: Floats
    change: Floats
    error: Floats
    design: Floats
    up: Floats
    down: Floats
    rate: NDArray[np.bool_]
    delta: Floats
    widening: Floats
    seed_error: Floats
    seed_degrees_of_freedom: float
    errors: tuple[MeanErrors, ...]
    sharing: tuple[Sharing, ...]
    withheld: tuple[str, ...]


def decide_by_rows(
    paired: Sequence[PairedRow],
    *,
    rule: Rule = DEFAULT,
    seed_noise: Noise = NO_SEED_NOISE,
    contracts: Sequence[str] = (),
    missing: Sequence[str] = (),
    moved: Sequence[UnjudgedSearch] = (),
) -> GateDecision:
    """Decide from the rows.

    `seed_noise` is the variation between checkpoints that differ only in seed. `contracts` names broken contracts,
    `missing` the rows that only one side has. `moved` has the changed answers of searches without labels, which block
    if people judged the new answers worse.
    """
    if not paired:
        outcome, reasons = _outcome_and_reasons((), (), rule=rule, contracts=contracts, missing=missing, moved=moved)
        return GateDecision(
            outcome, reasons, (), (), seed_noise.pooled, seed_noise.replicates, tuple(missing), tuple(contracts),
            tuple(moved),
        )  # fmt: skip
    figures = row_statistics(paired, rule=rule, seed_noise=seed_noise)
    rows = assess_rows(paired, figures, rule=rule)
    families = tuple(_assess_families(rows, figures, rule=rule))
    more = {one.family: one.more for one in families if one.rows == 1}  # of a family, if it is open
    rows = tuple(
        replace(row, remedy=Remedy(ceil((times - 1) * row.clusters), max(round(row.n / row.clusters), 1)))
        if row.budget == "primary" and row.evidence and row.outcome == "pass" and (times := more.get(row.family))
        else row
        for row in rows
    )
    outcome, reasons = _outcome_and_reasons(
        rows, families, rule=rule, contracts=contracts, missing=missing, moved=moved
    )
    return GateDecision(
        outcome, reasons, rows, families, seed_noise.pooled, seed_noise.replicates, tuple(missing), tuple(contracts),
        tuple(moved),
    )  # fmt: skip


def row_delta(one: PairedRow, rule: Rule) -> float:
    """Return the smallest loss of a row that matters, before seed noise widens that margin."""
    return one.delta or (rule.rate_delta if one.kind == "rate" else rule.mean_delta)


def row_statistics(paired: Sequence[PairedRow], *, rule: Rule, seed_noise: Noise = NO_SEED_NOISE) -> RowStatistics:
    """Return the changes of all rows, with standard errors and design effects."""
    differences = [p.candidate - p.baseline for p in paired]
    sharing = tuple(cached_sharing(p.things) for p in paired)
    errors = [s.estimate_errors(d, strata=p.strata) for s, d, p in zip(sharing, differences, paired, strict=True)]
    degrees_of_freedom = np.fmax([e.degrees_of_freedom for e in errors], 1)
    error = np.array([e.error[0] for e in errors])
    n = np.array([len(d) for d in differences], float)
    rate = np.array([p.kind == "rate" for p in paired])
    moved = [np.abs(d).sum() for d in differences]
    effective = [s.effective_items_of_rate(e, m)[0] for s, e, m in zip(sharing, errors, moved, strict=True)]
    design = n / np.array(effective)
    base = np.array([row_delta(p, rule) for p in paired])
    seed_error = np.array([seed_noise.noise_of_row(p.name) for p in paired])
    widening = np.clip([3 * seed_noise.widening_noise(p.name) for p in paired], 1.0, rule.widest)
    extra = np.array([p.calibration_error for p in paired])
    return RowStatistics(
        n, np.array([s.independent_clusters for s in sharing], float), degrees_of_freedom,
        np.array([d.mean() for d in differences]),
        np.hypot(error, extra), design,
        np.array([d[d > 0].sum() for d in differences], float) * rate,
        np.array([-d[d < 0].sum() for d in differences], float) * rate, rate,
        base * widening, widening, base * seed_error, seed_noise.degrees_of_freedom,
        tuple(errors), sharing,
        tuple("" if p.same else s.why_no_interval for s, p in zip(sharing, paired, strict=True)),
    )  # fmt: skip


@dataclass(frozen=True)
class RowTests:
    """The results of the tests and bounds of all rows, shape [rows].

    `p` is the two-sided p of a change of -delta / 2, or 1 if the loss is smaller. `adjusted` is p corrected for its
    budget of `alpha` and the parts of its row (`closed`), or 1 if the baseline is not shown to see the row. `level` is
    the level of the budget's first row. `tested` marks the rows and parts that can block, `doubtful` those that meet
    their level although the baseline does not see them.
    """

    gates: NDArray[np.bool_]
    tested: NDArray[np.bool_]
    same: NDArray[np.bool_]
    low: Floats
    high: Floats
    p: Floats
    adjusted: Floats
    alpha: Floats
    level: Floats
    detectable: Floats
    doubtful: NDArray[np.bool_]

    @classmethod
    def of(
        cls, paired: Sequence[PairedRow], f: RowStatistics, *, has_figure: NDArray[np.bool_], rule: Rule
    ) -> RowTests:
        """Return the tests of these rows. A row without a finite figure does not count as the same."""
        budgets = np.array([one.budget for one in paired], str)
        least = np.array([rule.required_sizes(one.budget) for one in paired], float).reshape(-1, 2)
        enough = (f.n >= least[:, 0]) & (f.clusters >= least[:, 1])
        enough &= bool((enough & (budgets == "primary")).any()) | (budgets != "slices")
        places = {one.name: i for i, one in enumerate(paired) if not one.part_of}
        owner = np.array([places[one.part_of] if one.part_of else -1 for one in paired], np.intp)
        is_part = owner >= 0
        gates, tested = enough & ~is_part, enough & (~is_part | enough[owner])

        same = np.array([one.same for one in paired]) & has_figure
        withheld = np.array([bool(why) for why in f.withheld])
        reach = stats.t_quantile((1 + rule.level) / 2, f.degrees_of_freedom)
        ends = change_bounds(f, rule.level)
        low, high = np.where(withheld, np.nan, np.where(same, 0.0, ends))
        blind = np.array([bool(one.unseen) for one in paired])
        found = np.where(same | withheld, 1.0, np.nan_to_num(_loss_p_values(f, rule), nan=1.0))
        p = np.where(blind, 1.0, found)  # an unseen row cannot be rejected, but keeps its weight

        alpha, groups = np.full(len(gates), rule.alpha), dict.fromkeys(BUDGETS, gates)
        if (gates & (budgets == "primary")).any():
            alpha = np.array([rule.alpha * rule.split[one.budget] for one in paired])
            groups = {one: gates & (budgets == one) for one in BUDGETS}
        count = np.array([max(int(groups[one.budget].sum()), 1) for one in paired], float)
        parts = np.bincount(owner[tested & is_part], minlength=len(owner))
        weights = np.where(parts > 0, 1 - rule.parts, 1.0)  # of the level of a row and its parts, that each has
        weights[is_part] = rule.parts / np.maximum(parts[owner[is_part]], 1)
        level = alpha / count * weights

        own = np.minimum(np.divide(p, weights, out=np.ones_like(p), where=tested & (weights > 0)), 1.0)
        family = own.copy()
        np.minimum.at(family, owner[is_part], own[is_part])
        family = np.fmax(family, np.finfo(float).tiny)  # so that 0 keeps its number of hypotheses
        joint = np.ones(len(p))
        for group in groups.values():
            joint[group] = stats.holm_adjusted_p(family[group])
        place = np.where(is_part, owner, np.arange(len(owner)))
        larger = np.maximum(joint[place], own * (joint / family)[place])  # what its family's level allows goes with it
        adjusted = np.where(tested, np.minimum(larger, 1.0), 1.0)

        seen = np.where(withheld, np.inf, np.where(f.rate, (f.change - ends[0]) / reach, f.error))
        smallest = detectable_loss(seen, f.delta, f.degrees_of_freedom, alpha=level, rule=rule)
        doubtful = tested & blind & (found <= level)
        return cls(gates, tested, same, low, high, found, adjusted, alpha, level, smallest, doubtful)


def assess_rows(paired: Sequence[PairedRow], f: RowStatistics, *, rule: Rule) -> tuple[GateRow, ...]:
    """Return the outcome of each row, and of each part, with its reason."""
    silent = []  # why a change is not a number or has no interval; "" if it has one
    for one, why in zip(paired, f.withheld, strict=True):
        sides = {"the baseline": one.baseline, "the candidate": one.candidate}
        without = [name for name, values in sides.items() if not np.isfinite(values).all()]
        told = "random pairs and identical texts score the same: nothing can be calibrated"
        if any(np.isfinite(sides[name]).any() for name in without):
            told = "some items have no figure"
        silent.append(f"under {' and '.join(without)}, {told}" if without else why)
    w = RowTests.of(paired, f, has_figure=np.array([not why for why in silent]), rule=rule)
    good = w.same | ((w.low > -rule.row * f.delta) & (f.change > -rule.estimate * f.delta))
    return tuple(_assess_row(one, i, f, w, bool(good[i]), silent[i], rule) for i, one in enumerate(paired))


def _assess_row(
    one: PairedRow, i: int, f: RowStatistics, w: RowTests, is_good: bool, silent: str, rule: Rule
) -> GateRow:
    """Return the row at this position with its outcome."""
    gates = bool(w.gates[i])
    blocks = bool(w.tested[i]) and w.adjusted[i] <= w.alpha[i] and f.change[i] <= -rule.least_loss * f.delta[i]
    outcome: Outcome = "block" if blocks else "pass" if is_good and gates else "inconclusive"
    baseline, up, down = float(one.baseline.mean()), round(f.up[i]), round(f.down[i])
    delta = float(f.delta[i])
    weak = one.unseen  # why keeping this figure is no evidence for the candidate
    if not weak and not one.part_of:
        if one.budget == "slices":
            weak = "a slice of the queries: it can block, but never counts towards passing"
        elif one.proxy:
            weak = f"optimistic proxy ({one.proxy}): it can block, but never counts towards passing"
        elif not silent and rule.needs_headroom and one.chance is None and one.kind == "rate":
            low, high = (float(end[0]) for end in cached_sharing(one.things).rate_interval(one.baseline))
            if not low > 2 * delta:
                ends = f"{baseline:.1%} [{low:.1%}, {high:.1%}]"
                weak = f"no headroom: the baseline wins {ends}, so it never counts towards passing"
    doubtful = bool(w.doubtful[i] and f.change[i] <= -rule.least_loss * f.delta[i])
    row = GateRow(
        one.name, one.family, one.kind, len(one.baseline), int(f.clusters[i]), baseline,
        float(one.candidate.mean()), float(f.change[i]), float(w.low[i]), float(w.high[i]), float(f.error[i]),
        delta, float(w.p[i]), float(w.adjusted[i]), outcome, gates, gates and not weak,
        up, down, stats.mcnemar_p(up, down) if one.kind == "rate" else None, float(w.detectable[i]), None,
        budget=one.budget, alpha=float(w.alpha[i]), endpoint=one.endpoint,
        unseen=bool(one.unseen), doubtful=doubtful, widened=float(f.widening[i]), part_of=one.part_of,
    )  # fmt: skip
    return _add_reason(row, i, f, float(w.level[i]), weak, silent, rule)


def _loss_p_values(f: RowStatistics, rule: Rule) -> Floats:
    """Two-sided p: the loss is beyond delta / 2, and beyond the loss that seeds alone explain.

    A row with p <= 5% has the upper end of its 95% interval below -delta / 2, so the decision agrees with the printed
    interval. Seed noise was estimated on a few replicates, so the sum of both variances has Satterthwaite's degrees of
    freedom.
    """
    theta = -rule.block * f.delta  # H0: the change is theta. Rates: Tango's test at the effective n. Means: t
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(f.change == theta, 0.0, (f.change - theta) / f.error)
        score = stats.tango_z(f.n, f.up, f.down, np.clip(theta, -1, 1)) / np.sqrt(f.design)
        both = np.hypot(f.error, f.seed_error)
        beyond_seeds = np.where(f.change == 0, 0.0, f.change / both)
        degrees_of_freedom = np.where(
            f.seed_error > 0,
            both**4 / (f.error**4 / f.degrees_of_freedom + f.seed_error**4 / f.seed_degrees_of_freedom),
            f.degrees_of_freedom,
        )
    below = np.fmax(
        stats.t_cdf(np.where(f.rate, score, t), f.degrees_of_freedom), stats.t_cdf(beyond_seeds, degrees_of_freedom)
    )
    result: Floats = np.minimum(2 * below, 1)
    return result


def change_bounds(f: RowStatistics, level: float) -> tuple[Floats, Floats]:
    """Return the ends of the two-sided intervals at this level: Tango's for rates, Student's t for means."""
    reach = stats.t_quantile((1 + level) / 2, f.degrees_of_freedom)
    wide = reach * np.sqrt(f.design)
    low = np.where(f.rate, stats.tango_bound(f.n, f.up, f.down, wide), f.change - reach * f.error)
    high = np.where(f.rate, stats.tango_bound(f.n, f.up, f.down, -wide), f.change + reach * f.error)
    return low, high


def _lower_distances(f: RowStatistics, i: int, times: Floats, rule: Rule) -> Floats:
    """Return how far the lower bound of row i lies below its change, with `times` as many clusters of the same kind.

    The change and the share of flips stay the same.
    """
    reach = stats.t_quantile((1 + rule.level) / 2, _grown(f.degrees_of_freedom[i], times))
    distances: Floats = reach * f.error[i] / np.sqrt(times)
    if f.rate[i]:
        up, down, n = f.up[i] * times, f.down[i] * times, f.n[i] * times
        design = f.n[i] / f.sharing[i].effective_items_of_rate(f.errors[i], up + down)
        distances = f.change[i] - stats.tango_bound(n, up, down, reach * np.sqrt(design))
    return distances


def _grown(degrees_of_freedom: float, times: Floats) -> Floats:
    return (degrees_of_freedom + 1) * times - 1


def _find_remedy(f: RowStatistics, i: int, row: GateRow, level: float, rule: Rule) -> Remedy | None:
    """Return the fewest additional clusters, of the present mean size, with which the row gates and decides.

    It decides with the rule's power if the change is as estimated. `level` is the level of its test. None if
    `MAX_CLUSTER_FACTOR` times the clusters are too few.
    """
    items, clusters = rule.required_sizes(row.budget)
    each = max(round(row.n / max(row.clusters, 1)), 1)
    first = max(row.clusters + row.gates, clusters, ceil(items / each))
    if f.withheld[i] or not isfinite(row.error):
        return Remedy(first - row.clusters, each)
    counts = np.unique(np.geomspace(first, max(first, MAX_CLUSTER_FACTOR * row.clusters), TRIED_COUNTS).round())
    times = counts / max(row.clusters, 1)
    freedom, error = _grown(f.degrees_of_freedom[i], times), row.error / np.sqrt(times)
    luck = stats.t_quantile(rule.power, freedom) * error
    margin = min(rule.row, rule.family) if row.budget == "primary" else rule.row  # an endpoint is a family by itself
    kept = _lower_distances(f, i, times, rule) + luck < margin * row.delta + row.change
    kept &= luck < rule.estimate * row.delta + row.change
    shown = stats.t_quantile(1 - level / 2, freedom) * error + luck < -row.change - rule.block * row.delta
    shown &= luck < -row.change - rule.least_loss * row.delta
    enough = counts[kept | shown]
    return Remedy(int(enough[0]) - row.clusters, each) if len(enough) else None


def _add_reason(row: GateRow, i: int, f: RowStatistics, level: float, weak: str, silent: str, rule: Rule) -> GateRow:
    """Return the row with the reason for its outcome and, if it is open, the number of items that would decide."""
    is_primary = row.budget == "primary"
    if row.part_of:
        why = _certain_loss_text(row, rule) if row.outcome == "block" else f"a part of {row.part_of}"
        return replace(row, why=f"{_certain_loss_text(row, rule)}, but {weak}" if row.doubtful else weak or why)
    if not row.gates:
        items, clusters = rule.required_sizes(row.budget)
        what = "queries" if row.family == "retrieval" and row.endpoint else "items"
        why = (
            f"reported only: {row.n} {what} in {row.clusters} clusters, but a gate needs {items} in {clusters} clusters"
        )
        each = row.n / max(row.clusters, 1)
        row = replace(row, why=why, needed=ceil(max(items, clusters * each)))
        return replace(row, remedy=_find_remedy(f, i, row, level, rule)) if is_primary else row
    if silent:
        return replace(row, why=silent)
    small = _loss_text(row, rule.block * row.delta)
    if row.outcome == "block":
        return replace(row, why=_certain_loss_text(row, rule))
    if row.doubtful:
        return replace(row, why=f"{_certain_loss_text(row, rule)}, but {weak}")
    if weak:
        lost = f"lost {_loss_text(row, -row.change)}, not shown to be more than {small}; " if row.high < 0 else ""
        return replace(row, why=lost + weak)
    if row.outcome == "pass":
        return row
    why = f"{_change_text(row)}: a loss of {_loss_text(row, rule.row * row.delta)} cannot be ruled out"
    if row.change <= -rule.estimate * row.delta:
        limits = (_loss_text(row, rule.estimate * row.delta), _loss_text(row, rule.block * row.delta))
        why = _change_text(row)
        why += f": the estimated loss is {limits[0]} or more, but a loss over {limits[1]} is not certain"
    remedy = _find_remedy(f, i, row, level, rule)
    times = 1 + remedy.clusters / row.clusters if remedy else MAX_CLUSTER_FACTOR
    return replace(row, why=why, needed=ceil(row.n * times), remedy=remedy if is_primary else None)


def _change_text(row: GateRow) -> str:
    """Return the change with its 95% interval; for a primary endpoint also both figures, as the report prints them."""
    if row.kind == "rate":
        change, low, high = (100 * one for one in (row.change, row.low, row.high))
        points = f"{change:+.1f} points [{low:+.1f}, {high:+.1f}]"
        return f"{100 * row.baseline:.1f}% to {100 * row.candidate:.1f}% ({points})" if row.endpoint else points
    with_ends = f"{row.change:+.3f} [{row.low:+.3f}, {row.high:+.3f}]"
    return f"{row.baseline:.3f} to {row.candidate:.3f} ({with_ends})" if row.endpoint else with_ends


def _certain_loss_text(row: GateRow, rule: Rule) -> str:
    size = f" of more than {_loss_text(row, rule.block * row.delta)}" if rule.block else ""
    return f"{_change_text(row)}: a loss{size} is certain"


def _loss_text(row: GateRow, amount: float) -> str:
    if row.kind != "rate":
        return f"{amount:.3f}"
    points = f"{round(100 * amount, 2):g}"
    return f"{points} {'point' if points == '1' else 'points'}"


def _assess_families(rows: Sequence[GateRow], f: RowStatistics, *, rule: Rule) -> list[FamilyRow]:
    """Return the families with evidence, each with its pooled change and whether its bound holds."""
    names = dict.fromkeys([*FAMILIES, *(row.family for row in rows)])
    found = []
    for name in names:
        chosen = [i for i, row in enumerate(rows) if row.family == name and row.evidence and not f.withheld[i]]
        if not chosen:
            continue
        shown, degrees_of_freedom = pooled_error(f, chosen)
        change = float((f.change[chosen] / f.delta[chosen]).mean())
        for times in (np.ones(1), np.geomspace(1, MAX_CLUSTER_FACTOR, TRIED_COUNTS)):  # the second if it is open
            freedom, error = _grown(max(degrees_of_freedom, 1), times), shown / np.sqrt(times)
            alone = [_error_beyond_items(rows[i], i, f, times, rule) / f.delta[i] for i in chosen]
            whole = np.hypot(error, np.linalg.norm(alone, axis=0) / len(chosen))
            lows = change - stats.t_quantile((1 + rule.level) / 2, freedom) * whole
            if lows[0] > -rule.family:
                break
        low, passes = float(lows[0]), bool(lows[0] > -rule.family)
        enough = times[lows - stats.t_quantile(rule.power, freedom) * error > -rule.family]
        more = float(enough[0]) if len(enough) and not passes else None
        found.append(FamilyRow(name, len(chosen), change, low, passes, more))
    return found


def pooled_error(f: RowStatistics, chosen: Sequence[int]) -> tuple[float, float]:
    """Return the standard error of the mean change of these rows in deltas, and its degrees of freedom.

    Items of different rows can share things, which adds to the error.
    """
    joint = cached_sharing(stack_units([f.sharing[i].things for i in chosen]))
    scores = np.concatenate([f.errors[i].scores[:, 0] / f.delta[i] for i in chosen]) / len(chosen)
    variance = max(float(joint.quadratic_form(scores[:, None])[0]), float((scores**2).sum()))
    return variance**0.5, joint.degrees_of_freedom


def _error_beyond_items(row: GateRow, i: int, f: RowStatistics, times: Floats, rule: Rule) -> Floats:
    """Return the part of a row's error that its items do not show, with `times` as many clusters.

    That is the calibration error of a mean, and what the interval of a rate with few flips adds to its standard error.
    """
    shown = max(float(f.sharing[i].quadratic_form(f.errors[i].scores)[0]), 0.0) / times
    error = row.error / np.sqrt(times)
    if row.low < row.change:
        reach = stats.t_quantile((1 + rule.level) / 2, _grown(f.degrees_of_freedom[i], times))
        error = np.maximum(error, _lower_distances(f, i, times, rule) / reach)
    return np.sqrt(np.maximum(error**2 - shown, 0.0))


def _outcome_and_reasons(
    rows: Sequence[GateRow],
    families: Sequence[FamilyRow],
    *,
    rule: Rule,
    contracts: Sequence[str],
    missing: Sequence[str],
    moved: Sequence[UnjudgedSearch] = (),
) -> tuple[Outcome, tuple[str, ...]]:
    loudest = sorted(rows, key=lambda r: (BUDGETS.index(r.budget), r.p))
    blocked = [f"{r.name}: {r.why}" for r in loudest if r.outcome == "block"]
    blocked += [f"{one.name}: {one.says}" for one in moved if one.blocks]
    if contracts or blocked:
        return "block", (*(f"contract broken: {name}" for name in contracts), *blocked)
    doubts = [f"only one side has {name}" for name in missing]
    doubts += [f"{one.name}: {one.says}" for one in moved if not one.passes]
    # The primary endpoint first, then the worst rows. An endpoint with too few queries also prevents a pass, and so
    # does a loss in a row that the baseline is not shown to see.
    undecided = [
        r for r in rows
        if r.doubtful or (r.outcome != "pass" and (r.evidence or (r.budget == "primary" and not r.gates)))
    ]  # fmt: skip
    worst = {r.name: r.low / r.delta if isfinite(r.low) else -inf for r in undecided}
    told = {r.name: f"{r.name}: {r.why}" + (f"; {r.remedy.says}" if r.remedy else "") for r in rows}
    doubts += [told[r.name] for r in sorted(undecided, key=lambda r: (BUDGETS.index(r.budget), worst[r.name]))]
    for f in families:
        if not f.passes:
            why = "not all of its gate rows have a figure, so it has none either"
            if isfinite(f.low):
                why = (
                    f"its {f.rows} gate rows together changed by {f.change:+.2f} times the loss that matters; a loss "
                    f"of {-f.low:.2f} times cannot be ruled out, but at most {rule.family:g} times passes"
                )
            doubts.append(f"family {f.family}: {why}")
    if all(f.family == HEALTH for f in families) and not moved:
        doubts += ["no behaviour row has enough items, clusters and headroom to count towards passing"]
        doubts += [f"{r.name}: {r.why}" for r in rows if told[r.name] not in doubts]
    return ("inconclusive", tuple(doubts)) if doubts else ("pass", ())
