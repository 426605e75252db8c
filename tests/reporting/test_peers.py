"""Known models beside a figure: they are of the probes that ship, of the same figure, and shown nowhere else."""

import json
from dataclasses import asdict
from pathlib import Path

import pytest
from recorded import result
from test_reporting import results

from encheck.datasets.probes import embedded
from encheck.reporting import terminal
from encheck.reporting.html import page
from encheck.reporting.reference import figure_key, shipped_peers
from encheck.reporting.story import percent

ROOT = Path(__file__).resolve().parents[2]
CHECK = {"check": "roles", "property": "roles", "metric": "margin_rate_calibrated", "data": "probes"}
FIGURE = {"value": 0.5, "low": 0.4, "high": 0.6, "n": 400, "clusters": 100, "floor": 0.1, "aim": 0.1, "verdict": "pass"}
KNOWN = shipped_peers()
SETTINGS = asdict(KNOWN.settings)
HERE = {"name": "probes", "version": KNOWN.version, "fingerprint": KNOWN.fingerprint}


def test_the_peers_were_measured_on_the_probes_that_ship():
    assert (KNOWN.version, KNOWN.fingerprint) == (embedded().version, embedded().fingerprint)
    assert all(set(one.values) == set(KNOWN.models) for one in KNOWN.figures.values())
    assert len(KNOWN.models) == 4


def test_minilm_among_the_peers_has_the_figures_of_the_default_run():
    recorded = json.loads((ROOT / "docs/figures.json").read_text("utf-8"))
    for name, figure in KNOWN.figures.items():
        check, level, metric = name.split("/")
        same = recorded[f"{check}/sbert-probes-{level}/{metric}"]
        assert (same["value"], same["n"]) == (pytest.approx(figure.values["MiniLM"], abs=2e-3), figure.n), name


def one_of(metric, *models, data=HERE, settings=SETTINGS):
    """Results of these models on a figure that the peers have, and that of the peers."""
    name = next(name for name in KNOWN.figures if name.endswith(metric))
    check, level, metric = name.split("/")
    rows = [result({**CHECK, **FIGURE, "check": check, "level": level, "metric": metric, "model": m}) for m in models]
    run = {"settings": {**settings, "models": list(models)}}
    return results(*rows, models=[{"label": m} for m in models], data=data, run=run), KNOWN.figures[name].values


@pytest.mark.parametrize("models", [("m",), ("m", "other")])
def test_a_row_shows_where_the_same_figure_of_known_models_stands(models):
    found, values = one_of("both_directions_calibrated", *models)
    drawn, told = page.render_run(found, {}), list(terminal.run_lines(found))
    shown = "".join(f"<span>{name} {percent(share)}</span> " for name, share in values.items())
    assert drawn.count(f'<span class="peers">{shown}</span>') == 1
    assert f"on all built-in English sentences (probes {KNOWN.version}): MiniLM is all-MiniLM-L6-v2; " in drawn
    line = f"who did what to whom 50% {' '.join(map(percent, values.values()))}"
    assert [" ".join(cells.split()) for cells in told].count(line) == len(models)


OTHERS = {
    "another edition": {"data": {**HERE, "version": "3.0.2"}},
    "other sentences": {"data": {**HERE, "fingerprint": "f"}},
    "data of the user's": {"data": {**HERE, "name": "probes-mine"}},
    "another margin": {"settings": {**SETTINGS, "epsilon": 0.1}},
}


@pytest.mark.parametrize("other", OTHERS.values(), ids=OTHERS)
def test_no_peer_stands_beside_figures_of_anything_else(other):
    found, _ = one_of("both_directions_calibrated", "m", **other)
    assert 'class="peers"' not in page.render_run(found, {})
    assert "known models" not in "\n".join(terminal.run_lines(found))


def test_another_figure_of_the_same_check_has_no_peers():
    assert KNOWN.beside(result({**CHECK, **FIGURE, "metric": "mean_margin"})) == {}
    assert figure_key(result(CHECK)) == "roles/1/margin_rate_calibrated"


def test_the_table_of_the_docs_has_figures_of_the_peers():
    lines = (ROOT / "docs/reference/models.md").read_text("utf-8").split("\n")
    rows = [line.split("|")[3:-1] for line in lines if line.startswith("| ") and line.count("%") >= 4]
    there = {tuple(f"{100 * share:.0f}%" for share in one.values.values()) for one in KNOWN.figures.values()}
    assert len(rows) == 17
    assert [row for row in rows if tuple(cell.strip() for cell in row) not in there] == []
