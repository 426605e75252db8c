"""Parts of labelled pairs, finished folders, and the loop that trains an encoder with a head."""

import importlib.util
import json
import re
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import tiny

import encheck
from encheck.datasets.dataset import Dataset
from encheck.encoders.load import detect_adapter, find_or_make_model_config, load_model
from encheck.encoders.model_config import Device
from encheck.encoders.models_file import packaged_models_path, read_models
from encheck.errors import DataError, UsageError
from encheck.ids import ItemId
from encheck.scoring.pairs import SentencePair
from encheck_papers import PairHead, PairHeadLoss, with_span_pooling
from encheck_papers.fit import BiEncoder, Choices, CrossEncoder, Figures, _trained, encoder_to_train, fit_once
from encheck_papers.parts import joined, parts_of
from encheck_papers.runs import finished, write_results, writing

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "recipes"))
import train_cross_encoder
import train_head

NEEDS_DATASETS = pytest.mark.skipif(not importlib.util.find_spec("datasets"), reason="the trainer needs datasets")


def data(**parts):
    """So many pairs of each part, two a cluster, every second a paraphrase."""
    names = [split for split, n in parts.items() for _ in range(n)]
    pairs = [
        SentencePair(ItemId.of("own", str(i), "pair", 1, "", 0), f"a {i}", f"b {i}", i % 2, f"c{i // 2}", split)
        for i, split in enumerate(names)
    ]
    return Dataset("own", tuple(pairs), (), "", len(pairs))


def test_the_parts_are_those_of_the_data():
    parts = parts_of(data(train=20, validation=8, test=6))
    assert parts.sizes == {"train": 20, "dev": 8, "test": 6}
    assert parts.told == {"train": "train", "dev": "validation", "test": "test"}


def test_what_is_lacking_is_held_out_by_whole_clusters():
    parts = parts_of(data(train=200))
    assert parts.sizes == {"train": 144, "dev": 16, "test": 40}
    clusters = [{p.cluster for p in part} for part in (parts.train, parts.dev, parts.test)]
    assert not clusters[0] & clusters[1]
    assert not (clusters[0] | clusters[1]) & clusters[2]
    assert parts.told == {"train": "the rest of train", "dev": "10% of the rest of train", "test": "20% of train"}
    again = parts_of(replace(data(train=200), pairs=data(train=200).pairs[::-1]))
    assert {p.first for p in again.test} == {p.first for p in parts.test}


def test_a_validation_part_is_trained_on_where_there_is_no_other():
    parts = parts_of(data(validation=100, test=20))
    assert parts.sizes == {"train": 90, "dev": 10, "test": 20}
    assert parts.told == {"train": "the rest of validation", "dev": "10% of validation", "test": "test"}


def test_pairs_without_a_label_take_no_part():
    whole = data(train=40, validation=8, test=8)
    debatable = replace(whole, pairs=(replace(whole.pairs[0], label=None), *whole.pairs[1:]))
    assert parts_of(debatable).sizes["train"] == 39


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (data(test=20), "no labelled pairs to train on: its parts are test"),
        (data(train=2, test=4), "the dev part is empty. Remedy: data with more clusters"),
        (data(train=10, validation=1, test=4), "the dev part has pairs of label 0 alone"),
        (replace(data(train=9), pairs=()), "no labelled pairs to train on: its parts are none"),
    ],
)
def test_parts_that_cannot_be_trained_on_are_refused(made, said):
    with pytest.raises(DataError, match=said):
        parts_of(made)


def test_a_sample_is_of_the_training_part_alone_and_has_a_seed():
    parts = parts_of(data(train=50, validation=8, test=6))
    few = parts.sampled(10, seed=1)
    assert few.sizes == {"train": 10, "dev": 8, "test": 6}
    assert few.train == parts.sampled(10, seed=1).train != parts.sampled(10, seed=2).train
    assert few.told["train"] == "train, 10 of 50 pairs"
    assert few.fingerprint != parts.fingerprint
    assert parts.sampled(99, seed=1) is parts
    with pytest.raises(UsageError, match="should be at least 1"):
        parts.sampled(0, seed=1)
    with pytest.raises(DataError, match="alone, but a classifier needs two"):
        parts.sampled(1, seed=1)


def test_several_data_sets_are_trained_on_together_and_one_has_the_development_part():
    first, second = parts_of(data(train=20, validation=8, test=6)), parts_of(replace(data(train=60), name="other"))
    both = joined([first, second], dev="other")
    assert both.sizes == {"train": 20 + second.sizes["train"], "dev": second.sizes["dev"], "test": 6 + 12}
    assert both.told["dev"] == "other: 10% of the rest of train"
    assert joined([first, second]).dev == first.dev
    with pytest.raises(UsageError, match="unknown data set 'own2'; did you mean 'own'"):
        joined([first, second], dev="own2")


def test_figures_by_hand():
    said, turned = np.array([1, 1, 0, 0], bool), np.array([1, 0, 0, 1], bool)
    found = Figures.of([1, 0, 1, 0], said, turned)
    assert (found.f1, found.accuracy, found.flips) == (0.5, 0.5, 0.5)
    assert (found.n, found.positives, found.predicted) == (4, 2, 2)
    none = Figures.of([1, 0], np.zeros(2, bool), None)
    assert (none.f1, none.flips) == (0, None)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"epochs": 0}, "epochs is 0"),
        ({"warmup": 1.0}, r"warmup is 1\.0"),
        ({"head_rate": 0.0}, r"head_rate is 0\.0"),
    ],
)
def test_choices_that_cannot_be_are_refused(wrong, said):
    with pytest.raises(UsageError, match=said):
        Choices(**wrong)


def test_a_training_that_was_cut_off_is_done_again(tmp_path):
    folder = tmp_path / "it"
    (tmp_path / "it.unfinished").mkdir()
    (tmp_path / "it.unfinished/half").touch()
    assert finished(folder, {"seed": 1}) is None
    with writing(folder) as unfinished:
        assert not (unfinished / "half").exists()
        write_results(unfinished, {"seed": 1}, {"f1": 0.5})
    assert finished(folder, {"seed": 1}) == {"settings": {"seed": 1}, "f1": 0.5}
    assert [p.name for p in tmp_path.iterdir()] == ["it"]


def test_a_folder_of_something_else_is_no_finished_training(tmp_path):
    with writing(tmp_path / "it") as unfinished:
        write_results(unfinished, {"seed": 1, "rate": 0.1}, {})
    with pytest.raises(UsageError, match=r"is of another training: rate 0\.1 instead of 0\.2"):
        finished(tmp_path / "it", {"seed": 1, "rate": 0.2})
    (tmp_path / "it/results.json").write_text("{")
    with pytest.raises(UsageError, match=r"is not JSON.*to train again"):
        finished(tmp_path / "it", {})
    with pytest.raises(UsageError, match=r"has no results\.json: it is no finished training"):
        finished(tmp_path, {})


@NEEDS_DATASETS
@pytest.mark.filterwarnings("ignore")
def test_what_starts_at_random_has_a_learning_rate_of_its_own(tmp_path):
    model = with_span_pooling(encoder_to_train(tiny.build(tmp_path / "tiny")), sentence_mean=False)
    learner = BiEncoder(model, PairHead(model.get_embedding_dimension()))
    weights = dict(PairHeadLoss(model, learner.head).named_parameters())
    before = {name: one.detach().clone() for name, one in weights.items()}
    parts = parts_of(train_head.load(own_pairs(tmp_path), sample=None))
    learner.fit(parts, choices=Choices(epochs=1, rate=1e-9, head_rate=0.05, bf16=True))
    moved = {name for name, one in weights.items() if (one - before[name]).abs().max() > 1e-4}
    assert moved == {"head.linear.weight", "head.linear.bias", "model.1.attention.weight"}
    kept = []
    model[0].auto_model.encoder.layer[0].output.dense.register_forward_hook(lambda *one: kept.append(one[2].dtype))
    learner.measured(parts.test)
    assert {str(dtype) for dtype in kept} == {"torch.float32"}  # although training steps were in bfloat16


def test_of_a_cross_encoder_the_classifier_starts_at_random(tmp_path):
    from sentence_transformers.cross_encoder.losses import CrossEntropyLoss

    learner = CrossEncoder.of(tiny.build_plain(tmp_path / "plain"))
    names = [name for name, _ in CrossEntropyLoss(learner.model).named_parameters()]
    found = [name.rpartition(".")[2] for name in names if re.search(learner.starts_at_random, name)]
    assert found == ["weight", "bias"]
    parts = parts_of(data(train=20, validation=8, test=6))
    with pytest.raises(UsageError, match=r"no weights that are known to start at random\. Remedy: no --head-rate"):
        _trained(None, "CrossEncoder", learner, learner.model[0].auto_model.bert, parts, Choices(head_rate=0.1))


def test_a_classifier_of_three_classes_gets_a_new_head_of_two(tmp_path):
    from transformers import AutoModelForSequenceClassification

    plain = tiny.build_plain(tmp_path / "plain")
    AutoModelForSequenceClassification.from_pretrained(plain, num_labels=3).save_pretrained(plain)
    learner = CrossEncoder.of(plain)
    parts = parts_of(data(train=20, validation=8, test=6))
    assert learner.measured(parts.test).n == 6
    assert learner.head_parameters == 2 * 16


def test_what_cannot_be_kept_or_is_not_there_is_refused_before_anything_is_trained(tmp_path):
    parts = parts_of(data(train=20, validation=8, test=6))

    settings = {"data": parts.name, "pairs": parts.fingerprint, **Choices().settings}
    with writing(tmp_path / "done") as unfinished:
        write_results(unfinished, settings, {"checkpoint": False})

    def fit(place, **named):
        return fit_once(place, lambda: pytest.fail("made"), parts, choices=Choices(), settings={}, **named)

    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match=r"cannot write into .*/file: Not a directory\. Remedy: another --out"):
        fit(tmp_path / "file/it")
    assert fit(tmp_path / "done", keep_model=False)["checkpoint"] is False
    with pytest.raises(UsageError, match=r"done has results, but no checkpoint\. Remedy: --no-model"):
        fit(tmp_path / "done")


def own_pairs(folder):
    """A file of labelled pairs that a tiny tokenizer knows, as --data takes it."""
    words = (*tiny.WORDS, *"abcdefghij")
    firsts = [f"{words[i % 17]} {words[i % 13]} {i}" for i in range(90)]
    rows = [f"{one},{one if i % 2 else f'{words[i % 11]} {90 + i}'},{i % 2}" for i, one in enumerate(firsts)]
    (folder / "own.csv").write_text("first,second,label\n" + "\n".join(rows) + "\n")
    return f"pairs:{folder}/own.csv"


@NEEDS_DATASETS
@pytest.mark.filterwarnings("ignore")
def test_the_recipe_trains_what_is_not_finished_and_its_checkpoints_decide(tmp_path, capsys):
    base = tiny.build(tmp_path / "tiny")
    own = own_pairs(tmp_path)
    asked = [
        f"--data={own}", "--features=u,v,|u-v|", "--features=|u-v|,u*v", "--seeds=1",
        f"--model={base}", f"--out={tmp_path}/out", "--epochs=2", "--rate=0.03", "--batch=4",
    ]  # fmt: skip
    first = train_head.main(asked)
    folders = sorted(
        p.parent.relative_to(tmp_path / "out").as_posix() for p in (tmp_path / "out").rglob("results.json")
    )
    assert folders == ["pairs/diff+mult-0", "pairs/u+v+diff-0"]
    for folder, one in zip(folders[::-1], first, strict=True):
        model = load_model(find_or_make_model_config(str(tmp_path / "out" / folder), {}), device=Device("cpu"))
        test = parts_of(train_head.load(own, sample=None)).test
        u, v = (model.encode([getattr(p, side) for p in test]) for side in ("first", "second"))
        said, turned = (model.score_vectors(*both) >= model.decision for both in ((u, v), (v, u)))
        assert Figures.of([p.label for p in test], said, turned) == Figures(**one["test"])
        assert 0 < one["training"]["best_step"] <= one["training"]["steps"]
    assert first[1]["test"]["flips"] == 0
    assert all(0 < one["test"]["predicted"] < one["test"]["n"] for one in first)
    written = {p: p.stat().st_mtime_ns for p in (tmp_path / "out").rglob("results.json")}
    assert train_head.main(asked) == json.loads(json.dumps(first))
    assert {p: p.stat().st_mtime_ns for p in written} == written
    assert r"| pairs | (\|u-v\|, u*v) | 1 |" in capsys.readouterr().out
    with pytest.raises(UsageError, match="another training: rate"):
        train_head.main([*asked, "--rate=0.02"])


@NEEDS_DATASETS
@pytest.mark.filterwarnings("ignore")
def test_a_trained_cross_encoder_loads_as_the_entry_and_decides_as_it_was_measured(tmp_path):
    base, own = tiny.build_plain(tmp_path / "plain"), own_pairs(tmp_path)
    asked = [f"--data={own}", "--seeds=2", f"--model={base}", f"--out={tmp_path}/out", "--epochs=2", "--rate=0.01"]
    runs = train_cross_encoder.main(asked)
    best = max(runs, key=lambda run: run["dev"]["f1"])
    folder = tmp_path / "out/best"
    assert folder.resolve().name == f"seed-{best['settings']['seed']}"
    assert detect_adapter(folder)[0] == "cross-encoder"
    entry = replace(read_models(packaged_models_path())["bert-paraphrase"], name=str(folder))
    model = load_model(entry, device=Device("cpu"))
    test = parts_of(train_head.load(own, sample=None)).test
    sides = [p.first for p in test], [p.second for p in test]
    said, turned = (model.score_pairs(*both) >= model.decision for both in (sides, sides[::-1]))
    assert Figures.of([p.label for p in test], said, turned) == Figures(**best["also"]["pairs"])
    assert best["also"]["pairs"] == best["test"]
    assert 0 < best["test"]["predicted"] < best["test"]["n"]
    both = encheck.threshold("jaccard", own, verify=folder, max_false_accepts=0.5, store=tmp_path / "s.sqlite").cascade
    assert both.verifier == folder.resolve().name
    assert 0 < both.calls.value < 1
    assert 0 < both.thresholds.second < 1
    assert train_cross_encoder.main(asked) == json.loads(json.dumps(runs))
    with pytest.raises(UsageError, match="each data set should be there once"):
        train_cross_encoder.main([*asked, f"--data={own}"])
