"""Rows by the names of their columns, from JSON Lines, CSV, TSV or Parquet; text files may be gzipped."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from encheck.datasets.reader import BadRows, header_of, json_rows, named_rows
from encheck.errors import DataError, unknown
from encheck.system.parquet import batches_of, opened, rows_of

Named = Iterator[tuple[int, Mapping[str, Any]]]
Format = Callable[[Path, BadRows], tuple[list[str], Named]]


def records(path: Path, bad: BadRows) -> tuple[list[str], Named]:
    """The columns of the file, and (line or row number, fields) of each row; of JSON Lines, the first row's columns.

    DataError if the format is not supported, or the file is not of that format.
    """
    ending = ending_of(path)
    if ending not in FORMATS:
        raise DataError(f"{path}: {unknown('file ending', ending, FORMATS)}")
    return FORMATS[ending](path, bad)


def ending_of(path: Path) -> str:
    """The ending of a file's name in lower case, with what stands before .gz.

    >>> ending_of(Path("qrels/test.TSV.gz")), ending_of(Path("a.b.parquet"))
    ('.tsv.gz', '.parquet')
    """
    name = path.name.lower()
    return Path(name.removesuffix(".gz")).suffix + ".gz" * name.endswith(".gz")


def _jsonl(path: Path, bad: BadRows) -> tuple[list[str], Named]:
    rows = json_rows(path, bad)
    first = next(rows, None)
    return (list(first[1]), _with(first, rows)) if first else ([], iter(()))


def _with(first: tuple[int, dict[str, Any]], rest: Iterator[tuple[int, dict[str, Any]]]) -> Named:
    yield first
    yield from rest


def delimited(delimiter: str) -> Format:
    """The reader of files that are divided so."""

    def rows(path: Path, bad: BadRows) -> tuple[list[str], Named]:
        return header_of(path, delimiter=delimiter), named_rows(path, delimiter=delimiter, bad=bad)

    return rows


def parquet(path: Path, bad: BadRows) -> tuple[list[str], Named]:  # noqa: ARG001 - Parquet is whole or not
    """The columns and rows of a Parquet file; DataError if it is not one."""
    file = _opened(path)
    return list(file.schema_arrow.names), _numbered(path, rows_of(file, size=path.stat().st_size))


def parquet_batches(path: Path) -> tuple[list[str], Callable[[Sequence[str]], Iterator[Any]]]:
    """The columns of a Parquet file, and what reads some of them as record batches; DataError if it is not one."""
    file = _opened(path)

    def batches(columns: Sequence[str]) -> Iterator[Any]:
        try:
            yield from batches_of(file, size=path.stat().st_size, columns=columns)
        except (ValueError, OSError) as error:
            raise _no_parquet(path, error) from error

    return list(file.schema_arrow.names), batches


def _opened(path: Path) -> Any:
    try:
        return opened(path)
    except (ValueError, OSError) as error:
        raise _no_parquet(path, error) from error


def _numbered(path: Path, rows: Iterator[dict[str, Any]]) -> Named:
    try:
        yield from enumerate(rows, 1)
    except (ValueError, OSError) as error:
        raise _no_parquet(path, error) from error


def _no_parquet(path: Path, error: Exception) -> DataError:
    said = str(error)
    if said.startswith("has "):
        return DataError(f"{path} {said}")
    return DataError(f"{path} is not a Parquet file, or is truncated; copy or write it again ({said})")


FORMATS: dict[str, Format] = {
    ".jsonl": _jsonl,
    ".jsonl.gz": _jsonl,
    ".csv": delimited(","),
    ".csv.gz": delimited(","),
    ".tsv": delimited("\t"),
    ".tsv.gz": delimited("\t"),
    ".parquet": parquet,
}
