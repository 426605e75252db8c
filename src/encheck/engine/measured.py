"""What a process of a run measured, and how it sends that to the one that reports."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Self, TypeVar

from encheck.gating.kept import Part
from encheck.gating.reindex import DocumentLengths, PackedSample
from encheck.run_file import DataEntry, FirstLook, ModelEntry, Rest, Result, Selection
from encheck.running.parents import MeasuredParent
from encheck.scoring.frame import Columns
from encheck.system.typed_files import as_values, restore_typed
from encheck.types import ClaimEntry

T = TypeVar("T")


@dataclass(frozen=True)
class MeasuredCase:
    """What came of one case: its rows, the entry of its check, and where it measured its items.

    `parent` has the scores of the items under the model's parent, `part` where the items of a first look stand among
    all of their case, and `documents` (row, id, text) of what queries found first.
    """

    rows: tuple[Result, ...]
    claim: ClaimEntry
    items: Columns = field(default_factory=dict)
    parent: Columns = field(default_factory=dict)
    part: Part | None = None
    documents: Sequence[tuple[int, str, str]] = ()

    def sent(self) -> str:
        """As text: pytest's reports carry no other values of ours. Every figure stays what it is, to the last digit."""
        return json.dumps([as_values(replace(self, items={}, parent={})), self.items, self.parent])

    @classmethod
    def received(cls, text: str) -> Self:
        """What a process of this run has `sent`."""
        values, items, parent = json.loads(text)
        return replace(restore_typed(cls, values), items=items, parent=parent)


@dataclass(frozen=True)
class Described:
    """What an evaluation says of itself: models, data, notes and times of its process, and what a gate asks for.

    `parents`, `encoded`, `vectors` and `documents` are by model, `texts` by property. `seconds` are those that it
    waited, encoded and generated.
    """

    models: tuple[ModelEntry, ...]
    data: tuple[DataEntry, ...]
    notes: tuple[str, ...]
    selection: Selection
    seconds: Mapping[str, float]
    texts: Mapping[str, int]
    encoded: Mapping[str, int]
    look: FirstLook | None = None
    rest: Rest | None = None
    parents: Mapping[str, MeasuredParent] = field(default_factory=dict)
    vectors: Mapping[str, PackedSample] = field(default_factory=dict)
    documents: Mapping[str, DocumentLengths] = field(default_factory=dict)

    def sent(self) -> str:
        """As text, which is what a worker of xdist hands over when it ends."""
        return json.dumps(as_values(self))

    @classmethod
    def received(cls, text: str) -> Self:
        """What a process of this run has `sent`."""
        return restore_typed(cls, json.loads(text))

    def of(self, models: Collection[str]) -> Self:
        """What it says of these models alone."""
        return replace(
            self,
            models=tuple(model for model in self.models if model.label in models),
            data=tuple(replace(one, calibration=_only(one.calibration, models)) for one in self.data),
            encoded=_only(self.encoded, models),
            parents=_only(self.parents, models),
            vectors=_only(self.vectors, models),
            documents=_only(self.documents, models),
        )


def _only(found: Mapping[str, T], models: Collection[str]) -> dict[str, T]:
    return {label: one for label, one in found.items() if label in models}
