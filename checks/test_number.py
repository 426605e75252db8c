"""Another number changes the fact, but another notation of the same number does not (docs/method/probes.md).

Doses, prices, dates and limits are one token each. Two texts that differ only in such a token state different facts.
"""

from encheck.presets import declare_both_directions, declare_change_is_farther, declare_other_statement_is_farther


@declare_change_is_farther(
    "number",
    tells="another number from the same number written otherwise",
    capability="facts",
    selects=True,
    means="A wrong dose, price, date or limit passes for the right one more often.",
    headline=True,
)
def test_other_number_is_farther_than_edit_that_keeps_the_meaning(judge):
    """Another number moves the sentence farther than the same number in another notation."""
    judge()


@declare_other_statement_is_farther(
    "number",
    tells="the same number written otherwise from another statement",
    capability="facts",
    selects=True,
    means="Texts that say something else more often rank above texts that keep the number.",
)
def test_other_statement_is_farther_than_edit_that_keeps_the_number(judge):
    """A different statement in the same place is farther than the same number in another notation."""
    judge()


@declare_both_directions(
    "number",
    tells="one number from another",
    capability="facts",
    means="Texts that differ by a dose, price or date are mixed up more often.",
)
def test_number_is_seen_in_both_directions(judge):
    """Of two sentences with different numbers, each is nearer to its own number in another notation."""
    judge()
