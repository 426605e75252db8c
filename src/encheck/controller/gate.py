"""The end of a run with --baseline or --save-baseline: read, weigh, keep."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from encheck.controller.recorder import Recorder
from encheck.errors import BaselineError
from encheck.gating.baseline import Baseline, case_of, read, refuse_place, save
from encheck.gating.weighing import (
    Side,
    Weighed,
    is_copy,
    refuse_other_kind,
    seed_noise,
    side_of,
    side_of_baseline,
    weigh,
)
from encheck.options import Settings, described
from encheck.reporting import gate
from encheck.running.labels import labels
from encheck.running.subject import Subject

FINISHED = (0, 1)  # pytest's: nothing failed, something failed
NOTHING = 5  # nothing was measured
INTERRUPTED = 2


def read_baselines(settings: Settings) -> list[Baseline]:
    """The baseline of a run, then its anchor; BaselineError where one is broken, or another could not be saved.

    Before anything is encoded.
    """
    folders = [folder for folder in (settings.baseline, settings.anchor) if folder]
    if settings.save_baseline and settings.save_baseline.resolve() in [folder.resolve() for folder in folders]:
        raise BaselineError(
            f"--save-baseline={settings.save_baseline} would overwrite what the candidate is weighed against: name "
            "another folder, and put it in the place of the old one once the gate has passed"
        )
    if settings.save_baseline:
        refuse_place(settings.save_baseline)
    return [read(folder) for folder in folders]


def refuse_models(baselines: Sequence[Baseline], subjects: Mapping[str, Subject]) -> None:
    """BaselineError before anything is encoded, for a candidate of another kind than a baseline's, or an equal twin."""
    prints = {label: subject.model.fingerprint() for label, subject in subjects.items()}
    model, *twins = prints
    for baseline in baselines:
        refuse_other_kind(baseline, model, subjects[model].kind)
    for n, label in enumerate(twins):  # its loss would be taken for the luck of a seed
        same = next((other for other in (model, *twins[:n]) if prints[other] == prints[label]), None)
        if same is not None:
            raise BaselineError(
                f"--twin={label} is {same} once more (the same weights): a twin is a checkpoint of its own, trained "
                "with another seed"
            )


def conclude(recorder: Recorder, settings: Settings, status: int, *, selected: Collection[str] | None) -> int:
    """Weigh the run against its baselines, or keep it as one; the exit status that comes of it.

    What was interrupted, or could not be used, keeps its own status, and the reports say so. Where both are asked for,
    only a candidate that passes is kept.
    """
    weighs = bool(recorder.baselines) and status in (*FINISHED, NOTHING)
    saves = settings.save_baseline is not None and status in FINISHED
    if not weighs and not saves:
        _note_the_end(recorder, settings, status)
        return status
    results = recorder.results(command="", settings=described(settings), exit_status=status)
    model, *twins = labels(settings.models)
    sides = [side_of(results, recorder.items, label) for label in (model, *twins)]
    if weighs:
        _refuse_copies(dict(zip(twins, sides[1:], strict=True)), model, sides[0])
        _weigh_all(recorder, settings, results, model, sides[1:], status=status, selected=selected)
    final = recorder.gate["exit_code"] or status if recorder.gate and status != 1 else status
    if settings.save_baseline and recorder.gate and (recorder.gate["outcome"] != "pass" or final):
        why = f"the gate's outcome is {recorder.gate['outcome']}, and the run's exit code {final}"
        recorder.problems.append(f"no baseline was saved: {why}")
    elif settings.save_baseline and saves:
        noise = seed_noise(sides) if twins else None
        save(settings.save_baseline, results, sides[0].tables, model=model, seed_noise=noise)
    return final


def _refuse_copies(twins: Mapping[str, Side], model: str, candidate: Side) -> None:
    """BaselineError for a twin that is the candidate in another precision: its loss would pass for luck."""
    for label, side in twins.items():
        if is_copy(candidate, side):
            raise BaselineError(
                f"the gate could not be used: --twin={label} scores what {model} does, but for rounding: it is the "
                "candidate once more, in another precision or file. A twin is a checkpoint of its own, trained with "
                "another seed"
            )


def _note_the_end(recorder: Recorder, settings: Settings, status: int) -> None:
    """Say of a run that was stopped, or measured nothing, what it did not come to."""
    left = ["the gate did not decide"] * bool(recorder.baselines) + ["no baseline was saved"] * bool(
        settings.save_baseline
    )
    if status not in (*FINISHED, NOTHING):
        how = "the run was interrupted" if status == INTERRUPTED else f"the run broke off (exit code {status})"
        recorder.problems.append(f"{how}: {' and '.join(left or ['what it did not come to is not here'])}")
    elif left:
        recorder.problems.append(f"nothing was measured: {' and '.join(left)}")


def _weigh_all(
    recorder: Recorder,
    settings: Settings,
    results: Mapping[str, Any],
    model: str,
    twins: Sequence[Side],
    *,
    status: int,
    selected: Collection[str] | None,
) -> None:
    try:
        weighed = [_weigh(b, results, recorder, model, twins, selected=selected) for b in recorder.baselines]
    except BaselineError as error:
        raise BaselineError(f"the gate could not be used: {error}") from error
    if len({w.baseline for w in weighed}) < len(weighed):
        weighed[-1] = replace(weighed[-1], baseline=f"{weighed[-1].baseline} (anchor)")
    recorder.gate = gate.as_dict(weighed, settings.inconclusive)
    if status == 1 and recorder.gate["outcome"] != "block":
        recorder.gate["exit_code"] = 1
        recorder.problems.append(
            f"the gate's outcome is {recorder.gate['outcome']}, and the run fails all the same: a check failed that "
            "has a threshold of yours, or could not measure"
        )
    _fill(recorder.rows, recorder.baselines[0])


def _weigh(
    baseline: Baseline,
    results: Mapping[str, Any],
    recorder: Recorder,
    model: str,
    twins: Sequence[Side],
    *,
    selected: Collection[str] | None,
) -> Weighed:
    noise = seed_noise([side_of_baseline(baseline), *twins]) if twins else None
    return weigh(baseline, results, recorder.items, model=model, selected=selected, seed_noise=noise)


def _fill(rows: Mapping[str, dict[str, Any]], baseline: Baseline) -> None:
    """Put the baseline's figure beside each row's own."""
    known = {(case_of(r), _figure(r)): r for r in baseline.summary["checks"]}
    for row in rows.values():
        found = known.get((case_of(row), _figure(row)))
        row["baseline"] = {k: found[k] for k in ("value", "low", "high", "n")} if found else None


def _figure(row: Mapping[str, Any]) -> str:
    return str(row["id"].rpartition("/")[2])
