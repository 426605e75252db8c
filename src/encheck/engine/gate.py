"""`gate`: decide whether a new model may replace an old one."""

from __future__ import annotations

import logging
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

from encheck.engine.checks import (
    Check,
    Selection,
    load_checks_of_file,
    packaged_checks,
    refuse_duplicate_names,
    select_checks,
)
from encheck.engine.results import Results, read_run
from encheck.engine.run import measure_checks, name_models, temporary_store_option
from encheck.errors import BaselineError, EncheckError, NothingToCompare, UsageError, unknown_name_message
from encheck.options.settings import OptionValue
from encheck.system.files import expand_home

if TYPE_CHECKING:
    from encheck.datasets.dataset import Dataset
    from encheck.encoders.protocol import Model
    from encheck.engine.conclusion import GateOptions
    from encheck.engine.recorder import Conclusion, Recorder
    from encheck.gating.baseline import Baseline
    from encheck.gating.old_index import IndexFaults, LinearMap
    from encheck.gating.purpose import Purpose
    from encheck.gating.reindex import Reindex
    from encheck.gating.types import ExitCode, GateDecision, GateRow, Outcome, PartialGate, PurposeName
    from encheck.options import Settings
    from encheck.run_file import RunFile
    from encheck.running.model_under_test import ModelUnderTest
    from encheck.scoring.frame import RunItems

OF_A_RUN = ("twin", "quick", "full", "strict", "look_first", "engine", "address", "shards_dir", "model", "data")
PLAIN = {"store", "no_store", "device", "queries"}  # options that change no figure on the built-in sentences
COUNTS_AS = ("pass", "block")


@dataclass(frozen=True)
class GateResult:
    """The result of a gate: whether the new model may replace the old one.

    `outcome` is pass, block or inconclusive. With an anchor, it is the worse outcome of the two comparisons.
    `exit_code` is the exit code of `encheck gate`: 0 pass, 1 block (or a check fails your threshold), 10 inconclusive
    or partial. `decision` compares the two models row by row. `reindex` says whether stored vectors stay valid, for all
    documents if the data have documents; None for models that score pairs. `required_changes` lists in sentences what
    has to change with the model. `index_faults` are the faults of the old index, if it was given as stored vectors.
    `adapter` maps new queries into the old index; None unless it is shown to find as much. `results` is the run of the
    new model. `problems` lists other errors.
    """

    outcome: Outcome
    exit_code: int
    decision: GateDecision = field(repr=False)
    reindex: Reindex | None
    required_changes: tuple[str, ...]
    index_faults: IndexFaults | None
    adapter: LinearMap | None = field(repr=False)
    results: Results = field(repr=False)
    problems: tuple[str, ...] = ()

    @property
    def reasons(self) -> tuple[str, ...]:
        """The reasons in words, the most important first."""
        return self.decision.reasons

    @property
    def rows(self) -> tuple[GateRow, ...]:
        """A row for each property x data x level."""
        return self.decision.rows

    @property
    def partial(self) -> PartialGate | None:
        """The checks that a partial gate used and left out; None for other gates. A partial gate never passes."""
        return self.decision.partial

    def __str__(self) -> str:
        from encheck.reporting.gate.words import gate_headlines

        return "\n".join(gate_headlines(self.results.raw.gate)) if self.results.raw.gate else ""


def gate(
    new: object,
    old: object,
    *,
    data: str | Path | Sequence[str] = "probes",
    checks: Selection = None,
    own_checks: Sequence[str | Path] = (),
    purpose: str | None = None,
    margin: float | None = None,
    protect: Sequence[str] = (),
    accept: Sequence[str] = (),
    tried: int = 1,
    max_false_accepts: float | None = None,
    primary: str | None = None,
    threshold: float | Sequence[float] = (),
    anchor: str | Path | None = None,
    twins: Sequence[object] = (),
    inconclusive: str | None = None,
    save_baseline: str | Path | None = None,
    report_dir: str | Path | None = None,
    **options: OptionValue,
) -> GateResult:
    """Decide whether one model may replace another (docs/method/gate.md has the rule).

    Both models are evaluated on the same items, in this process. Scores of the default model on the built-in sentences
    come with encheck. Nothing is printed.

    Args:
        new: a model, as in `run`, or the folder of a run.
        old: a model, the folder of a run, a folder that `--save-baseline` wrote, or "vectors:FILE", an index in use.
        data: the data to run models on.
        checks: which checks to run, as in `run`. A selection makes the gate partial: it can block, but never passes.
        own_checks: Python files with your own checks, which the gate also uses.
        purpose: what the new model is for: "change" for a changed version of the same model, which may not lose any
            behaviour, or "search", "pairs" or "similarity" for another model. Default: "search" if the data have
            labelled or logged queries, "similarity" for graded pairs, "pairs" for pairs of both labels, otherwise
            "change".
        margin: the loss that has to be ruled out for another model, in points (default: 4), or for graded pairs in
            hundredths of the correlation (default: 2).
        protect: properties that another model may not lose, such as "negation".
        accept: watched properties or slices whose loss you accept.
        tried: the number of candidates from which this one was chosen.
        max_false_accepts: for pairs, the largest share of false accepts at a threshold (default: 0.05).
        primary: the rank metric that decides for a search with labels: recall@1, ndcg@10, recall@10, recall@100, mrr@10
            or map (default: recall@1 if each query has one right document, otherwise ndcg@10).
        threshold: the similarity thresholds in use.
        anchor: a second baseline, kept for many releases, so that small losses cannot add up unnoticed.
        twins: three or more other training seeds of the old model, to estimate seed-to-seed variance.
        inconclusive: how an inconclusive gate counts in the exit code, "pass" or "block".
        save_baseline: a folder to save the new model's baseline in, if it passes.
        report_dir: a folder for the report, as in `run`, gate.html, and adapter.npz if one helps. Default: no report.
        options: as in `run`, except options that only a run has (quick, strict, ...).

    Returns:
        The outcome with its reasons and rows, the required changes, the selection, and the run of the new model.

    Raises:
        BaselineError: the models cannot be compared, since their items or their kinds of model differ.
        TypeError: an object is not a model.
        UsageError: as in `run`; or a folder has several models, or the folder of `new` is a baseline.
        EncheckError: the report could not be written.

    >>> decided = gate("bag-of-words", "oracle", checks="number", no_store=True)
    >>> decided.outcome, decided.exit_code, decided.partial.weighed
    ('block', 1, ('number',))
    """
    decided = run_gate(
        new, old, data=data, checks=checks, own_checks=own_checks, purpose=purpose, margin=margin, protect=protect,
        accept=accept, tried=tried, max_false_accepts=max_false_accepts, primary=primary, threshold=threshold,
        anchor=anchor, twins=twins, inconclusive=inconclusive, save_baseline=save_baseline, report_dir=report_dir,
        options=options,
    )  # fmt: skip
    if decided.place:
        decided.write(decided.place)
    return decided.result


@dataclass(frozen=True)
class FinishedGate:
    """A gate that has run: results.json, the items, and the conclusion. `place` is the folder of the report."""

    raw: RunFile
    items: RunItems
    documents: Mapping[str, Mapping[int, tuple[str, str]]]
    end: Conclusion
    place: Path | None
    refusal: UsageError | None = None

    def write(self, place: Path) -> None:
        """Write the report. Raise EncheckError if that fails."""
        from encheck.engine.folder import write_report
        from encheck.gating.advice import ADAPTER_FILE

        write_report(place, self.raw, self.items, searched=self.end.searched, documents=self.documents)
        if self.end.weighed and (index := self.end.weighed[0].index) and index.adapter:
            index.adapter.save(place / ADAPTER_FILE, {"new": self.raw.models[0].fingerprint})

    @property
    def result(self) -> GateResult:
        """The decision. Raises UsageError if the models cannot be compared, or if nothing was measured."""
        if self.refusal:
            raise self.refusal
        if not self.end.weighed or not self.end.gate:
            raise BaselineError("; ".join(self.end.problems) or "nothing was measured: the gate did not decide")
        first = self.end.weighed[0]
        return GateResult(
            self.end.gate.outcome, self.end.status, first.decision, first.decision.reindex,
            first.decision.required_changes, first.decision.index_faults, first.index.adapter if first.index else None,
            Results(self.raw, self.items), self.end.problems,
        )  # fmt: skip


def run_gate(
    new: object,
    old: object,
    *,
    data: str | Path | Sequence[str],
    checks: Selection,
    names: str | None = None,
    own_checks: Sequence[str | Path] = (),
    purpose: str | None = None,
    margin: float | None = None,
    protect: Sequence[str] = (),
    accept: Sequence[str] = (),
    tried: int = 1,
    max_false_accepts: float | None = None,
    primary: str | None = None,
    threshold: float | Sequence[float] = (),
    anchor: str | Path | None = None,
    twins: Sequence[object] = (),
    inconclusive: str | None = None,
    save_baseline: str | Path | None = None,
    report_dir: str | Path | None = None,
    options: Mapping[str, OptionValue],
    command: str | None = None,
    quiet: bool = True,
) -> FinishedGate:
    """Decide as `gate` does, without writing a report. `names` selects checks as pytest's -k does.

    `command` is the command that the user typed. If it is given, the report gets a new folder below reports/ unless the
    user named one.
    """
    from encheck.datasets.load import add_property_to_specs
    from encheck.engine.conclusion import GateOptions, refuse_unusable_options
    from encheck.gating.baseline import read_baseline as read_baseline
    from encheck.gating.pairing import ENDPOINTS
    from encheck.gating.purpose import DECIDED_BY, Purpose
    from encheck.options import Settings, parse_threshold, project_table, refuse_unwritable_folder
    from encheck.options.settings import settings_from_keywords

    if refused := [name for name in OF_A_RUN if options.get(name)]:
        raise UsageError(f"{refused[0]} is an option of a run: a gate measures all items of a new and an old model")
    if primary is not None and primary not in ENDPOINTS:
        raise UsageError(unknown_name_message("primary", primary, ENDPOINTS))
    if inconclusive is not None and inconclusive not in COUNTS_AS:
        raise UsageError(unknown_name_message("inconclusive", inconclusive, COUNTS_AS))
    thresholds = list(threshold) if isinstance(threshold, Iterable) else [threshold]
    thresholds = [one for one in map(parse_threshold, thresholds) if one is not None]
    if thresholds:
        options = {**options, "threshold": thresholds[0]}  # which checks of labelled pairs use
    for n, twin in enumerate(twins):
        others = [str(one) for one in (new, old, *twins[:n]) if isinstance(one, str | Path)]
        is_named = isinstance(twin, str | Path) and str(twin) in others
        if is_named or any(twin is one for one in (new, old, *twins[:n])):
            raise UsageError(
                f"--twin={twin} is named twice, or is one of the two models: a seed replicate is a separate "
                f"checkpoint, trained with another seed"
            )
    asked = add_property_to_specs(data, options.get("property"))
    packages = Settings(project=project_table(Path("pyproject.toml"))).chosen_packages
    every = (*packaged_checks(asked, packages), *(check for file in own_checks for check in load_checks_of_file(file)))
    refuse_duplicate_names(every)
    chosen = None if checks is None and names is None else select_checks(every, checks, names)
    anchors = (read_baseline(expand_home(anchor)),) if anchor else ()
    save = expand_home(save_baseline) if save_baseline else None
    folders = [path for path in (_run_or_baseline_folder(old), expand_home(anchor) if anchor else None) if path]
    for folder in (*folders, _run_or_baseline_folder(new)):
        if folder and report_dir and expand_home(report_dir).resolve() == folder.resolve():
            raise UsageError(f"--report-dir={report_dir} is a folder that this gate reads: name another one")
    queries = options.get("queries")
    refuse_unusable_options(Path(str(queries)) if queries else None, len(twins), save, folders)

    first, new_run = _load_baseline(old), _read_single_model_run(new)
    held = (
        []
        if purpose
        else decidable_purposes_of_run(new_run[0])
        if new_run
        else decidable_purposes(asked, has_log=bool(queries))
    )
    aim = None
    if purpose is not None or margin is not None or max_false_accepts is not None or protect or accept or tried != 1:
        guess = "pairs" if max_false_accepts is not None else next(iter(held), "search")
        aim = Purpose(
            name=cast("PurposeName", guess if purpose is None else purpose),
            margin=math.nan if margin is None else margin / 100,
            protect=tuple(protect), accept=tuple(accept), tried=tried, budget=max_false_accepts,
        )  # fmt: skip
    how = GateOptions(
        baselines=anchors, save=save, primary=primary, purpose=aim, inconclusive=inconclusive,
        thresholds=tuple(thresholds),
    )  # fmt: skip
    if new_run and first:
        given = {"save_baseline": save, "twins": list(twins), "checks": checks, "names": names,
                 "own_checks": list(own_checks), "data": None if data in ("probes", ["probes"]) else data}  # fmt: skip
        if extra := [name for name, value in {**given, **options}.items() if value]:
            raise UsageError(f"{extra[0]} is for models that are measured now, but both runs are over: leave it out")
        place = expand_home(report_dir) if report_dir else None
        return _decide_from_run(*new_run, replace(how, baselines=(first, *anchors)), place, command=command or "")
    is_stored = any(str(one).startswith("vectors:") for one in (new, old))  # stored vectors lack other texts
    selected = {check.property for check in (every if chosen is None else chosen)}
    decisive = {name for name, property_ in DECIDED_BY.items() if property_ in selected}
    is_for_another = aim.name != "change" if aim else bool(decisive.intersection(held))
    if is_for_another and not is_stored:
        asked = add_built_in_data(asked, first)
    known = None if first else find_shipped_baseline(old, asked, options)
    if known and asked == ["probes"] and not own_checks:
        first = known
    if new_run:
        raise UsageError(f"{new} is the folder of a run, so OLD has to be one too, or a baseline, but it is {old!r}")
    given_args = options.get("model_arg") or ()
    texts = [given_args] if isinstance(given_args, str) else list(given_args)  # type: ignore[arg-type]
    is_labelled = any(":" in str(text).partition("=")[0] for text in texts)  # one name may belong to two models
    is_same = isinstance(old, str | Path) and str(old) == str(new) and not is_labelled
    specs, loaded = name_models([new, *twins, *([] if first or is_same else [old])], is_each_once=False)
    with temporary_store_option(options) as store:
        settings = settings_from_keywords(specs, asked, {**options, **store, "report_dir": report_dir})
        if settings.report_dir:
            refuse_unwritable_folder(str(settings.report_dir))
        return _measure_and_decide(
            settings, loaded, every, chosen, len(twins), first, how, known=known, command=command, quiet=quiet
        )


def decidable_purposes(data: Sequence[str], *, has_log: bool) -> list[str]:
    """Return the purposes that these data can decide, in order of precedence, before the data are loaded."""
    from encheck.datasets.load import is_search_spec, load, may_be_pairs_spec

    if any(is_search_spec(one, has_log=has_log) for one in data):
        return ["search"]
    log = logging.getLogger("encheck")
    log.disabled = True  # errors in the data are reported when they are loaded for measuring
    try:
        loaded = [load(one, skip_bad_rows=True) for one in data if may_be_pairs_spec(one)]
    except EncheckError:
        return []
    finally:
        log.disabled = False
    return [name for name, is_held in purposes_decided_by(loaded).items() if is_held]


def purposes_decided_by(data: Iterable[Dataset]) -> dict[str, bool]:
    """Return for each purpose whether the data can decide it, in order of precedence."""
    from encheck.gating.comparison import is_user_data

    own = [one for one in data if is_user_data(one.name)]
    return {
        "search": any(one.collection and one.collection.queries for one in own),
        "similarity": any(len({pair.score for pair in one.pairs} - {None}) > 1 for one in own),
        "pairs": any({"0", "1"} <= {*one.labels} for one in own),
    }


def decidable_purposes_of_run(results: Results) -> list[str]:
    """Return the purposes that a run can decide, in order of precedence."""
    from encheck.gating.comparison import is_user_data
    from encheck.gating.purpose import DECIDED_BY

    measured = {row.property for row in results.rows if is_user_data(row.data) and row.value is not None}
    return [name for name, property_ in DECIDED_BY.items() if property_ in measured]


def add_built_in_data(data: list[str], old: Baseline | None) -> list[str]:
    """Return the data, with the built-in sentences added if a saved baseline has them."""
    from encheck.datasets.load import data_label
    from encheck.gating.comparison import BUILT_IN

    has_them = old is None or any(kept.data == BUILT_IN for kept in old.cases.values())
    return data if not has_them or BUILT_IN in map(data_label, data) else [BUILT_IN, *data]


def _measure_and_decide(
    settings: Settings,
    loaded: Mapping[str, Model],
    every: Sequence[Check],
    chosen: Sequence[Check] | None,
    twins: int,
    first: Baseline | None,
    how: GateOptions,
    *,
    known: Baseline | None,
    command: str | None,
    quiet: bool,
) -> FinishedGate:
    """Evaluate the new model, its twins, and the old model if it has no baseline; then decide.

    `known` has scores of the old model on some of the data, which are not measured again.
    """
    from encheck.engine.conclusion import add_contamination, conclude, refuse_models
    from encheck.engine.evaluation import GateBaseline
    from encheck.engine.folder import relative_to_here, report_folder
    from encheck.engine.index import refuse_missing_document_vectors
    from encheck.engine.recorder import Conclusion
    from encheck.gating.comparison import refuse_kinds, refuse_other_edition, refuse_other_search
    from encheck.options import settings_for_results
    from encheck.reporting.view import unused_threshold
    from encheck.running.labels import model_labels

    names = list(model_labels(settings.models))
    mine = names[: 1 + twins]
    old = "" if first else names[-1] if len(names) > len(mine) else names[0]  # the same model is measured once
    saved = (*((first,) if first else ()), *how.baselines)
    for baseline in saved:
        refuse_other_search(baseline, settings.search_index)
    measured = select_gate_checks(every, chosen, settings)

    def refuse(subjects: Mapping[str, ModelUnderTest], data: Mapping[str, Dataset]) -> None:
        for baseline in saved:
            refuse_other_edition(baseline, {one.name: one.version for one in data.values()}, settings)
        refuse_models(saved, {label: subjects[label] for label in mine})
        if old:
            refuse_kinds(repr(old), subjects[old].kind, mine[0], subjects[mine[0]].kind)
            refuse_missing_document_vectors(subjects[old], data.values())
        if how.purpose and how.purpose.name != "change":
            _refuse_undecided(how.purpose, data.values(), measured)

    against = GateBaseline(saved, old, frozenset(known.cases) if known and old not in mine else frozenset())
    recorder = measure_checks(
        settings, measured, every=every, loaded=loaded, against=against, refuse=refuse, quiet=quiet
    )
    first = first or _baseline_from_run(recorder.select_models([old]), settings, old, known if against.known else None)
    settings, recorder = replace(settings, models=settings.models[: len(mine)]), recorder.select_models(mine)
    place = settings.report_dir if command is None else report_folder(settings, started=recorder.started)
    how = replace(how, baselines=(first, *how.baselines), folder=relative_to_here(place) if place else "")
    refusal = None
    try:
        end = conclude(recorder, settings, recorder.status, how)
        end = add_contamination(end, recorder, settings, how.baselines)
    except UsageError as error:
        refusal, end = error, Conclusion(4, problems=(str(error),))
    raw = recorder.results(
        settings=settings_for_results(settings), end=end, folder=place.name if place else "", command=command or "",
        notes=() if any(one.decision.thresholds for one in end.weighed) else unused_threshold(
            settings.threshold, recorder.rows.values()
        ),
    )  # fmt: skip
    return FinishedGate(raw, recorder.items, recorder.documents, end, place, refusal)


def select_gate_checks(every: Sequence[Check], chosen: Sequence[Check] | None, settings: Settings) -> list[Check]:
    """Return the checks to measure: the `chosen` checks or those that a gate uses, and always the contracts."""
    from encheck.claims import CONTRACT
    from encheck.gating.pairing import is_used_by_gate
    from encheck.running.resources import checks_with_thresholds

    if chosen is not None:
        return list(dict.fromkeys([*chosen, *(check for check in every if check.claim.family == CONTRACT)]))
    own = checks_with_thresholds(settings)
    return [check for check in every if is_used_by_gate(check.claim.declared) or check.name in own]


def _refuse_undecided(purpose: Purpose, data: Iterable[Dataset], measured: Sequence[Check]) -> None:
    """Raise UsageError, before encoding, if nothing can decide or --protect names a property that is not measured."""
    from encheck.gating.comparison import is_user_data
    from encheck.gating.pairing import can_be_protected
    from encheck.gating.purpose import DECIDED_BY, NEEDS, refuse_protected
    from encheck.language.prose import count_languages

    data = list(data)
    held = purposes_decided_by(data)
    if not held[purpose.name]:
        others = [f". These data fit --for {name}" for name, is_held in held.items() if is_held]
        raise UsageError(f"--for {purpose.name} needs data that decide: {NEEDS[purpose.name]}{''.join(others)}")
    decides = DECIDED_BY[purpose.name]
    if not any(check.property == decides for check in measured):
        raise UsageError(
            f"--for {purpose.name} is decided by checks of {decides}, which -m or -k leave out. Remedy: -m '... or "
            f"{decides}'"
        )
    known = {check.property for check in measured if can_be_protected(check.claim.declared)}
    if strange := [name for name in purpose.protect if name not in known]:
        raise UsageError(unknown_name_message("--protect", strange[0], known))
    own = [one for one in data if is_user_data(one.name)]
    if purpose.protect and not any(one.contrasts or any(group.variants for group in one.groups) for one in own):
        texts = [pair.first for one in own for pair in one.pairs]
        texts += [query.text for one in own if one.collection for query in one.collection.queries]
        refuse_protected(purpose, count_languages(texts))


def _baseline_from_run(recorder: Recorder, settings: Settings, label: str, known: Baseline | None) -> Baseline:
    """Return the baseline of the old model, with its `known` scores. Raise NothingToCompare if there are no scores."""
    from encheck.engine.recorder import Conclusion
    from encheck.gating.baseline import Baseline
    from encheck.gating.comparison import run_scores
    from encheck.options import settings_for_results

    raw = recorder.results(settings=settings_for_results(settings), end=Conclusion(0))
    tables = run_scores(raw, recorder.items, label).tables
    if not tables and not recorder.index and not known:
        why = raw.models[0].error or next((row.reason for row in raw.checks if row.reason), "")
        raise NothingToCompare(f"{label} could not be measured, so there is nothing to compare with: {why}")
    found = Baseline.of(raw, tables, model=label, vectors=recorder.vector_sample(label), may_be_empty=True)
    return found.with_cases_of(known) if known else found


def _decide_from_run(
    results: Results, label: str, how: GateOptions, place: Path | None, *, command: str
) -> FinishedGate:
    """Return the decision on a saved run, without comparing vectors. Raise UsageError if the run is incomplete."""
    from encheck.engine.recorder import Conclusion
    from encheck.gating.comparison import gate_against_baseline
    from encheck.options import refuse_unwritable_folder
    from encheck.reporting.gate import record

    there = {f"{row.check}/{row.data}/{row.level}" for row in results.rows}
    there |= {*(results.raw.selection.unselected if results.raw.selection else ())}
    data = [one.name for one in results.raw.data]
    cases = (f"{c.name}/{d}/{level}" for c in packaged_checks() for d in data for level in c.claim.levels)
    lacking = next((case for case in cases if case not in there), "")
    if results.exit_code not in (0, 1, 5, 10) or lacking:
        why = f"it did not measure {lacking}" if lacking else f"its exit code is {results.exit_code}"
        raise UsageError(f"the run {results.raw.run.id} was cut short: {why}. Run it again, without -x")
    if place:
        refuse_unwritable_folder(str(place))
    weighed = [
        gate_against_baseline(b, results.raw, results.items, model=label, primary=how.primary, purpose=how.purpose)
        for b in how.baselines
    ]
    gate = record.gate_with_texts(weighed, how.inconclusive, record.GateEvidence(results.items))
    is_broken = any(row.verdict == "error" for row in results.rows)
    code: ExitCode = gate.exit_code or (1 if is_broken else 5 if results.exit_code == 5 else 0)
    gate = replace(gate, exit_code=code)
    raw = replace(results.raw, gate=gate, run=replace(results.raw.run, exit_status=code, command=command))
    return FinishedGate(raw, results.items, {}, Conclusion(code, gate, weighed=weighed), place)


def _load_baseline(old: object) -> Baseline | None:
    """Return the baseline in this folder, or that of the run's only model; None for a model."""
    from encheck.gating.baseline import SUMMARY, Baseline
    from encheck.gating.baseline import read_baseline as read_baseline
    from encheck.gating.comparison import run_scores
    from encheck.reporting.results import RESULTS

    folder = _run_or_baseline_folder(old)
    if folder is None:
        return None
    if (folder / SUMMARY).is_file() or not (folder / RESULTS).is_file():
        return read_baseline(folder)
    results, label = _read_single_model_run(folder)  # type: ignore[misc]
    return Baseline.of(results.raw, run_scores(results.raw, results.items, label).tables, model=label)


def find_shipped_baseline(old: object, data: Sequence[str], options: Mapping[str, OptionValue]) -> Baseline | None:
    """Return the shipped scores of the default model on the built-in sentences, if they are among the data.

    Return None for another model, or for settings that may change these scores.
    """
    from encheck.datasets.load import load as load_data
    from encheck.encoders.load import load_model
    from encheck.encoders.model_config import Device
    from encheck.encoders.models_file import known_models
    from encheck.gating.reference import has_shipped_baseline, load_shipped_baseline
    from encheck.options import Settings, project_table
    from encheck.running.labels import data_labels

    asked = {name for name, value in options.items() if value}
    settings = Settings(project=project_table(Path("pyproject.toml")))
    has_them = data_labels(data).get("probes") == "probes"  # the label may be that of a file
    if not isinstance(old, str) or not has_them or asked - PLAIN or settings.chosen_packages:
        return None
    if (found := load_shipped_baseline(old)) is None:
        return None
    model = load_model(known_models(settings.models_file)[old], device=Device("cpu"))
    is_same = model.fingerprint() == found.model.fingerprint
    if not is_same or not has_shipped_baseline("probes", load_data("probes", sample=None).fingerprint):
        return None
    return replace(found, folder=Path(old), is_saved=False)


def _run_or_baseline_folder(given: object) -> Path | None:
    """Return the folder of a run or of a baseline, complete or not.

    Return None for a model, and for a folder that has the name of a known model.
    """
    from encheck.encoders.models_file import known_models
    from encheck.gating.baseline import SUMMARY
    from encheck.options import Settings, project_table
    from encheck.reporting.results import ITEMS, RESULTS

    if not isinstance(given, str | Path) or not str(given).strip():
        return None
    path = expand_home(given)
    if not any((path / name).is_file() for name in (SUMMARY, RESULTS, ITEMS)):
        return None
    is_name = isinstance(given, str) and not re.search(r"[/\\]", given)
    settings = Settings(project=project_table(Path("pyproject.toml")))
    return None if is_name and given in known_models(settings.models_file) else path


def _read_single_model_run(given: object) -> tuple[Results, str] | None:
    """Return the run in this folder and the label of its only model; None for a model.

    Raise UsageError if the run has several models.
    """
    folder = _run_or_baseline_folder(given)
    if folder is None:
        return None
    results = read_run(folder)
    names = [model.label for model in results.raw.models]
    if len(names) != 1:
        raise UsageError(f"{folder} holds a run of {len(names)} models ({', '.join(names)}), but should hold one")
    return results, names[0]
