"""The profile that a run begins with: the checks' own figures on the texts of a first look."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from encheck.engine.checks import CheckFunction
from encheck.engine.measure import measure_case
from encheck.engine.recorder import Conclusion, Recorder
from encheck.engine.references import for_profile
from encheck.options import described
from encheck.running.notes import tell

if TYPE_CHECKING:
    from encheck.engine.evaluation import Evaluation


def show(evaluation: Evaluation, functions: Mapping[str, CheckFunction]) -> None:
    """Show the profile of an evaluation that stands at a first look; `functions` are the checks by their cases' ids."""
    for line in profile_of(evaluation, functions):
        tell(line)


def profile_of(evaluation: Evaluation, functions: Mapping[str, CheckFunction]) -> Iterator[str]:
    """The lines of the first profile, which nothing that is logged meanwhile interrupts."""
    from encheck.reporting.terminal import first_profile

    recorder = Recorder()
    with evaluation.notes.muted(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for case in evaluation.cases:
            function = functions.get(str(case.id))
            if function and evaluation.sees(case):
                judgement = measure_case(case, evaluation, function)
                if any(row.estimate for row in judgement.rows):  # the others' own tests say what is wrong
                    recorder.take(judgement.found(function))
        recorder.described.append(evaluation.describe())
        end = Conclusion(0, references=for_profile(recorder, evaluation.settings))
        yield from first_profile(recorder.results(settings=described(evaluation.settings), end=end))
