"""A model under test in a run, the role in which it encodes a text, and the text's key in the store.

Its speed is also measured here: the model is timed, not the store.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from encheck.encoders.base import LocalEncoder, PairModel
from encheck.encoders.model_config import ModelConfig
from encheck.encoders.protocol import Encoder, Model
from encheck.encoders.settings import count_tokens_in_folder
from encheck.errors import EncoderError
from encheck.gating.reindex import DocumentLengths, VectorSample
from encheck.scoring.item import Item
from encheck.store import text_key
from encheck.system import imports
from encheck.types import content_hash

Pair = tuple[str, str]


Vectors = NDArray[np.float32]


@dataclass(frozen=True)
class RoleVectorsOfRun:
    """Texts that were encoded in a role. `vectors` has shape [texts, d], `rows` has the row of each text.

    `prompt` is the prompt before the texts, None if the model does not declare it.
    """

    rows: Mapping[str, int]
    vectors: Vectors
    prompt: str | None

    def vectors_of(self, texts: Sequence[str]) -> Vectors:
        """Return the vectors of these texts, shape [n, d]; not copied if these are all texts, in order."""
        if len(texts) == len(self.rows) and all(map(str.__eq__, texts, self.rows)):
            return self.vectors
        return self.vectors[[self.rows[text] for text in texts]]


@dataclass
class Encoded:
    """A model's output in this run. Only `EncoderService` writes it.

    `vectors` has shape [texts, d], `rows` the row of each text, `scored` the score of each pair, `again` the output for
    texts that were encoded a second time, `roles` the queries and documents of searches, `sample` the vectors that are
    compared with another model's, `documents` the lengths of the user's documents. `encoded` counts what was computed
    and stored.
    """

    error: EncoderError | None = None
    encoded: int = 0
    seconds: float = 0.0
    rows: dict[str, int] = field(default_factory=dict)
    vectors: Vectors = field(default_factory=lambda: np.zeros((0, 0), np.float32))
    scored: dict[Pair, float] = field(default_factory=dict)
    again: tuple[dict[str, Vectors], dict[str, Vectors]] = field(default_factory=lambda: ({}, {}))
    roles: dict[str, RoleVectorsOfRun] = field(default_factory=dict)
    sample: VectorSample | None = None
    documents: DocumentLengths | None = None


@dataclass(frozen=True)
class ModelUnderTest:
    """A model under test, and its output in this run.

    `owner` precedes its fingerprint, since two user-defined classes may have chosen the same one.
    """

    label: str
    config: ModelConfig
    model: Model
    owner: str = ""
    state: Encoded = field(default_factory=Encoded)

    @property
    def kind(self) -> Literal["vector", "pair"]:
        """What the store keeps for this model."""
        return "vector" if isinstance(self.model, Encoder) else "pair"

    @property
    def fingerprint(self) -> str:
        """The identity of this model in the results."""
        own = self.model.fingerprint()
        return f"{self.owner}/{own}" if self.owner else own

    @property
    def store_fingerprint(self) -> str:
        """The key of its rows in the store: its fingerprint, and the versions of its adapter's libraries."""
        names = self.model.libraries if isinstance(self.model, LocalEncoder | PairModel) else ()
        versions = imports.installed_versions(names)
        named = [f"{name} {version}" for name, version in versions.items()]
        return f"{self.fingerprint}/{content_hash(*named)}" if named else self.fingerprint

    @property
    def error(self) -> EncoderError | None:
        """The model's error, if it had one."""
        return self.state.error

    @property
    def encoded(self) -> int:
        """The number of texts or pairs that were computed and stored."""
        return self.state.encoded

    @property
    def rows(self) -> Mapping[str, int]:
        """The row of each text in `vectors`."""
        return self.state.rows

    @property
    def vectors(self) -> Vectors:
        """The vectors of the run's texts; shape [texts, d]."""
        return self.state.vectors

    @property
    def dimension(self) -> int | None:
        """The dimension of the vectors; None for a model without vectors, such as a scorer of pairs."""
        widths = [vectors.shape[1] for vectors in (self.vectors, *(found.vectors for found in self.roles.values()))]
        return next((int(width) for width in widths if width), None)

    @property
    def roles(self) -> Mapping[str, RoleVectorsOfRun]:
        """The queries and documents of searches, by role."""
        return self.state.roles

    @property
    def scored(self) -> Mapping[Pair, float]:
        """The score of each pair, for a model that scores pairs."""
        return self.state.scored

    @property
    def again(self) -> tuple[Mapping[str, Vectors], Mapping[str, Vectors]]:
        """The output for texts that were encoded in a different batch, then again in that batch."""
        return self.state.again


Role = Literal["query", "document"]
Texts = dict[Role, list[str]]
log = logging.getLogger("encheck")
REMEDY = 'Remedy: `prompts: {query: ..., document: ...}` in models.yaml, or --model-arg prompts=\'{"query": "..."}\''


def texts_by_role(items: Iterable[Item]) -> Texts:
    """Return the texts of these items by their role; empty for items whose texts have no role."""
    found: dict[Role, dict[str, None]] = {"query": {}, "document": {}}
    seen: Iterable[str] = ()
    for item in items:
        queries, documents = item.queries_and_documents
        found["query"].update(dict.fromkeys(queries))
        if documents is not seen:  # all queries of a search share theirs
            seen = documents
            found["document"].update(dict.fromkeys(documents))
    return {role: list(texts) for role, texts in found.items() if texts}


def prompt_of(model: Model, role: Role | None) -> str | None:
    """Return the prompt before a text in this role, or None for a model that does not declare it."""
    prompt_for: Callable[[str | None], str] | None = getattr(model, "prompt_for", None)
    return prompt_for(role) if prompt_for else None


def store_key_function(model: Model, role: Role) -> Callable[[str], bytes]:
    """Return a function that gives the key of a text in the store, including a prompt that is specific to the role.

    Through a Router, and for an encoder that does not declare what a role changes, each role has different keys.
    """
    prompt = prompt_of(model, role)
    if prompt is None:
        return lambda text: text_key(f"as a {role}", text)
    route = f"as a {role} " if getattr(model, "has_routes", False) else ""
    if not route and prompt == prompt_of(model, None):
        return text_key
    return lambda text: text_key(f"{route}after {prompt!r}", text)


def log_prompts(model: Model, label: str) -> None:
    """Report the prompts of queries and documents, and whether a model with prompts has none for queries."""
    query, document = prompt_of(model, "query"), prompt_of(model, "document")
    if query is None:
        return
    prompts: dict[str, str] = getattr(model, "prompts", {})
    named = sorted(name for name, text in prompts.items() if text)
    if named and not query:
        log.warning(
            "%s has prompts (%s), but none for queries, so queries got no prompt. %s", label, ", ".join(named), REMEDY
        )
    elif query or document:
        log.warning("%s: queries were encoded after %r, documents after %r", label, query, document)
    else:
        log.warning("%s: queries and documents were encoded without a prompt", label)


DOCUMENTS, QUERIES, WARM_UP = 256, 50, 8
BYTES_A_NUMBER = 4


@dataclass(frozen=True, slots=True)
class Speed:
    """Documents per second in the model's own batches, and milliseconds for a single query: median and 95th percentile.

    `documents` and `queries` are the numbers that were timed, after a few to warm up.
    """

    texts_a_second: float
    p50: float
    p95: float
    documents: int
    queries: int


def measure_speed(subject: ModelUnderTest, documents: Sequence[str], queries: Sequence[str]) -> Speed | None:
    """Return the speed on at most 256 documents and 50 queries, chosen by their hash, or None for a file of vectors.

    Other work on the machine makes it slower.
    """
    model = subject.model
    if not isinstance(model, Encoder) or subject.config.adapter == "stored-vectors":
        return None
    some, few = _sample_texts(documents, DOCUMENTS), _sample_texts(queries, QUERIES)
    model.encode(some[:WARM_UP], role="document")
    start = time.perf_counter()
    model.encode(some, role="document")
    spent = time.perf_counter() - start
    single = []
    for query in few:
        start = time.perf_counter()
        model.encode([query], role="query")
        single.append(time.perf_counter() - start)
    p50, p95 = (float(1_000 * one) for one in np.percentile(single, [50, 95]))
    return Speed(len(some) / max(spent, 1e-9), p50, p95, len(some), len(few))


def _sample_texts(texts: Sequence[str], max_texts: int) -> list[str]:
    return sorted(dict.fromkeys(texts), key=content_hash)[:max_texts]


def bytes_per_million_vectors(dimension: int) -> int:
    """Return the bytes of a million vectors in fp32.

    >>> bytes_per_million_vectors(384)
    1536000000
    """
    return 1_000_000 * BYTES_A_NUMBER * dimension


def mean_tokens_per_text(subject: ModelUnderTest, texts: Sequence[str]) -> float | None:
    """Return the mean number of tokens of at most 256 of the texts, or None if the model's files have no tokenizer."""
    source = getattr(subject.model, "source", None)
    if not isinstance(source, Path):
        return None
    counts = count_tokens_in_folder(source, _sample_texts(texts, DOCUMENTS))
    return float(np.mean(counts)) if counts else None
