"""Criterion 3: an antonym turns the meaning (Mahajan et al. 2023, section 4, Figure 1), and its controls.

A search for "tests that passed" that brings up "tests that failed", a duplicate filter that merges a praise with a
complaint: one word turns the statement, and most of the other words stay.
"""

from encheck import claim
from encheck.generators.antonym import antonym
from encheck.generators.beside import beside
from encheck.generators.control import control
from encheck.generators.synonym import synonym_beside
from encheck.items import against_paraphrase, contrast, crossed
from encheck.metrics import adjusted_rate, both_directions, directions_mean, margin_rate, mean_margin
from encheck.metrics.crossed import figures


@claim(
    against_paraphrase(antonym),
    property="antonym",
    tells="a rewording of a sentence from its opposite",
    metric=margin_rate.calibrated,
    aim=0.8,
    source="Mahajan et al. 2023, section 4, Figure 1",
    criterion=3,
    selects=True,
    means="A search for one statement more often ranks its opposite above the same statement in other words.",
)
def test_antonym_is_farther_than_paraphrase(scores, judge, report, epsilon):
    """Sim(S, paraphrase) - Sim(S, antonym) > epsilon."""
    report(margin_rate(scores, epsilon=epsilon), mean_margin(scores), mean_margin(scores.calibrated))
    judge(margin_rate(scores.calibrated, epsilon=epsilon))


@claim(
    contrast(beside(antonym, synonym_beside), antonym),
    property="antonym",
    tells="a synonym from an antonym",
    metric=adjusted_rate.calibrated,
    gates=margin_rate,
    floor=0.5,
    aim=0.9,
    source="docs/checks.md: a control beside criterion 3 of Mahajan et al. 2023",
    selects=True,
    means="Results that say the opposite crowd out results that use another word for the same thing.",
    headline=True,
)
def test_antonym_is_farther_than_synonym_of_the_same_word(scores, judge, report, epsilon):
    """Of two edits of one word, the synonym leaves the sentence nearer than the antonym."""
    report(margin_rate(scores, epsilon=epsilon), margin_rate(scores.calibrated, epsilon=epsilon))
    report(mean_margin(scores), mean_margin(scores.calibrated))
    judge(adjusted_rate(scores.calibrated, epsilon=epsilon))


@claim(
    contrast(beside(antonym, control), antonym),
    property="antonym",
    tells="an antonym from an unrelated word",
    metric=margin_rate.calibrated,
    unjudged="the control fits nowhere: an antonym that is farther tells of nonsense and not of opposites",
    source="docs/checks.md: a control beside criterion 3 of Mahajan et al. 2023",
)
def test_antonym_is_farther_than_control(scores, judge, report, epsilon):
    """Of two edits of one word, an unrelated word leaves the sentence nearer than the antonym: shown, no verdict."""
    report(margin_rate(scores, epsilon=epsilon), mean_margin(scores), mean_margin(scores.calibrated))
    judge(margin_rate(scores.calibrated, epsilon=epsilon))


@claim(
    crossed("antonym"),
    property="antonym",
    tells="a statement from its opposite",
    metric=both_directions.calibrated,
    gates=directions_mean,
    floor=0.25,
    aim=0.8,
    source="docs/probes.md",
    means="The model mixes up a statement and its opposite more often, whichever of the two is asked for.",
)
def test_antonym_is_seen_in_both_directions(scores, judge, report, epsilon):
    """Of two opposites, each source is nearer to the synonym of its own word."""
    report(*figures(scores.calibrated, epsilon=epsilon))
    judge(both_directions(scores.calibrated, epsilon=epsilon))
