"""The end of a run: its gate, its new baseline, and the models that it is compared with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from encheck.engine.folder import from_here
from encheck.engine.recorder import Conclusion, Recorder
from encheck.errors import BaselineError
from encheck.gating import judgements
from encheck.gating.baseline import Baseline, refuse_place, save, tables_of
from encheck.gating.contamination import contaminations, data_pairs
from encheck.gating.index_space import OldIndex
from encheck.gating.judged import Pool, judge
from encheck.gating.judgements import place_of, read
from encheck.gating.purpose import Purpose
from encheck.gating.reference import SHIPPED, differences, of_properties, shipped
from encheck.gating.replicates import WHAT_IT_IS, checked, is_copy, refuse_few, refuse_other_dimension, seed_noise
from encheck.gating.types import ExitCode, Judged, Noise, UnjudgedSearch
from encheck.gating.weighing import People, Searched, Side, Weighed, refuse_other_kind, side_of, side_of_baseline, weigh
from encheck.options import Settings, described
from encheck.reporting.answers import Documents, asked_of
from encheck.reporting.gate import record
from encheck.reporting.markdown import ENDED
from encheck.run_file import BaselineFigure, Contamination, ModelEntry, Reference, Result, Role, RunFile
from encheck.running.labels import labels
from encheck.running.subject import Subject


def qrels_of(settings: Settings) -> str:
    """The file of judgements of the run's log of queries, as one would type it; empty if there is no log."""
    if settings.queries is None:
        return ""
    return from_here(place_of(settings.queries))


def people(
    items: Mapping[str, Mapping[str, Sequence[Any]]], documents: Mapping[str, Documents], settings: Settings
) -> People:
    """What is known of a search's answers; UsageError if the file of judgements is wrong."""

    def said(one: Searched, baseline: str, found: UnjudgedSearch) -> Judged | None:
        if settings.queries is None:
            return None
        texts = {name: text for some in items.values() for name, text in zip(some["item"], some["source"], strict=True)}
        asked = asked_of(one, texts, documents[one.after.case])
        pool = Pool(asked, settings.seed, found.delta, found.least, found.alpha)
        return judge(pool, read(place_of(settings.queries)).answers(pool.order), baseline=baseline)

    return said


def contamination_of(
    recorder: Recorder, settings: Settings, baselines: Sequence[Baseline] = ()
) -> tuple[Contamination, ...]:
    """The rows of the model since each baseline, else of each later model since the first, as results.json has them.

    Nothing if the run was not on both sorts of probes. Seed replicates are no candidates.
    """
    results = recorder.results(settings=described(settings), end=Conclusion(0))
    editions = {data.name: data.version for data in results.data}
    used = {name for pair in data_pairs(editions) for name in pair}
    if not used:
        return ()
    results = replace(results, checks=tuple(row for row in results.checks if row.data in used))
    return tuple(
        row
        for names, older, candidate in _pairs(recorder, results, settings, baselines)
        for row in contaminations(older, candidate, editions, names=names, seed=settings.seed)
    )


def _pairs(
    recorder: Recorder, results: RunFile, settings: Settings, baselines: Sequence[Baseline]
) -> Iterator[tuple[tuple[str, str], Side, Side]]:
    """The names and the sides of each older model with its candidate."""
    first, *later = labels(settings.models)
    side = side_of(results, recorder.items, first)
    for baseline in baselines:
        yield (baseline.name, first), side_of_baseline(baseline, side), side
    if not baselines and not settings.seed_replicates:
        for label in later:
            yield (first, label), side, side_of(results, recorder.items, label)


def references_of(recorder: Recorder, settings: Settings) -> tuple[Reference, ...]:
    """The `references` of results.json; none on data that none of them was measured on."""
    results = recorder.results(settings=described(settings), end=Conclusion(0))
    baselines = list(shipped(results))
    if not baselines:
        return ()
    sides = [(model, side_of(results, recorder.items, model.label)) for model in results.models]
    return tuple(
        one
        for model, side in sides
        for one in (*_with_parent(recorder, results, model, side), *_against_all(baselines, recorder, model, side))
    )


def for_profile(recorder: Recorder, settings: Settings) -> tuple[Reference, ...]:
    """What a profile is paired with: of each model the properties against the reference, and no capabilities."""
    results = recorder.results(settings=described(settings), end=Conclusion(0))
    references = [one for one in shipped(results) if SHIPPED[one.model.label] == "reference"]
    found = []
    for model in results.models:
        side = side_of(results, recorder.items, model.label)
        for baseline in references:
            if model.fingerprint != baseline.model.fingerprint:
                before = side_of_baseline(baseline, side, recorder.parts)
                properties = of_properties(before, side, is_look=recorder.first_look is not None)
                name = baseline.model.label
                found.append(Reference(model.label, name, "reference", same_weights=False, properties=properties))
    return tuple(found)


def _against_all(
    baselines: Sequence[Baseline], recorder: Recorder, model: ModelEntry, side: Side
) -> Iterator[Reference]:
    """One model against each reference but itself; a reference that is its parent is called so."""
    parent = recorder.parent(model.label)
    is_look = recorder.first_look is not None
    for baseline in baselines:
        name, is_same = baseline.model.label, _is_same(model, baseline.model.weights)
        is_itself = model.fingerprint == baseline.model.fingerprint
        both = (side_of_baseline(baseline, side, recorder.parts), side)
        rows, properties = ((), ()) if is_itself else (differences(*both), of_properties(*both, is_look=is_look))
        is_parent = parent is not None and parent.label == name
        role: Role = "parent" if is_parent else SHIPPED[name]
        by = parent.named_by if parent and is_parent else ""
        if rows or (is_same and model.label != name):
            is_other = is_same and not is_itself
            yield Reference(model.label, name, role, is_other, rows, properties, by)


def _with_parent(recorder: Recorder, results: RunFile, model: ModelEntry, side: Side) -> Iterator[Reference]:
    """One model against a parent that is none of the references; without a row where the store lacks its vectors."""
    parent = recorder.parent(model.label)
    if parent is None or parent.label in SHIPPED:
        return
    items = {case: {**recorder.items[case], **scores} for case, scores in recorder.parents_scores.items()}
    both = (Side(tables_of(results, items, model.label), parent.scales), side)
    is_same = _is_same(model, parent.weights)
    rows, properties = differences(*both), of_properties(*both)
    yield Reference(model.label, parent.label, "parent", is_same, rows, properties, parent.named_by)


def _is_same(model: ModelEntry, weights: str | None) -> bool:
    return model.weights is not None and model.weights == weights


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
        shown = record.Shown(recorder.items, recorder.documents, options.folder, qrels_of(settings))
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
    shown: record.Shown,
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
