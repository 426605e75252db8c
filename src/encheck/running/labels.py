"""The names of a run's models and data in ids, tables and files."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from encheck.datasets.load import data_label
from encheck.encoders.load import STORED_PREFIX
from encheck.system.files import is_folder


def safe_label(model: str) -> str:
    """Return a label that is safe in test ids and file names.

    >>> safe_label("intfloat/e5 small")
    'intfloat-e5-small'
    """
    return re.sub(r"[^\w.=+-]+", "-", model).strip("-") or "model"


OBJECT = "object:"  # how settings name a model that is in memory: object:NAME


def model_labels(specs: Sequence[str]) -> dict[str, str]:
    """Return a dictionary from labels to specifications of the models. Equal labels get numbers.

    >>> model_labels(["sbert", "./a/ckpt", "./b/ckpt", "vectors:old.parquet"])
    {'sbert': 'sbert', 'ckpt': './a/ckpt', 'ckpt-2': './b/ckpt', 'old': 'vectors:old.parquet'}
    """
    return _number_equal_labels((_name_of_spec(spec), spec) for spec in specs)


def _name_of_spec(spec: str) -> str:
    if spec.startswith(OBJECT):
        return spec.removeprefix(OBJECT)
    if spec.startswith(STORED_PREFIX):
        return Path(spec.removeprefix(STORED_PREFIX)).stem
    path = spec.rstrip("/\\").replace("\\", "/")
    is_path = path.startswith((".", "/", "~")) or is_folder(spec)
    return Path(path).resolve().name if is_path else spec


def data_labels(specs: Sequence[str]) -> dict[str, str]:
    """Return a dictionary from labels to specifications of the data.

    A label is the name before the colon, and the seed of fresh probes.

    >>> data_labels(["mrpc:x", "pairs:a.csv", "pairs:b.csv", "probes:fresh=1"])
    {'mrpc': 'mrpc:x', 'pairs': 'pairs:a.csv', 'pairs-2': 'pairs:b.csv', 'probes-fresh=1': 'probes:fresh=1'}
    """
    return _number_equal_labels((data_label(spec), spec) for spec in specs)


def _number_equal_labels(named: Iterable[tuple[str, str]]) -> dict[str, str]:
    out: dict[str, str] = {}
    for name, spec in named:
        label, number = safe_label(name), 1
        while label in out:
            number += 1
            label = f"{safe_label(name)}-{number}"
        out[label] = spec
    return out
