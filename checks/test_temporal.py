"""What came first decides the meaning; how it is told does not (docs/probes.md).

"After" and "before" decide causes, liabilities and instructions, yet the two orders of events share all their other
words.
"""

from encheck import claim
from encheck.generators.phenomenon import phenomenon
from encheck.items import contrast, crossed
from encheck.metrics import adjusted_rate, both_directions, directions_mean, margin_rate, mean_margin
from encheck.metrics.crossed import figures


@claim(
    contrast(phenomenon("temporal", "kept"), phenomenon("temporal", "changed")),
    property="temporal",
    tells="what happened first",
    capability="relation",
    family="order",
    metric=adjusted_rate.calibrated,
    gates=margin_rate,
    floor=0.5,
    aim=0.8,
    source="docs/probes.md",
    means='"Paid before it was due" brings up "paid after it was due" more often.',
    headline=True,
)
def test_other_order_of_events_is_farther_than_edit_that_keeps_the_meaning(scores, judge, report, epsilon):
    """Reversing the order of events moves the sentence farther than a rewording that keeps it."""
    report(margin_rate(scores, epsilon=epsilon), margin_rate(scores.calibrated, epsilon=epsilon))
    report(mean_margin(scores), mean_margin(scores.calibrated))
    judge(adjusted_rate(scores.calibrated, epsilon=epsilon))


@claim(
    contrast(phenomenon("temporal", "kept"), phenomenon("temporal", "control")),
    property="temporal",
    tells="a rewording that keeps the order of events from another statement",
    capability="relation",
    family="order",
    metric=margin_rate.calibrated,
    aim=0.8,
    source="docs/probes.md",
    means="Texts that say something else more often rank above texts that keep the order of events.",
)
def test_other_statement_is_farther_than_edit_that_keeps_the_order_of_events(scores, judge, report, epsilon):
    """A different statement in the same place is farther than a rewording that keeps the order of events."""
    report(margin_rate(scores, epsilon=epsilon), mean_margin(scores), mean_margin(scores.calibrated))
    judge(margin_rate(scores.calibrated, epsilon=epsilon))


@claim(
    crossed("temporal"),
    property="temporal",
    tells="what happened first",
    capability="relation",
    family="order",
    metric=both_directions.calibrated,
    gates=directions_mean,
    floor=0.25,
    aim=0.8,
    source="docs/probes.md",
    means="Texts that differ in what came first are mixed up more often.",
)
def test_order_of_events_is_seen_in_both_directions(scores, judge, report, epsilon):
    """Reversing the events is farther than a rewording, whichever of the two keeps more of the word order."""
    report(*figures(scores.calibrated, epsilon=epsilon))
    judge(both_directions(scores.calibrated, epsilon=epsilon))
