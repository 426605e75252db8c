"""Jumbles of any text, and the variants that were written by hand."""

import re
import subprocess
import sys
from collections import Counter
from random import Random

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from encheck.datasets.load import load
from encheck.generators.antonym import antonym
from encheck.generators.invariance import casing, contraction, spacing
from encheck.generators.jumble import WORD, jumble
from encheck.generators.reorder import reorder
from encheck.generators.roles import role_reversal
from encheck.generators.synonym import synonym
from encheck.items.variants import VariantMaker
from encheck.language.english import English
from encheck.language.prose import why_not_edited
from encheck.types import Group, apply_edits

GAPS = re.compile(r"[ ,;()]+|--|[.!?]$")
LEXICON = ["goat", "Goat", "bridge", "the", "seven", "don't", "well-known", "3.5", "naïve", "U.S", "Çeşme", "東京"]
words = st.lists(st.sampled_from(LEXICON), max_size=12)
levels = st.integers(1, 3)
seeds = st.integers(0, 2**32)


@st.composite
def texts(draw):
    """Words with their punctuation, a mark at the end."""
    parts = [word + draw(st.sampled_from([" ", ", ", "; ", " (", ") ", "--"])) for word in draw(words)]
    return "".join([*parts, draw(st.sampled_from(LEXICON)), draw(st.sampled_from([".", "!", "?", ""]))])


def jumbled(text, level, seed):
    """The jumble, or None where there is none."""
    found = jumble(Group("g", text, text, "c"), level=level, rng=Random(seed), english=English())
    return None if isinstance(found, str) else found


def split(text):
    return [word for word in GAPS.split(text) if word]


@given(texts(), levels, seeds)
def test_a_jumble_moves_exactly_twice_its_level_of_words(text, level, seed):
    variant = jumbled(text, level, seed)
    assume(variant)
    before, after = split(text), split(variant.text)
    assert Counter(before) == Counter(after)
    assert sum(a != b for a, b in zip(before, after, strict=True)) == 2 * level


@given(texts(), levels, seeds)
def test_a_jumble_leaves_what_is_no_word_where_it_was(text, level, seed):
    variant = jumbled(text, level, seed)
    assume(variant)
    assert GAPS.findall(variant.text) == GAPS.findall(text)


@given(st.one_of(texts(), st.text()), levels, seeds)
def test_a_jumble_of_any_text_is_none_or_a_permutation_of_its_words(text, level, seed):
    variant = jumbled(text, level, seed)
    if variant is not None:
        before, after = WORD.findall(text), WORD.findall(variant.text)
        assert Counter(before) == Counter(after)
        assert sum(a != b for a, b in zip(before, after, strict=True)) == 2 * level


@given(st.one_of(texts(), st.text()), levels, seeds)
def test_edits_of_a_jumble_give_its_text_and_it_differs(text, level, seed):
    variant = jumbled(text, level, seed)
    if variant is not None:
        assert apply_edits(text, variant.edits) == variant.text != text
        assert len(variant.edits) == 2 * level
        assert (variant.relation, variant.level, variant.generator) == ("jumble", level, "jumble")


@given(st.lists(st.sampled_from(LEXICON[1:]), unique=True), levels, seeds)
def test_a_jumble_exists_where_there_are_words_enough(found, level, seed):
    text = " ".join(found)
    too_few = len(found) < 2 * level
    assert (jumbled(text, level, seed) is None) == (too_few or bool(why_not_edited(text)))


def test_a_jumble_is_found_where_few_choices_of_pairs_lead_to_one():
    text = "tick tick tick goes seven times"
    assert all(jumbled(text, 3, seed) for seed in range(50))


@pytest.mark.parametrize("text", ["", ".", "Goats.", "?!", "goat goat goat", "Goat goat GOAT.", "\ud800", "— …"])
def test_a_text_without_two_different_words_has_no_jumble(text):
    assert jumbled(text, 1, 0) is None


@given(texts(), levels, seeds)
def test_a_jumble_is_the_same_for_the_same_seed(text, level, seed):
    assert jumbled(text, level, seed) == jumbled(text, level, seed)


def test_another_seed_gives_another_jumble():
    text = "Seven goats crossed the narrow bridge before noon."
    assert len({jumbled(text, 1, seed).text for seed in range(20)}) > 5


SCRIPT = """
from encheck.datasets.load import load
from encheck.generators.jumble import jumble
from encheck.items import edited_pairs
from encheck.items.variants import VariantMaker
print([pair.second for pair in edited_pairs(jumble)(load("probes"), 2, VariantMaker()).included])
"""


@pytest.mark.long
def test_jumbles_do_not_depend_on_the_hash_seed():
    runs = [
        subprocess.run([sys.executable, "-c", SCRIPT], env={"PYTHONHASHSEED": seed}, capture_output=True, check=True)
        for seed in ("1", "2")
    ]
    assert runs[0].stdout == runs[1].stdout
    assert len(runs[0].stdout) > 1_000


@pytest.mark.parametrize("generator", [synonym, antonym, reorder, role_reversal])
def test_a_written_variant_is_the_one_of_its_relation(generator):
    found = [(group, generator(group, level=1, rng=Random(0), english=English())) for group in load("probes").groups]
    relations = {variant.relation for _, variant in found if variant}
    assert relations == {generator.__name__}
    assert all(variant == group.variant(generator.__name__) for group, variant in found)


def test_a_level_that_was_not_written_is_none():
    group = next(g for g in load("probes").groups if g.variant("synonym", 2))
    assert antonym(group, level=2, rng=Random(0), english=English()) is None
    assert synonym(group, level=2, rng=Random(0), english=English()).level == 2


@pytest.mark.parametrize(
    ("generator", "said"),
    [
        (jumble, r"exchanged: (\w+) > (\w+); \2 > \1"),
        (casing, "in lower case"),
        (spacing, "a blank doubled, one at the end"),
        (contraction, "did not > didn't"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_every_variant_says_what_was_done(generator, said):
    group = Group("g", "The tall mayor did not buy the bridge", "", "c")
    (found,) = VariantMaker(0, English()).variants([group], generator)
    assert re.fullmatch(said, found.certificate)
