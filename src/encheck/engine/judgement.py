"""Measure one case: call its check with its fixtures, and record a row for every outcome.

A check measures and judges through a `Judgement`, which the engine passes here and pytest passes by its fixtures.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from encheck.claims import claim_entry, floor_and_aim
from encheck.engine.recorder import result_row
from encheck.errors import CheckError, EncheckError, NothingToMeasure, UsageError
from encheck.types import CheckResult, Estimate, Verdict

if TYPE_CHECKING:
    from encheck.engine.case_outcome import CaseOutcome
    from encheck.engine.checks import Case
    from encheck.engine.evaluation import Evaluation
    from encheck.scoring.scores import Scores


SETTINGS = ("epsilon", "threshold", "median_scope")  # settings of a run that checks and metrics take by name


class CheckFailedError(EncheckError, AssertionError):
    """Raised to end the check: its figure `row` failed, or could not be measured."""

    def __init__(self, row: CheckResult) -> None:
        super().__init__(row.reason)
        self.row = row


class KnownFailureError(EncheckError):
    """Raised to end the check: its figure `row` failed, which is a known failure of this model."""

    def __init__(self, row: CheckResult) -> None:
        super().__init__(row.reason)
        self.row = row


class Judgement:
    """The measurements and decisions of one check on one model, data set and level. `rows` has the results in order."""

    def __init__(self, case: Case, evaluation: Evaluation) -> None:
        self.case, self.evaluation = case, evaluation
        self.rows: list[CheckResult] = []

    @property
    def scores(self) -> Scores:
        """The similarities of the check's items.

        Raises NothingToMeasure if the data have no items, CheckError if the items cannot be built or the model failed.
        """
        try:
            return self.evaluation.scores(self.case)
        except (NothingToMeasure, CheckError):
            raise
        except EncheckError as error:
            raise CheckError(f"{self.case.model} cannot be measured: {error}") from error

    def report(self, *estimates: Estimate) -> None:
        """Record figures that are only reported."""
        self.rows += [self.evaluation.make_row(self.case, estimate, None, None, "") for estimate in estimates]

    def judge(self, given: Estimate | Scores | None = None, *, at_least: float | None = None) -> None:
        """Record the figures of `show`, then judge the metric by the claim's floor and aim, or by `at_least`.

        `given` are scores to use instead of the check's, or an estimate that the check made. CheckFailedError and
        KnownFailureError end the check. Raise UsageError if the figure is of an undeclared metric.
        """
        claim, estimate = self.case.claim, given
        if not isinstance(estimate, Estimate):
            scores = self.scores if estimate is None else estimate
            if claim.metric is None:
                raise UsageError("judge() uses the metric of @claim, which declares none")
            for figure in claim.show:
                shown = figure(scores, **self._settings_for(figure))
                self.report(*([shown] if isinstance(shown, Estimate) else shown))
            estimate = claim.metric(scores, **self._settings_for(claim.metric))
        row = self.evaluation.judge_figure(self.case, estimate, floor_and_aim(claim, estimate.metric, at_least))
        self.rows.append(row)
        if row.verdict in ("fail", "error"):
            raise CheckFailedError(row)
        if row.verdict == "known_failure":
            raise KnownFailureError(row)

    def _settings_for(self, function: Callable[..., object]) -> dict[str, object]:
        """Return the settings of the run that the function has parameters for."""
        wanted = inspect.signature(getattr(function, "estimate", function)).parameters
        return {name: getattr(self.evaluation.settings, name) for name in SETTINGS if name in wanted}

    @property
    def is_undecided(self) -> bool:
        """Whether no figure was judged, although the check and the data allow a verdict."""
        unjudged = self.case.claim.declared.unjudged
        return not any(
            row.lines or (unjudged and row.reason == unjudged) or (row.estimate and row.estimate.params.get("unjudged"))
            for row in self.rows
        )

    def record_ending(self, verdict: Verdict, reason: str) -> None:
        """Record why the check ended, unless a verdict says so already. A failure counts after a better verdict too."""
        verdicts = {row.verdict for row in self.rows if row.verdict}
        if not verdicts or (verdict in ("fail", "error") and verdicts.isdisjoint(("fail", "error", "known_failure"))):
            self.rows.append(self.evaluation.make_row(self.case, None, verdict, None, reason))

    def outcome(self, function: Callable[..., object]) -> CaseOutcome:
        """Return the outcome of this case, for the run's results."""
        from encheck.engine.case_outcome import CaseOutcome
        from encheck.scoring.frame import item_table

        evaluation, case = self.evaluation, self.case
        rows, claim = tuple(map(result_row, self.rows)), claim_entry(function, property=case.property)
        if not any(row.estimate for row in self.rows):
            return CaseOutcome(rows, claim)
        return CaseOutcome(
            rows, claim, evaluation.first_look_positions(case), evaluation.first_documents(case),
            item_table(evaluation.item_frame(case)), evaluation.parent_scores(case),
        )  # fmt: skip


def measure_case(case: Case, evaluation: Evaluation, function: Callable[..., object]) -> Judgement:
    """Call one check on one model, data set and level. An exception becomes a row."""
    judgement, settings = Judgement(case, evaluation), evaluation.settings
    offered: dict[str, Callable[[], object]] = {
        "scores": lambda: judgement.scores, "judge": lambda: judgement.judge, "report": lambda: judgement.report,
        "encheck_case": lambda: case, **{name: partial(getattr, settings, name) for name in SETTINGS},
    }  # fmt: skip
    wanted = list(inspect.signature(function).parameters)
    try:
        if strange := [name for name in wanted if name not in offered]:
            raise CheckError(f"{case.check} uses the fixture {strange[0]!r}, which only pytest provides")
        function(**{name: offered[name]() for name in wanted})
        if judgement.is_undecided:
            raise CheckError(message_never_judged(case.check))
    except NothingToMeasure as nothing:
        judgement.record_ending("skipped", str(nothing))
    except (CheckFailedError, KnownFailureError):
        pass  # its row is recorded
    except AssertionError as failure:
        judgement.record_ending("fail", str(failure))
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # also sys.exit, and what pytest raises to skip or fail a test
        raised: dict[str, Verdict] = {"Skipped": "skipped", "Failed": "fail"}
        judgement.record_ending(raised.get(type(error).__name__, "error"), str(error))
    return judgement


def message_never_judged(check: str) -> str:
    """Return the error message for a check that ended without a judgement."""
    return (
        f"{check} ended without calling judge, so it tests nothing. Remedy: end it with judge(), and declare "
        f"metric= and aim= in @claim"
    )
