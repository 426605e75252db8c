"""A denial and an assertion differ in meaning, whatever words express the denial (docs/method/probes.md).

"We have peaches in stock but not plums" and "peaches aren't in stock but plums are" share almost all their words.
Retrieval that ranks them side by side gives a reader, or a language model, the opposite of the answer. On your own
text, a denied statement is compared with one that has a word of emphasis in the same place. So a pass shows only that
*not* moves a vector more than that word does. The check of the negated antonym tests whether *not* reverses the
meaning: it has to move the antonym back towards the sentence.
"""

from encheck import claim
from encheck.generators.antonym import negated_antonym, unnegated
from encheck.generators.base import beside
from encheck.items import contrast
from encheck.metrics import margin_rate
from encheck.presets import (
    MARGINS,
    declare_both_directions,
    declare_change_is_farther,
    declare_other_statement_is_farther,
)


@declare_change_is_farther(
    "negation",
    tells="what is denied from what is asserted",
    capability="assertion",
    selects=True,
    means='"Is covered" brings up "is not covered" more often.',
    headline=True,
)
def test_negation_is_farther_than_edit_that_keeps_the_meaning(judge):
    """A statement that denies something else is farther than a rewording that denies the same thing."""
    judge()


@claim(
    contrast(negated_antonym, beside(negated_antonym, unnegated)),
    property="negation",
    tells="a negated opposite from the opposite",
    capability="assertion",
    metric=margin_rate.calibrated,
    show=(margin_rate, *MARGINS),
    aim=0.8,
    source="docs/method/probes.md",
    means='"Not cheap" and "expensive" are recognised as alike less often.',
)
def test_negated_antonym_is_nearer_than_antonym(judge):
    """ "Open" is nearer to "not closed" than to "closed", although "not closed" has one more word that differs."""
    judge()


@declare_other_statement_is_farther(
    "negation",
    tells="a rewording that keeps the negation from another statement",
    capability="assertion",
    selects=True,
    means="Texts that say something else more often rank above texts that keep the negation.",
)
def test_other_statement_is_farther_than_edit_that_keeps_the_negation(judge):
    """A different statement in the same form is farther than a rewording that denies the same thing."""
    judge()


@declare_both_directions(
    "negation",
    tells="what is denied from what is asserted",
    capability="assertion",
    means="Statements and their denials are mixed up more often, whichever of the two you search for.",
)
def test_negation_is_seen_in_both_directions(judge):
    """Reversing the statement moves it farther than a rewording, whichever of them keeps more of the words."""
    judge()
