"""A threshold in use, and what a gate decides with the vectors of both models."""

import numpy as np
import pytest
from gate_fakes import CASE, columns, results, scores
from test_reindex import sample, turned, vectors

from encheck.gating.baseline import read, save, tables_of
from encheck.gating.scale_shift import ACCEPTED, threshold_shift
from encheck.gating.weighing import weigh


def test_a_threshold_in_use_is_mapped_to_one_that_accepts_as_many():
    before = np.random.default_rng(0).uniform(0, 1, 1_000)
    found = threshold_shift(before, before / 2, threshold=0.8, data="pairs")
    assert found.before == pytest.approx((before >= 0.8).mean())
    assert found.now == 0
    assert (before / 2 >= found.same).sum() == (before >= 0.8).sum()
    assert f"{found.same:.3g} accepts as many" in found.says


@pytest.mark.parametrize(("accepted", "says"), [(0, "0 accepted pairs are too few"), (29, "too few"), (1_000, "all")])
def test_too_few_accepted_pairs_name_no_threshold(accepted, says):
    before = np.arange(1_000)[::-1] / 1_000
    found = threshold_shift(before, before, threshold=(1_000 - accepted) / 1_000 if accepted else 2)
    assert found.accepted == accepted
    assert found.same is None
    assert says in found.says
    assert ACCEPTED == 30


HEALTH = {"family": "health", "property": "health", "gates": "room", "metric": "room"}


def weighed(tmp_path, *, old, new, threshold=None):
    """A run of pairs whose room shrinks, against a baseline, with these vectors."""
    near = np.random.default_rng(0).uniform(-0.1, 0.1, 400)
    said = results(tested="health") | {"claims": {CASE: HEALTH}}
    cases = [{f"{CASE}/m-d-1": {**columns(some, None, far_text=False), "kind": ["pair"] * 400}} for some in
             (near, near + 0.5)]  # fmt: skip
    save(tmp_path / "base", said, tables_of(said, cases[0], "m"), model="m", vectors=old)
    return weigh(read(tmp_path / "base"), said, cases[1], model="m", vectors=new, threshold=threshold)


def test_room_blocks_in_one_family_of_models_and_is_reported_of_another(tmp_path):
    kept = sample(vectors())
    same = weighed(tmp_path, old=kept, new=kept)
    assert (same.decision.outcome, same.reindex.related) == ("block", True)
    for new in (sample(vectors(d=32)), sample(turned(vectors()))):
        other = weighed(tmp_path, old=kept, new=new)
        assert (other.decision.outcome, other.decision.rows, other.reindex.needed) == ("inconclusive", (), True)
        (said,) = other.reported.values()
        assert "another family of models" in said


def test_without_vectors_it_cannot_be_told_and_room_blocks(tmp_path):
    for old, new in ((None, sample(vectors())), (sample(vectors()), None)):
        found = weighed(tmp_path, old=old, new=new)
        assert (found.decision.outcome, found.reindex.needed) == ("block", None)
        assert "kept no vectors" in found.reindex.says or "keeps no vectors" in found.reindex.says


def test_a_threshold_is_mapped_on_the_pairs_that_both_runs_scored(tmp_path):
    (found,) = weighed(tmp_path, old=None, new=None, threshold=0.05).thresholds
    assert (found.data, found.pairs, found.now) == ("d", 400, 1)
    assert found.same == pytest.approx(0.55, abs=0.01)


@pytest.mark.parametrize(("weights", "same"), [("abc", True), ("abd", False), (None, False)])
def test_the_weights_of_the_baseline_are_said_to_be(tmp_path, weights, same):
    said = results(**({"weights": weights} if weights else {}))
    items = {f"{CASE}/m-d-1": columns(*scores())}
    save(tmp_path / "base", results(weights="abc"), tables_of(said, items, "m"), model="m")
    notes = weigh(read(tmp_path / "base"), said, items, model="m").notes
    assert ("the weights are those of m" in notes) is same
