"""What is loaded is what was named: adapters that fit, weights that are there, the modules that a folder has."""

import json
import shutil
import sys
import warnings

import numpy as np
import pytest
import tiny
import tiny_models
from typer.testing import CliRunner

from encheck.cli import app
from encheck.encoders.load import load_model
from encheck.encoders.model_config import Device, ModelConfig
from encheck.encoders.writing import ContinuationGenerator
from encheck.errors import EncoderError, ModelError

pytestmark = pytest.mark.xdist_group("encoders")
TEXTS = ["the dog sings", "a cat sleeps on the red dog", "dog", "what is under a cat? a blue dog."]


def opened(folder, adapter="sentence-transformers", **fields):
    return load_model(ModelConfig("tiny", name=str(folder), adapter=adapter, **fields), device=Device("cpu"))


def rewrite(folder, change, name="adapter_model.safetensors"):
    """Change the tensors of a file: a mapping of names."""
    from safetensors.torch import load_file, save_file

    made = change(load_file(folder / name))
    save_file(made, folder / name, metadata={"format": "pt"})


# adapters


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    return tiny.build_plain(tmp_path_factory.mktemp("base") / "base")


def adapter(folder, base, config):
    """A PEFT adapter whose weights are drawn at random."""
    import torch
    from peft import get_peft_model
    from transformers import AutoModel

    torch.manual_seed(1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # peft asks transformers by an older name
        model = get_peft_model(AutoModel.from_pretrained(base), config)
    for weight in model.parameters():
        if weight.requires_grad:
            torch.nn.init.normal_(weight, std=0.3)
    model.save_pretrained(folder)
    return folder


def lora(**fields):
    from peft import LoraConfig

    return LoraConfig(r=2, target_modules=["query", "value"], **fields)


def ia3():
    from peft import IA3Config

    return IA3Config(target_modules=["key", "value"], feedforward_modules=[])


def shared():
    from peft import VBLoRAConfig

    return VBLoRAConfig(r=2, target_modules=["query"], vector_length=4, num_vectors=16)


FITTING = {
    "LoRA": lora,
    "LoRA with zeros": lambda: lora(init_lora_weights=True),
    "DoRA": lambda: lora(use_dora=True),
    "biases": lambda: lora(bias="all"),
    "a module that is saved whole": lambda: lora(modules_to_save=["output.LayerNorm"]),
    "IA3": ia3,
    "one bank for all layers": shared,
}


@pytest.mark.parametrize("config", FITTING.values(), ids=FITTING)
def test_an_adapter_that_fits_gives_what_peft_gives(tmp_path, base, config):
    import torch
    from peft import PeftModel
    from transformers import AutoModel, AutoTokenizer

    folder = adapter(tmp_path / "adapter", base, config())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        model = PeftModel.from_pretrained(AutoModel.from_pretrained(base), folder).eval()
    words = AutoTokenizer.from_pretrained(base)
    with torch.inference_mode():
        made = [model(**words([text], return_tensors="pt")).last_hidden_state[0].mean(dim=0) for text in TEXTS]
    assert np.abs(opened(folder, "peft").encode(TEXTS) - torch.stack(made).numpy()).max() < 1e-5


def renamed(tensors):
    return {name.replace("base_model.model.", "base_model.model.bert."): t for name, t in tensors.items()}


def without(part):
    return lambda tensors: {name: t for name, t in tensors.items() if part not in name}


def another_layer(tensors):
    return {**tensors, **{name.replace("layer.0", "layer.7"): t.clone() for name, t in tensors.items()}}


MISFITS = {
    "keys of a model with a head": (lora, renamed, "the base has no place for 4 weights, first base_model.model.bert."),
    "some keys missing": (lora, without(".value."), "the adapter lacks 2 weights, first .*value.lora_A"),
    "half of a pair missing": (lora, without("lora_B"), "the adapter lacks 2 weights, first .*query.lora_B"),
    "a layer too many": (lora, another_layer, "the base has no place for 4 weights, first .*layer.7.attention"),
    "other keys alone": (lora, lambda t: {"x": t.popitem()[1]}, "the base has no place for 1 weights, first x"),
    "DoRA without magnitudes": (lambda: lora(use_dora=True), without("magnitude"), "the adapter lacks 2 weights"),
    "biases missing": (lambda: lora(bias="all"), without(".bias"), "the adapter lacks 10 weights, first .*bias"),
    "IA3": (ia3, without(".key."), "the adapter lacks 1 weights, first .*key.ia3_l"),
    "a saved module missing": (
        lambda: lora(modules_to_save=["output.LayerNorm"]), without("LayerNorm"), "it lacks '.*LayerNorm.weight'",
    ),
    "a saved module of another name": (
        lambda: lora(modules_to_save=["output.LayerNorm"]),
        lambda tensors: {name.replace("LayerNorm", "norm"): t for name, t in tensors.items()},
        "it lacks '.*LayerNorm.weight'",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("config", "change", "expected"), MISFITS.values(), ids=MISFITS)
def test_an_adapter_whose_keys_do_not_fit_is_an_error(tmp_path, base, config, change, expected):
    folder = adapter(tmp_path / "adapter", base, config())
    rewrite(folder, change)
    with pytest.raises(EncoderError, match=rf"the adapter {folder} does not fit its base {base}: {expected}.*Remedy: "):
        opened(folder, "peft").encode(TEXTS)


def test_an_adapter_for_a_base_of_another_size_is_an_error(tmp_path, base):
    folder = adapter(tmp_path / "adapter", base, lora())
    for sizes in ({"hidden_size": 32}, {"num_hidden_layers": 2}):
        other = tiny_models.bert(tmp_path / f"other-{next(iter(sizes))}", **sizes)
        with pytest.raises(EncoderError, match=rf"the adapter {folder} does not fit its base {other}: "):
            opened(folder, "peft", options={"base": str(other)}).encode(TEXTS)


def test_an_adapter_inside_a_sentence_transformers_checkpoint_has_to_fit_too(tmp_path):
    from sentence_transformers import SentenceTransformer

    whole = tiny.build(tmp_path)
    model = SentenceTransformer(str(whole), device="cpu")
    model.add_adapter(lora(task_type="FEATURE_EXTRACTION"))
    model.save(str(tmp_path / "tuned"), create_model_card=False)
    assert np.abs(opened(tmp_path / "tuned").encode(TEXTS) - opened(whole).encode(TEXTS)).max() < 1e-6
    for number, (change, expected) in enumerate([
        (renamed, "the base has no place for 4 weights, first bert.encoder"),
        (without(".value."), "the adapter lacks 2 weights, first encoder.layer.0.attention.self.value"),
    ]):  # fmt: skip
        folder = shutil.copytree(tmp_path / "tuned", tmp_path / f"harmed-{number}")
        rewrite(folder, change)
        with pytest.raises(EncoderError, match=rf"the adapter {folder} does not fit its base {whole}: {expected}"):
            opened(folder).encode(TEXTS)


def test_an_adapter_is_pooled_as_its_base_says(tmp_path, caplog):
    whole = pooled(tmp_path / "whole", "cls")
    folder = adapter(tmp_path / "adapter", whole, lora(init_lora_weights=True))
    rewrite(folder, lambda tensors: {name: t * ("lora_A" in name) for name, t in tensors.items()})  # moves nothing
    model = opened(folder, "peft")
    assert model.about()["pooling"] == "cls"
    assert f"tiny: pooled by cls, as {whole}/1_Pooling/config.json says" in caplog.text
    vectors = model.encode(TEXTS)
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    assert np.abs(unit - opened(whole).encode(TEXTS)).max() < 1e-5
    assert np.abs(opened(folder, "peft", pooling="mean").encode(TEXTS) - model.encode(TEXTS)).max() > 0.01


@pytest.fixture
def encheck(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return lambda *args: CliRunner().invoke(app, list(args))


def test_a_model_that_fails_is_one_error_and_every_check_of_it_is_in_the_results(tmp_path, base, encheck, capfd):
    folder = adapter(tmp_path / "adapter", base, lora())
    rewrite(folder, renamed)
    (tmp_path / "own.csv").write_text("first,second,label\na b,b a,1\nc d,e f,0\n")
    models = ("--model=./adapter", "--model=bag-of-words")
    done = encheck("run", "-m", "retrieval", "--data=pairs:own.csv", *models, "--report-dir=out")
    said = done.output + capfd.readouterr().out
    assert done.exit_code == 1
    assert said.count("adapter cannot be measured: ") == said.count("does not fit its base") == 1, said
    rows = json.loads((tmp_path / "out" / "results.json").read_text())["checks"]
    assert {row["verdict"] for row in rows if row["model"] == "adapter"} == {"error"}
    assert "error" not in {row["verdict"] for row in rows if row["model"] == "bag-of-words"}
    assert len([row for row in rows if row["model"] == "adapter"]) > 1
    as_old = encheck("gate", "bag-of-words", "./adapter", "--data=pairs:own.csv", "-m", "retrieval")
    assert (as_old.exit_code, "does not fit its base" in as_old.output) == (4, True), as_old.output


# weights of a checkpoint


@pytest.mark.parametrize(("level", "is_terminal"), [("warning", True), ("error", False)])
def test_a_missing_weight_is_an_error_however_transformers_reports_it(tmp_path, monkeypatch, level, is_terminal):
    from transformers.utils import logging

    folder = tiny.build(tmp_path)
    rewrite(folder, without("layer.0.output"), "model.safetensors")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: is_terminal, raising=False)
    before = logging.get_verbosity()
    getattr(logging, f"set_verbosity_{level}")()
    try:
        with pytest.raises(EncoderError, match=r"lacks 4 of the model's weights, first encoder.layer.0.output.*random"):
            opened(folder).encode(TEXTS)
    finally:
        logging.set_verbosity(before)


@pytest.mark.parametrize("name", ["sentence-transformers", "transformers", "cross-encoder"])
def test_weights_that_are_not_used_are_left_out_without_a_table_of_transformers(tmp_path, capfd, name):
    """Of a masked language model, whose head gives no vectors, and of a classifier with a head of another kind."""
    import torch
    from transformers import BertConfig, BertForMaskedLM, BertForSequenceClassification

    torch.manual_seed(0)
    words = tiny.tokenizer()
    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32}
    config = BertConfig(vocab_size=len(words), num_labels=1, **sizes)
    kind = BertForSequenceClassification if name == "cross-encoder" else BertForMaskedLM
    model = kind(config)
    model.unused = torch.nn.Linear(2, 2)
    model.save_pretrained(tmp_path)
    words.save_pretrained(tmp_path)
    capfd.readouterr()
    scorer = opened(tmp_path, name)
    _ = scorer.score_pairs(TEXTS, TEXTS) if name == "cross-encoder" else scorer.encode(TEXTS)
    assert "unused" not in "".join(capfd.readouterr())


@pytest.mark.parametrize("name", ["sentence-transformers", "transformers"])
def test_keys_that_do_not_fit_the_architecture_are_an_error_and_layers_too_many_are_said(tmp_path, name, caplog):
    folder = tiny_models.bert(tmp_path / "two", num_hidden_layers=2)
    tiny_models.change_json(folder / "config.json", num_hidden_layers=1)
    opened(folder, name).encode(TEXTS)
    assert (
        f"{folder} has 16 weights of layers that its config.json does not count, first encoder.layer.1." in caplog.text
    )
    tiny_models.change_json(folder / "config.json", num_hidden_layers=3)
    with pytest.raises(EncoderError, match=r"lacks 16 of the model's weights, first encoder.layer.2"):
        opened(folder, name).encode(TEXTS)
    tiny_models.change_json(folder / "config.json", num_hidden_layers=2, intermediate_size=8)
    with pytest.raises(EncoderError, match=f"cannot load {folder}"):
        opened(folder, name).encode(TEXTS)


def test_an_encoder_needs_no_weights_of_a_decoder_that_it_does_not_use(tmp_path):
    import torch
    from transformers import T5Config, T5EncoderModel

    torch.manual_seed(0)
    words = tiny.tokenizer()
    sizes = {"d_model": 16, "d_kv": 8, "d_ff": 32, "num_layers": 1, "num_heads": 2}
    config = T5Config(vocab_size=len(words), **sizes, decoder_start_token_id=0)
    T5EncoderModel(config).save_pretrained(tmp_path / "t5")
    words.save_pretrained(tmp_path / "t5")
    assert opened(tmp_path / "t5", "transformers").encode(TEXTS).shape == (4, 16)
    rewrite(tmp_path / "t5", without("SelfAttention"), "model.safetensors")
    with pytest.raises(EncoderError, match=r"lacks 5 of the model's weights, first encoder.block.0"):
        opened(tmp_path / "t5", "transformers").encode(TEXTS)


def test_a_language_model_without_its_head_does_not_write(base):
    with pytest.raises(EncoderError, match=r"lacks \d+ of the model's weights, first cls.predictions"):
        ContinuationGenerator(str(base), device="cpu").model  # noqa: B018 - loads it


# folders without modules.json


def pooled(folder, mode, *, dense=False):
    """A whole checkpoint: transformer, pooling, perhaps a dense layer, and Normalize."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Dense, Normalize, Pooling, Transformer

    plain = tiny.build_plain(folder.parent / f"{folder.name}-plain")
    modules = [Transformer(str(plain), max_seq_length=8), Pooling(16, mode)]
    torch.manual_seed(2)
    width = modules[1].get_embedding_dimension()
    modules += [Dense(width, 4, activation_function=torch.nn.Tanh())] * dense + [Normalize()]
    prompts = {"query": "red ", "document": "blue "}
    SentenceTransformer(modules=modules, device="cpu", prompts=prompts).save(str(folder), create_model_card=False)
    return folder


def lost(whole):
    """A copy without modules.json."""
    folder = shutil.copytree(whole, whole.with_name("lost"))
    (folder / "modules.json").unlink()
    return folder


@pytest.mark.parametrize(
    ("mode", "dense"),
    [
        ("cls", True),
        ("max", False),
        *(pytest.param(mode, True, marks=pytest.mark.long) for mode in ("mean", "lasttoken", "mean_sqrt_len_tokens")),
        *(pytest.param(mode, False, marks=pytest.mark.long) for mode in ("weightedmean", ("cls", "mean"))),
    ],
)
def test_a_folder_that_lost_modules_json_is_the_model_that_its_folders_tell(tmp_path, caplog, mode, dense):
    whole = pooled(tmp_path / "whole", mode, dense=dense)
    folder = lost(whole)
    model, expected = opened(folder), opened(whole)
    for role in (None, "query"):
        assert np.abs(model.encode(TEXTS, role=role) - expected.encode(TEXTS, role=role)).max() < 1e-6
    assert model.about()["pooling"] == expected.about()["pooling"]
    parts = "1_Pooling, 2_Dense, 3_Normalize" if dense else "1_Pooling, 2_Normalize"
    assert (
        f"tiny: pooled by {model.pooling}, as 1_Pooling/config.json says; without modules.json, its modules are "
        f"those that its folders name: {parts}" in caplog.text
    )


def test_the_files_of_modules_are_in_the_fingerprint_without_modules_json(tmp_path):
    folder = lost(pooled(tmp_path / "whole", "cls", dense=True))
    before = opened(folder).fingerprint()
    for file, edit in (
        ("1_Pooling/config.json", lambda f: tiny_models.change_json(f, pooling_mode="mean")),
        ("2_Dense/model.safetensors", lambda f: rewrite(f.parent, lambda t: {n: 2 * w for n, w in t.items()}, f.name)),
    ):
        edit(folder / file)
        after = opened(folder).fingerprint()
        assert after != before
        before = after


UNCLEAR = {
    "a module of another name": (
        lambda f: (f / "2_Normalize").rename(f / "2_Scale"),
        "2_Scale is not the name of a module",
    ),
    "two dense layers to choose from": (
        lambda f: (f / "2_Dense_1024").mkdir(),
        "2_Dense_1024 is not the name of a module",
    ),
    "two of one number": (lambda f: (f / "2_Dense").mkdir(), "the numbers of 1_Pooling, 2_Dense, 2_Normalize have a"),
    "a gap": (lambda f: (f / "2_Normalize").rename(f / "3_Normalize"), "the numbers of 1_Pooling, 3_Normalize have a"),
    "no pooling": (lambda f: (f / "1_Pooling").rename(f / "1_Dense"), "none of them is a pooling"),
}


@pytest.mark.parametrize(("harm", "expected"), UNCLEAR.values(), ids=UNCLEAR)
def test_folders_that_do_not_tell_the_modules_are_an_error(tmp_path, harm, expected):
    folder = lost(pooled(tmp_path / "whole", "cls"))
    harm(folder)
    with pytest.raises(ModelError, match=rf"{folder} has no modules.json, .*: {expected}.*copy modules.json again"):
        opened(folder)
    assert opened(folder, "transformers", pooling="cls").encode(TEXTS).shape == (4, 16)


def test_code_that_a_dense_layer_names_is_not_run_without_modules_json(tmp_path):
    folder = lost(pooled(tmp_path / "whole", "cls", dense=True))
    tiny_models.change_json(folder / "2_Dense" / "config.json", activation_function="os.system")
    with pytest.raises(ModelError, match=r"activation_function is 'os.system', which is not in torch.nn"):
        opened(folder)


def test_the_transformer_alone_is_pooled_as_the_folder_says_and_what_is_left_out_is_said(tmp_path, caplog):
    folder = lost(pooled(tmp_path / "whole", "cls", dense=True))
    model = opened(folder, "transformers")
    assert model.about()["pooling"] == "cls"
    assert f"tiny: pooled by cls, as {folder}/1_Pooling/config.json says; left out: 2_Dense" in caplog.text
    assert (model.encode(TEXTS) == opened(folder, "transformers", pooling="cls").encode(TEXTS)).all()
    tiny_models.change_json(folder / "1_Pooling" / "config.json", pooling_mode="weightedmean")
    with pytest.raises(ModelError, match=r"pools by weightedmean, which this adapter does not support. Remedy: name a"):
        opened(folder, "transformers")


def test_a_run_says_how_a_folder_without_modules_json_is_pooled(tmp_path, encheck, capfd):
    lost(pooled(tmp_path / "whole", "cls"))
    (tmp_path / "models.yaml").write_text("mine: {name: ./lost, description: my own}\n")
    (tmp_path / "own.csv").write_text("first,second,label\na b,b a,1\nc d,e f,0\n")
    encheck(
        "run", "-q", "-m", "retrieval", "--data=pairs:own.csv", "--model=./lost", "--model=mine", "--report-dir=out"
    )
    said, notes = capfd.readouterr().err, json.loads((tmp_path / "out" / "results.json").read_text())["run"]["notes"]
    for label in ("lost", "mine"):
        line = f"{label}: pooled by cls, as 1_Pooling/config.json says; without modules.json"
        assert line in said
        assert sum(line in note for note in notes) == 1
    assert "cls" in (tmp_path / "out" / "report.html").read_text()
