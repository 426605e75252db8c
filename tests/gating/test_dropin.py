"""Whether stored vectors stay: the comparison of two models' vectors of the same texts, and a cut-off in use."""

import json

import numpy as np
import pytest
from gate_fakes import CASE, columns, results, scores

from encheck.errors import BaselineError
from encheck.gating.baseline import _checksum, read, save, tables_of
from encheck.gating.dropin import ACCEPTED, FEWEST, MOST, MOST_BYTES, Space, cutoff_moved, reindex, same_space
from encheck.gating.fixed_texts import FIXED_TEXTS
from encheck.gating.weighing import weigh

TEXTS = [f"text {i}" for i in range(40)]


def unit(vectors):
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def vectors(n=32, d=64, seed=0):
    return unit(np.random.default_rng(seed).standard_normal((n, d)))


def turned(some):
    """By a random rotation: all similarities stay."""
    return (some @ np.linalg.qr(np.random.default_rng(5).standard_normal((some.shape[1],) * 2))[0]).astype(np.float32)


def space(some, **how):
    return Space.of(TEXTS[: len(some)], some, similarity="cosine", **how)


def test_the_fixed_texts_are_as_many_as_a_baseline_keeps_and_all_differ():
    assert len(set(FIXED_TEXTS)) == len(FIXED_TEXTS) == MOST


@pytest.mark.parametrize("noise", [0, 1e-4, 3e-3])
def test_rounding_needs_no_new_index(noise):
    old = vectors()
    found = same_space(old, old + noise * vectors(seed=1))
    assert found.needed is False
    assert found.related
    assert "the same vectors within rounding" in found.says


@pytest.mark.parametrize(
    ("new", "related", "says"),
    [
        (unit(vectors() + 0.2 * vectors(seed=1)), True, "vectors differ: median cosine 0.98"),
        (turned(vectors()), False, "as between unrelated models, or for a rotated copy"),
        (vectors(seed=2), False, "as between unrelated models"),
        (vectors() * -1, False, "median cosine -1.000"),
    ],
)
def test_other_vectors_need_a_new_index(new, related, says):
    found = same_space(vectors(), new)
    assert found.needed is True
    assert found.related is related
    assert says in found.why


def test_one_text_that_moved_is_enough():
    new = vectors().copy()
    new[7] *= -1
    found = same_space(vectors(), new)
    assert (found.needed, found.median, found.lowest) == (True, pytest.approx(1), pytest.approx(-1))


@pytest.mark.parametrize(("similarity", "needed"), [("cosine", False), ("dot", True), ("euclidean", True)])
def test_other_lengths_matter_unless_cosines_are_compared(similarity, needed):
    found = same_space(vectors(), 3 * vectors(), similarity=similarity)
    assert found.needed is needed
    assert "vectors 3 times as long" in found.why


def test_vectors_of_zeros_are_the_same_as_each_other_and_nothing_else():
    old = vectors()
    old[0] = 0
    assert same_space(old, old).needed is False
    assert same_space(old, vectors()).lowest == 0


def test_another_dimension_needs_a_new_index_and_another_role_tells_nothing():
    assert reindex(space(vectors()), space(vectors(d=32))).says == (
        "re-index: yes (vectors of 64 dimensions before, of 32 now)"
    )
    found = reindex(space(vectors()), space(vectors(), role="document"))
    assert found.needed is None
    assert found.says.startswith("re-index: cannot tell (no text")


def test_only_texts_that_both_have_are_compared():
    old, new = space(vectors()), Space.of(TEXTS[20:], vectors(20), similarity="cosine")
    assert reindex(old, new).texts == 12


@pytest.mark.parametrize("d", [3, 384, 3072])
def test_a_space_is_kept_in_few_bytes_and_read_as_it_was(d):
    big = Space.of(TEXTS, 7 * vectors(40, d), similarity="dot", role="document").small
    kept = json.loads(json.dumps(big.packed()))
    again = Space.unpacked(kept)
    assert FEWEST <= len(again.keys) <= MOST
    assert len(json.dumps(kept)) < max(1.5 * MOST_BYTES, 1.5 * FEWEST * d)
    assert (again.role, again.similarity, again.keys) == (big.role, big.similarity, big.keys)
    assert reindex(big, again).needed is False
    assert np.abs(again.vectors - big.vectors[: len(again.keys)]).max() < 7 / 127


@pytest.mark.parametrize(
    ("row", "says"), [([0.1, "AAA="], "has 2 numbers, but should have 64"), ([0.1, "!"], "is not base64")]
)
def test_a_damaged_space_is_a_value_error(row, says):
    kept = space(vectors()).packed()
    kept["vectors"] = {"abc": row}
    assert Space.unpacked({}) is None
    with pytest.raises(ValueError, match=f"the vector of abc {says}"):
        Space.unpacked(kept)


def test_a_cut_off_in_use_is_mapped_to_one_that_accepts_as_many():
    before = np.random.default_rng(0).uniform(0, 1, 1_000)
    found = cutoff_moved(before, before / 2, cutoff=0.8, data="pairs")
    assert found.before == pytest.approx((before >= 0.8).mean())
    assert found.now == 0
    assert (before / 2 >= found.same).sum() == (before >= 0.8).sum()
    assert f"{found.same:.3g} accepts as many" in found.says


@pytest.mark.parametrize(("accepted", "says"), [(0, "0 accepted pairs are too few"), (29, "too few"), (1_000, "all")])
def test_too_few_accepted_pairs_name_no_cut_off(accepted, says):
    before = np.arange(1_000)[::-1] / 1_000
    found = cutoff_moved(before, before, cutoff=(1_000 - accepted) / 1_000 if accepted else 2)
    assert found.accepted == accepted
    assert found.same is None
    assert says in found.says
    assert ACCEPTED == 30


HEALTH = {"family": "health", "property": "health", "gates": "room", "metric": "room"}


def weighed(tmp_path, *, old, new, cutoff=None):
    """A run of pairs whose room shrinks, against a baseline, with these vectors."""
    near = np.random.default_rng(0).uniform(-0.1, 0.1, 400)
    said = results(tested="health") | {"claims": {CASE: HEALTH}}
    cases = [{f"{CASE}/m-d-1": {**columns(some, None, far_text=False), "kind": ["pair"] * 400}} for some in
             (near, near + 0.5)]  # fmt: skip
    save(tmp_path / "base", said, tables_of(said, cases[0], "m"), model="m", space=old)
    return weigh(read(tmp_path / "base"), said, cases[1], model="m", space=new, cutoff=cutoff)


def test_room_blocks_in_one_family_of_models_and_is_reported_of_another(tmp_path):
    kept = space(vectors())
    same = weighed(tmp_path, old=kept, new=kept)
    assert (same.decision.outcome, same.reindex.needed) == ("block", False)
    for new in (space(vectors(d=32)), space(turned(vectors()))):
        other = weighed(tmp_path, old=kept, new=new)
        assert (other.decision.outcome, other.decision.rows, other.reindex.needed) == ("inconclusive", (), True)
        (said,) = other.reported.values()
        assert "another family of models" in said


def test_without_vectors_it_cannot_be_told_and_room_blocks(tmp_path):
    for old, new in ((None, space(vectors())), (space(vectors()), None)):
        found = weighed(tmp_path, old=old, new=new)
        assert (found.decision.outcome, found.reindex.needed) == ("block", None)
        assert "kept no vectors" in found.reindex.says or "keeps no vectors" in found.reindex.says


def test_a_cut_off_is_mapped_on_the_pairs_that_both_runs_scored(tmp_path):
    (found,) = weighed(tmp_path, old=None, new=None, cutoff=0.05).cutoffs
    assert (found.data, found.pairs, found.now) == ("d", 400, 1)
    assert found.same == pytest.approx(0.55, abs=0.01)


def test_a_damaged_space_is_refused_with_its_baseline(tmp_path):
    kept = space(vectors())
    weighed(tmp_path, old=kept, new=kept)
    path = tmp_path / "base/baseline.json"
    said = json.loads(path.read_text("utf-8"))
    del said["checksum"]
    said["vectors"] = {name: [0.1, "AAA="] for name in said["vectors"]}
    path.write_text(json.dumps(said | {"checksum": _checksum(said)}), "utf-8")
    with pytest.raises(BaselineError, match="has 2 numbers, but should have 64"):
        read(tmp_path / "base")


@pytest.mark.parametrize(("weights", "same"), [("abc", True), ("abd", False), (None, False)])
def test_the_weights_of_the_baseline_are_said_to_be(tmp_path, weights, same):
    said = results(**({"weights": weights} if weights else {}))
    items = {f"{CASE}/m-d-1": columns(*scores())}
    save(tmp_path / "base", results(weights="abc"), tables_of(said, items, "m"), model="m")
    notes = weigh(read(tmp_path / "base"), said, items, model="m").notes
    assert ("the weights are those of m" in notes) is same
