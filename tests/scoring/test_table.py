"""Which items of a table are seen."""

import numpy as np
import pytest

from encheck.scoring.frame import CaseScores


def table(*splits):
    ids = tuple(f"i{i}" for i in range(len(splits)))
    score = np.arange(float(len(splits)))
    return CaseScores(
        "c/d/1", "c", "order", "d", "1", "triplet", ids, ids, ids, splits, (None,) * len(ids), score, score
    )


@pytest.mark.parametrize(
    ("splits", "split", "seen"),
    [
        (("dev", "gate", "gate"), "gate", [1, 2]),
        (("dev", "gate", "gate"), "dev", [0]),
        (("validation", "test", "train"), "gate", [1, 2]),
        (("validation", "test", "train"), "dev", [0]),
        (("validation", "validation"), "gate", [0, 1]),
        (("", ""), "dev", [0, 1]),
    ],
)
def test_a_gate_and_what_selects_checkpoints_see_different_items(splits, split, seen):
    assert table(*splits).select_split(split).near.tolist() == seen
