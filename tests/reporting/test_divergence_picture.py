"""The divergence picture counts what it draws."""

from dataclasses import replace

import numpy as np

from encheck.reporting.html.charts import divergence_charts
from encheck.scoring.item import ItemFrame, TextColumns
from encheck.scoring.pairs import LABELLED

FRAME = ItemFrame(
    LABELLED,
    "a/m-d-1",
    ids=("1", "2", "3", "4"),
    sources=("the red car", "one two three", "a b c", "grey geese fly"),
    near=TextColumns(("the red bus", "four five six", "a b c", "the moon is up"), np.zeros(4)),
    clusters=("1", "2", "3", "4"),
    splits=("train", "train", "train", "test"),
    labels=(1, 0, 1, 0),
)


def test_the_shares_of_a_label_and_split_are_those_of_its_pairs():
    drawn = divergence_charts(FRAME)
    assert list(drawn) == ["test", "train"]
    paraphrases, others = drawn["train"].strokes
    ground, half, top = 200, 111, 22  # pixels of 0%, 50% and 100%
    assert paraphrases.path.startswith(f"M44,{ground}V{half}")  # one of the two pairs has the same words
    assert others.path.endswith(f"V{top}H380V{ground}z")  # and one other has no word in common


def test_a_split_has_a_chart_of_its_own():
    assert list(divergence_charts(replace(FRAME, splits=("", "", "", "")))) == ["all"]


def test_one_label_alone_has_no_picture():
    assert divergence_charts(replace(FRAME, labels=(1, 1, None, 1))) == {}
