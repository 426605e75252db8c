"""A condition with "if" is the opposite of one with "unless" (docs/method/generators.md).

"If" and "unless" decide when a rule applies, in contracts, manuals and medical advice. The embedded probes contain no
conditions: with --experimental, they are made from your own text.
"""

from encheck.presets import declare_both_directions, declare_change_is_farther, declare_other_statement_is_farther


@declare_change_is_farther(
    "condition",
    tells="a condition from its exception",
    capability="assertion",
    source="docs/method/generators.md",
    means='Rules and their exceptions are mixed up more often: "if it rains" is found for "unless it rains".',
)
def test_other_condition_is_farther_than_edit_that_keeps_the_meaning(judge):
    """Turning a condition into its exception moves the sentence farther than a rewording of the condition."""
    judge()


@declare_other_statement_is_farther(
    "condition",
    tells="a rewording that keeps the condition from another statement",
    capability="assertion",
    source="docs/method/generators.md",
    means="Texts that say something else more often rank above texts that keep the condition.",
)
def test_other_statement_is_farther_than_edit_that_keeps_the_condition(judge):
    """A different statement in the same place is farther than a rewording that keeps the condition."""
    judge()


@declare_both_directions(
    "condition",
    tells="a condition from its exception",
    capability="assertion",
    source="docs/method/generators.md",
    means='Texts that say "if" and texts that say "unless" are mixed up more often.',
)
def test_condition_is_seen_in_both_directions(judge):
    """Of a condition and its exception, each is nearer to its own rewording."""
    judge()
