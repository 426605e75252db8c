"""The first look of a run: on which part of the data, what it shows, and whether the run stops after it.

The part is made of whole clusters, so that intervals hold. Each kind of written edit gives as many clusters as any
other, in the order of their hashes: rows added later reshuffle nothing.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from encheck.claims import CONTRACT
from encheck.datasets.clusters import in_seeded_order
from encheck.datasets.dataset import Dataset
from encheck.encoders.protocol import Encoder, Fitted, devices_of
from encheck.engine.checks import CheckFunction
from encheck.engine.conclusion import for_profile
from encheck.engine.measure import measure_case
from encheck.engine.recorder import Conclusion, Recorder
from encheck.errors import CheckError, NothingToMeasure
from encheck.items.classified import classified
from encheck.options import Settings, described
from encheck.run_file import FirstLook, ModelRest, Rest
from encheck.running.bench import Bench, Plan, Request, missing
from encheck.running.notes import tell
from encheck.running.speed import tokens_a_text
from encheck.running.subject import Pair, Subject, Texts
from encheck.store import text_key
from encheck.system.files import write_text
from encheck.system.lock import Locks
from encheck.system.progress import Progress
from encheck.system.typed_files import as_json, typed
from encheck.types import Group, content_hash

if TYPE_CHECKING:
    from encheck.engine.evaluation import Evaluation

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
    return isinstance(subject.model, Fitted)


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


FEWEST = 64  # texts to time a model by
SOME = 256  # documents that stand for all
CHARACTERS_A_TOKEN = 4  # of English, where no tokenizer is at hand
Amount = tuple[float, Sequence[str]]  # how many texts the store lacks, and some of them


def rest_of(look: Look, subject: Subject, bench: Bench, requests: Iterable[Request]) -> ModelRest:
    """What is left for a model beside the look: on its part, on the other clusters, in searches and tasks of `bench`.

    The other clusters are told by a few of them. Pairs that rerank a search are not counted.
    """
    own, here = look.plan.asked(subject), look.every.asked(subject)
    left = missing(subject, {key: texts for key, texts in here.items() if key not in own}, bench.store)
    others = look.outside.asked(subject)
    lacking = missing(subject, others, bench.store)
    away = len(here) * (look.share - 1) * len(lacking) / max(len(others), 1)
    requests = [one for one in requests if one[0] == subject.label]
    amounts = [(len(left), _joined(left.values())), (away, _joined(lacking.values()))]
    whole = (*in_searches(subject, bench, requests), in_tasks(subject, bench, requests))
    return rest_from(subject, [one for one in (*amounts, *whole) if one[0]])


def to_time(look: Look, subject: Subject, bench: Bench) -> list[Pair]:
    """Pairs of the rest to compute with the look, so that the model is timed on enough texts; none of a priced one."""
    own = look.plan.asked(subject)
    wanted = FEWEST - len(missing(subject, own, bench.store))
    if wanted <= 0 or subject.config.price:
        return []
    left = missing(subject, {k: texts for k, texts in look.every.asked(subject).items() if k not in own}, bench.store)
    pairs = dict.fromkeys(look.every.pairs.get(subject.label, ()))
    if subject.kind == "pair":
        return list(islice((pair for pair in pairs if text_key(*pair) in left), wanted))
    texts = dict.fromkeys(text for pair in pairs for text in pair)
    return list(islice(((text, text) for text in texts if text_key(text) in left), wanted))


def in_searches(subject: Subject, bench: Bench, requests: Iterable[Request]) -> Iterator[Amount]:
    """Queries and documents that the store lacks, told by some documents of each collection."""
    for name in dict.fromkeys(data for _, data, *_ in requests):
        found = bench.data[name].collection
        if found and isinstance(subject.model, Encoder):
            some = sorted(found.documents.values(), key=content_hash)[:SOME]
            roles: Texts = {"document": some}
            asked = Plan(roles={subject.label: roles}).asked(subject)
            lacking = missing(subject, asked, bench.store)
            total = len(found.documents) + len(found.queries)
            yield total * len(lacking) / max(len(asked), 1), _joined(lacking.values())


def in_tasks(subject: Subject, bench: Bench, requests: Iterable[Request]) -> Amount:
    """The texts of downstream tasks that the store lacks, all of them: no look takes a part of a task."""
    plan = bench.plan(one for one in requests if one[2].items is classified)
    lacking = missing(subject, plan.asked(subject), bench.store)
    return len(lacking), _joined(lacking.values())


def rest_from(subject: Subject, amounts: Sequence[Amount]) -> ModelRest:
    """What these amounts come to: characters and tokens are told by some of the texts of each."""
    texts = sum(count for count, _ in amounts)
    characters = sum(count * sum(map(len, some)) / len(some) for count, some in amounts)
    means = [tokens_a_text(subject, some) for _, some in amounts]
    known = [count * mean for (count, _), mean in zip(amounts, means, strict=True) if mean is not None]
    is_counted = len(known) == len(amounts)
    tokens = sum(known) if is_counted else characters / CHARACTERS_A_TOKEN
    price = 0.0 if subject.config.price is None and devices_of(subject.model) else subject.config.price
    dollars = None if price is None else price * round(tokens) / 1e6
    return ModelRest(subject.label, round(texts), characters, round(tokens), is_counted, price, dollars)


def _joined(some: Iterable[tuple[str, ...]]) -> list[str]:
    return [" ".join(texts) for texts in some]


Mode = Literal["", "show", "ask", "stop"]  # no look; a look; one that may stop the run; one that stops it
MOST_TEXTS = 2_500  # that a model computes for a first look
MOST_SECONDS = 300.0  # that the rest may take before a run stops by itself
WHY = {
    "quick": "--quick",
    "price": "the model costs money",
    "time": f"the rest takes over {MOST_SECONDS / 60:g} minutes",
}


@dataclass(frozen=True)
class Decision:
    """Whether the run stops after its first look; what results.json says of the look, and of what is left."""

    stops: bool = False
    look: FirstLook | None = None
    rest: Rest | None = None


def mode_of(settings: Settings, *, is_junit: bool) -> Mode:
    """Whether a run looks first: never one that needs all items; one for JUnit or with --full goes on."""
    if settings.save_baseline or settings.engine:
        return ""
    if settings.quick:
        return "stop"
    if not settings.looks_first:
        return ""
    return "show" if settings.full or is_junit else "ask"


def decide(
    bench: Bench, requests: Sequence[Request], mode: Mode, *, locks: Locks, progress: Progress
) -> tuple[Look | None, Decision]:
    """Encode a first look, and say whether the run stops after it.

    There is none where everything needs few texts, or the store has all of them. A model that learns from the run's
    texts is left out of a look that the run goes on from.
    """
    requests = _usable(bench, requests, mode)
    if mode != "stop" and is_warm(bench, requests):
        return None, Decision()
    look = look_of(bench, requests, mode)
    if look is None:
        is_small = mode != "stop" or _of_all(bench, requests) <= MOST_TEXTS
        return None, Decision() if is_small else _stopped(None, [], {}, "quick")
    if look.of_texts + _searched(bench, requests) <= MOST_TEXTS:
        return None, Decision()
    subjects = [one for label, one in bench.subjects.items() if label in look.plan.pairs]
    rests = [rest_of(look, one, bench, requests) for one in subjects]
    lacking = {one.label: missing(one, look.plan.asked(one), bench.store) for one in subjects}
    if mode != "stop" and not any(lacking.values()) and not any(rest.texts for rest in rests):
        return None, Decision()
    speed = {one.label: _encoded(look, one, bench, locks, progress) for one in subjects}
    seconds = {one.model: one.characters * each for one in rests if (each := speed[one.model]) is not None}
    why = "quick" if mode == "stop" else _why(rests, seconds) if mode == "ask" else ""
    return look, _stopped(look, rests, seconds, why)


def look_of(bench: Bench, requests: Sequence[Request], mode: Mode) -> Look | None:
    """The look of a run, the same in all of its workers; nothing is encoded."""
    return first_look(bench, _usable(bench, requests, mode), most=MOST_TEXTS)


def _usable(bench: Bench, requests: Sequence[Request], mode: Mode) -> list[Request]:
    """The requests that a look may take: of a model that learns from the run's texts only those of a run that stops."""
    return [one for one in requests if mode == "stop" or not learns(bench.subjects[one[0]])]


def _searched(bench: Bench, requests: Sequence[Request]) -> int:
    """How many queries and documents are searched."""
    found = [bench.data[name].collection for name in {data for _, data, *_ in requests}]
    return sum(len(one.documents) + len(one.queries) for one in found if one)


def _of_all(bench: Bench, requests: Sequence[Request]) -> int:
    """How many texts or pairs the model needs that needs most."""
    plan = bench.plan(requests)
    return max((len(plan.asked(one)) for one in bench.subjects.values()), default=0)


def _encoded(look: Look, subject: Subject, bench: Bench, locks: Locks, progress: Progress) -> float | None:
    """Encode the look with one model: seconds a character; None where too little was computed to tell."""
    also, label = to_time(look, subject, bench), subject.label
    pairs = [*look.plan.pairs.get(label, ()), *also]
    asked = missing(subject, look.plan.asked(subject), bench.store)
    characters = sum(len(text) for texts in asked.values() for text in texts)
    characters += sum(map(len, {text for pair in also for text in pair}))
    before, encoded = subject.state.seconds, subject.encoded
    roles = {label: look.plan.roles[label]} if label in look.plan.roles else {}
    look.bench.encode({label: pairs}, roles=roles, locks=locks, progress=progress)
    if subject.error or subject.encoded - encoded < FEWEST or not characters:
        return None
    return (subject.state.seconds - before) / characters


def _why(rests: Sequence[ModelRest], seconds: Mapping[str, float]) -> str:
    """Why a run stops by itself; empty where it goes on."""
    if any(rest.price and rest.texts for rest in rests):
        return "price"
    return "time" if sum(seconds.values()) > MOST_SECONDS else ""


def _stopped(look: Look | None, rests: Sequence[ModelRest], seconds: Mapping[str, float], why: str) -> Decision:
    seen = FirstLook(look.texts, look.of_texts, look.clusters, look.of) if look else FirstLook(0, 0, 0, 0)
    models = tuple(replace(one, seconds=seconds.get(one.model)) for one in rests)
    return Decision(bool(why), seen, Rest(WHY.get(why, ""), models))


class Shared:
    """The decision of the worker that looked, for the other workers of its run; kept beside the lock of the run."""

    def __init__(self, run: str | None) -> None:
        self._path = Path(f"{run}.look") if run else None

    def read(self) -> Decision | None:
        """What was decided; None where nobody has decided yet."""
        if self._path is None or not self._path.exists():
            return None
        return typed(Decision, json.loads(self._path.read_text("utf-8")))

    def write(self, decision: Decision) -> None:
        """Tell the others."""
        if self._path:
            write_text(self._path, as_json(decision))


def show(evaluation: Evaluation, functions: Mapping[str, CheckFunction]) -> None:
    """Show the profile of an evaluation that stands at a first look; `functions` are the checks by their cases' ids."""
    for line in profile_of(evaluation, functions):
        tell(line)


def profile_of(evaluation: Evaluation, functions: Mapping[str, CheckFunction]) -> Iterator[str]:
    """The lines of the first profile, which nothing that is logged meanwhile interrupts."""
    from encheck.reporting.first_look import first_profile

    recorder = Recorder()
    with evaluation.notes.muted(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for case in evaluation.cases:
            function = functions.get(str(case.id))
            if function and evaluation.sees(case):
                judgement = measure_case(case, evaluation, function)
                if any(row.estimate for row in judgement.rows):  # the others' own tests say what is wrong
                    recorder.take(judgement.found(function))
        recorder.described.append(evaluation.describe())
        end = Conclusion(0, references=for_profile(recorder, evaluation.settings))
        yield from first_profile(recorder.results(settings=described(evaluation.settings), end=end))
