"""Behaviour inside a training loop: dev items alone, and a real short run of sentence-transformers' trainer."""

import dataclasses
import importlib.util
import json
import pickle

import numpy as np
import pytest
import tiny

from encheck.datasets.load import load
from encheck.encoders.fake import BagOfWords, Constant, Oracle, Overlap, Random
from encheck.engine.checks import packaged_checks
from encheck.errors import EncoderError, UsageError
from encheck.gating.decision import decide_by_rows
from encheck.gating.gate_rows import pool_rows
from encheck.gating.pairing import compare_cases
from encheck.training import PlannedCases, behaviour, select_dev_part

FEW = ("antonym", "synonym", "retrieval")


def follower(**settings):
    """An evaluator of the figures that any kind of vectors has."""
    from encheck.training import BehaviourEvaluator

    return BehaviourEvaluator(**{"checks": FEW, **settings})


@pytest.fixture(scope="module")
def watcher():
    """An evaluator of everything that a gate may block, whose base is a bag of words."""
    return follower(checks=None, baseline=BagOfWords())


class Narrow(BagOfWords):
    """A bag of words whose vectors share a direction: random pairs are near, and all that is won stays won."""

    def encode(self, texts, *, role=None):
        return np.hstack([super().encode(texts), np.full((len(texts), 1), self.options["shared"], np.float32)])


@pytest.mark.quick
def test_the_oracle_is_perfectly_balanced():
    assert behaviour(Oracle().encode, checks=FEW)["balanced"] == 1


def test_a_bag_of_words_retrieves_badly_and_the_balance_says_so():
    found = behaviour(BagOfWords().encode, checks=FEW)
    assert set(found) == {*FEW, "sensitivity_part", "invariance_part", "retrieval_part", "balanced"}
    assert found["balanced"] < found["synonym"]


def test_one_vector_for_all_texts_is_worth_nothing():
    assert behaviour(Constant().encode, checks=FEW)["balanced"] == 0


def test_a_figure_without_items_has_no_key():
    assert set(behaviour(Oracle().encode, checks="antonym")) == {"antonym", "sensitivity_part"}


def test_every_figure_is_a_finite_number_also_of_a_model_that_broke(watcher):
    sound, broken = watcher(BagOfWords()), watcher(Constant())
    for found in (sound, broken):
        assert all(type(value) is float and np.isfinite(value) for value in found.values())
        assert {"behaviour_jumble_change_low", "behaviour_blocked", "behaviour_score"} <= set(found)
    assert "behaviour_paraphrase_change" in sound


def test_a_checkpoint_that_a_gate_would_block_scores_less_than_any_other_can():
    found = behaviour(Constant().encode, checks="retrieval", baseline=BagOfWords().encode)
    assert (found["score"], found["blocked"], found["certainly_better"]) == (-1, 1, 0)
    assert found["retrieval_change"] == -behaviour(BagOfWords().encode, checks="retrieval")["retrieval"] > -0.1


def test_an_unchanged_model_has_the_score_of_the_base():
    found = behaviour(BagOfWords().encode, checks=FEW, baseline=BagOfWords().encode)
    assert found["balanced"] == behaviour(BagOfWords().encode, checks=FEW)["balanced"]
    changes = {value for name, value in found.items() if "_change" in name}
    assert (found["score"], found["blocked"], found["certainly_better"], changes) == (0, 0, 0, {0})


def test_what_was_not_asked_for_is_neither_encoded_nor_decides():
    """The space of the second collapses for texts that `number` does not need."""
    seen = set()

    def encode(texts):
        seen.update(texts)
        return BagOfWords().encode(texts)

    found = behaviour(encode, checks=["number"], baseline=encode)
    dev = [g for g in load("probes").groups if g.split == "dev"]
    number = [g for g in dev if any(v.relation.startswith("number") for v in g.variants)]
    assert seen == {g.source for g in number} | {v.text for g in number for v in g.variants}
    assert not [name for name in found if not name.startswith(("number", "sensitivity_part"))
                and name not in ("score", "blocked", "certainly_better")]  # fmt: skip


def test_by_default_a_loss_blocks_that_the_score_does_not_count(watcher):
    found = watcher(Narrow(shared=4.0))
    assert found["behaviour_health_room_change_high"] < 0
    assert (found["behaviour_blocked"], found["behaviour_score"]) == (1, -1)
    assert found["behaviour_balanced_change"] > -0.05
    assert behaviour(Narrow(shared=4.0), checks=FEW, baseline=BagOfWords())["blocked"] == 0


def test_a_property_changes_by_what_the_row_of_the_gate_says():
    before, after = BagOfWords(), Narrow(shared=9.0)
    plan = PlannedCases(
        [check for check in packaged_checks() if check.property == "retrieval"], "probes", select_dev_part
    )
    (row,) = decide_by_rows(pool_rows(compare_cases(plan.score_model(before), plan.score_model(after))[0])).rows
    found = behaviour(after, checks="retrieval", baseline=before)
    bounds = [found[f"retrieval_change{end}"] for end in ("", "_low", "_high")]
    assert row.change < 0
    assert bounds == [row.change, row.low, row.high]


def test_a_step_towards_the_oracle_is_certainly_better_and_a_small_one_is_not():
    base = BagOfWords()
    assert behaviour(Oracle(), checks=FEW, baseline=base)["certainly_better"] == 1
    small = behaviour(Narrow(shared=0.3), checks=FEW, baseline=base)
    assert small["certainly_better"] == 0
    assert small["balanced_change_low"] <= small["score"] <= small["balanced_change_high"]


def test_the_first_model_is_the_base_and_what_is_blocked_never_wins(caplog):
    evaluator = follower(checks=["antonym", "jumble"])
    assert evaluator(Oracle())["behaviour_score"] == 0
    assert evaluator(Constant(), steps=20)["behaviour_score"] == -1
    assert "step 20 is blocked: " in caplog.text
    assert evaluator(Oracle())["behaviour_score"] == 0


def test_the_end_says_which_checkpoint_is_best_and_how_certain_that_is():
    evaluator = follower(checks="retrieval", baseline=BagOfWords())
    assert evaluator.summary().startswith("only the base (retrieval_part 0.")
    evaluator(Constant(), steps=10)
    assert evaluator.summary().startswith("every checkpoint is blocked (1 of 1): keep the base (retrieval_part 0.")
    assert evaluator.history[-1].blocked in evaluator.summary()
    evaluator(Random(), steps=20)
    assert evaluator.best is None
    evaluator(Oracle(), steps=30)
    assert evaluator.best.step == 30
    assert "of 3 checkpoints: step 30, retrieval_part 1.0000, +" in evaluator.summary()
    assert "Its interval, which ignores the choice, is above the base" in evaluator.summary()
    assert [one.step for one in evaluator.history] == [0, 10, 20, 30]


def test_a_fine_tune_that_is_worse_than_its_base_is_never_the_best():
    evaluator = follower(checks="retrieval", baseline=BagOfWords())
    assert -1 < evaluator(Narrow(shared=4.0), steps=10)["behaviour_score"] < 0
    assert evaluator.best is None
    assert "no checkpoint is better than the base (retrieval_part 0." in evaluator.summary()


def test_a_best_that_is_not_certainly_better_is_called_so():
    evaluator = follower(checks="retrieval", baseline=Narrow(shared=4.0))
    assert evaluator(BagOfWords(), steps=10)["behaviour_score"] > 0
    assert evaluator.best.step == 10
    assert "It is not certainly better than the base (retrieval_part 0." in evaluator.summary()


def test_no_text_of_the_gate_is_ever_encoded():
    seen = set()

    def encode(texts):
        seen.update(texts)
        return BagOfWords().encode(texts)

    behaviour(encode)
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
        select_dev_part(dataclasses.replace(probes, groups=gate, pairs=()))


@pytest.mark.quick
def test_an_unknown_check_is_named():
    with pytest.raises(UsageError, match="did you mean 'antonym'"):
        behaviour(BagOfWords().encode, checks=("antonyms",))


@pytest.mark.parametrize(
    ("asked", "problem"),
    [
        ({"checks": ["foo"]}, "unknown property 'foo'"),
        ({"checks": []}, "checks='' cannot be read"),
        ({"checks": "antonym or synonym"}, "without retrieval there is no balanced score"),
        ({"checks": ["health"]}, "health: no win rate to choose a checkpoint by. Remedy: add a check that has one: "),
        ({"checks": ["nonobvious"]}, "no gate uses nonobvious"),
        ({"data": "pairs:/nope.csv"}, "/nope.csv does not exist"),
    ],
)
def test_an_evaluator_that_could_choose_no_checkpoint_is_refused_before_training(asked, problem):
    with pytest.raises(UsageError, match=problem):
        follower(**asked)


def test_a_name_is_no_model_in_memory():
    with pytest.raises(UsageError, match=r"baseline is 'sbert', .* Remedy: encheck\.load_model\('sbert'\)"):
        behaviour(Oracle(), baseline="sbert")


def test_checks_without_a_win_rate_are_watched_beside_one_that_has_one():
    evaluator = follower(checks=["jumble", "paraphrase"], baseline=BagOfWords())
    assert evaluator(Random())["behaviour_paraphrase_change"] < 0
    assert evaluator.history[-1].blocked.startswith("paraphrase/probes/1: ")


def test_a_figure_that_a_model_has_no_more_blocks_it():
    evaluator = follower(checks=["jumble", "paraphrase"], baseline=BagOfWords())
    assert "behaviour_paraphrase" not in evaluator(Constant())
    assert evaluator.history[-1].blocked.startswith("paraphrase: the base has a figure, but this model has none")


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
    with pytest.raises(UsageError, match="has no item for sensitivity"):
        follower(data=plain_pairs, checks=["temporal", "synonym", "retrieval"])


@pytest.mark.long
def test_everything_that_a_gate_weighs_has_a_figure_by_default():
    weighed = {c.property for c in packaged_checks() if not c.claim.declared.reported and c.claim.family != "contract"}
    found = behaviour(BagOfWords())
    without_items = {"condition", "contrast", "typo"}  # of the embedded probes
    assert weighed - without_items - {"health"} <= set(found)
    assert {name for name in found if name.startswith("health_")} > {"health_room"}


def test_contrasts_of_queries_choose_checkpoints_too(tmp_path):
    row = {"q1": "hot tea", "q2": "cold tea", "doc1": "tea that is hot", "doc2": "tea that is cold"}
    (tmp_path / "own.jsonl").write_text(json.dumps(row), "utf-8")
    found = behaviour(BagOfWords().encode, data=f"contrast:{tmp_path / 'own.jsonl'}", checks=["contrast"])
    assert found["contrast"] == 1.0


def test_checks_of_one_part_are_led_by_that_part():
    evaluator = follower(checks=["antonym", "jumble"], baseline=BagOfWords())
    found = evaluator(Oracle())
    assert evaluator.primary_metric == "behaviour_score"
    assert found["behaviour_sensitivity_part"] == 1
    assert found["behaviour_score"] == found["behaviour_sensitivity_part_change"] > 0


@pytest.mark.parametrize(
    ("files", "split"),
    [(("train", "dev", "test"), "validation"), (("train", "test"), "test+train"), (("dev",), "validation")],
)
def test_the_model_card_names_the_split_that_was_measured_and_no_path(tmp_path, files, split):
    for name in files:
        rows = [f"{i}\tA man eats {name} {i}.\tMeal {name} {i} is eaten.\t{i % 2}" for i in range(20)]
        (tmp_path / f"{name}.tsv").write_text("\n".join(["id\tsentence1\tsentence2\tlabel", *rows]) + "\n", "utf-8")
    card = follower(data=f"paws:{tmp_path}", checks=["jumble"], seed=7).get_config_dict()
    assert card == {
        "data": "paws", "checks": ["jumble"], "split": split, "seed": 7, "primary_metric": "behaviour_score",
    }  # fmt: skip


def test_the_model_card_of_data_without_splits_says_all(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("first,second,label\nA man eats.,A meal is eaten.,1\nA dog runs.,A cat sits.,0\n", "utf-8")
    card = follower(data=f"pairs:{path}", checks=["jumble"]).get_config_dict()
    assert (card["data"], card["split"]) == ("pairs", "all")


def test_an_evaluator_can_be_pickled_after_an_evaluation():
    from sentence_transformers.base.evaluation import BaseEvaluator

    evaluator = follower(name="other", seed=3)
    first = evaluator(BagOfWords())
    again = pickle.loads(pickle.dumps(evaluator))
    assert isinstance(again, BaseEvaluator)
    assert again(BagOfWords()) == first


@pytest.mark.parametrize(
    ("shape", "problem"),
    [
        (lambda n: (n, 4), "model: the vector of .* contains NaN .* a row of finite numbers, not all zero"),
        (lambda n: (n + 1, 4), r"model: .* returned shape .* a row of finite numbers, not all zero, for each text"),
    ],
)
def test_a_model_that_broke_says_so_and_what_would_help(shape, problem):
    with pytest.raises(EncoderError, match=problem):
        behaviour(lambda texts: np.full(shape(len(texts)), np.nan), checks=("antonym",))


def test_a_model_without_a_part_of_the_score_is_refused_at_its_first_evaluation():
    with pytest.raises(UsageError, match=r"no retrieval_part: some checks cannot measure it"):
        follower(checks="retrieval", baseline=Overlap())


def settings_of(folder, evaluator, **more):
    from sentence_transformers import SentenceTransformerTrainingArguments

    return SentenceTransformerTrainingArguments(
        output_dir=str(folder), max_steps=4, per_device_train_batch_size=8, learning_rate=0.01,
        eval_strategy="steps", eval_steps=2, save_strategy="steps", save_steps=2, load_best_model_at_end=True,
        metric_for_best_model=evaluator.primary_metric, report_to=[], use_cpu=True, disable_tqdm=True, **more,
    )  # fmt: skip


def tiny_model(folder):
    from sentence_transformers import SentenceTransformer

    return SentenceTransformer(str(tiny.build(folder / "tiny")), device="cpu")


def train(folder, evaluator, model, **more):
    """A training of four steps that is of no use; its trainer."""
    from datasets import Dataset
    from sentence_transformers import SentenceTransformerTrainer
    from sentence_transformers.losses import MultipleNegativesRankingLoss

    groups = [g for g in load("probes").groups if g.split == "dev" and not g.is_contrast][:32]
    data = Dataset.from_dict({"anchor": [g.source for g in groups], "positive": [g.paraphrase for g in groups]})
    trainer = SentenceTransformerTrainer(
        model=model, args=settings_of(folder, evaluator, **more), train_dataset=data, evaluator=evaluator,
        loss=MultipleNegativesRankingLoss(model), callbacks=[evaluator.callback()],
    )  # fmt: skip
    trainer.train()
    return trainer


@pytest.mark.skipif(not importlib.util.find_spec("accelerate"), reason="training arguments need accelerate")
@pytest.mark.parametrize("loads_best", [True, False])
def test_the_model_before_training_is_kept_and_the_best_until_a_checkpoint_scores_more(tmp_path, loads_best):
    from sentence_transformers import SentenceTransformer
    from transformers import TrainerState

    evaluator, model, state = follower(checks="retrieval"), tiny_model(tmp_path), TrainerState()
    settings = settings_of(tmp_path / "out", evaluator)
    settings.load_best_model_at_end = loads_best
    evaluator.callback().on_train_begin(settings, state, None, model=model)
    assert state.best_metric == (0 if loads_best else None)
    assert state.log_history[0]["step"] == state.log_history[0]["eval_behaviour_score"] == 0
    kept = SentenceTransformer(str(tmp_path / "out" / "before_training"), device="cpu")
    assert (kept.encode("a dog sings") == model.encode("a dog sings")).all()
    assert [one.step for one in evaluator.history] == [0]


def test_a_model_with_code_of_its_own_is_the_base_until_its_weights_change(tmp_path):
    from sentence_transformers import SentenceTransformer

    class Own(SentenceTransformer):
        """May compute anything."""

    evaluator, model = follower(checks="antonym"), Own(str(tiny.build(tmp_path)), device="cpu")
    evaluator(model, steps=0)
    evaluator(model, steps=0)
    next(model.parameters()).data += 1
    evaluator(model, steps=2)
    assert [one.step for one in evaluator.history] == [0, 2]


@pytest.mark.skipif(not importlib.util.find_spec("accelerate"), reason="training arguments need accelerate")
def test_a_training_that_resumes_needs_its_base(tmp_path):
    from transformers import TrainerState

    evaluator = follower(checks="retrieval")
    settings = settings_of(tmp_path / "out", evaluator)
    with pytest.raises(UsageError, match=r"resumes at step 8, but .*SentenceTransformer\('.*before_training'\)"):
        evaluator.callback().on_train_begin(settings, TrainerState(global_step=8), None, model=Oracle())


trains = pytest.mark.skipif(not importlib.util.find_spec("datasets"), reason="the trainer needs datasets")


@trains
@pytest.mark.long
@pytest.mark.filterwarnings("ignore")
def test_the_trainer_ends_with_the_base_where_no_checkpoint_is_better(tmp_path, caplog):
    evaluator, model = follower(checks="retrieval"), tiny_model(tmp_path)
    before = model.encode("a dog sings")
    trainer = train(tmp_path / "out", evaluator, model, eval_on_start=True)
    seen = [e["eval_behaviour_score"] for e in trainer.state.log_history if "eval_behaviour_score" in e]
    assert len(seen) == 3
    assert seen[0] == 0 >= max(seen)
    assert trainer.state.best_model_checkpoint == str(tmp_path / "out" / "before_training")
    assert (model.encode("a dog sings") == before).all()
    assert "no checkpoint is better than the base (retrieval_part 0." in caplog.text


@trains
@pytest.mark.long
@pytest.mark.filterwarnings("ignore")
def test_the_end_of_a_training_says_where_every_checkpoint_is_blocked(tmp_path, caplog):
    evaluator = follower(checks="retrieval", baseline=Oracle())
    trainer = train(tmp_path / "out", evaluator, tiny_model(tmp_path), eval_on_start=True)
    assert trainer.state.best_metric == -1
    assert "every checkpoint is blocked (3 of 3): keep the base (retrieval_part 1.0" in caplog.text
