"""Contamination: what a model gained on the written probes, which are public, beyond what it gained on fresh ones.

Nobody has published the texts of fresh probes, so no model was trained on them. Of a candidate and an older model, over
the checks that both data have, each in the rate by which it gates:

    contamination = mean over checks of (candidate - older on written) - (candidate - older on fresh)

The older model cancels what makes one set easier than the other. The row assumes that honest progress is as large on
both sets. It is evidence and no proof, since other things part the two gains:

- new names, numbers or registers in the fresh probes that the candidate handles worse;
- a candidate that is better, or worse, at the short plain sentences of frames;
- a candidate that was trained on the frames, which are public too: that hides contamination;
- rates that are near 1 on one set alone, where there is no more to gain;
- an older model that knew the written probes itself.

The row is reported, and no gate weighs it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from encheck.datasets.probes import FRESH
from encheck.gating.pairing import RANKS, Compared, ModelScores, common_items, compare
from encheck.run_file import Contamination
from encheck.statistics.bootstrap import Resampler, percentile_interval
from encheck.verdict import MIN_CLUSTERS

Floats = NDArray[np.float64]
PROBES = "probes"
CLEAR = "gains on the public probes that fresh ones do not show"
TURNED = "fresh ones gained more than the public probes"


@dataclass(frozen=True)
class Gain:
    """By how much a candidate's mean rate over the checks is above the older model's on one data set.

    `replicates` are bootstrap replicates of `value`, shape [replicates]; `clusters` hold at least one of the items.
    """

    value: float
    replicates: Floats
    clusters: int


def data_pairs(editions: Mapping[str, str]) -> list[tuple[str, str]]:
    """The written probes with each of the fresh ones among these data; `editions` maps a name to its edition, or "".

    A file of one's own in the schema of the probes has no edition, and is not public.

    >>> data_pairs({"mrpc": "", "probes": "3.0.0", "probes-fresh=1": ""})
    [('probes', 'probes-fresh=1')]
    """
    written = [name for name, edition in editions.items() if name == PROBES and edition]
    return list(product(written, [name for name in editions if name.startswith(f"{PROBES}-{FRESH}")]))


def contaminations(
    older: ModelScores, candidate: ModelScores, editions: Mapping[str, str], *, names: tuple[str, str], seed: int = 0
) -> Iterator[Contamination]:
    """A row for each pair of written and fresh probes that both models were run on; `names` are (older, candidate).

    Written probes count with the part that gates: training may choose checkpoints on the other.
    """
    for written, fresh in data_pairs(editions):
        found = contamination(older.seen(), candidate.seen(), data=(written, fresh), names=names, seed=seed)
        if found:
            yield found


def contamination(
    older: ModelScores, candidate: ModelScores, *, data: tuple[str, str], names: tuple[str, str], seed: int = 0
) -> Contamination | None:
    """The row of two models on `data`, (written, fresh); None if no check has shared items on both.

    The interval is the percentile interval of a bootstrap that draws clusters within each data set, for both models
    and all checks at once: the probes' clusters, and the frames of the fresh ones. The two are drawn independently.
    """
    of = [_rates(older, candidate, name) for name in data]
    checks = sorted(of[0].keys() & of[1].keys())
    if not checks:
        return None
    written, fresh = (_gain([some[check] for check in checks], seed + i) for i, some in enumerate(of))
    value = written.value - fresh.value
    low, high = map(float, percentile_interval(written.replicates - fresh.replicates))
    is_small = min(written.clusters, fresh.clusters) < MIN_CLUSTERS or math.isnan(low)
    said = f"contamination of {names[1]} since {names[0]}: {says(value, low, high, is_small=is_small)}"
    return Contamination(
        names[1], names[0], *data, len(checks), written.value, fresh.value, written.clusters, fresh.clusters,
        value, None if math.isnan(low) else low, None if math.isnan(high) else high, said,
    )  # fmt: skip


def says(value: float, low: float, high: float, *, is_small: bool) -> str:
    """The row in words.

    >>> says(0.004, -0.012, 0.02, is_small=False)
    'none seen: +0.4 points [-1.2, +2.0]'
    """
    value, low, high = (round(100 * x, 1) + 0.0 for x in (value, low, high))
    figure = f"{value:+.1f} points [{low:+.1f}, {high:+.1f}]"
    if is_small:
        return f"too few clusters to tell: {figure}"
    if low > 0:
        return f"{figure}: {CLEAR}"
    return f"none seen: {figure}" + (f": {TURNED}" if high < 0 else "")


def _rates(older: ModelScores, candidate: ModelScores, data: str) -> dict[tuple[str, str], Compared]:
    """The checks of these data that gate by a rate, by name and level, on the items that both models scored."""
    found = {}
    for case, table in older.tables.items():
        if table.data == data and case in candidate.tables:
            both = common_items(table, candidate.tables[case])
            scales = (older.scales.get(data, RANKS), candidate.scales.get(data, RANKS))
            compared = compare(*both, scales) if len(both[0].items) else None
            if compared and compared.metric.kind == "rate":
                found[table.check, table.level] = compared
    return found


def _gain(some: list[Compared], seed: int) -> Gain:
    universe = sorted({cluster for one in some for cluster in one.before.clusters})
    drawn = []  # NaN where none of a check's clusters was drawn
    for one in some:
        moved = one.new - one.old
        resampler = Resampler(one.before.clusters, universe=universe, seed=seed)
        totals = resampler.totals(np.column_stack([moved, np.ones_like(moved)]))
        with np.errstate(invalid="ignore"):
            drawn.append(totals[:, 0] / totals[:, 1])
    value = float(np.mean([(one.new - one.old).mean() for one in some]))
    return Gain(value, np.mean(drawn, axis=0), len(universe))


def lines(rows: Iterable[Contamination]) -> Iterator[str]:
    """A line for each row, with the two gains behind it, as reports have it."""
    for row in rows:
        gains = ((row.written_gain, row.written), (row.fresh_gain, row.fresh))
        told = ", ".join(f"{round(100 * gain, 1) + 0.0:+.1f} on {data}" for gain, data in gains)
        yield f"{row.says} ({told}; mean of {row.checks} checks; decides nothing)"
