"""Another quantifier changes the meaning; other words for the same quantifier do not (docs/probes.md).

"All", "some" and "none" decide whether a claim follows from a text, which is the question in fact checking and policy
search.
"""

from encheck import claim
from encheck.generators.phenomenon import phenomenon
from encheck.items import contrast, crossed
from encheck.metrics import adjusted_rate, both_directions, directions_mean, margin_rate, mean_margin
from encheck.metrics.crossed import figures


@claim(
    contrast(phenomenon("quantifier", "kept"), phenomenon("quantifier", "changed")),
    property="quantifier",
    tells="all from some, and some from none",
    capability="facts",
    metric=adjusted_rate.calibrated,
    gates=margin_rate,
    floor=0.5,
    aim=0.8,
    source="docs/probes.md",
    means='"All plans include it" brings up "some plans include it" more often.',
    headline=True,
)
def test_other_quantifier_is_farther_than_edit_that_keeps_the_meaning(scores, judge, report, epsilon):
    """Another quantifier moves the sentence farther than other words for the same quantifier."""
    report(margin_rate(scores, epsilon=epsilon), margin_rate(scores.calibrated, epsilon=epsilon))
    report(mean_margin(scores), mean_margin(scores.calibrated))
    judge(adjusted_rate(scores.calibrated, epsilon=epsilon))


@claim(
    contrast(phenomenon("quantifier", "kept"), phenomenon("quantifier", "control")),
    property="quantifier",
    tells="a rewording that keeps the quantifier from another statement",
    capability="facts",
    metric=margin_rate.calibrated,
    floor=0.5,
    aim=0.8,
    source="docs/probes.md",
    means="Texts that say something else more often rank above texts that keep the quantifier.",
)
def test_other_statement_is_farther_than_edit_that_keeps_the_quantifier(scores, judge, report, epsilon):
    """A different statement in the same place is farther than other words for the same quantifier."""
    report(margin_rate(scores, epsilon=epsilon), mean_margin(scores), mean_margin(scores.calibrated))
    judge(margin_rate(scores.calibrated, epsilon=epsilon))


@claim(
    crossed("quantifier"),
    property="quantifier",
    tells="all from some, and some from none",
    capability="facts",
    metric=both_directions.calibrated,
    gates=directions_mean,
    floor=0.25,
    aim=0.8,
    source="docs/probes.md",
    means='Texts that say "all", "some" and "none" are mixed up more often.',
)
def test_quantifier_is_seen_in_both_directions(scores, judge, report, epsilon):
    """Of two sentences with different quantifiers, each is nearer to its own rewording."""
    report(*figures(scores.calibrated, epsilon=epsilon))
    judge(both_directions(scores.calibrated, epsilon=epsilon))
