"""Ids are put together and read in one place, whatever data sets, models and generators are called."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recorded import result

from encheck.ids import CaseId, GateRowId, ItemId, ItemParts, question_id
from encheck.types import CheckResult, content_hash

HASH = content_hash("A dog barks.")
DATA = st.one_of(
    st.sampled_from(["mrpc", "my/own-data", "a/0123456789abcdef/b", "données-é", "pairs-2", "a b", "", "a/1/2"]),
    st.text(min_size=1, max_size=12),
)
WORD = st.text(st.characters(exclude_characters="/"), min_size=1, max_size=8)


@given(DATA, WORD, st.sampled_from(["1", "30", "pivot=a"]), WORD, st.integers(0, 99))
def test_the_parts_of_an_id_are_what_it_was_made_of(data, relation, level, generator, occurrence):
    made = ItemId.of(data, HASH, relation, level, generator, occurrence)
    assert made == f"{data}/{HASH}/{relation}/{level}/{generator}/{occurrence}"
    assert made.parts == ItemParts(data, HASH, relation, level, generator, occurrence, None, False)
    assert ItemId.of(data, HASH, relation, level, generator).numbered(occurrence) == made


@given(DATA, st.integers(1, 40))
def test_a_member_of_a_chain_names_its_chain_and_its_step(data, step):
    chain = ItemId.of(data, HASH, "swap", 3, "pivot-b", 7)
    member = chain.of_step(step)
    assert member == f"{chain}/{step}"
    assert (member.parts.step, member.parts.occurrence, member.parts.in_both_orders) == (step, 7, False)
    assert member.chain == chain
    assert isinstance(member.chain, ItemId)


def test_a_pair_in_both_orders_is_told_from_the_pair():
    pair = ItemId.of("d", HASH, "pair", 1, "data", 0)
    assert pair.in_both_orders == f"{pair}/turned"  # what baselines hold
    assert pair.in_both_orders.parts.in_both_orders
    assert pair.in_both_orders.parts.step is None
    assert not pair.parts.in_both_orders


@pytest.mark.parametrize(
    "foreign", ["1", "d/1", "d/0007/antonym/1/written/0", f"d/{HASH}", f"d/{HASH[1:]}/antonym/1/written/0", ""]
)
def test_an_id_of_somebody_else_s_rules_has_no_parts_and_is_refused_by_name(foreign):
    assert ItemId(foreign).parts_or_none is None
    with pytest.raises(ValueError, match="should be data/hash/relation/level/generator/occurrence") as refusal:
        _ = ItemId(foreign).parts
    assert repr(foreign) in str(refusal.value)


def test_the_data_set_of_an_id_is_known_whoever_made_it():
    assert ItemId.of("my/own", HASH, "pair", 1, "data", 0).data == "my/own"
    assert ItemId("own/3").data == "own"
    assert ItemId("3").data == "3"


def test_a_question_is_what_stands_before_the_last_slash_of_a_key():
    assert question_id("Q1/R2/C3") == "Q1/R2"
    assert question_id("17") is question_id("") is None


def test_an_id_is_its_text_for_everything_that_stores_it():
    made = ItemId.of("d", HASH, "antonym", 1, "written", 0)
    assert {made: 1}[str(made)] == 1
    assert json.loads(json.dumps([made])) == [str(made)]
    assert type(str(made)) is str


FIGURES = st.sampled_from(["auc", "recall[1]", "spearman_2012/MSRpar"])
NAMES = st.sampled_from(["m", "my-model", "a-b-c", "modèle", "intfloat/e5"])


@given(NAMES, NAMES, st.sampled_from([1, "pivot=a", "3-4"]), FIGURES)
def test_a_case_and_the_name_of_its_figure_come_back_from_a_row(model, data, level, figure):
    case = CaseId("a_is_b", model, data, str(level))
    row = result({"id": case.figure(figure), "check": "a_is_b", "model": model, "data": data, "level": str(level)})
    assert row.id == f"a_is_b/{model}-{data}-{level}/{figure}"
    assert (row.case, row.figure) == (case, figure)
    assert case.name == f"{model}-{data}-{level}"
    assert case.of_any_model == f"a_is_b/{data}/{level}"


def test_a_result_knows_its_case():
    result = CheckResult("a/m-d-1/auc", "a", "antonym", "1", "m", "d", None, None)
    assert result.case == CaseId("a", "m", "d", "1")
    assert result.case.name_of(result.id) == "auc"


def test_a_gate_row_is_put_together_and_taken_apart():
    row = GateRowId.of("health", "probes:fresh=3", "1")
    assert (row, row.property) == ("health/probes:fresh=3/1", "health")
    assert row.part("rate") == "health/probes:fresh=3/1/rate"
    renamed = [one.with_parts_renamed({"rate": "share"}) for one in (row.part("rate"), row.part("mean"), row)]
    assert renamed == [row.part("share"), row.part("mean"), row]
