"""One declaration a check: all that the suite knows of it follows, also for a check outside of this repository."""

import importlib
import json
import pkgutil
from pathlib import Path

import pytest
from gate_fakes import CASE, frame, given, scores
from gated import gate
from recorded import run_file

from encheck import checks, claim
from encheck.claims import FAMILIES, claim_of, floor_and_aim, read_declared_properties
from encheck.errors import UsageError
from encheck.gating.balance import part_means, property_families, property_wins
from encheck.gating.baseline import model_tables, read_baseline, save_baseline
from encheck.gating.comparison import gate_against_baseline
from encheck.items import random_pairs
from encheck.metrics import find_metric, margin_rate, mean_similarity
from encheck.metrics.nonobvious import auc_n
from encheck.reporting.results import read_items, read_results

ROOT = Path(__file__).resolve().parents[1]
OWN = '''
"""Loud text means what quiet text means (a source of one's own). It is typed in haste.

Why that matters.
"""

from encheck import claim
from encheck.generators.antonym import antonym
from encheck.generators.invariance import casing
from encheck.items import contrast
from encheck.metrics import margin_rate


@claim(contrast(casing, antonym), property="loudness", family="invariance", metric=margin_rate.calibrated,
       floor=0.5, aim=0.9)
def test_loud_is_nearer_than_antonym(scores, judge):
    """Loud text is nearer than the opposite."""
    judge(margin_rate(scores.calibrated))
'''


def shipped():
    """Every claim of the checks that come with encheck, by its name."""
    modules = [importlib.import_module(f"encheck.checks.{m.name}") for m in pkgutil.iter_modules(checks.__path__)]
    found = {name: claim_of(f) for module in modules for name, f in vars(module).items()}
    return {name.removeprefix("test_"): one for name, one in found.items() if one}


@pytest.fixture
def own(pytester):
    """Run pytest in a project that has one check of its own and knows encheck by its plugin alone."""
    pytester.makepyprojecttoml('[tool.pytest.ini_options]\naddopts = ["--strict-markers"]\ntestpaths = ["suite"]\n')
    suite = pytester.mkdir("suite")
    (suite / "test_loudness.py").write_text(OWN.lstrip(), "utf-8")

    def run(*args, name="out"):
        asked = ("--encheck-model=bag-of-words", f"--encheck-report-dir={name}", "-p", "no:cacheprovider")
        return pytester.runpytest(*asked, "-m", "loudness", *args)

    return run


def test_a_check_of_ones_own_gates_counts_and_is_drawn(own, pytester):
    assert own("--encheck-save-baseline=base").parseoutcomes() == {"passed": 1}
    outcome = gate(
        "bag-of-words", "./base", "--own-checks=suite/test_loudness.py", "-m", "loudness", "--report-dir=gated"
    )
    found = json.loads(Path("gated/results.json").read_text("utf-8"))
    (row,) = found["gate"]["against"][0]["rows"]
    assert (row["row"], row["family"], row["gates"], row["outcome"]) == (
        "loudness/probes/1", "invariance", True, "pass",
    )  # fmt: skip
    assert outcome.ret == 10  # the checks that ship were left out, and a part never passes
    tables = model_tables(read_results(Path("gated")), read_items(Path("gated")), "bag-of-words")
    rates = {name: one.rate for name, one in property_wins(tables, {}).items()}
    assert part_means(rates, property_families(tables)) == {"invariance": 1.0}
    page = Path("out/report.html").read_text("utf-8")
    assert "loud is nearer than antonym" in page
    assert page.count('<figure class="chart') >= 2


def test_a_property_of_ones_own_is_listed_among_the_markers(own, pytester):
    said = pytester.runpytest("--markers").stdout
    said.fnmatch_lines(["@pytest.mark.loudness: Loud text means what quiet text means"])
    said.fnmatch_lines(["@pytest.mark.antonym: Criterion 3: an antonym reverses the meaning*"])


def test_the_checks_of_a_property_are_selected_by_it(own):
    own("--collect-only", "-q").stdout.fnmatch_lines(["1 test collected*"])
    assert own("-m", "not loudness", "--collect-only").ret == 5


@pytest.mark.parametrize("name", ["random_pairs_are_apart", "any_other_name"])
def test_a_renamed_health_check_still_gates(tmp_path, name):
    entry = {"says": "", "title": "", "why": "", "property": "health", "family": "health", "metric": "room",
             "gates": "room", "reported": ""}  # fmt: skip
    said = run_file(given(tested="health", check=name) | {"claims": {name: entry}})
    case = {f"{name}/m-d-1": frame(scores()[0], None, far_text=False)}
    save_baseline(tmp_path / "base", said, model_tables(said, case, "m"), model="m")
    (row,) = gate_against_baseline(read_baseline(tmp_path / "base"), said, case, model="m").decision.rows
    assert (row.name, row.family, row.gates) == ("health/d/1", "health", True)


def test_a_metric_of_ones_own_is_reported_and_not_looked_up(tmp_path):
    entry = {"says": "", "title": "", "why": "", "family": "order", "metric": "os.system", "gates": "os.system"}
    said = run_file(given() | {"claims": {CASE: entry}})
    case = {f"{CASE}/m-d-1": frame(*scores())}
    save_baseline(tmp_path / "base", said, model_tables(said, case, "m"), model="m")
    found = gate_against_baseline(read_baseline(tmp_path / "base"), said, case, model="m")
    assert not found.decision.rows
    assert "unknown metric 'os.system'" in next(iter(found.decision.reported_only.values()))


def test_what_never_gates_says_why():
    def check():
        """A check."""

    assert claim_of(claim(random_pairs, metric=mean_similarity)(check)).declared.reported
    assert claim_of(claim(random_pairs, metric=auc_n)(check)).declared.reported == "an AUC rises with damage"
    declared = claim_of(claim(random_pairs, metric=margin_rate.calibrated)(check)).declared
    assert (declared.metric, declared.gates, declared.chance) == ("margin_rate_calibrated", "margin_rate", 0.5)
    assert claim_of(claim(random_pairs, metric=margin_rate, gates="no")(check)).declared.reported == "no"


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"family": "ordre"}, "unknown family 'ordre'; did you mean 'order'"),
        ({"property": "word-order"}, "has property='word-order', but should have a word of letters, digits and _"),
        ({"metric": len}, "should have a Metric of encheck.metrics"),
        ({"pictures": ("profil",)}, "unknown picture 'profil'; did you mean 'profile'"),
        ({"floor": "overlap", "aim": 0.5}, "has floor='overlap', but should have a number, 'surface' or None"),
        ({"floor": 0.5}, "has floor=0.5 and no aim"),
        ({"floor": 0.5, "aim": 0.4}, "has floor=0.5 above aim=0.4"),
        ({"aim": float("nan")}, "aim=nan, but should have finite numbers"),
        ({"aim": 0.5, "unjudged": "why"}, "unjudged='why' and aim=0.5, but should have one of them"),
        ({"levels": ()}, "should have a tuple of one or more different"),
    ],
)
def test_what_cannot_be_declared_is_refused(wrong, said):
    with pytest.raises(UsageError, match=said):
        claim(random_pairs, **wrong)(lambda: None)


def test_a_check_is_held_to_what_it_declares():
    def check():
        """A check."""

    with_aim = claim_of(claim(random_pairs, metric=margin_rate, aim=0.8)(check))
    without = claim_of(claim(random_pairs)(check))
    with_floor = claim_of(claim(random_pairs, metric=margin_rate, floor=0.5, aim=0.8)(check))
    unjudged = claim_of(claim(random_pairs, metric=margin_rate, unjudged="nonsense")(check))
    assert floor_and_aim(with_aim, "margin_rate", None) == (None, 0.8)
    assert floor_and_aim(with_floor, "margin_rate", None) == (0.5, 0.8)
    assert floor_and_aim(without, "anything", 0.5) == (0.5, 0.5)
    assert floor_and_aim(unjudged, "margin_rate", None) is None
    assert unjudged.declared.reported == "nonsense"
    wrong = [(with_aim, "margin_rate", 0.5), (without, "x", None), (without, "x", float("nan"))]
    for asked, said in zip(wrong, ("both", "neither", "at_least=nan"), strict=True):
        with pytest.raises(UsageError, match=said):
            floor_and_aim(*asked)
    with pytest.raises(UsageError, match=r"given auc, but @claim declares metric=margin_rate"):
        floor_and_aim(with_aim, "auc", None)


def test_every_check_declares_all_that_is_known_of_it():
    for name, one in shipped().items():
        declared = one.declared
        assert declared.property, name
        assert declared.source, name
        assert (declared.aim is None) == bool(declared.unjudged), name
        assert declared.family in (*FAMILIES, "contract"), name
        assert find_metric(declared.metric).name == declared.metric, name
        assert bool(declared.gates) != bool(declared.reported), name


def test_the_markers_are_read_from_the_files_without_importing_them():
    found = read_declared_properties(sorted((ROOT / "checks").glob("test_*.py")))
    assert set(found) == {one.property for one in shipped().values()}
    assert all(found.values())
    for sentence in found.values():
        assert "\n" not in sentence


def test_checks_of_one_property_are_of_one_family():
    families = {(one.property, one.family) for one in shipped().values()}
    assert len(families) == len({name for name, _ in families})


def test_every_check_that_can_block_says_what_a_loss_means_to_users():
    blocking = {name: one.declared for name, one in shipped().items() if one.declared.gates or one.family == "contract"}
    assert [name for name, one in blocking.items() if not one.means.endswith(".")] == []
    assert len({one.means for one in blocking.values()}) == len(blocking)
