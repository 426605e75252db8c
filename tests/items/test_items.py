"""From groups and generators to the pairs and triplets that a check measures."""

from dataclasses import replace

import pytest

from encheck.datasets.dataset import dataset_from_rows
from encheck.datasets.load import load
from encheck.datasets.reader import PairRow
from encheck.errors import NothingToMeasure
from encheck.generators.antonym import antonym
from encheck.generators.invariance import casing
from encheck.generators.jumble import jumble
from encheck.generators.reorder import reorder
from encheck.generators.synonym import synonym
from encheck.items.builders import (
    against_paraphrase,
    contrast,
    edited_pairs,
    labelled_pairs,
    paraphrases_and_random_pairs,
    passage_triplets,
)
from encheck.items.variants import VariantMaker
from encheck.scoring.pairs import SentencePair
from encheck.scoring.triplets import Triplet
from encheck.types import Variant, apply_edits

ROWS = [
    PairRow("The plumber mends the leaking tap.", "The tap that leaks is mended.", 1, "test"),
    PairRow("Seven goats crossed the narrow bridge.", "Across the narrow bridge went seven goats.", 1),
    PairRow("Goats.", "These are goats.", 1),
    PairRow("The bell rang twice.", "A bell was cast.", 0),
    PairRow("Snow fell on the roof.", "The roof is red.", 0),
]


def shouting(group, *, level, rng, english):
    """A generator for these tests: upper case, for long sentences only, with a random mark."""
    if len(group.source) < 10:
        return None
    return Variant(f"{group.source.upper()} {rng.random()}", "shouting", level, (), "shouting")


@pytest.fixture
def data():
    return dataset_from_rows("own", ROWS)


@pytest.fixture(scope="module")
def probes():
    return load("probes")


def test_a_triplet_sets_the_paraphrase_against_the_variant(data):
    first = against_paraphrase(shouting)(data, 1, VariantMaker()).included[0]
    assert isinstance(first, Triplet)
    assert (first.source, first.near) == (ROWS[0].first, ROWS[0].second)
    assert first.far.startswith("THE PLUMBER")
    assert first.cluster == data.pairs[0].cluster


def test_a_sentence_without_a_variant_is_left_out_and_counted(data):
    items = against_paraphrase(shouting)(data, 2, VariantMaker())
    assert len(items.included) == 2
    assert items.excluded == {"no shouting of 2 words": 1}


def test_a_paraphrase_that_equals_the_sentence_is_left_out_and_counted():
    data = dataset_from_rows("own", [ROWS[0], PairRow("It is a very long day.", "It is a very long day.", 1)])
    assert against_paraphrase(shouting)(data, 1, VariantMaker()).excluded == {
        "the paraphrase is identical to the sentence": 1
    }


def test_nothing_is_measured_where_no_sentence_has_a_variant(data):
    with pytest.raises(NothingToMeasure, match="no sentence of own gives this check something to compare"):
        edited_pairs(silent)(data, 1, VariantMaker())


def test_two_edits_that_give_the_same_text_are_no_contrast(data):
    with pytest.raises(NothingToMeasure, match="both edits give the same text"):
        contrast(casing, casing)(data, 1, VariantMaker())


def silent(group, *, level, rng, english):
    return None


def test_an_edited_pair_holds_the_sentence_and_its_variant(probes):
    items = edited_pairs(synonym)(probes, 2, VariantMaker())
    assert len(items.included) == sum(g.variant("synonym", 2) is not None for g in probes.groups)
    assert all(isinstance(item, SentencePair) and item.label is None for item in items.included)
    assert all(apply_edits(item.first, item.edits) == item.second for item in items.included)


def test_edits_of_both_sides_reach_the_triplet(probes):
    for item in against_paraphrase(antonym)(probes, 1, VariantMaker()).included:
        assert apply_edits(item.source, item.near_edits) == item.near
        assert apply_edits(item.source, item.far_edits) == item.far


def test_a_contrast_takes_its_near_side_at_level_one(probes):
    items = contrast(synonym, jumble)(probes, 3, VariantMaker())
    variants = {g.source: g.variant("synonym", 1).text for g in probes.groups if not g.is_contrast}
    assert all(item.near == variants[item.source] for item in items.included)
    assert all(len(item.far_edits) == 6 for item in items.included)


def test_a_contrast_counts_which_side_is_missing(probes):
    items = contrast(reorder, jumble)(probes, 1, VariantMaker())
    without = [g for g in probes.groups if g.variant("reorder") is None]
    contrasts = [g for g in without if g.is_contrast]
    assert sorted(items.excluded.values()) == sorted([len(without) - len(contrasts), len(contrasts)])
    assert items.excluded["no reorderings"] == len(without) - len(contrasts)
    assert len(items.included) + len(without) == len(probes.groups)


@pytest.mark.parametrize("build", [against_paraphrase(shouting), edited_pairs(shouting), contrast(shouting, jumble)])
def test_duplicate_groups_have_items_with_distinct_ids(build):
    items = build(dataset_from_rows("own", [ROWS[0]] * 3), 1, VariantMaker())
    assert len({item.id for item in items.included}) == 3


def test_an_id_names_data_relation_level_generator_and_occurrence(data):
    first = edited_pairs(jumble)(data, 2, VariantMaker()).included[0]
    name, digest, *rest = first.id.split("/")
    assert (name, len(digest), rest) == ("own", 16, ["jumble", "2", "jumble", "0"])


def test_ids_and_variants_do_not_depend_on_the_order_of_rows(data):
    turned = dataset_from_rows("own", ROWS[::-1])
    assert set(edited_pairs(shouting)(data, 1, VariantMaker()).included) == set(
        edited_pairs(shouting)(turned, 1, VariantMaker()).included
    )


def test_a_sentence_added_later_changes_no_other_variant(data):
    more = dataset_from_rows("own", [PairRow("A barge came up the old canal.", "A barge came.", 1), *ROWS])
    assert set(edited_pairs(jumble)(data, 1, VariantMaker()).included) < set(
        edited_pairs(jumble)(more, 1, VariantMaker()).included
    )


def test_randomness_comes_of_the_seed_the_generator_and_the_group(data):
    first, second = data.groups[:2]
    texts = {VariantMaker(seed).variants([first], shouting)[0].text for seed in (0, 0, 1)}
    assert len(texts) == 2
    drawn = {v.text.split()[-1] for v in VariantMaker().variants([first, second], shouting)}
    assert len(drawn) == 2


def test_own_negatives_are_the_pairs_of_label_0(data):
    kept = labelled_pairs(data, 1, VariantMaker()).included
    assert [pair.label for pair in kept] == [1, 1, 1, 0, 0]
    assert set(kept) == set(data.pairs)


def test_random_negatives_are_drawn_apart_from_the_calibration_pairs(probes):
    kept = paraphrases_and_random_pairs(probes, 1, VariantMaker()).included
    random = {(p.first, p.second) for p in kept if p.label == 0}
    calibration = {(p.first, p.second) for p in probes.draw_random_pairs(seed=0)}
    assert len(random) == len(calibration) == 2_000
    assert random != calibration


@pytest.mark.parametrize(
    ("rows", "build", "lack"),
    [
        (ROWS[:4], labelled_pairs, "1 pairs of label 0"),
        (ROWS[2:], labelled_pairs, "1 pairs of label 1"),
        ([ROWS[0], ROWS[0]], paraphrases_and_random_pairs, "0 pairs of random"),
    ],
)
def test_two_classes_of_two_pairs_are_needed(rows, build, lack):
    with pytest.raises(NothingToMeasure, match=lack):
        build(dataset_from_rows("own", rows), 1, VariantMaker())


def test_a_group_without_the_edit_that_keeps_the_meaning_is_left_out_of_passages_and_counted(probes):
    some = [g for g in probes.groups if g.passage and g.variant("antonym")][:3]
    half = replace(some[0], variants=tuple(v for v in some[0].variants if v.relation == "antonym"))
    found = passage_triplets(["antonym"])(replace(probes, groups=(half, *some[1:])), 3, VariantMaker())
    assert len(found.included) == 2
    assert found.excluded == {"no edit that keeps the meaning was written for this phenomenon": 1}
