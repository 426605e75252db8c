"""What a gate says of its verdict: lost items with their texts, what a loss means, what can be done, JUnit."""

from dataclasses import asdict, replace

import numpy as np
import pytest
from gate_fakes import CASE, frame, gate_against, gate_row, given, scores
from recorded import run_file

from encheck.checks.test_antonym import test_antonym_is_farther_than_paraphrase as antonym_check
from encheck.claims import claim_of
from encheck.gating.advice import apply_partial, row_numbers_in_words, suggest_remedies
from encheck.gating.baseline import model_tables, read_baseline, save_baseline
from encheck.gating.comparison import gate_against_baseline
from encheck.gating.decision import decide_by_rows
from encheck.gating.types import Noise, PairedRow, PartialGate
from encheck.reporting import markdown, terminal
from encheck.reporting.gate import record, rows, words
from encheck.reporting.junit import gate_cases

ANTONYM = claim_of(antonym_check).declared


def rate(name, *, n=1_000, lost=0, gained=0):
    old = (np.arange(n) % 2 == 0).astype(float)
    new = old.copy()
    new[np.flatnonzero(old == 1)[:lost]] = 0
    new[np.flatnonzero(old == 0)[:gained]] = 1
    return PairedRow(name, "order", "rate", old, new, np.arange(n))


@pytest.fixture
def weighed(tmp_path):
    """A gate of near and far scores against 90% wins, with its texts, and without."""

    def weighed(near, far, *, verdict=None, inconclusive=None, params=None, **more):
        said = given()
        said["claims"] = {CASE: asdict(ANTONYM) | {"says": "", "title": "", "why": ""}}
        before = {f"{CASE}/m-d-1": frame(*scores(), **more)}
        save_baseline(tmp_path / "base", run_file(said), model_tables(run_file(said), before, "m"), model="m")
        if params:
            broken = {"check": "it_is_finite", "property": "contract", "verdict": "fail", "params": params}
            said["checks"].append({**said["checks"][0], **broken, "id": "it_is_finite/m-d-1/share"})
            said["claims"]["it_is_finite"] = {"family": "contract", "means": "Nothing works."}
        now = {f"{CASE}/m-d-1": frame(near, far, **more)}
        found = gate_against_baseline(read_baseline(tmp_path / "base"), run_file(said), now, model="m")
        return record.gate_with_texts([found], inconclusive, record.GateEvidence(now)), found

    return weighed


def test_a_row_that_blocks_shows_three_lost_items_of_different_clusters_with_both_scores(weighed):
    (found, _) = weighed(*scores(lost=range(40)), clusters=np.arange(400) // 2)
    (row,) = found.against[0].rows
    assert len(row.lost_examples) == 3
    one = row.lost_examples[0]
    near, far = one.texts
    number = one.source.removeprefix("source ")
    assert (near.side, far.side) == ("near", "far")
    assert (near.pieces, far.pieces) == ((("same", f"near {number}"),), (("same", f"far {number}"),))
    assert near.before > far.before
    assert near.now < far.now
    assert len({int(e.source.split()[1]) // 2 for e in row.lost_examples}) == 3


def test_what_a_loss_means_is_the_check_s_own_sentence_and_stands_on_the_terminal(weighed):
    (found, _) = weighed(*scores(lost=range(40)))
    said = list(terminal.gate_lines(found, verbose=True))
    assert f"    {ANTONYM.means}" in said
    assert ANTONYM.means
    assert sum(text.startswith("  lost: source ") for text in said) == 3


def test_the_terminal_shows_one_lost_item_with_all_its_texts_and_counts_the_rows(weighed):
    (found, _) = weighed(*scores(lost=range(40)))
    (row,) = found.against[0].rows
    of_one_text = replace(row, lost_examples=[replace(one, texts=one.texts[:1]) for one in row.lost_examples])
    passed = replace(row, name="passed/d/1", outcome="pass", evidence=True, lost_examples=())
    said = list(terminal.gate_lines(replace(found, against=(replace(found.against[0], rows=(passed, of_one_text)),))))
    assert sum(text.startswith("  lost: ") for text in said) == 1
    assert "  rows: worse (1), a little worse (1)" in said


def test_a_row_that_passes_shows_no_items(weighed):
    (found, _) = weighed(*scores())
    assert found.against[0].rows[0].lost_examples == ()
    assert list(words.gate_headlines(found)) == [
        "GATE: PASSED. This rules out a loss of 4 points in any row, and no estimated loss reaches 2 points"
    ]


def test_items_of_another_text_are_not_shown(weighed):
    _, found = weighed(*scores(lost=range(40)))
    others = {"x": replace(frame(*scores()), sources=("other",) * 400)}
    assert record.lost_examples_of(found.lost_items["antonym/d/1"], others) == ()


def test_the_cause_and_the_meaning_stand_beside_a_broken_contract(weighed):
    (found, _) = weighed(*scores(), params={"cause": "28 of 32 texts are longer than 16 tokens"})
    said = "it is finite on d: 28 of 32 texts are longer than 16 tokens. Nothing works."
    assert found.against[0].contracts == (said,)
    assert list(words.gate_headlines(found)) == [f"GATE: BLOCKED. A contract is broken: {said}"]
    assert sum("28 of 32 texts" in text for text in terminal.gate_lines(found)) == 1


def test_junit_fails_on_a_block_with_the_reason_of_each_row(weighed):
    (found, _) = weighed(*scores(lost=range(40)), params={"cause": "why"})
    cases = {(one.classname, one.name): one for one in gate_cases(found)}
    verdict, row = cases["encheck.gate", "gate"], cases["encheck.gate.base", "antonym/d/1"]
    assert (verdict.result, row.result) == ("failure", "failure")
    change = "-8.9 points [-12.6, -6.2]"
    assert row.message == f"antonym/d/1: {change}: a loss of more than 1 point is certain"
    assert row.details[0] == ANTONYM.means
    assert cases["encheck.gate.base", "contract 1"].result == "failure"


@pytest.mark.parametrize(("counts_as", "result"), [(None, "error"), ("pass", "passed"), ("block", "failure")])
def test_junit_takes_an_inconclusive_gate_for_what_its_owner_chose(weighed, counts_as, result):
    (found, _) = weighed(*scores(wins=0.95, lost=range(27)), inconclusive=counts_as)
    verdict, row = gate_cases(found)
    assert (found.outcome, verdict.result, row.result) == ("inconclusive", result, "skipped")
    assert verdict.message == "GATE: INCONCLUSIVE. Opposites may have got worse: 16 of 314 comparisons lost, 13 won"


def test_a_partial_gate_is_called_one_everywhere(weighed):
    _, found = weighed(*scores())
    decision = apply_partial(found.decision, PartialGate(("antonym",), ("roles",), "-m left out roles"))
    part = record.gate_with_texts([replace(found, decision=decision)], "pass")
    assert (part.outcome, part.exit_code, part.partial.weighed) == ("inconclusive", 10, ("antonym",))
    (headline,) = words.gate_headlines(part)
    assert headline.startswith("GATE (partial: opposites): INCONCLUSIVE. no loss that matters was found in this part")
    verdict = next(gate_cases(part))
    assert (verdict.name, verdict.result) == ("gate (partial: opposites)", "error")
    told = [*terminal.gate_lines(part), *markdown.gate_markdown(part, {}, most=9)]
    assert (
        told[0] == "gate against base (partial: opposites), for a changed model (no behaviour may be lost): "
        "INCONCLUSIVE"
    )
    assert "## Gate against base (partial: opposites): INCONCLUSIVE" in told
    assert not [line for line in told if "Yes" in line or "may replace" in line]


def test_rows_that_do_not_gate_are_folded_and_show_no_interval():
    few = decide_by_rows([rate("few/d/1", n=10, lost=1), rate("many/d/1")])
    assert rows.row_cells(few.rows[0], "change")[5] == "-"
    against = gate_against(few.rows[0], reported_only={"a": "b", "c": "d"})
    assert rows.weighed_rows(against) == []
    assert list(rows.reported_only_counts(against)) == ["1 row and 2 cases are reported only"]


def test_an_interval_that_holds_nearly_anything_is_no_finding():
    assert rows.is_too_uncertain(gate_row(low=-0.777, high=0.777))
    assert not rows.is_too_uncertain(gate_row(low=-0.19, high=0.19))
    assert not rows.is_too_uncertain(gate_row(low=-0.777, high=-0.5))


def test_an_open_gate_says_which_data_would_decide_and_how_few_flips():
    decision = decide_by_rows([rate("number/probes/1", n=250, lost=16, gained=16)])
    more, flips, seeds = suggest_remedies(decision, sampled=["mrpc"])
    (row,), (family,) = decision.rows, decision.families
    assert more.startswith(
        f"more data: {np.ceil(10 * family.more) / 10:.1f} times the items would decide number/probes/1, family order"
    )
    assert "--data probes:fresh=SEED" in more
    assert "--sample all" not in more
    says = "12.8% of the items of number/probes/1 flip; if"
    assert f"{says} {32 / row.needed:.1%}" in flips
    assert "--twin" in seeds


def test_of_several_open_rows_the_one_that_needs_most_is_named_and_the_data_are_those_of_open_families():
    small, large = rate("number/probes/1", n=250, lost=16, gained=16), rate("role/other/1", n=500, lost=30, gained=25)
    decision = decide_by_rows([small, replace(large, family="meaning kept")])
    open_rows = {row.name: row for row in decision.rows if row.outcome == "inconclusive"}
    assert open_rows.keys() == {small.name, large.name}
    shares = {name: row.needed / row.n for name, row in open_rows.items()}
    assert shares[small.name] > shares[large.name]
    assert open_rows[small.name].needed < open_rows[large.name].needed
    more, flips, _ = suggest_remedies(decision, sampled=["other"])
    assert f"{np.ceil(10 * max(one.more for one in decision.families)) / 10:.1f} times the items" in more
    assert "of the items of number/probes/1 flip" in flips
    assert ("--sample all" in more, "probes:fresh" in more) == (True, True)
    passed = decide_by_rows([rate("entity/d/1", n=9_000)])
    settled = replace(decision, rows=(*decision.rows, *passed.rows))
    assert suggest_remedies(settled, sampled=["other"]) == suggest_remedies(decision, sampled=["other"])
    by_family = replace(decision, rows=tuple(replace(row, outcome="pass") for row in decision.rows))
    (more, *_) = suggest_remedies(by_family, sampled=["other"])
    assert "would decide family meaning kept, family order (--sample all or --data probes:fresh=SEED or" in more
    only = replace(decision, rows=(open_rows[small.name],), families=())
    assert "--sample all" not in suggest_remedies(only, sampled=["other"])[0]


def test_many_rows_are_named_by_their_first_spans():
    assert row_numbers_in_words([*range(0, 12, 2), 20, 30]) == "0, 2, 4, 6, 8, 10 and 2 more"


def test_a_candidate_that_hardly_flips_is_not_asked_to_flip_less():
    more, seeds = suggest_remedies(decide_by_rows([rate("number/d/1", n=150, lost=2)]))
    assert (more.split(":")[0], seeds.split(":")[0]) == ("more data", "other seeds")


def test_a_loss_close_to_what_matters_is_not_sent_for_more_data():
    (first, *_) = suggest_remedies(decide_by_rows([rate("number/d/1", n=400, lost=17, gained=10)]))
    assert first.startswith("more data alone will hardly decide number/d/1")


def test_luck_that_was_measured_is_not_asked_for_and_a_verdict_needs_no_remedy():
    small = [rate("number/d/1", n=200, lost=20, gained=20)]
    open_gates = [decide_by_rows(small), decide_by_rows(small, seed_noise=Noise(0.1))]
    assert [any("--twin" in text for text in suggest_remedies(one)) for one in open_gates] == [True, False]
    assert suggest_remedies(decide_by_rows([rate("number/d/1", lost=90)])) == ()
