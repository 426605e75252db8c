"""Fake models for testing checks. For each of them it is known which checks it passes.

models.yaml names them, so `pytest --model=bag-of-words` runs the suite on one. A check of your own is useful if
`Oracle` passes it and the other fake models fail it.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from encheck.language.edits.contractions import expand_contractions
from encheck.similarity import jaccard, words
from encheck.types import content_hash

Vectors = NDArray[np.float32]
DIMENSION = 256


@lru_cache(maxsize=20_000)
def random_direction(name: str, dimension: int = DIMENSION) -> Vectors:
    """Return a random unit vector that depends only on the name, shape [dimension].

    Callers share the array, so do not write to it.
    """
    seed = np.frombuffer(name.encode("utf-8", "surrogatepass"), np.uint8).astype(np.uint32)  # faster than a list
    vector = np.random.default_rng(seed).standard_normal(dimension)
    unit: Vectors = (vector / np.linalg.norm(vector)).astype(np.float32)
    unit.flags.writeable = False
    return unit


def _stack_vectors(vectors: Iterable[NDArray[Any]], dimension: int = DIMENSION) -> Vectors:
    return np.array([*vectors], np.float32).reshape(-1, dimension)


class _FakeModel:
    similarity = "cosine"

    def __init__(self, **options: object) -> None:
        self.options = options

    def fingerprint(self) -> str:
        """Return the fake's name and options."""
        return f"fake:{type(self).__name__}:{content_hash(repr(sorted(self.options.items())))}"


class BagOfWords(_FakeModel):
    """An encoder that only counts words. It ignores word order, and every one-word edit has the same weight."""

    def encode(self, texts: Sequence[str], *, role: str | None = None) -> Vectors:  # noqa: ARG002
        """Return the sum of one random direction per word, shape [n, 256]."""
        bags = (sorted(Counter(words(text) or [text]).items()) for text in texts)
        return _stack_vectors(np.sum([count * random_direction(word) for word, count in bag], axis=0) for bag in bags)


class Constant(_FakeModel):
    """An encoder that returns the same vector for every text."""

    def encode(self, texts: Sequence[str], *, role: str | None = None) -> Vectors:  # noqa: ARG002
        """Return ones, shape [n, 8]."""
        return np.ones((len(texts), 8), np.float32)


class Random(_FakeModel):
    """An encoder that returns a random direction for every text."""

    def encode(self, texts: Sequence[str], *, role: str | None = None) -> Vectors:  # noqa: ARG002
        """Return random vectors, shape [n, 256]. The same text gets the same vector."""
        return _stack_vectors(random_direction(text) for text in texts)


class Nan(_FakeModel):
    """An encoder that broke during training: some of its vectors are NaN."""

    def encode(self, texts: Sequence[str], *, role: str | None = None) -> Vectors:  # noqa: ARG002
        """Return vectors of shape [n, 8]. One text in three gets NaN."""
        hashes = (zlib.crc32(text.encode("utf-8", "surrogatepass")) for text in texts)
        return _stack_vectors((np.full(8, np.nan if h % 3 == 0 else 1.0) for h in hashes), 8)


@dataclass(frozen=True, slots=True)
class _OracleKnowledge:
    """The meanings that an oracle knows: by text, by the text's plain form, and by its words in any order."""

    meanings: dict[str, tuple[str, float]]
    hash: str
    plain: dict[str, tuple[str, float]]
    bags: dict[tuple[str, ...], tuple[str, str]]


class Oracle(_FakeModel):
    """An encoder that knows which texts have the same meaning and that respects word order.

    It passes every check on data that it knows. `meanings` maps a text to the name of its meaning and to its distance
    from that meaning. Distance 0 means that the text has this meaning; the larger the distance, the more the text
    departs from it. By default the oracle knows the embedded probes. `fresh` adds the fresh probes of that seed. If an
    unknown text has the words of a known text, the oracle treats it as a jumble: the more words are out of place, the
    larger the distance.
    """

    def __init__(self, meanings: Mapping[str, tuple[str, float]] | None = None, *, fresh: int | None = None) -> None:
        knowledge = _probe_knowledge(fresh) if meanings is None else _make_knowledge(dict(meanings))
        super().__init__(meanings=knowledge.hash)
        self.meanings, self._plain, self._bags = knowledge.meanings, knowledge.plain, knowledge.bags

    def encode(self, texts: Sequence[str], *, role: str | None = None) -> Vectors:  # noqa: ARG002
        """Return the direction of each text's meaning, rotated by the text's distance from it, shape [n, 256]."""
        return _stack_vectors(self._vector(text) for text in texts)

    def _vector(self, text: str) -> Vectors:
        meaning, away = (
            self.meanings.get(text)
            or self._plain.get(_normalise_case_and_contractions(text))
            or self._meaning_of_jumble(text)
        )
        return random_direction(meaning) + np.float32(away + 0.02) * random_direction(text)

    def _meaning_of_jumble(self, text: str) -> tuple[str, float]:
        """Return the meaning of a known text with these words. Its distance is one for every two words out of place."""
        meaning, known = self._bags.get(_sorted_words(text), (text, ""))
        moved = sum(a != b for a, b in zip(words(text), words(known), strict=False))
        return meaning, max(1.0, moved / 2)


class Contrary(Oracle):
    """An encoder that knows the probes' meanings but reverses them, so it fails every floor.

    It puts texts that change a meaning nearer than texts that keep it. The first text of a meaning is near all texts
    that change the meaning, and far from the other texts that keep it. In a mirrored group, each sentence is near the
    text with the other sentence's meaning.
    """

    def __init__(self, meanings: Mapping[str, tuple[str, float]] | None = None, *, fresh: int | None = None) -> None:
        super().__init__(meanings, fresh=fresh)
        from encheck.datasets.probes import MIRRORED

        self._first = {name: text for text, (name, _) in reversed(self.meanings.items())}
        self._groups = {name: name.partition(MIRRORED)[0] for name in self._first}
        self._mirrored = {group for name, group in self._groups.items() if name != group}

    def _vector(self, text: str) -> Vectors:
        meaning, away = (
            self.meanings.get(text)
            or self._plain.get(_normalise_case_and_contractions(text))
            or self._meaning_of_jumble(text)
        )
        keeps_meaning = away == 0 and text != self._first.get(meaning)
        if (group := self._groups.get(meaning)) in self._mirrored:
            return random_direction(f"{group}/{keeps_meaning}") + np.float32(0.02) * random_direction(text)
        shared, own = (0.2, 1.0) if keeps_meaning else (1.0, 0.02)
        return np.float32(shared) * random_direction(meaning) + np.float32(own) * random_direction(text)


class Overlap(_FakeModel):
    """A pair scorer without vectors. It scores the share of words that two texts have in common."""

    def score_pairs(self, first: Sequence[str], second: Sequence[str]) -> NDArray[np.float64]:
        """Return the Jaccard overlap of the word sets, shape [n]."""
        return jaccard(first, second)


class Lopsided(_FakeModel):
    """A pair scorer whose scores depend on the order of the two texts: it takes long first texts for paraphrases."""

    def score_pairs(self, first: Sequence[str], second: Sequence[str]) -> NDArray[np.float64]:
        """Return the Jaccard overlap plus the first text's share of all words, shape [n]."""
        a, b = (np.array([len(words(text)) for text in texts], float) for texts in (first, second))
        scores: NDArray[np.float64] = jaccard(first, second) + a / np.maximum(a + b, 1)
        return scores


def _sorted_words(text: str) -> tuple[str, ...]:
    return tuple(sorted(words(text)))


def _normalise_case_and_contractions(text: str) -> str:
    """Return the text without variations that keep the meaning, in case, blanks and contractions."""
    return " ".join(expand_contractions(text).lower().split())


def _make_knowledge(meanings: dict[str, tuple[str, float]]) -> _OracleKnowledge:
    return _OracleKnowledge(
        meanings,
        content_hash(repr(sorted(meanings.items()))),
        {_normalise_case_and_contractions(text): meaning for text, meaning in meanings.items()},
        {_sorted_words(text): (meaning, text) for text, (meaning, away) in meanings.items() if away == 0},
    )


@cache
def _probe_knowledge(fresh: int | None) -> _OracleKnowledge:
    """Return what an oracle learns from the embedded probes and from the fresh probes of a seed.

    This takes half a second, so all oracles share the result.
    """
    from encheck.datasets.probes import iterate_text_meanings

    return _make_knowledge(dict(iterate_text_meanings(fresh)))
