"""LSTMs from published state dicts, and the maximum over time, shared by InferSent and LASER2."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from encheck.encoders.files import COPY, CUT_OFF
from encheck.errors import EncoderError

if TYPE_CHECKING:
    from torch import Tensor


def read_state(path: Path) -> Any:
    """The content of a torch.save file, only tensors and plain values; EncoderError for anything else."""
    import argparse

    import torch

    try:
        with torch.serialization.safe_globals([argparse.Namespace]):  # holds LASER3's settings, and calls nothing
            state = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:
        raise EncoderError(f"{path} cannot be loaded as weights ({error}): {CUT_OFF}") from error
    waiting, seen = [state], set()
    for part in waiting:
        if isinstance(part, dict | list | tuple):
            inner = part.values() if isinstance(part, dict) else part
            waiting += inner if id(part) not in seen else ()
            seen.add(id(part))
        elif isinstance(part, torch.Tensor) and part.nbytes > part.untyped_storage().nbytes():
            raise EncoderError(f"{path} has a tensor of shape {tuple(part.shape)} of fewer numbers than that. {COPY}")
    return state


def lstm_of(state: Mapping[str, Tensor], prefix: str, path: Path) -> Any:
    """The LSTM, sized by the names and shapes of its weights, in evaluation mode, batch first."""
    import torch

    weights = {name.removeprefix(prefix): value for name, value in state.items() if name.startswith(prefix)}
    first = weights.get("weight_ih_l0")
    if first is None:
        held = ", ".join(sorted(state)[:4]) or "nothing"
        raise EncoderError(
            f"{path} has no {prefix}weight_ih_l0: it is another model's state dict. It holds: {held}. "
            "Remedy: the file as its authors publish it"
        )
    layers = sum(name.startswith("weight_ih_l") and not name.endswith("reverse") for name in weights)
    both = "weight_ih_l0_reverse" in weights
    lstm = torch.nn.LSTM(first.shape[1], len(first) // 4, layers, bidirectional=both, batch_first=True)
    try:
        lstm.load_state_dict(weights)
    except RuntimeError as error:
        raise EncoderError(f"{path}: the weights of {prefix} do not fit together: {error}. {COPY}") from error
    return lstm.float().eval()


def max_over_time(lstm: Any, sequences: Sequence[Tensor]) -> NDArray[np.float32]:
    """The largest output of each unit over the steps of each sequence [steps, d]; no padding; shape [n, units]."""
    import torch
    from torch.nn.utils.rnn import pack_sequence, pad_packed_sequence

    device = next(lstm.parameters()).device
    with torch.inference_mode():
        packed = pack_sequence([s.to(device) for s in sequences], enforce_sorted=False)
        out, _ = pad_packed_sequence(lstm(packed)[0], batch_first=True, padding_value=float("-inf"))
        found: NDArray[np.float32] = out.max(dim=1).values.cpu().numpy()
    return found
