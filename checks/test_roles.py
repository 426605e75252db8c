"""The meaning depends on who does what to whom, but not on the construction (docs/method/probes.md).

"The client sued the bank" and "the bank sued the client" contain the same words, but only the roles show who sued whom.
"""

from encheck.presets import declare_both_directions, declare_change_is_farther, declare_other_statement_is_farther


@declare_change_is_farther(
    "role_reversal",
    property="roles",
    tells="who did what to whom",
    capability="relation",
    family="order",
    selects=True,
    means='"The bank sued the client" brings up "the client sued the bank" more often.',
    headline=True,
)
def test_exchange_of_roles_is_farther_than_edit_that_keeps_the_meaning(judge):
    """Swapping who did what to whom moves the sentence farther than a rewording that keeps the roles."""
    judge()


@declare_other_statement_is_farther(
    "role_reversal",
    property="roles",
    tells="a rewording that keeps the roles from another statement",
    capability="relation",
    family="order",
    selects=True,
    means="Texts that say something else more often rank above texts that keep the roles.",
)
def test_other_statement_is_farther_than_edit_that_keeps_the_roles(judge):
    """A different statement in the same place is farther than a rewording that keeps the roles."""
    judge()


@declare_both_directions(
    "role_reversal",
    property="roles",
    tells="who did what to whom",
    capability="relation",
    family="order",
    selects=True,
    means="Who did what to whom is mixed up more often, whichever of the two you search for.",
)
def test_roles_are_seen_in_both_directions(judge):
    """Swapping the roles moves the sentence farther than a rewording, whichever of them keeps more of the word
    order.
    """
    judge()
