"""RISE: weights, controls, the reweighted loss, and logits of texts that the discriminator did not see."""

import importlib.util
import json

import numpy as np
import pytest
import tiny

from encheck.errors import ModelError, UsageError
from encheck_papers.cross_fitting import Logits, Sentences, cross_fitted, on_own_training_data
from encheck_papers.discriminator import Discriminator, truncated
from encheck_papers.reweighted_loss import reweighted_rows, weighted_squares
from encheck_papers.reweighting import (
    effective_sample_size,
    human_probability,
    kept_by_filter,
    permuted,
    random_weights,
    uniform,
)


@pytest.fixture
def oracle(shared_data):
    return json.loads((shared_data.parent / "oracles/rise.json").read_text("utf-8"))


def test_weights_are_those_of_the_authors_at_each_temperature(oracle):
    told = oracle["sdi"]
    for temperature, expected in told["p_human_by_temperature"].items():
        assert human_probability(told["logits"], temperature=float(temperature)) == pytest.approx(expected, rel=1e-12)


def test_the_loss_is_that_of_the_authors(oracle):
    torch = pytest.importorskip("torch")
    told = oracle["loss"]
    u, v, labels, weights = (torch.tensor(told[name]) for name in ("u", "v", "labels", "weights_T0_5"))
    cosines = torch.cosine_similarity(u, v)
    assert cosines.tolist() == pytest.approx(told["cosine"], abs=1e-6)
    mean = float(weighted_squares(cosines, labels, weights))
    assert mean == pytest.approx(told["rise_loss_mean_of_weighted"], rel=1e-5)
    plain = weighted_squares(cosines, labels, torch.ones(4))
    assert float(plain) == pytest.approx(told["dino_loss_mean"], rel=1e-5)
    normalised = weighted_squares(cosines, labels, weights, normalise=True)
    assert float(normalised) == pytest.approx(mean * 4 / float(weights.sum()), rel=1e-6)


def test_a_normalised_loss_knows_no_scale_of_the_weights_and_survives_none():
    import torch

    cosines, labels, weights = torch.tensor([0.5, 0.1]), torch.tensor([1.0, 0.0]), torch.tensor([0.2, 0.8])
    whole, half = (float(weighted_squares(cosines, labels, w, normalise=True)) for w in (weights, weights / 2))
    assert whole == pytest.approx(half, rel=1e-6)
    assert float(weighted_squares(cosines, labels, 0 * weights, normalise=True)) == 0


def test_controls_keep_what_they_say_and_nothing_else():
    weights = np.linspace(0.01, 0.99, 50) ** 2
    shuffled, flat = permuted(weights, seed=3), uniform(weights)
    assert sorted(shuffled) == sorted(weights)
    assert not np.array_equal(shuffled, weights)
    assert np.array_equal(shuffled, permuted(weights, seed=3))
    assert effective_sample_size(shuffled) == pytest.approx(effective_sample_size(weights))
    assert set(flat) == {weights.mean()}
    assert effective_sample_size(flat) == pytest.approx(50)
    drawn = random_weights(2_000, seed=0)
    assert abs(drawn.mean() - 0.5) < 0.03
    assert drawn.min() >= 0
    assert drawn.max() < 1


def test_the_filter_drops_the_lowest_tenth_rounded_down():
    weights = permuted(np.arange(19) / 19, seed=0)
    kept = kept_by_filter(weights)
    assert len(kept) == 18
    assert weights.argmin() not in kept
    assert kept_by_filter(weights[:9]).tolist() == list(range(9))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: human_probability([1.0, 2.0]), r"logits have shape \(2,\), but should be"),
        (lambda: human_probability([[1.0, 2.0]], temperature=0), "temperature is 0, but should be a number above 0"),
        (lambda: permuted([-1.0], seed=0), "weights have shape .* none below 0"),
        (lambda: kept_by_filter([1.0], share=1), "share is 1, but should be at least 0 and below 1"),
        (lambda: reweighted_rows(["a"], ["b"], [0.5], [1, 1]), r"have lengths \(1, 1, 1, 2\)"),
        (lambda: reweighted_rows(["a"], ["b"], [5.0], [1]), r"labels lie in \[5, 5\], but should lie in \[-1, 1\]"),
        (lambda: Sentences(("a",), ()), "1 texts have 0 clusters"),
    ],
)
def test_bad_input_is_refused_with_what_is_wrong(call, message):
    with pytest.raises(UsageError, match=message):
        call()


class Recorder:
    """A discriminator that keeps what it saw, and gives the logits (0, length of the text)."""

    def __init__(self):
        self.seen, self.scored = [], []

    def fit(self, human, machine):
        self.seen.append((human, machine))

        def score(texts):
            self.scored.append(tuple(texts))
            return np.array([[0.0, len(text)] for text in texts])

        return score


HUMAN = Sentences(tuple(f"human {i}" for i in range(12)), tuple(f"c{i // 2}" for i in range(12)))
MACHINE = Sentences(tuple(f"machine made {i}" for i in range(12)), tuple(f"c{i // 2}" for i in range(12)))


def test_no_text_and_no_cluster_is_scored_by_a_discriminator_that_saw_it():
    recorder = Recorder()
    human = Sentences((*HUMAN.texts, "twice"), (*HUMAN.clusters, "c0"))
    machine = Sentences((*MACHINE.texts, "twice", "again", "again"), (*MACHINE.clusters, "c5", "c1", "c4"))
    found = cross_fitted(human, machine, recorder.fit, folds=3)
    cluster = dict(zip(human.texts[:-1] + machine.texts[:-3], human.clusters[:-1] + machine.clusters[:-3], strict=True))
    for (people, made), scored in zip(recorder.seen, recorder.scored, strict=True):
        assert not {*people.texts, *made.texts} & {*scored}
        assert not {*people.clusters, *made.clusters} & {cluster[text] for text in scored if text in cluster}
    assert sorted(text for scored in recorder.scored for text in scored) == sorted(human.texts + machine.texts)
    assert found.machine[:, 1].tolist() == [len(text) for text in machine.texts]
    assert (found.folds, found.human.shape) == (3, (13, 2))


def test_folds_by_kind_leave_out_a_kind_and_its_clusters():
    recorder = Recorder()
    kinds = {f"c{i}": i % 3 for i in range(6)}
    assert cross_fitted(HUMAN, MACHINE, recorder.fit, folds=kinds).folds == 3
    left = [{kinds[name] for name in made.clusters} for _, made in recorder.seen]
    assert left == [{1, 2}, {0, 2}, {0, 1}]


def test_machine_strings_that_are_human_too_teach_nothing_but_are_scored():
    recorder = Recorder()
    machine = Sentences((*MACHINE.texts, HUMAN.texts[0]), (*MACHINE.clusters, "c3"))
    found = on_own_training_data(HUMAN, machine, recorder.fit)
    ((_, made),) = recorder.seen
    assert HUMAN.texts[0] not in made.texts
    assert (found.folds, len(found.machine)) == (0, 13)


def test_classes_are_truncated_to_one_size_as_the_authors_do_or_drawn():
    assert truncated([*range(9)], [*range(20, 23)]) == ([0, 1, 2], [20, 21, 22])
    drawn, all_of_them = truncated([*range(90)], [*range(3)], seed=1)
    assert drawn != [0, 1, 2]
    assert (len(drawn), drawn) == (3, sorted(drawn))
    assert all_of_them == [0, 1, 2]


def test_the_auc_of_a_discriminator_counts_ties_one_half():
    human, machine = np.array([[0.0, 2.0], [0.0, 1.0]]), np.array([[0.0, 1.0], [3.0, 1.0]])
    assert Logits(human, machine, 5).auc == pytest.approx(3.5 / 4)


@pytest.mark.parametrize(
    ("human", "machine", "folds", "message"),
    [
        (HUMAN, Sentences((), ()), 2, "12 human and 0 machine-made sentences"),
        (HUMAN, HUMAN, 2, "human and 0 machine-made sentences to learn from, but needs both"),
        (HUMAN, MACHINE, 7, "folds is 7, but should be from 2 to 6, the number of clusters"),
        (HUMAN, MACHINE, {"c0": 0}, r"the cluster 'c1' \(and 4 more\) has no fold"),
        (HUMAN, MACHINE, {f"c{i}": 1 for i in range(6)}, "all clusters are in one fold"),
    ],
)
def test_a_discriminator_that_cannot_learn_says_why(human, machine, folds, message):
    with pytest.raises(UsageError, match=message):
        cross_fitted(human, machine, Recorder().fit, folds=folds)


needs_trainer = pytest.mark.skipif(
    not all(importlib.util.find_spec(name) for name in ("accelerate", "datasets")), reason="needs accelerate, datasets"
)


def cats_and_dogs(count=40):
    """Human sentences speak of cats, machine-made ones of dogs: what a tiny model can learn in seconds."""
    clusters = tuple(f"c{i}" for i in range(count))
    human, machine = (tuple(f"the {x} sings {chr(97 + i % 26)} {i}" for i in range(count)) for x in ("cat", "dog"))
    return Sentences(human, clusters), Sentences(machine, clusters)


@needs_trainer
@pytest.mark.filterwarnings("ignore")
def test_a_discriminator_on_any_backbone_tells_texts_apart_that_it_did_not_see(tmp_path):
    backbone = tiny.build_plain(tmp_path / "plain")
    discriminator = Discriminator(
        str(backbone), epochs=3, learning_rate=0.01, batch_size=8, max_length=16, seed=1, device="cpu"
    )
    human, machine = cats_and_dogs(100)
    is_new = np.arange(100) >= 50
    scored = [side.part(is_new).texts for side in (human, machine)]
    fitted, again = (discriminator.fit(human.part(~is_new), machine.part(~is_new)) for _ in range(2))
    logits = Logits(*(fitted(texts) for texts in scored), folds=2)
    assert logits.auc > 0.9
    assert np.array_equal(logits.human, again(scored[0]))


def test_a_backbone_that_is_not_there_is_named(tmp_path):
    with pytest.raises(ModelError, match=r"the discriminator's backbone .*nothing.* cannot be loaded"):
        Discriminator(str(tmp_path / "nothing")).fit(HUMAN, MACHINE)


def test_too_few_clusters_for_a_development_part_are_refused(tmp_path):
    backbone = tiny.build_plain(tmp_path / "plain")
    one = Sentences(("a", "b"), ("c", "c"))
    with pytest.raises(UsageError, match="learns from 0 sentences and is chosen by 4, but needs some for both"):
        Discriminator(str(backbone)).fit(one, Sentences(("d", "e"), ("c", "c")))


@needs_trainer
@pytest.mark.filterwarnings("ignore")
def test_the_trainer_follows_the_weights(tmp_path):
    """Two pairs of opposite labels: the one that has all the weight decides where the cosine goes."""
    from datasets import Dataset
    from sentence_transformers import (
        SentenceTransformer,
        SentenceTransformerTrainer,
        SentenceTransformerTrainingArguments,
    )

    from encheck_papers import ReweightedCosineLoss

    cosines = []
    for weights in ([1, 0], [0, 1]):
        model = SentenceTransformer(str(tiny.build(tmp_path / f"tiny{weights[0]}")), device="cpu")
        rows = reweighted_rows(["the cat sings"] * 2, ["a red dog"] * 2, [1.0, -1.0], weights)
        args = SentenceTransformerTrainingArguments(
            output_dir=str(tmp_path / "out"), num_train_epochs=8, per_device_train_batch_size=2, learning_rate=0.01,
            report_to=[], use_cpu=True, disable_tqdm=True, save_strategy="no", logging_strategy="no",
        )  # fmt: skip
        loss = ReweightedCosineLoss(model, normalise=True)
        SentenceTransformerTrainer(model=model, args=args, train_dataset=Dataset.from_dict(rows), loss=loss).train()
        first, second = model.encode(["the cat sings", "a red dog"])
        cosines.append(float(first @ second))
    assert cosines[0] > cosines[1] + 0.2


def test_labels_without_weights_are_refused():
    import torch

    from encheck_papers import ReweightedCosineLoss

    loss = ReweightedCosineLoss(lambda features: {"sentence_embedding": features["vectors"]})
    with pytest.raises(ValueError, match=r"labels have shape \(2,\), but should have \[2, 2\]: similarity and weight"):
        loss([{"vectors": torch.eye(2)}] * 2, torch.ones(2))
