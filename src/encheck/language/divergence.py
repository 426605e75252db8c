"""Lexical divergence of two texts: the Jensen-Shannon divergence of their words.

Words are those of Peinelt et al. 2019 (Table 5 comes out of these alone): NLTK's Treebank tokens of the lower-cased
text, punctuation kept. A whole data set is computed at once, by sparse tables of counts.
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
_PAIRS_AT_ONCE = 50_000  # what so many need beside the tokens stays within 100 MB
_FEW_PAIRS = 5_000  # whose tokens are held at once where none are kept
_ACROSS = re.compile(r"[\"`]|''|[^\S ]")  # what the tokenizer reads across blanks, or takes for a blank
_CLOSING = re.compile(r"[]).}>\"'»”’]+")  # what may follow the last full stop of a text


@cache
def _tokenizer() -> Any:
    import_nltk()
    from nltk.tokenize.destructive import NLTKWordTokenizer  # plain regular expressions: no data to download

    return NLTKWordTokenizer()


@lru_cache(maxsize=_MAX_TEXTS_KEPT)
def tokenise(text: str) -> tuple[str, ...]:
    """The lower-cased tokens of a text, punctuation kept; no sentence is split, no word left out.

    >>> tokenise("Don't panic, Ann!")
    ('do', "n't", 'panic', ',', 'ann', '!')
    """
    return _tokens(text.lower())


def _tokens(text: str) -> tuple[str, ...]:
    """The tokens of a lower-cased text: of what stands between blanks, one by one, where no rule looks further."""
    chunks = text.split()
    if len(chunks) < 2 or _ACROSS.search(text) or _CLOSING.fullmatch(chunks[-1]):
        return _split(text)
    last = chunks.pop()
    return (*(token for chunk in chunks for token in _inside(chunk)), *_at_end(last))


def _split(text: str) -> tuple[str, ...]:
    return tuple(intern(token) for token in _tokenizer().tokenize(text))


@lru_cache(maxsize=_CHUNKS_KEPT)
def _inside(chunk: str) -> tuple[str, ...]:
    """The tokens of what stands between two blanks, with other words around it."""
    return _split(f"x {chunk} x")[1:-1]


@lru_cache(maxsize=_CHUNKS_KEPT)
def _at_end(chunk: str) -> tuple[str, ...]:
    """The tokens of what stands at the end of a text, after other words."""
    return _split(f"x {chunk}")[1:]


def jsd(first: Sequence[str], second: Sequence[str]) -> Values:
    """Jensen-Shannon divergence of the texts' tokens, pair by pair; shape [n], 0 (same shares) to 1 (none shared).

    >>> jsd(["a red car", "yes"], ["a blue car", "no"]).round(4).tolist()
    [0.3333, 1.0]
    """
    return jsd_of_tokens([tokenise(t) for t in first], [tokenise(t) for t in second])


def jsd_once(first: Sequence[str], second: Sequence[str]) -> Values:
    """As `jsd`, of texts that are not asked for again: their tokens are not kept."""
    starts = range(0, len(first), _FEW_PAIRS)
    parts = [
        jsd_of_tokens(*([_tokens(text.lower()) for text in side[i : i + _FEW_PAIRS]] for side in (first, second)))
        for i in starts
    ]
    return np.concatenate([np.zeros(0), *parts])


def jsd_of_tokens(first: Sequence[Tokens], second: Sequence[Tokens]) -> Values:
    """(KL(p||m) + KL(q||m)) / 2 of relative frequencies p and q, with m = (p + q) / 2; shape [n].

    Base 2, no smoothing, no square root (Lin 1991; Peinelt et al. 2019, section 3, and the authors' code). A text
    without tokens, for which their code has no value, is 1 away from any other and 0 from its like.
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
    """The tokens' numbers one after the other, and where each text begins."""
    number = vocabulary.setdefault
    flat = np.array([number(token, len(vocabulary)) for text in side for token in text], np.int32)
    return flat, np.concatenate([[0], np.cumsum([len(text) for text in side], dtype=np.int64)])


def _counts(flat: NDArray[np.int32], begins: NDArray[np.int64], width: int) -> Any:
    from scipy.sparse import csr_array

    counts = csr_array((np.ones(len(flat)), flat, begins), shape=(len(begins) - 1, max(width, 1)))
    counts.sum_duplicates()
    return counts


def _jsd(first: Any, second: Any) -> Values:
    """H(m) - (H(p) + H(q)) / 2, which is the definition's other form."""
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
    """Bits, row by row; shape [n]."""
    rows = np.repeat(np.arange(shares.shape[0]), np.diff(shares.indptr))
    return np.bincount(rows, -shares.data * np.log2(shares.data), minlength=shares.shape[0]).astype(np.float64)
