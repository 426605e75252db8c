"""Strategies for hypothesis: sentences, minimal pairs, paraphrases and hostile texts, for tests of your own.

They are drawn from certified frames, so what hypothesis shrinks to is still true. docs/strategies.md has examples;
`encheck.relations` measures what should hold of a model.
"""

try:
    import hypothesis
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        "encheck.strategies needs hypothesis. Remedy: pip install 'encheck[strategies]'", name="hypothesis"
    ) from error

from encheck.strategies.hostile import hostile_texts
from encheck.strategies.pairs import MinimalPair, Paraphrase, minimal_pair, paraphrases, properties, sentences
from encheck.strategies.patience import PROFILE, patient

assert hypothesis

__all__ = [
    "PROFILE", "MinimalPair", "Paraphrase", "hostile_texts", "minimal_pair", "paraphrases", "patient", "properties",
    "sentences",
]  # fmt: skip
