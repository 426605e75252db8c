"""How fast a model computes here, from a sample of the texts or pairs of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from encheck.encoders.failing import in_a_line, is_failure
from encheck.encoders.protocol import Encoder, Fitted, PairScorer, Partial, batches_of, devices_of
from encheck.errors import EncheckError, EncoderError
from encheck.running.plan import Asked
from encheck.running.subject import Subject
from encheck.system.spent import Spent
from encheck.types import content_hash

SAMPLE, WARM_UP = 200, 8
NONE = Spent()


@dataclass(frozen=True)
class Rate:
    """What a sample of `texts` took: `loading` for the model, then so much for a character.

    `width` is that of the vectors, None of a scorer of pairs. Where the model was not asked, `why` says why.
    """

    texts: int = 0
    loading: Spent = NONE
    a_character: Spent = NONE
    width: int | None = None
    why: str = ""


def rate_of(subject: Subject, asked: Asked) -> Rate:
    """Compute a sample of what is asked, chosen by its hash; the store is left alone.

    A model that costs money is not asked, nor one on another machine or one that first learns from all texts.

    Raises:
        EncoderError: the model failed.
    """
    if not asked or isinstance(subject.model, Partial):
        return Rate()
    if why := _why_not(subject):
        return Rate(why=why)
    some = sample(asked)
    try:
        loading, _ = _timed(subject, some[:WARM_UP])
        spent, width = _timed(subject, some)
    except EncheckError:
        raise
    except BaseException as error:
        if not is_failure(error):
            raise
        raise EncoderError(f"{subject.label}: {in_a_line(error)}") from error
    characters = sum(len(text) for texts in some for text in texts)
    return Rate(len(some), loading, spent.times(1 / max(characters, 1)), width)


def sample(asked: Mapping[bytes, tuple[str, ...]]) -> list[tuple[str, ...]]:
    """At most 200 of the texts or pairs, neighbours by length, shorter and longer ones having as many characters.

    Encoders sort texts by length, so that those of a batch are alike: 200 texts of all lengths would be padded more
    than the run's, and take a third longer. Of the same length, the hash decides.
    """
    ordered = sorted(asked.values(), key=lambda texts: (_length(texts), content_hash(*texts)))
    middle = int(np.searchsorted(sums := np.cumsum([_length(texts) for texts in ordered]), sums[-1:] / 2).sum())
    start = max(0, min(middle - SAMPLE // 2, len(ordered) - SAMPLE))
    return ordered[start : start + SAMPLE]


def _length(texts: tuple[str, ...]) -> int:
    return sum(map(len, texts))


def _why_not(subject: Subject) -> str:
    if subject.config.price:
        return "it costs money"
    if not devices_of(subject.model):
        return "it is on another machine"
    if isinstance(subject.model, Fitted) and not getattr(subject.model, "ready", False):
        return "it first learns from all texts"
    return ""


def _timed(subject: Subject, some: Sequence[tuple[str, ...]]) -> tuple[Spent, int | None]:
    """The time, and the width of the vectors."""
    start, width = Spent.now(), None
    if isinstance(subject.model, Encoder):
        for _, vectors in batches_of(subject.model, [text for (text,) in some]):
            width = int(vectors.shape[1])
    else:
        assert isinstance(subject.model, PairScorer)
        subject.model.score_pairs([first for first, _ in some], [second for _, second in some])
    return Spent.now().since(start), width
