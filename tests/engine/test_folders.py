"""Where a run keeps things: what is not encheck's stays, and what cannot be kept is said before the work."""

import logging

import pytest

import encheck
from encheck.errors import StoreError, UsageError

HOW = {"checks": "contract", "sample": 20}


def test_a_report_replaces_a_report_and_nothing_else(tmp_path):
    place = tmp_path / "reports"
    place.mkdir()
    (place / "notes.txt").write_text("mine", "utf-8")
    for _ in range(2):
        encheck.run("jaccard", report_dir=place, no_store=True, **HOW)
    assert (place / "notes.txt").read_text("utf-8") == "mine"
    (tmp_path / "summary.md").write_text("mine too", "utf-8")
    with pytest.raises(UsageError, match=r"has summary\.md, which no run of encheck wrote"):
        encheck.run("jaccard", report_dir=tmp_path, no_store=True, **HOW)
    assert (tmp_path / "summary.md").read_text("utf-8") == "mine too"
    assert not (tmp_path / "results.json").exists()


@pytest.mark.parametrize("text", ["[]", "{}", "no JSON"])
def test_results_of_something_else_stay(tmp_path, text):
    (tmp_path / "results.json").write_text(text, "utf-8")
    with pytest.raises(UsageError, match="which no run of encheck wrote"):
        encheck.run("jaccard", report_dir=tmp_path, no_store=True, **HOW)
    assert (tmp_path / "results.json").read_text("utf-8") == text


def test_a_store_that_cannot_be_used_is_said_and_done_without(tmp_path, caplog):
    """Its folder would lie below a file."""
    (tmp_path / "file").write_text("mine", "utf-8")
    with caplog.at_level(logging.WARNING):
        found = encheck.run("bag-of-words", store=tmp_path / "file" / "store.sqlite", **HOW)
    assert found.exit_code == 0
    assert "continues without a store: what it encodes is not saved" in caplog.text
    with pytest.raises(StoreError, match="is left as it is"):
        encheck.run("bag-of-words", store=tmp_path / "file", **HOW)
    assert (tmp_path / "file").read_text("utf-8") == "mine"
