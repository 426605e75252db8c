"""From material to rows: search, fix the size of the confirmation, draw, confirm, and leave some to read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from encheck.errors import EncoderError
from encheck.operations.explore.asking import Ask, Budget, Meter
from encheck.operations.explore.cells import Cell, catalogue, clusters_among
from encheck.operations.explore.confirm import BROKEN, Row, confirmed, planned
from encheck.operations.explore.material import Item, Material
from encheck.operations.explore.parts import Parts, parted, texts_of
from encheck.operations.explore.search import Search, Standing

TO_READ = 2  # items a construction
Tell = Callable[[str], None]


@dataclass(frozen=True)
class Searched:
    """What the search of one property came to: cells that were tried, of those with enough clusters, of all."""

    property: str
    clusters: tuple[int, int, int]
    tried: int
    open: int
    total: int
    asked: int
    filled: int
    is_finished: bool


@dataclass
class Found:
    """The outcome: `rows` are confirmed, `unconfirmed` has cells with the reason why they are not.

    `held` has the items of the part that confirms, of which rows drew some, and `to_read` some that nobody scored.
    `asked` counts distinct texts that the model was asked for, `speed` how many a second; `stopped` says where somebody
    interrupted it, or where the model failed with `failure`.
    """

    searched: list[Searched] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)
    unconfirmed: list[tuple[Cell, str]] = field(default_factory=list)
    to_read: dict[Cell, tuple[Item, ...]] = field(default_factory=dict)
    held: tuple[Item, ...] = ()
    asked: int = 0
    seconds: float = 0.0
    speed: float = 0.0
    planned: int = 0
    stopped: str = ""
    failure: EncoderError | None = None

    @property
    def broken(self) -> list[Row]:
        """The constructions, no whole property among them, that are shown to break."""
        return [row for row in self.rows if row.cell.values and row.verdict == BROKEN]


def explore(
    materials: Sequence[Material], ask: Ask, *, seed: int, budget: Budget, tell: Tell = lambda _said: None
) -> Found:
    """Search each property for constructions that the model gets wrong, and confirm at most five of each.

    `ask` gives the similarities of pairs. An interruption, or a model that fails, keeps the rows that are confirmed.
    The same seed, material and model give the same outcome unless time bounds it.

    Raises:
        EncoderError: the model failed before anything was confirmed.
    """
    meter, found = Meter(ask, budget), Found()
    parts = {one.property: parted(one.items, seed=seed) for one in materials}
    rows: list[tuple[Cell, Standing]] = []
    try:
        searches = _searched(materials, parts, meter, seed, found, tell)
        rows = _rows(searches)
        _confirm(rows, parts, meter, seed, found, tell)
    except KeyboardInterrupt:
        found.stopped = "the confirmation" if rows else "the search"
    except EncoderError as failure:
        if not found.rows:
            raise
        found.stopped, found.failure = "the confirmation", failure
    done = {row.cell for row in found.rows} | {cell for cell, _ in found.unconfirmed}
    found.unconfirmed += [(cell, f"interrupted in {found.stopped}") for cell, _ in rows if cell not in done]
    found.to_read = {row.cell: _to_read(row.cell, parts) for row in found.broken}
    found.asked, found.speed, found.seconds = len(meter.asked), meter.speed, budget.spent
    return found


def _searched(
    materials: Sequence[Material], parts: dict[str, Parts], meter: Meter, seed: int, found: Found, tell: Tell
) -> list[Search]:
    searches = []
    since = meter.budget.spent
    for number, one in enumerate(materials):
        own = parts[one.property]
        if not own.search or not own.confirmation:
            found.unconfirmed.append((Cell(one.property), "too few clusters for a part to confirm"))
            continue
        others = frozenset(texts_of((*own.confirmation, *own.reading)))
        search = Search(list(own.search), catalogue(own.search, own.confirmation), seed, one.more, others)
        limit, until = meter.budget.search_ends(len(materials) - number, used=len(meter.asked), since=since)
        try:
            search.run(meter, limit=limit, until=until)
        finally:
            found.searched.append(_summary(search, own))
        searches.append(search)
        tell(f"{one.property}: searched {search.tried} of {len(search.cells.open)} constructions")
    return searches


def _summary(search: Search, parts: Parts) -> Searched:
    clusters = [clusters_among(some, range(len(some))) for some in parts]
    first, second, third = clusters
    return Searched(
        search.items[0].property, (first, second, third), search.tried, len(search.cells.open), search.cells.total,
        len(search.failed), search.filled, search.is_finished,
    )  # fmt: skip


def _rows(searches: Sequence[Search]) -> list[tuple[Cell, Standing]]:
    """Every property as a whole, then what was nominated of all, the highest lower bound first."""
    wholes = [(cell, search.standing(cell)) for search in searches for cell in [Cell(search.items[0].property)]]
    nominated = [(cell, search.standing(cell)) for search in searches for cell in search.nominated()]
    return [*wholes, *sorted(nominated, key=lambda one: (-one[1].low, one[0]))]


def _confirm(
    rows: Sequence[tuple[Cell, Standing]], parts: dict[str, Parts], meter: Meter, seed: int, found: Found, tell: Tell
) -> None:
    found.held = tuple(item for one in parts.values() for item in one.confirmation)
    plan, without_room = planned(rows, found.held, meter, seed=seed)
    found.planned = len(plan)
    found.unconfirmed += [(cell, "no budget was left") for cell in without_room]
    for row in plan:
        tell(f"to confirm: {row.cell.says}: {len(row.items)} clusters")
    for done in confirmed(plan, meter):
        found.rows.append(done)


def _to_read(cell: Cell, parts: dict[str, Parts]) -> tuple[Item, ...]:
    """A few items of a construction, of clusters that were neither searched nor confirmed; one a cluster."""
    own = [item for item in parts[cell.property].reading if cell.holds(item)]
    return tuple({item.cluster: item for item in own}.values())[:TO_READ]
