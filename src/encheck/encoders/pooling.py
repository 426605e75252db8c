"""Pools the vectors of tokens into the vector of a text. Tensors are [n, tokens, d], masks [n, tokens]; all in fp32."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from encheck.encoders.checkpoints.folders import list_modules
from encheck.encoders.files import read_json

if TYPE_CHECKING:
    from torch import Tensor

OLDER_POOLING_KEYS = {
    "pooling_mode_cls_token": "cls", "pooling_mode_max_tokens": "max", "pooling_mode_mean_tokens": "mean",
    "pooling_mode_mean_sqrt_len_tokens": "mean_sqrt_len_tokens", "pooling_mode_weightedmean_tokens": "weightedmean",
    "pooling_mode_lasttoken": "lasttoken",
}  # fmt: skip


def mean_over_tokens(states: Tensor, mask: Tensor) -> Tensor:
    """The mean over tokens other than padding; shape [n, d]."""
    weights = mask.unsqueeze(-1).to(states.dtype)
    return (states * weights).sum(dim=1) / weights.sum(dim=1).clamp(min=1e-9)


def pooling_config_path(folder: Path) -> Path:
    """The file in which a sentence-transformers folder defines its pooling, if it has one."""
    modules = [m for m in list_modules(folder) if isinstance(m, dict)]
    paths = [str(m.get("path")) for m in modules if str(m.get("type")).endswith("Pooling")]
    return folder / (paths[0] if paths else "1_Pooling") / "config.json"


def read_stored_pooling(folder: Path) -> str | None:
    """The pooling of a sentence-transformers folder, in the words of models.yaml; None if not stated."""
    stored = read_json(pooling_config_path(folder), dict)
    stated = stored.get("pooling_mode") or [name for key, name in OLDER_POOLING_KEYS.items() if stored.get(key)]
    named = "+".join(map(str, stated)) if isinstance(stated, list) else str(stated)
    return {"lasttoken": "last"}.get(named, named) or None


def describe_pooling(label: str, folder: Path) -> str:
    """A note that a transformer alone is pooled as the sentence-transformers checkpoint says, and which modules are
    left out.

    Vectors are compared by cosine unless the model says otherwise, so leaving `Normalize` out has no effect.
    """
    file = pooling_config_path(folder)
    kinds = [(str(m.get("path")), str(m.get("type")).rpartition(".")[2]) for m in list_modules(folder)]
    others = [path for path, kind in kinds if kind not in ("Transformer", "Pooling", "Normalize", "Dropout")]
    without = f"; left out: {', '.join(others)}" if others else ""
    return f"{label}: pooled by {read_stored_pooling(folder)}, as {file} says{without}"


def pool_hidden_states(hidden: Sequence[Tensor], mask: Tensor, *, pooling: str, layers: Sequence[int] = ()) -> Tensor:
    """Pool the hidden states of all layers, the embeddings first; shape [n, d].

    `first-last-avg` is the mean over tokens of the first and the last layer's states (SimCSE's `avg_first_last`),
    `layers` the mean of the named layers, where 0 is the embeddings and -1 the last layer. Padding, on either side,
    does not count: `cls` takes the first other token, `last` the last, `max` the largest value of each dimension.
    """
    import torch

    if pooling == "first-last-avg":
        return pool_hidden_states(hidden, mask, pooling="layers", layers=(1, -1))
    if pooling == "layers":
        chosen = sum(hidden[layer].float() for layer in layers) / len(layers)
        return mean_over_tokens(chosen, mask)  # type: ignore[arg-type]
    states = hidden[-1].float()
    if pooling == "mean":
        return mean_over_tokens(states, mask)
    if pooling == "max":
        return states.masked_fill(mask.unsqueeze(-1) == 0, float("-inf")).max(dim=1).values
    places = mask.long() if pooling == "cls" else mask.long() * torch.arange(1, mask.shape[1] + 1, device=mask.device)
    return states[torch.arange(len(states), device=states.device), places.argmax(dim=1)]
