"""Both models of an upgrade on the queries and documents of an index in use."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from encheck.datasets.collection import CollectionQuery
from encheck.datasets.dataset import Dataset
from encheck.encoders.protocol import Encoder
from encheck.encoders.settings import EncodingSettings
from encheck.errors import EncoderError, UsageError
from encheck.gating.reindex import RoleVectors, VectorSample
from encheck.running.comparable import lengths_of, stable_fingerprint
from encheck.running.roles import Role, Texts
from encheck.running.service import EncoderService
from encheck.running.subject import Subject
from encheck.scoring.nearest import nearest, wider, without_own
from encheck.statistics.figures import Log
from encheck.store import Store
from encheck.system.progress import Progress
from encheck.types import content_hash

Vectors = NDArray[np.float32]
TOP = 10
AGAIN = 1_000  # queries, and documents, that are encoded a second time
FEWEST_QUERIES = 2
STORED = "stored-vectors"  # the adapter of vectors that were computed elsewhere


@dataclass(frozen=True)
class Asked:
    """What is searched for, and in what: `queries` [n] and the texts of `documents` [m], in the order of ties.

    `right` has the rows of each query's right documents, empty if nobody judged it; `own` the row of the document that
    is the query itself, which its search leaves out.
    """

    name: str
    queries: tuple[CollectionQuery, ...]
    ids: tuple[str, ...]
    documents: tuple[str, ...]
    right: tuple[frozenset[int], ...]
    log: Log
    own: tuple[int | None, ...]

    @classmethod
    def of(cls, data: Dataset, *, seed: int) -> Asked:
        """Of a collection, or of documents with a log; UsageError for data that have nothing to search."""
        found = data.collection
        if found is None:
            raise UsageError(f"{data.name} has no documents to search: give --data=FOLDER --queries=FILE")
        if len(found.queries) < FEWEST_QUERIES:
            raise UsageError(f"{data.name} has {len(found.queries)} queries: name the log, --queries=FILE")
        if len(found.documents) < FEWEST_QUERIES:
            raise UsageError(f"{data.name} has {len(found.documents)} document: a search needs two or more")
        texts = found.searched
        log = Log.of([q.weight for q in found.queries], [q.cluster for q in found.queries], seed=seed)
        rows: dict[str, int] = {name: row for row, name in enumerate(texts.ids)}
        right = tuple(frozenset(rows[name] for name in q.right) for q in found.queries)
        own = tuple(rows[q.own] if q.own else None for q in found.queries)
        return cls(data.name, found.queries, texts.ids, texts.texts, right, log, own)

    @property
    def texts(self) -> tuple[str, ...]:
        """The texts of the queries."""
        return tuple(q.text for q in self.queries)

    @property
    def is_judged(self) -> bool:
        """Whether somebody said which documents are right."""
        return any(self.right)


@dataclass(frozen=True)
class Side:
    """A model with its vectors: of the queries [n, d], None if they are not to be had, and the documents [m, d]."""

    subject: Subject
    queries: Vectors | None
    documents: Vectors
    prompts: tuple[str | None, str | None]

    @property
    def similarity(self) -> str:
        """What the model compares by."""
        assert isinstance(self.subject.model, Encoder)
        return self.subject.model.similarity

    @property
    def dimension(self) -> int:
        """Numbers a vector."""
        return int(self.documents.shape[1])

    @property
    def is_stored(self) -> bool:
        """Whether these are vectors of a file: no model can be asked."""
        return self.subject.config.adapter == STORED


@dataclass(frozen=True)
class Answered:
    """What each query finds: the rows of its first ten documents [n][10], and their scores."""

    rows: tuple[tuple[int, ...], ...]
    scores: tuple[tuple[float, ...], ...]


def answered(queries: Vectors, documents: Vectors, *, similarity: str, own: Sequence[int | None]) -> Answered:
    """Search exactly, for others than a query's own document; of the same score, they stand in the order of rows."""
    every = nearest(queries, documents, similarity=similarity, count=wider(TOP, own))
    found = list(without_own(every, own, count=TOP))
    return Answered(
        tuple(tuple(rows.tolist()) for rows, _ in found), tuple(tuple(values.tolist()) for _, values in found)
    )


def sampled(side: Side, asked: Asked) -> VectorSample:
    """All vectors of a side, as they are compared with another one's."""
    model = side.subject.model
    roles = {"document": RoleVectors(tuple(map(content_hash, asked.documents)), side.documents)}
    texts = {"document": asked.documents, "query": asked.texts}
    if side.queries is not None:
        roles["query"] = RoleVectors(tuple(map(content_hash, asked.texts)), side.queries)
    lengths = {
        key: length
        for role, one in reversed(roles.items())  # a text that is both counts as a document
        for key, length in zip(one.keys, lengths_of(model, texts[role], role=role), strict=True)
    }
    settings, fingerprint = EncodingSettings.of(model), stable_fingerprint(side.subject)
    return VectorSample(settings, side.similarity, side.dimension, lengths, roles, fingerprint)


def encoded(subject: Subject, asked: Asked, store: Store, *, progress: Progress) -> Side:
    """The model with its vectors, from the store or computed; EncoderError if it fails.

    A file of vectors may lack those of queries: then it has none. UsageError for a model that has no vectors.
    """
    if not isinstance(subject.model, Encoder):
        raise UsageError(f"{subject.label} scores pairs and has no vectors, but an upgrade needs encoders")
    service = EncoderService(subject, store, progress=progress)
    texts: Texts = {"document": list(asked.documents), "query": list(asked.texts)}
    if subject.config.adapter == STORED:
        found = service.in_roles({"document": texts.pop("document")})
        with suppress(EncoderError):
            found |= service.in_roles(texts)
    else:
        found = service.in_roles(texts)
    queries = found["query"].of(asked.texts) if "query" in found else None
    prompts = tuple(found[role].prompt if role in found else None for role in ("query", "document"))
    return Side(subject, queries, found["document"].of(asked.documents), prompts)  # type: ignore[arg-type]


def stored_as_it_is(subject: Subject, asked: Asked) -> Side:
    """The documents' vectors of a file that has faults, which no encoder may have, and none of the queries."""
    assert isinstance(subject.model, Encoder)
    return Side(subject, None, subject.model.encode(asked.documents, role="document"), (None, None))


def encoded_again(side: Side, asked: Asked, store: Store) -> Side:
    """The same with up to 1,000 queries and 1,000 documents encoded once more, from the last to the first."""
    assert side.queries is not None
    queries, documents = side.queries.copy(), side.documents.copy()
    service = EncoderService(side.subject, store)
    texts: dict[Role, tuple[Sequence[str], Vectors]] = {
        "query": (asked.texts, queries), "document": (asked.documents, documents)
    }  # fmt: skip
    for role, (some, vectors) in texts.items():
        places = sorted(sorted(range(len(some)), key=lambda i: content_hash(some[i]))[:AGAIN])
        vectors[places] = service.again([some[i] for i in places], role=role)
    return Side(side.subject, queries, documents, side.prompts)
