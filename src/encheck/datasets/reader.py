"""Read data files strictly: every error names the file, the line and the expected content.

Most corpora are split on tabs without any quoting, so a quote is part of the text. A CSV reader with its default
quoting silently loses 114 of MRPC's 4,076 training rows.

A data set's `EXPECTED` maps a file name to the published (rows, rows per label), without the latter if it is not known.
Copies with rows added, dropped or relabelled are in circulation, for example of MRPC's training file.
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
from encheck.system.files import files_under
from encheck.system.terminal import make_visible

csv.field_size_limit(10_000_000)
UTF16 = "convert it with iconv -f UTF-16 -t UTF-8"
T = TypeVar("T")
BYTES_AT_ONCE = 1 << 20
MAX_NAMED = 8  # unused columns, or files
BINARY_LABELS = {"1": 1, "0": 0, "1.0": 1, "0.0": 0, "true": 1, "false": 0}
NO_VALUE = frozenset(("NaN", "nan", "<NA>", "NULL", "\\N"))  # how pandas, SQL and its dumps write a missing value
SURROGATE = re.compile("[\ud800-\udfff]")  # a surrogate: no tokenizer accepts it
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
TREC_SGML_TAG = re.compile(rb"(?ims)^\s*<(top(?=>.*<num>)|doc(?=>.*<docno>))>")
TREC_SGML = {  # by the tag of an entry: the file to write, and the pattern of an entry's id and text
    b"top": ("queries.jsonl", r"(?is)<num>\s*(?:Number:)?\s*([^\s<]+).*?<title>\s*(?:Topic:)?([^<]*)"),
    b"doc": ("corpus.jsonl", r"(?is)<docno>\s*([^\s<]+)\s*</docno>(.*?)</doc>"),
}
TREC_SGML_SCRIPT = (
    'import json, re, sys; s = "".join(open(f, encoding="utf-8", errors="replace").read() for f in sys.argv[1:]); '
    '[print(json.dumps({"_id": i, "text": " ".join(re.sub("<[^>]*>", " ", t).split())})) '
    'for i, t in re.findall(r"PATTERN", s)]'
)
ADD_QUOTES = (  # reads tab-separated values without quoting, and writes them with quoting
    'python -c \'import csv, sys; csv.writer(sys.stdout, delimiter="\\t").writerows('
    'line.rstrip("\\n").split("\\t") for line in sys.stdin if line.strip())\''
)
NumberedRows = Iterator[tuple[int, Mapping[str, Any]]]


class PairRow(NamedTuple):
    """A labelled pair from a file. `cluster` is its topic, thread or URL if the data name one.

    `label` is None if the data have none. `score` is a graded similarity in the data's own range. `key` is the data's
    own name for the pair; in ranking data, "question id/candidate id".
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
    """Decides about a malformed row: stop with an error, or skip the row and count it.

    `remedy` is added to the error. If a corpus should be `whole`, a published file that lacks rows is an error too.
    """

    skip: bool = False
    remedy: str = "Fix the row, or pass --skip-bad-rows to skip it"
    whole: bool = False
    skipped: list[str] = field(default_factory=list)

    def __call__(self, path: Path | str, line: int, problem: str) -> None:
        """Raise DataError or, if bad rows are skipped, record the problem."""
        message = f"{path}:{line}: {problem}"
        if not self.skip:
            raise DataError(f"{message}. {self.remedy}")
        self.skipped.append(message)


def read_utf8(path: Path, *, encoding: str = "utf-8-sig") -> str:
    """Return the text of a UTF-8 file without its byte order mark. DataError names the line of invalid bytes."""
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


def read_lines(path: Path, *, encoding: str = "utf-8-sig") -> list[str]:
    """Return the lines of a text file without their ends. Blank lines in the middle stay, so line numbers are right."""
    lines = [line.removesuffix("\r") for line in read_utf8(path, encoding=encoding).split("\n")]
    return lines if lines[-1] else lines[:-1]


def read_tab_rows(
    path: Path, *, columns: int | tuple[int, ...], bad: BadRows, header: Sequence[str] = ()
) -> Iterator[tuple[int, list[str]]]:
    """Yield (line number, fields) for each line of a tab-separated file without quoting, except blank lines.

    `columns` is the allowed number of fields, or several such numbers. If `header` names columns, the first line must
    be that header; otherwise the first pair of a file without a header would be lost.
    """
    lines = read_lines(path)
    allowed = (columns,) if isinstance(columns, int) else columns
    is_cut = bool(lines) and not _ends_a_line(path)
    start = 1 if header else 0
    if header and lines and lines[0]:
        names = [field.strip().lower() for field in lines[0].split("\t")]
        if names != [name.lower() for name in header]:
            hint = _delimiter_hint(lines[0])
            raise DataError(
                f"{path}:1: the header is {lines[0][:80]!r}, but should be {', '.join(header)}, separated by tabs{hint}"
            )
    for number, line in enumerate(lines[start:], start + 1):
        fields = line.split("\t")
        if line and len(fields) in allowed:
            yield number, fields
        elif line:
            right = " or ".join(map(str, allowed))
            cut = "; the file ends within this row: it is cut off" if is_cut and number == len(lines) else ""
            bad(path, number, f"{len(fields)} tab-separated fields, but should be {right}{_delimiter_hint(line)}{cut}")


def _ends_a_line(path: Path) -> bool:
    """Return whether a file's last line has a line end. True for an empty file."""
    with path.open("rb") as file:
        file.seek(max(0, file.seek(0, SEEK_END) - 1))
        return file.read() in (b"\n", b"")


def _delimiter_hint(line: str) -> str:
    other = max(",;|", key=line.count)
    return f" (is {other!r} the delimiter?)" if "\t" not in line and line.count(other) else ""


def read_columns(
    path: Path, columns: Sequence[str], *, delimiter: str, bad: BadRows
) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Return (line number, the fields of these two or more columns) for each row of a file whose header names them."""
    names = read_header(path, delimiter=delimiter)
    chosen = itemgetter(*map(names.index, columns))
    return ((line, chosen(fields)) for line, fields in read_full_rows(path, delimiter, bad))


def read_full_rows(path: Path, delimiter: str, bad: BadRows) -> Iterator[tuple[int, list[str]]]:
    """Yield (line number, fields) for each row with as many fields as the header, except blank lines."""
    rows = _read_quoted_rows(path, delimiter)
    width = len(next(rows, (1, []))[1])
    for line, fields in rows:
        lines = "\t".join(fields).split("\n") if delimiter == "\t" else []
        if len(lines) > 1 and all(one.count("\t") == width - 1 > 0 for one in lines):
            bad(path, line, f"a quote joins {len(lines)} rows{_quoting_remedy(path)}")
        elif len(fields) == width:
            yield line, fields
        else:
            bad(path, line, f"{len(fields)} fields, but the header has {width}")


def read_header(path: Path, *, delimiter: str) -> list[str]:
    """Return the column names in the first row of a CSV or TSV file that is not blank, or an empty list."""
    return next(_read_quoted_rows(path, delimiter), (1, []))[1]


def _read_quoted_rows(path: Path, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    reader = csv.reader(stream_lines(path), delimiter=delimiter, strict=True)
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
            + (_quoting_remedy(path) if delimiter == "\t" else "")
        ) from error


def _quoting_remedy(path: Path) -> str:
    unpacked = f"gunzip -c {quote(str(path))}" if path.suffix == ".gz" else f"cat {quote(str(path))}"
    return f". If the file has no quoting: {unpacked} | {ADD_QUOTES} > quoted.tsv"


def stream_lines(path: Path) -> Iterator[str]:
    """Yield the lines of a file with their ends, one at a time. Raises the same errors as `read_utf8`.

    A file whose name ends in .gz is decompressed while it is read.
    """
    if path.suffix.lower() == ".gz":
        yield from _stream_gzip_lines(path)
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
    read_utf8(path)
    raise DataError(f"{path} changed while it was read: load it again")


def _stream_gzip_lines(path: Path) -> Iterator[str]:
    """Yield the lines of a gzipped file. DataError names the line at which the file breaks off or is not UTF-8."""
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


def read_first_line(path: Path) -> str:
    """Return the first line of a text file without its end, or "" for an empty file."""
    return next(stream_lines(path), "").rstrip("\r\n")


def read_json_rows(path: Path, bad: BadRows) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield (line number, object) for each line of a JSON Lines file, except blank lines."""
    for number, line in enumerate(stream_lines(path), 1):
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


def binary_label_or_none(value: object) -> int | None:
    """Return 0 or 1 for common spellings of these labels, or None for any other value.

    >>> [binary_label_or_none(v) for v in ("1", "0.0", True, "yes")]
    [1, 0, 1, None]
    """
    text = str(value)
    known = BINARY_LABELS.get(text)
    return BINARY_LABELS.get(text.strip().lower()) if known is None else known


def make_pair_rows(
    path: Path, rows: Iterator[tuple[int, tuple[object, object, object, str | None]]], *, split: str, bad: BadRows
) -> Iterator[PairRow]:
    """Yield a checked row for each (line, (first, second, label, cluster)). `bad` handles a bad text or label."""
    for line, (first, second, label, cluster) in rows:
        try:
            yield PairRow(
                check_text("first", first), check_text("second", second), parse_binary_label(label), split, cluster
            )
        except ValueError as error:
            bad(path, line, str(error))


def make_checked_rows(
    path: Path, numbered: Iterator[tuple[int, T]], make: Callable[[T], PairRow], *, bad: BadRows
) -> Iterator[PairRow]:
    """Yield the row that `make` returns for each (line, fields), with its texts checked. `bad` handles a ValueError."""
    for line, fields in numbered:
        try:
            row = make(fields)
            first, second = check_text("first", row.first), check_text("second", row.second)
        except ValueError as error:
            bad(path, line, str(error))
        else:
            yield row._replace(first=first, second=second)


def parse_score(value: str, low: float, high: float) -> float:
    """Return the score as a number. Raise ValueError unless it is a number from `low` to `high`.

    >>> parse_score(" 3.80", 0, 5)
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
    r"""Return whether a field has no value: it is blank, an empty list, NaN, or some program's notation for a missing
    value.

    >>> [is_missing(value) for value in (None, " ", float("nan"), "NaN", "\\N", [], 0, "none")]
    [True, True, True, True, True, True, False, False]
    """
    return value is None or value != value or value in ([], {}) or (text := str(value).strip()) in NO_VALUE or not text


def field_text(value: object) -> str:
    """Return a field's value, such as a cluster, as text, or "" if missing. Raise ValueError for half a character.

    >>> field_text(7), field_text(None), field_text(float("nan"))
    ('7', '', '')
    """
    text = "" if is_missing(value) else str(value).strip()
    if not text.isascii() and SURROGATE.search(text):
        raise ValueError(f"{text!r:.60} has half a character (a surrogate without its partner)")
    return text


def check_text(name: str, text: object) -> str:
    """Return the text without surrounding white space. Raise ValueError if the value is not a text."""
    if not isinstance(text, str):
        problem = "missing" if is_missing(text) else f"{text!r:.60}, but should be a string"
        raise ValueError(f"the {name} text is {problem}")
    if not text.isascii() and SURROGATE.search(text):
        raise ValueError(f"the {name} text has half a character (a surrogate without its partner)")
    if (stripped := text.strip()) in NO_VALUE:
        raise ValueError(f"the {name} text is missing: the cell has {stripped!r}")
    if stripped:
        return stripped
    raise ValueError(f"the {name} text is empty")


def parse_binary_label(value: object) -> int:
    """Return the label as 0 or 1. Raise ValueError for any other value."""
    label = binary_label_or_none(value)
    if label is None:
        raise ValueError(f"the label is {value!r:.60}, but should be 0 or 1")
    return label


def refuse_misspelt_columns(
    path: Path | str,
    columns: Iterable[str],
    names_by_role: Mapping[str, Sequence[str]],
    columns_by_role: Mapping[str, str | None],
) -> None:
    """Raise DataError for an unused column whose name resembles a role for which no column was found.

    `names_by_role` has the accepted names of each role, `columns_by_role` the column that was found.
    """
    names = [name for role, some in names_by_role.items() if not columns_by_role.get(role) for name in some]
    for column in sorted(set(columns) - set(columns_by_role.values())):
        if near := next((name for name in names if is_misspelt(column, name)), None):
            raise DataError(
                f"{path}:1: unused column {column!r}; did you mean {near!r}? "
                f"Rename it, to {near!r} or to something else"
            )


def is_misspelt(column: str, name: str) -> bool:
    """Return whether the names differ only in case, by one letter, or by two exchanged letters.

    >>> is_misspelt("lable", "label"), is_misspelt("Clusters", "cluster"), is_misspelt("store", "score")
    (True, True, False)
    """
    from rapidfuzz.distance import OSA

    text = column.strip().lower()
    is_replaced = len(text) == len(name) and sorted(text) != sorted(name)
    return column != name and not is_replaced and int(OSA.distance(text, name)) <= 1


def unread_columns_message(path: Path, columns: Iterable[str], read_columns: Iterable[str | None]) -> list[str]:
    """Return a message that names unused columns, or an empty list if there are none."""
    unread = sorted(set(columns) - set(read_columns))
    more = f" and {len(unread) - MAX_NAMED} more" if len(unread) > MAX_NAMED else ""
    names = make_visible(", ".join(unread[:MAX_NAMED]))
    return [f"{path.name}: unused columns: {names}{more}"] * bool(unread)


def find_split_files(path: Path, names: dict[str, str], *, data_set: str) -> list[tuple[Path, str]]:
    """Return (file, split) for the file at `path`, or for each of `names` (file name -> split) in the folder there."""
    if path.is_file():
        return [(path, names.get(path.name, ""))]
    if not path.is_dir():
        raise DataError(f"{data_set}: {path} does not exist; it should be one of {', '.join(names)}, or the folder")
    files = {name: sorted(path.rglob(name)) for name in names}
    if not any(files.values()):
        content = ", ".join(sorted(p.name for p in path.iterdir())[:8]) or "nothing"
        raise DataError(f"{data_set}: {path} holds none of {', '.join(names)}. It holds: {content}")
    for name, matches in files.items():
        if len(matches) > 1:
            where = ", ".join(str(file.parent.relative_to(path)) for file in matches)
            raise DataError(
                f"{data_set}: {path} holds {name} more than once (in {where}): give the folder of one of them"
            )
    return [(file, names[name]) for name, matches in files.items() for file in matches]


def yield_and_check_counts(
    file: Path, rows: Iterable[PairRow], expected: Expected, bad: BadRows, *, name: str = ""
) -> Iterator[PairRow]:
    """Yield the rows of a file unchanged, then call `check_published_counts`."""
    counts: Counter[str] = Counter()
    for row in rows:
        counts[str(row.label)] += 1
        yield row
    check_published_counts(file, counts, expected, bad, name=name)


def check_published_counts(
    file: Path, counts: Mapping[str, int], expected: Expected, bad: BadRows, *, name: str = ""
) -> None:
    """Compare a file's rows per label with those in `expected` under the file's name, or under `name`.

    Raise DataError if rows are missing, and the corpus should be whole or the last line has no line end, because then
    the file was cut off. Warn about any other difference.
    """
    wanted, _ = expected.get(name or file.name, (0, {}))
    found = sum(counts.values())
    if found < wanted and (bad.whole or not _ends_a_line(file)):
        how = "it" if bad.whole else "its last line has no end, and it"
        remedy = "" if bad.whole else ", or add the line end if you want only this part"
        raise DataError(
            f"{file} is cut off: {how} has {found:,} rows, but the published {name or file.name} has {wanted:,}. "
            f"Get it again{remedy}"
        )
    warn_unless_published_counts(name or file.name, counts, expected)


def warn_unless_published_counts(name: str, counts: Mapping[str, int], expected: Expected) -> None:
    """Log a warning if the counts per label differ from `expected[name]`; skip names without an entry."""
    if name not in expected:
        return
    rows, labels = expected[name]
    if sum(counts.values()) != rows or (labels and dict(counts) != labels):
        described = rows_and_labels(sum(counts.values()), counts)
        LOG.warning(
            "%s has %s, but the published data have %s: is it a changed copy?",
            name,
            described,
            rows_and_labels(rows, labels, noun=""),
        )


def rows_and_labels(rows: int, labels: Mapping[str, int], *, noun: str = " rows") -> str:
    """Return the number of rows and of each label in words.

    >>> rows_and_labels(4076, {"0": 1323, "1": 2753})
    '4,076 rows (1: 2,753, 0: 1,323)'
    """
    balance = ", ".join(f"{label}: {count:,}" for label, count in sorted(labels.items(), reverse=True))
    return f"{rows:,}{noun} ({balance})" if balance else f"{rows:,}{noun}"


FormatReader = Callable[[Path, BadRows], tuple[list[str], NumberedRows]]


def read_table(path: Path, bad: BadRows) -> tuple[list[str], NumberedRows]:
    """Return the file's columns, and (line or row number, fields) for each row.

    Raise DataError for an unsupported format, a file that does not match its format, or two columns of the same name.
    """
    ending = file_ending(path)
    if ending not in TABLE_READERS:
        raise unknown_format_error(path, TABLE_READERS)
    columns, rows = TABLE_READERS[ending](path, bad)
    if repeated := next((name for name, count in Counter(columns).items() if name and count > 1), None):
        raise DataError(f"{path}:1: two columns are called {repeated!r}: rename one of them")
    return columns, rows


def unknown_format_error(path: Path, known_endings: Iterable[str]) -> DataError:
    """Return the error for an unsupported file format. It names a command that converts the file, if there is one.

    >>> str(unknown_format_error(Path("log.zst"), [".csv"]))
    "log.zst: unknown file ending '.zst'. Available: .csv. Remedy: unzstd log.zst"
    """
    ending, name = path.suffix.lower(), path.with_suffix("")
    if path.is_file() and (remedy := trec_sgml_remedy([path], path.parent)):
        return DataError(f"{path} holds TREC's SGML, but should be one of {', '.join(known_endings)}. Remedy: {remedy}")
    script, made_ending = CONVERTERS.get(ending, ("", ""))
    script = script.format(json.dumps(str(path)), json.dumps(f"{name}{made_ending}"))
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
        f"{path}: {unknown_name_message('file ending', file_ending(path), known_endings)}. Remedy: {command or rename}"
    )


def trec_sgml_remedy(files: Iterable[Path], folder: Path) -> str:
    """Return commands that convert TREC's topics (`<top>`) and documents (`<DOC>`) in these files to JSON Lines.

    They write queries.jsonl and corpus.jsonl into the folder, which `retrieval` then reads with the folder's
    judgements. Return "" if no file holds topics or documents.
    """
    by_tag: dict[bytes, list[Path]] = {}
    for file in files:
        with file.open("rb") as opened:
            if tag := TREC_SGML_TAG.search(opened.read(1 << 16)):
                by_tag.setdefault(tag[1].lower(), []).append(file)
    commands = []
    for tag_name, some in sorted(by_tag.items(), reverse=True):
        name, pattern = TREC_SGML[tag_name]
        script = quote(TREC_SGML_SCRIPT.replace("PATTERN", pattern))
        given = " ".join(quote(str(file)) for file in some[:MAX_NAMED])
        if len(some) > MAX_NAMED:
            given = " ".join(f"$(find {quote(str(place))} -type f)" for place in sorted({file.parent for file in some}))
        commands.append(f"python -c {script} {given} > {quote(str(folder / name))}")
    return f"{' && '.join(commands)}; then, with qrels.txt beside, --data=retrieval:{folder}" if commands else ""


def find_parquet_files(folder: Path) -> list[Path]:
    """Return the Parquet files in a folder and its subfolders, by name, except in hidden places (`.x`, `_x`)."""
    files = [file for file in files_under(folder) if file.name.endswith(".parquet")]
    by_name = {file.relative_to(folder).as_posix(): file for file in files}
    return [by_name[name] for name in sorted(by_name) if not any(part[0] in "._" for part in name.split("/"))]


def file_ending(path: Path) -> str:
    """Return a file name's ending in lower case; for .gz, with the ending before it.

    >>> file_ending(Path("qrels/test.TSV.gz")), file_ending(Path("a.b.parquet"))
    ('.tsv.gz', '.parquet')
    """
    name = path.name.lower()
    return Path(name.removesuffix(".gz")).suffix + ".gz" * name.endswith(".gz")


def _read_json_lines(path: Path, bad: BadRows) -> tuple[list[str], NumberedRows]:
    """Return the columns of all rows, and the rows. The file is read twice, because it may not fit in memory."""
    rows = read_json_rows(path, BadRows(bad.skip, bad.remedy))
    return column_names(row for _, row in rows), read_json_rows(path, bad)


def read_json_table(path: Path, bad: BadRows) -> tuple[list[str], NumberedRows]:
    """Return the columns and rows of a JSON file, or of JSON Lines in a file called .json. The columns are those of all
    rows.

    The file holds an array of objects; an object of arrays, as Chroma and Arrow write; an object of objects by id or by
    column, as pandas writes; or any of these inside a response, as from Qdrant.
    """
    try:
        rows = _find_table(read_json(path, infinite=True))
    except (ValueError, OSError) as error:
        lines = list(read_json_rows(path, BadRows(skip=True)))
        if not lines or "Extra data" not in str(error):
            raise DataError(f"{path}: {error}") from error
        return column_names(row for _, row in lines), read_json_rows(path, bad)
    if rows is None:
        raise DataError(
            f"{path} holds no table, but should hold an array of objects. Remedy, where KEY has it: jq -c '.KEY[]' "
            f"{quote(str(path))} > {quote(str(path.with_suffix('.jsonl')))}"
        )
    return column_names(rows), iter(list(enumerate(rows, 1)))


def column_names(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the columns that at least one row has, in the order in which they first occur."""
    return list(dict.fromkeys(key for row in rows for key in row))


def _find_table(value: Any) -> list[dict[str, Any]] | None:
    """Return the rows in a JSON value, or None if it has no table."""
    if isinstance(value, list):
        if all(isinstance(row, dict) for row in value):
            return value or None
        return _find_table(value[0]) if isinstance(value[0], list) else None  # a pair: rows, and where to continue
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
    inside = [table for one in value.values() if isinstance(one, list | dict) and (table := _find_table(one))]
    return inside[0] if len(inside) == 1 else None


def delimited_reader(delimiter: str) -> FormatReader:
    """Return a reader for files with this delimiter."""

    def read_rows(path: Path, bad: BadRows) -> tuple[list[str], NumberedRows]:
        names, numbered = read_header(path, delimiter=delimiter), read_full_rows(path, delimiter, bad)
        return names, ((line, dict(zip(names, fields, strict=True))) for line, fields in numbered)

    return read_rows


def read_parquet(path: Path, bad: BadRows) -> tuple[list[str], NumberedRows]:  # noqa: ARG001 - Parquet is whole or not
    """Return the columns and rows of a Parquet file. Raise DataError if the file is not Parquet."""
    file = _open_parquet(path)

    def read_rows() -> NumberedRows:
        try:
            yield from enumerate(parquet_rows(file, file_bytes=path.stat().st_size), 1)
        except (ValueError, OSError) as error:
            raise _not_parquet_error(path, error) from error

    return list(file.schema_arrow.names), read_rows()


def open_parquet_batches(path: Path) -> tuple[list[str], Callable[[Sequence[str]], Iterator[Any]]]:
    """Return the columns of a Parquet file, and a function that reads some of them as record batches.

    Raise DataError if the file is not Parquet.
    """
    file = _open_parquet(path)

    def read_batches(columns: Sequence[str]) -> Iterator[Any]:
        try:
            yield from record_batches(file, file_bytes=path.stat().st_size, columns=columns)
        except (ValueError, OSError) as error:
            raise _not_parquet_error(path, error) from error

    return list(file.schema_arrow.names), read_batches


def _open_parquet(path: Path) -> Any:
    try:
        return open_parquet(path)
    except (ValueError, OSError) as error:
        raise _not_parquet_error(path, error) from error


def _not_parquet_error(path: Path, error: Exception) -> DataError:
    message = str(error)
    if message.startswith("has "):
        return DataError(f"{path} {message}")
    return DataError(f"{path} is not a Parquet file, or is truncated; copy or write it again ({message})")


TABLE_READERS: dict[str, FormatReader] = {
    ".jsonl": _read_json_lines,
    ".jsonl.gz": _read_json_lines,
    ".json": read_json_table,
    ".csv": delimited_reader(","),
    ".csv.gz": delimited_reader(","),
    ".tsv": delimited_reader("\t"),
    ".tsv.gz": delimited_reader("\t"),
    ".parquet": read_parquet,
}
