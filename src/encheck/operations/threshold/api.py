"""`threshold`: at which threshold may a model be used?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from encheck.api import Spec, as_option
from encheck.errors import UsageError, unknown_name_message
from encheck.system.files import expand_home

if TYPE_CHECKING:
    from encheck.operations.threshold.decision import ThresholdReport
    from encheck.operations.threshold.rates import RateName
    from encheck.options import Settings
    from encheck.system.terminal import Progress

RATES_TO_MATCH: Mapping[str, RateName] = {"hits": "hits", "recall": "recall", "false-accepts": "false_accepts"}
USAGE = "--baseline OLD@THRESHOLD, for instance vectors:old.parquet@0.82"


def threshold(
    model: Spec,
    data: str,
    *,
    max_false_accepts: float | None = None,
    baseline: str | tuple[Spec, float] | None = None,
    same: str = "hits",
    own: float | None = None,
    positives: float | None = None,
    verify: Spec | None = None,
    sample: int | None = None,
    seed: int = 0,
    skip_bad_rows: bool = False,
    model_arg: str | Sequence[str] = (),
    store: Spec | None = None,
    device: str = "auto",
    dtype: str | None = None,
    report_dir: Spec | None = None,
    progress: Progress | None = None,
) -> ThresholdReport:
    """Find the lowest threshold that keeps false accepts within a budget, and its cost (docs/method/threshold.md).

    Args:
        model: a model, as in `load_model`, or "vectors:FILE".
        data: labelled pairs, as in `--data`. In "pairs:FILE", labels may be missing, and other columns become slices.
        max_false_accepts: the budget as a share: 0.01 is 1%. None means 1%, but no budget with a baseline alone.
        baseline: the model in use and its threshold: "OLD@0.82", or the two.
        same: the rate that the new threshold should share with the old one: hits, recall or false-accepts.
        own: a threshold of your own to show as well.
        positives: the share of pairs that are positive in production; needed for precision.
        verify: a second model that scores the accepted pairs, or a function "module:function" (texts_a, texts_b) ->
            scores.
        sample: at most this many clusters; None takes all.
        seed: seed of the bootstrap and the sample.
        skip_bad_rows: leave out malformed rows, and pairs without vectors, instead of stopping.
        model_arg: as in `--model-arg`.
        store: file of the embedding store. Default: the user's store.
        device: auto, cpu, cuda, ...
        dtype: precision of the weights.
        report_dir: a folder for threshold.html and threshold.json. Default: nothing is written.
        progress: where to show progress. Default: nowhere.

    Returns:
        The promise (whether a threshold keeps the budget), the matched thresholds, the sweep, and what gets through.
        `exit_code` is that of the command.

    Raises:
        UsageError: an option is invalid. Subclasses: DataError for data, ModelError for a model or file of vectors.
        EncoderError: a model failed, or a file of vectors lacks a text.

    >>> found = threshold("jaccard", "probes", max_false_accepts=0.01)
    >>> found.outcome, found.exit_code
    ('broken', 1)
    """
    from encheck.operations.threshold.decision import BUDGET, ThresholdRequest, choose_threshold
    from encheck.operations.threshold.report import refuse_report_folder, write_threshold_page
    from encheck.options import parse_threshold
    from encheck.system.terminal import Progress

    if same not in RATES_TO_MATCH:
        raise UsageError(unknown_name_message("way to match", same, RATES_TO_MATCH))
    old, old_threshold = _parse_baseline(baseline)
    settings = _settings(
        [as_option(one) for one in (model, old or None, verify) if one is not None], data, seed=seed, sample=sample,
        skip_bad_rows=skip_bad_rows, model_arg=model_arg, store=store, device=device, dtype=dtype,
    )  # fmt: skip
    budget = max_false_accepts if max_false_accepts is not None or (old and verify is None) else BUDGET
    asked = ThresholdRequest(
        settings.models, settings.data, settings.model_args, sample, seed, skip_bad_rows, budget, old_threshold,
        RATES_TO_MATCH[same], parse_threshold(own), positives, verify is not None,
    )  # fmt: skip
    folder = expand_home(report_dir) if report_dir else None
    if folder:
        refuse_report_folder(folder)
    found = choose_threshold(asked, settings, progress=progress or Progress(quiet=True))
    if folder:
        write_threshold_page(found, folder)
    return found


def _settings(
    models: Sequence[str], data: str, *, model_arg: str | Sequence[str], store: Spec | None, **others: Any
) -> Settings:
    from encheck.options import Settings, project_table

    return Settings(
        models=tuple(models), data=(data,), model_args=(model_arg,) if isinstance(model_arg, str) else tuple(model_arg),
        store=expand_home(store) if store else None, project=project_table(Path("pyproject.toml")), **others,
    )  # fmt: skip


def _parse_baseline(given: str | tuple[Spec, float] | None) -> tuple[str, float | None]:
    """Return the old model and its threshold.

    Raise UsageError if one of them is missing, or if a folder of a baseline or run is given.
    """
    from encheck.gating.baseline import SUMMARY
    from encheck.reporting.results import RESULTS

    if given is None:
        return "", None
    if not isinstance(given, str):
        return as_option(given[0]), float(given[1])
    old, _, number = given.rpartition("@")
    try:
        found = float(number)
    except ValueError:
        found = float("nan")
    if not old or found != found:
        raise UsageError(f"--baseline={given} should end in the old model's threshold: {USAGE}")
    if any((expand_home(old) / name).is_file() for name in (SUMMARY, RESULTS)):  # it only has scores of its own items
        raise UsageError(f"--baseline={old} holds scores of other items. Name the model, or its vectors: {USAGE}")
    return old, found
