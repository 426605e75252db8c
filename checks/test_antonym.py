"""Criterion 3: an antonym reverses the meaning (Mahajan et al. 2023, section 4, Figure 1), and its controls.

A search for "tests that passed" should not bring up "tests that failed", and a duplicate filter should not merge praise
with a complaint. One word reverses the statement, while most of the other words stay.
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
    """A paraphrase is nearer than an antonym: Sim(S, paraphrase) - Sim(S, antonym) > epsilon."""
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
    """When one word is replaced, its synonym leaves the sentence nearer than its antonym does."""
    report(margin_rate(scores, epsilon=epsilon), margin_rate(scores.calibrated, epsilon=epsilon))
    report(mean_margin(scores), mean_margin(scores.calibrated))
    judge(adjusted_rate(scores.calibrated, epsilon=epsilon))


@claim(
    contrast(beside(antonym, control), antonym),
    property="antonym",
    tells="an antonym from an unrelated word",
    metric=margin_rate.calibrated,
    unjudged="the control word fits nowhere, so the figure tells of nonsense and not of opposites",
    source="docs/checks.md: a control beside criterion 3 of Mahajan et al. 2023",
)
def test_antonym_is_farther_than_control(scores, judge, report, epsilon):
    """When one word is replaced, an unrelated word leaves the sentence nearer than an antonym: shown, no verdict."""
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
    means="The model mixes up a statement and its opposite more often, whichever of the two you search for.",
)
def test_antonym_is_seen_in_both_directions(scores, judge, report, epsilon):
    """Of two statements with opposite words, each is nearer to the version with a synonym of its own word."""
    report(*figures(scores.calibrated, epsilon=epsilon))
    judge(both_directions(scores.calibrated, epsilon=epsilon))
