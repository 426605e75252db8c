"""Another quantifier changes the meaning, but other words for the same quantifier do not (docs/method/probes.md).

"All", "some" and "none" decide whether a claim follows from a text. Fact checking and policy search ask that question.
"""

from encheck.presets import declare_both_directions, declare_change_is_farther, declare_other_statement_is_farther


@declare_change_is_farther(
    "quantifier",
    tells="what is said of all from what is said of few",
    capability="facts",
    means='"All plans include it" brings up "some plans include it" more often.',
    headline=True,
)
def test_other_quantifier_is_farther_than_edit_that_keeps_the_meaning(judge):
    """Another quantifier moves the sentence farther than other words for the same quantifier."""
    judge()


@declare_other_statement_is_farther(
    "quantifier",
    tells="a rewording that keeps the quantifier from another statement",
    capability="facts",
    means="Texts that say something else more often rank above texts that keep the quantifier.",
)
def test_other_statement_is_farther_than_edit_that_keeps_the_quantifier(judge):
    """A different statement in the same place is farther than other words for the same quantifier."""
    judge()


@declare_both_directions(
    "quantifier",
    tells="what is said of all from what is said of few",
    capability="facts",
    means='Texts that say "all", "some" and "none" are mixed up more often.',
)
def test_quantifier_is_seen_in_both_directions(judge):
    """Of two sentences with different quantifiers, each is nearer to its own rewording."""
    judge()
