"""Scores follow the meaning where word overlap misleads (Peinelt et al. 2019, sections 4 and 5, Tables 3, 5 and 6 to
8).

In the usual data sets, shared words are enough to classify most pairs, so a benchmark score on them says little. In the
pairs of this check, word overlap points to the wrong class.
"""

from encheck import claim
from encheck.items import labelled_pairs
from encheck.metrics.nonobvious import auc_n, nonobvious_figures, predict_test_part


@claim(
    labelled_pairs,
    property="nonobvious",
    tells="a paraphrase in other words from a lookalike",
    family="meaning kept",
    metric=auc_n,
    show=(nonobvious_figures,),
    aim=0.6,
    source="Peinelt et al. 2019, sections 4 and 5, Tables 3, 5 and 6 to 8",
    part="test",
    pictures=("divergence",),
    headline=True,
)
def test_unlike_paraphrase_is_nearer_than_lookalike(scores, judge, median_scope):
    """A paraphrase in other words (Pn) is nearer than a non-paraphrase in the same words (Nn)."""
    judge(predict_test_part(scores, scope=median_scope))
