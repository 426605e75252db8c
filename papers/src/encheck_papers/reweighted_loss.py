"""RISE's loss for sentence-transformers' trainer: the squared error of each pair's cosine, times the pair's weight.

    rows = reweighted_rows(first, second, labels, weights)
    loss = ReweightedCosineLoss(model)
    SentenceTransformerTrainer(model=model, train_dataset=datasets.Dataset.from_dict(rows), loss=loss)

The paper's Equation 3 is a sum; the authors' code has a mean over the batch, not divided by the sum of weights, so
weights below 1 also make smaller steps. `normalise=True` divides by the sum of the batch's weights: then only the
proportions of the weights count.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from encheck.errors import UsageError
from encheck_papers.reweighting import checked

if TYPE_CHECKING:
    from torch import Tensor

SMALLEST = 1e-12  # a sum of weights: a batch of weight 0 has loss 0, and no NaN


def reweighted_rows(
    first: Sequence[str], second: Sequence[str], labels: ArrayLike, weights: ArrayLike
) -> dict[str, list[Any]]:
    """The columns that the loss takes: two texts, and as label the similarity in [-1, 1] with the pair's weight.

    UsageError for columns of different lengths, for a weight below 0, and for a label that no cosine can be.

    >>> reweighted_rows(["a"], ["b"], [0.9], [0.25])
    {'sentence1': ['a'], 'sentence2': ['b'], 'label': [[0.9, 0.25]]}
    """
    given, weight = np.asarray(labels, float), checked(weights)
    lengths = (len(first), len(second), len(given), len(weight))
    if len(set(lengths)) > 1:
        raise UsageError(f"first, second, labels, weights have lengths {lengths}, but should have one length")
    if not (np.abs(given) <= 1).all():
        raise UsageError(f"labels lie in [{given.min():g}, {given.max():g}], but should lie in [-1, 1]: divide them")
    return {
        "sentence1": list(first),
        "sentence2": list(second),
        "label": np.stack([given, weight], axis=1).tolist() if len(given) else [],
    }


def weighted_squares(cosines: Tensor, labels: Tensor, weights: Tensor, *, normalise: bool = False) -> Tensor:
    """Mean of weight x (cosine - label)^2, all of shape [n]; if `normalise`, sum divided by the sum of the weights."""
    squares = weights * (cosines - labels) ** 2
    return squares.sum() / weights.sum().clamp_min(SMALLEST) if normalise else squares.mean()


@cache
def _loss_class() -> type:
    import torch
    from torch import nn

    class ReweightedCosineLoss(nn.Module):
        """`weighted_squares` of the two texts' cosine; labels have shape [n, 2], similarity and weight.

        `normalise` divides by the sum of the weights of the batch, which the authors' code does not.
        """

        __qualname__ = "ReweightedCosineLoss"

        def __init__(self, model: Any, *, normalise: bool = False) -> None:
            super().__init__()
            self.model, self.normalise = model, normalise

        def forward(self, sentence_features: Iterable[dict[str, Tensor]], labels: Tensor) -> Tensor:
            """The loss of a batch, a scalar; ValueError for labels of the wrong shape."""
            first, second = (self.model(features)["sentence_embedding"] for features in sentence_features)
            if labels.shape != (len(first), 2):
                raise ValueError(
                    f"labels have shape {tuple(labels.shape)}, but should have [{len(first)}, 2]: similarity and "
                    "weight of each pair. encheck_papers.reweighted_loss.reweighted_rows makes such columns"
                )
            cosines, given = torch.cosine_similarity(first, second), labels.to(first.dtype)
            return weighted_squares(cosines, given[:, 0], given[:, 1], normalise=self.normalise)

        def get_config_dict(self) -> dict[str, Any]:
            """The entry in the model card."""
            return {"normalise": self.normalise}

    return ReweightedCosineLoss


def __getattr__(name: str) -> Any:
    """`ReweightedCosineLoss`, made on first use, since its base class imports torch."""
    if name != "ReweightedCosineLoss":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return _loss_class()


def __dir__() -> Iterator[str]:
    yield from (*globals(), "ReweightedCosineLoss")
