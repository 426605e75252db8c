"""A gate as results.json keeps it and as it is told: the decision against each baseline, with what there is beside it.

Reindex, shifts and rows are what the gate decided by; nothing is a copy for the file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, Self

from encheck.gating.index_space import IndexFaults, OldIndex
from encheck.gating.linear_map import Kind
from encheck.gating.reindex import Reindex
from encheck.gating.scale_shift import ScaleShift, ThresholdShift
from encheck.gating.types import Decision, ExitCode, Outcome, PartialGate
from encheck.system.typed_files import Count


@dataclass(frozen=True)
class Balanced:
    """The balanced score of both models; null where it cannot be told, and of a candidate that is blocked."""

    baseline: float | None = None
    candidate: float | None = None


@dataclass(frozen=True)
class IndexAdapter:
    """The file of a linear map from new vectors to old ones, with which new queries find as much on the old index.

    `unit` says that each vector is divided by its length first, `texts` on how many it was fitted, `says` how new
    queries do with it.
    """

    file: Literal["adapter.npz"]
    kind: Kind
    how: str
    unit: bool
    texts: Count
    says: str

    @classmethod
    def of(cls, index: OldIndex) -> Self | None:
        """That of an old index; None where no map helps, or none is needed."""
        one = index.adapter
        if one is None or index.mapped is None:
            return None
        return cls("adapter.npz", one.kind, one.how, one.unit, one.texts, index.mapped.says)


@dataclass(frozen=True, kw_only=True)
class GateAgainst(Decision):
    """The decision against one baseline, which is named by its folder.

    `languages` counts the user's texts by language, where few are English. `reported_only` says why a case did not
    gate, `remedies` what can be done where the gate is inconclusive, `required_changes` what has to change with the
    model, a sentence each. `index_faults` is what is wrong with an old index that is given as stored vectors, `adapter`
    a linear map for it. `reindex` says whether stored vectors stay, None of models that score pairs; `scales` has the
    data sets whose scale moved, `thresholds` what becomes of thresholds in use.
    """

    baseline: str
    languages: str = ""
    balanced: Balanced = Balanced()
    remedies: tuple[str, ...] = ()
    reported_only: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    required_changes: tuple[str, ...] = ()
    index_faults: IndexFaults | None = None
    adapter: IndexAdapter | None = None
    reindex: Reindex | None = None
    scales: tuple[ScaleShift, ...] = ()
    thresholds: tuple[ThresholdShift, ...] = ()


@dataclass(frozen=True)
class Gate:
    """A gate: the worst outcome against any baseline, which are the one in use and an anchor, and the exit code.

    `partial` is not null where a gate did not weigh all checks that its data allow: it can block, and never passes.
    """

    outcome: Outcome
    exit_code: ExitCode
    partial: PartialGate | None
    against: tuple[GateAgainst, ...]
