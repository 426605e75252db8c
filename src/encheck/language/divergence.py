"""Lexical divergence of two texts: the Jensen-Shannon divergence of their words.

Words are those of Peinelt et al. 2019 (only these reproduce Table 5): NLTK's Treebank tokens of the lower-cased text,
with punctuation. A whole data set is computed at once, with sparse tables of counts.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache, lru_cache
from sys import intern
from typing import Any

import numpy as np
from numpy.typing import NDArray

from encheck.errors import UsageError
from encheck.system.imports import import_nltk

Values = NDArray[np.float64]
Tokens = Sequence[str]
_MAX_TEXTS_KEPT = 200_000
_CHUNKS_KEPT = 100_000
_PAIRS_AT_ONCE = 50_000  # so many need at most 100 MB in addition to the tokens
_FEW_PAIRS = 5_000  # texts per batch without a cache
_ACROSS = re.compile(r"[\"`]|''|[^\S ]")  # texts that the tokenizer reads across blanks, or treats as a blank
_CLOSING = re.compile(r"[]).}>\"'»”’]+")  # characters that may follow a text's last full stop


@cache
def _tokenizer() -> Any:
    import_nltk()
    from nltk.tokenize.destructive import NLTKWordTokenizer  # plain regular expressions: no data to download

    return NLTKWordTokenizer()


@lru_cache(maxsize=_MAX_TEXTS_KEPT)
def tokenise(text: str) -> tuple[str, ...]:
    """The lower-cased tokens of a text, with punctuation, without sentence splitting.

    >>> tokenise("Don't panic, Ann!")
    ('do', "n't", 'panic', ',', 'ann', '!')
    """
    return _tokens(text.lower())


def _tokens(text: str) -> tuple[str, ...]:
    """The tokens of a lower-cased text, word by word if no rule needs more context."""
    chunks = text.split()
    if len(chunks) < 2 or _ACROSS.search(text) or _CLOSING.fullmatch(chunks[-1]):
        return _split(text)
    last = chunks.pop()
    return (*(token for chunk in chunks for token in _inside(chunk)), *_at_end(last))


def _split(text: str) -> tuple[str, ...]:
    return tuple(intern(token) for token in _tokenizer().tokenize(text))


@lru_cache(maxsize=_CHUNKS_KEPT)
def _inside(chunk: str) -> tuple[str, ...]:
    """The tokens of a word inside a text."""
    return _split(f"x {chunk} x")[1:-1]


@lru_cache(maxsize=_CHUNKS_KEPT)
def _at_end(chunk: str) -> tuple[str, ...]:
    """The tokens of a text's last word."""
    return _split(f"x {chunk}")[1:]


def jsd(first: Sequence[str], second: Sequence[str]) -> Values:
    """Jensen-Shannon divergence of the texts' tokens, pair by pair; shape [n], 0 (same shares) to 1 (none shared).

    >>> jsd(["a red car", "yes"], ["a blue car", "no"]).round(4).tolist()
    [0.3333, 1.0]
    """
    return jsd_of_tokens([tokenise(t) for t in first], [tokenise(t) for t in second])


def jsd_once(first: Sequence[str], second: Sequence[str]) -> Values:
    """As `jsd`, without caching the texts' tokens."""
    starts = range(0, len(first), _FEW_PAIRS)
    parts = [
        jsd_of_tokens(*([_tokens(text.lower()) for text in side[i : i + _FEW_PAIRS]] for side in (first, second)))
        for i in starts
    ]
    return np.concatenate([np.zeros(0), *parts])


def jsd_of_tokens(first: Sequence[Tokens], second: Sequence[Tokens]) -> Values:
    """(KL(p||m) + KL(q||m)) / 2 of relative frequencies p and q, with m = (p + q) / 2; shape [n].

    Base 2, no smoothing, no square root (Lin 1991; Peinelt et al. 2019, section 3, and the authors' code). Their code
    has no value for a text without tokens; here it is 1 against a text with tokens and 0 against a text without tokens.
    """
    if len(first) != len(second):
        raise UsageError(f"{len(first)} first sides and {len(second)} second sides, but they should go in pairs")
    starts = range(0, len(first), _PAIRS_AT_ONCE)
    parts = [_jsd(*_tables(first[i : i + _PAIRS_AT_ONCE], second[i : i + _PAIRS_AT_ONCE])) for i in starts]
    return np.concatenate([np.zeros(0), *parts])


def _tables(first: Sequence[Tokens], second: Sequence[Tokens]) -> tuple[Any, Any]:
    """Counts of both sides, sparse, shape [n, distinct tokens] each."""
    vocabulary: dict[str, int] = {}
    sides = [_flat(side, vocabulary) for side in (first, second)]
    first_counts, second_counts = (_counts(*side, len(vocabulary)) for side in sides)
    return first_counts, second_counts


def _flat(side: Sequence[Tokens], vocabulary: dict[str, int]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """The numbers of all tokens in sequence, and the start of each text."""
    number = vocabulary.setdefault
    flat = np.array([number(token, len(vocabulary)) for text in side for token in text], np.int32)
    return flat, np.concatenate([[0], np.cumsum([len(text) for text in side], dtype=np.int64)])


def _counts(flat: NDArray[np.int32], begins: NDArray[np.int64], width: int) -> Any:
    from scipy.sparse import csr_array

    counts = csr_array((np.ones(len(flat)), flat, begins), shape=(len(begins) - 1, max(width, 1)))
    counts.sum_duplicates()
    return counts


def _jsd(first: Any, second: Any) -> Values:
    """H(m) - (H(p) + H(q)) / 2, an equivalent form of the definition."""
    p, q = _shares(first), _shares(second)
    result = _entropy((p + q) / 2) - (_entropy(p) + _entropy(q)) / 2
    empty = np.array([table.sum(axis=1) == 0 for table in (first, second)])
    result[empty.any(axis=0)] = 1.0
    result[empty.all(axis=0)] = 0.0
    return np.clip(result, 0.0, 1.0)


def _shares(counts: Any) -> Any:
    shares = counts.copy()
    shares.data /= np.repeat(counts.sum(axis=1), np.diff(counts.indptr))
    return shares


def _entropy(shares: Any) -> Values:
    """Entropy in bits, row by row; shape [n]."""
    rows = np.repeat(np.arange(shares.shape[0]), np.diff(shares.indptr))
    return np.bincount(rows, -shares.data * np.log2(shares.data), minlength=shares.shape[0]).astype(np.float64)
