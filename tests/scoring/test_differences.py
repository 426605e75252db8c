"""What the surface says of two edits, and that it turns with them."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from encheck.scoring.triplets import SURFACE_DIFFERENCES, Triplet, nearer_by_edit_distance, surface_differences

WORDS = st.lists(st.sampled_from("the nurse called a surgeon twice".split()), min_size=1, max_size=9)


def triplet(source, near, far):
    return Triplet("d/0", source, near, far, "c")


@given(WORDS, WORDS, WORDS)
def test_near_and_far_exchanged_turn_every_sign(source, near, far):
    one = triplet(*map(" ".join, (source, near, far)))
    turned = replace(one, near=one.far, far=one.near)
    assert surface_differences([one]).tolist() == (-surface_differences([turned])).tolist()
    assert nearer_by_edit_distance(one.source, one.near, one.far) == -nearer_by_edit_distance(
        one.source, one.far, one.near
    )


@pytest.mark.parametrize(
    ("near", "far", "favoured"),
    [
        ("The surgeon was called by the nurse.", "The surgeon called the nurse.", {"length": -1}),
        ("The nurse called the doctor.", "The nurse called the otolaryngologist.", {"word frequency": 1, "length": 1}),
        (
            "The nurse called the surgeon!",
            "The surgeon called the nurse.",
            {"edit-distance": 1, "jaccard": 0},
        ),
        (
            "Surgeon nurse the called the.",
            "The nurse called a surgeon.",
            {"bigrams": -1, "trigrams": -1},
        ),
    ],
)
def test_each_difference_says_what_its_name_says(near, far, favoured):
    found = dict(
        zip(
            SURFACE_DIFFERENCES,
            surface_differences([triplet("The nurse called the surgeon.", near, far)])[0],
            strict=True,
        )
    )
    assert {name: np.sign(found[name]) for name in favoured} == favoured


def test_a_length_differs_in_shares_of_the_sentence():
    found = surface_differences([triplet("a surgeon!", "a surgeon!??", "a surgeon")])[0]
    assert found[SURFACE_DIFFERENCES.index("length")] == pytest.approx(-2 / 10 + 1 / 10)
