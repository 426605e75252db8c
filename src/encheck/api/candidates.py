"""`gate`: may this model replace that one?"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from encheck.api.loading import Spec, as_option
from encheck.engine.results import Results, read
from encheck.engine.run import run
from encheck.errors import UsageError
from encheck.options.keywords import Given

if TYPE_CHECKING:
    from encheck.gating.baseline import Baseline
    from encheck.gating.types import Decision

OF_A_RUN = ("baseline", "save_baseline", "anchor", "twin", "primary", "inconclusive")
Found = tuple[Results, str]  # with the label of the model that is meant


def gate(
    candidate: Spec,
    baseline: Spec,
    *,
    data: str | Sequence[str] = "probes",
    checks: str = "",
    primary: str | None = None,
    **options: Given,
) -> Decision:
    """Decide whether a candidate may replace a baseline (docs/gate.md has the rule).

    Args:
        candidate: a model, as in `run`, or the folder of a run.
        baseline: a model, the folder of a run, or a folder that `--save-baseline` wrote.
        data: the data to run models on.
        checks: which checks to run on models. A gate of a part of them is partial: it can block, and never passes.
        primary: the rank metric that decides for a search with labels: recall@1, ndcg@10, recall@10, recall@100, mrr@10
            or map (default: recall@1 if each query has one right document, else ndcg@10).
        options: as in `run`, including `report_dir`, but without those of a gate (baseline, twin, ...).

    Returns:
        The outcome (pass, block or inconclusive), its reasons, a row for each property x data x level, and in
        `partial` what was left out, or None.

    Raises:
        BaselineError: the two cannot be compared: they have different items, or are different kinds of models.
        UsageError: as in `run`; or a folder has several models, or the candidate's folder is a baseline.
    """
    from encheck.gating.weighing import weigh

    if refused := [name for name in OF_A_RUN if name in options]:
        raise UsageError(f"{refused[0]} is an option of run(); gate() takes a candidate and a baseline")
    models = list(dict.fromkeys(as_option(one) for one in (candidate, baseline) if not _folder(one)))
    how: dict[str, Any] = {**options}
    ran = run(models, data=data, checks=checks, **how) if models else None
    results, label = _found(candidate, models, ran)
    with tempfile.TemporaryDirectory(prefix="encheck-", ignore_cleanup_errors=True) as scratch:
        kept = _baseline(baseline, models, ran, Path(scratch))
        return weigh(kept, results.raw, results.items, model=label, primary=primary).decision


def _folder(spec: Spec) -> Path | None:
    """The folder of a run or of a baseline; None for a model, and for a text without a slash, which is a name."""
    from encheck.gating.baseline import SUMMARY
    from encheck.reporting.results import RESULTS

    path = Path(spec).expanduser()
    is_path = isinstance(spec, Path) or re.search(r"[/\\]", spec)
    return path if is_path and any((path / name).is_file() for name in (SUMMARY, RESULTS)) else None


def _found(spec: Spec, models: Sequence[str], ran: Results | None) -> Found:
    """The run of this model, or the one that lies in this folder."""
    from encheck.running.labels import labels

    if ran and not _folder(spec):
        return ran, next(label for label, model in labels(models).items() if model == as_option(spec))
    folder = Path(spec).expanduser()
    results = read(folder)
    found = [model["label"] for model in results.raw["models"]]
    if len(found) != 1:
        raise UsageError(f"{folder} holds a run of {len(found)} models ({', '.join(found)}), but should hold one")
    return results, found[0]


def _baseline(spec: Spec, models: Sequence[str], ran: Results | None, scratch: Path) -> Baseline:
    """The baseline in this folder, or one that is made of a run for the moment."""
    from encheck.gating.baseline import SUMMARY, read, save
    from encheck.gating.weighing import side_of

    folder = _folder(spec)
    if folder and (folder / SUMMARY).is_file():
        return read(folder)
    results, label = _found(spec, models, ran)
    save(scratch / label, results.raw, side_of(results.raw, results.items, label).tables, model=label)
    return read(scratch / label)
