"""Your own labelled pairs: CSV, TSV, JSON, JSON Lines or Parquet with named columns.

`first` and `second` hold the texts. `label` is 1 for the same meaning and 0 for a different one. `score` is the
similarity in any range, and higher means more similar. Either a label or a score is needed. `cluster` groups related
rows and is optional. The column names of public data sets are also accepted.

Large files are read in columns. A batch is checked as a whole, and row by row only if the batch has a fault. To raise
an error, the file is read again row by row, so that the error names the first faulty line.
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

from encheck.datasets.contrast import are_contrast_columns
from encheck.datasets.pair_table import ROWS_AT_ONCE, Linker, Links, PairTable, pair_schema, text_array, text_spans
from encheck.datasets.reader import (
    NO_VALUE,
    SURROGATE,
    TABLE_READERS,
    BadRows,
    PairRow,
    binary_label_or_none,
    check_text,
    field_text,
    find_parquet_files,
    is_missing,
    open_parquet_batches,
    parse_binary_label,
    read_full_rows,
    read_header,
    read_json_rows,
    read_json_table,
    read_table,
    refuse_misspelt_columns,
    unknown_format_error,
    unread_columns_message,
)
from encheck.datasets.retrieval import are_query_columns
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


def find_pair_columns(path: Path | str, columns: list[str], needed: Sequence[str] = ()) -> dict[str, str | None]:
    """Return the column of each role, or None for a role without one. Raise DataError if a needed column is missing.

    By default, both texts and a label or a score are needed. Other common names of a role's column are also accepted.
    """
    chosen = {role: _find_role_column(path, role, columns) for role in PAIR_COLUMNS}
    is_production = bool(needed)
    needed = needed or (NEEDED if chosen["label"] or chosen["score"] else (*NEEDED, "label"))
    if missing := next((role for role in needed if not chosen[role]), None):
        others = f"accepted as {missing!r}: {', '.join(PAIR_COLUMNS[missing])}"
        or_score = " and no 'score'" if missing == "label" else ""
        whole = columns[0] if len(columns) == 1 else ""
        other = max(",;|\t", key=whole.count)
        hint = (
            f". Is {other!r} the delimiter? A .csv must be comma-separated, a .tsv tab-separated"
            if other in whole
            else ""
        )
        raise DataError(
            f"{path}:1: no column {missing!r}{or_score} (columns: {', '.join(columns) or 'none'}; {others}){hint}"
        )
    if not is_production:
        refuse_misspelt_columns(path, columns, PAIR_COLUMNS, chosen)
    return chosen


def _find_role_column(path: Path | str, role: str, columns: list[str]) -> str | None:
    alike: dict[str, list[str]] = {}
    for column in columns:
        alike.setdefault(column.strip().lower(), []).append(column)
    matches = [alike[name] for name in PAIR_COLUMNS[role] if name in alike]
    if matches and len(matches[0]) > 1:
        called = " and ".join(map(repr, dict.fromkeys(matches[0])))
        raise DataError(f"{path}:1: two columns are called {called}: rename one of them")
    return matches[0][0] if matches else None


def make_pair_row(fields: Mapping[str, Any], columns: Mapping[str, str | None]) -> PairRow:
    """Make a row from the column of each role. Raise ValueError if a value is invalid.

    A score may be missing if there are labels.
    """
    first, second = (check_text(side, fields[side]) for side in NEEDED)
    label = parse_binary_label(fields["label"]) if columns["label"] else None
    has_score = bool(columns["score"]) and not (columns["label"] and is_missing(fields["score"]))
    cluster = field_text(fields["cluster"]) or None
    return PairRow(first, second, label, "", cluster, parse_finite_score(fields["score"]) if has_score else None)


def parse_finite_score(value: object) -> float:
    """Return a graded similarity as a number. Raise ValueError if it is not a finite number.

    >>> parse_finite_score("3.8"), parse_finite_score(-1)
    (3.8, -1.0)
    """
    try:
        score = math.nan if isinstance(value, bool) else float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        score = math.nan
    if not math.isfinite(score):
        raise ValueError(f"the score is {value!r:.60}, but should be a number: higher means more similar")
    return score


def repeats_message(path: Path, repeats: int, rows: int) -> list[str]:
    """Return a message that rows repeat an earlier row, or an empty list if none do."""
    return [f"{path.name}: {repeats} of {rows} rows repeat an earlier pair word for word, and each counts"] * bool(
        repeats
    )


def scores_message(path: Path, count: int, low: float, high: float) -> list[str]:
    """Return a message about the scores of `count` pairs, or an empty list if `count` is 0."""
    ranks = "`sts` ranks pairs by it, higher as more similar"
    return [f"{path.name}: {count} pairs have a score, from {low:g} to {high:g}: {ranks}"] * bool(count)


@dataclass(frozen=True)
class LinkedPairs:
    """Labelled pairs in columns, the links between them, and messages about them."""

    table: PairTable
    links: Links
    messages: tuple[str, ...] = ()


class _Batch(NamedTuple):
    """Rows of a file, by role. Each role has a list, or a pyarrow array of texts that need no checks."""

    path: Path
    lines: Sequence[int]
    fields: Mapping[str, Any]


class _ScoreRange(NamedTuple):
    """How many rows have a score, and the range of the scores."""

    scored: int = 0
    low: float = math.inf
    high: float = -math.inf

    def extend(self, scores: Any) -> _ScoreRange:
        values = scores.drop_null().to_numpy()
        if not len(values):
            return self
        return _ScoreRange(
            self.scored + len(values), min(self.low, float(values.min())), max(self.high, float(values.max()))
        )


class _GatheredPairs(NamedTuple):
    """The rows of a file, their links, the range of their scores, and the columns that are not used."""

    table: PairTable
    linker: Linker
    scores: _ScoreRange
    unread: list[str]


class _OtherColumnsError(EncheckError):
    """In a row of JSON Lines, a role is in a different column than before."""


@dataclass
class _OrderedBadRows(BadRows):
    """Malformed rows by line."""

    found: list[tuple[int, str]] = field(default_factory=list)

    def __call__(self, path: Path | str, line: int, problem: str) -> None:
        """Raise DataError, or record the problem."""
        super().__call__(path, line, problem)
        self.found.append((line, self.skipped[-1]))


def _gather_file(path: Path, bad: BadRows) -> _GatheredPairs:
    ending = path.suffix.lower()
    if path.is_dir():
        return _gather_parquet(path, find_parquet_files(path), bad)
    if ending == ".parquet":
        return _gather_parquet(path, [path], bad)
    if ending == ".jsonl":
        objects = partial(read_json_rows, path)
        try:
            known = _all_keys(islice(objects(BadRows(skip=True)), ROWS_AT_ONCE))
            return _gather_json(path, bad, known, objects, _OrderedBadRows(bad.skip))
        except (DataError, _OtherColumnsError):
            return _gather_json(path, bad, _all_keys(objects(BadRows(skip=True))), objects, _OrderedBadRows(bad.skip))
    if ending == ".json":
        names, rows = read_json_table(path, noted := _OrderedBadRows(bad.skip))
        return _gather_json(path, bad, {*names}, lambda _: rows, noted)
    return _gather_delimited(path, bad, "," if ending == ".csv" else "\t")


def _gather_parquet(path: Path, files: Sequence[Path], bad: BadRows) -> _GatheredPairs:
    """Gather the rows of all files. Their columns must have the same roles as those of the first file.

    A file with other columns is an error or, if bad rows are skipped, is left out and reported.
    """
    opened_files: list[tuple[Path, list[str], Chosen, Callable[[Sequence[str]], Iterator[Any]]]] = []
    for file in files:
        try:
            names, opened = open_parquet_batches(file)
            chosen = _require_columns(file, names)
            if opened_files and _roles_with_column(chosen) != _roles_with_column(opened_files[0][2]):
                here, first = (", ".join(filter(None, one.values())) for one in (chosen, opened_files[0][2]))
                raise DataError(f"{file}: has the columns {here}, but {opened_files[0][0]} has {first}. {bad.remedy}")
            opened_files.append((file, names, chosen, opened))
        except DataError as error:
            if not bad.skip or len(files) == 1:
                raise
            bad.skipped.append(str(error))
    if not opened_files:
        raise DataError(f"{path}: none of the files can be used, the first because: {bad.skipped[0]}")

    def read_batches() -> Iterator[_Batch]:
        for file, _, chosen, opened in opened_files:
            start = 1
            for batch in opened([column for column in chosen.values() if column]):
                fields: dict[str, Any] = {}
                for role, name in chosen.items():
                    if name:
                        column = batch.column(name)
                        fields[role] = column if role in NEEDED and _needs_no_checks(column) else column.to_pylist()
                yield _Batch(file, range(start, start + batch.num_rows), fields)
                start += batch.num_rows

    columns = [name for _, names, _, _ in opened_files for name in names]
    roles = {f"{role} of {file}": column for file, _, chosen, _ in opened_files for role, column in chosen.items()}
    return _gather_batches(
        path, columns, read_batches(), opened_files[0][2], bad, _OrderedBadRows(bad.skip), columns_read=roles
    )


def _roles_with_column(columns: Chosen) -> set[str]:
    return {role for role, column in columns.items() if column}


def _gather_delimited(path: Path, bad: BadRows, delimiter: str) -> _GatheredPairs:
    names, noted = read_header(path, delimiter=delimiter), _OrderedBadRows(bad.skip)
    chosen = _require_columns(path, names)

    def read_batches() -> Iterator[_Batch]:
        rows = read_full_rows(path, delimiter, noted)
        while some := list(islice(rows, ROWS_AT_ONCE)):
            columns = list(zip(*(fields for _, fields in some), strict=True))
            fields = {role: columns[names.index(column)] for role, column in chosen.items() if column}
            yield _Batch(path, [line for line, _ in some], fields)

    return _gather_batches(path, names, read_batches(), chosen, bad, noted)


def _all_keys(rows: Iterable[tuple[int, Mapping[str, Any]]]) -> set[str]:
    return {key for _, row in rows for key in row}


def _gather_json(
    path: Path,
    bad: BadRows,
    keys: set[str],
    objects: Callable[[BadRows], Iterator[tuple[int, Mapping[str, Any]]]],
    noted: _OrderedBadRows,
) -> _GatheredPairs:
    chosen = _require_columns(path, sorted(keys))

    def read_batches() -> Iterator[_Batch]:
        rows, seen = objects(noted), keys
        while some := list(islice(rows, ROWS_AT_ONCE)):
            if new := _all_keys(some) - seen:
                seen = seen | new
                if find_pair_columns(path, sorted(seen)) != chosen:
                    raise _OtherColumnsError
            fields = {role: [row.get(column) for _, row in some] for role, column in chosen.items() if column}
            yield _Batch(path, [line for line, _ in some], fields)

    return _gather_batches(path, keys, read_batches(), chosen, bad, noted)


def _require_columns(path: Path, names: list[str]) -> Chosen:
    if not names:
        raise DataError(f"{path} has no columns")
    return find_pair_columns(path, names)


def _gather_batches(
    path: Path,
    names: Iterable[str],
    batches: Iterator[_Batch],
    chosen: Chosen,
    bad: BadRows,
    noted: _OrderedBadRows,
    *,
    columns_read: Chosen | None = None,
) -> _GatheredPairs:
    """Gather the rows of all batches, and record malformed rows in the order of `noted`.

    `columns_read` names the columns in use, over all files.
    """
    table, linker, scores = PairTable(), Linker(), _ScoreRange()
    for batch in batches:
        try:
            record_batch = _check_batch(batch)
        except ValueError:
            valid_rows = list(_check_row_by_row(batch, chosen, noted))
            record_batch = _make_record_batch(
                text_array([row.first for row in valid_rows]),
                text_array([row.second for row in valid_rows]),
                [row.label for row in valid_rows],
                [row.cluster for row in valid_rows],
                [row.score for row in valid_rows],
            )
        scores = scores.extend(record_batch.column("score"))
        table.append(record_batch)
        linker.append(record_batch)
    bad.skipped += [message for _, message in sorted(noted.found)]
    return _GatheredPairs(table, linker, scores, unread_columns_message(path, names, (columns_read or chosen).values()))


def _check_row_by_row(batch: _Batch, chosen: Chosen, bad: Callable[[Path, int, str], None]) -> Iterator[PairRow]:
    columns = {
        role: value if isinstance(value, list | tuple) else value.to_pylist() for role, value in batch.fields.items()
    }
    for at, line in enumerate(batch.lines):
        try:
            yield make_pair_row({role: columns[role][at] if role in columns else None for role in chosen}, chosen)
        except ValueError as error:
            bad(batch.path, line, str(error))


def _check_batch(batch: _Batch) -> Any:
    """Return the record batch for valid rows. Raise ValueError if a row is invalid."""
    fields, count = batch.fields, len(batch.lines)
    first, second = (_check_texts(fields[side]) for side in NEEDED)
    labels: list[int | None] = [None] * count
    if "label" in fields:
        texts = list(map(str, fields["label"]))
        known = {text: binary_label_or_none(text) for text in {*texts}}
        if None in known.values():
            raise ValueError("a label that is neither 0 nor 1")
        labels = [known[text] for text in texts]
    clusters = [field_text(value) or None for value in fields["cluster"]] if "cluster" in fields else [None] * count
    scores: list[float | None] = [None] * count
    if "score" in fields:  # it may be missing if there are labels
        scores = [
            None if "label" in fields and is_missing(value) else parse_finite_score(value) for value in fields["score"]
        ]
    return _make_record_batch(first, second, labels, clusters, scores)


def _make_record_batch(first: Any, second: Any, *others: Sequence[Any]) -> Any:
    import pyarrow

    labels, clusters, scores = others
    names = [None if name is None else name.encode("utf-8", "surrogatepass") for name in clusters]
    columns = [first, second, *map(pyarrow.array, (labels, names, scores), pair_schema().types[2:])]
    return pyarrow.RecordBatch.from_arrays(columns, schema=pair_schema())


def _needs_no_checks(column: Any) -> bool:
    """Return whether a pyarrow column has only UTF-8 texts, none of them missing, empty or blank."""
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


def _check_texts(values: Any) -> Any:
    """Return the texts as a pyarrow array, without surrounding white space. Raise ValueError for a value that is not a
    text.
    """
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
        or (not joined.isascii() and SURROGATE.search(joined))
    ):
        raise ValueError("a text that is blank or missing, or half a character")
    return text_array(stripped)


def read(path: Path, bad: BadRows) -> Iterator[PairRow]:
    """Yield the pairs in file order. If a column is missing, DataError lists the existing columns."""
    if path.is_dir():
        for file in _require_parquet_files(path):
            yield from read(file, bad)
        return
    if not path.is_file():
        if ":/" in str(path):
            raise DataError(f"pairs: {path} is not a file. Remedy for a URL, which an engine reads: --engine=local")
        raise DataError(f"pairs: {path} does not exist; expected {FILES}")
    if path.suffix.lower() not in PAIR_FORMATS:
        raise unknown_format_error(path, PAIR_FORMATS)
    columns, rows = PAIR_FORMATS[path.suffix.lower()](path, bad)
    if not columns:
        raise DataError(f"pairs: {path} has no rows; expected {FILES}")
    chosen = find_pair_columns(path, columns)
    for message in unread_columns_message(path, columns, chosen.values()):
        log.warning("%s", message)
    known: set[tuple[str, str]] = set()
    count, scored, low, high = 0, 0, math.inf, -math.inf
    for line, fields in rows:
        try:
            row = make_pair_row(
                {role: fields.get(column) if column else None for role, column in chosen.items()}, chosen
            )
        except ValueError as error:
            bad(path, line, str(error))
            continue
        count += 1
        known.add((row.first, row.second))
        if row.score is not None:
            low, high, scored = min(low, row.score), max(high, row.score), scored + 1
        yield row
    for message in (*repeats_message(path, count - len(known), count), *scores_message(path, scored, low, high)):
        log.warning("%s", message)


def read_in_columns(path: Path, bad: BadRows) -> LinkedPairs:
    """Return the pairs of `read` in columns, in a fraction of its time and memory. Raises the same errors."""
    if not (find_parquet_files(path) if path.is_dir() else path.is_file() and path.suffix.lower() in PAIR_FORMATS):
        list(read(path, bad))
    try:
        gathered = _gather_file(path, bad)
    except (DataError, UnicodeDecodeError):
        for _ in read(path, replace(bad, skipped=[])):  # names the first wrong line
            pass
        raise
    links = gathered.linker.links(gathered.table)
    messages = [*repeats_message(path, links.repeats, gathered.table.rows), *scores_message(path, *gathered.scores)]
    messages += gathered.unread
    return LinkedPairs(gathered.table, links, tuple(messages))


def read_production_pairs(path: Path, bad: BadRows) -> Iterator[tuple[PairRow, dict[str, str]]]:
    """Yield pairs from production, each with its slices, which are the values of columns without a role.

    A pair that nobody has judged may lack a label, and so may all pairs. Raises the same errors as `read`.
    """
    if path.is_dir():
        for file in _require_parquet_files(path):
            yield from read_production_pairs(file, bad)
        return
    columns, rows = read_table(path, bad)
    if not columns:
        raise DataError(f"pairs: {path} has no rows; expected {FILES}")
    chosen = find_pair_columns(path, columns, needed=NEEDED)
    more = [column for column in columns if column not in chosen.values()]
    for line, row in rows:
        fields = {role: row.get(column) if column else None for role, column in chosen.items()}
        labelled = chosen | ({"label": None} if is_missing(fields["label"]) else {}) | {"score": None}
        try:
            pair = make_pair_row(fields, labelled)
            slices = {name: text for name in more if (text := field_text(row.get(name)))}
        except ValueError as error:
            bad(path, line, str(error))
        else:
            yield pair, slices


def _require_parquet_files(folder: Path) -> list[Path]:
    """Return a folder's Parquet files. Raise DataError if there are none."""
    if not (files := find_parquet_files(folder)):
        raise DataError(f"pairs: {folder} holds no Parquet file; expected {FILES}")
    return files


def are_pair_columns(names: Sequence[str]) -> bool:
    """Return whether a table with these columns holds pairs of sentences.

    >>> are_pair_columns(["sentence1", "sentence2", "score"]), are_pair_columns(["text", "score"])
    (True, False)
    """
    has = {role: not {*known}.isdisjoint(names) for role, known in PAIR_COLUMNS.items()}
    return "label" in names or (has["first"] and has["second"] and has["score"])


def data_set_with_these_columns(path: Path) -> str:
    """Return "contrast" or "retrieval" if the file has the columns of that data set, otherwise ""."""
    ending = path.suffix.lower()
    if not path.is_file() or ending not in PAIR_FORMATS:
        return ""
    columns, _ = read_table(path, BadRows(skip=True))
    if are_contrast_columns(columns):
        return "contrast"
    return "retrieval" if are_query_columns(columns) else ""


PAIR_FORMATS = {ending: TABLE_READERS[ending] for ending in (".csv", ".tsv", ".json", ".jsonl", ".parquet")}
