"""What a run would cost, without running it: from pilots on parts of its data, and a sample of each model's texts."""

from __future__ import annotations

import gc
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from encheck.encoders.protocol import Partial
from encheck.engine.first_look import MOST_SECONDS, MOST_TEXTS
from encheck.engine.pilot import MOST_SEARCHED, Need, Pilot, Pilots
from encheck.reporting.results import write_named
from encheck.running.rate import SAMPLE, Rate, rate_of
from encheck.running.rest import Amount, Rest, in_searches, rest_from
from encheck.system.spent import Spent

if TYPE_CHECKING:
    from encheck.engine.checks import CheckFunction
    from encheck.engine.evaluation import Evaluation
    from encheck.running.subject import Subject

FIRST, TIMES = 64, (16, 4)  # clusters of the first pilot; how many times as many the next one has
BUDGET = 25.0  # seconds of processor time that pilots may take
WATCHED, WATCHING = 1_000, 2.5  # clusters of a pilot whose memory is watched; how many times as long that takes


@dataclass(frozen=True)
class Model:
    """What one model would compute: `need` of all data, `rest` what the store lacks, `rate` how fast it is.

    `spent` is the time of loading and encoding, None where the model's rate is not known.
    """

    need: Need
    rest: Rest
    rate: Rate

    @property
    def spent(self) -> Spent | None:
        """Loading and encoding."""
        return None if self.rate.why else self.rate.loading.plus(self.rate.a_character.times(self.rest.characters))

    def as_dict(self) -> dict[str, Any]:
        """For --json."""
        return {
            "model": self.rest.model,
            "asked": round(self.need.asked),
            "distinct": round(self.need.distinct),
            "to_compute": self.rest.texts,
            "tokens": self.rest.tokens,
            "tokens_are_counted": self.rest.is_counted,
            "dollars": self.rest.dollars,
            "seconds": self.spent._asdict() if self.spent else None,
            "sample": self.rate.texts,
            "why_unknown": self.rate.why,
        }


@dataclass(frozen=True)
class Cost:
    """What a run would cost.

    `spent` by part of the run: what was spent already (load), and what comes besides the models. `memory` is the
    peak of one process in bytes, None where the system does not say; `store` and `report` are bytes on disk.
    `clusters` of `of` were piloted: where they are all, nothing but time is extrapolated.
    """

    models: tuple[Model, ...]
    spent: Mapping[str, Spent]
    memory: float | None
    store: float
    report: float
    clusters: int
    of: int
    notes: tuple[str, ...]

    @property
    def total(self) -> Spent:
        """Of the whole run in one process, without models whose rate is not known."""
        return Spent().plus(*self.spent.values(), *(one.spent for one in self.models if one.spent))

    def as_dict(self) -> dict[str, Any]:
        """For --json."""
        return {
            "models": [one.as_dict() for one in self.models],
            "seconds": {name: one._asdict() for name, one in {**self.spent, "total": self.total}.items()},
            "memory_bytes": None if self.memory is None else round(self.memory),
            "store_bytes": round(self.store),
            "report_bytes": round(self.report),
            "clusters": self.clusters,
            "of_clusters": self.of,
            "notes": [*self.notes],
        }


def cost_of(evaluation: Evaluation, functions: Mapping[str, CheckFunction], *, spent: Spent) -> Cost:
    """What the evaluation's cases would cost; `spent` went by until its data were loaded.

    `functions` are the checks by their cases' ids. Nothing is kept: not in the store, and not in a report.

    Raises:
        EncoderError: a model failed on the sample.
    """
    before = _peak_of_process()
    warm = Pilots(evaluation, functions, {}).run(_share(evaluation, FIRST))
    rates = {label: rate_of(one, warm.lacking[label]) for label, one in evaluation.bench.subjects.items()}
    gc.collect()
    here = _in_use()
    pilots = Pilots(evaluation, functions, {label: one.width for label, one in rates.items()})
    found = _timed(pilots)
    rates = {label: _again(evaluation, label, one, found[-1]) for label, one in rates.items()}
    models = tuple(_model(evaluation, label, rate, found, pilots.clusters) for label, rate in rates.items())
    first = warm.spent.plus(_spent(found, warm.clusters).times(-1))
    parts = {"load": spent, "checks": _spent(found, pilots.clusters).plus(first.times(1))}
    distinct = max((one.need.distinct for one in models), default=0)
    if evaluation.mode and distinct > MOST_TEXTS and any(one.rest.texts > 0 for one in models):
        parts["first look"] = _spent(found, int(pilots.clusters * MOST_TEXTS / distinct))
    store = _at(found, pilots.clusters, "store") * _new(models)
    return Cost(
        models, parts, _memory(pilots, found, here=here, before=before), store,
        _at(found, pilots.clusters, "report"), found[-1].clusters, pilots.clusters, tuple(_notes(evaluation)),
    )  # fmt: skip


def _new(models: Sequence[Model]) -> float:
    """The share of the distinct texts that the store lacks; the pilots begin with an empty store."""
    lacking, distinct = (sum(getattr(one.need, of) for one in models) for of in ("lacking", "distinct"))
    return float(lacking / max(distinct, 1))


def _again(evaluation: Evaluation, label: str, rate: Rate, pilot: Pilot) -> Rate:
    """The rate, from the texts of a larger pilot where the first one had too few; the model is loaded already."""
    if rate.texts == SAMPLE or rate.why:
        return rate
    more = rate_of(evaluation.bench.subjects[label], pilot.lacking[label])
    return replace(more, loading=rate.loading.plus(more.loading))


def _share(evaluation: Evaluation, clusters: int) -> float:
    of = sum(len(one.universe) for one in evaluation.bench.data.values())
    return min(1.0, clusters / max(of, 1))


def _timed(pilots: Pilots) -> list[Pilot]:
    """Ever larger pilots, until one is of all data or the next would take too long; the last two."""
    found: list[Pilot] = []
    share, processor = min(1.0, FIRST / max(pilots.clusters, 1)), 0.0
    while share:
        found = [*found[-1:], pilots.run(share)]
        processor += found[-1].spent.processor
        share = _next(found, share, pilots.clusters, BUDGET - processor)
    return found


def _next(found: list[Pilot], share: float, clusters: int, left: float) -> float:
    """The share of the next pilot, the largest that takes at most `left` of processor time; 0 where there is none."""
    if share == 1.0:
        return 0.0
    if len(found) == 1:
        return min(1.0, TIMES[-1] * share)
    larger = [min(1.0, times * share) for times in TIMES]
    return next((one for one in larger if _spent(found, round(one * clusters)).processor <= left), 0.0)


def _spent(pilots: list[Pilot], clusters: int) -> Spent:
    """The time of a run on so many clusters, without the models' own.

    Processor time is along the line of the pilots, and the clock went as it did in them all: it is the noisier one.
    """
    every = Spent().plus(*(one.spent for one in pilots))
    processor = _line([one.clusters for one in pilots], [one.spent.processor for one in pilots], clusters)
    return Spent(processor * every.wall / max(every.processor, 1e-9), processor)


def _at(pilots: list[Pilot], clusters: int, what: str) -> float:
    """A figure of the pilots at so many clusters, along the line through the last two of them."""
    values = [float(getattr(one, what)) for one in pilots]
    return _line([one.clusters for one in pilots], values, clusters)


def _line(places: list[int], values: list[float], at: int) -> float:
    """The line through the last two points, nowhere below zero.

    >>> _line([10, 20], [3.0, 4.0], 100)
    12.0
    """
    if at == places[-1] or len(places) < 2 or places[-1] == places[-2]:
        return values[-1]
    slope = (values[-1] - values[-2]) / (places[-1] - places[-2])
    return max(0.0, values[-1] + max(slope, 0.0) * (at - places[-1]))


def _model(evaluation: Evaluation, label: str, rate: Rate, pilots: list[Pilot], clusters: int) -> Model:
    subject, places = evaluation.bench.subjects[label], [one.clusters for one in pilots]
    needs = [one.needs[label] for one in pilots]
    need = Need(*(_line(places, [getattr(one, field) for one in needs], clusters)
                  for field in ("asked", "distinct", "lacking")))  # fmt: skip
    amounts: list[Amount] = [(need.lacking, [" ".join(texts) for texts in pilots[-1].lacking[label].values()])]
    unpiloted = [*_searched(evaluation, subject), *_in_shards(evaluation, amounts[0][1])]
    more = sum(count for count, _ in unpiloted)
    need, amounts = Need(need.asked + more, need.distinct + more, need.lacking + more), [*amounts, *unpiloted]
    return Model(need, rest_from(subject, [one for one in amounts if one[0] and one[1]]), rate)


def _searched(evaluation: Evaluation, subject: Subject) -> list[Amount]:
    """Queries and documents of searches that no pilot searches."""
    if not _is_left_out(evaluation):
        return []
    requests = [(c.model, c.data, c.claim, c.level) for c in evaluation.cases if c.model == subject.label]
    return list(in_searches(subject, evaluation.bench, requests))


def _in_shards(evaluation: Evaluation, some: Sequence[str]) -> list[Amount]:
    """The texts of pairs that stay in their shards, two a pair: each shard encodes its own, and the store has none.

    They are told by `some` texts of the sample that is in memory.
    """
    whole = [one.columns for one in evaluation.bench.data.values()]
    return [(2 * len(columns), some) for columns in whole if columns is not None]


def _is_left_out(evaluation: Evaluation) -> bool:
    """Whether so many documents are searched that no pilot searches them."""
    found = [one.collection for one in evaluation.bench.data.values()]
    return any(one is not None and len(one.documents) > MOST_SEARCHED for one in found)


def _memory(pilots: Pilots, found: list[Pilot], *, here: float | None, before: float) -> float | None:
    """The peak of a run in bytes: what two watched pilots took, along their line, and what was there `here`.

    That is the libraries, the data and the models. `before` is the peak while the data were loaded.
    """
    if here is None:
        return None
    few = min(FIRST, pilots.clusters)
    is_slow = WATCHING * _spent(found, WATCHED).processor > BUDGET
    most = min(1.0, (few if is_slow else WATCHED) / max(pilots.clusters, 1))
    watched = [pilots.run(share, watch_memory=True) for share in (most / 2, most)]
    return max(before, here + _at(watched, pilots.clusters, "memory"))


def _in_use() -> float | None:
    """Bytes of memory that this process has now; None where the system does not say."""
    try:
        import resource

        pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
    except (ImportError, OSError):
        return None
    return float(pages * resource.getpagesize())


def _peak_of_process() -> float:
    """The most memory that this process had so far, in bytes; 0 where the system does not say."""
    try:
        import resource
    except ImportError:
        return 0.0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1.0 if sys.platform == "darwin" else 1024.0)


def _notes(evaluation: Evaluation) -> list[str]:
    """What the estimate leaves out."""
    found = []
    if _is_left_out(evaluation):
        found.append(
            f"the search itself where over {MOST_SEARCHED:,} documents are searched; their encoding is counted"
        )
    if any(one.tasks for one in evaluation.bench.data.values()):
        found.append("downstream tasks")
    if _in_shards(evaluation, ()):
        found.append("figures of all pairs in shards; their encoding is counted")
    if evaluation.settings.baseline:
        found.append("the decision of the gate")
    if any(isinstance(one.model, Partial) for one in evaluation.bench.subjects.values()):
        found.append("which checks are skipped because the stored vectors lack some of their texts")
    return found


def stops_early(evaluation: Evaluation, cost: Cost) -> bool:
    """Whether the run would stop after its first look, unless it is told --full."""
    seconds = sum(one.spent.wall for one in cost.models if one.spent)
    return evaluation.mode == "ask" and (seconds > MOST_SECONDS or any(one.rest.dollars for one in cost.models))


def write_json(path: Path, cost: Cost, command: str) -> None:
    """Write the estimate with the command that it is of; UsageError where the file cannot be written."""
    write_named(path, json.dumps({**cost.as_dict(), "command": command}, indent=1, allow_nan=False) + "\n")
