"""What a run decides, in short blocks, and the commands to run next.

Commands on a page are meant to be copied, so they use the arguments of the run. A label may be shorter than its
argument.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path

from encheck.gating.reference import SHIPPED
from encheck.gating.types import GateAgainst
from encheck.options import OPTIONS, RunSettings, model_options, model_options_of_gate
from encheck.reporting import view
from encheck.reporting.gate.words import NEW, endpoint_remedy, list_names, remedies_in_words, what_has_to_change
from encheck.reporting.profile import profile, weakest_first
from encheck.reporting.text import data_name, plain_name
from encheck.reporting.view import claim_sentence, unmeasured_data
from encheck.run_file import RunEntry, RunFile
from encheck.running.labels import OBJECT, data_labels, model_labels

NOT_OF_A_GATE = ("quick", "strict", "engine")
CHOSEN = [
    one.name for one in fields(RunSettings)
    if one.name in OPTIONS and not OPTIONS[one.name].repeatable and one.name != "device"
]  # fmt: skip


@dataclass(frozen=True)
class RunCommands:
    """The command-line arguments of a run: models and data by label, model arguments, other options, and the run's
    folder.
    """

    models: Mapping[str, str]
    data: Mapping[str, str]
    model_args: Sequence[str] = ()
    options: str = ""
    folder: str = ""

    def run(self, prop: str, model: str, data: str, *, check: str = "") -> str:
        """Return the command that runs a property's checks, or only `check`. An unknown path becomes a placeholder.

        Return "" for a model in memory, which no command line can name.
        """
        if not (named := self._named(model)):
            return ""
        asked = self.data.get(data, "probes" if data == "probes" else f"{data}:PATH")
        on = "" if asked == "probes" else f" {_option('data', asked)}"
        one = f" -k {shlex.quote(check)}" if check else ""
        return f"encheck run -m {shlex.quote(prop)}{one} {named}{on}{self.options}"

    def show(self, model: str) -> str:
        """Return the options that follow ITEM in `encheck show ITEM`.

        For a model in memory, they show only the run's scores.
        """
        where = _option("run", self.folder) if self.folder else ""
        return " ".join(filter(None, (self._named(model), where)))

    def _named(self, model: str) -> str:
        spec = self.models.get(model, model)
        return "" if spec.startswith(OBJECT) else model_options(model, spec, self.model_args)


def run_commands(results: RunFile, folder: Path | None) -> RunCommands:
    """Return the commands of a run in `folder`, which is named relative to the working directory if it is below it."""
    settings = results.run.settings
    here = Path.cwd()
    near = folder.relative_to(here) if folder and folder.is_relative_to(here) else folder
    models, data = model_labels(settings.models), data_labels(settings.data)
    return RunCommands(models, data, settings.model_args, chosen_options(settings), str(near or ""))


def chosen_options(settings: RunSettings, *, but: Sequence[str] = ()) -> str:
    """Return the options in results.json that change figures and differ from the default, each preceded by a blank.

    >>> chosen_options(RunSettings(sample=None, strict=True, seed=7), but=NOT_OF_A_GATE)
    ' --sample=all --seed=7'
    """
    usual, options = RunSettings(), []
    for name in CHOSEN:
        if name not in but and (value := getattr(settings, name)) != getattr(usual, name):
            option = name.replace("_", "-")
            options.append(
                f" --{option}" if value is True else f" {_option(option, 'all' if value is None else str(value))}"
            )
    return "".join(options)


def _option(name: str, value: str) -> str:
    return f"--{name}={shlex.quote(value)}"


SELECTS = ("-m", "-k", "--deselect", "--ignore", "--ignore-glob")  # select checks; the value may follow a blank


@dataclass(frozen=True)
class NextStep:
    """Something to do next, its command ("" if there is none), and alternative ways to do it."""

    says: str
    command: str = ""
    ways: tuple[str, ...] = ()


@dataclass(frozen=True)
class GateCommands:
    """Commands to repeat a gate (`again`), to repeat it on all checks (`whole`), and to save the candidate as baseline
    (`keep`).

    A command is "" if it is not known.
    """

    again: str = ""
    keep: str = ""
    whole: str = ""


NO_COMMANDS = GateCommands()


def gate_commands(run: RunEntry) -> GateCommands:
    """Return the commands of a run with a gate, made from `run` in results.json."""
    settings = run.settings
    models = settings.models
    if models[0].startswith(OBJECT):
        return GateCommands(run.command)
    label, spec = next(iter(model_labels(models).items()))
    asked = model_options(label, spec, settings.model_args)
    data = [*settings.data]
    on = "".join(f" --data={shlex.quote(one)}" for one in data if data != ["probes"])
    on += chosen_options(settings, but=NOT_OF_A_GATE)
    command, keep = run.command, f"encheck run {asked}{on} --save-baseline=reports/baselines/new"
    return GateCommands(command, keep, _without_selection(command))


def _without_selection(command: str) -> str:
    """Return the command without options that select checks, or "" if it cannot be parsed."""
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
    """Yield what to do after a gate, in order. `to_type` has the commands of the run."""
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
        yield from _steps_if_inconclusive(against, to_type)


def _steps_if_inconclusive(against: GateAgainst, to_type: GateCommands) -> Iterator[NextStep]:
    if against.yours:
        accepted = " ".join(f"--accept={shlex.quote(name)}" for name in against.yours)
        yield NextStep("Do you accept this loss?", f"{to_type.again} {accepted}" if to_type.again else "")
        return
    yield NextStep(f"Keep {against.baseline} in use until the gate can tell.")
    if against.index_faults:
        yield NextStep("Then gate the new model against the repaired index.", to_type.again)
        return
    if against.partial:
        ways = tuple(f"{text[0].upper()}{text[1:]}." for text in remedies_in_words(against))
        yield NextStep("Gate the new model on all checks.", to_type.whole, ways)
        return
    if command := next((search.judge for search in against.searches if search.judge), ""):
        yield NextStep("Where the two models differ, judge which answers are better.", command)
    more = endpoint_remedy(against)
    ways = (*[f"{more}."] * bool(more), *(f"{text[0].upper()}{text[1:]}." for text in remedies_in_words(against)))
    if ways:
        yield NextStep("To decide:", ways=ways)
    yield NextStep("Then gate the new model again.", to_type.again)


FAILED, NO_VERDICT = "FAILED", "NO VERDICT"


@dataclass(frozen=True)
class VerdictBanner:
    """The head of a page: the verdict in one word, the answer and its reason in a sentence each, and the first step.

    `tone` is good, bad, open or "". `number` is the answer if the answer is a number.
    """

    tone: str
    stamp: str
    answer: str
    lead: str = ""
    step: NextStep | None = None
    number: str = ""


def run_verdict(results: RunFile) -> str:
    """Return the verdict of a run without a gate in one line."""
    look = results.first_look
    partial = f"PARTIAL, {look.clusters:,} of {look.of_clusters:,} clusters. " if look else ""
    word, told = _verdict_and_reason(results)
    return f"{partial}{word}{' ' if told.startswith('of ') else ': '}{told}."


def run_banner(results: RunFile) -> VerdictBanner:
    """Return the banner of a run without a gate. Such a run cannot tell whether a model may ship."""
    word, told = _verdict_and_reason(results)
    told = f"{told[:1].upper()}{told[1:]}"
    if word == view.NOTHING and _is_nothing_measured(results):
        return VerdictBanner("open", word, told, "", NextStep("See below what each check needs from the data."))
    if _is_nothing_measured(results) and view.failed_models(results):
        return VerdictBanner("bad", word, told)
    lead = "One run does not decide whether a model may ship: a gate does, against the model in use."
    looked = results.first_look is not None
    tone = "bad" if word == FAILED else "open" if looked else ""
    return VerdictBanner(
        tone, "FIRST LOOK" if looked and word != FAILED else word, told, lead, _step_after_run(results)
    )


def _verdict_and_reason(results: RunFile) -> tuple[str, str]:
    """Return the verdict in one word and its reason: what failed, or how many properties are above chance."""
    rows = view.rows_that_ran(view.judged_rows(results))
    broke = any(row.verdict == "error" for row in rows)
    if nothing := [line for line in view.run_headlines(results) if line.startswith(view.NOTHING) and not broke]:
        return view.NOTHING, nothing[0].removeprefix(view.NOTHING).lstrip(": ")
    if not rows:
        return view.NOTHING, "every check was skipped"
    several = len(results.models) > 1 or len(results.data) > 1
    if failed := view.failed_models(results):
        return FAILED, ". ".join(f"{label} cannot be measured: {error.rstrip('.')}" for label, error in failed.items())
    for verdict in ("error", "fail"):
        if found := [row for row in rows if row.verdict == verdict]:
            first, names = found[0], dict.fromkeys(plain_name(row.property) for row in found)
            place = f"{first.model} on {data_name(first.data)}: " if several else ""
            told = first.reason
            if verdict == "fail" and first.value is not None:
                value, low, high = first.numbers
                ends = view.format_interval(first.metric, low, high)
                told = f"{claim_sentence(first.check)}: {view.format_figure(first.metric, value)} ({ends})"
                for name, line in (("floor", first.floor), ("aim", first.aim)):
                    told += f", {name} {view.format_figure(first.metric, line)}" if line is not None else ""
            who = f"{'checks' if len(names) > 1 else 'a check'} of {list_names([*names])}"
            what = "could not be measured" if verdict == "error" else "fail" if len(names) > 1 else "fails"
            return FAILED, f"{place}{who} {what}. {told[:1].upper()}{told[1:].rstrip('.')}"
    standings = [_profile_sentence(results, model.label, data.name, several=several)
                 for model in results.models for data in results.data]  # fmt: skip
    known = sum(row.verdict == "known_failure" for row in rows)
    is_judged = any(row.verdict for row in rows)
    word, fails = ("PASSED", "no check fails") if is_judged else (NO_VERDICT, "no check here has a floor or an aim")
    fails += f" except {known} known failure{'s' if known != 1 else ''}" * bool(known)
    return word, "; ".join([fails, *filter(None, standings)])


def _profile_sentence(results: RunFile, model: str, data: str, *, several: bool) -> str:
    """Return a sentence that counts the properties above and below chance and names the weakest."""
    lines = [line for line in weakest_first(profile(results, model=model, data=data)) if line.standing]
    if not lines:
        return ""
    above, below = (sum(line.standing == where for line in lines) for where in ("above chance", "below chance"))
    weakest = lines[0]
    chance = view.format_figure(weakest.metric, weakest.chance or 0.0)
    told = f"{model}{f' on {data_name(data)}' if several else ''} is above chance in {above} of {len(lines)} properties"
    return f"{told} and below it in {below}; weakest: {weakest.title}, {weakest.figure} (chance {chance})"


NEW_PLACEHOLDER = "NEW_MODEL"


def _step_after_run(results: RunFile) -> NextStep:
    """Return the step after a run: to measure what a first look left out, or to run the gate."""
    if results.run.rest and results.run.rest.command:
        return NextStep("Measure the rest:", results.run.rest.command)
    if command := gate_command(results):
        new = f" ({NEW_PLACEHOLDER} is the model that you want to ship)" * (NEW_PLACEHOLDER in command)
        return NextStep(f"To decide{new}:", command)
    if results.run.settings.engine:
        return NextStep("To decide, gate one file of these pairs with --sample=N and without --engine.")
    return NextStep("To decide, call encheck.gate(new, old) with this model and the one in use.")


def gate_command(results: RunFile) -> str:
    """Return the command of the gate to run next, or "" if there is none.

    The gate is of this model. If encheck ships the model, or if the model scores pairs, the gate is against it. There
    is no gate for the run's shards, for a model in memory, or if nothing was measured.
    """
    settings = results.run.settings
    if settings.engine or _is_nothing_measured(results):
        return ""
    models, data = settings.models, [one for one in settings.data if one != "probes"]
    if models[0].startswith(OBJECT):
        return ""
    is_old = models[0] in SHIPPED or results.models[0].kind == "pair"  # which sbert cannot be compared with
    new, old = (NEW_PLACEHOLDER, models[0]) if is_old else (models[0], "sbert")
    label = next(iter(model_labels(models)))
    how = model_options_of_gate(label, settings.model_args)
    how += "".join(f" --data={shlex.quote(one)}" for one in data)
    is_sampled = any(one.whole for one in results.data)
    how += f"{' --sample=2000' * is_sampled}{chosen_options(settings, but=(*NOT_OF_A_GATE, *['sample'] * is_sampled))}"
    return f"encheck gate {shlex.quote(new)} {shlex.quote(old)}{how}"


def _is_nothing_measured(results: RunFile) -> bool:
    """Return whether nothing was measured, for any model on any data."""
    pairs = [(one.name, model) for one in results.data for model in one.measured]
    return bool(pairs) and pairs == [*unmeasured_data(results)]


@dataclass(frozen=True)
class RunDecision:
    """A question that a run answers besides its verdict, with the answer in one line and details."""

    question: str
    answer: str
    more: tuple[str, ...] = ()


def run_decisions(results: RunFile) -> list[RunDecision]:
    """Return what the run says about re-encoding stored vectors and about thresholds in use. Unknown answers are left
    out.
    """
    gates = results.gate.against if results.gate else ()
    found = []
    for index in filter(None, (against.reindex for against in gates)):
        answer = index.says.removeprefix("re-index: ")
        found.append(RunDecision("Must I re-index?", answer[0].upper() + answer[1:]))
    said = [*(one.says for against in gates for one in against.thresholds), *view.threshold_lines(results)]
    if said:
        found.append(RunDecision("Does my threshold still fit?", said[0], tuple(said[1:])))
    return found
