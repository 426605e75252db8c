"""SentEval's classification tasks as data of a run: what is read, sampled, and refused in time."""

from collections import Counter

import pytest

from encheck.datasets.load import load
from encheck.errors import DataError

GOOD, BAD = ["a good film", "good acting", "it was good"], ["a bad film", "bad acting", "it was bad"]


def lines(path, rows, *, encoding="utf-8"):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes("".join(f"{row}\n" for row in rows).encode(encoding))


@pytest.fixture
def folder(tmp_path):
    """A folder as distributed, with three of the seven tasks."""
    lines(tmp_path / "MR" / "rt-polarity.pos", GOOD)
    lines(tmp_path / "MR" / "rt-polarity.neg", BAD)
    for part in ("train", "dev", "test"):
        lines(tmp_path / "SST" / "binary" / f"sentiment-{part}", [f"{part} {t}\t1" for t in GOOD] + ["so bad\t0"])
    pairs = ["Quality\t#1 ID\t#2 ID\t#1 String\t#2 String", "1\t1\t2\tHe came.\tHe did come.", "0\t3\t4\tNo.\tYes."]
    for part in ("train", "test"):
        lines(tmp_path / "MRPC" / f"msr_paraphrase_{part}.txt", pairs)
    return tmp_path


def counts(data):
    return {name: dict(Counter((one.split, one.label) for one in some)) for name, some in data.tasks.items()}


def test_the_tasks_that_are_there_are_read(folder):
    data = load(f"senteval:{folder}")
    three = {(part, label): n for part in ("train", "validation", "test") for label, n in (("1", 3), ("0", 1))}
    assert counts(data) == {
        "MR": {("", "1"): 3, ("", "0"): 3},
        "SST2": three,
        "MRPC": {(part, label): 1 for part in ("train", "test") for label in "10"},
    }
    assert data.rows == 6 + 12 + 4
    assert (data.pairs, data.groups) == ((), ())


def test_one_task_can_be_given_by_its_folder(folder):
    assert list(load(f"senteval:{folder / 'MR'}").tasks) == ["MR"]


def test_all_missing_files_are_named_in_one_message(folder):
    (folder / "MR" / "rt-polarity.neg").unlink()
    (folder / "SST" / "binary" / "sentiment-dev").unlink()
    with pytest.raises(DataError, match=r"lacks rt-polarity.neg \(MR\), sentiment-dev \(SST2\)"):
        load(f"senteval:{folder}")


@pytest.mark.parametrize(
    ("file", "rows", "message"),
    [
        ("SST/binary/sentiment-dev", [], "SST2's validation part in .* has no sentence"),
        ("SST/binary/sentiment-train", ["fine\t1"], "all sentences of SST2's train part in .* have the class 1"),
        ("MR/rt-polarity.pos", [], "all sentences of MR in .* have the class 0, but a classifier needs two"),
        ("SST/binary/sentiment-test", ["fine\t2"], r"sentiment-test:1: the label is '2'"),
    ],
)
def test_a_part_that_cannot_be_used_is_refused(folder, file, rows, message):
    lines(folder / file, rows)
    with pytest.raises(DataError, match=message):
        load(f"senteval:{folder}")


def test_a_folder_that_is_not_there_is_said(tmp_path):
    with pytest.raises(DataError, match="nowhere does not exist; expected one or more of SentEval's folders"):
        load(f"senteval:{tmp_path / 'nowhere'}")


def test_another_encoding_has_file_and_line(folder):
    lines(folder / "MR" / "rt-polarity.pos", ["fine", "a café"], encoding="latin-1")
    with pytest.raises(DataError, match=r"rt-polarity.pos:2: byte 0xe9 is not UTF-8"):
        load(f"senteval:{folder}")


def test_a_folder_with_two_copies_is_refused(folder):
    lines(folder / "copy" / "rt-polarity.pos", GOOD)
    with pytest.raises(DataError, match=r"holds rt-polarity.pos more than once"):
        load(f"senteval:{folder}")


@pytest.mark.parametrize("encoding", ["latin-1", "utf-8"])
def test_trec_is_read_as_distributed_and_converted(tmp_path, encoding):
    lines(tmp_path / "train_5500.label", ["ENTY:food What is café ?", "HUM:desc Who ?"], encoding=encoding)
    lines(tmp_path / "TREC_10.label", ["HUM:desc Who is it ?"])
    assert load(f"senteval:{tmp_path}").tasks["TREC"][0].first == "What is café ?"


def test_near_duplicates_are_one_cluster_across_parts(folder):
    long = "one two three four five six seven eight nine"
    lines(folder / "SST" / "binary" / "sentiment-train", [f"{long} ten\t1", "other words\t0"])
    lines(folder / "SST" / "binary" / "sentiment-test", [f"{long}\t1", "something else\t0"])
    found = {one.split: one.cluster for one in load(f"senteval:{folder}").tasks["SST2"] if one.first.startswith(long)}
    assert found["train"] == found["test"]


def test_a_sample_is_drawn_of_each_part_of_each_task(folder):
    data = load(f"senteval:{folder}", sample=2)
    assert {(name, one.split): 2 for name, some in data.tasks.items() for one in some} == Counter(
        (name, one.split) for name, some in data.tasks.items() for one in some
    )
    assert data.sampled
    assert not load(f"senteval:{folder}", sample=None).sampled


def test_a_changed_class_changes_the_fingerprint(folder):
    before = load(f"senteval:{folder}").fingerprint
    lines(folder / "SST" / "binary" / "sentiment-test", ["test a good film\t0", "so bad\t0"])
    assert load(f"senteval:{folder}").fingerprint != before


def test_the_distributed_folders_are_whole(shared_data):
    data = load(f"senteval:{shared_data / 'senteval' / 'TREC'}", sample=None)
    assert len(data.tasks["TREC"]) == 5_952
