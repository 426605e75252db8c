"""What a run decides, in one short block each, and what to type next.

Commands that a page gives to copy have what the run was asked for, where labels are only its short names.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path

from encheck.gating.reference import SHIPPED
from encheck.gating.types import GateAgainst
from encheck.options import OPTIONS, RunSettings, gate_options, model_options
from encheck.reporting import view
from encheck.reporting.gate import words
from encheck.reporting.gate.words import NEW, endpoint_remedy, what_has_to_change
from encheck.reporting.view import unmeasured_data
from encheck.run_file import RunEntry, RunFile
from encheck.running.labels import OBJECT, data_labels, labels

NOT_OF_A_GATE = ("quick", "strict", "engine")
CHOSEN = [
    one.name for one in fields(RunSettings)
    if one.name in OPTIONS and not OPTIONS[one.name].repeatable and one.name != "device"
]  # fmt: skip


@dataclass(frozen=True)
class RunCommands:
    """What --model and --data took by label, --model-arg, options of `chosen`, and the folder of the run, if known."""

    models: Mapping[str, str]
    data: Mapping[str, str]
    model_args: Sequence[str] = ()
    options: str = ""
    folder: str = ""

    def run(self, prop: str, model: str, data: str, *, check: str = "") -> str:
        """Run the checks of a property, or one of them alone; a placeholder stands for a path that is not known.

        "" for a model in memory, which no command line can name.
        """
        if not (named := self._named(model)):
            return ""
        asked = self.data.get(data, "probes" if data == "probes" else f"{data}:PATH")
        on = "" if asked == "probes" else f" {_option('data', asked)}"
        one = f" -k {shlex.quote(check)}" if check else ""
        return f"encheck run -m {shlex.quote(prop)}{one} {named}{on}{self.options}"

    def show(self, model: str) -> str:
        """What follows the item in `encheck show ITEM`; without a model in memory, it shows the scores of the run."""
        where = _option("run", self.folder) if self.folder else ""
        return " ".join(filter(None, (self._named(model), where)))

    def _named(self, model: str) -> str:
        spec = self.models.get(model, model)
        return "" if spec.startswith(OBJECT) else model_options(model, spec, self.model_args)


def run_commands(results: RunFile, folder: Path | None) -> RunCommands:
    """The commands of a run that lies in `folder`, which is named from here where it lies below."""
    settings = results.run.settings
    here = Path.cwd()
    near = folder.relative_to(here) if folder and folder.is_relative_to(here) else folder
    models, data = labels(settings.models), data_labels(settings.data)
    return RunCommands(models, data, settings.model_args, chosen_options(settings), str(near or ""))


def chosen_options(settings: RunSettings, *, but: Sequence[str] = ()) -> str:
    """Options that change the figures and that results.json keeps, where they are no defaults; a blank before each.

    >>> chosen_options(RunSettings(sample=None, strict=True, seed=7), but=NOT_OF_A_GATE)
    ' --sample=all --seed=7'
    """
    return "".join(f" {option}" for option in _chosen_options(settings, but))


def _chosen_options(settings: RunSettings, but: Sequence[str]) -> Iterator[str]:
    usual = RunSettings()
    for name in CHOSEN:
        if name not in but and (value := getattr(settings, name)) != getattr(usual, name):
            option = name.replace("_", "-")
            yield f"--{option}" if value is True else _option(option, "all" if value is None else str(value))


def _option(name: str, value: str) -> str:
    return f"--{name}={shlex.quote(value)}"


SELECTS = ("-m", "-k", "--deselect", "--ignore", "--ignore-glob")  # what selects checks; the value may follow a blank


@dataclass(frozen=True)
class NextStep:
    """What to do next, what to type for it, "" where there is nothing to type, and ways to do it, any of which does."""

    says: str
    command: str = ""
    ways: tuple[str, ...] = ()


@dataclass(frozen=True)
class GateCommands:
    """What gates the candidate again, also on all checks, and what keeps it as a baseline; "" where not known."""

    again: str = ""
    keep: str = ""
    whole: str = ""


NO_COMMANDS = GateCommands()


def gate_commands(run: RunEntry) -> GateCommands:
    """Those of a run with a gate, from its `run` in results.json."""
    settings = run.settings
    models = settings.models
    if models[0].startswith(OBJECT):
        return GateCommands(run.command)
    label, spec = next(iter(labels(models).items()))
    asked = model_options(label, spec, settings.model_args)
    data = [*settings.data]
    on = "".join(f" --data={shlex.quote(one)}" for one in data if data != ["probes"])
    on += chosen_options(settings, but=NOT_OF_A_GATE)
    command, keep = run.command, f"encheck run {asked}{on} --save-baseline=reports/baselines/new"
    return GateCommands(command, keep, _of_all_checks(command))


def _of_all_checks(command: str) -> str:
    """The command without what selects checks."""
    try:
        words = shlex.split(command)
    except ValueError:
        return ""
    is_value = [False, *(word in SELECTS for word in words)]
    kept = [word for word, drop in zip(words, is_value, strict=False) if not drop and not word.startswith(SELECTS)]
    return shlex.join(kept)


def next_steps(
    against: GateAgainst, *, candidate: str = NEW, to_type: GateCommands = NO_COMMANDS
) -> Iterator[NextStep]:
    """What to do, the first step first."""
    if against.outcome == "pass":
        changes = what_has_to_change(against)
        stays = " Stored vectors stay as they are." if against.reindex and against.reindex.needed is False else ""
        yield NextStep(
            f"Make these changes with the switch to {candidate}." if changes else f"Switch to {candidate}.{stays}"
        )
        yield NextStep(f"Make {candidate} the next baseline.", to_type.keep)
    elif against.outcome == "block":
        yield NextStep(f"Keep {against.baseline} in use.")
        yield NextStep("Fix what got worse, then gate the new model again.", to_type.again)
        yield NextStep("Do you accept this loss? Then make the new model the baseline.", to_type.keep)
    else:
        yield from _steps_of_doubt(against, to_type)


def _steps_of_doubt(against: GateAgainst, to_type: GateCommands) -> Iterator[NextStep]:
    if against.yours:
        accepted = " ".join(f"--accept={shlex.quote(name)}" for name in against.yours)
        yield NextStep("Do you accept this loss?", f"{to_type.again} {accepted}" if to_type.again else "")
        return
    yield NextStep(f"Keep {against.baseline} in use until the gate can tell.")
    if against.index_faults:
        yield NextStep("Then gate the new model against the index that was repaired.", to_type.again)
        return
    if against.partial:
        ways = tuple(f"{text[0].upper()}{text[1:]}." for text in against.remedies)
        yield NextStep("Gate the new model on all checks.", to_type.whole, ways)
        return
    if command := next((search.judge for search in against.searches if search.judge), ""):
        yield NextStep("Say which answers are better, where the two models differ.", command)
    if ways := tuple(_ways_to_decide(against)):
        yield NextStep("To decide:", ways=ways)
    yield NextStep("Then gate the new model again.", to_type.again)


def _ways_to_decide(against: GateAgainst) -> Iterator[str]:
    """What else would decide."""
    if more := endpoint_remedy(against):
        yield f"{more}."
    yield from (f"{text[0].upper()}{text[1:]}." for text in against.remedies)


COLOURS = {"pass": "good", "block": "bad"}
SHIPS = {"pass": "Yes", "block": "No", "inconclusive": "Not decided"}


@dataclass(frozen=True)
class RunDecision:
    """A question, the answer in a line, what more there is to it, and what to type."""

    question: str
    answer: str
    kind: str = "none"
    more: tuple[str, ...] = ()
    command: str = ""


def run_decisions(results: RunFile) -> list[RunDecision]:
    """The answers that the run has; the first is whether the model may ship."""
    return [*_may_ship(results), *_must_reindex(results), *_threshold_fits(results)]


def _may_ship(results: RunFile) -> Iterator[RunDecision]:
    gate = results.gate
    for against in gate.against if gate else ():
        kind = COLOURS.get(against.outcome, "tied")
        ships = SHIPS[against.outcome]
        if against.outcome == "pass" and (nothing := unmeasured_data(results)):
            ships = f"Not decided, for nothing of {', '.join(sorted({data for data, _ in nothing}))} was measured"
        answer = f"{ships}: the gate says {words.title(against)} against {against.baseline}{words.part(against)}"
        yield RunDecision(
            "May it ship?", answer, kind, (*against.reasons[:2], *(words.undecided(gate) if gate else ()))
        )
    if not gate and _is_empty(results):
        yield RunDecision("May it ship?", "This run cannot say: nothing was measured")
    elif not gate:
        command = gate_command(results)
        more = (
            (f"Replace {NEW_PLACEHOLDER} with the model that you want to ship.",) if NEW_PLACEHOLDER in command else ()
        )
        more = more if command else (SHARDS if results.run.settings.engine else IN_MEMORY,)
        yield RunDecision(
            "May it ship?", "This run cannot say: it has no baseline to compare with", "none", more, command
        )


NEW_PLACEHOLDER = "NEW_MODEL"
IN_MEMORY = "Call encheck.gate(new, old) with the model and the one in use."
SHARDS = "A gate pairs two models item by item: give it one file of these pairs and --sample=N, and leave out --engine."


def gate_command(results: RunFile) -> str:
    """The gate to run next: of the model itself, or against it where it is one of those that ship.

    "" where the data lie in shards that a gate does not take, where nothing was measured, and for a model in memory.
    """
    settings = results.run.settings
    if settings.engine or _is_empty(results):
        return ""
    models, data = settings.models, [one for one in settings.data if one != "probes"]
    if models[0].startswith(OBJECT):
        return ""
    new, old = (models[0], "sbert") if models[0] not in SHIPPED else (NEW_PLACEHOLDER, models[0])
    label = next(iter(labels(models)))
    how = gate_options(label, settings.model_args)
    how += "".join(f" --data={shlex.quote(one)}" for one in data)
    is_sampled = any(one.whole for one in results.data)
    how += f"{' --sample=2000' * is_sampled}{chosen_options(settings, but=(*NOT_OF_A_GATE, *['sample'] * is_sampled))}"
    return f"encheck gate {shlex.quote(new)} {shlex.quote(old)}{how}"


def _is_empty(results: RunFile) -> bool:
    """Whether no model measured anything on any of the data."""
    pairs = [(one.name, model) for one in results.data for model in one.measured]
    return bool(pairs) and pairs == [*unmeasured_data(results)]


def _must_reindex(results: RunFile) -> Iterator[RunDecision]:
    for against in results.gate.against if results.gate else ():
        if found := against.reindex:
            answer = found.says.removeprefix("re-index: ")
            answer = answer[0].upper() + answer[1:]
            yield RunDecision("Must I re-index?", answer, "good" if found.needed is False else "tied")


def _threshold_fits(results: RunFile) -> Iterator[RunDecision]:
    said = [one.says for against in (results.gate.against if results.gate else ()) for one in against.thresholds]
    if found := [*said, *view.threshold_lines(results)]:
        yield RunDecision("Does my threshold still fit?", found[0], "none", tuple(found[1:]))
