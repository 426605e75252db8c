"""Results of schema 1, in the words that encheck wrote then, are read as those of schema 2."""

import json
from copy import deepcopy

import pytest
from test_compare import write_run
from typer.testing import CliRunner

from encheck import schema1
from encheck.cli import app
from encheck.errors import UsageError
from encheck.gating.declared import declarations
from encheck.reporting.results import read_results

CHECK = {
    "id": "jumble_is_apart/m-d-1/margin_rate", "claim": "jumble_is_apart", "check": "jumble", "capability": "jumble",
    "level": "1", "reason": "", "model": "m", "data": "d", "params": {}, "metric": "margin_rate", "value": 0.6,
    "low": 0.5, "high": 0.7, "n": 40, "clusters": 20, "threshold": 0.8, "verdict": "fail", "baseline": None,
    "left_out": {"too short": 3}, "lexical": {"value": 0.125, "low": 0.0, "high": 0.2},
}  # fmt: skip
GATE_ROW = {
    "capability": "jumble/d/1/spread", "family": "order", "kind": "rate", "n": 400, "clusters": 200, "baseline": 0.6,
    "candidate": 0.5, "change": -0.1, "low": -0.2, "high": -0.05, "delta": 0.02, "p": 0.01, "adjusted": 0.02,
    "outcome": "block", "gates": True, "evidence": True, "lost": 5, "gained": 1, "mcnemar": 0.2, "detectable": 0.03,
    "needed": None, "why": "lost", "lost_items": [], "gained_items": [],
}  # fmt: skip
GATE = {"outcome": "block", "exit_code": 1, "against": [{
    "baseline": "base", "outcome": "block", "reasons": ["jumble/d/1/spread: lost"], "capabilities": [GATE_ROW],
    "families": [{"family": "order", "capabilities": 1, "change": -5.0, "low": -9.0, "passes": False}],
    "seed_noise": 0.0, "balanced": {"baseline": 0.7, "candidate": 0.6}, "not_selected": 0, "reported_only": {},
    "notes": [],
}]}  # fmt: skip


def old(run, folder):
    """Give the folder of a run the results.json that schema 1 had of it."""
    path = folder / "results.json"
    found = json.loads(path.read_text("utf-8"))
    checks = [CHECK | {"id": c["id"], "claim": c["check"], "model": c["model"]} for c in found["checks"]]
    about = {**found["run"], "criteria": found["run"].pop("properties")}
    del about["properties"]
    path.write_text(json.dumps({**found, "schema_version": 1, "run": about, "checks": checks, **run}), "utf-8")
    return folder


@pytest.fixture
def two(tmp_path):
    runs = [
        write_run(tmp_path / name, near, property="jumble") for name, near in (("a", [0.9] * 40), ("b", [0.1] * 40))
    ]
    return [old({"gate": GATE}, folder) for folder in runs]


def test_a_row_says_the_same_in_the_words_of_schema_2(two):
    found = read_results(two[0])
    (row,) = found["checks"]
    assert (row["floor"], row["floor_of"], row["aim"], "threshold" in row) == (0.8, None, 0.8, False)
    assert found["schema_version"] == 2
    assert (row["check"], row["property"]) == ("antonym_is_farther_than_paraphrase", "jumble")
    assert (row["excluded"], row["surface"]["jaccard"]["value"]) == ({"too short": 3}, 0.125)
    assert not {"claim", "capability", "left_out", "lexical"} & {*row}
    assert found["run"]["properties"]["antonym"]["texts"] == 3


def test_the_gate_has_rows_by_the_names_that_they_have_now(two):
    (against,) = read_results(two[0])["gate"]["against"]
    assert [row["row"] for row in against["rows"]] == ["jumble/d/1/steadiness"]
    assert against["families"][0]["rows"] == 1
    assert "capabilit" not in json.dumps(against)


def test_what_was_read_is_left_as_it_was():
    found = {"run": {"criteria": {}}, "checks": [CHECK], "gate": GATE}
    before = deepcopy(found)
    schema1.results(found)
    assert found == before


def test_a_check_that_declared_nothing_has_the_declaration_of_its_name(two):
    (found,) = declarations(read_results(two[0])).values()
    assert (found.property, found.family, found.criterion) == ("jumble", "order", 4)


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("report {0} --out {out}/page.html", "page.html"),
        ("compare {0} {1} --out {out}/page.html", "m (b): better in 0, worse in 1 (jumble)"),
        ("export {0} --out {out} --format csv", "figures.csv"),
    ],
)
def test_the_commands_read_it(two, tmp_path, command, said):
    done = CliRunner().invoke(app, command.format(*two, out=tmp_path / "out").split())
    assert done.exit_code == 0, done.output
    assert said in done.output
    assert any((tmp_path / "out").iterdir())


def test_the_page_has_its_gate_and_what_was_excluded(two, tmp_path):
    CliRunner().invoke(app, ["report", str(two[0]), "--out", str(tmp_path / "page.html")])
    page = (tmp_path / "page.html").read_text("utf-8")
    assert ">jumble/d/1/steadiness<" in page
    assert "Excluded: 3 sentences" in page
    assert "too short" in page
    assert "0.12" in page  # the surface figure, in the table of figures


@pytest.mark.parametrize(
    "spoil", [lambda r: r.pop("run"), lambda r: r.update(checks=[3]), lambda r: r["gate"]["against"][0].pop("families")]
)
def test_a_damaged_one_is_refused(two, spoil):
    path = two[0] / "results.json"
    found = json.loads(path.read_text("utf-8"))
    spoil(found)
    path.write_text(json.dumps(found), "utf-8")
    with pytest.raises(UsageError, match=r"is not valid.*Run again"):
        read_results(two[0])
