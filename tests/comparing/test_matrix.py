"""The matrix of a comparison: figures, what is certain, the reference, items that one model alone gets wrong."""

import json
import re
from dataclasses import asdict, replace

import numpy as np
import pytest
from recorded import run_file
from test_compare import CLAIM, write_run
from typer.testing import CliRunner

from encheck.cli import app
from encheck.comparing import exports, forest
from encheck.comparing.comparison import SIGNS, compare
from encheck.comparing.page import render_comparison
from encheck.comparing.terminal import comparison_lines
from encheck.types import Declaration


def won(count, *, of=60):
    return np.where(np.arange(of) < count, 0.9, 0.1)


def run(folder, wins, *, of=60, **said):
    """A run of sixty items, of which the first ones are won."""
    return write_run(folder, won(wins, of=of), model=folder.name, value=wins / of, low=0.1, high=0.9, **said)


@pytest.fixture
def three(tmp_path):
    """The second model loses thirty items of the first's, the third two."""
    return [run(tmp_path / name, wins) for name, wins in (("old", 50), ("bad", 20), ("new", 48))]


def said_of(found):
    ((line),) = found.matrix
    return [cell.said for cell in line.cells]


def test_a_cell_has_the_figure_of_the_run_and_what_is_certain(three):
    found = compare(three)
    ((line),) = found.matrix
    assert [cell.value for cell in line.cells] == [50 / 60, 20 / 60, 48 / 60]
    assert said_of(found) == ["not compared", "worse", "cannot tell"]
    assert line.cells[1].change.difference == pytest.approx(-0.5)


def test_a_rise_below_guessing_is_no_evidence(tmp_path):
    """Won in 9 and then 27 of 100 items, where guessing wins 50: damage raises such a rate."""
    runs = [run(tmp_path / name, wins, of=100) for name, wins in (("old", 9), ("damaged", 27), ("sees", 80))]
    found = compare(runs)
    assert said_of(found) == ["not compared", "no evidence", "better"]
    told, page = "\n".join(comparison_lines(found, everything=True)), render_comparison(found)
    assert "damaged: better in 0, worse in 0, cannot tell in 0, no evidence in 1 (opposites)" in told
    assert "9%   27% *    80% +" in told
    assert "* no evidence: the figure rose, but is not shown to be 4 points above guessing" in told
    assert "0 of 1 differ beyond their interval: 0 higher, 0 lower" in told
    assert "1 of 1 are no evidence" in told
    assert '<td role="cell" data-model="damaged">0 of 1</td>' in page
    assert [[bar.said for bar in panel.bars] for panel in forest.forest_panels(found)] == [["no evidence"], ["better"]]
    assert r"27$^{\ast}$" in exports.latex_table(found)
    assert [one.compared for one in exports.tidy_rows(found)] == ["not compared", "no evidence", "better"]


def test_a_fall_below_guessing_is_worse_as_in_the_gate(tmp_path):
    runs = [run(tmp_path / name, wins, of=100) for name, wins in (("damaged", 27), ("old", 9))]
    assert said_of(compare(runs)) == ["not compared", "worse"]


def test_nothing_flips_where_no_model_beats_guessing(tmp_path):
    """Who wins an item there is luck, or what damage left."""
    guessing = [run(tmp_path / name, wins, of=100) for name, wins in (("old", 9), ("damaged", 27))]
    assert not compare(guessing).flips
    assert len(compare([*guessing, run(tmp_path / "sees", 80, of=100)]).flips) == 71


def test_the_reference_is_the_first_or_the_one_that_is_named(three):
    assert [m.name for m in compare(three).models] == ["old", "bad", "new"]
    found = compare(three, reference="bad")
    assert [m.name for m in found.models] == ["bad", "old", "new"]
    assert said_of(found) == ["not compared", "better", "better"]


def test_a_reference_is_known_by_its_run_where_models_share_a_label(tmp_path):
    runs = [write_run(tmp_path / name, won(wins), model="m") for name, wins in (("monday", 50), ("tuesday", 20))]
    assert [m.name for m in compare(runs, reference="tuesday").models] == ["m (tuesday)", "m (monday)"]


def test_an_unknown_reference_lists_what_there_is(three):
    done = CliRunner().invoke(app, ["compare", *map(str, three), "--reference", "ol"])
    assert done.exit_code == 4
    assert "did you mean 'old'? Available: bad, new, old" in " ".join(done.output.split())


def test_a_mean_similarity_has_no_better_side(tmp_path):
    runs = [write_run(tmp_path / n, [near] * 40, metric="mean_similarity") for n, near in (("a", 0.9), ("b", 0.2))]
    assert said_of(compare(runs)) == ["not compared", "not compared"]


def test_what_one_model_alone_gets_wrong_comes_first(three):
    found = compare(three)
    assert [flip.only_wrong_model for flip in found.flips[:28]] == ["bad"] * 28
    assert [flip.wrong for flip in found.flips[28:]] == [("bad", "new")] * 2
    assert found.flips[0].right == ("old", "new")
    page = render_comparison(found)
    assert page.index("bad alone is wrong") < page.index("Several are wrong, others right")
    assert "28 items: opposites 28" in page


def test_the_page_has_the_health_of_each_space_without_a_sign(three):
    said = asdict(Declaration("health", "health", metric="room")) | {"says": "", "title": "", "why": ""}
    for folder, value in zip(three, (0.8, 0.4, 0.79), strict=True):
        path = folder / "results.json"
        found = json.loads(path.read_text("utf-8"))
        found["claims"]["apart"] = said
        of_space = {"id": f"apart/{folder.name}-d-1/room", "check": "apart", "property": "health", "metric": "room",
                    "value": value, "low": value - 0.1, "high": value + 0.1}  # fmt: skip
        found["checks"].append(found["checks"][0] | of_space)
        path.write_text(json.dumps(found), "utf-8")
    row = render_comparison(compare(three)).partition("distance of unrelated texts")[2].partition("</tr>")[0]
    assert re.findall(r'<span class="value">([^<]*)</span>', row) == ["0.80", "0.40", "0.79"]
    assert 'class="sign"' not in row


def test_page_and_terminal_mark_what_is_certain_by_a_sign_too(three):
    found = compare(three)
    page, told = render_comparison(found), "\n".join(comparison_lines(found))
    assert '<h2 id="answer">bad is better than old in none of 1 property and worse in 1; new is not shown to be' in page
    assert f'<span class="value">33%</span><span class="sign" aria-hidden="true">{SIGNS["worse"]}</span>' in page
    assert "opposites  -       83%  33% -  80% ~" in told
    assert "bad: better in 0, worse in 1 (opposites), cannot tell in 0" in told
    assert "wrong where every other model is right: old 0, bad 28, new 0" in told
    assert "difference [95% CI]" not in told


def test_long_names_are_numbered_on_the_terminal(tmp_path):
    names = ("a-name-of-many-letters", "b")
    told = list(comparison_lines(compare([run(tmp_path / name, 40) for name in names])))
    assert told[:2] == ["  1  a-name-of-many-letters", "  2  b"]
    assert told[3].split() == ["property", "chance", "1", "2"]


def test_the_pictures_share_one_scale(three):
    bad, new = forest.forest_panels(compare(three))
    ((low, _), (zero, label), _) = bad.ticks
    assert (bad.ticks, label) == (new.ticks, "0")
    assert low < bad.bars[0].at < new.bars[0].at < zero
    assert bad.bars[0].words.startswith("bad, opposites: -50.0 points [")


@pytest.mark.parametrize(
    ("args", "problem"),
    [
        (["--format", "pdf"], "unknown format 'pdf'"),
        (["--cite"], "--cite requires --format latex"),
        (["--pairs", "all"], "--pairs=all requires --format latex"),
        (["--names", "a=b"], "--names requires --format latex or --figure"),
        (["--cost", "--across-seeds"], "use only one of them"),
        (["--across-seeds", "--reference", "old"], "--reference does not go with --across-seeds"),
    ],
)
def test_options_that_contradict_each_other_are_refused(args, problem):
    done = CliRunner().invoke(app, ["compare", "a", "b", *args])
    assert done.exit_code == 4
    assert problem in " ".join(done.output.split())


def test_json_names_the_check(three, tmp_path):
    done = CliRunner().invoke(app, ["compare", *map(str, three), "--out", str(tmp_path / "c.html"), "--json",
                                    str(tmp_path / "c.json")])  # fmt: skip
    assert done.exit_code == 0, done.output
    found = json.loads((tmp_path / "c.json").read_text())
    assert found["matrix"][0]["check"] == CLAIM
    assert found["matrix"][0]["cells"]["bad"]["said"] == "worse"


def test_the_models_of_a_run_stand_in_the_order_in_which_they_were_named():
    from encheck.comparing.models import models_in_command_order

    models = [{"label": "a"}, {"label": "b"}, {"label": "c"}]
    plain = run_file({"models": models, "checks": []})
    named = replace(plain, run=replace(plain.run, settings=replace(plain.run.settings, models=("./b", "a"))))
    assert [m.label for m in models_in_command_order(named)] == ["b", "a", "c"]
    assert models_in_command_order(plain) == [*plain.models]
