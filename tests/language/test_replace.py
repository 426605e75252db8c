"""What has to be tagged again to know whether a new word keeps its tag: the words that the tagger looks at, no more."""

import pytest

from encheck.language.edits import replace
from encheck.language.edits.replace import replace_words
from encheck.language.english import English, MissingParses
from encheck.language.pipeline.pipeline import BUNDLED, Pipeline, find_tagger_reach

PIPELINE = Pipeline()
LONG = (
    "When the older mill closed in May, the mayor of the town (who hadn't been told) said he'd ask its owners for a "
    "well-kept  list of everything that was sold in the large house, and an answer by 5 p.m. on the next working day."
)
TEXTS = [
    LONG,
    "Houses are large.",
    "  Two blanks before it,\ttabs\tin it: a large   house ",
    "He wrote e.g. “a long list”... :)",
]


@pytest.mark.parametrize("text", TEXTS)
def test_the_tag_of_a_word_in_its_window_is_its_tag_in_the_whole_text(text):
    english = English(pipeline=PIPELINE)
    english.parse_all([text])
    parse = english.stored_parse(text)
    for at, tag in enumerate(parse.tags):
        window = replace._find_tag_window(parse, at, PIPELINE.reach)
        part = replace._edit_window(parse, window, ())
        english.tag_all([part])
        tokens, tags = english.stored_tags(part)
        assert tokens == parse.words[slice(*window)]
        assert tags[at - window[0]] == tag


def test_a_window_is_smaller_than_the_text_and_those_that_overlap_are_one():
    english = English(pipeline=PIPELINE)
    english.parse_all([LONG])
    parse = english.stored_parse(LONG)
    old, sold, large = (parse.words.index(word) for word in ("older", "sold", "large"))
    (first, after), (other, _) = replace._find_tag_windows(parse, {old: "new", large: "small"}, PIPELINE.reach)
    assert 0 == first <= old < after <= other
    assert len(replace._find_tag_windows(parse, {sold: "lost", large: "small"}, PIPELINE.reach)) == 1
    assert replace._find_tag_windows(parse, {old: "new"}, None) == [(0, len(parse))]


def test_nothing_but_the_words_around_an_edit_is_tagged_again():
    english = English(pipeline=PIPELINE)
    english.parse_all([LONG])
    parse = english.stored_parse(LONG)
    words = {parse.words.index("large"): "small", parse.words.index("older"): "more expensive"}
    with pytest.raises(MissingParses):
        replace_words(english, parse, words)
    english.parse_and_tag_missing()
    edits, text = replace_words(english, parse, words)
    assert text == LONG.replace("large", "small").replace("older", "more expensive")
    assert len(edits) == 2
    assert sum(len(tagged) for tagged in english._tags) < len(LONG) / 1.5


def test_a_word_of_another_tag_is_refused():
    english = English(pipeline=PIPELINE)
    english.parse_all([LONG])
    parse = english.stored_parse(LONG)
    words = {parse.words.index("house"): "houses"}
    with pytest.raises(MissingParses):
        replace_words(english, parse, words)
    english.parse_and_tag_missing()
    assert replace_words(english, parse, words) is None


def config(folder, *changes):
    text = (BUNDLED / "config.cfg").read_text("utf-8")
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    (folder / "config.cfg").write_text(text, "utf-8")
    return folder


def test_how_far_a_tagger_looks_is_read_off_its_configuration(tmp_path):
    assert Pipeline().reach == find_tagger_reach(config(tmp_path)) == 5
    assert find_tagger_reach(config(tmp_path, ("window_size = 1", "window_size = 2"))) == 10


@pytest.mark.parametrize(
    "change",
    [
        ("spacy.MaxoutWindowEncoder.v2", "spacy.TorchBiLSTMEncoder.v1"),
        ("spacy.MultiHashEmbed.v2", "own.Embed.v1"),
        ('"SHAPE"', '"SPACY"'),
        ("spacy.Tokenizer.v1", "own.Tokenizer.v1"),
        ("depth = 5", "depth = null"),
        ("[nlp]", "[nlp"),
    ],
)
def test_a_tagger_that_may_look_further_gets_the_whole_text(tmp_path, change):
    assert find_tagger_reach(config(tmp_path, change)) is None


def test_a_pipeline_without_a_configuration_gets_the_whole_text(tmp_path):
    assert find_tagger_reach(tmp_path) is None
