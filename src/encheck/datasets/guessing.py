"""Guess the kind of data behind a path that `--data` gives without a name."""

from __future__ import annotations

from pathlib import Path

from encheck.datasets.contrast import is_of_contrasts
from encheck.datasets.pairs import is_of_pairs
from encheck.datasets.passages import is_page
from encheck.datasets.query_rows import NEGATIVE, is_of_queries
from encheck.datasets.reader import BadRows
from encheck.datasets.records import FORMATS, ending_of, parquet_files, records
from encheck.datasets.retrieval import parts_of

PASSAGES = "passages"


def taken_for(path: Path, *, has_log: bool) -> str:
    """The data set that the path is of: what its files and columns look like; articles where there is a log of queries.

    >>> taken_for(Path("handbook.md"), has_log=False)
    'passages'
    """
    if has_log or is_page(path):
        return PASSAGES
    if path.is_dir():
        parts = {file.name.partition(".")[0] for file in path.iterdir()}
        if {"corpus", "queries", "qrels"} <= parts:
            return "retrieval"
        files = parquet_files(path) if {file.suffix for file in path.iterdir()} == {".parquet"} else []
        return "pairs" if files and is_of_pairs(records(files[0], BadRows())[0]) else PASSAGES
    if ending_of(path) == ".json" and parts_of(path):
        return "retrieval"
    return _of_columns(path) if ending_of(path) in FORMATS else PASSAGES


def _of_columns(path: Path) -> str:
    columns, _ = records(path, BadRows(skip=True))
    negatives = any(NEGATIVE.fullmatch(name) for name in columns)
    if {"anchor", "positive"} <= {*columns} and negatives:
        return "triplets"
    if is_of_queries(columns):
        return "retrieval"
    if is_of_contrasts(columns):
        return "contrast"
    return "pairs" if is_of_pairs(columns) else PASSAGES
