"""Answers meet what every caller assumes: finite numbers of one shape, the same answer twice, no silent truncation.

Caches, indexes and retries assume that a text has one vector. If it does not, no other result of this report can be
trusted.
"""

from encheck import claim
from encheck.items import repeated_texts, shortened_texts
from encheck.metrics.health import contract_kept, ends_seen


@claim(
    repeated_texts,
    property="contract",
    family="contract",
    metric=contract_kept,
    floor=1.0,
    aim=1.0,
    source="docs/method/probes.md",
    means="Caches and indexes hold vectors that the model does not reproduce.",
)
def test_same_text_gets_the_same_answer_twice(judge):
    """Answers are finite, have one shape (anything else ends in an error), and are the same in every batch."""
    judge()


@claim(
    shortened_texts,
    property="contract",
    family="contract",
    metric=ends_seen,
    floor=1.0,
    aim=1.0,
    source="docs/method/probes.md",
    means="The end of a long text cannot be found.",
)
def test_end_of_a_long_text_is_seen(judge):
    """The longest texts of the data get a different score without their last three words, so nothing is truncated."""
    judge()
