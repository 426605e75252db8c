"""What `encheck data contrast:PATH` shows, and `triplets:PATH` of properties: sizes, clusters, and some of them."""

from __future__ import annotations

import random
from collections.abc import Iterator

from encheck.datasets.dataset import Dataset
from encheck.reporting.text import table
from encheck.scoring.contrasts import Contrast

SAMPLES, SHOWN = 3, 160


def describe_contrasts(dataset: Dataset, *, seed: int = 0) -> Iterator[str]:
    """Lines for the terminal, with those of each property."""
    found = [one for some in (dataset.contrasts, *dataset.properties.values()) for one in some]
    scored = {pair for one in found for pair in (one.judged if isinstance(one, Contrast) else one.pairs)}
    kind, first, second = (
        ("contrasts", "queries", "documents")
        if isinstance(found[0], Contrast)
        else ("triplets", "anchors", "positives and negatives")
    )
    yield from table([
        (dataset.name, ""),
        (kind, f"{dataset.rows:,}"),
        *((f"of {name}", f"{len(some):,} in {len({one.cluster for one in some}):,} clusters")
          for name, some in dataset.properties.items()),
        (f"different {first}", f"{len({one for one, _ in scored}):,}"),
        (f"different {second}", f"{len({other for _, other in scored}):,}"),
        ("independent clusters", f"{len(dataset.universe):,}"),
        ("malformed rows excluded", str(len(dataset.skipped))),
        ("licence", dataset.licence),
        ("fingerprint", dataset.fingerprint),
    ])  # fmt: skip
    for one in random.Random(seed).sample(found, min(SAMPLES, len(found))):  # noqa: S311 - no secret
        yield ""
        shown = zip(one.queries, one.documents, strict=True) if isinstance(one, Contrast) else [(one.source, one.near)]
        for query, document in shown:
            yield f"  {query[:SHOWN]}"
            yield f"    {document[:SHOWN]}"
        if not isinstance(one, Contrast):
            yield f"    not: {one.far[:SHOWN]}"
