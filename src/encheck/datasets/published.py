"""Check the rows and label balance of a file against the published data.

A data set's `EXPECTED` gives file name -> (rows, rows a label) as published; no labels where only the number of
rows is known. Copies with rows added, dropped or relabelled are in circulation (MRPC's training file is one).
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from encheck.datasets.reader import Row

Expected = Mapping[str, tuple[int, dict[str, int]]]
LOG = logging.getLogger("encheck")


def as_published(name: str, rows: Iterable[Row], expected: Expected) -> Iterator[Row]:
    """The rows as they are; after the last one, a warning where their counts are not those of `expected[name]`."""
    counts: Counter[str] = Counter()
    for row in rows:
        counts[str(row.label)] += 1
        yield row
    warn_unless_published(name, counts, expected)


def warn_unless_published(name: str, counts: Mapping[str, int], expected: Expected) -> None:
    """Log a warning where there are other counts a label than those of `expected[name]`; nothing without an entry."""
    if name not in expected:
        return
    rows, labels = expected[name]
    if sum(counts.values()) != rows or (labels and dict(counts) != labels):
        found = described(sum(counts.values()), counts)
        LOG.warning(
            "%s has %s, but the published data have %s: is it a changed copy?",
            name,
            found,
            described(rows, labels, noun=""),
        )


def described(rows: int, labels: Mapping[str, int], *, noun: str = " rows") -> str:
    """Rows and balance in words.

    >>> described(4076, {"0": 1323, "1": 2753})
    '4,076 rows (1: 2,753, 0: 1,323)'
    """
    balance = ", ".join(f"{label}: {count:,}" for label, count in sorted(labels.items(), reverse=True))
    return f"{rows:,}{noun} ({balance})" if balance else f"{rows:,}{noun}"
