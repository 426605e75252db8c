"""The approximate first stage of searches in a run: its indexes, and what each of them misses."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

from encheck.encoders.protocol import Encoder
from encheck.metrics.search import DELTA, first_stage
from encheck.running.subject import Subject
from encheck.scoring.documents import KEPT, Documents, SearchingQuery
from encheck.scoring.item import Item
from encheck.scoring.ranked import DEPTH
from encheck.scoring.scores import LoggedScores, RankedScores, Scores
from encheck.scoring.vector_search import (
    SAMPLE,
    FirstStage,
    IndexSize,
    InvertedLists,
    compare_with_exact,
    sample_queries,
)
from encheck.types import Estimate

log = logging.getLogger("encheck")
S = TypeVar("S", bound=Scores)
ENOUGH = 1 - DELTA  # what the gate counts as a loss should not be lost here


class FirstStages:
    """The indexes of a run, each over the documents of one model. The last one is kept, since checks share it."""

    def __init__(self, size: IndexSize, seed: int) -> None:
        self.size, self.seed = size, seed
        self._last: tuple[Subject, Documents, InvertedLists] | None = None

    def over(self, subject: Subject, documents: Documents) -> InvertedLists:
        """The index over these documents, as the model encodes them."""
        if self._last is None or self._last[0] is not subject or self._last[1] is not documents:
            assert isinstance(subject.model, Encoder)
            self._last = None  # before the next one is made
            vectors = subject.roles["document"].of(documents.texts)
            made = InvertedLists(vectors, similarity=subject.model.similarity, size=self.size, seed=self.seed)
            self._last = subject, documents, made
        return self._last[2]


def fewest_of(queries: Sequence[SearchingQuery]) -> int:
    """How many answers each query needs: those that are kept, and one more than it has right documents."""
    return max(KEPT, 1 + max(len(q.right) for q in queries))


def checked(scores: S, items: Sequence[Item], subject: Subject, lists: InvertedLists, *, data: str) -> S:
    """The scores with what the index missed of the answers to a sample of their queries, which is said too."""
    queries = [item for item in items if isinstance(item, SearchingQuery)]
    asked = [queries[place] for place in sample_queries(queries)]
    fewest, depth = fewest_of(asked), DEPTH if isinstance(scores, RankedScores) else KEPT
    right = [frozenset(row for row, _ in q.right) for q in asked]
    vectors = subject.roles["query"].of([q.source for q in asked])
    own = [q.own for q in asked]
    stage = compare_with_exact(lists, vectors, right, count=max(depth, fewest), fewest=fewest, own=own)
    found: S = replace(scores, first_stage=stage)  # type: ignore[call-arg]
    assert isinstance(found, RankedScores | LoggedScores)
    log.warning("%s searched %s with an index: %s", subject.label, data, said(stage, first_stage(found)[0]))
    return found


def said(stage: FirstStage, found: Estimate) -> str:
    """What the index found, what that means for the figures, and what to do where it is too little."""
    size = stage.size
    line = (
        f"{size.probes:,} of {size.lists:,} lists of {stage.documents:,} documents. It found {found.value:.2%} "
        f"[{found.low:.2%}, {found.high:.2%}] of the 10 nearest documents of {found.n} queries that were also searched "
        f"exactly. {_judged(stage)}"
    )
    return line if found.low >= ENOUGH else f"{line} {_remedy(size, found)}"


def _remedy(size: IndexSize, found: Estimate) -> str:
    """What to do where the index is not shown to find enough."""
    if found.n < SAMPLE and found.value >= ENOUGH:
        return f"So few queries cannot show {ENOUGH:.0%}. Remedy: --search-index=exact, which is quick for them"
    return f"This is not surely {ENOUGH:.0%}. Remedy: --search-index=faiss:nprobe={2 * size.probes}"


def _judged(stage: FirstStage) -> str:
    """What became of the right documents."""
    if not stage.right + stage.raised:
        return "What it missed is no answer."
    line = f"Of {stage.right} right documents among the first 10 exact answers, it lost {stage.lost}"
    if stage.raised:
        line += f"; {stage.raised} rank higher than they should, since it missed a nearer document"
        return f"{line}. So figures may be off in either direction."
    return f"{line}, which count as not found. So figures are lower bounds." if stage.lost else f"{line}."
