"""`Results` in a notebook: its table, its items, its page."""

from zlib import crc32

import pytest
from recorded import run_file

import encheck
from encheck.engine.results import Results


@pytest.fixture(scope="module")
def found(contrasts_alone, tmp_path_factory):
    """Both runs measure NevIR's contrast; a name is hostile."""

    def length(texts):
        return [[crc32(text.encode()) % 101, crc32(text.encode()) % 103] for text in texts]

    length.__name__ = "<script>"
    return encheck.run([length, "jaccard"], data=contrasts_alone, store=tmp_path_factory.mktemp("s") / "store.sqlite")


def test_it_is_printed_as_a_short_table(found):
    said = repr(found)
    assert len(said) < 3000
    first, heading, *rows = said.splitlines()
    assert "skipped" in first
    assert heading.split() == ["property", "check", "model", "data", "level", "figure", "verdict"]
    assert any("each_query_prefers_its_own_document" in row for row in rows)
    assert not any(row.endswith("skipped") for row in rows)


def test_a_notebook_shows_it_as_a_table_with_nothing_that_runs(found):
    assert found._repr_html_().startswith("<p>")
    assert "<script>" not in found._repr_html_()
    assert "each_query_prefers_its_own_document" in found._repr_html_()


def test_its_items_say_what_they_are_of_and_whether_they_were_won(found):
    table = found.to_arrow()
    assert {"model", "property", "check", "split", "won"} <= set(table.column_names)
    assert b"not for training" in table.schema.metadata[b"encheck"]
    row = next(r for r in found.judged if r.check.startswith("each_query") and r.model == "jaccard")
    own = [r for r in table.to_pylist() if (r["check"], r["model"]) == (row.check, row.model)]
    sides = [own[i : i + 2] for i in range(0, len(own), 2)]
    assert sum(a["won"] * b["won"] for a, b in sides) / len(sides) == pytest.approx(row.value)
    assert found.to_frame().shape == (table.num_rows, table.num_columns)


def test_failures_are_what_was_not_won_the_worst_first(found):
    failures = found.failures().to_pylist()
    assert failures
    assert {row["won"] for row in failures} <= {0.0, 0.5}
    margins = [row["near_score"] - row["far_score"] for row in failures]
    assert margins == sorted(margins)


def test_its_page_is_one_file(found, tmp_path):
    place = found.page(tmp_path / "of" / "page.html")
    assert place.read_text("utf-8").startswith("<!doctype html>")
    assert list(place.parent.iterdir()) == [place]


def test_a_run_that_measured_nothing_has_an_empty_table():
    nothing = Results(run_file({"models": [], "checks": []}), {})
    assert repr(nothing).startswith("nothing measured")
    assert nothing.to_arrow().num_rows == nothing.failures().num_rows == 0


def test_it_records_the_code_that_measured(found):
    environment = found.raw.run.environment
    assert environment["encheck"].startswith(("commit ", "sha256 of its files "))
    assert {"python", "platform"} <= environment.keys()
    assert "scipy" in found.raw.run.versions
