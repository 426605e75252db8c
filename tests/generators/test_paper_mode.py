"""The published recipe, against the output of the authors' own code."""

import json
from random import Random

import pytest

from encheck.datasets.dataset import dataset_from_rows
from encheck.datasets.reader import PairRow
from encheck.errors import NothingToMeasure
from encheck.generators.antonym import antonym
from encheck.generators.paper import antonyms_of, jumbled, paper_antonym, paper_synonym, substituted
from encheck.generators.synonym import synonym
from encheck.items.builders import against_paraphrase, contrast, edited
from encheck.items.variants import VariantMaker
from encheck.language.english import English
from encheck.language.lexicon.load import load_lexicon
from encheck.language.words import STOP_WORDS, paper_stop_words
from encheck.types import Variant, apply_edits


@pytest.fixture
def oracle(shared_data):
    return json.loads((shared_data.parent / "oracles" / "perturb_003.json").read_text("utf-8"))


def stub(oracle, kind):
    """The lookups of the oracle's own small lexicon: word -> senses -> (lemma, antonyms)."""

    def related(word):
        senses = oracle["stub_lexicon"].get(word, [])
        if kind == "antonyms":
            return sorted({a for sense in senses for _, antonyms in sense for a in antonyms})
        found = {lemma.replace("_", " ").replace("-", " ").lower() for sense in senses for lemma, _ in sense}
        return sorted(found - {word})

    return related


def test_jumbles_are_those_of_the_authors_code(oracle):
    made = [jumbled(case["sentence"], swaps=case["n"], rng=Random(case["seed"])).text for case in oracle["jumbling"]]
    assert made == [case["jumbled"] for case in oracle["jumbling"]]
    assert len(made) == 105


def test_jumbles_come_back_unchanged_as_often_as_the_authors(oracle):
    for key, rate in oracle["identity_rate_of_n_swaps"].items():
        swaps, _, text = key.partition("|")
        same = sum(jumbled(text, swaps=int(swaps), rng=Random(seed)).text == text for seed in range(4_000))
        error = 4 * (max(rate * (1 - rate), 1e-3) / 4_000) ** 0.5 * 2**0.5  # both sides are samples
        assert same / 4_000 == pytest.approx(rate, abs=error), key


def test_replacements_are_those_that_the_authors_code_can_give(oracle):
    for case in oracle["replacement_with_stub_wordnet"]:
        related = stub(oracle, case["type"])
        found = {
            substituted(case["sentence"], words=case["n"], rng=Random(seed), related=related, stop=STOP_WORDS).text
            for seed in range(300)
        }
        assert found == set(case["possible_outputs"]), case["sentence"]
        assert (case["sentence"] in found) == case["unchanged_possible"]


def test_our_own_stop_words_are_case_sensitive_as_theirs():
    assert "no" in paper_stop_words()[1]
    assert "No" not in paper_stop_words()[1]


def test_every_part_of_speech_and_every_sense_is_a_candidate():
    assert set(antonyms_of(load_lexicon())("good")) >= {"bad", "evil", "ill", "badness", "evilness"}


def test_the_edits_of_a_published_variant_give_its_text():
    text = "The old  dog ran, and the old cat rose ."
    for make in (paper_synonym, paper_antonym):
        variant = make(text, words=2, rng=Random(0), lexicon=load_lexicon())
        assert " ".join(apply_edits(text, variant.edits).split()) == variant.text


def test_a_sentence_without_an_antonym_comes_back_as_it_is():
    text = "Zelda zzzyx"
    assert paper_antonym(text, words=1, rng=Random(0), lexicon=load_lexicon()).text == text


def published(*sources, relation, level=1):
    """The items of a criterion by the published recipe."""
    data = dataset_from_rows("own", [PairRow(source, f"{source} indeed", 1) for source in sources])
    maker = VariantMaker(english=English(mode="paper"))
    build = against_paraphrase(antonym) if relation == "antonym" else edited(synonym)
    return build(data, level, maker)


def test_a_sentence_that_comes_back_unchanged_counts_with_a_margin_of_zero_or_less():
    found = published("Zelda zzzyx", "The old dog ran", relation="antonym")
    assert found.excluded == {}
    unchanged, changed = found.included
    assert unchanged.far == unchanged.source == "Zelda zzzyx"
    assert changed.far != changed.source


def test_a_synonym_that_nobody_knows_leaves_a_pair_of_equal_texts():
    (pair,) = published("Zelda zzzyx", relation="synonym").kept
    assert pair.first == pair.second


def test_a_contrast_of_one_word_leaves_an_unchanged_sentence_out():
    data = dataset_from_rows("own", [PairRow("Zelda zzzyx", "It is Zelda", 1), PairRow("The old dog ran", "It ran", 1)])
    nothing = contrast(antonym, paper_unchanged)
    with pytest.raises(NothingToMeasure, match="changed nothing"):
        nothing(data, 1, VariantMaker(english=English(mode="paper")))


def paper_unchanged(group, *, level, rng, english):
    return Variant(group.source, "antonym", level, (), "paper-antonym")


def test_careful_mode_leaves_out_what_equals_its_sentence():
    def same(group, *, level, rng, english):
        return Variant(group.source, "antonym", level)

    data = dataset_from_rows("own", [PairRow("The old dog ran", "It ran", 1)])
    with pytest.raises(NothingToMeasure, match="same equals its source"):
        against_paraphrase(same)(data, 1, VariantMaker())
