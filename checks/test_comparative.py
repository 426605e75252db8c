"""The meaning depends on which of two things has more of a quality (docs/method/probes.md#fresh-probes).

"The tram is faster than the bus" means the same as "the bus is slower than the tram", and the opposite of "the bus is
faster than the tram". Reviews, tests and price lists are full of comparisons.
"""

from encheck.presets import declare_both_directions, declare_change_is_farther, declare_other_statement_is_farther


@declare_both_directions(
    "comparative",
    tells="which of two things is faster, dearer or better",
    capability="relation",
    family="order",
    means="Texts that say which of two things is faster, dearer or better are mixed up with their opposite more often.",
)
def test_comparisons_are_seen_in_both_directions(judge):
    """Reversing a comparison moves the sentence farther than a rewording, whichever of them keeps more of the word
    order.
    """
    judge()


@declare_change_is_farther(
    "comparative",
    tells="which of two things is faster, dearer or better",
    capability="relation",
    family="order",
    means="A review that prefers A to B passes for one that prefers B to A more often.",
    headline=True,
)
def test_exchange_of_comparison_is_farther_than_edit_that_keeps_the_meaning(judge):
    """Reversing a comparison moves the sentence farther than a rewording that keeps it."""
    judge()


@declare_other_statement_is_farther(
    "comparative",
    tells="a rewording that keeps the comparison from another statement",
    capability="relation",
    family="order",
    means="Texts that say something else more often rank above texts that keep the comparison.",
)
def test_other_statement_is_farther_than_edit_that_keeps_the_comparison(judge):
    """A different statement in the same construction is farther than a rewording that keeps the comparison."""
    judge()
