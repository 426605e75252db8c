"""The first look: what it takes, when a run stops after it, and that going on finds what a run without it finds."""

import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from recorded import refuse_other_results, run_file

from encheck.claims import claim_of
from encheck.datasets.dataset import Dataset
from encheck.encoders.fake import BagOfWords
from encheck.encoders.model_config import ModelConfig
from encheck.engine import first_look as looking
from encheck.engine.first_look import (
    CONTRACT_ITEMS,
    LookDecision,
    SharedDecision,
    decide_whether_to_stop,
    first_look_mode,
    headline_requests,
    largest_affordable_part,
)
from encheck.errors import UsageError
from encheck.gating.baseline import FirstLookItems, SavedScores
from encheck.items.variants import VariantMaker
from encheck.options import Settings, command_to_continue, refuse_invalid_options
from encheck.options.settings import OPTIONS
from encheck.reporting.results import read_items, read_results
from encheck.reporting.terminal import rest_lines
from encheck.running.model_under_test import ModelUnderTest
from encheck.running.scoring_session import ScoringSession
from encheck.scoring.frame import CaseScores
from encheck.scoring.pairs import SentencePair
from encheck.store import Store
from encheck.system.lock import no_locks
from encheck.system.terminal import Progress
from encheck.system.typed_files import as_values
from encheck.types import Group, Variant

QUIET = Progress(quiet=True)
CLUSTERS = 60


class Clock:
    """Says what time it is: each text that was encoded took a second."""

    def __init__(self):
        self.time = self.for_others = 0.0

    def now(self):
        return self.time


class Slow(BagOfWords):
    """Takes its time, and remembers what it was asked for."""

    def __init__(self, clock, seconds):
        super().__init__()
        self.clock, self.seconds, self.asked = clock, seconds, []

    def encode(self, texts, *, role=None):
        self.asked += texts
        self.clock.time += self.seconds * len(texts)
        return super().encode(texts)


def group(number, kinds):
    source = f"item {number} was sold to buyer {number}"
    written = [Variant(f"{source} by {kind} {side}", kind) for kind in kinds for side in "ab"]
    return Group(f"g{number}", source, f"buyer {number} bought item {number}", f"c{number:03}", tuple(written))


@pytest.fixture
def data():
    """Every third cluster has antonyms, the others have numbers."""
    groups = tuple(group(n, ["number"] if n % 3 else ["antonym"]) for n in range(CLUSTERS))
    pairs = tuple(
        SentencePair("demo", one.source, other, label, one.cluster)
        for one in groups
        for label, other in ((1, one.paraphrase), (0, f"{one.source} never"))
    )
    return Dataset("demo", pairs, groups, "", len(groups), universe=tuple(one.cluster for one in groups))


def check(name, file="paraphrase"):
    module = __import__(f"encheck.checks.test_{file}", fromlist=["x"])
    return claim_of(getattr(module, f"test_{name}"))


@pytest.fixture
def bench(data, tmp_path):
    """A bench of one model, which takes so many seconds a text and costs so much."""

    def bench(seconds=0.0, price=None):
        clock = Clock()
        model = Slow(clock, seconds)
        config = ModelConfig("slow", price=price)
        subjects = {"slow": ModelUnderTest("slow", config, model)}
        return ScoringSession(
            subjects, {"demo": data}, Store(tmp_path / "store.sqlite"), maker=VariantMaker(), clock=clock
        )

    return bench


@pytest.fixture
def requests():
    return [
        ("slow", "demo", check("paraphrase_is_nearer_than_non_paraphrase"), 1),
        ("slow", "demo", check("sentence_finds_its_paraphrase", "retrieval"), 1),
    ]


@pytest.fixture
def few(monkeypatch):
    monkeypatch.setattr(looking, "MAX_TEXTS", 90)


def test_a_look_takes_whole_clusters_of_each_kind_of_edit_and_no_more_texts_than_it_may(bench, requests, data):
    look = largest_affordable_part(bench(), requests, max_texts=90)
    part = look.session.data["demo"]
    assert 0.8 * 90 <= look.text_count <= 90
    assert [len(part.pairs), len(part.groups), look.clusters] == [2 * look.clusters, look.clusters, len(part.universe)]
    kinds = [variant.relation for one in part.groups for variant in one.variants[:1]]
    assert kinds.count("antonym") == kinds.count("number")
    again = largest_affordable_part(bench(), requests, max_texts=90)
    assert again.session.data["demo"].universe == part.universe
    other = bench()
    other.seed = 7
    assert largest_affordable_part(other, requests, max_texts=90).session.data["demo"].universe != part.universe


def test_a_search_is_left_out_of_a_look_since_its_figure_depends_on_all_that_is_searched(bench, requests):
    assert [claim.property for _, _, claim, _ in largest_affordable_part(bench(), requests, max_texts=90).requests] == [
        "paraphrase"
    ]
    assert largest_affordable_part(bench(), requests[1:], max_texts=90) is None


def test_contracts_are_looked_at_on_some_of_their_items_from_the_whole_run(bench, requests):
    contracts = [("slow", "demo", check(name, "contract"), 1)
                 for name in ("end_of_a_long_text_is_seen", "same_text_gets_the_same_answer_twice")]  # fmt: skip
    one = bench()
    look = largest_affordable_part(one, [*requests, *contracts], max_texts=200)
    assert look.text_count <= 200
    for contract in contracts:
        assert contract in look.requests
        items, every = look.session.items(*contract[1:]).included, one.items(*contract[1:]).included
        assert len(items) == min(CONTRACT_ITEMS, len(every))
        assert all(item in every for item in items)
        assert {item.cluster for item in items} - set(look.session.data["demo"].universe)
    look.session.prepare(look.requests, locks=no_locks, progress=QUIET)
    assert set(one.subjects["slow"].state.again[0]) == {item.text for item in items}


def test_of_a_property_with_a_headline_the_headline_is_looked_at_and_of_another_all_its_checks(requests):
    first, *_ = requests
    other = ("slow", "demo", check("paraphrase_is_nearer_than_random_pair"), 1)
    assert headline_requests([first, other]) == [first]
    assert headline_requests([other]) == [other]


def test_nothing_is_encoded_twice_and_a_store_that_has_all_needs_no_look(bench, requests, few):
    one = bench()
    look, decision = decide_whether_to_stop(one, requests, "ask", locks=no_locks, progress=QUIET)
    model = one.subjects["slow"].model
    assert len(model.asked) == look.text_count
    assert not decision.stops
    one.prepare(requests, locks=no_locks, progress=QUIET)
    assert len(model.asked) == len(set(model.asked))
    assert decide_whether_to_stop(bench(), requests, "ask", locks=no_locks, progress=QUIET) == (None, LookDecision())


def test_few_texts_need_no_look_even_where_one_was_asked_for(bench, requests):
    assert decide_whether_to_stop(bench(), requests, "stop", locks=no_locks, progress=QUIET) == (None, LookDecision())


def test_what_no_look_can_measure_is_skipped_with_quick_unless_it_is_small(bench, requests, monkeypatch):
    search = requests[1:]
    assert decide_whether_to_stop(bench(), search, "stop", locks=no_locks, progress=QUIET) == (None, LookDecision())
    monkeypatch.setattr(looking, "MAX_TEXTS", 20)
    look, decision = decide_whether_to_stop(bench(), search, "stop", locks=no_locks, progress=QUIET)
    assert (look, decision.stops, decision.look.texts, decision.rest.models) == (None, True, 0, ())
    assert decide_whether_to_stop(bench(), search, "ask", locks=no_locks, progress=QUIET) == (None, LookDecision())


@pytest.mark.parametrize(
    ("seconds", "price", "mode", "why"),
    [
        (0.01, None, "ask", ""),
        (30.0, None, "ask", "the rest takes over 5 minutes"),
        (30.0, None, "show", ""),
        (0.01, 0.02, "ask", "the model costs money"),
        (0.01, 0.0, "ask", ""),
        (0.01, None, "stop", "--quick"),
    ],
)
def test_a_run_stops_where_the_rest_takes_long_or_costs_money(bench, requests, few, seconds, price, mode, why):
    look, decision = decide_whether_to_stop(bench(seconds, price), requests, mode, locks=no_locks, progress=QUIET)
    (rest,) = decision.rest.models
    whole = look.total_text_count - look.text_count
    assert (decision.stops, decision.rest.why) == (bool(why), why)
    assert rest.texts == pytest.approx(whole, rel=0.1)
    assert rest.seconds == pytest.approx(seconds * whole, rel=0.15)
    assert rest.dollars == pytest.approx((price or 0) * rest.tokens / 1e6)


def test_the_rest_is_about_what_going_on_encodes(bench, requests, few):
    one = bench()
    _, decision = decide_whether_to_stop(one, requests, "stop", locks=no_locks, progress=QUIET)
    before = len(one.subjects["slow"].model.asked)
    one.prepare(requests, locks=no_locks, progress=QUIET)
    assert decision.rest.models[0].texts == pytest.approx(len(one.subjects["slow"].model.asked) - before, rel=0.1)


def test_workers_of_a_run_agree_on_what_the_first_of_them_decided(bench, requests, few, tmp_path):
    shared = SharedDecision(str(tmp_path / "run.lock"))
    assert shared.read() is None
    _, decision = decide_whether_to_stop(bench(), requests, "stop", locks=no_locks, progress=QUIET)
    shared.write(decision)
    assert SharedDecision(str(tmp_path / "run.lock")).read() == decision
    assert SharedDecision(None).read() is None


@pytest.mark.parametrize(
    ("settings", "is_junit", "mode"),
    [
        ({}, False, ""),
        ({"looks_first": True}, False, "ask"),
        ({"looks_first": True, "full": True}, False, "show"),
        ({"looks_first": True}, True, "show"),
        ({"quick": True}, True, "stop"),
        ({"looks_first": True, "save_baseline": "b"}, False, ""),
    ],
)
def test_only_encheck_run_looks_first_and_what_needs_all_items_never_does(settings, is_junit, mode):
    assert first_look_mode(Settings(**settings), is_junit=is_junit) == mode


@pytest.mark.parametrize(
    ("also", "said"),
    [
        ({"save_baseline": "b"}, "--save-baseline needs all items"),
        ({"full": True}, "use only one of them"),
    ],
)
def test_quick_is_refused_beside_what_needs_all_items(also, said):
    given = {one.dest: one.default for one in OPTIONS.values()} | {f"encheck_{name}": v for name, v in also.items()}
    with pytest.raises(UsageError, match=said):
        refuse_invalid_options(SimpleNamespace(**given | {"encheck_quick": True}))


def test_the_command_for_the_rest_is_the_one_that_was_typed():
    assert (
        command_to_continue(["x/encheck/__main__.py", "run", "--quick", "--data=a b"])
        == "encheck run '--data=a b' --full"
    )
    assert command_to_continue(["/bin/pytest", "-m", "antonym", "--encheck-quick"]) == "pytest -m antonym"
    assert command_to_continue(["/opt/pytest/__main__.py", "--encheck-quick"]) == "pytest"
    assert command_to_continue(["/opt/notebook"]) == ""


def test_what_is_left_is_said_with_time_tokens_and_price():
    one = {"model": "far", "texts": 22_000, "characters": 1e6, "tokens": 310_000, "is_counted": False, "price": None,
           "dollars": None, "seconds": 400.0}  # fmt: skip

    def lines(why, **more):
        rest = {"why": why, "models": [one | more], "command": "encheck run --full"}
        return list(rest_lines(run_file({"run": {"rest": rest}, "checks": []})))

    told = lines("--quick")
    assert told[0].startswith("Stopped after the first look (--quick). The rest for far: about ")
    assert told[0].endswith(
        "22,000 texts, 310,000 tokens of 4 characters; 7 min; price unknown: models.yaml gives none"
    )
    paid, free = lines("", dollars=0.0062, is_counted=True)[0], lines("", dollars=0.0, seconds=None)[0]
    assert paid.endswith("310,000 tokens; 7 min; $0.01")
    assert free.endswith("time unknown")


def test_the_reference_is_held_against_the_items_of_a_look_where_its_case_has_them_all():
    names = tuple("edcba")
    scores = np.arange(5.0) / 10
    whole = CaseScores("c/d/1", "c", "p", "d", "1", "pair", names, names, names, ("",) * 5, (None,) * 5, scores, scores)
    mine = whole.select(np.array([3, 0]))
    part = FirstLookItems.of(mine, whole)
    assert SavedScores.of(whole).align_to_part(mine, part).near.tolist() == [0.3, 0.0]
    assert SavedScores.of(whole.select(np.arange(4))).align_to_part(mine, part) is None
    assert FirstLookItems.of(whole, mine) is None


SOME = ("-m", "antonym or number", "--encheck-model=bag-of-words")


@pytest.fixture
def run(pytester, plain_and_number_probes, tmp_path, monkeypatch):
    """Run some checks in this process: exit code, results, items, and what was shown."""
    monkeypatch.setattr("encheck.engine.first_look.MAX_TEXTS", 300)

    def run(*args, name="run"):
        told = []
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("encheck.system.terminal.write_to_stderr", told.append)
            found = pytester.runpytest(
                "--pyargs", "encheck.checks", "-p", "no:cacheprovider", *SOME,
                f"--encheck-data={plain_and_number_probes}", f"--encheck-report-dir={tmp_path / name}", *args,
            )  # fmt: skip
        place = tmp_path / name
        return SimpleNamespace(
            ret=found.ret, results=read_results(place), items=read_items(place), told=told, said=found.outlines,
            page=(place / "report.html").read_text("utf-8"), summary=(place / "summary.md").read_text("utf-8"),
        )  # fmt: skip

    return run


def test_a_run_that_looks_first_finds_what_one_without_a_look_finds(run):
    first = run("--encheck-look-first", "--encheck-full", "--encheck-no-store", name="looked")
    plain = run("--encheck-no-store", name="plain")
    (look,) = first.told
    assert re.fullmatch(
        r"First look at .* \(\d+ of \d+ clusters\): (opposites|numbers) \d+%, .*; the run goes on", look
    )
    assert plain.told == []
    assert replace(first.results, run=plain.results.run) == plain.results
    assert str(dict(first.items)) == str(dict(plain.items))  # NaN among them


def test_a_run_that_stops_measures_the_look_and_the_contracts_and_says_so_everywhere(run, monkeypatch):
    monkeypatch.setattr("sys.argv", ["/bin/encheck", "run", "--model=x", "--quick"])
    quick = run("--encheck-quick", "-m", "antonym or number or contract or health")
    results = quick.results
    refuse_other_results(as_values(results))
    look, rows = results.first_look, results.checks
    assert 200 < look.texts <= 300 < look.of_texts
    assert results.run.encoded["bag-of-words"] <= look.texts + 2  # the pair that models are tried out on
    skipped = {row.reason for row in rows if row.verdict == "skipped" and row.property == "health"}
    assert skipped == {"not measured in a first look"}
    assert {row.property for row in rows if row.value is not None} == {"antonym", "number", "contract"}
    for text in (quick.page, quick.summary, "\n".join(quick.said)):
        assert f"First look, from {look.texts} of about" in text
    rest = "Stopped after the first look (--quick), which leaves out 7 checks. The rest for bag-of-words: about "
    assert quick.said[-2].startswith(rest)
    assert quick.said[-1] == results.run.rest.command == "encheck run --model=x --full"
    assert quick.ret in (0, 1)
