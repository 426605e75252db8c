"""The embedded probes are what their datasheet (docs/method/probes.md) says: size, balance, no artefacts."""

import sys
from collections import Counter
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from encheck.datasets.load import load
from encheck.similarity import jaccard
from encheck.surface import SHARED

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "lab" / "recipes"))
import build_contrasts
import check_probes

BALANCED = ("role_reversal", "binding", "comparative", "temporal", "negation", "modality", "quantifier")
MEASURED = ("number", "entity")
LARGE = ("number", "antonym")


@cache
def whole():
    return [g for g in load("probes").groups if not g.side]


@cache
def base():
    return [g for g in whole() if not g.is_contrast]


@cache
def contrasts():
    return check_probes.of_phenomena(list(check_probes.contrasts(load("probes").groups)))


def groups_of(name):
    return {c.group for c in contrasts()[name]}


def test_sentences_of_the_base_are_of_many_domains_and_registers():
    domains = Counter(group.id.rpartition("-")[0] for group in base())
    assert len(base()) >= 600
    assert len(domains) >= 18
    registers = {"support", "product", "review", "legal", "medical", "api", "chat", "headline", "search"}
    every = Counter(group.id.rpartition("-")[0] for group in whole())
    assert min(every[name] for name in registers - {"headline"}) >= 50
    assert sum(every[name] for name in registers) >= 800


def test_texts_have_what_users_texts_have():
    texts = [g.source for g in whole()]
    for what in ("http", '"', "é", "_", ". ", "%", "€", "$", "`"):
        assert sum(what in text for text in texts) >= 5, what


def test_no_skeleton_has_more_than_a_few_groups_of_the_base():
    assert max(Counter(group.cluster for group in base()).values()) <= 8


@pytest.mark.parametrize("name", BALANCED)
def test_contrasts_are_written_in_many_frames_and_constructions(name):
    frames = Counter({c.group: c.cluster for c in contrasts()[name]}.values())
    assert frames.total() >= 240
    assert len(frames) >= 60
    assert max(frames.values()) <= 8
    assert len({c.construction for c in contrasts()[name]}) >= 8
    assert all(c.construction for c in contrasts()[name])
    parts = {c.cluster: c.split for c in contrasts()[name]}
    assert all(c.split == parts[c.cluster] for c in contrasts()[name])


@pytest.mark.parametrize("name", MEASURED)
@pytest.mark.parametrize("scorer", SHARED)
def test_the_surface_wins_about_half_of_the_contrasts(name, scorer):
    assert 0.44 <= check_probes.won(contrasts()[name], scorer) <= 0.56
    found = check_probes.differences(contrasts()[name], scorer)
    assert min((found > 0).mean(), (found < 0).mean()) > 0.1


@pytest.mark.parametrize("name", BALANCED)
def test_no_fixed_rival_tells_contrasts_that_were_written_in_constructions(name):
    assert check_probes.telling(contrasts()[name]) == {}


def written(tmp_path, *lines):
    """The contrasts of groups of roles that are written in these lines."""
    path, base, out = (tmp_path / name for name in ("role_reversal_a.txt", "base.jsonl", "out.jsonl"))
    path.write_text("\n".join(f"news | call | cleft # {line}" for line in lines), "utf-8")
    base.touch()
    assert build_contrasts.main([str(path), "--base", str(base), "--out", str(out)]) == 0
    return [c for c in check_probes.contrasts(load(f"probes:{out}").groups) if c.phenomenon == "role_reversal"]


def test_sentences_that_look_alike_and_say_different_things_balance_every_rival(tmp_path):
    some = written(
        tmp_path,
        "[Ann called Bob|it was Ann who called Bob|Ann was called by Bob|it was Bob who called Ann|Eve left].",
        "[Cleo met Dan|it was Cleo who met Dan|Cleo was met by Dan|it was Dan who met Cleo|Eve met Finn].",
    )
    assert {c.construction for c in some} == {"cleft"}
    assert check_probes.telling(some) == {}


def test_rivals_tell_sentences_that_their_rewording_looks_like(tmp_path):
    """In both directions the cleft ends as the sentence does: what goes by the end is right twice, and more are."""
    plain = "[Ann called Bob|it was Ann who called Bob|Bob called Ann|it was Bob who called Ann|Eve left]."
    (first, second) = some = written(tmp_path, plain)
    assert first.group == second.group
    found = check_probes.telling(some)
    assert found["suffix"] == check_probes.Outcome(wins=2, losses=0, both=1.0, neither=0.0)
    assert {"suffix", "last-change", "suffix-2-prefix", "bigrams", "edit-distance"} <= found.keys()
    assert not {"polarity", "parity", "jaccard", "tf-idf"} & found.keys()  # the words are the same


def test_a_rival_that_wins_here_what_it_loses_there_is_found(tmp_path):
    """It wins as often as it loses, but by whole groups: so it is right in both directions more often than guessing."""
    some = [
        check_probes.Contrast("x", str(i // 2), "c", "gate", "a b", *texts, "cleft")
        for i, texts in enumerate([("a c", "c b"), ("a d", "d b"), ("e b", "a e"), ("f b", "a f")])
    ]
    assert check_probes.telling(some)["prefix"] == check_probes.Outcome(wins=2, losses=2, both=0.5, neither=0.5)


@pytest.mark.parametrize("name", LARGE)
def test_a_gate_has_items_and_clusters_enough_of_the_large_phenomena(name):
    gate = [c for c in contrasts()[name] if c.split == "gate"]
    assert len(gate) >= 800
    assert len({c.cluster for c in gate}) >= 500


@pytest.mark.parametrize("name", check_probes.NAMES)
def test_the_two_variants_alone_do_not_tell_which_is_kept(name):
    some = contrasts()[name]
    right = check_probes.right_by_variants(some, characters=False)
    assert check_probes.upper(right, [c.group for c in some]) < 0.65


def test_a_sixth_is_for_development():
    share = sum(group.split == "dev" for group in whole()) / len(whole())
    assert abs(share - 1 / 6) < 0.03


def test_the_quick_part_is_small_and_has_every_phenomenon():
    quick = load("probes", quick=True)
    marked = [g for g in quick.groups if not g.side]
    assert len(quick.groups) < len(load("probes").groups)
    assert {name for name in check_probes.NAMES if groups_of(name) & {g.id for g in marked}} == set(check_probes.NAMES)
    assert 30 <= sum(not g.is_contrast for g in marked) <= 60


def test_rewrites_share_few_words_and_hard_negatives_many():
    rewrite = [(g.source, g.variant("rewrite").text) for g in base()]
    hard = [(g.source, g.variant("hard_negative").text) for g in base()]
    assert jaccard(*zip(*rewrite, strict=True)).max() <= 0.36
    assert jaccard(*zip(*hard, strict=True)).min() >= 0.59


def test_passages_hold_their_sentence_in_its_place():
    passages = [group for group in base() if group.passage]
    assert len(passages) >= 150
    for group in passages:
        for sentences in (3, 8):
            text = group.passage.around(group.source, sentences=sentences)
            assert group.source in text
            assert len(group.passage.context) == 7


def test_the_classifier_finds_what_gives_itself_away():
    """The test above can fail: one word that only kept texts have is found."""
    told = [
        check_probes.Contrast("x", str(i), str(i), "gate", f"s {i}", f"word{i} indeed", f"word{i} other")
        for i in range(60)
    ]
    assert check_probes.right_by_variants(told, characters=False).mean() > 0.95
    none = [check_probes.Contrast("x", str(i), str(i), "gate", f"s {i}", f"a{i}", f"b{i}") for i in range(60)]
    assert np.mean(check_probes.right_by_variants(none, characters=False)) == 0.5
