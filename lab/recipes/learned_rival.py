"""A surface rival that learns: which of two texts keeps the meaning, from how either differs from their source.

A logistic regression without an intercept sees the difference of the features of (source, kept) and (source, changed):
exchanged, they get the opposite answer. It learns on some groups of items and answers on the others: of other clusters
(frames), or of other constructions. Nothing here reads meaning, or knows a word but those that deny and how frequent
words are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from difflib import SequenceMatcher

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import Levenshtein, Postfix, Prefix
from sklearn.model_selection import GroupKFold, LeaveOneGroupOut

from encheck.language.lexicon.load import load_lexicon
from encheck.statistics.balancing import mirror_coefficients
from encheck.surface import SURFACE, count_negative_words, tokens

Floats = NDArray[np.float64]
FOLDS = 10
RIDGE = 1.0
NOISE = 1e-9  # of the arithmetic: an answer that is no larger is a tie
AFFIXES = ("un", "in", "im", "dis", "non", "ir", "il")
RARE = 3  # contrasts that a word has to be inserted or deleted in, and one in a hundred: else it is left out


def features(source: str, text: str) -> dict[str, float]:
    """What a pair shows on the surface, besides the similarities in SURFACE."""
    a, b = tokens(source), tokens(text)
    inserted, deleted = list((Counter(b) - Counter(a)).elements()), list((Counter(a) - Counter(b)).elements())
    changes = [part for part in SequenceMatcher(None, a, b, autojunk=False).get_opcodes() if part[0] != "equal"]
    new, old = ([load_lexicon().word_frequency(word) for word in words] or [0.0] for words in (inserted, deleted))
    both = [(x, y) for x in inserted for y in deleted]
    digits = [{c for c in one if c.isdigit()} for one in (source, text)]
    characters, words = len(text) - len(source), len(b) - len(a)
    rarer = float(np.mean(new) - np.mean(old))
    return {
        "characters": characters,
        "size of that": abs(characters),
        "words": words,
        "size of those": abs(words),
        "edit distance of characters": Levenshtein.normalized_distance(source.lower(), text.lower()),
        "changes": len(changes),
        "first change": changes[0][1] / len(a) if changes else 1.0,
        "last change": changes[-1][2] / len(a) if changes else 0.0,
        "inserted": len(inserted),
        "deleted": len(deleted),
        "same first word": a[:1] == b[:1],
        "same last words": a[-2:] == b[-2:],
        "words that deny": count_negative_words(text),
        "frequency of the inserted": float(np.mean(new)),
        "of the rarest": min(new),
        "of the first word": load_lexicon().word_frequency(b[0]) if b else 0.0,
        "inserted less deleted": rarer,
        "size of this": abs(rarer),
        "digits in both or neither": bool(digits[0]) == bool(digits[1]),
        "digits shared": len(digits[0] & digits[1]),
        "stem": max((Prefix.normalized_similarity(x, y) for x, y in both), default=0.0),
        "ending": max((Postfix.normalized_similarity(x, y) for x, y in both), default=0.0),
        "affixes": sum(word.startswith(AFFIXES) for word in inserted),
        "comparatives": sum(word.endswith("er") or word in ("more", "less", "fewer") for word in b),
        "capitals": sum(map(str.isupper, text)),
        "commas": text.count(","),
        "order": order(a, b),
    }


def order(first: Sequence[str], second: Sequence[str]) -> float:
    """Kendall's correlation of the places of the words that either has once; 1 where there are fewer than two."""
    once = [{word for word, count in Counter(words).items() if count == 1} for words in (first, second)]
    places = [second.index(word) for word in first if word in once[0] & once[1]]
    pairs = [x < y for i, x in enumerate(places) for y in places[i + 1 :]]
    return 2 * sum(pairs) / len(pairs) - 1 if pairs else 1.0


def differences(sources: Sequence[str], kept: Sequence[str], changed: Sequence[str]) -> Floats:
    """Features of (source, kept) less those of (source, changed); shape [n, features]."""
    own = [[list(features(s, t).values()) for s, t in zip(sources, side, strict=True)] for side in (kept, changed)]
    columns = [score(sources, kept) - score(sources, changed) for score in SURFACE.values()]
    return np.column_stack([*columns, np.subtract(*(np.array(side, float) for side in own))])


def products(sources: Sequence[str], kept: Sequence[str], changed: Sequence[str]) -> Floats:
    """Which text has more of the source's order, times each word that the texts insert or delete; shape [n, 1 + words].

    A linear rule of these knows that a passive exchanges the order, which is syntax.
    """
    found = []
    for source, *texts in zip(sources, kept, changed, strict=True):
        own = Counter(tokens(source))
        near, far = (
            {*(("inserted", word) for word in words - own), *(("deleted", word) for word in own - words)}
            for words in (Counter(tokens(text)) for text in texts)
        )
        more = np.subtract(*(order(tokens(source), tokens(text)) for text in texts))
        found.append({(): more} | {mark: np.sign(more) * ((mark in near) + (mark in far)) / 2 for mark in near | far})
    counts = Counter(mark for row in found for mark in row)
    fewest = max(RARE, len(found) // 100)
    names = sorted(mark for mark, count in counts.items() if not mark or count >= fewest)
    return np.array([[row.get(name, 0.0) for name in names] for row in found])


def right(differences: Floats, folds: Sequence[str]) -> Floats:
    """Whether the rival is right about each contrast, 1/2 for a tie, learning from the other folds alone; shape [n].

    Contrasts with one name in `folds` are answered together: each name by itself where there are fewer than FOLDS.
    """
    names = len(set(folds))
    split = LeaveOneGroupOut() if names < FOLDS else GroupKFold(FOLDS)
    said = np.zeros(len(differences))
    for known, new in split.split(differences, groups=folds):
        size = np.sqrt((differences[known] ** 2).mean(axis=0)) + NOISE
        said[new] = (differences[new] / size) @ mirror_coefficients(differences[known] / size, ridge=RIDGE)
    return (1 + np.where(np.abs(said) <= NOISE, 0, np.sign(said))) / 2


def null(differences: Floats, folds: Sequence[str], groups: Sequence[str], *, refits: int, seed: int = 0) -> Floats:
    """The share that the rival gets right where nothing is to be learnt; shape [refits].

    Kept and changed text are exchanged in whole groups, by a coin.
    """
    names, at = np.unique(groups, return_inverse=True)
    rng = np.random.default_rng(seed)
    coins = (rng.choice([-1.0, 1.0], len(names))[at, None] for _ in range(refits))
    return np.array([right(differences * coin, folds).mean() for coin in coins])
