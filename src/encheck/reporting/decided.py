"""What a run decides, in one short block each: may it ship, must the index be made again, does the threshold fit."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass

from encheck.gating.reference import SHIPPED
from encheck.options import gate_options
from encheck.reporting import similarity_threshold
from encheck.reporting.commands import NOT_OF_A_GATE, chosen
from encheck.reporting.gate import words
from encheck.reporting.view import unmeasured
from encheck.run_file import RunFile, listed
from encheck.running.labels import OBJECT, labels

COLOURS = {"pass": "good", "block": "bad"}
SHIPS = {"pass": "Yes", "block": "No", "inconclusive": "Not decided"}


@dataclass(frozen=True)
class Decision:
    """A question, the answer in a line, what more there is to it, and what to type."""

    question: str
    answer: str
    kind: str = "none"
    more: tuple[str, ...] = ()
    command: str = ""


def decided(results: RunFile) -> list[Decision]:
    """The answers that the run has; the first is whether the model may ship."""
    return [*_ships(results), *_reindex(results), *_threshold(results)]


def _ships(results: RunFile) -> Iterator[Decision]:
    gate = results.gate
    for against in gate.against if gate else ():
        kind = COLOURS.get(against.outcome, "tied")
        ships = SHIPS[against.outcome]
        if against.outcome == "pass" and (nothing := unmeasured(results)):
            ships = f"Not decided, for nothing of {', '.join(sorted({data for data, _ in nothing}))} was measured"
        answer = f"{ships}: the gate says {words.title(against)} against {against.baseline}{words.part(against)}"
        yield Decision("May it ship?", answer, kind, (*against.reasons[:2], *(words.undecided(gate) if gate else ())))
    if not gate and _is_empty(results):
        yield Decision("May it ship?", "This run cannot say: nothing was measured")
    elif not gate:
        command = gate_command(results)
        more = (f"Replace {NEW} with the model that you want to ship.",) if NEW in command else ()
        more = more if command else (SHARDS if results.run.settings.get("engine") else IN_MEMORY,)
        yield Decision("May it ship?", "This run cannot say: it has no baseline to compare with", "none", more, command)


NEW = "NEW_MODEL"
IN_MEMORY = "Call encheck.gate(new, old) with the model and the one in use."
SHARDS = "A gate pairs two models item by item: give it one file of these pairs and --sample=N, and leave out --engine."


def gate_command(results: RunFile) -> str:
    """The gate to run next: of the model itself, or against it where it is one of those that ship.

    "" where the data lie in shards that a gate does not take, where nothing was measured, and for a model in memory.
    """
    settings = results.run.settings
    if settings.get("engine") or _is_empty(results):
        return ""
    models, data = listed(settings, "models"), [one for one in listed(settings, "data") if one != "probes"]
    if models and models[0].startswith(OBJECT):
        return ""
    new, old = (models[0], "sbert") if models and models[0] not in SHIPPED else (NEW, models[0] if models else "sbert")
    label = next(iter(labels(models)), old)
    how = gate_options(label, listed(settings, "model_args"))
    how += "".join(f" --data={shlex.quote(one)}" for one in data)
    is_sampled = any(one.whole for one in results.data)
    how += f"{' --sample=2000' * is_sampled}{chosen(settings, but=(*NOT_OF_A_GATE, *['sample'] * is_sampled))}"
    return f"encheck gate {shlex.quote(new)} {shlex.quote(old)}{how}"


def _is_empty(results: RunFile) -> bool:
    """Whether no model measured anything on any of the data."""
    pairs = [(one.name, model) for one in results.data for model in one.measured]
    return bool(pairs) and pairs == [*unmeasured(results)]


def _reindex(results: RunFile) -> Iterator[Decision]:
    for against in results.gate.against if results.gate else ():
        if found := against.reindex:
            answer = found.says.removeprefix("re-index: ")
            answer = answer[0].upper() + answer[1:]
            yield Decision("Must I re-index?", answer, "good" if found.needed is False else "tied")


def _threshold(results: RunFile) -> Iterator[Decision]:
    said = [one.says for against in (results.gate.against if results.gate else ()) for one in against.thresholds]
    if found := [*said, *similarity_threshold.lines(results)]:
        yield Decision("Does my threshold still fit?", found[0], "none", tuple(found[1:]))
