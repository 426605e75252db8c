"""Which attribute belongs to which thing decides the meaning (docs/probes.md#fresh-probes).

"A red car and a blue truck" and "a blue car and a red truck" contain the same words. An order, a dose or a rota that
mixes them up is wrong in every line.
"""

from encheck import claim
from encheck.generators.phenomenon import phenomenon
from encheck.items import contrast, crossed
from encheck.metrics import adjusted_rate, both_directions, directions_mean, margin_rate, mean_margin
from encheck.metrics.crossed import figures


@claim(
    crossed("binding"),
    property="binding",
    tells="which attribute belongs to which thing",
    capability="relation",
    family="order",
    metric=both_directions.calibrated,
    gates=directions_mean,
    floor=0.25,
    aim=0.8,
    source="docs/probes.md",
    means='"A red car and a blue truck" and "a blue car and a red truck" are mixed up more often.',
)
def test_attributes_are_seen_in_both_directions(scores, judge, report, epsilon):
    """Swapping the attributes is farther than a rewording, whichever of the two keeps more of the word order."""
    report(*figures(scores.calibrated, epsilon=epsilon))
    judge(both_directions(scores.calibrated, epsilon=epsilon))


@claim(
    contrast(phenomenon("binding", "kept"), phenomenon("binding", "changed")),
    property="binding",
    tells="which attribute belongs to which thing",
    capability="relation",
    family="order",
    metric=adjusted_rate.calibrated,
    gates=margin_rate,
    floor=0.5,
    aim=0.8,
    source="docs/probes.md",
    means="Two orders whose items have swapped colours, sizes or doses pass for the same order more often.",
    headline=True,
)
def test_exchange_of_attributes_is_farther_than_edit_that_keeps_the_meaning(scores, judge, report, epsilon):
    """Swapping the attributes of two things moves the sentence farther than a rewording that keeps them."""
    report(margin_rate(scores, epsilon=epsilon), margin_rate(scores.calibrated, epsilon=epsilon))
    report(mean_margin(scores), mean_margin(scores.calibrated))
    judge(adjusted_rate(scores.calibrated, epsilon=epsilon))


@claim(
    contrast(phenomenon("binding", "kept"), phenomenon("binding", "control")),
    property="binding",
    tells="a rewording that keeps the attributes from another statement",
    capability="relation",
    family="order",
    metric=margin_rate.calibrated,
    floor=0.5,
    aim=0.8,
    source="docs/probes.md",
    means="Texts that say something else more often rank above texts that keep the attributes.",
)
def test_other_statement_is_farther_than_edit_that_keeps_the_attributes(scores, judge, report, epsilon):
    """A different statement in the same construction is farther than a rewording that keeps the attributes."""
    report(margin_rate(scores, epsilon=epsilon), mean_margin(scores), mean_margin(scores.calibrated))
    judge(margin_rate(scores.calibrated, epsilon=epsilon))
