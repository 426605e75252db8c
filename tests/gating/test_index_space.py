"""New queries on the old model's index: as they come, with half of its vectors new, and after a linear map."""

from dataclasses import replace

import numpy as np
import pytest
from index_places import made, model

from encheck.datasets.load import load
from encheck.gating.old_index import IndexSearch, IndexVectors, check_old_index
from encheck.gating.reindex import Reindex
from encheck.statistics.bootstrap import LogBootstrap


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return made(tmp_path_factory.mktemp("index"))


@pytest.fixture(scope="module")
def of(place):
    """What becomes of an index of `Words` with a new model, each once."""
    known = {}

    def of(new, old="Words", *, labels=True, few=0):
        if (new, old, labels, few) not in known:
            path = place / "labels.jsonl"
            if few:
                rows = path.read_text().splitlines()[:few]
                path = place / "few.jsonl"
                path.write_text("".join(f"{row}\n" for row in rows))
            search = IndexSearch.of(load(f"retrieval:{path}", sample=None).collection, seed=0)
            if not labels:
                search = replace(search, grades=({},) * len(search.queries))
            sides = [
                IndexVectors(one.encode(search.documents), one.encode(search.queries), one.similarity)
                for one in map(model, (old, new))
            ]
            known[new, old, labels, few] = (
                check_old_index(*sides, search, Reindex(True, "yes", "vectors differ")),
                search,
            )
        return known[new, old, labels, few]

    return of


@pytest.mark.parametrize(
    ("new", "old", "labels", "stays", "adapter"),
    [
        ("Noised", "Words", True, True, None),
        ("Rounded", "Words", True, True, None),
        ("Turned", "Words", True, False, "orthogonal"),
        ("Turned", "Words", False, False, "orthogonal"),
        ("Near", "Words", True, False, "ridge"),
        ("Stranger", "Words", True, False, None),
        ("Short", "Words", False, False, None),
        ("LongerByDot", "WordsByDot", True, False, None),  # alone it does; with old vectors beside new ones it does not
    ],
)
def test_what_becomes_of_the_index_is_what_was_done_to_the_space(of, new, old, labels, stays, adapter):
    found, _ = of(new, old, labels=labels)
    assert (found.reindex.needed, found.reindex.answer) == ((False, "no") if stays else (True, "yes"))
    assert (found.adapter and found.adapter.kind) == adapter


def test_an_index_that_serves_new_queries_and_no_new_vectors_is_made_again(of):
    found, _ = of("LongerByDot", "WordsByDot")
    assert found.direct.is_as_good
    assert not found.mixed.is_as_good


def test_figures_on_the_old_index_are_those_by_hand(of):
    found, search = of("Near")
    new, old = (model(name).encode for name in ("Near", "Words"))
    vectors = new(search.queries), new(search.documents), old(search.documents)
    q, own, index = (one / np.linalg.norm(one, axis=1, keepdims=True) for one in vectors)
    right = np.array([next(iter(grades)) for grades in search.grades])
    for figure, at in zip(found.direct.figures, (1, 10), strict=True):
        for side, name in ((own, "own"), (index, "old_index")):
            ranks = (np.argsort(-(q @ side.T), axis=1) == right[:, None]).argmax(axis=1)
            gain = np.where(ranks < at, 1 / np.log2(ranks + 2), 0)
            assert getattr(figure, name) == pytest.approx(gain.mean())


def test_without_labels_the_new_models_own_answers_stand_for_the_right_ones(of):
    found, _ = of("Near", labels=False)
    first, ten = found.direct.figures
    assert (first.metric, first.own, first.old_index < 0.9) == ("its own first answer first", 1, True)
    assert ten.metric == "nDCG@10 by its own ten"


def test_an_adapter_maps_new_queries_to_what_the_new_model_finds(of, tmp_path):
    found, search = of("Turned")
    found.adapter.save(tmp_path / "adapter.npz", {"new": "Turned"})
    a = np.load(tmp_path / "adapter.npz", allow_pickle=False)
    old, new = (model(name).encode for name in ("Words", "Turned"))
    q = new(search.queries)
    mapped = q / np.linalg.norm(q, axis=1, keepdims=True) @ a["matrix"] + a["offset"]
    index, own = (
        one / np.linalg.norm(one, axis=1, keepdims=True) for one in (old(search.documents), new(search.documents))
    )
    assert bool(a["unit"])
    assert ((mapped @ index.T).argmax(axis=1) == (q @ own.T).argmax(axis=1)).all()


def test_a_map_is_judged_on_texts_that_it_has_not_seen():
    """As many texts as dimensions: what fits noise perfectly finds nothing among the others."""
    rng = np.random.default_rng(0)
    documents, queries = ([f"{what}{i}" for i in range(150)] for what in "dq")
    search = IndexSearch(
        tuple(documents), tuple(queries), tuple({i: 1} for i in range(150)), (None,) * 150,
        LogBootstrap.of([1] * 150, queries, seed=0),
    )  # fmt: skip
    new, old = (rng.standard_normal((150, 40)).astype(np.float32) for _ in range(2))
    found = check_old_index(
        IndexVectors(old, old, "cosine"), IndexVectors(new, new, "cosine"), search, Reindex(True, "yes", "")
    )
    assert found.mapped.figures[0].old_index < 0.2
    assert found.adapter is None


def test_few_documents_offer_nothing_and_vectors_that_stay_need_nothing(of):
    found, search = of("Turned", few=25)
    assert (found.documents, found.direct, found.adapter, found.reindex.needed) == (25, None, None, True)
    assert len(search.documents) == 25
    stays = Reindex(False, "no", "the same vectors within rounding")
    vectors = IndexVectors(np.eye(25, dtype=np.float32), np.eye(25, dtype=np.float32), "cosine")
    assert check_old_index(vectors, vectors, search, stays).reindex == stays
