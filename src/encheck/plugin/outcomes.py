"""What becomes of a check that ran, from its rows to the letter that pytest prints."""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING, Any

import pytest

from encheck.claims import entry_of
from encheck.errors import NothingToMeasure
from encheck.plugin.collection import case_of
from encheck.system.terminal import LINES, harmless, visible

if TYPE_CHECKING:
    from encheck.engine.evaluation import Session
    from encheck.types import CheckResult, Declaration

ROWS: pytest.StashKey[list[CheckResult]] = pytest.StashKey()
FAILED: pytest.StashKey[dict[str, str]] = pytest.StashKey()  # the first check of each model that failed
STATUS = {
    "known_failure": ("known failures", "k", ("KNOWN FAILURE", {"yellow": True})),
    "stale_known_failure": ("stale known failures", "S", ("STALE KNOWN FAILURE", {"yellow": True})),
    "below_aim": ("below aim", "b", ("BELOW AIM", {"yellow": True})),
    "inconclusive": ("inconclusive", "?", ("INCONCLUSIVE", {"yellow": True})),
}


def record(item: pytest.Item, row: CheckResult) -> None:
    """Keep a row of this check, and show its figure as a property of its test."""
    from encheck.reporting.failures import figure_line, surface_line

    item.stash.setdefault(ROWS, []).append(row)
    assert row.estimate is not None
    told = filter(None, (figure_line(row.estimate), surface_line(row.estimate)))
    item.user_properties.append((row.case.name_of(row.id), "; ".join(told)))
    if row.verdict:
        item.user_properties.append(("verdict", row.verdict))
    if row.lines:
        held = (("floor", row.lines.floor), ("aim", row.lines.aim))
        item.user_properties += [(name, f"{line:g}") for name, line in held if line is not None]


def called(item: pytest.Function) -> Generator[None, Any, Any]:
    """Skip a check that found nothing to measure; one that ended without a judgement is an error."""
    try:
        result = yield
    except NothingToMeasure as nothing:
        pytest.skip(str(nothing))
    rows = item.stash.get(ROWS, [])
    if not any(row.lines or _is_shown(row, case_of(item).claim.declared) for row in rows):
        pytest.fail(
            f"{item.name} ended without calling judge, so it tests nothing. Remedy: end it with judge(METRIC), and "
            f"declare metric= and aim= in @claim",
            pytrace=False,
        )
    return result


def _is_shown(row: CheckResult, declared: Declaration) -> bool:
    """Whether it is the figure of a check that declares to have no verdict."""
    return bool(declared.unjudged) and row.reason == declared.unjudged


def attach(report: Any, item: pytest.Item, call: pytest.CallInfo[None], session: Session) -> None:
    """Send the rows and the items of a check along with its report, which reaches the xdist controller."""
    from encheck.engine.recorder import payload

    if call.when != "call" and report.passed:
        return
    rows = item.stash.setdefault(ROWS, [])
    if call.excinfo and not any(row.verdict for row in rows):
        rows.append(_without_verdict(item, session, call.excinfo))
    case = case_of(item)
    entry = entry_of(item.function, property=case.property)  # type: ignore[attr-defined]
    report.encheck = payload(session, case, rows, entry)
    report.encheck_failed_model = case.model if report.failed and session.bench.subjects[case.model].error else ""
    if item.config.getoption("htmlpath", None) is not None:
        _attach_fragment(report)


def make_visible(report: pytest.TestReport) -> None:
    """What pytest shows of a check that failed, was skipped or xfailed, and what was printed and logged meanwhile."""
    report.sections = [(name, harmless(text)) for name, text in report.sections]
    if isinstance(report.longrepr, tuple):
        path, line, reason = report.longrepr
        report.longrepr = (path, line, visible(reason, keep=LINES))
    elif report.longrepr is not None and (shown := visible(told := report.longreprtext, keep=LINES)) != told:
        report.longrepr = shown
    if reason := getattr(report, "wasxfail", ""):
        report.wasxfail = visible(reason, keep=LINES)


def _attach_fragment(report: Any) -> None:
    """Figures, curves and items for pytest-html."""
    from encheck.reporting.html.fragment import fragment

    content = fragment(report.encheck["rows"], report.encheck["items"])
    extra = {"name": "encheck", "format_type": "html", "content": content, "mime_type": None, "extension": None}
    report.extras = [*getattr(report, "extras", []), extra]


def _without_verdict(item: pytest.Item, session: Session, excinfo: pytest.ExceptionInfo[BaseException]) -> CheckResult:
    """The row of a check that gave no verdict: skipped, failed by a bare assert, or not able to measure."""
    case = case_of(item)
    if excinfo.errisinstance(pytest.skip.Exception):
        return session.row(case, None, "skipped", None, str(excinfo.value))
    verdict: Any = "fail" if excinfo.errisinstance(AssertionError) else "error"
    return session.row(case, None, verdict, None, str(excinfo.value))


def status(report: pytest.TestReport, config: pytest.Config) -> Any:
    """Known failures, stale ones, what is below its aim and what is inconclusive have letters of their own.

    A model that fails is one error, that of its first check. The other checks count as not measured, and fail as well.
    """
    if model := getattr(report, "encheck_failed_model", ""):
        first = config.stash.setdefault(FAILED, {}).setdefault(model, report.nodeid)
        return None if report.nodeid == first else ("not measured", "-", ("NOT MEASURED", {"red": True}))
    rows = getattr(report, "encheck", {}).get("rows", [])
    verdicts = [row["verdict"] for row in rows if row["verdict"]]
    return STATUS.get(verdicts[0]) if verdicts else None
