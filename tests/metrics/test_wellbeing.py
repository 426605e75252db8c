"""Retrieval, health, contracts and invariance: their items, their figures, and the fakes that break them."""

import itertools
import json
import zlib
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import encheck
from encheck.datasets.load import load
from encheck.encoders.fake import BagOfWords, random_direction
from encheck.encoders.model_config import ModelConfig
from encheck.errors import NothingToMeasure
from encheck.generators.invariance import casing, contraction, spacing
from encheck.items.searches import queries, random_pairs, repeated_texts, shortened_texts
from encheck.items.variants import VariantMaker
from encheck.language.edits.contractions import expand_contractions, find_contraction_edits
from encheck.language.english import English
from encheck.metrics.health import antihub_share, contract_kept, ends_seen, evenness, hubness, room, steadiness
from encheck.running.model_under_test import ModelUnderTest
from encheck.running.service import EncoderService
from encheck.scoring.scores import PairScores, RepeatedScores, Scale
from encheck.scoring.searches import Query, search_texts
from encheck.scoring.text_scorers import vector_similarity_grid, word_overlap_grid
from encheck.similarity import SIMILARITIES, equal_up_to_rounding, jaccard
from encheck.statistics.bootstrap import Resampler
from encheck.store import Store
from encheck.types import Group, Variant, apply_edits

PROBES = load("probes")


def made(generator, text):
    group = Group("g", text, "", "c")
    found = generator(group, level=1, rng=Random(0), english=English())
    return found.text if isinstance(found, Variant) else found


NOT_CONTRACTED = [
    "Why can't people vote?",
    "Why don't people vote?",
    "Won't Ann stay?",
    "I know where you are now.",
    "I know where it is now.",
    "It costs more than it is worth.",
    "Which features doesn't the app have?",
    "Whose dog won't the vet treat?",
    "Which drugs can't a nurse give?",
    "Here I am again.",
    "Parking here is free.",
    "WE ARE OPEN.",
]


@pytest.mark.parametrize(
    ("generator", "text", "expected"),
    [
        (casing, "Ann met Bob.", "ann met bob."),
        (casing, "ann met bob.", "already in lower case"),
        (casing, "İstanbul calls.", "i̇stanbul calls."),
        (spacing, "One word", "One  word "),
        (spacing, "Word", "one word"),
        (contraction, "They do not know that I am late.", "They don't know that I'm late."),
        (contraction, "We can't say that they're wrong.", "We cannot say that they are wrong."),
        (contraction, "That is what it is.", "That's what it is."),
        (contraction, "Didn't they come?", "nothing to contract"),
        (contraction, "Ann's dog's gone.", "nothing to contract"),
        (contraction, "Don't wait.", "Do not wait."),
        (contraction, "I think there is a tram.", "I think there's a tram."),
        *((contraction, text, "nothing to contract") for text in NOT_CONTRACTED),
    ],
)
def test_harmless_edits(generator, text, expected):
    assert made(generator, text) == expected


@pytest.mark.parametrize("generator", [casing, spacing, contraction])
@given(st.text(st.characters(codec="utf-8"), max_size=40))
def test_the_edits_of_a_harmless_variant_make_its_text(generator, text):
    found = generator(Group("g", text, "", "c"), level=1, rng=Random(0), english=English())
    assert isinstance(found, str) or apply_edits(text, found.edits) == found.text != text


@given(st.text(st.sampled_from("donwill't cagrey'IsmEth "), max_size=40))
def test_no_contraction_overlaps_another(text):
    edits = list(find_contraction_edits(text))
    assert all(a.end <= b.start for a, b in itertools.pairwise(edits))
    assert expand_contractions(expand_contractions(text)) == expand_contractions(text)


def asked(*pairs, others=()):
    return [Query(f"q{i}", a, b, tuple(others), f"c{i}") for i, (a, b) in enumerate(pairs)]


def grid_of(table):
    return lambda first, second: np.array([[table.get((a, b), 0.0) for b in second] for a in first])


def test_a_query_finds_the_nearest_text_that_is_neither_itself_nor_right():
    found = search_texts(
        asked(("a", "A"), ("b", "B"), others=("x",)), grid_of({("a", "a"): 1, ("a", "A"): 0.9, ("a", "x"): 0.8})
    )
    assert (found.near[0], found.best[0], found.texts[0]) == (0.9, 0.8, "x")


def test_every_right_answer_of_a_source_is_right():
    found = search_texts(asked(("a", "A"), ("a", "AA"), ("b", "B")), grid_of({("a", "AA"): 0.9, ("a", "B"): 0.1}))
    assert (found.best[0], found.texts[0]) == (0.1, "B")


def test_occurrences_are_those_of_brute_force():
    rng = np.random.default_rng(0)
    pairs = [(f"s{i}", f"t{i}") for i in range(40)]
    rows = {text: i for i, text in enumerate(t for pair in pairs for t in pair)}
    vectors = rng.normal(size=(80, 5)).astype(np.float32)
    found = search_texts(asked(*pairs), vector_similarity_grid(vectors, rows, "cosine"))
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    scores = unit[::2] @ unit[1::2].T
    nearest = np.argsort(-scores, axis=1)[:, :10]
    np.testing.assert_array_equal(found.occurrences, np.bincount(nearest.ravel(), minlength=40))


def test_ties_do_not_hang_on_the_order_of_the_data():
    """Word overlap has many: the tenth nearest text is one of several."""
    group = asked(*((f"the {i} of all", f"a {i} or the {i}") for i in range(60)))
    there, back = search_texts(group, word_overlap_grid), search_texts(group[::-1], word_overlap_grid)
    np.testing.assert_array_equal(there.occurrences, back.occurrences[::-1])
    assert there.texts == back.texts[::-1]


@pytest.mark.parametrize("name", sorted(SIMILARITIES))
def test_a_grid_holds_the_similarity_of_each_pair(name):
    vectors = np.random.default_rng(1).normal(size=(6, 4)).astype(np.float32)
    rows = {str(i): i for i in range(6)}
    grid = vector_similarity_grid(vectors, rows, name)(["0", "1"], ["2", "3", "4"])
    expected = SIMILARITIES[name](vectors[[0, 0, 0, 1, 1, 1]], vectors[[2, 3, 4, 2, 3, 4]]).reshape(2, 3)
    np.testing.assert_allclose(grid, expected, rtol=1e-5)


def test_the_grid_of_word_overlap_is_that_of_jaccard():
    texts = ["a red car", "a blue car", "", "snow!", "A red CAR"]
    grid = word_overlap_grid(texts, texts)
    expected = [jaccard([a] * len(texts), texts) for a in texts]
    np.testing.assert_allclose(grid, expected)


def test_queries_leave_out_what_is_asked_twice():
    items = queries("hard_negative")(PROBES, 1, VariantMaker())
    assert (
        len({(q.source, q.near) for q in items.included})
        == len(items.included)
        == sum(not g.is_contrast for g in PROBES.groups)
    )
    assert all(q.others for q in items.included)


def test_random_pairs_carry_the_split_of_their_cluster():
    assert {p.split for p in random_pairs(PROBES, 1, VariantMaker()).included} == {"dev", "gate"}


def test_a_few_texts_of_different_clusters_are_repeated():
    items = repeated_texts(PROBES, 1, VariantMaker()).included
    assert len({i.cluster for i in items}) == len(items) == 32


def test_the_longest_texts_lose_their_end():
    items = shortened_texts(PROBES, 1, VariantMaker()).included
    assert all(i.first.startswith(i.second) and len(i.first.split()) == len(i.second.split()) + 3 for i in items)


def scores(values, *, scale=None):
    values = np.asarray(values, float)
    clusters = [str(i) for i in range(len(values))]
    return PairScores(values, np.ones(len(values), np.int8), Resampler(clusters), scale or Scale(0.0, 1.0))


def test_health_figures_by_hand():
    counts = scores([0, 0, 0, 4, 1, 1])
    assert evenness(counts).value == pytest.approx(1 - np.abs(np.array([-1, -1, -1, 3, 0, 0])).mean() / 2)
    assert antihub_share(counts).value == 0.5
    assert room(scores([0.2, 0.4])).value == pytest.approx(0.7)
    assert steadiness(scores([0.2, 0.4], scale=Scale(0.5, 1.0))).value == pytest.approx(1 - 0.2)


def test_hubness_is_scipys_skewness():
    from scipy.stats import skew

    values = np.random.default_rng(0).poisson(3, 200).astype(float)
    assert hubness(scores(values)).value == pytest.approx(skew(values))


@pytest.mark.parametrize(
    ("repeated", "cause"),
    [([1, 1, 1, 1], "the same one when that batch is repeated"), ([1, 1, 0, 1], "not deterministic")],
)
def test_contracts_count_what_held_and_say_what_an_answer_depends_on(repeated, cause):
    values, labels = np.array([1.0, 1, 0, 1]), np.ones(4, np.int8)
    kept = RepeatedScores(values, labels, Resampler(list("abcd")), Scale(0.0), repeated=np.array(repeated, float))
    found = contract_kept(kept)
    assert found.value == 0.75
    assert found.params["cause"].startswith("1 of 4 texts get another answer")
    assert cause in found.params["cause"]
    assert ends_seen(scores([1.0, 0.9, 1.0 - 1e-9])).value == pytest.approx(1 / 3)


def test_a_repeated_vector_is_the_same_to_within_rounding():
    a = np.stack([random_direction("a"), random_direction("b")])
    noise = np.random.default_rng(0).normal(size=a.shape).astype(np.float32)
    assert equal_up_to_rounding(a, a + 1e-4 * noise).tolist() == [1, 1]
    assert equal_up_to_rounding(a, a + 0.02 * noise).tolist() == [0, 0]


def test_what_was_encoded_again_is_kept(tmp_path):
    class Counting(BagOfWords):
        calls = 0

        def encode(self, texts, *, role=None):
            Counting.calls += 1
            return super().encode(texts)

    service = EncoderService(ModelUnderTest("m", ModelConfig("m"), Counting()), Store(tmp_path / "s.sqlite"))
    found = [service.encode_again(["a b", "c"]) for _ in range(2)]
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_allclose(found[0], BagOfWords().encode(["a b", "c"]))
    assert Counting.calls == 2  # the longer half, then the shorter one


class Words:
    """Counts of the first words, compared by their dot product: a longer text scores higher with itself."""

    similarity = "dot"

    def __init__(self, most):
        self.most = most

    def fingerprint(self):
        return f"words {self.most}"

    def encode(self, texts, *, role=None):
        found = np.full((len(texts), 512), 1e-3, np.float32)
        for row, text in zip(found, texts, strict=True):
            for word in text.split()[: self.most]:
                row[zlib.crc32(word.encode()) % 512] += 1
        return found


@pytest.mark.parametrize(("most", "verdict"), [(999, "pass"), (5, "fail")])
def test_the_end_of_a_text_is_looked_for_on_the_texts_own_scale(tmp_path, most, verdict):
    rows = [" ".join(f"word{i * j % 97}" for j in range(1, 9 + i % 7)) for i in range(1, 60)]
    (tmp_path / "own.txt").write_text("\n".join(rows), "utf-8")
    found = encheck.run(Words(most), data=f"texts:{tmp_path}/own.txt", checks="contract", no_store=True)
    row = next(row for row in found.rows if row.check == "end_of_a_long_text_is_seen")
    assert (row.verdict, row.value) == (verdict, verdict == "pass")


@pytest.mark.parametrize(("most", "verdict"), [(999, "pass"), (5, "fail")])
def test_the_end_of_a_text_is_looked_for_where_no_random_pairs_give_a_scale(tmp_path, most, verdict):
    (tmp_path / "docs").mkdir()
    for i in range(1, 30):
        text = " ".join(f"word{i * j % 97}" for j in range(1, 9 + i % 7))
        (tmp_path / f"docs/{i}.md").write_text(f"# Page {i}\n\n{text}\n", "utf-8")
    (tmp_path / "log.txt").write_text("".join(f"word{i} page\n" for i in range(30)), "utf-8")
    data, log = f"passages:{tmp_path}/docs", str(tmp_path / "log.txt")
    found = encheck.run(Words(most), data=data, queries=log, checks="contract or retrieval", no_store=True)
    row = next(row for row in found.rows if row.check == "end_of_a_long_text_is_seen")
    assert (row.verdict, row.value) == (verdict, verdict == "pass")


def test_one_sentence_is_no_search():
    with pytest.raises(NothingToMeasure):
        queries()(load("probes").__class__("d", (), (Group("g", "a", "b", "c"),), "", 1), 1, VariantMaker())


MODELS = """
one-off:
  adapter: broken:Forgetful
cut-off:
  adapter: broken:Short
"""
BROKEN = """
import numpy as np
from encheck.encoders.fake import BagOfWords

class Forgetful(BagOfWords):
    "Dropout that was left on."
    rng = np.random.default_rng(0)
    def fingerprint(self):
        return "forgetful"
    def encode(self, texts, *, role=None):
        found = super().encode(texts)
        return found * (self.rng.random(found.shape) > 0.1)

class Short(BagOfWords):
    "Sees the first twelve words."
    def fingerprint(self):
        return "short"
    def encode(self, texts, *, role=None):
        return super().encode([" ".join(t.split()[:12]) for t in texts])
"""


@pytest.mark.parametrize(
    ("model", "failed"),
    [("one-off", "same_text_gets_the_same_answer_twice"), ("cut-off", "end_of_a_long_text_is_seen")],
)
def test_a_contract_that_is_broken_is_found(pytester, tmp_path, monkeypatch, model, failed):
    pytester.makepyfile(broken=BROKEN)
    pytester.makefile(".yaml", models=MODELS)
    monkeypatch.syspath_prepend(str(pytester.path))
    args = ["--pyargs", "encheck.checks", "-m", "contract", f"--encheck-model={model}", "-p", "no:cacheprovider"]
    outcome = pytester.runpytest(*args, f"--encheck-report-dir={tmp_path / 'r'}")
    rows = json.loads((tmp_path / "r" / "results.json").read_text("utf-8"))["checks"]
    assert outcome.ret == 1
    assert {r["check"]: r["verdict"] for r in rows}[failed] == "fail"


def test_the_interval_of_steadiness_is_that_of_deviations_drawn_again():
    values = np.random.default_rng(0).normal(0.3, 0.1, 60)
    found = scores(values)
    weights = found.resampler.weights[:, found.resampler.columns]
    drawn = [1 - np.sqrt(np.average((values - np.average(values, weights=w)) ** 2, weights=w)) for w in weights]
    low, high = np.percentile(drawn, [2.5, 97.5])
    assert (steadiness(found).low, steadiness(found).high) == pytest.approx((low, high), abs=1e-3)


def test_pairs_that_all_score_the_same_are_steady_in_every_replicate():
    found = steadiness(scores([0.25] * 30))
    assert (found.value, found.low, found.high) == (1, 1, 1)


def test_evenness_is_one_less_half_the_mean_distance_from_an_equal_share():
    assert evenness(scores([1, 2, 2, 3])).value == pytest.approx(1 - (0.5 + 0 + 0 + 0.5) / 4 / 2)


def test_the_interval_of_hubness_is_that_of_skewnesses_drawn_again():
    found = scores(np.random.default_rng(0).poisson(3, 60).astype(float))
    weights = found.resampler.weights[:, found.resampler.columns] / 60
    away = found.values - (weights @ found.values)[:, None]
    skewness = (weights * away**3).sum(axis=1) / (weights * away**2).sum(axis=1) ** 1.5
    low, high = np.percentile(skewness, [2.5, 97.5])
    assert (hubness(found).low, hubness(found).high) == pytest.approx((low, high), abs=1e-3)


def test_an_end_is_seen_on_the_calibrated_scale():
    assert ends_seen(scores([0.5, 0.9, 1.0], scale=Scale(0.5, 1.0))).value == pytest.approx(2 / 3)


def padded(texts):
    """Vectors that depend on the longest text beside them, as where an attention mask is ignored."""
    longest = max(map(len, texts))
    return np.array([[text.count(c) + 1 for c in "abcdefghij"] + [longest] for text in texts], np.float32)


def noise(texts):
    """One vector, whatever the text, with noise."""
    return (1 + 1e-5 * np.random.default_rng().normal(size=(len(texts), 64))).astype(np.float32)


@pytest.mark.parametrize(
    ("model", "shared", "cause"),
    [
        (padded, "", "padding affects the model"),
        (padded, "same ", "padding affects the model"),
        (noise, "", "not deterministic"),
    ],
    ids=["padded", "padded, without a scale", "noise"],
)
def test_ten_rows_show_that_a_contract_is_broken(tmp_path, model, shared, cause):
    rows = [f"{shared}{'cab jade'[i % 8 :]}{i} dig{i}x,{shared}fig{i} {'hedge ' * i}b{i},{i % 2}" for i in range(10)]
    (tmp_path / "ten.csv").write_text("sentence1,sentence2,label\n" + "\n".join(rows), "utf-8")
    found = encheck.run(model, data=f"pairs:{tmp_path}/ten.csv", checks="contract", no_store=True)
    row = next(row for row in found.rows if row.check == "same_text_gets_the_same_answer_twice")
    assert (row.verdict, cause in row.reason, found.exit_code) == ("fail", True, 1)


def test_padding_is_found_where_what_is_encoded_again_has_texts_as_long_as_any(tmp_path):
    rows = [f"{'cab jade'[i % 8 :]} {i:02} dig {'hedge ' * (i % 2)}bee" for i in range(90)]
    (tmp_path / "long.txt").write_text("\n".join(rows), "utf-8")
    found = encheck.run(padded, data=f"texts:{tmp_path}/long.txt", checks="contract", no_store=True)
    row = next(row for row in found.rows if row.check == "same_text_gets_the_same_answer_twice")
    assert row.value <= 0.5
    assert (row.verdict, "padding affects the model" in row.reason) == ("fail", True)
