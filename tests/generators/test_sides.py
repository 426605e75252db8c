"""Quantifiers and their like on any text: kept, changed, control and mirror, chosen from what a sentence can become."""

import pytest

from encheck.datasets.dataset import Dataset
from encheck.generators.base import NEEDS_OWN_TEXT, NEEDS_PROBES, listing_name
from encheck.generators.phenomenon import (
    NO_MIRROR,
    SIDES,
    all_phenomena,
    choose_side_texts,
    edit_between,
    phenomenon_generator,
)
from encheck.items import contrast, crossed
from encheck.items.catalogue import WORKS
from encheck.items.variants import VariantMaker
from encheck.language.english import English
from encheck.scoring.triplets import nearer_by_edit_distance
from encheck.statistics.draws import Draws
from encheck.types import Group, Recipe, Variant, apply_edits

ENGLISH = English(experimental=True)
SEEDS = range(6)
CASES = {  # (phenomenon, sentence): ways to say the same, ways to say something else, control
    ("quantifier", "Every student passed."): (
        {"Each student passed."},
        {"No student passed.", "Not a single student passed."},
        "Another student passed.",
    ),
    ("quantifier", "Nobody lived there."): (
        {"No one lived there."},
        {"Everyone lived there.", "Everybody lived there."},
        "A friend lived there.",
    ),
    ("quantifier", "She read all the letters."): (
        {"She read all of the letters."},
        {"She read only some of the letters.", "She read some but not all of the letters."},
        "She read the other letters.",
    ),
    ("quantifier", "All visitors must sign the book."): (
        {"Every visitor must sign the book.", "Each visitor must sign the book."},
        {"Only some visitors must sign the book.", "Some but not all visitors must sign the book."},
        "Other visitors must sign the book.",
    ),
    ("quantifier", "The firm sold many houses."): (
        {"The firm sold a lot of houses.", "The firm sold a large number of houses."},
        {"The firm sold very few houses.", "The firm sold hardly any houses."},
        "The firm sold other houses.",
    ),
    ("quantifier", "He likes every song on this record."): (
        {"He likes each song on this record."},
        {"He likes only some of the songs on this record.", "He likes some but not all of the songs on this record."},
        "He likes another song on this record.",
    ),
    ("modality", "Visitors must sign the book."): (
        {"Visitors have to sign the book.", "Visitors are required to sign the book."},
        {"Visitors may sign the book.", "Visitors are allowed to sign the book."},
        "Visitors will sign the book.",
    ),
    ("modality", "The shop will close in May."): (
        {"The shop is going to close in May."},
        {"The shop may close in May.", "The shop might close in May."},
        "The shop should close in May.",
    ),
    ("modality", "You should call the clinic."): (
        {"You ought to call the clinic."},
        {"You do not have to call the clinic.", "You need not call the clinic."},
        "You will call the clinic.",
    ),
    ("modality", "Guests can open the gate."): (
        {"Guests are able to open the gate."},
        {"Guests must open the gate.", "Guests have to open the gate."},
        "Guests will open the gate.",
    ),
    ("modality", "The river might flood the road."): (
        {"The river may flood the road."},
        {"The river will flood the road.", "The river is going to flood the road."},
        "The river should flood the road.",
    ),
    ("comparative", "The fire killed more than 50 people."): (
        {"The fire killed over 50 people."},
        {"The fire killed fewer than 50 people.", "The fire killed under 50 people."},
        "The fire killed almost 50 people.",
    ),
    ("comparative", "It costs at least $23 a day."): (
        {"It costs no less than $23 a day."},
        {"It costs at most $23 a day.", "It costs no more than $23 a day."},
        "It costs almost $23 a day.",
    ),
    ("comparative", "The attic is larger than the cellar."): (
        {"The attic is bigger than the cellar.", "The cellar is smaller than the attic."},
        {
            "The attic is smaller than the cellar.",
            "The cellar is larger than the attic.",
            "The cellar is bigger than the attic.",
        },
        "The attic is as large as the cellar.",
    ),
    ("temporal", "Ann paid the bill before she called a taxi."): (
        {"Before she called a taxi, Ann paid the bill."},
        {"Ann paid the bill after she called a taxi.", "After she called a taxi, Ann paid the bill."},
        "Ann paid the bill because she called a taxi.",
    ),
    ("temporal", "The shop closed after Ann left the town."): (
        {
            "After Ann left the town, the shop closed.",
            "Ann left the town before the shop closed.",
            "Before the shop closed, Ann left the town.",
        },
        {
            "The shop closed before Ann left the town.",
            "Before Ann left the town, the shop closed.",
            "Ann left the town after the shop closed.",
            "After the shop closed, Ann left the town.",
        },
        "The shop closed because Ann left the town.",
    ),
    ("temporal", "Ann washed the car before selling it."): (
        {"Before selling it, Ann washed the car."},
        {"Ann washed the car after selling it.", "After selling it, Ann washed the car."},
        "",
    ),
    ("binding", "She left with a blue hat and a yellow scarf."): (
        {
            "She left with a yellow scarf and a blue hat.",
            "She left with both a blue hat and a yellow scarf.",
            "She left with both a yellow scarf and a blue hat.",
        },
        {
            "She left with a yellow hat and a blue scarf.",
            "She left with a blue scarf and a yellow hat.",
            "She left with both a yellow hat and a blue scarf.",
            "She left with both a blue scarf and a yellow hat.",
        },
        None,
    ),
    ("binding", "A woman in a green coat and orange hat is reading in the park."): (
        {"A woman in an orange hat and green coat is reading in the park."},
        {
            "A woman in an orange coat and green hat is reading in the park.",
            "A woman in a green hat and orange coat is reading in the park.",
        },
        None,
    ),
    ("binding", "Four women and two men sat at a table."): (
        {"Two men and four women sat at a table."},
        {"Two women and four men sat at a table.", "Four men and two women sat at a table."},
        "Several women and two men sat at a table.",
    ),
    ("condition", "The shop will close if it rains."): (
        {
            "If it rains, the shop will close.",
            "The shop will close provided that it rains.",
            "Provided that it rains, the shop will close.",
        },
        {"The shop will close unless it rains.", "Unless it rains, the shop will close."},
        "The shop will close even if it rains.",
    ),
    ("condition", "Unless Ann objects, call the clinic."): (
        {"Call the clinic unless Ann objects."},
        {
            "Call the clinic if Ann objects.",
            "If Ann objects, call the clinic.",
            "Call the clinic provided that Ann objects.",
            "Provided that Ann objects, call the clinic.",
        },
        "Call the clinic even if Ann objects.",
    ),
    ("role_reversal", "The nurse called the lawyer."): (
        {"The lawyer was called by the nurse.", "It was the nurse who called the lawyer."},
        {
            "The lawyer called the nurse.",
            "The nurse was called by the lawyer.",
            "It was the lawyer who called the nurse.",
        },
        "",
    ),
}  # fmt: skip
REFUSED = {
    ("quantifier", "The shop is open."): "no quantifier that can be exchanged",
    ("quantifier", "Not all students passed."): "two quantifiers, or a negation beside one",
    ("quantifier", "The bakers work all day."): "no quantifier that can be exchanged",
    ("quantifier", "Everyone but Ann left."): "a word that fits only one of the two quantifiers",
    ("quantifier", "There is no doubt about the date."): "no quantifier that can be exchanged",
    ("quantifier", "Every student passed. Ann was glad of it."): "no plain statement of one sentence",
    ("quantifier", "Le client est parti en vacances avec la famille de son frère, many."): "not in English",
}


def made(name, text, side, *, seed=0, english=ENGLISH):
    return VariantMaker(seed, english).variants(
        [Group("g", text, text, "c")], all_phenomena()[name].generators_from_text[side]
    )[0]


def texts_of(name, text, side):
    found = (made(name, text, side, seed=seed) for seed in SEEDS)
    return {one.text if isinstance(one, Variant) else one for one in found}


@pytest.mark.parametrize(("name", "text"), CASES)
def test_each_side_is_one_of_its_ways_to_say_it(name, text):
    kept, changed, control = CASES[name, text]
    assert texts_of(name, text, "kept") <= kept
    assert texts_of(name, text, "changed") | texts_of(name, text, "mirror") <= changed
    if control is not None:
        assert texts_of(name, text, "control") == {control or "no other statement for this place"}


@pytest.mark.parametrize(("name", "text"), REFUSED)
def test_what_would_be_wrong_or_odd_is_left_alone_with_its_reason(name, text):
    assert {made(name, text, side) for side in SIDES} == {REFUSED[name, text]}


def test_certificates_say_what_was_put_for_what():
    one = made("quantifier", "Nobody lived there.", "kept")
    assert one.certificate == "persons: Nobody > No one: the same"
    assert (one.relation, one.generator) == ("quantifier_kept", "quantifier")


def test_a_mirror_is_none_of_the_other_texts():
    for name, text in CASES:
        for seed in SEEDS:
            found = [made(name, text, side, seed=seed).text for side in ("kept", "changed", "mirror")]
            assert len({text, *found}) == 4


def test_the_edit_distance_favours_the_side_of_the_coin_and_the_mirror_the_other():
    kept, changed = ["a b c e", "a x y z d"], ["a b q d", "r s t d", "a b c"]
    found = [choose_side_texts("a b c d", kept, changed, Draws(seed, "x", "a b c d")) for seed in range(20)]
    first = [nearer_by_edit_distance("a b c d", one["kept"], one["changed"]) for one in found]
    assert {1, -1} <= set(first)
    second = [nearer_by_edit_distance(one["mirror"], one["changed"], one["kept"]) for one in found]
    assert all(b <= 0 for a, b in zip(first, second, strict=True) if a > 0)
    assert choose_side_texts("a", ["a"], ["b"], Draws(0, "x", "a")) == NO_MIRROR


@pytest.mark.parametrize(("source", "text"), [("A b c.", "A c."), ("x", "x y"), ("aa aa", "aa aa aa")])
def test_the_edit_between_two_texts_makes_the_second(source, text):
    assert apply_edits(source, (edit_between(source, text),)) == text


def test_only_experimental_runs_make_them_and_the_paper_has_none():
    plain, paper = English(), English(recipe=Recipe("paper", {}), experimental=True)
    group = Group("g", "Nobody lived there.", "Nobody lived there.", "c")
    for name in {name for name, _ in CASES}:
        why = VariantMaker(0, plain).variants([group], phenomenon_generator(name, "changed"))[0]
        assert why.needs == (NEEDS_OWN_TEXT if name == "condition" else NEEDS_PROBES)
        assert made(name, group.source, "changed", english=paper) == f"the published recipe has no {name}"


def test_a_listed_generator_has_the_name_that_a_run_locks_it_by():
    for name in {name for name, _ in CASES}:
        assert all(
            listing_name(phenomenon_generator(name, side)) == listing_name(one)
            for side, one in all_phenomena()[name].generators_from_text.items()
        )
    assert len({listing_name(work) for work, _ in WORKS}) == len(WORKS)


def test_the_checks_take_them_of_texts_without_labels():
    for name in sorted({name for name, _ in CASES}):
        texts = [text for phenomenon, text in CASES if phenomenon == name]
        groups = tuple(Group(f"g{i}", text, text, f"c{i}") for i, text in enumerate(texts))
        data = Dataset("own", (), groups, "yours", len(groups), universe=tuple(g.cluster for g in groups))
        items = contrast(phenomenon_generator(name, "kept"), phenomenon_generator(name, "changed"))(
            data, 1, VariantMaker(0, ENGLISH)
        )
        assert [item.source for item in items.included] == texts
        found = crossed(name)(data, 1, VariantMaker(0, ENGLISH))
        assert len(found.included) + sum(found.excluded.values()) == len(texts)
