"""Articles without labels and a log of queries: what is recognised, how it is cut, and what is refused."""

import json

import pyarrow
import pyarrow.parquet
import pytest

from encheck.datasets.clusters import find_first_near_duplicates
from encheck.datasets.load import data_label, guess_data_set, is_unlabelled_spec, load
from encheck.datasets.passages import Page, PageSection, PassageOptions, parse_html, parse_markdown
from encheck.datasets.splitting import WORD, split_passages
from encheck.errors import DataError, NothingToMeasure
from encheck.items import heading_queries, logged_queries, ranked_queries, title_queries
from encheck.items.variants import VariantMaker
from encheck.reporting.data import describe_dataset


@pytest.fixture
def centre(tmp_path):
    """A folder with an article in each format, and files that are none."""
    folder = tmp_path / "help"
    (folder / "deep" / ".git").mkdir(parents=True)
    (folder / "refunds.md").write_text("# Refunds\n\nAsk *us*.\n\n## When\n\n- in May\n- in June\n")
    page = "<title>T</title><h1>Shipping</h1><p>Three&nbsp;days.<script>no</script>"
    (folder / "deep" / "ship.html").write_text(page)
    (folder / "note.txt").write_text("Cards and cash are taken.\n")
    (folder / "rows.jsonl").write_text(json.dumps({"title": "Sizes", "text": "Shoes run small."}) + "\n")
    (folder / "rows.csv").write_text("body,title\nHats fit all.,Hats\n")
    pyarrow.parquet.write_table(pyarrow.table({"text": ["Gloves are warm."]}), folder / "rows.parquet")
    (folder / "logo.png").write_bytes(b"\x89PNG\0")
    (folder / "deep" / ".git" / "config.txt").write_text("hidden")
    (folder / "meta.json").write_text("{}")
    (folder / "linked").symlink_to(tmp_path / "other", target_is_directory=True)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "belts.txt").write_text("Belts are long.")
    (tmp_path / "other" / "back").symlink_to(folder, target_is_directory=True)
    return folder


def log_of(tmp_path, text="how long is shipping?\nrefund\nrefund\n", name="log.txt"):
    path = tmp_path / name
    path.write_text(text)
    return path


def data(path, log=None, *, skip_bad_rows=False, sample=None, **how):
    return load(str(path), sample=sample, skip_bad_rows=skip_bad_rows, passages=PassageOptions(log, **how))


def complaint(path, log=None, **how):
    with pytest.raises(DataError) as caught:
        data(path, log, **how)
    return str(caught.value)


def test_a_folder_in_every_format_is_recognised_and_the_guess_is_said(centre, tmp_path, caplog):
    found = data(centre, log_of(centre))
    texts = {one.id: one.text for one in found.collection.passages}
    assert texts == {
        "deep/ship.html#1": "Shipping\nThree days.",
        "linked/belts.txt#1": "Belts are long.",
        "note.txt#1": "Cards and cash are taken.",
        "refunds.md#1": "Refunds\nAsk us.",
        "refunds.md#2": "Refunds\nWhen\nin May\nin June",
        "rows.csv:2#1": "Hats\nHats fit all.",
        "rows.jsonl:1#1": "Sizes\nShoes run small.",
        "rows.parquet:1#1": "Gloves are warm.",
    }
    assert [(q.text, q.weight) for q in found.collection.queries] == [("how long is shipping?", 1), ("refund", 2)]
    assert (found.name, found.rows, found.collection.excluded) == (
        "help",
        2,
        {"log of queries": 1, "files ending in .png": 1, "files ending in .json": 1},
    )
    assert f"--data={centre} is read as --data=passages:" in caplog.text
    assert "2 files of plain text, 1 file of table (.csv)" in caplog.text
    assert "7 articles in 8 passages, cut at headings and after at most 150 words" in caplog.text
    assert "3 queries, 2 of them different" in caplog.text
    shown = "\n".join(describe_dataset(found))
    assert "different queries        2" in shown
    assert "asked 2 times: refund" in shown


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        ("query,document\na,b\n", "retrieval"),
        ("anchor,positive,negative\na,b,c\n", "triplets"),
        ("first,second,label\na,b,1\n", "pairs"),
        ("text\na\n", "passages"),
    ],
)
def test_a_table_is_taken_for_what_its_columns_say(tmp_path, content, kind):
    path = log_of(tmp_path, content, "rows.csv")
    assert guess_data_set(path, has_log=False) == kind
    assert guess_data_set(path, has_log=True) == "passages"


def test_a_folder_with_judgements_is_no_folder_of_articles(tmp_path):
    for name in ("corpus.jsonl", "queries.jsonl", "qrels.jsonl.gz"):
        (tmp_path / name).touch()
    assert guess_data_set(tmp_path, has_log=False) == "retrieval"


def test_html_in_head_scripts_and_menus_is_not_read():
    page = parse_html("<head><title>Shop</title><style>p {}</style></head><nav>Home</nav><p>Hello<br>there &lt;3</p>")
    assert (page.title, page.sections) == ("Shop", (PageSection("", "Hello\nthere <3"),))
    assert parse_html("<h1>One <b>two</b></h1><h2></h2>text").sections == (PageSection("One two", "text"),)
    assert parse_html("<head><title>T</title><body><p>Text").sections == (PageSection("", "Text"),)


@pytest.mark.parametrize(
    ("parse", "source", "text"),
    [
        (parse_html, "<p>one</p><nav><a>menu</a><p>two", "one\nmenu\ntwo"),
        (parse_html, "<p>one<nav>no</nav><title>two<p>three", "onetwo\nthree"),
        (parse_html, "<p>one <![foo]> two <![CDATA[three]]>", "one two"),
        (parse_markdown, "Use the <select> element here.\r\n\r\nMore.", "Use the element here.\nMore."),
    ],
)
def test_a_tag_without_an_end_or_a_meaning_hides_nothing_else(parse, source, text):
    page = parse(source)
    assert (page.title, [section.text for section in page.sections]) == ("", [text])


def test_markdown_has_front_matter_tables_and_code():
    page = parse_markdown(
        '---\nid: 7\ntitle: "Refunds: how"\n---\n\n| a | b |\n|---|---|\n| c | d |\n\n```\nx < y\n```\n'
    )
    assert page.title == "Refunds: how"
    assert parse_markdown("---\r\ntitle: Refunds\r\n---\r\ntext") == Page("Refunds", (PageSection("", "text"),))
    assert page.sections[0].text.split() == ["a", "b", "c", "d", "x", "<", "y"]


@pytest.mark.parametrize("text", ["One two. " * 400, "这是一个句子。" * 300, "x" * 9_000, "a " * 1_000, "ประโยค" * 200])
def test_long_texts_are_cut_in_any_language_and_nothing_is_lost(text):
    found = split_passages(text, words=50)
    assert max(len(WORD.findall(part)) for part in found) <= 50
    assert min(len(WORD.findall(part)) for part in found) >= 20
    assert "".join("".join(found).split()) == "".join(text.split())


def test_a_cut_stands_behind_a_sentence():
    assert split_passages("One two three four. Five six. " * 30, words=20)[0].endswith(".")
    assert split_passages("  short  ", words=20) == ["short"]
    assert split_passages(" \n ", words=20) == []


def test_a_document_of_100_000_words_is_cut(tmp_path):
    (tmp_path / "long.txt").write_text(" ".join(f"word{i}" for i in range(100_000)))
    found = data(tmp_path, words=500).collection
    assert len(found.documents) == 200


def test_the_same_passage_twice_is_one_and_counted(tmp_path):
    for name in "ab":
        (tmp_path / f"{name}.md").write_text("Call us  daily.")
    (tmp_path / "c.md").write_text("\n")
    found = data(tmp_path).collection
    assert list(found.documents) == ["a.md#1"]
    assert found.excluded == {"documents without text": 1, "repeated passages": 1}


def test_near_duplicates_count_as_one_where_asked(tmp_path):
    same = "one two three four five six seven eight nine ten"
    for name, text in (("a", same), ("b", f"{same} eleven"), ("c", "snow falls")):
        (tmp_path / f"{name}.txt").write_text(text)
    assert data(tmp_path).collection.same == ()
    merged = data(tmp_path, near_duplicates="same").collection
    assert merged.searchable_documents.ids == ("c.txt#1", "b.txt#1", "a.txt#1")
    assert merged.same == (0, 1, 1)
    assert merged.fingerprint != data(tmp_path).collection.fingerprint
    assert find_first_near_duplicates(["", "", "a"]) == (0, 1, 2)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("log.jsonl", '{"query": "refund", "count": 3, "cluster": "x"}\n{"query": " ship  it "}\n'),
        ("log.csv", "count,query,cluster\n3,refund,x\n,ship it,\n"),
        ("log.tsv", "query\tcount\tcluster\nrefund\t2\tx\nrefund\t1.0\tx\nship it\t1\t\n"),
    ],
)
def test_a_log_may_be_a_table_with_counts_and_clusters(centre, tmp_path, name, text):
    first, second = data(centre, log_of(tmp_path, text, name)).collection.queries
    assert (first.text, first.weight, first.cluster) == ("refund", 3, "x")
    assert (second.text, second.weight) == ("ship it", 1)


def test_a_sample_draws_queries_and_the_documents_stay(centre, tmp_path):
    found = data(centre, log_of(tmp_path, "\n".join(f"query {i}" for i in range(40))), sample=10)
    assert (len(found.collection.queries), found.rows, found.sampled) == (10, 40, True)
    assert len(found.collection.documents) == 8


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("log.txt", "\n\n", "has no queries: one query per line (.txt), or a table"),
        ("log.doc", "x", "unknown file ending '.doc'"),
        ("log.csv", "text\nrefund\n", "log.csv:1: no column query (columns: text)"),
        ("log.csv", "query,count\nrefund,0\n", "log.csv:2: the count is '0', but should be a whole number, 1 or more"),
        ("log.jsonl", '{"query": ""}', "log.jsonl:1: the query text is empty"),
        (
            "log.csv",
            "query,cluster\na,x\na,y\n",
            "log.csv:3: the query was in cluster 'x' before, but here it is in 'y'",
        ),
        ("log.txt", "a\0b", "log.txt:1: holds a NUL byte"),
    ],
)
def test_a_log_that_is_wrong_is_refused_with_its_line(centre, tmp_path, name, text, said):
    assert said in complaint(centre, log_of(tmp_path, text, name))


def test_a_log_that_is_not_there_is_refused(centre, tmp_path):
    assert "does not exist" in complaint(centre, tmp_path / "none.txt")
    assert "is a folder, but should be a file" in complaint(centre, centre)


def test_only_documents_of_trec_are_taken_for_them(tmp_path):
    (tmp_path / "solr.md").write_text("<doc>\n<field>An entry.</field>\n</doc>")
    assert len(data(tmp_path).collection.documents) == 1
    (tmp_path / "trec.txt").write_text("<DOC>\n<DOCNO> A-1 </DOCNO>\nText.\n</DOC>")
    assert "trec.txt holds TREC's SGML" in complaint(tmp_path)


def test_documents_that_cannot_be_read_are_refused_with_the_place(tmp_path):
    assert "has no document with text (nothing); expected .md" in complaint(tmp_path)
    (tmp_path / "logo.png").write_bytes(b"\0")
    assert "has no document with text (1 files ending in .png)" in complaint(tmp_path)
    (tmp_path / "a.txt").write_bytes(b"text\nmore\0")
    assert "a.txt:2: holds a NUL byte" in complaint(tmp_path)
    (tmp_path / "b.txt").write_text("A text.")
    found = data(tmp_path, skip_bad_rows=True)
    assert (len(found.collection.documents), len(found.skipped)) == (1, 1)
    (tmp_path / "c.csv").write_text("id,words\n1,2\n")
    said = complaint(tmp_path, skip_bad_rows=True)
    assert "c.csv:1: no column with the texts of documents (columns: id, words;" in said
    (tmp_path / "c.csv").write_text("text,Title\n1,2\n")
    assert "c.csv:1: unused column 'Title'; did you mean 'title'?" in complaint(tmp_path, skip_bad_rows=True)


def test_a_path_that_is_not_there_is_no_misspelt_name():
    assert complaint("./no-such-folder") == "--data=./no-such-folder: the file or folder does not exist"
    assert data_label("./some/help-center/") == "help-center"
    assert is_unlabelled_spec("./no-such-folder", has_log=True)
    assert not is_unlabelled_spec("mrpc:./folder", has_log=True)


def test_a_corpus_of_one_and_data_without_a_log_are_not_measured(tmp_path):
    (tmp_path / "a.txt").write_text("A text.")
    alone = data(tmp_path, log_of(tmp_path, "text\n", "log.log"))
    with pytest.raises(NothingToMeasure, match="has 1 document: a search needs two or more"):
        logged_queries(alone, 1, VariantMaker())
    with pytest.raises(NothingToMeasure, match=r"has no queries: name the log, --queries=FILE"):
        logged_queries(data(tmp_path), 1, VariantMaker())
    with pytest.raises(NothingToMeasure, match="has no judgements of which document is right"):
        ranked_queries(alone, 1, VariantMaker())


def test_a_title_seeks_its_article_and_a_heading_its_section(centre, tmp_path):
    (centre / "more.md").write_text("# Returns\n\n## When\n\nAny day.\n\n## Where\n\nAt the desk.\n")
    found = data(centre, log_of(tmp_path))
    known = title_queries(found, "known", VariantMaker())
    bodies = known.included[0].documents
    said = {q.source: sorted(bodies.texts[row] for row, _ in q.right) for q in known.included}
    assert said["Refunds"] == ["Ask us.", "in May\nin June"]
    assert said["Shipping"] == ["Three days."]
    sections = heading_queries(found, "known", VariantMaker())
    assert [q.source for q in sections.included] == ["Where"]  # `When` heads two sections
    assert sections.excluded == {"another one has the same words": 2}
    assert {q.cluster for q in sections.included} == {"more.md"}
