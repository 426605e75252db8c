"""Another number is another fact; another notation of the same number is not (docs/probes.md).

Doses, prices, dates and limits are one token each. Two texts that differ only there state different facts.
"""

from encheck import claim
from encheck.generators.phenomenon import phenomenon
from encheck.items import contrast, crossed
from encheck.metrics import adjusted_rate, both_directions, directions_mean, margin_rate, mean_margin
from encheck.metrics.crossed import figures


@claim(
    contrast(phenomenon("number", "kept"), phenomenon("number", "changed")),
    property="number",
    tells="another number from the same number written otherwise",
    capability="facts",
    metric=adjusted_rate.calibrated,
    gates=margin_rate,
    floor=0.5,
    aim=0.8,
    source="docs/probes.md",
    selects=True,
    means="A wrong dose, price, date or limit passes for the right one more often.",
    headline=True,
)
def test_other_number_is_farther_than_edit_that_keeps_the_meaning(scores, judge, report, epsilon):
    """Another number moves the sentence farther than the same number in another notation."""
    report(margin_rate(scores, epsilon=epsilon), margin_rate(scores.calibrated, epsilon=epsilon))
    report(mean_margin(scores), mean_margin(scores.calibrated))
    judge(adjusted_rate(scores.calibrated, epsilon=epsilon))


@claim(
    contrast(phenomenon("number", "kept"), phenomenon("number", "control")),
    property="number",
    tells="the same number written otherwise from another statement",
    capability="facts",
    metric=margin_rate.calibrated,
    floor=0.5,
    aim=0.8,
    source="docs/probes.md",
    selects=True,
    means="Texts that say something else more often rank above texts that keep the number.",
)
def test_other_statement_is_farther_than_edit_that_keeps_the_number(scores, judge, report, epsilon):
    """A different statement in the same place is farther than the same number in another notation."""
    report(margin_rate(scores, epsilon=epsilon), mean_margin(scores), mean_margin(scores.calibrated))
    judge(margin_rate(scores.calibrated, epsilon=epsilon))


@claim(
    crossed("number"),
    property="number",
    tells="one number from another",
    capability="facts",
    metric=both_directions.calibrated,
    gates=directions_mean,
    floor=0.25,
    aim=0.8,
    source="docs/probes.md",
    means="Texts that differ by a dose, price or date are mixed up more often.",
)
def test_number_is_seen_in_both_directions(scores, judge, report, epsilon):
    """Of two sentences with different numbers, each is nearer to its own number in another notation."""
    report(*figures(scores.calibrated, epsilon=epsilon))
    judge(both_directions(scores.calibrated, epsilon=epsilon))
