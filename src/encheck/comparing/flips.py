"""Items that some models get right and others wrong: those that one model alone gets wrong first."""

from __future__ import annotations

import builtins
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from encheck.comparing.models import Model
from encheck.comparing.runs import beats_chance, in_common, measured, metric_values
from encheck.gating.declared import shown
from encheck.gating.endpoints import RANKS
from encheck.ids import CaseId
from encheck.scoring.frame import CaseScores
from encheck.scoring.scale import Scale

Floats = NDArray[np.float64]
HALF = 0.5  # what a tie is worth


@dataclass(frozen=True, slots=True)
class Flip:
    """An item of a case that the models in `wrong` lose and those in `right` win, by their names.

    `margins` has near less far of each model of the case, by its name. `row` is the item's place among the items of
    its case, by the name of the model.
    """

    item: str
    check: str
    property: str
    data: str
    level: str
    wrong: tuple[str, ...]
    right: tuple[str, ...]
    margins: Mapping[str, float]

    @builtins.property
    def alone(self) -> str:
        """The one model that gets it wrong where every other gets it right; else empty."""
        return self.wrong[0] if len(self.wrong) == 1 else ""

    def case(self, model: Model) -> str:
        """The id of its case under a model, as items.parquet has it."""
        return str(CaseId(self.check, model.label, self.data, self.level))


def flips(models: Sequence[Model], *, epsilons: Mapping[str, float]) -> list[Flip]:
    """Each item that some models win and the others lose; what fewer get wrong first, then by how wrong they get it.

    Nothing of a check in which no model is shown to beat guessing: who wins an item there is luck. Only items that
    every model scored; one with a tie is left out, and the same texts are listed once.
    """
    tables = in_common([m.side.tables for m in models])
    found: dict[tuple[str, str], Flip] = {}
    for case in tables[0]:
        for text, flip in _of_case(models, [cut[case] for cut in tables], epsilons.get(case, 0.0)):
            found.setdefault((flip.data, text), flip)
    return sorted(found.values(), key=_rank)


def _rank(flip: Flip) -> tuple[int, float]:
    return len(flip.wrong), min(flip.margins[name] for name in flip.wrong)


def _scale(model: Model, table: CaseScores) -> Scale:
    return model.side.scales.get(table.data, RANKS)


def _of_case(models: Sequence[Model], tables: Sequence[CaseScores], epsilon: float) -> Iterator[tuple[str, Flip]]:
    """The flips of one case, each with the hash of its texts."""
    metric = shown(tables[0])
    if metric is None or metric.kind != "rate" or metric.unit != "item" or not len(tables[0].items):
        return
    cut = [measured(table) for table in tables]
    won = np.array([
        metric_values(metric, table, _scale(m, table), epsilon=epsilon)
        for m, table in zip(models, cut, strict=True)
    ])  # fmt: skip
    first = cut[0]
    if not any(beats_chance(metric.heads(first), metric, own, own) for own in won):
        return
    for i in np.flatnonzero((won != HALF).all(axis=0) & (won.min(axis=0) < HALF) & (won.max(axis=0) > HALF)):
        wrong, right = (
            tuple(m.name for m, w in zip(models, won[:, i], strict=True) if (w < HALF) == is_wrong)
            for is_wrong in (True, False)
        )
        margins = {m.name: float(np.nan_to_num(t.margins(_scale(m, t))[i])) for m, t in zip(models, cut, strict=True)}
        named = (first.items[i], first.check, first.property, first.data, first.level)
        yield first.texts[i], Flip(*named, wrong, right, margins)
