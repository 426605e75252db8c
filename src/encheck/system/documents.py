"""Readers of JSON, text and Parquet files that people or other programs wrote, with limits and plain error messages.

A JSON file may have at most 256 MB and 100 levels. A text file has the limit that its reader sets. A Parquet file may
have at most one row per byte, and may unpack to at most a hundred times its size. The first million rows and the first
gigabyte are exempt. Both limits are checked in the footer, before any row is read. Faults raise a ValueError; the
reader of each kind of file puts the file's name before its text. An OSError comes from the system.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any, NoReturn

from encheck.errors import ConfigError, EncheckError

MOST_BYTES, MOST_DEPTH = 256 * 10**6, 100
FREE_ROWS, FREE_BYTES, MOST_TIMES = 10**6, 10**9, 100
ROWS_AT_ONCE = 10_000
READ_AT_ONCE = 1 << 20  # bytes of a column; pyarrow would read all row groups beforehand, and hold the file in memory
REMEDY = "Where that is meant, write it as .csv or .jsonl, which have no such limit"


class TextError(EncheckError, ValueError):
    """An error about a file that is not UTF-8, or is too long. `place` is ":" and the line; "" means the whole file."""

    def __init__(self, problem: str, line: int = 0) -> None:
        super().__init__(f"line {line}: {problem}" if line else problem)
        self.problem, self.place = problem, f":{line}" if line else ""


def read_text(path: Path, *, max_bytes: int = MOST_BYTES) -> str:
    """Return the text of a UTF-8 file. Raise TextError, which names the line, if it is not UTF-8."""
    with path.open("rb") as file:
        data = file.read(max_bytes + 1)
    if len(data) > max_bytes:
        raise TextError(f"is longer than {max_bytes:,} bytes, which is the limit")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise TextError(f"is not UTF-8 (byte {error.start})", line) from error


def read_json(path: Path, *, max_bytes: int = MOST_BYTES, infinite: bool = False) -> Any:
    """Return the content of a JSON file. Raise ValueError for what `parse_json` refuses."""
    return parse_json(read_text(path, max_bytes=max_bytes), infinite=infinite)


def parse_json(text: str, *, infinite: bool = False) -> Any:
    """Return the content of a JSON text.

    Raise ValueError if the text is not JSON, is nested too deep, or has NaN or infinity. With `infinite`, NaN and
    infinity are allowed, because Python writes them into configurations of checkpoints.

    >>> parse_json('{"a": [1]}')
    {'a': [1]}
    """

    def refuse(name: str) -> NoReturn:
        raise ValueError(f"holds {name}, which is not a JSON number")

    too_deep = f"is nested deeper than {MOST_DEPTH} levels"
    try:
        content = json.loads(text, parse_constant=None if infinite else refuse)
    except json.JSONDecodeError as error:
        raise ValueError(f"line {error.lineno}: is not JSON: {error.msg} (column {error.colno})") from error
    except RecursionError as error:
        raise ValueError(too_deep) from error
    if text.count("[") + text.count("{") > MOST_DEPTH:
        level = [content] if isinstance(content, dict | list) else []
        for _ in range(MOST_DEPTH):
            inside = (inner.values() if isinstance(inner, dict) else inner for inner in level)
            level = [value for values in inside for value in values if isinstance(value, dict | list)]
            if not level:
                break
        if level:
            raise ValueError(too_deep)
    return content


def read_config_text(path: Path, *, max_bytes: int) -> str:
    """Return the text of a configuration file of at most this many bytes.

    Raise ConfigError, which names the line, if it is not UTF-8.
    """
    try:
        return read_text(path, max_bytes=max_bytes)
    except TextError as error:
        raise ConfigError(f"{path}{error.place}: {error.problem}") from error
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from error


def open_parquet(source: Path | IO[bytes]) -> Any:
    """Return the opened file, before any row is read. Raise ValueError if it is not Parquet, or exceeds the limits."""
    import pyarrow
    import pyarrow.parquet

    try:
        file = pyarrow.parquet.ParquetFile(source, pre_buffer=False, buffer_size=READ_AT_ONCE)
    except (pyarrow.ArrowException, OSError) as error:
        raise ValueError(_first_error_line(error)) from error
    size = source.stat().st_size if isinstance(source, Path) else source.seek(0, 2)
    metadata = file.metadata
    if metadata.num_rows > max(FREE_ROWS, size):
        raise ValueError(f"has {metadata.num_rows:,} rows in {size:,} bytes, over one per byte. {REMEDY}")
    unpacked = sum(metadata.row_group(i).total_byte_size for i in range(metadata.num_row_groups))
    if unpacked > max(FREE_BYTES, MOST_TIMES * size):
        raise ValueError(f"has {size:,} bytes and unpacks to {unpacked:,}, over {MOST_TIMES} times that. {REMEDY}")
    return file


def parquet_table(source: Path | IO[bytes], *, columns: Sequence[str], also: Sequence[str] = ()) -> Any:
    """Return the pyarrow table of these columns and of those columns in `also` that exist. Raise ValueError for a
    fault.
    """
    import pyarrow

    file = open_parquet(source)
    names = file.schema_arrow.names
    if missing := [name for name in columns if name not in names]:
        raise ValueError(f"lacks the column {missing[0]!r}")
    if twice := [name for name in {*columns, *also} if names.count(name) > 1]:
        raise ValueError(f"has the column {twice[0]!r} twice")
    try:
        return file.read(columns=[*columns, *(name for name in also if name in names)])
    except (pyarrow.ArrowException, OSError) as error:  # the latter if it cannot be decompressed
        raise ValueError(_first_error_line(error)) from error


def parquet_rows(file: Any, *, file_bytes: int) -> Iterator[dict[str, Any]]:
    """Yield the rows of an opened file of `file_bytes` bytes, in chunks.

    Raise ValueError if the file is damaged or unpacks beyond the limit.
    """
    for batch in record_batches(file, file_bytes=file_bytes):
        yield from batch.to_pylist()


def record_batches(file: Any, *, file_bytes: int, columns: Sequence[str] | None = None) -> Iterator[Any]:
    """Yield the record batches of these columns of an opened file; None means all columns.

    Raise ValueError as `parquet_rows` does.
    """
    import pyarrow

    unpacked = rows = 0
    try:
        for batch in file.iter_batches(ROWS_AT_ONCE, columns=columns):
            unpacked, rows = unpacked + batch.nbytes, rows + batch.num_rows
            if unpacked > max(FREE_BYTES, MOST_TIMES * file_bytes):
                raise ValueError(f"has {file_bytes:,} bytes and unpacks to more than {MOST_TIMES} times that. {REMEDY}")
            yield batch
        if rows != file.metadata.num_rows:
            raise ValueError(f"has {rows:,} rows, but its footer says {file.metadata.num_rows:,}")
    except (pyarrow.ArrowException, OSError) as error:
        raise ValueError(_first_error_line(error)) from error


def _first_error_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
