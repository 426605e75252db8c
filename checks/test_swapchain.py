"""Partial paraphrases: every swap takes meaning away (Peng, Weir and Weeds 2023, sections 4 and 5, Tables 5 and 7).

Ranking needs degrees and not only yes or no: of several near copies the one that says less of it should come later,
even where all of them share every word.

`pivot=a`: sentence and paraphrase against sentence and swapped paraphrase, as one who searches compares them.
`pivot=b`, as printed: each swapped paraphrase stands beside the paraphrase it was made of, which rewards copies.
"""

from encheck import claim
from encheck.items.chains import PIVOTS, restated, swap_chains
from encheck.metrics.ranking import figures, measured, oddities, r_precision


@claim(
    swap_chains(),
    levels=PIVOTS,
    property="swapchain",
    tells="a paraphrase from the same paraphrase with words swapped",
    capability="word-order",
    family="order",
    metric=r_precision,
    floor="surface",
    aim=0.9,
    source="Peng, Weir and Weeds 2023, sections 4 and 5, Tables 5 and 7",
    part="test",
    pictures=("profile",),
    step="swaps",
    means="Near copies with swapped words rank above true paraphrases more often.",
    headline=True,
)
def test_paraphrase_ranks_above_its_swaps(scores, judge, report, threshold):
    """The paraphrase is nearer than the same paraphrase with one, two or three pairs of words exchanged."""
    report(*figures(scores, threshold=threshold), *oddities(scores))
    judge(r_precision(measured(scores)))


@claim(
    swap_chains(restated),
    levels=PIVOTS,
    property="swapchain",
    tells="a rewrite from a near copy with words swapped",
    capability="word-order",
    family="order",
    metric=r_precision,
    floor="surface",
    aim=0.9,
    source="Peng, Weir and Weeds 2023, sections 4 and 5, Tables 5 and 7",
    part="test",
    pictures=("profile",),
    step="swaps",
    means="Near copies with swapped words rank above true rewrites more often.",
)
def test_rewrite_ranks_above_swaps(scores, judge, report, threshold):
    """So is a rewrite that shares few words with the paraphrase (Table 7: low lexical overlap)."""
    report(*figures(scores, threshold=threshold), *oddities(scores))
    judge(r_precision(measured(scores)))
