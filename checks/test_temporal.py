"""What came first decides the meaning, an edit of the same place that keeps it does not (docs/probes.md).

"After" and "before" decide causes, liabilities and instructions; the two orders of events share all their other
words.
"""

from encheck import claim
from encheck.generators.phenomenon import phenomenon
from encheck.items import contrast
from encheck.metrics import margin_rate, mean_margin


@claim(
    contrast(phenomenon("temporal", "kept"), phenomenon("temporal", "changed")),
    property="temporal",
    metric=margin_rate.calibrated,
    aim=0.8,
    source="docs/probes.md",
)
def test_other_order_of_events_is_farther_than_edit_that_keeps_the_meaning(scores, judge, report, epsilon):
    """The order of events turned round moves the sentence farther than the same order told the other way round."""
    report(margin_rate(scores, epsilon=epsilon), mean_margin(scores), mean_margin(scores.calibrated))
    judge(margin_rate(scores.calibrated, epsilon=epsilon))


@claim(
    contrast(phenomenon("temporal", "kept"), phenomenon("temporal", "control")),
    property="temporal",
    metric=margin_rate.calibrated,
    aim=0.8,
    source="docs/probes.md",
)
def test_unrelated_word_is_farther_than_edit_that_keeps_the_order_of_events(scores, judge, report, epsilon):
    """An unrelated word in the same place moves the sentence farther than the same order told the other way round.

    The word fits nowhere, so this shows that nonsense is heard, and not what the edit does to the meaning.
    """
    report(margin_rate(scores, epsilon=epsilon), mean_margin(scores), mean_margin(scores.calibrated))
    judge(margin_rate(scores.calibrated, epsilon=epsilon))
