"""Partial paraphrases: every swap takes meaning away (Peng, Weir and Weeds 2023, sections 4 and 5, Tables 5 and 7).

A ranking needs more than yes or no. Of several near copies, the one that keeps less of the meaning should rank lower,
even if all of them share every word.

`pivot=a` compares the sentence with its paraphrase and with a swapped paraphrase, as in a search. `pivot=b`, as in the
paper, compares each swapped paraphrase with the paraphrase that it was made from, which rewards copies.
"""

from encheck import claim
from encheck.items.chains import PIVOTS, rewrite_sources, swap_chains
from encheck.metrics.ranking import chain_figures, fluency_figures, r_precision


@claim(
    swap_chains(),
    levels=PIVOTS,
    property="swapchain",
    tells="a paraphrase from the same paraphrase with words swapped",
    capability="word-order",
    family="order",
    metric=r_precision,
    show=(chain_figures, fluency_figures),
    floor="surface",
    aim=0.9,
    source="Peng, Weir and Weeds 2023, sections 4 and 5, Tables 5 and 7",
    part="test",
    pictures=("profile",),
    step="swaps",
    means="Near copies with swapped words rank above true paraphrases more often.",
    headline=True,
)
def test_paraphrase_ranks_above_its_swaps(judge):
    """The paraphrase is nearer than the same paraphrase with one, two or three pairs of words swapped."""
    judge()


@claim(
    swap_chains(rewrite_sources),
    levels=PIVOTS,
    property="swapchain",
    tells="a rewrite from a near copy with words swapped",
    capability="word-order",
    family="order",
    metric=r_precision,
    show=(chain_figures, fluency_figures),
    floor="surface",
    aim=0.9,
    source="Peng, Weir and Weeds 2023, sections 4 and 5, Tables 5 and 7",
    part="test",
    pictures=("profile",),
    step="swaps",
    means="Near copies with swapped words rank above true rewrites more often.",
)
def test_rewrite_ranks_above_swaps(judge):
    """A rewrite that shares few words with the paraphrase is nearer than its swaps (Table 7: low lexical overlap)."""
    judge()
