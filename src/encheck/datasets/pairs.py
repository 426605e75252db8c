"""The user's own labelled pairs: CSV, TSV, JSON, JSON Lines or Parquet with named columns.

`first` and `second` hold the texts. `label` is 1 for the same meaning and 0 for a different one. `score` is the
similarity in any range: higher is more similar. A label or a score is enough. `cluster` (optional) groups related rows.
The column names of public data sets are also understood.

Large files are read in columns. A batch is checked as a whole, and row by row only if something is wrong. To raise an
error, the row reader reads the file, so that the error names the first wrong line.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from encheck.datasets.contrast import is_of_contrasts
from encheck.datasets.pair_table import ROWS_AT_ONCE, Linker, Links, PairTable, pair_schema, text_array, text_spans
from encheck.datasets.reader import (
    HALF,
    NO_VALUE,
    BadRows,
    Format,
    Named,
    PairRow,
    binary_label,
    checked_text,
    delimited,
    full_rows,
    header_of,
    is_missing,
    json_rows,
    json_table,
    label_of,
    parquet,
    parquet_batches,
    parquet_files,
    refuse_misspelt,
    table_rows,
    unknown_format,
    unread_columns_message,
)
from encheck.datasets.retrieval import is_of_queries
from encheck.errors import DataError, EncheckError

PAIR_COLUMNS = {
    "first": ("first", "sentence1", "sentence_1", "text1", "question1", "sentence_a", "anchor", "premise"),
    "second": ("second", "sentence2", "sentence_2", "text2", "question2", "sentence_b", "candidate", "hypothesis"),
    "label": ("label", "is_duplicate", "paraphrase", "labels", "gold"),
    "score": ("score", "similarity", "similarity_score", "relatedness", "relatedness_score"),
    "cluster": ("cluster", "topic", "thread", "url", "group"),
}
NEEDED = ("first", "second")
Chosen = Mapping[str, str | None]
FIRST_PRINTED, LAST_PRINTED = 0x21, 0x7E  # ASCII characters other than white space
log = logging.getLogger("encheck")
LICENCE = "yours"
FILES = (
    "a .csv, .tsv, .json, .jsonl or .parquet file, or a folder of Parquet files, with columns first, second, label or "
    "score (and cluster)"
)


def pair_columns(path: Path | str, columns: list[str], needed: Sequence[str] = ()) -> dict[str, str | None]:
    """The column of each role, None if missing; DataError if a needed one is missing.

    By default, both texts and a label or a score are needed. A column with a similar name is also accepted.
    """
    chosen = {role: _column(path, role, columns) for role in PAIR_COLUMNS}
    is_production = bool(needed)
    needed = needed or (NEEDED if chosen["label"] or chosen["score"] else (*NEEDED, "label"))
    if missing := next((role for role in needed if not chosen[role]), None):
        others = f"understood as {missing!r}: {', '.join(PAIR_COLUMNS[missing])}"
        or_score = " and no 'score'" if missing == "label" else ""
        whole = columns[0] if len(columns) == 1 else ""
        other = max(",;|\t", key=whole.count)
        hint = f". Is {other!r} the delimiter? A .csv is divided by commas, a .tsv by tabs" if other in whole else ""
        raise DataError(
            f"{path}:1: no column {missing!r}{or_score} (columns: {', '.join(columns) or 'none'}; {others}){hint}"
        )
    if not is_production:
        refuse_misspelt(path, columns, PAIR_COLUMNS, chosen)
    return chosen


def _column(path: Path | str, role: str, columns: list[str]) -> str | None:
    alike: dict[str, list[str]] = {}
    for column in columns:
        alike.setdefault(column.strip().lower(), []).append(column)
    found = [alike[name] for name in PAIR_COLUMNS[role] if name in alike]
    if found and len(found[0]) > 1:
        called = " and ".join(map(repr, dict.fromkeys(found[0])))
        raise DataError(f"{path}:1: two columns are called {called}: rename one of them")
    return found[0][0] if found else None


def pair_row(fields: Mapping[str, Any], chosen: Mapping[str, str | None]) -> PairRow:
    """A row from the column of each role; ValueError if it is invalid.

    A score may be missing if there are labels.
    """
    first, second = (checked_text(side, fields[side]) for side in NEEDED)
    label = label_of(fields["label"]) if chosen["label"] else None
    has_score = bool(chosen["score"]) and not (chosen["label"] and is_missing(fields["score"]))
    cluster = None if is_missing(fields["cluster"]) else str(fields["cluster"])
    return PairRow(first, second, label, "", cluster, finite_score(fields["score"]) if has_score else None)


def finite_score(value: object) -> float:
    """A graded similarity; ValueError if it is not a number.

    >>> finite_score("3.8"), finite_score(-1)
    (3.8, -1.0)
    """
    try:
        score = math.nan if isinstance(value, bool) else float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        score = math.nan
    if not math.isfinite(score):
        raise ValueError(f"the score is {value!r:.60}, but should be a number: higher means more similar")
    return score


def repeats_message(path: Path, again: int, rows: int) -> list[str]:
    """The message about rows that repeat an earlier one, if any."""
    return [f"{path.name}: {again} of {rows} rows repeat an earlier pair word for word, and each counts"] * bool(again)


def scores_message(path: Path, count: int, low: float, high: float) -> list[str]:
    """The message about the scores of this many pairs, if any."""
    ranks = "`sts` ranks pairs by it: higher means more similar"
    return [f"{path.name}: {count} pairs have a score, from {low:g} to {high:g}: {ranks}"] * bool(count)


@dataclass(frozen=True)
class LinkedPairs:
    """Labelled pairs in columns, their links, and the messages about them."""

    held: PairTable
    links: Links
    said: tuple[str, ...] = ()


class _Batch(NamedTuple):
    """Rows of a file by the roles that have a column: lists, or pyarrow arrays of texts that need no checks."""

    path: Path
    lines: Sequence[int]
    fields: Mapping[str, Any]


class _ScoreRange(NamedTuple):
    """The number of scores, and their range."""

    scored: int = 0
    low: float = math.inf
    high: float = -math.inf

    def with_those_of(self, scores: Any) -> _ScoreRange:
        found = scores.drop_null().to_numpy()
        if not len(found):
            return self
        return _ScoreRange(
            self.scored + len(found), min(self.low, float(found.min())), max(self.high, float(found.max()))
        )


class _GatheredPairs(NamedTuple):
    """The rows of a file, and notes about all of them."""

    held: PairTable
    linker: Linker
    scores: _ScoreRange
    unread: list[str]


class _OtherColumnsError(EncheckError):
    """In a row of JSON Lines, a key gives a role to a different column."""


@dataclass
class _OrderedBadRows(BadRows):
    """Malformed rows in order: by their lines; for JSON Lines, rows that are not objects come first."""

    found: list[tuple[bool, int, str]] = field(default_factory=list)

    def __call__(self, path: Path | str, line: int, problem: str) -> None:
        """Raise DataError, or note the problem."""
        self.note(path, line, problem)

    def note(self, path: Path | str, line: int, problem: str, *, last: bool = False) -> None:
        """Like a call, for a fault in the fields of a row, if these come `last`."""
        super().__call__(path, line, problem)
        self.found.append((last, line, self.skipped[-1]))


def _gather_file(path: Path, bad: BadRows) -> _GatheredPairs:
    ending = path.suffix.lower()
    if path.is_dir():
        return _of_parquet(path, parquet_files(path), bad)
    if ending == ".parquet":
        return _of_parquet(path, [path], bad)
    if ending == ".jsonl":
        objects = partial(json_rows, path)
        try:
            known = _key_set(islice(objects(BadRows(skip=True)), ROWS_AT_ONCE))
            return _of_objects(path, bad, known, objects, _OrderedBadRows(bad.skip))
        except (DataError, _OtherColumnsError):
            return _of_objects(path, bad, _key_set(objects(BadRows(skip=True))), objects, _OrderedBadRows(bad.skip))
    if ending == ".json":
        names, rows = json_table(path, noted := _OrderedBadRows(bad.skip))
        return _of_objects(path, bad, {*names}, lambda _: rows, noted)
    return _of_lists(path, bad, "," if ending == ".csv" else "\t")


def _of_parquet(path: Path, files: Sequence[Path], bad: BadRows) -> _GatheredPairs:
    """The rows of all files, whose columns must have the same roles; other files are refused, or skipped and noted."""
    found: list[tuple[Path, list[str], Chosen, Callable[[Sequence[str]], Iterator[Any]]]] = []
    for file in files:
        try:
            names, opened = parquet_batches(file)
            chosen = _columns_or_error(file, names)
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
    return _gather_batches(path, columns, batches(), found[0][2], bad, _OrderedBadRows(bad.skip), read=roles)


def _roles(chosen: Chosen) -> set[str]:
    return {role for role, column in chosen.items() if column}


def _as_needed(role: str, column: Any) -> Any:
    return column if role in NEEDED and _is_clean(column) else column.to_pylist()


def _of_lists(path: Path, bad: BadRows, delimiter: str) -> _GatheredPairs:
    names, noted = header_of(path, delimiter=delimiter), _OrderedBadRows(bad.skip)
    chosen = _columns_or_error(path, names)

    def batches() -> Iterator[_Batch]:
        rows = full_rows(path, delimiter, noted)
        while some := list(islice(rows, ROWS_AT_ONCE)):
            columns = list(zip(*(fields for _, fields in some), strict=True))
            fields = {role: columns[names.index(column)] for role, column in chosen.items() if column}
            yield _Batch(path, [line for line, _ in some], fields)

    return _gather_batches(path, names, batches(), chosen, bad, noted)


def _key_set(rows: Iterable[tuple[int, Mapping[str, Any]]]) -> set[str]:
    return {key for _, row in rows for key in row}


def _of_objects(
    path: Path,
    bad: BadRows,
    known: set[str],
    objects: Callable[[BadRows], Iterator[tuple[int, Mapping[str, Any]]]],
    noted: _OrderedBadRows,
) -> _GatheredPairs:
    chosen = _columns_or_error(path, sorted(known))

    def batches() -> Iterator[_Batch]:
        rows, seen = objects(noted), known
        while some := list(islice(rows, ROWS_AT_ONCE)):
            if new := _key_set(some) - seen:
                seen = seen | new
                if pair_columns(path, sorted(seen)) != chosen:
                    raise _OtherColumnsError
            fields = {role: [row.get(column) for _, row in some] for role, column in chosen.items() if column}
            yield _Batch(path, [line for line, _ in some], fields)

    return _gather_batches(path, known, batches(), chosen, bad, noted, fields_last=True)


def _columns_or_error(path: Path, names: list[str]) -> Chosen:
    if not names:
        raise DataError(f"{path} has no columns")
    return pair_columns(path, names)


def _gather_batches(
    path: Path,
    names: Iterable[str],
    batches: Iterator[_Batch],
    chosen: Chosen,
    bad: BadRows,
    noted: _OrderedBadRows,
    *,
    fields_last: bool = False,
    read: Chosen | None = None,
) -> _GatheredPairs:
    """The rows of all batches; notes malformed ones in the order of `noted`. `read` has the columns of all files."""
    held, linker, scores = PairTable(), Linker(), _ScoreRange()
    for batch in batches:
        try:
            made = _checked_batch(batch)
        except ValueError:
            found = list(_row_by_row(batch, chosen, partial(noted.note, last=fields_last)))
            made = _record_batch(
                text_array([row.first for row in found]),
                text_array([row.second for row in found]),
                [row.label for row in found],
                [row.cluster for row in found],
                [row.score for row in found],
            )
        scores = scores.with_those_of(made.column("score"))
        held.append(made)
        linker.append(made)
    bad.skipped += [message for _, _, message in sorted(noted.found)]
    return _GatheredPairs(held, linker, scores, unread_columns_message(path, names, (read or chosen).values()))


def _row_by_row(batch: _Batch, chosen: Chosen, bad: Callable[[Path, int, str], None]) -> Iterator[PairRow]:
    columns = {
        role: value if isinstance(value, list | tuple) else value.to_pylist() for role, value in batch.fields.items()
    }
    for at, line in enumerate(batch.lines):
        try:
            yield pair_row({role: columns[role][at] if role in columns else None for role in chosen}, chosen)
        except ValueError as error:
            bad(batch.path, line, str(error))


def _checked_batch(batch: _Batch) -> Any:
    """The record batch of valid rows; ValueError for an invalid row."""
    fields, count = batch.fields, len(batch.lines)
    first, second = (_texts(fields[side]) for side in NEEDED)
    labels = _labels(fields["label"]) if "label" in fields else [None] * count
    clusters = (
        [(None if is_missing(value) else str(value)) for value in fields["cluster"]]
        if "cluster" in fields
        else [None] * count
    )
    scores = _scores(fields["score"], may_be_missing="label" in fields) if "score" in fields else [None] * count
    return _record_batch(first, second, labels, clusters, scores)


def _record_batch(first: Any, second: Any, *others: Sequence[Any]) -> Any:
    import pyarrow

    labels, clusters, scores = others
    names = [None if name is None else name.encode("utf-8", "surrogatepass") for name in clusters]
    columns = [first, second, *map(pyarrow.array, (labels, names, scores), pair_schema().types[2:])]
    return pyarrow.RecordBatch.from_arrays(columns, schema=pair_schema())


def _is_clean(column: Any) -> bool:
    """Whether a pyarrow column has only UTF-8 texts, without missing, empty or white-space values."""
    import pyarrow.compute

    if not pyarrow.types.is_string(column.type) or column.null_count or not len(column):
        return False
    if pyarrow.compute.any(pyarrow.compute.is_in(column, pyarrow.array(NO_VALUE))).as_py():
        return False
    data, ends = text_spans(column.cast(pyarrow.large_string()))
    if not (ends[1:] > ends[:-1]).all():
        return False
    edges = data[np.concatenate([ends[:-1], ends[1:] - 1])]
    if edges.min() < FIRST_PRINTED or edges.max() > LAST_PRINTED:
        return False
    try:
        data.tobytes().decode()
    except UnicodeDecodeError:
        return False
    return True


def _texts(values: Any) -> Any:
    """The texts without surrounding white space as a pyarrow array; ValueError for a blank or any other value."""
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


def _scores(values: Sequence[object], *, may_be_missing: bool) -> list[float | None]:
    return [None if may_be_missing and is_missing(value) else finite_score(value) for value in values]


def read(path: Path, bad: BadRows) -> Iterator[PairRow]:
    """Pairs in file order; a DataError for a missing column lists the existing ones."""
    if path.is_dir():
        for file in _files_of(path):
            yield from read(file, bad)
        return
    if not path.is_file():
        if ":/" in str(path):
            raise DataError(f"pairs: {path} is not a file. Remedy for a URL, which an engine reads: --engine=local")
        raise DataError(f"pairs: {path} does not exist; expected {FILES}")
    if path.suffix.lower() not in PAIR_FORMATS:
        raise unknown_format(path, PAIR_FORMATS)
    columns, rows = PAIR_FORMATS[path.suffix.lower()](path, bad)
    if not columns:
        raise DataError(f"pairs: {path} has no rows; expected {FILES}")
    chosen = pair_columns(path, columns)
    for said in unread_columns_message(path, columns, chosen.values()):
        log.warning("%s", said)
    known: set[tuple[str, str]] = set()
    count, scored, low, high = 0, 0, math.inf, -math.inf
    for line, fields in rows:
        try:
            row = pair_row({role: fields.get(column) if column else None for role, column in chosen.items()}, chosen)
        except ValueError as error:
            bad(path, line, str(error))
            continue
        count += 1
        known.add((row.first, row.second))
        if row.score is not None:
            low, high, scored = min(low, row.score), max(high, row.score), scored + 1
        yield row
    for said in (*repeats_message(path, count - len(known), count), *scores_message(path, scored, low, high)):
        log.warning("%s", said)


def read_in_columns(path: Path, bad: BadRows) -> LinkedPairs:
    """The pairs of `read`, in columns: in a fraction of its time and memory. DataError as for `read`."""
    if not (parquet_files(path) if path.is_dir() else path.is_file() and path.suffix.lower() in PAIR_FORMATS):
        list(read(path, bad))
    try:
        found = _gather_file(path, bad)
    except (DataError, UnicodeDecodeError):
        for _ in read(path, replace(bad, skipped=[])):  # names the first wrong line
            pass
        raise
    links = found.linker.links(found.held)
    said = [
        *repeats_message(path, links.again, found.held.rows), *scores_message(path, *found.scores), *found.unread,
    ]  # fmt: skip
    return LinkedPairs(found.held, links, tuple(said))


def production_pairs(path: Path, bad: BadRows) -> Iterator[tuple[PairRow, dict[str, str]]]:
    """Pairs from production, each with the values of the columns without a role (its slices).

    Some or all labels may be missing, because nobody judged these pairs. DataError as for `read`.
    """
    if path.is_dir():
        for file in _files_of(path):
            yield from production_pairs(file, bad)
        return
    columns, rows = table_rows(path, bad)
    if not columns:
        raise DataError(f"pairs: {path} has no rows; expected {FILES}")
    chosen = pair_columns(path, columns, needed=NEEDED)
    more = [column for column in columns if column not in chosen.values()]
    for line, row in rows:
        fields = {role: row.get(column) if column else None for role, column in chosen.items()}
        labelled = chosen | ({"label": None} if is_missing(fields["label"]) else {}) | {"score": None}
        try:
            made = pair_row(fields, labelled)
        except ValueError as error:
            bad(path, line, str(error))
        else:
            yield made, {name: str(row[name]) for name in more if not is_missing(row.get(name))}


def _files_of(folder: Path) -> list[Path]:
    """The Parquet files in a folder; DataError if it has none."""
    if not (files := parquet_files(folder)):
        raise DataError(f"pairs: {folder} holds no Parquet file; expected {FILES}")
    return files


def is_of_pairs(names: Sequence[str]) -> bool:
    """Whether these are the columns of pairs of sentences.

    >>> is_of_pairs(["sentence1", "sentence2", "score"]), is_of_pairs(["text", "score"])
    (True, False)
    """
    has = {role: not {*known}.isdisjoint(names) for role, known in PAIR_COLUMNS.items()}
    return "label" in names or (has["first"] and has["second"] and has["score"])


def other_kind(path: Path) -> str:
    """The data set of queries and documents that this file belongs to, because it has no sentence pairs."""
    ending = path.suffix.lower()
    if not path.is_file() or ending not in PAIR_FORMATS:
        return ""
    columns, _ = table_rows(path, BadRows(skip=True))
    if is_of_contrasts(columns):
        return "contrast"
    return "retrieval" if is_of_queries(columns) else ""


def _json_lines(path: Path, bad: BadRows) -> tuple[list[str], Named]:
    rows = list(json_rows(path, bad))
    return sorted({key for _, row in rows for key in row}), iter(rows)


PAIR_FORMATS: dict[str, Format] = {
    ".csv": delimited(","),
    ".tsv": delimited("\t"),
    ".json": json_table,
    ".jsonl": _json_lines,
    ".parquet": parquet,
}
