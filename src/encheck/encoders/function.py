"""A plain function of the user's own as an encoder: `adapter: conftest:embed`, or `--model=conftest:embed`."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from encheck.encoders.protocol import ROW_A_TEXT, check_vectors
from encheck.encoders.text import PROBE, coarse
from encheck.errors import EncoderError, ModelError
from encheck.types import content_hash


def is_encoding(made: object) -> bool:
    """Whether this is a function from `texts` to vectors, and not a class or what makes an encoder.

    >>> is_encoding(lambda texts: [[1.0]] * len(texts)), is_encoding(dict)
    (True, False)
    """
    return inspect.isfunction(made) and next(iter(inspect.signature(made).parameters), "") == "texts"


class FunctionEncoder:
    """`function(texts, **options)` gives an array of shape [n, d]; similarity is cosine."""

    similarity = "cosine"

    def __init__(self, function: Callable[..., object], options: Mapping[str, Any]) -> None:
        self.function, self.options = function, dict(options)

    @cached_property
    def _fingerprint(self) -> str:
        name = f"{self.function.__module__}:{self.function.__qualname__}"
        try:
            vector = self.encode([PROBE])[0]
        except EncoderError as error:
            raise ModelError(f"{name}: {error}") from error
        return (
            f"function:{content_hash(name, _source(self.function), repr(sorted(self.options.items())), coarse(vector))}"
        )

    def fingerprint(self) -> str:
        """The function's text, its options and a probe vector: what it calls is seen by what comes out."""
        return self._fingerprint

    def encode(self, texts: Sequence[str], *, role: str | None = None) -> NDArray[np.float32]:  # noqa: ARG002
        """What the function gives, in fp32; EncoderError for what is no array of numbers, one row a text."""
        try:
            made = self.function(list(texts), **self.options)
        except Exception as error:
            raise EncoderError(
                f"{self._place}: {self.function.__qualname__}(texts) says: {error!r}. {ROW_A_TEXT}"
            ) from error
        try:
            return check_vectors(made, texts)
        except EncoderError as error:
            raise EncoderError(f"{self._place}: {error}. {ROW_A_TEXT}") from error

    @property
    def _place(self) -> str:
        """The function and its file, for messages."""
        return f"{self.function.__qualname__} of {self.function.__code__.co_filename}"


def _source(function: Callable[..., object]) -> str:
    try:
        return inspect.getsource(function)
    except (OSError, TypeError):
        return ""
