"""A sentence finds its paraphrase, which is what embeddings are bought for (Reimers and Gurevych 2019, section 1).

Search is what most encoders are bought for. A gain in sensitivity that costs recall is no gain, so the two are read
side by side.
"""

from encheck import claim
from encheck.items import queries
from encheck.metrics import mean_margin
from encheck.metrics.health import recall_at_1


@claim(
    queries("hard_negative"),
    property="retrieval",
    family="retrieval",
    metric=recall_at_1,
    floor="surface",
    aim=0.8,
    source="Reimers and Gurevych 2019, section 1",
    selects=True,
)
def test_sentence_finds_its_paraphrase(scores, judge, report):
    """Of all sentences, paraphrases and hard negatives, its own paraphrase is the nearest."""
    report(mean_margin(scores), mean_margin(scores.calibrated))
    judge(recall_at_1(scores))
