"""`encheck threshold` from the command to its page: pairs of a file, two models, every way to end."""

import csv
import json
import re
import sys
from pathlib import Path

import jsonschema
import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
from scipy import stats
from typer.testing import CliRunner

import encheck
from encheck.cli import app
from encheck.errors import DataError, EncoderError, ModelError, UsageError
from encheck.operations.threshold.cascade import evaluate_cascade, split_clusters
from encheck.operations.threshold.rates import Pairs, load_pairs
from encheck.operations.threshold.report import cascade_lines, threshold_lines, threshold_text
from encheck.statistics.false_accepts import Negatives, lowest_threshold, upper_rate_bound
from encheck.system.typed_files import read_typed

SCHEMA = Path(__file__).resolve().parents[3] / "docs/reference/threshold.schema.json"
HOSTILE = "<script>alert(1)</script>"
LABELS = {"1": 60, "0": 310, "": 90}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """cache.csv, and vectors of two models under which a pair's texts meet at a cosine that its label gives."""
    place = tmp_path_factory.mktemp("cache")
    rng, rows = np.random.default_rng(1), []
    texts, vectors = [], {"old": [], "new": []}
    for label, count in LABELS.items():
        for i in range(count):
            pair = [f"{side} {label or 'open'} {i}" for side in ("question", "cached")]
            pair[0] += HOSTILE if label == "0" and i == 309 else ""
            meant = {"1": 0.85, "0": 0.3, "": rng.choice([0.3, 0.85])}[label]
            for name, noise in (("old", 0.05), ("new", 0.02)):
                cosine = np.clip(meant + rng.normal(0, noise), -1, 1)
                vectors[name] += [[1.0, 0.0], [cosine, (1 - cosine**2) ** 0.5]]
            texts += pair
            rows.append({"first": pair[0], "second": pair[1], "label": label, "channel": ("app", "web")[i % 2]})
    for name, some in vectors.items():
        table = pyarrow.table({"text": texts, "vector": some})
        pyarrow.parquet.write_table(table, place / f"{name}.parquet")
    with (place / "cache.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, [*rows[0]])
        writer.writeheader()
        writer.writerows(rows)
    return place


@pytest.fixture(scope="module")
def found(folder):
    """Both models, from their vectors alone."""
    return encheck.threshold(
        f"vectors:{folder}/new.parquet", f"pairs:{folder}/cache.csv", max_false_accepts=0.01, positives=0.2,
        baseline=f"vectors:{folder}/old.parquet@0.7", own=0.5, store=folder / "store.sqlite", report_dir=folder,
    )  # fmt: skip


def test_the_promise_the_matches_and_the_old_number_are_answered(found):
    assert (found.outcome, found.exit_code) == ("kept", 0)
    assert found.promise.threshold == found.kept.threshold < 0.45
    assert found.kept.recall.value == 1
    assert [match.refused for match in found.matches] == [
        "", "the old threshold accepts 0 negatives, but 30 are needed to choose a new one", "",
    ]  # fmt: skip
    assert found.chosen.way == "hits"
    assert found.chosen.point.hits.value == pytest.approx(found.old.hits.value)
    assert found.same_number.threshold == 0.7
    assert (found.own.threshold, found.at, found.why) == (0.5, found.kept.threshold, "keeping 1%")
    assert {one.name for one in found.slices} == {"channel=app", "channel=web"}
    assert [one.name for one in found.rivals] == ["word overlap", "tf-idf"]
    assert found.behaviours == ()  # nobody can score the probes
    assert any("behaviour is unknown" in text for text in found.unsaid)


def test_the_terminal_says_it_in_lines_that_can_be_read(found):
    said = list(threshold_lines(found))
    assert len(said) <= 20
    assert said[0] == f"{threshold_text(found.at)}: lowest threshold of new for 1% false accepts, with 95% confidence"
    assert said[1].startswith("it gives hits ")
    assert said[2].startswith(f"{threshold_text(found.chosen.point.threshold)} [")
    assert "new, the same hits as old: hits " in said[2]
    assert any(line.startswith("old 0.7: hits ") for line in said)
    assert any(line.startswith("for comparison: word overlap") and "chance" in line for line in said)
    assert "cache: 460 pairs in 459 clusters: 60 positive, 310 negative (310 clusters), 90 without a label" in said


def test_the_json_keeps_its_schema_and_holds_all_of_it(found, folder):
    schema = json.loads(SCHEMA.read_text("utf-8"))
    raw = json.loads((folder / "threshold.json").read_text("utf-8"))
    jsonschema.validate(raw, schema, cls=jsonschema.Draft202012Validator)
    assert (raw["outcome"], raw["promise"]["threshold"]) == ("kept", found.promise.threshold)
    assert len(raw["sweep"]) == len(found.sweep) > 20
    assert (raw["schema_version"], raw["asked"]["data"]) == (1, [f"pairs:{folder}/cache.csv"])
    assert read_typed(type(found), raw) == found


def test_the_page_opens_with_its_pictures_and_no_text_becomes_code(folder, found, chromium):
    text = (folder / "threshold.html").read_text("utf-8")
    assert HOSTILE not in text
    page, said = chromium.new_page(), []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.goto((folder / "threshold.html").as_uri())
    page.wait_for_selector("html[data-ready]")
    assert page.locator("#sweep svg, #trade svg").count() == 2
    assert page.locator("h1").inner_text() == "encheck threshold: new.parquet (new) in place of old"
    number = threshold_text(found.at)
    assert page.locator(".answer .number-answer").inner_text() == number
    answer = f"Use new at {number}: it keeps false accepts within 1%, with 95% confidence."
    assert page.locator(".answer h2").inner_text() == answer
    assert page.locator(".answer .action").inner_text() == f"Accept the pairs that score {number} or more."
    page.set_viewport_size({"width": 360, "height": 800})
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true })")
    assert page.locator("td").evaluate_all("all => all.filter(one => one.getBoundingClientRect().right > 361)") == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert said == []


def test_a_second_run_is_the_same_to_the_last_digit(folder, found):
    again = encheck.threshold(
        f"vectors:{folder}/new.parquet", f"pairs:{folder}/cache.csv", max_false_accepts=0.01, positives=0.2,
        baseline=(f"vectors:{folder}/old.parquet", 0.7), own=0.5, store=folder / "store.sqlite",
    )  # fmt: skip
    assert list(threshold_lines(again)) == list(threshold_lines(found))


@pytest.fixture
def command(folder, monkeypatch):
    monkeypatch.chdir(folder)
    return lambda *args: CliRunner().invoke(app, ["threshold", *args, "--store=store.sqlite", "--report-dir=out"])


OWN = ("vectors:new.parquet", "--data=pairs:cache.csv")


@pytest.mark.parametrize(
    ("args", "code", "said"),
    [
        ((OWN[0], "--data=cache.csv"), 0, ": lowest threshold of new for 1% false accepts"),
        ((*OWN, "--max-false-accepts=0.001"), 10, "2,995 independent negatives without one false accept"),
        (
            ("jaccard", "--data=pairs:cache.csv", "--max-false-accepts=0.05"),
            1,
            "none exists: no threshold of jaccard for 5% false accepts\nfalse accepts are ",
        ),
        ((*OWN, "--baseline=vectors:old.parquet@0.99"), 10, "for the same hits as old, the old threshold accepts "),
        ((*OWN, "--baseline=vectors:old.parquet"), 4, "should end in the old model's threshold"),
        ((*OWN, "--baseline=vectors:gone.parquet@0.5"), 4, "gone.parquet does not exist. Remedy: give its path"),
        ((*OWN, "--max-false-accepts=1"), 4, "--max-false-accepts is 1, but should be a share between 0 and 1"),
        ((*OWN, "--verify="), 4, "unknown model ''"),
        ((*OWN, "--verify=nowhere:same"), 4, "cannot import the adapter 'nowhere:same'"),
        ((*OWN, "--same=luck"), 4, "unknown way to match 'luck'"),
        ((*OWN, "--threshold=nan"), 4, "--threshold is nan, but should be a number"),
        ((OWN[0], "--data=pairs:gone.csv"), 4, "gone.csv does not exist"),
        (("vectors:few.parquet", OWN[1]), 4, "has no vector of 2 of 920 texts"),
    ],
)
def test_every_end_has_its_exit_code_and_one_clear_message(command, folder, args, code, said):
    some = pyarrow.parquet.read_table(folder / "new.parquet").slice(2)
    pyarrow.parquet.write_table(some, folder / "few.parquet")
    done = command(*args)
    assert done.exit_code == code, done.output + done.stderr
    assert said in done.output + done.stderr


@pytest.mark.parametrize("name", ["threshold.html", "threshold.json"])
def test_a_folder_with_files_of_others_is_refused_before_anything_is_measured(tmp_path, name):
    (tmp_path / name).write_text('{"mine": 1}', "utf-8")
    done = CliRunner().invoke(app, ["threshold", "sbert", "--data=pairs:gone.csv", f"--report-dir={tmp_path}"])
    assert done.exit_code == 4
    assert "which `encheck threshold` did not write" in done.output + done.stderr
    assert (tmp_path / name).read_text("utf-8") == '{"mine": 1}'


def scored(folder, positives, negatives, clusters=()):
    """pairs.csv and vectors.parquet of pairs with these cosines; what `encheck threshold` takes for them."""
    pairs = [(1, score) for score in positives] + [(0, score) for score in negatives]
    texts = [(f"question {i}", f"cached {i}") for i in range(len(pairs))]
    named = clusters or range(len(pairs))
    rows = [f"{a},{b},{label},{c}" for (a, b), (label, _), c in zip(texts, pairs, named, strict=True)]
    (folder / "pairs.csv").write_text("\n".join(["first,second,label,cluster", *rows]), "utf-8")
    vectors = [vector for _, score in pairs for vector in ([1.0, 0.0], [score, (1 - score**2) ** 0.5])]
    table = pyarrow.table({"text": [text for pair in texts for text in pair], "vector": vectors})
    pyarrow.parquet.write_table(table, folder / "vectors.parquet")
    return f"vectors:{folder}/vectors.parquet", f"pairs:{folder}/pairs.csv"


def test_what_cannot_keep_a_large_budget_cannot_keep_a_small_one(tmp_path):
    rng = np.random.default_rng(3)
    asked = scored(tmp_path, rng.uniform(0.3, 0.8, 30), rng.uniform(0.35, 0.82, 30))
    found = {b: encheck.threshold(*asked, max_false_accepts=b) for b in (0.2, 0.02)}
    assert {one.outcome for one in found.values()} == {"broken"}
    said = list(threshold_lines(found[0.02]))
    assert said[0] == "none exists: no threshold of vectors for 2% false accepts"
    assert f"AUC {found[0.02].auc.value:.2f} [" in said[1]
    assert found[0.02].auc.value < 0.5
    in_the_way = [line for line in said if line.startswith("negative that scores too high: ")]
    assert len(in_the_way) == 3
    assert re.fullmatch(r"negative that scores too high: 0\.\d{4} 'question (\d+)' and 'cached \1'", in_the_way[0])
    assert found[0.02].in_the_way[0].score >= found[0.02].in_the_way[2].score > found[0.02].strictest.threshold


def test_a_few_negatives_in_many_pairs_of_one_cluster_do_not_show_that_none_exists(tmp_path):
    asked = scored(tmp_path, [0.9] * 40, [0.95] * 40 + [0.1] * 40, [*range(40), *["one"] * 40, *range(40, 80)])
    found = encheck.threshold(*asked, max_false_accepts=0.02)
    assert found.outcome == "undecided"
    assert (found.promise.negatives, found.promise.effective) == (80, 3)


def test_a_threshold_says_which_bound_decides_and_when_it_fails(tmp_path):
    negatives = np.array([0.5] + [0.1] * 298 + [0.2] * 30)  # the last thirty are one cluster
    asked = scored(tmp_path, [0.9] * 40, negatives, [*range(339), *["one"] * 30])
    found = encheck.threshold(*asked, max_false_accepts=0.05, report_dir=tmp_path)
    first, second, *_ = threshold_lines(found)
    condition = "with 95% confidence unless the negatives of large clusters or popular texts score higher"
    assert first.endswith(f" for 5% false accepts, {condition}")
    assert f"it keeps false accepts within 5%, {condition}." in (tmp_path / "threshold.html").read_text("utf-8")
    bound = upper_rate_bound(
        found.promise.allowed, Negatives.of_clusters(negatives, np.array([*range(299), *[299] * 30]))
    )
    assert f"false accepts are at most {100 * bound:.3g}% with 95% confidence; brackets are two-sided" in second
    assert bound < 0.05


def test_a_perfect_model_is_not_told_that_none_exists_where_positives_are_few(tmp_path):
    asked = scored(tmp_path, [0.9] * 8, [0.2] * 80)
    found = encheck.threshold(*asked, max_false_accepts=0.05)
    assert (found.outcome, found.kept.recall.value) == ("kept", 1)


def test_the_printed_threshold_is_the_one_that_was_judged(tmp_path):
    asked = scored(tmp_path, [0.9949] * 40, np.linspace(0.99, 0.9945, 400))
    found = encheck.threshold(*asked, max_false_accepts=0.05, baseline=(asked[0], 0.9944))
    said = list(threshold_lines(found))
    assert float(said[0].partition(":")[0]) == found.promise.threshold
    assert float(said[2].partition(" [")[0]) == found.chosen.threshold.value


def test_equal_scores_are_said_not_to_match_and_rivals_are_interpolated(tmp_path):
    """Word overlap gives all pairs the same score."""
    vectors, data = scored(tmp_path, np.linspace(0.3, 0.9, 80), np.linspace(0, 0.5, 80))
    found = encheck.threshold("jaccard", data, baseline=(vectors, 0.6))
    said = next(threshold_lines(found))
    assert said.startswith(f"{threshold_text(found.at)} [")
    assert "jaccard, 100% hits, the lowest above 25% of vectors: hits 100% [97.7, 100], false accepts 100%" in said
    own = encheck.threshold(vectors, data, max_false_accepts=0.4)
    assert own.rivals[0].false_accepts.value == pytest.approx(own.kept.recall.value)
    assert own.kept.recall.value < 0.95


def test_columns_that_make_no_slices_are_named(tmp_path):
    spec = write(tmp_path / "p.csv", "first,second,label,id,shop\na,b,1,1,x\nc,d,0,2,x\ne,f,0,3,x\n")
    found = encheck.threshold("jaccard", spec, max_false_accepts=0.5)
    assert any("columns without slices" in text and "id (3 values), shop (1 value)" in text for text in found.unsaid)


def test_pairs_without_vectors_are_left_out_where_that_was_asked_for(command, folder):
    some = pyarrow.parquet.read_table(folder / "new.parquet").slice(2)
    pyarrow.parquet.write_table(some, folder / "few.parquet")
    done = command("vectors:few.parquet", OWN[1], "--skip-bad-rows")
    assert done.exit_code == 0
    assert "459 pairs in 459 clusters" in done.output
    assert "pairs left out because a file of vectors lacks their texts: 1" in done.output


def test_a_model_that_computes_is_asked_for_the_probes_too(folder):
    found = encheck.threshold("bag-of-words", f"pairs:{folder}/cache.csv", store=folder / "store.sqlite", own=0.9)
    by_kind = {one.kind: one for one in found.behaviours}
    assert by_kind["antonym"].accepted.value > 0.3 > by_kind["unrelated"].accepted.value
    assert by_kind["paraphrase"].kept
    assert not by_kind["antonym"].kept
    assert all(one.accepted.low <= one.accepted.value <= one.accepted.high for one in found.behaviours)
    assert not any(kind.endswith(("_mirror", "_control", "_kept")) for kind in by_kind)


def test_what_gets_through_is_said_by_kind(folder):
    found = encheck.threshold("bag-of-words", f"pairs:{folder}/cache.csv", store=folder / "store.sqlite")
    said = list(threshold_lines(found))
    (wrong,) = (line for line in said if line.startswith("what gets through at "))
    (right,) = (line for line in said if line.startswith("of what should get through at "))
    assert all(f" {name} " in wrong for name in ("antonyms", "other numbers", "negations", "other names", "unrelated"))
    assert all(f" {name} " in right for name in ("paraphrases", "synonyms"))
    assert len(said) <= 20


VERIFIERS = """
def number(text):
    return int(text.split()[-1].partition("<")[0])
def all_but_a_few(texts_a, texts_b):
    "Sees the negatives, whose names say that they are; it is wrong about one in fifty."
    return [0.9 - 0.8 * (" 0 " in a and number(a) % 50 > 0) for a in texts_a]
def blind(texts_a, texts_b):
    return [0.5] * len(texts_a)
def broken(texts_a, texts_b):
    return [float("nan")] * len(texts_a)
"""


@pytest.fixture
def verified(folder, tmp_path, monkeypatch):
    """`encheck.threshold` of jaccard, which sees nothing, with one of the verifiers behind it."""
    (tmp_path / "verifiers.py").write_text(VERIFIERS, "utf-8")
    monkeypatch.chdir(tmp_path)
    sys.modules.pop("verifiers", None)

    def run(name, **more):
        return encheck.threshold("jaccard", f"pairs:{folder}/cache.csv", verify=f"verifiers:{name}",
                                 store=tmp_path / "store.sqlite", **more)  # fmt: skip

    return run


def test_a_verifier_makes_a_threshold_where_there_is_none_alone(verified, tmp_path):
    found = verified("all_but_a_few", max_false_accepts=0.08, report_dir=tmp_path)
    both = found.cascade
    assert (found.promise.outcome, both.outcome, found.outcome, found.exit_code) == ("broken", "kept", "kept", 0)
    assert both.does.recall.value == 1
    assert 0 < both.does.false_accepts.value < both.upper <= 0.08
    assert both.chosen_on + both.judged_on == 310
    said = list(threshold_lines(found))
    assert said[0].startswith("none alone; with this verifier: ")
    assert re.search(r"then 0\.\d+ of verifiers-all_but_a_few: hits .* [\d,]+ verifier calls per 1,000 pairs$", said[0])
    assert "8% false accepts" not in said[1]
    assert f"judged on {both.judged_on} from other clusters" in said[1]
    assert any(line.startswith("what gets through with the verifier: ") for line in said)
    schema = json.loads(SCHEMA.read_text("utf-8"))
    raw = json.loads((tmp_path / "threshold.json").read_text("utf-8"))
    jsonschema.validate(raw, schema, cls=jsonschema.Draft202012Validator)
    assert raw["cascade"]["calls"]["value"] == both.calls.value
    assert "behind it at" in (tmp_path / "threshold.html").read_text("utf-8")


def test_a_verifier_that_sees_nothing_helps_nothing(verified):
    assert (verified("blind", max_false_accepts=0.08).outcome, verified("blind").exit_code) == ("broken", 1)


def test_negatives_alone_show_no_use_of_a_verifier(tmp_path):
    texts = np.random.default_rng(0).choice(["dog", "sun", "tree", "fish", "sky"], (1_000, 2, 3))
    rows = [f"{' '.join(one)} a{i},{' '.join(other)} b{i},0\n" for i, (one, other) in enumerate(texts)]
    asked = write(tmp_path / "p.csv", "first,second,label\n" + "".join(rows))
    found = encheck.threshold("jaccard", asked, max_false_accepts=0.1, own=0.5, verify="tf-idf", report_dir=tmp_path)
    assert found.cascade.does.accepted >= 30
    assert (found.cascade.upper <= 0.1, found.exit_code) == (True, 10)
    assert "less with 95% confidence, but too few pairs without label 0 are accepted" in list(threshold_lines(found))[1]
    assert "Add pairs with label 1 or without a label" in (tmp_path / "threshold.html").read_text("utf-8")


def test_a_verifier_that_fails_is_named(verified):
    with pytest.raises(ModelError, match=r"broken of .*verifiers.py: 2 of 2 pair scores are NaN"):
        verified("broken")


def test_a_verifier_needs_negatives_in_both_halves(verified, tmp_path):
    spec = write(tmp_path / "p.csv", "first,second,label\na,b,1\nc,d,0\ne,f,1\ng,h,1\n")
    with pytest.raises(DataError, match="one half has no pair with label 0"):
        encheck.threshold("jaccard", spec, verify="overlap", max_false_accepts=0.5)


def test_both_thresholds_are_those_of_the_first_half_whatever_the_other_holds():
    rng = np.random.default_rng(0)
    n = 1_200
    labels = np.tile([1, 0, 0], n // 3).astype(np.int8)
    texts = tuple(f"text {i}" for i in range(n))
    pairs = Pairs("d", texts, tuple(f"{t} too" for t in texts), labels, texts)
    model, second = rng.normal(labels, 1.0), rng.normal(3 * labels, 1.0)
    judged = split_clusters(pairs)[1]
    plain = evaluate_cascade(pairs, model, second.__getitem__, verifier="v", budget=0.05)
    spoilt = second.copy()
    spoilt[judged] = rng.permutation(second[judged])
    other = evaluate_cascade(pairs, model, spoilt.__getitem__, verifier="v", budget=0.05)
    assert other.thresholds == plain.thresholds
    assert other.does.recall.value < plain.does.recall.value - 0.2
    accepted = (model >= plain.thresholds.first) & (second >= plain.thresholds.second)
    assert plain.does.recall.value == pytest.approx(accepted[judged][labels[judged] == 1].mean())
    assert plain.does.false_accepts.value == pytest.approx(accepted[judged][labels[judged] == 0].mean())
    assert plain.calls.value == pytest.approx((model[judged] >= plain.thresholds.first).mean())


def test_a_verifier_that_says_yes_to_all_leaves_what_the_model_does_alone():
    labels, texts = np.tile([1, 0, 0, 0], 300).astype(np.int8), tuple(f"text {i}" for i in range(1_200))
    pairs = Pairs("d", texts, tuple(f"{t} too" for t in texts), labels, texts)
    model, chosen = np.random.default_rng(0).normal(2 * labels, 1.0), split_clusters(pairs)[0]
    found = evaluate_cascade(pairs, model, lambda items: np.ones(len(items)), verifier="v", budget=0.05)
    negatives = Negatives.of_clusters(model[chosen][labels[chosen] == 0], np.arange((labels[chosen] == 0).sum()))
    alone, right = lowest_threshold(negatives, budget=0.05, step=0.001), model[chosen][labels[chosen] == 1]
    assert alone <= found.thresholds.first
    assert (right >= found.thresholds.first).mean() >= (right >= alone).mean() - 0.01
    assert found.calls.value == found.does.hits.value


def test_the_verifier_is_asked_about_no_pair_that_the_model_refuses():
    labels, texts = np.tile([1, 0], 200).astype(np.int8), tuple(f"text {i}" for i in range(400))
    pairs, seen = Pairs("d", texts, tuple(f"{t} too" for t in texts), labels, texts), []
    evaluate_cascade(
        pairs, labels * 0.5, lambda items: seen.extend(items) or np.ones(len(items)), verifier="v", budget=0.2
    )
    assert labels[seen].all()


@pytest.mark.parametrize(("size", "is_uneven"), [(1, False), (10, True)])
def test_a_verifier_that_accepts_a_large_cluster_is_noted(size, is_uneven):
    rng, texts = np.random.default_rng(2), tuple(f"text {i}" for i in range(2_200))
    codes = np.r_[np.repeat(np.arange(200 // size), size), 200 + np.arange(2_000)]
    labels = np.r_[np.zeros(2_000), np.ones(200)].astype(np.int8)
    pairs = Pairs("d", texts, tuple(f"{t} too" for t in texts), labels, tuple(map(str, codes)))
    high = np.where(rng.random(200 // size) < 0.1, 0.8, 0.3)
    second = np.r_[np.repeat(high, size) + 0.01 * rng.random(200), 0.7 * rng.random(1_800), np.full(200, 0.95)]
    found = evaluate_cascade(pairs, np.full(2_200, 0.9), second.__getitem__, verifier="v", budget=0.02)
    assert (found.outcome, found.is_uneven) == ("kept", is_uneven)
    assert ("unless the negatives of large clusters" in "".join(cascade_lines(found, None))) is is_uneven


def test_what_is_said_to_be_kept_is_seldom_broken():
    rng, kept, broken = np.random.default_rng(0), 0, 0
    labels, texts = np.tile([1, 0, 0, 0], 300).astype(np.int8), tuple(f"text {i}" for i in range(1_200))
    pairs = Pairs("d", texts, tuple(f"{t} too" for t in texts), labels, texts)
    for _ in range(40):
        model, second = rng.normal(labels, 1.0), rng.normal(3 * labels, 1.0)
        found = evaluate_cascade(pairs, model, second.__getitem__, verifier="v", budget=0.05)
        if found.outcome == "kept":
            kept += 1
            broken += stats.norm.sf(found.thresholds.first) * stats.norm.sf(found.thresholds.second) > 0.05
    assert kept > 10
    assert broken <= 2


def write(path, text):
    path.write_text(text, "utf-8")
    return f"pairs:{path}"


def test_labels_may_be_missing_and_further_columns_are_slices(tmp_path):
    spec = write(tmp_path / "p.csv", "sentence1,sentence2,label,topic,way\na,b,1,t,app\nc,d,,t,\ne,f,0,u,web\n")
    found = load_pairs(spec)
    assert found.labels.tolist() == [1, -1, 0]
    assert found.clusters == ("t", "t", "u")
    assert dict(found.slices) == {"way": ("app", "", "web")}
    bare = load_pairs(write(tmp_path / "q.jsonl", '{"first": "a", "second": "b"}\n{"first": "c", "second": "d"}\n'))
    assert bare.labels.tolist() == [-1, -1]
    with pytest.raises(DataError, match=r"r.csv:3: the label is 'x', but should be 0 or 1"):
        load_pairs(write(tmp_path / "r.csv", "first,second,label\na,b,1\nc,d,x\n"))
    with pytest.raises(DataError, match="no column 'second'"):
        load_pairs(write(tmp_path / "s.csv", "first,label\na,1\n"))


def test_a_folder_of_parquet_is_read_as_a_run_reads_it(tmp_path):
    rows = [{"first": f"a {i}", "second": f"b {i}", "label": [1, 0, None][i % 3], "shop": "x"} for i in range(9)]
    folder = tmp_path / "log"
    (folder / "day=1").mkdir(parents=True)
    for place, some in (("part-0", rows[:4]), ("day=1/part-1", rows[4:])):
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(some), folder / f"{place}.parquet")
    found = load_pairs(f"pairs:{folder}")
    assert sorted(found.first) == [f"a {i}" for i in range(9)]
    assert sorted(found.labels.tolist()) == [-1] * 3 + [0] * 3 + [1] * 3
    assert dict(found.slices) == {"shop": ("x",) * 9}
    flat = load_pairs(str(folder / "day=1"))
    assert flat.first == tuple(f"a {i}" for i in range(4, 9))
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist([{"first": "a"}]), folder / "part-2.parquet")
    with pytest.raises(DataError, match=r"part-2.parquet:1: no column 'second'"):
        load_pairs(f"pairs:{folder}")
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match="empty holds no Parquet file"):
        load_pairs(f"pairs:{tmp_path}/empty")


def test_a_pair_that_is_repeated_with_its_label_counts_once_and_that_is_said(tmp_path):
    rows = [f"q{i},a{i},{i % 2}" for i in range(20)]
    spec = write(tmp_path / "p.csv", "\n".join(["first,second,label", *rows, *["q0,a0,0"] * 5]) + "\n")
    found = encheck.threshold("jaccard", spec, max_false_accepts=0.5)
    assert (found.data.negatives, found.promise.negatives, found.data.repeated) == (15, 10, 5)
    assert any("repeated pairs with the same label count once: 5 repeats" in line for line in threshold_lines(found))


def test_data_without_negatives_or_of_one_cluster_are_refused(tmp_path, folder):
    spec = write(tmp_path / "p.csv", "first,second,label\na,b,1\nc,d,1\n")
    with pytest.raises(DataError, match="no pair has label 0"):
        encheck.threshold("jaccard", spec)
    rows = [f"question {i},cached {i}" for i in range(50)]
    spec = write(tmp_path / "n.csv", "\n".join(["first,second,label", *(f"{row},0" for row in rows)]))
    with pytest.raises(DataError, match="no pair has label 1 and fewer than 30 have no label"):
        encheck.threshold("jaccard", spec, max_false_accepts=0.1)
    found = encheck.threshold(
        "jaccard", write(tmp_path / "o.csv", "\n".join(["first,second", *rows])), own=0.2, baseline=("jaccard", 0.2)
    )
    assert not any("for comparison" in line for line in threshold_lines(found))
    spec = write(tmp_path / "q.csv", "first,second,label,cluster\na,b,1,x\nc,d,0,x\n")
    with pytest.raises(DataError, match="all 2 pairs belong to one cluster"):
        encheck.threshold("jaccard", spec)
    with pytest.raises(DataError, match="has no pairs of two texts"):
        load_pairs(write(tmp_path / "t.jsonl", '{"query": "a", "document": "b"}\n').replace("pairs:", "retrieval:"))


def test_a_file_that_lacks_a_text_and_a_folder_of_a_baseline_are_refused(tmp_path, folder):
    spec = write(tmp_path / "p.csv", "first,second,label\nnobody,knows,0\nc,d,1\n")
    with pytest.raises(EncoderError, match="has no vector of 4 of 4 texts"):
        encheck.threshold(f"vectors:{folder}/new.parquet", spec)
    (tmp_path / "baseline.json").write_text("{}", "utf-8")
    with pytest.raises(UsageError, match="holds scores of other items"):
        encheck.threshold("jaccard", spec, baseline=f"{tmp_path}@0.5")


def test_negatives_that_were_made_to_be_hard_are_said_to_be(folder):
    found = encheck.threshold("jaccard", "probes", max_false_accepts=0.5, store=folder / "store.sqlite")
    assert "the negatives of probes were written to be hard, but those of production are not" in "\n".join(
        threshold_lines(found)
    )
