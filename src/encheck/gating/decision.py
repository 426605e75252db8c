"""The gate: may this checkpoint replace that one?

One look at all items, both models on the same ones. Contracts first; then *block*, where a row is shown to have
lost more than delta / 2 (one-sided tests, a closed family of each row and its parts, Holm-corrected within each budget
of alpha); then *pass*, where no family has
lost delta and no row 2 delta or, by its estimate, delta; otherwise *inconclusive*. docs/gate.md has the error rates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil, inf, isfinite

import numpy as np
from numpy.typing import NDArray

from encheck.claims import FAMILIES
from encheck.gating import budget, closed, power
from encheck.gating.headroom import is_at_chance, no_headroom
from encheck.gating.types import (
    BUDGETS,
    DEFAULT,
    QUIET,
    Decision,
    FamilyRow,
    GateRow,
    Moved,
    Noise,
    Outcome,
    Paired,
    Remedy,
    Rule,
)
from encheck.statistics import paired as stats

Floats = NDArray[np.float64]
BOUND, LIKELY = 1.645, 0.84  # normal quantiles of 95% and 80%


@dataclass(frozen=True)
class Figures:
    """The arithmetic of all rows at once: shape [rows], `spread` [rows, clusters].

    `wider` is the factor by which seed noise widened `delta`; `luck` is the standard deviation of the change that seeds
    alone make. `free` and `luck_free` have the degrees of freedom of the error and of the luck.
    """

    n: Floats
    clusters: Floats
    free: Floats
    change: Floats
    error: Floats
    design: Floats
    up: Floats
    down: Floats
    rate: NDArray[np.bool_]
    delta: Floats
    wider: Floats
    luck: Floats
    luck_free: float
    spread: Floats

    def below(self, theta: Floats) -> Floats:
        """Statistic of H0: change = theta; Tango's, made smaller by the design effect, or the clustered t."""
        with np.errstate(divide="ignore", invalid="ignore"):
            t = np.where(self.change == theta, 0.0, (self.change - theta) / self.error)
            score = stats.tango_z(self.n, self.up, self.down, np.clip(theta, -1, 1)) / np.sqrt(self.design)
        return np.where(self.rate, score, t)


def decide(
    paired: Sequence[Paired],
    *,
    rule: Rule = DEFAULT,
    seed_noise: Noise = QUIET,
    contracts: Sequence[str] = (),
    missing: Sequence[str] = (),
    moved: Sequence[Moved] = (),
) -> Decision:
    """Weigh the rows.

    `seed_noise` is what checkpoints that differ only in seed differ by. `contracts` names what broke, `missing` the
    rows that only one side has. `moved` says how many answers changed of searches without labels: they
    block where people judged that the new answers are worse.
    """
    if not paired:
        outcome, reasons = _verdict((), (), rule=rule, contracts=contracts, missing=missing, moved=moved)
        return Decision(outcome, reasons, (), (), seed_noise, tuple(missing), tuple(contracts), tuple(moved))
    figures = measure(paired, rule=rule, seed_noise=seed_noise)
    rows = assess(paired, figures, rule=rule)
    families = tuple(_families(rows, figures, rule=rule))
    outcome, reasons = _verdict(rows, families, rule=rule, contracts=contracts, missing=missing, moved=moved)
    return Decision(outcome, reasons, rows, families, seed_noise, tuple(missing), tuple(contracts), tuple(moved))


def delta_of(one: Paired, rule: Rule) -> float:
    """The loss of a row that matters, before seed noise widens it."""
    return one.delta or (rule.rate_delta if one.kind == "rate" else rule.mean_delta)


def measure(paired: Sequence[Paired], *, rule: Rule, seed_noise: Noise = QUIET) -> Figures:
    """Changes, clustered standard errors and design effects."""
    total = 1 + max(int(p.clusters.max(initial=-1)) for p in paired)
    differences = [p.candidate - p.baseline for p in paired]
    both = zip(differences, paired, strict=True)
    spread = np.array([stats.influence(d, p.clusters, total, strata=p.strata) for d, p in both])
    sizes = [stats.sizes_of(p.clusters) for p in paired]
    clusters = np.array([len(some) for some in sizes], float)
    free = np.fmax([stats.degrees_of_freedom(some) for some in sizes], 1)
    error = np.array([stats.clustered_error(s) for s in spread])
    n = np.array([len(d) for d in differences], float)
    rate = np.array([p.kind == "rate" for p in paired])
    plain = np.array([d.var() for d in differences]) / n
    with np.errstate(divide="ignore", invalid="ignore"):
        design = np.where(plain > 0, np.fmax(error**2 / plain, 1), 1.0)
    base = np.array([delta_of(p, rule) for p in paired])
    luck = np.array([seed_noise.of(p.name) for p in paired])
    wider = np.clip([3 * seed_noise.widens(p.name) for p in paired], 1.0, rule.widest)
    extra = np.array([p.calibration_error for p in paired])
    return Figures(
        n, clusters, free, np.array([d.mean() for d in differences]), np.hypot(error, extra), design,
        np.array([d[d > 0].sum() for d in differences], float) * rate,
        np.array([-d[d < 0].sum() for d in differences], float) * rate, rate,
        base * wider, wider, base * luck, seed_noise.free, spread,
    )  # fmt: skip


@dataclass(frozen=True)
class Weights:
    """What the tests and bounds of all rows say; shape [rows].

    `p` is that of a loss beyond delta / 2, `adjusted` what its budget of `alpha` and the parts of its row leave of it
    (`closed`), and `level` what the first row of the budget has to meet. `tested` says which rows and parts can block.
    `seen` is the standard error, also where not one item flips.
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
    seen: Floats
    detectable: Floats

    @classmethod
    def of(cls, paired: Sequence[Paired], f: Figures, *, has_figure: NDArray[np.bool_], rule: Rule) -> Weights:
        """Of these rows; one whose figure is no number is not the same."""
        budgets = [one.budget for one in paired]
        enough, owner = budget.gating_rows(budgets, f.n, f.clusters, rule), closed.owners(paired)
        gates, tested = enough & (owner < 0), enough & ((owner < 0) | enough[owner])
        same = np.array([one.same for one in paired]) & has_figure
        reach = stats.t_quantile(rule.level, f.free)
        bounds = _bounds(f, reach)
        low, high = np.where(same, 0.0, bounds)
        p = np.where(same, 1.0, np.nan_to_num(_p_of_loss(f, rule), nan=1.0))
        alpha, count = budget.spent(budgets, gates, rule)
        weights = closed.weights(owner, tested, rule)
        seen = np.where(f.rate, (f.change - bounds[0]) / reach, f.error)
        level = alpha / count * weights
        smallest = power.detectable(seen, f.delta, f.free, alpha=level, rule=rule)
        adjusted = closed.adjusted(p, weights, owner, tested, lambda joint: budget.adjusted(joint, budgets, gates))
        return cls(gates, tested, same, low, high, p, adjusted, alpha, level, seen, smallest)


def assess(paired: Sequence[Paired], f: Figures, *, rule: Rule) -> tuple[GateRow, ...]:
    """What the gate says of each row, and of each part."""
    silent = [_no_figure(one) for one in paired]
    w = Weights.of(paired, f, has_figure=np.array([not why for why in silent]), rule=rule)
    good = w.same | ((w.low > -rule.row * f.delta) & (f.change > -rule.estimate * f.delta))
    return tuple(_row(one, i, f, w, bool(good[i]), silent[i], rule) for i, one in enumerate(paired))


def _row(one: Paired, i: int, f: Figures, w: Weights, is_good: bool, silent: str, rule: Rule) -> GateRow:
    """The row at this place."""
    gates = bool(w.gates[i])
    blocks = bool(w.tested[i]) and w.adjusted[i] <= w.alpha[i]
    outcome: Outcome = "block" if blocks else "pass" if is_good and gates else "inconclusive"
    baseline, up, down = float(one.baseline.mean()), round(f.up[i]), round(f.down[i])
    delta = float(f.delta[i])
    weak = "" if silent or one.part_of else _no_evidence(one, delta, rule)
    at_chance = not silent and not one.part_of and not one.mixed and is_at_chance(one, delta, rule)
    row = GateRow(
        one.name, one.family, one.kind, len(one.baseline), int(f.clusters[i]), baseline,
        float(one.candidate.mean()), float(f.change[i]), float(w.low[i]), float(w.high[i]), float(f.error[i]),
        delta, float(w.p[i]), float(w.adjusted[i]), outcome, gates, gates and not weak,
        up, down, stats.mcnemar(up, down) if one.kind == "rate" else None, float(w.detectable[i]), None,
        budget=one.budget, alpha=float(w.alpha[i]), endpoint=one.endpoint,
        at_chance=at_chance, widened=float(f.wider[i]), part_of=one.part_of,
    )  # fmt: skip
    return _explained(row, rule, float(w.level[i]), float(w.seen[i]), float(f.free[i]), weak, silent)


def _no_figure(one: Paired) -> str:
    """Why the change of this figure is no number; empty if it is one."""
    sides = {"the baseline": one.baseline, "the candidate": one.candidate}
    without = [name for name, values in sides.items() if not np.isfinite(values).all()]
    if not without:
        return ""
    told = "random pairs and identical texts score the same: nothing can be calibrated"
    if any(np.isfinite(sides[name]).any() for name in without):
        told = "some items have no figure"
    return f"under {' and '.join(without)}, {told}"


def _no_evidence(one: Paired, delta: float, rule: Rule) -> str:
    """Why keeping this figure says nothing for the candidate; empty if it does."""
    if one.mixed:
        return (
            "under the baseline, some of its checks are below chance and some above, and one part has too few items "
            "to gate by itself: together they can block, but never count towards passing"
        )
    if one.budget == "slices":
        return "a slice of the queries: it can block, but never counts towards passing"
    if one.proxy:
        return f"optimistic proxy ({one.proxy}): it can block, but never counts towards passing"
    return no_headroom(one, delta, rule)


def _p_of_loss(f: Figures, rule: Rule) -> Floats:
    """One-sided p: the loss is beyond delta / 2, and beyond what seed replicates lose by luck.

    The luck was estimated on a few replicates: Satterthwaite's degrees of freedom of the sum of both variances.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        both = np.hypot(f.error, f.luck)
        beyond_luck = np.where(f.change == 0, 0.0, f.change / both)
        free = np.where(f.luck > 0, both**4 / (f.error**4 / f.free + f.luck**4 / f.luck_free), f.free)
    result: Floats = np.fmax(stats.t_cdf(f.below(-rule.block * f.delta), f.free), stats.t_cdf(beyond_luck, free))
    return result


def _bounds(f: Figures, reach: Floats) -> tuple[Floats, Floats]:
    """One-sided bounds: Tango's for rates, exact ones under 100 items, t for means."""
    wide = reach * np.sqrt(f.design)
    low = np.where(f.rate, stats.tango_bound(f.n, f.up, f.down, wide), f.change - reach * f.error)
    high = np.where(f.rate, stats.tango_bound(f.n, f.up, f.down, -wide), f.change + reach * f.error)
    for i in np.flatnonzero(f.rate & (f.n < stats.EXACT_BELOW_ITEMS)):
        low[i], high[i] = stats.exact_bounds(int(f.n[i]), round(f.up[i]), round(f.down[i]))
    return low, high


def _explained(row: GateRow, rule: Rule, level: float, seen: float, free: float, weak: str, silent: str) -> GateRow:
    """The row with the reason for its outcome, and how many items would decide where they do not."""
    if row.part_of:
        return replace(row, why=_moved(row) if row.outcome == "block" else f"a part of {row.part_of}")
    if not row.gates:
        return _reported_only(row, rule, level, seen)
    if silent:
        return replace(row, why=silent)
    small = _points(row, rule.block * row.delta)
    if row.outcome == "block":
        return replace(row, why=_moved(row))
    if weak:
        lost = f"lost {_points(row, -row.change)}, not shown to be more than {small}; " if row.high < 0 else ""
        return replace(row, why=lost + weak)
    if row.outcome == "pass":
        return row
    demand = float(stats.t_quantile(1 - level, free))
    found = replace(row, why=_undecided(row, rule), needed=_needed(row, rule, demand))
    return replace(found, remedy=_remedy(found, seen, level, rule))


def _reported_only(row: GateRow, rule: Rule, level: float, seen: float) -> GateRow:
    items, clusters = rule.least(row.budget)
    what = "queries" if row.endpoint else "items"
    why = f"reported only: {row.n} {what} in {row.clusters} clusters, but {items} in {clusters} gate"
    each = row.n / max(row.clusters, 1)
    found = replace(row, why=why, needed=ceil(max(items, clusters * each)))
    return replace(found, remedy=_remedy(found, seen, level, rule))


def _remedy(row: GateRow, seen: float, level: float, rule: Rule) -> Remedy | None:
    return power.remedy(row, seen, alpha=level, rule=rule) if row.budget == "primary" else None


def _moved(row: GateRow) -> str:
    """Both figures, the change between them, and which loss matters."""
    if row.kind == "rate":
        points = f"{100 * row.change:+.1f} points; {round(100 * row.delta, 1):g} matter"
        return f"{100 * row.baseline:.1f}% to {100 * row.candidate:.1f}% ({points})"
    return f"{row.baseline:.3f} to {row.candidate:.3f} ({row.change:+.3f}; {row.delta:.2g} matters)"


def _undecided(row: GateRow, rule: Rule) -> str:
    if row.change <= -rule.estimate * row.delta:
        small = _points(row, rule.block * row.delta)
        return f"{_moved(row)}, which these items cannot tell from a loss of {small}"
    return f"{_moved(row)}: a loss of {_points(row, rule.row * row.delta)} cannot be ruled out"


def _points(row: GateRow, amount: float) -> str:
    return f"{100 * amount:.1f} points" if row.kind == "rate" else f"{amount:.3f}"


def _needed(row: GateRow, rule: Rule, demand: float) -> int:
    """Items that would decide in 80% of cases, were the change what it seems to be: the error falls with their root."""
    loss = -row.change
    to_block = (loss - rule.block * row.delta) / (demand + LIKELY)
    spare = min((rule.row * row.delta - loss) / (BOUND + LIKELY), (rule.estimate * row.delta - loss) / LIKELY)
    wanted = max(to_block, spare)
    return ceil(row.n * max(1.0, (row.error / wanted) ** 2)) if wanted > 0 else 100 * row.n


def _families(rows: Sequence[GateRow], f: Figures, *, rule: Rule) -> list[FamilyRow]:
    """The families with evidence: a pooled change each, and whether its bound holds."""
    names = dict.fromkeys([*FAMILIES, *(row.family for row in rows)])
    found = []
    for name in names:
        chosen = [i for i, row in enumerate(rows) if row.family == name and row.evidence]
        if not chosen:
            continue
        pooled = (f.spread[chosen] / f.delta[chosen, None]).mean(axis=0)
        alone = [_beyond_clusters(rows[i], f.spread[i], f.free[i], rule) / f.delta[i] for i in chosen]
        error = np.hypot(stats.clustered_error(pooled), np.linalg.norm(alone) / len(chosen))
        change = float((f.change[chosen] / f.delta[chosen]).mean())
        low = change - float(stats.t_quantile(rule.level, f.free[chosen].max())) * float(error)
        family = FamilyRow(name, len(chosen), change, low, low > -rule.family)
        found.append(replace(family, more=_more(family, rule)))
    return found


def _more(f: FamilyRow, rule: Rule) -> float | None:
    """How many times the items of all its rows would make an open family pass in 80% of cases; None if none would.

    Also where it passes.
    """
    wanted, error = (rule.family + f.change) / (BOUND + LIKELY), (f.change - f.low) / BOUND
    return max(1.0, (error / wanted) ** 2) if wanted > 0 and isfinite(error) and not f.passes else None


def _beyond_clusters(row: GateRow, spread: Floats, free: float, rule: Rule) -> float:
    """The part of a row's error that its clusters do not show: of the calibration, or where not one item differs."""
    shown = stats.clustered_error(spread)
    if row.kind == "rate" and not shown and row.change > row.low:
        return float((row.change - row.low) / stats.t_quantile(rule.level, free))
    return float(np.sqrt(max(row.error**2 - shown**2, 0.0)))


def _verdict(
    rows: Sequence[GateRow],
    families: Sequence[FamilyRow],
    *,
    rule: Rule,
    contracts: Sequence[str],
    missing: Sequence[str],
    moved: Sequence[Moved] = (),
) -> tuple[Outcome, tuple[str, ...]]:
    loudest = sorted(rows, key=lambda r: (BUDGETS.index(r.budget), r.p))
    blocked = [f"{r.name}: {r.why}" for r in loudest if r.outcome == "block"]
    blocked += [f"{one.name}: {one.said}; {one.why}" for one in moved if one.blocks]
    if contracts or blocked:
        return "block", (*(f"contract broken: {name}" for name in contracts), *blocked)
    doubts = [f"only one side has {name}" for name in missing]
    doubts += [f"{one.name}: {one.said}; {one.why}" for one in moved if not one.passes]
    doubts += [f"{r.name}: {r.why}{_would_decide(r)}" for r in _open(rows)]
    doubts += [f"family {f.family}: {_family_doubt(f, rule)}" for f in families if not f.passes]
    if not families and not moved:
        doubts += ["no gate row that both sides have has enough items, clusters and headroom to count towards passing"]
        doubts += [f"{r.name}: {r.why}" for r in rows if f"{r.name}: {r.why}{_would_decide(r)}" not in doubts]
    return ("inconclusive", tuple(doubts)) if doubts else ("pass", ())


def _open(rows: Sequence[GateRow]) -> list[GateRow]:
    """The rows that keep a gate from passing, the primary endpoint first, then the worst.

    A primary endpoint that has too few queries to gate keeps it from passing, too.
    """
    found = [r for r in rows if r.outcome != "pass" and (r.evidence or (r.budget == "primary" and not r.gates))]
    worst = {r.name: r.low / r.delta if isfinite(r.low) else -inf for r in found}
    return sorted(found, key=lambda r: (BUDGETS.index(r.budget), worst[r.name]))


def _would_decide(row: GateRow) -> str:
    return f"; {row.remedy.says}" if row.remedy else ""


def _family_doubt(f: FamilyRow, rule: Rule) -> str:
    """What keeps a family open."""
    if not isfinite(f.low):
        return "not all of its gate rows have a figure, so it has none either"
    return (
        f"its {f.rows} gate rows together changed by {f.change:+.2f} times what matters; a loss of {-f.low:.2f} times "
        f"that cannot be ruled out, and {rule.family:g} is the most that passes"
    )
