"""Check that a server reads its texts, and still answers with the same model, by its vector of a probe sentence.

A model can be changed while a run goes on, and two versions can stand behind one address and take turns. So the probe
goes with each request that takes more than one text, and alone before anything is kept. A server that reads no text
gives all of them one vector, which is seen from the first answers.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from encheck.encoders.protocol import check_vectors
from encheck.encoders.text import PROBE
from encheck.errors import EncoderError
from encheck.similarity import ROUNDING, moved

Vectors = NDArray[np.float32]
SAME = 1e-6  # of a vector's length: how far apart two may lie that are one
ALIKE = 3  # different texts, the probe among them, with one vector: a model that reads its texts has other vectors
OTHER = 0.25  # no rounding, and no text beside it, moves a vector so far
TURNS = 4  # of two models that take turns, so many answers in a row are the one's, then as many the other's: 1 in 256
WRONG_SERVER = "Remedy: name an embedding model, and the adapter (openai, tei) that the server speaks"
ONE_MODEL = "Remedy: one model under this address for a whole run; then run again"
log = logging.getLogger("encheck")


class Watch:
    """Knows a server by the first vector of the probe that it sees, in requests of one form: `request` makes one of
    them, `alone` gets this watch and has the probe's own vector.
    """

    def __init__(self, place: str, request: Callable[..., Vectors], alone: Callable[[Watch], Vectors]) -> None:
        self.place, self._request, self._alone = place, request, alone
        self._known: Vectors | None = None
        self._tolerance = ROUNDING
        self._first: Vectors | None = None
        self._alike: set[str] | None = set()  # texts that got the first vector; None once another one came
        self._meeting, self._wondering = Lock(), Lock()

    def ask(self, texts: list[str], *, cut: bool = False) -> Vectors:
        """The vectors of one request, shape [n, d]; EncoderError if the probe and all texts so far got the same one."""
        vectors = self._request(texts, cut=cut)
        with self._meeting:
            if self._first is None and len(vectors):
                self._first = vectors[0]
            if self._alike is not None and self._first is not None:
                self._alike = self._alike | set(texts) if _is_one(vectors, self._first) else None
            alike = self._alike or set()
        if PROBE in alike and len(alike) >= ALIKE:
            raise constant(self.place, alike)
        return vectors

    def alone(self) -> Vectors:
        """The probe's vector, shape [d], in a request of its own; EncoderError if it is not what it was."""
        vector = self._alone(self)
        self._refuse(vector, self._tolerance)
        return vector

    def beside(self, texts: list[str]) -> Vectors:
        """The vectors of one request that has the probe in it; EncoderError if that shows another model."""
        vectors = self.ask([*texts, PROBE])
        seen = checked(vectors[-1:], [PROBE], self.place)[0]
        if self._drift(seen) > ROUNDING and len({*texts, PROBE}) >= ALIKE and _is_one(vectors, seen):
            raise constant(self.place, {*texts, PROBE})  # one vector a request
        self._refuse(seen, OTHER)
        if self._drift(seen) > self._tolerance:
            with self._wondering:
                self._wonder(texts, seen)
        return vectors[:-1]

    def _drift(self, vector: Vectors) -> float:
        """How far a vector of the probe lies from the first one; 0 for the first."""
        with self._meeting:
            if self._known is None:
                self._known = vector
        if len(vector) != len(self._known):
            raise widened(self.place, len(self._known), len(vector))
        return float(moved(self._known[None], vector[None])[0])

    def _refuse(self, vector: Vectors, tolerance: float) -> None:
        if (drift := self._drift(vector)) > tolerance:
            raise EncoderError(
                f"{self.place} answers with another model than at the start of the run: the vector of a probe sentence "
                f"lies {100 * np.sqrt(2 * drift):.0f}% of its length away from the first. The model was changed during "
                f"the run, or two versions stand behind one address. {ONE_MODEL}. Where a text's vector depends on the "
                "other texts of a request: --model-arg batch=1 --model-arg concurrency=1"
            )

    def _wonder(self, texts: list[str], seen: Vectors) -> None:
        """Tell two models that are near each other from one whose vectors depend on the other texts of a request.

        That one gives the probe alone what it gave at first, and this request what it gave it now.
        """
        if (drift := self._drift(seen)) <= self._tolerance:  # another request has told
            return
        for _ in range(TURNS):
            self.alone()
        for _ in range(TURNS):
            if float(moved(self.ask([*texts, PROBE])[-1:], seen[None])[0]) > ROUNDING:
                self._refuse(seen, self._tolerance)
        self._tolerance = OTHER
        log.warning(
            "%s: the vector of a text depends on the other texts of its request (that of a probe sentence has a cosine "
            "of %.3f with its vector alone): if a very similar model replaced it, encheck would not notice",
            *(self.place, 1 - drift),
        )


def checked(vectors: Vectors, texts: list[str], place: str) -> Vectors:
    """The vectors; EncoderError names the server if they are not vectors."""
    try:
        return check_vectors(vectors, texts)
    except EncoderError as error:
        raise EncoderError(f"{place}: {error}. {WRONG_SERVER}") from error


def _is_one(vectors: Vectors, one: Vectors) -> bool:
    """Whether all rows [n, d] are this vector [d]; zeros, which are refused elsewhere, are none."""
    length = float(np.linalg.norm(one))
    if vectors.shape[1] != len(one) or not 0 < length < np.inf:
        return False
    return float(np.abs(vectors - one).max()) <= SAME * length


def constant(place: str, texts: Iterable[str]) -> EncoderError:
    """The error where different texts got one vector."""
    some = ", ".join(repr(text[:60]) for text in sorted(texts)[:ALIKE])
    return EncoderError(
        f"{place} gives different texts the same vector, so it does not read them: {some}. {WRONG_SERVER}; and see "
        "that a prompt is not longer than what the server reads"
    )


def widened(place: str, before: int, now: int) -> EncoderError:
    """The error where a server's vectors have another dimension than before."""
    return EncoderError(
        f"{place} gave vectors of {before} dimensions before, and now of {now}: another model answers under this "
        f"address. {ONE_MODEL}"
    )
