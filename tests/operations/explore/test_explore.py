"""Exploring: parts apart, a search that a seed repeats, intervals that hold in spite of it, budgets, interruptions."""

import json
import re
import shlex
import sys
from dataclasses import replace
from itertools import count
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from encheck.cli import app
from encheck.datasets.dataset import Dataset
from encheck.errors import EncoderError
from encheck.items.variants import VariantMaker
from encheck.language.english import English
from encheck.operations.explore.explore import contrast_texts, explore
from encheck.operations.explore.material import (
    ExploredItem,
    ItemSource,
    Material,
    change_one_choice,
    fill_frames,
    item_texts,
    split_items,
)
from encheck.operations.explore.search import Construction, SearchBudget
from encheck.scoring.crossed import Crossed, CrossedSide
from encheck.types import Group

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "lab" / "recipes"))
import explore_level

TWO = 2


def item(cluster, number, values):
    texts = [f"{what} {number} of {cluster}" for what in ("source", "kept", "changed", "mirror")]
    side = CrossedSide(*texts[:3])
    whole = Crossed(f"own/{number:016x}/number/1/crossed/0", (side, CrossedSide(texts[3], texts[2], texts[1])), cluster)
    return ExploredItem("number", whole.triplets[0], whole, tuple(sorted(values.items())))


def material(rng, *, clusters=240, rate=1 / 3, planted=0.0, spread=True):
    """Items with features, some one value a cluster; and the margin of each by its kept text."""
    items, margins = [], {}
    for number in range(clusters):
        own, base = {"fixed": f"v{rng.integers(3)}"}, rng.beta(2, 4) if spread else rate
        for k in range(TWO):
            values = {**own, "free": f"w{rng.integers(3)}", "third": f"x{rng.integers(2)}"}
            one = item(f"c{number}", TWO * number + k, values)
            items.append(one)
            fails = base + planted * (own["fixed"] == "v0") * (1 - base)
            margins[one.triplet.near] = -0.1 if rng.random() < fails else 0.1
    return Material("number", tuple(items)), margins


def asking(margins, asked=None):
    def ask(pairs):
        if asked is not None:
            asked.append([text for pair in pairs for text in pair])
        return [margins.get(b, 0.0) for _, b in pairs]

    return ask


def explored(seed=0, *, budget=None, asked=None, **kind):
    made, margins = material(np.random.default_rng(seed), **kind)
    return explore([made], asking(margins, asked), seed=seed, budget=budget or SearchBudget())


def misses(found, truth):
    return [row for row in found.rows if not row.low <= truth <= row.high]


def test_intervals_of_what_was_searched_for_hold_together():
    runs = [explore_level.one_run("same", seed, clusters=400) for seed in range(8)]
    assert sum(bool(misses(found, 1 / 3)) for found in runs) <= 2  # P(3 or more) is 0.6% at a level of 5%
    nominated = [row for found in runs for row in found.rows if row.cell.values]
    assert len(nominated) == 40
    assert np.mean([row.searched.rate for row in nominated]) > 0.5  # where they were found, they looked worse
    assert np.mean([row.rate for row in nominated]) == pytest.approx(1 / 3, abs=0.05)


def test_a_planted_construction_is_found_and_confirmed():
    for seed in range(3):
        found = explored(seed, planted=0.8)
        assert any(("fixed", "v0") in row.cell.values for row in found.broken)
        assert not misses(replace_rows(found, ("fixed", "v0")), 1 / 3 + 0.8 * 2 / 3)


def replace_rows(found, value):
    return replace(found, rows=[row for row in found.rows if value in row.cell.values])


def test_where_nothing_fails_enough_clusters_are_unbroken_and_few_are_not_enough():
    many, few = (explored(rate=0.0, spread=False, clusters=n).rows for n in (240, 80))
    assert [(row.cell, row.verdict) for row in many] == [(Construction("number"), "unbroken")]
    assert many[0].n >= 59
    assert [row.verdict for row in few] == ["not enough frames to say"]
    assert few[0].n < 59


def test_search_confirmation_and_reading_share_no_cluster_and_no_text():
    made, margins = material(np.random.default_rng(1), planted=0.8)
    asked = []
    found = explore([made], asking(margins, asked), seed=1, budget=SearchBudget())
    parts = split_items(made.items, seed=1)
    confirmed = [one for row in found.rows for one in row.items]
    read = [one for items in found.to_read.values() for one in items]
    assert read
    clusters = [{one.cluster for one in some} for some in (parts.search, confirmed, read)]
    texts = [item_texts(some) for some in (parts.search, confirmed, read)]
    for sets in (clusters, texts):
        assert not sets[0] & sets[1] and not sets[0] & sets[2] and not sets[1] & sets[2]  # noqa: PT018
    assert not texts[2] & {text for some in asked for text in some}
    assert all(len({one.cluster for one in row.items}) == row.n for row in found.rows)


def test_frames_filled_again_bring_no_text_of_another_part_into_the_search():
    made, margins = material(np.random.default_rng(1), planted=0.8)
    parts = split_items(made.items, seed=1)
    home = parts.search[0]
    stray = replace(home, triplet=replace(home.triplet, source="new"), whole=parts.confirmation[0].whole)
    again = [replace(item(f"{home.cluster}", 9_000 + i, dict(home.values)), whole=home.whole) for i in range(2)]
    again = [stray, *(replace(one, filling=None) for one in again)]
    framed = [replace(one, filling="a filling") for one in made.items]
    asked = []
    found = explore(
        [Material("number", tuple(framed), lambda _items, _turn: again)],
        asking(margins, asked),
        seed=1,
        budget=SearchBudget(),
    )
    assert found.searched[0].filled == 2
    assert "new" not in {text for some in asked for text in some}


def test_the_smallest_budget_of_texts_is_kept():
    assert explored(3, planted=0.8, budget=SearchBudget(texts=100)).asked <= 100


def test_an_item_that_shares_a_text_with_an_earlier_part_is_left_out():
    made, _ = material(np.random.default_rng(1))
    search = split_items(made.items, seed=1).search[0]
    twins = [replace(one, whole=replace(search.whole, cluster=one.cluster)) for one in made.items]
    parts = split_items(twins, seed=1)
    assert parts.search
    assert not parts.confirmation and not parts.reading  # noqa: PT018


@pytest.mark.quick
def test_a_seed_and_a_number_of_texts_give_the_same_search():
    runs = []
    for _ in range(2):
        asked = []
        found = explored(3, planted=0.8, budget=SearchBudget(texts=400), asked=asked)
        runs.append((asked, [(row.cell, row.failed, row.n) for row in found.rows]))
        assert found.asked <= 400
    assert runs[0] == runs[1]
    assert len(runs[0][1]) > 1


def test_a_slow_model_is_asked_for_little_and_still_confirms_what_it_can():
    ticks = count(step=100.0)
    found = explored(2, planted=0.8, budget=SearchBudget(seconds=600, clock=lambda: next(ticks)))
    assert found.rows[0].cell == Construction("number")
    assert not found.searched[0].is_finished
    assert all("budget" in why for _, why in found.unconfirmed)


@pytest.mark.parametrize(("calls", "where"), [(1, "the search"), (0, "the confirmation")])
def test_an_interruption_keeps_what_is_confirmed_and_names_the_rest(calls, where):
    made, margins = material(np.random.default_rng(1), planted=0.8)
    whole, seen = asking(margins), count()
    asks = len(_calls(made, margins))

    def ask(pairs):
        if next(seen) == (calls or asks - 1):
            raise KeyboardInterrupt
        return whole(pairs)

    found = explore([made], ask, seed=1, budget=SearchBudget())
    assert found.stopped == where
    assert bool(found.rows) == bool(found.unconfirmed) == (where == "the confirmation")
    assert all(where in why for _, why in found.unconfirmed)
    assert found.planned == len(found.rows) + len(found.unconfirmed)


def test_a_model_that_fails_keeps_what_is_confirmed_and_nothing_before_that():
    made, margins = material(np.random.default_rng(1), planted=0.8)
    whole = asking(margins)

    def failing(at):
        seen = count()

        def ask(pairs):
            if next(seen) == at:
                raise EncoderError("the server is gone")
            return whole(pairs)

        return ask

    found = explore([made], failing(len(_calls(made, margins)) - 1), seed=1, budget=SearchBudget())
    assert found.rows
    assert (found.stopped, str(found.failure)) == ("the confirmation", "the server is gone")
    with pytest.raises(EncoderError, match="the server is gone"):
        explore([made], failing(1), seed=1, budget=SearchBudget())


def _calls(made, margins):
    asked = []
    explore([made], asking(margins, asked), seed=1, budget=SearchBudget())
    return asked


def test_a_frame_filled_again_is_the_frame_with_another_choice():
    first = next(iter(fill_frames("negation", seed=0, draws=1)))
    other = change_one_choice(first, seed=(1,))
    assert other.frame is first.frame
    assert other.group.source != first.group.source
    assert other.group.cluster.startswith("fresh-negation-")


def test_texts_of_ones_own_are_searched_by_the_edits_of_the_generators():
    texts = ("The parcel weighs 3 kg.", "We sold seven tickets on Friday.", "It rained.")
    groups = tuple(Group(f"own/{i}", text, text, f"cluster {i}") for i, text in enumerate(texts))
    source = ItemSource("number", VariantMaker(0, English()))
    items = source.of(Dataset("texts", (), groups, "", len(groups)), "your texts (texts)")
    values = {item.triplet.source: dict(item.values) for item in items}
    assert {item.cluster for item in items} == {"cluster 0", "cluster 1"}
    assert values["The parcel weighs 3 kg."]["source writes"] == "source number in digits"
    assert values["We sold seven tickets on Friday."]["origin"] == "your texts (texts)"
    assert source.of(Dataset("texts", (), groups[2:], "", 1), "none") == []
    assert "gave this check" in source.why_none["none"] or "gives this check" in source.why_none["none"]


def test_a_group_is_two_queries_and_the_right_document_of_each():
    assert contrast_texts(item("c", 1, {}).whole) == ("source 1 of c", "mirror 1 of c", "kept 1 of c", "changed 1 of c")


@pytest.fixture
def encheck(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return lambda *args: CliRunner().invoke(app, list(args))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--properties", "negatoin"], "did you mean 'negation'?"),
        (["--properties", ","], "name a property with --properties"),
        (["--properties", "condition"], "needs text of your own and --experimental"),
        (["--properties", "number", "--minutes", "0"], "--minutes is 0, but should be more than 0"),
        (["--properties", "number", "--texts", "0"], "--texts is 0, but should be 100 or more for each property"),
        (["--properties", "number", "--out", "worst.csv"], "should end in .jsonl"),
        (["--properties", "number", "--out", "no/worst.jsonl"], "is in no directory that exists"),
        (["--properties", "number", "--data", "texts:empty.txt"], "empty.txt has no texts"),
        (["--properties", "number", "--data", "probes"], "are always searched"),
    ],
)
def test_bad_input_is_one_line_before_any_model_is_looked_for(encheck, given, said):
    Path("empty.txt").write_text("\n")
    outcome = encheck("explore", "--model", "no-such-model", *given)
    assert outcome.exit_code == 4
    assert said in " ".join(outcome.output.split())


def test_what_is_found_runs_as_data_and_can_be_gated(encheck):
    asked = ("--model", "bag-of-words", "--properties", "modality", "--texts", "500", "--out", "the worst.jsonl")
    said = encheck("explore", *asked, "--model-arg", "licence=my own")
    assert said.exit_code == 0
    assert "Where bag-of-words breaks" in said.stdout
    rows = [json.loads(line) for line in Path("the worst.jsonl").read_text("utf-8").splitlines()]
    assert {row["property"] for row in rows} == {"modality"}
    assert len({row["cluster"] for row in rows}) > 10
    (typed,) = re.findall("Then: encheck (.+)", said.output)
    assert typed == "run --model=bag-of-words --model-arg='licence=my own' --data='contrast:the worst.jsonl'"
    ran = encheck(*shlex.split(typed), "-q", "--save-baseline", "old")
    assert ran.exit_code == 0
    assert "must and may" in ran.output
    gated = encheck("gate", "random", "old", "--data", "contrast:the worst.jsonl")
    assert gated.exit_code in (1, 10), gated.output
    assert "INCONCLUSIVE" in gated.output or "must and may" in gated.output
