"""One model in use is told from another, what was changed is named, and a re-index says the same."""

import copy
import html
import importlib.util
import json
import warnings
from functools import cache, partial
from pathlib import Path

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
from encheck.encoders.fake import random_direction
from encheck.encoders.objects import wrap_model_object
from encheck.errors import EncheckError, EncoderError, UsageError
from encheck.gating import reindex
from encheck.gating.reindex import VectorSample
from encheck.operations.same.changes import EDITION, built_in_texts, pairs_of_twin_texts
from encheck.operations.same.comparison import KINDS
from encheck.operations.same.sides import read_side
from encheck.options import Settings
from encheck.running.resources import resolve_models
from encheck.running.service import EncoderService
from encheck.store import Store
from encheck.system.lock import no_locks
from encheck.system.terminal import Progress
from encheck.system.typed_files import as_values, read_typed

ROOT = Path(__file__).resolve().parents[3]
REFERENCE = ROOT / "docs/reference"


@cache
def vector(text, *, prompt="", limit=200, lower=True, dimension=48, seed="", blend=0.0):
    """Words by their place, at most `limit` of them, and a little of another model."""
    text = prompt + text
    found = (text.lower() if lower else text).split()[:limit] or ["nothing"]
    made = np.sum([(1 + i % 3) * random_direction(seed + word, dimension) for i, word in enumerate(found)], axis=0)
    return made / np.linalg.norm(made) + blend * random_direction(f"other {found}", dimension)


def embed(some, *, noise=1e-6, after=lambda v: v, **how):
    """The vectors of some texts, with noise that depends on the batch, as rounding does."""
    made = np.array([vector(text, **how) for text in some])
    random = np.random.default_rng(len(some))
    return np.asarray(after(made + noise * random.standard_normal(made.shape)), np.float32)


def using(**how):
    """A model: this function, used in a way of its own."""
    return lambda some: embed(some, **how)


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    path = tmp_path_factory.mktemp("same") / "plain.json"
    assert encheck.same(using(), save=path).outcome == "same"
    return path


@pytest.mark.quick
def test_there_are_200_texts_and_the_recipe_writes_them():
    path = ROOT / "lab/recipes/build_identity_texts.py"
    module = importlib.util.module_from_spec(spec := importlib.util.spec_from_file_location("recipe", path))
    spec.loader.exec_module(module)
    written = json.loads(module.TARGET.read_text("utf-8"))
    assert (written["edition"], written["texts"]) == (EDITION, list(module.rows()))
    assert len({one.text for one in built_in_texts()}) == 200
    kinds = {one.kind for one in built_in_texts()}
    assert kinds <= {*KINDS}
    assert kinds >= {"long", "near the limit", "rare", "number", "language", "code", "empty"}
    assert {one.shows for _, _, one in pairs_of_twin_texts(built_in_texts(), "prompt")} >= {"query: ", "passage: "}


def test_rounding_is_the_same_for_use(saved):
    for a, outcome in ((using(), "same"), (using(noise=1e-3), "same for use")):
        for b in (using(), saved):
            found = encheck.same(a, b)
            assert (found.outcome, found.causes, found.exit_code, found.moved) == (outcome, (), 0, 0), found.reasons


CHANGES = [
    (("prompt",), {"prompt": "query: "}, "'query: '"),
    (("truncation",), {"limit": 60}, "words"),
    (("truncation",), {"limit": 400}, "words"),
    (("tokenizer",), {"lower": False}, "c"),
    (("normalisation",), {"after": lambda v: 3 * v}, "normalises vectors"),
    (("dimension",), {"after": lambda v: v[:, :24]}, "the first 24 numbers"),
    (("prompt", "truncation"), {"prompt": "passage: ", "limit": 60}, "'passage: '"),
    (("prompt", "normalisation"), {"prompt": "passage: ", "after": lambda v: 3 * v}, "normalises vectors"),
    (("tokenizer", "normalisation"), {"lower": False, "after": lambda v: 3 * v}, "normalises vectors"),
    ((), {"seed": "another"}, "none of the known causes"),
    ((), {"blend": 0.3}, "none of the known causes"),
    ((), {"limit": 60, "blend": 0.3}, "none of the known causes"),
    ((), {"dimension": 64}, "none of the known causes"),
]


@pytest.mark.parametrize(("causes", "how", "says"), CHANGES)
def test_another_model_is_told_and_what_was_changed_is_named(causes, how, says):
    both = ((using(), using(**how)), (using(**how), using()))
    for a, b in both[: 2 if len(causes) == 1 else 1]:
        found = encheck.same(a, b)
        assert (found.outcome, found.exit_code) == ("another", 1)
        assert {*found.causes} == {*causes}, found.reasons
        assert says in " ".join(found.reasons)


@pytest.mark.parametrize(("causes", "how", "says"), [CHANGES[i] for i in (0, 1, 4, 6, 9)])
def test_a_saved_file_shows_the_same_by_its_twins(saved, causes, how, says):
    found = encheck.same(saved, using(**how))
    assert (found.outcome, {*found.causes}) == ("another", {*causes}), found.reasons
    assert says in " ".join(found.reasons)


def test_wide_vectors_are_saved_as_projections(tmp_path):
    wide = partial(embed, dimension=500)
    assert encheck.same(wide, save=tmp_path / "wide.json").outcome == "same"
    assert encheck.same(wide, tmp_path / "wide.json").outcome == "same"
    assert encheck.same(tmp_path / "wide.json", partial(wide, prompt="query: ")).causes == ("prompt",)
    cut = partial(wide, after=lambda v: v[:, :48])
    assert encheck.same(cut, save=tmp_path / "cut.json").outcome == "same"
    assert encheck.same(wide, tmp_path / "cut.json").causes == ("dimension",)


def test_two_saved_files_are_compared_without_a_model(saved, tmp_path):
    encheck.same(using(prompt="query: "), save=tmp_path / "b.json")
    assert encheck.same(saved, tmp_path / "b.json").causes == ("prompt",)


def test_a_model_that_depends_on_its_batch_is_named_and_a_random_one_is_not_told(tmp_path):
    def padded(some):
        return embed(some) + 0.1 * random_direction(str(max(map(len, some))), 48)

    found = encheck.same(using(), padded)
    assert (found.outcome, found.causes) == ("another", ("padding",)), found.reasons
    assert "the vectors of B depend on the other texts in their batch" in found.reasons[0]
    calls = iter(range(10_000))
    found = encheck.same(using(), lambda some: embed(some, seed=str(next(calls))))
    assert (found.outcome, found.exit_code) == ("cannot tell", 10)
    with pytest.raises(EncheckError, match="several models answer"):
        encheck.same(lambda some: embed(some, seed=str(next(calls))), save=tmp_path / "c.json")
    assert not (tmp_path / "c.json").exists()


def test_empty_texts_may_be_refused(saved, tmp_path):
    def strict(some):
        if not all(text.strip() for text in some):
            raise ValueError("input cannot be empty")
        return embed(some)

    encheck.same(strict, save=tmp_path / "c.json")
    assert len(read_side(tmp_path / "c.json").texts) == 196
    assert encheck.same(saved, strict).exit_code == 0


@pytest.mark.parametrize(
    ("function", "says"),
    [
        (lambda some: embed(some) * np.nan, "NaN"),
        (lambda some: embed(some)[0], "shape"),
        (lambda some: embed(some)[:, : 40 + (len(some) > 8)], "several models answer"),
        (lambda _: [1, [2]], "array of numbers"),
    ],
)
def test_a_model_that_gives_no_vectors_is_one_clear_message(saved, function, says):
    with pytest.raises(EncoderError, match=says):
        encheck.same(saved, function)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda d: d | {"encheck_same": 2}, "newer encheck"),
        (lambda d: d | {"texts": d["texts"] | {"hash": "0"}}, "texts are other"),
        (lambda d: {k: v for k, v in d.items() if k != "model"}, "lacks 'model'"),
        (lambda d: d | {"model": d["model"] | {"role": "passage"}}, "model.role is 'passage', but should be 'query'"),
        (lambda d: d | {"vectors": d["vectors"] | {"dimension": "many"}}, "vectors.dimension is 'many', but should be"),
        (lambda d: d | {"vectors": d["vectors"] | {"dimension": 2**64}}, "less than"),
        (lambda d: d | {"vectors": d["vectors"] | {"roles": {"": {"texts": [-1]}}}}, r"roles..texts\[0\] is -1"),
        (lambda d: d | {"vectors": d["vectors"] | {"roles": {"passage": {}}}}, "the key 'passage' of vectors.roles"),
        (lambda d: d | {"vectors": d["vectors"] | {"dimension": 7}}, "should have"),
        (lambda d: d | {"vectors": d["vectors"] | {"texts": d["vectors"]["texts"][:-1]}}, "is damaged"),
        (lambda d: d | {"vectors": d["vectors"] | {"roles": {}}}, "lacks vectors"),
        (lambda d: d | {"vectors": d["vectors"] | {"roles": {"": {"as": "query"}}}}, "is damaged"),
        (lambda _: [], "is not a file of `encheck same`"),
    ],
)
def test_a_file_that_is_damaged_or_newer_is_one_clear_message(saved, tmp_path, change, says):
    path = tmp_path / "c.json"
    path.write_text(json.dumps(change(json.loads(saved.read_text()))))
    with pytest.raises(UsageError, match=says) as refused:
        read_side(path)
    assert "c.json" in str(refused.value)


def test_the_saved_file_is_small_and_as_its_schema_says(saved):
    jsonschema.validate(json.loads(saved.read_text()), json.loads((REFERENCE / "same-saved.schema.json").read_text()))
    assert saved.stat().st_size < 60_000
    with pytest.raises(UsageError, match="does not exist"):
        encheck.same(saved.with_name("none.json"), using())


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        (("oracle",), "name a second model"),
        (("oracle", "jaccard"), "scores pairs"),
        (("oracle", "oracle", {"role": "passage"}), "query or document"),
        (("oracle", "oracle", {"save": "c.txt"}), "should end with .json"),
        (("c.json", "oracle", {"save": "d.json"}), "saved file already"),
        (("oracle", "oracle", {"model_args": ["sbert:prompt=x"]}), "called A and B"),
    ],
)
def test_wrong_use_is_refused(asked, says):
    *models, how = asked if isinstance(asked[-1], dict) else (*asked, {})
    with pytest.raises(UsageError, match=says):
        encheck.same(*models, **how)
    with pytest.raises(TypeError, match="is not a model"):
        encheck.same(3, "oracle")


def test_roles_are_compared_and_a_change_to_queries_alone_is_another_model(tmp_path):
    class InRoles:
        def __init__(self, query=""):
            self.query = query

        def encode(self, some):
            return embed(some)

        def encode_query(self, some):
            return embed(some, prompt=self.query)

    found = encheck.same(InRoles("query: "), InRoles())
    assert (found.outcome, found.causes) == ("another", ("prompt",)), found.reasons
    assert found.reindex.endswith("stored vectors of queries are no longer valid)")
    assert encheck.same(InRoles("query: "), InRoles(), role="document").outcome == "same"
    assert encheck.same(InRoles("query: "), InRoles(), role="query").outcome == "another"
    path = tmp_path / "q.json"
    encheck.same(InRoles("query: "), save=path, role="query")
    assert encheck.same(path, using(prompt="query: ")).outcome == "same"
    encheck.same(InRoles("query: "), save=tmp_path / "d.json", role="document")
    for asked in ((path, InRoles(), "document"), (path, tmp_path / "d.json", None)):
        with pytest.raises(UsageError, match="the roles differ"):
            encheck.same(*asked[:2], role=asked[2])


def test_rerankers_are_compared_by_200_pairs(tmp_path):
    class Scorer:
        def __init__(self, after=lambda scores: scores, limit=None):
            self.after, self.limit = after, limit

        def fingerprint(self):
            return ""

        def score_pairs(self, first, second):
            rows = (
                vector(a, limit=self.limit) @ vector(b, limit=self.limit) for a, b in zip(first, second, strict=True)
            )
            return self.after(4 * np.array([*rows]))

    found = encheck.same(Scorer(), Scorer(lambda scores: scores + 1e-3))
    assert (found.outcome, len(found.texts), found.reindex) == ("same for use", 200, None)
    assert read_typed(type(found), as_values(found)) == found
    assert encheck.same(Scorer(), Scorer(lambda scores: 1 / (1 + np.exp(-scores)))).causes == ("normalisation",)
    assert encheck.same(Scorer(), Scorer(limit=3)).causes == ()
    encheck.same("jaccard", save=tmp_path / "c.json")
    assert encheck.same("jaccard", tmp_path / "c.json").outcome == "same"
    assert encheck.same(tmp_path / "c.json", "edit-distance").outcome == "another"


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory):
    """A sentence-transformers model in memory with three layers, which reads 40 tokens."""
    import torch
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(tiny.build(tmp_path_factory.mktemp("tiny"))), device="cpu")
    stack = model[0].auto_model.encoder.layer
    for seed in (1, 2):
        torch.manual_seed(seed)
        stack.append(copy.deepcopy(stack[0]))
        for weight in stack[-1].parameters():
            weight.data += 0.3 * torch.randn(weight.shape)
    model[0].auto_model.config.num_hidden_layers = 3
    model.max_seq_length = 40
    return model.eval()


def without_layer(model):
    del model[0].auto_model.encoder.layer[1]


def pooled(model):
    model[1] = type(model[1])(16, "cls")


def eight_bits(model):
    for weight in model.parameters():
        if weight.dim() > 1:
            scale = (weight.data.abs().amax(dim=1, keepdim=True) / 127).clamp(min=1e-9)
            weight.data = (weight.data / scale).round() * scale


def quantised(model):
    import torch
    from torch.ao import quantization

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch moves this to another package
        inner = quantization.quantize_dynamic(model[0].model, {torch.nn.Linear}, dtype=torch.qint8)
    model[0].model = inner


def noised(model):
    import torch

    torch.manual_seed(3)
    for weight in model.parameters():
        weight.data += 0.05 * torch.randn(weight.shape)


def prompted(model):
    model.prompts, model.default_prompt_name = {"own": "a red dog: "}, "own"


def cased(model):
    from tokenizers.normalizers import BertNormalizer

    model.tokenizer.backend_tokenizer.normalizer = BertNormalizer(lowercase=False)


IN_MEMORY = {
    "copy": ((lambda _: None,), ("same",), ()),
    "bfloat16": ((lambda m: m.bfloat16(),), ("same for use", "another"), ("precision",)),
    "float16": ((lambda m: m.half(),), ("same for use",), ()),
    "eight bits": ((eight_bits,), ("same for use", "another"), ("precision",)),
    "quantised by torch": ((quantised,), ("another",), ("padding",)),
    "prompt": ((prompted,), ("another",), ("prompt",)),
    "maximum length": ((lambda m: setattr(m, "max_seq_length", 16),), ("another",), ("truncation",)),
    "pooling": ((pooled,), ("another",), ("pooling",)),
    "not normalised": ((lambda m: m.pop(2),), ("another",), ("normalisation",)),
    "layer": ((without_layer,), ("another",), ("missing layer",)),
    "tokenizer": ((cased,), ("another",), ("tokenizer",)),
    "noise": ((noised,), ("another",), ()),
    "prompt, pooling": ((prompted, pooled), ("another",), ("prompt", "pooling")),
    "prompt, length": ((prompted, lambda m: setattr(m, "max_seq_length", 16)), ("another",), ("prompt", "truncation")),
    "layer, pooling": ((without_layer, pooled), ("another",), ("missing layer", "pooling")),
}


def sample_of(model, store):
    """What a gate compares this model by, as a baseline keeps it."""
    name = "object:tiny"
    (subject,) = resolve_models(Settings(models=(name,)), store, {name: wrap_model_object(model, "tiny")}).values()
    EncoderService(subject, store).encode_comparison_texts([], [], no_locks, Progress(quiet=True))
    return VectorSample.unpack(subject.state.sample.pack())


AT_EACH_COMMIT = ("bfloat16", "quantised by torch", "not normalised", "prompt, length")


@pytest.mark.parametrize(
    "name", [name if name in AT_EACH_COMMIT else pytest.param(name, marks=pytest.mark.long) for name in IN_MEMORY]
)
def test_same_and_a_re_index_agree_and_the_causes_in_a_checkpoint_are_named(checkpoint, tmp_path, name):
    """Both causes are found where there are two; nothing in the model that was changed to find them stays so."""
    changes, outcomes, causes = IN_MEMORY[name]
    other = copy.deepcopy(checkpoint)
    for change in changes:
        change(other)
    before = checkpoint.encode(["a dog sleeps"])
    found = encheck.same(checkpoint, other)
    assert found.outcome in outcomes, found.reasons
    assert {*found.causes} == ({*causes} if found.outcome == "another" else set()), found.reasons
    assert (checkpoint.encode(["a dog sleeps"]) == before).all()
    store = Store(tmp_path / "store.sqlite")
    gated = reindex.compare_samples(sample_of(checkpoint, store), sample_of(other, store))
    stays = gated.needed is not True and not gated.only_by_cosine and not gated.longer_moved
    assert stays == (found.exit_code == 0), (gated.says, found.reasons)
    assert gated.outcome_in_use.startswith("same") == (found.exit_code == 0)


@pytest.mark.long
def test_a_cross_encoder_in_another_precision_or_cut_earlier(tmp_path):
    from transformers import BertConfig, BertForSequenceClassification

    words = tiny.tokenizer()
    sizes = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}
    sizes["max_position_embeddings"] = 48
    config = BertConfig(vocab_size=len(words), num_labels=1, initializer_range=0.5, **sizes)
    BertForSequenceClassification(config).save_pretrained(tmp_path)
    words.save_pretrained(tmp_path)
    asked = partial(encheck.same, tmp_path, tmp_path)
    adapter = "adapter=cross-encoder"
    assert asked(model_args=[adapter, "B:dtype=float16"]).exit_code == 0
    assert asked(model_args=[adapter, "B:max_length=8"]).causes == ("truncation",)


@pytest.fixture
def command(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return lambda *args: CliRunner().invoke(app, ["same", *args])


def test_the_command_ends_with_what_it_found(command):
    assert "c.json: bag-of-words" in command("bag-of-words", "--save", "c.json").output
    done = command("c.json", "bag-of-words", "--json", "found.json", "--page", "found.html")
    assert (done.exit_code, done.output.startswith("same: A and B are the same model")) == (0, True)
    found = json.loads(Path("found.json").read_text())
    jsonschema.validate(found, json.loads((REFERENCE / "same.schema.json").read_text()))
    assert (found["outcome"], found["moved"], len(found["texts"])) == ("same", 0, 200)
    assert "Nothing moved" in Path("found.html").read_text()
    done = command("c.json", "random", "--json", "found.json", "--page", "found.html")
    found = json.loads(Path("found.json").read_text())
    jsonschema.validate(found, json.loads((REFERENCE / "same.schema.json").read_text()))
    assert (done.exit_code, found["exit_code"], "re-index: yes" in done.output) == (1, 1, True)
    worst = min(found["texts"], key=lambda one: one["figure"])["text"]
    assert html.escape(worst[:40]) in Path("found.html").read_text()
    assert any(line.split()[:4] == ["long", "texts", "20", "20"] for line in done.output.splitlines()), done.output
    Path("folder.html").mkdir()
    done = command("c.json", "random", "--page", "folder.html")
    assert (done.exit_code, done.output.startswith("another: ")) == (4, True)
    assert command("c.json", "nan").exit_code == 4
    assert command("none.json", "bag-of-words").exit_code == 4
    assert command("bag-of-words").exit_code == 4


def test_a_server_that_is_down_or_was_changed(command):
    def of_first(some):
        return embed(some)

    how = ("--model-arg", "model=m", "--model-arg", "adapter=openai", "--model-arg", "retries=0")
    with serving(of_first, largest=300, longest=10_000) as (address, state):
        named = (*how, "--model-arg", f"name={address}")
        assert command("openai", "--save", "c.json", *named).exit_code == 0
        assert command("c.json", "openai", *named).exit_code == 0
        state.encode = partial(embed, prompt="query: ")
        done = command("c.json", "openai", *named)
        assert (done.exit_code, "'query: '" in done.output) == (1, True)
    done = command("c.json", "openai", *named)
    assert (done.exit_code, len(done.output.strip().splitlines())) == (4, 1)


def test_a_file_of_vectors_is_compared_on_its_own_texts(command):
    rows = [f"{one} number {i}" for i, one in enumerate(("a dog", "a cat", "a bird", "nobody") * 5)]
    table = pyarrow.table(
        {"text": rows, "vector": [row.tolist() for row in encheck.load_model("bag-of-words").encode(rows)]}
    )
    Path("few.json").write_text(json.dumps(table.to_pylist()[:7]))
    done = command("vectors:few.json", "bag-of-words")
    assert (done.exit_code, "both encoded 7 of the 8 texts that are needed" in done.output) == (10, True), done.output
    pyarrow.parquet.write_table(table, "mine.parquet")
    done = command("vectors:mine.parquet", "bag-of-words")
    assert (done.exit_code, "over 20 texts" in done.output) == (0, True), done.output
    assert command("vectors:mine.parquet", "random").exit_code == 1
    assert command("vectors:none.parquet", "random").exit_code == 4
    assert "lacks encheck" in command("vectors:mine.parquet", "--save", "c.json").output
