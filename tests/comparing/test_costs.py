"""Which of several models: the front, what is not separable, and what the command says."""

import json
from dataclasses import replace
from pathlib import Path

import jsonschema
import numpy as np
import pytest
from recorded import run_file
from typer.testing import CliRunner

import encheck
from encheck.cli import app
from encheck.comparing.costs import (
    CheckShare,
    Cost,
    CostComparison,
    CostReport,
    CostRow,
    SearchQuality,
    beaten_by,
    cost_comparison,
    cost_lines,
    inseparable_pairs,
    render_costs,
)
from encheck.engine.results import Results
from encheck.errors import ConfigError, EncoderError, UsageError
from encheck.running.model_under_test import Speed
from encheck.statistics.sharing import Sharing
from encheck.system.typed_files import schema_of


def measured(rate, *, queries=40, clusters=40):
    """The first queries are right."""
    right = (np.arange(queries) < round(rate * queries)).astype(float)
    return SearchQuality(right, True, Sharing.of(np.arange(queries) % clusters))


def apart(rate):
    """The same right queries come in an order of their own: any other figure is within its noise."""
    one = measured(rate)
    return replace(one, values=np.random.default_rng(int(1e6 * rate)).permutation(one.values))


def row(name, quality, *, speed=100.0, dimension=384, price=None):
    return CostRow(name, name, quality, (), Cost(dimension, speed and Speed(speed, 1.0, 2.0, 9, 9), price))


@pytest.mark.parametrize(
    ("one", "other", "beaten"),
    [
        (row("a", measured(0.8)), row("b", measured(1)), "b"),  # certainly worse, same costs
        (row("a", measured(0.5, clusters=1)), row("b", measured(1, clusters=1)), ""),  # all queries ask one document
        (row("a", measured(0.5, queries=19)), row("b", measured(1, queries=19)), ""),  # too few for a verdict
        (row("a", measured(1, queries=19)), row("b", measured(0, queries=19), dimension=128), ""),  # nor is b as good
        (row("a", measured(0, queries=19)), row("b", measured(1, queries=19), dimension=128), "b"),
        (row("a", apart(0.8)), row("b", apart(0.9)), ""),  # not separable, same costs
        (row("a", apart(0.8)), row("b", apart(0.9), dimension=128), "b"),  # as good, smaller
        (row("a", measured(1)), row("b", measured(0.8), dimension=128), ""),  # better, larger
        (row("a", apart(0.8)), row("b", apart(0.8), speed=109.0), ""),  # a tenth is noise
        (row("a", apart(0.8)), row("b", apart(0.8), speed=120.0), "b"),
        (row("a", apart(0.8), price=0.1), row("b", apart(0.8), price=0.02), "b"),
        (row("a", apart(0.8), price=0.1), row("b", apart(0.8)), ""),  # a price that is not known decides nothing
        (row("a", None), row("b", measured(0.1), dimension=128), "b"),
        (row("a", measured(0.1)), row("b", None, dimension=128), ""),  # nobody knows whether it is as good
        (row("a", apart(0.8)), row("b", apart(0.8), speed=None, dimension=128), ""),  # nor whether it is as fast
    ],
)
def test_a_model_is_left_out_where_another_is_better_in_something_and_worse_in_nothing(one, other, beaten):
    assert beaten_by(one, [one, other]) == beaten


def test_a_price_below_zero_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("models.yaml").write_text("paid:\n  adapter: encheck.encoders.fake:Random\n  price: -1\n")
    with pytest.raises(ConfigError, match="price"):
        encheck.compare_costs(["paid", "random"])


def behaving(name, rate, *, beats_chance):
    """A model whose one check is of word order."""
    replicates = rate + 0.01 * np.random.default_rng(0).standard_normal(2_000)
    one = CheckShare("jumble/d/1", "jumble", "order", replicates, beats_chance)
    return CostRow(name, name, None, (one,), Cost(384, None))


def test_what_no_model_does_better_than_guessing_puts_none_on_the_front():
    """Word order .09 and .17 of the items, where guessing wins .50: neither is better, and they are not told apart."""
    guessing = [behaving("a", 0.09, beats_chance=False), behaving("b", 0.17, beats_chance=False)]
    assert beaten_by(guessing[0], guessing) == ""
    assert list(inseparable_pairs(guessing, "behaviour")) == [("a", "b")]
    seeing = behaving("c", 0.8, beats_chance=True)
    assert beaten_by(guessing[1], [*guessing, seeing]) == "c"
    assert list(inseparable_pairs([guessing[1], seeing], "behaviour")) == []


def test_costs_print_the_raw_figures_of_a_run_and_differences_below_guessing_do_not_count(tmp_path):
    from test_matrix import run

    from encheck.comparing.models import read_models

    models = read_models([run(tmp_path / name, wins) for name, wins in (("damaged", 17), ("old", 9))])
    found = cost_comparison(models, {m.label: Cost(384, None) for m in models}, data=None)
    assert [one.behaviour for one in found.rows] == [row.numbers[0] for m in models for row in m.headlines.values()]
    assert found.rows[0].behaviour > found.rows[1].behaviour > 0
    assert (found.front, found.at_chance) == (("damaged", "old"), ("antonym",))
    told = "\n".join(cost_lines(found.report))
    assert "not separable in behaviour: m (damaged) and m (old)" in told
    assert "no evidence of opposites: no model is shown to beat guessing" in told


def test_a_page_advises_against_a_model_that_guesses_though_it_is_small_enough_for_the_front():
    def report(*rows):
        return CostComparison(rows, "", 0, tuple(row.name for row in rows), {}, {}).report

    small, seeing = behaving("small", 0.4, beats_chance=False), behaving("seeing", 0.8, beats_chance=True)
    both = report(small, seeing)
    said = "no evidence for small: it is on the front, but not shown to beat guessing in any property"
    assert said in list(cost_lines(both))
    page = render_costs(both)
    assert "Take seeing" in page
    assert "No model is better than another in one respect and worse in none." in page
    assert "Not shown to beat guessing, and so not advised: small." in page
    assert "Choose among small and other" in render_costs(
        report(small, replace(small, name="other", full_name="other"))
    )


def test_models_within_noise_are_said_to_be():
    rows = [row("a", apart(0.8)), row("b", apart(0.81)), row("c", None)]
    assert list(inseparable_pairs(rows, "quality")) == [("a", "b")]
    assert list(inseparable_pairs([row("a", measured(0.8)), row("b", measured(1))], "quality")) == []
    for clusters in (19, 20):
        few = CostComparison((row("a", measured(1, clusters=clusters)),), "recall@1", 40, ("a",), {}, {}).report
        said = "no difference in recall@1 counts: the queries have fewer than 20 clusters"
        assert (said in list(cost_lines(few))) is (clusters < 20)


@pytest.fixture
def labels(tmp_path):
    words = [f"w{i}" for i in range(40)]
    rng = np.random.default_rng(0)
    rows = [
        {"query": " ".join(d[:3]), "document": " ".join(d)} for d in (rng.permutation(words)[:8] for _ in range(60))
    ]
    path = tmp_path / "labels.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in rows))
    return path


def test_the_command_measures_and_says_which(labels, number_probes, tmp_path, monkeypatch):
    from encheck import api as costing

    monkeypatch.chdir(tmp_path)
    whole = costing.compare_costs
    monkeypatch.setattr(costing, "compare_costs", lambda *a, **how: whole(*a, behaviour=number_probes, **how))
    Path("models.yaml").write_text("paid:\n  adapter: encheck.encoders.fake:Random\n  price: 0.02\n")
    asked = ["compare", "bag-of-words", "paid", "--cost", "--data", f"retrieval:{labels}", "-m", "number"]
    done = CliRunner().invoke(app, [*asked, "--json", "costs.json"])
    assert done.exit_code == 0, done.output
    raw = json.loads(Path("costs.json").read_text())
    jsonschema.validate(raw, schema_of(CostReport))
    first, other = raw["models"]
    assert raw["figure"] == "recall@1"
    assert first["quality"]["low"] > other["quality"]["high"]
    assert (other["price"], first["price"]) == (0.02, None)
    assert first["index_bytes"] == 60 * 4 * 256
    assert first["texts_a_second"] > 0
    assert set(first["properties"]) == set(other["properties"]) != set()
    assert "FRONT: bag-of-words" in done.output
    assert "bag-of-words" in Path("compare.html").read_text("utf-8")


def test_vectors_of_a_file_are_compared_by_what_they_can_be(labels, number_probes, tmp_path):
    rows = [json.loads(line) for line in labels.read_text().splitlines()]
    texts = sorted({text for one in rows for text in one.values()})
    vectors = encheck.load_model("bag-of-words").encode(texts)[:, :64]
    stored = [{"text": text, "vector": vector.tolist()} for text, vector in zip(texts, vectors, strict=True)]
    tmp_path.joinpath("old.jsonl").write_text("\n".join(map(json.dumps, stored)))
    found = encheck.compare_costs(
        ["bag-of-words", "random", f"vectors:{tmp_path / 'old.jsonl'}"], data=f"retrieval:{labels}", checks="number",
        behaviour=number_probes,
    )  # fmt: skip
    old, *computed = sorted(found.report.models, key=lambda one: not one.stored)
    assert (old.texts_a_second, old.behaviour, old.dimension) == (None, None, 64)
    assert old.quality.value > 0.5
    assert [one.behaviour is not None for one in computed] == [True, True]
    told = "\n".join(cost_lines(found.report))
    assert "old.jsonl (old) is a file of vectors: it has no speed; it lacks texts of the checks" in told
    assert "old" in found.front
    assert "old" not in found.beaten.values()


def test_vectors_of_a_file_without_a_search_are_refused(tmp_path):
    tmp_path.joinpath("old.jsonl").write_text('{"text": "a", "vector": [1, 2]}')
    with pytest.raises(UsageError, match="old is a file of vectors: --cost compares it on a search"):
        encheck.compare_costs(["random", f"vectors:{tmp_path / 'old.jsonl'}"])


@pytest.mark.parametrize(
    ("models", "how", "said"),
    [
        (["sbert"], {}, "2 to 10 different models"),
        (["sbert", "sbert"], {}, "2 to 10 different models"),
        (["bag-of-words", "jaccard"], {"data": "labels"}, "jaccard scores pairs and has no index"),
        (["bag-of-words", "oracle"], {"data": "probes"}, "a search with labels"),
    ],
)
def test_wrong_use_is_one_clear_message(labels, models, how, said):
    asked = {name: f"retrieval:{labels}" if value == "labels" else value for name, value in how.items()}
    with pytest.raises(UsageError, match=said):
        encheck.compare_costs(models, **asked)


def test_a_model_that_fails_midway_is_named(monkeypatch):
    ran = run_file({"models": [{"label": "random"}, {"label": "oracle", "error": "it broke"}], "checks": []})
    monkeypatch.setattr("encheck.engine.run.run", lambda *_, **__: Results(ran, {}))
    with pytest.raises(EncoderError, match="oracle: it broke"):
        encheck.compare_costs(["random", "oracle"])


@pytest.mark.parametrize(
    ("options", "said"), [(["--data", "x"], "--data requires --cost"), (["--cost", "--across-seeds"], "")]
)
def test_options_that_do_not_fit_are_refused(options, said):
    done = CliRunner().invoke(app, ["compare", "a", "b", *options])
    assert done.exit_code == 4
    assert said in done.output
