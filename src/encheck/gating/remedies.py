"""What to do about an inconclusive gate: more data, other seeds, a candidate that flips fewer items."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from encheck.gating.types import Decision, FamilyRow, GateRow
from encheck.ids import GateRowId

REACHABLE = 5.0  # times the items: beyond, nobody collects them
NAMED = 3  # rows by name
Wanted = tuple[str, str, float | None]  # what is open, its data, how many times its items would decide


def remedies(decision: Decision, *, sampled: Collection[str] = ()) -> tuple[str, ...]:
    """What to do, a line each; none for a gate that decided, or where nothing that was weighed is open.

    `sampled` names the data of which a sample was taken. A primary endpoint has a remedy of its own.
    """
    if decision.outcome != "inconclusive":
        return ()
    rows = [row for row in decision.rows if row.evidence and row.outcome == "inconclusive" and not row.endpoint]
    wanted = [_of_row(row) for row in rows] + [_of_family(one, decision) for one in decision.families if not one.passes]
    if not wanted:
        return ()
    return (*_data(wanted, sampled), *_flips(rows), *_seeds(decision))


def _of_row(row: GateRow) -> Wanted:
    found = row.needed / row.n if row.needed else None
    return row.name, _data_of(row), found


def _of_family(one: FamilyRow, decision: Decision) -> Wanted:
    data = {_data_of(row) for row in decision.rows if row.family == one.family and row.evidence}
    return f"family {one.family}", data.pop() if len(data) == 1 else "", one.more


def _data_of(row: GateRow) -> str:
    return GateRowId(row.name).data


def _data(wanted: Sequence[Wanted], sampled: Collection[str]) -> Iterator[str]:
    """What more items would decide, and where to get them."""
    near = [one for one in wanted if one[2] is not None and one[2] <= REACHABLE]
    if near:
        most = max(more for *_, more in near if more is not None)
        named = _named([one[0] for one in near])
        yield f"more data: {most:.1f} times the items would decide {named}{_where(near, sampled)}"
    far = [name for name, _, more in wanted if more is None or more > REACHABLE]
    if far:
        yield (
            f"more data alone will hardly decide {_named(far)}: the loss is close to what matters, or too many items "
            "flip both ways"
        )


def _where(near: Sequence[Wanted], sampled: Collection[str]) -> str:
    """The option that gives more of the same data, in a baseline and a run of its own."""
    data = {one[1] for one in near}
    found = ["--sample all"] * bool(data & set(sampled))
    found += ["--data probes:fresh=SEED"] * bool(data & {"probes"})
    found += ["pairs or triplets of your own"]
    return f" ({' or '.join(found)}, in a new baseline too)"


def _flips(rows: Sequence[GateRow]) -> Iterator[str]:
    """How few flips the items that are there would do with."""
    rates = [row for row in rows if row.kind == "rate" and row.needed and row.gained + row.lost]
    if rates:
        worst = max(rates, key=lambda row: (row.needed or 0) / row.n)
        now = (worst.gained + worst.lost) / worst.n
        enough = now * worst.n / (worst.needed or worst.n)
        yield (
            f"a candidate that changes less: {now:.1%} of the items of {worst.name} flip, and the same change would be "
            f"decided with {enough:.1%} (train less far, or average the weights with the baseline's)"
        )


def _seeds(decision: Decision) -> Iterator[str]:
    """Other seeds, where luck was not measured."""
    if not decision.seed_noise and decision.replicates is None:
        yield (
            "other seeds: train the candidate again and gate it; three --twin models show how much the baseline "
            "varies by seed"
        )


def _named(names: Sequence[str]) -> str:
    more = len(names) - NAMED
    return ", ".join(names[:NAMED]) + (f" and {more} more" if more > 0 else "")
