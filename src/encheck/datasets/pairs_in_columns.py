"""The user's own labelled pairs, read in columns.

A batch is checked as a whole. Only a batch that has something wrong is looked through row by row; and where an error is
to be raised, the reader of rows finds it, so that it names the first wrong line.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from encheck.datasets.held import ROWS_AT_ONCE, Held, schema, spans, text_array
from encheck.datasets.links import Linker, Links
from encheck.datasets.pair_columns import (
    NEEDED,
    columns_of,
    row_of,
    said_of_repeats,
    said_of_scores,
    score_of,
)
from encheck.datasets.reader import (
    HALF,
    NO_VALUE,
    BadRows,
    Row,
    binary_label,
    full_rows,
    header_of,
    is_missing,
    json_rows,
    said_of_unread,
)
from encheck.datasets.records import json_table, parquet_batches, parquet_files
from encheck.errors import DataError

Chosen = Mapping[str, str | None]
FIRST_PRINTED, LAST_PRINTED = 0x21, 0x7E  # ASCII characters that are no white space


@dataclass(frozen=True)
class HeldPairs:
    """Labelled pairs in columns, what they have in common, and what is to be told of them."""

    held: Held
    links: Links
    said: tuple[str, ...] = ()


class _Batch(NamedTuple):
    """Rows of a file by the roles that have a column: lists, or pyarrow arrays of texts that need no care."""

    path: Path
    lines: Sequence[int]
    fields: Mapping[str, Any]


class _Range(NamedTuple):
    """How many scores there are, and their range."""

    scored: int = 0
    low: float = math.inf
    high: float = -math.inf

    def with_those_of(self, scores: Any) -> _Range:
        found = scores.drop_null().to_numpy()
        if not len(found):
            return self
        return _Range(self.scored + len(found), min(self.low, float(found.min())), max(self.high, float(found.max())))


class _Gathered(NamedTuple):
    """The rows of a file, and what was noted of all while they were read."""

    held: Held
    linker: Linker
    scores: _Range
    unread: list[str]


class _OtherColumnsError(Exception):
    """A row of JSON Lines has a key that gives a role to another column."""


@dataclass
class _Noted(BadRows):
    """Malformed rows with what they are ordered by: their lines; of JSON Lines, first those that are no objects."""

    found: list[tuple[bool, int, str]] = field(default_factory=list)

    def __call__(self, path: Path | str, line: int, problem: str) -> None:
        """Raise DataError, or note the problem."""
        self.note(path, line, problem)

    def note(self, path: Path | str, line: int, problem: str, *, last: bool = False) -> None:
        """As a call, of what is wrong with the fields of a row where that comes `last`."""
        super().__call__(path, line, problem)
        self.found.append((last, line, self.skipped[-1]))


def hold(path: Path, bad: BadRows, strictly: Callable[[], Iterable[Row]]) -> HeldPairs:
    """The pairs of a file that is there, and of a format that `pairs` reads.

    `strictly` reads the same row by row: it is asked where something is wrong, for the error.
    """
    try:
        found = _read(path, bad)
    except (DataError, UnicodeDecodeError):
        for _ in strictly():
            pass
        raise
    links = found.linker.links(found.held)
    said = [
        *said_of_repeats(path, links.again, found.held.rows), *said_of_scores(path, *found.scores), *found.unread,
    ]  # fmt: skip
    return HeldPairs(found.held, links, tuple(said))


def _read(path: Path, bad: BadRows) -> _Gathered:
    ending = path.suffix.lower()
    if path.is_dir():
        return _of_parquet(path, parquet_files(path), bad)
    if ending == ".parquet":
        return _of_parquet(path, [path], bad)
    if ending == ".jsonl":
        return _of_json_lines(path, bad)
    if ending == ".json":
        names, rows = json_table(path, noted := _Noted(bad.skip))
        return _of_objects(path, bad, {*names}, lambda _: rows, noted)
    return _of_lists(path, bad, "," if ending == ".csv" else "\t")


def _of_parquet(path: Path, files: Sequence[Path], bad: BadRows) -> _Gathered:
    """The rows of all files, whose columns have the same roles; another file is refused, or left out and noted."""
    found: list[tuple[Path, list[str], Chosen, Callable[[Sequence[str]], Iterator[Any]]]] = []
    for file in files:
        try:
            names, opened = parquet_batches(file)
            chosen = _columns(file, names)
            if found and _roles(chosen) != _roles(found[0][2]):
                said = [", ".join(filter(None, one.values())) for one in (chosen, found[0][2])]
                raise DataError(f"{file}: has the columns {said[0]}, but {found[0][0]} has {said[1]}. {bad.remedy}")
            found.append((file, names, chosen, opened))
        except DataError as error:
            if not bad.skip or len(files) == 1:
                raise
            bad.skipped.append(str(error))
    if not found:
        raise DataError(f"{path}: none of the files can be used, the first because: {bad.skipped[0]}")

    def batches() -> Iterator[_Batch]:
        for file, _, chosen, opened in found:
            start = 1
            for batch in opened([column for column in chosen.values() if column]):
                fields = {role: _as_needed(role, batch.column(column)) for role, column in chosen.items() if column}
                yield _Batch(file, range(start, start + batch.num_rows), fields)
                start += batch.num_rows

    columns = [name for _, names, _, _ in found for name in names]
    roles = {f"{role} of {file}": column for file, _, chosen, _ in found for role, column in chosen.items()}
    return _gathered(path, columns, batches(), found[0][2], bad, _Noted(bad.skip), read=roles)


def _roles(chosen: Chosen) -> set[str]:
    return {role for role, column in chosen.items() if column}


def _as_needed(role: str, column: Any) -> Any:
    return column if role in NEEDED and _is_clean(column) else column.to_pylist()


def _of_lists(path: Path, bad: BadRows, delimiter: str) -> _Gathered:
    names, noted = header_of(path, delimiter=delimiter), _Noted(bad.skip)
    chosen = _columns(path, names)

    def batches() -> Iterator[_Batch]:
        rows = full_rows(path, delimiter, noted)
        while some := list(islice(rows, ROWS_AT_ONCE)):
            columns = list(zip(*(fields for _, fields in some), strict=True))
            fields = {role: columns[names.index(column)] for role, column in chosen.items() if column}
            yield _Batch(path, [line for line, _ in some], fields)

    return _gathered(path, names, batches(), chosen, bad, noted)


def _of_json_lines(path: Path, bad: BadRows) -> _Gathered:
    """The rows; those keys are columns that any row has, so where the first rows lack some, all are read again."""
    objects = partial(json_rows, path)
    try:
        known = _keys(islice(objects(BadRows(skip=True)), ROWS_AT_ONCE))
        return _of_objects(path, bad, known, objects, _Noted(bad.skip))
    except (DataError, _OtherColumnsError):
        return _of_objects(path, bad, _keys(objects(BadRows(skip=True))), objects, _Noted(bad.skip))


def _keys(rows: Iterable[tuple[int, Mapping[str, Any]]]) -> set[str]:
    return {key for _, row in rows for key in row}


def _of_objects(
    path: Path,
    bad: BadRows,
    known: set[str],
    objects: Callable[[BadRows], Iterator[tuple[int, Mapping[str, Any]]]],
    noted: _Noted,
) -> _Gathered:
    chosen = _columns(path, sorted(known))

    def batches() -> Iterator[_Batch]:
        rows, seen = objects(noted), known
        while some := list(islice(rows, ROWS_AT_ONCE)):
            if new := _keys(some) - seen:
                seen = seen | new
                if columns_of(path, sorted(seen)) != chosen:
                    raise _OtherColumnsError
            fields = {role: [row.get(column) for _, row in some] for role, column in chosen.items() if column}
            yield _Batch(path, [line for line, _ in some], fields)

    return _gathered(path, known, batches(), chosen, bad, noted, fields_last=True)


def _columns(path: Path, names: list[str]) -> Chosen:
    if not names:
        raise DataError(f"{path} has no columns")
    return columns_of(path, names)


def _gathered(
    path: Path,
    names: Iterable[str],
    batches: Iterator[_Batch],
    chosen: Chosen,
    bad: BadRows,
    noted: _Noted,
    *,
    fields_last: bool = False,
    read: Chosen | None = None,
) -> _Gathered:
    """The rows of all batches, malformed ones noted in the order of `noted`; `read` has the columns of all files."""
    held, linker, scores = Held(), Linker(), _Range()
    for batch in batches:
        try:
            made = _whole(batch)
        except ValueError:
            made = _from_rows(_row_by_row(batch, chosen, partial(noted.note, last=fields_last)))
        scores = scores.with_those_of(made.column("score"))
        held.append(made)
        linker.append(made)
    bad.skipped += [message for _, _, message in sorted(noted.found)]
    return _Gathered(held, linker, scores, said_of_unread(path, names, (read or chosen).values()))


def _row_by_row(batch: _Batch, chosen: Chosen, bad: Callable[[Path, int, str], None]) -> Iterator[Row]:
    columns = {
        role: value if isinstance(value, list | tuple) else value.to_pylist() for role, value in batch.fields.items()
    }
    for at, line in enumerate(batch.lines):
        try:
            yield row_of({role: columns[role][at] if role in columns else None for role in chosen}, chosen)
        except ValueError as error:
            bad(batch.path, line, str(error))


def _from_rows(rows: Iterable[Row]) -> Any:
    found = list(rows)
    return _record_batch(
        text_array([row.first for row in found]),
        text_array([row.second for row in found]),
        [row.label for row in found],
        [row.cluster for row in found],
        [row.score for row in found],
    )


def _whole(batch: _Batch) -> Any:
    """The record batch of rows without a fault; ValueError if there is one."""
    fields, count = batch.fields, len(batch.lines)
    first, second = (_texts(fields[side]) for side in NEEDED)
    labels = _labels(fields["label"]) if "label" in fields else [None] * count
    clusters = [_cluster(value) for value in fields["cluster"]] if "cluster" in fields else [None] * count
    scores = _scores(fields["score"], may_be_missing="label" in fields) if "score" in fields else [None] * count
    return _record_batch(first, second, labels, clusters, scores)


def _record_batch(first: Any, second: Any, *others: Sequence[Any]) -> Any:
    import pyarrow

    labels, clusters, scores = others
    names = [None if name is None else name.encode("utf-8", "surrogatepass") for name in clusters]
    columns = [first, second, *map(pyarrow.array, (labels, names, scores), schema().types[2:])]
    return pyarrow.RecordBatch.from_arrays(columns, schema=schema())


def _is_clean(column: Any) -> bool:
    """Whether a pyarrow column has only texts in UTF-8, and none of them is missing, empty or in white space."""
    import pyarrow.compute

    if not pyarrow.types.is_string(column.type) or column.null_count or not len(column):
        return False
    if pyarrow.compute.any(pyarrow.compute.is_in(column, pyarrow.array(NO_VALUE))).as_py():
        return False
    data, ends = spans(column.cast(pyarrow.large_string()))
    if not (ends[1:] > ends[:-1]).all():
        return False
    edges = data[np.concatenate([ends[:-1], ends[1:] - 1])]
    return bool(edges.min() >= FIRST_PRINTED and edges.max() <= LAST_PRINTED) and _is_unicode(data.tobytes())


def _is_unicode(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _texts(values: Any) -> Any:
    """The texts without surrounding white space as a pyarrow array; ValueError if one is none, or blank."""
    import pyarrow

    if not isinstance(values, list | tuple):
        return values.cast(pyarrow.large_string())
    if {*map(type, values)} - {str}:
        raise ValueError("not a text")
    stripped = list(map(str.strip, values))
    joined = "".join(stripped)
    if (
        not all(stripped)
        or any(text in NO_VALUE for text in stripped)
        or (not joined.isascii() and HALF.search(joined))
    ):
        raise ValueError("a text that is blank or missing, or half a character")
    return text_array(stripped)


def _labels(values: Sequence[object]) -> list[int | None]:
    texts = list(map(str, values))
    known = {text: binary_label(text) for text in {*texts}}
    if None in known.values():
        raise ValueError("a label that is neither 0 nor 1")
    return [known[text] for text in texts]


def _cluster(value: object) -> str | None:
    return None if is_missing(value) else str(value)


def _scores(values: Sequence[object], *, may_be_missing: bool) -> list[float | None]:
    return [None if may_be_missing and is_missing(value) else score_of(value) for value in values]
