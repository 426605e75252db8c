"""The more a text adds to a sentence, the less it means the same (Peng, Weir and Weeds 2023, section 3.3, Figure 1).

Long answers and chunks contain the sentence and more. If their score does not show how much more, a threshold that was
tuned on short texts does not fit long ones.
"""

from encheck import claim
from encheck.items import continuation_chains
from encheck.metrics.ranking import chain_figures, length_figures, r_precision


@claim(
    continuation_chains,
    levels=(30,),
    property="continuation",
    tells="a paraphrase from one that goes on to say more",
    capability="context",
    metric=r_precision,
    show=(chain_figures, length_figures),
    chance=1 / 2,  # the shortest chain: the paraphrase and one continuation
    aim=0.9,
    source="Peng, Weir and Weeds 2023, section 3.3, Figure 1",
    part="test",
    pictures=("profile",),
    step="a clause or phrase more, each time",
    means="A threshold that fits short texts fails on long ones: scores show less of what a long text adds.",
    headline=True,
)
def test_sentence_is_nearer_to_its_paraphrase_before_it_goes_on(judge):
    """The paraphrase scores lower with each clause added. Word overlap shows this too: see the surface column."""
    judge()
