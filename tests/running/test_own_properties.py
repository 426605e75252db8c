"""Properties of the user's own, from the file to the page and through a gate."""

import json

import pytest

import encheck
from encheck.cli import main
from encheck.datasets.load import add_property_to_specs, data_label, load, properties_of_spec
from encheck.encoders.fake import BagOfWords
from encheck.engine.checks import packaged_checks, select_checks
from encheck.engine.results import read_run
from encheck.errors import ConfigError, DataError, NothingToMeasure, UsageError
from encheck.items import OwnProperty
from encheck.items.variants import VariantMaker
from encheck.reporting.data import describe_dataset
from encheck.running.labels import data_labels
from encheck.training import behaviour

SUBJECTS = (
    "the drug,a tariff,this vaccine,our plan,the storm,a treaty,coffee,exercise,the merger,a subsidy,night work,the "
    "dam,fertiliser,the strike,a curfew,sugar,the comet,salt,the algorithm,noise,traffic,the drought,the reform,"
    "fasting,the tunnel,a boycott,sunlight,caffeine,the patch,mercury"
).split(",")
PREDICATES = (
    "fever,prices,measles,money,Florida,wars,sleep,memory,jobs,farmers,cancer,villages,bees,mines,riots,tumours,Earth,"
    "arteries,men,birds,ambulances,harvests,queues,life,clay,exporters,coral,migraine,crashes,tuna"
).split(",")
TRIPLETS = [
    {"anchor": f"{one} may affect {other}", "positive": f"{one} perhaps affects {other}",
     "negative": f"{one} must affect {other}"}
    for one, other in zip(SUBJECTS, PREDICATES, strict=True)
]  # fmt: skip
CONTRASTS = [
    {"q1": f"may {one} affect {other}?", "q2": f"must {one} affect {other}?", "doc1": f"{one} may affect {other}",
     "doc2": f"{one} must affect {other}"}
    for one, other in zip(SUBJECTS, PREDICATES, strict=True)
]  # fmt: skip
CHECK = "hedging_positive_is_nearer_than_negative"
QUIET = {"no_store": True}


def put(path, rows, *names):
    """Write the rows; `names` are their properties in turn."""
    named = [{**row, "property": names[i % len(names)]} if names else row for i, row in enumerate(rows)]
    path.write_text("".join(json.dumps(row) + "\n" for row in named), "utf-8")
    return path


def judged(results):
    """Figure, rows and rivals of the rows that the checks judge by."""
    return {row.property: row for row in results.rows if row.metric in ("margin_rate_calibrated", "both_directions")}


def test_each_property_of_a_file_is_a_row_with_rivals_and_an_interval_and_no_search(tmp_path):
    file = put(tmp_path / "own.jsonl", TRIPLETS, "hedging", "hedging", "certainty")
    found = encheck.run("bag-of-words", data=f"triplets:{file}", report_dir=tmp_path / "out", **QUIET)
    rows = judged(found)
    assert {name: (row.n, row.data, row.verdict) for name, row in rows.items()} == {
        "hedging": (20, "triplets", None), "certainty": (10, "triplets", None),
    }  # fmt: skip
    hedging = rows["hedging"]
    assert hedging.check == CHECK
    assert 0 <= hedging.low <= hedging.value <= hedging.high <= 1
    raw = next(row for row in found.raw.checks if row.check == CHECK and row.verdict is None)
    assert {"jaccard", "edit-distance", "bigrams", "tf-idf"} <= {*raw.surface}
    assert "a property of your own: set a threshold" in hedging.reason
    measured = {row.property for row in found.rows if row.value is not None}
    assert measured == {"hedging", "certainty", "contract"}  # all triplets share a word, so nothing is apart
    page = (tmp_path / "out" / "report.html").read_text("utf-8")
    assert "hedging positive is nearer than negative" in page
    assert "certainty positive is nearer than negative" in page


@pytest.mark.parametrize(
    ("spec", "rows", "check"),
    [("triplets", TRIPLETS, CHECK), ("contrast", CONTRASTS, "hedging_query_prefers_its_own_document")],
)
def test_a_property_for_all_rows_is_selected_gated_and_kept_in_a_baseline(tmp_path, spec, rows, check):
    data, base = f"{spec}:{put(tmp_path / 'plain.jsonl', rows)}", tmp_path / "base"
    run = {"data": data, "property": "hedging", "checks": "hedging", **QUIET}
    (old,) = judged(encheck.run("random", save_baseline=base, **run)).values()
    assert (old.check, old.n) == (check, 30)
    decided = encheck.gate("bag-of-words", base, **run)
    named = {row.name: row for row in decided.rows}
    row = named[f"hedging/{spec}/1"]
    assert (row.baseline, row.n) == (pytest.approx(0.5, abs=0.3), 30 * (1 + (spec == "contrast")))
    assert not row.gates
    assert "a gate needs 150 in 30" in row.why


def test_a_lost_property_blocks(tmp_path):
    rows = [{"anchor": f"a{i} b{i} c{i}", "positive": f"a{i} b{i} d{i}", "negative": f"e{i} f{i} c{i}"}
            for i in range(300)]  # fmt: skip
    data = f"triplets:{put(tmp_path / 'own.jsonl', rows, 'hedging')}"
    decided = encheck.gate("random", "bag-of-words", data=data, report_dir=tmp_path / "out", **QUIET)
    row = next(row for row in decided.rows if row.name == "hedging/triplets/1")
    assert (decided.outcome, row.outcome, row.family) == ("block", "block", "meaning changed")
    assert "Hedging" in (tmp_path / "out" / "gate.html").read_text("utf-8")


def test_two_models_are_compared_on_a_property(tmp_path, capsys):
    file = put(tmp_path / "own.jsonl", TRIPLETS, "hedging")
    encheck.run(["bag-of-words", "random"], data=f"triplets:{file}", checks="hedging", report_dir=tmp_path / "out",
                **QUIET)  # fmt: skip
    with pytest.raises(SystemExit):
        main(["compare", str(tmp_path / "out"), "--out", str(tmp_path / "compare.html")])
    assert "hedging" in capsys.readouterr().out
    assert "hedging" in (tmp_path / "compare.html").read_text("utf-8")


def test_the_evaluator_of_trainings_knows_a_property(tmp_path):
    data = f"triplets:{put(tmp_path / 'own.jsonl', TRIPLETS, 'hedging', 'certainty')}"
    assert "hedging" in behaviour(BagOfWords().encode, data=data, checks="hedging")
    assert {"hedging", "certainty"} <= {*behaviour(BagOfWords().encode, data=data, checks=["hedging", "certainty"])}


def test_pytest_selects_a_property_by_its_marker_and_has_no_such_check_without_one(pytester):
    put(pytester.path / "own.jsonl", TRIPLETS, "hedging", "certainty")
    run = ("--pyargs", "encheck.checks.test_own", "-p", "no:cacheprovider", "--encheck-model=bag-of-words",
           "--encheck-no-store", "--encheck-report-dir=out", "--encheck-look-first")  # fmt: skip
    pytester.runpytest_inprocess(*run, "--encheck-data=triplets:own.jsonl", "-m", "hedging").assert_outcomes(
        passed=1, deselected=1
    )
    assert {row.check for row in read_run(pytester.path / "out").rows} == {CHECK}
    pytester.runpytest_inprocess(*run, "--encheck-data=triplets:own.jsonl", "-m", "own").assert_outcomes(passed=2)
    assert pytester.runpytest_inprocess(*run, "--encheck-data=probes").ret == pytest.ExitCode.NO_TESTS_COLLECTED
    wrong = pytester.runpytest_inprocess(*run, "--encheck-data=triplets:own.jsonl", "--encheck-property=hedging")
    wrong.stderr.fnmatch_lines(["*own.jsonl:1: the column 'property' names the property of each row*"])


def test_the_name_of_a_shipped_property_is_its_own_on_these_data(tmp_path):
    data = [f"triplets:{put(tmp_path / 'own.jsonl', TRIPLETS, 'antonym')}"]
    chosen = select_checks(packaged_checks(data), "antonym")
    assert "antonym_positive_is_nearer_than_negative" in {check.name for check in chosen}
    assert {"antonym_is_farther_than_paraphrase"} < {check.name for check in chosen}
    own = next(check for check in chosen if isinstance(check.claim.items, OwnProperty))
    assert own.claim.declared.aim is None
    assert select_checks(packaged_checks(data), "own") == (own,)
    assert packaged_checks(data)[0] == packaged_checks()[0]
    assert len(packaged_checks(data)) == len(packaged_checks()) + 1


def test_a_threshold_is_of_one_property_or_of_all(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run = {"data": f"triplets:{put(tmp_path / 'own.jsonl', TRIPLETS, 'hedging')}", "checks": "hedging", **QUIET}

    def verdict(key, **changed):
        (tmp_path / "pyproject.toml").write_text(f"[tool.encheck.thresholds]\n{key} = 0.9\n", "utf-8")
        return next(row.verdict for row in encheck.run("bag-of-words", **{**run, **changed}).rows if row.verdict)

    assert verdict(CHECK) == verdict("positive_is_nearer_than_negative") == "fail"
    assert verdict(CHECK, data="probes", checks="contract") == "pass"  # it is for other data
    with pytest.raises(ConfigError, match="unknown check 'hedging_positive_is_near'"):
        verdict("hedging_positive_is_near")


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (("hedging", ""), r"own.jsonl:2: the property is missing: name one in every row"),
        (("hedging", None), r"own.jsonl:2: the property is missing"),
        (("two words",), r"own.jsonl:1: the property is 'two words', but should be a word"),
        (("hedging", 7), r"own.jsonl:2: the property is 7, but"),
        (("not",), r"the property is 'not', but should be a word"),
        (("skip",), r"the property is 'skip', but should be a word"),
    ],
)
@pytest.mark.parametrize("skips", [False, True])
def test_a_wrong_property_is_refused_before_anything_is_encoded(tmp_path, names, said, skips):
    for kind, rows in (("triplets", TRIPLETS), ("contrast", CONTRASTS)):
        file = put(tmp_path / "own.jsonl", rows, *names)
        with pytest.raises(DataError, match=said):
            encheck.run("fails", data=f"{kind}:{file}", skip_bad_rows=skips, **QUIET)


def test_a_first_row_without_the_property_that_others_name_is_refused(tmp_path):
    for kind, rows in (("triplets", TRIPLETS), ("contrast", CONTRASTS)):
        file = tmp_path / "own.jsonl"
        file.write_text("\n".join(map(json.dumps, [rows[0], {**rows[1], "property": "hedging"}])), "utf-8")
        with pytest.raises(DataError, match=r"own.jsonl:1: the property is missing"):
            load(f"{kind}:{file}")


def test_a_property_for_all_rows_needs_data_that_may_have_one(tmp_path):
    file, named = put(tmp_path / "plain.jsonl", TRIPLETS), put(tmp_path / "own.jsonl", TRIPLETS, "hedging")
    assert add_property_to_specs(["probes", f"triplets:{file}"], "x") == ["probes", f"triplets@x:{file}"]
    assert (
        add_property_to_specs([str(file)], "x")
        == add_property_to_specs([f"triplets@x:{file}"], "x")
        == [f"triplets@x:{file}"]
    )
    assert data_labels([f"triplets@x:{file}", f"triplets@y:{file}"]).keys() == {"triplets", "triplets-2"}
    for data, name, said in (
        ("probes", "x", "is for triplets and contrasts"),
        (f"triplets:{file}", "no good", "should be a word"),
        (f"triplets@x:{file}", "y", "names the property 'x', but --property=y was given"),
    ):
        with pytest.raises(UsageError, match=said):
            add_property_to_specs([data], name)
    with pytest.raises(DataError, match="leave out 'x'"):
        load(f"triplets@x:{named}")
    with pytest.raises(DataError, match="triplets@no good: the property is"):
        load(f"triplets@no good:{file}")


def test_other_data_and_files_without_a_property_have_none(tmp_path):
    file = put(tmp_path / "plain.jsonl", TRIPLETS)
    specs = ("probes", "triplets", f"triplets:{file}", f"triplets:{tmp_path}/none.jsonl", f"retrieval:{file}")
    assert [properties_of_spec(spec) for spec in specs] == [()] * 5
    assert properties_of_spec(f"triplets@x:{file}", "contrast") == ()
    assert properties_of_spec(f"triplets@x:{file}", "triplets") == ("x",)
    assert load(f"triplets:{file}").collection is not None
    with pytest.raises(NothingToMeasure, match="no data for the property 'x'"):
        OwnProperty("triplets", "x")(load(f"triplets:{file}"), 1, VariantMaker())


def test_rows_become_triplets_in_clusters_and_samples_are_of_each_property(tmp_path, caplog):
    lists = {"query": "a b", "pos": ["c d", "e f"], "neg": ["g h"], "cluster": "one", "note": "x"}
    other = {"query": "i j", "pos": ["k l"], "neg": ["g h"]}
    file = put(tmp_path / "own.jsonl", [lists, lists, other], "x", "x", "y")
    found = load(f"triplets:{file}")
    assert [(one.source, one.near, one.far, one.cluster) for one in found.properties["x"]] == [
        ("a b", "c d", "g h", "one"), ("a b", "e f", "g h", "one"),
    ]  # fmt: skip
    assert len(found.properties["y"]) == 1
    assert "2 of 5 rows repeat an earlier one" in caplog.text
    assert "unused columns: note" in caplog.text
    sampled = load(f"triplets:{put(tmp_path / 'many.jsonl', TRIPLETS, 'x', 'y', 'y')}", sample=4)
    assert [len(some) for some in sampled.properties.values()] == [4, 4]
    assert sampled.sampled
    few = sampled.select_clusters({sampled.properties["x"][0].cluster})
    assert [len(some) for some in few.properties.values()] == [1, 0]
    assert few.fingerprint != sampled.fingerprint
    text = "\n".join(describe_dataset(found))
    assert "of x" in text
    assert "not: g h" in text


def test_one_text_may_stand_under_two_properties_and_not_twice_in_a_triplet(tmp_path):
    both = load(f"triplets:{put(tmp_path / 'own.jsonl', [TRIPLETS[0], TRIPLETS[0]], 'x', 'y')}")
    first, second = (some[0] for some in both.properties.values())
    assert first.id != second.id
    same = {**TRIPLETS[0], "negative": TRIPLETS[0]["positive"]}
    lacking = {**TRIPLETS[1], "negative": ""}
    for row, said in ((same, "are the same text"), (lacking, "the negative text is missing")):
        with pytest.raises(DataError, match=said):
            load(f"triplets:{put(tmp_path / 'own.jsonl', [TRIPLETS[2], row], 'x')}")
    halves = {"q1": CONTRASTS[0]["q2"], "q2": CONTRASTS[0]["q1"], "doc1": CONTRASTS[0]["doc2"],
              "doc2": CONTRASTS[0]["doc1"]}  # fmt: skip
    turned = load(f"contrast:{put(tmp_path / 'own.jsonl', [CONTRASTS[0], halves], 'x')}")
    assert len(turned.properties["x"]) == 1
    assert data_label(f"contrast@x:{tmp_path}") == "contrast"
