"""A negation reverses the meaning; a word of emphasis in the same place does not (docs/probes.md).

"Is covered" and "is not covered" share almost all their words. Retrieval that ranks them side by side hands a reader,
or a language model, the opposite of the answer.

A pass shows only that *not* moves a vector more than a word of emphasis does, so the rate depends on that word. Whether
the move is a reversal and not mere distance is what the check of the negated antonym asks: there *not* has to bring the
sentence back.
"""

from encheck import claim
from encheck.generators.antonym import negated_antonym, unnegated
from encheck.generators.beside import beside
from encheck.generators.phenomenon import phenomenon
from encheck.items import contrast, crossed
from encheck.metrics import adjusted_rate, both_directions, directions_mean, margin_rate, mean_margin
from encheck.metrics.crossed import figures


@claim(
    contrast(phenomenon("negation", "kept"), phenomenon("negation", "changed")),
    property="negation",
    tells="a negation from an emphasis",
    capability="assertion",
    metric=adjusted_rate.calibrated,
    gates=margin_rate,
    floor=0.5,
    aim=0.8,
    source="docs/probes.md",
    selects=True,
    means='"Is covered" brings up "is not covered" more often.',
    headline=True,
)
def test_negation_is_farther_than_edit_that_keeps_the_meaning(scores, judge, report, epsilon):
    """*Not* moves the sentence farther than a word of emphasis in the same place."""
    report(margin_rate(scores, epsilon=epsilon), margin_rate(scores.calibrated, epsilon=epsilon))
    report(mean_margin(scores), mean_margin(scores.calibrated))
    judge(adjusted_rate(scores.calibrated, epsilon=epsilon))


@claim(
    contrast(negated_antonym, beside(negated_antonym, unnegated)),
    property="negation",
    tells="a negated opposite from the opposite",
    capability="assertion",
    metric=margin_rate.calibrated,
    aim=0.8,
    source="docs/probes.md",
    means='"Not cheap" and "expensive" are recognised as alike less often.',
)
def test_negated_antonym_is_nearer_than_antonym(scores, judge, report, epsilon):
    """ "Open" is nearer to "not closed" than to "closed", although "not closed" has one more word that differs."""
    report(margin_rate(scores, epsilon=epsilon), mean_margin(scores), mean_margin(scores.calibrated))
    judge(margin_rate(scores.calibrated, epsilon=epsilon))


@claim(
    contrast(phenomenon("negation", "kept"), phenomenon("negation", "control")),
    property="negation",
    tells="a rewording that keeps the negation from another statement",
    capability="assertion",
    metric=margin_rate.calibrated,
    floor=0.5,
    aim=0.8,
    source="docs/probes.md",
    selects=True,
    means="Texts that say something else more often rank above texts that keep the negation.",
)
def test_other_statement_is_farther_than_edit_that_keeps_the_negation(scores, judge, report, epsilon):
    """A different statement in the same place is farther than a word of emphasis there."""
    report(margin_rate(scores, epsilon=epsilon), mean_margin(scores), mean_margin(scores.calibrated))
    judge(margin_rate(scores.calibrated, epsilon=epsilon))


@claim(
    crossed("negation"),
    property="negation",
    tells="a statement from its denial",
    capability="assertion",
    metric=both_directions.calibrated,
    gates=directions_mean,
    floor=0.25,
    aim=0.8,
    source="docs/probes.md",
    means="Statements and their denials are mixed up more often, whichever of the two you search for.",
)
def test_negation_is_seen_in_both_directions(scores, judge, report, epsilon):
    """Reversing the statement is farther than a rewording, whichever of the two keeps more of the words."""
    report(*figures(scores.calibrated, epsilon=epsilon))
    judge(both_directions(scores.calibrated, epsilon=epsilon))
