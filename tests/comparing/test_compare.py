"""`encheck compare`: paired differences on the shared items, flips, the page and the terminal."""

import csv
import json
from dataclasses import replace

import numpy as np
import pytest
from declared import claims
from recorded import run_file
from scipy.stats import spearmanr
from test_reporting import results as results_of
from test_reporting import row
from typer.testing import CliRunner

from encheck.cli import app
from encheck.comparing.comparison import compare
from encheck.comparing.exports import tidy_csv, write_comparison_json
from encheck.comparing.page import render_comparison
from encheck.comparing.terminal import comparison_lines
from encheck.errors import UsageError
from encheck.reporting.results import read_results, write_items, write_results
from encheck.scoring.frame import RunItems, item_table
from encheck.scoring.item import ItemFrame, TextColumns
from encheck.scoring.scores import KINDS
from encheck.statistics.sharing import Sharing

CLAIM = "antonym_is_farther_than_paraphrase"


def write_run(
    folder, near, *, model="m", prefix="d", far=0.5, items=None, splits=None, texts=None, kind="triplet",
    gold=None, fingerprint="", **said
):  # fmt: skip
    folder.mkdir()
    count = len(near)
    texts = texts or [(f"source {i}", f"near {i}", f"<b>far</b> {i}") for i in range(count)]
    made = row(id=f"{CLAIM}/{model}-d-1/margin_rate", model=model, **said)
    scale = {"reference": 0.0, "identity": 1.0, "pairs": 100, "spread": 0.1}
    about = {"label": model, "fingerprint": fingerprint or str(folder)}
    write_results(folder, results_of(made, models=[about], data={"calibration": {model: scale}}, claims=claims(made)))
    case = f"{CLAIM}/{model}-d-1"
    sources, near_texts, far_texts = zip(*texts, strict=True)
    frame = ItemFrame(
        KINDS[kind], case, tuple(items or (f"{prefix}/{i:04x}" for i in range(count))), sources,
        TextColumns(near_texts, np.array(near, float)), tuple(f"c{i // 2}" for i in range(count)),
        tuple(splits or [""] * count), TextColumns(far_texts, np.full(count, far)), gold=tuple(gold or ()),
    )  # fmt: skip
    write_items(folder, RunItems.from_tables([item_table(frame)]))
    return folder


@pytest.fixture
def two(tmp_path):
    """Forty items: the first model wins thirty, the second loses five of those and gains two."""
    first = np.where(np.arange(40) < 30, 0.9, 0.1)
    other = first.copy()
    other[:5], other[38:] = 0.1, 0.9
    return [write_run(tmp_path / "a", first), write_run(tmp_path / "b", other)]


def test_the_difference_is_paired_and_the_flips_are_named(two):
    ((name, (found,)),) = compare(two).differences.items()
    assert name == "m (b)"
    assert (found.before, found.after, found.difference) == (0.75, 0.675, pytest.approx(-0.075))
    assert found.lost == tuple(f"d/{i:04x}" for i in range(5))
    assert found.gained == ("d/0026", "d/0027")
    assert (found.n, found.clusters) == (40, 20)


def test_the_interval_follows_what_items_share(two):
    found = compare(two).differences["m (b)"][0]
    moved = np.zeros(40)
    moved[:5], moved[38:] = -1, 1
    low, high = Sharing.of(np.arange(40) // 2).change_interval(moved)
    assert (found.low, found.high) == (low[0], high[0])
    assert low[0] < -0.25 < 0.1 < high[0]


def test_what_nothing_calibrates_is_compared_as_it_is(two):
    for folder in two:
        found = json.loads((folder / "results.json").read_text("utf-8"))
        found["data"][0]["calibration"] = {}
        (folder / "results.json").write_text(json.dumps(found), "utf-8")
    ((found,),) = compare(two).differences.values()
    assert found.difference == pytest.approx(-0.075)


def test_a_run_against_itself_is_no_comparison(two):
    with pytest.raises(UsageError, match=": 1 different models; a comparison takes 2 to"):
        compare([two[0], two[0]])


def test_an_interval_of_few_clusters_is_no_clear_difference(tmp_path):
    runs = [write_run(tmp_path / name, [near] * 38) for name, near in (("a", 0.1), ("b", 0.9))]
    found = compare(runs)
    ((d,),) = found.differences.values()
    assert (d.high, d.clusters, d.is_clear) == (pytest.approx(1), 19, False)
    assert "1 of 1 rest on fewer than 20 clusters: too few to tell" in "\n".join(
        comparison_lines(found, everything=True)
    )
    assert 'class="better"' not in render_comparison(found)
    assert "38 items in 19 clusters: too few to tell" in render_comparison(found)
    assert "at least 20 independent clusters" in render_comparison(found)


def test_a_chain_counts_once_and_as_its_check_counts_it(tmp_path):
    """The share of test chains whose paraphrase is on top; among equals it is there by a share."""
    items = [f"d/{i:04x}/swap/3/pivot-a/0/{k}" for i in range(4) for k in (1, 2)]
    splits = [s for s in ("dev", "gate", "gate", "gate") for _ in range(2)]
    near = [0.9, 0.9, 0.9, 0.9, 0.9, 0.1, 0.5 + 1e-8, 0.9]
    runs = [write_run(tmp_path / n, near, items=items, splits=splits, kind="chain", property="swapchain") for n in "ab"]
    ((found,),) = compare(runs).differences.values()
    assert (found.n, found.figure) == (3, "r_precision")
    assert found.before == pytest.approx((1 + 0 + 1 / 2) / 3)


def test_an_item_is_won_by_more_than_the_epsilon_of_the_runs(tmp_path):
    near = [0.9] * 10 + [0.6] * 10
    runs = [write_run(tmp_path / n, near, params={"epsilon": 0.2}) for n in "ab"]
    ((found,),) = compare(runs).differences.values()
    assert found.before == 0.5
    other = write_run(tmp_path / "c", near, params={"epsilon": 0.0})
    assert "--epsilon 0.2 and 0.0" in refused(runs[0], other)


def test_correlations_with_peoples_scores_are_paired(tmp_path):
    """Their difference has the interval by which a gate decides."""
    said = {"property": "sts", "metric": "spearman", "value": 0.891, "low": 0.85, "high": 0.92, "verdict": "pass"}
    rng, gold = np.random.default_rng(0), np.arange(40) / 8
    near = [gold / 5 + rng.normal(size=40) / scale for scale in (5, 3)]
    runs = [
        write_run(tmp_path / n, some, kind="pair", gold=list(gold), **said) for n, some in zip("cd", near, strict=True)
    ]
    ((found,),) = compare(runs).differences.values()
    wanted = [spearmanr(some, gold).statistic for some in near]
    assert (found.before, found.after) == pytest.approx(wanted)
    assert found.low < found.difference < found.high
    other = write_run(tmp_path / "e", near[1], kind="pair", gold=[*gold[:30], *[9.0] * 10], model="n", **said)
    assert compare([runs[0], other]).differences["n"][0].n == 30  # people gave the others another score


def test_only_shared_items_are_compared(tmp_path):
    a, b = write_run(tmp_path / "a", [0.9] * 40), write_run(tmp_path / "b", [0.9] * 30, model="n")
    assert compare([a, b]).differences["n"][0].n == 30


def add_retrieval(folder, model, values, **fingerprints):
    found, rows, sets = read_results(folder), [], []
    for data, value in values.items():
        case = {"check": "finds", "property": "retrieval", "metric": "recall_at_1", "value": value, "model": model}
        rows.append(row(id=f"finds/{model}-{data}-1/recall_at_1", data=data, **case))
        sets.append(replace(found.data[0], name=data, fingerprint=fingerprints.get(data, "f")))
    rows = (*found.checks, *rows)
    said = run_file({"checks": rows, "claims": claims(*rows)}).claims
    write_results(folder, replace(found, checks=rows, data=(*found.data, *sets), claims=said))


def test_benchmark_and_behaviour_are_of_what_all_models_share(tmp_path):
    """The first model has another data set before the shared one, and loses ten items that the other lacks."""
    a = write_run(tmp_path / "a", np.where(np.arange(40) < 30, 0.9, 0.1))
    b = write_run(tmp_path / "b", [0.9] * 30, model="n")
    add_retrieval(a, "m", {"first": 0.9, "shared": 0.1})
    add_retrieval(b, "n", {"shared": 0.8})
    found = compare([a, b]).benchmark_plot
    assert found.benchmark == "recall@1 of plain retrieval (shared)"
    assert [(p.benchmark.value, p.behaviour.value) for p in found.points] == [(0.1, 1.0), (0.8, 1.0)]


def test_other_data_of_the_same_name_are_no_common_benchmark(tmp_path):
    a, b = (write_run(tmp_path / n, [0.9] * 40, model=n) for n in "ab")
    add_retrieval(a, "a", {"own": 0.9})
    add_retrieval(b, "b", {"own": 0.8}, own="other")
    assert compare([a, b]).benchmark_plot is None


def test_the_best_surface_scorer_stands_beside(tmp_path):
    beside = {name: {"value": v, "low": 0.1, "high": 0.9} for name, v in (("jaccard", 0.41), ("bigrams", 0.62))}
    runs = [write_run(tmp_path / n, [0.9] * 40, surface=beside) for n in "ab"]
    found = compare(runs)
    assert "bigrams 0.62" in "\n".join(comparison_lines(found, everything=True))
    assert '<span class="surface">bigrams 0.62</span>' in render_comparison(found)


def test_the_page_and_the_terminal_tell_the_same(tmp_path):
    first = np.where(np.arange(40) < 38, 0.9, 0.1)
    other = np.r_[np.full(5, 0.1), first[5:38], 0.9, 0.9]
    found = compare([write_run(tmp_path / "a", first), write_run(tmp_path / "b", other)])
    page, told = render_comparison(found), "\n".join(comparison_lines(found, everything=True))
    assert "-0.075" in page
    assert "-0.075" in told
    assert 'data-model="lost">5<' in page
    assert 'data-model="gained">2<' in page
    assert "&lt;b&gt;far&lt;/b&gt; 3" in page
    assert "<b>far" not in page


def test_a_first_look_is_said_to_be_one(two):
    path = two[1] / "results.json"
    look = {"texts": 900, "of_texts": 24_000, "clusters": 100, "of_clusters": 3_000, "rest": {}, "stopped": "so"}
    assert not compare(two).looks
    path.write_text(json.dumps(json.loads(path.read_text()) | {"first_look": look}))
    found = compare(two)
    said = "m (b) is a first look at 100 of 3,000 clusters: only its measured cases are compared"
    assert next(comparison_lines(found)) == said
    assert f">{said}</p>" in render_comparison(found)
    tidy = list(csv.DictReader(tidy_csv(found).splitlines()))
    part = "a first look at 100 of 3,000 clusters"
    assert {(one["model"], one["partial"]) for one in tidy} == {("m (a)", ""), ("m (b)", part)}
    write_comparison_json(path.with_name("c.json"), found)
    assert json.loads(path.with_name("c.json").read_text())["partial"] == {"m (b)": part}


def test_the_command_writes_page_and_json(two, tmp_path):
    out, data = tmp_path / "c.html", tmp_path / "c.json"
    done = CliRunner().invoke(app, ["compare", *map(str, two), "--out", str(out), "--json", str(data)])
    assert done.exit_code == 0, done.output
    assert out.read_text("utf-8").startswith("<!doctype html>")
    assert json.loads(data.read_text())["differences"]["m (b)"][0]["difference"] == pytest.approx(-0.075)


def refused(*folders):
    done = CliRunner().invoke(app, ["compare", *map(str, folders), "--out", str(folders[0] / "c.html")])
    assert done.exit_code == 4
    return " ".join(done.output.split())


@pytest.mark.parametrize("command", ["compare {0} {1} --out", "compare {0} {1} --json", "export {0} --to page --out"])
@pytest.mark.parametrize(
    ("place", "problem"), [(".", "it is a folder"), ("afile/x", "which should be a writable folder")]
)
def test_a_place_that_takes_no_file_is_told(two, tmp_path, monkeypatch, command, place, problem):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "afile").touch()
    done = CliRunner().invoke(app, [*command.format(*two).split(), place])
    assert done.exit_code == 4
    assert f"encheck: cannot write {'into afile, ' if '/' in place else '.: '}{problem}" in done.output


@pytest.mark.parametrize("option", ["--out", "--json"])
def test_a_folder_that_is_missing_is_made(two, tmp_path, monkeypatch, option):
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, ["compare", *map(str, two), option, "new/sub/file"])
    assert done.exit_code == 0
    assert (tmp_path / "new/sub/file").stat().st_size


def test_what_cannot_be_compared_is_refused_with_its_reason(two, tmp_path):
    other = write_run(tmp_path / "other", [0.9] * 40, model="n", prefix="e")
    assert "share no items" in refused(two[0], other)
    assert "a comparison takes 2 to 10" in refused(two[0])
    assert "is not a run" in refused(two[0], tmp_path / "nothing")
    (two[1] / "items.parquet").write_bytes(b"PAR1 cut off")
    assert "items.parquet cannot be read" in refused(*two)
    (two[1] / "items.parquet").unlink()
    assert "has no items.parquet" in refused(*two)
    (two[1] / "results.json").write_text('{"schema_version": 99}')
    assert "a newer encheck wrote it" in refused(*two)


@pytest.mark.parametrize(
    "spoil", [lambda r: r.pop("models"), lambda r: r["checks"][0].pop("check"), lambda r: r.update(run=3)]
)
def test_a_report_of_results_that_are_not_ours_says_so(two, spoil):
    path = two[0] / "results.json"
    found = json.loads(path.read_text())
    spoil(found)
    path.write_text(json.dumps(found))
    done = CliRunner().invoke(app, ["export", str(two[0])])
    assert done.exit_code == 4
    assert "not valid" in " ".join(done.output.split())


def test_a_report_without_items_says_that_they_are_missing(two):
    (two[0] / "items.parquet").unlink()
    done = CliRunner().invoke(app, ["export", str(two[0])])
    assert done.exit_code == 0, done.output
    assert "items.parquet is missing" in (two[0] / "report.html").read_text("utf-8")


def test_runs_of_one_model_and_one_setting_are_one(tmp_path):
    """And are refused where they disagree."""
    near = np.where(np.arange(40) < 30, 0.9, 0.1)
    one = [write_run(tmp_path / name, near, fingerprint="same") for name in ("a", "again")]
    other = write_run(tmp_path / "b", near[::-1])
    assert [model.name for model in compare([*one, other]).models] == ["m (a)", "m (b)"]
    wrong = write_run(tmp_path / "wrong", near, fingerprint="same", value=0.1, low=0.0, high=0.2)
    said = r"a and wrong have the same model, m, and settings, but disagree on .* and 0\.1"
    with pytest.raises(UsageError, match=said):
        compare([one[0], wrong, other])
