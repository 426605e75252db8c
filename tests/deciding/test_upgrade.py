"""One model for another on an index: spaces, maps, answers, thresholds, the verdict, and what is written."""

import json
from importlib import resources
from pathlib import Path
from types import SimpleNamespace

import jsonschema
import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
import upgrade_fakes
from hypothesis import given
from hypothesis import strategies as some
from typer.testing import CliRunner

import encheck
from encheck.cli import app
from encheck.deciding import shipping
from encheck.deciding.changes import Better, Changes, Moved
from encheck.deciding.linear import allowed, fits, held_back
from encheck.deciding.score_ranges import mapped
from encheck.deciding.shipping import Gated
from encheck.deciding.space import Route, Space
from encheck.deciding.upgrade_text import headline
from encheck.errors import DataError, EncheckError, UsageError
from encheck.gating.reindex import Reindex
from encheck.statistics.figures import Figure, Log
from encheck.statistics.rank_overlap import rbo

VOCABULARY = [f"{a}{b}" for a in "bdfgklmnprst" for b in ("ane", "ilo", "urk", "est", "ova", "iny", "ash", "omp")]
DOCUMENTS, QUERIES = 200, 200


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Documents, a log of queries, and the same with labels."""
    rng = np.random.default_rng(0)
    folder = tmp_path_factory.mktemp("index")
    bodies = [" ".join(rng.choice(VOCABULARY, 12, replace=False)) for _ in range(DOCUMENTS)]
    rows = []
    for i in range(QUERIES):
        body = bodies[i % DOCUMENTS]
        rows.append({"query": " ".join(rng.choice(body.split(), 6, replace=False)), "document": body})
    folder.joinpath("documents.jsonl").write_text("".join(json.dumps({"text": one}) + "\n" for one in bodies))
    folder.joinpath("log.txt").write_text("\n".join(row["query"] for row in rows) + "\n")
    folder.joinpath("labels.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


@pytest.fixture(scope="module")
def upgraded(place, tmp_path_factory):
    """What is said of a new model in place of `Words`, without a gate; each pair once."""
    known, store = {}, tmp_path_factory.mktemp("store") / "store.sqlite"

    def upgrade(new, old="Words", *, labels=True, **how):
        key = (new, old, labels, *sorted(how.items()))
        if key not in known:
            data = (
                {"data": f"retrieval:{place / 'labels.jsonl'}"}
                if labels
                else {"data": f"passages:{place / 'documents.jsonl'}", "queries": place / "log.txt"}
            )
            specs = [one if ":" in one else f"upgrade_fakes:{one}" for one in (new, old)]
            known[key] = encheck.upgrade(*specs, **data, gate=False, timing=False, store=store, **how)
        return known[key]

    return upgrade


def written(model, path, texts, *, hidden=()):
    """A file of vectors."""
    kept = [text for text in texts if text not in hidden]
    vectors = encheck.load_model(f"upgrade_fakes:{model}").encode(kept)
    pyarrow.parquet.write_table(pyarrow.table({"text": kept, "vector": vectors.tolist()}), path)
    return f"vectors:{path}"


def texts_of(place):
    rows = [json.loads(line) for line in place.joinpath("labels.jsonl").read_text().splitlines()]
    return [*dict.fromkeys(row["document"] for row in rows)], [row["query"] for row in rows]


@given(some.permutations(range(12)), some.permutations(range(12)), some.integers(1, 10), some.floats(0.1, 0.95))
def test_rank_biased_overlap_is_its_infinite_sum(first, second, depth, p):
    """Against the definition, equation 4 of Webber et al. 2010: a sum over all depths; the last agreement goes on."""
    found = rbo(first[:depth], second[:depth], p=p)
    total, agreement = 0.0, 0.0
    for d in range(1, 3_000):
        if d <= depth:
            agreement = sum(one in second[:d] for one in first[:d]) / d
        total += (1 - p) * p ** (d - 1) * agreement
    assert found == pytest.approx(total, abs=1e-9)


def test_rank_biased_overlap_refuses_lists_of_two_lengths():
    with pytest.raises(ValueError, match="rankings of 1 and 2"):
        rbo([1], [1, 2])


def test_each_map_finds_the_rotation_that_it_can_hold():
    rng = np.random.default_rng(0)
    x = rng.standard_normal((400, 16)).astype(np.float32)
    y = (x @ np.linalg.qr(rng.standard_normal((16, 16)))[0]).astype(np.float32)
    found = fits(x, y, np.arange(400), unit=True)
    assert next(iter(found)) == "orthogonal"
    assert found["orthogonal"][1] < 1e-10 > found["ridge"][1] * 1e-3
    assert found["low-rank"][1] > 1e-4  # rank 15 of 16


def test_too_few_texts_fit_a_map_of_low_rank_or_none():
    x = np.random.default_rng(0).standard_normal((71, 24)).astype(np.float32)
    assert list(fits(x, x, np.arange(71), unit=False)) == ["low-rank"]
    assert fits(x[:59], x[:59], np.arange(59), unit=False) == {}
    assert allowed(72, 24) == ("orthogonal", "ridge", "low-rank")


def test_what_is_free_in_a_map_is_chosen_by_what_was_held_back():
    """Noise that is as large as the signal asks for a larger penalty than no noise."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((150, 40)).astype(np.float32)
    plain = x @ rng.standard_normal((40, 8)).astype(np.float32)
    noised = plain + 20 * rng.standard_normal(plain.shape).astype(np.float32)
    how = [fits(x, y, np.arange(150), unit=False)["ridge"][0].how for y in (plain, noised)]
    assert how == ["penalty 1e-05 mean variances", "penalty 1 mean variances"]


def test_near_duplicates_are_held_back_together():
    groups = np.array([0, 0, 0, 1, 2, 2, 3, 4, 5])
    parts = held_back(groups, 3)
    assert all(len(set(parts[groups == g])) == 1 for g in set(groups))
    assert np.bincount(parts).tolist() == [3, 3, 3]


@pytest.mark.parametrize(
    ("new", "labels", "name"),
    [
        ("Words", True, "same"),
        ("Longer", True, "same"),
        ("Noised", True, "same"),
        ("Rounded", True, "compatible"),
        ("Turned", True, "adapter"),
        ("Turned", False, "adapter"),
        ("Stranger", True, "re-index"),
        ("Short", False, "re-index"),
    ],
)
def test_the_space_is_what_was_done_to_it(upgraded, new, labels, name):
    found = upgraded(new, labels=labels).raw["space"]
    assert found["name"] == name, found["why"]


def test_vectors_of_other_lengths_are_no_longer_the_same_where_the_model_compares_by_dot(upgraded):
    assert upgraded("LongerByDot", "WordsByDot").raw["space"]["name"] != "same"
    assert upgraded("Longer").changes[0].startswith("compare by cosine in your index, or re-index: encode all")


def test_an_index_that_loses_first_answers_is_not_compatible_though_the_first_ten_hold_them(upgraded):
    """A near space: the right document is among the first ten, and less often the first."""
    found = upgraded("Near")
    (direct, *_) = found.raw["space"]["routes"]
    first, ndcg = direct["figures"]
    assert (first["metric"], ndcg["metric"]) == ("recall@1", "nDCG@10")
    assert first["change"]["high"] < -0.02
    assert found.raw["space"]["name"] == "adapter"
    assert found.changes[0].startswith("apply the adapter to the new model's queries (recall@1")
    assert found.outcome == "do not ship" or found.changes[0] in found.checklist, found.reasons
    assert ". Re-index: no, with this adapter (new queries on the old index with the adapter: " in headline(found.raw)
    assert not any("compatible" in line for line in (*found.reasons, *found.changes))
    first, _ = upgraded("Near", labels=False).raw["space"]["routes"][0]["figures"]
    assert (first["metric"], first["own"], first["old_index"] < 0.9) == ("its own first answer first", 1, True)


def test_figures_on_the_old_index_are_those_by_hand(place, upgraded):
    direct = upgraded("Near").raw["space"]["routes"][0]
    documents, queries = texts_of(place)
    new, old = (encheck.load_model(f"upgrade_fakes:{name}").encode for name in ("Near", "Words"))
    q, own, index = (
        one / np.linalg.norm(one, axis=1, keepdims=True) for one in (new(queries), new(documents), old(documents))
    )
    right = np.arange(QUERIES) % DOCUMENTS
    for figure, at in zip(direct["figures"], (1, 10), strict=True):
        for side, name in ((own, "own"), (index, "old_index")):
            ranks = (np.argsort(-(q @ side.T), axis=1) == right[:, None]).argmax(axis=1)
            gain = np.where(ranks < at, 1 / np.log2(ranks + 2), 0)
            assert figure[name] == pytest.approx(gain.mean())


@pytest.mark.parametrize(("new", "name"), [("Near", "cannot tell"), ("Stranger", "re-index")])
def test_an_index_of_few_documents_is_not_shown_to_be_compatible(place, tmp_path, new, name):
    rows = place.joinpath("labels.jsonl").read_text().splitlines()[:25]
    tmp_path.joinpath("few.jsonl").write_text("".join(f"{row}\n" for row in rows))
    data = f"retrieval:{tmp_path / 'few.jsonl'}"
    found = encheck.upgrade(f"upgrade_fakes:{new}", "upgrade_fakes:Words", data=data, gate=False, timing=False)
    assert found.raw["space"]["name"] == name
    assert ("the first ten of 25 documents mean little" in headline(found.raw)) is (name == "cannot tell")


def test_documents_beyond_the_smaller_maximum_length_are_encoded_again(place, tmp_path):
    """Of 200 documents 20 have more words than the old model reads; nothing else differs."""
    rows = [json.loads(row) for row in place.joinpath("labels.jsonl").read_text().splitlines()]
    for i, row in enumerate(rows[:20]):
        row["document"] += " " + rows[i + 50]["document"]
    tmp_path.joinpath("long.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    models = "upgrade_fakes:Reads30", "upgrade_fakes:Reads15"
    found = encheck.upgrade(*models, data=f"retrieval:{tmp_path / 'long.jsonl'}", gate=False, timing=False)
    assert found.raw["space"]["needs_reindex"] is True
    part = "re-index in part: encode 20 of 200 documents, those of more than 15 tokens, again; "
    assert found.changes[0].startswith(part)
    assert "Re-index: yes, for 20 of 200 documents, which have more than 15 tokens" in headline(found.raw)
    short = encheck.upgrade(*models, data=f"retrieval:{place / 'labels.jsonl'}", gate=False, timing=False)
    assert (short.outcome, short.raw["space"]["name"]) == ("ship", "same")
    assert "the longest of 200 documents has 12 tokens, and vectors stay up to 15" in headline(short.raw)


def test_a_prompt_before_documents_is_no_compatible_index_by_name(upgraded):
    vectors = upgraded("Prompted").raw["space"]["vectors"]
    assert (vectors["needed"], "documents get 'ashane '" in vectors["why"]) == (True, True)


def test_the_controls_say_what_chance_and_batches_do(upgraded):
    controls = upgraded("Turned").raw["space"]["controls"]
    (batches,), stranger = controls["the old model in other batches"], controls["an unrelated model"]
    assert batches["top10"]["value"] == 1
    assert stranger[0]["top10"]["value"] < 0.3
    assert stranger[1]["name"] == "with the adapter"
    assert stranger[1]["top10"]["high"] < 0.98


def test_an_adapter_does_what_the_page_says(place, tmp_path, upgraded):
    found = upgraded("Turned", report_dir=tmp_path)
    a = np.load(tmp_path / "adapter.npz", allow_pickle=False)
    documents, queries = texts_of(place)
    old, new = (encheck.load_model(f"upgrade_fakes:{name}").encode for name in ("Words", "Turned"))
    q = new(queries)
    q = q / np.linalg.norm(q, axis=1, keepdims=True)
    q = q @ a["matrix"] + a["offset"]
    index, own = (one / np.linalg.norm(one, axis=1, keepdims=True) for one in (old(documents), new(documents)))
    assert ((q @ index.T).argmax(axis=1) == (new(queries) @ own.T).argmax(axis=1)).all()
    assert str(a["kind"]) == found.raw["adapter"]["kind"] == "orthogonal"
    assert "adapter.npz" in tmp_path.joinpath("upgrade.html").read_text("utf-8")


def test_answers_that_change_are_counted_as_by_hand(place, upgraded):
    found = upgraded("Rounded").raw["search"]
    documents, queries = texts_of(place)
    tops = []
    for name in ("Words", "Rounded"):
        vectors = [encheck.load_model(f"upgrade_fakes:{name}").encode(some) for some in (queries, documents)]
        q, d = (one / np.linalg.norm(one, axis=1, keepdims=True) for one in vectors)
        tops.append(np.argsort(-(q @ d.T), axis=1)[:, :10])
    changed = tops[0][:, 0] != tops[1][:, 0]
    overlap = np.mean([len({*a} & {*b}) / 10 for a, b in zip(*tops, strict=True)])
    assert found["moved"]["first"]["value"] == pytest.approx(changed.mean())
    assert found["moved"]["overlap"]["value"] == pytest.approx(overlap)
    right = np.arange(QUERIES) % DOCUMENTS
    was, now = (one[:, 0] == right for one in tops)
    better = found["better"]
    assert (better["better"], better["worse"]) == ((now & ~was).sum(), (was & ~now).sum())
    change = better["figures"]["recall@1"]["change"]
    assert change["value"] == pytest.approx(now.mean() - was.mean())
    assert change["low"] <= change["value"] <= change["high"]
    assert [one["rbo"] for one in found["most"]] == sorted(one["rbo"] for one in found["most"])


def test_a_query_that_is_asked_often_weighs_as_much(place, tmp_path, upgraded):
    moved = upgraded("Rounded", labels=False).raw["search"]
    often = moved["most"][0]["query"]
    log = tmp_path / "log.csv"
    rows = [(query, 1_000 if query == often else 1) for query in dict.fromkeys(texts_of(place)[1])]
    log.write_text("query,count\n" + "".join(f"{query},{count}\n" for query, count in rows))
    found = encheck.upgrade(
        "upgrade_fakes:Rounded", "upgrade_fakes:Words", data=f"passages:{place / 'documents.jsonl'}", queries=log,
        gate=False, timing=False,
    ).raw  # fmt: skip
    assert found["data"]["asked"] == 1_000 + len(rows) - 1
    assert found["search"]["moved"]["rbo"]["value"] < moved["moved"]["rbo"]["value"] - 0.1


def test_judgements_beside_the_log_say_better_and_worse(place, upgraded):
    from encheck.gating.judged import Asked
    from encheck.gating.judgements import keep, place_of
    from encheck.types import content_hash

    before = upgraded("Rounded", labels=False)
    assert before.raw["search"]["better"] is None
    one = next(q for q in before.raw["search"]["most"] if q["before"][0]["text"] != q["after"][0]["text"])
    hashes = [content_hash(text) for text in (one["query"], one["before"][0]["text"], one["after"][0]["text"])]
    qrels = place_of(place / "log.txt")
    keep(qrels, [(Asked("any", 1, "any", *hashes), "before")])
    try:
        better = upgraded("Rounded", labels=False, qrels=qrels).raw["search"]["better"]
    finally:
        qrels.unlink()
    assert (better["source"], better["better"], better["worse"]) == ("judgements", 0, 1)
    assert better["unjudged"] == before.raw["search"]["moved"]["queries"] - 1


def log_of(count, *, seed=0):
    return Log.of([1] * count, [str(i) for i in range(count)], seed=seed)


def test_a_threshold_goes_where_as_many_answers_pass():
    scores = np.random.default_rng(0).uniform(0, 1, 400)
    found = mapped(scores, scores / 2, 0.7, log_of(400))
    assert found.threshold.value == pytest.approx(0.35, abs=0.002)
    assert found.threshold.low <= 0.35 <= found.threshold.high
    assert found.now.value == 0
    assert found.answered.value == (scores >= 0.7).mean()


def test_a_threshold_that_few_or_all_pass_is_not_mapped():
    scores = np.linspace(0, 1, 100)
    assert "29 queries pass it" in mapped(scores, scores, scores[-29], log_of(100)).refused
    assert mapped(scores, scores, scores[-30], log_of(100)).threshold
    assert "all queries pass" in mapped(scores, scores, -1.0, log_of(100)).refused


def space_of(name):
    vectors = Reindex(name != "same" or None, "yes", "why")
    return Space(name, "why", vectors, (Route("with the adapter", Figure(0.99, 0.985, 1.0), (), 9),))


def changed(first, better=None):
    figure = Figure(*first)
    return Changes(Moved(figure, figure, figure, 1), None, (), better, (0, 0))


def labelled(*change, clusters=20):
    return Better("labels", 1, 1, 1, 0, clusters, {"recall@1": (0.9, 0.9 + change[0], Figure(*change))})


FEW, MANY = (0.005, 0.001, 0.015), (0.2, 0.15, 0.25)
ASKED = [
    ("re-index", "block", changed(FEW), (), "do not ship"),
    ("same", "block", changed(FEW), (), "do not ship"),
    ("same", None, None, (), "ship"),
    ("re-index", "pass", changed(MANY), ("re-index",), "ship with these changes"),
    ("compatible", "pass", changed(FEW), (), "ship"),
    ("compatible", "inconclusive", changed(FEW), (), "cannot tell"),
    ("compatible", None, changed(FEW), (), "cannot tell"),
    ("re-index", None, changed(MANY, labelled(-0.1, -0.13, -0.07)), (), "do not ship"),
    ("re-index", None, changed(MANY, labelled(-0.1, -0.13, -0.07, clusters=19)), (), "cannot tell"),
    ("re-index", None, changed(MANY, labelled(-0.01, -0.03, 0.01)), (), "cannot tell"),
    ("re-index", None, None, (), "cannot tell"),
]


@pytest.mark.parametrize(("space", "gate", "found", "needed", "outcome"), ASKED)
def test_the_verdict_is_one_of_four_words(space, gate, found, needed, outcome):
    made = shipping.verdict(space_of(space), Gated(gate, ("the gate said so",)), found, needed)
    assert made.outcome == outcome
    assert made.exit_code == {"ship": 0, "ship with these changes": 0, "do not ship": 1, "cannot tell": 10}[outcome]
    assert made.reasons


def test_same_vectors_ship_without_a_gate(upgraded):
    found = upgraded("Noised", threshold=0.5)
    assert (found.outcome, found.exit_code, found.changes) == ("ship", 0, ())


def test_what_has_to_change_is_listed(upgraded):
    found = upgraded("Short", labels=False, threshold=(0.7, 0.999))
    said = "\n".join(found.changes)
    assert "re-index: encode all documents again (200 here)" in said
    assert "vectors of 12 dimensions in place of 24" in said
    assert "choose the threshold 0.999 anew" in said
    assert set(found.changes) <= set(found.checklist)


def test_a_run_of_the_command_writes_a_page_and_valid_json(place, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    asked = [
        "upgrade_fakes:Short",
        "--baseline",
        "upgrade_fakes:Words",
        "--data",
        f"passages:{place / 'documents.jsonl'}",
    ]
    asked += ["--queries", str(place / "log.txt"), "--no-gate", "--threshold", "0.8"]
    done = CliRunner().invoke(app, ["upgrade", *asked])
    assert done.exit_code == 10, done.output
    assert "UPGRADE: CANNOT TELL. not run (--no-gate)" in done.output
    assert "Re-index: yes (vectors of 12 dimensions before" not in done.output.split("UPGRADE")[0]
    raw = json.loads(Path("reports/upgrade/upgrade.json").read_text("utf-8"))
    jsonschema.validate(
        raw, json.loads(resources.files("encheck.deciding").joinpath("upgrade.schema.json").read_text())
    )
    assert raw["costs"]["new"]["speed"]["p95"] >= raw["costs"]["new"]["speed"]["p50"] > 0
    assert raw["costs"]["new"]["bytes_per_million"] == 12 * 4 * 1_000_000
    page = Path("reports/upgrade/upgrade.html").read_text("utf-8")
    assert "Not yet: cannot tell whether " in page
    assert raw["search"]["most"][0]["query"] in page


def test_texts_are_escaped_on_the_page(upgraded):
    from encheck.deciding.upgrade_page import render

    raw = json.loads(json.dumps(upgraded("Rounded").raw))
    raw["search"]["most"][0]["query"] = "<script>alert(1)</script>"
    assert "<script>alert" not in render(raw)


def test_vectors_of_a_retired_model_are_enough(place, tmp_path, upgraded):
    documents, queries = texts_of(place)
    whole = upgraded("Rounded", written("Words", tmp_path / "old.parquet", [*documents, *queries]))
    model = upgraded("Rounded").raw
    assert whole.raw["search"]["moved"] == model["search"]["moved"]
    assert whole.raw["search"]["control"] is None
    assert whole.raw["space"]["routes"] == model["space"]["routes"]
    assert whole.raw["costs"]["old"]["speed"] is None


def test_vectors_of_documents_alone_say_whether_the_index_stays(place, tmp_path, upgraded):
    documents, _ = texts_of(place)
    found = upgraded("Turned", written("Words", tmp_path / "index.parquet", documents))
    assert found.raw["space"]["name"] == "adapter"
    assert found.raw["search"] is None
    assert found.outcome == "cannot tell"


def gated(place, tmp_path, new, old):
    return encheck.upgrade(
        new, old, data=f"retrieval:{place / 'labels.jsonl'}", timing=False, report_dir=tmp_path / "r"
    )


def test_the_gate_weighs_the_search_of_vectors_alone_and_says_that_behaviour_is_not_compared(place, tmp_path):
    old = written("Words", tmp_path / "old.parquet", [one for some in texts_of(place) for one in some])
    found = gated(place, tmp_path, "upgrade_fakes:Stranger", old)
    assert {row["row"] for row in found.raw["gate"]["rows"]} == {"retrieval/retrieval/1"}
    assert found.raw["gate"]["outcome"] is not None
    assert found.reasons[0].startswith("behaviour was not compared: old has no vectors of the probes. GATE")
    assert (tmp_path / "r" / "gate" / "results.json").is_file()


def test_the_gate_weighs_what_a_new_file_of_vectors_has(place, tmp_path):
    new = written("Rounded", tmp_path / "new.parquet", [one for some in texts_of(place) for one in some])
    found = gated(place, tmp_path, new, "upgrade_fakes:Words")
    assert found.raw["gate"]["rows"][0]["baseline"] > 0
    assert "new has no vectors of the probes" in found.reasons[0]


def test_a_gate_of_documents_alone_is_not_run_and_says_why(place, tmp_path):
    old = written("Words", tmp_path / "index.parquet", texts_of(place)[0])
    found = gated(place, tmp_path, "upgrade_fakes:Turned", old)
    assert (found.outcome, found.raw["gate"]["outcome"]) == ("cannot tell", None)
    assert found.reasons[0] == "not run: index does not have all texts of any check: add the texts of the queries"


class Some(upgrade_fakes.Words):
    """Has vectors of the texts in `known`."""

    known = ()

    def lacks(self, texts, *, role=None):
        return [text for text in texts if text not in self.known]


def test_vectors_of_some_probes_are_weighed_too():
    from encheck.api.upgrading import _is_strange_to_the_probes

    none, some = Some(), Some()
    some.known = {encheck.load_data("probes").groups[0].source}
    sides = [SimpleNamespace(subject=SimpleNamespace(model=one)) for one in (none, some, encheck.load_model("random"))]
    assert [_is_strange_to_the_probes(side) for side in sides] == [True, False, False]


def test_a_document_without_a_vector_is_named(place, tmp_path, upgraded):
    documents, queries = texts_of(place)
    old = written("Words", tmp_path / "old.parquet", [*documents, *queries], hidden=documents[:1])
    with pytest.raises(EncheckError, match="no vector of 1 of 200 texts"):
        upgraded("Rounded", old)


@pytest.mark.parametrize(
    ("new", "old", "how", "error", "said"),
    [
        ("jaccard", "upgrade_fakes:Words", {}, UsageError, "jaccard scores pairs and has no vectors"),
        ("upgrade_fakes:Words", "upgrade_fakes:Words", {"data": "probes"}, UsageError, "no documents to search"),
        ("upgrade_fakes:Words", "nothing", {}, UsageError, "unknown model 'nothing'"),
        ("upgrade_fakes:Words", "upgrade_fakes:Words", {"data": "retrieval:./none"}, DataError, "does not exist"),
        ("upgrade_fakes:Words", "upgrade_fakes:Words", {"baseline": "x"}, UsageError, "not an option of upgrade"),
        ("upgrade_fakes:Words", "upgrade_fakes:Words", {"sed": "1"}, UsageError, "unknown option 'sed'"),
    ],
)
def test_wrong_use_is_one_clear_message(place, new, old, how, error, said):
    asked = {"data": f"retrieval:{place / 'labels.jsonl'}", "gate": False, "timing": False, **how}
    with pytest.raises(error, match=said):
        encheck.upgrade(new, old, **asked)


def test_a_place_that_takes_no_files_is_said_before_anything_is_encoded(place, tmp_path):
    tmp_path.joinpath("file").write_text("")
    asked = {"data": f"retrieval:{place / 'labels.jsonl'}", "report_dir": tmp_path / "file" / "report"}
    with pytest.raises(UsageError, match="cannot write into"):
        encheck.upgrade("encheck.encoders.fake:Nan", "encheck.encoders.fake:Nan", **asked)


def decided(gate):
    """What a gate gives that decided so."""
    results = SimpleNamespace(raw={"gate": gate})
    return SimpleNamespace(result=SimpleNamespace(results=results), write=lambda _place: None)


def test_the_gate_measures_both_models_together(place, tmp_path, monkeypatch):
    from encheck.api import upgrading

    ran = []
    row = {"row": "number/probes/1", "family": "meaning changed", "baseline": 0.7, "candidate": 0.6, "change": -0.1,
           "low": -0.2, "high": -0.05, "outcome": "block", "gates": True}  # fmt: skip
    counts = {"kind": "rate", "evidence": True, "n": 100, "clusters": 40, "lost": 10, "gained": 0, "delta": 0.02}
    whole = row | counts | {"why": "70.0% to 60.0%", "detectable": 0.05}
    empty = {key: [] for key in ("families", "contracts", "searches", "remedies", "notes")}
    scores = {"balanced": {"baseline": 0.7, "candidate": 0.6}, "seed_noise": 0.0, "replicates": None}
    against = {"baseline": "old", "outcome": "block", "reasons": ["number: worse"], "rows": [whole]}
    against |= empty | scores | {"reported_only": {}}
    against["partial"] = None
    gate = {"outcome": "block", "exit_code": 1, "partial": None, "against": [against]}

    def decide(new, old, **how):
        ran.append((new, old, how))
        return decided(gate)

    monkeypatch.setattr(upgrading, "decide", decide)
    found = encheck.upgrade(
        "upgrade_fakes:Turned", "upgrade_fakes:Words", data=f"retrieval:{place / 'labels.jsonl'}", checks="number",
        timing=False, report_dir=tmp_path, seed="1",
    )  # fmt: skip
    ((new, old, how),) = ran
    assert (new, old) == ("upgrade_fakes:Turned", "upgrade_fakes:Words")
    assert (*how["data"], how["checks"], how["options"]["seed"]) == (
        "probes", f"retrieval:{place / 'labels.jsonl'}", "(number) or retrieval", "1",
    )  # fmt: skip
    assert (found.outcome, found.exit_code) == ("do not ship", 1)
    assert found.raw["gate"]["rows"] == [row]
    page = tmp_path.joinpath("upgrade.html").read_text("utf-8")
    assert "number/probes/1" in page
    assert "Numbers got worse: 10 of 100 items lost." in page
    assert found.checklist[0] == "keep upgrade_fakes-Words in use"


def test_a_gate_of_the_search_alone_never_ships(place, tmp_path, monkeypatch):
    """Stored vectors have none of the probes: behaviour was not compared, whatever the gate of the search says."""
    from encheck.api import upgrading

    empty = {key: [] for key in ("families", "contracts", "searches", "remedies", "notes", "reasons", "rows")}
    against = {"baseline": "old", "outcome": "pass", "partial": None, "reported_only": {}, "seed_noise": 0.0}
    against |= empty | {"balanced": {"baseline": None, "candidate": None}, "replicates": None}
    gate = {"outcome": "pass", "exit_code": 0, "partial": None, "against": [against]}

    monkeypatch.setattr(upgrading, "decide", lambda *_models, **_how: decided(gate))
    rows = [json.loads(line) for line in place.joinpath("labels.jsonl").read_text().splitlines()]
    old = written("Words", tmp_path / "old.parquet", sorted({text for row in rows for text in row.values()}))
    data, folder = f"retrieval:{place / 'labels.jsonl'}", tmp_path / "report"
    found = encheck.upgrade("upgrade_fakes:Rounded", old, data=data, timing=False, report_dir=folder)
    assert (found.outcome, found.exit_code) == ("cannot tell", 10)
    assert found.reasons[0].startswith(
        "behaviour was not compared: old has no vectors of the probes. GATE (partial: ret"
    )
    page = folder.joinpath("upgrade.html").read_text("utf-8")
    assert "partial: retrieval" in page
    assert "may replace" not in page
    assert "Yes" not in page


@pytest.mark.long
def test_an_upgrade_with_a_part_of_the_checks_never_ships(place, tmp_path):
    args = ["upgrade", "upgrade_fakes:Rounded", "--baseline=upgrade_fakes:Words", "--data"]
    args += [f"retrieval:{place / 'labels.jsonl'}", "-m", "number", "--no-timing", f"--report-dir={tmp_path}"]
    done = CliRunner().invoke(app, args)
    assert done.exit_code in (1, 10), done.output
    assert "GATE (partial: " in done.output
    assert "Yes" not in tmp_path.joinpath("upgrade.html").read_text("utf-8")


def test_a_folder_of_scores_holds_no_vectors(tmp_path):
    tmp_path.joinpath("results.json").write_text("{}")
    with pytest.raises(UsageError, match="no vectors, but an upgrade compares vectors"):
        encheck.upgrade("sbert", tmp_path, data="probes")


def damaged(path, texts, *, old="Words", damage):
    """A file of the texts' vectors after something went wrong with some of them."""
    vectors = damage(encheck.load_model(f"upgrade_fakes:{old}").encode(texts))
    pyarrow.parquet.write_table(pyarrow.table({"text": texts, "vector": vectors.tolist()}), path)
    return f"vectors:{path}"


def part_of(rows, other):
    """What puts other vectors in these rows' places."""

    def damage(vectors):
        made = vectors.copy()
        made[rows] = other(vectors)[rows]
        return made

    return damage


BATCH = slice(100, 125)
SHIFTED = part_of(BATCH, lambda vectors: np.roll(vectors, 1, axis=0))
STRANGE = part_of(slice(160, 200), lambda vectors: np.random.default_rng(0).standard_normal(vectors.shape))


@pytest.mark.parametrize(
    ("new", "damage", "said", "rows"),
    [
        ("Words", SHIFTED, "25 are not: 25 belong to other texts", range(100, 125)),
        ("Turned", SHIFTED, "25 of 200 stored vectors belong to other texts: rows 100-124 fit the texts 1 before them",
         range(100, 125)),
        ("Words", STRANGE, "160 of 200 stored vectors are the new model's, 40 are not", range(160, 200)),
        ("Turned", STRANGE, "do not fit the others", None),
        ("Words", part_of(slice(0, 200, 10), np.zeros_like), "20 are zero", range(0, 200, 10)),
        ("Turned", part_of(slice(0, 200, 10), np.zeros_like), "20 of 200 stored vectors are zero", range(0, 200, 10)),
        ("Words", part_of(slice(0, 200, 3), lambda vectors: 7 * vectors), "67 have the right direction", None),
    ],
)  # fmt: skip
def test_an_index_with_faults_is_not_shipped_on_and_gets_no_adapter(place, tmp_path, new, damage, said, rows):
    old = damaged(tmp_path / "old.parquet", texts_of(place)[0], damage=damage)
    found = encheck.upgrade(
        f"upgrade_fakes:{new}",
        old,
        data=f"retrieval:{place / 'labels.jsonl'}",
        timing=False,
        report_dir=tmp_path / "up",
    )
    jsonschema.validate(
        found.raw, json.loads((resources.files("encheck.deciding") / "upgrade.schema.json").read_text())
    )
    assert (found.outcome, found.exit_code, found.raw["adapter"]) == ("do not ship", 1, None)
    assert said in found.reasons[0]
    if rows is not None:
        assert found.raw["index_faults"]["rows"] == list(rows)
    assert "repair these rows" in found.checklist[0]
    assert not (tmp_path / "up" / "adapter.npz").exists()
    page = (tmp_path / "up" / "upgrade.html").read_text()
    assert "No: repair the index of old" in page
    assert "Yes" not in page.partition("<main")[2].partition("<h3")[0]


def test_the_last_line_names_the_fault(place, tmp_path):
    old = damaged(tmp_path / "old.parquet", texts_of(place)[0], damage=SHIFTED)
    run = ["upgrade", "upgrade_fakes:Words", f"--baseline={old}", f"--data=retrieval:{place / 'labels.jsonl'}"]
    result = CliRunner().invoke(app, [*run, "--no-timing", f"--report-dir={tmp_path / 'up'}"])
    assert result.exit_code == 1
    last = result.stdout.splitlines()[-1]
    assert last.startswith("UPGRADE: DO NOT SHIP. 175 of 200 stored vectors are the new model's, 25 are not: 25 belong")
    assert "Re-index: yes" in last


@pytest.mark.parametrize("new", ["Words", "Noised", "Rounded", "Turned", "Short", "Longer", "Stranger"])
def test_an_index_without_faults_is_compared_whatever_the_new_model_is(place, tmp_path, new):
    old = damaged(tmp_path / "old.parquet", texts_of(place)[0], damage=lambda vectors: vectors)
    found = encheck.upgrade(
        f"upgrade_fakes:{new}", old, data=f"retrieval:{place / 'labels.jsonl'}", timing=False, gate=False
    )
    assert found.raw["index_faults"] is None


def test_a_limit_that_was_moved_is_no_fault_of_the_index(place, tmp_path):
    texts = texts_of(place)[0]
    limit = np.quantile([len(text) for text in texts], 0.8)
    long = [row for row, text in enumerate(texts) if len(text) > limit]
    strange = part_of(long, lambda vectors: np.random.default_rng(0).standard_normal(vectors.shape))
    old = damaged(tmp_path / "old.parquet", texts, damage=strange)
    found = encheck.upgrade(
        "upgrade_fakes:Words", old, data=f"retrieval:{place / 'labels.jsonl'}", timing=False, gate=False
    )
    assert found.raw["index_faults"] is None
