"""The vector space is sound: room between texts, little noise, no hubs (Radovanovic et al. 2010; Ethayarajh 2019).

If all vectors lie in a narrow cone, no threshold separates them. If a few texts are near to everything, every search
returns them. A bad fine-tune shows here first.
"""

from encheck import claim
from encheck.items import queries, random_pairs
from encheck.metrics import mean_similarity
from encheck.metrics.health import antihub_share, evenness, hubness, recall_at_1, room, steadiness


@claim(
    random_pairs,
    property="health",
    family="health",
    metric=room,
    show=(mean_similarity,),
    floor=0.2,
    aim=0.2,
    source="Radovanovic et al. 2010; Ethayarajh 2019",
    means="Unrelated texts score closer to identical ones, so thresholds in use let more wrong matches through.",
)
def test_random_pairs_are_apart(judge):
    """Unrelated texts are farther apart than identical ones: the space has not collapsed into a cone."""
    judge()


@claim(
    random_pairs,
    property="health",
    family="health",
    metric=steadiness,
    floor=0.8,
    aim=0.8,
    source="Radovanovic et al. 2010; Ethayarajh 2019",
    means="Scores of unrelated texts vary more, so one threshold fits fewer queries.",
)
def test_random_pairs_are_alike_in_distance(judge):
    """Unrelated texts are about equally far apart: noise does not hide what is near."""
    judge()


@claim(
    queries(),
    property="health",
    tells="a sentence's paraphrase from texts about something else",
    family="health",
    metric=recall_at_1,
    floor=0.9,
    aim=0.9,
    source="Radovanovic et al. 2010; Ethayarajh 2019",
    means="Search finds the right text less often, even if all other texts are about something else.",
)
def test_sentence_finds_its_paraphrase_among_other_topics(judge):
    """Without hard negatives, the nearest text is the paraphrase."""
    judge()


@claim(
    queries(counts=True),
    property="health",
    family="health",
    metric=evenness,
    show=(hubness, antihub_share),
    floor=0.6,
    aim=0.6,
    source="Radovanovic et al. 2010; Ethayarajh 2019",
    means="The same few texts turn up in more and more searches.",
)
def test_no_sentence_is_near_to_all(judge):
    """Every text is an answer to about the same number of queries: there are no hubs."""
    judge()
