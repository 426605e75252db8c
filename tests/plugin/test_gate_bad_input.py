"""Whatever is wrong with a baseline, a candidate or its items: a message of its own, and never a pass by default."""

import csv
import hashlib
import json
import shutil

import pyarrow
import pyarrow.parquet
import pytest
import scipy.special  # noqa: F401 - pytester forgets modules between runs, and this one loads once
from gate_fakes import CASE, frame, results, scores
from gated import or_gate

from encheck.gating.baseline import model_tables, save_baseline

WORDS = (
    "apple bridge candle dragon engine forest garden hammer island jacket kettle ladder marble needle orange pepper "
    "quartz ribbon saddle teapot umbrella velvet wagon yarn zipper anchor basket carpet dinner engine2"
).split()
MODELS = '''
import itertools
import numpy as np
from encheck.encoders.fake import BagOfWords

class Stops(BagOfWords):
    """Gives up at the two hundredth text."""
    seen = 0

    def encode(self, texts, *, role=None):
        type(self).seen += len(texts)
        if self.seen > 200:
            raise RuntimeError("out of luck")
        return super().encode(texts)

    def batches(self, texts, *, role=None):
        for start in range(0, len(texts), 50):
            rows = np.arange(start, min(start + 50, len(texts)))
            yield rows, self.encode([texts[i] for i in rows])

class LosesRows(BagOfWords):
    def encode(self, texts, *, role=None):
        return super().encode(texts)[: max(1, len(texts) - 1)]

class Forgets(BagOfWords):
    """Another vector each time that it is asked."""
    calls = itertools.count()

    def encode(self, texts, *, role=None):
        found = super().encode(texts)
        return found + np.float32(0.3 * next(self.calls)) * np.abs(found[:, ::-1])

class Cuts(BagOfWords):
    """Reads twelve words."""

    def encode(self, texts, *, role=None):
        return super().encode([" ".join(text.split()[:12]) for text in texts])

class Shifted(BagOfWords):
    """One constant more: every cosine is another one, and their order is kept."""

    def encode(self, texts, *, role=None):
        found = super().encode(texts)
        found = found / np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-9)
        return np.hstack([found, np.full((len(texts), 1), 0.2)]).astype(np.float32)

class Half(Shifted):
    """The same in half precision: another file, and no other checkpoint."""

    def fingerprint(self):
        return "half"

    def encode(self, texts, *, role=None):
        return super().encode(texts).astype(np.float16).astype(np.float32)
'''
NAMES = {
    "half": "Half",
    "stops": "Stops",
    "loses-rows": "LosesRows",
    "forgets": "Forgets",
    "cuts": "Cuts",
    "shifted": "Shifted",
}
NAMES["shifted-2"] = NAMES["shifted"]


@pytest.fixture
def run(pytester, number_probes):
    """Run checks in this process, on probes of numbers unless the arguments name data."""
    pytester.makepyfile(broken_models=MODELS)
    pytester.syspathinsert()
    pytester.makefile(".yaml", models="".join(f"{k}: {{adapter: 'broken_models:{v}'}}\n" for k, v in NAMES.items()))

    def run(model, *args, markers="number"):
        base = ["--pyargs", "encheck.checks", "-p", "no:cacheprovider", f"--encheck-model={model}"]
        data = [] if any("-data=" in arg for arg in args) else [f"--encheck-data={number_probes}"]
        asked = ["--encheck-report-dir=out", *(["-m", markers] if markers else []), *data, *args]
        return or_gate(lambda: pytester.runpytest(*base, *asked), model, asked, forgets=["broken_models"])

    return run


@pytest.fixture(scope="module")
def shelf(tmp_path_factory):
    return tmp_path_factory.mktemp("baselines")


@pytest.fixture
def saved(run, pytester, shelf):
    """The folder of a baseline of word counts on some checks; those on the probes are made once a module."""

    def saved(*, args=(), markers="number"):
        base, kept = pytester.path / "base", shelf / markers
        if kept.exists() and not args:
            return shutil.copytree(kept, base)
        run("bag-of-words", "--encheck-save-baseline=base", *args, markers=markers)
        assert (base / "baseline.json").exists()
        shutil.rmtree(pytester.path / "out")
        return base if args else shutil.copytree(base, kept) and base

    return saved


@pytest.fixture
def plain(pytester):
    """The folder of a baseline of one case, made by hand."""
    save_baseline(
        pytester.path / "plain",
        results(),
        model_tables(results(), {f"{CASE}/m-d-1": frame(*scores())}, "m"),
        model="m",
    )
    return pytester.path / "plain"


def against(folder):
    return f"--encheck-baseline={folder}"


def twins(*names):
    return [f"--encheck-twin={name}" for name in names]


def pairs(path, start, count):
    """A data set of `count` pairs of each label, on words that no pair shares."""
    rows = [("first", "second", "label", "cluster")]
    for i in range(start, start + count):
        one, two, other = (f"{WORDS[(i + k) % len(WORDS)]}{i}" for k in (0, 7, 13))
        rows += [(f"{one} {two}", f"{two} {one} {i}", 1, f"c{i}"), (f"{one} {two}", f"{other} lost", 0, f"c{i}")]
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)
    return f"--encheck-data=pairs:{path}"


def reseal(folder, change):
    """Change a summary and make its checksum hold again."""
    path = folder / "baseline.json"
    found = json.loads(path.read_text("utf-8"))
    change(found)
    found["items_sha256"] = hashlib.sha256((folder / "items.parquet").read_bytes()).hexdigest()
    found.pop("checksum")
    canonical = json.dumps(found, sort_keys=True, ensure_ascii=True, allow_nan=False)
    found["checksum"] = hashlib.sha256(canonical.encode()).hexdigest()
    path.write_text(json.dumps(found), "utf-8")


def test_a_baseline_for_other_items_is_refused_with_what_differs_and_what_to_do(run, saved, pytester):
    folder = saved(args=[pairs(pytester.path / "a.csv", 0, 40)], markers="paraphrase")
    outcome = run("bag-of-words", against(folder), pairs(pytester.path / "b.csv", 20, 40), markers="paraphrase")
    assert outcome.ret == 4
    outcome.stdout.fnmatch_lines(
        ["*on other items than this run's. Of *pairs's fingerprint was *Run on the data of the baseline, or make*"]
    )
    assert "the gate could not be used: " in (pytester.path / "out/summary.md").read_text("utf-8")


def test_a_baseline_of_another_kind_of_model_is_refused_before_anything_is_encoded(run, saved, pytester):
    outcome = run("overlap", against(saved()))
    assert outcome.ret == 4
    outcome.stderr.fnmatch_lines(["*which gives vectors, but 'overlap' gives scores of pairs: make a baseline from*"])
    assert not (pytester.path / "out").exists()


def test_a_twin_with_the_weights_of_the_candidate_is_refused_before_anything_is_encoded(run, saved, pytester):
    folder = saved()
    outcome = run("shifted", against(folder), *twins("random", "cuts", "shifted-2"))
    assert outcome.ret == 4
    outcome.stderr.fnmatch_lines(
        ["*--twin=shifted-2 has the same weights as shifted. A seed replicate is a separate checkpoint*"]
    )
    assert not (pytester.path / "out").exists()


def test_a_twin_that_is_the_candidate_in_half_precision_gives_no_noise(run, saved, contrasts_alone):
    data = f"--encheck-data={contrasts_alone}"
    folder = saved(args=[data], markers="contrast")
    outcome = run("shifted", against(folder), data, *twins("half", "random", "cuts"), markers="contrast")
    assert outcome.ret == 4
    outcome.stdout.fnmatch_lines(["*--twin=half gives the same scores as shifted up to rounding*"])


def test_a_twin_of_another_dimension_is_refused(run, saved):
    outcome = run("random", against(saved()), *twins("shifted", "oracle", "cuts"))
    assert outcome.ret == 4
    outcome.stdout.fnmatch_lines(["*--twin=shifted gives vectors of 257 dimensions, but the baseline's have 256*"])


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (lambda f: (f / "items.parquet").unlink(), "*is an incomplete baseline: it has no items.parquet*"),
        (lambda f: (f / "baseline.json").unlink(), "*is not a baseline: baseline.json cannot be read*"),
        (lambda f: (f / "baseline.json").write_text('{"encheck_ba'), "*or is truncated*"),
        (lambda f: edit(f, seed_noise=3.0), "*was edited by hand: its checksum does not match*"),
        (
            lambda f: edit(f, seed_noise=float("nan")),
            "*baseline.json was not written by --save-baseline*holds NaN, which is not a JSON number*",
        ),
        (lambda f: (f / "items.parquet").write_bytes(b"PAR1"), "*was changed after it was saved*"),
        (
            lambda f: edit(f, encheck_baseline=5),
            "*has baseline version 5, but this encheck reads version 4: make the baseline again, or install*",
        ),
        (lambda f: reseal(f, lambda s: s.pop("cases")), "*has other fields than --save-baseline writes*"),
        (lambda f: rewritten(f), "*has other fields than --save-baseline writes*"),
    ],
    ids=[
        "no-items",
        "no-summary",
        "cut-off",
        "edited",
        "nan",
        "other-items",
        "newer",
        "fields-missing",
        "columns-missing",
    ],
)
def test_a_broken_baseline_is_refused_before_anything_is_encoded(run, plain, spoil, says):
    spoil(plain)
    outcome = run("stops", against(plain))
    assert outcome.ret == 4
    outcome.stderr.fnmatch_lines([says])
    assert "out of luck" not in outcome.stdout.str()


def edit(folder, **fields):
    path = folder / "baseline.json"
    path.write_text(json.dumps(json.loads(path.read_text("utf-8")) | fields), "utf-8")


def rewritten(folder):
    pyarrow.parquet.write_table(pyarrow.table({"case": ["x"]}), folder / "items.parquet")
    reseal(folder, lambda _: None)


@pytest.mark.parametrize(
    ("model", "markers", "says"),
    [
        ("stops", "number", "*A contract is broken: the model cannot encode: *out of luck*"),
        ("loses-rows", "number", "*A contract is broken: the model cannot encode: *"),
        ("nan", "number", "*A contract is broken: the model cannot encode: *NaN*"),
        (
            "forgets",
            "number",
            "*A contract is broken: same text gets the same answer twice on probes: * another answer*",
        ),
        (
            "cuts",
            "number",
            "*A contract is broken: end of a long text is seen on probes: * of 64 texts score the same*",
        ),
    ],
)
def test_a_candidate_that_breaks_midway_or_a_contract_is_blocked(run, saved, model, markers, says):
    outcome = run(model, against(saved(markers=markers)), markers=markers)
    assert outcome.ret == 1
    outcome.stdout.fnmatch_lines(["gate against base (partial*), for a changed model *: BLOCKED", says])


def test_one_vector_for_all_texts_never_passes(run, saved, plain_and_number_probes):
    data = f"--encheck-data={plain_and_number_probes}"
    folder = saved(args=[data], markers="number or health")
    outcome = run("constant", against(folder), data, markers="number or health")
    assert outcome.ret == 1
    outcome.stdout.fnmatch_lines(["*re-index: yes (vectors of 256 dimensions before, of 8 now)*"])  # room cannot block
    assert outcome.outlines[-1].startswith(
        "GATE (partial: vector space, numbers): BLOCKED. A contract is broken: end of a"
    )


def test_ten_items_never_decide_and_say_how_many_would(run, saved, pytester):
    data = pairs(pytester.path / "ten.csv", 0, 5)
    outcome = run("bag-of-words", against(saved(args=[data], markers="paraphrase")), data, markers="paraphrase")
    assert outcome.ret == 10
    outcome.stdout.fnmatch_lines(["*its 5 items share so much *; about 59 independent negatives would decide *"])


def told(pytester):
    return json.loads((pytester.path / "out/results.json").read_text("utf-8"))["gate"]["against"][0]


def test_no_flip_is_a_loss_of_nothing_only_where_the_scores_agree(run, saved, pytester):
    folder = saved()
    rows = {}
    for model in ("bag-of-words", "shifted"):
        run(model, against(folder))
        rows[model] = next(r for r in told(pytester)["rows"] if r["row"] == "number/probes/1")
    assert [(r["lost"], r["gained"]) for r in rows.values()] == [(0, 0), (0, 0)]
    assert rows["bag-of-words"]["low"] == 0
    assert rows["shifted"]["low"] < -0.001


def test_too_few_items_without_a_flip_are_no_pass_by_default(run, saved, pytester):
    data = pairs(pytester.path / "few.csv", 0, 5)
    outcome = run("shifted", against(saved(args=[data], markers="paraphrase")), data, markers="paraphrase")
    assert outcome.ret == 10


def test_a_row_that_the_baseline_lacks_is_named(run, saved, plain_and_number_probes):
    data = f"--encheck-data={plain_and_number_probes}"
    outcome = run("bag-of-words", against(saved(args=[data])), data, markers="number or antonym")
    assert outcome.ret == 10
    outcome.stdout.fnmatch_lines(["*only one side has antonym_is_farther_than_*/probes/1 (the candidate)*"])


def test_a_data_set_that_was_forgotten_is_named_whatever_is_selected(run, saved, pytester, plain_probes):
    data = pairs(pytester.path / "own.csv", 0, 40)
    folder = saved(args=[f"--encheck-data={plain_probes}", data], markers="paraphrase or retrieval")
    outcome = run("bag-of-words", against(folder), markers="paraphrase")
    assert outcome.ret == 10
    outcome.stdout.fnmatch_lines(["*only one side has paraphrase_is_nearer_than_*/pairs/1 (the baseline)*"])
    assert "no check was run on some of the baseline's data" in told(pytester)["partial"]["why"]


def test_the_same_items_from_another_version_are_weighed_and_the_difference_is_said(run, saved):
    folder = saved()
    reseal(folder, lambda summary: summary["versions"].update(encheck="0.0.9"))
    outcome = run("bag-of-words", against(folder))
    assert outcome.ret == 10
    outcome.stdout.fnmatch_lines(["*encheck was '0.0.9' and is *", "*make the baseline again with --save-baseline*"])
