"""A run on a search with labels against a baseline: what is weighed, and what results and the terminal say of it."""

import json
from dataclasses import replace

import jsonschema
import numpy as np
import pytest
from gate_fakes import frame, given
from recorded import run_file

from encheck.encoders.settings import EncodingSettings
from encheck.gating.baseline import model_tables, read_baseline, save_baseline
from encheck.gating.comparison import gate_against_baseline
from encheck.gating.purpose import Purpose
from encheck.gating.reindex import DocumentLengths, RoleVectors, TextLength, VectorSample
from encheck.gating.types import Gate
from encheck.reporting import markdown, terminal
from encheck.reporting.answers import write_unjudged
from encheck.reporting.gate import record
from encheck.scoring.documents import Answers
from encheck.scoring.searches import RANKED
from encheck.system.typed_files import as_values, schema_of

CHECK = "query_finds_its_documents"
CASE = f"{CHECK}/m-d-1"
CLAIM = {"family": "retrieval", "metric": "ndcg_at_10", "gates": "ndcg_at_10", "primary": True}


def searched(ranks, *, each=6, slices=True, unjudged=0, other=99):
    """The items of a run whose queries have their right document at these ranks; `each` ask for the same one.

    Nobody judged the first answers of the first queries, if these are others.
    """
    n = len(ranks)
    found = frame([0.5] * n, [0.4] * n, clusters=[i // each for i in range(n)])
    answers = [
        str(Answers(((rank, 1),), first=(i // each if rank == 1 else other,), is_unjudged=rank > 1 and i < unjudged))
        for i, rank in enumerate(ranks)
    ]
    halves = tuple(json.dumps({"half": str(i % 2)}) for i in range(n)) if slices else ()
    return replace(found, kind=RANKED, case=CASE, answers=tuple(answers), slices=halves)


def said():
    return run_file(given_search())


def given_search():
    return given(tested="retrieval", check=CHECK) | {"claims": {CHECK: {**CLAIM, "property": "retrieval"}}}


@pytest.fixture
def weighed(tmp_path):
    """Weigh a search that loses its first queries against one that finds all."""

    def weighed(lost, *, n=150, slices=True, each=6, wrong=0, unjudged=(0, 0), **how):
        both = [3] * wrong + [1] * (n - wrong), [3] * lost + [1] * (n - lost)
        before, after = (
            {CASE: searched(ranks, slices=slices, each=each, unjudged=count, other=other)}
            for ranks, count, other in zip(both, unjudged, (98, 99), strict=True)
        )
        save_baseline(tmp_path / "base", said(), model_tables(said(), before, "m"), model="m")
        return gate_against_baseline(read_baseline(tmp_path / "base"), said(), after, model="m", **how), after

    return weighed


def shown(found, items):
    documents = {f"{CHECK}/d/1": {i: (str(i), f"document {i}") for i in range(100)}}
    gate = record.gate_with_texts([found], None, record.GateEvidence({CASE: items[CASE]}, documents, "r"))
    jsonschema.validate(as_values(gate), schema_of(Gate), cls=jsonschema.Draft202012Validator)
    return gate, gate.against[0]


def test_a_loss_that_only_unjudged_first_answers_show_asks_for_judgements(weighed, tmp_path):
    entry, against = shown(*weighed(40, each=1, unjudged=(0, 40)))
    row = against.rows[0]
    assert (row.outcome, row.unjudged) == ("inconclusive", 40)
    assert row.why == (
        "the first document of 40 queries is not judged: no if all of these are wrong (-26.7 points), yes if all "
        "are right (+0.0 points)"
    )
    first = next(iter(terminal.gate_lines(entry)))
    asks = "For 40 queries, the first document is not judged: add judgements (unjudged.tsv)"
    assert first.endswith(f"INCONCLUSIVE. {asks}")
    assert len(row.unjudged_answers) == 40
    write_unjudged(tmp_path, entry)
    lines = (tmp_path / "unjudged.tsv").read_text("utf-8").splitlines()
    assert (len(lines), lines[0]) == (41, "query\tcorpus-id\tdocument")
    assert lines[1].endswith("\t99\tdocument 99")


def test_a_search_that_only_holds_if_unjudged_first_answers_are_wrong_asks_for_judgements(weighed):
    _, against = shown(*weighed(40, each=1, wrong=40, unjudged=(40, 0)))
    assert (against.rows[0].outcome, against.rows[0].unjudged) == ("inconclusive", 40)
    assert "yes if all of these are wrong (+0.0 points), no if all are right (-26.7 points)" in against.reasons[0]


@pytest.mark.parametrize(("lost", "outcome"), [(0, "pass"), (40, "block")])
def test_what_holds_whether_unjudged_first_answers_are_right_or_wrong_is_decided(weighed, lost, outcome):
    _, against = shown(*weighed(lost, each=1, wrong=1, unjudged=(1, 1)))
    assert (against.rows[0].outcome, against.rows[0].unjudged) == (outcome, 0)


def test_a_loss_blocks_by_the_primary_endpoint_and_shows_what_came_first(weighed):
    entry, against = shown(*weighed(40))
    row = against.rows[0]
    assert (row.name, row.endpoint, row.outcome, row.alpha) == ("retrieval/d/1", "recall@1", "block", 0.05)
    assert (row.worse_queries, row.better_queries) == (40, 0)
    text = "\n".join(terminal.gate_lines(entry, verbose=True))
    assert "retrieval/d/1: the primary endpoint is recall@1, tested, at 5%" in text
    assert "other metrics (not tested): nDCG@10 1.000 to 0.867, -0.133" in text
    assert "first before: document 0\n    first now:    document 99" in text
    assert len(row.lost_queries) == 3
    assert len({one.before for one in row.lost_queries}) == 3
    text = "\n".join(markdown.gate_markdown(entry, {}, most=50))
    assert "- lost in retrieval/d/1: *source 0*" in text


@pytest.mark.parametrize(("purpose", "outcome"), [("search", "block"), ("change", "pass")])
def test_that_more_documents_are_cut_blocks_a_search_alone(tmp_path, purpose, outcome):
    items = {CASE: searched([1] * 150)}
    old, new = (
        VectorSample(EncodingSettings(maximum_length=limit), "cosine", 8, {"a": TextLength(5, None)},
                     {"": RoleVectors(("a",), np.ones((1, 8), np.float32))})
        for limit in (512, 256)
    )  # fmt: skip
    save_baseline(tmp_path / "base", said(), model_tables(said(), items, "m"), model="m", vectors=old)
    decision = gate_against_baseline(
        read_baseline(tmp_path / "base"), said(), items, model="m", purpose=Purpose(purpose), vectors=new,
        documents=DocumentLengths("tokens", {100: 90, 300: 10}),
    ).decision  # fmt: skip
    assert decision.outcome == outcome
    assert any("10.0% of your documents" in one for one in decision.reasons) == (purpose == "search")


def test_another_endpoint_is_weighed_where_it_is_named(weighed):
    found, _ = weighed(40, n=600, primary="recall@10")
    row = found.decision.rows[0]
    assert (row.endpoint, row.change, row.outcome) == ("recall@10", 0.0, "pass")
    assert "recall@1" in [one.metric for one in row.beside]


def test_slices_come_from_the_candidates_run_and_the_baseline_keeps_no_text_of_them(weighed, tmp_path):
    found, _ = weighed(0)
    assert [row.name for row in found.decision.rows] == [
        "retrieval/d/1", "retrieval/d/1/half=0", "retrieval/d/1/half=1",
    ]  # fmt: skip
    assert b"half" not in (tmp_path / "base" / "items.parquet").read_bytes()


def test_the_columns_of_the_file_change_nothing_of_the_main_test(weighed):
    with_slices, without = (weighed(12, slices=some)[0].decision for some in (True, False))
    assert with_slices.rows[0] == without.rows[0]
    assert len(with_slices.rows) == 3


def test_too_few_articles_are_told_how_many_more_it_takes(weighed):
    entry, against = shown(*weighed(36, n=72))
    assert against.outcome == "inconclusive"
    remedy = against.rows[0].remedy
    assert remedy.queries == 6
    assert f": INCONCLUSIVE. {remedy.says}" in "\n".join(terminal.gate_lines(entry, verbose=True))
    assert "the primary endpoint is recall@1, reported only" in "\n".join(terminal.gate_lines(entry, verbose=True))
    assert f": INCONCLUSIVE. {remedy.says}" in "\n".join(markdown.gate_markdown(entry, {}, most=50))


def test_queries_that_overlap_in_a_chain_are_not_taken_for_one_cluster(tmp_path):
    """Each shares a document with the next: one component, which once did not gate at all."""
    before, after = (
        {CASE: replace(searched(ranks, each=150, slices=False), shares=tuple(f"d{i} d{i + 1}" for i in range(150)))}
        for ranks in ([1] * 150, [3] * 40 + [1] * 110)
    )
    save_baseline(tmp_path / "base", said(), model_tables(said(), before, "m"), model="m")
    assert b"d149" not in (tmp_path / "base" / "items.parquet").read_bytes()
    row = gate_against_baseline(read_baseline(tmp_path / "base"), said(), after, model="m").decision.rows[0]
    assert (row.outcome, row.gates, row.clusters) == ("block", True, 50)


NUMBER = "other_number_is_farther"


def with_contrasts(found):
    """Such a run whose search has contrasts too, of which each pair is won."""
    made = replace(frame([0.9] * 200, [0.5] * 200), case=f"{NUMBER}/m-d-1")
    run = given_search()
    row = {**run["checks"][0], "id": f"{NUMBER}/m-d-1/margin_rate", "check": NUMBER, "property": "number"}
    run["checks"].append(row)
    run["claims"][NUMBER] = {"family": "meaning changed", "gates": "margin_rate", "property": "number"}
    return run_file(run), {**found, f"{NUMBER}/m-d-1": made}


@pytest.mark.parametrize(("lost", "outcome"), [(0, "inconclusive"), (40, "block")])
def test_contrasts_that_a_baseline_of_searches_alone_lacks_are_named_and_never_pass(tmp_path, lost, outcome):
    before, after = ({CASE: searched([3] * worse + [1] * (150 - worse))} for worse in (0, lost))
    save_baseline(tmp_path / "base", said(), model_tables(said(), before, "m"), model="m")
    results, items = with_contrasts(after)
    found = gate_against_baseline(read_baseline(tmp_path / "base"), results, items, model="m")
    assert (found.decision.outcome, found.decision.missing) == (outcome, ())
    assert (found.decision.partial.weighed, found.decision.partial.left_out) == (("retrieval",), ("number",))
    why = found.decision.reported_only[f"{NUMBER}/d/1"]
    assert why == "new, not compared: the baseline only has searches on these data"
    assert found.decision.notes[0].startswith("1 case (number) on d: new, not compared")
    entry, _ = shown(found, items)
    assert "gate against base (partial: search), for another model" in "\n".join(
        terminal.gate_lines(entry, verbose=True)
    )


def test_contrasts_that_a_baseline_has_are_weighed_and_missed(tmp_path):
    results, items = with_contrasts({CASE: searched([1] * 150)})
    save_baseline(tmp_path / "base", results, model_tables(results, items, "m"), model="m")
    found = gate_against_baseline(read_baseline(tmp_path / "base"), results, items, model="m")
    assert (found.decision.outcome, found.decision.partial) == ("pass", None)
    assert "number/d/1" in [row.name for row in found.decision.rows]
    without = gate_against_baseline(read_baseline(tmp_path / "base"), said(), {CASE: items[CASE]}, model="m")
    assert without.decision.outcome == "inconclusive"
    assert without.decision.missing == (f"{NUMBER}/d/1 (the baseline)",)


def test_a_new_case_beside_contrasts_that_the_baseline_has_keeps_the_gate_from_passing(tmp_path):
    results, items = with_contrasts({CASE: searched([1] * 150)})
    save_baseline(tmp_path / "base", results, model_tables(results, items, "m"), model="m")
    row = replace(results.checks[1], id="new/m-d-1/margin_rate", check="new")
    results = replace(results, checks=(*results.checks, row), claims={**results.claims, "new": results.claims[NUMBER]})
    newer = {**items, "new/m-d-1": replace(items[f"{NUMBER}/m-d-1"], case="new/m-d-1")}
    found = gate_against_baseline(read_baseline(tmp_path / "base"), results, newer, model="m")
    assert (found.decision.outcome, found.decision.missing) == ("inconclusive", ("new/d/1 (the candidate)",))
