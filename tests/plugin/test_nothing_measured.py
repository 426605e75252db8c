"""No way from a user's data to nothing ends in "passes": what no check reads is refused, what none measured said."""

import json

import pytest

from encheck.datasets.load import load
from encheck.engine.checks import shipped_checks
from encheck.items.variants import variants_read_by_claims

TOWNS = "Aldra Bexley Corvin Dunmore Elsmere Farrow Gorsey Hadlow Iverne Jarrow".split()
SUBJECTS = "rain farmers trains bread music glass rivers lamps horses paint".split()
VERBS = "fall strike stop rise fade crack freeze burn bolt peel".split()
OWN = """
from encheck import claim
from encheck.items import contrast
from encheck.metrics import margin_rate


def hedging(group, *, level, rng, english):
    return group.variant("hedging")


def hedging_kept(group, *, level, rng, english):
    return group.variant("hedging_kept")


@claim(contrast(hedging_kept, hedging), property="hedging", metric=margin_rate, aim=0.01)
def test_a_certainty_is_farther_than_the_same_hedge(scores, judge):
    judge(margin_rate(scores))
"""


def probes(path, kept, changed, *, level=1):
    """A probe file of hedges, their rewording under one relation and a certainty under another."""
    with path.open("w", encoding="utf-8") as file:
        for i, (town, subject, verb) in enumerate(zip(TOWNS, SUBJECTS, VERBS, strict=True)):
            before = f"{town} {subject} "
            variants = [
                {"relation": name, "level": n, "meaning": "kept", "text": f"{before}{words} {verb}.",
                 "edits": [{"start": len(before), "end": len(before) + 3, "text": words}]}
                for name, words, n in ((kept, "could", 1), (changed, "will surely", level))
            ]  # fmt: skip
            group = {"id": str(i), "domain": "d", "split": "gate", "skeleton": f"s{i}", "variants": variants}
            file.write(json.dumps({**group, "sentence": f"{before}may {verb}."}) + "\n")
    return f"probes:{path}"


@pytest.fixture
def run(pytester, tmp_path):
    def run(*args, checks=("modality",)):
        places = [f"encheck.checks.test_{name}" for name in checks]
        common = ["--encheck-model=jaccard", f"--encheck-report-dir={tmp_path}/out", "-p", "no:cacheprovider"]
        return pytester.runpytest("--pyargs", *places, *common, *args)

    return run


@pytest.mark.parametrize(
    ("kept", "changed", "level", "said"),
    [
        ("hedging_kept", "hedging", 1, "no check reads the relation 'hedging' at level 1, which 10 variants have ("),
        ("modality_keept", "modality", 1, "the nearest one that is read is 'modality_kept'"),
        ("modality_kept", "modality", 2, "'modality' at level 2, which 10 variants have; level 2, but checks read 1"),
    ],
)  # fmt: skip
def test_a_relation_that_no_check_reads_is_an_error(run, tmp_path, kept, changed, level, said):
    found = run(f"--encheck-data={probes(tmp_path / 'own.jsonl', kept, changed, level=level)}")
    assert found.ret == 4
    assert said in found.stdout.str() + found.stderr.str()


def test_a_relation_that_a_check_of_the_users_own_reads_is_none(pytester, run, tmp_path):
    pytester.makepyfile(test_hedging=OWN)
    data = probes(tmp_path / "own.jsonl", "hedging_kept", "hedging")
    args = ["--encheck-model=jaccard", f"--encheck-data={data}", f"--encheck-report-dir={tmp_path}/out"]
    found = pytester.runpytest("test_hedging.py", *args)
    assert found.ret == 0
    (data,) = json.loads((tmp_path / "out" / "results.json").read_text("utf-8"))["data"]
    assert data["measured"] == {"jaccard": {"selected": 1, "measured": 1, "items": 10}}


def test_data_of_which_nothing_was_measured_do_not_pass(run, tmp_path):
    data = f"--encheck-data={probes(tmp_path / 'own.jsonl', 'modality_kept', 'modality')}"
    found = run(data, "-m", "negation or contract", checks=("negation", "contract"))
    assert found.ret == 5
    assert found.parseoutcomes() == {"skipped": 4, "inconclusive": 2}  # the contracts, which are of any text
    said = "NOTHING WAS MEASURED on probes with jaccard: 10 rows were read"
    assert said in found.stdout.str()
    assert "passes" not in found.stdout.str().replace("does not pass", "")
    assert said in (tmp_path / "out" / "summary.md").read_text("utf-8")
    assert said in (tmp_path / "out" / "report.html").read_text("utf-8")
    results = json.loads((tmp_path / "out" / "results.json").read_text("utf-8"))
    assert results["run"]["exit_status"] == 5
    assert results["data"][0]["measured"]["jaccard"]["items"] == 0


def test_one_of_two_data_sets_that_gives_nothing_is_enough(run, tmp_path):
    (tmp_path / "nl.txt").write_text("De kat zit op de mat in de keuken\nHet regent al de hele dag\n", "utf-8")
    own = probes(tmp_path / "own.jsonl", "modality_kept", "modality")
    found = run(f"--encheck-data={own}", f"--encheck-data=texts:{tmp_path}/nl.txt")
    assert found.ret == 5
    assert "NOTHING WAS MEASURED on texts with jaccard: 2 rows were read" in found.stdout.str()
    assert "NOTHING WAS MEASURED on probes" not in found.stdout.str()


def test_whoever_selects_contracts_alone_has_asked_for_no_more(run, tmp_path):
    data = f"--encheck-data={probes(tmp_path / 'own.jsonl', 'modality_kept', 'modality')}"
    assert run(data, checks=("contract",)).ret == 0


def test_every_relation_that_ships_is_read():
    read = variants_read_by_claims(claim for _, claim in shipped_checks())
    there = {(v.relation, v.level) for group in load("probes").groups if not group.side for v in group.variants}
    assert there - read <= {("paraphrase", 1)}
