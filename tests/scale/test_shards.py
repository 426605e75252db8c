"""Labelled pairs in shards are measured as those in memory are: the same figures, intervals and items."""

import random
import subprocess
import sys

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
from declared import claim_of
from fixtures import keep_out_of_garbage

import encheck
from encheck.datasets.load import load
from encheck.encoders.fake import BagOfWords
from encheck.encoders.model_config import ModelConfig
from encheck.errors import DataError, EncoderError, NothingToMeasure, UsageError
from encheck.items.variants import VariantMaker
from encheck.metrics.nonobvious import predict_test_part
from encheck.options.settings import settings_from_keywords
from encheck.running.model_under_test import ModelUnderTest
from encheck.running.resources import shard_loader
from encheck.running.scoring_session import ScoringSession
from encheck.scale import shards
from encheck.scale.large import LargeDataLoader
from encheck.scale.pairs import ColumnPairs
from encheck.scale.shards import LocalEngine
from encheck.statistics import bootstrap
from encheck.store import Store
from encheck.system.lock import no_locks
from encheck.system.terminal import Progress
from encheck.types import Estimate

CHECKS = [
    "paraphrase_is_nearer_than_non_paraphrase",
    "paraphrase_is_nearer_than_random_pair",
    "unlike_paraphrase_is_nearer_than_lookalike",
    "prediction_stays_when_the_sentences_are_exchanged",
    "similarity_ranks_pairs_as_people_do",
]
SYMMETRY = ["prediction_stays_when_the_sentences_are_exchanged"]
rng = random.Random(5)
WORDS = ["".join(rng.choices("abcdefghij", k=5)) for _ in range(300)]


def rows(count=300):
    """Pairs of random words; some share a sentence with others, some stand twice, one is of two equal texts."""
    made = []
    for i in range(count):
        first = rng.sample(WORDS, 7)
        second = [rng.choice(WORDS) if rng.random() < (0.3 if i % 2 else 0.6) else word for word in first]
        made.append((" ".join(first), " ".join(second), i % 2, round(rng.random(), 2)))
    for i in range(0, 60, 6):
        made[i] = (made[i + 1][1], *made[i][1:])
    made[70:72] = made[80:82]
    made[90] = (made[90][0], made[90][0], 1, 1.0)
    return made


ROWS = rows()


@pytest.fixture(scope="module", autouse=True)
def nothing_of_before_is_collected():
    """A run on shards collects garbage a few times, which walks all that other tests have imported."""
    keep_out_of_garbage()


def write(path, made, *, groups=70, clusters=None):
    columns = dict(zip(("sentence1", "sentence2", "label", "score"), map(list, zip(*made, strict=True)), strict=True))
    if clusters:
        columns["topic"] = clusters
    path.parent.mkdir(parents=True, exist_ok=True)
    pyarrow.parquet.write_table(pyarrow.table(columns), path, row_group_size=groups)
    return path


class Asymmetric:
    """Scores a pair by the share of the first text's words that the second has; `asked` counts pairs."""

    def __init__(self):
        self.asked = 0

    def fingerprint(self):
        return "asymmetric"

    def score_pairs(self, first, second):
        self.asked += len(first)
        both = [({*a.split()}, {*b.split()[:4]}) for a, b in zip(first, second, strict=True)]
        return np.array([len(a & b) / len(a) + len(b) / 100 for a, b in both])


@pytest.fixture(autouse=True)
def few_replicates(monkeypatch):
    monkeypatch.setattr(bootstrap, "_MAX_WEIGHTS", 0)
    bootstrap.bootstrap_weights.cache_clear()
    yield
    bootstrap.bootstrap_weights.cache_clear()


MODELS = {"bag": BagOfWords, "asymmetric": Asymmetric}


def large(folder, *, is_asked=True, **how):
    return LargeDataLoader(LocalEngine(), str(folder / "shards"), is_asked, quiet=True, **how)


@pytest.fixture
def maker():
    return VariantMaker(0)


def session_of(data, folder, maker, models=MODELS):
    subjects = {name: ModelUnderTest(name, ModelConfig(name), make()) for name, make in models.items()}
    return ScoringSession(subjects, {data.name: data}, Store(folder / "store.sqlite"), maker=maker)


def measured(session, model, *, checks=CHECKS):
    """Everything that the checks report, by check."""
    [data] = session.data
    requests = [(model, data, claim_of(check), 1) for check in checks]
    session.prepare(requests, locks=no_locks, progress=Progress(quiet=True))
    found = {}
    for check in checks:
        claim = claim_of(check)
        scores = session.scores(model, data, session.items(data, claim, 1))
        scores = predict_test_part(scores) if claim.property == "nonobvious" else scores
        each = [figure(scores) for figure in (*claim.show, claim.metric)]
        found[check] = [one for some in each for one in ([some] if isinstance(some, Estimate) else some)]
    return found


def same(one, other):
    assert (one.metric, one.n, one.clusters, one.params.keys()) == (
        other.metric,
        other.n,
        other.clusters,
        other.params.keys(),
    )
    assert [one.value, one.low, one.high] == pytest.approx([other.value, other.low, other.high], abs=1e-9, nan_ok=True)
    assert one.surface.keys() == other.surface.keys()
    for name, beside in one.surface.items():
        same(beside, other.surface[name])


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("named", [False, True])
def test_figures_and_intervals_are_those_of_data_in_memory(tmp_path, maker, model, named):
    clusters = [f"topic {i % 90}" if i % 3 else None for i in range(len(ROWS))] if named else None
    file = write(tmp_path / "pairs.parquet", ROWS, clusters=clusters)
    whole, engine = load(f"pairs:{file}", sample=None), large(tmp_path, sample=40)
    sharded = engine.load("pairs", f"pairs:{file}")
    assert sharded.whole.counts["shards"] == 1
    assert len(sharded.pairs) < len(whole.pairs) == len(sharded.whole)
    plain = measured(session_of(whole, tmp_path / "a", maker), model)
    found = measured(session_of(sharded, tmp_path / "b", maker), model)
    assert found.keys() == plain.keys()
    for check, estimates in plain.items():
        for one, other in zip(estimates, found[check], strict=True):
            same(one, other)


def test_a_folder_of_files_is_one_data_set(tmp_path, maker):
    write(tmp_path / "some/a.parquet", ROWS[:150])
    write(tmp_path / "some/b.parquet", ROWS[150:])
    file = write(tmp_path / "all.parquet", ROWS)
    engine = large(tmp_path)
    one, other = (engine.load("pairs", f"pairs:{place}") for place in (tmp_path / "some", file))
    assert one.whole.counts["shards"] == 2
    assert one.whole.hashes.tolist() == other.whole.hashes.tolist()
    assert one.whole.clusters.tolist() == other.whole.clusters.tolist()
    assert one.pairs == other.pairs


def test_items_are_those_of_data_in_memory(tmp_path, maker):
    file = write(tmp_path / "pairs.parquet", ROWS)
    columns = large(tmp_path).load("pairs", f"pairs:{file}").whole
    assert columns.make_pairs(np.arange(len(columns))) == list(load(f"pairs:{file}", sample=None).pairs)


def test_the_sample_is_that_of_data_in_memory(tmp_path):
    file = write(tmp_path / "pairs.parquet", ROWS)
    sharded, plain = large(tmp_path, sample=30).load("pairs", f"pairs:{file}"), load(f"pairs:{file}", sample=30)
    assert sharded.pairs == plain.pairs
    assert sharded.groups == plain.groups
    assert sharded.universe == plain.universe


def test_the_report_holds_the_worst_and_a_sample(tmp_path, maker, monkeypatch):
    monkeypatch.setattr("encheck.scale.pairs.WORST", 5)
    monkeypatch.setattr("encheck.scale.pairs.SHOWN", 10)
    engine = large(tmp_path)
    data = engine.load("pairs", f"pairs:{write(tmp_path / 'pairs.parquet', ROWS)}")
    session = session_of(data, tmp_path, maker)
    for check in CHECKS:
        claim = claim_of(check)
        session.prepare([("asymmetric", "pairs", claim, 1)], locks=no_locks, progress=Progress(quiet=True))
        items = session.items("pairs", claim, 1).whole
        assert isinstance(items, ColumnPairs)
        scores = session.scores("asymmetric", "pairs", session.items("pairs", claim, 1))
        listed, some = items.select_for_report(scores, seed=0)
        assert 10 <= len(listed) - len(items.tail) <= 15
        frame = some.to_item_frame(None, listed)
        worst = items[scores.positions_worst_first()[0]]
        assert worst.id in frame.ids
        position = frame.ids.index(worst.id)
        assert frame.near.scores[position] == session.subjects["asymmetric"].model.score_pairs(
            [worst.first], [worst.second]
        ).astype(np.float32)


def test_a_run_goes_on_from_finished_shards(tmp_path, maker, monkeypatch):
    monkeypatch.setattr(shards.plan_shards, "__kwdefaults__", {"rows": 70})
    file = write(tmp_path / "pairs.parquet", ROWS)
    asked = []
    for run, gone in enumerate((None, "000001.parquet", None)):
        engine = large(tmp_path)
        data = engine.load("pairs", f"pairs:{file}")
        session = session_of(data, tmp_path / str(run), maker)
        measured(session, "asymmetric", checks=SYMMETRY)
        asked.append(session.subjects["asymmetric"].model.asked)
        for path in (tmp_path / "shards").glob(f"*/{gone}"):
            path.write_bytes(b"torn")
    every, nothing, one = asked
    assert nothing < one < nothing + (every - nothing) / 3


def test_a_bad_row_is_named_by_its_shard_or_counted(tmp_path):
    made = [*ROWS[:20], ("", "b", 1, 0.5), ("a", "b", 7, 0.5), *ROWS[20:]]
    file = write(tmp_path / "pairs.parquet", made)
    with pytest.raises(DataError, match=r"pairs\.parquet:21: the first text is empty.*--skip-bad-rows"):
        large(tmp_path).load("pairs", f"pairs:{file}")
    data = large(tmp_path, skip_bad_rows=True).load("pairs", f"pairs:{file}")
    plain = load(f"pairs:{file}", sample=None, skip_bad_rows=True)
    assert data.whole.counts == {"rows": 300, "read": 302, "skipped": 2, "shards": 1}
    assert data.whole.make_pairs(np.arange(300)) == list(plain.pairs)


def test_other_data_are_refused(tmp_path):
    (tmp_path / "pairs.csv").write_text("first,second,label\na,b,1\n")
    for spec in ("probes", f"pairs:{tmp_path / 'pairs.csv'}", f"retrieval:{tmp_path}"):
        with pytest.raises(UsageError, match="--engine measures labelled pairs in Parquet files"):
            large(tmp_path).load("x", spec)


def test_a_large_file_is_measured_in_shards_without_being_asked(tmp_path, monkeypatch, caplog):
    def loaded(spec, **options):
        settings = settings_from_keywords(
            ["sbert"], [spec], {"store": str(tmp_path / "store.sqlite"), "sample": "all", **options}
        )
        return shard_loader(settings)("pairs", spec)

    spec = f"pairs:{write(tmp_path / 'pairs.parquet', ROWS)}"
    assert loaded(spec) is None
    assert loaded("probes") is None
    monkeypatch.setattr("encheck.running.resources.MANY_ROWS", 200)
    assert loaded(spec).whole is not None
    assert "300 rows are measured in 1 shards (--engine=local)" in caplog.text
    assert loaded(spec, sample=100) is None
    assert loaded(spec, save_baseline=str(tmp_path / "b")) is None
    for half in range(2):
        (tmp_path / "many" / str(half)).mkdir(parents=True)
        write(tmp_path / "many" / str(half) / "pairs.parquet", ROWS[half::2])
    assert loaded(f"pairs:{tmp_path / 'many'}").whole is not None


def test_small_data_never_pass_through_the_package_for_millions_of_pairs(tmp_path):
    spec = f"pairs:{write(tmp_path / 'pairs.parquet', ROWS)}"
    code = (
        "import sys, encheck; encheck.run('bag-of-words', data=sys.argv[1], checks='sts', no_store=True); "
        "print([name for name in sys.modules if name.startswith('encheck.scale')])"
    )
    done = subprocess.run([sys.executable, "-c", code, spec], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_a_whole_run_finds_the_figures_of_one_in_memory_and_reports_some_items(tmp_path):
    spec = f"pairs:{write(tmp_path / 'pairs.parquet', ROWS)}"
    options = {"checks": "symmetry", "no_store": True}
    plain = encheck.run("bag-of-words", data=spec, sample="all", **options)
    places = {"shards_dir": str(tmp_path / "shards"), "report_dir": tmp_path / "report"}
    found = encheck.run("bag-of-words", data=spec, engine="local", **places, **options)
    assert [(row.value, row.n, row.verdict) for row in found.rows] == [
        (row.value, row.n, row.verdict) for row in plain.rows
    ]
    assert found.rows
    assert (tmp_path / "report" / "items.parquet").is_file()


class Learning(Asymmetric):
    def fit(self, texts):
        pass


class Broken(Asymmetric):
    def score_pairs(self, first, second):
        return np.full(len(first), np.nan)


def test_a_model_that_learns_is_not_scored_in_shards(tmp_path, maker):
    engine = large(tmp_path)
    data = engine.load("pairs", f"pairs:{write(tmp_path / 'pairs.parquet', ROWS)}")
    with pytest.raises(NothingToMeasure, match="learns from all texts"):
        measured(session_of(data, tmp_path, maker, {"learning": Learning}), "learning")


def test_a_model_that_fails_is_named(tmp_path, maker):
    engine = large(tmp_path)
    data = engine.load("pairs", f"pairs:{write(tmp_path / 'pairs.parquet', ROWS)}")
    with pytest.raises(EncoderError, match="NaN or infinite"):
        measured(session_of(data, tmp_path, maker, {"broken": Broken}), "broken")


def test_nothing_goes_through_all_pairs_one_by_one(tmp_path):
    data = large(tmp_path).load("pairs", f"pairs:{write(tmp_path / 'pairs.parquet', ROWS)}")
    with pytest.raises(TypeError, match="by their columns"):
        list(ColumnPairs(data.whole, np.arange(3)))
