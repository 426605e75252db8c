"""Swap chains: units and groups against a reference of the published rule, by hand, and by what every chain must be."""

import json
from collections import Counter
from itertools import pairwise
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from encheck.generators.swap_chain import (
    SWAPS,
    Relations,
    group_units_by_tag,
    split_into_units,
    swap_chain,
    why_exchange_keeps_meaning,
)
from encheck.language.english import English
from encheck.language.parse import Parse
from encheck.language.pipeline.pipeline import Pipeline
from encheck.similarity import words
from encheck.types import Group, apply_edits

TAGS = {"NN": "NOUN", "NNS": "NOUN", "VBD": "VERB", "VBZ": "VERB", "JJ": "ADJ", "RB": "ADV", "CD": "NUM", "DT": "DET"}


@pytest.fixture
def oracle(shared_data):
    """Sentences with the groups that an independent reading of the paper makes of them."""
    return json.loads((shared_data.parent / "oracles/swap.json").read_text("utf-8"))


def bio(length, spans):
    found = [""] * length
    for start, end, label in spans:
        found[start:end] = [f"B-{label}"] + [f"I-{label}"] * (end - start - 1)
    return found


def surfaces(groups, tokens):
    return {tag: [" ".join(tokens[u.start : u.end]) for u in found] for tag, found in groups.items()}


def test_units_and_groups_are_those_of_the_reference(oracle):
    for told in oracle["hand_tagged"]:
        tokens = told["tokens"]
        units = split_into_units(tokens, told["ptb_tags"], bio(len(tokens), told["entities"]))
        found = [{"tag": u.tag or None, "text": " ".join(tokens[u.start : u.end])} for u in units]
        assert found == told["units"]
        assert surfaces(group_units_by_tag(units, tokens), tokens) == told["groups_open"]


def rows_by_sentence(path):
    found, rows, name = {}, [], ""
    for line in path.read_text("utf-8").splitlines():
        if line.startswith("# sent_id"):
            name = line.partition("=")[2].strip()
        elif not line:
            found[name], rows = rows, []
        elif not line.startswith("#") and line.split("\t")[0].isdigit():
            rows.append(line.split("\t"))
    return found


def test_groups_of_two_thousand_sentences_with_gold_tags_are_those_of_the_reference(oracle, shared_data):
    parsed = rows_by_sentence(shared_data / "ud_english_ewt/en_ewt-ud-test.conllu")
    named = rows_by_sentence(shared_data / "uner_english_ewt/en_ewt-ud-test.iob2")
    found = {}
    for name, rows in parsed.items():
        tokens = [row[1] for row in rows]
        entities = ["" if row[2] == "O" else row[2] for row in named[name]]
        if len(entities) == len(tokens):
            units = split_into_units(tokens, [row[4] for row in rows], entities, lemmas=[row[2] for row in rows])
            found[name] = {tag: len(group) for tag, group in group_units_by_tag(units, tokens).items()}
    assert found == oracle["ewt_test_gold"]["groups_open_by_sent_id"]
    assert sum(len(groups) >= SWAPS for groups in found.values()) == oracle["ewt_test_gold"]["counts"]["eligible"]


def flat(tokens, tags, *, entities=None, heads=None, deps=None, text=None):
    """A parse without a tree: every word hangs on the first."""
    text = text or " ".join(tokens)
    starts, at = [], 0
    for token in tokens:
        starts.append(text.index(token, at))
        at = starts[-1] + len(token)
    count = len(tokens)
    return Parse(
        text, tuple(starts), tuple(s + len(t) for s, t in zip(starts, tokens, strict=True)), tuple(tags),
        tuple(TAGS.get(t, "X") for t in tags), tuple(t.lower() for t in tokens), tuple(heads or [0] * count),
        tuple(deps or ["root", *["dep"] * (count - 1)]), tuple(entities or [""] * count),
    )  # fmt: skip


class Reads(English):
    """English that knows one parse."""

    def __init__(self, parse):
        super().__init__()
        self._parses[parse.text] = parse


def chain(parse, *, make=swap_chain, level=SWAPS, seed=0):
    group = Group("g", parse.text, parse.text, "c")
    return make(group, level=level, rng=Random(seed), english=Reads(parse))


@st.composite
def parses(draw):
    size = draw(st.integers(6, 16))
    tokens = [f"w{i}" for i in draw(st.lists(st.integers(0, 30), min_size=size, max_size=size))]
    tags = draw(st.lists(st.sampled_from(sorted(TAGS)), min_size=size, max_size=size))
    heads = [draw(st.integers(0, max(i - 1, 0))) for i in range(size)]
    some = st.sampled_from(["amod", "nsubj", "obj", "conj", "flat"])
    deps = ["root", *draw(st.lists(some, min_size=size - 1, max_size=size - 1))]
    start = draw(st.integers(0, size - 2))
    length = draw(st.integers(1, 3))
    spans = [(start, min(start + length, size), "LOC")] + ([(size - 1, size, "LOC")] if start + length < size else [])
    return flat(tokens, tags, heads=heads, deps=deps, entities=bio(size, spans))


def test_members_are_permutations_and_a_lower_level_is_the_beginning_of_a_higher_one():
    parse = flat(
        ["dogs", "chase", "cats", "slowly", ",", "bite", "them", "quickly", "near", "old", "new", "barns"],
        ["NNS", "VBD", "NNS", "RB", ",", "VBD", "PRP", "RB", "IN", "JJ", "JJ", "NNS"],
        heads=[1, 1, 1, 2, 1, 3, 5, 6, 11, 10, 11, 5],
    )
    for seed in range(20):
        made = chain(parse, seed=seed)
        check_steps(parse, made)
        assert [chain(parse, seed=seed, level=level).steps for level in (1, 2)] == [made.steps[:1], made.steps[:2]]


def check_steps(parse, made):
    assert len(made.steps) == SWAPS
    units = split_into_units(parse.words, parse.tags, parse.entities)
    tag_of = {i: unit.tag for unit in units for i in range(unit.start, unit.end)}
    orders = [tuple(range(len(parse))), *(step.order for step in made.steps)]
    for step, (before, after) in zip(made.steps, pairwise(orders), strict=True):
        assert sorted(after) == list(range(len(parse)))
        blocks = transposed(before, after)
        assert blocks is not None
        assert {tag_of[i] for block in blocks for i in block} == {step.tag}
    texts = [parse.text, *(apply_edits(parse.text, step.edits) for step in made.steps)]
    assert len(set(texts)) == SWAPS + 1
    assert all(Counter(words(text)) == Counter(words(parse.text)) for text in texts)
    assert [[parse.words[i] for i in order] for order in orders] == [text.split() for text in texts]


def transposed(before, after):
    """The two blocks whose exchange makes `after` of `before`, or None."""
    size = len(before)
    start = next((i for i in range(size) if before[i] != after[i]), None)
    if start is None:
        return None
    end = next(i for i in range(size, 0, -1) if before[i - 1] != after[i - 1])
    old, new = before[start:end], after[start:end]
    for a in range(1, len(old)):
        for b in range(1, len(old) - a + 1):
            if old[len(old) - b :] + old[a : len(old) - b] + old[:a] == new:
                return old[:a], old[len(old) - b :]
    return None


def relations_of(tokens, tags, heads, deps):
    parse = flat(tokens, tags, heads=heads, deps=deps)
    units = split_into_units(parse.words, parse.tags, parse.entities)
    return parse, units, Relations.of(parse, units)


def kept(told, first, second):
    parse, units, relations = told
    pair = units[first], units[second]
    return relations.after([pair]) == relations.after(()), why_exchange_keeps_meaning(parse, *pair)


def test_coordinated_members_change_places_without_a_change_of_meaning():
    told = relations_of(
        ["Anna", "and", "Ben", "sang"], ["NNP", "CC", "NNP", "VBD"], [3, 2, 0, 3], ["nsubj", "cc", "conj", "root"]
    )
    assert kept(told, 0, 2) == (True, "coordinated members")


def test_members_with_modifiers_of_their_own_do_not():
    told = relations_of(
        ["big", "dogs", "and", "red", "cats", "ran"], ["JJ", "NNS", "CC", "JJ", "NNS", "VBD"], [1, 5, 4, 4, 1, 5],
        ["amod", "nsubj", "cc", "amod", "conj", "root"],
    )  # fmt: skip
    assert not kept(told, 1, 4)[0]


def test_two_adjectives_of_one_noun_keep_the_meaning():
    told = relations_of(["big", "red", "car"], ["JJ", "JJ", "NN"], [2, 2, 2], ["amod", "amod", "root"])
    assert kept(told, 0, 1) == (True, "the same head")


def test_subject_and_object_change_the_meaning_but_not_of_a_symmetric_verb():
    for verb, expected in (("saw", False), ("meet", True)):
        told = relations_of(["Anna", verb, "Ben"], ["NNP", "VBD", "NNP"], [1, 1, 1], ["nsubj", "root", "obj"])
        assert kept(told, 0, 2)[0] is expected
    assert kept(told, 0, 2)[1] == "symmetric predicate"


def test_the_parts_of_one_name_and_its_appositions_keep_the_meaning():
    name = relations_of(["Anna", "Smith", "sang"], ["NNP", "NNP", "VBD"], [2, 0, 2], ["nsubj", "flat", "root"])
    assert kept(name, 0, 1) == (True, "within one name")
    told = relations_of(["mayor", "Anna", "sang"], ["NN", "NNP", "VBD"], [2, 0, 2], ["nsubj", "appos", "root"])
    assert kept(told, 0, 1) == (True, "one names the other")


def test_the_two_sides_of_is_keep_the_meaning():
    told = relations_of(["Rome", "is", "home"], ["NNP", "VBZ", "NN"], [2, 2, 2], ["nsubj", "cop", "root"])
    assert kept(told, 0, 2) == (True, "two sides of a copula")


def test_two_prepositions_tell_where_from_and_where_to():
    told = relations_of(
        ["moved", "from", "Rome", "to", "Paris"], ["VBD", "IN", "NNP", "IN", "NNP"], [0, 2, 0, 4, 0],
        ["root", "case", "obl", "case", "obl"],
    )  # fmt: skip
    assert not kept(told, 2, 4)[0]


def test_three_swaps_that_tell_the_same_story_in_another_order_are_rejected():
    tokens = ["Ann", "ate", "figs", "and", "Bob", "drank", "tea"]
    heads, deps = [1, 1, 1, 5, 5, 1, 5], ["nsubj", "root", "obj", "cc", "nsubj", "conj", "obj"]
    parse = flat(tokens, ["NNP", "VBD", "NNS", "CC", "NNP", "VBD", "NN"], heads=heads, deps=deps,
                 entities=["B-PER", "", "", "", "B-PER", "", ""])  # fmt: skip
    made = [chain(parse, seed=seed) for seed in range(10)]
    assert set(made) == {"too few exchanges that change the meaning (undoes earlier exchanges)"}


def test_careful_mode_leaves_out_numbers_auxiliaries_and_words_that_touch_their_neighbour():
    tokens = ["two", "dogs", "saw", "three", "cats", "slowly", "and", "quickly", "left", "well", "-", "known"]
    tags = ["CD", "NNS", "VBD", "CD", "NNS", "RB", "CC", "RB", "VBD", "RB", "HYPH", "JJ"]
    parse = flat(tokens, tags, text="two dogs saw three cats slowly and quickly left well-known",
                 heads=[1, 2, 2, 4, 2, 2, 8, 8, 2, 11, 11, 8])  # fmt: skip
    for seed in range(20):
        made = chain(parse, seed=seed)
        assert {step.tag for step in made.steps} == {"NOUN", "VERB", "RB"}
        assert made.text.endswith("well-known")
        assert made.text.startswith("two ")


def test_the_sentence_begins_with_a_capital_after_the_swap():
    parse = flat(
        ["Dogs", "chase", "cats", "slowly", ",", "bite", "them", "quickly", "near", "old", "new", "barns"],
        ["NNS", "VBD", "NNS", "RB", ",", "VBD", "PRP", "RB", "IN", "JJ", "JJ", "NNS"],
        heads=[1, 1, 1, 2, 1, 3, 5, 6, 11, 10, 11, 5],
    )
    for seed in range(20):
        made = chain(parse, seed=seed)
        assert made.text[0].isupper()
        assert not any(word[0].isupper() for word in made.text.split()[1:])


PIPELINE = Pipeline()  # read once
FEW = "fewer than 3 groups of words with the same tag"


@pytest.mark.parametrize(
    ("text", "reason"),
    [("", FEW), ("x", FEW), ("Dogs bark.", FEW), ("word " * 10_000, FEW),
     ("word " * 30_000, "longer than the parser's limit")],
    ids=["empty", "letter", "short", "long", "longer"],
)  # fmt: skip
def test_texts_without_three_groups_say_so(text, reason):
    english = English(pipeline=PIPELINE)
    english.parse_all([text])
    assert swap_chain(Group("g", text, text, "c"), level=3, rng=Random(0), english=english) == reason


def test_words_that_stand_twice_are_no_two_members():
    tokens = ["big", "dogs", "ran", "and", "Big", "Dogs", "Ran"]
    parse = flat(tokens, ["JJ", "NNS", "VBD", "CC", "JJ", "NNS", "VBD"])
    assert chain(parse) == "fewer than 3 groups of different words with the same tag"


@given(st.lists(st.sampled_from(["", "B-LOC", "I-LOC", "B-PER", "I-PER"]), min_size=6, max_size=12), st.integers(0, 9))
def test_entities_that_run_into_each_other_are_cut_into_units_that_cover_the_text_once(entities, seed):
    tokens = [f"w{i}" for i in range(len(entities))]
    parse = flat(tokens, ["NN", "VBD", "JJ"] * 4 if len(tokens) == 12 else (["NN", "VBD", "JJ"] * 4)[: len(tokens)],
                 entities=entities)  # fmt: skip
    units = split_into_units(parse.words, parse.tags, parse.entities)
    assert [i for unit in units for i in range(unit.start, unit.end)] == list(range(len(tokens)))
    made = chain(parse, seed=seed)
    assert isinstance(made, str) or Counter(words(made.text)) == Counter(words(parse.text))
