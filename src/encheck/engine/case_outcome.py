"""The measurements of one process of a run, in a form that can be sent to the reporting process."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Self

from encheck.gating.baseline import FirstLookItems
from encheck.gating.reindex import DocumentLengths, PackedSample
from encheck.run_file import DataEntry, FirstLook, ModelEntry, RemainingWork, Result, Selection
from encheck.running.parents import ParentScales
from encheck.system.typed_files import as_values, restore_typed
from encheck.types import ClaimEntry

if TYPE_CHECKING:
    from pyarrow import Table


@dataclass(frozen=True)
class CaseOutcomeWithoutItems:
    """The outcome of one case without its items: its rows, and the entry of its check.

    `part` has the positions of a first look's items among all items of the case. `documents` has (row, id, text) of the
    documents that the queries rank first.
    """

    rows: tuple[Result, ...]
    claim: ClaimEntry
    part: FirstLookItems | None = None
    documents: Sequence[tuple[int, str, str]] = ()


@dataclass(frozen=True)
class CaseOutcome(CaseOutcomeWithoutItems):
    """The outcome of one case. `items` is a table of `item_schema`; None if nothing was measured.

    `parent_scores` has the columns near_score and far_score for the model's parent, if it has a parent.
    """

    items: Table | None = None
    parent_scores: Table | None = None

    def serialise(self) -> str:
        """Return the outcome as text, which pytest's reports can carry. Figures keep every digit."""
        import pyarrow

        figures = CaseOutcomeWithoutItems(
            **{one.name: getattr(self, one.name) for one in fields(CaseOutcomeWithoutItems)}
        )
        tables = [one for one in (self.items, self.parent_scores) if one is not None]
        streams = []
        for table in tables:
            sink = pyarrow.BufferOutputStream()
            with pyarrow.ipc.new_stream(sink, table.schema) as writer:
                writer.write_table(table)
            streams.append(b64encode(sink.getvalue().to_pybytes()).decode())
        return json.dumps([as_values(figures), *streams])

    @classmethod
    def deserialise(cls, text: str) -> Self:
        """Return the outcome from the output of `serialise`."""
        from pyarrow import ipc

        values, *tables = json.loads(text)
        figures = restore_typed(CaseOutcomeWithoutItems, values)
        read = [ipc.open_stream(b64decode(table)).read_all() for table in tables]
        return cls(figures.rows, figures.claim, figures.part, figures.documents, *read)


@dataclass(frozen=True)
class ProcessDescription:
    """The description of an evaluation in one process: models, data, notes and times, and what a gate needs.

    `parents`, `encoded`, `vectors` and `documents` have an entry for each model, `texts` for each property. `seconds`
    has the times for waiting, encoding and generating.
    """

    models: tuple[ModelEntry, ...]
    data: tuple[DataEntry, ...]
    notes: tuple[str, ...]
    selection: Selection
    seconds: Mapping[str, float]
    texts: Mapping[str, int]
    encoded: Mapping[str, int]
    look: FirstLook | None = None
    rest: RemainingWork | None = None
    parents: Mapping[str, ParentScales] = field(default_factory=dict)
    vectors: Mapping[str, PackedSample] = field(default_factory=dict)
    documents: Mapping[str, DocumentLengths] = field(default_factory=dict)

    def serialise(self) -> str:
        """Return the description as text, which a worker of xdist sends when it ends."""
        return json.dumps(as_values(self))

    @classmethod
    def deserialise(cls, text: str) -> Self:
        """Return the description from the output of `serialise`."""
        return restore_typed(cls, json.loads(text))

    def select_models(self, models: Collection[str]) -> Self:
        """Return the description of these models alone."""
        calibrated = [{m: scale for m, scale in one.calibration.items() if m in models} for one in self.data]
        return replace(
            self,
            models=tuple(model for model in self.models if model.label in models),
            data=tuple(replace(one, calibration=some) for one, some in zip(self.data, calibrated, strict=True)),
            encoded={label: count for label, count in self.encoded.items() if label in models},
            parents={label: parent for label, parent in self.parents.items() if label in models},
            vectors={label: sample for label, sample in self.vectors.items() if label in models},
            documents={label: lengths for label, lengths in self.documents.items() if label in models},
        )
