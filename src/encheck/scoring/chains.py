"""Score chains: a paraphrase, and members that share less and less with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from encheck.ids import ItemId
from encheck.scoring.item import (
    ExampleLine,
    Item,
    ItemFrame,
    Kind,
    Scores,
    TextColumns,
    TextScorer,
    edits_json,
    join_shares,
)
from encheck.scoring.pairs import TuningScores
from encheck.scoring.scale import Floats, Scale
from encheck.similarity import WORD_OVERLAP
from encheck.statistics.bootstrap import Resampler
from encheck.types import Edit

CHAIN = Kind("chain", "triplet", lambda: ChainScores, noun="chains", compares="texts")


@dataclass(frozen=True, slots=True)
class Chain(Item):
    """A sentence, its paraphrase, and members that share less and less of its meaning (Peng et al. 2023).

    With `pivot` "b", every member is compared with the paraphrase, as in the paper; with "a", with the sentence itself.
    `edits` are each member's edits of the paraphrase, or of the sentence if `edited` is "source". `overlap` is the word
    overlap of sentence and paraphrase. `unusual` has the share of unusual tag pairs in the paraphrase and then in each
    member. `surprisal` has their bits per token, if a language model was given. `rejected` has the reasons why other
    swaps were refused. `why` has the members' certificates.
    """

    kind: ClassVar[Kind] = CHAIN
    id: ItemId
    source: str
    partner: str
    members: tuple[str, ...]
    cluster: str
    pivot: Literal["a", "b"]
    split: str = ""
    edits: tuple[tuple[Edit, ...], ...] = ()
    edited: Literal["partner", "source"] = "partner"
    overlap: float = 1.0
    unusual: tuple[float, ...] = ()
    surprisal: tuple[float, ...] = ()
    rejected: tuple[str, ...] = ()
    why: tuple[str, ...] = ()
    shares: tuple[str, ...] = ()

    @property
    def pairs_to_score(self) -> tuple[tuple[str, str], ...]:
        """The pairs to score: the paraphrase first, then the members, from the nearest to the farthest."""
        if self.pivot == "a":
            return tuple((self.source, text) for text in (self.partner, *self.members))
        return tuple((text, self.partner) for text in (self.source, *self.members))


@dataclass(frozen=True)
class ChainScores(Scores):
    """The similarity of each chain's paraphrase and of each of its members, shape [n, 1 + members].

    Scores that tie are equal (see `with_ties_equal`). A chain that is shorter than the longest has NaN at its end.
    `head_threshold` is the threshold of a trained two-class head, or None. `tuning` are the scores to choose a
    threshold on; None if the data have no validation part with both labels.
    """

    surface_scorers: ClassVar[tuple[str, ...]] = (WORD_OVERLAP,)
    values: Floats
    items: tuple[Chain, ...]
    resampler: Resampler
    scale: Scale
    head_threshold: float | None = None
    tuning: TuningScores | None = None

    @classmethod
    def score_items(cls, items: Sequence[Chain], scorer: TextScorer, resampler: Resampler, scale: Scale) -> Self:
        """Return the scores of these chains, one row per chain."""
        pairs = [pair for chain in items for pair in chain.pairs_to_score]
        sizes = np.array([len(chain.pairs_to_score) for chain in items])
        there = np.arange(sizes.max()) < sizes[:, None]
        table = np.full(there.shape, np.nan)
        table[there] = scorer.score_pairs([first for first, _ in pairs], [second for _, second in pairs])
        values = with_ties_equal(table, scale.tie)
        return cls(values, tuple(items), resampler, scale, head_threshold=scorer.head_threshold)

    def select(self, chosen: NDArray[np.intp]) -> Self:
        """Select some of the chains; the replicates stay the same."""
        surface = {name: beside.select(chosen) for name, beside in self.surface.items()}
        items, resampler = tuple(self.items[i] for i in chosen), self.resampler.select(chosen)
        return replace(self, values=self.values[chosen], items=items, resampler=resampler, surface=surface)

    def positions_worst_first(self) -> list[int]:
        """Return the positions of the chains, first those whose best member scores highest above the paraphrase."""
        leads = np.nanmax(self.values[:, 1:], axis=1) - self.values[:, 0]
        return [int(i) for i in np.argsort(-leads, kind="stable")]

    def to_item_frame(self, case: str, items: Sequence[Chain]) -> ItemFrame:
        """Return one row of the item file per member, with every text, edit and score.

        `near` has the paraphrase's pair, `far` the member's. With pivot b, the paraphrase is the `source` of the row,
        since the sentence and the members are compared with it. These are then the first texts of the scored pairs.
        """
        rows = [(i, k) for i, chain in enumerate(items) for k in range(1, len(chain.members) + 1)]
        chains = [items[i] for i, _ in rows]
        steps = [k for _, k in rows]
        table, beside = self.values, self.surface.get(WORD_OVERLAP)
        overlap = beside.values if beside else None
        at, members = np.array([i for i, _ in rows], np.intp), np.array(steps, np.intp)
        plain = (edits_json(()),) * len(rows)
        near = TextColumns(
            tuple((c.partner if c.pivot == "a" else c.source) for c in chains),
            table[at, 0],
            None if overlap is None else overlap[at, 0],
            plain,
        )
        far = TextColumns(
            tuple(c.members[k - 1] for c, k in zip(chains, steps, strict=True)), table[at, members],
            None if overlap is None else overlap[at, members],
            tuple(_edits(c, k) for c, k in zip(chains, steps, strict=True)),
            tuple(c.why[k - 1] if c.why else None for c, k in zip(chains, steps, strict=True)),
        )  # fmt: skip
        return ItemFrame(
            CHAIN, case, tuple(ItemId(c.id).of_step(k) for c, k in zip(chains, steps, strict=True)),
            sources=tuple(c.source if c.pivot == "a" else c.partner for c in chains), near=near, far=far,
            clusters=tuple(c.cluster for c in chains),
            splits=tuple(c.split for c in chains), steps=tuple(steps),
            source_is_second=tuple(c.pivot == "b" for c in chains), shares=join_shares(chains),
        )  # fmt: skip

    def example_lines(self, item: Chain, position: int) -> list[ExampleLine]:
        """Return the lines that show the chain in a failure message."""
        names = ["paraphrase", *(f"member {k + 1}" for k in range(len(item.members)))]
        rows = zip(names, item.pairs_to_score, self.values[position], strict=False)
        return [ExampleLine(f"{name:11}", " | ".join(pair), float(value)) for name, pair, value in rows]


def _edits(chain: Chain, step: int) -> str:
    """Return the edits of a member as JSON if they apply to the text that the member is compared with."""
    is_of_pivot = (chain.pivot == "b") == (chain.edited == "partner")
    return edits_json(chain.edits[step - 1] if is_of_pivot and chain.edits else ())


def with_ties_equal(values: Floats, tie: float) -> Floats:
    """Return the scores with values of a row made equal if they differ by at most `tie`; shape [n, k]. NaN stays NaN.

    >>> with_ties_equal(np.array([[0.3, 0.1 + 2e-7, np.nan, 0.1], [0.5, 0.4, 0.3, 0.2]]), 1e-5).tolist()
    [[0.3, 0.1, nan, 0.1], [0.5, 0.4, 0.3, 0.2]]
    """
    order = np.argsort(values, axis=1)
    ranked = np.take_along_axis(values, order, axis=1)
    apart = ~(np.diff(ranked, axis=1, prepend=-np.inf) <= tie)  # NaN, at the end, has no ties
    first = np.maximum.accumulate(np.where(apart, np.arange(values.shape[1]), 0), axis=1)
    result = np.empty_like(values)
    np.put_along_axis(result, order, np.take_along_axis(ranked, first, axis=1), axis=1)
    return result
