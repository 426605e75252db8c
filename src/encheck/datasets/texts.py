"""Your own texts without labels: one per line, or a column of a table. Each text is a group of its own.

`FILE:COLUMN` names the column; without it, it is the first of TEXT that the file has. A column `cluster` says what
texts have in common, a column `split` which part they are of: `texts@test:FILE` takes that part alone.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from encheck.datasets.clusters import clusters_of, sample_clusters
from encheck.datasets.dataset import Dataset
from encheck.datasets.reader import BadRows, Row, checked_text, is_missing, lines_of, refuse_misspelt
from encheck.datasets.records import FORMATS, ending_of, records, unread_format
from encheck.errors import DataError, unknown
from encheck.ids import ItemId
from encheck.system.files import expand_home, is_file, is_folder
from encheck.types import Group, content_hash

log = logging.getLogger("encheck")
LICENCE = "yours"
FILES = "a .txt file with a text a line, or .json, .jsonl, .csv, .tsv or .parquet with a column text (or FILE:COLUMN)"
TEXT = ("text", "sentence", "body", "content", "message", "description", "title", "query")
LINES = (".txt", ".log")
SPLITS = {"train": "train", "validation": "validation", "dev": "validation", "valid": "validation", "test": "test"}
PARTS = tuple(dict.fromkeys(SPLITS.values()))  # what `texts@PART` takes
MOST = 10_000  # characters of a text: what is longer is a document


@dataclass(frozen=True, slots=True)
class Place:
    """A file, and the column that holds the texts where one is named."""

    path: Path
    column: str = ""


class Text(NamedTuple):
    """A text, its cluster and its split where the file names them."""

    text: str
    cluster: str = ""
    split: str = ""


def texts(name: str, path: str, bad: BadRows, *, part: str, sample: int | None, seed: int) -> Dataset:
    """The texts of a file, at most `sample` clusters; DataError says what is wrong with it.

    Of texts that stand twice the first is taken. Texts of the same words, in any order, are a cluster.
    """
    place = place_of(path)
    rows = _distinct(place.path, _of_part(place.path, _rows(place, bad), part))
    if not rows:
        raise _without_text(path, bad)
    clusters = clusters_of([Row(one.text, one.text, None, one.split, one.cluster or None) for one in rows])
    wanted = set(clusters) if sample is None else sample_clusters(clusters, sample, seed=seed)
    groups = tuple(_group(name, row, c) for row, c in zip(rows, clusters, strict=True) if c in wanted)
    return Dataset(
        name, (), groups, LICENCE, len(rows), skipped=tuple(bad.skipped), sampled=len(groups) < len(rows),
        universe=tuple(sorted(wanted)),
    )  # fmt: skip


def stream(name: str, path: str, bad: BadRows, *, part: str) -> Iterator[Group]:
    """The groups of all texts of a file, one after the other, each once; of what was read hashes alone are kept.

    A cluster is what the file names, else the text. DataError says what is wrong with the file.
    """
    place, seen, count = place_of(path), set[int](), 0
    for row in _of_part(place.path, _rows(place, bad), part):
        count += 1
        if (key := int(content_hash(row.text), 16)) not in seen:
            seen.add(key)
            yield _group(name, row, row.cluster or content_hash(row.text))
    if not count:
        raise _without_text(path, bad)
    _tell_repeated(place.path, count - len(seen), count)


def _without_text(path: str, bad: BadRows) -> DataError:
    left_out = f"valid text (the first problem: {bad.skipped[0]})" if bad.skipped else "texts"
    return DataError(f"texts: {path} has no {left_out}; expected {FILES}")


def place_of(path: str) -> Place:
    """The file, and the column behind its last colon; a file whose own name has a colon is found by it.

    >>> place_of("tickets.csv:body").column, place_of("tickets.txt").column
    ('body', '')
    """
    name, _, column = path.rpartition(":")
    if name and not is_file(expand_home(path)) and ending_of(Path(name)) in (*LINES, *FORMATS):
        return Place(expand_home(name), column)
    return Place(expand_home(path))


def _rows(place: Place, bad: BadRows) -> Iterator[Text]:
    path, ending = place.path, ending_of(place.path)
    if not is_file(path):
        raise DataError(f"texts: {path} {'is a folder' if is_folder(path) else 'does not exist'}; expected {FILES}")
    if ending not in (*LINES, *FORMATS):
        raise unread_format(path, (*LINES, *FORMATS))
    if ending in LINES and place.column:
        raise DataError(f"texts: {path} has a text a line and no columns: leave :{place.column} out")
    return _of_lines(path, bad) if ending in LINES else _of_table(place, bad)


def _of_lines(path: Path, bad: BadRows) -> Iterator[Text]:
    for number, line in enumerate(lines_of(path), 1):
        if line.strip():
            yield from _checked(path, number, {"text": line}, "text", bad)


def _of_table(place: Place, bad: BadRows) -> Iterator[Text]:
    columns, rows = records(place.path, bad)
    if not columns:
        return
    column = _column(place, columns)
    others = {name: name if name in columns else None for name in ("cluster", "split")}
    refuse_misspelt(place.path, set(columns) - {column}, {name: (name,) for name in others}, others)
    for number, row in rows:
        yield from _checked(place.path, number, row, column, bad)


def _column(place: Place, columns: Sequence[str]) -> str:
    """The column of the texts; DataError says which there are."""
    if place.column:
        if place.column not in columns:
            raise DataError(f"{place.path}:1: {unknown('column', place.column, columns)}")
        return place.column
    found = next((name for name in TEXT if name in columns), None)
    if found is None:
        raise DataError(
            f"{place.path}:1: no column with the texts (columns: {', '.join(columns)}; understood: {', '.join(TEXT)}). "
            f"Name it: --data texts:{place.path}:COLUMN"
        )
    return found


def _checked(path: Path, number: int, row: Mapping[str, Any], column: str, bad: BadRows) -> Iterator[Text]:
    """The text of a row, if it is right."""
    try:
        text = checked_text(column, row.get(column))
        if len(text) > MOST:
            raise ValueError(
                f"the {column} text has {len(text):,} characters, but should have {MOST:,} at most: shorten it"
            )
        yield Text(text, _named(row.get("cluster")), _split(row.get("split")))
    except ValueError as error:
        bad(path, number, str(error))


def _named(value: object) -> str:
    """What a field says; empty where it is missing.

    >>> _named(7), _named(None), _named(float("nan"))
    ('7', '', '')
    """
    return "" if is_missing(value) else str(value).strip()


def _split(value: object) -> str:
    said = _named(value).lower()
    return SPLITS.get(said, said)


def _of_part(path: Path, rows: Iterator[Text], part: str) -> Iterator[Text]:
    """The rows of a part, all of them where none is asked for; DataError where no row is of it."""
    if not part:
        yield from rows
        return
    seen: set[str] = set()
    for row in rows:
        seen.add(row.split)
        if row.split == part:
            yield row
    if part not in seen:
        said = ", ".join(sorted(seen - {""})) or "none"
        raise DataError(f"texts: {path} has no text of the split {part!r}: its column split says {said}")


def _distinct(path: Path, rows: Iterator[Text]) -> list[Text]:
    """The rows, of those with the same text the first."""
    kept: dict[str, Text] = {}
    count = 0
    for row in rows:
        count += 1
        kept.setdefault(row.text, row)
    _tell_repeated(path, count - len(kept), count)
    return list(kept.values())


def _tell_repeated(path: Path, again: int, count: int) -> None:
    if again:
        log.warning("%s: %d of %d texts repeat an earlier one, and are left out", path.name, again, count)


def _group(name: str, row: Text, cluster: str) -> Group:
    item = ItemId.of(name, content_hash(row.text), "text", 1, "data", 0)
    return Group(item, row.text, row.text, cluster, split=row.split)
