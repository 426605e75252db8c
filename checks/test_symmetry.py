"""Swapping the two sentences changes no prediction ("Predicate-Argument Based Bi-Encoder ...", section 3).

"A duplicates B" and "B duplicates A" are the same statement. A scorer that answers them differently makes the result
depend on the order of its input.

If the run has a `--threshold`, it decides. Otherwise a model with a trained head decides by its head, and any other
model by the threshold that is best on the validation part. The test part is measured.
"""

from encheck import claim
from encheck.items import pairs_in_both_orders
from encheck.metrics.symmetry import consistency, flip_rate, largest_asymmetry, symmetry


@claim(
    pairs_in_both_orders,
    property="symmetry",
    capability="invariance",
    family="invariance",
    metric=consistency,
    show=(flip_rate, largest_asymmetry),
    gates=symmetry,
    aim=0.97,
    source="Predicate-Argument Based Bi-Encoder for Paraphrase Identification, section 3",
    part="test",
    means="Whether two texts count as duplicates depends more often on which of them comes first.",
    headline=True,
)
def test_prediction_stays_when_the_sentences_are_exchanged(judge):
    """A pair gets the same prediction in either order."""
    judge()
