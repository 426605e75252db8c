"""What was found, for the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from encheck.datasets.fresh.wording import edits
from encheck.operations.explore.asking import Budget
from encheck.operations.explore.cells import CONFIRMATION, SEARCH, Cell
from encheck.operations.explore.confirm import CHANCE, UNBROKEN, Row
from encheck.operations.explore.explore import Found, Searched
from encheck.operations.explore.material import Item
from encheck.reporting.text import marked, table
from encheck.scoring.triplets import Triplet
from encheck.shrinking.shrink import Form

HEAD = ("#", "fails", "95%", "clusters", "chance", "best surface scorer", "verdict", "construction")


def lines(found: Found, model: str, *, shrunk: Mapping[Cell, Form], budget: Budget, encoded: int) -> Iterator[str]:
    """The table of rows, an example of each that breaks, and what was covered."""
    numbers = {row.cell: str(n) for n, row in enumerate((r for r in found.rows if r.cell.values), 1)}
    yield f"Where {model} breaks: {_headline(found)}"
    yield ""
    if found.rows:
        yield from table([HEAD, *(_cells(row, numbers.get(row.cell, "")) for row in found.rows)])
        what = f"The intervals hold for all {found.planned} rows at once" if found.planned > 1 else "The interval holds"
        yield f"{what}: no cluster here had a part in the search, and how many there are was fixed"
        yield f"before any was drawn. {_unbroken_takes(found.planned)}"
    for row in found.rows:
        if row.cell.values:
            yield from ("", *_example(row, numbers[row.cell], shrunk.get(row.cell), found.to_read.get(row.cell, ())))
    yield ""
    yield from (f"not confirmed, {why}: {cell.says}" for cell, why in found.unconfirmed)
    yield from _coverage(found, budget, encoded)


def _headline(found: Found) -> str:
    if found.stopped and not found.rows:
        return f"interrupted in {found.stopped}, so nothing was confirmed"
    count = sum(bool(row.cell.values) for row in found.rows)
    said = f"{len(found.broken)} of {count} nominated constructions confirmed to fail in more than {UNBROKEN:.0%}"
    if not count:
        said = "no construction stood out in the search"
    return said + (f" (interrupted in {found.stopped})" if found.stopped else "")


def _unbroken_takes(rows: int) -> str:
    least = next(n for n in range(1, 10_000) if (0.05 / rows) ** (1 / n) > 1 - UNBROKEN)
    return f'"unbroken" takes an upper bound under {UNBROKEN:.0%}: here 0 of {least} clusters or more.'


def _cells(row: Row, number: str) -> tuple[str, ...]:
    return (
        number, f"{row.rate:.0%}", f"[{100 * row.low:.0f}, {100 * row.high:.0f}]", f"{row.failed} of {row.n}",
        f"{CHANCE:.0%}", f"{row.surface_rate:.0%} {row.surface}", row.verdict, row.cell.says,
    )  # fmt: skip


def _example(row: Row, number: str, form: Form | None, to_read: tuple[Item, ...]) -> Iterator[str]:
    yield f"{number}  {row.cell.says}"
    known = row.searched
    yield f"   in the search {known.rate:.0%} of {known.clusters} clusters failed; median margin {row.margin:+.4f}"
    if row.example:
        yield from _triplet("an error", row.example.triplet)
    if form:
        yield from _triplet(f"its shortest form, margin {form.margin:+.4f}", form.item)
    for item in to_read:
        yield from _triplet("to read, never scored", item.triplet)


def _triplet(what: str, triplet: Triplet) -> Iterator[str]:
    yield f"   {what}"
    yield f"     source   {triplet.source}"
    for name, text in (("kept", triplet.near), ("changed", triplet.far)):
        yield f"     {name:7}  {marked(triplet.source, text, edits(triplet.source, text))}"


def _coverage(found: Found, budget: Budget, encoded: int) -> Iterator[str]:
    for one in found.searched:
        yield from _searched(one)
    bounds = [f"{budget.texts:,} texts"] if budget.texts is not None else []
    bounds += [f"{budget.seconds / 60:g} minutes"] if budget.seconds is not None else []
    yield (
        f"budget {' and '.join(bounds)}: {found.asked:,} texts asked for, {encoded:,} of them encoded, the others from "
        f"the store; {found.seconds / 60:.1f} minutes"
    )
    if budget.seconds is not None and not all(one.is_finished for one in found.searched):
        yield "time ended the search, so another run may end elsewhere; --texts N without --minutes repeats exactly"


def _searched(one: Searched) -> Iterator[str]:
    search, confirmation, reading = one.clusters
    yield (
        f"{one.property}: {search} clusters to search, {confirmation} to confirm, {reading} to read; the search asked "
        f"for {one.asked} items; frames filled again gave {one.filled} more"
    )
    yield (
        f"  {one.tried} of {one.total} constructions tried, {one.total - one.open} without enough frames "
        f"({SEARCH} to search, {CONFIRMATION} to confirm); "
        + ("the search ran to its end" if one.is_finished else "the budget ended the search")
    )
