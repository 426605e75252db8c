"""What a gate is for, from the command line to its reports: a search, pairs, graded pairs, and what is refused
beforehand.
"""

import json
import re
from xml.etree import ElementTree

import jsonschema
import numpy as np
import pytest
from gated import gate as gate_at_the_terminal
from recorded import schema

import encheck
from encheck.comparing.comparison import compare
from encheck.encoders.fake import BagOfWords, Overlap
from encheck.engine.gate import add_built_in_data, find_shipped_baseline
from encheck.errors import UsageError
from encheck.gating.baseline import read_baseline
from encheck.gating.types import Balanced

THINGS = "amber basil cedar elder fern grape hazel iris kelp lemon maple olive rose sage thyme violet".split()
PAIRS = [(THINGS[i % 16], THINGS[(i + 1 + i // 16) % 16]) for i in range(110)]
ENGLISH = ("where is the {1} {2} number {0}", "The {1} {2} of box {0} is stored in room {3} of the house.")
GERMAN = ("Wo liegt die Ware {1} {2} aus Kiste {0}", "Die Ware {1} {2} der Kiste {0} liegt im Raum {3} im Haus.")


class Blind(BagOfWords):
    """Takes each number for the same one."""

    def fingerprint(self):
        return "blind"

    def encode(self, texts, *, role=None):
        return super().encode([re.sub(r"\d+", "7", text) for text in texts], role=role)


class Unused(BagOfWords):
    """May be asked for no vector."""

    def __init__(self, name):
        super().__init__()
        self.name = name

    def fingerprint(self):
        return self.name

    def encode(self, texts, *, role=None):
        raise AssertionError(f"{len(texts)} texts were encoded as {role}")


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Data, and the folders of runs on them: a gate of two folders computes no vector."""
    place = tmp_path_factory.mktemp("purposes")
    for name, texts, count in (("english", ENGLISH, 44), ("german", GERMAN, 20)):
        asked = [[text.format(i, *PAIRS[i], i % 7) for text in texts] for i in range(count)]
        rows = [json.dumps({"query": query, "document": document}) for query, document in asked]
        (place / f"{name}.jsonl").write_text("\n".join(rows), "utf-8")
    verbs = "paints mends buys sells lifts folds hides shows burns plants cooks maps".split()
    same = [
        f"{one}{i} {verbs[i % 12]} {two}{i},{two}{i} {one}{i} {verbs[i % 12]},1"
        for i, (one, two) in enumerate(PAIRS[:110])
    ]
    other = [
        f"{one}{i}x {verbs[i % 12]} {two},{two}s{i} {verbs[(i + 5) % 12]} {one}s,0"
        for i, (one, two) in enumerate(PAIRS[:90])
    ]
    (place / "pairs.csv").write_text("\n".join(["first,second,label", *same, *other]), "utf-8")
    graded = [
        f"the {one} box {i} {verbs[i % 12]},the {one} box {i} {' '.join(THINGS[: i % 9])},{9 - i % 9}"
        for i, (one, _) in enumerate(PAIRS)
    ]
    (place / "graded.csv").write_text("\n".join(["first,second,score", *graded]), "utf-8")
    shared = [f"ticket {line.replace(',', ',ticket ', 1)}" for line in (*same, *other)]
    (place / "shared.csv").write_text("\n".join(["first,second,label", *shared]), "utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ENCHECK_STORE", str(place / "store.sqlite"))
        for model, name, data, checks in (
            ("bag-of-words", "counts", "retrieval:english.jsonl", None),
            (Blind(), "blind", "retrieval:english.jsonl", None),
            ("bag-of-words", "german", "retrieval:german.jsonl", None),
            ("bag-of-words", "pairs-counts", "pairs:pairs.csv", None),
            ("random", "pairs-random", "pairs:pairs.csv", "paraphrase"),
            ("bag-of-words", "graded-counts", "pairs:graded.csv", "sts or symmetry"),
            ("random", "graded-random", "pairs:graded.csv", "sts or symmetry"),
            ("bag-of-words", "shared-counts", "pairs:shared.csv", "paraphrase"),
        ):
            kind, _, file = data.partition(":")
            encheck.run(model, data=f"{kind}:{place / file}", checks=checks, report_dir=place / name)
    return place


@pytest.fixture
def gate(place):
    """Gate two folders of runs as one does at the terminal."""
    return lambda new, old, *args: gate_at_the_terminal(str(place / new), place / old, *args)


def first(done):
    return next(line for line in done.outlines if line.startswith("gate against "))


def test_a_search_is_gated_for_a_search_unless_something_else_is_asked_for(gate):
    done = gate("counts", "counts")
    assert done.ret == 0
    assert ", for another model for this search (a loss of 4 points must be ruled out): PASSED" in first(done)
    changed = gate("counts", "counts", "--for", "change")
    assert changed.ret == 10  # its rule takes 100 queries
    assert first(changed).startswith(
        "gate against bag-of-words, for a changed model (no behaviour may be lost): INCONCLUSIVE"
    )


def test_a_blocked_model_has_no_balanced_score(place, few_probes):
    how = {"data": [few_probes, f"retrieval:{place / 'english.jsonl'}"], "checks": "retrieval or number or typo"}
    how |= {"purpose": "change", "no_store": True}
    same, worse = (encheck.gate(new, BagOfWords(), **how).decision for new in (BagOfWords(), Blind()))
    assert same.balanced.candidate == same.balanced.baseline > 0
    assert (worse.outcome, worse.balanced) == ("block", Balanced(same.balanced.baseline, None))


def test_the_sentences_that_come_with_encheck_are_added_unless_the_data_have_some(place):
    data = [f"retrieval:{place / 'english.jsonl'}"]
    assert add_built_in_data(data, None) == ["probes", *data]
    assert add_built_in_data([*data, "probes:./mine.jsonl"], None) == [*data, "probes:./mine.jsonl"]


def test_a_part_of_the_checks_leaves_nothing_to_accept_and_has_the_data_of_the_old_model(place):
    search = f"retrieval:{place / 'english.jsonl'}"
    found = encheck.gate(Blind(), place / "counts", data=search, checks="retrieval or number")
    assert (found.exit_code, found.decision.yours) == (10, ())
    assert found.partial
    assert [one.name for one in found.results.raw.data] == ["retrieval"]


def test_a_watched_loss_is_the_users_decision_until_it_is_accepted(gate, tmp_path):
    junit, report = tmp_path / "junit.xml", tmp_path / "r"
    done = gate("blind", "counts", "--report-dir", report, "--junitxml", junit)
    assert done.ret == 10
    assert done.outlines[-1].startswith("GATE: YOUR DECISION. number: ")
    assert done.outlines[-1].endswith("for you to accept or not")
    (told,) = [line for line in done.outlines if "  Your decision: " in line]
    assert "may replace bag-of-words, except for number. number: " in told
    assert ". Otherwise: recall@1 +0.0 points" in told
    (typed,) = [line.strip() for line in done.outlines if line.endswith("--accept=number")]
    assert typed.startswith("encheck ")
    assert not any("worse, but decides nothing" in line and "Numbers" in line for line in done.outlines)
    results = json.loads((report / "results.json").read_text("utf-8"))
    jsonschema.validate(results, schema(), cls=jsonschema.Draft202012Validator)
    assert results["gate"]["against"][0]["yours"] == ["number"]
    cases = {case.get("name"): case for case in ElementTree.parse(junit).iter("testcase")}
    assert cases["gate"].find("error").get("message") == done.outlines[-1]
    assert "a little worse" not in (report / "gate.html").read_text("utf-8")
    accepted = gate("blind", "counts", "--accept", "number")
    assert accepted.ret == 0
    assert any("points, which you accept" in line for line in accepted.outlines)


def test_the_decision_says_what_is_the_users(place):
    both = [place / "blind", place / "counts"]
    found = encheck.gate(*both)
    assert (found.outcome, found.decision.purpose, found.decision.yours) == ("inconclusive", "search", ("number",))
    protected = encheck.gate(*both, protect=["number"])
    assert (protected.outcome, protected.decision.yours) == ("block", ())
    assert protected.reasons[0].startswith("number: ")


def test_pairs_are_decided_by_what_each_model_accepts_at_its_own_threshold(gate):
    done = gate("pairs-counts", "pairs-counts", "--for", "pairs")
    assert done.ret == 0
    assert ", for another model for these pairs (a loss of 4 points must be ruled out): PASSED" in first(done)
    assert re.search(r"share of positives accepted \(at 0\.\d+ before, 0\.\d+ now\)", done.outlines[-1])


def test_a_model_without_a_threshold_is_a_no(gate):
    done = gate("pairs-random", "pairs-counts", "--max-false-accepts", 0.05)
    assert done.ret == 1
    assert ", for another model for these pairs" in first(done)
    assert "no threshold of the candidate keeps 5%" in done.outlines[-1]
    assert any("Accepted pairs got worse: 110 of 110 pairs lost" in line for line in done.outlines)


def test_graded_pairs_are_decided_by_the_correlation_with_their_scores(gate, place):
    done = gate("graded-random", "graded-counts", "--report-dir", place / "graded-gate", "-v")
    assert done.ret == 1
    assert ", for another model for these graded pairs (a loss of 2 points must be ruled out): BLOCKED" in first(done)
    assert re.search(r"GATE.*: BLOCKED. Graded pairs: 0\.\d+ to -?0\.\d+ .*: a loss is certain", done.outlines[-1])
    results = json.loads((place / "graded-gate" / "results.json").read_text("utf-8"))
    jsonschema.validate(results, schema(), cls=jsonschema.Draft202012Validator)
    (against,) = results["gate"]["against"]
    (row,) = [row for row in against["rows"] if row["row"] == "sts/pairs/1"]
    figures = {one["model"]: one for one in results["checks"] if one["metric"] == "spearman"}
    assert row["candidate"] == pytest.approx(figures["random"]["value"], abs=1e-5)
    assert (against["purpose"], against["margin"], row["endpoint"]) == ("similarity", 0.02, "Spearman")
    assert not any("ranks_pairs" in case for case in against["reported_only"])
    compared = compare([place / "graded-counts", place / "graded-random"])
    (found,) = [d for d in compared.differences["random"] if d.property == "sts"]
    assert (found.difference, found.low, found.high) == pytest.approx([row[k] for k in ("change", "low", "high")])
    same = gate("graded-counts", "graded-counts", "--for", "similarity", "--margin", 3)
    assert "(a loss of 3 points must be ruled out)" in first(same)


def test_pairs_that_nothing_calibrates_have_a_threshold_all_the_same(place):
    decision = encheck.gate(place / "shared-counts", place / "shared-counts").decision
    assert decision.purpose == "pairs"
    assert decision.rows[0].endpoint.startswith("share of positives accepted (at 0.")
    results = json.loads((place / "shared-counts" / "results.json").read_text("utf-8"))
    (row,) = [one for one in results["checks"] if one["verdict"] and "non_paraphrase" in one["check"]]
    assert row["reason"] == "pairs has no two sentences without a shared content word to calibrate with"
    changed = encheck.gate(place / "shared-counts", place / "shared-counts", purpose="change")
    (against,) = changed.results.raw.gate.against
    assert [why for case, why in against.reported_only.items() if "non_paraphrase" in case] == [row["reason"]]


def test_a_search_decides_no_gate_for_pairs(gate):
    done = gate("counts", "counts", "--for", "pairs")
    assert done.ret == 4
    done.stderr.fnmatch_lines(["*--for pairs needs data that decide: pairs labelled 0 and 1*"])


def test_texts_in_another_language_leave_out_the_sentences_that_come_with_encheck(gate):
    done = gate("german", "german")
    assert done.ret == 0
    assert done.outlines[done.outlines.index(first(done)) + 1] == "  of 20 texts, 20 German"
    done.stdout.fnmatch_lines(["  - the sentences that come with encheck are English, so they neither decide nor *"])


@pytest.mark.parametrize(
    ("how", "said"),
    [
        (["--for", "serch"], "unknown --for 'serch'; did you mean 'search'"),
        (["--margin", "50"], "--margin is 50 points, but should be between 2 and 10"),
        (["--max-false-accepts", "2"], "--max-false-accepts should be a share between 0 and 1"),
        (["--for", "change", "--protect", "number"], "need another model"),
        (["--for", "search", "--accept", "ngation"], "unknown --accept 'ngation'; did you mean 'negation'"),
        (["--for", "search", "--protect", "number", "--accept", "number"], "number is protected"),
        (["--for", "pairs", "--accept", "number"], "number is protected"),
        (["--accept", "retrieval/retrieval/1/half=a"], "unknown --accept 'retrieval/retrieval/1/half=a'"),
    ],
)
def test_a_purpose_that_cannot_be_is_one_error(gate, how, said):
    done = gate("counts", "counts", *how)
    assert done.ret == 4
    (line,) = [line for line in done.stderr.lines if line]
    assert said in line


@pytest.mark.parametrize(
    ("data", "how", "said"),
    [
        ("retrieval:english.jsonl", {"purpose": "pairs"}, "pairs labelled 0 and 1 .* These data fit --for search"),
        ("pairs:pairs.csv", {"purpose": "search"}, "--for search needs data .* These data fit --for pairs"),
        ("retrieval:english.jsonl", {"protect": ["ngation"]}, "unknown --protect 'ngation'; did you mean 'negation'"),
        ("retrieval:english.jsonl", {"purpose": "similarity"}, "graded pairs .* These data fit --for search"),
        ("pairs:graded.csv", {"purpose": "pairs"}, "labelled 0 and 1 .* These data fit --for similarity"),
        ("pairs:graded.csv", {"protect": ["ngation"]}, "unknown --protect 'ngation'"),
        (
            "retrieval:german.jsonl",
            {"protect": ["negation"]},
            "--protect negation cannot be measured: of 20 texts, 20 German, and the sentences that come with encheck",
        ),
        (
            "retrieval:english.jsonl",
            {"purpose": "search", "checks": "number"},
            "is decided by checks of retrieval, which -m or -k leave out",
        ),
    ],
)
def test_what_cannot_decide_is_refused_before_anything_is_encoded(place, few_probes, data, how, said):
    kind, _, file = data.partition(":")
    with pytest.raises(UsageError, match=said):
        encheck.gate(Unused("a"), Unused("b"), data=[f"{kind}:{place / file}", few_probes], **how)


def test_the_default_model_is_not_encoded_on_the_probes_unless_it_is_used_in_another_way(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = find_shipped_baseline("sbert", ["probes"], {"device": "cpu", "no_store": True})
    assert found is not None
    assert found.model.label == "sbert"
    among_others = find_shipped_baseline("sbert", ["probes", "retrieval:x"], {"queries": "log.txt"})
    assert among_others is not None
    assert among_others.cases.keys() == found.cases.keys()
    assert find_shipped_baseline("sbert", ["probes:mine.jsonl", "probes"], {}) is None
    assert find_shipped_baseline("sbert", ["probes"], {"model_arg": ["pooling=cls"]}) is None
    assert find_shipped_baseline("bigrams", ["probes"], {}) is None
    (tmp_path / "models.yaml").write_text("sbert: {adapter: encheck.encoders.fake:BagOfWords}", "utf-8")
    assert find_shipped_baseline("sbert", ["probes"], {}) is None


class Listing(BagOfWords):
    """Lists what it encodes."""

    def __init__(self):
        super().__init__()
        self.texts = set()

    def fingerprint(self):
        return "listing"

    def encode(self, texts, *, role=None):
        self.texts |= {*texts}
        return super().encode(texts, role=role)


OWN_CHECK = '''
"""A property that the built-in sentences have, and no shipped score."""

from encheck import claim
from encheck.generators.antonym import antonym
from encheck.items import against_paraphrase
from encheck.metrics import margin_rate


@claim(against_paraphrase(antonym), property="mine", metric=margin_rate.calibrated, aim=0.9)
def test_opposite_is_farther(judge):
    """An opposite is farther."""
    judge()
'''


def test_known_scores_are_not_measured_again_and_ones_own_check_is(place, few_probes, tmp_path, monkeypatch):
    (tmp_path / "own.py").write_text(OWN_CHECK, "utf-8")
    how = {
        "data": [few_probes, f"retrieval:{place / 'english.jsonl'}"], "own_checks": [tmp_path / "own.py"],
        "checks": "retrieval or number or mine", "no_store": True,
    }  # fmt: skip
    first, again, on_probes = Listing(), Listing(), Listing()
    encheck.run(on_probes, data=few_probes, checks="number or contract", save_baseline=tmp_path / "kept", no_store=True)
    measured = encheck.gate(Blind(), first, **how)
    known = read_baseline(tmp_path / "kept")
    monkeypatch.setattr("encheck.engine.gate.find_shipped_baseline", lambda *_: known)
    found = encheck.gate(Blind(), again, **how)
    assert repr(found.decision) == repr(measured.decision)  # NaN is not equal to NaN
    assert {"number/probes/1", "mine/probes/1"} <= {row.name for row in found.rows}
    assert on_probes.texts <= first.texts
    assert len(on_probes.texts - again.texts) > 80  # those of numbers, but not the random pairs that mine needs
    shown = [[(row.id, row.baseline) for row in one.results.raw.checks] for one in (found, measured)]
    assert shown[0] == shown[1]
    known_alone = encheck.gate(Blind(), Listing(), **how | {"data": few_probes, "checks": "number"})
    assert known_alone.rows


class Cascade:
    """As docs/tasks/replace.md says: counts of words, and word overlap for the pairs that reach a threshold."""

    def __init__(self, first):
        self.model, self.verifier, self.first = BagOfWords(), Overlap(), first

    def fingerprint(self):
        return f"{self.model.fingerprint()}, from {self.first} on {self.verifier.fingerprint()}"

    def score_pairs(self, first, second):
        rows = {text: row for row, text in enumerate(dict.fromkeys([*first, *second]))}
        vectors = self.model.encode([*rows])  # each text once
        one, two = (vectors[[rows[text] for text in texts]] for texts in (first, second))
        near = (one * two).sum(axis=1) >= self.first
        scores = np.full(len(near), -1.0)
        some = [[text for text, is_near in zip(texts, near, strict=True) if is_near] for texts in (first, second)]
        scores[near] = self.verifier.score_pairs(*some)
        return scores


def test_a_model_with_a_verifier_is_gated_as_it_runs(place, few_probes):
    """A first threshold that no pair reaches accepts nothing; the same one again loses nothing."""
    data = [f"pairs:{place / 'pairs.csv'}", few_probes]
    how = {"data": data, "purpose": "pairs", "checks": "paraphrase", "no_store": True}
    worse = encheck.gate(Cascade(1e9), Cascade(0.5), **how)
    (row,) = (one for one in worse.rows if one.budget == "primary")
    assert (worse.outcome, row.candidate) == ("block", 0)
    (row,) = (one for one in encheck.gate(Cascade(0.5), Cascade(0.5), **how).rows if one.budget == "primary")
    assert row.baseline == row.candidate > 0
