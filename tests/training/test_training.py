"""Behaviour inside a training loop: dev items alone, and a real short run of sentence-transformers' trainer."""

import dataclasses
import importlib.util
import json
import pickle
from types import SimpleNamespace

import numpy as np
import pytest
import tiny

from encheck.datasets.load import load
from encheck.encoders.fake import BagOfWords, Constant, Oracle
from encheck.errors import EncoderError, UsageError
from encheck.training.evaluator import behaviour, default_checks, dev_part

FEW = ("antonym", "synonym", "retrieval")


def in_training(encoder):
    """What an evaluator needs of a sentence-transformers model."""
    return SimpleNamespace(
        encode=lambda texts, **_: encoder.encode(texts),
        model_card_data=SimpleNamespace(set_evaluation_metrics=lambda *_: None),
    )


@pytest.mark.quick
def test_the_oracle_is_perfectly_balanced():
    assert behaviour(Oracle().encode, checks=FEW)["balanced"] == 1


def test_a_bag_of_words_retrieves_badly_and_the_balance_says_so():
    found = behaviour(BagOfWords().encode, checks=FEW)
    assert set(found) == {*FEW, "sensitivity", "invariance", "balanced"}
    assert found["balanced"] < found["synonym"]


def test_one_vector_for_all_texts_is_worth_nothing():
    assert behaviour(Constant().encode, checks=FEW)["balanced"] == 0


def test_without_one_of_the_parts_there_is_no_balance():
    assert np.isnan(behaviour(Oracle().encode, checks=("antonym",))["balanced"])


def test_a_checkpoint_that_a_gate_would_block_has_no_score():
    found = behaviour(Constant().encode, checks=FEW, baseline=BagOfWords().encode)
    assert (found["balanced"], found["blocked"]) == (-np.inf, 1)


def test_an_unchanged_model_keeps_its_score():
    found = behaviour(BagOfWords().encode, checks=FEW, baseline=BagOfWords().encode)
    assert found["balanced"] == behaviour(BagOfWords().encode, checks=FEW)["balanced"]
    assert found["blocked"] == 0


def test_what_is_blocked_never_wins_whichever_part_chooses(caplog):
    from encheck.training.evaluator import BehaviourEvaluator

    evaluator = BehaviourEvaluator(checks=["antonym", "jumble"], baseline=in_training(BagOfWords()))
    found = evaluator(in_training(Constant()), steps=20)
    assert found[evaluator.primary_metric] == -np.inf
    assert evaluator.blocked in caplog.text
    assert caplog.text.count("step 20 has no behaviour_sensitivity: blocked: ") == 1


def test_without_a_baseline_the_first_model_is_the_one_to_keep_up_with():
    from encheck.training.evaluator import BehaviourEvaluator

    evaluator = BehaviourEvaluator(checks=FEW)
    assert evaluator(in_training(BagOfWords()))["behaviour_blocked"] == 0
    assert evaluator(in_training(Constant()))["behaviour_blocked"] == 1
    assert evaluator(in_training(BagOfWords()))["behaviour_blocked"] == 0
    assert evaluator.blocked == ""


def test_no_text_of_the_gate_is_ever_encoded():
    seen = set()

    def encode(texts):
        seen.update(texts)
        return BagOfWords().encode(texts)

    behaviour(encode, checks=default_checks())
    groups = load("probes").groups
    secret = {g.source for g in groups if g.split == "gate"} | {
        v.text for g in groups if g.split == "gate" for v in g.variants
    }
    dev = {g.source for g in groups if g.split == "dev" and not g.is_contrast}
    assert dev <= seen
    assert not secret & seen - {v.text for g in groups if g.split == "dev" for v in g.variants}


def test_data_with_a_gate_split_alone_select_nothing():
    probes = load("probes")
    gate = tuple(g for g in probes.groups if g.split == "gate")
    with pytest.raises(UsageError, match="none in the split dev"):
        dev_part(dataclasses.replace(probes, groups=gate, pairs=()))


@pytest.mark.quick
def test_an_unknown_check_is_named():
    with pytest.raises(UsageError, match="did you mean 'antonym'"):
        behaviour(BagOfWords().encode, checks=("antonyms",))


@pytest.mark.parametrize(
    ("asked", "problem"),
    [
        ({"checks": ["foo"]}, "unknown check 'foo'"),
        ({"checks": "antonym"}, "checks is 'antonym', but should be a list of names"),
        ({"checks": []}, "but should be a list of names"),
        ({"checks": ["antonym", "synonym"]}, "without retrieval there is no balanced score"),
        ({"checks": ["health"]}, "the check 'health' has no win rate to choose by. Those that have one: antonym, "),
        ({"checks": ["paraphrase"]}, "the check 'paraphrase' has no win rate to choose by"),
        ({"checks": ["role_reversal"]}, "unknown check 'role_reversal'. There are: "),
        ({"data": "pairs:/nope.csv"}, "/nope.csv does not exist"),
    ],
)
def test_an_evaluator_that_could_choose_no_checkpoint_is_refused_before_training(asked, problem):
    from encheck.training.evaluator import BehaviourEvaluator

    with pytest.raises(UsageError, match=problem):
        BehaviourEvaluator(**asked)


@pytest.fixture
def plain_pairs(tmp_path):
    """Data with paraphrases and no edit written by hand."""
    pairs = [
        "The cat sat.,A cat was sitting.",
        "Stocks fell on Monday.,On Monday stocks fell.",
        "It rained.,Rain fell.",
    ]
    (tmp_path / "own.csv").write_text("first,second,label\n" + "".join(f"{pair},1\n" for pair in pairs))
    return f"pairs:{tmp_path / 'own.csv'}"


def test_checks_without_an_item_in_the_data_are_refused(plain_pairs):
    with pytest.raises(UsageError, match="has no item for temporal: name other checks, or data"):
        behaviour(BagOfWords().encode, data=plain_pairs, checks=["temporal"])


def test_an_evaluator_without_items_for_a_part_of_its_metric_is_refused(plain_pairs):
    from encheck.training.evaluator import BehaviourEvaluator

    with pytest.raises(UsageError, match="has no item for sensitivity"):
        BehaviourEvaluator(data=plain_pairs, checks=["temporal", "synonym", "retrieval"])


@pytest.mark.long
def test_every_check_that_is_not_refused_gives_a_figure():
    with pytest.raises(UsageError, match="Those that have one: ") as caught:
        behaviour(BagOfWords().encode, checks=["symmetry"])
    offered = str(caught.value).rpartition(": ")[2].split(", ")
    without_items = {"binding", "comparative", "condition", "contrast", "typo"}  # of the embedded probes
    assert set(offered) - without_items <= set(behaviour(BagOfWords().encode, checks=offered))


def test_contrasts_of_queries_choose_checkpoints_too(tmp_path):
    row = {"q1": "hot tea", "q2": "cold tea", "doc1": "tea that is hot", "doc2": "tea that is cold"}
    (tmp_path / "own.jsonl").write_text(json.dumps(row), "utf-8")
    found = behaviour(BagOfWords().encode, data=f"contrast:{tmp_path / 'own.jsonl'}", checks=["contrast"])
    assert found["contrast"] == 1.0


def test_an_unknown_similarity_is_refused_before_anything_is_encoded():
    with pytest.raises(UsageError, match="unknown similarity 'cosinus'; did you mean 'cosine'"):
        behaviour(lambda texts: pytest.fail("encoded"), checks=FEW, similarity="cosinus")


def test_checks_of_one_part_are_led_by_that_part():
    from encheck.training.evaluator import BehaviourEvaluator

    evaluator = BehaviourEvaluator(checks=["antonym", "jumble"])
    assert evaluator.primary_metric == "behaviour_sensitivity"
    measured = evaluator(in_training(Oracle()))
    assert measured[evaluator.primary_metric] == 1


def test_a_later_evaluation_makes_no_variant_again(monkeypatch):
    from encheck.training.evaluator import BehaviourEvaluator

    evaluator = BehaviourEvaluator(checks=FEW)
    first = evaluator(in_training(BagOfWords()))
    monkeypatch.setattr("encheck.items.variants.make", lambda *_, **__: pytest.fail("made again"))
    assert evaluator(in_training(BagOfWords())) == first
    assert evaluator(in_training(Oracle()))["behaviour_balanced"] == 1


@pytest.mark.parametrize(
    ("files", "split"),
    [(("train", "dev", "test"), "validation"), (("train", "test"), "test+train"), (("dev",), "validation")],
)
def test_the_model_card_names_the_split_that_was_measured_and_no_path(tmp_path, files, split):
    from encheck.training.evaluator import BehaviourEvaluator

    for name in files:
        rows = [f"{i}\tA man eats {name} {i}.\tMeal {name} {i} is eaten.\t{i % 2}" for i in range(20)]
        (tmp_path / f"{name}.tsv").write_text("\n".join(["id\tsentence1\tsentence2\tlabel", *rows]) + "\n", "utf-8")
    card = BehaviourEvaluator(data=f"paws:{tmp_path}", checks=["jumble"], seed=7).get_config_dict()
    assert card == {
        "data": "paws", "checks": ["jumble"], "split": split, "seed": 7, "primary_metric": "behaviour_sensitivity",
    }  # fmt: skip


def test_the_model_card_of_data_without_splits_says_all(tmp_path):
    from encheck.training.evaluator import BehaviourEvaluator

    path = tmp_path / "mine.csv"
    path.write_text("first,second,label\nA man eats.,A meal is eaten.,1\nA dog runs.,A cat sits.,0\n", "utf-8")
    card = BehaviourEvaluator(data=f"pairs:{path}", checks=["jumble"]).get_config_dict()
    assert (card["data"], card["split"]) == ("pairs", "all")


def test_an_evaluator_can_be_pickled_after_an_evaluation():
    from sentence_transformers.base.evaluation import BaseEvaluator

    from encheck.training.evaluator import BehaviourEvaluator

    evaluator = BehaviourEvaluator(name="other", checks=FEW, seed=3)
    first = evaluator(in_training(BagOfWords()))
    again = pickle.loads(pickle.dumps(evaluator))
    assert isinstance(again, BaseEvaluator)
    assert again(in_training(BagOfWords())) == first


@pytest.mark.parametrize(
    ("shape", "problem"),
    [
        (
            lambda n: (n, 4),
            "the model in training: the vector of .* holds NaN .* use a complete checkpoint, from before",
        ),
        (
            lambda n: (n + 1, 4),
            r"the model in training: encode\(\) gave shape .* a row of finite numbers for each text",
        ),
    ],
)
def test_a_model_that_broke_says_so_and_what_would_help(shape, problem):
    with pytest.raises(EncoderError, match=problem):
        behaviour(lambda texts: np.full(shape(len(texts)), np.nan), checks=("antonym",))


@pytest.mark.long
@pytest.mark.skipif(not importlib.util.find_spec("datasets"), reason="sentence-transformers' trainer needs datasets")
@pytest.mark.filterwarnings("ignore")
def test_the_trainer_keeps_the_checkpoint_with_the_best_balance(tmp_path):
    from datasets import Dataset
    from sentence_transformers import (
        SentenceTransformer,
        SentenceTransformerTrainer,
        SentenceTransformerTrainingArguments,
    )
    from sentence_transformers.losses import MultipleNegativesRankingLoss

    from encheck.training.evaluator import BehaviourEvaluator

    model = SentenceTransformer(str(tiny.build(tmp_path / "tiny")), device="cpu")
    groups = [g for g in load("probes").groups if g.split == "dev"][:32]
    data = Dataset.from_dict({"anchor": [g.source for g in groups], "positive": [g.paraphrase for g in groups]})
    evaluator = BehaviourEvaluator(checks=FEW)
    args = SentenceTransformerTrainingArguments(
        output_dir=str(tmp_path / "out"), max_steps=4, per_device_train_batch_size=8, learning_rate=0.01,
        eval_strategy="steps", eval_steps=2, save_strategy="steps", save_steps=2, load_best_model_at_end=True,
        metric_for_best_model=evaluator.primary_metric, report_to=[], use_cpu=True, disable_tqdm=True, logging_steps=2,
    )  # fmt: skip
    trainer = SentenceTransformerTrainer(
        model=model, args=args, train_dataset=data, loss=MultipleNegativesRankingLoss(model), evaluator=evaluator
    )
    trainer.train()
    seen = [
        entry["eval_behaviour_balanced"] for entry in trainer.state.log_history if "eval_behaviour_balanced" in entry
    ]
    assert len(seen) == 2
    assert trainer.state.best_metric == max(seen)
    assert behaviour(lambda t: model.encode(t, show_progress_bar=False), checks=FEW)["balanced"] == pytest.approx(
        max(seen)
    )
