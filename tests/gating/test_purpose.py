"""What a gate decides where another model replaces one: components, what is watched, and what only stands beside."""

import numpy as np
import pytest

from encheck.errors import UsageError
from encheck.gating.purpose import Purpose, PurposeFigures, decide_for_purpose, has_enough_items
from encheck.gating.types import ChangedShare, PairedRow, UnjudgedSearch

SEARCH = Purpose("search")


def paired(name, *, lost=0, won=0, n=300, right=0.7, budget="behaviour", clusters=None):
    """Items of which so many are lost and won, the others unchanged."""
    before = np.zeros(n)
    before[: round(right * n)] = 1
    after = before.copy()
    after[:lost] = 0
    after[n - won :] = 1
    things = np.arange(n) if clusters is None else np.arange(n) % clusters
    endpoint = "recall@1" if budget == "primary" else ""
    return PairedRow(name, "retrieval", "rate", before, after, things, budget=budget, endpoint=endpoint, chance=0.5)


def search(**how):
    return paired("retrieval/mine/1", budget="primary", **how)


def decided(purpose=SEARCH, *, endpoint=None, behaviours=(), slices=(), rows=(), **how):
    found = PurposeFigures(
        [search(won=9) if endpoint is None else endpoint], slices, {b.name: b for b in behaviours}, rows
    )
    return decide_for_purpose(purpose, found, **how)


@pytest.mark.parametrize(
    ("endpoint", "outcome"),
    [
        (search(won=35), "pass"),  # better
        (search(lost=3, won=3, n=1_000), "pass"),  # as good
        (search(lost=3, won=3, n=40), "inconclusive"),  # a loss of 4 points is not ruled out
        (search(lost=30, won=3), "block"),
        (search(lost=7, n=1_000), "pass"),  # certain, and less than half the margin
        (search(lost=30, won=10, n=1_000), "block"),  # certain, and half the margin
        (search(lost=19, n=19), "inconclusive"),  # fewer than 20 queries
        (search(lost=200, clusters=12), "inconclusive"),  # fewer than 15 degrees of freedom
    ],
)
def test_the_search_decides(endpoint, outcome):
    assert decided(endpoint=endpoint).outcome == outcome


def test_another_model_is_judged_by_no_other_behaviour():
    lost = [paired("jumble/probes", lost=150), paired("health/probes/1/room", lost=100)]
    found = decided(rows=lost)
    assert (found.outcome, found.yours) == ("pass", ())
    assert [row.outcome for row in found.rows] == ["pass", "inconclusive", "inconclusive"]
    assert not any(row.evidence for row in found.rows[1:])


def test_a_watched_behaviour_that_falls_by_much_is_the_users_decision():
    fallen = [paired("negation", lost=60), paired("number", lost=20), paired("antonym", lost=90)]
    assert decided(behaviours=[paired("negation", n=60, lost=14, won=7)]).yours == ()  # not certain
    found = decided(behaviours=fallen)
    assert (found.outcome, found.exit_code, found.yours) == ("inconclusive", 10, ("negation",))
    assert "70.0% to 50.0%, a certain loss of 20.0 points" in found.reasons[0]
    accepted = decided(Purpose("search", accept=("negation",)), behaviours=fallen)
    assert (accepted.outcome, accepted.yours) == ("pass", ())
    worse = decided(endpoint=search(lost=60), behaviours=fallen)
    assert (worse.outcome, worse.yours) == ("block", ())


def test_a_slice_of_many_queries_is_watched():
    slices = [paired("retrieval/mine/1/language=de", lost=30, n=60, budget="slices")]
    assert decided(slices=slices).yours == ("retrieval/mine/1/language=de",)
    assert decided(slices=[paired("retrieval/mine/1/language=de", lost=25, n=40, budget="slices")]).yours == ()


def test_a_protected_behaviour_decides_with_a_margin_of_its_own():
    protect = Purpose("search", protect=("antonym",))
    outcomes = [decided(protect, behaviours=[paired("antonym", lost=lost, n=900)]).outcome for lost in (0, 27, 45, 150)]
    assert outcomes == ["pass", "pass", "block", "block"]


def test_each_of_several_components_has_its_share_of_the_level():
    """A loss that blocks alone is open where 25 components could have lost by luck."""
    names = [f"p{i}" for i in range(24)]
    kept = [paired(name, n=900) for name in names]
    lost = search(lost=24, won=9, n=300)
    assert decided(endpoint=lost).outcome == "block"
    assert decided(Purpose("search", protect=tuple(names)), endpoint=lost, behaviours=kept).outcome == "inconclusive"


def test_the_best_of_many_candidates_has_to_show_more():
    close = search(lost=12, won=12, n=400)
    assert decided(endpoint=close).outcome == "pass"
    assert decided(Purpose("search", tried=50), endpoint=close).outcome == "inconclusive"


def test_a_broken_contract_blocks():
    assert decided(contracts=["the model cannot encode"]).outcome == "block"


SIMILARITY = Purpose("similarity")


def graded(change, *, n=400, error=0.005, clusters=None):
    """Pseudo-values of graded pairs whose correlation changed by so much, with about this standard error."""
    rng = np.random.default_rng(0)
    noise = rng.normal(size=n)
    moves = error * n**0.5 * (noise - noise.mean()) / noise.std()
    things = np.arange(n) if clusters is None else np.arange(n) % clusters
    before = np.full(n, 0.82)
    return PairedRow("sts/mine/1", "meaning kept", "mean", before, before + change + moves, things, budget="primary",
                  endpoint="Spearman")  # fmt: skip


@pytest.mark.parametrize(
    ("endpoint", "outcome"),
    [
        (graded(0.02), "pass"),
        (graded(0.0), "pass"),
        (graded(-0.009, error=0.004), "pass"),  # certain, and less than half the margin
        (graded(-0.02), "block"),
        (graded(-0.02, error=0.02), "inconclusive"),
        (graded(0.0, error=0.02), "inconclusive"),
        (graded(-0.3, n=19), "inconclusive"),  # fewer than 20 pairs
        (graded(-0.3, clusters=12), "inconclusive"),  # fewer than 15 degrees of freedom
    ],
)
def test_graded_pairs_decide_with_a_margin_of_two_points(endpoint, outcome):
    assert decided(SIMILARITY, endpoint=endpoint).outcome == outcome


def test_an_open_gate_of_graded_pairs_says_how_many_would_decide():
    found = decided(SIMILARITY, endpoint=graded(0.0, error=0.02))
    assert "about 3,162 graded pairs like these would decide" in found.reasons[0]  # 400 times 2.8 squared, nearly
    assert found.rows[0].remedy is None


def test_each_purpose_has_its_margin_unless_another_is_given():
    assert [Purpose(name).margin for name in ("search", "pairs", "similarity")] == [0.04, 0.04, 0.02]
    assert Purpose("similarity", margin=0.05).margin == 0.05


def test_a_watched_behaviour_is_watched_beside_graded_pairs():
    assert decided(SIMILARITY, endpoint=graded(0.02), behaviours=[paired("negation", lost=60)]).yours == ("negation",)


def test_few_english_texts_leave_nothing_to_protect():
    with pytest.raises(UsageError, match="--protect negation cannot be measured: of 240 texts, 180 Finnish, 60 Engl"):
        decided(Purpose("search", protect=("negation",)), languages={"Finnish": 180, "English": 60})


def moved(changed, n):
    share = ChangedShare("recall@1", "the first answer changes", changed / n, 0.0, (changed + 3) / n, changed, float(n))
    return UnjudgedSearch("retrieval/log/1", n, n, n, 0.04, (share,))


def test_a_log_that_nobody_judged_passes_where_few_answers_change():
    found = PurposeFigures([], [], {}, [])
    assert decide_for_purpose(SEARCH, found, moved=[moved(2, 300)]).outcome == "pass"
    assert decide_for_purpose(SEARCH, found, moved=[moved(30, 300)]).outcome == "inconclusive"


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"name": "serch"}, "unknown --for 'serch'; did you mean 'search'"),
        ({"name": "search", "margin": 0.2}, "--margin is 20 points, but should be between 2 and 10"),
        ({"name": "change", "protect": ("number",)}, "--protect, --accept and --tried need another model"),
        ({"name": "search", "tried": 0}, "--tried=0"),
    ],
)
def test_a_purpose_that_cannot_be_is_refused(how, said):
    with pytest.raises(UsageError, match=said):
        Purpose(**how)


def test_what_nobody_measured_is_refused():
    with pytest.raises(UsageError, match=r"unknown --protect 'ngation'; did you mean 'negation'"):
        decided(Purpose("search", protect=("ngation",)), behaviours=[paired("negation")])
    with pytest.raises(UsageError, match="--for pairs needs data that decide: pairs labelled 0 and 1"):
        decide_for_purpose(Purpose("pairs"), PurposeFigures([], [], {}, []))


@pytest.mark.parametrize(("n", "clusters", "enough"), [(20, 16, True), (19, 16, False), (20, 15, False)])
def test_a_component_needs_twenty_items_in_sixteen_clusters(n, clusters, enough):
    assert has_enough_items(paired("order/mine/1", n=n, clusters=clusters)) is enough
