"""What to do about the verdict of a gate."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass

from encheck.gating.types import GateAgainst
from encheck.options import model_options
from encheck.reporting.commands import NOT_OF_A_GATE, chosen
from encheck.reporting.gate.story import NEW
from encheck.reporting.gate.words import endpoint_remedy, what_has_to_change
from encheck.run_file import RunEntry, listed
from encheck.running.labels import OBJECT, labels

SELECTS = ("-m", "-k", "--deselect", "--ignore", "--ignore-glob")  # what selects checks; the value may follow a blank


@dataclass(frozen=True)
class Step:
    """What to do next, what to type for it, "" where there is nothing to type, and ways to do it, any of which does."""

    says: str
    command: str = ""
    ways: tuple[str, ...] = ()


@dataclass(frozen=True)
class Commands:
    """What gates the candidate again, also on all checks, and what keeps it as a baseline; "" where not known."""

    again: str = ""
    keep: str = ""
    whole: str = ""


UNKNOWN = Commands()


def commands(run: RunEntry) -> Commands:
    """Those of a run with a gate, from its `run` in results.json."""
    settings = run.settings
    models = listed(settings, "models")
    if not models or models[0].startswith(OBJECT):
        return Commands(run.command)
    label, spec = next(iter(labels(models).items()))
    asked = model_options(label, spec, listed(settings, "model_args"))
    data = [*listed(settings, "data")]
    on = "".join(f" --data={shlex.quote(one)}" for one in data if data != ["probes"])
    on += chosen(settings, but=NOT_OF_A_GATE)
    command, keep = run.command, f"encheck run {asked}{on} --save-baseline=reports/baselines/new"
    return Commands(command, keep, _of_all_checks(command))


def _of_all_checks(command: str) -> str:
    """The command without what selects checks."""
    try:
        words = shlex.split(command)
    except ValueError:
        return ""
    is_value = [False, *(word in SELECTS for word in words)]
    kept = [word for word, drop in zip(words, is_value, strict=False) if not drop and not word.startswith(SELECTS)]
    return shlex.join(kept)


def steps(against: GateAgainst, *, candidate: str = NEW, to_type: Commands = UNKNOWN) -> Iterator[Step]:
    """What to do, the first step first."""
    if against.outcome == "pass":
        yield from _switch(against, candidate, to_type)
    elif against.outcome == "block":
        yield from _stay(against, to_type)
    else:
        yield from _find_out(against, to_type)


def _switch(against: GateAgainst, candidate: str, to_type: Commands) -> Iterator[Step]:
    changes = what_has_to_change(against)
    stays = " Stored vectors stay as they are." if against.reindex and against.reindex.needed is False else ""
    yield Step(f"Make these changes with the switch to {candidate}." if changes else f"Switch to {candidate}.{stays}")
    yield Step(f"Make {candidate} the next baseline.", to_type.keep)


def _stay(against: GateAgainst, to_type: Commands) -> Iterator[Step]:
    yield Step(f"Keep {against.baseline} in use.")
    yield Step("Fix what got worse, then gate the new model again.", to_type.again)
    yield Step("Do you accept this loss? Then make the new model the baseline.", to_type.keep)


def _find_out(against: GateAgainst, to_type: Commands) -> Iterator[Step]:
    if against.yours:
        accepted = " ".join(f"--accept={shlex.quote(name)}" for name in against.yours)
        yield Step("Do you accept this loss?", f"{to_type.again} {accepted}" if to_type.again else "")
        return
    yield Step(f"Keep {against.baseline} in use until the gate can tell.")
    if against.index_faults:
        yield Step("Then gate the new model against the index that was repaired.", to_type.again)
        return
    if against.partial:
        ways = tuple(f"{text[0].upper()}{text[1:]}." for text in against.remedies)
        yield Step("Gate the new model on all checks.", to_type.whole, ways)
        return
    if command := judging(against):
        yield Step("Say which answers are better, where the two models differ.", command)
    if ways := tuple(_ways(against)):
        yield Step("To decide:", ways=ways)
    yield Step("Then gate the new model again.", to_type.again)


def _ways(against: GateAgainst) -> Iterator[str]:
    """What else would decide."""
    if more := endpoint_remedy(against):
        yield f"{more}."
    yield from (f"{text[0].upper()}{text[1:]}." for text in against.remedies)


def judging(against: GateAgainst) -> str:
    """The command by which people decide a search without labels; "" where none would."""
    return next((search.judge for search in against.searches if search.judge), "")
