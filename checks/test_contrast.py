"""Of two similar documents, each query finds the one that answers it (Weller et al. 2024, NevIR).

The two documents differ only by a negation or another word, and so do the two queries. A user who asks for phones that
are not waterproof wants a different page from one who asks for phones that are.
"""

from encheck import claim
from encheck.items import contrasts
from encheck.metrics import both_directions, directions_mean
from encheck.metrics.crossed import crossed_figures


@claim(
    contrasts,
    property="contrast",
    tells="which of two near-identical documents answers a query",
    metric=both_directions,
    show=(crossed_figures,),
    gates=directions_mean,
    aim=0.8,
    source="Weller et al. 2024, NevIR: Negation in Neural Information Retrieval",
    means="Of two pages that differ by a negation or a word, users get the wrong one more often.",
)
def test_each_query_prefers_its_own_document(judge):
    """Of two queries and two documents, each query is nearer to its own document. Both have to be."""
    judge()
