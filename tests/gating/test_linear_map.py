"""Linear maps between the spaces of two models."""

import numpy as np

from encheck.gating.old_index import fit_map, split_groups

RNG = np.random.default_rng(0)


def test_the_kind_of_map_is_what_was_done_to_the_space():
    x = RNG.standard_normal((400, 16)).astype(np.float32)
    turned = fit_map(
        x, x @ np.linalg.qr(RNG.standard_normal((16, 16)))[0].astype(np.float32), np.arange(400), unit=True
    )
    assert (turned.kind, turned.texts) == ("orthogonal", 400)
    stretched = x @ RNG.standard_normal((16, 8)).astype(np.float32) + 3
    found = fit_map(x, stretched, np.arange(400), unit=False)
    assert found.kind == "ridge"
    assert np.abs(found(x) - stretched).max() < 1e-2


def test_too_few_texts_fit_a_map_of_low_rank_or_none():
    x = RNG.standard_normal((71, 24)).astype(np.float32)
    found = fit_map(x, x, np.arange(71), unit=False)
    assert (found.kind, found.how.partition(",")[0]) == ("low-rank", "rank 18")  # chosen on 57 texts, three a direction
    assert fit_map(x[:59], x[:59], np.arange(59), unit=False) is None


def test_what_is_free_in_a_map_is_chosen_by_what_was_held_back():
    """Noise that is as large as the signal asks for a larger penalty than no noise."""
    x = RNG.standard_normal((110, 40)).astype(np.float32)
    plain = x @ RNG.standard_normal((40, 8)).astype(np.float32)
    noised = plain + 20 * RNG.standard_normal(plain.shape).astype(np.float32)
    how = [fit_map(x, y, np.arange(110), unit=False).how.rpartition("penalty ")[2] for y in (plain, noised)]
    assert how == ["1e-05 mean variances", "1 mean variances"]


def test_near_duplicates_are_held_back_together():
    groups = np.array([0, 0, 0, 1, 2, 2, 3, 4, 5])
    parts = split_groups(groups, 3)
    assert all(len(set(parts[groups == g])) == 1 for g in set(groups))
    assert np.bincount(parts).tolist() == [3, 3, 3]
