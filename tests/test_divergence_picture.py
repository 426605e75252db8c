"""The divergence picture counts what it draws."""

import pytest

from encheck.reporting.html.charts import divergence

COLUMNS = {
    "source": ["the red car", "one two three", "a b c", "grey geese fly"],
    "near": ["the red bus", "four five six", "a b c", "the moon is up"],
    "label": [1, 0, 1, 0],
    "split": ["train", "train", "train", "test"],
}


def values(columns):
    found = {}
    for v in divergence(columns)["data"]["values"]:
        found.setdefault((v["panel"], v["side"]), {})[v["divergence"]] = v["share"]
    return found


def test_the_shares_of_a_label_and_split_are_those_of_its_pairs():
    found = values(COLUMNS)
    assert set(found["train", "paraphrases"].values()) == {0, 0.5}
    assert found["train", "paraphrases"][0.0] == 0.5  # the pair of the same words
    assert found["train", "others"][0.95] == 1  # no word in common
    assert sum(found["test", "others"].values()) == pytest.approx(1)


def test_a_split_has_a_panel_of_its_own_and_one_alone_has_none():
    assert "facet" in divergence(COLUMNS)
    assert "facet" not in divergence(COLUMNS | {"split": ["", "", "", ""]})


def test_one_label_alone_has_no_picture():
    assert divergence(COLUMNS | {"label": [1, 1, None, 1]}) is None
