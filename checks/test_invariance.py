"""An edit that keeps the meaning moves a sentence less than a change of meaning (Ribeiro et al. 2020, CheckList: INV).

Users type in lower case, paste double spaces and write "don't". If such an edit moves a text farther than a change of
meaning does, results depend on who typed the query.
"""

from encheck import claim
from encheck.generators.antonym import antonym
from encheck.generators.invariance import casing, contraction, spacing
from encheck.items import contrast
from encheck.metrics import margin_rate
from encheck.presets import MARGINS


@claim(
    contrast(casing, antonym),
    property="invariance",
    tells="lower case from a change of meaning",
    family="invariance",
    metric=margin_rate.calibrated,
    show=MARGINS,
    floor=0.5,
    aim=0.95,
    source="Ribeiro et al. 2020, CheckList, section 2: INV",
    selects=True,
    means="Users who type in lower case get different results more often.",
    headline=True,
)
def test_lower_case_is_nearer_than_antonym(judge):
    """A sentence in lower case is nearer than the sentence with one word turned into its opposite."""
    judge()


@claim(
    contrast(spacing, antonym),
    property="invariance",
    tells="other spacing from a change of meaning",
    family="invariance",
    metric=margin_rate.calibrated,
    show=MARGINS,
    floor=0.5,
    aim=0.95,
    source="Ribeiro et al. 2020, CheckList, section 2: INV",
    selects=True,
    means="Pasted text with double spaces or line breaks gets different results more often.",
)
def test_other_spacing_is_nearer_than_antonym(judge):
    """A sentence with a double space and a space at the end is nearer than one with an antonym."""
    judge()


@claim(
    contrast(contraction, antonym),
    property="invariance",
    tells="a contraction from a change of meaning",
    family="invariance",
    metric=margin_rate.calibrated,
    show=MARGINS,
    aim=0.9,
    source="Ribeiro et al. 2020, CheckList, section 2: INV",
    selects=True,
    means='"Don\'t" and "do not" lead to different results more often.',
)
def test_contraction_is_nearer_than_antonym(judge):
    """A sentence with "do not" for "don't", or the reverse, is nearer than one with an antonym."""
    judge()
