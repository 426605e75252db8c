"""Surface similarities of two texts. They ignore meaning, so a model should beat them.

Each similarity is symmetric, and 1 for identical text. Words are lower-cased, without punctuation. SURFACE has the
scorers that use only the two texts, with scores in [0, 1]. They are SHARED, which count shared words or characters, and
RIVALS, which are reported with contrasts. Of the RIVALS, POLARITY count negative words, and POSITION use the place of
the difference. WEIGHTED has the scorers that also use the number of texts with each word.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np

from encheck.similarity import WORD_OVERLAP, Values, jaccard, words

K1, B = 1.5, 0.75  # as in Robertson and Zaragoza 2009
_HALF_WAY = 100  # characters or words of agreement that score half of the maximum; any number gives the same ranking
_TEXTS, _PAIRS = 10_000, 50_000  # cache sizes: checks on the same data score many pairs repeatedly
Texts = Sequence[str]
POLARITY_WORDS = frozenset(
    """
    no not never none nobody nothing nowhere neither nor without cannot noone nope nobody's nothing's hardly barely
    scarcely rarely seldom few false absent except
    avoid avoids avoided ban banned decline declined denied denies deny exclude excluded excludes excluding fail failed
    failing fails forbade forbid forbidden forbids lack lacked lacking lacks omit omitted prevent prevented prevents
    prohibit prohibited prohibits refuse refused refuses refusing reject rejected rejects
    disabled disagree disagreed disagrees disallowed disapprove disconnected discontinued dishonest dislike disliked
    dislikes dissatisfied harmless helpless painless useless worthless
    illegal illegible illiterate illogical immature impassable impatient imperfect impermeable impermissible impolite
    impossible impractical improbable improper inaccessible inaccurate inactive inadequate inadmissible inappropriate
    incapable incompatible incomplete inconsistent inconvenient incorrect inedible ineffective ineligible inoperable
    insecure insensitive insufficient invalid invisible irregular irrelevant irreproducible irresponsible irreversible
    unable unacceptable unaided unanswered unauthorised unauthorized unavailable unaware unbroken uncertain unchanged
    unclear uncommon unconscious undamaged undone unemployed unencrypted unenforceable uneven unfair unfilled
    unfinished unfurnished unhappy unheated unhelpful unidentified uninjured unknown unlawful unlicensed unlikely
    unlocked unmarried unmentioned unmuted unnecessary unnoticed unoccupied unopened unopposed unpaid unplug unprepared
    unpressurised unprofitable unread unrelated unreliable unsafe unsigned unsold unsorted unstable unsuccessful
    unsuitable untrue unused unusual unvaccinated unwilling
    """.split()
)
POLARITY_SHA256 = "25792d7fa4f18d7bb9bd3d69effdd9d9f57640804101ebefa39496763f2e5ed4"  # sorted words, one per line
CONTRACTION = re.compile(r".+n['’]t|(ai|are|could|did|do|does|had|has|have|is|must|need|should|was|were|would)nt")


@lru_cache(maxsize=_TEXTS)
def tokens(text: str) -> tuple[str, ...]:
    """Return the lower-cased words of a text, in order."""
    return tuple(words(text))


def edit_similarity(first: Texts, second: Texts) -> Values:
    """Return 1 minus the edit distance of the words (Levenshtein 1966) divided by the number of words of the longer
    text.

    Two texts without any word count as equal (1). Shape [n].

    >>> edit_similarity(["Ann saw Bob."], ["Bob saw Ann."]).round(3).tolist()
    [0.333]
    """
    return _score_pairs(_edit_similarity_of_pair, first, second)


def bigram_overlap(first: Texts, second: Texts) -> Values:
    """Return the share of distinct pairs of neighbouring words that two texts have in common; shape [n].

    The start and the end of a text count as words, so every text has a bigram.

    >>> bigram_overlap(["a red car"], ["a red bus"]).round(3).tolist()
    [0.333]
    """
    return _score_pairs(_bigrams_of_pair, first, second)


def trigram_overlap(first: Texts, second: Texts) -> Values:
    """Return the share of distinct lower-cased sequences of three characters that two texts have in common; shape [n].

    Two blanks are added before the text and one after it, so every text has a trigram. Repeated blanks count as one.

    >>> trigram_overlap(["cat"], ["cats"]).tolist()
    [0.5]
    """
    return _score_pairs(_trigrams_of_pair, first, second)


def polarity_agreement(first: Texts, second: Texts, *, parity: bool = False) -> Values:
    """Return 1 if two texts have equally many negative words, 1/2 if the numbers differ by one, and so on; shape [n].

    Negative words are POLARITY_WORDS and contractions of "not". With `parity`, the score is 1 if both numbers are odd
    or both are even, otherwise 0.

    >>> polarity_agreement(["is not valid", "is not valid"], ["isn't valid", "is valid"]).tolist()
    [1.0, 0.5]
    >>> polarity_agreement(["is valid"], ["is not invalid"], parity=True).tolist()
    [1.0]
    """
    counts = (np.array([count_negative_words(text) for text in texts], int) for texts in (first, second))
    apart = np.abs(np.subtract(*counts))
    return np.asarray(1 - apart % 2 if parity else 1 / (1 + apart), np.float64)


def agreement_from_ends(first: Texts, second: Texts, *, weights: tuple[int, int, int, int]) -> Values:
    """Return how far two texts agree from their ends inwards, shape [n]: 1/2 for no agreement, at most 1.

    `weights` are the weights of shared characters at the beginning and at the end, then of shared words at the
    beginning and at the end. A negative weight rewards disagreement.

    >>> agreement_from_ends(["a red car"] * 2, ["a red bus", "the car"], weights=(0, 0, 1, 0)).round(3).tolist()
    [0.51, 0.5]
    """
    return _score_pairs(lambda a, b: _position_of_pair(a, b, weights), first, second)


SHARED = (WORD_OVERLAP, "edit-distance", "bigrams", "trigrams")
POLARITY = ("polarity", "parity")
SUFFIX_MINUS_PREFIX = "suffix-2-prefix"
POSITION = ("prefix", "suffix", "first-change", "last-change", SUFFIX_MINUS_PREFIX)
UNBALANCED_SCORERS = (*POLARITY, *POSITION)
SURFACE: Mapping[str, Callable[[Texts, Texts], Values]] = {
    **dict(zip(SHARED, (jaccard, edit_similarity, bigram_overlap, trigram_overlap), strict=True)),
    **dict(zip(POLARITY, (polarity_agreement, partial(polarity_agreement, parity=True)), strict=True)),
    **{
        name: partial(agreement_from_ends, weights=weights)
        for name, weights in zip(
            POSITION, ((1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1), (-2, 1, 0, 0)), strict=True
        )
    },
}


@lru_cache(maxsize=_TEXTS)
def count_negative_words(text: str) -> int:
    """Return the number of negative words in a text."""
    return sum(word in POLARITY_WORDS or bool(CONTRACTION.fullmatch(word)) for word in tokens(text))


@lru_cache(maxsize=_PAIRS)
def _position_of_pair(first: str, second: str, weights: tuple[int, int, int, int]) -> float:
    from rapidfuzz.distance import Postfix, Prefix

    a, b = first.lower(), second.lower()
    if a == b:
        return 1.0
    ends = [of.similarity(*both) for both in ((a, b), (tokens(a), tokens(b))) for of in (Prefix, Postfix)]
    agreed: int = sum(weight * count for weight, count in zip(weights, ends, strict=True))
    return (1 + agreed / (_HALF_WAY + abs(agreed))) / 2


def _score_pairs(score: Callable[[str, str], float], first: Texts, second: Texts) -> Values:
    return np.array([score(a, b) for a, b in zip(first, second, strict=True)], np.float64)


@lru_cache(maxsize=_PAIRS)
def _edit_similarity_of_pair(first: str, second: str) -> float:
    from rapidfuzz.distance import Levenshtein

    return float(Levenshtein.normalized_similarity(tokens(first), tokens(second)))


@lru_cache(maxsize=_PAIRS)
def _bigrams_of_pair(first: str, second: str) -> float:
    return _set_overlap(_word_bigrams(first), _word_bigrams(second))


@lru_cache(maxsize=2_000)
def _word_bigrams(text: str) -> frozenset[tuple[str, str]]:
    result = tokens(text)
    return frozenset(zip(("", *result), (*result, ""), strict=True))


@lru_cache(maxsize=_PAIRS)
def _trigrams_of_pair(first: str, second: str) -> float:
    return _set_overlap(_character_trigrams(first), _character_trigrams(second))


@lru_cache(maxsize=2_000)
def _character_trigrams(text: str) -> frozenset[tuple[str, str, str]]:
    padded = f"  {' '.join(text.lower().split())} "
    return frozenset(zip(padded, padded[1:], padded[2:], strict=False))


def _set_overlap(a: frozenset[Any], b: frozenset[Any]) -> float:
    """Return the size of the intersection divided by that of the union, which is not empty."""
    both = len(a & b)
    return both / (len(a) + len(b) - both)


@dataclass(frozen=True, eq=False)
class Frequencies:
    """Word counts of a set of texts.

    `counts` has the number of texts that contain each word, `texts` the number of texts, `length` their mean length in
    words.
    """

    counts: Mapping[str, int]
    texts: int
    length: float

    @classmethod
    def of(cls, texts: Iterable[str]) -> Frequencies:
        """Count the words of these texts; a text that occurs twice counts once."""
        bags = [tokens(text) for text in sorted(set(texts))]
        counts = Counter(word for bag in bags for word in set(bag))
        return cls(counts, len(bags), sum(map(len, bags)) / max(len(bags), 1) or 1.0)


def tf_idf(first: Texts, second: Texts, frequencies: Frequencies) -> Values:
    """Return the cosine of the texts' weighted word counts, with scikit-learn's smoothed idf; shape [n].

    Two texts without words count as equal (1).
    """
    return np.array([_tf_idf_of_pair(a, b, frequencies) for a, b in zip(first, second, strict=True)], np.float64)


@lru_cache(maxsize=_PAIRS)
def _tf_idf_of_pair(first: str, second: str, frequencies: Frequencies) -> float:
    (a, norm), (b, other) = _tf_idf_weights(first, frequencies), _tf_idf_weights(second, frequencies)
    if not a or not b:
        return float(not a and not b)
    return min(sum(x * b.get(word, 0.0) for word, x in a.items()) / (norm * other), 1.0)


@lru_cache(maxsize=_TEXTS)
def _tf_idf_weights(text: str, frequencies: Frequencies) -> tuple[Mapping[str, float], float]:
    """Return the weight of each word of a text, and the length of that vector."""
    every, counts = 1 + frequencies.texts, frequencies.counts
    result = {w: n * (math.log(every / (1 + counts.get(w, 0))) + 1) for w, n in Counter(tokens(text)).items()}
    return result, math.sqrt(sum(x * x for x in result.values()))


def bm25(first: Texts, second: Texts, frequencies: Frequencies) -> Values:
    """Return the mean BM25 similarity of the two texts in both directions; shape [n].

    In each direction one text is the query. Its score on the other text is divided by its score on itself. So identical
    texts have 1; the value is above 1 if a short text's words are frequent in the other text.
    """

    def score(a: str, b: str) -> float:
        bags = Counter(tokens(a)), Counter(tokens(b))
        if not all(bags):
            return float(not any(bags))
        return (
            sum(_bm25_of_words(q, d, frequencies) / _bm25_of_words(q, q, frequencies) for q, d in (bags, bags[::-1]))
            / 2
        )

    return _score_pairs(score, first, second)


def _bm25_of_words(query: Mapping[str, int], document: Mapping[str, int], frequencies: Frequencies) -> float:
    norm = K1 * (1 - B + B * sum(document.values()) / frequencies.length)
    total = 0.0
    for word, n in query.items():
        if count := document.get(word, 0):
            texts = frequencies.counts.get(word, 0)
            idf = math.log(1 + (frequencies.texts - texts + 0.5) / (texts + 0.5))
            total += idf * n * count * (K1 + 1) / (count + norm)
    return total


WEIGHTED: Mapping[str, Callable[[Texts, Texts, Frequencies], Values]] = {"tf-idf": tf_idf, "bm25": bm25}
