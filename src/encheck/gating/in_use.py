"""How a cut-off in use moves, on the pairs that a run and a baseline scored."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from encheck.gating.dropin import CutoffMoved, cutoff_moved
from encheck.gating.kept import Kept
from encheck.ids import CaseId
from encheck.scoring.table import Table

Columns = Mapping[str, Sequence[Any]]
Scored = dict[tuple[str, ...], tuple[float, float]]  # (the pair's texts, in order) -> (before, now)
LABELLED = "labelled"
OF_PAIRS = (LABELLED, "triplet", "crossed", "chain", "both_orders", "pair")  # whose scores are similarities of texts


def moved_cutoffs(
    baseline: Mapping[str, Kept], run: Mapping[str, Table], results: Mapping[str, Any], items: Mapping[str, Columns],
    *, model: str, cutoff: float | None,
) -> tuple[CutoffMoved, ...]:  # fmt: skip
    """One for each data set that has pairs, nothing without a cut-off; a run's items are by case, with texts.

    The pairs are the data's own where they have labels, else those of the checks, each once.
    """
    if cutoff is None:
        return ()
    found: dict[str, dict[bool, Scored]] = {}
    for case, columns in _cases_of(results, items, model):
        if case in baseline and baseline[case].has_items_of(run[case]):
            kind = columns["kind"][0]
            own = found.setdefault(run[case].data, {}).setdefault(kind == LABELLED, {})
            own.update(_pairs(columns, baseline[case].facing(run[case]), run[case]) if kind in OF_PAIRS else ())
    sets = ((data, by_kind.get(True) or by_kind.get(False)) for data, by_kind in sorted(found.items()))
    return tuple(_moved(pairs, cutoff, data) for data, pairs in sets if pairs)


def _cases_of(results: Mapping[str, Any], items: Mapping[str, Columns], model: str) -> Iterator[tuple[str, Columns]]:
    named = {str(case): case.of_any_model for case in map(CaseId.of, results["checks"]) if case.model == model}
    return ((named[name], columns) for name, columns in items.items() if name in named and columns.get("kind"))


def _pairs(columns: Columns, before: Table, now: Table) -> Iterable[tuple[tuple[str, ...], tuple[float, float]]]:
    for side in ("near", "far"):
        scores = zip(getattr(before, side).tolist(), getattr(now, side).tolist(), strict=True)
        for source, text, both in zip(columns["source"], columns[side], scores, strict=True):
            if text is not None and both[0] == both[0]:
                yield tuple(sorted((source, text))), both


def _moved(pairs: Scored, cutoff: float, data: str) -> CutoffMoved:
    before, now = np.array(list(pairs.values())).T
    return cutoff_moved(before, now, cutoff=cutoff, data=data)
