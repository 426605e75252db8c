"""Load data sets from the Hugging Face hub at a pinned revision: `NAME:hub`, `retrieval:hub:OWNER/NAME@COMMIT`.

Only these two specifications download data. The `datasets` library downloads pairs into its own cache, and
`huggingface_hub` downloads folders. Code in a repository is neither downloaded nor run.
"""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from encheck.datasets.reader import (
    BadRows,
    Expected,
    PairRow,
    binary_label_or_none,
    make_checked_rows,
    parse_score,
    warn_unless_published_counts,
)
from encheck.errors import DataError

HUB_WORD = "hub"
SPLITS = {"train": "train", "validation": "validation", "test": "test"}
log = logging.getLogger("encheck")
HUB_PREFIX = "hub:"
SPEC = re.compile(r"(?P<repo>[\w.-]+/[\w.-]+)@(?P<commit>[0-9a-f]{40})")


@dataclass(frozen=True)
class Hub:
    """Where a data set is on the hub, and which columns have which role.

    `label` names a column with 0 and 1 (-1 means that the label is not published; such pairs are left out). `score`
    names a column with a similarity from `low` to `high` instead. A score of at least `positive` gives label 1; if
    `positive` is None, there are no labels. `expected` has the published number of rows and labels of each split. With
    `listed`, a split is a single row whose columns are lists.
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

    def read(self, bad: BadRows) -> Iterator[PairRow]:
        """Yield the pairs, split by split. Raise DataError if the hub cannot be reached or holds different data."""
        try:
            import datasets
        except ImportError as error:
            raise DataError("--data NAME:hub needs the library datasets: pip install 'encheck[hub]'") from error
        try:
            splits: Mapping[str, Any] = datasets.load_dataset(self.repo, self.config, revision=self.revision)
        except Exception as error:  # errors of the library, the hub and the network
            raise DataError(
                f"{self.repo} at {self.revision[:12]} cannot be downloaded from the hub: {type(error).__name__}: "
                f"{str(error).splitlines()[0]:.200}. Offline, give a path: --data NAME:PATH"
            ) from error
        for name, rows in splits.items():
            where = Path(f"{self.repo}@{self.revision[:12]}", self.config or "", name)
            missing = {self.first, self.second, self.label or self.score} - set(rows.column_names)
            if missing:
                raise DataError(
                    f"{where} has the columns {', '.join(rows.column_names)}, but should have "
                    f"{', '.join(sorted(missing))}"
                )
            counts: Counter[str] = Counter()
            if self.listed:
                columns = (self.first, self.second, self.label)
                listed = ([value for row in rows for value in row[column]] for column in columns)
                rows = [dict(zip(columns, values, strict=True)) for values in zip(*listed, strict=True)]
            published = ((n, row) for n, row in enumerate(rows, 1) if not (self.label and str(row[self.label]) == "-1"))
            for row in make_checked_rows(where, published, partial(self._make_row, split=name), bad=bad):
                counts[str(row.label)] += 1
                yield row
            warn_unless_published_counts(name, counts, self.expected)

    def _make_row(self, fields: Mapping[str, Any], *, split: str) -> PairRow:
        first, second, named = fields[self.first], fields[self.second], SPLITS.get(split, split)
        if self.score:
            score = parse_score(str(fields[self.score]), self.low, self.high)
            label = None if self.positive is None else int(score >= self.positive)
            return PairRow(first, second, label, named, score=score)
        label = binary_label_or_none(fields[self.label])
        if label is None:
            raise ValueError(f"the label is {fields[self.label]!r:.60}, but should be 0 or 1")
        return PairRow(first, second, label, named)


@dataclass(frozen=True)
class Hubs:
    """Several data sets on the hub, read as one. A pair's `split` is the name of its part and its split there."""

    parts: Mapping[str, Hub]

    def read(self, bad: BadRows) -> Iterator[PairRow]:
        """Yield the pairs of each part in turn."""
        for name, part in self.parts.items():
            yield from (row._replace(split=f"{name}/{row.split}") for row in part.read(bad))


def fetch_hub_folder(spec: str, *, patterns: Sequence[str], is_whole: Callable[[Path], bool]) -> Path:
    """Return the folder of `OWNER/NAME@COMMIT` in the hub's cache. Download it first if it is not there.

    `patterns` select the files, and `is_whole` checks that a folder is complete. Raise DataError for any other form of
    `spec`, or if the hub cannot be reached.
    """
    match = SPEC.fullmatch(spec)
    if match is None:
        raise DataError(
            f"--data=retrieval:{HUB_PREFIX}{spec} should be retrieval:{HUB_PREFIX}OWNER/NAME@COMMIT, with all 40 "
            "hex digits of a commit of the data set: branches and tags move"
        )
    repo, commit = match["repo"], match["commit"]
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError

    download = partial(snapshot_download, repo, repo_type="dataset", revision=commit, allow_patterns=list(patterns))
    cached = None
    with suppress(LocalEntryNotFoundError, OSError, ValueError):
        cached = Path(download(local_files_only=True))
    if cached and is_whole(cached):
        return cached
    try:
        folder = Path(download())
    except (HfHubHTTPError, LocalEntryNotFoundError, OSError, ValueError) as error:
        reason = next(iter(str(error).strip().splitlines()), type(error).__name__)
        raise DataError(_unavailable_message(repo, commit, reason)) from error
    if not is_whole(folder):
        content = ", ".join(sorted(p.name for p in folder.iterdir())[:8]) or "nothing"
        reason = f"the download holds {content}, which is not a whole collection"
        raise DataError(_unavailable_message(repo, commit, reason))
    log.warning("%s at %s was fetched from the hub", repo, commit[:12])
    return folder


def _unavailable_message(repo: str, commit: str, reason: str) -> str:
    return (
        f"{repo} at {commit[:12]} is not complete in the hub's cache, and cannot be downloaded ({reason:.200}). On a "
        f"machine with a network: hf download {repo} --repo-type dataset --revision {commit} --local-dir FOLDER. "
        f"Then here: "
        "--data=retrieval:FOLDER"
    )
