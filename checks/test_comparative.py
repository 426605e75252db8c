"""Which of two things is more of something decides the meaning (docs/probes.md#fresh-probes).

"The tram is faster than the bus" says what "the bus is slower than the tram" says, and the opposite of "the bus is
faster than the tram". Comparisons are most of what reviews, tests and price lists say.
"""

from encheck import claim
from encheck.items import crossed
from encheck.metrics import both_directions, directions_mean
from encheck.metrics.crossed import figures


@claim(
    crossed("comparative"),
    property="comparative",
    family="order",
    metric=both_directions.calibrated,
    gates=directions_mean,
    aim=0.8,
    source="docs/probes.md",
)
def test_comparisons_are_seen_in_both_directions(scores, judge, report, epsilon):
    """Whichever of the two edits keeps more of the word order, the one that turns the comparison round is farther."""
    report(*figures(scores.calibrated, epsilon=epsilon))
    judge(both_directions(scores.calibrated, epsilon=epsilon))
