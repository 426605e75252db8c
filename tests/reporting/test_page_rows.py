"""The rows of the page: what came out in words, and where its marks lie."""

import base64
import gzip
import json

import numpy as np
import pytest
from test_reporting import row

from encheck.datasets.probes import sentence_domains
from encheck.reporting.html import charts
from encheck.reporting.html.page import MOST_OF_CASE, pack_items
from encheck.reporting.html.sections import chance_verdict, figure_mark
from encheck.reporting.profile import AgainstReference, ProfileLine
from encheck.scoring.item import ItemFrame, TextColumns
from encheck.scoring.triplets import TRIPLET
from encheck.types import Declaration

SHARE = Declaration(property="antonym", chance=0.5)


@pytest.mark.parametrize(
    ("low", "high", "verdict_was", "kind", "words"),
    [
        (0.55, 0.66, "pass", "good", "pass"),
        (0.55, 0.66, "below_aim", "good", "above chance, below aim"),
        (0.55, 0.66, "inconclusive", "good", "above chance, inconclusive"),
        (0.55, 0.66, None, "good", "above chance"),
        (0.45, 0.66, "below_aim", "tied", "at chance"),
        (0.35, 0.46, "below_aim", "bad", "below chance"),
        (0.35, 0.46, "fail", "bad", "fail: below chance"),
        (0.35, 0.46, "known_failure", "bad", "below chance"),
    ],
)
def test_what_came_out_is_said_beside_chance(low, high, verdict_was, kind, words):
    assert chance_verdict(row(value=(low + high) / 2, low=low, high=high, verdict=verdict_was), SHARE) == (kind, words)


def test_without_chance_a_check_passes_or_falls_short_and_one_that_judges_nothing_is_shown():
    assert chance_verdict(row(verdict="below_aim"), Declaration(chance=None)) == ("tied", "below aim")
    assert chance_verdict(row(verdict=None), Declaration(chance=0.5, unjudged="nonsense")) == (
        "none",
        "not judged",
    )
    unmeasured = row(verdict="inconclusive", value=None, low=None, high=None)
    assert chance_verdict(unmeasured, SHARE) == ("none", "inconclusive")


def test_a_share_has_its_marks_along_the_axis_and_the_reference_by_the_paired_change():
    line = ProfileLine(
        "antonym",
        "f",
        "a",
        "c",
        "margin_rate",
        0.61,
        0.55,
        0.66,
        400,
        0.5,
        0.1,
        "jaccard",
        against=AgainstReference("sbert", -0.08, "worse"),
    )
    found = figure_mark(row(), SHARE, "", line)
    assert (found.low, found.width, found.at, found.chance, found.surface, found.other) == (55, 11, 61, 50, 10, 69)
    assert (found.value, found.interval) == ("61%", "55–66")
    assert found.label == "95% interval 55–66, chance 50%, best surface scorer 10%"


def test_a_figure_other_than_a_checks_own_has_its_own_chance_and_the_interval_of_its_kind():
    line = ProfileLine("paraphrase", "f", "a", "c", "auc", 0.73, 0.62, 0.83, 78, 0.5, 0.06, "jaccard")
    auc = row(metric="auc", value=0.73, low=0.62, high=0.83, verdict=None)
    found = figure_mark(auc, Declaration(property="paraphrase", chance=0.0), "", line)
    assert (found.words, found.chance) == ("above chance", 50)
    assert (found.value, found.interval) == ("0.73", "0.62–0.83")


def test_what_is_no_share_is_a_number_without_marks():
    found = figure_mark(row(value=-0.36, low=-0.4, high=-0.3), Declaration(chance=0.0), "")
    assert (found.value, found.interval, found.at) == ("-0.36", "-0.40 to -0.30", None)


def frame(margins, **columns):
    n = len(margins)
    sides = [TextColumns(("t",) * n, np.array(scores)) for scores in (margins, [0.0] * n)]
    ids = tuple(f"d/{i}/x/1/y/0" for i in range(n))
    case = "a/m-d-1"
    return ItemFrame(
        TRIPLET, case, ids, ("The cache is full.",) * n, sides[0], ("c",) * n, ("",) * n, far=sides[1], **columns
    )


def test_margins_are_drawn_to_the_scale_of_the_data_with_zero_between_wrong_and_right():
    drawn = charts.margin_chart({"m": frame([-0.02, 0.01, 0.03, 0.04])}, {"m": 0.5})
    assert [one.title for one in drawn.strokes] == ["wrong: 25.0%", "right: 75.0%"]
    assert -0.06 < drawn.x.low < -0.03  # in the unit of the calibrated scale, and not from -1 to 1
    assert 0.07 < drawn.x.high < 0.1
    zero = f"H{drawn.x.at(0.0):g}V"
    assert zero in drawn.strokes[0].path
    assert charts.margin_chart({}) is None


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [
        (0.0, 1.0, ["0%", "20%", "40%", "60%", "80%", "100%"]),
        (0.0, 0.034, ["0%", "1%", "2%", "3%"]),
        (0.0, 0.004, ["0.0%", "0.1%", "0.2%", "0.3%", "0.4%"]),
    ],
)
def test_an_axis_has_round_ticks(low, high, ticks):
    assert [label for _, label in charts.Axis(low, high, 200, 0, has_percent=True).ticks] == ticks


def test_a_line_leaves_out_what_is_beyond_its_axis_and_clips_no_figure_to_it():
    x, y = charts.x_axis(0.0, 1.0, ""), charts.share_axis()
    assert charts.line_path(x, y, [(-1, 0.1), (0, 0), (1, 1), (2, 0.5)]) == "M44,200 380,22"


def test_items_have_their_domain_and_slice_where_those_are_known():
    some = frame([0.1, 0.2], slices=("news", "chat"))

    def unpacked(domains):
        text, most = pack_items({"a": some}, {}, domains)
        assert most == MOST_OF_CASE
        return json.loads(gzip.decompress(base64.b64decode(text)))

    content = unpacked({"The cache is full.": "api"})
    case = content["cases"]["a"]
    assert [content["texts"][place] for place in case["domain"]] == ["api", "api"]
    assert [content["texts"][place] for place in case["slice"]] == ["news", "chat"]
    assert "domain" not in unpacked({})["cases"]["a"]


def test_each_sentence_of_the_embedded_probes_has_a_domain_and_others_have_none():
    assert sentence_domains("4.1.0")["Turnover rose to €0.9bn."] == "finance"
    assert sentence_domains("0.0") == {}
