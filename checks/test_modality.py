"""Another modality changes the meaning, but other words for the same modality do not (docs/method/probes.md).

In contracts, manuals and medical advice, "may" gives a right and "must" imposes a duty.
"""

from encheck.presets import declare_both_directions, declare_change_is_farther, declare_other_statement_is_farther


@declare_change_is_farther(
    "modality",
    tells="what is a duty from what is an option",
    capability="assertion",
    means='Duties and options are mixed up more often: "must report" is found for "may report".',
    headline=True,
)
def test_other_modality_is_farther_than_edit_that_keeps_the_meaning(judge):
    """Another modality moves the sentence farther than other words for the same modality."""
    judge()


@declare_other_statement_is_farther(
    "modality",
    tells="a rewording that keeps the modality from another statement",
    capability="assertion",
    means="Texts that say something else more often rank above texts that keep the modality.",
)
def test_other_statement_is_farther_than_edit_that_keeps_the_modality(judge):
    """A different statement in the same place is farther than other words for the same modality."""
    judge()


@declare_both_directions(
    "modality",
    tells="what is a duty from what is an option",
    capability="assertion",
    means='Texts that say "must" and texts that say "may" are mixed up more often.',
)
def test_modality_is_seen_in_both_directions(judge):
    """Of two sentences that differ in modality, each is nearer to its own rewording."""
    judge()
