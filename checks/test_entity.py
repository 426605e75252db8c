"""A name of another thing changes the meaning, but another name of the same thing does not (docs/method/probes.md).

A wrong answer is costliest when it answers a question about one company with another company's figures. Yet the two
texts share nearly all their words.
"""

from encheck.presets import declare_both_directions, declare_change_is_farther, declare_other_statement_is_farther


@declare_change_is_farther(
    "entity",
    tells="another name from another way to write the same name",
    capability="facts",
    means="Questions about one company, person or place get answers about another more often.",
    headline=True,
)
def test_other_entity_is_farther_than_edit_that_keeps_the_meaning(judge):
    """Naming another thing moves the sentence farther than using another name of the same thing."""
    judge()


@declare_other_statement_is_farther(
    "entity",
    tells="another way to write the same name from another statement",
    capability="facts",
    means="Texts that say something else more often rank above texts about the same entity.",
)
def test_other_statement_is_farther_than_edit_that_keeps_the_entity(judge):
    """A different statement in the same place is farther than another name of the same thing."""
    judge()


@declare_both_directions(
    "entity",
    tells="one name from another",
    capability="facts",
    means="Texts about two different companies, people or places are mixed up more often.",
)
def test_entity_is_seen_in_both_directions(judge):
    """Of two sentences that name different things, each is nearer to its own version under another name."""
    judge()
