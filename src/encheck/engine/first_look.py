"""The first look of a run: choose its part of the data, and decide whether the run stops after it.

The part consists of whole clusters, so intervals are valid. Each kind of written edit contributes equally many
clusters, in the order of their hashes, so rows added later do not change the order. Each contract is measured on 40
of its items.
"""

from __future__ import annotations

import json
from collections.abc import Container, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Literal

from encheck.claims import CONTRACT
from encheck.datasets.clusters import order_clusters_by_hash
from encheck.datasets.dataset import Dataset
from encheck.encoders.protocol import Encoder, FittedModel, model_devices
from encheck.errors import CheckError, NothingToMeasure
from encheck.items.builders import classified_texts
from encheck.options import Settings
from encheck.run_file import FirstLook, RemainingWork, RemainingWorkOfModel
from encheck.running.model_under_test import ModelUnderTest, Pair, Texts, mean_tokens_per_text
from encheck.running.scoring_session import EncodingPlan, Request, ScoringSession, missing_from_store
from encheck.scoring.item import Items
from encheck.store import text_key
from encheck.system.files import write_text
from encheck.system.lock import Locks
from encheck.system.terminal import Progress
from encheck.system.typed_files import as_json, read_typed
from encheck.types import Group, content_hash

Mode = Literal["", "show", "ask", "stop"]  # no look; a look; one that may stop the run; one that stops it
MAX_TEXTS = 2_500  # texts that a model computes for a first look
MAX_SECONDS = 300.0  # that the rest may take; otherwise the run stops
WHY = {
    "quick": "--quick",
    "price": "the model costs money",
    "time": f"the rest takes over {MAX_SECONDS / 60:g} minutes",
}
BEGIN, ENOUGH, ROUNDS = 10, 0.9, 8  # clusters per kind of edit; the share of the limit that is close enough; attempts
WARM = 0.8  # with this share of texts stored there is no look; calibration texts of a look alone are never stored
OUTSIDE = 3  # further clusters per kind, to estimate how much of the rest is stored
UNSEEN = ("health", "downstream", CONTRACT)  # families that profiles do not show
CONTRACT_ITEMS = 40  # per contract
FEWEST = 64  # texts to time a model by
SOME = 256  # sample of documents
CHARACTERS_A_TOKEN = 4  # in English, without a tokenizer
TextAmount = tuple[float, Sequence[str]]  # the number of texts that the store lacks, and a sample of them


@dataclass(frozen=True)
class FirstLookPlan:
    """The requests of a first look, and its part of the data.

    The part has those clusters of `drawn` in which the requests have items. `clusters` counts them; `of` counts all
    clusters. `every` has the texts that all requests of the run need on the drawn clusters, `outside` those that they
    need on a few other clusters.
    """

    session: ScoringSession
    requests: tuple[Request, ...]
    plan: EncodingPlan
    drawn: ScoringSession
    clusters: int
    of: int
    every: EncodingPlan = field(default_factory=EncodingPlan)
    outside: EncodingPlan = field(default_factory=EncodingPlan)

    @property
    def text_count(self) -> int:
        """The number of texts or pairs of the model that computes most."""
        return max((len(self.plan.needs(one)) for one in self.session.subjects.values()), default=0)

    @property
    def total_text_count(self) -> int:
        """An estimate of the texts or pairs that all requests need from that model, on all data except searches."""
        return round(
            max((len(self.every.needs(one)) for one in self.session.subjects.values()), default=0) * self.share
        )

    @property
    def share(self) -> float:
        """The number of all clusters divided by the number drawn."""
        return self.of / max(sum(len(data.universe) for data in self.drawn.data.values()), 1)


@dataclass(frozen=True)
class LookDecision:
    """Whether the run stops after its first look, and what results.json says about the look and the remaining work."""

    stops: bool = False
    look: FirstLook | None = None
    rest: RemainingWork | None = None


class SharedDecision:
    """The decision of the worker that took the first look, in a file next to the run's lock, for the other workers."""

    def __init__(self, run: str | None) -> None:
        self._path = Path(f"{run}.look") if run else None

    def read(self) -> LookDecision | None:
        """Return the decision; None while there is none."""
        if self._path is None or not self._path.exists():
            return None
        return read_typed(LookDecision, json.loads(self._path.read_text("utf-8")))

    def write(self, decision: LookDecision) -> None:
        """Publish the decision to the other workers."""
        if self._path:
            write_text(self._path, as_json(decision))


def first_look_mode(settings: Settings, *, is_junit: bool) -> Mode:
    """Return whether a run takes a first look, and whether it then continues.

    A run that needs all items takes no look. With --quick, the run stops after its look; with JUnit output or --full,
    it continues.
    """
    if settings.save_baseline or settings.engine:
        return ""
    if settings.quick:
        return "stop"
    if not settings.looks_first:
        return ""
    return "show" if settings.full or is_junit else "ask"


def decide_whether_to_stop(
    session: ScoringSession, requests: Sequence[Request], mode: Mode, *, locks: Locks, progress: Progress
) -> tuple[FirstLookPlan | None, LookDecision]:
    """Encode a first look, and return its plan and whether the run stops after it.

    There is no look if all requests need few texts or the store has all texts. If the run continues, models that learn
    from the run's texts are left out of the look.
    """
    requests = _requests_for_look(session, requests, mode)
    if mode != "stop" and _is_mostly_stored(session, requests):
        return None, LookDecision()
    look = largest_affordable_part(session, requests, max_texts=MAX_TEXTS)
    if look is None:
        plan = session.plan_encoding(requests) if mode == "stop" else EncodingPlan()
        if max((len(plan.needs(one)) for one in session.subjects.values()), default=0) <= MAX_TEXTS:
            return None, LookDecision()
        return None, LookDecision(True, FirstLook(0, 0, 0, 0), RemainingWork(WHY["quick"], ()))
    searched = [session.data[name].collection for name in {data for _, data, *_ in requests}]
    if look.total_text_count + sum(len(one.documents) + len(one.queries) for one in searched if one) <= MAX_TEXTS:
        return None, LookDecision()
    subjects = [one for label, one in session.subjects.items() if label in look.plan.pairs]
    rests = [_estimate_remaining_work(look, one, session, requests) for one in subjects]
    is_stored = not any(missing_from_store(one, look.plan.needs(one), session.store) for one in subjects)
    if mode != "stop" and is_stored and not any(rest.texts for rest in rests):
        return None, LookDecision()
    rates = {one.label: _encode_and_time(look, one, session, locks, progress) for one in subjects}
    look.session.encode_repeats(look.requests, locks=locks)
    seconds = {one.model: one.characters * rate for one in rests if (rate := rates[one.model]) is not None}
    why = "quick" if mode == "stop" else ""
    if mode == "ask" and any(rest.price and rest.texts for rest in rests):
        why = "price"
    elif mode == "ask" and sum(seconds.values()) > MAX_SECONDS:
        why = "time"
    timed = tuple(replace(one, seconds=seconds.get(one.model)) for one in rests)
    seen = FirstLook(look.text_count, look.total_text_count, look.clusters, look.of)
    return look, LookDecision(bool(why), seen, RemainingWork(WHY.get(why, ""), timed))


def plan_first_look(session: ScoringSession, requests: Sequence[Request], mode: Mode) -> FirstLookPlan | None:
    """Return the plan of a run's first look, which is the same in all of its workers. Nothing is encoded."""
    return largest_affordable_part(session, _requests_for_look(session, requests, mode), max_texts=MAX_TEXTS)


def _requests_for_look(session: ScoringSession, requests: Sequence[Request], mode: Mode) -> list[Request]:
    """Return the requests that a look may use.

    A model that learns from the run's texts takes part only if the run stops, since part of the texts would change it.
    """
    return [one for one in requests if mode == "stop" or not isinstance(session.subjects[one[0]].model, FittedModel)]


def _encode_and_time(
    look: FirstLookPlan, subject: ModelUnderTest, session: ScoringSession, locks: Locks, progress: Progress
) -> float | None:
    """Encode the look with one model; return the seconds per character, or None if too little was computed.

    Unless the model has a price, some of the remaining texts are encoded too, for a better estimate.
    """
    label, lacking = subject.label, missing_from_store(subject, look.plan.needs(subject), session.store)
    also: list[Pair] = []
    if len(lacking) < FEWEST and not subject.config.price:
        left, pairs = _texts_left(look, subject, session), dict.fromkeys(look.every.pairs.get(label, ()))
        if subject.kind == "vector":
            pairs = dict.fromkeys((text, text) for text in dict.fromkeys(text for pair in pairs for text in pair))
        keys = ((pair, text_key(*pair) if subject.kind == "pair" else text_key(pair[0])) for pair in pairs)
        also = list(islice((pair for pair, key in keys if key in left), FEWEST - len(lacking)))
    characters = sum(len(text) for texts in lacking.values() for text in texts)
    characters += sum(map(len, {text for pair in also for text in pair}))
    before, encoded = subject.state.seconds, subject.encoded
    roles = {label: look.plan.roles[label]} if label in look.plan.roles else {}
    pairs_of_look = [*look.plan.pairs.get(label, ()), *also]
    look.session.encode({label: pairs_of_look}, roles=roles, locks=locks, progress=progress)
    if subject.error or subject.encoded - encoded < FEWEST or not characters:
        return None
    return (subject.state.seconds - before) / characters


def largest_affordable_part(
    session: ScoringSession, requests: Sequence[Request], *, max_texts: int
) -> FirstLookPlan | None:
    """Return the largest part for which the headline checks need at most `max_texts` texts of a model.

    Return None if nothing fits.

    The contracts' texts count too. Searches are left out, since their figures depend on all documents. Other checks
    that need no further texts are also measured.
    """
    there = [one for one in requests if session.data[one[1]].collection is None and one[2].family != CONTRACT]
    # Some items of each contract, evenly spaced over all data, since one broken text breaks a contract.
    contracts = {}
    for one in requests:
        with suppress(NothingToMeasure, CheckError):
            if one[2].family == CONTRACT and session.data[one[1]].collection is None:
                items = session.items(*one[1:])
                step = max(1, len(items.included) // CONTRACT_ITEMS)
                contracts[one] = replace(items, included=items.included[::step][:CONTRACT_ITEMS], whole=None)
    chosen, ranks = (
        headline_requests(there),
        {name: _clusters_by_edit(data, session.seed) for name, data in session.data.items()},
    )

    def first(count: int) -> dict[str, set[str]]:
        return {name: {one for names in kinds.values() for one in names[:count]} for name, kinds in ranks.items()}

    known: dict[int, FirstLookPlan] = {}
    count, largest = BEGIN, max((len(names) for kinds in ranks.values() for names in kinds.values()), default=0)
    for _ in range(ROUNDS if chosen else 0):
        count = min(count, largest)
        drawn = _session_of_clusters(session, first(count))
        seen = tuple(one for one in chosen if _is_measurable_in_part(drawn, one))
        part, measured = (
            _session_of_clusters(session, _clusters_with_items_by_data(drawn, seen), given=contracts),
            (*seen, *contracts) if seen else (),
        )
        clusters, all_clusters = (sum(len(data.universe) for data in one.data.values()) for one in (part, session))
        plan = part.plan_encoding(measured)
        known[count] = look = FirstLookPlan(part, measured, plan, drawn, clusters, all_clusters)
        if look.text_count <= max_texts and (count == largest or look.text_count >= ENOUGH * max_texts):
            break
        count = max(1, int(0.97 * count * max_texts / max(look.text_count, 1)))
        if count in known:
            break
    fitting = {count: one for count, one in known.items() if 0 < one.text_count <= max_texts}
    if not fitting:
        return None

    look, count = fitting[max(fitting)], max(fitting)
    inside, more = first(count), first(count + OUTSIDE)
    outside = _session_of_clusters(session, {name: more[name] - inside[name] for name in ranks})
    has = {label: set(look.plan.needs(one)) for label, one in look.session.subjects.items()}
    further = [
        one
        for one in there
        if one not in look.requests and one[2].family not in UNSEEN and _is_measurable_in_part(look.session, one)
        and set(look.session.plan_encoding([one]).needs(look.session.subjects[one[0]])) <= has[one[0]]
    ]  # fmt: skip
    measured = (*look.requests, *further)
    every, others = look.drawn.plan_encoding(there), outside.plan_encoding(there)
    return replace(look, requests=measured, plan=look.session.plan_encoding(measured), every=every, outside=others)


def _is_mostly_stored(session: ScoringSession, requests: Sequence[Request]) -> bool:
    """Return whether the store has all models' texts of a few clusters that a look would take last."""
    there = [one for one in requests if session.data[one[1]].collection is None and one[2].family != CONTRACT]
    last = {
        name: {one for names in _clusters_by_edit(data, session.seed).values() for one in names[-OUTSIDE:]}
        for name, data in session.data.items()
    }
    plan = _session_of_clusters(
        session, _clusters_with_items_by_data(_session_of_clusters(session, last), there)
    ).plan_encoding(there)
    needs = {one.label: plan.needs(one) for one in session.subjects.values() if one.label in plan.pairs}
    lacking = [len(missing_from_store(session.subjects[label], some, session.store)) for label, some in needs.items()]
    return bool(needs) and sum(lacking) <= (1 - WARM) * sum(map(len, needs.values()))


def headline_requests(requests: Iterable[Request]) -> list[Request]:
    """Return the headline checks of each property at their first level, or all its checks if it has none."""
    first: dict[tuple[str, str, int], Request] = {}
    for one in sorted(requests, key=lambda one: str(one[3])):
        if one[2].family not in UNSEEN:
            first.setdefault((one[0], one[1], id(one[2])), one)
    standing = {key for key, one in first.items() if one[2].declared.stands_for_property}
    named = {(model, data, first[model, data, claim][2].property) for model, data, claim in standing}
    return [one for key, one in first.items() if key in standing or (one[0], one[1], one[2].property) not in named]


def _clusters_by_edit(data: Dataset, seed: int) -> dict[str, list[str]]:
    """Return the clusters with each kind of written edit, and those without edits, in a seeded order."""
    kinds: dict[str, set[str]] = {"": set()} if data.groups else {"": set(data.universe)}
    for group in data.groups:
        for kind in {one.relation for one in group.variants} | ({"passage"} if group.passage else set()) or {""}:
            kinds.setdefault(kind, set()).add(group.cluster)
    return {kind: order_clusters_by_hash(clusters, seed=seed) for kind, clusters in sorted(kinds.items())}


def _session_of_clusters(
    session: ScoringSession, clusters: Mapping[str, Container[str]], *, given: Mapping[Request, Items] = {}
) -> ScoringSession:
    """Return the session of these clusters, by data. Names are taken from all data, so variants equal those of the run.

    `given` has requests with the items to use for them.
    """
    wholes: dict[str, Sequence[Group]] = {g.id: data.groups for data in session.data.values() for g in data.groups}
    parts = {name: data.select_clusters(clusters[name]) for name, data in session.data.items()}
    items: dict[tuple[str, object, int | str], Items] = {
        (name, claim.items, level): its for (_, name, claim, level), its in given.items()
    }
    maker = replace(session.maker, wholes=wholes)
    return ScoringSession(session.subjects, parts, session.store, maker=maker, clock=session.clock, items=items)


def _clusters_with_items_by_data(session: ScoringSession, requests: Iterable[Request]) -> dict[str, set[str]]:
    """Return the clusters in which requests have items, by data."""
    used: dict[str, set[str]] = {name: set() for name in session.data}
    for _, data, claim, level in requests:
        with suppress(NothingToMeasure, CheckError):
            used[data] |= {item.cluster for item in session.items(data, claim, level).included}
    return used


def _is_measurable_in_part(session: ScoringSession, request: Request) -> bool:
    """Return whether the request measures something here and is not a search."""
    try:
        return session.items(*request[1:]).included[0].kind.is_sampled
    except (NothingToMeasure, CheckError):
        return False


def _texts_left(look: FirstLookPlan, subject: ModelUnderTest, session: ScoringSession) -> dict[bytes, tuple[str, ...]]:
    """Return the texts, beyond those of the look, that all requests need on the drawn clusters and the store lacks."""
    own, here = look.plan.needs(subject), look.every.needs(subject)
    return missing_from_store(subject, {key: texts for key, texts in here.items() if key not in own}, session.store)


def _estimate_remaining_work(
    look: FirstLookPlan, subject: ModelUnderTest, session: ScoringSession, requests: Iterable[Request]
) -> RemainingWorkOfModel:
    """Estimate what is left for a model after the look: on its part, on other clusters, in searches and in tasks.

    Samples give the estimates for other clusters, for a search's documents, and for characters and tokens. Pairs that
    rerank a search are not counted.
    """
    here, others = look.every.needs(subject), look.outside.needs(subject)
    left, lacking = _texts_left(look, subject, session), missing_from_store(subject, others, session.store)
    away = len(here) * (look.share - 1) * len(lacking) / max(len(others), 1)
    requests = [one for one in requests if one[0] == subject.label]
    amounts: list[TextAmount] = [(len(left), _join_texts(left.values())), (away, _join_texts(lacking.values()))]
    for name in dict.fromkeys(data for _, data, *_ in requests):
        collection = session.data[name].collection
        if collection and isinstance(subject.model, Encoder):
            roles: Texts = {"document": sorted(collection.documents.values(), key=content_hash)[:SOME]}
            needs = EncodingPlan(roles={subject.label: roles}).needs(subject)
            lacking = missing_from_store(subject, needs, session.store)
            total = len(collection.documents) + len(collection.queries)
            amounts.append((total * len(lacking) / max(len(needs), 1), _join_texts(lacking.values())))
    amounts = [one for one in (*amounts, missing_task_texts(subject, session, requests)) if one[0]]

    characters = sum(count * sum(map(len, some)) / len(some) for count, some in amounts)
    means = [mean_tokens_per_text(subject, some) for _, some in amounts]
    counted = [count * mean for (count, _), mean in zip(amounts, means, strict=True) if mean is not None]
    is_counted = len(counted) == len(amounts)
    tokens = round(sum(counted) if is_counted else characters / CHARACTERS_A_TOKEN)
    price = 0.0 if subject.config.price is None and model_devices(subject.model) else subject.config.price
    dollars = None if price is None else price * tokens / 1e6
    texts = round(sum(count for count, _ in amounts))
    return RemainingWorkOfModel(subject.label, texts, characters, tokens, is_counted, price, dollars)


def missing_task_texts(subject: ModelUnderTest, session: ScoringSession, requests: Iterable[Request]) -> TextAmount:
    """Return the amount of downstream tasks' texts that the store lacks. A look never uses part of a task."""
    plan = session.plan_encoding(one for one in requests if one[2].items is classified_texts)
    lacking = missing_from_store(subject, plan.needs(subject), session.store)
    return len(lacking), _join_texts(lacking.values())


def _join_texts(groups: Iterable[tuple[str, ...]]) -> list[str]:
    return [" ".join(texts) for texts in groups]
