"""`--shrink`: the worst items of a finished run, in its results, on the terminal and on the page."""

import json
from types import SimpleNamespace

import jsonschema
import pytest
from test_reporting import packed_in, row
from test_reporting import results as results_of
from test_shrink import ENGLISH

from encheck.encoders.fake import BagOfWords
from encheck.encoders.model_config import ModelConfig
from encheck.engine import shrunk as module
from encheck.engine.shrunk import STOPPED, refuse_remote, shrunk
from encheck.errors import EncoderError, UsageError
from encheck.options import Settings, refuse_wrong
from encheck.options.settings import OPTIONS
from encheck.reporting import terminal
from encheck.reporting.html import page as html
from encheck.reporting.results import read_results, schema, write_results
from encheck.running.subject import Subject

CHECK = "antonym_is_farther_than_synonym_of_the_same_word"
CASE = f"{CHECK}/m-d-1"
SOURCE = "After the storm, the old mill by the river was noisy in April."


class Counting(BagOfWords):
    """Remembers what it was asked for."""

    def __init__(self):
        super().__init__()
        self.asked = []

    def encode(self, texts, *, role=None):
        self.asked += texts
        return super().encode(texts)


def items(*sources):
    """Items whose near and far text have as many words in common with their source."""
    count, at = len(sources), [source.index("noisy") for source in sources]
    return {CASE: {
        "case": [CASE] * count, "item": [f"d/{i:016x}/antonym/1/written/0" for i in range(count)],
        "kind": ["triplet"] * count, "cluster": ["c"] * count, "split": [""] * count, "label": [None] * count,
        "source": [*sources], "near": [s.replace("noisy", "loud") for s in sources],
        "far": [s.replace("noisy", "quiet") for s in sources],
        "near_edits": [json.dumps([[a, a + 5, "loud"]]) for a in at],
        "far_edits": [json.dumps([[a, a + 5, "quiet"]]) for a in at],
        "near_score": [0.5] * count, "far_score": [0.6] * count, "near_overlap": [0.2] * count,
        "far_overlap": [0.3] * count,
    }}  # fmt: skip


@pytest.fixture(autouse=True)
def english(monkeypatch):
    """One pipeline for all tests."""
    monkeypatch.setattr(module, "resolve_english", lambda *_, **__: ENGLISH)


@pytest.fixture
def settings(tmp_path):
    return Settings(models=("m",), store=tmp_path / "store.sqlite", root=tmp_path)


@pytest.fixture
def subjects():
    return {"m": Subject("m", ModelConfig("m"), Counting())}


def finished(**changes):
    return results_of(row(id=f"{CASE}/margin_rate", check=CHECK, metric="margin_rate", **changes))


def test_the_worst_items_of_a_check_below_its_aim_are_shrunk_and_its_figure_stays(settings, subjects):
    before = finished(verdict="below_aim")
    found = shrunk(before, items(SOURCE), settings, subjects)
    jsonschema.validate(found["checks"], {**schema(), **schema()["properties"]["checks"], "required": []})
    assert found["run"]["shrink_seconds"] >= 0
    (after,) = found["checks"]
    (entry,) = after.pop("shrunk")
    assert after == before["checks"][0]
    assert entry["shortest"]["source"] == "The mill was noisy."
    assert (entry["words"], entry["shortest"]["words"], entry["least"]["words"]) == (39, 12, 36)


def test_what_is_in_the_store_needs_no_model(settings, subjects):
    first = shrunk(finished(), items(SOURCE), settings, subjects)
    assert subjects["m"].model.asked
    other = {"m": Subject("m", ModelConfig("m"), Counting())}
    again = shrunk(finished(), items(SOURCE), settings, other)
    assert other["m"].model.asked == []
    assert again["checks"] == first["checks"]


def test_a_run_with_nothing_to_shrink_says_so(settings, subjects):
    found = shrunk(finished(verdict="pass"), items(SOURCE), settings, subjects)
    assert "shrunk" not in found["checks"][0]
    assert "  shrunk: nothing, since no check with triplets failed or is below its aim" in terminal.lines(found)


def test_a_run_that_stopped_after_its_first_look_shrinks_nothing(settings, subjects):
    look = {"texts": 1, "of_texts": 2, "clusters": 1, "of_clusters": 2}
    found = shrunk({**finished(), "first_look": look}, items(SOURCE), settings, subjects)
    assert STOPPED in found["run"]["notes"]
    assert "shrunk" not in found["checks"][0]


def test_seed_replicates_are_not_shrunk(settings, subjects):
    twins = Settings(models=("m",), seed_replicates=("m",), store=settings.store, root=settings.root)
    assert "shrunk" not in shrunk(finished(), items(SOURCE), twins, subjects)["checks"][0]


def test_what_was_shrunk_before_an_interruption_is_kept(settings, subjects, monkeypatch):
    def shrinker(*_, **__):
        calls = iter(["why"])

        def one(_row):
            try:
                return next(calls)
            except StopIteration:
                raise KeyboardInterrupt from None

        return one

    monkeypatch.setattr(module, "shrinker", shrinker)
    found = shrunk(finished(), items(SOURCE, SOURCE.replace("mill", "barn")), settings, subjects)
    assert [entry["reason"] for entry in found["checks"][0]["shrunk"]] == ["why"]
    assert "--shrink: interrupted after 1 of 2 items" in found["run"]["notes"]


def test_a_model_that_fails_is_why_its_items_are_not_shrunk(settings):
    class Broken(BagOfWords):
        def encode(self, texts, *, role=None):
            raise EncoderError("out of memory")

    found = shrunk(finished(), items(SOURCE), settings, {"m": Subject("m", ModelConfig("m"), Broken())})
    assert "out of memory" in found["checks"][0]["shrunk"][0]["reason"]


def test_a_remote_model_is_refused_with_the_command_that_shrinks_an_item():
    remote = SimpleNamespace(model=SimpleNamespace(devices=()))
    with pytest.raises(UsageError, match=r"up to 600 pairs an item, and api is on another machine.*show ITEM"):
        refuse_remote({"api": remote})
    refuse_remote({"m": SimpleNamespace(model=SimpleNamespace(devices=("cpu",)))})


def test_quick_and_shrink_contradict_each_other():
    given = {one.dest: None if one.default is None else one.default for one in OPTIONS.values()}
    with pytest.raises(UsageError, match="--quick stops after a first look, and --shrink"):
        refuse_wrong(SimpleNamespace(**{**given, "encheck_quick": True, "encheck_shrink": True}))


def test_the_terminal_says_it_in_a_line_and_shows_it_with_v(settings, subjects):
    found = shrunk(finished(), items(SOURCE), settings, subjects)
    short, verbose = ("\n".join(terminal.lines(found, verbose=one)) for one in (False, True))
    assert "shrunk: 1 of 1 worst items (the most from 39 to 12 words), in " in short
    assert "least shrunk" not in short
    assert verbose.index("least shrunk: 36 of 39 words") < verbose.index("The mill was [-noisy-]{+quiet+}.")


def test_the_page_has_the_forms_at_their_item_also_when_it_is_made_again(settings, subjects, tmp_path):
    there = items(SOURCE)
    write_results(tmp_path, shrunk(finished(), there, settings, subjects))
    case = packed_in(html.render(read_results(tmp_path), there))["cases"][CASE]
    assert case["shrunk"]["0"]["shortest"]["far"] == "The mill was quiet."


def test_a_run_is_written_shrunk_and_written_again(pytester, some_probes, tmp_path, monkeypatch):
    before = []
    whole = module.shrunk
    place = tmp_path / "run"
    monkeypatch.setattr(module, "shrunk", lambda *a: before.append(read_results(place)) or whole(*a))
    arguments = ["--encheck-model=bag-of-words", f"--encheck-data={some_probes}", f"--encheck-report-dir={place}"]
    chosen = ["-m", "antonym", "-k", "synonym_of_the_same_word", "--encheck-shrink", "-p", "no:cacheprovider"]
    said = pytester.runpytest("--pyargs", "encheck.checks", *arguments, *chosen).stdout.str()
    found = read_results(place)
    jsonschema.validate(found, schema())
    shrunk_rows = [one for one in found["checks"] if one.get("shrunk")]
    assert [len(one["shrunk"]) for one in shrunk_rows] == [3]
    assert [one.pop("shrunk") and one for one in shrunk_rows] == [
        one for one in before[0]["checks"] if one["id"] == shrunk_rows[0]["id"]
    ]
    assert "of 3 worst items" in said
