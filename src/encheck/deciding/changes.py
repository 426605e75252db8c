"""What changes for users: different first answers and lists, and which of them are better."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from encheck.deciding.sides import Answered, Asked
from encheck.gating.answers import share
from encheck.gating.judged import Asked as Judged
from encheck.gating.judgements import Judgements
from encheck.metrics.search import ndcg, recall
from encheck.scoring.answers import NOT_FOUND, Answers
from encheck.statistics.figures import Figure, Log
from encheck.statistics.rank_overlap import rbo
from encheck.types import content_hash

Floats = NDArray[np.float64]
SHOWN = 10  # queries that change most


@dataclass(frozen=True, slots=True)
class Moved:
    """How far lists of ten moved: shares and means over queries, by how often each was asked.

    `first` is the share whose first answer changed, `overlap` the mean part of the ten that both lists have, `rbo` the
    mean rank-biased overlap (extrapolated, p = .8). Documents of the same score stand in the order of their ids.
    """

    first: Figure
    overlap: Figure
    rbo: Figure
    queries: int


@dataclass(frozen=True, slots=True)
class Listed:
    """A query whose answers changed much: both lists, as rows of documents with their scores, and the overlap."""

    query: int
    rbo: float
    before: tuple[tuple[int, float], ...]
    after: tuple[tuple[int, float], ...]


@dataclass(frozen=True, slots=True)
class Better:
    """Which first answers became better or worse, and which changed otherwise; counts of different queries.

    `source` is "labels" or "judgements". Of labels, `figures` has what recall@1 and nDCG@10 were, are and changed by,
    with intervals. Of judgements, `unjudged` counts changed queries that nobody judged. `clusters` says
    how many clusters of one weight would say as much.
    """

    source: str
    better: int
    worse: int
    other: int
    unjudged: int
    clusters: int
    figures: Mapping[str, tuple[float, float, Figure]]


@dataclass(frozen=True)
class Changes:
    """What the upgrade changes, beside the old model in other batches; `tied` counts lists with two equal scores."""

    moved: Moved
    control: Moved | None
    most: tuple[Listed, ...]
    better: Better | None
    tied: tuple[int, int]


def changes(
    before: Answered, after: Answered, asked: Asked, *, repeated: Answered | None, judgements: Judgements
) -> Changes:
    """Compare both models' answers to the same queries; `repeated` are the old model's in other batches."""
    control = _moved(before, repeated, asked.log) if repeated else None
    better = _by_labels(before, after, asked) if asked.is_judged else _by_people(before, after, asked, judgements)
    return Changes(
        _moved(before, after, asked.log), control, tuple(_most(before, after, asked)), better,
        (_tied(before), _tied(after)),
    )  # fmt: skip


def _moved(before: Answered, after: Answered, log: Log) -> Moved:
    pairs = list(zip(before.rows, after.rows, strict=True))
    first = np.array([old[:1] != new[:1] for old, new in pairs], bool)
    changed = share("", "", first, log.weights, log.clusters)
    overlap = np.array([len({*old} & {*new}) / max(len(old), 1) for old, new in pairs])
    alike = np.array([rbo(old, new) for old, new in pairs])
    ends = Figure(changed.value, changed.low, changed.high)
    return Moved(ends, log.mean(overlap), log.mean(alike), int(first.sum()))


def _most(before: Answered, after: Answered, asked: Asked) -> list[Listed]:
    """Those whose lists are least alike; of equals what was asked most."""
    alike = np.array([rbo(old, new) for old, new in zip(before.rows, after.rows, strict=True)])
    order = np.lexsort((np.arange(len(alike)), -asked.log.weights, alike))
    lists = [[tuple(zip(one.rows[i], one.scores[i], strict=True)) for one in (before, after)] for i in order[:SHOWN]]
    return [
        Listed(int(i), float(alike[i]), *both) for i, both in zip(order[:SHOWN], lists, strict=True) if alike[i] < 1
    ]


def _tied(found: Answered) -> int:
    """Lists in which two neighbours have the same score, as far as fp32 tells."""
    return sum(len({round(score, 6) for score in scores}) < len(scores) for scores in found.scores)


def _by_labels(before: Answered, after: Answered, asked: Asked) -> Better:
    judged = [i for i, right in enumerate(asked.right) if right]
    won = np.array([[one.rows[i][0] in asked.right[i] for i in judged] for one in (before, after)])
    changed = np.array([before.rows[i][:1] != after.rows[i][:1] for i in judged])
    better, worse = int((won[1] & ~won[0]).sum()), int((won[0] & ~won[1]).sum())
    return Better(
        "labels", better, worse, int(changed.sum()) - better - worse, 0, asked.log.worth, _figures(before, after, asked)
    )


def _figures(before: Answered, after: Answered, asked: Asked) -> dict[str, tuple[float, float, Figure]]:
    """What recall@1 and nDCG@10 were, are, and changed by, over the queries that have a right document."""
    has_right = np.array([bool(right) for right in asked.right])
    log = Log(asked.log.weights * has_right, asked.log.clusters, asked.log.resampler)
    both = [_ranked(one, asked) for one in (before, after)]
    found = {}
    for name, values in (("recall@1", lambda some: recall(some, cut=1)), ("nDCG@10", ndcg)):
        old, new = (np.nan_to_num(values(answers)) for answers in both)
        found[name] = (log.mean(old).value, log.mean(new).value, log.change(old, new))
    return found


def _ranked(found: Answered, asked: Asked) -> list[Answers]:
    grades = {name: row for row, name in enumerate(asked.ids)}
    answers = []
    for q, rows in zip(asked.queries, found.rows, strict=True):
        rank = {row: place for place, row in enumerate(rows, 1)}
        answers.append(
            Answers(tuple((rank.get(grades[name], NOT_FOUND), grade) for name, grade in q.right.items()), first=rows)
        )
    return answers


def _by_people(before: Answered, after: Answered, asked: Asked, judgements: Judgements) -> Better | None:
    """What people said of first answers that changed; None if they said nothing."""
    pairs = list(_changed(before, after, asked))
    said = judgements.answers(pairs)
    if not said:
        return None
    counts = {answer: sum(one == answer for one in said.values()) for answer in ("before", "after", "equal", "neither")}
    other = counts["equal"] + counts["neither"]
    return Better("judgements", counts["after"], counts["before"], other, len(pairs) - len(said), asked.log.worth, {})


def _changed(before: Answered, after: Answered, asked: Asked) -> Sequence[Judged]:
    """The queries whose first answer changed, as judgements know them: by hashes of the texts."""
    return [
        Judged(q.id, q.weight, q.cluster, content_hash(q.text), content_hash(asked.documents[old[0]]),
               content_hash(asked.documents[new[0]]))
        for q, old, new in zip(asked.queries, before.rows, after.rows, strict=True) if old[0] != new[0]
    ]  # fmt: skip
