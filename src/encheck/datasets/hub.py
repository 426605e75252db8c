"""Data sets from the Hugging Face hub, by name and at a pinned revision: `--data NAME:hub`.

Fetched by the `datasets` library into its own cache, only when asked for by that word; no code of a repository is run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from encheck.datasets.published import Expected, warn_unless_published
from encheck.datasets.reader import BadRows, Row, binary_label, graded, made_rows
from encheck.errors import DataError

WORD = "hub"
SPLITS = {"train": "train", "validation": "validation", "test": "test"}


@dataclass(frozen=True)
class Hub:
    """Where a data set lies on the hub, and which of its columns are what.

    `label` names a column of 0 and 1 (-1: not published, left out), or `score` one of graded similarity from `low` to
    `high`, whose pairs have label 1 from `positive` on (no label without one). `expected` has rows and labels of its
    splits. `listed` says that a split is one row, whose columns are lists.
    """

    repo: str
    revision: str
    config: str | None = None
    first: str = "sentence1"
    second: str = "sentence2"
    label: str = ""
    score: str = ""
    low: float = 0.0
    high: float = 5.0
    positive: float | None = 4.0
    expected: Expected = field(default_factory=dict)
    listed: bool = False

    def read(self, bad: BadRows) -> Iterator[Row]:
        """Pairs, split by split; DataError if the hub cannot be reached or holds something else."""
        for name, rows in self._fetched().items():
            where = Path(f"{self.repo}@{self.revision[:12]}", self.config or "", name)
            self._check_columns(where, rows.column_names)
            counts: Counter[str] = Counter()
            for row in made_rows(where, self._published(rows), partial(self._row, split=name), bad=bad):
                counts[str(row.label)] += 1
                yield row
            warn_unless_published(name, counts, self.expected)

    def _published(self, rows: Any) -> Iterator[tuple[int, Mapping[str, Any]]]:
        """(number, row) of those whose label was published."""
        if self.listed:
            columns = (self.first, self.second, self.label)
            listed = ([value for row in rows for value in row[name]] for name in columns)
            rows = [dict(zip(columns, values, strict=True)) for values in zip(*listed, strict=True)]
        return ((n, row) for n, row in enumerate(rows, 1) if not (self.label and str(row[self.label]) == "-1"))

    def _row(self, fields: Mapping[str, Any], *, split: str) -> Row:
        first, second, named = fields[self.first], fields[self.second], SPLITS.get(split, split)
        if self.score:
            score = graded(str(fields[self.score]), self.low, self.high)
            label = None if self.positive is None else int(score >= self.positive)
            return Row(first, second, label, named, score=score)
        label = binary_label(fields[self.label])
        if label is None:
            raise ValueError(f"the label is {fields[self.label]!r:.60}, but should be 0 or 1")
        return Row(first, second, label, named)

    def _check_columns(self, where: Path, found: list[str]) -> None:
        missing = {self.first, self.second, self.label or self.score} - set(found)
        if missing:
            raise DataError(f"{where} has the columns {', '.join(found)}, but should have {', '.join(sorted(missing))}")

    def _fetched(self) -> Mapping[str, Any]:
        try:
            import datasets
        except ImportError as error:
            raise DataError("--data NAME:hub needs the library datasets: pip install 'encheck[hub]'") from error
        try:
            found: Mapping[str, Any] = datasets.load_dataset(self.repo, self.config, revision=self.revision)
        except Exception as error:  # the library raises its own, the hub's and the network's
            raise DataError(
                f"{self.repo} at {self.revision[:12]} cannot be downloaded from the hub: {type(error).__name__}: "
                f"{str(error).splitlines()[0]:.200}. Offline, give a path: --data NAME:PATH"
            ) from error
        return found


@dataclass(frozen=True)
class Hubs:
    """Several of them as one data set: `split` is the part's name and its split."""

    parts: Mapping[str, Hub]

    def read(self, bad: BadRows) -> Iterator[Row]:
        """Pairs of each part in turn."""
        for name, part in self.parts.items():
            yield from (row._replace(split=f"{name}/{row.split}") for row in part.read(bad))
