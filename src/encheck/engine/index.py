"""The old model's index in a gate: vectors of all of the user's documents, by both models."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from encheck.datasets.dataset import Dataset
from encheck.encoders.protocol import Encoder, FittedModel, PartialEncoder
from encheck.encoders.settings import EncodingSettings, TextRole
from encheck.encoders.stored_index import StoredVectors
from encheck.errors import UsageError
from encheck.gating import reindex
from encheck.gating.old_index import IndexSearch, IndexVectors, OldIndex, check_old_index
from encheck.gating.reindex import DocumentLengths, RoleVectors, VectorSample
from encheck.indexes.in_use import find_index_faults
from encheck.indexes.sources import FreshVectors
from encheck.running.model_under_test import Encoded, ModelUnderTest, Role
from encheck.running.service import EncoderService, count_lengths, stable_fingerprint
from encheck.store import Store
from encheck.types import content_hash

if TYPE_CHECKING:
    from encheck.engine.evaluation import Evaluation

Vectors = NDArray[np.float32]


def compare_with_old_index(evaluation: Evaluation, old: str) -> OldIndex | None:
    """Decide whether the document index of the model `old` can stay if the first model replaces it.

    The first data set with documents is used. An index given as stored vectors is audited first. Return None if the
    data have no documents, or if one of the models has no vectors of them.
    """
    session = evaluation.session
    collection = next((data.collection for data in session.data.values() if data.collection), None)
    before, after = session.subjects[old], next(iter(session.subjects.values()))
    if collection is None or not isinstance(before.model, Encoder) or not isinstance(after.model, Encoder):
        return None
    search = IndexSearch.of(collection, seed=evaluation.settings.seed)
    new = _index_vectors(after, search, session.store, are_wanted=isinstance(before.model, PartialEncoder))
    was = _index_vectors(before, search, session.store)
    if new is None or was is None:
        return None
    if isinstance(before.model, StoredVectors):
        made = dict(zip(search.documents, new.documents, strict=True))
        source = after.model.index if isinstance(after.model, StoredVectors) else after.model
        if faults := find_index_faults(before.model.index, FreshVectors(after.label, source, "document", made), made):
            sizes = was.documents.shape[1], new.documents.shape[1]
            unknown = reindex.Reindex(None, "cannot tell until the index is repaired", faults.says)
            answer = unknown if sizes[0] == sizes[1] else reindex.reindex_for_other_dimension(sizes)
            return OldIndex(len(search.documents), answer, faults)
    samples = [_vector_sample(before, was, search), _vector_sample(after, new, search)]
    lengths = [DocumentLengths.of([s.lengths[key] for key in s.roles["document"].keys]) for s in reversed(samples)]
    counted = next((one for one in lengths if one.unit == "tokens"), lengths[0])
    return check_old_index(was, new, search, reindex.compare_samples(*samples, documents=counted))


def refuse_missing_document_vectors(subject: ModelUnderTest, data: Iterable[Dataset]) -> None:
    """Raise UsageError, before encoding, for stored vectors that lack some of the documents, or all texts."""
    if not isinstance(subject.model, PartialEncoder):
        return
    lacks, texts = subject.model.texts_without_vector, set[str]()
    for one in data:
        documents = one.collection.searchable_documents.texts if one.collection else ()
        missing = lacks(documents, role="document")
        if missing and len(missing) < len(documents):
            raise UsageError(
                f"{subject.label} has no vector of {len(missing):,} of the {len(documents):,} documents of {one.name}, "
                f"first of {missing[0][:80]!r}. Remedy: add them to the file, or leave these documents out of the data"
            )
        texts |= {*documents, *(group.source for group in one.groups), *(pair.first for pair in one.pairs)}
        texts |= {query.text for query in one.collection.queries} if one.collection else set()
    if texts and len(lacks(sorted(texts))) == len(texts):
        raise UsageError(
            f"{subject.label} has no vector of any of the {len(texts):,} texts of these data, so there is nothing to "
            f"compare. Remedy: name the data whose texts it has, --data"
        )


def _index_vectors(
    subject: ModelUnderTest, search: IndexSearch, store: Store, *, are_wanted: bool = False
) -> IndexVectors | None:
    """Return a model's vectors of the documents and queries; None without documents."""
    assert isinstance(subject.model, Encoder)
    documents = _role_vectors(subject, search.documents, "document", store, are_wanted=are_wanted)
    if documents is None:
        return None
    queries = _role_vectors(subject, search.queries, "query", store, are_wanted=are_wanted) if search.queries else None
    return IndexVectors(documents, queries, subject.model.similarity)


def _role_vectors(
    subject: ModelUnderTest, texts: Sequence[str], role: Role, store: Store, *, are_wanted: bool
) -> Vectors | None:
    """Return the vectors of texts in a role from the run or a file; encode missing vectors if they `are_wanted`."""
    known, model = subject.roles.get(role), subject.model
    if known and all(text in known.rows for text in texts):
        return known.vectors_of(texts)
    if isinstance(model, PartialEncoder):
        return None if model.texts_without_vector(texts, role=role) else model.encode(texts, role=role)
    if not are_wanted or subject.error or isinstance(model, FittedModel):
        return None
    return EncoderService(replace(subject, state=Encoded()), store).encode(texts, role=role)


def _vector_sample(subject: ModelUnderTest, vectors: IndexVectors, search: IndexSearch) -> VectorSample:
    """Return all vectors of a model, for the comparison with another model."""
    roles: dict[TextRole, RoleVectors] = {
        "document": RoleVectors(tuple(map(content_hash, search.documents)), vectors.documents)
    }
    texts = {"document": search.documents, "query": search.queries}
    if vectors.queries is not None:
        roles["query"] = RoleVectors(tuple(map(content_hash, search.queries)), vectors.queries)
    lengths = {
        key: length
        for role, one in reversed(roles.items())  # a text that is both counts as a document
        for key, length in zip(one.keys, count_lengths(subject.model, texts[role], role=role), strict=True)
    }
    settings, dimension = EncodingSettings.of(subject.model), int(vectors.documents.shape[1])
    return VectorSample(settings, vectors.similarity, dimension, lengths, roles, stable_fingerprint(subject))
