"""Your own articles without labels, split into passages, with a log of real queries.

A passage is the text under one heading, or a part of it. What is encoded is the article's title, the heading and the
text, a line each; the known items (see `known`) search texts without them.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from encheck.datasets.articles import ENDINGS, KINDS, PAGES, Article, articles
from encheck.datasets.collection import Collection, Passage
from encheck.datasets.near_duplicates import near_duplicates
from encheck.datasets.query_log import query_log
from encheck.datasets.reader import BadRows
from encheck.datasets.splitting import split
from encheck.errors import DataError
from encheck.types import content_hash

log = logging.getLogger("encheck")
LICENCE = "yours"
FILES = "a folder or file of documents (.md, .html, .txt, .jsonl, .csv, .parquet), with the log: --queries=FILE"
DEFAULT_WORDS = 150
ENDINGS_SHOWN = 4


@dataclass(frozen=True, slots=True)
class PassageOptions:
    """How articles become passages: the log of queries, the most words a passage has, and near-duplicates.

    `near_duplicates` says whether an answer that is a near-duplicate of another one is the `same` or another answer.
    """

    queries: Path | None = None
    words: int = DEFAULT_WORDS
    near_duplicates: Literal["differ", "same"] = "differ"


def collection(path: Path, bad: BadRows, options: PassageOptions) -> Collection:
    """The passages of the articles at the path, and the queries of the log; DataError if there is no text."""
    seen: Counter[str] = Counter()
    excluded: Counter[str] = Counter()
    found = _distinct(_passages(articles(path, bad, seen), options.words, excluded), excluded)
    if not found:
        held = (
            ", ".join(f"{count} {ending or 'without an ending'}" for ending, count in sorted(seen.items())) or "nothing"
        )
        raise DataError(f"passages: {path} has no document with text ({held}); expected {', '.join(ENDINGS)}")
    queries = query_log(options.queries, bad) if options.queries else ()
    for ending, count in sorted(seen.items()):
        if ending not in ENDINGS:
            excluded[f"files ending in {ending}" if ending else "files without an ending"] += count
    texts = {one.id: one.text for one in found}
    whole = Collection(texts, queries, excluded=dict(excluded), passages=tuple(found))
    if options.near_duplicates == "same":
        whole = whole.merged(near_duplicates(whole.searched.texts))
    log.warning("%s", "; ".join(_told(path, whole, seen, options)))
    return whole


def _told(path: Path, found: Collection, seen: Mapping[str, int], options: PassageOptions) -> Iterator[str]:
    """What was taken for what."""
    taken = Counter[str]()
    for ending in (one for one in seen if one in ENDINGS):
        taken[KINDS.get(ending, f"table ({ending})")] += seen[ending]
    files = ", ".join(
        f"{count:,} {'file' if count == 1 else 'files'} of {what}" for what, count in sorted(taken.items())
    )
    many = len({one.article for one in found.passages})
    yield (
        f"{path} was taken for documents without labels: {files}; {many:,} articles in {len(found.documents):,} "
        f"passages, cut at headings and after at most {options.words} words (--passage-words)"
    )
    if options.queries:
        total = sum(q.weight for q in found.queries)
        yield f"{options.queries}: {total:,} queries, {len(found.queries):,} of them different"
    if found.excluded:
        yield "left out: " + ", ".join(f"{count:,} {what}" for what, count in found.excluded.items())


def _passages(found: Iterable[Article], words: int, excluded: Counter[str]) -> Iterator[Passage]:
    for article in found:
        number = 0
        for section in article.page.sections:
            for body in split(section.text, words=words):
                number += 1
                yield Passage(f"{article.name}#{number}", article.name, article.page.title, section.heading, body)
        if not number:
            excluded["documents without text"] += 1


def _distinct(found: Iterable[Passage], excluded: Counter[str]) -> list[Passage]:
    """The passages, of those with the same text the first."""
    known: set[str] = set()
    kept = []
    for one in found:
        key = content_hash(" ".join(one.text.split()))
        if key in known:
            excluded["repeated passages"] += 1
        else:
            known.add(key)
            kept.append(one)
    return kept


def is_page(path: Path) -> bool:
    """Whether the file is an article by itself."""
    return path.suffix.lower() in PAGES
