"""The rows of the page: of each property one line a model, and the checks that it opens to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from encheck.claims import CONTRACT, FAMILIES
from encheck.reporting.html.sections import Section
from encheck.reporting.peers import Peers, key, peers_on
from encheck.reporting.profile import NO_PROPERTY, Against, Line, Standing, profile
from encheck.reporting.story import percent
from encheck.reporting.view import WORDS, best_surface, figure, ran
from encheck.run_file import Result, RunFile
from encheck.types import Declaration

Kind = Literal["bad", "tied", "good", "none"]
KINDS: Mapping[Kind, str] = {
    "bad": "below chance, or fails",
    "tied": "tied with chance",
    "good": "above chance, or passes",
    "none": "shown only",
}
_UNCHANCED: Mapping[str | None, tuple[Kind, str]] = {
    "pass": ("good", "passes"),
    "stale_known_failure": ("good", "passes"),
    "fail": ("bad", "fails"),
    "error": ("bad", "error"),
    "known_failure": ("bad", "fails, as known"),
    "below_aim": ("tied", "below aim"),
    "inconclusive": ("tied", "aim open"),
    "skipped": ("none", "not run"),
    None: ("none", "shown"),
}
_ABOVE = {"below_aim": ", below aim", "inconclusive": ", aim open", "fail": ", fails"}
_STANDINGS: Mapping[Standing, str] = {
    "above chance": "above chance", "at chance": "tied with chance", "below chance": "below chance",
}  # fmt: skip
_TITLES = {
    "meaning kept": "Meaning kept: the same in other words should stay near",
    "meaning changed": "Meaning changed: a small edit that turns the meaning should show",
    "order": "Order: the same words in another order",
    "retrieval": "Retrieval: the right text comes first",
    "invariance": "Invariance: what changes no meaning should change nothing",
    "health": "Health of the space",
    "downstream": "Downstream: what a classifier learns from the vectors",
    CONTRACT: "Contracts",
}


@dataclass(frozen=True)
class Mark:
    """A figure in one line: places along the axis in percent (None where it is no share), its words, its verdict."""

    name: str
    row: Result
    value: str
    interval: str
    kind: Kind
    words: str
    low: float | None = None
    width: float = 0.0
    at: float | None = None
    chance: float | None = None
    surface: float | None = None
    other: float | None = None
    against: Against | None = None

    @property
    def label(self) -> str:
        """What a screen reader says in place of the picture."""
        marks = {"chance": self.chance, "best surface scorer": self.surface}
        beside = [f"{name} {place:.0f}%" for name, place in marks.items() if place is not None]
        return ", ".join([f"95% interval {self.interval}" if self.interval else "no spread", *beside])


@dataclass(frozen=True)
class Entry:
    """A check in its property: its section, what it is there, a mark for each level and model."""

    section: Section
    is_control: bool
    marks: Sequence[Mark]

    @property
    def verdicts(self) -> list[str]:
        """Each kind once."""
        return sorted({mark.kind for mark in self.marks})


@dataclass(frozen=True)
class Property:
    """A row of the profile: a mark for each model, and the checks that it opens to.

    `peers` are (name, share) of known models, where all marks are the same figure.
    """

    name: str
    family: str
    tells: str
    means: str
    marks: Sequence[Mark]
    entries: Sequence[Entry]
    order: float = field(default=1.0)
    peers: Sequence[tuple[str, str]] = ()

    @property
    def kinds(self) -> list[str]:
        """The kinds of its marks and of its checks, each once."""
        return sorted({mark.kind for mark in self.marks} | {kind for e in self.entries for kind in e.verdicts})


@dataclass(frozen=True)
class Block:
    """The profile on one data set, by family."""

    data: str
    families: Sequence[tuple[str, Sequence[Property]]]

    @property
    def is_single(self) -> bool:
        """Whether it has one property alone, which is open from the start."""
        return sum(len(rows) for _, rows in self.families) == 1

    @property
    def has_others(self) -> bool:
        """Whether a model is paired with another."""
        return any(mark.other is not None for _, rows in self.families for row in rows for mark in row.marks)

    @property
    def has_peers(self) -> bool:
        """Whether known models stand in its rows."""
        return any(row.peers for _, rows in self.families for row in rows)


def blocks(results: RunFile, found: Sequence[Section]) -> list[Block]:
    """A block for each data set that anything was measured on."""
    models = [one.label for one in results.models]
    names = dict.fromkeys(section.data for section in found)
    return [_block(results, data, models, [s for s in found if s.data == data]) for data in names]


def _block(results: RunFile, data: str, models: Sequence[str], found: Sequence[Section]) -> Block:
    declared = results.declarations
    lines = {(m, line.name): line for m in models for line in profile(results, model=m, data=data)}
    by_property: dict[str, list[Section]] = {}
    for section in found:
        by_property.setdefault(section.tested, []).append(section)
    known = peers_on(results, data)
    rows = [_property(name, some, declared, models, lines, known) for name, some in by_property.items()]
    families = dict.fromkeys([*FAMILIES, CONTRACT, *(row.family for row in rows)])
    kept = {family: sorted((r for r in rows if r.family == family), key=_weakness) for family in families}
    return Block(data, [(_TITLES.get(family, family), some) for family, some in kept.items() if some])


def _weakness(row: Property) -> tuple[float, str]:
    return (row.order, row.name)


def _property(
    name: str,
    found: Sequence[Section],
    declared: Mapping[str, Declaration],
    models: Sequence[str],
    lines: Mapping[tuple[str, str], Line],
    known: Peers | None,
) -> Property:
    heads = {model: _head(found, declared, lines.get((model, name)), model) for model in models}
    several = len(models) > 1
    marks = [
        mark_of(row, declared[row.check], model if several else "", lines.get((model, name)))
        for model, row in heads.items() if row
    ]  # fmt: skip
    first = next(filter(None, heads.values()), found[0].rows[0])
    its = declared[first.check]
    entries = [_entry(section, declared, several=several) for section in found]
    entries.sort(key=lambda one: (one.section.check != first.check, one.is_control))
    order = min((mark.row.high - _chance(declared[mark.row.check]) for mark in marks
                 if mark.at is not None and mark.row.high is not None), default=2.0)  # fmt: skip
    is_one = known and len({key(mark.row) for mark in marks}) == 1
    peers = [(peer, percent(share)) for peer, share in known.beside(first).items()] if known and is_one else ()
    return Property(name, its.family, its.tells, its.means, marks, entries, order, peers)


def _chance(its: Declaration) -> float:
    return its.chance or 0.0


def _head(
    found: Sequence[Section], declared: Mapping[str, Declaration], line: Line | None, model: str
) -> Result | None:
    """The row that stands for the property: that of the profile, else of the headline, else the first with a value."""
    rows = [row for section in found for row in ran(section.rows) if row.model == model]
    if line is not None:
        return next(row for row in rows if str(row.case) == line.case)
    measured = [row for row in rows if row.value is not None] or rows
    return next(iter(sorted(measured, key=lambda row: not declared[row.check].headline)), None)


def _entry(section: Section, declared: Mapping[str, Declaration], *, several: bool) -> Entry:
    its, rows = declared[section.check], ran(section.rows)
    levels = len({row.level for row in rows}) > 1
    marks = [mark_of(row, its, _name(row, levels=levels, several=several)) for row in rows]
    return Entry(section, bool(its.unjudged), marks)


def _name(row: Result, *, levels: bool, several: bool) -> str:
    """What tells the marks of a check apart, and nothing else."""
    level = f"level {row.level}" if str(row.level).isdigit() else str(row.level)
    return ", ".join([*([row.model] if several else []), *([level] if levels else [])])


def mark_of(row: Result, its: Declaration, name: str, line: Line | None = None) -> Mark:
    """The figure of a row as a line of the page shows it; `line` has the other model of a profile."""
    kind, words = verdict(row, its)
    if not is_share(row, its):
        value, _, interval = figure(row).partition(" ")
        is_exact = row.low == row.high
        return Mark(name, row, value, "" if is_exact else interval.strip("[]").replace(", ", " to "), kind, words)
    best, other = best_surface(row), line.against if line else None
    share = row.numbers[0]
    low, high = map(_place, row.numbers[1:])
    return Mark(
        name, row, percent(share), _digits(row), kind, words,
        low=low, width=max(round(high - low, 2), 0.6), at=_place(share),
        chance=None if its.chance is None else _place(its.chance), surface=_place(best[1]) if best else None,
        other=_place(share - other.change) if other else None, against=other,
    )  # fmt: skip


def is_share(row: Result, its: Declaration) -> bool:
    """Whether the figure is drawn along 0% to 100%."""
    ends = (row.value, row.low, row.high)
    return its.chance != 0 and its.family not in NO_PROPERTY and all(e is not None and 0 <= e <= 1 for e in ends)


def verdict(row: Result, its: Declaration) -> tuple[Kind, str]:
    """What came out, in words: beside chance where there is one, and how it stands to the floor and the aim."""
    kind, words = _UNCHANCED.get(row.verdict, ("none", WORDS.get(row.verdict, "")))
    if row.verdict in ("pass", "stale_known_failure", "error", "skipped") or row.value is None:
        return (kind, words) if row.value is not None or row.verdict != "inconclusive" else ("none", "cannot tell")
    if its.unjudged or row.params.get("unjudged"):
        return "none", "shown, judges nothing"
    if not its.chance or row.low is None or not is_share(row, its):
        return kind, words
    _, low, high = row.numbers
    if high < its.chance:
        return "bad", "fails: below chance" if row.verdict == "fail" else "below chance"
    if low <= its.chance:
        return "tied", "tied with chance"
    return ("bad" if row.verdict == "fail" else "good"), f"above chance{_ABOVE.get(row.verdict or '', '')}"


def _place(share: float) -> float:
    return round(100 * max(0.0, min(1.0, float(share))), 2)


def _digits(row: Result) -> str:
    """The interval of a share, in percent, with as many digits as it bears."""
    _, low, high = row.numbers
    if high - low < 0.0005:
        return ""
    digits = 0 if high - low > 0.02 else 1
    return f"{100 * low:.{digits}f}–{100 * high:.{digits}f}"


def facts(lines: Sequence[Line]) -> list[tuple[str, str]]:
    """How many properties are above chance, tied with it and below it, above the surface, and unlike the reference.

    The one that is farthest below chance is named.
    """
    known = [one for one in lines if one.standing]
    counts = {words: sum(one.standing == standing for one in known) for standing, words in _STANDINGS.items()}
    found = [(f"{count} of {len(known)}", words) for words, count in counts.items() if count]
    if rivalled := [one for one in known if one.surface is not None]:
        above = sum(one.low > (one.surface or 0) for one in rivalled)
        found.append((f"{above} of {len(rivalled)}", "above the best surface scorer"))
    found += _against([one.against for one in lines if one.against])
    if below := [one for one in known if one.standing == "below chance"]:
        worst = min(below, key=lambda one: one.high - (one.chance or 0))
        words = f"is the farthest below chance: {percent(worst.value)}, chance {percent(worst.chance or 0)}"
        found.append((worst.name, words))
    return found


def _against(paired: Sequence[Against]) -> list[tuple[str, str]]:
    """In how many properties the model is worse, better or not told from the reference."""
    said = [one.said for one in paired]
    words = {"worse": "worse than", "better": "better than", "cannot tell": "not told from"}
    return [(f"{said.count(w)} of {len(said)}", f"{text} {paired[0].name}") for w, text in words.items() if w in said]
