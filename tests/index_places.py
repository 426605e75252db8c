"""Documents of made-up words, a log of queries, the same with labels, and files of vectors of them."""

import json

import numpy as np
import pyarrow
import pyarrow.parquet

import encheck

VOCABULARY = [f"{a}{b}" for a in "bdfgklmnprst" for b in ("ane", "ilo", "urk", "est", "ova", "iny", "ash", "omp")]
DOCUMENTS, QUERIES = 200, 200


def made(folder):
    """The folder with documents.jsonl, log.txt and labels.jsonl: a query is six words of its document."""
    rng = np.random.default_rng(0)
    bodies = [" ".join(rng.choice(VOCABULARY, 12, replace=False)) for _ in range(DOCUMENTS)]
    rows = [{"query": " ".join(rng.choice(body.split(), 6, replace=False)), "document": body} for body in bodies]
    folder.joinpath("documents.jsonl").write_text("".join(json.dumps({"text": one}) + "\n" for one in bodies))
    folder.joinpath("log.txt").write_text("\n".join(row["query"] for row in rows) + "\n")
    folder.joinpath("labels.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


def texts_of(place):
    """The documents and the queries."""
    rows = [json.loads(line) for line in place.joinpath("labels.jsonl").read_text().splitlines()]
    return [row["document"] for row in rows], [row["query"] for row in rows]


def model(name):
    return encheck.load_model(f"index_fakes:{name}")


def written(path, texts, *, old="Words", damage=lambda vectors: vectors):
    """A file of the texts' vectors, after something went wrong with some of them."""
    vectors = damage(model(old).encode(texts))
    pyarrow.parquet.write_table(pyarrow.table({"text": texts, "vector": vectors.tolist()}), path)
    return f"vectors:{path}"


def part_of(rows, other):
    """What puts other vectors in these rows' places."""

    def damage(vectors):
        changed = vectors.copy()
        changed[rows] = other(vectors)[rows]
        return changed

    return damage
