"""Which words may be replaced: what a parse says of each, and the expressions that they stand in."""

import pytest

from encheck.language.edits.substitutes import Expressions, cached_replaceable_tokens, has_form_of_tag
from encheck.language.english import English
from encheck.language.lexicon.load import load_lexicon
from encheck.language.parse import Parse


@pytest.fixture(scope="module")
def english():
    return English()


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("The Old Bridge fell.", "JJ old"),
        ("He started up the car.", "VBD start"),
        ("A well-known old man spoke.", "VBN know"),
        ("They rejected/accepted it.", "VBN accept"),
        ("She has rejected it.", "VBZ have"),
        ("The BIG plan failed.", "JJ big"),
        ("The iNcrease fell.", "NN increase"),
        ("She helped the poor.", "JJ poor"),
    ],
)
def test_names_particle_verbs_joined_words_auxiliaries_capitals_and_adjectives_for_nouns_stay(english, text, key):
    english.parse_all([text])
    places = cached_replaceable_tokens(english.stored_parse(text))
    assert key in places.staying
    assert key not in places.keys


def test_words_of_the_table_may_be_replaced_where_they_stand_as_what_they_are(english):
    english.parse_all(["The faithful were sad and helped the poor.", "Old men met an ibex."])
    parse = english.stored_parse("The faithful were sad and helped the poor.")
    assert [
        (parse.words[at], key)
        for at, key in zip(cached_replaceable_tokens(parse).at, cached_replaceable_tokens(parse).keys, strict=True)
    ] == [
        ("sad", "JJ sad"),
        ("helped", "VBD help"),
    ]
    old = english.stored_parse("Old men met an ibex.")
    assert "ibex" not in [old.words[at] for at in cached_replaceable_tokens(old).at]
    assert old.words[cached_replaceable_tokens(old).at[0]] == "Old"  # a capital says nothing at the beginning


def test_a_verb_that_does_not_look_as_its_tag_says_stays():
    text = "They allege much."
    columns = {"pos": ("PRON", "VERB", "ADV"), "lemmas": ("they", "buy", "much"), "heads": (1, 1, 1)}
    parse = Parse(text, (0, 5, 12), (4, 11, 16), ("PRP", "VBZ", "RB"), deps=("nsubj", "ROOT", "advmod"),
                  entities=("", "", ""), **columns)  # fmt: skip
    assert cached_replaceable_tokens(parse).staying[0] == "VBZ buy"


@pytest.mark.parametrize(
    ("words", "at", "holds"),
    [
        ("the old man of the sea spoke".split(), 1, True),  # old man
        ("he took place there".split(), 2, True),  # by its lemmas: take place
        ("a man is old".split(), 1, False),
        ("sea the old".split(), 2, False),  # no expression reaches round the end
        ("man".split(), 0, False),
    ],
)
def test_a_word_stands_in_an_expression_with_its_neighbours_or_with_their_lemmas(words, at, holds):
    text, zeros = " ".join(words), tuple(range(len(words)))
    starts = tuple(sum(len(w) + 1 for w in words[:i]) for i in zeros)
    lemmas = tuple({"took": "take", "is": "be"}.get(w, w) for w in words)
    blank = ("",) * len(words)
    parse = Parse(text, starts, tuple(a + len(w) for a, w in zip(starts, words, strict=True)), ("FW",) * len(words),
                  ("X",) * len(words), lemmas, zeros, blank, blank)  # fmt: skip
    assert Expressions(load_lexicon()).contain(parse, at) is holds


@pytest.mark.parametrize(
    ("word", "lemma", "tag", "looks_so"),
    [
        ("rose", "rise", "VBD", True),
        ("rose", "rise", "VBN", False),
        ("risen", "rise", "VBD", False),
        ("told", "tell", "VBN", True),
        ("walked", "walk", "VBN", True),
        ("allege", "allege", "VBZ", False),
        ("alleging", "allege", "VBG", True),
        ("older", "old", "JJ", False),
    ],
)
def test_a_word_that_does_not_look_as_its_tag_says_is_found(word, lemma, tag, looks_so):
    assert has_form_of_tag(word, lemma, tag) is looks_so


def test_places_tell_which_words_begin_with_a_capital(english):
    text = "Big dogs bark. Small dogs hide in a large house."
    english.parse_all([text])
    parse = english.stored_parse(text)
    assert [parse.words[at] for at in cached_replaceable_tokens(parse).capital] == ["Big", "Small"]
    assert "large" in [parse.words[at] for at in cached_replaceable_tokens(parse).at]
