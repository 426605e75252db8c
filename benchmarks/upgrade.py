"""What `encheck upgrade` says of MiniLM and what becomes of it, on 400 made-up passages and 1,600 labelled questions.

    python benchmarks/upgrade.py --folder build/upgrade [--only rotated] [--gate "number"]

The new models are a short fine-tune, int8, the first 256 dimensions, a rotation, another prompt, a static model of its
tokens, and MiniLM behind a server on this machine; then vectors of MiniLM alone are held against the fine-tune.
Passages (the first section of an article) and questions are of the templates of help_center.py. What was measured is
kept in the folder and not measured again.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import random
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
from damage import ADAPTERS, load, minilm, tuned
from help_center import ACTS, article, asked
from help_center_gate import things

ARTICLES, QUESTIONS = 400, 4
THRESHOLD, DIMENSIONS, SEED = 0.6, 256, 0
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
    "new model", "space", "recall@1 on an index of its own", "on the old index", "with the adapter",
    "unrelated, with its adapter", "first answer changes", "of ten stay", "recall@1, old model to new",
    f"threshold {THRESHOLD:g} becomes", "outcome",
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


@contextmanager
def serving() -> Iterator[str]:
    """MiniLM behind OpenAI's API on this machine; the address."""
    import encheck

    model: Any = encheck.load_model("sbert")

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with lock:
                vectors = model.encode(body["input"]).tolist()
            rows = [{"object": "embedding", "index": i, "embedding": v} for i, v in enumerate(vectors)]
            data = json.dumps({"object": "list", "data": rows}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            pass

    lock, server = threading.Lock(), ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()


def texts_of(labels: Path) -> list[str]:
    rows = [json.loads(line) for line in labels.read_text("utf-8").splitlines()]
    return [*dict.fromkeys(text for row in rows for text in (row["document"], row["query"]))]


def stored(folder: Path, labels: Path) -> str:
    """MiniLM's vectors in a file, as an index has them."""
    import pyarrow
    import pyarrow.parquet

    import encheck

    path, texts = folder / "old.parquet", texts_of(labels)
    if not path.exists():
        model: Any = encheck.load_model("sbert")
        pyarrow.parquet.write_table(pyarrow.table({"text": texts, "vector": model.encode(texts).tolist()}), path)
    return f"vectors:{path}"


def served(folder: Path, address: str) -> None:
    """models.yaml of the folder, with the server and the others that are no checkpoint."""
    (folder / "otherwise.py").write_text(ADAPTERS + ROTATED, "utf-8")
    name = json.dumps(str(minilm()))
    (folder / "models.yaml").write_text(
        f"int8:\n  adapter: otherwise:Otherwise\n  options: {{name: {name}, int8: true}}\n"
        f"rotated:\n  adapter: otherwise:Rotated\n  options: {{name: {name}}}\n"
        f"served:\n  adapter: openai\n  name: {address}\n  options: {{model: minilm}}\n", "utf-8",
    )  # fmt: skip


def cases(folder: Path, labels: Path) -> Mapping[str, Callable[[], tuple[str, str, dict[str, Any]]]]:
    """What makes (new, old, options) of each row."""
    prompt = {"model_arg": ["sbert:prompt=Represent this sentence for searching: "]}
    return {
        "itself": lambda: ("sbert", "sbert", {}),
        "fine-tune": lambda: (str(tuned(folder, 0)), "sbert", {}),
        "int8": lambda: ("int8", "sbert", {}),
        "truncated": lambda: ("sbert", "sbert", {"model_arg": [f"sbert:truncate_dim={DIMENSIONS}"]}),
        "rotated": lambda: ("rotated", "sbert", {}),
        "another prompt": lambda: ("sbert", "sbert", prompt),
        "static": lambda: (str(static(folder, texts_of(labels))), "sbert", {}),
        "behind a server": lambda: ("served", "sbert", {}),
        "fine-tune, from vectors alone": lambda: (str(tuned(folder, 0)), stored(folder, labels), {}),
    }


def measured(folder: Path, labels: Path, name: str, gate: str) -> dict[str, Any]:
    """upgrade.json of one row."""
    import encheck

    out = folder / "found" / name.replace(" ", "-").replace(",", "")
    if not (out / "upgrade.json").exists():
        new, old, how = cases(folder, labels)[name]()
        encheck.upgrade(
            new, old, data=f"retrieval:{labels}", threshold=THRESHOLD, gate=bool(gate), checks=gate, report_dir=out,
            store=folder / "store.sqlite", timing=False, **how,
        )  # fmt: skip
        print(f"measured {name}", file=sys.stderr, flush=True)
    found: dict[str, Any] = json.loads((out / "upgrade.json").read_text("utf-8"))
    return found


def row(name: str, raw: Mapping[str, Any]) -> list[str]:
    """One row of the table of docs/upgrade.md."""
    routes = {one["name"]: one for one in raw["space"]["routes"]}
    strange = {one["name"]: one for one in raw["space"]["controls"].get("an unrelated model", ())}
    moved, recall = raw["search"]["moved"], raw["search"]["better"]["figures"]["recall@1"]
    (threshold,) = raw["thresholds"]
    direct, mapped = routes.get("as it comes"), routes.get("with the adapter")
    own = next(one["figures"][0]["own"] for one in (direct, mapped) if one)
    changes = [_change(one) for one in (direct, mapped, strange.get("with the adapter"))]
    return [
        name, raw["space"]["name"], f"{100 * own:.1f}%", *changes, f"{100 * moved['first']['value']:.1f}%",
        f"{100 * moved['overlap']['value']:.1f}%", f"{100 * recall['before']:.1f}% to {100 * recall['after']:.1f}%",
        f"{threshold['threshold']['value']:.3f}" if threshold["threshold"] else "-", raw["outcome"],
    ]  # fmt: skip


def _change(route: Mapping[str, Any] | None) -> str:
    """What the route changes of recall@1, in points."""
    if route is None:
        return "-"
    one = route["figures"][0]["change"]
    return f"{100 * one['value']:+.1f} [{100 * one['low']:+.1f}, {100 * one['high']:+.1f}]"


def main() -> None:
    """Measure each row and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--folder", type=Path, default=Path("build/upgrade"))
    parser.add_argument("--only", action="append")
    parser.add_argument("--gate", default="", help="Which checks of behaviour to weigh. Default: no gate.")
    options = parser.parse_args()
    folder = options.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    labels = make(folder)
    os.chdir(folder)
    sys.path.insert(0, str(folder))
    print(f"| {' | '.join(HEAD)} |\n|{' --- |' * len(HEAD)}")
    with serving() as address:
        served(folder, address)
        for name in options.only or cases(folder, labels):
            print(f"| {' | '.join(row(name, measured(folder, labels, name, options.gate)))} |", flush=True)


if __name__ == "__main__":
    main()
