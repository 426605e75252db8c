"""Surface scorers against other implementations, and what they promise."""

from hashlib import sha256

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from nltk import edit_distance
from nltk.util import ngrams

from encheck.encoders.load import load_model
from encheck.encoders.model_config import Device, ModelConfig
from encheck.encoders.models_file import packaged_models_path, read_models
from encheck.strategies import hostile_texts
from encheck.surface import (
    POLARITY_SHA256,
    POLARITY_WORDS,
    POSITION,
    SHARED,
    SURFACE,
    WEIGHTED,
    Frequencies,
    bigram_overlap,
    edit_similarity,
    polarity_agreement,
    tf_idf,
    trigram_overlap,
)

TEXTS = st.lists(st.sampled_from(["a", "A", "red", "dogs", "dog's", "Éa", "42"]), max_size=7).map(" ".join)
ANY = st.text(max_size=12)
CORPUS = ["a red dog", "the dogs", "A", "42 dogs saw 42 cats"]


def scorers():
    found = Frequencies.of(CORPUS)
    weighted = {name: lambda a, b, score=score: score(a, b, found) for name, score in WEIGHTED.items()}
    return {**SURFACE, **weighted}


def shared(first, second):
    return len(first & second) / len(first | second)


def test_words_that_deny_are_counted_and_nothing_else_is_read():
    source = "The form is not valid."
    texts = [
        "The form isn't valid.",
        "The form isn’t valid.",
        "It is NOT!",
        "The form is valid.",
        "No, it never isn't.",
        "It is hardly invalid, but dishonest.",
    ]
    assert polarity_agreement([source] * 6, texts).tolist() == [1, 1, 1, 1 / 2, 1 / 3, 1 / 3]
    assert polarity_agreement([source] * 6, texts, parity=True).tolist() == [1, 1, 1, 0, 1, 1]
    assert polarity_agreement(
        ["Unless the wireless dishwasher wont display it"], [source.replace("not ", "")]
    ).tolist() == [1]


def test_the_list_of_words_that_deny_is_the_one_that_figures_were_made_with():
    assert sha256("\n".join(sorted(POLARITY_WORDS)).encode()).hexdigest() == POLARITY_SHA256


def test_positions_are_where_the_texts_differ():
    source, late, early = "He drove to Rome.", "He drove to Bath.", "She drove to Rome."
    nearer = {name: np.subtract(*SURFACE[name]([source] * 2, [late, early])) for name in POSITION}
    assert {name for name, more in nearer.items() if more > 0} == {"prefix", "first-change"}
    assert {name for name, more in nearer.items() if more < 0} == {"suffix", "last-change", "suffix-2-prefix"}


@given(TEXTS, TEXTS)
@example("", "")
@example("a", "")
def test_edit_similarity_is_that_of_nltks_edit_distance(first, second):
    a, b = first.lower().split(), second.lower().split()
    expected = 1 - edit_distance(a, b) / max(len(a), len(b), 1)
    assert edit_similarity([first], [second])[0] == pytest.approx(expected)


@given(TEXTS, TEXTS)
@example("", "")
@example("red", "a")
def test_bigrams_are_those_of_nltk(first, second):
    made = ({*ngrams(["<s>", *t.lower().split(), "</s>"], 2)} for t in (first, second))
    assert bigram_overlap([first], [second])[0] == pytest.approx(shared(*made))


@given(TEXTS, TEXTS)
@example("", "")
@example(" a  red dog", "a red dog")
def test_trigrams_are_those_of_nltk(first, second):
    made = ({*ngrams(f"  {' '.join(t.lower().split())} ", 3)} for t in (first, second))
    assert trigram_overlap([first], [second])[0] == pytest.approx(shared(*made))


@given(st.lists(st.tuples(ANY | TEXTS, ANY | TEXTS), min_size=1, max_size=4))
@example([("", "red"), ("", "")])
def test_every_scorer_is_symmetric_and_gives_identical_text_1(pairs):
    first, second = map(list, zip(*pairs, strict=True))
    for name, score in scorers().items():
        found = score(first, second)
        assert found == pytest.approx(score(second, first)), name
        assert score(first, first) == pytest.approx(np.ones(len(first))), name
        assert (found >= 0).all(), name
        assert name == "bm25" or (found <= 1).all(), name


def test_words_that_no_text_has_weigh_most():
    found = tf_idf(["a zebra", "a red"], ["a", "a"], Frequencies.of([*CORPUS, "a"]))
    assert found[0] < found[1] < 1


@pytest.mark.parametrize("name", [*SHARED, *WEIGHTED])
def test_every_scorer_of_what_texts_share_is_a_model_that_can_be_named_and_gives_the_same(name):
    entry = read_models(packaged_models_path())[name]
    assert (entry.adapter, entry.options) == ("lexical", {"weighting": name})
    model = load_model(ModelConfig(name, "lexical", options=dict(entry.options)), device=Device("cpu"))
    model.fit(CORPUS)
    assert model.score_pairs(CORPUS, CORPUS[::-1]).tolist() == scorers()[name](CORPUS, CORPUS[::-1]).tolist()


@settings(max_examples=40)
@given(hostile_texts(max_size=600), hostile_texts(max_size=600))
def test_every_scorer_is_symmetric_and_gives_a_number_whatever_the_texts(first, second):
    for name, score in scorers().items():
        there, back = score([first, first], [second, first]), score([second, first], [first, first])
        assert (there >= 0).all(), name
        assert name not in SURFACE or (there <= 1).all(), name
        assert there == pytest.approx(back), name
        assert there[1] == pytest.approx(1), name
