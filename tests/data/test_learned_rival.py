"""A rival that learns is as strong as a reference, finds what is planted, and gets of the probes what is recorded."""

import json
import re
import sys
from dataclasses import asdict
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from encheck.datasets.load import load
from encheck.datasets.probes import embedded

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "lab" / "recipes"))
import check_probes
import learned_rival

REFERENCE = {"antonym": 0.618, "number": 0.564, "entity": 0.608, "synonym / control": 0.631}  # another learner's
RECORDED = json.loads(check_probes.LEARNED.read_text("utf-8"))
KNOWN = RECORDED["figures"]
IN_CONSTRUCTIONS = [name for name, one in KNOWN.items() if one["constructions"]]
LARGE = ("antonym", "number", "synonym / control")  # whose features take seconds
SLACK = 0.03
DECIDING = 240  # groups


@cache
def contrasts():
    return check_probes.of_phenomena(list(check_probes.contrasts(load("probes").groups)), check_probes.SYNONYM)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.long if name in LARGE else ()) for name in REFERENCE]
)
def test_it_is_as_strong_as_the_reference(name):
    some = contrasts()[name]
    apart = learned_rival.differences(*check_probes.texts_of(some))
    assert learned_rival.right(apart, [c.cluster for c in some]).mean() >= REFERENCE[name] - SLACK


@pytest.mark.long
@pytest.mark.parametrize("name", IN_CONSTRUCTIONS)
def test_what_it_learns_of_one_construction_that_tells_another_is_what_is_recorded(name):
    found, wanted = check_probes.learned(contrasts()[name], refits=200, by="construction"), KNOWN[name]["constructions"]
    assert asdict(found) == pytest.approx(wanted, abs=0.002)


def test_what_is_recorded_is_of_the_probes_that_ship_and_in_enough_groups():
    assert (RECORDED["version"], RECORDED["fingerprint"]) == (embedded().version, embedded().fingerprint)
    assert {name: one["groups"] for name, one in KNOWN.items()} == {
        name: len({c.group for c in some}) for name, some in contrasts().items()
    }
    assert min(KNOWN[name]["groups"] for name in IN_CONSTRUCTIONS) >= DECIDING
    assert len(IN_CONSTRUCTIONS) == 7


def test_the_datasheet_has_its_figures_and_marks_those_that_are_more_than_luck():
    sheet = (Path(__file__).resolve().parents[2] / "docs/method/probes.md").read_text("utf-8")
    rows = dict(re.findall(r"^\| (\w+) \| \d+ / \d+ \| [^|]+ \| (.+) \|$", sheet, re.M))
    for name in check_probes.NAMES:
        one = check_probes.LearnedShare(**(KNOWN[name]["constructions"] or KNOWN[name]["clusters"]))
        mark = "**" if one.share > one.by_chance else ""
        assert rows[name] == f"{one.both:.2f} | {mark}{one.share:.3f}{mark}"


def test_no_phenomenon_with_constructions_is_told_by_a_rule_of_other_constructions():
    won = [check_probes.LearnedShare(**KNOWN[name]["constructions"]) for name in IN_CONSTRUCTIONS]
    assert [one for one in won if one.share > one.by_chance or one.both > 0.25] == []


def test_exchanged_texts_have_the_opposite_features():
    source, near, far = (
        ["He met Ann.", "Two left."],
        ["He has met Ann.", "2 left."],
        ["Ann met him, not he.", "None left."],
    )
    for apart in (learned_rival.differences, learned_rival.products):
        assert (apart(source, near, far) == -apart(source, far, near)).all()
        assert apart(source, near, far).any()


def planted(*, seed=0, clusters=60):
    """Four features of two contrasts a cluster, the first of which is larger for the kept text in four of five."""
    rng = np.random.default_rng(seed)
    apart = rng.normal(size=(2 * clusters, 4))
    apart[:, 0] = np.abs(apart[:, 0]) * np.where(rng.random(2 * clusters) < 0.8, 1, -1)
    return apart, np.repeat([str(i) for i in range(clusters)], 2)


def test_it_finds_what_is_planted_and_its_null_does_not():
    apart, clusters = planted()
    assert learned_rival.right(apart, clusters).mean() > 0.75
    chance = learned_rival.null(apart, clusters, clusters, refits=60)
    assert chance.mean() == pytest.approx(0.5, abs=0.03)
    assert np.quantile(chance, 0.95) < 0.7
    assert (learned_rival.right(np.zeros((20, 3)), [str(i) for i in range(20)]) == 0.5).all()


def test_a_rule_of_one_construction_is_wrong_in_another_that_has_it_the_other_way_round():
    apart, clusters = planted()
    turned = np.vstack([apart, apart * [-1, 1, 1, 1]])
    constructions = np.repeat(["active", "passive"], len(apart))
    assert learned_rival.right(turned, constructions).mean() < 0.4
    assert learned_rival.right(turned, np.tile(clusters, 2)).mean() == pytest.approx(0.5, abs=0.1)
