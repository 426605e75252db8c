"""The matrix of a comparison: figures, what is certain, the reference, items that one model alone gets wrong."""

import json
from dataclasses import replace

import numpy as np
import pytest
from recorded import run_file
from test_compare import CLAIM, write_run
from typer.testing import CliRunner

from encheck.cli import app
from encheck.comparing import exports, forest
from encheck.comparing.comparison import SIGNS, compare, verdicts
from encheck.comparing.differences import PairedChange
from encheck.comparing.page import render
from encheck.comparing.terminal import lines


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
    told, page = "\n".join(lines(found, everything=True)), render(found)
    assert "damaged: better in 0, worse in 0, cannot tell in 0, no evidence in 1 (antonym)" in told
    assert "0.09  0.27 *   0.80 +" in told
    assert "* no evidence: the figure rose, but the model is not shown to beat guessing" in told
    assert "0 of 1 differ beyond their interval: 0 higher, 0 lower" in told
    assert "1 of 1 are no evidence" in told
    assert '<td role="cell" data-model="damaged">0 of 1</td>' in page
    assert [[bar.said for bar in panel.bars] for panel in forest.panels(found)] == [["no evidence"], ["better"]]
    assert r"0.27$^{\ast}$" in exports.latex_table(found)
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
    assert "did you mean 'old'? There are: bad, new, old" in " ".join(done.output.split())


def a_change(p):
    return PairedChange(n=100, clusters=100, before=0.5, after=0.6, difference=0.1, low=0.01, high=0.2, p=p)


def test_certain_is_certain_for_all_cells_together():
    alone = verdicts({"a": a_change(0.03)})
    among = verdicts({"a": a_change(0.03), "b": a_change(0.9)})
    assert (alone["a"], among["a"]) == ("better", "cannot tell")


def test_an_adjusted_rate_is_paired_as_it_is_weighed(tmp_path):
    """Under one model the surface decides alone: the rate that a comparison pairs is the one that the run reports."""
    from encheck.metrics import adjusted_rate
    from encheck.scoring.triplets import Triplet, surface_differences
    from encheck.statistics.balancing import balancing_weights

    texts = [("one two three four", f"one two three {'five' if i % 3 else 'four six seven'}", f"one two {i} four")
             for i in range(60)]  # fmt: skip
    wins = {"old": won(50), "new": won(40)}
    claim = {"metric": adjusted_rate.calibrated.name}
    runs = [write_run(tmp_path / name, near, model=name, texts=texts, **claim) for name, near in wins.items()]
    weights = balancing_weights(surface_differences([Triplet("", *some, "") for some in texts]))
    ((line),) = compare(runs).matrix
    rates = [float(weights @ (near > 0.5) / weights.sum()) for near in wins.values()]
    change = line.cells[1].change
    assert (change.before, change.after) == (pytest.approx(rates[0]), pytest.approx(rates[1]))
    assert change.difference != pytest.approx(-10 / 60)


def test_a_mean_similarity_has_no_better_side(tmp_path):
    runs = [write_run(tmp_path / n, [near] * 40, metric="mean_similarity") for n, near in (("a", 0.9), ("b", 0.2))]
    assert said_of(compare(runs)) == ["not compared", "not compared"]


def test_what_one_model_alone_gets_wrong_comes_first(three):
    found = compare(three)
    assert [flip.alone for flip in found.flips[:28]] == ["bad"] * 28
    assert [flip.wrong for flip in found.flips[28:]] == [("bad", "new")] * 2
    assert found.flips[0].right == ("old", "new")
    page = render(found)
    assert page.index("bad alone is wrong") < page.index("Several are wrong, others right")
    assert "28 items: antonym 28" in page


def test_page_and_terminal_mark_what_is_certain_by_a_sign_too(three):
    found = compare(three)
    page, told = render(found), "\n".join(lines(found))
    assert f'<span class="value">0.33</span><span class="sign" aria-hidden="true">{SIGNS["worse"]}</span>' in page
    assert "antonym   -       0.83  0.33 -  0.80 ~" in told
    assert "bad: better in 0, worse in 1 (antonym), cannot tell in 0" in told
    assert "wrong where every other model is right: old 0, bad 28, new 0" in told
    assert "difference [95% CI]" not in told


def test_long_names_are_numbered_on_the_terminal(tmp_path):
    names = ("a-name-of-many-letters", "b")
    told = list(lines(compare([run(tmp_path / name, 40) for name in names])))
    assert told[:2] == ["  1  a-name-of-many-letters", "  2  b"]
    assert told[3].split() == ["property", "chance", "1", "2"]


def test_the_pictures_share_one_scale(three):
    bad, new = forest.panels(compare(three))
    ((low, _), (zero, label), _) = bad.ticks
    assert (bad.ticks, label) == (new.ticks, "0")
    assert low < bad.bars[0].at < new.bars[0].at < zero
    assert bad.bars[0].words.startswith("bad, antonym: -0.500 [")


@pytest.mark.parametrize(
    ("args", "problem"),
    [
        (["--format", "pdf"], "unknown format 'pdf'"),
        (["--cite"], "--cite requires --format latex"),
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
    from encheck.comparing.models import in_named_order

    models = [{"label": "a"}, {"label": "b"}, {"label": "c"}]
    plain = run_file({"models": models, "checks": []})
    named = replace(plain, run=replace(plain.run, settings=replace(plain.run.settings, models=("./b", "a"))))
    assert [m.label for m in in_named_order(named)] == ["b", "a", "c"]
    assert in_named_order(plain) == [*plain.models]
