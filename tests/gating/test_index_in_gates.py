"""A gate on the user's documents: what becomes of the index, what has to change, and an index with faults."""

import json
from dataclasses import replace

import jsonschema
import numpy as np
import pytest
from index_places import made, part_of, texts_of, written
from recorded import MODEL, schema
from typer.testing import CliRunner

import encheck
from encheck.cli import app
from encheck.errors import UsageError
from encheck.gating.advice import list_required_changes
from encheck.gating.old_index import IndexFaults, OldIndex
from encheck.gating.reindex import Reindex
from encheck.gating.scale_shift import measure_threshold_shift
from encheck.run_file import ModelEntry
from encheck.system.typed_files import as_values, read_typed

SHIFTED = part_of(slice(100, 125), lambda vectors: np.roll(vectors, 1, axis=0))


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return made(tmp_path_factory.mktemp("index"))


@pytest.fixture(scope="module")
def gate(place, few_probes, tmp_path_factory):
    """A gate of a new model on the labelled search, or on documents with a log."""
    store = tmp_path_factory.mktemp("store") / "store.sqlite"

    def gate(new, old="index_fakes:Words", *, labels="labels.jsonl", **how):
        # without probes, a gate of two models adds all of the embedded ones
        own = [f"retrieval:{place / labels}", *([few_probes] if "checks" in how else [])]
        data = {"data": own} if labels else on_log(place)
        found = encheck.gate(f"index_fakes:{new}", old, **data, store=store, **how)
        jsonschema.validate(as_values(found.results.raw), schema(), cls=jsonschema.Draft202012Validator)
        return found

    return gate


def on_log(place):
    return {"data": f"passages:{place / 'documents.jsonl'}", "queries": place / "log.txt"}


def test_an_adapter_is_written_and_every_report_says_what_has_to_change(gate, tmp_path):
    found = gate("Turned", checks="retrieval", report_dir=tmp_path)
    assert (found.reindex.needed, found.reindex.texts, found.adapter.kind) == (True, 200, "orthogonal")
    change = found.required_changes[0]
    assert change.startswith("Encode all 200 documents again with index_fakes-Turned: old and new vectors do not mix.")
    assert "with adapter.npz the old index answers the queries of " in change
    assert np.load(tmp_path / "adapter.npz", allow_pickle=False)["matrix"].shape == (24, 24)
    (against,) = json.loads(tmp_path.joinpath("results.json").read_text())["gate"]["against"]
    assert (against["adapter"]["file"], against["required_changes"][0]) == ("adapter.npz", change)


def test_documents_beyond_the_smaller_maximum_length_are_counted(place, gate):
    """Of 200 documents 20 have more words than the old model reads; nothing else differs."""
    rows = [json.loads(row) for row in place.joinpath("labels.jsonl").read_text().splitlines()]
    for i, row in enumerate(rows[:20]):
        row["document"] += " " + rows[i + 50]["document"]
    place.joinpath("long.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = gate("Reads30", "index_fakes:Reads15", labels="long.jsonl", checks="retrieval")
    assert found.reindex.says.startswith("re-index: yes, for 20 of 200 documents, which have more than 15 tokens")
    assert found.required_changes == (
        "Encode 20 of 200 documents again with index_fakes-Reads30: those of more than 15 tokens. The other vectors "
        "stay valid.",
    )
    short = gate("Reads30", "index_fakes:Reads15", checks="retrieval")
    assert (short.reindex.needed, short.required_changes) == (False, ())


def test_thresholds_are_mapped_on_first_answers(gate):
    found = gate("Short", checks="retrieval", threshold=[0.7, 0.999])
    shifts = found.results.raw.gate.against[0].thresholds
    moved, _ = (one for one in shifts if one.data == "retrieval")
    assert (moved.unit, moved.pairs, moved.accepted) == ("first answers", 200, round(200 * moved.before))
    said = "\n".join(found.required_changes)
    assert f"Move the threshold 0.7 to {moved.same}, which accepts the same share of retrieval." in said
    assert "Choose a new value for the threshold 0.999" in said
    assert "with 12 dimensions instead of 24" in said


def test_a_gate_on_vectors_and_a_log_never_says_yes(place, gate, tmp_path):
    """Behaviour was not compared, whatever the answers to the queries are."""
    old = written(tmp_path / "old.parquet", [text for some in texts_of(place) for text in some])
    found = gate("Turned", old, labels="")
    assert found.results.raw.gate.against[0].searches[0].passes
    assert (found.outcome, found.exit_code) == ("inconclusive", 10)
    assert "neither behaviour nor a search with labels was compared" in str(found)
    assert found.reindex.texts == 200


def test_vectors_of_documents_alone_say_what_becomes_of_the_index(place, gate, tmp_path):
    found = gate("Turned", written(tmp_path / "index.parquet", texts_of(place)[0]))
    assert (found.outcome, found.reindex.needed, found.adapter.kind) == ("inconclusive", True, "orthogonal")


@pytest.mark.parametrize("damage", [SHIFTED, part_of(slice(0, 200, 10), np.zeros_like)])
def test_an_index_with_faults_is_told_first_and_gets_no_adapter(place, gate, tmp_path, damage):
    old = written(tmp_path / "old.parquet", texts_of(place)[0], damage=damage)
    found = gate("Turned", old, report_dir=tmp_path / "report")
    assert (found.outcome, found.exit_code, found.adapter) == ("inconclusive", 10, None)
    assert found.index_faults.says in found.reasons[0]
    (change,) = found.required_changes
    assert change.startswith("Repair these rows of the old index, or rebuild the index: ")
    assert found.reindex.says == f"re-index: cannot tell until the index is repaired ({found.index_faults.says})"
    assert not (tmp_path / "report" / "adapter.npz").exists()
    page = (tmp_path / "report" / "gate.html").read_text()
    assert f"Not yet: repair the index of old first, since {found.index_faults.says}" in page
    assert "<h3>What has to change</h3>" in page
    assert "What has to change:" in (tmp_path / "report" / "summary.md").read_text()


def test_the_last_line_names_the_fault(place, tmp_path):
    old = written(tmp_path / "old.parquet", texts_of(place)[0], damage=SHIFTED)
    junit = tmp_path / "junit.xml"
    run = ["gate", "index_fakes:Words", old, f"--data=retrieval:{place / 'labels.jsonl'}", f"--junitxml={junit}"]
    done = CliRunner().invoke(app, [*run, f"--report-dir={tmp_path / 'report'}", f"--store={tmp_path / 's.sqlite'}"])
    assert done.exit_code == 10, done.output
    last = done.stdout.splitlines()[-1]
    assert "INCONCLUSIVE. 175 of 200 stored vectors are the new model's, 25 are not: 25 belong to other texts" in last
    assert "  what has to change:" in done.stdout.splitlines()
    assert "what has to change: Repair these rows of the old index" in junit.read_text()


@pytest.mark.parametrize(
    ("part", "said"),
    [
        (slice(1, None), "old has no vector of 1 of the 200 documents of retrieval"),
        (slice(0), "old has no vector of any of the 400 texts of these data"),
    ],
)
def test_vectors_of_other_texts_are_refused_before_anything_is_encoded(place, tmp_path, part, said):
    old = written(tmp_path / "old.parquet", [*texts_of(place)[0][part], "another text"])
    with pytest.raises(UsageError, match=said):
        encheck.gate("encheck.encoders.fake:Nan", old, data=f"retrieval:{place / 'labels.jsonl'}")


def test_a_threshold_that_is_no_number_is_refused(place):
    with pytest.raises(UsageError, match="--threshold is nan"):
        encheck.gate("index_fakes:Words", "index_fakes:Turned", **on_log(place), threshold=np.float32("nan"))


OLD = read_typed(ModelEntry, MODEL | {"label": "old", "licence": "mit", "dimension": 24})


def about(**more):
    return replace(OLD, label="new", **more)


def test_a_ticket_lists_index_prompts_thresholds_and_licence_in_this_order():
    scores = np.linspace(0, 1, 400)
    found = list_required_changes(
        replace(OLD, prompts_used={"query": "", "document": "p: "}),
        about(prompts_used={"query": "q: ", "document": ""}, dimension=12, licence=""),
        reindex=Reindex(True, "yes", "why"),
        index=OldIndex(7, Reindex(True, "yes", "why"), IndexFaults("2 are zero", (3, 4))),
        thresholds=[
            measure_threshold_shift(scores, scores / 2, threshold=0.8, data=name) for name in ("probes", "own")
        ],
    )
    assert list(found) == [
        "Repair these rows of the old index, or rebuild the index: 3-4.",
        "Encode all 7 documents again with new: old and new vectors do not mix.",
        "Create the index with 12 dimensions instead of 24.",
        "Put 'q: ' before queries.",
        "Put nothing before documents instead of 'p: '.",
        "Move the threshold 0.8 to 0.4, which accepts the same share of own.",
        "Check the licence: not stated instead of mit.",
    ]


def test_the_same_model_and_a_scorer_of_pairs_change_nothing_but_thresholds():
    scores = np.linspace(0, 1, 400)
    shift = measure_threshold_shift(scores, scores / 2, threshold=0.8, data="own")
    same = Reindex(False, "no", "why", same_model=True)
    assert list(list_required_changes(OLD, about(), reindex=same, index=None, thresholds=[])) == []
    assert list(list_required_changes(OLD, about(), reindex=None, index=None, thresholds=[shift])) == [
        "Move the threshold 0.8 to 0.4, which accepts the same share of own."
    ]
    equal = measure_threshold_shift(scores, scores.round(), threshold=0.8, data="own")  # 1 accepts half of them, as 0.8
    assert list(list_required_changes(OLD, about(), reindex=None, index=None, thresholds=[equal])) == []
    few = measure_threshold_shift(scores[:20], scores[:20], threshold=0.8, data="own")
    found = [list(list_required_changes(OLD, about(), reindex=same, index=None, thresholds=[few])),
             list(list_required_changes(OLD, about(), reindex=None, index=None, thresholds=[few]))]  # fmt: skip
    assert found[0] == []
    assert found[1][0].startswith("Choose a new value for the threshold 0.8")
    built_in = measure_threshold_shift(scores, scores / 2, threshold=0.8, data="probes")
    (moved,) = list_required_changes(OLD, about(), reindex=None, index=None, thresholds=[few, built_in])
    assert moved == "Move the threshold 0.8 to 0.4, which accepts the same share of probes."
    cosine = Reindex(None, "no, if ...", "why", only_by_cosine=True)
    (said,) = list_required_changes(OLD, about(), reindex=cosine, index=None, thresholds=[])
    assert said.startswith("Compare by cosine in your index, or encode all documents again")
