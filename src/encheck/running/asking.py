"""Asking a model for the scores of a few pairs at a time, through the store."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from encheck.encoders.protocol import Fitted, Partial
from encheck.errors import UsageError
from encheck.running.scorer import similarity_of
from encheck.running.service import Encoding
from encheck.running.subject import Pair, Subject
from encheck.store import Store
from encheck.system.lock import no_locks
from encheck.system.progress import Progress


def asker(subject: Subject, store: Store) -> Callable[[Sequence[Pair]], list[float]]:
    """A function that gives the similarities of pairs, all texts in one call of the encoder; the store keeps them.

    UsageError for a model that cannot take new texts: one that learns from a run's, or has vectors of some alone.
    """
    if isinstance(subject.model, Fitted | Partial):
        raise UsageError(
            f"{subject.label} cannot score new texts: it learns from the texts of a run, or has vectors of some alone"
        )
    encoding = Encoding({subject.label: subject}, store)

    def ask(pairs: Sequence[Pair]) -> list[float]:
        encoding.encode({subject.label: pairs}, locks=no_locks, progress=Progress())
        if subject.error:
            raise subject.error
        score = similarity_of(subject)
        found: list[float] = score([a for a, _ in pairs], [b for _, b in pairs]).tolist()
        return found

    return ask
