"""`gate`: may this model replace that one?"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from encheck.engine.results import Results, read
from encheck.engine.run import evaluate, named_models
from encheck.errors import UsageError
from encheck.options.keywords import Given

if TYPE_CHECKING:
    from encheck.gating.types import Decision

OF_A_RUN = ("baseline", "save_baseline", "anchor", "twin", "primary", "inconclusive")


def gate(
    new: object,
    old: object,
    *,
    data: str | Sequence[str] = "probes",
    checks: str | Iterable[str] | None = None,
    primary: str | None = None,
    **options: Given,
) -> Decision:
    """Decide whether one model may replace another (docs/gate.md has the rule).

    Models are evaluated together, on the same items, in memory.

    Args:
        new: a model, as in `run`, or the folder of a run.
        old: a model, the folder of a run, or a folder that `--save-baseline` wrote.
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
        UsageError: as in `run`; or a folder has several models, or the folder of `new` is a baseline.
    """
    from encheck.gating.baseline import SUMMARY, Baseline
    from encheck.gating.baseline import read as read_baseline
    from encheck.gating.weighing import side_of, weigh
    from encheck.running.labels import labels

    if refused := [name for name in OF_A_RUN if name in options]:
        raise UsageError(f"{refused[0]} is an option of run(); gate() takes a new and an old model")
    specs, loaded = named_models([one for one in (new, old) if _folder(one) is None])
    report_dir = options.pop("report_dir", None)
    assert report_dir is None or isinstance(report_dir, str | Path)
    how: dict[str, Any] = {"data": data, "checks": checks, "report_dir": report_dir, "options": options}
    ran = evaluate(specs, loaded, **how) if specs else None
    named = list(labels(specs))

    results, label = _of_folder(new) or (ran, named[0])
    assert results is not None
    folder = _folder(old)
    if folder and (folder / SUMMARY).is_file():
        baseline = read_baseline(folder)
    else:
        old_results, old_label = _of_folder(old) or (ran, named[-1])
        assert old_results is not None
        tables = side_of(old_results.raw, old_results.items, old_label).tables
        baseline = Baseline.of(old_results.raw, tables, model=old_label)
    return weigh(baseline, results.raw, results.items, model=label, primary=primary).decision


def _folder(given: object) -> Path | None:
    """The folder of a run or of a baseline; None for a model, and for a text without a slash, which is a name."""
    from encheck.gating.baseline import SUMMARY
    from encheck.reporting.results import RESULTS

    if not isinstance(given, str | Path):
        return None
    path = Path(given).expanduser()
    is_path = isinstance(given, Path) or re.search(r"[/\\]", given)
    return path if is_path and any((path / name).is_file() for name in (SUMMARY, RESULTS)) else None


def _of_folder(given: object) -> tuple[Results, str] | None:
    """The run in this folder and its one model; None for a model. UsageError where it has several."""
    folder = _folder(given)
    if folder is None:
        return None
    results = read(folder)
    names = [model["label"] for model in results.raw["models"]]
    if len(names) != 1:
        raise UsageError(f"{folder} holds a run of {len(names)} models ({', '.join(names)}), but should hold one")
    return results, names[0]
