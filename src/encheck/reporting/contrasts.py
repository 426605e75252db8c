"""What `encheck data contrast:PATH` shows: sizes, clusters, and some contrasts."""

from __future__ import annotations

import random
from collections.abc import Iterator

from encheck.datasets.dataset import Dataset
from encheck.reporting.text import table

SAMPLES, SHOWN = 3, 160


def describe_contrasts(dataset: Dataset, *, seed: int = 0) -> Iterator[str]:
    """Lines for the terminal."""
    found = dataset.contrasts
    queries, documents = ({text for one in found for text in getattr(one, side)} for side in ("queries", "documents"))
    yield from table([
        (dataset.name, ""),
        ("contrasts", f"{dataset.rows:,}"),
        ("different queries", f"{len(queries):,}"),
        ("different documents", f"{len(documents):,}"),
        ("independent clusters", f"{len(dataset.universe):,}"),
        ("malformed rows excluded", str(len(dataset.skipped))),
        ("licence", dataset.licence),
        ("fingerprint", dataset.fingerprint),
    ])  # fmt: skip
    for one in random.Random(seed).sample(found, min(SAMPLES, len(found))):  # noqa: S311 - no secret
        yield ""
        for query, document in zip(one.queries, one.documents, strict=True):
            yield f"  {query[:SHOWN]}"
            yield f"    {document[:SHOWN]}"
