"""Fluency of a text: an edit that reads badly can be told apart without any understanding.

Two covariates: pairs of neighbouring tags that the data's own sentences hardly have (from the parse), and what a
language model expects (`--continuation-model`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from encheck.encoders.base import replace_half_surrogates
from encheck.encoders.batching import batches_of_one_length
from encheck.encoders.writing import TOKENS_PER_BATCH, Continuer
from encheck.items.variants import Maker
from encheck.store import text_key

UNUSUAL_BELOW_SHARE = 0.01  # a pair of tags is unusual where the second follows the first less often than this
Unusual = Callable[[Sequence[str]], float]
Floats = NDArray[np.float32]


def unusual_of(maker: Maker, texts: Iterable[str]) -> Unusual:
    """A function that gives the share of unusual pairs of neighbouring tags in a sequence of tags.

    What is usual is counted in these texts: they are sentences as people write them.
    """
    maker.english.parse_all(texts := list(dict.fromkeys(texts)))
    pairs = Counter(pair for text in texts for pair in pairwise(maker.english.parse(text).tags))
    firsts: Counter[str] = Counter()
    for (first, _), count in pairs.items():
        firsts[first] += count
    usual = {pair for pair, count in pairs.items() if count >= UNUSUAL_BELOW_SHARE * firsts[pair[0]]}

    def share(tags: Sequence[str]) -> float:
        there = max(len(tags) - 1, 0)
        return (there - sum(map(usual.__contains__, pairwise(tags)))) / there if there else 0.0

    return share


class Surprisal:
    """How unlikely a causal language model finds texts: mean bits a token, each token after those before it."""

    def __init__(self, model: Continuer) -> None:
        self.model = model
        self.computed = 0

    @property
    def fingerprint(self) -> str:
        """That of the language model, with what is computed."""
        return f"{self.model.fingerprint}/surprisal-1"

    def __call__(self, texts: Sequence[str]) -> Floats:
        """Bits a token of each text, shape [n], from the store where they are there.

        NaN for a text without tokens, and for one that the model has no room for.
        """
        wanted = list(dict.fromkeys(texts))
        found = self._stored(wanted)
        if missing := [text for text in wanted if text not in found]:
            with self.model.locked():
                found |= self._stored(missing)
                found |= self._computed([text for text in missing if text not in found])
        return np.array([found[text] for text in texts], np.float32)

    def _stored(self, texts: Sequence[str]) -> dict[str, float]:
        if self.model.store is None:
            return {}
        arrays, there = self.model.store.get("pair", self.fingerprint, [text_key(text) for text in texts])
        return {text: float(arrays[i, 0]) for i, text in enumerate(texts) if there[i]}

    def _computed(self, texts: Sequence[str]) -> dict[str, float]:
        rows = [self._row(text) for text in replace_half_surrogates(texts)]
        bits = np.full(len(texts), np.nan, np.float32)
        for positions in batches_of_one_length(np.array([len(row) for row in rows], np.intp), TOKENS_PER_BATCH):
            fit = [int(i) for i in positions if 1 < len(rows[i]) <= self.model.positions]
            if fit:
                bits[fit] = self._bits([rows[i] for i in fit])
        if self.model.store is not None and texts:
            keys = [text_key(text) for text in texts]
            self.model.store.put("pair", self.fingerprint, keys, bits[:, None], name=self.model.name)
        self.computed += len(texts)
        return dict(zip(texts, bits.tolist(), strict=True))

    def _row(self, text: str) -> list[int]:
        """The tokens of a text after the one that begins a text, so that the first word is expected from something."""
        tokenizer = self.model.tokenizer
        row: list[int] = tokenizer(text, verbose=False)["input_ids"]
        begin = tokenizer.eos_token_id if tokenizer.bos_token_id is None else tokenizer.bos_token_id
        return row if begin is None or row[:1] == [begin] else [begin, *row]

    def _bits(self, rows: Sequence[Sequence[int]]) -> Floats:
        import torch

        padded = self.model.tokenizer.pad({"input_ids": rows}, return_tensors="pt", padding_side="right")
        inputs: Any = padded.to(self.model.model.device)
        with torch.inference_mode():
            logits = self.model.model(**inputs).logits[:, :-1].float()
            after, there = inputs["input_ids"][:, 1:], inputs["attention_mask"][:, 1:]
            chances = logits.log_softmax(-1).gather(-1, after[..., None])[..., 0]
            bits = -(chances * there).sum(1) / there.sum(1) / np.log(2)
        found: Floats = bits.cpu().numpy().astype(np.float32)
        return found
