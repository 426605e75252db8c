"""Whether the space is sound: room between texts, no noise, no hubs (Radovanovic et al. 2010; Ethayarajh 2019).

A space that is crowded into a cone, or in which some texts are near to everything, gives thresholds no room and
search the same few hits; it is the first thing that a bad fine-tune breaks.
"""

import pytest

from encheck import claim
from encheck.items import queries, random_pairs
from encheck.metrics import mean_similarity
from encheck.metrics.health import evenness, hubness, recall_at_1, room, steadiness, unseen

pytestmark = pytest.mark.health


@claim(random_pairs)
def test_random_pairs_are_apart(scores, judge, report):
    """Unrelated texts are not as near as identical ones: the space has not collapsed into a cone."""
    report(mean_similarity(scores))
    judge(room(scores), at_least=0.2)


@claim(random_pairs)
def test_random_pairs_are_alike_in_distance(scores, judge):
    """Unrelated texts are about equally unrelated: noise does not hide what is near."""
    judge(steadiness(scores), at_least=0.8)


@claim(queries())
def test_sentence_finds_its_paraphrase_among_other_topics(scores, judge):
    """Without hard negatives, the nearest text is the paraphrase."""
    judge(recall_at_1(scores), at_least=0.9)


@claim(queries(counts=True))
def test_no_sentence_is_near_to_all(scores, judge, report):
    """Every text is an answer to about as many queries: there are no hubs."""
    report(hubness(scores), unseen(scores))
    judge(evenness(scores), at_least=0.6)
