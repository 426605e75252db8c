"""What holds if and what holds unless are opposites (docs/generators.md).

"If" and "unless" decide when a rule applies, in contracts, manuals and medical advice. The embedded probes contain no
conditions: with --experimental, they are made from your own text.
"""

from encheck import claim
from encheck.generators.phenomenon import phenomenon
from encheck.items import contrast, crossed
from encheck.metrics import adjusted_rate, both_directions, directions_mean, margin_rate, mean_margin
from encheck.metrics.crossed import figures


@claim(
    contrast(phenomenon("condition", "kept"), phenomenon("condition", "changed")),
    property="condition",
    tells="a condition from its exception",
    capability="assertion",
    metric=adjusted_rate.calibrated,
    gates=margin_rate,
    floor=0.5,
    aim=0.8,
    source="docs/generators.md",
    means='Rules and their exceptions are mixed up more often: "if it rains" is found for "unless it rains".',
)
def test_other_condition_is_farther_than_edit_that_keeps_the_meaning(scores, judge, report, epsilon):
    """Turning a condition into its exception moves the sentence farther than a rewording of the condition."""
    report(margin_rate(scores, epsilon=epsilon), margin_rate(scores.calibrated, epsilon=epsilon))
    report(mean_margin(scores), mean_margin(scores.calibrated))
    judge(adjusted_rate(scores.calibrated, epsilon=epsilon))


@claim(
    contrast(phenomenon("condition", "kept"), phenomenon("condition", "control")),
    property="condition",
    tells="a rewording that keeps the condition from another statement",
    capability="assertion",
    metric=margin_rate.calibrated,
    floor=0.5,
    aim=0.8,
    source="docs/generators.md",
    means="Texts that say something else more often rank above texts that keep the condition.",
)
def test_other_statement_is_farther_than_edit_that_keeps_the_condition(scores, judge, report, epsilon):
    """A different statement in the same place is farther than a rewording that keeps the condition."""
    report(margin_rate(scores, epsilon=epsilon), mean_margin(scores), mean_margin(scores.calibrated))
    judge(margin_rate(scores.calibrated, epsilon=epsilon))


@claim(
    crossed("condition"),
    property="condition",
    tells="a condition from its exception",
    capability="assertion",
    metric=both_directions.calibrated,
    gates=directions_mean,
    floor=0.25,
    aim=0.8,
    source="docs/generators.md",
    means='Texts that say "if" and texts that say "unless" are mixed up more often.',
)
def test_condition_is_seen_in_both_directions(scores, judge, report, epsilon):
    """Of a condition and its exception, each is nearer to its own rewording."""
    report(*figures(scores.calibrated, epsilon=epsilon))
    judge(both_directions(scores.calibrated, epsilon=epsilon))
