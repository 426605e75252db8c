"""The public corpora, in the layouts in which they are distributed."""

import csv
import logging
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from published import published

from encheck.datasets.load import known_data_sets, load
from encheck.datasets.reader import is_missing
from encheck.errors import DataError

QUORA = ("id", "qid1", "qid2", "question1", "question2", "is_duplicate")


def test_mrpc_has_its_published_counts(shared_data):
    data = published("mrpc", shared_data / "mrpc").data
    assert (data.rows, data.labels) == (5_801, {"0": 1_901, "1": 3_900})
    assert Counter(p.split for p in data.pairs) == {"train": 3_576, "validation": 500, "test": 1_725}
    assert len(data.groups) == 3_900


def test_the_validation_part_of_mrpc_is_the_end_of_its_training_file(shared_data):
    path = shared_data / "mrpc" / "msr_paraphrase_train.txt"
    lines = path.read_text("utf-8-sig").split("\n")[-501:-1]
    found = [p for p in load(f"mrpc:{path}", sample=None).pairs if p.split == "validation"]
    assert [p.first for p in found] == [line.split("\t")[3].strip() for line in lines]


def test_paws_wiki_has_its_published_counts(shared_data):
    data = published("paws", shared_data / "paws_wiki" / "final" / "test.tsv").data
    assert (data.rows, data.labels) == (8_000, {"0": 4_464, "1": 3_536})
    assert len(data.universe) == 1_607
    assert {p.split for p in data.pairs} == {"test"}


def test_the_split_of_qqp_by_wang_has_its_published_counts(shared_data):
    data = published("qqp", shared_data / "qqp" / "Quora_question_pair_partition").data
    counts = Counter((p.split, p.label) for p in data.pairs)
    assert counts == {(split, label): 5_000 for split in ("validation", "test") for label in (0, 1)}


def test_a_csv_of_qqp_is_read_by_its_header(shared_data):
    data = published("qqp", shared_data / "qqp" / "train_sample.csv").data
    assert (data.rows, data.labels) == (1_000, {"0": 626, "1": 374})


@pytest.mark.parametrize("corpus", ["mrpc", "qqp"])
def test_ids_of_a_corpus_are_distinct(shared_data, corpus):
    data = load(f"{corpus}:{shared_data / corpus}", sample=None)
    assert len({p.id for p in data.pairs}) == data.rows


def test_a_sample_of_a_corpus_keeps_the_count_of_its_rows(shared_data):
    data = load(f"mrpc:{shared_data / 'mrpc'}", sample=100)
    assert (data.rows, data.sampled) == (5_801, True)
    for split in ("test", "validation"):
        assert len({p.cluster for p in data.pairs if p.split == split}) == 100
    assert {p.split for p in data.pairs} == {"test", "validation"}


@pytest.mark.parametrize(("rows", "train"), [(300, 0), (500, 0), (501, 1)])
def test_a_short_training_file_of_mrpc_is_validation(tmp_path, rows, train):
    path = tmp_path / "msr_paraphrase_train.txt"
    lines = [f"1\t{n}\t{n}\tone {n}\ttwo {n}" for n in range(rows)]
    path.write_text("\n".join(["Quality\t#1 ID\t#2 ID\t#1 String\t#2 String", *lines, ""]), "utf-8")
    assert Counter(p.split for p in load(f"mrpc:{path}").pairs)["train"] == train


def write_quora(path, rows):
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write("\t".join(QUORA) + "\n")
        writer = csv.writer(file, delimiter="\t", lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
        writer.writerows((n, 2 * n, 2 * n + 1, *row) for n, row in enumerate(rows))
    return path


def test_quoted_tabs_breaks_and_quotes_of_the_full_qqp_file_are_read(tmp_path):
    rows = [("Why\tso\nmany\r\nlines?", 'Who says "why"?', 1), ("How deep is a well?", "What is a well?", 0)]
    path = write_quora(tmp_path / "quora_duplicate_questions.tsv", rows)
    assert path.read_text("utf-8").startswith("id\tqid1\tqid2\tquestion1\tquestion2\tis_duplicate\n")
    assert [(p.first, p.second, p.label) for p in load(f"qqp:{tmp_path}").pairs] == rows


def test_a_bad_row_after_a_quoted_line_break_has_its_own_line_number(tmp_path):
    rows = [("Why\nso\nlong?", "Why?", 1), ("", "Where?", 0), ("Who?", "What?", 0)]
    path = write_quora(tmp_path / "quora_duplicate_questions.tsv", rows)
    with pytest.raises(DataError, match=r"quora_duplicate_questions.tsv:5: the first text is empty"):
        load(f"qqp:{path}")
    assert len(load(f"qqp:{path}", skip_bad_rows=True).pairs) == 2


def test_a_full_qqp_file_without_labels_is_refused(tmp_path):
    path = tmp_path / "train.csv"
    path.write_text("id,question1,question2\n1,Who?,What?\n", "utf-8")
    with pytest.raises(DataError, match=r"train.csv:1: the header lacks is_duplicate; expected .*train.csv"):
        load(f"qqp:{path}")


def test_the_full_layout_of_qqp_is_of_the_part_that_its_file_names(tmp_path):
    write_quora(tmp_path / "dev.tsv", [("Who?", "What?", 0)])
    assert [p.split for p in load(f"qqp:{tmp_path}").pairs] == ["validation"]


def test_pairs_of_paws_are_refused_as_pairs_of_qqp(tmp_path):
    (tmp_path / "dev.tsv").write_text("id\tsentence1\tsentence2\tlabel\n1\tOne .\tTwo .\t1\n", "utf-8")
    with pytest.raises(DataError, match=r"dev.tsv:1: begins with id, sentence1, .* but should begin with label"):
        load(f"qqp:{tmp_path}")


questions = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")).filter(
    lambda t: not is_missing(t)
)


@given(st.lists(st.tuples(questions, questions, st.integers(0, 1)), min_size=1, max_size=6))
def test_a_full_qqp_file_gives_back_what_was_written(tmp_path_factory, rows):
    path = write_quora(tmp_path_factory.mktemp("qqp") / "quora_duplicate_questions.tsv", rows)
    found = [(p.first, p.second, p.label) for p in load(f"qqp:{path}", sample=None).pairs]
    assert found == [(first.strip(), second.strip(), label) for first, second, label in rows]


fields = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\t\n")).filter(
    lambda t: not is_missing(t)
)


@given(st.lists(st.tuples(fields, fields, st.integers(0, 1)), min_size=1, max_size=6))
def test_a_paws_file_gives_back_what_was_written(tmp_path_factory, rows):
    path = tmp_path_factory.mktemp("paws") / "test.tsv"
    lines = ["id\tsentence1\tsentence2\tlabel", *(f"{n}\t{a}\t{b}\t{c}" for n, (a, b, c) in enumerate(rows))]
    path.write_bytes("\n".join([*lines, ""]).encode())
    found = [(p.first, p.second, p.label) for p in load(f"paws:{path}", sample=None).pairs]
    assert found == [(first.strip(), second.strip(), label) for first, second, label in rows]


PUBLISHED = [
    ("mrpc", "mrpc"),
    ("paws", "paws_wiki/final"),
    ("qqp", "qqp/Quora_question_pair_partition"),
    ("twitter-url", "twitter_url"),
    ("twitter-url", "twitter_url/Twitter_URL_Corpus_train_sample.txt"),
    ("pit2015", "pit2015"),
    ("stsb", "stsbenchmark"),
    *((f"sts{year}", folder) for year in range(12, 17) for folder in ("sts12-16", "senteval/STS")),
    ("senteval", "senteval/STS"),
    ("semeval-cqa", "semeval2016_task3"),
    ("semeval-cqa", "semeval2017_task3"),
]


@pytest.mark.parametrize(("name", "folder"), PUBLISHED)
def test_a_corpus_as_published_is_read_without_a_warning(shared_data, name, folder):
    found = published(name, shared_data / folder)
    assert found.data.rows > 0
    assert found.messages == []


def test_a_copy_of_mrpc_with_rows_added_is_told_from_the_published_file(shared_data, tmp_path, caplog):
    text = (shared_data / "mrpc" / "msr_paraphrase_train.txt").read_text("utf-8-sig")
    path = tmp_path / "msr_paraphrase_train.txt"
    path.write_text(text.rstrip("\n") + "\n" + "1\t1\t2\tOne.\tTwo.\n" * 4, "utf-8")
    assert load(f"mrpc:{path}", sample=None).rows == 4_080
    found = (
        "msr_paraphrase_train.txt has 4,080 rows (1: 2,757, 0: 1,323), but the published data have 4,076 (1: 2,753, "
        "0: 1,323)"
    )
    assert caplog.messages == [f"{found}: is it a changed copy?"]


def test_one_label_changed_is_told_from_the_published_file(shared_data, tmp_path, caplog):
    text = (shared_data / "paws_wiki" / "final" / "dev.tsv").read_text("utf-8").rstrip("\n")
    (tmp_path / "dev.tsv").write_text(f"{text[:-1]}{1 - int(text[-1])}\n", "utf-8")
    assert load(f"paws:{tmp_path}", sample=None).rows == 8_000
    assert [record.levelno for record in caplog.records] == [logging.WARNING]


def test_every_data_set_states_its_licence_and_its_files():
    assert {"mrpc", "paws", "qqp", "pairs", "probes", *(name for name, _ in PUBLISHED)} <= set(known_data_sets())
    assert all(module.LICENCE and module.FILES for module in known_data_sets().values())


def test_every_public_corpus_has_a_citation_and_published_counts():
    public = {
        name: module for name, module in known_data_sets().items() if name != "probes" and module.LICENCE != "yours"
    }
    assert {"paws-qqp", "sick"} <= public.keys()
    for name, module in public.items():
        assert "\n" not in module.CITATION, name
        assert all(not labels or sum(labels.values()) == rows for rows, labels in module.EXPECTED.values()), name


# splits of the papers


def mrpc_of(folder, count, *, ids=()):
    lines = ["Quality\t#1 ID\t#2 ID\t#1 String\t#2 String"]
    lines += [f"{n % 2}\t{n}\t{n + 1000}\tKettle {n} sings.\tIt sings {n}." for n in range(count)]
    (folder / "msr_paraphrase_train.txt").write_text("\n".join(lines) + "\n", "utf-8")
    (folder / "dev_ids.tsv").write_text("".join(f"{a}\t{b}\n" for a, b in ids), "utf-8")
    return folder


def test_glues_split_of_mrpc_is_the_one_that_its_ids_name(tmp_path, caplog):
    folder = mrpc_of(tmp_path, 12, ids=[(3, 1003), (7, 1007)])
    data = load(f"mrpc@glue:{folder}", sample=None)
    assert [p.first for p in data.pairs if p.split == "validation"] == ["Kettle 3 sings.", "Kettle 7 sings."]
    assert len(data.pairs) == 12
    assert data.name == "mrpc@glue"
    assert "names 2 pairs, but GLUE's validation part has 408" in caplog.text


def test_the_original_files_of_mrpc_have_glues_sizes_with_408_ids(shared_data, tmp_path):
    for file in (shared_data / "mrpc").glob("*.txt"):
        (tmp_path / file.name).symlink_to(file)
    lines = (tmp_path / "msr_paraphrase_train.txt").read_text("utf-8-sig").splitlines()[1:409]
    ids = ["\t".join(line.split("\t")[1:3]) for line in lines]  # not GLUE's own 408, which come with its script
    (tmp_path / "dev_ids.tsv").write_text("\n".join(ids) + "\n", "utf-8")
    found = Counter(p.split for p in load(f"mrpc@glue:{tmp_path}", sample=None).pairs)
    assert found == {"train": 3_668, "validation": 408, "test": 1_725}


def test_ids_that_are_missing_or_another_corpus_are_refused(tmp_path):
    folder = mrpc_of(tmp_path, 4, ids=[(3, 3)])
    with pytest.raises(DataError, match="names 1 of 1 pairs that the training file lacks"):
        load(f"mrpc@glue:{folder}")
    (folder / "dev_ids.tsv").unlink()
    with pytest.raises(DataError, match=r"dev_ids.tsv does not exist.*408 pairs"):
        load(f"mrpc@glue:{folder}")
