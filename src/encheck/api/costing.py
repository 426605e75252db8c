"""`compare_costs`: which of several models is worth its cost?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from encheck.api.loading import Spec, as_option
from encheck.engine.run import run
from encheck.errors import EncoderError, UsageError
from encheck.options.keywords import from_keywords
from encheck.system.files import Scratch

if TYPE_CHECKING:
    from encheck.comparing.costs import Cost, Costs
    from encheck.datasets.dataset import Dataset
    from encheck.options import Settings
    from encheck.store import Store

SEARCH = "retrieval"
MOST = 10


def compare_costs(
    models: Sequence[Spec],
    *,
    data: str | None = None,
    checks: str = "",
    behaviour: str = "probes",
    **options: Any,
) -> Costs:
    """Compare models by search quality, behaviour, speed, size and price, and find the Pareto front.

    Args:
        models: two to ten models, as in `run`, or `vectors:FILE`, which needs `data`.
        data: labelled queries to measure quality on, "retrieval:PATH". Default: quality is not measured.
        checks: which behaviour checks to run. Default: all.
        behaviour: the data to measure behaviour on.
        options: other options of `encheck run`, with underscores (store, device, dtype, seed, model_arg, ...).

    Returns:
        A row for each model, the Pareto front, and the pairs that are not separable (docs/report.md#which-to-take).

    Raises:
        UsageError: too few or too many models, or data without labels.
        EncoderError: a model failed.
    """
    from encheck.comparing.costs import costs
    from encheck.comparing.models import read_models

    specs = [as_option(one) for one in models]
    if not 2 <= len(specs) <= MOST or len({*specs}) < len(specs):
        raise UsageError(f"--cost compares 2 to {MOST} different models, but these are: {', '.join(specs) or 'none'}")
    settings = from_keywords(specs, [data or behaviour], options)
    found, paid = _costs(settings, is_labelled=bool(data))
    with Scratch() as scratch:
        selected = f"({checks}) or {SEARCH}" if checks and data else checks
        sets = [behaviour, *([data] if data else [])]
        ran = run(specs, data=sets, checks=selected, report_dir=scratch, **options)
        if failed := [one for one in ran.raw.models if one.error]:
            raise EncoderError(f"{failed[0].label}: {failed[0].error}")
        sides = read_models([Path(scratch)])
    seed = settings.seed
    if not data:
        return costs(sides, paid, data=None, seed=seed)
    assert found.collection is not None
    return costs(sides, paid, data=found.name, documents=len(found.collection.documents), seed=seed)


def _costs(settings: Settings, *, is_labelled: bool) -> tuple[Dataset, Mapping[str, Cost]]:
    """The data, and what each model costs."""
    from encheck.running.resources import open_store, resolve_data, resolve_models

    (data,) = resolve_data(settings).values()
    if is_labelled and (data.collection is None or data.collection.passages):
        raise UsageError(f"--data={settings.data[0]}: --cost measures quality on a search with labels: retrieval:PATH")
    store = open_store(settings)
    return data, {label: _cost(one, data, store) for label, one in resolve_models(settings, store).items()}


def _cost(subject: Any, data: Dataset, store: Store) -> Cost:
    from encheck.comparing.costs import Cost
    from encheck.encoders.protocol import PartialEncoder
    from encheck.running.service import EncoderService
    from encheck.running.speed import measured

    if subject.kind != "vector":
        raise UsageError(f"{subject.label} scores pairs and has no index: --cost compares encoders")
    found, is_stored = data.collection, isinstance(subject.model, PartialEncoder)
    if is_stored and not found:
        raise UsageError(f"{subject.label} is a file of vectors: --cost compares it on a search, --data=retrieval:PATH")
    documents = list(found.documents.values()) if found else [pair.first for pair in data.pairs]
    queries = [q.text for q in found.queries] if found else documents
    EncoderService(subject, store).in_roles({"query": queries[:1]})
    speed = measured(subject, documents, queries)
    return Cost(subject.dimension, speed, subject.config.price, is_stored)
