"""The sources of an audit: the stored index, and fresh vectors of its texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from encheck.encoders.function import FunctionEncoder
from encheck.encoders.load import STORED_PREFIX
from encheck.encoders.protocol import Encoder, FittedModel, VerifiedModel, checked_batches
from encheck.encoders.stored_index import StoredIndex
from encheck.encoders.vector_table import open_vector_table
from encheck.errors import UsageError
from encheck.options import Settings
from encheck.options.settings import parse_seed
from encheck.running.labels import model_labels
from encheck.running.service import EncoderService
from encheck.similarity import SIMILARITIES
from encheck.system.files import expand_home
from encheck.system.terminal import Progress

Vectors = NDArray[np.float32]
Bools = NDArray[np.bool_]
ROLES = ("query", "document")


@dataclass(frozen=True)
class FreshVectors:
    """The source of fresh vectors: a model, or a file of vectors made for the audit.

    `made` has vectors that the model computed before, by text in the role of the audit.
    """

    label: str
    source: Encoder | StoredIndex
    role: str | None
    made: Mapping[str, Vectors] = field(default_factory=dict)

    @property
    def is_model(self) -> bool:
        """Whether it can encode any text, which a file of vectors cannot."""
        return not isinstance(self.source, StoredIndex)

    def vectors(
        self, names: Sequence[str], roles: Sequence[str], *, are_hashes: bool = False, progress: Progress | None = None
    ) -> tuple[Vectors, Bools]:
        """Return the vector of each name in its role, shape [n, d], and which vectors exist.

        An empty role means the role of the audit.
        """
        if isinstance(self.source, StoredIndex):
            return self._look_up(self.source, names, roles, are_hashes=are_hashes)
        found: dict[tuple[str | None, str], Vectors] = {(self.role, name): vector for name, vector in self.made.items()}
        asked = list(dict.fromkeys((role or self.role, name) for name, role in zip(names, roles, strict=True)))
        asked = [one for one in asked if one not in found]
        with (progress or Progress(quiet=True)).task(f"{self.label}: encoding", len(asked)):
            for role in dict.fromkeys(role for role, _ in asked):
                texts = [name for one, name in asked if one == role]
                for places, vectors in checked_batches(self.source, texts, role=role):
                    found |= {(role, texts[at]): vector for at, vector in zip(places, vectors, strict=True)}
                    if progress:
                        progress.advance(len(places))
        if isinstance(self.source, VerifiedModel):
            self.source.verify_fingerprint()
        rows = [found[role or self.role, name] for name, role in zip(names, roles, strict=True)]
        return (np.array(rows, np.float32) if rows else np.zeros((0, 1), np.float32)), np.ones(len(rows), bool)

    def vectors_in_role(self, role: str, texts: Sequence[str]) -> tuple[Vectors, Bools]:
        """Return the same for texts that all have one role."""
        return self.vectors(texts, [role] * len(texts))

    def _look_up(
        self, source: StoredIndex, names: Sequence[str], roles: Sequence[str], *, are_hashes: bool
    ) -> tuple[Vectors, Bools]:
        dimension = source.dimension
        vectors, known = np.zeros((len(names), dimension), np.float32), np.zeros(len(names), bool)
        for role in dict.fromkeys(roles):
            places = [place for place, one in enumerate(roles) if one == role]
            tried = tuple(dict.fromkeys([role or self.role or "", "", "document", "query"][: 2 if role else None]))
            numbers = source.find_row_numbers({names[at] for at in places}, are_hashes=are_hashes, roles=tried)
            known_places = [at for at in places if names[at] in numbers]
            rows = np.array([numbers[names[at]] for at in known_places], np.intp)
            order, back = np.unique(rows, return_inverse=True)
            vectors[known_places] = source.vectors_of_rows(order, dimension)[back]
            known[known_places] = True
        bad = known & ~(np.isfinite(vectors).all(axis=1) & vectors.any(axis=1))
        if bad.any():
            first = names[int(np.flatnonzero(bad)[0])]
            raise UsageError(
                f"{source.source}: the vector of {bad.sum()} of {known.sum()} texts is zero, not finite or not of "
                f"{dimension} dimensions, but fresh vectors should be complete; the first is of {first[:80]!r}. "
                "Remedy: encode these texts again"
            )
        return vectors, known


def open_fresh_vectors(settings: Settings, *, role: str, texts: Path | None = None) -> FreshVectors:
    """Return the source that these settings name: a model or a file of vectors. Raise UsageError if it has no vectors.

    `texts` is a file with the texts of fresh vectors that have none, by their ids.
    """
    (spec,) = settings.models
    if spec.startswith(STORED_PREFIX):
        (label,) = model_labels([spec])
        return FreshVectors(label, open_index(spec, texts=texts, only_if_needed=True), _check_role(role))
    found = EncoderService.open(settings)
    return _fresh_from_encoder(found.label, found.model, role)


def fresh_vectors_of(model: object, *, role: str) -> FreshVectors:
    """Return the source for a model or function that is given as an object. Raise UsageError for any other object."""
    label = getattr(model, "__qualname__", type(model).__name__)
    if callable(model) and not isinstance(model, Encoder):

        def encode(texts: list[str]) -> Any:
            return model(texts)

        return _fresh_from_encoder(label, FunctionEncoder(encode, {}), role)
    return _fresh_from_encoder(label, model, role)


def _fresh_from_encoder(label: str, model: object, role: str) -> FreshVectors:
    if isinstance(model, FittedModel):
        raise UsageError(f"{label} learns from the texts of a run, so it has no vectors of its own to compare")
    if not isinstance(model, Encoder):
        raise UsageError(f"{label} has no vectors, but an index holds vectors. Remedy: name an encoder")
    return FreshVectors(label, model, _check_role(role))


def _check_role(role: str) -> str:
    if role not in ROLES:
        raise UsageError(f"the role is {role!r}, but should be query or document")
    return role


def open_index(spec: str | Path, *, texts: Path | None = None, only_if_needed: bool = False) -> StoredIndex:
    """Return the index that `vectors:FILE`, or a path, names. Raise UsageError for any other value.

    `texts` is a file with the index's texts by id. With `only_if_needed`, it is read only if the index has no texts or
    hashes.
    """
    if isinstance(spec, str) and not spec.startswith(STORED_PREFIX):
        raise UsageError(f"the index is {spec!r}, but should be vectors:FILE, with the columns text and vector")
    path = expand_home(str(spec).removeprefix(STORED_PREFIX))
    if only_if_needed and texts and path.is_file() and {"text", "hash"} & open_vector_table(path).paths.keys():
        texts = None
    return StoredIndex(path, texts=texts)


def refuse_options(sample: int | None, similarity: str, seed: int) -> None:
    """Raise UsageError for an invalid sample size, similarity or seed."""
    parse_seed(seed)
    if sample is not None and sample < 1:
        raise UsageError(f"the sample is {sample}, but should be 1 or more rows")
    if similarity not in SIMILARITIES:
        raise UsageError(f"the similarity is {similarity!r}, but should be one of {', '.join(SIMILARITIES)}")
