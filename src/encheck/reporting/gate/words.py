"""Describe a gate in words for the person who decides: row names, the verdict, and the losses."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from types import MappingProxyType
from typing import Literal

from encheck.gating.purpose import ACCEPTED
from encheck.gating.types import (
    DEFAULT,
    ChangedQuery,
    Gate,
    GateAgainst,
    GateDecision,
    GateRow,
    LostExample,
    PartialGate,
    UnjudgedSearch,
)
from encheck.ids import GateRowId
from encheck.reporting.text import plain_name
from encheck.reporting.view import format_figure

PARTS: Mapping[str, str] = MappingProxyType(
    {
        "known": "by title or heading",
        "direction-1": "where the wording helps",
        "direction-2": "where the wording misleads",
    }
)
OF_THE_SPACE: Mapping[str, str] = MappingProxyType(
    {
        "evenness": "Variety of search results",
        "rate": "Search among unrelated texts",
        "room": "Distance of unrelated texts",
        "steadiness": "Steady scores of unrelated texts",
    }
)


def gate_row_name(row: GateRow, *, with_data: bool = False) -> str:
    """Return the name of a gate row in plain words; `with_data` adds the data set."""
    found = GateRowId(row.name)
    *_, last = found.split("/")
    if row.endpoint.startswith(ACCEPTED):
        return "Accepted pairs" + (f" of {found}" if with_data and found != "pairs" else "")
    if found.property == "health" and last in OF_THE_SPACE:
        return OF_THE_SPACE[last] + (f" on {found.data}" if with_data else "")
    said = plain_name(found.property)
    said = said[:1].upper() + said[1:]
    data = f" on {found.data}" if with_data and found.data else ""
    level, parts = found.below_data[:1], found.below_data[1:]
    own = [PARTS.get(part, part) for part in parts]
    if level and level[0] in PARTS:  # the row's part of a capability, or the level that distinguishes its parts
        own.insert(0, PARTS[level[0]])
    elif level and row.part_of and level[0] != "1":
        own.insert(0, f"level {level[0]}")
    return ", ".join([said + data, *own])


def have_several_data_sets(rows: Iterable[GateRow]) -> bool:
    """Return whether the rows come from several data sets. If so, their names must include the data set."""
    return len({GateRowId(row.name).data for row in rows}) > 1


WORDS = {"pass": "PASSED", "block": "BLOCKED", "inconclusive": "INCONCLUSIVE"}
YOURS = "YOUR DECISION"
AFTER = ", AFTER RE-ENCODING"
SAME_MODEL = "The candidate is the same model: no vector moved"
MAX_PROPERTIES_NAMED = 3


def outcome_word(against: GateAgainst) -> str:
    """Return the outcome in capitals: PASSED (perhaps AFTER RE-ENCODING), BLOCKED, INCONCLUSIVE, or YOUR DECISION."""
    if against.yours:
        return YOURS
    if against.outcome == "pass" and is_after_encoding(against):
        return WORDS["pass"] + AFTER
    return WORDS[against.outcome]


def is_after_encoding(against: GateAgainst) -> bool:
    """Return whether documents must be encoded again before the candidate can search them."""
    return bool(against.reindex and against.reindex.needed)


def what_has_to_change(against: GateAgainst) -> list[str]:
    """Return what has to change with the model, one sentence each.

    For a blocked candidate, return only faults of the old index.
    """
    found = list(against.required_changes)
    return found[: bool(against.index_faults)] if against.outcome == "block" else found


def partial_suffix(said: Gate | GateDecision) -> str:
    """Return a suffix for the verdict that names the checks behind the decision, or "" if it used all checks."""
    if not said.partial:
        return ""
    named = weighed_properties(said.partial)
    return f" (partial: {named})" if named else " (partial)"


def purpose_phrase(against: GateDecision) -> str:
    """Return a phrase with the purpose of the gate and its margin.

    >>> purpose_phrase(GateDecision("pass", (), (), purpose="search", margin=0.04))
    ', for another model for this search (a loss of 4 points must be ruled out)'
    """
    if against.purpose == "change" or against.margin is None:
        return ", for a changed model (no behaviour may be lost)"
    what = {"search": "this search", "pairs": "these pairs", "similarity": "these graded pairs"}[against.purpose]
    return f", for another model for {what} (a loss of {100 * against.margin:g} points must be ruled out)"


def weighed_properties(partial: PartialGate) -> str:
    """Return the names of the properties that a partial gate used. Only the first few are named.

    >>> weighed_properties(PartialGate(("antonym", "number"), ("roles",), "-m left out roles"))
    'opposites, numbers'
    """
    names = [plain_name(name) for name in partial.weighed]
    more = len(names) - MAX_PROPERTIES_NAMED
    return ", ".join(names[:MAX_PROPERTIES_NAMED]) + (f" and {more} more" if more > 0 else "")


def gate_title(against: GateAgainst) -> str:
    """Return the outcome, how far seed noise widened the deltas, and the judgements or queries that would decide."""
    told = [outcome_word(against), widening_note(against), endpoint_remedy(against)]
    if against.outcome == "inconclusive":
        told += map(deciding_judgements, against.searches)
    return ". ".join(filter(None, told))


def widening_note(against: GateAgainst) -> str:
    """Return a sentence on how far seed noise widened the loss that matters in gate rows, or "" if it did not."""
    wider = [row for row in against.rows if row.gates and row.widened > 1]
    if not wider:
        return ""
    most = {row.kind: row.delta for row in sorted(wider, key=lambda row: row.delta)}
    shown = [f"{100 * most['rate']:.1f} points"] if "rate" in most else []
    told = " and ".join([*shown, *([f"{most['mean']:.3f}"] if "mean" in most else [])])
    gates = sum(row.gates for row in against.rows)
    return f"Deltas widened to {told} by seed noise in {len(wider)} of {gates} gate rows"


def gate_headlines(gate: Gate) -> Iterator[str]:
    """Yield one line for the gate: the verdict and its main reason, or the human judgements that decided or would
    decide.

    A search without labels has its own line.
    """
    against = next((one for one in gate.against if one.outcome == gate.outcome), gate.against[0])
    start = f"GATE{partial_suffix(gate)}"
    said = []
    for search in against.searches:
        if against.outcome == "inconclusive" and search.judge and not against.yours:
            others = [text for text in against.reasons if text != f"{search.name}: {search.says}"]
            left = f" (reasons that remain: {len(others)})" if others else ""
            said.append(f"{start}: {outcome_word(against)}. {deciding_judgements(search)}{left}")
        elif (judged := search.judged) and judged.asked:
            decisive = against.reasons[0] if against.reasons else judged.said  # unless the judgements decided
            if gate.outcome == judged.outcome:
                decisive = judged.favoured_in_words if gate.outcome == "block" else f"{judged.said}; {judged.why}"
            said.append(f"{start}: {outcome_word(against)}. {decisive}; {judged.counts_in_words}")
    yield from said or [". ".join([f"{start}: {outcome_word(against)}", *_first_reason(gate, against)])]


def plain_reason(text: str, against: GateAgainst) -> str:
    """Return a reason with the plain name of its row."""
    place, sign, said = text.partition(": ")
    if any(search.name == place for search in against.searches):
        return f"{plain_name('retrieval').capitalize()}{sign}{said}"
    row = next((row for row in against.rows if row.name == place), None)
    return f"{gate_row_name(row, with_data=have_several_data_sets(against.rows))}{sign}{said}" if row else text


def remedies_in_words(against: GateAgainst) -> list[str]:
    """Return the remedies of an inconclusive gate, with plain names of rows instead of codes."""
    several = have_several_data_sets(against.rows)
    names = {row.name: f'"{gate_row_name(row, with_data=several)}"' for row in against.rows if "/" in row.name}
    if not names:
        return list(against.remedies)
    codes = re.compile(rf"(?<![\w/])({'|'.join(map(re.escape, names))})(?![\w/])")
    return [codes.sub(lambda code: names[code[0]], text) for text in against.remedies]


def ruled_out_loss(against: GateAgainst) -> str:
    """Return a sentence on the losses that a pass rules out in its rate rows, or "" if no rate row is evidence."""
    if against.purpose != "change":
        return ""  # the reasons of a pass say so for each component
    deltas = [row.delta for row in against.rows if row.kind == "rate" and row.gates and row.evidence]
    if not deltas:
        return ""
    most, estimate = (f"{round(100 * share * max(deltas), 1):g} points" for share in (DEFAULT.row, DEFAULT.estimate))
    return f"This rules out a loss of {most} in any row, and no estimated loss reaches {estimate}"


def _first_reason(gate: Gate, against: GateAgainst) -> Iterator[str]:
    """Yield the note on seed noise, the first reason in plain words, and whether the run fails despite a pass."""
    yield from filter(None, [widening_note(against)])
    losses = [loss.title if loss.row else f"{loss.title}: {loss.means}" for loss in _losses(against)
              if against.purpose == "change"]  # fmt: skip
    yield from (losses or [plain_reason(text, against) for text in against.reasons])[:1]
    if gate.outcome == "pass":
        yield from filter(None, [ruled_out_loss(against)])
    if gate.outcome == "pass" and gate.exit_code:
        yield f"The run still fails (exit code {gate.exit_code})"
    index = against.reindex
    if index and index.same_model:
        yield SAME_MODEL
    elif index and gate.outcome == "pass" and (index.needed or (index.texts and index.needed is None)):
        yield index.says[0].upper() + index.says[1:]


def deciding_judgements(search: UnjudgedSearch) -> str:
    """Return a sentence on what would decide a search without labels, or "" if the search is decided."""
    return search.asks[:1].upper() + search.asks[1:]


def inconclusive_lines(gate: Gate) -> list[str]:
    """Return a line that says how an inconclusive gate counts, or an empty list for a decided gate."""
    if gate.outcome != "inconclusive":
        return []
    if gate.partial:
        return [f"the gate is partial, so it can block but never pass: it counts as exit code {gate.exit_code}"]
    return [f"the gate is inconclusive, which counts as exit code {gate.exit_code} (--inconclusive pass|block)"]


def reason_lines(against: GateAgainst, *, commands: bool = True, remedies: bool = True) -> Iterator[str]:
    """Yield the reasons of the outcome, then remarks on re-indexing, thresholds, endpoints and searches.

    `commands` adds commands that would decide, and `remedies` other ways to decide.
    """
    yield from against.reasons
    # Whether stored vectors stay, and whether a threshold in use still fits; the outcome covers neither.
    if against.reindex:
        yield against.reindex.says
    yield from (one.says for one in against.scales)
    yield from (one.says for one in against.thresholds)
    yield from informational_changes(against)
    yield from (f"to decide: {text}" for text in remedies_in_words(against) if remedies)
    yield from _primary_endpoint_lines(against)
    for search in against.searches:
        # Changes in the answers to unlabelled queries, and the command if judging them would decide.
        said = f"{search.name}: {search.says}"
        if said not in against.reasons:
            yield said
        if search.judged and search.judged.answered:
            yield search.judged.counts_in_words
        if commands and search.asks and against.outcome == "inconclusive":
            yield deciding_judgements(search)
        for share in search.shares[1:]:
            ends = f"[{100 * share.low:.1f}, {100 * share.high:.1f}]"
            yield f"{search.name}: {share.what} for {100 * share.value:.1f}% {ends}, which bounds {share.figure}"
    if (partial := against.partial) and not any(partial.why in text for text in against.reasons):
        yield f"the gate is partial: {partial.why}"
    if against.seed_noise:
        measured_on = f", as {against.replicates} seed replicates show" if against.replicates else ""
        yield f"seeds alone move a gate row by {against.seed_noise:.2f} deltas{measured_on}"
    yield from against.notes


def _primary_rows(against: GateDecision) -> list[GateRow]:
    """Return the rows of primary endpoints."""
    return [row for row in against.rows if row.budget == "primary"]


def endpoint_remedy(against: GateDecision) -> str:
    """Return a sentence on the judgements or further queries that would decide.

    Return "" if nothing is open, or if no number of queries would decide.
    """
    found = [
        f"For {row.unjudged:,} queries, the first document is not judged: add judgements (unjudged.tsv)"
        for row in _primary_rows(against)
        if row.unjudged
    ]
    found += [row.remedy.says for row in _primary_rows(against) if row.remedy]
    return found[0] if found and against.outcome == "inconclusive" else ""


def _primary_endpoint_lines(against: GateDecision) -> Iterator[str]:
    """Yield lines for each primary endpoint: the deciding metric, its alpha and the other rows' alpha, and other
    metrics.
    """
    rows, decides = _primary_rows(against), against.purpose != "change"
    shares = {row.budget: row.alpha for row in reversed(against.rows) if row.gates}
    others = [
        f"{name} at {100 * alpha:g}% together" for name, alpha in shares.items() if name != "primary" and not decides
    ]
    for row in rows:
        first = "tested" if decides else "tested first"
        tested = f"{first}, at {100 * row.alpha:.2g}%" if row.gates else "reported only"
        yield f"{row.name}: the primary endpoint is {', '.join([row.endpoint, tested, *others])}"
        if row.beside:
            metrics = []
            for one in row.beside:  # the change only if there are enough queries
                change = f", {one.change:+.3f} [{one.low:+.3f}, {one.high:+.3f}]" if row.gates else ""
                metrics.append(f"{one.metric} {one.baseline:.3f} to {one.candidate:.3f}{change}")
            yield f"{row.name}, other metrics (not tested): {'; '.join(metrics)}"


def informational_changes(against: GateAgainst) -> Iterator[str]:
    """Yield other certain changes that matter. For a different model, they do not affect the decision."""
    if against.purpose == "change":
        return
    decides = {*against.yours, *(row.name for row in against.rows if row.evidence)}
    beside = [
        row for row in against.rows
        if row.gates and not row.evidence and not row.part_of
        and not {row.name, GateRowId(row.name).property} & decides
    ]  # fmt: skip
    of_several = have_several_data_sets(against.rows)
    for word_, sign in (("better", 1), ("worse", -1)):
        moved = [row for row in beside
                 if sign * (row.low if sign > 0 else row.high) > 0 and sign * row.change >= row.delta]  # fmt: skip
        if moved:
            names = []
            for row in sorted(moved, key=lambda row: -sign * row.change):
                change = f"{100 * row.change:+.1f} points" if row.kind == "rate" else f"{row.change:+.3f}"
                names.append(f"{gate_row_name(row, with_data=of_several)} ({change})")
            yield f"{word_}, but decides nothing: {', '.join(names)}"


Tone = Literal["good", "bad", "open"]
TONES: Mapping[str, Tone] = {"pass": "good", "block": "bad", "inconclusive": "open"}
NEW = "the new model"
NAMED = 3  # names listed in a sentence
MAY_BE_WORSE, OPEN = "may have got worse", "is open"  # the second if more was won than lost
UNITS = {"query": "queries", "pair": "pairs", "comparison": "comparisons", "item": "items"}
OF_FAMILIES = {"retrieval": "query", "pairs": "pair"}
LOST_EXPLAINED = "Lost: right before, wrong now. Won: the other way round."
COMPARISON = "A comparison asks which of two texts is nearer to a third."


@dataclass(frozen=True)
class GateLoss:
    """A certain or possible loss.

    `name` is the plain name of the row, and `how` the amount in the user's unit. `figures` has both models' figures and
    the loss that matters. `means` says what the loss means for users. `row` is a gate row or a search without labels;
    None for a broken contract.
    """

    name: str
    how: str
    figures: str
    means: str
    row: GateRow | UnjudgedSearch | None = None

    @property
    def title(self) -> str:
        """The name and the amount in one line."""
        return f"{self.name} {self.how}"

    @property
    def place(self) -> str:
        """The code of the row; "" for a broken contract."""
        return self.row.name if self.row else ""

    @property
    def queries(self) -> Sequence[ChangedQuery]:
        """The lost queries or, for a search without labels, those whose first answer changed."""
        if isinstance(self.row, UnjudgedSearch):
            return self.row.lost_queries or self.row.changed_queries
        return self.row.lost_queries if self.row else ()

    @property
    def items(self) -> Sequence[LostExample]:
        """The other lost items with their texts.

        Items whose scores do not show the loss, because a threshold decides, are left out.
        """
        found = self.row.lost_examples if isinstance(self.row, GateRow) else ()
        shown = []
        for example in found:
            now = {text.side: text.now for text in example.texts if isfinite(text.now)}
            if "near" not in now or "far" not in now or now["far"] >= now["near"]:
                shown.append(example)
        return shown


@dataclass(frozen=True)
class GateStory:
    """The verdict against one baseline: the answer, its main reason, and the losses.

    `lead` gives the reason in one or two sentences. `legend` explains the words for amounts. `others` are reasons that
    do not belong to a row.
    """

    tone: Tone
    answer: str
    lead: str
    losses: tuple[GateLoss, ...]
    legend: str
    others: tuple[str, ...]


def gate_story(against: GateAgainst, *, candidate: str = NEW) -> GateStory:
    """Return the story of a gate against one baseline."""
    losses = tuple(_losses(against))
    told = {loss.place for loss in losses if loss.row}
    others = tuple(
        text
        for text in against.reasons
        if not (text.startswith("contract broken: ") or any(text.startswith(f"{name}: ") for name in told))
    )
    answer, lead = _answer_sentence(against, candidate), _lead_sentence(against, losses)
    units = {unit_of_row(row) for loss in losses if isinstance(row := loss.row, GateRow) and row.kind == "rate"}
    legend = " ".join([LOST_EXPLAINED] * bool(units) + [COMPARISON] * ("comparison" in units))
    return GateStory(TONES[against.outcome], answer, lead, losses, legend, others)


def _answer_sentence(against: GateAgainst, candidate: str) -> str:
    old, partial = against.baseline, against.partial
    if against.reindex and against.reindex.same_model:
        undecided = "Partial: " if partial else "Not yet: "
        start = {"pass": "Yes: ", "block": "No: ", "inconclusive": undecided}[against.outcome]
        return f"{start}{candidate} is the same model as {old}: no vector moved"
    if (faults := against.index_faults) and against.outcome != "block":
        return f"Not yet: repair the index of {old} first, since {faults.says}"
    if against.yours:
        return f"Your decision: {candidate} may replace {old}, except for {list_names(against.yours)}"
    if partial and against.outcome == "inconclusive":
        what = f"a part of the checks ({named})" if (named := weighed_properties(partial)) else "a part of the checks"
        return f"Partial: only {what} was weighed, so the gate cannot tell whether {candidate} can take {old}'s place"
    after = ", after re-encoding" if is_after_encoding(against) else ""
    return {
        "pass": f"Yes{after}: {candidate} may replace {old}",
        "block": f"No: do not replace {old} with {candidate}",
        "inconclusive": f"Not yet: the gate cannot tell whether {candidate} may replace {old}",
    }[against.outcome]


def _lead_sentence(against: GateAgainst, losses: Sequence[GateLoss]) -> str:
    """Return the main reason in plain words, and the names of further losses."""
    if yours := against.yours:
        fallen, others = against.reasons[: len(yours)], against.reasons[len(yours) :]
        return f"{'; '.join(fallen)}. Otherwise: {_join_reasons(others, against)}."
    if against.outcome == "pass" and against.purpose != "change":
        said = _join_reasons(against.reasons, against)
        return f"{said[:1].upper()}{said[1:]}."
    if against.outcome == "pass":
        return _pass_sentence(against)
    if not losses:
        return "" if against.outcome == "block" else "No loss that matters is shown, and none is ruled out."
    first, *more = losses
    also = "Also worse" if against.outcome == "block" else "Also open"
    names = list_names([(loss.name[0].lower() + loss.name[1:]) for loss in more])
    return f"{first.title}." + (f" {also}: {names}." if more else "")


def _join_reasons(reasons: Sequence[str], against: GateAgainst) -> str:
    """Return the reasons in one line, without the codes of rows."""
    rows = {*(row.name for row in against.rows), *(search.name for search in against.searches)}
    parts = [(text.partition(": "), text) for text in reasons]
    return "; ".join(said if row in rows else text for (row, _, said), text in parts)


def list_names(names: Sequence[str]) -> str:
    """Return a phrase with the first few names and the number of others.

    >>> list_names(["search"]), list_names(["a", "b", "c", "d", "e"])
    ('search', 'a, b, c and 2 more')
    """
    names = list(dict.fromkeys(names))
    more = len(names) - NAMED
    if more > 0:
        return f"{', '.join(names[:NAMED])} and {more} more"
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def _pass_sentence(against: GateAgainst) -> str:
    """Return the sentence for a pass, which says how many items showed no loss that matters."""
    rows = [row for row in against.rows if row.gates and row.evidence]
    items = sum(row.n for row in rows)
    asked = sum(search.queries for search in against.searches)
    kinds = f" of {len(rows)} kinds" if len(rows) > 1 else ""
    seen = [f"{items:,} items{kinds}"] * bool(items) + [f"{asked:,} logged queries"] * bool(asked)
    said = f"No loss that matters was found in {' and '.join(seen)}." if seen else "No loss was found."
    limits = ruled_out_loss(against)
    return f"{said} {limits}." if limits else said


def _losses(against: GateAgainst) -> Iterator[GateLoss]:
    """Yield the losses that make the gate block or keep it open: broken contracts, searches without labels, then rows.

    Rows are ordered by the gate's reasons.
    """
    if against.outcome == "pass":
        return
    worse = "got worse" if against.outcome == "block" else MAY_BE_WORSE
    for text in against.contracts:
        name, _, cause = text.partition(": ")
        yield GateLoss("A contract", f"is broken: {name}", "", cause)
    for search in against.searches:
        if search.blocks if against.outcome == "block" else not search.passes:
            yield _loss_of_search(search, worse)
    is_several = have_several_data_sets(against.rows)
    # Rates before scores, then by the weight of the reasons.
    places = {text.partition(": ")[0]: i for i, text in reversed([*enumerate(against.reasons)])}
    rows = [row for row in against.rows if _keeps_from_passing(row, against)]
    for row in sorted(rows, key=lambda row: (row.kind != "rate", places.get(row.name, len(places)))):
        name = gate_row_name(row, with_data=is_several)
        figures = f"{_before_and_now_sentence(row)} {_loss_limit_sentence(row)}"
        won, lost = row.gained, row.lost
        if row.kind != "rate":
            won, lost = row.better_queries or 0, row.worse_queries or 0
        is_gain = won > lost or row.change > 0  # "may have got worse" would mislead
        how = worse if row.outcome == "block" or not is_gain else OPEN
        yield GateLoss(name, f"{how}: {_amount_lost(row)}", figures, row.means, row)


def _keeps_from_passing(row: GateRow, against: GateAgainst) -> bool:
    """Return whether the row keeps the gate from passing. A part only counts if its whole does not block."""
    if against.outcome == "block":
        blocked = {one.name for one in against.rows if one.outcome == "block"}
        return row.outcome == "block" and row.part_of not in blocked
    is_open = row.outcome == "inconclusive" and not row.part_of
    if against.purpose != "change":  # only the components count
        return is_open and any(text.startswith(f"{row.name}: ") for text in against.reasons)
    return is_open and (row.evidence or row.budget == "primary")


def _amount_lost(row: GateRow) -> str:
    """Return how much was lost in the user's unit. For a score, return both scores."""
    of = f" of {row.n:,}" if row.n else ""
    if row.kind == "rate":
        won = f", {row.gained:,} won" if row.gained else ""
        return f"{row.lost:,}{of} {UNITS[unit_of_row(row)]} lost{won}"
    if row.worse_queries:
        return f"{row.worse_queries:,}{of} queries are answered worse, {row.better_queries or 0:,} better"
    return f"its score went from {_score_change(row)}"


def _before_and_now_sentence(row: GateRow) -> str:
    if row.kind == "rate":
        pooled = f"Right in {100 * row.baseline:.1f}% before, in {100 * row.candidate:.1f}% now."
        return f"{pooled} The main figure: {printed_figures(row)}." if row.figures else pooled
    if row.figures:
        return f"Right before and now: {printed_figures(row)}."
    return f"{row.endpoint or 'Score'}: {_score_change(row)}."


def printed_figures(row: GateRow) -> str:
    """Return the printed figures of a row's properties, each before and now."""
    several = len(row.figures) > 1
    told = []
    for one in row.figures:
        chance = "" if one.chance is None else f" (chance {format_figure(one.metric, one.chance)})"
        name = f"{plain_name(one.property)} " * several
        told.append(f"{name}{format_figure(one.metric, one.before)} and {format_figure(one.metric, one.now)}{chance}")
    return "; ".join(told)


def _score_change(row: GateRow) -> str:
    return " to ".join(f"{side:.3f}" if isfinite(side) else "none" for side in (row.baseline, row.candidate))


def _loss_limit_sentence(row: GateRow) -> str:
    """Return a sentence with the loss that matters and, for an open row, with how large the loss may be."""
    matters = f"A loss of {_amount_text(row, row.delta)} matters"
    if row.outcome == "block" or not isfinite(row.low) or row.low >= 0:
        return f"{matters}."
    return f"{matters}, and this may be one of {_amount_text(row, -row.low)} (the lower end of the 95% interval)."


def _amount_text(row: GateRow, value: float) -> str:
    return f"{round(100 * value, 1):g} points" if row.kind == "rate" else f"{value:.2g}"


def unit_of_row(row: GateRow) -> str:
    """Return the unit of a row's items: a query, a pair, a comparison of a text with two others, or an item."""
    if row.family in OF_FAMILIES:
        return OF_FAMILIES[row.family]
    sides = {text.side for one in row.lost_examples for text in one.texts}
    return "item" if not sides else "pair" if sides == {"pair"} else "comparison"


def _loss_of_search(search: UnjudgedSearch, worse: str) -> GateLoss:
    """Return the loss in a search without labels: what people judged, or how many first answers changed."""
    judged = search.judged
    if judged and judged.asked:
        worse = OPEN if worse == MAY_BE_WORSE and judged.new > judged.old else worse
        told = f"in {judged.old:,} of {judged.old + judged.new:,} judged answers the old one is better"
    else:
        told = f"{search.shares[0].queries:,} of {search.queries:,} logged queries have a different first answer"
    return GateLoss("Search", f"{worse}: {told}", search.says, "", search)
