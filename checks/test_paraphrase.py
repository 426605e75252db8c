"""Criterion 1: paraphrases are nearer than non-paraphrases (Mahajan et al. 2023, section 4, Tables 3 and 4)."""

import pytest

from encheck import claim
from encheck.items import labelled_pairs
from encheck.metrics import auc, cohens_d, mean_of_label, similarity_gap


@pytest.mark.paraphrase
@claim(labelled_pairs, levels=("own", "random"))
def test_paraphrase_is_nearer_than_non_paraphrase(scores, judge, report):
    """Paraphrases are nearer than the data's own negatives, and than random cross-topic pairs."""
    for shown in (scores, scores.calibrated):
        report(mean_of_label(shown, label=1), mean_of_label(shown, label=0))
    report(similarity_gap(scores), auc(scores), cohens_d(scores))
    judge(similarity_gap(scores.calibrated), at_least=0.1)
