"""The contamination row: its figure and interval on items made by hand, and where there is none."""

import numpy as np
import pytest

from encheck.gating.contamination import (
    MORE_ON_FRESH,
    MORE_ON_PUBLIC,
    contamination_text,
    estimate_contamination,
    estimate_contaminations,
    pair_probe_data,
)
from encheck.gating.pairing import ModelScores
from encheck.scoring.frame import CaseScores
from encheck.scoring.scores import Scale
from encheck.types import Declaration

DATA = ("probes", "probes-fresh=1")
EDITIONS = {"probes": "3.0.0", "probes-fresh=1": ""}
NAMES = ("old", "new")
SINGLE = Declaration("number", "meaning changed", metric="adjusted_rate_calibrated", gates="margin_rate")
CROSSED = Declaration("number", "meaning changed", metric="both_directions_calibrated", gates="directions_mean")


def table(data, wins, *, check="a_is_b", declared=SINGLE, clusters=None, split="gate", crossed=False):
    """A case whose items are won (1), tied (1/2) or lost (0)."""
    wins = np.asarray(wins, float)
    count = len(wins)
    ids = [f"{data}/{i // 2:04x}/x/1/w/0/{i % 2 + 1}" if crossed else f"{data}/{i:04x}" for i in range(count)]
    names = [f"c{i // 2}" for i in range(count)] if clusters is None else [f"c{c}" for c in clusters]
    splits = (split,) * count if isinstance(split, str) else tuple(split)
    return CaseScores(
        f"{check}/{data}/1", check, "number", data, "1", "triplet", tuple(ids), tuple(map(str, range(count))),
        tuple(names), splits, (None,) * count, 0.5 + (wins - 0.5) / 10, np.full(count, 0.5), declared,
    )  # fmt: skip


def side(*tables):
    return ModelScores({t.case: t for t in tables}, dict.fromkeys(DATA, Scale(0.0, 1.0)))


def share(won, of=60):
    """So many of the items are won, spread over the clusters."""
    return (np.arange(of) * 7 % of < won).astype(float)


def rows(older, candidate, editions=EDITIONS):
    return list(estimate_contaminations(older, candidate, editions, names=NAMES))


def test_the_figure_is_the_gain_on_written_probes_less_the_gain_on_fresh_ones():
    """Checks weigh alike whatever their size, and a crossed one counts the mean of its directions."""
    both = {"check": "both_ways", "declared": CROSSED, "crossed": True}
    older = side(
        table(DATA[0], share(30)), table(DATA[0], [1, 0] * 25, **both),
        table(DATA[1], share(30)), table(DATA[1], [1, 0] * 30, **both),
    )  # fmt: skip
    new = side(
        table(DATA[0], share(54)), table(DATA[0], [1, 1] * 20 + [1, 0] * 5, **both),
        table(DATA[1], share(36)), table(DATA[1], [1, 0.5] * 30, **both),
    )  # fmt: skip
    (found,) = rows(older, new)
    assert found.written_gain == pytest.approx((24 / 60 + 0.4) / 2)
    assert found.fresh_gain == pytest.approx((6 / 60 + 0.25) / 2)
    assert found.value == pytest.approx(0.4 - 0.175)
    assert (found.checks, found.candidate, found.older) == (2, "new", "old")
    assert (found.written_clusters, found.fresh_clusters) == (30, 30)
    assert found.low < found.value < found.high


def test_the_interval_is_that_of_two_independent_bootstraps_over_clusters():
    """Items of a cluster agree, and the same draws for both data would leave no width."""
    clusters = np.repeat(np.arange(40), 3)
    moved = np.repeat(np.random.default_rng(3).integers(-1, 2, 40), 3) / 2
    older = side(*(table(name, np.full(120, 0.5), clusters=clusters) for name in DATA))
    new = side(*(table(name, 0.5 + moved, clusters=clusters) for name in DATA))
    found = estimate_contamination(older, new, data=DATA, names=NAMES)
    assert found.value == 0
    assert (found.high - found.low) / 2 == pytest.approx(1.96 * np.sqrt(2 * moved.var() / 40), rel=0.05)


def test_the_interval_holds_the_truth_about_as_often_as_it_says():
    """Gains of 0.3 and 0.1 that come cluster by cluster, in 200 draws of 60 clusters and 45 frames."""
    rng = np.random.default_rng(0)
    drawn = [_drawn(rng) for _ in range(200)]
    assert np.mean([row.value for row in drawn]) == pytest.approx(0.2, abs=0.02)
    assert 0.90 <= np.mean([row.low <= 0.2 <= row.high for row in drawn]) <= 0.98


def _drawn(rng):
    """Half of the clusters gain; of the others, what is lost stays lost."""
    older, new = [], []
    for name, count, gain in ((DATA[0], 60, 0.3), (DATA[1], 45, 0.1)):
        of = np.repeat(np.arange(count), 4)
        is_won = rng.random(len(of)) < rng.beta(2, 3, count)[of]  # 0.4 on average
        learnt = rng.choice([0, 2 * gain / 0.6], count)[of]
        older.append(table(name, is_won, clusters=of))
        new.append(table(name, is_won | (rng.random(len(of)) < learnt), clusters=of))
    return estimate_contamination(side(*older), side(*new), data=DATA, names=NAMES)


def test_only_the_part_that_gates_counts():
    """A model may be chosen on the dev part."""
    splits = ["dev", "gate"] * 30
    older = side(table(DATA[0], np.zeros(60), split=splits), table(DATA[1], np.zeros(60)))
    new = side(table(DATA[0], np.arange(60) % 2 == 0, split=splits), table(DATA[1], np.zeros(60)))
    assert [row.value for row in rows(older, new)] == [0.0]


def test_a_check_without_a_rate_or_on_one_data_set_alone_does_not_count():
    means = Declaration("health", "health", metric="room", gates="room")
    same, gained = [table(name, share(30)) for name in DATA], [table(name, share(36)) for name in DATA]
    older = side(
        *same, table(DATA[0], share(0), check="alone"), *(table(n, share(9), check="m", declared=means) for n in DATA)
    )
    new = side(
        *gained,
        table(DATA[0], share(60), check="alone"),
        *(table(n, share(9), check="m", declared=means) for n in DATA),
    )
    (found,) = rows(older, new)
    assert (found.checks, found.value) == (1, 0.0)


def test_items_that_only_one_model_scored_do_not_count():
    older = side(table(DATA[0], share(30)), table(DATA[1], share(30)))
    new = side(table(DATA[0], np.concatenate([share(30), np.zeros(40)])), table(DATA[1], share(30)))
    assert [row.value for row in rows(older, new)] == [0.0]


@pytest.mark.parametrize(
    ("data", "editions"),
    [
        (DATA[:1], {"probes": "3.0.0"}),
        (DATA[1:], {"probes-fresh=1": ""}),
        (DATA, {"probes": "", "probes-fresh=1": ""}),  # a file of one's own, which is not public
    ],
)
def test_there_is_no_row_without_both_sorts_of_probes(data, editions):
    one = side(*(table(name, share(30)) for name in data))
    assert rows(one, one, editions) == []


def test_there_is_no_row_where_the_models_share_no_check():
    older, new = (side(*(table(name, share(30), check=check) for name in DATA)) for check in ("a", "b"))
    assert rows(older, new) == []


def test_each_seed_of_fresh_probes_has_its_row():
    assert pair_probe_data({"probes-fresh=1": "", "probes": "3.0.0", "mrpc": "", "probes-fresh=2": ""}) == [
        ("probes", "probes-fresh=1"), ("probes", "probes-fresh=2"),
    ]  # fmt: skip


def test_the_row_says_what_it_means():
    assert contamination_text(0.123, 0.08, 0.165, is_small=False) == f"+12.3 points [+8.0, +16.5]: {MORE_ON_PUBLIC}"
    assert contamination_text(0.004, -0.012, 0.02, is_small=False) == "none seen: +0.4 points [-1.2, +2.0]"
    said = contamination_text(-0.1, -0.2, -0.005, is_small=False)
    assert said == f"none seen: -10.0 points [-20.0, -0.5]: {MORE_ON_FRESH}"
    assert (
        contamination_text(0.123, 0.08, 0.165, is_small=True) == "too few clusters to tell: +12.3 points [+8.0, +16.5]"
    )
    assert "too few clusters to tell" in contamination_text(0.1, np.nan, np.nan, is_small=True)
    assert contamination_text(0.01, 0.0004, 0.02, is_small=False) == "none seen: +1.0 points [0.0, +2.0]".replace(
        "[0.0", "[+0.0"
    )
