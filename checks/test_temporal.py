"""The order of two events changes the meaning, but its wording does not (docs/method/probes.md).

"After" and "before" decide causes, liabilities and instructions, yet the two orders of events share all their other
words.
"""

from encheck.presets import declare_both_directions, declare_change_is_farther, declare_other_statement_is_farther


@declare_change_is_farther(
    "temporal",
    tells="what happened first",
    capability="relation",
    family="order",
    means='"Paid before it was due" brings up "paid after it was due" more often.',
    headline=True,
)
def test_other_order_of_events_is_farther_than_edit_that_keeps_the_meaning(judge):
    """Reversing the order of events moves the sentence farther than a rewording that keeps it."""
    judge()


@declare_other_statement_is_farther(
    "temporal",
    tells="a rewording that keeps the order of events from another statement",
    capability="relation",
    family="order",
    means="Texts that say something else more often rank above texts that keep the order of events.",
    floor=None,
)
def test_other_statement_is_farther_than_edit_that_keeps_the_order_of_events(judge):
    """A different statement in the same place is farther than a rewording that keeps the order of events."""
    judge()


@declare_both_directions(
    "temporal",
    tells="what happened first",
    capability="relation",
    family="order",
    means="Texts that differ in what came first are mixed up more often.",
)
def test_order_of_events_is_seen_in_both_directions(judge):
    """Reversing the events moves the sentence farther than a rewording, whichever of them keeps more of the
    word order.
    """
    judge()
