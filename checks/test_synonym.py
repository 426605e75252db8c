"""Criterion 2: a synonym keeps the meaning (Mahajan et al. 2023, section 4, Table 5), and its control.

People and documents choose different words for the same thing. Replacing a word by its synonym should move a text
little, and less than replacing it by any other word.
"""

from encheck import claim
from encheck.generators.base import beside
from encheck.generators.control import control
from encheck.generators.synonym import synonym
from encheck.items import contrast, edited_pairs
from encheck.metrics import margin_rate, mean_similarity
from encheck.presets import MARGINS


@claim(
    edited_pairs(synonym),
    levels=(1, 2, 3),
    property="synonym",
    family="meaning kept",
    metric=mean_similarity.calibrated,
    show=(mean_similarity,),
    aim=0.75,
    source="Mahajan et al. 2023, section 4, Table 5",
    criterion=2,
    selects=True,
)
def test_synonym_keeps_the_similarity(judge):
    """A sentence with one, two or three words replaced by synonyms stays near its source."""
    judge()


@claim(
    contrast(synonym, beside(synonym, control)),
    property="synonym",
    tells="a synonym from an unrelated word",
    family="meaning kept",
    metric=margin_rate.calibrated,
    show=(margin_rate, *MARGINS),
    floor=0.5,
    aim=0.8,
    source="docs/reference/checks.md: a control beside criterion 2 of Mahajan et al. 2023",
    selects=True,
    means="A text with a synonym is harder to tell from a text that says something else.",
    headline=True,
)
def test_synonym_is_nearer_than_control(judge):
    """A synonym moves a sentence less than another word of the same tag and frequency in its place.

    The other word often does not fit, so this shows that the model notices nonsense, not that it understands the
    synonym.
    """
    judge()
