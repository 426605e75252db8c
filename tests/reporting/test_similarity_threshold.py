"""The user's own threshold in a run: answered on the terminal, in the summary and on the page, or said not to be."""

import pytest
from test_reporting import results, row

from encheck.reporting import markdown, terminal
from encheck.reporting.html import page as html
from encheck.reporting.view import threshold_lines, unused_threshold

CHECK = "paraphrase_is_nearer_than_non_paraphrase"


def share(metric, label, value, **more):
    low, high = (value or 0) - 0.02, (value or 0) + 0.03
    shown = {"value": value, "low": low, "high": high, "n": 1_200, "verdict": None, "aim": None,
             "floor": None, "curve": [], "surface": {}}  # fmt: skip
    params = {"label": label, "threshold": 0.8}
    return row(id=f"{CHECK}/m-d-1/{metric}/{label}", check=CHECK, property="paraphrase", metric=metric, params=params,
               **(shown | more))  # fmt: skip


ROWS = (share("recall", 1, 0.71), share("false_positive_rate", 0, 0.047))
SAID = (
    "m on d at the threshold 0.8: recall 0.71 [0.69, 0.74] of 1,200 pairs with label 1, "
    "false accepts 0.05 [0.03, 0.08] of 1,200 pairs with label 0"
)


def test_a_threshold_is_answered_wherever_people_look():
    found = results(row(), *ROWS)
    assert next(threshold_lines(found)) == SAID
    assert SAID in list(terminal.run_lines(found))
    assert "- m on d at the threshold 0.8: recall 0.71 " in markdown.render_summary(found)
    assert SAID in html.render_run(found, {})


def test_without_a_threshold_nothing_is_said():
    assert list(threshold_lines(results(row()))) == []
    assert unused_threshold(None, [row()]) == []


@pytest.mark.parametrize("rows", [(), (row(),), (share("recall", 1, None, low=None, high=None),)])
def test_a_threshold_that_was_held_against_nothing_is_noted(rows):
    assert unused_threshold(0.8, rows) == [
        "--threshold=0.8 was not used: no check of labelled pairs (property paraphrase) ran"
    ]
    assert unused_threshold(0.8, [*rows, *ROWS]) == []
