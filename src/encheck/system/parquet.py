"""The reader of Parquet files, with limits: a small one may stand for more than a machine holds.

A file may have a row a byte, and unpack to a hundred times its size; the first million rows and the first gigabyte are
free. Both are read from its footer, before any row is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any

FREE_ROWS, FREE_BYTES, MOST_TIMES = 10**6, 10**9, 100
ROWS_AT_ONCE = 10_000
READ_AT_ONCE = 1 << 20  # bytes of a column; pyarrow would read all row groups beforehand, and hold the file in memory
REMEDY = "Where that is meant, write it as .csv or .jsonl, which have no such limit"


def opened(source: Path | IO[bytes]) -> Any:
    """The file, of which no row is read; ValueError if it is no Parquet file, or beyond the limits."""
    import pyarrow
    import pyarrow.parquet

    try:
        file = pyarrow.parquet.ParquetFile(source, pre_buffer=False, buffer_size=READ_AT_ONCE)
    except (pyarrow.ArrowException, OSError) as error:
        raise ValueError(_first_line(error)) from error
    size = source.stat().st_size if isinstance(source, Path) else source.seek(0, 2)
    found = file.metadata
    if found.num_rows > max(FREE_ROWS, size):
        raise ValueError(f"has {found.num_rows:,} rows in {size:,} bytes, but may have one a byte. {REMEDY}")
    unpacked = sum(found.row_group(i).total_byte_size for i in range(found.num_row_groups))
    if unpacked > max(FREE_BYTES, MOST_TIMES * size):
        raise ValueError(f"has {size:,} bytes and unpacks to {unpacked:,}, but may to {MOST_TIMES} times. {REMEDY}")
    return file


def table_of(source: Path | IO[bytes], *, columns: Sequence[str], also: Sequence[str] = ()) -> Any:
    """The pyarrow table of these columns, and of those of `also` that are there; ValueError says what is wrong."""
    import pyarrow

    file = opened(source)
    names = file.schema_arrow.names
    if missing := [name for name in columns if name not in names]:
        raise ValueError(f"lacks the column {missing[0]!r}")
    if twice := [name for name in {*columns, *also} if names.count(name) > 1]:
        raise ValueError(f"has the column {twice[0]!r} twice")
    try:
        return file.read(columns=[*columns, *(name for name in also if name in names)])
    except (pyarrow.ArrowException, OSError) as error:  # the latter where it cannot be decompressed
        raise ValueError(_first_line(error)) from error


def rows_of(file: Any, *, size: int) -> Iterator[dict[str, Any]]:
    """The rows of an opened file of `size` bytes, some at a time; ValueError if it is damaged or unpacks too far."""
    for batch in batches_of(file, size=size):
        yield from batch.to_pylist()


def batches_of(file: Any, *, size: int, columns: Sequence[str] | None = None) -> Iterator[Any]:
    """The record batches of these columns (None: of all) of an opened file; ValueError as for `rows_of`."""
    import pyarrow

    unpacked = rows = 0
    try:
        for batch in file.iter_batches(ROWS_AT_ONCE, columns=columns):
            unpacked, rows = unpacked + batch.nbytes, rows + batch.num_rows
            if unpacked > max(FREE_BYTES, MOST_TIMES * size):
                raise ValueError(f"has {size:,} bytes and unpacks to more than {MOST_TIMES} times that. {REMEDY}")
            yield batch
        if rows != file.metadata.num_rows:
            raise ValueError(f"has {rows:,} rows, but {file.metadata.num_rows:,} by its own count")
    except (pyarrow.ArrowException, OSError) as error:
        raise ValueError(_first_line(error)) from error


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
