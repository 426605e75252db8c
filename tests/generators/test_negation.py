"""Statements denied and denials taken back, on any text: kept, changed, control and mirror of the same predicate."""

import pytest

from encheck.datasets.dataset import Dataset
from encheck.generators.negation import NEGATION
from encheck.generators.phenomenon import SIDES, phenomenon_generator
from encheck.items import contrast, crossed
from encheck.items.variants import VariantMaker
from encheck.language.english import English
from encheck.scoring.triplets import nearer_by_edit_distance
from encheck.types import Group, Recipe, Variant

negation, negation_kept, negation_control, negation_mirror = (
    NEGATION.generators_from_text[side] for side in ("changed", "kept", "control", "mirror")
)
ENGLISH, PLAIN = English(experimental=True), English()
SEEDS = range(8)


def made(text, generator, *, seed=0, english=ENGLISH):
    return VariantMaker(seed, english).variants([Group("g", text, text, "c")], generator)[0]


def texts_of(text, generator):
    return {made(text, generator, seed=seed).text for seed in SEEDS}


DENIED = {
    "This endpoint accepts file uploads.": "This endpoint does not accept file uploads.",
    "The parcel was left outside.": "The parcel was not left outside.",
    "They'll close the plant.": "They won't close the plant.",
    "She has won the race.": "She hasn't won the race.",
    "It's a long day.": "It's not a long day.",
    "She said that the shop closes on Sunday.": "She said that the shop does not close on Sunday.",
    "All patients are covered.": "Not all patients are covered.",
    "The client isn't aware of the delay.": "The client is indeed aware of the delay.",
    "They didn't reply.": "They replied.",
    "Our three boys are late.": "Our three boys are not late.",
    "He's been to Paris.": "He has not been to Paris.",
    "They cannot open the file.": "They can indeed open the file.",
}


@pytest.mark.parametrize("text", DENIED)
def test_a_predicate_is_denied_or_its_denial_taken_back(text):
    found = texts_of(text, negation).union(_mirrors(text))
    assert DENIED[text] in found


def _mirrors(text):
    found = (made(text, negation_mirror, seed=seed) for seed in SEEDS)
    return [one.text for one in found if isinstance(one, Variant)]


KEPT = {
    "This endpoint accepts file uploads.": "This endpoint does in fact accept file uploads.",
    "The parcel was left outside.": "The parcel was in fact left outside.",
    "The client isn't aware of the delay.": "The client is not aware of the delay.",
    "They didn't reply.": "They did not reply.",
    "All patients are covered.": "Absolutely all patients are covered.",
    "The result is possible.": "The result is not impossible.",
    "She has won the race.": "She's won the race.",
    "It's a long day.": "It is a long day.",
}


@pytest.mark.parametrize("text", KEPT)
def test_emphasis_another_not_or_a_negated_antonym_keeps_it(text):
    assert KEPT[text] in texts_of(text, negation_kept)


def test_a_negated_antonym_is_mirrored_by_the_antonym():
    text = "The result is possible."
    assert made(text, negation_mirror).text == "The result is impossible."
    assert made(text, negation).text in ("The result is not possible.", "The result isn't possible.")


def test_a_control_is_another_statement_of_the_same_place():
    wanted = {"The shop was expected to close.", "The shop was supposed to close."}
    assert texts_of("The shop closed.", negation_control) <= wanted
    assert made("They will close the plant.", negation_control).text == "They may close the plant."
    assert made("It's a long day.", negation_control) == "no other statement for this place"


REFUSED = {
    "Is the shop open?": "no subject before the predicate",
    "Open the door.": "no finite predicate",
    "Ya can't.": "no finite predicate",
    "Some patients are late.": "a subject for which both can be true",
    "Three patients are late.": "a subject for which both can be true",
    "50% of the users reported the bug.": "a subject for which both can be true",
    "A number of users reported the bug.": "a subject for which both can be true",
    "Sometimes he is late.": "a word that only fits outside or only inside a negation",
    "He left because it rained.": "a cause or limit belongs to the predicate",
    "She is happy and so are they.": "a question word or adverb before the predicate",
    "Geese can swim as well.": "a word that only fits outside or only inside a negation",
    "He only paid the bill.": "a word that only fits outside or only inside a negation",
    "He has never seen it.": "a negative word in the clause",
    "The goods were sold and shipped in May.": "two predicates share a subject or an auxiliary",
    "We wont pay the bill.": "a word modifies the auxiliary or the verb",
    "We had our dinner here. The food was faultless.": "other sentences belong with the statement",
    "The parcel was thrown over the gate, which broke the vase.": "another clause belongs with the statement",
    "The vase was lovely, but it was broken.": "another clause belongs with the statement",
    "I would be glad if you could call me.": "another clause belongs with the statement",
    "Police fired into the crowd, killing four.": "another clause belongs with the statement",
    "Despite the treatment, he is breathless.": "a word ties the statement to another one",
    "Unfortunately, it isn't ready.": "a word ties the statement to another one",
    "He remains breathless.": "an expression that is not usually negated",
    "The tenant shall pay the rent.": "an expression that is not usually negated",
    "You should not drive today.": "a word that only fits a negation",
    "She could not immediately be reached.": "a word that only fits outside or only inside a negation",
    "Apart from these there are cabs.": "a word ties the statement to another one",
    "We measured the room in May.": "what a writer says about themselves",
    "They are soooo nice.": "feelings that are not usually negated",
    "Le client est parti en vacances avec la famille de son frère.": "not in English",
    "2024-03-05 10:11:12,345 [17] ERR 0x3f is 77 88 99": "a table, a log line or code",
}


@pytest.mark.parametrize("text", REFUSED)
def test_what_a_not_would_leave_wrong_or_true_is_left_alone(text):
    assert {made(text, g) for g in (negation, negation_kept, negation_control, negation_mirror)} == {REFUSED[text]}


def test_the_four_texts_are_of_one_place_and_differ():
    text = "The two engines worked for a while."
    for seed in SEEDS:
        found = [made(text, g, seed=seed) for g in (negation, negation_kept, negation_control, negation_mirror)]
        assert len({(one.edits[0].start, one.edits[0].end) for one in found}) == 1
        assert len({text, *(one.text for one in found)}) == 5


def test_the_surface_favours_the_kept_text_as_often_as_the_changed_one():
    texts = [f"The {thing} was left in the {place}." for thing in ("box", "bag", "key") for place in ("car", "hall")]
    signs = {
        nearer_by_edit_distance(text, made(text, negation_kept, seed=seed).text, made(text, negation, seed=seed).text)
        for text in texts
        for seed in SEEDS
    }
    assert {1, -1} <= signs


def test_a_mirror_shares_no_emphasis_with_the_other_texts():
    for text in ("They will not use it.", "The shop was open.", "It's a long day."):
        for seed in SEEDS:
            kept, changed, mirror = (made(text, g, seed=seed).text for g in (negation_kept, negation, negation_mirror))
            shared = set(mirror.split()) & (set(kept.split()) | set(changed.split()))
            assert shared.isdisjoint({"indeed", "definitely", "certainly", "fact"})


def test_no_denial_has_a_word_of_emphasis():
    for text in ("They will not use it.", "The shop was open.", "This endpoint accepts file uploads.", "I'm ready."):
        for seed in SEEDS:
            changed = made(text, negation, seed=seed).text
            assert set(changed.split()).isdisjoint({"indeed", "definitely", "certainly", "fact"})


def test_an_apostrophe_is_that_of_the_text():
    found = texts_of("The shop doesn’t open on Sunday.", negation_kept)
    assert not any("'" in text for text in found)


def test_what_is_written_by_hand_goes_first_and_the_paper_has_none():
    written = Variant("No.", "negation")
    group = Group("g", "The shop closed.", "The shop closed.", "c", (written,))
    assert VariantMaker(0, ENGLISH).variants([group], phenomenon_generator("negation", "changed")) == [written]
    paper = English(recipe=Recipe("paper", {}), lexicon_name="embedded", experimental=True)
    assert made("The shop closed.", negation, english=paper) == "the published recipe has no negation"


TEXTS = ["The shop closed in May.", "The parcel isn't here.", "Is it open?", "She has won the race."]


def test_the_checks_take_negations_of_texts_without_labels():
    groups = tuple(Group(f"g{i}", text, text, f"c{i}") for i, text in enumerate(TEXTS))
    data = Dataset("own", (), groups, "yours", len(groups), universe=tuple(g.cluster for g in groups))
    items = contrast(phenomenon_generator("negation", "kept"), phenomenon_generator("negation", "changed"))(
        data, 1, VariantMaker(0, ENGLISH)
    )
    assert [item.source for item in items.included] == [TEXTS[0], TEXTS[1], TEXTS[3]]
    assert all(item.near_why and item.far_why for item in items.included)
    for item in crossed("negation")(data, 1, VariantMaker(0, ENGLISH)).included:
        first, second = item.sides
        assert (first.near, first.far) == (second.far, second.near)
        assert (
            nearer_by_edit_distance(first.source, first.near, first.far)
            + nearer_by_edit_distance(second.source, second.near, second.far)
            <= 0
        )


def test_what_readers_found_right_is_made_without_the_option_and_as_with_it():
    group = Group("g", TEXTS[0], TEXTS[0], "c")
    for side in SIDES:
        (found,) = VariantMaker(0, PLAIN).variants([group], phenomenon_generator("negation", side))
        assert isinstance(found, Variant)
        assert [found] == VariantMaker(0, ENGLISH).variants([group], phenomenon_generator("negation", side))
