"""Must and may are not the same; other words for either are (docs/probes.md).

"May" and "must" are the difference between a right and a duty, in contracts, manuals and medical advice.
"""

from encheck import claim
from encheck.generators.phenomenon import phenomenon
from encheck.items import contrast, crossed
from encheck.metrics import adjusted_rate, both_directions, directions_mean, margin_rate, mean_margin
from encheck.metrics.crossed import figures


@claim(
    contrast(phenomenon("modality", "kept"), phenomenon("modality", "changed")),
    property="modality",
    tells="a duty from an option",
    capability="assertion",
    metric=adjusted_rate.calibrated,
    gates=margin_rate,
    floor=0.5,
    aim=0.8,
    source="docs/probes.md",
    means='Duties and options are mixed up more often: "must report" is found for "may report".',
    headline=True,
)
def test_other_modality_is_farther_than_edit_that_keeps_the_meaning(scores, judge, report, epsilon):
    """Another modality moves the sentence farther than other words for the same modality."""
    report(margin_rate(scores, epsilon=epsilon), margin_rate(scores.calibrated, epsilon=epsilon))
    report(mean_margin(scores), mean_margin(scores.calibrated))
    judge(adjusted_rate(scores.calibrated, epsilon=epsilon))


@claim(
    contrast(phenomenon("modality", "kept"), phenomenon("modality", "control")),
    property="modality",
    tells="a rewording that keeps the modality from another statement",
    capability="assertion",
    metric=margin_rate.calibrated,
    floor=0.5,
    aim=0.8,
    source="docs/probes.md",
    means="Texts that say something else more often rank above texts that keep the modality.",
)
def test_other_statement_is_farther_than_edit_that_keeps_the_modality(scores, judge, report, epsilon):
    """A different statement in the same place is farther than other words for the same modality."""
    report(margin_rate(scores, epsilon=epsilon), mean_margin(scores), mean_margin(scores.calibrated))
    judge(margin_rate(scores.calibrated, epsilon=epsilon))


@claim(
    crossed("modality"),
    property="modality",
    tells="a duty from an option",
    capability="assertion",
    metric=both_directions.calibrated,
    gates=directions_mean,
    floor=0.25,
    aim=0.8,
    source="docs/probes.md",
    means='Texts that say "must" and texts that say "may" are mixed up more often.',
)
def test_modality_is_seen_in_both_directions(scores, judge, report, epsilon):
    """Of two sentences that differ in modality, each is nearer to its own rewording."""
    report(*figures(scores.calibrated, epsilon=epsilon))
    judge(both_directions(scores.calibrated, epsilon=epsilon))
