"""Of two documents, each query finds the one that answers it (Weller et al. 2024, NevIR).

Two documents say nearly the same, but for a negation or another word, and so do two queries. Who asks for phones that
are not waterproof wants the other page than who asks for those that are.
"""

from encheck import claim
from encheck.items import contrasts
from encheck.metrics import both_directions, directions_mean
from encheck.metrics.crossed import figures


@claim(
    contrasts,
    property="contrast",
    tells="which of two near-identical documents answers a query",
    metric=both_directions,
    gates=directions_mean,
    aim=0.8,
    source="Weller et al. 2024, NevIR: Negation in Neural Information Retrieval",
    means="Of two pages that differ by a negation or a word, users get the wrong one more often.",
)
def test_each_query_prefers_its_own_document(scores, judge, report):
    """Of two queries and two documents, each query is nearer to the document that is right for it: both, or none."""
    report(*figures(scores))
    judge(both_directions(scores))
