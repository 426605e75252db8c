"""Twitter-URL, PIT-2015, STS, SICK, PAWS-QQP, SemEval task 3 and SentEval's folders, as distributed."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from published import published

from encheck.datasets.load import load
from encheck.datasets.senteval import read_classification_folder
from encheck.errors import DataError


def write(path, *rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes("".join("\t".join(row) + "\n" for row in rows).encode())
    return path


def splits(data):
    return dict(Counter(p.split for p in data.pairs))


# PAWS-QQP

PAWS = ("id", "sentence1", "sentence2", "label")


def test_the_bytes_literals_of_paws_qqp_are_decoded(tmp_path):
    first, second = r"b'Is it \xe2\x80\x9cright\xe2\x80\x9d ?'", 'b"Isn\'t it a caf\\xc3\\xa9 ?"'
    write(tmp_path / "train.tsv", PAWS, ("1", first, second, "0"))
    write(tmp_path / "dev_and_test.tsv", PAWS, ("1", "Is it plain ?", r"b'It\'s a \\ one'", "1"))
    found = [(p.first, p.second, p.label, p.split) for p in load(f"paws-qqp:{tmp_path}").pairs]
    assert found == [
        ("Is it \N{LEFT DOUBLE QUOTATION MARK}right\N{RIGHT DOUBLE QUOTATION MARK} ?", "Isn't it a café ?", 0, "train"),
        ("Is it plain ?", "It's a \\ one", 1, "test"),
    ]


texts = st.text(st.characters(exclude_categories=["Cs"])).map(str.strip).filter(bool)


@settings(deadline=None)  # a first write can be slow
@given(texts, texts)
def test_whatever_python_wraps_as_bytes_is_unwrapped(tmp_path_factory, first, second):
    folder = tmp_path_factory.mktemp("paws")
    path = write(folder / "train.tsv", PAWS, ("1", repr(first.encode()), repr(second.encode()), "1"))
    assert [(p.first, p.second) for p in load(f"paws-qqp:{path}").pairs] == [(first, second)]


BROKEN = [r"b'cut off", r"b'\xe2\x80'", r"b'two' b'parts'", r"b'bad \d escape'", "b'café'", r"b''", r"b'a' # b'"]


@pytest.mark.parametrize("field", BROKEN)
def test_a_broken_bytes_literal_is_a_bad_row(tmp_path, field):
    path = write(tmp_path / "train.tsv", PAWS, ("1", field, "b'Right ?'", "1"), ("2", "b'Who ?'", "b'What ?'", "1"))
    with pytest.raises(DataError, match=r"train.tsv:2: "):
        load(f"paws-qqp:{path}")
    assert load(f"paws-qqp:{path}", skip_bad_rows=True).rows == 1


# Twitter-URL


def test_votes_of_twitter_url_become_labels(tmp_path):
    rows = [(f"one {n}", f"two {n}", f"({n},6)", "http://t.co/a" if n < 4 else "http://t.co/b") for n in range(7)]
    write(tmp_path / "Twitter_URL_Corpus_train.txt", *rows[:4], ("",), *rows[4:])
    data = load(f"twitter-url:{tmp_path}")
    assert [(p.score, p.label) for p in data.pairs] == [(0, 0), (1, 0), (2, 0), (4, 1), (5, 1), (6, 1)]
    assert data.universe == ("http://t.co/a", "http://t.co/b")


def test_the_url_of_a_twitter_row_of_five_fields_is_the_last(tmp_path):
    rows = [("a", "b", "(5,6)", "more", "http://t.co/a"), ("a", "tab", "b", "(5,6)", "http://t.co/a")]
    path = write(tmp_path / "Twitter_URL_Corpus_test.txt", *rows)
    with pytest.raises(DataError, match=r"test.txt:2: the votes are 'b', but should be like \(4,6\)"):
        load(f"twitter-url:{path}")
    assert [p.cluster for p in load(f"twitter-url:{path}", skip_bad_rows=True).pairs] == ["http://t.co/a"]


def test_the_parallel_files_of_twitter_url_have_their_published_counts(shared_data):
    data = published("twitter-url", shared_data / "twitter_url").data
    assert (data.labels, splits(data)) == ({"0": 31_033, "1": 11_167}, {"train": 42_200})


def test_the_sample_of_twitter_url_loses_its_pairs_with_three_votes(shared_data):
    path = shared_data / "twitter_url" / "Twitter_URL_Corpus_train_sample.txt"
    votes = Counter(line.split("\t")[2] for line in path.read_text("utf-8").split("\n") if line)
    data = load(f"twitter-url:{path}", sample=None)
    assert (sum(votes.values()), data.rows) == (100, 100 - votes["(3,6)"])


def test_parallel_files_that_differ_in_length_or_lack_one_are_refused(tmp_path):
    for name, rows in {"a.toks": [("a",), ("b",)], "b.toks": [("c",)], "sim.txt": [("1",), ("0",)]}.items():
        write(tmp_path / "test" / name, *rows)
    with pytest.raises(DataError, match=r"differ in lines \(a.toks 2, b.toks 1, sim.txt 2\)"):
        load(f"twitter-url:{tmp_path}")
    (tmp_path / "test/sim.txt").unlink()
    write(tmp_path / "Twitter_URL_Corpus_train_sample.txt", ("raw", "text", "(6,6)", "http://t.co/a"))
    with pytest.raises(DataError, match=r"cannot read .*/test/sim\.txt: No such file"):
        load(f"twitter-url:{tmp_path}")


def test_raw_files_of_twitter_url_come_before_parallel_ones(tmp_path):
    write(tmp_path / "Twitter_URL_Corpus_test.txt", ("raw", "text", "(6,6)", "http://t.co/a"))
    for name in ("a.toks", "b.toks"):
        write(tmp_path / "train" / name, ("tokens",))
    write(tmp_path / "train" / "sim.txt", ("1",))
    assert [p.first for p in load(f"twitter-url:{tmp_path}").pairs] == ["raw"]


# PIT-2015


def test_pit_has_its_published_counts(shared_data):
    data = published("pit2015", shared_data / "pit2015").data
    counts = Counter((p.split, p.label) for p in data.pairs)
    assert [counts["validation", label] for label in (1, 0, None)] == [1_470, 2_672, 585]
    assert [counts["test", label] for label in (1, 0, None)] == [175, 663, 134]


def test_debatable_pairs_of_pit_keep_their_score(shared_data):
    data = published("pit2015", shared_data / "pit2015").data
    assert {(p.split, p.score) for p in data.pairs if p.label is None} == {("validation", 2), ("test", 3)}
    assert len(data.groups) == 1_470 + 175


def test_labels_of_the_pit_test_agree_with_its_label_file(shared_data):
    lines = (shared_data / "pit2015" / "test.label").read_text("utf-8").split()
    expected = [{"true": 1, "false": 0, "----": None}[word] for word in lines[::2]]
    data = published("pit2015", shared_data / "pit2015" / "test.data").data
    assert [p.label for p in data.pairs] == expected
    assert [p.score for p in data.pairs] == pytest.approx([5 * float(score) for score in lines[1::2]])


@pytest.mark.parametrize("label", ["(3, 3)", "6", "true", "(3,2)", ""])
def test_a_vote_that_is_none_is_a_bad_row(tmp_path, label):
    path = write(tmp_path / "dev.data", ("1", "Topic", "one", "two", label, "tags", "tags"))
    with pytest.raises(DataError, match=r"dev.data:1: the label is .* five votes like \(3, 2\)"):
        load(f"pit2015:{path}")


# STS


def test_the_sts_benchmark_has_its_published_counts(shared_data):
    data = published("stsb", shared_data / "stsbenchmark").data
    assert splits(data) == {"train": 5_749, "validation": 1_500, "test": 1_379}
    assert data.labels == {"0": 2_719 + 3_900 + 1, "1": 8_628 - 2_719 - 3_900 - 1}
    assert all((p.label == 1) == (p.score >= 4) for p in data.pairs)


@pytest.mark.parametrize("score", ["5.001", "-0.1", "nan", "four", ""])
def test_a_score_outside_the_scale_is_a_bad_row(tmp_path, score):
    path = write(tmp_path / "sts-dev.csv", ("genre", "file", "year", "0001", score, "One.", "Two."))
    with pytest.raises(DataError, match=r"sts-dev.csv:1: the score is .* a number from 0 to 5"):
        load(f"stsb:{path}")


def test_eight_fields_are_no_row_of_the_sts_benchmark(tmp_path):
    path = write(tmp_path / "sts-dev.csv", ("genre", "file", "year", "0001", "4.5", "One.", "a tab", "Two."))
    with pytest.raises(DataError, match="8 tab-separated fields, but should be 7 or 9"):
        load(f"stsb:{path}")


ROWS = {"sts12": 3_108, "sts13": 1_500, "sts14": 3_750, "sts15": 3_000, "sts16": 1_186}


@pytest.mark.parametrize("folder", ["sts12-16", "senteval/STS"])
@pytest.mark.parametrize("year", ROWS)
def test_a_year_of_sts_has_its_published_counts_in_both_layouts(shared_data, year, folder):
    assert published(year, shared_data / folder).data.rows == ROWS[year]


def test_both_layouts_of_sts_have_the_same_scores_in_the_same_order(shared_data):
    raw, tokenised = (published("sts16", shared_data / folder).data.pairs for folder in ("sts12-16", "senteval/STS"))
    assert [(p.split, p.score) for p in raw] == [(p.split, p.score) for p in tokenised]


def test_a_split_of_sts_is_its_sub_set(shared_data):
    data = published("sts13", shared_data / "sts12-16").data
    assert splits(data) == {"FNWN": 189, "OnWN": 561, "headlines": 750}


def test_a_pair_of_sts_has_the_score_of_its_own_line(shared_data):
    folder = shared_data / "sts12-16" / "test_evaluation_task2a"
    texts = (folder / "STS.input.belief.txt").read_text("utf-8").split("\n")
    gold = (folder / "STS.gs.belief.txt").read_text("utf-8").split("\n")
    expected = [(*map(str.strip, t.split("\t")), float(g)) for t, g in zip(texts, gold, strict=True) if g]
    data = load(f"sts15:{folder}", sample=None)
    assert [(p.first, p.second, p.score) for p in data.pairs if p.split == "belief"] == expected


def sts13(folder, texts, gold):
    write(folder / "STS.input.headlines.txt", *texts)
    write(folder / "STS.gs.headlines.txt", *gold)
    return f"sts13:{folder}"


def test_a_pair_without_gold_is_left_out(tmp_path):
    spec = sts13(tmp_path, [("One", "two"), ("Three", "four"), ("Five", "six")], [("4",), ("",), ("1.5",)])
    assert [(p.first, p.score, p.label) for p in load(spec).pairs] == [("One", 4, 1), ("Five", 1.5, 0)]


def test_an_incomplete_year_of_sts_is_read_with_a_warning(tmp_path, caplog):
    load(sts13(tmp_path, [("One", "two")], [("4",)]))
    assert any("lacks FNWN, OnWN" in message for message in caplog.messages)


def test_an_input_and_a_gold_file_of_different_length_are_refused(tmp_path):
    with pytest.raises(DataError, match=r"gs.headlines.txt has 1 lines, but STS.input.headlines.txt has 2"):
        load(sts13(tmp_path, [("One", "two"), ("Three", "four")], [("4",)]))


def test_another_years_folder_is_refused(shared_data):
    with pytest.raises(DataError, match=r"holds answers-forums, .*belief, images, but sts13 has FNWN, OnWN, headlines"):
        load(f"sts13:{shared_data / 'sts12-16' / 'test_evaluation_task2a'}")


def test_a_folder_with_two_copies_of_a_year_is_refused(shared_data):
    with pytest.raises(DataError, match="should be or hold one folder test-gs or STS13-en-test"):
        load(f"sts13:{shared_data}")


@pytest.mark.parametrize("texts", [[("no tab",)], [("",)], [("One", "two", "three")], [("", "two")]])
def test_a_bad_input_line_of_sts_has_its_line_number(tmp_path, texts):
    spec = sts13(tmp_path, [("One", "two"), *texts], [("4",), ("3",)])
    with pytest.raises(DataError, match=r"STS.input.headlines.txt:2: "):
        load(spec)
    assert load(spec, skip_bad_rows=True).rows == 1


# SICK

SICK = ("pair_ID", "sentence_A", "sentence_B", "relatedness_score", "entailment_judgment")
JUDGED = [("4.5", "ENTAILMENT"), ("3.6", "CONTRADICTION"), ("1", "NEUTRAL")]


def test_the_three_files_of_sick_give_scores_and_labels(tmp_path):
    rows = [(str(n), f"A dog {n}", f"A cat {n}", *judged) for n, judged in enumerate(JUDGED)]
    for name, row in zip(("SICK_train.txt", "SICK_trial.txt", "SICK_test_annotated.txt"), rows, strict=True):
        write(tmp_path / name, SICK, row)
    found = [(p.split, p.score, p.label) for p in load(f"sick:{tmp_path}").pairs]
    assert found == [("train", 4.5, 1), ("validation", 3.6, 0), ("test", 1, None)]


def test_the_wide_file_of_sick_names_the_split_in_its_last_column(tmp_path):
    wide = (*SICK[:3], "entailment_label", "relatedness_score", "entailment_AB", "entailment_BA")
    wide += ("sentence_A_original", "sentence_B_original", "sentence_A_dataset", "sentence_B_dataset", "SemEval_set")
    row = ("1", "A dog", "A cat", "NEUTRAL", "2.5", "A_neutral_B", "B_neutral_A", "x", "y", "FLICKR", "FLICKR", "TRIAL")
    write(tmp_path / "SICK.txt", wide, row)
    assert [(p.split, p.score, p.label) for p in load(f"sick:{tmp_path}").pairs] == [("validation", 2.5, None)]


@pytest.mark.parametrize("judged", [("0.5", "NEUTRAL"), ("4", "neutral"), ("4", "")])
def test_a_bad_judgment_of_sick_is_a_bad_row(tmp_path, judged):
    path = write(tmp_path / "SICK_train.txt", SICK, ("1", "A dog", "A cat", *judged))
    with pytest.raises(DataError, match=r"SICK_train.txt:2: the (score|judgment) is"):
        load(f"sick:{path}")


WIDE_ROW = (
    *("1", "A dog", "A cat", "NEUTRAL", "4", "A_neutral_B", "B_neutral_A", "x", "y"),
    "FLICKR",
    "FLICKR",
    "TRAIN",
)


@pytest.mark.parametrize("row", [("1", "A dog", "A cat", "4", "NEUTRAL"), WIDE_ROW])
def test_older_copies_of_sick_without_a_header_lose_no_row(tmp_path, row):
    path = write(tmp_path / "SICK_train.txt", row, row)
    assert [(p.first, p.score, p.split) for p in load(f"sick:{path}").pairs] == [("A dog", 4, "train")] * 2


def test_another_header_of_sick_is_refused(tmp_path):
    path = write(tmp_path / "SICK_train.txt", ("id", "A dog", "A cat", "4", "NEUTRAL"))
    with pytest.raises(DataError, match="but should be pair_ID, sentence_A"):
        load(f"sick:{path}")


# SemEval task 3

GOLD = {"A": (3_270, 1_329), "B": (700, 233), "C": (7_000, 654)}


@pytest.mark.parametrize("task", GOLD)
def test_the_test_pairs_of_a_subtask_are_those_of_its_gold_file_in_its_order(shared_data, task):
    folder = shared_data / "semeval2016_task3"
    (gold,) = folder.rglob(f"_gold/*.subtask{task}.relevancy")
    lines = [line.split("\t") for line in gold.read_text("utf-8").split("\n") if line]
    found = [p for p in load(f"semeval-cqa:{folder}#{task}", sample=None).pairs if p.split == task]
    assert (len(found), sum(p.label for p in found)) == GOLD[task]
    assert [(p.cluster, p.label) for p in found] == [(line[0], int(line[4] == "true")) for line in lines]
    assert [p.key for p in found] == [f"{line[0]}/{line[1]}" for line in lines]


def test_a_folder_with_all_three_subtasks_gives_all_three(shared_data):
    data = published("semeval-cqa", shared_data / "semeval2016_task3").data
    test = {"A": 3_270, "B": 700, "C": 7_000}
    assert splits(data) == test | {"A-validation": 2_440, "B-validation": 500, "C-validation": 5_000}


def test_both_xml_files_give_the_same_comments_of_subtask_a(shared_data, tmp_path):
    folder = shared_data / "semeval2016_task3"
    (gold,) = folder.rglob("_gold/*.subtaskA.relevancy")
    found = []
    for name in ("test-input", "test-subtaskA-input"):
        (xml,) = folder.rglob(f"*{name}.xml")
        (tmp_path / name).mkdir()
        for file in (gold, xml):
            (tmp_path / name / file.name).write_bytes(file.read_bytes())
        found.append(load(f"semeval-cqa:{tmp_path / name / xml.name}", sample=None).pairs)
    keys, others = ([(p.key, p.label, p.second, p.cluster) for p in pairs] for pairs in found)
    assert (len(keys), keys) == (3_270, others)


def test_the_gold_of_2017_is_read_with_its_plain_text(shared_data):
    data = published("semeval-cqa", shared_data / "semeval2017_task3").data
    assert (data.labels, splits(data), len(data.universe)) == ({"0": 717, "1": 163}, {"B": 880}, 88)


def thread(number, *, skip="", relevance="PerfectMatch", labels=("Good", "Bad")):
    comments = "".join(
        f"<RelComment RELC_ID='Q1_R{number}_C{n}' RELC_RELEVANCE2ORGQ='Bad' RELC_RELEVANCE2RELQ='{label}'>"
        f"<RelCText>Comment {number} {n} &amp; more</RelCText></RelComment>\n"
        for n, label in enumerate(labels)
    )
    question = f"<RelQSubject>Subject {number}</RelQSubject><RelQBody> Body {number}</RelQBody>"
    return (
        "<OrgQuestion ORGQ_ID='Q1'><OrgQSubject>Why</OrgQSubject>\n<OrgQBody>is that?</OrgQBody>"
        f"<Thread THREAD_SEQUENCE='Q1_R{number}' {skip}><RelQuestion RELQ_ID='Q1_R{number}' "
        f"RELQ_RELEVANCE2ORGQ='{relevance}'>{question}</RelQuestion>\n{comments}</Thread></OrgQuestion>\n"
    )


def cqa(folder, *threads, name="dev.xml", before=""):
    path = folder / name
    path.write_text(f'<?xml version="1.0" encoding="utf-8"?>\n{before}<xml>\n{"".join(threads)}</xml>\n', "utf-8")
    return path


REPEATED = "SubtaskA_Skip_Because_Same_As_RelQuestion_ID='Q9_R1'"


def test_texts_and_labels_of_the_xml(tmp_path):
    cqa(tmp_path, thread(1, relevance="Relevant"), thread(2, relevance="Irrelevant", skip=REPEATED))
    pairs = load(f"semeval-cqa:{tmp_path}").pairs
    found = {split: [(p.first, p.second, p.label) for p in pairs if p.split == f"{split}-validation"] for split in "AB"}
    assert found["A"] == [
        ("Subject 1 Body 1", "Comment 1 0 & more", 1),
        ("Subject 1 Body 1", "Comment 1 1 & more", 0),
    ]
    assert found["B"] == [("Why is that?", "Subject 1 Body 1", 1), ("Why is that?", "Subject 2 Body 2", 0)]
    assert [p.second for p in pairs if p.split == "C-validation"][2:] == ["Comment 2 0 & more", "Comment 2 1 & more"]


def hidden(folder, *gold):
    cqa(folder, thread(1, relevance="?", labels="??"), name="test.xml")
    write(folder / "test.xml.subtaskB.relevancy", *gold)
    return f"semeval-cqa:{folder}"


RIGHT = ("Q1", "Q1_R1", "1", "1", "true")


def test_hidden_labels_come_from_the_gold_file(tmp_path, caplog):
    assert [(p.split, p.label) for p in load(f"{hidden(tmp_path, RIGHT)}#B").pairs] == [("B", 1)]
    assert [p.label for p in load(f"semeval-cqa:{tmp_path / 'test.xml.subtaskB.relevancy'}").pairs] == [1]
    assert caplog.messages == []


def test_a_subtask_without_labels_is_left_out_with_a_warning(tmp_path, caplog):
    assert {p.split for p in load(hidden(tmp_path, RIGHT)).pairs} == {"B", "C"}
    assert any("has no labels of subtask A: left out" in message for message in caplog.messages)


GOLD_ROWS = [
    (("Q1", "Q1_R7", "1", "1", "true"), "no file with texts has Q1/Q1_R7"),
    (("Q1", "Q1_R1", "1", "1", "false"), "already has a label"),
    (("Q1", "Q1_R1", "1", "1", "Good"), "the label is 'Good', but should be true or false"),
    (("Q1", "Q1_R1", "1"), "3 tab-separated fields, but should be 5"),
]


@pytest.mark.parametrize(("row", "problem"), GOLD_ROWS)
def test_a_bad_gold_row_has_its_line_number(tmp_path, row, problem):
    spec = hidden(tmp_path, RIGHT, row)
    with pytest.raises(DataError, match=rf"subtaskB.relevancy:2: .*{problem}"):
        load(f"{spec}#B")
    assert load(f"{spec}#B", skip_bad_rows=True).rows == 1


def test_hidden_labels_without_gold_are_an_error(tmp_path):
    cqa(tmp_path, thread(1, relevance="?", labels="??"))
    with pytest.raises(DataError, match=r"has no labels of subtask B; give .*relevancy"):
        load(f"semeval-cqa:{tmp_path}#B")


def test_a_label_outside_the_set_has_file_and_line(tmp_path):
    cqa(tmp_path, thread(1, labels=("Good", "Dialogue")))
    with pytest.raises(DataError, match=r"dev.xml:6: the label is 'Dialogue', but should be one of Good"):
        load(f"semeval-cqa:{tmp_path}#A")


ENTITIES = [
    '<!DOCTYPE xml [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>',
    '<!DOCTYPE xml [<!ENTITY a SYSTEM "file:///etc/hostname">]>',
    '<!DOCTYPE xml [<!ENTITY % a SYSTEM "http://example.org/a.dtd"> %a;]>',
]


@pytest.mark.parametrize("before", ENTITIES)
def test_declared_entities_are_refused(tmp_path, before):
    cqa(tmp_path, thread(1), before=f"{before}\n")
    with pytest.raises(DataError, match=r"dev.xml:2: declares the entity '[ab]'"):
        load(f"semeval-cqa:{tmp_path}")


def test_an_xml_file_that_was_cut_off_has_a_line(tmp_path):
    path = cqa(tmp_path, thread(1))
    path.write_text(path.read_text("utf-8")[:-40], "utf-8")
    with pytest.raises(
        DataError,
        match=r"dev.xml:\d+: is not well-formed XML \(.*\): is it truncated, or another "
        r"file",
    ):
        load(f"semeval-cqa:{path}")


def test_two_gold_files_of_a_subtask_are_refused(tmp_path):
    spec = hidden(tmp_path, RIGHT)
    write(tmp_path / "2017" / "test.xml.subtaskB.relevancy", RIGHT)
    with pytest.raises(DataError, match="holds several gold files of a subtask"):
        load(spec)


# SentEval

CLASSES = {
    "MR": {"1": 5_331, "0": 5_331},
    "CR": {"1": 2_407, "0": 1_368},
    "MPQA": {"1": 3_312, "0": 7_294},
    "SUBJ": {"1": 5_000, "0": 5_000},
    "SST": {"1": 37_569 + 444 + 909, "0": 29_780 + 428 + 912},
    "TREC": {"ABBR": 95, "DESC": 1_300, "ENTY": 1_344, "HUM": 1_288, "LOC": 916, "NUM": 1_009},
}


@pytest.mark.parametrize("name", CLASSES)
def test_a_classification_set_has_its_published_counts(shared_data, caplog, name):
    sentences = read_classification_folder(shared_data / "senteval" / name)
    assert Counter(s.label for s in sentences) == CLASSES[name]
    assert all(s.text.strip() for s in sentences)
    assert caplog.records == []


def test_classification_sets_have_the_splits_of_their_files(shared_data):
    count = {
        name: Counter(s.split for s in read_classification_folder(shared_data / "senteval" / name))
        for name in ("SST", "TREC")
    }
    assert count["SST"] == {"train": 67_349, "validation": 872, "test": 1_821}
    assert count["TREC"] == {"train": 5_452, "test": 500}


def test_the_training_questions_of_trec_are_latin_1(tmp_path):
    (tmp_path / "train_5500.label").write_bytes("ENTY:food What is café ?\n".encode("latin-1"))
    write(tmp_path / "TREC_10.label", ("HUM:desc Who is it ?",))
    found = [tuple(s[:3]) for s in read_classification_folder(tmp_path)]
    assert found == [("What is café ?", "ENTY", "train"), ("Who is it ?", "HUM", "test")]


def test_a_bad_class_has_file_and_line(tmp_path):
    write(tmp_path / "train_5500.label", ("HUM:desc Who ?",), ("FOOD:x What ?",))
    write(tmp_path / "TREC_10.label", ("HUM:desc Who ?",))
    with pytest.raises(DataError, match=r"train_5500.label:2: the label is 'FOOD', but should be one of ABBR"):
        read_classification_folder(tmp_path)


def test_a_classification_set_with_a_file_missing_is_refused(tmp_path):
    write(tmp_path / "custrev.pos", ("good .",))
    with pytest.raises(DataError, match=r"lacks custrev.neg"):
        read_classification_folder(tmp_path)


def test_an_empty_line_of_a_classification_set_is_a_full_stop(tmp_path):
    write(tmp_path / "custrev.pos", ("good .",), (" ",))
    write(tmp_path / "custrev.neg", ("bad .",))
    found = [tuple(s[:3]) for s in read_classification_folder(tmp_path)]
    assert found == [("good .", "1", ""), (".", "1", ""), ("bad .", "0", "")]


def test_the_pairs_of_senteval_name_year_and_sub_set(shared_data):
    data = published("senteval", shared_data / "senteval" / "STS").data
    assert data.rows == sum(ROWS.values())
    assert splits(data)["STS12/MSRpar"] == 750


def test_a_folder_without_pairs_and_tasks_says_what_it_lacks(tmp_path):
    with pytest.raises(DataError, match=r"has no folder STS1x-en-test and no file of MR, CR, SUBJ, MPQA, SST2, TREC"):
        load(f"senteval:{tmp_path}")


def test_a_folder_that_is_none_of_sentevals_is_refused(tmp_path):
    with pytest.raises(DataError, match="should be one of the folders MR, CR, MPQA, SUBJ, SST, TREC"):
        read_classification_folder(tmp_path)


# splits of the papers


def test_twitter_url_with_held_out_pairs_has_the_papers_sizes(shared_data):
    found = splits(load(f"twitter-url@held-out:{shared_data / 'twitter_url'}", sample=None))
    assert found == {"train": 37_976, "validation": 4_224}


def test_too_few_pairs_to_hold_some_out_are_refused(tmp_path):
    write(tmp_path / "Twitter_URL_Corpus_train.txt", ("a", "b", "(5,6)", "http://t.co/a"))
    with pytest.raises(DataError, match="has 1 training pairs, but 4,224 are held out"):
        load(f"twitter-url@held-out:{tmp_path}")


def paws_qqp(folder):
    rows = [(str(n), f"Is it {n} ?", f"{n} is it ?", str(int(n < 5))) for n in range(13)]
    write(folder / "dev_and_test.tsv", PAWS, *rows)
    return folder


def test_paws_qqp_has_no_validation_part_unless_one_is_asked_for(tmp_path):
    assert splits(load(f"paws-qqp:{paws_qqp(tmp_path)}")) == {"test": 13}


def test_a_half_of_paws_qqp_validates_label_by_label(tmp_path):
    data = load(f"paws-qqp@halves:{paws_qqp(tmp_path)}", sample=None)
    assert splits(data) == {"test": 7, "validation": 6}
    assert Counter(p.label for p in data.pairs if p.split == "validation") == {1: 2, 0: 4}
    assert data.fingerprint == load(f"paws-qqp@halves:{tmp_path}", sample=None).fingerprint


def test_paws_wikis_dev_part_validates_paws_qqp(tmp_path):
    with pytest.raises(DataError, match=r"dev.tsv once, but holds it 0 times"):
        load(f"paws-qqp@paws-wiki:{paws_qqp(tmp_path)}")
    write(tmp_path / "dev.tsv", PAWS, ("1", "A wiki .", "Wiki A .", "1"))
    assert splits(load(f"paws-qqp@paws-wiki:{tmp_path}")) == {"test": 13, "validation": 1}
