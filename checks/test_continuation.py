"""A sentence that goes on to say more means less the same (Peng, Weir and Weeds 2023, section 3.3, Figure 1).

Long answers and chunks say the sentence and more. If their score says nothing of how much more, thresholds that were
tuned on short texts mean something else on long ones.
"""

from encheck import claim
from encheck.items import continuation_chains
from encheck.metrics.ranking import figures, lengths, measured, r_precision


@claim(
    continuation_chains,
    levels=(30,),
    property="continuation",
    tells="a paraphrase from one that goes on to say more",
    capability="context",
    metric=r_precision,
    chance=1 / 7,
    aim=0.9,
    source="Peng, Weir and Weeds 2023, section 3.3, Figure 1",
    part="test",
    pictures=("profile",),
    step="five words more, each time",
    means="A cut-off that fits short texts fails on long ones: scores tell less of what they say besides.",
    headline=True,
)
def test_sentence_is_nearer_to_its_paraphrase_before_it_goes_on(scores, judge, report, threshold):
    """Five words more, ten more, and so on: length and word overlap tell these apart too, so see the overlap column."""
    report(*figures(scores, threshold=threshold), *lengths(scores))
    judge(r_precision(measured(scores)))
