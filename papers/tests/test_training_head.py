"""A head over two vectors: its shape, its files, and a real short run of sentence-transformers' trainer."""

import copy
import importlib.util
import json
import pickle

import numpy as np
import pytest
import tiny

from encheck.errors import ModelError, UsageError
from encheck_papers.pair_head import FOLDER, PARTS

BOTH_WAYS = ("|u-v|", "u*v")
TEXTS = ["the dog sings", "a cat sleeps on", "red", "blue under the cat"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tiny.build(tmp_path_factory.mktemp("headed") / "tiny")


@pytest.fixture
def model(folder):
    from sentence_transformers import SentenceTransformer

    return SentenceTransformer(str(folder), device="cpu")


def head(**named):
    import torch

    from encheck_papers import PairHead

    torch.manual_seed(0)
    return PairHead(16, **named)


def vectors(n=5):
    import torch

    generator = torch.Generator().manual_seed(1)
    return torch.randn(n, 16, generator=generator), torch.randn(n, 16, generator=generator)


def test_logits_are_those_of_the_parts_side_by_side():
    import torch

    u, v = vectors()
    made = head(features=PARTS, classes=3)
    read = torch.cat([u, v, (u - v).abs(), u * v], dim=1)
    assert torch.allclose(made(u, v), read @ made.linear.weight.T + made.linear.bias, atol=1e-6)
    assert made(u, v).shape == (5, 3)


def test_order_matters_only_where_a_vector_is_read_alone():
    u, v = vectors()
    symmetric, lopsided = head(features=BOTH_WAYS), head()
    assert symmetric.symmetric
    assert not lopsided.symmetric
    assert (symmetric(u, v) == symmetric(v, u)).all()
    assert not (lopsided(u, v) == lopsided(v, u)).all()


def test_parameters_are_counted_as_table_3_counts_them():
    from encheck_papers import PairHead

    plain, with_spans = (PairHead(d, features=BOTH_WAYS).count_parameters() for d in (768, 2 * 768))
    attention_over_spans = 768
    assert with_spans - plain + attention_over_spans == 3_840
    assert head().count_parameters(biases=True) == 2 * 3 * 16 + 2


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"features": ("|u-v|", "u+v")}, r"unknown part 'u\+v'"),
        ({"features": ("u", "u")}, "name each part once"),
        ({"features": ()}, "should be a list of parts"),
        ({"features": "u"}, "should be a list of parts"),
        ({"classes": 1}, "classes is 1, but should be a whole number of at least 2"),
    ],
)
def test_a_head_that_cannot_be_is_refused(wrong, said):
    with pytest.raises(UsageError, match=said):
        head(**wrong)


def test_vectors_of_another_shape_are_refused(model):
    from encheck_papers import PairHead, PairHeadLoss

    u, v = vectors()
    with pytest.raises(UsageError, match=r"u has shape \(5, 8\) and v \(5, 8\), but both should be \[pairs, 16\]"):
        head()(u[:, :8], v[:, :8])
    with pytest.raises(UsageError, match="for vectors of 8 dimensions, but the model gives 16"):
        PairHeadLoss(model, PairHead(8))
    with pytest.raises(UsageError, match="should be 2 numbers above 0"):
        PairHeadLoss(model, head(), class_weights=(1.0, 0.0))


def test_a_saved_head_is_read_back_and_pickled_as_it_was(tmp_path):
    from encheck_papers import PairHead

    u, v = vectors()
    made = head(features=BOTH_WAYS)
    made.save(tmp_path)
    assert (PairHead.load(tmp_path)(u, v) == made(u, v)).all()
    assert (pickle.loads(pickle.dumps(made))(u, v) == made(u, v)).all()
    with pytest.raises(UsageError, match=r"is a head of \(16, 2, .*\), but should be one of"):
        head().take(tmp_path)


def test_what_saves_the_model_saves_the_head(model, tmp_path):
    from encheck_papers import PairHead, PairHeadLoss

    made = PairHeadLoss(model, head()).head
    model.save_pretrained(str(tmp_path / "a"))
    assert (PairHead.load(tmp_path / "a").linear.weight == made.linear.weight).all()
    second = PairHeadLoss(model, head(features=BOTH_WAYS)).head
    copied = copy.deepcopy(model)
    second.linear.weight.data.zero_()
    for name, one in (("b", model), ("c", copied)):
        one.save(str(tmp_path / name))
    found = {name: PairHead.load(tmp_path / name) for name in ("b", "c")}
    assert {one.features for one in found.values()} == {BOTH_WAYS}
    assert not found["b"].linear.weight.any()
    assert found["c"].linear.weight.any()


def test_a_head_whose_writing_was_cut_off_is_half_written(tmp_path, monkeypatch):
    from encheck_papers import PairHead
    from encheck_papers import head as module

    head().save(tmp_path)
    monkeypatch.setattr(module, "write_text", lambda *_: (_ for _ in ()).throw(OSError("no space left")))
    with pytest.raises(OSError, match="no space"):
        head(features=BOTH_WAYS).save(tmp_path)
    with pytest.raises(ModelError, match=r"config\.json does not exist: the pair head .* is half-written"):
        PairHead.load(tmp_path)


def test_rare_classes_can_weigh_more(model):
    import torch

    from encheck_papers import PairHeadLoss

    made, labels = head(), torch.tensor([0, 0, 0, 1])
    columns = [model.preprocess(TEXTS), model.preprocess(TEXTS[::-1])]
    model.eval()
    plain, weighted = (PairHeadLoss(model, made, class_weights=w)(columns, labels) for w in (None, (1.0, 3.0)))
    each = torch.nn.functional.cross_entropy(
        made(*(model(c)["sentence_embedding"] for c in columns)), labels, reduction="none"
    )
    assert plain.item() == pytest.approx(each.mean().item(), abs=1e-6)
    assert weighted.item() == pytest.approx(float((each * torch.tensor([1, 1, 1, 3])).sum().detach() / 6), abs=1e-6)
    with pytest.raises(UsageError, match="3 columns of text, but a pair has 2"):
        PairHeadLoss(model, made)([*columns, columns[0]], labels)


@pytest.mark.skipif(not importlib.util.find_spec("datasets"), reason="sentence-transformers' trainer needs datasets")
@pytest.mark.filterwarnings("ignore")
def test_the_best_checkpoint_brings_its_own_head(model, tmp_path):
    from datasets import Dataset
    from sentence_transformers import SentenceTransformerTrainingArguments
    from sentence_transformers.evaluation import SentenceEvaluator

    from encheck_papers import PairHead, PairHeadLoss, PairHeadTrainer

    class Falling(SentenceEvaluator):
        """The first checkpoint is the best."""

        seen = 0.0

        def __call__(self, *_, **__):
            self.seen -= 1
            return {"score": self.seen}

    made = head()
    before = made.linear.weight.detach().clone()
    data = Dataset.from_dict({"a": TEXTS * 4, "b": TEXTS[::-1] * 4, "label": [1, 0, 0, 0] * 4})
    args = SentenceTransformerTrainingArguments(
        output_dir=str(tmp_path), max_steps=2, per_device_train_batch_size=4, learning_rate=0.01,
        eval_strategy="steps", eval_steps=1, save_strategy="steps", save_steps=1, load_best_model_at_end=True,
        metric_for_best_model="score", report_to=[], use_cpu=True, disable_tqdm=True,
    )  # fmt: skip
    trainer = PairHeadTrainer(
        model=model, args=args, train_dataset=data, loss=PairHeadLoss(model, made), evaluator=Falling()
    )
    trainer.train()
    first, last = (PairHead.load(tmp_path / f"checkpoint-{n}").linear.weight for n in (1, 2))
    assert not np.allclose(first.detach(), before)  # it trains
    assert not np.allclose(first.detach(), last.detach())
    assert (made.linear.weight == first).all()
    trainer.save_model(str(tmp_path / "end"))
    assert (PairHead.load(tmp_path / "end").linear.weight == first).all()
    assert json.loads((tmp_path / "end" / FOLDER / "config.json").read_text())["dimension"] == 16
