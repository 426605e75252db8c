"""The profile that a run begins with: the checks' own figures on the texts of a first look."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from encheck.claims import entry_of, lines_of
from encheck.engine.recorder import Conclusion, Recorder, payload
from encheck.engine.references import for_profile
from encheck.errors import EncheckError
from encheck.options import described
from encheck.running.notes import tell
from encheck.types import CheckResult, Estimate

if TYPE_CHECKING:
    from encheck.engine.evaluation import Session
    from encheck.running.case import Case

Check = Callable[..., object]


def show(session: Session, functions: Mapping[str, Check]) -> None:
    """Show the profile of a session that stands at a first look; `functions` are the checks by their cases' ids."""
    for line in profile_of(session, functions):
        tell(line)


def profile_of(session: Session, functions: Mapping[str, Check]) -> Iterator[str]:
    """The lines of the first profile, which nothing that is logged meanwhile interrupts."""
    from encheck.reporting.first_look import first_profile

    recorder = Recorder()
    with session.notes.muted(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for case in session.cases:
            function = functions.get(str(case.id))
            if function and session.sees(case) and (rows := measured(session, case, function)):
                recorder.take(payload(session, case, rows, entry_of(function, property=case.property)))
        recorder.described.append(session.describe())
        end = Conclusion(0, references=for_profile(recorder, session.settings))
        yield from first_profile(recorder.results(settings=described(session.settings), end=end))


def measured(session: Session, case: Case, function: Check) -> list[CheckResult]:
    """The rows that a check gives where it is called here; none where it cannot be, which its own test says."""
    rows: list[CheckResult] = []

    def report(*estimates: Estimate) -> None:
        rows.extend(session.row(case, estimate, None, None, "") for estimate in estimates)

    def judge(estimate: Estimate, *, at_least: float | None = None) -> None:
        rows.append(session.judged(case, estimate, lines_of(case.claim, estimate.metric, at_least)))

    settings = session.settings
    given: dict[str, Callable[[], Any]] = {
        "scores": lambda: session.scores(case), "judge": lambda: judge, "report": lambda: report,
        "encheck_case": lambda: case, "epsilon": lambda: settings.epsilon, "threshold": lambda: settings.cutoff,
        "median_scope": lambda: settings.median_scope,
    }  # fmt: skip
    wanted = inspect.signature(function).parameters
    if not set(wanted) <= set(given):  # a fixture of the user's own
        return []
    try:
        function(**{name: given[name]() for name in wanted})
    except (EncheckError, AssertionError):
        return []
    return rows
