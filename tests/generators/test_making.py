"""Variants are seeded, made in batches, made once, and streamed in little memory."""

import re
from functools import partial
from random import Random

import pytest

from encheck.datasets.dataset import Dataset, dataset_from_rows
from encheck.datasets.reader import PairRow
from encheck.errors import CheckError, NothingToMeasure
from encheck.generators.base import beside, listing_name
from encheck.generators.jumble import jumble
from encheck.items import catalogue, variants
from encheck.items.builders import against_paraphrase
from encheck.items.catalogue import list_variants
from encheck.items.variants import VariantMaker, make_variant
from encheck.language.english import English
from encheck.store import Store
from encheck.types import Edit, Group, Variant

SENTENCES = [
    "The plumber mends the leaking tap.",
    "Seven goats crossed the narrow bridge at noon.",
    "Nobody knows why the old mill closed.",
]
GROUPS = [Group(f"g{i}", text, text, f"c{i}") for i, text in enumerate(SENTENCES)]


def tagged(group, *, level, rng, english):
    """A generator for these tests: needs the parse, then the tags of a text of its own."""
    parse = english.stored_parse(group.source)
    _, tags = english.stored_tags(f"{group.source} Indeed.")
    return Variant(f"{len(parse)} {len(tags)} {rng.random()}", "tagged", level, (), "tagged")


def after(group, *, base, level, rng, english):
    return Variant(f"{base.text}!", "after", level, (), "after")


@pytest.fixture
def english(tmp_path):
    return English(store=Store(tmp_path / "store.sqlite"))


def test_parses_and_tags_come_in_one_batch_each(english, monkeypatch):
    batches = []
    for name in ("parse", "tag"):
        real = getattr(english.pipeline, name)

        def counted(texts, name=name, real=real):
            batches.append((name, len(texts)))
            return real(texts)

        monkeypatch.setattr(english.pipeline, name, counted)
    assert all(isinstance(v, Variant) for v in VariantMaker(0, english).variants(GROUPS, tagged))
    assert batches == [("parse", 3), ("tag", 3)]


def test_a_generator_that_takes_every_exception_waits_like_the_others(english):
    def careless(group, *, level, rng, english):
        try:
            return tagged(group, level=level, rng=rng, english=english)
        except Exception:
            return "broken"

    assert all(isinstance(v, Variant) for v in VariantMaker(0, english).variants(GROUPS, careless))


def test_no_text_is_parsed_twice_by_another_run(english):
    first = VariantMaker(0, english).variants(GROUPS, tagged)
    again = English(store=english.store)
    assert VariantMaker(0, again).variants(GROUPS, tagged) == first
    assert (english.parsed, english.tagged) == (3, 3)
    assert (again.parsed, again.tagged) == (0, 0)


def test_a_variant_is_made_once(english):
    asked = []

    def counting(group, *, level, rng, english):
        asked.append(group.id)
        return Variant(f"{group.source} {level}", "counting", level)

    maker = VariantMaker(0, english)
    assert maker.variants(GROUPS[:2], counting) == maker.variants(GROUPS, counting)[:2]
    assert asked == ["g0", "g1", "g2"]


def test_other_sentences_change_no_variant(english):
    alone = VariantMaker(3, english).variants(GROUPS[1:2], jumble)
    assert VariantMaker(3, english).variants(GROUPS, jumble)[1:2] == alone
    assert VariantMaker(4, english).variants(GROUPS[1:2], jumble) != alone


def test_one_sentence_has_one_variant_wherever_it_stands(english):
    twin = Group("another id", SENTENCES[0], "its other paraphrase", "c")
    assert VariantMaker(0, english).variants([twin], jumble) == VariantMaker(0, english).variants(GROUPS[:1], jumble)


def test_a_generator_beside_another_meets_the_very_same_variant(english):
    (base,) = VariantMaker(0, english).variants(GROUPS[:1], jumble)
    both = beside(jumble, after)
    assert VariantMaker(0, english).variants(GROUPS[:1], both)[0].text == f"{base.text}!"
    assert listing_name(both) == "jumble+after"


def test_the_reason_of_the_base_is_the_reason_beside_it(english):
    one_word = Group("g", "Goats.", "Goats.", "c")
    assert "too few different words" in VariantMaker(0, english).variants([one_word], beside(jumble, after))[0]


def test_a_variant_that_equals_its_source_is_none(english):
    def same(group, *, level, rng, english):
        return Variant(group.source, "same", level, (Edit(0, 1, group.source[0]),))

    assert make_variant(GROUPS[0], same, level=1, seed=0, english=english) == "same equals its source"


def test_a_stream_remembers_nothing(english):
    maker = VariantMaker(0, english)
    streamed = [variant for _, variant in maker.stream_variants(iter(GROUPS * 700), tagged)]
    assert streamed == maker.variants(GROUPS, tagged) * 700
    list(maker.stream_variants(iter(GROUPS), tagged))
    assert not english._parses
    assert not english._tags


def many(count):
    texts = [f"The plumber mended {i} taps." for i in range(count)]
    return Dataset("many", (), tuple(Group(text, text, text, "c") for text in texts), "yours", count)


def test_a_listing_of_many_texts_has_few_of_them_in_memory(english, monkeypatch):
    held = []

    def watched(group, *, level, rng, english):
        found = tagged(group, level=level, rng=rng, english=english)
        held.append(len(english._parses))
        return found

    monkeypatch.setattr(catalogue, "CHUNK", 4)
    (listing,) = list_variants(many(30), maker := VariantMaker(0, english), works=[(watched, (1,))], keep=3)
    assert (listing.count, len(listing.made), listing.coverage) == (30, 3, 1.0)
    assert max(held) == 4
    assert not maker._made
    (everything,) = list_variants(many(30), maker, works=[(watched, (1,))])
    assert [variant for _, variant in everything.made[:3]] == [variant for _, variant in listing.made]
    assert len(everything.made) == everything.count == 30


def test_a_run_on_many_texts_forgets_parses_that_the_store_has(english, monkeypatch):
    monkeypatch.setattr(variants, "CHUNK", 4)
    monkeypatch.setattr("encheck.language.english.MAX_PARSES_IN_MEMORY", 10)
    groups = many(30).groups
    made = VariantMaker(0, english).variants(groups, tagged)
    assert len(english._parses) <= 10
    assert VariantMaker(0, english).variants(groups, tagged) == made
    assert english.parsed == 30
    alone = English(pipeline=english.pipeline)
    assert VariantMaker(0, alone).variants(groups, tagged) == made
    assert len(alone._parses) == 30  # no store has them


def test_a_generator_that_never_gets_what_it_waits_for_is_named(english):
    def endless(group, *, level, rng, english):
        english.stored_tags(str(Random().random()))

    with pytest.raises(CheckError, match="endless still waits after 50 rounds"):
        VariantMaker(0, english).variants(GROUPS[:1], endless)


@pytest.mark.parametrize(
    ("gives", "problem"),
    [
        (lambda source: 1 / 0, "raised ZeroDivisionError"),
        (lambda source: 7, "gave 7, but should give a Variant, or in a few words"),
        (lambda source: Variant(None, "x"), "but should give a Variant"),
        (lambda source: Variant(" ", "x"), "gave a Variant without text"),
        (lambda source: Variant(f"No: {source}", "x", 1, (Edit(0, 0, "Now: "),)), "but its edits give 'Now: The plumb"),
    ],
)
def test_a_generator_that_breaks_is_named_with_file_sentence_and_what_it_gave(english, gives, problem):
    def broken(group, *, level, rng, english):
        return gives(group.source)

    with pytest.raises(CheckError, match=re.escape(problem)) as said:
        VariantMaker(0, english).variants(GROUPS, broken)
    assert re.search(r"the generator broken of .*test_making.py:\d+ ", str(said.value))
    assert repr(SENTENCES[0]) in str(said.value)


def test_a_generator_that_returns_its_sentences_as_text_is_told_that_a_variant_is_wanted(english):
    def shouting(group, *, level, rng, english):
        return group.source.upper()

    groups = [Group(f"g{i}", f"Number {i}.", "Some number.", f"c{i}") for i in range(60)]
    with pytest.raises(CheckError, match=r"60 different reasons .*'NUMBER 0.'.* a new sentence as a Variant"):
        VariantMaker(0, english).variants(groups, shouting)


def test_a_generator_without_a_name_is_refused_and_runs_once_it_has_one(english):
    def made(group, *, level, rng, english, text):
        return Variant(text, "x")

    nameless = partial(made, text="Any.")
    with pytest.raises(CheckError, match="has no __name__"):
        VariantMaker(0, english).variants(GROUPS, nameless)
    nameless.__name__ = "any"
    assert [v.text for v in VariantMaker(0, english).variants(GROUPS, nameless)] == ["Any."] * 3


def test_a_variant_that_equals_its_sentence_is_left_out():
    def same(group, *, level, rng, english):
        return Variant(group.source, "antonym", level)

    data = dataset_from_rows("own", [PairRow("The old dog ran", "It ran", 1)])
    with pytest.raises(NothingToMeasure, match="same equals its source"):
        against_paraphrase(same)(data, 1, VariantMaker())
