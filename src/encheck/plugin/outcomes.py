"""The outcome of a check, from its rows to the letter that pytest prints."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from encheck.engine.judgement import CheckFailedError, Judgement, KnownFailureError, message_never_judged
from encheck.errors import NothingToMeasure, UsageError
from encheck.plugin.collection import case_of
from encheck.system.terminal import LINES, escape_controls, make_visible

if TYPE_CHECKING:
    from encheck.engine.evaluation import Evaluation
    from encheck.types import CheckResult, Verdict

JUDGEMENT: pytest.StashKey[Judgement] = pytest.StashKey()
FAILED: pytest.StashKey[dict[str, str]] = pytest.StashKey()  # the first check of each model that failed
STATUS = {
    "known_failure": ("known failures", "k", ("KNOWN FAILURE", {"yellow": True})),
    "stale_known_failure": ("stale known failures", "S", ("STALE KNOWN FAILURE", {"yellow": True})),
    "below_aim": ("below aim", "b", ("BELOW AIM", {"yellow": True})),
    "inconclusive": ("inconclusive", "?", ("INCONCLUSIVE", {"yellow": True})),
}


@contextmanager
def pytest_outcomes(item: pytest.Item, judgement: Judgement) -> Iterator[None]:
    """Add the rows made in the block to the test's properties, and turn encheck's outcomes into pytest's."""
    before = len(judgement.rows)
    try:
        yield
    except CheckFailedError as failure:
        message = judgement.evaluation.failure_message(judgement.case, failure.row)
        raise pytest.fail.Exception(message, pytrace=False) from None
    except KnownFailureError as failure:
        raise pytest.xfail.Exception(failure.row.reason) from None
    except UsageError as error:
        raise pytest.fail.Exception(f"{judgement.case.check}: {error}", pytrace=False) from None
    finally:
        for row in judgement.rows[before:]:
            item.user_properties += _properties(row)


def _properties(row: CheckResult) -> Iterator[tuple[str, str]]:
    """Yield a row's figure, verdict and lines, for reports that show the properties of tests."""
    from encheck.reporting.failures import figure_line, surface_line

    assert row.estimate is not None
    lines = filter(None, (figure_line(row.estimate), surface_line(row.estimate)))
    yield row.case.name_of(row.id), "; ".join(lines)
    if row.verdict:
        yield "verdict", row.verdict
    if row.lines:
        named = (("floor", row.lines.floor), ("aim", row.lines.aim))
        yield from ((name, f"{line:g}") for name, line in named if line is not None)


def refuse_unjudged(item: pytest.Function) -> Generator[None, object, object]:
    """Skip a check with nothing to measure. Raise an error if a check ended without a judgement."""
    try:
        result = yield
    except NothingToMeasure as nothing:
        pytest.skip(str(nothing))
    judgement = item.stash.get(JUDGEMENT, None)
    if judgement is None or judgement.is_undecided:
        pytest.fail(message_never_judged(item.name), pytrace=False)
    return result


def attach_measurements(report: Any, item: pytest.Item, call: pytest.CallInfo[None], evaluation: Evaluation) -> None:
    """Send the rows and the items of a check along with its report, which reaches the xdist controller."""
    if call.when != "call" and report.passed:
        return
    judgement = item.stash.setdefault(JUDGEMENT, Judgement(case_of(item), evaluation))
    if call.excinfo:
        verdict: Verdict = "error"  # unable to measure
        if call.excinfo.errisinstance(pytest.skip.Exception):
            verdict = "skipped"
        elif call.excinfo.errisinstance(AssertionError):  # a bare assert
            verdict = "fail"
        judgement.record_ending(verdict, str(call.excinfo.value))
        if hasattr(report, "wasxfail"):  # by pytest's own marker too
            reason = report.wasxfail or "marked as xfail"
            judgement.rows = [
                replace(row, verdict="known_failure", reason=reason) if row.verdict in ("fail", "error") else row
                for row in judgement.rows
            ]
    found = judgement.outcome(item.function)  # type: ignore[attr-defined]
    report.encheck = found.serialise()
    report.encheck_verdict = next((row.verdict for row in found.rows if row.verdict), "")
    model = judgement.case.model
    report.encheck_failed_model = model if report.failed and evaluation.session.subjects[model].error else ""
    if item.config.getoption("htmlpath", None) is not None:
        from encheck.reporting.html.fragment import check_fragment
        from encheck.scoring.frame import read_item_frame

        content = check_fragment(found.rows, None if found.items is None else read_item_frame(found.items))
        extra = {"name": "encheck", "format_type": "html", "content": content, "mime_type": None, "extension": None}
        report.extras = [*getattr(report, "extras", []), extra]


def make_report_visible(report: pytest.TestReport) -> None:
    """Make control characters visible in pytest's text for a check and in its captured output and logs.

    This concerns checks that failed, were skipped or xfailed.
    """
    report.sections = [(name, escape_controls(text)) for name, text in report.sections]
    if isinstance(report.longrepr, tuple):
        path, line, reason = report.longrepr
        report.longrepr = (path, line, make_visible(reason, keep=LINES))
    elif report.longrepr is not None and (shown := make_visible(told := report.longreprtext, keep=LINES)) != told:
        report.longrepr = shown
    if reason := getattr(report, "wasxfail", ""):
        report.wasxfail = make_visible(reason, keep=LINES)


def report_status(report: pytest.TestReport, config: pytest.Config) -> object:
    """Return the letters for known failures, stale ones, below aim and inconclusive, unless the test failed.

    A failed model is one error, in its first check. The model's other checks count as not measured.
    """
    if model := getattr(report, "encheck_failed_model", ""):
        first = config.stash.setdefault(FAILED, {}).setdefault(model, report.nodeid)
        if report.nodeid != first:
            return ("not measured", "-", ("NOT MEASURED", {"red": True}))
    return None if report.failed else STATUS.get(getattr(report, "encheck_verdict", ""))
