"""From measurements to one of four outcomes, and a checklist for a ticket. Pure: it sees only figures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal

from encheck.deciding.changes import Better, Changes
from encheck.deciding.index_in_use import IndexFaults
from encheck.deciding.score_ranges import Mapped
from encheck.deciding.sides import Side
from encheck.deciding.space import MAPPED, Space
from encheck.gating.answers import DELTA
from encheck.gating.types import Outcome as GateOutcome
from encheck.verdict import MIN_CLUSTERS

Outcome = Literal["ship", "ship with these changes", "do not ship", "cannot tell"]
EXIT_CODES: Mapping[Outcome, int] = MappingProxyType(
    {"ship": 0, "ship with these changes": 0, "do not ship": 1, "cannot tell": 10}
)
PRIMARY = "recall@1"
REASONS = 3


@dataclass(frozen=True)
class Gated:
    """What the gate said: its outcome and lines, None if it was not asked, with the reason.

    `said` is the part of results.json that is about it, `folder` the directory of its report.
    """

    outcome: GateOutcome | None
    lines: tuple[str, ...]
    said: Mapping[str, Any] | None = None
    folder: str = ""

    @property
    def reasons(self) -> tuple[str, ...]:
        """The weightiest lines: of a gate that blocks, the first three."""
        return self.lines[: REASONS if self.outcome == "block" else 1]


@dataclass(frozen=True)
class Verdict:
    """The word, the reasons for it, and what has to change when the new model is shipped."""

    outcome: Outcome
    reasons: tuple[str, ...]
    changes: tuple[str, ...]

    @property
    def exit_code(self) -> int:
        """0 ship, 1 do not ship, 10 cannot tell."""
        return EXIT_CODES[self.outcome]


def verdict(space: Space, gated: Gated, changed: Changes | None, needed: Sequence[str]) -> Verdict:
    """Weigh them: the same vectors need no gate, a gate that blocks goes before all, and what is open stays open."""
    needed = tuple(needed)
    if gated.outcome == "block":
        return Verdict("do not ship", gated.reasons, needed)
    if space.name == "same":
        return _shipped(needed, ("the vectors are the same: what a query finds and how texts compare stays as it is",))
    search = _search(changed)
    if gated.outcome is None:
        blocked = [why for outcome, why in search if outcome == "block"]
        if blocked:
            return Verdict("do not ship", tuple(blocked), needed)
        return Verdict("cannot tell", (*gated.reasons, *(why for _, why in search)), needed)
    if gated.outcome == "inconclusive":
        return Verdict("cannot tell", gated.reasons, needed)
    return _shipped(needed, gated.reasons)


def _shipped(needed: tuple[str, ...], why: tuple[str, ...]) -> Verdict:
    return Verdict("ship with these changes" if needed else "ship", why, needed)


def _search(changed: Changes | None) -> list[tuple[GateOutcome, str]]:
    """What the search says by itself where no gate weighed it; nothing if the old model's answers are not known."""
    if changed is None:
        return []
    if changed.better and changed.better.figures:
        return [_by_labels(changed.better)]
    first = changed.moved.first
    said = f"the first answer changes for {first.says} of queries"
    return [
        ("pass", said) if first.high < DELTA else ("inconclusive", f"{said}, and nobody has judged which is better")
    ]


def _by_labels(better: Better) -> tuple[GateOutcome, str]:
    before, after, change = better.figures[PRIMARY]
    said = (
        f"{PRIMARY} goes from {100 * before:.1f}% to {100 * after:.1f}% "
        f"({100 * change.value:+.1f} points [{100 * change.low:+.1f}, {100 * change.high:+.1f}])"
    )
    if better.clusters < MIN_CLUSTERS:
        return "inconclusive", f"{said}, over {better.clusters} clusters: {MIN_CLUSTERS} are needed"
    if change.high < 0 and change.value <= -DELTA:
        return "block", said
    return ("pass" if change.low > -DELTA else "inconclusive"), said


def needed_changes(
    old: Side, new: Side, space: Space, thresholds: Sequence[Mapped], licences: tuple[str, str], *, documents: int
) -> Iterator[str]:
    """What has to be done beside exchanging the model, a line each."""
    yield from _for_index(space, documents)
    if space.name == "same":
        return
    if old.dimension != new.dimension:
        yield f"make the index for vectors of {new.dimension} dimensions in place of {old.dimension}"
    for role, before, after in zip(("queries", "documents"), old.prompts, new.prompts, strict=True):
        if after is not None and (before or "") != after:
            yield f"put {after!r} before {role} in place of {before or ''!r}"
    for one in thresholds:
        yield from _for_threshold(one)
    if licences[0] != licences[1]:
        yield f"check the licence: {licences[1] or 'not stated'}, it was {licences[0] or 'not stated'}"


def _for_index(space: Space, documents: int) -> Iterator[str]:
    again = f"re-index: encode all documents again ({documents:,} here)"
    vectors = space.vectors
    if space.name == "re-index" and vectors.up_to:
        longer = f"{vectors.longer:,} of {documents:,} documents, those of more than {vectors.up_to:,} {vectors.unit}"
        yield f"re-index in part: encode {longer}, again; the vectors of the others stay"
    elif space.name in ("re-index", "cannot tell"):
        yield again
    elif space.name == "adapter":
        route = next(route for route in space.routes if route.name == MAPPED)
        yield f"apply the adapter to the new model's queries ({route.says}), or {again}"
    elif vectors.only_by_cosine:
        yield f"compare by cosine in your index, or {again}: vectors have other lengths"


def _for_threshold(one: Mapped) -> Iterator[str]:
    if one.threshold is None:
        yield f"choose the threshold {one.old:g} anew: {one.refused}"
    elif not one.threshold.low <= one.old <= one.threshold.high:
        new = one.threshold
        yield f"move the threshold {one.old:g} to {new.value:.3f} [{new.low:.3f}, {new.high:.3f}] for as many answers"


def checklist(
    made: Verdict,
    new: str,
    old: str,
    *,
    has_thresholds: bool,
    gate_folder: str,
    judge: bool,
    faults: IndexFaults | None,
) -> Iterator[str]:
    """The steps of a ticket, the first one first."""
    if faults:
        yield faults.step
        yield f"run the upgrade to {new} once more on the index that was repaired"
        return
    if made.outcome == "do not ship":
        yield f"keep {old} in use"
        yield "look at what was lost, and train or choose again"
        return
    if judge:
        yield f"judge the answers that differ: encheck judge {gate_folder or 'the folder of the gate'}"
    if made.outcome == "cannot tell":
        yield f"resolve what is open before {new} replaces {old}"
    yield from made.changes
    if not has_thresholds:
        yield "name every threshold in use with --threshold, or make sure that there is none"
    yield f"keep the vectors of {old} until {new} has served a week without complaint, so that you can go back"
    yield f"save what {new} gives, to know it again later: encheck same {new} --save FILE.json"
