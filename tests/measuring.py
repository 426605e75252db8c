"""Scores of crossed items by the vectors of an encoder, as a run measures them."""

from encheck.scoring.scores import CrossedScores, Scale
from encheck.similarity import cosine
from encheck.statistics.bootstrap import Resampler


class Vectors:
    """Pairs scored by the vectors of an encoder."""

    head_threshold = None

    def __init__(self, encoder):
        self.encoder = encoder

    def score_pairs(self, first, second):
        return cosine(self.encoder.encode(first), self.encoder.encode(second)).astype(float)


def measured(items, by):
    """Scores of these items by `Vectors`; calibrated by a scale of one tenth."""
    return CrossedScores.score_items(items, by, Resampler([i.cluster for i in items]), Scale(0.1))
