"""Which of two things is more of something decides the meaning (docs/probes.md#fresh-probes).

"The tram is faster than the bus" means the same as "the bus is slower than the tram", and the opposite of "the bus is
faster than the tram". Reviews, tests and price lists are full of comparisons.
"""

from encheck import claim
from encheck.generators.phenomenon import phenomenon
from encheck.items import contrast, crossed
from encheck.metrics import adjusted_rate, both_directions, directions_mean, margin_rate, mean_margin
from encheck.metrics.crossed import figures


@claim(
    crossed("comparative"),
    property="comparative",
    tells="which of two things is faster, dearer or better",
    capability="relation",
    family="order",
    metric=both_directions.calibrated,
    gates=directions_mean,
    floor=0.25,
    aim=0.8,
    source="docs/probes.md",
    means="Texts that say which of two things is faster, dearer or better are mixed up with their opposite more often.",
)
def test_comparisons_are_seen_in_both_directions(scores, judge, report, epsilon):
    """Reversing a comparison is farther than a rewording, whichever of the two keeps more of the word order."""
    report(*figures(scores.calibrated, epsilon=epsilon))
    judge(both_directions(scores.calibrated, epsilon=epsilon))


@claim(
    contrast(phenomenon("comparative", "kept"), phenomenon("comparative", "changed")),
    property="comparative",
    tells="which of two things is faster, dearer or better",
    capability="relation",
    family="order",
    metric=adjusted_rate.calibrated,
    gates=margin_rate,
    floor=0.5,
    aim=0.8,
    source="docs/probes.md",
    means="A review that prefers A to B passes for one that prefers B to A more often.",
    headline=True,
)
def test_exchange_of_comparison_is_farther_than_edit_that_keeps_the_meaning(scores, judge, report, epsilon):
    """Reversing a comparison moves the sentence farther than a rewording that keeps it."""
    report(margin_rate(scores, epsilon=epsilon), margin_rate(scores.calibrated, epsilon=epsilon))
    report(mean_margin(scores), mean_margin(scores.calibrated))
    judge(adjusted_rate(scores.calibrated, epsilon=epsilon))


@claim(
    contrast(phenomenon("comparative", "kept"), phenomenon("comparative", "control")),
    property="comparative",
    tells="a rewording that keeps the comparison from another statement",
    capability="relation",
    family="order",
    metric=margin_rate.calibrated,
    floor=0.5,
    aim=0.8,
    source="docs/probes.md",
    means="Texts that say something else more often rank above texts that keep the comparison.",
)
def test_other_statement_is_farther_than_edit_that_keeps_the_comparison(scores, judge, report, epsilon):
    """A different statement in the same construction is farther than a rewording that keeps the comparison."""
    report(margin_rate(scores, epsilon=epsilon), mean_margin(scores), mean_margin(scores.calibrated))
    judge(margin_rate(scores.calibrated, epsilon=epsilon))
