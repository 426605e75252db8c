"""The first look of a run: whether there is one, what it shows, and whether the run stops after it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from encheck.options import Settings
from encheck.run_file import FirstLook, ModelRest, Rest
from encheck.running.bench import Bench, Request
from encheck.running.first_look import Look, first_look, is_warm, learns
from encheck.running.plan import missing
from encheck.running.rest import FEWEST, rest_of, to_time
from encheck.running.subject import Subject
from encheck.system.files import write_text
from encheck.system.lock import Locks
from encheck.system.progress import Progress
from encheck.system.typed_files import as_json, read_typed

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
        return read_typed(Decision, json.loads(self._path.read_text("utf-8")))

    def write(self, decision: Decision) -> None:
        """Tell the others."""
        if self._path:
            write_text(self._path, as_json(decision))
