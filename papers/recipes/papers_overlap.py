"""Paper 004 beside its tables: cells by other measures of overlap, spread of the divergence, agreement of people.

Peinelt et al. 2019: Figures 1 and 2, footnote 2 (Jaccard and Dice), section 4 (Fleiss' kappa and its permutation test).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from encheck.language.divergence import tokenise
from encheck.scoring.pairs import DECIMALS, SentencePair

Floats = NDArray[np.float64]
VOTES = 5  # on each pair of PIT-2015's development part
PERMUTATIONS = 9_999
BINS = np.arange(11) / 10


def jaccard(pair: SentencePair) -> float:
    """Shared tokens over all tokens of the two token sets; 0 for two empty ones."""
    first, second = {*tokenise(pair.first)}, {*tokenise(pair.second)}
    return len(first & second) / max(len(first | second), 1)


def dice(pair: SentencePair) -> float:
    """Twice the shared tokens over the sizes of the two token sets; 0 for two empty ones.

    It is 2J / (1 + J) of the Jaccard overlap J, so it puts pairs in the same order.
    """
    first, second = {*tokenise(pair.first)}, {*tokenise(pair.second)}
    return 2 * len(first & second) / max(len(first) + len(second), 1)


def cells_by_overlap(overlap: Floats, labels: Sequence[int], splits: Sequence[str]) -> NDArray[np.int8]:
    """The cell of each pair (0 to 3: Po, Pn, No, Nn) by a similarity, shape [n], cut at the median of each split.

    Overlap is high above the median, so that a pair at the median is of low overlap, as in the authors' code.
    """
    rounded, split_of, is_low = overlap.round(DECIMALS), np.array(splits), np.zeros(len(overlap), np.int8)
    for split in np.unique(split_of):
        inside = split_of == split
        is_low[inside] = rounded[inside] <= round(float(np.median(rounded[inside])), DECIMALS)
    return np.where(np.array(labels) == 1, is_low, 3 - is_low).astype(np.int8)


def spread(divergence: Floats) -> Floats:
    """Percent of the pairs in each tenth of the range of a divergence from 0 to 1; shape [10]."""
    counts, _ = np.histogram(divergence, BINS)
    shares: Floats = 100 * counts / max(len(divergence), 1)
    return shares


def fleiss_kappa(votes: Floats, axis: int = -1) -> Floats:
    """Agreement on two categories beyond chance (Fleiss 1971) of `VOTES` people, over the items of this axis.

    `votes`: how many of them chose the first category.

    >>> fleiss_kappa(np.array([5.0, 0.0, 5.0])).item(), round(fleiss_kappa(np.array([3.0, 2.0])).item(), 2)
    (1.0, -0.2)
    """
    agreed = (votes**2 + (VOTES - votes) ** 2 - VOTES) / (VOTES * (VOTES - 1))
    share = votes.mean(axis=axis) / VOTES
    by_chance = share**2 + (1 - share) ** 2
    kappa: Floats = (agreed.mean(axis=axis) - by_chance) / (1 - by_chance)
    return kappa


def agreement_test(obvious: Floats, non_obvious: Floats, *, seed: int = 0) -> float:
    """How often chance alone gives so much more agreement on obvious pairs: p of a one-sided permutation test.

    Which pairs are obvious is permuted `PERMUTATIONS` times.
    """
    from scipy.stats import permutation_test

    def difference(first: Floats, second: Floats, axis: int) -> Floats:
        return fleiss_kappa(first, axis) - fleiss_kappa(second, axis)

    found = permutation_test(
        (obvious, non_obvious), difference, vectorized=True, alternative="greater", batch=100,
        n_resamples=PERMUTATIONS, rng=np.random.default_rng(seed),
    )  # fmt: skip
    return float(found.pvalue)
