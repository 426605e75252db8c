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
MAX_CACHED_TEXTS = 200_000
MAX_CACHED_WORDS = 100_000
PAIRS_PER_BATCH = 50_000  # so many need at most 100 MB in addition to the tokens
UNCACHED_PAIRS_PER_BATCH = 5_000  # texts per batch without a cache
CONTEXT_DEPENDENT = re.compile(r"[\"`]|''|[^\S ]")  # texts that the tokenizer reads across blanks, or treats as a blank
CLOSING = re.compile(r"[]).}>\"'»”’]+")  # characters that may follow a text's last full stop


@cache
def _load_tokenizer() -> Any:
    import_nltk()
    from nltk.tokenize.destructive import NLTKWordTokenizer  # plain regular expressions: no data to download

    return NLTKWordTokenizer()


@lru_cache(maxsize=MAX_CACHED_TEXTS)
def tokenise(text: str) -> tuple[str, ...]:
    """Return the lower-cased tokens of a text, with punctuation, without sentence splitting.

    >>> tokenise("Don't panic, Ann!")
    ('do', "n't", 'panic', ',', 'ann', '!')
    """
    return _tokenise_lower_case(text.lower())


def _tokenise_lower_case(text: str) -> tuple[str, ...]:
    """Return the tokens of a lower-cased text. If no rule needs more context, tokenise word by word."""
    chunks = text.split()
    if len(chunks) < 2 or CONTEXT_DEPENDENT.search(text) or CLOSING.fullmatch(chunks[-1]):
        return _run_tokenizer(text)
    last = chunks.pop()
    return (*(token for chunk in chunks for token in _tokenise_inner_word(chunk)), *_tokenise_last_word(last))


def _run_tokenizer(text: str) -> tuple[str, ...]:
    return tuple(intern(token) for token in _load_tokenizer().tokenize(text))


@lru_cache(maxsize=MAX_CACHED_WORDS)
def _tokenise_inner_word(chunk: str) -> tuple[str, ...]:
    """Return the tokens of a word inside a text."""
    return _run_tokenizer(f"x {chunk} x")[1:-1]


@lru_cache(maxsize=MAX_CACHED_WORDS)
def _tokenise_last_word(chunk: str) -> tuple[str, ...]:
    """Return the tokens of a text's last word."""
    return _run_tokenizer(f"x {chunk}")[1:]


def jensen_shannon_divergence(first: Sequence[str], second: Sequence[str]) -> Values:
    """Jensen-Shannon divergence of the texts' tokens, pair by pair; shape [n], 0 (same shares) to 1 (none shared).

    >>> jensen_shannon_divergence(["a red car", "yes"], ["a blue car", "no"]).round(4).tolist()
    [0.3333, 1.0]
    """
    return token_divergence([tokenise(t) for t in first], [tokenise(t) for t in second])


def jensen_shannon_divergence_uncached(first: Sequence[str], second: Sequence[str]) -> Values:
    """As `jensen_shannon_divergence`, without caching the texts' tokens."""
    starts = range(0, len(first), UNCACHED_PAIRS_PER_BATCH)
    parts = [
        token_divergence(
            *(
                [_tokenise_lower_case(text.lower()) for text in side[i : i + UNCACHED_PAIRS_PER_BATCH]]
                for side in (first, second)
            )
        )
        for i in starts
    ]
    return np.concatenate([np.zeros(0), *parts])


def token_divergence(first: Sequence[Tokens], second: Sequence[Tokens]) -> Values:
    """Return (KL(p||m) + KL(q||m)) / 2 of relative frequencies p and q, with m = (p + q) / 2, shape [n].

    Base 2, no smoothing, no square root (Lin 1991; Peinelt et al. 2019, section 3, and the authors' code). Their code
    has no value for a text without tokens. Here the value is 1 against a text with tokens, and 0 against a text without
    tokens.
    """
    if len(first) != len(second):
        raise UsageError(f"{len(first)} first sides and {len(second)} second sides, but they should go in pairs")
    parts = [np.zeros(0)]
    for start in range(0, len(first), PAIRS_PER_BATCH):
        vocabulary: dict[str, int] = {}
        sides = (side[start : start + PAIRS_PER_BATCH] for side in (first, second))
        numbered = [_number_tokens(side, vocabulary) for side in sides]
        parts.append(_divergence_of_counts(*(_count_tokens(*side, len(vocabulary)) for side in numbered)))
    return np.concatenate(parts)


def _number_tokens(side: Sequence[Tokens], vocabulary: dict[str, int]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return the numbers of all tokens in sequence, and the start of each text."""
    number = vocabulary.setdefault
    flat = np.array([number(token, len(vocabulary)) for text in side for token in text], np.int32)
    return flat, np.concatenate([[0], np.cumsum([len(text) for text in side], dtype=np.int64)])


def _count_tokens(flat: NDArray[np.int32], begins: NDArray[np.int64], width: int) -> Any:
    """Return the sparse counts of tokens, shape [texts, distinct tokens]."""
    from scipy.sparse import csr_array

    counts = csr_array((np.ones(len(flat)), flat, begins), shape=(len(begins) - 1, max(width, 1)))
    counts.sum_duplicates()
    return counts


def _divergence_of_counts(first: Any, second: Any) -> Values:
    """Return H(m) - (H(p) + H(q)) / 2, which equals the definition."""
    p, q = _relative_frequencies(first), _relative_frequencies(second)
    result = _row_entropy((p + q) / 2) - (_row_entropy(p) + _row_entropy(q)) / 2
    empty = np.array([table.sum(axis=1) == 0 for table in (first, second)])
    result[empty.any(axis=0)] = 1.0
    result[empty.all(axis=0)] = 0.0
    return np.clip(result, 0.0, 1.0)


def _relative_frequencies(counts: Any) -> Any:
    shares = counts.copy()
    shares.data /= np.repeat(counts.sum(axis=1), np.diff(counts.indptr))
    return shares


def _row_entropy(shares: Any) -> Values:
    """Return entropy in bits, row by row; shape [n]."""
    rows = np.repeat(np.arange(shares.shape[0]), np.diff(shares.indptr))
    return np.bincount(rows, -shares.data * np.log2(shares.data), minlength=shares.shape[0]).astype(np.float64)
