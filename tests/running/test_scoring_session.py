"""The session: nothing is encoded twice, what was done before a fault is kept, and scores are what they should be."""

from contextlib import contextmanager
from types import SimpleNamespace

import numpy as np
import pytest

from encheck import load_model
from encheck.claims import Claim
from encheck.datasets.dataset import dataset_from_rows
from encheck.datasets.reader import PairRow
from encheck.encoders.fake import BagOfWords, Overlap, Random
from encheck.encoders.model_config import ModelConfig
from encheck.errors import EncoderError, NothingToMeasure
from encheck.items.builders import labelled_pairs, pairs_in_both_orders
from encheck.items.searches import random_pairs
from encheck.items.variants import VariantMaker
from encheck.running.model_under_test import ModelUnderTest
from encheck.running.scorer import IDENTITY_PAIRS
from encheck.running.scoring_session import ScoringSession
from encheck.scoring.chains import Chain
from encheck.scoring.item import Items
from encheck.scoring.scale import Scale
from encheck.scoring.scores import ChainScores, MarginScores, PairScores
from encheck.scoring.triplets import Triplet
from encheck.similarity import cosine, dot, jaccard
from encheck.store import Store, text_key
from encheck.system import imports
from encheck.system.lock import no_locks
from encheck.system.terminal import Progress

THINGS = "otter lantern violin glacier baker comet saddle orchard magnet ferry tunnel parrot".split()
DOINGS = "drifts glows hums melts waits burns creaks blooms pulls sails echoes chatters".split()
ROWS = [
    row
    for thing, doing, other in zip(THINGS, DOINGS, THINGS[1:] + THINGS[:1], strict=True)
    for row in (
        PairRow(f"the {thing} {doing} again", f"again the {thing} {doing} quietly", 1),
        PairRow(f"the {thing} {doing} again", f"no {other} {doing}", 0),
    )
]
DATA = dataset_from_rows("demo", ROWS)
OTHER = dataset_from_rows("other", [row._replace(first=f"{row.first} once more") for row in ROWS])
PAIRS = Claim(labelled_pairs, levels=("own",))
TURNED = Claim(pairs_in_both_orders, levels=("own",))


def triplets(dataset, level, maker):
    kept = [p for p in dataset.pairs if p.label == 1]
    return Items(tuple(Triplet(p.id, p.first, p.second, f"{p.first} or not", p.cluster) for p in kept))


MARGINS = Claim(triplets)
REQUESTS = [("tiny", "demo", PAIRS, "own"), ("tiny", "demo", MARGINS, 1)]


class Counting(BagOfWords):
    """Remembers what it was asked for."""

    def __init__(self, **options):
        super().__init__(**options)
        self.asked = []

    def encode(self, texts, *, role=None):
        self.asked += texts
        return super().encode(texts)


class InBatches(Counting):
    """Hands over four texts at a time, and breaks off as it is told."""

    def __init__(self, *, after=10**6, fault=None, vectors=None):
        super().__init__()
        self.after, self.fault, self.vectors = after, fault, vectors

    def batches(self, texts, *, role=None):
        for number, start in enumerate(range(0, len(texts), 4)):
            positions = np.arange(start, min(start + 4, len(texts)))
            vectors = self.encode([texts[i] for i in positions])
            if number == self.after:
                if self.fault:
                    raise self.fault
                vectors = self.vectors(vectors)
            yield positions, vectors


class CountingPairs(Overlap):
    """A pair scorer whose score of a text with itself depends on the text."""

    def __init__(self):
        super().__init__()
        self.asked = []

    def score_pairs(self, first, second):
        self.asked += zip(first, second, strict=True)
        return jaccard(first, second) * np.array([len(text) for text in first]) / 30


@pytest.fixture
def store(tmp_path):
    opened = Store(tmp_path / "store.sqlite")
    yield opened
    opened.close()


@pytest.fixture
def elsewhere(tmp_path):
    opened = Store(tmp_path / "elsewhere.sqlite")
    yield opened
    opened.close()


def session_of(store, *models, data=(DATA,), clock=None):
    names = ["tiny", *(f"tiny-{n}" for n in range(2, len(models) + 1))]
    subjects = {name: ModelUnderTest(name, ModelConfig(name), model) for name, model in zip(names, models, strict=True)}
    return ScoringSession(subjects, {d.name: d for d in data}, store, maker=VariantMaker(), clock=clock)


def prepared(store, *models, requests=REQUESTS, data=(DATA,), locks=no_locks):
    session = session_of(store, *models, data=data)
    session.prepare(requests, locks=locks, progress=Progress(quiet=True))
    return session


def texts_of(session):
    items = [
        *session.items("demo", PAIRS, "own").included,
        *session.items("demo", MARGINS, 1).included,
        *session.random_pairs("demo"),
    ]
    return {text for item in items for pair in item.pairs_to_score for text in pair}


def scores_of(session, claim=PAIRS, level="own", data="demo"):
    return session.scores("tiny", data, session.items(data, claim, level))


# nothing is encoded twice


def test_each_distinct_text_is_encoded_once_whichever_claims_ask_for_it(store):
    model = Counting()
    session = prepared(store, model)
    assert len(model.asked) == len(set(model.asked))
    assert set(model.asked) == texts_of(session)
    assert session.subjects["tiny"].encoded == len(model.asked)


def test_a_second_run_encodes_nothing(store):
    prepared(store, Counting())
    model = Counting()
    session = prepared(store, model)
    assert model.asked == []
    assert session.subjects["tiny"].encoded == 0
    assert session.subjects["tiny"].error is None


def test_with_16_bits_runs_that_encode_or_read_have_the_same_vectors(store):
    wide = prepared(store, Random()).subjects["tiny"]
    reading = Store(store.path, dtype="float16")  # finds vectors in 32 bits
    fresh = Store(store.path.with_name("half.sqlite"), dtype="float16")
    read, encoded, again = (prepared(one, Random()).subjects["tiny"] for one in (reading, fresh, fresh))
    assert [s.encoded for s in (read, encoded, again)] == [0, wide.encoded, 0]
    assert (encoded.vectors == wide.vectors.astype(np.float16)).all()
    assert (read.vectors == encoded.vectors).all()
    assert (again.vectors == encoded.vectors).all()
    assert (wide.vectors != encoded.vectors).any()
    reading.close()
    fresh.close()


def test_a_second_run_that_needs_more_encodes_what_is_new(store):
    first, second = Counting(), Counting()
    prepared(store, first, requests=REQUESTS[:1])
    session = prepared(store, second)
    assert set(second.asked) == texts_of(session) - set(first.asked)
    assert all(text.endswith("or not") for text in second.asked)


def test_two_models_of_the_same_content_share_vectors_and_two_others_do_not(store):
    models = [Counting(), Counting(), Counting(noise=1)]
    requests = [(name, "demo", PAIRS, "own") for name in ("tiny", "tiny-2", "tiny-3")]
    session = prepared(store, *models, requests=requests)
    assert models[0].asked
    assert models[1].asked == []
    assert models[2].asked == models[0].asked
    assert (session.subjects["tiny"].vectors == session.subjects["tiny-2"].vectors).all()


def test_what_is_in_the_store_needs_no_lock(store):
    taken = []

    @contextmanager
    def lock():
        taken.append("lock")
        yield

    prepared(store, Counting(), locks=lambda model: [lock()])
    assert taken == ["lock"]
    prepared(store, Counting(), locks=lambda model: [lock()])
    assert taken == ["lock"]


def test_what_another_process_encoded_while_this_one_waited_is_not_encoded_again(store):
    @contextmanager
    def lock():
        other = Store(store.path)
        prepared(other, Counting())
        other.close()
        yield

    model = Counting()
    session = prepared(store, model, locks=lambda model: [lock()])
    assert model.asked == []
    assert set(session.subjects["tiny"].rows) == texts_of(session)
    assert session.subjects["tiny"].vectors.any(axis=1).all()


def test_a_row_that_was_damaged_in_the_store_is_encoded_again(store):
    expected = scores_of(prepared(store, Counting())).values
    store._db.execute("UPDATE row SET crc = crc + 1 WHERE key = ?", (text_key("the otter drifts again"),))
    model = Counting()
    session = prepared(store, model)
    assert model.asked == ["the otter drifts again"]
    assert (scores_of(session).values == expected).all()


def test_what_a_run_uses_counts_as_used(store):
    prepared(store, Counting(noise=1))
    prepared(store, Counting(noise=2))
    prepared(store, Counting(noise=1))
    assert store.list_models()[0].fingerprint == Counting(noise=1).fingerprint()


def test_vectors_are_computed_again_after_a_library_was_upgraded(store, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "own_library-1.dist-info").mkdir()
    found = []
    for version in ("1.0", "1.0", "2.0"):
        (tmp_path / "own_library-1.dist-info" / "METADATA").write_text(f"Name: own-library\nVersion: {version}\n")
        imports.installed_versions.cache_clear()
        model = load_model("jaccard")
        model.libraries = ("own-library", "not-installed")
        found.append(prepared(store, model).subjects["tiny"].encoded)
    assert found == [found[0], 0, found[0]] != [0, 0, 0]


def test_no_request_encodes_nothing(store):
    model = Counting()
    session = prepared(store, model, requests=[])
    assert model.asked == []
    assert session.cached_items("demo", PAIRS, "own") is None


# faults


def kept_rows(store):
    return sum(stored.rows for stored in store.list_models())


class PanicException(BaseException):
    """What a library in Rust raises; it cannot be imported."""


FAULTS = [RuntimeError("out of memory"), EncoderError("gave up"), MemoryError(), PanicException("no entry for key")]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: type(fault).__name__)
def test_an_encoder_that_raises_midway_keeps_its_batches_and_ends_in_error(store, fault):
    model = InBatches(after=3, fault=fault)
    session = prepared(store, model)
    assert kept_rows(store) == session.subjects["tiny"].encoded == 12
    assert store.get("vector", model.fingerprint(), [text_key(t) for t in model.asked[:12]])[1].all()
    with pytest.raises(EncoderError, match=str(fault) or "MemoryError while encoding"):
        scores_of(session)


def test_a_run_after_a_fault_encodes_the_rest(store, elsewhere):
    broken, whole = InBatches(after=3, fault=RuntimeError("power cut")), InBatches()
    prepared(store, broken)
    session = prepared(store, whole)
    assert set(whole.asked) == texts_of(session) - set(broken.asked[:12])
    assert (scores_of(session).values == scores_of(prepared(elsewhere, InBatches())).values).all()


def test_an_error_says_what_happened_and_where_from(store):
    fault = ZeroDivisionError("division by zero")
    error = prepared(store, InBatches(after=0, fault=fault)).subjects["tiny"].error
    assert str(error) == "ZeroDivisionError while encoding: division by zero"
    assert error.__cause__ is fault


def test_one_model_in_error_leaves_the_others_their_scores(store):
    requests = [("tiny", "demo", PAIRS, "own"), ("tiny-2", "demo", PAIRS, "own")]
    session = prepared(store, InBatches(after=1, fault=RuntimeError("no")), Random(), requests=requests)
    assert session.subjects["tiny"].error
    assert session.subjects["tiny-2"].error is None
    assert np.isfinite(session.scores("tiny-2", "demo", session.items("demo", PAIRS, "own")).values).all()


def spoilt(value):
    def spoil(vectors):
        vectors[2] = value
        return vectors

    return spoil


@pytest.mark.parametrize(
    ("vectors", "expected"),
    [
        (spoilt(np.nan), "contains NaN or infinity"),
        (spoilt(np.inf), "contains NaN or infinity"),
        (spoilt(0), "is all zeros"),
        (lambda vectors: vectors[:3], r"returned shape \(3, 256\), but should return \(4, 256\)"),
        (lambda vectors: vectors[:, :8], r"returned shape \(4, 8\), but should return \(4, 256\)"),
        (lambda vectors: vectors[0], r"returned shape \(256,\), but should return \(4, 256\)"),
    ],
    ids=["NaN", "infinity", "zeros", "too few", "another width", "one vector"],
)
def test_bad_vectors_end_in_error_and_none_of_them_is_kept(store, vectors, expected):
    model = InBatches(after=2, vectors=vectors)
    session = prepared(store, model)
    with pytest.raises(EncoderError, match=expected):
        scores_of(session)
    assert kept_rows(store) == 8
    kept, there = store.get("vector", model.fingerprint(), [text_key(t) for t in model.asked])
    assert there.tolist() == [True] * 8 + [False] * 4
    assert (kept[:8] == BagOfWords().encode(model.asked[:8])).all()


def test_a_keyboard_interrupt_keeps_what_was_done_and_goes_on_up(store):
    broken, whole = InBatches(after=3, fault=KeyboardInterrupt()), InBatches()
    with pytest.raises(KeyboardInterrupt):
        prepared(store, broken)
    assert kept_rows(store) == 12
    session = prepared(store, whole)
    assert set(whole.asked) == texts_of(session) - set(broken.asked[:12])


def test_a_model_that_changed_under_its_fingerprint_is_found_by_the_width_of_its_vectors(store):
    class Same(Counting):
        def fingerprint(self):
            return "always the same"

    class Wider(Same):
        def encode(self, texts, *, role=None):
            return np.ones((len(texts), 300), np.float32)

    prepared(store, Same(), requests=REQUESTS[:1])
    session = prepared(store, Wider())
    expected = "300 dimensions, but the store has some of 256 from a model with the same fingerprint 'always the same'"
    with pytest.raises(EncoderError, match=expected):
        scores_of(session)


def test_a_full_disk_leaves_the_scores_as_they_are(store, elsewhere):
    store._db.execute("PRAGMA max_page_count = 8")
    session = prepared(store, Counting())
    assert kept_rows(store) == 0
    assert (scores_of(session).values == scores_of(prepared(elsewhere, Counting())).values).all()


# pair scorers


def test_a_pair_scorer_scores_each_pair_once_and_keeps_it_as_a_pair(store):
    model, again = CountingPairs(), CountingPairs()
    session = prepared(store, model)
    assert len(model.asked) == len(set(model.asked)) == session.subjects["tiny"].encoded
    assert [(s.kind, s.rows) for s in store.list_models()] == [("pair", len(model.asked))]
    prepared(store, again)
    assert again.asked == []


def test_a_pair_scorers_scores_are_handed_out_as_it_gave_them(store):
    session = prepared(store, CountingPairs())
    pairs = session.items("demo", PAIRS, "own").included
    expected = CountingPairs().score_pairs([p.first for p in pairs], [p.second for p in pairs])
    assert scores_of(session).values == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        (lambda n: np.full(n, np.nan), "pair scores are NaN or infinite; the first is of "),
        (lambda n: np.ones((n, 2)), "returned shape .*, 2.*, but should return"),
        (lambda n: ["high"] * n, "but should return floating point"),
    ],
    ids=["NaN", "shape", "text"],
)
def test_bad_pair_scores_end_in_error_and_none_of_them_is_kept(store, scores, expected):
    model = Overlap()
    model.score_pairs = lambda first, second: scores(len(first))
    session = prepared(store, model)
    with pytest.raises(EncoderError, match=expected):
        scores_of(session)
    assert kept_rows(store) == 0


def test_a_pair_scorers_calibration_does_not_depend_on_what_else_is_measured(store, elsewhere):
    alone = prepared(store, CountingPairs(), requests=REQUESTS[:1])
    requests = [("tiny", "other", PAIRS, "own"), *REQUESTS]
    beside = prepared(elsewhere, CountingPairs(), requests=requests, data=(DATA, OTHER))
    for session in (alone, beside):
        scores_of(session)
    assert alone.scale("tiny", "demo") == beside.scale("tiny", "demo")


# scores


@pytest.mark.parametrize("make", [Counting, InBatches, Random, CountingPairs])
def test_scores_are_the_same_bit_for_bit_from_a_cold_and_a_warm_store(store, make):
    cold, warm = prepared(store, make()), prepared(store, make())
    for claim, level in ((PAIRS, "own"), (MARGINS, 1)):
        first, second = (scores_of(session, claim, level) for session in (cold, warm))
        for column in ("values", "near", "far"):
            assert getattr(first, column, np.empty(0)).tobytes() == getattr(second, column, np.empty(0)).tobytes()
        assert first.scale == second.scale


def test_pairs_give_pair_scores_and_triplets_give_margins(store):
    session = prepared(store, Counting())
    pairs, margins = scores_of(session), scores_of(session, MARGINS, 1)
    kept, triples = session.items("demo", PAIRS, "own").included, session.items("demo", MARGINS, 1).included
    encode = BagOfWords().encode
    assert isinstance(pairs, PairScores)
    assert isinstance(margins, MarginScores)
    assert pairs.labels.tolist() == [p.label for p in kept]
    assert pairs.values == pytest.approx(cosine(encode([p.first for p in kept]), encode([p.second for p in kept])))
    sources = encode([t.source for t in triples])
    assert margins.near == pytest.approx(cosine(sources, encode([t.near for t in triples])))
    assert margins.far == pytest.approx(cosine(sources, encode([t.far for t in triples])))


def test_a_similarity_that_is_no_number_is_an_error_that_names_the_model(store):
    session = prepared(store, Counting())
    session.subjects["tiny"].state.vectors = np.zeros_like(session.subjects["tiny"].vectors)
    with pytest.raises(EncoderError, match=r"tiny: the cosine of \d+ of \d+ pairs is not a number, first of \('"):
        scores_of(session)


def test_an_encoders_own_similarity_scores_its_pairs(store):
    model = Counting()
    model.similarity = "dot"
    session = prepared(store, model)
    kept = session.items("demo", PAIRS, "own").included
    encode = BagOfWords().encode
    expected = dot(encode([p.first for p in kept]), encode([p.second for p in kept]))
    assert scores_of(session).values == pytest.approx(expected)
    assert session.scale("tiny", "demo").identity > 1.5


def test_the_calibration_of_a_cosine_has_identity_one_and_the_mean_of_the_reference_pairs(store):
    session = prepared(store, Counting())
    assert session.scale("tiny", "demo") is None
    scores = scores_of(session)
    pairs = DATA.draw_random_pairs(seed=0)
    encode = BagOfWords().encode
    expected = cosine(encode([p.first for p in pairs]), encode([p.second for p in pairs])).mean()
    assert scores.scale == session.scale("tiny", "demo")
    assert scores.scale.identity == pytest.approx(1, abs=1e-6)
    assert scores.scale.reference == pytest.approx(expected)
    assert scores.scale.pairs == len(pairs) > 20


def test_a_pair_scorers_identity_is_the_mean_over_texts_with_themselves(store):
    session = prepared(store, CountingPairs())
    texts = [p.first for p in DATA.draw_random_pairs(seed=0)][:IDENTITY_PAIRS]
    expected = CountingPairs().score_pairs(texts, texts).mean()
    assert scores_of(session).scale.identity == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("model", [Counting(), CountingPairs()], ids=["encoder", "pair scorer"])
def test_the_surface_twin_is_word_overlap_on_the_same_items(store, model):
    session = prepared(store, model)
    kept, triples = session.items("demo", PAIRS, "own").included, session.items("demo", MARGINS, 1).included
    pairs, margins = scores_of(session).surface["jaccard"], scores_of(session, MARGINS, 1).surface["jaccard"]
    assert (pairs.values == jaccard([p.first for p in kept], [p.second for p in kept])).all()
    assert (margins.near == jaccard([t.source for t in triples], [t.near for t in triples])).all()
    assert (margins.far == jaccard([t.source for t in triples], [t.far for t in triples])).all()
    random = DATA.draw_random_pairs(seed=0)
    expected = jaccard([p.first for p in random], [p.second for p in random]).mean()
    assert (pairs.scale.identity, pairs.scale.reference) == (1, pytest.approx(expected))


def test_figures_on_the_same_items_share_their_bootstrap(store):
    session = prepared(store, Counting(), Random(), requests=[*REQUESTS, ("tiny-2", "demo", PAIRS, "own")])
    first = scores_of(session)
    second = session.scores("tiny-2", "demo", session.items("demo", PAIRS, "own"))
    assert first.resampler is second.resampler is first.surface["jaccard"].resampler


# items


def test_items_are_made_once_and_nothing_to_measure_is_remembered(store):
    made = []

    def nothing(dataset, level, maker):
        made.append((dataset.name, level, maker.seed))
        raise NothingToMeasure("no such item")

    session = prepared(store, Counting(), requests=[("tiny", "demo", Claim(nothing), 3)] * 2)
    with pytest.raises(NothingToMeasure, match="no such item"):
        session.items("demo", Claim(nothing), 3)
    assert made == [("demo", 3, 0)]
    assert session.cached_items("demo", Claim(nothing), 3) is None


def test_data_without_two_unrelated_sentences_has_nothing_to_calibrate_with(store):
    alike = dataset_from_rows("alike", [PairRow("the otter drifts", f"the otter drifts {n}", n % 2) for n in range(6)])
    session = prepared(store, Counting(), requests=[("tiny", "alike", PAIRS, "own")], data=(alike,))
    found = scores_of(session, data="alike")
    assert np.isfinite(found.values).all()
    assert session.scale("tiny", "alike") is None
    with pytest.raises(NothingToMeasure, match="alike has no two sentences without a shared content word"):
        _ = found.calibrated
    session = prepared(store, Counting(), requests=[("tiny", "alike", TURNED, "own")], data=(alike,))
    with pytest.raises(NothingToMeasure, match="alike has no two sentences without a shared content word"):
        scores_of(session, TURNED, data="alike")


def test_random_pairs_are_resampled_by_the_clusters_of_both_sentences(tmp_path):
    claim = Claim(random_pairs)
    session = ScoringSession(
        {"m": ModelUnderTest("m", ModelConfig("m"), BagOfWords())},
        {"demo": DATA},
        Store(tmp_path / "s.sqlite"),
        maker=VariantMaker(),
    )
    session.prepare([("m", "demo", claim, 1)], locks=no_locks, progress=Progress(quiet=True))
    items = session.items("demo", claim, 1)
    resampler = session.scores("m", "demo", items).resampler
    column = {name: i for i, name in enumerate(sorted(DATA.universe))}
    assert resampler.others.tolist() == [column[item.second_cluster] for item in items.included]


def test_chain_members_that_differ_by_rounding_are_ties():
    chain = Chain("c", "a", "b", ("x", "y"), "cluster", "a")
    by = SimpleNamespace(head_threshold=None, score_pairs=lambda first, second: np.array([0.5, 0.5 + 2e-7, 0.4]))
    (row,) = ChainScores.score_items([chain], by, None, Scale(0.0)).values
    assert row.tolist() == [0.5, 0.5, 0.4]
