"""What generators wait for: parses, what is read off them, tags; each had once, in a batch."""

import pytest

from encheck.generators.synonym import synonym
from encheck.items.variants import VariantMaker
from encheck.language.english import English, MissingParses
from encheck.language.pipeline.pipeline import Pipeline
from encheck.store import Store
from encheck.types import Group, Variant

TEXT = "The woman bought a house."
PIPELINE = Pipeline()  # read once


def words(_, parse):
    """A reading that counts how often it is asked."""
    words.calls += 1
    return parse.words


@pytest.fixture
def english():
    words.calls = 0
    return English(pipeline=PIPELINE)


def test_who_reads_a_parse_that_is_not_there_yet_waits_for_the_next_batch(english):
    with pytest.raises(MissingParses):
        english.derive(words, TEXT)
    assert words.calls == 0
    english.parse_and_tag_missing()
    assert english.derive(words, TEXT) == ("The", "woman", "bought", "a", "house", ".")


def test_a_parse_is_read_once_by_each_reading(english):
    english.parse_all([TEXT])
    assert english.derive(words, TEXT) is english.derive(words, TEXT)
    assert (words.calls, english.parsed) == (1, 1)


def test_what_is_forgotten_is_read_again(english):
    for _ in range(2):
        english.parse_all([TEXT])
        english.derive(words, TEXT)
        english.clear_memory()
    assert words.calls == 2


def test_another_seed_parses_reads_and_tags_nothing_twice(english):
    groups = [Group("g", TEXT, TEXT, "c")]
    first = VariantMaker(0, english).variants(groups, synonym)
    had = (english.parsed, english.tagged, len(english._read))
    assert VariantMaker(0, english).variants(groups, synonym) == first
    assert isinstance(first[0], Variant)
    assert (english.parsed, english.tagged, len(english._read)) == had
    assert had[0] == had[2] == 1


@pytest.mark.parametrize("sign", ["\x1e", "\x1f", "\x00", "\ud800", "\n"])
def test_parses_and_tags_of_any_signs_come_back_from_the_store_as_they_were_made(tmp_path, sign):
    text = f"The woman{sign} bought {sign}a large house{sign}."
    found = []
    for _ in range(2):
        english = English(pipeline=PIPELINE, store=Store(tmp_path / "store.sqlite"))
        english.parse_all([text])
        english.tag_all([text, TEXT])
        made = VariantMaker(0, english).variants([Group("g", text, "", "c")], synonym)
        found.append((english.stored_parse(text), english.stored_tags(text), english.stored_tags(TEXT), made))
        english.store.close()
    assert found[0] == found[1]
