"""Write the small files of tests/encoders/stores, each by the store's own library, from texts that this script makes.

    python -m venv /tmp/stores
    /tmp/stores/bin/pip install chromadb qdrant-client lancedb pgvector 'psycopg[binary]'
    /tmp/stores/bin/python lab/store_files.py tests/encoders/stores

A vector has eight numbers, from the SHA-256 of its text, and length 1.
"""

from __future__ import annotations

import csv
import hashlib
import json
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

import chromadb
import lancedb
import numpy as np
import pyarrow
import pyarrow.parquet
from pgvector import HalfVector, Vector
from psycopg.adapt import Transformer
from qdrant_client import QdrantClient
from qdrant_client.models import Distance, PointStruct, VectorParams

DIMENSION = 8
TEXTS = [f"Part {number} costs {7 * number} euros,\nand is sent on {day}." for number, day in enumerate(
    ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday", "a holiday"), 1
)]  # fmt: skip


def vector_of(text: str) -> np.ndarray:
    """A made-up vector of length 1, shape [8]."""
    numbers = np.frombuffer(hashlib.sha256(text.encode()).digest(), "<i4").astype(np.float64)
    return (numbers / np.linalg.norm(numbers)).astype(np.float32)


VECTORS = [vector_of(text) for text in TEXTS]
KEYS = [f"part-{number}" for number in range(1, len(TEXTS) + 1)]


def write_csv(path: Path, header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """As `\\copy (SELECT ...) TO FILE CSV HEADER` writes it."""
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([header, *rows])


def pgvector(folder: Path) -> None:
    """The types vector and halfvec as a SELECT gives them, and arrays of plain PostgreSQL."""
    texts = [Vector(vector).to_text() for vector in VECTORS]
    metadata = [json.dumps({"source": "parts.md", "text": text}) for text in TEXTS]
    write_csv(folder / "pgvector.csv", ("id", "document", "embedding"), zip(KEYS, TEXTS, texts, strict=True))
    pyarrow.parquet.write_table(
        pyarrow.table({"id": KEYS, "embedding": texts, "metadata": metadata}), folder / "pgvector.parquet"
    )
    halves = [HalfVector(vector).to_text() for vector in VECTORS]
    write_csv(folder / "pgvector-halfvec.csv", ("id", "content", "embedding"), zip(KEYS, TEXTS, halves, strict=True))
    arrays = [Transformer().as_literal(vector.tolist()).decode().partition("::")[0].strip("'") for vector in VECTORS]
    write_csv(folder / "postgres-array.csv", ("id", "text", "embedding"), zip(KEYS, TEXTS, arrays, strict=True))


def qdrant(folder: Path) -> None:
    """What `scroll` gives, as the server sends it; a second collection has a named vector and other payloads."""
    client = QdrantClient(":memory:")
    size = VectorParams(size=DIMENSION, distance=Distance.COSINE)
    client.create_collection("parts", vectors_config=size)
    client.create_collection("named", vectors_config={"dense": size})
    rows = list(enumerate(zip(TEXTS, VECTORS, strict=True)))
    client.upsert("parts", [PointStruct(id=i, vector=v.tolist(), payload={"text": t}) for i, (t, v) in rows])
    client.upsert(
        "named",
        [
            PointStruct(id=i, vector={"dense": v.tolist()}, payload={"page_content": t, "metadata": {"page": i}})
            for i, (t, v) in rows
        ],
    )
    points, following = client.scroll("parts", limit=100, with_vectors=True)
    result = {"points": [point.model_dump() for point in points], "next_page_offset": following}
    (folder / "qdrant.json").write_text(json.dumps({"result": result, "status": "ok", "time": 0.001}), "utf-8")
    points, _ = client.scroll("named", limit=100, with_vectors=True)
    (folder / "qdrant-named.jsonl").write_text("".join(f"{point.model_dump_json()}\n" for point in points), "utf-8")


def chroma(folder: Path) -> None:
    """What `get()` gives; a second collection has the texts in its metadata."""
    client = chromadb.EphemeralClient()
    vectors = [vector.tolist() for vector in VECTORS]
    first = client.create_collection("parts", embedding_function=None)
    first.add(ids=KEYS, documents=TEXTS, embeddings=vectors)
    second = client.create_collection("metadata", embedding_function=None)
    second.add(ids=KEYS, embeddings=vectors, metadatas=[{"text": text, "page": 1} for text in TEXTS])
    for name, collection in (("chroma", first), ("chroma-metadata", second)):
        found = dict(collection.get(include=["embeddings", "documents", "metadatas"]))
        found["embeddings"] = np.asarray(found["embeddings"]).tolist()
        (folder / f"{name}.json").write_text(json.dumps(found), "utf-8")


def lance(folder: Path) -> None:
    """A table of float32 and one of float16, as `to_arrow` gives them."""
    with tempfile.TemporaryDirectory() as place:
        database = lancedb.connect(place)
        for name, kind in (("lancedb", pyarrow.float32()), ("lancedb-half", pyarrow.float16())):
            flat = np.concatenate(VECTORS).astype(kind.to_pandas_dtype())
            vectors = pyarrow.FixedSizeListArray.from_arrays(pyarrow.array(flat, kind), DIMENSION)
            table = database.create_table(name, pyarrow.table({"id": KEYS, "text": TEXTS, "vector": vectors}))
            pyarrow.parquet.write_table(table.to_arrow(), folder / f"{name}.parquet")


def main(folder: Path) -> None:
    """Write all files."""
    folder.mkdir(parents=True, exist_ok=True)
    for write in (pgvector, qdrant, chroma, lance):
        write(folder)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
