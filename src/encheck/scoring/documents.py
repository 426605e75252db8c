"""The documents of a search, and its answers: the ranks of right documents, and the comparisons with hard negatives."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

RankedRows = tuple[NDArray[np.intp], NDArray[np.float64]]  # rows of documents and their scores


@dataclass(frozen=True, slots=True, eq=False)
class Documents:
    """The documents of a search: their ids in descending order, as trec_eval orders ties, and their texts.

    `same` has for each row the first row that counts as the same document. It is empty if all documents differ.
    """

    ids: tuple[str, ...]
    texts: tuple[str, ...]
    same: tuple[int, ...] = ()

    @classmethod
    def of(cls, texts: Mapping[str, str]) -> Documents:
        """Make documents from texts by id; ids are sorted by their UTF-8.

        >>> Documents.of({"a": "One.", "b": "Two."}).ids
        ('b', 'a')
        """
        ids = sorted(texts, key=lambda name: name.encode("utf-8", "surrogatepass"), reverse=True)
        return cls(tuple(ids), tuple(texts[name] for name in ids))

    @property
    def fingerprint(self) -> str:
        """A hash of the texts, their order, and which documents count as the same."""
        digest = hashlib.sha256()
        for text in (*self.texts, *map(str, self.same)):
            digest.update(f"{text}\x00".encode("utf-8", "surrogatepass"))
        return digest.hexdigest()[:16]


NOT_FOUND = 0
STORED_ANSWERS = 10  # answers whose rows are stored


@dataclass(frozen=True, slots=True)
class Answers:
    """The answers to one query.

    `right` has (rank, grade) of each right document; the rank of a document that is not listed is `NOT_FOUND`. A duel
    compares a right document with a hard negative. Of the `duels`, `won` were won; a tie is not won. `first` has the
    rows of the first ten answers among the sorted documents, the best first; it is empty if an older encheck did not
    store them. `is_unjudged` says that the first answer has no judgement.
    """

    right: tuple[tuple[int, int], ...]
    won: int = 0
    duels: int = 0
    first: tuple[int, ...] = ()
    is_unjudged: bool = False

    def __str__(self) -> str:
        """Return the text in the column of an item file.

        >>> str(Answers(((1, 2), (0, 1)), 3, 4)), str(Answers((), first=(7, 2)))
        ('[[[1, 2], [0, 1]], 3, 4]', '[[], 0, 0, [7, 2]]')
        >>> str(Answers(((2, 1),), first=(7, 2), is_unjudged=True))
        '[[[2, 1]], 0, 0, [7, 2], 1]'
        """
        more = [self.first, *([1] if self.is_unjudged else [])] if self.first else []
        return json.dumps([self.right, self.won, self.duels, *more])

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse the output of `str`. Raise ValueError for other texts.

        >>> Answers.parse("[[[1, 2], [0, 1]], 3, 4]")
        Answers(right=((1, 2), (0, 1)), won=3, duels=4, first=(), is_unjudged=False)
        """
        try:
            right, won, duels, *more = json.loads(text)
            rows: list[int] = more[0] if more else []
            (is_unjudged,) = more[1:] or [0]
            judged = tuple((int(rank), int(grade)) for rank, grade in right)
            return cls(judged, int(won), int(duels), tuple(map(int, rows)), bool(is_unjudged))
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"the answers of a query are {text!r:.60}, but should be [[[rank, grade]], won, duels, [row], unjudged]"
            ) from error

    @property
    def without_first_rows(self) -> Self:
        """The answers without the rows of the first ten, so that only what judgements determine remains."""
        return replace(self, first=(), is_unjudged=False)

    @property
    def with_unjudged_as_right(self) -> Self:
        """The answers with an unjudged first answer counted as right. It then replaces a single right document."""
        if not self.is_unjudged:
            return self
        best = (1, max((grade for _, grade in self.right), default=1))
        return replace(self, right=(best,) if len(self.right) == 1 else (best, *self.right))


@dataclass(frozen=True)
class Ranks:
    """The right documents of `count` queries: the query, rank and grade of each document; shape [m]."""

    count: int
    query: NDArray[np.intp]
    rank: NDArray[np.intp]
    grade: NDArray[np.float64]

    @classmethod
    def of(cls, answers: Sequence[Answers]) -> Self:
        """Return the entries of these queries, in their order."""
        rows = [(i, rank, grade) for i, one in enumerate(answers) for rank, grade in one.right]
        query, rank, grade = np.array(rows, np.intp).reshape(-1, 3).T
        return cls(len(answers), query, rank, grade.astype(np.float64))

    def ranks_within_query(self, order: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return the number entries 1, 2, ... within each query, in an order that groups entries by query."""
        queries = self.query[order]
        starts = np.flatnonzero(np.r_[True, queries[1:] != queries[:-1]])
        sizes = np.diff(np.r_[starts, len(queries)])
        return np.arange(len(queries)) - np.repeat(starts, sizes) + 1

    def sum_by_query(self, values: NDArray[np.float64], order: NDArray[np.intp] | None = None) -> NDArray[np.float64]:
        """Return the sum of the entries' values for each query, shape [count]. `order` is the order of `values`."""
        queries = self.query if order is None else self.query[order]
        found: NDArray[np.float64] = np.bincount(queries, weights=values, minlength=self.count).astype(np.float64)
        return found
