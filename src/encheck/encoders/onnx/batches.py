"""A bare .onnx in numpy: from token ids to the vector of a text."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from encheck.errors import EncoderError

Floats = NDArray[np.float32]
Inputs = dict[str, NDArray[np.int64]]
TokenRow = tuple[Sequence[int], Sequence[int]]


def pool(states: Floats, mask: NDArray[np.int64], *, pooling: str) -> Floats:
    """From [n, tokens, d] to [n, d]; tokens whose mask is 0 are padding, which stands at the end."""
    if pooling == "cls":
        return states[:, 0]
    if pooling == "last":
        return np.asarray(states[np.arange(len(states)), np.maximum(mask.sum(axis=1) - 1, 0)])
    if pooling == "max":
        return np.asarray(np.where(mask[..., None] > 0, states, -np.inf).max(axis=1), np.float32)
    weights = mask[..., None].astype(np.float32)
    return np.asarray((states * weights).sum(axis=1) / np.maximum(weights.sum(axis=1), 1e-9), np.float32)


def padded(rows: Sequence[TokenRow], names: Sequence[str], file: Path) -> tuple[Inputs, NDArray[np.int64]]:
    """The inputs that the model asks for, padded at the end with 0; and the mask. A row: token ids, their types."""
    ids, mask, types = np.zeros((3, len(rows), max(1, *(len(row) for row, _ in rows), 1)), np.int64)
    for i, (row, kinds) in enumerate(rows):
        ids[i, : len(row)], mask[i, : len(row)], types[i, : len(row)] = row, 1, kinds
    known = {
        "input_ids": ids,
        "attention_mask": mask,
        "token_type_ids": types,
        "position_ids": np.tile(np.arange(ids.shape[1], dtype=np.int64), (len(rows), 1)),
    }
    if other := [name for name in names if name not in known]:
        raise EncoderError(
            f"{file} needs the input {other[0]!r}, but encheck provides: {', '.join(known)}. Remedy: export it for "
            f"texts"
        )
    return {name: known[name] for name in names}, mask
