"""What every caller takes for granted: numbers, one shape, the same answer twice, and no text cut off unsaid.

Caches, indexes and retries assume that a text has one vector. Without that, every other figure of this report is
luck.
"""

from encheck import claim
from encheck.items import cut, repeated
from encheck.metrics.health import contract_kept, ends_seen


@claim(
    repeated,
    property="contract",
    family="contract",
    metric=contract_kept,
    floor=1.0,
    aim=1.0,
    source="docs/probes.md",
    means="Caches and indexes hold vectors that the model does not give again.",
)
def test_same_text_gets_the_same_answer_twice(scores, judge):
    """Finite, of one shape (a model that breaks this ends in an error), and the same in other company."""
    judge(contract_kept(scores))


@claim(
    cut,
    property="contract",
    family="contract",
    metric=ends_seen,
    floor=1.0,
    aim=1.0,
    source="docs/probes.md",
    means="What stands at the end of a long text cannot be found.",
)
def test_end_of_a_long_text_is_seen(scores, judge):
    """The longest texts of the data are told from themselves less their last three words: nothing is cut off."""
    judge(ends_seen(scores))
