"""Seed replicates: how far luck goes, and what is no replicate."""

from dataclasses import replace

import numpy as np
import pytest
from gate_fakes import CASE, scores

from encheck.errors import BaselineError
from encheck.gating.pairing import ModelScores
from encheck.gating.replicates import (
    are_scores_nearly_equal,
    check_replicates,
    estimate_seed_noise,
    refuse_few_replicates,
    refuse_other_dimension,
)
from encheck.scoring.frame import CaseScores
from encheck.scoring.scores import Scale

PROPERTIES = ("antonym", "negation", "number", "temporal", "synonym", "entity")


def table(near, far, *, tested="antonym", check=CASE):
    n = len(near)
    ids = tuple(f"i{i}" for i in range(n))
    return CaseScores(
        f"{check}/d/1", check, tested, "d", "1", "triplet", ids, ids, ids, ("",) * n, (None,) * n,
        np.asarray(near, float), np.asarray(far, float),
    )  # fmt: skip


def side(near, far):
    return ModelScores({f"{CASE}/d/1": table(near, far)}, {"d": Scale(0, 1)})


def checkpoint(seed, *, loss=0.0, luck=0.01, n=1_000, wins=0.8):
    """One that wins so many of each property, by luck more or fewer, and loses so many on the mean."""
    rng = np.random.default_rng(seed)
    tables = {}
    for i, name in enumerate(PROPERTIES):
        ease = np.random.default_rng(i).permutation(n) + rng.normal(0, 0.01 * n, n)
        won = ease < n * (wins - loss + luck * rng.normal())
        near = np.where(won, 0.8, 0.4) + rng.uniform(-0.1, 0.1, n)
        tables[f"{name}/d/1"] = table(near, np.full(n, 0.6), tested=name, check=name)
    return ModelScores(tables, {"d": Scale(0, 1)})


def test_seed_noise_is_what_replicates_differ_beyond_the_sampling_of_items():
    rng = np.random.default_rng(0)
    still = [side(*scores(2_000)) for _ in range(4)]
    moved = [side(*scores(2_000, lost=rng.permutation(1_800)[:count])) for count in (0, 60, 120, 60)]
    assert estimate_seed_noise(still).pooled == 0
    expected = np.sqrt((4 * 0.03**2 + 0.06**2) / 6) / 0.02
    assert estimate_seed_noise(moved).pooled == pytest.approx(expected, rel=0.1)
    assert estimate_seed_noise(moved).replicates == 3


def test_the_seed_noise_of_a_row_is_drawn_towards_that_of_all_and_widens_by_no_more_than_its_own():
    steady = table(*scores(2_000), tested="synonym", check="steady")
    moved = [
        ModelScores({f"{CASE}/d/1": table(*scores(2_000, lost=range(lost))), "steady/d/1": steady}, {"d": Scale(0, 1)})
        for lost in (0, 120, 120, 120)
    ]
    noise = estimate_seed_noise(moved)
    own = (0.06 / 0.02) ** 2 / 2  # three pairs of six differ
    assert noise.pooled**2 == pytest.approx(own / 2, rel=0.05)
    assert noise.noise_of_row("antonym/d/1") ** 2 == pytest.approx((4 * own / 2 + 3 * own) / 7, rel=0.05)
    assert noise.noise_of_row("synonym/d/1") ** 2 == pytest.approx(4 * own / 2 / 7, rel=0.05)
    assert noise.widening_noise("antonym/d/1") == noise.noise_of_row("antonym/d/1")
    assert noise.widening_noise("synonym/d/1") == 0
    unknown = "a row that no seed replicate measured"
    assert (noise.noise_of_row(unknown), noise.widening_noise(unknown)) == (noise.pooled, 0)


@pytest.mark.parametrize("count", [1, 2])
def test_fewer_than_three_replicates_are_refused_with_the_reason(count):
    with pytest.raises(
        BaselineError, match=rf"names {count} seed replicates?, but it takes at least 3: with fewer, one"
    ):
        estimate_seed_noise([checkpoint(seed) for seed in range(count + 1)])
    refuse_few_replicates(3)


def test_replicates_whose_rows_go_up_and_down_are_kept_in_the_baselines_order():
    found = checkpoint(1)
    turned = ModelScores(
        {name: t.select(np.arange(len(t.items))[::-1]) for name, t in found.tables.items()}, found.scales
    )
    kept = check_replicates(checkpoint(0), {"a": turned, "b": checkpoint(2), "c": checkpoint(3)})
    assert list(kept) == ["a", "b", "c"]
    assert all(kept["a"].tables[name].items == t.items for name, t in found.tables.items())
    assert all((kept["a"].tables[name].near == t.near).all() for name, t in found.tables.items())


def test_one_that_loses_in_all_capabilities_is_damaged_and_no_replicate():
    others = {"a": checkpoint(1), "b": checkpoint(2)}
    with pytest.raises(
        BaselineError, match=r"--twin=c: the gate rows lose 2\.\d\d deltas on average .* another seed moves"
    ):
        check_replicates(checkpoint(0), others | {"c": checkpoint(3, loss=0.05)})


def test_three_that_each_lose_a_little_are_none_together():
    """Of each alone the loss is too little to tell from luck."""
    start, three = checkpoint(0, luck=0), {name: checkpoint(21 + i, loss=0.016) for i, name in enumerate("abc")}
    with pytest.raises(BaselineError, match="all seed replicates together: the gate rows lose"):
        check_replicates(start, three)


def test_luck_however_large_is_no_drift():
    for seed in range(0, 16, 4):
        start, *three = (checkpoint(seed + i, luck=0.03) for i in range(4))
        assert check_replicates(start, dict(zip("abc", three, strict=True)))


def test_a_row_at_chance_rises_with_damage_and_shows_no_direction():
    start, *three = (checkpoint(seed, wins=0.5, loss=0.05 * (seed == 3)) for seed in range(4))
    assert check_replicates(start, dict(zip("abc", three, strict=True)))


@pytest.mark.parametrize(("copy_of", "said"), [(0, "the baseline"), (1, "a")])
def test_a_copy_of_the_baseline_or_of_another_replicate_is_refused(copy_of, said):
    whole = checkpoint(copy_of)
    rounded = {name: replace(t, near=t.near.astype(np.float16).astype(float)) for name, t in whole.tables.items()}
    own = {"a": checkpoint(1), "b": replace(whole, tables=rounded), "c": checkpoint(3)}
    with pytest.raises(BaselineError, match=f"--twin=b gives the same scores as {said} up to rounding"):
        check_replicates(checkpoint(0), own)


def test_a_replicate_on_other_texts_is_refused():
    with pytest.raises(BaselineError, match="--twin=a was measured on other texts than the baseline, in antonym/d/1"):
        check_replicates(checkpoint(0), {"a": checkpoint(1, n=900), "b": checkpoint(2), "c": checkpoint(3)})


def test_a_replicate_of_another_dimension_is_refused():
    with pytest.raises(BaselineError, match="--twin=b gives vectors of 64 dimensions, but the baseline's have 384"):
        refuse_other_dimension(384, {"a": 384, "b": 64})
    refuse_other_dimension(None, {"a": 384})
    refuse_other_dimension(384, {"a": None})


@pytest.mark.parametrize(("scales", "moved", "copied"), [({}, 0.003, False), ({"d": Scale(0, 2)}, 0.003, True)])
def test_a_copy_is_one_in_units_of_identical_text_and_of_one_without_a_scale(scales, moved, copied):
    one, other = side([0.5] * 20, [0.1] * 20), side([0.5 + moved] * 20, [0.1 + moved] * 20)
    assert are_scores_nearly_equal(replace(one, scales=scales), other) == copied
