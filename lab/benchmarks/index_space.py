"""May new queries search MiniLM's index? On 400 made-up passages and 1,600 labelled questions.

    python lab/benchmarks/index_space.py --folder build/index-space [--only rotated]

The new models are a short fine-tune, int8, the first 256 dimensions, a rotation, another prompt, and a static model of
MiniLM's tokens. Passages (the first section of an article) and questions are of the templates of help_center.py.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import random
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from damage import ADAPTERS, load, minilm, tuned
from help_center import ACTS, article, asked
from help_center_gate import things

import encheck
from encheck.gating.old_index import IndexSearch, IndexVectors, OldIndexFigures, check_old_index
from encheck.gating.reindex import Reindex

ARTICLES, QUESTIONS = 400, 4
DIMENSIONS, SEED = 256, 0
ROTATED = """

class Rotated(Otherwise):
    def fingerprint(self):
        return "rotated"

    def encode(self, texts, *, role=None):
        vectors = super().encode(texts)
        square = np.random.default_rng(0).standard_normal((vectors.shape[1],) * 2)
        return vectors @ np.linalg.qr(square)[0].astype(np.float32)
"""
HEAD = (
    "new model", "recall@1 on an index of its own", "on the old index", "half of it new", "with the map",
    "the index stays", "a map is offered",
)  # fmt: skip


def make(folder: Path) -> Path:
    """The questions with their passages, JSON lines; the same on every machine."""
    rng, rows = random.Random(SEED), []
    for thing, act in itertools.islice(itertools.product(things(), ACTS), ARTICLES):
        text = article(rng, act, thing).partition("\n\n##")[0]
        questions = dict.fromkeys(asked(rng, act, thing))
        rows += [{"query": q, "document": text} for q in rng.sample([*questions], QUESTIONS)]
    path = folder / "labels.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
    return path


def static(folder: Path, texts: list[str]) -> Path:
    """A static model: MiniLM's vector of each token that the texts have, the first 256 principal components."""
    from model2vec import StaticModel
    from tokenizers import Tokenizer

    out = folder / "static"
    if not out.exists():
        tokenizer = Tokenizer.from_file(str(minilm() / "tokenizer.json"))
        tokenizer.no_truncation()
        tokenizer.no_padding()
        known = sorted({i for one in tokenizer.encode_batch(texts, add_special_tokens=False) for i in one.ids})
        found = load(minilm()).encode([tokenizer.id_to_token(i) for i in known], show_progress_bar=False)
        centred = found - found.mean(axis=0)
        axes = np.linalg.svd(centred, full_matrices=False)[2][:DIMENSIONS]
        vectors = np.zeros((tokenizer.get_vocab_size(), len(axes)), np.float32)
        vectors[known] = centred @ axes.T
        StaticModel(vectors, tokenizer, config={"normalize": True}, normalize=True).save_pretrained(str(out))
    return out


def texts_of(labels: Path) -> list[str]:
    rows = [json.loads(line) for line in labels.read_text("utf-8").splitlines()]
    return [*dict.fromkeys(text for row in rows for text in (row["document"], row["query"]))]


def cases(folder: Path, labels: Path) -> Mapping[str, Callable[[], Any]]:
    """What loads the new model of each row."""
    (folder / "otherwise.py").write_text(ADAPTERS + ROTATED, "utf-8")
    name = json.dumps(str(minilm()))
    (folder / "models.yaml").write_text(
        f"int8:\n  adapter: otherwise:Otherwise\n  options: {{name: {name}, int8: true}}\n"
        f"rotated:\n  adapter: otherwise:Rotated\n  options: {{name: {name}}}\n", "utf-8",
    )  # fmt: skip
    return {
        "fine-tune": lambda: encheck.load_model(str(tuned(folder, 0))),
        "int8": lambda: encheck.load_model("int8"),
        "truncated": lambda: encheck.load_model("sbert", truncate_dim=DIMENSIONS),
        "rotated": lambda: encheck.load_model("rotated"),
        "another prompt": lambda: encheck.load_model("sbert", prompt="Represent this sentence for searching: "),
        "static": lambda: encheck.load_model(str(static(folder, texts_of(labels)))),
    }


def encoded(model: Any, search: IndexSearch) -> IndexVectors:
    """Vectors of the documents and the queries."""
    documents, queries = (
        model.encode(list(texts), role=role)
        for texts, role in ((search.documents, "document"), (search.queries, "query"))
    )
    return IndexVectors(documents, queries, model.similarity)


def change(found: OldIndexFigures | None) -> str:
    """What becomes of recall@1, in points."""
    if found is None:
        return "-"
    one = found.figures[0].change
    return f"{100 * one.value:+.1f} [{100 * one.low:+.1f}, {100 * one.high:+.1f}]"


def main() -> None:
    """Measure each row and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--folder", type=Path, default=Path("build/index-space"))
    parser.add_argument("--only", action="append")
    options = parser.parse_args()
    folder = options.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    labels = make(folder)
    os.chdir(folder)
    sys.path.insert(0, str(folder))
    collection = encheck.load_data(f"retrieval:{labels}").collection
    assert collection is not None
    search = IndexSearch.of(collection, seed=SEED)
    old = encoded(encheck.load_model("sbert"), search)
    print(f"| {' | '.join(HEAD)} |\n|{' --- |' * len(HEAD)}")
    models = cases(folder, labels)
    for name in options.only or models:
        found = check_old_index(old, encoded(models[name](), search), search, Reindex(True, "yes", "vectors differ"))
        ways = (found.direct, found.mixed, found.mapped)
        own = next(one.figures[0].own for one in ways if one)
        stays, offered = ("yes" if one else "no" for one in (found.reindex.needed is False, found.adapter))
        print(f"| {' | '.join([name, f'{100 * own:.1f}%', *map(change, ways), stays, offered])} |", flush=True)


if __name__ == "__main__":
    main()
