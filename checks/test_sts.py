"""Similarity is graded as people grade it (Agirre et al. 2012 to 2016, Cer et al. 2017: SemEval's STS tasks).

Thresholds and rankings use the score as a degree. It should grow as people say that the meaning does; published
benchmarks measure this, so it is the bridge to them.
"""

from encheck import claim
from encheck.items import graded_pairs
from encheck.metrics.correlation import (
    by_set,
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
    floor="surface",
    aim=0.7,
    source="Agirre et al. 2012 to 2016, Cer et al. 2017",
    part="test",
    headline=True,
)
def test_similarity_ranks_pairs_as_people_do(scores, judge, report):
    """Scores and people's judgments put the pairs in the same order, all of them together."""
    report(*by_set(scores), mean_spearman(scores), mean_pearson(scores), pearson(scores))
    report(weighted_mean_spearman(scores), weighted_mean_pearson(scores))
    judge(spearman(scores))
