"""Decoding that compares a prompt with others: tokens that fit the others better become unlikely.

Self-debiasing (Schick, Udupa and Schütze 2021, TACL 9), as DINO uses it (Schick and Schütze 2021, EMNLP): with p_y the
probability of a token after the prompt of the label y, and p_c after those of the counter-labels,

    delta = p_y - max p_c        p(token) is proportional to p_y x exp(decay x min(0, delta))

The rows of a batch are prompts. A group of rows has the prompts of one text: its own first, then those of the
counter-labels. All rows of a group continue with the token drawn for the first.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from torch import Tensor

QUOTE = '"'  # ends a text
Groups = Sequence[Sequence[int]]  # row numbers, the own prompt first


def debiased(scores: Tensor, groups: Groups, *, decay: float) -> Tensor:
    """Log weights of the tokens for the first row of each group, shape [groups, vocabulary]; they need not sum to 1.

    `scores` are logits of shape [rows, vocabulary].
    """
    import torch

    logs = torch.log_softmax(scores.float(), dim=-1)
    # The maximum includes the own prompt, so the difference is the formula's minimum of 0 and delta.
    strongest = torch.stack([logs[list(rows)].max(dim=0).values for rows in groups]).exp()
    own = logs[[rows[0] for rows in groups]]
    return own + decay * (own.exp() - strongest)


def drawn(weights: Tensor, uniform: Tensor) -> Tensor:
    """The token of each row of log weights at these uniform numbers in [0, 1), shapes [n, vocabulary] and [n]."""
    import torch

    summed = torch.softmax(weights.double(), dim=-1).cumsum(dim=-1)
    found = torch.searchsorted(summed, (uniform.double() * summed[:, -1])[:, None], right=True)[:, 0]
    return torch.minimum(found, summed.argmax(dim=-1))  # rounding can exceed the last token that can be drawn


def processors(
    groups: Groups, uniform: NDArray[np.float64], *, width: int, decay: float, top_k: int, top_p: float
) -> Any:
    """The logits_processor for `generate(do_sample=False)`, which forces the token drawn for each group.

    `uniform` has shape [groups, tokens]: a number in [0, 1) for each token that may follow the prompts, which are
    `width` tokens wide. So a text does not depend on the others in its batch.
    """
    import torch
    from transformers import LogitsProcessor, LogitsProcessorList, TopKLogitsWarper, TopPLogitsWarper

    limits = LogitsProcessorList([TopKLogitsWarper(top_k), TopPLogitsWarper(top_p)])

    class SelfDebiasing(LogitsProcessor):
        """Allow each group only the token that is drawn for it."""

        def __call__(self, input_ids: Any, scores: Any) -> Any:
            kept = limits(input_ids, debiased(scores, groups, decay=decay))
            numbers = torch.as_tensor(uniform[:, input_ids.shape[1] - width], device=scores.device)
            forced = torch.full_like(scores, -torch.inf)
            for rows, token in zip(groups, drawn(kept, numbers).tolist(), strict=True):
                forced[list(rows), token] = 0
            return forced

    return LogitsProcessorList([SelfDebiasing()])


def stopping(tokenizer: Any, groups: Groups, *, width: int) -> Any:
    """The stopping_criteria for `generate`: a group ends when its text has a closing quote."""
    import torch
    from transformers import StoppingCriteria, StoppingCriteriaList

    class ClosingQuote(StoppingCriteria):
        """Whether each row's text has its closing quote."""

        def __call__(self, input_ids: Any, scores: Any, **_: Any) -> Any:  # noqa: ARG002 - the interface's
            done = torch.zeros(len(input_ids), dtype=torch.bool, device=input_ids.device)
            for rows in groups:
                done[list(rows)] = QUOTE in tokenizer.decode(input_ids[rows[0], width:], skip_special_tokens=True)
            return done

    return StoppingCriteriaList([ClosingQuote()])
