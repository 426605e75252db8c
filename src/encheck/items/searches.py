"""Build the items of the checks on retrieval, health and contracts.

Known-item queries are titles, which should find their article, and headings, which should find their section (Azzopardi
et al. 2007, SIGIR). Such queries come from the documents and share their words. So they are easier than real queries,
and results are optimistic.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import islice
from typing import Literal

from encheck.datasets.collection import MAX_TEXT_GROUPS, ArticlePassage, Collection, CollectionQuery
from encheck.datasets.dataset import Dataset
from encheck.datasets.splitting import split_passages
from encheck.errors import NothingToMeasure
from encheck.generators.number import NAME, NOTHING_SHARED, SharedNumber, contrast_shared_number
from encheck.ids import ItemId
from encheck.items.builders import PARAPHRASES, collect_items
from encheck.items.variants import VariantMaker
from encheck.language.numbers.mentions import MAYBE
from encheck.scoring.crossed import Contrast
from encheck.scoring.documents import Documents
from encheck.scoring.item import Items
from encheck.scoring.pairs import Repeated, Shortened
from encheck.scoring.searches import LoggedQuery, Query, RankedQuery
from encheck.types import content_hash

PROXY = "titles and headings share words with their texts"
MAX_KNOWN_ITEM_QUERIES = 500  # queries of each kind
SAME_WORDS = "another one has the same words"


def title_queries(dataset: Dataset, _level: int | str, _maker: VariantMaker) -> Items:
    """Use each title as a query for the bodies of its article's passages, among those of all articles."""
    return _known_item_queries(dataset, "title")


def heading_queries(dataset: Dataset, _level: int | str, _maker: VariantMaker) -> Items:
    """Use each heading as a query for its section's passage bodies; headings equal to the title are left out."""
    return _known_item_queries(dataset, "heading")


def _known_item_queries(dataset: Dataset, name: Literal["title", "heading"]) -> Items:
    found = dataset.collection
    if found is None or not found.passages:
        raise NothingToMeasure(f"{dataset.name} has no articles: see --data=passages:PATH", needs="articles")

    parts: dict[tuple[str, str], list[ArticlePassage]] = {}
    for passage in found.title_search_passages:
        parts.setdefault((passage.article, "" if name == "title" else passage.heading), []).append(passage)
    named = [(some[0].title if name == "title" else some[0].heading, some) for some in parts.values()]
    there = [
        (text, some)
        for text, some in named
        if text and (name == "title" or text != some[0].title) and len(some) < len(found.title_search_passages)
    ]
    counts = Counter(" ".join(text.lower().split()) for text, _ in there)
    once = [(text, some) for text, some in there if counts[" ".join(text.lower().split())] == 1]
    if not once:
        raise NothingToMeasure(f"{dataset.name} has no {name} that belongs to only one text")

    chosen = sorted(once, key=lambda one: content_hash(one[0]))[:MAX_KNOWN_ITEM_QUERIES]
    rows = {one: row for row, one in enumerate(found.title_search_documents.ids)}
    lock = found.title_search_documents.fingerprint
    kept = []
    for text, right in chosen:
        item = ItemId.of(dataset.name, content_hash(text, lock), "known", 1, name, 0)
        places = tuple((row, 1) for row in sorted(rows[passage.id] for passage in right))
        kept.append(RankedQuery(item, text, found.title_search_documents, places, (), right[0].article))
    excluded = {
        SAME_WORDS: len(there) - len(once),
        f"beyond the first {MAX_KNOWN_ITEM_QUERIES:,}": len(once) - len(chosen),
    }
    return Items(tuple(kept), {reason: count for reason, count in excluded.items() if count})


MAX_DOCUMENT_WORDS = 150  # of a document; only the passage with the number is used if it is longer
MAX_PASSAGES = 4  # passages with a number, per query, from its right documents


def _number_contrasts(name: str, collection: Collection, maker: VariantMaker) -> Iterator[Contrast | str]:
    """Yield contrasts of a query and its right document with the same two texts under a different number, or a reason.

    At most `MAX_TEXT_GROUPS` queries are used, chosen by their hash.
    """
    english, passages_of = maker.english, list[tuple[CollectionQuery, list[str]]]()
    for query in sorted(collection.queries, key=lambda q: content_hash(q.text))[:MAX_TEXT_GROUPS]:
        best = (
            sorted(query.relevant_documents, key=lambda name: (-query.relevant_documents[name], name))
            if MAYBE.search(query.text)
            else []
        )
        texts = (
            text
            for name in best
            for text in split_passages(collection.documents[name], words=MAX_DOCUMENT_WORDS)
            if MAYBE.search(text)
        )
        passages_of.append((query, list(islice(texts, MAX_PASSAGES))))
    if english.recipe is not None:
        yield from ("the published recipe has no numbers" for _ in passages_of)
        return
    english.parse_all(text for query, passages in passages_of if passages for text in (query.text, *passages))
    for query, passages in passages_of:
        made = [
            contrast_shared_number(english.stored_parse(query.text), english.stored_parse(text), seed=maker.seed)
            for text in passages
        ]
        both = next((one for one in made if isinstance(one, SharedNumber)), None)
        if both is None:
            yield str(made[0]) if made else NOTHING_SHARED
        else:
            item = ItemId.of(name, content_hash(*both.queries, *both.documents), "contrast", 1, NAME)
            yield Contrast(item, both.queries, both.documents, query.cluster)


Builder = Callable[[Dataset, int | str, VariantMaker], Items]
ARTICLES = "articles"
MAX_REPEATED, MAX_CUT, TAIL = 32, 64, 3
MAX_PASSAGE_SENTENCES = 8


def queries(*others: str, counts: bool = False) -> Builder:
    """Return a builder that uses each sentence as a query for its paraphrase.

    The paraphrase is searched among all sentences, paraphrases and variants of these relations. With `counts`, an
    item's figure is the number of sentences that have its paraphrase among their ten nearest texts.
    """

    def build_items(dataset: Dataset, _level: int | str, _maker: VariantMaker) -> Items:
        kept: list[Query] = []
        seen = set()
        for group in dataset.groups:
            texts = (group.source, group.paraphrase)
            if group.source == group.paraphrase or texts in seen:
                continue
            seen.add(texts)
            wrong = tuple(v.text for relation in others if (v := group.variant(relation)))
            kind = "counted" if counts else "searched"
            name = ItemId.of(dataset.name, content_hash(*texts), "query", 1, kind, 0)
            edits = next((v.edits for v in group.variants if v.text == group.paraphrase), ())
            kept.append(Query(name, *texts, wrong, group.cluster, edits, group.split, counts, group.shares))
        if len(kept) < 2:
            raise NothingToMeasure(
                f"{dataset.name} has {len(kept)} sentences with a paraphrase: a search needs two or more",
                needs=PARAPHRASES,
            )
        excluded = len(dataset.groups) - len(kept)
        return Items(
            tuple(kept),
            {"the paraphrase is identical to the sentence, or is a repeated query": excluded} if excluded else {},
        )

    return build_items


def ranked_queries(dataset: Dataset, _level: int | str, _maker: VariantMaker) -> Items:
    """Search for the right documents of each query among all documents except the query's own."""
    found = dataset.collection
    if found is None:
        raise NothingToMeasure(
            f"{dataset.name} has no queries with documents: see --data=retrieval:PATH", needs="queries with documents"
        )
    if found.passages:
        raise NothingToMeasure(
            f"{dataset.name} has no judgements of which document is right for a query", needs="judgements"
        )
    _refuse_single_document(dataset.name, found)
    documents = found.searchable_documents
    rows = {name: row for row, name in enumerate(documents.ids)}
    asked = [q for q in found.queries if 0 < len(q.relevant_documents) < len(documents.ids) - bool(q.own_document)]
    has_wrong = any(grade <= 0 for q in found.queries for grade in q.relevance.values())
    seen: Counter[str] = Counter()  # numbers queries with the same text
    kept = []
    for query in (_ranked_query(dataset.name, q, documents, rows, has_wrong=has_wrong) for q in asked):
        kept.append(replace(query, id=query.id.numbered(seen[query.id])))
        seen[query.id] += 1
    none = sum(not q.relevant_documents for q in found.queries)
    excluded = {"no document is right": none, "every document is right": len(found.queries) - len(asked) - none}
    return Items(kept, {reason: count for reason, count in excluded.items() if count})


def logged_queries(dataset: Dataset, _level: int | str, _maker: VariantMaker) -> Items:
    """Search all passages with each query of a log, without labels.

    An item's id also covers the documents, so it changes if the documents or the rule for equal documents change.
    """
    found = dataset.collection
    if found is None or not found.passages:
        raise NothingToMeasure(
            f"{dataset.name} has no articles without labels: see --data=passages:PATH", needs=ARTICLES
        )
    if not found.queries:
        raise NothingToMeasure(f"{dataset.name} has no queries: name the log, --queries=FILE", needs="a log of queries")
    _refuse_single_document(dataset.name, found)
    documents = found.searchable_documents
    lock = documents.fingerprint

    def asked(q: CollectionQuery) -> LoggedQuery:
        item = ItemId.of(dataset.name, content_hash(q.text, lock), "query", 1, "logged", 0)
        return LoggedQuery(item, q.text, documents, q.weight, q.cluster)

    return Items(tuple(map(asked, found.queries)))


def contrasts(dataset: Dataset, _level: int | str, maker: VariantMaker) -> Items:
    """Return two queries and two documents, each right for one of the queries: from the data, or made from a search."""
    found = dataset.collection
    if found is not None and not found.passages:
        return collect_items(dataset, _number_contrasts(dataset.name, found, maker))
    if not dataset.contrasts:
        raise NothingToMeasure(
            f"{dataset.name} has no contrasts of queries: see --data=contrast:PATH", needs="contrasts of queries"
        )
    return Items(dataset.contrasts)


def _refuse_single_document(name: str, collection: Collection) -> None:
    if len(collection.documents) < 2:
        raise NothingToMeasure(f"{name} has {len(collection.documents)} document: a search needs two or more")


def _ranked_query(
    name: str, query: CollectionQuery, documents: Documents, rows: Mapping[str, int], *, has_wrong: bool
) -> RankedQuery:
    right = sorted(
        ((rows[one], grade) for one, grade in query.relevant_documents.items()), key=lambda one: (-one[1], one[0])
    )
    key = content_hash(query.text, *(documents.texts[row] for row, _ in right))
    negatives = tuple(sorted(rows[one] for one in query.negatives))
    item = ItemId.of(name, key, "query", 1, "ranked")
    slices = tuple(query.slices.items())
    own = rows[query.own_document] if query.own_document else None
    wrong = (*(rows[one] for one, grade in query.relevance.items() if grade <= 0), *negatives)
    return RankedQuery(
        item, query.text, documents, tuple(right), negatives, query.cluster, slices=slices, own=own,
        shares=query.shares, wrong=wrong if has_wrong else None,
    )  # fmt: skip


def _refuse_labelled_search(dataset: Dataset) -> None:
    """Raise NothingToMeasure for queries and documents with labels."""
    if dataset.collection is not None and not dataset.collection.passages:
        raise NothingToMeasure(f"{dataset.name} is a search with labels", needs="data other than a search with labels")


def random_pairs(dataset: Dataset, _level: int | str, maker: VariantMaker) -> Items:
    """Return the random pairs that calibrate on this data. There are none for a labelled search, which has its own
    checks.
    """
    _refuse_labelled_search(dataset)
    found = dataset.draw_random_pairs(seed=maker.seed)
    if len(found) < 2:
        raise NothingToMeasure(f"{dataset.name} has no two sentences without a shared content word")
    splits = {g.cluster: g.split for g in dataset.groups}
    return Items(tuple(replace(p, label=None, split=splits.get(p.cluster, p.split)) for p in found))


def repeated_texts(dataset: Dataset, _level: int | str, _maker: VariantMaker) -> Items:
    """Return a few texts of different clusters, to be encoded a second time; none for a search with labels."""
    _refuse_labelled_search(dataset)
    first: dict[str, str] = {}  # text of each cluster, in the order of hashes
    for cluster, text in _texts_by_cluster(dataset):
        first[cluster] = min(first.get(cluster, text), text, key=content_hash)
    return Items(
        tuple(
            Repeated(ItemId.of(dataset.name, content_hash(text), "repeated", 1, "again", 0), text, cluster)
            for cluster, text in sorted(first.items(), key=lambda entry: content_hash(entry[1]))[:MAX_REPEATED]
        )
    )


def shortened_texts(dataset: Dataset, _level: int | str, _maker: VariantMaker) -> Items:
    """Return the longest texts of the data, each paired with the same text without its last three words.

    A model that truncates the text does not see the difference. There are none for a search with labels, since its
    documents may be longer than a model reads.
    """
    _refuse_labelled_search(dataset)
    passages = [
        (g.cluster, g.passage.around(g.source, sentences=MAX_PASSAGE_SENTENCES)) for g in dataset.groups if g.passage
    ]
    by_cluster: dict[str, str] = {}
    for cluster, text in [*passages, *_texts_by_cluster(dataset)]:
        by_cluster[cluster] = max(by_cluster.get(cluster, ""), text, key=lambda t: (len(t), t))
    longest = sorted(by_cluster.items(), key=lambda entry: (-len(entry[1]), entry[1]))[:MAX_CUT]
    found = [(c, t, t.rsplit(None, TAIL)[0]) for c, t in longest if len(t.split()) > TAIL]
    if not found:
        raise NothingToMeasure(f"{dataset.name} has no text of {TAIL + 1} words")
    return Items(
        tuple(
            Shortened(
                ItemId.of(dataset.name, content_hash(text), "cut", 1, "last-words", 0), text, short, None, cluster
            )
            for cluster, text, short in found
        )
    )


def _texts_by_cluster(dataset: Dataset) -> Iterator[tuple[str, str]]:
    yield from ((g.cluster, g.source) for g in dataset.groups)
    yield from ((p.cluster, text) for p in dataset.pairs for text in (p.first, p.second))
    yield from dataset.texts
