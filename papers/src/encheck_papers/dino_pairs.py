"""Make training pairs from a language model's output: DINO's post-processing, as in the code of RISE's authors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random

SMOOTHING = 0.2
MOST = 2  # second texts per first text and label
UNRELATED = 2  # second texts that were written for other first texts


@dataclass(frozen=True)
class Written:
    """The output for a text and a label; `unfinished` counts outputs with no closing quote or no text before it."""

    text: str
    label: float
    made: tuple[str, ...]
    unfinished: int = 0


@dataclass(frozen=True)
class SyntheticPair:
    """A human text, a machine-made text, and the similarity that the machine was asked for."""

    first: str
    second: str
    label: float


def smoothed(label: float, *, smoothing: float = SMOOTHING) -> float:
    """A label moved towards 0.5, since the model does not always write what it was asked for.

    >>> [round(smoothed(y), 10) for y in (0, 0.5, 1)]
    [0.1, 0.5, 0.9]
    """
    return (1 - smoothing) * label + smoothing / 2


def training_pairs(
    written: Iterable[Written],
    *,
    seed: int,
    most: int = MOST,
    smoothing: float = SMOOTHING,
    unrelated: int = UNRELATED,
) -> list[SyntheticPair]:
    """Pairs with smoothed labels, and `unrelated` pairs a first text with label 0.

    Leaves out second texts that repeat the first text, or an earlier second text for the same text and label. Keeps the
    first `most` of the rest for each text and label. Then adds to each first text, drawn by seed, second texts that
    were written for different first texts, with label exactly 0; fewer if there are not enough.
    """
    kept = {(one.text, one.label): _distinct(one)[:most] for one in written}
    pairs = [
        SyntheticPair(text, second, smoothed(label, smoothing=smoothing))
        for (text, label), seconds in kept.items()
        for second in seconds
    ]
    return [*pairs, *_unrelated(kept, unrelated, Random(f"{seed}/unrelated"))]  # noqa: S311 - no secret


def _distinct(one: Written) -> list[str]:
    return [text for text in dict.fromkeys(one.made) if text != one.text]


def _unrelated(kept: Mapping[tuple[str, float], Sequence[str]], count: int, rng: Random) -> Iterator[SyntheticPair]:
    """`count` second texts for each first text, except its own and copies of the first text."""
    own: dict[str, set[str]] = {}
    for (text, _), seconds in kept.items():
        own.setdefault(text, {text}).update(seconds)
    pool = list(dict.fromkeys(second for seconds in kept.values() for second in seconds))
    for text, mine in own.items():
        others = rng.sample(pool, min(len(pool), count + len(mine)))  # so many that enough are left
        yield from (SyntheticPair(text, second, 0.0) for second in [o for o in others if o not in mine][:count])
