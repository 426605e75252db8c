"""Strict reading of data files: every error names the file, the line and the expected content.

Most corpora are split on tabs without any quoting: a quote in them is text. A CSV reader with its default quoting
silently loses 114 of MRPC's 4,076 training rows.

A data set's `EXPECTED` maps a file name to (rows, rows per label) as published; without labels if only the number of
rows is known. Copies with rows added, dropped or relabelled are in circulation (MRPC's training file is one).
"""

from __future__ import annotations

import csv
import gzip
import json
import logging
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from operator import itemgetter
from os import SEEK_END
from pathlib import Path
from shlex import quote
from typing import Any, NamedTuple, TypeVar

from encheck.errors import DataError, unknown_name_message
from encheck.system.documents import open_parquet, parquet_rows, read_json, record_batches

csv.field_size_limit(10_000_000)
UTF16 = "convert it with iconv -f UTF-16 -t UTF-8"
T = TypeVar("T")
BYTES_AT_ONCE = 1 << 20
MOST_NAMED = 8  # unused columns
BINARY = {"1": 1, "0": 0, "1.0": 1, "0.0": 0, "true": 1, "false": 0}
NO_VALUE = frozenset(("NaN", "nan", "<NA>", "NULL", "\\N"))  # how pandas, SQL and its dumps write a missing value
HALF = re.compile("[\ud800-\udfff]")  # a surrogate: no tokenizer accepts it
SplitReaders = Mapping[
    str, "Callable[[Path, BadRows], Iterator[PairRow]]"
]  # readers of one data set, by the name of their split
Expected = Mapping[str, tuple[int, dict[str, int]]]
LOG = logging.getLogger("encheck")
CONVERTERS = {  # the command that converts a file of the format, and the ending of its output
    **dict.fromkeys((".xlsx", ".xls", ".ods"),
                    ("import pandas; pandas.read_excel({}).to_csv({}, index=False)", ".csv")),
    ".feather": ("import pandas; pandas.read_feather({}).to_parquet({})", ".parquet"),
    ".orc": ("import pandas; pandas.read_orc({}).to_parquet({})", ".parquet"),
    ".arrow": ("import datasets; datasets.Dataset.from_file({}).to_parquet({})", ".parquet"),
    **dict.fromkeys((".yaml", ".yml"), (
        "import json, pathlib, yaml; made = yaml.safe_load(pathlib.Path({}).read_bytes()); "
        "pathlib.Path({}).write_text(json.dumps(made, default=str))", ".json")),
    **dict.fromkeys((".pkl", ".pickle"), ("import pandas; pandas.read_pickle({}).to_parquet({})", ".parquet")),
    **dict.fromkeys((".pt", ".pth"), ("import numpy, torch; v = torch.load({}); numpy.save({}, v.numpy())", ".npy")),
    ".safetensors": (
        "import numpy; from safetensors.numpy import load_file; numpy.savez({1}, **load_file({0}))", ".npz"),
    **dict.fromkeys((".faiss", ".index"), (
        "import faiss, numpy; i = faiss.read_index({}); numpy.save({}, i.reconstruct_n(0, i.ntotal))", ".npy")),
}  # fmt: skip
Named = Iterator[tuple[int, Mapping[str, Any]]]


class PairRow(NamedTuple):
    """One labelled pair from a file; `cluster` is its topic, thread or URL if the data name one.

    `label` is None if the data have none; `score` is a graded similarity in the data's own range; `key` is the data's
    own name for the pair, in ranking data "question id/candidate id".
    """

    first: str
    second: str
    label: int | None
    split: str = ""
    cluster: str | None = None
    score: float | None = None
    key: str = ""


@dataclass
class BadRows:
    """Handles an invalid row: stops with an error, or skips it and keeps count.

    `remedy` ends the error.
    """

    skip: bool = False
    remedy: str = "Fix the row, or pass --skip-bad-rows to skip it"
    skipped: list[str] = field(default_factory=list)

    def __call__(self, path: Path | str, line: int, problem: str) -> None:
        """Raise DataError, or note the problem."""
        message = f"{path}:{line}: {problem}"
        if not self.skip:
            raise DataError(f"{message}. {self.remedy}")
        self.skipped.append(message)


def decoded(path: Path, *, encoding: str = "utf-8-sig") -> str:
    """The text of a UTF-8 file without its byte order mark; DataError names the line of invalid bytes."""
    if path.is_dir():
        raise DataError(f"{path} is a folder, but should be a file: give the file itself")
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror}") from error
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise DataError(f"{path} is UTF-16, but should be UTF-8: {UTF16}")
    if (at := raw.find(b"\0")) >= 0:
        raise DataError(
            f"{path}:{_line_number(raw, at)}: holds a NUL byte: it is not a text file, is damaged, or is "
            f"UTF-16: {UTF16}"
        )
    try:
        return raw.decode(encoding)
    except UnicodeDecodeError as error:
        line = _line_number(raw, error.start)
        raise DataError(
            f"{path}:{line}: byte 0x{raw[error.start]:02x} is not UTF-8. "
            "If the file is Latin-1, convert it with iconv -f LATIN1 -t UTF-8"
        ) from error


def _line_number(raw: bytes, at: int) -> int:
    return raw.count(b"\n", 0, at) + 1


def lines_of(path: Path, *, encoding: str = "utf-8-sig") -> list[str]:
    """The lines of a text file without their ends; blank lines in the middle stay, to keep the line numbers."""
    lines = [line.removesuffix("\r") for line in decoded(path, encoding=encoding).split("\n")]
    return lines if lines[-1] else lines[:-1]


def tab_rows(
    path: Path, *, columns: int | tuple[int, ...], bad: BadRows, header: Sequence[str] = ()
) -> Iterator[tuple[int, list[str]]]:
    """(line number, fields) of a tab-separated file without quoting, blank lines left out.

    `columns` is the number of fields in a row, or each allowed number. If `header` names the columns, the first line
    must hold them; otherwise the first pair would be lost.
    """
    lines = lines_of(path)
    allowed = (columns,) if isinstance(columns, int) else columns
    is_cut = bool(lines) and not _ends_a_line(path)
    start = 1 if header else 0
    if header and lines and lines[0]:
        _check_header(path, lines[0], header)
    for number, line in enumerate(lines[start:], start + 1):
        fields = line.split("\t")
        if line and len(fields) in allowed:
            yield number, fields
        elif line:
            right = " or ".join(map(str, allowed))
            cut = "; the file ends within this row: it is cut off" if is_cut and number == len(lines) else ""
            bad(path, number, f"{len(fields)} tab-separated fields, but should be {right}{_delimiter_hint(line)}{cut}")


def _ends_a_line(path: Path) -> bool:
    """Whether the last line of a file has a line end; true for an empty file."""
    with path.open("rb") as file:
        file.seek(max(0, file.seek(0, SEEK_END) - 1))
        return file.read() in (b"\n", b"")


def _check_header(path: Path, line: str, names: Sequence[str]) -> None:
    if [field.strip().lower() for field in line.split("\t")] != [name.lower() for name in names]:
        hint = _delimiter_hint(line)
        raise DataError(
            f"{path}:1: the header is {line[:80]!r}, but should be {', '.join(names)}, separated by tabs{hint}"
        )


def _delimiter_hint(line: str) -> str:
    other = max(",;|", key=line.count)
    return f" (is {other!r} the delimiter?)" if "\t" not in line and line.count(other) else ""


def named_rows(path: Path, *, delimiter: str, bad: BadRows) -> Iterator[tuple[int, dict[str, str]]]:
    """(line number, fields by name) of a CSV or TSV file with a header and standard quoting."""
    names = header_of(path, delimiter=delimiter)
    return ((line, dict(zip(names, fields, strict=True))) for line, fields in full_rows(path, delimiter, bad))


def column_rows(
    path: Path, columns: Sequence[str], *, delimiter: str, bad: BadRows
) -> Iterator[tuple[int, tuple[str, ...]]]:
    """(line number, the fields of these two or more columns) of such a file, if the header has them."""
    names = header_of(path, delimiter=delimiter)
    chosen = itemgetter(*map(names.index, columns))
    return ((line, chosen(fields)) for line, fields in full_rows(path, delimiter, bad))


def full_rows(path: Path, delimiter: str, bad: BadRows) -> Iterator[tuple[int, list[str]]]:
    """(line number, fields) of the rows that have as many fields as the header, blank lines left out."""
    rows = _quoted_rows(path, delimiter)
    width = len(next(rows, (1, []))[1])
    for line, fields in rows:
        if len(fields) == width:
            yield line, fields
        else:
            bad(path, line, f"{len(fields)} fields, but the header has {width}")


def header_of(path: Path, *, delimiter: str) -> list[str]:
    """The column names in the first row that is not blank of a CSV or TSV file; empty for an empty file."""
    return next(_quoted_rows(path, delimiter), (1, []))[1]


def _quoted_rows(path: Path, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    reader = csv.reader(streamed(path), delimiter=delimiter, strict=True)
    start = 1
    try:
        for fields in reader:
            if fields:
                yield start, fields
            start = reader.line_num + 1
    except csv.Error as error:
        raise DataError(
            f"{path}:{start}: unbalanced quotes, or text after a closing quote ({error}). "
            'A field with a quote is itself in quotes, and its quote is doubled: "say ""so"" twice"'
        ) from error


def streamed(path: Path) -> Iterator[str]:
    """The lines of a file with their ends, one at a time; raises the same errors as `decoded`.

    A file whose name ends in .gz is unpacked while reading.
    """
    if path.suffix.lower() == ".gz":
        yield from _unpacked(path)
        return
    try:
        with path.open("rb") as raw:
            whole = not any(b"\0" in block for block in iter(partial(raw.read, BYTES_AT_ONCE), b""))
        if whole:
            with path.open(encoding="utf-8-sig", newline="") as file:
                yield from file
            return
    except (UnicodeDecodeError, OSError):
        pass
    decoded(path)
    raise DataError(f"{path} changed while it was read: load it again")


def _unpacked(path: Path) -> Iterator[str]:
    """The lines of a gzipped file; DataError names the line where it breaks off, or is not UTF-8."""
    line = 0
    try:
        with gzip.open(path, "rb") as file:
            for line, raw in enumerate(file, 1):
                yield raw.decode("utf-8-sig" if line == 1 else "utf-8")
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise DataError(f"{path}:{line + 1}: is not a complete gzip file ({error}): copy it again") from error
    except UnicodeDecodeError as error:
        raise DataError(f"{path}:{line}: byte 0x{error.object[error.start]:02x} is not UTF-8") from error
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror}") from error


def first_line(path: Path) -> str:
    """The first line of a text file, without its end; empty if the file is empty."""
    return next(streamed(path), "").rstrip("\r\n")


def json_rows(path: Path, bad: BadRows) -> Iterator[tuple[int, dict[str, Any]]]:
    """(line number, object) of a JSON Lines file, blank lines left out."""
    for number, line in enumerate(streamed(path), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line.rstrip("\r\n"))
        except (ValueError, RecursionError) as error:
            what = f"{error.msg}, column {error.colno}" if isinstance(error, json.JSONDecodeError) else str(error)
            bad(path, number, f"is not JSON: {what}")
            continue
        if isinstance(row, dict):
            yield number, row
        else:
            bad(path, number, "is not a JSON object")


def binary_label(value: object) -> int | None:
    """0 or 1 from common spellings of labels; None for any other value.

    >>> [binary_label(v) for v in ("1", "0.0", True, "yes")]
    [1, 0, 1, None]
    """
    text = str(value)
    known = BINARY.get(text)
    return BINARY.get(text.strip().lower()) if known is None else known


def pair_rows(
    path: Path, rows: Iterator[tuple[int, tuple[object, object, object, str | None]]], *, split: str, bad: BadRows
) -> Iterator[PairRow]:
    """Rows from (line, (first, second, label, cluster)), with both sides and the label checked."""
    for line, (first, second, label, cluster) in rows:
        try:
            yield PairRow(checked_text("first", first), checked_text("second", second), label_of(label), split, cluster)
        except ValueError as error:
            bad(path, line, str(error))


def made_rows(
    path: Path, numbered: Iterator[tuple[int, T]], make: Callable[[T], PairRow], *, bad: BadRows
) -> Iterator[PairRow]:
    """The row that `make` returns for each (line, fields), with its sides checked; a ValueError is a bad row."""
    for line, fields in numbered:
        try:
            row = make(fields)
            first, second = checked_text("first", row.first), checked_text("second", row.second)
        except ValueError as error:
            bad(path, line, str(error))
        else:
            yield row._replace(first=first, second=second)


def checked_score(value: str, low: float, high: float) -> float:
    """The score as a number; ValueError if it is not a number from `low` to `high`.

    >>> checked_score(" 3.80", 0, 5)
    3.8
    """
    try:
        score = float(value)
    except ValueError:
        score = float("nan")
    if low <= score <= high:
        return score
    raise ValueError(f"the score is {value!r:.60}, but should be a number from {low:g} to {high:g}")


def is_missing(value: object) -> bool:
    r"""Whether a field has no value: blank, an empty list, NaN, or a program's notation for a missing value.

    >>> [is_missing(value) for value in (None, " ", float("nan"), "NaN", "\\N", [], 0, "none")]
    [True, True, True, True, True, True, False, False]
    """
    return value is None or value != value or value in ([], {}) or (text := str(value).strip()) in NO_VALUE or not text


def checked_text(name: str, text: object) -> str:
    """The text without surrounding white space; ValueError explains why a value is not a text."""
    if not isinstance(text, str):
        said = "missing" if is_missing(text) else f"{text!r:.60}, but should be a string"
        raise ValueError(f"the {name} text is {said}")
    if not text.isascii() and HALF.search(text):
        raise ValueError(f"the {name} text has half a character (a surrogate without its partner)")
    if (stripped := text.strip()) in NO_VALUE:
        raise ValueError(f"the {name} text is missing: the cell has {stripped!r}")
    if stripped:
        return stripped
    raise ValueError(f"the {name} text is empty")


def label_of(value: object) -> int:
    """The label as 0 or 1; ValueError for any other value."""
    label = binary_label(value)
    if label is None:
        raise ValueError(f"the label is {value!r:.60}, but should be 0 or 1")
    return label


def refuse_misspelt(
    path: Path | str, columns: Iterable[str], known: Mapping[str, Sequence[str]], chosen: Mapping[str, str | None]
) -> None:
    """DataError for a column that is not used, and whose name resembles that of a role without a column.

    `known` has the names by role, `chosen` the column of each role.
    """
    names = [name for role, some in known.items() if not chosen.get(role) for name in some]
    for column in sorted(set(columns) - set(chosen.values())):
        if near := next((name for name in names if is_misspelt(column, name)), None):
            raise DataError(
                f"{path}:1: unused column {column!r}; did you mean {near!r}? "
                f"Rename it, to {near!r} or to something else"
            )


def is_misspelt(column: str, name: str) -> bool:
    """Whether the names differ by one missing or extra letter, two exchanged letters, or case.

    >>> is_misspelt("lable", "label"), is_misspelt("Clusters", "cluster"), is_misspelt("store", "score")
    (True, True, False)
    """
    from rapidfuzz.distance import OSA

    text = column.strip().lower()
    is_replaced = len(text) == len(name) and sorted(text) != sorted(name)
    return column != name and not is_replaced and int(OSA.distance(text, name)) <= 1


def unread_columns_message(path: Path, columns: Iterable[str], chosen: Iterable[str | None]) -> list[str]:
    """The message about unused columns, if any."""
    unread = sorted(set(columns) - set(chosen))
    more = f" and {len(unread) - MOST_NAMED} more" if len(unread) > MOST_NAMED else ""
    return [f"{path.name}: unused columns: {', '.join(unread[:MOST_NAMED])}{more}"] * bool(unread)


def files_of(path: Path, names: dict[str, str], *, what: str) -> list[tuple[Path, str]]:
    """(file, split) at `path`: the file itself, or those of `names` (file name -> split) in the folder."""
    if path.is_file():
        return [(path, names.get(path.name, ""))]
    if not path.is_dir():
        raise DataError(f"{what}: {path} does not exist; it should be one of {', '.join(names)}, or the folder")
    files = {name: sorted(path.rglob(name)) for name in names}
    if not any(files.values()):
        held = ", ".join(sorted(p.name for p in path.iterdir())[:8]) or "nothing"
        raise DataError(f"{what}: {path} holds none of {', '.join(names)}. It holds: {held}")
    for name, found in files.items():
        if len(found) > 1:
            where = ", ".join(str(file.parent.relative_to(path)) for file in found)
            raise DataError(f"{what}: {path} holds {name} more than once (in {where}): give the folder of one of them")
    return [(file, names[name]) for name, found in files.items() for file in found]


def as_published(file: Path, rows: Iterable[PairRow], expected: Expected, *, name: str = "") -> Iterator[PairRow]:
    """The rows of a file unchanged; calls `check_published` after the last one."""
    counts: Counter[str] = Counter()
    for row in rows:
        counts[str(row.label)] += 1
        yield row
    check_published(file, counts, expected, name=name)


def check_published(file: Path, counts: Mapping[str, int], expected: Expected, *, name: str = "") -> None:
    """Compare a file's rows per label with those in `expected` for the file's name, or for `name`.

    If there are fewer rows than published and the last line has no line end, the file was cut off: DataError. Any other
    difference is a warning.
    """
    wanted, _ = expected.get(name or file.name, (0, {}))
    if sum(counts.values()) < wanted and not _ends_a_line(file):
        raise DataError(
            f"{file} is cut off: its last line has no end, and it has {sum(counts.values()):,} rows, but the published "
            f"{file.name} has {wanted:,}. Get it again, or add the line end if you want only this part"
        )
    warn_unless_published(name or file.name, counts, expected)


def warn_unless_published(name: str, counts: Mapping[str, int], expected: Expected) -> None:
    """Log a warning if the counts per label differ from `expected[name]`; skip names without an entry."""
    if name not in expected:
        return
    rows, labels = expected[name]
    if sum(counts.values()) != rows or (labels and dict(counts) != labels):
        found = rows_and_labels(sum(counts.values()), counts)
        LOG.warning(
            "%s has %s, but the published data have %s: is it a changed copy?",
            name,
            found,
            rows_and_labels(rows, labels, noun=""),
        )


def rows_and_labels(rows: int, labels: Mapping[str, int], *, noun: str = " rows") -> str:
    """Rows and balance in words.

    >>> rows_and_labels(4076, {"0": 1323, "1": 2753})
    '4,076 rows (1: 2,753, 0: 1,323)'
    """
    balance = ", ".join(f"{label}: {count:,}" for label, count in sorted(labels.items(), reverse=True))
    return f"{rows:,}{noun} ({balance})" if balance else f"{rows:,}{noun}"


Format = Callable[[Path, BadRows], tuple[list[str], Named]]


def table_rows(path: Path, bad: BadRows) -> tuple[list[str], Named]:
    """The columns of the file, and (line or row number, fields) of each row; for JSON Lines, the first row's columns.

    DataError for an unsupported format, or a file that does not match its format.
    """
    ending = file_ending(path)
    if ending not in FORMATS:
        raise unknown_format(path, FORMATS)
    return FORMATS[ending](path, bad)


def unknown_format(path: Path, known: Iterable[str]) -> DataError:
    """The error for an unsupported file format, with the command that converts the file.

    >>> str(unknown_format(Path("log.zst"), [".csv"]))
    "log.zst: unknown file ending '.zst'. There are: .csv. Remedy: unzstd log.zst"
    """
    ending, name = path.suffix.lower(), path.with_suffix("")
    script, made = CONVERTERS.get(ending, ("", ""))
    script = script.format(json.dumps(str(path)), json.dumps(f"{name}{made}"))
    file, table = quote(str(path)), quote(f"{name}.csv")
    commands = {
        ".gz": f"gunzip -k {file}", ".zip": f"unzip {file}", ".bz2": f"bunzip2 -k {file}", ".xz": f"unxz -k {file}",
        ".zst": f"unzstd {file}",
        ".pdf": f"pdftotext {file} {quote(f'{name}.txt')}",
        **dict.fromkeys((".docx", ".odt", ".rtf"), f"pandoc -t plain --wrap=none {file} -o {quote(f'{name}.txt')}"),
        **dict.fromkeys((".db", ".sqlite", ".sqlite3"), f"sqlite3 -header -csv {file} 'SELECT * FROM NAME' > {table}"),  # noqa: S608
    }  # fmt: skip
    command = f"python -c {quote(script)}" if script else commands.get(ending)
    rename = f"cp {file} {table}, or with the ending of its format"
    return DataError(
        f"{path}: {unknown_name_message('file ending', file_ending(path), known)}. Remedy: {command or rename}"
    )


def parquet_files(folder: Path) -> list[Path]:
    """The Parquet files in a folder and its subfolders, by name; those in hidden places (`.x`, `_x`) are left out."""
    found = {file.relative_to(folder).as_posix(): file for file in folder.rglob("*.parquet") if file.is_file()}
    return [found[name] for name in sorted(found) if not any(part[0] in "._" for part in name.split("/"))]


def file_ending(path: Path) -> str:
    """The ending of a file's name in lower case, including the one before .gz.

    >>> file_ending(Path("qrels/test.TSV.gz")), file_ending(Path("a.b.parquet"))
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
    """The columns of any row and the rows of a JSON file, or of JSON Lines in a file called .json.

    A file holds an array of objects; an object of arrays, as Chroma and Arrow write; an object of objects by id or by
    column, as pandas writes; or one of these inside an answer, as from Qdrant.
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
    """The rows in a JSON value, None if it has no table."""
    if isinstance(value, list):
        if all(isinstance(row, dict) for row in value):
            return value or None
        return _table_in(value[0]) if isinstance(value[0], list) else None  # a pair: rows, and where to continue
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
    """The reader of files with this delimiter."""

    def rows(path: Path, bad: BadRows) -> tuple[list[str], Named]:
        return header_of(path, delimiter=delimiter), named_rows(path, delimiter=delimiter, bad=bad)

    return rows


def parquet(path: Path, bad: BadRows) -> tuple[list[str], Named]:  # noqa: ARG001 - Parquet is whole or not
    """The columns and rows of a Parquet file; DataError for a file in a different format."""
    file = _opened(path)
    return list(file.schema_arrow.names), _numbered(path, parquet_rows(file, size=path.stat().st_size))


def parquet_batches(path: Path) -> tuple[list[str], Callable[[Sequence[str]], Iterator[Any]]]:
    """The columns of a Parquet file, and a function that reads some of them as record batches; DataError for a file in
    a different format.
    """
    file = _opened(path)

    def batches(columns: Sequence[str]) -> Iterator[Any]:
        try:
            yield from record_batches(file, size=path.stat().st_size, columns=columns)
        except (ValueError, OSError) as error:
            raise _not_parquet(path, error) from error

    return list(file.schema_arrow.names), batches


def _opened(path: Path) -> Any:
    try:
        return open_parquet(path)
    except (ValueError, OSError) as error:
        raise _not_parquet(path, error) from error


def _numbered(path: Path, rows: Iterator[dict[str, Any]]) -> Named:
    try:
        yield from enumerate(rows, 1)
    except (ValueError, OSError) as error:
        raise _not_parquet(path, error) from error


def _not_parquet(path: Path, error: Exception) -> DataError:
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
