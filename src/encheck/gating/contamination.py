"""Contamination: how much more a model gained on the written probes, which are public, than on fresh ones.

The texts of fresh probes are unpublished, so no model was trained on them. A candidate is compared with an older model
over the checks that both data sets have, each by the rate that it gates by:

    contamination = mean over checks of (candidate - older on written) - (candidate - older on fresh)

The older model cancels a difference in difficulty between the sets. The row assumes that honest progress is equal on
both sets. It is evidence, not proof, since other causes can separate the two gains:

- new names, numbers or registers in the fresh probes that the candidate handles worse;
- a candidate that is better, or worse, at the short plain sentences of frames;
- a candidate that was trained on the frames, which are public too: that hides contamination;
- a rate near 1 on one set alone, which leaves little to gain there;
- an older model that was trained on the written probes itself.

The row is only reported: no gate uses it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from encheck.datasets.probes import FRESH
from encheck.gating.pairing import NO_CALIBRATION, ComparedCase, ModelScores, common_items, compare_case
from encheck.run_file import Contamination
from encheck.statistics.bootstrap import Resampler, percentile_interval
from encheck.verdict import MIN_CLUSTERS

Floats = NDArray[np.float64]
PROBES = "probes"
MORE_ON_PUBLIC = "gains on the public probes that fresh ones do not show"
MORE_ON_FRESH = "fresh ones gained more than the public probes"


@dataclass(frozen=True)
class Gain:
    """The candidate's mean rate over the checks minus the older model's, on one data set.

    `replicates` are bootstrap replicates of `value`, shape [replicates]. `clusters` counts the clusters that have an
    item.
    """

    value: float
    replicates: Floats
    clusters: int


def pair_probe_data(editions: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return the pairs of the written probes with each set of fresh ones.

    `editions` maps a data set to its edition, or "". A user's own file in the probes' schema has no edition. It is not
    public, so it forms no pair.

    >>> pair_probe_data({"mrpc": "", "probes": "3.0.0", "probes-fresh=1": ""})
    [('probes', 'probes-fresh=1')]
    """
    written = [name for name, edition in editions.items() if name == PROBES and edition]
    return list(product(written, [name for name in editions if name.startswith(f"{PROBES}-{FRESH}")]))


def estimate_contaminations(
    older: ModelScores, candidate: ModelScores, editions: Mapping[str, str], *, names: tuple[str, str], seed: int = 0
) -> Iterator[Contamination]:
    """Yield a row for each pair of written and fresh probes on which both models were run.

    `names` are (older, candidate). Only the gate split of the written probes counts, because training may select
    checkpoints on the dev split.
    """
    for written, fresh in pair_probe_data(editions):
        found = estimate_contamination(
            older.select_split(), candidate.select_split(), data=(written, fresh), names=names, seed=seed
        )
        if found:
            yield found


def estimate_contamination(
    older: ModelScores, candidate: ModelScores, *, data: tuple[str, str], names: tuple[str, str], seed: int = 0
) -> Contamination | None:
    """Return the row of two models on `data`, (written, fresh), or None if they share no items of a check on both sets.

    The interval is a bootstrap percentile interval. It resamples clusters (for fresh probes: frames) within each data
    set, jointly for both models and all checks. The two data sets are resampled independently.
    """
    of = [_compare_rates(older, candidate, name) for name in data]
    checks = sorted(of[0].keys() & of[1].keys())
    if not checks:
        return None
    written, fresh = (_mean_gain([some[check] for check in checks], seed + i) for i, some in enumerate(of))
    value = written.value - fresh.value
    low, high = map(float, percentile_interval(written.replicates - fresh.replicates))
    is_small = min(written.clusters, fresh.clusters) < MIN_CLUSTERS or math.isnan(low)
    said = f"contamination of {names[1]} since {names[0]}: {contamination_text(value, low, high, is_small=is_small)}"
    return Contamination(
        names[1], names[0], *data, len(checks), written.value, fresh.value, written.clusters, fresh.clusters,
        value, None if math.isnan(low) else low, None if math.isnan(high) else high, said,
    )  # fmt: skip


def contamination_text(value: float, low: float, high: float, *, is_small: bool) -> str:
    """Return the row in words.

    >>> contamination_text(0.004, -0.012, 0.02, is_small=False)
    'none seen: +0.4 points [-1.2, +2.0]'
    """
    value, low, high = (round(100 * x, 1) + 0.0 for x in (value, low, high))
    figure = f"{value:+.1f} points [{low:+.1f}, {high:+.1f}]"
    if is_small:
        return f"too few clusters to tell: {figure}"
    if low > 0:
        return f"{figure}: {MORE_ON_PUBLIC}"
    return f"none seen: {figure}" + (f": {MORE_ON_FRESH}" if high < 0 else "")


def _compare_rates(older: ModelScores, candidate: ModelScores, data: str) -> dict[tuple[str, str], ComparedCase]:
    """Return the checks on this data set that gate by a rate, by name and level, over the items of both models."""
    found = {}
    for case, table in older.tables.items():
        if table.data == data and case in candidate.tables:
            both = common_items(table, candidate.tables[case])
            scales = (older.scales.get(data, NO_CALIBRATION), candidate.scales.get(data, NO_CALIBRATION))
            compared = compare_case(*both, scales) if len(both[0].items) else None
            if compared and compared.metric.kind == "rate":
                found[table.check, table.level] = compared
    return found


def _mean_gain(compared_cases: list[ComparedCase], seed: int) -> Gain:
    universe = sorted({cluster for one in compared_cases for cluster in one.before.clusters})
    drawn = []  # NaN where none of a check's clusters was drawn
    for one in compared_cases:
        moved = one.new - one.old
        resampler = Resampler(one.before.clusters, universe=universe, seed=seed)
        totals = resampler.replicate_totals(np.column_stack([moved, np.ones_like(moved)]))
        with np.errstate(invalid="ignore"):
            drawn.append(totals[:, 0] / totals[:, 1])
    value = float(np.mean([(one.new - one.old).mean() for one in compared_cases]))
    return Gain(value, np.mean(drawn, axis=0), len(universe))


def contamination_lines(rows: Iterable[Contamination]) -> Iterator[str]:
    """Yield the report line of each row, with the two gains behind it."""
    for row in rows:
        gains = ((row.written_gain, row.written), (row.fresh_gain, row.fresh))
        told = ", ".join(f"{round(100 * gain, 1) + 0.0:+.1f} on {data}" for gain, data in gains)
        yield f"{row.says} ({told}; mean of {row.checks} checks; decides nothing)"
