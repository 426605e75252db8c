"""BM25 over all documents: the rival of a search, and the first stage of models that score pairs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from encheck.scoring.documents import Documents
from encheck.scoring.nearest import Found, merged, settled
from encheck.scoring.scale import Floats
from encheck.similarity import words
from encheck.surface import K1, B

NONE = (np.zeros(0, np.intp), np.zeros(0))


class Lexical:
    """An index of the words of some documents, by bm25s (Lù 2024, arXiv 2407.03618) with Lucene's weights."""

    def __init__(self, documents: Documents) -> None:
        import bm25s

        self.count = len(documents.texts)
        self._at = {name: row for row, name in enumerate(documents.texts)}
        tokens = [words(text) for text in documents.texts]
        self._index = bm25s.BM25(k1=K1, b=B, method="lucene") if any(tokens) else None
        if self._index is not None:
            self._index.index(tokens, show_progress=False)

    def scores(self, query: str) -> Floats:
        """The score of every document, shape [documents]; 0 where no word is shared."""
        known = [word for word in words(query) if self._index is not None and word in self._index.vocab_dict]
        if self._index is None or not known:
            return np.zeros(self.count)
        found: Floats = self._index.get_scores(known).astype(np.float64)
        return found

    def pairs(self, queries: Sequence[str], documents: Sequence[str]) -> Floats:
        """The score of each query with the document at its place, shape [n]; the documents are of the index."""
        by_query: dict[str, Floats] = {}
        found = []
        for query, document in zip(queries, documents, strict=True):
            if query not in by_query:
                by_query = {query: self.scores(query)}
            found.append(by_query[query][self._at[document]])
        return np.array(found)

    def ranked(self, queries: Sequence[str], count: int) -> Iterator[Found]:
        """(rows, scores) of the `count` best documents of each query, the best first; ties in the order of rows."""
        return (settled(*merged(NONE, self.scores(query), 0, count=count)) for query in queries)
