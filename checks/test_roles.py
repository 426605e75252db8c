"""Who does what to whom decides the meaning; how it is told does not (docs/probes.md).

"The client sued the bank" and "the bank sued the client" contain the same words. Who did what to whom is most of what a
sentence says.
"""

from encheck import claim
from encheck.generators.phenomenon import phenomenon
from encheck.items import contrast, crossed
from encheck.metrics import adjusted_rate, both_directions, directions_mean, margin_rate, mean_margin
from encheck.metrics.crossed import figures


@claim(
    contrast(phenomenon("role_reversal", "kept"), phenomenon("role_reversal", "changed")),
    property="roles",
    tells="who did what to whom",
    capability="relation",
    family="order",
    metric=adjusted_rate.calibrated,
    gates=margin_rate,
    floor=0.5,
    aim=0.8,
    source="docs/probes.md",
    selects=True,
    means='"The bank sued the client" brings up "the client sued the bank" more often.',
    headline=True,
)
def test_exchange_of_roles_is_farther_than_edit_that_keeps_the_meaning(scores, judge, report, epsilon):
    """Swapping who did what to whom moves the sentence farther than a rewording that keeps the roles."""
    report(margin_rate(scores, epsilon=epsilon), margin_rate(scores.calibrated, epsilon=epsilon))
    report(mean_margin(scores), mean_margin(scores.calibrated))
    judge(adjusted_rate(scores.calibrated, epsilon=epsilon))


@claim(
    contrast(phenomenon("role_reversal", "kept"), phenomenon("role_reversal", "control")),
    property="roles",
    tells="a rewording that keeps the roles from another statement",
    capability="relation",
    family="order",
    metric=margin_rate.calibrated,
    floor=0.5,
    aim=0.8,
    source="docs/probes.md",
    selects=True,
    means="Texts that say something else more often rank above texts that keep the roles.",
)
def test_other_statement_is_farther_than_edit_that_keeps_the_roles(scores, judge, report, epsilon):
    """A different statement in the same place is farther than a rewording that keeps the roles."""
    report(margin_rate(scores, epsilon=epsilon), mean_margin(scores), mean_margin(scores.calibrated))
    judge(margin_rate(scores.calibrated, epsilon=epsilon))


@claim(
    crossed("role_reversal"),
    property="roles",
    tells="who did what to whom",
    capability="relation",
    family="order",
    metric=both_directions.calibrated,
    gates=directions_mean,
    floor=0.25,
    aim=0.8,
    source="docs/probes.md",
    selects=True,
    means="Who did what to whom is mixed up more often, whichever of the two you search for.",
)
def test_roles_are_seen_in_both_directions(scores, judge, report, epsilon):
    """Swapping the roles is farther than a rewording, whichever of the two keeps more of the word order."""
    report(*figures(scores.calibrated, epsilon=epsilon))
    judge(both_directions(scores.calibrated, epsilon=epsilon))
