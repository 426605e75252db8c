"""The texts of a search that are edited: queries, and sentences of right documents."""

import json

import pytest

from encheck.datasets.collection import (
    ArticlePassage,
    Collection,
    CollectionQuery,
    assign_query_clusters,
    make_text_groups,
)
from encheck.datasets.load import load
from encheck.datasets.splitting import split_sentences
from encheck.errors import NothingToMeasure
from encheck.items import contrasts, random_pairs, repeated_texts, shortened_texts
from encheck.items.variants import VariantMaker

DOCUMENTS = {
    "a": "# Refunds\n\nA refund takes 14 days to arrive. It is free of charge in May.",
    "b": "Parcels leave our shop at noon every day. Yes.",
    "c": "Nobody asked for this sentence at all.",
}
QUERIES = [
    CollectionQuery("q1", "how long does a refund take", {"a": 1, "c": 0}),
    CollectionQuery("q2", "is a refund free in May", {"a": 2}),
    CollectionQuery("q3", "when do parcels leave", {"b": 1}),
]


def collection(**how):
    return Collection(DOCUMENTS, assign_query_clusters(QUERIES), **how)


def test_queries_and_sentences_of_right_documents_are_texts_in_the_cluster_of_their_query():
    found = make_text_groups("own", collection())
    assert {group.source for group in found} == {
        *(q.text for q in QUERIES),
        "A refund takes 14 days to arrive.",
        "It is free of charge in May.",
        "Parcels leave our shop at noon every day.",
    }
    clusters = {group.source: group.cluster for group in found}
    assert clusters["A refund takes 14 days to arrive."] == clusters["is a refund free in May"]
    assert len(set(clusters.values())) == 2
    assert all(group.paraphrase == group.source and not group.variants for group in found)


def test_the_order_of_the_rows_changes_no_text_and_no_cluster():
    turned = Collection(dict(reversed(DOCUMENTS.items())), assign_query_clusters(QUERIES[::-1]))
    assert set(make_text_groups("own", turned)) == set(make_text_groups("own", collection()))


def test_of_many_texts_some_are_taken_by_their_hash(monkeypatch):
    whole = make_text_groups("own", collection())
    monkeypatch.setattr("encheck.datasets.collection.MAX_TEXT_GROUPS", 2)
    found = make_text_groups("own", collection())
    assert (len(whole), len(found)) == (6, 4)
    assert found == (*whole[:2], *whole[3:5])


def test_a_query_as_long_as_a_document_is_left_out():
    long = CollectionQuery("q4", "word " * 61, {"b": 1})
    found = make_text_groups("own", Collection(DOCUMENTS, assign_query_clusters([*QUERIES, long])))
    assert found == make_text_groups("own", collection())


def test_documents_that_nobody_judged_give_no_text():
    passage = ArticlePassage("a#1", "a", "Refunds", "", "A refund takes 14 days to arrive.")
    assert make_text_groups("own", collection(passages=(passage,))) == ()


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("It was said at an Aug. 25 hearing. Nobody came.", 2),
        ('He said "Stop." Then Mr. Lee left the U.S. on Monday.', 2),
        ("A wrapped line goes on\nin the next one here. Title\n\nThe last one, e.g. this.", 1),
        ("no capitals here at all. none here.", 1),
        ("一二三。四五六。", 2),
    ],
)
def test_sentences_end_as_sentences_do(text, found):
    assert len(split_sentences(text)) == found


@pytest.fixture
def search(tmp_path):
    """A search of one file, with these (query, document) rows."""

    def search(*rows):
        path = tmp_path / "own.jsonl"
        path.write_text("".join(f"{json.dumps({'query': q, 'document': d})}\n" for q, d in rows), "utf-8")
        return load(f"retrieval:{path}")

    return search


@pytest.mark.parametrize("build", [random_pairs, repeated_texts, shortened_texts])
def test_a_search_with_labels_keeps_its_own_checks(search, build):
    data = search(("what of refunds", "A refund takes 14 days."), ("what of parcels", "Parcels leave at noon."))
    assert data.groups
    with pytest.raises(NothingToMeasure, match="is a search with labels"):
        build(data, 1, VariantMaker())


def test_a_number_of_query_and_document_makes_a_contrast_in_another_notation(search):
    text = "We refund you within forty minutes of your call."
    (found,) = contrasts(
        search(("a refund takes 40 minutes", text), ("what of parcels", "None.")), 1, VariantMaker()
    ).included
    (asked, other), (right, wrong) = found.queries, found.documents
    assert (asked, right) == ("a refund takes 40 minutes", text)
    assert other.split()[3] in ("39", "41", "30", "50", "45", "35")
    assert len({asked, other, right, wrong}) == 4
    assert wrong.replace(wrong.split()[4], "forty") in (text, wrong)
    assert found.id.parts_or_none.relation == "contrast"


def test_a_document_in_the_notation_of_the_query_gets_another_one(search):
    data = search(("a refund takes 40 minutes", "We refund you within 40 minutes of your call."), ("what", "None."))
    (found,) = contrasts(data, 1, VariantMaker()).included
    assert "40" in found.queries[0]
    assert "40" not in found.documents[0]
    assert "forty" in found.documents[0]


def test_no_word_tells_both_the_queries_and_the_documents_apart(search):
    data = search(("who won the 1990 election", "She won an election in 1990 but lost."), ("what", "None."))
    (found,) = contrasts(data, 1, VariantMaker()).included
    queries, documents = (set(a.split()) ^ set(b.split()) for a, b in (found.queries, found.documents))
    assert "1990" in queries
    assert not queries & documents


@pytest.mark.parametrize(
    ("query", "document"),
    [
        ("four dogs ran away", "The police found 4 cats in the yard."),
        ("a refund takes 40 minutes", "We refund you within fifty minutes of your call."),
        ("a refund takes a while", "We refund you within forty minutes of your call."),
    ],
)
def test_another_number_or_another_thing_counted_makes_none(search, query, document):
    with pytest.raises(NothingToMeasure, match=r"no sentence of .* gives this check something to compare"):
        contrasts(search((query, document), ("what of parcels", "None.")), 1, VariantMaker())


def test_the_same_seed_makes_the_same_contrasts_and_other_rows_change_none(search):
    rows = [(f"the lift takes {n} persons", f"Our lift takes {n} persons up the hill.") for n in (12, 14, 16)]
    first = contrasts(search(*rows), 1, VariantMaker()).included
    again = contrasts(search(*rows[::-1], ("and", "More of it.")), 1, VariantMaker()).included
    assert {one.id for one in first} == {one.id for one in again}
    assert len(first) == 3
