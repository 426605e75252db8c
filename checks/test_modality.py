"""Must and may are not the same, an edit of the same place that keeps it does not (docs/probes.md).

"May" and "must" are the difference between a right and a duty, in contracts, manuals and medical advice.
"""

from encheck import claim
from encheck.generators.phenomenon import phenomenon
from encheck.items import contrast
from encheck.metrics import adjusted_rate, margin_rate, mean_margin


@claim(
    contrast(phenomenon("modality", "kept"), phenomenon("modality", "changed")),
    property="modality",
    metric=adjusted_rate.calibrated,
    gates=margin_rate,
    floor=0.5,
    aim=0.8,
    source="docs/probes.md",
)
def test_other_modality_is_farther_than_edit_that_keeps_the_meaning(scores, judge, report, epsilon):
    """Another modality moves the sentence farther than a word for the same modality."""
    report(margin_rate(scores, epsilon=epsilon), margin_rate(scores.calibrated, epsilon=epsilon))
    report(mean_margin(scores), mean_margin(scores.calibrated))
    judge(adjusted_rate(scores.calibrated, epsilon=epsilon))


@claim(
    contrast(phenomenon("modality", "kept"), phenomenon("modality", "control")),
    property="modality",
    metric=margin_rate.calibrated,
    floor=0.5,
    aim=0.8,
    source="docs/probes.md",
)
def test_unrelated_word_is_farther_than_edit_that_keeps_the_modality(scores, judge, report, epsilon):
    """An unrelated word in the same place moves the sentence farther than a word for the same modality.

    The word fits nowhere, so this shows that nonsense is heard, and not what the edit does to the meaning.
    """
    report(margin_rate(scores, epsilon=epsilon), mean_margin(scores), mean_margin(scores.calibrated))
    judge(margin_rate(scores.calibrated, epsilon=epsilon))
