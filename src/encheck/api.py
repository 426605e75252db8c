"""Public functions of `encheck` for models, data, costs and text shift; the engine has `run` and `gate`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from encheck.errors import EncoderError, UsageError
from encheck.options.settings import settings_from_keywords
from encheck.system.files import Scratch, expand_home

if TYPE_CHECKING:
    from encheck.comparing.costs import CostComparison
    from encheck.comparing.text_shift import TextShift
    from encheck.datasets.dataset import Dataset
    from encheck.encoders.protocol import Encoder, PairScorer
    from encheck.engine.checks import Selection

Spec = str | Path


def load_model(spec: Spec, *, device: str = "auto", **arguments: Any) -> Encoder | PairScorer:
    """Return the model under test. Its weights are loaded when it first encodes or scores.

    Args:
        spec: a name in models.yaml, a folder or file ("./checkpoint"), a hub id, or "module:name" of your own code.
        device: auto, cpu, cuda, cuda:1, mps, cuda:all, or several by comma.
        arguments: fields of models.yaml or options of the adapter, as in `--model-arg` (dtype, pooling, ...).

    Returns:
        An `Encoder`, whose `encode(texts)` gives vectors of shape [n, d], or a `PairScorer`, whose
        `score_pairs(first, second)` gives scores of shape [n]. Both have `fingerprint()`.

    Raises:
        ModelError: the model does not exist, is not a model, or may not be loaded.
        ConfigError: an argument, or an entry of models.yaml, is wrong.

    >>> load_model("bag-of-words").encode(["The bridge was closed.", "The bridge was open."]).shape
    (2, 256)
    """
    from encheck.encoders.load import detect_hub_adapter, find_or_make_model_config, load_model
    from encheck.encoders.model_config import Device
    from encheck.encoders.models_file import apply_model_args, known_models
    from encheck.encoders.protocol import Encoder, PairScorer
    from encheck.options import Settings, project_table

    known = known_models(Settings(project=project_table(Path("pyproject.toml"))).models_file)
    name = as_option(spec)
    config = find_or_make_model_config(name, known, adapter=arguments.get("adapter"))
    if name not in known and "adapter" not in arguments:
        config = detect_hub_adapter(config)
    texts = {key: value if isinstance(value, str) else json.dumps(value) for key, value in arguments.items()}
    model = load_model(apply_model_args(config, texts), device=Device(device))
    assert isinstance(model, Encoder | PairScorer)
    return model


def load_data(spec: str, *, sample: int | None = None, seed: int = 0, skip_bad_rows: bool = False) -> Dataset:
    """Return the data set that `spec` names.

    Args:
        spec: "NAME" or "NAME:PATH", as in `--data`; `encheck data` lists the names.
        sample: take at most this many clusters of labelled pairs; None takes all. Probes are always taken whole.
        seed: seed of the sample.
        skip_bad_rows: skip malformed rows instead of raising DataError; `Dataset.skipped` names them.

    Returns:
        Its labelled pairs, its groups (a sentence and its paraphrase) and the clusters they belong to.

    Raises:
        DataError: there is no such data set or file, or a row is malformed; the message names file and line.

    >>> probes = load_data("probes")
    >>> probes.groups[0].source, len(probes.pairs)
    ('The query returned 10,000 rows.', 2010)
    """
    from encheck.datasets.load import load

    return load(spec, sample=sample, seed=seed, skip_bad_rows=skip_bad_rows)


def as_option(spec: Spec) -> str:
    """Return the model as text for `--model`. A Path becomes absolute, so that it is not taken for a name."""
    return str(expand_home(spec).absolute()) if isinstance(spec, Path) else spec


SEARCH = "retrieval"
MOST = 10


def compare_costs(
    models: Sequence[Spec],
    *,
    data: str | None = None,
    checks: Selection = None,
    behaviour: str = "probes",
    **options: Any,
) -> CostComparison:
    """Compare models by search quality, behaviour, speed, size and price, and find the Pareto front.

    Args:
        models: two to ten models, as in `run`, or `vectors:FILE`, which needs `data`.
        data: labelled queries to measure quality on, "retrieval:PATH". Default: quality is not measured.
        checks: which behaviour checks to run, as in `run`. Default: all.
        behaviour: the data to measure behaviour on.
        options: other options of `encheck run`, with underscores (store, device, dtype, seed, model_arg, ...).

    Returns:
        A row for each model, the Pareto front, and the pairs that are not separable (docs/tasks/choose.md).

    Raises:
        UsageError: too few or too many models, or data without labels.
        EncoderError: a model failed.

    >>> found = compare_costs(["bag-of-words", "random"], checks="number", no_store=True)
    >>> [row.name for row in found.rows], found.figure
    (['bag-of-words', 'random'], '')
    """
    from encheck.comparing.costs import Cost, cost_comparison
    from encheck.comparing.models import read_models
    from encheck.encoders.protocol import PartialEncoder
    from encheck.engine.run import run
    from encheck.running.model_under_test import measure_speed
    from encheck.running.resources import open_store, resolve_data, resolve_models
    from encheck.running.service import EncoderService

    specs = [as_option(one) for one in models]
    if not 2 <= len(specs) <= MOST or len({*specs}) < len(specs):
        raise UsageError(f"--cost compares 2 to {MOST} different models, but these are: {', '.join(specs) or 'none'}")
    settings = settings_from_keywords(specs, [data or behaviour], options)
    (measured_data,) = resolve_data(settings).values()
    collection = measured_data.collection
    if data and (collection is None or collection.passages):
        raise UsageError(f"--data={settings.data[0]}: --cost measures quality on a search with labels: retrieval:PATH")
    documents = list(collection.documents.values()) if collection else [pair.first for pair in measured_data.pairs]
    queries = [query.text for query in collection.queries] if collection else documents
    store, paid = open_store(settings), dict[str, Cost]()
    for label, subject in resolve_models(settings, store).items():
        is_stored = isinstance(subject.model, PartialEncoder)
        if subject.kind != "vector":
            raise UsageError(
                f"{label} scores pairs and has no index, which --cost needs: leave it out, or compare runs: "
                f"encheck run --model={label}, then encheck compare reports/A reports/B"
            )
        if is_stored and not collection:
            raise UsageError(f"{label} is a file of vectors: --cost compares it on a search, --data=retrieval:PATH")
        EncoderService(subject, store).encode_in_roles({"query": queries[:1]})
        speed = measure_speed(subject, documents, queries)
        assert subject.dimension is not None
        paid[label] = Cost(subject.dimension, speed, subject.config.price, is_stored)
    with Scratch() as scratch:
        selected = [*([checks] if isinstance(checks, str) else checks), SEARCH] if checks and data else checks
        sets = [behaviour, *([data] if data else [])]
        folder = settings.report_dir or Path(scratch)
        ran = run(specs, data=sets, checks=selected, **{**options, "report_dir": folder})
        if failed := [one for one in ran.raw.models if one.error]:
            raise EncoderError(f"{failed[0].label}: {failed[0].error}")
        sides = read_models([folder])
    if not data:
        return cost_comparison(sides, paid, data=None, seed=settings.seed)
    return cost_comparison(sides, paid, data=measured_data.name, documents=len(documents), seed=settings.seed)


def text_shift(data: str, *, against: str, texts: int = 2_000, seed: int = 0, skip_bad_rows: bool = False) -> TextShift:
    """Compare the text of two data sets of equal size, for example a synthetic training set with real text.

    Args:
        data: a data set, as in `encheck run --data`.
        against: the data set to compare it with.
        texts: measure at most this many texts and pairs of each data set.
        seed: seed of the sample.
        skip_bad_rows: skip malformed rows.

    Returns:
        Each measure for both sets, with the difference and its 95% interval: tokens per text, Distinct-1 to 3, the Zipf
        coefficient and Self-BLEU. If both sets have pairs, also BLEU-1 to 4 and Jaccard within pairs.

    Raises:
        DataError: a data set does not exist, is malformed, or has too few texts.

    >>> shift = text_shift("probes", against="probes:fresh=1", texts=300)
    >>> [row.name for row in shift.measures if row.differs]
    ['Distinct-1', 'Distinct-2', 'Distinct-3', 'Distinct-N, mean', 'Zipf', 'Self-BLEU-4']
    """
    from encheck.comparing.text_shift import compare_texts
    from encheck.datasets.load import load

    first, second = (load(spec, sample=None, skip_bad_rows=skip_bad_rows) for spec in (data, against))
    return compare_texts(first, second, texts=texts, seed=seed)
