"""The divergence picture counts what it draws."""

from dataclasses import replace

import numpy as np
import pytest

from encheck.ids import CaseId
from encheck.reporting.html.charts import divergence_chart
from encheck.scoring.frame import ItemFrame, TextColumns
from encheck.scoring.pairs import LABELLED

FRAME = ItemFrame(
    LABELLED,
    CaseId("a", "m", "d", "1"),
    ids=("1", "2", "3", "4"),
    sources=("the red car", "one two three", "a b c", "grey geese fly"),
    near=TextColumns(("the red bus", "four five six", "a b c", "the moon is up"), np.zeros(4)),
    clusters=("1", "2", "3", "4"),
    splits=("train", "train", "train", "test"),
    labels=(1, 0, 1, 0),
)


def values(frame):
    found = {}
    for v in divergence_chart(frame)["data"]["values"]:
        found.setdefault((v["panel"], v["side"]), {})[v["divergence"]] = v["share"]
    return found


def test_the_shares_of_a_label_and_split_are_those_of_its_pairs():
    found = values(FRAME)
    assert set(found["train", "paraphrases"].values()) == {0, 0.5}
    assert found["train", "paraphrases"][0.0] == 0.5  # the pair of the same words
    assert found["train", "others"][0.95] == 1  # no word in common
    assert sum(found["test", "others"].values()) == pytest.approx(1)


def test_a_split_has_a_panel_of_its_own_and_one_alone_has_none():
    assert "facet" in divergence_chart(FRAME)
    assert "facet" not in divergence_chart(replace(FRAME, splits=("", "", "", "")))


def test_one_label_alone_has_no_picture():
    assert divergence_chart(replace(FRAME, labels=(1, 1, None, 1))) is None
