"""The same model over dated runs: points by date, certain changes, what is refused."""

import json

import numpy as np
import pytest
from test_compare import write_run
from typer.testing import CliRunner

from encheck.cli import app
from encheck.comparing.trend import trends
from encheck.comparing.trend_text import days, drawing, lines, render
from encheck.errors import UsageError


def dated(folder, wins, **said):
    """A folder of runs of one model, a week apart, written in the reverse order of their dates."""
    root = folder / "runs"
    root.mkdir()
    for i, won in reversed([*enumerate(wins)]):
        run = write_run(root / f"run-{9 - i}", np.where(np.arange(40) < won, 0.9, 0.1),
                        value=won / 40, low=won / 40 - 0.05, high=won / 40 + 0.05, **said)  # fmt: skip
        change_results(
            run, lambda found, day=1 + 7 * i: found["run"].update(started=f"2026-03-{day:02}T09:00:00+00:00")
        )
    return [root]


def change_results(run, change):
    found = json.loads((run / "results.json").read_text())
    change(found)
    (run / "results.json").write_text(json.dumps(found))


def test_points_stand_by_date_and_certain_changes_are_marked(tmp_path):
    (trend,) = trends(dated(tmp_path, [36, 35, 10, 11]))
    assert days(trend) == ["2026-03-01", "2026-03-08", "2026-03-15", "2026-03-22"]
    (series,) = trend.series
    assert [point.value for point in series.points] == [0.9, 0.875, 0.25, 0.275]
    assert [point.said for point in series.points] == ["not compared", "cannot tell", "worse", "cannot tell"]
    assert series.points[2].change.difference == pytest.approx(-25 / 40)
    assert (series.said, series.since.difference) == ("worse", pytest.approx(-25 / 40))


def test_a_rise_below_guessing_is_no_evidence_over_time_either(tmp_path):
    (trend,) = trends(dated(tmp_path, [2, 15, 38]))
    (series,) = trend.series
    assert [point.said for point in series.points] == ["not compared", "no evidence", "better"]
    told = "\n".join(lines([trend]))
    assert "0.38 *" in told
    assert "* no evidence: the figure rose, but the model is not shown to beat guessing" in told
    assert "better than the run before" not in drawing(trend, series).marks[1].words


def test_small_steps_that_add_up_are_seen_since_the_first(tmp_path):
    (trend,) = trends(dated(tmp_path, [38, 34, 30, 26]))
    (series,) = trend.series
    assert {point.said for point in series.points} == {"not compared", "cannot tell"}
    assert series.said == "worse"


def test_other_data_are_marked_and_only_shared_items_are_paired(tmp_path):
    (root,) = dated(tmp_path, [36, 30])
    change_results(root / "run-8", lambda found: found["data"][0].update(fingerprint="other"))
    (trend,) = trends([root])
    assert [point.is_other_data for point in trend.series[0].points] == [False, True]
    assert "0.75 !" in "\n".join(lines([trend]))
    assert 'class="break"' in render([trend])


def test_the_terminal_shows_the_latest_runs(tmp_path):
    (trend,) = trends(dated(tmp_path, [36, 36, 35, 10]))
    told = list(lines([trend]))
    assert told[0] == "m: 4 runs"
    assert told[2].split()[:6] == ["antonym", "-", "0.90", "0.90", "0.88", "0.25"]
    assert told[2].endswith("worse")
    assert "0.25 -" in told[2]


def test_runs_of_one_day_are_told_apart_by_the_time(tmp_path):
    (root,) = dated(tmp_path, [36, 35])
    for hour, name in (("09", "run-9"), ("17", "run-8")):
        change_results(root / name, lambda found, h=hour: found["run"].update(started=f"2026-03-01T{h}:30:00+00:00"))
    assert days(trends([root])[0]) == ["03-01 09:30", "03-01 17:30"]


def test_a_line_has_room_for_every_interval(tmp_path):
    (trend,) = trends(dated(tmp_path, [36, 20, 30]))
    drawn = drawing(trend, trend.series[0])
    assert (drawn.bottom, drawn.top) == (pytest.approx(0.45), pytest.approx(0.95))
    assert [mark.x for mark in drawn.marks] == sorted(mark.x for mark in drawn.marks)
    assert all(mark.high < mark.y < mark.low for mark in drawn.marks)


def test_a_trend_takes_two_runs_of_a_model(tmp_path):
    with pytest.raises(UsageError, match="takes two dated runs of the same model or more"):
        trends(dated(tmp_path, [36]))
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError, match="holds no run"):
        trends([tmp_path / "empty"])


def test_the_command_writes_page_and_json(tmp_path):
    (root,) = dated(tmp_path, [36, 10])
    out, data = tmp_path / "t.html", tmp_path / "t.json"
    done = CliRunner().invoke(app, ["compare", "--trend", str(root), "--out", str(out), "--json", str(data)])
    assert done.exit_code == 0, done.output
    assert "2 runs from 2026-03-01 to 2026-03-08" in out.read_text("utf-8")
    assert json.loads(data.read_text())["trends"][0]["series"][0]["points"][1]["said"] == "worse"
