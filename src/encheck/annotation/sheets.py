"""The sheet that people label pairs on, blind (Peinelt et al. 2019, section 4, Table 4).

A sheet is a CSV file: item, first, second, same, seconds. It holds neither labels nor difficulty, and the item is a
hash, since an id may say how a pair was made. `same` is 1, 0 or ? (unsure), empty until somebody answers.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from encheck.datasets.reader import BadRows, named_rows
from encheck.errors import DataError, UsageError
from encheck.system.files import write_text

COLUMNS = ("item", "first", "second", "same", "seconds")
STRICT = BadRows(remedy="Fix the row: a sheet keeps every line, and puts text with commas in quotes")
ANSWERS = {"s": "1", "d": "0", "?": "?"}


@dataclass(frozen=True)
class Line:
    """A row of a sheet; `seconds` is how long the answer took, 0 before there is one."""

    item: str
    first: str
    second: str
    same: str = ""
    seconds: float = 0.0


def write_sheet(path: Path, lines: Sequence[Line], *, new: bool = False) -> None:
    """Write the whole sheet or nothing, so that no answer is lost; a `new` one takes the place of no file."""
    if new and path.exists():
        raise UsageError(f"{path} is there already and may hold answers; name another file with --out")
    out = io.StringIO()
    writer = csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\n")
    writer.writerow(COLUMNS)
    for line in lines:
        writer.writerow([line.item, line.first, line.second, line.same, f"{line.seconds:.2f}" if line.same else ""])
    try:
        write_text(path, out.getvalue())
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from error


def read_sheet(path: Path) -> list[Line]:
    """The lines of a sheet; DataError names the file and the line of what is wrong."""
    rows = [_line(path, number, fields) for number, fields in named_rows(path, delimiter=",", bad=STRICT)]
    if not rows:
        raise DataError(f"{path} has no rows; make a sheet with `encheck data annotate sheet`")
    if len({row.item for row in rows}) < len(rows):
        raise DataError(f"{path} lists an item twice; make a sheet with `encheck data annotate sheet`")
    return rows


def _line(path: Path, number: int, fields: dict[str, str]) -> Line:
    if missing := [name for name in COLUMNS if name not in fields]:
        raise DataError(f"{path}:1: no column {', '.join(missing)}; a sheet has {', '.join(COLUMNS)}")
    same, seconds = fields["same"].strip(), fields["seconds"].strip()
    if same not in {"", *ANSWERS.values()}:
        raise DataError(f"{path}:{number}: same is {same!r}, but should be 1, 0, ? or empty")
    try:
        took = float(seconds or 0)
    except ValueError:
        took = -1.0
    if not 0 <= took < float("inf"):
        raise DataError(f"{path}:{number}: seconds is {seconds!r}, but should be 0 or more")
    return Line(fields["item"], fields["first"], fields["second"], same, took)


def annotator_sheet(sheet: Path, name: str) -> tuple[Path, list[Line]]:
    """SHEET-NAME.csv beside the sheet, and its lines: those answered before, or none yet."""
    if not name or not all(c.isalnum() or c in "._-" for c in name):
        raise UsageError(
            f"the name {name!r} becomes part of a file name, so it may only have letters, digits, '.', '_' and '-'"
        )
    own, blank = sheet.with_name(f"{sheet.stem}-{name}{sheet.suffix}"), read_sheet(sheet)
    if not own.exists():
        return own, blank
    lines = read_sheet(own)
    if [line.item for line in lines] != [line.item for line in blank]:
        raise DataError(f"{own} does not hold the items of {sheet}: it belongs to another sheet. Choose another --name")
    return own, lines


def ratings(sheets: Sequence[Path]) -> Iterator[tuple[str, list[Line]]]:
    """(item, the answers of every sheet), for the items that all have answered; DataError if items differ."""
    if len(sheets) < 2:
        raise UsageError(f"agreement needs the sheets of two or more people, but {len(sheets)} sheet is given")
    if len({path.resolve() for path in sheets}) < len(sheets):
        raise UsageError("one of the sheets is given twice, but agreement needs copies from different people")
    read = {path: {line.item: line for line in read_sheet(path)} for path in sheets}
    first = read[sheets[0]]
    for path, lines in read.items():
        if lines.keys() != first.keys():
            other = len(lines.keys() ^ first.keys())
            raise DataError(f"{path} and {sheets[0]} differ in {other} items: give the copies of one sheet")
    for item in first:
        answers = [lines[item] for lines in read.values()]
        if all(line.same for line in answers):
            yield item, answers
