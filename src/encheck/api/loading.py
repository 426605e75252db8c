"""`load_model` and `load_data`: the objects behind `--model` and `--data`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from encheck.datasets.dataset import Dataset
    from encheck.encoders.protocol import Encoder, PairScorer

Spec = str | Path


def load_model(spec: Spec, *, device: str = "auto", **arguments: Any) -> Encoder | PairScorer:
    """Load a model under test. Its weights are read when it first computes.

    Args:
        spec: a name in models.yaml, a folder or file ("./checkpoint"), a hub id, or "module:name" of your own.
        device: auto, cpu, cuda, cuda:1, mps, cuda:all, or several by comma.
        arguments: fields of models.yaml or options of the adapter, as `--model-arg` takes them (dtype, pooling, ...).

    Returns:
        An `Encoder`, whose `encode(texts)` gives vectors of shape [n, d], or a `PairScorer`, whose
        `score_pairs(first, second)` gives scores of shape [n]. Both have `fingerprint()`.

    Raises:
        ModelError: the model does not exist, is not a model, or may not be loaded.
        ConfigError: an argument, or an entry of models.yaml, is wrong.
    """
    from encheck.encoders.load import config_for, detect_fetched, load
    from encheck.encoders.model_config import Device
    from encheck.encoders.models_file import known_models, with_args
    from encheck.encoders.protocol import Encoder, PairScorer
    from encheck.options import Settings, project_table

    known = known_models(Settings(project=project_table(Path("pyproject.toml"))).models_file)
    name = as_option(spec)
    config = config_for(name, known, adapter=arguments.get("adapter"))
    if name not in known and "adapter" not in arguments:
        config = detect_fetched(config)
    texts = {key: value if isinstance(value, str) else json.dumps(value) for key, value in arguments.items()}
    model = load(with_args(config, texts), device=Device(device))
    assert isinstance(model, Encoder | PairScorer)
    return model


def load_data(spec: str, *, sample: int | None = None, seed: int = 0, skip_bad_rows: bool = False) -> Dataset:
    """Load a data set.

    Args:
        spec: "NAME" or "NAME:PATH", as `--data` takes it; `encheck data` lists the names.
        sample: take at most this many clusters of labelled pairs; None takes all. Probes are always taken whole.
        seed: seed of the sample.
        skip_bad_rows: skip malformed rows instead of raising DataError; `Dataset.skipped` names them.

    Returns:
        Its labelled pairs, its groups (a sentence and its paraphrase) and the clusters they belong to.

    Raises:
        DataError: there is no such data set or file, or a row is malformed; the message names file and line.
    """
    from encheck.datasets.load import load

    return load(spec, sample=sample, seed=seed, skip_bad_rows=skip_bad_rows)


def as_option(spec: Spec) -> str:
    """As `--model` takes it: a Path is written out in full, so that it is not taken for a name."""
    return str(spec.expanduser().absolute()) if isinstance(spec, Path) else spec
