"""Encoders: a tiny real checkpoint against sentence-transformers itself, what is refused, and the fakes."""

import json
import os
import random
import shutil
import subprocess
import sys
from collections import Counter
from importlib import resources
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
import tiny
from hypothesis import given, settings
from hypothesis import strategies as st

from encheck.encoders import fake
from encheck.encoders.batching import allow_mixed_lengths, batch_equal_lengths
from encheck.encoders.checkpoints.sentence_transformers import SentenceTransformerEncoder
from encheck.encoders.load import find_model_folder, find_or_make_model_config, load_model, locate_weights
from encheck.encoders.model_config import Device
from encheck.encoders.models_file import ModelConfig, known_models
from encheck.encoders.protocol import BatchEncoder, Encoder, PairScorer, check_scores, check_vectors, checked_batches
from encheck.errors import EncoderError, ModelError, UsageError
from encheck.similarity import SIMILARITIES, cosine, jaccard
from encheck.store import file_sha256

pytestmark = pytest.mark.xdist_group("encoders")  # torch is imported once
CPU = Device("cpu")
WORDS = st.sampled_from([*tiny.WORDS, "zebra", "Öl", "犬", "😀", "", " ", "\n", "a" * 40])
TEXTS = st.lists(st.lists(WORDS, max_size=40).map(" ".join) | st.text(max_size=30), min_size=1, max_size=12)
SENTENCES = [
    *("the dog sings", "a cat sleeps", "the dog sings", "", "A BLUE DOG!", "what is under the cat? a dog."),
    *(
        "犬が歌う",
        "naïve café 😀",
        "the red cat " * 30,
        "a",
        "\ud7ff",
        "tab\tand\nline",
        "the cat sleeps on the red dog",
    ),
]


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory):
    return tiny.build(tmp_path_factory.mktemp("tiny"))


@pytest.fixture(scope="module")
def loaded(checkpoint):
    return encoder(checkpoint)


@pytest.fixture(scope="module")
def reference(checkpoint):
    return theirs(checkpoint)


@pytest.fixture
def copied(checkpoint, tmp_path):
    return shutil.copytree(checkpoint, tmp_path / "copied")


def encoder(folder, *, device=CPU, **fields):
    return load_model(ModelConfig("tiny", name=str(folder), **fields), device=device)


def theirs(folder):
    from sentence_transformers import SentenceTransformer

    return SentenceTransformer(str(folder), device="cpu")


def change_json(path, **fields):
    path.write_text(json.dumps(json.loads(path.read_text()) | fields))


def cut(path):
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def run_python(code, *args, **environment):
    command = [sys.executable, "-W", "error", "-c", code, *map(str, args)]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


# a checkpoint gives what sentence-transformers gives


@settings(deadline=None, max_examples=15)
@given(TEXTS)
def test_vectors_are_those_of_sentence_transformers_for_any_texts(loaded, reference, texts):
    expected = reference.encode(texts, show_progress_bar=False)
    assert np.abs(loaded.encode(texts) - expected).max() < 1e-5


def test_the_order_of_texts_and_their_neighbours_do_not_matter(loaded):
    texts = [f"{' '.join(random.Random(i).choices(tiny.WORDS, k=i % 30))}" for i in range(120)]
    shuffled = random.Random(0).sample(range(120), 120)
    assert np.abs(loaded.encode([texts[i] for i in shuffled]) - loaded.encode(texts)[shuffled]).max() < 1e-5
    alone = np.concatenate([loaded.encode([text]) for text in texts[:20]])
    assert np.abs(alone - loaded.encode(texts)[:20]).max() < 1e-5


def test_vectors_differ_between_texts_and_have_the_length_that_the_checkpoint_gives_them(loaded):
    vectors = loaded.encode(SENTENCES)
    assert vectors.shape == (len(SENTENCES), 16)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-5)
    assert cosine(vectors[:1], vectors[1:2])[0] < 0.99


def test_the_same_texts_give_the_same_bits_again_and_in_another_object(loaded, checkpoint):
    first = loaded.encode(SENTENCES)
    assert (loaded.encode(SENTENCES) == first).all()
    assert (encoder(checkpoint).encode(SENTENCES) == first).all()


def test_no_texts_give_no_vectors(loaded):
    assert len(loaded.encode([])) == 0
    assert list(loaded.batches([])) == []


@settings(deadline=None, max_examples=10)
@given(TEXTS)
def test_batches_hold_every_text_once(loaded, texts):
    found = list(loaded.batches(texts))
    assert sorted(np.concatenate([positions for positions, _ in found]).tolist()) == list(range(len(texts)))
    whole = loaded.encode(texts)
    assert all((whole[positions] == vectors).all() for positions, vectors in found)


def test_many_tokens_come_in_more_than_one_batch(loaded):
    texts = ["the dog sings on the cat"] * 600
    sizes = [len(positions) for positions, _ in loaded.batches(texts)]
    assert len(sizes) > 1
    assert sum(sizes) == 600


def test_a_long_text_is_cut_and_said_to_be(checkpoint, reference, caplog):
    ours = encoder(checkpoint)
    long = " ".join(tiny.WORDS * 20)
    vectors = ours.encode([long, " ".join((tiny.WORDS * 20)[:22]), "a dog"])
    assert np.abs(vectors[0] - vectors[1]).max() < 1e-5
    assert np.abs(vectors - reference.encode([long] * 2 + ["a dog"])).max() < 1e-5
    assert ours.truncated == 1  # the second fills the length and loses nothing
    assert f"1 of 3 texts are longer than {tiny.MAX_LENGTH} tokens, the maximum: the rest is truncated" in caplog.text


def test_one_long_text_among_many_is_counted_without_a_warning(checkpoint, caplog):
    ours = encoder(checkpoint)
    ours.encode(["a dog"] * 200 + [" ".join(tiny.WORDS * 20)])
    assert ours.truncated == 1
    assert not [r for r in caplog.records if r.name == "encheck"]


def test_the_prompt_stands_before_every_text(checkpoint, loaded, reference):
    prompted = encoder(checkpoint, prompt="the red: ").encode(SENTENCES)
    assert np.abs(prompted - reference.encode(SENTENCES, prompt="the red: ")).max() < 1e-5
    assert np.abs(prompted - loaded.encode([f"the red: {text}" for text in SENTENCES])).max() < 1e-5
    assert np.abs(prompted - loaded.encode(SENTENCES)).max() > 0.01


def test_the_maximum_length_of_the_configuration_holds(checkpoint):
    short = encoder(checkpoint, max_length=5).encode(["the dog sings on a red cat", "the dog sings"])
    assert np.abs(short[0] - short[1]).max() < 1e-5


def test_half_precision_gives_close_vectors_in_single_precision(checkpoint, loaded):
    half = encoder(checkpoint, dtype="bfloat16").encode(SENTENCES)
    assert half.dtype == np.float32
    assert 0 < np.abs(half - loaded.encode(SENTENCES)).max() < 0.05


def test_the_device_goes_before_the_dtype_of_the_configuration(checkpoint, loaded):
    ours = encoder(checkpoint, dtype="bfloat16", device=Device("cpu", "float32"))
    assert (ours.encode(SENTENCES) == loaded.encode(SENTENCES)).all()
    assert ours.fingerprint() == loaded.fingerprint()


def test_the_device_is_chosen_where_none_is_named(checkpoint, loaded):
    ours = encoder(checkpoint, device=Device())
    assert np.abs(ours.encode(SENTENCES) - loaded.encode(SENTENCES)).max() < 1e-3
    assert ours.model.device.type in {"cpu", "cuda", "mps"}


def test_a_plain_transformers_folder_is_pooled_by_the_mean(checkpoint, reference):
    plain = encoder(checkpoint.parent / "plain").encode(SENTENCES)
    expected = reference.encode(SENTENCES)
    assert np.abs(plain / np.linalg.norm(plain, axis=1, keepdims=True) - expected).max() < 1e-5
    assert np.linalg.norm(plain, axis=1).max() > 1.1


def test_a_checkpoint_with_the_older_names_of_modules_loads(copied, loaded):
    modules = json.loads((copied / "modules.json").read_text())
    old = [m | {"type": f"sentence_transformers.models.{m['type'].rpartition('.')[2]}"} for m in modules]
    (copied / "modules.json").write_text(json.dumps(old))
    assert (encoder(copied).encode(SENTENCES) == loaded.encode(SENTENCES)).all()


def build_static(folder):
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import StaticEmbedding

    static = StaticEmbedding(tiny.tokenizer().backend_tokenizer, embedding_dim=8)
    settings = {"prompts": {"query": "the red: "}, "default_prompt_name": "query"}
    SentenceTransformer(modules=[static], device="cpu", **settings).save(
        str(folder / "static"), create_model_card=False
    )
    return folder / "static"


def build_prompted(folder):
    return tiny.build(folder, prompts={"query": "the red: "}, default_prompt_name="query")


def build_prompt_left_out(folder):
    built = build_prompted(folder)
    change_json(built / "1_Pooling" / "config.json", include_prompt=False)
    return built


def build_cut_vectors(folder):
    return tiny.build(folder, truncate_dim=7)


@pytest.mark.parametrize("build", [build_static, build_prompted, build_prompt_left_out, build_cut_vectors])
def test_what_else_a_checkpoint_says_of_itself_is_followed(tmp_path, build, loaded):
    folder = build(tmp_path)
    ours, expected = encoder(folder).encode(SENTENCES), theirs(folder).encode(SENTENCES)
    assert ours.shape == expected.shape
    assert np.abs(ours - expected).max() < 1e-5
    assert ours.shape != (len(SENTENCES), 16) or np.abs(ours - loaded.encode(SENTENCES)).max() > 1e-3


@pytest.mark.parametrize("build", [build_static, build_prompted, build_prompt_left_out])
@pytest.mark.parametrize("prompt", ["a cat under the ", ""])
def test_the_prompt_of_the_configuration_goes_before_what_the_checkpoint_says(tmp_path, build, prompt):
    folder = build(tmp_path)
    ours = encoder(folder, prompt=prompt).encode(SENTENCES)
    assert np.abs(ours - theirs(folder).encode(SENTENCES, prompt=prompt)).max() < 1e-5
    assert np.abs(ours - encoder(folder).encode(SENTENCES)).max() > 1e-3


def test_an_empty_prompt_gives_what_a_checkpoint_without_a_prompt_gives(tmp_path, loaded):
    folder = build_prompted(tmp_path)
    assert np.abs(encoder(folder, prompt="").encode(SENTENCES) - loaded.encode(SENTENCES)).max() < 1e-5
    assert encoder(folder, prompt="").fingerprint() != encoder(folder).fingerprint()


@pytest.mark.parametrize("name", sorted(SIMILARITIES))
def test_the_similarity_is_the_configurations_else_the_checkpoints(copied, name):
    change_json(copied / "config_sentence_transformers.json", similarity_fn_name=name)
    assert encoder(copied).similarity == name
    assert encoder(copied, similarity="dot").similarity == "dot"


# the fingerprint


@pytest.mark.parametrize("field", [{"prompt": "query: "}, {"max_length": 7}, {"dtype": "float16"}], ids=str)
def test_what_changes_vectors_changes_the_fingerprint(checkpoint, loaded, field):
    assert encoder(checkpoint, **field).fingerprint() != loaded.fingerprint()


@pytest.mark.parametrize("field", [{"similarity": "dot"}, {"licence": "MIT"}, {"prompt": ""}], ids=str)
def test_what_leaves_vectors_as_they_are_leaves_the_fingerprint(checkpoint, loaded, field):
    assert encoder(checkpoint, **field).fingerprint() == loaded.fingerprint()


def test_a_copied_folder_has_the_same_fingerprint(copied, loaded):
    (copied / "README.md").write_text("another model card")
    assert encoder(copied).fingerprint() == loaded.fingerprint()


@pytest.mark.parametrize("name", ["model.safetensors", "tokenizer.json", "config.json", "1_Pooling/config.json"])
def test_an_edited_file_gives_another_fingerprint(copied, loaded, name):
    content = (copied / name).read_bytes()
    (copied / name).write_bytes(content[:-1] + b"\x7f" if name.endswith("tensors") else content + b"\n")
    assert encoder(copied).fingerprint() != loaded.fingerprint()


def test_files_are_hashed_once_an_object_by_the_function_that_is_given(checkpoint):
    asked = Counter()
    hashing = lambda path: asked.update([path.name]) or file_sha256(path)  # noqa: E731
    ours = load_model(ModelConfig("tiny", name=str(checkpoint)), device=CPU, file_hash=hashing)
    assert ours.fingerprint() == ours.fingerprint()
    assert asked["model.safetensors"] == 1
    assert asked["config.json"] == 3


def test_finding_out_what_a_checkpoint_is_imports_no_torch(checkpoint):
    code = """if True:
        import sys
        from encheck.encoders.model_config import ModelConfig
        from encheck.encoders.load import load_model
        from encheck.encoders.model_config import Device
        load_model(ModelConfig("tiny", name=sys.argv[1]), device=Device()).fingerprint()
        print([name for name in ("torch", "transformers", "sentence_transformers") if name in sys.modules])
    """
    assert run_python(code, checkpoint) == "[]\n"


# what is refused

BROKEN = {
    "nothing at all": (shutil.rmtree, "model folder '{folder}' does not exist"),
    "an empty folder": (
        lambda f: [shutil.rmtree(f), f.mkdir()],
        "has neither modules.json nor config.json. It holds: nothing",
    ),
    "a folder of something else": (
        lambda f: [(f / name).unlink() for name in ("modules.json", "config.json")],
        "{folder} is not a checkpoint: it has neither modules.json nor config.json. It holds: 1_Pooling, 2_Normalize,",
    ),
    "a file": (lambda f: [shutil.rmtree(f), f.touch()], "is a file, but should be a folder"),
    "no weights": (lambda f: (f / "model.safetensors").unlink(), "{folder} has no weights: a checkpoint holds"),
    "weights of the optimiser only": (
        lambda f: (f / "model.safetensors").rename(f / "training_args.bin"),
        "{folder} has no weights",
    ),
    "an empty file of weights": (
        lambda f: (f / "model.safetensors").write_bytes(b""),
        "{folder}/model.safetensors is empty: is the copy truncated",
    ),
    "weights cut off": (lambda f: cut(f / "model.safetensors"), "{folder}/model.safetensors cannot be read"),
    "a pointer of git-lfs": (
        lambda f: (f / "model.safetensors").write_text("version https://git-lfs.github.com/spec/v1"),
        "or a git-lfs pointer?",
    ),
    "a link to nowhere": (
        lambda f: [(f / "model.safetensors").unlink(), (f / "model.safetensors").symlink_to(f / "gone")],
        "{folder}/model.safetensors cannot be read",
    ),
    "code of its own": (
        lambda f: (f / "modules.json").write_text('[{"idx": 0, "path": "", "type": "modeling_mine.Model"}]'),
        "{folder}/modules.json names its own code (modeling_mine.Model), which is not run",
    ),
    "code that only looks like theirs": (
        lambda f: (f / "modules.json").write_text('[{"path": "", "type": "sentence_transformersx.Model"}]'),
        "names its own code (sentence_transformersx.Model)",
    ),
    "modules elsewhere": (
        lambda f: (f / "modules.json").write_text(
            '[{"idx": 0, "path": "../x", "type": "sentence_transformers.models.Pooling"}]'
        ),
        "{folder}/modules.json points outside its folder (../x), which is not followed",
    ),
    "modules without a type": (
        lambda f: (f / "modules.json").write_text('[{"path": ""}, "x"]'),
        "names its own code (None)",
    ),
    "modules that are no list": (
        lambda f: (f / "modules.json").write_text("{}"),
        "{folder}/modules.json should hold a list, but holds a dict",
    ),
    "modules that are no JSON": (lambda f: cut(f / "modules.json"), "{folder}/modules.json is not JSON: "),
    "a configuration that is no JSON": (lambda f: cut(f / "config.json"), "{folder}/config.json is not JSON: "),
    "pooling that is no JSON": (
        lambda f: cut(f / "1_Pooling/config.json"),
        "{folder}/1_Pooling/config.json is not JSON: ",
    ),
    "a tokenizer that is no JSON": (lambda f: cut(f / "tokenizer.json"), "{folder}/tokenizer.json is not JSON: "),
    "a configuration that is no UTF-8": (
        lambda f: (f / "config_sentence_transformers.json").write_bytes(b'{"prompts": "\xff"}'),
        "{folder}/config_sentence_transformers.json is not JSON: ",
    ),
    "a configuration that is a list": (
        lambda f: (f / "config_sentence_transformers.json").write_text("[]"),
        "{folder}/config_sentence_transformers.json should hold a mapping, but holds a list",
    ),
    "no tokenizer": (
        lambda f: (f / "tokenizer.json").unlink(),
        "{folder} has no tokenizer: a checkpoint holds tokenizer.json",
    ),
    "code of the transformer's own": (
        lambda f: change_json(f / "config.json", auto_map={"AutoModel": "mine.Model"}, model_type="mine"),
        "{folder}/config.json names its own code (mine.Model), which is not run. If you trust it: ",
    ),
    "an unknown similarity": (
        lambda f: change_json(f / "config_sentence_transformers.json", similarity_fn_name="cosin"),
        "{folder}: unknown similarity 'cosin'; did you mean 'cosine'?",
    ),
}


@pytest.mark.parametrize(("spoil", "expected"), BROKEN.values(), ids=BROKEN.keys())
def test_a_folder_that_is_no_whole_checkpoint_is_refused_before_it_is_loaded(copied, spoil, expected):
    spoil(copied)
    with pytest.raises(ModelError) as caught:
        encoder(copied).fingerprint()
    assert expected.format(folder=copied) in str(caught.value)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda f: (f / "config.json").write_text("{}"),
        lambda f: shutil.rmtree(f / "1_Pooling"),
        lambda f: (f / "modules.json").write_text("[]"),
    ],
    ids=["no type", "no pooling", "no modules"],
)
def test_what_shows_only_on_loading_is_an_encoder_error_that_names_the_folder(copied, spoil):
    spoil(copied)
    with pytest.raises(EncoderError, match=f"sentence-transformers cannot load {copied}: "):
        encoder(copied).encode(["a dog"])


@pytest.mark.parametrize("name", ["gpu", "cuda:x", "", "cpu,auto", "cpu,cuda:all"])
def test_a_device_that_is_none_is_refused_at_once(name):
    with pytest.raises(UsageError, match=f"--device={name} is not a device: it should be auto, cpu, cuda"):
        Device(name)


def test_a_device_that_is_not_there_is_refused_with_those_that_are(checkpoint):
    with pytest.raises(UsageError, match=r"--device=cpu,cuda:99: torch .* sees no cuda:99 here. Available: .*cpu"):
        encoder(checkpoint, device=Device("cpu,cuda:99")).encode(["a dog"])


def test_weights_with_another_hash_are_refused_from_a_folder_too(checkpoint):
    right = file_sha256(checkpoint / "model.safetensors")
    assert encoder(checkpoint, sha256=right).fingerprint()
    with pytest.raises(ModelError, match=f"{checkpoint}/model.safetensors does not have the SHA-256 {'0' * 64}"):
        encoder(checkpoint, sha256="0" * 64)


# where a model comes from


@pytest.fixture
def package(checkpoint, tmp_path, monkeypatch):
    """An installed package that carries the checkpoint, and must not be imported for it."""
    shutil.copytree(checkpoint, tmp_path / "weights_that_raise" / "model")
    (tmp_path / "weights_that_raise" / "__init__.py").write_text("raise RuntimeError('was imported')")
    monkeypatch.syspath_prepend(tmp_path)
    return "weights_that_raise"


def test_a_package_gives_its_weights_without_being_imported(package, tmp_path, loaded):
    config = ModelConfig("packed", name="owner/name", package=package)
    assert find_model_folder(config) == tmp_path / package / "model"
    assert locate_weights(config) == (True, f"package {package}")
    assert load_model(config, device=CPU).fingerprint() == loaded.fingerprint()
    assert package not in sys.modules


def test_a_package_with_other_weights_than_its_entry_says_is_refused(package, checkpoint):
    right = file_sha256(checkpoint / "model.safetensors")
    assert find_model_folder(ModelConfig("packed", name="owner/name", package=package, sha256=right))
    with pytest.raises(ModelError, match=r"packed: .*model.safetensors does not have the SHA-256 beef"):
        find_model_folder(ModelConfig("packed", name="owner/name", package=package, sha256="beef"))


def test_a_name_of_models_yaml_goes_before_a_folder_and_a_dotted_path_is_the_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sbert").mkdir()
    known = known_models()
    assert find_or_make_model_config("sbert", known) is known["sbert"]
    taken = find_or_make_model_config("./sbert", known)
    assert (taken.label, taken.name, taken.adapter) == ("sbert", "./sbert", "sentence-transformers")
    (tmp_path / "other").mkdir()
    assert find_or_make_model_config("other", known).name == "other"
    assert find_or_make_model_config("owner/name", known) == ModelConfig("owner--name", name="owner/name")


def test_an_unknown_name_lists_those_that_there_are_and_the_nearest():
    known = known_models()
    with pytest.raises(ModelError) as caught:
        find_or_make_model_config("sbrt", known)
    assert str(caught.value).startswith("unknown model 'sbrt'; did you mean 'sbert'? Available: arctic, bag-of-words,")
    assert "A folder is written --model=./folder, a hub id owner/name" in str(caught.value)
    with pytest.raises(ModelError, match=r"is an address.*--model=openai --model-arg name=http://localhost:8000/v1 "):
        find_or_make_model_config("http://localhost:8000/v1", known)


HUB = """if True:
    import sys
    from encheck.encoders.model_config import ModelConfig
    from encheck.encoders.load import find_model_folder, locate_weights
    from encheck.errors import ModelError
    config = ModelConfig("x", name=sys.argv[1], package="not_installed.at_all")
    print(locate_weights(config))
    try:
        print(find_model_folder(config))
    except ModelError as error:
        print(error)
"""


@pytest.mark.parametrize("name", ["owner/name", "own--er/.name", "owner/name.git"])
def test_a_hub_id_without_a_network_says_what_to_do(tmp_path, name):
    there, said = run_python(HUB, name, HF_HUB_OFFLINE="1", HF_HOME=str(tmp_path)).splitlines()
    assert there.startswith("(False, ")
    assert said.startswith(f"cannot fetch '{name}' from the hub (")
    assert said.endswith(f"name the folder: --model=./{name.split('/')[1]}")


def test_a_folder_that_is_missing_below_one_that_is_here_is_told_with_its_neighbours(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("checkpoint-90", "checkpoint-500", "logs"):
        (tmp_path / "out" / name).mkdir(parents=True)
    hub = HUB.replace(', package="not_installed.at_all"', "")
    *_, said = run_python(hub, "out/checkpoint-9", HF_HUB_OFFLINE="1", HF_HOME=str(tmp_path / "home")).splitlines()
    assert said.startswith("unknown folder 'out/checkpoint-9'; did you mean 'out/checkpoint-90'? Available: out/check")
    assert said.endswith("Remedy: give a folder that exists, such as ./checkpoint")


@pytest.mark.parametrize("whole", [True, False])
def test_the_cache_of_the_hub_is_taken_where_it_holds_the_weights(tmp_path, checkpoint, whole):
    revision = "a" * 40
    cache = tmp_path / "hub" / "models--owner--name"
    shutil.copytree(checkpoint, cache / "snapshots" / revision)
    (cache / "refs").mkdir()
    (cache / "refs" / "main").write_text(revision)
    if not whole:
        (cache / "snapshots" / revision / "model.safetensors").unlink()
    there, found = run_python(HUB, "owner/name", HF_HUB_OFFLINE="1", HF_HOME=str(tmp_path)).splitlines()
    assert there.startswith(f"({whole}, ")
    assert found == str(cache / "snapshots" / revision)


FAKES = sorted(label for label, config in known_models().items() if ".fake:" in config.adapter)


def test_every_fake_of_models_yaml_loads_and_has_a_name_of_its_own():
    known = known_models()
    models = {label: load_model(known[label], device=CPU) for label in FAKES}
    assert [label for label, model in models.items() if not isinstance(model, Encoder | PairScorer)] == []
    assert len({model.fingerprint() for model in models.values()}) == len(FAKES)
    assert [locate_weights(known[label]) for label in FAKES] == [
        (True, f"the adapter {known[label].adapter}") for label in FAKES
    ]


# adapters of the user

ADAPTERS = """
class Scorer:
    def __init__(self, size=1):
        self.size = size
    def fingerprint(self):
        return f"scorer-{self.size}"
    def score_pairs(self, first, second):
        return [float(self.size)] * len(first)

class Raises(Scorer):
    def __init__(self):
        raise OSError("no licence server")

class Unnamed(Scorer):
    def fingerprint(self):
        pass

class Blank(Scorer):
    def fingerprint(self):
        return " "

class Unsure(Scorer):
    def fingerprint(self):
        return self.weights

class Nothing:
    pass

class NoSimilarity:
    def fingerprint(self):
        return "x"
    def encode(self, texts, *, role=None):
        return None

class BadSimilarity(NoSimilarity):
    similarity = "cosin"
"""


@pytest.fixture
def adapters(tmp_path, monkeypatch):
    (tmp_path / "my_adapters.py").write_text(ADAPTERS)
    (tmp_path / "my_broken_adapters.py").write_text("class Scorer(:")
    monkeypatch.syspath_prepend(tmp_path)
    yield
    sys.modules.pop("my_adapters", None)


@pytest.mark.usefixtures("adapters")
def test_an_adapter_of_your_own_gets_its_options():
    config = ModelConfig("mine", adapter="my_adapters:Scorer", options={"size": 3})
    model = load_model(config, device=CPU)
    assert model.fingerprint() == "scorer-3"
    assert model.score_pairs(["a"], ["b"]) == [3.0]


@pytest.mark.usefixtures("adapters")
@pytest.mark.parametrize(
    ("adapter", "options", "expected"),
    [
        ("my_adapters:Scorer", {"colour": 1}, "unexpected keyword argument 'colour'"),
        ("my_adapters:Raises", {}, "no licence server"),
        ("my_adapters:Scorr", {}, "cannot import the adapter 'my_adapters:Scorr': .*has no attribute 'Scorr'"),
        ("my_other_adapters:Scorer", {}, "No module named 'my_other_adapters'"),
        ("my_broken_adapters:Scorer", {}, "cannot import the adapter .*SyntaxError"),
        (":Scorer", {}, "cannot import the adapter ':Scorer'"),
        ("my_adapters:Unnamed", {}, r"fingerprint\(\) of my_adapters:Unnamed gave None. Remedy: return a text"),
        ("my_adapters:Blank", {}, r"fingerprint\(\) of my_adapters:Blank gave ' '. Remedy: return a text"),
        ("my_adapters:Unsure", {}, r"fingerprint\(\) of my_adapters:Unsure raised AttributeError.* Remedy: return"),
        ("my_adapters:Nothing", {}, r"is not a model: it should have fingerprint\(\) and score_pairs\(\), or"),
        ("my_adapters:NoSimilarity", {}, "is not a model: .* encode.. and `similarity`"),
        ("my_adapters:BadSimilarity", {}, "unknown similarity 'cosin'; did you mean 'cosine'?"),
    ],
)
def test_an_adapter_that_does_not_work_is_a_model_error_that_names_it(adapter, options, expected):
    with pytest.raises(ModelError, match=f"mine: .*{expected}"):
        load_model(ModelConfig("mine", adapter=adapter, options=options), device=CPU)


# packing


@given(st.lists(st.integers(0, 60), max_size=60), st.integers(1, 100))
def test_packing_takes_every_position_once_and_stays_within_the_budget(lengths, budget):
    batches = [batch.tolist() for batch in batch_equal_lengths(np.array(lengths, np.intp), budget)]
    assert sorted(i for batch in batches for i in batch) == list(range(len(lengths)))
    assert all(len(b) == 1 or len(b) * max(lengths[i] for i in b) <= budget or not lengths[b[0]] for b in batches)
    order = [lengths[i] for batch in batches for i in batch]
    assert order == sorted(lengths, reverse=True)


@given(st.lists(st.integers(1, 60), min_size=2, max_size=60), st.integers(60, 200))
def test_a_batch_is_as_full_as_the_budget_lets_it_be(lengths, budget):
    batches = [[lengths[i] for i in batch] for batch in batch_equal_lengths(np.array(lengths), budget)]
    assert all(len(set(batch)) == 1 for batch in batches)
    assert all((len(b) + 1) * b[0] > budget for b, after in pairwise(batches) if b[0] == after[0])
    with allow_mixed_lengths():
        batches = [[lengths[i] for i in batch] for batch in batch_equal_lengths(np.array(lengths), budget)]
    assert all((len(batch) + 1) * batch[0] > budget for batch in batches[:-1])


def test_a_vector_of_the_packaged_encoder_is_the_same_but_for_rounding_whatever_else_is_encoded():
    model = load_model(known_models()["sbert"], device=CPU)
    texts = [" ".join((2 * tiny.WORDS)[i : 12 + 2 * i]) for i in range(5) for _ in range(4)]
    together = model.encode(texts)
    apart = np.concatenate([model.encode(texts[i : i + 3]) for i in range(0, len(texts), 3)])
    np.testing.assert_allclose(apart, together, rtol=0, atol=1e-6)


# what an encoder gives is checked


def with_rows(value, *rows):
    vectors = np.ones((3, 5))
    vectors[list(rows)] = value
    return vectors


TEXTS_GIVEN = ["the dog", "the cat", "the fox"]
BAD_VECTORS = {
    "NaN": (with_rows(np.nan, 1), "the vector of 1 of 3 texts contains NaN or infinity; the first is 'the cat'"),
    "infinity": (with_rows(-np.inf, 1, 2), "of 2 of 3 texts contains NaN or infinity; the first is 'the cat'"),
    "too large for single precision": (with_rows(1e300, 2), "contains NaN or infinity; the first is 'the fox'"),
    "zeros": (with_rows(0, 1), "the vector of 1 of 3 texts is all zeros; the first is 'the cat'"),
    "one vector": (np.ones(5), r"returned shape \(5,\), but should return \(3, 5\); the first text is 'the dog'"),
    "too few": (np.ones((2, 5)), r"returned shape \(2, 5\), but should return \(3, 5\); the first text is 'the dog'"),
    "another width": (
        np.ones((3, 6)),
        r"returned shape \(3, 6\), but should return \(3, 5\); the first text is",
    ),
    "one vector a token": (
        np.ones((3, 2, 5)),
        r"returned shape \(3, 2, 5\), but should return \(3, 5\); the first text",
    ),
    "text": (
        np.full((3, 5), "x"),
        "returned values of type <U1, but should return floating point; the first text is 'the dog'",
    ),
    "truth": (np.ones((3, 5), bool), "returned values of type bool, but should return floating point; the first text"),
    "complex": (np.ones((3, 5), complex), "returned values of type complex128"),
    "nothing": (None, "returned values of type object, .*the first text is 'the dog'"),
    "rows of different lengths": (
        [[1, 2], [1], [1]],
        "did not return an array of numbers .*the first text is 'the dog'",
    ),
}


@pytest.mark.parametrize(("vectors", "expected"), BAD_VECTORS.values(), ids=BAD_VECTORS.keys())
def test_vectors_that_are_none_are_refused_with_the_first_text(vectors, expected):
    with pytest.raises(EncoderError, match=expected):
        check_vectors(vectors, TEXTS_GIVEN, width=5)


@pytest.mark.parametrize("dtype", [np.float16, np.float64, np.int32])
def test_vectors_of_any_number_come_out_in_single_precision(dtype):
    checked = check_vectors(np.arange(1, 7).reshape(3, 2).astype(dtype), TEXTS_GIVEN)
    assert checked.dtype == np.float32
    assert checked.tolist() == [[1, 2], [3, 4], [5, 6]]


def test_a_text_without_a_word_may_have_a_vector_of_zeros():
    assert not check_vectors(np.zeros((2, 3)), ["", " \n"]).any()


@pytest.mark.parametrize("length", [1e-41, 1e-30, 1e25, 1e37])
def test_every_similarity_of_vectors_of_any_length_is_a_number(length):
    vectors = (np.random.default_rng(0).standard_normal((2, 9, 5)) * length).astype(np.float32)
    with np.errstate(over="raise", invalid="raise", divide="raise"):
        assert all(np.isfinite(similarity(*vectors)).all() for similarity in SIMILARITIES.values())
    first, second = vectors.astype(np.float64) / np.float64(np.abs(vectors).max())
    norms = np.linalg.norm(first, axis=1) * np.linalg.norm(second, axis=1)
    assert cosine(*vectors) == pytest.approx((first * second).sum(axis=1) / norms, abs=1e-6)


def test_a_list_of_lists_is_taken():
    assert check_vectors([[1, 2], [3, 4]], ["a", "b"]).tolist() == [[1, 2], [3, 4]]


PAIRS = [("a", "b"), ("the dog", "the cat")]


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        ([0.1, np.nan], r"1 of 2 pair scores are NaN or infinite; the first is of \('the dog', 'the cat'\)"),
        ([np.inf, np.nan], r"2 of 2 pair scores are NaN or infinite; the first is of \('a', 'b'\)"),
        ([0.1], r"returned shape \(1,\), but should return \(2,\); the first pair is \('a', 'b'\)"),
        ([[0.1], [0.2]], r"returned shape \(2, 1\), but should return \(2,\)"),
        (["x", "y"], r"returned values of type <U1, but should return floating point; the first pair is \('a', 'b'\)"),
        (None, r"score_pairs\(\) returned values of type object"),
        ([[1], [1, 2]], "did not return an array of numbers"),
    ],
)
def test_scores_that_are_none_are_refused_with_the_first_pair(scores, expected):
    with pytest.raises(EncoderError, match=expected):
        check_scores(scores, PAIRS)


def test_scores_of_any_number_come_out_in_double_precision():
    assert check_scores([1, 0], PAIRS).dtype == np.float64


class Batches(fake.BagOfWords):
    """Hands over what it is told to."""

    def __init__(self, *batches):
        super().__init__()
        self.given = batches

    def batches(self, texts, *, role=None):
        return ((np.array(positions), np.ones((len(positions), width))) for positions, width in self.given)


def test_an_encoders_own_batches_are_taken_as_they_come():
    found = list(checked_batches(Batches(([2], 4), ([0, 1], 4)), TEXTS_GIVEN))
    assert [positions.tolist() for positions, _ in found] == [[2], [0, 1]]


@pytest.mark.parametrize(
    ("batches", "expected"),
    [
        ([([0], 4), ([2], 4)], "the vector of 1 of 3 texts was never returned by batches.*; the first is 'the cat'"),
        (
            [([0, 1], 4), ([1, 2], 4)],
            "the vector of 1 of 2 texts was returned twice by batches.*; the first is 'the",
        ),
        ([([0, 1], 4), ([2], 5)], r"returned shape \(1, 5\), but should return \(1, 4\); the first text is 'the fox'"),
    ],
    ids=["one left out", "one twice", "another width"],
)
def test_batches_that_do_not_hold_each_text_once_are_refused(batches, expected):
    with pytest.raises(EncoderError, match=expected):
        list(checked_batches(Batches(*batches), TEXTS_GIVEN))


def test_an_encoder_without_batches_is_asked_for_slices():
    texts = [f"sentence {i}" for i in range(1_100)]
    found = list(checked_batches(fake.Random(), texts))
    assert [len(positions) for positions, _ in found] == [512, 512, 76]
    assert (np.concatenate([vectors for _, vectors in found]) == fake.Random().encode(texts)).all()


# fakes


ENCODERS = [fake.BagOfWords, fake.Constant, fake.Random, fake.Nan, fake.Oracle]


@pytest.mark.parametrize("kind", ENCODERS)
def test_an_encoding_fake_gives_a_vector_for_any_text_and_the_same_for_the_same(kind):
    made, again = kind(), kind()
    assert isinstance(made, Encoder)
    assert not isinstance(made, BatchEncoder | PairScorer)
    for texts in ([], ["the dog"], ["", " ", "the dog", "\ud800", "犬", "the dog"]):
        vectors = made.encode(texts)
        assert vectors.dtype == np.float32
        assert vectors.shape == (len(texts), vectors.shape[1])
        assert vectors.shape[1] >= 8
        np.testing.assert_array_equal(vectors, again.encode(texts))


@pytest.mark.parametrize("kind", [*ENCODERS, fake.Overlap])
def test_a_fakes_fingerprint_depends_on_its_options(kind):
    made = kind().fingerprint()
    assert made == kind().fingerprint()
    other = kind({"the dog": ("dog", 0.0)}) if kind is fake.Oracle else kind(noise=1)
    assert other.fingerprint() != made


def test_overlap_scores_pairs_and_has_no_vectors():
    made = fake.Overlap()
    assert isinstance(made, PairScorer)
    assert not isinstance(made, Encoder)
    assert not hasattr(made, "encode")
    assert (
        made.score_pairs(["a red car"], ["a blue car"]).tolist()
        == jaccard(["a red car"], ["a blue car"]).tolist()
        == [0.5]
    )


@given(
    st.lists(st.sampled_from(tiny.WORDS), min_size=1, max_size=12).flatmap(
        lambda w: st.tuples(st.just(w), st.permutations(w))
    )
)
def test_the_bag_of_words_is_blind_to_order_and_to_nothing_else(lists):
    words, permuted = lists
    first, second, more = fake.BagOfWords().encode([" ".join(words), " ".join(permuted), " ".join([*words, "zebra"])])
    assert (first == second).all()
    assert (first != more).any()


def test_the_constant_cannot_tell_texts_apart_and_the_random_can():
    assert len(np.unique(fake.Constant().encode(SENTENCES), axis=0)) == 1
    assert len(np.unique(fake.Random().encode(SENTENCES), axis=0)) == len(set(SENTENCES))


def test_the_nan_is_caught_by_the_check_of_vectors():
    texts = [f"sentence {i}" for i in range(60)]
    vectors = fake.Nan().encode(texts)
    assert 10 < np.isnan(vectors).any(axis=1).sum() < 30
    with pytest.raises(EncoderError, match="contains NaN or infinity"):
        check_vectors(vectors, texts)


def probes():
    lines = (resources.files("encheck.datasets") / "probes.jsonl").read_text("utf-8").splitlines()
    return [SimpleNamespace(**json.loads(line)) for line in lines]


def test_the_oracle_has_what_keeps_the_meaning_nearer_than_what_changes_it():
    oracle = fake.Oracle()
    for group in probes()[::4]:
        near = [v["text"] for v in group.variants if v["meaning"] == "kept"]
        far = [v["text"] for v in group.variants if v["meaning"] == "changed"]
        vectors = oracle.encode([group.sentence, *near, *far])
        scores = cosine(np.repeat(vectors[:1], len(vectors) - 1, axis=0), vectors[1:])
        assert scores[: len(near)].min() > scores[len(near) :].max(), group.id


def test_the_oracle_has_probes_of_other_meanings_far_apart():
    vectors = fake.Oracle().encode([group.sentence for group in probes()])
    similar = vectors @ vectors.T - np.eye(len(vectors))
    assert similar.max() < 0.5


def test_the_oracle_takes_known_words_in_another_order_for_a_jumble():
    oracle = fake.Oracle({"the dog bit the man": ("bite", 0.0), "the man was bitten by the dog": ("bite", 0.0)})
    source, kept, jumbled = oracle.encode(
        ["the dog bit the man", "the man was bitten by the dog", "the man bit the dog"]
    )
    assert cosine(source[None], kept[None]) > 0.9
    assert 0.3 < cosine(source[None], jumbled[None])[0] < 0.9


def test_the_checkpoint_is_a_batch_encoder(loaded):
    assert isinstance(loaded, BatchEncoder)
    assert isinstance(loaded, SentenceTransformerEncoder)
