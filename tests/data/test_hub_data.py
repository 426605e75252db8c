"""Data sets by name from the hub: the library's real loading, on a repository that lies on this disk."""

import dataclasses
import json
import logging

import pytest

from encheck.datasets.load import known_data_sets, load
from encheck.errors import DataError


def of_name(monkeypatch, name, **changed):
    """Have a data set's HUB name something else."""
    module = known_data_sets()[name]
    monkeypatch.setattr(module, "HUB", dataclasses.replace(module.HUB, **changed))


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """Write splits as JSON Lines and have a data set's HUB name that folder."""
    monkeypatch.setenv("HF_DATASETS_CACHE", str(tmp_path / "cache"))

    def write(name, **splits):
        folder = tmp_path / "repo"
        folder.mkdir()
        for split, rows in splits.items():
            (folder / f"{split}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        of_name(monkeypatch, name, repo=str(folder), config=None)
        return folder

    return write


def pair(label, n=0):
    return {"sentence1": f"the first one {n}", "sentence2": f"the second one {n}", "label": label}


def test_splits_labels_and_texts_are_those_of_the_repository(repository):
    repository("mrpc", train=[pair(1), pair(0, 1)], validation=[pair(1, 2)], test=[pair(0, 3), pair(-1, 4)])
    found = load("mrpc:hub", sample=None)
    assert [(p.first, p.label, p.split) for p in found.pairs] == [
        ("the first one 0", 1, "train"),
        ("the first one 1", 0, "train"),
        ("the first one 2", 1, "validation"),
        ("the first one 3", 0, "test"),
    ]


def test_a_graded_set_has_scores_and_the_label_that_follows(repository):
    rows = [{"sentence1": "a b", "sentence2": "c d", "score": s} for s in (5.0, 4.0, 3.8)]
    repository("stsb", test=rows)
    assert [(p.score, p.label) for p in load("stsb:hub", sample=None).pairs] == [(5.0, 1), (4.0, 1), (3.8, 0)]


def test_a_split_that_is_one_row_of_lists_is_read_pair_by_pair(repository):
    repository("twitter-url", test=[{"sent1": ["a b", "e f"], "sent2": ["c d", "g h"], "labels": [1, 0]}])
    found = load("twitter-url:hub", sample=None).pairs
    assert [(p.first, p.second, p.label) for p in found] == [("a b", "c d", 1), ("e f", "g h", 0)]


def test_sentevals_pairs_are_those_of_the_five_years(repository, monkeypatch):
    rows = [{"sentence1": "a b", "sentence2": "c d", "score": 4.5}]
    folder = repository("stsb", train=rows, test=rows)
    years = {name: known_data_sets()[name].HUB for name in ("sts12", "sts16")}
    parts = {name.upper(): dataclasses.replace(hub, repo=str(folder)) for name, hub in years.items()}
    of_name(monkeypatch, "senteval", parts=parts)
    splits = [pair.split for pair in load("senteval:hub", sample=None).pairs]
    assert splits == ["STS12/train", "STS12/test", "STS16/train", "STS16/test"]


def test_relatedness_alone_leaves_the_label_open(repository):
    repository("sick", test=[{"sentence1": "a b", "sentence2": "c d", "score": 4.5}])
    assert [(p.score, p.label) for p in load("sick:hub", sample=None).pairs] == [(4.5, None)]


def test_other_counts_than_published_are_warned_of(repository, caplog):
    repository("mrpc", test=[pair(1)])
    with caplog.at_level(logging.WARNING, "encheck"):
        load("mrpc:hub", sample=None)
    assert "test has 1 rows (1: 1), but the published data have 1,725 (1: 1,147, 0: 578)" in caplog.text


def test_a_bad_row_is_named_and_can_be_skipped(repository):
    repository("mrpc", test=[pair(1), pair(7, 1)])
    with pytest.raises(DataError, match=r"test:2: the label is 7, but should be 0 or 1"):
        load("mrpc:hub", sample=None)
    assert len(load("mrpc:hub", sample=None, skip_bad_rows=True).pairs) == 1


def test_other_columns_are_refused(repository):
    repository("mrpc", test=[{"text": "a", "label": 1}])
    with pytest.raises(DataError, match="has the columns text, label, but should have sentence1, sentence2"):
        load("mrpc:hub", sample=None)


def test_what_cannot_be_fetched_is_said_with_the_remedy(tmp_path, monkeypatch):
    of_name(monkeypatch, "mrpc", repo=str(tmp_path / "nothing"), revision="0" * 40)
    with pytest.raises(DataError, match=r"cannot be downloaded from the hub: .* give a path: --data NAME:PATH"):
        load("mrpc:hub", sample=None)


def test_every_set_of_the_hub_is_pinned_to_a_commit():
    hubs = {name: module.HUB for name, module in known_data_sets().items() if hasattr(module, "HUB")}
    parts = hubs.pop("senteval").parts
    assert list(parts.values()) == [hubs[f"sts{y}"] for y in range(12, 17)]
    assert set(hubs) == {
        *(f"sts{y}" for y in range(12, 17)),
        "mrpc",
        "paws",
        "pit2015",
        "qqp",
        "sick",
        "stsb",
        "twitter-url",
    }
    assert all(len(h.revision) == 40 and set(h.revision) <= set("0123456789abcdef") for h in hubs.values())


def test_a_set_that_is_on_the_hub_says_so_where_a_path_is_missing():
    with pytest.raises(DataError, match=r"or --data mrpc:hub, which fetches it"):
        load("mrpc")


def test_a_set_that_is_not_on_the_hub_says_which_are():
    with pytest.raises(
        DataError, match=r"not on the hub: give the path of .* Data sets on the hub: mrpc, paws, pit2015, qqp"
    ):
        load("paws-qqp:hub")
