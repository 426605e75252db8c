"""transformers checkpoints: each pooling against one written out by hand, SimCSE's head, PEFT, and what is refused."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import tiny
import tiny_models

from encheck.encoders.batching import (
    is_out_of_memory,
    limit_torch_threads,
    pick_devices,
    run_on_replicas,
    run_or_halve_batch,
    thread_count,
    usable_cores,
)
from encheck.encoders.load import load_model
from encheck.encoders.model_config import Device, ModelConfig
from encheck.encoders.objects import wrap_model_object
from encheck.encoders.protocol import checked_batches
from encheck.encoders.settings import EncodingSettings
from encheck.errors import EncoderError, ModelError
from encheck.items.variants import VariantMaker
from encheck.running.model_under_test import ModelUnderTest
from encheck.running.scoring_session import ScoringSession
from encheck.running.service import EncoderService
from encheck.store import Store, text_key
from encheck.system.terminal import Progress

pytestmark = pytest.mark.xdist_group("encoders")
TEXTS = ["the dog sings", "a cat sleeps on the red dog", "dog", "", "what is under a cat? a blue dog."]


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    """A BERT of three layers, with its pooler."""
    folder = tmp_path_factory.mktemp("bert")
    import torch
    from transformers import BertConfig, BertModel

    torch.manual_seed(5)
    words = tiny.tokenizer()
    sizes = {"hidden_size": 16, "num_hidden_layers": 3, "num_attention_heads": 2, "intermediate_size": 32}
    BertModel(
        BertConfig(vocab_size=len(words), max_position_embeddings=32, initializer_range=0.5, **sizes)
    ).save_pretrained(folder)
    words.save_pretrained(folder)
    return folder


@pytest.fixture
def copied(plain, tmp_path):
    return shutil.copytree(plain, tmp_path / "copied")


def opened(folder, *, device="cpu", adapter="transformers", **fields):
    return load_model(ModelConfig("tiny", name=str(folder), adapter=adapter, **fields), device=Device(device))


def states(folder, text):
    """Hidden states of every layer and the pooler's output for one text alone: [layers + 1, tokens, 16], [16]."""
    import torch
    from transformers import AutoModel, AutoTokenizer

    model, words = AutoModel.from_pretrained(folder).eval(), AutoTokenizer.from_pretrained(folder)
    with torch.inference_mode():
        made = model(**words([text], return_tensors="pt"), output_hidden_states=True)
    return np.array([h[0].numpy() for h in made.hidden_states]), made.pooler_output[0].numpy()


BY_HAND = {
    "cls": ({"pooling": "cls"}, lambda h, _: h[-1][0]),
    "mean": ({}, lambda h, _: h[-1].mean(axis=0)),
    "max": ({"pooling": "max"}, lambda h, _: h[-1].max(axis=0)),
    "last": ({"pooling": "last"}, lambda h, _: h[-1][-1]),
    "first-last-avg": ({"pooling": "first-last-avg"}, lambda h, _: ((h[1] + h[3]) / 2).mean(axis=0)),
    "embeddings and the second": (
        {"pooling": "layers", "options": {"layers": [0, 2]}},
        lambda h, _: ((h[0] + h[2]) / 2).mean(axis=0),
    ),
    "the last but one": ({"pooling": "layers", "options": {"layers": [-2]}}, lambda h, _: h[2].mean(axis=0)),
    "SimCSE without the head": ({"pooling": "cls"}, lambda h, _: h[-1][0]),
    "SimCSE with the head": ({"pooling": "cls", "options": {"head": "mlp"}}, lambda _, p: p),
    "cut to seven": ({"truncate_dim": 7}, lambda h, _: h[-1].mean(axis=0)[:7]),
}


@pytest.mark.parametrize(("fields", "by_hand"), BY_HAND.values(), ids=BY_HAND.keys())
def test_a_batch_is_pooled_as_each_text_alone_is_by_hand(plain, fields, by_hand):
    expected = np.array([by_hand(*states(plain, text)) for text in TEXTS])
    assert np.abs(opened(plain, **fields).encode(TEXTS) - expected).max() < 1e-5


def test_the_head_is_a_dense_layer_and_a_tanh_on_the_first_token(plain):
    from safetensors.numpy import load_file

    weights = load_file(plain / "model.safetensors")
    first = opened(plain, pooling="cls").encode(TEXTS)
    expected = np.tanh(first @ weights["pooler.dense.weight"].T + weights["pooler.dense.bias"])
    assert np.abs(opened(plain, pooling="cls", options={"head": "mlp"}).encode(TEXTS) - expected).max() < 1e-5


def test_padding_on_the_left_gives_the_same_vectors(copied, plain):
    tiny_models.change_json(copied / "tokenizer_config.json", padding_side="left")
    for pooling in ("cls", "mean", "max", "last"):
        left, right = opened(copied, pooling=pooling), opened(plain, pooling=pooling)
        assert left.tokenizer.padding_side == "left"
        if pooling in ("cls", "mean", "max", "last"):  # absolute positions count the padding, so one text at a time
            alone = np.concatenate([left.encode([text]) for text in TEXTS])
            assert np.abs(alone - right.encode(TEXTS)).max() < 1e-5


def test_last_and_first_token_are_found_on_either_side_of_the_padding():
    import torch

    from encheck.encoders.checkpoints.transformers import pool_hidden_states

    made = torch.arange(8, dtype=torch.float32).reshape(2, 4, 1)
    mask = torch.tensor([[0, 1, 1, 1], [1, 1, 0, 0]])
    assert pool_hidden_states([made], mask, pooling="cls").flatten().tolist() == [1, 4]
    assert pool_hidden_states([made], mask, pooling="last").flatten().tolist() == [3, 5]


def test_every_setting_that_changes_vectors_changes_the_fingerprint(plain):
    every = [fields for fields, _ in BY_HAND.values()]
    found = {
        opened(plain, **f).fingerprint() for f in [*every, {"max_length": 9}, {"prompt": "a "}, {"dtype": "float16"}]
    }
    assert len(found) == len(every) + 3 - 1  # "cls" stands twice


def test_a_prompt_by_role_stands_before_the_text(plain):
    ours = opened(plain, prompt="the ", prompts={"query": "red ", "document": "blue "})
    bare = opened(plain)
    for role, prompt in {
        None: "the ",
        "query": "red ",
        "document": "blue ",
        "passage": "blue ",
        "other": "the ",
    }.items():
        expected = bare.encode([prompt + text for text in TEXTS])
        assert np.abs(ours.encode(TEXTS, role=role) - expected).max() < 1e-5
    assert ours.about() == {"prompt": "the ", "prompts": {"query": "red ", "document": "blue "}, "pooling": "mean"}


def test_a_run_keeps_what_a_text_gets_without_a_role(plain, tmp_path):
    ours = opened(plain, prompt="the ", prompts={"query": "red "})
    store = Store(tmp_path / "store.sqlite")
    subject = ModelUnderTest("tiny", ModelConfig("tiny"), ours)
    bench = ScoringSession({"tiny": subject}, {}, store, maker=VariantMaker())
    ours.encode(TEXTS[:2], role="query")  # before the run, as a caller of its own
    bench.encode({"tiny": [tuple(TEXTS[:2])]}, progress=Progress(quiet=True))
    kept, there = store.get("vector", subject.store_fingerprint, [text_key(text) for text in TEXTS[:2]])
    store.close()
    assert there.all()
    assert (kept == ours.encode(TEXTS[:2])).all()
    assert np.abs(kept - ours.encode(TEXTS[:2], role="query")).max() > 1e-3


def test_sentence_transformers_finds_its_prompts_by_role_too(tmp_path):
    folder = tiny.build(tmp_path, prompts={"query": "red ", "document": "blue "})
    ours = opened(folder, adapter="sentence-transformers")
    bare = opened(folder, adapter="sentence-transformers", prompt="")
    assert np.abs(ours.encode(TEXTS, role="query") - bare.encode([f"red {t}" for t in TEXTS])).max() < 1e-5
    assert np.abs(ours.encode(TEXTS, role="passage") - bare.encode([f"blue {t}" for t in TEXTS])).max() < 1e-5
    assert np.abs(ours.encode(TEXTS) - bare.encode(TEXTS)).max() < 1e-5


@pytest.mark.parametrize(
    ("prompts", "document"),
    [
        ({"topic": "red "}, ""),
        ({"query": "", "document": "", "topic": "red "}, ""),
        ({"document": "", "passage": "blue ", "topic": "red "}, "blue "),
    ],
)
def test_a_role_without_a_prompt_has_none_where_the_checkpoint_has_a_default(tmp_path, prompts, document):
    folder = tiny.build(tmp_path, prompts={"topic": "red "}, default_prompt_name="topic")
    tiny_models.change_json(folder / "config_sentence_transformers.json", prompts=prompts)
    ours = opened(folder, adapter="sentence-transformers")
    theirs = ours.model.encode_query(TEXTS)
    assert np.abs(ours.encode(TEXTS, role="query") - theirs).max() < 1e-5
    assert np.abs(ours.encode(TEXTS) - theirs).max() > 1e-3
    assert {one.prompt_for("document") for one in (ours, wrap_model_object(ours.model, "tiny"))} == {document}
    asked = opened(ours.source, adapter="sentence-transformers", prompt="blue ")
    assert np.abs(asked.encode(TEXTS, role="query") - asked.encode(TEXTS)).max() == 0


@pytest.mark.parametrize("routes", [("query", "document"), ("other", "passage")])
def test_a_router_has_a_route_for_queries_and_one_for_documents(tmp_path, routes):
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling, Router, Transformer

    query, document = (
        [Transformer(str(tiny.build_plain(tmp_path / str(seed), seed=seed))), Pooling(16, "mean")] for seed in (0, 1)
    )
    theirs = SentenceTransformer(modules=[Router({routes[0]: query, routes[1]: document})], device="cpu")
    theirs.save(str(tmp_path / "routed"), create_model_card=False)
    expected = {
        role: theirs.encode(TEXTS, task=route) for role, route in zip(("query", "document"), routes, strict=True)
    }
    assert np.abs(expected["query"] - expected["document"]).max() > 0.1
    for ours in (opened(tmp_path / "routed", adapter="sentence-transformers"), wrap_model_object(theirs, "tiny")):
        store = Store(tmp_path / "store.sqlite")
        service = EncoderService(ModelUnderTest("tiny", ModelConfig("tiny"), ours), store)
        for role, vectors in expected.items():
            assert np.abs(service.encode(TEXTS, role=role) - vectors).max() < 1e-5
            assert (ours.prompt_for(role), EncodingSettings.of(ours).has_prompt(role)) == ("", True)
        store.close()


def test_a_model_in_memory_is_identified_by_its_active_adapters_and_not_where_its_code_is_its_own(plain):
    from peft import LoraConfig
    from transformers import AutoTokenizer, BertModel

    class Own(BertModel):
        """May compute anything."""

    def identity(model):
        return wrap_model_object((model, AutoTokenizer.from_pretrained(plain)), "tiny").fingerprint()

    adapted = BertModel.from_pretrained(plain)
    adapted.add_adapter(LoraConfig(target_modules=["query"]))
    found = identity(adapted)
    assert identity(adapted) == found
    adapted.disable_adapters()
    assert identity(adapted) != found
    assert found.startswith("transformers:")
    assert identity(BertModel.from_pretrained(plain)) == identity(BertModel.from_pretrained(plain))
    assert identity(Own.from_pretrained(plain)).startswith("object:")  # the store forgets it


def test_a_dimension_can_be_asked_of_sentence_transformers(tmp_path):
    folder = tiny.build(tmp_path)
    whole, cut = (
        opened(folder, adapter="sentence-transformers"),
        opened(folder, adapter="sentence-transformers", truncate_dim=5),
    )
    assert (cut.encode(TEXTS) == whole.encode(TEXTS)[:, :5]).all()
    assert cut.fingerprint() != whole.fingerprint()
    assert cut.about()["truncate_dim"] == 5


@pytest.mark.parametrize("adapter", ["transformers", "sentence-transformers"])
def test_more_dimensions_than_there_are_cannot_be_asked_for(plain, adapter):
    assert opened(plain, adapter=adapter, truncate_dim=16).encode(TEXTS).shape == (len(TEXTS), 16)
    with pytest.raises(EncoderError, match=r"truncate_dim is 17, but .* gives vectors of 16 dimensions"):
        opened(plain, adapter=adapter, truncate_dim=17).encode(TEXTS)


@pytest.mark.parametrize("adapter", ["transformers", "sentence-transformers"])
def test_two_devices_give_what_one_gives(plain, adapter):
    texts = [f"the {' '.join(tiny.WORDS[: i % 9])} {i}" for i in range(600)]
    two, one = opened(plain, adapter=adapter, device="cpu,cpu"), opened(plain, adapter=adapter)
    assert (two.encode(texts) == one.encode(texts)).all()
    assert len(two.models) == 2
    assert two.fingerprint() == one.fingerprint()


def test_a_roberta_has_two_positions_less_than_its_configuration_says(tmp_path):
    made = tiny_models.roberta(tmp_path)
    model = load_model(made, device=Device("cpu"))
    assert model.limit == 18
    assert np.isfinite(model.encode(["the " * 40])).all()
    with pytest.raises(
        ModelError, match=r"max_length is 19, but .*roberta/config.json has positions for 18 tokens. Remedy: "
    ):
        opened(made.name, max_length=19)


@pytest.mark.parametrize("adapter", ["transformers", "sentence-transformers"])
def test_more_tokens_than_positions_are_refused_before_loading(plain, adapter):
    assert opened(plain, max_length=32, adapter=adapter)
    with pytest.raises(ModelError, match=r"max_length is 33, but .*/config.json has positions for 32 tokens"):
        opened(plain, max_length=33, adapter=adapter)


# PEFT


def test_a_lora_gives_what_its_base_gives_with_the_product_added_to_the_weights(tmp_path):
    from safetensors.numpy import load_file, save_file

    made = tiny_models.peft(tmp_path)
    told = json.loads((Path(made.name) / "adapter_config.json").read_text())
    base = shutil.copytree(tmp_path / "base", tmp_path / "merged")
    weights, lora = load_file(base / "model.safetensors"), load_file(Path(made.name) / "adapter_model.safetensors")
    for name in [n for n in lora if n.endswith("lora_A.weight")]:
        stem = name.removesuffix(".lora_A.weight")
        product = lora[f"{stem}.lora_B.weight"] @ lora[name] * (told["lora_alpha"] / told["r"])
        weights[f"{stem.removeprefix('base_model.model.')}.weight"] += product
    save_file(weights, base / "model.safetensors", metadata={"format": "pt"})
    ours = load_model(made, device=Device("cpu")).encode(TEXTS)
    assert np.abs(ours - opened(base).encode(TEXTS)).max() < 1e-5
    assert np.abs(ours - opened(tmp_path / "base").encode(TEXTS)).max() > 0.01


def test_another_base_gives_another_fingerprint(tmp_path):
    made = tiny_models.peft(tmp_path)
    before = load_model(made, device=Device("cpu")).fingerprint()
    tiny.build_plain(tmp_path / "other", seed=1)
    other = opened(made.name, adapter="peft", options={"base": str(tmp_path / "other")})
    assert other.fingerprint() != before
    assert other.about()["base"] == "other"


def test_an_adapter_without_its_base_says_how_to_name_one(tmp_path):
    made = tiny_models.peft(tmp_path)
    shutil.rmtree(tmp_path / "base")
    with pytest.raises(ModelError, match=r"the base of .*adapter: .*Or give its path: --model-arg base=PATH"):
        load_model(made, device=Device("cpu"))


@pytest.fixture
def with_adapter(tmp_path):
    """A sentence-transformers checkpoint that is an adapter on another; both folders."""
    from peft import LoraConfig
    from sentence_transformers import SentenceTransformer

    base = tiny.build(tmp_path)
    model = SentenceTransformer(str(base), device="cpu")
    model.add_adapter(LoraConfig(r=2, target_modules=["query", "value"], task_type="FEATURE_EXTRACTION"))
    model.save(str(tmp_path / "tuned"), create_model_card=False)
    return base, tmp_path / "tuned"


def test_the_base_of_a_sentence_transformers_adapter_counts(with_adapter):
    base, tuned = with_adapter
    model = opened(tuned, adapter="sentence-transformers")
    before = model.fingerprint()
    assert model.encode(TEXTS).shape == (len(TEXTS), 16)
    assert model.about()["base"] == base.name
    other = tiny.build_plain(base.parent / "other", seed=1)
    shutil.copy(other / "model.safetensors", base / "model.safetensors")
    assert opened(tuned, adapter="sentence-transformers").fingerprint() != before


def test_the_base_of_a_sentence_transformers_adapter_is_looked_at(with_adapter, tmp_path):
    base, tuned = with_adapter
    save_pickle(base, Payload(tmp_path / "made"))
    with pytest.raises(ModelError, match=r"pytorch_model.bin is a pickle that would call posix.mkdir"):
        opened(tuned, adapter="sentence-transformers")
    shutil.rmtree(base)
    with pytest.raises(ModelError, match=r"the base of .*tuned: .*adapter_config.json: base_model_name_or_path"):
        opened(tuned, adapter="sentence-transformers")


PEFT_BROKEN = {
    "no weights": (
        lambda f: (f / "adapter_model.safetensors").unlink(),
        ModelError,
        "has no weights: a PEFT adapter holds",
    ),
    "weights cut off": (
        lambda f: tiny_models.cut(f / "adapter_model.safetensors"),
        ModelError,
        r"adapter_model\.safetensors cannot be read",
    ),
    "no configuration": (
        lambda f: (f / "adapter_config.json").unlink(),
        ModelError,
        "is not a PEFT adapter: it has no adapter_config",
    ),
    "no base": (
        lambda f: tiny_models.change_json(f / "adapter_config.json", base_model_name_or_path=None),
        ModelError,
        r"names no base model\. Give one: --model-arg base=PATH",
    ),
    "another rank": (
        lambda f: tiny_models.change_json(f / "adapter_config.json", r=3),
        EncoderError,
        "does not fit its base",
    ),
}


@pytest.mark.parametrize(("harm", "kind", "expected"), PEFT_BROKEN.values(), ids=PEFT_BROKEN.keys())
def test_an_adapter_that_is_broken_is_refused_with_its_name(tmp_path, harm, kind, expected):
    made = tiny_models.peft(tmp_path)
    harm(Path(made.name))
    with pytest.raises(kind, match=expected) as caught:
        load_model(made, device=Device("cpu")).encode(["a dog"])
    assert made.name in str(caught.value)


# what is refused


def without(folder, *names):
    """The weights less those whose names begin so."""
    from safetensors.numpy import load_file, save_file

    path = folder / "model.safetensors"
    kept = {n: w for n, w in load_file(path).items() if not n.startswith(names)}
    save_file(kept, path, metadata={"format": "pt"})


BROKEN = {
    "nothing at all": (shutil.rmtree, "does not exist"),
    "a folder of something else": (
        lambda f: (f / "config.json").unlink(),
        "is not a checkpoint: it has neither config.json",
    ),
    "no weights": (lambda f: (f / "model.safetensors").unlink(), "has no weights"),
    "weights cut off": (lambda f: tiny_models.cut(f / "model.safetensors"), "model.safetensors cannot be read"),
    "a larger vocabulary": (
        lambda f: tiny_models.change_json(f / "config.json", vocab_size=40),
        r"tokenizer.json has token \d+, but config.json says vocab_size 40: the vocabulary does not match",
    ),
    "no tokenizer": (lambda f: (f / "tokenizer.json").unlink(), "has no tokenizer: a checkpoint holds tokenizer.json"),
    "a configuration cut off": (lambda f: tiny_models.cut(f / "config.json"), "config.json is not JSON"),
}


@pytest.mark.parametrize(("harm", "expected"), BROKEN.values(), ids=BROKEN.keys())
def test_a_folder_that_is_broken_is_refused_before_it_is_loaded(copied, harm, expected):
    harm(copied)
    with pytest.raises(ModelError, match=expected) as caught:
        opened(copied)
    assert str(copied) in str(caught.value)


LOADING = {
    "a layer is missing": (
        lambda f: without(f, "encoder.layer.1."),
        {},
        "lacks 16 of the model's weights, first encoder",
    ),
    "the head is missing": (
        lambda f: without(f, "pooler"),
        {"options": {"head": "mlp"}},
        "lacks 2 of the model's weights, first pooler.dense.bias: .* at random.*or leave `head: mlp` out",
    ),
}


@pytest.mark.parametrize(("harm", "fields", "expected"), LOADING.values(), ids=LOADING.keys())
def test_what_shows_only_on_loading_is_an_encoder_error_that_names_the_folder(copied, harm, fields, expected):
    harm(copied)
    with pytest.raises(EncoderError, match=expected) as caught:
        opened(copied, **fields).encode(["a dog"])
    assert str(copied) in str(caught.value)


def test_a_weight_that_sentence_transformers_would_draw_at_random_is_an_error(copied):
    without(copied, "encoder.layer.1.intermediate", "pooler")
    with pytest.raises(
        EncoderError, match=rf"{copied} lacks 2 of the model.s weights, first encoder.layer.1.intermediate"
    ):
        opened(copied, adapter="sentence-transformers").encode(["a dog"])
    without(copied, "encoder.layer")
    with pytest.raises(EncoderError, match=r"lacks 48 of the model.s weights, first encoder.layer"):
        opened(copied, adapter="sentence-transformers").encode(["a dog"])


def test_a_missing_pooler_does_no_harm_where_it_is_not_used(copied, plain):
    without(copied, "pooler")
    assert np.abs(opened(copied).encode(TEXTS) - opened(plain).encode(TEXTS)).max() < 1e-6


@pytest.mark.parametrize("adapter", ["transformers", "sentence-transformers"])
def test_a_model_whose_weights_are_no_numbers_is_named_with_the_remedy(copied, adapter):
    from safetensors.numpy import load_file, save_file

    path = copied / "model.safetensors"
    weights = load_file(path)
    weights["encoder.layer.0.output.dense.weight"][0, 0] = np.nan
    save_file(weights, path, metadata={"format": "pt"})
    with pytest.raises(
        EncoderError,
        match=f"{copied} gives vectors with NaN or infinity, first for .*before its training diverged",
    ):
        opened(copied, adapter=adapter).encode(["a dog"])


@pytest.mark.parametrize("adapter", ["transformers", "sentence-transformers"])
def test_a_model_whose_vectors_are_zeros_is_named_with_the_remedy(copied, adapter):
    from safetensors.numpy import load_file, save_file

    weights = {name: np.zeros_like(w) for name, w in load_file(copied / "model.safetensors").items()}
    save_file(weights, copied / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(
        EncoderError, match=r"copied: the vector of 2 of 2 texts is all zeros.*Remedy: use a complete check"
    ):
        list(checked_batches(opened(copied, adapter=adapter), ["a dog", "a cat"]))


def test_a_narrow_dtype_is_named_as_a_possible_reason(copied):
    from safetensors.numpy import load_file, save_file

    path = copied / "model.safetensors"
    weights = load_file(path)
    weights["encoder.layer.0.output.dense.weight"][0, 0] = np.nan
    save_file(weights, path, metadata={"format": "pt"})
    with pytest.raises(EncoderError, match="float16 may be too narrow: try --dtype=float32"):
        opened(copied, dtype="float16").encode(["a dog"])


SETTINGS = {
    "a layer that there is not": (
        {"pooling": "layers", "options": {"layers": [4]}},
        "layers holds 4, but .* has layers -3 to 3",
    ),
    "layers without their pooling": ({"options": {"layers": [1]}}, "layers has no effect with pooling 'mean'"),
    "a head on the mean": (
        {"pooling": "mean", "options": {"head": "mlp"}},
        "reads the first token: set pooling: cls",
    ),
}


@pytest.mark.parametrize(("fields", "expected"), SETTINGS.values(), ids=SETTINGS.keys())
def test_settings_that_do_not_go_together_are_refused(plain, fields, expected):
    with pytest.raises(ModelError, match=expected):
        opened(plain, **fields)


# memory, devices, threads


def test_out_of_memory_halves_the_batch_and_goes_on(caplog):
    import torch

    def run(positions):
        if len(positions) > 3:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB")
        return positions[:, None].astype(np.float32)

    found = list(run_or_halve_batch(run, np.arange(10)))
    assert np.concatenate([positions for positions, _ in found]).tolist() == list(range(10))
    assert all((vectors[:, 0] == positions).all() for positions, vectors in found)
    assert "out of memory with 10 texts in a batch: continuing with 5" in caplog.text


@pytest.mark.parametrize(
    ("error", "count"),
    [(RuntimeError("size mismatch"), 8), (RuntimeError("CUDA out of memory"), 1), (KeyError("x"), 8)],
)
def test_what_is_no_lack_of_memory_or_cannot_be_halved_is_raised(error, count):
    def run(positions):
        raise error

    with pytest.raises(type(error)):
        list(run_or_halve_batch(run, np.arange(count)))


@pytest.mark.parametrize(
    "said", ["CUDA out of memory.", "MPS backend out of memory", "DefaultCPUAllocator: can't allocate memory"]
)
def test_every_device_says_in_its_words_that_memory_ran_out(said):
    assert is_out_of_memory(RuntimeError(said))
    assert is_out_of_memory(MemoryError())


def test_batches_are_spread_over_replicas_and_come_back_in_order():
    used = set()

    def run(replica, positions):
        used.add(replica)
        return np.full((len(positions), 1), replica, np.float32)

    batches = [np.arange(i, i + 2) for i in range(0, 40, 2)]
    found = list(run_on_replicas([1, 2, 3], batches, run))
    assert np.concatenate([positions for positions, _ in found]).tolist() == list(range(40))
    assert used <= {1, 2, 3}
    assert used


def test_several_devices_are_named_by_commas():
    assert pick_devices("cpu,cpu") == ["cpu", "cpu"]
    assert len(pick_devices("auto")) == 1


def test_the_cores_of_a_container_are_counted_by_its_quota(tmp_path):
    everywhere = usable_cores(tmp_path / "gone")
    assert everywhere >= 1
    for said, cores in {"max 100000": everywhere, "100000 100000": 1, "50000 100000": 1, "?": everywhere}.items():
        (tmp_path / "cpu.max").write_text(said + "\n")
        assert usable_cores(tmp_path) == cores


@pytest.mark.parametrize(("quota", "all_of_them"), [("-1", True), ("100000", False)])
def test_the_older_cgroups_are_read_too(tmp_path, quota, all_of_them):
    (tmp_path / "cpu").mkdir()
    (tmp_path / "cpu" / "cpu.cfs_quota_us").write_text(quota + "\n")
    (tmp_path / "cpu" / "cpu.cfs_period_us").write_text("100000\n")
    assert usable_cores(tmp_path) == (usable_cores(tmp_path / "gone") if all_of_them else 1)


@pytest.mark.parametrize(("said", "expected"), [("3", 3), ("", None), ("0", None), ("many", None)])
def test_engines_get_as_many_threads_as_is_said_or_as_there_are_cores(monkeypatch, said, expected):
    monkeypatch.setenv("OMP_NUM_THREADS", said)
    assert thread_count() == (expected or usable_cores())


def test_all_gpus_are_named_at_once(monkeypatch):
    import torch

    monkeypatch.setattr(torch.cuda, "device_count", lambda: 3)
    assert pick_devices("cuda:all") == ["cuda:0", "cuda:1", "cuda:2"]


def test_threads_that_the_user_set_stay(monkeypatch):
    import torch

    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    before = torch.get_num_threads()
    limit_torch_threads()
    assert torch.get_num_threads() == before


# pickles and code


def save_pickle(folder, payload=None):
    """The checkpoint as pytorch_model.bin, with something in it that is no weight."""
    import torch
    from safetensors.torch import load_file

    weights = load_file(folder / "model.safetensors")
    (folder / "model.safetensors").unlink()
    torch.save(weights | ({"payload": payload} if payload else {}), folder / "pytorch_model.bin")


class Payload:
    def __init__(self, made):
        self.made = made

    def __reduce__(self):
        return (os_mkdir, (str(self.made),))


from os import mkdir as os_mkdir  # noqa: E402 - the pickle names it


def test_weights_in_a_pickle_that_holds_nothing_else_are_loaded(copied, plain):
    save_pickle(copied)
    assert np.abs(opened(copied).encode(TEXTS) - opened(plain).encode(TEXTS)).max() < 1e-6


@pytest.mark.parametrize("adapter", ["transformers", "sentence-transformers"])
def test_a_pickle_that_would_call_something_is_refused_by_name_and_not_run(copied, tmp_path, adapter):
    save_pickle(copied, Payload(tmp_path / "made"))
    with pytest.raises(
        ModelError, match=r"pytorch_model.bin is a pickle that would call posix.mkdir: it is not loaded. Remedy: "
    ):
        opened(copied, adapter=adapter)
    assert not (tmp_path / "made").exists()


def test_safetensors_go_before_a_pickle_beside_them(copied, plain, tmp_path):
    import torch

    torch.save({"payload": Payload(tmp_path / "made")}, copied / "pytorch_model.bin")
    assert np.abs(opened(copied).encode(TEXTS) - opened(plain).encode(TEXTS)).max() < 1e-6
    assert not (tmp_path / "made").exists()


@pytest.fixture
def own_code(copied, tmp_path):
    """A checkpoint with code of its own, which leaves a trace when it runs."""
    trace = tmp_path / "was_run"
    (copied / "mine.py").write_text(
        f"open({str(trace)!r}, 'w').close()\n"
        "from transformers import BertConfig, BertModel\n"
        "class Config(BertConfig):\n    model_type = 'mine'\n"
        "class Model(BertModel):\n    config_class = Config\n"
    )
    auto = {"AutoConfig": "mine.Config", "AutoModel": "mine.Model"}
    tiny_models.change_json(copied / "config.json", auto_map=auto, model_type="mine")
    return copied, trace


@pytest.mark.parametrize("adapter", ["transformers", "sentence-transformers"])
def test_code_of_a_checkpoint_is_refused_by_name_and_not_run(own_code, adapter):
    folder, trace = own_code
    with pytest.raises(
        ModelError, match=r"names its own code .mine.Config, mine.Model., which is not run. If you trust it: "
    ):
        opened(folder, adapter=adapter)
    assert not trace.exists()


def test_code_of_a_checkpoint_runs_where_it_is_trusted_and_the_report_says_so(own_code, plain):
    folder, trace = own_code
    trusted = opened(folder, trust_remote_code=True)
    assert np.abs(trusted.encode(TEXTS) - opened(plain).encode(TEXTS)).max() < 1e-5
    assert trace.exists()
    assert trusted.about()["code"] == "trust_remote_code: code that came with copied was allowed to run"
    before = trusted.fingerprint()
    with (folder / "mine.py").open("a") as file:
        file.write("# another line\n")
    assert opened(folder, trust_remote_code=True).fingerprint() != before
