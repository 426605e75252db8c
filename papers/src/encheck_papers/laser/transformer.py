"""LASER3's transformer, from fairseq's state dict: sinusoidal positions, scaled embeddings, maximum over tokens."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from encheck.errors import EncoderError

if TYPE_CHECKING:
    from torch import Tensor

PAD, BOS = 1, 0
PUBLISHED = "Remedy: laser2.pt or laser3-*.pt as published, and the .spm and .cvocab that come with it"
Weights = Mapping[str, "Tensor"]


def laser3(state: Mapping[str, Any], source: Path, device: str) -> Callable[[list[list[int]]], NDArray[np.float32]]:
    """The function from rows of token ids to vectors, shape [n, d]; EncoderError if a weight is missing."""
    how = _settings(state, source)
    weights = {
        name.removeprefix("encoder."): value.float().to(device)
        for name, value in state["model"].items()
        if hasattr(value, "float") and not name.startswith("decoder.")
    }

    def run(rows: list[list[int]]) -> NDArray[np.float32]:
        import torch

        width = max(len(row) for row in rows) + how["bos"]
        tokens = torch.full((len(rows), width), PAD, device=device)
        for i, row in enumerate(rows):
            filled = [BOS] * how["bos"] + row
            tokens[i, : len(filled)] = torch.tensor(filled, device=device)
        with torch.inference_mode():
            vectors: NDArray[np.float32] = _encode(tokens, weights, how).cpu().numpy()
        return vectors

    try:
        run([[2]])
    except KeyError as error:
        raise EncoderError(f"{source} lacks the weight {error}: it is not a LASER3 encoder. {PUBLISHED}") from error
    return run


def _settings(state: Mapping[str, Any], source: Path) -> dict[str, Any]:
    """The settings of fairseq that change vectors."""
    found = state.get("cfg") or {}
    found = found.get("model") if isinstance(found, dict) else found
    if found is None:
        raise EncoderError(
            f"{source} has neither params (LASER2) nor cfg.model (LASER3): it is not a LASER encoder. {PUBLISHED}"
        )
    told: dict[str, Any] = found if isinstance(found, dict) else vars(found)
    return {
        "heads": int(told.get("encoder_attention_heads", 16)),
        "first": bool(told.get("encoder_normalize_before", False)),
        "scale": not told.get("no_scale_embedding", False),
        "gelu": told.get("activation_fn", "relu") == "gelu",
        "cls": told.get("sentemb_criterion", "maxpool") == "cls",
        "bos": int(bool(told.get("prepend_bos", False))),
    }


def _encode(tokens: Tensor, weights: Weights, how: Mapping[str, Any]) -> Tensor:
    padding = tokens.eq(PAD)
    table = weights["embed_tokens.weight"]
    x = table[tokens] * (math.sqrt(table.shape[1]) if how["scale"] else 1.0)
    x = x + _positions(tokens, weights, table.shape[1])
    if "layernorm_embedding.weight" in weights:
        x = _norm(x, weights, "layernorm_embedding.")
    x = x.masked_fill(padding.unsqueeze(-1), 0)
    for layer in range(sum(name.endswith(".fc1.weight") for name in weights)):
        x = _layer(x, padding, weights, f"layers.{layer}.", how)
    if "layer_norm.weight" in weights:
        x = _norm(x, weights, "layer_norm.")
    if how["cls"]:
        return x[:, 0]
    return x.masked_fill(padding.unsqueeze(-1), float("-inf")).max(dim=1).values


def _positions(tokens: Tensor, weights: Weights, dimension: int) -> Tensor:
    """Learned positions if the weights have them, else sines then cosines; both are counted from PAD + 1."""
    import torch

    real = tokens.ne(PAD)
    at = torch.cumsum(real, dim=1) * real + PAD
    if "embed_positions.weight" in weights:
        return weights["embed_positions.weight"][at]
    half = dimension // 2
    steps = torch.exp(torch.arange(half, device=tokens.device) * -(math.log(10_000) / (half - 1)))
    angles = at.unsqueeze(-1) * steps
    return torch.cat([angles.sin(), angles.cos()], dim=-1) * real.unsqueeze(-1)


def _layer(x: Tensor, padding: Tensor, weights: Weights, name: str, how: Mapping[str, Any]) -> Tensor:
    from torch.nn import functional

    first, activation = how["first"], functional.gelu if how["gelu"] else functional.relu
    inner = _norm(x, weights, f"{name}self_attn_layer_norm.") if first else x
    x = x + _attention(inner, padding, weights, f"{name}self_attn.", how["heads"])
    x = x if first else _norm(x, weights, f"{name}self_attn_layer_norm.")
    inner = _norm(x, weights, f"{name}final_layer_norm.") if first else x
    x = x + _linear(activation(_linear(inner, weights, f"{name}fc1.")), weights, f"{name}fc2.")
    return x if first else _norm(x, weights, f"{name}final_layer_norm.")


def _attention(x: Tensor, padding: Tensor, weights: Weights, name: str, heads: int) -> Tensor:
    from torch.nn.functional import scaled_dot_product_attention

    def split(part: str) -> Tensor:
        projected = _linear(x, weights, f"{name}{part}_proj.")
        return projected.view(*x.shape[:2], heads, -1).transpose(1, 2)

    mask = padding.logical_not()[:, None, None, :]
    seen = scaled_dot_product_attention(split("q"), split("k"), split("v"), attn_mask=mask)
    return _linear(seen.transpose(1, 2).flatten(2), weights, f"{name}out_proj.")


def _linear(x: Tensor, weights: Weights, name: str) -> Tensor:
    from torch.nn.functional import linear

    return linear(x, weights[f"{name}weight"], weights[f"{name}bias"])


def _norm(x: Tensor, weights: Weights, name: str) -> Tensor:
    from torch.nn.functional import layer_norm

    return layer_norm(x, x.shape[-1:], weights[f"{name}weight"], weights[f"{name}bias"])
