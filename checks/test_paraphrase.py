"""Criterion 1: paraphrases are nearer than non-paraphrases (Mahajan et al. 2023, section 4, Tables 3 and 4).

This is the basic task of an encoder: the same statement in other words is near, a different statement is
not. A model that fails here is not worth testing further.
"""

from encheck import claim
from encheck.items import labelled_pairs, paraphrases_and_random_pairs
from encheck.metrics import auc, cohens_d, means_by_label, shares_above_by_label, similarity_gap
from encheck.metrics.classification import accuracy, f1, head_figures
from encheck.metrics.metric import on_calibrated_scale
from encheck.metrics.pairs import beyond_word_overlap, withhold_verdict_if_overlap_separates

TWO_LABELS = (means_by_label, similarity_gap, on_calibrated_scale(means_by_label), auc, beyond_word_overlap, cohens_d)


@claim(
    labelled_pairs,
    property="paraphrase",
    tells="a paraphrase from a near miss",
    family="meaning kept",
    metric=withhold_verdict_if_overlap_separates(similarity_gap.calibrated),
    show=(shares_above_by_label, *TWO_LABELS, accuracy, f1, head_figures),
    floor="surface",
    aim=0.1,
    source="Mahajan et al. 2023, section 4, Tables 3 and 4",
    criterion=1,
    means="Duplicates and near misses are harder to tell apart at any threshold.",
    headline=True,
)
def test_paraphrase_is_nearer_than_non_paraphrase(judge):
    """Paraphrases are nearer than the data's own negatives (Table 3); no verdict if words alone separate them."""
    judge()


@claim(
    paraphrases_and_random_pairs,
    property="paraphrase",
    tells="a paraphrase from an unrelated text",
    family="meaning kept",
    metric=similarity_gap.calibrated,
    show=TWO_LABELS,
    floor="surface",
    aim=0.5,
    source="Mahajan et al. 2023, section 4, Tables 3 and 4",
    criterion=1,
    means="Paraphrases score less far above unrelated text.",
)
def test_paraphrase_is_nearer_than_random_pair(judge):
    """Paraphrases are nearer than sentences about other topics (Table 4, alternative set-up)."""
    judge()
