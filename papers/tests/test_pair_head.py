"""A checkpoint with a head over two vectors, as a model under test: scores, decisions, and heads that are broken."""

import json
import shutil

import numpy as np
import pytest
import tiny
from typer.testing import CliRunner

from encheck.cli import app
from encheck.encoders.load import detect_adapter, load_model
from encheck.encoders.model_config import Device, ModelConfig
from encheck.encoders.protocol import Encoder, HeadedEncoder
from encheck.errors import EncoderError, ModelError
from encheck_papers.pair_head import FOLDER, Head

FIRST = ["the dog sings", "red", "the dog sings", "a cat"]
SECOND = ["a cat sleeps on", "blue under the cat", "the dog sings on", "a cat"]


def made(folder, base, *, features=("u", "v", "|u-v|"), classes=2, dimension=16):
    """A copy of a checkpoint with a head of large random weights."""
    import torch

    from encheck_papers import PairHead

    torch.manual_seed(3)
    shutil.copytree(base, folder)
    head = PairHead(dimension, classes=classes, features=features)
    head.linear.weight.data.normal_(std=4.0)
    head.save(folder)
    return folder


def opened(folder, **options):
    return load_model(ModelConfig("tiny", "pair-head", str(folder), options=options), device=Device("cpu"))


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    return tiny.build(tmp_path_factory.mktemp("plain") / "tiny")


@pytest.fixture(scope="module")
def headed(base, tmp_path_factory):
    return made(tmp_path_factory.mktemp("headed") / "it", base)


def logits(folder):
    """What the torch head says of sentence-transformers' own vectors."""
    import torch
    from sentence_transformers import SentenceTransformer

    from encheck_papers import PairHead

    model = SentenceTransformer(str(folder), device="cpu")
    u, v = (model.encode(texts, convert_to_tensor=True) for texts in (FIRST, SECOND))
    with torch.inference_mode():
        return PairHead.load(folder)(u, v).numpy()


def scored(model):
    return model.score_vectors(model.encode(FIRST), model.encode(SECOND))


def test_pairs_are_scored_by_the_head_and_decided_by_its_argmax(headed):
    model, said = opened(headed), logits(headed)
    powers = np.exp(said)
    assert isinstance(model, HeadedEncoder)
    assert scored(model) == pytest.approx(powers[:, 1] / powers.sum(axis=1), abs=1e-5)
    assert (scored(model) >= model.decision).tolist() == (said.argmax(axis=1) == 1).tolist()
    assert detect_adapter(headed) == ("pair-head", "it has modules.json and pair_head: its head scores pairs")
    assert model.about()["head"] == "probability of class 1, by (u, v, |u-v|)"


def test_an_entry_that_does_not_say_so_is_refused_and_never_taken_for_the_encoder_alone(headed):
    with pytest.raises(ModelError, match=r"has a head over pairs.* Remedy: --model-arg adapter=pair-head"):
        load_model(ModelConfig("tiny", name=str(headed)), device=Device("cpu"))


def test_the_vectors_are_the_encoders_and_the_head_is_part_of_the_fingerprint(headed, base, tmp_path):
    with_head, without = opened(headed), opened(headed, head="none")
    assert not isinstance(without, HeadedEncoder)
    assert isinstance(with_head, Encoder)
    assert (with_head.encode(FIRST) == without.encode(FIRST)).all()
    other = made(tmp_path / "other", base, features=("|u-v|", "u*v"))
    assert len({m.fingerprint() for m in (with_head, without, opened(other), opened(headed))}) == 3
    assert without.fingerprint() == opened(base).fingerprint()


def test_a_head_of_several_classes_needs_to_know_which_means_the_same(base, tmp_path):
    three = made(tmp_path / "three", base, classes=3)
    with pytest.raises(ModelError, match=r"has 3 classes, and positive is not said.*positive=0 to 2"):
        opened(three)
    model = opened(three, positive="1")
    assert model.decision is None
    powers = np.exp(logits(three))
    assert scored(model) == pytest.approx(powers[:, 1] / powers.sum(axis=1), abs=1e-5)


def broken(folder, headed, change):
    shutil.copytree(headed, folder)
    change(folder / FOLDER)
    return folder


def config(**changed):
    def change(head):
        told = json.loads((head / "config.json").read_text())
        (head / "config.json").write_text(json.dumps(told | changed))

    return change


def weights(**tensors):
    def change(head):
        from safetensors.numpy import save_file

        whole = {"weight": np.ones((2, 48), np.float32), "bias": np.zeros(2, np.float32)}
        save_file({k: v for k, v in (whole | tensors).items() if v is not None}, head / "model.safetensors")

    return change


def cut(head):
    path = head / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-8])


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda head: (head / "config.json").unlink(), r"config\.json does not exist: .* half-written"),
        (lambda head: (head / "model.safetensors").unlink(), r"model\.safetensors does not exist: .* half-written"),
        (cut, r"model\.safetensors cannot be read .*truncated"),
        (lambda head: (head / "config.json").write_text("{"), r"config\.json is not JSON"),
        (config(dimension=8), r"weight has shape \(2, 48\), but should have \(2, 24\)"),
        (config(classes=3), r"weight has shape \(2, 48\), but should have \(3, 48\)"),
        (config(classes=None), "classes is None, but should be a whole number from 2"),
        (config(classes=True), "classes is 'True', but should be a whole number"),
        (config(features=["u", "w"]), r"config\.json: features: .*unknown part 'w'"),
        (config(format=2), "format is 2, but only 1 is known"),
        (weights(bias=None), r"has no bias: it holds weight"),
        (weights(bias=np.zeros(3, np.float32)), r"bias has shape \(3,\), but should have \(2,\)"),
        (weights(weight=np.full((2, 48), np.nan, np.float32)), "weight holds float32, or NaN or infinity"),
        (weights(weight=np.ones((2, 48), np.int64)), "weight holds int64"),
    ],
)
def test_a_broken_head_is_refused_with_its_file(headed, tmp_path, change, said):
    with pytest.raises(ModelError, match=said):
        opened(broken(tmp_path / "broken", headed, change))


def test_a_head_for_another_dimension_is_refused_before_anything_is_encoded(base, tmp_path):
    wide = made(tmp_path / "wide", base, dimension=32)
    said = "of vectors of 32 dimensions, but the model gives 16"
    with pytest.raises(EncoderError, match=said):
        opened(wide).encode(FIRST)
    alone = Head(32, ("|u-v|",), np.ones((2, 32), np.float32), np.zeros(2, np.float32))
    with pytest.raises(EncoderError, match=r"reads \(\|u-v\|\) of vectors of 32 dimensions"):
        alone.logits(np.ones((1, 16), np.float32), np.ones((1, 16), np.float32))


@pytest.mark.filterwarnings("ignore")
def test_the_classifier_of_softmax_loss_loads_however_it_was_saved(base, tmp_path):
    import torch
    from safetensors.torch import save_file
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.losses import SoftmaxLoss
    from sentence_transformers.sentence_transformer.modules import Dense

    model = SentenceTransformer(str(base), device="cpu")
    loss = SoftmaxLoss(model, 16, num_labels=2)
    loss.classifier.weight.data *= 20
    u, v = (model.encode(texts, convert_to_tensor=True) for texts in (FIRST, SECOND))
    with torch.inference_mode():
        said = torch.softmax(loss.classifier(torch.cat([u, v, (u - v).abs()], 1)), 1)[:, 1].numpy()
    folder = shutil.copytree(base, tmp_path / "it")
    torch.save(loss.classifier.state_dict(), folder / "softmax_loss.pth")
    torch.save(loss.state_dict(), folder / "loss.pt")
    save_file(loss.classifier.state_dict(), folder / "classifier.safetensors")
    dense = Dense(48, 2, activation_function=torch.nn.Identity())
    dense.linear.load_state_dict(loss.classifier.state_dict())
    (folder / "3_Dense").mkdir()
    dense.save(str(folder / "3_Dense"))
    for name in ("softmax_loss.pth", "loss.pt", "classifier.safetensors", "3_Dense"):
        assert scored(opened(folder, head=name)) == pytest.approx(said, abs=1e-5), name
    assert len({opened(folder, head=n).fingerprint() for n in ("none", "loss.pt", "softmax_loss.pth")}) == 3


def test_a_classifier_that_does_not_fit_or_would_run_code_is_refused(base, tmp_path):
    import torch
    from sentence_transformers.sentence_transformer.modules import Dense

    folder = shutil.copytree(base, tmp_path / "it")
    torch.save({"weight": torch.ones(2, 32), "bias": torch.zeros(2)}, folder / "two.pt")
    with pytest.raises(ModelError, match=r"weight has shape .*2, 32.*which 3 parts .* do not divide"):
        opened(folder, head="two.pt")
    assert opened(folder, head="two.pt", features="|u-v|,u*v").head.dimension == 16
    torch.save({"weight": torch.ones(2, 24), "bias": torch.zeros(2)}, folder / "narrow.pt")
    with pytest.raises(EncoderError, match="of vectors of 8 dimensions, but the model gives 16"):
        opened(folder, head="narrow.pt").encode(FIRST)
    torch.save({"model.0.weight": torch.ones(2)}, folder / "none.pt")
    with pytest.raises(ModelError, match=r"has no classifier\.weight and classifier\.bias: it holds model\.0\.weight"):
        opened(folder, head="none.pt")
    torch.save(torch.nn.Linear(48, 2), folder / "module.pt")
    with pytest.raises(ModelError, match=r"is a pickle that would call torch\.nn\.modules\.linear\.Linear"):
        opened(folder, head="module.pt")
    (folder / "3_Dense").mkdir()
    Dense(48, 2).save(str(folder / "3_Dense"))
    with pytest.raises(ModelError, match=r"activation_function is .*Tanh.*softmax head has torch\.nn\.Identity"):
        opened(folder, head="3_Dense")
    with pytest.raises(ModelError, match=r"head is 'other\.pt', but neither"):
        opened(folder, head="other.pt")
    with pytest.raises(ModelError, match=r"positive belongs to a head over pairs, and .* has none"):
        opened(folder, positive="1")


def found(model, out, *args):
    rows = [f"{'a dog sings'[i % 8 :]} {i},{'blue cat under red'[i % 7 :]} {i * i},{i % 2}" for i in range(60)]
    (out / "mine.csv").write_text("first,second,label\n" + "\n".join(rows) + "\n")
    told = ["run", f"--model={model}", f"--data=pairs:{out}/mine.csv", f"--report-dir={out}/out", "-q", *args]
    done = CliRunner().invoke(app, told)
    assert (out / "out/results.json").exists(), done.output
    return {(r["property"], r["metric"]): r for r in json.loads((out / "out/results.json").read_text())["checks"]}


def test_a_run_asks_what_the_head_says(headed, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = found(headed, tmp_path, "-m", "symmetry or paraphrase")
    assert rows["symmetry", "flip_rate"]["params"]["decided_by"] == "the model's head"
    assert rows["symmetry", "flip_rate"]["value"] > 0
    assert rows["paraphrase", "head_f1"]["params"] == {"folds": 0, "threshold": 0.5}


def test_symmetric_parts_flip_nothing(base, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    both = made(tmp_path / "both", base, features=("|u-v|", "u*v"))
    rows = found(both, tmp_path, "-m", "symmetry")
    assert rows["symmetry", "flip_rate"]["params"]["decided_by"] == "the model's head"
    assert (rows["symmetry", "flip_rate"]["value"], rows["symmetry", "largest_asymmetry"]["value"]) == (0, 0)
