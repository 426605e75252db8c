"""Criterion 4: word order matters (Mahajan et al. 2023, section 4, Figures 2 to 6), and its controls.

An encoder that reads a bag of words cannot tell who did what. Jumbled sentences are not even grammatical: a model that
cannot tell them apart cannot tell apart sentences that differ only in word order.
"""

from encheck import claim
from encheck.generators.jumble import jumble
from encheck.generators.reorder import reorder
from encheck.generators.roles import role_reversal, roles_kept
from encheck.items import against_paraphrase, contrast
from encheck.metrics import adjusted_rate, margin_rate
from encheck.presets import MARGINS, RATES


@claim(
    against_paraphrase(jumble),
    levels=(1, 2, 3),
    property="jumble",
    tells="a rewording of a sentence from its own words jumbled",
    capability="word-order",
    family="order",
    metric=margin_rate.calibrated,
    show=(margin_rate, *MARGINS),
    aim=0.8,
    source="Mahajan et al. 2023, section 4, Figures 2 to 6",
    criterion=4,
    selects=True,
    means="Word salad more often ranks as high as a good paraphrase: word order counts for less.",
)
def test_jumble_is_farther_than_paraphrase(judge):
    """A paraphrase is nearer than a jumble: Sim(S, paraphrase) - Sim(S, jumble) > epsilon.

    A jumble swaps one, two or three pairs of words.
    """
    judge()


@claim(
    contrast(reorder, jumble),
    levels=(1, 2, 3),
    property="jumble",
    tells="a sentence whose parts were moved from one whose words were jumbled",
    capability="word-order",
    family="order",
    metric=adjusted_rate.calibrated,
    show=RATES,
    gates=margin_rate,
    floor=0.5,
    aim=0.9,
    source="docs/reference/checks.md: a control beside criterion 4 of Mahajan et al. 2023",
    selects=True,
    means="A broken sentence is harder to tell from one that was reordered and still means the same.",
    headline=True,
)
def test_jumble_is_farther_than_reorder(judge):
    """A reordering that keeps the meaning is nearer than a jumble of the same words."""
    judge()


@claim(
    contrast(roles_kept, role_reversal),
    property="jumble",
    tells="who did what to whom",
    capability="word-order",
    family="order",
    metric=adjusted_rate.calibrated,
    show=RATES,
    gates=margin_rate,
    floor=0.5,
    aim=0.8,
    source="docs/reference/checks.md: a control beside criterion 4 of Mahajan et al. 2023",
    selects=True,
    means='Who did what to whom is mixed up more often, as in "the client sued the bank".',
)
def test_role_reversal_is_farther_than_reorder(judge):
    """Exchanging who did what to whom moves the sentence farther than a reordering that keeps the meaning."""
    judge()
