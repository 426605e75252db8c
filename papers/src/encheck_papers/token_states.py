"""The vectors of a text's tokens under a transformers checkpoint, with the id and position of each token."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from encheck.encoders.batching import TOKENS_PER_BATCH, Ints, batch_equal_lengths, select_rows
from encheck.encoders.checkpoints.pretrained import count_truncated
from encheck.encoders.checkpoints.transformers import TransformersEncoder


@dataclass(frozen=True)
class States:
    """One text: token numbers [t], vectors [t, d] in fp32, characters of each token [t, 2], which are special [t]."""

    ids: NDArray[np.intp]
    vectors: NDArray[np.float32]
    spans: NDArray[np.intp]
    special: NDArray[np.bool_]


class TokenEncoder(TransformersEncoder):
    """The checkpoint's hidden states of one layer (-1: the last), scaled to length 1 where `unit`."""

    engine = "token-states-1"

    def find_stored_pooling(self) -> None:
        """There is no pooling."""

    def states(self, texts: Sequence[str], *, layer: int = -1, unit: bool = True) -> list[States]:
        """The states of each text, in batches of one length; EncoderError if the checkpoint cannot be loaded."""
        model, limit = self.models[0], self.limit
        encoded = self.tokenizer(
            [f"{self.prompt}{text}" for text in texts], truncation=True, max_length=limit,
            return_offsets_mapping=True, return_special_tokens_mask=True,
        )  # fmt: skip
        self.count_truncated_texts(count_truncated(encoded, limit), len(texts), limit)
        features = dict(encoded)
        offsets, special = features.pop("offset_mapping"), features.pop("special_tokens_mask")
        lengths = np.array([len(ids) for ids in features["input_ids"]])
        found: dict[int, States] = {}
        budget = TOKENS_PER_BATCH.get(model.device.type, TOKENS_PER_BATCH["cpu"])
        for positions in batch_equal_lengths(lengths, budget):
            for i, vectors in zip(positions.tolist(), self._hidden(features, positions, layer, unit), strict=True):
                spans = np.array(offsets[i], np.intp).reshape(-1, 2) - len(self.prompt)
                ids, marks = np.array(features["input_ids"][i], np.intp), np.array(special[i], bool)
                found[i] = States(ids, vectors[: len(ids)], spans, marks | (spans[:, 0] < 0))
        return [found[i] for i in range(len(texts))]

    def _hidden(self, features: dict[str, list[Any]], positions: Ints, layer: int, unit: bool) -> NDArray[np.float32]:
        import torch

        padded = self.tokenizer.pad(select_rows(features, positions), return_tensors="pt", padding_side="right")
        with torch.inference_mode():
            hidden = self.models[0](**padded.to(self.models[0].device), output_hidden_states=True).hidden_states[layer]
            hidden = torch.nn.functional.normalize(hidden.float(), dim=-1) if unit else hidden.float()
        found: NDArray[np.float32] = hidden.cpu().numpy()
        return found
