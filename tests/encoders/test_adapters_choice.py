"""What a path is taken for, --model-arg, what is lacking, and what a run says of the model that it used."""

import dataclasses
import json
import re
import shutil
import sys
import types
from pathlib import Path

import numpy as np
import pytest
import tiny
import tiny_models
from model_checks import check_detection
from typer.testing import CliRunner

from encheck.cli import app
from encheck.encoders.adapters import ADAPTERS
from encheck.encoders.files import check_torch_pickle, largest_token_id
from encheck.encoders.hub import check_hashes, describe_pin
from encheck.encoders.load import (
    detect_adapter,
    find_or_make_model_config,
    load_model,
    locate_weights,
    missing_packages_command,
)
from encheck.encoders.model_config import Device
from encheck.encoders.models_file import ModelConfig, apply_model_args, known_models
from encheck.errors import ConfigError, ModelError, UsageError
from encheck.options import Settings, arguments_for
from encheck.running.resources import resolve_models
from encheck.store import Store, file_sha256

pytestmark = pytest.mark.xdist_group("encoders")
KINDS = {
    "sentence-transformers": ("sentence-transformers", "it has modules.json"),
    "transformers": ("transformers", "its config.json says bert, and it has no modules.json: pooled by the mean"),
    "peft": ("peft", "it has adapter_config.json"),
    "savedmodel": ("savedmodel", "it has saved_model.pb"),
    "model2vec": ("sentence-transformers", "it has modules.json"),
    "onnx": ("onnx", "it has model.onnx and no weights of another kind"),
    "glove": ("vectors", "its name ends in .txt, as GloVe's do"),
    "fasttext": ("vectors", "its name ends in .vec, as fastText's do"),
    "word2vec": ("vectors", "its name ends in .bin, as word2vec's do"),
}


@pytest.mark.parametrize("name", KINDS)
def test_a_path_is_taken_for_what_it_is_and_it_is_said_why(tmp_path, name):
    check_detection(tiny_models.BUILDERS[name](tmp_path), *KINDS[name])


def test_a_model2vec_folder_without_modules_is_taken_by_its_configuration(tmp_path):
    folder = Path(tiny_models.model2vec(tmp_path).name)
    (folder / "modules.json").unlink()
    assert detect_adapter(folder) == ("model2vec", "its config.json is from model2vec")


@pytest.mark.parametrize("lost", [("modules.json",), ("modules.json", "1_Pooling")])
def test_a_head_over_pairs_is_not_left_out_where_modules_json_is_lost(tmp_path, lost):
    folder = tiny.build(tmp_path)
    (folder / "pair_head").mkdir()
    for name in lost:
        (folder / name).rename(tmp_path / name)
    adapter, why = detect_adapter(folder)
    assert (adapter, "its head scores pairs" in why) == ("pair-head", True)
    entry = ModelConfig("m", name=str(folder), adapter="sentence-transformers")
    with pytest.raises(ModelError, match=r"has a head over pairs.* Remedy: --model-arg adapter=pair-head"):
        load_model(entry, device=Device("cpu"))


def test_a_file_of_onnx_is_taken_by_its_ending(tmp_path):
    made = tiny_models.onnx(tmp_path)
    assert detect_adapter(Path(made.name) / "model.onnx") == ("onnx", "its name ends in .onnx")


def test_a_checkpoint_with_an_onnx_beside_its_weights_is_taken_for_the_checkpoint(tmp_path):
    folder = tiny.build(tmp_path)
    (folder / "onnx").mkdir()
    (folder / "onnx" / "model.onnx").write_bytes(b"x")
    assert detect_adapter(folder)[0] == "sentence-transformers"


def test_a_file_of_another_kind_is_refused_with_the_kinds_that_there_are(tmp_path):
    (tmp_path / "notes.pdf").touch()
    with pytest.raises(
        ModelError, match=r"notes.pdf is a file, but should be a folder, or a file that ends in \.bin, "
    ):
        find_or_make_model_config(str(tmp_path / "notes.pdf"), {})
    taken = find_or_make_model_config(str(tmp_path / "notes.pdf"), {}, adapter="vectors")
    assert taken.name.endswith("notes.pdf")


# --model-arg


@pytest.mark.parametrize(
    ("given", "label", "expected"),
    [
        ([], "sbert", {}),
        (["prompt=query: "], "sbert", {"prompt": "query: "}),
        (["prompt=a=b:c"], "sbert", {"prompt": "a=b:c"}),
        (["gte:pooling=cls", "max_length=9"], "sbert", {"max_length": "9"}),
        (["gte:pooling=cls", "max_length=9"], "gte", {"pooling": "cls", "max_length": "9"}),
    ],
)
def test_arguments_are_for_every_model_or_for_the_one_that_they_name(given, label, expected):
    assert arguments_for(label, given) == expected


@pytest.mark.parametrize("given", ["prompt", "=x", "a b=c", "sbert:=x", ""])
def test_an_argument_without_key_or_value_is_refused(given):
    with pytest.raises(
        UsageError, match=re.escape(f"--model-arg is {given!r}, but should be KEY=VALUE or MODEL:KEY=VALUE")
    ):
        arguments_for("sbert", [given])


BARE = ModelConfig("m", name="./x", adapter="transformers")
ARGUMENTS = {
    "text": ({"prompt": "12"}, {"prompt": "12"}),
    "number": ({"max_length": "12"}, {"max_length": 12}),
    "truth": ({"trust_remote_code": "true"}, {"trust_remote_code": True}),
    "mapping": ({"prompts": "{query: 'q: '}"}, {"prompts": {"query": "q: "}}),
    "option": ({"pooling": "layers", "layers": "[0, -1]"}, {"pooling": "layers", "options": {"layers": [0, -1]}}),
    "another place": ({"name": "./y"}, {"name": "./y", "revision": None, "package": None, "sha256": None}),
    "another commit": ({"revision": "b"}, {"name": "./x", "revision": "b", "package": None, "sha256": None}),
    "another hash": ({"sha256": "b"}, {"revision": "a", "package": "weights", "sha256": "b"}),
}


@pytest.mark.parametrize(("given", "expected"), ARGUMENTS.values(), ids=ARGUMENTS.keys())
def test_an_argument_is_a_field_of_the_entry_or_an_option_of_its_adapter(given, expected):
    pinned = dataclasses.replace(BARE, revision="a", package="weights", sha256="beef")
    made = apply_model_args(pinned, given)
    assert {name: getattr(made, name) for name in expected} == expected


WRONG = {
    "unknown option": (
        {"poling": "cls"},
        "--model-arg poling=cls: unknown field or option of transformers 'poling'; did you mean 'pooling'",
    ),
    "misspelt field of an adapter without options": (
        {"adapter": "sentence-transformers", "truncate_dims": "8"},
        "unknown field or option of sentence-transformers 'truncate_dims'; did you mean 'truncate_dim'",
    ),
    "unknown pooling": ({"pooling": "men"}, "unknown pooling 'men'; did you mean 'mean'"),
    "text for a number": (
        {"max_length": "long"},
        "max_length=long: max_length is 'long', but should be a whole number",
    ),
    "no YAML": ({"layers": "[0"}, r"--model-arg layers=\[0: is not valid YAML"),
    "code": ({"layers": "!!python/object/apply:os.getcwd []"}, "could not determine a constructor for the tag"),
    "unknown adapter": ({"adapter": "onx"}, "unknown adapter 'onx'; did you mean 'onnx'"),
    "a field without use": (
        {"adapter": "vectors", "prompt": "x"},
        "adapter 'vectors' does not support prompt. Supported fields: ",
    ),
}


@pytest.mark.parametrize(("given", "expected"), WRONG.values(), ids=WRONG.keys())
def test_an_argument_that_says_nothing_is_refused(given, expected):
    with pytest.raises(ConfigError, match=expected):
        apply_model_args(BARE, given)


@pytest.fixture
def store(tmp_path):
    opened = Store(tmp_path / "store.sqlite")
    yield opened
    opened.close()


def resolved(store, *models, args=()):
    return resolve_models(Settings(models=models, model_args=args), store)


def test_a_run_says_what_a_path_was_taken_for_and_follows_its_arguments(tmp_path, store, caplog):
    made = tiny_models.transformers(tmp_path)
    found = resolved(store, made.name, args=["plain:pooling=cls", "prompt=the "])
    assert "plain: loaded as a transformers checkpoint: its config.json says bert" in caplog.text
    model = found["plain"].model
    assert model.about() == {"prompt": "the ", "pooling": "cls"}
    assert model.fingerprint() != resolved(store, made.name)["plain"].model.fingerprint()


def test_a_dtype_that_a_model_cannot_have_is_not_taken_for_its_own(tmp_path, caplog):
    built = (tiny_models.transformers(tmp_path), tiny_models.glove(tmp_path))
    found = [load_model(made, device=Device("cpu", "float16")).dtype for made in built]
    assert (found, caplog.messages) == (
        ["float16", "float32"],
        ["tiny: --dtype=float16 has no effect on this kind of model"],
    )


def test_a_name_of_models_yaml_is_not_guessed_at(store, caplog):
    resolved(store, "bag-of-words")
    assert caplog.text == ""


def test_an_argument_for_a_model_that_is_not_in_the_run_is_refused(store):
    with pytest.raises(UsageError, match=r"--model-arg sbrt:prompt=x: unknown model 'sbrt'. Available: bag-of-words"):
        resolved(store, "bag-of-words", args=["sbrt:prompt=x"])


def test_an_adapter_of_your_own_gets_its_arguments_as_options(store):
    one, two = (resolved(store, "bag-of-words", args=args)["bag-of-words"].model for args in ([], ["noise=1"]))
    assert one.fingerprint() != two.fingerprint()
    assert two.options == {"noise": 1}


# a function of the user's own

FUNCTIONS = """
import numpy as np
def embed(texts, scale=1.0):
    return np.array([[scale * len(t), t.count("e") + 1.0, 1.0] for t in texts])
def broken(texts):
    raise OSError("no licence server")
def flat(texts):
    return [1.0] * len(texts)
def nearer(texts_a, texts_b, scale=1.0):
    return [scale / (1 + abs(len(a) - len(b))) for a, b in zip(texts_a, texts_b)]
def once(texts_a, texts_b):
    return 0.5
"""


@pytest.fixture
def functions(tmp_path, monkeypatch):
    (tmp_path / "my_functions.py").write_text(FUNCTIONS)
    monkeypatch.syspath_prepend(tmp_path)
    yield
    sys.modules.pop("my_functions", None)


@pytest.mark.usefixtures("functions")
def test_a_function_is_an_encoder_under_its_name(store, tmp_path):
    subject = resolved(store, "my_functions:embed")["my_functions-embed"]
    assert subject.model.encode(["the", "a"]).tolist() == [[3, 2, 1], [1, 1, 1]]
    scaled = resolved(store, "my_functions:embed", args=["scale=2"])["my_functions-embed"].model
    assert scaled.encode(["the"]).tolist() == [[6, 2, 1]]
    assert (
        scaled.fingerprint()
        != subject.model.fingerprint()
        == resolved(store, "my_functions:embed")["my_functions-embed"].model.fingerprint()
    )
    (tmp_path / "my_functions.py").write_text(FUNCTIONS.replace("0.5", "0.6"))  # a function that `embed` may call
    changed = resolved(store, "my_functions:embed")["my_functions-embed"].model
    assert changed.fingerprint() != subject.model.fingerprint()


def test_an_edited_function_of_a_notebook_has_another_fingerprint(store, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "notebook", notebook := types.ModuleType("notebook"))  # without a file
    found = set()
    for cell in (FUNCTIONS, FUNCTIONS.replace("* len(t),", "* len(t) * 1,")):
        file = tmp_path / f"{len(found)}.py"
        file.write_text(cell)
        exec(compile(cell, str(file), "exec"), vars(notebook))
        found.add(resolved(store, "notebook:embed")["notebook-embed"].model.fingerprint())
    assert len(found) == 2


@pytest.mark.usefixtures("functions")
def test_a_function_of_two_lists_scores_pairs(store):
    plain, scaled = (
        resolved(store, "my_functions:nearer", args=args)["my_functions-nearer"] for args in ([], ["scale=2"])
    )
    assert (plain.kind, plain.model.score_pairs(["a", "ab"], ["b", "a"]).tolist()) == ("pair", [1, 0.5])
    assert scaled.model.score_pairs(["a"], ["b"]).tolist() == [2]
    assert plain.model.fingerprint() != scaled.model.fingerprint()


@pytest.mark.usefixtures("functions")
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("broken", "no licence server"), ("flat", r"returned shape \(1,\)"), ("gone", "cannot import"),
        ("once", r"once of .*returned shape \(\), but should return \(2,\).*a finite number for each pair"),
    ],
)  # fmt: skip
def test_a_function_that_does_not_work_is_refused_before_the_run(store, name, expected):
    with pytest.raises(ModelError, match=expected):
        resolved(store, f"my_functions:{name}")


def test_a_function_in_conftest_is_a_model_of_pytests_run(pytester):
    pytester.makeconftest(FUNCTIONS)
    pytester.makepyfile(test_mine="from encheck.checks.test_paraphrase import *\n")
    done = pytester.runpytest(
        "-p", "no:cacheprovider", "--encheck-model=conftest:embed", "--encheck-no-store", "--encheck-quick",
        "--encheck-report-dir=out",
    )  # fmt: skip
    assert done.ret in (0, 1)
    results = json.loads((pytester.path / "out" / "results.json").read_text())
    assert results["models"][0]["fingerprint"].startswith("function:")
    assert results["models"][0]["error"] is None
    assert results["checks"]


# what is lacking


def test_what_is_not_installed_is_named_with_its_extra(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    entry = ModelConfig("m", name="./x.onnx", adapter="onnx")
    assert missing_packages_command(entry) == "pip install 'encheck[onnx]'"
    assert locate_weights(entry) == (False, "pip install 'encheck[onnx]'")
    with pytest.raises(
        ModelError,
        match=r"m: the adapter onnx needs a package that is not installed. Remedy: pip install "
        r"'encheck\[onnx\]'",
    ):
        load_model(entry, device=Device("cpu"))


def test_every_extra_of_an_adapter_stands_in_pyproject():
    import tomllib

    text = (Path(__file__).resolve().parents[2] / "pyproject.toml").read_text()
    extras = tomllib.loads(text)["project"]["optional-dependencies"]
    assert {a.install for a in ADAPTERS.values() if a.install} <= {f"encheck[{extra}]" for extra in extras}
    apart = {"all", "dev", "site", "ray", "s3"}  # those for a cluster are heavy, and no adapter needs them
    assert set(extras) - apart <= set(re.split(r"[\[\],]", extras["all"][0]))


def test_files_that_are_not_there_are_named_with_where_they_can_be_had(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    entry = known_models()["use"]
    assert locate_weights(entry) == (False, f"universal-sentence-encoder_4, from {entry.fetch}")
    with pytest.raises(
        ModelError,
        match=r"glove: glove.840B.300d.txt does not exist. It is available from https.* --model=glove --model-arg",
    ):
        load_model(known_models()["glove"], device=Device("cpu"))


def test_a_file_is_held_to_its_hash(tmp_path):
    made = tiny_models.glove(tmp_path)
    with pytest.raises(ModelError, match="does not have the SHA-256 beef"):
        load_model(ModelConfig("m", name=made.name, adapter="vectors", sha256="beef"), device=Device("cpu"))
    right = {"sha256": file_sha256(Path(made.name))}
    given = ModelConfig("m", name=made.name, adapter="vectors", sha256="beef")
    assert load_model(apply_model_args(given, right), device=Device("cpu")).fingerprint()
    assert load_model(apply_model_args(given, {"sha256": ""}), device=Device("cpu")).fingerprint()


def test_files_in_a_folder_are_held_to_their_hashes(tmp_path):
    (tmp_path / "variables").mkdir()
    (tmp_path / "variables" / "data").write_text("weights")
    right = file_sha256(tmp_path / "variables" / "data")
    check_hashes(ModelConfig("m", name="x", sha256={"variables/data": right}), tmp_path, tmp_path, file_sha256)
    with pytest.raises(ModelError, match=r"m: .*variables/data does not have the SHA-256 beef"):
        check_hashes(ModelConfig("m", name="x", sha256={"variables/data": "beef"}), tmp_path, tmp_path, file_sha256)
    with pytest.raises(ModelError, match=r"other does not have"):
        check_hashes(ModelConfig("m", name="x", sha256={"other": right}), tmp_path, tmp_path, file_sha256)


def test_what_pins_an_entry_is_said():
    known = known_models()
    assert describe_pin(known["sbert"]) == known["sbert"].revision[:12]
    assert describe_pin(known["e5"]) == known["e5"].revision[:12]
    assert [describe_pin(known[name]) for name in ("doc2vec", "oracle")] == ["-", "-"]
    assert describe_pin(ModelConfig("m", name="owner/name")) == "not pinned"
    assert describe_pin(ModelConfig("m", name="./x", sha256="0123456789abcdef")) == "sha256 0123456789ab"
    assert (
        describe_pin(ModelConfig("m", name="./x", sha256={"a/b": "01", "c": "23"})) == "sha256 of b 01, sha256 of c 23"
    )
    hubless = ("use", "laser", "infersent", "infersent2", "glove", "glove-sif", "word2vec", "fasttext")
    assert all(describe_pin(known[name]).startswith("sha256 ") for name in hubless)


# files, before anything of them is run


def test_the_largest_token_is_found_in_every_kind_of_tokenizer(tmp_path):
    path = tmp_path / "tokenizer.json"
    assert largest_token_id(path) == -1
    for text, largest in [
        ('{"model": {"vocab": {"a": 0, "b": 7}}}', 7),
        ('{"model": {"vocab": [["a", -1.0], ["b", -2.0]]}, "added_tokens": [{"id": 5}]}', 5),
        ('{"model": null, "added_tokens": null}', -1),
    ]:
        path.write_text(text)
        assert largest_token_id(path) == largest


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "int64", "bool"])
@pytest.mark.parametrize("zipped", [True, False])
def test_weights_of_every_kind_are_harmless(tmp_path, dtype, zipped):
    import torch

    state = {
        "w": torch.ones(3, dtype=getattr(torch, dtype)),
        "p": torch.nn.Parameter(torch.ones(2)),
        "n": [1, "x", None],
    }
    torch.save(state, tmp_path / "w.bin", _use_new_zipfile_serialization=zipped)
    check_torch_pickle(tmp_path / "w.bin")  # raises where there is code in it
    assert torch.load(tmp_path / "w.bin", weights_only=True).keys() == state.keys()


HIDDEN = {
    "by a name from the memo": b"\x80\x04\x8c\x05posix\x94\x8c\x06system\x940h\x00h\x01\x93\x8c\x02ls\x85R.",
    "in the oldest protocol": b"cposix\nsystem\n(S'ls'\ntR.",
    "beside what is harmless": b"\x80\x02ccollections\nOrderedDict\n)Rcbuiltins\neval\nX\x01\x00\x00\x001\x85R.",
}


@pytest.mark.parametrize("data", HIDDEN.values(), ids=HIDDEN.keys())
def test_a_call_is_found_however_it_is_written(tmp_path, data):
    (tmp_path / "w.bin").write_bytes(data)
    with pytest.raises(ModelError, match="is a pickle that would call"):
        check_torch_pickle(tmp_path / "w.bin")


# a whole run


@pytest.fixture
def run(torch_once, tmp_path, monkeypatch, some_probes):
    """`encheck run` in an empty folder, in this process, which has torch: how it ended and its results."""
    monkeypatch.chdir(tmp_path)

    def run(*args):
        command = ["run", "-q", "--no-store", "--report-dir=out", f"--data={some_probes}", *args]
        done = CliRunner().invoke(app, command)
        path = tmp_path / "out" / "results.json"
        return done, json.loads(path.read_text()) if path.exists() else None

    return run


def test_a_model_of_no_numbers_is_found_out_before_anything_is_generated(run, tmp_path):
    from safetensors.numpy import load_file, save_file

    folder = shutil.copytree(tiny.build(tmp_path / "made"), tmp_path / "diverged")
    weights = load_file(folder / "model.safetensors")
    save_file({n: w * np.nan for n, w in weights.items()}, folder / "model.safetensors", metadata={"format": "pt"})
    done, results = run("-m", "jumble", f"--model={folder}")
    assert done.exit_code == 1
    assert {row["verdict"] for row in results["checks"]} == {"error"}
    assert "diverged gives vectors with NaN or infinity" in results["models"][0]["error"]
    assert results["run"]["generate_seconds"] == 0


def test_the_report_has_the_prompt_that_was_used_and_the_code_that_ran(run, tmp_path):
    folder = tiny.build(tmp_path / "made", prompts={"query": "the red: "}, default_prompt_name="query")
    _, results = run("-m", "paraphrase", f"--model={folder}")
    assert results["models"][0]["prompt"] == "the red: "
    assert results["models"][0]["how"]["prompts"] == {"query": "the red: ", "document": ""}
    assert "prompts: {" in (tmp_path / "out" / "report.html").read_text()
    assert any(
        "loaded as a sentence-transformers checkpoint: it has modules.json" in n for n in results["run"]["notes"]
    )


@pytest.mark.parametrize("made", ["BertForMaskedLM", "GPT2LMHeadModel", "LlamaForCausalLM"])
def test_a_language_model_that_is_pooled_is_called_one(tmp_path, made):
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "bert", "architectures": [made]}))
    (tmp_path / "model.safetensors").touch()
    adapter, why = detect_adapter(tmp_path)
    assert adapter == "transformers"
    assert f"says {made}, a language model" in why
    assert "pooled by the mean" in why
