"""Rows by the names of their columns, from JSON, JSON Lines, CSV, TSV or Parquet; text files may be gzipped."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from shlex import quote
from typing import Any

from encheck.datasets.reader import BadRows, header_of, json_rows, named_rows
from encheck.errors import DataError, unknown
from encheck.system.documents import open_parquet, parquet_rows, read_json, record_batches

SCRIPTS = {  # what makes a file of the format, and the ending of what it makes
    **dict.fromkeys((".xlsx", ".xls", ".ods"),
                    ("import pandas; pandas.read_excel({}).to_csv({}, index=False)", ".csv")),
    ".feather": ("import pandas; pandas.read_feather({}).to_parquet({})", ".parquet"),
    ".orc": ("import pandas; pandas.read_orc({}).to_parquet({})", ".parquet"),
    ".arrow": ("import datasets; datasets.Dataset.from_file({}).to_parquet({})", ".parquet"),
    **dict.fromkeys((".pkl", ".pickle"), ("import pandas; pandas.read_pickle({}).to_parquet({})", ".parquet")),
    **dict.fromkeys((".pt", ".pth"), ("import numpy, torch; v = torch.load({}); numpy.save({}, v.numpy())", ".npy")),
    **dict.fromkeys((".faiss", ".index"), (
        "import faiss, numpy; i = faiss.read_index({}); numpy.save({}, i.reconstruct_n(0, i.ntotal))", ".npy")),
}  # fmt: skip
Named = Iterator[tuple[int, Mapping[str, Any]]]
Format = Callable[[Path, BadRows], tuple[list[str], Named]]


def records(path: Path, bad: BadRows) -> tuple[list[str], Named]:
    """The columns of the file, and (line or row number, fields) of each row; of JSON Lines, the first row's columns.

    DataError if the format is not supported, or the file is not of that format.
    """
    ending = ending_of(path)
    if ending not in FORMATS:
        raise unread_format(path, FORMATS)
    return FORMATS[ending](path, bad)


def unread_format(path: Path, known: Iterable[str]) -> DataError:
    """That a file is of no format that is read, with the command that makes it one.

    >>> str(unread_format(Path("log.zst"), [".csv"]))
    "log.zst: unknown file ending '.zst'. There are: .csv. Remedy: unzstd log.zst"
    """
    ending, name = path.suffix.lower(), path.with_suffix("")
    script, made = SCRIPTS.get(ending, ("", ""))
    script = script.format(json.dumps(str(path)), json.dumps(f"{name}{made}"))
    file, table = quote(str(path)), quote(f"{name}.csv")
    commands = {
        ".gz": f"gunzip -k {file}", ".zip": f"unzip {file}", ".bz2": f"bunzip2 -k {file}", ".xz": f"unxz -k {file}",
        ".zst": f"unzstd {file}",
        **dict.fromkeys((".db", ".sqlite", ".sqlite3"), f"sqlite3 -header -csv {file} 'SELECT * FROM NAME' > {table}"),  # noqa: S608
    }  # fmt: skip
    command = f"python -c {quote(script)}" if script else commands.get(ending)
    rename = f"cp {file} {table}, or with the ending that its format has"
    return DataError(f"{path}: {unknown('file ending', ending_of(path), known)}. Remedy: {command or rename}")


def parquet_files(folder: Path) -> list[Path]:
    """The Parquet files of a folder and its subfolders, by name; those in hidden places (`.x`, `_x`) are left out."""
    found = {file.relative_to(folder).as_posix(): file for file in folder.rglob("*.parquet") if file.is_file()}
    return [found[name] for name in sorted(found) if not any(part[0] in "._" for part in name.split("/"))]


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


def json_table(path: Path, bad: BadRows) -> tuple[list[str], Named]:
    """The columns of any row and the rows of a JSON file; those of JSON Lines that are called .json too.

    A file holds an array of objects; an object of arrays, as Chroma and Arrow write; an object of objects by id or by
    column, as pandas writes; or one of these inside an answer, as Qdrant's.
    """
    try:
        rows = _table_in(read_json(path, infinite=True))
    except (ValueError, OSError) as error:
        lines = list(json_rows(path, BadRows(skip=True)))
        if not lines or "Extra data" not in str(error):
            raise DataError(f"{path}: {error}") from error
        lines = list(json_rows(path, bad))
        return _keys(row for _, row in lines), iter(lines)
    if rows is None:
        raise DataError(
            f"{path} holds no table, but should hold an array of objects. Remedy, where KEY has it: jq -c '.KEY[]' "
            f"{quote(str(path))} > {quote(str(path.with_suffix('.jsonl')))}"
        )
    return _keys(rows), iter(list(enumerate(rows, 1)))


def _keys(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    return list(dict.fromkeys(key for row in rows for key in row))


def _table_in(value: Any) -> list[dict[str, Any]] | None:
    """The rows that a JSON value holds, None if there is no table in it."""
    if isinstance(value, list):
        if all(isinstance(row, dict) for row in value):
            return value or None
        return _table_in(value[0]) if isinstance(value[0], list) else None  # a pair: rows, and where to go on
    if not isinstance(value, dict) or not value:
        return None
    if all(isinstance(one, str) for one in value.values()):
        return [{"id": name, "text": text} for name, text in value.items()]
    if all(isinstance(one, dict) for one in value.values()) and len(value) > 1:
        inner = list(value.values())
        if all(one.keys() == inner[0].keys() for one in inner) and all(key.isdigit() for key in inner[0]):
            return [{name: column[row] for name, column in value.items()} for row in inner[0]]
        return [{"id": name, **row} for name, row in value.items()]
    lists = {name: one for name, one in value.items() if isinstance(one, list) and one}
    lengths = Counter(map(len, lists.values()))
    length = max(lengths, key=lambda length: (lengths[length], length), default=0)
    columns = {name: one for name, one in lists.items() if len(one) == length}
    if len(columns) > 1 and any(not isinstance(one[0], dict) for one in columns.values()):
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    inside = [found for one in value.values() if isinstance(one, list | dict) and (found := _table_in(one))]
    return inside[0] if len(inside) == 1 else None


def delimited(delimiter: str) -> Format:
    """The reader of files that are divided so."""

    def rows(path: Path, bad: BadRows) -> tuple[list[str], Named]:
        return header_of(path, delimiter=delimiter), named_rows(path, delimiter=delimiter, bad=bad)

    return rows


def parquet(path: Path, bad: BadRows) -> tuple[list[str], Named]:  # noqa: ARG001 - Parquet is whole or not
    """The columns and rows of a Parquet file; DataError if it is not one."""
    file = _opened(path)
    return list(file.schema_arrow.names), _numbered(path, parquet_rows(file, size=path.stat().st_size))


def parquet_batches(path: Path) -> tuple[list[str], Callable[[Sequence[str]], Iterator[Any]]]:
    """The columns of a Parquet file, and what reads some of them as record batches; DataError if it is not one."""
    file = _opened(path)

    def batches(columns: Sequence[str]) -> Iterator[Any]:
        try:
            yield from record_batches(file, size=path.stat().st_size, columns=columns)
        except (ValueError, OSError) as error:
            raise _no_parquet(path, error) from error

    return list(file.schema_arrow.names), batches


def _opened(path: Path) -> Any:
    try:
        return open_parquet(path)
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
    ".json": json_table,
    ".csv": delimited(","),
    ".csv.gz": delimited(","),
    ".tsv": delimited("\t"),
    ".tsv.gz": delimited("\t"),
    ".parquet": parquet,
}
