"""Known items: a title in search of its article, a heading in search of its section (Azzopardi et al. 2007, SIGIR).

Such queries are made of the documents themselves and share their words, so that they are easier than what people ask:
an optimistic proxy.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

from encheck.datasets.collection import ArticlePassage, Collection
from encheck.datasets.dataset import Dataset
from encheck.errors import NothingToMeasure
from encheck.ids import ItemId
from encheck.items.variants import Maker
from encheck.scoring.item import Items
from encheck.scoring.ranked import RankedQuery
from encheck.types import content_hash

PROXY = "titles and headings share words with their texts"
MOST = 500  # queries of each kind
REPEATED = "another one has the same words"
Parts = Callable[[Collection], Iterator[tuple[str, list[ArticlePassage]]]]


def titles(dataset: Dataset, _level: int | str, _maker: Maker) -> Items:
    """Each title in search of the bodies of its article's passages, among those of all articles."""
    return _known(dataset, _by_title, "title")


def headings(dataset: Dataset, _level: int | str, _maker: Maker) -> Items:
    """Each heading in search of the bodies of its section's passages; one that repeats the title is left out."""
    return _known(dataset, _by_heading, "heading")


def _by_title(found: Collection) -> Iterator[tuple[str, list[ArticlePassage]]]:
    grouped: dict[str, list[ArticlePassage]] = {}
    for one in found.headed:
        grouped.setdefault(one.article, []).append(one)
    return ((some[0].title, some) for some in grouped.values() if some[0].title)


def _by_heading(found: Collection) -> Iterator[tuple[str, list[ArticlePassage]]]:
    grouped: dict[tuple[str, str], list[ArticlePassage]] = {}
    for one in found.headed:
        grouped.setdefault((one.article, one.heading), []).append(one)
    return ((some[0].heading, some) for some in grouped.values() if some[0].heading not in ("", some[0].title))


def _known(dataset: Dataset, parts: Parts, name: str) -> Items:
    found = dataset.collection
    if found is None or not found.passages:
        raise NothingToMeasure(f"{dataset.name} has no articles: see --data=passages:PATH", needs="articles")
    there = [(text, some) for text, some in parts(found) if len(some) < len(found.headed)]
    counts = Counter(_plain(text) for text, _ in there)
    once = [(text, some) for text, some in there if counts[_plain(text)] == 1]
    if not once:
        raise NothingToMeasure(f"{dataset.name} has no {name} that belongs to only one text")
    chosen = sorted(once, key=lambda one: content_hash(one[0]))[:MOST]
    rows = {one: row for row, one in enumerate(found.bodies.ids)}
    lock = found.bodies.fingerprint

    def query(text: str, right: list[ArticlePassage]) -> RankedQuery:
        item = ItemId.of(dataset.name, content_hash(text, lock), "known", 1, name, 0)
        places = tuple((row, 1) for row in sorted(rows[one.id] for one in right))
        return RankedQuery(item, text, found.bodies, places, (), right[0].article)

    kept = tuple(query(text, right) for text, right in chosen)
    excluded = {REPEATED: len(there) - len(once), f"beyond the first {MOST:,}": len(once) - len(chosen)}
    return Items(kept, {reason: count for reason, count in excluded.items() if count})


def _plain(text: str) -> str:
    return " ".join(text.lower().split())
