"""Which output of a bare .onnx holds the vectors: by its name, its type and its rank."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from encheck.errors import EncoderError, unknown

SENTENCE = ("sentence_embedding", "sentence_embeddings", "text_embeds", "embeddings")  # as exporters name a text's
TOKENS = ("last_hidden_state", "token_embeddings")  # and those of its tokens
SCORES = ("logits",)  # of words or classes: no vectors of texts, unless somebody says so
Dimension = int | str | None  # a number, the name of one that varies, or unknown


@dataclass(frozen=True)
class Output:
    """One output of the graph; its shape is None where the graph does not say it."""

    name: str
    type: str
    is_float: bool
    shape: tuple[Dimension, ...] | None

    def __str__(self) -> str:
        shape = "unknown shape" if self.shape is None else f"[{', '.join(str(size or '?') for size in self.shape)}]"
        return f"{self.name} ({self.type}, {shape})"

    def holds_vectors(self, tokens: Dimension) -> bool:
        """Whether it can be [batch, tokens, dimension] or [batch, dimension]; `tokens` is the inputs' second axis."""
        if not self.is_float or (self.shape is not None and len(self.shape) not in (2, 3)):
            return False
        return self.shape is None or self.shape[-1] is None or self.shape[-1] != tokens


def choose_output(file: Path, outputs: Sequence[Output], *, tokens: Dimension, wanted: str | None) -> str:
    """The name of the output with the vectors; EncoderError lists the outputs where none fits, or several do."""
    every, fitting = ", ".join(map(str, outputs)), [one for one in outputs if one.holds_vectors(tokens)]
    shapes = "a vector is floating point, [batch, tokens, dimension] or [batch, dimension]"
    if wanted is not None:
        if wanted not in {one.name for one in outputs}:
            raise EncoderError(f"{file}: {unknown('output', wanted, [one.name for one in outputs])}")
        if wanted not in {one.name for one in fitting}:
            raise EncoderError(f"{file}: the output {wanted} cannot be taken: {shapes}. There are: {every}")
        return wanted

    plausible = [one.name for one in fitting if one.name not in SCORES]
    for names in (SENTENCE, TOKENS, plausible):
        chosen = [name for name in plausible if name in names]
        if len(chosen) == 1:
            return chosen[0]
        if chosen:
            break
    why = f"{len(chosen)} outputs fit, {' and '.join(chosen)}" if chosen else f"no output fits: {shapes}"
    remedy = "Remedy: name the one with the vectors: --model-arg output=NAME"
    raise EncoderError(f"{file}: {why}. There are: {every}. {remedy}")
