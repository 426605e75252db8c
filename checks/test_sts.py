"""Similarity is graded as people grade it (Agirre et al. 2012 to 2016, Cer et al. 2017: SemEval's STS tasks).

Thresholds and rankings use the score as a degree. So it should be higher where people judge the meanings to be more
alike. Published benchmarks measure this too, so you can compare the figures.
"""

from encheck import claim
from encheck.items import graded_pairs
from encheck.metrics.correlation import (
    figures_by_set,
    mean_pearson,
    mean_spearman,
    pearson,
    spearman,
    weighted_mean_pearson,
    weighted_mean_spearman,
)


@claim(
    graded_pairs,
    property="sts",
    family="meaning kept",
    metric=spearman,
    show=(figures_by_set, mean_spearman, mean_pearson, pearson, weighted_mean_spearman, weighted_mean_pearson),
    floor="surface",
    aim=0.7,
    source="Agirre et al. 2012 to 2016, Cer et al. 2017",
    part="test",
    headline=True,
)
def test_similarity_ranks_pairs_as_people_do(judge):
    """Scores rank all pairs together in the same order as people's judgements do."""
    judge()
