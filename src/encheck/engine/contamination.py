"""The contamination rows of a finished run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from encheck.engine.recorder import Conclusion, Recorder
from encheck.gating.baseline import Baseline
from encheck.gating.contamination import contaminations, data_pairs
from encheck.gating.pairing import ModelScores
from encheck.gating.weighing import scores_of_baseline, scores_of_run
from encheck.options import Settings, described
from encheck.run_file import Contamination, RunFile
from encheck.running.labels import labels


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
) -> Iterator[tuple[tuple[str, str], ModelScores, ModelScores]]:
    """The names and the sides of each older model with its candidate."""
    first, *later = labels(settings.models)
    side = scores_of_run(results, recorder.items, first)
    for baseline in baselines:
        yield (baseline.name, first), scores_of_baseline(baseline, side), side
    if not baselines and not settings.seed_replicates:
        for label in later:
            yield (first, label), side, scores_of_run(results, recorder.items, label)
