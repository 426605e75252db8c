"""Your own texts without labels: one per line, or a column of a table. Each text is a group of its own.

`FILE:COLUMN` names the column; the default is the first name in TEXT that the file has. A column `cluster` groups
related texts. A column `split` names the part that a text belongs to, and `texts@test:FILE` reads only that part.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from encheck.datasets.clusters import assign_clusters, sample_clusters
from encheck.datasets.dataset import Dataset
from encheck.datasets.reader import (
    TABLE_READERS,
    BadRows,
    PairRow,
    check_text,
    field_text,
    file_ending,
    read_lines,
    read_table,
    refuse_misspelt_columns,
    unknown_format_error,
)
from encheck.errors import DataError, unknown_name_message
from encheck.ids import ItemId
from encheck.system.files import expand_home, is_file, is_folder
from encheck.types import Group, content_hash

log = logging.getLogger("encheck")
LICENCE = "yours"
FILES = (
    "a .txt file with one text per line, or .json, .jsonl, .csv, .tsv or .parquet with a column text (or FILE:COLUMN)"
)
TEXT_COLUMNS = ("text", "sentence", "body", "content", "message", "description", "title", "query")
LINE_ENDINGS = (".txt", ".log")
SPLITS = {"train": "train", "validation": "validation", "dev": "validation", "valid": "validation", "test": "test"}
PARTS = tuple(dict.fromkeys(SPLITS.values()))  # the parts for `texts@PART`
MAX_CHARACTERS = 10_000  # characters: a longer text is a document


@dataclass(frozen=True, slots=True)
class TextSource:
    """A file, and the column of the texts ("" if none is named)."""

    path: Path
    column: str = ""


class TextRow(NamedTuple):
    """A text, with its cluster and its split if the file names them."""

    text: str
    cluster: str = ""
    split: str = ""


def texts(name: str, path: str, bad: BadRows, *, part: str, sample: int | None, seed: int) -> Dataset:
    """Return the texts of a file as a data set of at most `sample` clusters. DataError explains a fault in the file.

    Repeated texts are left out. Texts with the same words, in any order, form a cluster.
    """
    place = parse_text_source(path)
    count, distinct = 0, dict[str, TextRow]()
    for row in _select_part(place.path, _read_text_rows(place, bad), part):
        count += 1
        distinct.setdefault(row.text, row)
    rows = list(distinct.values())
    _warn_of_repeated_texts(place.path, count - len(rows), count)
    if not rows:
        raise _no_text_error(path, bad)
    clusters = assign_clusters([PairRow(one.text, one.text, None, one.split, one.cluster or None) for one in rows])
    wanted = set(clusters) if sample is None else sample_clusters(clusters, sample, seed=seed)
    groups = tuple(_make_group(name, row, c) for row, c in zip(rows, clusters, strict=True) if c in wanted)
    return Dataset(
        name, (), groups, LICENCE, len(rows), skipped=tuple(bad.skipped), sampled=len(groups) < len(rows),
        universe=tuple(sorted(wanted)),
    )  # fmt: skip


def stream(name: str, path: str, bad: BadRows, *, part: str) -> Iterator[Group]:
    """Yield a group for each distinct text of a file, one at a time. Only hashes of earlier texts stay in memory.

    The cluster is the one in the file, otherwise the text. DataError explains a fault in the file.
    """
    place, seen, count = parse_text_source(path), set[int](), 0
    for row in _select_part(place.path, _read_text_rows(place, bad), part):
        count += 1
        if (key := int(content_hash(row.text), 16)) not in seen:
            seen.add(key)
            yield _make_group(name, row, row.cluster or content_hash(row.text))
    if not count:
        raise _no_text_error(path, bad)
    _warn_of_repeated_texts(place.path, count - len(seen), count)


def _no_text_error(path: str, bad: BadRows) -> DataError:
    left_out = f"valid text (the first problem: {bad.skipped[0]})" if bad.skipped else "texts"
    return DataError(f"texts: {path} has no {left_out}; expected {FILES}")


def parse_text_source(path: str) -> TextSource:
    """Split a path into the file and the column after its last colon. A file whose name contains a colon is recognised.

    >>> parse_text_source("tickets.csv:body").column, parse_text_source("tickets.txt").column
    ('body', '')
    """
    name, _, column = path.rpartition(":")
    if name and not is_file(expand_home(path)) and file_ending(Path(name)) in (*LINE_ENDINGS, *TABLE_READERS):
        return TextSource(expand_home(name), column)
    return TextSource(expand_home(path))


def _read_text_rows(place: TextSource, bad: BadRows) -> Iterator[TextRow]:
    path, ending = place.path, file_ending(place.path)
    if not is_file(path):
        raise DataError(f"texts: {path} {'is a folder' if is_folder(path) else 'does not exist'}; expected {FILES}")
    if ending not in (*LINE_ENDINGS, *TABLE_READERS):
        raise unknown_format_error(path, (*LINE_ENDINGS, *TABLE_READERS))
    if ending in LINE_ENDINGS and place.column:
        raise DataError(f"texts: {path} has one text per line and no columns: leave :{place.column} out")
    if ending in LINE_ENDINGS:
        for number, line in enumerate(read_lines(path), 1):
            if line.strip():
                yield from _parse_text_row(path, number, {"text": line}, "text", bad)
        return
    columns, rows = read_table(path, bad)
    if not columns:
        return
    column = _find_text_column(place, columns)
    others = {name: name if name in columns else None for name in ("cluster", "split")}
    refuse_misspelt_columns(place.path, set(columns) - {column}, {name: (name,) for name in others}, others)
    for number, row in rows:
        yield from _parse_text_row(place.path, number, row, column, bad)


def _find_text_column(place: TextSource, columns: Sequence[str]) -> str:
    """Return the column of the texts. If it is missing, DataError lists the existing columns."""
    if place.column:
        if place.column not in columns:
            raise DataError(f"{place.path}:1: {unknown_name_message('column', place.column, columns)}")
        return place.column
    column = next((name for name in TEXT_COLUMNS if name in columns), None)
    if column is None:
        raise DataError(
            f"{place.path}:1: no column with the texts (columns: {', '.join(columns)}; "
            f"accepted: {', '.join(TEXT_COLUMNS)}). Name it: --data texts:{place.path}:COLUMN"
        )
    return column


def _parse_text_row(path: Path, number: int, row: Mapping[str, Any], column: str, bad: BadRows) -> Iterator[TextRow]:
    """Yield the text of a row if it is valid."""
    try:
        text = check_text(column, row.get(column))
        if len(text) > MAX_CHARACTERS:
            raise ValueError(
                f"the {column} text has {len(text):,} characters, but should have {MAX_CHARACTERS:,} at most: "
                "shorten it"
            )
        split = field_text(row.get("split")).lower()
        yield TextRow(text, field_text(row.get("cluster")), SPLITS.get(split, split))
    except ValueError as error:
        bad(path, number, str(error))


def _select_part(path: Path, rows: Iterator[TextRow], part: str) -> Iterator[TextRow]:
    """Yield the rows of a part, or all rows if `part` is "". Raise DataError if no row belongs to the part."""
    if not part:
        yield from rows
        return
    seen: set[str] = set()
    for row in rows:
        seen.add(row.split)
        if row.split == part:
            yield row
    if part not in seen:
        splits = ", ".join(sorted(seen - {""})) or "none"
        raise DataError(f"texts: {path} has no text of the split {part!r}: its column split says {splits}")


def _warn_of_repeated_texts(path: Path, repeats: int, count: int) -> None:
    if repeats:
        log.warning("%s: %d of %d texts repeat an earlier one, and are left out", path.name, repeats, count)


def _make_group(name: str, row: TextRow, cluster: str) -> Group:
    item = ItemId.of(name, content_hash(row.text), "text", 1, "data", 0)
    return Group(item, row.text, row.text, cluster, split=row.split)
