"""`upgrade`: replace a model whose index is in use."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from encheck.api.loading import Spec, as_option
from encheck.engine.gate import decide
from encheck.errors import NothingToCompare, UsageError
from encheck.options.keywords import Given, from_keywords

if TYPE_CHECKING:
    from encheck.deciding.shipping import Gated
    from encheck.deciding.sides import Side
    from encheck.deciding.space import Space
    from encheck.deciding.upgrade import Upgrade, Wanted
    from encheck.gating.types import Outcome as GateOutcome
    from encheck.options import Settings
    from encheck.system.progress import Progress

SEARCH = "retrieval"
PROBES = "probes"
OF_ITSELF = ("baseline", "save_baseline", "anchor", "twin", "inconclusive", "report_dir", "model", "data", "threshold")


def upgrade(
    new: Spec,
    old: Spec,
    *,
    data: str,
    queries: Spec | None = None,
    threshold: float | Sequence[float] = (),
    checks: str = "",
    gate: bool = True,
    timing: bool = True,
    qrels: Spec | None = None,
    report_dir: Spec | None = None,
    progress: Progress | None = None,
    **options: Given,
) -> Upgrade:
    """Decide whether a new model may replace an old one, and what has to change with it (docs/upgrade.md).

    Args:
        new: a model, as in `run`, or `vectors:FILE`.
        old: the model in use, or `vectors:FILE` with its vectors.
        data: the documents that are searched, "./help-center", or queries with labels, "retrieval:PATH".
        queries: the query log, for documents without labels.
        threshold: the thresholds on scores that are in use.
        checks: which behaviour checks the gate weighs besides the search. Default: all. With a part of them, the
            outcome is never "ship", unless the vectors are the same.
        gate: run the gate, which measures both models on the probes. Without it the outcome is "ship" only if the
            vectors are the same.
        timing: measure the speed of both models.
        qrels: human judgements, as `encheck judge` saves them. Default: those beside the log.
        report_dir: a folder for upgrade.json, upgrade.html, adapter.npz and the gate's report. Default: none.
        progress: where to show progress of the search. Default: nowhere.
        options: other options of `encheck run`, with underscores (store, device, dtype, sample, seed, model_arg,
            passage_words, skip_bad_rows, ...). A model argument without a label applies to both models.

    Returns:
        The outcome ("ship", "ship with these changes", "do not ship", "cannot tell"), reasons, changes, a checklist
        and all figures.

    Raises:
        UsageError: the two cannot be compared. Subclasses such as ModelError and DataError say what is wrong.
        EncoderError: a model failed, or a file of vectors lacks a document.
    """
    from encheck.deciding.upgrade import measure
    from encheck.system.progress import Progress

    if refused := [name for name in OF_ITSELF if name in options]:
        raise UsageError(f"{refused[0]} is not an option of upgrade(), which takes a new and an old model, and data")
    wanted = _wanted(threshold, qrels, timing=timing)
    folder = Path(report_dir).expanduser() if report_dir else None
    with tempfile.TemporaryDirectory(prefix="encheck-", ignore_cleanup_errors=True) as scratch:
        if options.pop("no_store", False):
            options["store"] = Path(scratch, "store.sqlite")
        asked = _Asked(as_option(new), _known(as_option(old)), data, str(queries) if queries else None, options)
        weigh = _Gate(asked=asked, checks=checks, scratch=Path(scratch), folder=folder, wanted=gate)
        found = measure(asked.settings(), wanted, gate=weigh, folder=folder, progress=progress or Progress(quiet=True))
    if folder:
        _write_page(found, folder)
    return found


def _wanted(threshold: float | Sequence[float], qrels: Spec | None, *, timing: bool) -> Wanted:
    """What is asked for beside the settings; UsageError for a threshold that is no number."""
    from encheck.deciding.upgrade import Wanted
    from encheck.options import threshold_of

    thresholds = map(threshold_of, [threshold] if isinstance(threshold, int | float) else threshold)
    known = tuple(one for one in thresholds if one is not None)
    return Wanted(thresholds=known, qrels=Path(qrels).expanduser() if qrels else None, timing=timing)


def _write_page(found: Upgrade, folder: Path) -> None:
    from encheck.deciding.upgrade import PAGE
    from encheck.deciding.upgrade_page import render
    from encheck.reporting.results import write_named

    write_named(folder / PAGE, render(found.raw))


def _known(old: str) -> str:
    """UsageError for the directory of a baseline or of a run: neither holds vectors."""
    from encheck.gating.baseline import SUMMARY
    from encheck.reporting.results import RESULTS

    if any(Path(old).expanduser().joinpath(name).is_file() for name in (SUMMARY, RESULTS)):
        raise UsageError(
            f"{old} holds the scores of a model and no vectors, but an upgrade compares vectors. Remedy: name the "
            "model, or vectors:FILE"
        )
    return old


@dataclass(frozen=True)
class _Asked:
    """The models, the data and the options of a run."""

    new: str
    old: str
    data: str
    queries: str | None
    options: dict[str, Any]

    def settings(self) -> Settings:
        """The settings of both models, the new one first; UsageError says what is wrong with an option."""
        log = {"queries": self.queries} if self.queries else {}
        return from_keywords([self.new, self.old], [self.data], {**self.options, **log})


@dataclass(frozen=True, kw_only=True)
class _Gate:
    """Runs the gate, where it is wanted and would say something."""

    asked: _Asked
    checks: str
    scratch: Path
    folder: Path | None
    wanted: bool

    def __call__(self, space: Space, sides: Sequence[Side]) -> Gated:
        """What the gate says of behaviour and search, and what it could not compare; nothing of the same vectors.

        `sides` are the old model and the new one.
        """
        from encheck.deciding.shipping import Gated

        if space.name == "same":
            return Gated(None, ("not run: the vectors are the same",))
        if not self.wanted:
            return Gated(None, ("not run (--no-gate): behaviour was not measured",))
        return self._said(sides)

    def _said(self, sides: Sequence[Side]) -> Gated:
        from encheck.deciding.shipping import Gated
        from encheck.gating.types import PartialGate
        from encheck.reporting.gate import record, words

        strange = [side.subject.label for side in sides if _is_strange_to_the_probes(side)]
        said = self._ran([self.asked.data] if strange else [PROBES, self.asked.data])
        if said is None:
            return Gated(
                None,
                (
                    f"not run: {sides[0].subject.label} does not have all texts of any check: add the texts of "
                    f"the queries",
                ),
            )
        if strange:
            said = record.in_part(said, PartialGate((SEARCH,), (), f"{strange[0]} has no vectors of the probes"))
        for one in said["against"]:
            one["reindex"] = None  # what becomes of the index is said once, by the upgrade, on the user's documents
        first, *others = words.headline(said)
        if strange:
            first = f"behaviour was not compared: {strange[0]} has no vectors of the probes. {first}"
        lines = (first, *others, *(line for one in said["against"] for line in words.explained(one)))
        outcome: GateOutcome = said["outcome"]
        if outcome == "pass" and said["exit_code"]:
            outcome = "inconclusive"
        return Gated(outcome, tuple(dict.fromkeys(lines)), said, str(self._report) if self.folder else "")

    def _ran(self, data: Sequence[str]) -> dict[str, Any] | None:
        """The `gate` of results.json; None where the old model has too few vectors to be compared."""
        asked = self.asked
        log = {"queries": asked.queries} if asked.queries else {}
        try:
            decided = decide(
                asked.new, asked.old, data=data, checks=self._checks, report_dir=self._report,
                options={**asked.options, **log},
            )  # fmt: skip
        except NothingToCompare:
            return None
        decided.write(self._report)
        found = decided.result.results.raw["gate"]
        assert isinstance(found, dict)
        return found

    @property
    def _report(self) -> Path:
        return (self.folder or self.scratch) / "gate"

    @property
    def _checks(self) -> str | None:
        return f"({self.checks}) or {SEARCH}" if self.checks else None


def _is_strange_to_the_probes(side: Side) -> bool:
    """Whether these are vectors of a file that has none of any sentence of the probes."""
    from encheck.datasets.load import load
    from encheck.encoders.protocol import Partial

    if not isinstance(side.subject.model, Partial):
        return False
    texts = {group.source for group in load(PROBES, sample=None).groups}
    return len(side.subject.model.lacks(sorted(texts))) == len(texts)
