"""Stored vectors as stores and libraries write them, read with their own texts; lab/store_files.py wrote the files."""

import base64
import hashlib
import json
from pathlib import Path

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
from typer.testing import CliRunner

import encheck
from encheck.cli import app
from encheck.errors import DataError, ModelError, UsageError

STORES = Path(__file__).parent / "stores"
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday", "a holiday")
TEXTS = [f"Part {number} costs {7 * number} euros,\nand is sent on {day}." for number, day in enumerate(DAYS, 1)]
KEYS = [f"part-{number}" for number in range(1, 9)]


def encode(texts):
    numbers = [np.frombuffer(hashlib.sha256(text.encode()).digest(), "<i4").astype(float) for text in texts]
    return np.array([one / np.linalg.norm(one) for one in numbers], np.float32)


VECTORS = encode(TEXTS)


def csv_of(path, vectors, *, text="text", vector="embedding"):
    cells = ('"' + cell.replace('"', '""') + '"' for pair in zip(TEXTS, vectors, strict=True) for cell in pair)
    path.write_text(f"{text},{vector}\n" + "".join(f"{one},{next(cells)}\n" for one in cells), "utf-8")


def parquet(path, **columns):
    pyarrow.parquet.write_table(pyarrow.table(columns), path)


def json_of(path, value):
    path.write_text(json.dumps(value), "utf-8")


def newer(data):
    """A zip file that needs version 25.1 to be read."""
    at = data.index(b"PK\x01\x02")
    return data[: at + 6] + b"\xfb" + data[at + 7 :]


OBJECTS = [{"_id": key, "_source": {"body": {"text": text}}, "values": vector.tolist()}
           for key, text, vector in zip(KEYS, TEXTS, VECTORS, strict=True)]  # fmt: skip
WRITERS = {
    "binary.parquet": lambda p: parquet(p, text=TEXTS, vector=[v.tobytes() for v in VECTORS]),
    "binary-64.parquet": lambda p: parquet(p, text=TEXTS, vector=[v.astype("<f8").tobytes() for v in VECTORS]),
    "binary-16.parquet": lambda p: parquet(p, text=TEXTS, vector=[v.astype("<f2").tobytes() for v in VECTORS]),
    "struct.parquet": lambda p: parquet(p, metadata=[{"text": t} for t in TEXTS], embedding=VECTORS.tolist()),
    "own-name.parquet": lambda p: parquet(p, text=TEXTS, minilm=VECTORS.tolist(), tags=[["a", "b"]] * 8),
    "bytea.csv": lambda p: csv_of(p, ["\\x" + v.tobytes().hex() for v in VECTORS]),
    "base64.csv": lambda p: csv_of(p, [base64.b64encode(v.tobytes()).decode() for v in VECTORS]),
    "numpy.csv": lambda p: csv_of(p, [str(v) for v in VECTORS.astype(float)], text="page_content"),
    "array.json": lambda p: json_of(p, OBJECTS),
    "search.json": lambda p: json_of(p, {"took": 3, "hits": {"total": {"value": 8}, "hits": OBJECTS}}),
    "by-id.json": lambda p: json_of(p, {"vectors": {one["_id"]: one for one in OBJECTS}, "namespace": ""}),
    "one.json": lambda p: p.write_text("".join(json.dumps(one) + "\n" for one in OBJECTS), "utf-8"),
    "arrays.npz": lambda p: np.savez(p, ids=KEYS, embeddings=VECTORS, texts=TEXTS, documents=TEXTS),
    "structured.npy": lambda p: np.save(
        p, np.array(list(zip(KEYS, TEXTS, VECTORS, strict=True)), [("id", "U9"), ("text", "U99"), ("vector", "f4", 8)])
    ),
}  # fmt: skip


@pytest.fixture(params=[*sorted(path.name for path in STORES.iterdir()), *WRITERS])
def file(request, tmp_path):
    """A file of the eight texts with their vectors."""
    if request.param in WRITERS:
        WRITERS[request.param](tmp_path / request.param)
        return tmp_path / request.param
    return STORES / request.param


def test_a_model_and_an_audit_read_what_a_store_wrote(file):
    found = encheck.load_model(f"vectors:{file}").encode(TEXTS[::-1])
    assert np.allclose(found, VECTORS[::-1], atol=1e-3)
    audit = encheck.audit_index(encode, f"vectors:{file}")
    assert (audit.outcome, audit.compared, audit.dimension, audit.notes) == ("all are", 8, 8, ())


def test_the_audit_still_finds_what_is_wrong_in_such_a_file(tmp_path):
    found = json.loads((STORES / "chroma.json").read_text("utf-8"))
    found["documents"][3] = "Part 4 is no longer made."
    json_of(tmp_path / "chroma.json", found)
    audit = encheck.audit_index(encode, f"vectors:{tmp_path}/chroma.json")
    assert [(row.id, row.kind) for row in audit.faults] == [("part-4", "unexplained")]


def test_a_cell_without_a_value_is_a_missing_vector(tmp_path):
    csv_of(tmp_path / "index.csv", ["NULL"] * 5 + [str(vector) for vector in VECTORS[5:].tolist()])
    audit = encheck.audit_index(encode, f"vectors:{tmp_path}/index.csv")
    assert [row.kind for row in audit.faults] == ["not finite"] * 5
    with pytest.raises(UsageError, match=r"vector of 5 of 8 texts is zero, not finite or not of 8 dimensions"):
        encheck.audit_index(f"vectors:{tmp_path}/index.csv", f"vectors:{STORES}/qdrant.json")


def test_rows_that_a_damaged_file_has_lost_are_missed(tmp_path):
    data = bytearray((STORES / "lancedb.parquet").read_bytes())
    data[66] ^= 13  # a page of ids that is read without an error, and is empty
    (tmp_path / "index.parquet").write_bytes(data)
    with pytest.raises(DataError, match=r"index.parquet is damaged: has 0 rows, but its footer says 8"):
        encheck.audit_index(encode, f"vectors:{tmp_path}/index.parquet")


def npy_with_ids(tmp_path):
    np.save(tmp_path / "v.npy", VECTORS)
    (tmp_path / "v.ids.txt").write_text("\n".join(KEYS), "utf-8")
    return f"vectors:{tmp_path}/v.npy"


def csv_with_texts(path, texts, keys=KEYS):
    path.write_text("id,text\n" + "".join(f'{key},"{text}"\n' for key, text in zip(keys, texts, strict=True)), "utf-8")
    return path


@pytest.mark.parametrize("form", ["csv", "txt", "json"])
def test_texts_of_another_file_are_joined_by_id_or_by_row(tmp_path, form):
    index = npy_with_ids(tmp_path)
    texts = tmp_path / f"texts.{form}"
    if form == "csv":
        csv_with_texts(texts, TEXTS[::-1], KEYS[::-1])
    elif form == "json":
        json_of(texts, dict(zip(KEYS, TEXTS, strict=True)))
    else:  # by row, in lines, whatever the ids are
        (tmp_path / "v.ids.txt").write_text("\n".join(map(str, range(1, 9))), "utf-8")
        texts.write_text("".join(" ".join(text.split()) + "\n" for text in TEXTS), "utf-8")
    given = [" ".join(text.split()) for text in TEXTS] if form == "txt" else TEXTS
    known = dict(zip(given, VECTORS, strict=True))
    audit = encheck.audit_index(lambda asked: np.array([known[text] for text in asked]), index, texts=texts)
    assert (audit.outcome, audit.notes) == ("all are", (f"texts.{form} has the texts of 8 rows",))
    assert np.array_equal(encheck.load_model(index, texts=str(texts)).encode(given), VECTORS)


def test_other_ids_in_their_own_file_are_another_fingerprint(tmp_path):
    texts = str(csv_with_texts(tmp_path / "texts.csv", TEXTS))
    before = encheck.load_model(npy_with_ids(tmp_path), texts=texts).fingerprint()
    (tmp_path / "v.ids.txt").write_text("\n".join(KEYS[::-1]), "utf-8")
    model = encheck.load_model(f"vectors:{tmp_path}/v.npy", texts=texts)
    assert np.array_equal(model.encode(TEXTS), VECTORS[::-1])
    assert model.fingerprint() != before


def test_the_command_takes_texts(tmp_path):
    texts = csv_with_texts(tmp_path / "texts.csv", TEXTS)
    index = npy_with_ids(tmp_path)
    fresh = f"vectors:{STORES}/qdrant.json"
    found = CliRunner().invoke(app, ["index", fresh, index, "--texts", str(texts)])
    assert found.exit_code == 0, found.output
    assert "texts.csv has the texts of 8 rows" in found.output
    without = CliRunner().invoke(app, ["index", fresh, index])
    assert without.exit_code == 4
    assert "--texts FILE" in without.output


def test_texts_that_differ_in_blanks_alone_are_joined_and_it_is_said(tmp_path, caplog):
    spaced = [f" {text} ".replace(",\n", ", \r\n\n ") for text in TEXTS]
    texts = csv_with_texts(tmp_path / "texts.csv", [*spaced[:3], *TEXTS[3:7], "Something else."])
    audit = encheck.audit_index(f"vectors:{STORES}/qdrant.json", f"vectors:{STORES}/chroma.json", texts=texts)
    assert [row.kind for row in audit.faults] == []
    assert "3 of these texts differ from the index's own only in blanks or line breaks" in audit.notes
    assert "1 of these texts differ from the index's own: those of the file were used" in audit.notes
    assert "3 texts were matched to texts that differ only in blanks or line breaks" in audit.notes
    model = encheck.load_model(f"vectors:{STORES}/qdrant.json")
    assert model.texts_without_vector([*spaced, TEXTS[0].replace("costs", "cost s")]) == [
        TEXTS[0].replace("costs", "cost s")
    ]
    assert np.allclose(model.encode(spaced), VECTORS)
    assert "8 texts were matched to texts that differ only in blanks" in caplog.text


def test_one_text_may_come_twice_with_one_vector(tmp_path):
    parquet(tmp_path / "v.parquet", text=["a", "a", None], vector=[*VECTORS[[0, 0, 1]].tolist()])
    assert np.array_equal(encheck.load_model(f"vectors:{tmp_path}/v.parquet").encode(["a"]), VECTORS[:1])


@pytest.mark.parametrize(
    ("name", "write", "said"),
    [
        ("bits.csv", lambda p: csv_of(p, ["0110" * 2] * 8), "are bits"),
        ("bits.parquet", lambda p: parquet(p, text=TEXTS, vector=[bytes([i, 255 - i, 3 * i]) for i in range(8)]),
         "packed bits are not read"),
        ("sparse.csv", lambda p: csv_of(p, ["{1:0.5,3:2}/8"] * 8), "is a sparse vector"),
        ("sparse.json", lambda p: json_of(p, [{"text": "a", "vector": {"indices": [1], "values": [0.5]}}] * 2),
         "has sparse vectors"),
        ("short.csv", lambda p: csv_of(p, ["[0.1 0.2 ... 0.3]"] * 8), "was shortened by numpy"),
        ("word.csv", lambda p: csv_of(p, ["[0.1,x]"] * 8), "is not a list of numbers"),
        ("two.parquet", lambda p: parquet(p, text=TEXTS, a=VECTORS.tolist(), b=VECTORS.tolist()), "columns a, b"),
        ("two.json", lambda p: json_of(p, [{"text": "a", "vector": {"title": [0.5], "body": [0.5]}}] * 2),
         r"with_vectors=\['title'\]"),
        ("objects.npy", lambda p: np.save(p, np.array([{}, {}], object)), "holds no arrays of numbers"),
        ("what.npy", lambda p: np.save(p, VECTORS), "--texts FILE"),
        ("header.npy", lambda p: p.write_bytes(b"\x93NUMPY\x01\x00\x10\x00{'shape': (8, 8i,"), "no arrays of numbers"),
        ("version.npz", lambda p: (np.savez(p, vector=VECTORS), p.write_bytes(newer(p.read_bytes()))), "version 25"),
        ("latin.parquet", lambda p: parquet(p, vector=VECTORS.tolist(), text=pyarrow.Array.from_buffers(
            pyarrow.string(), 8, [None, pyarrow.py_buffer(np.arange(9, dtype="i4")), pyarrow.py_buffer(b"\xe4" * 8)])),
         "is not UTF-8"),
        ("v.txt", lambda p: p.write_text("0.1 0.2"), "file ending"),
    ],
)  # fmt: skip
def test_what_cannot_be_compared_is_refused_by_name(tmp_path, name, write, said):
    write(tmp_path / name)
    with pytest.raises(DataError, match=said):
        encheck.audit_index(encode, f"vectors:{tmp_path / name}").notes  # noqa: B018
    with pytest.raises(ModelError, match=said):
        encheck.load_model(f"vectors:{tmp_path / name}").encode(TEXTS)


def test_packed_bits_are_refused_beside_a_model_of_eight_times_their_numbers(tmp_path):
    packed = np.packbits(VECTORS > 0, axis=1)
    parquet(tmp_path / "v.parquet", text=TEXTS, vector=packed.tolist())
    with pytest.raises(UsageError, match="packed bits"):
        encheck.audit_index(encode, f"vectors:{tmp_path}/v.parquet")


def test_ids_and_texts_that_belong_to_other_vectors_are_refused(tmp_path):
    index = npy_with_ids(tmp_path)
    other = csv_with_texts(tmp_path / "texts.csv", TEXTS, range(8))
    with pytest.raises(DataError, match=r"has no text for any id of .* whose first is 'part-1'; it begins with '0'"):
        encheck.audit_index(encode, index, texts=other)
    (tmp_path / "vectors.csv").write_text("embedding\n" + "".join(f'"{row}"\n' for row in VECTORS.tolist()))
    other.write_text("text\n" + "one\n" * 7, "utf-8")
    with pytest.raises(DataError, match=r"has 7 texts without ids, but .*vectors.csv has 8 rows"):
        encheck.audit_index(encode, f"vectors:{tmp_path}/vectors.csv", texts=other)
    (tmp_path / "v.ids.txt").write_text("a\nb\n", "utf-8")
    with pytest.raises(DataError, match=r"has 2 ids, but v\.npy has 8 vectors"):
        encheck.audit_index(encode, index, texts=other)


def test_packed_bits_are_compared_with_bits_that_were_packed_in_the_same_way(tmp_path):
    random = np.random.default_rng(0)
    texts, bits = [f"text {n}" for n in range(60)], random.integers(0, 256, (60, 48), np.uint8)
    parquet(tmp_path / "fresh.parquet", text=texts, vector=bits.tolist())
    np.savez(tmp_path / "index.npz", text=texts, vector=np.where(np.arange(60)[:, None] == 7, bits[::-1], bits))
    audit = encheck.audit_index(f"vectors:{tmp_path}/fresh.parquet", f"vectors:{tmp_path}/index.npz")
    assert [(row.number, row.kind, row.text_at) for row in audit.faults] == [(7, "another text", 52)]


@pytest.mark.parametrize("count", [8, 1])
def test_vectors_of_llama_index_are_read_with_texts_of_another_file(tmp_path, count):
    """Its other dictionaries are of the same ids."""
    stored, texts = tmp_path / "default__vector_store.json", tmp_path / "texts.jsonl"
    rows = {"embedding_dict": dict(zip(KEYS[:count], VECTORS.tolist(), strict=False))}
    stored.write_text(json.dumps(rows | {"text_id_to_ref_doc_id": dict.fromkeys(KEYS, "x"), "metadata_dict": {}}))
    texts.write_text("\n".join(json.dumps({"id": k, "text": t}) for k, t in zip(KEYS, TEXTS, strict=True)), "utf-8")
    audit = encheck.audit_index(encode, f"vectors:{stored}", texts=texts)
    assert (audit.compared, audit.dimension) == (count, 8)
