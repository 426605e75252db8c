"""The speed of a model here, and the cost of its vectors and tokens. The model is timed, not the store."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from encheck.encoders.protocol import Encoder
from encheck.encoders.settings import count_tokens_in_folder
from encheck.running.model_under_test import ModelUnderTest
from encheck.types import content_hash

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
