"""The embedded probes are what their datasheet (docs/probes.md) says: size, balance, no artefacts."""

import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from encheck.datasets.load import load
from encheck.generators.phenomenon import PHENOMENA
from encheck.similarity import jaccard

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "recipes"))
import check_probes

GROUPS = load("probes").groups
ROWS = list(check_probes.edits(GROUPS))


def count(relation, level=1):
    return sum(group.variant(relation, level) is not None for group in GROUPS)


def test_there_are_six_hundred_groups_over_ten_domains():
    domains = Counter(group.id.rpartition("-")[0] for group in GROUPS)
    assert len(GROUPS) >= 600
    assert len(domains) >= 10
    assert min(domains.values()) >= 50


def test_sentences_have_six_to_thirty_words():
    assert {6 <= len(check_probes.words_of(group.source)) <= 30 for group in GROUPS} == {True}


def test_skeletons_are_many_and_none_has_more_than_eight_groups():
    skeletons = Counter(group.cluster for group in GROUPS)
    assert len(skeletons) >= 250
    assert max(skeletons.values()) <= 8


def test_no_run_of_four_words_stands_in_more_than_three_groups():
    words = [check_probes.words_of(group.source) for group in GROUPS]
    grams = Counter(gram for w in words for gram in set(zip(w, w[1:], w[2:], w[3:], strict=False)))
    assert max(grams.values()) <= 3


@pytest.mark.parametrize(
    ("relation", "level", "least"),
    [
        ("synonym", 2, 350), ("synonym", 3, 250), ("negation", 1, 400), ("number", 1, 400), ("role_reversal", 1, 400),
        ("temporal", 1, 150), ("quantifier", 1, 150), ("modality", 1, 150), ("entity", 1, 150),
    ],
)  # fmt: skip
def test_each_phenomenon_has_groups_enough(relation, level, least):
    assert count(relation, level) >= least


@pytest.mark.parametrize("name", PHENOMENA)
def test_each_edit_has_one_that_keeps_the_meaning_and_a_control_of_as_many_words(name):
    for group in GROUPS:
        sides = [group.variant(relation) for relation in (f"{name}_kept", name, f"{name}_control")]
        assert len({v is None for v in sides}) == 1, group.id
        if sides[0]:
            assert len({len(check_probes.words_of(v.text)) for v in sides}) == 1, group.id


def test_passages_hold_their_sentence_in_its_place():
    passages = [group for group in GROUPS if group.passage]
    assert len(passages) >= 150
    for group in passages:
        for sentences in (3, 8):
            text = group.passage.around(group.source, sentences=sentences)
            assert group.source in text
            assert len(group.passage.context) == 7


def test_a_quarter_is_for_development():
    share = sum(group.split == "dev" for group in GROUPS) / len(GROUPS)
    assert 0.2 < share < 0.3


def test_rewrites_share_few_words_and_hard_negatives_many():
    rewrite = [(g.source, g.variant("rewrite").text) for g in GROUPS]
    hard = [(g.source, g.variant("hard_negative").text) for g in GROUPS]
    assert jaccard(*zip(*rewrite, strict=True)).max() <= 0.36
    assert jaccard(*zip(*hard, strict=True)).min() >= 0.59


def test_word_overlap_cannot_tell_kept_from_changed_edits():
    assert 0.45 <= check_probes.overlap_auc(ROWS) <= 0.55


@pytest.mark.parametrize("characters", [False, True])
def test_the_variant_alone_does_not_give_its_relation_away(characters):
    assert check_probes.variant_only_accuracy(ROWS, characters=characters) < 0.55


def test_edits_are_spread_over_the_sentence():
    thirds = check_probes.positions(GROUPS)
    assert min(thirds.values()) / sum(thirds.values()) > 0.15


def test_the_default_encoder_wins_neither_always_nor_never_on_half_of_the_phenomena():
    from encheck.encoders.load import Device, config_for
    from encheck.encoders.load import load as load_model
    from encheck.encoders.models_file import known_models

    model = load_model(config_for("sbert", known_models()), device=Device("cpu"))
    chosen = {
        name: [(g.source, g.variant(*kept).text, g.variant(*changed).text) for g in GROUPS if g.variant(*changed)][:80]
        for name, (kept, changed) in check_probes.CONTRASTS.items()
    }
    texts = sorted({text for contrasts in chosen.values() for contrast in contrasts for text in contrast})
    vectors = dict(zip(texts, model.encode(texts), strict=True))
    rates = {}
    for name, contrasts in chosen.items():
        source, kept, changed = (np.array([vectors[text] for text in side]) for side in zip(*contrasts, strict=True))
        rates[name] = float(((kept * source).sum(axis=1) > (changed * source).sum(axis=1)).mean())
    assert sum(0.2 <= rate <= 0.8 for rate in rates.values()) * 2 >= len(rates), rates
