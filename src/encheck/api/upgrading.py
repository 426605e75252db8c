"""`upgrade`: one model for another on an index in use."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from encheck.api.checks import Option, run
from encheck.api.loading import Spec, as_option
from encheck.api.settings import settings_of
from encheck.errors import UsageError

if TYPE_CHECKING:
    from encheck.deciding.shipping import Gated
    from encheck.deciding.space import Space
    from encheck.deciding.upgrade import Upgrade
    from encheck.options import Settings
    from encheck.system.progress import Progress

STORED = "vectors:"
SEARCH = "retrieval"
OF_ITSELF = ("baseline", "save_baseline", "anchor", "twin", "inconclusive", "report_dir", "model", "data", "cutoff")


def upgrade(
    new: Spec,
    old: Spec,
    *,
    data: str,
    queries: Spec | None = None,
    cutoff: float | Sequence[float] = (),
    checks: str = "",
    gate: bool = True,
    timing: bool = True,
    qrels: Spec | None = None,
    report_dir: Spec | None = None,
    verbose: bool = False,
    progress: Progress | None = None,
    **options: Option,
) -> Upgrade:
    """Say whether a new model may take the place of an old one, and what has to change with it (docs/upgrade.md).

    Args:
        new: a model, as `run` takes it, or `vectors:FILE`.
        old: the model in use, or `vectors:FILE` with its vectors.
        data: the documents that are searched, "./help-center", or queries with labels, "retrieval:PATH".
        queries: the log of queries of documents without labels.
        cutoff: the cut-offs on scores that are in use.
        checks: which checks of behaviour the gate weighs, beside the search. Default: all.
        gate: run the gate, which measures both models on the probes. Without it the outcome is never "ship", but where
            the vectors are the same.
        timing: measure how fast both models are.
        qrels: judgements of people, as `encheck data judge` keeps them. Default: those beside the log.
        report_dir: a folder for upgrade.json, upgrade.html, adapter.npz and the gate's report. Default: none.
        verbose: print what the runs of the gate print.
        progress: where to show progress of the search. Default: nowhere.
        options: other options of `encheck run`, with underscores (store, device, dtype, sample, seed, model_arg,
            passage_words, skip_bad_rows, ...). A model argument without a label is for both models.

    Returns:
        The outcome ("ship", "ship with these changes", "do not ship", "cannot tell"), reasons, changes, a checklist
        and all figures.

    Raises:
        UsageError: the two cannot be compared; ModelError, DataError, ... what their names say.
        EncoderError: a model failed, or a file of vectors lacks a document.
    """
    from encheck.deciding.upgrade import PAGE, Wanted, measure
    from encheck.deciding.upgrade_page import render
    from encheck.options import cutoff_of
    from encheck.reporting.results import write_named
    from encheck.system.progress import Progress

    if refused := [name for name in OF_ITSELF if name in options]:
        raise UsageError(f"{refused[0]} is no option of upgrade(): it takes a new and an old model, and data")
    cutoffs = map(cutoff_of, [cutoff] if isinstance(cutoff, int | float) else cutoff)
    known = tuple(one for one in cutoffs if one is not None)
    wanted = Wanted(cutoffs=known, qrels=Path(qrels).expanduser() if qrels else None, timing=timing)
    folder = Path(report_dir).expanduser() if report_dir else None
    with tempfile.TemporaryDirectory(prefix="encheck-", ignore_cleanup_errors=True) as scratch:
        if options.pop("no_store", False):
            options["store"] = Path(scratch, "store.sqlite")
        asked = _Asked(as_option(new), _known(as_option(old)), data, str(queries) if queries else None, options)
        weigh = _Gate(asked=asked, checks=checks, scratch=Path(scratch), folder=folder, wanted=gate, verbose=verbose)
        found = measure(asked.settings(), wanted, gate=weigh, folder=folder, progress=progress or Progress(quiet=True))
    if folder:
        write_named(folder / PAGE, render(found.raw))
    return found


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
        return settings_of([self.new, self.old], [self.data], {**self.options, **log})

    def of_one(self, model: str, label: str) -> dict[str, Any]:
        """The options of a run of one model: its arguments are those for both, and those under its label."""
        own = []
        for text in self._arguments:
            name, _, value = text.partition("=")
            named, _, key = name.rpartition(":")
            own += [f"{key}={value}"] if named in ("", label) else []
        log = {"queries": self.queries} if self.queries else {}
        return {**self.options, **log, "model": model, "model_arg": own}

    @property
    def _arguments(self) -> list[str]:
        given = self.options.get("model_arg") or ()
        return [given] if isinstance(given, str) else list(given)


@dataclass(frozen=True, kw_only=True)
class _Gate:
    """Runs the gate, where it is wanted and would say something."""

    asked: _Asked
    checks: str
    scratch: Path
    folder: Path | None
    wanted: bool
    verbose: bool

    def __call__(self, space: Space) -> Gated:
        """What the gate says of behaviour and search; nothing of stored vectors, and of vectors that are the same."""
        from encheck.deciding.shipping import Gated

        if space.name == "same":
            return Gated(None, ("not run: the vectors are the same",))
        if not self.wanted:
            return Gated(None, ("not run (--no-gate): behaviour was not measured",))
        if stored := [one for one in (self.asked.new, self.asked.old) if one.startswith(STORED)]:
            return Gated(None, (f"not run: {stored[0]} has no vectors of the probes, so behaviour was not measured",))
        return self._said()

    def _said(self) -> Gated:
        from encheck.deciding.shipping import Gated
        from encheck.reporting import gate as shown
        from encheck.running.labels import labels

        kept = self.scratch / "baseline" / "old"
        report = self.folder / "gate" if self.folder else self.scratch / "gate"
        (new, _), (old, _) = labels([self.asked.new, self.asked.old]).items()
        how: dict[str, Any] = {"data": ["probes", self.asked.data], "checks": self._checks, "verbose": self.verbose}
        run(**self.asked.of_one(self.asked.old, old), **how, save_baseline=kept, report_dir=self.scratch / "old")
        found = run(**self.asked.of_one(self.asked.new, new), **how, baseline=kept, report_dir=report)
        said = found.raw["gate"]
        lines = (*shown.headline(said), *(line for one in said["against"] for line in shown.explained(one)))
        return Gated(said["outcome"], tuple(dict.fromkeys(lines)), said, str(report) if self.folder else "")

    @property
    def _checks(self) -> str:
        return f"({self.checks}) or {SEARCH}" if self.checks else ""
