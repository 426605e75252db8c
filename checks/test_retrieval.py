"""A sentence finds its paraphrase, which is what embeddings are bought for (Reimers and Gurevych 2019, section 1).

Search is what most encoders are bought for. A gain in sensitivity that costs recall is no gain, so the two are read
side by side.
"""

from encheck import claim
from encheck.items import headings, logged_queries, queries, ranked_queries, titles
from encheck.items.known import PROXY
from encheck.metrics import mean_margin
from encheck.metrics.health import recall_at_1
from encheck.metrics.search import agreement_with_bm25, figures, ndcg_at_10


@claim(
    queries("hard_negative"),
    property="retrieval",
    tells="a sentence's paraphrase from near misses",
    family="retrieval",
    metric=recall_at_1,
    floor="surface",
    aim=0.8,
    source="Reimers and Gurevych 2019, section 1",
    selects=True,
    means="Users who ask in their own words find the right text first less often.",
    headline=True,
)
def test_sentence_finds_its_paraphrase(scores, judge, report):
    """Of all sentences, paraphrases and hard negatives, its own paraphrase is the nearest."""
    report(mean_margin(scores), mean_margin(scores.calibrated))
    judge(recall_at_1(scores))


@claim(
    ranked_queries,
    property="retrieval",
    tells="the documents that answer a query from all others",
    family="retrieval",
    metric=ndcg_at_10,
    gates=ndcg_at_10,
    primary=True,
    unjudged="how much is enough depends on the documents: BM25 stands beside it, and a gate compares two models",
    source="Thakur et al. 2021 (BEIR), section 4.4",
    means="Your queries find the documents that answer them less often, or further down.",
    headline=True,
)
def test_query_finds_its_documents(scores, judge, report):
    """Of all documents, those that are right for a query stand first."""
    report(*figures(scores))
    judge(ndcg_at_10(scores))


@claim(
    logged_queries,
    property="retrieval",
    family="retrieval",
    metric=agreement_with_bm25,
    gates="nobody said which answers are right: the gate goes by how many of them change",
    unjudged="nobody said which answers are right: with a baseline, the gate goes by how many of them change",
    source="docs/search.md",
)
def test_logged_query_keeps_its_answers(scores, judge):
    """Queries of a log, without labels: how often BM25 has the same first answer; a gate sees which answers change."""
    judge(agreement_with_bm25(scores))


@claim(
    titles,
    levels=("known",),
    property="retrieval",
    family="retrieval",
    metric=ndcg_at_10,
    unjudged="an optimistic proxy: BM25 stands beside it, and a gate compares two models",
    gates=ndcg_at_10,
    proxy=PROXY,
    source="Azzopardi et al. 2007",
    means="A search for an article's title finds that article less often, or further down.",
)
def test_title_finds_its_article(scores, judge, report):
    """Of the texts of all articles, those of its own stand first."""
    report(*figures(scores))
    judge(ndcg_at_10(scores))


@claim(
    headings,
    levels=("known",),
    property="retrieval",
    family="retrieval",
    metric=ndcg_at_10,
    unjudged="an optimistic proxy: BM25 stands beside it, and a gate compares two models",
    gates=ndcg_at_10,
    proxy=PROXY,
    source="Azzopardi et al. 2007",
    means="A search for a section's heading finds that section less often, or further down.",
)
def test_heading_finds_its_section(scores, judge, report):
    """Of the texts of all sections, those under it stand first."""
    report(*figures(scores))
    judge(ndcg_at_10(scores))
