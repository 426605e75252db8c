"""One file with one judgement per row: a query, a document that is right for it, and documents that are wrong.

A row may have several documents of a kind in a list, as FlagEmbedding (`pos`, `neg`) and Tevatron (`positive_passages`,
`negative_passages`) write them. The texts are the ids: what stands twice is one query or one document. All documents,
hard negatives too, are searched; but a query that is a document too does not find itself, unless a row says that its
own text is right for it.
"""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from encheck.datasets.collection import Collection, CollectionQuery, clustered
from encheck.datasets.contests import COLUMN, Contest, property_of
from encheck.datasets.reader import BadRows, checked_text, is_missing, refuse_misspelt, said_of_unread
from encheck.datasets.records import records
from encheck.errors import DataError
from encheck.types import content_hash

log = logging.getLogger("encheck")
NAMES = {
    "query": ("query", "anchor"),
    "document": ("document", "positive", "pos", "positives", "positive_passages"),
    "relevance": ("relevance", "label"),
    "cluster": ("cluster",),
}
NEGATIVE = re.compile(r"neg|negatives|negative_passages|negative(_\d+)?")
RIGHT = 1
MOST = 10**9  # of a relevance: sums of larger ones lose their digits


@dataclass
class _Asked:
    """What the rows of one query say."""

    relevance: dict[str, int] = field(default_factory=dict)
    negatives: dict[str, None] = field(default_factory=dict)
    cluster: str = ""
    slices: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class _Columns:
    """Which column has what; "" if there is none."""

    query: str
    document: str
    relevance: str
    cluster: str
    negatives: tuple[str, ...]
    slices: tuple[str, ...]


def from_file(path: Path, bad: BadRows, *, needs_negatives: bool = False) -> Collection:
    """The collection that the rows of a file make; DataError names a column that is missing."""
    names, rows = records(path, bad)
    columns = _columns(path, names, needs_negatives=needs_negatives)
    documents: dict[str, str] = {}
    asked: dict[str, _Asked] = {}
    excluded: Counter[str] = Counter()
    for line, row in rows:
        try:
            if needs_negatives:  # of triplets; in a search the column is a slice
                property_of(row, names, "")
            _take(row, columns, documents, asked, excluded)
        except ValueError as error:
            bad(path, line, str(error))
    queries = [_query(text, one, documents, excluded) for text, one in asked.items()]
    return Collection(
        documents, clustered(queries), excluded={reason: count for reason, count in excluded.items() if count}
    )


def contests_in(path: Path, bad: BadRows, given: str) -> Iterator[Contest]:
    """The rows of a file as triplets: its query, each right document, each wrong one; `given` is as for contrasts."""
    names, rows = records(path, bad)
    columns = _columns(path, names, needs_negatives=True)
    read = (columns.query, columns.document, columns.cluster, *columns.negatives, COLUMN)
    for said in said_of_unread(path, names, read):
        log.warning("%s", said)
    for line, row in rows:
        try:
            found = _contests(row, columns, property_of(row, names, given))
        except ValueError as error:
            bad(path, line, str(error))
        else:
            yield from found


def _contests(row: Mapping[str, Any], at: _Columns, property: str) -> list[Contest]:  # noqa: A002 - the word for it
    """The triplets of a row; ValueError if a text is missing, or where two of a triplet are the same."""
    anchor, right, wrong, cluster = _texts_of(row, at)
    if not wrong:
        raise ValueError("the negative text is missing")
    found = [Contest((anchor, one, other), cluster, property) for one in right for other in wrong]
    if any(len({*contest.texts}) < 3 for contest in found):
        raise ValueError("two of anchor, positive and negative are the same text: there is nothing to tell apart")
    return found


def is_of_queries(names: Sequence[str]) -> bool:
    """Whether these are the columns of queries and documents.

    >>> is_of_queries(["query", "document", "label"]), is_of_queries(["anchor", "second", "label"])
    (True, False)
    """
    return "query" in names and any(name in names for name in NAMES["document"])


def _columns(path: Path, names: Sequence[str], *, needs_negatives: bool) -> _Columns:
    chosen = {role: next((name for name in known if name in names), "") for role, known in NAMES.items()}
    negatives = tuple(name for name in names if NEGATIVE.fullmatch(name))
    missing = [" or ".join(NAMES[role]) for role in ("query", "document") if not chosen[role]]
    if needs_negatives and not negatives:
        missing.append("negative")
    if missing:
        raise DataError(f"{path}:1: no column {' and no '.join(missing)} (columns: {', '.join(names) or 'none'})")
    refuse_misspelt(path, [name for name in names if name not in negatives], NAMES, chosen)
    rest = tuple(name for name in names if name not in {*chosen.values(), *negatives})
    return _Columns(**chosen, negatives=negatives, slices=rest)


def _take(
    row: Mapping[str, Any], at: _Columns, documents: dict[str, str], asked: dict[str, _Asked], excluded: Counter[str]
) -> None:
    """Enter a row; ValueError if it is wrong, and nothing of it is entered."""
    query, right, wrong, cluster = _texts_of(row, at)
    grade = grade_of(row.get(at.relevance)) if at.relevance else RIGHT
    one = asked.get(query) or _Asked(cluster=cluster, slices=_slices(row, at))
    names = list(dict.fromkeys(map(content_hash, right)))
    if one.cluster != cluster:
        raise ValueError(f"the query was in cluster {one.cluster!r:.60} before, but here it is in {cluster!r:.60}")
    known = [one.relevance[name] for name in names if name in one.relevance]
    if other := next((before for before in known if before != grade), None):
        raise ValueError(f"query and document were judged {other} before, but here {grade}")
    excluded["repeated judgements"] += len(known) if not wrong else 0
    asked[query] = one
    one.relevance.update(dict.fromkeys(names, grade))
    one.negatives.update(dict.fromkeys(map(content_hash, wrong)))
    documents.update({content_hash(text): text for text in (*right, *wrong)})


def _texts_of(row: Mapping[str, Any], at: _Columns) -> tuple[str, list[str], list[str], str]:
    """The query of a row, its right documents, its wrong ones, and its cluster, "" if there is none."""
    query, right = checked_text("query", row.get(at.query)), _texts("document", row.get(at.document))
    wrong = [text for name in at.negatives if not is_missing(row.get(name)) for text in _texts("negative", row[name])]
    return query, right, wrong, "" if is_missing(row.get(at.cluster)) else str(row[at.cluster])


def _texts(name: str, value: object) -> list[str]:
    """The text of a cell, or the texts of its list, where Tevatron has titles beside; ValueError if one is missing."""
    values = value if isinstance(value, list) and value else [value]
    parts = [[one.get("title"), one.get("text")] if isinstance(one, dict) else [one] for one in values]
    joined = [[checked_text(name, part) for part in some if len(some) == 1 or not is_missing(part)] for some in parts]
    return [checked_text(name, " ".join(texts)) for texts in joined]


def _slices(row: Mapping[str, Any], at: _Columns) -> dict[str, str]:
    values = {name: row.get(name) for name in at.slices}
    return {
        name: str(value) for name, value in values.items() if not (is_missing(value) or isinstance(value, list | dict))
    }


def _query(text: str, one: _Asked, documents: Mapping[str, str], excluded: Counter[str]) -> CollectionQuery:
    negatives = tuple(name for name in one.negatives if one.relevance.get(name, 0) <= 0)
    excluded["hard negatives that are right for the same query"] += len(one.negatives) - len(negatives)
    name = content_hash(text)
    own = name if name in documents and one.relevance.get(name, 0) < RIGHT else ""
    relevance = {document: grade for document, grade in one.relevance.items() if document != own}
    kept = tuple(document for document in negatives if document != own)
    return CollectionQuery(name, text, relevance, kept, one.cluster, one.slices, own=own)


def grade_of(value: object) -> int:
    """A relevance as a whole number; ValueError if it is not one.

    >>> grade_of("2"), grade_of(1.0)
    (2, 1)
    """
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        number = float("nan")
    if not number.is_integer() or abs(number) > MOST:
        raise ValueError(f"the relevance is {value!r:.60}, but should be a whole number: 0 is wrong, more is right")
    return int(number)
