"""A canary: the same model is told from another, and what was changed is named."""

import importlib.util
import json
from functools import cache, partial
from pathlib import Path
from types import SimpleNamespace

import jsonschema
import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
import tiny
from embedding_server import serving
from typer.testing import CliRunner

import encheck
from encheck.cli import app
from encheck.deciding import canary_file
from encheck.deciding.canary import check, given, save
from encheck.deciding.canary_file import Canary, read
from encheck.deciding.canary_report import as_dict, render, terminal
from encheck.deciding.canary_rule import decide, noise_of
from encheck.deciding.canary_texts import EDITION, texts, twins
from encheck.encoders.fake import direction
from encheck.errors import EncheckError, EncoderError, UsageError
from encheck.plugin.canaries import hold
from encheck.system.json_schema import schema_of

ROOT = Path(__file__).resolve().parents[2]
LENGTH = 3.0  # of the plain vectors: not normalised


@cache
def vector(text, *, prompt="", limit=200, lower=True, dimension=48, seed="", blend=0.0):
    """A stand-in for an encoder: words by their place, at most `limit` of them, and a little of another model."""
    text = prompt + text
    found = (text.lower() if lower else text).split()[:limit] or ["nothing"]
    made = np.sum([(1 + i % 3) * direction(seed + word, dimension) for i, word in enumerate(found)], axis=0)
    made = made / np.linalg.norm(made) + blend * direction(f"other {found}", dimension)
    return LENGTH * made / np.linalg.norm(made)


def embed(some, *, noise=1e-6, after=lambda v: v, **how):
    """The vectors of some texts, with noise that depends on the batch, as rounding does."""
    made = np.array([vector(text, **how) for text in some])
    random = np.random.default_rng(len(some))
    return np.asarray(after(made + noise * random.standard_normal(made.shape)), np.float32)


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    path = tmp_path_factory.mktemp("canary") / "plain.json"
    save(given(embed), path)
    return path


def asked(saved, **how):
    return check(given(partial(embed, **how)), saved)[1]


def turned(vectors):
    axes = np.linalg.qr(np.random.default_rng(0).standard_normal((vectors.shape[1], vectors.shape[1])))[0]
    return vectors @ axes


@pytest.mark.quick
def test_there_are_200_texts_and_the_recipe_writes_them():
    path = ROOT / "recipes/build_canary_texts.py"
    module = importlib.util.module_from_spec(spec := importlib.util.spec_from_file_location("recipe", path))
    spec.loader.exec_module(module)
    written = json.loads(module.TARGET.read_text("utf-8"))
    assert (written["edition"], written["texts"]) == (EDITION, list(module.rows()))
    assert len({one.text for one in texts()}) == 200
    kinds = {one.kind for one in texts()}
    assert kinds >= {"long", "near the limit", "rare", "number", "language", "code", "empty"}
    assert {one.shows for _, _, one in twins("prompt")} >= {"query: ", "passage: "}


def test_a_model_is_called_five_times_in_other_batches(tmp_path):
    sizes = []

    def counted(some):
        sizes.append(len(some))
        return embed(some)

    canary = save(given(counted), tmp_path / "c.json")
    assert len(canary.batches) >= 5
    assert sum(sizes) >= 5 * 200
    assert {3, 8, 24, 64, 200} <= set(sizes)
    assert 0 < canary.loudest < 1e-4


def test_the_file_is_small_and_as_its_schema_says(saved, tmp_path):
    jsonschema.validate(json.loads(saved.read_text()), dict(schema_of("encheck.deciding", "canary.schema.json")))
    vectors = np.random.default_rng(0).standard_normal((200, 384)).astype(np.float32)
    canary = Canary("m", "vector", None, "", None, vectors, np.full(200, 1e-6), (200,) * 5, "2026-01-01", "0")
    canary_file.write(tmp_path / "c.json", canary)
    assert (tmp_path / "c.json").stat().st_size < 400_000
    back = read(tmp_path / "c.json")
    assert np.linalg.norm(back.vectors - vectors, axis=1).max() < 1e-4 * np.linalg.norm(vectors, axis=1).min()


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda d: d | {"encheck_canary": 2}, "newer encheck"),
        (lambda d: d | {"texts": d["texts"] | {"edition": 9}}, "newer encheck"),
        (lambda d: d | {"texts": d["texts"] | {"hash": "0"}}, "texts other than"),
        (lambda d: {k: v for k, v in d.items() if k != "calls"}, "lacks 'calls'"),
        (lambda d: d | {"vectors": d["vectors"] | {"data": d["vectors"]["data"][:-8]}}, "should hold"),
        (lambda d: d | {"vectors": d["vectors"] | {"data": "#"}}, "base64"),
        (lambda d: d | {"vectors": d["vectors"] | {"scales": [1e308] * 200}}, "too large"),
        (lambda d: d | {"calls": d["calls"] | {"noise": [0.1]}}, "should have 200"),
        (lambda d: d | {"model": d["model"] | {"dimension": "many"}}, "model.dimension"),
        (lambda _: [], "not a canary"),
    ],
)
def test_a_file_that_is_damaged_newer_or_none_is_one_clear_message(saved, tmp_path, change, says):
    path = tmp_path / "c.json"
    path.write_text(json.dumps(change(json.loads(saved.read_text()))))
    with pytest.raises(UsageError, match=says) as refused:
        read(path)
    assert "c.json" in str(refused.value)


def test_a_file_that_is_missing_or_no_json_is_refused(tmp_path):
    with pytest.raises(UsageError, match="this canary does not exist"):
        read(tmp_path / "none.json")
    (tmp_path / "c.json").write_text("{")
    with pytest.raises(UsageError, match="is not JSON"):
        read(tmp_path / "c.json")


def test_the_same_model_in_other_batches_is_the_same(saved):
    answer = asked(saved)
    assert (answer.outcome, answer.cause, answer.exit_code, answer.moved) == ("same", "", 0, 0)


@pytest.mark.parametrize(
    ("cause", "how", "says"),
    [
        ("dimension", {"after": lambda v: v[:, :24]}, "the first of those"),
        ("dimension", {"dimension": 32}, "another model"),
        ("normalisation", {"after": lambda v: v / np.linalg.norm(v, axis=1, keepdims=True)}, "0.333 times"),
        ("axes", {"after": turned}, "angles"),
        ("axes", {"after": lambda v: v[:, ::-1]}, "angles"),
        ("prompt", {"prompt": "query: "}, "'query: '"),
        ("", {"prompt": "This text says: "}, "perhaps a prompt"),
        ("truncation", {"limit": 100}, "texts apart by what follows their first 180 words, and now 90"),
        ("truncation", {"limit": 400}, "words, and now 360"),
        ("tokenizer", {"lower": False}, "case"),
        ("model", {"seed": "another"}, "unrelated"),
        ("", {"blend": 1.0}, "perhaps other weights"),
        ("dtype", {"after": lambda v: np.round(v * 10) / 10}, "coarse steps"),
        ("dtype", {"noise": 0.005}, "lower precision"),
    ],
)
def test_another_model_is_told_and_what_was_changed_is_named(saved, cause, how, says):
    answer = asked(saved, **how)
    assert (answer.outcome, answer.cause, answer.exit_code) == ("another", cause, 1), answer.reason
    assert says in answer.reason


def test_a_prompt_that_was_dropped_is_named(tmp_path):
    save(given(partial(embed, prompt="passage: ")), tmp_path / "c.json")
    answer = asked(tmp_path / "c.json")
    assert answer.cause == "prompt"
    assert "was encoded with 'passage: '" in answer.reason


def test_what_other_hardware_could_do_is_not_told(saved):
    answer = asked(saved, blend=0.001)
    assert (answer.outcome, answer.cause, answer.exit_code) == ("cannot tell", "", 10)
    assert "fine-tune" in answer.reason


def test_a_model_with_loud_noise_of_its_own_is_not_taken_for_another(tmp_path):
    save(given(partial(embed, noise=0.005)), tmp_path / "c.json")
    assert asked(tmp_path / "c.json", noise=0.005).outcome == "same"
    assert asked(tmp_path / "c.json", noise=0.005, blend=0.1).outcome == "cannot tell"
    assert asked(tmp_path / "c.json", noise=0.005, seed="another").outcome == "another"


def test_noise_that_was_never_seen_makes_the_answer_careful(saved):
    canary = read(saved)
    silent = Canary(
        *("m", "vector", None, "", None, canary.vectors, np.zeros(200)), canary.batches, canary.made_on, canary.made_by
    )
    moved = embed([one.text for one in texts()], blend=0.02)[None]
    assert decide(silent, moved).outcome == "cannot tell"
    assert decide(canary, moved).outcome == "another"
    assert "cache" in decide(silent, moved).notes[0]


def test_two_models_that_take_turns_are_told(saved):
    count = iter(range(10_000))
    mixed = given(lambda some: embed(some, blend=next(count) % 2))
    answer = check(mixed, saved)[1]
    assert (answer.outcome, answer.cause) == ("another", "turns")


def test_calls_that_have_nothing_in_common_are_no_canary(tmp_path):
    count = iter(range(10_000))
    with pytest.raises(EncheckError, match="several models answer"):
        save(given(lambda some: embed(some, seed=str(next(count)))), tmp_path / "c.json")
    assert not (tmp_path / "c.json").exists()


def test_empty_texts_may_be_refused_and_a_change_of_that_is_noted(saved, tmp_path):
    def strict(some):
        if not all(text.strip() for text in some):
            raise ValueError("input cannot be empty")
        return embed(some)

    canary = save(given(strict), tmp_path / "c.json")
    assert np.isnan(canary.vectors).any(axis=1).sum() == 4
    assert check(given(strict), tmp_path / "c.json")[1].outcome == "same"
    answer = check(given(strict), saved)[1]
    assert answer.outcome == "same"
    assert "4 empty texts had a vector and are refused now" in answer.notes


@pytest.mark.parametrize(
    ("function", "says"),
    [
        (lambda some: embed(some) * np.nan, "NaN"),
        (lambda some: embed(some)[0], "shape"),
        (lambda some: embed(some)[:, : 40 + (len(some) > 8)], "two models answer"),
        (lambda _: [1, [2]], "it fails at"),
    ],
)
def test_a_model_that_gives_no_vectors_is_one_clear_message(saved, function, says):
    with pytest.raises(EncoderError, match=says):
        check(given(function), saved)


def test_what_is_no_model_is_refused(saved):
    with pytest.raises(UsageError, match="is not a model"):
        encheck.canary_check(3, saved)


def test_a_service_asks_at_its_start(saved, tmp_path):
    assert encheck.canary_check(embed, saved).outcome == "same"
    encheck.canary_save("bag-of-words", tmp_path / "c.json", role="document")
    assert read(tmp_path / "c.json").role == "document"
    assert encheck.canary_check("bag-of-words", tmp_path / "c.json").exit_code == 0
    assert encheck.canary_check(encheck.load_model("random"), tmp_path / "c.json").exit_code == 1
    with pytest.raises(UsageError, match="should be query or document"):
        encheck.canary_save("bag-of-words", tmp_path / "c.json", role="passage")


def test_a_function_has_no_role(tmp_path):
    with pytest.raises(UsageError, match="knows no roles"):
        encheck.canary_save(embed, tmp_path / "c.json", role="query")


@pytest.mark.long
def test_a_checkpoint_whose_precision_or_length_was_changed(tmp_path):
    folder, path = tiny.build(tmp_path), tmp_path / "c.json"
    encheck.canary_save(folder, path)
    assert read(path).dtype == "float32"
    assert encheck.canary_check(folder, path).outcome == "same"
    cut = encheck.canary_check(folder, path, max_length=12)
    assert cut.outcome == "another"
    assert "the maximum length was changed" in cut.reason
    half = encheck.canary_check(folder, path, dtype="bfloat16")
    assert half.outcome in ("another", "cannot tell")
    assert "its weights are in bfloat16, and were in float32" in half.notes


def test_a_scorer_of_pairs_has_a_canary_too(tmp_path):
    encheck.canary_save("jaccard", tmp_path / "c.json")
    assert encheck.canary_check("jaccard", tmp_path / "c.json").outcome == "same"
    assert encheck.canary_check("edit-distance", tmp_path / "c.json").outcome == "another"
    with pytest.raises(UsageError, match="scores pairs"):
        encheck.canary_check("bag-of-words", tmp_path / "c.json")


@pytest.fixture
def command(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return lambda *args: CliRunner().invoke(app, ["canary", *args])


def test_the_commands_end_with_what_they_found(command):
    assert "256 dimensions" in command("save", "bag-of-words", "c.json").output
    done = command("check", "bag-of-words", "c.json", "--json", "found.json", "--page", "found.html")
    assert (done.exit_code, done.output.startswith("same: bag-of-words is the model")) == (0, True)
    found = json.loads(Path("found.json").read_text())
    jsonschema.validate(found, dict(schema_of("encheck.deciding", "canary_check.schema.json")))
    assert (found["outcome"], found["moved"], len(found["texts"])) == ("same", 0, 200)
    assert "Nothing moved" in Path("found.html").read_text()
    done = command("check", "random", "c.json", "--json", "found.json")
    assert (done.exit_code, json.loads(Path("found.json").read_text())["exit_code"]) == (1, 1)
    assert command("check", "constant", "c.json").exit_code == 1
    assert command("check", "nan", "c.json").exit_code == 4
    assert command("check", "bag-of-words", "none.json").exit_code == 4


def test_a_server_that_is_down_or_was_changed(command):
    def of_first(some):
        return embed(some)

    how = ("--model-arg", "model=m", "--model-arg", "adapter=openai", "--model-arg", "retries=0")
    with serving(of_first, largest=300, longest=10_000) as (address, state):
        named = (*how, "--model-arg", f"name={address}")
        assert command("save", "openai", "c.json", *named).exit_code == 0
        assert command("check", "openai", "c.json", *named).exit_code == 0
        state.encode = partial(embed, prompt="query: ")
        done = command("check", "openai", "c.json", *named)
        assert (done.exit_code, "'query: '" in done.output) == (1, True)
    done = command("check", "openai", "c.json", *named)
    assert (done.exit_code, len(done.output.strip().splitlines())) == (4, 1)


def test_vectors_from_a_file_have_no_noise_that_is_known(command):
    assert command("texts", "t.jsonl").exit_code == 0
    rows = [json.loads(line)["text"] for line in Path("t.jsonl").read_text().splitlines()]
    table = pyarrow.table({"text": rows, "vector": [row.tolist() for row in embed(rows)]})
    pyarrow.parquet.write_table(table, "mine.parquet")
    assert command("save", "vectors:mine.parquet", "c.json").exit_code == 0
    done = command("check", "vectors:mine.parquet", "c.json")
    assert (done.exit_code, "saved from one call" in done.output) == (0, True)
    pyarrow.parquet.write_table(table.slice(1), "less.parquet")
    done = command("check", "vectors:less.parquet", "c.json")
    assert (done.exit_code, "has no vector of 1 of" in done.output) == (4, True)
    assert command("check", "vectors:none.parquet", "c.json").exit_code == 4
    pyarrow.parquet.write_table(table.rename_columns(["word", "vector"]), "odd.parquet")
    assert "should hold the columns text" in command("check", "vectors:odd.parquet", "c.json").output


def marked(*args, root, **how):
    """A stand-in for a collected test with the marker."""
    config = SimpleNamespace(stash=pytest.Stash(), rootpath=root)
    marker = pytest.mark.encheck_canary(*args, **how).mark
    return SimpleNamespace(config=config, iter_markers=lambda name: [marker] if name == "encheck_canary" else [])


def test_a_marked_test_fails_where_another_model_answers(tmp_path):
    encheck.canary_save("bag-of-words", tmp_path / "c.json")
    hold(marked("bag-of-words", "c.json", root=tmp_path))
    for args, says in [
        (("random", "c.json"), "another"),
        (("bag-of-words", "none.json"), "this canary does not exist"),
        (("bag-of-words",), "write @pytest.mark.encheck_canary"),
        (("bag-of-words", "c.json", "maybe"), "cannot_tell is one of"),
    ]:
        with pytest.raises(pytest.fail.Exception, match=says):
            hold(marked(*args, root=tmp_path))


def test_what_is_not_told_fails_skips_or_passes_as_the_marker_says(tmp_path, monkeypatch):
    encheck.canary_save("bag-of-words", tmp_path / "c.json")
    unsure = SimpleNamespace(outcome="cannot tell", reason="hardware")
    monkeypatch.setattr("encheck.deciding.canary.check", lambda *_: (None, unsure))
    hold(marked("bag-of-words", "c.json", root=tmp_path, cannot_tell="pass"))
    with pytest.raises(pytest.skip.Exception, match="hardware"):
        hold(marked("bag-of-words", "c.json", root=tmp_path, cannot_tell="skip"))
    with pytest.raises(pytest.fail.Exception, match="hardware"):
        hold(marked("bag-of-words", "c.json", root=tmp_path))


def test_the_page_and_the_terminal_show_which_texts_moved(saved):
    canary, answer = check(given(partial(embed, limit=100)), saved)
    page, said = render("mine", canary, answer), "\n".join(terminal("mine", canary, answer))
    assert "length-1000-b" in page
    assert "mine is not the model of this canary" in page
    assert any(line.split()[:3] == ["long", "20", "14"] for line in said.splitlines()), said
    assert as_dict("mine", canary, answer)["cause"] == "truncation"


def test_noise_is_that_of_the_call_that_lies_farthest():
    calls = np.ones((5, 200, 4), np.float32)
    calls[3, 7] *= 1.1
    mean, noise = noise_of(calls)
    assert mean[7, 0] == pytest.approx(1.02)
    assert noise[7] == pytest.approx(0.08 / 1.1, rel=1e-3)
    assert noise[8] == 0
