"""A first look at a model: what the headline checks say of a seeded part of the data, from few texts.

The part is made of whole clusters, so that intervals hold. Each kind of written edit gives as many clusters as any
other, in the order of their hashes: rows added later reshuffle nothing.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from encheck.claims import CONTRACT
from encheck.datasets.clusters import in_seeded_order
from encheck.datasets.dataset import Dataset
from encheck.encoders.protocol import FittedModel
from encheck.errors import CheckError, NothingToMeasure
from encheck.running.bench import Bench, Request
from encheck.running.plan import Plan, missing
from encheck.running.subject import Subject
from encheck.types import Group

BEGIN, ENOUGH, ROUNDS = 10, 0.9, 8  # clusters a kind of edit; the share of the texts that is near enough; attempts
WARM = 0.8  # the share of texts that a store has that needs no look; what calibrates a look alone it never has
OUTSIDE = 3  # further clusters a kind, which tell what the store has of the rest
UNSEEN = ("health", "downstream", CONTRACT)  # families that no profile shows
Ranks = Mapping[str, Mapping[str, Sequence[str]]]  # data -> kind of edit -> clusters


@dataclass(frozen=True)
class Look:
    """The requests of a first look, and the part of the data that they are measured on.

    The part has the clusters of `drawn` in which the requests have items: `clusters` counts them, `of` all clusters.
    `every` is what all requests of the run need on what was drawn, `outside` what they need on a few other clusters.
    """

    bench: Bench
    requests: tuple[Request, ...]
    plan: Plan
    drawn: Bench
    clusters: int
    of: int
    every: Plan = field(default_factory=Plan)
    outside: Plan = field(default_factory=Plan)

    @property
    def texts(self) -> int:
        """How many texts, or pairs, the model computes that needs most."""
        return max((len(self.plan.asked(one)) for one in self.bench.subjects.values()), default=0)

    @property
    def of_texts(self) -> int:
        """About how many texts, or pairs, all requests need of that model on all data that are not searched."""
        found = max((len(self.every.asked(one)) for one in self.bench.subjects.values()), default=0)
        return round(found * self.share)

    @property
    def share(self) -> float:
        """How many times as many clusters there are as were drawn."""
        return self.of / max(_clusters(self.drawn), 1)


def first_look(bench: Bench, requests: Sequence[Request], *, most: int) -> Look | None:
    """The largest part on which the headline checks need at most `most` texts of a model; None where nothing fits.

    Searches are left out: their figures depend on all that is searched.
    """
    there = [one for one in requests if bench.data[one[1]].collection is None]
    chosen, ranks = headlines(there), {name: _by_kind(data, bench.seed) for name, data in bench.data.items()}
    known: dict[int, Look] = {}
    count, largest = BEGIN, max((len(names) for kinds in ranks.values() for names in kinds.values()), default=0)
    for _ in range(ROUNDS if chosen else 0):
        count = min(count, largest)
        known[count] = found = _look(bench, chosen, ranks, count)
        if found.texts <= most and (count == largest or found.texts >= ENOUGH * most):
            break
        count = max(1, int(0.97 * count * most / max(found.texts, 1)))
        if count in known:
            break
    fitting = {count: one for count, one in known.items() if 0 < one.texts <= most}
    if not fitting:
        return None
    count = max(fitting)
    drawn, more = _drawn(ranks, count), _drawn(ranks, count + OUTSIDE)
    others = {name: more[name] - drawn[name] for name in ranks}
    return _with_company(fitting[count], _part(bench, others), there)


def is_warm(bench: Bench, requests: Sequence[Request]) -> bool:
    """Whether the store has what all models need of a few clusters, which a look would take last."""
    there = [one for one in requests if bench.data[one[1]].collection is None]
    last = {
        name: {one for names in _by_kind(data, bench.seed).values() for one in names[-OUTSIDE:]}
        for name, data in bench.data.items()
    }
    plan = _part(bench, _used(_part(bench, last), there)).plan(there)
    asked = {one.label: plan.asked(one) for one in bench.subjects.values() if one.label in plan.pairs}
    lacking = [len(missing(bench.subjects[label], some, bench.store)) for label, some in asked.items()]
    return bool(asked) and sum(lacking) <= (1 - WARM) * sum(map(len, asked.values()))


def headlines(requests: Iterable[Request]) -> list[Request]:
    """Of each property the checks that stand for it in a profile, at their first level; where none does, the others."""
    first: dict[tuple[str, str, int], Request] = {}
    for one in sorted(requests, key=lambda one: str(one[3])):
        if one[2].family not in UNSEEN:
            first.setdefault((one[0], one[1], id(one[2])), one)
    named = {(model, data, claim.property) for model, data, claim, _ in first.values() if claim.declared.headline}
    return [one for one in first.values() if one[2].declared.headline or (one[0], one[1], one[2].property) not in named]


def learns(subject: Subject) -> bool:
    """Whether a model learns from all texts of a run, so that a part of them would make another model of it."""
    return isinstance(subject.model, FittedModel)


def _by_kind(data: Dataset, seed: int) -> dict[str, list[str]]:
    """The clusters that have each kind of written edit, and those that have none, in a seeded order."""
    kinds: dict[str, set[str]] = {"": set()} if data.groups else {"": set(data.universe)}
    for group in data.groups:
        for kind in {one.relation for one in group.variants} | ({"passage"} if group.passage else set()) or {""}:
            kinds.setdefault(kind, set()).add(group.cluster)
    return {kind: in_seeded_order(clusters, seed=seed) for kind, clusters in sorted(kinds.items())}


def _look(bench: Bench, requests: Sequence[Request], ranks: Ranks, count: int) -> Look:
    """A look at the first `count` clusters of each kind, of which those stay that have an item."""
    drawn = _part(bench, _drawn(ranks, count))
    seen = tuple(one for one in requests if _is_seen(drawn, one))
    part = _part(bench, _used(drawn, seen))
    return Look(part, seen, part.plan(seen), drawn, _clusters(part), _clusters(bench))


def _drawn(ranks: Ranks, count: int) -> dict[str, set[str]]:
    """The first clusters of each kind of edit, by data."""
    return {name: {one for names in kinds.values() for one in names[:count]} for name, kinds in ranks.items()}


def _part(bench: Bench, clusters: Mapping[str, Container[str]]) -> Bench:
    """The bench of these clusters, by data; names are taken of all data, so that variants are those of the run."""
    wholes: dict[str, Sequence[Group]] = {g.id: data.groups for data in bench.data.values() for g in data.groups}
    parts = {name: data.part(clusters[name]) for name, data in bench.data.items()}
    return Bench(bench.subjects, parts, bench.store, maker=replace(bench.maker, wholes=wholes), clock=bench.clock)


def _used(bench: Bench, requests: Iterable[Request]) -> dict[str, set[str]]:
    """The clusters in which requests have items, by data."""
    used: dict[str, set[str]] = {name: set() for name in bench.data}
    for _, data, claim, level in requests:
        with suppress(NothingToMeasure, CheckError):
            used[data] |= {item.cluster for item in bench.items(data, claim, level).kept}
    return used


def _clusters(bench: Bench) -> int:
    return sum(len(data.universe) for data in bench.data.values())


def _is_seen(bench: Bench, request: Request) -> bool:
    """Whether the request measures something here, and no search."""
    try:
        return bench.items(*request[1:]).kept[0].kind.is_sampled
    except (NothingToMeasure, CheckError):
        return False


def _with_company(look: Look, outside: Bench, requests: Sequence[Request]) -> Look:
    """The look with each further check that its texts answer, and with what all requests need here and outside."""
    has = {label: set(look.plan.asked(one)) for label, one in look.bench.subjects.items()}
    company = [
        one
        for one in requests
        if one not in look.requests and one[2].family not in UNSEEN and _is_seen(look.bench, one)
        and set(look.bench.plan([one]).asked(look.bench.subjects[one[0]])) <= has[one[0]]
    ]  # fmt: skip
    kept = (*look.requests, *company)
    every, others = look.drawn.plan(requests), outside.plan(requests)
    return replace(look, requests=kept, plan=look.bench.plan(kept), every=every, outside=others)
