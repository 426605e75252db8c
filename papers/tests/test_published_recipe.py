"""The published recipes, against the output of the authors' own code and a reference of the published rules."""

import json
import re
from random import Random

import pytest
import test_writing
from hypothesis import assume, given
from hypothesis import strategies as st
from test_swap_chain import bio, chain, check_steps, flat, parses
from test_writing import GOES_ON, going_on
from typer.testing import CliRunner

from encheck.cli import app
from encheck.datasets.dataset import dataset_from_rows
from encheck.datasets.reader import PairRow
from encheck.encoders.writing import ContinuationGenerator
from encheck.errors import NothingToMeasure
from encheck.generators.antonym import antonym
from encheck.generators.jumble import jumble
from encheck.generators.swap_chain import SwappedVariant
from encheck.generators.synonym import synonym
from encheck.items.builders import against_paraphrase, contrast, edited_pairs
from encheck.items.chains import continuation_chains
from encheck.items.variants import VariantMaker, WritingModels
from encheck.language.english import English
from encheck.language.lexicon.load import load_lexicon
from encheck.language.words import STOP_WORDS
from encheck.types import Group, PublishedVariant, apply_edits
from encheck_papers.published_recipe import (
    RECIPE,
    antonyms_of,
    jumbled,
    published_swap_chain,
    stop_words,
    substituted,
    substituted_variant,
)

gpt, marians = test_writing.gpt, test_writing.marians


@pytest.fixture
def swap_oracle(shared_data):
    return json.loads((shared_data.parent / "oracles/swap.json").read_text("utf-8"))


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
    assert "no" in stop_words()[1]
    assert "No" not in stop_words()[1]


def test_every_part_of_speech_and_every_sense_is_a_candidate():
    assert set(antonyms_of(load_lexicon())("good")) >= {"bad", "evil", "ill", "badness", "evilness"}


def test_the_edits_of_a_published_variant_give_its_text():
    text = "The old  dog ran, and the old cat rose ."
    for relation in ("synonym", "antonym"):
        variant = substituted_variant(text, relation, words=2, rng=Random(0), lexicon=load_lexicon())
        assert " ".join(apply_edits(text, variant.edits).split()) == variant.text


def test_a_sentence_without_an_antonym_comes_back_as_it_is():
    text = "Zelda zzzyx"
    assert substituted_variant(text, "antonym", words=1, rng=Random(0), lexicon=load_lexicon()).text == text


def published(*sources, relation, level=1):
    """The items of a criterion by the published recipe."""
    data = dataset_from_rows("own", [PairRow(source, f"{source} indeed", 1) for source in sources])
    maker = VariantMaker(english=English(recipe=RECIPE))
    build = against_paraphrase(antonym) if relation == "antonym" else edited_pairs(synonym)
    return build(data, level, maker)


def test_a_sentence_that_comes_back_unchanged_counts_with_a_margin_of_zero_or_less():
    found = published("Zelda zzzyx", "The old dog ran", relation="antonym")
    assert found.excluded == {}
    unchanged, changed = found.included
    assert unchanged.far == unchanged.source == "Zelda zzzyx"
    assert changed.far != changed.source


def test_a_synonym_that_nobody_knows_leaves_a_pair_of_equal_texts():
    (pair,) = published("Zelda zzzyx", relation="synonym").included
    assert pair.first == pair.second


def test_a_contrast_of_one_word_leaves_an_unchanged_sentence_out():
    data = dataset_from_rows("own", [PairRow("Zelda zzzyx", "It is Zelda", 1), PairRow("The old dog ran", "It ran", 1)])
    nothing = contrast(antonym, paper_unchanged)
    with pytest.raises(NothingToMeasure, match="changed nothing"):
        nothing(data, 1, VariantMaker(english=English(recipe=RECIPE)))


def paper_unchanged(group, *, level, rng, english):
    return PublishedVariant(group.source, "antonym", level, (), "paper-antonym")


@pytest.mark.parametrize(("generator", "said"), [(jumble, r"\w+ <-> \w+"), (synonym, r"\w+ > [a-z ]+")])
def test_every_published_variant_says_what_was_done(generator, said):
    group = Group("g", "The tall mayor did not buy the bridge", "", "c")
    (found,) = VariantMaker(english=English(recipe=RECIPE)).variants([group], generator)
    assert re.fullmatch(f"paper mode: {said}", found.certificate)


def test_a_published_continuation_is_cut_after_exactly_so_many_words():
    source = "He was born in New York City in East Broadway on October 23, 1806."
    assert going_on(source, GOES_ON, 10, RECIPE).text.endswith("Baltimore, Maryland where the family moved")
    found = going_on("It rained .", "was wet , so they - all - left .", 5, RECIPE)
    assert found.text == "It rained, and was wet , so they"


def test_chains_of_other_data_are_made_with_the_language_model(gpt):
    maker = VariantMaker(
        english=English(recipe=RECIPE), writers=WritingModels(continuations=ContinuationGenerator(gpt, device="cpu"))
    )
    data = dataset_from_rows("own", [PairRow("The dog sings.", "A dog is singing.", 1)])
    (chain,) = continuation_chains(data, 30, maker).included
    assert chain.members[0].startswith("The dog sings, and ")
    assert len(chain.members) >= 2


def test_the_run_takes_both_options(gpt, marians, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = "sentence1\tsentence2\tlabel\nThe dog sings.\tA dog is singing.\t1\nRain fell.\tNo sun.\t0\n"
    (tmp_path / "own.tsv").write_text(rows)
    args = ["--data", "pairs:own.tsv", "--model=overlap", f"--continuation-model={gpt}", "--threshold=0.5",
            f"--back-translate={','.join(marians)}", "--no-store", "--report-dir=out", "-q",
            "--generator-mode=paper"]  # fmt: skip
    outcome = CliRunner().invoke(app, ["run", "-m", "continuation or swapchain", *args])
    assert outcome.exit_code in (0, 1), outcome.output
    found = json.loads((tmp_path / "out/results.json").read_text("utf-8"))["checks"]
    assert {row["metric"] for row in found if row["property"] == "continuation"} >= {"r_precision", "accuracy_1"}
    reasons = [row["reason"] for row in found if row["check"] == "rewrite_ranks_above_swaps"]
    assert "back-translation" in reasons[0] or "fewer than 3 groups" in reasons[0]


@given(parses(), st.integers(0, 99))
def test_published_members_are_permutations_and_a_lower_level_is_the_beginning_of_a_higher_one(parse, seed):
    made = chain(parse, make=published_swap_chain, seed=seed)
    assume(isinstance(made, SwappedVariant))
    check_steps(parse, made)
    for level in (1, 2):
        assert chain(parse, make=published_swap_chain, seed=seed, level=level).steps == made.steps[:level]


def test_the_swaps_of_the_reference_are_made_and_no_others(swap_oracle):
    for told in swap_oracle["hand_tagged"]:
        tokens = told["tokens"]
        parse = flat(tokens, told["ptb_tags"], entities=bio(len(tokens), told["entities"]))
        one, three = (
            {chain(parse, make=published_swap_chain, level=level, seed=seed) for seed in range(400)} for level in (1, 3)
        )
        if not told["eligible_open"]:
            assert one == three == {"fewer than 3 groups of words with the same tag"}
            continue
        assert {made.text for made in one} == set(told["all_possible_1_swap"])
        found = {made.text for made in three}
        assert len(found) == told["n_possible_3_swap"]
        assert set(told["some_3_swap"]) <= found
