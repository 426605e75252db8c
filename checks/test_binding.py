"""The meaning depends on which attribute belongs to which thing (docs/method/probes.md#fresh-probes).

"A red car and a blue truck" and "a blue car and a red truck" contain the same words. An order, a dose or a rota that
mixes them up is wrong in every line.
"""

from encheck.presets import declare_both_directions, declare_change_is_farther, declare_other_statement_is_farther


@declare_both_directions(
    "binding",
    tells="which attribute belongs to which thing",
    capability="relation",
    family="order",
    means='"A red car and a blue truck" and "a blue car and a red truck" are mixed up more often.',
)
def test_attributes_are_seen_in_both_directions(judge):
    """Swapping the attributes moves the sentence farther than a rewording, whichever of them keeps more of the word
    order.
    """
    judge()


@declare_change_is_farther(
    "binding",
    tells="which attribute belongs to which thing",
    capability="relation",
    family="order",
    means="Two orders whose items have swapped colours, sizes or doses pass for the same order more often.",
    headline=True,
)
def test_exchange_of_attributes_is_farther_than_edit_that_keeps_the_meaning(judge):
    """Swapping the attributes of two things moves the sentence farther than a rewording that keeps them."""
    judge()


@declare_other_statement_is_farther(
    "binding",
    tells="a rewording that keeps the attributes from another statement",
    capability="relation",
    family="order",
    means="Texts that say something else more often rank above texts that keep the attributes.",
)
def test_other_statement_is_farther_than_edit_that_keeps_the_attributes(judge):
    """A different statement in the same construction is farther than a rewording that keeps the attributes."""
    judge()
