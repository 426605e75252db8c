"""The queries that a candidate lost, for people to look at."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from encheck.gating.pairing import Compared
from encheck.scoring.answers import Answers

LOST_SHOWN = 3


@dataclass(frozen=True)
class LostQuery:
    """A query that scores less than before; `before` and `now` are rows of the first answers, None where unknown."""

    item: str
    case: str
    before: int | None
    now: int | None


def lost_queries(
    rows: Mapping[str, Sequence[Compared]], *, changed: Collection[str] = ()
) -> dict[str, tuple[LostQuery, ...]]:
    """The queries of each row that lost most, of search, first those whose first answer changed, of several clusters.

    `changed` names data whose documents are others now.
    """
    return {name: tuple(_worst(some, changed)[:LOST_SHOWN]) for name, some in rows.items()}


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
