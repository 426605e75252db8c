"""A property of your own, tested by your triplets or your contrasts of queries (docs/tasks/own-tests.md).

Your application may depend on a property that encheck does not test. Thirty rows are enough to define one.
"""

from encheck import claim
from encheck.items import OwnProperty
from encheck.metrics import both_directions, directions_mean, margin_rate, mean_margin
from encheck.metrics.crossed import crossed_figures

UNJUDGED = "a property of your own: set a threshold for how often a model should be right"


@claim(
    OwnProperty("triplets"),
    property="own",
    metric=margin_rate.calibrated,
    show=(margin_rate, mean_margin, mean_margin.calibrated),
    gates=margin_rate,
    unjudged=UNJUDGED,
    source="docs/tasks/own-tests.md",
    means="Your texts that differ in this property are mixed up more often.",
)
def test_positive_is_nearer_than_negative(judge):
    """The anchor of a triplet is nearer to its positive than to its negative."""
    judge()


@claim(
    OwnProperty("contrast"),
    property="own",
    metric=both_directions,
    show=(crossed_figures,),
    gates=directions_mean,
    unjudged=UNJUDGED,
    source="docs/tasks/own-tests.md",
    means="Of two documents that differ in this property, users get the wrong one more often.",
)
def test_query_prefers_its_own_document(judge):
    """Of two queries and two documents, each query is nearer to its own document. A row counts only if both are."""
    judge()
