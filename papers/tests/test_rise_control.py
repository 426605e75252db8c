"""The recipe that asks whether RISE weighs the right pairs."""

import importlib.util
import json
import sys
from dataclasses import replace
from pathlib import Path
from random import Random

import numpy as np
import pytest
import tiny
from scipy.stats import ttest_rel

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "recipes"))
import rise_control as recipe

from encheck.errors import ModelError, UsageError
from encheck.scoring.pairs import SentencePair

NOUNS = ["garden", "river", "house", "train", "letter", "window", "doctor", "child"]
VERBS = ["stands", "shines", "falls", "moves", "waits", "turns"]


def sentence(i):
    return f"The {NOUNS[i % 8]} near the {NOUNS[i % 7]} slowly {VERBS[i % 6]} on day {i}."


def pairs(count=80, *, split="train", start=0):
    places = range(start, start + count)
    return [
        SentencePair(str(i), sentence(i), sentence(i + 1000), int(i % 3 == 0), f"c{i // 2}", split, score=float(i % 6))
        for i in places
    ]


@pytest.mark.parametrize("kind", recipe.KINDS)
def test_each_kind_of_edit_makes_another_text_and_the_same_one_for_a_seed(kind):
    text, other = sentence(3), sentence(10)
    made, again = (recipe.KINDS[kind](text, other, Random("7")) for _ in range(2))
    assert made == again != text
    words, own = made.split(), text.split()
    assert {
        "synonym": len(words) >= len(own),
        "jumble": sorted(w.strip(".") for w in words) == sorted(w.strip(".") for w in own),
        "drop": len(words) == len(own) - len(own) // 3,
        "splice": words[0] == own[0] and words[-1] == other.split()[-1],
    }[kind]


def test_the_known_share_of_each_kind_is_machine_made_and_nothing_else_changes():
    pool = recipe.pool_of(pairs(), 60, 0.5, seed=1)
    before = {p.first: p for p in pairs()}
    assert len(pool) == 60
    for kind in recipe.KINDS:
        own = [p for p in pool if p.kind == kind]
        assert sum(p.is_machine for p in own) == round(len(own) / 2) > 5
    for one in pool:
        assert one.is_machine == (one.second != before[one.first].second)
        assert one.label == before[one.first].score / 5
    assert pool == recipe.pool_of(pairs(), 60, 0.5, seed=1) != recipe.pool_of(pairs(), 60, 0.5, seed=2)


def test_a_cluster_has_one_kind_so_that_leaving_out_the_kind_leaves_it_out():
    pool = recipe.pool_of(pairs(), 80, 0.5, seed=0)
    kinds = {(p.cluster, p.kind) for p in pool}
    assert len(kinds) == len({p.cluster for p in pool})


def test_no_discriminator_scores_a_kind_or_a_sentence_that_it_saw(monkeypatch):
    seen, scored = [], []

    def fit(_, human, machine):
        seen.append((human, machine))
        return lambda texts: scored.append(texts) or np.array([[0.0, len(text)] for text in texts])

    monkeypatch.setattr(recipe, "folder_to_train", lambda model: model)
    monkeypatch.setattr(recipe.Discriminator, "fit", fit)
    pool = recipe.pool_of(pairs(), 80, 0.5, seed=0)
    logits, _ = recipe.logits_of(pool, settings(), seed=0)
    assert logits[:, 1].tolist() == [len(p.second) for p in pool]
    kind = {p.second: p.kind for p in pool}
    for (human, machine), texts in zip(seen, scored, strict=True):
        (left,) = {kind[text] for text in texts}
        assert {kind[text] for text in machine.texts} == set(recipe.KINDS) - {left}
        assert not {*human.texts, *machine.texts} & {*texts}


def settings(**changed):
    given = {
        "model": "sbert", "pairs": 24, "share": 0.5, "epochs": 1, "learning_rate": 0.05, "batch_size": 8,
        "discriminator_epochs": 1, "discriminator_rate": 0.001, "stsb_pairs": None, "mrpc_pairs": 500,
    }  # fmt: skip
    return recipe.Settings(**given | changed)


def test_arms_differ_in_what_they_say():
    weights = np.linspace(0.05, 0.95, 40)
    arms = {arm: recipe.arm_of(arm, weights, seed=3) for arm in recipe.ARMS}
    assert {arm: len(places) for arm, (places, _) in arms.items() if arm != "filter"} == dict.fromkeys(
        set(recipe.ARMS) - {"filter"}, 40
    )
    assert arms["filter"][0].tolist() == [*range(4, 40)]
    given = {arm: weights for arm, (_, weights) in arms.items()}
    assert sorted(given["permuted"]) == sorted(given["rise"]) == sorted(weights)
    assert given["uniform"].mean() == pytest.approx(weights.mean())
    assert set(given["none"]) == set(given["filter"]) == {1.0}


def test_the_paired_statistic_is_students_t():
    one, two = np.array([80.1, 80.4, 79.9, 80.8, 80.2]), np.array([80.0, 80.1, 80.0, 80.3, 79.9])
    known = ttest_rel(one, two)
    mean, low, high, p = recipe.paired(one - two)
    interval = known.confidence_interval(0.95)
    assert (mean, low, high, p) == pytest.approx(((one - two).mean(), interval.low, interval.high, known.pvalue))


def test_results_of_other_settings_are_not_gone_on_with(tmp_path):
    recipe.held(tmp_path, settings())
    recipe.held(tmp_path, settings())
    with pytest.raises(UsageError, match=r"holds results of other settings \(pairs 24, share 0.5\): name another"):
        recipe.held(tmp_path, settings(pairs=30, share=0.3))
    with pytest.raises(UsageError, match=r"other settings \(data ''\)"):
        recipe.held(tmp_path, settings(data="of another version"))


@pytest.mark.skipif(
    not all(importlib.util.find_spec(name) for name in ("accelerate", "datasets")), reason="needs accelerate, datasets"
)
@pytest.mark.filterwarnings("ignore")
def test_a_run_goes_on_where_it_was_and_reports_the_comparison_that_decides(tmp_path, monkeypatch):
    """The discriminator is tested elsewhere: here its logits are the length of the text."""
    model = str(tiny.build(tmp_path / "tiny"))
    parts = {(name, split): pairs(12, start=200) for name in recipe.SOURCES for split in ("validation", "test")}
    data = recipe.Data({"stsb": pairs(), "mrpc": pairs()}, parts)

    def logits_of(pool, given, seed):
        logits = np.array([[0.0, len(p.second) / 50] for p in pool])
        made = np.array([p.is_machine for p in pool])
        return logits, recipe.Logits(logits[~made], logits[made], 4)

    monkeypatch.setattr(recipe, "logits_of", logits_of)
    for seed in (0, 1):
        recipe.run_seed("stsb", seed, data, settings(model=model), tmp_path / "out", ["rise", "permuted"])
    found = {f: f.read_text() for f in sorted((tmp_path / "out").rglob("*.json"))}
    assert [f.name for f in found] == ["permuted.json", "pool.json", "rise.json"] * 2
    monkeypatch.setattr(recipe, "trained", lambda *_: pytest.fail("trained again"))
    recipe.run_seed("stsb", 0, data, settings(model=model), tmp_path / "out", ["rise", "permuted"])
    arms = [json.loads(text) for f, text in found.items() if f.name != "pool.json"]
    assert all(-1 <= arm["stsb_spearman"] <= 1 and 0 <= arm["mrpc_f1"] <= 1 for arm in arms)
    assert arms[0]["stsb_pearson"] != arms[1]["stsb_pearson"]
    with pytest.raises(UsageError, match="has weights of another pool"):
        recipe.run_seed(
            "stsb", 0, replace(data, train={"stsb": pairs(start=500)}), settings(), tmp_path / "out", ["none"]
        )
    said = "\n".join(recipe.report(tmp_path / "out"))
    differences = [100 * (arms[i + 1]["stsb_spearman"] - arms[i]["stsb_spearman"]) for i in (0, 2)]
    assert f"2 paired seeds: {np.mean(differences):+.2f} (95% interval" in said
    assert "12 of 24 pairs machine-made; seeds: 2" in said
    rows = [line for line in said.splitlines() if line.split()[:2] == ["permuted", "2"]]
    assert f" {np.mean(differences):+.2f} [" in rows[1], "the differences of every figure, after the means"


def test_a_report_says_what_it_lacks(tmp_path):
    assert list(recipe.report(tmp_path)) == [
        "The comparison that decides needs two seeds of rise and permuted on stsb; there are 0."
    ]
    (tmp_path / "stsb/seed0").mkdir(parents=True)
    (tmp_path / "stsb/seed0/rise.json").write_text('{"stsb_sp')
    with pytest.raises(UsageError, match=r"rise\.json is not JSON: .* Remedy: remove it"):
        list(recipe.report(tmp_path))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--report"], "--report: {} holds no results. Remedy: name the --out of a run"),
        ([], "the following arguments are required: --data"),
        (["--data=nowhere", "--model=bag-of-words"], "bag-of-words is no checkpoint to train: its adapter is"),
    ],
)
def test_what_cannot_run_says_so_and_writes_nothing(tmp_path, monkeypatch, capsys, options, said):
    monkeypatch.setattr(sys, "argv", ["rise_control.py", f"--out={tmp_path}/out", *options])
    with pytest.raises((UsageError, ModelError, SystemExit)) as left:
        recipe.main()
    assert said.format(tmp_path / "out") in f"{left.value} {capsys.readouterr().err}"
    assert not (tmp_path / "out").exists()
