"""What a generator draws: seeded by the sentence, and an order of places that other places do not change."""

from collections import Counter
from random import Random

from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from encheck.generators.synonym import Slot, is_last_resort, order_slots
from encheck.language.edits.substitutes import Substitute
from encheck.statistics.draws import Draws
from encheck.types import content_hash

PLAIN, LAST = Substitute("quick", "s"), Substitute("swift", "s", frozenset(["last"]))


def slot(at, substitute=PLAIN):
    return Slot(at, "a", ((substitute.lemma, substitute),))


def order(slots, seed, text="A fast car passed."):
    return [found.at for found in order_slots(slots, Draws(seed, "synonym", text), is_last_resort)]


def test_it_is_the_random_of_the_standard_library_that_seed_generator_and_sentence_give():
    known = Random(f"7/jumble/{content_hash('A fast car.')}")
    drawn = Draws(7, "jumble", "A fast car.")
    assert [drawn.random(), drawn.choice("abcdef")] == [known.random(), known.choice("abcdef")]


@given(st.text(max_size=40), st.integers(0, 60))
def test_a_place_has_its_rank_however_many_are_asked(text, count):
    assert Draws(0, "synonym", text).random_ranks(count) == Draws(0, "synonym", text).random_ranks(60)[:count]


def test_seed_generator_and_sentence_change_the_ranks():
    seeds = [(0, "synonym", "a"), (1, "synonym", "a"), (0, "antonym", "a"), (0, "synonym", "\ud800")]
    assert len({Draws(*seed).random_ranks(2) for seed in seeds}) == 4


@given(st.sets(st.integers(0, 80), min_size=2, max_size=6), st.integers(0, 2**40), st.data())
def test_a_slot_more_changes_no_order_of_the_others(places, seed, data):
    slots = [slot(at) for at in sorted(places)]
    gone = data.draw(st.sampled_from(slots))
    assert order([s for s in slots if s is not gone], seed) == [at for at in order(slots, seed) if at != gone.at]


def test_every_order_is_as_likely_as_any_other():
    counts = Counter(tuple(order([slot(2), slot(3), slot(11)], seed)) for seed in range(3_000))
    assert len(counts) == 6
    assert chisquare(list(counts.values())).pvalue > 0.01


def test_substitutes_that_are_a_last_resort_come_behind_the_others():
    assert {tuple(order([slot(1, LAST), slot(4)], seed)) for seed in range(20)} == {(4, 1)}
