"""Criterion 3: an antonym reverses the meaning (Mahajan et al. 2023, section 4, Figure 1), and its controls.

A search for "tests that passed" should not bring up "tests that failed", and a duplicate filter should not merge praise
with a complaint. One word reverses the statement, while most of the other words stay.
"""

from encheck import claim
from encheck.generators.antonym import antonym
from encheck.generators.base import beside
from encheck.generators.control import control
from encheck.generators.synonym import synonym_beside
from encheck.items import against_paraphrase, contrast
from encheck.metrics import adjusted_rate, margin_rate
from encheck.presets import MARGINS, RATES, declare_both_directions


@claim(
    against_paraphrase(antonym),
    property="antonym",
    tells="a rewording of a sentence from its opposite",
    metric=margin_rate.calibrated,
    show=(margin_rate, *MARGINS),
    aim=0.8,
    source="Mahajan et al. 2023, section 4, Figure 1",
    criterion=3,
    selects=True,
    means="A search for one statement more often ranks its opposite above the same statement in other words.",
)
def test_antonym_is_farther_than_paraphrase(judge):
    """A paraphrase is nearer than an antonym: Sim(S, paraphrase) - Sim(S, antonym) > epsilon."""
    judge()


@claim(
    contrast(beside(antonym, synonym_beside), antonym),
    property="antonym",
    tells="a synonym from an antonym",
    metric=adjusted_rate.calibrated,
    show=RATES,
    gates=margin_rate,
    floor=0.5,
    aim=0.9,
    source="docs/reference/checks.md: a control beside criterion 3 of Mahajan et al. 2023",
    selects=True,
    means="Results that say the opposite crowd out results that use another word for the same thing.",
    headline=True,
)
def test_antonym_is_farther_than_synonym_of_the_same_word(judge):
    """When one word is replaced, its synonym leaves the sentence nearer than its antonym does."""
    judge()


@claim(
    contrast(beside(antonym, control), antonym),
    property="antonym",
    tells="an antonym from an unrelated word",
    metric=margin_rate.calibrated,
    show=(margin_rate, *MARGINS),
    unjudged="the control word rarely fits, so the figure is about nonsense and not about opposites",
    source="docs/reference/checks.md: a control beside criterion 3 of Mahajan et al. 2023",
)
def test_antonym_is_farther_than_control(judge):
    """When one word is replaced, an unrelated word leaves the sentence nearer than an antonym does. This has no
    verdict.
    """
    judge()


@declare_both_directions(
    "antonym",
    tells="a statement from its opposite",
    means="The model mixes up a statement and its opposite more often, whichever of the two you search for.",
)
def test_antonym_is_seen_in_both_directions(judge):
    """Of two statements with opposite words, each is nearer to the version with a synonym of its own word."""
    judge()
