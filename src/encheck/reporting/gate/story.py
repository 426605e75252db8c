"""A gate told to whoever decides: the answer, and what got worse."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Literal

from encheck.gating.types import ChangedQuery, GateAgainst, GateRow, LostExample, UnjudgedSearch
from encheck.reporting.gate.names import name_of, with_data
from encheck.reporting.gate.words import is_after_encoding, ruled_out, weighed_in

Tone = Literal["good", "bad", "open"]
TONES: Mapping[str, Tone] = {"pass": "good", "block": "bad", "inconclusive": "open"}
NEW = "the new model"
NAMED = 3  # things that a sentence lists
MAY_BE_WORSE, OPEN = "may have got worse", "is open"  # the second where more was won than lost
UNITS = {"query": "queries", "pair": "pairs", "comparison": "comparisons", "item": "items"}
OF_FAMILIES = {"retrieval": "query", "pairs": "pair"}
LOST = "Lost: right before, wrong now. Won: the other way round."
COMPARISON = "A comparison asks which of two texts is nearer to a third."


@dataclass(frozen=True)
class Loss:
    """Something that got worse, or may have.

    `name` is what, `how` says by how much in the unit of the user, `figures` both figures and what matters, and `means`
    what follows for users. `row` is a row of the gate, or a search without labels; None for a broken contract.
    """

    name: str
    how: str
    figures: str
    means: str
    row: GateRow | UnjudgedSearch | None = None

    @property
    def title(self) -> str:
        """Name and amount in a line."""
        return f"{self.name} {self.how}"

    @property
    def place(self) -> str:
        """The name of the row, "" for a broken contract."""
        return self.row.name if self.row else ""

    @property
    def queries(self) -> Sequence[ChangedQuery]:
        """Queries that were lost, or of a search without labels those whose first answer changed."""
        if isinstance(self.row, UnjudgedSearch):
            return self.row.lost_queries or self.row.changed_queries
        return self.row.lost_queries if self.row else ()

    @property
    def items(self) -> Sequence[LostExample]:
        """Other items that were lost, with their texts; not those whose scores do not show it (a threshold decides)."""
        found = self.row.lost_examples if isinstance(self.row, GateRow) else ()
        return [one for one in found if _shows_the_loss(one)]


def _shows_the_loss(example: LostExample) -> bool:
    """Whether the text that should be farther is at least as near now, where an item has both texts."""
    now = {text.side: text.now for text in example.texts if isfinite(text.now)}
    return "near" not in now or "far" not in now or now["far"] >= now["near"]


@dataclass(frozen=True)
class Story:
    """The verdict against one baseline: the answer, its reason in a sentence or two, and what got worse.

    `legend` explains the words for amounts, and `others` are reasons that no row gives.
    """

    tone: Tone
    answer: str
    lead: str
    losses: tuple[Loss, ...]
    legend: str
    others: tuple[str, ...]


def story(against: GateAgainst, *, candidate: str = NEW) -> Story:
    """The story of a gate against one baseline."""
    losses = tuple(_losses(against))
    told = {loss.place for loss in losses if loss.row}
    others = tuple(text for text in against.reasons if not _is_told(text, told))
    answer, lead = _answer(against, candidate), _lead(against, losses)
    return Story(TONES[against.outcome], answer, lead, losses, _legend(losses), others)


def _is_told(reason: str, rows: set[str]) -> bool:
    return reason.startswith("contract broken: ") or any(reason.startswith(f"{name}: ") for name in rows)


def _answer(against: GateAgainst, candidate: str) -> str:
    old, partial = against.baseline, against.partial
    if against.reindex and against.reindex.same_model:
        undecided = "Partial: " if partial else "Not yet: "
        start = {"pass": "Yes: ", "block": "No: ", "inconclusive": undecided}[against.outcome]
        return f"{start}{candidate} is the same model as {old}: no vector moved"
    if (faults := against.index_faults) and against.outcome != "block":
        return f"Not yet: repair the index of {old} first, since {faults.says}"
    if against.yours:
        return f"Your decision: {candidate} may replace {old}, but for {listed(against.yours)}"
    if partial and against.outcome == "inconclusive":
        what = f"a part of the checks ({named})" if (named := weighed_in(partial)) else "a part of the checks"
        return f"Partial: only {what} was weighed, so the gate cannot tell whether {candidate} can take {old}'s place"
    after = ", after re-encoding" if is_after_encoding(against) else ""
    return {
        "pass": f"Yes{after}: {candidate} may replace {old}",
        "block": f"No: do not replace {old} with {candidate}",
        "inconclusive": f"Not yet: the gate cannot tell whether {candidate} may replace {old}",
    }[against.outcome]


def _lead(against: GateAgainst, losses: Sequence[Loss]) -> str:
    """The weightiest reason in plain words, and what else there is."""
    if yours := against.yours:
        fallen, others = against.reasons[: len(yours)], against.reasons[len(yours) :]
        return f"{'; '.join(fallen)}. Otherwise: {_joined(others, against)}."
    if against.outcome == "pass" and against.purpose != "change":
        said = _joined(against.reasons, against)
        return f"{said[:1].upper()}{said[1:]}."
    if against.outcome == "pass":
        return _nothing_lost(against)
    if not losses:
        return "" if against.outcome == "block" else "No loss that matters is shown, and none is ruled out."
    first, *more = losses
    also = "Also worse" if against.outcome == "block" else "Also open"
    names = listed([_in_a_sentence(loss.name) for loss in more])
    return f"{first.title}." + (f" {also}: {names}." if more else "")


def _joined(reasons: Sequence[str], against: GateAgainst) -> str:
    """The reasons in a line, without the names of rows."""
    rows = {*(row.name for row in against.rows), *(search.name for search in against.searches)}
    parts = [(text.partition(": "), text) for text in reasons]
    return "; ".join(said if row in rows else text for (row, _, said), text in parts)


def _in_a_sentence(name: str) -> str:
    return name[0].lower() + name[1:]


def listed(names: Sequence[str]) -> str:
    """Names as a sentence lists them: the first, and how many more.

    >>> listed(["search"]), listed(["a", "b", "c", "d", "e"])
    ('search', 'a, b, c and 2 more')
    """
    names = list(dict.fromkeys(names))
    more = len(names) - NAMED
    if more > 0:
        return f"{', '.join(names[:NAMED])} and {more} more"
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def _nothing_lost(against: GateAgainst) -> str:
    """Of how much a pass was seen."""
    rows = [row for row in against.rows if row.gates and row.evidence]
    items = sum(row.n for row in rows)
    asked = sum(search.queries for search in against.searches)
    kinds = f" of {len(rows)} kinds" if len(rows) > 1 else ""
    seen = [f"{items:,} items{kinds}"] * bool(items) + [f"{asked:,} logged queries"] * bool(asked)
    said = f"No loss that matters was found in {' and '.join(seen)}." if seen else "No loss was found."
    limits = ruled_out(against)
    return f"{said} {limits}." if limits else said


def _losses(against: GateAgainst) -> Iterator[Loss]:
    """What blocks, or keeps the gate open: contracts, searches without labels, rows in the order of the reasons."""
    if against.outcome == "pass":
        return
    worse = "got worse" if against.outcome == "block" else MAY_BE_WORSE
    yield from map(_of_contract, against.contracts)
    for search in against.searches:
        if search.blocks if against.outcome == "block" else not search.passes:
            yield _of_search(search, worse)
    is_several = with_data(against.rows)
    for row in _by_reason([row for row in against.rows if _counts(row, against)], against.reasons):
        yield _of_row(row, name_of(row, with_data=is_several), worse)


def _of_contract(text: str) -> Loss:
    """A broken contract: what is broken, then its cause and what that means."""
    name, _, cause = text.partition(": ")
    return Loss("A contract", f"is broken: {name}", "", cause)


def _by_reason(rows: Sequence[GateRow], reasons: Sequence[str]) -> list[GateRow]:
    """What people count goes before scores, then the weightiest reason."""
    places = {text.partition(": ")[0]: i for i, text in reversed([*enumerate(reasons)])}
    return sorted(rows, key=lambda row: (row.kind != "rate", places.get(row.name, len(places))))


def _counts(row: GateRow, against: GateAgainst) -> bool:
    """Whether the row decides: a part does so by itself only where its whole does not block."""
    if against.outcome == "block":
        blocked = {one.name for one in against.rows if one.outcome == "block"}
        return row.outcome == "block" and row.part_of not in blocked
    is_open = row.outcome == "inconclusive" and not row.part_of
    if against.purpose != "change":  # every component counts, and nothing else
        return is_open and any(text.startswith(f"{row.name}: ") for text in against.reasons)
    return is_open and (row.evidence or row.budget == "primary")


def _of_row(row: GateRow, name: str, worse: str) -> Loss:
    figures = f"{_before_and_now(row)} {_matters(row)}"
    how = worse if row.outcome == "block" or not _won_more(row) else OPEN
    return Loss(name, f"{how}: {_amount_lost(row)}", figures, row.means, row)


def _won_more(row: GateRow) -> bool:
    """Whether the figure rose, or more was won than lost: that such a row may have got worse would mislead."""
    won, lost = (row.gained, row.lost) if row.kind == "rate" else (row.better_queries or 0, row.worse_queries or 0)
    return won > lost or row.change > 0


def _amount_lost(row: GateRow) -> str:
    """What was lost in the unit of the user; both scores of what nobody counts."""
    of = f" of {row.n:,}" if row.n else ""
    if row.kind == "rate":
        won = f", {row.gained:,} won" if row.gained else ""
        return f"{row.lost:,}{of} {UNITS[unit_of(row)]} lost{won}"
    if row.worse_queries:
        return f"{row.worse_queries:,}{of} queries are answered worse, {row.better_queries or 0:,} better"
    return f"its score went from {_scores(row)}"


def _before_and_now(row: GateRow) -> str:
    if row.kind == "rate":
        return f"Right in {100 * row.baseline:.1f}% before, in {100 * row.candidate:.1f}% now."
    return f"{row.endpoint or 'Score'}: {_scores(row)}."


def _scores(row: GateRow) -> str:
    return " to ".join(f"{side:.3f}" if isfinite(side) else "none" for side in (row.baseline, row.candidate))


def _matters(row: GateRow) -> str:
    """The loss that matters, and of a row that is open how large the loss may be."""
    matters = f"A loss of {_amount(row, row.delta)} matters"
    if row.outcome == "block" or not isfinite(row.low) or row.low >= 0:
        return f"{matters}."
    return f"{matters}, and this may be one of {_amount(row, -row.low)} (the lower end of the 95% interval)."


def _amount(row: GateRow, value: float) -> str:
    return f"{round(100 * value, 1):g} points" if row.kind == "rate" else f"{value:.2g}"


def unit_of(row: GateRow) -> str:
    """What the row counts: a query, a pair, or a comparison of one text with two others; else an item."""
    if row.family in OF_FAMILIES:
        return OF_FAMILIES[row.family]
    sides = {text.side for one in row.lost_examples for text in one.texts}
    return "item" if not sides else "pair" if sides == {"pair"} else "comparison"


def _of_search(search: UnjudgedSearch, worse: str) -> Loss:
    """A search without labels: what people said of it, or how many first answers changed, which nobody judged."""
    judged = search.judged
    if judged and judged.asked:
        worse = OPEN if worse == MAY_BE_WORSE and judged.new > judged.old else worse
        told = f"in {judged.old:,} of {judged.old + judged.new:,} judged answers the old one is better"
    else:
        told = f"{search.shares[0].queries:,} of {search.queries:,} logged queries have another first answer"
    return Loss("Search", f"{worse}: {told}", search.says, "", search)


def _legend(losses: Sequence[Loss]) -> str:
    """What the amounts count, where they do."""
    units = {unit_of(row) for loss in losses if isinstance(row := loss.row, GateRow) and row.kind == "rate"}
    return " ".join([LOST] * bool(units) + [COMPARISON] * ("comparison" in units))
