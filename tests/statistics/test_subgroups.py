"""Cells that fail are found on half of the clusters, and only what the other half confirms is reported."""

from dataclasses import replace

import numpy as np
import pytest

from encheck.statistics.subgroups import CLUSTERS, FeatureTable, find_subgroups, permutation_p

QUICK = {"permutations": 499}


def table(rng, *, planted=0.0, surface=0.0, clusters=240):
    """Items of clusters of 1 to 4; f0 goes with what is known, f1 is one value a cluster and may matter."""
    of = np.repeat(np.arange(clusters), rng.choice([1, 2, 4], clusters))
    known = rng.normal(size=(len(of), 2))
    values = [known[:, 0] > 0, rng.integers(3, size=clusters)[of], rng.integers(3, size=len(of))]
    rate = np.clip(rng.beta(2, 4, clusters)[of] + surface * known[:, 0], 0, 1)
    rate = rate + planted * (values[1] == 0) * (1 - rate)
    columns = {f"f{k}": [f"v{int(value)}" for value in own] for k, own in enumerate(values)}
    names, texts = tuple(f"c{i}" for i in of), tuple(map(str, range(len(of))))
    return FeatureTable("t", "topic", rng.random(len(of)) < rate, names, texts, columns, known)


def confirmed(seed, **kind):
    found = find_subgroups([table(np.random.default_rng(seed), **kind)], seed=seed, **QUICK)
    return [cell for cell in found if cell.is_confirmed]


@pytest.mark.parametrize("surface", [0.0, 0.2])
def test_chance_and_the_surface_alone_are_seldom_confirmed(surface):
    assert sum(bool(confirmed(seed, surface=surface)) for seed in range(10)) <= 2  # P(3 or more) is 1% at a level of 5%


def test_a_planted_pattern_is_found_with_figures_of_both_halves():
    found = [confirmed(seed, planted=0.6) for seed in range(4)]
    cells = [cell for cells in found for cell in cells[:1]]
    assert len(cells) == 4
    for cell in cells:
        assert ("f1", "v0") in cell.values
        for share in (cell.search, cell.confirmation):
            assert share.inside > share.outside + 0.2
            assert share.clusters >= CLUSTERS


def test_the_halves_share_no_cluster_and_a_seed_gives_the_same_search():
    made = table(np.random.default_rng(1), planted=0.6)
    cells, again = (find_subgroups([made, replace(made, name="u")], seed=5, **QUICK) for _ in range(2))
    assert [(c.values, c.p) for c in cells] == [(c.values, c.p) for c in again]
    held = {name for name, own in zip(made.clusters, cells[0].confirming, strict=True) if own}
    assert not held & {name for name, own in zip(made.clusters, ~cells[0].confirming, strict=True) if own}


def test_a_cell_that_says_the_same_again_is_nominated_once():
    made = table(np.random.default_rng(1), planted=0.6)
    twice = replace(made, features={**made.features, "copy": made.features["f1"]})
    cells = find_subgroups([twice, replace(twice, name="u")], seed=0, **QUICK)
    of_the_planted = [c for c in cells if {("f1", "v0"), ("copy", "v0")} & set(c.values)]
    assert len(of_the_planted) == 1


def test_a_pair_of_values_holds_for_fewer_items_than_each():
    made = table(np.random.default_rng(1), planted=0.6)
    twice = replace(made, features={**made.features, "copy": made.features["f1"]})
    found = find_subgroups([twice], seed=0, **QUICK)
    assert found
    assert all({name for name, _ in cell.values} != {"f1", "copy"} for cell in found)


@pytest.mark.parametrize("rate", [0, 1])
def test_a_check_that_always_or_never_fails_has_no_cell(rate):
    made = table(np.random.default_rng(0))
    assert find_subgroups([replace(made, failed=np.full(len(made.failed), bool(rate)))], seed=0, **QUICK) == []


def test_no_table_has_no_cell():
    assert find_subgroups([], seed=0) == []


def test_items_of_a_cluster_that_fail_together_count_as_one():
    """Ten clusters of twenty: as single items their difference would be beyond doubt."""
    cell, outcomes = (
        np.repeat(np.array(one, float), 20) for one in ([1] * 5 + [0] * 5, [1, 1, 1, 0, 0, 1, 0, 0, 0, 0])
    )
    names = [f"c{i // 20}" for i in range(200)]
    rng = np.random.default_rng(0)
    assert permutation_p(cell, outcomes, names, permutations=999, rng=rng) > 0.1
    assert permutation_p(cell, outcomes, [str(i) for i in range(200)], permutations=999, rng=rng) < 0.01
