"""The published numbers of the five papers, their errors, and how each of them is measured here.

`published/NNN.csv` has a row for each printed number; `published/errors.csv` those that contradict their own paper;
`published/protocols.yaml` says, for each table, what is measured and by which command, or what that would need.
`T3` is a table, `F1` a figure, `S3` the text of section 3, `A2` an appendix.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any

import yaml

FOLDER = Path(__file__).resolve().parent / "published"
PAPERS = ("000", "001", "002", "003", "004")
GAIN = ", gain"
ROUNDING = {"difference": 0.011, "average": 0.011, "share": 0.006}
Address = tuple[str, str, str]  # table, row, column


@dataclass(frozen=True)
class Cell:
    """A printed number. `shown` is as printed, in the `unit` of the paper; `plus_minus` its standard error."""

    paper: str
    table: str
    row: str
    column: str
    shown: str
    plus_minus: str
    unit: str
    protocol: str

    @property
    def address(self) -> Address:
        """Where it stands."""
        return self.table, self.row, self.column

    @property
    def value(self) -> float:
        """As a number."""
        return float(self.shown)


@cache
def published(paper: str) -> tuple[Cell, ...]:
    """All printed numbers of a paper, in its order."""
    with (FOLDER / f"{paper}.csv").open(encoding="utf-8", newline="") as file:
        return tuple(
            Cell(paper, r["table"], r["row"], r["column"], r["value"], r["plus_minus"], r["unit"], r["protocol"])
            for r in csv.DictReader(file)
        )


@dataclass(frozen=True)
class PaperError:
    """A printed number that cannot be right, or that the paper contradicts. `kind`: which rule shows it, or `known`."""

    paper: str
    table: str
    row: str
    column: str
    stated: str
    follows: str
    kind: str
    note: str

    @property
    def address(self) -> Address:
        """Where it stands."""
        return self.table, self.row, self.column


@cache
def errors() -> tuple[PaperError, ...]:
    """What published/errors.csv lists."""
    with (FOLDER / "errors.csv").open(encoding="utf-8", newline="") as file:
        return tuple(PaperError(**row) for row in csv.DictReader(file))


@cache
def protocols() -> Mapping[str, Any]:
    """By paper: its name, its tables and its protocols."""
    found: Mapping[str, Any] = yaml.safe_load((FOLDER / "protocols.yaml").read_text("utf-8"))
    return found


def tables(paper: str) -> Mapping[str, Mapping[str, Any]]:
    """The tables of a paper in the order of the page."""
    found: Mapping[str, Mapping[str, Any]] = protocols()[paper]["tables"]
    return found


def lacks(cell: Cell) -> str | None:
    """Why there is no figure of ours for a cell; None where its protocol says how to measure it.

    The first pattern of the protocol that fits "row | column" decides.
    """
    protocol = protocols()[cell.paper]["protocols"][cell.protocol]
    for pattern, reason in protocol.get("lacks", ()):
        if fnmatchcase(f"{cell.row} | {cell.column}", pattern):
            reasons: Mapping[str, str] = protocols()["reasons"]
            return reasons.get(reason, reason)
    return None


def contradictions(paper: str) -> Iterator[tuple[str, Cell, float]]:
    """Numbers that do not follow from others of the same paper: the rule, the cell, and what would follow."""
    cells = {cell.address: cell for cell in published(paper)}
    for cell in cells.values():
        for rule, expected, slack in _expected(cell, cells):
            if abs(cell.value - expected) > slack:
                yield rule, cell, expected


def _expected(cell: Cell, cells: Mapping[Address, Cell]) -> Iterator[tuple[str, float, float]]:
    """What a cell should be by the rest of its paper: rule, value, what rounding allows."""
    rule = RULES.get((cell.paper, cell.table))
    if rule is not None:
        yield from rule(cell, lambda row, column, table=cell.table: cells[table, row, column].value)


def _rise(cell: Cell, at: Any) -> Iterator[tuple[str, float, float]]:
    if cell.column.endswith(GAIN):
        column = cell.column.removesuffix(GAIN)
        own, dino = at(cell.row, column), at(f"{cell.row.partition(':')[0]}: DINO", column)
        yield "difference", own - dino, ROUNDING["difference"]
    elif cell.column == "average":
        sets = ("STS12", "STS13", "STS14", "STS15", "STS16", "STS-B", "SICK-R")
        yield "average", _mean(at(cell.row, name) for name in sets), ROUNDING["average"]


def _text_measures(cell: Cell, at: Any) -> Iterator[tuple[str, float, float]]:
    """Means over N are averages; Table 1 repeats Table 4. One mean is printed with one digit."""
    orders = {"BLEU-N": 4, "Distinct-N": 3}.get(cell.row)
    slack = 0.06 if cell.shown.partition(".")[2] in {"3"} or cell.row == "Distinct-N" else ROUNDING["average"]
    if orders:
        expected = _mean(at(f"{cell.row[:-1]}{n}", cell.column, "T4") for n in range(1, orders + 1))
        yield "average", expected, slack
    if cell.table == "T1":
        yield "difference", at(cell.row, cell.column, "T4"), 0


def _swaps(cell: Cell, at: Any) -> Iterator[tuple[str, float, float]]:
    """R-Precision with one right answer is a share of the groups of Table 3, or of the sample of 100."""
    if cell.column.endswith("R-Precision"):
        data = cell.column.partition(" R-")[0]
        groups = 100 if (cell.table, data) == ("T7", "PAWS-Wiki") else at(data, "after 3 swaps", "T3")
        yield "share", 100 * round(cell.value * groups / 100) / groups, ROUNDING["share"]


def _heads(cell: Cell, at: Any) -> Iterator[tuple[str, float, float]]:
    """Rows of the ablations that are rows of Table 2, and of Table 4."""
    same = {"PAS+SBERT": ("T2", "PAS+SBERT"), "SBERT only": ("T2", "SBERT"), "SBERT": ("T2", "SBERT")}
    same |= {"(|u-v|, u*v)": ("T2", "SBERT"), "PAS": ("T4", "PAS only")}
    if cell.row in same:
        table, row = same[cell.row]
        yield "difference", at(row, cell.column, table), 0


def _criteria(cell: Cell, at: Any) -> Iterator[tuple[str, float, float]]:
    data, _, what = cell.row.partition(": ")
    if cell.column == "average":
        tasks = ("MR", "CR", "SUBJ", "MPQA", "SST-2", "TREC", "MRPC")
        yield "average", _mean(at(cell.row, task) for task in tasks), ROUNDING["average"]
    if what == "difference":
        yield "difference", at(f"{data}: positive", cell.column) - at(f"{data}: negative", cell.column), 0.0101
    if what == "positive" and cell.table == "T4":
        yield "difference", at(cell.row, cell.column, "T3"), 0


def _difficulty(cell: Cell, at: Any) -> Iterator[tuple[str, float, float]]:
    if cell.row == "obvious":
        counts = [at(name, cell.column) for name in ("Po", "Pn", "No", "Nn")]
        yield "share", 100 * (counts[0] + counts[2]) / sum(counts), 0.5
    if cell.table == "T2":
        total = sum(at(name, cell.row, "T5") for name in ("Po", "Pn", "No", "Nn"))
        yield "share", total // 1000 * 1000, 0


def _kappas(cell: Cell, at: Any) -> Iterator[tuple[str, float, float]]:
    if (cell.row, cell.column) == ("all", "pairs"):
        yield "share", sum(at(name, "pairs") for name in ("Po", "Pn", "No", "Nn")), 0


RULES = {
    **dict.fromkeys((("001", "T3"), ("001", "T7")), _rise),
    **dict.fromkeys((("001", "T1"), ("001", "T4")), _text_measures),
    **dict.fromkeys((("000", "T5"), ("000", "T7")), _swaps),
    **dict.fromkeys((("002", "T4"), ("002", "T5"), ("002", "T6")), _heads),
    **dict.fromkeys((("003", "T2"), ("003", "T3"), ("003", "T4")), _criteria),
    **dict.fromkeys((("004", "T2"), ("004", "T5")), _difficulty),
    ("004", "T4"): _kappas,
}


def _mean(values: Iterator[float] | Sequence[float]) -> float:
    found = list(values)
    return sum(found) / len(found)
