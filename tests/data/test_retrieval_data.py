"""Queries and documents: the layouts of BEIR, MTEB, TREC, LlamaIndex and FlagEmbedding, one file of rows."""

import gzip
import json
import re
import shlex
import subprocess

import pyarrow
import pyarrow.parquet
import pytest

from encheck.datasets.collection import CollectionQuery, assign_query_clusters, find_data_warnings, find_unjudged_copies
from encheck.datasets.load import load
from encheck.errors import DataError
from encheck.reporting.data import describe_dataset

CORPUS = [
    {"_id": "d 1", "title": "Returns", "text": "Send it back within a month."},
    {"_id": 2, "title": "", "text": "Parcels take three days."},
    {"_id": "d3", "text": "Cards and cash are taken."},
]
QUERIES = [{"_id": "q1", "text": "How long is shipping?"}, {"_id": "q2", "text": "Can I return it?"}]
QRELS = [
    {"query-id": "q1", "corpus-id": 2, "score": 2},
    {"query-id": "q1", "corpus-id": "d3", "score": 0},
    {"query-id": "q2", "corpus-id": "d 1", "score": 1},
]


def jsonl(rows):
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def tsv(rows):
    return ("query-id\tcorpus-id\tscore\n" + "".join("\t".join(map(str, row.values())) + "\n" for row in rows)).encode()


def put(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".parquet":
        rows = [{name: str(value) for name, value in row.items()} for row in content]
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), path)
    else:
        path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


def flat(folder, *, corpus=CORPUS, queries=QUERIES, qrels=QRELS):
    for name, rows in (("corpus", corpus), ("queries", queries), ("qrels", qrels)):
        put(folder / f"{name}.jsonl", jsonl(rows))
    return folder


def collection(path, kind="retrieval", **options):
    return load(f"{kind}:{path}", **{"sample": None, **options}).collection


def complaint(path, kind="retrieval"):
    with pytest.raises(DataError) as caught:
        load(f"{kind}:{path}", sample=None)
    return str(caught.value)


def beir(folder):
    put(folder / "corpus.jsonl.gz", jsonl(CORPUS))
    put(folder / "queries.jsonl", jsonl(QUERIES))
    put(folder / "qrels" / "test.tsv.gz", tsv(QRELS))
    put(folder / "qrels" / "train.tsv", tsv(QRELS[:1]))
    return folder


def mteb(folder):
    put(folder / "corpus" / "corpus-00000-of-00002.parquet", [{**CORPUS[0]}, {**CORPUS[1]}])
    put(folder / "corpus" / "corpus-00001-of-00002.parquet", [CORPUS[2]])
    put(folder / "queries" / "queries-00000-of-00001.parquet", QUERIES)
    put(folder / "qrels" / "test-00000-of-00001.parquet", QRELS)
    return folder


@pytest.mark.parametrize("layout", [flat, beir, mteb])
def test_every_layout_gives_the_same_collection(tmp_path, layout):
    found = collection(layout(tmp_path))
    assert found.documents == {
        "d 1": "Returns Send it back within a month.",
        "2": "Parcels take three days.",
        "d3": "Cards and cash are taken.",
    }
    assert [(q.id, q.relevance) for q in found.queries] == [("q1", {"2": 2, "d3": 0}), ("q2", {"d 1": 1})]
    assert found.split == ("" if layout is flat else "test")


def test_another_split_is_taken_by_its_file_and_queries_of_others_are_counted(tmp_path):
    found = collection(beir(tmp_path) / "qrels" / "train.tsv")
    assert (found.split, [q.id for q in found.queries]) == ("train", ["q1"])
    assert found.excluded == {"queries that the judgements of train do not name": 1}


def test_splits_without_test_ask_which(tmp_path):
    beir(tmp_path)
    (tmp_path / "qrels" / "test.tsv.gz").rename(tmp_path / "qrels" / "dev.tsv.gz")
    assert "holds the splits dev, train and no test. Name the file of one: --data=retrieval:" in complaint(tmp_path)


def test_the_small_form_of_limit_is_read_as_it_is(shared_data):
    found = collection(shared_data / "limit_small")
    assert (len(found.documents), len(found.queries), len(found.clusters)) == (46, 1_000, 1)
    assert found.queries[0].relevant_documents == {"Geneva Durben": 1, "Dorathea Bastress": 1}


UNKNOWN = {"query-id": "x", "corpus-id": "x", "score": 1}
WRONG = {
    "missing query": ({"qrels": [UNKNOWN]}, "qrels.jsonl:1: the query 'x' is judged, but the query is missing"),
    "missing document": ({"qrels": [{**UNKNOWN, "query-id": "q1"}]}, "qrels.jsonl:1: the document 'x' is judged"),
    "no text": ({"queries": [{"_id": "q1", "text": " "}, QUERIES[1]]}, "queries.jsonl:1: the query text is empty"),
    "word": ({"qrels": [{**QRELS[0], "score": "high"}]}, "qrels.jsonl:1: the relevance is 'high', but should be a"),
    "part": ({"qrels": [{**QRELS[0], "score": 0.5}]}, "qrels.jsonl:1: the relevance is 0.5"),
    "twice": ({"corpus": [*CORPUS, {"_id": "2", "text": "Other."}]}, "corpus.jsonl:4: the id '2' appears twice, with"),
    "judged twice": ({"qrels": [QRELS[0], {**QRELS[0], "score": 1}]}, "qrels.jsonl:2: 'q1' and '2' are judged twice"),
    "no id": ({"corpus": [{"_id": None, "text": "A."}]}, "corpus.jsonl:1: the id is None, but should be text"),
    "title": ({"corpus": [{"_id": 1, "Title": "A", "text": "A."}]}, "corpus.jsonl:1: unused column 'Title'; did you"),
    "column": ({"corpus": [{"key": "a", "text": "A."}]}, "corpus.jsonl:1: no column for the id of a document"),
    "nothing": ({"qrels": []}, "qrels.jsonl has no judgements"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_said_with_file_and_line(tmp_path, case):
    changed, expected = WRONG[case]
    assert expected in complaint(flat(tmp_path, **changed))


def test_bad_judgements_can_be_skipped_and_are_counted(tmp_path):
    rows = [*QRELS, {"query-id": "q1", "corpus-id": "x", "score": 1}]
    found = load(f"retrieval:{flat(tmp_path, qrels=rows)}", skip_bad_rows=True)
    assert len(found.skipped) == 1
    assert len(found.collection.queries) == 2


def test_what_stands_twice_or_has_no_text_is_counted(tmp_path):
    found = collection(flat(tmp_path, corpus=[*CORPUS, CORPUS[0], {"_id": "e", "title": "", "text": " "}][:4]))
    assert found.excluded == {"repeated documents": 1}
    blank = [*CORPUS, {"_id": "e", "title": "", "text": ""}]
    assert collection(flat(tmp_path, corpus=blank)).excluded == {"documents without text": 1}


def test_a_gzipped_file_that_is_cut_off_is_refused(tmp_path):
    path = beir(tmp_path) / "corpus.jsonl.gz"
    path.write_bytes(path.read_bytes()[:-12])
    assert "is not a complete gzip file" in complaint(tmp_path)


def test_a_parquet_folder_with_two_schemas_names_the_file(tmp_path):
    mteb(tmp_path)
    put(tmp_path / "corpus" / "corpus-00001-of-00002.parquet", [{"key": "d3", "text": "Cards."}])
    assert "corpus-00001-of-00002.parquet:1: no column for the id of a document (columns: key, text" in complaint(
        tmp_path
    )


def test_a_folder_that_lacks_a_part_says_what_it_holds(tmp_path):
    (flat(tmp_path) / "queries.jsonl").unlink()
    assert "has no queries" in complaint(tmp_path)
    assert "It holds: corpus.jsonl, qrels.jsonl" in complaint(tmp_path)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("collection.tsv", 'd 1\t"Say yes.\n2\tParcels\nd3\tCards"\n'),
        ("collection/collection.tsv", "d 1\tSend\n2\tParcels\nd3\tCards\n"),
        (
            "docs/a.jsonl",
            '{"id": "d 1", "contents": "Send"}\n{"id": 2, "contents": "2"}\n{"id": "d3", "contents": "3"}\n',
        ),
    ],
)
def test_the_command_that_writes_a_corpus_is_printed(tmp_path, name, content):
    """MS MARCO's collection, and Anserini's documents."""
    (flat(tmp_path) / "corpus.jsonl").unlink()
    put(tmp_path / name, content.encode())
    (tmp_path / "queries.jsonl").unlink()
    put(tmp_path / "queries.tsv", b"q1\tshipping?\nq2\treturn?\n")
    for _ in range(2):  # of the corpus, and of the queries' header
        subprocess.run(["sh", "-c", complaint(tmp_path).partition("Remedy: ")[2]], check=True)
    assert [*collection(tmp_path).documents] == ["d 1", "2", "d3"]
    put(tmp_path / "qrels" / "test.tsv", tsv(QRELS))
    put(tmp_path / "queries.jsonl", jsonl(QUERIES))
    assert "keep only one of them" in complaint(tmp_path)


ROWS = (
    "query,document,negative,negative_1,cluster,language\n"
    "How long?,Three days.,Three months.,,shipping,en\n"
    "How long?,It takes three days.,,Three months.,shipping,en\n"
    "Kann ich zahlen?,Karten gehen.,,,pay,de\n"
)


def test_one_file_has_its_queries_right_documents_negatives_clusters_and_slices(tmp_path):
    found = collection(put(tmp_path / "own.csv", ROWS.encode()))
    first, second = found.queries
    texts = {name: found.documents[name] for name in first.relevant_documents}
    assert set(texts.values()) == {"Three days.", "It takes three days."}
    assert [found.documents[name] for name in first.negatives] == ["Three months."]
    assert (first.cluster, dict(first.slices), dict(second.slices)) == (
        "shipping",
        {"language": "en"},
        {"language": "de"},
    )
    assert len(found.documents) == 4


@pytest.mark.parametrize(
    ("header", "said"),
    [
        ("query,document,negatve", "own.csv:1: unused column 'negatve'; did you mean 'negative'?"),
        ("query,document,document", "own.csv:1: two columns are called 'document': rename one of them"),
    ],
)
def test_a_misspelt_or_repeated_column_is_refused(tmp_path, header, said):
    assert said in complaint(put(tmp_path / "own.csv", f"{header}\nA?,One.,Two.\n".encode()))


def test_a_column_may_be_absent_from_the_first_row_of_json_lines(tmp_path):
    rows = [
        {"query": "A?", "document": "One.", "relevance": 2},
        {"query": "A?", "document": "Two.", "relevance": 0, "negative": "Three.", "language": "en"},
    ]
    for first_row in (rows, rows[::-1]):
        found = collection(put(tmp_path / "own.jsonl", jsonl(first_row)))
        (query,) = found.queries
        assert sorted(query.relevance.values()) == [0, 2]
        assert [found.documents[name] for name in query.negatives] == ["Three."]


def test_a_negative_that_is_right_elsewhere_for_the_query_is_counted_and_left_out(tmp_path):
    rows = b"query,positive,negative\nA?,One.,Two.\nA?,Two.,Three.\n"
    found = collection(put(tmp_path / "own.csv", rows))
    assert [found.documents[name] for name in found.queries[0].negatives] == ["Three."]
    assert found.excluded == {"hard negatives that are right for the same query": 1}


@pytest.mark.parametrize("ending", ["jsonl", "csv", "parquet"])
def test_triplets_are_read_as_sentence_transformers_writes_them(tmp_path, ending):
    row = {"anchor": "A?", "positive": "One.", "negative": "Two."}
    content = {"jsonl": jsonl([row]), "csv": b"anchor,positive,negative\nA?,One.,Two.\n", "parquet": [row]}[ending]
    found = collection(put(tmp_path / f"own.{ending}", content), kind="triplets")
    assert [(q.text, [found.documents[n] for n in (*q.relevant_documents, *q.negatives)]) for q in found.queries] == [
        ("A?", ["One.", "Two."])
    ]


def test_triplets_without_negatives_are_none(tmp_path):
    path = put(tmp_path / "own.csv", b"anchor,positive\nA?,One.\n")
    assert "no column negative (columns: anchor, positive)" in complaint(path, kind="triplets")


def test_pairs_of_queries_and_documents_are_taken_for_a_collection_and_it_is_said(tmp_path, caplog):
    path = put(tmp_path / "own.csv", b"query,document,label\nA?,One.,1\nA?,Two.,0\nB?,Two.,1\n")
    found = collection(path, kind="pairs")
    assert [len(q.relevant_documents) for q in found.queries] == [1, 1]
    assert f"holds queries and documents, so it is read as --data=retrieval:{path}" in caplog.text


def asked(name, *right, negatives=(), cluster=""):
    return CollectionQuery(name, name, dict.fromkeys(right, 1), negatives, cluster)


def test_what_queries_share_is_each_right_document_and_the_cluster_that_the_data_name():
    queries = [asked("a", "1", "2"), asked("b", "2", negatives=("1",)), asked("c", "3", cluster="own"), asked("d")]
    a, b, c, d = (set(q.shares) for q in assign_query_clusters(queries))
    assert len(a & b) == 1
    assert (len(a), len(c), d) == (2, 2, set())
    assert not (a | b) & c


def test_a_chain_of_queries_is_one_cluster_and_its_ends_share_nothing():
    first, _, last = assign_query_clusters([asked("a", "1"), asked("b", "1", "2"), asked("c", "2")])
    assert first.cluster == last.cluster
    assert not {*first.shares} & {*last.shares}


def test_clusters_join_queries_by_right_documents_and_never_by_negatives():
    queries = [asked("a", "x"), asked("b", "x", "y"), asked("c", "y"), asked("d", "z", negatives=("x",)), asked("e")]
    names = [q.cluster for q in assign_query_clusters(queries)]
    assert names[0] == names[1] == names[2]
    assert len(set(names)) == 3
    assert [q.cluster for q in assign_query_clusters(queries[::-1])] == names[::-1]


def test_a_named_cluster_goes_before_the_right_documents():
    names = [q.cluster for q in assign_query_clusters([asked("a", "x", cluster="one"), asked("b", "x", cluster="two")])]
    assert names == ["one", "two"]


def test_a_sample_draws_clusters_of_queries_and_keeps_all_documents(tmp_path):
    found = load(f"retrieval:{flat(tmp_path)}", sample=1)
    assert (len(found.collection.queries), len(found.collection.documents), found.sampled, found.rows) == (
        1,
        3,
        True,
        2,
    )


def test_the_fingerprint_moves_with_texts_and_judgements(tmp_path):
    changed = [
        {},
        {"corpus": [*CORPUS[:2], {"_id": "d3", "text": "Cards are taken."}]},
        {"qrels": [*QRELS[:2], {**QRELS[2], "score": 2}]},
        {"queries": [QUERIES[0], {"_id": "q2", "text": "May I return it?"}]},
    ]
    assert len({load(f"retrieval:{flat(tmp_path, **what)}").fingerprint for what in changed}) == 4


def test_what_is_odd_is_found(tmp_path):
    words = " ".join(f"w{i}" for i in range(20))
    corpus = [
        *CORPUS,
        {"_id": "copy", "text": "parcels  take three days."},
        {"_id": "long", "text": f"{words} end"},
        {"_id": "near", "text": words},
        {"_id": "huge", "text": "word " * 100_000},
    ]
    qrels = [
        *QRELS,
        {"query-id": "q3", "corpus-id": "long", "score": 1},
        {"query-id": "q4", "corpus-id": 2, "score": 0},
    ]
    queries = [*QUERIES, {"_id": "q3", "text": "Which words?"}, {"_id": "q4", "text": "which words?"}]
    found = collection(flat(tmp_path, corpus=corpus, queries=queries, qrels=qrels))
    said = {one.what.partition(",")[0]: (one.count, one.example) for one in find_data_warnings(found)}
    assert said == {
        "documents with the same text as another document": (1, "'copy'"),
        "queries without a right document": (1, "'q4'"),
        "right documents with an unjudged near-duplicate": (2, "'2' and 'copy'"),
        "documents of 100": (1, "'huge'"),
        "queries with the same text as another query": (1, "'q4'"),
    }
    assert set(find_unjudged_copies(found)) == {("2", "copy"), ("long", "near")}


def test_the_description_says_split_and_what_was_left_out(tmp_path):
    text = "\n".join(describe_dataset(load(f"retrieval:{beir(tmp_path) / 'qrels' / 'train.tsv'}")))
    for part in (
        "documents                  3",
        "split of the judgements    train",
        "queries that the judgements of train",
    ):
        assert part in text


def said_of(path):
    return {one.what: (one.count, one.example) for one in find_data_warnings(collection(path))}


def test_the_same_question_with_other_right_documents_is_suspected(tmp_path):
    queries = [
        *QUERIES,
        {"_id": "q3", "text": "how long is  shipping?"},
        {"_id": "q4", "text": "How long is shipping?"},
    ]
    qrels = [*QRELS, {"query-id": "q3", "corpus-id": "d3", "score": 1}, {"query-id": "q4", "corpus-id": 2, "score": 1}]
    found = said_of(flat(tmp_path, queries=queries, qrels=qrels))
    assert found["queries with the same text as another query"] == (2, "'q3'")
    assert found["of these with different right documents: suspected label noise"] == (1, "'q3'")


def test_a_wrong_document_with_the_words_of_a_right_one_is_suspected(tmp_path):
    corpus = [*CORPUS, {"_id": "copy", "text": "Three days take parcels!"}]
    judged = {"query-id": "q1", "corpus-id": "copy", "score": 0}
    found = said_of(flat(tmp_path, corpus=corpus, qrels=[*QRELS, judged]))
    (said,) = [what for what in found if what.startswith("wrong documents with nearly the same words")]
    assert found[said] == (1, "'q1' and 'copy'")
    elsewhere = said_of(flat(tmp_path, corpus=corpus, qrels=[*QRELS, {**judged, "query-id": "q2"}]))
    assert said not in elsewhere


def test_a_right_document_without_a_word_of_the_query_beside_one_with_all_of_them_is_suspected(tmp_path):
    corpus = [
        *CORPUS,
        {"_id": "x", "text": "Gift cards expire."},
        {"_id": "y", "text": "When gift cards expire, call."},
    ]
    queries = [{"_id": "q1", "text": "When do gift cards expire?"}]
    right = {"query-id": "q1", "corpus-id": 2, "score": 1}
    found = said_of(flat(tmp_path, corpus=corpus, queries=queries, qrels=[right]))
    (said,) = [what for what in found if what.startswith("queries that share no word with their right documents")]
    assert found[said] == (1, "'q1' and 'x'")
    judged = [{"query-id": "q1", "corpus-id": name, "score": 0} for name in "xy"]
    assert said not in said_of(flat(tmp_path, corpus=corpus, queries=queries, qrels=[right, *judged]))
    shares = [{"query-id": "q1", "corpus-id": "d3", "score": 1}]
    assert said not in said_of(flat(tmp_path, corpus=corpus, queries=queries, qrels=shares))


def test_sound_data_have_nothing_odd(tmp_path):
    assert said_of(flat(tmp_path)) == {}


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("qrels/test.tsv", "q1\t2\t2\nq1\td3\t0\nq2\td 1\t1\n"),
        ("qrels.tsv", "q1\t0\t2\t2\nq1\t0\td3\t0\n\nq2\t0\td 1\t1\n"),
        ("qrels.txt", "q1 0 2 2\r\nq1 0 d3 0\r\nq2\t0\td 1\t1\r\n"),
        ("qrels/dev.qrels.gz", "q1 Q0 2 2\nq1 Q0 d3 0\nq2\tQ0\td 1\t1\n"),
    ],
)
def test_judgements_of_trec_are_read(tmp_path, name, lines):
    expected = collection(flat(tmp_path))
    (tmp_path / "qrels.jsonl").unlink()
    put(tmp_path / name, lines.encode())
    assert [one.relevance for one in collection(tmp_path).queries] == [{"2": 2, "d3": 0}, {"d 1": 1}]
    assert collection(tmp_path / name).queries == collection(tmp_path).queries
    assert collection(tmp_path).documents == expected.documents
    put(tmp_path / name, f"{lines}q1 0".encode())
    assert "fields, but the first line has" in complaint(tmp_path)


def test_flat_judgements_of_another_split_are_named_by_their_file(tmp_path):
    flat(tmp_path)
    put(tmp_path / "qrels.dev.tsv", b"q1\t0\td3\t1\n")
    found = collection(tmp_path / "qrels.dev.tsv")
    assert (found.split, found.queries[0].relevant_documents) == ("dev", {"d3": 1})
    assert collection(tmp_path).queries[0].relevant_documents == {"2": 2}


def test_a_run_and_judgements_without_texts_are_refused_with_a_command(tmp_path):
    flat(tmp_path)
    (tmp_path / "qrels.jsonl").unlink()
    run = put(tmp_path / "qrels.txt", b"q1 Q0 2 1 12.5 bm25\n")
    said = complaint(tmp_path)
    assert "is a run of TREC" in said
    command = said.partition("right: ")[2].replace(" > qrels.txt", "")
    assert subprocess.run(shlex.split(command), capture_output=True, text=True).stdout == "q1 0 2 1\n"
    alone = put(tmp_path / "alone" / "judged.txt", run.read_bytes().replace(b" 1 12.5 bm25", b" 1"))
    command = complaint(alone).partition("Remedy: ")[2].partition("; then")[0]
    shell = command.replace("corpus.jsonl queries.jsonl", f"{tmp_path}/corpus.jsonl {tmp_path}/queries.jsonl")
    assert subprocess.run(shell, shell=True, cwd=tmp_path / "alone").returncode == 0
    assert collection(tmp_path / "alone" / "SEARCH").queries[0].relevant_documents == {"2": 1}


LLAMA_INDEX = {
    "queries": {"a1": "how do i pay", "b2": "where is it"},
    "corpus": {"n1": "To pay, use a card.", "n2": "It is on its way.", "n3": "We are closed."},
    "relevant_docs": {"a1": ["n1"], "b2": ["n2", "n3"]},
    "mode": "text",
}


@pytest.mark.parametrize("graded", [False, True])
def test_one_json_file_holds_queries_corpus_and_judgements(tmp_path, graded):
    found = {name: value for name, value in LLAMA_INDEX.items() if name != "mode"}
    if graded:  # as BEIR's own loader gives them
        found["corpus"] = {name: {"title": "", "text": text} for name, text in LLAMA_INDEX["corpus"].items()}
        found["qrels"] = {query: dict.fromkeys(names, 2) for query, names in found.pop("relevant_docs").items()}
    path = put(tmp_path / "qa.json", json.dumps(found if graded else LLAMA_INDEX).encode())
    for data in (collection(path), load(str(path), sample=None).collection):
        assert data.documents == LLAMA_INDEX["corpus"]
        assert {one.text: [*one.relevant_documents] for one in data.queries} == {
            "how do i pay": ["n1"], "where is it": ["n2", "n3"],
        }  # fmt: skip
    missing = {**LLAMA_INDEX, "relevant_docs": {"a1": ["n9"]}}
    said = complaint(put(path, json.dumps(missing).encode()))
    assert "qa.json:relevant_docs:1: the document 'n9' is judged, but the document is missing" in said
    put(path, json.dumps({**LLAMA_INDEX, "relevant_docs": {"a1": "n3", "b2": [["n1"]]}}).encode())
    assert "qa.json:relevant_docs:2: the document's id is ['n1'], but should be text" in complaint(path)


@pytest.mark.parametrize("kind", ["retrieval", "triplets"])
@pytest.mark.parametrize("ending", ["jsonl", "json", "parquet"])
def test_rows_may_have_lists_of_documents(tmp_path, kind, ending):
    rows = [
        {"query": "a", "pos": ["x", "y"], "neg": ["z"], "pos_scores": [0.9, 0.8], "type": "normal"},
        {"query": "b", "pos": ["z"], "neg": ["x", "y"], "pos_scores": [0.9], "type": "normal"},
    ]
    passages = [
        {"query": row["query"], **{f"{side}_passages": [{"docid": "1", "title": "T", "text": one} for one in row[name]]
                                   for side, name in (("positive", "pos"), ("negative", "neg"))}}
        for row in rows
    ]  # fmt: skip
    for lists, prefix in ((rows, ""), (passages, "T ")):
        path = tmp_path / f"own.{ending}"
        if ending == "parquet":
            pyarrow.parquet.write_table(pyarrow.Table.from_pylist(lists), path)
        else:
            put(path, json.dumps(lists).encode() if ending == "json" else jsonl(lists))
        found = collection(path, kind)
        texts = found.documents
        assert [{texts[name] for name in one.relevant_documents} for one in found.queries] == [
            {f"{prefix}x", f"{prefix}y"}, {f"{prefix}z"},
        ]  # fmt: skip
        assert [{texts[name] for name in one.negatives} for one in found.queries] == [
            {f"{prefix}z"}, {f"{prefix}x", f"{prefix}y"},
        ]  # fmt: skip
        assert [dict(one.slices) for one in found.queries] == [{} if prefix else {"type": "normal"}] * 2


@pytest.mark.parametrize("cell", ["NaN", "<NA>", "NULL", "\\N"])
def test_a_cell_without_a_value_is_no_text_no_cluster_and_no_slice(tmp_path, cell):
    table = f"query,document,negative,cluster,act\na,x,{cell},{cell},{cell}\nb,y,z,k,pay\n"
    found = collection(put(tmp_path / "own.csv", table.encode()))
    assert sorted(found.documents.values()) == ["x", "y", "z"]
    assert [dict(one.slices) for one in found.queries] == [{}, {"act": "pay"}]
    assert found.queries[0].cluster != cell
    said = complaint(put(tmp_path / "own.csv", f"query,document\na,x\nb,{cell}\n".encode()))
    assert f"own.csv:3: the document text is missing: the cell has {cell!r}" in said
    corpus = put(tmp_path / "beir" / "corpus.csv", f"_id,title,text\n1,{cell},words\n2,T,{cell}\n".encode())
    put(corpus.with_name("queries.jsonl"), jsonl(QUERIES[:1]))
    put(corpus.with_name("qrels.tsv"), b"q1 0 1 1\n")
    assert collection(corpus.parent).documents == {"1": "words", "2": "T"}


@pytest.mark.parametrize("score", [True, 10**10, None, "", "1,0", float("inf")])
def test_a_relevance_is_a_whole_number(tmp_path, score):
    path = flat(tmp_path, qrels=[{**QRELS[0], "score": score}])
    if score is True:
        assert collection(path).queries[0].relevant_documents == {"2": 1}
    else:
        found = "missing" if score in (None, "") else repr(score)
        assert f"qrels.jsonl:1: the relevance is {found}, but should be a whole number" in complaint(path)


def test_documents_of_100_000_words_are_read_in_every_format(tmp_path):
    text = "word " * 99_999 + "word"
    put(tmp_path / "own.csv", f'query,document\nWhich?,"{text}"\n'.encode())
    put(tmp_path / "own.parquet", [{"query": "Which?", "document": text}])
    for name in ("own.csv", "own.parquet"):
        found = collection(tmp_path / name)
        assert [*found.documents.values()] == [text]
        assert [one.count for one in find_data_warnings(found) if "100,000 words" in one.what] == [1]


def test_a_gzipped_file_that_is_cut_off_is_named_with_its_line(tmp_path):
    path = beir(tmp_path) / "corpus.jsonl.gz"
    whole = gzip.compress(jsonl([{"_id": str(i), "text": f"Document {i}."} for i in range(2_000)]))
    path.write_bytes(whole[: len(whole) // 2])
    assert re.search(r"corpus\.jsonl\.gz:\d{3,4}: is not a complete gzip file", complaint(tmp_path))


def test_parquet_files_may_differ_in_the_type_of_their_ids_and_in_titles(tmp_path):
    mteb(tmp_path)
    table = pyarrow.table({"_id": [3], "title": ["Paying"], "text": ["Cards and cash are taken."]})
    pyarrow.parquet.write_table(table, tmp_path / "corpus" / "corpus-00001-of-00002.parquet")
    put(tmp_path / "qrels" / "test-00000-of-00001.parquet", [{**QRELS[0], "corpus-id": 3}])
    found = collection(tmp_path)
    assert found.documents["3"] == "Paying Cards and cash are taken."
    assert found.queries[0].relevant_documents == {"3": 2}


@pytest.mark.parametrize("spoil", [lambda data: data[:-9], lambda data: data[9:], lambda _: b""])
def test_a_parquet_file_that_is_cut_off_is_named(tmp_path, spoil):
    path = mteb(tmp_path) / "corpus" / "corpus-00001-of-00002.parquet"
    path.write_bytes(spoil(path.read_bytes()))
    assert "corpus-00001-of-00002.parquet is not a Parquet file, or is truncated; copy" in complaint(tmp_path)


def test_a_query_that_lost_its_text_is_skipped_with_its_judgements_and_both_are_counted(tmp_path):
    path = flat(tmp_path, queries=[{"_id": "q1", "text": ""}, QUERIES[1]])
    found = load(f"retrieval:{path}", skip_bad_rows=True)
    assert [q.id for q in found.collection.queries] == ["q2"]
    assert [one.partition(": ")[0].rpartition("/")[2] for one in found.skipped] == [
        "queries.jsonl:1", "qrels.jsonl:1", "qrels.jsonl:2",
    ]  # fmt: skip


def test_ids_may_be_numbers_that_a_table_made_fractions_and_may_hold_blanks(tmp_path):
    corpus = [{"_id": 1.0, "text": "One."}, {"_id": " b c", "text": "Two."}, {"_id": "b c", "text": "Three."}]
    qrels = [{"query-id": 7, "corpus-id": "1", "score": 1}, {"query-id": 7.0, "corpus-id": " b c", "score": 1}]
    found = collection(flat(tmp_path, corpus=corpus, queries=[{"_id": "7", "text": "Which?"}], qrels=qrels))
    assert found.queries[0].relevant_documents == {"1": 1, " b c": 1}
    assert "the id is 2.5" in complaint(flat(tmp_path, corpus=[{"_id": 2.5, "text": "One."}]))


def test_trec_topics_and_documents_are_read_after_the_printed_command(tmp_path):
    (tmp_path / "topics.txt").write_text(
        "<top>\n<num> Number: 301\n<title> Organized\ncrime\n<desc> Description:\nWho?\n</top>\n"
        "<top>\n<num>302</num><title>Polio</title>\n</top>\n"
    )
    (tmp_path / "docs.sgml").write_text(
        '<DOC>\n<DOCNO> FT-1 </DOCNO>\n<HEADLINE>Gangs</HEADLINE>\n<TEXT>\nThey it\'s "met".\n</TEXT>\n</DOC>\n'
        "<DOC><DOCNO>FT-2</DOCNO><TEXT>A vaccine.</TEXT></DOC>\n"
    )
    (tmp_path / "qrels.txt").write_text("301 0 FT-1 1\n302 0 FT-2 1\n")

    for spec in (f"retrieval:{tmp_path}", f"passages:{tmp_path}", f"{tmp_path}/docs.sgml"):
        with pytest.raises(DataError, match="Remedy: python -c ") as raised:
            load(spec)
    with pytest.raises(DataError) as raised:
        load(f"retrieval:{tmp_path}")
    command = str(raised.value).partition("Remedy: ")[2].partition("; then, with")[0]
    subprocess.run(command, shell=True, check=True)
    found = load(f"retrieval:{tmp_path}", sample=None).collection

    assert dict(found.documents) == {"FT-1": 'Gangs They it\'s "met".', "FT-2": "A vaccine."}
    assert {q.text: [*q.relevant_documents] for q in found.queries} == {"Organized crime": ["FT-1"], "Polio": ["FT-2"]}
