"""Noise, and another meaning by as many characters: of any text."""

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from encheck.datasets.dataset import Dataset
from encheck.errors import NothingToMeasure
from encheck.generators.base import beside
from encheck.generators.typo import (
    MARKUP_AND_EMOJI,
    NOISE,
    OTHER_NOTATIONS,
    TYPING_ERRORS,
    capitals,
    composition,
    edit_distance,
    emoji,
    keyboard,
    missing,
    other_meaning,
    transposition,
    typo,
)
from encheck.items import noise_contrasts
from encheck.items.catalogue import list_variants
from encheck.items.variants import VariantMaker
from encheck.language.edits.noise import (
    NOTATIONS,
    TYPOS,
    choose_notation_edits,
    is_known_word,
    is_recognisable_typo,
    list_typos,
)
from encheck.language.english import English
from encheck.statistics.draws import Draws
from encheck.types import Group, Recipe, Variant, apply_edits, keeps_meaning

ENGLISH = English(experimental=True)
TEXTS = [
    "The market's owner said the café sold 12 lamps on Friday, and the weather stayed pleasant.",
    "The employer must provide safety equipment before the workers enter the northern building.",
    'She said the storm "destroyed three houses" near the river last week.',
    "Licensing revenue slid 21 percent, however, to $107.6 million.",
    "The northern café closed its kitchen.",
    "A man is riding a brown horse through the forest.",
]


def made(text, generator, *, level=1, seed=0, english=ENGLISH):
    return VariantMaker(seed, english).variants([Group("g", text, text, "c")], generator, level=level)[0]


@pytest.mark.parametrize("kind", NOISE)
def test_noise_and_the_other_meaning_change_as_many_characters(kind):
    found = [(text, made(text, NOISE[kind]), made(text, beside(NOISE[kind], other_meaning))) for text in TEXTS]
    there = [(text, near, far) for text, near, far in found if isinstance(near, Variant) and isinstance(far, Variant)]
    assert there, kind
    for text, near, far in there:
        assert edit_distance(text, near.text) == edit_distance(text, far.text) > 0
        assert near.text == apply_edits(text, near.edits) != far.text
        assert near.certificate.startswith(f"{kind}, {edit_distance(text, near.text)} character")
        assert keeps_meaning(near.relation)
        assert not keeps_meaning(far.relation)


@pytest.mark.parametrize("level", [1, 2, 3])
def test_a_level_of_typos_is_as_many_words_mistyped_and_as_many_characters_of_another_meaning(level):
    pairs = [(made(text, typo, level=level), made(text, beside(typo, other_meaning), level=level)) for text in TEXTS]
    found = [(text, *pair) for text, pair in zip(TEXTS, pairs, strict=True) if isinstance(pair[0], Variant)]
    assert len(found) >= 4
    for text, near, _ in found:
        assert len(near.edits) == edit_distance(text, near.text) == level
    far = [(text, one) for text, _, one in found if isinstance(one, Variant)]
    assert far
    assert {edit_distance(text, one.text) for text, one in far} == {level}


@pytest.mark.parametrize("kind", TYPOS)
def test_a_slip_is_no_word_and_starts_with_the_letter_of_its_word(kind):
    lexicon = ENGLISH.lexicon
    for word in ("house", "form", "trial", "market", "friends", "causal", "counties"):
        for slip in (one for one in list_typos(word, kind) if is_recognisable_typo(lexicon, one, word)):
            assert slip[0] == word[0]
            assert edit_distance(word, slip) == 1
            assert not is_known_word(lexicon, slip)
            assert not re.search("cunt|shit", slip)


@pytest.mark.parametrize("both", ["form from", "house hose", "causal casual", "price prive"])
def test_what_could_be_another_word_is_no_slip(both):
    word, other = both.split()
    assert not is_recognisable_typo(ENGLISH.lexicon, other, word)


STAYING = [
    "Peter Johnson visited Stockholm in November.",
    "See https://example.org/market or `market_value` first.",
    "He ate the red hat.",
    "Is the well-known one ok?",
]


@pytest.mark.parametrize("text", STAYING)
def test_names_addresses_code_short_and_joined_words_are_never_mistyped(text):
    for seed in range(4):
        for generator in TYPING_ERRORS.values():
            found = made(text, generator, seed=seed)
            words = {text[e.start : e.end] for e in found.edits} if isinstance(found, Variant) else set()
            assert words <= {"visited", "first"}, words


def test_the_word_that_the_other_meaning_takes_is_mistyped_first():
    text = "The cattle grazed on the northern meadows."
    for generator in TYPING_ERRORS.values():
        near, far = made(text, generator), made(text, beside(generator, other_meaning))
        assert far.text == "The cattle grazed on the southern meadows."
        assert (far.edits[0].start, far.edits[0].end) in {(e.start, e.end) for e in near.edits}


def test_unicode_forms_are_canonically_equal_and_reverse():
    near = made("The café sold 12 naïve paintings.", composition)
    if isinstance(near, Variant):
        assert unicodedata.normalize("NFC", near.text) == "The café sold 12 naïve paintings."
    apart = unicodedata.normalize("NFD", "Une journée à Besançon")
    found = made(apart, composition)
    assert unicodedata.normalize("NFC", found.text) == unicodedata.normalize("NFC", apart)
    assert len(found.text) < len(apart)


FRENCH = "La réunion de l'après-midi est reportée à cause de la grève des transports dans toute la région."


def test_text_that_is_not_english_has_its_notation_changed_and_nothing_else():
    assert {made(FRENCH, g) for g in (typo, keyboard, transposition, missing, capitals)} == {"not in English"}
    assert isinstance(made(FRENCH, composition), Variant)
    assert isinstance(made(FRENCH, emoji), Variant)
    assert made(FRENCH, beside(emoji, other_meaning)) == "not in English"


LEFT_ALONE = {
    "How do I prepare for CAT in the library?": "rat",
    "Things are going South for the whole company.": "north",
    "If the team loses this series, oh man": "woman",
    "He spent a year with his wife.": "she",
    "The trip took three months of planning.": "minutes",
    "Reminders: Black Friday sale starts again": "monday",
}


@pytest.mark.parametrize("text", LEFT_ALONE)
def test_a_close_word_stands_only_where_it_fits(text):
    for seed in range(4):
        for kind in (keyboard, capitals, emoji):
            found = made(text, beside(kind, other_meaning), seed=seed)
            assert not isinstance(found, Variant) or LEFT_ALONE[text] not in found.text.lower().split(), found


@given(st.text(max_size=60), st.sampled_from(sorted(NOTATIONS)), st.integers(1, 4))
def test_a_notation_changes_what_it_says_of_any_text(text, kind, size):
    edits = choose_notation_edits(text, kind, size, Draws(0, kind, text))
    if edits is not None:
        assert apply_edits(text, edits) != text
        assert edit_distance(text, apply_edits(text, edits)) <= size


def test_no_mark_of_a_list_or_quotation_stands_before_a_number():
    text = "100 users reported the same bug."
    for size in range(1, 5):
        for seed in range(20):
            edits = choose_notation_edits(text, "markup", size, Draws(seed, "markup", text)) or ()
            assert all(edit.start for edit in edits)


def test_the_same_seed_makes_the_same_and_another_seed_others():
    first, again, other = ([made(text, g, seed=seed) for text in TEXTS for g in NOISE.values()] for seed in (0, 0, 1))
    assert first == again
    assert first != other


def test_noise_is_listed():
    groups = [Group(text, text, text, "c") for text in TEXTS]
    data = Dataset("d", (), tuple(groups), "none", len(TEXTS))
    listings = list_variants(
        data, VariantMaker(0, ENGLISH), works=[(g, (1,)) for g in (keyboard, beside(keyboard, other_meaning))]
    )
    assert all(len(one.made) + one.excluded.total() == len(TEXTS) for one in listings)


def test_items_of_each_kind_have_both_texts_and_probes_have_none():
    data = Dataset("d", (), tuple(Group(text, text, text, text) for text in TEXTS), "none", len(TEXTS))
    maker = VariantMaker(0, ENGLISH)
    for kinds in (TYPING_ERRORS, OTHER_NOTATIONS, MARKUP_AND_EMOJI):
        build = noise_contrasts(kinds, other_meaning)
        found = [build(data, kind, maker) for kind in kinds if kind not in ("composition", "accents")]
        assert all(item.near_why and item.far_why for items in found for item in items.included)
    assert noise_contrasts(typo, other_meaning)(data, 2, maker).included
    written = (Variant("Eleven lamps.", "number"),)
    probes = Dataset("p", (), (Group("g", "12 lamps.", "12 lamps.", "c", written),), "none", len(TEXTS))
    with pytest.raises(NothingToMeasure, match="needs text without written edits"):
        noise_contrasts(typo, other_meaning)(probes, 1, maker)


def test_the_published_recipe_has_no_noise():
    assert made(TEXTS[0], typo, english=English(recipe=Recipe("paper", {}))) == "the published recipe has no noise"


OTHER_MEANINGS = {  # without --experimental, over some seeds
    "Forty people stood outside the old museum in 1987.": {"Forty people stood outside the old museum in 1986."},
    "The weather was pleasant near the harbour yesterday.": {
        "The weather was not pleasant near the harbour yesterday.",
        "The weather wasn't pleasant near the harbour yesterday.",
    },
    TEXTS[1]: set(),
}


@pytest.mark.parametrize(("text", "others"), OTHER_MEANINGS.items())
def test_without_experimental_the_other_meaning_is_another_number_or_a_denial(text, others):
    english = English()
    found = [made(text, beside(capitals, other_meaning), seed=seed, english=english) for seed in range(4)]
    assert {one.text for one in found if isinstance(one, Variant)} == others
