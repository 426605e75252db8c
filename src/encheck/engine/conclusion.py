"""The end of a gate, and of a run that saves a baseline: what is refused before it, the decision, the new baseline."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from encheck.engine.contamination import contamination_of
from encheck.engine.people import people, qrels_of
from encheck.engine.recorder import Conclusion, Recorder
from encheck.engine.references import references_of
from encheck.errors import BaselineError
from encheck.gating import judgements
from encheck.gating.baseline import Baseline, refuse_place, save
from encheck.gating.index_space import OldIndex
from encheck.gating.purpose import Purpose
from encheck.gating.replicates import (
    WHAT_IT_IS,
    checked,
    is_copy,
    refuse_few,
    refuse_other_dimension,
    seed_noise,
)
from encheck.gating.types import ExitCode, Noise
from encheck.gating.weighing import (
    People,
    Side,
    Weighed,
    refuse_other_kind,
    side_of,
    side_of_baseline,
    weigh,
)
from encheck.options import Settings, described
from encheck.reporting.gate import record
from encheck.reporting.markdown import ENDED
from encheck.run_file import BaselineFigure, Result, RunFile
from encheck.running.labels import labels
from encheck.running.subject import Subject

FINISHED = (0, 1)  # pytest's: nothing failed, something failed
NOTHING = 5  # nothing was measured
INTERRUPTED = 2


def refuse_beforehand(queries: Path | None, replicates: int, save: Path | None, baselines: Sequence[Path] = ()) -> None:
    """What would only be seen at the end: BaselineError for a place where none can be saved, and too few replicates.

    `baselines` are the folders that are weighed against. UsageError where the judgements of the queries cannot be read.
    """
    if queries:
        judgements.read(judgements.place_of(queries))
    if replicates:
        refuse_few(replicates)
    if save and save.resolve() in [folder.resolve() for folder in baselines]:
        raise BaselineError(
            f"--save-baseline={save} would overwrite the baseline that the candidate is compared with: name another "
            f"folder, and replace the old one after the gate has passed"
        )
    if save:
        refuse_place(save)


def refuse_models(baselines: Sequence[Baseline], subjects: Mapping[str, Subject]) -> None:
    """BaselineError before anything is encoded, for a candidate of another kind, or a seed replicate that equals it."""
    prints = {label: subject.model.fingerprint() for label, subject in subjects.items()}
    model, *replicates = prints
    for baseline in baselines:
        refuse_other_kind(baseline, model, subjects[model].kind)
    for n, label in enumerate(replicates):  # its loss would be taken for the luck of a seed
        same = next((other for other in (model, *replicates[:n]) if prints[other] == prints[label]), None)
        if same is not None:
            raise BaselineError(f"--twin={label} is {same} again (the same weights). {WHAT_IT_IS}")


@dataclass(frozen=True, kw_only=True)
class GateOptions:
    """What is asked of the end: the baselines to weigh against, where to save a new one, and how a gate decides.

    `primary` is the rank metric that decides for a search with labels, None for the one that its labels ask for.
    `purpose` is what the new model is for, None for what the data ask for. `inconclusive` is what an inconclusive gate
    counts as, pass or block. `thresholds` on similarities are in use. `folder` is where the report is written.
    """

    baselines: tuple[Baseline, ...] = ()
    save: Path | None = None
    primary: str | None = None
    purpose: Purpose | None = None
    inconclusive: str | None = None
    thresholds: tuple[float, ...] = ()
    folder: str = ""


def conclude(recorder: Recorder, settings: Settings, status: int, options: GateOptions) -> Conclusion:
    """Weigh the run against its baselines, or keep it as one.

    What was interrupted, or could not be used, keeps its own status. Where both are asked for, only a candidate that
    passes is kept. UsageError where the run and a baseline cannot be compared.
    """
    baselines = options.baselines
    weighs = bool(baselines) and status in (*FINISHED, NOTHING)
    is_done = status in FINISHED or (status == NOTHING and not recorder.measured_nothing)
    saves = options.save is not None and is_done
    if not weighs and not saves:
        return Conclusion(status, problems=tuple(_left_undone(options, status)))
    results = recorder.results(settings=described(settings), end=Conclusion(status))
    model, *replicates = labels(settings.models)
    side, *others = [side_of(results, recorder.items, label) for label in (model, *replicates)]
    own = dict(zip(replicates, others, strict=True))
    end, weighed = Conclusion(status), []
    if weighs:
        _refuse_copies(own, model, side)
        weighed = _weigh_all(recorder, results, model, own, settings=settings, options=options)
        shown = record.GateEvidence(recorder.items, recorder.documents, options.folder, qrels_of(settings))
        end = _decided(weighed, options.inconclusive, status, _beside(recorder.rows, baselines[0]), shown)
        end = replace(end, searched=weighed[0].searched, weighed=weighed)
    if options.save and end.gate and (end.gate.outcome != "pass" or end.status):
        why = f"the gate's outcome is {end.gate.outcome}, and the run's exit code {end.status}"
        return replace(end, problems=(*end.problems, f"no baseline was saved: {why}"))
    if options.save and saves:
        noise = _noise_to_keep(weighed, side, own, _dimensions(results), model)
        vectors = recorder.vectors(model)
        save(options.save, results, side.tables, model=model, seed_noise=noise, vectors=vectors)
    return end


def with_references(end: Conclusion, recorder: Recorder, settings: Settings) -> Conclusion:
    """The conclusion of a run that came to its end, with contamination rows and the models that it is compared with."""
    if end.status not in ENDED:
        return end
    end = end if recorder.first_look else with_contamination(end, recorder, settings)
    return replace(end, references=references_of(recorder, settings))


def with_contamination(
    end: Conclusion, recorder: Recorder, settings: Settings, baselines: Sequence[Baseline] = ()
) -> Conclusion:
    """The conclusion with contamination rows."""
    return replace(end, contamination=contamination_of(recorder, settings, baselines))


def _refuse_copies(replicates: Mapping[str, Side], model: str, candidate: Side) -> None:
    """BaselineError for a seed replicate that is the candidate in another precision: its loss would pass for luck."""
    for label, side in replicates.items():
        if is_copy(candidate, side):
            raise BaselineError(
                f"the gate could not be used: --twin={label} gives the same scores as {model} up to rounding: it is "
                f"the candidate again, in another precision or file. {WHAT_IT_IS}"
            )


def _left_undone(options: GateOptions, status: int) -> Iterator[str]:
    """What a run that was stopped, or measured nothing, did not come to."""
    left = ["the gate did not decide"] * bool(options.baselines) + ["no baseline was saved"] * bool(options.save)
    if status not in (*FINISHED, NOTHING):
        how = "the run was interrupted" if status == INTERRUPTED else f"the run stopped early (exit code {status})"
        yield f"{how}: {' and '.join(left or ['the results are incomplete'])}"
    elif left:
        yield f"nothing was measured: {' and '.join(left)}"


def _weigh_all(
    recorder: Recorder,
    results: RunFile,
    model: str,
    replicates: Mapping[str, Side],
    *,
    settings: Settings,
    options: GateOptions,
) -> list[Weighed]:
    """The decision against each baseline; BaselineError where one cannot be compared."""
    by_people = people(recorder.items, recorder.documents, settings)
    try:
        weighed = [
            _weigh(
                b,
                results,
                recorder,
                model,
                replicates,
                by_people=by_people,
                options=options,
                index=recorder.index if b is options.baselines[0] else None,
            )
            for b in options.baselines
        ]
    except BaselineError as error:
        raise BaselineError(f"the gate could not be used: {error}") from error
    if len({w.decision.baseline for w in weighed}) < len(weighed):
        last = weighed[-1].decision
        weighed[-1] = replace(weighed[-1], decision=replace(last, baseline=f"{last.baseline} (anchor)"))
    return weighed


def _decided(
    weighed: Sequence[Weighed],
    inconclusive: str | None,
    status: int,
    beside: Mapping[str, BaselineFigure],
    shown: record.GateEvidence,
) -> Conclusion:
    """The conclusion of a gate; a check that failed fails the run, and so do data of which nothing was measured."""
    decided = record.with_texts(weighed, inconclusive, shown)
    if status != 1 or decided.outcome == "block":
        code: ExitCode = 1 if status == 1 else decided.exit_code or (5 if status == NOTHING else 0)
        return Conclusion(code, replace(decided, exit_code=code), baseline=beside)
    problem = (
        f"the gate's outcome is {decided.outcome}, but the run fails: a check failed its own threshold, or could "
        f"not be measured"
    )
    return Conclusion(status, replace(decided, exit_code=1), (problem,), beside)


def _weigh(
    baseline: Baseline,
    results: RunFile,
    recorder: Recorder,
    model: str,
    replicates: Mapping[str, Side],
    *,
    by_people: People,
    options: GateOptions,
    index: OldIndex | None,
) -> Weighed:
    noise = None
    if replicates:
        side, dimensions = side_of_baseline(baseline, next(iter(replicates.values()))), _dimensions(results)
        noise = _noise(side, replicates, dimensions | {"": baseline.model.dimension}, "", options.primary)
    return weigh(baseline, results, recorder.items, model=model, seed_noise=noise, people=by_people,
                 primary=options.primary, purpose=options.purpose, vectors=recorder.vectors(model),
                 documents=recorder.document_lengths(model), index=index,
                 thresholds=options.thresholds)  # fmt: skip


def _noise(
    baseline: Side, replicates: Mapping[str, Side], dimensions: Mapping[str, int | None], of: str,
    primary: str | None = None,
) -> Noise | None:  # fmt: skip
    """The seed noise of replicates; BaselineError where one is none. `of` has the baseline's dimension."""
    refuse_other_dimension(dimensions[of], {label: dimensions[label] for label in replicates})
    return seed_noise([baseline, *checked(baseline, replicates).values()], primary=primary)


def _noise_to_keep(
    weighed: Sequence[Weighed],
    side: Side,
    replicates: Mapping[str, Side],
    dimensions: Mapping[str, int | None],
    model: str,
) -> Noise | None:
    """The noise of a new baseline: that of the old one, whose replicates they are, where there is one."""
    if not replicates:
        return None
    if weighed:
        return weighed[0].noise if weighed[0].decision.replicates else None
    return _noise(side, replicates, dimensions, model)


def _dimensions(results: RunFile) -> dict[str, int | None]:
    return {model.label: model.dimension for model in results.models}


def _beside(rows: Mapping[str, Result], baseline: Baseline) -> dict[str, BaselineFigure]:
    """The baseline's figure beside each row's own."""
    found = {key: baseline.figure(row.case.of_any_model, row.figure) for key, row in rows.items()}
    return {key: figure for key, figure in found.items() if figure}
