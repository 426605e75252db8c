"""The audit of a stored index: each kind of fault is found, named and listed, and nothing right is called wrong."""

import csv
import json
import subprocess
import sys
from pathlib import Path

import index_fakes
import jsonschema
import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
from typer.testing import CliRunner

import encheck
from encheck.cli import app
from encheck.errors import DataError, UsageError

ROWS = 120
VOCABULARY = [f"{a}{b}" for a in "bdfgklmnprst" for b in ("ane", "ilo", "urk", "est", "ova", "iny", "ash", "omp")]
RANDOM = np.random.default_rng(0)
TEXTS = [" ".join(RANDOM.choice(VOCABULARY, 12, replace=False)) for _ in range(ROWS)]
OTHER = np.arange(ROWS) >= 90


class Ordered(index_fakes.Words):
    """Words by their place, of length 1, in two roles; at most `limit` letters are read."""

    limit = 10_000

    def prompt_for(self, role):
        return "query " if role == "query" else ""

    def encode(self, texts, *, role=None):
        return ordered([(self.prompt_for(role) + text)[: self.limit] for text in texts])


class Restless(Ordered):
    """Never the same vector twice."""

    calls = 0

    def encode(self, texts, *, role=None):
        Restless.calls += 1
        return ordered(texts) + np.float32(0.2) * np.random.default_rng(Restless.calls).standard_normal(
            (len(texts), 48)
        )


def ordered(texts, *, salt="", dimension=48):
    from encheck.encoders.fake import random_direction

    made = [
        np.sum(
            [(1 + i % 3) * random_direction(salt + word, dimension) for i, word in enumerate(t.lower().split())], axis=0
        )
        for t in texts
    ]
    return np.array([vector / np.linalg.norm(vector) for vector in made], np.float32)


def edited(text):
    return " ".join([*text.split()[:-3], "was", "withdrawn"])


RIGHT = ordered(TEXTS)


def stored(tmp_path, vectors, *, texts=TEXTS, name="index.parquet", kind=None, **columns):
    rows = [None if v is None else np.asarray(v).tolist() for v in vectors]
    table = {"text": texts, "vector": pyarrow.array(rows, kind)}
    pyarrow.parquet.write_table(pyarrow.table({**table, **columns}), tmp_path / name)
    return f"vectors:{tmp_path / name}"


def audited(tmp_path, vectors, *, model=None, sample=None, similarity="dot", seed=0, **how):
    index = stored(tmp_path, vectors, **how)
    return encheck.audit_index(model or Ordered(), index, sample=sample, similarity=similarity, seed=seed)


def where(condition, first, second=RIGHT):
    return np.where(np.asarray(condition)[:, None], first, second).astype(np.float32)


def faults(audit, kind):
    return [row.number for row in audit.faults if row.kind == kind]


def test_an_index_that_is_the_models_is_all_right(tmp_path):
    audit = audited(tmp_path, RIGHT)
    assert (audit.outcome, audit.exit_code, audit.count("right")) == ("all are", 0, ROWS)
    assert (audit.wrong, audit.faults, audit.groups) == (None, (), ())


def test_rows_of_another_model_are_a_group_with_that_cause(tmp_path):
    audit = audited(tmp_path, where(OTHER, ordered(TEXTS, salt="strange")))
    assert (audit.exit_code, audit.count("right"), faults(audit, "unexplained")) == (1, 90, list(range(90, 120)))
    (group,) = audit.groups
    assert (group.cause, group.rows) == ("another model", tuple(range(90, 120)))
    assert "correlate" in group.evidence
    assert "30 are another model's" in audit.reason


def test_a_model_that_was_disturbed_a_little_is_another_models_wherever_its_rows_are(tmp_path):
    random = np.random.default_rng(1)
    mapped = RIGHT + 0.35 * RIGHT @ (random.standard_normal((48, 48)) / np.sqrt(48))
    audit = audited(tmp_path, where(np.arange(ROWS) % 3 == 1, mapped))
    assert [(group.cause, len(group.rows)) for group in audit.groups] == [("another model", 40)]


def test_rows_of_earlier_texts_are_a_group_with_that_cause(tmp_path):
    audit = audited(tmp_path, where(OTHER, ordered(map(edited, TEXTS))))
    assert [(group.cause, len(group.rows)) for group in audit.groups] == [("earlier texts", 30)]
    assert "30 are perhaps of earlier texts" in audit.reason


def test_edits_in_the_middle_of_scattered_texts_are_earlier_texts_too(tmp_path):
    def changed(text):
        words = text.split()
        return " ".join([*words[:5], "elsewhere", "meanwhile", *words[7:]])

    model = index_fakes.Words()
    old, new = model.encode(list(map(changed, TEXTS))), model.encode(TEXTS)
    audit = audited(tmp_path, where(np.arange(ROWS) % 4 == 0, old, new), model=model)
    assert [(group.cause, len(group.rows)) for group in audit.groups] == [("earlier texts", 30)]


def test_a_few_rows_and_vectors_that_are_related_to_nothing_have_no_cause(tmp_path):
    few = audited(tmp_path, where(np.arange(ROWS) == 3, ordered(map(edited, TEXTS))))
    assert [group.cause for group in few.groups] == ["unknown"]
    assert "1 are not this model's; cause unknown" in few.reason
    noise = np.random.default_rng(2).standard_normal((ROWS, 48))
    assert [group.cause for group in audited(tmp_path, where(OTHER, noise)).groups] == ["unknown"]


@pytest.mark.parametrize("shift", [1, -3])
def test_a_shifted_batch_carries_other_texts_of_the_list(tmp_path, shift):
    rows = (np.arange(ROWS) >= 50) & (np.arange(ROWS) < 75)
    audit = audited(tmp_path, where(rows, np.roll(RIGHT, shift, axis=0)))
    assert faults(audit, "another text") == list(range(50, 75))
    assert [row.text_at for row in audit.faults] == [row.number - shift for row in audit.faults]
    assert "25 belong to other texts" in audit.reason
    assert any("a batch was shifted" in note for note in audit.notes)


def test_permuted_rows_and_a_block_that_was_written_twice_are_other_texts(tmp_path):
    order = np.arange(ROWS)
    order[20:40] = np.random.default_rng(0).permutation(order[20:40])
    audit = audited(tmp_path, RIGHT[order])
    moved = np.flatnonzero(order != np.arange(ROWS))
    assert {row.number: row.text_at for row in audit.faults} == {int(row): int(order[row]) for row in moved}
    shuffled = audited(tmp_path, RIGHT[np.random.default_rng(20).permutation(ROWS)])
    assert not any("was shifted" in note for note in shuffled.notes)
    twice = RIGHT.copy()
    twice[60:80] = RIGHT[:20]
    assert [row.text_at for row in audited(tmp_path, twice).faults] == list(range(20))


def test_a_sample_names_texts_that_it_did_not_draw(tmp_path):
    shifted = where((np.arange(ROWS) >= 50) & (np.arange(ROWS) < 75), np.roll(RIGHT, 1, axis=0))
    audit = audited(tmp_path, shifted, sample=70)
    found = [row for row in audit.faults if row.kind == "another text"]
    assert found == list(audit.faults)
    assert {row.number - row.text_at for row in found} == {1}
    assert audit.wrong.low < 25 / ROWS < audit.wrong.high


def test_a_text_that_has_the_same_vector_by_right_is_not_misplaced(tmp_path):
    texts = [*TEXTS[:60], *(text.upper() for text in TEXTS[:60])]
    assert audited(tmp_path, ordered(texts), texts=texts).exit_code == 0
    stale = ordered(texts)
    stale[3] = ordered([edited(texts[3])])[0]
    for sample in (None, 100):
        audit = audited(tmp_path, stale, texts=texts, sample=sample, seed=1)
        assert [row.kind for row in audit.faults] == ["unexplained"]


def test_shortened_texts_are_found_at_words_and_inside_of_them(tmp_path):
    rows = np.arange(ROWS) < 20
    audit = audited(tmp_path, where(rows, ordered(" ".join(text.split()[:6]) for text in TEXTS)))
    assert faults(audit, "shortened") == list(range(20))
    assert {row.beginning.words for row in audit.faults} == {6}
    long = [" ".join(TEXTS[(7 * i + k) % ROWS] for k in range(6)) for i in range(ROWS)]
    cut = Ordered()
    cut.limit = 120
    audit = audited(tmp_path, where(rows, cut.encode(long), ordered(long)), texts=long)
    assert faults(audit, "shortened") == list(range(20))
    assert all(119 <= row.beginning.characters <= 120 for row in audit.faults)
    audit = audited(tmp_path, where(rows, ordered(text[:-1] for text in TEXTS)))
    assert [row.beginning.characters for row in audit.faults] == [len(text) - 1 for text in TEXTS[:20]]


def test_lengths_count_unless_the_index_compares_by_cosine(tmp_path):
    scaled = where(np.arange(ROWS) % 3 == 0, 7 * RIGHT)
    audit = audited(tmp_path, scaled)
    assert (audit.exit_code, faults(audit, "not normalised")) == (1, list(range(0, ROWS, 3)))
    assert {round(row.length) for row in audit.faults} == {7}
    assert any("7 times" in note and "inner product" in note for note in audit.notes)
    assert audited(tmp_path, scaled, similarity="cosine").exit_code == 0


def test_an_index_that_normalises_what_the_model_does_not_is_right(tmp_path):
    assert audited(tmp_path, RIGHT, model=lambda texts: 3 * ordered(texts)).exit_code == 0


def test_vectors_that_are_zero_missing_or_not_finite_are_found_outside_of_a_sample_too(tmp_path):
    broken = [*RIGHT]
    broken[5], broken[6], broken[7] = 0 * RIGHT[5], None, np.full(48, np.nan)
    audit = audited(tmp_path, broken)
    assert [(row.number, row.kind) for row in audit.faults] == [(5, "zero"), (6, "not finite"), (7, "not finite")]
    sampled = audited(tmp_path, broken, sample=60, seed=3)
    assert [row.number for row in sampled.faults] == [5, 6, 7]
    assert sampled.exit_code == 1


def test_two_models_of_different_dimensions_are_told_apart(tmp_path):
    mixed = [*RIGHT[:90], *ordered(TEXTS[90:], dimension=32)]
    audit = audited(tmp_path, mixed)
    assert faults(audit, "another dimension") == list(range(90, ROWS))
    assert [group.cause for group in audit.groups] == ["another model"]
    cut = [*RIGHT[:90], *(vector[:16] for vector in RIGHT[90:])]
    audit = audited(tmp_path, cut)
    assert "the first 16 are the same" in audit.groups[0].evidence
    assert audit.reason.endswith("30 are this model's, but one of the two was truncated")


def test_stored_float16_and_int8_are_put_back_on_scale(tmp_path):
    half = where(OTHER, ordered(TEXTS, salt="strange")).astype(np.float16)
    assert faults(audited(tmp_path, half, kind=pyarrow.list_(pyarrow.float16())), "unexplained") == list(range(90, 120))
    whole = np.rint(127 * where(OTHER, ordered(TEXTS, salt="strange"))).astype(np.int8)
    low, high = RIGHT.min(axis=0), RIGHT.max(axis=0)
    ranged = np.clip(
        np.rint((where(OTHER, ordered(TEXTS, salt="strange")) - low) / (high - low) * 255 - 128), -128, 127
    )
    for integers in (whole, ranged.astype(np.int8)):
        audit = audited(tmp_path, integers, kind=pyarrow.list_(pyarrow.int8(), 48))
        assert faults(audit, "unexplained") == list(range(90, ROWS))
        assert audit.count("right") == 90
        assert any("integers" in note for note in audit.notes)
    stranger = np.rint(127 * ordered(TEXTS, salt="strange")).astype(np.int8)
    assert audited(tmp_path, stranger, kind=pyarrow.list_(pyarrow.int8())).exit_code == 10
    # A model whose vectors are alike: any integers can be rescaled to come near all of them.
    alike = dict(zip(TEXTS, RIGHT + 20 * RIGHT[0], strict=True))
    random = np.random.default_rng(0).integers(-127, 128, RIGHT.shape).astype(np.int8)
    model = index_fakes.Words()
    model.encode = lambda texts, *, role=None: np.array([alike[text] for text in texts])
    audit = audited(tmp_path, random, model=model, kind=pyarrow.list_(pyarrow.int8()))
    assert "cannot be rescaled" in audit.reason


def test_the_prompt_of_another_role_is_named(tmp_path):
    audit = audited(tmp_path, where(OTHER, Ordered().encode(TEXTS, role="query")))
    (group,) = audit.groups
    assert (group.cause, "in the role query, after 'query '" in group.evidence) == ("another prompt", True)


def test_roles_of_rows_are_kept(tmp_path):
    vectors = where(OTHER, Ordered().encode(TEXTS, role="query"))
    assert audited(tmp_path, vectors, role=["query" if one else None for one in OTHER]).exit_code == 0


def test_a_model_that_is_not_deterministic_decides_nothing(tmp_path):
    audit = audited(tmp_path, RIGHT, model=Restless())
    assert (audit.exit_code, "gives a text different vectors" in audit.reason) == (10, True)


def test_a_sample_says_what_it_can_show(tmp_path):
    audit = audited(tmp_path, RIGHT, sample=60)
    assert (audit.exit_code, audit.compared, audit.wrong.value) == (0, 60, 0)
    assert 0.04 < audit.at_most < 0.05
    assert "at most 4.87% of all rows" in audit.reason
    small = audited(tmp_path, RIGHT, sample=58)
    assert (small.outcome, small.exit_code) == ("cannot tell", 10)
    one, two = (audited(tmp_path, where(OTHER, -RIGHT), sample=20, seed=seed) for seed in (1, 1))
    assert one == two


def test_rows_without_text_are_said_and_not_called_right(tmp_path):
    audit = audited(tmp_path, RIGHT, texts=[None, " ", *TEXTS[2:]])
    assert (audit.exit_code, audit.compared, faults(audit, "no text")) == (10, 118, [0, 1])
    with pytest.raises(UsageError, match="none of the 120 rows has a text"):
        audited(tmp_path, RIGHT, texts=[None] * ROWS)


def test_ids_name_rows_and_come_once(tmp_path):
    audit = audited(tmp_path, where(np.arange(ROWS) == 4, 0 * RIGHT), id=[f"doc-{i}" for i in range(ROWS)])
    assert [row.id for row in audit.faults] == ["doc-4"]
    with pytest.raises(DataError, match="has the id 'doc-1' twice"):
        audited(tmp_path, RIGHT, id=["doc-1", "doc-1", *map(str, range(ROWS - 2))])
    with pytest.raises(DataError, match="row 1 has no id"):
        audited(tmp_path, RIGHT, id=["doc-1", None, *map(str, range(ROWS - 2))])


def test_fresh_vectors_in_a_file_do_and_a_file_of_hashes_too(tmp_path):
    from encheck.encoders.stored_index import text_sha256

    mixed = stored(tmp_path, where(OTHER, ordered(TEXTS, salt="strange")))
    order = np.random.default_rng(0).permutation(ROWS)
    fresh = stored(tmp_path, RIGHT[order], texts=[TEXTS[i] for i in order], name="fresh.parquet")
    audit = encheck.audit_index(fresh, mixed)
    assert (faults(audit, "unexplained"), audit.groups[0].cause) == (list(range(90, ROWS)), "another model")
    lines = [json.dumps({"hash": text_sha256(t), "vector": v.tolist()}) for t, v in zip(TEXTS, RIGHT, strict=True)]
    (tmp_path / "hashes.jsonl").write_text("\n".join(lines))
    hashes = f"vectors:{tmp_path / 'hashes.jsonl'}"
    assert encheck.audit_index(fresh, hashes).exit_code == encheck.audit_index(hashes, fresh).exit_code == 0
    with pytest.raises(UsageError, match="has hashes and no texts"):
        encheck.audit_index(Ordered(), hashes)


def test_a_file_of_some_fresh_vectors_is_a_sample_of_its_own(tmp_path):
    index = stored(tmp_path, RIGHT)
    part = stored(tmp_path, RIGHT[:80], texts=TEXTS[:80], name="part.parquet")
    audit = encheck.audit_index(part, index)
    assert (audit.compared, audit.sampled, audit.exit_code) == (80, True, 0)
    assert any("40 rows have no fresh vector" in note for note in audit.notes)
    with pytest.raises(UsageError, match="sampled rows"):
        encheck.audit_index(part, index, sample=60)
    with pytest.raises(UsageError, match="has no vector for any of the 120 texts"):
        encheck.audit_index(stored(tmp_path, RIGHT[:1], texts=["else"], name="else.parquet"), index)
    with pytest.raises(UsageError, match="fresh vectors should be complete"):
        encheck.audit_index(stored(tmp_path, 0 * RIGHT, name="zero.parquet"), index)


def test_what_is_no_index_is_one_clear_error(tmp_path):
    (tmp_path / "no.parquet").write_text("no")
    pyarrow.parquet.write_table(pyarrow.table({"text": ["a"], "vector": [3]}), tmp_path / "flat.parquet")
    pyarrow.parquet.write_table(pyarrow.table({"vector": [[3.0]]}), tmp_path / "bare.parquet")
    (tmp_path / "bad.jsonl").write_text('{"text": "a", "vector": ["x"]}')
    for name, said in (("no", "should hold"), ("flat", "not a list of numbers"), ("bare", "lacks the column 'text'")):
        with pytest.raises(DataError, match=said):
            encheck.audit_index(Ordered(), tmp_path / f"{name}.parquet")
    with pytest.raises(DataError, match="could not convert"):
        encheck.audit_index(Ordered(), tmp_path / "bad.jsonl")
    with pytest.raises(UsageError, match="should be vectors:FILE"):
        encheck.audit_index(Ordered(), "index.parquet")
    with pytest.raises(UsageError, match="has no vectors"):
        encheck.audit_index(object(), stored(tmp_path, RIGHT))
    with pytest.raises(UsageError, match="learns from the texts"):
        encheck.audit_index("jaccard", stored(tmp_path, RIGHT))


def test_the_command_counts_lists_and_exits(tmp_path):
    index = stored(tmp_path, where(OTHER, 0 * RIGHT), id=[f"=doc-{i}" for i in range(ROWS)])
    out, found = tmp_path / "wrong.csv", tmp_path / "audit.json"
    run = ["index", "test_index_audit:Ordered", index, f"--out={out}", f"--json={found}"]
    result = CliRunner().invoke(app, run)
    assert result.exit_code == 1
    assert "=doc-90, =doc-91, =doc-92, =doc-93, =doc-94, and 25 more" in result.stdout
    assert "INDEX: SOME ARE NOT. 90 of 120 stored vectors are test_index_audit-Ordered's; 30 are zero" in result.stdout
    raw = json.loads(found.read_text())
    schema = Path(__file__).resolve().parents[3] / "docs/reference/index.schema.json"
    jsonschema.validate(raw, json.loads(schema.read_text("utf-8")))
    assert (raw["encheck_index_audit"], raw["groups"]) == (1, [])
    assert (raw["exit_code"], len(raw["faults"]), raw["counts"][1]) == (1, 30, {"kind": "zero", "rows": 30})
    rows = list(csv.DictReader(out.read_text().splitlines()))
    assert (len(rows), rows[0]["id"], rows[0]["kind"]) == (30, "'=doc-90", "zero")
    assert CliRunner().invoke(app, ["index", "test_index_audit:Ordered", "vectors:none.parquet"]).exit_code == 4
    for wrong in (["--sample=0"], ["--sample=5", "--seed=-1"]):
        assert CliRunner().invoke(app, ["index", "test_index_audit:Ordered", index, *wrong]).exit_code == 4
    (tmp_path / "folder.csv").mkdir()
    unwritten = CliRunner().invoke(app, [*run[:3], f"--out={tmp_path / 'folder.csv'}"])
    assert (unwritten.exit_code, "INDEX: SOME ARE NOT" in unwritten.stdout) == (4, True)


def test_fresh_vectors_from_a_file_import_no_torch(tmp_path):
    fresh, index = stored(tmp_path, RIGHT, name="fresh.parquet"), stored(tmp_path, where(OTHER, -RIGHT))
    code = (
        "import sys; from encheck.cli import app\n"
        "try: app(sys.argv[1:])\n"
        "except SystemExit as end: print(end.code, sorted({'torch', 'transformers', 'spacy'} & set(sys.modules)))\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", code, "index", fresh, index], capture_output=True, text=True, check=True
    )
    assert run.stdout.splitlines()[-1] == "1 []"
