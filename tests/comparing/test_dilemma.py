"""The picture of benchmark and behaviour: which models have both, intervals, words, and labels that can be read."""

import json
from dataclasses import replace

import numpy as np
import pytest
from test_compare import write_run
from test_reporting import row
from typer.testing import CliRunner

from encheck.cli import app
from encheck.comparing.benchmark_plot import (
    HEIGHT,
    LETTER,
    LINE,
    RADIUS,
    WIDTH,
    BenchmarkPlot,
    BenchmarkPoint,
    scatter_layout,
)
from encheck.comparing.comparison import compare
from encheck.comparing.page import render_comparison
from encheck.comparing.terminal import comparison_lines
from encheck.reporting.results import read_results, write_results
from encheck.statistics.bootstrap import Figure
from encheck.types import ClaimEntry

CHECK = "linear_classifier_on_vectors_tells_classes"
DECLARED = ClaimEntry(
    "downstream", "downstream", "task_accuracy", reported="its luck", unjudged="a benchmark", says="", title="", why=""
)


def with_tasks(folder, model, values, *, fingerprint="s"):
    """The run with accuracies of tasks, each with an interval of four points."""
    found = read_results(folder)
    rows = [
        row(
            id=f"{CHECK}/{model}-senteval-{task}/task_accuracy", check=CHECK, property="downstream", level=task,
            data="senteval", metric="task_accuracy", value=value, low=value - 0.02, high=value + 0.02, model=model,
            verdict=None, floor=None, aim=None,
        )
        for task, value in values.items()
    ]  # fmt: skip
    data = (*found.data, replace(found.data[0], name="senteval", fingerprint=fingerprint))
    claims = {**found.claims, CHECK: DECLARED}
    write_results(folder, replace(found, checks=(*found.checks, *rows), data=data, claims=claims))
    return folder


def run(folder, wins, values, **said):
    near = np.where(np.arange(40) < wins, 0.9, 0.1)
    made = write_run(folder, near, model=folder.name)
    return with_tasks(made, folder.name, values, **said) if values else made


@pytest.fixture
def three(tmp_path):
    """The third model has no tasks."""
    return [run(tmp_path / "a", 30, {"MR": 0.7, "CR": 0.8}), run(tmp_path / "b", 10, {"MR": 0.8, "CR": 0.9, "TREC": 1}),
            run(tmp_path / "c", 20, {})]  # fmt: skip


def test_the_benchmark_is_the_mean_of_the_tasks_that_the_models_share(three):
    found = compare(three).benchmark_plot
    assert found.benchmark == "mean accuracy of CR, MR"
    assert [(p.model, p.benchmark.value) for p in found.points] == [("a", 0.75), ("b", pytest.approx(0.85))]
    width = 0.02 * 2**0.5 / 2  # of a mean of two that are independent
    assert (found.points[0].benchmark.low, found.points[0].benchmark.high) == pytest.approx(
        (0.75 - width, 0.75 + width)
    )


def test_behaviour_has_an_interval_of_the_bootstrap(three):
    found = compare(three).benchmark_plot
    above, below = (p.behaviour for p in found.points)
    assert (above.value, below.value) == (0.75, 0.25)  # 30 and 10 of 40 are won
    assert 0.1 < above.value - above.low < 0.25
    assert 0 < below.low < below.value
    assert found.behaviour == "mean share right over properties of meaning and order (1)"


def test_a_property_can_stand_for_behaviour(three):
    assert compare(three, behaviour="antonym").benchmark_plot.behaviour == "opposites, share right"
    done = CliRunner().invoke(app, ["compare", *map(str, three), "--behaviour", "antonyn"])
    assert done.exit_code == 4
    assert "antonym" in done.output


def test_one_point_is_no_picture(tmp_path):
    runs = [run(tmp_path / "a", 30, {"MR": 0.7}), run(tmp_path / "b", 10, {})]
    found = compare(runs)
    assert found.benchmark_plot is None
    assert "scatter" not in render_comparison(found).partition("</style>")[2]


def test_other_data_of_the_same_name_are_no_common_benchmark(tmp_path):
    runs = [run(tmp_path / n, 30, {"MR": 0.7}, fingerprint=n) for n in "ab"]
    assert compare(runs).benchmark_plot is None


def points(figures):
    return [BenchmarkPoint(f"model-{i}", Figure(x, x - 0.01, x + 0.01), Figure(y, y - 0.1, y + 0.1))
            for i, (x, y) in enumerate(figures)]  # fmt: skip


def test_nothing_is_said_of_a_correlation_of_few_models():
    few = BenchmarkPlot(points([(0.7, 0.1), (0.8, 0.2), (0.9, 0.3)]), "x", "y")
    assert few.correlation is None
    assert few.words == "3 models are too few to say whether the two figures go together."


@pytest.mark.parametrize(("order", "said"), [((5, 4, 3, 2, 1), "-1.00"), ((1, 2, 4, 3, 5), "+0.90")])
def test_five_models_have_a_rank_correlation(order, said):
    found = BenchmarkPlot(points([(0.7 + i / 100, y / 10) for i, y in enumerate(order)]), "x", "y")
    assert found.words == f"Spearman's correlation of the two figures over these 5 models is {said}."


def test_models_of_one_rank_have_no_correlation():
    assert BenchmarkPlot(points([(0.7, y / 10) for y in range(5)]), "x", "y").correlation is None


def boxes(found):
    return [(m.label_x, m.label_y + 3 - LINE, m.label_x + LETTER * len(m.label), m.label_y + 3) for m in found.marks]


@pytest.mark.parametrize("spread", [0.0, 0.002, 0.05, 1.0])
def test_labels_meet_neither_each_other_nor_a_mark_nor_the_edge(spread):
    rng = np.random.default_rng(1)
    figures = 0.5 + spread * (rng.random((10, 2)) - 0.5) / 2
    found = scatter_layout(BenchmarkPlot(points(figures.tolist()), "x", "y"))
    marks = [(m.x - RADIUS, m.y - RADIUS, m.x + RADIUS, m.y + RADIUS) for m in found.marks]
    for i, one in enumerate(boxes(found)):
        assert 0 <= one[0] < one[2] <= WIDTH
        assert 0 <= one[1] < one[3] <= HEIGHT
        for other in [*boxes(found)[:i], *marks]:
            assert not (one[0] < other[2] - 0.2 and other[0] < one[2] - 0.2
                        and one[1] < other[3] - 0.2 and other[1] < one[3] - 0.2)  # fmt: skip


def test_bars_end_within_the_axes():
    found = scatter_layout(BenchmarkPlot(points([(0.7, 0.1), (0.93, 0.9)]), "x", "y"))
    for mark in found.marks:
        assert found.x.start <= mark.across[0] < mark.x < mark.across[1] <= found.x.end
        assert found.y.end <= mark.along[1] < mark.y < mark.along[0] <= found.y.start
    assert 2 <= len(found.x.ticks) <= 7


def test_page_terminal_and_json_have_the_points(three, tmp_path):
    found = compare(three)
    page = render_comparison(found)
    assert "a: benchmark 0.750 [0.736, 0.764], behaviour 0.750" in page
    assert "2 models are too few to say whether the two figures go together." in page
    assert any("0.850 [0.836, 0.864]" in line for line in comparison_lines(found))
    done = CliRunner().invoke(app, ["compare", *map(str, three), "--out", str(tmp_path / "c.html"), "--json",
                                    str(tmp_path / "c.json")])  # fmt: skip
    assert done.exit_code == 0
    said = json.loads((tmp_path / "c.json").read_text())["dilemma"]
    assert (said["benchmark"], said["correlation"]) == ("mean accuracy of CR, MR", None)


def test_a_long_name_is_cut_in_the_picture_and_whole_in_its_title():
    name = "sentence-transformers-all-MiniLM-L6-v2"
    (mark, _) = scatter_layout(
        BenchmarkPlot([BenchmarkPoint(name, *[Figure(0.5, 0.4, 0.6)] * 2), *points([(0.6, 0.6)])], "x", "y")
    ).marks
    assert len(mark.label) == 20
    assert mark.words.startswith(f"{name}: ")
