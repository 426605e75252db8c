"""How the scale moves, a threshold in use, and what a gate decides with the vectors of both models."""

import numpy as np
import pytest
from gate_fakes import CASE, frame, given, results, scores
from recorded import run_file
from test_reindex import sample, turned, vectors

from encheck.gating.baseline import model_tables, read_baseline, save_baseline
from encheck.gating.comparison import gate_against_baseline
from encheck.gating.scale_shift import (
    MIN_ACCEPTED,
    ScaleShift,
    measure_scale_shift,
    measure_scale_shifts,
    measure_threshold_shift,
)
from encheck.scoring.scale import Scale
from encheck.system.typed_files import as_values, read_typed

WIDE, NARROW = Scale(0.06, 1.0, 2_000, 0.08), Scale(0.76, 1.0, 2_000, 0.04)


@pytest.mark.parametrize(
    ("before", "after", "threshold", "says"),
    [
        (WIDE, NARROW, 0.8, "random pairs 0.06 to 0.76, identical pairs 1: a stored 0.8 now means what 0.217 meant"
                            " before, and accepts about 16% of random pairs"),
        (WIDE, NARROW, 0.6, "a stored 0.6 now accepts nearly everything"),
        (NARROW, WIDE, 0.9, "random pairs 0.76 to 0.06, identical pairs 1: a stored 0.9 now means what 0.974 meant"
                            " before"),
        (WIDE, WIDE, 0.8, "random pairs 0.06 to 0.06, identical pairs 1: a stored 0.8 means the same as before"),
        (WIDE, Scale(0.0, 0.7), 0.8, "identical pairs 1 to 0.7: a stored 0.8 now accepts nothing, not even identical"),
        (Scale(12.0, 80.0), Scale(24.0, 160.0), 66.0, "random pairs 12.00 to 24.00, identical pairs 80 to 160: a stored"
                                                      " 66 now means what 33 meant before"),
        (WIDE, Scale(1.0, 1.0), 0.8, "one of the models gives random and identical pairs the same similarity"),
    ],
)  # fmt: skip
def test_what_a_scale_that_moved_does_to_a_stored_threshold(before, after, threshold, says):
    found = measure_scale_shift(before, after, threshold=threshold, data="d")
    assert found.says.startswith("scale on d: random pairs ")
    assert says in found.says
    assert found.has_moved is (before != after)


def test_the_share_of_random_pairs_is_that_of_random_pairs():
    scores = np.random.default_rng(0).normal(0.4, 0.1, 20_000)
    found = measure_scale_shift(WIDE, Scale(scores.mean(), 1.0, len(scores), scores.std()), threshold=0.5)
    assert found.accepted_share(found.after) == pytest.approx((scores >= 0.5).mean(), abs=0.01)


def test_without_a_threshold_a_typical_one_is_taken_of_the_old_scale():
    assert measure_scale_shift(WIDE, NARROW).threshold == 0.81
    assert measure_scale_shift(Scale(12.0, 80.0), WIDE).threshold == 66


def test_the_scale_is_that_of_data_that_calibrate_both_models():
    found = measure_scale_shifts(
        {"b": WIDE, "a": WIDE, "old": WIDE}, {"a": NARROW, "b": WIDE, "new": WIDE}, threshold=0.8
    )
    assert [(one.data, one.has_moved) for one in found] == [("a", True), ("b", False)]


@pytest.mark.parametrize(
    ("scale", "ties", "says"),
    [(0.5, 6, "accepts as many"), (1e-4, 9, "accepts as many"), (1.0, 1, "%, the nearest that equal scores allow"),
     (0.0, 0, "accepts 100.0%, the fewest that equal scores allow")],
)  # fmt: skip
def test_a_threshold_in_use_is_mapped_to_one_that_accepts_as_many(scale, ties, says):
    before = np.random.default_rng(0).uniform(0, 1, 1_000)
    after = (1 - scale * (1 - before)).round(ties)
    found = measure_threshold_shift(before, after, threshold=0.8, data="pairs")
    assert found.before == pytest.approx((before >= 0.8).mean())
    assert found.now == (after >= 0.8).mean()
    said = found.says.rpartition("; ")[2]
    accepted = (after >= float(said.split()[0])).mean()
    assert found.accepts == accepted
    assert bool(accepted == found.before) is says.endswith("as many")
    assert said.endswith(says)


@pytest.mark.parametrize(("accepted", "says"), [(0, "0 accepted pairs are too few"), (29, "too few"), (1_000, "all")])
def test_too_few_accepted_pairs_name_no_threshold(accepted, says):
    before = np.arange(1_000)[::-1] / 1_000
    found = measure_threshold_shift(before, before, threshold=(1_000 - accepted) / 1_000 if accepted else 2)
    assert found.accepted == accepted
    assert found.now == found.before == accepted / 1_000
    assert found.same is None
    assert says in found.says
    assert MIN_ACCEPTED == 30


HEALTH = {"family": "health", "property": "health", "gates": "room", "metric": "room"}


def weighed(tmp_path, *, old, new, thresholds=(), dimensions=(None, None)):
    """A run of pairs whose room shrinks, against a baseline, with these vectors."""
    near = np.random.default_rng(0).uniform(-0.1, 0.1, 400)
    said, now = (run_file(given(tested="health", dimension=one) | {"claims": {CASE: HEALTH}}) for one in dimensions)
    cases = [{f"{CASE}/m-d-1": frame(some, None)} for some in (near, near + 0.5)]
    save_baseline(tmp_path / "base", said, model_tables(said, cases[0], "m"), model="m", vectors=old)
    return gate_against_baseline(
        read_baseline(tmp_path / "base"), now, cases[1], model="m", vectors=new, thresholds=thresholds
    )


def test_room_blocks_in_one_family_of_models_and_is_reported_of_another(tmp_path):
    kept = sample(vectors())
    same = weighed(tmp_path, old=kept, new=kept)
    assert (same.decision.outcome, same.decision.reindex.related) == ("block", True)
    for new in (sample(vectors(d=32)), sample(turned(vectors()))):
        other = weighed(tmp_path, old=kept, new=new)
        decision = other.decision
        assert (decision.outcome, decision.rows, decision.reindex.needed) == ("inconclusive", (), True)
        (said,) = decision.reported_only.values()
        assert "another family of models" in said


def test_another_dimension_is_another_family_of_models_without_vectors_too(tmp_path):
    decision = weighed(tmp_path, old=None, new=None, dimensions=(256, 384)).decision
    assert (decision.outcome, decision.reindex.needed) == ("inconclusive", True)
    assert "vectors of 256 dimensions before, of 384 now" in decision.reindex.says


def test_without_vectors_it_cannot_be_told_and_room_blocks(tmp_path):
    for old, new in ((None, sample(vectors())), (sample(vectors()), None)):
        found = weighed(tmp_path, old=old, new=new)
        assert (found.decision.outcome, found.decision.reindex.needed) == ("block", None)
        assert "kept no vectors" in found.decision.reindex.says or "keeps no vectors" in found.decision.reindex.says


def test_a_threshold_is_mapped_on_the_pairs_that_both_runs_scored(tmp_path):
    found, never = weighed(tmp_path, old=None, new=None, thresholds=(0.05, 2.0)).decision.thresholds
    assert (found.data, found.pairs, found.now) == ("d", 400, 1)
    assert found.same == pytest.approx(0.55, abs=0.01)
    assert (never.threshold, never.accepted, never.same) == (2.0, 0, None)


@pytest.mark.parametrize(("weights", "same"), [("abc", True), ("abd", False), (None, False)])
def test_the_weights_of_the_baseline_are_said_to_be(tmp_path, weights, same):
    said = results(**({"weights": weights} if weights else {}))
    items = {f"{CASE}/m-d-1": frame(*scores())}
    save_baseline(tmp_path / "base", results(weights="abc"), model_tables(said, items, "m"), model="m")
    notes = gate_against_baseline(read_baseline(tmp_path / "base"), said, items, model="m").decision.notes
    assert ("the weights are those of m" in notes) is same


def test_a_model_without_a_scale_has_no_usual_threshold_in_the_file_either():
    shift = measure_scale_shift(Scale(1.0, 1.0), WIDE)
    again = read_typed(ScaleShift, as_values(shift))
    assert np.isnan([shift.threshold, again.threshold]).all()
    assert (again.before, again.equivalent) == (shift.before, None)
