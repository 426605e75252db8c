"""Use the user's own functions as encoders and pair scorers: `--model=conftest:embed`, `--verify own:same`."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from encheck.encoders.base import PROBE, rounded_vector_hash
from encheck.encoders.protocol import ROW_A_TEXT, check_scores, check_vectors
from encheck.errors import EncoderError, ModelError
from encheck.types import content_hash

NUMBER_A_PAIR = "Remedy: return an array with a finite number for each pair"


def is_encoding_function(made: object) -> bool:
    """Return True for a function from `texts` to vectors, and False for a class or a factory of encoders.

    >>> is_encoding_function(lambda texts: [[1.0]] * len(texts)), is_encoding_function(dict)
    (True, False)
    """
    return inspect.isfunction(made) and next(iter(inspect.signature(made).parameters), "") == "texts"


def is_scoring_function(made: object, options: Mapping[str, Any]) -> bool:
    """Return whether this is a function from two lists of texts to scores.

    Such a function has two arguments that `options` do not set.

    >>> is_scoring_function(lambda texts_a, texts_b: [1.0] * len(texts_a), {})
    True
    >>> is_scoring_function(lambda path, size=1: None, {})
    False
    """
    if not inspect.isfunction(made):
        return False
    parameters = inspect.signature(made).parameters.values()
    needed = [
        parameter.name
        for parameter in parameters
        if parameter.default is parameter.empty and parameter.kind < parameter.VAR_POSITIONAL
    ]
    return len(needed) == 2 and not set(needed) & set(options)


class _UserFunction:
    def __init__(self, function: Callable[..., object], options: Mapping[str, Any]) -> None:
        self.function, self.options = function, dict(options)
        self._place = f"{function.__qualname__} of {function.__code__.co_filename}"
        self._name = f"{function.__module__}:{function.__qualname__}"

    def _fingerprint_with(self, *computed: str) -> str:
        """Return a hash of the function's name, source text, options, and these computed values.

        The source text is that of the function and of its module. A notebook is a module without one.
        """
        sources = ""
        for one in (self.function, inspect.getmodule(self.function)):
            with suppress(OSError, TypeError):
                sources += inspect.getsource(one)  # type: ignore[arg-type]
        return f"function:{content_hash(self._name, sources, repr(sorted(self.options.items())), *computed)}"


class FunctionScorer(_UserFunction):
    """A pair scorer around a user's function.

    `function(texts_a, texts_b, **options)` returns a score for each pair, shape [n]. Larger is nearer.
    """

    @cached_property
    def _fingerprint(self) -> str:
        try:
            scores = self.score_pairs([PROBE, PROBE], [PROBE, PROBE[:20]])
        except EncoderError as error:
            raise ModelError(str(error)) from error
        return self._fingerprint_with(*(f"{score:.3g}" for score in scores.tolist()))

    def fingerprint(self) -> str:
        """Return a hash of the source text of the function's module, its options and the scores of two probe pairs."""
        return self._fingerprint

    def score_pairs(self, first: Sequence[str], second: Sequence[str]) -> NDArray[np.float64]:
        """Return the function's scores, float64. Raise EncoderError unless it returns one number per pair."""
        try:
            scores = self.function(list(first), list(second), **self.options)
        except Exception as error:
            raise EncoderError(f"{self._place} says: {error!r}. {NUMBER_A_PAIR}") from error
        try:
            return check_scores(scores, list(zip(first, second, strict=True)))
        except EncoderError as error:
            raise EncoderError(f"{self._place}: {error}. {NUMBER_A_PAIR}") from error


class FunctionEncoder(_UserFunction):
    """An encoder around a user's function, with cosine similarity.

    `function(texts, **options)` returns an array of shape [n, d].
    """

    similarity = "cosine"

    @cached_property
    def _fingerprint(self) -> str:
        try:
            vector = self.encode([PROBE])[0]
        except EncoderError as error:
            raise ModelError(f"{self._name}: {error}") from error
        return self._fingerprint_with(rounded_vector_hash(vector))

    def fingerprint(self) -> str:
        """Return a hash of the source text of the function's module, its options and a probe vector.

        The probe vector shows some changes in other modules.
        """
        return self._fingerprint

    def encode(self, texts: Sequence[str], *, role: str | None = None) -> NDArray[np.float32]:  # noqa: ARG002
        """Return the function's vectors, float32.

        Raise EncoderError unless they are an array of numbers with one row per text.
        """
        try:
            vectors = self.function(list(texts), **self.options)
        except Exception as error:
            raise EncoderError(
                f"{self._place}: {self.function.__qualname__}(texts) says: {error!r}. {ROW_A_TEXT}"
            ) from error
        try:
            return check_vectors(vectors, texts)
        except EncoderError as error:
            raise EncoderError(f"{self._place}: {error}. {ROW_A_TEXT}") from error
