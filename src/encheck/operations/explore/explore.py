"""From material to rows: search, fix the size of the confirmation, draw, confirm, and keep some items for people to
read.

The size of the confirmation is fixed first. Then its items are drawn, one per cluster, and scored. So the items of a
row are independent, and their failure rate has Clopper and Pearson's interval, corrected for all planned rows
(Bonferroni). With 95% probability all intervals hold at once, regardless of how the search found the rows.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from encheck.datasets.fresh_probes import diff_words
from encheck.errors import EncoderError
from encheck.generators.phenomenon import all_phenomena, phenomenon_generator
from encheck.items.builders import contrast
from encheck.items.variants import VariantMaker
from encheck.language.english import English
from encheck.metrics.pairs import margin_wins
from encheck.operations.explore.material import (
    FRAMES,
    ExploredItem,
    Material,
    SplitItems,
    hash_fraction,
    item_texts,
    split_items,
)
from encheck.operations.explore.search import (
    CONFIRMATION_CLUSTERS,
    SEARCH_CLUSTERS,
    Construction,
    ConstructionSearch,
    MarginMeter,
    ScorePairs,
    SearchBudget,
    SearchEstimate,
    count_clusters,
    list_constructions,
)
from encheck.reporting.text import mark_edits, table
from encheck.scoring.crossed import Crossed
from encheck.scoring.triplets import Triplet
from encheck.shrinking.shrink import ItemForm, ShrinkResult, make_triplet_remaker, shrink_item
from encheck.statistics.hypothesis_tests import ALPHA, clopper_pearson_interval, share_upper_bound
from encheck.surface import SHARED, SURFACE

CLUSTERS_PER_ROW = (200, 150, 120, 100, 80, 60, 45, 30, 20, CONFIRMATION_CLUSTERS)  # clusters per row
UNBROKEN = 0.05
CHANCE = 0.5
BROKEN, HOLDS, UNDECIDED = "breaks", "unbroken", "not enough frames to say"


@dataclass(frozen=True)
class PlannedRow:
    """A row before it is scored: a construction with its search estimate, and one item from each cluster."""

    cell: Construction
    searched: SearchEstimate
    items: tuple[ExploredItem, ...]


@dataclass(frozen=True)
class ConfirmedRow:
    """A confirmed row: the number of clusters on which the model errs, with the simultaneous 95% interval.

    `upper` is the one-sided simultaneous bound, which decides "unbroken". `surface` is the surface scorer with the
    fewest errors on the same items; a tie counts as half an error. `margin` is the median margin.
    """

    cell: Construction
    searched: SearchEstimate
    failed: int
    n: int
    low: float
    high: float
    upper: float
    surface: str
    surface_rate: float
    margin: float
    items: tuple[ExploredItem, ...]
    margins: tuple[float, ...]

    @property
    def rate(self) -> float:
        """The share of clusters on which the model errs."""
        return self.failed / self.n

    @property
    def verdict(self) -> str:
        """The verdict: the model is shown to fail in more than 5% of clusters, in fewer, or neither is shown."""
        if self.low > UNBROKEN:
            return BROKEN
        return HOLDS if self.upper < UNBROKEN else UNDECIDED

    @property
    def example(self) -> ExploredItem | None:
        """The failure with the median margin, None without failures."""
        lost = sorted((m, i) for i, m in enumerate(self.margins) if m <= 0)
        return self.items[lost[len(lost) // 2][1]] if lost else None


def plan_confirmation(
    rows: Sequence[tuple[Construction, SearchEstimate]], items: Sequence[ExploredItem], meter: MarginMeter, *, seed: int
) -> tuple[list[PlannedRow], list[Construction]]:
    """Return the planned rows and the constructions left out. Each row has as many clusters as the budget allows.

    Whole properties come first, and are planned regardless of their cost. The items of the rows have not been scored
    yet.
    """
    wholes = sum(not cell.values for cell, _ in rows)
    for count in range(len(rows), wholes - 1, -1):
        for size in CLUSTERS_PER_ROW:
            found = [_draw_items(cell, known, items, size, seed) for cell, known in rows[:count]]
            if meter.count_new_texts([item for row in found for item in row.items]) <= meter.texts_left:
                return found, [cell for cell, _ in rows[count:]]
    smallest = [_draw_items(cell, known, items, CLUSTERS_PER_ROW[-1], seed) for cell, known in rows[:wholes]]
    return smallest, [cell for cell, _ in rows[wholes:]]


def _draw_items(
    cell: Construction, known: SearchEstimate, items: Sequence[ExploredItem], max_clusters: int, seed: int
) -> PlannedRow:
    """Return one item from each of at most `max_clusters` clusters. Clusters and items are drawn by hash."""
    by_cluster: dict[str, list[ExploredItem]] = defaultdict(list)
    for item in items:
        if cell.contains(item):
            by_cluster[item.cluster].append(item)
    names = sorted(by_cluster, key=lambda name: hash_fraction(seed, "confirm", name))[:max_clusters]
    one = (min(by_cluster[name], key=lambda item: hash_fraction(seed, "item", *item.margin_texts)) for name in names)
    return PlannedRow(cell, known, tuple(one))


def confirm_row(row: PlannedRow, margins: Sequence[float], *, of: int) -> ConfirmedRow:
    """Return the confirmed row, computed from the margins of its items.

    The intervals are corrected for `of` planned rows.
    """
    failed, n = sum(margin <= 0 for margin in margins), len(margins)
    low, high = clopper_pearson_interval(failed, n, alpha=ALPHA / of)
    sources, near, far = ([getattr(item.triplet, side) for item in row.items] for side in ("source", "near", "far"))
    rates = {
        name: float(1 - margin_wins(SURFACE[name](sources, near) - SURFACE[name](sources, far)).mean())
        for name in SHARED
    }
    best = min(rates, key=lambda name: rates[name])
    return ConfirmedRow(
        row.cell, row.searched, failed, n, low, high, share_upper_bound(failed, n, alpha=ALPHA / of), best, rates[best],
        float(np.median(margins)), row.items, tuple(margins),
    )  # fmt: skip


MAX_UNSCORED = 2  # items per construction
Tell = Callable[[str], None]


@dataclass(frozen=True)
class SearchSummary:
    """The search of a property in numbers: cells tried, cells with enough clusters, and all cells."""

    property: str
    clusters: tuple[int, int, int]
    tried: int
    open: int
    total: int
    asked: int
    filled: int
    is_finished: bool


@dataclass
class Exploration:
    """The outcome: `rows` are confirmed; `unconfirmed` has cells with the reason why they are not.

    `held` has the items of the confirmation part, from which rows were drawn, and `to_read` unscored items. `asked`
    counts the distinct texts requested from the model. `speed` is in texts per second. `stopped` is the stage at which
    the search was interrupted, or at which the model failed (`failure`).
    """

    searched: list[SearchSummary] = field(default_factory=list)
    rows: list[ConfirmedRow] = field(default_factory=list)
    unconfirmed: list[tuple[Construction, str]] = field(default_factory=list)
    to_read: dict[Construction, tuple[ExploredItem, ...]] = field(default_factory=dict)
    held: tuple[ExploredItem, ...] = ()
    asked: int = 0
    seconds: float = 0.0
    speed: float = 0.0
    planned: int = 0
    stopped: str = ""
    failure: EncoderError | None = None

    @property
    def broken(self) -> list[ConfirmedRow]:
        """The constructions that are shown to break, without whole properties."""
        return [row for row in self.rows if row.cell.values and row.verdict == BROKEN]


def explore(
    materials: Sequence[Material], ask: ScorePairs, *, seed: int, budget: SearchBudget, tell: Tell = lambda _said: None
) -> Exploration:
    """Search each property for constructions that the model gets wrong, and confirm at most five of each.

    `ask` returns the similarities of pairs. After an interruption, or if the model fails, confirmed rows are kept. The
    same seed, material and model give the same outcome unless a time limit ends the search.

    Raises:
        EncoderError: the model failed before anything was confirmed.
    """
    meter, found = MarginMeter(ask, budget), Exploration()
    parts = {one.property: split_items(one.items, seed=seed) for one in materials}
    rows: list[tuple[Construction, SearchEstimate]] = []
    try:
        searches = _search_properties(materials, parts, meter, seed, found, tell)
        rows = [(cell, search.estimate(cell)) for search in searches
                for cell in [Construction(search.items[0].property)]]  # fmt: skip
        nominated = [(cell, search.estimate(cell)) for search in searches for cell in search.nominate_constructions()]
        rows += sorted(nominated, key=lambda one: (-one[1].low, one[0]))  # the highest lower bound first
        found.held = tuple(item for one in parts.values() for item in one.confirmation)
        plan, without_room = plan_confirmation(rows, found.held, meter, seed=seed)
        found.planned = len(plan)
        found.unconfirmed += [(cell, "no budget was left") for cell in without_room]
        for planned in plan:
            tell(f"to confirm: {planned.cell.says}: {len(planned.items)} clusters")
        for planned in plan:
            found.rows.append(confirm_row(planned, meter.margins(planned.items), of=len(plan)))
    except KeyboardInterrupt:
        found.stopped = "the confirmation" if rows else "the search"
    except EncoderError as failure:
        if not found.rows:
            raise
        found.stopped, found.failure = "the confirmation", failure
    done = {row.cell for row in found.rows} | {cell for cell, _ in found.unconfirmed}
    found.unconfirmed += [(cell, f"interrupted in {found.stopped}") for cell, _ in rows if cell not in done]
    for row in found.broken:  # one item per cluster that was neither searched nor confirmed
        unscored = {i.cluster: i for i in parts[row.cell.property].reading if row.cell.contains(i)}
        found.to_read[row.cell] = tuple(unscored.values())[:MAX_UNSCORED]
    found.asked, found.speed, found.seconds = len(meter.asked), meter.speed, budget.spent
    return found


def _search_properties(
    materials: Sequence[Material],
    parts: dict[str, SplitItems],
    meter: MarginMeter,
    seed: int,
    exploration: Exploration,
    tell: Tell,
) -> list[ConstructionSearch]:
    searches = []
    since = meter.budget.spent
    for number, one in enumerate(materials):
        own = parts[one.property]
        if not own.search or not own.confirmation:
            exploration.unconfirmed.append((Construction(one.property), "too few clusters to search and to confirm"))
            continue
        others = frozenset(item_texts((*own.confirmation, *own.reading)))
        search = ConstructionSearch(
            list(own.search), list_constructions(own.search, own.confirmation), seed, one.more, others
        )
        limit, until = meter.budget.search_ends(len(materials) - number, used=len(meter.asked), since=since)
        try:
            search.run(meter, limit=limit, until=until)
        finally:
            first, second, third = (count_clusters(some, range(len(some))) for some in own)
            exploration.searched.append(
                SearchSummary(
                    search.items[0].property, (first, second, third), search.tried, len(search.cells.open),
                    search.cells.total, len(search.failed), search.filled, search.is_finished,
                )
            )  # fmt: skip
        searches.append(search)
        tell(f"{one.property}: searched {search.tried} of {len(search.cells.open)} constructions")
    return searches


def contrast_lines(rows: Sequence[ConfirmedRow], items: Sequence[ExploredItem]) -> Iterator[str]:
    """Yield a line of JSON for each group of a row's construction. If two constructions contain a group, use the better
    row.

    The items have to be those of the confirmation part. Right and wrong items are both written, because a set of one
    model's errors would favour the next model.
    """
    known: dict[tuple[str, ...], dict[str, str]] = {}
    for row in rows:
        for item in filter(row.cell.contains, items):
            texts = contrast_texts(item.whole)
            if texts is not None and texts not in known:
                known[texts] = {
                    **dict(zip(("q1", "q2", "doc1", "doc2"), texts, strict=True)), "cluster": item.cluster,
                    "property": item.property, "construction": row.cell.says,
                }  # fmt: skip
    yield from (json.dumps(one, ensure_ascii=False) for one in known.values())


def contrast_texts(whole: Crossed) -> tuple[str, str, str, str] | None:
    """Return two queries and the right document for each, or None if two of the texts are the same."""
    first, second = whole.sides
    found = (first.source, second.source, first.near, first.far)
    return found if len({found[0], found[1]}) == len({found[2], found[3]}) == 2 else None


SHRINK_BUDGET = 200  # pairs


def shortest_form(item: ExploredItem, ask: ScorePairs, english: English, *, seed: int) -> ItemForm | None:
    """Return the shortest form that the model still gets wrong by half the margin.

    Return None if nothing can be removed.
    """
    triplet = item.triplet
    if dict(item.values)["origin"] == FRAMES:  # the certificate covers the filled words; only the rest may go
        triplet = replace(triplet, near_why="", far_why="", near_edits=(), far_edits=())
    remake = None
    if item.property in all_phenomena():
        both = contrast(phenomenon_generator(item.property, "kept"), phenomenon_generator(item.property, "changed"))
        remake = make_triplet_remaker(both, level=1, maker=VariantMaker(seed, english))
    found = shrink_item(triplet, ask, english, remake=remake, budget=SHRINK_BUDGET)
    return found.shortest if isinstance(found, ShrinkResult) and found.shortest is not found.whole else None


HEAD = ("#", "fails", "95%", "clusters", "chance", "best surface scorer", "verdict", "construction")


def exploration_lines(
    exploration: Exploration, model: str, *, shrunk: Mapping[Construction, ItemForm], budget: SearchBudget, encoded: int
) -> Iterator[str]:
    """Yield the table of rows, an example for each row that breaks, and the coverage of the search."""
    numbers = {row.cell: str(n) for n, row in enumerate((r for r in exploration.rows if r.cell.values), 1)}
    count = sum(bool(row.cell.values) for row in exploration.rows)
    outcome = "no construction stood out in the search"
    if count:
        outcome = (
            f"{len(exploration.broken)} of {count} nominated constructions confirmed "
            f"to fail in more than {UNBROKEN:.0%}"
        )
    if exploration.stopped:
        outcome += f" (interrupted in {exploration.stopped})"
    if exploration.stopped and not exploration.rows:
        outcome = f"interrupted in {exploration.stopped}, so nothing was confirmed"
    yield f"Where {model} breaks: {outcome}"
    yield ""
    if exploration.rows:
        lines = [
            (numbers.get(row.cell, ""), f"{row.rate:.0%}", f"[{100 * row.low:.0f}, {100 * row.high:.0f}]",
             f"{row.failed} of {row.n}", f"{CHANCE:.0%}", f"{row.surface_rate:.0%} {row.surface}", row.verdict,
             row.cell.says)
            for row in exploration.rows
        ]  # fmt: skip
        yield from table([HEAD, *lines])
        what = (
            f"The intervals hold for all {exploration.planned} rows at once"
            if exploration.planned > 1
            else "The interval holds"
        )
        yield f"{what}: none of these clusters was used in the search, and their number was fixed"
        least = next(n for n in range(1, 10_000) if (0.05 / exploration.planned) ** (1 / n) > 1 - UNBROKEN)
        need = f"an upper bound under {UNBROKEN:.0%}: here 0 failures in {least} clusters or more."
        yield f'before any was drawn. "unbroken" needs {need}'
    for row in exploration.rows:
        if row.cell.values:
            yield from (
                "",
                *_example_lines(row, numbers[row.cell], shrunk.get(row.cell), exploration.to_read.get(row.cell, ())),
            )
    yield ""
    yield from (f"not confirmed, {why}: {cell.says}" for cell, why in exploration.unconfirmed)
    for one in exploration.searched:
        yield from _search_lines(one)
    bounds = [f"{budget.texts:,} texts"] if budget.texts is not None else []
    bounds += [f"{budget.seconds / 60:g} minutes"] if budget.seconds is not None else []
    yield (
        f"budget {' and '.join(bounds)}: {exploration.asked:,} texts used, {encoded:,} of them encoded, the others "
        f"from the store; {exploration.seconds / 60:.1f} minutes"
    )
    if budget.seconds is not None and not all(one.is_finished for one in exploration.searched):
        yield "time ended the search, so another run may differ; --texts N without --minutes is repeatable"


def _example_lines(
    row: ConfirmedRow, number: str, form: ItemForm | None, to_read: tuple[ExploredItem, ...]
) -> Iterator[str]:
    yield f"{number}  {row.cell.says}"
    known = row.searched
    yield f"   in the search {known.rate:.0%} of {known.clusters} clusters failed; median margin {row.margin:+.4f}"
    if row.example:
        yield from _triplet_lines("an error", row.example.triplet)
    if form:
        yield from _triplet_lines(f"its shortest form, margin {form.margin:+.4f}", form.item)
    for item in to_read:
        yield from _triplet_lines("an unscored item to read", item.triplet)


def _triplet_lines(what: str, triplet: Triplet) -> Iterator[str]:
    yield f"   {what}"
    yield f"     source   {triplet.source}"
    for name, text in (("kept", triplet.near), ("changed", triplet.far)):
        yield f"     {name:7}  {mark_edits(triplet.source, text, diff_words(triplet.source, text))}"


def _search_lines(one: SearchSummary) -> Iterator[str]:
    search, confirmation, reading = one.clusters
    yield (
        f"{one.property}: {search} clusters to search, {confirmation} to confirm, {reading} to read; the search scored "
        f"{one.asked} items; refilled frames gave {one.filled} more"
    )
    yield (
        f"  {one.tried} of {one.total} constructions tried, {one.total - one.open} without enough frames "
        f"({SEARCH_CLUSTERS} to search, {CONFIRMATION_CLUSTERS} to confirm); "
        + ("the search ran to its end" if one.is_finished else "the budget ended the search")
    )
