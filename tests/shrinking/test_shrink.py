"""Shrinking: what goes, what stays, that the edits still hold, and that the failure is still there."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from encheck.datasets.dataset import Dataset
from encheck.engine.shrinking import find_shipped_claim, level_of_case
from encheck.generators.antonym import antonym
from encheck.generators.phenomenon import phenomenon_generator
from encheck.generators.synonym import synonym
from encheck.ids import ItemId
from encheck.items import contrast
from encheck.items.variants import VariantMaker
from encheck.language.english import English
from encheck.reporting.failures import shrunk_lines
from encheck.scoring.item import ItemRow, ItemSide
from encheck.scoring.triplets import TRIPLET, Triplet
from encheck.shrinking.shrink import (
    edit_all_texts,
    find_edits,
    find_edits_or_replace_all,
    make_removal_edits,
    make_triplet_remaker,
    shrink_item,
)
from encheck.shrinking.units import find_removable_units
from encheck.types import Edit, Group, apply_edits

ENGLISH = English()


def triplet(source, near, far, **more):
    given_edits = {
        "near_edits": find_edits_or_replace_all(source, near),
        "far_edits": find_edits_or_replace_all(source, far),
    }
    return Triplet(
        ItemId("own/8f51134ccd0afd90/antonym/1/written/0"), source, near, far, "c", **{**given_edits, **more}
    )


def always_wrong(pairs):
    return [0.0, 1.0] * (len(pairs) // 2)


def removable(text):
    ENGLISH.parse_all([text])
    parse = ENGLISH.stored_parse(text)
    found = {apply_edits(text, make_removal_edits(parse, unit)) for unit in find_removable_units(ENGLISH, parse)}
    return {shorter[0].upper() + shorter[1:] for shorter in found}


GATES = triplet(
    "After the storm, the old mill by the river was noisy in April.",
    "After the storm, the old mill by the river was loud in April.",
    "After the storm, the old mill by the river was quiet in April.",
)


def test_what_stands_outside_the_edits_goes_from_all_three_texts():
    found = shrink_item(GATES, always_wrong, ENGLISH)
    item = found.shortest.item
    assert (item.source, item.near, item.far) == (
        "The mill was noisy.", "The mill was loud.", "The mill was quiet.",
    )  # fmt: skip
    assert apply_edits(item.source, item.near_edits) == item.near
    assert apply_edits(item.source, item.far_edits) == item.far
    assert found.whole.item.source == GATES.source
    assert found.shortest.words < found.least.words < found.whole.words


@pytest.mark.quick
def test_the_same_item_gives_the_same_form():
    assert shrink_item(GATES, always_wrong, ENGLISH) == shrink_item(GATES, always_wrong, ENGLISH)


def test_what_would_take_more_than_half_of_the_margin_stays():
    def by_storm(pairs):
        return [v for _, far in pairs[1::2] for v in (0.0, 1.0 if "storm" in far else 0.4)]

    shortest = shrink_item(GATES, by_storm, ENGLISH).shortest
    assert "storm" in shortest.item.source
    assert "river" not in shortest.item.source
    assert shortest.margin == -1.0


def test_what_the_model_gets_right_is_not_shrunk():
    assert (
        shrink_item(GATES, lambda pairs: [1.0, 0.0] * (len(pairs) // 2), ENGLISH)
        == "the model gets it right, by 1.0000"
    )


def test_no_more_pairs_are_scored_than_the_budget_allows():
    asked = []

    def count(pairs):
        asked.extend(pairs)
        return always_wrong(pairs)

    found = shrink_item(GATES, count, ENGLISH, budget=8)
    assert len(asked) == found.scored <= 8
    assert found.is_cut_short


def test_each_pass_is_one_call():
    calls = []

    def count(pairs):
        calls.append(len(pairs))
        return always_wrong(pairs)

    found = shrink_item(GATES, count, ENGLISH)
    assert max(calls) > 4
    assert len([n for n in calls if n]) <= 6
    assert sum(calls) == found.scored


@pytest.mark.parametrize(
    ("text", "stays"),
    [
        ("The train never stops in Linz.", "never"),
        ("He lives in Paris.", "in Paris"),
        ("She gave the dog a bone.", "the dog"),
        ("Tighten the inner bolts more than the outer bolts.", "inner"),
        ("Tom and Anna are tired.", "Tom and"),
        ("This car is faster than the old one.", "than"),
        ("One of the boys left.", "of the boys"),
        ("The cook looks tired today.", "tired"),
        ("She thanked Ann for the cake.", "for the cake"),
        ("He was never seen before then, so we left.", "before then"),
        ("They stayed ten weeks at the top.", "at the top"),
        ("The fire burned the farm, charred the hills and killed two.", "and killed two"),
    ],
)
def test_what_a_sentence_may_need_stays(text, stays):
    assert all(stays in shorter for shorter in removable(text))


@pytest.mark.parametrize(
    ("text", "shorter"),
    [
        ("At dawn, an old gardener watered the trees.", "An old gardener watered the trees."),
        ("An old gardener watered the trees.", "A gardener watered the trees."),
        ("The letter that came on Monday was short.", "The letter was short."),
        ("The bell rang because the door opened.", "The bell rang."),
        ("The docs say that the job failed.", "The job failed."),
        ("The plan failed, experts said.", "The plan failed."),
        ("She opened the door and left.", "She opened the door."),
        ("The meeting room is full.", "The room is full."),
        ("It rained. The match was cancelled.", "The match was cancelled."),
        ("The tart was sweet, and we ate both.", "The tart was sweet."),
        ("The tank feeds the pump through a hose.", "The tank feeds the pump."),
        ("Police arrested two men, aiding the case.", "Police arrested two men."),
        ("I'm glad that the train left.", "The train left."),
        ("Ann met Tom. It was late. We left.", "Ann met Tom. It was late."),
    ],
)
def test_adjuncts_clauses_modifiers_and_sentences_go(text, shorter):
    assert shorter in removable(text)


def test_what_stands_elsewhere_in_the_near_text_goes_from_there():
    item = triplet(
        "The extended warranty on your dishwasher includes labour.",
        "Labour is included in the extended warranty on your dishwasher.",
        "The extended warranty on your dishwasher excludes labour.",
    )
    short = shrink_item(item, always_wrong, ENGLISH).shortest.item
    assert (short.source, short.near, short.far) == (
        "The extended warranty includes labour.",
        "Labour is included in the extended warranty.",
        "The extended warranty excludes labour.",
    )  # fmt: skip
    assert apply_edits(short.source, short.near_edits) == short.near


def test_a_phrase_that_says_something_else_in_the_far_text_stays():
    item = triplet(
        "She paid them before the trial.", "She gave them money before the trial.", "She paid them after the trial."
    )
    assert shrink_item(item, always_wrong, ENGLISH).shortest.item == item


def test_numbers_stay_where_the_edits_count():
    item = triplet("She won 4 of her 7 matches.", "She lost 3 of her 7 matches.", "She lost 4 of her 7 matches.")
    assert "7" in shrink_item(item, always_wrong, ENGLISH).shortest.item.source


def test_nothing_goes_that_an_edit_touches():
    assert edit_all_texts(GATES, (Edit(GATES.source.index("noisy") - 4, GATES.source.index("noisy") + 2, ""),)) is None


def test_generated_edits_are_made_again():
    maker = VariantMaker(0, ENGLISH)
    build = contrast(phenomenon_generator("number", "kept"), phenomenon_generator("number", "changed"))

    def made(text):
        (item,) = build(Dataset("own", (), (Group("g", text, text, "c"),), "", 1), 1, maker).included
        return item

    item = made("In March, the rich farmer who owned the mill ordered 30 boats.")
    found = shrink_item(item, always_wrong, ENGLISH, remake=make_triplet_remaker(build, level=1, maker=maker))
    short = found.shortest.item
    assert short.source == "The farmer ordered 30 boats."
    assert (short.near, short.far, short.far_why) == (lambda again: (again.near, again.far, again.far_why))(
        made(short.source)
    )
    assert short.id == item.id


def test_other_seeds_are_tried_when_the_first_one_replaces_other_words():
    maker = VariantMaker(0, ENGLISH)
    build = contrast(synonym, antonym)

    def items(text):
        return build(Dataset("own", (), (Group("g", text, text, "c"),), "", 1), 1, maker).included

    source = "The big shop increased its prices and closed early."
    (item,) = items(f"In April {source[0].lower()}{source[1:]}")
    (again,) = items(source)
    (short,) = make_triplet_remaker(build, level=1, maker=maker)(item, [source])
    assert "raised" not in again.near
    assert (short.near, short.far) == tuple(
        f"The big shop {verb} its prices and closed early." for verb in ("raised", "decreased")
    )


def test_edits_are_made_again_in_crossed_groups():
    maker = VariantMaker(0, ENGLISH)
    text = "In a series of raids, the police arrested 31 suspects on Saturday."
    claim = find_shipped_claim("number_is_seen_in_both_directions")
    (made,) = claim.items(Dataset("own", (), (Group("g", text, text, "c"),), "", 1), 1, maker).included
    item = next(one for one in made.triplets if one.source == text)
    (short,) = make_triplet_remaker(claim.items, level=1, maker=maker)(item, ["The police arrested 31 suspects."])
    assert (short.source, short.id) == ("The police arrested 31 suspects.", item.id)
    assert short.near_why
    assert short.far_why


def test_noise_may_be_in_other_words():
    maker = VariantMaker(0, ENGLISH)
    claim = find_shipped_claim("each_kind_of_typing_error_is_nearer_than_other_meaning")
    text = "Kingston also finished with 67 after producing six birdies on the back nine."
    level = claim.levels[0]
    (item,) = claim.items(Dataset("own", (), (Group("g", text, text, "c"),), "", 1), level, maker).included
    (short,) = make_triplet_remaker(claim.items, level=level, maker=maker)(item, ["Kingston also finished with 67."])
    assert short.near != short.source
    assert [short.source[e.start : e.end] for e in short.far_edits] == ["67"]


def test_the_level_of_a_case_is_one_of_its_claims():
    claim = find_shipped_claim("each_kind_of_typing_error_is_nearer_than_other_meaning")
    assert {level_of_case(f"check/m-own-{level}", claim) for level in claim.levels} == set(claim.levels)
    assert level_of_case("check/m-own-none", claim) is None


def test_it_says_why_nothing_can_go():
    whole = shrink_item(triplet("A dog barked.", "A hound barked.", "A cat barked."), always_wrong, ENGLISH)
    assert whole.shortest is whole.whole
    assert whole.why == "the sentence has no part that can be removed"
    assert shrink_item(GATES, always_wrong, ENGLISH).why == ""
    short = triplet("At dawn the dog barked.", "At dawn the hound barked.", "At dawn the cat barked.")
    errs = shrink_item(short, lambda pairs: [v for _, far in pairs[1::2] for v in (0.0, float("dawn" in far))], ENGLISH)
    assert errs.why == "removing any part would shrink the model's error to less than half of its margin"


def test_it_says_why_an_item_is_not_shrunk():
    def why(**more):
        return shrink_item(
            triplet("A dog barked.", "A big dog barked.", "A cat barked.", **more), always_wrong, ENGLISH
        )

    assert why(far_why="dog > cat") == "its edits cannot be repeated here"
    assert "cannot be matched" in why(near_edits=())
    jumbled = Triplet(ItemId("own/8f51134ccd0afd90/jumble/1/jumble/0"), "A b.", "A c.", "B a.", "c")
    assert "jumbled" in shrink_item(jumbled, always_wrong, ENGLISH)


def test_the_lines_show_the_least_shrunk_form_beside_the_shortest():
    side = ItemSide(None, 0.0, None, (), "")
    row = ItemRow("case", "own/1", TRIPLET, "c", "", GATES.source, side, side, None, source_is_second=False)
    printed = "\n".join(shrunk_lines([row], lambda _row: shrink_item(GATES, always_wrong, ENGLISH)))
    assert printed.index("least shrunk") < printed.index("shortest: 12 of 39 words")
    assert "{+quiet+}" in printed


def test_the_claim_of_a_packaged_check_is_found_by_its_name():
    assert find_shipped_claim("antonym_is_farther_than_paraphrase").declared.property == "antonym"
    assert find_shipped_claim("of_your_own") is None


WORDS = st.lists(st.sampled_from(["the", "dog", "barks", "a", "cat", "sleeps", ".", ",", "old"]), max_size=9)


@given(WORDS, WORDS)
def test_edits_between_two_texts_make_the_second(first, second):
    source, text = " ".join(first), " ".join(second)
    edits = find_edits(source, text)
    assert apply_edits(source, edits) == text or not edits
