"""Score crossed groups and contrasts. Both have two sources and two texts, and each text is right for one source."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np

from encheck.ids import ItemId
from encheck.scoring.item import ExampleLine, Item, ItemFrame, ItemRow, Kind, Scores, TextScorer, triplet_lines
from encheck.scoring.scale import Floats, Scale
from encheck.scoring.triplets import Triplet, TripletScores, nearer_by_edit_distance
from encheck.statistics.bootstrap import Resampler
from encheck.types import Edit

SIDES = 2  # consecutive rows of a crossed group and of a contrast
SURFACE_FAVOURS = {
    1: "the surface favours the kept text:",
    -1: "the surface favours the changed text:",
    0: "the surface favours neither text:",
}


def side_note(row: ItemRow) -> str:
    """Return the number of a row's side in its group, and which text the surface favours."""
    assert row.near.text is not None
    assert row.far.text is not None
    return f"side {row.step} of 2, {SURFACE_FAVOURS[nearer_by_edit_distance(row.source, row.near.text, row.far.text)]}"


CROSSED = Kind(
    "crossed",
    "triplet",
    lambda: CrossedScores,
    noun="pairs",
    sides=SIDES,
    compares="texts",
    shrinks=True,
    note=side_note,
)


@dataclass(frozen=True, slots=True)
class CrossedSide:
    """One direction of a crossed group: a source, a text that keeps its meaning (near), and a text that changes it
    (far).
    """

    source: str
    near: str
    far: str
    near_edits: tuple[Edit, ...] = ()
    far_edits: tuple[Edit, ...] = ()
    near_why: str = ""
    far_why: str = ""


@dataclass(frozen=True, slots=True)
class Crossed(Item):
    """Two contrasts with the same texts.

    Each text keeps the meaning of one source and changes the meaning of the other. If there is a side in which the edit
    distance does not favour the changed text, it comes first.
    """

    kind: ClassVar[Kind] = CROSSED
    id: ItemId
    sides: tuple[CrossedSide, CrossedSide]
    cluster: str
    split: str = ""
    shares: tuple[str, ...] = ()
    construction: str = ""

    @property
    def triplets(self) -> tuple[Triplet, ...]:
        """The sides as separate items, numbered 1 and 2."""
        return tuple(
            Triplet(
                ItemId(self.id).of_step(number), s.source, s.near, s.far, self.cluster, s.near_edits, s.far_edits,
                self.split, s.near_why, s.far_why, self.shares, self.construction,
            )
            for number, s in enumerate(self.sides, 1)
        )  # fmt: skip

    @property
    def pairs_to_score(self) -> tuple[tuple[str, str], ...]:
        """The pairs to score: the near and the far pair of the first side, then those of the second side."""
        return tuple(pair for triplet in self.triplets for pair in triplet.pairs_to_score)


@dataclass(frozen=True)
class CrossedScores(Scores):
    """The scores of each group's sides as triplets, alternating first and second side: 2n rows for n groups.

    `resampler` draws the groups' clusters. The resampler of `sides` has the same replicates.
    """

    surface_scorers: ClassVar[tuple[str, ...]] = TripletScores.surface_scorers
    sides: TripletScores
    resampler: Resampler
    scale: Scale

    @classmethod
    def score_items(
        cls, items: Sequence[Crossed | Contrast], scorer: TextScorer, resampler: Resampler, scale: Scale
    ) -> Self:
        """Return the scores of these groups."""
        twice = resampler.select(np.repeat(np.arange(len(items)), SIDES))
        triplets = [triplet for group in items for triplet in group.triplets]
        return cls(TripletScores.score_items(triplets, scorer, twice, scale), resampler, scale)

    @property
    def margins(self) -> Floats:
        """The margins of the first and the second side of each group, shape [n, 2]. A tie is 0."""
        return self.sides.margins.reshape(-1, SIDES)

    @property
    def untied_share(self) -> float:
        """The share of sides whose two texts have different scores."""
        return self.sides.untied_share

    @property
    def calibrated(self) -> Self:
        """The same scores on the scale where 0 is a random pair and 1 is identical text."""
        surface = {name: beside.calibrated for name, beside in self.surface.items()}
        return replace(self, sides=self.sides.calibrated, surface=surface, suffix="_calibrated")

    def positions_worst_first(self) -> list[int]:
        """Return the positions of the groups, sorted by their smaller margin, the smallest first."""
        return [int(i) for i in np.argsort(self.margins.min(axis=1), kind="stable")]

    def to_item_frame(self, case: str, items: Sequence[Crossed | Contrast]) -> ItemFrame:
        """Return one row of the item file per side. The two sides of a group are adjacent; `step` is the number of the
        side.
        """
        beside = {name: scores.sides for name, scores in self.surface.items()}
        rows = replace(self.sides, surface=beside).to_item_frame(case, [t for group in items for t in group.triplets])
        return replace(rows, kind=CROSSED, steps=(1, 2) * len(items), source_is_second=(False,) * len(rows))

    def example_lines(self, item: Crossed | Contrast, position: int) -> list[ExampleLine]:
        """Return the lines that show both sides in a failure message."""
        lines: list[ExampleLine] = []
        for k, side in enumerate(item.triplets):
            said = SURFACE_FAVOURS[nearer_by_edit_distance(side.source, side.near, side.far)]
            near, far = (float(s[SIDES * position + k]) for s in (self.sides.near, self.sides.far))
            shown = triplet_lines(side.source, (near, side.near, side.near_edits), (far, side.far, side.far_edits))
            lines += [ExampleLine("side ", said), *shown]
        return lines


CONTRAST = Kind(
    "contrast", "triplet", lambda: ContrastScores, noun="pairs", sides=SIDES, is_question=True, stands_alone=True
)


@dataclass(frozen=True, slots=True)
class Contrast(Item):
    """Two queries and two documents. The first document is right for the first query, the second for the second.

    The queries are encoded as queries, the documents as documents.
    """

    kind: ClassVar[Kind] = CONTRAST
    id: ItemId
    queries: tuple[str, str]
    documents: tuple[str, str]
    cluster: str
    split: str = ""

    @property
    def triplets(self) -> tuple[Triplet, Triplet]:
        """Each query with its own document (near) and the other document (far), as items numbered 1 and 2."""
        (first, second), (own, other) = self.queries, self.documents
        return (
            Triplet(ItemId(self.id).of_step(1), first, own, other, self.cluster, split=self.split),
            Triplet(ItemId(self.id).of_step(2), second, other, own, self.cluster, split=self.split),
        )

    @property
    def query_document_pairs(self) -> tuple[tuple[str, str], ...]:
        """The pairs to score for a model that scores pairs: each query with its own document, then with the other."""
        return tuple(pair for triplet in self.triplets for pair in triplet.pairs_to_score)

    @property
    def queries_and_documents(self) -> tuple[Iterable[str], Iterable[str]]:
        """Both queries, and both documents."""
        return self.queries, self.documents


@dataclass(frozen=True)
class ContrastScores(CrossedScores):
    """The scores of each contrast's queries with the right and with the wrong document, as sides of a crossed group."""

    calibrates: ClassVar[bool] = False

    @classmethod
    def score_items(
        cls, items: Sequence[Crossed | Contrast], scorer: TextScorer, resampler: Resampler, scale: Scale
    ) -> Self:
        """Return the scores of these contrasts, with the texts encoded as queries and documents."""
        triplets = [triplet for one in items for triplet in one.triplets]
        queries = [t.source for t in triplets]
        near, far = (
            scorer.score_documents(queries, texts) for texts in ([t.near for t in triplets], [t.far for t in triplets])
        )
        twice = resampler.select(np.repeat(np.arange(len(items)), SIDES))
        return cls(TripletScores(near, far, twice, scale, items=tuple(triplets)), resampler, scale)

    def to_item_frame(self, case: str, items: Sequence[Crossed | Contrast]) -> ItemFrame:
        """Return one row per query. The two queries of a contrast are adjacent; `step` is the number of the query."""
        return replace(super().to_item_frame(case, items), kind=CONTRAST, roles=("query", "document"))

    def example_lines(self, item: Crossed | Contrast, position: int) -> list[ExampleLine]:
        """Return the lines that show both queries, each with the right and the wrong document."""
        lines = []
        for row, triplet in enumerate(item.triplets, SIDES * position):
            lines += [
                ExampleLine("query", triplet.source),
                ExampleLine("right", triplet.near, float(self.sides.near[row])),
                ExampleLine("wrong", triplet.far, float(self.sides.far[row])),
            ]
        return lines
