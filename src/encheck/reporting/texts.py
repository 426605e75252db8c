"""What `encheck data texts:FILE` shows: sizes, splits, clusters, and some texts."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator

from encheck.datasets.dataset import Dataset
from encheck.reporting.text import table

SAMPLES, SHOWN = 3, 160


def describe_texts(dataset: Dataset, *, seed: int = 0) -> Iterator[str]:
    """Lines for the terminal."""
    found = dataset.groups
    sizes = sorted(len(group.source) for group in found)
    splits = Counter(group.split or "-" for group in found)
    yield from table([
        (dataset.name, ""),
        ("texts", f"{dataset.rows:,}"),
        ("characters", f"{sizes[0]:,} to {sizes[-1]:,}, {sizes[len(sizes) // 2]:,} in the middle"),
        ("texts by split", ", ".join(f"{name}: {splits[name]}" for name in sorted(splits))),
        ("independent clusters", f"{len(dataset.universe):,}"),
        ("malformed rows excluded", str(len(dataset.skipped))),
        ("licence", dataset.licence),
        ("fingerprint", dataset.fingerprint),
    ])  # fmt: skip
    yield ""
    for group in random.Random(seed).sample(found, min(SAMPLES, len(found))):  # noqa: S311 - no secret
        yield f"  {group.source[:SHOWN]}"
