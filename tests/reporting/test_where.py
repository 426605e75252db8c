"""`encheck export RUN --where`: the kinds of items that a run's models fail more often."""

import re
from dataclasses import replace

import numpy as np
import pytest
from recorded import run_file
from test_reporting import results, row
from typer.testing import CliRunner

from encheck.cli import app
from encheck.language.lexicon.load import load_lexicon
from encheck.language.parse import Parse
from encheck.reporting import where as module
from encheck.reporting.results import write_items, write_results
from encheck.reporting.where import find_failing_kinds, kind_blocks, kind_lines
from encheck.scoring.both_orders import BOTH_ORDERS
from encheck.scoring.frame import RunItems, item_table
from encheck.scoring.item import ItemFrame, TextColumns, edits_json
from encheck.scoring.triplets import TRIPLET
from encheck.types import Edit

CHECK = "antonym_is_farther_than_paraphrase"
ADVERB, NOUN = "edits of an adverb", "edits of a noun"
ADVERBS, NOUNS = (
    ("soon", "often", "slowly"),
    ("tree", "train", "bridge"),
)  # of the same lengths: the surface is the same


class Plain:
    """English of three adverbs, in which every other word is a noun."""

    lexicon = load_lexicon()

    def parse_all(self, texts):
        self.asked = set(texts)

    def stored_parse(self, text):
        words, n = text.split(), len(text.split())
        starts = np.cumsum([0, *(len(w) + 1 for w in words)])[:-1].tolist()
        adverb = [w in ADVERBS for w in words]
        tags, pos = (tuple(a if is_one else b for is_one in adverb) for a, b in (("RB", "NN"), ("ADV", "NOUN")))
        ends = tuple(s + len(w) for s, w in zip(starts, words, strict=True))
        return Parse(text, tuple(starts), ends, tags, pos, tuple(words), (n - 1,) * n, ("dep",) * n, ("",) * n)


def frame(rng, *, fails=0.9, usual=0.2, overlaps=False, count=240, model="m"):
    """Items of which the model fails at edits of adverbs; with `overlaps` their near texts share fewer words."""
    is_adverb = rng.random(count) < 0.5
    first = [f"w{i} {(ADVERBS if own else NOUNS)[rng.integers(3)]}" for i, own in enumerate(is_adverb)]
    spans = [Edit(len(f"w{i} "), len(s), "other") for i, s in enumerate(first)]
    sources = tuple(f"{s} goes" for s in first)
    far = tuple(f"w{i} other goes" for i in range(count))
    near = tuple(f"u{i} v{i} goes" if overlaps and own else f"w{i} same goes" for i, own in enumerate(is_adverb))
    lost = rng.random(count) < np.where(is_adverb, fails, usual)
    edits = tuple(edits_json([edit]) for edit in spans)
    names = tuple(map(str, range(count)))
    return ItemFrame(
        TRIPLET, f"{CHECK}/{model}-own-1", names, sources, TextColumns(near, np.where(lost, 0.1, 0.9)), names,
        ("test",) * count, TextColumns(far, np.full(count, 0.5), None, edits),
    )  # fmt: skip


def run_of(folder, *frames, models=("m",), data="pairs:own.csv"):
    row = {"check": CHECK, "property": "antonym", "level": "1", "data": "own"}
    found = {
        "run": {"settings": {"data": [data], "seed": 0}}, "models": [{"label": m} for m in models], "data": [],
        "checks": [row | {"model": m, "id": f"{CHECK}/{m}-own-1/margin_rate"} for m in models],
    }  # fmt: skip
    write_results(folder, run_file(found))
    write_items(folder, RunItems.from_tables(map(item_table, frames)))
    return folder


def test_a_kind_of_item_that_fails_is_reported_with_both_halves(tmp_path):
    (found,) = find_failing_kinds(run_of(tmp_path, frame(np.random.default_rng(0))), Plain())
    assert (found.model, found.items, found.checks) == ("m", 240, 1)
    (finding,) = found.findings
    assert [value for _, value in finding.cell.values] == [ADVERB]
    assert not finding.is_surface
    said = "\n".join(kind_lines([found]))
    share = finding.cell.confirmation
    assert (
        f"fails {share.inside:.0%} of {share.n} items in {share.clusters} clusters against {share.outside:.0%}" in said
    )
    assert f"where it was found, {finding.cell.search.inside:.0%} of" in said
    assert " with the surface held equal" in said


def test_failures_that_the_surface_gives_away_are_not_reported(tmp_path):
    (found,) = find_failing_kinds(run_of(tmp_path, frame(np.random.default_rng(0), overlaps=True)), Plain())
    assert found.findings == ()
    assert f"none of {found.nominated} kinds" in "\n".join(kind_lines([found]))


def test_each_model_has_its_own_search(tmp_path):
    rng = np.random.default_rng(1)
    both = frame(rng), frame(rng, fails=0.2, model="n")
    found = find_failing_kinds(run_of(tmp_path, *both, models=("m", "n")), Plain())
    assert [(one.model, len(one.findings)) for one in found] == [("m", 1), ("n", 0)]


def test_other_kinds_of_items_have_no_part(tmp_path):
    pairs = frame(np.random.default_rng(0))
    pairs = replace(pairs, kind=BOTH_ORDERS)
    (found,) = find_failing_kinds(run_of(tmp_path, pairs), Plain())
    assert (found.items, found.nominated) == (0, 0)


def test_domains_are_left_out_where_the_probes_are_gone(tmp_path, caplog):
    folder = run_of(tmp_path, frame(np.random.default_rng(0), count=8), data=f"probes:{tmp_path / 'gone.jsonl'}")
    assert [one.items for one in find_failing_kinds(folder, Plain())] == [8]
    assert "the domains of probes:" in caplog.text


@pytest.fixture
def encheck(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return lambda *args: CliRunner().invoke(app, list(args))


def test_the_command_prints_it_and_writes_the_page(encheck, tmp_path, monkeypatch):
    run_of(tmp_path, frame(np.random.default_rng(0)))
    write_results(tmp_path, results(row(id=f"{CHECK}/m-own-1/margin_rate", data="own")))
    monkeypatch.setattr(module, "find_failing_kinds", lambda folder, _english: find_failing_kinds(folder, Plain()))
    said = encheck("export", ".", "--where", "--store", "s.sqlite")
    assert said.exit_code == 0, said.output
    assert said.output.startswith("Where m fails: 1 of")
    assert ADVERB in said.output
    assert NOUN not in said.output
    page = (tmp_path / "report.html").read_text("utf-8")
    assert 'id="where"' in page
    assert ADVERB in page
    assert "held equal" in page
    assert encheck("export", ".").exit_code == 0
    assert 'id="where"' not in (tmp_path / "report.html").read_text("utf-8")


def test_the_page_says_in_a_sentence_that_nothing_was_confirmed(tmp_path):
    found = find_failing_kinds(run_of(tmp_path, frame(np.random.default_rng(0), fails=0.2)), Plain())
    assert re.fullmatch(r"none of \d+ kinds of items .* \(240 items of 1 check\)", kind_blocks(found)[0].headline)
    assert kind_blocks(found)[0].findings == ()


def test_a_run_without_items_says_so(encheck, tmp_path):
    run_of(tmp_path, frame(np.random.default_rng(0)))
    (tmp_path / "items.parquet").unlink()
    said = encheck("export", ".", "--where", "--store", "s.sqlite")
    assert said.exit_code == 4
    assert "has no items.parquet" in said.output
