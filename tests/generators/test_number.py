"""Another number in the place of one, on any text: kept, changed, control and mirror of the same number."""

import pytest

from encheck.datasets.dataset import Dataset
from encheck.generators.number import NUMBER
from encheck.generators.phenomenon import SIDES, phenomenon_generator
from encheck.items import contrast, crossed
from encheck.items.variants import VariantMaker
from encheck.language.english import English
from encheck.types import Group, Recipe, Variant

number, number_kept, number_control, number_mirror = (
    NUMBER.generators_from_text[side] for side in ("changed", "kept", "control", "mirror")
)
ENGLISH = English(experimental=True)


def made(text, generator, *, level=1, seed=0, english=ENGLISH):
    return VariantMaker(seed, english).variants([Group("g", text, text, "c")], generator, level=level)[0]


def test_the_edits_of_a_text_are_of_one_number_and_one_notation():
    text = "Twelve guests had to wait for 40 minutes."
    for seed in range(6):
        kept, changed, mirror = (made(text, g, seed=seed) for g in (number_kept, number, number_mirror))
        assert {one.edits[-1].start for one in (kept, changed, mirror)} == {kept.edits[-1].start}
        assert len({text, kept.text, changed.text, mirror.text}) == 4
        assert kept.certificate.partition("notation: ")[2] == changed.certificate.partition("notation: ")[2]


def test_levels_are_near_middle_and_far():
    text = "The trial had 250 witnesses."
    found = [made(text, number, level=level) for level in (1, 2, 3)]
    assert [one.certificate.split(", ")[1].split(";")[0] for one in found] == ["near", "middle", "far"]
    assert len({one.text for one in found}) == 3


def test_the_same_seed_makes_the_same_and_another_text_changes_nothing():
    texts = ["He paid $40 for 12 eggs in 1998.", "It rose 5% in 3 days."]
    alone = [made(text, number) for text in texts]
    together = VariantMaker(0, ENGLISH).variants([Group(t, t, t, "c") for t in reversed(texts)], number)
    assert [one.text for one in alone] == [one.text for one in reversed(together)]


REPAIRED = {
    "12 people died.": "Twelve people died.",
    "It was an 8-day trip.": "It was an eight-day trip.",
    "It closes at 9 p.m.": ("It closes at 21:00.", "It closes at nine in the evening."),
}


@pytest.mark.parametrize("text", REPAIRED)
def test_capital_article_and_full_stop_are_repaired(text):
    assert made(text, number_kept).text in REPAIRED[text]


def test_the_article_goes_with_another_number():
    found = {made("It was a 7-day trip.", number, seed=seed).text for seed in range(12)}
    assert "It was an eight-day trip." in found
    assert not any(" a eight" in text or " an six" in text for text in found)


CONTROLS = {
    "They sold 12 cars in May.": "They sold 12 bikes in May.",
    "You must wait for five minutes.": "You must wait for five hours.",
    "The board paid $4.50 for it.": "The board paid €4.50 for it.",
    "The contract ends on 5 March 2024.": "The contract ends on 5 August 2024.",
    "It closes at 9 p.m.": "It closes at 9 a.m.",
    "It was a 14-day trip.": "It was a 14-week trip.",
}


@pytest.mark.parametrize("text", CONTROLS)
def test_a_control_puts_another_word_beside_the_number(text):
    assert made(text, number_control).text == CONTROLS[text]


@pytest.mark.parametrize("text", ["It fell to 27.13.", "The bridge was built in 1998.", "The 12 cars hit other cars."])
def test_where_no_other_word_fits_beside_the_number_there_is_no_control(text):
    assert made(text, number_control) == "no other statement for this place"


def test_what_is_written_by_hand_goes_first_and_the_paper_has_none():
    written = Variant("Seven.", "number")
    group = Group("g", "12 people died.", "12 people died.", "c", (written,))
    assert VariantMaker(0, ENGLISH).variants([group], phenomenon_generator("number", "changed")) == [written]
    paper = English(recipe=Recipe("paper", {}), lexicon_name="embedded", experimental=True)
    assert made("12 people died.", number, english=paper) == "the published recipe has no number"


def test_no_side_needs_the_option():
    for side in SIDES:
        found = made("12 people died.", phenomenon_generator("number", side), english=English())
        assert found == made("12 people died.", phenomenon_generator("number", side))
        assert found.relation.startswith("number")


TEXTS = ["12 people died.", "She paid $40 for it.", "It was built in 1998.", "The cat sat on the mat."]


def texts():
    groups = tuple(Group(f"g{i}", text, text, f"c{i}") for i, text in enumerate(TEXTS))
    return Dataset("own", (), groups, "yours", len(groups), universe=tuple(g.cluster for g in groups))


def test_the_checks_take_numbers_of_texts_without_labels():
    maker = VariantMaker(0, ENGLISH)
    items = contrast(phenomenon_generator("number", "kept"), phenomenon_generator("number", "changed"))(
        texts(), 1, maker
    )
    assert [item.source for item in items.included] == TEXTS[:3]
    assert items.excluded == {"no number": 1}
    assert all(item.near_why and item.far_why for item in items.included)


def test_a_mirrored_group_is_made_of_both_numbers_in_both_notations():
    items = crossed("number")(texts(), 1, VariantMaker(0, ENGLISH))
    for item in items.included:
        first, second = item.sides
        assert (first.near, first.far) == (second.far, second.near)
        assert first.source != second.source
    assert items.included
