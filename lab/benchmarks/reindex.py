"""What the gate says of stored vectors: MiniLM against itself rounded, damaged, prompted, turned and trained on.

    python lab/benchmarks/reindex.py

On the fixed texts of a baseline, short and long. The last column is the cosine of both vectors of the median text less
the mean vector of each model: what tells one family of models from another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from damage import dropped, load, minilm, noised

from encheck.encoders.settings import EncodingSettings
from encheck.gating.reindex import (
    FIXED_TEXTS,
    LONG_WORDS,
    RELATED,
    RoleVectors,
    TextLength,
    VectorSample,
    compare_samples,
    make_long_text,
)
from encheck.similarity import cosine

Vectors = np.ndarray
TEXTS = [*FIXED_TEXTS, *map(make_long_text, LONG_WORDS[:7])]
MAXIMUM_LENGTH = 256  # tokens


@dataclass(frozen=True)
class Copy:
    name: str
    encode: Callable[[Any], Vectors]
    maximum_length: int = MAXIMUM_LENGTH


def plainly(model: Any, texts: list[str] = TEXTS, batch: int = 32) -> Vectors:
    import torch

    with torch.no_grad():
        found = model.encode(texts, batch_size=batch, convert_to_tensor=True, show_progress_bar=False)
    return found.float().numpy()


def changed(change: Callable[[Any], None]) -> Callable[[Any], Vectors]:
    def encode(model: Any) -> Vectors:
        change(model)
        return plainly(model)

    return encode


def rounded(kind: str) -> Callable[[Any], None]:
    def change(model: Any) -> None:
        import torch

        model.to(getattr(torch, kind))

    return change


def int8(model: Any) -> Vectors:
    import torch
    import torch.ao.quantization as quantization

    return plainly(quantization.quantize_dynamic(model, {torch.nn.Linear}, dtype=torch.qint8))


def prompted(prompt: str) -> Callable[[Any], Vectors]:
    return lambda model: plainly(model, [prompt + text for text in TEXTS])


def turned(model: Any) -> Vectors:
    found = plainly(model)
    return found @ np.linalg.qr(np.random.default_rng(0).standard_normal((found.shape[1],) * 2))[0].astype(np.float32)


def redrawn(model: Any) -> None:
    """Weights drawn anew: a stranger of the same shape."""
    import torch

    torch.manual_seed(1)
    for weight in model.parameters():
        if weight.dim() > 1:
            weight.data = torch.randn_like(weight) * weight.data.std()


def trained(model: Any) -> None:
    """Twenty steps of contrastive training on the texts and their lower-cased copies."""
    import torch

    torch.manual_seed(0)
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-5)
    for step in range(20):
        some = [TEXTS[i] for i in np.random.default_rng(step).permutation(len(FIXED_TEXTS))[:16]]
        sides = [model(model.preprocess(texts))["sentence_embedding"] for texts in (some, [t.lower() for t in some])]
        loss = torch.nn.functional.cross_entropy(sides[0] @ sides[1].T * 20, torch.arange(16))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()


def reading(tokens: int) -> Callable[[Any], None]:
    def change(model: Any) -> None:
        model.max_seq_length = tokens

    return change


COPIES = (
    Copy("batches of 5", lambda model: plainly(model, batch=5)),
    Copy("bf16", changed(rounded("bfloat16"))),
    Copy("float16", changed(rounded("float16"))),
    Copy("dynamic int8", int8),
    Copy("weights noised by 1%", changed(noised(0.01))),
    Copy("weights noised by 5%", changed(noised(0.05))),
    Copy("weights noised by 20%", changed(noised(0.2))),
    Copy("fine-tuned for 20 steps", changed(trained)),
    Copy("prompt `query: `", prompted("query: ")),
    Copy("first layer dropped", changed(dropped(0))),
    Copy("fourth layer dropped", changed(dropped(3))),
    Copy("last layer dropped", changed(dropped(5))),
    *(Copy(f"maximum length {n}", changed(reading(n)), n) for n in (32, 128, 512)),
    Copy("rotated", turned),
    Copy("weights drawn anew", changed(redrawn)),
)


def rows() -> Iterator[tuple[str, ...]]:
    first = load(minilm())
    tokens = [len(ids) for ids in first.tokenizer(TEXTS)["input_ids"]]
    old = plainly(first)
    for copy in COPIES:
        new = copy.encode(load(minilm()))
        found = compare_samples(sample(old, tokens, MAXIMUM_LENGTH), sample(new, tokens, copy.maximum_length))
        centred = float(np.median(cosine(old - old.mean(axis=0), new - new.mean(axis=0))))
        yield copy.name, found.answer, f"{found.median:.4f}", f"{found.lowest:.4f}", f"{centred:.2f}"


def sample(vectors: Vectors, tokens: list[int], maximum_length: int) -> VectorSample:
    settings = EncodingSettings(maximum_length=maximum_length)
    lengths = {text: TextLength(len(text.split()), count) for text, count in zip(TEXTS, tokens, strict=True)}
    return VectorSample(settings, "cosine", vectors.shape[1], lengths, {"": RoleVectors(tuple(TEXTS), vectors)})


def main() -> None:
    print(f"| candidate | re-index | median cosine | lowest | centred (related from {RELATED}) |")
    print("| --- | --- | --- | --- | --- |")
    for row in rows():
        print(f"| {' | '.join(row)} |", flush=True)


if __name__ == "__main__":
    main()
