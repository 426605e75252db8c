"""Another name in the place of one, on any text: kept, changed, control and mirror of the same name."""

import pytest

from encheck.datasets.dataset import Dataset
from encheck.errors import NothingToMeasure
from encheck.generators.entity import ENTITY
from encheck.generators.phenomenon import phenomenon_generator
from encheck.items import contrast, crossed
from encheck.items.variants import VariantMaker
from encheck.language.english import English
from encheck.types import Group, Recipe, Variant

entity, entity_kept, entity_control, entity_mirror = (
    ENTITY.generators_from_text[side] for side in ("changed", "kept", "control", "mirror")
)
ENGLISH = English(experimental=True)
TEXTS = [
    "The bridge was opened by Helen Porter in June.",
    "Laura Benson said that she had lost her keys.",
    "The prize went to Robert Lang of the museum.",
    "The tour begins in Lisbon on Monday.",
    "They moved to Vienna in the spring.",
    "The treaty was signed by Norway in the morning.",
    "The cat sat on the mat.",
]


def groups(texts):
    return [Group(text, text, text, "c") for text in texts]


def made(text, generator, *, seed=0, english=ENGLISH):
    return VariantMaker(seed, english).variants(groups([text]), generator)[0]


KEPT = {
    "The bridge was opened by Helen Porter in June.": "The bridge was opened by H. Porter in June.",
    "Senator Porter said that it was late.": "Sen. Porter said that it was late.",
    "They sued Acme Corp. for the damage.": "They sued Acme for the damage.",
    "The tour begins in Lisbon on Monday.": "The tour begins in the city of Lisbon on Monday.",
    "They flew from New York City on Friday.": "They flew from the city of New York on Friday.",
    "The storm had reached the U.S. by noon.": "The storm had reached the United States by noon.",
    "The report was written by the WHO in March.": "The report was written by the World Health Organization in March.",
}


@pytest.mark.parametrize("text", KEPT)
def test_a_kept_edit_writes_the_same_name_otherwise(text):
    assert made(text, entity_kept).text == KEPT[text]


def test_the_mirror_has_the_other_name_in_the_other_notation():
    for seed in range(6):
        text = TEXTS[0]
        kept, changed, mirror = (made(text, g, seed=seed) for g in (entity_kept, entity, entity_mirror))
        assert len({text, kept.text, changed.text, mirror.text}) == 4
        short, whole = sorted((changed.edits[0].text, mirror.edits[0].text), key=len)
        assert (short[0], short.split()[1]) == (whole[0], whole.split()[1])


def test_every_mention_follows():
    text = "Helen Porter opened the bridge, and the crowd thanked Porter."
    changed = made(text, entity)
    surname = changed.edits[0].text.split()[-1]
    assert changed.edits[1].text == surname != "Porter"
    assert made(text, entity_kept).text == "H. Porter opened the bridge, and the crowd thanked Porter."


def test_another_person_has_the_same_gender():
    both = [TEXTS[1], "The prize went to Robert Lang of the museum.", TEXTS[0]]
    for seed in range(6):
        found = VariantMaker(seed, ENGLISH).variants(groups(both), entity)[0]
        assert "Porter" in found.text, "the one other woman of the data"


def test_names_are_those_of_the_same_data_else_of_the_list():
    found = VariantMaker(0, ENGLISH).variants(groups(TEXTS), entity)
    assert "Vienna" in found[3].text
    assert "Lisbon" in found[4].text
    assert "Vienna" not in made("The tour begins in Lisbon on Monday.", entity).text
    assert VariantMaker(0, ENGLISH).variants(groups(TEXTS), entity) == found


def test_a_control_says_something_else_in_the_same_place():
    assert made(TEXTS[0], entity_control).text == "The bridge was opened by someone else in June."
    assert made(TEXTS[3], entity_control).text == "The tour begins in another city on Monday."
    assert made("Helen Porter, a lawyer, spoke.", entity_control) == "no other statement for this place"


ALONE = {
    "The tour begins in Paris, Texas on Monday.": "names that depend on each other",
    "Wanjiru Kamau said that she had won.": "a person whose gender matters but is unknown",
    "They read https://example.org/Helen.": "no name",
    "Most of them had left by noon.": "no name",
    "Bishop Curry spoke at the wedding.": "no name with another notation",
    "La réunion avec Helen Porter est reportée à jeudi matin.": "not in English",
    "His University of Texas friends were there.": "part of another name",
    "Helen\tPorter\tLisbon\t12": "a table, a log line or code",
}


@pytest.mark.parametrize("text", ALONE)
def test_what_is_left_alone_says_why(text):
    assert made(text, entity) == ALONE[text]


def test_no_name_in_s_takes_an_apostrophe_and_s():
    found = [made("They read Helen Porter's letter.", entity, seed=seed).text for seed in range(6)]
    assert all("s's" not in text for text in found)


def test_what_is_written_by_hand_goes_first_and_the_paper_has_none():
    written = Variant("Laura opened it.", "entity")
    group = Group("g", TEXTS[0], TEXTS[0], "c", (written,))
    assert VariantMaker(0, ENGLISH).variants([group], phenomenon_generator("entity", "changed")) == [written]
    paper = English(recipe=Recipe("paper", {}), experimental=True)
    assert made(TEXTS[0], entity, english=paper) == "the published recipe has no entity"


def texts():
    some = tuple(Group(f"g{i}", text, text, f"c{i}") for i, text in enumerate(TEXTS))
    return Dataset("own", (), some, "yours", len(some), universe=tuple(g.cluster for g in some))


def test_the_checks_take_names_of_texts_without_labels():
    plain = English(experimental=True)
    items = contrast(phenomenon_generator("entity", "kept"), phenomenon_generator("entity", "changed"))(
        texts(), 1, VariantMaker(0, plain)
    )
    assert [item.source for item in items.included] == TEXTS[:6]
    assert items.excluded == {"no name": 1}
    assert all(item.near_why and item.far_why for item in items.included)


def test_the_control_alone_needs_the_option_and_its_check_says_so_whatever_else_lacks():
    plain = VariantMaker(0, English())
    kept = phenomenon_generator("entity", "kept")
    assert contrast(kept, phenomenon_generator("entity", "changed"))(texts(), 1, plain).included
    with pytest.raises(NothingToMeasure, match="entity_control is made with --experimental only: 7") as found:
        contrast(kept, phenomenon_generator("entity", "control"))(texts(), 1, plain)
    assert str(found.value).startswith("needs --experimental")


def test_a_mirrored_group_is_made_of_both_names_in_both_notations():
    items = crossed("entity")(texts(), 1, VariantMaker(0, ENGLISH))
    for item in items.included:
        first, second = item.sides
        assert (first.near, first.far) == (second.far, second.near)
        assert first.source != second.source
    assert items.included


def test_a_stream_takes_the_names_of_its_first_texts():
    streamed = [outcome for _, outcome in VariantMaker(0, ENGLISH).stream_variants(groups(TEXTS), entity)]
    assert streamed == VariantMaker(0, ENGLISH).variants(groups(TEXTS), entity)
