"""Error rates of the gate in the shape of a baseline: its own rows, items, clusters and rates.

    python lab/benchmarks/gate.py --shape reports/baselines/sbert RUN [RUN ...] [--runs 400] [--only unchanged]

Each RUN is the report directory of a changed copy of the baseline's model on the same items: a short fine-tune, or
weights with noise. How the changes of a cluster go together, within a row and across rows, is measured on them. A
simulated candidate then flips items of the baseline itself: as many in each row as the discordance says, in each check
and surface direction in proportion to what the copies flip there, as many won as lost, with these correlations. Rows of
means change as the copies do, cluster by cluster in a random direction, and grow with the discordance.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from encheck.gating.baseline import read_baseline
from encheck.gating.comparison import baseline_scores, run_scores
from encheck.gating.decision import decide_by_rows
from encheck.gating.gate_rows import DIRECTION, DIRECTIONS, ComparedCase, group_into_rows, pool_rows, split_rows
from encheck.gating.pairing import compare_cases
from encheck.gating.types import DEFAULT, GateDecision, PairedRow, Rule
from encheck.ids import GateRowId
from encheck.reporting.results import read_items, read_results

Floats = NDArray[np.float64]
Places = NDArray[np.intp]
DISCORDANCES = (0.01, 0.02, 0.05, 0.10)
INSIDE = (0.02, 0.05)  # of losses in a part
LOSS = 0.04  # what a row of rates loses; a row of means loses as many deltas
PART_LOSS = 0.08  # what a property loses that is a part of a row


@dataclass(frozen=True)
class Shape:
    """The gate rows of a baseline, and what copies of its model tell of how changes go together.

    `inside` has the places of each part's items in its row. `units` numbers, by row, the check and surface direction of
    each item. `within` is the correlation of the changes of two items of one cluster, by row, and `between` that of two
    rows. `changes` has what each copy changes, by row, and `flipped` the share of items that it flips.
    """

    paired: Sequence[PairedRow]
    inside: Mapping[str, Places]
    units: Mapping[str, Places]
    within: Mapping[str, float]
    between: float
    changes: Sequence[Mapping[str, Floats]]
    flipped: Sequence[float]
    clusters: int
    known: dict[tuple[str, float], Floats] = field(default_factory=dict)

    @property
    def whole(self) -> list[PairedRow]:
        """The rows without their parts."""
        return [p for p in self.paired if not p.part_of]

    def worth(self, row: PairedRow) -> float:
        """How many items that are all apart would tell as much."""
        sizes = np.bincount(row.things)
        return len(row.baseline) / (1 + ((sizes**2).sum() / len(row.baseline) - 1) * self.within[row.name])


@dataclass(frozen=True)
class Change:
    """What a candidate loses, as a share of the items, by the name of a row or part; of means in deltas."""

    discordance: float
    loss: Mapping[str, float] = field(default_factory=dict)


def shape_of(baseline: Path, copies: Sequence[Path]) -> Shape:
    """The shape of a baseline, measured on reports of changed copies."""
    found = [_compared(baseline, copy) for copy in copies]
    every = [pool_rows(one) for one in found]
    paired = every[0]
    whole = [[p for p in one if not p.part_of] for one in every]
    rates = [{p.name: p for p in one if p.kind == "rate"} for one in whole]
    changes = [{p.name: p.candidate - p.baseline for p in one} for one in whole]
    flipped = [float(np.mean(np.concatenate([p.candidate != p.baseline for p in one.values()]))) for one in rates]
    within = {p.name: _within([r[p.name] for r in rates]) if p.kind == "rate" else 0.0 for p in whole[0]}
    clusters = 1 + max(int(p.things.max()) for p in paired)
    between = _between(rates, clusters)
    return Shape(paired, _places(found[0]), _units(found[0]), within, between, changes, flipped, clusters)


def _compared(baseline: Path, copy: Path) -> list[ComparedCase]:
    results = read_results(copy)
    candidate = run_scores(results, read_items(copy), results.models[0].label)
    return compare_cases(baseline_scores(read_baseline(baseline), candidate).select_split(), candidate.select_split())[
        0
    ]


def _places(found: Sequence[ComparedCase]) -> dict[str, Places]:
    """Where the items of each part stand in its row."""
    own = group_into_rows(found)
    at = {name: {key: i for i, key in enumerate(_keys(some))} for name, some in own.items()}
    return {
        name: np.array([at[p.row][key] for key in _keys(p.cases)], np.intp) for name, p in split_rows(found).items()
    }


def _units(found: Sequence[ComparedCase]) -> dict[str, Places]:
    """The check and surface direction of each item, as a number, by row."""
    named = {name: [key for one in some for key in _unit_of(one)] for name, some in group_into_rows(found).items()}
    order = {name: sorted(set(some)) for name, some in named.items()}
    return {name: np.array([order[name].index(one) for one in some], np.intp) for name, some in named.items()}


def _unit_of(one: ComparedCase) -> list[tuple[str, int]]:
    sides = np.zeros(len(one.old), np.intp) if one.sides is None else one.sides
    return [(one.before.case, int(side)) for side in sides]


def _keys(some: Sequence[ComparedCase]) -> list[tuple[str, str]]:
    return [(one.before.case, item) for one in some for item in one.before.items]


def _centred(p: PairedRow) -> Floats:
    change = p.candidate - p.baseline
    centred: Floats = change - change.mean()
    return centred


def _within(some: Sequence[PairedRow]) -> float:
    """The correlation of the changes of two items of one cluster, over all copies; at least 0."""
    together = variance = 0.0
    for p in some:
        change, held = _centred(p), np.bincount(p.things)
        together += float((np.bincount(p.things, change) ** 2 - np.bincount(p.things, change**2)).sum())
        variance += float((held * (held - 1)).sum() * change.var())
    return max(together / variance, 0.0) if variance else 0.0


def _between(copies: Sequence[Mapping[str, PairedRow]], clusters: int) -> float:
    """The same of two items of one cluster in two rows."""
    together = pairs = 0.0
    for rates in copies:
        moved = {name: p for name, p in rates.items() if _centred(p).any()}
        sums = [np.bincount(p.things, _centred(p) / _centred(p).std(), minlength=clusters) for p in moved.values()]
        held = [np.bincount(p.things, minlength=clusters) for p in moved.values()]
        together += float((np.sum(sums, axis=0) ** 2 - np.sum(np.square(sums), axis=0)).sum())
        pairs += float((np.sum(held, axis=0) ** 2 - np.sum(np.square(held), axis=0)).sum())
    return max(together / pairs, 0.0) if pairs else 0.0


def candidate(s: Shape, change: Change, rng: np.random.Generator) -> list[PairedRow]:
    """A simulated candidate against the baseline."""
    common, copy = rng.random(s.clusters), int(rng.integers(len(s.changes)))
    turned = rng.choice((-1.0, 1.0), s.clusters)
    drawn: dict[str, PairedRow] = {}
    for p in s.whole:
        loss = _loss_of_items(p, s, change)
        if p.kind == "rate":
            moved = _flipped(p, s, change, loss, _uniforms(p, s, common, rng))
        else:
            size = change.discordance / s.flipped[copy]
            found = s.changes[copy][p.name]
            moved = p.baseline + size * turned[p.things] * (found - found.mean()) - loss
        drawn[p.name] = replace(p, candidate=moved, same=False)
    return [drawn.get(p.name) or _part(p, drawn[p.part_of], s.inside[p.name]) for p in s.paired]


def _part(part: PairedRow, row: PairedRow, places: Places) -> PairedRow:
    return replace(part, baseline=row.baseline[places], candidate=row.candidate[places], same=False)


def _loss_of_items(p: PairedRow, s: Shape, change: Change) -> Floats:
    """How probable it is that an item is lost, beyond what flips both ways; of means, by how much it falls."""
    unit = 1.0 if p.kind == "rate" else (p.delta or DEFAULT.mean_delta) / DEFAULT.rate_delta
    loss = np.full(len(p.baseline), change.loss.get(p.name, 0.0) * unit)
    for name, places in s.inside.items():
        if name in change.loss and next(q for q in s.paired if q.name == name).part_of == p.name:
            loss[places] += change.loss[name]
    return loss


def _uniforms(p: PairedRow, s: Shape, common: Floats, rng: np.random.Generator) -> Floats:
    """A draw an item: that of its cluster so often that two of one cluster have the correlation `within`."""
    within = min(s.within[p.name] / _alike(p), 1.0)
    shared = rng.random(s.clusters) < np.sqrt(min(s.between / within, 1.0) if within else 0.0)
    own = np.where(shared, common, rng.random(s.clusters))
    n = len(p.baseline)
    found: Floats = np.where(rng.random(n) < np.sqrt(within), own[p.things], rng.random(n))
    return found


def _alike(p: PairedRow) -> float:
    """The correlation of two changes of a cluster that have one draw, since only a win can be lost and a loss won.

    1 where the baseline wins or loses a cluster as a whole.
    """
    held, won, rate = np.bincount(p.things), np.bincount(p.things, p.baseline), p.baseline.mean()
    pairs = float((held * (held - 1)).sum())
    lost = held - won
    both = (won * (won - 1)).sum() / max(rate, 1e-9) + (lost * (lost - 1)).sum() / max(1 - rate, 1e-9)
    return max(float(both) / (2 * pairs), 1e-9) if pairs else 1.0


def _flipped(p: PairedRow, s: Shape, change: Change, loss: Floats, u: Floats) -> Floats:
    """The wins after the flips; both ways alike but for the loss."""
    unit = s.units[p.name]
    rate = (np.bincount(unit, p.baseline) / np.bincount(unit))[unit]
    loss = _possible(loss, rate)
    down = np.clip(_even(p, s, rate, change.discordance) + loss / 2, np.clip(loss, 0, None), rate)
    up = np.clip(down - loss, 0, 1 - rate)
    lost, gained = u < down / np.fmax(rate, 1e-9), u > 1 - up / np.fmax(1 - rate, 1e-9)
    return np.where(np.where(p.baseline >= 0.5, lost, gained), 1.0 - p.baseline, p.baseline)


def _possible(loss: Floats, rate: Floats) -> Floats:
    """The same loss on the mean, more of it where there is something to lose."""
    wanted, found = float(loss.mean()), loss
    for _ in range(20):
        found = np.fmin(found, rate)
        found = np.fmin(found * wanted / found.mean(), rate) if wanted > 0 and found.mean() > 0 else found
    return found


def _even(p: PairedRow, s: Shape, rate: Floats, discordance: float) -> Floats:
    """How probable a flip is each way, of each item: as the copies flip its unit, and no more than can balance."""
    if (p.name, discordance) in s.known:
        return s.known[p.name, discordance]
    unit = s.units[p.name]
    flips = sum(np.bincount(unit, one[p.name] != 0) for one in s.changes)
    weight = ((flips + 0.5) / np.bincount(unit))[unit]
    most = np.fmin(rate, 1 - rate)
    low, high = 0.0, 1e3
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if np.fmin(middle * weight, most).mean() < discordance / 2 else (low, middle)
    s.known[p.name, discordance] = np.fmin(low * weight, most)
    return s.known[p.name, discordance]


def outcomes(s: Shape, change: Change, *, runs: int, rule: Rule = DEFAULT, seed: int = 0) -> Counter[str]:
    """How often such a candidate passes, blocks and stays inconclusive."""
    rng = np.random.default_rng([seed, round(1e4 * change.discordance)])
    return Counter(decided(s, change, rng, rule).outcome for _ in range(runs))


def decided(s: Shape, change: Change, rng: np.random.Generator, rule: Rule = DEFAULT) -> GateDecision:
    """What the gate says of one."""
    return decide_by_rows(candidate(s, change, rng), rule=rule)


def evidence(s: Shape) -> dict[str, bool]:
    """The rows that gate, and whether they are evidence for passing."""
    same = [replace(p, candidate=p.baseline) for p in s.paired]
    return {row.name: row.evidence for row in decide_by_rows(same).rows if row.gates}


def measured(s: Shape) -> Iterator[str]:
    """The rows, and how their changes go together."""
    told = evidence(s)
    yield line(("gate row", "items", "clusters", "baseline", "correlation in a cluster", "effective items", "parts"))
    yield line(["---"] * 7)
    for p in (p for p in s.whole if p.name in told):
        base = f"{p.baseline.mean():.1%}" if p.kind == "rate" else f"{p.baseline.mean():.3f}"
        count = sum(q.part_of == p.name for q in s.paired)
        figures = (f"{s.within[p.name]:.2f}", f"{s.worth(p):,.0f}") if p.kind == "rate" else ("-", "-")
        name = p.name if told[p.name] else f"{p.name} (no evidence)"
        clusters = len(np.unique(p.things))
        yield line((name, f"{len(p.baseline):,}", f"{clusters:,}", base, *figures, count or "-"))
    flipped = ", ".join(f"{one:.1%}" for one in s.flipped)
    yield f"\nThe copies flip {flipped} of all items; correlation between rows on one cluster: {s.between:.3f}."


def unchanged(s: Shape, runs: int, rule: Rule = DEFAULT) -> Iterator[str]:
    """A candidate that loses nothing."""
    yield line(("discordance", "passes", "blocked", "inconclusive"))
    yield line(["---"] * 4)
    for d in DISCORDANCES:
        seen = outcomes(s, Change(d), runs=runs, rule=rule)
        yield line((f"{d:.0%}", *(percent(seen[o] / runs) for o in ("pass", "block", "inconclusive"))))


def losing(s: Shape, runs: int, rule: Rule = DEFAULT) -> Iterator[str]:
    """4 points lost in one row, each in turn (2 deltas of a mean): blocked / passed in percent."""
    yield line(("lost in", "effective items", *(f"{d:.0%}" for d in DISCORDANCES)))
    yield line(["---"] * (2 + len(DISCORDANCES)))
    told = evidence(s)
    for p in sorted((p for p in s.whole if p.name in told), key=lambda p: not told[p.name]):
        worth = f"{s.worth(p):,.0f}" if p.kind == "rate" else "-"
        name = p.name if told[p.name] else f"{p.name} (no evidence)"
        yield line((name, worth, *_cells(s, {p.name: LOSS}, runs, rule)))


def inside(s: Shape, runs: int, rule: Rule = DEFAULT) -> Iterator[str]:
    """8 points lost in one part of a row, each in turn: blocked / passed in percent; in brackets without parts."""
    yield line(("lost in", "of", "items", *(f"{d:.0%}" for d in INSIDE)))
    yield line(["---"] * (3 + len(INSIDE)))
    told = evidence(s)
    for p in (p for p in s.paired if told.get(p.part_of)):
        cells = [_both(s, Change(d, {p.name: PART_LOSS}), runs, rule) for d in INSIDE]
        yield line((p.name, p.part_of, f"{len(p.baseline):,}", *cells))


def turned(s: Shape, runs: int, rule: Rule = DEFAULT) -> Iterator[str]:
    """8 points lost in one surface direction and won in the other, the mean unchanged; cells as before."""
    yield line(("row", "items of each direction", *(f"{d:.0%}" for d in INSIDE)))
    yield line(["---"] * (2 + len(INSIDE)))
    for p in s.whole:
        one, other = (GateRowId(p.name).part(DIRECTION.format(side)) for side in DIRECTIONS)
        if other in s.inside:
            changes = [Change(d, {one: -PART_LOSS, other: PART_LOSS}) for d in INSIDE]
            yield line((p.name, f"{len(s.inside[other]):,}", *(_both(s, c, runs, rule) for c in changes)))


def edge(s: Shape, runs: int, rule: Rule = DEFAULT) -> Iterator[str]:
    """Every row loses just what may be lost, delta / 2: how often that is blocked (5% at most)."""
    yield line([f"{d:.0%}" for d in DISCORDANCES])
    yield line(["---"] * len(DISCORDANCES))
    moves = {p.name for p in s.whole for one in s.changes if one[p.name].any()}
    lost = dict.fromkeys(sorted(moves), rule.block * DEFAULT.rate_delta)
    seen = [outcomes(s, Change(d, lost), runs=runs, rule=rule)["block"] for d in DISCORDANCES]
    yield line([percent(one / runs) for one in seen])


def _both(s: Shape, change: Change, runs: int, rule: Rule) -> str:
    """The same candidates with parts and without."""
    with_parts, without = (outcomes(s, change, runs=runs, rule=one) for one in (rule, replace(rule, parts=0.0)))
    return f"{_cell(with_parts, runs)} ({_cell(without, runs)})"


def _cells(s: Shape, loss: Mapping[str, float], runs: int, rule: Rule) -> list[str]:
    return [_cell(outcomes(s, Change(d, loss), runs=runs, rule=rule), runs) for d in DISCORDANCES]


def _cell(seen: Mapping[str, int], runs: int) -> str:
    return f"{100 * seen['block'] / runs:.0f} / {100 * seen['pass'] / runs:.1f}"


TABLES = {"unchanged": unchanged, "losing": losing, "edge": edge, "inside": inside, "turned": turned}


def report(baseline: Path, copies: Sequence[Path], *, runs: int, only: str | None) -> Iterator[str]:
    """All tables, or one."""
    s = shape_of(baseline, copies)
    if only in (None, "measured"):
        yield from measured(s)
    for name, table in TABLES.items():
        if only in (None, name):
            start = time.perf_counter()
            yield f"\n{name}: {table.__doc__}\n"
            yield from table(s, runs)
            yield f"({time.perf_counter() - start:.0f} s)"


def percent(share: float) -> str:
    return f"{100 * share:.1f}%"


def line(cells: Sequence[object]) -> str:
    return f"| {' | '.join(map(str, cells))} |"
