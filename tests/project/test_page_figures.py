"""Sentences of pages that state figures, and what runs give: scripts/page_figures.py."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
import page_figures
from page_figures import measured, pages, problems, stated

ROWS = [
    {"check": "a", "metric": "auc_n", "level": "1", "value": 0.3512, "low": 0.2961, "high": 0.4071, "n": 584,
     "surface": {"jaccard": {"value": 0.0457}}, "params": {}},
    {"check": "a", "metric": "accuracy", "level": "x", "value": 0.8, "low": 0.7, "high": 0.9, "n": 10},
    {"check": "a", "metric": "accuracy", "level": "y", "value": 0.6, "low": 0.5, "high": 0.7, "n": 1_234},
]  # fmt: skip


def test_pages_have_the_sentences_whose_figures_are_compared(capsys):
    assert page_figures.main([]) == 0, capsys.readouterr().out
    known = pages()
    sources = {
        one["source"] for some in known["pages"].values() for s in some for one in page_figures.FIGURE.finditer(s)
    }
    assert {*known["runs"]} == {name for source in sources for name in source.split("+")} & known["runs"].keys()


@pytest.mark.parametrize(
    ("text", "sentence", "differs"),
    [
        ("gets 0.35 on\nMRPC", "gets {m auc_n} on MRPC", [False]),
        ("gets 0.36", "gets {m auc_n}", [True]),
        ("is 35.1 [29.6, 40.7] of 584", "is {m auc_n %[]} of {m a/auc_n@1.n}", [False, False]),
        ("is 0.35 [0.30, 0.42]", "is {m auc_n []}", [True]),
        ("overlap 0.046", "overlap {m auc_n.surface.jaccard}", [False]),
        ("1,234 texts, 70% on average", "{m accuracy@y.n} texts, {m accuracy@* %}%", [False, False]),
    ],
)
def test_a_figure_of_a_sentence_is_that_of_the_run_as_far_as_it_is_rounded(text, sentence, differs):
    assert [one.differs(measured(ROWS, one.of, one.form)) for one in stated(text, sentence)] == differs


@pytest.mark.parametrize("figure", ["accuracy", "f1", "auc_n@2"])
def test_a_figure_of_no_row_or_of_several_is_an_error(figure):
    with pytest.raises(LookupError, match=f"{figure} is the figure of [02] rows"):
        measured(ROWS, figure, "")


def test_what_differs_or_is_gone_is_told_with_its_page():
    sentences = [
        "the validation split or over {m folds} folds",
        "MiniLM gets {m auc_n} on MRPC",
        "{m auc_n} on QQP",
    ]
    told = [*problems("docs/method/published-checks.md", sentences, lambda one: (0.3512,))]
    assert told == [
        "docs/method/published-checks.md: the validation split or over {m folds} folds: it is there 0 times",
        "docs/method/published-checks.md: 0.53, but m auc_n is 0.3512",
    ]
