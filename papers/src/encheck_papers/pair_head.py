"""A softmax head over the vectors u and v of two texts, as stored with a checkpoint.

`pair_head/` of a sentence-transformers folder has a config.json (what the head reads) and a model.safetensors (its
weights). sentence-transformers itself does not save the classifier of its SoftmaxLoss. If you saved its state dict,
`read_state_head` reads it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from encheck.encoders.checkpoints.folders import PAIR_HEAD_FOLDER
from encheck.encoders.files import COPY, check_weights_file, read_json_value, read_model_json
from encheck.errors import EncoderError, ModelError, unknown_name_message
from encheck_papers.recurrent import read_state

FOLDER = PAIR_HEAD_FOLDER
CONFIG, WEIGHTS = "config.json", "model.safetensors"
FORMAT = 1
PARTS = ("u", "v", "|u-v|", "u*v")
SBERT = ("u", "v", "|u-v|")  # what SoftmaxLoss concatenates unless it is told otherwise
DTYPES = ("float16", "float32", "float64")
MOST_CLASSES = 1_000
MOST_DIMENSIONS = 1_000_000
PAIRS_AT_ONCE = 4_096
PREFIXES = ("classifier.", "", "linear.")  # of SoftmaxLoss, of its classifier, of a Dense module
Floats = NDArray[np.floating[Any]]
Vectors = NDArray[np.float32]


@dataclass(frozen=True)
class Head:
    """The weights of a softmax classifier: `weight` has shape [classes, parts x dimension], `bias` [classes]."""

    dimension: int
    features: tuple[str, ...]
    weight: Vectors
    bias: Vectors

    @property
    def classes(self) -> int:
        """The number of classes."""
        return len(self.bias)

    @property
    def symmetric(self) -> bool:
        """Whether the order of the two texts cannot matter: the head reads neither u nor v alone."""
        return not {"u", "v"} & set(self.features)

    def logits(self, first: Vectors, second: Vectors) -> NDArray[np.float64]:
        """The logits of each pair of rows, before the softmax; shape [n, classes]. Vectors have shape [n, dimension].

        EncoderError if they have the wrong dimension.
        """
        for found in (first, second):
            if found.ndim != 2 or found.shape[1] != self.dimension:
                raise EncoderError(self.mismatch(found.shape[-1]))
        some = [self._some(first[i : i + PAIRS_AT_ONCE], second[i : i + PAIRS_AT_ONCE]) for i in _starts(len(first))]
        return np.concatenate(some) if some else np.empty((0, self.classes))

    def probabilities(self, first: Vectors, second: Vectors) -> NDArray[np.float64]:
        """The probability of each class, shape [n, classes]."""
        found = self.logits(first, second)
        powers = np.exp(found - found.max(axis=1, keepdims=True))
        return np.asarray(powers / powers.sum(axis=1, keepdims=True))

    def mismatch(self, dimension: int) -> str:
        """The message for vectors of the wrong dimension."""
        parts = ", ".join(self.features)
        return (
            f"the pair head reads ({parts}) of vectors of {self.dimension} dimensions, but the model gives "
            f"{dimension}. Remedy: the checkpoint that the head was trained with"
        )

    def _some(self, first: Vectors, second: Vectors) -> NDArray[np.float64]:
        u, v = first.astype(np.float64), second.astype(np.float64)
        weights = np.split(self.weight.astype(np.float64), len(self.features), axis=1)
        parts = (part_of(u, v, name) @ some.T for name, some in zip(self.features, weights, strict=True))
        return np.asarray(sum(parts) + self.bias, np.float64)


def _starts(count: int) -> range:
    return range(0, count, PAIRS_AT_ONCE)


def part_of(u: Any, v: Any, name: str) -> Any:
    """One part of a head's input, from arrays or tensors [n, d]: u, v, |u-v| or u*v."""
    if name == "|u-v|":
        return abs(u - v)
    return u * v if name == "u*v" else {"u": u, "v": v}[name]


def checked_features(features: Sequence[str]) -> tuple[str, ...]:
    """The parts of a head; ModelError if a part is unknown or repeated, or if there are none."""
    names = tuple(features)
    if isinstance(features, str) or not names:
        raise ModelError(f"features is {features!r}, but should be a list of parts: {', '.join(PARTS)}")
    for name in names:
        if name not in PARTS:
            raise ModelError(f"features: {unknown_name_message('part', str(name), PARTS)}")
    if len(set(names)) < len(names):
        raise ModelError(f"features is {', '.join(names)}, but should name each part once")
    return names


def has_head(folder: Path) -> bool:
    """Whether a checkpoint has a head, even an incomplete one."""
    return (folder / FOLDER).exists()


def head_files(folder: Path) -> Mapping[str, Path]:
    """The files of a checkpoint's head, by their path inside the checkpoint."""
    return {f"{FOLDER}/{name}": folder / FOLDER / name for name in (CONFIG, WEIGHTS)}


def read_head(folder: Path) -> Head:
    """The head of a checkpoint; ModelError if it is incomplete, or its weights do not match its config."""
    for path in head_files(folder).values():
        if not path.is_file():
            raise ModelError(
                f"{path} does not exist: the pair head of this checkpoint is half-written. {COPY}, or train again"
            )
    config = folder / FOLDER / CONFIG
    dimension = _count(config, "dimension", 1, MOST_DIMENSIONS)
    classes = _count(config, "classes", 2, MOST_CLASSES)
    if (found := read_json_value(config, "format", int)) != FORMAT:
        raise ModelError(f"{config}: format is {found}, but only {FORMAT} is known. Remedy: a newer encheck")
    try:
        features = checked_features(read_json_value(config, "features", list) or ())
    except ModelError as error:
        raise ModelError(f"{config}: {error}. {COPY}") from error
    path = folder / FOLDER / WEIGHTS
    return head_of(_tensors(path), path, features=features, dimension=dimension, classes=classes)


def config_text(*, dimension: int, classes: int, features: Sequence[str]) -> str:
    """The config.json of a head."""
    told = {"format": FORMAT, "dimension": dimension, "classes": classes, "features": list(features)}
    return json.dumps(told, indent=1) + "\n"


def _count(config: Path, key: str, least: int, most: int) -> int:
    found = read_json_value(config, key, int)
    if found is None or not least <= found <= most:
        raise ModelError(f"{config}: {key} is {found}, but should be a whole number from {least} to {most:,}. {COPY}")
    return int(found)


def _tensors(path: Path) -> Mapping[str, Any]:
    """The tensors of a safetensors file as arrays; ModelError if it is truncated, or has a type that numpy lacks."""
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    check_weights_file(path)
    try:
        return load_file(path)
    except (OSError, SafetensorError, KeyError, TypeError, AttributeError) as error:
        raise ModelError(f"{path} cannot be read ({error}): weights should be {', '.join(DTYPES)}. {COPY}") from error


def head_of(
    tensors: Mapping[str, Any], path: Path, *, features: Sequence[str], dimension: int, classes: int | None = None
) -> Head:
    """The head of `weight` and `bias`; ModelError if one is missing, has the wrong shape or is not finite."""
    for name in ("weight", "bias"):
        if name not in tensors:
            raise ModelError(f"{path} has no {name}: it holds {', '.join(sorted(tensors)[:4]) or 'nothing'}. {COPY}")
    weight, bias = np.asarray(tensors["weight"]), np.asarray(tensors["bias"])
    classes = len(bias) if classes is None and bias.ndim == 1 else classes
    for name, found, shape in (
        ("weight", weight, (classes, len(features) * dimension)),
        ("bias", bias, (classes,)),
    ):
        if found.shape != shape:
            raise ModelError(
                f"{path}: {name} has shape {found.shape}, but should have {shape}: a row a class, and "
                f"({', '.join(features)}) of {dimension} dimensions each. {COPY}"
            )
        if str(found.dtype) not in DTYPES or not np.isfinite(found).all():
            raise ModelError(f"{path}: {name} holds {found.dtype}, or NaN or infinity: no finite weights. {COPY}")
    return Head(dimension, tuple(features), weight.astype(np.float32), bias.astype(np.float32))


def state_file(folder: Path, named: str) -> Path:
    """The file of a separately saved classifier: a path relative to the checkpoint or the working directory; the folder
    of a Dense module means its weights. ModelError if there is no such file, or it would run code.
    """
    path = next((p for p in (folder / named, Path(named)) if p.exists()), None)
    if path is not None and path.is_dir():
        _refuse_activation(path)
        path = next((path / n for n in (WEIGHTS, "pytorch_model.bin") if (path / n).is_file()), None)
    if path is None or not path.is_file():
        raise ModelError(
            f"head is {named!r}, but neither {folder} nor this folder has it. Remedy: a file of the classifier's "
            "state dict, or the folder of a Dense module"
        )
    check_weights_file(path)
    return path


def _refuse_activation(folder: Path) -> None:
    """ModelError if a Dense module does more than a softmax head: it would give other probabilities."""
    found = read_model_json(folder / CONFIG, dict).get("activation_function")
    if not str(found).endswith(".Identity"):
        raise ModelError(
            f"{folder / CONFIG}: activation_function is {found!r}, but a softmax head has torch.nn.Identity. "
            "Remedy: a head without an activation"
        )


def read_state_head(path: Path, *, features: Sequence[str] = SBERT) -> Head:
    """A head from the state dict of SoftmaxLoss, of its classifier, or of a Dense module; no pickle is run.

    The dimension is that of the weights, split by the parts in `features`. ModelError if they do not fit.
    """
    state = _tensors(path) if path.suffix == ".safetensors" else _of_torch(path)
    features = checked_features(features)
    prefix = next((p for p in PREFIXES if f"{p}weight" in state and f"{p}bias" in state), None)
    if prefix is None:
        raise ModelError(
            f"{path} has no classifier.weight and classifier.bias: it holds {', '.join(sorted(state)[:4]) or 'nothing'}"
            ". Remedy: torch.save(loss.classifier.state_dict(), FILE) after training with SoftmaxLoss"
        )
    tensors = {name: state[f"{prefix}{name}"] for name in ("weight", "bias")}
    width = np.asarray(tensors["weight"]).shape[-1] if np.ndim(tensors["weight"]) == 2 else 0
    if not width or width % len(features):
        raise ModelError(
            f"{path}: {prefix}weight has shape {np.shape(tensors['weight'])}, which {len(features)} parts "
            f"({', '.join(features)}) do not divide. Remedy: say what it reads: --model-arg features='|u-v|,u*v'"
        )
    return head_of(tensors, path, features=features, dimension=width // len(features))


def _of_torch(path: Path) -> Mapping[str, Any]:
    """The tensors of a state dict as arrays."""
    import torch

    try:
        found = read_state(path)
    except EncoderError as error:
        raise ModelError(str(error)) from error
    if not isinstance(found, dict):
        raise ModelError(f"{path} holds a {type(found).__name__}, but should hold a state dict. {COPY}")
    return {str(k): v.detach().float().numpy() for k, v in found.items() if isinstance(v, torch.Tensor)}
