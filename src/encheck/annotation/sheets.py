"""People label pairs blind, and agree or not (Peinelt et al. 2019, section 4, Table 4).

A sheet is a CSV file: item, first, second, same, seconds. It holds neither labels nor difficulty, and the item is a
hash, since an id may say how a pair was made. `same` is 1, 0 or ? (unsure), empty until somebody answers.
"""

from __future__ import annotations

import csv
import io
import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, zip_longest
from pathlib import Path

from encheck.datasets.base import Dataset
from encheck.datasets.reader import BadRows, named_rows
from encheck.errors import DataError, UsageError, no_pair
from encheck.ids import ItemId
from encheck.items.catalogue import list_all
from encheck.items.variants import Maker
from encheck.scoring.difficulty import CELLS, difficulty
from encheck.system.files import write_text
from encheck.system.terminal import visible
from encheck.types import Group, SentencePair, Variant, content_hash, keeps_meaning

COLUMNS = ("item", "first", "second", "same", "seconds")
STRICT = BadRows(remedy="Mend the row: a sheet keeps every line, and its commas inside quotes")
ANSWERS = {"s": "1", "d": "0", "?": "?"}
KEYS = "[s]ame  [d]ifferent  [?] unsure  [u]ndo  [q]uit"
Clock = Callable[[], float]


@dataclass(frozen=True)
class Line:
    """A row of a sheet; `seconds` is how long the answer took, 0 before there is one."""

    item: str
    first: str
    second: str
    same: str = ""
    seconds: float = 0.0


def cells_of(pairs: Sequence[SentencePair]) -> dict[str, str]:
    """Item -> difficulty cell (Po, Pn, No, Nn), for the pairs that have a label."""
    labelled = [p for p in pairs if p.label is not None]
    cells = difficulty(labelled).cells.tolist() if labelled else []
    return {content_hash(pair.id): CELLS[cell] for pair, cell in zip(labelled, cells, strict=True)}


def variants_of(dataset: Dataset, maker: Maker) -> tuple[SentencePair, ...]:
    """Every sentence with each of its variants, hand-written or generated; label 1 where the meaning should be kept."""
    written = (pair for group in dataset.groups for pair in _written(dataset.name, group))
    generated = (
        _pair(dataset.name, group, variant)
        for listing in (list_all(dataset, maker) if any(not g.variants for g in dataset.groups) else ())
        for group, variant in listing.made
        if not group.variants
    )
    return tuple({pair.id: pair for pair in (*written, *generated)}.values())


def _written(name: str, group: Group) -> Iterator[SentencePair]:
    return (_pair(name, group, variant) for variant in group.variants)


def _pair(name: str, group: Group, variant: Variant) -> SentencePair:
    texts = content_hash(group.source, variant.text)
    key = ItemId.of(name, texts, variant.relation, variant.level, variant.generator, 0)
    return SentencePair(
        key, group.source, variant.text, int(keeps_meaning(variant.relation)), group.cluster, group.split
    )


def relations_of(pairs: Sequence[SentencePair]) -> dict[str, str]:
    """Item -> the relation of its variant, as its id names it."""
    return {content_hash(pair.id): ItemId(pair.id).parts.relation for pair in pairs}


def draw(
    pairs: Sequence[SentencePair],
    *,
    n: int,
    seed: int,
    split: str | None = None,
    strata_of: Callable[[Sequence[SentencePair]], dict[str, str]] = cells_of,
) -> list[Line]:
    """At most `n` pairs (of a split) in random order, of each stratum equally many while they last.

    The strata are the cells of difficulty, or `relations_of` for variants.
    """
    rng = random.Random(f"{seed}/annotate")  # noqa: S311 - no secret
    cells = strata_of(pairs)
    eligible = [p for p in pairs if split is None or p.split == split]
    if not eligible:
        raise UsageError(no_pair(split, {p.split for p in pairs}))
    strata: dict[str, list[SentencePair]] = {}
    for pair in eligible:
        strata.setdefault(cells.get(content_hash(pair.id), ""), []).append(pair)
    for name in sorted(strata):
        rng.shuffle(strata[name])
    turns = chain.from_iterable(zip_longest(*(strata[name] for name in sorted(strata))))
    chosen = [pair for pair in turns if pair][:n]
    rng.shuffle(chosen)
    return [Line(content_hash(p.id), p.first, p.second) for p in chosen]


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
        raise DataError(f"{path} holds no row; make a sheet with `encheck data annotate sheet`")
    if len({row.item for row in rows}) < len(rows):
        raise DataError(f"{path} holds an item twice; make a sheet with `encheck data annotate sheet`")
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
        raise DataError(f"{path}:{number}: seconds is {seconds!r}, but should be a number that is not negative")
    return Line(fields["item"], fields["first"], fields["second"], same, took)


def own_sheet(sheet: Path, name: str) -> tuple[Path, list[Line]]:
    """SHEET-NAME.csv beside the sheet, and its lines: those answered before, or none yet."""
    if not name or not all(c.isalnum() or c in "._-" for c in name):
        raise UsageError(f"the name {name!r} becomes part of a file's name: letters, digits, '.', '_' and '-' only")
    own, blank = sheet.with_name(f"{sheet.stem}-{name}{sheet.suffix}"), read_sheet(sheet)
    if not own.exists():
        return own, blank
    lines = read_sheet(own)
    if [line.item for line in lines] != [line.item for line in blank]:
        raise DataError(f"{own} holds other items than {sheet}: it belongs to another sheet; choose another --name")
    return own, lines


def label(
    path: Path,
    lines: Sequence[Line],
    *,
    ask: Callable[[str], str],
    show: Callable[[str], object],
    clock: Clock = time.perf_counter,
) -> int:
    """Show each pair that has no answer, `ask` for one, and save after every answer; the number left at the end.

    Undo takes the last answer back; its seconds count on.
    """
    done = list(lines)
    while (at := _next(done)) is not None:
        show(f"\n{at + 1} of {len(done)}\n  1  {visible(done[at].first)}\n  2  {visible(done[at].second)}")
        start = clock()
        answer = ask(KEYS).strip().lower()[:1]
        if answer == "q":
            break
        if answer in ANSWERS:
            done[at] = replace(done[at], same=ANSWERS[answer], seconds=done[at].seconds + clock() - start)
        elif answer == "u" and at:
            done[at - 1] = replace(done[at - 1], same="")
        else:
            show("there is nothing to undo" if answer == "u" else f"{answer!r} is no answer")
            continue
        write_sheet(path, done)
    return sum(not line.same for line in done)


def _next(lines: Sequence[Line]) -> int | None:
    return next((i for i, line in enumerate(lines) if not line.same), None)


def ratings(sheets: Sequence[Path]) -> Iterator[tuple[str, list[Line]]]:
    """(item, the answers of every sheet), for the items that all have answered; DataError where items differ."""
    if len(sheets) < 2:
        raise UsageError(f"agreement is among two or more people, but {len(sheets)} sheet is given")
    if len({path.resolve() for path in sheets}) < len(sheets):
        raise UsageError("one of the sheets is given twice: agreement is among the copies of different people")
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
