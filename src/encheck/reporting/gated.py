"""The end of a run with --baseline or --save-baseline: read, weigh, keep."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from encheck.baseline import Baseline, case_of, read, save
from encheck.errors import BaselineError
from encheck.gating import Side, Weighed, seed_noise, side_of, side_of_baseline, weigh
from encheck.reporting import gate
from encheck.reporting.recorder import Recorder
from encheck.session import labels
from encheck.settings import Settings

FINISHED = (0, 1)  # pytest's: nothing failed, something failed


def read_baselines(settings: Settings) -> list[Baseline]:
    """The baseline of a run, then its anchor; BaselineError before anything is encoded where one is broken."""
    return [read(folder) for folder in (settings.baseline, settings.anchor) if folder]


def conclude(recorder: Recorder, settings: Settings, status: int, *, restricted: bool) -> int:
    """Weigh the run against its baselines, or keep it as one; the exit status that comes of it.

    What was interrupted, or could not be used, keeps its own status.
    """
    if status not in FINISHED or not (recorder.baselines or settings.save_baseline):
        return status
    results = recorder.results(command="", settings=described(settings), exit_status=status)
    model, *twins = labels(settings.models)
    sides = [side_of(results, recorder.items, label) for label in (model, *twins)]
    if settings.save_baseline:
        noise = seed_noise(sides) if twins else None
        save(settings.save_baseline, results, sides[0].tables, model=model, seed_noise=noise)
    if recorder.baselines:
        try:
            weighed = [
                _weigh(b, results, recorder, model, sides[1:], restricted=restricted) for b in recorder.baselines
            ]
        except BaselineError as error:
            recorder.described[0]["notes"].append(f"the gate could not be used: {error}")  # for summary.md too
            raise
        recorder.gate = gate.as_dict(weighed, settings.inconclusive)
        _fill(recorder.rows, recorder.baselines[0])
        return max(status, recorder.gate["exit_code"]) if status == 0 else status
    return status


def described(settings: Settings) -> dict[str, Any]:
    """The settings that a baseline keeps, and results.json shows."""
    return {
        "models": list(settings.models), "data": list(settings.data), "epsilon": settings.epsilon,
        "median_scope": settings.median_scope, "sample": settings.sample, "seed": settings.seed,
        "device": settings.device, "dtype": settings.dtype, "generator_mode": settings.generator_mode,
    }  # fmt: skip


def _weigh(
    baseline: Baseline,
    results: Mapping[str, Any],
    recorder: Recorder,
    model: str,
    twins: Sequence[Side],
    *,
    restricted: bool,
) -> Weighed:
    noise = seed_noise([side_of_baseline(baseline), *twins]) if twins else None
    return weigh(baseline, results, recorder.items, model=model, restricted=restricted, seed_noise=noise)


def _fill(rows: Mapping[str, dict[str, Any]], baseline: Baseline) -> None:
    """Put the baseline's figure beside each row's own."""
    known = {(case_of(r), _figure(r)): r for r in baseline.summary["checks"]}
    for row in rows.values():
        found = known.get((case_of(row), _figure(row)))
        row["baseline"] = {k: found[k] for k in ("value", "low", "high", "n")} if found else None


def _figure(row: Mapping[str, Any]) -> str:
    return str(row["id"].rpartition("/")[2])
