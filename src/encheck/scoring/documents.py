"""What queries search: documents, and what is the same of all queries that search them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from encheck.scoring.item import Item


@dataclass(frozen=True, slots=True, eq=False)
class Documents:
    """What queries are searched in: ids, the last first, and their texts. So ties stand in trec_eval's order.

    `same` has for each row the first one that counts as the same document; it is empty where each is its own.
    """

    ids: tuple[str, ...]
    texts: tuple[str, ...]
    same: tuple[int, ...] = ()

    @classmethod
    def of(cls, texts: Mapping[str, str]) -> Documents:
        """Of texts by id; ids are sorted by their UTF-8.

        >>> Documents.of({"a": "One.", "b": "Two."}).ids
        ('b', 'a')
        """
        ids = sorted(texts, key=lambda name: name.encode("utf-8", "surrogatepass"), reverse=True)
        return cls(tuple(ids), tuple(texts[name] for name in ids))

    @property
    def fingerprint(self) -> str:
        """Changes when a text, the order of the documents, or what counts as the same one changes."""
        digest = hashlib.sha256()
        for text in (*self.texts, *map(str, self.same)):
            digest.update(f"{text}\x00".encode("utf-8", "surrogatepass"))
        return digest.hexdigest()[:16]


class SearchingQuery(Item):
    """A query that searches documents. It is encoded as a query, the documents as documents.

    `own` is the row of the document that is the query itself: its search leaves that out. `right` has the rows of its
    right documents with their grades; none where they are not known.
    """

    __slots__ = ()
    source: str
    documents: Documents
    own: int | None
    right: tuple[tuple[int, int], ...]

    @property
    def in_roles(self) -> tuple[Iterable[str], Iterable[str]]:
        """The query, and all documents."""
        return (self.source,), self.documents.texts
