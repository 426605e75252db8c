"""Conclude a run: decide its gate, save its baseline, and compare its models with references."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from encheck.engine.folder import relative_to_here
from encheck.engine.judgement import measure_case
from encheck.engine.recorder import Conclusion, Recorder
from encheck.errors import BaselineError
from encheck.gating import unlabelled_search
from encheck.gating.baseline import Baseline, model_tables, refuse_baseline_folder, save_baseline
from encheck.gating.comparison import (
    GateComparison,
    LogAnswers,
    baseline_scores,
    gate_against_baseline,
    refuse_other_kind,
    run_scores,
)
from encheck.gating.contamination import estimate_contaminations, pair_probe_data
from encheck.gating.pairing import ModelScores
from encheck.gating.purpose import Purpose
from encheck.gating.reference import SHIPPED, property_differences, shipped_baselines_on_same_data
from encheck.gating.replicates import (
    WHAT_IT_IS,
    are_scores_nearly_equal,
    check_replicates,
    estimate_seed_noise,
    refuse_few_replicates,
    refuse_other_dimension,
)
from encheck.gating.types import ExitCode, JudgementSummary, Noise, UnjudgedSearch
from encheck.gating.unlabelled_search import JudgingPool, decide_by_judgements
from encheck.options import Settings, settings_for_results
from encheck.reporting.answers import compared_queries
from encheck.reporting.gate import record
from encheck.reporting.markdown import ENDED
from encheck.reporting.profile import all_headline_rows
from encheck.run_file import Reference, Role, RunFile
from encheck.running.labels import model_labels
from encheck.running.model_under_test import ModelUnderTest

if TYPE_CHECKING:
    from encheck.engine.checks import CheckFunction
    from encheck.engine.evaluation import Evaluation

FINISHED = (0, 1)  # pytest's: nothing failed, something failed
NOTHING_MEASURED = 5  # nothing was measured
INTERRUPTED = 2


def refuse_unusable_options(
    queries: Path | None, replicates: int, save: Path | None, baselines: Sequence[Path] = ()
) -> None:
    """Raise errors now for options that would otherwise fail at the end of the run.

    `baselines` are the folders to compare with. Raise BaselineError if no baseline can be saved at `save` or if there
    are too few replicates, UsageError if the queries' judgements cannot be read.
    """
    if queries:
        unlabelled_search.read_judgements(unlabelled_search.judgements_path(queries))
    if replicates:
        refuse_few_replicates(replicates)
    if save and save.resolve() in [folder.resolve() for folder in baselines]:
        raise BaselineError(
            f"--save-baseline={save} would overwrite the baseline that the candidate is compared with: name another "
            f"folder, and replace the old one after the gate has passed"
        )
    if save:
        refuse_baseline_folder(save)


def refuse_models(baselines: Sequence[Baseline], subjects: Mapping[str, ModelUnderTest]) -> None:
    """Raise BaselineError, before encoding, if a candidate is of a different kind or a replicate equals it."""
    prints = {label: subject.model.fingerprint() for label, subject in subjects.items()}
    model, *replicates = prints
    for baseline in baselines:
        refuse_other_kind(baseline, model, subjects[model].kind)
    for n, label in enumerate(replicates):  # its loss would count as seed variance
        same = next((other for other in (model, *replicates[:n]) if prints[other] == prints[label]), None)
        if same is not None:
            raise BaselineError(f"--twin={label} has the same weights as {same}. {WHAT_IT_IS}")


@dataclass(frozen=True, kw_only=True)
class GateOptions:
    """The baselines to compare with, the place to save a new baseline, and the options of a gate.

    `primary` is the rank metric that decides for a labelled search; None chooses the metric that fits the labels.
    `purpose` is the new model's purpose; None chooses the purpose that fits the data. `inconclusive` is how an
    inconclusive gate counts, pass or block. `thresholds` are similarity thresholds in use. `folder` is the folder of
    the report.
    """

    baselines: tuple[Baseline, ...] = ()
    save: Path | None = None
    primary: str | None = None
    purpose: Purpose | None = None
    inconclusive: str | None = None
    thresholds: tuple[float, ...] = ()
    folder: str = ""


def conclude(recorder: Recorder, settings: Settings, status: int, options: GateOptions) -> Conclusion:
    """Compare the run with its baselines, or save it as a baseline.

    If both are requested, the run is saved only if it passes. An interrupted or unusable run keeps its own status.
    Raise UsageError if the run and a baseline cannot be compared.
    """
    is_weighed = bool(options.baselines) and status in (*FINISHED, NOTHING_MEASURED)
    is_done = status in FINISHED or (status == NOTHING_MEASURED and not recorder.measured_nothing)
    if not is_weighed and not (options.save and is_done):
        left = ["the gate did not decide"] * bool(options.baselines) + ["no baseline was saved"] * bool(options.save)
        problem = f"nothing was measured: {' and '.join(left)}" if left else ""
        if status not in (*FINISHED, NOTHING_MEASURED):
            how = "the run was interrupted" if status == INTERRUPTED else f"the run stopped early (exit code {status})"
            problem = f"{how}: {' and '.join(left or ['the results are incomplete'])}"
        return Conclusion(status, problems=(problem,) if problem else ())

    results = recorder.results(settings=settings_for_results(settings), end=Conclusion(status))
    dimensions = {one.label: one.dimension for one in results.models}
    model, *names = model_labels(settings.models)
    side = run_scores(results, recorder.items, model)
    replicates = {label: run_scores(results, recorder.items, label) for label in names}
    end, weighed = Conclusion(status), list[GateComparison]()
    if is_weighed:
        for label, replicate in replicates.items():  # its loss would count as seed variance
            if are_scores_nearly_equal(side, replicate):
                raise BaselineError(
                    f"the gate could not be used: --twin={label} gives the same scores as {model} up to rounding: it "
                    f"is the candidate again, in another precision or file. {WHAT_IT_IS}"
                )
        try:
            for baseline in options.baselines:
                noise = None
                if replicates:
                    before = baseline_scores(baseline, next(iter(replicates.values())))
                    noise = _seed_noise_of_replicates(
                        before, baseline.model.dimension, replicates, dimensions, options.primary
                    )
                weighed.append(
                    gate_against_baseline(
                        baseline, results, recorder.items, model=model, seed_noise=noise,
                        people=lambda one, name, found: _judge_answers_by_people(one, name, found, recorder, settings),
                        primary=options.primary, purpose=options.purpose, vectors=recorder.vector_sample(model),
                        documents=recorder.document_lengths(model), thresholds=options.thresholds,
                        index=recorder.index if baseline is options.baselines[0] else None,
                    )
                )  # fmt: skip
        except BaselineError as error:
            raise BaselineError(f"the gate could not be used: {error}") from error
        if len({w.decision.baseline for w in weighed}) < len(weighed):
            last = weighed[-1].decision
            weighed[-1] = replace(weighed[-1], decision=replace(last, baseline=f"{last.baseline} (anchor)"))
        end = _conclude_gate(weighed, results, recorder, settings, status, options)
    if options.save and end.gate and (end.gate.outcome != "pass" or end.status):
        why = f"the gate's outcome is {end.gate.outcome}, and the run's exit code {end.status}"
        return replace(end, problems=(*end.problems, f"no baseline was saved: {why}"))
    if options.save and is_done:
        noise = None  # for a new baseline: the noise of the old one (if any), to which the replicates belong
        if replicates and weighed:
            noise = weighed[0].noise if weighed[0].decision.replicates else None
        elif replicates:
            noise = _seed_noise_of_replicates(side, dimensions[model], replicates, dimensions)
        save_baseline(
            options.save, results, side.tables, model=model, seed_noise=noise, vectors=recorder.vector_sample(model)
        )
    return end


def _seed_noise_of_replicates(
    baseline: ModelScores, dimension: int | None, replicates: Mapping[str, ModelScores],
    dimensions: Mapping[str, int | None], primary: str | None = None,
) -> Noise | None:  # fmt: skip
    """Return the seed noise that replicates of the baseline show. `dimension` is the dimension of the baseline.

    Raise BaselineError if a replicate does not fit the baseline.
    """
    refuse_other_dimension(dimension, {label: dimensions[label] for label in replicates})
    return estimate_seed_noise([baseline, *check_replicates(baseline, replicates).values()], primary=primary)


def _judge_answers_by_people(
    one: LogAnswers, baseline: str, search: UnjudgedSearch, recorder: Recorder, settings: Settings
) -> JudgementSummary | None:
    """Return people's judgements of a search's answers; None without a query log.

    Raise UsageError for an invalid file.
    """
    if settings.queries is None:
        return None
    every = recorder.items.table
    texts = dict(zip(every["item"].to_pylist(), every["source"].to_pylist(), strict=True))
    questions = compared_queries(one, texts, recorder.documents[one.after.case])
    pool = JudgingPool(questions, settings.seed, search.delta, search.least, search.alpha)
    answers = unlabelled_search.read_judgements(unlabelled_search.judgements_path(settings.queries)).answers_to(
        pool.order
    )
    return decide_by_judgements(pool, answers, baseline=baseline)


def _conclude_gate(
    weighed: Sequence[GateComparison],
    results: RunFile,
    recorder: Recorder,
    settings: Settings,
    status: int,
    options: GateOptions,
) -> Conclusion:
    """Return the conclusion of a gate. A failed check fails the run, and so do data on which nothing was measured."""
    judged = relative_to_here(unlabelled_search.judgements_path(settings.queries)) if settings.queries else ""
    shown = record.GateEvidence(recorder.items, recorder.documents, options.folder, judged)
    gate = record.gate_with_texts(weighed, options.inconclusive, shown)
    rows, declared = all_headline_rows(results, next(iter(model_labels(settings.models)))), results.declarations
    with_baselines = zip(gate.against, options.baselines, strict=True)
    gate = replace(
        gate, against=tuple(record.add_printed_figures(one, rows, base, declared) for one, base in with_baselines)
    )
    first = options.baselines[0]
    figures = {key: first.figure(row.case.of_any_model, row.figure) for key, row in recorder.rows.items()}
    beside = {key: figure for key, figure in figures.items() if figure}
    end = Conclusion(status, baseline=beside, searched=weighed[0].searched, weighed=weighed)
    if status != 1 or gate.outcome == "block":
        code: ExitCode = 1 if status == 1 else gate.exit_code or (5 if status == NOTHING_MEASURED else 0)
        return replace(end, status=code, gate=replace(gate, exit_code=code))
    problem = (
        f"the gate's outcome is {gate.outcome}, but the run fails: a check failed its own threshold, or could "
        f"not be measured"
    )
    return replace(end, gate=replace(gate, exit_code=1), problems=(problem,))


def add_contamination(
    end: Conclusion, recorder: Recorder, settings: Settings, baselines: Sequence[Baseline] = ()
) -> Conclusion:
    """Return the conclusion with contamination rows, which compare the model with each baseline.

    Without baselines, the rows compare each later model with the first. The rows exist only if the run measured written
    and fresh probes. Seed replicates are not candidates.
    """
    results = recorder.results(settings=settings_for_results(settings), end=Conclusion(0))
    editions = {data.name: data.version for data in results.data}
    used = {name for pair in pair_probe_data(editions) for name in pair}
    if not used:
        return end
    results = replace(results, checks=tuple(row for row in results.checks if row.data in used))
    first, *later = model_labels(settings.models)
    side = run_scores(results, recorder.items, first)
    pairs = [((one.name, first), baseline_scores(one, side), side) for one in baselines]
    if not baselines and not settings.seed_replicates:
        pairs = [((first, label), side, run_scores(results, recorder.items, label)) for label in later]
    rows = (
        row
        for names, older, candidate in pairs
        for row in estimate_contaminations(older, candidate, editions, names=names, seed=settings.seed)
    )
    return replace(end, contamination=tuple(rows))


def add_references(end: Conclusion, recorder: Recorder, settings: Settings) -> Conclusion:
    """Return the conclusion of a completed run, with contamination rows and reference models."""
    if end.status not in ENDED:
        return end
    end = end if recorder.first_look else add_contamination(end, recorder, settings)
    return replace(end, references=tuple(_compare_with_references(recorder, settings)))


def _compare_with_references(recorder: Recorder, settings: Settings) -> Iterator[Reference]:
    """Yield comparisons of a run's models with the models whose item scores ship, if these were measured on the data.

    A parent whose scores do not ship comes first. It has no properties if the store lacks its vectors.
    """
    results = recorder.results(settings=settings_for_results(settings), end=Conclusion(0))
    baselines = list(shipped_baselines_on_same_data(results))
    for model in results.models if baselines else ():
        side, parent = run_scores(results, recorder.items, model.label), recorder.parent_of(model.label)
        rows = all_headline_rows(results, model.label)
        if parent and parent.label not in SHIPPED:
            items = {}
            for case, table in recorder.parent_scores.items():
                frame, (near, far) = recorder.items[case], (column.to_numpy() for column in table.columns)
                far_side = frame.far and replace(frame.far, scores=far)
                items[case] = replace(frame, near=replace(frame.near, scores=near), far=far_side)
            before = ModelScores(model_tables(results, items, model.label), parent.scales)
            is_same = model.weights is not None and model.weights == parent.weights
            found = property_differences(rows, before, side)
            yield Reference(model.label, parent.label, "parent", is_same, found, parent.named_by)
        for baseline in baselines:
            name = baseline.model.label
            is_same = model.weights is not None and model.weights == baseline.model.weights
            is_itself = model.fingerprint == baseline.model.fingerprint
            before = baseline_scores(baseline, side, recorder.parts)
            found = () if is_itself else property_differences(rows, before, side)
            is_parent = parent is not None and parent.label == name
            role: Role = "parent" if is_parent else SHIPPED[name]
            if found or (is_same and model.label != name):
                by = parent.named_by if parent and is_parent else ""
                yield Reference(model.label, name, role, is_same and not is_itself, found, by)


def first_look_lines(evaluation: Evaluation, functions: Mapping[str, CheckFunction]) -> list[str]:
    """Return the lines that an evaluation shows after its first look. Log messages do not interrupt them.

    `functions` maps the ids of cases to their checks.
    """
    from encheck.reporting.terminal import first_profile as lines

    recorder = Recorder()
    with evaluation.notes.muted(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for case in evaluation.cases:
            function = functions.get(str(case.id))
            if function and evaluation.is_measured(case):
                judgement = measure_case(case, evaluation, function)
                if any(row.estimate for row in judgement.rows):  # the other cases' own tests report errors
                    recorder.add_case(judgement.outcome(function))
        recorder.described.append(evaluation.describe())
        return list(lines(recorder.results(settings=settings_for_results(evaluation.settings), end=Conclusion(0))))
