"""Frames of every kind: what the items say, in columns and back."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from recorded import run_file

from encheck.errors import UsageError
from encheck.gating.baseline import model_tables
from encheck.ids import CaseId, ItemId
from encheck.reporting.results import read_items, write_items
from encheck.scoring.both_orders import BothOrders
from encheck.scoring.chains import Chain
from encheck.scoring.classified import Classified
from encheck.scoring.crossed import Contrast, Crossed, CrossedSide
from encheck.scoring.documents import Documents
from encheck.scoring.frame import COLUMNS, OPTIONAL, RunItems, item_table, read_item_frame
from encheck.scoring.item import edits_json, parse_edits
from encheck.scoring.pairs import PAIR, Repeated, SentencePair
from encheck.scoring.scores import KINDS, Scale
from encheck.scoring.searches import LoggedQuery, Query, RankedQuery
from encheck.scoring.text_scorers import LexicalIndex, SurfaceScorer
from encheck.scoring.triplets import Triplet
from encheck.statistics.bootstrap import Resampler
from encheck.surface import Frequencies
from encheck.types import Edit, content_hash

ROOT = Path(__file__).resolve().parents[2]
CASE = CaseId("a_is_b", "my-model", "d/1", "pivot=a")
EDITS = (Edit(2, 5, "blue"),)
CHANGE = '[[2, 5, "blue"]]'


def name(relation="antonym", generator="written", number=0):
    return ItemId.of("d/1", content_hash(relation, str(number)), relation, 1, generator, 0)


DOCUMENTS = Documents.of({"a": "red 0 too", "b": "red 1 too", "c": "nothing alike"})


def pair(number=0, **more):
    return SentencePair(name("pair", "data", number), f"a red {number}", f"a blue {number}", None, f"c{number}", **more)


ITEMS = {
    "pair": [pair(0, edits=EDITS, why="opposite", split="dev"), pair(1, score=3.5, key="q/1")],
    "labelled": [replace(pair(0), label=1, split="test"), replace(pair(1), label=0), replace(pair(2), label=1)],
    "both_orders": [
        BothOrders(name("pair", "data", i).in_both_orders, f"a {i}", f"b {i} a", i % 2, f"c{i}", "validation")
        for i in range(3)
    ],
    "triplet": [
        Triplet(
            name(), "a red car", "a red bus", "a blue car", "c", (), EDITS, "gate", "near said", "far said",
            construction="passive",
        ),
        Triplet(name(number=1), "a", "b", "c", "c2"),
    ],
    "crossed": [
        Crossed(
            name("role_reversal", "crossed"),
            (CrossedSide("a red car", "a red bus", "a blue car", (), EDITS), CrossedSide("a", "b", "c")), "c", "gate",
        ),
        Crossed(
            name("role_reversal", "crossed", 1), (CrossedSide("d", "e", "f"), CrossedSide("d", "g", "h")), "c2", "gate"
        ),
    ],
    "contrast": [
        Contrast(name("contrast", "data", i), (f"red {i}", f"blue {i}"), (f"a red {i}", f"a blue {i}"), f"c{i}", "gate")
        for i in range(2)
    ],
    "chain": [
        Chain(
            ItemId.of("d/1", content_hash("1"), "swap", 3, "pivot-b", 0), "a b c", "a c b", ("c a b", "c b a"), "c",
            "b", "test", edits=(EDITS, ()), why=("first", "second"),
        ),
        Chain(ItemId.of("d/1", content_hash("2"), "swap", 3, "pivot-b", 0), "d e", "e d", ("f",), "c2", "b"),
    ],
    "search": [
        Query(name("query", "searched", i), f"red {i}", f"red {i} too", ("a lure",), f"c{i}", EDITS, "dev")
        for i in range(3)
    ],
    "occurrence": [
        Query(name("query", "counted", i), f"red {i}", f"red {i} too", (), f"c{i}", EDITS, "dev", counts=True)
        for i in range(3)
    ],
    "ranked": [
        RankedQuery(
            name("query", "ranked", i), f"red {i}", DOCUMENTS, ((2 - i, 1),), (0,), f"c{i}", slices=(("by", f"{i}"),)
        )
        for i in range(2)
    ],
    "logged": [LoggedQuery(name("query", "logged", i), f"red {i}", DOCUMENTS, 1 + i, f"c{i}") for i in range(2)],
    "repeated": [Repeated(name("repeated", "again", i), f"text {i}", f"c{i}", "dev") for i in range(2)],
    "classified": [
        Classified(name("MRPC"), "a red car", "a blue car", "1", "c", "test"),
        Classified(name("MR", number=1), "a dull film", "", "0", "c2"),
    ],
}  # fmt: skip


def scores(kind):
    items = tuple(ITEMS[kind])
    overlap = SurfaceScorer(index=LexicalIndex(DOCUMENTS) if kind in ("ranked", "logged") else None)
    of = items[0].kind.scores()
    resampler = Resampler([i.cluster for i in items])
    found = of.score_items(items, overlap, resampler, Scale(0.0))
    return replace(
        found,
        surface={
            n: of.score_items(items, SurfaceScorer(n, Frequencies.of(()), overlap.index), resampler, Scale(0.0))
            for n in of.surface_scorers
        },
    )


def frame(kind):
    return scores(kind).to_item_frame(str(CASE), ITEMS[kind])


def columns_of(found):
    return item_table(found).to_pydict()


def test_every_kind_has_items_here():
    assert {name: ITEMS[name][0].kind for name in ITEMS} == KINDS


@pytest.mark.parametrize("kind", KINDS)
def test_a_frame_comes_back_from_a_file(kind, tmp_path):
    made = frame(kind)
    columns = columns_of(made)
    assert (set(columns["kind"]), set(columns["case"])) == ({kind}, {str(CASE)})
    write_items(tmp_path, RunItems.from_tables([item_table(made)]))
    back = read_items(tmp_path)[str(CASE)]
    assert columns_of(back) == columns
    assert (back.kind.name, back.case, back.ids) == (kind, str(CASE), made.ids)
    assert {type(name) for name in back.ids} == {str}


def test_roles_and_slices_come_back_too():
    made = replace(frame("search"), roles=("query", "document"), slices=("short", "", "long"))
    back = read_item_frame(item_table(made))
    assert (back.roles, back.slices) == (("query", "document"), ("short", "", "long"))
    assert frame("search").roles == ("", "")


def test_a_kind_that_there_is_not_is_refused_by_name():
    made = replace(frame("pair"), kind=replace(PAIR, name="pear"))
    with pytest.raises(UsageError, match=r"kind of a_is_b/.* is 'pear', but should be one of pair, labelled"):
        read_item_frame(item_table(made))


def test_a_pair_without_a_label_makes_the_case_one_of_unlabelled_pairs():
    mixed = [replace(pair(0), label=1), pair(1)]
    kinds = {scores("pair").to_item_frame("case", some).kind.name for some in (mixed, mixed[::-1])}
    assert kinds == {"pair"}


def test_the_columns_of_pairs():
    columns = columns_of(frame("pair"))
    assert columns["source"] == ["a red 0", "a red 1"]
    assert columns["near"] == ["a blue 0", "a blue 1"]
    assert columns["far"] == columns["far_edits"] == columns["far_score"] == columns["far_overlap"] == [None, None]
    assert columns["near_edits"] == [CHANGE, "[]"]
    assert columns["near_score"] == columns["near_overlap"] == [0.5, 0.5]
    assert (columns["split"], columns["cluster"], columns["label"]) == (["dev", ""], ["c0", "c1"], [None, None])
    assert (columns["gold"], columns["key"], columns["near_why"]) == ([None, 3.5], [None, "q/1"], ["opposite", None])
    assert columns_of(frame("labelled"))["label"] == [1, 0, 1]


def test_the_columns_of_triplets():
    columns = columns_of(frame("triplet"))
    assert columns["near_score"] == columns["near_overlap"] == [0.5, 0.0]
    assert columns["far_score"] == columns["far_overlap"] == [0.5, 0.0]
    assert (columns["near_edits"], columns["far_edits"]) == (["[]", "[]"], [CHANGE, "[]"])
    assert (columns["near_why"], columns["far_why"]) == (["near said", None], ["far said", None])
    assert columns["label"] == [None, None]


def test_the_columns_of_pairs_in_both_orders_have_a_second_score_and_no_second_text():
    columns = columns_of(frame("both_orders"))
    assert columns["far"] == columns["far_edits"] == [None] * 3
    assert columns["near_edits"] == ["[]"] * 3
    assert columns["far_score"] == columns["near_score"] == columns["far_overlap"]
    assert columns["label"] == [0, 1, 0]


def test_the_columns_of_ranked_queries_have_the_right_document_the_best_other_one_and_the_ranks():
    columns = columns_of(frame("ranked"))
    assert columns["near"] == ["red 0 too", "red 1 too"]
    assert columns["far"] == ["red 1 too", "red 0 too"]
    assert columns["answers"] == ["[[[1, 1]], 1, 1, [2, 1, 0]]", "[[[1, 1]], 1, 1, [1, 2, 0]]"]
    assert columns["slice"] == ['{"by": "0"}', '{"by": "1"}']
    assert (columns["source_role"], columns["text_role"]) == (["query"] * 2, ["document"] * 2)


def test_a_member_of_a_chain_has_a_row_of_its_own():
    columns = columns_of(frame("chain"))
    assert columns["step"] == [1, 2, 1]
    assert [ItemId(i).parts.step for i in columns["item"]] == [1, 2, 1]
    assert columns["source"] == ["a c b", "a c b", "e d"]  # what the others are compared with
    assert columns["near"] == ["a b c", "a b c", "d e"]
    assert columns["far"] == ["c a b", "c b a", "f"]
    assert columns["far_edits"] == [CHANGE, "[]", "[]"]
    assert columns["far_why"] == ["first", "second", None]
    assert columns["near_score"] == [1.0, 1.0, 1.0]
    assert columns["far_score"] == columns["far_overlap"] == [1.0, 1.0, 0.0]
    assert columns["source_is_second"] == [True] * 3
    by_source = replace(ITEMS["chain"][0], pivot="a")
    columns = columns_of(scores("chain").to_item_frame("case", [by_source]))
    assert (columns["source"], columns["near"]) == (["a b c"] * 2, ["a c b"] * 2)
    assert columns["far_edits"] == ["[]", "[]"]  # they are of the paraphrase
    assert columns["source_is_second"] == [False, False]


def test_a_search_shows_what_was_found_and_a_count_shows_how_often():
    found = columns_of(frame("search"))
    assert found["near"] == ["red 0 too", "red 1 too", "red 2 too"]
    assert not {*found["far"]} & {*found["near"], *found["source"]} - {None, *scores("search").found}
    assert found["far"] == list(scores("search").found)
    assert (found["near_edits"][0], found["far_edits"][0]) == (CHANGE, "[]")
    counted = columns_of(frame("occurrence"))
    assert counted["near_score"] == [3.0] * 3  # each text is among the ten nearest of all three queries
    assert counted["far"] == counted["far_score"] == [None] * 3
    again = columns_of(frame("repeated"))
    assert again["source"] == again["near"] == ["text 0", "text 1"]
    assert (again["near_score"], again["near_overlap"]) == ([1.0, 1.0], [None, None])


def test_edits_come_back_from_their_column():
    assert parse_edits(edits_json(EDITS)) == [*EDITS]
    assert parse_edits("[]") == parse_edits(None) == parse_edits("") == []


def made_of(kind, near, far=None, labels=()):
    whole = frame(kind)
    own = replace(whole.near, scores=np.array(near, float))
    other = replace(whole.far, scores=np.array(far, float)) if far else None
    return replace(whole, near=own, far=other, labels=labels)


def test_the_worst_item_is_the_one_with_the_smallest_margin_or_the_least_expected_similarity():
    near = [0.5, 0.2, 0.9]
    assert made_of("chain", near, [0.1, 0.6, 0.9]).sort_keys.tolist() == pytest.approx([0.4, -0.4, 0.0])
    assert made_of("chain", near, [0.1, 0.6, 0.9]).worst_positions(2) == [1, 2]
    assert made_of("both_orders", near, [0.4, 0.6, 0.9]).sort_keys.tolist() == pytest.approx([-0.1, -0.4, 0.0])
    assert made_of("labelled", near, labels=(1, 0, None)).sort_keys.tolist() == [0.5, -0.2, 0.9]
    assert made_of("labelled", near, labels=(1, 0, 0)).worst_positions(3) == [2, 1, 0]
    assert made_of("search", [0.5] * 3, [0.1] * 3).worst_positions(9) == [0, 1, 2]


def test_an_item_is_lost_unless_it_is_won_by_more_than_a_tie():
    some = made_of("chain", [0.5, 0.5, 0.5], [0.5, 0.5 - 4e-6, 0.4])
    assert some.mark_lost() == [True, True, False]
    assert some.mark_lost(unit=0.3) == [True, False, False]
    assert some.mark_lost(epsilon=0.1) == [True, True, True]
    assert some.mark_lost(epsilon=0.1, unit=0.5) == [True, True, False]
    assert made_of("both_orders", [0.1] * 3, [0.9] * 3).mark_lost() == [False] * 3
    assert made_of("labelled", [0.1] * 3, labels=(1, 0, 1)).mark_lost() == [False] * 3


@pytest.mark.parametrize("kind", KINDS)
def test_near_and_far_are_the_two_texts_or_the_two_labels(kind):
    whole = frame(kind)
    near, far = whole.high_and_low_scores()
    assert whole.compares_near_and_far == KINDS[kind].compares_near_and_far
    if kind == "labelled":
        assert (near.tolist(), far.tolist()) == (whole.near.scores[[0, 2]].tolist(), whole.near.scores[[1]].tolist())
    else:
        assert near.tolist() == whole.near.scores.tolist()
        assert far.tolist() == (whole.far.scores.tolist() if KINDS[kind].compares_near_and_far else [])


def results():
    row = {"id": CASE.figure("x"), "check": CASE.check, "model": CASE.model, "data": CASE.data, "level": CASE.level}
    return run_file({"checks": [row]})


@pytest.mark.parametrize("kind", KINDS)
def test_a_gate_s_table_has_the_scores_and_hashes_of_a_frame(kind):
    made = frame(kind)
    ((case, table),) = model_tables(results(), {str(CASE): made}, CASE.model).items()
    assert (case, table.kind, table.items) == (CASE.of_any_model, KINDS[kind].score_form, made.ids)
    assert table.near == pytest.approx(made.near.scores, rel=0, abs=0.51e-6)
    assert np.isnan(table.far).all() == (made.far is None)
    far = (
        [made.far.texts[0]] if kind in ("triplet", "crossed", "contrast", "chain") else []
    )  # what a search found is no part of the item
    near = [] if kind == "logged" else [made.near.texts[0]]  # nor what a query of a log found first
    assert table.texts[0] == content_hash(made.sources[0], *near, *far)
    assert len(table.labels) == len(table.items)


def test_the_document_of_the_report_says_what_every_column_and_kind_is():
    text = (ROOT / "docs/reference/results.md").read_text("utf-8")
    assert [name for name in (*COLUMNS, *OPTIONAL, *KINDS) if f"`{name}`" not in text] == []


@pytest.mark.parametrize(("position", "name"), [(0, "same"), (1, "other")])
def test_a_message_names_the_label_of_a_pair(position, name):
    lines = scores("labelled").example_lines(ITEMS["labelled"][position], position)
    assert lines[0].name == f"{name:5}"


def test_items_keep_the_order_of_measuring_and_a_file_that_of_names(tmp_path):
    found = RunItems.from_tables(item_table(replace(frame("pair"), case=case)) for case in ("b", "a"))
    write_items(tmp_path, found)
    assert (list(found), list(read_items(tmp_path))) == (["b", "a"], ["a", "b"])
    assert columns_of(read_items(tmp_path)["b"]) == columns_of(found["b"])
    assert list(RunItems.from_tables([])) == []
