"""Strategies and relations as users' tests have them: what is drawn, what it shrinks to, and the fixture `encoder`."""

import importlib
import re
import sys
from datetime import timedelta
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, find, given, settings
from hypothesis import strategies as st

from encheck import relations
from encheck.encoders import fake
from encheck.encoders.model_config import ModelConfig
from encheck.errors import EncoderError, UsageError
from encheck.running.model_under_test import ModelUnderTest
from encheck.running.service import EncoderService
from encheck.store import Store
from encheck.strategies import (
    frames_of_property,
    hostile_texts,
    lift_deadline,
    minimal_pair,
    paraphrases,
    properties,
    properties_with_frames,
    sentences,
)

DOCUMENT = Path(__file__).resolve().parents[2] / "docs/tasks/own-tests.md"
EXAMPLES = re.findall(r"```python\n(.*?)```", DOCUMENT.read_text("utf-8"), re.DOTALL)
SHRINK = set(Phase) - {Phase.explain}  # which draws again a hundred times, for a message that nobody reads here
FEW = settings(max_examples=6, database=None, deadline=None, phases=SHRINK)


def smallest(strategy, wrong=lambda drawn: True):
    return find(strategy, wrong, settings=settings(FEW, max_examples=30), random=Random(0))


@pytest.mark.parametrize("name", properties())
def test_a_minimal_pair_has_three_texts_and_says_why(name):
    @FEW
    @given(minimal_pair(name))
    def hold(pair):
        assert len({pair.source, pair.kept, pair.changed}) == 3
        assert pair.why_kept
        assert pair.why_changed
        assert pair.property == name
        assert "{" not in pair.source + pair.kept + pair.changed

    hold()


@pytest.mark.parametrize(("name", "side"), [("binding", "changed"), ("entity", "kept"), ("antonym", "kept")])
def test_pairs_that_favour_a_side_are_of_that_side(name, side):
    @FEW
    @given(minimal_pair(name, favours=side))
    def hold(pair):
        assert pair.favours == side

    hold()


def test_a_pair_shrinks_to_a_clause_on_which_the_model_still_errs():
    model = fake.BagOfWords()

    def errs(pair):
        source, kept, changed = model.encode([pair.source, pair.kept, pair.changed])
        return source @ kept / np.linalg.norm(kept) <= source @ changed / np.linalg.norm(changed) + 1e-6

    found = smallest(minimal_pair("role_reversal"), lambda pair: errs(pair) and pair.frame)
    assert errs(found)
    assert len(found.source.split()) <= 5
    assert len(smallest(sentences("number")).split()) <= 6


def test_a_clause_alone_keeps_the_form_and_the_fillers_of_its_frame():
    for name in properties_with_frames():
        for drawable in frames_of_property(name):
            assert len({(form.form, tuple(form.fillers.items())) for form in drawable.forms}) == 1
            assert {form.template for form in drawable.forms[:-1]} <= {"[]."}


@pytest.mark.quick
def test_paraphrases_and_sentences_come_from_the_frames_of_a_property():
    drawn = smallest(paraphrases("temporal"))
    assert (drawn.property, drawn.source == drawn.kept) == ("temporal", False)


@pytest.mark.parametrize(
    ("sought", "wrong"),
    [
        ("controls", lambda text: any(ord(c) < 32 for c in text)),
        ("halves of surrogate pairs", lambda text: any("\ud800" <= c <= "\udfff" for c in text)),
        ("right to left", lambda text: "\u202e" in text or "ש" in text),
        ("nothing to see", lambda text: "\u200b" in text),
        ("very long", lambda text: len(text) == 100_000),
        ("empty", lambda text: text == ""),
    ],
)
def test_hostile_texts_are_hostile(sought, wrong):
    assert wrong(find(hostile_texts(), wrong, settings=settings(FEW, max_examples=2_000), random=Random(0))), sought


def test_a_long_text_is_described_in_a_line():
    found = find(
        hostile_texts(), lambda text: len(text) > 20_000, settings=settings(FEW, max_examples=500), random=Random(0)
    )
    assert re.fullmatch(r"repeated\('.{1,12}', 100000\)", repr(found))


@given(hostile_texts(max_size=7))
def test_hostile_texts_are_no_longer_than_asked(text):
    assert len(text) <= 7


def test_what_there_is_not_is_said_with_what_there_is():
    with pytest.raises(
        UsageError, match=r"unknown property 'numbr'; did you mean 'number'\? Available: antonym, binding"
    ):
        minimal_pair("numbr")
    with pytest.raises(UsageError, match=r"unknown property 'antonym'\. Available: binding"):
        paraphrases("antonym")
    with pytest.raises(UsageError, match="unknown side of the surface 'left'"):
        minimal_pair("negation", favours="left")
    with pytest.raises(UsageError, match="should be 1 or more"):
        hostile_texts(max_size=0)


def test_without_hypothesis_the_remedy_is_said(monkeypatch):
    for name in [name for name in sys.modules if name.startswith("encheck.strategies")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "hypothesis", None)
    with pytest.raises(ModuleNotFoundError, match=r"needs hypothesis. Remedy: pip install 'encheck\[strategies\]'"):
        importlib.import_module("encheck.strategies")


def test_a_slow_model_gets_its_time_and_a_deadline_of_the_users_own_stays():
    def settled(**given_settings):
        @lift_deadline
        @settings(settings.get_profile("default"), max_examples=7, **given_settings)
        @given(st.none())
        def test(none):
            pass

        return test._hypothesis_internal_use_settings

    default, own = settled(), settled(deadline=50)
    assert (default.deadline, default.max_examples) == (None, 7)
    assert HealthCheck.too_slow in default.suppress_health_check
    assert HealthCheck.function_scoped_fixture not in default.suppress_health_check
    assert own.deadline == timedelta(milliseconds=50)


class Counting(fake.BagOfWords):
    def __init__(self):
        super().__init__()
        self.asked = []

    def encode(self, texts, *, role=None):
        self.asked += texts
        return super().encode(texts)


def live(model, tmp_path):
    subject = ModelUnderTest("mine", ModelConfig("mine"), model)
    return EncoderService(subject, Store(tmp_path / "store.sqlite")).as_fixture()


def test_nothing_is_encoded_twice_even_by_another_session(tmp_path):
    encoder = live(Counting(), tmp_path)
    near, far = encoder.similarity("a red car", "a red van"), encoder.similarity("a red car", "two tall men")
    assert near > far
    assert encoder.encode(["two tall men", "a red car", "a red car"]).shape == (3, fake.DIMENSION)
    assert encoder.model.asked == ["a red car", "a red van", "two tall men"]
    again = live(Counting(), tmp_path)
    assert again.similarities(["a red car"], ["a red van"]) == pytest.approx(near)
    assert again.model.asked == []
    assert again.encode(["a red car"], role="query").shape == (1, fake.DIMENSION)


def test_a_scorer_of_pairs_has_similarities_and_no_vectors(tmp_path):
    encoder = live(fake.Overlap(), tmp_path)
    assert encoder.similarity("a red car", "a red van") == 0.5
    with pytest.raises(UsageError, match="mine scores pairs and gives no vectors"):
        encoder.encode(["a"])


def test_a_model_that_fails_says_so_and_is_asked_again_the_next_time(tmp_path):
    encoder = live(fake.Nan(), tmp_path)
    for _ in range(2):
        with pytest.raises(EncoderError, match="NaN"):
            encoder.encode(list("abcdefg"))


class Sloppy(fake.BagOfWords):
    """Breaks every relation: it counts its calls, and adds where a text stands in its batch."""

    calls = 0

    def encode(self, texts, *, role=None):
        self.calls += 1
        vectors = super().encode(texts)
        return vectors + np.arange(len(texts), dtype=np.float32)[:, None] + self.calls


def test_relations_are_zero_for_a_sound_model_and_not_for_one_that_breaks_them():
    texts = ["a dog", "", "A DOG"]
    for model, breaks in ((fake.BagOfWords(), False), (Sloppy(), True)):
        found = [
            relations.repeat_drift(model, texts),
            relations.order_drift(model, texts),
            relations.batch_drift(model, texts),
            relations.text_drift(model, "a dog", "A DOG"),
            relations.prompt_drift(model, "a dog", role="query", prompt=""),
        ]
        assert [drift > 0 for drift in found] == [breaks] * 5
    assert relations.swap_drift(fake.Overlap(), ["a long first text"], ["text"]) == 0
    assert relations.swap_drift(fake.Lopsided(), ["a long first text"], ["text"]) > 0
    assert relations.repeat_drift(fake.Nan(), list("abcdefg")) == float("inf")
    assert relations.pairs_drift(fake.Overlap(), ["a", "b c"], ["a b", "c"]) == 0


@pytest.fixture
def run(pytester, monkeypatch):
    """Run tests of a user's own in this process, with hypothesis's plugin."""
    monkeypatch.delenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD")
    monkeypatch.delenv("PYTEST_PLUGINS")
    monkeypatch.setenv("PYTEST_ADDOPTS", "-p no:anyio -p no:cacheprovider")

    def run(*args, **files):
        pytester.makepyfile(**files)
        return pytester.runpytest_inprocess(*args)

    return run


def test_the_examples_of_the_document_run_and_the_first_finds_what_a_bag_of_words_misses(run):
    assert len(EXAMPLES) == 3
    files = {f"test_{number}": text for number, text in enumerate(EXAMPLES, 1)}
    outcome = run("--encheck-model=bag-of-words", "--hypothesis-show-statistics", **files)
    outcome.assert_outcomes(passed=2, failed=1)
    outcome.stdout.fnmatch_lines(["*encoder=<encoder 'bag-of-words'>*"])
    outcome.stdout.fnmatch_lines(["*source='Lol my brother ate two pancakes'*"])
    outcome.stdout.fnmatch_lines(["*changed='Lol my brother ate 3 pancakes'*"])
    outcome.stdout.fnmatch_lines(["*number: the surface favours neither*"])


def test_a_test_runs_for_each_model_and_an_encoder_of_the_users_own_goes_first(run):
    asks = "def test_it(encoder):\n    assert encoder.similarity('a dog', 'a dog') > 0.9"
    outcome = run("--encheck-model=bag-of-words", "--encheck-model=jaccard", "-v", test_it=asks)
    outcome.assert_outcomes(passed=2)
    outcome.stdout.fnmatch_lines(["*test_it*bag-of-words*PASSED*", "*test_it*jaccard*PASSED*"])
    own = "import pytest\n@pytest.fixture\ndef encoder():\n    return 7"
    outcome = run(
        "--encheck-model=bag-of-words",
        "--encheck-model=jaccard",
        conftest=own,
        test_it="def test_it(encoder):\n    assert encoder == 7",
    )
    outcome.assert_outcomes(passed=1)


def test_a_model_that_is_not_there_or_learns_from_a_run_is_said_in_a_line(run):
    asks = "def test_it(encoder):\n    assert encoder"
    run("--encheck-model=sbrt", test_it=asks).stdout.fnmatch_lines(["*encheck: *'sbrt'*"])
    run("--encheck-model=tf-idf", test_it=asks).stdout.fnmatch_lines(
        ["*encheck: the fixture `encoder` cannot be 'tf-idf'*"]
    )
