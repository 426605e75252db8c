"""The items and queries that a candidate lost, for people to look at."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from encheck.gating.pairing import Compared
from encheck.scoring.documents import Answers
from encheck.scoring.frame import CaseScores

LOST_SHOWN = 3


@dataclass(frozen=True)
class LostQuery:
    """A query that scores less than before; `before` and `now` are rows of the first answers, None if unknown."""

    item: str
    case: str
    before: int | None
    now: int | None


@dataclass(frozen=True)
class LostItem:
    """An item that scores less than before, by its id and the hash of its texts; (near, far) scores of both models.

    The far score is NaN if the item has none.
    """

    item: str
    texts: str
    case: str
    before: tuple[float, float]
    now: tuple[float, float]


def lost_items(rows: Mapping[str, Sequence[Compared]]) -> dict[str, tuple[LostItem, ...]]:
    """The items of each row that lost most, of several clusters where it can; none of searches with answers."""
    return {name: tuple(_most_lost(some)) for name, some in rows.items()}


def _most_lost(every: Sequence[Compared]) -> list[LostItem]:
    some = [one for one in every if not one.after.answers]
    drops = sorted(
        (float(one.new[i] - one.old[i]), _nearer(one, int(i)), n, int(i))
        for n, one in enumerate(some)
        for i in np.flatnonzero(one.new < one.old)
    )
    seen: Counter[str] = Counter()
    found: list[tuple[int, LostItem]] = []
    for _, _, n, i in drops[: 10 * LOST_SHOWN]:
        cluster = some[n].before.clusters[i]
        found.append((seen[cluster], _lost_item(some[n], i)))
        seen[cluster] += 1
    return [lost for _, lost in sorted(found, key=lambda entry: entry[0])][:LOST_SHOWN]


def _nearer(one: Compared, i: int) -> float:
    """How far the margin of an item moved; 0 where it has one text."""
    (was_near, was_far), (near, far) = (_scores(table, i) for table in one.shown)
    return float(np.nan_to_num((near - far) - (was_near - was_far)))


def _lost_item(one: Compared, i: int) -> LostItem:
    before, after = one.shown
    return LostItem(before.items[i], before.texts[i], after.case, _scores(before, i), _scores(after, i))


def _scores(table: CaseScores, i: int) -> tuple[float, float]:
    return float(table.near[i]), float(table.far[i])


def lost_queries(
    rows: Mapping[str, Sequence[Compared]], *, changed: Collection[str] = ()
) -> dict[str, tuple[LostQuery, ...]]:
    """The queries of each row that lost most, of search, first those whose first answer changed, of several clusters.

    `changed` names data whose documents are others now.
    """
    return {name: tuple(_worst(some, changed)[:LOST_SHOWN]) for name, some in rows.items()}


def unjudged_queries(some: Sequence[Compared]) -> tuple[LostQuery, ...]:
    """The queries with another first answer of which nobody judged one or both; None stands for one that is judged."""
    found = []
    for one in some:
        for i, item in enumerate(one.after.items):
            before, now = (Answers.of(table.answers[i]) for table in (one.before, one.after))
            if before.first[:1] != now.first[:1] and (before.is_unjudged or now.is_unjudged):
                rows = (answers.first[0] if answers.is_unjudged else None for answers in (before, now))
                found.append(LostQuery(item, one.after.case, *rows))
    return tuple(found)


def _worst(every: Sequence[Compared], changed: Collection[str]) -> list[LostQuery]:
    some = [one for one in every if one.before.answers and one.after.answers]
    drops = [(float(one.new[i] - one.old[i]), n, i) for n, one in enumerate(some) for i in range(len(one.old))]
    found: list[tuple[bool, int, LostQuery]] = []
    seen: Counter[tuple[str, bool]] = Counter()
    for _, n, i in (drop for drop in sorted(drops) if drop[0] < 0):
        lost = _lost_query(some[n], i, known=some[n].before.data not in changed)
        key = some[n].before.clusters[i], lost.before == lost.now
        found.append((key[1], seen[key], lost))
        seen[key] += 1
    return [lost for *_, lost in sorted(found, key=lambda entry: entry[:2])]


def _lost_query(one: Compared, i: int, *, known: bool) -> LostQuery:
    before, now = (Answers.of(table.answers[i]).first[:1] for table in (one.before, one.after))
    was = before[0] if before and known else None
    return LostQuery(one.after.items[i], one.after.case, was, now[0] if now else None)
