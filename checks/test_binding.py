"""Which attribute belongs to which thing decides the meaning (docs/probes.md#fresh-probes).

"A red car and a blue truck" and "a blue car and a red truck" hold the same words. An order, a dose or a rota that mixes
them up is wrong in every line.
"""

from encheck import claim
from encheck.items import crossed
from encheck.metrics import both_directions, directions_mean
from encheck.metrics.crossed import figures


@claim(
    crossed("binding"),
    property="binding",
    family="order",
    metric=both_directions.calibrated,
    gates=directions_mean,
    aim=0.8,
    source="docs/probes.md",
)
def test_attributes_are_seen_in_both_directions(scores, judge, report, epsilon):
    """Whichever of the two edits keeps more of the word order, the one that exchanges the attributes is farther."""
    report(*figures(scores.calibrated, epsilon=epsilon))
    judge(both_directions(scores.calibrated, epsilon=epsilon))
