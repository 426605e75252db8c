"""A sentence finds its paraphrase, and a query its documents (Reimers and Gurevych 2019, section 1).

Most encoders are used for search. A model that becomes more sensitive but finds fewer documents has not improved, so
compare both results.
"""

from encheck import claim
from encheck.items import heading_queries, logged_queries, queries, ranked_queries, title_queries
from encheck.items.searches import PROXY
from encheck.metrics.health import recall_at_1
from encheck.metrics.search import agreement_with_bm25, index_recall_figures, ndcg_at_10, search_figures
from encheck.presets import MARGINS


@claim(
    queries("hard_negative"),
    property="retrieval",
    tells="a sentence's paraphrase from near misses",
    family="retrieval",
    metric=recall_at_1,
    show=MARGINS,
    floor="surface",
    aim=0.8,
    source="Reimers and Gurevych 2019, section 1",
    selects=True,
    means="Users who ask in their own words find the right text first less often.",
    headline=True,
)
def test_sentence_finds_its_paraphrase(judge):
    """Among all sentences, paraphrases and hard negatives, the nearest one to a sentence is its own paraphrase."""
    judge()


@claim(
    ranked_queries,
    property="retrieval",
    tells="the documents that answer a query from all others",
    family="retrieval",
    metric=ndcg_at_10,
    show=(search_figures,),
    gates=ndcg_at_10,
    primary=True,
    unjudged="how much is enough depends on the documents: compare it with BM25, or gate two models",
    source="Thakur et al. 2021 (BEIR), section 4.4",
    means="Your queries find the documents that answer them less often, or further down.",
    headline=True,
)
def test_query_finds_its_documents(judge):
    """Among all documents, those that are relevant to a query rank first."""
    judge()


@claim(
    logged_queries,
    property="retrieval",
    family="retrieval",
    metric=agreement_with_bm25,
    show=(index_recall_figures,),
    gates="without labels, the gate counts how many answers change",
    unjudged="without labels, only a gate can judge: it counts how many answers change",
    source="docs/tasks/search.md",
)
def test_logged_query_keeps_its_answers(judge):
    """The first answer to a logged query is also BM25's first answer. A gate compares which answers change."""
    judge()


@claim(
    title_queries,
    levels=("known",),
    property="retrieval",
    family="retrieval",
    metric=ndcg_at_10,
    show=(search_figures,),
    unjudged="an optimistic proxy: compare it with BM25, or gate two models",
    gates=ndcg_at_10,
    proxy=PROXY,
    source="Azzopardi et al. 2007",
    means="A search for an article's title finds that article less often, or further down.",
)
def test_title_finds_its_article(judge):
    """Among the texts of all articles, those of a title's own article rank first."""
    judge()


@claim(
    heading_queries,
    levels=("known",),
    property="retrieval",
    family="retrieval",
    metric=ndcg_at_10,
    show=(search_figures,),
    unjudged="an optimistic proxy: compare it with BM25, or gate two models",
    gates=ndcg_at_10,
    proxy=PROXY,
    source="Azzopardi et al. 2007",
    means="A search for a section's heading finds that section less often, or further down.",
)
def test_heading_finds_its_section(judge):
    """Among the texts of all sections, those under a heading rank first for that heading."""
    judge()
